/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of the views: focal length, baseline, principal offset and true disparity. */
#include "tests/support/gst/util.h"

#include <math.h>

#include "tests/support/gst/suite.h"
#include "tests/support/random.h"

#define DEPTH EXACT "min-disparity=0 output=depth "

static Random generator;

/* Cameras for which the depth of SHIFT fits into 16 bits. */
typedef struct
{
  gdouble focal, baseline, offset;
  gdouble x, y;  /* principal point of the left view */
  gdouble ratio; /* vertical by horizontal focal length; 0 = 1 */
} Cameras;

static Cameras
draw_cameras (void)
{
  return (Cameras){ random_range (&generator, 300, 900) + 0.5, random_range (&generator, 50, 200),
    random_range (&generator, 0, 40) / 8.0, random_range (&generator, 1, 40) / 4.0,
    random_range (&generator, 1, 40) / 4.0, random_range (&generator, 0, 8) / 4.0 };
}

/* Written plainly: what a sample of depth has to be. */
static guint
depth_of (const Cameras *cameras, gdouble disparity)
{
  return (guint) lround (cameras->focal * cameras->baseline / (disparity + cameras->offset));
}

static GstBuffer *
attach (GstBuffer *buffer, guint width, guint height, const Cameras *cameras)
{
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, width, height, NULL);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  meta->focal_length = cameras->focal;
  meta->focal_length_y = cameras->focal * cameras->ratio;
  meta->baseline = cameras->baseline;
  meta->principal_offset = cameras->offset;
  meta->principal_x = cameras->x;
  meta->principal_y = cameras->y;
  return buffer;
}

static GstBuffer *
packed_frame (guint number, const Cameras *cameras)
{
  GstBuffer *buffer = make_packed (GST_VIDEO_FORMAT_GRAY8, "side-by-side", VIEW_WIDTH, VIEW_HEIGHT, number, FALSE);

  stamp (buffer, number * FRAME, FRAME);
  return cameras ? attach (buffer, VIEW_WIDTH, VIEW_HEIGHT, cameras) : buffer;
}

static GstHarness *
packed_gray (const gchar *properties, GstBus **bus)
{
  GstHarness *harness = packed_new (properties, bus);

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, 2 * VIEW_WIDTH, VIEW_HEIGHT, NULL);
  return harness;
}

static void
check_meta (GstBuffer *out, const Cameras *cameras)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);

  fail_unless (meta != NULL);
  fail_unless_equals_float (meta->focal_length, cameras->focal);
  fail_unless_equals_float (meta->focal_length_y, cameras->focal * cameras->ratio);
  fail_unless_equals_float (meta->baseline, cameras->baseline);
  fail_unless_equals_float (meta->principal_offset, cameras->offset);
  fail_unless_equals_float (meta->principal_x, cameras->x);
  fail_unless_equals_float (meta->principal_y, cameras->y);
  fail_unless (meta->confidence != NULL);
}

/* Pulls one picture of depth and unrefs it. */
static void
check_depth (GstHarness *harness, const Cameras *cameras)
{
  GstBuffer *out = gst_harness_pull (harness);
  GstVideoInfo info;

  fail_unless (out != NULL, "no output");
  info = output_info (harness);
  check_interior (out, &info, depth_of (cameras, SHIFT));
  check_meta (out, cameras);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->kind, GST_STEREO_OUTPUT_KIND_DEPTH);
  gst_buffer_unref (out);
}

static gdouble
setting (GstElement *element, const gchar *name)
{
  GstStructure *settings;
  gdouble value = -1;

  g_object_get (element, "settings", &settings, NULL);
  fail_unless (settings && gst_structure_get_double (settings, name, &value));
  gst_structure_free (settings);
  return value;
}

/* A new plan comes before the pair that needs it, and not before those ahead of it are out. */
TEST (test_every_pair_has_its_own)
{
  Cameras cameras[6];
  GstBus *bus;
  GstHarness *harness = packed_gray (DEPTH, &bus);

  fail_unless_equals_float (setting (harness->element, "focal-length"), 0);
  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++) {
    cameras[i] = i % 3 ? cameras[i - 1] : draw_cameras ();
    /* of the third and the sixth, one number alone is another one */
    cameras[i].offset += i == 2 ? 3 : 0;
    cameras[i].baseline += i == 5 ? 3 : 0;
    fail_unless_equals_int (gst_harness_push (harness, packed_frame (i, &cameras[i])), GST_FLOW_OK);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++)
    check_depth (harness, &cameras[i]);
  fail_unless_equals_float (setting (harness->element, "focal-length"), cameras[5].focal);
  fail_unless_equals_float (setting (harness->element, "baseline"), cameras[5].baseline);
  fail_unless_equals_float (setting (harness->element, "principal-offset"), cameras[5].offset);
  expect_no_message (bus, GST_MESSAGE_WARNING);
  filter_free (harness, bus);
}

TEST (test_disparity_carries_it_on)
{
  Cameras cameras[4];
  GstBus *bus;
  GstHarness *harness = packed_gray (EXACT, &bus);
  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++) {
    cameras[i] = draw_cameras ();
    fail_unless_equals_int (gst_harness_push (harness, packed_frame (i, &cameras[i])), GST_FLOW_OK);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cameras); i++) {
    GstBuffer *out = gst_harness_pull (harness);
    GstVideoInfo info = output_info (harness);
    check_interior (out, &info, SHIFT * 64);
    check_meta (out, &cameras[i]);
    fail_unless (fabs (gst_stereo_meta_get_depth (gst_buffer_get_stereo_meta (out), SHIFT * 64) -
                     depth_of (&cameras[i], SHIFT)) < 1);
    gst_buffer_unref (out);
  }
  fail_unless_equals_float (setting (harness->element, "focal-length"), cameras[3].focal);
  /* and is gone when the views say nothing any more */
  fail_unless_equals_int (gst_harness_push (harness, packed_frame (9, NULL)), GST_FLOW_OK);
  g_autoptr (GstBuffer) last = gst_harness_pull (harness);
  check_meta (last, &(Cameras){ 0 });
  fail_unless_equals_float (setting (harness->element, "focal-length"), 0);
  filter_free (harness, bus);
}

static void
push_views (Pair *pair, GstClockTime time, const Cameras *left, const Cameras *right)
{
  GstBuffer *views[2] = { make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 7),
    make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, SHIFT, 3) };

  if (left)
    attach (views[0], VIEW_WIDTH, VIEW_HEIGHT, left);
  if (right)
    attach (views[1], VIEW_WIDTH, VIEW_HEIGHT, right);
  /* what goes wrong is told on the bus */
  gst_harness_push (pair->left, stamp (views[0], time, FRAME));
  gst_harness_push (pair->right, stamp (views[1], time, FRAME));
}

/* The left view's, where it has metadata. */
TEST (test_two_pads)
{
  const Cameras one = draw_cameras (), other = draw_cameras ();
  g_autoptr (Pair) pair = pair_new_gray (DEPTH);

  for (guint i = 0; i < 3; i++) {
    push_views (pair, i * FRAME, i == 1 ? NULL : &one, i == 0 ? NULL : &other);
    check_depth (pair->left, i == 1 ? &other : &one);
  }
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* The vertical focal length of pixels that are not square, by their caps, where no metadata has it. The output has pixels of
 * that shape, also where it changes in a stream. */
TEST (test_shape_of_pixels)
{
  static const struct
  {
    const gchar *caps;
    gdouble ratio, of_meta; /* 0: the pair has no metadata; -1: its metadata has no vertical focal length */
  } cases[] = { { "pixel-aspect-ratio=2/1", 2, 0 }, { "pixel-aspect-ratio=16/15", 16 / 15.0, 0 },
    { "pixel-aspect-ratio=1/1", 0, 0 }, { "pixel-aspect-ratio=2/1", 2, -1 }, { "pixel-aspect-ratio=2/1", 1.25, 1.25 },
    { "pixel-aspect-ratio=1/1", 1.25, 1.25 }, { "pixel-aspect-ratio=2000000000/1", 0, 0 },
    { "multiview-mode=side-by-side," HALF_ASPECT, 2, 0 } };
  GstBus *bus;
  GstHarness *harness = packed_new (EXACT "focal-length=500 baseline=100", &bus);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Cameras cameras = { 500, 100, .ratio = MAX (cases[i].of_meta, 0) };
    harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, 2 * VIEW_WIDTH, VIEW_HEIGHT, cases[i].caps);
    fail_unless_equals_int (
        gst_harness_push (harness, packed_frame (i, cases[i].of_meta ? &cameras : NULL)), GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (harness);
    const GstVideoInfo info = output_info (harness);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->focal_length_y, 500 * cases[i].ratio);
    if (!cases[i].of_meta && cases[i].ratio)
      fail_unless_equals_float ((gdouble) info.par_n / info.par_d, cases[i].ratio);
    gst_buffer_unref (out);
  }
  filter_free (harness, bus);
}

/* What the scene may have and the output has not is said once, and not where min-disparity was set by hand. */
TEST (test_search_range)
{
  static const struct
  {
    const gchar *properties;
    const gchar *says[2]; /* NULL: nothing is said */
  } cases[] = { { "principal-offset=63.8 output=depth",
                    { "farther than 0.8 m", "min-disparity=-64, and num-disparities=76" } },
    { "principal-offset=63.8", { "farther than 0.8 m", "infinity has a disparity of -63.8 px" } },
    { "principal-offset=1.1 output=depth", { "principal-offset=1.1", "min-disparity=-2" } },
    { "principal-offset=1 output=depth", { NULL } }, { "principal-offset=-20 output=depth", { NULL } },
    { "principal-offset=63.8 min-disparity=0 output=depth", { NULL } }, { "min-disparity=-1 output=depth", { NULL } },
    { "min-disparity=-1", { "below 0", "output=depth" } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *properties = g_strconcat (EXACT "focal-length=500 baseline=100 ", cases[i].properties, NULL);
    Pair *pair = pair_new_gray (properties);
    for (guint n = 0; n < 3; n++) {
      push_views (pair, n * FRAME, NULL, NULL);
      gst_buffer_unref (pair_pull (pair, n * FRAME));
    }
    if (cases[i].says[0])
      expect_warning (pair->bus, cases[i].says[0], cases[i].says[1], NULL);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    pair_free (pair);
  }
}

TEST (test_what_was_set_wins)
{
  Cameras known = draw_cameras (), expected = known;
  Pair *pair = pair_new_gray (DEPTH);

  expected.focal = known.focal + 100;
  expected.baseline = known.baseline * 1.0001; /* not worth a word */
  g_object_set (pair->element, "focal-length", expected.focal, "baseline", expected.baseline, NULL);
  for (guint i = 0; i < 3; i++) {
    push_views (pair, i * FRAME, &known, NULL);
    check_depth (pair->left, &expected);
  }
  expect_warning (pair->bus, "focal-length", "what was set is used", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  fail_unless_equals_float (setting (pair->element, "focal-length"), expected.focal);
  fail_unless_equals_float (setting (pair->element, "principal-offset"), known.offset);
  /* set back, it is theirs again */
  g_object_set (pair->element, "focal-length", 0.0, "baseline", 0.0, NULL);
  push_views (pair, 3 * FRAME, &known, NULL);
  check_depth (pair->left, &known);
  pair_free (pair);
}

TEST (test_depth_needs_somebody_who_knows)
{
  const Cameras useless[] = { { 0 }, { 0, 100, 0 }, { NAN, 100, 0 }, { 500, -100, 0 }, { 1e300, 100, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (useless); i++) {
    const Cameras cameras = draw_cameras ();
    g_autoptr (Pair) pair = pair_new_gray (DEPTH);

    /* a pair without metadata after one that had some */
    if (i == 0) {
      push_views (pair, 0, &cameras, NULL);
      check_depth (pair->left, &cameras);
    }
    push_views (pair, FRAME, i ? &useless[i] : NULL, NULL);
    expect_error (pair->bus, "focal-length", "baseline", "stereorectify", NULL);
  }
}

/* What the metadata of a view says, and what of it the output has. */
TEST (test_which_metadata_counts)
{
  static const struct
  {
    guint right;              /* the right view has it, and the left one has none */
    GstStereoOutputKind kind; /* any but VIEWS is somebody's disparity that was linked as a view */
    guint wider;              /* it is of views so much wider */
    gboolean cameras, truth;  /* are those of the output */
  } cases[] = { { FALSE, GST_STEREO_OUTPUT_KIND_VIEWS, 0, TRUE, TRUE },
    /* the right view's truth is not that of the left one's pixels */
    { TRUE, GST_STEREO_OUTPUT_KIND_VIEWS, 0, TRUE, FALSE }, { FALSE, GST_STEREO_OUTPUT_KIND_DISPARITY, 0, FALSE, FALSE },
    { FALSE, GST_STEREO_OUTPUT_KIND_VIEWS, 1, FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Cameras cameras = draw_cameras ();
    const guint width = VIEW_WIDTH + cases[i].wider;
    g_autoptr (Pair) pair = pair_new_gray (EXACT "min-disparity=0");
    GstBuffer *truth = make_view (GST_VIDEO_FORMAT_GRAY16_LE, (gint) width, VIEW_HEIGHT, 1, 0, 6);

    for (guint n = 0; n < 3; n++) {
      for (guint v = 0; v < 2; v++) {
        GstBuffer *view = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, v ? SHIFT : 0, 0);
        if (v == cases[i].right && n < 2) {
          attach (view, width, VIEW_HEIGHT, &cameras);
          gst_buffer_get_stereo_meta (view)->kind = cases[i].kind;
          gst_stereo_meta_set_truth (gst_buffer_get_stereo_meta (view), truth);
        }
        gst_harness_push (v ? pair->right : pair->left, stamp (view, n * FRAME, FRAME));
      }
      g_autoptr (GstBuffer) out = pair_pull (pair, n * FRAME);
      check_meta (out, cases[i].cameras && n < 2 ? &cameras : &(Cameras){ 0 });
      fail_unless (
          gst_stereo_meta_get_truth (gst_buffer_get_stereo_meta (out)) == (cases[i].truth && n < 2 ? truth : NULL));
    }
    if (cases[i].wider)
      expect_warning (pair->bus, "45x20", "44x20", "not used", NULL);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
    ASSERT_MINI_OBJECT_REFCOUNT (truth, "truth", 1);
    gst_buffer_unref (truth);
  }
}

/* Every other pixel of a frame twice as large is the small frame of the other tests: its cameras have half the focal
 * length, their principal point is half as far from the edges, and the same point has the same depth. */
TEST (test_scaled_on_the_way)
{
  Cameras cameras = draw_cameras (),
          small = { cameras.focal / 2, cameras.baseline, cameras.offset / 2, (cameras.x + 0.5) / 2 - 0.5,
            (cameras.y + 0.5) / 2 - 0.5, cameras.ratio };
  const guint width = 2 * VIEW_WIDTH, height = 2 * VIEW_HEIGHT;
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 2 * width * height, NULL), *truth = gst_buffer_copy_deep (frame);
  GstMapInfo map;

  /* the texture of both views, every pixel fourfold */
  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < 2 * width; x++)
      map.data[y * 2 * width + x] = texture (3, (gint) (x % width / 2) + (x < width ? 0 : SHIFT), (gint) y / 2);
  gst_buffer_unmap (frame, &map);
  fail_unless (gst_buffer_map (truth, &map, GST_MAP_WRITE));
  for (guint i = 0; i < width * height; i++)
    GST_WRITE_UINT16_LE (map.data + 2 * i, 2 * SHIFT * 64);
  gst_buffer_unmap (truth, &map);
  attach (frame, width, height, &cameras);
  gst_stereo_meta_set_truth (gst_buffer_get_stereo_meta (frame), truth);
  gst_buffer_unref (truth);
  g_autofree gchar *line = g_strdup_printf (
      "videoscale method=nearest-neighbour ! video/x-raw,width=%d,height=%d ! stereomatch " DEPTH, 2 * VIEW_WIDTH,
      VIEW_HEIGHT);
  g_autoptr (GstHarness) harness = gst_harness_new_parse (line);
  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, (gint) (2 * width), (gint) height, NULL);
  fail_unless_equals_int (gst_harness_push (harness, stamp (frame, 0, FRAME)), GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  fail_unless (out != NULL);
  GstVideoInfo info = output_info (harness);
  g_autoptr (GBytes) bytes = gst_stereo_meta_get_truth_bytes (gst_buffer_get_stereo_meta (out));
  check_interior (out, &info, depth_of (&small, SHIFT));
  check_meta (out, &small);
  fail_unless (bytes && g_bytes_get_size (bytes) == 2 * VIEW_WIDTH * VIEW_HEIGHT);
  fail_unless_equals_int (GST_READ_UINT16_LE (g_bytes_get_data (bytes, NULL)), SHIFT * 64);
}

SUITE (views)
{
  generator.state = random_seed ();
}
