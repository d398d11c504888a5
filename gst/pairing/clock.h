/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the timestamps that pair the frames of two views: buffer timestamps, or the capture timestamps that sources
 * attach to their buffers (GstReferenceTimestampMeta).
 *
 * Capture timestamps pair where the next frames of both views have one with equal reference caps. Meanwhile we learn the
 * difference between capture and buffer timestamps of each view. Where a capture timestamp is missing, or has jumped in
 * one view, this difference dates the frames for HOLD_TIME. After that, buffer timestamps pair, with a warning. Capture
 * timestamps that lie far apart from the start do not come from one clock, and are not used.
 *
 * Functions whose comment does not mention threads belong to the source pad's task.
 */
#ifndef GST_STEREO_PAIRING_CLOCK_H
#define GST_STEREO_PAIRING_CLOCK_H

#include "gst/pairing/frame.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_PAIRING_CLOCK_AUTO,
  GST_STEREO_PAIRING_CLOCK_BUFFER
} GstStereoPairingClock;

typedef struct _GstStereoClock GstStereoClock;
extern const GstStereoProperty gst_stereo_clock_properties[];

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoClock *gst_stereo_clock_new (GstElement *element);
void gst_stereo_clock_free (GstStereoClock *clock);
/* After a flush, or at the start: forgets all capture timestamps. */
void gst_stereo_clock_flush (GstStereoClock *clock);

/* From any thread. */
GstStereoPairingClock gst_stereo_clock_get_choice (GstStereoClock *clock);
/* The clock that paired the last pair: "buffer", or the name of the reference caps. "none" before the first pair, and where
 * one pad has both views. Static. */
const gchar *gst_stereo_clock_get_name (GstStereoClock *clock);

/* Shifts the times of the left and the right stream, so that their difference is that of the pairing clock. The left head
 * keeps its time. @next: both streams in running times of the left view. @choice: the property. Returns whether capture
 * timestamps date the heads. */
gboolean gst_stereo_clock_apply (GstStereoClock *clock, GstStereoPairingClock choice, GstStereoNext next[2]);
/* The head of one view was removed without a partner. */
void gst_stereo_clock_take_head (GstStereoClock *clock, gboolean right);
/* Both heads were removed as a pair. Sets the capture time of each. */
void gst_stereo_clock_take_pair (GstStereoClock *clock, GstStereoFrame *left, GstStereoFrame *right);

G_END_DECLS

#endif
