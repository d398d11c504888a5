/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane/points.h"

#include <math.h>
#include <string.h>

#define MOST_POINTS 8000
/* What a vehicle drives on counts most: lawns and pavements beside a road lie higher or lower. */
#define AHEAD 4000.0f /* mm to each side of the camera */
#define ASIDE 0.5f    /* weight of what lies farther to the side */
#define LANES 8       /* sums side by side, which a compiler can keep in one register */

void
gst_stereo_ground_points_clear (GstStereoGroundPoints *points)
{
  g_free (points->u);
  g_free (points->v);
  g_free (points->d);
  g_free (points->weight);
  g_free (points->starts);
  memset (points, 0, sizeof *points);
}

void
gst_stereo_ground_points_resize (GstStereoGroundPoints *points, guint count)
{
  points->count = count;
  if (count <= points->room)
    return;
  points->u = g_renew (gfloat, points->u, count);
  points->v = g_renew (gfloat, points->v, count);
  points->d = g_renew (gfloat, points->d, count);
  points->weight = g_renew (gfloat, points->weight, count);
  points->room = count;
}

void
gst_stereo_ground_points_copy (GstStereoGroundPoints *to, guint i, const GstStereoGroundPoints *from, guint j)
{
  to->u[i] = from->u[j];
  to->v[i] = from->v[j];
  to->d[i] = from->d[j];
  to->weight[i] = from->weight[j];
}

void
gst_stereo_ground_points_read (
    GstStereoGroundPoints *points, const GstStereoGroundGrid *grid, const GstStereoGroundCamera *camera)
{
  /* the slope down the picture is what matters most: more rows than columns are left */
  gint down = grid->columns * grid->rows > 2 * MOST_POINTS ? 2 : 1;
  gint across = 1 + grid->columns * ((grid->rows + down - 1) / down) / MOST_POINTS;
  gfloat baseline = (gfloat) camera->baseline;
  guint count = 0;

  points->rows = (grid->rows + down - 1) / down;
  points->row_pitch = down * grid->step;
  gst_stereo_ground_points_resize (points, (guint) points->rows * (guint) (grid->columns / across + 1));
  if ((guint) points->rows >= points->row_room) {
    points->row_room = (guint) points->rows + 1;
    points->starts = g_renew (guint, points->starts, points->row_room);
  }
  for (gint row = 0; row < points->rows; row++) {
    const gfloat *disparity = grid->disparity + gst_stereo_ground_grid_at (grid, 0, row * down);
    gfloat v = (gfloat) (gst_stereo_ground_grid_pixel (grid, row * down) - camera->y);

    points->starts[row] = count;
    for (gint i = 0; i < grid->columns; i += across) {
      points->u[count] = (gfloat) (gst_stereo_ground_grid_pixel (grid, i) - camera->x);
      points->v[count] = v;
      points->d[count] = disparity[i];
      points->weight[count] = fabsf (points->u[count]) * baseline <= AHEAD * disparity[i] ? 1 : ASIDE;
      count += disparity[i] > 0;
    }
  }
  points->starts[points->rows] = count;
  points->count = count;
}

static inline gfloat
worth (const GstStereoGroundPoints *points, guint i, const GstStereoGroundPlane *plane)
{
  gfloat residual = gst_stereo_ground_points_residual (points, i, plane);
  gfloat part = residual * (1 / GST_STEREO_GROUND_NEAR), on = 1 - part * part;

  return points->weight[i] *
      ((on > 0 ? on : 0) - (gst_stereo_ground_points_is_lower (residual, points->d[i] - residual) ? 1.0f : 0.0f));
}

gdouble
gst_stereo_ground_points_score (
    const GstStereoGroundPoints *points, guint from, guint to, const GstStereoGroundPlane *plane)
{
  gfloat sums[LANES] = { 0 };
  gdouble score = 0;
  guint i = from;

  for (; i + LANES <= to; i += LANES)
    for (guint lane = 0; lane < LANES; lane++)
      sums[lane] += worth (points, i + lane, plane);
  for (; i < to; i++)
    score += worth (points, i, plane);
  for (guint lane = 0; lane < LANES; lane++)
    score += sums[lane];
  return score;
}

/* ---- least squares ----------------------------------------------------------------------- */

/* Weighted sums of products of 1, u and v with each other and with the residual. */
typedef struct
{
  gdouble w, u, v, uu, uv, vv, r, ur, vr;
} Sums;

static void
add_up (Sums *sums, const GstStereoGroundPoints *points, const GstStereoGroundPlane *plane, gfloat tolerance)
{
  memset (sums, 0, sizeof *sums);
  for (guint i = 0; i < points->count; i++) {
    gfloat r = gst_stereo_ground_points_residual (points, i, plane), part = r / tolerance, weight;
    gfloat u = points->u[i], v = points->v[i];

    if (!(fabsf (part) < 1))
      continue;
    /* Tukey's weight */
    weight = points->weight[i] * (1 - part * part) * (1 - part * part);
    sums->w += weight;
    sums->u += weight * u;
    sums->v += weight * v;
    sums->uu += weight * u * u;
    sums->uv += weight * u * v;
    sums->vv += weight * v * v;
    sums->r += weight * r;
    sums->ur += weight * u * r;
    sums->vr += weight * v * r;
  }
}

/* Moves @plane by the least-squares plane of the residuals. */
static gboolean
step (const Sums *s, GstStereoGroundPlane *plane)
{
  gdouble u, v, r, uu, uv, vv, ur, vr, determinant, across, down;

  if (!(s->w >= 3))
    return FALSE;
  u = s->u / s->w;
  v = s->v / s->w;
  r = s->r / s->w;
  uu = s->uu / s->w - u * u;
  uv = s->uv / s->w - u * v;
  vv = s->vv / s->w - v * v;
  ur = s->ur / s->w - u * r;
  vr = s->vr / s->w - v * r;
  determinant = uu * vv - uv * uv;
  if (!(uu > 1 && vv > 1 && determinant > 0.01 * uu * vv))
    return FALSE;
  across = (ur * vv - vr * uv) / determinant;
  down = (vr * uu - ur * uv) / determinant;
  plane->across += across;
  plane->down += down;
  plane->at += r - across * u - down * v;
  return TRUE;
}

/* The distance from @plane, px, within which most of the points near it lie: three times their mean distance. The feet
 * of objects are near the ground too, all on one side. A small tolerance keeps them from lifting the ground. */
static gfloat
tolerance_of (const GstStereoGroundPoints *points, const GstStereoGroundPlane *plane)
{
  gfloat sum = 0;
  guint near = 0;

  for (guint i = 0; i < points->count; i++) {
    gfloat away = fabsf (gst_stereo_ground_points_residual (points, i, plane));

    if (away > GST_STEREO_GROUND_NEAR)
      continue;
    sum += away;
    near++;
  }
  return CLAMP (3 * sum / (gfloat) MAX (1, near), 0.5f, 1.2f);
}

gboolean
gst_stereo_ground_points_refine (const GstStereoGroundPoints *points, GstStereoGroundPlane *plane)
{
  static const gfloat tolerances[] = { 2.0f, 1.5f, 1.2f, 0, 0 }; /* px; 0 = as the points are spread */
  Sums sums;

  for (guint i = 0; i < G_N_ELEMENTS (tolerances); i++) {
    add_up (&sums, points, plane, tolerances[i] > 0 ? tolerances[i] : tolerance_of (points, plane));
    if (!step (&sums, plane))
      return FALSE;
  }
  return TRUE;
}
