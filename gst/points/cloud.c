/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PLY: "The PLY Polygon File Format" (Turk, 1994). PCD: version 0.7 of the Point Cloud Library's format, whose "rgb" is
 * 0x00RRGGBB in the bits of a float.
 */
#include "gst/points/cloud.h"

#include <string.h>

#include "gst/meta/rays.h"

#define HEADER 512 /* bytes, more than any header has */
#define CHUNK 256  /* points at a time: their results fit into the first cache */
#define POSITION (3 * sizeof (gfloat))

/* Points of a row, before they are written. */
typedef struct
{
  guint16 samples[CHUNK];
  gfloat depths[CHUNK]; /* not-a-number: no point */
  gfloat across[CHUNK]; /* X at a depth of 1 */
} Chunk;

/* What all rows share. */
typedef struct
{
  const GstStereoPointsView *view;
  GstStereoRays rays;
  guint step, columns, rows; /* of the cloud */
  gfloat near, far;
  guint8 least; /* confidence */
  gboolean pcd, organized;
  gsize bytes;            /* of a point */
  gsize *color_of_column; /* offset in a row of the live view; NULL: no colour */
} Cloud;

static gsize
bytes_of_point (const GstStereoPointsSettings *settings, gboolean color)
{
  return POSITION + (!color ? 0 : settings->format == GST_STEREO_POINTS_PCD ? 4 : 3);
}

static guint
count_of (guint size, gint step)
{
  return (size + (guint) step - 1) / (guint) step;
}

gsize
gst_stereo_points_room (guint width, guint height, const GstStereoPointsSettings *settings, gboolean color)
{
  gsize points = (gsize) count_of (width, settings->step) * count_of (height, settings->step);

  /* one point more: a point is written before it is known whether it counts */
  return HEADER + (points + 2) * bytes_of_point (settings, color);
}

/* ---- samples to depths ------------------------------------------------------------------- */

static void
take_samples (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const guint8 *row = cloud->view->depth->samples + (gssize) y * cloud->view->depth->stride;

  if (!cloud->view->depth->wide)
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = row[(gsize) (first + i) * cloud->step];
  else if (cloud->step == 1)
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = GST_READ_UINT16_LE (row + 2 * (gsize) (first + i));
  else
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = GST_READ_UINT16_LE (row + 2 * (gsize) (first + i) * cloud->step);
}

static void
drop_unsure (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const guint8 *row = cloud->view->depth->confidence + (gssize) y * cloud->view->depth->confidence_stride;

  for (guint i = 0; i < count; i++)
    chunk->depths[i] = row[(gsize) (first + i) * cloud->step] >= cloud->least ? chunk->depths[i] : (gfloat) NAN;
}

static void
fill_chunk (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const gdouble across = cloud->rays.across * cloud->step;
  const gdouble start = (first * (gdouble) cloud->step - cloud->rays.center_x) * cloud->rays.across;

  take_samples (cloud, y, first, count, chunk);
  gst_stereo_rays_depths (&cloud->rays, chunk->samples, count, chunk->depths);
  for (guint i = 0; i < count; i++) {
    gfloat depth = chunk->depths[i];
    chunk->depths[i] = depth >= cloud->near && depth <= cloud->far ? depth : (gfloat) NAN;
    chunk->across[i] = (gfloat) (start + i * across);
  }
  if (cloud->least && cloud->view->depth->confidence)
    drop_unsure (cloud, y, first, count, chunk);
}

/* ---- points ------------------------------------------------------------------------------ */

static inline void
put_position (guint8 *to, gfloat x, gfloat y, gfloat z)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  const gfloat position[3] = { x, y, z };
  memcpy (to, position, sizeof position);
#else
  GST_WRITE_FLOAT_LE (to, x);
  GST_WRITE_FLOAT_LE (to + 4, y);
  GST_WRITE_FLOAT_LE (to + 8, z);
#endif
}

/* Red first in PLY, blue first in PCD. */
static inline void
put_color (guint8 *to, gboolean pcd, const GstStereoPointsColor *color, gsize at)
{
  to[0] = pcd ? color->blue[at] : color->red[at];
  to[1] = color->green[at];
  to[2] = pcd ? color->red[at] : color->blue[at];
  if (pcd)
    to[3] = 0;
}

/* Stamped out for each kind of point, so that no pixel asks which it is. */
static inline __attribute__ ((always_inline)) guint8 *
put_points (const Cloud *cloud, const Chunk *chunk, guint count, gfloat down, const gsize *columns, gsize color_row,
    guint8 *to, gboolean pcd, gboolean color)
{
  const gsize bytes = POSITION + (!color ? 0 : pcd ? 4 : 3);
  const gboolean organized = cloud->organized;

  for (guint i = 0; i < count; i++) {
    gfloat z = chunk->depths[i];

    put_position (to, chunk->across[i] * z, down * z, z);
    if (color)
      put_color (to + POSITION, pcd, &cloud->view->color, color_row + columns[i]);
    /* what does not count is overwritten by the next one */
    to += organized || z == z ? bytes : 0;
  }
  return to;
}

static guint8 *
put_row (const Cloud *cloud, guint row, guint8 *to)
{
  const GstStereoPointsColor *color = &cloud->view->color;
  const guint y = row * cloud->step;
  const gfloat down = (gfloat) ((y - cloud->rays.center_y) * cloud->rays.down);
  gsize color_row = 0;
  Chunk chunk;

  if (cloud->color_of_column)
    color_row = (gsize) ((2 * (guint64) y + 1) * color->height / (2 * (guint64) cloud->view->depth->meta->height)) *
        (gsize) color->stride;
  for (guint first = 0; first < cloud->columns; first += CHUNK) {
    guint count = MIN (CHUNK, cloud->columns - first);

    fill_chunk (cloud, y, first, count, &chunk);
    if (!cloud->color_of_column)
      to = put_points (cloud, &chunk, count, down, NULL, 0, to, FALSE, FALSE);
    else if (cloud->pcd)
      to = put_points (cloud, &chunk, count, down, cloud->color_of_column + first, color_row, to, TRUE, TRUE);
    else
      to = put_points (cloud, &chunk, count, down, cloud->color_of_column + first, color_row, to, FALSE, TRUE);
  }
  return to;
}

/* Where in a row of the live view the colour of each column of the cloud is. */
static gsize *
find_columns (const Cloud *cloud)
{
  const GstStereoPointsColor *color = &cloud->view->color;
  gsize *columns = g_new (gsize, cloud->columns);

  for (guint i = 0; i < cloud->columns; i++)
    columns[i] = (gsize) ((2 * (guint64) i * cloud->step + 1) * color->width /
                     (2 * (guint64) cloud->view->depth->meta->width)) *
        (gsize) color->pixel_stride;
  return columns;
}

/* ---- headers ----------------------------------------------------------------------------- */

static gint
ply_header (const Cloud *cloud, guint points, gchar *text)
{
  gchar grid[64] = "";

  if (cloud->organized)
    g_snprintf (grid, sizeof grid, "obj_info num_cols %u\nobj_info num_rows %u\n", cloud->columns, cloud->rows);
  return g_snprintf (text, HEADER,
      "ply\n"
      "format binary_little_endian 1.0\n"
      "comment millimetres, X right, Y down, Z forward\n"
      "%selement vertex %u\n"
      "property float x\n"
      "property float y\n"
      "property float z\n"
      "%send_header\n",
      grid, points, cloud->color_of_column ? "property uchar red\nproperty uchar green\nproperty uchar blue\n" : "");
}

static gint
pcd_header (const Cloud *cloud, guint points, gchar *text)
{
  gboolean color = cloud->color_of_column != NULL;

  return g_snprintf (text, HEADER,
      "# .PCD v0.7 - Point Cloud Data file format: millimetres, X right, Y down, Z forward\n"
      "VERSION 0.7\n"
      "FIELDS x y z%s\n"
      "SIZE 4 4 4%s\n"
      "TYPE F F F%s\n"
      "COUNT 1 1 1%s\n"
      "WIDTH %u\n"
      "HEIGHT %u\n"
      "VIEWPOINT 0 0 0 1 0 0 0\n"
      "POINTS %u\n"
      "DATA binary\n",
      color ? " rgb" : "", color ? " 4" : "", color ? " F" : "", color ? " 1" : "",
      cloud->organized ? cloud->columns : points, cloud->organized ? cloud->rows : 1, points);
}

guint
gst_stereo_points_write (
    const GstStereoPointsView *view, const GstStereoPointsSettings *settings, guint8 *data, gsize *offset, gsize *size)
{
  Cloud cloud = { .view = view,
    .step = (guint) settings->step,
    .columns = count_of (view->depth->meta->width, settings->step),
    .rows = count_of (view->depth->meta->height, settings->step),
    .near = (gfloat) settings->near,
    .far = settings->far > 0 ? (gfloat) settings->far : G_MAXFLOAT,
    .least = (guint8) MAX (0, ceil (settings->min_confidence * 255 - 1e-6)),
    .pcd = settings->format == GST_STEREO_POINTS_PCD,
    .organized = settings->organized,
    .bytes = bytes_of_point (settings, view->color.red != NULL) };
  guint8 *to = data + HEADER;
  gchar text[HEADER];

  if (!gst_stereo_rays_find (view->depth->meta, &cloud.rays))
    return 0;
  cloud.color_of_column = view->color.red ? find_columns (&cloud) : NULL;
  for (guint row = 0; row < cloud.rows; row++)
    to = put_row (&cloud, row, to);
  guint points = (guint) ((gsize) (to - data - HEADER) / cloud.bytes);
  gsize length = (gsize) (cloud.pcd ? pcd_header (&cloud, points, text) : ply_header (&cloud, points, text));
  memcpy (data + HEADER - length, text, length);
  *offset = HEADER - length;
  *size = (gsize) (to - data) - *offset;
  g_free (cloud.color_of_column);
  return points;
}
