/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts the result into the metadata of a buffer and into a message. */
#ifndef GST_STEREO_GROUND_OUTPUT_H
#define GST_STEREO_GROUND_OUTPUT_H

#include "gst/ground/analysis.h"

#include <gst/gst.h>

G_BEGIN_DECLS

/* The message `stereo-obstacles` about @buffer, of a stream in @segment. @reason: why the depth cannot be relied on, or
 * NULL. */
GstStructure *gst_stereo_ground_output_describe (GstBuffer *buffer, const GstSegment *segment,
    const GstStereoGroundResult *result, gdouble warn_distance, const gchar *reason);
/* Puts @message and the geometry of the ground on @buffer, which is writable, and a region for each obstacle. */
void gst_stereo_ground_output_attach (
    GstBuffer *buffer, const GstStructure *message, const GstStereoGroundResult *result);

G_END_DECLS

#endif
