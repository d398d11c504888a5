/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ground in a grid of disparities: pure logic.
 *
 * A road is a plane of disparities, and in the v-disparity picture of Labayrade, Aubert and Tarel ("Real time obstacle
 * detection in stereovision on non flat road geometry through v-disparity representation", IV 2002) a line. Walls,
 * vehicles, noise and holes may cover most of the picture. So lines and planes are drawn through few samples at random,
 * as by Fischler and Bolles (RANSAC, 1981), each is scored by how well it explains the others, as by Torr and Zisserman
 * (MSAC, 2000), and samples clearly below it count against it: no camera sees through the ground. The best ones are
 * refined by reweighted least squares. The draws are the same for every frame: equal frames have equal grounds.
 */
#ifndef GST_STEREO_GROUND_PLANE_H
#define GST_STEREO_GROUND_PLANE_H

#include "gst/ground/plane/camera.h"
#include "gst/ground/plane/grid.h"

G_BEGIN_DECLS

#define GST_STEREO_GROUND_MOST_PITCH 35 /* degrees */
#define GST_STEREO_GROUND_MOST_ROLL 25

typedef struct
{
  gdouble min_height, max_height; /* mm, of the camera above the ground */
} GstStereoGroundLimits;

typedef struct
{
  GstStereoGroundPlane plane;
  GstStereoGroundPose pose;
  gdouble score;     /* the larger the better; to compare planes in one grid */
  gdouble explained; /* of the sure samples below the plane's horizon, the share on the plane */
  gdouble below;     /* samples clearly below the plane, as a share of those on it */
  gdouble rows;      /* share of the picture's rows that show it */
  gdouble quality;   /* 0..1 */
} GstStereoGroundFit;

typedef struct _GstStereoGroundFinder GstStereoGroundFinder;

GstStereoGroundFinder *gst_stereo_ground_finder_new (void);
void gst_stereo_ground_finder_free (GstStereoGroundFinder *finder);

/* Searches the ground in @grid. @last: the ground of the last frame, or NULL. FALSE where there is no ground. */
gboolean gst_stereo_ground_find (GstStereoGroundFinder *finder, const GstStereoGroundGrid *grid,
    const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits, const GstStereoGroundPlane *last,
    GstStereoGroundFit *fit);
/* Judges how well @plane explains the grid that was searched last. FALSE where it is no ground there. */
gboolean gst_stereo_ground_judge (const GstStereoGroundFinder *finder, const GstStereoGroundCamera *camera,
    const GstStereoGroundLimits *limits, const GstStereoGroundPlane *plane, GstStereoGroundFit *fit);

G_END_DECLS

#endif
