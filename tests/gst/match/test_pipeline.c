/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole pipelines: seeks, live sources, properties as an application sees them. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include "stereo/stereo.h"

#define MATCH "stereomatch name=m num-disparities=8 window=5 refine-iterations=0 backend=cpu threads=1 "
#define CAPS "video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1"

typedef struct
{
  GstElement *pipeline, *element;
  GstBus *bus;
  gint buffers; /* atomic: that reached the sink */
} Line;

static void
count_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, Line *line)
{
  fail_unless (gst_buffer_get_stereo_meta (buffer) != NULL);
  g_atomic_int_inc (&line->buffers);
}

/* The sink is called o. */
static void
line_new (Line *line, const gchar *description)
{
  memset (line, 0, sizeof *line);
  line->pipeline = launch ("%s", description);
  line->element = gst_bin_get_by_name (GST_BIN (line->pipeline), "m");
  line->bus = gst_element_get_bus (line->pipeline);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (line->pipeline), "o");
  g_object_set (sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (count_buffer), line);
}

static void
line_state (Line *line, GstState state)
{
  fail_unless (gst_element_set_state (line->pipeline, state) != GST_STATE_CHANGE_FAILURE);
}

static void
line_free (Line *line)
{
  gst_element_set_state (line->pipeline, GST_STATE_NULL);
  gst_object_unref (line->bus);
  ASSERT_OBJECT_REFCOUNT (line->element, "stereomatch", 2);
  gst_object_unref (line->element);
  gst_object_unref (line->pipeline);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_free)

static void
line_play (Line *line)
{
  line_state (line, GST_STATE_PLAYING);
  wait_for_message (line->bus, GST_MESSAGE_EOS);
}

#define TWO(more) \
  "videotestsrc " more " ! " CAPS " ! m.sink_left videotestsrc " more " ! " CAPS " ! m.sink_right " MATCH

TEST (test_linking_takes_the_pad_of_both_views)
{
  g_autoptr (GstElement) pipeline = launch ("videotestsrc ! " MATCH "! fakesink");
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  fail_unless (pad != NULL && gst_pad_is_linked (pad));
}

TEST (test_plays_twice)
{
  g_auto (Line) line;

  line_new (&line, TWO ("num-buffers=7") "! fakesink name=o");
  for (gint i = 1; i <= 3; i++) {
    line_play (&line);
    fail_unless_equals_int (g_atomic_int_get (&line.buffers), 7 * i);
    fail_unless_equals_uint64 (stat_of (line.element, "pairs"), 7);
    line_state (&line, GST_STATE_NULL);
  }
}

TEST (test_flushing_seek)
{
  g_autoptr (GstQuery) query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable;
  gint64 position;
  g_auto (Line) line;

  line_new (&line, TWO ("") "! fakesink name=o");
  line_state (&line, GST_STATE_PAUSED);
  wait_for_message (line.bus, GST_MESSAGE_ASYNC_DONE);
  fail_unless (gst_element_query (line.pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_unless (seekable);
  for (guint i = 1; i <= 5; i++) {
    fail_unless (gst_element_seek (line.pipeline, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
        GST_SEEK_TYPE_SET, (gint64) i * 2 * GST_SECOND, GST_SEEK_TYPE_SET, 12 * GST_SECOND));
    wait_for_message (line.bus, GST_MESSAGE_ASYNC_DONE);
    fail_unless (gst_element_query_position (line.pipeline, GST_FORMAT_TIME, &position));
    fail_unless_equals_int64 (position, i * 2 * GST_SECOND);
  }
  g_atomic_int_set (&line.buffers, 0);
  line_play (&line);
  fail_unless_equals_int (g_atomic_int_get (&line.buffers), 50); /* 10 s to 12 s */
  fail_unless_equals_uint64 (stat_of (line.element, "dropped-left"), 0);
  fail_unless_equals_uint64 (stat_of (line.element, "dropped-right"), 0);
}

/* Both views in a stream, read as fast as it goes: every pair once and in order, and pairs do overlap. */
static void
check_order (GstElement *sink, GstBuffer *buffer, GstPad *pad, GstClockTime *last)
{
  fail_unless (!GST_CLOCK_TIME_IS_VALID (*last) || GST_BUFFER_PTS (buffer) > *last);
  *last = GST_BUFFER_PTS (buffer);
}

TEST_LOOP (test_pairs_overlap, 0, 2)
{
  const gint pairs = __i__ ? 30 : 60;
  GstClockTime last = GST_CLOCK_TIME_NONE;
  g_auto (Line) line;

  g_autofree gchar *text = g_strdup_printf ("videotestsrc num-buffers=60 pattern=ball ! "
                                            "video/x-raw,format=NV12,width=128,height=48 ! queue ! " MATCH
                                            "packing=%s ! fakesink name=o",
      __i__ ? "frame-by-frame" : "side-by-side");
  line_new (&line, text);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (line.pipeline), "o");
  g_signal_connect (sink, "handoff", G_CALLBACK (check_order), &last);
  line_play (&line);
  fail_unless_equals_int (g_atomic_int_get (&line.buffers), pairs);
  fail_unless_equals_uint64 (stat_of (line.element, "pairs"), (guint64) pairs);
  fail_unless (stat_of (line.element, "overlapped") < (guint64) pairs);
  fail_unless (__i__ || stat_of (line.element, "overlapped") > 0);
}

TEST (test_live_sources)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;
  g_auto (Line) line;

  line_new (&line, TWO ("num-buffers=12 is-live=true") "! fakesink name=o sync=true qos=true");
  line_play (&line);
  fail_unless (gst_element_query (line.pipeline, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless (min >= FRAME + FRAME / 2 && min < 10 * FRAME, "%" GST_TIME_FORMAT, GST_TIME_ARGS (min));
  /* how many pairs are made in time depends on the machine; every frame is one thing or the other */
  fail_unless_equals_uint64 (
      stat_of (line.element, "pairs") + stat_of (line.element, "late") + stat_of (line.element, "dropped-left"), 12);
  fail_unless (stat_of (line.element, "pairs") > 0);
}

/* ---- properties -------------------------------------------------------------------------- */

TEST (test_every_parameter_is_a_property)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", NULL));
  const StereoParamInfo *info;

  for (gint i = 0; (info = stereo_param_info (i)); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), info->name);
    g_auto (GValue) value = G_VALUE_INIT, number = G_VALUE_INIT;

    fail_unless (spec != NULL, "no property %s", info->name);
    /* what may change while playing may also follow a curve */
    fail_unless ((spec->flags & GST_PARAM_MUTABLE_PLAYING) && (spec->flags & GST_PARAM_CONTROLLABLE), "%s", info->name);
    g_object_get_property (G_OBJECT (element), info->name, &value);
    g_value_init (&number, G_TYPE_DOUBLE);
    if (info->choices) {
      fail_unless_equals_int (g_value_get_enum (&value), (gint) info->initial);
    } else {
      fail_unless (
          g_value_transform (&value, &number) && g_value_get_double (&number) == info->initial, "%s", info->name);
    }
    for (const StereoChoice *choice = info->choices; choice && choice->name; choice++) {
      gint got;
      gst_util_set_object_arg (G_OBJECT (element), info->name, choice->name);
      g_object_get (element, info->name, &got, NULL);
      fail_unless_equals_int (got, choice->value);
    }
    g_object_set_property (G_OBJECT (element), info->name, &value);
  }
}

TEST (test_settings_show_what_is_in_force)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", NULL));
  const StereoParamInfo *info;
  StereoParams params;
  GstStructure *settings;
  StereoError error;
  gint window;

  gst_util_set_object_arg (G_OBJECT (element), "profile", "thesis");
  gst_util_set_object_arg (G_OBJECT (element), "window", "21");
  g_object_get (element, "settings", &settings, NULL);
  fail_unless (settings != NULL);
  stereo_params_init (&params);
  params.profile = STEREO_PROFILE_THESIS;
  params.window = 21;
  fail_unless_equals_int (stereo_params_resolve (&params, &params, &error), STEREO_OK);
  for (gint i = 0; (info = stereo_param_info (i)); i++) {
    gchar text[64];
    const GValue *value = gst_structure_get_value (settings, info->name);
    fail_unless (value != NULL, "settings has no %s", info->name);
    if (info->choices) {
      fail_unless_equals_string (g_value_get_string (value), stereo_param_format (&params, info, text, sizeof text));
    } else if (info->type == STEREO_PARAM_DOUBLE) {
      fail_unless_equals_float (g_value_get_double (value), stereo_param_get (&params, info));
    } else if (info->type == STEREO_PARAM_INT) {
      fail_unless_equals_int (g_value_get_int (value), (gint) stereo_param_get (&params, info));
    }
  }
  fail_unless (gst_structure_get_int (settings, "window", &window) && window == 21);
  fail_unless_equals_string (gst_structure_get_string (settings, "profile"), "thesis");
  gst_structure_free (settings);
  /* contradictory ones: nothing can be in force */
  gst_util_set_object_arg (G_OBJECT (element), "window", "20");
  g_object_get (element, "settings", &settings, NULL);
  fail_unless (settings == NULL);
}

TEST (test_active_backend_and_stats)
{
  g_autoptr (GstStructure) stats = NULL;
  g_autofree gchar *backend = NULL;
  gdouble ratio;
  g_auto (Line) line;

  line_new (&line, TWO ("num-buffers=3 pattern=snow") "! fakesink name=o");
  g_object_get (line.element, "active-backend", &backend, NULL);
  fail_unless (backend == NULL);
  line_play (&line);
  g_object_get (line.element, "active-backend", &backend, "stats", &stats, NULL);
  fail_unless_equals_string (backend, "cpu");
  fail_unless_equals_uint64 (stat_of (line.element, "pairs"), 3);
  fail_unless (stat_of (line.element, "compute-time") > 0);
  fail_unless (stat_of (line.element, "compute-time-mean") > 0);
  fail_unless (gst_structure_get_double (stats, "valid-ratio", &ratio) && ratio >= 0 && ratio <= 1);
  fail_unless (gst_structure_get_double (stats, "mean-confidence", &ratio) && ratio >= 0 && ratio <= 1);
}

SUITE (pipeline)
{
}
