/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/private.h"

GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug);

/* Pads may come late (decodebin): a missing view becomes an error only after this time. */
#define MISSING_TIME (2 * G_USEC_PER_SEC)

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstStereoAggregator, gst_stereo_aggregator, GST_TYPE_AGGREGATOR)

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_PLAYING, \
  .offset = G_STRUCT_OFFSET (GstStereoAggregatorPrivate, member)

static const GstStereoProperty properties[] = {
  { ROW ("packing", ENUM, pairs.packing), .initial = GST_STEREO_PACKING_AUTO, .choices = gst_stereo_packings,
      .type = "GstStereoPacking",
      .blurb = "How two views lie in a frame on sink, where the multiview-mode of its caps does not say it (mono "
               "does not); multiview-flags hold in either case" },
  { ROW ("max-skew", UINT64, pairs.max_skew), .initial = (gdouble) GST_STEREO_MAX_SKEW_AUTO,
      .blurb = "Nanoseconds that the two frames of a pair may be apart; frames without a partner are dropped, "
               "counted and reported. The default, 18446744073709551615, is half the left frame's duration, or "
               "half the time between the last frames where both views give fewer. A larger value has no effect where "
               "frames have a rate: the next one is nearer" },
  { ROW ("pairing-clock", ENUM, pairs.choice), .choices = gst_stereo_pairing_clocks, .type = "GstStereoPairingClock",
      .blurb = "Which timestamps pair the frames of sink_left and sink_right, and are compared with max-skew; stats "
               "say which ones do" },
  { ROW ("significant-bits", INT, deep.bits), .max = GST_STEREO_MOST_BITS,
      .blurb = "Bits of a GRAY16 sample that the camera uses, at least 8; the upper 8 of them are read. 0 = as "
               "many as the largest sample so far needs; where no sample is below half of it, as of thermal "
               "cameras, the lowest one is black" },
  { ROW ("qos", BOOLEAN, qos.enabled), .initial = TRUE,
      .blurb = "Drop pairs before they are computed when they come too late for downstream, or in live pipelines "
               "for the latency that is reported" },
  { ROW ("silence-timeout", UINT64, silence_timeout), .initial = (gdouble) (500 * GST_MSECOND),
      .max = (gdouble) (GST_SECOND * 3600),
      .blurb = "Nanoseconds without a frame after which a camera of a live pipeline counts as silent; 0 = never. A slow "
               "camera has twice the time between its frames, and at most ten times this" },
  { .name = NULL },
};

/* ---- the pads ------------------------------------------------------------------------------ */

GstStereoInputs
gst_stereo_aggregator_get_inputs (GstStereoAggregator *self)
{
  GstStereoInputs inputs = { { NULL } };

  GST_OBJECT_LOCK (self);
  for (GList *l = GST_ELEMENT (self)->sinkpads; l; l = l->next) {
    GstStereoPad *pad = GST_STEREO_PAD (l->data);
    inputs.packed |= pad->packed;
    for (guint v = 0; v < 2; v++)
      if (pad->packed || pad->right == (v == RIGHT))
        gst_object_replace ((GstObject **) &inputs.view[v], GST_OBJECT (pad));
  }
  GST_OBJECT_UNLOCK (self);
  return inputs;
}

void
gst_stereo_inputs_clear (GstStereoInputs *inputs)
{
  gst_clear_object (&inputs->view[LEFT]);
  gst_clear_object (&inputs->view[RIGHT]);
}

/* Waits for a moment, or until a frame comes, of @pad where that is not NULL. GstAggregator would
 * call aggregate() again and again: there is one view's pad alone; or another stream began on a pad after its end, and GstAggregator
 * takes it for ended. */
static GstFlowReturn
wait_for_change (GstStereoAggregator *self, GstStereoPad *pad)
{
  g_mutex_lock (&self->priv->lock);
  if (!pad || !gst_stereo_pad_has_buffer (pad))
    g_cond_wait_until (&self->priv->changed, &self->priv->lock, g_get_monotonic_time () + G_TIME_SPAN_SECOND / 10);
  g_mutex_unlock (&self->priv->lock);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* FALSE after an error was posted: both kinds of pads are in use, or one view was not linked for long. */
static gboolean
check_inputs (GstStereoAggregator *self, const GstStereoInputs *inputs)
{
  gboolean left = inputs->view[LEFT] && gst_pad_is_linked (GST_PAD (inputs->view[LEFT])),
           right = inputs->view[RIGHT] && gst_pad_is_linked (GST_PAD (inputs->view[RIGHT]));
  gint64 now = g_get_monotonic_time (), *alone = &self->priv->alone;

  if (inputs->packed && GST_ELEMENT (self)->numsinkpads > 1) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("sink takes both views in one frame, sink_left and sink_right take one each: link sink "
         "alone, or the other two."),
        (NULL));
    return FALSE;
  }
  *alone = left == right ? 0 : *alone ? *alone : now;
  if (left == right || now - *alone < MISSING_TIME)
    return TRUE;
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("Only %s is linked: link the other view to %s, or give both views in one frame on sink.",
          left ? "sink_left" : "sink_right", left ? "sink_right" : "sink_left"),
      (NULL));
  return FALSE;
}

/* ---- aggregate ---------------------------------------------------------------------------- */

static GstFlowReturn
find_pair (GstStereoAggregator *self, GstStereoInputs *inputs, GstStereoFrame *view[2])
{
  if (!check_inputs (self, inputs))
    return GST_FLOW_NOT_NEGOTIATED;
  if (!inputs->view[LEFT] || !inputs->view[RIGHT]) {
    const GstStereoPad *only = inputs->view[inputs->view[LEFT] ? LEFT : RIGHT];
    return !only || only->ended ? GST_FLOW_EOS : wait_for_change (self, NULL);
  }
  gst_stereo_sources_watch (self, inputs);
  GstFlowReturn flow = gst_stereo_pairs_find (self, inputs, view);
  for (guint v = 0; v < 2 && flow == GST_AGGREGATOR_FLOW_NEED_DATA && !inputs->packed; v++)
    if (inputs->view[v]->resumed && !inputs->view[v]->ended)
      wait_for_change (self, inputs->view[v]);
  return flow;
}

static GstFlowReturn
gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoFrame *view[2] = { NULL };
  gboolean one_may_stay = FALSE;

  gst_element_foreach_sink_pad (GST_ELEMENT (self), gst_stereo_pad_obey_flush, NULL);
  g_auto (GstStereoInputs) inputs = gst_stereo_aggregator_get_inputs (self);
  self->priv->latency = gst_aggregator_get_latency (aggregator);
  inputs.live = GST_CLOCK_TIME_IS_VALID (self->priv->latency);
  GstFlowReturn flow = find_pair (self, &inputs, view);
  if (flow == GST_FLOW_OK && !gst_stereo_deep_convert (self, view))
    flow = GST_FLOW_ERROR;
  if (flow == GST_FLOW_OK) {
    flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process (self, view[LEFT], view[RIGHT]);
    /* a frame waits on every pad, before any event: GstAggregator calls this function again at once */
    one_may_stay = flow == GST_FLOW_OK && !inputs.live && gst_stereo_pad_has_buffer (inputs.view[LEFT]) &&
        gst_stereo_pad_has_buffer (inputs.view[RIGHT]);
  }
  if (view[RIGHT] != view[LEFT])
    gst_stereo_frame_free (view[RIGHT]);
  gst_stereo_frame_free (view[LEFT]);
  GstFlowReturn drained = GST_STEREO_AGGREGATOR_GET_CLASS (self)->drain (self, one_may_stay);
  return drained == GST_FLOW_OK ? flow : drained;
}

/* ---- for subclasses ----------------------------------------------------------------------- */

void
gst_stereo_aggregator_get_stats (GstStereoAggregator *self, GstStereoPairStats *stats)
{
  const GstStereoPairs *pairs = &self->priv->pairs;
  const GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  *stats = (GstStereoPairStats){ .pairs = qos->pairs,
    .late = qos->late,
    .compute_last = qos->compute_last,
    .compute_total = qos->compute_total,
    .compute_recent = qos->compute_recent,
    .dropped_left = pairs->dropped[LEFT],
    .dropped_right = pairs->dropped[RIGHT],
    .pairing_clock = pairs->clock,
    .sources = self->priv->sources };
  GST_OBJECT_UNLOCK (self);
}

static gboolean
reconfigure (GstElement *element, GstPad *pad, gpointer data)
{
  gst_pad_push_event (pad, gst_event_new_reconfigure ());
  return TRUE;
}

void
gst_stereo_aggregator_reconfigure (GstStereoAggregator *self)
{
  gst_element_foreach_sink_pad (GST_ELEMENT (self), reconfigure, NULL);
}

void
gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *right, gboolean same_place)
{
  gboolean alone = left->layout.packing == GST_STEREO_PACKING_AUTO ||
      left->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME;
  /* the frame that gives the timestamps: the other one where the left view of a bundle has none */
  GstBuffer *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) || left->layout.packing == GST_STEREO_PACKING_AUTO ?
      left->buffer :
      right->buffer;

  gst_buffer_copy_into (out, timed, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_DTS (out) = GST_CLOCK_TIME_NONE;
  if (self->priv->pairs.broken || GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  self->priv->pairs.broken = FALSE;
  if (GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_CORRUPTED) ||
      GST_BUFFER_FLAG_IS_SET (right->buffer, GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_CORRUPTED);
  gst_stereo_copy_metas (out, left->buffer, same_place && alone, FALSE);
}

/* ---- events from upstream ----------------------------------------------------------------- */

static gboolean
read_caps (GstStereoAggregator *self, GstStereoPad *pad, GstEvent *event)
{
  const GstVideoInfo *info = &pad->info;
  GstClockTime frame = 0;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_DEBUG_OBJECT (pad, "caps %" GST_PTR_FORMAT, caps);
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  if (!pad->have_info || pad->right)
    return pad->have_info;
  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    frame = gst_util_uint64_scale (
        GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
  /* a pair waits for its later frame for half a frame's time at most, or for max-skew */
  GST_OBJECT_LOCK (self);
  GstClockTime wait = pad->packed ? 0 : MIN (self->priv->pairs.max_skew, frame / 2);
  GST_OBJECT_UNLOCK (self);
  gst_stereo_qos_set_frame (self, frame, wait);
  return TRUE;
}

/* Sensors that are mounted upside down give pictures with a tag that says how to turn them. */
static void
read_tag (GstStereoAggregator *self, GstStereoPad *pad, GstEvent *event)
{
  g_autofree gchar *orientation = NULL;
  GstTagList *tags;

  gst_event_parse_tag (event, &tags);
  if (pad->turned || !gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &orientation) ||
      g_str_equal (orientation, "rotate-0"))
    return;
  pad->turned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("%s gets pictures that are to be turned (image-orientation=%s): put videoflip video-direction=auto before %s.",
          GST_PAD_NAME (pad), orientation, pad->packed ? "it" : "both pads"),
      (NULL));
}

/* In the order of the stream, but for flushes. */
static gboolean
gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *base, GstEvent *event)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean usable = TRUE, forwarded = TRUE;

  if (GST_EVENT_IS_SERIALIZED (event) && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    gst_stereo_pad_obey_flush (GST_ELEMENT (self), GST_PAD (pad), NULL);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      /* frames from before on this pad, or on one that was released, may not have been used */
      self->priv->pairs.broken = TRUE;
      pad->resumed |= pad->ended;
      pad->ended = FALSE;
      /* the other view's was closed since this event arrived, if the task dropped a frame meanwhile */
      g_atomic_int_set (&self->priv->closed, 0);
      break;
    case GST_EVENT_CAPS:
      usable = read_caps (self, pad, event);
      forwarded = FALSE;
      break;
    case GST_EVENT_SEGMENT:
      /* once upstream is known to be live, a pad takes two buffers: who waits with the second one is woken after this event */
      self->priv->latency = gst_aggregator_get_latency (aggregator);
      break;
    case GST_EVENT_TAG:
      read_tag (self, pad, event);
      break;
    case GST_EVENT_EOS:
      pad->ended = TRUE;
      break;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
      break;
    default:
      /* the base class forwards what it does not know: the events of one pad are enough */
      forwarded = !pad->right;
  }
  if (forwarded)
    return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_event (aggregator, base, event);
  gst_event_unref (event);
  return usable;
}

/* As soon as it arrives. */
static GstFlowReturn
gst_stereo_aggregator_sink_event_pre_queue (GstAggregator *aggregator, GstAggregatorPad *base, GstEvent *event)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (aggregator));
  GstEventType type = GST_EVENT_TYPE (event);

  GST_OBJECT_LOCK (pad);
  if (type == GST_EVENT_GAP && GST_CLOCK_TIME_IS_VALID (now))
    pad->source.heard = now;
  if (type == GST_EVENT_EOS || type == GST_EVENT_GAP)
    pad->source.over = type == GST_EVENT_EOS;
  GST_OBJECT_UNLOCK (pad);
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_FLUSH_STOP)
    g_atomic_int_set (&GST_STEREO_AGGREGATOR (aggregator)->priv->closed, 0);
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_event_pre_queue (aggregator, base, event);
}

/* ---- queries ------------------------------------------------------------------------------- */

/* What only the source of the stream knows is asked of the pad whose stream the output follows. */
static gboolean
gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query)
{
  g_auto (GstStereoInputs) inputs = gst_stereo_aggregator_get_inputs (GST_STEREO_AGGREGATOR (aggregator));
  GstQueryType type = GST_QUERY_TYPE (query);

  if (inputs.view[LEFT] &&
      (type == GST_QUERY_POSITION || type == GST_QUERY_DURATION || type == GST_QUERY_SEEKING || type == GST_QUERY_URI))
    return gst_pad_peer_query (GST_PAD (inputs.view[LEFT]), query);
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->src_query (aggregator, query);
}

/* ---- start, stop, flush ------------------------------------------------------------------- */

/* Forgets what must not outlive a flush. */
static void
reset_stream (GstStereoAggregator *self, gboolean start)
{
  gst_stereo_qos_reset (self, start);
  gst_stereo_pairs_reset (self, start);
  self->priv->have_segment = FALSE;
  self->priv->judged = FALSE;
  self->priv->delay = NONE;
}

static GstFlowReturn
gst_stereo_aggregator_flush (GstAggregator *aggregator)
{
  reset_stream (GST_STEREO_AGGREGATOR (aggregator), FALSE);
  return GST_FLOW_OK;
}

/* FALSE after an error was posted. */
static gboolean
gst_stereo_aggregator_start (GstAggregator *aggregator)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoAggregatorPrivate *priv = self->priv;

  priv->deep.lowest = G_MAXUINT16;
  priv->deep.highest = 0;
  reset_stream (self, TRUE);
  priv->alone = 0;
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->since = priv->watched = 0;
  g_atomic_int_set (&priv->closed, 0);
  GST_OBJECT_LOCK (self);
  priv->sources = GST_STEREO_HEALTH_OK;
  GST_OBJECT_UNLOCK (self);
  g_auto (GstStereoInputs) inputs = gst_stereo_aggregator_get_inputs (self);
  return check_inputs (self, &inputs);
}

static gboolean
gst_stereo_aggregator_stop (GstAggregator *aggregator)
{
  gst_element_foreach_sink_pad (GST_ELEMENT (aggregator), gst_stereo_pad_forget_run, NULL);
  return TRUE;
}

/* ---- pads --------------------------------------------------------------------------------- */

static void
gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad)
{
  /* GstAggregator drops a buffer without its lock, while the task may be taking the same buffer: from here on it finds none */
  g_mutex_lock (&GST_STEREO_PAD (pad)->lock);
  GST_STEREO_PAD (pad)->released = TRUE;
  g_mutex_unlock (&GST_STEREO_PAD (pad)->lock);
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
gst_stereo_aggregator_finalize (GObject *object)
{
  GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (object)->priv;

  g_free (priv->pairs.why);
  g_mutex_clear (&priv->lock);
  g_cond_clear (&priv->changed);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->finalize (object);
}

/* Of a subclass that has nothing in flight. */
static GstFlowReturn
gst_stereo_aggregator_drain (GstStereoAggregator *self, gboolean one_may_stay)
{
  return GST_FLOW_OK;
}

static void
gst_stereo_aggregator_class_init (GstStereoAggregatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_aggregator_debug, "stereoaggregator", 0, "pairing of two views");

  object_class->finalize = gst_stereo_aggregator_finalize;
  gst_stereo_properties_install (object_class, properties, g_type_class_get_instance_private_offset (klass), FALSE);
  element_class->release_pad = gst_stereo_aggregator_release_pad;
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_AGGREGATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PAD, 0);

  klass->drain = gst_stereo_aggregator_drain;
  aggregator_class->sink_event = gst_stereo_aggregator_sink_event;
  aggregator_class->sink_event_pre_queue = gst_stereo_aggregator_sink_event_pre_queue;
  aggregator_class->src_event = gst_stereo_qos_src_event;
  aggregator_class->src_query = gst_stereo_aggregator_src_query;
  aggregator_class->sink_query = gst_stereo_sink_query;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
  aggregator_class->create_new_pad = gst_stereo_pad_create;
  aggregator_class->get_next_time = gst_stereo_sources_next;
  aggregator_class->clip = gst_stereo_clip;
  aggregator_class->start = gst_stereo_aggregator_start;
  aggregator_class->stop = gst_stereo_aggregator_stop;
  aggregator_class->flush = gst_stereo_aggregator_flush;
  aggregator_class->aggregate = gst_stereo_aggregator_aggregate;
}

static void
gst_stereo_aggregator_init (GstStereoAggregator *self)
{
  self->priv = gst_stereo_aggregator_get_instance_private (self);
  g_mutex_init (&self->priv->lock);
  g_cond_init (&self->priv->changed);
  self->priv->qos.earliest_time = GST_CLOCK_TIME_NONE;
  self->priv->pairs.clock = "none";
  gst_stereo_properties_init (G_OBJECT (self));
}
