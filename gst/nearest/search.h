/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the nearest surface, its distance and its place: pure logic on rows of samples.
 *
 * A pixel may be wrong, and so may many that lie apart. A surface is a set of pixels in which neighbours are connected if
 * their disparities differ by little. The nearest one is found by a threshold that goes from near to far,
 * until as many pixels as asked for, none of them farther than the threshold, are connected. The surface is all that is
 * connected with these, also what is farther. Its place is the mean of its pixels that are not farther than the threshold,
 * in the block of the picture that has the most of them. So it lies neither between two parts of the surface nor at a
 * single pixel. The distance is that of a plane through the surface around the place: a matcher's errors nearly cancel out,
 * and a slope does not.
 *
 * In large regions the search looks at a grid of cells, of up to three by three pixels each.
 */
#ifndef GST_STEREO_NEAREST_SEARCH_H
#define GST_STEREO_NEAREST_SEARCH_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble coverage; /* share that is seen of the region's pixels that are not excluded, 0..1; 0 where all are excluded.
                     * Known also where no surface was found */
  guint sample;
  gint x, y;          /* in the picture */
  gdouble confidence; /* mean of the pixels there, 0..1 */
  guint64 support;    /* pixels of the surface */
} GstStereoNearestFound;

typedef struct _GstStereoNearestFinder GstStereoNearestFinder;

GstStereoNearestFinder *gst_stereo_nearest_finder_new (void);
void gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoNearestFinder, gst_stereo_nearest_finder_free)

/* @percentage: 0..100, of the region's pixels, excluded ones too, that must be connected; a single pixel is the least.
 * FALSE when that many are connected nowhere. */
gboolean gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble percentage, GstStereoNearestFound *nearest);

/* Whether a part of @width x @height pixels of the region, which the last search was for, shows next to nothing: an object of that
 * size may be there. Excluded pixels are not looked for, and samples at the very end of the search range say nothing: what
 * is nearer than the range has the disparities that fit it worst. */
gboolean gst_stereo_nearest_has_hole (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble width, gdouble height);

/* ---- the grid of cells ------------------------------------------------------------------- */

/*
 * A depth picture as a grid of cells: pure logic on rows of samples. The search for surfaces costs less on cells than on
 * pixels.
 *
 * In a large region, every second pixel (third, ...) of every second row is a sample of the grid. A cell has one, 2x2 or 3x3
 * samples. The distance of a cell is that of its nearest, second or third nearest sample. One or two wrong pixels therefore
 * do not change it, and an object that is thinner than the cell is seen where it covers a third of the samples.
 */

#define GST_STEREO_GRID_SIDE 3 /* samples of a cell, across and down, at most */

/* Cells lie row after row, with a frame of unseen cells around the grid. */
typedef struct
{
  gint step;          /* pixels from sample to sample */
  gint side;          /* samples of a cell, across and down */
  gint columns, rows; /* cells, without the frame */
  gint stride;        /* from a cell to the one below */
  gint across, down;  /* samples */
  guint64 needed;     /* samples that a surface must have */
  guint64 seen;       /* samples that are valid and sure enough */
  guint64 counting;   /* samples that are not excluded, seen or not */
  guint16 *ranks;     /* of cells; 0 = not seen */
  guint8 *counts;     /* samples of a cell at about the distance of the cell */
  gsize cells;        /* with the frame */

  /* one row of cells, for each of a cell's samples: their ranks */
  guint16 *planes[GST_STEREO_GRID_SIDE * GST_STEREO_GRID_SIDE];
  guint16 *rows_nearest[GST_STEREO_GRID_SIDE]; /* of a cell's samples: the nearest, second and third */
  gsize room;                                  /* cells that there is memory for */
  gint row_room;
} GstStereoGrid;

void gst_stereo_grid_clear (GstStereoGrid *grid);
/* Sets the sizes for a region. A surface needs @percentage of the region's pixels. */
void gst_stereo_grid_shape (GstStereoGrid *grid, gint width, gint height, gdouble percentage);

/* ---- the object in a box ----------------------------------------------------------------- */

/*
 * Measures the distance of the object in a box: pure logic on rows of samples.
 *
 * Another element has found the object, such as a person or a car, and has drawn the box. The box also has background in
 * it, and something may stand before the object. A pixel in the middle of the box belongs to the object more likely than
 * one at the border, so the weight of a pixel grows with its distance from the border. We take for the object the interval
 * of disparities (or of similar distances) with the largest weight. The object's distance is the median of the interval.
 */

typedef struct
{
  gdouble coverage;   /* share of the box's pixels that count, 0..1; known also where no object was found */
  guint sample;       /* of the median */
  guint near, far;    /* samples of the nearest and the farthest of the middle two thirds */
  gdouble support;    /* share of the pixels that count that belong to the object, 0..1; weighted */
  gdouble confidence; /* mean of its pixels, 0..1 */
} GstStereoBoxObject;

typedef struct _GstStereoBoxObjectFinder GstStereoBoxObjectFinder;

GstStereoBoxObjectFinder *gst_stereo_box_object_finder_new (void);
void gst_stereo_box_object_finder_free (GstStereoBoxObjectFinder *finder);

/* @view: the region is the box, inside the picture. FALSE where too few of its pixels count: less than a twentieth. */
gboolean gst_stereo_box_object_find (
    GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view, GstStereoBoxObject *object);

G_END_DECLS

#endif
