/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Now and then, a look at whether the input can be what it is said to be. What is found goes into the metadata, into `stats`,
 * and once into a message and a warning. points.h and timestamps.h say what is looked at, and what cannot be seen that way. More often, and
 * at far fewer pixels, report.h looks at what is wrong with a camera.
 *
 * Frames in device memory are looked at too: one pair every few seconds is copied for both.
 */
#ifndef GST_STEREO_DIAGNOSIS_H
#define GST_STEREO_DIAGNOSIS_H

#include "gst/match/diagnose/report.h"
#include "gst/match/mask.h"
#include "gst/pairing/frame.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_DIAGNOSIS_INTERVAL (5 * GST_SECOND)
/* Whether the views show one scene is looked at more often, in host memory; and soon again where they may not. */
#define GST_STEREO_MATCHES_INTERVAL (400 * GST_MSECOND)
#define GST_STEREO_MATCHES_SOON (150 * GST_MSECOND)

typedef struct _GstStereoDiagnosis GstStereoDiagnosis;

typedef struct
{
  guint64 checks, matches; /* looks at a pair; matches of the last one */
  gboolean exchanged;      /* at the last look that could tell */
  gdouble vertical_offset; /* px; below 0 = not known */
  guint64 skew_mean;       /* ns */
  gdouble skew_drift;      /* ns in a second */
} GstStereoDiagnosisStats;

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoDiagnosis *gst_stereo_diagnosis_new (GstElement *element);
void gst_stereo_diagnosis_free (GstStereoDiagnosis *checks);
/* At the start: nothing was found yet. */
void gst_stereo_diagnosis_start (GstStereoDiagnosis *checks);
/* After a flush: other timestamps follow. */
void gst_stereo_diagnosis_flush (GstStereoDiagnosis *checks);
/* At the stop: the findings go, and what they were made with. */
void gst_stereo_diagnosis_release (GstStereoDiagnosis *checks);

/* A pair, and what is known of those before it. */
typedef struct
{
  const GstStereoFrame *first, *second; /* the same one where it holds both views */
  const StereoParams *params;           /* of the plan */
  const GstStereoMask *mask;            /* NULL = every pixel counts */
  gboolean on_device;                   /* the plan is on a GPU */
  gboolean live;                        /* a sensor gives the frames */
  gboolean aligned;                     /* rows that do not fit are taken out */
  GstStereoPaceCounts counts;
} GstStereoDiagnosedPair;

/* Looks at it where that is due. Returns what is known to be wrong with the pair. */
GstStereoHealthFlags gst_stereo_diagnosis_add_pair (GstStereoDiagnosis *checks, const GstStereoDiagnosedPair *pair);

/* From any thread. @interval: ns of stream time; 0 = never. */
void gst_stereo_diagnosis_set_interval (GstStereoDiagnosis *checks, guint64 interval);
guint64 gst_stereo_diagnosis_get_interval (GstStereoDiagnosis *checks);
void gst_stereo_diagnosis_get_stats (GstStereoDiagnosis *checks, GstStereoDiagnosisStats *stats);
/* Adds to `stats` what report.h tells. */
void gst_stereo_diagnosis_add_health (GstStereoDiagnosis *checks, GstStructure *stats);

G_END_DECLS

#endif
