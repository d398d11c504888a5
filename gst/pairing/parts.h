/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to the base class (aggregator.c, events.c, properties.c): its parts, one object each. A part knows only the parts
 * that its constructor takes.
 */
#ifndef GST_STEREO_PAIRING_PARTS_H
#define GST_STEREO_PAIRING_PARTS_H

#include "gst/pairing/aggregator.h"
#include "gst/pairing/pairs.h"
#include "gst/pairing/qos.h"
#include "gst/pairing/watch.h"

G_BEGIN_DECLS

typedef struct
{
  GstStereoInputs *inputs;
  GstStereoDrops *drops;
  GstStereoClock *clock;
  GstStereoPairs *pairs;
  GstStereoQos *qos;
  GstStereoWatch *watch;
} GstStereoParts;

GstStereoParts *gst_stereo_parts_of (GstAggregator *aggregator);

/* In class_init: the functions for events and queries, which are in events.c. */
void gst_stereo_events_install (GstAggregatorClass *klass);

G_END_DECLS

#endif
