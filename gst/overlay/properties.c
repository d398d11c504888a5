/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/properties.h"

#include "gst/overlay/colormap.h"

#define FARTHEST 1e6 /* mm */

static const GEnumValue nearest_choices[] = {
  { GST_STEREO_NEAREST_SURFACE, "The nearest surface, whatever it is: also the road before the bumper", "surface" },
  { GST_STEREO_NEAREST_OBSTACLE, "What stands on the ground: needs stereoground before sink_depth", "obstacle" },
  { 0, NULL, NULL }
};

#define ROW(name_, kind_, flags_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_##flags_, \
  .offset = G_STRUCT_OFFSET (GstDepthOverlaySettings, member)

const GstStereoProperty gst_depth_overlay_properties[] = {
  { ROW ("alpha", DOUBLE, CONTROLLED, alpha), .max = 1, .initial = 0.5,
      .blurb = "Opacity of the colours: 0 = only the live view, 1 = only depth. Depth alone is opaque" },
  { ROW ("colormap", ENUM, CONTROLLED, colormap), .type = "GstStereoColormap", .choices = gst_stereo_colormap_choices,
      .initial = GST_STEREO_COLORMAP_TURBO, .blurb = "Colour map, from far to near" },
  { ROW ("near", DOUBLE, CONTROLLED, near), .max = FARTHEST,
      .blurb = "Distance in millimetres at and below which pixels get the near end of the colour map; must be below "
               "far; 0 = the nearest distance that the search of stereomatch can find" },
  { ROW ("far", DOUBLE, CONTROLLED, far), .max = FARTHEST,
      .blurb = "Distance in millimetres that gets the far end of the colour map; must be above near; 0 = that of a "
               "disparity of 2 px, or of min-disparity where that is larger. Beyond it the live view stays as it is; "
               "depth alone gets the far end there, too" },
  { ROW ("scale", ENUM, CONTROLLED, curve), .type = "GstStereoCurve", .choices = gst_stereo_curve_choices,
      .initial = GST_STEREO_CURVE_INVERSE,
      .blurb = "How colours are spread over the distances from near to far. Where distances are not known, colours are "
               "even in the disparity" },
  { ROW ("min-confidence", DOUBLE, CONTROLLED, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) show the live view and count as not seen; "
               "0 = use every valid pixel" },
  { ROW ("warn-distance", DOUBLE, CONTROLLED, nearest.warn_distance), .max = FARTHEST,
      .blurb = "The picture and the message warn when the nearest surface is nearer than this, "
               "in millimetres; 0 = never" },
  { ROW ("nearest", ENUM, CONTROLLED, nearest.of), .type = "GstDepthOverlayNearestOf", .choices = nearest_choices,
      .initial = GST_STEREO_NEAREST_SURFACE, .blurb = GST_STEREO_NEAREST_OF_TEXT },
  { ROW ("nearest-percentile", DOUBLE, CONTROLLED, nearest.percentile), .max = 100, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_PERCENTILE_TEXT },
  { ROW ("max-unknown", DOUBLE, CONTROLLED, nearest.max_unknown), .max = 1, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_UNKNOWN_TEXT },
  { ROW ("region", REGION, PLAYING, nearest.region),
      .blurb = GST_STEREO_NEAREST_REGION_TEXT ". With text a thin frame shows it" },
  { ROW ("legend", BOOLEAN, CONTROLLED, legend), .initial = TRUE,
      .blurb = "Draw a legend of the colours and their distances" },
  { ROW ("text", BOOLEAN, CONTROLLED, text), .initial = TRUE,
      .blurb = "Draw the nearest distance, its marker and warnings, and say what is not known" },
  { ROW ("max-age", UINT64, PLAYING, max_age), .initial = 500 * GST_MSECOND,
      .blurb = "Maximum age of the depth, compared with the frame it is shown over, in nanoseconds; 0 = only depth of "
               "the same running time. Where the frame or the depth has no timestamp, the depth ages by the clock" },
  { ROW ("message-interval", UINT64, PLAYING, nearest.message_interval), .initial = 100 * GST_MSECOND,
      .blurb = GST_STEREO_NEAREST_INTERVAL_TEXT },
  { .name = NULL },
};
