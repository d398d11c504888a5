/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/properties.h"

#include <gst/gst.h>

#include "gst/video/properties.h"
#include "gst/video/ranges.h"
#include "stereo/remap.h"

/* Properties that are made from the engine's table of parameters. */
static const gchar *const engine_params[] = { "backend", "cuda-device-id", "threads" };

static void
install_settings (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING,
                    controlled = rw | GST_PARAM_CONTROLLABLE;

  g_object_class_install_property (klass, PROP_CALIBRATION,
      g_param_spec_string ("calibration", "calibration",
          "File with the calibration of the cameras (YAML or XML of OpenCV, or text of KITTI or Middlebury), or two "
          "ROS camera_info files as left,right; must be set",
          NULL, rw));
  g_object_class_install_property (klass, PROP_ALPHA,
      gst_stereo_unchecked_spec (g_param_spec_double ("alpha", "alpha",
          "How much of the raw pictures to show: 0 = only what both of them show (cropped), 1 = all of both (with "
          "black borders); -1 = as P1 and P2 of the calibration say, or 0 where it has none",
          -1, 1, -1, controlled)));
  g_object_class_install_property (klass, PROP_WIDTH,
      gst_stereo_unchecked_spec (g_param_spec_int ("width", "width",
          "Width of a rectified view in pixels; 0 = that of a raw view, or what the calibration says", 0,
          STEREO_REMAP_MAX_SIDE / 2, 0, controlled)));
  g_object_class_install_property (klass, PROP_HEIGHT,
      gst_stereo_unchecked_spec (g_param_spec_int ("height", "height",
          "Height of a rectified view in pixels; 0 = that of a raw view, or what the calibration says", 0,
          STEREO_REMAP_MAX_SIDE / 2, 0, controlled)));
  g_object_class_install_property (klass, PROP_UNIT,
      gst_stereo_unchecked_spec (g_param_spec_double ("unit", "unit",
          "Millimetres per unit of length in the calibration: 1000 for metres, or the side of a chessboard square "
          "where lengths are counted in squares; 0 = default of the format: 1000 for ROS and KITTI, 1 "
          "for OpenCV and Middlebury",
          0, 1e9, 0, controlled)));
  g_object_class_install_property (klass, PROP_SAVE,
      g_param_spec_string ("save", "save",
          "File to write the calibration to, with the rectification in force (R1 R2 P1 P2 Q, millimetres), as YAML of "
          "OpenCV; NULL = none",
          NULL, rw));
  g_object_class_install_property (klass, PROP_AUTO_ALIGN,
      g_param_spec_boolean ("auto-align", "auto-align",
          "Follow a slow vertical offset and roll of the right view against the left one (vibration, heat), and take "
          "it out by other maps: by at most 4 pixels or 1/120 of the height, whichever is more, and in steps of at "
          "most a quarter of a pixel. See stats and the message stereo-align",
          FALSE, rw));
}

static void
install_results (GObjectClass *klass)
{
  const GParamFlags ro = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_ACTIVE_BACKEND,
      g_param_spec_string (
          "active-backend", "active-backend", "Backend in use: cpu or cuda; NULL before the first pair", NULL, ro));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Statistics since the start: pairs rectified, dropped-left and dropped-right (frames without a partner), "
          "late (pairs dropped for QoS), pairing-clock (by which the frames of the last pair were paired: buffer, the "
          "name of the reference caps of their capture timestamps, or none), compute-time (ns, of the last pair) and "
          "compute-time-mean; of auto-align: aligned (whether something is taken out now), align-offset and "
          "align-offset-max (pixels by which a point would lie lower in the right view than in the left one: in the "
          "middle of the picture, and at most, up or down), align-roll (degrees clockwise that the right view is "
          "turned by), align-left-over (pixels that the points are off by in the pairs that go out, root mean square), "
          "align-points (points that agree), align-updates (times that it was changed) and align-time (ns "
          "that the maps took last)",
          GST_TYPE_STRUCTURE, ro));
  g_object_class_install_property (klass, PROP_FOCAL_LENGTH,
      g_param_spec_double ("focal-length", "focal-length",
          "Horizontal focal length of the rectified views in pixels; 0 before the first pair", 0, G_MAXDOUBLE, 0, ro));
  g_object_class_install_property (klass, PROP_BASELINE,
      g_param_spec_double ("baseline", "baseline",
          "Distance between the cameras in millimetres; 0 before the first pair", 0, G_MAXDOUBLE, 0, ro));
  g_object_class_install_property (klass, PROP_PRINCIPAL_OFFSET,
      g_param_spec_double ("principal-offset", "principal-offset",
          "Pixels to add to a disparity before it becomes depth: x of the right principal point minus the left's",
          -G_MAXDOUBLE, G_MAXDOUBLE, 0, ro));
}

void
gst_stereo_rectify_properties_install (GObjectClass *klass)
{
  install_settings (klass);
  install_results (klass);
  for (guint i = 0; i < G_N_ELEMENTS (engine_params); i++)
    g_object_class_install_property (
        klass, PROP_TABLE + i, gst_stereo_props_spec (stereo_param_find (engine_params[i])));
}
