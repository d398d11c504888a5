/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is measured in a depth picture: by stereonearest upstream or, where its metadata does not come, by one inside. The regions of
 * a detector in the live view are measured in the depth, as copies, and their distances are written into them.
 */
#include "gst/overlay/overlay.h"

/* The messages of the inner one become those of depthoverlay, with the age by this pipeline's clock. */
static GstBusSyncReply
pass_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GstDepthOverlayMeasure *measure = data;
  gboolean found = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT;

  if (GST_MESSAGE_TYPE (message) & (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) || (found && !measure->quiet)) {
    GstMessage *copy = gst_message_copy (message);

    gst_object_replace (&GST_MESSAGE_SRC (copy), GST_OBJECT (measure->owner));
    if (found && GST_CLOCK_TIME_IS_VALID (measure->age))
      gst_structure_set (gst_message_writable_structure (copy), "age", G_TYPE_UINT64, measure->age, NULL);
    gst_element_post_message (measure->owner, copy);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

gboolean
gst_depth_overlay_measure_start (GstDepthOverlayMeasure *measure, GstElement *owner)
{
  memset (measure, 0, sizeof *measure);
  measure->owner = owner;
  measure->inner = gst_element_factory_make ("stereonearest", NULL);
  if (!measure->inner) {
    GST_ELEMENT_ERROR (owner, CORE, MISSING_PLUGIN,
        ("There is no element stereonearest, which depthoverlay has inside. Install all plugins of gst-stereo."),
        (NULL));
    return FALSE;
  }
  gst_object_ref_sink (measure->inner);
  g_autoptr (GstBus) bus = gst_bus_new ();
  gst_bus_set_sync_handler (bus, pass_message, measure, NULL);
  gst_element_set_bus (measure->inner, bus);
  gst_element_set_state (measure->inner, GST_STATE_PLAYING);
  return TRUE;
}

void
gst_depth_overlay_measure_stop (GstDepthOverlayMeasure *measure)
{
  if (measure->inner) {
    gst_element_set_state (measure->inner, GST_STATE_NULL);
    gst_element_set_bus (measure->inner, NULL);
  }
  gst_clear_object (&measure->inner);
  gst_clear_buffer (&measure->depth);
}

/* ---- regions of detectors ---------------------------------------------------------------- */

/* The next one from *@state on, which is NULL at first; stereoground's own are in the depth alone. */
static GstVideoRegionOfInterestMeta *
next_region (GstBuffer *buffer, gpointer *state)
{
  GstMeta *next;

  do
    next = gst_buffer_iterate_meta_filtered (buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  while (next && gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) next, "stereo-obstacle"));
  return (GstVideoRegionOfInterestMeta *) next;
}

gboolean
gst_depth_overlay_measure_has_regions (GstBuffer *buffer)
{
  gpointer state = NULL;

  return next_region (buffer, &state) != NULL;
}

/* Adds the region of a view of @view to @depth, scaled to it. */
static GstVideoRegionOfInterestMeta *
copy_region (
    const GstVideoRegionOfInterestMeta *roi, const GstVideoInfo *view, GstBuffer *depth, const GstVideoInfo *info)
{
  guint64 width = (guint64) GST_VIDEO_INFO_WIDTH (view), height = (guint64) GST_VIDEO_INFO_HEIGHT (view);
  guint64 across = (guint64) GST_VIDEO_INFO_WIDTH (info), down = (guint64) GST_VIDEO_INFO_HEIGHT (info);
  guint64 left = MIN (roi->x, width) * across / width, top = MIN (roi->y, height) * down / height;
  guint64 right = (MIN ((guint64) roi->x + roi->w, width) * across + width - 1) / width;
  guint64 bottom = (MIN ((guint64) roi->y + roi->h, height) * down + height - 1) / height;

  return gst_buffer_add_video_region_of_interest_meta_id (
      depth, roi->roi_type, (guint) left, (guint) top, (guint) (right - left), (guint) (bottom - top));
}

/* The result of an element upstream, which may have measured the region, too, is removed. */
static void
write_distance (GstVideoRegionOfInterestMeta *roi, const GstStructure *found)
{
  GstStructure *old = gst_video_region_of_interest_meta_get_param (roi, "stereo-distance");

  if (old) {
    roi->params = g_list_remove (roi->params, old);
    gst_structure_free (old);
  }
  gst_video_region_of_interest_meta_add_param (roi,
      found ?
          gst_structure_copy (found) :
          gst_structure_new ("stereo-distance", "valid", G_TYPE_BOOLEAN, FALSE, "coverage", G_TYPE_DOUBLE, 0.0, NULL));
}

void
gst_depth_overlay_measure_nothing (GstBuffer *live)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = next_region (live, &state)))
    write_distance (roi, NULL);
}

/* ---- measuring --------------------------------------------------------------------------- */

gboolean
gst_depth_overlay_measure_run (
    GstDepthOverlayMeasure *measure, const GstDepthOverlayDepth *depth, GstBuffer *live, const GstVideoInfo *view)
{
  GstBaseTransform *inner = GST_BASE_TRANSFORM (measure->inner);
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS (inner);
  gboolean found = gst_stereo_found_get (depth->buffer, GST_STEREO_NEAREST_META) != NULL;
  gboolean regions = live && gst_depth_overlay_measure_has_regions (live);
  g_autoptr (GPtrArray) copies = g_ptr_array_new ();
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  if (!depth->fresh && measure->depth && !regions)
    return TRUE;
  gst_buffer_replace (&measure->depth, depth->buffer);
  if (found && !regions)
    return TRUE;
  measure->depth = gst_buffer_make_writable (measure->depth);
  while (regions && (roi = next_region (live, &state)))
    g_ptr_array_add (copies, copy_region (roi, view, measure->depth, &depth->info));
  /* nothing is linked to the inner one: its functions are called here */
  if (!measure->info.finfo || !gst_video_info_is_equal (&depth->info, &measure->info)) {
    g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) &depth->info);

    klass->set_caps (inner, caps, caps);
    measure->info = depth->info;
  }
  inner->segment = depth->segment;
  measure->quiet = found || !depth->fresh;
  if (klass->transform_ip (inner, measure->depth) != GST_FLOW_OK)
    return FALSE;
  state = NULL;
  for (guint i = 0; i < copies->len; i++)
    write_distance (next_region (live, &state),
        gst_video_region_of_interest_meta_get_param (g_ptr_array_index (copies, i), "stereo-distance"));
  return TRUE;
}
