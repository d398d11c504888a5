/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds ground, obstacles and free distances in a frame, with the history of earlier frames: pure logic. */
#ifndef GST_STEREO_GROUND_ANALYSIS_H
#define GST_STEREO_GROUND_ANALYSIS_H

#include "gst/ground/objects.h"

G_BEGIN_DECLS

/* ---- tracks ------------------------------------------------------------------------------- */

/*
 * Follows obstacles from frame to frame. An obstacle that is seen in two of three frames is reported, with a
 * fixed identity. An obstacle that is seen in a single frame is noise.
 */
#define GST_STEREO_GROUND_OBSTACLE "obstacle" /* what a buffer's region of interest or detected object is called */

typedef struct
{
  guint id; /* from 1 on */
  GstStereoObstacle obstacle;
  gboolean seen;  /* in this frame; FALSE: in the two before it, and where it should be now */
  gboolean ahead; /* a part of it is in the corridor */
} GstStereoGroundReport;

typedef struct _GstStereoGroundTracks GstStereoGroundTracks;

GstStereoGroundTracks *gst_stereo_ground_tracks_new (void);
void gst_stereo_ground_tracks_free (GstStereoGroundTracks *tracks);
/* Where a stream breaks. Identities are not used again. */
void gst_stereo_ground_tracks_forget (GstStereoGroundTracks *tracks);
/* Takes the obstacles of the next frame. Returns those to report; they are the tracks', until the next frame. Those in the
 * @corridor (its width, mm; 0 = none) before the camera come first, then the nearest. What is farther beside it than another
 * width does not matter, and is left out. */
const GstStereoGroundReport *gst_stereo_ground_tracks_update (GstStereoGroundTracks *tracks,
    const GstStereoObstacle *obstacles, guint n_obstacles, gdouble corridor, guint *count);

/* ---- a frame ------------------------------------------------------------------------------ */

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
