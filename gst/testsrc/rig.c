/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/rig.h"

#include "gst/testsrc/noise.h"

#include <math.h>
#include <string.h>

#define TAPS 4           /* rows from which a row between two rows is interpolated; columns likewise */
#define STEPS 256        /* places between two rows, or columns; a power of 2 */
#define WEIGHT_ONE 65536 /* sum of the taps' weights */
#define BLOWN_OUT 8      /* exposure: everything but the darkest texture saturates */
#define DARK 0.25
#define BLUR_SHARE 64 /* radius of a blur: the width divided by this */
#define ZOOM 1.02
#define DIRT_STEP 4 /* pixels between the points of a pattern on the lens */
#define COVER_LEVEL 40
#define COVER_SLOPE 16 /* grey levels by which the right edge of a cover is brighter than its left edge */

/* A whole view. */
typedef struct
{
  guint8 *level, *layer;
} Picture;

typedef struct
{
  gboolean plain; /* neither a fault nor an exposure changes the scene before the noise */
  GstStereoTestFault fault;
  gboolean exposed; /* levels go through this table: */
  guint8 exposure[256];
  Picture picture; /* of a view, or of its lower half, that cannot be made row by row from the current frame */
  gboolean taken;
} Camera;

struct _GstStereoRig
{
  GstStereoScene *scene;
  gint width, height;
  guint seed;
  guint64 frame;
  gint offset;          /* of the right view, in STEPS */
  gdouble sine, cosine; /* of the right view's roll */
  gint weights[STEPS][TAPS];
  GstStereoNoise noise;
  Camera camera[2];
  Picture rows;    /* the last rows that the right camera saw: row i lies at i % row_count */
  guint row_count; /* a power of 2 */
  gint *row_of;
  gint *sums; /* scratch of a blur: a row */
  guint8 *line;
};

/* ---- where the right camera hangs ------------------------------------------------------- */

/* Catmull and Rom's cubic: it keeps more of the texture's contrast than two taps. */
static void
make_weights (GstStereoRig *rig)
{
  const gdouble one = WEIGHT_ONE;

  for (gint i = 0; i < STEPS; i++) {
    gdouble t = i / (gdouble) STEPS;
    gint *weights = rig->weights[i];

    weights[0] = (gint) rint (one * (-t + 2 * t * t - t * t * t) / 2);
    weights[2] = (gint) rint (one * (t + 4 * t * t - 3 * t * t * t) / 2);
    weights[3] = (gint) rint (one * (-t * t + t * t * t) / 2);
    weights[1] = WEIGHT_ONE - weights[0] - weights[2] - weights[3];
  }
}

/* Layers have geometry for as many rows above and below the view as the view has. */
static gint
limit_row (const GstStereoRig *rig, gint y)
{
  return CLAMP (y, -rig->height, 2 * rig->height - 1);
}

static void
forget_rows (GstStereoRig *rig)
{
  for (guint i = 0; i < rig->row_count; i++)
    rig->row_of[i] = G_MININT;
}

/* The place of row @y of the right view in `rows`, into which it is rendered if it is not there. */
static gsize
fetch_row (GstStereoRig *rig, gint y)
{
  guint i = (guint) y % rig->row_count;
  gsize at = i * (gsize) rig->width;

  if (rig->row_of[i] != y)
    gst_stereo_scene_clean_row (rig->scene, TRUE, limit_row (rig, y), rig->rows.level + at, rig->rows.layer + at);
  rig->row_of[i] = y;
  return at;
}

static void
displaced_row (GstStereoRig *rig, gint y, guint8 *level, guint8 *layer)
{
  gint place = y * STEPS - rig->offset, above = place >> 8;
  const gint *weights = rig->weights[place & (STEPS - 1)];
  const guint8 *row[TAPS];

  if (!(place & (STEPS - 1))) {
    gst_stereo_scene_clean_row (rig->scene, TRUE, limit_row (rig, above), level, layer);
    return;
  }
  for (gint i = 0; i < TAPS; i++)
    row[i] = rig->rows.level + fetch_row (rig, above - 1 + i);
  for (gint x = 0; x < rig->width; x++) {
    gint sum = row[0][x] * weights[0] + row[1][x] * weights[1] + row[2][x] * weights[2] + row[3][x] * weights[3];
    level[x] = (guint8) CLAMP ((sum + WEIGHT_ONE / 2) >> 16, 0, 255);
  }
  memcpy (layer, rig->rows.layer + fetch_row (rig, above + (place & (STEPS - 1)) / (STEPS / 2)), (gsize) rig->width);
}

/* The point of the scene's right view, in STEPS, that pixel (@x, @y) of the turned view shows. */
static void
find_place (const GstStereoRig *rig, gint x, gint y, gint *across, gint *down)
{
  gdouble middle_x = rig->width / 2.0, middle_y = rig->height / 2.0;
  gdouble u = x - middle_x, v = y - rig->offset / (gdouble) STEPS - middle_y;

  *across = (gint) floor ((middle_x + rig->cosine * u + rig->sine * v) * STEPS + 0.5);
  *down = (gint) floor ((middle_y + rig->cosine * v - rig->sine * u) * STEPS + 0.5);
}

static void
turned_row (GstStereoRig *rig, gint y, guint8 *level, guint8 *layer)
{
  gint across, ends[2];

  for (guint i = 0; i < 2; i++)
    find_place (rig, i ? rig->width - 1 : 0, y, &across, &ends[i]);
  for (gint row = (MIN (ends[0], ends[1]) >> 8) - 1; row <= (MAX (ends[0], ends[1]) >> 8) + 2; row++)
    fetch_row (rig, row);
  for (gint x = 0; x < rig->width; x++) {
    gint64 sum = 0;
    gint down;

    find_place (rig, x, y, &across, &down);
    const gint *along = rig->weights[down & (STEPS - 1)];
    const gint *aside = rig->weights[across & (STEPS - 1)];
    for (gint j = 0; j < TAPS; j++) {
      const guint8 *row = rig->rows.level + fetch_row (rig, (down >> 8) - 1 + j);
      gint part = 0;
      for (gint i = 0; i < TAPS; i++)
        part += row[CLAMP ((across >> 8) - 1 + i, 0, rig->width - 1)] * aside[i];
      sum += (gint64) part * along[j];
    }
    level[x] = (guint8) CLAMP ((sum + ((gint64) 1 << 31)) >> 32, 0, 255);
    layer[x] = rig->rows.layer[fetch_row (rig, (down + STEPS / 2) >> 8) +
        (gsize) CLAMP ((across + STEPS / 2) >> 8, 0, rig->width - 1)];
  }
}

/* A row of the picture behind a lens without a fault; with the fault same-view, of the other camera's picture. */
static void
clear_row (GstStereoRig *rig, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  if (rig->camera[right].fault == GST_STEREO_TEST_FAULT_SAME_VIEW)
    right = !right;
  if (right && rig->sine != 0)
    turned_row (rig, y, level, layer);
  else if (right && rig->offset)
    displaced_row (rig, y, level, layer);
  else
    gst_stereo_scene_clean_row (rig->scene, right, y, level, layer);
}

/* ---- blurred and covered lenses --------------------------------------------------------- */

/* The mean of the 2 @radius + 1 samples around each sample. The last sample is repeated beyond each end. */
static void
blur_line (const guint8 *from, gsize step, gint count, gint radius, guint8 *line)
{
  gint sum = from[0] * radius, width = 2 * radius + 1;

  for (gint i = 0; i <= radius; i++)
    sum += from[(gsize) MIN (i, count - 1) * step];
  for (gint i = 0; i < count; i++) {
    line[i] = (guint8) ((sum + radius) / width);
    sum += from[(gsize) MIN (i + radius + 1, count - 1) * step] - from[(gsize) MAX (i - radius, 0) * step];
  }
}

/* The same down all columns at once: the sums are a row. */
static void
blur_columns (GstStereoRig *rig, const guint8 *from, gint radius, guint8 *to)
{
  gint width = rig->width, last = rig->height - 1, n = 2 * radius + 1, *sums = rig->sums;

  for (gint x = 0; x < width; x++)
    sums[x] = from[x] * radius;
  for (gint i = 0; i <= radius; i++)
    for (gint x = 0; x < width; x++)
      sums[x] += from[(gsize) MIN (i, last) * (gsize) width + (gsize) x];
  for (gint y = 0; y <= last; y++) {
    const guint8 *next = from + (gsize) MIN (y + radius + 1, last) * (gsize) width;
    const guint8 *gone = from + (gsize) MAX (y - radius, 0) * (gsize) width;
    for (gint x = 0; x < width; x++) {
      to[(gsize) y * (gsize) width + (gsize) x] = (guint8) ((sums[x] + radius) / n);
      sums[x] += next[x] - gone[x];
    }
  }
}

static void
blur (GstStereoRig *rig, Picture *picture)
{
  gint radius = MAX (2, rig->width / BLUR_SHARE);
  gsize pixels = (gsize) rig->width * (gsize) rig->height;

  for (gint y = 0; y < rig->height; y++) {
    guint8 *row = picture->level + (gsize) y * (gsize) rig->width;
    for (guint pass = 0; pass < 2; pass++) {
      blur_line (row, 1, rig->width, radius, rig->line);
      memcpy (row, rig->line, (gsize) rig->width);
    }
  }
  g_autofree guint8 *copy = g_malloc (pixels);
  blur_columns (rig, picture->level, radius, copy);
  blur_columns (rig, copy, radius, picture->level);
  /* colours have no edges either */
  memset (picture->layer, 0, pixels);
}

/* The picture of a longer lens, about the middle. */
static void
zoom (GstStereoRig *rig, Picture *picture)
{
  gsize pixels = (gsize) rig->width * (gsize) rig->height;
  g_autofree guint8 *level = g_memdup2 (picture->level, pixels), *layer = g_memdup2 (picture->layer, pixels);

  for (gint y = 0; y < rig->height; y++)
    for (gint x = 0; x < rig->width; x++) {
      gdouble u = (x - (rig->width - 1) / 2.0) / ZOOM + (rig->width - 1) / 2.0;
      gdouble v = (y - (rig->height - 1) / 2.0) / ZOOM + (rig->height - 1) / 2.0;
      gint across = (gint) floor (u * STEPS + 0.5), down = (gint) floor (v * STEPS + 0.5);
      const gint *aside = rig->weights[across & (STEPS - 1)], *along = rig->weights[down & (STEPS - 1)];
      gsize at = (gsize) y * (gsize) rig->width + (gsize) x;
      gint64 sum = 0;

      for (gint j = 0; j < TAPS; j++) {
        const guint8 *row = level + (gsize) CLAMP ((down >> 8) - 1 + j, 0, rig->height - 1) * (gsize) rig->width;
        gint part = 0;
        for (gint i = 0; i < TAPS; i++)
          part += row[CLAMP ((across >> 8) - 1 + i, 0, rig->width - 1)] * aside[i];
        sum += (gint64) part * along[j];
      }
      picture->level[at] = (guint8) CLAMP ((sum + ((gint64) 1 << 31)) >> 32, 0, 255);
      picture->layer[at] = layer[(gsize) (gint) (v + 0.5) * (gsize) rig->width + (gsize) (gint) (u + 0.5)];
    }
}

/* A grey level of the pattern on both lenses at a point of its lattice. */
static gint
dirt_at (guint seed, gint x, gint y)
{
  guint hash = (guint) x * 0x9e3779b1u ^ (guint) y * 0x85ebca77u ^ seed * 0xc2b2ae3du;

  hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
  return (gint) ((hash ^ hash >> 13) >> 8 & 255);
}

/* A quarter of the light comes from the scene, the rest from the pattern, which is the same on both lenses. */
static void
dirty_row (const GstStereoRig *rig, gint y, guint8 *level)
{
  gint v = y / DIRT_STEP, below = y % DIRT_STEP;

  for (gint x = 0; x < rig->width; x++) {
    gint u = x / DIRT_STEP, aside = x % DIRT_STEP;
    gint above = dirt_at (rig->seed, u, v) * (DIRT_STEP - aside) + dirt_at (rig->seed, u + 1, v) * aside;
    gint under = dirt_at (rig->seed, u, v + 1) * (DIRT_STEP - aside) + dirt_at (rig->seed, u + 1, v + 1) * aside;
    gint dirt = (above * (DIRT_STEP - below) + under * below) / (DIRT_STEP * DIRT_STEP);
    level[x] = (guint8) ((level[x] + 3 * dirt) / 4);
  }
}

static void
covered_row (const GstStereoRig *rig, guint8 *level, guint8 *layer)
{
  for (gint x = 0; x < rig->width; x++)
    level[x] = (guint8) (COVER_LEVEL + COVER_SLOPE * x / rig->width);
  memset (layer, 0, (gsize) rig->width);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Applies exposure and noise to the light in row @y. */
static void
expose_row (GstStereoRig *rig, guint64 frame, gboolean right, gint y, guint8 *level)
{
  const Camera *camera = &rig->camera[right];

  for (gint x = 0; camera->exposed && x < rig->width; x++)
    level[x] = camera->exposure[level[x]];
  if (rig->noise.active)
    gst_stereo_noise_add (&rig->noise, rig->seed, frame, right, y, rig->width, level);
}

/* Whether the fault repeats a picture, noise included. */
static gboolean
is_kept (GstStereoTestFault fault)
{
  return fault == GST_STEREO_TEST_FAULT_FROZEN || fault == GST_STEREO_TEST_FAULT_HALF_FROZEN;
}

static gboolean
is_late (GstStereoTestFault fault)
{
  return fault == GST_STEREO_TEST_FAULT_LATE || fault == GST_STEREO_TEST_FAULT_TORN;
}

/* Whether row @y is taken from the camera's picture. */
static gboolean
is_in_picture (const GstStereoRig *rig, const Camera *camera, gint y)
{
  gboolean half = camera->fault == GST_STEREO_TEST_FAULT_TORN || camera->fault == GST_STEREO_TEST_FAULT_HALF_FROZEN;

  return camera->picture.level && (!half || y >= rig->height / 2);
}

/* Renders the whole picture of a camera: of the first frame, of the frame before, or of the current frame. */
static void
take_picture (GstStereoRig *rig, gboolean right)
{
  Camera *camera = &rig->camera[right];
  gboolean kept = is_kept (camera->fault);

  if (kept && camera->taken)
    return;
  camera->taken = TRUE;
  if (kept || is_late (camera->fault))
    gst_stereo_scene_set_frame (rig->scene, kept || !rig->frame ? 0 : rig->frame - 1);
  forget_rows (rig);
  for (gint y = 0; y < rig->height; y++) {
    gsize at = (gsize) y * (gsize) rig->width;
    clear_row (rig, right, y, camera->picture.level + at, camera->picture.layer + at);
    if (kept)
      expose_row (rig, 0, right, y, camera->picture.level + at);
  }
  if (kept || is_late (camera->fault))
    gst_stereo_scene_set_frame (rig->scene, rig->frame);
  if (camera->fault == GST_STEREO_TEST_FAULT_BLURRED)
    blur (rig, &camera->picture);
  if (camera->fault == GST_STEREO_TEST_FAULT_ZOOMED)
    zoom (rig, &camera->picture);
}

void
gst_stereo_rig_set_frame (GstStereoRig *rig, guint64 frame)
{
  rig->frame = frame;
  gst_stereo_scene_set_frame (rig->scene, frame);
  for (guint v = 0; v < 2; v++)
    if (rig->camera[v].picture.level)
      take_picture (rig, v);
  forget_rows (rig);
}

void
gst_stereo_rig_row (GstStereoRig *rig, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  const Camera *camera = &rig->camera[!!right];
  gsize width = (gsize) rig->width;

  if (camera->plain) {
    gst_stereo_scene_row (rig->scene, right, y, level, layer);
    return;
  }
  if (is_in_picture (rig, camera, y)) {
    memcpy (level, camera->picture.level + (gsize) y * width, width);
    memcpy (layer, camera->picture.layer + (gsize) y * width, width);
  } else if (camera->fault == GST_STEREO_TEST_FAULT_COVERED) {
    covered_row (rig, level, layer);
  } else {
    clear_row (rig, right, y, level, layer);
  }
  if (camera->fault == GST_STEREO_TEST_FAULT_STILL_PATTERN)
    dirty_row (rig, y, level);
  if (!is_kept (camera->fault) || !is_in_picture (rig, camera, y))
    expose_row (rig, rig->frame, !!right, y, level);
}

/* ---- cameras ---------------------------------------------------------------------------- */

static gdouble
exposure_of (const GstStereoRigParams *params, GstStereoTestFault fault, gboolean right)
{
  gdouble gain = right ? params->right_gain : 1;

  switch (fault) {
    case GST_STEREO_TEST_FAULT_BLACK:
      return 0;
    case GST_STEREO_TEST_FAULT_BLOWN_OUT:
      return gain * BLOWN_OUT;
    case GST_STEREO_TEST_FAULT_DARK:
      return gain * DARK;
    default:
      return gain;
  }
}

static void
allocate (const GstStereoRig *rig, Picture *picture, gint rows)
{
  picture->level = g_malloc ((gsize) rig->width * (gsize) rows);
  picture->layer = g_malloc ((gsize) rig->width * (gsize) rows);
}

static void
set_up (GstStereoRig *rig, const GstStereoRigParams *params, gboolean right)
{
  Camera *camera = &rig->camera[right];

  if (params->fault_view == GST_STEREO_TEST_FAULT_VIEW_BOTH ||
      (params->fault_view == GST_STEREO_TEST_FAULT_VIEW_RIGHT) == right)
    camera->fault = params->fault;
  gdouble gain = exposure_of (params, camera->fault, right);
  camera->exposed = gain != 1;
  for (gint i = 0; i < 256; i++)
    camera->exposure[i] = (guint8) MIN (rint (i * gain), 255);
  camera->plain = !camera->fault && !camera->exposed && !(right && (rig->offset || rig->sine != 0));
  if (is_kept (camera->fault) || is_late (camera->fault) || camera->fault == GST_STEREO_TEST_FAULT_BLURRED ||
      camera->fault == GST_STEREO_TEST_FAULT_ZOOMED)
    allocate (rig, &camera->picture, rig->height);
}

GstStereoRig *
gst_stereo_rig_new (GstStereoScene *scene, const GstStereoRigParams *params)
{
  GstStereoRig *rig = g_new0 (GstStereoRig, 1);
  const GstStereoSceneParams *of_scene = gst_stereo_scene_params (scene);

  rig->scene = scene;
  rig->width = of_scene->width;
  rig->height = of_scene->height;
  rig->seed = of_scene->seed;
  rig->offset = (gint) rint (params->vertical_offset * STEPS);
  rig->sine = sin (params->roll * G_PI / 180);
  rig->cosine = cos (params->roll * G_PI / 180);
  /* the rows that a turned row crosses */
  rig->row_count = TAPS;
  while (rig->row_count < fabs (rig->sine) * rig->width + TAPS + 2)
    rig->row_count *= 2;
  rig->row_of = g_new (gint, rig->row_count);
  make_weights (rig);
  gst_stereo_noise_init (&rig->noise, of_scene->noise);
  for (guint v = 0; v < 2; v++)
    set_up (rig, params, v);
  allocate (rig, &rig->rows, (gint) rig->row_count);
  rig->sums = g_new (gint, rig->width);
  rig->line = g_malloc ((gsize) rig->width);
  gst_stereo_rig_set_frame (rig, 0);
  return rig;
}

void
gst_stereo_rig_free (GstStereoRig *rig)
{
  if (!rig)
    return;
  for (guint v = 0; v < 2; v++) {
    g_free (rig->camera[v].picture.level);
    g_free (rig->camera[v].picture.layer);
  }
  g_free (rig->row_of);
  g_free (rig->rows.level);
  g_free (rig->rows.layer);
  g_free (rig->sums);
  g_free (rig->line);
  g_free (rig);
}
