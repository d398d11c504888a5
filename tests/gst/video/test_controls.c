/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that a control source drives: each frame is, samples and metadata, what it is with the value set by hand. */
#include <gst/controller/controller.h>

#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#define FRAMES 6
#define CHANGE 3 /* the frame from which on the other value holds */

/* A scene that does not move. */
#define CAPS(size) "video/x-raw,format=GRAY8,framerate=25/1," size
#define SOURCE(size) "stereotestsrc num-buffers=6 motion=0 noise=0 ! " CAPS (size) " ! "
#define SINK " ! fakesink name=o signal-handoffs=true"

typedef struct
{
  guint hash[FRAMES], count;
} Seen;

static guint
hash_of (guint hash, const guint8 *data, gsize size)
{
  for (gsize i = 0; i < size; i++)
    hash = 33 * hash + data[i];
  return hash;
}

static void
see (GstElement *sink, GstBuffer *buffer, GstPad *pad, Seen *seen)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstMapInfo map;

  (void) sink;
  (void) pad;
  fail_unless (seen->count < FRAMES && gst_buffer_map (buffer, &map, GST_MAP_READ));
  guint hash = hash_of (5381, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  if (meta) {
    g_autoptr (GBytes) bytes = gst_stereo_meta_to_bytes (meta);
    hash = hash_of (hash, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  }
  seen->hash[seen->count++] = hash;
}

/* @before == @after: by hand. Of enumerations, the first value is 0 and the last one 1. */
static void
set (GstElement *element, const gchar *name, gdouble before, gdouble after)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);

  if (before == after) {
    gdouble last = G_IS_PARAM_SPEC_ENUM (spec) ? G_PARAM_SPEC_ENUM (spec)->enum_class->n_values - 1 : 1;
    g_autofree gchar *text = g_strdup_printf ("%g", before * last);
    gst_util_set_object_arg (G_OBJECT (element), name, text);
    return;
  }
  GstControlSource *source = gst_interpolation_control_source_new ();
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, before);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), CHANGE * FRAME, after);
  GstControlBinding *binding = G_IS_PARAM_SPEC_ENUM (spec) ?
      gst_direct_control_binding_new (GST_OBJECT (element), name, source) :
      gst_direct_control_binding_new_absolute (GST_OBJECT (element), name, source);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element), binding), "%s cannot be controlled", name);
  gst_object_unref (source);
}

static void
run (const gchar *line, const gchar *name, gdouble before, gdouble after, Seen *seen)
{
  g_autoptr (GstElement) pipeline = launch ("%s", line);

  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "e");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  memset (seen, 0, sizeof *seen);
  set (element, name, before, after);
  g_signal_connect (sink, "handoff", G_CALLBACK (see), seen);
  gchar *text = play_to_end (pipeline);
  fail_unless (text == NULL, "%s", text);
  fail_unless_equals_int (seen->count, FRAMES);
}

static void
check_follows (const gchar *line, const gchar *name, gdouble before, gdouble after)
{
  Seen controlled, by_hand[2];

  run (line, name, before, after, &controlled);
  run (line, name, before, before, &by_hand[0]);
  run (line, name, after, after, &by_hand[1]);
  fail_unless (by_hand[0].hash[0] != by_hand[1].hash[0], "%s changes nothing here", name);
  for (guint i = 0; i < FRAMES; i++)
    fail_unless (controlled.hash[i] == by_hand[i >= CHANGE].hash[i], "%s: frame %u", name, i);
}

/* Whether the build has that element. */
static gboolean
has (const gchar *element)
{
  return gst_registry_check_feature_version (gst_registry_get (), element, 0, 0, 0);
}

TEST (test_source)
{
  check_follows (
      "stereotestsrc name=e num-buffers=6 motion=0 ! " CAPS ("width=128,height=16") SINK, "max-disparity", 6, 10);
}

TEST (test_match)
{
  const gchar *line = SOURCE (
      "width=128,height=16") "stereomatch name=e window=5 refine-iterations=0 backend=cpu threads=1" SINK;

  check_follows (line, "num-disparities", 8, 24);
  check_follows (line, "disparity-scale", 16, 32);
}

TEST_LOOP (test_overlay, 0, has ("depthoverlay"))
{
  static const struct
  {
    const gchar *name;
    gdouble before, after;
  } cases[] = { { "scale", 0, 1 }, { "colormap", 0, 1 }, { "far", 2000, 9000 }, { "legend", 0, 1 }, { "text", 0, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_follows (
        SOURCE ("width=640,height=240") "stereomatch method=bm backend=cpu threads=1 num-disparities=16 ! e.sink_depth "
                                        "depthoverlay name=e ! video/x-raw,format=RGB" SINK,
        cases[i].name, cases[i].before, cases[i].after);
}

TEST_LOOP (test_rectify, 0, has ("stereorectify"))
{
  static const struct
  {
    const gchar *name;
    gdouble before, after;
  } cases[] = { { "unit", 1, 25 }, { "width", 64, 72 }, { "height", 48, 56 }, { "alpha", 0, 1 } };
  Cameras cameras = cameras_straight (80, 60);

  /* both views turned, so that alpha has something to cut off */
  cameras.turn[0] = 0.05;
  cameras.turn[1] = -0.05;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *properties = with_calibration (calibration, "threads=1");
  g_autofree gchar *line = g_strconcat (SOURCE ("width=160,height=60") "stereorectify name=e ", properties, SINK, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_follows (line, cases[i].name, cases[i].before, cases[i].after);
}

SUITE (controls)
{
  tcase_set_timeout (tcase, 60);
}
