/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability that a disparity is right: how each method's two measures are weighed. */
#include "stereo/engine/backend.h"

/* The logit is offset + agreement * log (1.01 - a) + distinctness * log (d + 0.02), a and d between 0 and 1. */
typedef struct Weights
{
  double agreement, distinctness, offset;
} Weights;

/* Fitted by tests/bench/probability.py. Along paths costs of wrong candidates rise: the same distinctness says less. esaw
 * and esmp along paths, which no profile sets, take what asw has there. */
enum
{
  ALONE,
  ALONG_PATHS
};
#define ASW_ALONG_PATHS \
  { \
    -0.363, 3.345, 1.788 \
  }
static const Weights weights[STEREO_METHODS][2] = {
  [STEREO_METHOD_ASW] = { [ALONE] = { -0.922, 1.222, 1.062 }, [ALONG_PATHS] = ASW_ALONG_PATHS },
  [STEREO_METHOD_ESAW] = { [ALONE] = { -0.458, 1.139, 0.867 }, [ALONG_PATHS] = ASW_ALONG_PATHS },
  [STEREO_METHOD_ESMP] = { [ALONE] = { -0.457, 1.069, 0.592 }, [ALONG_PATHS] = ASW_ALONG_PATHS },
  [STEREO_METHOD_SGM] = { [ALONG_PATHS] = { -0.653, 2.877, 1.351 } }, /* never alone */
  [STEREO_METHOD_BM] = { [ALONE] = { -0.714, 1.204, -0.043 }, [ALONG_PATHS] = { -0.566, 2.278, 0.147 } },
};

void
stereo_probability_table (const StereoParams *params, StereoProbability *table)
{
  const Weights *w = &weights[params->method][params->paths == STEREO_PATHS_NONE ? ALONE : ALONG_PATHS];

  for (int k = 0; k < 256; k++) {
    double agreement = w->agreement * log (1.01 - k / 255.0), distinctness = w->distinctness * log (k / 255.0 + 0.02);
    table->agreement[k] = (int16_t) lrint ((w->offset + agreement) * STEREO_LOGIT_STEPS);
    table->distinctness[k] = (int16_t) lrint (distinctness * STEREO_LOGIT_STEPS);
  }
  /* without any distinctness nothing speaks for the disparity: both views agree about every one of a grey picture */
  table->distinctness[0] = -4 * STEREO_LOGIT_TOP;
  for (int k = -STEREO_LOGIT_TOP; k <= STEREO_LOGIT_TOP; k++) {
    double probability = 1 / (1 + exp (-(double) k / STEREO_LOGIT_STEPS));
    table->probability[k + STEREO_LOGIT_TOP] = (float) rint (probability * 255) / 255;
  }
}
