/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distances of the objects that other elements marked in the live view. */
#include <math.h>
#include <string.h>

#include "gst/overlay/overlay.h"
#include "gst/nearest/search.h"
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define QUIET "text=false legend=false "
#define WIDTH 320
#define HEIGHT 200

static Random random_state;

/* ---- objects --------------------------------------------------------------------------------- */

/* A picture of disparities, 64 steps a pixel, or of depth. */
typedef struct
{
  guint16 samples[WIDTH * HEIGHT];
  guint8 confidence[WIDTH * HEIGHT];
  GstStereoMeta meta;
} Picture;

static Picture picture = {
  .meta = { .disparity_scale = 64, .num_disparities = 128, .focal_length = 700, .baseline = 120, .depth_unit = 1000 },
};

static guint16
sample_of (gdouble disparity)
{
  const GstStereoMeta *meta = &picture.meta;

  if (meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH)
    return (guint16) CLAMP (meta->focal_length * meta->baseline / disparity + 0.5, 1, 65535);
  return (guint16) CLAMP (disparity * 64 + 0.5, 1, 65535);
}

/* A thing in the middle of a box, as large as a share of its sides; background around it, something before it at one
 * side, holes, and a matcher's errors. */
static void
paint (gint x, gint y, gint width, gint height, gdouble object, gdouble behind, gdouble before)
{
  gdouble share = 0.62 + 0.3 * random_range (&random_state, 0, 1000) / 1000.0;

  for (gint v = 0; v < HEIGHT; v++)
    for (gint u = 0; u < WIDTH; u++) {
      gdouble across = fabs (2.0 * (u - x) + 1 - width) / width, down = fabs (2.0 * (v - y) + 1 - height) / height;
      gdouble disparity = across < share && down < share ? object : behind;
      gint at = v * WIDTH + u;
      if (u - x < width / 10)
        disparity = before;
      disparity += (random_range (&random_state, -1000, 1000) + random_range (&random_state, -1000, 1000)) / 4000.0;
      picture.confidence[at] = (guint8) random_range (&random_state, 150, 255);
      picture.samples[at] = sample_of (disparity);
      if (random_range (&random_state, 0, 99) < 30)
        picture.samples[at] = 0;
      else if (random_range (&random_state, 0, 99) < 10)
        picture.samples[at] = sample_of (random_range (&random_state, 10, 1200) / 10.0);
    }
}

static GstStereoDepthView
box_of (gint x, gint y, gint width, gint height)
{
  return (GstStereoDepthView){ .samples = (const guint8 *) picture.samples,
    .stride = 2 * WIDTH,
    .wide = TRUE,
    .confidence = picture.confidence,
    .confidence_stride = WIDTH,
    .min_confidence = 1,
    .x = x,
    .y = y,
    .width = width,
    .height = height,
    .meta = &picture.meta };
}

/* Small boxes and large ones, near and far things; the background is half as near, and what is before it half as far. */
TEST_LOOP (test_box_objects, 0, 2)
{
  GstStereoBoxObjectFinder *finder = gst_stereo_box_object_finder_new ();

  picture.meta.kind = __i__ ? GST_STEREO_OUTPUT_KIND_DEPTH : GST_STEREO_OUTPUT_KIND_DISPARITY;
  for (guint round = 0; round < 60; round++) {
    gint width = random_range (&random_state, 12, 200), height = random_range (&random_state, 12, 180);
    gint x = random_range (&random_state, 0, WIDTH - width), y = random_range (&random_state, 0, HEIGHT - height);
    gdouble disparity = random_range (&random_state, 80, 500) / 10.0, measured;
    GstStereoDepthView view = box_of (x, y, width, height);
    GstStereoBoxObject object;

    paint (x, y, width, height, disparity, disparity / 2, disparity * 2);
    fail_unless (gst_stereo_box_object_find (finder, &view, &object));
    measured = gst_stereo_meta_get_disparity (&picture.meta, object.sample);
    fail_unless (fabs (measured - disparity) < 0.02 * disparity + 0.15, "%g px of %dx%d found at %g px", disparity,
        width, height, measured);
    fail_unless (
        gst_stereo_meta_get_depth (&picture.meta, object.near) < gst_stereo_meta_get_depth (&picture.meta, object.far));
    fail_unless (fabs (gst_stereo_meta_get_disparity (&picture.meta, object.near) - disparity) < 1.5);
    fail_unless (object.coverage > 0.5 && object.coverage < 0.9 && object.support > 0.3 && object.support <= 1);
    fail_unless (object.confidence > 0.6 && object.confidence < 1);
  }
  gst_stereo_box_object_finder_free (finder);
}

/* A box of holes has no distance, and one of a single pixel has it. */
TEST (test_few_pixels)
{
  GstStereoBoxObjectFinder *finder = gst_stereo_box_object_finder_new ();
  GstStereoDepthView view = box_of (10, 10, 40, 30);
  GstStereoBoxObject object;

  picture.meta.kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  memset (picture.samples, 0, sizeof picture.samples);
  memset (picture.confidence, 255, sizeof picture.confidence);
  fail_if (gst_stereo_box_object_find (finder, &view, &object));
  fail_unless_equals_float (object.coverage, 0);
  for (gint i = 0; i < 40 * 30 / 25; i++)
    picture.samples[(10 + i / 40) * WIDTH + 10 + i % 40] = 640;
  fail_if (gst_stereo_box_object_find (finder, &view, &object), "a twenty-fifth of the box is enough");
  view = box_of (10, 10, 1, 1);
  fail_unless (gst_stereo_box_object_find (finder, &view, &object));
  fail_unless_equals_int (object.sample, 640);
  gst_stereo_box_object_finder_free (finder);
}

/* ---- depthoverlay --------------------------------------------------------------------------- */

/* A frame with a region, whose rows are those of the harness. */
static GstBuffer *
frame_with (Overlay *overlay, guint x, guint y, guint width, guint height)
{
  GstBuffer *frame = plain_frame (&overlay->info, 60);

  gst_buffer_add_video_region_of_interest_meta (frame, "person", x, y, width, height);
  return frame;
}

static const GstStructure *
parameter_of (GstBuffer *buffer)
{
  GstMeta *meta = gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

  fail_unless (meta != NULL, "the region is gone");
  return gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta, "stereo-distance");
}

static gboolean
is_valid (const GstStructure *structure)
{
  gboolean valid = FALSE;

  fail_unless (structure && gst_structure_get_boolean (structure, "valid", &valid));
  return valid;
}

/* Depth of half the live view's size: 9 m, and 3 m where the region is. */
static Overlay *
overlay_with_depth (const gchar *properties)
{
  Overlay *overlay = overlay_new (properties, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH / 2, HEIGHT / 2);
  GstBuffer *depth = new_depth (WIDTH / 2, HEIGHT / 2, GST_STEREO_OUTPUT_KIND_DEPTH, 9000);

  fill_depth (depth, 50, 30, 20, 40, 3000);
  overlay_push_depth (overlay, depth, 0);
  return overlay;
}

TEST (test_region)
{
  g_autoptr (Overlay) overlay = overlay_with_depth (QUIET "message-interval=0");
  g_autoptr (GstBuffer) frame = frame_with (overlay, 96, 56, 48, 88), out = NULL;

  /* others hold the frame: what they have does not change */
  overlay_push_live (overlay, gst_buffer_ref (frame), 0);
  out = overlay_pull (overlay, 0);
  const GstStructure *parameter = parameter_of (out);
  fail_unless (is_valid (parameter));
  fail_unless_equals_float (found_number (parameter, "distance"), 3000);
  fail_unless_equals_float (found_number (parameter, "spread"), 0);
  fail_unless_equals_float (found_number (parameter, "coverage"), 1);
  fail_unless_equals_float (found_number (parameter, "confidence"), 1);
  fail_unless (found_number (parameter, "support") > 0.8 && found_number (parameter, "support") < 1);
  fail_unless (parameter_of (frame) == NULL);
  /* the same depth is measured for the next frame, too, and nothing is posted of it again */
  overlay_eos (overlay, FALSE, TRUE);
  overlay_push_live (overlay, gst_buffer_ref (frame), TICK);
  g_autoptr (GstBuffer) next = overlay_pull (overlay, TICK);
  fail_unless (is_valid (parameter_of (next)));
  gst_structure_free (overlay_nearest (overlay));
  fail_unless (overlay_nearest (overlay) == NULL);
}

/* Half the way from the nearest to the farthest pixel of a thing is as far as it can spread. */
TEST (test_spread)
{
  g_autoptr (Overlay) overlay = overlay_new (QUIET, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 9000), *out;

  for (gint column = 0; column < 48; column++)
    fill_depth (depth, 96 + column, 56, 1, 88, column / 8 % 2 ? 3000 : 3040);
  out = overlay_show (overlay, depth, frame_with (overlay, 96, 56, 48, 88), 0);
  gdouble spread = found_number (parameter_of (out), "spread");
  fail_unless (spread > 0 && spread <= 20, "%g mm, of a thing from 3000 to 3040 mm", spread);
  gst_buffer_unref (out);
}

/* Regions that lie outside the picture, partly or wholly, or have no pixel. */
TEST_LOOP (test_odd_regions, 0, 8)
{
  static const struct
  {
    guint x, y, width, height;
    gboolean valid;
  } cases[] = { { 300, 180, 4000, 4000, TRUE }, { WIDTH, 0, 10, 10, FALSE }, { 0, HEIGHT, 10, 10, FALSE },
    { 10, 10, 0, 10, FALSE }, { G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, FALSE },
    { 0, 0, G_MAXUINT, G_MAXUINT, TRUE }, { 319, 199, 1, 1, TRUE },
    /* a half of a pixel of depth */
    { 96, 56, 1, 1, TRUE } };
  g_autoptr (Overlay) overlay = overlay_with_depth ("");

  overlay_push_live (
      overlay, frame_with (overlay, cases[__i__].x, cases[__i__].y, cases[__i__].width, cases[__i__].height), 0);
  g_autoptr (GstBuffer) out = overlay_pull (overlay, 0);
  fail_unless_equals_int (is_valid (parameter_of (out)), cases[__i__].valid);
}

/* Where there is no depth, a region has no distance, also none of an element before. */
TEST (test_no_depth)
{
  g_autoptr (Overlay) overlay = overlay_new (QUIET, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, NULL, 0, 0);
  GstBuffer *frame = plain_frame (&overlay->info, 60), *out;
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (frame, "car", 20, 20, 40, 40);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("stereo-distance", "valid", G_TYPE_BOOLEAN, TRUE, "distance", G_TYPE_DOUBLE, 1000.0, NULL));
  overlay_push_live (overlay, frame, 0);
  out = overlay_pull (overlay, 0);
  const GstStructure *parameter = parameter_of (out);
  fail_if (is_valid (parameter));
  fail_if (gst_structure_has_field (parameter, "distance"));
  gst_buffer_unref (out);
}

/* With text, a box and its label change the frame at the region and above it, and nothing far from it. */
TEST (test_box)
{
  g_autoptr (Overlay) overlay = overlay_with_depth ("legend=false alpha=0");
  gint around = 0, elsewhere = 0;
  GstVideoFrame frame;

  overlay_push_live (overlay, frame_with (overlay, 96, 76, 48, 88), 0);
  g_autoptr (GstBuffer) out = overlay_pull (overlay, 0);
  fail_unless (gst_video_frame_map (&frame, &overlay->info, out, GST_MAP_READ));
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      const guint8 *pixel = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
          y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + 3 * x;
      gboolean changed = pixel[0] != 60 || pixel[1] != 60 || pixel[2] != 60;
      if (x < 96 || x >= 250 || y < 56 || y >= 164)
        elsewhere += changed && y >= 56; /* the read-out is at the top */
      else
        around += changed;
    }
  gst_video_frame_unmap (&frame);
  fail_unless (around > 2 * (48 + 88), "only %d pixels of the box are drawn", around);
  fail_unless_equals_int (elsewhere, 0);
}

/* ---- labels ------------------------------------------------------------------------------- */

/* Bytes of a detector, of any kind. What becomes of them is text that Pango takes, with a distance that can be read. */
TEST (test_random_labels)
{
  static const gchar *const parts[] = { "a", "\303\244", "\344\272\272", "\360\237\232\227", "\303", "\377", "\360\237",
    "\n", "\001", "\342\200\256", "\342\200\250", "e\314\201" };

  for (guint round = 0; round < 2000; round++) {
    gchar label[GST_DEPTH_OVERLAY_LABEL];
    GString *type = g_string_new (NULL);

    for (gint i = random_range (&random_state, 0, 40); i > 0; i--)
      g_string_append (type, parts[random_range (&random_state, 0, G_N_ELEMENTS (parts) - 1)]);
    memset (label, 'x', sizeof label);
    gst_depth_overlay_label_make (label, type->str, "12345.67 px");
    fail_unless (g_utf8_validate (label, -1, NULL));
    fail_unless (g_str_has_suffix (label, type->len ? " 12345.67 px" : "12345.67 px"), "'%s' of '%s'", label, type->str);
    for (const gchar *at = label; *at; at = g_utf8_next_char (at)) {
      GUnicodeType kind = g_unichar_type (g_utf8_get_char (at));
      fail_if (kind == G_UNICODE_CONTROL || kind == G_UNICODE_FORMAT || kind == G_UNICODE_LINE_SEPARATOR);
    }
    g_string_free (type, TRUE);
  }
}

TEST (test_labels)
{
  static const gchar *const cases[][2] = { { NULL, "3.20 m" }, { "person", "person 3.20 m" },
    { "123456789012345", "123456789012345 3.20 m" }, { "1234567890123456", "123456789012345 3.20 m" },
    /* 15 characters of two, three and four bytes, and one more */
    { "\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244"
      "\344\272\272\303\244",
        "\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303\244\303"
        "\244"
        "\344\272\272 3.20 m" },
    { "a\nb\342\200\256c", "a b c 3.20 m" }, { "lorry \377\303", "lorry \357\277\275\357\277\275 3.20 m" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar label[GST_DEPTH_OVERLAY_LABEL];
    gst_depth_overlay_label_make (label, cases[i][0], "3.20 m");
    fail_unless_equals_string (label, cases[i][1]);
  }
}

SUITE (regions)
{
  random_state.state = random_seed ();
}
