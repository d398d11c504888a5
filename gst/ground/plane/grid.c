/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane/grid.h"

#include <math.h>
#include <string.h>

/* Samples of the grid, at most. A box of 0.3 m at 20 m has five by five of them in a picture of 1242x375. */
#define MOST_SAMPLES (1 << 17)
#define VALUES 65536 /* of a sample */

void
gst_stereo_ground_grid_clear (GstStereoGroundGrid *grid)
{
  g_free (grid->disparity);
  g_free (grid->confidence);
  g_free (grid->excluded);
  g_free (grid->table);
  memset (grid, 0, sizeof *grid);
}

/* The disparity of each value of a sample. What is at infinity or beyond has none, and the largest depth says only
 * that it is far. */
static void
make_table (GstStereoGroundGrid *grid, const GstStereoMeta *meta)
{
  gboolean depth = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;
  GstStereoSampleMeaning meaning;

  gst_stereo_sample_meaning_init (&meaning, meta);
  if (grid->table && memcmp (&meaning, &grid->meaning, sizeof meaning) == 0)
    return;
  if (!grid->table)
    grid->table = g_new (gfloat, VALUES);
  grid->meaning = meaning;
  for (guint value = 0; value < VALUES; value++) {
    gdouble shifted = gst_stereo_meta_get_disparity (meta, value) + meta->principal_offset;

    grid->table[value] = shifted > 0 && isfinite (shifted) && !(depth && value == VALUES - 1) ? (gfloat) shifted : 0;
  }
}

static void
shape (GstStereoGroundGrid *grid, gint width, gint height)
{
  if (grid->width == width && grid->height == height)
    return;
  grid->width = width;
  grid->height = height;
  grid->step = 1;
  while (grid->step < MIN (width, height) && (gint64) (width / grid->step) * (height / grid->step) > MOST_SAMPLES)
    grid->step++;
  grid->columns = width / grid->step;
  grid->rows = height / grid->step;
  grid->stride = grid->columns + 2;
  gsize cells = (gsize) grid->stride * (gsize) (grid->rows + 2);
  if (cells > grid->room) {
    grid->disparity = g_renew (gfloat, grid->disparity, cells);
    grid->confidence = g_renew (guint8, grid->confidence, cells);
    grid->excluded = g_renew (guint8, grid->excluded, cells);
    grid->room = cells;
  }
  memset (grid->disparity, 0, cells * sizeof *grid->disparity);
  memset (grid->confidence, 0, cells);
  memset (grid->excluded, FALSE, cells);
}

/* Marks the samples of a row that the mask excludes. */
static void
read_mask (GstStereoGroundGrid *grid, const GstStereoDepthView *view, gint j)
{
  const guint8 *mask = view->mask ? view->mask + (gssize) gst_stereo_ground_grid_pixel (grid, j) * view->mask_stride :
                                    NULL;
  guint8 *excluded = grid->excluded + gst_stereo_ground_grid_at (grid, 0, j);

  for (gint i = 0; i < grid->columns; i++) {
    excluded[i] = mask && !mask[gst_stereo_ground_grid_pixel (grid, i)];
    grid->asked_for += !excluded[i];
  }
}

void
gst_stereo_ground_grid_read (GstStereoGroundGrid *grid, const GstStereoDepthView *view)
{
  make_table (grid, view->meta);
  shape (grid, (gint) view->meta->width, (gint) view->meta->height);
  grid->sure = grid->asked_for = 0;
  for (gint j = 0; j < grid->rows; j++) {
    gssize y = gst_stereo_ground_grid_pixel (grid, j);
    const guint8 *row = view->samples + y * view->stride;
    const guint8 *sureness = view->confidence ? view->confidence + y * view->confidence_stride : NULL;
    gfloat *disparity = grid->disparity + gst_stereo_ground_grid_at (grid, 0, j);
    guint8 *confidence = grid->confidence + gst_stereo_ground_grid_at (grid, 0, j);
    const guint8 *excluded = grid->excluded + gst_stereo_ground_grid_at (grid, 0, j);

    read_mask (grid, view, j);
    for (gint i = 0; i < grid->columns; i++) {
      gsize x = (gsize) gst_stereo_ground_grid_pixel (grid, i);
      guint value = view->wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

      confidence[i] = sureness ? sureness[x] : 255;
      disparity[i] = confidence[i] >= view->min_confidence && !excluded[i] ? grid->table[value] : 0;
      grid->sure += disparity[i] > 0;
    }
  }
}
