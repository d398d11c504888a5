/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By which clock the frames of two views are paired: by buffer timestamps, or by the capture timestamps that sources
 * attach to their buffers (GstReferenceTimestampMeta).
 *
 * A capture clock pairs where the next frames of both views have a stamp with equal reference caps. Meanwhile the
 * difference between stamps and buffer timestamps is learned for each view. Where a stamp is missing, or has jumped in
 * one view, this difference dates the frames for HOLD_TIME; after that, buffer timestamps pair, and a warning says so.
 * Stamps that lie far apart from the start are not of one clock, and are not used.
 *
 * Functions without a word on threads belong to the source pad's task.
 */
#ifndef GST_STEREO_PAIRING_CLOCK_H
#define GST_STEREO_PAIRING_CLOCK_H

#include <gst/gst.h>

#include "gst/pairing/partner.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_PAIRING_CLOCK_AUTO,
  GST_STEREO_PAIRING_CLOCK_BUFFER
} GstStereoPairingClock;

/* Their names and texts. */
extern const GEnumValue gst_stereo_pairing_clocks[];

typedef struct _GstStereoClock GstStereoClock;

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoClock *gst_stereo_clock_new (GstElement *element);
void gst_stereo_clock_free (GstStereoClock *clock);
/* After a flush, or at the start: nothing is known of the stamps. */
void gst_stereo_clock_flush (GstStereoClock *clock);

/* From any thread. */
void gst_stereo_clock_set_choice (GstStereoClock *clock, GstStereoPairingClock choice);
GstStereoPairingClock gst_stereo_clock_get_choice (GstStereoClock *clock);
/* Of the last pair: "buffer", or the name of the reference caps. "none" before the first pair, and where one pad has
 * both views. Static. */
const gchar *gst_stereo_clock_get_name (GstStereoClock *clock);

/* What is at hand of a view. */
typedef struct
{
  GstBuffer *buffers[2]; /* the next frame and the one after it; NULL: not there */
  GstStereoQueue *queue; /* their running times, in those of the left view */
} GstStereoClockView;

/* Moves the times of the queues to those of the clock that pairs: the difference between the views is then that of the
 * clock, while the left head keeps its time. @forwards: neither stream plays backwards. */
void gst_stereo_clock_apply (GstStereoClock *clock, const GstStereoClockView views[2], gboolean forwards);
/* When the heads were taken, by the clock that the last call of apply found; GST_STEREO_TIME_NONE: buffer timestamps
 * pair. Left, right. */
void gst_stereo_clock_moments (const GstStereoClock *clock, gint64 moments[2]);
/* The head of a view was taken out, alone or in a pair. */
void gst_stereo_clock_take_head (GstStereoClock *clock, gboolean right);
/* The heads were a pair: before they are taken out. */
void gst_stereo_clock_pair_heads (GstStereoClock *clock);

G_END_DECLS

#endif
