/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of the warnings about the input: the fault, and the advice. Free them with g_free(). */
#ifndef GST_STEREO_TEXT_H
#define GST_STEREO_TEXT_H

#include "gst/match/diagnose/pace.h"
#include "gst/match/diagnose/timestamps.h"
#include "gst/match/diagnose/verdicts.h"
#include "gst/match/diagnose/views/view_faults.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

/* @v: 0 for the left view, 1 for the right one. */
gchar *gst_stereo_text_view_fault (GstStereoViewFault fault, guint v, const GstStereoViewFigures figures[2]);
/* A fault of the pair begins (@active), or has ended. */
gchar *gst_stereo_text_pair_fault (GstStereoPairFault fault, gboolean active);
/* The fault begins (@active), or has ended. */
/* @view: the late one, 0 = left, 1 = right. */
gchar *gst_stereo_text_out_of_step (guint view, gboolean active);
gchar *gst_stereo_text_focal (const GstStereoPairMatches *matches, gboolean active);
gchar *gst_stereo_text_shifted (const GstStereoPairMatches *matches, gboolean active);
gchar *gst_stereo_text_mismatch (const GstStereoPairMatches *matches, gboolean active);
/* The same, where more points of earlier pairs matched. */
gchar *gst_stereo_text_fewer_matches (const GstStereoPairMatches *matches, gboolean active);
/* The fault begins. */
gchar *gst_stereo_text_exchanged (const GstStereoPairMatches *matches, const GstStereoLayout *layout);
/* @rectified: by what the views bring along. */
gchar *gst_stereo_text_rows (const GstStereoPairMatches *matches, const StereoParams *params, gboolean rectified);
/* @frame: time from frame to frame, ns. */
gchar *gst_stereo_text_apart (const GstStereoSkew *skew, gint64 frame);
gchar *gst_stereo_text_drift (const GstStereoSkew *skew);
/* @wanted: sufficient num-disparities. */
gchar *gst_stereo_text_range (const GstStereoPairMatches *matches, const StereoParams *params, gint wanted);
gchar *gst_stereo_text_slow (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice);

G_END_DECLS

#endif
