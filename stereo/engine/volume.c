/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scale of the cost volume, and the penalties of paths, which decide how large their sums become. */
#include "stereo/engine/engine.h"

#include "stereo/engine/backend.h"

#include <math.h>

/* P1 and P2 of each direction: table 1 of Mahieu & Lowney, for differences of luma. (The printed arrows over the two
 * diagonals are hard to read. With the two exchanged, six scenes give 0.1 % fewer errors with AD, and 0.03 % more with the
 * census.) */
static const double penalties[STEREO_PATH_DIRECTIONS][2] = {
  [STEREO_PATH_SIDEWAYS] = { 22.02, 82.79 },
  [STEREO_PATH_VERTICAL] = { 17.75, 80.87 },
  [STEREO_PATH_RISING] = { 14.93, 23.30 },
  [STEREO_PATH_FALLING] = { 10.67, 28.80 },
};

/* P1 and P2 along all directions, of costs that a method has aggregated: such costs vary less than those of pixels. A list holds
 * what is likely, and few rivals that a path could jump to for nothing: its penalties are larger. P2 is for a search of AMONG
 * disparities: a jump into a larger range is less likely to be the right one, by the logarithm. */
static const double penalties_of_aggregated[2] = { 11, 115 }, penalties_on_lists[2] = { 12, 150 };
#define AMONG 128

/* What a pixel's cost multiplies these penalties with: see STEREO_PIXEL_COSTS. */
static const double penalty_factor[STEREO_COSTS] = {
#define ROW(COST, name, max, unit, features, takers, PENALTIES, ...) [STEREO_COST_##COST] = PENALTIES,
  STEREO_PIXEL_COSTS (ROW)
#undef ROW
};

static double
own_penalty (const StereoParams *params, int direction, int large)
{
  double factor = penalty_factor[params->cost] > 0 ? penalty_factor[params->cost] : 1;

  if (params->method == STEREO_METHOD_SGM)
    return penalties[direction][large] * factor;
  if (large)
    factor *= fmax (log2 (params->num_disparities), 1) / log2 (AMONG);
  return (params->search == STEREO_SEARCH_COARSE_TO_FINE ? penalties_on_lists : penalties_of_aggregated)[large] * factor;
}

double
stereo_path_penalty (const StereoParams *params, int direction, int large)
{
  double p1 = params->p1 > 0 ? params->p1 : own_penalty (params, direction, 0);
  double p2 = params->p2 > 0 ? params->p2 : own_penalty (params, direction, 1);
  return large || p2 < p1 ? p2 : p1;
}

int
stereo_plan_penalty (const StereoPlan *plan, int direction, int large)
{
  const StereoParams *p = &plan->params;
  double raw = stereo_path_penalty (p, direction, large) * stereo_cost_info (p->cost)->unit;
  int whole = 2 * plan->path_unit;

  if (plan->listed)
    return 2 * (int) lrint (ldexp (raw * plan->volume_unit, -plan->path_shift) / 2);
  if (plan->path_weighted)
    return (int) lrint (raw * plan->path_units[direction] *
        (p->method == STEREO_METHOD_SGM ? 1 : ldexp (plan->volume_unit, -plan->path_shift)));
  if (p->method == STEREO_METHOD_SGM)
    return (int) lrint (raw * plan->path_unit);
  return whole * (int) lrint (ldexp (raw * plan->volume_unit, -plan->path_shift) / 2);
}

/* The larger P2 of all directions, in raw steps, and of sgm as much more as rounding adds at most: half of a step of which
 * at least 127 fit P2. */
static double
largest_penalty (const StereoParams *params)
{
  double largest = 0;

  for (int direction = 0; direction < STEREO_PATH_DIRECTIONS; direction++)
    largest = fmax (largest, stereo_path_penalty (params, direction, 1));
  if (params->method == STEREO_METHOD_SGM)
    largest *= 1 + 1 / 127.0;
  return largest * stereo_cost_info (params->cost)->unit;
}

int
stereo_volume_top (const StereoParams *params)
{
  const StereoCostInfo *cost = stereo_cost_info (params->cost);

  if (params->method == STEREO_METHOD_ESAW || params->method == STEREO_METHOD_ESMP)
    return params->truncation < cost->max ? (int) ceil (params->truncation) : cost->max;
  if (params->method != STEREO_METHOD_SGM)
    return cost->max;
  return cost->max + (int) largest_penalty (params) + 1;
}

int
stereo_volume_unit (const StereoParams *params)
{
  int unit = 1024;

  while (stereo_volume_top (params) * unit > (int) STEREO_COST_TOP)
    unit /= 2;
  return unit;
}

/* Paths read costs as bytes. Those of a method's volume are divided by 1 << path_shift: by as little as lets the largest
 * fit a byte, and the sum of all paths 16 bits. Where a bit less lets the penalty fit a byte as well, they have it: what a path adds
 * is a byte then (STEREO_PATHS_ADD_BYTES). */
static void
measure_paths (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  double top = (plan->listed ? stereo_cost_info (p->cost)->max : (double) stereo_volume_top (p)) * plan->volume_unit;
  double penalty = largest_penalty (p) * plan->volume_unit;

  plan->path_shift = 0;
  if (plan->listed) { /* what a path adds to a cost is a byte, too */
    while (ldexp (fmax (top, penalty), -plan->path_shift) > 254)
      plan->path_shift++;
    plan->path_unit = 1;
    return;
  }
  while (ldexp (top, -plan->path_shift) > 255 || p->paths * (256 + ldexp (penalty, -plan->path_shift)) > STEREO_COST_TOP)
    plan->path_shift++;
  double added = ldexp (penalty, -plan->path_shift);
  plan->path_shift += added > 255 && added <= 2 * 255;
  plan->path_unit = 1;
  while (2 * plan->path_unit * p->paths * (256 + ldexp (penalty, -plan->path_shift)) <= STEREO_COST_TOP)
    plan->path_unit *= 2;
}

/* ---- weighted paths ---------------------------------------------------------------------------- */

/*
 * The cost of a path is linear in the costs it reads and its penalties: with both times w, so is the cost of the path. A
 * direction's weight thus is the number of steps of its paths' costs in a step of the costs. All sums stay whole numbers, and
 * no path takes more work than without weights.
 */
#define PATH_TOP 16383 /* of a path's cost: stages add penalties to it, and marks of what is missing */
#define UNIT_TOP 1024  /* steps of all paths' sum in a cost unit: what the largest refine-alpha leaves room for */
#define SHIFT_GOOD 8   /* beyond this, less would be left of the costs than a byte */
#define UNIT_GOOD 4    /* fewer steps than this along rows are too few for weights below 1 */

static double
path_weight (const StereoParams *params, int direction)
{
  return direction == STEREO_PATH_SIDEWAYS ? 1 :
      direction == STEREO_PATH_VERTICAL    ? params->path_weight_vertical :
                                             params->path_weight_diagonal;
}

/* Steps of the sum of all paths in a raw step. */
static double
weighted_unit (const StereoPlan *plan)
{
  int sum = 0;
  for (int direction = 0; direction < plan->params.paths / 2; direction++)
    sum += 2 * plan->path_units[direction];
  return plan->params.method == STEREO_METHOD_SGM ? sum : ldexp (sum * (double) plan->volume_unit, -plan->path_shift);
}

/* Sets the units of all directions for @unit along rows. Whether all costs fit. */
static int
weights_fit (StereoPlan *plan, int unit)
{
  const StereoParams *p = &plan->params;
  const StereoCostInfo *cost = stereo_cost_info (p->cost);
  int sgm = p->method == STEREO_METHOD_SGM;
  double sum = 0;

  plan->path_unit = unit;
  for (int direction = 0; direction < STEREO_PATH_DIRECTIONS; direction++)
    plan->path_units[direction] = (int) lrint (unit * path_weight (p, direction));
  for (int direction = 0; direction < p->paths / 2; direction++) {
    double most = (double) plan->path_units[direction] * (sgm ? cost->max : 255) +
        stereo_plan_penalty (plan, direction, 1);
    if (most > PATH_TOP)
      return 0;
    sum += 2 * most;
  }
  return sum <= STEREO_COST_TOP && weighted_unit (plan) * fmax (cost->unit, 1) <= UNIT_TOP;
}

static StereoStatus
measure_weighted (StereoPlan *plan, StereoError *error)
{
  const StereoParams *p = &plan->params;
  int unit = UNIT_TOP;

  if (p->method != STEREO_METHOD_SGM) {
    double top = (double) stereo_volume_top (p) * plan->volume_unit;
    while (ldexp (top, -plan->path_shift) > 255 || (plan->path_shift < SHIFT_GOOD && !weights_fit (plan, UNIT_GOOD)))
      plan->path_shift++;
  }
  while (unit > 0 && !weights_fit (plan, unit))
    unit--;
  if (unit)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "p2=%g with path-weight-vertical=%g and path-weight-diagonal=%g makes sums of paths that 16 bits cannot hold: "
      "set p2 to half of that, or smaller weights.",
      p->p2, p->path_weight_vertical, p->path_weight_diagonal);
}

/* stereo_path_rounded() says for what. */
static int
path_round (const StereoPlan *plan)
{
  int largest = 0, round = 0;

  for (int direction = 0; direction < STEREO_PATH_DIRECTIONS; direction++) {
    int penalty = stereo_plan_penalty (plan, direction, 1);
    largest = penalty > largest ? penalty : largest;
  }
  while (2 * (stereo_path_rounded ((uint32_t) largest, round) >> round) > 255)
    round++;
  return round;
}

/* For costs in lists, where two places have nothing in common: half of the census bits differ. Of costs without a
 * census it is not known. */
static int
chance (const StereoPlan *plan)
{
  static const int bits[STEREO_FEATURE_SETS] = {
    [STEREO_FEATURES_CENSUS_7X5] = 32, [STEREO_FEATURES_CENSUS_7X5_GRADIENT] = 32, [STEREO_FEATURES_CENSUS_9X7] = 62
  };
  double half = bits[plan->features] * stereo_cost_info (plan->params.cost)->unit / 2;

  return half > 0 ? (int) ceil (ldexp (half * plan->volume_unit, -plan->path_shift)) : UINT8_MAX + 1;
}

StereoStatus
stereo_volume_measure (StereoPlan *plan, StereoError *error)
{
  const StereoParams *p = &plan->params;
  int sgm = p->method == STEREO_METHOD_SGM && !plan->listed;
  double unit; /* volume steps per raw step that refinement sees */
  StereoStatus status;

  unit = plan->volume_unit = stereo_volume_unit (p);
  if (plan->listed && p->method == STEREO_METHOD_SGM)
    unit = plan->volume_unit = 1; /* paths read the raw costs */
  plan->path_shift = 0;
  plan->path_unit = 0;
  plan->path_weighted = p->paths != STEREO_PATHS_NONE && (p->path_weight_vertical != 1 || p->path_weight_diagonal != 1);
  if (plan->path_weighted) {
    if ((status = measure_weighted (plan, error)))
      return status;
    unit = weighted_unit (plan);
  } else if (sgm)
    plan->path_unit = stereo_path_unit (plan->volume_unit, p->paths);
  else if (p->paths != STEREO_PATHS_NONE) {
    measure_paths (plan);
    unit = ldexp (unit * plan->path_unit * p->paths, -plan->path_shift);
  }
  for (int direction = 0; direction < STEREO_PATH_DIRECTIONS && !plan->path_weighted; direction++)
    plan->path_units[direction] = plan->path_unit;
  plan->lists.chance = chance (plan);
  plan->path_round = sgm && !plan->path_weighted ? path_round (plan) : 0;
  plan->alpha = (uint32_t) lrint (p->refine_alpha * stereo_cost_info (p->cost)->unit * unit * 256 / STEREO_EXPECT_STEPS);
  return STEREO_OK;
}
