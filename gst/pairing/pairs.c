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
/* One view gives more frames than the other by so much, in percent. */
#define OTHER_RATE 140

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
  GstStereoPad *const *pads; /* of the two views */
  GstStereoFrame **view;     /* the result */
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
  g_clear_pointer (&pairs->mismatch, g_free);
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
  if (!start)
    return;
  forget_report (pairs);
  pairs->reported = pairs->forgiven = 0;
  pairs->never = NULL;
  pairs->said = FALSE;
}

void
gst_stereo_pairs_forgive (GstStereoAggregator *self)
{
  forget_report (&self->priv->pairs);
  self->priv->pairs.forgiven = g_get_monotonic_time ();
}

/* ---- frames without a partner ------------------------------------------------------------- */

/* Posts the warning if there are new drops, at most once a second. @now: without this limit. */
static void
report (GstStereoAggregator *self, gboolean now)
{
  GstStereoPairs *pairs = &self->priv->pairs;
  gint64 time = g_get_monotonic_time ();
  g_autofree gchar *why = NULL;

  /* what waited for a view that was silent */
  if (pairs->forgiven && time - pairs->forgiven < REPORT_INTERVAL)
    forget_report (pairs);
  guint left = pairs->unreported[LEFT], right = pairs->unreported[RIGHT];
  if (!(left || right) || (!now && pairs->reported && time - pairs->reported < REPORT_INTERVAL))
    return;
  if (pairs->rates[LEFT])
    why = g_strdup_printf (
        " The left camera gives %.3g frames a second, the right one %.3g: set both to one rate. This is not said again.",
        (gdouble) GST_SECOND / (gdouble) pairs->rates[LEFT], (gdouble) GST_SECOND / (gdouble) pairs->rates[RIGHT]);
  else if (pairs->never)
    why = g_strdup_printf (
        " No frame ever came on %s, and its stream has ended: check the source of that view.", pairs->never);
  else if (pairs->skew)
    why = g_strdup_printf (" The nearest two were %.3f ms apart%s, and max-skew is %.3f ms: %s.",
        ABS (pairs->skew) / 1e6, pairs->dated ? " by their capture timestamps" : "", pairs->limit / 1e6,
        ABS (pairs->skew) > MOST_SKEW ?
            "one camera was away, or its timestamps count from another start. Let its source stamp frames by the "
            "pipeline's clock (do-timestamp=true)" :
            "start the cameras together, or raise max-skew");
  if (!(pairs->rates[LEFT] && pairs->said && !pairs->mismatch))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("%u left and %u right frames had no partner and were dropped.%s%s%s", left, right, why ? why : "",
            pairs->mismatch ? " " : "", pairs->mismatch ? pairs->mismatch : ""),
        (NULL));
  pairs->said = pairs->rates[LEFT] > 0;
  pairs->reported = time;
  forget_report (pairs);
}

/* The first frame of the pad of @view, as one of the left or the right view. Nothing happens where a flush was faster. */
static void
drop (Search *search, guint view, gboolean right, const gchar *reason)
{
  GstStereoFrame *frame = gst_stereo_pad_take (search->pads[view]);

  if (!frame)
    return;
  GST_DEBUG_OBJECT (search->pads[view], "dropped, %s: frame of %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT, reason,
      GST_STIME_ARGS (frame->time), frame->buffer);
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
  const GstStereoStream *own = &search->stream[view], *other = &search->stream[!view];
  const GstStereoPad *partner = search->pads[!view];
  const gchar *reason = "its next frame is nearer to the other view's frame";
  GstStereoPairs *pairs = search->pairs;
  gboolean alone = !other->count && other->ended;

  if (!other->count) {
    reason = alone ? "the other view has ended, or is silent" : "the other view has a gap there";
  } else if (search->limit != NONE && ABS (own->time[0] - other->time[0]) > search->limit) {
    /* within the limit, the other one fits a later frame better: no limit is to blame */
    gint64 skew = search->stream[RIGHT].time[0] - search->stream[LEFT].time[0];
    reason = "farther than max-skew from the other view's frame";
    if (!pairs->skew || ABS (skew) < ABS (pairs->skew)) {
      pairs->skew = skew;
      pairs->limit = search->limit;
      pairs->dated = search->reference != NULL;
    }
  }
  if (alone && !partner->began && partner->ended)
    pairs->never = GST_PAD_NAME (partner);
  /* whether one view gives more frames than the other */
  gdouble interval[2], least, most;
  for (guint v = 0; v < 2; v++) {
    interval[v] = (gdouble) search->stream[v].interval;
    if (interval[v] <= 0 && search->stream[v].count)
      interval[v] = (gdouble) search->pads[v]->frames[0]->spacing;
  }
  least = MIN (interval[LEFT], interval[RIGHT]);
  most = MAX (interval[LEFT], interval[RIGHT]);
  for (guint v = 0; v < 2 && !alone; v++)
    pairs->rates[v] = least > 0 && most >= least * (OTHER_RATE / 100.0) ? (gint64) interval[v] : 0;
  drop (search, view, view == RIGHT, reason);
  /* no further pair can come: whoever feeds this view is told so. A camera may come back */
  if (alone && partner->ended && !search->inputs->live)
    g_atomic_int_set (&search->pads[view]->closed, TRUE);
  /* what a view that has ended leaves is reported at the end */
  if (!alone)
    report (search->self, FALSE);
}

/* The next frame of each view, which belong together, and differ in size or format. */
static void
drop_mismatch (Search *search, GstStereoFrame *const frames[2], gboolean right_first)
{
  const GstStereoFrame *left = frames[right_first], *right = frames[!right_first];
  g_autofree gchar *text = gst_stereo_describe_mismatch (left, right);
  GstStereoPairs *pairs = search->pairs;

  /* so long that it is no change of both views */
  if (!pairs->paired ||
      (left->time != NONE && pairs->matched != NONE && ABS (left->time - pairs->matched) > MISMATCHED_TIME)) {
    GST_ELEMENT_ERROR (search->self, CORE, NEGOTIATION, ("%s", text), (NULL));
    search->flow = GST_FLOW_NOT_NEGOTIATED;
    return;
  }
  g_free (pairs->mismatch);
  pairs->mismatch = g_steal_pointer (&text);
  for (guint v = 0; v < 2; v++)
    drop (search, v, (gboolean) v != right_first, "the other view has another size or format");
  report (search->self, FALSE);
}

static GstFlowReturn
end (const Search *search)
{
  GST_DEBUG_OBJECT (search->self, "no further pair can come: end of stream");
  report (search->self, TRUE);
  return GST_FLOW_EOS;
}

/* ---- capture timestamps -------------------------------------------------------------------- */

/* The stamp with these caps, and no others: caps with further fields may name another clock. */
static gint64
stamp_of (const GstStereoFrame *frame, const GstCaps *reference)
{
  gpointer state = NULL;
  GstMeta *meta;

  while (frame &&
      (meta = gst_buffer_iterate_meta_filtered (frame->buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstReferenceTimestampMeta *stamp = (GstReferenceTimestampMeta *) meta;
    if (stamp->timestamp <= LAST_STAMP && gst_caps_is_equal (stamp->reference, reference))
      return (gint64) stamp->timestamp;
  }
  return NONE;
}

/* Where both heads have a stamp of one clock, the streams have the times of that clock; the first one that the left head names. */
static void
use_stamps (Search *search)
{
  const GstStereoFrame *left = search->pads[LEFT]->frames[0], *right = search->pads[RIGHT]->frames[0];
  gpointer state = NULL;
  GstMeta *meta;

  search->reference = NULL;
  if (search->choice == CLOCK_BUFFER || !left || !right || left->segment.rate < 0 || right->segment.rate < 0)
    return;
  while ((meta = gst_buffer_iterate_meta_filtered (left->buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstCaps *reference = ((GstReferenceTimestampMeta *) meta)->reference;
    const gchar *name = gst_structure_get_name (gst_caps_get_structure (reference, 0));
    const gint64 stamps[2] = { stamp_of (left, reference), stamp_of (right, reference) };
    if (stamps[LEFT] == NONE || stamps[RIGHT] == NONE)
      continue;
    if (ABS (stamps[RIGHT] - stamps[LEFT]) <= ONE_CLOCK) {
      search->reference = g_intern_string (name);
      for (guint v = 0; v < 2; v++) {
        search->stream[v].time[0] = stamps[v];
        search->stream[v].time[1] = stamp_of (search->pads[v]->frames[1], reference);
      }
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

/* Shows one frame at least where there is any, and with @more one more than before. FALSE: nothing came. */
static gboolean
read_pad (Search *search, guint view, gboolean more)
{
  GstStereoFrame *gap = NULL;
  g_autofree gchar *error = NULL;
  gboolean came = gst_stereo_pad_read (search->pads[view], search->packing, more, &gap, &error);

  if (gap && view == LEFT && search->flow == GST_FLOW_OK)
    search->flow = gst_stereo_aggregator_forward_gap (search->self, gap);
  gst_stereo_frame_free (gap);
  if (error && search->flow == GST_FLOW_OK) {
    GST_ELEMENT_ERROR (search->self, CORE, NEGOTIATION, ("%s", error), (NULL));
    search->flow = GST_FLOW_NOT_NEGOTIATED;
  }
  return came;
}

/* What two pads show. */
static void
read_two_pads (Search *search)
{
  GstStereoStream *left = &search->stream[LEFT], *right = &search->stream[RIGHT];

  for (guint v = 0; v < 2; v++) {
    read_pad (search, v, FALSE);
    search->stream[v] = gst_stereo_pad_describe (search->pads[v]);
    search->stream[v].ended |= search->inputs->silent[v];
  }
  /* cameras that give fewer frames than they have announced, as many do in the dark */
  if (left->count)
    search->pairs->left_spacing = MAX (search->pads[LEFT]->frames[0]->spacing, MIN (left->interval, right->interval));
  use_stamps (search);
  if (search->max_skew != GST_STEREO_MAX_SKEW_AUTO)
    search->limit = (gint64) MIN (search->max_skew, G_MAXINT64 / 4);
  else
    search->limit = search->pairs->left_spacing ? search->pairs->left_spacing / 2 : NONE;
}

/* The first frame of each pad, or the first two of one pad, are a pair. Where a flush was faster, there is none yet. */
static GstFlowReturn
take_pair (Search *search, gboolean right_first)
{
  GstStereoFrame *frames[2] = { gst_stereo_pad_take (search->pads[0]), gst_stereo_pad_take (search->pads[1]) };
  GstStereoFrame *left = search->view[LEFT] = frames[right_first], *right = search->view[RIGHT] = frames[!right_first];

  if (!left || !right)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  search->pairs->paired = TRUE;
  search->pairs->matched = left->time;
  search->pairs->forgiven = 0;
  if (search->pads[0] != search->pads[1]) {
    left->captured = search->reference ? search->stream[LEFT].time[0] : NONE;
    right->captured = search->reference ? search->stream[RIGHT].time[0] : NONE;
    GST_OBJECT_LOCK (search->self);
    search->pairs->clock = search->reference ? search->reference : "buffer";
    GST_OBJECT_UNLOCK (search->self);
  }
  /* they are a left and a right frame from here on, whichever came first */
  left->layout.right_first = right->layout.right_first = FALSE;
  GST_LOG_OBJECT (search->self, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart",
      GST_STIME_ARGS (left->time), GST_STIME_ARGS (right->time), gst_stereo_frame_skew (left, right) / 1e6);
  return GST_FLOW_OK;
}

/* Whether both frames have one size, and both colour or both luma. */
static gboolean
fit (const GstStereoFrame *a, const GstStereoFrame *b)
{
  return a->layout.width == b->layout.width && a->layout.height == b->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&a->info) == GST_VIDEO_INFO_IS_RGB (&b->info);
}

static GstFlowReturn
find_in_two (Search *search)
{
  GstStereoPad *const *pads = search->pads;

  for (read_two_pads (search); search->flow == GST_FLOW_OK; read_two_pads (search)) {
    GstStereoPairing pairing = gst_stereo_pairing_decide (&search->stream[LEFT], &search->stream[RIGHT], search->limit);
    guint view = pairing == GST_STEREO_PAIRING_DROP_RIGHT || pairing == GST_STEREO_PAIRING_WAIT_RIGHT;

    switch (pairing) {
      case GST_STEREO_PAIRING_PAIR:
        if (fit (pads[LEFT]->frames[0], pads[RIGHT]->frames[0]))
          return take_pair (search, FALSE);
        drop_mismatch (search, (GstStereoFrame *[]){ pads[LEFT]->frames[0], pads[RIGHT]->frames[0] }, FALSE);
        break;
      case GST_STEREO_PAIRING_DROP_LEFT:
      case GST_STEREO_PAIRING_DROP_RIGHT:
        drop_head (search, view);
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (read_pad (search, view, TRUE) || search->flow != GST_FLOW_OK)
          break;
        GST_LOG_OBJECT (pads[view], "waits for a frame");
        /* when one thread feeds both pads, it must get past the other pad first */
        if (search->stream[view].count)
          gst_stereo_pad_make_room (pads[!view]);
        return GST_AGGREGATOR_FLOW_NEED_DATA;
      default:
        /* a silent view may come back */
        return pads[LEFT]->ended && pads[RIGHT]->ended ? end (search) : GST_AGGREGATOR_FLOW_NEED_DATA;
    }
    if (g_atomic_int_get (&pads[LEFT]->flushed) || g_atomic_int_get (&pads[RIGHT]->flushed))
      return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  return search->flow;
}

/* ---- one pad ------------------------------------------------------------------------------ */

static gint64
distance (gint64 from, gint64 to)
{
  return from == NONE || to == NONE ? 0 : to - from;
}

static gboolean
is_first (const GstStereoFrame *frame)
{
  return frame && GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
}

/* Frames that alternate between the views. NEED_DATA without a pair: look again, unless nothing came. */
static GstFlowReturn
find_bundle (Search *search, gboolean *again)
{
  GstStereoPad *pad = search->pads[LEFT];
  GstStereoFrame *const *frames = pad->frames, *head = frames[0];
  const gboolean first[2] = { is_first (head), is_first (frames[1]) }, right_first = head && head->layout.right_first;
  gboolean lost = FALSE;

  /* Without marks, timestamps show what is lost, where they are regular: those of cameras that send on arrival are not. */
  if (pad->shown == 2) {
    gint64 usual = GST_BUFFER_DURATION_IS_VALID (head->buffer) ? head->spacing : head->spacing / 2;
    gboolean regular = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS (pad->intervals); i++)
      regular &= !pad->intervals[i] || gst_stereo_pairing_steps (pad->intervals[i], usual);
    lost = gst_stereo_pairing_lost (regular ? distance (search->pairs->last, head->time) : 0,
        regular ? distance (head->time, frames[1]->time) : 0, usual,
        GST_BUFFER_FLAG_IS_SET (frames[1]->buffer, GST_BUFFER_FLAG_DISCONT));
  }
  switch (gst_stereo_pairing_bundle (pad->shown, first, pad->marked, lost, pad->ended)) {
    case GST_STEREO_PAIRING_PAIR:
      search->pairs->last = frames[1]->time;
      if (fit (head, frames[1]))
        return take_pair (search, right_first);
      drop_mismatch (search, frames, right_first);
      break;
    case GST_STEREO_PAIRING_DROP_LEFT:
      drop (search, LEFT, pad->marked ? right_first == first[0] : right_first, "its bundle lacks the other view");
      report (search->self, FALSE);
      break;
    case GST_STEREO_PAIRING_END:
      return end (search);
    default:
      *again = read_pad (search, LEFT, TRUE);
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
find_in_one (Search *search)
{
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  GstStereoPad *pad = search->pads[LEFT];

  for (gboolean again = TRUE; again && flow == GST_AGGREGATOR_FLOW_NEED_DATA && !g_atomic_int_get (&pad->flushed);) {
    read_pad (search, LEFT, FALSE);
    const GstStereoFrame *head = pad->frames[0];
    if (head && head->layout.overruled && !pad->warned) {
      pad->warned = TRUE;
      GST_ELEMENT_WARNING (search->self, STREAM, FORMAT,
          ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
    }
    if (search->flow == GST_FLOW_OK && (!head || head->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME)) {
      flow = find_bundle (search, &again);
    } else if (search->flow == GST_FLOW_OK &&
        GST_VIDEO_INFO_MULTIVIEW_FLAGS (&head->info) & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO &&
        !GST_BUFFER_FLAG_IS_SET (head->buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW)) {
      drop (search, LEFT, FALSE, "it holds one view only");
      report (search->self, FALSE);
    } else if (search->flow == GST_FLOW_OK) {
      search->view[LEFT] = search->view[RIGHT] = gst_stereo_pad_take (pad);
      flow = search->view[LEFT] ? GST_FLOW_OK : flow;
    }
    if (search->flow != GST_FLOW_OK)
      return search->flow;
  }
  return flow;
}

GstFlowReturn
gst_stereo_pairs_find (GstStereoAggregator *self, const GstStereoInputs *inputs, GstStereoFrame *view[2])
{
  GstStereoPairs *pairs = &self->priv->pairs;
  Search search = { .self = self, .pairs = pairs, .pads = inputs->view, .inputs = inputs, .view = view };

  GST_OBJECT_LOCK (self);
  search.packing = pairs->packing;
  search.max_skew = pairs->max_skew;
  search.choice = pairs->choice;
  GST_OBJECT_UNLOCK (self);
  return inputs->packed ? find_in_one (&search) : find_in_two (&search);
}
