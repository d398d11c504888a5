/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/rig.h"

#include <math.h>
#include <string.h>

#define TAPS 4           /* rows and columns from which a place between them is interpolated */
#define STEPS 256        /* places between two rows, or columns; a power of 2 */
#define WEIGHT_ONE 65536 /* sum of the taps' weights */
#define BLUR_SHARE 64    /* radius of a blur: the width divided by this */
#define DIRT_STEP 4      /* pixels between the points of a pattern on the lens */
#define LEVELS 256
#define COVER_LEVEL 40
#define COVER_SLOPE 16 /* grey levels by which the right edge of a cover is brighter than its left edge */

/* What a fault does to a camera. */
typedef struct
{
  gdouble gain;  /* of the exposure */
  gdouble zoom;  /* of the lens, about the middle */
  gboolean kept; /* the picture is that of the first frame, noise included */
  gboolean late; /* the picture is that of the frame before */
  gboolean half; /* the same of the lower half alone */
  gboolean other, blurred, covered, dirty;
} Fault;

#define SOUND .gain = 1, .zoom = 1
static const Fault faults[] = {
  [GST_STEREO_TEST_FAULT_NONE] = { SOUND },
  [GST_STEREO_TEST_FAULT_FROZEN] = { SOUND, .kept = TRUE },
  [GST_STEREO_TEST_FAULT_BLACK] = { .gain = 0, .zoom = 1 },
  [GST_STEREO_TEST_FAULT_BLOWN_OUT] = { .gain = 8, .zoom = 1 }, /* all but the darkest texture saturates */
  [GST_STEREO_TEST_FAULT_DARK] = { .gain = 0.25, .zoom = 1 },
  [GST_STEREO_TEST_FAULT_BLURRED] = { SOUND, .blurred = TRUE },
  [GST_STEREO_TEST_FAULT_COVERED] = { SOUND, .covered = TRUE },
  [GST_STEREO_TEST_FAULT_SAME_VIEW] = { SOUND, .other = TRUE },
  [GST_STEREO_TEST_FAULT_LATE] = { SOUND, .late = TRUE },
  [GST_STEREO_TEST_FAULT_TORN] = { SOUND, .late = TRUE, .half = TRUE },
  [GST_STEREO_TEST_FAULT_HALF_FROZEN] = { SOUND, .kept = TRUE, .half = TRUE },
  [GST_STEREO_TEST_FAULT_ZOOMED] = { .gain = 1, .zoom = 1.02 },
  [GST_STEREO_TEST_FAULT_STILL_PATTERN] = { SOUND, .dirty = TRUE },
};

/* Rows of a view: grey levels, and layers. */
typedef struct
{
  guint8 *level, *layer;
} Picture;

typedef struct
{
  const Fault *fault;
  gboolean right;       /* the view of the scene that it sees */
  gboolean warped;      /* its places lie between the pixels of the scene: */
  gdouble sine, cosine; /* of its roll */
  gdouble down;         /* pixels that it sees everything lower by */
  gboolean exposed;     /* levels go through this table: */
  guint8 exposure[256];
  Picture picture; /* of a view that cannot be made row by row from the current frame; NULL: there is none */
  gboolean taken;
  Picture rows; /* the last rows of the scene that it saw: row i lies at i % row_count */
  gint *row_of;
} Camera;

struct _GstStereoRig
{
  GstStereoScene *scene;
  gint width, height;
  guint seed;
  guint64 frame;
  gboolean noisy;
  gint weights[STEPS][TAPS];
  gint noise[LEVELS]; /* of a grey level: 16.16 per step of the random sum */
  Camera camera[2];
  guint row_count; /* a power of 2 */
};

/* ---- where a camera looks ---------------------------------------------------------------- */

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

static void
forget_rows (GstStereoRig *rig)
{
  for (guint v = 0; v < 2; v++)
    for (guint i = 0; i < rig->row_count; i++)
      rig->camera[v].row_of[i] = G_MININT;
}

/* The place of row @y of the scene in the camera's rows, into which it is rendered if it is not there. Layers have geometry
 * for as many rows above and below the view as the view has. */
static gsize
fetch_row (GstStereoRig *rig, Camera *camera, gint y)
{
  guint i = (guint) y % rig->row_count;
  gsize at = i * (gsize) rig->width;

  if (camera->row_of[i] != y)
    gst_stereo_scene_row (rig->scene, camera->right, CLAMP (y, -rig->height, 2 * rig->height - 1),
        camera->rows.level + at, camera->rows.layer + at);
  camera->row_of[i] = y;
  return at;
}

/* The point of the scene, in STEPS, that pixel (@x, @y) of the camera shows. */
static void
find_place (const GstStereoRig *rig, const Camera *camera, gint x, gint y, gint *across, gint *down)
{
  gdouble zoom = camera->fault->zoom, half_x = (rig->width - 1) / 2.0, half_y = (rig->height - 1) / 2.0;
  gdouble u = (x - half_x) / zoom + half_x - rig->width / 2.0;
  gdouble v = (y - half_y) / zoom + half_y - camera->down - rig->height / 2.0;

  *across = (gint) floor ((rig->width / 2.0 + camera->cosine * u + camera->sine * v) * STEPS + 0.5);
  *down = (gint) floor ((rig->height / 2.0 + camera->cosine * v - camera->sine * u) * STEPS + 0.5);
}

static void
warped_row (GstStereoRig *rig, Camera *camera, gint y, guint8 *level, guint8 *layer)
{
  gint across, ends[2];

  for (guint i = 0; i < 2; i++)
    find_place (rig, camera, i ? rig->width - 1 : 0, y, &across, &ends[i]);
  for (gint row = (MIN (ends[0], ends[1]) >> 8) - 1; row <= (MAX (ends[0], ends[1]) >> 8) + 2; row++)
    fetch_row (rig, camera, row);
  for (gint x = 0; x < rig->width; x++) {
    gint64 sum = 0;
    gint down;

    find_place (rig, camera, x, y, &across, &down);
    const gint *along = rig->weights[down & (STEPS - 1)], *aside = rig->weights[across & (STEPS - 1)];
    for (gint j = 0; j < TAPS; j++) {
      const guint8 *row = camera->rows.level + fetch_row (rig, camera, (down >> 8) - 1 + j);
      gint part = 0;
      for (gint i = 0; i < TAPS; i++)
        part += row[CLAMP ((across >> 8) - 1 + i, 0, rig->width - 1)] * aside[i];
      sum += (gint64) part * along[j];
    }
    level[x] = (guint8) CLAMP ((sum + ((gint64) 1 << 31)) >> 32, 0, 255);
    layer[x] = camera->rows.layer[fetch_row (rig, camera, (down + STEPS / 2) >> 8) +
        (gsize) CLAMP ((across + STEPS / 2) >> 8, 0, rig->width - 1)];
  }
}

/* ---- lenses ------------------------------------------------------------------------------ */

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

static void
blur (GstStereoRig *rig, Picture *picture)
{
  gint radius = MAX (2, rig->width / BLUR_SHARE), width = rig->width, height = rig->height;
  g_autofree guint8 *line = g_malloc ((gsize) MAX (width, height));

  for (gint n = 0; n < height + width; n++) {
    gboolean column = n >= height;
    gint count = column ? height : width;
    gsize step = column ? (gsize) width : 1;
    guint8 *at = picture->level + (column ? (gsize) (n - height) : (gsize) n * (gsize) width);
    for (guint pass = 0; pass < 2; pass++) {
      blur_line (at, step, count, radius, line);
      for (gint i = 0; i < count; i++)
        at[(gsize) i * step] = line[i];
    }
  }
  /* colours have no edges either */
  memset (picture->layer, 0, (gsize) width * (gsize) height);
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

/* The light that falls on a row of the sensor. */
static void
light_row (GstStereoRig *rig, Camera *camera, gint y, guint8 *level, guint8 *layer)
{
  if (camera->fault->covered) {
    for (gint x = 0; x < rig->width; x++)
      level[x] = (guint8) (COVER_LEVEL + COVER_SLOPE * x / rig->width);
    memset (layer, 0, (gsize) rig->width);
  } else if (camera->warped) {
    warped_row (rig, camera, y, level, layer);
  } else {
    gst_stereo_scene_row (rig->scene, camera->right, y, level, layer);
  }
  if (camera->fault->dirty)
    dirty_row (rig, y, level);
}

/* ---- noise of a sensor -------------------------------------------------------------------- */

/*
 * Noise of the electronics, which does not depend on the light, and shot noise, whose variance grows with the light. At mid
 * grey each has half of the variance, and the deviation is that of the parameters. At black it is 0.71 times that, near white
 * 1.22 times. A saturated pixel has no noise.
 */
#define LANES 16            /* independent random numbers */
#define SUM_DEVIATION 147.8 /* of the sum of four random bytes */

static void
make_noise (GstStereoRig *rig, gdouble deviation)
{
  rig->noisy = deviation > 0;
  for (gint level = 0; level < LEVELS - 1; level++)
    rig->noise[level] = (gint) rint (deviation * sqrt (0.5 + level / 255.0) * 65536 / SUM_DEVIATION);
}

/* Adds noise to row @y of a view: a draw that depends on seed, @frame, view and row alone. The sum of four random bytes is
 * close to a normal distribution. There are LANES independent generators, so that the compiler can compute that many pixels
 * at once. */
static void
add_noise (const GstStereoRig *rig, guint64 frame, gboolean right, gint y, guint8 *level)
{
  guint32 key = gst_stereo_mix (gst_stereo_mix (rig->seed, (guint32) frame), (guint32) (frame >> 32)), state[LANES];
  gint sum[LANES];

  key = gst_stereo_mix (key, (guint32) (2 * y + (right ? 1 : 0)));
  for (guint i = 0; i < LANES; i++)
    state[i] = gst_stereo_mix (key, i) | 1;
  for (gint x = 0; x < rig->width; x += LANES) {
    gint count = MIN (LANES, rig->width - x);
    for (guint i = 0; i < LANES; i++) {
      guint32 s = state[i];
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      state[i] = s;
      sum[i] = (gint) ((s & 255) + (s >> 8 & 255) + (s >> 16 & 255) + (s >> 24)) - 510;
    }
    for (gint i = 0; i < count; i++) {
      gint more = (sum[i] * rig->noise[level[x + i]] + (1 << 15)) >> 16;
      level[x + i] = (guint8) CLAMP (level[x + i] + more, 0, 255);
    }
  }
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Applies exposure and noise to the light in row @y. */
static void
expose_row (GstStereoRig *rig, guint64 frame, gboolean right, gint y, guint8 *level)
{
  const Camera *camera = &rig->camera[right];

  for (gint x = 0; camera->exposed && x < rig->width; x++)
    level[x] = camera->exposure[level[x]];
  if (rig->noisy)
    add_noise (rig, frame, right, y, level);
}

/* Renders the whole picture of a camera: of the first frame, of the frame before, or of the current frame. */
static void
take_picture (GstStereoRig *rig, gboolean right)
{
  Camera *camera = &rig->camera[right];
  const Fault *fault = camera->fault;

  if (fault->kept && camera->taken)
    return;
  camera->taken = TRUE;
  if (fault->kept || fault->late)
    gst_stereo_scene_set_frame (rig->scene, fault->kept || !rig->frame ? 0 : rig->frame - 1);
  forget_rows (rig);
  for (gint y = 0; y < rig->height; y++) {
    gsize at = (gsize) y * (gsize) rig->width;
    light_row (rig, camera, y, camera->picture.level + at, camera->picture.layer + at);
    if (fault->kept)
      expose_row (rig, 0, right, y, camera->picture.level + at);
  }
  if (fault->kept || fault->late)
    gst_stereo_scene_set_frame (rig->scene, rig->frame);
  if (fault->blurred)
    blur (rig, &camera->picture);
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
  Camera *camera = &rig->camera[!!right];
  const Fault *fault = camera->fault;
  gboolean from_picture = camera->picture.level && (!fault->half || y >= rig->height / 2);
  gsize width = (gsize) rig->width;

  if (from_picture) {
    memcpy (level, camera->picture.level + (gsize) y * width, width);
    memcpy (layer, camera->picture.layer + (gsize) y * width, width);
  } else {
    light_row (rig, camera, y, level, layer);
  }
  if (!fault->kept || !from_picture)
    expose_row (rig, rig->frame, !!right, y, level);
}

/* ---- cameras ----------------------------------------------------------------------------- */

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
  gboolean faulty = params->fault_view == GST_STEREO_TEST_FAULT_VIEW_BOTH ||
      (params->fault_view == GST_STEREO_TEST_FAULT_VIEW_RIGHT) == right;
  const Fault *fault = &faults[faulty ? params->fault : GST_STEREO_TEST_FAULT_NONE];
  gdouble gain = (right ? params->right_gain : 1) * fault->gain;

  camera->fault = fault;
  camera->right = fault->other ? !right : right;
  camera->down = camera->right ? rint (params->vertical_offset * STEPS) / STEPS : 0;
  camera->sine = camera->right ? sin (params->roll * G_PI / 180) : 0;
  camera->cosine = camera->right ? cos (params->roll * G_PI / 180) : 1;
  camera->warped = camera->down != 0 || camera->sine != 0 || fault->zoom != 1;
  camera->exposed = gain != 1;
  for (gint i = 0; i < 256; i++)
    camera->exposure[i] = (guint8) MIN (rint (i * gain), 255);
  if (fault->kept || fault->late || fault->blurred)
    allocate (rig, &camera->picture, rig->height);
  allocate (rig, &camera->rows, (gint) rig->row_count);
  camera->row_of = g_new (gint, rig->row_count);
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
  /* the rows that a turned row crosses */
  rig->row_count = TAPS;
  while (rig->row_count < fabs (sin (params->roll * G_PI / 180)) * rig->width + TAPS + 2)
    rig->row_count *= 2;
  make_weights (rig);
  make_noise (rig, of_scene->noise);
  for (guint v = 0; v < 2; v++)
    set_up (rig, params, v);
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
    g_free (rig->camera[v].rows.level);
    g_free (rig->camera[v].rows.layer);
    g_free (rig->camera[v].row_of);
  }
  g_free (rig);
}
