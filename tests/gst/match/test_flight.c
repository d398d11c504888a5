/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs in flight while the stream changes: all come out, in order, with the caps, the segment and the parameters that
 * held when they came in. A gate at the source pad holds a buffer there, so that the test knows what waits behind it.
 * STEREO_TEST_BACKEND=cuda computes on a device.
 */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define STEP (FRAME / 4) /* of timestamps: with latency set, pads hold as many as are pushed here */
#define ALL 1000

typedef struct
{
  Pair *pair;
  GMutex lock;
  GCond changed;
  gint held;    /* number of the buffer at the gate */
  gint open;    /* buffers before this one pass */
  gint count;   /* of buffers that came to the gate */
  GString *log; /* "caps segment 0 1 gap 2 eos" */
} Gate;

static void
note (Gate *gate, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
    case GST_EVENT_CUSTOM_DOWNSTREAM:
    case GST_EVENT_EOS:
      g_string_append_printf (gate->log, "%s ", GST_EVENT_TYPE_NAME (event));
      break;
    case GST_EVENT_FLUSH_START:
      gate->open = ALL;
      g_cond_broadcast (&gate->changed);
      break;
    default:
      break;
  }
}

static GstPadProbeReturn
at_gate (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;

  g_mutex_lock (&gate->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    gint number = gate->count++;
    g_string_append_printf (gate->log, "%d ", (gint) (GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info)) / STEP));
    gate->held = number;
    g_cond_broadcast (&gate->changed);
    while (gate->open <= number)
      g_cond_wait (&gate->changed, &gate->lock);
  } else {
    note (gate, GST_PAD_PROBE_INFO_EVENT (info));
  }
  g_mutex_unlock (&gate->lock);
  return GST_PAD_PROBE_OK;
}

/* Waits until buffer @number stands at the gate. */
static void
gate_wait (Gate *gate, gint number)
{
  gint64 end = g_get_monotonic_time () + PATIENCE / GST_USECOND;

  g_mutex_lock (&gate->lock);
  while (gate->held < number)
    fail_unless (g_cond_wait_until (&gate->changed, &gate->lock, end), "buffer %d does not come", number);
  g_mutex_unlock (&gate->lock);
}

/* Lets the buffers before @number pass. */
static void
gate_open (Gate *gate, gint number)
{
  g_mutex_lock (&gate->lock);
  gate->open = number;
  g_cond_broadcast (&gate->changed);
  g_mutex_unlock (&gate->lock);
}

static void
push (Gate *gate, guint number)
{
  GstBuffer *left = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, number, 0, 0);
  GstBuffer *right = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, number, SHIFT, 0);

  fail_unless_equals_int (gst_harness_push (gate->pair->left, stamp (left, number * STEP, STEP)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_push (gate->pair->right, stamp (right, number * STEP, STEP)), GST_FLOW_OK);
}

static void
gate_new (Gate *gate, gboolean live)
{
  const gchar *backend = g_getenv ("STEREO_TEST_BACKEND"), *properties = EXACT "latency=1000000000";

  memset (gate, 0, sizeof *gate);
  g_mutex_init (&gate->lock);
  g_cond_init (&gate->changed);
  gate->log = g_string_new (NULL);
  gate->held = -1;
  gate->pair = live ? pair_new (properties) : pair_new_not_live (properties);
  if (backend)
    gst_util_set_object_arg (G_OBJECT (gate->pair->element), "backend", backend);
  g_autoptr (GstPad) src = gst_element_get_static_pad (gate->pair->element, "src");
  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, at_gate, gate,
      NULL);
}

/* Pair 0 stands at the gate; those before @end wait behind it. */
static void
gate_start (Gate *gate, guint end)
{
  pair_set_caps (gate->pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  push (gate, 0);
  gate_wait (gate, 0);
  for (guint i = 1; i < end; i++)
    push (gate, i);
}

/* Pair 2 is in flight, pair 1 at the gate; pair 3 waits, and what was pushed before it is after 2. */
static void
gate_fly (Gate *gate)
{
  gate_start (gate, 4);
  gate_open (gate, 1);
  gate_wait (gate, 1);
  fail_unless_equals_uint64 (stat_of (gate->pair->element, "overlapped"), 1);
}

/* Pairs from @first to @end - 1 come out, all of that disparity. */
static void
pull (Gate *gate, guint first, guint end, guint expected)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY16_LE, VIEW_WIDTH, VIEW_HEIGHT);
  for (guint number = first; number < end; number++) {
    g_autoptr (GstBuffer) out = pair_pull (gate->pair, number * STEP);
    check_interior (out, &info, expected);
  }
}

static void
gate_free (Gate *gate, const gchar *log)
{
  if (log)
    fail_unless_equals_string (gate->log->str, log);
  expect_no_message (gate->pair->bus, GST_MESSAGE_ERROR);
  gate_open (gate, ALL);
  pair_free (gate->pair);
  g_string_free (gate->log, TRUE);
  g_cond_clear (&gate->changed);
  g_mutex_clear (&gate->lock);
}

TEST (test_all_come_out_before_the_end)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_fly (&gate);
  pair_eos (gate.pair, TRUE, TRUE);
  gate_open (&gate, ALL);
  pull (&gate, 0, 4, SHIFT * 64);
  pair_wait_eos (gate.pair);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "pairs"), 4);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "overlapped"), 2);
  gate_free (&gate, "caps segment 0 1 2 3 eos ");
}

TEST (test_a_live_pair_does_not_wait_for_the_next)
{
  Gate gate;

  gate_new (&gate, TRUE);
  gate_start (&gate, 3);
  gate_open (&gate, ALL);
  pull (&gate, 0, 3, SHIFT * 64);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "overlapped"), 0);
  gate_free (&gate, "caps segment 0 1 2 ");
}

TEST (test_a_pair_with_nothing_behind_it_comes_at_once)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_start (&gate, 1);
  gate_open (&gate, ALL);
  for (guint i = 0; i < 4; i++) {
    pull (&gate, i, i + 1, SHIFT * 64);
    push (&gate, i + 1);
  }
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "overlapped"), 0);
  gate_free (&gate, NULL);
}

TEST (test_events_keep_their_place)
{
  GstSegment segment;
  Gate gate;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.stop = 1000 * GST_SECOND;
  gate_new (&gate, FALSE);
  gate_start (&gate, 3);
  pair_push_event (gate.pair, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a-word")));
  push (&gate, 3);
  pair_push_event (gate.pair, gst_event_new_gap (4 * STEP, STEP));
  push (&gate, 5);
  pair_push_event (gate.pair, gst_event_new_segment (&segment));
  gate_open (&gate, ALL);
  pull (&gate, 0, 4, SHIFT * 64);
  pull (&gate, 5, 6, SHIFT * 64);
  push (&gate, 6);
  pull (&gate, 6, 7, SHIFT * 64);
  fail_unless (stat_of (gate.pair->element, "overlapped") >= 1);
  gate_free (&gate, "caps segment 0 1 2 custom-downstream 3 gap 5 segment 6 ");
}

TEST (test_a_property_changes)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_fly (&gate);
  g_object_set (gate.pair->element, "disparity-scale", 16.0, NULL);
  gate_open (&gate, ALL);
  pull (&gate, 0, 3, SHIFT * 64);
  pull (&gate, 3, 4, SHIFT * 16);
  gate_free (&gate, "caps segment 0 1 2 3 ");
}

/* Depth without a calibration: a warning, and nothing is lost. */
TEST (test_a_property_that_cannot_work)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_fly (&gate);
  g_object_set (gate.pair->element, "output", 1, NULL);
  gate_open (&gate, ALL);
  pull (&gate, 0, 4, SHIFT * 64);
  expect_warning (gate.pair->bus, "focal-length", "stay in force", NULL);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "pairs"), 4);
  gate_free (&gate, NULL);
}

TEST (test_caps_change)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_start (&gate, 3);
  pair_set_caps (gate.pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH + 8, VIEW_HEIGHT, NULL);
  for (guint i = 0; i < 2; i++)
    gst_harness_push (i ? gate.pair->right : gate.pair->left,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH + 8, VIEW_HEIGHT, 1, i ? SHIFT : 0, 0), 3 * STEP, STEP));
  gate_open (&gate, ALL);
  pull (&gate, 0, 3, SHIFT * 64);
  GstBuffer *out = pair_pull (gate.pair, 3 * STEP);
  GstVideoInfo info = output_info (gate.pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), VIEW_WIDTH + 8);
  check_interior (out, &info, SHIFT * 64);
  gst_buffer_unref (out);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "overlapped"), 1);
  gate_free (&gate, "caps segment 0 1 2 caps 3 ");
}

TEST (test_downstream_wants_other_caps)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gate_fly (&gate);
  gst_harness_set_sink_caps_str (gate.pair->left, "video/x-raw,format=GRAY8");
  gst_harness_push_upstream_event (gate.pair->left, gst_event_new_reconfigure ());
  gate_open (&gate, ALL);
  pull (&gate, 0, 3, SHIFT * 64);
  g_autoptr (GstBuffer) out = pair_pull (gate.pair, 3 * STEP);
  GstVideoInfo info = output_info (gate.pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY8);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->kind, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE);
  gate_free (&gate, "caps segment 0 1 2 caps 3 ");
}

/* What is in flight belongs to what was flushed. */
TEST (test_flush)
{
  GstBuffer *out;
  Gate gate;

  gate_new (&gate, FALSE);
  gate_fly (&gate);
  pair_flush (gate.pair, NULL);
  pull (&gate, 0, 1, SHIFT * 64);
  /* pair 1 was on its way out: it may have been faster than the flush */
  g_usleep (100000);
  while ((out = gst_harness_try_pull (gate.pair->left))) {
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), STEP);
    gst_buffer_unref (out);
  }
  push (&gate, 10);
  out = pair_pull (gate.pair, 10 * STEP);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (out);
  pair_eos (gate.pair, TRUE, TRUE);
  pair_wait_eos (gate.pair);
  gate_free (&gate, NULL);
}

TEST (test_stop)
{
  for (guint i = 0; i < 10; i++) {
    Gate gate;
    gate_new (&gate, FALSE);
    gate_fly (&gate);
    gate_free (&gate, NULL);
  }
}

static GstPadProbeReturn
offer_one_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstVideoInfo video;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_parse_allocation (query, &caps, NULL);
  fail_unless (gst_video_info_from_caps (&video, caps));
  g_autoptr (GstBufferPool) pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, (guint) video.size, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_query_add_allocation_pool (query, pool, (guint) video.size, 1, 1);
  return GST_PAD_PROBE_HANDLED;
}

/* Downstream's pool has one buffer: waiting for a second one while the first is in flight would be for ever. */
TEST (test_a_pool_of_one_buffer)
{
  Gate gate;

  gate_new (&gate, FALSE);
  gst_pad_add_probe (gate.pair->left->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH,
      offer_one_buffer, NULL, NULL);
  gate_start (&gate, 4);
  gate_open (&gate, ALL);
  pull (&gate, 0, 4, SHIFT * 64);
  fail_unless_equals_uint64 (stat_of (gate.pair->element, "overlapped"), 0);
  gate_free (&gate, "caps segment 0 1 2 3 ");
}

SUITE (flight)
{
}
