/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every element at work in one pipeline, while other threads read and set its properties, query its pads, send it
 * events, seek, and query its latency. Made for ThreadSanitizer (tests/tools.sh tsan); without it the test shows that
 * nothing stands still or fails. STEREO_THREADS_SECONDS: how long (default 2).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#define WIDTH 96
#define HEIGHT 40

typedef struct
{
  GstElement *pipeline;
  GstElement *elements[5];
  guint32 seed;
  gint stop;           /* atomic */
  gint deeds, buffers; /* atomic */
} Rig;

/* Values that leave the stream as it is, or change it in a way that it has to live with. */
static const struct
{
  const gchar *element, *property;
  const gchar *values[3];
} settings[] = {
  { "source", "motion", { "0", "2", "-3" } },
  { "source", "noise", { "0", "1", "2" } },
  { "source", "seed", { "0", "7", "8" } },
  { "source", "vertical-offset", { "0", "1", "-0.75" } },
  { "source", "roll", { "0", "0.25", "-5" } },
  { "source", "timestamp-offset", { "0", "1000", "1000000" } },
  { "rectify", "alpha", { "0", "0.5", "1" } },
  { "rectify", "unit", { "1", "2", "1000" } },
  { "rectify", "threads", { "1", "2", "3" } },
  { "rectify", "max-skew", { "0", "1000000", "18446744073709551615" } },
  { "rectify", "pairing-clock", { "auto", "buffer", "auto" } },
  { "rectify", "qos", { "true", "false", "true" } },
  { "match", "num-disparities", { "8", "16", "24" } },
  { "match", "method", { "bm", "sgm", "asw" } },
  { "match", "median", { "0", "3", "5" } },
  { "match", "output", { "disparity", "depth", "depth" } },
  { "match", "disparity-scale", { "16", "64", "64" } },
  { "match", "threads", { "1", "2", "3" } },
  { "match", "check-interval", { "0", "1", "40000000" } },
  { "match", "packing", { "auto", "side-by-side", "auto" } },
  { "match", "qos", { "true", "false", "true" } },
  { "match", "max-skew", { "0", "1000000", "18446744073709551615" } },
  { "confidence", "show", { "confidence", "confidence", "confidence" } },
  { "overlay", "alpha", { "0", "0.5", "1" } },
  { "overlay", "colormap", { "turbo", "viridis", "gray" } },
  { "overlay", "near", { "0", "500", "600" } },
  { "overlay", "far", { "700", "10000", "20000" } },
  { "overlay", "region", { "<>", "<0.25,0.25,0.5,0.5>", "<0.0,0.0,1.0,0.5>" } },
  { "overlay", "legend", { "true", "false", "true" } },
  { "overlay", "text", { "true", "false", "true" } },
  { "overlay", "warn-distance", { "0", "1000", "100000" } },
  { "overlay", "max-age", { "0", "1000000", "500000000" } },
  { "overlay", "message-interval", { "0", "0", "100000000" } },
};

static const gchar *const names[] = { "source", "rectify", "match", "confidence", "overlay" };

/* ---- what the threads do ------------------------------------------------------------------- */

static GstElement *
any_element (Rig *rig, GRand *rand)
{
  return rig->elements[g_rand_int_range (rand, 0, G_N_ELEMENTS (names))];
}

/* All that can be read of it. */
static void
read_properties (Rig *rig, GRand *rand)
{
  GObject *element = G_OBJECT (any_element (rig, rand));
  guint count;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);

  for (guint i = 0; i < count; i++) {
    GValue value = G_VALUE_INIT;

    if (!(specs[i]->flags & G_PARAM_READABLE))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (element, specs[i]->name, &value);
    g_value_unset (&value);
  }
  g_free (specs);
}

static void
set_property (Rig *rig, GRand *rand)
{
  guint row = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (settings));
  const gchar *value = settings[row].values[g_rand_int_range (rand, 0, 3)];

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], settings[row].element))
      gst_util_set_object_arg (G_OBJECT (rig->elements[i]), settings[row].property, value);
  g_usleep ((gulong) g_rand_int_range (rand, 0, 5000));
}

static GstQuery *
any_query (GRand *rand)
{
  GstQuery *(*const of_time[]) (
      GstFormat) = { gst_query_new_position, gst_query_new_duration, gst_query_new_segment, gst_query_new_seeking };
  gint kind = g_rand_int_range (rand, 0, 9);

  return kind < 4 ? of_time[kind](GST_FORMAT_TIME) :
      kind == 4   ? gst_query_new_latency () :
      kind == 5   ? gst_query_new_convert (GST_FORMAT_BYTES, WIDTH * HEIGHT, GST_FORMAT_TIME) :
      kind == 6   ? gst_query_new_caps (NULL) :
      kind == 7   ? gst_query_new_context ("gst.test.context") :
                    gst_query_new_uri ();
}

/* The element's pads, those too that are ahead of it. */
static GstPad *
any_pad (Rig *rig, GRand *rand)
{
  GstElement *element = any_element (rig, rand);

  GST_OBJECT_LOCK (element);
  GstPad *pad = g_list_nth_data (element->pads, (guint) g_rand_int_range (rand, 0, element->numpads));
  if (pad)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (element);
  return pad;
}

static void
ask (Rig *rig, GRand *rand)
{
  g_autoptr (GstPad) pad = any_pad (rig, rand);
  GstQuery *query = any_query (rand);

  gst_pad_query (pad, query);
  gst_query_unref (query);
  query = any_query (rand);
  gst_element_query (any_element (rig, rand), query);
  gst_query_unref (query);
}

/* As downstream sends them. Frames may be late by that, and are dropped. */
static void
send (Rig *rig, GRand *rand)
{
  GstElement *element = any_element (rig, rand);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");

  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      gst_pad_send_event (pad,
          gst_event_new_qos (
              GST_QOS_TYPE_UNDERFLOW, 0.9, 0, (GstClockTime) g_rand_int_range (rand, 0, 100) * 10 * GST_MSECOND));
      break;
    case 1:
      gst_pad_send_event (pad, gst_event_new_reconfigure ());
      break;
    case 2:
      gst_pad_send_event (pad, gst_event_new_navigation (gst_structure_new_empty ("application/x-gst-navigation")));
      break;
    default:
      gst_bin_recalculate_latency (GST_BIN (rig->pipeline));
  }
}

static gpointer
fiddle (gpointer data)
{
  static void (*const deeds[]) (Rig *, GRand *) = { read_properties, set_property, ask, send };
  Rig *rig = data;
  gint own = g_atomic_int_add (&rig->deeds, 1);

  g_autoptr (GRand) rand = g_rand_new_with_seed (rig->seed + (guint32) own);
  while (!g_atomic_int_get (&rig->stop)) {
    deeds[own % (gint) G_N_ELEMENTS (deeds)](rig, rand);
    g_usleep ((gulong) g_rand_int_range (rand, 0, 1000));
  }
  return NULL;
}

/* ---- the pipeline ------------------------------------------------------------------------ */

static void
count_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer rig)
{
  g_atomic_int_inc (&((Rig *) rig)->buffers);
}

static void
rig_start (Rig *rig, const gchar *calibration, gboolean live)
{
  rig->pipeline = launch (
      "stereotestsrc name=source is-live=%s ! "
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=50/1,multiview-mode=side-by-side ! tee name=views  views. "
      "! queue ! stereorectify name=rectify calibration=%s backend=cpu ! stereomatch name=match method=bm "
      "num-disparities=16 backend=cpu ! tee name=depth  depth. ! queue ! stereoconfidence name=confidence ! fakesink "
      "name=second async=false  depth. ! queue ! overlay.sink_depth  views. ! queue ! depthoverlay name=overlay ! "
      "fakesink name=sink signal-handoffs=true sync=%s qos=true",
      live ? "true" : "false", 2 * WIDTH, HEIGHT, calibration, live ? "true" : "false");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    rig->elements[i] = gst_bin_get_by_name (GST_BIN (rig->pipeline), names[i]);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (rig->pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (count_buffer), rig);
  gst_object_unref (sink);
  fail_unless (gst_element_set_state (rig->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
}

static void
check_bus (Rig *rig)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (rig->pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop (bus))) {
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s: %s", GST_MESSAGE_SRC_NAME (message),
        message_text (message));
    gst_message_unref (message);
  }
}

static void
rig_stop (Rig *rig)
{
  gst_element_set_state (rig->pipeline, GST_STATE_NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gst_object_unref (rig->elements[i]);
  gst_object_unref (rig->pipeline);
}

/* A live stream cannot be sought in. */
static void
disturb (Rig *rig, GRand *rand, gboolean live)
{
  gint kind = g_rand_int_range (rand, 0, 8);

  if (kind < 2 && !live)
    gst_element_seek_simple (rig->pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
        g_rand_int_range (rand, 0, 100) * 10 * (gint64) GST_MSECOND);
  else if (kind == 2 || kind == 3)
    gst_element_set_state (rig->pipeline, kind == 2 ? GST_STATE_PAUSED : GST_STATE_READY);
  gst_element_set_state (rig->pipeline, GST_STATE_PLAYING);
}

TEST_LOOP (test_live, 0, 2)
{
  gboolean live = __i__;
  Rig rig = { .seed = (guint32) guard_number ("STEREO_TEST_SEED", g_random_int ()) };
  gint64 time = (gint64) guard_number ("STEREO_THREADS_SECONDS", 2) * G_USEC_PER_SEC, end;
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (GRand) rand = g_rand_new_with_seed (rig.seed);
  GThread *threads[4];

  g_print ("STEREO_TEST_SEED=%u\n", rig.seed);
  guard_begin (live ? "threads, live" : "threads", 30 + (guint) (2 * time / G_USEC_PER_SEC));
  rig_start (&rig, calibration, live);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("fiddler", fiddle, &rig);
  end = g_get_monotonic_time () + time;
  /* afterwards it goes on, if nothing is stuck */
  while (g_get_monotonic_time () < end || g_atomic_int_get (&rig.buffers) < 20) {
    g_usleep ((gulong) g_rand_int_range (rand, 1000, 200000));
    if (g_get_monotonic_time () < end)
      disturb (&rig, rand, live);
    check_bus (&rig);
  }
  g_atomic_int_set (&rig.stop, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  rig_stop (&rig);
  guard_end ();
  g_print ("%d frames\n", g_atomic_int_get (&rig.buffers));
}

SUITE (threads)
{
  tcase_set_timeout (tcase, 600);
}
