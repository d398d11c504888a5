/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a mask excludes, as pixels and in the output of stereomatch. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"
#include "tests/support/random.h"

#include "gst/match/diagnose/matches.h"
#include "gst/match/mask.h"

#include <glib/gstdio.h>
#include <string.h>

#ifdef HAVE_LIBPNG
#include <png.h>
#endif

static Random dice;

static GstStereoMask *
mask_of (const gchar *text, gint width, gint height)
{
  gchar *message = NULL;
  GstStereoMask *mask = gst_stereo_mask_new (text, width, height, &message);

  fail_unless (mask != NULL, "%s: %s", text, message);
  return mask;
}

/* ---- pixels --------------------------------------------------------------------------------- */

#define MOST 4

typedef struct
{
  gdouble x, y, width, height;
} Box;

/* Whether the middle of a pixel lies in one of the boxes. */
static gboolean
is_in (const Box *boxes, guint count, gint x, gint y, gint width, gint height)
{
  for (guint i = 0; i < count; i++) {
    const Box *b = &boxes[i];
    if (x + 0.5 >= b->x * width && x + 0.5 < (b->x + b->width) * width && y + 0.5 >= b->y * height &&
        y + 0.5 < (b->y + b->height) * height)
      return TRUE;
  }
  return FALSE;
}

/* Boxes of whole thousandths. A column at the right edge stays free, so that no mask excludes everything. */
static gchar *
random_boxes (Box *boxes, guint count)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < count; i++) {
    gint left = random_range (&dice, 0, 799), top = random_range (&dice, 0, 999);
    gint width = random_range (&dice, 1, 800 - left), height = random_range (&dice, 1, 1000);
    boxes[i] = (Box){ left / 1000.0, top / 1000.0, width / 1000.0, height / 1000.0 };
    g_string_append_printf (text, "%s0.%03d,%s 0.%03d ,0.%03d,%d.%03d", i ? "; " : "", left, i % 2 ? " " : "", top,
        width, height / 1000, height % 1000);
  }
  return g_string_free (text, FALSE);
}

TEST (test_rectangles)
{
  for (guint round = 0; round < 300; round++) {
    gint width = random_range (&dice, 4, 59), height = random_range (&dice, 1, 39), top = -1, bottom = -1;
    guint count = (guint) random_range (&dice, 1, MOST);
    guint64 counting = 0;
    Box boxes[MOST];
    g_autofree gchar *text = random_boxes (boxes, count);
    GstStereoMask *mask = mask_of (text, width, height);

    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++) {
        gboolean counts = !is_in (boxes, count, x, y, width, height);
        fail_unless_equals_int (mask->counts[y * width + x], counts ? 255 : 0);
        counting += counts;
        top = counts && top < 0 ? y : top;
        bottom = counts ? y : bottom;
      }
    fail_unless_equals_int (mask->first_row, top);
    fail_unless_equals_int (mask->rows, bottom + 1 - top);
    fail_unless_equals_uint64 (mask->count, counting);
    gst_stereo_mask_unref (mask);
  }
}

static const gchar *const no_rectangles[] = { "0,0,1", "0,0,1,1.5", "0,0,1,0.5,", "0,0,0,0.5", "0,0,1,0.5 0,0,1,1",
  "-0.1,0,1,1", "0,nan,1,1", "0,0,1,0.5;;x" };

TEST_LOOP (test_no_rectangles, 0, G_N_ELEMENTS (no_rectangles))
{
  g_autofree gchar *message = NULL;

  fail_if (gst_stereo_mask_check (no_rectangles[__i__], &message), "%s", no_rectangles[__i__]);
  fail_unless (strstr (message, no_rectangles[__i__]) && strstr (message, "0, 0.9, 1, 0.1"));
}

static void
expect_refusal (const gchar *text, gint width, gint height, const gchar *word)
{
  g_autofree gchar *message = NULL;

  fail_unless (gst_stereo_mask_new (text, width, height, &message) == NULL);
  fail_unless (strstr (message, text) && strstr (message, word), "%s", message);
}

#ifdef HAVE_LIBPNG
static void
write_png (const gchar *name, gint width, gint height, const guint8 *pixels)
{
  png_image image = { .version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY };

  image.width = (guint) width;
  image.height = (guint) height;
  fail_unless (png_image_write_to_file (&image, name, 0, pixels, 0, NULL));
}

TEST (test_picture)
{
  const gint width = 37, height = 11;
  g_autofree gchar *folder = g_dir_make_tmp ("mask-XXXXXX", NULL),
                   *name = g_build_filename (folder, "0.5 mask.png", NULL);
  guint8 pixels[37 * 11];

  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) random_next (&dice);
  pixels[5] = 128;
  pixels[6] = 127;
  write_png (name, width, height, pixels);
  GstStereoMask *mask = mask_of (name, width, height);
  for (guint i = 0; i < sizeof pixels; i++)
    fail_unless_equals_int (mask->counts[i], pixels[i] >= 128 ? 255 : 0);
  gst_stereo_mask_unref (mask);
  expect_refusal (name, width + 1, height, "37x11");
  memset (pixels, 0, sizeof pixels);
  write_png (name, width, height, pixels);
  expect_refusal (name, width, height, "black is excluded");
  fail_unless (g_file_set_contents (name, "no picture", -1, NULL));
  expect_refusal (name, width, height, "cannot be read");
  g_unlink (name);
  g_rmdir (folder);
}
#endif

/* ---- stereomatch ---------------------------------------------------------------------------- */

/* A view, or some of its rows: of GRAY8 samples without padding. */
static GstBuffer *
rows_of_view (guint seed, gint shift, gint first, gint rows)
{
  g_autoptr (GstBuffer) view = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, seed, shift, 0);

  return gst_buffer_copy_region (view, GST_BUFFER_COPY_ALL, (gsize) (first * VIEW_WIDTH), (gsize) (rows * VIEW_WIDTH));
}

/* What stereomatch makes of some rows of both views. */
static GstBuffer *
match_rows (const gchar *properties, gint first, gint rows, GstVideoInfo *info)
{
  g_autoptr (Pair) pair = pair_new (properties);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, rows, NULL);
  gst_harness_push (pair->left, stamp (rows_of_view (1, 0, first, rows), 0, FRAME));
  gst_harness_push (pair->right, stamp (rows_of_view (1, SHIFT, first, rows), 0, FRAME));
  GstBuffer *out = pair_pull (pair, 0);
  *info = output_info (pair->left);
  return out;
}

static guint
confidence_at (GstBuffer *buffer, gint x, gint y)
{
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_confidence_bytes (gst_buffer_get_stereo_meta (buffer));

  return ((const guint8 *) g_bytes_get_data (bytes, NULL))[y * VIEW_WIDTH + x];
}

/* Rows at the top and at the bottom go, and a part of the others. What is left is what a match of those rows alone gives. */
TEST (test_match)
{
  const Box boxes[] = { { 0, 0, 1, 0.15 }, { 0.5, 0.3, 0.25, 0.3 }, { 0, 0.8, 1, 0.2 } };
  const gchar *properties = EXACT "temporal=0 ";
  g_autofree gchar *masked = g_strconcat (properties, "mask=0,0,1,0.15;0.5,0.3,0.25,0.3;0,0.8,1,0.2", NULL);
  GstVideoInfo info, part_info;
  g_autoptr (GstBuffer) whole = match_rows (masked, 0, VIEW_HEIGHT, &info),
                        part = match_rows (properties, 3, 13, &part_info);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (whole);
  guint valid = 0, sum = 0, count = 0;

  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), VIEW_HEIGHT);
  for (gint y = 0; y < VIEW_HEIGHT; y++)
    for (gint x = 0; x < VIEW_WIDTH; x++) {
      guint sample = sample_at (whole, &info, x, y), confidence = confidence_at (whole, x, y);
      if (is_in (boxes, G_N_ELEMENTS (boxes), x, y, VIEW_WIDTH, VIEW_HEIGHT)) {
        fail_unless (sample == 0 && confidence == 0, "%d, %d: %u, %u", x, y, sample, confidence);
        continue;
      }
      fail_unless_equals_int (sample, sample_at (part, &part_info, x, y - 3));
      fail_unless_equals_int (confidence, confidence_at (part, x, y - 3));
      valid += sample > 0;
      sum += confidence;
      count++;
    }
  fail_unless (valid > count / 2);
  fail_unless_equals_float (meta->valid_ratio, (gdouble) valid / count);
  assert_equals_float (meta->mean_confidence, sum / (255.0 * count));
}

/* ---- the meta ------------------------------------------------------------------------------- */

static GstBuffer *
match_frame (Pair *pair, guint number)
{
  pair_push (pair, number * FRAME, number * FRAME);
  return pair_pull (pair, number * FRAME);
}

static GstBuffer *
mask_in (GstBuffer *buffer)
{
  return gst_stereo_meta_get_mask (gst_buffer_get_stereo_meta (buffer));
}

/* The meta has the mask; all buffers share one picture, which nobody can write into and which outlives the element. */
TEST (test_meta)
{
  const Box box = { 0.25, 0.5, 0.5, 0.25 };
  Pair *pair = pair_new_gray (EXACT "mask=0.25,0.5,0.5,0.25");
  GstBuffer *one = match_frame (pair, 0), *other = match_frame (pair, 1), *without, *mask = mask_in (one);
  GstMapInfo map;

  fail_unless (mask != NULL && mask_in (other) == mask);
  const GstVideoMeta *video = gst_buffer_get_video_meta (mask);
  fail_unless (
      video && video->format == GST_VIDEO_FORMAT_GRAY8 && video->width == VIEW_WIDTH && video->height == VIEW_HEIGHT);
  fail_if (gst_buffer_is_writable (mask));
  fail_unless (gst_buffer_map (mask, &map, GST_MAP_READ));
  fail_unless (GST_MEMORY_IS_READONLY (map.memory));
  gst_buffer_unmap (mask, &map);
  g_object_set (pair->element, "mask", NULL, NULL);
  without = match_frame (pair, 2);
  fail_unless (mask_in (without) == NULL);
  gst_buffer_unref (without);
  gst_buffer_unref (other);
  pair_free (pair);
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_mask_bytes (gst_buffer_get_stereo_meta (one));
  fail_unless_equals_int (g_bytes_get_size (bytes), VIEW_WIDTH * VIEW_HEIGHT);
  for (gint y = 0; y < VIEW_HEIGHT; y++)
    for (gint x = 0; x < VIEW_WIDTH; x++)
      fail_unless_equals_int (((const guint8 *) g_bytes_get_data (bytes, NULL))[y * VIEW_WIDTH + x],
          is_in (&box, 1, x, y, VIEW_WIDTH, VIEW_HEIGHT) ? 0 : 255);
  gst_buffer_unref (one);
}

/* ---- the property --------------------------------------------------------------------------- */

static guint
sample_of_frame (Pair *pair, guint number, gint x, gint y)
{
  g_autoptr (GstBuffer) out = match_frame (pair, number);

  GstVideoInfo info = output_info (pair->left);
  return sample_at (out, &info, x, y);
}

/* A mask comes and goes while the pipeline plays; rectangles that are none leave the one that is there. */
TEST (test_change)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  fail_unless (sample_of_frame (pair, 0, 30, 10) > 0);
  g_object_set (pair->element, "mask", "0.5,0,0.5,1", NULL);
  fail_unless_equals_int (sample_of_frame (pair, 1, 30, 10), 0);
  g_object_set (pair->element, "mask", "0.5,0,0.5", NULL);
  fail_unless_equals_int (sample_of_frame (pair, 2, 30, 10), 0);
  expect_warning (pair->bus, "mask=0.5,0,0.5 is no list of rectangles", "The mask before stays in force", NULL);
  /* neither does a file that is none, and it is said once */
  g_object_set (pair->element, "mask", "/dev/null", NULL);
  fail_unless_equals_int (sample_of_frame (pair, 3, 30, 10), 0);
  expect_warning (pair->bus, "mask=/dev/null", "The mask before stays in force", NULL);
  fail_unless_equals_int (sample_of_frame (pair, 4, 30, 10), 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_object_set (pair->element, "mask", NULL, NULL);
  fail_unless (sample_of_frame (pair, 5, 30, 10) > 0);
  g_object_set (pair->element, "mask", "/dev/null", NULL);
  fail_unless (sample_of_frame (pair, 6, 30, 10) > 0);
  expect_warning (pair->bus, "mask=/dev/null", "there is no mask", NULL);
}

/* A pair whose views are 8 pixels wider. */
static void
push_wider (Pair *pair, guint number)
{
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH + 8, VIEW_HEIGHT, NULL);
  for (guint view = 0; view < 2; view++)
    gst_harness_push (view ? pair->right : pair->left,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH + 8, VIEW_HEIGHT, 1, view ? SHIFT : 0, 0), number * FRAME,
            FRAME));
}

/* Views of another size have another mask of the same rectangles. */
TEST (test_other_size)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "mask=0.5,0,0.5,1");

  fail_unless_equals_int (sample_of_frame (pair, 0, 30, 10), 0);
  push_wider (pair, 1);
  g_autoptr (GstBuffer) out = pair_pull (pair, FRAME);
  GstVideoInfo info = output_info (pair->left);
  fail_unless (sample_at (out, &info, 25, 10) > 0);
  fail_unless_equals_int (sample_at (out, &info, 27, 10), 0);
  fail_unless_equals_int (sample_at (out, &info, VIEW_WIDTH + 7, 10), 0);
}

#ifdef HAVE_LIBPNG
/* A picture of the old size is none for them. */
TEST (test_picture_of_another_size)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "mask=mask-of-views.png");
  guint8 pixels[VIEW_WIDTH * VIEW_HEIGHT];

  memset (pixels, 255, sizeof pixels);
  write_png ("mask-of-views.png", VIEW_WIDTH, VIEW_HEIGHT, pixels);
  fail_unless (sample_of_frame (pair, 0, 30, 10) > 0);
  push_wider (pair, 1);
  expect_error (pair->bus, "mask-of-views.png", "make a mask of the view's size", NULL);
  g_unlink ("mask-of-views.png");
}
#endif

TEST_LOOP (test_errors, 0, 2)
{
  static const gchar *const masks[][2] = { { "/nowhere/mask.png", "cannot be read" }, { "0,0,1,1", "every pixel" } };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  g_object_set (pair->element, "mask", masks[__i__][0], NULL);
  pair_push (pair, 0, 0);
  expect_error (pair->bus, masks[__i__][0], masks[__i__][1], NULL);
}

/* ---- the running check ---------------------------------------------------------------------- */

/* A view whose lower half lies beyond the search range: the check does not look at what is excluded. */
TEST (test_check)
{
  const gint width = 640, height = 240, shifts[] = { 16, 160 };
  guint8 *views[2] = { g_malloc (640 * 240), g_malloc (640 * 240) }, *counts = g_malloc0 (640 * 240);
  const StereoParams params = { .num_disparities = 64 };
  GstStereoLookedPair pair = { .width = width, .height = height, .params = &params };
  GstStereoMatchFigures result;
  GstStereoMatches *check = gst_stereo_matches_new (NULL, NULL);

  for (gint v = 0; v < 2; v++) {
    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++)
        views[v][y * width + x] = texture (3, (x + (v ? shifts[2 * y >= height] : 0)) / 6, y / 6);
    pair.images[v] = (StereoImage){ .data = views[v], .stride = width, .pixel_stride = 1, .channels = 1 };
  }
  memset (counts, 255, (gsize) (width * height / 2));
  fail_unless (gst_stereo_matches_measure (check, &pair, &result));
  fail_unless (result.forward > 4 && result.beyond > 4, "%u, %u beyond", result.forward, result.beyond);
  pair.counts = counts;
  fail_unless (gst_stereo_matches_measure (check, &pair, &result));
  fail_unless (result.forward > 4 && result.beyond == 0, "%u, %u beyond", result.forward, result.beyond);
  gst_stereo_matches_free (check);
  g_free (views[0]);
  g_free (views[1]);
  g_free (counts);
}

SUITE (mask)
{
  dice.state = random_seed ();
}
