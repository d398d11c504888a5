/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/properties.h"

#include <gst/base/gstbasesrc.h>

/* ---- enumerations ----------------------------------------------------------------------- */

static const GEnumValue patterns[] = {
  { GST_STEREO_PATTERN_PLANES, "Textured slanted planes with a disc moving in front of them", "planes" },
  { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving in front of a wall, disparities are whole pixels",
      "random-dots" },
  { GST_STEREO_PATTERN_STRIPES, "Vertical stripes 8 pixels apart: a square in front of a wall, ambiguous for a matcher",
      "stripes" },
  { GST_STEREO_PATTERN_FLAT, "The planes without texture: nothing to match", "flat" },
  { GST_STEREO_PATTERN_ROAD,
      "A road with a known ground, seen from camera-height, and on it a ramp, a kerb and an obstacle where they are "
      "asked for",
      "road" },
  { 0, NULL, NULL },
};

static const GEnumValue faults[] = {
  { GST_STEREO_TEST_FAULT_NONE, "Nothing is wrong", "none" },
  { GST_STEREO_TEST_FAULT_FROZEN, "The view stays at the first frame, to the bit, noise included", "frozen" },
  { GST_STEREO_TEST_FAULT_BLACK, "No light reaches the sensor; its noise remains", "black" },
  { GST_STEREO_TEST_FAULT_BLOWN_OUT, "Eight times the exposure: nearly all of the view is white", "blown-out" },
  { GST_STEREO_TEST_FAULT_DARK, "A quarter of the exposure", "dark" },
  { GST_STEREO_TEST_FAULT_BLURRED, "Out of focus: each pixel is a mean over about a thirtieth of the width", "blurred" },
  { GST_STEREO_TEST_FAULT_COVERED, "Something dark and without texture lies before the lens", "covered" },
  { GST_STEREO_TEST_FAULT_SAME_VIEW, "The view shows what the other camera sees; both views: they are exchanged",
      "same-view" },
  { GST_STEREO_TEST_FAULT_LATE, "The view is one frame late", "late" },
  { GST_STEREO_TEST_FAULT_TORN, "The lower half of the view is one frame late", "torn" },
  { GST_STEREO_TEST_FAULT_HALF_FROZEN, "The lower half of the view stays at the first frame, to the bit", "half-frozen" },
  { GST_STEREO_TEST_FAULT_ZOOMED, "A lens with a focal length that is 2 % longer", "zoomed" },
  { GST_STEREO_TEST_FAULT_STILL_PATTERN,
      "Three quarters of the light come from a pattern that stands still: on both lenses at the same place, "
      "with fault-view=both",
      "still-pattern" },
  { 0, NULL, NULL },
};

static const GEnumValue fault_views[] = {
  { GST_STEREO_TEST_FAULT_VIEW_LEFT, "The left view", "left" },
  { GST_STEREO_TEST_FAULT_VIEW_RIGHT, "The right view", "right" },
  { GST_STEREO_TEST_FAULT_VIEW_BOTH, "Both views", "both" },
  { 0, NULL, NULL },
};

const gchar *
gst_stereo_test_pattern_name (GstStereoPattern pattern)
{
  return gst_stereo_choice_name (patterns, (gint) pattern);
}

const gchar *
gst_stereo_test_fault_name (GstStereoTestFault fault)
{
  return gst_stereo_choice_name (faults, (gint) fault);
}

/* ---- the table -------------------------------------------------------------------------- */

/* The base class has the value. */
static void
set_is_live (GstElement *element, gpointer settings, const GValue *value)
{
  gst_base_src_set_live (GST_BASE_SRC (element), g_value_get_boolean (value));
}

static void
get_is_live (GstElement *element, gpointer settings, GValue *value)
{
  g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (element)));
}

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_CONTROLLED, \
  .offset = G_STRUCT_OFFSET (GstStereoTestSettings, member)
#define RANGE(min_, max_, initial_) .min = min_, .max = max_, .initial = initial_

const GstStereoProperty gst_stereo_test_properties[] = {
  { .name = "is-live",
      .kind = GST_STEREO_BOOLEAN,
      .flags = G_PARAM_READWRITE,
      .set = set_is_live,
      .get = get_is_live,
      .blurb = "Send each frame when its time has come, as a camera does; a live source cannot seek" },
  { ROW ("pattern", ENUM, scene.pattern), .type = "GstStereoTestPattern", .choices = patterns,
      .initial = GST_STEREO_PATTERN_PLANES, .blurb = "The scene to show" },
  { ROW ("seed", UINT, scene.seed), .blurb = "Seed of textures and noise: the same seed gives the same pictures" },
  { ROW ("max-disparity", INT, scene.max_disparity), RANGE (0, GST_STEREO_SCENE_MAX_DISPARITY, 0),
      .blurb = "Largest disparity of the scene in pixels, at most half the width of a view; 0 = a tenth of that width, "
               "at most 120, or with pattern=road more where its ground or its obstacle is nearer than that" },
  { ROW ("motion", DOUBLE, scene.motion), RANGE (-1000, 1000, 2),
      .blurb = "Pixels that the foreground moves to the right per frame (it turns back at the sides); 0 = it does not "
               "move. Without effect on pattern=road" },
  { ROW ("noise", DOUBLE, scene.noise), RANGE (0, 64, 1),
      .blurb = "Noise of the sensors: its standard deviation at mid grey, in grey levels, different in each view and "
               "frame. Half of the variance is the same at all levels, the other half is shot noise and grows with the "
               "level; 0 = no noise" },
  { ROW ("vertical-offset", DOUBLE, rig.vertical_offset),
      RANGE (-GST_STEREO_RIG_MAX_OFFSET, GST_STEREO_RIG_MAX_OFFSET, 0),
      .blurb = "Pixels by which a point lies lower in the right view than in the left one; fractions too" },
  { ROW ("roll", DOUBLE, rig.roll), RANGE (-GST_STEREO_RIG_MAX_ROLL, GST_STEREO_RIG_MAX_ROLL, 0),
      .blurb = "Degrees by which the right view is turned clockwise, about its middle; the true disparity stays that "
               "of the scene" },
  { ROW ("right-gain", DOUBLE, rig.right_gain), RANGE (0, GST_STEREO_RIG_MAX_GAIN, 1),
      .blurb = "Exposure of the right view: what its grey levels are multiplied with, before noise" },
  { ROW ("fault", ENUM, rig.fault), .type = "GstStereoTestFault", .choices = faults,
      .initial = GST_STEREO_TEST_FAULT_NONE,
      .blurb = "What is wrong with a camera; the true disparity stays that of the scene" },
  { ROW ("fault-view", ENUM, rig.fault_view), .type = "GstStereoTestFaultView", .choices = fault_views,
      .initial = GST_STEREO_TEST_FAULT_VIEW_RIGHT, .blurb = "Which view has the fault" },
  { ROW ("timestamp-offset", INT64, timestamp_offset),
      .blurb = "Nanoseconds to add to the timestamps; no timestamp goes below 0" },
  { ROW ("camera-height", DOUBLE, scene.road.camera_height), RANGE (200, 20000, 1650),
      .blurb = "pattern=road: height of the camera above the ground, in millimetres" },
  { ROW ("camera-pitch", DOUBLE, scene.road.camera_pitch), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera looks down, in degrees: above 0, the horizon lies above the "
               "middle of the picture" },
  { ROW ("camera-roll", DOUBLE, scene.road.camera_roll), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera is turned about its optical axis, in degrees: above 0, it is "
               "turned clockwise as seen from behind it, its right side is lower, and the horizon rises to the right" },
  { ROW ("obstacle-height", DOUBLE, scene.road.obstacle_height), RANGE (0, 10000, 0),
      .blurb = "pattern=road: height of an obstacle, in millimetres: a board, parallel to the picture, that stands on "
               "the ground; 0 = there is none" },
  { ROW ("obstacle-width", DOUBLE, scene.road.obstacle_width), RANGE (10, 20000, 600),
      .blurb = "pattern=road: width of the obstacle, in millimetres" },
  { ROW ("obstacle-distance", DOUBLE, scene.road.obstacle_distance), RANGE (300, 79000, 10000),
      .blurb = "pattern=road: distance of the obstacle in frame 0, along the optical axis, in millimetres; its "
               "disparity is at most max-disparity" },
  { ROW ("obstacle-lateral", DOUBLE, scene.road.obstacle_lateral), RANGE (-40000, 40000, 0),
      .blurb = "pattern=road: how far the middle of the obstacle is to the right of the optical axis, in millimetres" },
  { ROW ("obstacle-approach", DOUBLE, scene.road.obstacle_approach), RANGE (0, 10000, 0),
      .blurb = "pattern=road: millimetres that the obstacle comes nearer per frame, until its disparity is "
               "max-disparity; 0 = it stands still" },
  { ROW ("ramp-slope", DOUBLE, scene.road.ramp_slope), RANGE (0, 45, 0),
      .blurb = "pattern=road: slope of a ramp that rises out of the ground, in degrees; 0 = there is none" },
  { ROW ("ramp-distance", DOUBLE, scene.road.ramp_distance), RANGE (500, 79000, 15000),
      .blurb = "pattern=road: where the ramp begins: distance along the ground from the point below the camera, "
               "in millimetres" },
  { ROW ("kerb-height", DOUBLE, scene.road.kerb_height), RANGE (0, 1000, 0),
      .blurb = "pattern=road: how much higher the ground is on the right of a kerb, in millimetres, at least 200 less "
               "than camera-height; 0 = there is none" },
  { ROW ("kerb-distance", DOUBLE, scene.road.kerb_distance), RANGE (200, 20000, 2500),
      .blurb = "pattern=road: how far the kerb is to the right of the camera, along the ground, in millimetres; it has "
               "a vertical face" },
  { .name = NULL },
};
