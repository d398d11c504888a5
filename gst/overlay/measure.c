/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is measured in a depth picture: by stereonearest upstream or, where its metadata does not come, by one inside. The regions of
 * a detector in the live view are measured in the depth, as copies, and their distances are written into them.
 */
#include "gst/overlay/overlay.h"

/* ---- the stereonearest inside ------------------------------------------------------------ */

static GstPadProbeReturn
catch_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer measure)
{
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    gst_buffer_replace (&((GstDepthOverlayMeasure *) measure)->depth, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_DROP;
}

/* Its messages become those of depthoverlay, with the age by this pipeline's clock. */
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

/* Its sink pad gets events and buffers from here; what comes out is caught on its source pad. Neither is linked. */
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
  g_autoptr (GstPad) src = gst_element_get_static_pad (measure->inner, "src");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, catch_buffer, measure, NULL);
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

static void
push_inner (GstDepthOverlayMeasure *measure, const GstVideoInfo *info, GstBuffer *depth)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (measure->owner, "sink_depth");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (measure->inner, "sink");

  if (!measure->info.finfo || !gst_video_info_is_equal (info, &measure->info)) {
    g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);

    gst_pad_send_event (sink, gst_event_new_stream_start ("depth"));
    gst_pad_send_event (sink, gst_event_new_caps (caps));
    measure->info = *info;
  }
  if (pad && GST_AGGREGATOR_PAD (pad)->segment.format == GST_FORMAT_TIME)
    gst_pad_send_event (sink, gst_event_new_segment (&GST_AGGREGATOR_PAD (pad)->segment));
  gst_pad_chain (sink, depth);
}

/* ---- regions of detectors ---------------------------------------------------------------- */

/* stereoground's own are in the depth alone. */
static GstVideoRegionOfInterestMeta *
next_region (GstBuffer *buffer, gpointer *state)
{
  GstMeta *next;

  do
    next = gst_buffer_iterate_meta_filtered (buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  while (next && gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) next, "stereo-obstacle"));
  return (GstVideoRegionOfInterestMeta *) next;
}

guint
gst_depth_overlay_regions (GstBuffer *buffer)
{
  gpointer state = NULL;
  guint count = 0;

  while (next_region (buffer, &state))
    count++;
  return count;
}

/* Adds the regions of @live, a view of @view, to @depth, scaled to it, with the same names. */
static void
copy_regions (const GstVideoInfo *view, GstBuffer *live, GstBuffer *depth, const GstVideoInfo *info)
{
  guint64 width = (guint64) GST_VIDEO_INFO_WIDTH (view), height = (guint64) GST_VIDEO_INFO_HEIGHT (view);
  guint64 across = (guint64) GST_VIDEO_INFO_WIDTH (info), down = (guint64) GST_VIDEO_INFO_HEIGHT (info);
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = next_region (live, &state))) {
    guint64 left = MIN (roi->x, width) * across / width, top = MIN (roi->y, height) * down / height;
    guint64 right = (MIN ((guint64) roi->x + roi->w, width) * across + width - 1) / width;
    guint64 bottom = (MIN ((guint64) roi->y + roi->h, height) * down + height - 1) / height;

    gst_buffer_add_video_region_of_interest_meta_id (
        depth, roi->roi_type, (guint) left, (guint) top, (guint) (right - left), (guint) (bottom - top));
  }
}

/* An element upstream may have measured a region, too: its result is removed. */
void
gst_depth_overlay_measure_write (GstBuffer *live, GstBuffer *depth, guint skipped)
{
  GstVideoRegionOfInterestMeta *roi, *measured;
  gpointer state = NULL, from = NULL;

  while (depth && skipped-- > 0)
    next_region (depth, &from);
  while ((roi = next_region (live, &state))) {
    GstStructure *old = gst_video_region_of_interest_meta_get_param (roi, "stereo-distance"), *found = NULL;

    if (old) {
      roi->params = g_list_remove (roi->params, old);
      gst_structure_free (old);
    }
    measured = depth ? next_region (depth, &from) : NULL;
    if (measured)
      found = gst_video_region_of_interest_meta_get_param (measured, "stereo-distance");
    gst_video_region_of_interest_meta_add_param (roi,
        found ?
            gst_structure_copy (found) :
            gst_structure_new ("stereo-distance", "valid", G_TYPE_BOOLEAN, FALSE, "coverage", G_TYPE_DOUBLE, 0.0, NULL));
  }
}

gboolean
gst_depth_overlay_measure_run (
    GstDepthOverlayMeasure *measure, const GstDepthOverlayDepth *depth, GstBuffer *live, const GstVideoInfo *view)
{
  gboolean found = gst_stereo_found_get (depth->buffer, GST_STEREO_NEAREST_META) != NULL;
  gboolean regions = live && gst_depth_overlay_regions (live) > 0;
  guint own = regions ? gst_depth_overlay_regions (depth->buffer) : 0;

  if (!depth->fresh && measure->depth && !regions)
    return TRUE;
  if (found && !regions) {
    gst_buffer_replace (&measure->depth, depth->buffer);
  } else {
    GstBuffer *copy = gst_buffer_copy (depth->buffer);

    if (regions)
      copy_regions (view, live, copy, &depth->info);
    measure->quiet = found || !depth->fresh;
    gst_clear_buffer (&measure->depth);
    push_inner (measure, &depth->info, copy);
    if (!measure->depth)
      return FALSE;
  }
  if (regions)
    gst_depth_overlay_measure_write (live, measure->depth, own);
  return TRUE;
}
