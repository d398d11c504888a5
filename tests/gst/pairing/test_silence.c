/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A camera that stops, without a word or with an end of stream. In a live pipeline one warning, one message `stereo-health` and one
 * event downstream report it, and again that the camera is back; the other camera is not held up. A pipeline that is not live gets no
 * warning, because a source may be slow there. gst/pairing/sources.c has the rules. STEREO_STREAM_ELEMENT names the element under test
 * (tests/support/streams/kinds.c).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

/* At least so long nothing has come when it is said. It is to be said soon after that, on a busy machine too. */
#define SILENCE 0.5
#define SOON 2.0
#define SPACING (1.0 / 25)

static gint rate = 25; /* frames a second of both cameras */
static const gchar *const pad_names[2] = { "sink_left", "sink_right" };

typedef struct
{
  GstElement *pipeline, *element;
  gint silent[2];  /* atomic: what comes from that camera is lost */
  gint frames[2];  /* atomic: that the element has taken */
  GString *health; /* of messages and events, as they come: "+right" begins, "-right" ends */
  GMutex lock;
  GCond changed;
  GPtrArray *warnings, *infos; /* the texts */
} Line;

static GstPadProbeReturn
lose (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *silent = data;

  if (g_atomic_int_get (silent))
    return GST_PAD_PROBE_DROP;
  g_atomic_int_inc (silent + 2); /* frames[], behind silent[] */
  return GST_PAD_PROBE_OK;
}

/* stereomatch alone has a health. */
static void
note_health (Line *line, const gchar *what, const GstStructure *structure)
{
  const gchar *view = gst_structure_get_string (structure, "view"),
              *reason = gst_structure_get_string (structure, "reason");
  gboolean active = FALSE;

  if (gst_structure_get_boolean (structure, "active", &active) &&
      g_str_equal (gst_structure_get_string (structure, "kind"), "silent"))
    g_string_append_printf (line->health, "%s %s%s, ", what, active ? "+" : "-", view);
  if (reason)
    g_string_append_printf (line->health, "%s '%s', ", what, reason);
}

static GstPadProbeReturn
take_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  Line *line = data;

  g_mutex_lock (&line->lock);
  if (gst_event_has_name (event, "GstStereoHealth"))
    note_health (line, "event", gst_event_get_structure (event));
  g_mutex_unlock (&line->lock);
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GError *error = NULL;
  Line *line = data;

  g_mutex_lock (&line->lock);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING && GST_MESSAGE_SRC (message) == GST_OBJECT (line->element)) {
    gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, "silent") || strstr (error->message, "has ended"))
      g_ptr_array_add (line->warnings, g_strdup (error->message));
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_INFO && GST_MESSAGE_SRC (message) == GST_OBJECT (line->element)) {
    gst_message_parse_info (message, &error, NULL);
    g_ptr_array_add (line->infos, g_strdup (error->message));
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && gst_message_has_name (message, "stereo-health")) {
    note_health (line, "message", gst_message_get_structure (message));
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
      "videotestsrc %s ! video/x-raw,format=%s,width=%d,height=%d,framerate=%d/1 ! %s", source,
      gst_video_format_to_string (kind->in), NUMBERED_WIDTH, NUMBERED_HEIGHT, rate, filter);
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
  line->health = g_string_new (NULL);
  line->pipeline = gst_pipeline_new (NULL);
  line->element = rig_kind_make (kind);
  gst_bin_add_many (GST_BIN (line->pipeline), line->element, sink, NULL);
  g_assert (gst_element_link (line->element, sink));
  add_camera (line, kind, 0, left, "identity");
  add_camera (line, kind, 1, right, filter);
  g_autoptr (GstPad) sink_pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (sink_pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take_event, line, NULL);
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
  g_string_free (line->health, TRUE);
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

/* That the last of @texts begins with the pad's name. Where it tells a time, it is from @least to @most seconds. */
static void
judge_text (Line *line, GPtrArray *texts, guint view, gdouble least, gdouble most)
{
  g_mutex_lock (&line->lock);
  const gchar *text = g_ptr_array_index (texts, texts->len - 1), *number = strstr (text, "silent for ");
  fail_unless (g_str_has_prefix (text, pad_names[view]), "%s", text);
  gdouble seconds = number ? g_ascii_strtod (number + strlen ("silent for "), NULL) : least;
  /* it is written with one digit */
  fail_unless (seconds >= least - 0.05 && seconds <= most + 0.05, "not from %.2f to %.2f s: %s", least, most, text);
  g_mutex_unlock (&line->lock);
}

/* Messages and events since the last call. */
static void
judge_health (Line *line, const gchar *expected)
{
  g_mutex_lock (&line->lock);
  fail_unless_equals_string (line->health->str, g_str_equal (rig_kind_chosen ()->name, "stereomatch") ? expected : "");
  g_string_truncate (line->health, 0);
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

/* Goes silent until that is said and a while longer, and comes back. What was on its way when it begins still comes. The other
 * camera's frames are taken all the while. */
static void
fall_silent (Line *line, guint view, guint times)
{
  gint64 start = g_get_monotonic_time ();

  g_atomic_int_set (&line->silent[view], TRUE);
  await (line, line->warnings, times, SILENCE + SOON);
  /* the last frame may have come as long ago as it takes to the next */
  fail_unless (since (start) >= SILENCE - SPACING, "after %.3f s", since (start));
  judge_text (line, line->warnings, view, SILENCE, since (start) + SPACING);
  gint frames = g_atomic_int_get (&line->frames[!view]);
  nap (0.5);
  fail_unless (g_atomic_int_get (&line->frames[!view]) >= frames + 5, "the other camera is held up");
  expect (line, times, times - 1);
  judge_health (
      line, view ? "message +right, event 'right camera silent', " : "message +left, event 'left camera silent', ");
  g_atomic_int_set (&line->silent[view], FALSE);
  await (line, line->infos, times, SOON);
  judge_text (line, line->infos, view, 0, 0);
  wait_for_pairs (line, 10);
  judge_health (line, view ? "message -right, event '', " : "message -left, event '', ");
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

/* One camera ends: the other one is not held up, and the stream goes on without depth. */
TEST_LOOP (test_a_camera_ends, 0, 2)
{
  guint view = (guint) __i__;

  begin ("a camera ends");
  Line *line = line_new (view ? "is-live=true" : "is-live=true num-buffers=20",
      view ? "is-live=true num-buffers=20" : "is-live=true", "identity");
  play (line, GST_STATE_PLAYING);
  await (line, line->warnings, 1, 20);
  judge_text (line, line->warnings, view, 0, 0);
  gint frames = g_atomic_int_get (&line->frames[!view]);
  nap (0.5);
  fail_unless (g_atomic_int_get (&line->frames[!view]) >= frames + 5, "the other camera is held up");
  judge_health (
      line, view ? "message +right, event 'right camera silent', " : "message +left, event 'left camera silent', ");
  expect (line, 1, 0);
  line_free (line);
  guard_end ();
}

/* Frames that come farther apart than silence-timeout are no silence, from the first one on; that no more come is one. */
TEST (test_slow_cameras)
{
  begin ("slow cameras");
  rate = 2;
  Line *line = line_new ("is-live=true", "is-live=true", "identity");
  rate = 25;
  g_object_set (line->element, "silence-timeout", (guint64) (200 * GST_MSECOND), NULL);
  play (line, GST_STATE_PLAYING);
  wait_for_pairs (line, 5);
  expect (line, 0, 0);
  g_atomic_int_set (&line->silent[1], TRUE);
  await (line, line->warnings, 1, 1 + SOON);
  judge_text (line, line->warnings, 1, 1, 1 + SOON);
  line_free (line);
  guard_end ();
}

/* 0 = never. */
TEST (test_the_time_is_a_property)
{
  begin ("the time is a property");
  Line *line = line_new ("is-live=true", "is-live=true", "identity");
  g_object_set (line->element, "silence-timeout", (guint64) 0, NULL);
  play (line, GST_STATE_PLAYING);
  wait_for_pairs (line, 5);
  g_atomic_int_set (&line->silent[1], TRUE);
  nap (2 * SILENCE);
  expect (line, 0, 0);
  g_object_set (line->element, "silence-timeout", (guint64) (200 * GST_MSECOND), NULL);
  await (line, line->warnings, 1, SOON);
  line_free (line);
  guard_end ();
}

TEST (test_a_slow_file)
{
  begin ("a slow file");
  Line *line = line_new ("", "num-buffers=2", "identity sleep-time=1000000");
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
  nap (0.2);
  play (line, GST_STATE_PAUSED);
  nap (SILENCE + 1);
  play (line, GST_STATE_PLAYING);
  nap (0.2);
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
