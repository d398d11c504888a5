/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands on a known ground, and how far it is free. Pure logic. */
#ifndef GST_STEREO_GROUND_OBJECTS_H
#define GST_STEREO_GROUND_OBJECTS_H

#include "gst/ground/plane.h"

G_BEGIN_DECLS

/* ---- classes of samples ------------------------------------------------------------------ */

/* Classifies the samples of a grid, once the ground is known: pure logic. */

/* A third of the smallest obstacle's height: lower samples cannot be distinguished from the ground. */
#define GST_STEREO_GROUND_LOW (1 / 3.0)
#define GST_STEREO_GROUND_NOISE 1.0f /* px: nor can samples that are nearer than the ground by less */
/* An object may be an obstacle if it has at least this part of the smallest obstacle's height, and is so many pixels of
 * disparity nearer than the ground. Patches of wrong disparities are nearer by less. */
#define GST_STEREO_GROUND_TOP 0.8
#define GST_STEREO_GROUND_OUT 2.7f

typedef enum
{
  GST_STEREO_GROUND_UNSEEN,
  GST_STEREO_GROUND_GROUND,
  GST_STEREO_GROUND_OTHER,    /* below the ground, above every vehicle, or too far away */
  GST_STEREO_GROUND_STANDING, /* may be part of an obstacle */
  GST_STEREO_GROUND_TALL      /* and is as high as an obstacle has to be */
} GstStereoGroundKind;

/* Limits of an obstacle, mm. */
typedef struct
{
  gdouble min_height, max_height; /* above the ground */
  gdouble max_distance;
} GstStereoGroundSizes;

/* The input for one frame. */
typedef struct
{
  const GstStereoGroundGrid *grid;
  GstStereoGroundCamera camera;
  GstStereoGroundPlane plane;
  gdouble camera_height; /* mm */
  GstStereoGroundSizes sizes;
} GstStereoGroundScene;

/* Classes of all samples, in the places of the grid; @classes has as many. */
void gst_stereo_ground_classify (const GstStereoGroundScene *scene, guint8 *classes);

/* The disparity of the ground at a pixel. */
static inline gdouble
gst_stereo_ground_scene_at (const GstStereoGroundScene *scene, gdouble x, gdouble y)
{
  return gst_stereo_ground_plane_at (&scene->camera, &scene->plane, x, y);
}

/* Height above the ground, mm, of a point of disparity @d at a pixel where the ground has the disparity @ground. */
static inline gdouble
gst_stereo_ground_scene_height (const GstStereoGroundScene *scene, gdouble d, gdouble ground)
{
  return scene->camera_height * (1 - ground / d);
}

static inline gdouble
gst_stereo_ground_scene_distance (const GstStereoGroundScene *scene, gdouble d)
{
  return scene->camera.focal * scene->camera.baseline / d;
}

/* The reverse. */
static inline gdouble
gst_stereo_ground_scene_disparity (const GstStereoGroundScene *scene, gdouble distance)
{
  return scene->camera.focal * scene->camera.baseline / distance;
}

/* Pixels that something upright of @height mm is high in the picture, where its disparity is @d. */
static inline gdouble
gst_stereo_ground_scene_rows (const GstStereoGroundScene *scene, gdouble height, gdouble d)
{
  return height * d / scene->camera.baseline * scene->camera.stretch;
}

/* ---- objects in the u-disparity picture -------------------------------------------------- */

/*
 * The u-disparity picture: how many samples a column has at a disparity, and which of its cells are connected. Pure
 * logic. An upright object fills the cells of its columns at one disparity. Cells that have enough samples, are high
 * enough and touch each other are therefore one object. It is a coarse form of the stixels of Badino, Franke and Pfeiffer
 * ("The Stixel World", DAGM 2009).
 *
 * Objects grow from their nearest cell on, and no deeper than that cell allows: a wall or a hedge along a road is divided
 * into parts.
 */

#define GST_STEREO_GROUND_BIN 2 /* columns of samples in one of cells */
#define GST_STEREO_GROUND_GAP 2 /* columns of cells from a cell to the next one of its object, at most */
#define GST_STEREO_GROUND_MOST_LEVELS 256
#define GST_STEREO_GROUND_LARGEST 2048 /* px; all larger disparities are on one level */
#define GST_STEREO_GROUND_NO_OBJECT G_MAXUINT32

typedef struct
{
  guint16 standing, tall; /* samples */
} GstStereoGroundCell;

/* For a level of disparity. */
typedef struct
{
  guint needed;  /* samples that stand in a cell and its two neighbours in disparity */
  guint tall;    /* samples that are tall in these, and those around them up to GST_STEREO_GROUND_GAP columns aside */
  gint farthest; /* level that an object whose nearest cell is here may reach */
} GstStereoGroundRule;

typedef struct
{
  gint columns, levels;
  GstStereoGroundCell *all; /* level after level in a column */
  guint32 *objects;         /* of which object a cell is */
  guint count;              /* of objects */

  /*< private >*/
  guint32 *queue;
  gsize room;
} GstStereoGroundCells;

/* Levels of disparity: a matcher errs by up to a pixel, or by 3 %. */
gint gst_stereo_ground_level_count (void);
gint gst_stereo_ground_level (gdouble disparity);
/* The levels of whole disparities, for gst_stereo_ground_level_in(). */
const guint8 *gst_stereo_ground_levels (void);
/* In its middle. */
gdouble gst_stereo_ground_level_disparity (gint level);

/* @cells is zeroed before the first call. */
void gst_stereo_ground_cells_clear (GstStereoGroundCells *cells);
/* Empties the cells for so many columns of samples. */
void gst_stereo_ground_cells_start (GstStereoGroundCells *cells, gint columns);
/* Numbers the objects, the nearest first. @rules: one for each level. */
void gst_stereo_ground_cells_connect (GstStereoGroundCells *cells, const GstStereoGroundRule *rules);

static inline gint
gst_stereo_ground_level_in (const guint8 *levels, gfloat disparity)
{
  return levels[disparity < GST_STEREO_GROUND_LARGEST ? (gint) disparity : GST_STEREO_GROUND_LARGEST - 1];
}

static inline gsize
gst_stereo_ground_cells_at (const GstStereoGroundCells *cells, gint column, gint level)
{
  return (gsize) (column / GST_STEREO_GROUND_BIN) * (gsize) cells->levels + (gsize) level;
}

/* ---- the size of an object --------------------------------------------------------------- */

/* The size and place of an object from its samples: pure arithmetic. */

/* The value that a share of @part (0..1) of @values is not above. @count is at least 1; the values change places. */
gfloat gst_stereo_ground_quantile (gfloat *values, guint count, gdouble part);

typedef struct
{
  gint x, y, width, height;            /* its box in the picture, px */
  gdouble distance;                    /* of its front, along the optical axis, mm */
  gdouble lateral;                     /* of its middle, to the right, mm */
  gdouble object_width, object_height; /* mm; its height is above the ground */
  gdouble probability;                 /* 0..1 */
} GstStereoObstacle;

/* A sample of an object. */
typedef struct
{
  gint column, row;
} GstStereoGroundSample;

/* FALSE where the object is no obstacle. */
gboolean gst_stereo_ground_measure (
    const GstStereoGroundScene *scene, const GstStereoGroundSample *samples, guint count, GstStereoObstacle *obstacle);

/* ---- obstacles --------------------------------------------------------------------------- */

/*
 * Finds obstacles on the ground in one frame: pure logic.
 *
 * Samples that are nearer than the ground and have neighbours of similar disparity are counted in a u-disparity picture
 * (cells.h). Its connected parts are objects. An object is an obstacle when it reaches the smallest height, and is nearer
 * than the ground by more than the error of a matcher.
 */

typedef struct _GstStereoObstacleFinder GstStereoObstacleFinder;

GstStereoObstacleFinder *gst_stereo_obstacle_finder_new (void);
void gst_stereo_obstacle_finder_free (GstStereoObstacleFinder *finder);

/* Classifies the samples of @scene and finds the obstacles, nearest first. The array belongs to @finder, until the
 * next call. */
const GstStereoObstacle *gst_stereo_obstacle_find (
    GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene, guint *count);
/* The last frame, for each sample of the grid. */
const guint8 *gst_stereo_obstacle_classes (const GstStereoObstacleFinder *finder);
/* In the last frame: the largest disparity at which an obstacle stands in a column of samples; 0 = none does. */
gdouble gst_stereo_obstacle_nearest (const GstStereoObstacleFinder *finder, gint column);

/* ---- free distances ---------------------------------------------------------------------- */

/*
 * Measures the free distance: pure logic. From the bottom of the picture up, each row has to show the ground. Rows that
 * do not show it are skipped only where they are too few to hide the smallest obstacle.
 */

/* Fills @distances (mm, or GST_STEREO_GROUND_UNKNOWN) for @count columns of equal width, from the result of @finder in
 * @scene. */
void gst_stereo_ground_free_distances (
    const GstStereoGroundScene *scene, const GstStereoObstacleFinder *finder, gdouble *distances, guint count);

G_END_DECLS

#endif
