/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time of depthoverlay alone, for a frame of a live view that others hold too (as after a tee) and a new depth. */
#include <time.h>

#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define WARM 10

/* Depth of a slope with noise, as a matcher gives it. */
static GstBuffer *
make_depth (Random *random, gint width, gint height)
{
  GstBuffer *depth = new_depth (width, height, GST_STEREO_OUTPUT_KIND_DISPARITY, 0);
  const GstVideoMeta *rows = gst_buffer_get_video_meta (depth);
  GstMapInfo map;

  fail_unless (gst_buffer_map (depth, &map, GST_MAP_WRITE));
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      GST_WRITE_UINT16_LE (map.data + y * rows->stride[0] + 2 * x,
          random_range (random, 0, 9) ? 200 + y * 3000 / height + random_range (random, 0, 63) : 0);
  gst_buffer_unmap (depth, &map);
  return depth;
}

static void
time_format (GstVideoFormat format, gint width, gint height, gint frames, const gchar *properties)
{
  g_autoptr (Overlay) overlay = overlay_new (properties, format, width, height, "GRAY16_LE", width, height);
  Random random = { 1 };
  g_autoptr (GstBuffer) live = random_frame (&random, &overlay->info, 0), depth = make_depth (&random, width, height);
  gint64 start = 0, best = G_MAXINT64, last = 0;
  clock_t work = 0;

  for (gint i = -WARM; i < frames; i++) {
    GstClockTime pts = (GstClockTime) (i + WARM) * TICK;
    GstBuffer *own = gst_buffer_copy (live);

    if (i <= 0) {
      start = last = g_get_monotonic_time ();
      work = clock ();
    }
    gst_buffer_unref (overlay_show (overlay, gst_buffer_copy (depth), own, pts));
    best = MIN (best, g_get_monotonic_time () - last);
    last = g_get_monotonic_time ();
  }
  g_print ("%-5s %dx%d %-36s mean %6.2f ms, best %6.2f ms, mean CPU time %6.2f ms\n",
      gst_video_format_to_string (format), width, height, properties,
      (gdouble) (g_get_monotonic_time () - start) / frames / 1e3, (gdouble) best / 1e3,
      (gdouble) (clock () - work) * 1e3 / CLOCKS_PER_SEC / frames);
}

TEST (test_formats)
{
  const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGBx,
    GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_YUY2 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    time_format (formats[f], 1920, 1080, 100, "warn-distance=1000");
    time_format (formats[f], 1920, 1080, 100, "text=false legend=false");
  }
}

/* A suite, since what it shares with the tests fails as a test does. */
SUITE (bench_overlay)
{
}
