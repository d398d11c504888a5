/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A depth stream with faults: late, twice, not at all, on a pad that is released and requested again. Whatever the
 * depth does, every frame of the live view comes out of depthoverlay once and in order.
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/sink_pad.h"
#include "tests/support/gst/suite.h"

#define FRAMES 600
#define WIDTH 32
#define HEIGHT 24

typedef struct
{
  GstElement *element;
  GstPad *live, *depth, *sink;
  GMutex stream, lock; /* stream: of the depth */
  GCond changed;
  GRand *rand; /* of the depth's thread */
  guint outputs;
  gboolean eos, busy;
  gboolean depth_done, hold; /* the depth is at its end, and waits there */
  gint done;                 /* atomic: the live view is at its end */
  gchar *failure;
} Show;

static GstFlowReturn
take_output (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Show *show = gst_pad_get_element_private (pad);

  g_mutex_lock (&show->lock);
  if (GST_BUFFER_PTS (buffer) != show->outputs * TICK && !show->failure)
    show->failure = g_strdup_printf (
        "output %u has the time %" GST_TIME_FORMAT, show->outputs, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
  show->outputs++;
  g_cond_broadcast (&show->changed);
  g_mutex_unlock (&show->lock);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Show *show = gst_pad_get_element_private (pad);

  g_mutex_lock (&show->lock);
  show->eos |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  g_cond_broadcast (&show->changed);
  g_mutex_unlock (&show->lock);
  gst_event_unref (event);
  return TRUE;
}

static void
introduce (GstPad *pad, const gchar *caps_text)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (caps_text);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_set_active (pad, TRUE);
  gst_pad_push_event (pad, gst_event_new_stream_start (GST_PAD_NAME (pad)));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

static void
link_depth (Show *show)
{
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (show->element, "sink_depth");

  fail_unless_equals_int (gst_pad_link (show->depth, pad), GST_PAD_LINK_OK);
}

static void
release_depth (Show *show)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (show->depth);

  gst_element_release_request_pad (show->element, pad);
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
    gst_pad_push (show->live, buffer);
  }
  g_atomic_int_set (&show->done, TRUE);
  gst_pad_push_event (show->live, gst_event_new_eos ());
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

  for (guint i = 0; i < FRAMES && !g_atomic_int_get (&show->done); i++) {
    g_mutex_lock (&show->lock);
    while (show->busy)
      g_cond_wait (&show->changed, &show->lock);
    g_mutex_unlock (&show->lock);
    g_mutex_lock (&show->stream);
    send_one_depth (show, i);
    g_mutex_unlock (&show->stream);
  }
  g_mutex_lock (&show->lock);
  show->depth_done = TRUE;
  g_cond_broadcast (&show->changed);
  while (show->hold)
    g_cond_wait (&show->changed, &show->lock);
  g_mutex_unlock (&show->lock);
  gst_pad_push_event (show->depth, gst_event_new_eos ());
  return NULL;
}

static void
show_new (Show *show, guint seed)
{
  memset (show, 0, sizeof *show);
  show->hold = TRUE;
  g_mutex_init (&show->lock);
  g_mutex_init (&show->stream);
  g_cond_init (&show->changed);
  show->rand = g_rand_new_with_seed (seed);
  show->element = gst_object_ref_sink (gst_element_factory_make ("depthoverlay", NULL));
  show->live = gst_object_ref_sink (gst_pad_new ("live", GST_PAD_SRC));
  show->depth = gst_object_ref_sink (gst_pad_new ("depth", GST_PAD_SRC));
  show->sink = sink_pad_new (show->element, gst_caps_new_any (), take_output, take_event, show);
  GstPad *pad = gst_element_get_static_pad (show->element, "sink");
  gst_pad_link (show->live, pad);
  gst_object_unref (pad);
  link_depth (show);
  gst_element_set_state (show->element, GST_STATE_PLAYING);
  introduce (show->live, "video/x-raw,format=RGB,width=32,height=24,framerate=30/1");
  introduce (show->depth, "video/x-raw,format=GRAY16_LE,width=32,height=24,framerate=30/1");
}

static void
show_free (Show *show)
{
  GstPad *pads[] = { show->live, show->depth };

  gst_element_set_state (show->element, GST_STATE_NULL);
  release_depth (show);
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
    gst_pad_set_active (pads[i], FALSE);
    gst_object_unref (pads[i]);
  }
  sink_pad_free (show->sink);
  gst_object_unref (show->element);
  g_rand_free (show->rand);
  g_mutex_clear (&show->lock);
  g_mutex_clear (&show->stream);
  g_cond_clear (&show->changed);
}

static void
set_busy (Show *show, gboolean busy)
{
  g_mutex_lock (&show->lock);
  show->busy = busy;
  g_cond_broadcast (&show->changed);
  g_mutex_unlock (&show->lock);
}

/* FALSE when that many do not come before the depth ends. */
static gboolean
wait_for (Show *show, guint outputs)
{
  g_mutex_lock (&show->lock);
  while (show->outputs < outputs && !(show->depth_done && show->hold) && !show->eos)
    g_cond_wait (&show->changed, &show->lock);
  gboolean came = show->outputs >= outputs && !show->depth_done;
  g_mutex_unlock (&show->lock);
  return came;
}

static void
let_end (Show *show)
{
  g_mutex_lock (&show->lock);
  show->hold = FALSE;
  g_cond_broadcast (&show->changed);
  g_mutex_unlock (&show->lock);
}

/* @repads times the depth's pad goes and comes. */
static void
play (Show *show, guint repads)
{
  GThread *live = g_thread_new ("live", send_live, show), *depth = g_thread_new ("depth", send_depth, show);

  for (guint i = 1; i <= repads && wait_for (show, i * FRAMES / (repads + 20)); i++) {
    set_busy (show, TRUE);
    release_depth (show);
    g_mutex_lock (&show->stream);
    link_depth (show);
    g_mutex_unlock (&show->stream);
    set_busy (show, FALSE);
  }
  let_end (show);
  wait_for (show, G_MAXUINT);
  g_thread_join (live);
  /* what the depth's thread waits for, if it does, is that frames are taken: none are any more */
  gst_element_set_state (show->element, GST_STATE_NULL);
  g_thread_join (depth);
}

static void
live_through (guint seed, guint repads, gboolean counted)
{
  Show show;

  guard_begin ("depth as it likes", 30);
  if (counted)
    guard_count_objects ();
  show_new (&show, seed);
  play (&show, repads);
  fail_unless (show.failure == NULL, "seed %u: %s", seed, show.failure);
  fail_unless_equals_int (show.outputs, FRAMES);
  show_free (&show);
  gchar *leaked = counted ? guard_leaked () : NULL;
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
