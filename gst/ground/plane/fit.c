/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane/fit.h"

#include "gst/ground/plane/points.h"

#include <math.h>
#include <string.h>

#define TRIES 250  /* draws of each kind */
#define DRAWN 1024 /* samples that score a drawn plane */
#define FIRST 192  /* of these, the samples that reject most bad planes early */
#define FIRST_SHARE 0.5
#define APART 0.05  /* of the picture's height: rows of two samples of a line */
#define HORIZON 1.5 /* px of disparity: the ground is judged where it has more */

/* A plane that explains a smaller share is no ground. In dense traffic, a fifth of the samples below the horizon is
 * road. */
#define LEAST_EXPLAINED 0.2
#define MOST_BELOW 0.67 /* two fifths of all pixels may be wrong, and most of these are below a near ground */
#define LEAST_ROWS 0.12
#define LEAST_SPAN 4.0 /* px of disparity between the rows that show it */
#define LEVEL \
  0.01 /* of the score, per degree of roll: of two planes that are nearly as good, the level one is the road */
#define LEAST_POINTS 100
/* In each part of the picture, the samples on a plane have to slope as the plane does. Otherwise several upright objects with
 * few disparities would together make a plane. */
#define LEAST_SLOPE 0.5
#define ACROSS 16 /* parts */
#define DOWN 12
#define FULL_ROWS 0.3 /* a plane over that many rows is as sure as can be */

enum
{
  LINE,      /* level, through two samples */
  LAST_LINE, /* with the roll of the last ground, through two samples */
  PLANE,     /* through three samples */
  KINDS
};

struct _GstStereoGroundFinder
{
  GstStereoGroundPoints points; /* of the grid */
  GstStereoGroundPoints drawn;  /* some of them */
  guint64 random;
};

GstStereoGroundFinder *
gst_stereo_ground_finder_new (void)
{
  return g_new0 (GstStereoGroundFinder, 1);
}

void
gst_stereo_ground_finder_free (GstStereoGroundFinder *finder)
{
  gst_stereo_ground_points_clear (&finder->points);
  gst_stereo_ground_points_clear (&finder->drawn);
  g_free (finder);
}

/* splitmix64 */
static guint
draw (GstStereoGroundFinder *finder, guint count)
{
  guint64 z = finder->random += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ z >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (guint) (((z ^ z >> 31) >> 32) * count >> 32);
}

/* Points lie row after row: the last ones are the lowest in the picture, where the ground is. */
static guint
draw_low (GstStereoGroundFinder *finder)
{
  guint upper = finder->points.count * 2 / 5;

  return upper + draw (finder, finder->points.count - upper);
}

/* ---- drawn planes ------------------------------------------------------------------------ */

static gboolean
is_plausible (const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits,
    const GstStereoGroundPlane *plane, GstStereoGroundPose *pose)
{
  return gst_stereo_ground_pose_of (camera, plane, pose) && pose->height >= limits->min_height &&
      pose->height <= limits->max_height && fabs (pose->pitch) <= GST_STEREO_GROUND_MOST_PITCH &&
      fabs (pose->roll) <= GST_STEREO_GROUND_MOST_ROLL;
}

/* A plane with across = @tilt * down through two samples. */
static gboolean
draw_line (GstStereoGroundFinder *finder, gdouble tilt, gdouble apart, GstStereoGroundPlane *plane)
{
  const GstStereoGroundPoints *p = &finder->points;
  guint i = draw_low (finder), j = draw (finder, p->count);
  gdouble vi = p->v[i] + tilt * p->u[i], vj = p->v[j] + tilt * p->u[j];

  if (fabs (vi - vj) < apart)
    return FALSE;
  plane->down = (p->d[i] - p->d[j]) / (vi - vj);
  plane->across = tilt * plane->down;
  plane->at = p->d[i] - plane->down * vi;
  return TRUE;
}

static gboolean
draw_plane (GstStereoGroundFinder *finder, gdouble apart, GstStereoGroundPlane *plane)
{
  const GstStereoGroundPoints *p = &finder->points;
  guint i = draw_low (finder), j = draw (finder, p->count), k = draw_low (finder);
  gdouble u1 = p->u[j] - p->u[i], v1 = p->v[j] - p->v[i], d1 = p->d[j] - p->d[i];
  gdouble u2 = p->u[k] - p->u[i], v2 = p->v[k] - p->v[i], d2 = p->d[k] - p->d[i];
  gdouble area = u1 * v2 - u2 * v1;

  if (fabs (area) < apart * apart)
    return FALSE;
  plane->across = (d1 * v2 - d2 * v1) / area;
  plane->down = (u1 * d2 - u2 * d1) / area;
  plane->at = p->d[i] - plane->across * p->u[i] - plane->down * p->v[i];
  return TRUE;
}

/* Scores @plane by the drawn samples. What does badly on the first of them is given up. */
static gdouble
score_drawn (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *plane, gdouble best)
{
  const GstStereoGroundPoints *drawn = &finder->drawn;
  gdouble score = gst_stereo_ground_points_score (drawn, 0, FIRST, plane);

  if (score < FIRST_SHARE * best * FIRST / DRAWN)
    return -1;
  return score + gst_stereo_ground_points_score (drawn, FIRST, DRAWN, plane);
}

/* The best planes of each kind, in @best. FALSE in @found where there is none. */
static void
draw_all (GstStereoGroundFinder *finder, const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits,
    const GstStereoGroundPlane *last, gdouble apart, GstStereoGroundPlane best[KINDS], gboolean found[KINDS])
{
  gdouble tilt = last ? last->across / last->down : 0, highest = 0;

  for (guint kind = 0; kind < KINDS; kind++) {
    gdouble score = 0;

    found[kind] = FALSE;
    for (guint i = 0; i < TRIES && (kind != LAST_LINE || last); i++) {
      GstStereoGroundPlane plane;
      GstStereoGroundPose pose;

      if (!(kind == PLANE ? draw_plane (finder, apart, &plane) :
                            draw_line (finder, kind == LINE ? 0 : tilt, apart, &plane)) ||
          !is_plausible (camera, limits, &plane, &pose))
        continue;
      gdouble one = score_drawn (finder, &plane, MAX (score, highest / 2));
      if (one > score) {
        score = one;
        best[kind] = plane;
        found[kind] = TRUE;
      }
    }
    highest = MAX (highest, score);
  }
}

/* ---- the ground -------------------------------------------------------------------------- */

/* Regression of disparity on row in a part of the picture. */
typedef struct
{
  gdouble n, v, d, vv, vd;
} Part;

/* How much the samples on @plane slope, down the picture and within its parts, as a share of the plane's slope. */
static gdouble
own_slope (const GstStereoGroundPoints *p, const GstStereoGroundPlane *plane)
{
  Part parts[ACROSS * DOWN] = { { 0 } };
  gfloat left = p->u[0], right = p->u[0], top = p->v[0], bottom = p->v[p->count - 1];
  gdouble vv = 0, vd = 0;

  for (guint i = 0; i < p->count; i++) {
    left = MIN (left, p->u[i]);
    right = MAX (right, p->u[i]);
  }
  for (guint i = 0; i < p->count; i++) {
    gint across = (gint) ((p->u[i] - left) * ACROSS / (right - left + 1));
    Part *part = &parts[(gint) ((p->v[i] - top) * DOWN / (bottom - top + 1)) * ACROSS + across];
    gfloat d = p->d[i] - (gfloat) plane->across * p->u[i];

    if (fabsf (gst_stereo_ground_points_residual (p, i, plane)) > GST_STEREO_GROUND_NEAR)
      continue;
    part->n++;
    part->v += p->v[i];
    part->d += d;
    part->vv += p->v[i] * p->v[i];
    part->vd += p->v[i] * d;
  }
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    gdouble n = MAX (1, parts[i].n);

    vv += parts[i].vv - parts[i].v * parts[i].v / n;
    vd += parts[i].vd - parts[i].v * parts[i].d / n;
  }
  return vv > 0 ? vd / vv / plane->down : 0;
}

/* Of the rows that show @plane: their share, and the disparities between the first and the last one. A row shows it
 * where a tenth of its samples lie on it. */
static gdouble
rows_shown (const GstStereoGroundPoints *p, const GstStereoGroundPlane *plane, gdouble *span)
{
  gint first = -1, last = -1, shown = 0;

  for (gint row = 0; row < p->rows; row++) {
    guint on = 0, from = p->starts[row], to = p->starts[row + 1];

    for (guint i = from; i < to; i++)
      on += gst_stereo_ground_points_residual (p, i, plane) <= GST_STEREO_GROUND_NEAR &&
          gst_stereo_ground_points_residual (p, i, plane) >= -GST_STEREO_GROUND_NEAR;
    if (on < 3 || on * 10 < to - from)
      continue;
    first = first < 0 ? row : first;
    last = row;
    shown++;
  }
  *span = first < 0 ? 0 : plane->down * (last - first) * p->row_pitch;
  return (gdouble) shown / p->rows;
}

gboolean
gst_stereo_ground_judge (const GstStereoGroundFinder *finder, const GstStereoGroundCamera *camera,
    const GstStereoGroundLimits *limits, const GstStereoGroundPlane *plane, GstStereoGroundFit *fit)
{
  const GstStereoGroundPoints *p = &finder->points;
  guint on = 0, below = 0, seen = 0;
  gdouble span;

  memset (fit, 0, sizeof *fit);
  fit->plane = *plane;
  if (p->count < LEAST_POINTS || !is_plausible (camera, limits, plane, &fit->pose))
    return FALSE;
  for (guint i = 0; i < p->count; i++) {
    gfloat residual = gst_stereo_ground_points_residual (p, i, plane), ground = p->d[i] - residual;

    seen += ground >= HORIZON;
    on += ground >= HORIZON && fabsf (residual) <= GST_STEREO_GROUND_NEAR;
    below += gst_stereo_ground_points_is_below (residual, ground);
  }
  fit->score = gst_stereo_ground_points_score (p, 0, p->count, plane) * (1 - LEVEL * fabs (fit->pose.roll));
  fit->explained = seen ? (gdouble) on / seen : 0;
  fit->below = on ? (gdouble) below / on : G_MAXDOUBLE;
  fit->rows = rows_shown (p, plane, &span);
  if (on < LEAST_POINTS || fit->explained < LEAST_EXPLAINED || fit->below > MOST_BELOW || fit->rows < LEAST_ROWS ||
      span < LEAST_SPAN || own_slope (p, plane) < LEAST_SLOPE)
    return FALSE;
  fit->quality = fit->explained * (1 - fit->below) * MIN (1, fit->rows / FULL_ROWS);
  return TRUE;
}

/* Whether two planes would be refined to the same one. */
static gboolean
is_like (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *a, const GstStereoGroundPlane *b)
{
  const GstStereoGroundPoints *drawn = &finder->drawn;

  for (guint i = 0; i < FIRST; i++)
    if (fabsf (gst_stereo_ground_points_residual (drawn, i, a) - gst_stereo_ground_points_residual (drawn, i, b)) >
        GST_STEREO_GROUND_NEAR)
      return FALSE;
  return TRUE;
}

/* Keeps the better one of @plane, refined, and @fit. */
static gboolean
improve (GstStereoGroundFinder *finder, const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits,
    GstStereoGroundPlane plane, gboolean found, GstStereoGroundFit *fit)
{
  GstStereoGroundFit one;

  if (!gst_stereo_ground_points_refine (&finder->points, &plane) ||
      !gst_stereo_ground_judge (finder, camera, limits, &plane, &one) || (found && one.score <= fit->score))
    return found;
  *fit = one;
  return TRUE;
}

gboolean
gst_stereo_ground_find (GstStereoGroundFinder *finder, const GstStereoGroundGrid *grid,
    const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits, const GstStereoGroundPlane *last,
    GstStereoGroundFit *fit)
{
  GstStereoGroundPlane best[KINDS];
  gboolean drawn[KINDS], found = FALSE, still;

  memset (fit, 0, sizeof *fit);
  gst_stereo_ground_points_read (&finder->points, grid, camera);
  if (finder->points.count < LEAST_POINTS)
    return FALSE;
  finder->random = 1;
  gst_stereo_ground_points_resize (&finder->drawn, DRAWN);
  for (guint i = 0; i < DRAWN; i++)
    gst_stereo_ground_points_copy (&finder->drawn, i, &finder->points, draw (finder, finder->points.count));
  draw_all (finder, camera, limits, last, APART * grid->height, best, drawn);
  if (last)
    found = improve (finder, camera, limits, *last, found, fit);
  still = found;
  for (guint kind = 0; kind < KINDS; kind++)
    if (drawn[kind] && !(still && is_like (finder, &best[kind], &fit->plane)))
      found = improve (finder, camera, limits, best[kind], found, fit);
  return found;
}
