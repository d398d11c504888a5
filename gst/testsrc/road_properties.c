/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/road_properties.h"

#include "gst/video/ranges.h"

#define AT(field) G_STRUCT_OFFSET (GstStereoRoadParams, field)

static const struct
{
  const gchar *name, *blurb;
  gdouble least, most, preset;
  gsize at;
} properties[] = {
  { "camera-height", "pattern=road: height of the camera above the ground, in millimetres", 200, 20000, 1650,
      AT (camera_height) },
  { "camera-pitch",
      "pattern=road: angle by which the camera looks down, in degrees: above 0, the horizon lies above "
      "the middle of the picture",
      -20, 20, 0, AT (camera_pitch) },
  { "camera-roll",
      "pattern=road: angle by which the camera is turned about its optical axis, in degrees: above 0, it is turned "
      "clockwise as seen from behind it, its right side is lower, and the horizon rises to the right",
      -20, 20, 0, AT (camera_roll) },
  { "obstacle-height",
      "pattern=road: height of an obstacle, in millimetres: a board, parallel to the picture, that stands on the "
      "ground; 0 = there is none",
      0, 10000, 0, AT (obstacle_height) },
  { "obstacle-width", "pattern=road: width of the obstacle, in millimetres", 10, 20000, 600, AT (obstacle_width) },
  { "obstacle-distance",
      "pattern=road: distance of the obstacle in frame 0, along the optical axis, in millimetres; its disparity is at "
      "most max-disparity",
      300, 79000, 10000, AT (obstacle_distance) },
  { "obstacle-lateral",
      "pattern=road: how far the middle of the obstacle is to the right of the optical axis, in millimetres", -40000,
      40000, 0, AT (obstacle_lateral) },
  { "obstacle-approach",
      "pattern=road: millimetres that the obstacle comes nearer per frame, until its disparity is "
      "max-disparity; 0 = it stands still",
      0, 10000, 0, AT (obstacle_approach) },
  { "ramp-slope", "pattern=road: slope of a ramp that rises out of the ground, in degrees; 0 = there is none", 0, 45, 0,
      AT (ramp_slope) },
  { "ramp-distance",
      "pattern=road: where the ramp begins: distance along the ground from the point below the camera, in millimetres",
      500, 79000, 15000, AT (ramp_distance) },
  { "kerb-height",
      "pattern=road: how much higher the ground is on the right of a kerb, in millimetres, at least 200 less than "
      "camera-height; 0 = there is none",
      0, 1000, 0, AT (kerb_height) },
  { "kerb-distance",
      "pattern=road: how far the kerb is to the right of the camera, along the ground, in "
      "millimetres; it has a vertical face",
      200, 20000, 2500, AT (kerb_distance) },
};

void
gst_stereo_road_properties_init (GstStereoRoadParams *params)
{
  for (guint id = 0; id < G_N_ELEMENTS (properties); id++)
    *gst_stereo_road_properties_value (params, id) = properties[id].preset;
}

void
gst_stereo_road_properties_install (GObjectClass *klass, guint first, GParamFlags flags)
{
  for (guint id = 0; id < G_N_ELEMENTS (properties); id++)
    g_object_class_install_property (klass, first + id,
        gst_stereo_unchecked_spec (g_param_spec_double (properties[id].name, properties[id].name, properties[id].blurb,
            properties[id].least, properties[id].most, properties[id].preset, flags)));
}

gdouble *
gst_stereo_road_properties_value (GstStereoRoadParams *params, guint id)
{
  return id < G_N_ELEMENTS (properties) ? &G_STRUCT_MEMBER (gdouble, params, properties[id].at) : NULL;
}
