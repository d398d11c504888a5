/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a stream breaks: the frames before are not the past of those after, and temporal must not average the two. Breaks
 * are a discontinuity (DISCONT), a gap, a seek, other caps, time that goes backwards, and more
 * than GST_STEREO_PAST_LONGEST since the last pair that was computed. A flush and a new plan forget by themselves.
 */
#ifndef GST_STEREO_PAST_H
#define GST_STEREO_PAST_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

#define GST_STEREO_PAST_LONGEST (500 * GST_MSECOND)

/* Zeroed: the next pair is the first. */
typedef struct
{
  gboolean known;        /* all below are set */
  gboolean broken;       /* before the next pair that is computed */
  GstVideoInfo info[2];  /* of the last pair */
  guint generation[2];   /* of the last pair */
  gint64 time, computed; /* of the last pair, of the last one that was computed; or GST_STEREO_TIME_NONE */
} GstStereoMatchPast;

/* Every pair that comes, computed or not. Both views in one frame: @right is @left. Returns why the stream broke before
 * it, or NULL. */
const gchar *gst_stereo_match_past_add_pair (
    GstStereoMatchPast *past, const GstStereoFrame *left, const GstStereoFrame *right);
/* The pair added last is computed. TRUE where the frames before it are to be forgotten. */
gboolean gst_stereo_match_past_compute (GstStereoMatchPast *past);

G_END_DECLS

#endif
