/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The largest views and searches there are: sizes and values. */
#include "stereo/engine/engine.h"
#include "tests/support/check.h"
#include "tests/support/params.h"
#include "tests/support/random.h"

static Random random_state;

/* ---- sizes --------------------------------------------------------------------------------------- */

CASE (test_arithmetic, "products and sums of sizes")
{
  size_t root = (size_t) 1 << (4 * sizeof (size_t));

  CHECK (stereo_times (root, root) == SIZE_MAX && stereo_times (root - 1, root + 1) == SIZE_MAX, "a product wraps");
  CHECK (stereo_times (root, root - 1) == SIZE_MAX - root + 1, "a product that fits does not");
  CHECK (stereo_times (SIZE_MAX, 1) == SIZE_MAX && stereo_times (SIZE_MAX, 2) == SIZE_MAX, "SIZE_MAX does not stay");
  CHECK (stereo_plus (SIZE_MAX, 1) == SIZE_MAX && stereo_plus (SIZE_MAX - 1, 1) == SIZE_MAX, "a sum wraps");
  CHECK (stereo_round_up (SIZE_MAX - 3, 256) == SIZE_MAX && stereo_round_up (SIZE_MAX, 256) == SIZE_MAX, "wraps");
  for (int n = 0; n < 1000; n++) {
    size_t a = (size_t) random_next (&random_state) << (random_next (&random_state) % (8 * sizeof (size_t)));
    size_t b = random_next (&random_state) >> (random_next (&random_state) % 32);
    double product = (double) a * (double) b, most = (double) SIZE_MAX;
    size_t got = stereo_times (a, b);
    CHECK (product > most * 1.000001 ? got == SIZE_MAX : product > most * 0.999999 || got == a * b, "%zu * %zu: %zu", a,
        b, got);
  }
}

/* Bytes of costs: of all disparities, or (coarse to fine) of lists of 32 candidates, a byte each. */
static double
cost_bytes (const StereoParams *p, double pixels)
{
  double depth = (p->num_disparities + 15) / 16 * 16;
  return p->search == STEREO_SEARCH_COARSE_TO_FINE ? 32 * pixels : 2 * depth * pixels;
}

/* Bytes of the frame state that both backends have, from the comments of stereo/engine/backend.h. */
static double
state_bytes (const StereoParams *p, int width, int height)
{
  int least = p->min_disparity < 0 ? p->min_disparity : 0, most = p->min_disparity + p->num_disparities - 1;
  double pixels = (double) width * height;
  double beyond = (most > 0 ? most : 0) - least, image = pixels + beyond * height;
  int census = p->cost == STEREO_COST_CENSUS_9X7                        ? 8 :
      p->cost == STEREO_COST_CENSUS_7X5 || p->cost == STEREO_COST_MIXED ? 4 :
                                                                          0;
  int views = 4 + 1 + census + (p->cost == STEREO_COST_MIXED ? 2 : 0), maps = 2 + 2 + 2 + 4 + 4;

  return 2 * (views * image + maps * pixels) + 2 * 4 * pixels + cost_bytes (p, pixels);
}

/* The number of bytes that a plan would take, from its refusal. */
static double
wanted_bytes (StereoParams *params, int width, int height)
{
  StereoError error = { 0 };
  const char *number;

  params->memory_limit = 1;
  StereoPlan *plan = stereo_plan_new (params, width, height, &error);
  CHECK (!plan && error.status == STEREO_ERROR_MEMORY, "%dx%d in one byte: %s", width, height, error.message);
  stereo_plan_free (plan);
  if (sizeof (size_t) < 8 && strstr (error.message, "more memory than can be addressed"))
    return INFINITY;
  number = strstr (error.message, "need ");
  return number ? strtod (number + 5, NULL) : 0;
}

/* All that is chosen by parameters and makes memory. */
static void
draw_params (StereoParams *p, int method, int refine)
{
  static const int asw[] = { STEREO_COST_CENSUS_7X5, STEREO_COST_CENSUS_9X7, STEREO_COST_MIXED, STEREO_COST_AD };
  static const int bm[] = { STEREO_COST_SAD, STEREO_COST_SSD, STEREO_COST_ZNCC, STEREO_COST_AD };

  stereo_params_init (p);
  p->backend = STEREO_BACKEND_CPU;
  p->threads = random_range (&random_state, 1, 8);
  p->method = method;
  p->cost = method == STEREO_METHOD_BM                           ? bm[random_range (&random_state, 0, 3)] :
      method == STEREO_METHOD_ASW || method == STEREO_METHOD_SGM ? asw[random_range (&random_state, 0, 3)] :
                                                                   STEREO_COST_AD;
  p->aggregation = random_range (&random_state, 0, 1);
  p->support = random_range (&random_state, 0, 2);
  p->search = random_range (&random_state, 0, 1) ? STEREO_SEARCH_FULL : STEREO_SEARCH_AUTO;
  p->window = method == STEREO_METHOD_ASW ? 2 * random_range (&random_state, 0, 31) + 1 : 0;
  p->refine_iterations = refine ? 2 : 0;
  p->refine_mode = refine;
  p->refine_window = 127;
  p->speckle_size = random_range (&random_state, 0, 1) * 100;
}

/* No less than the frame state, and no more than what the method is known to add: a second volume, bytes of costs, and
 * rows of every thread. Coarse to fine: what four paths add to the lists, and the half size with all its disparities. */
static void
check_size (StereoParams *p, int width, int height)
{
  StereoParams resolved;

  if (!CHECK (!stereo_params_resolve (p, &resolved, NULL), "parameters"))
    return;
  double got = wanted_bytes (p, width, height), least = state_bytes (&resolved, width, height);
  double depth = (p->num_disparities + 15) / 16 * 16, pixels = (double) width * height, row = (double) width * depth;
  double rows = p->threads * (row * 150 + (double) (width + 4096) * 4 * 4200) + 40 * row * 8 + 1e7;
  double second = resolved.search == STEREO_SEARCH_COARSE_TO_FINE ?
      4 * cost_bytes (&resolved, pixels) + pixels * depth / 2 :
      cost_bytes (&resolved, pixels);
  double most = least * 1.01 + (double) height * 1000 + second + pixels * 64 + rows;

  if (sizeof (size_t) < 8 && least > 1e9) {
    CHECK (got == INFINITY || got < (double) SIZE_MAX, "%.0f", got);
    CHECK (least < (double) SIZE_MAX / 4 || got == INFINITY, "%dx%d: %.0f of at least %.0f bytes", width, height, got,
        least);
    return;
  }
  CHECK (got >= least && got <= most,
      "method %d, refine-mode %d, %dx%d, %d disparities from %d: %.0f bytes, not %.0f to %.0f", p->method,
      p->refine_mode, width, height, p->num_disparities, p->min_disparity, got, least, most);
}

CASE (test_sizes, "memory of the largest plans")
{
  static const int shifts[] = { -STEREO_MAX_DISPARITIES, -1, 0, STEREO_MAX_DISPARITIES };

  for (int method = 0; method < STEREO_METHODS; method++)
    for (int refine = 0; refine <= STEREO_REFINE_IDR; refine++)
      for (int k = 0; k < 12; k++) {
        StereoParams params;
        int whole = k < 4;
        draw_params (&params, method, refine);
        params.min_disparity = shifts[k % 4];
        params.num_disparities = whole ? STEREO_MAX_DISPARITIES :
                                         random_range (&random_state, 1, STEREO_MAX_DISPARITIES);
        check_size (&params, whole ? STEREO_MAX_SIDE : random_range (&random_state, 4096, STEREO_MAX_SIDE),
            whole ? STEREO_MAX_SIDE : random_range (&random_state, 1, STEREO_MAX_SIDE));
      }
}

/* ---- numbers of 32 bits ------------------------------------------------------------------------------ */

/* What the table of docs/development/limits.md says of values that are not indices: the largest there can be. */
CASE (test_values, "the largest values")
{
  uint64_t alpha = 0;
  int unit = 0;

  for (int method = 0; method < STEREO_METHODS; method++)
    for (int cost = 1; cost < STEREO_COSTS; cost++) {
      StereoParams params;
      StereoError error = { 0 };
      stereo_params_init (&params);
      params_set (&params, "backend=cpu threads=1 method=%d cost=%d refine-alpha=10 truncation=0.001", method, cost);
      params.p1 = params.p2 = method == STEREO_METHOD_SGM ? 1000 : 0;
      if (!(stereo_method_info (method)->costs & 1u << cost))
        continue;
      StereoPlan *plan = stereo_plan_new (&params, 64, 4, &error);
      if (!CHECK (plan != NULL, "%s", error.message))
        continue;
      alpha = plan->alpha > alpha ? plan->alpha : alpha;
      unit = plan->volume_unit > unit ? plan->volume_unit : unit;
      CHECK (stereo_volume_top (&plan->params) * plan->volume_unit <= (int) STEREO_COST_TOP, "costs pass 16 bits");
      CHECK (method != STEREO_METHOD_SGM || stereo_path_unit (plan->volume_unit, plan->params.paths) > 0,
          "no unit is left");
      stereo_plan_free (plan);
    }
  /* stereo_penalty() */
  CHECK (alpha > 0 && alpha * (STEREO_MAX_DISPARITIES - 1) * STEREO_EXPECT_STEPS <= UINT32_MAX, "alpha %llu",
      (unsigned long long) alpha);
  CHECK (unit == 1024, "the largest unit is %d", unit);
}

/* Units of weighted paths: their ratios are the weights, as near as whole numbers come; all sums fit; alpha stays small. */
static void
check_weighted (const StereoParams *params)
{
  const double weight[STEREO_PATH_DIRECTIONS] = { 1, params->path_weight_vertical, params->path_weight_diagonal,
    params->path_weight_diagonal };
  const char *method = stereo_method_info (params->method)->name, *cost = stereo_cost_info (params->cost)->name;
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, 64, 4, &error);
  double sum = 0, top = params->method == STEREO_METHOD_SGM ? stereo_cost_info (params->cost)->max : 255;

  if (!plan) {
    CHECK (params->p2 > 500 && params->path_weight_vertical + params->path_weight_diagonal > 2, "%s, %s: %s", method,
        cost, error.message);
    CHECK (strstr (error.message, "path-weight") && strstr (error.message, "p2="), "'%s'", error.message);
    return;
  }
  for (int r = 0; r < STEREO_PATH_DIRECTIONS; r++) {
    CHECK (fabs (plan->path_units[r] - weight[r] * plan->path_units[0]) <= 0.5, "%s, %s, direction %d: %d of %d",
        method, cost, r, plan->path_units[r], plan->path_units[0]);
    sum += 2 * (top * plan->path_units[r] + stereo_plan_penalty (plan, r, 1));
    CHECK (stereo_plan_penalty (plan, r, 1) < 16384, "a penalty of %d", stereo_plan_penalty (plan, r, 1));
  }
  CHECK (plan->path_units[0] >= 1 && sum <= STEREO_COST_TOP, "%s, %s: units of %d, sums of %g", method, cost,
      plan->path_units[0], sum);
  CHECK ((uint64_t) plan->alpha * (STEREO_MAX_DISPARITIES - 1) * STEREO_EXPECT_STEPS <= UINT32_MAX, "%s, %s: alpha %u",
      method, cost, plan->alpha);
  stereo_plan_free (plan);
}

CASE (test_weighted_paths, "weighted paths")
{
  static const double weights[][2] = { { 0, 0 }, { 4, 4 }, { 4, 0 }, { 0, 4 }, { 0.3, 1 }, { 1, 1.7 } };
  static const double penalties[] = { 0, 0.001, 100, 1000 };

  for (int method = 0; method < STEREO_METHODS; method++)
    for (int cost = 1; cost < STEREO_COSTS; cost++)
      for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        for (size_t n = 0; n < sizeof penalties / sizeof *penalties; n++) {
          StereoParams params;
          if (!(stereo_method_info (method)->costs & 1u << cost))
            continue;
          stereo_params_init (&params);
          params_set (&params,
              "backend=cpu threads=1 method=%d cost=%d paths=8 refine-alpha=10 p1=%g p2=%g path-weight-vertical=%g "
              "path-weight-diagonal=%g",
              method, cost, penalties[n], penalties[n], weights[k][0], weights[k][1]);
          check_weighted (&params);
        }
}

int
main (int argc, char **argv)
{
  random_state.state = random_seed ();
  check_start (argc, argv);
  check_registered ();
  return check_finish ();
}
