/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size message propagation (Yu et al., equations 9 to 21): as esaw.c, but messages are averaged. The message
 * of a pixel is the lower envelope of truncated cones, one on each of its costs:
 *
 *   M(d) = min (min_k (C(d + k) + c |k|), min C + eta)
 *
 * The paper computes M in two sweeps, one candidate at a time. Vectors widen the cones instead, to reaches of 1, 3, 7 ...
 * candidates, until they have risen by eta. Costs are whole numbers: both ways give the same.
 */
#include "stereo/cpu/exponential/stage.h"

/* How many candidates away a cone has risen by eta. */
static int
distance_of (const StereoPlan *plan, const StereoExponential *e)
{
  int most = plan->disparities - 1;
  return e->small && e->large / e->small < most ? e->large / e->small : most;
}

static void
set_pads (const StereoPlan *plan, uint16_t *costs)
{
  for (int i = plan->disparities; i < plan->depth; i++)
    costs[i] = STEREO_EXPONENTIAL_PAD;
}

/* Makes cones reach twice as far. @to and @from lie between columns of pads. */
static void
widen (const uint16_t *from, uint16_t *to, int depth, int wide, VecW slope)
{
  for (int i = 0; i < depth; i += WORDS) {
    VecW near = vec_min_words (vec_load_w (from + i - wide), vec_load_w (from + i + wide));
    vec_store_w (to + i, vec_min_words (vec_load_w (from + i), vec_add_words (near, slope)));
  }
}

/* Widens several columns in turns: a load then does not wait for a store that was only just issued. */
static void
make_some (const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch)
{
  int depth = plan->depth, distance = distance_of (plan, e), pitch = 6 * depth;
  uint16_t *from = scratch + depth, *to = from + 3 * depth; /* each between two columns of pads */
  VecW cap[CPU_MESSAGE_COLUMNS];

  for (int k = 0; k < columns; k++) {
    VecW lowest = (VecW){ 0 } + STEREO_EXPONENTIAL_PAD;
    set_pads (plan, costs + k * depth);
    for (int i = 0; i < depth; i += WORDS) {
      VecW cost = vec_load_w (costs + k * depth + i);
      lowest = vec_min_words (lowest, cost);
      vec_store_w (from + k * pitch + i, cost);
    }
    cap[k] = vec_add_words ((VecW){ 0 } + vec_lowest_word (lowest), (VecW){ 0 } + (uint16_t) e->large);
  }
  for (int wide = 1; wide <= distance; wide *= 2) {
    int64_t rise = (int64_t) wide * e->small;
    VecW slope = (VecW){ 0 } + (uint16_t) (rise < 0xFFFF ? rise : 0xFFFF);
    for (int k = 0; k < columns; k++)
      widen (from + k * pitch, to + k * pitch, depth, wide, slope);
    uint16_t *swap = from;
    from = to;
    to = swap;
  }
  for (int k = 0; k < columns; k++) {
    for (int i = 0; i < depth; i += WORDS)
      vec_store_w (costs + k * depth + i, vec_min_words (vec_load_w (from + k * pitch + i), cap[k]));
    set_pads (plan, costs + k * depth);
  }
}

static void
make_messages (const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch)
{
  for (int x = 0; x < columns; x += CPU_MESSAGE_COLUMNS)
    make_some (plan, e, costs + (size_t) x * (size_t) plan->depth,
        columns - x < CPU_MESSAGE_COLUMNS ? columns - x : CPU_MESSAGE_COLUMNS, scratch);
}

static StereoStatus
esmp_run (StereoPlan *plan, void *context, StereoError *error)
{
  CpuExponential *x = context;
  size_t depth = (size_t) plan->depth;

  /* The pads around the messages that are computed hold the least likely cost. */
  for (int thread = 0; thread < cpu_threads (plan); thread++)
    memset (CPU (exponential_scratch) (plan, x, thread), 0xFF, 6 * CPU_MESSAGE_COLUMNS * depth * sizeof (uint16_t));
  return CPU (exponential_run) (plan, x, make_messages);
}

static const StereoStage esmp = {
  .name = "match", .context_size = sizeof (CpuExponential), .prepare = CPU (exponential_prepare), .run = esmp_run
};

/* The registry gives esmp one cost, AD. */
const StereoStage *
CPU (esmp) (const StereoParams *params)
{
  return params->cost == STEREO_COST_AD ? &esmp : NULL;
}
