/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two sources that can be sought in, each with a thread of its own, and seeks by chance: flushing or not, to anywhere, at
 * any rate, backwards too. After every one of them, every frame that it asks for comes out, in order, from the first one
 * on, paired with the other view of itself, and where it belongs in stream time.
 *
 *   STEREO_TEST_SEED=N, STEREO_STREAM_ELEMENT=X   as in test_episodes.c
 *   STEREO_STREAM_SEEKS=N                         how many in a row (default 60)
 */
#include "guard.h"
#include "numbered.h"
#include "numbered_source.h"
#include "stream_rig.h"

/* Fewer than NUMBERED_CYCLE: every number says which frame it is. */
#define FRAMES 150

typedef struct {
  gdouble rate;
  GstClockTime start, stop;
  GstSeekFlags flags;
  guint32 seqnum;
} Seek;

/* A pipeline, and what came out of it. */
typedef struct {
  const RigKind *kind;
  GstElement *pipeline, *element, *before[2]; /* what stands before each view */
  gboolean nameless;                          /* the segments do not tell which seek they answer */
  gboolean apart;                             /* the views do not belong together: nothing is judged */
  GMutex lock;
  GCond changed;
  GArray *seeks;      /* the first one is how it begins */
  guint current;      /* the one whose segment is downstream */
  gint64 next;        /* the number that is to come */
  guint64 shown;      /* running time of the last output */
  guint outputs;      /* since the last segment */
  gboolean eos;
  gchar *failure;
} Play;

static void
complain (Play *play, const gchar *format, ...)
{
  va_list args;

  if (!play->failure) {
    gchar *text;
    va_start (args, format);
    text = g_strdup_vprintf (format, args);
    va_end (args);
    play->failure = g_strdup_printf ("seek %u of %u, output %u: %s", play->current, play->seeks->len - 1, play->outputs,
        text);
    g_free (text);
  }
}

static const Seek *
seek_at (const Play *play, guint i)
{
  return &g_array_index (play->seeks, Seek, i);
}

static gint64
first_of (const Seek *seek)
{
  return seek->rate > 0 ? (gint64) (seek->start / NUMBERED_FRAME) :
                          (gint64) ((seek->stop + NUMBERED_FRAME - 1) / NUMBERED_FRAME) - 1;
}

static gint64
last_of (const Seek *seek)
{
  return seek->rate < 0 ? (gint64) (seek->start / NUMBERED_FRAME) :
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
    play->next = first_of (seek);
    play->outputs = 0;
    return;
  }
  complain (play, "a segment of rate %g from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT " and the number %u is of no seek",
      segment->rate, GST_TIME_ARGS (segment->start), GST_TIME_ARGS (segment->stop), gst_event_get_seqnum (event));
}

static void
judge (Play *play, GstBuffer *out, const GstSegment *segment)
{
  guint64 time = gst_segment_to_running_time (segment, GST_FORMAT_TIME,
      CLAMP (GST_BUFFER_PTS (out), segment->start, segment->stop));
  guint left, right;

  play->outputs++;
  if (play->apart)
    return;
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

/* A stream, or what a seek of GST_SEEK_FLAG_SEGMENT asked for. */
static gboolean
ends (const GstEvent *event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_EOS || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT_DONE;
}

static GstPadProbeReturn
watch (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *play = data;

  g_mutex_lock (&play->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
    const GstSegment *segment;
    gst_event_parse_segment (event, &segment);
    judge (play, GST_PAD_PROBE_INFO_BUFFER (info), segment);
    gst_event_unref (event);
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_SEGMENT) {
    take_segment (play, GST_PAD_PROBE_INFO_EVENT (info));
  } else if (ends (GST_PAD_PROBE_INFO_EVENT (info))) {
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
  GstElement *source = numbered_source_new (play->kind->in, right, play->apart ? 100 * FRAMES : FRAMES, slowness);
  GstElement *queue = gst_element_factory_make (room ? "queue" : "identity", NULL);

  if (room)
    g_object_set (queue, "max-size-buffers", room, "max-size-time", (guint64) 0, "max-size-bytes", 0, NULL);
  play->before[right] = queue;
  if (right && play->apart)
    numbered_source_refuse_seeks (source);
  gst_bin_add_many (GST_BIN (play->pipeline), source, queue, NULL);
  g_assert (gst_element_link (source, queue) &&
            gst_element_link_pads (queue, "src", play->element, right ? "sink_right" : "sink_left"));
}

static Play *
play_new_of (const RigKind *kind, const guint room[2], guint slowness, gboolean apart)
{
  Play *play = g_new0 (Play, 1);
  GstElement *filter = gst_element_factory_make ("capsfilter", NULL), *sink = gst_element_factory_make ("fakesink", NULL);
  GstCaps *caps =
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (kind->out), NULL);
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  Seek beginning = { 1, 0, GST_CLOCK_TIME_NONE, 0, 0 };
  GstBus *bus;

  play->kind = kind;
  play->apart = apart;
  play->pipeline = gst_pipeline_new (NULL);
  play->element = rig_kind_make (kind);
  play->seeks = g_array_new (FALSE, FALSE, sizeof (Seek));
  g_array_append_val (play->seeks, beginning);
  g_mutex_init (&play->lock);
  g_cond_init (&play->changed);
  g_object_set (sink, "sync", FALSE, NULL);
  g_object_set (filter, "caps", caps, NULL);
  gst_bin_add_many (GST_BIN (play->pipeline), gst_object_ref (play->element), filter, sink, NULL);
  g_assert (gst_element_link_many (play->element, filter, sink, NULL));
  add_view (play, FALSE, room[0], slowness);
  add_view (play, TRUE, room[1], slowness);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, watch, play, NULL);
  bus = gst_element_get_bus (play->pipeline);
  gst_bus_set_sync_handler (bus, take_message, play, NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_caps_unref (caps);
  gst_element_set_state (play->pipeline, GST_STATE_PLAYING);
  g_assert (gst_element_get_state (play->pipeline, NULL, NULL, 20 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS);
  return play;
}

static Play *
play_new (const RigKind *kind, const guint room[2], guint slowness)
{
  return play_new_of (kind, room, slowness, FALSE);
}

static void
play_free (Play *play)
{
  gst_element_set_state (play->pipeline, GST_STATE_NULL);
  gst_object_unref (play->element);
  gst_object_unref (play->pipeline);
  g_array_unref (play->seeks);
  g_mutex_clear (&play->lock);
  g_cond_clear (&play->changed);
  g_free (play->failure);
  g_free (play);
}

static void
warm_up (const RigKind *kind)
{
  Play *play = play_new (kind, (guint[2]){ 1, 0 }, 1);

  play_free (play);
}

static void
send (Play *play, Seek seek)
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
wait_for (Play *play, guint outputs)
{
  g_mutex_lock (&play->lock);
  while (!play->failure && !play->eos && (play->current + 1 < play->seeks->len || play->outputs < outputs))
    g_cond_wait (&play->changed, &play->lock);
  g_mutex_unlock (&play->lock);
}

/* That all of the last seek came out. */
static void
judge_end (Play *play)
{
  const Seek *seek = seek_at (play, play->seeks->len - 1);
  gint64 step = seek->rate > 0 ? 1 : -1;

  g_mutex_lock (&play->lock);
  while (!play->failure && !play->eos)
    g_cond_wait (&play->changed, &play->lock);
  if (play->current + 1 != play->seeks->len)
    complain (play, "the end came before the last seek's segment");
  else if (play->next != last_of (seek) + step)
    complain (play, "the end came before frame %" G_GINT64_FORMAT, play->next);
  g_mutex_unlock (&play->lock);
}

/* ---- by chance --------------------------------------------------------------------------- */

static Seek
draw (GRand *rand, gboolean flush)
{
  static const gdouble rates[] = { 1, 1, 2, 0.5, 4, -1, -2 };
  /* not at the frames' borders alone */
  gint32 start = g_rand_int_range (rand, 0, 4 * (FRAMES - 20));
  Seek seek = { rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))], (GstClockTime) start * NUMBERED_FRAME / 4, 0,
    flush ? GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_ACCURATE, 0 };

  seek.stop = (GstClockTime) g_rand_int_range (rand, start + 20, 4 * FRAMES) * NUMBERED_FRAME / 4;
  return seek;
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
  wait_for (play, play->outputs + 20);
}

/* @flush: of 10 seeks so many. */
static void
seek_at_random (const RigKind *kind, gint32 flush, gboolean offset)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());
  guint count = (guint) guard_number ("STEREO_STREAM_SEEKS", 60);
  GRand *rand = g_rand_new_with_seed (seed);
  gchar *name = g_strdup_printf ("%d of 10 seeks flush, STEREO_TEST_SEED=%u", flush, seed), *leaked;
  guint room[2] = { 0 };
  Play *play;

  warm_up (kind);
  guard_begin (name, 60 + count / 10);
  guard_count_objects ();
  for (guint view = 0; view < 2; view++)
    room[view] = g_rand_boolean (rand) ? 0 : (guint) g_rand_int_range (rand, 1, 20);
  play = play_new (kind, room, g_rand_boolean (rand) ? 0 : 2000);
  if (offset)
    offset_right (play);
  for (guint i = 0; i < count && !play->failure; i++) {
    Seek seek = draw (rand, g_rand_int_range (rand, 0, 10) < flush);
    /* nothing goes on after the end of a stream but by a flush */
    if (flush < 10)
      seek.flags |= GST_SEEK_FLAG_SEGMENT;
    wait_for (play, (guint) g_rand_int_range (rand, 0, 20));
    send (play, seek);
  }
  judge_end (play);
  fail_unless (play->failure == NULL, "%s, %s: %s", kind->name, name, play->failure);
  play_free (play);
  leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
  g_free (name);
  g_rand_free (rand);
}

GST_START_TEST (test_flushing_seeks)
{
  seek_at_random (rig_kind_chosen (), 10, __i__);
}
GST_END_TEST;

GST_START_TEST (test_seeks_without_a_flush)
{
  seek_at_random (rig_kind_chosen (), 0, __i__);
}
GST_END_TEST;

GST_START_TEST (test_any_seeks)
{
  seek_at_random (rig_kind_chosen (), 5, __i__);
}
GST_END_TEST;

/* One piece after the other without a gap, as for a loop. */
GST_START_TEST (test_segments_one_after_the_other)
{
  const RigKind *kind = rig_kind_chosen ();
  GRand *rand = g_rand_new_with_seed ((guint) guard_number ("STEREO_TEST_SEED", g_random_int ()));
  guint expected = 0;
  Play *play;

  guard_begin ("segments one after the other", 60);
  play = play_new (kind, (guint[2]){ 5, 0 }, 0);
  for (guint i = 0; i < 10 && !play->failure; i++) {
    Seek seek = draw (rand, i == 0);
    seek.flags |= GST_SEEK_FLAG_SEGMENT;
    send (play, seek);
    judge_end (play);
    expected = play->outputs;
  }
  fail_unless (play->failure == NULL, "%s: %s", kind->name, play->failure);
  fail_unless (expected > 0);
  play_free (play);
  guard_end ();
  g_rand_free (rand);
}
GST_END_TEST;

/* The left view is a file, the right one a camera, and its frames are soon taken as they are again. */
GST_START_TEST (test_a_source_that_cannot_be_sought_in)
{
  Seek seek = { 1, 0, 1000 * NUMBERED_FRAME, GST_SEEK_FLAG_SEGMENT, 0 };
  Play *play;

  guard_begin ("a source that cannot be sought in", 60);
  play = play_new_of (rig_kind_chosen (), (guint[2]){ 0 }, 0, TRUE);
  wait_for (play, 20);
  send (play, seek);
  wait_for (play, 20);
  fail_unless (play->failure == NULL, "%s", play->failure);
  fail_unless (play->outputs >= 20, "%u outputs", play->outputs);
  play_free (play);
  guard_end ();
}
GST_END_TEST;

static Suite *
seeks_suite (void)
{
  Suite *suite = suite_create ("seeks");
  TCase *general = tcase_create ("general");

  suite_add_tcase (suite, general);
  tcase_set_timeout (general, 0); /* the guard watches */
  tcase_add_loop_test (general, test_flushing_seeks, 0, 2);
  tcase_add_loop_test (general, test_seeks_without_a_flush, 0, 2);
  tcase_add_loop_test (general, test_any_seeks, 0, 2);
  tcase_add_test (general, test_a_source_that_cannot_be_sought_in);
  tcase_add_test (general, test_segments_one_after_the_other);
  return suite;
}

GST_CHECK_MAIN (seeks);
