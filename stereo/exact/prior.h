/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prior: where the cameras move, a candidate far from the disparity that the frame before predicts for a pixel costs more.
 *
 * What each pixel of a frame predicts for the next one follows from the motion of exact/motion.h: the cameras are expected to
 * move on as they did. A place (u, v, d) moves to the place that the motion maps on it, found in a few steps of
 *
 *   w = 1 + tz d' + p v' - q u',  u' = u w + Q - r v' - tx d',  v' = v w - P + r u' - ty d',  d' = d w,
 *
 * each with the u', v' and d' of the step before. Of several pixels that move to one place the nearest surface stays. Only what was
 * matched in that frame predicts. Where unlikely values are hidden, it must have been likely by a wide margin: a wrong disparity
 * in the sky would else confirm itself from frame to frame.
 *
 * The penalty is small, and the same for all candidates that are far away: the costs of a well textured surface outweigh it, so
 * that an object with a motion of its own does not lag. Where the views have much noise, costs say less, and the penalty grows with
 * the variance of the noise. Smooth parts of the left view show it (exact/temporal.h), in moving pictures too. A place whose luma
 * changed is not predicted.
 *
 * All operations on places are single IEEE operations in a fixed order, as in exact/motion.h.
 */
#ifndef STEREO_EXACT_PRIOR_H
#define STEREO_EXACT_PRIOR_H

#include "stereo/exact/motion.h"

#define STEREO_PRIOR_ROUNDS 3
#define STEREO_PRIOR_STEPS 8  /* of a disparity, a pixel */
#define STEREO_PRIOR_ALIKE 24 /* change of luma at most */
#define STEREO_PRIOR_SURE 230 /* least 8-bit confidence that predicts, where unlikely values are hidden */
#define STEREO_PRIOR_NEAR 4   /* steps from the prediction that cost nothing; the penalty rises over PRIOR_STEPS more */
#define STEREO_PRIOR_SHARE 54 /* the penalty is this part of the larger penalty of paths along rows */
#define STEREO_PRIOR_CALM 10  /* variance of the noise, grey levels squared, above which the penalty grows with it */
#define STEREO_PRIOR_TIMES 5  /* as large at most */
#define STEREO_PRIOR_KNOWN (1u << 24) /* set in the word of every pixel with a prediction; the others have 0 */

/* A pixel at @u, @v from the middle, with disparity @d: its place and its disparity in the next frame. The place is not known, and
 * false returned, where it becomes twice as large or half as large. */
STEREO_SHARED int
stereo_prior_place (const StereoMotion *m, float u, float v, float d, float *next_u, float *next_v, float *next_d)
{
  float x = u, y = v, z = d, w = 1.0f;

  for (int round = 0; round < STEREO_PRIOR_ROUNDS; round++) {
    float a = z * m->tz, b = y * m->tilt, c = x * m->pan, e = m->roll * y, f = m->tx * z, g = m->roll * x, h = m->ty * z;
    w = 1.0f + a;
    w = w + b;
    w = w - c;
    float across = u * w, down = v * w;
    across = across + m->q;
    across = across - e;
    x = across - f;
    down = down - m->p;
    down = down + g;
    y = down - h;
    z = d * w;
  }
  *next_u = x;
  *next_v = y;
  *next_d = z;
  return w >= 0.5f && w <= 2.0f;
}

/* The word of a pixel: of two, that of the nearer surface is larger. 0 if @d is none of the @disparities from @min on. */
STEREO_SHARED uint32_t
stereo_prior_word (float d, int min, int disparities, int luma)
{
  float steps = rintf ((d - (float) min) * (float) STEREO_PRIOR_STEPS);

  if (!(steps >= 0.0f && steps <= (float) ((disparities - 1) * STEREO_PRIOR_STEPS)))
    return 0;
  return STEREO_PRIOR_KNOWN | (uint32_t) steps << 8 | (uint32_t) luma;
}

/* Whether the word of a pixel counts, whose luma is @luma now. */
STEREO_SHARED int
stereo_prior_holds (uint32_t word, int luma)
{
  int change = (int) (word & 255) - luma;
  return (word != 0) & (change <= STEREO_PRIOR_ALIKE) & (change >= -STEREO_PRIOR_ALIKE);
}

/* The predicted index, in steps. */
STEREO_SHARED int
stereo_prior_steps (uint32_t word)
{
  return (int) ((word & (STEREO_PRIOR_KNOWN - 1)) >> 8);
}

/* The largest penalty, in steps of the costs that paths read. @large: the larger penalty of paths along rows; @noise: standard
 * deviation, in 1/64 of a grey level. */
STEREO_SHARED int
stereo_prior_most (int large, int32_t noise)
{
  int32_t share = noise * noise / (64 * STEREO_PRIOR_CALM);
  share = share < 64 ? 64 : share > 64 * STEREO_PRIOR_TIMES ? 64 * STEREO_PRIOR_TIMES : share;
  int64_t most = (int64_t) large * share / (64 * STEREO_PRIOR_SHARE);
  return most < 255 ? (int) most : 255;
}

/* What candidate @index costs more, @steps predicted, @most at most: in steps of the costs that paths read. */
STEREO_SHARED int
stereo_prior_penalty (int steps, int index, int most)
{
  int away = index * STEREO_PRIOR_STEPS - steps;
  away = (away < 0 ? -away : away) - STEREO_PRIOR_NEAR;
  away = away < 0 ? 0 : away > STEREO_PRIOR_STEPS ? STEREO_PRIOR_STEPS : away;
  return away * most / STEREO_PRIOR_STEPS;
}

/* The least 8-bit confidence of a pixel that predicts. @hidden: whether unlikely values are hidden. */
STEREO_SHARED int32_t
stereo_prior_least_sure (int hidden)
{
  return hidden ? STEREO_PRIOR_SURE : 0;
}

#endif
