/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texture of a scene's layers: coefficients of cubic B-splines along x, repeated in all directions. */
#ifndef GST_STEREO_TILE_H
#define GST_STEREO_TILE_H

#include "gst/testsrc/scene_params.h"

G_BEGIN_DECLS

#define GST_STEREO_TILE_HEIGHT 512
#define GST_STEREO_TILE_PHASES 256 /* places within a pixel where it can be looked up */
#define GST_STEREO_TILE_WEIGHT_BITS 14

typedef struct
{
  gint width; /* a power of 2 */
  gsize pitch;
  guint8 *data;                              /* rows continue for three more pixels */
  gint16 weights[GST_STEREO_TILE_PHASES][4]; /* of a pixel and the next three pixels; their sum is 1 << WEIGHT_BITS */
} GstStereoTile;

/* The tile is at least @width pixels wide, or so wide that no disparity is as large as its period. */
GstStereoTile *gst_stereo_tile_new (GstStereoPattern pattern, guint seed, gint width);
void gst_stereo_tile_free (GstStereoTile *tile);

/* Every bit of the result depends on every bit of the arguments. */
guint32 gst_stereo_mix (guint32 a, guint32 b);

G_END_DECLS

#endif
