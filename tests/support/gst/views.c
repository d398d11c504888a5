/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/views.h"

#include <gst/video/video.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/gst/real.h"
#include "tests/support/gst/util.h"

/* FALSE where the picture, or a decoder for it, is missing. */
static gboolean
load (const gchar *name, const gchar *format, RealView *view)
{
  GstSample *sample = real_picture (name, format);
  GstVideoFrame frame;
  GstVideoInfo info;

  if (!sample)
    return FALSE;
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless (gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  *view = (RealView){ GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info),
    GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0) };
  view->pixels = g_malloc ((gsize) (view->width * view->height * view->step));
  for (gint y = 0; y < view->height; y++)
    memcpy (view->pixels + y * view->width * view->step,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        (gsize) (view->width * view->step));
  gst_video_frame_unmap (&frame);
  gst_sample_unref (sample);
  return TRUE;
}

/* The frames of @name: left/000000.png and so on, or left.png alone. */
gboolean
real_sequence_load (RealSequence *sequence, const gchar *name, const gchar *format)
{
  static const gchar *const sides[] = { "left", "right" };
  gchar *one = g_strdup_printf ("%s/%s/left.png", g_getenv ("STEREO_DATA"), name);
  gboolean still = g_file_test (one, G_FILE_TEST_EXISTS), more = TRUE;

  sequence->count = 0;
  g_free (one);
  while (more && sequence->count < (still ? 1 : REAL_FRAMES)) {
    for (guint v = 0; v < 2 && more; v++) {
      g_autofree gchar *path = still ? g_strdup_printf ("%s/%s.png", name, sides[v]) :
                                       g_strdup_printf ("%s/%s/%06u.png", name, sides[v], sequence->count);
      more = load (path, format, &sequence->views[sequence->count][v]);
    }
    sequence->count += more;
  }
  return sequence->count > 0;
}

void
real_sequence_clear (RealSequence *sequence)
{
  for (guint i = 0; i < sequence->count; i++)
    for (guint v = 0; v < 2; v++)
      g_free (sequence->views[i][v].pixels);
}

StereoImage
real_view_image (const RealView *view)
{
  return (StereoImage){ view->pixels, (ptrdiff_t) view->width * view->step, view->step, view->step == 1 ? 1 : 3,
    { 0, view->step == 1 ? 0 : 1, view->step == 1 ? 0 : 2 }, STEREO_MEMORY_HOST };
}

/* ---- faults ------------------------------------------------------------------------------ */

/* A mean over 9x9 pixels. */
static void
blur (RealView *view)
{
  gint width = view->width * view->step, count = width * view->height;
  g_autofree guint8 *copy = g_malloc ((gsize) count);

  for (guint pass = 0; pass < 2; pass++) {
    memcpy (copy, view->pixels, (gsize) count);
    for (gint y = 0; y < view->height; y++)
      for (gint x = 0; x < width; x++) {
        gint sum = 0;
        for (gint i = -4; i <= 4; i++)
          sum += pass ?
              copy[CLAMP (y + i, 0, view->height - 1) * width + x] :
              copy[y * width + CLAMP (x + i * view->step, x % view->step, width - view->step + x % view->step)];
        view->pixels[y * width + x] = (guint8) (sum / 9);
      }
  }
}

/* Sensor noise of a deviation of about 3 grey levels, and the fault of that name. */
void
real_view_change (RealView *view, const gchar *fault, guint seed)
{
  gint count = view->width * view->height * view->step;
  static gint8 noises[65536];

  /* from its end, so that the first one is there when all are */
  for (guint i = G_N_ELEMENTS (noises); !noises[0] && i-- > 0;)
    noises[i] = (gint8) (i ? texture (77, (gint) i, 3) % 11 - 5 : 1);
  if (!strcmp (fault, "blurred"))
    blur (view);
  for (gint i = 0; i < count; i++) {
    gint level = view->pixels[i], noise = noises[((guint) (i + (i >> 16) * 101) + seed * 12347) & 65535];
    if (!strcmp (fault, "black"))
      level = 0;
    else if (!strcmp (fault, "blown-out"))
      level = MIN (255, level * 6);
    else if (!strcmp (fault, "dark"))
      level = level / 2;
    else if (!strcmp (fault, "covered"))
      level = 50;
    view->pixels[i] = (guint8) CLAMP (level + (level < 255 ? noise : 0), 0, 255);
  }
}

RealView
real_view_copy (const RealView *view)
{
  RealView copy = *view;

  copy.pixels = g_malloc ((gsize) (view->width * view->height * view->step));
  memcpy (copy.pixels, view->pixels, (gsize) (view->width * view->height * view->step));
  return copy;
}

/* Half as wide and high, each pixel the mean of four. */
RealView
real_view_halved (const RealView *view)
{
  RealView half = { view->width / 2, view->height / 2, 1 };

  half.pixels = g_malloc ((gsize) (half.width * half.height));
  for (gint y = 0; y < half.height; y++)
    for (gint x = 0; x < half.width; x++) {
      const guint8 *at = view->pixels + 2 * y * view->width + 2 * x;
      half.pixels[y * half.width + x] = (guint8) ((at[0] + at[1] + at[view->width] + at[view->width + 1] + 2) / 4);
    }
  return half;
}

/* Enlarged about its middle; a point is found @down rows lower. */
RealView
real_view_resampled (const RealView *view, gdouble scale, gint down)
{
  RealView other = real_view_copy (view);

  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width; x++) {
      gdouble u = (x - view->width / 2.0) / scale + view->width / 2.0;
      gdouble v = (y - down - view->height / 2.0) / scale + view->height / 2.0;
      gint column = CLAMP ((gint) u, 0, view->width - 2), row = CLAMP ((gint) v, 0, view->height - 2);
      gdouble across = CLAMP (u - column, 0, 1), along = CLAMP (v - row, 0, 1);
      const guint8 *at = view->pixels + row * view->width + column, *below = at + view->width;
      other.pixels[y * view->width + x] = (guint8) (0.5 + (1 - along) * (at[0] + across * (at[1] - at[0])) +
          along * (below[0] + across * (below[1] - below[0])));
    }
  return other;
}

/* "stripe:50-70": these rows, in percent, are those of the first picture; "noisy:50-70": under noise. */
void
real_view_freeze (RealView *view, const RealView *first, const gchar *fault, guint seed)
{
  gint from, to, size = view->width * view->step;
  gboolean noisy = sscanf (fault, "noisy:%d-%d", &from, &to) == 2;

  if (!noisy && sscanf (fault, "stripe:%d-%d", &from, &to) != 2)
    return;
  RealView still = real_view_copy (first);
  real_view_change (&still, "none", noisy ? 1000 + seed : 0);
  for (gint y = from * view->height / 100; y < to * view->height / 100; y++)
    memcpy (view->pixels + y * size, still.pixels + y * size, (gsize) size);
  g_free (still.pixels);
}

/* "rows:50-70": something of one grey level, with noise, lies before these rows, in percent; "columns:50-70": columns. */
void
real_view_cover (RealView *view, const gchar *fault, guint seed)
{
  gboolean rows = g_str_has_prefix (fault, "rows:");
  gint from, to, size = rows ? view->height : view->width;

  if (!rows && !g_str_has_prefix (fault, "columns:"))
    return;
  fail_unless (sscanf (strchr (fault, ':'), ":%d-%d", &from, &to) == 2);
  RealView cover = real_view_copy (view);
  real_view_change (&cover, "covered", seed);
  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width; x++) {
      gint place = 100 * (rows ? y : x) / size, at = (y * view->width + x) * view->step;
      if (place >= from && place < to)
        memcpy (view->pixels + at, cover.pixels + at, (gsize) view->step);
    }
  g_free (cover.pixels);
}
