/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of stereomatch, one object each. A part knows only the parts that its constructor takes. */
#ifndef GST_STEREO_MATCH_PARTS_H
#define GST_STEREO_MATCH_PARTS_H

#include <gst/base/gstaggregator.h>

#include "gst/match/cameras.h"
#include "gst/match/diagnose/diagnosis.h"
#include "gst/match/device.h"
#include "gst/match/flight.h"
#include "gst/match/mask.h"
#include "gst/match/output.h"
#include "gst/match/planner.h"
#include "gst/match/settings.h"

G_BEGIN_DECLS

typedef struct
{
  GstStereoSettings *settings;
  GstStereoCameras *cameras;
  GstStereoMasks *masks;
  GstStereoDevice *device;
  GstStereoPlanner *planner;
  GstStereoDiagnosis *diagnosis;
  GstStereoMatchOutput *output;
  GstStereoFlights *flights;
} GstStereoMatchParts;

void gst_stereo_match_parts_init (GstStereoMatchParts *parts, GstAggregator *aggregator);
void gst_stereo_match_parts_clear (GstStereoMatchParts *parts);

/* At the start: resets counts and findings. */
void gst_stereo_match_parts_start (GstStereoMatchParts *parts);
/* After a flush: forgets the old position. */
void gst_stereo_match_parts_flush (GstStereoMatchParts *parts);
/* At the stop: frees plan, pools and contexts. `stats` keeps its values. */
void gst_stereo_match_parts_release (GstStereoMatchParts *parts);

G_END_DECLS

#endif
