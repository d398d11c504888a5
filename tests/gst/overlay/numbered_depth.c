/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/overlay/numbered_depth.h"

#include <math.h>

Overlay *
new_overlay (const gchar *properties)
{
  g_autofree gchar *all = g_strconcat (NUMBERED, properties, NULL);

  return overlay_new (all, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
}

void
push_live (Overlay *overlay, GstClockTime pts)
{
  overlay_push_live (overlay, plain_frame (&overlay->info, LIVE), pts);
}

void
push_depth (Overlay *overlay, gint number, GstClockTime pts)
{
  overlay_push_depth (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 100 * (guint) number), pts);
}

gint
number_in (GstBuffer *buffer)
{
  guint8 value;

  gst_buffer_extract (buffer, 0, &value, 1);
  return value == LIVE ? NO_DEPTH : (gint) rint (254 - value * 254 / 255.0);
}

void
expect_frame (Overlay *overlay, GstClockTime pts, gint number)
{
  g_autoptr (GstBuffer) out = overlay_pull (overlay, pts);

  fail_unless_equals_int (number_in (out), number);
}
