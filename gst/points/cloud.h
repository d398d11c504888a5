/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A disparity or depth picture as a file of points: PLY or PCD, binary, little endian. Pure logic. */
#ifndef GST_STEREO_POINTS_CLOUD_H
#define GST_STEREO_POINTS_CLOUD_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_POINTS_PLY,
  GST_STEREO_POINTS_PCD
} GstStereoPointsFormat;

typedef struct
{
  gint format; /* GstStereoPointsFormat */
  gint step;
  gdouble near, far; /* mm; far 0 = no limit */
  gdouble min_confidence;
  gboolean organized;
} GstStereoPointsSettings;

/* The live view, of any size: pixel (x, y) of the depth has the colour of the pixel that lies there. */
typedef struct
{
  const guint8 *red, *green, *blue; /* of the first pixel; NULL: there is no colour */
  gint stride, pixel_stride;        /* bytes */
  guint width, height;
} GstStereoPointsColor;

typedef struct
{
  const GstStereoDepthView *depth; /* the whole picture, whose metadata has geometry; its mask is not asked */
  GstStereoPointsColor color;
} GstStereoPointsView;

/* Bytes that the largest cloud of such pictures needs. */
gsize gst_stereo_points_room (guint width, guint height, const GstStereoPointsSettings *settings, gboolean color);
/* Writes the file into the @room bytes at @data. It is @size bytes long and begins at @offset, so that its header, whose
 * length depends on the number of points, need not be known before. Returns the number of points, or of pixels where
 * the cloud is organised. */
guint gst_stereo_points_write (
    const GstStereoPointsView *view, const GstStereoPointsSettings *settings, guint8 *data, gsize *offset, gsize *size);

G_END_DECLS

#endif
