/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables that stages read. First the probability that a disparity is right: how each method's two measures are weighed. */
#include "stereo/engine/backend.h"

/* A logit is offset + agreement * log (1.01 - a) + distinctness * log (d + 0.02), a and d between 0 and 1, and edge at a depth
 * edge. It orders the pixels. The logit of the probability lies on a curve above it: linear between STEREO_KNOTS, and of slope 1
 * beyond them. */
#define STEREO_KNOTS \
  { \
    -6, -3, -1.5, 0, 1.2, 2.5, 4 \
  }
#define KNOTS 7

typedef struct Weights
{
  double agreement, distinctness, offset;
  double curve[KNOTS];
  double edge;
} Weights;

/* Fitted by tests/bench/probability.py. Along paths costs of wrong candidates rise: the same distinctness says less. The
 * curves of esaw and esmp end at 0.9 (--most): their surest pixels are few, and of few scenes. Along paths, which no profile
 * sets for them, they take what asw has there. Where edge is 0, depth edges do not count. */
enum
{
  ALONE,
  ALONG_PATHS,
  ON_LISTS, /* search=coarse-to-fine: rivals that no list holds are not seen */
  KINDS
};
#define ASW_ALONG_PATHS \
  { \
    -0.429, 3.211, 1.591, \
    { \
      -5.76, -2.25, -0.86, 0.37, 1.26, 2.16, 4.86 \
    } \
  }
static const Weights weights[STEREO_METHODS][KINDS] = {
  [STEREO_METHOD_ASW] = { [ALONE] = { -0.940, 1.261, 1.089, { -7.42, -3.56, -0.75, 0.61, 1.38, 2.06, 3.08 } },
      [ALONG_PATHS] = ASW_ALONG_PATHS,
      [ON_LISTS] = { -0.392, 3.797, 2.472, { -4.89, -2.58, -0.84, 0.44, 1.41, 2.16, 4.14 }, -0.737 } },
  [STEREO_METHOD_ESAW] = { [ALONE] = { -0.458, 1.147, 0.874, { -5.86, -2.48, -1.12, 0.19, 1.48, 2.17, 2.17 } },
      [ALONG_PATHS] = ASW_ALONG_PATHS },
  [STEREO_METHOD_ESMP] = { [ALONE] = { -0.456, 1.116, 0.568, { -4.62, -2.18, -1.24, 0.27, 1.66, 2.03, 2.17 } },
      [ALONG_PATHS] = ASW_ALONG_PATHS },
  /* never alone */
  [STEREO_METHOD_SGM] = { [ALONG_PATHS] = { -0.723, 2.539, 1.299, { -6.55, -2.82, -0.79, 0.60, 1.43, 2.11, 3.58 } },
      [ON_LISTS] = { -0.570, 4.161, 2.359, { -5.36, -2.87, -0.87, 0.63, 1.46, 2.14, 3.61 } } },
  [STEREO_METHOD_BM] = { [ALONE] = { -0.695, 1.253, 0.062, { -5.08, -2.67, -1.19, 0.73, 1.32, 1.77, 4.61 } },
      [ALONG_PATHS] = { -0.560, 2.497, 0.223, { -5.03, -2.45, -1.23, 0.47, 1.28, 2.28, 5.73 } } },
};

static double
curve_at (const double *curve, double logit)
{
  static const double knots[KNOTS] = STEREO_KNOTS;
  int k = 0;

  if (logit <= knots[0])
    return curve[0] + logit - knots[0];
  if (logit >= knots[KNOTS - 1])
    return curve[KNOTS - 1] + logit - knots[KNOTS - 1];
  while (logit > knots[k + 1])
    k++;
  return curve[k] + (curve[k + 1] - curve[k]) * (logit - knots[k]) / (knots[k + 1] - knots[k]);
}

void
stereo_probability_table (const StereoParams *params, StereoProbability *table)
{
  int kind = params->search == STEREO_SEARCH_COARSE_TO_FINE ? ON_LISTS :
      params->paths == STEREO_PATHS_NONE                    ? ALONE :
                                                              ALONG_PATHS;
  const Weights *w = &weights[params->method][kind];

  for (int k = 0; k < 256; k++) {
    double agreement = w->agreement * log (1.01 - k / 255.0), distinctness = w->distinctness * log (k / 255.0 + 0.02);
    table->agreement[k] = (int16_t) lrint ((w->offset + agreement) * STEREO_LOGIT_STEPS);
    table->distinctness[k] = (int16_t) lrint (distinctness * STEREO_LOGIT_STEPS);
  }
  /* without any distinctness nothing speaks for the disparity: both views agree about every one of a grey picture */
  table->distinctness[0] = -4 * STEREO_LOGIT_TOP;
  table->edge = (int32_t) lrint (w->edge * STEREO_LOGIT_STEPS);
  for (int k = -STEREO_LOGIT_TOP; k <= STEREO_LOGIT_TOP; k++) {
    double probability = 1 / (1 + exp (-curve_at (w->curve, (double) k / STEREO_LOGIT_STEPS)));
    table->probability[k + STEREO_LOGIT_TOP] = (float) rint (probability * 255) / 255;
  }
  table->probability[0] = 0;
}

/* ---- CIELAB: stereo/exact/lab.h ------------------------------------------------------------------- */

/* The light that a sample of sRGB stands for, 0..1. */
static double
light_of (double sample)
{
  return sample <= 0.04045 ? sample / 12.92 : pow ((sample + 0.055) / 1.055, 2.4);
}

static double
root_of (double light)
{
  const double dark = 6.0 / 29;
  return light > dark * dark * dark ? cbrt (light) : light / (3 * dark * dark) + 4.0 / 29;
}

void
stereo_lab_table (StereoLab *table)
{
  for (int k = 0; k < 256; k++)
    table->light[k] = (uint16_t) lrint (65535 * light_of (k / 255.0));
  for (int k = 0; k < STEREO_LAB_ROOTS; k++)
    table->root[k] = (uint16_t) lrint (STEREO_LAB_ONE * root_of ((double) (k << STEREO_LAB_ROOT_SHIFT) / 65535));
}
