/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A camera that stops without an end of stream and without an error. In a live pipeline one warning reports it, and one
 * message reports that the camera is back. A pipeline that is not live gets no warning, because a source may be slow
 * there. test_silence_rules.c has the rules, both cameras at once, and a pad with both views, by a simulated clock. STEREO_STREAM_ELEMENT names the element under test (tests/support/streams/kinds.c).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

/* At least so long nothing has come when it is said. It is to be said soon after that, on a busy machine too. */
#define SILENCE 2.0
#define SOON 2.0
#define SPACING (1.0 / 25)

static const gchar *const pad_names[2] = { "sink_left", "sink_right" };

typedef struct
{
  GstElement *pipeline, *element;
  gint silent[2]; /* atomic: what comes from that camera is lost */
  GMutex lock;
  GCond changed;
  GPtrArray *warnings, *infos; /* the texts */
} Line;

static GstPadProbeReturn
lose (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return g_atomic_int_get ((gint *) data) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GError *error = NULL;
  Line *line = data;

  g_mutex_lock (&line->lock);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING && GST_MESSAGE_SRC (message) == GST_OBJECT (line->element)) {
    gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, "silent"))
      g_ptr_array_add (line->warnings, g_strdup (error->message));
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_INFO && GST_MESSAGE_SRC (message) == GST_OBJECT (line->element)) {
    gst_message_parse_info (message, &error, NULL);
    g_ptr_array_add (line->infos, g_strdup (error->message));
  }
  g_clear_error (&error);
  g_cond_broadcast (&line->changed);
  g_mutex_unlock (&line->lock);
  return GST_BUS_PASS;
}

static void
add_camera (Line *line, const RigKind *kind, guint view, const gchar *source, const gchar *filter)
{
  g_autofree gchar *description = g_strdup_printf (
      "videotestsrc %s ! video/x-raw,format=%s,width=%d,height=%d,framerate=25/1 ! %s", source,
      gst_video_format_to_string (kind->in), NUMBERED_WIDTH, NUMBERED_HEIGHT, filter);
  GstElement *camera = gst_parse_bin_from_description (description, TRUE, NULL);

  g_assert (camera);
  gst_bin_add (GST_BIN (line->pipeline), camera);
  g_assert (gst_element_link_pads (camera, "src", line->element, pad_names[view]));
  g_autoptr (GstPad) src = gst_element_get_static_pad (camera, "src");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, lose, &line->silent[view], NULL);
}

/* @sources: properties of the left and the right videotestsrc; @filter stands behind the right one. */
static Line *
line_new (const gchar *left, const gchar *right, const gchar *filter)
{
  const RigKind *kind = rig_kind_chosen ();
  Line *line = g_new0 (Line, 1);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);

  g_mutex_init (&line->lock);
  g_cond_init (&line->changed);
  line->warnings = g_ptr_array_new_with_free_func (g_free);
  line->infos = g_ptr_array_new_with_free_func (g_free);
  line->pipeline = gst_pipeline_new (NULL);
  line->element = rig_kind_make (kind);
  gst_bin_add_many (GST_BIN (line->pipeline), line->element, sink, NULL);
  g_assert (gst_element_link (line->element, sink));
  add_camera (line, kind, 0, left, "identity");
  add_camera (line, kind, 1, right, filter);
  /* no state waits for a frame */
  g_object_set (sink, "async", FALSE, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (line->pipeline);
  gst_bus_set_sync_handler (bus, take_message, line, NULL);
  return line;
}

static void
line_free (Line *line)
{
  gst_element_set_state (line->pipeline, GST_STATE_NULL);
  gst_object_unref (line->pipeline);
  fail_unless (guard_unref_last (line->element), "something still holds the element");
  g_ptr_array_unref (line->warnings);
  g_ptr_array_unref (line->infos);
  g_mutex_clear (&line->lock);
  g_cond_clear (&line->changed);
  g_free (line);
}

static void
play (Line *line, GstState state)
{
  fail_unless (gst_element_set_state (line->pipeline, state) != GST_STATE_CHANGE_FAILURE);
  fail_unless (gst_element_get_state (line->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE) != GST_STATE_CHANGE_FAILURE);
}

static void
nap (gdouble seconds)
{
  g_usleep ((gulong) (seconds * G_USEC_PER_SEC));
}

/* That of @texts there are @count, or soon are. */
static void
await (Line *line, GPtrArray *texts, guint count, gdouble seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);

  g_mutex_lock (&line->lock);
  while (texts->len < count && g_cond_wait_until (&line->changed, &line->lock, end))
    continue;
  fail_unless_equals_int (texts->len, count);
  g_mutex_unlock (&line->lock);
}

static void
expect (Line *line, guint warnings, guint infos)
{
  g_mutex_lock (&line->lock);
  fail_unless (line->warnings->len == warnings && line->infos->len == infos, "%u warnings and %u messages: %s",
      line->warnings->len, line->infos->len,
      line->warnings->len ? (const gchar *) g_ptr_array_index (line->warnings, 0) : "");
  g_mutex_unlock (&line->lock);
}

/* That the last of @texts begins with the pad's name and tells a time from @least to @most seconds. */
static void
judge_text (Line *line, GPtrArray *texts, guint view, const gchar *before, gdouble least, gdouble most)
{
  g_mutex_lock (&line->lock);
  const gchar *text = g_ptr_array_index (texts, texts->len - 1);
  const gchar *number = strstr (text, before);
  fail_unless (g_str_has_prefix (text, pad_names[view]) && number, "%s", text);
  gdouble seconds = g_ascii_strtod (number + strlen (before), NULL);
  /* it is written with one digit */
  fail_unless (seconds >= least - 0.05 && seconds <= most + 0.05, "not from %.2f to %.2f s: %s", least, most, text);
  g_mutex_unlock (&line->lock);
}

static void
wait_for_pairs (Line *line, guint64 more)
{
  guint64 pairs = stat_of (line->element, "pairs") + more;

  while (stat_of (line->element, "pairs") < pairs)
    nap (0.01);
}

static void
begin (const gchar *name)
{
  rig_warm_up (rig_kind_chosen ());
  guard_begin (name, 60);
}

static gdouble
since (gint64 start)
{
  return (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

/* Goes silent until that is said and a while longer, and comes back. What was on its way when it begins still comes. */
static void
fall_silent (Line *line, guint view, guint times)
{
  gint64 start = g_get_monotonic_time (), back;

  g_atomic_int_set (&line->silent[view], TRUE);
  await (line, line->warnings, times, SILENCE + SOON);
  /* the last frame may have come as long ago as it takes to the next */
  fail_unless (since (start) >= SILENCE - SPACING, "after %.3f s", since (start));
  judge_text (line, line->warnings, view, "silent for ", SILENCE, since (start) + SPACING);
  nap (0.5);
  expect (line, times, times - 1);
  back = g_get_monotonic_time ();
  g_atomic_int_set (&line->silent[view], FALSE);
  await (line, line->infos, times, SOON);
  judge_text (
      line, line->infos, view, "back after ", (gdouble) (back - start) / G_USEC_PER_SEC - 0.2, since (start) + SPACING);
  wait_for_pairs (line, 10);
}

TEST_LOOP (test_a_camera_falls_silent_and_comes_back, 0, 2)
{
  guint view = (guint) __i__;

  begin ("a camera falls silent and comes back");
  Line *line = line_new ("is-live=true", "is-live=true", "identity");
  play (line, GST_STATE_PLAYING);
  wait_for_pairs (line, 10);
  expect (line, 0, 0);
  fall_silent (line, view, 1);
  fall_silent (line, view, 2);
  nap (1);
  expect (line, 2, 2);
  line_free (line);
  guard_end ();
}

/* It is taken away while it is silent; the other one has ended. */
TEST_LOOP (test_a_camera_never_begins, 0, 2)
{
  guint view = (guint) __i__;

  begin ("a camera never begins");
  Line *line = line_new (view ? "is-live=true num-buffers=2" : "is-live=true",
      view ? "is-live=true" : "is-live=true num-buffers=2", "identity");
  line_free (line);
  guard_count_objects ();
  line = line_new (view ? "is-live=true num-buffers=2" : "is-live=true",
      view ? "is-live=true" : "is-live=true num-buffers=2", "identity");
  g_atomic_int_set (&line->silent[view], TRUE);
  play (line, GST_STATE_PLAYING);
  await (line, line->warnings, 1, SILENCE + 2 * SOON);
  fail_unless (strstr (g_ptr_array_index (line->warnings, 0), "no frame before") != NULL);
  line_free (line);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "leaks: %s", leaked);
  guard_end ();
}

TEST (test_a_slow_file)
{
  begin ("a slow file");
  Line *line = line_new ("", "num-buffers=2", "identity sleep-time=3000000");
  play (line, GST_STATE_PLAYING);
  wait_for_pairs (line, 2 - stat_of (line->element, "pairs"));
  expect (line, 0, 0);
  line_free (line);
  guard_end ();
}

/* One view is silent for less than what is said, if the pause does not count. */
TEST (test_a_pause)
{
  begin ("a pause");
  Line *line = line_new ("is-live=true", "is-live=true", "identity");
  play (line, GST_STATE_PLAYING);
  wait_for_pairs (line, 10);
  g_atomic_int_set (&line->silent[1], TRUE);
  nap (0.7);
  play (line, GST_STATE_PAUSED);
  nap (SILENCE + 1);
  play (line, GST_STATE_PLAYING);
  nap (0.3);
  g_atomic_int_set (&line->silent[1], FALSE);
  wait_for_pairs (line, 10);
  expect (line, 0, 0);
  /* and it is listened to again */
  fall_silent (line, 1, 1);
  line_free (line);
  guard_end ();
}

SUITE (silence)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
