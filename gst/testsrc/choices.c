/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/choices.h"

#include "gst/testsrc/rig.h"

const GEnumValue gst_stereo_test_patterns[] = {
  { GST_STEREO_PATTERN_PLANES, "Textured slanted planes with a disc moving in front of them", "planes" },
  { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving in front of a wall, disparities are whole pixels",
      "random-dots" },
  { GST_STEREO_PATTERN_STRIPES, "Vertical stripes 8 pixels apart: a square in front of a wall, ambiguous for a matcher",
      "stripes" },
  { GST_STEREO_PATTERN_FLAT, "The planes without texture: nothing to match", "flat" },
  { GST_STEREO_PATTERN_ROAD,
      "A road with a known ground, seen from camera-height, and on it a ramp, a kerb, an obstacle and thin things "
      "where they are asked for",
      "road" },
  { 0, NULL, NULL },
};

const GEnumValue gst_stereo_test_faults[] = {
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
      "Three quarters of the light come from a pattern that stands still: on both lenses at the same "
      "place, with fault-view=both",
      "still-pattern" },
  { 0, NULL, NULL },
};

const GEnumValue gst_stereo_test_fault_views[] = {
  { GST_STEREO_TEST_FAULT_VIEW_LEFT, "The left view", "left" },
  { GST_STEREO_TEST_FAULT_VIEW_RIGHT, "The right view", "right" },
  { GST_STEREO_TEST_FAULT_VIEW_BOTH, "Both views", "both" },
  { 0, NULL, NULL },
};
