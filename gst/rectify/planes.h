/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames as planes that the engine can remap: pure arithmetic on formats and layouts.
 *
 * The planes of the left view come first, then those of the right view.
 */
#ifndef GST_STEREO_RECTIFY_PLANES_H
#define GST_STEREO_RECTIFY_PLANES_H

#include "gst/video/frame.h"
#include "stereo/remap.h"

G_BEGIN_DECLS

typedef struct
{
  GstVideoFormat left, right, out;
  GstVideoChromaSite site; /* of the input */
  gboolean full_range;     /* black is 0, not 16 */
} GstStereoRectifyFormats;

/* How the samples of both views lie in such frames. Writes at most STEREO_REMAP_MAX_PLANES and gives their number. */
guint gst_stereo_rectify_describe_planes (
    const GstStereoRectifyFormats *formats, const GstStereoLayout *layout, StereoRemapPlane *planes);
/* Where they lie in these frames. @second is @first where one frame holds both views. */
void gst_stereo_rectify_locate_planes (const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, const GstVideoFrame *out, StereoRemapSource *sources, StereoRemapTarget *targets);

G_END_DECLS

#endif
