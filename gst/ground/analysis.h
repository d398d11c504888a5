/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds ground, obstacles and free distances in a frame, with the history of earlier frames: pure logic. */
#ifndef GST_STEREO_GROUND_ANALYSIS_H
#define GST_STEREO_GROUND_ANALYSIS_H

#include "gst/ground/tracks.h"

G_BEGIN_DECLS

typedef struct
{
  GstStereoGroundLimits limits;
  GstStereoGroundSizes sizes;
  gdouble corridor; /* width that the vehicle drives in, mm; 0 = all obstacles matter alike */
  guint columns;    /* of free distances */
} GstStereoGroundTask;

typedef struct
{
  gboolean valid;                         /* there is a ground */
  gdouble judged;                         /* share of the picture that is sure, 0..1 */
  GstStereoGroundFit fit;                 /* of the ground; zeroed without one */
  gdouble ground_from;                    /* distance from which the picture shows the ground, mm; 0 = it does not */
  gdouble plane[3];                       /* a, b, c: its disparity is a + b x + c y, without the principal offset */
  const GstStereoGroundReport *obstacles; /* those in the corridor first, then the nearest */
  guint n_obstacles;
  const gdouble *free_distances; /* mm, or GST_STEREO_GROUND_UNKNOWN; as many as columns were asked for */
  guint n_free_distances;
} GstStereoGroundResult;

typedef struct _GstStereoGroundAnalysis GstStereoGroundAnalysis;

GstStereoGroundAnalysis *gst_stereo_ground_analysis_new (void);
void gst_stereo_ground_analysis_free (GstStereoGroundAnalysis *analysis);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoGroundAnalysis, gst_stereo_ground_analysis_free)
/* Where a stream breaks. */
void gst_stereo_ground_analysis_forget (GstStereoGroundAnalysis *analysis);
/* For a frame with unreliable depth: its result is unknown, and the history is forgotten. */
void gst_stereo_ground_analysis_skip (
    GstStereoGroundAnalysis *analysis, const GstStereoGroundTask *task, GstStereoGroundResult *result);
/* The meta of @view has focal length and baseline. The arrays of @result belong to the analysis, until the next frame. */
void gst_stereo_ground_analysis_run (GstStereoGroundAnalysis *analysis, const GstStereoDepthView *view,
    const GstStereoGroundTask *task, GstStereoGroundResult *result);

G_END_DECLS

#endif
