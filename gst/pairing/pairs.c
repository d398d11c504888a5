/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/pairs.h"

#include "gst/pairing/debug.h"

#define NONE GST_STEREO_TIME_NONE
/* When one view has ended in a pipeline that is not live, so much of the other view is still taken in, dropped and counted. That
 * view may never end. */
#define SURPLUS_FRAMES 256
#define SURPLUS_TIME ((gint64) GST_SECOND)
/* After a pair, so much of two views that differ in size or format is dropped and counted: their caps may change apart. */
#define MISMATCHED_FRAMES 64
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
#define REGULAR 3 /* so many steps of one frame, and timestamps are believed to show what is missing */

typedef enum
{
  CLOCK_AUTO,
  CLOCK_BUFFER
} Clock;

enum
{
  LEFT,
  RIGHT
};

struct _GstStereoPairs
{
  GstElement *element;

  /* protected by the element's object lock */
  GstStereoPacking packing;
  guint64 max_skew;
  Clock choice;
  guint64 dropped[2];
  const gchar *clock; /* static */

  /* of the source pad's task */
  gint64 left_spacing; /* of the last left frames, ns */
  guint surplus;       /* frames read after the other view ended */
  gint64 surplus_time; /* of the first of them */
  gboolean matched;    /* there was a pair */
  guint mismatched;    /* frames of each view since the last pair that differ in size or format */
  gint64 matched_time; /* of the left frame of that pair */
  gboolean apart;      /* it was said that the capture timestamps are not of one clock */
  gint64 last[2];      /* times of the last bundle's frames */
  guint regular;       /* steps of one frame in a row */
  gboolean broken;     /* the output */

  /* since the last report */
  guint unreported[2];
  gint64 skew, limit; /* of the nearest two frames that were too far apart, ns; 0 = none */
  gboolean dated;     /* by their capture timestamps */
  gchar *mismatch;    /* of two frames that belong together; NULL = none */
  const gchar *never; /* a pad whose stream ended without a frame */
  gint64 rates[2];    /* ns from frame to frame, where the views differ in that; 0 = they do not */
  gboolean said;      /* that they do */
  gint64 forgiven;    /* monotonic µs at which a silent view came back, until the next pair; 0 = none did */
  gint64 reported;    /* monotonic µs; 0 = never */
};

/* One search for a pair: its input, and its result. */
typedef struct
{
  /* the properties, read once */
  GstStereoPacking packing;
  guint64 max_skew;
  Clock choice;

  const GstStereoInputs *inputs;
  GstStereoPad *pads[2];     /* left, right; or one pad twice */
  GstStereoStream stream[2]; /* all times are those of the left view, by the pairing clock */
  gint64 captured[2];        /* times of the heads by their capture timestamps, or NONE */
  const gchar *reference;    /* name of these */
  gint64 limit;              /* of the distance of two frames in ns; NONE = any */
  gboolean failed;           /* an error was posted */
  GstStereoPair *pair;
} Search;

static const GEnumValue clocks[] = {
  { CLOCK_AUTO,
      "Capture timestamps where the frames of both views have them with the same reference caps, else buffer timestamps",
      "auto" },
  { CLOCK_BUFFER, "Buffer timestamps, in any case", "buffer" },
  { 0, NULL, NULL },
};

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
  { .name = "pairing-clock",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoPairs, choice),
      .initial = CLOCK_AUTO,
      .choices = clocks,
      .type = "GstStereoPairingClock",
      .blurb = "Which timestamps pair the frames of sink_left and sink_right, and are compared with max-skew; stats "
               "say which ones do" },
  { .name = NULL },
};

GstStereoPairs *
gst_stereo_pairs_new (GstElement *element)
{
  GstStereoPairs *pairs = g_new0 (GstStereoPairs, 1);

  pairs->element = element;
  return pairs;
}

void
gst_stereo_pairs_free (GstStereoPairs *pairs)
{
  g_free (pairs->mismatch);
  g_free (pairs);
}

static void
publish (GstStereoPairs *pairs, const gchar *clock)
{
  GST_OBJECT_LOCK (pairs->element);
  pairs->clock = clock;
  GST_OBJECT_UNLOCK (pairs->element);
}

void
gst_stereo_pairs_reset (GstStereoPairs *pairs, gboolean start)
{
  pairs->surplus = pairs->mismatched = 0;
  pairs->left_spacing = 0;
  pairs->matched = pairs->apart = FALSE;
  pairs->broken = TRUE;
  pairs->last[0] = pairs->last[1] = NONE;
  pairs->regular = REGULAR;
  publish (pairs, "none");
  if (!start)
    return;
  GST_OBJECT_LOCK (pairs->element);
  pairs->dropped[LEFT] = pairs->dropped[RIGHT] = 0;
  GST_OBJECT_UNLOCK (pairs->element);
  pairs->unreported[LEFT] = pairs->unreported[RIGHT] = 0;
  pairs->skew = pairs->reported = 0;
  pairs->never = NULL;
  pairs->said = FALSE;
  pairs->forgiven = 0;
  g_clear_pointer (&pairs->mismatch, g_free);
}

guint64
gst_stereo_pairs_get_max_skew (GstStereoPairs *pairs)
{
  GST_OBJECT_LOCK (pairs->element);
  guint64 max_skew = pairs->max_skew;
  GST_OBJECT_UNLOCK (pairs->element);
  return max_skew;
}

void
gst_stereo_pairs_get_stats (GstStereoPairs *pairs, guint64 dropped[2], const gchar **clock)
{
  GST_OBJECT_LOCK (pairs->element);
  dropped[LEFT] = pairs->dropped[LEFT];
  dropped[RIGHT] = pairs->dropped[RIGHT];
  *clock = pairs->clock;
  GST_OBJECT_UNLOCK (pairs->element);
}

void
gst_stereo_pairs_break_stream (GstStereoPairs *pairs)
{
  pairs->broken = TRUE;
}

gboolean
gst_stereo_pairs_mend_stream (GstStereoPairs *pairs)
{
  gboolean broken = pairs->broken;

  pairs->broken = FALSE;
  return broken;
}

/* ---- frames without a partner: what is said ------------------------------------------------ */

static gchar *
describe_skew (const GstStereoPairs *pairs)
{
  const gchar *advice = ABS (pairs->skew) > MOST_SKEW ?
      "one camera was away, or its timestamps count from another start. Let its source stamp frames by the "
      "pipeline's clock (do-timestamp=true)" :
      "start the cameras together, or raise max-skew";

  return g_strdup_printf (" The nearest two were %.3f ms apart%s, and max-skew is %.3f ms: %s.",
      ABS (pairs->skew) / 1e6, pairs->dated ? " by their capture timestamps" : "", pairs->limit / 1e6, advice);
}

/* Why, and what to do. */
static gchar *
describe_drops (const GstStereoPairs *pairs)
{
  if (pairs->rates[LEFT])
    return g_strdup_printf (
        " The left camera gives %.3g frames a second, the right one %.3g: set both to one rate. This is not said again.",
        (gdouble) GST_SECOND / (gdouble) pairs->rates[LEFT], (gdouble) GST_SECOND / (gdouble) pairs->rates[RIGHT]);
  if (pairs->never)
    return g_strdup_printf (
        " No frame ever came on %s, and its stream has ended: check the source of that view.", pairs->never);
  return pairs->skew ? describe_skew (pairs) : g_strdup ("");
}

static void
forget_report (GstStereoPairs *pairs)
{
  pairs->unreported[LEFT] = pairs->unreported[RIGHT] = 0;
  pairs->skew = 0;
  g_clear_pointer (&pairs->mismatch, g_free);
}

/* Posts the warning if there are new drops, at most once a second. @now: without this limit. */
static void
report (GstStereoPairs *pairs, gboolean now)
{
  gint64 time = g_get_monotonic_time ();

  /* what waited for a view that was silent */
  if (pairs->forgiven && time - pairs->forgiven < REPORT_INTERVAL)
    forget_report (pairs);
  guint left = pairs->unreported[LEFT], right = pairs->unreported[RIGHT];
  if (!(left || right) || (!now && pairs->reported && time - pairs->reported < REPORT_INTERVAL))
    return;
  if (!(pairs->rates[LEFT] && pairs->said && !pairs->mismatch)) {
    g_autofree gchar *why = describe_drops (pairs);
    GST_ELEMENT_WARNING (pairs->element, STREAM, FAILED,
        ("%u left and %u right frames had no partner and were dropped.%s%s", left, right, why,
            pairs->mismatch ? pairs->mismatch : ""),
        (NULL));
  }
  pairs->said = pairs->rates[LEFT] > 0;
  pairs->reported = time;
  forget_report (pairs);
}

void
gst_stereo_pairs_forgive (GstStereoPairs *pairs)
{
  forget_report (pairs);
  pairs->forgiven = g_get_monotonic_time ();
}

/* ---- frames without a partner: dropping them ----------------------------------------------- */

/* The first frame of @pad. Nothing happens where a flush was faster. */
static void
drop (GstStereoPairs *pairs, Search *search, GstStereoPad *pad, gboolean right, const gchar *reason)
{
  GstStereoFrame *frame = gst_stereo_pad_take (pad);

  if (!frame)
    return;
  GST_DEBUG_OBJECT (pad, "dropped, %s: frame of %" GST_STIME_FORMAT ", %" GST_PTR_FORMAT, reason,
      GST_STIME_ARGS (frame->time), frame->buffer);
  GST_OBJECT_LOCK (pairs->element);
  pairs->dropped[right]++;
  GST_OBJECT_UNLOCK (pairs->element);
  pairs->unreported[right]++;
  pairs->broken = TRUE;
  if (right)
    gst_stereo_frame_unref (frame);
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
      (time == NONE || pairs->surplus_time == NONE || time - pairs->surplus_time < SURPLUS_TIME);
}

/* One of the two heads is dropped. Within the limit, that is because the other one fits a later frame better: no limit is to blame. */
static void
note_skew (GstStereoPairs *pairs, const Search *search)
{
  const GstStereoStream *left = &search->stream[LEFT], *right = &search->stream[RIGHT];
  gint64 skew = right->time[0] - left->time[0], limit = search->limit;

  if (!left->count || !right->count || left->time[0] == NONE || right->time[0] == NONE || limit == NONE ||
      ABS (skew) <= limit || (pairs->skew && ABS (pairs->skew) <= ABS (skew)))
    return;
  pairs->skew = skew;
  pairs->limit = limit;
  pairs->dated = search->captured[LEFT] != NONE;
}

/* Whether one view gives more frames than the other. */
static void
note_rates (GstStereoPairs *pairs, const Search *search)
{
  gint64 interval[2];

  for (guint v = 0; v < 2; v++) {
    interval[v] = search->stream[v].interval;
    if (!interval[v] && search->stream[v].count)
      interval[v] = search->pads[v]->frames[0]->spacing;
    pairs->rates[v] = 0;
  }
  gboolean other = interval[LEFT] && interval[RIGHT] &&
      MAX (interval[LEFT], interval[RIGHT]) / 100.0 * 100 >= MIN (interval[LEFT], interval[RIGHT]) / 100.0 * OTHER_RATE;
  for (guint v = 0; other && v < 2; v++)
    pairs->rates[v] = interval[v];
}

static void
drop_head (GstStereoPairs *pairs, Search *search, guint view)
{
  const GstStereoStream *own = &search->stream[view], *other = &search->stream[!view];
  GstStereoPad *pad = search->pads[view];
  gboolean alone = !other->count && other->ended;
  const gchar *reason = "its next frame is nearer to the other view's frame";

  if (!other->count)
    reason = alone ? "the other view has ended, or is silent" : "the other view has a gap there";
  else if (search->limit != NONE && ABS (own->time[0] - other->time[0]) > search->limit)
    reason = "farther than max-skew from the other view's frame";
  note_skew (pairs, search);
  if (!alone)
    note_rates (pairs, search);
  drop (pairs, search, pad, view == RIGHT, reason);
  if (alone && !search->pads[!view]->began && search->pads[!view]->ended)
    pairs->never = GST_PAD_NAME (search->pads[!view]);
  if (!alone) {
    pairs->surplus = 0;
    report (pairs, FALSE);
  } else if (!search->inputs->live && !count_surplus (pairs, own->time[0])) {
    GST_INFO_OBJECT (
        pairs->element, "%s goes on and the other view has ended: no more of it is taken in", GST_PAD_NAME (pad));
    g_atomic_int_set (&pad->closed, TRUE);
  }
}

/* The next frame of each view, which belong together, and differ in size or format. FALSE after an error was posted. */
static gboolean
drop_mismatch (GstStereoPairs *pairs, Search *search, GstStereoFrame *const frames[2], gboolean right_first)
{
  const GstStereoFrame *left = frames[right_first], *right = frames[!right_first];
  gboolean for_good = !pairs->matched;

  /* so long that it is no change of both views */
  if (pairs->matched && (left->time == NONE || pairs->matched_time == NONE))
    for_good = ++pairs->mismatched > MISMATCHED_FRAMES;
  else if (pairs->matched)
    for_good = ABS (left->time - pairs->matched_time) > MISMATCHED_TIME;
  if (for_good) {
    gst_stereo_post_mismatch (pairs->element, left, right);
    return FALSE;
  }
  g_free (pairs->mismatch);
  pairs->mismatch = gst_stereo_describe_mismatch (left, right);
  for (guint i = 0; i < 2; i++)
    drop (pairs, search, search->pads[i], (gboolean) i != right_first, "the other view has another size or format");
  report (pairs, FALSE);
  return TRUE;
}

static GstFlowReturn
end (GstStereoPairs *pairs)
{
  GST_DEBUG_OBJECT (pairs->element, "no further pair can come: end of stream");
  report (pairs, TRUE);
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

/* The clock that both heads have a stamp of: the first one of the left head. NULL: there is none. */
static const GstCaps *
common_reference (const GstStereoFrame *left, const GstStereoFrame *right)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (left->buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstCaps *reference = ((GstReferenceTimestampMeta *) meta)->reference;
    if (stamp_of (left, reference) != NONE && stamp_of (right, reference) != NONE)
      return reference;
  }
  return NULL;
}

/* Dates both streams by the stamps of their heads, which are @skew apart. The left head keeps its time, which may be none. */
static void
date (Search *search, const GstCaps *reference, gint64 skew)
{
  gint64 base = search->stream[LEFT].time[0] == NONE ? 0 : search->stream[LEFT].time[0];

  for (guint v = 0; v < 2; v++) {
    GstStereoStream *stream = &search->stream[v];
    gint64 stamp = stamp_of (search->pads[v]->frames[0], reference),
           next = stamp_of (search->pads[v]->frames[1], reference), running = stream->time[0],
           head = base + (v == RIGHT ? skew : 0);

    if (next != NONE)
      stream->time[1] = head + CLAMP (next - stamp, -G_MAXINT64 / 4, G_MAXINT64 / 4);
    else if (stream->time[1] != NONE && running != NONE)
      stream->time[1] += head - running;
    else
      stream->time[1] = NONE;
    stream->time[0] = head;
    search->captured[v] = stamp;
  }
  search->reference = g_intern_string (gst_structure_get_name (gst_caps_get_structure (reference, 0)));
}

static void
use_stamps (GstStereoPairs *pairs, Search *search)
{
  const GstStereoFrame *left = search->pads[LEFT]->frames[0], *right = search->pads[RIGHT]->frames[0];

  search->captured[LEFT] = search->captured[RIGHT] = NONE;
  if (search->choice == CLOCK_BUFFER || !left || !right || left->segment.rate < 0 || right->segment.rate < 0)
    return;
  const GstCaps *reference = common_reference (left, right);
  if (!reference)
    return;
  gint64 skew = stamp_of (right, reference) - stamp_of (left, reference);
  if (ABS (skew) <= ONE_CLOCK) {
    date (search, reference, skew);
  } else if (!pairs->apart) {
    pairs->apart = TRUE;
    GST_ELEMENT_WARNING (pairs->element, STREAM, FAILED,
        ("The capture timestamps (%s) of the two views are %.3f s apart: they are not of one clock. Buffer timestamps "
         "pair the views. Set the clocks of both cameras by one source (PTP or NTP), or set pairing-clock=buffer.",
            gst_structure_get_name (gst_caps_get_structure (reference, 0)), (gdouble) skew / GST_SECOND),
        (NULL));
  }
}

/* ---- two pads ----------------------------------------------------------------------------- */

/* Shows one frame at least where there is any, and with @more one more than before. FALSE: nothing came. */
static gboolean
read_pad (GstStereoPairs *pairs, Search *search, guint view, gboolean more)
{
  GstStereoFrame *gap = NULL;
  gchar *error = NULL;
  gboolean came = gst_stereo_pad_read (search->pads[view], search->packing, more, &gap, &error);

  if (gap && view == LEFT)
    g_queue_push_tail (&search->pair->missing, gap);
  else
    gst_stereo_frame_unref (gap);
  if (error && !search->failed)
    GST_ELEMENT_ERROR (pairs->element, CORE, NEGOTIATION, ("%s", error), (NULL));
  search->failed |= error != NULL;
  g_free (error);
  return came;
}

/* What two pads show, in the times of the left view. FALSE after an error was posted. */
static gboolean
read_two_pads (GstStereoPairs *pairs, Search *search)
{
  GstStereoStream *left = &search->stream[LEFT], *right = &search->stream[RIGHT];

  for (guint v = 0; v < 2 && !search->failed; v++) {
    read_pad (pairs, search, v, FALSE);
    search->stream[v] = gst_stereo_pad_describe (search->pads[v]);
    search->stream[v].ended |= search->inputs->silent[v];
  }
  if (search->failed)
    return FALSE;
  /* cameras that give fewer frames than they have announced, as many do in the dark */
  if (left->count)
    pairs->left_spacing = MAX (search->pads[LEFT]->frames[0]->spacing, MIN (left->interval, right->interval));
  use_stamps (pairs, search);
  if (search->max_skew != GST_STEREO_MAX_SKEW_AUTO)
    search->limit = (gint64) MIN (search->max_skew, G_MAXINT64 / 4);
  else
    search->limit = pairs->left_spacing ? pairs->left_spacing / 2 : NONE;
  return TRUE;
}

/* The first frame of each pad, or the first two of one pad, are a pair. Where a flush was faster, there is none yet. */
static GstFlowReturn
take_pair (GstStereoPairs *pairs, Search *search, gboolean right_first)
{
  gboolean one_pad = search->pads[0] == search->pads[1];
  GstStereoFrame *frames[2] = { gst_stereo_pad_take (search->pads[0]), gst_stereo_pad_take (search->pads[1]) };
  GstStereoFrame *left = frames[right_first], *right = frames[!right_first];

  search->pair->left = left;
  search->pair->right = right;
  if (!left || !right) {
    gst_stereo_pair_clear (search->pair);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  pairs->matched = TRUE;
  pairs->forgiven = 0;
  pairs->mismatched = 0;
  pairs->matched_time = left->time;
  if (!one_pad) {
    left->captured = search->captured[LEFT];
    right->captured = search->captured[RIGHT];
    publish (pairs, left->captured == NONE ? "buffer" : search->reference);
  }
  /* they are a left and a right frame from here on, whichever came first */
  left->layout.right_first = right->layout.right_first = FALSE;
  GST_LOG_OBJECT (pairs->element, "paired %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT ", %+.3f ms apart",
      GST_STIME_ARGS (left->time), GST_STIME_ARGS (right->time), gst_stereo_frame_skew (left, right) / 1e6);
  return GST_FLOW_OK;
}

/* The next frame of a view is missing. When one thread feeds both pads, it must get past the other pad first. */
static GstFlowReturn
wait_for_frame (const Search *search, guint view)
{
  if (search->failed)
    return GST_FLOW_NOT_NEGOTIATED;
  GST_LOG_OBJECT (search->pads[view], "waits for a frame");
  if (search->stream[view].count)
    gst_stereo_pad_make_room (search->pads[!view]);
  return GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
find_in_two (GstStereoPairs *pairs, Search *search)
{
  while (read_two_pads (pairs, search)) {
    GstStereoFrame *const heads[2] = { search->pads[LEFT]->frames[0], search->pads[RIGHT]->frames[0] };

    switch (gst_stereo_pairing_decide (&search->stream[LEFT], &search->stream[RIGHT], search->limit)) {
      case GST_STEREO_PAIRING_PAIR:
        if (gst_stereo_frames_fit (heads[LEFT], heads[RIGHT]))
          return take_pair (pairs, search, FALSE);
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
        /* a silent view may come back */
        return gst_stereo_pad_is_over (search->pads[LEFT]) && gst_stereo_pad_is_over (search->pads[RIGHT]) ?
            end (pairs) :
            GST_AGGREGATOR_FLOW_NEED_DATA;
    }
    if (g_atomic_int_get (&search->pads[LEFT]->flushed) || g_atomic_int_get (&search->pads[RIGHT]->flushed))
      return GST_AGGREGATOR_FLOW_NEED_DATA;
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

static gint64
distance (gint64 from, gint64 to)
{
  return from == NONE || to == NONE ? 0 : to - from;
}

/* Frames without marks: whether the head has lost its partner, or is one that has. */
static gboolean
lost_partner (GstStereoPairs *pairs, const GstStereoPad *pad)
{
  const GstStereoFrame *head = pad->frames[0], *next = pad->frames[1];

  if (pad->shown < 2)
    return FALSE;
  gint64 usual = GST_BUFFER_DURATION_IS_VALID (head->buffer) ? head->spacing : head->spacing / 2;
  gint64 before = distance (pairs->last[1], head->time), within = distance (head->time, next->time);
  if (pairs->regular < REGULAR)
    before = within = 0;
  return gst_stereo_pairing_lost (before, within, usual, GST_BUFFER_FLAG_IS_SET (next->buffer, GST_BUFFER_FLAG_DISCONT));
}

/* Timestamps show what is lost where they are regular: those of cameras that send on arrival are not. */
static void
note_bundle (GstStereoPairs *pairs, const GstStereoPad *pad)
{
  const GstStereoFrame *first = pad->frames[0], *second = pad->frames[1];
  gint64 usual = GST_BUFFER_DURATION_IS_VALID (first->buffer) ? first->spacing : first->spacing / 2;
  gint64 steps[2] = { distance (pairs->last[1], first->time), distance (first->time, second->time) };

  for (guint i = pairs->last[1] == NONE ? 1 : 0; i < 2; i++)
    pairs->regular = gst_stereo_pairing_steps (steps[i], usual) ? pairs->regular + 1 : 0;
  pairs->last[0] = first->time;
  pairs->last[1] = second->time;
}

static gboolean
is_first (const GstStereoFrame *frame)
{
  return frame && GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
}

/* Frames that alternate between the views. NEED_DATA without a pair: look again, unless nothing came. */
static GstFlowReturn
find_bundle (GstStereoPairs *pairs, Search *search, gboolean *again)
{
  GstStereoPad *pad = search->pads[LEFT];
  GstStereoFrame *const *frames = pad->frames;
  const gboolean first[2] = { is_first (frames[0]), is_first (frames[1]) };
  const gboolean right_first = frames[0] && frames[0]->layout.right_first, lost = lost_partner (pairs, pad);

  switch (gst_stereo_pairing_bundle (pad->shown, first, pad->marked, lost, pad->ended)) {
    case GST_STEREO_PAIRING_PAIR:
      note_bundle (pairs, pad);
      if (gst_stereo_frames_fit (frames[0], frames[1]))
        return take_pair (pairs, search, right_first);
      if (!drop_mismatch (pairs, search, frames, right_first))
        return GST_FLOW_NOT_NEGOTIATED;
      break;
    case GST_STEREO_PAIRING_DROP_LEFT:
      drop (pairs, search, pad, pad->marked ? right_first == first[0] : right_first, "its bundle lacks the other view");
      report (pairs, FALSE);
      break;
    case GST_STEREO_PAIRING_END:
      return end (pairs);
    default:
      *again = read_pad (pairs, search, LEFT, TRUE);
  }
  return search->failed ? GST_FLOW_NOT_NEGOTIATED : GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* A frame that should hold both views. */
static GstFlowReturn
take_packed (GstStereoPairs *pairs, Search *search)
{
  GstStereoPad *pad = search->pads[LEFT];

  if (!holds_both_views (pad->frames[0])) {
    drop (pairs, search, pad, FALSE, "it holds one view only");
    report (pairs, FALSE);
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  search->pair->left = search->pair->right = gst_stereo_pad_take (pad);
  return search->pair->left ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
}

static GstFlowReturn
find_in_one (GstStereoPairs *pairs, Search *search)
{
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  GstStereoPad *pad = search->pads[LEFT];

  for (gboolean again = TRUE; again && flow == GST_AGGREGATOR_FLOW_NEED_DATA && !g_atomic_int_get (&pad->flushed);) {
    read_pad (pairs, search, LEFT, FALSE);
    const GstStereoLayout *layout = pad->shown ? &pad->frames[0]->layout : NULL;
    if (search->failed)
      return GST_FLOW_NOT_NEGOTIATED;
    if (layout && layout->overruled && !pad->warned) {
      pad->warned = TRUE;
      GST_ELEMENT_WARNING (pairs->element, STREAM, FORMAT,
          ("packing is set, and the caps' multiview-mode says otherwise: the caps win."), (NULL));
    }
    flow = layout && layout->packing != GST_STEREO_PACKING_FRAME_BY_FRAME ? take_packed (pairs, search) :
                                                                            find_bundle (pairs, search, &again);
  }
  return flow;
}

GstFlowReturn
gst_stereo_pairs_find (GstStereoPairs *pairs, const GstStereoInputs *inputs, GstStereoPair *pair)
{
  Search search = { .pads = { inputs->packed ? inputs->packed : inputs->left,
                        inputs->packed ? inputs->packed : inputs->right },
    .inputs = inputs,
    .pair = pair };

  GST_OBJECT_LOCK (pairs->element);
  search.packing = pairs->packing;
  search.max_skew = pairs->max_skew;
  search.choice = pairs->choice;
  GST_OBJECT_UNLOCK (pairs->element);
  return inputs->packed ? find_in_one (pairs, &search) : find_in_two (pairs, &search);
}
