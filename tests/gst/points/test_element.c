/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereopoints: its files against one pixel after the other, and input that cannot be used. */
#include "tests/support/gst/util.h"

#include <math.h>

#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

static Random generator;

typedef struct
{
  GstElement *element;
  GstHarness *depth;
  GstBus *bus;
  gint width, height;
  GstVideoFormat format;
} Points;

static Points
points_new (const gchar *properties, GstVideoFormat format, gint width, gint height)
{
  Points points = { .width = width, .height = height, .format = format };

  points.element = element_new ("stereopoints", properties, &points.bus);
  points.depth = gst_harness_new_with_element (points.element, "sink", "src");
  harness_set_caps (points.depth, format, width, height, NULL);
  return points;
}

static void
points_free (Points *points)
{
  gst_element_set_bus (points->element, NULL);
  gst_harness_teardown (points->depth);
  element_free (points->element, points->bus);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Points, points_free)

/* Random samples and confidence, rows padded by @padding bytes, with random cameras. */
static GstBuffer *
draw_picture (const Points *points, gint padding)
{
  gboolean narrow = points->format == GST_VIDEO_FORMAT_GRAY8;
  GstBuffer *confidence = make_view (GST_VIDEO_FORMAT_GRAY8, points->width, points->height, 3, 0, padding), *buffer;
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, points->format, (guint) points->width, (guint) points->height);
  buffer = new_frame (&info, padding);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) points->width, (guint) points->height, confidence);
  gst_buffer_unref (confidence);
  meta->kind = narrow                 ? GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE :
      random_range (&generator, 0, 1) ? GST_STEREO_OUTPUT_KIND_DEPTH :
                                        GST_STEREO_OUTPUT_KIND_DISPARITY;
  meta->disparity_scale = random_between (&generator, 1, 64);
  meta->min_disparity = random_range (&generator, -4, 4);
  meta->focal_length = random_between (&generator, 100, 2000);
  meta->focal_length_y = random_range (&generator, 0, 1) ? random_between (&generator, 100, 2000) : 0;
  meta->baseline = random_between (&generator, 20, 500);
  meta->principal_offset = random_range (&generator, 0, 1) ? random_between (&generator, -4, 20) : 0;
  meta->principal_x = random_between (&generator, 1, points->width + 1);
  meta->principal_y = random_between (&generator, -7, points->height);
  meta->depth_unit = random_between (&generator, 100, 2000);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < points->height; y++)
    for (gint x = 0; x < points->width; x++) {
      guint8 *to = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      guint sample = random_range (&generator, 0, 5) ? random_next (&generator) : 0;
      if (narrow)
        to[x] = (guint8) sample;
      else
        GST_WRITE_UINT16_LE (to + 2 * x, sample);
    }
  gst_video_frame_unmap (&frame);
  return stamp (buffer, 0, FRAME);
}

/* ---- the plain twin ---------------------------------------------------------------------- */

typedef struct
{
  gint step;
  gdouble near, far, min_confidence;
  gboolean organized, pcd;
} Wanted;

static guint8
confidence_at (const GstStereoMeta *meta, gint x, gint y)
{
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_confidence_bytes (meta);

  return ((const guint8 *) g_bytes_get_data (bytes, NULL))[y * (gint) meta->width + x];
}

/* The lines of the header as one text; @body: what comes after it. */
static gchar *
header_of (const GstMapInfo *map, gboolean pcd, const guint8 **body)
{
  const gchar *end = pcd ? "DATA binary\n" : "end_header\n";
  gchar *text = g_strndup ((const gchar *) map->data, MIN (map->size, 600)), *at = strstr (text, end);

  fail_unless (at != NULL, "no header: %s", text);
  at[strlen (end)] = 0;
  *body = map->data + (at - text) + strlen (end);
  return text;
}

static void
check_header (const gchar *text, const Wanted *wanted, gint columns, gint rows, guint count)
{
  g_autofree gchar *size = wanted->pcd ?
      g_strdup_printf ("\nWIDTH %u\nHEIGHT %d\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS %u\n",
          wanted->organized ? (guint) columns : count, wanted->organized ? rows : 1, count) :
      g_strdup_printf ("\nelement vertex %u\nproperty float x\nproperty float y\nproperty float z\n", count);
  g_autofree gchar *grid = g_strdup_printf ("\nobj_info num_cols %d\nobj_info num_rows %d\n", columns, rows);

  fail_unless (g_str_has_prefix (text, wanted->pcd ? "# .PCD v0.7" : "ply\nformat binary_little_endian 1.0\n"));
  fail_unless (strstr (text, size) != NULL, "%s has no %s", text, size);
  fail_unless ((strstr (text, grid) != NULL) == (wanted->organized && !wanted->pcd), "%s", text);
  fail_unless (!wanted->pcd || strstr (text, "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"), "%s", text);
}

static void
check_point (const guint8 *body, gboolean there, const gdouble expected[3])
{
  gdouble size = fabs (expected[0]) + fabs (expected[1]) + fabs (expected[2]);

  for (guint i = 0; i < 3; i++) {
    gfloat found = GST_READ_FLOAT_LE (body + 4 * i);
    if (there)
      fail_unless (fabs (found - expected[i]) <= 1e-6 * size, "value %u is %g and not %g", i, found, expected[i]);
    else
      fail_unless (isnan (found), "value %u is %g where no point is", i, found);
  }
}

static void
check_file (const Points *points, const Wanted *wanted, GstBuffer *in, GstBuffer *out)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (in);
  const gsize bytes = 12;
  const guint8 *body, *end;
  guint count = 0;
  GstVideoInfo info;
  GstMapInfo map;

  gst_video_info_set_format (&info, points->format, meta->width, meta->height);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  g_autofree gchar *header = header_of (&map, wanted->pcd, &body);
  end = map.data + map.size;
  for (gint y = 0; y < points->height; y += wanted->step)
    for (gint x = 0; x < points->width; x += wanted->step) {
      gdouble at[3];
      gboolean there = gst_stereo_meta_get_point (meta, x, y, sample_at (in, &info, x, y), &at[0], &at[1], &at[2]) &&
          at[2] >= wanted->near && (wanted->far == 0 || at[2] <= wanted->far) &&
          confidence_at (meta, x, y) / 255.0 >= wanted->min_confidence - 1e-9;
      if (!there && !wanted->organized)
        continue;
      fail_unless (body + bytes <= end, "the file ends after %u points", count);
      check_point (body, there, at);
      body += bytes;
      count++;
    }
  fail_unless (body == end, "%" G_GSIZE_FORMAT " bytes are left after %u points", (gsize) (end - body), count);
  check_header (header, wanted, (points->width + wanted->step - 1) / wanted->step,
      (points->height + wanted->step - 1) / wanted->step, count);
  gst_buffer_unmap (out, &map);
}

TEST (test_files_against_single_pixels)
{
  for (guint round = 0; round < 40; round++) {
    const Wanted wanted = { random_range (&generator, 1, 5), random_range (&generator, 0, 1) ? 200 : 0,
      random_range (&generator, 0, 1) ? 3000 : 0, random_range (&generator, 0, 4) / 5.0,
      random_range (&generator, 0, 1), random_range (&generator, 0, 1) };
    g_autofree gchar *properties = g_strdup_printf ("format=%s step=%d near=%g far=%g min-confidence=%g organized=%s",
        wanted.pcd ? "pcd" : "ply", wanted.step, wanted.near, wanted.far, wanted.min_confidence,
        wanted.organized ? "true" : "false");
    g_auto (Points) points = points_new (properties, round % 3 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8,
        random_range (&generator, 1, round % 10 ? 30 : 600), random_range (&generator, 1, 9));

    for (guint picture = 0; picture < 2; picture++) {
      g_autoptr (GstBuffer) in = draw_picture (&points, random_range (&generator, 0, 9)), out = NULL;

      fail_unless_equals_int (gst_harness_push (points.depth, gst_buffer_ref (in)), GST_FLOW_OK);
      out = gst_harness_pull (points.depth);
      fail_unless (out != NULL);
      fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 0);
      fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME);
      check_file (&points, &wanted, in, out);
      g_autoptr (GstPad) src = gst_element_get_static_pad (points.element, "src");
      g_autoptr (GstCaps) caps = gst_pad_get_current_caps (src);
      fail_unless_equals_string (gst_structure_get_name (gst_caps_get_structure (caps, 0)),
          wanted.pcd ? "application/x-pcd" : "application/x-ply");
    }
  }
}

/* ---- input that cannot be used ----------------------------------------------------------- */

/* Values out of range are those of every element: video/test_ranges.c. */
TEST (test_settings_that_cannot_be_used)
{
  static const struct
  {
    const gchar *properties, *says;
  } cases[] = { { "near=500 far=400", "near=500" }, { "near=500 far=500", "far=500" }, { "near=499 far=500", NULL },
    { "near=500 far=0", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBus *bus;
    GstElement *element = element_new ("stereopoints", cases[i].properties, &bus);

    fail_unless_equals_int (
        gst_element_set_state (element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, cases[i].says != NULL);
    if (cases[i].says)
      expect_error (bus, cases[i].says, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    element_free (element, bus);
  }
}

/* A change while playing takes effect with the next picture, also of the caps. After a restart the caps come again. */
TEST (test_changes_and_ends)
{
  Wanted wanted = { 1, 0, 0, 0, FALSE, FALSE };
  g_auto (Points) points = points_new ("min-confidence=0", GST_VIDEO_FORMAT_GRAY16_LE, 11, 6);

  for (guint number = 0; number < 3; number++) {
    g_autoptr (GstBuffer) in = stamp (draw_picture (&points, 0), number * FRAME, FRAME), out = NULL;

    wanted.pcd = number == 1;
    wanted.step = (gint) number + 1;
    set_properties (points.element, number == 1 ? "format=pcd step=2" : number == 2 ? "format=ply step=3" : "");
    gst_harness_push (points.depth, gst_buffer_ref (in));
    out = gst_harness_pull (points.depth);
    check_file (&points, &wanted, in, out);
  }
  gst_harness_push_event (points.depth, gst_event_new_eos ());
  wait_for_eos (points.depth);
  gst_element_set_state (points.element, GST_STATE_READY);
  gst_element_set_state (points.element, GST_STATE_PLAYING);
  gst_harness_push_event (points.depth, gst_event_new_stream_start ("again"));
  harness_set_caps (points.depth, points.format, points.width, points.height, NULL);
  g_autoptr (GstPad) src = gst_element_get_static_pad (points.element, "src");
  fail_unless (gst_pad_has_current_caps (src));
}

SUITE (points)
{
  generator.state = random_seed ();
}
