/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereotestsrc: that its truth is true, and that its frames come as asked for. */
#include "util.h"

#include <math.h>

#include "gst/gststereoscene.h"
#include "tests/common/random.h"
#include "tests/common/truth.h"

#define TAPS 8                  /* of the interpolation between pixels */

/* ---- the scene ----------------------------------------------------------------------------- */

/* A frame of a scene, everything in it. */
typedef struct
{
  gint width, height;
  guint8 *level[2], *layer[2];
  guint16 *truth;
  guint8 *visible;
} Picture;

static Picture
picture_of (const GstStereoSceneParams *params, guint64 frame)
{
  gsize width = (gsize) params->width, pixels = width * (gsize) params->height;
  Picture picture = { params->width, params->height, { NULL }, { NULL }, g_new (guint16, pixels), g_malloc (pixels) };
  gchar *message = NULL;
  GstStereoScene *scene = gst_stereo_scene_new (params, &message);

  fail_unless (scene != NULL, "%s", message);
  gst_stereo_scene_set_frame (scene, frame);
  for (guint v = 0; v < 2; v++) {
    picture.level[v] = g_malloc (pixels);
    picture.layer[v] = g_malloc (pixels);
  }
  for (gint y = 0; y < params->height; y++) {
    for (guint v = 0; v < 2; v++)
      gst_stereo_scene_row (scene, v == 1, y, picture.level[v] + (gsize) y * width,
          picture.layer[v] + (gsize) y * width);
    gst_stereo_scene_truth (scene, y, picture.truth + (gsize) y * width);
  }
  truth_visible (picture.truth, params->width, params->height, picture.visible);
  gst_stereo_scene_free (scene);
  return picture;
}

static void
picture_clear (Picture *picture)
{
  for (guint v = 0; v < 2; v++) {
    g_free (picture->level[v]);
    g_free (picture->layer[v]);
  }
  g_free (picture->truth);
  g_free (picture->visible);
}

static gboolean
same_picture (const Picture *a, const Picture *b)
{
  gsize pixels = (gsize) a->width * (gsize) a->height;

  return !memcmp (a->level[0], b->level[0], pixels) && !memcmp (a->level[1], b->level[1], pixels) &&
      !memcmp (a->truth, b->truth, 2 * pixels);
}

/* A row between its pixels: Lanczos with eight taps; FALSE where one is missing. */
static gboolean
between (const guint8 *row, gint width, gdouble x, gdouble *value)
{
  gint first = (gint) floor (x) - TAPS / 2 + 1;
  gdouble sum = 0, weights = 0;

  if (first < 0 || first + TAPS > width)
    return FALSE;
  for (gint i = first; i < first + TAPS; i++) {
    gdouble t = G_PI * (x - i), weight = fabs (t) < 1e-9 ? 1 : sin (t) / t * sin (t / 4) / (t / 4);
    sum += weight * row[i];
    weights += weight;
  }
  *value = sum / weights;
  return TRUE;
}

/* Whether interpolation around left pixel @x mixes nothing but one layer, seen by both views. */
static gboolean
is_inside (const Picture *picture, gint x, gsize row)
{
  for (gint i = x - TAPS; i <= x + TAPS; i++)
    if (i < 0 || i >= picture->width || picture->layer[0][row + (gsize) i] != picture->layer[0][row + (gsize) x] ||
        !picture->visible[row + (gsize) i])
      return FALSE;
  return TRUE;
}

/* Root mean square of left (x, y) - right (x - d - @off, y), in grey levels; of all layers or of one. */
static gdouble
warp_error (const Picture *picture, gint layer, gdouble off, guint *count)
{
  gdouble sum = 0, value;

  *count = 0;
  for (gint y = 0; y < picture->height; y++)
    for (gint x = 0; x < picture->width; x++) {
      gsize row = (gsize) y * (gsize) picture->width, at = row + (gsize) x;
      if (picture->layer[0][at] != layer || !is_inside (picture, x, row) || !between (picture->level[1] + row,
              picture->width, x - picture->truth[at] / (gdouble) TRUTH_STEPS - off, &value))
        continue;
      sum += (picture->level[0][at] - value) * (picture->level[0][at] - value);
      ++*count;
    }
  return *count ? sqrt (sum / *count) : 0;
}

/*
 * The two views agree where the truth says, and worse the further from there: by what interpolation and rounding
 * leave (a texture's fastest waves are past what eight taps can follow), against a spread of 35 grey levels.
 */
GST_START_TEST (test_truth_is_exact)
{
  static const gint sizes[][3] = { { 641, 211, 0 }, { 320, 97, 50 }, { 1023, 120, 0 } };
  Random random = { random_seed () };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, random_next (&random), sizes[k][0], sizes[k][1],
      sizes[k][2], 1.37, 0 };
    Picture picture = picture_of (&params, random_next (&random) % 100000);
    for (gint layer = 0; layer < GST_STEREO_SCENE_LAYERS; layer++) {
      guint count;
      gdouble right = warp_error (&picture, layer, 0, &count);
      fail_unless (count > 500, "size %u: layer %d has %u pixels", k, layer, count);
      fail_unless (right < 2.5, "size %u: layer %d is off by %.2f", k, layer, right);
      for (gint off = 2; off <= 16; off *= 2) {
        gdouble before = warp_error (&picture, layer, -off / 32.0, &count);
        gdouble behind = warp_error (&picture, layer, off / 32.0, &count);
        fail_unless (right < before && right < behind, "size %u: layer %d: %.3f, but %.3f and %.3f %d/32 px beside it",
            k, layer, right, before, behind, off);
      }
    }
    picture_clear (&picture);
  }
}
GST_END_TEST;

/* Whole pixels: nothing to interpolate, so every pixel that both views see is the same to the bit. */
GST_START_TEST (test_dots_are_equal_to_the_bit)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 8; k++) {
    GstStereoSceneParams params = { k % 2 ? GST_STEREO_PATTERN_STRIPES : GST_STEREO_PATTERN_RANDOM_DOTS,
      random_next (&random), random_range (&random, 60, 400), random_range (&random, 1, 90), 0, 3, 0 };
    Picture picture = picture_of (&params, random_next (&random) % 1000);
    guint seen = 0;
    for (gint y = 0; y < picture.height; y++)
      for (gint x = 0; x < picture.width; x++) {
        gsize row = (gsize) y * (gsize) picture.width;
        guint16 truth = picture.truth[row + (gsize) x];
        fail_unless (truth % TRUTH_STEPS == 0);
        if (!picture.visible[row + (gsize) x])
          continue;
        seen++;
        fail_unless_equals_int (picture.level[0][row + (gsize) x],
            picture.level[1][row + (gsize) (x - truth / TRUTH_STEPS)]);
      }
    fail_unless (seen > (guint) (picture.width * picture.height) / 2);
    picture_clear (&picture);
  }
}
GST_END_TEST;

GST_START_TEST (test_one_seed_one_picture)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 123, 45, 0, 2, 1.5 }, other = params;
  Picture first = picture_of (&params, 12), again = picture_of (&params, 12), next = picture_of (&params, 13);
  Picture seeded;

  other.seed = 6;
  seeded = picture_of (&other, 12);
  fail_unless (same_picture (&first, &again));
  fail_if (same_picture (&first, &next));
  fail_if (same_picture (&first, &seeded));
  /* the seed is of textures, not of the geometry */
  fail_unless (!memcmp (first.truth, seeded.truth, 2 * 123 * 45));
  picture_clear (&first);
  picture_clear (&again);
  picture_clear (&next);
  picture_clear (&seeded);
}
GST_END_TEST;

static void
noise_of (const Picture *clean, const Picture *noisy, guint v, gdouble *mean, gdouble *deviation)
{
  gint pixels = clean->width * clean->height;
  gdouble sum = 0, squares = 0;

  for (gint i = 0; i < pixels; i++) {
    gint more = noisy->level[v][i] - clean->level[v][i];
    sum += more;
    squares += more * more;
  }
  *mean = sum / pixels;
  *deviation = sqrt (squares / pixels - *mean * *mean);
}

GST_START_TEST (test_noise)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 5, 300, 200, 0, 0, 0 };
  Picture clean = picture_of (&params, 3), noisy, later;
  gdouble mean, deviation;

  params.noise = 6;
  noisy = picture_of (&params, 3);
  later = picture_of (&params, 4);
  for (guint v = 0; v < 2; v++) {
    noise_of (&clean, &noisy, v, &mean, &deviation);
    /* 60000 draws: the mean is within 0.1 and the deviation within 2 % */
    fail_unless (fabs (mean) < 0.15 && fabs (deviation - 6) < 0.2, "noise of %f, %f", mean, deviation);
  }
  /* drawn anew: the difference of two draws spreads by the root of two more */
  noise_of (&later, &noisy, 0, &mean, &deviation);
  fail_unless (fabs (deviation - 6 * sqrt (2)) < 0.3, "%f between frames", deviation);
  memcpy (clean.level[0], noisy.level[1], 300 * 200);
  noise_of (&clean, &noisy, 0, &mean, &deviation);
  fail_unless (fabs (deviation - 6 * sqrt (2)) < 0.3, "%f between views", deviation);
  picture_clear (&clean);
  picture_clear (&noisy);
  picture_clear (&later);
}
GST_END_TEST;

/* The foreground of the next frame is that of this one, @motion pixels further. */
GST_START_TEST (test_motion_moves_the_foreground)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 300, 60, 0, 3, 0 };
  Picture now = picture_of (&params, 4), next = picture_of (&params, 5);
  guint moved = 0, kept = 0;

  for (gint y = 0; y < 60; y++)
    for (gint x = 0; x + 3 < 300; x++) {
      gsize at = (gsize) (y * 300 + x);
      if (now.layer[0][at] == 4) {
        fail_unless_equals_int (next.layer[0][at + 3], 4);
        fail_unless_equals_int (next.level[0][at + 3], now.level[0][at]);
        moved++;
      } else if (next.layer[0][at] != 4) {
        fail_unless_equals_int (next.level[0][at], now.level[0][at]);
        kept++;
      }
    }
  fail_unless (moved > 300 && kept > 6000);
  picture_clear (&now);
  picture_clear (&next);
}
GST_END_TEST;

/* It turns back at the sides, and stays in the picture for ever. */
GST_START_TEST (test_motion_stays_inside)
{
  static const guint64 frames[] = { 0, 90, 1000, 123456789, G_MAXUINT32, G_MAXINT64 };
  static const gdouble motions[] = { 2, -7.25, 1000, -0.01 };

  for (guint m = 0; m < G_N_ELEMENTS (motions); m++)
    for (guint f = 0; f < G_N_ELEMENTS (frames); f++) {
      GstStereoSceneParams params = { GST_STEREO_PATTERN_RANDOM_DOTS, 5, 200, 20, 20, motions[m], 0 };
      Picture picture = picture_of (&params, frames[f]);
      guint covered = 0;
      for (guint x = 0; x < 200; x++)
        covered += picture.truth[10 * 200 + x] == 15 * TRUTH_STEPS;
      /* 2 * 36 pixels wide, a pixel less or more where it lies between pixels */
      fail_unless (covered >= 71 && covered <= 73, "motion %f, frame %" G_GUINT64_FORMAT ": %u", motions[m], frames[f],
          covered);
      picture_clear (&picture);
    }
}
GST_END_TEST;

GST_START_TEST (test_flat_is_flat_and_stripes_repeat)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 9, 211, 33, 0, 2, 0 };
  Picture picture = picture_of (&params, 7);
  guint compared = 0, spread = 0;

  for (gint i = 0; i < 211 * 33; i++)
    fail_unless (picture.level[0][i] == 128 && picture.level[1][i] == 128);
  fail_unless (picture.truth[0] != picture.truth[211 * 20]);
  picture_clear (&picture);
  params.pattern = GST_STEREO_PATTERN_STRIPES;
  picture = picture_of (&params, 7);
  for (gint i = 0; i + GST_STEREO_SCENE_STRIPE < 211 * 33; i++)
    if (i % 211 + GST_STEREO_SCENE_STRIPE < 211 &&
        picture.layer[1][i] == picture.layer[1][i + GST_STEREO_SCENE_STRIPE]) {
      fail_unless_equals_int (picture.level[1][i], picture.level[1][i + GST_STEREO_SCENE_STRIPE]);
      spread = MAX (spread, (guint) ABS (picture.level[1][i] - picture.level[1][i + GST_STEREO_SCENE_STRIPE / 2]));
      compared++;
    }
  fail_unless (compared > 211 * 33 / 2 && spread > 100);
  picture_clear (&picture);
}
GST_END_TEST;

/* Any size and setting: in its range, and nothing read or written outside (under a sanitizer). */
GST_START_TEST (test_any_size)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 60; k++) {
    GstStereoSceneParams params = { k % 4, random_next (&random), random_range (&random, 8, 90),
      random_range (&random, 1, 40), 0, random_unit (&random) * 40 - 20, k % 3 };
    params.max_disparity = k % 5 ? random_range (&random, 0, params.width / 2) : 0;
    gint most = params.max_disparity ? params.max_disparity : MAX (1, params.width / 10);
    Picture picture = picture_of (&params, random_next (&random));
    for (gint i = 0; i < params.width * params.height; i++) {
      fail_unless (picture.truth[i] > 0 && picture.truth[i] <= most * TRUTH_STEPS, "truth %u of at most %d px",
          picture.truth[i], most);
      fail_unless (picture.layer[0][i] < GST_STEREO_SCENE_LAYERS && picture.layer[1][i] < GST_STEREO_SCENE_LAYERS);
    }
    picture_clear (&picture);
  }
}
GST_END_TEST;

/* ---- the element --------------------------------------------------------------------------- */

static GstHarness *
source_new (const gchar *properties, const gchar *caps)
{
  gchar *line = g_strdup_printf ("stereotestsrc %s ! capsfilter caps=\"%s\"", properties, caps);
  GstHarness *harness = gst_harness_new_parse (line);

  g_free (line);
  fail_unless (harness != NULL);
  return harness;
}

static gint
sample_of (const GstVideoFrame *frame, guint c, gint x, gint y)
{
  const GstVideoFormatInfo *format = frame->info.finfo;

  return ((const guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c))[
      (y >> GST_VIDEO_FORMAT_INFO_H_SUB (format, c)) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) +
      (x >> GST_VIDEO_FORMAT_INFO_W_SUB (format, c)) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

/* Where view pixel (x, y) lies in a frame of that layout. */
static void
place (GstVideoMultiviewMode mode, guint second, gint width, gint height, gint *x, gint *y)
{
  if (mode == GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE)
    *x += (gint) second * width;
  else if (mode == GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM)
    *y += (gint) second * height;
  else if (mode == GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED)
    *y = 2 * *y + (gint) second;
  else
    *x = 2 * *x + (gint) second;
}

/* The brightness that a frame shows, 0..255. */
static gdouble
luma_at (const GstVideoFrame *frame, gint x, gint y)
{
  gint value[3];

  if (GST_VIDEO_INFO_IS_YUV (&frame->info))
    return (sample_of (frame, 0, x, y) - 16) * 255 / 219.0;
  if (GST_VIDEO_INFO_IS_GRAY (&frame->info))
    return sample_of (frame, 0, x, y);
  for (guint c = 0; c < 3; c++)
    value[c] = sample_of (frame, c, x, y);
  return 0.299 * value[0] + 0.587 * value[1] + 0.114 * value[2];
}

/* That @buffer shows the scene of @params at @frame, in any format and layout. */
static void
check_frame (GstBuffer *buffer, const GstVideoInfo *info, GstStereoSceneParams *params, guint64 frame)
{
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  gboolean swapped = (GST_VIDEO_INFO_MULTIVIEW_FLAGS (info) & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST) != 0;
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstVideoFrame mapped;
  Picture picture;
  GBytes *truth;

  fail_unless (meta != NULL);
  params->width = (gint) meta->width;
  params->height = (gint) meta->height;
  picture = picture_of (params, frame);
  truth = gst_stereo_meta_get_truth_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (truth), 2 * meta->width * meta->height);
  fail_unless (!memcmp (g_bytes_get_data (truth, NULL), picture.truth, g_bytes_get_size (truth)));
  g_bytes_unref (truth);
  fail_unless (gst_video_frame_map (&mapped, info, buffer, GST_MAP_READ));
  for (guint v = 0; v < 2; v++)
    for (gint y = 0; y < picture.height; y++)
      for (gint x = 0; x < picture.width; x++) {
        gint level = picture.level[v][y * picture.width + x], at_x = x, at_y = y;
        place (mode, swapped ? !v : v, picture.width, picture.height, &at_x, &at_y);
        gdouble luma = luma_at (&mapped, at_x, at_y);
        fail_unless (fabs (luma - level) < 1, "%s: %d,%d of view %u is %f, not %d",
            gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), x, y, v, luma, level);
        if (GST_VIDEO_INFO_HAS_ALPHA (info))
          fail_unless_equals_int (sample_of (&mapped, 3, at_x, at_y), 255);
      }
  gst_video_frame_unmap (&mapped);
  picture_clear (&picture);
}

GST_START_TEST (test_every_format)
{
  static const gchar *const formats[] = { "BGRx", "RGBx", "xRGB", "xBGR", "BGRA", "RGBA", "ARGB", "ABGR", "RGB", "BGR",
    "GRAY8", "I420", "YV12", "NV12", "NV21", "NV16", "NV24", "YUY2", "UYVY", "YVYU", "VYUY", "Y42B", "Y444", "AYUV" };
  static const gint sizes[][2] = { { 82, 21 }, { 16, 1 }, { 130, 34 } };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 21, 0, 0, 0, 2, 1 };
      gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d", formats[f], sizes[s][0], sizes[s][1]);
      GstHarness *harness = source_new ("num-buffers=2 seed=21", caps);
      gst_harness_play (harness);
      for (guint64 n = 0; n < 2; n++) {
        GstBuffer *buffer = gst_harness_pull (harness);
        fail_unless (buffer != NULL);
        GstVideoInfo info = output_info (harness);
        fail_unless_equals_string (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&info)), formats[f]);
        fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), sizes[s][0]);
        check_frame (buffer, &info, &params, n);
        gst_buffer_unref (buffer);
      }
      gst_harness_teardown (harness);
      g_free (caps);
    }
}
GST_END_TEST;

/* Chroma says what the colour is: a warm disc has more red than a neutral grey of its luma, in every matrix. */
GST_START_TEST (test_colours)
{
  static const gchar *const caps[] = { "video/x-raw,format=Y444,width=640,height=100,colorimetry=bt601",
    "video/x-raw,format=Y444,width=640,height=100,colorimetry=bt709" };
  gint v[2];

  for (guint k = 0; k < 2; k++) {
    GstHarness *harness = source_new ("num-buffers=1 motion=0", caps[k]);
    GstVideoFrame frame;
    gst_harness_play (harness);
    GstBuffer *buffer = gst_harness_pull (harness);
    GstVideoInfo info = output_info (harness);
    fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
    /* the middle of the disc, 35 % and 56 % into the view */
    gint level = 0, u = 0;
    v[k] = 0;
    for (gint i = 0; i < 400; i++) {
      level += sample_of (&frame, 0, 102 + i % 20, 46 + i / 20);
      u += sample_of (&frame, 1, 102 + i % 20, 46 + i / 20) - 128;
      v[k] += sample_of (&frame, 2, 102 + i % 20, 46 + i / 20) - 128;
    }
    fail_unless (v[k] > level / 20 && u < -level / 20, "Y %d U %d V %d", level, u, v[k]);
    gst_video_frame_unmap (&frame);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
  fail_unless (v[0] != v[1]);
}
GST_END_TEST;

GST_START_TEST (test_layouts)
{
  static const gchar *const layouts[] = { "multiview-mode=side-by-side", "multiview-mode=top-bottom",
    "multiview-mode=row-interleaved", "multiview-mode=column-interleaved",
    "multiview-mode=side-by-side," RIGHT_FIRST, "multiview-mode=column-interleaved," RIGHT_FIRST };
  static const gchar *const formats[] = { "GRAY8", "NV12" };

  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  for (guint k = 0; k < 2 * G_N_ELEMENTS (layouts); k++) {
    GstStereoSceneParams params = { GST_STEREO_PATTERN_RANDOM_DOTS, 3, 0, 0, 0, 2, 1 };
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=86,height=34,%s", formats[k % 2], layouts[k / 2]);
    GstHarness *harness = source_new ("num-buffers=1 pattern=random-dots noise=1 seed=3", caps);
    gst_harness_play (harness);
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless (buffer != NULL, "%s", caps);
    GstVideoInfo info = output_info (harness);
    gboolean stacked = k / 2 == 1 || k / 2 == 2;
    fail_unless_equals_int (gst_buffer_get_stereo_meta (buffer)->width, stacked ? 86 : 43);
    fail_unless_equals_int (gst_buffer_get_stereo_meta (buffer)->height, stacked ? 17 : 34);
    check_frame (buffer, &info, &params, 0);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
  }
}
GST_END_TEST;

GST_START_TEST (test_default_caps_and_meta)
{
  GstHarness *harness = source_new ("num-buffers=1", "video/x-raw");
  GstStereoMeta *meta;
  GstVideoInfo info;
  GstBuffer *buffer;
  GstCaps *caps;

  gst_harness_play (harness);
  buffer = gst_harness_pull (harness);
  info = output_info (harness);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 1280);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), 480);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 30);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_D (&info), 1);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_MODE (&info), GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_FLAGS (&info), 0);
  caps = gst_pad_get_current_caps (harness->sinkpad);
  fail_unless (gst_structure_has_field (gst_caps_get_structure (caps, 0), "multiview-flags"));
  gst_caps_unref (caps);
  meta = gst_buffer_get_stereo_meta (buffer);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_VIEWS);
  fail_unless_equals_int (meta->width, 640);
  fail_unless_equals_int (meta->height, 480);
  fail_unless (meta->confidence == NULL);
  fail_unless_equals_float (meta->min_disparity, 0);
  fail_unless_equals_float (meta->num_disparities, 65);
  fail_unless (meta->focal_length > 0 && meta->baseline > 0);
  fail_unless_equals_float (meta->principal_offset, 0);
  fail_unless (isnan (gst_stereo_meta_get_disparity (meta, 200)) && isnan (gst_stereo_meta_get_depth (meta, 200)));
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* An odd limit leaves an even width; the disparity asked for is in the meta. */
GST_START_TEST (test_halves_come_out_whole)
{
  GstHarness *harness = source_new ("num-buffers=1 max-disparity=31", "video/x-raw,width=[1,201],height=[2,31]");
  GstVideoInfo info;
  GstBuffer *buffer;

  gst_harness_play (harness);
  buffer = gst_harness_pull (harness);
  info = output_info (harness);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 200);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), 31);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->num_disparities, 32);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

GST_START_TEST (test_times_and_number)
{
  GstHarness *harness = source_new ("num-buffers=5 timestamp-offset=7000000000",
      "video/x-raw,format=GRAY8,width=32,height=4,framerate=30000/1001");
  gint64 duration;
  GstEvent *event;
  gboolean eos = FALSE;

  gst_harness_play (harness);
  for (guint64 n = 0; n < 5; n++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    GstClockTime begin = gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000);
    fail_unless (buffer != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 7 * GST_SECOND + begin);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer),
        gst_util_uint64_scale (n + 1, 1001 * GST_SECOND, 30000) - begin);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
    gst_buffer_unref (buffer);
  }
  fail_unless (gst_element_query_duration (harness->element, GST_FORMAT_TIME, &duration));
  fail_unless_equals_uint64 (duration, gst_util_uint64_scale (5, 1001 * GST_SECOND, 30000));
  while (!eos && (event = gst_harness_pull_event (harness))) {
    eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (eos);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 5);
  gst_harness_teardown (harness);
}
GST_END_TEST;

static void
check_preroll (GstElement *sink, guint64 n, GstClockTime pts)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 4, 0, 0, 0, 2.5, 2 };
  GstSample *sample = NULL;
  GstVideoInfo info;

  g_signal_emit_by_name (sink, "try-pull-preroll", 10 * GST_SECOND, &sample);
  fail_unless (sample != NULL);
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)), pts);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), n);
  check_frame (gst_sample_get_buffer (sample), &info, &params, n);
  gst_sample_unref (sample);
}

/* Frame n is what it is, however one gets there. */
GST_START_TEST (test_seek)
{
  static const guint64 frames[] = { 7, 1, 100, 0, 29, 123457 };
  GstElement *pipeline = gst_parse_launch ("stereotestsrc seed=4 motion=2.5 noise=2 ! "
      "video/x-raw,format=GRAY8,width=128,height=20,framerate=30000/1001 ! appsink name=o sync=false", NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  check_preroll (sink, 0, 0);
  for (guint k = 0; k < 2 * G_N_ELEMENTS (frames); k++) {
    guint64 n = frames[k / 2];
    GstClockTime begin = gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000);
    /* at its first nanosecond, and in its middle */
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
            (gint64) (begin + (k % 2) * 16 * GST_MSECOND)));
    check_preroll (sink, n, begin);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_backwards)
{
  GstElement *pipeline = gst_parse_launch ("stereotestsrc seed=4 ! "
      "video/x-raw,format=GRAY8,width=64,height=4,framerate=25/1 ! appsink name=o sync=false", NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  GstSample *sample = NULL;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND);
  fail_unless (gst_element_seek (pipeline, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
          GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 5 * FRAME));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint n = 4; n >= 0; n--) {
    g_signal_emit_by_name (sink, "try-pull-sample", 10 * GST_SECOND, &sample);
    fail_unless (sample != NULL, "frame %d is missing", n);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), (guint64) n);
    gst_sample_unref (sample);
  }
  g_signal_emit_by_name (sink, "try-pull-sample", 10 * GST_SECOND, &sample);
  fail_unless (sample == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* A live frame comes at its time, not before. */
GST_START_TEST (test_live)
{
  GstHarness *harness = source_new ("num-buffers=4 is-live=true", "video/x-raw,format=GRAY8,width=32,height=4,"
      "framerate=25/1");
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable = TRUE;

  gst_harness_use_testclock (harness);
  gst_harness_play (harness);
  for (guint n = 0; n < 4; n++) {
    GstTestClock *clock = gst_harness_get_testclock (harness);
    GstBuffer *buffer;
    fail_unless_equals_int (gst_harness_buffers_received (harness), n);
    fail_unless (gst_harness_crank_single_clock_wait (harness));
    buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * FRAME);
    fail_unless_equals_uint64 (gst_clock_get_time (GST_CLOCK (clock)), n * FRAME);
    gst_buffer_unref (buffer);
    gst_object_unref (clock);
  }
  fail_unless_equals_uint64 (gst_harness_query_latency (harness), FRAME);
  if (gst_pad_peer_query (harness->sinkpad, query))
    gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
  gst_query_unref (query);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Properties count from the next frame on. */
GST_START_TEST (test_properties_while_playing)
{
  GstHarness *harness = source_new ("seed=4", "video/x-raw,format=GRAY8,width=64,height=8");
  GstElement *source = gst_harness_find_element (harness, "stereotestsrc");
  GstStereoSceneParams params = { GST_STEREO_PATTERN_STRIPES, 4, 0, 0, 9, 2, 1 };
  GstVideoInfo info;
  gboolean changed = FALSE;

  gst_harness_play (harness);
  gst_buffer_unref (gst_harness_pull (harness));
  info = output_info (harness);
  g_object_set (source, "pattern", GST_STEREO_PATTERN_STRIPES, "max-disparity", 9, NULL);
  /* what was made before comes first; the harness' queue has no limit, so wait for the change itself */
  for (guint n = 1; n < 100000 && !changed; n++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    changed = gst_buffer_get_stereo_meta (buffer)->num_disparities == 10;
    if (changed)
      check_frame (buffer, &info, &params, GST_BUFFER_OFFSET (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless (changed);
  gst_object_unref (source);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The line is refused with a sentence that has all of the words. */
static void
check_refused (const gchar *line, const gchar *const *words)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GError *error = NULL;
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s: no error", line);
  gst_message_parse_error (message, &error, NULL);
  for (; *words; words++)
    fail_unless (strstr (error->message, *words) != NULL, "%s: \"%s\" is not in \"%s\"", line, *words, error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_refusals)
{
  check_refused ("stereotestsrc ! video/x-raw,width=1 ! fakesink", (const gchar *[]) { "1x480", "even", NULL });
  check_refused ("stereotestsrc ! video/x-raw,width=101 ! fakesink", (const gchar *[]) { "101x480", "even", NULL });
  check_refused ("stereotestsrc ! video/x-raw,width=14,height=6 ! fakesink",
      (const gchar *[]) { "7x6", "8 pixels", NULL });
  check_refused ("stereotestsrc ! video/x-raw,width=64,height=40000 ! fakesink",
      (const gchar *[]) { "32x40000", "16384", NULL });
  check_refused ("stereotestsrc max-disparity=33 ! video/x-raw,width=128,height=20 ! fakesink",
      (const gchar *[]) { "max-disparity=33", "64", "32", NULL });
}
GST_END_TEST;

static Suite *
testsrc_suite (void)
{
  Suite *suite = suite_create ("testsrc");
  TCase *cases = tcase_create ("general");

  suite_add_tcase (suite, cases);
  tcase_add_test (cases, test_truth_is_exact);
  tcase_add_test (cases, test_dots_are_equal_to_the_bit);
  tcase_add_test (cases, test_one_seed_one_picture);
  tcase_add_test (cases, test_noise);
  tcase_add_test (cases, test_motion_moves_the_foreground);
  tcase_add_test (cases, test_motion_stays_inside);
  tcase_add_test (cases, test_flat_is_flat_and_stripes_repeat);
  tcase_add_test (cases, test_any_size);
  tcase_add_test (cases, test_every_format);
  tcase_add_test (cases, test_colours);
  tcase_add_test (cases, test_layouts);
  tcase_add_test (cases, test_default_caps_and_meta);
  tcase_add_test (cases, test_halves_come_out_whole);
  tcase_add_test (cases, test_times_and_number);
  tcase_add_test (cases, test_seek);
  tcase_add_test (cases, test_backwards);
  tcase_add_test (cases, test_live);
  tcase_add_test (cases, test_properties_while_playing);
  tcase_add_test (cases, test_refusals);
  return suite;
}

GST_CHECK_MAIN (testsrc);
