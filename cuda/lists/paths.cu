/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths over the candidates in the lists, four ways, and the winners of both views: the stage. links.cu, ways.cu and winners.cu have
 * its kernels. */
#include "cuda/lists/paths.cuh"

namespace
{

struct PathsContext
{
  ListLink *links;
  uint8_t *added[LIST_WAYS];
};

static size_t
tiles_of (const StereoPlan *plan)
{
  return (size_t) plan->lists.columns * (size_t) plan->lists.rows;
}

static StereoStatus
paths_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  PathsContext *context = (PathsContext *) data;
  size_t cells = (size_t) stereo_cells (plan->width) * (size_t) stereo_cells (plan->height);
  StereoStatus status = list_winners_prepare (plan, error);

  if (!status)
    status = stereo_reserve_for (
        plan, STEREO_LIFE_COSTS, (void **) &context->links, tiles_of (plan), sizeof (ListLink), error);
  for (int k = 0; k < LIST_WAYS && !status; k++)
    status = stereo_reserve_for (
        plan, STEREO_LIFE_PATHS, (void **) &context->added[k], tiles_of (plan), LIST_ADDED, error);
  if (!status && plan->params.confidence_measure == STEREO_CONFIDENCE_PROBABILITY)
    status = stereo_reserve (plan, (void **) &cuda_state (plan)->distinctness, cells, 1, error);
  return status;
}

static ListPaths
paths_of (const StereoPlan *plan, const PathsContext *context)
{
  const StereoParams *p = &plan->params;
  ListPaths paths = { lists_of (plan), context->links, {}, NULL, {}, {}, {}, {}, p->penalty_step, p->subpixel };

  if (p->confidence_measure == STEREO_CONFIDENCE_PROBABILITY)
    paths.distinctness = cuda_state (plan)->distinctness;
  for (int k = 0; k < LIST_WAYS; k++)
    paths.added[k] = context->added[k];
  for (int k = 0; k < 2; k++) {
    int direction = k ? STEREO_PATH_VERTICAL : STEREO_PATH_SIDEWAYS;
    int small = stereo_plan_penalty (plan, direction, 0), large = stereo_plan_penalty (plan, direction, 1);
    paths.small[k] = 0x10001u * (uint32_t) small;
    paths.large[k] = 0x10001u * (uint32_t) large;
    paths.small_half[k] = 0x10001u * (uint32_t) stereo_path_halved (small);
    paths.large_half[k] = 0x10001u * (uint32_t) stereo_path_halved (large);
  }
  return paths;
}

static StereoStatus
paths_run (StereoPlan *plan, void *data, StereoError *error)
{
  ListPaths paths = paths_of (plan, (const PathsContext *) data);
  StereoStatus status;

  if ((status = list_links (plan, paths, error)) || (status = list_ways (plan, paths, error)))
    return status;
  return list_winners (plan, paths, error);
}

}

extern const StereoStage stereo_cuda_list_paths = {
  .name = "paths", .context_size = sizeof (PathsContext), .prepare = paths_prepare, .run = paths_run
};
