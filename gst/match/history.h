/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds where a stream breaks. temporal averages the frames of one stretch only: the frames before a break are no history of
 * the frames after it. A stream breaks at a discontinuity (DISCONT), a gap, a new segment, other caps, time that goes backwards, and
 * after more than GST_STEREO_HISTORY_LONGEST without a computed pair. A flush and a new plan clear the history by themselves.
 */
#ifndef GST_STEREO_HISTORY_H
#define GST_STEREO_HISTORY_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

#define GST_STEREO_HISTORY_LONGEST (500 * GST_MSECOND)

/* Zeroed: the next pair is the first. */
typedef struct
{
  gboolean known;        /* all below are set */
  gboolean broken;       /* before the next pair that is computed */
  GstVideoInfo info[2];  /* of the last pair */
  GstSegment segment[2]; /* of the last pair */
  gint64 time, computed; /* of the last pair, of the last one that was computed; or GST_STEREO_TIME_NONE */
} GstStereoMatchHistory;

/* Adds a pair that has arrived, computed or not. Where one frame has both views, @right is @left. Returns why the stream
 * broke before this pair, or NULL. */
const gchar *gst_stereo_match_history_add_pair (
    GstStereoMatchHistory *history, const GstStereoFrame *left, const GstStereoFrame *right);
/* The pair that was added last is computed. TRUE where the plan has to forget the frames before it. */
gboolean gst_stereo_match_history_compute (GstStereoMatchHistory *history);

G_END_DECLS

#endif
