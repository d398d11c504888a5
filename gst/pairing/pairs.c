/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From buffers to pairs: what goes together, what is dropped, and saying so. */
#include "gst/pairing/aggregator.h"

#define GST_CAT_DEFAULT gst_stereo_aggregator_debug

/* When one view ends, the other's surplus is taken so far, and no farther: it may never end. */
#define SURPLUS_FRAMES 256
#define SURPLUS_TIME ((gint64) GST_SECOND)
#define REPORT_INTERVAL (1 * G_USEC_PER_SEC)

static void
report_drops (GstStereoAggregator *self, gboolean now)
{
  GstStereoDrops *drops = &self->drops;
  gint64 time = g_get_monotonic_time ();
  gchar *skew;

  if (!(drops->left || drops->right) || (!now && drops->reported && time - drops->reported < REPORT_INTERVAL))
    return;
  if (drops->skew)
    skew = g_strdup_printf (" The last two frames compared were %.3f ms apart, and max-skew is %.3f ms: start the "
        "cameras together, or raise max-skew.", ABS (drops->skew) / 1e6, drops->max_skew / 1e6);
  else
    skew = g_strdup ("");
  GST_WARNING_OBJECT (self, "%u left and %u right frames had no partner and were dropped.%s", drops->left,
      drops->right, skew);
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("%u left and %u right frames had no partner and were dropped.%s", drops->left, drops->right, skew), (NULL));
  g_free (skew);
  memset (drops, 0, sizeof *drops);
  drops->reported = time;
}

static void
count_drop (GstStereoAggregator *self, gboolean right)
{
  GST_OBJECT_LOCK (self);
  if (right)
    self->stats.dropped_right++;
  else
    self->stats.dropped_left++;
  GST_OBJECT_UNLOCK (self);
  if (right)
    self->drops.right++;
  else
    self->drops.left++;
  self->discont = TRUE;
}

static void
drop (GstStereoAggregator *self, GstStereoPad *pad, gboolean right)
{
  GstStereoFrame frame;

  if (!gst_stereo_pad_take (pad, &frame))
    return;
  GST_DEBUG_OBJECT (pad, "no partner for %" GST_PTR_FORMAT, frame.buffer);
  gst_buffer_unref (frame.buffer);
  count_drop (self, right);
}

static GstFlowReturn
land (GstStereoAggregator *self)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  return klass->land ? klass->land (self) : GST_FLOW_OK;
}

static GstFlowReturn
settle (GstStereoAggregator *self, GstStereoPad *const *pads, guint count, GstFlowReturn flow)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  return klass->settle ? klass->settle (self, pads, count, flow) : flow;
}

/* A gap of the stream that gives the timestamps is a gap of the output. */
static void
forward_gap (GstStereoAggregator *self, GstStereoPad *pad, GstBuffer *gap)
{
  gboolean same;

  GST_OBJECT_LOCK (pad);
  same = self->have_segment && gst_segment_is_equal (&self->segment, &GST_AGGREGATOR_PAD (pad)->segment);
  GST_OBJECT_UNLOCK (pad);
  if (!pad->right && self->negotiated && same && GST_BUFFER_PTS_IS_VALID (gap))
    gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self), gst_event_new_gap (GST_BUFFER_PTS (gap),
            GST_BUFFER_DURATION (gap)));
}

/* Looks at one more frame of @pad; FALSE when there is none. */
static gboolean
pull (GstStereoAggregator *self, GstStereoPad *pad, GstFlowReturn *flow)
{
  GstBuffer *gap = NULL;
  gchar *message = NULL;
  GstStereoPacking packing;

  GST_OBJECT_LOCK (self);
  packing = self->packing;
  GST_OBJECT_UNLOCK (self);
  switch (gst_stereo_pad_pull (pad, packing, &gap, &message)) {
    case GST_STEREO_PULL_FRAME:
      return TRUE;
    case GST_STEREO_PULL_GAP:
      *flow = land (self);
      if (*flow == GST_FLOW_OK)
        forward_gap (self, pad, gap);
      gst_buffer_unref (gap);
      return TRUE;
    case GST_STEREO_PULL_ERROR:
      GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s", message), (NULL));
      g_free (message);
      *flow = GST_FLOW_NOT_NEGOTIATED;
      return FALSE;
    default:
      return FALSE;
  }
}

/* In ns; GST_STEREO_TIME_NONE = any. */
static gint64
resolve_max_skew (GstStereoAggregator *self)
{
  guint64 max_skew;

  GST_OBJECT_LOCK (self);
  max_skew = self->max_skew;
  GST_OBJECT_UNLOCK (self);
  if (max_skew != GST_STEREO_MAX_SKEW_AUTO)
    return (gint64) MIN (max_skew, G_MAXINT64 / 4);
  return self->left_spacing ? self->left_spacing / 2 : GST_STEREO_TIME_NONE;
}

static void
note_skew (GstStereoAggregator *self, const GstStereoQueue *left, const GstStereoQueue *right, gint64 max_skew)
{
  if (left->generation == right->generation && left->count && right->count &&
      left->time[0] != GST_STEREO_TIME_NONE && right->time[0] != GST_STEREO_TIME_NONE) {
    self->drops.skew = right->time[0] - left->time[0];
    self->drops.max_skew = max_skew == GST_STEREO_TIME_NONE ? 0 : max_skew;
  }
}

/* A frame of a view that outlives the other: FALSE when enough of those were read. */
static gboolean
count_surplus (GstStereoAggregator *self, gint64 time)
{
  if (self->surplus++ == 0)
    self->surplus_time = time;
  return self->surplus < SURPLUS_FRAMES && (time == GST_STEREO_TIME_NONE ||
      self->surplus_time == GST_STEREO_TIME_NONE || time - self->surplus_time < SURPLUS_TIME);
}

static GstFlowReturn
end (GstStereoAggregator *self)
{
  report_drops (self, TRUE);
  return GST_FLOW_EOS;
}

/* The head of @pad has no partner; @other is the other view. */
static void
drop_head (GstStereoAggregator *self, GstStereoPad *pad, gboolean right, const GstStereoQueue *own,
    const GstStereoQueue *other)
{
  gboolean alone = other->ended && !other->count;

  drop (self, pad, right);
  if (own->generation < other->generation)
    gst_stereo_pad_fell_behind (pad);
  if (!alone) {
    self->surplus = 0;
    report_drops (self, FALSE);
  } else if (!count_surplus (self, own->time[0])) {
    GST_INFO_OBJECT (self, "%s goes on and the other view ended: taking no more of it", GST_PAD_NAME (pad));
    gst_stereo_pad_close (pad);
  }
}

static void
shift_time (gint64 *time, gint64 by)
{
  if (*time != GST_STEREO_TIME_NONE)
    *time += by;
}

/* The heads of two pads, or the first two frames of one. */
static GstFlowReturn
process_pair (GstStereoAggregator *self, GstStereoPad *first_pad, GstStereoPad *second_pad)
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
  flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process (self, &first, &second);
  gst_buffer_unref (first.buffer);
  gst_buffer_unref (second.buffer);
  return flow;
}

/* One stream's next frame is needed. When one thread feeds both pads it must get past the other one. */
static GstFlowReturn
wait_for_more (const GstStereoQueue *needed, GstStereoPad *other)
{
  if (needed->count)
    gst_stereo_pad_hold (other);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* To the running time of the left view. */
static void
shift (GstStereoQueue *right, gint64 by)
{
  shift_time (&right->time[0], by);
  shift_time (&right->time[1], by);
  shift_time (&right->gap_end, by);
}

static GstFlowReturn
aggregate_two (GstStereoAggregator *self, GstStereoPad *left_pad, GstStereoPad *right_pad)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstStereoQueue left, right;
  gint64 max_skew, unused, left_origin, right_origin;

  while (flow == GST_FLOW_OK) {
    if (!gst_stereo_pad_count (left_pad))
      pull (self, left_pad, &flow);
    if (!gst_stereo_pad_count (right_pad) && flow == GST_FLOW_OK)
      pull (self, right_pad, &flow);
    if (flow != GST_FLOW_OK)
      break;
    gst_stereo_pad_queue (left_pad, &left, &self->left_spacing, &left_origin);
    gst_stereo_pad_queue (right_pad, &right, &unused, &right_origin);
    if (left.generation == right.generation)
      shift (&right, left_origin - right_origin);
    max_skew = resolve_max_skew (self);
    switch (gst_stereo_pairing_decide (&left, &right, max_skew)) {
      case GST_STEREO_PAIRING_PAIR:
        /* back to the base class: events and renegotiation come between two pairs */
        return process_pair (self, left_pad, right_pad);
      case GST_STEREO_PAIRING_DROP_LEFT:
        note_skew (self, &left, &right, max_skew);
        drop_head (self, left_pad, FALSE, &left, &right);
        break;
      case GST_STEREO_PAIRING_DROP_RIGHT:
        note_skew (self, &left, &right, max_skew);
        drop_head (self, right_pad, TRUE, &right, &left);
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
        if (!pull (self, left_pad, &flow) && flow == GST_FLOW_OK)
          return wait_for_more (&left, right_pad);
        break;
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (!pull (self, right_pad, &flow) && flow == GST_FLOW_OK)
          return wait_for_more (&right, left_pad);
        break;
      default:
        return end (self);
    }
  }
  return flow;
}

static GstFlowReturn
process_packed (GstStereoAggregator *self, GstStereoPad *pad)
{
  GstVideoMultiviewFlags flags;
  GstStereoFrame frame;
  GstFlowReturn flow = GST_FLOW_OK;

  if (!gst_stereo_pad_take (pad, &frame))
    return GST_FLOW_OK;
  flags = GST_VIDEO_INFO_MULTIVIEW_FLAGS (&frame.info);
  if ((flags & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO) &&
      !GST_BUFFER_FLAG_IS_SET (frame.buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW)) {
    count_drop (self, FALSE);
    report_drops (self, FALSE);
  } else {
    flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->process (self, &frame, &frame);
  }
  gst_buffer_unref (frame.buffer);
  return flow;
}

static GstFlowReturn
aggregate_packed (GstStereoAggregator *self, GstStereoPad *pad)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstStereoPairing decision;
  GstStereoLayout layout;
  gboolean first[2], marked, ended;
  guint count;

  while (flow == GST_FLOW_OK) {
    if (!gst_stereo_pad_count (pad))
      pull (self, pad, &flow);
    if (flow != GST_FLOW_OK)
      break;
    ended = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));
    count = gst_stereo_pad_bundle (pad, first, &marked, &layout);
    if (count && layout.overruled && !pad->warned) {
      pad->warned = TRUE;
      GST_ELEMENT_WARNING (self, STREAM, FORMAT,
          ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
    }
    if (count && layout.packing != GST_STEREO_PACKING_FRAME_BY_FRAME)
      return process_packed (self, pad);
    decision = gst_stereo_pairing_bundle (count, first, marked, ended);
    if (decision == GST_STEREO_PAIRING_PAIR) {
      return process_pair (self, pad, pad);
    } else if (decision == GST_STEREO_PAIRING_DROP_LEFT) {
      drop (self, pad, marked ? layout.right_first == first[0] : layout.right_first);
      report_drops (self, FALSE);
    } else if (decision == GST_STEREO_PAIRING_END) {
      return end (self);
    } else if (!pull (self, pad, &flow) && flow == GST_FLOW_OK) {
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    }
  }
  return flow;
}

static GstFlowReturn
aggregate (GstStereoAggregator *self)
{
  GstStereoPad *pads[3];
  GstFlowReturn flow;
  guint ended = 0, count = 0;

  if (!gst_stereo_aggregator_check_pads (self) || g_atomic_int_get (&self->failed))
    return settle (self, NULL, 0, GST_FLOW_NOT_NEGOTIATED);
  /* the references keep a pad that is released meanwhile */
  GST_OBJECT_LOCK (self);
  pads[0] = self->packed ? gst_object_ref (self->packed) : NULL;
  pads[1] = self->left ? gst_object_ref (self->left) : NULL;
  pads[2] = self->right ? gst_object_ref (self->right) : NULL;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < 3; i++) {
    count += pads[i] != NULL;
    ended += pads[i] && gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pads[i]));
  }
  if (pads[0])
    flow = aggregate_packed (self, pads[0]);
  else if (pads[1] && pads[2])
    flow = aggregate_two (self, pads[1], pads[2]);
  else if (ended == count)
    flow = GST_FLOW_EOS;
  else {
    /* the other view's pad is not there yet: keep the frames; the watch gives up after a while */
    g_usleep (10000);
    flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  for (guint i = 0; i < 3; i++)
    if (pads[i])
      gst_stereo_pad_settle (pads[i]);
  flow = settle (self, pads, 3, flow);
  for (guint i = 0; i < 3; i++)
    gst_clear_object (&pads[i]);
  return flow;
}

GstFlowReturn
gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstFlowReturn flow;

  gst_stereo_aggregator_set_busy (self, TRUE);
  flow = aggregate (self);
  gst_stereo_aggregator_set_busy (self, FALSE);
  return flow;
}
