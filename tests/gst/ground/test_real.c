/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stereoground behind stereomatch on the roads of STEREO_DATA, which are not part of the project: the ground is as far
 * below as KITTI's cameras are above it (1.65 m), no obstacle is in the sky, the road ahead is free, parked cars are found.
 */
#include <gst/video/video.h>

#include <math.h>

#include "tests/support/gst/common.h"
#include "tests/support/gst/real.h"
#include "tests/support/gst/suite.h"

#define MOST_MARKS 3

/* What a person sees in a frame, px: a car from side to side, */
typedef struct
{
  guint frame;
  gint left, right;
  gdouble nearer, farther; /* mm */
} Mark;

/* and a strip of road that is free at least so far. */
typedef struct
{
  gint left, right;
  gdouble distance; /* mm; 0 = none */
} Clear;

typedef struct
{
  const gchar *name;
  guint frames; /* in folders; 0: a single pair */
  gint width;
  gdouble focal;
  gboolean skies; /* there are masks of the sky */
  Clear clear;
  Mark marks[MOST_MARKS];
  gdouble step;          /* mm that the car drives from frame to frame; 0 = not known */
  gdouble free_at_first; /* mm: nothing is nearer in the first three frames */
} Road;

static const Road roads[] = {
  { "road", 12, 1226, 707.0912, TRUE, { 560, 620, 20000 },
      { { 4, 765, 980, 6500, 9500 }, { 10, 665, 730, 19000, 28000 } }, 1180, 6500 },
  { "street", 5, 1242, 721.5377, FALSE, { 520, 570, 12000 },
      { { 3, 100, 350, 3500, 6000 }, { 3, 355, 460, 8000, 11500 }, { 3, 715, 820, 10500, 14500 } }, 950, 3500 },
  { "kitti15-000003", 0, 1242, 721.5377, FALSE, { 0, 0, 0 } },
  { "kitti15-000011", 0, 1242, 721.5377, FALSE, { 560, 850, 15000 } },
  { "kitti15-000020", 0, 1242, 721.5377, FALSE, { 0, 0, 0 } },
  { "kitti15-000030", 0, 1242, 721.5377, FALSE, { 0, 0, 0 } },
  { "kitti12-000027", 0, 1242, 721.5377, FALSE, { 340, 480, 20000 } },
  { "kitti12-000138", 0, 1242, 721.5377, FALSE, { 0, 0, 0 } },
};

static gboolean
is_there (const Road *road)
{
  const gchar *folder = g_getenv ("STEREO_DATA");
  g_autofree gchar *path = g_build_filename (folder ? folder : "", road->name, NULL);
  GstElementFactory *factory = gst_element_factory_find ("pngdec");
  gboolean there = folder && factory && g_file_test (path, G_FILE_TEST_IS_DIR);

  if (!there)
    g_print ("%s: left out (STEREO_DATA does not hold it, or there is no pngdec)\n", road->name);
  gst_clear_object (&factory);
  return there;
}

/* Gives a view of a frame to the matcher; a single pair is shown three times: an obstacle has to be seen twice. */
static void
push_view (const Road *road, GstElement *pipeline, const gchar *side, guint frame)
{
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), side);
  g_autofree gchar *name = road->frames ? g_strdup_printf ("%s/%s/%06u.png", road->name, side, frame) :
                                          g_strdup_printf ("%s/%s.png", road->name, side);
  g_autoptr (GstSample) sample = real_picture (name, "GRAY8");
  GstFlowReturn flow;

  fail_unless (sample != NULL, "%s", name);
  g_autoptr (GstBuffer) buffer = gst_buffer_copy (gst_sample_get_buffer (sample));
  GST_BUFFER_PTS (buffer) = frame * GST_SECOND / 10;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 10;
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
  g_object_set (source, "caps", gst_sample_get_caps (sample), NULL);
  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  fail_unless_equals_int (flow, GST_FLOW_OK);
}

static GPtrArray *
messages_of (const Road *road)
{
  g_autoptr (GstElement) pipeline = launch (
      "appsrc name=left format=time ! match.sink_left appsrc name=right format=time ! match.sink_right stereomatch "
      "name=match backend=cpu profile=road fill=none confidence-threshold=0.33 focal-length=%g baseline=537.15 ! "
      "stereoground ! fakesink sync=false",
      road->focal);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint frame = 0; frame < (road->frames ? road->frames : 3); frame++) {
    push_view (road, pipeline, "left", frame);
    push_view (road, pipeline, "right", frame);
  }
  for (guint v = 0; v < 2; v++) {
    g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), v ? "right" : "left");
    GstFlowReturn flow;
    g_signal_emit_by_name (source, "end-of-stream", &flow);
  }
  GPtrArray *reports = messages_to_end (bus, "stereo-obstacles");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return reports;
}

static gint
integer (const GstStructure *one, const gchar *field)
{
  gint value = G_MININT;

  gst_structure_get_int (one, field, &value);
  return value;
}

static guint
obstacles_of (const GstStructure *report)
{
  return gst_value_array_get_size (gst_structure_get_value (report, "obstacles"));
}

static const GstStructure *
obstacle_of (const GstStructure *report, guint i)
{
  return gst_value_get_structure (gst_value_array_get_value (gst_structure_get_value (report, "obstacles"), i));
}

/* ---- what is checked --------------------------------------------------------------------- */

static void
check_ground (const Road *road, guint frame, const GstStructure *report)
{
  gboolean ground = FALSE;

  fail_unless (gst_structure_get_boolean (report, "ground", &ground) && ground, "%s %u: no ground", road->name, frame);
  fail_unless (fabs (found_number (report, "camera-height") / 1650 - 1) < 0.1, "%s %u: %g mm", road->name, frame,
      found_number (report, "camera-height"));
  fail_unless (
      fabs (found_number (report, "pitch")) < 3, "%s %u: pitch %g", road->name, frame, found_number (report, "pitch"));
  fail_unless (
      fabs (found_number (report, "roll")) < 2, "%s %u: roll %g", road->name, frame, found_number (report, "roll"));
}

/* What stands comes nearer by what the car drives, within 5 % of its distance: so do five of six obstacles within 15 m that are wholly
 * in the picture. @fell: how many did, and did not. */
static void
compare_distances (const Road *road, const GstStructure *before, const GstStructure *now, guint fell[2])
{
  for (guint i = 0; i < obstacles_of (now); i++)
    for (guint j = 0; j < obstacles_of (before); j++) {
      const GstStructure *one = obstacle_of (now, i), *other = obstacle_of (before, j);
      gdouble from = found_number (other, "distance"), fall = from - found_number (one, "distance");
      gboolean inside = integer (one, "x") > 8 && integer (one, "x") + integer (one, "width") < road->width - 8;

      if (integer (one, "id") == integer (other, "id") && inside && from < 15000)
        fell[!(fabs (fall - road->step) <= 0.05 * from)]++;
    }
}

/* Nothing stands on the flat lawn beside the road, nor on the road: an obstacle nearer than 6.5 m before frame 3 would. */
static void
check_lawn (const Road *road, guint frame, const GstStructure *report)
{
  for (guint i = 0; i < obstacles_of (report) && road->step > 0 && frame < 3; i++)
    fail_unless (found_number (obstacle_of (report, i), "distance") > road->free_at_first, "%s %u: something at %g mm",
        road->name, frame, found_number (obstacle_of (report, i), "distance"));
}

/* The mask of a frame's sky is 255 where sky surely is. */
static void
check_sky (const Road *road, guint frame, const GstStructure *report)
{
  gchar *name = g_strdup_printf ("%s/sky/%06u.png", road->name, frame);
  GstSample *sample = real_picture (name, "GRAY8");
  GstVideoFrame mask;
  GstVideoInfo info;

  g_free (name);
  if (!sample)
    return;
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless (gst_video_frame_map (&mask, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  for (guint i = 0; i < obstacles_of (report); i++) {
    const GstStructure *one = obstacle_of (report, i);
    gint x = integer (one, "x"), y = integer (one, "y"), width = integer (one, "width"), sky = 0;
    gint height = integer (one, "height");
    gboolean seen = FALSE;

    /* what this frame does not show is where it was before */
    fail_unless (gst_structure_get_boolean (one, "seen", &seen));
    if (!seen)
      continue;
    for (gint row = y; row < y + height; row++)
      for (gint column = x; column < x + width; column++)
        sky += ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
                   &mask, 0))[row * GST_VIDEO_FRAME_PLANE_STRIDE (&mask, 0) + column] == 255;
    fail_unless (2 * sky < width * height, "%s %u: %dx%d at %d,%d is sky", road->name, frame, width, height, x, y);
  }
  gst_video_frame_unmap (&mask);
  gst_sample_unref (sample);
}

static void
check_clear (const Road *road, guint frame, const GstStructure *report)
{
  const GValue *all = gst_structure_get_value (report, "free");
  gint count = (gint) gst_value_array_get_size (all);

  for (gint i = 0; i < count; i++) {
    gdouble distance = g_value_get_double (gst_value_array_get_value (all, (guint) i));

    if (road->width * i / count >= road->clear.left && road->width * (i + 1) / count <= road->clear.right)
      fail_unless (
          distance >= road->clear.distance, "%s %u: column %d is free for %g mm", road->name, frame, i, distance);
  }
}

/* Half of the car's width has to lie in the box, and half of the box on the car. */
static void
check_mark (const Road *road, const Mark *mark, const GstStructure *report)
{
  gboolean found = FALSE;

  for (guint i = 0; i < obstacles_of (report) && !found; i++) {
    const GstStructure *one = obstacle_of (report, i);
    gint left = integer (one, "x"), right = left + integer (one, "width");
    gint both = MIN (right, mark->right) - MAX (left, mark->left);

    found = 2 * both >= mark->right - mark->left && 2 * both >= right - left &&
        found_number (one, "distance") >= mark->nearer && found_number (one, "distance") <= mark->farther;
  }
  fail_unless (found, "%s %u: the car from %d to %d is not found", road->name, mark->frame, mark->left, mark->right);
}

TEST_LOOP (test_road, 0, G_N_ELEMENTS (roads))
{
  const Road *road = &roads[__i__];
  guint obstacles = 0, fell[2] = { 0 };

  if (!is_there (road))
    return;
  g_autoptr (GPtrArray) reports = messages_of (road);
  fail_unless_equals_int (reports->len, road->frames ? road->frames : 3);
  for (guint frame = 0; frame < reports->len; frame++) {
    const GstStructure *one = g_ptr_array_index (reports, frame);

    check_ground (road, frame, one);
    if (road->skies)
      check_sky (road, frame, one);
    check_clear (road, frame, one);
    check_lawn (road, frame, one);
    if (frame > 0 && road->step > 0)
      compare_distances (road, g_ptr_array_index (reports, frame - 1), one, fell);
    for (guint i = 0; i < MOST_MARKS; i++)
      if (road->marks[i].right > 0 && road->marks[i].frame == frame)
        check_mark (road, &road->marks[i], one);
    obstacles += obstacles_of (one);
  }
  fail_unless (fell[0] >= 5 * fell[1], "%s: of %u distances %u do not fall by what is driven", road->name,
      fell[0] + fell[1], fell[1]);
  g_print ("%s: ground in all of %u frames, %u obstacles\n", road->name, reports->len, obstacles);
}

SUITE (ground_real)
{
}
