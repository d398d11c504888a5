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

/*
 * The plane's z at the origin, of at least one point; points lie @pitch pixels apart. Their mean, where they lie nearly on a
 * line: a slope across it would be noise.
 *
 * Across a narrow object, the slope that fits best is noise too. A matcher errs by NOISE, and by about the same in all points
 * of a patch: n points are only as good as n / (PATCH / @pitch)^2 that err independently. Before a point is seen, slopes to
 * the right are spread by STEEP around 0. What is then most likely is the least-squares plane with one more term, the square
 * of that slope times (NOISE / STEEP)^2 (PATCH / @pitch)^2. Wide surfaces have points enough to outweigh the term. Slopes
 * downwards are spread much wider: a road's is a third of a pixel for each pixel, so that they have no such term.
 */
#define GST_STEREO_PLANE_NOISE 0.5 /* px of disparity */
#define GST_STEREO_PLANE_PATCH 16  /* px; its side */
#define GST_STEREO_PLANE_STEEP \
  0.05 /* px of disparity for each pixel: a wall that is turned by 45 degrees, 20 baselines away */

static inline gdouble
gst_stereo_plane_at_origin (const GstStereoPlane *plane, gint pitch)
{
  const gdouble weight = GST_STEREO_PLANE_NOISE / GST_STEREO_PLANE_STEEP * GST_STEREO_PLANE_PATCH / pitch;
  gdouble n = plane->count, x = plane->x / n, y = plane->y / n, z = plane->z / n;
  gdouble xx = plane->xx / n - x * x, xy = plane->xy / n - x * y, yy = plane->yy / n - y * y;
  gdouble xz = plane->xz / n - x * z, yz = plane->yz / n - y * z;

  if (xx * yy - xy * xy <= 0.01 * xx * yy || xx < 1 || yy < 1)
    return z;
  xx += weight * weight / n;
  return z - (x * (xz * yy - yz * xy) + y * (yz * xx - xz * xy)) / (xx * yy - xy * xy);
}

G_END_DECLS

#endif
