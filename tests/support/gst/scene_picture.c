/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/scene_picture.h"

#include <gst/check/gstcheck.h>
#include <math.h>

/* Whether a pixel to the right of @x, nearer than it, lands within a pixel of where @x does. */
static gint
hidden (const guint16 *row, gint width, gint x)
{
  gint place = x * TRUTH_STEPS - row[x];

  for (gint other = x + 1; other < width && (other - x) * TRUTH_STEPS <= G_MAXUINT16; other++)
    if (row[other] > row[x] + TRUTH_STEPS && abs (other * TRUTH_STEPS - row[other] - place) < TRUTH_STEPS)
      return 1;
  return 0;
}

void
truth_visible (const guint16 *truth, gint width, gint height, guint8 *visible)
{
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const guint16 *row = truth + (gsize) y * (gsize) width;
      visible[(gsize) y * (gsize) width + (gsize) x] = row[x] && x * TRUTH_STEPS >= row[x] && !hidden (row, width, x);
    }
}

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

gdouble
scene_picture_warp_error (const ScenePicture *picture, gint layer, gint taps, gdouble off, guint *count)
{
  gdouble squares = 0;

  *count = 0;
  for (gint y = 0; y < picture->height; y++)
    for (gint x = 0; x < picture->width; x++) {
      gsize row = (gsize) y * (gsize) picture->width, at = row + (gsize) x;
      gdouble place = x - picture->truth[at] / (gdouble) TRUTH_STEPS - off, sum = 0, weights = 0;
      gint first = (gint) floor (place) - taps / 2 + 1, i = first;

      if (picture->layer[0][at] != layer || first < 0 || first + taps > picture->width)
        continue;
      for (; i < first + taps && picture->layer[1][row + (gsize) i] == layer; i++) {
        gdouble t = G_PI * (place - i), s = t / (taps / 2), weight = fabs (t) < 1e-9 ? 1 : sin (t) / t * sin (s) / s;
        sum += weight * picture->level[1][row + (gsize) i];
        weights += weight;
      }
      if (i < first + taps)
        continue;
      squares += (picture->level[0][at] - sum / weights) * (picture->level[0][at] - sum / weights);
      ++*count;
    }
  return *count ? sqrt (squares / *count) : 0;
}

gboolean
scene_picture_equal (const ScenePicture *a, const ScenePicture *b)
{
  gsize pixels = (gsize) a->width * (gsize) a->height;

  return !memcmp (a->level[0], b->level[0], pixels) && !memcmp (a->level[1], b->level[1], pixels) &&
      !memcmp (a->truth, b->truth, 2 * pixels);
}
