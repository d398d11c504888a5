/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ranges of the numbers in a GstStereoMeta: those of the properties, and nothing else is decoded or kept. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/meta/gststereometa.h"
#include "gst/meta/map.h"

static gdouble *
number_of (GstStereoMeta *meta, const GstStereoMetaRange *range)
{
  return &G_STRUCT_MEMBER (gdouble, meta, range->offset);
}

static GstBuffer *
new_buffer (void)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_add_stereo_meta (buffer, 4, 3, NULL);
  return buffer;
}

/* Those that have a property by the name of the member. A meta may say 0 disparities, which are unknown. */
TEST (test_ranges_are_those_of_the_properties)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("stereomatch", NULL);
  guint count = 0;

  for (const GstStereoMetaRange *range = gst_stereo_meta_ranges; range->name; range++) {
    g_autofree gchar *name = g_strdelimit (g_strdup (range->name), "_", '-');
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);

    if (spec && G_IS_PARAM_SPEC_DOUBLE (spec)) {
      fail_unless_equals_float (range->min, G_PARAM_SPEC_DOUBLE (spec)->minimum);
      fail_unless_equals_float (range->max, G_PARAM_SPEC_DOUBLE (spec)->maximum);
      count++;
    } else if (spec && G_IS_PARAM_SPEC_INT (spec)) {
      fail_unless_equals_float (
          range->min, g_str_equal (name, "num-disparities") ? 0 : G_PARAM_SPEC_INT (spec)->minimum);
      fail_unless_equals_float (range->max, G_PARAM_SPEC_INT (spec)->maximum);
      count++;
    }
  }
  fail_unless_equals_int (count, 7);
}

/* Every double of the meta is in the table: 0xFF bytes are not-a-number. */
TEST (test_every_number_has_a_range)
{
  g_autoptr (GstBuffer) buffer = new_buffer ();
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  const gsize all[] = { G_STRUCT_OFFSET (GstStereoMeta, disparity_scale), G_STRUCT_OFFSET (GstStereoMeta, min_disparity),
    G_STRUCT_OFFSET (GstStereoMeta, num_disparities), G_STRUCT_OFFSET (GstStereoMeta, focal_length),
    G_STRUCT_OFFSET (GstStereoMeta, baseline), G_STRUCT_OFFSET (GstStereoMeta, principal_offset),
    G_STRUCT_OFFSET (GstStereoMeta, depth_unit), G_STRUCT_OFFSET (GstStereoMeta, valid_ratio),
    G_STRUCT_OFFSET (GstStereoMeta, mean_confidence), G_STRUCT_OFFSET (GstStereoMeta, principal_x),
    G_STRUCT_OFFSET (GstStereoMeta, principal_y), G_STRUCT_OFFSET (GstStereoMeta, focal_length_y) };

  fail_unless (gst_stereo_meta_problem (meta) == NULL);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    gdouble *number = &G_STRUCT_MEMBER (gdouble, meta, all[i]), before = *number;

    *number = NAN;
    g_autofree gchar *problem = gst_stereo_meta_problem (meta);
    fail_unless (problem != NULL, "number %u", i);
    *number = before;
  }
}

static gboolean
is_decoded (GstStereoMeta *meta)
{
  g_autoptr (GstBuffer) to = gst_buffer_new ();
  g_autoptr (GBytes) bytes = gst_stereo_meta_to_bytes (meta);
  GstStereoMeta *read = gst_buffer_add_stereo_meta_from_bytes (to, bytes);

  fail_unless_equals_pointer (read, gst_buffer_get_stereo_meta (to));
  return read != NULL;
}

TEST (test_bytes_with_other_numbers)
{
  for (const GstStereoMetaRange *range = gst_stereo_meta_ranges; range->name; range++) {
    g_autoptr (GstBuffer) buffer = new_buffer ();
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
    gdouble *number = number_of (meta, range);

    *number = range->min;
    fail_unless (is_decoded (meta), "%s=%g", range->name, *number);
    *number = range->max;
    fail_unless (is_decoded (meta), "%s=%g", range->name, *number);
    *number = nextafter (range->max, INFINITY);
    fail_if (is_decoded (meta), "%s=%.17g", range->name, *number);
    *number = nextafter (range->min, -INFINITY);
    fail_if (is_decoded (meta), "%s=%.17g", range->name, *number);
    *number = NAN;
    fail_if (is_decoded (meta), "%s=%g", range->name, *number);
    *number = 1e17;
    fail_if (is_decoded (meta), "%s=%g", range->name, *number);
  }
}

/* A picture that does not lie in its memory is left out of the bytes, and has none of its own. A size that nobody has is not
 * allocated. */
TEST (test_pictures_that_lie)
{
  g_autoptr (GstBuffer) buffer = new_buffer (), plane = gst_buffer_new_allocate (NULL, 4 * 3, NULL),
                        to = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer), *read;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 5 };

  gst_buffer_memset (plane, 0, 7, 4 * 3);
  gst_buffer_add_video_meta_full (plane, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 3, 1, offset, stride);
  gst_buffer_replace (&meta->confidence, plane);
  gst_stereo_meta_set_mask (meta, plane);
  fail_unless (gst_stereo_meta_get_confidence_bytes (meta) == NULL);
  fail_unless (gst_stereo_meta_get_mask_bytes (meta) == NULL);
  GBytes *bytes = gst_stereo_meta_to_bytes (meta);
  read = gst_buffer_add_stereo_meta_from_bytes (to, bytes);
  fail_unless (read && !read->confidence && !read->mask);
  g_bytes_unref (bytes);
  meta->width = meta->height = G_MAXUINT;
  fail_unless (gst_stereo_meta_get_confidence_bytes (meta) == NULL);
  bytes = gst_stereo_meta_to_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), 136); /* the header that gst_stereo_meta_to_bytes() documents */
  g_bytes_unref (bytes);
}

/* Scaling multiplies numbers: what leaves its range is no meta any more. */
TEST (test_scaled_out_of_range)
{
  g_autoptr (GstBuffer) buffer = new_buffer (), larger = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstVideoInfo in, out;
  GstVideoMetaTransform transform = { &in, &out };

  gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY16_LE, 4, 3);
  gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY16_LE, 8, 6);
  meta->num_disparities = 1024;
  fail_if (gst_stereo_meta_get_info ()->transform_func (
      larger, &meta->meta, buffer, gst_video_meta_transform_scale_get_quark (), &transform));
  fail_unless (gst_buffer_get_stereo_meta (larger) == NULL);
  meta->num_disparities = 512;
  fail_unless (gst_stereo_meta_get_info ()->transform_func (
      larger, &meta->meta, buffer, gst_video_meta_transform_scale_get_quark (), &transform));
  fail_unless_equals_float (gst_buffer_get_stereo_meta (larger)->num_disparities, 1024);
}

SUITE (ranges)
{
}
