/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far back the motion of a scene is measured.
 *
 * From a moving camera a frame is enough, and in more of them the scene leaves the part that is searched. If the cameras stand still, an
 * obstacle moves by less in a frame than what is measured: then motion leads back to the frame of an earlier check.
 */
#ifndef GST_STEREO_SPAN_H
#define GST_STEREO_SPAN_H

#include <gst/gst.h>

#include "gst/match/diagnose/matches.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct
{
  gboolean slow; /* the scene */
  gboolean kept; /* there is a frame that motion leads back to */
  gint64 time;   /* of that, ns */
} GstStereoSpan;

/* No frame is kept any more. */
void gst_stereo_span_forget (GstStereoSpan *span);
/* The caller keeps the frame of @time. */
void gst_stereo_span_keep (GstStereoSpan *span, gint64 time);
/* Frames from the kept one to that of @time; 0 = not known. @spacing: of frames, ns; 0 = not known. */
gint gst_stereo_span_count (const GstStereoSpan *span, gint64 time, gint64 spacing);
/* After a check of so many @frames. TRUE: the frame of this check has to be kept. */
gboolean gst_stereo_span_add (GstStereoSpan *span, gint64 time, gint frames, const GstStereoPairMatches *matches);

G_END_DECLS

#endif
