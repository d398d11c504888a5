/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the timestamps that pair the frames of two views: buffer timestamps, or the capture timestamps that sources
 * attach to their buffers (GstReferenceTimestampMeta).
 *
 * A capture clock pairs where the next frames of both views have a stamp with equal reference caps. Meanwhile the
 * difference between stamps and buffer timestamps is learned for each view. Where a stamp is missing, or has jumped in
 * one view, this difference dates the frames for HOLD_TIME; after that, buffer timestamps pair, and a warning says so.
 * Stamps that lie far apart from the start are not of one clock, and are not used.
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
/* After a flush, or at the start: nothing is known of the stamps. */
void gst_stereo_clock_flush (GstStereoClock *clock);

/* From any thread. */
GstStereoPairingClock gst_stereo_clock_get_choice (GstStereoClock *clock);
/* Of the last pair: "buffer", or the name of the reference caps. "none" before the first pair, and where one pad has
 * both views. Static. */
const gchar *gst_stereo_clock_get_name (GstStereoClock *clock);

/* Moves the times of the streams, left and right, to those of the clock that pairs: the difference between the views is
 * then that of the clock, while the left head keeps its time. Before that, both streams have the running times of the
 * left view. @choice: the property. Returns whether capture timestamps date the heads. */
gboolean gst_stereo_clock_apply (GstStereoClock *clock, GstStereoPairingClock choice, GstStereoNext next[2]);
/* The head of a view was taken out, alone. */
void gst_stereo_clock_take_head (GstStereoClock *clock, gboolean right);
/* The heads were taken out as a pair. Writes when each was captured. */
void gst_stereo_clock_take_pair (GstStereoClock *clock, GstStereoFrame *left, GstStereoFrame *right);

G_END_DECLS

#endif
