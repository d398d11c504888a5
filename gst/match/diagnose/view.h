/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the views show, where it stays the same, and where it moves; the faults that this shows; and the pixels that are without evidence.
 *
 * A disparity is evidence of the scene only if the texture that gives it belongs to the scene. What lies on a lens, or does not
 * change any more, has texture too. So each view is reduced to at most some 320 cells a row, and the fine structure of its picture
 * (the picture less its local mean, in parts of that mean: light changes nothing) is averaged over the last looks. For each block of 8 x 8 cells there are two
 * energies: of the mean, which is what is fixed, and of the rest, which is what moves. Neighbours are multiplied in place of squares:
 * texture is alike in both, and noise cancels.
 *
 * - Stale: a block stands still where the other view moves at each place that sees the same. The block is frozen.
 * - Even: a block has no texture where the other view has some at each such place. The block is covered.
 * - Pattern: the fixed part of a block lies at disparity 0, and what moves behind the fixed part does not; or the block is fixed at
 *   disparity 0 and all around it moves; or it came to disparity 0 at once while the scene stood still. The block shows dirt on the
 *   lenses, a reflection, or a caption.
 * - White: a cell is saturated.
 *
 * Where nothing moves, nothing is learnt, and what was learnt stays.
 */
#ifndef GST_STEREO_VIEW_H
#define GST_STEREO_VIEW_H

#include "gst/match/diagnose/faults.h"
#include "gst/match/mask.h"
#include "gst/meta/gststereometa.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* A pair that is looked at, in host memory. */
typedef struct
{
  StereoImage images[2]; /* of both views */
  gint width, height;
  gint black[2], scale[2];    /* of each view, the sample of black, and the difference from black to white */
  const StereoParams *params; /* of the plan, with the geometry of this pair */
  const guint8 *counts; /* a byte for each pixel of the left view: 0 = excluded, no point is matched there. NULL: none is */
  gint64 time;          /* ns */
  gboolean live;        /* a sensor gives them */
  /* what matches of points are worth, by the last look */
  gboolean sound;    /* no fault of a view stands or begins: matches count */
  gboolean detailed; /* both views show more than noise: missing matches count, too */
  gdouble noise;     /* of the noisier view, grey levels */
} GstStereoLookedPair;

/* Evidence of a view. Levels are 0 for black to 255 for white, whatever the range of the format. */
typedef struct
{
  gdouble brightness;        /* mean level */
  gdouble black, white;      /* share of the pixels that are black, or white */
  gdouble detail;            /* fine texture without noise, grey levels; 0 where it may be noise, or is weak */
  gdouble roughness;         /* fine texture and noise, grey levels */
  gboolean compared;         /* there was a look before */
  gboolean wakes;            /* something that had repeated to the bit changes again */
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

/* Where the depth of a frame has no evidence: the pixel of the left view, or the pixel of the right view that it was matched with, is
 * saturated, shows dirt, or is frozen or covered. It never changes once it is shared. */
typedef struct
{
  gint width, height; /* cells */
  gint factor;        /* pixels of a cell each way */
  guint8 *marks[2];   /* of each view: 1 = without evidence */
} GstStereoUnmeasured;

/* To be released with g_atomic_rc_box_release(). */
GstStereoUnmeasured *gst_stereo_unmeasured_new (gint width, gint height, gint factor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoUnmeasured, g_atomic_rc_box_release)
/* These pixels of an output picture get no value and no confidence. @units: what its samples mean, and its size. @counted: pixels that
 * @valid_ratio and @mean_confidence are of, which are less then. */
void gst_stereo_unmeasured_apply (const GstStereoUnmeasured *unmeasured, const GstStereoMaskedPicture *picture,
    const GstStereoMeta *units, guint64 counted, gdouble *valid_ratio, gdouble *mean_confidence);

typedef struct _GstStereoViews GstStereoViews;

/* Neither @element nor @faults is owned. */
GstStereoViews *gst_stereo_views_new (GstElement *element, GstStereoFaults *faults);
void gst_stereo_views_free (GstStereoViews *views);
/* After a flush: timestamps may begin anew, and the next pictures may be different. What is known of the lenses stays. */
void gst_stereo_views_flush (GstStereoViews *views);

gboolean gst_stereo_views_are_due (const GstStereoViews *views, gint64 time);
/* A look at both views. Returns whether they show another picture than at the look before. */
gboolean gst_stereo_views_look (GstStereoViews *views, const GstStereoLookedPair *pair);
/* What the last look says of the worth of matches. */
void gst_stereo_views_value (const GstStereoViews *views, GstStereoLookedPair *pair);
/* What the last look, and those before, found to be without evidence; NULL: nothing. Owned by @views. */
GstStereoUnmeasured *gst_stereo_views_get_unmeasured (const GstStereoViews *views);
/* From any thread, with the element's object lock: adds fields to `stats`. */
void gst_stereo_views_add_stats (GstStereoViews *views, GstStructure *stats);

/* For tests: what a look finds. FALSE for views that are too small. */
gboolean gst_stereo_views_measure (GstStereoViews *views, const GstStereoLookedPair *viewed,
    GstStereoViewFigures figures[2], GstStereoPairFigures *pair);

G_END_DECLS

#endif
