/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstStereoMeta: copies, scaling, bytes; and what the element writes into it. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include <math.h>

/* Programs are compiled with these: none moves before the library gets another soname. New fields come behind them. */
#if GLIB_SIZEOF_VOID_P == 8
#define AT(field, offset) G_STATIC_ASSERT (G_STRUCT_OFFSET (GstStereoMeta, field) == offset)
AT (width, 16);
AT (height, 20);
AT (kind, 24);
AT (disparity_scale, 32);
AT (min_disparity, 40);
AT (num_disparities, 48);
AT (focal_length, 56);
AT (baseline, 64);
AT (principal_offset, 72);
AT (depth_unit, 80);
AT (pair_skew, 88);
AT (valid_ratio, 96);
AT (mean_confidence, 104);
AT (confidence, 112);
AT (truth, 120);
AT (principal_x, 128);
AT (principal_y, 136);
AT (mask, 144);
AT (focal_length_y, 152);
AT (health, 160);
#endif
G_STATIC_ASSERT (
    GST_STEREO_OUTPUT_KIND_VIEWS == 3 && GST_STEREO_HEALTH_FROZEN_LEFT == 1 && GST_STEREO_HEALTH_BEHIND == 1 << 27);

static GstBuffer *
plane (GstVideoFormat format, guint width, guint height, guint padding)
{
  guint pixel = format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2;
  gint stride[GST_VIDEO_MAX_PLANES] = { (gint) (width * pixel + padding) };
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize) stride[0] * height, NULL);
  GstMapInfo map;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1, offset, stride);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 0xEE, map.size);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      if (pixel == 1)
        map.data[y * (guint) stride[0] + x] = (guint8) (10 * y + x);
      else
        GST_WRITE_UINT16_LE (map.data + y * (guint) stride[0] + 2 * x, 1000 * y + x);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Every third pixel of the 8 x 6 is excluded. */
static gboolean
is_excluded (guint x, guint y)
{
  return (8 * y + x) % 3 == 0;
}

static GstBuffer *
new_mask (guint padding)
{
  GstBuffer *mask = plane (GST_VIDEO_FORMAT_GRAY8, 8, 6, padding);
  GstMapInfo map;

  gst_buffer_map (mask, &map, GST_MAP_WRITE);
  for (guint y = 0; y < 6; y++)
    for (guint x = 0; x < 8; x++)
      map.data[y * (8 + padding) + x] = is_excluded (x, y) ? 0 : 255;
  gst_buffer_unmap (mask, &map);
  return mask;
}

/* A buffer with every field of its meta set. */
static GstBuffer *
buffer_with_meta (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 8 * 6 * 2, NULL);
  GstBuffer *confidence = plane (GST_VIDEO_FORMAT_GRAY8, 8, 6, 5), *truth = plane (GST_VIDEO_FORMAT_GRAY16_LE, 8, 6, 6);
  GstBuffer *mask = new_mask (3);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, 8, 6, confidence);

  gst_stereo_meta_set_truth (meta, truth);
  gst_stereo_meta_set_mask (meta, mask);
  gst_buffer_unref (confidence);
  gst_buffer_unref (truth);
  gst_buffer_unref (mask);
  meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  meta->disparity_scale = 64;
  meta->min_disparity = -3;
  meta->num_disparities = 21;
  meta->focal_length = 700;
  meta->focal_length_y = 710;
  meta->baseline = 120;
  meta->principal_offset = 1.5;
  meta->principal_x = 3.25;
  meta->principal_y = 2.75;
  meta->depth_unit = 500;
  meta->pair_skew = -12345;
  meta->valid_ratio = 0.75;
  meta->mean_confidence = 0.5;
  meta->health = GST_STEREO_HEALTH_FROZEN_RIGHT | GST_STEREO_HEALTH_SLOW;
  return buffer;
}

static void
check_equal (const GstStereoMeta *a, const GstStereoMeta *b)
{
  fail_unless (a && b && a != b);
  /* every field goes into the bytes, padding of the rows does not */
  g_autoptr (GBytes) one = gst_stereo_meta_to_bytes (a);
  g_autoptr (GBytes) other = gst_stereo_meta_to_bytes (b);
  fail_unless (g_bytes_equal (one, other));
}

TEST (test_survives_a_copy)
{
  GstBuffer *buffer = buffer_with_meta ();
  g_autoptr (GstBuffer) copy = gst_buffer_copy (buffer), deep = gst_buffer_copy_deep (buffer);

  check_equal (gst_buffer_get_stereo_meta (buffer), gst_buffer_get_stereo_meta (copy));
  check_equal (gst_buffer_get_stereo_meta (buffer), gst_buffer_get_stereo_meta (deep));
  gst_buffer_unref (buffer);
  check_equal (gst_buffer_get_stereo_meta (copy), gst_buffer_get_stereo_meta (deep));
}

/* By its boxed type, as bindings copy it; then the buffer goes. */
TEST (test_a_copy_outlives_its_buffer)
{
  GstBuffer *buffer = buffer_with_meta ();
  g_autoptr (GstBuffer) target = gst_buffer_new (), other = gst_buffer_copy_deep (buffer);
  GstStereoMeta *copy = g_boxed_copy (GST_TYPE_STEREO_META, gst_buffer_get_stereo_meta (buffer));

  fail_unless (gst_buffer_is_writable (buffer));
  gst_buffer_unref (buffer);
  check_equal (copy, gst_buffer_get_stereo_meta (other));
  check_equal (copy, gst_buffer_add_stereo_meta_copy (target, copy));
  g_boxed_free (GST_TYPE_STEREO_META, copy);
  check_equal (gst_buffer_get_stereo_meta (target), gst_buffer_get_stereo_meta (other));
}

/* As of Python's Gst.Buffer.copy (): GStreamer adds nothing there. */
TEST (test_a_shared_buffer_is_refused)
{
  g_autoptr (GstBuffer) buffer = buffer_with_meta (), shared = gst_buffer_ref (buffer);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);

  for (int i = 0; i < 2; i++) {
    g_test_expect_message ("GStreamer-Stereo", G_LOG_LEVEL_CRITICAL, "*is_writable*");
    fail_unless (
        !(i ? gst_buffer_add_stereo_meta (shared, 8, 6, NULL) : gst_buffer_add_stereo_meta_copy (shared, meta)));
    g_test_assert_expected_messages ();
  }
}

/* Its values are those of a meta that was added to a buffer. */
TEST (test_a_new_meta)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new (), confidence = plane (GST_VIDEO_FORMAT_GRAY8, 8, 6, 5);
  GstStereoMeta *made = gst_stereo_meta_new (8, 6, confidence);

  check_equal (made, gst_buffer_add_stereo_meta (buffer, 8, 6, confidence));
  gst_stereo_meta_free (made);
  gst_stereo_meta_free (NULL);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (confidence), 2);
}

/* What stereonearest and stereoground found: a whole copy has it; a part and a scaled picture have it not. */
TEST (test_what_was_found)
{
  static const gchar *const names[] = { "GstStereoNearestMeta", "GstStereoGroundMeta" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstBuffer) buffer = buffer_with_meta (), scaled = gst_buffer_new (), copy = NULL;
    GstCustomMeta *meta = gst_buffer_add_custom_meta (buffer, names[i]);
    GstVideoMetaTransform scale = { 0 };

    gst_structure_set (gst_custom_meta_get_structure (meta), "distance", G_TYPE_DOUBLE, 1500.0, NULL);
    copy = gst_buffer_copy (buffer);
    fail_unless (gst_structure_is_equal (gst_custom_meta_get_structure (meta),
        gst_custom_meta_get_structure (gst_buffer_get_custom_meta (copy, names[i]))));
    gst_buffer_unref (copy);
    copy = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 16, 32);
    fail_unless (gst_buffer_get_custom_meta (copy, names[i]) == NULL);
    fail_if (gst_meta_get_info (names[i])->transform_func (
        scaled, (GstMeta *) meta, buffer, gst_video_meta_transform_scale_get_quark (), &scale));
    fail_unless (gst_meta_api_type_has_tag (
        gst_meta_get_info (names[i])->api, g_quark_from_string (GST_META_TAG_VIDEO_SIZE_STR)));
  }
}

/* As videoscale does it. */
static GstStereoMeta *
scale_frame (GstBuffer *from, GstBuffer *to, GstVideoInfo *in, GstVideoInfo *out)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (from);
  GstVideoMetaTransform transform = { in, out };

  meta->meta.info->transform_func (to, &meta->meta, from, gst_video_meta_transform_scale_get_quark (), &transform);
  return gst_buffer_get_stereo_meta (to);
}

static GstStereoMeta *
scale (GstBuffer *from, GstBuffer *to, gint width, gint height, gint par_n, gint par_d)
{
  GstVideoInfo in, out;

  gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY16_LE, 8, 6);
  gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY16_LE, width, height);
  out.par_n = par_n;
  out.par_d = par_d;
  return scale_frame (from, to, &in, &out);
}

static guint8
byte_at (GBytes *bytes, gsize at)
{
  return ((const guint8 *) g_bytes_get_data (bytes, NULL))[at];
}

TEST (test_scales_with_the_frame)
{
  g_autoptr (GstBuffer) from = buffer_with_meta (), to = gst_buffer_new ();
  GstStereoMeta *before = gst_buffer_get_stereo_meta (from), *meta = scale (from, to, 4, 3, 1, 1);

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->width, 4);
  fail_unless_equals_int (meta->height, 3);
  GBytes *bytes = gst_stereo_meta_get_confidence_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), 12);
  fail_unless_equals_int (byte_at (bytes, 0), 11); /* of 2x2 pixels the one nearest to their middle */
  fail_unless_equals_int (byte_at (bytes, 11), 57);
  g_bytes_unref (bytes);
  bytes = gst_stereo_meta_get_truth_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), 24);
  /* half of 5007, for the disparity is that of the small picture */
  fail_unless_equals_int (GST_READ_UINT16_LE ((guint8 *) g_bytes_get_data (bytes, NULL) + 22), 2504);
  g_bytes_unref (bytes);
  bytes = gst_stereo_meta_get_mask_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), 12);
  for (guint y = 0; y < 3; y++)
    for (guint x = 0; x < 4; x++)
      fail_unless_equals_int (byte_at (bytes, y * 4 + x), is_excluded (2 * x + 1, 2 * y + 1) ? 0 : 255);
  g_bytes_unref (bytes);
  /* the samples stay what they are: their depth is the same, their disparity that of the small picture */
  fail_unless_equals_float (gst_stereo_meta_get_depth (meta, 640), gst_stereo_meta_get_depth (before, 640));
  fail_unless_equals_float (gst_stereo_meta_get_disparity (meta, 640), 5);
  fail_unless_equals_float (meta->focal_length, 350);
  fail_unless_equals_float (meta->focal_length_y, 355);
  fail_unless_equals_float (meta->min_disparity, -1.5);
  fail_unless_equals_float (meta->num_disparities, 10.5);
  /* 3.75 pixels from the left edge become half of that */
  fail_unless_equals_float (meta->principal_x, 3.75 / 2 - 0.5);
  fail_unless_equals_float (meta->principal_y, 3.25 / 2 - 0.5);
  fail_unless_equals_int64 (meta->pair_skew, -12345);
}

/* x and y have factors of their own, the middle stays the middle, and what is unknown stays so. The vertical focal length appears where
 * the factors differ. */
TEST (test_scaled_cameras)
{
  static const struct
  {
    gint width, height, par_n, par_d;
    gdouble cameras[4], expected[4]; /* focal lengths, principal point */
  } cases[] = { { 16, 6, 1, 2, { 700, 0, 3.5, 0 }, { 1400, 700, 7.5, 0 } },
    { 16, 6, 1, 2, { 700, 720, 0, 2.5 }, { 1400, 720, 0, 2.5 } }, { 8, 3, 1, 2, { 700, 0, 0, 2.5 }, { 700, 350, 0, 1 } },
    { 8, 6, 1, 1, { 700, 0, 1, 2 }, { 700, 0, 1, 2 } }, { 24, 18, 1, 1, { 700, 0, 0, 2.5 }, { 2100, 0, 0, 8.5 } },
    { 24, 18, 1, 1, { 700, 720, 3.5, 0 }, { 2100, 2160, 11.5, 0 } }, { 16, 6, 1, 2, { 0 }, { 0 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstBuffer) from = buffer_with_meta (), to = gst_buffer_new ();
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (from);
    const gdouble *given = cases[i].cameras, *expected = cases[i].expected;

    meta->focal_length = given[0];
    meta->focal_length_y = given[1];
    meta->principal_x = given[2];
    meta->principal_y = given[3];
    meta = scale (from, to, cases[i].width, cases[i].height, cases[i].par_n, cases[i].par_d);
    fail_unless (meta != NULL);
    fail_unless_equals_float (meta->focal_length, expected[0]);
    fail_unless_equals_float (meta->focal_length_y, expected[1]);
    fail_unless_equals_float (meta->principal_x, expected[2]);
    fail_unless_equals_float (meta->principal_y, expected[3]);
  }
}

/* Unknown stays unknown, and known stays known. */
TEST (test_scaled_truth_keeps_its_holes)
{
  g_autoptr (GstBuffer) from = gst_buffer_new (), to = gst_buffer_new (),
                        truth = plane (GST_VIDEO_FORMAT_GRAY16_LE, 8, 6, 0);
  GstMapInfo map;

  gst_buffer_map (truth, &map, GST_MAP_WRITE);
  for (guint i = 0; i < 48; i++)
    GST_WRITE_UINT16_LE (map.data + 2 * i, i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 65535);
  gst_buffer_unmap (truth, &map);
  gst_stereo_meta_set_truth (gst_buffer_add_stereo_meta (from, 8, 6, NULL), truth);
  fail_unless (scale (from, to, 2, 3, 1, 2) == NULL);
  fail_unless (scale (from, to, 24, 18, 1, 1) != NULL);
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_truth_bytes (gst_buffer_get_stereo_meta (to));
  for (guint y = 0; y < 18; y++)
    for (guint x = 0; x < 24; x++) {
      guint i = y / 3 * 8 + x / 3;
      fail_unless_equals_int (GST_READ_UINT16_LE ((guint8 *) g_bytes_get_data (bytes, NULL) + 2 * (y * 24 + x)),
          i % 3 == 0     ? 0 :
              i % 3 == 1 ? 3 :
                           65535);
    }
}

static GstBuffer *
buffer_of_views (void)
{
  GstBuffer *buffer = buffer_with_meta ();
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  gst_clear_buffer (&meta->confidence);
  return buffer;
}

TEST (test_views_scale_with_their_frame)
{
  static const struct
  {
    GstVideoMultiviewMode mode;
    gint from[2], to[2], view[2];
  } cases[] = {
    { GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE, { 16, 6 }, { 32, 12 }, { 16, 12 } },
    { GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM, { 8, 12 }, { 4, 6 }, { 4, 3 } },
    { GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED, { 8, 12 }, { 8, 12 }, { 8, 6 } },
    /* rows or columns of both are mixed */
    { GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED, { 8, 12 }, { 16, 24 }, { 0 } },
    { GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED, { 16, 6 }, { 32, 12 }, { 0 } },
    /* no halves */
    { GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM, { 8, 12 }, { 2, 3 }, { 0 } },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    g_autoptr (GstBuffer) from = buffer_of_views (), to = gst_buffer_new ();
    GstVideoInfo in, out;

    gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY8, (guint) cases[k].from[0], (guint) cases[k].from[1]);
    gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY8, (guint) cases[k].to[0], (guint) cases[k].to[1]);
    GST_VIDEO_INFO_MULTIVIEW_MODE (&in) = GST_VIDEO_INFO_MULTIVIEW_MODE (&out) = cases[k].mode;
    GstStereoMeta *meta = scale_frame (from, to, &in, &out);
    gdouble factor = (gdouble) cases[k].to[0] / cases[k].from[0];
    fail_unless ((meta != NULL) == (cases[k].view[0] > 0), "case %u", k);
    if (meta) {
      fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_VIEWS);
      fail_unless_equals_int (meta->width, (guint) cases[k].view[0]);
      fail_unless_equals_int (meta->height, (guint) cases[k].view[1]);
      fail_unless_equals_float (meta->focal_length, 700 * factor);
      fail_unless_equals_float (meta->num_disparities, 21 * factor);
      fail_unless (meta->confidence == NULL && meta->truth != NULL);
    }
  }
}

/* Neither @data, which is taken, nor any part of it from the start is a meta. */
static void
refuse_bytes (gpointer data, gsize size)
{
  g_autoptr (GstBuffer) to = gst_buffer_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, size);

  for (gsize part = 0; part <= size; part++) {
    g_autoptr (GBytes) cut = g_bytes_new_from_bytes (bytes, 0, part);
    fail_unless (gst_buffer_add_stereo_meta_from_bytes (to, cut) == NULL);
  }
}

/* A copy of @bytes with @more zeros. */
static guint8 *
copy_bytes (GBytes *bytes, gsize more)
{
  gsize size = g_bytes_get_size (bytes);
  guint8 *data = g_malloc0 (size + more);

  memcpy (data, g_bytes_get_data (bytes, NULL), size);
  return data;
}

TEST (test_views_as_bytes)
{
  g_autoptr (GstBuffer) from = buffer_of_views (), to = gst_buffer_new ();
  g_autoptr (GBytes) bytes = gst_stereo_meta_to_bytes (gst_buffer_get_stereo_meta (from));
  GstStereoMeta *meta = gst_buffer_add_stereo_meta_from_bytes (to, bytes);
  guint8 *data = copy_bytes (bytes, 0);

  check_equal (gst_buffer_get_stereo_meta (from), meta);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_VIEWS);
  fail_unless (meta->confidence == NULL && meta->truth != NULL);
  /* a kind that there is not */
  GST_WRITE_UINT32_LE (data + 16, GST_STEREO_OUTPUT_KIND_VIEWS + 1);
  refuse_bytes (data, g_bytes_get_size (bytes));
}

/* Where it is not known what becomes of it: parts, borders, transforms of another kind; and elements that change what its tags name. */
TEST (test_dropped)
{
  g_autoptr (GstBuffer) from = buffer_with_meta (), to = gst_buffer_new (),
                        part = gst_buffer_copy_region (from, GST_BUFFER_COPY_ALL, 16, 32);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (from);
  static const gchar *const tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
    GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_VIDEO_COLORSPACE_STR };

  fail_unless (gst_buffer_get_stereo_meta (part) == NULL);
  fail_unless (scale (from, to, 16, 6, 1, 1) == NULL);
  fail_if (meta->meta.info->transform_func (to, &meta->meta, from, g_quark_from_string ("some-transform"), NULL));
  fail_unless (gst_buffer_get_stereo_meta (to) == NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    fail_unless_equals_int (
        gst_meta_api_type_has_tag (gst_stereo_meta_api_get_type (), g_quark_from_string (tags[i])), i < 3);
}

/* All pictures that there may be, or some of them: each stands where it is looked for. */
TEST_LOOP (test_bytes_of_some_planes, 0, 8)
{
  g_autoptr (GstBuffer) from = buffer_with_meta (), to = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (from), *read;

  if (__i__ & 1)
    gst_buffer_replace (&meta->confidence, NULL);
  if (__i__ & 2)
    gst_stereo_meta_set_truth (meta, NULL);
  if (__i__ & 4)
    gst_stereo_meta_set_mask (meta, NULL);
  GBytes *bytes = gst_stereo_meta_to_bytes (meta);
  read = gst_buffer_add_stereo_meta_from_bytes (to, bytes);
  g_bytes_unref (bytes);
  check_equal (meta, read);
  fail_unless (!read->confidence == !meta->confidence && !read->truth == !meta->truth && !read->mask == !meta->mask);
  bytes = gst_stereo_meta_get_mask_bytes (read);
  fail_unless ((bytes != NULL) == (gst_stereo_meta_get_mask (read) != NULL));
  for (guint i = 0; bytes && i < 48; i++)
    fail_unless_equals_int (byte_at (bytes, i), is_excluded (i % 8, i / 8) ? 0 : 255);
  g_clear_pointer (&bytes, g_bytes_unref);
}

/* The type names a flag as the header does. */
#define CHECK_NAME(name) \
  fail_unless_equals_string ( \
      g_flags_get_first_value (names, GST_STEREO_HEALTH_##name)->value_name, "GST_STEREO_HEALTH_" #name)

/* The table: every flag is in one row, with a name of its own; and what is told of flags. */
TEST (test_health)
{
  GFlagsClass *names = g_type_class_ref (GST_TYPE_STEREO_HEALTH_FLAGS);
  const GstStereoHealthKind *kind;
  guint all = 0;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++) {
    guint flags = kind->left | kind->right;
    fail_if (all & flags, "%s", kind->nick);
    all |= flags;
    for (guint v = 0; v < 2; v++) {
      GstStereoHealthFlags flag = v ? kind->right : kind->left;
      GFlagsValue *value = g_flags_get_first_value (names, flag);
      g_autofree gchar *text = gst_stereo_health_to_string (flag), *reason = gst_stereo_health_get_reason (flag);
      fail_unless (value && value->value == (guint) flag);
      fail_unless_equals_string (text, value->value_nick);
      fail_unless ((reason != NULL) == kind->unreliable && gst_stereo_health_is_reliable (flag) == !kind->unreliable);
    }
  }
  fail_unless_equals_int (all, names->mask);
  CHECK_NAME (OK);
  CHECK_NAME (DARK_LEFT);
  CHECK_NAME (BLOWN_OUT_RIGHT);
  CHECK_NAME (OUT_OF_STEP);
  g_type_class_unref (names);
  fail_unless (gst_stereo_health_get_reason (GST_STEREO_HEALTH_OK) == NULL);
  g_autofree gchar *reason = gst_stereo_health_get_reason (GST_STEREO_HEALTH_FROZEN_RIGHT | GST_STEREO_HEALTH_RANGE),
                   *both = gst_stereo_health_to_string (GST_STEREO_HEALTH_FROZEN_LEFT | GST_STEREO_HEALTH_FROZEN_RIGHT),
                   *ok = gst_stereo_health_to_string (GST_STEREO_HEALTH_OK);
  fail_unless_equals_string (reason, "right camera frozen, search range too small");
  fail_unless_equals_string (both, "frozen-both");
  fail_unless_equals_string (ok, "ok");
  /* of a later version */
  fail_if (gst_stereo_health_is_reliable ((GstStereoHealthFlags) (1u << 31)));
}

/* Also in whole: of an unknown version, with a principal point that is no number, and of sizes that multiply to what is there
 * only when they overflow. */
TEST (test_damaged_bytes)
{
  g_autoptr (GstBuffer) from = buffer_with_meta ();
  g_autoptr (GBytes) bytes = gst_stereo_meta_to_bytes (gst_buffer_get_stereo_meta (from));
  gsize size = g_bytes_get_size (bytes);
  guint8 *version = copy_bytes (bytes, 0), *number = copy_bytes (bytes, 0), *sizes = copy_bytes (bytes, 0);

  refuse_bytes (copy_bytes (bytes, 0), size - 1);
  version[4]++;
  refuse_bytes (version, size);
  GST_WRITE_DOUBLE_LE (number + 112, NAN);
  refuse_bytes (number, size);
  GST_WRITE_UINT64_LE (sizes + 8, G_MAXUINT64);
  refuse_bytes (sizes, size);
}

TEST (test_samples)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, 8, 6, NULL);

  meta->disparity_scale = 64;
  fail_unless (isnan (gst_stereo_meta_get_disparity (meta, 0)));
  fail_unless_equals_float (gst_stereo_meta_get_disparity (meta, 96), 1.5);
  fail_unless (isnan (gst_stereo_meta_get_depth (meta, 96))); /* no calibration */
  meta->focal_length = 100;
  meta->baseline = 30;
  fail_unless_equals_float (gst_stereo_meta_get_depth (meta, 96), 2000);
  meta->principal_offset = -1.5;
  fail_unless (isinf (gst_stereo_meta_get_depth (meta, 96)));
  meta->kind = GST_STEREO_OUTPUT_KIND_DEPTH;
  meta->depth_unit = 100;
  fail_unless_equals_float (gst_stereo_meta_get_depth (meta, 96), 9.6);
  fail_unless (isnan (gst_stereo_meta_get_depth (meta, 0)));
  fail_unless (gst_stereo_meta_get_confidence_bytes (meta) == NULL);
  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  fail_unless (isnan (gst_stereo_meta_get_disparity (meta, 96)));
  fail_unless (isnan (gst_stereo_meta_get_depth (meta, 96)));
}

/* ---- from the element -------------------------------------------------------------------- */

TEST (test_element_fills_every_field)
{
  g_autoptr (Pair) pair = pair_new_gray (
      "num-disparities=12 min-disparity=1 window=5 backend=cpu threads=1 consistency=1 "
      "disparity-scale=32 focal-length=500 baseline=80 principal-offset=2 depth-unit=100");
  gdouble mean = 0, valid = 0;

  pair_push (pair, FRAME, FRAME + 7);
  g_autoptr (GstBuffer) out = pair_pull (pair, FRAME);
  GstVideoInfo info = output_info (pair->left);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);
  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->width, VIEW_WIDTH);
  fail_unless_equals_int (meta->height, VIEW_HEIGHT);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_DISPARITY);
  fail_unless_equals_float (meta->disparity_scale, 32);
  fail_unless_equals_float (meta->min_disparity, 1);
  fail_unless_equals_float (meta->num_disparities, 12);
  fail_unless_equals_float (meta->focal_length, 500);
  fail_unless_equals_float (meta->baseline, 80);
  fail_unless_equals_float (meta->principal_offset, 2);
  /* the views tell none */
  fail_unless_equals_float (meta->principal_x, 0);
  fail_unless_equals_float (meta->principal_y, 0);
  fail_unless_equals_float (meta->depth_unit, 100);
  fail_unless_equals_int64 (meta->pair_skew, 7);
  fail_unless (gst_buffer_get_video_meta (gst_stereo_meta_get_confidence (meta)) != NULL);
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_confidence_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), VIEW_WIDTH * VIEW_HEIGHT);
  for (gint y = 0; y < VIEW_HEIGHT; y++)
    for (gint x = 0; x < VIEW_WIDTH; x++) {
      mean += byte_at (bytes, (gsize) (y * VIEW_WIDTH + x)) / 255.0 / (VIEW_WIDTH * VIEW_HEIGHT);
      valid += (sample_at (out, &info, x, y) != 0) / (gdouble) (VIEW_WIDTH * VIEW_HEIGHT);
    }
  /* a perfect match in a texture without repetition: sure in the middle */
  fail_unless (byte_at (bytes, 10 * VIEW_WIDTH + 25) > 128, "%u", byte_at (bytes, 10 * VIEW_WIDTH + 25));
  fail_unless (ABS (mean - meta->mean_confidence) < 0.003, "%f, not %f", meta->mean_confidence, mean);
  fail_unless (ABS (valid - meta->valid_ratio) < 1e-6, "%f, not %f", meta->valid_ratio, valid);
}

/* Confidence belongs to its frame: a later frame must not write into what is still in use. */
TEST (test_confidence_of_a_kept_frame_stays)
{
  g_autoptr (Pair) pair = pair_new_gray ("num-disparities=12 window=5 backend=cpu threads=1");
  GstBuffer *kept[4];
  GBytes *before[4], *after;

  for (guint i = 0; i < 4; i++) {
    gst_harness_push (
        pair->left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, i, 0, 0), i * FRAME, FRAME));
    gst_harness_push (pair->right,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, i, SHIFT, 0), i * FRAME, FRAME));
    kept[i] = pair_pull (pair, i * FRAME);
    before[i] = gst_stereo_meta_get_confidence_bytes (gst_buffer_get_stereo_meta (kept[i]));
  }
  for (guint i = 0; i < 4; i++) {
    after = gst_stereo_meta_get_confidence_bytes (gst_buffer_get_stereo_meta (kept[i]));
    fail_unless (g_bytes_equal (before[i], after));
    fail_unless (i == 0 || !g_bytes_equal (before[i - 1], after));
    g_bytes_unref (after);
    gst_buffer_unref (kept[i]);
  }
  for (guint i = 0; i < 4; i++)
    g_bytes_unref (before[i]);
}

TEST (test_metadata_of_the_left_frame)
{
  g_autoptr (GstCaps) reference = gst_caps_new_empty_simple ("timestamp/x-ptp");
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  GstBuffer *left = stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 3), 0, FRAME), *out;

  gst_buffer_add_reference_timestamp_meta (left, reference, 4711, GST_CLOCK_TIME_NONE);
  gst_buffer_add_video_region_of_interest_meta (left, "face", 1, 2, 3, 4);
  gst_buffer_add_stereo_meta (left, 3, 3, NULL);
  gst_harness_push (pair->left, left);
  pair_push_right (pair, 0);
  out = pair_pull (pair, 0);
  fail_unless (gst_buffer_get_reference_timestamp_meta (out, reference) != NULL);
  fail_unless (gst_buffer_get_video_region_of_interest_meta (out) != NULL);
  /* of the output, not the left frame's */
  GstVideoMeta *video = gst_buffer_get_video_meta (out);
  fail_unless (!video || video->format == GST_VIDEO_FORMAT_GRAY16_LE);
  fail_unless_equals_int (gst_buffer_get_n_meta (out, GST_STEREO_META_API_TYPE), 1);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->width, VIEW_WIDTH);
  gst_buffer_unref (out);
}

SUITE (meta)
{
}
