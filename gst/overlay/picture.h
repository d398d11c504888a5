/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A depth picture as the other parts read it: its mapped samples, confidence and mask, and what the samples mean. */
#ifndef GST_DEPTH_OVERLAY_PICTURE_H
#define GST_DEPTH_OVERLAY_PICTURE_H

#include "gst/overlay/blend.h"
#include "gst/video/join.h"
#include "gst/video/view.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayPicture GstDepthOverlayPicture;

/* What a frame takes from the properties. */
typedef struct
{
  gdouble near, far; /* mm; 0 = as the metadata says */
  GstStereoCurve curve;
  gboolean beyond;        /* what is farther than far gets far's colour; else the live view shows */
  gdouble min_confidence; /* 0..1 */
} GstDepthOverlayRange;

GstDepthOverlayPicture *gst_depth_overlay_picture_new (GstElement *owner);
void gst_depth_overlay_picture_free (GstDepthOverlayPicture *picture);

/* Maps @depth, which is to lie over @view. FALSE after an error was posted that no later frame can mend. */
gboolean gst_depth_overlay_picture_map (GstDepthOverlayPicture *picture, const GstStereoJoined *depth,
    const GstStereoLiveView *view, const GstDepthOverlayRange *range);
/* Whether mapped or not. */
void gst_depth_overlay_picture_unmap (GstDepthOverlayPicture *picture);

/* Of the mapped picture. */
const GstStereoBlendDepth *gst_depth_overlay_picture_depth (const GstDepthOverlayPicture *picture);
/* Of the picture that was mapped last, NULL before the first. */
const GstStereoScale *gst_depth_overlay_picture_scale (const GstDepthOverlayPicture *picture);

G_END_DECLS

#endif
