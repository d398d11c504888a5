/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/aggregator.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/events.h"
#include "gst/video/metas.h"
#include "gst/video/stream.h"

GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug);

struct _GstStereoAggregatorPrivate
{
  GstStereoParts parts;

  /* of the source pad's task */
  gboolean negotiated; /* the source pad has caps */
  GstSegment segment;  /* of the source pad */
  gboolean have_segment;
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstStereoAggregator, gst_stereo_aggregator, GST_TYPE_AGGREGATOR)

static GstStereoParts *
parts_of (GstAggregator *aggregator)
{
  return &GST_STEREO_AGGREGATOR (aggregator)->priv->parts;
}

/* ---- aggregate ---------------------------------------------------------------------------- */

static GstFlowReturn
drain (GstStereoAggregator *self, gboolean one_may_stay)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  return klass->drain ? klass->drain (self, one_may_stay) : GST_FLOW_OK;
}

static gboolean
has_ended (GstStereoPad *pad)
{
  return !pad || gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));
}

static GstFlowReturn
find_pair (GstStereoAggregator *self, const GstStereoInputPads *pads, GstStereoPair *pair)
{
  GstStereoParts *parts = &self->priv->parts;

  if (!gst_stereo_inputs_check (parts->inputs))
    return GST_FLOW_NOT_NEGOTIATED;
  if (pads->packed || (pads->left && pads->right))
    return gst_stereo_pairs_find (parts->pairs, pads, pair);
  if (has_ended (pads->left) && has_ended (pads->right))
    return GST_FLOW_EOS;
  /* the other view's pad is not there yet: the frames wait, and GstStereoInputs gives up after a while */
  g_usleep (10000);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* Whether downstream has the caps and the segment that a GAP event needs. */
static gboolean
can_forward_gap (const GstStereoAggregator *self, const GstStereoFrame *frame)
{
  const GstStereoAggregatorPrivate *priv = self->priv;

  return priv->negotiated && priv->have_segment && gst_segment_is_equal (&priv->segment, &frame->segment);
}

/* The output has a gap where the stream that gives the timestamps has one, and where a frame of that stream gives no output.
 * Without the GAP event, an element that waits for this output would go on waiting: depthoverlay is one. */
static GstFlowReturn
forward_gap (GstStereoAggregator *self, const GstStereoFrame *missing)
{
  GstClockTime time = GST_BUFFER_PTS (missing->buffer);
  GstFlowReturn flow = drain (self, FALSE);

  if (flow == GST_FLOW_OK && can_forward_gap (self, missing) && GST_CLOCK_TIME_IS_VALID (time))
    gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self), gst_event_new_gap (time, GST_BUFFER_DURATION (missing->buffer)));
  return flow;
}

static GstFlowReturn
forward_gaps (GstStereoAggregator *self, GQueue *missing)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstStereoFrame *frame;

  while (flow == GST_FLOW_OK && (frame = g_queue_pop_head (missing))) {
    flow = forward_gap (self, frame);
    gst_stereo_frame_unref (frame);
  }
  return flow;
}

/* The subclass gets two views of 8 bits a sample. */
static GstFlowReturn
process (GstStereoAggregator *self, const GstStereoPair *pair)
{
  GstStereoFrame *view[2] = { pair->left, pair->right };

  if (!gst_stereo_deep_convert (self->priv->parts.deep, view))
    return GST_FLOW_ERROR;
  GstFlowReturn flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process (self, view[0], view[1]);
  gst_stereo_frame_unref (view[0]);
  gst_stereo_frame_unref (view[1]);
  return flow;
}

static GstFlowReturn
gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoInputs *inputs = self->priv->parts.inputs;
  GstStereoInputPads pads = gst_stereo_inputs_get (inputs);
  GstStereoPair pair = { NULL };
  GstFlowReturn flow, forwarded, drained;

  gst_stereo_inputs_set_busy (inputs, TRUE);
  flow = find_pair (self, &pads, &pair);
  if ((forwarded = forward_gaps (self, &pair.missing)) != GST_FLOW_OK)
    flow = forwarded;
  if (flow == GST_FLOW_OK)
    flow = process (self, &pair);
  gst_stereo_pair_clear (&pair);
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (aggregator));
  drained = drain (self, flow == GST_FLOW_OK && !live && gst_stereo_input_pads_have_buffers (&pads));
  gst_stereo_input_pads_clear (&pads);
  gst_stereo_inputs_set_busy (inputs, FALSE);
  return drained == GST_FLOW_OK ? flow : drained;
}

/* ---- for subclasses ----------------------------------------------------------------------- */

void
gst_stereo_aggregator_get_stats (GstStereoAggregator *self, GstStereoPairStats *stats)
{
  GstStereoQosStats pairs;

  gst_stereo_qos_get_stats (self->priv->parts.qos, &pairs);
  *stats = (GstStereoPairStats){
    .pairs = pairs.pairs, .late = pairs.late, .compute_last = pairs.compute_last, .compute_total = pairs.compute_total
  };
  gst_stereo_drops_get (self->priv->parts.drops, &stats->dropped_left, &stats->dropped_right);
  stats->pairing_clock = gst_stereo_clock_get_name (self->priv->parts.clock);
}

void
gst_stereo_aggregator_reconfigure (GstStereoAggregator *self)
{
  gst_stereo_inputs_reconfigure (self->priv->parts.inputs);
}

void
gst_stereo_aggregator_set_negotiated (GstStereoAggregator *self, gboolean negotiated)
{
  self->priv->negotiated = negotiated;
}

gboolean
gst_stereo_aggregator_drop_if_late (
    GstStereoAggregator *self, const GstStereoFrame *left, const GstStereoFrame *right, GstFlowReturn *flow)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)));

  /* where nothing is live, an element downstream may wait for each pair until a GAP event comes in its place */
  if ((!live && !can_forward_gap (self, left)) ||
      !gst_stereo_qos_drop_if_late (self->priv->parts.qos, left->time == GST_STEREO_TIME_NONE ? right : left))
    return FALSE;
  gst_stereo_drops_break_stream (self->priv->parts.drops);
  /* no element of a live pipeline waits longer than the latency; a sink that is not behind a queue would hold this thread until the
   * gap is over, and the next pair would be late as well */
  *flow = live ? GST_FLOW_OK : forward_gap (self, left);
  return TRUE;
}

/* The frame that gives the timestamps: the other one where the left view of a bundle has none. */
static GstBuffer *
timed_buffer (const GstStereoFrame *left, const GstStereoFrame *right)
{
  return GST_BUFFER_PTS_IS_VALID (left->buffer) || left->layout.packing == GST_STEREO_PACKING_AUTO ? left->buffer :
                                                                                                     right->buffer;
}

void
gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *right, gboolean same_place)
{
  gboolean discont = gst_stereo_drops_mend_stream (self->priv->parts.drops);
  gboolean alone = left->layout.packing == GST_STEREO_PACKING_AUTO ||
      left->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME;

  gst_buffer_copy_into (out, timed_buffer (left, right), GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_DTS (out) = GST_CLOCK_TIME_NONE;
  if (discont || GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  if (GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_CORRUPTED) ||
      GST_BUFFER_FLAG_IS_SET (right->buffer, GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_CORRUPTED);
  gst_stereo_copy_metas (out, left->buffer, same_place && alone, FALSE);
}

GstFlowReturn
gst_stereo_aggregator_finish (
    GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out, GstClockTime compute_time)
{
  GstStereoAggregatorPrivate *priv = self->priv;

  gst_stereo_qos_computed (priv->parts.qos, compute_time);
  GST_LOG_OBJECT (self, "computed in %" GST_TIME_FORMAT ", pushes %" GST_PTR_FORMAT, GST_TIME_ARGS (compute_time), out);
  gint64 begin = g_get_monotonic_time ();
  GstFlowReturn flow = gst_stereo_push (GST_AGGREGATOR (self), &priv->segment, &priv->have_segment, segment, out);
  gst_stereo_qos_pushed (priv->parts.qos, (g_get_monotonic_time () - begin) * 1000);
  return flow;
}

/* ---- events and queries ------------------------------------------------------------------- */

static gboolean
gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  return gst_stereo_read_sink_event (parts_of (aggregator), aggregator, pad, event);
}

static gboolean
gst_stereo_aggregator_src_event (GstAggregator *aggregator, GstEvent *event)
{
  return gst_stereo_read_src_event (parts_of (aggregator), aggregator, event);
}

static gboolean
gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_answer_src_query (parts_of (aggregator), aggregator, query);
}

static gboolean
gst_stereo_aggregator_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS && GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_query (aggregator, pad, query);
  g_autoptr (GstCaps) caps = GST_STEREO_AGGREGATOR_GET_CLASS (self)->input_caps (self);
  gst_stereo_answer_caps_query (query, caps, GST_PAD (pad));
  return TRUE;
}

/* ---- start, stop, flush ------------------------------------------------------------------- */

/* Forgets what must not outlive a flush. */
static void
reset_stream (GstStereoAggregatorPrivate *priv)
{
  gst_stereo_qos_flush (priv->parts.qos);
  gst_stereo_pairs_flush (priv->parts.pairs);
  gst_stereo_drops_break_stream (priv->parts.drops);
  priv->have_segment = FALSE;
}

static GstFlowReturn
gst_stereo_aggregator_flush (GstAggregator *aggregator)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;

  reset_stream (priv);
  gst_stereo_watch_reset (priv->parts.watch, FALSE);
  return GST_FLOW_OK;
}

/* FALSE after an error was posted. */
static gboolean
gst_stereo_aggregator_start (GstAggregator *aggregator)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;

  priv->have_segment = FALSE;
  gst_stereo_inputs_start (priv->parts.inputs);
  gst_stereo_qos_start (priv->parts.qos);
  gst_stereo_drops_start (priv->parts.drops);
  gst_stereo_deep_start (priv->parts.deep);
  reset_stream (priv);
  gst_stereo_watch_reset (priv->parts.watch, TRUE);
  return gst_stereo_inputs_check (priv->parts.inputs);
}

static gboolean
gst_stereo_aggregator_stop (GstAggregator *aggregator)
{
  GstStereoParts *parts = parts_of (aggregator);

  gst_stereo_inputs_stop (parts->inputs);
  gst_stereo_watch_set_playing (parts->watch, FALSE);
  return TRUE;
}

static GstStateChangeReturn
gst_stereo_aggregator_change_state (GstElement *element, GstStateChange transition)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (element);

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stereo_watch_set_playing (self->priv->parts.watch, FALSE);
  GstStateChangeReturn result = GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && result != GST_STATE_CHANGE_FAILURE)
    gst_stereo_watch_set_playing (self->priv->parts.watch, TRUE);
  return result;
}

/* ---- pads --------------------------------------------------------------------------------- */

static GstAggregatorPad *
gst_stereo_aggregator_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPad *pad = gst_stereo_inputs_add (self->priv->parts.inputs, template);

  if (pad)
    gst_stereo_watch_forget_view (self->priv->parts.watch, gst_stereo_pad_is_right (pad));
  return (GstAggregatorPad *) pad;
}

static void
gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad)
{
  gst_stereo_inputs_remove (GST_STEREO_AGGREGATOR (element)->priv->parts.inputs, GST_STEREO_PAD (pad));
  GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->release_pad (element, pad);
}

/* ---- the class ---------------------------------------------------------------------------- */

void
gst_stereo_aggregator_class_add_templates (GstElementClass *klass, GstCaps *caps)
{
  static const gchar *const names[] = { "sink", "sink_left", "sink_right" };

  /* in this order: linking without a pad name takes the first */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gst_element_class_add_pad_template (
        klass, gst_pad_template_new_with_gtype (names[i], GST_PAD_SINK, GST_PAD_REQUEST, caps, GST_TYPE_STEREO_PAD));
  gst_caps_unref (caps);
}

static void
gst_stereo_aggregator_dispose (GObject *object)
{
  gst_stereo_inputs_stop (GST_STEREO_AGGREGATOR (object)->priv->parts.inputs);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->dispose (object);
}

static void
gst_stereo_aggregator_finalize (GObject *object)
{
  GstStereoParts *parts = parts_of (GST_AGGREGATOR (object));

  gst_stereo_watch_free (parts->watch);
  gst_stereo_qos_free (parts->qos);
  gst_stereo_deep_free (parts->deep);
  gst_stereo_pairs_free (parts->pairs);
  gst_stereo_clock_free (parts->clock);
  gst_stereo_drops_free (parts->drops);
  gst_stereo_inputs_free (parts->inputs);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass, gssize parts)
{
  gst_stereo_properties_install_part (
      klass, gst_stereo_pairs_properties, parts + G_STRUCT_OFFSET (GstStereoParts, pairs));
  gst_stereo_properties_install_part (
      klass, gst_stereo_clock_properties, parts + G_STRUCT_OFFSET (GstStereoParts, clock));
  gst_stereo_properties_install_part (klass, gst_stereo_deep_properties, parts + G_STRUCT_OFFSET (GstStereoParts, deep));
  gst_stereo_properties_install_part (klass, gst_stereo_qos_properties, parts + G_STRUCT_OFFSET (GstStereoParts, qos));
}

static void
gst_stereo_aggregator_class_init (GstStereoAggregatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_aggregator_debug, "stereoaggregator", 0, "pairing of two views");

  object_class->dispose = gst_stereo_aggregator_dispose;
  object_class->finalize = gst_stereo_aggregator_finalize;
  install_properties (object_class,
      g_type_class_get_instance_private_offset (klass) + G_STRUCT_OFFSET (GstStereoAggregatorPrivate, parts));
  element_class->change_state = gst_stereo_aggregator_change_state;
  element_class->release_pad = gst_stereo_aggregator_release_pad;
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_AGGREGATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PAD, 0);

  aggregator_class->sink_event = gst_stereo_aggregator_sink_event;
  aggregator_class->sink_event_pre_queue = gst_stereo_preview_sink_event;
  aggregator_class->src_event = gst_stereo_aggregator_src_event;
  aggregator_class->src_query = gst_stereo_aggregator_src_query;
  aggregator_class->sink_query = gst_stereo_aggregator_sink_query;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
  aggregator_class->create_new_pad = gst_stereo_aggregator_create_new_pad;
  aggregator_class->clip = gst_stereo_pad_clip;
  aggregator_class->start = gst_stereo_aggregator_start;
  aggregator_class->stop = gst_stereo_aggregator_stop;
  aggregator_class->flush = gst_stereo_aggregator_flush;
  aggregator_class->aggregate = gst_stereo_aggregator_aggregate;
}

static void
gst_stereo_aggregator_init (GstStereoAggregator *self)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstElement *element = GST_ELEMENT (self);
  GstStereoParts *parts;

  self->priv = gst_stereo_aggregator_get_instance_private (self);
  parts = &self->priv->parts;
  parts->inputs = gst_stereo_inputs_new (element);
  parts->drops = gst_stereo_drops_new (element);
  parts->clock = gst_stereo_clock_new (element);
  parts->pairs = gst_stereo_pairs_new (element, parts->drops, parts->clock);
  parts->deep = gst_stereo_deep_new (element);
  parts->qos = gst_stereo_qos_new (aggregator);
  parts->watch = gst_stereo_watch_new (aggregator, parts->inputs);
  gst_stereo_properties_init (G_OBJECT (self));
}
