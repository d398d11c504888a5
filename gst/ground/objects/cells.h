/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The u-disparity picture: how many samples a column has at a disparity, and which of its cells are connected. Pure
 * logic. An upright object fills the cells of its columns at one disparity. Cells that have enough samples, are high
 * enough and touch each other are therefore one object. It is a coarse form of the stixels of Badino, Franke and Pfeiffer
 * ("The Stixel World", DAGM 2009).
 *
 * Objects grow from their nearest cell on, and no deeper than that cell allows: a wall or a hedge along a road is divided
 * into parts.
 */
#ifndef GST_STEREO_GROUND_CELLS_H
#define GST_STEREO_GROUND_CELLS_H

#include <glib.h>

G_BEGIN_DECLS

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

G_END_DECLS

#endif
