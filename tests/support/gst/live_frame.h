/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An output of stereomatch with the true disparity of its frame: the scene of stereotestsrc is drawn again for it. */
#ifndef ELEMENTS_LIVE_FRAME_H
#define ELEMENTS_LIVE_FRAME_H

#include <gst/video/video.h>

#include "tests/support/truth.h"

typedef struct LiveFrame
{
  guint64 number;
  gint width, height;
  guint16 *truth;
  guint8 *visible;
  gfloat *disparity;  /* pixels; not-a-number where invalid */
  GBytes *confidence; /* a byte a pixel; NULL: the frame has none */
  gdouble valid_ratio, mean_confidence;
} LiveFrame;

/* @sample from stereomatch with output=disparity, behind @source, whose properties have not changed since. FALSE: it is
 * no such sample. */
gboolean live_frame_read (LiveFrame *frame, GstSample *sample, GstElement *source);
void live_frame_clear (LiveFrame *frame);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LiveFrame, live_frame_clear)

#endif
