/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * High load: memory over many frames, and many elements in one process. tests/soak.sh sets these variables:
 *
 *   STEREO_LOAD_FRAMES=N       moments of the long run (default 1000), without a clock
 *   STEREO_LOAD_ELEMENTS=N     elements at work together (default 10), each for a tenth of the frames, at least 100
 *   STEREO_BACKEND=cuda        computes on a device
 *   STEREO_TEST_SEED=N         the seed of the faults
 */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "gst/meta/gststereometa.h"
#include "tests/support/gst/guard.h"
#include "tests/support/gst/memory_used.h"
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/script.h"
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

/* Moments, before memory is measured. The first look at the input keeps its scratch: it has been by then. */
#define WARM 100
#define GROWTH 0 /* bytes of the heap that it may be more by the end, however many frames */

/* Two cameras without end: what a moment's frame is, follows from its number. */
typedef struct
{
  GstElement *element;
  GstPad *src[2], *sink;
  GstBus *bus;
  GstBuffer *views[2][NUMBERED_CYCLE];
  guint seed;
  guint64 from, to; /* moments of this round; the last one comes on both */
  guint64 common;   /* pairs that the moments of all rounds have */
  guint64 sent[2], dropped[2], repeated[2];
  GMutex lock;
  GCond changed;
  guint64 outputs, latest; /* latest: moment, plus 1 */
  gchar *failure;
} Pump;

/* 0, 1 or 2 frames of this moment, the same whenever it is asked in one round. */
static guint
copies (const Pump *pump, guint view, guint64 index)
{
  guint32 h = (guint32) (index * 2 + view) * 0x9E3779B1u ^ pump->seed;

  if (index + 1 == pump->to)
    return 1;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h >> 24 < 8 ? 0 : h >> 24 < 16 ? 2 : 1;
}

static GstFlowReturn
take_output (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Pump *pump = g_object_get_data (G_OBJECT (pad), "pump");
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  guint64 index = GST_BUFFER_PTS (buffer) / SCRIPT_FRAME;
  guint left = 0, right = 0;
  gboolean whole = meta && numbered_read (buffer, NUMBERED_WIDTH, meta->disparity_scale, &left, &right);

  g_mutex_lock (&pump->lock);
  if (!pump->failure && (!whole || left != index % NUMBERED_CYCLE || right != left || index + 1 < pump->latest))
    pump->failure = g_strdup_printf ("moment %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT " pairs %u and %u%s",
        index, pump->latest, left, right, whole ? "" : ", or cannot be read");
  pump->outputs++;
  pump->latest = index + 1;
  g_cond_broadcast (&pump->changed);
  g_mutex_unlock (&pump->lock);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* An error is the end: nothing more comes out. */
static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Pump *pump = data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_mutex_lock (&pump->lock);
    if (!pump->failure)
      pump->failure = g_strdup_printf ("an error: %s", error->message);
    g_cond_broadcast (&pump->changed);
    g_mutex_unlock (&pump->lock);
    g_clear_error (&error);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
send (Pump *pump, guint view, guint64 index)
{
  /* new memory too: one that several buffers share at once keeps a list of them for good, a growth of the test's */
  GstBuffer *buffer = gst_buffer_copy_deep (pump->views[view][index % NUMBERED_CYCLE]);

  GST_BUFFER_PTS (buffer) = index * SCRIPT_FRAME;
  GST_BUFFER_DURATION (buffer) = SCRIPT_FRAME;
  if (gst_pad_push (pump->src[view], buffer) == GST_FLOW_OK)
    pump->sent[view]++;
}

static void
run_view (Pump *pump, guint view)
{
  for (guint64 index = pump->from; index < pump->to; index++) {
    guint count = copies (pump, view, index);
    pump->dropped[view] += count == 0;
    pump->repeated[view] += count == 2;
    for (guint i = 0; i < count; i++)
      send (pump, view, index);
  }
}

static gpointer
run_left (gpointer pump)
{
  run_view (pump, 0);
  return NULL;
}

static gpointer
run_right (gpointer pump)
{
  run_view (pump, 1);
  return NULL;
}

static void
start_view (Pump *pump, guint view)
{
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (pump->element, view ? "sink_right" : "sink_left");
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT,
      NUMBERED_WIDTH, "height", G_TYPE_INT, NUMBERED_HEIGHT, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  pump->src[view] = gst_object_ref_sink (gst_pad_new (view ? "right" : "left", GST_PAD_SRC));
  gst_pad_set_active (pump->src[view], TRUE);
  fail_unless_equals_int (gst_pad_link (pump->src[view], pad), GST_PAD_LINK_OK);
  gst_pad_push_event (pump->src[view], gst_event_new_stream_start (view ? "right" : "left"));
  gst_pad_push_event (pump->src[view], gst_event_new_caps (caps));
  gst_pad_push_event (pump->src[view], gst_event_new_segment (&segment));
  for (guint i = 0; i < NUMBERED_CYCLE; i++)
    pump->views[view][i] = numbered_view (i, view == 1, NUMBERED_WIDTH);
}

static Pump *
pump_new (guint seed)
{
  const gchar *backend = g_getenv ("STEREO_BACKEND");
  Pump *pump = g_new0 (Pump, 1);

  pump->seed = seed;
  g_mutex_init (&pump->lock);
  g_cond_init (&pump->changed);
  pump->element = element_new ("stereomatch", NUMBERED_EXACT, &pump->bus);
  gst_util_set_object_arg (G_OBJECT (pump->element), "backend", backend ? backend : "cpu");
  gst_bus_set_sync_handler (pump->bus, take_message, pump, NULL);
  pump->sink = gst_object_ref_sink (gst_pad_new ("out", GST_PAD_SINK));
  g_object_set_data (G_OBJECT (pump->sink), "pump", pump);
  gst_pad_set_chain_function (pump->sink, take_output);
  gst_pad_set_active (pump->sink, TRUE);
  GstPad *src = gst_element_get_static_pad (pump->element, "src");
  fail_unless_equals_int (gst_pad_link (src, pump->sink), GST_PAD_LINK_OK);
  gst_object_unref (src);
  fail_unless (
      gst_element_set_state (pump->element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE, "%s", pump->failure);
  start_view (pump, 0);
  start_view (pump, 1);
  return pump;
}

static void
pump_free (Pump *pump)
{
  gst_element_set_state (pump->element, GST_STATE_NULL);
  for (guint view = 0; view < 2; view++) {
    GstPad *pad = gst_pad_get_peer (pump->src[view]);
    gst_element_release_request_pad (pump->element, pad);
    gst_object_unref (pad);
    gst_pad_set_active (pump->src[view], FALSE);
    gst_object_unref (pump->src[view]);
    for (guint i = 0; i < NUMBERED_CYCLE; i++)
      gst_buffer_unref (pump->views[view][i]);
  }
  gst_pad_set_active (pump->sink, FALSE);
  gst_object_unref (pump->sink);
  element_free (pump->element, pump->bus);
  g_mutex_clear (&pump->lock);
  g_cond_clear (&pump->changed);
  g_free (pump->failure);
  g_free (pump);
}

/* Up to that moment, which comes out: then nothing waits anywhere. */
static void
pump_run (Pump *pump, guint64 to)
{
  pump->from = pump->to;
  pump->to = to;
  for (guint64 index = pump->from; index < to; index++)
    pump->common += MIN (copies (pump, 0, index), copies (pump, 1, index));
  GThread *left = g_thread_new ("left", run_left, pump);
  GThread *right = g_thread_new ("right", run_right, pump);
  g_thread_join (left);
  g_thread_join (right);
  g_mutex_lock (&pump->lock);
  while (pump->latest < to && !pump->failure)
    g_cond_wait (&pump->changed, &pump->lock);
  g_mutex_unlock (&pump->lock);
  fail_unless (pump->failure == NULL, "STEREO_TEST_SEED=%u: %s", pump->seed, pump->failure);
}

/* Every frame that went in is accounted for, and every moment that both cameras sent came out. */
static void
pump_judge (Pump *pump)
{
  guint64 pairs = stat_of (pump->element, "pairs"), left = stat_of (pump->element, "dropped-left"),
          right = stat_of (pump->element, "dropped-right");

  fail_unless_equals_uint64 (pairs, pump->outputs);
  fail_unless (pairs == pump->common, "STEREO_TEST_SEED=%u: %" G_GUINT64_FORMAT " pairs of %" G_GUINT64_FORMAT,
      pump->seed, pairs, pump->common);
  fail_unless_equals_uint64 (pairs + left, pump->sent[0]);
  fail_unless_equals_uint64 (pairs + right, pump->sent[1]);
}

/* ---- memory ------------------------------------------------------------------------------ */

typedef struct
{
  gsize heap, resident, device;
} Memory;

/* The device's only where one is used: see device_memory_used(). */
static Memory
measure_memory (void)
{
  gsize device = g_strcmp0 (g_getenv ("STEREO_BACKEND"), "cuda") ? 0 : device_memory_used ();

  return (Memory){ heap_at_rest (), host_memory_used (), device };
}

static gchar *
describe_growth (Memory before, Memory after)
{
  return g_strdup_printf ("heap %+" G_GINT64_FORMAT " bytes, resident %+" G_GINT64_FORMAT
                          " KiB, device %+" G_GINT64_FORMAT " bytes",
      (gint64) (after.heap - before.heap), (gint64) (after.resident - before.resident) / 1024,
      (gint64) (after.device - before.device));
}

/* The tracer's table of the objects alive is memory too, and grows in jumps. */
static gboolean
leaks_are_traced (void)
{
  const gchar *tracers = g_getenv ("GST_TRACERS");

  return tracers && strstr (tracers, "leaks");
}

/* Everything comes out before it is judged: where it grows tells what does. */
TEST (test_memory_is_flat)
{
  guint64 count = guard_number ("STEREO_LOAD_FRAMES", 1000);
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());
  gint64 begin = g_get_monotonic_time ();
  Memory before, after = { 0 };
  gchar *text = NULL;

#ifdef __GLIBC__
  mallopt (M_ARENA_MAX, 1); /* heap_used() tells of one */
#endif
  guard_begin ("memory over many frames", 60 + (guint) (count / 200));
  Pump *pump = pump_new (seed);
  g_object_set (pump->element, "check-interval", (guint64) WARM / 4 * SCRIPT_FRAME, NULL);
  pump_run (pump, WARM / 2);
  g_print ("STEREO_TEST_SEED=%u\n", seed);
  pump_run (pump, WARM);
  before = measure_memory ();
  for (guint i = 1; i <= 10; i++) {
    pump_run (pump, WARM + count * i / 10);
    g_free (text);
    after = measure_memory ();
    text = describe_growth (before, after);
    g_print ("%" G_GUINT64_FORMAT " moments, %s, %.0f s\n", pump->to, text,
        (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  }
  pump_judge (pump);
  g_print ("long run: %" G_GUINT64_FORMAT " moments, %" G_GUINT64_FORMAT " frames in, %" G_GUINT64_FORMAT " pairs "
           "out; faults: %" G_GUINT64_FORMAT " frames lost, %" G_GUINT64_FORMAT " sent twice; %s since the first %d\n",
      pump->to, pump->sent[0] + pump->sent[1], pump->outputs, pump->dropped[0] + pump->dropped[1],
      pump->repeated[0] + pump->repeated[1], text, WARM);
  pump_free (pump); /* before it is judged: without a process of its own, the test could not end */
  fail_unless (after.heap <= before.heap + GROWTH || leaks_are_traced (), "memory grows: %s", text);
  fail_unless (after.device <= before.device, "memory of the device grows: %s", text);
  g_free (text);
  guard_end ();
}

/* ---- many -------------------------------------------------------------------------------- */

static gpointer
run_pump (gpointer data)
{
  Pump *pump = data;

  pump_run (pump, MAX (100, guard_number ("STEREO_LOAD_FRAMES", 1000) / 10));
  return NULL;
}

TEST (test_many_elements)
{
  guint count = (guint) guard_number ("STEREO_LOAD_ELEMENTS", 10);
  guint64 pairs = 0;
  GThread **threads = g_new0 (GThread *, count);
  Pump **pumps = g_new0 (Pump *, count);

  guard_begin ("many elements", 120 + (guint) (guard_number ("STEREO_LOAD_FRAMES", 1000) / 200) * count);
  for (guint i = 0; i < count; i++)
    pumps[i] = pump_new (i);
  for (guint i = 0; i < count; i++)
    threads[i] = g_thread_new ("pump", run_pump, pumps[i]);
  for (guint i = 0; i < count; i++) {
    g_thread_join (threads[i]);
    pump_judge (pumps[i]);
    pairs += pumps[i]->outputs;
  }
  for (guint i = 0; i < count; i++)
    pump_free (pumps[i]);
  g_print ("many elements: %u at once, %" G_GUINT64_FORMAT " pairs\n", count, pairs);
  g_free (pumps);
  g_free (threads);
  guard_end ();
}

SUITE (load)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
