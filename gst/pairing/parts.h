/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the base class, one object each. A part knows only the parts that its constructor takes. */
#ifndef GST_STEREO_PAIRING_PARTS_H
#define GST_STEREO_PAIRING_PARTS_H

#include "gst/pairing/deep.h"
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
  GstStereoDeep *deep;
  GstStereoQos *qos;
  GstStereoWatch *watch;
} GstStereoParts;

G_END_DECLS

#endif
