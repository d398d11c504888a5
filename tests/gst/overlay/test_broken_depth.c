/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A depth stream with faults: late, twice, not at all, on a pad that is released and requested again. Whatever the
 * depth does, every frame of the live view comes out of depthoverlay once and in order.
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define FRAMES 600
#define WIDTH 32
#define HEIGHT 24

typedef struct
{
  GstHarness *live;
  GstPad *depth;
  GMutex stream; /* of the depth: held around a frame, and around the linking of its pad */
  GRand *rand;   /* of the depth's thread */
  gint sent;     /* atomic: the live view is at its end */
  gint linking;  /* atomic: its pad is away: no frame is to be sent */
  gint hold;     /* atomic: the depth does not end yet */
} Show;

static void
link_depth (Show *show)
{
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (show->live->element, "sink_depth");

  fail_unless_equals_int (gst_pad_link (show->depth, pad), GST_PAD_LINK_OK);
}

static void
release_depth (Show *show)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (show->depth);

  gst_element_release_request_pad (show->live->element, pad);
}

static gpointer
send_live (gpointer data)
{
  Show *show = data;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *buffer = plain_frame (&info, (guint8) i);
    GST_BUFFER_PTS (buffer) = i * TICK;
    GST_BUFFER_DURATION (buffer) = TICK;
    gst_harness_push (show->live, buffer);
  }
  g_atomic_int_set (&show->sent, TRUE);
  gst_harness_push_event (show->live, gst_event_new_eos ());
  return NULL;
}

/* By chance none, two, or one of another time or without one. */
static void
send_one_depth (Show *show, guint i)
{
  gdouble chance = g_rand_double (show->rand);

  for (guint k = 0; k < (chance < 0.1 ? 0u : chance < 0.2 ? 2u : 1u); k++) {
    GstBuffer *buffer = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 1000 + i);
    GST_BUFFER_PTS (buffer) = i * TICK + (chance > 0.8 ? (GstClockTime) TICK / 3 : 0);
    if (chance > 0.95)
      GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
    gst_pad_push (show->depth, buffer);
  }
  if (chance < 0.05)
    gst_pad_push_event (show->depth, gst_event_new_gap (i * TICK, TICK));
}

static gpointer
send_depth (gpointer data)
{
  Show *show = data;

  for (guint i = 0; i < FRAMES && !g_atomic_int_get (&show->sent); i++) {
    while (g_atomic_int_get (&show->linking))
      g_usleep (100);
    g_mutex_lock (&show->stream);
    send_one_depth (show, i);
    g_mutex_unlock (&show->stream);
  }
  g_atomic_int_set (&show->sent, TRUE);
  while (g_atomic_int_get (&show->hold))
    g_usleep (100);
  gst_pad_push_event (show->depth, gst_event_new_eos ());
  return NULL;
}

/* @repads times the depth's pad goes and comes, while both streams run. */
static void
play (Show *show, guint repads)
{
  GThread *live = g_thread_new ("live", send_live, show), *depth = g_thread_new ("depth", send_depth, show);

  for (guint i = 1; i <= repads; i++) {
    while (gst_harness_buffers_received (show->live) < i * FRAMES / (repads + 20) && !g_atomic_int_get (&show->sent))
      g_usleep (100);
    if (g_atomic_int_get (&show->sent))
      break;
    g_atomic_int_set (&show->linking, TRUE);
    release_depth (show);
    g_mutex_lock (&show->stream);
    link_depth (show);
    g_mutex_unlock (&show->stream);
    g_atomic_int_set (&show->linking, FALSE);
  }
  g_atomic_int_set (&show->hold, FALSE);
  g_thread_join (live);
  wait_for_eos (show->live);
  /* what the depth's thread waits for, if it does, is that frames are taken: none are any more */
  gst_element_set_state (show->live->element, GST_STATE_NULL);
  g_thread_join (depth);
}

static void
live_through (guint seed, guint repads, gboolean counted)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=GRAY16_LE,width=32,height=24,framerate=30/1");
  GstSegment segment;
  GstBus *bus;
  Show show = { .hold = TRUE, .rand = g_rand_new_with_seed (seed), .depth = gst_pad_new ("depth", GST_PAD_SRC) };

  guard_begin ("depth as it likes", 30);
  if (counted)
    guard_count_objects ();
  g_mutex_init (&show.stream);
  GstElement *element = element_new ("depthoverlay", "", &bus);
  show.live = harness_new (element, "sink", "src", FALSE);
  gst_object_ref_sink (show.depth);
  link_depth (&show);
  gst_pad_set_active (show.depth, TRUE);
  gst_pad_push_event (show.depth, gst_event_new_stream_start ("depth"));
  gst_pad_push_event (show.depth, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (show.depth, gst_event_new_segment (&segment));
  gst_harness_set_src_caps_str (show.live, "video/x-raw,format=RGB,width=32,height=24,framerate=30/1");
  play (&show, repads);
  for (guint i = 0; i < FRAMES; i++) {
    g_autoptr (GstBuffer) out = gst_harness_try_pull (show.live);

    fail_unless (out && GST_BUFFER_PTS (out) == i * TICK, "seed %u: output %u is missing, or of another time", seed, i);
  }
  fail_unless (gst_harness_try_pull (show.live) == NULL);
  release_depth (&show);
  gst_pad_set_active (show.depth, FALSE);
  gst_object_unref (show.depth);
  gst_caps_unref (caps);
  gst_element_set_bus (element, NULL);
  gst_harness_teardown (show.live);
  element_free (element, bus);
  g_rand_free (show.rand);
  g_mutex_clear (&show.stream);
  g_autofree gchar *leaked = counted ? guard_leaked () : NULL;
  fail_unless (leaked == NULL, "seed %u leaks: %s", seed, leaked);
  guard_end ();
}

TEST (test_depth_as_it_likes)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());

  g_print ("STEREO_TEST_SEED=%u\n", seed);
  /* what is made once in a process is there then */
  live_through (seed, 0, FALSE);
  for (guint i = 0; i < 5; i++)
    live_through (seed + i, 0, TRUE);
  for (guint i = 0; i < 5; i++)
    live_through (seed + i, 100, TRUE);
}

SUITE (broken_overlay)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
