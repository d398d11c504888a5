/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether rows of a view are stale: they show an earlier moment, so much earlier that they do not match the other view.
 *
 * delay.h needs points that match. Near the bottom of a drive's picture, two frames move a road farther than points are
 * searched up and down. So where a stretch of rows lacks a third of its usual matches, or at the start, the pair is matched again
 * with earlier frames. If the left view of one or two frames before matches the stretch far better, the right view is stale
 * there. A road without texture matches no earlier frame better.
 */
#ifndef GST_STEREO_STALE_H
#define GST_STEREO_STALE_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/matches.h"

G_BEGIN_DECLS

#define GST_STEREO_STALE_AGES 2 /* frames before the current one */

typedef struct
{
  gsize size;
  guint8 *pixels;
  StereoImage image;
} GstStereoEarlierView;

/* Zeroed at first. */
typedef struct
{
  /* the matches of a stream: share of the points of each band that is found, as a mean over so many looks */
  gdouble usual[GST_STEREO_PAIR_BANDS];
  guint looks;
  gboolean lacks;  /* the last look does */
  guint tries;     /* looks in a row that no earlier frame explained */
  gdouble sums[2]; /* of what earlier frames explain, over the looks, where this view is stale */

  guint kept;                                             /* frames in a row */
  GstStereoEarlierView earlier[GST_STEREO_STALE_AGES][2]; /* the last one first */
} GstStereoStale;

void gst_stereo_stale_clear (GstStereoStale *stale);
/* Copies both views, of so many columns and rows. */
void gst_stereo_stale_keep (GstStereoStale *stale, const StereoImage images[2], gint width, gint height);
/* Forgets the frames, not the matches. */
void gst_stereo_stale_forget (GstStereoStale *stale);
/* Adds a pair. FALSE: it has what it usually has, and no earlier frame needs to be matched. */
gboolean gst_stereo_stale_add (GstStereoStale *stale, const GstStereoPairMatches *now);
/* After that, TRUE: the pair's matches with view `!v` of `ages` frames before, for each view @v that may be stale. Returns BAD where
 * several pairs say so, and GOOD where no earlier frame matches better. */
GstStereoVerdict gst_stereo_stale_judge (GstStereoStale *stale, const GstStereoPairMatches *now,
    const GstStereoPairMatches earlier[2][GST_STEREO_STALE_AGES], guint ages);
/* Whether rows of view @v did not change since the last kept frame, while those of the other view did: they are frozen, and
 * therefore late. @now: the current views, of so many columns and rows. */
gboolean gst_stereo_stale_is_frozen (
    const GstStereoStale *stale, const StereoImage now[2], gint width, gint height, guint v);
/* Which view is stale: 0 = left, 1 = right. */
guint gst_stereo_stale_get_view (const GstStereoStale *stale);

G_END_DECLS

#endif
