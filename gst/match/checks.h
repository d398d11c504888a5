/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Now and then, a look at whether the input can be what it is said to be. What is found goes into the metadata, into `stats`,
 * and once into a message and a warning. check/look.h and check/times.h say what is looked at, and what cannot be seen that way. More often, and
 * at far fewer pixels, health.h looks at what is wrong with a camera.
 *
 * Frames in device memory are looked at too: one pair every few seconds is copied for both.
 */
#ifndef GST_STEREO_CHECKS_H
#define GST_STEREO_CHECKS_H

#include "gst/match/health.h"
#include "gst/match/mask.h"
#include "gst/pairing/frame.h"
#include "gst/video/properties.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_CHECK_INTERVAL (5 * GST_SECOND)
/* Whether the views show one scene is looked at more often, in host memory; and soon again where they may not. */
#define GST_STEREO_CHECK_MATCHES_INTERVAL (400 * GST_MSECOND)
#define GST_STEREO_CHECK_MATCHES_SOON (150 * GST_MSECOND)

typedef struct _GstStereoChecks GstStereoChecks;

typedef struct
{
  guint64 checks, matches; /* looks at a pair; matches of the last one */
  gboolean exchanged;      /* at the last look that could tell */
  gdouble vertical_offset; /* px; below 0 = not known */
  guint64 skew_mean;       /* ns */
  gdouble skew_drift;      /* ns in a second */
} GstStereoChecksStats;

extern const GstStereoProperty gst_stereo_checks_properties[];

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoChecks *gst_stereo_checks_new (GstElement *element);
void gst_stereo_checks_free (GstStereoChecks *checks);
/* At the start: nothing was found yet. */
void gst_stereo_checks_start (GstStereoChecks *checks);
/* After a flush: other timestamps follow. */
void gst_stereo_checks_flush (GstStereoChecks *checks);
/* At the stop: the findings go, and what they were made with. */
void gst_stereo_checks_release (GstStereoChecks *checks);

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
} GstStereoCheckedPair;

/* Looks at it where that is due. Returns what is known to be wrong with the pair. */
GstStereoHealthFlags gst_stereo_checks_add_pair (GstStereoChecks *checks, const GstStereoCheckedPair *pair);

/* From any thread. */
void gst_stereo_checks_get_stats (GstStereoChecks *checks, GstStereoChecksStats *stats);
/* Adds to `stats` what health.h tells. */
void gst_stereo_checks_add_health (GstStereoChecks *checks, GstStructure *stats);

G_END_DECLS

#endif
