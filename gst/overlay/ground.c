/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/ground.h"

struct _GstDepthOverlayGround
{
  GstStereoFoundGround *found;
  GArray *boxes; /* of GstDepthOverlayBox: its obstacles */
  GArray *marks; /* of GstDepthOverlayMark */
};

GstDepthOverlayGround *
gst_depth_overlay_ground_new (void)
{
  GstDepthOverlayGround *ground = g_new0 (GstDepthOverlayGround, 1);

  ground->found = gst_stereo_found_ground_new ();
  ground->boxes = g_array_new (FALSE, TRUE, sizeof (GstDepthOverlayBox));
  ground->marks = g_array_new (FALSE, TRUE, sizeof (GstDepthOverlayMark));
  return ground;
}

void
gst_depth_overlay_ground_free (GstDepthOverlayGround *ground)
{
  gst_stereo_found_ground_free (ground->found);
  g_array_unref (ground->boxes);
  g_array_unref (ground->marks);
  g_free (ground);
}

static void
add_box (GstDepthOverlayGround *ground, const GstStereoFoundObstacle *obstacle, gdouble warn_distance)
{
  const GstStereoNearestRegion *at = &obstacle->box;
  GstDepthOverlayBox box = { at->x, at->y, at->width, at->height, "", obstacle->distance < warn_distance };

  gst_depth_overlay_text_format (box.label, sizeof box.label, obstacle->distance, TRUE);
  g_array_append_val (ground->boxes, box);
}

/* Where the ground of a column ends that is free for @distance, in a picture of @width x @height pixels. */
static void
add_mark (GstDepthOverlayGround *ground, GstBuffer *depth, guint column, guint columns, gdouble distance, gint width,
    gint height)
{
  const GstStereoFoundPlane *plane = gst_stereo_found_ground_plane (ground->found);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);
  gdouble disparity = meta->focal_length * meta->baseline / distance - meta->principal_offset;
  gdouble x = (column + 0.5) * meta->width / columns, y = (disparity - plane->offset - plane->across * x) / plane->down;
  gint left = (gint) (column * (guint) width / columns), right = (gint) ((column + 1) * (guint) width / columns);
  GstDepthOverlayMark mark = { left, 0, MAX (1, right - left) }; /* a column may be narrower than a pixel */

  if (!(y >= 0 && y < meta->height))
    return;
  mark.y = (gint) (y * height / meta->height);
  g_array_append_val (ground->marks, mark);
}

void
gst_depth_overlay_ground_read (
    GstDepthOverlayGround *ground, const GstStereoJoined *depth, gint width, gint height, gdouble warn_distance)
{
  guint count, columns;

  gst_stereo_found_ground_read (ground->found, depth ? depth->buffer : NULL, depth ? &depth->info : NULL, width, height);
  g_array_set_size (ground->boxes, 0);
  g_array_set_size (ground->marks, 0);
  const GstStereoFoundObstacle *obstacles = gst_stereo_found_ground_obstacles (ground->found, &count);
  for (guint i = 0; i < count; i++)
    add_box (ground, &obstacles[i], warn_distance);
  const gdouble *free = gst_stereo_found_ground_free_distances (ground->found, &columns);
  for (guint i = 0; i < columns; i++)
    if (free[i] > 0)
      add_mark (ground, depth->buffer, i, columns, free[i], width, height);
}

const GstStereoFoundGround *
gst_depth_overlay_ground_found (const GstDepthOverlayGround *ground)
{
  return ground->found;
}

const GstDepthOverlayBox *
gst_depth_overlay_ground_boxes (const GstDepthOverlayGround *ground, guint *count)
{
  *count = ground->boxes->len;
  return (const GstDepthOverlayBox *) (gpointer) ground->boxes->data;
}

const GstDepthOverlayMark *
gst_depth_overlay_ground_marks (const GstDepthOverlayGround *ground, guint *count)
{
  *count = ground->marks->len;
  return (const GstDepthOverlayMark *) (gpointer) ground->marks->data;
}
