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
  StereoSample sample; /* what the engine writes */
  gboolean is_range;   /* the search range fills the samples' range; for disparity only */
} GstStereoOutputFormat;

/* Caps of the source pad's template. Transfer full. */
GstCaps *gst_stereo_output_format_template_caps (void);
/* The formats that depth, or disparity, can be had in. NULL after the last. */
const GstStereoOutputFormat *gst_stereo_output_format_nth (guint n, gboolean depth);
/* One of the table's. */
const GstStereoOutputFormat *gst_stereo_output_format_find (GstVideoFormat format);
/* "disparity as GRAY16_LE or GRAY8"; g_free. */
gchar *gst_stereo_output_format_describe (gboolean depth);

G_END_DECLS

#endif
