/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereorectify: pixels, formats, layouts, metadata, and what changes on the way. */
#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#include <math.h>

#define THREADS "threads=2 "

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
  GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGBx,
  GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA };
static const gchar *const layouts[] = { "side-by-side", "top-bottom", "row-interleaved", "column-interleaved" };
static const gchar *const sites[] = { "jpeg", "mpeg2", "cosited" };

/* ---- the identity: every format in every layout ------------------------------------------ */

/* Where a component of a view lies in its frame, for all layouts plainly. */
typedef struct
{
  GstVideoFrame frame[2]; /* of both views: the same one when packed */
  const gchar *layout;    /* NULL: a frame for each view */
  gboolean right_first;
  gint width, height; /* of a view */
} Views;

static guint
chroma_of_view (const Views *views, gint view, guint c, gint x, gint y)
{
  const GstVideoFrame *frame = &views->frame[view];
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint later = view != views->right_first;
  gint half_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, c), half_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);

  if (!views->layout)
    return component_at (frame, c, x, y);
  if (g_str_equal (views->layout, "side-by-side"))
    return component_at (frame, c, x + later * (views->width >> half_x), y);
  if (g_str_equal (views->layout, "top-bottom"))
    return component_at (frame, c, x, y + later * (views->height >> half_y));
  /* interleaved views share what is there once for both */
  if (g_str_equal (views->layout, "row-interleaved"))
    return component_at (frame, c, x, half_y ? y : 2 * y + later);
  return component_at (frame, c, half_x ? x : 2 * x + later, y);
}

/* A sample of the output where nothing is moved: that of the input, or the mean of those on its sides. */
static guint
expected_sample (const Views *views, const GstVideoInfo *out, gint view, guint c, gint x, gint y)
{
  const GstVideoInfo *in = &views->frame[view].info;
  GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE (in);
  gboolean rows = views->layout && g_str_equal (views->layout, "row-interleaved");
  gboolean columns = views->layout && g_str_equal (views->layout, "column-interleaved");
  gboolean same_x = GST_VIDEO_FORMAT_INFO_W_SUB (out->finfo, c) ==
      (columns ? 0 : GST_VIDEO_FORMAT_INFO_W_SUB (in->finfo, c));
  gboolean same_y = GST_VIDEO_FORMAT_INFO_H_SUB (out->finfo, c) ==
      (rows ? 0 : GST_VIDEO_FORMAT_INFO_H_SUB (in->finfo, c));
  gint x0 = same_x ? x : 2 * x, y0 = same_y ? y : 2 * y, x1 = x0, y1 = y0;

  if (!same_x && !(site & GST_VIDEO_CHROMA_SITE_H_COSITED))
    x1 = x0 + 1;
  if (!same_y && !(site & GST_VIDEO_CHROMA_SITE_V_COSITED))
    y1 = y0 + 1;
  return (chroma_of_view (views, view, c, x0, y0) + chroma_of_view (views, view, c, x1, y0) +
             chroma_of_view (views, view, c, x0, y1) + chroma_of_view (views, view, c, x1, y1) + 2) /
      4;
}

static void
check_identity (const Views *views, GstHarness *harness, GstBuffer *out)
{
  GstVideoInfo info = output_info (harness);
  gboolean yuv = GST_VIDEO_INFO_IS_YUV (&views->frame[0].info);
  GstVideoFrame mapped;

  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 2 * views->width);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), views->height);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_MODE (&info), GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_FLAGS (&info), GST_VIDEO_MULTIVIEW_FLAGS_NONE);
  fail_unless_equals_int (
      GST_VIDEO_INFO_FORMAT (&info), yuv ? GST_VIDEO_FORMAT_I420 : GST_VIDEO_INFO_FORMAT (&views->frame[0].info));
  fail_unless (gst_video_frame_map (&mapped, &info, out, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (&info, c); x++) {
        gint half = GST_VIDEO_INFO_COMP_WIDTH (&info, c) / 2;
        guint seen = component_at (&mapped, c, x, y);
        guint wanted = expected_sample (views, &info, x >= half, c, x % half, y);
        if (seen != wanted)
          fail ("%s %s: component %u at %d,%d is %u, not %u",
              gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&views->frame[0].info)),
              views->layout ? views->layout : "two pads", c, x, y, seen, wanted);
      }
  gst_video_frame_unmap (&mapped);
}

/* A pair of views of noise, and what becomes of it. Clear it. */
typedef struct
{
  gchar *calibration;
  Pair *pair;
  GstBuffer *views[2], *out;
  GstVideoFrame in[2], mapped; /* of these */
} Rectified;

/* @extra: of the caps of the views; @wanted: caps that downstream takes. Both may be NULL. */
static void
rectify_noise (Rectified *all, const Cameras *cameras, GstVideoFormat format, const gchar *extra, const gchar *wanted)
{
  g_autofree gchar *text = make_caps (format, cameras->width, cameras->height, extra);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  GstVideoInfo info;

  all->calibration = calibration_new (cameras);
  all->pair = rectify_new (all->calibration, THREADS);
  fail_unless (gst_video_info_from_caps (&info, caps));
  if (wanted)
    gst_harness_set_sink_caps_str (all->pair->left, wanted);
  pair_caps (all->pair, text);
  for (guint v = 0; v < 2; v++) {
    all->views[v] = stamp (noise_frame (&info, 50 + v, v ? 0 : 13), 0, FRAME);
    gst_harness_push (v ? all->pair->right : all->pair->left, gst_buffer_ref (all->views[v]));
    fail_unless (gst_video_frame_map (&all->in[v], &info, all->views[v], GST_MAP_READ));
  }
  all->out = pair_pull (all->pair, 0);
  info = output_info (all->pair->left);
  fail_unless (gst_video_frame_map (&all->mapped, &info, all->out, GST_MAP_READ));
}

static void
rectified_clear (Rectified *all)
{
  gst_video_frame_unmap (&all->mapped);
  gst_buffer_unref (all->out);
  for (guint v = 0; v < 2; v++) {
    gst_video_frame_unmap (&all->in[v]);
    gst_buffer_unref (all->views[v]);
  }
  pair_free (all->pair);
  calibration_free (all->calibration);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rectified, rectified_clear)

static void
check_two (GstVideoFormat format, const gchar *site, gint width, gint height)
{
  Cameras cameras = cameras_straight (width, height);
  gboolean yuv = GST_VIDEO_FORMAT_INFO_IS_YUV (gst_video_format_get_info (format));
  g_autofree gchar *extra = g_strconcat ("chroma-site=", site, NULL);
  g_auto (Rectified) all;

  rectify_noise (&all, &cameras, format, yuv ? extra : NULL, NULL);
  const Views views = { .frame = { all.in[0], all.in[1] }, .width = width, .height = height };
  check_identity (&views, all.pair->left, all.out);
}

TEST_LOOP (test_identity_two_pads, 0, G_N_ELEMENTS (formats))
{
  for (guint s = 0; s < G_N_ELEMENTS (sites); s++) {
    check_two (formats[__i__], sites[s], 44, 20);
    check_two (formats[__i__], sites[s], 42, 22);
  }
  /* odd sides, where no two columns share a sample */
  if (!GST_VIDEO_FORMAT_INFO_IS_YUV (gst_video_format_get_info (formats[__i__])))
    check_two (formats[__i__], "jpeg", 43, 21);
}

static void
check_packed (GstVideoFormat format, const gchar *layout, gboolean right_first)
{
  const gint width = 44, height = 20;
  gboolean across = g_str_equal (layout, "side-by-side") || g_str_equal (layout, "column-interleaved");
  Cameras cameras = cameras_straight (width, height);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *properties = with_calibration (calibration, THREADS);
  g_autofree gchar *extra = g_strdup_printf ("multiview-mode=%s,%s", layout, right_first ? RIGHT_FIRST : NO_FLAGS);
  g_autofree gchar *caps = make_caps (format, across ? 2 * width : width, across ? height : 2 * height, extra);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  Views views = { .layout = layout, .right_first = right_first, .width = width, .height = height };
  GstVideoInfo info;
  GstBus *bus;

  fail_unless (gst_video_info_from_caps (&info, parsed));
  GstHarness *harness = filter_new ("stereorectify", properties, &bus);
  gst_harness_set_src_caps_str (harness, caps);
  g_autoptr (GstBuffer) in = stamp (noise_frame (&info, 9, 0), 0, FRAME);
  fail_unless (gst_video_frame_map (&views.frame[0], &info, in, GST_MAP_READ));
  views.frame[1] = views.frame[0];
  fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  fail_unless (out != NULL);
  check_identity (&views, harness, out);
  gst_video_frame_unmap (&views.frame[0]);
  filter_free (harness, bus);
}

TEST_LOOP (test_identity_packed, 0, G_N_ELEMENTS (formats))
{
  for (guint l = 0; l < G_N_ELEMENTS (layouts); l++)
    for (guint right_first = 0; right_first < 2; right_first++)
      check_packed (formats[__i__], layouts[l], right_first);
}

TEST (test_nv12_where_downstream_wants_it)
{
  Cameras cameras = cameras_straight (44, 20);
  g_auto (Rectified) all;
  const GstVideoFrame *out = &all.mapped;

  rectify_noise (&all, &cameras, GST_VIDEO_FORMAT_I420, NULL, "video/x-raw,format=NV12");
  fail_unless_equals_int (GST_VIDEO_FRAME_FORMAT (out), GST_VIDEO_FORMAT_NV12);
  for (guint c = 0; c < 3; c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (out, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (out, c); x++) {
        gint half = GST_VIDEO_FRAME_COMP_WIDTH (out, c) / 2;
        fail_unless_equals_int (component_at (out, c, x, y), component_at (&all.in[x >= half], c, x % half, y));
      }
}

/* ---- pixels that move --------------------------------------------------------------------- */

/* Where the rectified pixel lies in the raw picture, from the cameras alone. */
static void
raw_place (const Cameras *cameras, gint view, gdouble u, gdouble v, gdouble *x, gdouble *y)
{
  gdouble rx = (u - cameras->new_cx[view]) / cameras->new_focal, ry = (v - cameras->new_cy) / cameras->new_focal;
  gdouble c = cos (cameras->turn[view]), s = sin (cameras->turn[view]);

  /* back through the rotation: its transpose */
  *x = cameras->focal * (c * rx + s * ry) + cameras->cx;
  *y = cameras->focal * (-s * rx + c * ry) + cameras->cy;
}

static gdouble
bilinear (const GstVideoFrame *frame, guint c, gdouble x, gdouble y, gdouble border)
{
  gint x0 = (gint) floor (x), y0 = (gint) floor (y);
  gdouble sum = 0;

  for (gint dy = 0; dy < 2; dy++)
    for (gint dx = 0; dx < 2; dx++) {
      gboolean inside = x0 + dx >= 0 && y0 + dy >= 0 && x0 + dx < frame->info.width && y0 + dy < frame->info.height;
      sum += (1 - fabs (x - x0 - dx)) * (1 - fabs (y - y0 - dy)) *
          (inside ? component_at (frame, c, x0 + dx, y0 + dy) : border);
    }
  return sum;
}

/* The engine rounds places to 1/128 px: against noise that is up to 2 * 255 / 256 levels, and half a one to a byte. */
#define TOLERANCE 2.6

static void
check_moved (const Cameras *cameras, GstVideoFormat format, guint components, gdouble border)
{
  gdouble sum = 0, count = 0;
  g_auto (Rectified) all;

  rectify_noise (&all, cameras, format, NULL, NULL);
  for (guint c = 0; c < components; c++)
    for (gint y = 0; y < cameras->height; y++)
      for (gint x = 0; x < 2 * cameras->width; x++) {
        gint view = x >= cameras->width;
        gdouble rx, ry, wanted, away;
        raw_place (cameras, view, x - view * cameras->width, y, &rx, &ry);
        wanted = bilinear (&all.in[view], c, rx, ry, border);
        away = fabs (component_at (&all.mapped, c, x, y) - wanted);
        fail_unless (away <= TOLERANCE, "component %u at %d,%d is %u, not %.2f", c, x, y,
            component_at (&all.mapped, c, x, y), wanted);
        sum += away;
        count++;
      }
  /* rounded, not cut off */
  fail_unless (sum / count < 0.6, "on the average %.2f levels away", sum / count);
}

TEST (test_known_shift_and_rotation)
{
  Cameras cameras = cameras_straight (74, 46);

  cameras.new_cx[0] += 2.5;
  cameras.new_cx[1] -= 3.25;
  cameras.new_cy += 1.75;
  check_moved (&cameras, GST_VIDEO_FORMAT_GRAY8, 1, 0);
  cameras.turn[0] = 0.12;
  cameras.turn[1] = -0.2;
  cameras.new_focal = 33;
  check_moved (&cameras, GST_VIDEO_FORMAT_GRAY8, 1, 0);
  check_moved (&cameras, GST_VIDEO_FORMAT_NV12, 1, 16);
  check_moved (&cameras, GST_VIDEO_FORMAT_YUY2, 1, 16);
  check_moved (&cameras, GST_VIDEO_FORMAT_BGR, 3, 0);
  check_moved (&cameras, GST_VIDEO_FORMAT_RGBx, 3, 0);
}

/* Around the pictures it is black, of any kind of picture. */
TEST_LOOP (test_border, 0, 5)
{
  static const struct
  {
    GstVideoFormat format;
    const gchar *extra;
    guint black[4];
  } blacks[] = {
    { GST_VIDEO_FORMAT_GRAY8, NULL, { 0 } },
    { GST_VIDEO_FORMAT_NV12, NULL, { 16, 128, 128 } },
    { GST_VIDEO_FORMAT_NV12, "colorimetry=1:4:0:0", { 0, 128, 128 } },
    { GST_VIDEO_FORMAT_RGB, NULL, { 0, 0, 0 } },
    { GST_VIDEO_FORMAT_BGRA, NULL, { 0, 0, 0, 255 } },
  };
  Cameras cameras = cameras_straight (44, 20);
  g_auto (Rectified) all;
  const GstVideoFrame *out = &all.mapped;

  /* half of the left view is to the left of its raw picture */
  cameras.new_cx[0] += 22;
  rectify_noise (&all, &cameras, blacks[__i__].format, blacks[__i__].extra, NULL);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (out); c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (out, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (out, c) / 4; x++)
        fail_unless_equals_int (component_at (out, c, x, y), blacks[__i__].black[c]);
}

SUITE (rectify_element)
{
}
