/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a synthetic scene shows, and its limits: for scene.h and road.h. */
#ifndef GST_STEREO_SCENE_PARAMS_H
#define GST_STEREO_SCENE_PARAMS_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_PATTERN_PLANES,
  GST_STEREO_PATTERN_RANDOM_DOTS,
  GST_STEREO_PATTERN_STRIPES,
  GST_STEREO_PATTERN_FLAT,
  GST_STEREO_PATTERN_ROAD
} GstStereoPattern;

/* Sides of a view, in pixels, and the largest max_disparity. */
#define GST_STEREO_SCENE_MIN_WIDTH 8
#define GST_STEREO_SCENE_MAX_SIDE 16384
#define GST_STEREO_SCENE_MAX_DISPARITY 1000

/* The cameras: focal length in widths of a view (a field of view of 58 degrees), and millimetres between them. */
#define GST_STEREO_SCENE_FOCAL_LENGTH 0.9
#define GST_STEREO_SCENE_BASELINE 120.0

/* Thin things of `road`, at most, and where they stand, mm. */
#define GST_STEREO_SCENE_THIN_THINGS 32
#define GST_STEREO_SCENE_THIN_NEAREST 5000.0
#define GST_STEREO_SCENE_THIN_FARTHEST 40000.0

/* Layers of the room of `planes` and `flat`, of `road` without thin things, and of any scene, at most. */
#define GST_STEREO_SCENE_ROOM_LAYERS 5
#define GST_STEREO_SCENE_ROAD_LAYERS 6
#define GST_STEREO_SCENE_LAYERS (GST_STEREO_SCENE_ROAD_LAYERS + GST_STEREO_SCENE_THIN_THINGS)
/* Horizontal period of `stripes`, pixels. */
#define GST_STEREO_SCENE_STRIPE 8

/* Parameters of `road`: mm and degrees. road.h has its geometry. */
typedef struct
{
  gdouble camera_height;             /* above the ground */
  gdouble camera_pitch, camera_roll; /* above 0: it looks down, its right side is lower */
  gdouble obstacle_height;           /* 0 = there is none */
  gdouble obstacle_width;
  gdouble obstacle_distance; /* along the optical axis, in frame 0 */
  gdouble obstacle_lateral;  /* of its middle, to the right of the optical axis */
  gdouble obstacle_approach; /* its approach in each frame */
  gdouble ramp_slope;        /* 0 = there is none */
  gdouble ramp_distance;     /* along the ground */
  gdouble kerb_height;       /* 0 = there is none */
  gdouble kerb_distance;     /* along the ground, to the right */
  gint thin_count;           /* 0 = there are none */
  gint thin_width;           /* across each of them, pixels */
  gdouble thin_contrast;     /* 1: of the texture of everything else; 0 = they are plain, dark and bright in turn */
} GstStereoRoadParams;

typedef struct
{
  GstStereoPattern pattern;
  guint seed;
  gint width, height; /* of one view, pixels */
  gint max_disparity; /* largest disparity, pixels; 0 = gst_stereo_scene_own_disparity(), or more if a road needs more */
  gdouble motion;     /* of the foreground, pixels to the right per frame; at the sides it turns back. Not for `road` */
  gdouble noise;      /* standard deviation at mid grey, grey levels; another draw in each view and frame */
  GstStereoRoadParams road;
} GstStereoSceneParams;

/* Every bit of the result depends on every bit of the arguments. */
static inline guint32
gst_stereo_mix (guint32 a, guint32 b)
{
  guint32 h = a * 0x9E3779B1u ^ (b + 0x7F4A7C15u);

  h = (h ^ h >> 16) * 0x7FEB352Du;
  h = (h ^ h >> 15) * 0x846CA68Bu;
  return h ^ h >> 16;
}

G_END_DECLS

#endif
