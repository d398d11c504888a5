/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the motion stage share. All of it is compiled without contraction, as exact/motion.h wants it. */
#include "cuda/common.cuh"
#include "stereo/exact/prior.h"

struct MotionContext
{
  uint8_t *reduced[2];       /* device: the left view now and before */
  uint8_t *age;              /* device, map: of the pixels now */
  StereoMotionPoint *points; /* device */
  StereoMotion *motion;      /* device */
  int pitch, width, height;  /* of the reduced views */
};

/* What the kernels work on. */
struct MotionWork
{
  StereoLast last;
  MotionContext c;
};

/* Points of the left view, found again in the frame before, by the rules of exact/motion.h. */

namespace
{

constexpr int PATCH = STEREO_MOTION_PATCH;
constexpr int SIDE = 2 * PATCH + 1;
constexpr int REDUCED = STEREO_MOTION_REDUCED;
constexpr int REDUCE_THREADS = 128;
constexpr int PLACES = STEREO_MOTION_PLACES * STEREO_MOTION_PLACES;
constexpr int POINT_THREADS = 128;
constexpr int MOST_WIDE = 2 * STEREO_MOTION_COARSE_X + SIDE; /* px, of what is searched for a patch */
constexpr int MOST_HIGH = 2 * STEREO_MOTION_COARSE_Y + SIDE;

static_assert (PLACES <= POINT_THREADS && PLACES <= 64, "a thread for each place, whose number has six bits");
static_assert (MOST_WIDE >= 2 * STEREO_MOTION_FINE + SIDE && MOST_HIGH >= 2 * STEREO_MOTION_FINE + SIDE, "searches");
static_assert ((MOST_WIDE - SIDE + 1) * (MOST_HIGH - SIDE + 1) <= 256 && 255 * SIDE * SIDE < 1 << 24, "keys of find()");

/* Thread: a pixel of a reduced view; blockIdx.z: which. Rows of both views are whole words long. */
static __global__ void
__launch_bounds__ (REDUCE_THREADS) reduce_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w)
{
  int x = blockIdx.x * REDUCE_THREADS + threadIdx.x, y = blockIdx.y, before = blockIdx.z;
  int pitch = before ? f.map_pitch : f.image_pitch;
  const uint8_t *luma = before ? w.last.luma : f.view[STEREO_LEFT].luma;
  uint32_t sum = 8;

  if (x >= w.c.width)
    return;
#pragma unroll
  for (int v = 0; v < REDUCED; v++)
    sum = __dp4a (*(const uint32_t *) (luma + (size_t) (y * REDUCED + v) * pitch + x * REDUCED), 0x01010101u, sum);
  w.c.reduced[before][(size_t) y * w.c.pitch + x] = (uint8_t) (sum / (REDUCED * REDUCED));
}

static_assert (REDUCED == 4, "a row of a reduced pixel is a word");

/* Where a patch is looked for: @columns x @rows places, the first of them (@x, @y). */
struct Search
{
  const uint8_t *picture;
  int pitch, x, y, columns, rows;
};

struct Found
{
  int x, y, sum;
};

/* What a block of points_kernel shares. */
struct Tile
{
  uint8_t patch[SIDE][SIDE], picture[MOST_HIGH][MOST_WIDE];
  uint32_t texture, key;
  int beside[4];
};

/* Places up to @away_x and @away_y from (@x, @y) whose patch lies in the picture. */
static __device__ Search
search_near (const uint8_t *picture, int pitch, int width, int height, int x, int y, int away_x, int away_y)
{
  int left = max (x - away_x, PATCH), top = max (y - away_y, PATCH);
  int right = min (x + away_x, width - PATCH - 1), bottom = min (y + away_y, height - PATCH - 1);
  return { picture, pitch, left, top, right - left + 1, bottom - top + 1 };
}

/* The first of equals. All threads of the block. */
static __device__ Found
find (const uint8_t *patch, int patch_pitch, const Search &s, Tile *tile)
{
  int wide = s.columns + 2 * PATCH, high = s.rows + 2 * PATCH;

  for (int k = threadIdx.x; k < SIDE * SIDE; k += POINT_THREADS)
    tile->patch[k / SIDE][k % SIDE] = patch[(ptrdiff_t) (k / SIDE - PATCH) * patch_pitch + k % SIDE - PATCH];
  for (int k = threadIdx.x; k < wide * high; k += POINT_THREADS)
    tile->picture[k / wide][k % wide] = s.picture[(ptrdiff_t) (s.y - PATCH + k / wide) * s.pitch + s.x - PATCH + k % wide];
  if (threadIdx.x == 0)
    tile->key = ~0u;
  __syncthreads ();
  for (int k = threadIdx.x; k < s.columns * s.rows; k += POINT_THREADS) {
    int column = k % s.columns, row = k / s.columns;
    uint32_t sum = 0;
    for (int v = 0; v < SIDE; v++)
#pragma unroll
      for (int u = 0; u < SIDE; u++)
        sum = __usad (tile->patch[v][u], tile->picture[row + v][column + u], sum);
    atomicMin (&tile->key, sum << 8 | k);
  }
  __syncthreads ();
  uint32_t key = tile->key;
  __syncthreads ();
  return { s.x + (int) (key & 0xFF) % s.columns, s.y + (int) (key & 0xFF) / s.columns, (int) (key >> 8) };
}

/* The place with the most texture, the first of equals, becomes the block's key; 0: there is none. */
static __device__ void
find_texture (const Frame &f, int column, int row, Tile *tile)
{
  int k = threadIdx.x;

  if (k == 0)
    tile->texture = 0;
  __syncthreads ();
  if (k < PLACES) {
    int x = stereo_motion_place (column, k % STEREO_MOTION_PLACES, f.width, STEREO_MOTION_COLUMNS);
    int y = stereo_motion_place (row, k / STEREO_MOTION_PLACES, f.height, STEREO_MOTION_ROWS);
    size_t at = (size_t) y * f.map_pitch + x;
    bool inside = x >= STEREO_MOTION_MARGIN && y >= STEREO_MOTION_MARGIN && x < f.width - STEREO_MOTION_MARGIN &&
        y < f.height - STEREO_MOTION_MARGIN;
    if (inside && !isnan (f.disparity[at]) &&
        stereo_motion_confidence (f.view[STEREO_LEFT].confidence[at]) >= STEREO_MOTION_SURE) {
      int32_t texture = stereo_motion_texture (f.view[STEREO_LEFT].luma + (size_t) y * f.image_pitch + x, f.image_pitch);
      if (texture >= STEREO_MOTION_TEXTURE)
        atomicMax (&tile->texture, (uint32_t) texture << 6 | (63 - k));
    }
  }
  __syncthreads ();
}

static_assert (25 * 510 * 510 < 1 << 26, "texture and a place's number share a word");

/* The sum of differences one pixel to the left of what was found, to the right, above and below: threads 0 to 3. Negative
 * outside the picture. */
static __device__ void
search_beside (const Frame &f, const MotionWork &w, const Found &found, Tile *tile)
{
  int k = threadIdx.x, x = found.x + (k < 2 ? 2 * k - 1 : 0), y = found.y + (k < 2 ? 0 : 2 * k - 5);
  uint32_t sum = 0;

  if (k >= 4)
    return;
  if (x < PATCH || y < PATCH || x >= f.width - PATCH || y >= f.height - PATCH) {
    tile->beside[k] = -1;
    return;
  }
  const uint8_t *picture = w.last.luma + (size_t) (y - PATCH) * f.map_pitch + x - PATCH;
  for (int v = 0; v < SIDE; v++)
#pragma unroll
    for (int u = 0; u < SIDE; u++)
      sum = __usad (tile->patch[v][u], picture[(size_t) v * f.map_pitch + u], sum);
  tile->beside[k] = (int) sum;
}

static __device__ StereoMotionPoint
point_of (const Frame &f, const MotionWork &w, int x, int y, const Found &found, const int beside[4])
{
  int larger = max (f.width, f.height);
  int across = beside[0] < 0 || beside[1] < 0 ? 0 : stereo_motion_between (beside[0], found.sum, beside[1]);
  int along = beside[2] < 0 || beside[3] < 0 ? 0 : stereo_motion_between (beside[2], found.sum, beside[3]);
  StereoMotionPoint point;

  point.now[0] = stereo_motion_coordinate (16 * x, f.width, larger);
  point.now[1] = stereo_motion_coordinate (16 * y, f.height, larger);
  point.now[2] = stereo_motion_depth (f.disparity[(size_t) y * f.map_pitch + x], larger);
  point.then[0] = stereo_motion_coordinate (16 * found.x + across, f.width, larger);
  point.then[1] = stereo_motion_coordinate (16 * found.y + along, f.height, larger);
  point.then[2] = stereo_motion_depth (w.last.disparity[(size_t) found.y * f.map_pitch + found.x], larger);
  point.sum = found.sum;
  point.used = 1;
  point.still = found.x == x && found.y == y;
  return point;
}

/* Block: a cell. */
static __global__ void
__launch_bounds__ (POINT_THREADS) points_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w)
{
  __shared__ Tile tile;
  int column = blockIdx.x, row = blockIdx.y;
  StereoMotionPoint *point = w.c.points + row * STEREO_MOTION_COLUMNS + column;

  find_texture (f, column, row, &tile);
  if (threadIdx.x == 0)
    point->used = point->still = 0;
  if (!tile.texture)
    return;
  int place = 63 - (int) (tile.texture & 63);
  int x = stereo_motion_place (column, place % STEREO_MOTION_PLACES, f.width, STEREO_MOTION_COLUMNS);
  int y = stereo_motion_place (row, place / STEREO_MOTION_PLACES, f.height, STEREO_MOTION_ROWS);
  const uint8_t *patch = f.view[STEREO_LEFT].luma + (size_t) y * f.image_pitch + x;
  int u = x / REDUCED, v = y / REDUCED;
  Search search = search_near (
      w.c.reduced[1], w.c.pitch, w.c.width, w.c.height, u, v, STEREO_MOTION_COARSE_X, STEREO_MOTION_COARSE_Y);
  Found found = find (w.c.reduced[0] + (size_t) v * w.c.pitch + u, w.c.pitch, search, &tile);
  search = search_near (w.last.luma, f.map_pitch, f.width, f.height, x + REDUCED * (found.x - u),
      y + REDUCED * (found.y - v), STEREO_MOTION_FINE, STEREO_MOTION_FINE);
  found = find (patch, f.image_pitch, search, &tile);
  size_t at = (size_t) found.y * f.map_pitch + found.x;
  if (found.sum > STEREO_MOTION_MOST_AWAY * SIDE * SIDE || w.last.age[at] != 1 ||
      w.last.confidence[at] < STEREO_MOTION_SURE)
    return;
  search_beside (f, w, found, &tile);
  __syncwarp ();
  if (threadIdx.x == 0)
    *point = point_of (f, w, x, y, found, tile.beside);
}

/* The reduced views need no disparity: they are made while the views are matched. */
static StereoStatus
reduce_views (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error)
{
  dim3 grid (cuda_blocks (w.c.width, REDUCE_THREADS), w.c.height, 2);
  cudaStream_t stream;
  StereoStatus status = cuda_begin_early (plan, &stream, error);

  if (status)
    return status;
  reduce_kernel<<<grid, REDUCE_THREADS, 0, stream>>> (f, w);
  CUDA_LAUNCHED (plan, "reduce_kernel");
  return cuda_join (plan, error);
}

static StereoStatus
cuda_motion_points (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error)
{
  dim3 cells (STEREO_MOTION_COLUMNS, STEREO_MOTION_ROWS);
  StereoStatus status = w.c.width && w.c.height ? reduce_views (plan, f, w, error) : STEREO_OK;

  if (status)
    return status;
  points_kernel<<<cells, POINT_THREADS, 0, cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "points_kernel");
  return STEREO_OK;
}

/* The motion that most points have, by the rules of exact/motion.h. One block: it is short work, but for waiting. */

constexpr int UNKNOWNS = STEREO_MOTION_UNKNOWNS;
constexpr int POINTS = STEREO_MOTION_POINTS;
constexpr int SUMS = STEREO_MOTION_SUMS;

static_assert (POINTS == 512 && UNKNOWNS * (UNKNOWNS + 1) <= POINTS && SUMS <= POINTS, "the block");

/* What the fit's block shares. */
struct Fit
{
  int64_t partial[POINTS / 32][SUMS]; /* of each warp */
  double equations[UNKNOWNS][UNKNOWNS + 1], motion[UNKNOWNS];
  int32_t sum;
};

static __device__ __forceinline__ int64_t
sum_of_warp (int64_t value)
{
#pragma unroll
  for (int away = 16; away; away /= 2)
    value += __shfl_down_sync (~0u, (long long) value, away);
  return value;
}

/* All sums of the points of each warp. */
static __device__ __forceinline__ void
add_points (const StereoMotionRows &rows, int32_t weight, Fit *fit)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, index = 0;

#pragma unroll
  for (int i = 0; i < UNKNOWNS; i++)
#pragma unroll
    for (int j = i; j < UNKNOWNS; j++, index++) {
      int64_t sum = 0;
#pragma unroll
      for (int k = 0; k < 3; k++)
        sum += (int64_t) rows.of[k][i] * rows.of[k][j];
      sum = sum_of_warp (weight * sum);
      if (lane == 0)
        fit->partial[warp][index] = sum;
    }
#pragma unroll
  for (int i = 0; i < UNKNOWNS; i++, index++) {
    int64_t sum = 0;
#pragma unroll
    for (int k = 0; k < 3; k++)
      sum += (int64_t) rows.of[k][i] * rows.rest[k];
    sum = sum_of_warp (weight * sum);
    if (lane == 0)
      fit->partial[warp][index] = sum;
  }
}

/* The equations from the sums, and their solution. An element of the equations has a thread. */
static __device__ __forceinline__ void
solve (Fit *fit)
{
  int t = threadIdx.x, i = t / (UNKNOWNS + 1), j = t % (UNKNOWNS + 1);

  if (t < SUMS) {
    int64_t sum = 0;
    int row, column;
    for (int warp = 0; warp < POINTS / 32; warp++)
      sum += fit->partial[warp][t];
    stereo_motion_pair (t, &row, &column);
    double entry = stereo_motion_entry (sum, row, column);
    fit->equations[row][column] = entry;
    if (column < UNKNOWNS)
      fit->equations[column][row] = entry;
  }
  __syncthreads ();
  for (int k = 0; k < UNKNOWNS; k++) {
    /* neither row k nor column k changes in step k */
    if (i < UNKNOWNS && i != k && j > k)
      fit->equations[i][j] = stereo_motion_eliminate (
          fit->equations[i][j], fit->equations[i][k], fit->equations[k][k], fit->equations[k][j]);
    __syncthreads ();
  }
  if (t < UNKNOWNS)
    fit->motion[t] = fit->equations[t][UNKNOWNS] / fit->equations[t][t];
  __syncthreads ();
}

/* One block; thread: a point. */
static __global__ void
__launch_bounds__ (POINTS) fit_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w)
{
  __shared__ Fit fit;
  double half = max (f.width, f.height) / 2.0;
  const StereoMotionPoint *point = w.c.points + threadIdx.x;
  int used = point->used, still = used && point->still;
  StereoMotionCounts counts = {};
  StereoMotionRows rows = {};

  counts.used = __syncthreads_count (used);
  counts.still = __syncthreads_count (still);
  if (!stereo_motion_is_likely (&counts)) {
    if (threadIdx.x == 0)
      w.c.motion->known = 0;
    return;
  }
  if (used)
    rows = stereo_motion_rows (point);
  if (threadIdx.x < UNKNOWNS)
    fit.motion[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    fit.sum = 0;
  __syncthreads ();
#pragma unroll 1
  for (int round = 0; round < STEREO_MOTION_ROUNDS; round++) {
    add_points (rows, used ? stereo_motion_weight (stereo_motion_away (&rows, fit.motion, half), round) : 0, &fit);
    __syncthreads ();
    solve (&fit);
  }
  int near = used && stereo_motion_away (&rows, fit.motion, half) <= STEREO_MOTION_NEAR * STEREO_MOTION_NEAR;
  if (near)
    atomicAdd (&fit.sum, point->sum);
  counts.near = __syncthreads_count (near);
  counts.sum = fit.sum;
  if (threadIdx.x == 0)
    *w.c.motion = stereo_motion_judge (fit.motion, &counts, half);
}

static StereoStatus
cuda_motion_fit (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error)
{
  fit_kernel<<<1, POINTS, 0, cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "fit_kernel");
  return STEREO_OK;
}

/*
 * Motion: unlikely disparities give way to those of the frame before, moved as the cameras did, by the rules of exact/motion.h.
 * The frame before, the points and the motion lie in device memory: nothing comes to the host.
 */

constexpr int ALIKE_RADIUS = STEREO_MOTION_ALIKE_RADIUS;
constexpr int COLUMNS = 32; /* of a block of follow_kernel */
constexpr int ROWS = 8;
constexpr int KEEP_THREADS = 128;
constexpr int FOUR = 4; /* pixels of a thread of keep_kernel, a vector */

/* Whether the views look alike around (@x, @y) now and (@then_x, @then_y) before. */
static __device__ __forceinline__ bool
is_alike (const Frame &f, const StereoLast &last, const StereoMotion &motion, int x, int y, int then_x, int then_y)
{
  int last_x = f.width - 1 - ALIKE_RADIUS, last_y = f.height - 1 - ALIKE_RADIUS;
  uint32_t sum = 0;

  if (min (x, then_x) < ALIKE_RADIUS || min (y, then_y) < ALIKE_RADIUS || max (x, then_x) > last_x ||
      max (y, then_y) > last_y)
    return false;
  const uint8_t *now = f.view[STEREO_LEFT].luma + (ptrdiff_t) (y - ALIKE_RADIUS) * f.image_pitch + x - ALIKE_RADIUS;
  const uint8_t *then = last.luma + (ptrdiff_t) (then_y - ALIKE_RADIUS) * f.map_pitch + then_x - ALIKE_RADIUS;
#pragma unroll
  for (int v = 0; v <= 2 * ALIKE_RADIUS; v++)
#pragma unroll
    for (int u = 0; u <= 2 * ALIKE_RADIUS; u++)
      sum = __usad (now[(ptrdiff_t) v * f.image_pitch + u], then[(ptrdiff_t) v * f.map_pitch + u], sum);
  return stereo_motion_alike ((int32_t) sum, &motion);
}

/* Follows a pixel of disparity *@d into the frame before. Its place there, in the map, or -1; *@d becomes the disparity that
 * it has now by what was known there. */
static __device__ __forceinline__ ptrdiff_t
follow (const Frame &f, const StereoLast &last, const StereoMotion &motion, int x, int y, float *d)
{
  float middle_x = (float) (f.width - 1) * 0.5f, middle_y = (float) (f.height - 1) * 0.5f;
  float u = (float) x - middle_x, v = (float) y - middle_y, then_x, then_y;

#pragma unroll 1
  for (int step = 0; step < STEREO_MOTION_STEPS; step++) {
    if (!stereo_motion_where (&motion, u, v, *d, &then_x, &then_y))
      return -1;
    then_x += middle_x;
    then_y += middle_y;
    if (!(then_x >= 0 && then_y >= 0 && then_x <= (float) (f.width - 1) && then_y <= (float) (f.height - 1)))
      return -1;
    int column = (int) rintf (then_x), row = (int) rintf (then_y);
    ptrdiff_t at = (ptrdiff_t) row * f.map_pitch + column;
    if (!last.age[at] || last.age[at] >= STEREO_MOTION_OLDEST)
      return -1;
    float before = *d;
    *d = stereo_motion_now (&motion, u, v, last.disparity[at]);
    if (fabsf (*d - before) <= STEREO_MOTION_SETTLED)
      return is_alike (f, last, motion, x, y, column, row) ? at : -1;
  }
  return -1;
}

/* Thread: a pixel. */
static __global__ void
__launch_bounds__ (COLUMNS *ROWS)
    follow_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w, int32_t least_sure)
{
  int x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
  size_t here = (size_t) y * f.map_pitch + x;
  const StereoView &view = f.view[STEREO_LEFT];

  if (x >= f.width || y >= f.height)
    return;
  float disparity = f.disparity[here];
  int32_t own = stereo_motion_confidence (view.confidence[here]);
  int index = view.index[here];
  uint8_t age = isnan (disparity) ? 0 : 1;
  if (w.c.motion->known && own < STEREO_MOTION_SURE && index != (int) STEREO_INVALID) {
    StereoMotion motion = *w.c.motion;
    float d = age ? disparity : (float) (f.min_disparity + index);
    ptrdiff_t at = follow (f, w.last, motion, x, y, &d);
    int32_t aged = at < 0 ? 0 : stereo_motion_aged (w.last.confidence[at], least_sure);
    if (aged > own && d >= (float) f.min_disparity && d <= (float) (f.min_disparity + f.disparities - 1)) {
      f.disparity[here] = d;
      view.confidence[here] = (float) aged / 255.0f;
      age = (uint8_t) (w.last.age[at] + 1);
    }
  }
  w.c.age[here] = age;
}

/* Pixel (@x, @y) predicts by the rules of exact/prior.h. */
static __device__ __forceinline__ void
predict (const Frame &f, const MotionWork &w, const StereoMotion &motion, int x, int y, float disparity, int luma)
{
  float middle_x = (float) (f.width - 1) * 0.5f, middle_y = (float) (f.height - 1) * 0.5f, across, down, next;

  if (!stereo_prior_place (&motion, (float) x - middle_x, (float) y - middle_y, disparity, &across, &down, &next))
    return;
  float column = rintf (across + middle_x), row = rintf (down + middle_y);
  if (!(column >= 0 && row >= 0 && column <= (float) (f.width - 1) && row <= (float) (f.height - 1)))
    return;
  atomicMax (w.last.predicted + (size_t) (int) row * f.map_pitch + (int) column,
      stereo_prior_word (next, f.min_disparity, f.disparities, luma));
}

/* Thread: FOUR pixels of a row, of which the last may lie behind its end. */
static __global__ void
__launch_bounds__ (KEEP_THREADS)
    keep_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w, int32_t least_sure)
{
  int x = FOUR * (blockIdx.x * KEEP_THREADS + threadIdx.x), y = blockIdx.y;
  size_t at = (size_t) y * f.map_pitch + x;

  if (x >= f.width)
    return;
  float4 confidence = *(const float4 *) (f.view[STEREO_LEFT].confidence + at);
  float4 disparity = *(const float4 *) (f.disparity + at);
  uchar4 age = *(const uchar4 *) (w.c.age + at);
  uchar4 luma = *(const uchar4 *) (f.view[STEREO_LEFT].luma + (size_t) y * f.image_pitch + x);
  uchar4 sure = make_uchar4 ((unsigned char) stereo_motion_confidence (confidence.x),
      (unsigned char) stereo_motion_confidence (confidence.y), (unsigned char) stereo_motion_confidence (confidence.z),
      (unsigned char) stereo_motion_confidence (confidence.w));
  *(float4 *) (w.last.disparity + at) = disparity;
  *(uchar4 *) (w.last.age + at) = age;
  *(uchar4 *) (w.last.luma + at) = luma;
  *(uchar4 *) (w.last.confidence + at) = sure;
  if (!w.last.predicted || !w.c.motion->known)
    return;
  StereoMotion motion = *w.c.motion;
  const float d[FOUR] = { disparity.x, disparity.y, disparity.z, disparity.w };
  const unsigned char old[FOUR] = { age.x, age.y, age.z, age.w }, grey[FOUR] = { luma.x, luma.y, luma.z, luma.w };
  const unsigned char likely[FOUR] = { sure.x, sure.y, sure.z, sure.w };
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (x + k < f.width && old[k] == 1 && likely[k] >= least_sure)
      predict (f, w, motion, x + k, y, d[k], grey[k]);
}

/* ---- the stage --------------------------------------------------------------------------------------- */

static StereoStatus
motion_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  MotionContext *c = (MotionContext *) context;
  size_t map = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  StereoStatus status = STEREO_OK;

  c->width = plan->width / STEREO_MOTION_REDUCED;
  c->height = plan->height / STEREO_MOTION_REDUCED;
  c->pitch = c->width;
  for (int k = 0; k < 2 && !status; k++)
    status = stereo_reserve (plan, (void **) &c->reduced[k], (size_t) c->pitch * (size_t) c->height + 1, 1, error);
  if (status || (status = stereo_reserve (plan, (void **) &c->age, map, sizeof *c->age, error)) ||
      (status = stereo_reserve (plan, (void **) &c->points, STEREO_MOTION_POINTS, sizeof *c->points, error)))
    return status;
  return stereo_reserve (plan, (void **) &c->motion, 1, sizeof *c->motion, error);
}

static StereoStatus
motion_run (StereoPlan *plan, void *context, StereoError *error)
{
  const MotionContext *c = (const MotionContext *) context;
  cudaStream_t stream = cuda_state (plan)->stream, beside;
  dim3 tiles (cuda_blocks (plan->width, COLUMNS), cuda_blocks (plan->height, ROWS));
  dim3 rows (cuda_blocks (plan->width, FOUR * KEEP_THREADS), plan->height);
  Frame f = cuda_frame (plan);
  MotionWork w = { plan->last, *c };
  StereoStatus status;

  if ((status = cuda_motion_points (plan, f, w, error)) || (status = cuda_motion_fit (plan, f, w, error)))
    return status;
  follow_kernel<<<tiles, dim3 (COLUMNS, ROWS), 0, stream>>> (
      f, w, stereo_motion_least_sure (stereo_params_first_threshold (&plan->params)));
  CUDA_LAUNCHED (plan, "follow_kernel");
  if ((status = cuda_begin_late (plan, &beside, error)))
    return status;
  keep_kernel<<<rows, KEEP_THREADS, 0, beside>>> (
      f, w, stereo_prior_least_sure (stereo_params_hide_unlikely (&plan->params)));
  CUDA_LAUNCHED (plan, "keep_kernel");
  return cuda_join (plan, error);
}

}

extern const StereoStage stereo_cuda_motion = {
  .name = "motion",
  .context_size = sizeof (MotionContext),
  .prepare = motion_prepare,
  .run = motion_run,
};
