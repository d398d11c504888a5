/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person sees at a glance: near, clear or unknown, how old it is, colours of their own moment, and grey cameras. */
#include <gst/base/gstaggregator.h>

#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define WIDTH 320
#define HEIGHT 240

typedef enum
{
  CLEAN,
  RED,
  HATCHED
} Border;

static void
pixel_at (GstBuffer *out, gint x, gint y, guint8 rgb[3])
{
  gst_buffer_extract (out, 3 * (gsize) (y * WIDTH + x), rgb, 3);
}

/* What the upper edge of an RGB picture looks like, whose live view is 60 everywhere. */
static Border
border_of (GstBuffer *out)
{
  guint red = 0, amber = 0, black = 0;

  for (gint x = 0; x < WIDTH; x++) {
    guint8 rgb[3];

    pixel_at (out, x, 1, rgb);
    red += rgb[0] > 180 && rgb[1] < 60 && rgb[2] < 60;
    amber += rgb[0] > 200 && rgb[1] > 140 && rgb[2] < 60;
    black += rgb[0] < 20 && rgb[1] < 20 && rgb[2] < 20;
  }
  if (amber > WIDTH / 4 && black > WIDTH / 4)
    return HATCHED;
  return red > WIDTH * 9 / 10 ? RED : CLEAN;
}

static Overlay *
new_overlay (const gchar *properties)
{
  g_autofree gchar *all = g_strconcat ("message-interval=0 ", properties, NULL);

  return overlay_new (all, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
}

static GstBuffer *
show_live (Overlay *overlay, GstClockTime pts)
{
  overlay_push_live (overlay, plain_frame (&overlay->info, 60), pts);
  return overlay_pull (overlay, pts);
}

static void
send_health (Overlay *overlay, guint flags, const gchar *reason)
{
  GstStructure *content = gst_structure_new (
      "GstStereoHealth", "health", GST_TYPE_STEREO_HEALTH_FLAGS, flags, "reason", G_TYPE_STRING, reason, NULL);

  fail_unless (gst_harness_push_event (overlay->depth, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, content)));
}

/* Each state has a border that no other state has, whatever the reason is. Without the verdict, none has a border. */
TEST (test_borders)
{
  static const struct
  {
    const gchar *name, *reason;
    guint sample, unseen; /* unseen: of four parts of the picture */
    guint health, event;
    GstClockTime after; /* the frame that is looked at */
    Border border;
  } cases[] = {
    { "near", NULL, 700, 0, 0, 0, 0, RED },
    { "near, half seen", NULL, 700, 3, 0, 0, 0, RED },
    { "clear", NULL, 4000, 0, 0, 0, 0, CLEAN },
    { "half seen", NULL, 4000, 3, 0, 0, 0, HATCHED },
    { "nothing seen", NULL, 0, 4, 0, 0, 0, HATCHED },
    { "frozen", "right camera frozen", 700, 0, GST_STEREO_HEALTH_FROZEN_RIGHT, 0, 0, HATCHED },
    { "frozen, and clear", "right camera frozen", 4000, 0, GST_STEREO_HEALTH_FROZEN_RIGHT, 0, 0, HATCHED },
    { "silent", "right camera silent", 700, 0, 0, GST_STEREO_HEALTH_SILENT_RIGHT, 0, HATCHED },
    { "too old", "depth is too old", 4000, 0, 0, 0, 2 * GST_SECOND, HATCHED },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const guint at = i % G_N_ELEMENTS (cases);
    gboolean shown = i < G_N_ELEMENTS (cases);
    g_autoptr (Overlay) overlay = new_overlay (
        shown ? "warn-distance=1000 alpha=0 legend=false" : "warn-distance=1000 alpha=0 legend=false verdict=false");
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, cases[at].sample);

    fill_depth (depth, 0, 0, WIDTH, (gint) cases[at].unseen * HEIGHT / 4, 0);
    gst_buffer_get_stereo_meta (depth)->health = cases[at].health;
    if (cases[at].event)
      send_health (overlay, cases[at].event, cases[at].reason);
    overlay_push_depth (overlay, depth, 0);
    overlay_eos (overlay, FALSE, TRUE);
    g_autoptr (GstBuffer) first = show_live (overlay, 0), last = NULL;
    if (cases[at].after)
      last = show_live (overlay, cases[at].after);
    fail_unless (border_of (last ? last : first) == (shown ? cases[at].border : CLEAN), "%s: border %d", cases[at].name,
        border_of (first));
  }
}

/* A camera that is silent is known without a frame, and is over without one. Of such events only those of the live view go on. */
TEST (test_silence_is_posted)
{
  g_autoptr (Overlay) overlay = new_overlay ("");
  GstEvent *event;
  guint passed = 0;

  for (guint i = 0; i < 3; i++) {
    if (i > 0)
      send_health (overlay, i == 1 ? GST_STEREO_HEALTH_SILENT_LEFT : 0, i == 1 ? "left camera silent" : "");
    overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), i * TICK);
    gst_buffer_unref (show_live (overlay, i * TICK));
    g_autoptr (GstStructure) posted = overlay_nearest (overlay);
    fail_unless_equals_string (gst_structure_get_string (posted, "state"), i == 1 ? "unknown" : "near");
    fail_unless_equals_string (gst_structure_get_string (posted, "reason"), i == 1 ? "left camera silent" : NULL);
  }
  gst_harness_push_event (
      overlay->live, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("of-the-live-view")));
  overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), 3 * TICK);
  gst_buffer_unref (show_live (overlay, 3 * TICK));
  while ((event = gst_harness_try_pull_event (overlay->live))) {
    fail_if (gst_event_has_name (event, "GstStereoHealth"));
    passed += gst_event_has_name (event, "of-the-live-view");
    gst_event_unref (event);
  }
  fail_unless_equals_int (passed, 1);
}

/* A camera that gives no pictures: the last one is shown again, hatched, and says so; then the camera is back. */
TEST (test_no_picture_comes)
{
  g_autoptr (Overlay) overlay = new_overlay ("alpha=0 legend=false max-age=600000000");

  gst_harness_set_live (overlay->live, TRUE);
  gst_harness_set_live (overlay->depth, TRUE);
  overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), 0);
  gst_buffer_unref (show_live (overlay, 0));
  for (guint i = 0; i < 2; i++) {
    fail_unless (gst_harness_crank_single_clock_wait (overlay->depth));
    g_autoptr (GstBuffer) again = overlay_pull (overlay, 600 * GST_MSECOND + i * GST_SECOND / 2);
    fail_unless_equals_int (border_of (again), HATCHED);
  }
  overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), 2 * GST_SECOND);
  g_autoptr (GstBuffer) back = show_live (overlay, 2 * GST_SECOND);
  fail_unless_equals_int (border_of (back), CLEAN);
}

/* Without a verdict in it, a picture that is shown again would look live: nothing waits for the time to show it. */
TEST_LOOP (test_no_picture_without_a_verdict, 0, 2)
{
  g_autoptr (Overlay) overlay = new_overlay (__i__ ? "verdict=false max-age=600000000" : "max-age=600000000");
  GstAggregator *element = GST_AGGREGATOR (overlay->element);

  overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), 0);
  gst_buffer_unref (show_live (overlay, 0));
  fail_unless_equals_uint64 (
      GST_AGGREGATOR_GET_CLASS (element)->get_next_time (element), __i__ ? GST_CLOCK_TIME_NONE : 600 * GST_MSECOND);
}

static gboolean
has_colours (GstBuffer *out)
{
  guint8 rgb[3];

  pixel_at (out, WIDTH / 2, HEIGHT / 2, rgb);
  return rgb[0] != 60 || rgb[1] != 60 || rgb[2] != 60;
}

/* Colours stay over pictures of their moment, and come back when the depth has kept pace for a second. */
TEST (test_colours_of_another_moment)
{
  g_autoptr (Overlay) overlay = new_overlay ("alpha=1 text=false legend=false max-age=10000000000");
  guint late = 0;

  for (guint i = 0; i < 80; i++) {
    /* one depth for ten frames; the base class waits for a pad that has nothing */
    if (i == 1)
      fail_unless (gst_harness_push_event (overlay->depth, gst_event_new_gap (TICK, 9 * TICK)));
    else if (i < 3 || i > 10)
      overlay_push_depth (
          overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), (i == 2 ? 10 : i) * TICK);
    g_autoptr (GstBuffer) out = show_live (overlay, i * TICK);
    if (i >= 3 && i <= 9 + 30)
      late += has_colours (out);
    else
      fail_unless (has_colours (out), "frame %u has no colours", i);
  }
  fail_unless (late <= 1, "%u frames have the colours of another moment", late);
}

/* A grey camera gets colours wherever downstream takes them, GRAY8 and GRAY16 alike; so does one whose format it does not take. */
TEST (test_grey_becomes_colour)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
    GST_VIDEO_FORMAT_GRAY16_BE, GST_VIDEO_FORMAT_BGR };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (Overlay) overlay = overlay_new (
        "alpha=0.5 text=false legend=false", formats[i], WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 200);
    guint8 rgb[3];

    gst_harness_set_sink_caps_str (overlay->live, "video/x-raw, format={GRAY8, I420, RGB}");
    fill_depth (depth, 0, 0, WIDTH / 2, HEIGHT, 0);
    g_autoptr (GstBuffer) out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
    fail_unless_equals_uint64 (gst_buffer_get_size (out), WIDTH * HEIGHT * 3);
    pixel_at (out, 10, 100, rgb);
    /* GStreamer's matrix has two factors of 128 that are rounded to a 256th: half a level each */
    for (guint c = 0; c < 3; c++)
      fail_unless (ABS (rgb[c] - 60) <= 1, "%u %u %u", rgb[0], rgb[1], rgb[2]);
    pixel_at (out, WIDTH - 10, 100, rgb);
    fail_unless (rgb[0] > rgb[2] + 40, "%u %u %u", rgb[0], rgb[1], rgb[2]);
    overlay_expect_none (overlay, GST_MESSAGE_WARNING);
  }
}

/* Where the picture must be grey, what is farther is darker, and a warning says so once. */
TEST (test_grey_falls_with_the_distance)
{
  g_autoptr (Overlay) overlay = overlay_new ("alpha=1 text=false legend=false near=500 far=20000 scale=logarithmic",
      GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  guint8 last = 255, value;
  guint sample = 600;

  for (guint i = 0; i < 12; i++, sample = sample * 4 / 3) {
    g_autoptr (GstBuffer) out = overlay_show (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, sample),
        plain_frame (&overlay->info, 60), i * TICK);
    gst_buffer_extract (out, 0, &value, 1);
    fail_unless (value < last, "%u mm is %u, after %u", sample, value, last);
    last = value;
  }
  overlay_expect (overlay, GST_MESSAGE_WARNING, "grey pictures only", NULL);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
}

SUITE (overlay_display)
{
}
