/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The motion of the cameras between two frames, and which disparities of the frame before are still right in this one.
 *
 * Points: in each cell of a grid, the place with the most texture whose disparity is likely. The point is searched for in
 * the left view of the frame before, by the sum of absolute differences: coarsely in views that are reduced four times, then
 * finely.
 *
 * Fit: a rigid motion maps (u, v, d), the place from the picture's middle and the disparity, on (u', v', d') in the frame
 * before:
 *
 *   w = 1 + tz d + p v - q u,  u' w = u - Q + r v + tx d,  v' w = v + P - r u + ty d,  d' w = d
 *
 * for small rotations. P and Q are angles multiplied by the focal length, p and q are the same angles divided by it. The focal
 * length need not be known: all eight numbers are free, and the equations are linear in them. They are solved by weighted least
 * squares, in rounds: in the first every point counts, in the last only the points within a pixel of the motion. The sums are
 * whole numbers, so both backends get the same bits in any order of adding. The other operations are single IEEE operations in
 * a fixed order; files that include this header are compiled without contraction.
 *
 * A pixel whose disparity is unlikely takes over the disparity of the same place in the frame before, if that was likelier and
 * both places look alike. A disparity is taken over in at most two frames after the frame that matched it. Likely disparities
 * stay, so an object that comes nearer and is well matched does not lag. Nothing is taken over when the cameras stand still
 * (then views are averaged: exact/temporal.h), after a cut, and in pictures that are too small or have too little texture.
 */
#ifndef STEREO_EXACT_MOTION_H
#define STEREO_EXACT_MOTION_H

#include "stereo/exact/shared.h"

/* ---- points ------------------------------------------------------------------------------------ */

#define STEREO_MOTION_COLUMNS 32 /* cells */
#define STEREO_MOTION_ROWS 16
#define STEREO_MOTION_POINTS (STEREO_MOTION_COLUMNS * STEREO_MOTION_ROWS)
#define STEREO_MOTION_PLACES 6     /* tried in a cell, in each direction */
#define STEREO_MOTION_TEXTURE 3000 /* a point has at least this */
#define STEREO_MOTION_SURE 128     /* least 8-bit confidence of a point; pixels with less may take over a disparity */
#define STEREO_MOTION_REDUCED 4    /* px, side of a pixel of the reduced views */
#define STEREO_MOTION_PATCH 4      /* radius of the patch that is searched for, in both kinds of views */
#define STEREO_MOTION_COARSE_X 8   /* radius of the coarse search, in reduced pixels */
#define STEREO_MOTION_COARSE_Y 6
#define STEREO_MOTION_FINE 4 /* radius of the fine search, px */
#define STEREO_MOTION_MARGIN \
  (STEREO_MOTION_REDUCED * (STEREO_MOTION_PATCH + 1)) /* px from a point to the border, at least */
#define STEREO_MOTION_MOST_AWAY 12 /* mean difference of two patches that match, at most, in grey levels */

typedef struct StereoMotionPoint
{
  int32_t now[3], then[3]; /* u, v, d in 1/65536 of half the picture's larger side */
  int32_t sum;             /* of absolute differences */
  int32_t used, still;     /* whether it was found; whether it was found in the same place */
} StereoMotionPoint;

/* Column or row of place @k that is tried in cell @cell, along a side of @size pixels with @cells cells. */
STEREO_SHARED int
stereo_motion_place (int cell, int k, int size, int cells)
{
  return (int) ((int64_t) size * (2 * STEREO_MOTION_PLACES * cell + 2 * k + 1) / (2 * STEREO_MOTION_PLACES * cells));
}

/* A lower bound of the texture around a pixel, in the direction that has the least. */
STEREO_SHARED int32_t
stereo_motion_texture (const uint8_t *luma, ptrdiff_t pitch)
{
  int32_t xx = 0, yy = 0, xy = 0;

  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      const uint8_t *at = luma + dy * pitch + dx;
      int32_t x = at[1] - at[-1], y = at[pitch] - at[-pitch];
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
  return (xx < yy ? xx : yy) - (xy < 0 ? -xy : xy);
}

/* Sub-pixel place of the minimum, from three neighbouring sums of absolute differences; in 1/16 px from the middle one. */
STEREO_SHARED int32_t
stereo_motion_between (int32_t before, int32_t least, int32_t after)
{
  int32_t larger = before > after ? before : after;
  return larger > least ? 8 * (before - after) / (larger - least) : 0;
}

/* The units of StereoMotionPoint: of a place along a side of @size pixels, in 1/16 px, and of a disparity in px. @larger: the
 * picture's larger side. */
STEREO_SHARED int32_t
stereo_motion_coordinate (int32_t sixteenths, int size, int larger)
{
  return (int32_t) ((int64_t) (sixteenths - 8 * (size - 1)) * 8192 / larger);
}

STEREO_SHARED int32_t
stereo_motion_depth (float disparity, int larger)
{
  return (int32_t) ((int64_t) rintf (disparity * 64.0f) * 2048 / larger);
}

/* ---- fit --------------------------------------------------------------------------------------- */

#define STEREO_MOTION_UNKNOWNS 8 /* Q, P, r, p, q, tx, ty, tz */
#define STEREO_MOTION_ROUNDS 8
#define STEREO_MOTION_SUMS 44  /* the upper triangle of the equations, row by row, then the right side */
#define STEREO_MOTION_LEAST 40 /* points that follow a motion, at least */
#define STEREO_MOTION_NEAR 1.5 /* px from the motion to a point that follows it, at most */

/* Coefficients of a point's three equations, and their right sides, in 1/65536. */
typedef struct StereoMotionRows
{
  int32_t of[3][STEREO_MOTION_UNKNOWNS], rest[3];
} StereoMotionRows;

STEREO_SHARED int32_t
stereo_motion_times (int32_t a, int32_t b)
{
  return (int32_t) ((int64_t) a * b >> 16);
}

STEREO_SHARED StereoMotionRows
stereo_motion_rows (const StereoMotionPoint *point)
{
  StereoMotionRows rows;
  int32_t u = point->now[0], v = point->now[1], d = point->now[2];

  for (int k = 0; k < 3; k++) {
    int32_t then = point->then[k];
    rows.rest[k] = then - point->now[k];
    rows.of[k][0] = k == 0 ? 65536 : 0;
    rows.of[k][1] = k == 1 ? -65536 : 0;
    rows.of[k][2] = k == 0 ? -v : k == 1 ? u : 0;
    rows.of[k][3] = stereo_motion_times (then, v);
    rows.of[k][4] = -stereo_motion_times (then, u);
    rows.of[k][5] = k == 0 ? -d : 0;
    rows.of[k][6] = k == 1 ? -d : 0;
    rows.of[k][7] = stereo_motion_times (then, d);
  }
  return rows;
}

/* The square of the distance between a point and the motion, in px. @half: half the picture's larger side. */
STEREO_SHARED double
stereo_motion_away (const StereoMotionRows *rows, const double motion[STEREO_MOTION_UNKNOWNS], double half)
{
  double sum = 0;

  for (int k = 0; k < 3; k++) {
    double left = rows->rest[k];
    for (int i = 0; i < STEREO_MOTION_UNKNOWNS; i++)
      left = left + rows->of[k][i] * motion[i];
    left = left * half / 65536;
    sum = sum + left * left;
  }
  return sum;
}

/* The weight of a point in round @round, 0..255. @away: stereo_motion_away(). */
STEREO_SHARED int32_t
stereo_motion_weight (double away, int round)
{
  int shift = 5 - round > 0 ? 5 - round : 0;
  double scale = 1 << 2 * shift, one = 1 + away / scale;
  return (int32_t) (255 / (one * one) + 0.5);
}

/* Which two columns sum @index of STEREO_MOTION_SUMS multiplies; column STEREO_MOTION_UNKNOWNS is the right side. */
STEREO_SHARED void
stereo_motion_pair (int index, int *row, int *column)
{
  int first = 0;
  *row = 0;
  if (index >= STEREO_MOTION_SUMS - STEREO_MOTION_UNKNOWNS) {
    *row = index - (STEREO_MOTION_SUMS - STEREO_MOTION_UNKNOWNS);
    *column = STEREO_MOTION_UNKNOWNS;
    return;
  }
  while (index - first >= STEREO_MOTION_UNKNOWNS - *row)
    first += STEREO_MOTION_UNKNOWNS - (*row)++;
  *column = *row + index - first;
}

/* An entry of the normal equations, from sum @sum in 1/2^32. The right side is negative, so that the solution cancels the rest.
 * A little is added to the diagonal, so that a number that the points do not determine becomes 0. */
STEREO_SHARED double
stereo_motion_entry (int64_t sum, int row, int column)
{
  double value = (double) sum / 4294967296.0;
  return column == STEREO_MOTION_UNKNOWNS ? -value : row == column ? value + 0.0009765625 : value;
}

/* An element after a step of the elimination. @of_row: of the same row, in the column of the pivot; @of_step: of the row of
 * the pivot, in the same column. */
STEREO_SHARED double
stereo_motion_eliminate (double element, double of_row, double pivot, double of_step)
{
  double factor = of_row / pivot, product = factor * of_step;
  return element - product;
}

/* A motion, for places in px. */
typedef struct StereoMotion
{
  float q, p, roll, tilt, pan, tx, ty, tz; /* Q, P, r, p, q, tx, ty, tz */
  int32_t known;                           /* 0: the motion is not known */
  int32_t alike;                           /* mean of the sums of the points that follow it */
} StereoMotion;

/* Counts over all points. */
typedef struct StereoMotionCounts
{
  int32_t used, still, near; /* near: points that follow the motion */
  int32_t sum;               /* of the differences of the near points */
} StereoMotionCounts;

/* Whether the cameras may move: enough points are found, and fewer than half of them in the same place. */
STEREO_SHARED int
stereo_motion_is_likely (const StereoMotionCounts *counts)
{
  return counts->used >= STEREO_MOTION_LEAST && 2 * counts->still < counts->used;
}

/* The motion of the fit. It is not known if too few points or too small a share of them follow it, or if no vehicle moves
 * like that. */
STEREO_SHARED StereoMotion
stereo_motion_judge (const double fit[STEREO_MOTION_UNKNOWNS], const StereoMotionCounts *counts, double half)
{
  StereoMotion m = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

  m.known = stereo_motion_is_likely (counts) && counts->near >= STEREO_MOTION_LEAST &&
      5 * counts->near >= 3 * counts->used;
  for (int i = 0; i < STEREO_MOTION_UNKNOWNS; i++)
    m.known = m.known && fit[i] >= -8 && fit[i] <= 8;
  for (int i = 0; i < 5; i++)
    m.known = m.known && fit[i] >= -0.5 && fit[i] <= 0.5;
  if (!m.known)
    return m;
  m.q = (float) (fit[0] * half);
  m.p = (float) (fit[1] * half);
  m.roll = (float) fit[2];
  m.tilt = (float) (fit[3] / half);
  m.pan = (float) (fit[4] / half);
  m.tx = (float) fit[5];
  m.ty = (float) fit[6];
  m.tz = (float) (fit[7] / half);
  m.alike = counts->sum / counts->near;
  return m;
}

/* ---- pixels ------------------------------------------------------------------------------------ */

#define STEREO_MOTION_STEPS 3        /* of the iteration that finds the place in the frame before */
#define STEREO_MOTION_SETTLED 1      /* change of the disparity in the last step, at most, px */
#define STEREO_MOTION_ALIKE_RADIUS 2 /* radius of the patches that have to look alike */
#define STEREO_MOTION_TAKEN 204      /* least 8-bit confidence to be taken over, where unlikely values are rejected */
#define STEREO_MOTION_OLDEST 3       /* age: 1 in the frame that matched it, one more in each that took it over */

/* An 8-bit confidence. */
STEREO_SHARED int32_t
stereo_motion_confidence (float confidence)
{
  return (int32_t) rintf (confidence * 255.0f);
}

/* The least 8-bit confidence of a disparity that is taken over. @threshold: the confidence below which values are rejected;
 * 0: none is. Where values are rejected, only those with a high confidence are taken over: in a sky without texture, a wrong
 * one that just passed the threshold would else stay for two more frames. */
STEREO_SHARED int32_t
stereo_motion_least_sure (double threshold)
{
  int32_t kept = (int32_t) ceil (threshold * 255 * 16 / 15);
  return threshold > 0 && kept < STEREO_MOTION_TAKEN ? STEREO_MOTION_TAKEN : kept;
}

/* The 8-bit confidence of a disparity that is taken over from a pixel with confidence @before; 0: it is not taken over. */
STEREO_SHARED int32_t
stereo_motion_aged (int32_t before, int32_t least_sure)
{
  return before < least_sure ? 0 : before - before / 16;
}

/* Whether interpolation and noise explain @sum, the sum of differences around a pixel and its place before. The points of the
 * motion show how much they explain. */
STEREO_SHARED int
stereo_motion_alike (int32_t sum, const StereoMotion *m)
{
  int32_t patch = (2 * STEREO_MOTION_PATCH + 1) * (2 * STEREO_MOTION_PATCH + 1);
  int32_t compared = (2 * STEREO_MOTION_ALIKE_RADIUS + 1) * (2 * STEREO_MOTION_ALIKE_RADIUS + 1);
  return sum * patch <= 2 * compared * (m->alike + patch);
}

/* The place in the frame before of a pixel at @u, @v from the middle, with disparity @d. False if the place has become twice as
 * large or half as large, or if @d is no number. */
STEREO_SHARED int
stereo_motion_where (const StereoMotion *m, float u, float v, float d, float *x, float *y)
{
  float a = d * m->tz, b = v * m->tilt, c = u * m->pan, w = 1.0f + a;
  w = w + b;
  w = w - c;
  float e = v * m->roll, f = d * m->tx, g = u * m->roll, h = d * m->ty;
  float across = u - m->q, down = v + m->p;
  across = across + e;
  across = across + f;
  down = down - g;
  down = down + h;
  *x = across / w;
  *y = down / w;
  return w >= 0.5f && w <= 2.0f;
}

/* The disparity of a pixel in this frame, if the same place had @then in the frame before. */
STEREO_SHARED float
stereo_motion_now (const StereoMotion *m, float u, float v, float then)
{
  float b = v * m->tilt, c = u * m->pan, a = then * m->tz, over = 1.0f + b, under = 1.0f - a;
  over = over - c;
  over = then * over;
  return over / under;
}

#endif
