/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong with the input of stereomatch. What is found goes into the metadata, into `stats`, and once into a
 * message and a warning (report.h). Views are measured several times a second (view_check.h), their points matched less
 * often (match_check.h), timestamps of all pairs count (timestamps.h), and so do dropped pairs (pace.h).
 *
 * Frames in device memory are measured, too: one pair every few seconds is copied.
 */
#ifndef GST_STEREO_DIAGNOSIS_H
#define GST_STEREO_DIAGNOSIS_H

#include "gst/match/diagnose/pace.h"
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
/* At the start: nothing was found yet. */
void gst_stereo_diagnosis_start (GstStereoDiagnosis *diagnosis);
/* After a flush: other timestamps follow. */
void gst_stereo_diagnosis_flush (GstStereoDiagnosis *diagnosis);
/* At the stop: the findings go, and what they were made with. */
void gst_stereo_diagnosis_release (GstStereoDiagnosis *diagnosis);

/* A pair, and what is known of those before it. */
typedef struct
{
  const GstStereoFrame *left, *right; /* the same one where one frame has both views */
  const StereoParams *params;         /* of the plan */
  const GstStereoMask *mask;          /* NULL = every pixel counts */
  gboolean on_device;                 /* the plan is on a GPU */
  gboolean live;                      /* a sensor gives the frames */
  gboolean aligned;                   /* rows that do not fit are taken out */
  GstStereoPaceCounts counts;
} GstStereoDiagnosedPair;

/* Checks it where that is due. Returns what is known to be wrong with the pair. */
GstStereoHealthFlags gst_stereo_diagnosis_add_pair (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair);

/* From any thread: adds what is known to `stats`. */
void gst_stereo_diagnosis_add_stats (GstStereoDiagnosis *diagnosis, GstStructure *stats);

G_END_DECLS

#endif
