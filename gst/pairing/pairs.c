/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From frames to pairs: lets decide.h choose among the frames that the pads show, takes the chosen pair, drops frames without a
 * partner, and counts and reports those.
 *
 * Frames are paired by the capture timestamps that sources attach (GstReferenceTimestampMeta), where the next frames of both views
 * have one with equal reference caps, and else by running time.
 */
#include "gst/pairing/private.h"

/* After a pair, so much of two views that differ in size or format is dropped and counted: their caps may change apart. */
#define MISMATCHED_TIME ((gint64) (2 * GST_SECOND))
#define REPORT_INTERVAL G_USEC_PER_SEC
/* Frames that are farther apart are no pair of cameras that run freely. */
#define MOST_SKEW ((gint64) (500 * GST_MSECOND))
/* Capture timestamps that are farther apart are not of one clock. */
#define ONE_CLOCK (10 * (gint64) GST_SECOND)
/* Sums with running times do not overflow below that: 219 years. */
#define LAST_STAMP ((guint64) G_MAXINT64 / 4 * 3)
/* One view gives so many times the frames of the other. */
#define OTHER_RATE 1.4

enum
{
  CLOCK_AUTO,
  CLOCK_BUFFER
};

const GEnumValue gst_stereo_pairing_clocks[] = {
  { CLOCK_AUTO,
      "Capture timestamps where the frames of both views have them with the same reference caps, else buffer timestamps",
      "auto" },
  { CLOCK_BUFFER, "Buffer timestamps, in any case", "buffer" },
  { 0, NULL, NULL },
};

/* One search for a pair: its input, and its result. */
typedef struct
{
  GstStereoAggregator *self;
  GstStereoPairs *pairs;
  const GstStereoInputs *inputs;
  GstStereoFrame **view; /* the result */
  /* the properties, read once */
  GstStereoPacking packing;
  guint64 max_skew;
  gint choice;

  GstStereoStream stream[2]; /* times by the pairing clock */
  const gchar *reference;    /* name of the reference caps of that clock; NULL = buffer timestamps */
  gint64 limit;              /* of the distance of two frames in ns; NONE = any */
  GstFlowReturn flow;        /* of GAP events for frames without a partner; or an error was posted */
} Search;

static void
forget_report (GstStereoPairs *pairs)
{
  pairs->unreported[LEFT] = pairs->unreported[RIGHT] = 0;
  pairs->skew = 0;
  g_clear_pointer (&pairs->why, g_free);
}

void
gst_stereo_pairs_reset (GstStereoAggregator *self, gboolean start)
{
  GstStereoPairs *pairs = &self->priv->pairs;

  pairs->left_spacing = 0;
  pairs->paired = pairs->apart = FALSE;
  pairs->broken = TRUE;
  pairs->last = NONE;
  GST_OBJECT_LOCK (self);
  pairs->clock = "none";
  if (start)
    pairs->dropped[LEFT] = pairs->dropped[RIGHT] = 0;
  GST_OBJECT_UNLOCK (self);
  forget_report (pairs);
  pairs->reported = pairs->silent = 0;
  pairs->rates = pairs->said = FALSE;
}

/* ---- frames without a partner ------------------------------------------------------------- */

/* Posts the warning if there are new drops, at most once a second. @now: without this limit. */
static void
report (GstStereoAggregator *self, gboolean now)
{
  GstStereoPairs *pairs = &self->priv->pairs;
  gint64 time = g_get_monotonic_time ();

  /* frames that waited for a view that was silent: that was said */
  if (pairs->silent && time - pairs->silent < REPORT_INTERVAL)
    forget_report (pairs);
  guint left = pairs->unreported[LEFT], right = pairs->unreported[RIGHT];
  if (!(left || right) || (!now && time - pairs->reported < REPORT_INTERVAL))
    return;
  if (!(pairs->rates && pairs->said))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("%u left and %u right frames had no partner and were dropped.%s%s", left, right, pairs->why ? " " : "",
            pairs->why ? pairs->why : ""),
        (NULL));
  pairs->said = pairs->rates;
  pairs->reported = time;
  forget_report (pairs);
}

/* Takes @why. */
static void
explain (GstStereoPairs *pairs, gchar *why)
{
  g_free (pairs->why);
  pairs->why = why;
}

/* Takes @frame; NULL: a flush was faster. */
static void
drop (Search *search, GstStereoFrame *frame, gboolean right, const gchar *reason)
{
  if (!frame)
    return;
  GST_DEBUG_OBJECT (search->self, "dropped %s frame, %s: %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT,
      right ? "right" : "left", reason, GST_STIME_ARGS (frame->time), frame->buffer);
  GST_OBJECT_LOCK (search->self);
  search->pairs->dropped[right]++;
  GST_OBJECT_UNLOCK (search->self);
  search->pairs->unreported[right]++;
  search->pairs->broken = TRUE;
  if (!right && search->flow == GST_FLOW_OK)
    search->flow = gst_stereo_aggregator_forward_gap (search->self, frame);
  gst_stereo_frame_free (frame);
}

/* One of the two heads. */
static void
drop_head (Search *search, guint view)
{
  const GstStereoStream *streams = search->stream, *other = &streams[!view];
  const GstStereoPad *partner = search->inputs->view[!view];
  gboolean alone = !other->has && other->ended;
  gint64 skew = other->has ? streams[RIGHT].time - streams[LEFT].time : 0, interval[2];
  const gchar *reason = other->has ? "its next frame is nearer" : "the other view has none there";
  GstStereoPairs *pairs = search->pairs;

  /* within the limit, the other one fits a later frame better: no limit is to blame */
  if (search->limit != NONE && ABS (skew) > search->limit) {
    reason = "farther than max-skew from the other view's frame";
    if (!pairs->skew || ABS (skew) < pairs->skew)
      explain (pairs,
          g_strdup_printf ("The nearest two were %.3f ms apart%s, and max-skew is %.3f ms: %s.", ABS (skew) / 1e6,
              search->reference ? " by their capture timestamps" : "", search->limit / 1e6,
              ABS (skew) > MOST_SKEW ?
                  "one camera was away, or its timestamps count from another start. Let its source stamp frames by the "
                  "pipeline's clock (do-timestamp=true)" :
                  search->limit < pairs->left_spacing / 2 ? "raise max-skew, or start the cameras together" :
                                                            "start the cameras together"));
    pairs->skew = pairs->skew ? MIN (pairs->skew, ABS (skew)) : ABS (skew);
  }
  if (alone && !partner->began && partner->ended)
    explain (pairs,
        g_strdup_printf ("No frame ever came on %s, and its stream has ended: check the source of that view.",
            GST_PAD_NAME (partner)));
  for (guint v = 0; v < 2; v++)
    interval[v] = streams[v].interval ? streams[v].interval : streams[v].spacing;
  gdouble least = (gdouble) MIN (interval[LEFT], interval[RIGHT]),
          most = (gdouble) MAX (interval[LEFT], interval[RIGHT]);
  if (!alone && (pairs->rates = least > 0 && most >= least * OTHER_RATE))
    explain (pairs,
        g_strdup_printf ("The left camera gives %.3g frames a second, the right one %.3g: set both to one "
                         "rate. This is not said again.",
            1e9 / (gdouble) interval[LEFT], 1e9 / (gdouble) interval[RIGHT]));
  drop (search, gst_stereo_pad_take (search->inputs->view[view]), view == RIGHT, reason);
  /* no further pair can come: whoever feeds this view is told so. A camera may come back */
  if (alone && partner->ended && !search->inputs->live)
    g_atomic_int_set (&search->self->priv->closed, 1 + (gint) view);
  if (alone && search->inputs->live)
    pairs->silent = g_get_monotonic_time ();
  /* what a view that has ended leaves is reported at the end */
  if (!alone)
    report (search->self, FALSE);
}

/* A left and a right frame that belong together are a pair, if they have one size, and both colour or both luma. Takes them; one is
 * NULL where a flush was faster. */
static GstFlowReturn
make_pair (Search *search, GstStereoFrame *left, GstStereoFrame *right)
{
  GstStereoPairs *pairs = search->pairs;

  if (left && right && left->layout.width == right->layout.width && left->layout.height == right->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&left->info) == GST_VIDEO_INFO_IS_RGB (&right->info)) {
    GST_LOG_OBJECT (search->self, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart",
        GST_STIME_ARGS (left->time), GST_STIME_ARGS (right->time), gst_stereo_frame_skew (left, right) / 1e6);
    pairs->paired = TRUE;
    pairs->matched = left->time;
    pairs->silent = 0;
    search->view[LEFT] = left;
    search->view[RIGHT] = right;
    return GST_FLOW_OK;
  }
  if (left && right) {
    g_autofree gchar *text = gst_stereo_describe_mismatch (left, right);
    /* so long that it is no change of both views */
    if (!pairs->paired ||
        (left->time != NONE && pairs->matched != NONE && ABS (left->time - pairs->matched) > MISMATCHED_TIME)) {
      GST_ELEMENT_ERROR (search->self, CORE, NEGOTIATION, ("%s", text), (NULL));
      search->flow = GST_FLOW_NOT_NEGOTIATED;
    }
    pairs->rates = FALSE;
    explain (pairs, g_steal_pointer (&text));
  }
  drop (search, left, FALSE, "the other view has another size or format");
  drop (search, right, TRUE, "the other view has another size or format");
  report (search->self, FALSE);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
end (const Search *search)
{
  GST_DEBUG_OBJECT (search->self, "no further pair can come: end of stream");
  report (search->self, TRUE);
  return GST_FLOW_EOS;
}

/* ---- capture timestamps -------------------------------------------------------------------- */

static gint64
stamp_of (const GstStereoFrame *frame, GstCaps *reference)
{
  const GstReferenceTimestampMeta *stamp = gst_buffer_get_reference_timestamp_meta (frame->buffer, reference);

  return stamp && stamp->timestamp <= LAST_STAMP ? (gint64) stamp->timestamp : NONE;
}

/* Where both heads have a stamp of one clock, the streams have the times of that clock; the first one that the left head names. */
static void
use_stamps (Search *search)
{
  const GstStereoFrame *left = search->inputs->view[LEFT]->head, *right = search->inputs->view[RIGHT]->head;
  gpointer state = NULL;
  GstMeta *meta;

  search->reference = NULL;
  for (guint v = 0; v < 2 && search->inputs->view[v]->head; v++)
    search->inputs->view[v]->head->captured = NONE;
  if (search->choice == CLOCK_BUFFER || !left || !right || left->segment.rate < 0 || right->segment.rate < 0)
    return;
  while ((meta = gst_buffer_iterate_meta_filtered (left->buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    GstCaps *reference = ((GstReferenceTimestampMeta *) meta)->reference;
    const gchar *name = gst_structure_get_name (gst_caps_get_structure (reference, 0));
    const gint64 stamps[2] = { stamp_of (left, reference), stamp_of (right, reference) };
    if (stamps[LEFT] == NONE || stamps[RIGHT] == NONE)
      continue;
    if (ABS (stamps[RIGHT] - stamps[LEFT]) <= ONE_CLOCK) {
      search->reference = g_intern_string (name);
      for (guint v = 0; v < 2; v++)
        search->stream[v].time = search->inputs->view[v]->head->captured = stamps[v];
    } else if (!search->pairs->apart) {
      search->pairs->apart = TRUE;
      GST_ELEMENT_WARNING (search->self, STREAM, FAILED,
          ("The capture timestamps (%s) of the two views are %.3f s apart: they are not of one clock. Buffer timestamps "
           "pair the views. Set the clocks of both cameras by one source (PTP or NTP), or set pairing-clock=buffer.",
              name, (gdouble) (stamps[RIGHT] - stamps[LEFT]) / GST_SECOND),
          (NULL));
    }
    return;
  }
}

/* ---- two pads ----------------------------------------------------------------------------- */

static void
read_pad (Search *search, guint view)
{
  g_autofree gchar *error = NULL;
  GstStereoFrame *gap;

  while ((gap = gst_stereo_pad_read (search->inputs->view[view], search->packing, &error))) {
    if (view == LEFT && search->flow == GST_FLOW_OK)
      search->flow = gst_stereo_aggregator_forward_gap (search->self, gap);
    gst_stereo_frame_free (gap);
  }
  if (error && search->flow == GST_FLOW_OK) {
    GST_ELEMENT_ERROR (search->self, CORE, NEGOTIATION, ("%s", error), (NULL));
    search->flow = GST_FLOW_NOT_NEGOTIATED;
  }
}

static void
read_two_pads (Search *search)
{
  GstStereoStream *left = &search->stream[LEFT], *right = &search->stream[RIGHT];

  for (guint v = 0; v < 2; v++) {
    read_pad (search, v);
    search->stream[v] = gst_stereo_pad_describe (search->inputs->view[v]);
    search->stream[v].ended |= search->inputs->silent[v];
  }
  /* cameras that give fewer frames than they have announced, as many do in the dark */
  if (left->has)
    search->pairs->left_spacing = MAX (left->spacing, MIN (left->interval, right->interval));
  use_stamps (search);
  if (search->max_skew != GST_STEREO_MAX_SKEW_AUTO)
    search->limit = (gint64) MIN (search->max_skew, G_MAXINT64 / 4);
  else
    search->limit = search->pairs->left_spacing ? search->pairs->left_spacing / 2 : NONE;
}

/* One decision: GstAggregator calls again while there are frames. A GAP event for a dropped one may have waited for long. */
static GstFlowReturn
find_in_two (Search *search)
{
  GstStereoPad *const *pads = search->inputs->view;
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;

  read_two_pads (search);
  GstStereoPairing pairing = gst_stereo_pairing_decide (&search->stream[LEFT], &search->stream[RIGHT], search->limit);
  if (search->flow != GST_FLOW_OK)
    return search->flow;
  if (pairing == GST_STEREO_PAIRING_DROP_LEFT || pairing == GST_STEREO_PAIRING_DROP_RIGHT)
    drop_head (search, pairing == GST_STEREO_PAIRING_DROP_LEFT ? LEFT : RIGHT);
  else if (pairing == GST_STEREO_PAIRING_PAIR)
    flow = make_pair (search, gst_stereo_pad_take (pads[LEFT]), gst_stereo_pad_take (pads[RIGHT]));
  else if (pairing == GST_STEREO_PAIRING_END && pads[LEFT]->ended && pads[RIGHT]->ended) /* a silent view may come back */
    flow = end (search);
  else
    GST_LOG_OBJECT (pads[search->stream[LEFT].has ? RIGHT : LEFT], "waits for a frame");
  if (flow == GST_FLOW_OK) {
    GST_OBJECT_LOCK (search->self);
    search->pairs->clock = search->reference ? search->reference : "buffer";
    GST_OBJECT_UNLOCK (search->self);
  }
  return search->flow == GST_FLOW_OK ? flow : search->flow;
}

/* ---- one pad ------------------------------------------------------------------------------ */

/* How many frames of @usual ns lie between two times, where it is such a multiple (a quarter of a frame more or less); else 0. */
static gint64
steps (gint64 from, gint64 to, gint64 usual)
{
  gint64 interval = from == NONE || to == NONE ? 0 : to - from, count = usual ? (interval + usual / 2) / usual : 0;

  return interval > 0 && ABS (interval - count * usual) <= usual / 4 ? count : 0;
}

/* Frames that alternate between the views: the first one that was taken, and the one behind it. */
static GstFlowReturn
find_bundle (Search *search)
{
  GstStereoPad *pad = search->inputs->view[LEFT];
  const GstStereoFrame *one = pad->first, *other = pad->head;
  const guint first = GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE;

  if (!one)
    return pad->ended ? end (search) : GST_AGGREGATOR_FLOW_NEED_DATA;
  if (!other && !pad->ended)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  const gboolean right_first = one->layout.right_first, marked = GST_BUFFER_FLAG_IS_SET (one->buffer, first);
  gboolean lost = !other || (pad->marked && (!marked || GST_BUFFER_FLAG_IS_SET (other->buffer, first)));
  if (!pad->marked && other) {
    /* Timestamps show what is lost, where they are regular: those of cameras that send on arrival are not. */
    gint64 usual = GST_BUFFER_DURATION_IS_VALID (one->buffer) ? one->spacing : one->spacing / 2;
    gboolean regular = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS (pad->intervals); i++)
      regular &= !pad->intervals[i] || steps (0, pad->intervals[i], usual);
    gint64 before = regular ? steps (search->pairs->last, one->time, usual) : 0,
           within = regular ? steps (one->time, other->time, usual) : 0;
    /* an even number of steps leads from the second frame of a bundle to another second one */
    lost = (before && before % 2 == 0) || within >= 2 ||
        (GST_BUFFER_FLAG_IS_SET (other->buffer, GST_BUFFER_FLAG_DISCONT) && within != 1);
  }
  if (lost) {
    drop (search, g_steal_pointer (&pad->first), pad->marked ? right_first == marked : right_first,
        "its bundle lacks the other view");
    report (search->self, FALSE);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  search->pairs->last = other->time;
  GstStereoFrame *frames[2] = { g_steal_pointer (&pad->first), gst_stereo_pad_take (pad) };
  /* they are a left and a right frame from here on, whichever came first */
  for (guint i = 0; i < 2 && frames[i]; i++)
    frames[i]->layout.right_first = FALSE;
  return make_pair (search, frames[right_first], frames[!right_first]);
}

static GstFlowReturn
find_in_one (Search *search)
{
  GstStereoPad *pad = search->inputs->view[LEFT];
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;

  read_pad (search, LEFT);
  const GstStereoFrame *head = pad->head;
  if (search->flow != GST_FLOW_OK)
    return search->flow;
  if (head && head->layout.overruled && !pad->warned) {
    pad->warned = TRUE;
    GST_ELEMENT_WARNING (search->self, STREAM, FORMAT,
        ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
  }
  if (!head || pad->first) {
    flow = find_bundle (search);
  } else if (head->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME) {
    pad->first = gst_stereo_pad_take (pad);
  } else if (GST_VIDEO_INFO_MULTIVIEW_FLAGS (&head->info) & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO &&
      !GST_BUFFER_FLAG_IS_SET (head->buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW)) {
    drop (search, gst_stereo_pad_take (pad), FALSE, "it holds one view only");
    report (search->self, FALSE);
  } else if ((search->view[LEFT] = search->view[RIGHT] = gst_stereo_pad_take (pad))) {
    flow = GST_FLOW_OK;
  }
  return search->flow == GST_FLOW_OK ? flow : search->flow;
}

GstFlowReturn
gst_stereo_pairs_find (GstStereoAggregator *self, const GstStereoInputs *inputs, GstStereoFrame *view[2])
{
  GstStereoPairs *pairs = &self->priv->pairs;
  Search search = { .self = self, .pairs = pairs, .inputs = inputs, .view = view };

  GST_OBJECT_LOCK (self);
  search.packing = pairs->packing;
  search.max_skew = pairs->max_skew;
  search.choice = pairs->choice;
  GST_OBJECT_UNLOCK (self);
  return inputs->packed ? find_in_one (&search) : find_in_two (&search);
}
