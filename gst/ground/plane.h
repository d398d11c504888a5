/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ground: a plane in a grid of disparities, frame after frame. Pure logic. */
#ifndef GST_STEREO_GROUND_PLANE_H
#define GST_STEREO_GROUND_PLANE_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

/* ---- the camera above a plane ------------------------------------------------------------ */

/*
 * The ground as a plane of disparities and as the pose of the camera above it: pure arithmetic.
 *
 * A point X = (x right, y down, z forward; mm) of the left camera lies on the ground where n.X = h: n is the unit normal
 * that points down, h the height of the camera. It is seen at (u, v), counted from the principal point, and the
 * disparity D there, with the principal offset, is focal * baseline / X.z. The vertical focal length is focal * stretch. So on
 * the ground
 *
 *   D = focal * baseline / h * (n.x * u / focal + n.y * v / (focal * stretch) + n.z)
 *
 * is linear in u and v. With a camera that looks down by p and whose right side is lower by r,
 * n = (sin r cos p, cos r cos p, sin p): n.x is how much of "right" is down, n.z how much of "forward".
 */

typedef struct
{
  gdouble focal;    /* px */
  gdouble baseline; /* mm */
  gdouble offset;   /* px, from a disparity to D */
  gdouble x, y;     /* the principal point, px */
  gdouble stretch;  /* the vertical focal length, by the horizontal one: 1 where pixels are square */
} GstStereoGroundCamera;

/* D = at + across * (x - camera.x) + down * (y - camera.y), px */
typedef struct
{
  gdouble at, across, down;
} GstStereoGroundPlane;

typedef struct
{
  gdouble height;      /* mm */
  gdouble pitch, roll; /* degrees */
} GstStereoGroundPose;

/* @meta has focal length and baseline. */
GstStereoGroundCamera gst_stereo_ground_camera (const GstStereoMeta *meta);
/* FALSE where @plane is not below the camera. */
gboolean gst_stereo_ground_pose_of (
    const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, GstStereoGroundPose *pose);
GstStereoGroundPlane gst_stereo_ground_plane_of (const GstStereoGroundCamera *camera, const GstStereoGroundPose *pose);

static inline gdouble
gst_stereo_ground_plane_at (const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, gdouble x, gdouble y)
{
  return plane->at + plane->across * (x - camera->x) + plane->down * (y - camera->y);
}

/* ---- the grid ---------------------------------------------------------------------------- */

/*
 * A disparity or depth picture as a grid of samples in pixels of disparity: pure logic on rows of samples. Of large
 * pictures every second pixel (third, ...) of every second row is a sample.
 */

typedef struct
{
  gint width, height; /* of the picture */
  gint step;          /* pixels from sample to sample */
  gint columns, rows; /* of samples */
  gint stride;        /* from a sample to the one below; there is a frame of unseen samples around them */
  gfloat *disparity;  /* with the principal offset, px; 0 = invalid or not sure enough */
  guint8 *confidence;
  guint8 *excluded;  /* by the mask: TRUE or FALSE */
  guint64 asked_for; /* samples that the mask does not exclude */
  guint64 sure;      /* of them, those whose disparity is not 0 */

  /*< private >*/
  gsize room;
  gfloat *table;                  /* disparity of each sample value */
  GstStereoSampleMeaning meaning; /* of the table */
} GstStereoGroundGrid;

/* @grid is zeroed before the first call. */
void gst_stereo_ground_grid_clear (GstStereoGroundGrid *grid);
void gst_stereo_ground_grid_read (GstStereoGroundGrid *grid, const GstStereoDepthView *view);

/* The place of a sample. */
static inline gsize
gst_stereo_ground_grid_at (const GstStereoGroundGrid *grid, gint column, gint row)
{
  return (gsize) (row + 1) * (gsize) grid->stride + (gsize) column + 1;
}

/* The pixel of a sample, across or down. */
static inline gint
gst_stereo_ground_grid_pixel (const GstStereoGroundGrid *grid, gint i)
{
  return i * grid->step + grid->step / 2;
}

/* ---- points and planes ------------------------------------------------------------------- */

/* Some sure samples of a grid, and how far they lie from a plane: pure arithmetic. */

typedef struct
{
  guint count;
  gfloat *u, *v,
      *d; /* pixels from the principal point, and disparity; row after row. One block of memory, which begins at u */
  gfloat *weight; /* 0..1 */
  guint room;
} GstStereoGroundPoints;

/* Memory for @count points. */
void gst_stereo_ground_points_resize (GstStereoGroundPoints *points, guint count);
/* 1 for each point of [@from, @to) on the plane, less the farther it lies from it, and -1 for each below: a plane through
 * a road and the grass beside it has half of the road below. */
gdouble gst_stereo_ground_points_score (
    const GstStereoGroundPoints *points, guint from, guint to, const GstStereoGroundPlane *plane);

/* ---- the ground of a frame --------------------------------------------------------------- */

/*
 * The ground in a grid of disparities: pure logic.
 *
 * A road is a plane of disparities, and in the v-disparity picture of Labayrade, Aubert and Tarel ("Real time obstacle
 * detection in stereovision on non flat road geometry through v-disparity representation", IV 2002) a line. Walls,
 * vehicles, noise and holes may cover most of the picture. So lines and planes are drawn through few samples at random,
 * as by Fischler and Bolles (RANSAC, 1981), each is scored by how well it explains the others, as by Torr and Zisserman
 * (MSAC, 2000), and samples clearly below it count against it: no camera sees through the ground. The best ones are
 * refined by reweighted least squares until they stand still. The draws are the same for every frame: equal frames have
 * equal grounds.
 *
 * From frame to frame, small differences are smoothed, so that noise does not move the ground. A different ground is
 * accepted at once where the last one explains the frame badly, else when it is seen twice.
 */

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
/* Where a stream breaks. */
void gst_stereo_ground_finder_forget (GstStereoGroundFinder *finder);
/* The ground of the next frame. FALSE where it has none. */
gboolean gst_stereo_ground_find (GstStereoGroundFinder *finder, const GstStereoGroundGrid *grid,
    const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits, GstStereoGroundFit *fit);

G_END_DECLS

#endif
