/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a view shows an earlier moment than the other view.
 *
 * If the right view is a frame late, a point lies in it where the left view had it a frame ago. So its vertical offset is
 * its motion in the left view since then, whatever the scene. Of a late left view, the offset is minus the motion in the
 * right view. The offsets of a rig do not follow the motion, and neither do those of wrong matches.
 *
 * The hypotheses "in step" and "one or two frames late" are compared by how well they explain the offsets of the points that
 * move, beside a polynomial of the place, which stands for the rig. The logarithm of the likelihoods' ratio is summed over the frames
 * that are checked (Page 1954), for each view. Without vertical motion, or where all points move alike, nothing is known.
 */
#ifndef GST_STEREO_DELAY_H
#define GST_STEREO_DELAY_H

#include "gst/match/diagnose/episodes.h"
#include "stereo/sparse.h"

G_BEGIN_DECLS

/* A placed match: its vertical offset, and its motion back to the frame before, in each view. */
typedef struct
{
  StereoSparsePlace place, motion[2]; /* a motion without weight is not known */
} GstStereoMovingPoint;

/* Figures of one frame: twice the logarithm of the likelihoods' ratio, for each view that may be late. Above 0: it is late. */
typedef struct
{
  gdouble late[2];
} GstStereoDelayFigures;

void gst_stereo_delay_measure (const GstStereoMovingPoint *points, guint count, GstStereoDelayFigures *figures);

/* State of a stream. Zeroed at first. */
typedef struct
{
  gdouble late[2]; /* sums, not below 0 */
} GstStereoDelay;

/* BAD: a view is late. GOOD: none is, and something moved. */
GstStereoVerdict gst_stereo_delay_add (GstStereoDelay *delay, const GstStereoDelayFigures *figures);
/* Which view is late: 0 = left, 1 = right; and how sure that is, 1 and more: sure. */
guint gst_stereo_delay_get_view (const GstStereoDelay *delay, gdouble *certainty);
/* Whether the next frames should be checked soon: a delay begins or ends. */
gboolean gst_stereo_delay_is_suspicious (const GstStereoDelay *delay);

G_END_DECLS

#endif
