/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows obstacles from frame to frame: pure logic. An obstacle that is seen in two of three frames is reported, with a
 * fixed identity. An obstacle that is seen in a single frame is noise.
 */
#ifndef GST_STEREO_GROUND_TRACKS_H
#define GST_STEREO_GROUND_TRACKS_H

#include "gst/ground/objects.h"

G_BEGIN_DECLS

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

G_END_DECLS

#endif
