/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* depthoverlay's nearest surface: the messages, the state, the warning. tests/gst/nearest/test_surface.c tests the search. */
#include "tests/support/gst/overlay.h"

#define QUIET "text=false legend=false message-interval=0 "
#define WIDTH 80
#define HEIGHT 60

/* ---- messages ---------------------------------------------------------------------------- */

static Overlay *
new_overlay (const gchar *properties)
{
  gchar *all = g_strconcat (QUIET, properties, NULL);
  Overlay *overlay = overlay_new (all, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  g_free (all);
  return overlay;
}

static void
pass (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  overlay_push_depth (overlay, depth, pts);
  overlay_push_live (overlay, plain_frame (&overlay->info, 0), pts);
  gst_buffer_unref (overlay_pull (overlay, pts));
}

typedef struct
{
  gboolean valid, warning;
  gdouble distance, confidence;
  gint x, y;
} Nearest;

static Nearest
expect_nearest (Overlay *overlay)
{
  GstStructure *posted = overlay_nearest (overlay);
  Nearest nearest = { 0 };

  fail_unless (posted != NULL, "no stereo-nearest");
  fail_unless (gst_structure_get (
      posted, "valid", G_TYPE_BOOLEAN, &nearest.valid, "warning", G_TYPE_BOOLEAN, &nearest.warning, NULL));
  if (nearest.valid)
    fail_unless (gst_structure_get (posted, "distance", G_TYPE_DOUBLE, &nearest.distance, "x", G_TYPE_INT, &nearest.x,
        "y", G_TYPE_INT, &nearest.y, "confidence", G_TYPE_DOUBLE, &nearest.confidence, NULL));
  else
    fail_unless (!gst_structure_has_field (posted, "distance") && !gst_structure_has_field (posted, "x"));
  gst_structure_free (posted);
  return nearest;
}

static Nearest
nearest_of (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  pass (overlay, depth, pts);
  return expect_nearest (overlay);
}

/* 5 m everywhere, and a thing of @width by @height pixels at @x, @y. */
static GstBuffer *
scene (gint x, gint y, gint width, gint height, guint sample)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 5000);

  fill_depth (depth, x, y, width, height, sample);
  return depth;
}

GST_START_TEST (test_lone_pixels_do_not_matter)
{
  Overlay *overlay = new_overlay ("");
  Nearest nearest = nearest_of (overlay, scene (7, 7, 1, 1, 300), 0);

  fail_unless_equals_float (nearest.distance, 5000);
  /* two percent of 4800 pixels do */
  nearest = nearest_of (overlay, scene (20, 30, 12, 8, 1234), TICK);
  fail_unless_equals_float (nearest.distance, 1234);
  fail_unless (nearest.x >= 20 && nearest.x < 32 && nearest.y >= 30 && nearest.y < 38, "at %d,%d", nearest.x, nearest.y);
  fail_unless_equals_float (nearest.confidence, 1);
  /* the percentile decides */
  set_properties (overlay->element, "nearest-percentile=3");
  fail_unless_equals_float (nearest_of (overlay, scene (20, 30, 12, 8, 1234), 2 * TICK).distance, 5000);
  set_properties (overlay->element, "nearest-percentile=0");
  nearest = nearest_of (overlay, scene (7, 9, 1, 1, 300), 3 * TICK);
  fail_unless_equals_float (nearest.distance, 300);
  fail_unless_equals_int (nearest.x, 7);
  fail_unless_equals_int (nearest.y, 9);
  overlay_free (overlay);
}
GST_END_TEST;

/* A few wrong pixels elsewhere do not pull the place away. */
GST_START_TEST (test_place_is_where_most_are)
{
  Overlay *overlay = new_overlay ("");
  GstBuffer *depth = scene (50, 10, 10, 10, 2000);
  Nearest nearest;

  for (gint i = 0; i < 20; i++)
    set_depth (depth, 3 * i, 50, 400);
  nearest = nearest_of (overlay, depth, 0);
  fail_unless_equals_float (nearest.distance, 2000);
  fail_unless (nearest.x >= 50 && nearest.x < 60 && nearest.y >= 10 && nearest.y < 20, "at %d,%d", nearest.x, nearest.y);
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_region)
{
  Overlay *overlay = new_overlay ("region=<0.5,0.5,0.5,0.5>");
  const struct
  {
    gint x, y;
    gdouble distance;
  } objects[] = { { 0, 0, 5000 }, { 30, 20, 5000 }, { 28, 22, 5000 }, { 40, 30, 700 }, { 68, 50, 700 } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (objects); i++)
    fail_unless_equals_float (
        nearest_of (overlay, scene (objects[i].x, objects[i].y, 10, 10, 700), i * TICK).distance, objects[i].distance);
  set_properties (overlay->element, "region=<>");
  fail_unless_equals_float (nearest_of (overlay, scene (0, 0, 10, 10, 700), i * TICK).distance, 700);
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_unsure_pixels_do_not_count)
{
  Overlay *overlay = new_overlay ("min-confidence=0.5");

  for (guint i = 0; i < 2; i++) {
    GstBuffer *depth = scene (20, 20, 16, 16, 900);

    for (gint y = 20; y < 36; y++)
      for (gint x = 20; x < 36; x++)
        set_confidence (depth, x, y, i ? 128 : 127);
    fail_unless_equals_float (nearest_of (overlay, depth, i * TICK).distance, i ? 900 : 5000);
  }
  overlay_free (overlay);
}
GST_END_TEST;

/* Pixels of the output, whatever size the depth has. */
GST_START_TEST (test_place_in_another_size)
{
  Overlay *overlay = overlay_new (QUIET, GST_VIDEO_FORMAT_GRAY8, 4 * WIDTH, 4 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  Nearest nearest = nearest_of (overlay, scene (20, 30, 16, 16, 800), 0);

  fail_unless (
      nearest.x >= 80 && nearest.x < 144 && nearest.y >= 120 && nearest.y < 184, "at %d,%d", nearest.x, nearest.y);
  /* the middle of the one pixel of depth */
  set_properties (overlay->element, "nearest-percentile=0");
  nearest = nearest_of (overlay, scene (20, 30, 1, 1, 800), TICK);
  fail_unless (nearest.x == 82 && nearest.y == 122, "at %d,%d", nearest.x, nearest.y);
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_disparity_is_nearer_when_larger)
{
  Overlay *overlay = new_overlay ("");
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DISPARITY, 5 * 64);

  /* 100 px * 100 mm / 20 px */
  fill_depth (depth, 40, 20, 12, 12, 20 * 64);
  fail_unless_equals_float (nearest_of (overlay, depth, 0).distance, 500);
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_nothing_to_measure)
{
  Overlay *overlay = new_overlay ("warn-distance=9000");
  Nearest nearest = nearest_of (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 0), 0);

  fail_unless (!nearest.valid && !nearest.warning);
  nearest = nearest_of (overlay, scene (0, 0, 1, 1, 1), TICK);
  fail_unless (nearest.valid && nearest.warning);
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_fields_of_the_frame)
{
  Overlay *overlay = new_overlay ("");
  GstStructure *posted;
  guint64 timestamp, running, stream, duration;

  pass (overlay, scene (0, 0, 1, 1, 1), 7 * TICK);
  posted = overlay_nearest (overlay);
  fail_unless (gst_structure_get (posted, "timestamp", G_TYPE_UINT64, &timestamp, "running-time", G_TYPE_UINT64,
      &running, "stream-time", G_TYPE_UINT64, &stream, "duration", G_TYPE_UINT64, &duration, NULL));
  fail_unless_equals_uint64 (timestamp, 7 * TICK);
  fail_unless_equals_uint64 (running, 7 * TICK);
  fail_unless_equals_uint64 (stream, 7 * TICK);
  fail_unless_equals_uint64 (duration, TICK);
  gst_structure_free (posted);
  overlay_free (overlay);
}
GST_END_TEST;

/* ---- warning and interval ---------------------------------------------------------------- */

GST_START_TEST (test_warning_below_the_distance)
{
  Overlay *overlay = new_overlay ("warn-distance=1000");
  const guint distances[] = { 1001, 1000, 999, 400, 2000 };

  for (guint i = 0; i < G_N_ELEMENTS (distances); i++) {
    Nearest nearest = nearest_of (overlay, scene (10, 10, 20, 20, distances[i]), i * TICK);
    fail_unless_equals_float (nearest.distance, distances[i]);
    fail_unless_equals_int (nearest.warning, distances[i] < 1000);
  }
  set_properties (overlay->element, "warn-distance=0");
  fail_unless (!nearest_of (overlay, scene (10, 10, 20, 20, 1), 9 * TICK).warning);
  overlay_free (overlay);
}
GST_END_TEST;

/* Not more often than message-interval, but at once when the warning comes or goes. */
GST_START_TEST (test_message_interval)
{
  Overlay *overlay = new_overlay ("warn-distance=1000 message-interval=100000000");
  const struct
  {
    guint distance;
    gboolean posted;
  } frames[] = { { 3000, TRUE }, { 3100, FALSE }, { 900, TRUE }, { 800, FALSE }, { 1500, TRUE }, { 1500, FALSE },
    { 1500, FALSE }, { 1500, TRUE }, { 1500, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstStructure *posted;

    pass (overlay, scene (10, 10, 20, 20, frames[i].distance), gst_util_uint64_scale (i, GST_SECOND, 30));
    posted = overlay_nearest (overlay);
    fail_unless ((posted != NULL) == frames[i].posted, "frame %u", i);
    if (posted)
      gst_structure_free (posted);
  }
  overlay_free (overlay);
}
GST_END_TEST;

/* The red frame at the very edge of the picture. */
GST_START_TEST (test_warning_is_seen)
{
  Overlay *overlay = overlay_new (
      "alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *out;
    guint8 corner[3];

    overlay_push_depth (overlay, scene (10, 10, 20, 20, i == 1 ? 700 : 4000), i * TICK);
    overlay_push_live (overlay, plain_frame (&overlay->info, 60), i * TICK);
    out = overlay_pull (overlay, i * TICK);
    gst_buffer_extract (out, 0, corner, 3);
    if (i == 1)
      fail_unless (corner[0] > 150 && corner[1] < 80 && corner[2] < 80);
    else
      fail_unless (corner[0] == 60 && corner[1] == 60 && corner[2] == 60);
    gst_buffer_unref (out);
  }
  overlay_free (overlay);
}
GST_END_TEST;

/* ---- state ------------------------------------------------------------------------------- */

typedef struct
{
  gchar state[8];
  gdouble coverage;
  gint support;
} State;

static State
state_of (Overlay *overlay)
{
  GstStructure *message = overlay_nearest (overlay);
  State posted = { 0 };

  fail_unless (message != NULL, "no stereo-nearest");
  fail_unless (gst_structure_get (
      message, "coverage", G_TYPE_DOUBLE, &posted.coverage, "support", G_TYPE_INT, &posted.support, NULL));
  g_strlcpy (posted.state, gst_structure_get_string (message, "state"), sizeof posted.state);
  gst_structure_free (message);
  return posted;
}

/* 5 m, but for the @unknown upper rows, which are not seen; and a thing of 12 x 12 pixels below. 0: none */
static GstBuffer *
half_seen (gint unknown, guint object)
{
  GstBuffer *depth = scene (20, 48, 12, 12, object ? object : 5000);

  fill_depth (depth, 0, 0, WIDTH, unknown, 0);
  return depth;
}

GST_START_TEST (test_state)
{
  const struct
  {
    const gchar *properties;
    gint unknown; /* rows */
    guint object;
    const gchar *state;
  } cases[] = {
    { "warn-distance=1000", 0, 0, "clear" },
    { "warn-distance=1000", 0, 900, "near" },
    { "warn-distance=1000", 0, 1000, "clear" },
    /* half may be unknown, and no more */
    { "warn-distance=1000", 30, 0, "clear" },
    { "warn-distance=1000", 31, 0, "unknown" },
    { "warn-distance=1000", 60, 0, "unknown" },
    { "warn-distance=1000 max-unknown=0.1", 6, 0, "clear" },
    { "warn-distance=1000 max-unknown=0.1", 7, 0, "unknown" },
    { "warn-distance=1000 max-unknown=0", 0, 0, "clear" },
    { "warn-distance=1000 max-unknown=0", 1, 0, "unknown" },
    /* but what is near is near all the same */
    { "warn-distance=1000", 48, 900, "near" },
    { "warn-distance=1000 max-unknown=0", 48, 900, "near" },
    { "warn-distance=1000 max-unknown=1", 48, 0, "clear" },
    /* nothing seen is never clear */
    { "warn-distance=1000 max-unknown=1", 60, 0, "unknown" },
    /* nor is that which is not connected */
    { "warn-distance=1000 max-unknown=1 nearest-percentile=90", 30, 0, "unknown" },
    /* nothing is clear that was not asked for */
    { "warn-distance=0", 0, 0, "near" },
    { "warn-distance=0", 31, 0, "unknown" },
    /* only the region counts */
    { "warn-distance=1000 region=<0,0.5,1,0.5>", 30, 0, "clear" },
    { "warn-distance=1000 region=<0,0,1,0.5>", 30, 0, "unknown" },
    { "warn-distance=1000 region=<0,0,1,0.5>", 0, 900, "clear" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Overlay *overlay = new_overlay (cases[i].properties);
    State posted;

    pass (overlay, half_seen (cases[i].unknown, cases[i].object), 0);
    posted = state_of (overlay);
    fail_unless (g_str_equal (posted.state, cases[i].state), "case %u: %s, and not %s", i, posted.state, cases[i].state);
    overlay_free (overlay);
  }
}
GST_END_TEST;

GST_START_TEST (test_coverage_and_support)
{
  Overlay *overlay = new_overlay ("warn-distance=1000");
  State posted;

  pass (overlay, half_seen (15, 900), 0);
  posted = state_of (overlay);
  fail_unless_equals_float (posted.coverage, 0.75);
  fail_unless_equals_int (posted.support, 144);
  pass (overlay, half_seen (15, 0), TICK);
  posted = state_of (overlay);
  fail_unless_equals_int (posted.support, WIDTH * 45);
  set_properties (overlay->element, "region=<0,0,0.5,0.5>");
  pass (overlay, half_seen (15, 0), 2 * TICK);
  posted = state_of (overlay);
  fail_unless_equals_float (posted.coverage, 0.5);
  fail_unless_equals_int (posted.support, WIDTH / 2 * 15);
  pass (overlay, half_seen (60, 0), 3 * TICK);
  posted = state_of (overlay);
  fail_unless_equals_float (posted.coverage, 0);
  fail_unless_equals_int (posted.support, 0);
  overlay_free (overlay);
}
GST_END_TEST;

/* Excludes rows of @depth, as stereomatch does: they have no sample, and the mask says so. */
static GstBuffer *
exclude_rows (GstBuffer *depth, gint first, gint rows)
{
  gsize size = (WIDTH + 3) * HEIGHT, offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { WIDTH + 3 };
  GstBuffer *mask = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (mask, 0, 255, size);
  gst_buffer_memset (mask, (gsize) (first * (WIDTH + 3)), 0, (gsize) (rows * (WIDTH + 3)));
  gst_buffer_add_video_meta_full (
      mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, offset, stride);
  gst_stereo_meta_set_mask (gst_buffer_get_stereo_meta (depth), mask);
  gst_buffer_unref (mask);
  fill_depth (depth, 0, first, WIDTH, rows, 0);
  return depth;
}

/* What is excluded is not unknown, and makes nothing known. */
GST_START_TEST (test_excluded_pixels)
{
  const struct
  {
    const gchar *properties;
    gint unknown, first, rows; /* rows: not seen; excluded from the first on */
    guint object;
    const gchar *state;
    gdouble coverage;
  } cases[] = {
    { "warn-distance=1000 max-unknown=0", 15, 0, 15, 0, "clear", 1 },
    { "warn-distance=1000 max-unknown=0", 20, 0, 15, 0, "unknown", 40 / 45.0 },
    { "warn-distance=1000 max-unknown=0.1", 20, 0, 15, 0, "unknown", 40 / 45.0 },
    { "warn-distance=1000 max-unknown=0.12", 20, 0, 15, 0, "clear", 40 / 45.0 },
    /* 20 of 60 rows would be a third */
    { "warn-distance=1000 max-unknown=0.34", 20, 40, 20, 0, "unknown", 0.5 },
    { "warn-distance=1000 max-unknown=0", 0, 0, 48, 900, "near", 1 },
    { "warn-distance=1000 max-unknown=0", 0, 48, 12, 900, "clear", 1 },
    /* a region without a pixel that counts */
    { "warn-distance=1000 max-unknown=1 region=<0,0,1,0.5>", 0, 0, 30, 0, "unknown", 0 },
    { "warn-distance=0 max-unknown=1 region=<0,0,1,0.5>", 0, 0, 30, 0, "unknown", 0 },
    { "warn-distance=1000 max-unknown=1", 0, 0, 60, 900, "unknown", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Overlay *overlay = new_overlay (cases[i].properties);
    State posted;

    pass (overlay, exclude_rows (half_seen (cases[i].unknown, cases[i].object), cases[i].first, cases[i].rows), 0);
    posted = state_of (overlay);
    fail_unless (g_str_equal (posted.state, cases[i].state), "case %u: %s, and not %s", i, posted.state, cases[i].state);
    assert_equals_float (posted.coverage, cases[i].coverage);
    overlay_free (overlay);
  }
}
GST_END_TEST;

/* The percentile stays one of all of the region's pixels: a thing does not become larger by what is excluded. */
GST_START_TEST (test_percentile_of_all_pixels)
{
  Overlay *overlay = new_overlay ("warn-distance=1000 nearest-percentile=3");

  /* 144 of 4800 pixels are three percent */
  pass (overlay, exclude_rows (half_seen (0, 900), 0, 30), 0);
  fail_unless_equals_string (state_of (overlay).state, "near");
  set_properties (overlay->element, "nearest-percentile=3.1");
  pass (overlay, exclude_rows (half_seen (0, 900), 0, 30), TICK);
  fail_unless_equals_string (state_of (overlay).state, "clear");
  overlay_free (overlay);
}
GST_END_TEST;

GST_START_TEST (test_mask_of_another_size)
{
  Overlay *overlay = new_overlay ("");
  GstBuffer *depth = half_seen (0, 0), *mask = gst_buffer_new_allocate (NULL, WIDTH * (HEIGHT - 1), NULL);

  gst_stereo_meta_set_mask (gst_buffer_get_stereo_meta (depth), mask);
  gst_buffer_unref (mask);
  overlay_push_depth (overlay, depth, 0);
  overlay_push_live (overlay, plain_frame (&overlay->info, 0), 0);
  overlay_expect (overlay, GST_MESSAGE_ERROR, "The mask", "sink_depth", NULL);
  overlay_free (overlay);
}
GST_END_TEST;

/* Pixels that lie apart are no surface, as many as they may be. */
GST_START_TEST (test_speckles_are_no_surface)
{
  Overlay *overlay = new_overlay ("warn-distance=1000");
  GstBuffer *depth = scene (0, 0, 1, 1, 5000);

  for (gint y = 0; y < HEIGHT; y += 3)
    for (gint x = 0; x < WIDTH; x += 3)
      set_depth (depth, x, y, 700);
  fail_unless_equals_float (nearest_of (overlay, depth, 0).distance, 5000);
  overlay_free (overlay);
}
GST_END_TEST;

/* A distance that is not known is not clear of warn-distance. */
GST_START_TEST (test_state_without_distances)
{
  for (guint i = 0; i < 2; i++) {
    Overlay *overlay = new_overlay (i ? "warn-distance=1000" : "warn-distance=0");
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DISPARITY, 5 * 64);

    gst_buffer_get_stereo_meta (depth)->baseline = 0;
    pass (overlay, depth, 0);
    fail_unless_equals_string (state_of (overlay).state, i ? "unknown" : "near");
    overlay_free (overlay);
  }
}
GST_END_TEST;

GST_START_TEST (test_state_is_posted_at_once)
{
  Overlay *overlay = new_overlay ("warn-distance=1000 max-age=10000000 message-interval=1000000000");
  const struct
  {
    gint unknown;
    const gchar *state; /* NULL: no message */
  } frames[] = { { 0, "clear" }, { 5, NULL }, { 40, "unknown" }, { 41, NULL }, { 0, "clear" }, { 0, NULL },
    { -1, "unknown" } };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstStructure *posted;

    if (frames[i].unknown >= 0)
      overlay_push_depth (overlay, half_seen (frames[i].unknown, 0), i * TICK);
    else
      overlay_eos (overlay, FALSE, TRUE); /* the depth of the frame before is too old */
    overlay_push_live (overlay, plain_frame (&overlay->info, 0), i * TICK);
    gst_buffer_unref (overlay_pull (overlay, i * TICK));
    posted = overlay_nearest (overlay);
    fail_unless ((posted != NULL) == (frames[i].state != NULL), "frame %u", i);
    if (posted) {
      fail_unless_equals_string (gst_structure_get_string (posted, "state"), frames[i].state);
      gst_structure_free (posted);
    }
  }
  overlay_free (overlay);
}
GST_END_TEST;

/* Whether any pixel of the output's upper left, where the read-out is, is of its amber. */
static gboolean
has_amber (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  gboolean amber = FALSE;
  GstMapInfo map;
  GstBuffer *out;

  overlay_push_depth (overlay, depth, pts);
  overlay_push_live (overlay, plain_frame (&overlay->info, 60), pts);
  out = overlay_pull (overlay, pts);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  for (gsize i = 0; i + 2 < map.size / 3; i += 3)
    amber = amber || (map.data[i] > 200 && map.data[i + 1] > 140 && map.data[i + 1] < 220 && map.data[i + 2] < 130);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  return amber;
}

/* The picture says what is not known in the colour of a notice, whether there is a distance or not. */
GST_START_TEST (test_unknown_is_seen)
{
  Overlay *overlay = overlay_new ("alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, 3 * WIDTH,
      3 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  fail_if (has_amber (overlay, half_seen (0, 0), 0), "clear");
  fail_unless (has_amber (overlay, half_seen (40, 0), TICK), "unknown");
  fail_unless (has_amber (overlay, half_seen (60, 0), 2 * TICK), "nothing seen");
  fail_if (has_amber (overlay, half_seen (40, 900), 3 * TICK), "near");
  fail_if (has_amber (overlay, half_seen (0, 900), 4 * TICK), "near, all seen");
  overlay_free (overlay);
}
GST_END_TEST;

/* ---- depth that cannot be relied on ------------------------------------------------------ */

/* A surface nearer than warn-distance, or nothing near, with all that may be wrong with the cameras: near and clear are said
 * only where the depth can be relied on, and the reason is said at once. */
GST_START_TEST (test_unreliable_depth)
{
  Overlay *overlay = new_overlay ("warn-distance=2000 message-interval=3600000000000");
  const GstStereoHealthKind *kind;
  GstClockTime time = 0;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++)
    for (guint near = 0; near < 2; near++) {
      GstBuffer *depth = scene (20, 20, 30, 30, near ? 1000 : 4000);
      gchar *reason = gst_stereo_health_get_reason (kind->right);
      GstStructure *posted;
      gboolean warning;

      pass (overlay, scene (20, 20, 30, 30, near ? 1000 : 4000), time);
      posted = overlay_nearest (overlay);
      fail_unless (!posted || !gst_structure_has_field (posted, "reason"));
      g_clear_pointer (&posted, gst_structure_free);
      gst_buffer_get_stereo_meta (depth)->health = kind->right;
      pass (overlay, depth, time + TICK);
      posted = overlay_nearest (overlay);
      fail_unless ((posted != NULL) == kind->unreliable, "%s", kind->nick);
      if (posted) {
        fail_unless_equals_string (gst_structure_get_string (posted, "state"), "unknown");
        fail_unless_equals_string (gst_structure_get_string (posted, "reason"), reason);
        fail_unless (gst_structure_get_boolean (posted, "warning", &warning) && !warning);
        fail_if (gst_structure_has_field (posted, "distance"));
        gst_structure_free (posted);
      }
      g_free (reason);
      time += 2 * TICK;
    }
  overlay_free (overlay);
}
GST_END_TEST;

/* Another reason is told at once; and the reason of what is not seen is there. */
GST_START_TEST (test_reasons)
{
  Overlay *overlay = new_overlay ("warn-distance=2000 message-interval=3600000000000 max-unknown=0.2");
  static const struct
  {
    GstStereoHealthFlags health;
    gint unseen; /* columns */
    const gchar *reason;
  } frames[] = { { GST_STEREO_HEALTH_OK, 40, "50 % of the region is seen" },
    { GST_STEREO_HEALTH_BLACK_LEFT, 0, "left camera black" },
    { GST_STEREO_HEALTH_BLACK_LEFT | GST_STEREO_HEALTH_BLACK_RIGHT, 0, "both cameras black" },
    { GST_STEREO_HEALTH_ROWS | GST_STEREO_HEALTH_DARK_RIGHT, 0, "right camera dark, rows of the views do not fit" } };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 5000);
    GstStructure *posted;

    if (frames[i].unseen)
      fill_depth (depth, 0, 0, frames[i].unseen, HEIGHT, 0);
    gst_buffer_get_stereo_meta (depth)->health = frames[i].health;
    pass (overlay, depth, i * TICK);
    posted = overlay_nearest (overlay);
    fail_unless (posted != NULL, "frame %u", i);
    fail_unless_equals_string (gst_structure_get_string (posted, "reason"), frames[i].reason);
    gst_structure_free (posted);
  }
  overlay_free (overlay);
}
GST_END_TEST;

/* In the picture too, although nothing near is seen. */
GST_START_TEST (test_unreliable_depth_is_seen)
{
  Overlay *overlay = overlay_new ("alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, 3 * WIDTH,
      3 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  GstBuffer *depth = half_seen (0, 0);

  fail_if (has_amber (overlay, half_seen (0, 0), 0), "clear");
  gst_buffer_get_stereo_meta (depth)->health = GST_STEREO_HEALTH_FROZEN_RIGHT;
  fail_unless (has_amber (overlay, depth, TICK), "frozen");
  overlay_free (overlay);
}
GST_END_TEST;

static Suite *
overlay_nearest_suite (void)
{
  Suite *suite = suite_create ("overlay_nearest");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_lone_pixels_do_not_matter);
  tcase_add_test (tcase, test_place_is_where_most_are);
  tcase_add_test (tcase, test_region);
  tcase_add_test (tcase, test_unsure_pixels_do_not_count);
  tcase_add_test (tcase, test_place_in_another_size);
  tcase_add_test (tcase, test_disparity_is_nearer_when_larger);
  tcase_add_test (tcase, test_nothing_to_measure);
  tcase_add_test (tcase, test_fields_of_the_frame);
  tcase_add_test (tcase, test_warning_below_the_distance);
  tcase_add_test (tcase, test_message_interval);
  tcase_add_test (tcase, test_warning_is_seen);
  tcase_add_test (tcase, test_state);
  tcase_add_test (tcase, test_coverage_and_support);
  tcase_add_test (tcase, test_excluded_pixels);
  tcase_add_test (tcase, test_percentile_of_all_pixels);
  tcase_add_test (tcase, test_mask_of_another_size);
  tcase_add_test (tcase, test_speckles_are_no_surface);
  tcase_add_test (tcase, test_state_without_distances);
  tcase_add_test (tcase, test_state_is_posted_at_once);
  tcase_add_test (tcase, test_unknown_is_seen);
  tcase_add_test (tcase, test_unreliable_depth);
  tcase_add_test (tcase, test_reasons);
  tcase_add_test (tcase, test_unreliable_depth_is_seen);
  return suite;
}

GST_CHECK_MAIN (overlay_nearest)
