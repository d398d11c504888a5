/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane.h"

#include "gst/meta/rays.h"

#include <math.h>
#include <string.h>

/* ---- the camera above a plane ------------------------------------------------------------ */

GstStereoGroundCamera
gst_stereo_ground_camera (const GstStereoMeta *meta)
{
  return (GstStereoGroundCamera){ meta->focal_length, meta->baseline, meta->principal_offset,
    gst_stereo_rays_center (meta->principal_x, meta->width), gst_stereo_rays_center (meta->principal_y, meta->height),
    gst_stereo_rays_focal_y (meta) / meta->focal_length };
}

gboolean
gst_stereo_ground_pose_of (
    const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, GstStereoGroundPose *pose)
{
  gdouble across = plane->across, down = plane->down * camera->stretch, forward = plane->at / camera->focal;
  gdouble length = sqrt (across * across + down * down + forward * forward);

  if (!(length > 0) || !isfinite (length) || !(down > 0))
    return FALSE;
  pose->height = camera->baseline / length;
  pose->pitch = asin (CLAMP (forward / length, -1, 1)) * 180 / G_PI;
  pose->roll = atan2 (across, down) * 180 / G_PI;
  return TRUE;
}

GstStereoGroundPlane
gst_stereo_ground_plane_of (const GstStereoGroundCamera *camera, const GstStereoGroundPose *pose)
{
  gdouble pitch = pose->pitch * G_PI / 180, roll = pose->roll * G_PI / 180, scale = camera->baseline / pose->height;
  GstStereoGroundPlane plane = { scale * camera->focal * sin (pitch), scale * sin (roll) * cos (pitch),
    scale * cos (roll) * cos (pitch) / camera->stretch };

  return plane;
}

/* ---- the grid ---------------------------------------------------------------------------- */

/* Samples of the grid, at most. A box of 0.3 m at 20 m has five by five of them in a picture of 1242x375. */
#define MOST_SAMPLES (1 << 17)
#define VALUES 65536 /* of a sample */

void
gst_stereo_ground_grid_clear (GstStereoGroundGrid *grid)
{
  g_free (grid->disparity);
  g_free (grid->table);
  memset (grid, 0, sizeof *grid);
}

/* The disparity of each value of a sample. What is at infinity or beyond has none, and the largest depth says only
 * that it is far. */
static void
make_table (GstStereoGroundGrid *grid, const GstStereoMeta *meta)
{
  gboolean depth = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;
  GstStereoSampleMeaning meaning;

  gst_stereo_sample_meaning_init (&meaning, meta);
  if (grid->table && memcmp (&meaning, &grid->meaning, sizeof meaning) == 0)
    return;
  if (!grid->table)
    grid->table = g_new (gfloat, VALUES);
  grid->meaning = meaning;
  for (guint value = 0; value < VALUES; value++) {
    gdouble shifted = gst_stereo_meta_get_disparity (meta, value) + meta->principal_offset;

    grid->table[value] = shifted > 0 && isfinite (shifted) && !(depth && value == VALUES - 1) ? (gfloat) shifted : 0;
  }
}

static void
shape (GstStereoGroundGrid *grid, gint width, gint height)
{
  if (grid->width == width && grid->height == height)
    return;
  grid->width = width;
  grid->height = height;
  grid->step = 1;
  while (grid->step < MIN (width, height) && (gint64) (width / grid->step) * (height / grid->step) > MOST_SAMPLES)
    grid->step++;
  grid->columns = width / grid->step;
  grid->rows = height / grid->step;
  grid->stride = grid->columns + 2;
  gsize cells = (gsize) grid->stride * (gsize) (grid->rows + 2);
  if (cells > grid->room) {
    g_free (grid->disparity);
    grid->disparity = g_malloc (cells * (sizeof (gfloat) + 2));
    grid->room = cells;
  }
  grid->confidence = (guint8 *) (grid->disparity + cells);
  grid->excluded = grid->confidence + cells;
  memset (grid->disparity, 0, cells * (sizeof (gfloat) + 2));
}

/* Marks the samples of a row that the mask excludes. */
static void
read_mask (GstStereoGroundGrid *grid, const GstStereoDepthView *view, gint j)
{
  const guint8 *mask = view->mask ? view->mask + (gssize) gst_stereo_ground_grid_pixel (grid, j) * view->mask_stride :
                                    NULL;
  guint8 *excluded = grid->excluded + gst_stereo_ground_grid_at (grid, 0, j);

  for (gint i = 0; i < grid->columns; i++) {
    excluded[i] = mask && !mask[gst_stereo_ground_grid_pixel (grid, i)];
    grid->asked_for += !excluded[i];
  }
}

void
gst_stereo_ground_grid_read (GstStereoGroundGrid *grid, const GstStereoDepthView *view)
{
  make_table (grid, view->meta);
  shape (grid, (gint) view->meta->width, (gint) view->meta->height);
  grid->sure = grid->asked_for = 0;
  for (gint j = 0; j < grid->rows; j++) {
    gssize y = gst_stereo_ground_grid_pixel (grid, j);
    const guint8 *row = view->samples + y * view->stride;
    const guint8 *sureness = view->confidence ? view->confidence + y * view->confidence_stride : NULL;
    gfloat *disparity = grid->disparity + gst_stereo_ground_grid_at (grid, 0, j);
    guint8 *confidence = grid->confidence + gst_stereo_ground_grid_at (grid, 0, j);
    const guint8 *excluded = grid->excluded + gst_stereo_ground_grid_at (grid, 0, j);

    read_mask (grid, view, j);
    for (gint i = 0; i < grid->columns; i++) {
      gsize x = (gsize) gst_stereo_ground_grid_pixel (grid, i);
      guint value = view->wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

      confidence[i] = sureness ? sureness[x] : 255;
      disparity[i] = confidence[i] >= view->min_confidence && !excluded[i] ? grid->table[value] : 0;
      grid->sure += disparity[i] > 0;
    }
  }
}

/* ---- points and planes ------------------------------------------------------------------- */

#define MOST_POINTS 8000
#define NEAR 1.0f /* px: a sample lies on a plane that is no farther from it */
/* What a vehicle drives on counts most: lawns and pavements beside a road lie higher or lower. */
#define AHEAD 4000.0f /* mm to each side of the camera */
#define ASIDE 0.6f    /* weight of what lies farther to the side */
#define LANES 8       /* sums side by side, which a compiler can keep in one register */

void
gst_stereo_ground_points_resize (GstStereoGroundPoints *points, guint count)
{
  points->count = count;
  if (count > points->room) {
    g_free (points->u);
    points->u = g_new (gfloat, 4 * (gsize) count);
    points->room = count;
  }
  points->v = points->u + points->room;
  points->d = points->v + points->room;
  points->weight = points->d + points->room;
}

/* Pixels of disparity that a point is nearer than the plane. */
static inline gfloat
residual_of (const GstStereoGroundPoints *points, guint i, const GstStereoGroundPlane *plane)
{
  return points->d[i] -
      ((gfloat) plane->at + (gfloat) plane->across * points->u[i] + (gfloat) plane->down * points->v[i]);
}

static inline gfloat
worth (const GstStereoGroundPoints *points, guint i, const GstStereoGroundPlane *plane)
{
  gfloat residual = residual_of (points, i, plane);
  gfloat part = residual * (1 / NEAR), on = 1 - part * part;

  /* farther away than the ground, by more than a matcher's usual errors */
  gboolean lower = residual < -NEAR && residual < -0.03f * (points->d[i] - residual);

  return points->weight[i] * ((on > 0 ? on : 0) - (lower ? 1.0f : 0.0f));
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

/* px: points that are farther from a plane do not move it. With less reach, a road that is not quite flat has several planes, and
 * noise chooses one of them; with more, the feet of objects lift the ground. */
#define REACH 1.75f
#define FURTHER 1.7 /* of a step: reweighted least squares comes nearer with each one up to 2, and is fastest near it */
#define STILL 0.005 /* px */
#define MOST_STEPS 30

/* Weighted sums of products of 1, u and v with each other and with the residual. */
typedef struct
{
  gdouble w, u, v, uu, uv, vv, r, ur, vr;
} Sums;

static void
add_up (Sums *sums, const GstStereoGroundPoints *points, const GstStereoGroundPlane *plane)
{
  memset (sums, 0, sizeof *sums);
  for (guint i = 0; i < points->count; i++) {
    gfloat r = residual_of (points, i, plane), part = r / REACH, weight;
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

/* Moves @plane by the least-squares plane of the residuals, and @moved px. */
static gboolean
step (const Sums *s, GstStereoGroundPlane *plane, gdouble *moved)
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
  across = FURTHER * (ur * vv - vr * uv) / determinant;
  down = FURTHER * (vr * uu - ur * uv) / determinant;
  plane->across += across;
  plane->down += down;
  plane->at += FURTHER * r - across * u - down * v;
  *moved = fabs (FURTHER * r) + fabs (across) * sqrt (uu) + fabs (down) * sqrt (vv);
  return TRUE;
}

/* Moves @plane to where the points near it are, until it stands still: draws near each other end in the same plane. FALSE where these
 * points do not make a plane. */
static gboolean
refine (const GstStereoGroundPoints *points, GstStereoGroundPlane *plane)
{
  gdouble moved = STILL + 1;

  for (guint i = 0; i < MOST_STEPS && moved > STILL; i++) {
    Sums sums;

    add_up (&sums, points, plane);
    if (!step (&sums, plane, &moved))
      return FALSE;
  }
  return TRUE;
}

/* ---- the ground of a frame --------------------------------------------------------------- */

#define MOST_PITCH 35 /* degrees */
#define MOST_ROLL 25
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
  /* of the frame */
  const GstStereoGroundGrid *grid;
  const GstStereoGroundCamera *camera;
  const GstStereoGroundLimits *limits;
  GstStereoGroundPoints points; /* of the grid */
  GstStereoGroundPoints drawn;  /* some of them */
  gint rows, row_pitch;         /* of points; pixels between rows */
  guint *starts, row_room;      /* per row, and one more: its first point */
  guint64 random;

  /* of the frames before */
  gboolean known; /* there was a ground */
  guint missed;   /* frames without one since then */
  GstStereoGroundPlane plane;
  gboolean has_rival; /* the last frame had another ground, which was not taken */
  GstStereoGroundPlane rival;
};

GstStereoGroundFinder *
gst_stereo_ground_finder_new (void)
{
  return g_new0 (GstStereoGroundFinder, 1);
}

void
gst_stereo_ground_finder_free (GstStereoGroundFinder *finder)
{
  g_free (finder->points.u);
  g_free (finder->drawn.u);
  g_free (finder->starts);
  g_free (finder);
}

void
gst_stereo_ground_finder_forget (GstStereoGroundFinder *finder)
{
  finder->known = finder->has_rival = FALSE;
  finder->missed = 0;
}

static void
read_points (GstStereoGroundFinder *finder)
{
  const GstStereoGroundGrid *grid = finder->grid;
  GstStereoGroundPoints *points = &finder->points;
  /* the slope down the picture is what matters most: more rows than columns are left */
  gint down = grid->columns * grid->rows > 2 * MOST_POINTS ? 2 : 1;
  gint across = 1 + grid->columns * ((grid->rows + down - 1) / down) / MOST_POINTS;
  gfloat baseline = (gfloat) finder->camera->baseline;
  guint count = 0;

  finder->rows = (grid->rows + down - 1) / down;
  finder->row_pitch = down * grid->step;
  gst_stereo_ground_points_resize (points, (guint) finder->rows * (guint) (grid->columns / across + 1));
  if ((guint) finder->rows >= finder->row_room) {
    finder->row_room = (guint) finder->rows + 1;
    finder->starts = g_renew (guint, finder->starts, finder->row_room);
  }
  for (gint row = 0; row < finder->rows; row++) {
    const gfloat *disparity = grid->disparity + gst_stereo_ground_grid_at (grid, 0, row * down);
    gfloat v = (gfloat) (gst_stereo_ground_grid_pixel (grid, row * down) - finder->camera->y);

    finder->starts[row] = count;
    for (gint i = 0; i < grid->columns; i += across) {
      points->u[count] = (gfloat) (gst_stereo_ground_grid_pixel (grid, i) - finder->camera->x);
      points->v[count] = v;
      points->d[count] = disparity[i];
      points->weight[count] = fabsf (points->u[count]) * baseline <= AHEAD * disparity[i] ? 1 : ASIDE;
      count += disparity[i] > 0;
    }
  }
  finder->starts[finder->rows] = count;
  points->count = count;
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
is_plausible (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *plane, GstStereoGroundPose *pose)
{
  return gst_stereo_ground_pose_of (finder->camera, plane, pose) && pose->height >= finder->limits->min_height &&
      pose->height <= finder->limits->max_height && fabs (pose->pitch) <= MOST_PITCH && fabs (pose->roll) <= MOST_ROLL;
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
draw_all (GstStereoGroundFinder *finder, GstStereoGroundPlane best[KINDS], gboolean found[KINDS])
{
  gdouble tilt = finder->known ? finder->plane.across / finder->plane.down : 0, highest = 0;
  gdouble apart = APART * finder->grid->height;

  for (guint kind = 0; kind < KINDS; kind++) {
    gdouble score = 0;

    found[kind] = FALSE;
    for (guint i = 0; i < TRIES && (kind != LAST_LINE || finder->known); i++) {
      GstStereoGroundPlane plane;
      GstStereoGroundPose pose;

      if (!(kind == PLANE ? draw_plane (finder, apart, &plane) :
                            draw_line (finder, kind == LINE ? 0 : tilt, apart, &plane)) ||
          !is_plausible (finder, &plane, &pose))
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

    if (fabsf (residual_of (p, i, plane)) > NEAR)
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

/* The rows that show @plane: their share, and the disparities between the first and the last one. A row shows it
 * where a tenth of its samples lie on it. */
static gdouble
rows_shown (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *plane, gdouble *span)
{
  const GstStereoGroundPoints *p = &finder->points;
  gint first = -1, last = -1, shown = 0;

  for (gint row = 0; row < finder->rows; row++) {
    guint on = 0, from = finder->starts[row], to = finder->starts[row + 1];

    for (guint i = from; i < to; i++)
      on += residual_of (p, i, plane) <= NEAR && residual_of (p, i, plane) >= -NEAR;
    if (on < 3 || on * 10 < to - from)
      continue;
    first = first < 0 ? row : first;
    last = row;
    shown++;
  }
  *span = first < 0 ? 0 : plane->down * (last - first) * finder->row_pitch;
  return (gdouble) shown / finder->rows;
}

/* Judges how well @plane explains the frame. FALSE where it is no ground there. */
static gboolean
judge (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *plane, GstStereoGroundFit *fit)
{
  const GstStereoGroundPoints *p = &finder->points;
  guint on = 0, below = 0, seen = 0;
  gdouble span;

  memset (fit, 0, sizeof *fit);
  fit->plane = *plane;
  if (p->count < LEAST_POINTS || !is_plausible (finder, plane, &fit->pose))
    return FALSE;
  for (guint i = 0; i < p->count; i++) {
    gfloat residual = residual_of (p, i, plane), ground = p->d[i] - residual;

    seen += ground >= HORIZON;
    on += ground >= HORIZON && fabsf (residual) <= NEAR;
    /* farther than the ground could be, by more than a rough road */
    below += residual < -2.0f && residual < -0.1f * ground;
  }
  fit->score = gst_stereo_ground_points_score (p, 0, p->count, plane) * (1 - LEVEL * fabs (fit->pose.roll));
  fit->explained = seen ? (gdouble) on / seen : 0;
  fit->below = on ? (gdouble) below / on : G_MAXDOUBLE;
  fit->rows = rows_shown (finder, plane, &span);
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
    if (fabsf (residual_of (drawn, i, a) - residual_of (drawn, i, b)) > NEAR)
      return FALSE;
  return TRUE;
}

/* Keeps the better one of @plane, refined, and @fit. */
static gboolean
improve (GstStereoGroundFinder *finder, GstStereoGroundPlane plane, gboolean found, GstStereoGroundFit *fit)
{
  GstStereoGroundFit one;

  if (!refine (&finder->points, &plane) || !judge (finder, &plane, &one) || (found && one.score <= fit->score))
    return found;
  *fit = one;
  return TRUE;
}

/* The ground of this frame; that of the last one is where the search begins. */
static gboolean
search (GstStereoGroundFinder *finder, GstStereoGroundFit *fit)
{
  const GstStereoGroundPoints *points = &finder->points;
  GstStereoGroundPoints *drawn = &finder->drawn;
  GstStereoGroundPlane best[KINDS];
  gboolean is_drawn[KINDS], found = FALSE;

  memset (fit, 0, sizeof *fit);
  read_points (finder);
  if (points->count < LEAST_POINTS)
    return FALSE;
  finder->random = 1;
  gst_stereo_ground_points_resize (drawn, DRAWN);
  for (guint i = 0; i < DRAWN; i++) {
    guint j = draw (finder, points->count);

    drawn->u[i] = points->u[j];
    drawn->v[i] = points->v[j];
    drawn->d[i] = points->d[j];
    drawn->weight[i] = points->weight[j];
  }
  draw_all (finder, best, is_drawn);
  if (finder->known)
    found = improve (finder, finder->plane, found, fit);
  for (guint kind = 0; kind < KINDS; kind++)
    if (is_drawn[kind] && !(found && is_like (finder, &best[kind], &fit->plane)))
      found = improve (finder, best[kind], found, fit);
  return found;
}

/* ---- from frame to frame ----------------------------------------------------------------- */

#define SAME 2.0        /* px of disparity: grounds that differ by less are one ground that moved */
#define LEAST_GAIN 0.35 /* share of a small difference that is taken over */
#define STILL_GOOD 0.7  /* of the new ground's score: the last one explains the frame too */
#define MOST_MISSED 10  /* frames after which the last ground is forgotten */

/* The largest difference of two planes in the lower half of the picture. */
static gdouble
difference (const GstStereoGroundFinder *finder, const GstStereoGroundPlane *a, const GstStereoGroundPlane *b)
{
  const GstStereoGroundGrid *grid = finder->grid;
  gdouble largest = 0;

  for (guint corner = 0; corner < 4; corner++) {
    gdouble x = corner % 2 ? grid->width - 1 : 0, y = corner / 2 ? grid->height - 1 : grid->height / 2;

    largest = MAX (largest,
        fabs (gst_stereo_ground_plane_at (finder->camera, a, x, y) -
            gst_stereo_ground_plane_at (finder->camera, b, x, y)));
  }
  return largest;
}

static void
approach (GstStereoGroundPlane *plane, const GstStereoGroundPlane *to, gdouble share)
{
  plane->at += share * (to->at - plane->at);
  plane->across += share * (to->across - plane->across);
  plane->down += share * (to->down - plane->down);
}

/* What the ground is, after a frame with the ground @fresh. */
static void
take (GstStereoGroundFinder *finder, const GstStereoGroundFit *fresh)
{
  gdouble differs = finder->known ? difference (finder, &finder->plane, &fresh->plane) : 0;
  gboolean again = finder->has_rival && difference (finder, &finder->rival, &fresh->plane) <= SAME;
  GstStereoGroundFit before;

  finder->has_rival = FALSE;
  if (!finder->known) {
    finder->plane = fresh->plane;
  } else if (differs <= SAME) {
    approach (&finder->plane, &fresh->plane, MAX (LEAST_GAIN, differs / SAME));
  } else if (again || !judge (finder, &finder->plane, &before) || before.score < STILL_GOOD * fresh->score) {
    finder->plane = fresh->plane;
  } else {
    finder->has_rival = TRUE;
    finder->rival = fresh->plane;
  }
  finder->known = TRUE;
  finder->missed = 0;
}

gboolean
gst_stereo_ground_find (GstStereoGroundFinder *finder, const GstStereoGroundGrid *grid,
    const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits, GstStereoGroundFit *fit)
{
  GstStereoGroundFit fresh;

  finder->grid = grid;
  finder->camera = camera;
  finder->limits = limits;
  if (!search (finder, &fresh)) {
    *fit = fresh;
    if (++finder->missed > MOST_MISSED)
      gst_stereo_ground_finder_forget (finder);
    return FALSE;
  }
  take (finder, &fresh);
  if (judge (finder, &finder->plane, fit))
    return TRUE;
  /* the smoothed one is at a limit that the frame's own is within */
  finder->plane = fresh.plane;
  *fit = fresh;
  return TRUE;
}
