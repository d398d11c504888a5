/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which samples of a depth picture may lie side by side on one surface: pure arithmetic, no frames.
 *
 * A rank is a sample in the order of nearness: 0 = invalid, and a larger rank is nearer. A matcher errs by fractions of
 * a pixel of disparity, whatever the distance is, and a slanted surface changes its disparity with every pixel. So
 * neighbours lie on one surface where their disparities differ by at most 1 px, and half a pixel more for every pixel
 * between them. Where the disparity of a depth is not known, 6 % of the distance take the place of a pixel.
 */
#ifndef GST_STEREO_REACH_H
#define GST_STEREO_REACH_H

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

#define GST_STEREO_RANKS 65536

/* What the samples that go with a meta mean, and how far apart neighbours are. */
typedef struct
{
  GstStereoOutputKind kind;
  gdouble disparity_scale, min_disparity, focal_length, baseline, principal_offset, depth_unit;
  gint pitch; /* pixels */
} GstStereoReachKey;

typedef struct
{
  GstStereoReachKey key;
  gboolean made;
  guint ranks;                /* with 0: 256 or 65536 */
  gboolean smaller_is_nearer; /* samples are depth */
  /* For each rank, how near it is, in pixels of disparity or what takes their place; it grows with the rank. */
  gfloat nearness[GST_STEREO_RANKS];
  /* For each rank, the smallest that may lie beside it on one surface, */
  guint16 beside[GST_STEREO_RANKS];
  /* and the smallest that is as near: by at most half a pixel of disparity and 1.5 % of the distance farther. */
  guint16 alike[GST_STEREO_RANKS];
  /* and the smallest that may be as near, but for the matcher's errors: by six times that. */
  guint16 around[GST_STEREO_RANKS];
} GstStereoReach;

/* The rank whose nearness is closest to @nearness. */
guint gst_stereo_reach_closest (const GstStereoReach *reach, gdouble nearness);
/* Cheap where neither what samples mean nor @pitch changed. @reach is zeroed before the first call. */
void gst_stereo_reach_make (GstStereoReach *reach, const GstStereoMeta *meta, gint pitch);

static inline guint
gst_stereo_reach_rank (guint sample, gboolean smaller_is_nearer)
{
  return smaller_is_nearer ? -sample & (GST_STEREO_RANKS - 1) : sample;
}

/* The reverse is the same. */
#define gst_stereo_reach_sample gst_stereo_reach_rank

G_END_DECLS

#endif
