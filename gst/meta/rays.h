/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From samples to points in space, for the library and for the elements that make points: pure arithmetic. The factors
 * that all pixels share are computed once. A pixel then costs a division and four multiplications.
 */
#ifndef GST_STEREO_RAYS_H
#define GST_STEREO_RAYS_H

#include "gst/meta/gststereometa.h"

#include <math.h>

G_BEGIN_DECLS

#define GST_STEREO_BEYOND G_MAXUINT16 /* a sample of depth: that far or farther */

/* The depth is numerator / (slope * sample + offset), or slope * sample where the samples are depth. */
typedef struct
{
  gboolean depth;
  gdouble numerator, slope, offset;
  gdouble center_x, center_y; /* the principal point */
  gdouble across, down;       /* X and Y at a depth of 1, one pixel from there */
} GstStereoRays;

/* Where the principal point is unknown, the middle of the picture stands for it. */
static inline gdouble
gst_stereo_rays_center (gdouble principal, guint size)
{
  return principal != 0 ? principal : (size - 1) / 2.0;
}

static inline gdouble
gst_stereo_rays_focal_y (const GstStereoMeta *meta)
{
  return meta->focal_length_y > 0 ? meta->focal_length_y : meta->focal_length;
}

/* FALSE where no sample has a point. */
static inline gboolean
gst_stereo_rays_find (const GstStereoMeta *meta, GstStereoRays *rays)
{
  rays->depth = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;
  if (meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS || !(meta->focal_length > 0) || (!rays->depth && !(meta->baseline > 0)))
    return FALSE;
  rays->numerator = meta->focal_length * meta->baseline;
  rays->slope = rays->depth ? meta->depth_unit / 1000 : 1 / meta->disparity_scale;
  rays->offset = meta->principal_offset;
  if (meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
    rays->offset += meta->min_disparity - rays->slope;
  rays->center_x = gst_stereo_rays_center (meta->principal_x, meta->width);
  rays->center_y = gst_stereo_rays_center (meta->principal_y, meta->height);
  rays->across = 1 / meta->focal_length;
  rays->down = 1 / gst_stereo_rays_focal_y (meta);
  return TRUE;
}

/* Not-a-number unless @z is the depth of a point: before the camera, and not at infinity. */
static inline gdouble
gst_stereo_rays_accept (gdouble z)
{
  return z > 0 && z <= G_MAXFLOAT ? z : NAN;
}

/* The depth of each of @count samples, in millimetres; not-a-number where there is no point. */
static inline void
gst_stereo_rays_depths (const GstStereoRays *rays, const guint16 *samples, guint count, gfloat *depths)
{
  const gdouble numerator = rays->numerator, slope = rays->slope, offset = rays->offset;

  if (rays->depth)
    for (guint i = 0; i < count; i++)
      depths[i] = samples[i] == 0 || samples[i] == GST_STEREO_BEYOND ?
          NAN :
          (gfloat) gst_stereo_rays_accept (samples[i] * slope);
  else
    for (guint i = 0; i < count; i++)
      depths[i] = samples[i] == 0 ? NAN : (gfloat) gst_stereo_rays_accept (numerator / (samples[i] * slope + offset));
}

G_END_DECLS

#endif
