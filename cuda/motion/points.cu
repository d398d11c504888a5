/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points of the left view, found again in the frame before, by the rules of exact/motion.h. */
#include "cuda/motion/motion.cuh"

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

/* Of equals the first. All threads of the block. */
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

}

StereoStatus
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
