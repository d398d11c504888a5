/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. The pixels of a map that squares hold are counted along rows, and
 * the counts along columns. A thread has a run of either, whose sums follow from each other. Rays are followed from the top down: two
 * steps on, a ray goes on as the ray of the pixel there does, so that a thread follows the pixels of such a chain until one of them is
 * not open.
 */
#include "cuda/post/gaps.cuh"

namespace
{

constexpr int GAPS_THREADS = 128;
constexpr int RUN = 32;  /* pixels of a thread */
constexpr int AHEAD = 4; /* pixels of a chain that are loaded together */

static __device__ __forceinline__ bool
inside (const Frame &f, int x, int y)
{
  return x >= 0 && x < f.width && y >= 0 && y < f.height;
}

/* Thread: a pixel. */
static __global__ void
sure_kernel (Frame f, CudaGaps c, float least)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  size_t at = (size_t) blockIdx.y * f.map_pitch + x;

  if (x < f.width)
    c.sure[at] = !isnan (f.disparity[at]) && f.view[STEREO_LEFT].confidence[at] >= least;
}

/* Thread: a run of a row. */
static __global__ void
along_kernel (Frame f, CudaGaps c, const uint8_t *map, int radius)
{
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN, end = min (first + RUN, f.width), sum = 0;
  const uint8_t *from = map + (size_t) blockIdx.y * f.map_pitch;
  uint16_t *to = c.along + (size_t) blockIdx.y * f.map_pitch;

  if (first >= f.width)
    return;
  for (int x = max (first - radius, 0); x < min (first + radius, f.width); x++)
    sum += from[x];
  for (int x = first; x < end; x++) {
    sum += x + radius < f.width ? from[x + radius] : 0;
    to[x] = (uint16_t) sum;
    sum -= x >= radius ? from[x - radius] : 0;
  }
}

/* Thread: a run of a column. Pixels of @map become whether their squares hold more than @most, or (@few) no more. */
static __global__ void
judge_kernel (Frame f, CudaGaps c, uint8_t *map, int radius, int most, bool few)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * RUN, end = min (first + RUN, f.height), sum = 0;
  const uint16_t *from = c.along + x;

  if (x >= f.width)
    return;
  for (int y = max (first - radius, 0); y < min (first + radius, f.height); y++)
    sum += from[(size_t) y * f.map_pitch];
  for (int y = first; y < end; y++) {
    sum += y + radius < f.height ? from[(size_t) (y + radius) * f.map_pitch] : 0;
    map[(size_t) y * f.map_pitch + x] = (sum <= most) == few;
    sum -= y >= radius ? from[(size_t) (y - radius) * f.map_pitch] : 0;
  }
}

/* Thread: a chain, which begins in one of the rows from which two steps leave the picture at its top. Block row: a ray and such a row.
 * The maps of rays are cleared before. */
static __global__ void
__launch_bounds__ (GAPS_THREADS) ray_kernel (Frame f, CudaGaps c)
{
  int k = blockIdx.y / 2, along = stereo_ray_x (stereo_gaps_ray (k)), down = stereo_ray_y (stereo_gaps_ray (k));
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y % 2;
  uint8_t *open = c.open + (size_t) k * f.height * f.map_pitch;

  if (y >= -down)
    return;
  for (;;) {
    bool is_open[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      int column = x - n * along, row = y - n * down;
      bool first = inside (f, column, row) && c.hole[(size_t) row * f.map_pitch + column];
      bool second = row + y1 < 0 ||
          (inside (f, column + x1, row + y1) && c.hole[(size_t) (row + y1) * f.map_pitch + column + x1]);
      is_open[n] = first && second;
    }
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      if (!is_open[n])
        return;
      open[(size_t) (y - n * down) * f.map_pitch + x - n * along] = 1;
    }
    x -= AHEAD * along;
    y -= AHEAD * down;
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

static StereoStatus
judge_squares (StereoPlan *plan, const CudaGaps &c, const uint8_t *from, uint8_t *to, int radius, int most, bool few,
    StereoError *error)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  Frame frame = cuda_frame (plan);

  along_kernel<<<dim3 (cuda_blocks (plan->width, GAPS_THREADS * RUN), plan->height), GAPS_THREADS, 0, stream>>> (
      frame, c, from, radius);
  CUDA_LAUNCHED (plan, "along_kernel");
  judge_kernel<<<dim3 (cuda_blocks (plan->width, GAPS_THREADS), cuda_blocks (plan->height, RUN)), GAPS_THREADS, 0, stream>>> (
      frame, c, to, radius, most, few);
  CUDA_LAUNCHED (plan, "judge_kernel");
  return STEREO_OK;
}

/* The pixels of bare squares. */
static StereoStatus
find_bare (StereoPlan *plan, const CudaGaps &c, StereoGapsSquare square, uint8_t *to, StereoError *error)
{
  int radius = stereo_gaps_radius (square, plan->width), most = stereo_gaps_most (square, plan->width);
  StereoStatus status = judge_squares (plan, c, c.sure, c.bare, radius, most, true, error);

  return status ? status : judge_squares (plan, c, c.bare, to, radius, 0, false, error);
}

}

StereoStatus
cuda_gaps_reserve (StereoPlan *plan, CudaGaps *c, StereoError *error)
{
  size_t pixels = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  uint8_t **maps[] = { &c->sure, &c->bare, &c->hole, &c->inner };
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
  dim3 columns (cuda_blocks (plan->width, GAPS_THREADS));
  StereoStatus status;

  sure_kernel<<<dim3 (columns.x, plan->height), GAPS_THREADS, 0, stream>>> (
      frame, c, stereo_params_sure (&plan->params));
  CUDA_LAUNCHED (plan, "sure_kernel");
  if ((status = find_bare (plan, c, STEREO_GAPS_LARGE, c.inner, error)) ||
      (status = find_bare (plan, c, STEREO_GAPS_SMALL, c.hole, error)))
    return status;
  CUDA_TRY (cudaMemsetAsync (c.open, 0, (size_t) STEREO_GAPS_RAYS * plan->height * plan->map_pitch, stream));
  ray_kernel<<<dim3 (columns.x, 2 * STEREO_GAPS_RAYS), GAPS_THREADS, 0, stream>>> (frame, c);
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
