/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the part of the live frame to show: the whole frame, or the left one of two views. Pure arithmetic on caps. */
#ifndef GST_STEREO_VIEW_H
#define GST_STEREO_VIEW_H

#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct
{
  GstVideoInfo live; /* of the live frames */
  GstVideoInfo info; /* of the part that is shown, and of the output */
  gint x, y;         /* its place in the live frame, pixels */
  gboolean cropped;  /* it is not the whole frame */
} GstStereoLiveView;

/* Chooses by the caps' multiview-mode and, without one, by the size of the depth pictures. @depth_width,
 * @depth_height: 0 = none came yet. @expected: depth will come. FALSE and a sentence in @message (g_free) where the
 * live frames cannot be shown. */
gboolean gst_stereo_live_view_choose (GstStereoLiveView *view, const GstVideoInfo *live, gint depth_width,
    gint depth_height, gboolean expected, gchar **message);
/* Whether both are the same part of equal live frames. */
gboolean gst_stereo_live_view_equal (const GstStereoLiveView *a, const GstStereoLiveView *b);
/* Whether a depth picture of that size, scaled, lies exactly over the view. */
gboolean gst_stereo_live_view_fits (const GstStereoLiveView *view, gint depth_width, gint depth_height);

G_END_DECLS

#endif
