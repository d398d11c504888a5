/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exact places: a match of the small pictures, to a fraction of a pixel in the views themselves. */
#ifndef GST_STEREO_CHECK_PLACE_H
#define GST_STEREO_CHECK_PLACE_H

#include <glib.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_CHECK_MAX_FACTOR 32 /* views to small pictures */
#define GST_STEREO_CHECK_MAX_SLACK (GST_STEREO_CHECK_MAX_FACTOR / 2 + 2)

/* A match in the views, as exact as the small pictures are. */
typedef struct
{
  gint width, height; /* of the views */
  gint x, y;          /* of the patch's middle in the left view */
  gint across, down;  /* from there to its place in the right one */
  gint slack;         /* px that the place may be wrong by */
} GstStereoCheckSpot;

/* FALSE where it cannot be placed. */
gboolean gst_stereo_check_place (const StereoImage *left, const StereoImage *right, const GstStereoCheckSpot *spot,
    gdouble *disparity, gdouble *offset);

/* Luma, or green, which stands for it. */
static inline const guint8 *
gst_stereo_check_samples (const StereoImage *image, gint x, gint y)
{
  return image->data + y * image->stride + (gssize) x * image->pixel_stride + image->offset[image->channels == 3];
}

G_END_DECLS

#endif
