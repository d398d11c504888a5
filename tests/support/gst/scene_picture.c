/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/scene_picture.h"

#include <gst/check/gstcheck.h>
#include <math.h>

#define TAPS 8 /* of the interpolation between pixels */

ScenePicture
scene_picture_of (const GstStereoSceneParams *params, guint64 frame)
{
  GstStereoRigParams sound = { .right_gain = 1 };

  return scene_picture_through (params, &sound, frame);
}

ScenePicture
scene_picture_through (const GstStereoSceneParams *params, const GstStereoRigParams *cameras, guint64 frame)
{
  gsize width = (gsize) params->width, pixels = width * (gsize) params->height;
  ScenePicture picture = { params->width, params->height, { NULL }, { NULL }, g_new (guint16, pixels),
    g_malloc (pixels) };
  gchar *message = NULL;
  g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (params, &message);

  fail_unless (scene != NULL, "%s", message);
  GstStereoRig *rig = gst_stereo_rig_new (scene, cameras);
  gst_stereo_rig_set_frame (rig, frame);
  for (guint v = 0; v < 2; v++) {
    picture.level[v] = g_malloc (pixels);
    picture.layer[v] = g_malloc (pixels);
  }
  for (gint y = 0; y < params->height; y++) {
    for (guint v = 0; v < 2; v++)
      gst_stereo_rig_row (rig, v == 1, y, picture.level[v] + (gsize) y * width, picture.layer[v] + (gsize) y * width);
    gst_stereo_scene_truth (scene, y, picture.truth + (gsize) y * width);
  }
  truth_visible (picture.truth, params->width, params->height, picture.visible);
  gst_stereo_rig_free (rig);
  return picture;
}

gint
scene_picture_max_disparity (const GstStereoSceneParams *params)
{
  gchar *message = NULL;
  g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (params, &message);

  fail_unless (scene != NULL, "%s", message);
  return gst_stereo_scene_params (scene)->max_disparity;
}

void
scene_picture_clear (ScenePicture *picture)
{
  for (guint v = 0; v < 2; v++) {
    g_free (picture->level[v]);
    g_free (picture->layer[v]);
  }
  g_free (picture->truth);
  g_free (picture->visible);
}

/* A row between its pixels: Lanczos with eight taps; FALSE where one is missing. */
static gboolean
between (const guint8 *row, gint width, gdouble x, gdouble *value)
{
  gint first = (gint) floor (x) - TAPS / 2 + 1;
  gdouble sum = 0, weights = 0;

  if (first < 0 || first + TAPS > width)
    return FALSE;
  for (gint i = first; i < first + TAPS; i++) {
    gdouble t = G_PI * (x - i), weight = fabs (t) < 1e-9 ? 1 : sin (t) / t * sin (t / 4) / (t / 4);
    sum += weight * row[i];
    weights += weight;
  }
  *value = sum / weights;
  return TRUE;
}

/* Whether interpolation around left pixel @x mixes nothing but one layer, seen by both views. */
static gboolean
is_inside (const ScenePicture *picture, gint x, gsize row)
{
  for (gint i = x - TAPS; i <= x + TAPS; i++)
    if (i < 0 || i >= picture->width || picture->layer[0][row + (gsize) i] != picture->layer[0][row + (gsize) x] ||
        !picture->visible[row + (gsize) i])
      return FALSE;
  return TRUE;
}

gdouble
scene_picture_warp_error (const ScenePicture *picture, gint layer, gdouble off, guint *count)
{
  gdouble sum = 0, value;

  *count = 0;
  for (gint y = 0; y < picture->height; y++)
    for (gint x = 0; x < picture->width; x++) {
      gsize row = (gsize) y * (gsize) picture->width, at = row + (gsize) x;
      if (picture->layer[0][at] != layer || !is_inside (picture, x, row) ||
          !between (
              picture->level[1] + row, picture->width, x - picture->truth[at] / (gdouble) TRUTH_STEPS - off, &value))
        continue;
      sum += (picture->level[0][at] - value) * (picture->level[0][at] - value);
      ++*count;
    }
  return *count ? sqrt (sum / *count) : 0;
}

gboolean
scene_picture_equal (const ScenePicture *a, const ScenePicture *b)
{
  gsize pixels = (gsize) a->width * (gsize) a->height;

  return !memcmp (a->level[0], b->level[0], pixels) && !memcmp (a->level[1], b->level[1], pixels) &&
      !memcmp (a->truth, b->truth, 2 * pixels);
}
