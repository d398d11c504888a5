/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture of depthoverlay: colours, blending in every format, hidden pixels, sizes, text. */
#include <math.h>

#include "gst/overlay/overlay.h"
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#define QUIET "text=false legend=false "
/* Flag 1: the right view comes first. */
#define TWO_VIEWS(mode, bits) "multiview-mode=" mode "," MULTIVIEW_FLAGS (bits)

static Random random_state;

/* ---- colour maps ------------------------------------------------------------------------- */

static gdouble
luminance (const guint8 rgb[3])
{
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

TEST (test_colormaps_brighten_towards_near)
{
  const GstStereoColormap rising[] = { GST_STEREO_COLORMAP_VIRIDIS, GST_STEREO_COLORMAP_GRAY, GST_STEREO_COLORMAP_HEAT };

  for (guint m = 0; m < G_N_ELEMENTS (rising); m++) {
    gdouble last = -1, step = -1;
    guint8 rgb[3];

    for (gint i = 0; i <= 254; i++) {
      gst_stereo_colormap_rgb (rising[m], i / 254.0, rgb);
      /* less than one level is what rounding to 8 bits may take */
      fail_unless (luminance (rgb) > last - 1, "map %d gets darker at %d", rising[m], i);
      if (i % 16 == 0) {
        fail_unless (luminance (rgb) > step, "map %d does not get brighter before %d", rising[m], i);
        step = luminance (rgb);
      }
      last = luminance (rgb);
    }
    fail_unless (last > 180, "map %d ends dark", rising[m]);
  }
}

TEST (test_colormap_ends)
{
  guint8 far[3], near[3], beyond[3];

  gst_stereo_colormap_rgb (GST_STEREO_COLORMAP_TURBO, 0.1, far);
  gst_stereo_colormap_rgb (GST_STEREO_COLORMAP_TURBO, 0.9, near);
  fail_unless (far[2] > 2 * far[0], "turbo is not blue far off");
  fail_unless (near[0] > 2 * near[2], "turbo is not red near by");
  for (gint m = GST_STEREO_COLORMAP_TURBO; m <= GST_STEREO_COLORMAP_HEAT; m++) {
    gst_stereo_colormap_rgb (m, 0, far);
    gst_stereo_colormap_rgb (m, -7, beyond);
    fail_unless (memcmp (far, beyond, 3) == 0);
    gst_stereo_colormap_rgb (m, 1, near);
    gst_stereo_colormap_rgb (m, 3, beyond);
    fail_unless (memcmp (near, beyond, 3) == 0);
    fail_unless (memcmp (far, near, 3) != 0);
  }
}

/* ---- blending ---------------------------------------------------------------------------- */

/* Plainly, in floating point. */
static void
naive_color (const GstVideoInfo *info, GstStereoColormap map, gdouble position, gdouble components[3])
{
  gint offset[4], scale[4];
  gdouble kr = 0.299, kb = 0.114, r, g, b, y;
  guint8 rgb[3];

  gst_stereo_colormap_rgb (map, position, rgb);
  for (gint c = 0; c < 3; c++)
    components[c] = rgb[c];
  if (GST_VIDEO_INFO_IS_RGB (info))
    return;
  gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb);
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  r = rgb[0] / 255.0;
  g = rgb[1] / 255.0;
  b = rgb[2] / 255.0;
  y = kr * r + (1 - kr - kb) * g + kb * b;
  components[0] = offset[0] + scale[0] * y;
  components[1] = offset[1] + scale[1] * (b - y) / (2 - 2 * kb);
  components[2] = offset[2] + scale[2] * (r - y) / (2 - 2 * kr);
}

typedef struct
{
  GstVideoInfo info; /* of the output */
  gint left, top;    /* where its part of the live frame begins */
  GstBuffer *depth;
  gdouble alpha, near, far;
  GstStereoCurve curve;
  guint min_confidence;
  GstStereoColormap map;
} Scene;

static guint
byte_at (GstVideoFrame *frame, guint c, gint x, gint y)
{
  return ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame,
      c))[(gssize) y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) + (gssize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

/* What component @c of a picture with @in there becomes at pixel @x, @y. */
static gdouble
naive_pixel (const Scene *scene, GstVideoFrame *depth, GstVideoFrame *confidence, guint c, gdouble in, gint x, gint y)
{
  gint dx = (2 * x + 1) * GST_VIDEO_FRAME_WIDTH (depth) / (2 * GST_VIDEO_INFO_WIDTH (&scene->info));
  gint dy = (2 * y + 1) * GST_VIDEO_FRAME_HEIGHT (depth) / (2 * GST_VIDEO_INFO_HEIGHT (&scene->info));
  const guint8 *at = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (depth, 0) + dy * GST_VIDEO_FRAME_PLANE_STRIDE (depth, 0);
  gboolean wide = GST_VIDEO_FRAME_FORMAT (depth) == GST_VIDEO_FORMAT_GRAY16_LE;
  guint sample = wide ? GST_READ_UINT16_LE (at + 2 * dx) : at[dx];
  gdouble distance = gst_stereo_meta_get_depth (gst_buffer_get_stereo_meta (scene->depth), sample), color[3], position;

  if (sample == 0 || distance > scene->far || byte_at (confidence, 0, dx, dy) < scene->min_confidence)
    return in;
  if (scene->curve == GST_STEREO_CURVE_INVERSE)
    position = scene->near * (scene->far - distance) / (distance * (scene->far - scene->near));
  else if (scene->curve == GST_STEREO_CURVE_LOGARITHMIC)
    position = (log (scene->far) - log (distance)) / (log (scene->far) - log (scene->near));
  else
    position = (scene->far - distance) / (scene->far - scene->near);
  position = CLAMP (position, 0, 1);
  /* 255 colours */
  naive_color (&scene->info, scene->map, rint (position * 254) / 254, color);
  return in + scene->alpha * (color[c] - in);
}

/* Within one level: a colour is rounded to 8 bits before it is blended, and what is blended is rounded again. */
static void
check_picture (const Scene *scene, const GstVideoInfo *live, GstBuffer *before, GstBuffer *after)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (scene->depth);
  GstVideoFrame in, out, depth, confidence;
  GstVideoInfo info, confidence_info;

  gst_video_info_set_format (&info,
      meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE,
      meta->width, meta->height);
  gst_video_info_set_format (&confidence_info, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
  fail_unless (gst_video_frame_map (&in, live, before, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&out, &scene->info, after, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&depth, &info, scene->depth, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&confidence, &confidence_info, meta->confidence, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&in); c++) {
    gint sub_x = GST_VIDEO_FORMAT_INFO_W_SUB (in.info.finfo, c), sub_y = GST_VIDEO_FORMAT_INFO_H_SUB (in.info.finfo, c);

    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&out, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&out, c); x++) {
        guint was = byte_at (&in, c, x + (scene->left >> sub_x), y + (scene->top >> sub_y)),
              is = byte_at (&out, c, x, y);
        /* a chroma sample is that of its first pixel */
        gdouble expected = c == 3 ? was : naive_pixel (scene, &depth, &confidence, c, was, x << sub_x, y << sub_y);

        if (expected == was ? is != was : fabs (is - expected) > 1.001)
          fail ("%s component %u at %d,%d: %u became %u, not %.2f",
              gst_video_format_to_string (GST_VIDEO_FRAME_FORMAT (&in)), c, x, y, was, is, expected);
      }
  }
  gst_video_frame_unmap (&in);
  gst_video_frame_unmap (&out);
  gst_video_frame_unmap (&depth);
  gst_video_frame_unmap (&confidence);
}

/* Some invalid, some unsure, the others everywhere between the ends and beyond. */
static GstBuffer *
random_depth (Random *random, gint width, gint height, GstStereoOutputKind kind)
{
  GstBuffer *depth = new_depth (width, height, kind, 0);

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gint most = kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 255 : 6000;
      set_depth (depth, x, y, random_range (random, 0, 4) ? (guint) random_range (random, 1, most) : 0);
      set_confidence (depth, x, y, (guint8) random_next (random));
    }
  return depth;
}

/* With a random scene: the part of live frames that begins at @left, @top, and depth of the given size over it. */
static void
try_scene (GstVideoFormat format, const gchar *extra, gint width, gint height, gint left, gint top, gint depth_width,
    gint depth_height)
{
  Random *random = &random_state;
  const GstStereoOutputKind kind = (GstStereoOutputKind) random_range (random, 0, 2);
  gboolean narrow = kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  Scene scene = { .left = left,
    .top = top,
    .alpha = random_range (random, 1, 256) / 256.0,
    .near = random_range (random, 100, 900),
    .far = random_range (random, 1000, 5000),
    .min_confidence = (guint) random_range (random, 0, 200),
    /* gray replaces turbo in grey pictures, with a warning */
    .map = (GstStereoColormap) random_range (random, format == GST_VIDEO_FORMAT_GRAY8, 3),
    .curve = (GstStereoCurve) random_range (random, 0, 2),
    .depth = random_depth (random, depth_width, depth_height, kind) };
  g_autofree gchar *properties = g_strdup_printf (QUIET
      "alpha=%.10f near=%f far=%f min-confidence=%.10f colormap=%d scale=%d",
      scene.alpha, scene.near, scene.far, scene.min_confidence / 255.0, scene.map, scene.curve);
  g_autoptr (Overlay) overlay = overlay_new (
      properties, format, width, height, narrow ? "GRAY8" : "GRAY16_LE", depth_width, depth_height);
  guint padding = random_range (random, 0, 2) ? (guint) random_range (random, 1, 9) : 0;

  overlay_live_caps (overlay, format, width, height, extra);
  g_autoptr (GstBuffer) live = random_frame (random, &overlay->info, padding);
  /* a frame is left alone, whoever holds it */
  for (guint i = 0; i < 2; i++) {
    GstBuffer *own = i ? gst_buffer_copy_deep (live) : gst_buffer_ref (live);
    g_autoptr (GstBuffer) out = overlay_show (overlay, gst_buffer_ref (scene.depth), own, i * TICK);
    g_autoptr (GstCaps) caps = gst_pad_get_current_caps (overlay->live->sinkpad);

    fail_unless (out != own);
    fail_unless (gst_video_info_from_caps (&scene.info, caps));
    if (extra && strstr (extra, "multiview"))
      fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_MODE (&scene.info), GST_VIDEO_MULTIVIEW_MODE_MONO);
    check_picture (&scene, &overlay->info, live, out);
  }
  overlay_expect_none (overlay, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  gst_buffer_unref (scene.depth);
}

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
  GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
  GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_xRGB,
  GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR,
  GST_VIDEO_FORMAT_GRAY8 };

/* Of any size, and the left view of a packed frame like a frame of its own. */
TEST_LOOP (test_every_format_like_the_naive_twin, 0, G_N_ELEMENTS (formats))
{
  GstVideoFormat format = formats[__i__];
  gboolean yuv = GST_VIDEO_FORMAT_INFO_IS_YUV (gst_video_format_get_info (format));

  for (gint i = 0; i < random_count ("STEREO_TEST_COUNT", 6); i++) {
    gint width = random_range (&random_state, 1, 70), height = random_range (&random_state, 1, 40);

    try_scene (format,
        yuv && i % 3 == 0     ? "colorimetry=bt709" :
            yuv && i % 3 == 1 ? "colorimetry=1:4:0:0" :
                                NULL,
        width, height, 0, 0, width, height);
  }
  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  try_scene (format, "interlace-mode=interleaved", 34, 20, 0, 0, 34, 20);
  try_scene (format, NULL, 52, 20, 0, 0, 26, 20);
  try_scene (format, TWO_VIEWS ("side-by-side", "0"), 54, 20, 0, 0, 27, 20);
  try_scene (format, TWO_VIEWS ("side-by-side", "1"), 52, 20, 26, 0, 26, 20);
  try_scene (format, TWO_VIEWS ("top-bottom", "0"), 26, 42, 0, 0, 26, 21);
  try_scene (format, TWO_VIEWS ("top-bottom", "1"), 26, 44, 0, 22, 26, 22);
}

TEST (test_sizes_that_differ)
{
  const gint sizes[][4] = { { 48, 32, 24, 16 }, { 49, 33, 147, 99 }, { 60, 45, 40, 30 }, { 31, 17, 62, 34 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    try_scene (GST_VIDEO_FORMAT_I420, NULL, sizes[i][0], sizes[i][1], 0, 0, sizes[i][2], sizes[i][3]);
}

/* Text in every format: it changes the picture, and only where text is. */
TEST_LOOP (test_text_in_every_format, 0, G_N_ELEMENTS (formats))
{
  GstVideoFormat format = formats[__i__];
  g_autoptr (Overlay) overlay = overlay_new ("alpha=0 warn-distance=5000", format, 320, 241, "GRAY16_LE", 320, 241);
  g_autoptr (GstBuffer) live = plain_frame (&overlay->info, 99), out = NULL;
  GstMapInfo a, b;
  gsize changed = 0;

  out = overlay_show (overlay, new_depth (320, 241, GST_STEREO_OUTPUT_KIND_DEPTH, 2000), gst_buffer_ref (live), 0);
  fail_unless (gst_buffer_map (live, &a, GST_MAP_READ) && gst_buffer_map (out, &b, GST_MAP_READ));
  fail_unless_equals_uint64 (a.size, b.size);
  for (gsize i = 0; i < a.size; i++)
    changed += a.data[i] != b.data[i];
  fail_unless (changed > a.size / 50 && changed < a.size / 2, "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " changed",
      changed, a.size);
  gst_buffer_unmap (live, &a);
  gst_buffer_unmap (out, &b);
}

/* What is no sample of a drawn frame is 0 or, beside the last pixel of packed YUV, of the live frame; not what memory held before. */
TEST_LOOP (test_nothing_lies_between_rows, 0, G_N_ELEMENTS (formats))
{
  GstVideoFormat format = formats[__i__];
  g_autoptr (Overlay) overlay = overlay_new ("alpha=0 warn-distance=5000", format, 33, 17, "GRAY16_LE", 33, 17);
  const GstVideoInfo *info = &overlay->info;
  g_autofree guint8 *is_sample = g_malloc0 (GST_VIDEO_INFO_SIZE (info));
  g_autoptr (GstBuffer) live = plain_frame (info, 99), out = NULL;
  GstMapInfo map;

#ifdef __GLIBC__
  mallopt (M_PERTURB, 0xA5);
#endif
  out = overlay_show (overlay, new_depth (33, 17, GST_STEREO_OUTPUT_KIND_DEPTH, 2000), gst_buffer_ref (live), 0);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++) {
      guint8 *row = is_sample + GST_VIDEO_INFO_COMP_OFFSET (info, c) + y * GST_VIDEO_INFO_COMP_STRIDE (info, c);
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++)
        row[x * GST_VIDEO_INFO_COMP_PSTRIDE (info, c)] = 1;
      /* the fourth byte of RGBx may be anything */
      if (GST_VIDEO_INFO_IS_RGB (info))
        memset (row - GST_VIDEO_INFO_COMP_OFFSET (info, c), 1, 33 * (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, c));
    }
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, GST_VIDEO_INFO_SIZE (info));
  for (gsize k = 0; k < map.size; k++)
    fail_unless (
        is_sample[k] || map.data[k] == 0 || map.data[k] == 99, "byte %" G_GSIZE_FORMAT " is %d", k, map.data[k]);
  gst_buffer_unmap (out, &map);
}

TEST (test_alpha_0_changes_nothing)
{
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    g_autoptr (Overlay) overlay = overlay_new (QUIET "alpha=0", formats[f], 40, 16, "GRAY16_LE", 40, 16);
    g_autoptr (GstBuffer) live = random_frame (&random_state, &overlay->info, 0), out = NULL;

    out = overlay_show (overlay, new_depth (40, 16, GST_STEREO_OUTPUT_KIND_DEPTH, 2000), gst_buffer_ref (live), 0);
    fail_unless (buffers_equal (live, out));
  }
}

/* ---- colours ----------------------------------------------------------------------------- */

/* The pixel at 0,0 of a GRAY8 frame of 0 with depth over it. */
static guint
shade (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  guint8 value;

  g_autoptr (GstBuffer) out = overlay_show (overlay, depth, plain_frame (&overlay->info, 0), pts);
  gst_buffer_extract (out, 0, &value, 1);
  return value;
}

TEST (test_colours_do_not_depend_on_the_picture)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=gray near=1000 far=3000 scale=linear", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
  guint usual = 0;

  for (guint i = 0; i < 8; i++) {
    GstBuffer *depth = new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, 500 + 900 * i);

    set_depth (depth, 0, 0, 2000);
    guint value = shade (overlay, depth, i * TICK);
    if (i == 0)
      usual = value;
    fail_unless_equals_int (value, usual);
  }
  fail_unless (usual >= 127 && usual <= 128, "the middle is %u", usual);
}

TEST (test_near_and_far_clamp)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=gray near=1000 far=3000", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
  const struct
  {
    guint depth, value;
  } cases[] = { { 1, 255 }, { 1000, 255 }, { 3000, 0 }, { 65535, 0 } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    fail_unless_equals_int (
        shade (overlay, new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, cases[i].depth), i * TICK), cases[i].value);
  /* while it runs */
  set_properties (overlay->element, "near=3000 far=5000");
  fail_unless_equals_int (shade (overlay, new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), i * TICK), 255);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
  set_properties (overlay->element, "near=6000");
  shade (overlay, new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), (i + 1) * TICK);
  overlay_expect (overlay, GST_MESSAGE_WARNING, "near=6000 mm", "far=5000 mm", NULL);
}

/* Beyond far the live view stays as it is, and the nearest distance is found there all the same. */
TEST (test_beyond_far_is_the_live_view)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=viridis near=1000 far=3000", GST_VIDEO_FORMAT_RGB, 16, 8, "GRAY16_LE", 16, 8);
  const guint depths[] = { 3000, 3001, 65535 };

  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    guint8 rgb[3];

    g_autoptr (GstBuffer) out = overlay_show (overlay, new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, depths[i]),
        plain_frame (&overlay->info, 201), i * TICK);
    gst_buffer_extract (out, 0, rgb, 3);
    fail_unless_equals_int (rgb[0] == 201 && rgb[1] == 201 && rgb[2] == 201, i > 0);
  }
}

/* A road from 3 to 60 m takes colours that can be told apart, unless the scale is linear. */
TEST (test_scale_of_a_road)
{
  const guint depths[] = { 3000, 6000, 12000, 24000, 48000 };

  for (gint curve = GST_STEREO_CURVE_INVERSE; curve <= GST_STEREO_CURVE_LINEAR; curve++) {
    g_autofree gchar *properties = g_strdup_printf (QUIET "alpha=1 colormap=gray near=3000 far=60000 scale=%d", curve);
    g_autoptr (Overlay) overlay = overlay_new (properties, GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
    guint last = 300;

    for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
      GstBuffer *depth = new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, depths[i]);
      gdouble share = curve == GST_STEREO_CURVE_INVERSE ? (60000.0 / depths[i] - 1) / 19 :
          curve == GST_STEREO_CURVE_LOGARITHMIC         ? log (60000.0 / depths[i]) / log (20) :
                                                          (60000.0 - depths[i]) / 57000;
      guint value = shade (overlay, depth, i * TICK);

      fail_unless (
          fabs (value - 255 * share) <= 1.01, "scale %d: %u mm is %u, not %.1f", curve, depths[i], value, 255 * share);
      fail_unless (value + 2 < last, "scale %d: %u mm looks like the distance before", curve, depths[i]);
      last = value;
    }
  }
}

/* A rig, and the distances between which its colours lie, mm: near is that of the largest disparity, far that of 2 px, both
 * with two digits. */
static const struct
{
  gdouble focal_length, baseline, offset;
  gint min, number;
  gdouble near, far;
} rigs[] = { { 700, 540, 0, 0, 127, 3000, 190000 }, { 600, 60, 0, 0, 121, 300, 18000 },
  { 100, 100, 0, 10, 91, 100, 1000 }, { 100, 100, 10, 0, 91, 100, 1000 }, { 100, 100, 0, -4, 9, 2500, 5000 },
  { 100, 100, 0, 0, 3, 5000, 10000 }, { 0, 0, 0, 0, 64, 500, 10000 } };

static GstBuffer *
depth_of_rig (guint rig, gdouble distance)
{
  GstBuffer *depth = new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, (guint) rint (distance / 10));
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);

  meta->depth_unit = 10000;
  meta->focal_length = rigs[rig].focal_length;
  meta->baseline = rigs[rig].baseline;
  meta->principal_offset = rigs[rig].offset;
  meta->min_disparity = rigs[rig].min;
  meta->num_disparities = rigs[rig].number;
  return depth;
}

TEST (test_ends_follow_the_search)
{
  for (guint i = 0; i < G_N_ELEMENTS (rigs); i++) {
    g_autoptr (Overlay) overlay = overlay_new (
        QUIET "alpha=1 colormap=gray scale=linear", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
    gdouble middle = (rigs[i].near + rigs[i].far) / 2;

    fail_unless_equals_int (shade (overlay, depth_of_rig (i, rigs[i].near), 0), 255);
    fail_unless (shade (overlay, depth_of_rig (i, rigs[i].near + (rigs[i].far - rigs[i].near) / 20), TICK) < 255);
    fail_unless_equals_int (shade (overlay, depth_of_rig (i, rigs[i].far), 2 * TICK), 0);
    guint value = shade (overlay, depth_of_rig (i, middle), 3 * TICK);
    fail_unless (value >= 126 && value <= 129, "rig %u: the middle is %u", i, value);
    /* what is set wins, and the other end stays above it, or below */
    g_object_set (overlay->element, "near", 2 * rigs[i].far, NULL);
    fail_unless_equals_int (shade (overlay, depth_of_rig (i, 2 * rigs[i].far), 4 * TICK), 255);
    g_object_set (overlay->element, "near", 0.0, "far", rigs[i].near, NULL);
    fail_unless_equals_int (shade (overlay, depth_of_rig (i, rigs[i].near), 5 * TICK), 0);
    fail_unless_equals_int (shade (overlay, depth_of_rig (i, rigs[i].near / 2), 6 * TICK), 255);
    overlay_expect_none (overlay, GST_MESSAGE_WARNING);
  }
}

/* A rig that follows a drift says something else of its baseline with every frame. */
TEST (test_ends_do_not_flicker)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=gray scale=linear", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
  guint usual = shade (overlay, depth_of_rig (1, 9000), 0);

  for (guint i = 1; i < 10; i++) {
    GstBuffer *depth = depth_of_rig (1, 9000);

    gst_buffer_get_stereo_meta (depth)->baseline *= 1 + 0.015 * (i % 3 - 1.0);
    fail_unless_equals_int (shade (overlay, depth, i * TICK), usual);
  }
  /* another search has other colours */
  fail_unless (shade (overlay, depth_of_rig (0, 9000), 10 * TICK) > usual);
}

/* The scale is the metadata's, and may change with every buffer. */
TEST (test_the_meaning_of_samples_may_change)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=gray near=1000 far=3000", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
  GstBuffer *depth = new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DEPTH, 3000);

  fail_unless_equals_int (shade (overlay, gst_buffer_copy_deep (depth), 0), 0);
  gst_buffer_get_stereo_meta (depth)->depth_unit = 250;
  fail_unless_equals_int (shade (overlay, depth, TICK), 255);
  /* 100 px * 100 mm / 10 px = 1000 mm */
  fail_unless_equals_int (shade (overlay, new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DISPARITY, 640), 2 * TICK), 255);
}

TEST (test_disparity_without_geometry)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET "alpha=1 colormap=gray warn-distance=100000", GST_VIDEO_FORMAT_GRAY8, 16, 8, "GRAY16_LE", 16, 8);
  const guint samples[] = { 1, 63 * 64, 65535 }, values[] = { 0, 255, 255 };
  gdouble disparity;

  for (guint i = 0; i < 3; i++) {
    GstBuffer *depth = new_depth (16, 8, GST_STEREO_OUTPUT_KIND_DISPARITY, samples[i]);
    gst_buffer_get_stereo_meta (depth)->focal_length = 0;
    fail_unless_equals_int (shade (overlay, depth, i * GST_SECOND), values[i]);
  }
  overlay_expect (overlay, GST_MESSAGE_WARNING, "focal-length", "baseline", "px", NULL);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
  gst_structure_free (overlay_nearest (overlay));
  g_autoptr (GstStructure) posted = overlay_nearest (overlay);
  fail_unless (!gst_structure_has_field (posted, "distance"));
  fail_unless (gst_structure_get_double (posted, "disparity", &disparity));
  fail_unless_equals_float (disparity, 63);
}

TEST (test_another_aspect_is_an_error)
{
  g_autoptr (Overlay) overlay = overlay_new ("", GST_VIDEO_FORMAT_RGB, 64, 32, "GRAY16_LE", 48, 32);

  overlay_push_depth (overlay, new_depth (48, 32, GST_STEREO_OUTPUT_KIND_DEPTH, 1000), 0);
  overlay_push_live (overlay, plain_frame (&overlay->info, 0), 0);
  overlay_expect (overlay, GST_MESSAGE_ERROR, "64x32", "48x32", NULL);
}

/* ---- pieces over the picture --------------------------------------------------------------- */

/* Whether any pixel of a part differs from @value, in a GRAY8 frame 320 pixels wide. */
static gboolean
drawn_in (GstBuffer *out, gint x, gint y, gint width, gint height, guint8 value)
{
  gboolean drawn = FALSE;
  GstMapInfo map;

  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  for (gint j = y; j < y + height; j++)
    for (gint i = x; i < x + width; i++)
      drawn |= map.data[j * 320 + i] != value;
  gst_buffer_unmap (out, &map);
  return drawn;
}

/* The legend stays at the right, wherever the nearest surface is, and the marker is drawn over it. */
TEST (test_legend_stays)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "alpha=0 nearest-percentile=0.1", GST_VIDEO_FORMAT_GRAY8, 320, 240, "GRAY16_LE", 320, 240);
  const gint centres[][2] = { { 160, 120 }, { 295, 120 }, { 160, 120 }, { 295, 120 }, { 25, 120 }, { 295, 225 } };
  guint8 without[320 * 240], with[320 * 240];

  for (guint i = 0; i < G_N_ELEMENTS (centres); i++) {
    gint x = centres[i][0], y = centres[i][1], changed = 0;
    GstBuffer *depth = new_depth (320, 240, GST_STEREO_OUTPUT_KIND_DEPTH, 4000), *out;

    fill_depth (depth, x - 12, y - 12, 24, 24, 1000);
    for (gint text = 0; text < 2; text++) {
      set_properties (overlay->element, text ? "text=true" : "text=false");
      out = overlay_show (
          overlay, gst_buffer_copy_deep (depth), plain_frame (&overlay->info, 99), (2 * i + (guint) text) * TICK);
      /* rows of the legend's lower end, where neither read-out nor marker are */
      fail_if (drawn_in (out, 11, 160, 24, 15, 99), "the legend is at the left");
      fail_unless (drawn_in (out, 285, 160, 24, 15, 99), "the legend is not at the right");
      gst_buffer_extract (out, 0, text ? with : without, sizeof with);
      gst_buffer_unref (out);
    }
    for (gint j = y - 8; j < y + 8; j++)
      for (gint k = x - 8; k < x + 8; k++)
        changed += with[j * 320 + k] != without[j * 320 + k];
    fail_unless (changed > 40, "%d pixels of a marker at %d,%d", changed, x, y);
    gst_buffer_unref (depth);
  }
}

TEST (test_region_is_drawn)
{
  static const struct
  {
    const gchar *properties;
    gboolean drawn; /* each side, and not what is between them or outside */
  } rows[] = { { "region=<0.25,0.5,0.5,0.25>", TRUE }, { "text=false", FALSE }, { "text=true region=<0,0,1,1>", FALSE },
    { "region=<0.25,0,0.5,1>", TRUE }, { "region=<0,0.5,1,0.25>", TRUE } };
  g_autoptr (Overlay) overlay = overlay_new (
      "alpha=0 legend=false", GST_VIDEO_FORMAT_GRAY8, 320, 240, "GRAY16_LE", 320, 240);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    set_properties (overlay->element, rows[i].properties);
    g_autoptr (GstBuffer) out = overlay_show (
        overlay, new_depth (320, 240, GST_STEREO_OUTPUT_KIND_DEPTH, 0), plain_frame (&overlay->info, 99), i * TICK);
    gboolean across = i != 3, down = i != 4; /* whether there are sides across, and down */

    fail_unless_equals_int (drawn_in (out, 100, 120, 1, 3, 99), rows[i].drawn && across);
    fail_unless_equals_int (drawn_in (out, 100, 177, 1, 3, 99), rows[i].drawn && across);
    fail_unless_equals_int (drawn_in (out, 80, 150, 3, 1, 99), rows[i].drawn && down);
    fail_unless_equals_int (drawn_in (out, 237, 150, 3, 1, 99), rows[i].drawn && down);
    fail_unless (!drawn_in (out, 84, 124, 152, 52, 99), "something lies inside the region");
    fail_unless (!drawn_in (out, 9, 182, 70, 49, 99) && !drawn_in (out, 242, 124, 69, 52, 99));
  }
}

SUITE (overlay)
{
  random_state.state = random_seed ();
}
