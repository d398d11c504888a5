/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-depthoverlay
 * @title: depthoverlay
 *
 * Shows the live view, its depth in colours over it, and the distance of the nearest surface.
 *
 * `sink` takes the live view, `sink_depth` the output of stereomatch: disparity or depth with its #GstStereoMeta,
 * which has the units of the samples. The output is the live view in its own format, size and frame rate, with
 * the colours blended in by #GstDepthOverlay:alpha. Pixels that are invalid, or less sure than
 * #GstDepthOverlay:min-confidence, show the live view unchanged.
 *
 * **Units.** Colours run from #GstDepthOverlay:near to #GstDepthOverlay:far, in millimetres, spread by
 * #GstDepthOverlay:scale, and never depend on the picture. Where these are 0, they follow from the range of the search,
 * focal length and baseline in the metadata, and stay as long as those do. Nearer pixels get the colour of `near`;
 * farther ones show the live view unchanged. Where the metadata has neither depth nor focal length and baseline,
 * distances are not known: a warning says so once, colours run over the search range of the disparity, the read-out is
 * the largest disparity in px, and `near`, `far`, `scale` and #GstDepthOverlay:warn-distance are without effect.
 *
 * **Depth alone.** If `sink` is not linked when `sink_depth` gets its caps, the output is depth in colours alone:
 * opaque, in the size and at the rate of the depth, in an RGB format if downstream takes one. Pixels that are
 * invalid or unsure are black, and pixels beyond #GstDepthOverlay:far get the colour of `far`. Whoever links `sink`
 * later gets an error.
 *
 * **The depth of a frame.** Every frame of the live view gives one output frame, with its timestamps.
 * It shows the latest depth whose running time is not later than its own: that of the same frame where
 * stereomatch got it from the same source, and an older one where depth comes at a lower rate or a frame of it was
 * dropped. Depth more than #GstDepthOverlay:max-age older than the frame is not shown, and the picture reports stale depth.
 * With a live source the element waits for depth at most for the latency of the pipeline, else for any time. Depth that lasts
 * for several live frames, as behind a videorate, is shown over all of them, and none of these frames waits for the next
 * depth. Other elements that drop depth must send gaps in its place (`valve drop-mode=transform-to-gap`), or the live view
 * waits for it. When depth ends before the live view, the view continues without depth, with a warning and a notice in the
 * picture. The end of the live view is the end of the output. Put a `queue` before both pads where one thread feeds both, as
 * after a tee.
 *
 * **Sizes.** Depth of another size is scaled to the view by the nearest neighbour; another aspect ratio is an error.
 * Of a live frame that holds both views (multiview-mode=side-by-side or top-bottom in its caps; or no such caps, and
 * half its width fits the depth where the whole does not; before any depth came, a width of twice the height or more)
 * the left view is shown, and the output is as large as that.
 *
 * **Nearest surface.** The search is that of stereonearest, with the properties that both elements have. The
 * documentation of stereonearest defines it, and `near`, `clear` and `unknown`. The picture shows the nearest distance, a
 * marker on it, and `unknown` with its reason. The element message `stereo-nearest` is that of stereonearest, with two
 * differences: `x` and `y` are in pixels of the output; and `state` is `unknown` also where there is no depth for a
 * frame.
 *
 * Depth that passed through stereonearest is not searched again. The picture shows the result in the
 * `GstStereoNearestMeta`, with its region and its warn-distance, and stereonearest posts the messages. The properties of
 * depthoverlay for the search then have no effect. depthoverlay itself only reports that a frame has no depth, which
 * stereonearest cannot know.
 *
 * **Ground and obstacles.** With stereoground before `sink_depth`, the picture has a box and a distance for each obstacle
 * (sixteen boxes at most) and a green line where the ground ends that is seen to be free. With #GstDepthOverlay:nearest set
 * to `obstacle`, the nearest distance, the warning and `stereo-nearest` are about obstacles, as those of stereonearest are.
 *
 * **Objects of a detector.** Built with GStreamer 1.24 and its analytics library, each GstAnalyticsODMtd on the live view
 * gets a #GstVideoRegionOfInterestMeta of its type, too. A detector of persons or cars adds a
 * #GstVideoRegionOfInterestMeta to the live view. Each gets a parameter `stereo-distance`, and with #GstDepthOverlay:text
 * a box and a label. A region has background, too. The object is the interval of disparities that fills most of the
 * middle of the region. The parameter has these fields:
 *
 * * `valid` (gboolean): whether a twentieth of the region is seen; all but `coverage` is there only if so
 * * `coverage` (gdouble): share of the region's pixels that are valid and sure enough, 0..1
 * * `distance` (gdouble): millimetres, the median of the object's pixels; missing where distances are not known
 * * `spread` (gdouble): half of the difference between the nearest and the farthest of the middle two thirds of these pixels,
 *   millimetres
 * * `disparity` (gdouble): of the median, in pixels of the depth picture; missing where it is not known
 * * `support` (gdouble): share of the seen pixels that belong to the object, 0..1; pixels in the middle have a larger weight
 * * `confidence` (gdouble): mean of the object's pixels, 0..1
 *
 * Of a live frame with both views the regions are dropped: put the detector behind the crop of the left view.
 *
 * ## Example
 * |[
 * gst-launch-1.0 v4l2src ! video/x-raw,width=2560,height=720 ! tee name=t \
 *     t. ! queue ! depthoverlay name=o warn-distance=1500 ! videoconvert ! autovideosink \
 *     t. ! queue ! stereomatch packing=side-by-side focal-length=700 baseline=120 ! queue ! o.sink_depth
 * gst-launch-1.0 stereotestsrc is-live=true ! stereomatch ! o.sink_depth depthoverlay name=o ! videoconvert ! \
 *     autovideosink
 * ]|
 */
#include "gst/overlay/element.h"

#include "gst/overlay/blend.h"
#include "gst/overlay/debug.h"
#include "gst/overlay/output.h"
#include "gst/overlay/show.h"
#include "gst/overlay/sync.h"

GST_DEBUG_CATEGORY (gst_depth_overlay_debug);

struct _GstDepthOverlay
{
  GstAggregator parent;

  GstStereoJoin *join;           /* the live view and its depth */
  GstDepthOverlaySync *sync;     /* what there is to show over a frame */
  GstDepthOverlayOutput *output; /* what goes downstream */
  GstDepthOverlayShow *show;     /* the properties, and a frame from the one to the other */
};

G_DEFINE_TYPE (GstDepthOverlay, gst_depth_overlay, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (depthoverlay, "depthoverlay", GST_RANK_NONE, GST_TYPE_DEPTH_OVERLAY)

static GstFlowReturn
gst_depth_overlay_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  return gst_depth_overlay_show_next (GST_DEPTH_OVERLAY (aggregator)->show, timeout);
}

/* ---- pads, events, queries --------------------------------------------------------------- */

static GstAggregatorPad *
gst_depth_overlay_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  return gst_stereo_join_create_pad (GST_DEPTH_OVERLAY (aggregator)->join, template);
}

static void
gst_depth_overlay_release_pad (GstElement *element, GstPad *pad)
{
  gst_stereo_join_release_pad (GST_DEPTH_OVERLAY (element)->join, pad);
  GST_ELEMENT_CLASS (gst_depth_overlay_parent_class)->release_pad (element, pad);
}

static gboolean
is_live (GstDepthOverlay *self, GstAggregatorPad *pad)
{
  return pad == gst_stereo_join_main (self->join);
}

static gboolean
take_caps (GstDepthOverlay *self, GstAggregatorPad *pad, GstEvent *event)
{
  gboolean taken = gst_stereo_join_take_caps (self->join, pad, event);

  /* a frame's time to wait for its depth beyond what upstream announces, half of which is left for drawing */
  if (taken && is_live (self, pad)) {
    GstClockTime latency = gst_stereo_join_frame_time (self->join);
    GST_DEBUG_OBJECT (self, "adds a latency of %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
    gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, latency);
  }
  return taken;
}

/* Nothing will come on sink. The base class waits for every pad that has not ended. */
static void
end_live (GstDepthOverlay *self)
{
  GstPad *live = GST_PAD (gst_stereo_join_main (self->join));

  GST_INFO_OBJECT (self, "sink is not linked: the output is depth alone");
  gst_pad_send_event (live, gst_event_new_stream_start ("no live view"));
  gst_pad_send_event (live, gst_event_new_eos ());
  gst_depth_overlay_sync_set_alone (self->sync);
}

/* Depth alone is flushed: the base class waits until every pad is. */
static void
flush_live (GstDepthOverlay *self, GstEvent *event)
{
  GstPad *live = GST_PAD (gst_stereo_join_main (self->join));

  gst_pad_send_event (live, gst_event_ref (event));
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_pad_send_event (live, gst_event_new_eos ());
}

/* In upstream's thread, before the event is queued: a pad that is unlinked now stays unlinked. */
static GstFlowReturn
gst_depth_overlay_sink_event_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  gboolean linked = gst_pad_is_linked (GST_PAD (gst_stereo_join_main (self->join)));
  gboolean alone = gst_depth_overlay_sync_is_alone (self->sync), live = is_live (self, pad);

  if (!live && GST_EVENT_TYPE (event) == GST_EVENT_CAPS && !linked && !alone)
    end_live (self);
  if (!live && alone &&
      (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP))
    flush_live (self, event);
  if (live && GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START && linked && alone) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("sink was linked after depth was shown alone. Link sink before the depth starts, or stop and start again."),
        (NULL));
    gst_event_unref (event);
    return GST_FLOW_ERROR;
  }
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_event_pre_queue (aggregator, pad, event);
}

static gboolean
gst_depth_overlay_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return take_caps (self, pad, event);
  gst_stereo_join_note_event (self->join, pad, event);
  /* the events of the stream that the output is go downstream */
  if (gst_stereo_join_is_forwarded (event) && is_live (self, pad) == gst_depth_overlay_sync_is_alone (self->sync)) {
    gst_event_unref (event);
    return TRUE;
  }
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_event (aggregator, pad, event);
}

static gboolean
gst_depth_overlay_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstCaps *caps, *filter;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && is_live (self, pad)) {
    gst_query_parse_caps (query, &filter);
    caps = gst_depth_overlay_output_query_caps (self->output, GST_PAD (pad), filter);
    gst_query_set_caps_result (query, caps);
    gst_caps_unref (caps);
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS || GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (GST_PAD (pad), GST_OBJECT (aggregator), query);
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_query (aggregator, pad, query);
}

/* Asks upstream of the stream that the output is. */
static gboolean
query_stream (GstDepthOverlay *self, GstQuery *query)
{
  if (!gst_depth_overlay_sync_is_alone (self->sync))
    return gst_pad_peer_query (GST_PAD (gst_stereo_join_main (self->join)), query);
  GstPad *depth = gst_element_get_static_pad (GST_ELEMENT (self), "sink_depth");
  gboolean answered = depth && gst_pad_peer_query (depth, query);
  gst_clear_object (&depth);
  return answered;
}

static gboolean
gst_depth_overlay_src_query (GstAggregator *aggregator, GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_URI:
      return query_stream (GST_DEPTH_OVERLAY (aggregator), query);
    default:
      return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->src_query (aggregator, query);
  }
}

static GstClockTime
gst_depth_overlay_get_next_time (GstAggregator *aggregator)
{
  return gst_depth_overlay_sync_deadline (GST_DEPTH_OVERLAY (aggregator)->sync);
}

static GstFlowReturn
gst_depth_overlay_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  return gst_depth_overlay_output_update_src_caps (GST_DEPTH_OVERLAY (aggregator)->output, caps, result);
}

static gboolean
gst_depth_overlay_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  return gst_depth_overlay_output_negotiated_src_caps (GST_DEPTH_OVERLAY (aggregator)->output, caps);
}

static gboolean
gst_depth_overlay_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_depth_overlay_output_decide_allocation (GST_DEPTH_OVERLAY (aggregator)->output, query);
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

static GstFlowReturn
gst_depth_overlay_flush (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  gst_stereo_join_forget (self->join);
  gst_depth_overlay_output_reset (self->output, FALSE);
  gst_depth_overlay_show_flush (self->show);
  return GST_FLOW_OK;
}

static gboolean
gst_depth_overlay_start (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  gst_stereo_join_reset (self->join);
  gst_depth_overlay_sync_reset (self->sync);
  gst_depth_overlay_output_reset (self->output, TRUE);
  gst_depth_overlay_show_start (self->show);
  return TRUE;
}

static gboolean
gst_depth_overlay_stop (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  gst_depth_overlay_show_stop (self->show);
  gst_depth_overlay_output_reset (self->output, TRUE);
  gst_stereo_join_reset (self->join);
  gst_depth_overlay_sync_reset (self->sync);
  return TRUE;
}

static void
gst_depth_overlay_dispose (GObject *object)
{
  gst_stereo_join_forget (GST_DEPTH_OVERLAY (object)->join);
  G_OBJECT_CLASS (gst_depth_overlay_parent_class)->dispose (object);
}

static void
gst_depth_overlay_finalize (GObject *object)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (object);

  gst_depth_overlay_show_free (self->show);
  gst_depth_overlay_output_free (self->output);
  gst_depth_overlay_sync_free (self->sync);
  gst_stereo_join_free (self->join);
  G_OBJECT_CLASS (gst_depth_overlay_parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE (
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_STEREO_BLEND_FORMATS)));
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE (
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_STEREO_BLEND_FORMATS)));
  static GstStaticPadTemplate depth = GST_STATIC_PAD_TEMPLATE (
      "sink_depth", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));

  gst_element_class_add_static_pad_template_with_gtype (klass, &src, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &sink, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &depth, GST_TYPE_AGGREGATOR_PAD);
}

static void
gst_depth_overlay_class_init (GstDepthOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_depth_overlay_debug, "depthoverlay", 0, "depth over the live view");
  object_class->dispose = gst_depth_overlay_dispose;
  object_class->finalize = gst_depth_overlay_finalize;
  gst_stereo_properties_install_part (
      object_class, gst_depth_overlay_show_properties, G_STRUCT_OFFSET (GstDepthOverlay, show));

  add_pad_templates (element_class);
  element_class->release_pad = gst_depth_overlay_release_pad;
  gst_element_class_set_static_metadata (element_class, "Depth overlay", "Filter/Editor/Video/Stereo",
      "Blends depth in colours over the live view, and shows, posts and warns of the nearest surface (mm). sink takes "
      "the live view, sink_depth the output of stereomatch",
      "gst-stereo");

  gst_stereo_join_class_init (aggregator_class);
  aggregator_class->create_new_pad = gst_depth_overlay_create_new_pad;
  aggregator_class->sink_event_pre_queue = gst_depth_overlay_sink_event_pre_queue;
  aggregator_class->sink_event = gst_depth_overlay_sink_event;
  aggregator_class->sink_query = gst_depth_overlay_sink_query;
  aggregator_class->src_query = gst_depth_overlay_src_query;
  aggregator_class->start = gst_depth_overlay_start;
  aggregator_class->stop = gst_depth_overlay_stop;
  aggregator_class->flush = gst_depth_overlay_flush;
  aggregator_class->aggregate = gst_depth_overlay_aggregate;
  aggregator_class->get_next_time = gst_depth_overlay_get_next_time;
  aggregator_class->update_src_caps = gst_depth_overlay_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_depth_overlay_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_depth_overlay_decide_allocation;
}

static void
gst_depth_overlay_init (GstDepthOverlay *self)
{
  self->join = gst_stereo_join_new (GST_AGGREGATOR (self), "sink", GST_CAT_DEFAULT);
  self->sync = gst_depth_overlay_sync_new (GST_ELEMENT (self), self->join);
  self->output = gst_depth_overlay_output_new (GST_AGGREGATOR (self));
  self->show = gst_depth_overlay_show_new (GST_ELEMENT (self), self->join, self->sync, self->output);
  gst_stereo_properties_init (G_OBJECT (self));
}
