/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the base class: one object each, none of which knows the others but for what its constructor takes. */
#ifndef GST_STEREO_PAIRING_PARTS_H
#define GST_STEREO_PAIRING_PARTS_H

#include "gst/pairing/qos.h"
#include "gst/pairing/input/inputs.h"
#include "gst/pairing/pairs.h"
#include "gst/pairing/silence.h"

G_BEGIN_DECLS

typedef struct
{
  GstStereoInputs *inputs;
  GstStereoDrops *drops;
  GstStereoClock *clock;
  GstStereoPairs *pairs;
  GstStereoQos *qos;
  GstStereoSilence *silence;
} GstStereoParts;

void gst_stereo_parts_init (GstStereoParts *parts, GstAggregator *aggregator);
void gst_stereo_parts_clear (GstStereoParts *parts);
/* FALSE after an error was posted: the pads do not go together. */
gboolean gst_stereo_parts_start (GstStereoParts *parts);
/* Nothing of the old position is left. */
void gst_stereo_parts_flush (GstStereoParts *parts);
void gst_stereo_parts_stop (GstStereoParts *parts);

G_END_DECLS

#endif
