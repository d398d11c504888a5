/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/aggregator.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/deep.h"
#include "gst/pairing/pairs.h"
#include "gst/pairing/qos.h"
#include "gst/pairing/refusal.h"
#include "gst/video/stream.h"

GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug);

#define LEFT GST_STEREO_HEALTH_SILENT_LEFT
#define RIGHT GST_STEREO_HEALTH_SILENT_RIGHT
#define BEHIND GST_STEREO_HEALTH_BEHIND
/* Pads may come late (decodebin): a missing view becomes an error only after this time. */
#define MISSING_TIME (2 * G_USEC_PER_SEC)
/* Largest difference of the delays of both views, and after how many frames of each it counts. */
#define MOST_APART ((gint64) (500 * GST_MSECOND))
#define TIMED_FRAMES 10

struct _GstStereoAggregatorPrivate
{
  GstStereoPairs *pairs;
  GstStereoDeep *deep;
  GstStereoQos *qos;

  /* protected by the object lock */
  guint64 silence_timeout;
  GstStereoHealthFlags sources; /* what is wrong with them */

  GMutex lock; /* of the next two */
  GCond changed;
  gboolean leaving; /* the task must not wait here: a flush, or the end */
  gint playing;     /* atomic */

  /* of the source pad's task */
  gboolean negotiated; /* the source pad has caps */
  GstSegment segment;  /* of the source pad */
  gboolean have_segment;
  gint64 alone;          /* monotonic µs since which one view has no linked partner; 0 = both have */
  gboolean failed;       /* an error was posted that no frame can mend */
  GstClockTime latency;  /* of the element and upstream; GST_CLOCK_TIME_NONE = not live */
  GstClockTime since;    /* by the element's clock: silence before does not count */
  GstClockTime deadline; /* when the next silence may begin, by the same clock */
  gboolean judged;       /* the delays of both views were compared */
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstStereoAggregator, gst_stereo_aggregator, GST_TYPE_AGGREGATOR)

static const GstStereoProperty properties[] = {
  { .name = "silence-timeout",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoAggregatorPrivate, silence_timeout),
      .initial = (gdouble) (500 * GST_MSECOND),
      .max = (gdouble) (GST_SECOND * 3600),
      .blurb = "Nanoseconds without a frame after which a camera of a live pipeline counts as silent; 0 = never" },
  { .name = NULL },
};

/* ---- the pads ------------------------------------------------------------------------------ */

static GstStereoInputs
get_inputs (GstStereoAggregator *self)
{
  GstStereoInputs inputs = { NULL };

  GST_OBJECT_LOCK (self);
  for (GList *l = GST_ELEMENT (self)->sinkpads; l; l = l->next) {
    GstStereoPad *pad = GST_STEREO_PAD (l->data);
    GstStereoPad **place = pad->packed ? &inputs.packed : pad->right ? &inputs.right : &inputs.left;
    *place = gst_object_ref (pad);
  }
  GST_OBJECT_UNLOCK (self);
  return inputs;
}

static void
inputs_clear (GstStereoInputs *inputs)
{
  gst_clear_object (&inputs->packed);
  gst_clear_object (&inputs->left);
  gst_clear_object (&inputs->right);
}

/* Calls @function for each pad. */
static void
for_each_pad (GstStereoAggregator *self, void (*function) (GstStereoPad *pad))
{
  GstStereoInputs inputs = get_inputs (self);
  GstStereoPad *all[] = { inputs.packed, inputs.left, inputs.right };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      function (all[i]);
  inputs_clear (&inputs);
}

/* The task waits for a pad, or for the end of the wait. */
static void
wake (GstStereoAggregator *self, gboolean leaving)
{
  g_mutex_lock (&self->priv->lock);
  self->priv->leaving = leaving;
  g_cond_broadcast (&self->priv->changed);
  g_mutex_unlock (&self->priv->lock);
}

static gboolean
is_linked (GstStereoPad *pad)
{
  return pad && gst_pad_is_linked (GST_PAD (pad));
}

/* FALSE after an error was posted, now or before: both kinds of pads are in use, or one view was never linked. */
static gboolean
check_inputs (GstStereoAggregator *self, const GstStereoInputs *inputs)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  gboolean left = is_linked (inputs->left), right = is_linked (inputs->right);

  if (!priv->failed && inputs->packed && (inputs->left || inputs->right)) {
    priv->failed = TRUE;
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("sink takes both views in one frame, sink_left and sink_right take one each: link sink "
         "alone, or the other two."),
        (NULL));
  }
  if (left == right || inputs->packed)
    priv->alone = 0;
  else if (!priv->alone)
    priv->alone = g_get_monotonic_time ();
  if (!priv->failed && priv->alone && g_get_monotonic_time () - priv->alone >= MISSING_TIME) {
    priv->failed = TRUE;
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Only %s is linked: link the other view to %s, or give both views in one frame on sink.",
            left ? "sink_left" : "sink_right", left ? "sink_right" : "sink_left"),
        (NULL));
  }
  return !priv->failed;
}

/* There is one view's pad alone: GstAggregator would call aggregate() for its frame again and again. */
static GstFlowReturn
wait_for_pad (GstStereoAggregator *self)
{
  GstStereoAggregatorPrivate *priv = self->priv;

  g_mutex_lock (&priv->lock);
  if (!priv->leaving)
    g_cond_wait_until (
        &priv->changed, &priv->lock, (priv->alone ? priv->alone : g_get_monotonic_time ()) + MISSING_TIME);
  g_mutex_unlock (&priv->lock);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* ---- what the sources do ------------------------------------------------------------------- */

static const gchar *const pad_names[] = { "sink", "sink_left", "sink_right", "sink_left and sink_right" };

static const gchar *
name_of (const GstStereoInputs *inputs, GstStereoHealthFlags views)
{
  return pad_names[inputs->packed ? 0 : !!(views & LEFT) + 2 * !!(views & RIGHT)];
}

static guint64
silence_timeout (GstStereoAggregator *self)
{
  GST_OBJECT_LOCK (self);
  guint64 timeout = self->priv->silence_timeout;
  GST_OBJECT_UNLOCK (self);
  return timeout;
}

/* Which views are silent, and in priv->deadline when the next one may be. */
static GstStereoHealthFlags
find_silent (GstStereoAggregator *self, GstStereoPad *const pads[2], GstClockTime now, GstClockTime *longest)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  const guint64 timeout = silence_timeout (self);
  GstStereoSource source[2];
  GstStereoHealthFlags silent = 0;

  priv->deadline = now + (timeout ? timeout : GST_SECOND);
  for (guint v = 0; v < 2; v++)
    source[v] = gst_stereo_pad_get_source (pads[v]);
  for (guint v = 0; v < 2; v++) {
    GstClockTime idle = gst_stereo_source_idle (&source[v], &source[!v], priv->since, now);
    gboolean over = source[v].over && !pads[v]->shown && !gst_stereo_pad_has_buffer (pads[v]);
    if (!source[v].over && gst_stereo_pad_has_buffer (pads[v]))
      idle = 0;
    *longest = MAX (*longest, idle);
    if ((timeout && idle >= timeout && !source[v].over) ||
        (over && pads[!v]->began && !source[!v].over && pads[0] != pads[1]))
      silent |= v ? RIGHT : LEFT;
    else if (timeout && idle && now + timeout - idle < priv->deadline)
      priv->deadline = now + timeout - idle;
  }
  return silent;
}

static void
tell (GstStereoAggregator *self, GstStereoHealthFlags sources, gboolean bad, gchar *text)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  GST_OBJECT_LOCK (self);
  self->priv->sources = sources;
  GST_OBJECT_UNLOCK (self);
  if (klass->silence)
    klass->silence (self, sources, text);
  if (bad)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", text), (NULL));
  else
    GST_ELEMENT_INFO (self, STREAM, FAILED, ("%s", text), (NULL));
  g_free (text);
}

static gchar *
describe_silence (const GstStereoInputs *inputs, GstStereoHealthFlags silent, GstClockTime time)
{
  const GstStereoPad *pad = inputs->packed ? inputs->packed : silent & LEFT ? inputs->left : inputs->right;
  const gchar *verb = silent == (LEFT | RIGHT) && !inputs->packed ? "have" : "has", *name = name_of (inputs, silent);

  if (pad->ended)
    return g_strdup_printf (
        "%s has ended, and the other view goes on: there is no depth until it is back. Check that camera, "
        "its cable and the source of that branch.",
        name);
  return g_strdup_printf ("%s %s been silent for %.1f s%s, and the stream did not end. Nothing comes out%s. Check %s.",
      name, verb, (gdouble) time / GST_SECOND, pad->began ? "" : ", and had no frame before",
      silent == (LEFT | RIGHT) ? "" : ", and the frames of the other view are dropped until it is back",
      silent == (LEFT | RIGHT) ?
          "the camera, its cable and the source; of two cameras what they have in common: supply, "
          "hub, and the thread that feeds both pads" :
          "that camera, its cable and the source of that branch; where one thread feeds both pads, put a "
          "queue before each");
}

/* Two cameras that count their time from moments of their own. */
static void
compare_delays (GstStereoAggregator *self, const GstStereoInputs *inputs)
{
  GstStereoPad *pads[2] = { inputs->left, inputs->right };
  GstStereoSource sources[2] = { gst_stereo_pad_get_source (pads[0]), gst_stereo_pad_get_source (pads[1]) };
  gint64 delay[2];

  if (self->priv->judged || sources[0].timed < TIMED_FRAMES || sources[1].timed < TIMED_FRAMES)
    return;
  for (guint v = 0; v < 2; v++) {
    g_autoptr (GstQuery) query = gst_query_new_latency ();
    GstClockTime least = 0;
    gboolean live = FALSE;
    /* what upstream reports as its latency is no delay */
    if (gst_pad_peer_query (GST_PAD (pads[v]), query))
      gst_query_parse_latency (query, &live, &least, NULL);
    delay[v] = sources[v].least - (gint64) least;
    /* no camera's frame comes before its time, and a branch that is not live has no delay */
    if (!live || delay[v] < -MOST_APART)
      return;
  }
  self->priv->judged = TRUE;
  guint late = delay[1] > delay[0];
  if (delay[late] - delay[!late] > MOST_APART)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The frames of %s come %.1f s after their timestamps, those of %s %.1f s: that camera counts its time from a moment of "
         "its own, so that a pair shows two moments %.1f s apart. Let its source stamp frames by the pipeline's clock "
         "(do-timestamp=true), or shift the view: the offset of its pad, in nanoseconds.",
            GST_PAD_NAME (pads[late]), delay[late] / 1e9, GST_PAD_NAME (pads[!late]), delay[!late] / 1e9,
            (delay[late] - delay[!late]) / 1e9),
        (NULL));
}

static void
watch_delay (GstStereoAggregator *self, const GstStereoInputs *inputs, GstStereoPad *const pads[2])
{
  GstStereoHealthFlags before = self->priv->sources, now = before & ~BEHIND;
  GstStereoSource late = { 0 };
  GstStereoPad *pad = NULL;

  for (guint v = 0; v < 2; v++) {
    GstStereoSource source = gst_stereo_pad_get_source (pads[v]);
    if (source.behind)
      late = source, pad = pads[v], now |= BEHIND;
  }
  if (now == before)
    return;
  if (pad)
    tell (self, now, TRUE,
        g_strdup_printf (
            "The frames of %s come later and later: %.1f s after their timestamps by now, and %.2f s more each second. "
            "Its source falls behind, or what stands before this element. Make less of it (smaller pictures, "
            "fewer a second), or drop frames there (queue leaky=downstream). The depth is right, and old.",
            GST_PAD_NAME (pad), late.before / 1e9, late.growth / 1e9));
  else
    tell (self, now, FALSE, g_strdup ("Frames no longer come later and later."));
}

/* In a live pipeline: tells of sources that are silent or fall behind, and of those that no longer are. */
static void
watch_sources (GstStereoAggregator *self, GstStereoInputs *inputs)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstStereoPad *pads[2] = { inputs->packed ? inputs->packed : inputs->left,
    inputs->packed ? inputs->packed : inputs->right };
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (self)), longest = 0;

  if (!inputs->live || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  /* neither PAUSED nor a stopped process counts as silence */
  if (!g_atomic_int_get (&priv->playing) || (priv->deadline && now > priv->deadline + 2 * silence_timeout (self)))
    priv->since = now;
  GstStereoHealthFlags before = priv->sources & (LEFT | RIGHT);
  GstStereoHealthFlags silent = find_silent (self, pads, now, &longest);
  if (silent & ~before) {
    tell (self, (priv->sources & BEHIND) | silent, TRUE, describe_silence (inputs, silent, longest));
  } else if (before & ~silent) {
    gst_stereo_pairs_forgive (priv->pairs);
    /* the camera may count its time anew */
    for (guint v = 0; v < 2; v++) {
      GST_OBJECT_LOCK (pads[v]);
      gst_stereo_source_flush (&pads[v]->source);
      GST_OBJECT_UNLOCK (pads[v]);
    }
    priv->judged = FALSE;
    tell (self, (priv->sources & BEHIND) | silent, FALSE,
        g_strdup_printf ("%s is back.", name_of (inputs, before & ~silent)));
  }
  inputs->silent[0] = (silent & LEFT) != 0;
  inputs->silent[1] = (silent & RIGHT) != 0;
  watch_delay (self, inputs, pads);
  if (!inputs->packed)
    compare_delays (self, inputs);
}

/* GstAggregator waits for all pads until so long after this running time. While a view is silent, the frames of the other one
 * are let go at once. With GstAggregator's lock held. */
static GstClockTime
gst_stereo_aggregator_get_next_time (GstAggregator *aggregator)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoAggregatorPrivate *priv = self->priv;
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (self)), at = priv->deadline;
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT (self)) +
      (GST_CLOCK_TIME_IS_VALID (priv->latency) ? priv->latency : 0);

  if (!GST_CLOCK_TIME_IS_VALID (now))
    return GST_CLOCK_TIME_NONE;
  if (priv->sources & (LEFT | RIGHT)) {
    GstStereoInputs inputs = get_inputs (self);
    if ((inputs.left && gst_stereo_pad_has_buffer (inputs.left)) ||
        (inputs.right && gst_stereo_pad_has_buffer (inputs.right)))
      at = now;
    inputs_clear (&inputs);
  }
  if (!at)
    at = priv->deadline = now + silence_timeout (self);
  return at > base ? at - base : 0;
}

/* ---- aggregate ---------------------------------------------------------------------------- */

static GstFlowReturn
drain (GstStereoAggregator *self, gboolean one_may_stay)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  return klass->drain ? klass->drain (self, one_may_stay) : GST_FLOW_OK;
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

/* The subclass gets two views of 8 bits a sample. */
static GstFlowReturn
process (GstStereoAggregator *self, const GstStereoPair *pair)
{
  GstStereoFrame *view[2] = { pair->left, pair->right };

  if (!gst_stereo_deep_convert (self->priv->deep, view))
    return GST_FLOW_ERROR;
  GstFlowReturn flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process (self, view[0], view[1]);
  gst_stereo_frame_unref (view[0]);
  gst_stereo_frame_unref (view[1]);
  return flow;
}

static GstFlowReturn
find_pair (GstStereoAggregator *self, GstStereoInputs *inputs, GstStereoPair *pair)
{
  if (!check_inputs (self, inputs))
    return GST_FLOW_NOT_NEGOTIATED;
  if (!inputs->packed && !(inputs->left && inputs->right)) {
    GstStereoPad *only = inputs->left ? inputs->left : inputs->right;
    return !only || (only->ended && !only->shown) ? GST_FLOW_EOS : wait_for_pad (self);
  }
  watch_sources (self, inputs);
  return gst_stereo_pairs_find (self->priv->pairs, inputs, pair);
}

/* A frame waits on every pad, before any event: GstAggregator calls aggregate() again at once. */
static gboolean
have_buffers (const GstStereoInputs *inputs)
{
  return (!inputs->packed || gst_stereo_pad_has_buffer (inputs->packed)) &&
      (!inputs->left || gst_stereo_pad_has_buffer (inputs->left)) &&
      (!inputs->right || gst_stereo_pad_has_buffer (inputs->right));
}

static GstFlowReturn
gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPair pair = { NULL };
  GstFlowReturn flow, forwarded = GST_FLOW_OK, drained;
  GstStereoFrame *frame;

  for_each_pad (self, gst_stereo_pad_obey_flush);
  GstStereoInputs inputs = get_inputs (self);
  self->priv->latency = gst_aggregator_get_latency (aggregator);
  inputs.live = GST_CLOCK_TIME_IS_VALID (self->priv->latency);
  flow = find_pair (self, &inputs, &pair);
  while (forwarded == GST_FLOW_OK && (frame = g_queue_pop_head (&pair.missing))) {
    forwarded = forward_gap (self, frame);
    gst_stereo_frame_unref (frame);
  }
  if (forwarded != GST_FLOW_OK)
    flow = forwarded;
  if (flow == GST_FLOW_OK)
    flow = process (self, &pair);
  gst_stereo_pair_clear (&pair);
  drained = drain (self, flow == GST_FLOW_OK && !inputs.live && have_buffers (&inputs));
  if (flow == GST_AGGREGATOR_FLOW_NEED_DATA && inputs.left && inputs.right) {
    gst_stereo_pad_wait_if_resumed (inputs.left);
    gst_stereo_pad_wait_if_resumed (inputs.right);
  }
  inputs_clear (&inputs);
  return drained == GST_FLOW_OK ? flow : drained;
}

/* ---- for subclasses ----------------------------------------------------------------------- */

void
gst_stereo_aggregator_get_stats (GstStereoAggregator *self, GstStereoPairStats *stats)
{
  GstStereoQosStats pairs;
  guint64 dropped[2];

  gst_stereo_qos_get_stats (self->priv->qos, &pairs);
  *stats = (GstStereoPairStats){ .pairs = pairs.pairs,
    .late = pairs.late,
    .compute_last = pairs.compute_last,
    .compute_total = pairs.compute_total,
    .compute_recent = pairs.compute_recent };
  gst_stereo_pairs_get_stats (self->priv->pairs, dropped, &stats->pairing_clock);
  stats->dropped_left = dropped[0];
  stats->dropped_right = dropped[1];
  GST_OBJECT_LOCK (self);
  stats->sources = self->priv->sources;
  GST_OBJECT_UNLOCK (self);
}

static void
reconfigure (GstStereoPad *pad)
{
  gst_pad_push_event (GST_PAD (pad), gst_event_new_reconfigure ());
}

void
gst_stereo_aggregator_reconfigure (GstStereoAggregator *self)
{
  for_each_pad (self, reconfigure);
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
      !gst_stereo_qos_drop_if_late (self->priv->qos, left->time == GST_STEREO_TIME_NONE ? right : left))
    return FALSE;
  gst_stereo_pairs_break_stream (self->priv->pairs);
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
  gboolean discont = gst_stereo_pairs_mend_stream (self->priv->pairs);
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

  gst_stereo_qos_computed (priv->qos, compute_time);
  GST_LOG_OBJECT (self, "computed in %" GST_TIME_FORMAT ", pushes %" GST_PTR_FORMAT, GST_TIME_ARGS (compute_time), out);
  gint64 begin = g_get_monotonic_time ();
  GstFlowReturn flow = gst_stereo_push (GST_AGGREGATOR (self), &priv->segment, &priv->have_segment, segment, out);
  gst_stereo_qos_pushed (priv->qos, (g_get_monotonic_time () - begin) * 1000);
  return flow;
}

/* ---- events from upstream ----------------------------------------------------------------- */

/* A pair waits for its later frame for half a frame's time at most, or for max-skew. */
static void
update_latency (GstStereoAggregator *self, const GstStereoPad *pad)
{
  guint64 max_skew = gst_stereo_pairs_get_max_skew (self->priv->pairs), skew;
  const GstVideoInfo *info = &pad->info;
  GstClockTime frame = 0;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    frame = gst_util_uint64_scale (
        GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
  skew = max_skew == GST_STEREO_MAX_SKEW_AUTO ? frame / 2 : MIN (max_skew, frame);
  gst_stereo_qos_set_frame (self->priv->qos, frame, pad->packed ? 0 : skew);
}

/* FALSE after an error was posted. */
static gboolean
read_caps (GstStereoAggregator *self, GstStereoPad *pad, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_DEBUG_OBJECT (pad, "caps %" GST_PTR_FORMAT, caps);
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  if (!pad->have_info)
    GST_ELEMENT_ERROR (
        self, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
  else if (!pad->right)
    update_latency (self, pad);
  return pad->have_info;
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

/* Whether the base class gets the event. It forwards events that it does not know: those of one pad are enough. */
static gboolean
is_forwarded (const GstStereoPad *pad, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
    case GST_EVENT_TAG:
    case GST_EVENT_EOS:
      return TRUE;
    case GST_EVENT_CAPS:
      return FALSE;
    default:
      return !pad->right;
  }
}

/* In the order of the stream, but for flushes. */
static gboolean
gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *base, GstEvent *event)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean usable = TRUE;

  if (GST_EVENT_IS_SERIALIZED (event) && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    gst_stereo_pad_obey_flush (pad);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      wake (self, GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START);
      break;
    case GST_EVENT_STREAM_START:
      /* frames from before on this pad, or on one that was released, may not have been used */
      gst_stereo_pairs_break_stream (self->priv->pairs);
      pad->resumed |= pad->ended;
      pad->ended = FALSE;
      break;
    case GST_EVENT_CAPS:
      usable = read_caps (self, pad, event);
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
    default:
      break;
  }
  if (is_forwarded (pad, event))
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
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->sink_event_pre_queue (aggregator, base, event);
}

/* ---- events from downstream, queries ------------------------------------------------------- */

static gboolean
gst_stereo_aggregator_src_event (GstAggregator *aggregator, GstEvent *event)
{
  gst_stereo_qos_read_event (GST_STEREO_AGGREGATOR (aggregator)->priv->qos, event);
  return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->src_event (aggregator, event);
}

/* What only the source of the stream knows is asked of the pad whose stream the output follows. */
static gboolean
gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query)
{
  GstQueryType type = GST_QUERY_TYPE (query);
  gboolean answered;

  if (type != GST_QUERY_POSITION && type != GST_QUERY_DURATION && type != GST_QUERY_SEEKING && type != GST_QUERY_URI)
    return GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->src_query (aggregator, query);
  GstStereoInputs inputs = get_inputs (GST_STEREO_AGGREGATOR (aggregator));
  GstStereoPad *pad = inputs.packed ? inputs.packed : inputs.left;
  answered = pad ? gst_pad_peer_query (GST_PAD (pad), query) :
                   GST_AGGREGATOR_CLASS (gst_stereo_aggregator_parent_class)->src_query (aggregator, query);
  inputs_clear (&inputs);
  return answered;
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
reset_stream (GstStereoAggregatorPrivate *priv, gboolean start)
{
  gst_stereo_qos_reset (priv->qos, start);
  gst_stereo_pairs_reset (priv->pairs, start);
  priv->have_segment = FALSE;
  priv->judged = FALSE;
}

static GstFlowReturn
gst_stereo_aggregator_flush (GstAggregator *aggregator)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  reset_stream (self->priv, FALSE);
  return GST_FLOW_OK;
}

/* Between two runs. */
static void
forget_run (GstStereoPad *pad)
{
  gst_stereo_pad_clear (pad);
  g_atomic_int_set (&pad->flushed, FALSE);
  g_atomic_int_set (&pad->closed, FALSE);
  pad->began = pad->turned = FALSE;
  pad->consumed = 0;
  GST_OBJECT_LOCK (pad);
  pad->source = (GstStereoSource){ 0 };
  pad->received = 0;
  GST_OBJECT_UNLOCK (pad);
}

/* FALSE after an error was posted. */
static gboolean
gst_stereo_aggregator_start (GstAggregator *aggregator)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoAggregatorPrivate *priv = self->priv;

  gst_stereo_deep_start (priv->deep);
  reset_stream (priv, TRUE);
  wake (self, FALSE);
  priv->failed = FALSE;
  priv->alone = 0;
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->since = priv->deadline = 0;
  GST_OBJECT_LOCK (self);
  priv->sources = GST_STEREO_HEALTH_OK;
  GST_OBJECT_UNLOCK (self);
  GstStereoInputs inputs = get_inputs (self);
  gboolean usable = check_inputs (self, &inputs);
  inputs_clear (&inputs);
  return usable;
}

static gboolean
gst_stereo_aggregator_stop (GstAggregator *aggregator)
{
  for_each_pad (GST_STEREO_AGGREGATOR (aggregator), forget_run);
  return TRUE;
}

static GstStateChangeReturn
gst_stereo_aggregator_change_state (GstElement *element, GstStateChange transition)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (element);

  g_atomic_int_set (&self->priv->playing, transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    wake (self, TRUE);
  return GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->change_state (element, transition);
}

/* ---- pads --------------------------------------------------------------------------------- */

static GstAggregatorPad *
gst_stereo_aggregator_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  g_autoptr (GstPad) there = gst_element_get_static_pad (
      GST_ELEMENT (aggregator), GST_PAD_TEMPLATE_NAME_TEMPLATE (template));

  if (there) {
    GST_WARNING_OBJECT (aggregator, "%s is there already", GST_PAD_NAME (there));
    return NULL;
  }
  GstStereoPad *pad = gst_stereo_pad_new (template);
  gst_stereo_refusal_watch (GST_PAD (pad));
  return GST_AGGREGATOR_PAD (pad);
}

static void
gst_stereo_aggregator_pad_added (GstElement *element, GstPad *pad)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (element);

  g_mutex_lock (&self->priv->lock);
  g_cond_broadcast (&self->priv->changed);
  g_mutex_unlock (&self->priv->lock);
}

static void
gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad)
{
  gst_stereo_pad_retire (GST_STEREO_PAD (pad));
  GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->release_pad (element, pad);
  gst_stereo_aggregator_pad_added (element, pad);
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

  gst_stereo_qos_free (priv->qos);
  gst_stereo_deep_free (priv->deep);
  gst_stereo_pairs_free (priv->pairs);
  g_mutex_clear (&priv->lock);
  g_cond_clear (&priv->changed);
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->finalize (object);
}

static void
gst_stereo_aggregator_class_init (GstStereoAggregatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  gssize offset = g_type_class_get_instance_private_offset (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_aggregator_debug, "stereoaggregator", 0, "pairing of two views");

  object_class->finalize = gst_stereo_aggregator_finalize;
  gst_stereo_properties_install_part (
      object_class, gst_stereo_pairs_properties, offset + G_STRUCT_OFFSET (GstStereoAggregatorPrivate, pairs));
  gst_stereo_properties_install_part (
      object_class, gst_stereo_deep_properties, offset + G_STRUCT_OFFSET (GstStereoAggregatorPrivate, deep));
  gst_stereo_properties_install_part (
      object_class, gst_stereo_qos_properties, offset + G_STRUCT_OFFSET (GstStereoAggregatorPrivate, qos));
  gst_stereo_properties_install (object_class, properties, offset);
  element_class->change_state = gst_stereo_aggregator_change_state;
  element_class->release_pad = gst_stereo_aggregator_release_pad;
  element_class->pad_added = gst_stereo_aggregator_pad_added;
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_AGGREGATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PAD, 0);

  aggregator_class->sink_event = gst_stereo_aggregator_sink_event;
  aggregator_class->sink_event_pre_queue = gst_stereo_aggregator_sink_event_pre_queue;
  aggregator_class->src_event = gst_stereo_aggregator_src_event;
  aggregator_class->src_query = gst_stereo_aggregator_src_query;
  aggregator_class->sink_query = gst_stereo_aggregator_sink_query;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
  aggregator_class->create_new_pad = gst_stereo_aggregator_create_new_pad;
  aggregator_class->get_next_time = gst_stereo_aggregator_get_next_time;
  aggregator_class->clip = gst_stereo_pad_clip;
  aggregator_class->start = gst_stereo_aggregator_start;
  aggregator_class->stop = gst_stereo_aggregator_stop;
  aggregator_class->flush = gst_stereo_aggregator_flush;
  aggregator_class->aggregate = gst_stereo_aggregator_aggregate;
}

static void
gst_stereo_aggregator_init (GstStereoAggregator *self)
{
  GstElement *element = GST_ELEMENT (self);

  self->priv = gst_stereo_aggregator_get_instance_private (self);
  g_mutex_init (&self->priv->lock);
  g_cond_init (&self->priv->changed);
  self->priv->pairs = gst_stereo_pairs_new (element);
  self->priv->deep = gst_stereo_deep_new (element);
  self->priv->qos = gst_stereo_qos_new (GST_AGGREGATOR (self));
  gst_stereo_properties_init (G_OBJECT (self));
}
