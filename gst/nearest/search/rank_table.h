/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which samples of a depth picture may lie side by side on one surface: pure arithmetic, no frames.
 *
 * A rank is a sample in the order of nearness: 0 = invalid, and a larger rank is nearer. A matcher errs by fractions of
 * a pixel of disparity at every distance, and the disparity of a slanted surface changes with every pixel. Neighbours
 * therefore lie on one surface where their disparities differ by at most 1 px, and half a pixel more for every pixel
 * between them. Where the disparity of a depth is not known, 6 % of the distance stand for a pixel.
 */
#ifndef GST_STEREO_RANK_TABLE_H
#define GST_STEREO_RANK_TABLE_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

#define GST_STEREO_RANKS 65536

typedef struct
{
  gboolean made; /* for samples of this meaning, and for this distance between neighbours, in pixels */
  GstStereoSampleMeaning meaning;
  gint pitch;
  guint ranks;                /* with 0: 256 or 65536 */
  gboolean smaller_is_nearer; /* samples are depth */
  /* nearness of each rank: pixels of disparity, or steps of 6 % of the distance; it grows with the rank */
  gfloat nearness[GST_STEREO_RANKS];
  /* for each rank, the smallest rank that may lie beside it on one surface */
  guint16 beside[GST_STEREO_RANKS];
  /* the smallest rank that counts as equally near: at most half a pixel of disparity and 1.5 % of the distance farther */
  guint16 alike[GST_STEREO_RANKS];
  /* the smallest rank that the matcher's errors may move here from the same surface: six times these limits */
  guint16 around[GST_STEREO_RANKS];
} GstStereoRankTable;

/* The rank whose nearness is closest to @nearness. */
guint gst_stereo_rank_table_closest (const GstStereoRankTable *table, gdouble nearness);
/* Returns at once where neither the meta's values nor @pitch changed. @table is zeroed before the first call. */
void gst_stereo_rank_table_make (GstStereoRankTable *table, const GstStereoMeta *meta, gint pitch);

static inline guint
gst_stereo_sample_rank (guint sample, gboolean smaller_is_nearer)
{
  return smaller_is_nearer ? -sample & (GST_STEREO_RANKS - 1) : sample;
}

/* The same formula turns a rank into its sample. */
#define gst_stereo_rank_sample gst_stereo_sample_rank

G_END_DECLS

#endif
