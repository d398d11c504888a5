/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the base class take from events. Whether an event goes on is up to the caller. */
#ifndef GST_STEREO_EVENTS_H
#define GST_STEREO_EVENTS_H

#include "gst/pairing/parts.h"

G_BEGIN_DECLS

/* What becomes of an event. */
typedef enum
{
  GST_STEREO_EVENT_FORWARD, /* the base class gets it */
  GST_STEREO_EVENT_TAKEN,   /* it was for us alone */
  GST_STEREO_EVENT_FAILED   /* an error was posted */
} GstStereoEventResult;

/* On a sink pad, in the order of the stream. */
GstStereoEventResult gst_stereo_events_read_sink (
    GstStereoParts *parts, GstElement *element, GstStereoPad *pad, GstEvent *event);
/* From downstream. */
void gst_stereo_events_read_src (GstStereoParts *parts, GstEvent *event);

G_END_DECLS

#endif
