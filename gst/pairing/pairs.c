/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/pairs.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/stream.h"

/* When one view ends, the other view's surplus is taken so far, and no farther: that view may never end. */
#define SURPLUS_FRAMES 256
#define SURPLUS_TIME ((gint64) GST_SECOND)

struct _GstStereoPairs
{
  GstElement *element;
  GstStereoDrops *drops;
  GstStereoClock *clock;
  GstStereoPairsFuncs funcs;

  /* protected by the element's object lock */
  GstStereoPacking packing;
  guint64 max_skew;

  /* of the source pad's task */
  gint64 left_spacing; /* of the last left frame, ns */
  guint surplus;       /* frames read after the other view ended */
  gint64 surplus_time; /* of the first of them */
};

/* What the pads of two views have at hand. The times are running times of the left view, and of the right view what
 * these are by the clock that pairs. */
typedef struct
{
  GstStereoStream left, right;
  gint64 moments[2]; /* as gst_stereo_clock_moments() has it */
  gint64 max_skew;   /* ns; GST_STEREO_TIME_NONE = any */
} Heads;

GstStereoPairs *
gst_stereo_pairs_new (GstElement *element, GstStereoDrops *drops, GstStereoClock *clock)
{
  GstStereoPairs *pairs = g_new0 (GstStereoPairs, 1);

  pairs->element = element;
  pairs->drops = drops;
  pairs->clock = clock;
  pairs->max_skew = GST_STEREO_MAX_SKEW_AUTO;
  return pairs;
}

void
gst_stereo_pairs_set_funcs (GstStereoPairs *pairs, const GstStereoPairsFuncs *funcs)
{
  pairs->funcs = *funcs;
}

void
gst_stereo_pairs_free (GstStereoPairs *pairs)
{
  g_free (pairs);
}

void
gst_stereo_pairs_flush (GstStereoPairs *pairs)
{
  pairs->surplus = 0;
  pairs->left_spacing = 0;
  gst_stereo_clock_flush (pairs->clock);
}

/* ---- properties --------------------------------------------------------------------------- */

void
gst_stereo_pairs_set_packing (GstStereoPairs *pairs, GstStereoPacking packing)
{
  GST_OBJECT_LOCK (pairs->element);
  pairs->packing = packing;
  GST_OBJECT_UNLOCK (pairs->element);
}

GstStereoPacking
gst_stereo_pairs_get_packing (GstStereoPairs *pairs)
{
  GstStereoPacking packing;

  GST_OBJECT_LOCK (pairs->element);
  packing = pairs->packing;
  GST_OBJECT_UNLOCK (pairs->element);
  return packing;
}

void
gst_stereo_pairs_set_max_skew (GstStereoPairs *pairs, guint64 max_skew)
{
  GST_OBJECT_LOCK (pairs->element);
  pairs->max_skew = max_skew;
  GST_OBJECT_UNLOCK (pairs->element);
}

guint64
gst_stereo_pairs_get_max_skew (GstStereoPairs *pairs)
{
  guint64 max_skew;

  GST_OBJECT_LOCK (pairs->element);
  max_skew = pairs->max_skew;
  GST_OBJECT_UNLOCK (pairs->element);
  return max_skew;
}

/* In ns; GST_STEREO_TIME_NONE = any. */
static gint64
resolve_max_skew (GstStereoPairs *pairs)
{
  guint64 max_skew = gst_stereo_pairs_get_max_skew (pairs);

  if (max_skew != GST_STEREO_MAX_SKEW_AUTO)
    return (gint64) MIN (max_skew, G_MAXINT64 / 4);
  return pairs->left_spacing ? pairs->left_spacing / 2 : GST_STEREO_TIME_NONE;
}

/* ---- frames come in ----------------------------------------------------------------------- */

/* Looks at one more frame of @pad; FALSE when there is none. */
static gboolean
pull (GstStereoPairs *pairs, GstStereoPad *pad, GstFlowReturn *flow)
{
  GstBuffer *gap = NULL;
  gchar *message = NULL;
  GstSegment segment;

  switch (gst_stereo_pad_pull (pad, gst_stereo_pairs_get_packing (pairs), &gap, &message)) {
    case GST_STEREO_PULL_FRAME:
      return TRUE;
    case GST_STEREO_PULL_GAP:
      GST_OBJECT_LOCK (pad);
      segment = GST_AGGREGATOR_PAD (pad)->segment;
      GST_OBJECT_UNLOCK (pad);
      if (!gst_stereo_pad_is_right (pad))
        *flow = pairs->funcs.gap ((GstStereoAggregator *) pairs->element, &segment, gap);
      gst_buffer_unref (gap);
      return TRUE;
    case GST_STEREO_PULL_ERROR:
      GST_ELEMENT_ERROR (pairs->element, CORE, NEGOTIATION, ("%s", message), (NULL));
      g_free (message);
      *flow = GST_FLOW_NOT_NEGOTIATED;
      return FALSE;
    default:
      return FALSE;
  }
}

/* ---- frames without a partner ------------------------------------------------------------- */

static GstFlowReturn
drop (GstStereoPairs *pairs, GstStereoPad *pad, gboolean right, const gchar *reason)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstStereoFrame frame;

  if (!gst_stereo_pad_take (pad, &frame))
    return flow;
  GST_DEBUG_OBJECT (pad, "dropped, %s: frame of %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT, reason,
      GST_STIME_ARGS (frame.time), frame.buffer);
  if (!right)
    flow = pairs->funcs.gap ((GstStereoAggregator *) pairs->element, &frame.segment, frame.buffer);
  gst_buffer_unref (frame.buffer);
  gst_stereo_drops_count (pairs->drops, right);
  return flow;
}

/* A frame of a view that outlives the other: FALSE when enough of those were read. */
static gboolean
count_surplus (GstStereoPairs *pairs, gint64 time)
{
  if (pairs->surplus++ == 0)
    pairs->surplus_time = time;
  return pairs->surplus < SURPLUS_FRAMES &&
      (time == GST_STEREO_TIME_NONE || pairs->surplus_time == GST_STEREO_TIME_NONE ||
          time - pairs->surplus_time < SURPLUS_TIME);
}

/* Why the head of @own has no partner in @other: for the log. */
static const gchar *
reason_to_drop (const GstStereoStream *own, const GstStereoStream *other, gint64 max_skew)
{
  gint64 skew;

  if (own->generation < other->generation && own->moves_on)
    return "from before a seek that the other view has behind it";
  if (!other->count)
    return other->ended ? "the other view has ended" : "the other view has a gap there";
  skew = ABS (own->time[0] - other->time[0]);
  return max_skew != GST_STEREO_TIME_NONE && skew > max_skew ? "farther than max-skew from the other view's frame" :
                                                               "its next frame is nearer to the other view's frame";
}

/* The head of @pad has no partner. */
static GstFlowReturn
drop_head (GstStereoPairs *pairs, GstStereoPad *pad, const Heads *heads)
{
  const gboolean right = gst_stereo_pad_is_right (pad);
  const GstStereoStream *own = right ? &heads->right : &heads->left, *other = right ? &heads->left : &heads->right;
  GstFlowReturn flow;

  if (own->generation == other->generation && own->count && other->count && own->time[0] != GST_STEREO_TIME_NONE &&
      other->time[0] != GST_STEREO_TIME_NONE) {
    gint64 skew = heads->right.time[0] - heads->left.time[0];
    gint64 max_skew = heads->max_skew == GST_STEREO_TIME_NONE ? 0 : heads->max_skew;

    GST_DEBUG_OBJECT (pad, "the next frames are %+.3f ms apart, max-skew is %.3f ms", skew / 1e6, max_skew / 1e6);
    gst_stereo_drops_set_skew (pairs->drops, skew, max_skew, heads->moments[0] != GST_STEREO_TIME_NONE);
  }
  gst_stereo_clock_take_head (pairs->clock, right);
  flow = drop (pairs, pad, right, reason_to_drop (own, other, heads->max_skew));
  if (own->generation < other->generation)
    gst_stereo_pad_count_old_frame (pad);
  if (other->count || !other->ended) {
    pairs->surplus = 0;
    gst_stereo_drops_report (pairs->drops, FALSE);
  } else if (!count_surplus (pairs, own->time[0])) {
    GST_INFO_OBJECT (
        pairs->element, "%s goes on and the other view has ended: no more of it is taken in", GST_PAD_NAME (pad));
    gst_stereo_pad_close (pad);
  }
  return flow;
}

static GstFlowReturn
end (GstStereoPairs *pairs)
{
  GST_DEBUG_OBJECT (pairs->element, "no further pair can come: end of stream");
  gst_stereo_drops_report (pairs->drops, TRUE);
  return GST_FLOW_EOS;
}

/* ---- two pads ----------------------------------------------------------------------------- */

static void
shift_time (gint64 *time, gint64 by)
{
  if (*time != GST_STEREO_TIME_NONE)
    *time += by;
}

static void
apply_clock (GstStereoPairs *pairs, GstStereoPad *const pads[2], Heads *heads)
{
  GstStereoClockView views[2] = { { .queue = &heads->left }, { .queue = &heads->right } };
  gboolean forwards = TRUE;

  for (guint v = 0; v < 2; v++)
    forwards &= gst_stereo_pad_ref_buffers (pads[v], views[v].buffers);
  gst_stereo_clock_apply (pairs->clock, views, forwards);
  gst_stereo_clock_moments (pairs->clock, heads->moments);
  for (guint v = 0; v < 2; v++) {
    gst_clear_buffer (&views[v].buffers[0]);
    gst_clear_buffer (&views[v].buffers[1]);
  }
}

static void
look_at_heads (GstStereoPairs *pairs, GstStereoPad *left, GstStereoPad *right, Heads *heads)
{
  gint64 right_spacing, left_origin, right_origin;

  gst_stereo_pad_describe (left, &heads->left, &pairs->left_spacing, &left_origin);
  gst_stereo_pad_describe (right, &heads->right, &right_spacing, &right_origin);
  if (heads->left.generation == heads->right.generation) {
    shift_time (&heads->right.time[0], left_origin - right_origin);
    shift_time (&heads->right.time[1], left_origin - right_origin);
    shift_time (&heads->right.gap_end, left_origin - right_origin);
  }
  apply_clock (pairs, (GstStereoPad *const[2]){ left, right }, heads);
  heads->max_skew = resolve_max_skew (pairs);
}

/* The heads of two pads, or the first two frames of one, are a pair. @heads: of two pads, else NULL. */
static GstFlowReturn
hand_on_pair (GstStereoPairs *pairs, GstStereoPad *first_pad, GstStereoPad *second_pad, const Heads *heads)
{
  GstStereoFrame first, second;
  GstFlowReturn flow;

  if (!gst_stereo_pad_take (first_pad, &first))
    return GST_FLOW_OK;
  if (!gst_stereo_pad_take (second_pad, &second)) {
    gst_buffer_unref (first.buffer);
    return GST_FLOW_OK;
  }
  if (first.generation == second.generation)
    shift_time (&second.time, first.origin - second.origin);
  if (heads) {
    first.moment = heads->moments[0];
    second.moment = heads->moments[1];
    gst_stereo_clock_pair_heads (pairs->clock);
    gst_stereo_clock_take_head (pairs->clock, FALSE);
    gst_stereo_clock_take_head (pairs->clock, TRUE);
  }
  GST_LOG_OBJECT (pairs->element, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart by %s",
      GST_STIME_ARGS (first.time), GST_STIME_ARGS (second.time), gst_stereo_frame_skew (&first, &second) / 1e6,
      heads ? gst_stereo_clock_get_name (pairs->clock) : "buffer");
  flow = pairs->funcs.pair ((GstStereoAggregator *) pairs->element, &first, &second);
  gst_buffer_unref (first.buffer);
  gst_buffer_unref (second.buffer);
  return flow;
}

/* The next frame of @needed is missing. When one thread feeds both pads, it must get past the other pad first. */
static GstFlowReturn
wait_for_frame (GstStereoPad *pad, const GstStereoStream *needed, GstStereoPad *other)
{
  if (needed->count) {
    GST_LOG_OBJECT (pad, "waits: the frame after %" GST_STIME_FORMAT " may be nearer to the one of %s",
        GST_STIME_ARGS (needed->time[0]), GST_PAD_NAME (other));
    gst_stereo_pad_make_room (other);
  } else {
    GST_LOG_OBJECT (pad, "waits for a frame");
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

GstFlowReturn
gst_stereo_pairs_find_in_two (GstStereoPairs *pairs, GstStereoPad *left, GstStereoPad *right)
{
  GstFlowReturn flow = GST_FLOW_OK;
  Heads heads;

  while (flow == GST_FLOW_OK) {
    if (!gst_stereo_pad_count (left))
      pull (pairs, left, &flow);
    if (!gst_stereo_pad_count (right) && flow == GST_FLOW_OK)
      pull (pairs, right, &flow);
    if (flow != GST_FLOW_OK)
      break;
    look_at_heads (pairs, left, right, &heads);
    switch (gst_stereo_pairing_decide (&heads.left, &heads.right, heads.max_skew)) {
      case GST_STEREO_PAIRING_PAIR:
        return hand_on_pair (pairs, left, right, &heads);
      case GST_STEREO_PAIRING_DROP_LEFT:
        flow = drop_head (pairs, left, &heads);
        break;
      case GST_STEREO_PAIRING_DROP_RIGHT:
        flow = drop_head (pairs, right, &heads);
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
        if (!pull (pairs, left, &flow) && flow == GST_FLOW_OK)
          return wait_for_frame (left, &heads.left, right);
        break;
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (!pull (pairs, right, &flow) && flow == GST_FLOW_OK)
          return wait_for_frame (right, &heads.right, left);
        break;
      default:
        return end (pairs);
    }
  }
  return flow;
}

/* ---- one pad ------------------------------------------------------------------------------ */

/* A frame that holds both views. In a stream of mixed frames, those with one view are dropped. */
static GstFlowReturn
hand_on_packed (GstStereoPairs *pairs, GstStereoPad *pad)
{
  GstVideoMultiviewFlags flags;
  GstStereoFrame frame;
  GstFlowReturn flow = GST_FLOW_OK;

  if (!gst_stereo_pad_take (pad, &frame))
    return GST_FLOW_OK;
  flags = GST_VIDEO_INFO_MULTIVIEW_FLAGS (&frame.info);
  if ((flags & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO) &&
      !GST_BUFFER_FLAG_IS_SET (frame.buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW)) {
    GST_DEBUG_OBJECT (pad, "dropped, it holds one view only: %" GST_PTR_FORMAT, frame.buffer);
    gst_stereo_drops_count (pairs->drops, FALSE);
    gst_stereo_drops_report (pairs->drops, FALSE);
    flow = pairs->funcs.gap ((GstStereoAggregator *) pairs->element, &frame.segment, frame.buffer);
  } else {
    GST_LOG_OBJECT (pairs->element, "both views of %" GST_STIME_FORMAT " in one frame", GST_STIME_ARGS (frame.time));
    flow = pairs->funcs.pair ((GstStereoAggregator *) pairs->element, &frame, &frame);
  }
  gst_buffer_unref (frame.buffer);
  return flow;
}

static void
warn_of_packing (GstStereoPairs *pairs, GstStereoPad *pad)
{
  if (gst_stereo_pad_warn_once (pad))
    GST_ELEMENT_WARNING (pairs->element, STREAM, FORMAT,
        ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
}

GstFlowReturn
gst_stereo_pairs_find_in_one (GstStereoPairs *pairs, GstStereoPad *pad)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstStereoPairing decision;
  GstStereoLayout layout;
  gboolean first[2], marked, ended;
  guint count;

  while (flow == GST_FLOW_OK) {
    if (!gst_stereo_pad_count (pad))
      pull (pairs, pad, &flow);
    if (flow != GST_FLOW_OK)
      break;
    ended = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));
    count = gst_stereo_pad_describe_bundle (pad, first, &marked, &layout);
    if (count && layout.overruled)
      warn_of_packing (pairs, pad);
    if (count && layout.packing != GST_STEREO_PACKING_FRAME_BY_FRAME)
      return hand_on_packed (pairs, pad);
    decision = gst_stereo_pairing_bundle (count, first, marked, ended);
    if (decision == GST_STEREO_PAIRING_PAIR) {
      return hand_on_pair (pairs, pad, pad, NULL);
    } else if (decision == GST_STEREO_PAIRING_DROP_LEFT) {
      flow = drop (
          pairs, pad, marked ? layout.right_first == first[0] : layout.right_first, "its bundle lacks the other view");
      gst_stereo_drops_report (pairs->drops, FALSE);
    } else if (decision == GST_STEREO_PAIRING_END) {
      return end (pairs);
    } else if (!pull (pairs, pad, &flow) && flow == GST_FLOW_OK) {
      GST_LOG_OBJECT (pad, "waits for a frame");
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    }
  }
  return flow;
}
