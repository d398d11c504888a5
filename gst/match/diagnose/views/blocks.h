/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the rows of both views, to find views whose texture lies at disparity 0 everywhere.
 *
 * The rows of a view are cut into blocks. Where two blocks at the same place are equal but for exposure, one step of
 * Lucas and Kanade gives their disparity. Two cameras see at least some surfaces at other disparities. If nearly every
 * block with texture lies at 0, within a tenth of a pixel, both views come from one camera, or show a pattern on both
 * lenses. The difference of the views tells these cases apart: with one camera it is noise, and with a pattern it has the
 * texture of two scenes.
 *
 * A pattern on a part of the view is found by moving blocks: what has changed in them nevertheless has the texture that it had some
 * measurements ago, and that the other view has. What lies far away looks the same in both views too, but does not change.
 * Where nothing moves, a pattern before the scene makes two layers: a part of the texture lies at 0, the rest does not.
 *
 * An encoder that rounds coarsely does both, too: what is left of a block of 8x8 pixels is much the same in both views, at the same
 * place. Such an encoder leaves steps between these blocks.
 */
#ifndef GST_STEREO_BLOCKS_H
#define GST_STEREO_BLOCKS_H

#include "gst/match/diagnose/views/view_figures.h"

G_BEGIN_DECLS

typedef struct
{
  guint textured, zero; /* blocks with texture; those of them at disparity 0 */
  gdouble rest; /* of the blocks at 0: share of the variance that the texture of the difference of the views has */
  guint moving, still; /* blocks that change; those of them whose texture is that of before, and of the other view */
  guint layered; /* blocks where texture at disparity 0 lies before other texture, which is not there; 0 if their median is not at 0 */
  gboolean steps; /* both views have the steps of an encoder: `still` and `layered` are no evidence */
} GstStereoBlockFigures;

/* @readers: both have read their view. @age: measurements since the one that blocks are compared with: a third of a second or
 * more. */
void gst_stereo_blocks_compare (
    const GstStereoViewReader *const readers[2], gint width, guint age, GstStereoBlockFigures *figures);

G_END_DECLS

#endif
