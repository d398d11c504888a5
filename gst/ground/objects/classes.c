/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/classes.h"

#define BELOW 1.5f       /* px: a sample that is farther than the ground by more is below it, */
#define BELOW_PART 0.06f /* and by more than this part of its disparity */

void
gst_stereo_ground_classify (const GstStereoGroundScene *scene, guint8 *classes)
{
  const GstStereoGroundGrid *grid = scene->grid;
  const GstStereoGroundSizes *sizes = &scene->sizes;
  /* heights as shares of the disparity: height = camera_height * (1 - ground / d) */
  gfloat low = (gfloat) (GST_STEREO_GROUND_LOW * sizes->min_height / scene->camera_height);
  gfloat top = (gfloat) (GST_STEREO_GROUND_TOP * sizes->min_height / scene->camera_height);
  gfloat high = (gfloat) (sizes->max_height / scene->camera_height);
  gfloat far = (gfloat) (scene->camera.focal * scene->camera.baseline / sizes->max_distance);
  gfloat slope = (gfloat) (scene->plane.across * grid->step);
  gint count = grid->columns;

  G_STATIC_ASSERT (GST_STEREO_GROUND_UNSEEN == 0);
  for (gint row = 0; row < grid->rows; row++) {
    gsize place = gst_stereo_ground_grid_at (grid, 0, row);
    const gfloat *restrict disparity = grid->disparity + place;
    gfloat start = (gfloat) gst_stereo_ground_scene_at (
        scene, gst_stereo_ground_grid_pixel (grid, 0), gst_stereo_ground_grid_pixel (grid, row));
    guint8 *restrict class = classes + place;

    for (gint i = 0; i < count; i++) {
      gfloat d = disparity[i], ground = start + slope * (gfloat) i, above = d - ground;
      /* no branch: it would depend on the picture, and be slow */
      gint stands = (above > GST_STEREO_GROUND_NOISE) & (above > low * d);
      gint tall = stands & (above > GST_STEREO_GROUND_OUT) & (above > top * d);
      gint below = (above < -BELOW) & (above < -BELOW_PART * ground);
      gint outside = (stands & (above > high * d)) | (d < far) | below;
      gint kind = GST_STEREO_GROUND_GROUND + stands * (GST_STEREO_GROUND_STANDING - GST_STEREO_GROUND_GROUND) +
          tall * (GST_STEREO_GROUND_TALL - GST_STEREO_GROUND_STANDING);

      kind += outside * (GST_STEREO_GROUND_OTHER - kind);
      class[i] = (guint8) (kind * (d > 0));
    }
  }
}
