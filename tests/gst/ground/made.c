/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/ground/made.h"

#include <math.h>

#define SCALE 64

MadeScene
made_road (void)
{
  MadeScene road = {
    .width = 1242, .height = 375, .focal = 721.5, .baseline = 537, .camera_height = 1650, .pitch = 1, .roll = 0.5
  };

  return road;
}

/* The normal of the ground, down. Turned by the pitch about the axis to the right, then by the roll about the one
 * forward. */
static void
down (const MadeScene *scene, gdouble n[3])
{
  gdouble pitch = scene->pitch * G_PI / 180, roll = scene->roll * G_PI / 180;

  n[0] = sin (roll) * cos (pitch);
  n[1] = cos (roll) * cos (pitch);
  n[2] = sin (pitch);
}

static gdouble
focal_y (const MadeScene *scene)
{
  return scene->focal * (scene->stretch > 0 ? scene->stretch : 1);
}

/* The distance along the axis of what is seen through a pixel; infinity: nothing. */
static gdouble
distance_at (const MadeScene *scene, const gdouble n[3], gint x, gint y)
{
  gdouble right = (x - (scene->width - 1) / 2.0) / scene->focal,
          lower = (y - (scene->height - 1) / 2.0) / focal_y (scene);
  gdouble sinks = n[0] * right + n[1] * lower + n[2]; /* of the ray, per distance */
  gdouble nearest = scene->camera_height > 0 && sinks > 0 ? scene->camera_height / sinks : INFINITY;

  for (guint i = 0; i < MADE_BOXES; i++) {
    const MadeBox *box = &scene->boxes[i];
    gdouble above = scene->camera_height - sinks * box->distance - box->lift;

    if (box->width > 0 && box->distance < nearest && above >= 0 && above <= box->height &&
        fabs (right * box->distance - box->lateral) <= box->width / 2)
      nearest = box->distance;
  }
  if (scene->corridor > 0 && right != 0)
    nearest = MIN (nearest, scene->corridor / fabs (right));
  return nearest;
}

MadePicture *
made_picture_new (const MadeScene *scene)
{
  MadePicture *picture = g_new0 (MadePicture, 1);
  gsize pixels = (gsize) scene->width * (gsize) scene->height;
  gdouble n[3];

  down (scene, n);
  picture->meta.width = (guint) scene->width;
  picture->meta.height = (guint) scene->height;
  picture->meta.kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  picture->meta.disparity_scale = SCALE;
  picture->meta.depth_unit = 1000;
  picture->meta.focal_length = scene->focal;
  picture->meta.focal_length_y = scene->stretch * scene->focal;
  picture->meta.baseline = scene->baseline;
  picture->truth = g_new (gfloat, pixels);
  picture->samples = g_new0 (guint16, pixels);
  picture->confidence = g_new (guint8, pixels);
  memset (picture->confidence, 255, pixels);
  for (gsize i = 0; i < pixels; i++) {
    gdouble distance = distance_at (scene, n, (gint) (i % (gsize) scene->width), (gint) (i / (gsize) scene->width));

    picture->truth[i] = (gfloat) (isinf (distance) ? scene->background : scene->focal * scene->baseline / distance);
  }
  picture->view = (GstStereoDepthView){ .samples = (guint8 *) picture->samples,
    .stride = 2 * scene->width,
    .wide = TRUE,
    .confidence = picture->confidence,
    .confidence_stride = scene->width,
    .min_confidence = 51,
    .meta = &picture->meta };
  return picture;
}

void
made_picture_free (MadePicture *picture)
{
  g_free (picture->truth);
  g_free (picture->samples);
  g_free (picture->confidence);
  g_free (picture);
}

/* ---- errors ------------------------------------------------------------------------------ */

/* About normal, of variance 1. */
static gdouble
normal (Random *random)
{
  guint a = random_next (random), b = random_next (random);

  return ((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) / 65536.0 * sqrt (3) - 2 * sqrt (3);
}

static void
shift_patch (MadePicture *picture, gfloat *shifted, Random *random)
{
  gint width = random_range (random, 5, 15), height = random_range (random, 5, 15);
  gint x = random_range (random, 0, (gint) picture->meta.width - width);
  gint y = random_range (random, 0, (gint) picture->meta.height - height);
  gdouble by = (1 + random_unit (random)) * (random_next (random) & 1 ? 1 : -1);

  for (gint j = 0; j < height; j++)
    for (gint i = 0; i < width; i++)
      shifted[(gsize) (y + j) * picture->meta.width + (gsize) (x + i)] = (gfloat) by;
}

void
made_picture_spoil (MadePicture *picture, const MadeErrors *errors, Random *random)
{
  gsize pixels = (gsize) picture->meta.width * picture->meta.height;
  g_autofree gfloat *shifted = g_new0 (gfloat, pixels);

  for (gint i = 0; i < errors->patches; i++)
    shift_patch (picture, shifted, random);
  for (gsize i = 0; i < pixels; i++) {
    gdouble fate = random_unit (random), disparity = picture->truth[i] + shifted[i] + errors->noise * normal (random);

    if (fate < errors->outliers)
      disparity = 128 * random_unit (random);
    else if (fate < errors->outliers + errors->holes || picture->truth[i] <= 0)
      disparity = 0;
    picture->samples[i] = GUINT16_TO_LE ((guint16) CLAMP (disparity * SCALE + 0.5, 0, G_MAXUINT16));
  }
}

void
made_picture_blank (MadePicture *picture, gint x, gint y, gint width, gint height)
{
  for (gint j = MAX (0, y); j < MIN ((gint) picture->meta.height, y + height); j++)
    for (gint i = MAX (0, x); i < MIN ((gint) picture->meta.width, x + width); i++)
      picture->samples[(gsize) j * picture->meta.width + (gsize) i] = 0;
}

void
made_box_seen (const MadeScene *scene, const MadeBox *box, gdouble seen[4])
{
  gdouble n[3], scale = scene->focal / box->distance, down_scale = focal_y (scene) / box->distance;
  gdouble cx = (scene->width - 1) / 2.0, cy = (scene->height - 1) / 2.0;
  gdouble y; /* of the ground under its middle, mm */

  down (scene, n);
  y = (scene->camera_height - n[0] * box->lateral - n[2] * box->distance) / n[1];
  seen[0] = cx + (box->lateral - box->width / 2) * scale;
  seen[2] = cx + (box->lateral + box->width / 2) * scale;
  seen[1] = cy + (y - (box->lift + box->height) / n[1]) * down_scale;
  seen[3] = cy + (y - box->lift / n[1]) * down_scale;
}

GstStereoGroundTask
made_task (void)
{
  GstStereoGroundTask task = { { 200, 6000 }, { 300, 4000, 50000 }, 0, 64 };

  return task;
}
