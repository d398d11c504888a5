/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Warns of a live camera whose frames come long after their timestamps while those of the other camera do not: it counts its
 * timestamps from another moment, and pairs then show two moments.
 *
 * Of each view, the least delay counts that any frame had: a frame that waits for its partner, or for the matcher, comes late
 * without a fault of its camera. What upstream reports as its latency is no delay.
 */
#ifndef GST_STEREO_PAIRING_ARRIVAL_H
#define GST_STEREO_PAIRING_ARRIVAL_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean judged; /* enough frames came, or it does not matter */
} GstStereoArrival;

/* A pair was found. @pads: left, right. Posts the warning at most once, until @arrival is zeroed. */
void gst_stereo_arrival_check (GstStereoArrival *arrival, GstElement *element, GstStereoPad *const pads[2]);

G_END_DECLS

#endif
