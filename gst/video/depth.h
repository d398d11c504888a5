/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A disparity or depth picture as elements read it: what they expect of its metadata, and its memory. */
#ifndef GST_STEREO_DEPTH_H
#define GST_STEREO_DEPTH_H

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

/* Why the samples of a picture like @info cannot be read with @meta (may be NULL) by @element: a sentence, g_free it. NULL:
 * they can. */
gchar *gst_stereo_depth_problem (const GstVideoInfo *info, const GstStereoMeta *meta, const gchar *element);

/* A picture in memory, and the part of it that is looked at. Its size is that of its metadata. */
typedef struct
{
  const guint8 *samples;    /* 1 or, little-endian, 2 bytes each; 0 = invalid */
  gint stride;              /* bytes */
  gboolean wide;            /* 2 bytes */
  const guint8 *confidence; /* NULL: every pixel's is 255 */
  gint confidence_stride;
  guint min_confidence; /* pixels below it are not seen */
  const guint8 *mask;   /* 0 = the pixel is excluded: neither seen nor unseen. NULL: none is */
  gint mask_stride;
  gint x, y, width, height;  /* the part: all of the picture, unless somebody chooses another one */
  const GstStereoMeta *meta; /* what samples mean */
} GstStereoDepthView;

/* The parts of a picture that can be unreadable. */
typedef enum
{
  GST_STEREO_DEPTH_NONE,
  GST_STEREO_DEPTH_SAMPLES,
  GST_STEREO_DEPTH_CONFIDENCE,
  GST_STEREO_DEPTH_MASK
} GstStereoDepthPart;

typedef struct
{
  GstStereoDepthView view;

  /*< private >*/
  GstVideoFrame samples, confidence, mask;
} GstStereoDepthMap;

/* Maps the picture in @buffer, which has the caps @info, and the confidence and the mask in its metadata; its min_confidence is 0.
 * gst_stereo_depth_problem() found nothing. The caller keeps @buffer. Returns the part that cannot be read: nothing is mapped
 * then. */
GstStereoDepthPart gst_stereo_depth_map (GstStereoDepthMap *map, const GstVideoInfo *info, GstBuffer *buffer);
/* Also where nothing is mapped, if @map was zeroed once. */
void gst_stereo_depth_unmap (GstStereoDepthMap *map);

G_END_DECLS

#endif
