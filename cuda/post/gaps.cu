/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. Pixels of a map are counted from the left end of each row; the
 * pixels of a square are then a sum of differences along a column. A thread has a run of a column, whose sums follow from each other.
 * Rays are followed from the top down: two steps on, a ray goes on as the ray of the pixel there does, so that a few lanes follow
 * the pixels of such a chain until one of them is not open.
 */
#include "cuda/post/gaps.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
constexpr int GAPS_THREADS = 128;
constexpr int COUNT_WARPS = 16; /* of a row */
constexpr int RUN = 16;         /* pixels of a thread */
/* Of a warp that follows chains: columns beside each other, lanes of each, and pixels of a lane. */
constexpr int CHAINS = 8, CHAIN_LANES = WARP / CHAINS, EACH = 4;
constexpr unsigned EVERY_LANE = 0x01010101u; /* of the first chain */
static_assert (CHAINS == 8 && CHAIN_LANES == 4, "EVERY_LANE");

static __device__ __forceinline__ bool
inside (const Frame &f, int x, int y)
{
  return x >= 0 && x < f.width && y >= 0 && y < f.height;
}

/* What is counted: sure pixels, or those of a map. */
struct Sure
{
  float least;

  __device__ bool
  operator() (const Frame &f, size_t at) const
  {
    return !isnan (f.disparity[at]) && f.view[STEREO_LEFT].confidence[at] >= least;
  }
};

struct Marked
{
  const uint8_t *map;

  __device__ bool
  operator() (const Frame &, size_t at) const
  {
    return map[at];
  }
};

/* Block: a row, in pieces of a pixel a thread. Counts wrap at 16 bits; differences of less do not. */
template <class What> static __global__ void
__launch_bounds__ (COUNT_WARPS *WARP) count_kernel (Frame f, CudaGaps c, What what)
{
  __shared__ int counts[2][COUNT_WARPS]; /* of the warps of a piece; the next piece has the other half */
  int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, before = 0;
  size_t row = (size_t) blockIdx.x * f.map_pitch;

  for (int first = 0, half = 0; first < f.width; first += COUNT_WARPS * WARP, half = !half) {
    int x = first + (int) threadIdx.x;
    unsigned found = __ballot_sync (ALL_LANES, x < f.width && what (f, row + x));
    if (!lane)
      counts[half][warp] = __popc (found);
    __syncthreads ();
    int sum = before;
    for (int k = 0; k < COUNT_WARPS; k++) {
      sum += k < warp ? counts[half][k] : 0;
      before += counts[half][k];
    }
    if (x < f.width)
      c.along[row + x] = (uint16_t) (sum + __popc (found & (2u << lane) - 1));
  }
}

/* Thread: a run of a column. A pixel of @map becomes whether its square holds more than @most, or (@few) no more. */
static __global__ void
judge_kernel (Frame f, CudaGaps c, uint8_t *map, int radius, int most, bool few)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * RUN, end = min (first + RUN, f.height), sum = 0;

  if (x >= f.width)
    return;
  int right = min (x + radius, f.width - 1), left = x - radius - 1;
  auto of_row = [&] (int y) {
    const uint16_t *row = c.along + (size_t) y * f.map_pitch;
    return (int) (uint16_t) (row[right] - (left >= 0 ? row[left] : 0));
  };
#pragma unroll 8
  for (int y = max (first - radius, 0); y < min (first + radius, f.height); y++)
    sum += of_row (y);
  for (int y = first; y < end; y++) {
    sum += y + radius < f.height ? of_row (y + radius) : 0;
    map[(size_t) y * f.map_pitch + x] = (sum <= most) == few;
    sum -= y >= radius ? of_row (y - radius) : 0;
  }
}

/* Warp: CHAINS chains side by side, which begin in one of the rows from which two steps leave the picture at its top; a lane has EACH
 * of the pixels that a chain comes to at a time. Block row: a ray and such a row. The maps of rays are cleared before. */
static __global__ void
__launch_bounds__ (GAPS_THREADS) ray_kernel (Frame f, CudaGaps c)
{
  int k = blockIdx.y / 2, along = stereo_ray_x (stereo_gaps_ray (k)), down = stereo_ray_y (stereo_gaps_ray (k));
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);
  int chain = threadIdx.x % CHAINS, part = threadIdx.x % WARP / CHAINS, first = EACH * part;
  int x = (blockIdx.x * GAPS_THREADS + threadIdx.x) / WARP * CHAINS + chain - first * along;
  int y = blockIdx.y % 2 - first * down;
  unsigned parts_before = EVERY_LANE & (1u << part * CHAINS) - 1;
  uint8_t *open = c.open + (size_t) k * f.height * f.map_pitch;

  if ((int) blockIdx.y % 2 >= -down)
    return;
  for (bool goes_on = true; __any_sync (ALL_LANES, goes_on);) {
    bool is_open[EACH], all = goes_on;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
      int column = x - n * along, row = y - n * down;
      bool own = inside (f, column, row) && c.hole[(size_t) row * f.map_pitch + column];
      bool second = row + y1 < 0 ||
          (inside (f, column + x1, row + y1) && c.hole[(size_t) (row + y1) * f.map_pitch + column + x1]);
      is_open[n] = own && second;
      all = all && is_open[n];
    }
    unsigned whole = __ballot_sync (ALL_LANES, all) >> chain & EVERY_LANE;
    bool reached = goes_on && (whole & parts_before) == parts_before;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
      reached = reached && is_open[n];
      if (reached)
        open[(size_t) (y - n * down) * f.map_pitch + x - n * along] = 1;
    }
    goes_on = goes_on && whole == EVERY_LANE;
    x -= CHAIN_LANES * EACH * along;
    y -= CHAIN_LANES * EACH * down;
  }
}

/* Thread: a pixel. */
static __global__ void
empty_kernel (Frame f, CudaGaps c)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  size_t at = (size_t) blockIdx.y * f.map_pitch + x;

  if (x >= f.width)
    return;
  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    count += c.open[(size_t) k * f.height * f.map_pitch + at];
  if (c.inner[at] || count >= STEREO_GAPS_OPEN)
    f.disparity[at] = NAN;
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

template <class What> static StereoStatus
count (StereoPlan *plan, const CudaGaps &c, What what, StereoError *error)
{
  count_kernel<<<plan->height, COUNT_WARPS * WARP, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), c, what);
  CUDA_LAUNCHED (plan, "count_kernel");
  return STEREO_OK;
}

static StereoStatus
judge (StereoPlan *plan, const CudaGaps &c, uint8_t *map, int radius, int most, bool few, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, GAPS_THREADS), cuda_blocks (plan->height, RUN));

  judge_kernel<<<grid, GAPS_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), c, map, radius, most, few);
  CUDA_LAUNCHED (plan, "judge_kernel");
  return STEREO_OK;
}

/* The middles of bare squares, of sure pixels that are counted. */
static StereoStatus
find_bare (StereoPlan *plan, const CudaGaps &c, StereoGapsSquare square, uint8_t *map, StereoError *error)
{
  return judge (
      plan, c, map, stereo_gaps_radius (square, plan->width), stereo_gaps_most (square, plan->width), true, error);
}

/* In @map, from the middles of bare squares to all of their pixels. */
static StereoStatus
widen (StereoPlan *plan, const CudaGaps &c, StereoGapsSquare square, uint8_t *map, StereoError *error)
{
  StereoStatus status = count (plan, c, Marked{ map }, error);

  return status ? status : judge (plan, c, map, stereo_gaps_radius (square, plan->width), 0, false, error);
}

}

StereoStatus
cuda_gaps_reserve (StereoPlan *plan, CudaGaps *c, StereoError *error)
{
  size_t pixels = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  uint8_t **maps[] = { &c->hole, &c->inner };
  StereoStatus status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->open, pixels, STEREO_GAPS_RAYS, error);

  for (uint8_t **map : maps)
    if (!status)
      status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) map, pixels, 1, error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->along, pixels, sizeof (uint16_t), error);
}

StereoStatus
cuda_gaps_find (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  Frame frame = cuda_frame (plan);
  StereoStatus status;

  if ((status = count (plan, c, Sure{ stereo_params_sure (&plan->params) }, error)) ||
      (status = find_bare (plan, c, STEREO_GAPS_LARGE, c.inner, error)) ||
      (status = find_bare (plan, c, STEREO_GAPS_SMALL, c.hole, error)) ||
      (status = widen (plan, c, STEREO_GAPS_LARGE, c.inner, error)) ||
      (status = widen (plan, c, STEREO_GAPS_SMALL, c.hole, error)))
    return status;
  CUDA_TRY (cudaMemsetAsync (c.open, 0, (size_t) STEREO_GAPS_RAYS * plan->height * plan->map_pitch, stream));
  ray_kernel<<<dim3 (cuda_blocks (plan->width, GAPS_THREADS / CHAIN_LANES), 2 * STEREO_GAPS_RAYS), GAPS_THREADS, 0, stream>>> (
      frame, c);
  CUDA_LAUNCHED (plan, "ray_kernel");
  return STEREO_OK;
}

StereoStatus
cuda_gaps_empty (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  empty_kernel<<<dim3 (cuda_blocks (plan->width, GAPS_THREADS), plan->height), GAPS_THREADS, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), c);
  CUDA_LAUNCHED (plan, "empty_kernel");
  return STEREO_OK;
}
