/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What both views show, where it stays the same, and where it moves.
 *
 * A disparity is evidence of the scene only if the texture that gives it belongs to the scene. What lies on a lens, or does not
 * change any more, has texture too. So each view is reduced to at most some 320 cells a row, and the fine structure of its picture
 * (the picture less its local mean, at one brightness) is averaged over the last looks. For each block of 8 x 8 cells there are two
 * energies: of the mean, which is what is fixed, and of the rest, which is what moves. Neighbours are multiplied in place of squares:
 * texture is alike in both, and noise cancels.
 *
 * - Stale: a block stands still where the other view moves at each place that sees the same. The block is frozen.
 * - Even: a block has no texture where the other view has some at each such place. The block is covered.
 * - Pattern: the fixed part of a block lies at disparity 0, and what moves behind the fixed part does not; or the block is fixed at
 *   disparity 0 and all around it moves; or it came to disparity 0 at once while the scene stood still. The block shows dirt on the lenses, a reflection, or a caption.
 * - White: a cell is saturated.
 *
 * Where nothing moves, nothing is learnt, and what was learnt stays.
 */
#ifndef GST_STEREO_EVIDENCE_H
#define GST_STEREO_EVIDENCE_H

#include <glib.h>

#include "gst/match/diagnose/unmeasured.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

typedef struct _GstStereoEvidence GstStereoEvidence;

/* Evidence of a view. Levels are 0 for black to 255 for white, whatever the range of the format. */
typedef struct
{
  gdouble brightness;        /* mean level */
  gdouble black, white;      /* share of the pixels that are black, or white */
  gdouble detail;            /* fine texture without noise, grey levels */
  gdouble roughness;         /* fine texture and noise, grey levels */
  gdouble doubt;             /* standard deviation of the square of `detail` for pure noise */
  gdouble contrast;          /* standard deviation of the blocks' means, grey levels: a blur does not change it */
  gboolean compared;         /* there was a look before */
  gdouble same;              /* share of the blocks that are as before, to the bit */
  guint moving, stale, even; /* blocks */
  guint alone;               /* blocks of the other view that move, where this view moves nowhere */
} GstStereoViewFigures;

/* Evidence of both views together. */
typedef struct
{
  guint blocks;
  guint textured, zero; /* blocks with texture in both views; those of them at disparity 0 */
  gdouble rest;         /* of the blocks at 0: share of the texture that the difference of the views has */
  guint pattern;
  gboolean jump; /* a view shows another picture than before, all at once */
} GstStereoPairFigures;

/* NULL for views that are too small. */
GstStereoEvidence *gst_stereo_evidence_new (gint width, gint height);
void gst_stereo_evidence_free (GstStereoEvidence *evidence);
gboolean gst_stereo_evidence_is_for (const GstStereoEvidence *evidence, gint width, gint height);
/* After a flush: the next pictures may be different. What is known of the lenses stays. */
void gst_stereo_evidence_forget (GstStereoEvidence *evidence);

/* A look at two views in host memory. @black, @scale: of each view, the sample of black, and the difference from black to white.
 * @least, @most: the smallest and the largest disparity that are searched. */
void gst_stereo_evidence_add (GstStereoEvidence *evidence, const StereoImage images[2], const gint black[2],
    const gint scale[2], gint least, gint most, GstStereoViewFigures figures[2], GstStereoPairFigures *pair);
/* What the last look, and those before, found to be without evidence; NULL: nothing. */
GstStereoUnmeasured *gst_stereo_evidence_get_unmeasured (
    const GstStereoEvidence *evidence, const gint black[2], const gint scale[2]);

G_END_DECLS

#endif
