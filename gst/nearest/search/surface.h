/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest surface in a grid of cells: which cells it has. Pure logic. */
#ifndef GST_STEREO_SURFACE_H
#define GST_STEREO_SURFACE_H

#include "gst/nearest/search/grid.h"

G_BEGIN_DECLS

typedef struct
{
  guint rank;      /* with the cells of this rank or nearer ones, enough samples are connected */
  guint32 *cells;  /* of the surface: places in the grid */
  guint count;     /* of cells */
  guint64 samples; /* in them */

  /*< private >*/
  guint32 starts[GST_STEREO_RANKS + 1]; /* per rank: first in @order; elsewhere 0 */
  guint32 *order;                       /* cells, the farthest first */
  guint32 *parents;                     /* per cell: of the same set, its own place at the root; NONE = in no set yet */
  guint32 *sums;                        /* per root: samples of the set */
  gsize room;                           /* cells that there is memory for */
} GstStereoSurface;

/* @surface is zeroed before the first call. */
void gst_stereo_surface_clear (GstStereoSurface *surface);
/* FALSE when nowhere as many samples are connected as the grid needs. */
gboolean gst_stereo_surface_find (GstStereoSurface *surface, const GstStereoGrid *grid, const GstStereoRankTable *table);

G_END_DECLS

#endif
