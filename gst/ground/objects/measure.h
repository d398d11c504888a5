/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The size and place of an object from its samples: pure arithmetic. */
#ifndef GST_STEREO_GROUND_MEASURE_H
#define GST_STEREO_GROUND_MEASURE_H

#include "gst/ground/objects/classes.h"

G_BEGIN_DECLS

/* The value that a share of @part (0..1) of @values is not above. @count is at least 1; the values change places. */
gfloat gst_stereo_ground_quantile (gfloat *values, guint count, gdouble part);

typedef struct
{
  gint x, y, width, height;            /* its box in the picture, px */
  gdouble distance;                    /* of its front, along the optical axis, mm */
  gdouble lateral;                     /* of its middle, to the right, mm */
  gdouble object_width, object_height; /* mm; its height is above the ground */
  gdouble probability;                 /* 0..1 */
} GstStereoObstacle;

/* A sample of an object. */
typedef struct
{
  gint column, row;
} GstStereoGroundSample;

/* FALSE where the object is no obstacle. */
gboolean gst_stereo_ground_measure (
    const GstStereoGroundScene *scene, const GstStereoGroundSample *samples, guint count, GstStereoObstacle *obstacle);

G_END_DECLS

#endif
