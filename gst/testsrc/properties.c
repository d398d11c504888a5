/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/properties.h"

#include "gst/testsrc/road_properties.h"
#include "gst/video/ranges.h"

enum
{
  PATTERN,
  SEED,
  MAX_DISPARITY,
  MOTION,
  NOISE,
  VERTICAL_OFFSET,
  ROLL,
  RIGHT_GAIN,
  FAULT,
  FAULT_VIEW,
  TIMESTAMP_OFFSET,
  ROAD /* the first of gst_stereo_road_properties_install() */
};

/* ---- enumerations ----------------------------------------------------------------------- */

GType
gst_stereo_test_pattern_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_PATTERN_PLANES,
                                           "Textured slanted planes with a disc moving in front of them", "planes" },
    { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving in front of a wall, disparities are whole pixels",
        "random-dots" },
    { GST_STEREO_PATTERN_STRIPES,
        "Vertical stripes 8 pixels apart: a square in front of a wall, ambiguous for a matcher", "stripes" },
    { GST_STEREO_PATTERN_FLAT, "The planes without texture: nothing to match", "flat" },
    { GST_STEREO_PATTERN_ROAD,
        "A road with a known ground, seen from camera-height, and on it a ramp, a kerb and an obstacle "
        "where they are asked for",
        "road" },
    { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoTestPattern", values));
  return once;
}

GType
gst_stereo_test_fault_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_TEST_FAULT_NONE, "Nothing is wrong", "none" },
    { GST_STEREO_TEST_FAULT_FROZEN, "The view stays at the first frame, to the bit, noise included", "frozen" },
    { GST_STEREO_TEST_FAULT_BLACK, "No light reaches the sensor; its noise remains", "black" },
    { GST_STEREO_TEST_FAULT_BLOWN_OUT, "Eight times the exposure: nearly all of the view is white", "blown-out" },
    { GST_STEREO_TEST_FAULT_DARK, "A quarter of the exposure", "dark" },
    { GST_STEREO_TEST_FAULT_BLURRED, "Out of focus: each pixel is a mean over about a thirtieth of the width",
        "blurred" },
    { GST_STEREO_TEST_FAULT_COVERED, "Something dark and without texture lies before the lens", "covered" },
    { GST_STEREO_TEST_FAULT_SAME_VIEW, "The view shows what the other camera sees; both views: they are exchanged",
        "same-view" },
    { GST_STEREO_TEST_FAULT_LATE, "The view is one frame late", "late" },
    { GST_STEREO_TEST_FAULT_TORN, "The lower half of the view is one frame late", "torn" },
    { GST_STEREO_TEST_FAULT_HALF_FROZEN, "The lower half of the view stays at the first frame, to the bit",
        "half-frozen" },
    { GST_STEREO_TEST_FAULT_ZOOMED, "A lens with a focal length that is 2 % longer", "zoomed" },
    { GST_STEREO_TEST_FAULT_STILL_PATTERN,
        "Three quarters of the light come from a pattern that stands still: on both lenses at the same "
        "place, with fault-view=both",
        "still-pattern" },
    { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoTestFault", values));
  return once;
}

GType
gst_stereo_test_fault_view_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_TEST_FAULT_VIEW_LEFT, "The left view", "left" },
    { GST_STEREO_TEST_FAULT_VIEW_RIGHT, "The right view", "right" },
    { GST_STEREO_TEST_FAULT_VIEW_BOTH, "Both views", "both" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoTestFaultView", values));
  return once;
}

static const gchar *
name_of (GType type, gint number)
{
  GEnumClass *names = g_type_class_ref (type);
  const GEnumValue *value = g_enum_get_value (names, number);

  g_type_class_unref (names);
  /* the table is static */
  return value ? value->value_nick : "?";
}

const gchar *
gst_stereo_test_pattern_name (GstStereoPattern pattern)
{
  return name_of (GST_TYPE_STEREO_TEST_PATTERN, (gint) pattern);
}

const gchar *
gst_stereo_test_fault_name (GstStereoTestFault fault)
{
  return name_of (GST_TYPE_STEREO_TEST_FAULT, (gint) fault);
}

/* ---- installation ----------------------------------------------------------------------- */

#define LIVE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)

static void
install_of_scene (GObjectClass *klass, guint first)
{
  g_object_class_install_property (klass, first + PATTERN,
      gst_stereo_unchecked_spec (g_param_spec_enum (
          "pattern", "pattern", "The scene to show", GST_TYPE_STEREO_TEST_PATTERN, GST_STEREO_PATTERN_PLANES, LIVE)));
  g_object_class_install_property (klass, first + SEED,
      g_param_spec_uint (
          "seed", "seed", "Seed of textures and noise: the same seed gives the same pictures", 0, G_MAXUINT, 0, LIVE));
  g_object_class_install_property (klass, first + MAX_DISPARITY,
      gst_stereo_unchecked_spec (g_param_spec_int ("max-disparity", "max-disparity",
          "Largest disparity of the scene in pixels, at most half the width of a view; 0 = a tenth of that width, at "
          "most 120, or with pattern=road more where its ground or its obstacle is nearer than that",
          0, GST_STEREO_SCENE_MAX_DISPARITY, 0, LIVE)));
  g_object_class_install_property (klass, first + MOTION,
      gst_stereo_unchecked_spec (g_param_spec_double ("motion", "motion",
          "Pixels that the foreground moves to the right per frame (it turns back at the sides); 0 = it does not move. "
          "Without effect on pattern=road",
          -1000, 1000, 2, LIVE)));
}

static void
install_of_rig (GObjectClass *klass, guint first)
{
  g_object_class_install_property (klass, first + NOISE,
      gst_stereo_unchecked_spec (g_param_spec_double ("noise", "noise",
          "Noise of the sensors: its standard deviation at mid grey, in grey levels, different in each view and frame. "
          "Half of the variance is the same at all levels, the other half is shot noise and grows "
          "with the level; 0 = no noise",
          0, 64, 1, LIVE)));
  g_object_class_install_property (klass, first + VERTICAL_OFFSET,
      gst_stereo_unchecked_spec (g_param_spec_double ("vertical-offset", "vertical-offset",
          "Pixels by which a point lies lower in the right view than in the left one; fractions too",
          -GST_STEREO_RIG_MAX_OFFSET, GST_STEREO_RIG_MAX_OFFSET, 0, LIVE)));
  g_object_class_install_property (klass, first + ROLL,
      gst_stereo_unchecked_spec (g_param_spec_double ("roll", "roll",
          "Degrees by which the right view is turned clockwise, about its middle; the true "
          "disparity stays that of the scene",
          -GST_STEREO_RIG_MAX_ROLL, GST_STEREO_RIG_MAX_ROLL, 0, LIVE)));
  g_object_class_install_property (klass, first + RIGHT_GAIN,
      gst_stereo_unchecked_spec (g_param_spec_double ("right-gain", "right-gain",
          "Exposure of the right view: what its grey levels are multiplied with, before noise", 0,
          GST_STEREO_RIG_MAX_GAIN, 1, LIVE)));
  g_object_class_install_property (klass, first + FAULT,
      gst_stereo_unchecked_spec (g_param_spec_enum ("fault", "fault",
          "What is wrong with a camera; the true disparity stays that of the scene", GST_TYPE_STEREO_TEST_FAULT,
          GST_STEREO_TEST_FAULT_NONE, LIVE)));
  g_object_class_install_property (klass, first + FAULT_VIEW,
      gst_stereo_unchecked_spec (g_param_spec_enum ("fault-view", "fault-view", "Which view has the fault",
          GST_TYPE_STEREO_TEST_FAULT_VIEW, GST_STEREO_TEST_FAULT_VIEW_RIGHT, LIVE)));
}

void
gst_stereo_test_properties_install (GObjectClass *klass, guint first)
{
  install_of_scene (klass, first);
  install_of_rig (klass, first);
  g_object_class_install_property (klass, first + TIMESTAMP_OFFSET,
      gst_stereo_unchecked_spec (g_param_spec_int64 ("timestamp-offset", "timestamp-offset",
          "Nanoseconds to add to the timestamps; no timestamp goes below 0", G_MININT64 / 4, G_MAXINT64 / 4, 0, LIVE)));
  gst_stereo_road_properties_install (klass, first + ROAD, LIVE);
}

/* ---- values ----------------------------------------------------------------------------- */

void
gst_stereo_test_settings_init (GstStereoTestSettings *settings)
{
  *settings = (GstStereoTestSettings){
    .scene = { .pattern = GST_STEREO_PATTERN_PLANES, .motion = 2, .noise = 1 },
    .rig = { .right_gain = 1, .fault_view = GST_STEREO_TEST_FAULT_VIEW_RIGHT },
  };
  gst_stereo_road_properties_init (&settings->scene.road);
}

/* The number that property @id is, of those of the road; NULL: it is another one. */
static gdouble *
road_value (GstStereoRoadParams *road, guint id)
{
  return id >= ROAD ? gst_stereo_road_properties_value (road, id - ROAD) : NULL;
}

gboolean
gst_stereo_test_properties_set (GstStereoTestSettings *settings, guint id, const GValue *value)
{
  gdouble *of_road = road_value (&settings->scene.road, id);

  if (of_road) {
    *of_road = g_value_get_double (value);
    return TRUE;
  }
  switch (id) {
    case PATTERN:
      settings->scene.pattern = g_value_get_enum (value);
      return TRUE;
    case SEED:
      settings->scene.seed = g_value_get_uint (value);
      return TRUE;
    case MAX_DISPARITY:
      settings->scene.max_disparity = g_value_get_int (value);
      return TRUE;
    case MOTION:
      settings->scene.motion = g_value_get_double (value);
      return TRUE;
    case NOISE:
      settings->scene.noise = g_value_get_double (value);
      return TRUE;
    case VERTICAL_OFFSET:
      settings->rig.vertical_offset = g_value_get_double (value);
      return TRUE;
    case ROLL:
      settings->rig.roll = g_value_get_double (value);
      return TRUE;
    case RIGHT_GAIN:
      settings->rig.right_gain = g_value_get_double (value);
      return TRUE;
    case FAULT:
      settings->rig.fault = g_value_get_enum (value);
      return TRUE;
    case FAULT_VIEW:
      settings->rig.fault_view = g_value_get_enum (value);
      return TRUE;
    case TIMESTAMP_OFFSET:
      settings->timestamp_offset = g_value_get_int64 (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_stereo_test_properties_get (const GstStereoTestSettings *settings, guint id, GValue *value)
{
  GstStereoRoadParams road = settings->scene.road;
  const gdouble *of_road = road_value (&road, id);

  if (of_road) {
    g_value_set_double (value, *of_road);
    return TRUE;
  }
  switch (id) {
    case PATTERN:
      g_value_set_enum (value, settings->scene.pattern);
      return TRUE;
    case SEED:
      g_value_set_uint (value, settings->scene.seed);
      return TRUE;
    case MAX_DISPARITY:
      g_value_set_int (value, settings->scene.max_disparity);
      return TRUE;
    case MOTION:
      g_value_set_double (value, settings->scene.motion);
      return TRUE;
    case NOISE:
      g_value_set_double (value, settings->scene.noise);
      return TRUE;
    case VERTICAL_OFFSET:
      g_value_set_double (value, settings->rig.vertical_offset);
      return TRUE;
    case ROLL:
      g_value_set_double (value, settings->rig.roll);
      return TRUE;
    case RIGHT_GAIN:
      g_value_set_double (value, settings->rig.right_gain);
      return TRUE;
    case FAULT:
      g_value_set_enum (value, settings->rig.fault);
      return TRUE;
    case FAULT_VIEW:
      g_value_set_enum (value, settings->rig.fault_view);
      return TRUE;
    case TIMESTAMP_OFFSET:
      g_value_set_int64 (value, settings->timestamp_offset);
      return TRUE;
    default:
      return FALSE;
  }
}
