/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/tile.h"

#include <string.h>

#define MAX_WIDTH 2048 /* more than any disparity: a matcher never finds the next period of the texture */

G_STATIC_ASSERT (MAX_WIDTH > GST_STEREO_SCENE_MAX_DISPARITY);

guint32
gst_stereo_mix (guint32 a, guint32 b)
{
  guint32 h = a * 0x9E3779B1u ^ (b + 0x7F4A7C15u);

  h = (h ^ h >> 16) * 0x7FEB352Du;
  h = (h ^ h >> 15) * 0x846CA68Bu;
  return h ^ h >> 16;
}

static void
make_weights (GstStereoTile *tile)
{
  const gint n = GST_STEREO_TILE_PHASES, unit = 6 << (24 - GST_STEREO_TILE_WEIGHT_BITS);

  for (gint p = 0; p < n; p++) {
    gint q = n - p;
    gint16 *weight = tile->weights[p];

    weight[0] = (gint16) ((q * q * q + unit / 2) / unit);
    weight[2] = (gint16) ((-3 * p * p * p + 3 * p * p * n + 3 * p * n * n + n * n * n + unit / 2) / unit);
    weight[3] = (gint16) ((p * p * p + unit / 2) / unit);
    weight[1] = (gint16) ((1 << GST_STEREO_TILE_WEIGHT_BITS) - weight[0] - weight[2] - weight[3]);
  }
}

/* Adds noise of one scale to a row: values at every @cell pixels, linear between. */
static void
add_octave (const GstStereoTile *tile, guint seed, gint y, gint shift, gint amplitude, gint *row)
{
  guint32 key = gst_stereo_mix (seed, (guint32) shift);
  gint cells = tile->width >> shift, rows = GST_STEREO_TILE_HEIGHT >> shift, cell = 1 << shift;
  guint32 upper = gst_stereo_mix (key, (guint32) (y >> shift));
  guint32 lower = gst_stereo_mix (key, (guint32) (((y >> shift) + 1) % rows));
  gint below = y & (cell - 1), last = 0;

  for (gint i = 0; i <= cells; i++) {
    guint32 column = (guint32) (i % cells);
    gint value = ((gint) (gst_stereo_mix (upper, column) & 255) - 128) * (cell - below) +
        ((gint) (gst_stereo_mix (lower, column) & 255) - 128) * below;
    for (gint x = 0; i > 0 && x < cell; x++)
      row[((i - 1) << shift) + x] += (last * (cell - x) + value * x) * amplitude / (cell * cell);
    last = value;
  }
}

/* Detail of 2 to 32 pixels: coarse enough to be interpolated between pixels. */
static void
noise_row (const GstStereoTile *tile, guint seed, gint y, gint *row)
{
  static const gint octaves[][2] = { { 1, 150 }, { 2, 100 }, { 3, 64 }, { 5, 64 } };

  for (gint x = 0; x < tile->width; x++)
    row[x] = 128 * 256;
  for (guint i = 0; i < G_N_ELEMENTS (octaves); i++)
    add_octave (tile, seed, y, octaves[i][0], octaves[i][1], row);
}

static void
pattern_row (const GstStereoTile *tile, GstStereoPattern pattern, guint seed, gint y, gint *row)
{
  guint32 key = gst_stereo_mix (gst_stereo_mix (seed, 77), (guint32) (y / 2));
  gint phase = (gint) (gst_stereo_mix (seed, 78) % GST_STEREO_SCENE_STRIPE);

  if (pattern == GST_STEREO_PATTERN_PLANES || pattern == GST_STEREO_PATTERN_ROAD) {
    noise_row (tile, seed, y, row);
    return;
  }
  for (gint x = 0; x < tile->width; x++) {
    gboolean bright = pattern == GST_STEREO_PATTERN_RANDOM_DOTS ?
        gst_stereo_mix (key, (guint32) (x / 2)) & 1 :
        (x + phase) % GST_STEREO_SCENE_STRIPE < GST_STEREO_SCENE_STRIPE / 2;
    row[x] = (pattern == GST_STEREO_PATTERN_FLAT ? 128 : bright ? 212 : 44) * 256;
  }
}

GstStereoTile *
gst_stereo_tile_new (GstStereoPattern pattern, guint seed, gint width)
{
  GstStereoTile *tile = g_new (GstStereoTile, 1);

  tile->width = 64;
  while (tile->width < width && tile->width < MAX_WIDTH)
    tile->width *= 2;
  tile->pitch = (gsize) tile->width + 3;
  tile->data = g_malloc (tile->pitch * GST_STEREO_TILE_HEIGHT);
  make_weights (tile);
  g_autofree gint *row = g_new (gint, tile->width);
  for (gint y = 0; y < GST_STEREO_TILE_HEIGHT; y++) {
    guint8 *to = tile->data + (gsize) y * tile->pitch;
    pattern_row (tile, pattern, seed, y, row);
    for (gint x = 0; x < tile->width; x++)
      to[x] = (guint8) CLAMP (row[x] / 256, 20, 235);
    memcpy (to + tile->width, to, 3);
  }
  return tile;
}

void
gst_stereo_tile_free (GstStereoTile *tile)
{
  if (!tile)
    return;
  g_free (tile->data);
  g_free (tile);
}
