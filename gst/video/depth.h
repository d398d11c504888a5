/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How elements read a disparity or depth picture: they check its metadata, and map its memory. */
#ifndef GST_STEREO_DEPTH_H
#define GST_STEREO_DEPTH_H

#include <math.h>
#include <string.h>

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

/* A sentence why @element cannot read a picture of @info with @meta (may be NULL); g_free it. NULL: it can. */
gchar *gst_stereo_depth_problem (const GstVideoInfo *info, const GstStereoMeta *meta, const gchar *element);
/* A sentence that @what, as "Points", needs the focal length and, if @baseline, the baseline, and how they are set; g_free it.
 * NULL: @meta has them. */
gchar *gst_stereo_depth_camera_problem (const GstStereoMeta *meta, gboolean baseline, const gchar *what);

/* A picture in memory, and the region of it that is searched. The size of the picture is that of its metadata. */
typedef struct
{
  const guint8 *samples;    /* 1 or, little-endian, 2 bytes each; 0 = invalid */
  gint stride;              /* bytes */
  gboolean wide;            /* 2 bytes */
  const guint8 *confidence; /* NULL: every pixel's is 255 */
  gint confidence_stride;
  guint min_confidence; /* pixels below it are not seen */
  const guint8 *mask;   /* 0 = the pixel is excluded: neither seen nor unseen. NULL: no pixel is excluded */
  gint mask_stride;
  gint x, y, width, height;  /* the region: the whole picture, unless the caller changes it */
  const GstStereoMeta *meta; /* meaning of the samples */
} GstStereoDepthView;

/* min_confidence where a property asks for at least @share, 0..1. A millionth less: 0.2 * 255 may be 51.000001, which must not
 * become 52. */
static inline guint
gst_stereo_depth_least_confidence (gdouble share)
{
  return (guint) MAX (0, ceil (share * 255 - 1e-6));
}

/* What the samples of a picture mean: where all of it is equal, equal samples are equal distances. All bytes are set, so that
 * memcmp() can compare. */
typedef struct
{
  GstStereoOutputKind kind;
  gdouble disparity_scale, min_disparity, focal_length, baseline, principal_offset, depth_unit;
} GstStereoSampleMeaning;

static inline void
gst_stereo_sample_meaning_init (GstStereoSampleMeaning *meaning, const GstStereoMeta *meta)
{
  memset (meaning, 0, sizeof *meaning);
  meaning->kind = meta->kind;
  meaning->disparity_scale = meta->disparity_scale;
  meaning->min_disparity = meta->min_disparity;
  meaning->focal_length = meta->focal_length;
  meaning->baseline = meta->baseline;
  meaning->principal_offset = meta->principal_offset;
  meaning->depth_unit = meta->depth_unit;
}

typedef struct
{
  GstStereoDepthView view;

  /*< private >*/
  GstVideoFrame samples, confidence, mask;
} GstStereoDepthMap;

/* Maps the picture in @buffer, and the confidence and the mask in its metadata. @info: caps of the buffer, for which
 * gst_stereo_depth_problem() returned NULL. min_confidence becomes 0. The caller keeps @buffer. FALSE, and nothing is mapped, after
 * an error was posted that a part of it cannot be read. */
gboolean gst_stereo_depth_map (GstStereoDepthMap *map, GstElement *element, const GstVideoInfo *info, GstBuffer *buffer);
/* May be called where nothing is mapped, if @map was zeroed once. */
void gst_stereo_depth_unmap (GstStereoDepthMap *map);

G_END_DECLS

#endif
