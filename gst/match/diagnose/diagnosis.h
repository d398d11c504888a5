/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds faults of stereomatch's input. A fault is reported in the metadata, in `stats`, and once as a message and a warning
 * (report.h). What the views show is measured several times a second (views.h), and their points matched less often
 * (match_check.h). The timestamps of all pairs are checked (timestamps.h), and the rate of dropped pairs (pace.h).
 *
 * One pair every few seconds is copied and measured where frames are in device memory.
 */
#ifndef GST_STEREO_DIAGNOSIS_H
#define GST_STEREO_DIAGNOSIS_H

#include "gst/match/diagnose/pace.h"
#include "gst/match/diagnose/unmeasured.h"
#include "gst/match/mask.h"
#include "gst/meta/gststereohealth.h"
#include "gst/pairing/frame.h"
#include "gst/video/properties.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_DIAGNOSIS_INTERVAL (5 * GST_SECOND) /* from one check of everything to the next */

typedef struct _GstStereoDiagnosis GstStereoDiagnosis;

extern const GstStereoProperty gst_stereo_diagnosis_properties[];

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoDiagnosis *gst_stereo_diagnosis_new (GstElement *element);
void gst_stereo_diagnosis_free (GstStereoDiagnosis *diagnosis);
/* At the start: forgets all faults. */
void gst_stereo_diagnosis_start (GstStereoDiagnosis *diagnosis);
/* After a flush: timestamps may begin anew. */
void gst_stereo_diagnosis_flush (GstStereoDiagnosis *diagnosis);
/* At the stop: frees the findings and the scratch memory. */
void gst_stereo_diagnosis_release (GstStereoDiagnosis *diagnosis);

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
