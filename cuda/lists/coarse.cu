/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the views to the lists of tiles: the views at half the size, the steps of that size, and the votes of their result. */
#include "cuda/lists.cuh"

namespace
{

/* ---- half the size ------------------------------------------------------------------------------- */

constexpr int HALF_X = 32, HALF_Y = 8;

/* The mean of four colours, each rounded to the nearest. */
static __device__ __forceinline__ uint32_t
mean_color (uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  const uint32_t OUTER = 0x00FF00FFu;
  uint32_t red_blue = (a & OUTER) + (b & OUTER) + (c & OUTER) + (d & OUTER) + 0x00020002u;
  uint32_t green = (a >> 8 & 0xFF) + (b >> 8 & 0xFF) + (c >> 8 & 0xFF) + (d >> 8 & 0xFF) + 2;
  return (red_blue >> 2 & OUTER) | green >> 2 << 8;
}

/* Thread: a pixel of the half size; blockIdx.z: its view. Where the size is odd, the last column and row count twice; of the right
 * view, which is stored mirrored, that is column 0. */
static __global__ void
__launch_bounds__ (HALF_X *HALF_Y) halve_kernel (const __grid_constant__ Frame f, const __grid_constant__ Frame half)
{
  int x = blockIdx.x * HALF_X + threadIdx.x, y = blockIdx.y * HALF_Y + threadIdx.y;
  const StereoView &from = blockIdx.z ? f.view[1] : f.view[0], &to = blockIdx.z ? half.view[1] : half.view[0];

  if (x >= half.width || y >= half.height)
    return;
  int pad = blockIdx.z == STEREO_RIGHT ? 2 * half.width - f.width : 0;
  int a = max (2 * x - pad, 0), b = min (2 * x - pad + 1, f.width - 1);
  size_t low = (size_t) (2 * y) * f.image_pitch, high = low + (2 * y + 1 < f.height ? f.image_pitch : 0);
  size_t at = (size_t) y * half.image_pitch + x;
  to.color[at] = mean_color (from.color[low + a], from.color[low + b], from.color[high + a], from.color[high + b]);
  to.luma[at] = (uint8_t) (from.luma[low + a] + from.luma[low + b] + from.luma[high + a] + from.luma[high + b] + 2 >> 2);
}

static StereoStatus
coarse_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->coarse->width, HALF_X), cuda_blocks (plan->coarse->height, HALF_Y), 2);

  halve_kernel<<<grid, dim3 (HALF_X, HALF_Y), 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), cuda_frame (plan->coarse));
  CUDA_LAUNCHED (plan, "halve_kernel");
  return stereo_run_coarse (plan, error);
}

/* ---- the winner before the paths ------------------------------------------------------------------- */

/* Block: a tile, a thread a pixel. The lowest of the costs that exist, of equal ones the first. */
static __global__ void
__launch_bounds__ (LIST_TILE *LIST_TILE)
    keep_kernel (const __grid_constant__ Frame f, const __grid_constant__ Lists lists, uint16_t *winner)
{
  int x = blockIdx.x * LIST_TILE + threadIdx.x % LIST_TILE, y = blockIdx.y * LIST_TILE + threadIdx.x / LIST_TILE;

  if (x >= f.width || y >= f.height)
    return;
  const uint4 *from = (const uint4 *) list_costs (f, lists, x, y);
  const uint16_t *groups = lists.groups + (size_t) (blockIdx.y * lists.columns + blockIdx.x) * LIST_GROUPS;
  uint4 vectors[2] = { from[0], from[1] };
  int first = stereo_first_index (x, f.width, f.min_disparity);
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  uint32_t best = ~0u;
#pragma unroll
  for (int g = 0; g < LIST_GROUPS; g++) {
    uint32_t four = word_of (vectors[g / 4], g % 4);
    int index = groups[g] * STEREO_GROUP; /* without a group it is beyond the last */
#pragma unroll
    for (int e = 0; e < STEREO_GROUP; e++, index++)
      if (index >= first && index <= last)
        best = min (best, (four >> 8 * e & 255) << 16 | (uint32_t) index);
  }
  winner[(size_t) y * f.map_pitch + x] = best == ~0u ? (uint16_t) STEREO_INVALID : (uint16_t) best;
}

constexpr int LOWEST_LANES = 8, LOWEST_THREADS = 256;

/* The same in the volume: eight lanes have a pixel of row blockIdx.y, eight candidates each at a time. @costs: NULL, or what paths
 * read. */
static __global__ void
__launch_bounds__ (LOWEST_THREADS)
    lowest_kernel (const __grid_constant__ Frame f, const uint16_t *volume, uint16_t *to, uint8_t *costs, int shift)
{
  int item = blockIdx.x * LOWEST_THREADS + threadIdx.x, x = item / LOWEST_LANES, lane = item % LOWEST_LANES,
      y = blockIdx.y;
  size_t at = ((size_t) y * f.width + min (x, f.width - 1)) * f.depth;
  const uint4 *column = (const uint4 *) (volume + at);
  uint32_t best = ~0u;

  for (int k = lane; 8 * k < f.depth; k += LOWEST_LANES) {
    uint4 eight = column[k];
    uint32_t words[4] = { eight.x, eight.y, eight.z, eight.w }, bytes[2] = {};
    best = lowest_of_eight (best, words, 8 * k, 0, f.disparities - 1);
#pragma unroll
    for (int e = 0; e < 8; e++) {
      uint32_t steps = words[e / 2] >> e % 2 * 16 & 0xFFFFu;
      bytes[e / 4] |= (steps == STEREO_INVALID ? 0 : stereo_path_cost (steps, shift)) << e % 4 * 8;
    }
    if (costs)
      *(uint2 *) (costs + at + 8 * k) = make_uint2 (bytes[0], bytes[1]);
  }
  store_lowest<LOWEST_LANES> (f, best, x, y, to);
}

/* On a branch, unless the paths wait for it, or write where it reads. */
static StereoStatus
keep_run (StereoPlan *plan, void *context, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  cudaStream_t stream = state->stream;
  StereoStatus status = plan->listed || plan->fusion.match_for_keep ? cuda_begin_late (plan, &stream, error) : STEREO_OK;

  if (status)
    return status;
  if (!plan->listed)
    return cuda_lowest (plan, stream, plan->fusion.match_for_keep ? state->means : plan->volume, plan->winner,
        plan->fusion.keep_for_paths ? state->path_costs : NULL, error);
  keep_kernel<<<dim3 (plan->lists.columns, plan->lists.rows), LIST_TILE * LIST_TILE, 0, stream>>> (
      cuda_frame (plan), lists_of (plan), plan->winner);
  CUDA_LAUNCHED (plan, "keep_kernel");
  return STEREO_OK;
}

/* ---- candidates ---------------------------------------------------------------------------------- */

constexpr int VOTE_WARPS = 4;
constexpr int MOST_GROUPS = STEREO_MAX_DISPARITIES / STEREO_GROUP;
constexpr int VOTERS = LIST_TILE / 2 + 2 * STEREO_VOTE_AROUND; /* along a side of a tile, of the half size */
static_assert (2 * VOTERS <= 32, "a lane a column of a map");
constexpr int VOTES = 2 * VOTERS * VOTERS; /* of two maps, each of which votes twice */
static_assert ((STEREO_VOTES_AFTER + 1) * VOTES < 0x10000, "votes and the number of a group in a word");

static __device__ __forceinline__ uint32_t
highest (uint32_t key)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync (LIST_LANES, key);
#else
  for (int away = 16; away; away /= 2)
    key = max (key, __shfl_xor_sync (LIST_LANES, key, away));
  return key;
#endif
}

/* Votes that a lane has counted for a group, and not given yet. */
struct Ballot
{
  int group;
  uint32_t votes;
};

static __device__ __forceinline__ void
give (const Ballot &ballot, uint32_t *votes)
{
  if (ballot.votes)
    atomicAdd (votes + ballot.group, ballot.votes);
}

/* By a warp: the votes of the half size for tile (@column, @row), of both its maps. A lane has a column of one of them: neighbours
 * mostly vote alike, and what a lane has counted together does not meet the other lanes' votes at the same place. */
static __device__ __forceinline__ void
count_votes (const Frame &f, const Frame &half, const uint16_t *winner, int column, int row, uint32_t *votes)
{
  int lane = threadIdx.x, x = column * LIST_TILE / 2 - STEREO_VOTE_AROUND + lane % VOTERS;
  int top = row * LIST_TILE / 2 - STEREO_VOTE_AROUND, first = max (top, 0), end = min (top + VOTERS, half.height);
  const uint16_t *map = lane < VOTERS ? half.view[STEREO_LEFT].index : winner;
  uint32_t weight = lane < VOTERS ? STEREO_VOTES_AFTER : 1;
  Ballot ballots[2] = {};

  if (lane >= 2 * VOTERS || x < 0 || x >= half.width)
    return;
#pragma unroll 6
  for (int y = first; y < end; y++) {
    int v = map[(size_t) y * half.map_pitch + x];
    if (v == (int) STEREO_INVALID)
      continue;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      int group = stereo_vote (v, k ? STEREO_VOTE_AWAY : -STEREO_VOTE_AWAY, f.min_disparity, f.disparities);
      if (group != ballots[k].group) {
        give (ballots[k], votes);
        ballots[k] = { group, 0 };
      }
      ballots[k].votes += weight;
    }
  }
  give (ballots[0], votes);
  give (ballots[1], votes);
}

/* Warp: a tile, which has its votes in shared memory. It takes the group with the most votes as often as a list has room, of equal
 * ones the lowest; lane k keeps the one of round k, and finds its place among the others. */
static __global__ void __launch_bounds__ (32 * VOTE_WARPS) candidates_kernel (const __grid_constant__ Frame f,
    const __grid_constant__ Frame half, const uint16_t *winner, const __grid_constant__ Lists lists)
{
  __shared__ uint32_t all[VOTE_WARPS][MOST_GROUPS];
  uint32_t *votes = all[threadIdx.y];
  int tile = blockIdx.x * VOTE_WARPS + threadIdx.y, lane = threadIdx.x;
  int groups = (f.disparities + STEREO_GROUP - 1) / STEREO_GROUP, own = STEREO_NO_GROUP;

  if (tile >= lists.columns * lists.rows)
    return;
  for (int g = lane; g < groups; g += 32)
    votes[g] = 0;
  __syncwarp ();
  count_votes (f, half, winner, tile % lists.columns, tile / lists.columns, votes);
  __syncwarp ();
  for (int k = 0; k < LIST_GROUPS; k++) {
    uint32_t key = 0;
    for (int g = lane; g < groups; g += 32)
      key = max (key, votes[g] << 16 | (uint32_t) (0xFFFF - g));
    key = highest (key);
    if (k > 0 && key >> 16 < STEREO_VOTES_LEAST)
      break;
    int best = 0xFFFF - (int) (key & 0xFFFF);
    own = lane == k ? best : own;
    if (lane == best % 32)
      votes[best] = 0;
    __syncwarp ();
  }
  int place = 0;
#pragma unroll
  for (int k = 0; k < LIST_GROUPS; k++) {
    int other = __shfl_sync (LIST_LANES, own, k);
    place += other < own || (other == own && k < lane);
  }
  if (lane < LIST_GROUPS)
    lists.groups[(size_t) tile * LIST_GROUPS + place] = (uint16_t) own;
}

static StereoStatus
candidates_run (StereoPlan *plan, void *context, StereoError *error)
{
  unsigned blocks = cuda_blocks ((size_t) plan->lists.columns * plan->lists.rows, VOTE_WARPS);
  StereoStatus status = cuda_join (plan, error); /* for the winners before the paths */

  if (status)
    return status;
  candidates_kernel<<<blocks, dim3 (32, VOTE_WARPS), 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), cuda_frame (plan->coarse), plan->coarse->winner, lists_of (plan));
  CUDA_LAUNCHED (plan, "candidates_kernel");
  return STEREO_OK;
}

}

StereoStatus
cuda_lowest (StereoPlan *plan, cudaStream_t stream, const uint16_t *volume, uint16_t *index, uint8_t *path_costs,
    StereoError *error)
{
  dim3 blocks (cuda_blocks ((size_t) plan->width * LOWEST_LANES, LOWEST_THREADS), plan->height);

  lowest_kernel<<<blocks, LOWEST_THREADS, 0, stream>>> (cuda_frame (plan), volume, index, path_costs, plan->path_shift);
  CUDA_LAUNCHED (plan, "lowest_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_coarse = { .name = "coarse", .run = coarse_run };
extern const StereoStage stereo_cuda_keep = { .name = "keep", .run = keep_run };
extern const StereoStage stereo_cuda_candidates = { .name = "candidates", .run = candidates_run };
