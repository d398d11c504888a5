/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pair of known disparity through stereomatch: every format, every layout, sizes, strides, outputs. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "gst/meta/gststereometa.h"

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
  GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, GST_VIDEO_FORMAT_RGBx,
  GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA };
static const gchar *layouts[] = { "side-by-side", "top-bottom", "row-interleaved", "column-interleaved" };

static void
check_output (GstHarness *harness, GstBuffer *out, gint width, gint height)
{
  GstVideoInfo info = output_info (harness);

  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), width);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), height);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY16_LE);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_MODE (&info), GST_VIDEO_MULTIVIEW_MODE_MONO);
  check_interior (out, &info, SHIFT * 64);
}

/* Two pads, both views in @format; odd sizes, rows padded by what makes no alignment. */
static void
check_two (GstVideoFormat left_format, GstVideoFormat right_format, gint width, gint height, gint padding)
{
  g_autoptr (Pair) pair = pair_new (EXACT);

  harness_set_caps (pair->left, left_format, width, height, NULL);
  harness_set_caps (pair->right, right_format, width, height, NULL);
  gst_harness_push (pair->left, stamp (make_view (left_format, width, height, 3, 0, padding), 0, FRAME));
  gst_harness_push (pair->right, stamp (make_view (right_format, width, height, 3, SHIFT, 0), 0, FRAME));
  g_autoptr (GstBuffer) out = pair_pull (pair, 0);
  check_output (pair->left, out, width, height);
}

TEST_LOOP (test_two_pads, 0, G_N_ELEMENTS (formats))
{
  check_two (formats[__i__], formats[__i__], VIEW_WIDTH, VIEW_HEIGHT, 0);
  check_two (formats[__i__], formats[__i__], VIEW_WIDTH - 1, VIEW_HEIGHT - 1, 0);
  check_two (formats[__i__], formats[__i__], VIEW_WIDTH - 1, VIEW_HEIGHT - 1, 13);
}

enum
{
  BIG_ENDIAN_ROW = 3,
  TEN_BITS = 7
};

/* Formats of more than 8 bits a sample. */
static const struct
{
  GstVideoFormat format;
  guint bits; /* of a sample that the camera uses */
  gint significant;
} deep[] = {
  { GST_VIDEO_FORMAT_GRAY16_LE, 10, 0 },
  { GST_VIDEO_FORMAT_GRAY16_LE, 12, 0 },
  { GST_VIDEO_FORMAT_GRAY16_LE, 12, 12 },
  [BIG_ENDIAN_ROW] = { GST_VIDEO_FORMAT_GRAY16_BE, 14, 0 },
  { GST_VIDEO_FORMAT_GRAY16_LE, 14, 0 },
  { GST_VIDEO_FORMAT_GRAY16_LE, 16, 16 },
  { GST_VIDEO_FORMAT_GRAY10_LE32, 16, 0 },
  [TEN_BITS] = { GST_VIDEO_FORMAT_P010_10LE, 16, 0 },
  { GST_VIDEO_FORMAT_I420_10LE, 16, 0 },
  { GST_VIDEO_FORMAT_Y210, 16, 0 },
};

/* A view of luma in @format, in samples of @bits. */
static GstBuffer *
make_deep_view (GstVideoFormat format, guint bits, gint width, gint height, gint shift)
{
  GstBuffer *luma = make_view (GST_VIDEO_FORMAT_GRAY8, width, height, 3, shift, 0), *out;
  g_autofree guint16 *row = g_new0 (guint16, 4 * (gsize) width);
  GstVideoInfo from, to;
  GstVideoFrame in, made;

  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_GRAY8, (guint) width, (guint) height);
  gst_video_info_set_format (&to, format, (guint) width, (guint) height);
  out = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&to), NULL);
  fail_unless (
      gst_video_frame_map (&in, &from, luma, GST_MAP_READ) && gst_video_frame_map (&made, &to, out, GST_MAP_WRITE));
  for (gint y = 0; y < height; y++) {
    const guint8 *at = (const guint8 *) in.data[0] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&in, 0);
    for (gint x = 0; x < width; x++)
      row[4 * x + 1] = (guint16) (at[x] << (bits - 8));
    to.finfo->pack_func (to.finfo, GST_VIDEO_PACK_FLAG_NONE, row, 0, made.data, made.info.stride,
        GST_VIDEO_CHROMA_SITE_UNKNOWN, y, width);
  }
  gst_video_frame_unmap (&in);
  gst_video_frame_unmap (&made);
  gst_buffer_unref (luma);
  return out;
}

/* What the matcher makes of two views; they are in the formats of these rows. */
static GstBuffer *
match_rows (gint left, gint right, gint significant)
{
  const gint width = VIEW_WIDTH - 2, height = VIEW_HEIGHT - 1, rows[2] = { left, right };
  g_autoptr (Pair) pair = pair_new (EXACT);

  g_object_set (pair->element, "significant-bits", significant, NULL);
  for (guint view = 0; view < 2; view++) {
    GstHarness *harness = view ? pair->right : pair->left;
    GstVideoFormat format = rows[view] < 0 ? GST_VIDEO_FORMAT_GRAY8 : deep[rows[view]].format;
    gint shift = view ? SHIFT : 0;
    harness_set_caps (harness, format, width, height, NULL);
    gst_harness_push (harness,
        stamp (rows[view] < 0 ? make_view (format, width, height, 3, shift, 0) :
                                make_deep_view (format, deep[rows[view]].bits, width, height, shift),
            0, FRAME));
  }
  GstBuffer *out = pair_pull (pair, 0);
  check_output (pair->left, out, width, height);
  return out;
}

/* That the output is that of two views of GRAY8, to the bit. */
static void
check_rows (gint left, gint right, gint significant)
{
  g_autoptr (GstBuffer) expected = match_rows (-1, -1, 0), out = match_rows (left, right, significant);

  fail_unless (buffers_equal (expected, out), "formats %d and %d", left, right);
}

TEST_LOOP (test_more_than_8_bits, 0, G_N_ELEMENTS (deep))
{
  check_rows (__i__, __i__, deep[__i__].significant);
}

/* A sixteenth of the contrast of a GRAY8 view, from @offset on, with a dead pixel of each kind. */
static GstBuffer *
make_thermal_view (gint width, gint height, gint shift, guint offset)
{
  GstBuffer *view = make_deep_view (GST_VIDEO_FORMAT_GRAY16_LE, 8, width, height, shift);
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) width, (guint) height);
  fail_unless (gst_video_frame_map (&frame, &info, view, GST_MAP_READWRITE));
  for (gint y = 0; y < height; y++) {
    guint8 *row = (guint8 *) frame.data[0] + y * info.stride[0];
    for (gint x = 0; x < width; x++)
      GST_WRITE_UINT16_LE (row + 2 * x, offset + GST_READ_UINT16_LE (row + 2 * x) / 16);
  }
  GST_WRITE_UINT16_LE ((guint8 *) frame.data[0], 0);
  GST_WRITE_UINT16_LE ((guint8 *) frame.data[0] + 2 * (width - 1), 16383);
  gst_video_frame_unmap (&frame);
  return stamp (view, 0, FRAME);
}

/* A thermal camera: 16 steps of temperature, far above 0. */
TEST (test_samples_with_an_offset)
{
  const gint width = 160, height = 40;
  g_autoptr (Pair) pair = pair_new (EXACT);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY16_LE, width, height, NULL);
  gst_harness_push (pair->left, make_thermal_view (width, height, 0, 7400));
  gst_harness_push (pair->right, make_thermal_view (width, height, SHIFT, 7400));
  g_autoptr (GstBuffer) out = pair_pull (pair, 0);
  GstVideoInfo info = output_info (pair->left);
  check_interior (out, &info, SHIFT * 64);
}

/* Beside GRAY8, beside 10 bits of luma, and beside the other order of bytes. */
TEST_LOOP (test_views_of_two_depths, 0, G_N_ELEMENTS (deep))
{
  check_rows (__i__, -1, deep[__i__].significant);
  check_rows (-1, __i__, deep[__i__].significant);
  check_rows (__i__, TEN_BITS, deep[__i__].significant);
  check_rows (TEN_BITS, __i__, deep[__i__].significant);
  if (deep[__i__].bits == deep[BIG_ENDIAN_ROW].bits)
    check_rows (__i__, BIG_ENDIAN_ROW, 0);
}

/* The bytes between rows that end at @used. */
static void
check_padding (GstBuffer *buffer, gsize used, gsize height)
{
  GstMapInfo map;
  gsize stride = (used + 3) / 4 * 4;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (stride > used && map.size == stride * height);
  for (gsize k = 0; k < map.size; k++)
    fail_unless (k % stride < used || map.data[k] == 0, "byte %" G_GSIZE_FORMAT " is %d", k, map.data[k]);
  gst_buffer_unmap (buffer, &map);
}

/* A sink that writes whole buffers must not write what memory held before. */
TEST (test_nothing_lies_between_rows)
{
  const gint width = VIEW_WIDTH - 1;
  g_autoptr (Pair) pair = pair_new (EXACT);

#ifdef __GLIBC__
  mallopt (M_PERTURB, 0xA5);
#endif
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, NULL);
  gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, 3, 0, 0), 0, FRAME));
  gst_harness_push (pair->right, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, 3, SHIFT, 0), 0, FRAME));
  g_autoptr (GstBuffer) out = pair_pull (pair, 0);
  check_padding (out, 2 * (gsize) width, VIEW_HEIGHT);
  check_padding (gst_buffer_get_stereo_meta (out)->confidence, (gsize) width, VIEW_HEIGHT);
}

TEST (test_two_formats_of_one_family)
{
  check_two (GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_UYVY, VIEW_WIDTH, VIEW_HEIGHT, 0);
  check_two (GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB, VIEW_WIDTH, VIEW_HEIGHT, 5);
}

static void
check_packed (GstVideoFormat format, const gchar *layout, gboolean right_first, gboolean tagged)
{
  gboolean across = g_str_equal (layout, "side-by-side") || g_str_equal (layout, "column-interleaved");
  gint width = across ? 2 * VIEW_WIDTH : VIEW_WIDTH, height = across ? VIEW_HEIGHT : 2 * VIEW_HEIGHT;
  g_autofree gchar *extra = g_strdup_printf ("%s%s%s%s", tagged ? "multiview-mode=" : "", tagged ? layout : "",
      tagged ? "," : "", right_first ? RIGHT_FIRST : NO_FLAGS);
  g_autofree gchar *caps = make_caps (format, width, height, extra),
                   *properties = g_strdup_printf (EXACT "packing=%s", tagged ? "auto" : layout);
  GstBus *bus;
  GstHarness *harness = packed_new (properties, &bus);

  gst_harness_set_src_caps_str (harness, caps);
  gst_harness_push (harness, stamp (make_packed (format, layout, VIEW_WIDTH, VIEW_HEIGHT, 4, right_first), 0, FRAME));
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  fail_unless (out != NULL, "nothing out of %s", caps);
  check_output (harness, out, VIEW_WIDTH, VIEW_HEIGHT);
  filter_free (harness, bus);
}

TEST_LOOP (test_packed, 0, G_N_ELEMENTS (formats))
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    check_packed (formats[__i__], layouts[i], (i + (guint) __i__) % 2, TRUE);
}

TEST_LOOP (test_packed_by_property, 0, G_N_ELEMENTS (layouts))
{
  check_packed (GST_VIDEO_FORMAT_NV12, layouts[__i__], FALSE, FALSE);
  check_packed (GST_VIDEO_FORMAT_RGB, layouts[__i__], TRUE, FALSE);
}

/* Views in turn on one pad. L or R with a frame's number, + where it is the first of its bundle, - where it has no timestamp;
 * =2: the pair of frame 2 comes. */
static const struct
{
  const gchar *flags; /* NULL: untagged */
  const gchar *events;
  guint pairs, lost; /* of each view */
} orders[] = {
  { NO_FLAGS, "L0+ R0- =0 L1+ R1 =1 L2+ R2- =2", 3, 0 },
  { RIGHT_FIRST, "R7+ L7- =7", 1, 0 },
  { NO_FLAGS, "L0+ L1+ R1 =1 R2 L3+ R3 =3", 2, 1 },
  /* the frame rate of buffers, and half of it of pairs */
  { NULL, "L0 R1 =0 L2 R3 =2 L4 R5 =4", 3, 0 },
};

TEST_LOOP (test_frame_by_frame, 0, G_N_ELEMENTS (orders))
{
  g_autofree gchar *extra = orders[__i__].flags ?
      g_strdup_printf ("multiview-mode=frame-by-frame,views=2,%s", orders[__i__].flags) :
      NULL;
  g_auto (GStrv) events = g_strsplit (orders[__i__].events, " ", -1);
  GstBus *bus;
  GstHarness *harness = packed_new (extra ? EXACT : EXACT "packing=frame-by-frame", &bus);

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, extra);
  for (guint i = 0; events[i]; i++) {
    GstClockTime pts = (GstClockTime) (events[i][1] - '0') * FRAME;
    g_autoptr (GstBuffer) out = *events[i] == '=' ? gst_harness_pull (harness) : NULL;
    gboolean timed = events[i][2] != '-';

    if (*events[i] != '=') {
      GstBuffer *view = stamp (
          make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 5, *events[i] == 'R' ? SHIFT : 0, 0),
          timed ? pts : GST_CLOCK_TIME_NONE, timed ? FRAME : GST_CLOCK_TIME_NONE);
      if (events[i][2] == '+')
        GST_BUFFER_FLAG_SET (view, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
      gst_harness_push (harness, view);
      continue;
    }
    fail_unless (out != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), pts);
    check_output (harness, out, VIEW_WIDTH, VIEW_HEIGHT);
  }
  fail_unless_equals_uint64 (stat_of (harness->element, "pairs"), orders[__i__].pairs);
  fail_unless_equals_uint64 (stat_of (harness->element, "dropped-left"), orders[__i__].lost);
  fail_unless_equals_uint64 (stat_of (harness->element, "dropped-right"), orders[__i__].lost);
  if (orders[__i__].lost)
    expect_warning (bus, "no partner", NULL);
  GstVideoInfo info = output_info (harness);
  fail_unless (GST_VIDEO_INFO_FPS_N (&info) == 25 && GST_VIDEO_INFO_FPS_D (&info) == (extra ? 1 : 2));
  filter_free (harness, bus);
}

TEST (test_tiny_and_odd_sizes)
{
  static const gint sizes[][2] = { { 1, 1 }, { 1, 9 }, { 9, 1 }, { 2, 2 }, { 3, 7 }, { 7, 3 }, { 12, 4 }, { 17, 33 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    /* the defaults: window and search range wider than the picture */
    g_autoptr (Pair) pair = pair_new ("backend=cpu threads=1");

    pair_set_caps (pair, GST_VIDEO_FORMAT_RGB, sizes[i][0], sizes[i][1], NULL);
    gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_RGB, sizes[i][0], sizes[i][1], 1, 0, 0), 0, FRAME));
    gst_harness_push (
        pair->right, stamp (make_view (GST_VIDEO_FORMAT_RGB, sizes[i][0], sizes[i][1], 1, 1, 0), 0, FRAME));
    g_autoptr (GstBuffer) out = pair_pull (pair, 0);
    GstVideoInfo info = output_info (pair->left);
    fail_unless (gst_buffer_get_size (out) >= GST_VIDEO_INFO_SIZE (&info));
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);
    fail_unless_equals_int (meta->width, sizes[i][0]);
    fail_unless_equals_int (meta->height, sizes[i][1]);
  }
}

TEST (test_gray8_spans_the_search_range)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "min-disparity=-3");

  gst_harness_set_sink_caps_str (pair->left, "video/x-raw,format=GRAY8");
  pair_push (pair, 0, 0);
  g_autoptr (GstBuffer) out = pair_pull (pair, 0);
  GstVideoInfo info = output_info (pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY8);
  guint sample = sample_at (out, &info, 20, 10);
  fail_unless (sample == 185 || sample == 186, "%u", sample); /* 1 + (5 + 3) * 254 / 11 */
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE);
  fail_unless (ABS (gst_stereo_meta_get_disparity (meta, sample) - SHIFT) < 0.03);
  fail_unless_equals_float (gst_stereo_meta_get_disparity (meta, 1), -3);
  fail_unless_equals_float (gst_stereo_meta_get_disparity (meta, 255), 12 - 4);
}

/* The output for a pair in that format, whose points are in @points. */
static GstBuffer *
output_in (const gchar *format, const gchar *properties, gint width, gint height, GBytes **points, GstVideoInfo *info)
{
  g_autoptr (Pair) pair = pair_new (properties);
  g_autofree gchar *caps = g_strconcat ("video/x-raw,format=", format, NULL);

  gst_harness_set_sink_caps_str (pair->left, caps);
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, width, height, NULL);
  gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, height, 3, 0, 0), 0, FRAME));
  gst_harness_push (pair->right, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, height, 8, SHIFT, 0), 0, FRAME));
  GstBuffer *out = pair_pull (pair, 0);
  *info = output_info (pair->left);
  *points = gst_stereo_meta_get_points_bytes (gst_buffer_get_stereo_meta (out), out);
  fail_unless (*points != NULL);
  return out;
}

/* Views that do not fit give all kinds of samples. */
TEST_LOOP (test_the_other_byte_order, 0, 3)
{
  static const gchar *const outputs[] = { EXACT "focal-length=300 baseline=100",
    EXACT "output=depth focal-length=300 baseline=1000",
    EXACT "subpixel=1 focal-length=300 baseline=100 mask=0,0,1,0.25;0.5,0.3,0.25,0.3" };
  const gint width = VIEW_WIDTH + __i__, height = VIEW_HEIGHT - __i__;
  GBytes *points[2], *metas[2];
  GstVideoInfo little, big;
  GstBuffer *out[2];
  guint high = 0;

  out[0] = output_in ("GRAY16_LE", outputs[__i__], width, height, &points[0], &little);
  out[1] = output_in ("GRAY16_BE", outputs[__i__], width, height, &points[1], &big);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&big), GST_VIDEO_FORMAT_GRAY16_BE);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      guint sample = sample_at (out[0], &little, x, y);
      fail_unless_equals_int (sample_at (out[1], &big, x, y), sample);
      high += sample > 255 && sample % 256;
    }
  fail_unless (high > 20, "only %u samples fill two bytes", high);
  for (guint i = 0; i < 2; i++)
    metas[i] = gst_stereo_meta_to_bytes (gst_buffer_get_stereo_meta (out[i]));
  fail_unless (g_bytes_equal (metas[0], metas[1]));
  fail_unless (g_bytes_equal (points[0], points[1]));
  for (guint i = 0; i < 2; i++) {
    g_bytes_unref (metas[i]);
    g_bytes_unref (points[i]);
    gst_buffer_unref (out[i]);
  }
}

/* No element that takes both gets another format than before; 16 bits go before 8. */
TEST (test_preferred_byte_order)
{
  static const struct
  {
    const gchar *taken;
    GstVideoFormat format;
  } cases[] = { { "{ GRAY8, GRAY16_BE, GRAY16_LE }", GST_VIDEO_FORMAT_GRAY16_LE },
    { "{ GRAY8, GRAY16_BE, RGBA }", GST_VIDEO_FORMAT_GRAY16_BE }, { "{ RGB, GRAY8 }", GST_VIDEO_FORMAT_GRAY8 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Pair) pair = pair_new_gray (EXACT);
    g_autofree gchar *caps = g_strconcat ("video/x-raw,format=", cases[i].taken, NULL);

    gst_harness_set_sink_caps_str (pair->left, caps);
    pair_pass (pair, 0, 0);
    GstVideoInfo info = output_info (pair->left);
    fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), cases[i].format);
  }
}

SUITE (formats)
{
}
