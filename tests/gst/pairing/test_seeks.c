/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two sources that support seeking, each with a thread of its own, and random seeks with a flush: to any position,
 * at any rate, backwards too. After each seek every frame that it asks for comes out, in order, from the first one on,
 * paired with the other view of the same moment, at the right stream time.
 *
 *   STEREO_TEST_SEED=N, STEREO_STREAM_ELEMENT=X   as in test_episodes.c
 *   STEREO_STREAM_SEEKS=N                         seeks in a row (default 60)
 */
#include <gst/base/gstpushsrc.h>

#include "tests/support/gst/guard.h"
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/common.h"
#include "tests/support/gst/suite.h"

#define NUMBERED_FRAME (GST_SECOND / 25)
/* Fewer than NUMBERED_CYCLE: every number says which frame it is. */
#define PLAY_FRAMES 150

/* ---- a source of numbered views, 25 a second: it seeks to any position, at any rate, both ways ------------ */

typedef struct
{
  GstPushSrc parent;
  GstVideoFormat format;
  gboolean right;
  gint64 count, next;
  guint slowness;
} NumberedSource;

typedef GstPushSrcClass NumberedSourceClass;

static GType numbered_source_get_type (void);
G_DEFINE_TYPE (NumberedSource, numbered_source, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static GstCaps *
get_caps (GstBaseSrc *base, GstCaps *filter)
{
  const NumberedSource *self = (NumberedSource *) base;

  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (self->format), "width",
      G_TYPE_INT, NUMBERED_WIDTH, "height", G_TYPE_INT, NUMBERED_HEIGHT, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
}

static gboolean
is_seekable (GstBaseSrc *base)
{
  return TRUE;
}

/* The frame that is shown at the segment's start, or, backwards, just before its stop. */
static gboolean
do_seek (GstBaseSrc *base, GstSegment *segment)
{
  NumberedSource *self = (NumberedSource *) base;

  if (segment->rate > 0)
    self->next = (gint64) (segment->start / NUMBERED_FRAME);
  else
    self->next = (gint64) ((segment->stop + NUMBERED_FRAME - 1) / NUMBERED_FRAME) - 1;
  return TRUE;
}

static GstFlowReturn
create (GstPushSrc *base, GstBuffer **buffer)
{
  NumberedSource *self = (NumberedSource *) base;

  if (self->next < 0 || self->next >= self->count)
    return GST_FLOW_EOS;
  /* one is faster than the other, and not always the same one */
  if (self->slowness)
    g_usleep ((gulong) g_random_int_range (0, (gint32) self->slowness));
  *buffer = numbered_view_as (self->format, (guint) self->next, self->right, NUMBERED_WIDTH);
  GST_BUFFER_PTS (*buffer) = (GstClockTime) self->next * NUMBERED_FRAME;
  GST_BUFFER_DURATION (*buffer) = NUMBERED_FRAME;
  self->next += GST_BASE_SRC (self)->segment.rate > 0 ? 1 : -1;
  return GST_FLOW_OK;
}

static void
numbered_source_class_init (NumberedSourceClass *klass)
{
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Numbered views", "Source", "For tests", "tests");
  base_class->get_caps = get_caps;
  base_class->is_seekable = is_seekable;
  base_class->do_seek = do_seek;
  GST_PUSH_SRC_CLASS (klass)->create = create;
}

static void
numbered_source_init (NumberedSource *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

/* @count frames, each made in up to @slowness microseconds. Floating. */
static GstElement *
numbered_source_new (GstVideoFormat format, gboolean right, guint count, guint slowness)
{
  NumberedSource *self = g_object_new (numbered_source_get_type (), NULL);

  self->format = format;
  self->right = right;
  self->count = count;
  self->slowness = slowness;
  return GST_ELEMENT (self);
}

/* ---- seeks ------------------------------------------------------------------------------------------------- */

typedef struct
{
  gdouble rate;
  GstClockTime start, stop;
  GstSeekFlags flags;
  guint32 seqnum;
} Seek;

/* A pipeline, and what came out of it. */
typedef struct
{
  const RigKind *kind;
  GstElement *pipeline, *element, *before[2]; /* what stands before each view */
  gboolean nameless;                          /* the segments do not tell which seek they answer */
  GMutex lock;
  GCond changed;
  GArray *seeks; /* the first one is how it begins */
  guint current; /* the one whose segment is downstream */
  gint64 next;   /* the number that is to come */
  guint64 shown; /* running time of the last output */
  guint outputs; /* since the last segment */
  gboolean eos;
  gchar *failure;
} Play;

static void
complain (Play *play, const gchar *format, ...)
{
  va_list args;

  if (!play->failure) {
    va_start (args, format);
    g_autofree gchar *text = g_strdup_vprintf (format, args);
    va_end (args);
    play->failure = g_strdup_printf (
        "seek %u of %u, output %u: %s", play->current, play->seeks->len - 1, play->outputs, text);
  }
}

static const Seek *
seek_at (const Play *play, guint i)
{
  return &g_array_index (play->seeks, Seek, i);
}

/* The number of the first frame, or of the last one, in the order of the seek. */
static gint64
edge_of (const Seek *seek, gboolean last)
{
  return (seek->rate > 0) != last ? (gint64) (seek->start / NUMBERED_FRAME) :
                                    (gint64) ((seek->stop + NUMBERED_FRAME - 1) / NUMBERED_FRAME) - 1;
}

/* ---- what comes out ---------------------------------------------------------------------- */

/* Which seek it answers; those in between may have been overtaken. */
static void
take_segment (Play *play, GstEvent *event)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  for (guint i = play->current; i < play->seeks->len; i++) {
    const Seek *seek = seek_at (play, i);
    if (i && !play->nameless && seek->seqnum != gst_event_get_seqnum (event))
      continue;
    if (seek->rate != segment->rate || seek->start != segment->start || seek->stop != segment->stop)
      continue;
    if (seek->flags & GST_SEEK_FLAG_FLUSH)
      play->shown = 0;
    play->current = i;
    play->next = edge_of (seek, FALSE);
    play->outputs = 0;
    return;
  }
  complain (play,
      "a segment of rate %g from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT " and the number %u is of no seek",
      segment->rate, GST_TIME_ARGS (segment->start), GST_TIME_ARGS (segment->stop), gst_event_get_seqnum (event));
}

static void
judge (Play *play, GstBuffer *out, const GstSegment *segment)
{
  guint64 time = gst_segment_to_running_time (
      segment, GST_FORMAT_TIME, CLAMP (GST_BUFFER_PTS (out), segment->start, segment->stop));
  guint left, right;

  play->outputs++;
  if (!play->kind->read (play->kind, out, &left, &right)) {
    complain (play, "it cannot be read");
    return;
  }
  if (left != right)
    complain (play, "it is made of the frames %u and %u", left, right);
  else if (left != play->next)
    complain (play, "it is of frame %u, and %" G_GINT64_FORMAT " was to come", left, play->next);
  else if (GST_BUFFER_PTS (out) != left * NUMBERED_FRAME)
    complain (play, "frame %u has the time %" GST_TIME_FORMAT, left, GST_TIME_ARGS (GST_BUFFER_PTS (out)));
  else if (time == GST_CLOCK_TIME_NONE || time < play->shown)
    complain (play, "frame %u is to be shown at %" GST_TIME_FORMAT ", after one at %" GST_TIME_FORMAT, left,
        GST_TIME_ARGS (time), GST_TIME_ARGS (play->shown));
  play->shown = time;
  play->next += segment->rate > 0 ? 1 : -1;
}

static GstPadProbeReturn
watch (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gboolean buffer = (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) != 0;
  GstEventType type = buffer ? GST_EVENT_UNKNOWN : GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info));
  Play *play = data;

  g_mutex_lock (&play->lock);
  if (buffer) {
    g_autoptr (GstEvent) event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
    const GstSegment *segment;
    gst_event_parse_segment (event, &segment);
    judge (play, GST_PAD_PROBE_INFO_BUFFER (info), segment);
  } else if (type == GST_EVENT_SEGMENT) {
    take_segment (play, GST_PAD_PROBE_INFO_EVENT (info));
  } else if (type == GST_EVENT_EOS || type == GST_EVENT_SEGMENT_DONE) {
    play->eos |= play->current + 1 == play->seeks->len;
  }
  g_cond_broadcast (&play->changed);
  g_mutex_unlock (&play->lock);
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Play *play = data;
  GError *error = NULL;

  g_mutex_lock (&play->lock);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    complain (play, "an error: %s", error->message);
    g_clear_error (&error);
  }
  g_cond_broadcast (&play->changed);
  g_mutex_unlock (&play->lock);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* ---- the pipeline ------------------------------------------------------------------------ */

/* With room for so many frames before each view, or none. */
static void
add_view (Play *play, gboolean right, guint room, guint slowness)
{
  GstElement *source = numbered_source_new (play->kind->in, right, PLAY_FRAMES, slowness);
  GstElement *queue = gst_element_factory_make (room ? "queue" : "identity", NULL);

  if (room)
    g_object_set (queue, "max-size-buffers", room, "max-size-time", (guint64) 0, "max-size-bytes", 0, NULL);
  play->before[right] = queue;
  /* as after a seek of GST_SEEK_FLAG_SEGMENT: a stream that had ended before the first seek would not go on after one without a flush */
  g_assert (gst_element_send_event (source,
      gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_SEGMENT, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)));
  gst_bin_add_many (GST_BIN (play->pipeline), source, queue, NULL);
  g_assert (gst_element_link (source, queue) &&
      gst_element_link_pads (queue, "src", play->element, right ? "sink_right" : "sink_left"));
}

static Play *
play_new (const RigKind *kind, const guint room[2], guint slowness)
{
  Play *play = g_new0 (Play, 1);
  GstElement *filter = gst_element_factory_make ("capsfilter", NULL),
             *sink = gst_element_factory_make ("fakesink", NULL);
  GstCaps *caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (kind->out), NULL);
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  Seek beginning = { 1, 0, GST_CLOCK_TIME_NONE, 0, 0 };

  play->kind = kind;
  play->pipeline = gst_pipeline_new (NULL);
  play->element = rig_kind_make (kind);
  play->seeks = g_array_new (FALSE, FALSE, sizeof (Seek));
  g_array_append_val (play->seeks, beginning);
  g_mutex_init (&play->lock);
  g_cond_init (&play->changed);
  g_object_set (sink, "sync", FALSE, NULL);
  g_object_set (filter, "caps", caps, NULL);
  gst_bin_add_many (GST_BIN (play->pipeline), play->element, filter, sink, NULL);
  g_assert (gst_element_link_many (play->element, filter, sink, NULL));
  add_view (play, FALSE, room[0], slowness);
  add_view (play, TRUE, room[1], slowness);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, watch, play, NULL);
  GstBus *bus = gst_element_get_bus (play->pipeline);
  gst_bus_set_sync_handler (bus, take_message, play, NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_caps_unref (caps);
  gst_element_set_state (play->pipeline, GST_STATE_PLAYING);
  g_assert (gst_element_get_state (play->pipeline, NULL, NULL, PATIENCE) == GST_STATE_CHANGE_SUCCESS);
  return play;
}

static void
play_free (Play *play)
{
  gst_element_set_state (play->pipeline, GST_STATE_NULL);
  gst_object_unref (play->pipeline);
  fail_unless (guard_unref_last (play->element), "something still holds the element");
  g_array_unref (play->seeks);
  g_mutex_clear (&play->lock);
  g_cond_clear (&play->changed);
  g_free (play->failure);
  g_free (play);
}

static void
play_seek (Play *play, Seek seek)
{
  GstEvent *event = gst_event_new_seek (seek.rate, GST_FORMAT_TIME, seek.flags, GST_SEEK_TYPE_SET, (gint64) seek.start,
      GST_SEEK_TYPE_SET, (gint64) seek.stop);

  /* a sink that prerolls holds up what a seek without a flush waits for */
  if (!(seek.flags & GST_SEEK_FLAG_FLUSH))
    gst_element_get_state (play->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  seek.seqnum = gst_event_get_seqnum (event);
  g_mutex_lock (&play->lock);
  play->eos = FALSE;
  g_array_append_val (play->seeks, seek);
  g_mutex_unlock (&play->lock);
  fail_unless (gst_element_send_event (play->pipeline, event), "seek %u failed", play->seeks->len - 1);
}

/* Until so many outputs of the last seek came, or its end. */
static void
play_wait (Play *play, guint outputs)
{
  g_mutex_lock (&play->lock);
  while (!play->failure && !play->eos && (play->current + 1 < play->seeks->len || play->outputs < outputs))
    g_cond_wait (&play->changed, &play->lock);
  g_mutex_unlock (&play->lock);
}

/* That all of the last seek came out. */
static void
play_judge_end (Play *play)
{
  const Seek *seek = seek_at (play, play->seeks->len - 1);
  gint64 step = seek->rate > 0 ? 1 : -1;

  g_mutex_lock (&play->lock);
  while (!play->failure && !play->eos)
    g_cond_wait (&play->changed, &play->lock);
  if (play->current + 1 != play->seeks->len)
    complain (play, "the end came before the last seek's segment");
  else if (play->next != edge_of (seek, TRUE) + step)
    complain (play, "the end came before frame %" G_GINT64_FORMAT, play->next);
  g_mutex_unlock (&play->lock);
}

/* ---- by chance --------------------------------------------------------------------------- */

/* Another one than @last: where segments have no number to know them by, the second of two seeks alike would pass for the first. */
static Seek
draw (GRand *rand, gboolean flush, const Seek *last)
{
  static const gdouble rates[] = { 1, 1, 2, 0.5, 4, -1, -2 };
  Seek seek;

  do {
    /* not at the frames' borders alone */
    gint32 start = g_rand_int_range (rand, 0, 4 * (PLAY_FRAMES - 20));
    seek = (Seek){ rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))], (GstClockTime) start * NUMBERED_FRAME / 4,
      0, flush ? GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_ACCURATE, 0 };
    seek.stop = (GstClockTime) g_rand_int_range (rand, start + 20, 4 * PLAY_FRAMES) * NUMBERED_FRAME / 4;
  } while (seek.rate == last->rate && seek.start == last->start && seek.stop == last->stop);
  return seek;
}

/* @name, to be freed, tells how to have the same again. */
static GRand *
begin_seeded (const gchar *what, guint seconds, gchar **name)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());

  *name = g_strdup_printf ("%s, %s, STEREO_TEST_SEED=%u", rig_kind_chosen ()->name, what, seed);
  guard_begin (*name, seconds);
  return g_rand_new_with_seed (seed);
}

/* One millisecond: the pair is the same, and the right view's segments are not its source's any more. Not less than
 * none: gst_segment_offset_running_time() of 1.22 takes a segment that is played backwards for one that is not. */
static void
offset_right (Play *play)
{
  GstPad *pad = gst_element_get_static_pad (play->before[1], "src");

  play->nameless = TRUE;
  gst_pad_set_offset (pad, GST_MSECOND);
  gst_object_unref (pad);
  /* its segment comes again for that, and is to be in before the first seek: it could pass for the answer */
  play_wait (play, play->outputs + 20);
}

static void
seek_at_random (const RigKind *kind, gboolean offset)
{
  guint count = (guint) guard_number ("STEREO_STREAM_SEEKS", 60);
  g_autofree gchar *name = NULL;
  g_autoptr (GRand) rand = begin_seeded ("flushing seeks", 60 + count / 4, &name);
  guint room[2] = { 0 };
  Seek last = { 0 };

  play_free (play_new (kind, (guint[2]){ 1, 0 }, 1));
  guard_count_objects ();
  for (guint view = 0; view < 2; view++)
    room[view] = g_rand_boolean (rand) ? 0 : (guint) g_rand_int_range (rand, 1, 20);
  Play *play = play_new (kind, room, g_rand_boolean (rand) ? 0 : 2000);
  if (offset)
    offset_right (play);
  for (guint i = 0; i < count && !play->failure; i++) {
    Seek seek = draw (rand, TRUE, &last);
    play_wait (play, (guint) g_rand_int_range (rand, 0, 20));
    play_seek (play, seek);
    last = seek;
  }
  play_judge_end (play);
  fail_unless (play->failure == NULL, "%s: %s", name, play->failure);
  play_free (play);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
}

TEST_LOOP (test_flushing_seeks, 0, 2)
{
  seek_at_random (rig_kind_chosen (), __i__);
}

/* One piece after the other without a gap, as for a loop. */
TEST (test_segments_one_after_the_other)
{
  const RigKind *kind = rig_kind_chosen ();
  g_autofree gchar *name = NULL;
  g_autoptr (GRand) rand = begin_seeded ("segments one after the other", 60, &name);
  guint expected = 0;

  Play *play = play_new (kind, (guint[2]){ 5, 0 }, 0);
  for (guint i = 0; i < 10 && !play->failure; i++) {
    Seek seek = draw (rand, i == 0, &(Seek){ 0 });
    seek.flags |= GST_SEEK_FLAG_SEGMENT;
    play_seek (play, seek);
    play_judge_end (play);
    expected = play->outputs;
  }
  fail_unless (play->failure == NULL, "%s: %s", name, play->failure);
  fail_unless (expected > 0);
  play_free (play);
  guard_end ();
}

SUITE (seeks)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
