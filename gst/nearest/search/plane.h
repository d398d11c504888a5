/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plane through points, by least squares: pure arithmetic. */
#ifndef GST_STEREO_PLANE_H
#define GST_STEREO_PLANE_H

#include <glib.h>

G_BEGIN_DECLS

/* Sums over the points. Zeroed before the first one. */
typedef struct
{
  gdouble count, x, y, z, xx, xy, yy, xz, yz;
} GstStereoPlane;

static inline void
gst_stereo_plane_add (GstStereoPlane *plane, gdouble x, gdouble y, gdouble z)
{
  plane->count++;
  plane->x += x;
  plane->y += y;
  plane->z += z;
  plane->xx += x * x;
  plane->xy += x * y;
  plane->yy += y * y;
  plane->xz += x * z;
  plane->yz += y * z;
}

/* Of at least one point. Their mean, where they lie nearly on a line: a slope across it would be noise. */
static inline gdouble
gst_stereo_plane_at_origin (const GstStereoPlane *plane)
{
  gdouble n = plane->count, x = plane->x / n, y = plane->y / n, z = plane->z / n;
  gdouble xx = plane->xx / n - x * x, xy = plane->xy / n - x * y, yy = plane->yy / n - y * y;
  gdouble xz = plane->xz / n - x * z, yz = plane->yz / n - y * z, determinant = xx * yy - xy * xy;

  if (determinant <= 0.01 * xx * yy || xx < 1 || yy < 1)
    return z;
  return z - (x * (xz * yy - yz * xy) + y * (yz * xx - xz * xy)) / determinant;
}

G_END_DECLS

#endif
