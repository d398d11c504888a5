/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A depth picture as a grid of cells: pure logic on rows of samples. The search for surfaces costs less on cells than on
 * pixels.
 *
 * In a large region, every second pixel (third, ...) of every second row is a sample of the grid. A cell has one, 2x2 or 3x3
 * samples. The distance of a cell is that of its nearest, second or third nearest sample. One or two wrong pixels therefore
 * do not change it, and an object that is thinner than the cell is seen where it covers a third of the samples.
 */
#ifndef GST_STEREO_GRID_H
#define GST_STEREO_GRID_H

#include "gst/nearest/search/rank_table.h"
#include "gst/video/depth.h"

G_BEGIN_DECLS

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
/* Reads the region into the grid. @table was made for gst_stereo_grid_pitch(). */
void gst_stereo_grid_read (GstStereoGrid *grid, const GstStereoDepthView *view, const GstStereoRankTable *table);

static inline gint
gst_stereo_grid_pitch (const GstStereoGrid *grid)
{
  return grid->step * grid->side;
}

/* The rank of a pixel of @view, 0 where it is not seen or excluded. */
static inline guint
gst_stereo_grid_rank (const GstStereoDepthView *view, gint x, gint y, gboolean smaller_is_nearer)
{
  const guint8 *row = view->samples + (gssize) y * view->stride;
  guint sample = view->wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

  if (view->confidence && view->confidence[(gssize) y * view->confidence_stride + x] < view->min_confidence)
    return 0;
  if (view->mask && !view->mask[(gssize) y * view->mask_stride + x])
    return 0;
  return gst_stereo_sample_rank (sample, smaller_is_nearer);
}

G_END_DECLS

#endif
