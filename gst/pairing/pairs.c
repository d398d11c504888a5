/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/pairs.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/arrival.h"

/* When one view has ended, so much of the other view is still taken in, dropped and counted. That view may never end. */
#define SURPLUS_FRAMES 256
#define SURPLUS_TIME ((gint64) GST_SECOND)

/* After a pair, so much of two views that differ in size or format is dropped and counted: their caps may change apart. */
#define MISMATCHED_FRAMES 64
#define MISMATCHED_TIME ((gint64) (2 * GST_SECOND))

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
  gint64 left_spacing; /* of the last left frames, ns */
  guint surplus;       /* frames read after the other view ended */
  gint64 surplus_time; /* of the first of them */
  gboolean matched;    /* there was a pair */
  guint mismatched;    /* frames of each view since the last pair that differ in size or format */
  gint64 matched_time; /* of the left frame of that pair */
  GstStereoArrival arrival;
};

/* One search for a pair: its input, the frames that the pads show, and its result. */
typedef struct
{
  /* the properties, read once */
  GstStereoPacking packing;
  guint64 max_skew;
  GstStereoPairingClock clock;

  GstStereoPad *pads[2]; /* left, right */
  GstStereoNext next[2]; /* the shown frames; all times are those of the left view, by the pairing clock */
  gint64 limit;          /* of the distance of two frames in ns; GST_STEREO_TIME_NONE = none */
  gboolean dated;        /* the heads, by their capture timestamps */
  gboolean failed;       /* an error was posted */
  GstStereoPair *pair;
} Search;

const GstStereoProperty gst_stereo_pairs_properties[] = {
  { .name = "packing",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoPairs, packing),
      .initial = GST_STEREO_PACKING_AUTO,
      .choices = gst_stereo_packings,
      .type = "GstStereoPacking",
      .blurb = "How two views lie in a frame on sink whose caps do not say it; a multiview-mode in the caps wins "
               "(multiview-mode=mono counts as not saying it; multiview-flags hold in either case)" },
  { .name = "max-skew",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoPairs, max_skew),
      .initial = (gdouble) GST_STEREO_MAX_SKEW_AUTO,
      .blurb = "Nanoseconds that the two frames of a pair may be apart; frames without a partner within that time are "
               "dropped, counted and reported; the default, 18446744073709551615, is half the left frame's duration, or "
               "half the time between the last frames where both views give fewer (no limit where neither is known)" },
  { .name = NULL },
};

GstStereoPairs *
gst_stereo_pairs_new (GstElement *element, GstStereoDrops *drops, GstStereoClock *clock)
{
  GstStereoPairs *pairs = g_new0 (GstStereoPairs, 1);

  pairs->element = element;
  pairs->drops = drops;
  pairs->clock = clock;
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
  pairs->surplus = pairs->mismatched = 0;
  pairs->left_spacing = 0;
  pairs->matched = FALSE;
  pairs->arrival = (GstStereoArrival){ 0 };
  gst_stereo_clock_flush (pairs->clock);
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

/* Reads what the pad of a view shows: one frame at least where there is any, and with @more one more than before. FALSE:
 * nothing came. */
static gboolean
read_pad (GstStereoPairs *pairs, Search *search, guint view, gboolean more)
{
  GstStereoNext *next = &search->next[view];
  gboolean came = gst_stereo_pad_read (search->pads[view], search->packing, more, next);

  if (next->gap && view == LEFT)
    g_queue_push_tail (&search->pair->missing, g_steal_pointer (&next->gap));
  if (next->error && !search->failed)
    GST_ELEMENT_ERROR (pairs->element, CORE, NEGOTIATION, ("%s", next->error), (NULL));
  search->failed |= next->error != NULL;
  return came;
}

/* ---- frames without a partner ------------------------------------------------------------- */

/* @frame is the first one of @pad. Nothing happens where a flush was faster. */
static void
drop (GstStereoPairs *pairs, Search *search, GstStereoPad *pad, GstStereoFrame *frame, gboolean right,
    const gchar *reason)
{
  if (!gst_stereo_pad_remove (pad, frame))
    return;
  GST_DEBUG_OBJECT (pad, "dropped, %s: frame of %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT, reason,
      GST_STIME_ARGS (frame->time), frame->buffer);
  gst_stereo_drops_count (pairs->drops, right);
  if (!right)
    g_queue_push_tail (&search->pair->missing, gst_stereo_frame_ref (frame));
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
  if (own->generation < other->generation && own->moves_on)
    return "from before a seek that the other view has behind it";
  if (!other->count)
    return other->ended ? "the other view has ended" : "the other view has a gap there";
  gint64 skew = ABS (own->time[0] - other->time[0]);
  return limit != GST_STEREO_TIME_NONE && skew > limit ? "farther than max-skew from the other view's frame" :
                                                         "its next frame is nearer to the other view's frame";
}

/* One of the two heads is dropped. Within the limit, that is because the other one fits a later frame better: no limit is to blame. */
static void
note_skew (GstStereoPairs *pairs, const Search *search, GstStereoPad *pad)
{
  const GstStereoStream *left = &search->next[0].stream, *right = &search->next[1].stream;
  gint64 skew = right->time[0] - left->time[0], limit = search->limit;

  if (left->generation != right->generation || !left->count || !right->count || left->time[0] == GST_STEREO_TIME_NONE ||
      right->time[0] == GST_STEREO_TIME_NONE || limit == GST_STEREO_TIME_NONE || ABS (skew) <= limit)
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
  drop (pairs, search, pad, search->next[view].frames[0], view == RIGHT, reason_to_drop (own, other, search->limit));
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

/* What two pads show, in the times of the left view. FALSE after an error was posted. */
static gboolean
read_two_pads (GstStereoPairs *pairs, Search *search)
{
  GstStereoNext *left = &search->next[LEFT], *right = &search->next[RIGHT];

  read_pad (pairs, search, LEFT, FALSE);
  if (!search->failed)
    read_pad (pairs, search, RIGHT, FALSE);
  if (search->failed)
    return FALSE;
  /* cameras that give fewer frames than they have announced, as many do in the dark */
  if (left->stream.count)
    pairs->left_spacing = MAX (left->frames[0]->spacing, MIN (left->stream.interval, right->stream.interval));
  if (left->stream.generation == right->stream.generation) {
    shift_time (&right->stream.time[0], left->origin - right->origin);
    shift_time (&right->stream.time[1], left->origin - right->origin);
    shift_time (&right->stream.gap_end, left->origin - right->origin);
  }
  search->dated = gst_stereo_clock_apply (pairs->clock, search->clock, search->next);
  search->limit = limit_of_skew (pairs, search->max_skew);
  return TRUE;
}

/* Whether two frames that belong together differ for so long, or from the start, that it is no change of both views. */
static gboolean
differ_for_good (GstStereoPairs *pairs, gint64 time)
{
  if (!pairs->matched)
    return TRUE;
  if (time == GST_STEREO_TIME_NONE || pairs->matched_time == GST_STEREO_TIME_NONE)
    return ++pairs->mismatched > MISMATCHED_FRAMES;
  return ABS (time - pairs->matched_time) > MISMATCHED_TIME;
}

/* The next frame of each view, which belong together, and differ in size or format. FALSE after an error was posted. */
static gboolean
drop_mismatch (GstStereoPairs *pairs, Search *search, GstStereoFrame *const frames[2], gboolean right_first)
{
  const GstStereoFrame *left = frames[right_first], *right = frames[!right_first];

  if (differ_for_good (pairs, left->time)) {
    gst_stereo_post_mismatch (pairs->element, left, right);
    return FALSE;
  }
  gst_stereo_drops_set_mismatch (pairs->drops, gst_stereo_describe_mismatch (left, right));
  for (guint i = 0; i < 2; i++) {
    if (search->pads[0] != search->pads[1])
      gst_stereo_clock_take_head (pairs->clock, i == RIGHT);
    drop (pairs, search, search->pads[i], frames[i], (gboolean) i != right_first,
        "the other view has another size or format");
  }
  gst_stereo_drops_report (pairs->drops, FALSE);
  return TRUE;
}

/* The first frame of each pad, or the first two of one pad, are a pair. Where a flush was faster, there is none yet. */
static GstFlowReturn
take_pair (GstStereoPairs *pairs, Search *search, GstStereoFrame *const frames[2], gboolean right_first)
{
  GstStereoFrame *left = frames[right_first], *right = frames[!right_first];
  gboolean one_pad = search->pads[0] == search->pads[1];

  if (!gst_stereo_pad_remove (search->pads[0], frames[0]) || !gst_stereo_pad_remove (search->pads[1], frames[1]))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  pairs->matched = TRUE;
  pairs->mismatched = 0;
  pairs->matched_time = left->time;
  search->pair->left = gst_stereo_frame_ref (left);
  search->pair->right = gst_stereo_frame_ref (right);
  if (left->generation == right->generation)
    shift_time (&right->time, left->origin - right->origin);
  if (!one_pad) {
    gst_stereo_clock_take_pair (pairs->clock, left, right);
    gst_stereo_arrival_check (&pairs->arrival, pairs->element, search->pads);
  }
  /* they are a left and a right frame from here on, whichever came first */
  left->layout.right_first = right->layout.right_first = FALSE;
  GST_LOG_OBJECT (pairs->element, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart by %s",
      GST_STIME_ARGS (left->time), GST_STIME_ARGS (right->time), gst_stereo_frame_skew (left, right) / 1e6,
      one_pad ? "buffer" : gst_stereo_clock_get_name (pairs->clock));
  return GST_FLOW_OK;
}

/* The next frame of a view is missing. When one thread feeds both pads, it must get past the other pad first. */
static GstFlowReturn
wait_for_frame (const Search *search, guint view)
{
  const GstStereoStream *needed = &search->next[view].stream;
  GstStereoPad *pad = search->pads[view], *other = search->pads[!view];

  if (search->failed)
    return GST_FLOW_NOT_NEGOTIATED;
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
  while (read_two_pads (pairs, search)) {
    GstStereoFrame *const heads[2] = { search->next[LEFT].frames[0], search->next[RIGHT].frames[0] };

    switch (gst_stereo_pairing_decide (&search->next[LEFT].stream, &search->next[RIGHT].stream, search->limit)) {
      case GST_STEREO_PAIRING_PAIR:
        if (gst_stereo_frames_fit (heads[LEFT], heads[RIGHT]))
          return take_pair (pairs, search, heads, FALSE);
        if (!drop_mismatch (pairs, search, heads, FALSE))
          return GST_FLOW_NOT_NEGOTIATED;
        break;
      case GST_STEREO_PAIRING_DROP_LEFT:
        drop_head (pairs, search, LEFT);
        break;
      case GST_STEREO_PAIRING_DROP_RIGHT:
        drop_head (pairs, search, RIGHT);
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
        if (!read_pad (pairs, search, LEFT, TRUE))
          return wait_for_frame (search, LEFT);
        break;
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (!read_pad (pairs, search, RIGHT, TRUE))
          return wait_for_frame (search, RIGHT);
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

/* A frame that should hold both views. TRUE: the search is over. */
static gboolean
take_packed (GstStereoPairs *pairs, Search *search, GstStereoFrame *frame)
{
  if (!holds_both_views (frame)) {
    drop (pairs, search, search->pads[LEFT], frame, FALSE, "it holds one view only");
    gst_stereo_drops_report (pairs->drops, FALSE);
    return FALSE;
  }
  if (gst_stereo_pad_remove (search->pads[LEFT], frame)) {
    GST_LOG_OBJECT (pairs->element, "both views of %" GST_STIME_FORMAT " in one frame", GST_STIME_ARGS (frame->time));
    search->pair->left = search->pair->right = gst_stereo_frame_ref (frame);
  }
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
is_first (const GstStereoFrame *frame)
{
  return frame && GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
}

/* Frames that hold both views, or alternate between them. */
static GstFlowReturn
find_in_one (GstStereoPairs *pairs, Search *search)
{
  const GstStereoNext *next = &search->next[LEFT];
  GstStereoPad *pad = search->pads[LEFT];

  for (read_pad (pairs, search, LEFT, FALSE); !search->failed; read_pad (pairs, search, LEFT, FALSE)) {
    GstStereoFrame *const *frames = next->frames;
    const gboolean first[2] = { is_first (frames[0]), is_first (frames[1]) };
    const gboolean right_first = frames[0] && frames[0]->layout.right_first;

    if (frames[0] && frames[0]->layout.overruled)
      warn_of_packing (pairs, pad);
    if (frames[0] && frames[0]->layout.packing != GST_STEREO_PACKING_FRAME_BY_FRAME) {
      if (take_packed (pairs, search, frames[0]))
        return search->pair->left ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
      continue;
    }
    switch (gst_stereo_pairing_bundle (next->stream.count, first, next->marked, next->stream.ended)) {
      case GST_STEREO_PAIRING_PAIR:
        if (gst_stereo_frames_fit (frames[0], frames[1]))
          return take_pair (pairs, search, frames, right_first);
        if (!drop_mismatch (pairs, search, frames, right_first))
          return GST_FLOW_NOT_NEGOTIATED;
        break;
      case GST_STEREO_PAIRING_DROP_LEFT:
        drop (pairs, search, pad, frames[0], next->marked ? right_first == first[0] : right_first,
            "its bundle lacks the other view");
        gst_stereo_drops_report (pairs->drops, FALSE);
        break;
      case GST_STEREO_PAIRING_END:
        return end (pairs);
      default:
        if (!read_pad (pairs, search, LEFT, TRUE) && !search->failed) {
          GST_LOG_OBJECT (pad, "waits for a frame");
          return GST_AGGREGATOR_FLOW_NEED_DATA;
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

  GST_OBJECT_LOCK (pairs->element);
  search.packing = pairs->packing;
  search.max_skew = pairs->max_skew;
  GST_OBJECT_UNLOCK (pairs->element);
  GstFlowReturn flow = pads->packed ? find_in_one (pairs, &search) : find_in_two (pairs, &search);
  gst_stereo_next_clear (&search.next[LEFT]);
  gst_stereo_next_clear (&search.next[RIGHT]);
  return flow;
}
