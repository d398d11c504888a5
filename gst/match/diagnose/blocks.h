/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the rows of both views: whether all that has texture lies at disparity 0.
 *
 * The rows that are read of a view are cut into blocks. Where a block of the right view is one of the left view at the same place, but for
 * exposure, its disparity is that of a single step of Lucas and Kanade: the part of the difference that follows the slope.
 * Two cameras see some surface at another disparity. If nearly every block with texture lies at 0, within a tenth of a pixel,
 * both views come from one camera, or from a pattern that both lenses have before them. Of one camera, nothing remains but
 * noise when one view is taken from the other; where there is a pattern, two scenes do, which have texture.
 *
 * A pattern that covers a part of the view is found by what moves: the blocks that change, and whose texture is
 * nevertheless that of the other view, now and three measurements ago.
 */
#ifndef GST_STEREO_BLOCKS_H
#define GST_STEREO_BLOCKS_H

#include "gst/match/diagnose/view_figures.h"

G_BEGIN_DECLS

typedef struct
{
  guint textured, zero; /* blocks with texture; of them, those at disparity 0 */
  gdouble rest; /* of the blocks at 0: what has texture when one view is taken from the other, share of the variance */
  guint moving, still; /* blocks that change; of them, those whose texture is what the other view had before */
} GstStereoBlockFigures;

/* After both views were read. */
void gst_stereo_blocks_compare (const GstStereoViewReader *const readers[2], gint width, GstStereoBlockFigures *figures);

G_END_DECLS

#endif
