/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/pairs.h"

#include "gst/pairing/debug.h"

/* When one view ends, the other view's surplus is taken so far, and no farther: that view may never end. */
#define SURPLUS_FRAMES 256
#define SURPLUS_TIME ((gint64) GST_SECOND)

enum
{
  LEFT,
  RIGHT
};

struct _GstStereoPairs
{
  GstElement *element;
  GstStereoDrops *drops;
  GstStereoClock *clock;

  /* protected by the element's object lock */
  GstStereoPacking packing;
  guint64 max_skew;

  /* of the source pad's task */
  gint64 left_spacing; /* of the last left frame, ns */
  guint surplus;       /* frames read after the other view ended */
  gint64 surplus_time; /* of the first of them */
};

/* What is looked for, and what there is. */
typedef struct
{
  /* the properties, read once */
  GstStereoPacking packing;
  guint64 max_skew;
  GstStereoPairingClock clock;

  GstStereoPad *pads[2]; /* left, right */
  GstStereoNext next[2]; /* what they show; all times are those of the left view, by the clock that pairs */
  gint64 limit;          /* of the distance of two frames in ns; GST_STEREO_TIME_NONE = none */
  gboolean dated;        /* the heads, by their capture timestamps */
  GstStereoPair *pair;
} Search;

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

/* ---- frames come in ----------------------------------------------------------------------- */

/* Shows one more frame of @pad; FALSE when there is none. */
static gboolean
show_next (GstStereoPairs *pairs, Search *search, GstStereoPad *pad, GstFlowReturn *flow)
{
  GstStereoFrame *gap = NULL;
  gchar *message = NULL;

  switch (gst_stereo_pad_show_next (pad, search->packing, &gap, &message)) {
    case GST_STEREO_SHOWN_FRAME:
      return TRUE;
    case GST_STEREO_SHOWN_GAP:
      if (gst_stereo_pad_is_right (pad))
        gst_stereo_frame_free (gap);
      else
        g_queue_push_tail (&search->pair->missing, gap);
      return TRUE;
    case GST_STEREO_SHOWN_ERROR:
      GST_ELEMENT_ERROR (pairs->element, CORE, NEGOTIATION, ("%s", message), (NULL));
      g_free (message);
      *flow = GST_FLOW_NOT_NEGOTIATED;
      return FALSE;
    default:
      return FALSE;
  }
}

/* ---- frames without a partner ------------------------------------------------------------- */

static void
drop (GstStereoPairs *pairs, Search *search, GstStereoPad *pad, gboolean right, const gchar *reason)
{
  GstStereoFrame *frame = gst_stereo_pad_take (pad);

  if (!frame)
    return;
  GST_DEBUG_OBJECT (pad, "dropped, %s: frame of %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT, reason,
      GST_STIME_ARGS (frame->time), frame->buffer);
  gst_stereo_drops_count (pairs->drops, right);
  if (right)
    gst_stereo_frame_free (frame);
  else
    g_queue_push_tail (&search->pair->missing, frame);
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
reason_to_drop (const GstStereoStream *own, const GstStereoStream *other, gint64 limit)
{
  gint64 skew;

  if (own->generation < other->generation && own->moves_on)
    return "from before a seek that the other view has behind it";
  if (!other->count)
    return other->ended ? "the other view has ended" : "the other view has a gap there";
  skew = ABS (own->time[0] - other->time[0]);
  return limit != GST_STEREO_TIME_NONE && skew > limit ? "farther than max-skew from the other view's frame" :
                                                         "its next frame is nearer to the other view's frame";
}

/* The two heads were compared, and one of them is dropped. */
static void
note_skew (GstStereoPairs *pairs, const Search *search, GstStereoPad *pad)
{
  const GstStereoStream *left = &search->next[0].stream, *right = &search->next[1].stream;
  gint64 skew = right->time[0] - left->time[0], limit = search->limit == GST_STEREO_TIME_NONE ? 0 : search->limit;

  if (left->generation != right->generation || !left->count || !right->count || left->time[0] == GST_STEREO_TIME_NONE ||
      right->time[0] == GST_STEREO_TIME_NONE)
    return;
  GST_DEBUG_OBJECT (pad, "the next frames are %+.3f ms apart, max-skew is %.3f ms", skew / 1e6, limit / 1e6);
  gst_stereo_drops_set_skew (pairs->drops, skew, limit, search->dated);
}

/* The head of a view has no partner. */
static void
drop_head (GstStereoPairs *pairs, Search *search, guint view)
{
  const GstStereoStream *own = &search->next[view].stream, *other = &search->next[!view].stream;
  GstStereoPad *pad = search->pads[view];

  note_skew (pairs, search, pad);
  gst_stereo_clock_take_head (pairs->clock, view == RIGHT);
  drop (pairs, search, pad, view == RIGHT, reason_to_drop (own, other, search->limit));
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

/* In ns; GST_STEREO_TIME_NONE = any. */
static gint64
limit_of_skew (const GstStereoPairs *pairs, guint64 max_skew)
{
  if (max_skew != GST_STEREO_MAX_SKEW_AUTO)
    return (gint64) MIN (max_skew, G_MAXINT64 / 4);
  return pairs->left_spacing ? pairs->left_spacing / 2 : GST_STEREO_TIME_NONE;
}

/* Reads what the pad of a view shows, one frame at least where there is any. FALSE after an error was posted. */
static gboolean
read_pad (GstStereoPairs *pairs, Search *search, guint view)
{
  GstStereoNext *next = &search->next[view];
  GstFlowReturn flow = GST_FLOW_OK;

  gst_stereo_next_clear (next);
  gst_stereo_pad_describe (search->pads[view], next);
  if (next->stream.count)
    return TRUE;
  show_next (pairs, search, search->pads[view], &flow);
  gst_stereo_pad_describe (search->pads[view], next);
  return flow == GST_FLOW_OK;
}

/* What two pads show, in the times of the left view. */
static gboolean
read_two_pads (GstStereoPairs *pairs, Search *search)
{
  GstStereoNext *left = &search->next[LEFT], *right = &search->next[RIGHT];

  if (!read_pad (pairs, search, LEFT) || !read_pad (pairs, search, RIGHT))
    return FALSE;
  if (left->stream.count)
    pairs->left_spacing = left->spacing;
  if (left->stream.generation == right->stream.generation) {
    shift_time (&right->stream.time[0], left->origin - right->origin);
    shift_time (&right->stream.time[1], left->origin - right->origin);
    shift_time (&right->stream.gap_end, left->origin - right->origin);
  }
  search->dated = gst_stereo_clock_apply (pairs->clock, search->clock, search->next);
  search->limit = limit_of_skew (pairs, search->max_skew);
  return TRUE;
}

/* The heads of two pads, or the first two frames of one, are a pair. Where a flush was faster, there is none yet. */
static GstFlowReturn
take_pair (GstStereoPairs *pairs, Search *search, gboolean right_first)
{
  GstStereoPair *pair = search->pair;
  gboolean one_pad = search->pads[LEFT] == search->pads[RIGHT];
  GstStereoFrame **first = right_first ? &pair->right : &pair->left, **second = right_first ? &pair->left : &pair->right;

  if (!(*first = gst_stereo_pad_take (search->pads[LEFT])) || !(*second = gst_stereo_pad_take (search->pads[RIGHT])))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  if (pair->left->generation == pair->right->generation)
    shift_time (&pair->right->time, pair->left->origin - pair->right->origin);
  if (!one_pad)
    gst_stereo_clock_take_pair (pairs->clock, pair->left, pair->right);
  /* from here on they are a left and a right frame, whichever came first */
  pair->left->layout.right_first = pair->right->layout.right_first = FALSE;
  GST_LOG_OBJECT (pairs->element, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart by %s",
      GST_STIME_ARGS (pair->left->time), GST_STIME_ARGS (pair->right->time),
      gst_stereo_frame_skew (pair->left, pair->right) / 1e6,
      one_pad ? "buffer" : gst_stereo_clock_get_name (pairs->clock));
  return GST_FLOW_OK;
}

/* The next frame of a view is missing. When one thread feeds both pads, it must get past the other pad first. */
static GstFlowReturn
wait_for_frame (const Search *search, guint view)
{
  const GstStereoStream *needed = &search->next[view].stream;
  GstStereoPad *pad = search->pads[view], *other = search->pads[!view];

  if (needed->count) {
    GST_LOG_OBJECT (pad, "waits: the frame after %" GST_STIME_FORMAT " may be nearer to the one of %s",
        GST_STIME_ARGS (needed->time[0]), GST_PAD_NAME (other));
    gst_stereo_pad_make_room (other);
  } else {
    GST_LOG_OBJECT (pad, "waits for a frame");
  }
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
find_in_two (GstStereoPairs *pairs, Search *search)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (read_two_pads (pairs, search)) {
    switch (gst_stereo_pairing_decide (&search->next[LEFT].stream, &search->next[RIGHT].stream, search->limit)) {
      case GST_STEREO_PAIRING_PAIR:
        return take_pair (pairs, search, FALSE);
      case GST_STEREO_PAIRING_DROP_LEFT:
        drop_head (pairs, search, LEFT);
        break;
      case GST_STEREO_PAIRING_DROP_RIGHT:
        drop_head (pairs, search, RIGHT);
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
        if (!show_next (pairs, search, search->pads[LEFT], &flow))
          return flow == GST_FLOW_OK ? wait_for_frame (search, LEFT) : flow;
        break;
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (!show_next (pairs, search, search->pads[RIGHT], &flow))
          return flow == GST_FLOW_OK ? wait_for_frame (search, RIGHT) : flow;
        break;
      default:
        return end (pairs);
    }
  }
  return GST_FLOW_NOT_NEGOTIATED;
}

/* ---- one pad ------------------------------------------------------------------------------ */

/* In a stream of mixed frames, some hold one view only. */
static gboolean
holds_both_views (const GstStereoFrame *frame)
{
  return !(GST_VIDEO_INFO_MULTIVIEW_FLAGS (&frame->info) & GST_VIDEO_MULTIVIEW_FLAGS_MIXED_MONO) ||
      GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW);
}

/* FALSE: the frame holds one view only, and was dropped. */
static gboolean
take_packed (GstStereoPairs *pairs, Search *search)
{
  GstStereoFrame *frame = gst_stereo_pad_take (search->pads[LEFT]);

  if (frame && !holds_both_views (frame)) {
    GST_DEBUG_OBJECT (search->pads[LEFT], "dropped, it holds one view only: %" GST_PTR_FORMAT, frame->buffer);
    gst_stereo_drops_count (pairs->drops, FALSE);
    gst_stereo_drops_report (pairs->drops, FALSE);
    g_queue_push_tail (&search->pair->missing, frame);
    return FALSE;
  }
  if (frame)
    GST_LOG_OBJECT (pairs->element, "both views of %" GST_STIME_FORMAT " in one frame", GST_STIME_ARGS (frame->time));
  search->pair->left = search->pair->right = frame;
  return TRUE;
}

static void
warn_of_packing (GstStereoPairs *pairs, GstStereoPad *pad)
{
  if (gst_stereo_pad_warn_once (pad))
    GST_ELEMENT_WARNING (pairs->element, STREAM, FORMAT,
        ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
}

static gboolean
is_first (GstBuffer *buffer)
{
  return buffer && GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
}

/* Frames that hold both views, or alternate between them. */
static GstFlowReturn
find_in_one (GstStereoPairs *pairs, Search *search)
{
  const GstStereoNext *next = &search->next[LEFT];
  GstStereoPad *pad = search->pads[LEFT];
  GstFlowReturn flow = GST_FLOW_OK;

  while (read_pad (pairs, search, LEFT)) {
    const gboolean first[2] = { is_first (next->buffers[0]), is_first (next->buffers[1]) };
    const gboolean right_first = next->layout.right_first;

    if (next->stream.count && next->layout.overruled)
      warn_of_packing (pairs, pad);
    if (next->stream.count && next->layout.packing != GST_STEREO_PACKING_FRAME_BY_FRAME) {
      if (take_packed (pairs, search))
        return search->pair->left ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
      continue;
    }
    switch (gst_stereo_pairing_bundle (next->stream.count, first, next->marked, next->stream.ended)) {
      case GST_STEREO_PAIRING_PAIR:
        return take_pair (pairs, search, right_first);
      case GST_STEREO_PAIRING_DROP_LEFT:
        drop (pairs, search, pad, next->marked ? right_first == first[0] : right_first,
            "its bundle lacks the other view");
        gst_stereo_drops_report (pairs->drops, FALSE);
        break;
      case GST_STEREO_PAIRING_END:
        return end (pairs);
      default:
        if (!show_next (pairs, search, pad, &flow)) {
          GST_LOG_OBJECT (pad, "waits for a frame");
          return flow == GST_FLOW_OK ? GST_AGGREGATOR_FLOW_NEED_DATA : flow;
        }
    }
  }
  return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_stereo_pairs_find (GstStereoPairs *pairs, const GstStereoInputPads *pads, GstStereoPair *pair)
{
  Search search = { .pads = { pads->packed ? pads->packed : pads->left, pads->packed ? pads->packed : pads->right },
    .clock = gst_stereo_clock_get_choice (pairs->clock),
    .pair = pair };
  GstFlowReturn flow;

  GST_OBJECT_LOCK (pairs->element);
  search.packing = pairs->packing;
  search.max_skew = pairs->max_skew;
  GST_OBJECT_UNLOCK (pairs->element);
  flow = pads->packed ? find_in_one (pairs, &search) : find_in_two (pairs, &search);
  gst_stereo_next_clear (&search.next[LEFT]);
  gst_stereo_next_clear (&search.next[RIGHT]);
  return flow;
}
