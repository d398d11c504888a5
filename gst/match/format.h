/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of the output, the preferred one first. A new format is a row of the table in format.c. */
#ifndef GST_STEREO_FORMAT_H
#define GST_STEREO_FORMAT_H

#include <gst/video/video.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

typedef struct
{
  GstVideoFormat format;
  StereoSample sample; /* sample type that the engine writes */
  gboolean is_range;   /* the search range fills the samples' range; for disparity only */
} GstStereoOutputFormat;

/* Caps of the source pad's template. Transfer full. */
GstCaps *gst_stereo_output_format_template_caps (void);
/* The formats of depth, or of disparity, the preferred one first. NULL after the last one. */
const GstStereoOutputFormat *gst_stereo_output_format_nth (guint n, gboolean depth);
/* The row of a format that the table has. */
const GstStereoOutputFormat *gst_stereo_output_format_find (GstVideoFormat format);
/* "disparity as GRAY16_LE, GRAY16_BE or GRAY8"; g_free. */
gchar *gst_stereo_output_format_describe (gboolean depth);

G_END_DECLS

#endif
