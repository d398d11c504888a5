/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points in space: of one pixel, of a whole picture, and behind elements that scale or crop. */
#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#include <math.h>

static Random generator;

#define between(low, high) random_between (&generator, low, high)

/* Random cameras and samples of every kind. */
static void
draw_geometry (GstStereoMeta *meta)
{
  meta->kind = (GstStereoOutputKind) random_range (&generator, 0, 2);
  meta->disparity_scale = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? between (1, 8) : between (16, 256);
  meta->min_disparity = random_range (&generator, -20, 20);
  meta->focal_length = between (100, 3000);
  meta->focal_length_y = random_range (&generator, 0, 1) ? between (100, 3000) : 0;
  meta->baseline = between (20, 500);
  meta->principal_offset = random_range (&generator, 0, 1) ? between (-10, 30) : 0;
  meta->principal_x = random_range (&generator, 0, 3) ? between (1, meta->width) : 0;
  meta->principal_y = random_range (&generator, 0, 3) ? between (-5, meta->height) : 0;
  meta->depth_unit = between (100, 5000);
}

static guint
draw_sample (const GstStereoMeta *meta)
{
  guint most = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 255 : 65535;

  return random_range (&generator, 0, 5) ? (guint) random_range (&generator, 1, (gint) most) : 0;
}

static gboolean
is_near (gdouble a, gdouble b, gdouble relative, gdouble size)
{
  return fabs (a - b) <= relative * size;
}

/* ---- one pixel --------------------------------------------------------------------------- */

/* The cameras' own formula, the other way round: a point that is seen by both cameras is found again. */
static void
check_against_projection (const GstStereoMeta *meta, gdouble z, guint sample)
{
  gdouble fy = meta->focal_length_y > 0 ? meta->focal_length_y : meta->focal_length, size, x, y, z_found;
  gdouble cx = meta->principal_x != 0 ? meta->principal_x : (meta->width - 1) / 2.0;
  gdouble cy = meta->principal_y != 0 ? meta->principal_y : (meta->height - 1) / 2.0;
  gdouble point_x = between (-2, 2) * z, point_y = between (-2, 2) * z;

  fail_unless (gst_stereo_meta_get_point (
      meta, cx + meta->focal_length * point_x / z, cy + fy * point_y / z, sample, &x, &y, &z_found));
  size = fabs (point_x) + fabs (point_y) + z;
  fail_unless (is_near (x, point_x, 1e-9, size), "X is %g and not %g", x, point_x);
  fail_unless (is_near (y, point_y, 1e-9, size), "Y is %g and not %g", y, point_y);
  fail_unless (is_near (z_found, z, 1e-9, size), "Z is %g and not %g", z_found, z);
}

TEST (test_point_is_where_both_cameras_see_it)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, 640, 480, NULL);

  for (guint i = 0; i < 3000; i++) {
    gdouble shift, z;

    draw_geometry (meta);
    guint sample = draw_sample (meta);
    if (meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH) {
      z = sample * meta->depth_unit / 1000;
    } else {
      /* what lies at a disparity of min_disparity has sample 1 of 8 bits */
      shift = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY ?
          sample / meta->disparity_scale :
          (sample - 1) / meta->disparity_scale + meta->min_disparity;
      /* column in the left view minus column in the right view, each from its own principal point */
      z = meta->baseline * meta->focal_length / (shift + meta->principal_offset);
    }
    if (sample && sample < 65535 && z > 0 && isfinite (z))
      check_against_projection (meta, z, sample);
    else
      fail_if (gst_stereo_meta_get_point (meta, 1, 2, sample, NULL, NULL, NULL));
  }
}

/* Nothing is told that is not known. */
TEST (test_no_point)
{
  static const struct
  {
    GstStereoOutputKind kind;
    gdouble focal_length, baseline, offset;
    guint sample;
    gboolean found;
  } cases[] = { { GST_STEREO_OUTPUT_KIND_DISPARITY, 500, 100, 0, 640, TRUE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY, 500, 100, 0, 0, FALSE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY, 0, 100, 0, 640, FALSE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY, 500, 0, 0, 640, FALSE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY, 500, 100, -10, 640, FALSE }, /* at infinity */
    { GST_STEREO_OUTPUT_KIND_DISPARITY, 500, 100, -11, 640, FALSE }, /* and beyond */
    { GST_STEREO_OUTPUT_KIND_DISPARITY, NAN, 100, 0, 640, FALSE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 500, 100, 5, 1, TRUE },
    { GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 500, 100, 0, 1, FALSE }, /* a disparity of 0 */
    { GST_STEREO_OUTPUT_KIND_DEPTH, 500, 0, 0, 65534, TRUE },
    { GST_STEREO_OUTPUT_KIND_DEPTH, 500, 100, 0, 65535, FALSE }, /* that far or farther */
    { GST_STEREO_OUTPUT_KIND_DEPTH, 500, 100, 0, 0, FALSE }, { GST_STEREO_OUTPUT_KIND_DEPTH, 0, 100, 0, 1000, FALSE },
    { GST_STEREO_OUTPUT_KIND_VIEWS, 500, 100, 0, 640, FALSE } };
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, 8, 6, NULL);

  meta->disparity_scale = 64;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gdouble x = 1, y = 1, z = 1;

    meta->kind = cases[i].kind;
    meta->focal_length = cases[i].focal_length;
    meta->baseline = cases[i].baseline;
    meta->principal_offset = cases[i].offset;
    fail_unless (gst_stereo_meta_get_point (meta, 3, 4, cases[i].sample, &x, &y, &z) == cases[i].found, "case %u", i);
    fail_unless (!!isnan (x) == !cases[i].found && !!isnan (y) == !cases[i].found && !!isnan (z) == !cases[i].found,
        "case %u: %g %g %g", i, x, y, z);
  }
}

/* ---- a whole picture --------------------------------------------------------------------- */

/* A picture of random samples, rows padded by @padding bytes; with @padding below 0 the rows lie bottom up. */
static GstBuffer *
draw_picture (guint width, guint height, gint padding, guint16 **samples)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, width, height, NULL);
  GstVideoFormat format = GST_VIDEO_FORMAT_GRAY8;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size;

  draw_geometry (meta);
  guint bytes = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 1 : 2;
  if (bytes == 2)
    format = random_range (&generator, 0, 1) ? GST_VIDEO_FORMAT_GRAY16_BE : GST_VIDEO_FORMAT_GRAY16_LE;
  stride[0] = (gint) (width * bytes) + ABS (padding);
  size = (gsize) (stride[0] * (gint) (height - 1)) + width * bytes;
  guint8 *data = g_malloc0 (size);
  if (padding < 0) {
    offset[0] = (gsize) stride[0] * (height - 1);
    stride[0] = -stride[0];
  }
  *samples = g_new (guint16, width * height);
  for (guint i = 0; i < width * height; i++) {
    guint8 *to = data + offset[0] + (gssize) (i / width) * stride[0] + (gsize) (i % width) * bytes;
    (*samples)[i] = (guint16) draw_sample (meta);
    if (bytes == 1)
      *to = (guint8) (*samples)[i];
    else if (format == GST_VIDEO_FORMAT_GRAY16_LE)
      GST_WRITE_UINT16_LE (to, (*samples)[i]);
    else
      GST_WRITE_UINT16_BE (to, (*samples)[i]);
  }
  gst_buffer_append_memory (buffer, gst_memory_new_wrapped (0, data, size, 0, size, data, g_free));
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1, offset, stride);
  return buffer;
}

static void
check_pixel (const gfloat *found, gboolean there, const gdouble expected[3])
{
  gdouble size = fabs (expected[0]) + fabs (expected[1]) + fabs (expected[2]);

  for (guint i = 0; i < 3; i++)
    if (there)
      fail_unless (is_near (found[i], expected[i], 1e-6, size), "value %u is %g and not %g", i, found[i], expected[i]);
    else
      fail_unless (isnan (found[i]), "value %u is %g where no point is", i, found[i]);
}

/* The plain twin: one pixel at a time. */
TEST (test_whole_picture_against_single_pixels)
{
  for (guint round = 0; round < 60; round++) {
    guint width = (guint) random_range (&generator, 1, round % 10 ? 40 : 700), height;
    g_autofree guint16 *samples = NULL;

    height = (guint) random_range (&generator, 1, 20);
    g_autoptr (GstBuffer) buffer = draw_picture (width, height, random_range (&generator, -9, 9), &samples);
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
    g_autofree gfloat *points = g_new (gfloat, width * height * 3);
    fail_unless (gst_stereo_meta_get_points (meta, buffer, points));
    for (guint i = 0; i < width * height; i++) {
      gdouble at[3];
      gboolean there = gst_stereo_meta_get_point (meta, i % width, i / width, samples[i], &at[0], &at[1], &at[2]);
      check_pixel (points + 3 * i, there, at);
    }
    g_autoptr (GBytes) bytes = gst_stereo_meta_get_points_bytes (meta, buffer);
    fail_unless_equals_int (g_bytes_get_size (bytes), width * height * 3 * sizeof (gfloat));
    fail_unless (!memcmp (g_bytes_get_data (bytes, NULL), points, g_bytes_get_size (bytes)));
  }
}

/* Pictures that are not what the meta says: no points, and nothing is read outside of them. */
TEST (test_pictures_that_do_not_fit)
{
  enum
  {
    RIGHT,
    FORMAT,
    WIDTH,
    HEIGHT,
    CROP,
    OFFSET,
    STRIDE,
    UPWARDS,
    GEOMETRY,
    VIEWS,
    PLAIN,
    PLAIN_SHORT,
    PLAIN_LONG,
    CASES
  };

  for (guint i = 0; i < CASES; i++) {
    g_autofree guint16 *samples = NULL;
    GstBuffer *buffer = draw_picture (12, 7, 3, &samples), *given = buffer;
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
    GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
    gfloat points[12 * 7 * 3] = { 0 };
    gboolean expected = i == RIGHT || i == PLAIN;

    if (i == FORMAT)
      video->format = video->format == GST_VIDEO_FORMAT_GRAY8 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8;
    else if (i == WIDTH)
      video->width = 11;
    else if (i == HEIGHT)
      video->height = 8;
    else if (i == CROP)
      gst_buffer_add_video_crop_meta (buffer);
    else if (i == OFFSET)
      video->offset[0] = G_MAXSIZE - 3;
    else if (i == STRIDE)
      video->stride[0]++;
    else if (i == UPWARDS)
      video->stride[0] = -video->stride[0];
    else if (i == GEOMETRY)
      meta->focal_length = 0;
    else if (i == VIEWS)
      meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
    else if (i >= PLAIN)
      given = gst_buffer_new_allocate (
          NULL, meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 84 + i - PLAIN : 168 + i - PLAIN, NULL);
    if (i == PLAIN_SHORT)
      gst_buffer_set_size (given, 83);
    fail_unless (gst_stereo_meta_get_points (meta, given, points) == expected, "case %u", i);
    fail_unless (expected || (points[0] == 0 && points[250] == 0), "case %u was written", i);
    GBytes *bytes = gst_stereo_meta_get_points_bytes (meta, given);
    fail_unless ((bytes != NULL) == expected, "case %u", i);
    g_clear_pointer (&bytes, g_bytes_unref);
    if (given != buffer)
      gst_buffer_unref (given);
    gst_buffer_unref (buffer);
  }
}

/* ---- behind elements that change the picture --------------------------------------------- */

#define WIDTH 96
#define HEIGHT 60

/* The first buffer of the synthetic scene, matched and passed through @elements. */
static GstSample *
pull_through (const gchar *properties, const gchar *elements)
{
  g_autofree gchar *line = g_strdup_printf ("stereotestsrc num-buffers=1 ! video/x-raw,width=%d,height=%d ! stereomatch "
                                            "backend=cpu threads=1 %s ! %s ! appsink name=o sync=false",
      2 * WIDTH, HEIGHT, properties, elements);

  return first_sample (line);
}

/* The points of a scaled picture are those of the rays of the picture before. */
static void
check_scaled (GstSample *before_sample, GstSample *after_sample)
{
  GstBuffer *after_buffer = gst_sample_get_buffer (after_sample);
  const GstStereoMeta *before = gst_buffer_get_stereo_meta (gst_sample_get_buffer (before_sample));
  const GstStereoMeta *after = gst_buffer_get_stereo_meta (after_buffer);
  guint found = 0;
  GstVideoInfo info;

  fail_unless (after != NULL, "the meta was lost");
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (after_sample)));
  fail_unless_equals_int (after->width, GST_VIDEO_INFO_WIDTH (&info));
  g_autofree gfloat *points = g_new (gfloat, after->width * after->height * 3);
  fail_unless (gst_stereo_meta_get_points (after, after_buffer, points));
  for (guint i = 0; i < after->width * after->height; i++) {
    guint x = i % after->width, y = i / after->width, sample = sample_at (after_buffer, &info, (gint) x, (gint) y);
    gdouble at[3];
    gboolean there = gst_stereo_meta_get_point (before, (x + 0.5) * before->width / after->width - 0.5,
        (y + 0.5) * before->height / after->height - 0.5, sample, &at[0], &at[1], &at[2]);
    check_pixel (points + 3 * i, there, at);
    found += there;
  }
  fail_unless (found > after->width * after->height / 4, "hardly any point: %u", found);
}

TEST (test_behind_videoscale)
{
  static const gchar *const kinds[] = { "disparity-scale=32 principal-offset=2", "output=depth depth-unit=500",
    "! video/x-raw,format=GRAY8" };
  const gint heights[] = { HEIGHT / 2, HEIGHT * 2, random_range (&generator, 11, 200) };

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    for (guint i = 0; i < G_N_ELEMENTS (heights); i++) {
      gint width = i < 2 ? heights[i] * WIDTH / HEIGHT : random_range (&generator, 11, 200);
      g_autofree gchar *scaler = g_strdup_printf (
          "videoscale method=nearest-neighbour ! video/x-raw,width=%d,height=%d", width, heights[i]);
      g_autoptr (GstSample) before = pull_through (kinds[kind], "identity"), after = pull_through (kinds[kind], scaler);

      check_scaled (before, after);
    }
}

/* Right points or none: what cannot be followed has no meta. */
TEST (test_behind_crops_and_turns)
{
  static const gchar *const elements[] = { "videocrop left=6 top=2", "aspectratiocrop aspect-ratio=1/1",
    "videobox left=6 top=2", "videobox left=-6", "videoflip video-direction=horiz", "videoflip video-direction=90r",
    "videoscale ! video/x-raw,width=60,height=60,pixel-aspect-ratio=1/1",
    "videocrop right=9 ! videoscale ! video/x-raw,width=96,height=60" };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    gchar **words = g_strsplit (elements[i], " ", 2);
    GstElementFactory *factory = gst_element_factory_find (words[0]);

    if (factory) {
      g_autoptr (GstSample) sample = pull_through ("", elements[i]);
      fail_unless (gst_buffer_get_stereo_meta (gst_sample_get_buffer (sample)) == NULL, "%s", elements[i]);
      gst_object_unref (factory);
    }
    g_strfreev (words);
  }
}

SUITE (points)
{
  generator.state = random_seed ();
}
