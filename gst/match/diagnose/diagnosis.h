/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds faults of stereomatch's input (faults.h): ten times a second by what the views show (view.h), three times by what their matches say
 * (matches.h), and by the clock (clock.h). One pair every few seconds is copied and measured where frames are in device memory.
 */
#ifndef GST_STEREO_DIAGNOSIS_H
#define GST_STEREO_DIAGNOSIS_H

#include "gst/match/diagnose/clock.h"
#include "gst/match/diagnose/view.h"
#include "gst/pairing/aggregator.h"
#include "gst/video/properties.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

typedef struct _GstStereoDiagnosis GstStereoDiagnosis;

extern const GstStereoProperty gst_stereo_diagnosis_properties[];

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoDiagnosis *gst_stereo_diagnosis_new (GstElement *element);
void gst_stereo_diagnosis_free (GstStereoDiagnosis *diagnosis);
/* At the start, and at the stop: forgets all findings, and frees the scratch memory. */
void gst_stereo_diagnosis_start (GstStereoDiagnosis *diagnosis);
/* After a flush: timestamps may begin anew. */
void gst_stereo_diagnosis_flush (GstStereoDiagnosis *diagnosis);
/* A pair, and the state of the element when it came. */
typedef struct
{
  const GstStereoFrame *left, *right; /* the same one where one frame has both views */
  const StereoParams *params;         /* of the plan, with the geometry of this pair */
  const GstStereoMask *mask;          /* NULL = every pixel counts */
  gboolean live;                      /* a sensor gives the frames */
  const StereoAlignment *alignment;   /* what align=auto corrects */
  GstStereoPaceCounts counts;
} GstStereoDiagnosedPair;

/* Checks the pair if a check is due. Returns the known faults. @unmeasured: a reference to what has no evidence in it; NULL: nothing. */
GstStereoHealthFlags gst_stereo_diagnosis_add_pair (
    GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, GstStereoUnmeasured **unmeasured);
/* Faults that somebody else finds, such as silent cameras: @all of them, and @flags, those that stand now. Posts the messages
 * `stereo-health` of what has changed, and no warning. From any thread. */
void gst_stereo_diagnosis_set (GstStereoDiagnosis *diagnosis, GstStereoHealthFlags all, GstStereoHealthFlags flags);

/* From any thread: adds fields to `stats`. */
void gst_stereo_diagnosis_add_stats (GstStereoDiagnosis *diagnosis, GstStructure *stats);

G_END_DECLS

#endif
