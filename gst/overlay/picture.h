/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mapped depth picture for the other parts: samples, confidence, mask, and scale. */
#ifndef GST_DEPTH_OVERLAY_PICTURE_H
#define GST_DEPTH_OVERLAY_PICTURE_H

#include "gst/overlay/blend.h"
#include "gst/video/join.h"
#include "gst/video/view.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayPicture GstDepthOverlayPicture;

/* Values of the properties for a frame. */
typedef struct
{
  gdouble near, far; /* mm; 0 = from the metadata */
  GstStereoCurve curve;
  gboolean beyond;        /* pixels farther than far get far's colour; else they show the live view */
  gdouble min_confidence; /* 0..1 */
} GstDepthOverlayRange;

GstDepthOverlayPicture *gst_depth_overlay_picture_new (GstElement *owner);
void gst_depth_overlay_picture_free (GstDepthOverlayPicture *picture);

/* Maps @depth, which will be drawn over @view. FALSE after an error was posted that concerns all later frames, too. */
gboolean gst_depth_overlay_picture_map (GstDepthOverlayPicture *picture, const GstStereoJoined *depth,
    const GstStereoLiveView *view, const GstDepthOverlayRange *range);
/* May be called where no picture is mapped. */
void gst_depth_overlay_picture_unmap (GstDepthOverlayPicture *picture);

/* Of the mapped picture. */
const GstStereoBlendDepth *gst_depth_overlay_picture_depth (const GstDepthOverlayPicture *picture);
/* Of the picture that was mapped last, NULL before the first. */
const GstStereoScale *gst_depth_overlay_picture_scale (const GstDepthOverlayPicture *picture);

G_END_DECLS

#endif
