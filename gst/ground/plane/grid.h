/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disparity or depth picture as a grid of samples in pixels of disparity: pure logic on rows of samples. Of large
 * pictures every second pixel (third, ...) of every second row is a sample.
 */
#ifndef GST_STEREO_GROUND_GRID_H
#define GST_STEREO_GROUND_GRID_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

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

G_END_DECLS

#endif
