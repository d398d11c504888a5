/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/clock.h"

#include "gst/pairing/debug.h"

#define NONE GST_STEREO_TIME_NONE
/* For so long the last stamps date frames without one. Two clocks are 10 ms apart after that at 1000 ppm, which no
 * crystal has. */
#define HOLD_TIME (10 * GST_SECOND)
/* More than that is a jump of one view's stamps, not jitter of its buffer timestamps. */
#define JUMP ((gint64) GST_SECOND)
/* Two views that are farther apart were not stamped by one clock. */
#define ONE_CLOCK (10 * (gint64) GST_SECOND)
/* Sums with running times do not overflow below that: 219 years. */
#define LAST_STAMP ((guint64) G_MAXINT64 / 4 * 3)

#define LEFT 0
#define RIGHT 1

typedef struct
{
  gint64 run[2];   /* running time of the head and the frame after it, in that of the left view */
  gint64 stamp[2]; /* their stamps, ns of the capture clock */
  gint64 captured; /* when the head was taken, by the clock that pairs */
  gint64 offset;   /* of the capture clock from running time, smoothed, where it is known */
  gint64 last;     /* stamp of the head before */
  gint64 shortest; /* recent time from one stamp to the next, ns; 0 = none seen */
} View;

struct _GstStereoClock
{
  GstElement *element;

  /* protected by the element's object lock */
  GstStereoPairingClock choice;
  const gchar *name; /* static */

  /* of the source pad's task */
  GstCaps *reference; /* of the capture clock in use; NULL: none yet */
  View view[2];
  gboolean trusted; /* the stamps of both heads are used */
  gboolean known;   /* the offsets are */
  gint64 since;     /* running time of the last pair by stamps */
  guint generation; /* of that pair, */
  guint heads;      /* and of the heads */
  gboolean warned;  /* about stamps that are not of one clock */
};

static const GEnumValue choices[] = {
  { GST_STEREO_PAIRING_CLOCK_AUTO,
      "Capture timestamps where the frames of both views have them with the same reference caps, else buffer timestamps",
      "auto" },
  { GST_STEREO_PAIRING_CLOCK_BUFFER, "Buffer timestamps, in any case", "buffer" },
  { 0, NULL, NULL },
};

const GstStereoProperty gst_stereo_clock_properties[] = {
  { .name = "pairing-clock",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoClock, choice),
      .initial = GST_STEREO_PAIRING_CLOCK_AUTO,
      .choices = choices,
      .type = "GstStereoPairingClock",
      .blurb = "Which timestamps pair the frames of sink_left and sink_right, and are compared with max-skew; stats "
               "say which ones do" },
  { .name = NULL },
};

GstStereoClock *
gst_stereo_clock_new (GstElement *element)
{
  GstStereoClock *clock = g_new0 (GstStereoClock, 1);

  clock->element = element;
  gst_stereo_clock_flush (clock);
  return clock;
}

void
gst_stereo_clock_free (GstStereoClock *clock)
{
  gst_clear_caps (&clock->reference);
  g_free (clock);
}

/* Changes the capture clock; NULL: there is none. What was learned about the clock before is forgotten. */
static void
use_reference (GstStereoClock *clock, GstCaps *reference)
{
  gst_caps_replace (&clock->reference, reference);
  clock->known = clock->warned = FALSE;
  for (guint v = 0; v < 2; v++) {
    clock->view[v].last = NONE;
    clock->view[v].shortest = 0;
  }
}

static void
publish (GstStereoClock *clock, const gchar *name)
{
  GST_OBJECT_LOCK (clock->element);
  clock->name = name;
  GST_OBJECT_UNLOCK (clock->element);
}

void
gst_stereo_clock_flush (GstStereoClock *clock)
{
  use_reference (clock, NULL);
  clock->trusted = FALSE;
  clock->view[LEFT].captured = clock->view[RIGHT].captured = NONE;
  publish (clock, "none");
}

/* ---- from any thread --------------------------------------------------------------------- */

GstStereoPairingClock
gst_stereo_clock_get_choice (GstStereoClock *clock)
{
  GstStereoPairingClock choice;

  GST_OBJECT_LOCK (clock->element);
  choice = clock->choice;
  GST_OBJECT_UNLOCK (clock->element);
  return choice;
}

const gchar *
gst_stereo_clock_get_name (GstStereoClock *clock)
{
  const gchar *name;

  GST_OBJECT_LOCK (clock->element);
  name = clock->name;
  GST_OBJECT_UNLOCK (clock->element);
  return name;
}

/* ---- stamps ------------------------------------------------------------------------------- */

/* The stamp with these caps, and no others: caps with further fields may name another clock. */
static gint64
stamp_of (GstBuffer *buffer, const GstCaps *reference)
{
  gpointer state = NULL;
  GstMeta *meta;

  while (buffer && reference &&
      (meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstReferenceTimestampMeta *stamp = (GstReferenceTimestampMeta *) meta;
    if (stamp->timestamp <= LAST_STAMP && gst_caps_is_equal (stamp->reference, reference))
      return (gint64) stamp->timestamp;
  }
  return NONE;
}

/* The clock that both frames have a stamp of: the one in use, else the left frame's first. NULL: there is none. */
static GstCaps *
common_reference (const GstStereoClock *clock, GstBuffer *left, GstBuffer *right)
{
  gpointer state = NULL;
  GstMeta *meta;

  if (stamp_of (left, clock->reference) != NONE && stamp_of (right, clock->reference) != NONE)
    return clock->reference;
  while ((meta = gst_buffer_iterate_meta_filtered (left, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    GstCaps *reference = ((GstReferenceTimestampMeta *) meta)->reference;
    if (stamp_of (left, reference) != NONE && stamp_of (right, reference) != NONE)
      return reference;
  }
  return NULL;
}

static void
read_views (GstStereoClock *clock, GstStereoNext next[2])
{
  const GstStereoFrame *left = next[LEFT].frames[0], *right = next[RIGHT].frames[0];
  GstCaps *reference = left && right ? common_reference (clock, left->buffer, right->buffer) : NULL;

  if (reference && (!clock->reference || !gst_caps_is_equal (reference, clock->reference))) {
    GST_INFO_OBJECT (clock->element, "both views have capture timestamps of %" GST_PTR_FORMAT, reference);
    use_reference (clock, reference);
  }
  for (guint v = 0; v < 2; v++)
    for (guint i = 0; i < 2; i++) {
      clock->view[v].run[i] = next[v].stream.time[i];
      clock->view[v].stamp[i] = next[v].frames[i] ? stamp_of (next[v].frames[i]->buffer, clock->reference) : NONE;
    }
}

/* ---- trust -------------------------------------------------------------------------------- */

/* The time to add to the right view's buffer timestamps, so that the views differ as their capture timestamps do. */
static gint64
lead (const GstStereoClock *clock)
{
  return clock->view[RIGHT].offset - clock->view[LEFT].offset;
}

/* Whether both heads have capture timestamps that can be of one clock. If the clock jumps, one view comes to the jump
 * first, and the timestamps are far apart until the other view follows. */
static gboolean
are_sane (const GstStereoClock *clock)
{
  const View *left = &clock->view[LEFT], *right = &clock->view[RIGHT];

  if (left->stamp[0] == NONE || right->stamp[0] == NONE)
    return FALSE;
  gint64 skew = right->stamp[0] - left->stamp[0];
  if (ABS (skew) <= JUMP || clock->warned)
    return ABS (skew) <= JUMP;
  if (!clock->known || left->run[0] == NONE || right->run[0] == NONE)
    return ABS (skew) <= ONE_CLOCK;
  gint64 change = skew - (right->run[0] - left->run[0]) - lead (clock);
  return ABS (change) <= JUMP;
}

/* Running time of the heads, for the age of the learned differences. */
static gint64
time_of_heads (const GstStereoClock *clock)
{
  return clock->view[LEFT].run[0] != NONE ? clock->view[LEFT].run[0] : clock->view[RIGHT].run[0];
}

static gboolean
is_held (const GstStereoClock *clock)
{
  gint64 now = time_of_heads (clock);

  return clock->known && now != NONE && clock->since != NONE && ABS (now - clock->since) <= (gint64) HOLD_TIME;
}

/* Buffer timestamps pair from here on. */
static void
warn_of_loss (GstStereoClock *clock)
{
  const gchar *name = gst_structure_get_name (gst_caps_get_structure (clock->reference, 0));
  gint64 left = clock->view[LEFT].stamp[0], right = clock->view[RIGHT].stamp[0];

  if (left != NONE && right != NONE)
    GST_ELEMENT_WARNING (clock->element, STREAM, FAILED,
        ("The capture timestamps (%s) of the two views are %.3f s apart: they are not of one clock. Buffer timestamps "
         "pair the views. Set the clocks of both cameras by one source (PTP or NTP), or set pairing-clock=buffer.",
            name, (gdouble) (right - left) / GST_SECOND),
        (NULL));
  else
    GST_ELEMENT_WARNING (clock->element, STREAM, FAILED,
        ("%s no capture timestamps (%s) any more, for %d s: buffer timestamps pair the views, until both have capture "
         "timestamps again. Check that the source still attaches them (GstReferenceTimestampMeta).",
            left == NONE && right == NONE ? "The frames of both views have" :
                left == NONE              ? "The frames of sink_left have" :
                                            "The frames of sink_right have",
            name, (gint) (HOLD_TIME / GST_SECOND)),
        (NULL));
}

/* Both heads are there, and their stamps are not used. */
static void
fall_back (GstStereoClock *clock)
{
  gboolean apart = clock->view[LEFT].stamp[0] != NONE && clock->view[RIGHT].stamp[0] != NONE;

  if (clock->known || (apart && !clock->warned))
    warn_of_loss (clock);
  clock->warned |= apart;
  clock->known = FALSE;
}

/* ---- times -------------------------------------------------------------------------------- */

static gint64
plus (gint64 time, gint64 by)
{
  return time == NONE ? NONE : time + CLAMP (by, -G_MAXINT64 / 4, G_MAXINT64 / 4);
}

/* The times of a view's frames where the heads' stamps are used: @head is the time of the first. */
static void
time_by_stamps (const View *view, GstStereoStream *stream, gint64 head)
{
  stream->time[0] = head;
  if (view->stamp[1] != NONE)
    stream->time[1] = plus (head, view->stamp[1] - view->stamp[0]);
  else if (view->run[0] != NONE)
    stream->time[1] = view->run[1] == NONE ? NONE : plus (head, view->run[1] - view->run[0]);
  if (view->shortest && stream->soonest > view->shortest)
    stream->soonest = view->shortest;
}

static void
use_stamps (GstStereoClock *clock, GstStereoNext next[2])
{
  View *left = &clock->view[LEFT], *right = &clock->view[RIGHT];
  gint64 base = left->run[0] == NONE ? 0 : left->run[0], skew = right->stamp[0] - left->stamp[0];

  time_by_stamps (left, &next[LEFT].stream, base);
  time_by_stamps (right, &next[RIGHT].stream, plus (base, skew));
  left->captured = left->stamp[0];
  right->captured = right->stamp[0];
}

/* Dates the frames by the offsets that the last stamps gave. Without a frame of the right view, only its gap is dated. */
static void
use_offsets (GstStereoClock *clock, GstStereoNext next[2])
{
  GstStereoStream *stream = &next[RIGHT].stream;

  stream->time[0] = plus (stream->time[0], lead (clock));
  stream->time[1] = plus (stream->time[1], lead (clock));
  for (guint v = 0; v < 2; v++)
    clock->view[v].captured = plus (clock->view[v].run[0], clock->view[v].offset);
  if (clock->view[LEFT].captured == NONE || clock->view[RIGHT].captured == NONE)
    clock->view[LEFT].captured = clock->view[RIGHT].captured = NONE;
}

gboolean
gst_stereo_clock_apply (GstStereoClock *clock, GstStereoPairingClock choice, GstStereoNext next[2])
{
  GstStereoStream *left = &next[LEFT].stream, *right = &next[RIGHT].stream;
  gboolean both = left->count && right->count;

  clock->trusted = FALSE;
  clock->view[LEFT].captured = clock->view[RIGHT].captured = NONE;
  if (left->generation != right->generation)
    return FALSE;
  if (!next[LEFT].forwards || !next[RIGHT].forwards || choice == GST_STEREO_PAIRING_CLOCK_BUFFER) {
    use_reference (clock, NULL);
    return FALSE;
  }
  read_views (clock, next);
  if (!clock->reference)
    return FALSE;
  /* sources need not be at one place after a seek */
  clock->known &= clock->generation == left->generation;
  clock->heads = left->generation;
  clock->trusted = both && are_sane (clock);
  /* the gap of the right view is dated by the stamps before it */
  if (clock->known)
    right->gap_end = plus (right->gap_end, lead (clock));
  if (clock->trusted)
    use_stamps (clock, next);
  else if (clock->known && (!both || is_held (clock)))
    use_offsets (clock, next);
  else if (both)
    fall_back (clock);
  return clock->view[LEFT].captured != NONE;
}

/* ---- what became of the heads ------------------------------------------------------------- */

void
gst_stereo_clock_take_head (GstStereoClock *clock, gboolean right)
{
  View *view = &clock->view[!!right];

  if (!clock->trusted)
    return;
  if (view->last != NONE)
    view->shortest = gst_stereo_pairing_shortest (view->shortest, view->stamp[0] - view->last);
  view->last = view->stamp[0];
}

/* Buffer timestamps jitter with the time that a frame is under way, so the offset is a mean over some frames. */
static void
learn_offset (View *view, gboolean known)
{
  if (view->run[0] == NONE)
    return;
  gint64 change = view->stamp[0] - view->run[0] - view->offset;
  view->offset += known && ABS (change) <= JUMP ? change / 8 : change;
}

static void
learn_offsets (GstStereoClock *clock)
{
  gboolean timed = clock->view[LEFT].run[0] != NONE && clock->view[RIGHT].run[0] != NONE;

  learn_offset (&clock->view[LEFT], clock->known);
  learn_offset (&clock->view[RIGHT], clock->known);
  clock->known = timed;
  clock->warned = FALSE;
  clock->since = time_of_heads (clock);
  clock->generation = clock->heads;
}

void
gst_stereo_clock_take_pair (GstStereoClock *clock, GstStereoFrame *left, GstStereoFrame *right)
{
  gboolean dated = clock->view[LEFT].captured != NONE;

  left->captured = clock->view[LEFT].captured;
  right->captured = clock->view[RIGHT].captured;
  publish (clock, dated ? gst_structure_get_name (gst_caps_get_structure (clock->reference, 0)) : "buffer");
  if (clock->trusted)
    learn_offsets (clock);
  gst_stereo_clock_take_head (clock, FALSE);
  gst_stereo_clock_take_head (clock, TRUE);
}
