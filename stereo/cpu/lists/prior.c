/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The prior on the costs of candidates in lists: exact/prior.h. */
#include "stereo/cpu/lists/lists.h"

#include "stereo/exact/prior.h"

#define SHORT 16 /* slots: most lists have no more */

/* Adds to the costs of the candidates @index of @count slots, a constant to the compiler. */
static inline __attribute__ ((always_inline)) void
add_penalties (uint8_t *restrict costs, const int *restrict index, int count, int steps, int most)
{
  for (int k = 0; k < count; k++) {
    int cost = costs[k] + stereo_prior_penalty (steps, index[k], most);
    costs[k] = (uint8_t) (cost < 255 ? cost : 255);
  }
}

static void
prior_row (StereoPlan *plan, void *context, int row, int thread)
{
  int most = stereo_prior_most (stereo_plan_penalty (plan, STEREO_PATH_SIDEWAYS, 1), *plan->last.noise);

  for (int column = 0; column < plan->lists.columns; column++) {
    CpuTile t = cpu_tile (plan, column, row);
    int index[STEREO_SLOTS] = { 0 };
    for (int k = 0; k < t.count * STEREO_GROUP; k++)
      index[k] = cpu_slot_index (&t, k);
    for (int y = t.y0; y < t.y1; y++) {
      uint32_t *predicted = plan->last.predicted + (size_t) y * (size_t) plan->map_pitch;
      const uint8_t *luma = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch;
      for (int x = t.x0; x < t.x1; x++) {
        uint32_t word = predicted[x];
        predicted[x] = 0;
        if (!stereo_prior_holds (word, luma[x]))
          continue;
        int steps = stereo_prior_steps (word);
        if (t.count * STEREO_GROUP <= SHORT)
          add_penalties (cpu_list_costs (plan, x, y), index, SHORT, steps, most);
        else
          add_penalties (cpu_list_costs (plan, x, y), index, STEREO_SLOTS, steps, most);
      }
    }
  }
}

static StereoStatus
prior_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, prior_row, plan->lists.rows);
  return STEREO_OK;
}

const StereoStage CPU (prior) = { .name = "prior", .run = prior_run };
