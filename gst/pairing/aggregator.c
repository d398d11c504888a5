/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/aggregator.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/decorate.h"
#include "gst/pairing/events.h"
#include "gst/pairing/parts.h"
#include "gst/pairing/properties.h"
#include "gst/pairing/queries.h"
#include "gst/video/ranges.h"
#include "gst/video/stream.h"

struct _GstStereoAggregatorPrivate
{
  GstStereoParts parts;

  gboolean busy; /* in aggregate(); protected by the object lock */

  /* of the source pad's task */
  gboolean negotiated; /* the source pad has caps */
  GstSegment segment;  /* of the source pad */
  gboolean have_segment;
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstStereoAggregator, gst_stereo_aggregator, GST_TYPE_AGGREGATOR)

/* ---- aggregate ---------------------------------------------------------------------------- */

/* Under the lock that the silence watch takes as well: it never looks while frames are on their way through. */
static void
set_busy (GstStereoAggregator *self, gboolean busy)
{
  GST_OBJECT_LOCK (self);
  self->priv->busy = busy;
  GST_OBJECT_UNLOCK (self);
}

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
find_pair (GstStereoAggregator *self, const GstStereoPadSet *pads)
{
  GstStereoAggregatorPrivate *priv = self->priv;

  if (!gst_stereo_pads_check (priv->parts.pads))
    return GST_FLOW_NOT_NEGOTIATED;
  if (pads->packed)
    return gst_stereo_pairs_find_in_one (priv->parts.pairs, pads->packed);
  if (pads->left && pads->right)
    return gst_stereo_pairs_find_in_two (priv->parts.pairs, pads->left, pads->right);
  if (has_ended (pads->left) && has_ended (pads->right))
    return GST_FLOW_EOS;
  /* the other view's pad is not there yet: the frames wait, and GstStereoPads gives up after a while */
  g_usleep (10000);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPadSet pads = gst_stereo_pads_get (self->priv->parts.pads);
  GstFlowReturn flow, drained;
  gboolean live;

  set_busy (self, TRUE);
  flow = find_pair (self, &pads);
  gst_stereo_pad_set_return_peeked (&pads);
  live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (aggregator));
  drained = drain (self, flow == GST_FLOW_OK && !live && gst_stereo_pad_set_has_buffers (&pads));
  gst_stereo_pad_set_clear (&pads);
  set_busy (self, FALSE);
  return drained == GST_FLOW_OK ? flow : drained;
}

/* Whether downstream has what says when a gap is. */
static gboolean
can_tell_of_gaps (const GstStereoAggregator *self, const GstSegment *segment)
{
  const GstStereoAggregatorPrivate *priv = self->priv;

  return priv->negotiated && priv->have_segment && gst_segment_is_equal (&priv->segment, segment);
}

/* Where the stream that gives the timestamps has a gap, or a frame of it gives no output, the output has a gap. An element
 * that waits for the output, as depthoverlay does, would wait on. */
static GstFlowReturn
tell_of_gap (GstStereoAggregator *self, const GstSegment *segment, GstBuffer *missing)
{
  GstFlowReturn flow = drain (self, FALSE);

  if (flow == GST_FLOW_OK && can_tell_of_gaps (self, segment) && GST_BUFFER_PTS_IS_VALID (missing))
    gst_pad_push_event (
        GST_AGGREGATOR_SRC_PAD (self), gst_event_new_gap (GST_BUFFER_PTS (missing), GST_BUFFER_DURATION (missing)));
  return flow;
}

/* For the silence watch. */
static GstStereoViewsState
describe_views (GstAggregator *aggregator, GstStereoActivity activity[2], gboolean *packed)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;
  GstStereoPadSet pads = gst_stereo_pads_get (priv->parts.pads);
  GstStereoViewsState state = GST_STEREO_VIEWS_MISSING;

  GST_OBJECT_LOCK (aggregator);
  *packed = pads.packed != NULL;
  if (pads.packed || (pads.left && pads.right))
    state = priv->busy ? GST_STEREO_VIEWS_BUSY : GST_STEREO_VIEWS_KNOWN;
  if (pads.packed || pads.left)
    activity[0] = gst_stereo_pad_activity (pads.packed ? pads.packed : pads.left);
  if (pads.right)
    activity[1] = gst_stereo_pad_activity (pads.right);
  GST_OBJECT_UNLOCK (aggregator);
  gst_stereo_pad_set_clear (&pads);
  return state;
}

/* ---- for subclasses ----------------------------------------------------------------------- */

void
gst_stereo_aggregator_get_stats (GstStereoAggregator *self, GstStereoPairStats *stats)
{
  GstStereoLatePairsStats pairs;

  gst_stereo_late_pairs_get_stats (self->priv->parts.late_pairs, &pairs);
  *stats = (GstStereoPairStats){
    .pairs = pairs.pairs, .late = pairs.late, .compute_last = pairs.compute_last, .compute_total = pairs.compute_total
  };
  gst_stereo_drops_get (self->priv->parts.drops, &stats->dropped_left, &stats->dropped_right);
  stats->pairing_clock = gst_stereo_clock_get_name (self->priv->parts.clock);
}

void
gst_stereo_aggregator_reconfigure (GstStereoAggregator *self)
{
  gst_stereo_pads_reconfigure (self->priv->parts.pads);
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

  /* where nothing is live, others may wait for each pair until they are told that it does not come */
  if ((!live && !can_tell_of_gaps (self, &left->segment)) ||
      !gst_stereo_late_pairs_drop (self->priv->parts.late_pairs, left->time == GST_STEREO_TIME_NONE ? right : left))
    return FALSE;
  gst_stereo_drops_break_stream (self->priv->parts.drops);
  *flow = tell_of_gap (self, &left->segment, left->buffer);
  return TRUE;
}

void
gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *other, gboolean same_place)
{
  gst_stereo_decorate (out, left, other, same_place, gst_stereo_drops_mend_stream (self->priv->parts.drops));
}

GstFlowReturn
gst_stereo_aggregator_finish (
    GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out, GstClockTime compute_time)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstFlowReturn flow;
  gint64 begin;

  gst_stereo_late_pairs_computed (priv->parts.late_pairs, compute_time);
  GST_LOG_OBJECT (self, "computed in %" GST_TIME_FORMAT ", pushes %" GST_PTR_FORMAT, GST_TIME_ARGS (compute_time), out);
  begin = g_get_monotonic_time ();
  flow = gst_stereo_push (GST_AGGREGATOR (self), &priv->segment, &priv->have_segment, segment, out);
  gst_stereo_late_pairs_pushed (priv->parts.late_pairs, (g_get_monotonic_time () - begin) * 1000);
  return flow;
}

/* ---- start, stop, flush ------------------------------------------------------------------- */

static GstFlowReturn
gst_stereo_aggregator_flush (GstAggregator *aggregator)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;

  gst_stereo_parts_flush (&priv->parts);
  priv->have_segment = FALSE;
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_aggregator_start (GstAggregator *aggregator)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;

  priv->have_segment = FALSE;
  return gst_stereo_values_accepted (GST_ELEMENT (aggregator)) && gst_stereo_parts_start (&priv->parts);
}

static gboolean
gst_stereo_aggregator_stop (GstAggregator *aggregator)
{
  gst_stereo_parts_stop (&GST_STEREO_AGGREGATOR (aggregator)->priv->parts);
  return TRUE;
}

static GstStateChangeReturn
gst_stereo_aggregator_change_state (GstElement *element, GstStateChange transition)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stereo_silence_set_playing (self->priv->parts.silence, FALSE);
  result = GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && result != GST_STATE_CHANGE_FAILURE)
    gst_stereo_silence_set_playing (self->priv->parts.silence, TRUE);
  return result;
}

/* ---- pads --------------------------------------------------------------------------------- */

static GstAggregatorPad *
gst_stereo_aggregator_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPad *pad = gst_stereo_pads_add (self->priv->parts.pads, template);

  if (pad)
    gst_stereo_silence_forget_view (self->priv->parts.silence, gst_stereo_pad_is_right (pad));
  return (GstAggregatorPad *) pad;
}

static void
gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad)
{
  gst_stereo_pads_remove (GST_STEREO_AGGREGATOR (element)->priv->parts.pads, GST_STEREO_PAD (pad));
  GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->release_pad (element, pad);
}

/* ---- events ------------------------------------------------------------------------------- */

static gboolean
gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstStereoParts *parts = &GST_STEREO_AGGREGATOR (aggregator)->priv->parts;
  GstStereoEventResult result = gst_stereo_events_read_sink (
      parts, GST_ELEMENT (aggregator), GST_STEREO_PAD (pad), event);

  if (result == GST_STEREO_EVENT_FORWARD)
    return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_event (aggregator, pad, event);
  gst_event_unref (event);
  return result == GST_STEREO_EVENT_TAKEN;
}

static GstFlowReturn
gst_stereo_aggregator_sink_event_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  gst_stereo_pad_preview_event (GST_STEREO_PAD (pad), event);
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_event_pre_queue (aggregator, pad, event);
}

static gboolean
gst_stereo_aggregator_src_event (GstAggregator *aggregator, GstEvent *event)
{
  GstAggregatorClass *parent = GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class);
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK) {
    guint generation = gst_stereo_pads_expect_seek (priv->parts.pads, event);
    gboolean sent = parent->src_event (aggregator, event);
    if (!sent)
      gst_stereo_pads_cancel_seek (priv->parts.pads, generation);
    return sent;
  }
  gst_stereo_events_read_src (&priv->parts, event);
  return parent->src_event (aggregator, event);
}

/* ---- queries ------------------------------------------------------------------------------ */

static gboolean
gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query)
{
  GstPad *pad = gst_stereo_pads_get_leading (GST_STEREO_AGGREGATOR (aggregator)->priv->parts.pads);
  gboolean answered;

  if (pad && gst_stereo_query_is_for_upstream (query))
    answered = gst_pad_peer_query (pad, query);
  else
    answered = GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->src_query (aggregator, query);
  gst_clear_object (&pad);
  return answered;
}

static gboolean
gst_stereo_aggregator_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  if (gst_stereo_query_is_about_caps (query)) {
    gst_stereo_query_answer_caps (query, GST_STEREO_AGGREGATOR_GET_CLASS (self)->input_caps (self));
    return TRUE;
  }
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_query (aggregator, pad, query);
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

/* The class is the subclass's from here on: pairs go to its process() directly. */
static void
gst_stereo_aggregator_constructed (GObject *object)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (object);
  GstStereoPairsFuncs funcs = { .pair = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process, .gap = tell_of_gap };

  gst_stereo_pairs_set_funcs (self->priv->parts.pairs, &funcs);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->constructed (object);
}

static void
gst_stereo_aggregator_dispose (GObject *object)
{
  gst_stereo_pads_stop (GST_STEREO_AGGREGATOR (object)->priv->parts.pads);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->dispose (object);
}

static void
gst_stereo_aggregator_finalize (GObject *object)
{
  gst_stereo_parts_clear (&GST_STEREO_AGGREGATOR (object)->priv->parts);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->finalize (object);
}

static void
gst_stereo_aggregator_class_init (GstStereoAggregatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  gst_stereo_pairing_debug_init ();

  object_class->constructed = gst_stereo_aggregator_constructed;
  object_class->dispose = gst_stereo_aggregator_dispose;
  object_class->finalize = gst_stereo_aggregator_finalize;
  gst_stereo_properties_install (object_class, gst_stereo_pairing_properties,
      g_type_class_get_instance_private_offset (klass) + G_STRUCT_OFFSET (GstStereoAggregatorPrivate, parts));
  element_class->change_state = gst_stereo_aggregator_change_state;
  element_class->release_pad = gst_stereo_aggregator_release_pad;
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_AGGREGATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PAD, 0);

  aggregator_class->create_new_pad = gst_stereo_aggregator_create_new_pad;
  aggregator_class->sink_event = gst_stereo_aggregator_sink_event;
  aggregator_class->sink_event_pre_queue = gst_stereo_aggregator_sink_event_pre_queue;
  aggregator_class->src_event = gst_stereo_aggregator_src_event;
  aggregator_class->src_query = gst_stereo_aggregator_src_query;
  aggregator_class->sink_query = gst_stereo_aggregator_sink_query;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
  aggregator_class->clip = gst_stereo_pad_clip;
  aggregator_class->start = gst_stereo_aggregator_start;
  aggregator_class->stop = gst_stereo_aggregator_stop;
  aggregator_class->flush = gst_stereo_aggregator_flush;
  aggregator_class->aggregate = gst_stereo_aggregator_aggregate;
}

static void
gst_stereo_aggregator_init (GstStereoAggregator *self)
{
  self->priv = gst_stereo_aggregator_get_instance_private (self);
  gst_stereo_parts_init (&self->priv->parts, GST_AGGREGATOR (self), describe_views);
}
