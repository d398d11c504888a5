/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of the candidates in the lists, averaged over windows by support weights, a block a tile. */
#include "cuda/asw/weights.cuh"
#include "cuda/lists.cuh"

#include <algorithm>

/*
 * Windows of up to 9 pixels. The tiles beside a tile have other lists, so that it makes the costs of all pixels in its windows itself:
 * patches of four columns by the four candidates of a group. A patch reads seven right pixels, two vectors of each feature. Costs are
 * bytes in shared memory, and a lane averages those of a patch, first down the columns. As the bits of a half float a cost n is
 * n * 2^-24; the first pass multiplies it by 2^12, and a mean then has 11 bits. The second pass adds to a pixel's mean what others
 * differ from it: little, so that little is rounded.
 */

namespace
{

constexpr int TILE_THREADS = 128;
constexpr int MOST_REACH = 4; /* pixels of a window on either side */
constexpr int SIDE = 4;       /* columns, and candidates, of a patch */
constexpr float COST_SCALE = 4096.0f;
static_assert (SIDE == STEREO_GROUP, "a patch has the candidates of a group");
static_assert ((int64_t) STEREO_MAX_SIDE * (2 * STEREO_MAX_SIDE) <= INT32_MAX + 1ll, "elements of an image");

/* Of a row of a tile, with REACH columns on either side, and up to two before the first such that right vectors are aligned. */
template <int REACH> constexpr int PATCHES = (LIST_TILE + 2 * REACH + 2 + SIDE - 1) / SIDE;

/* What is the same for all tiles. */
struct Averages
{
  AswWindow window;
  int before;             /* columns of the first patch before the tile */
  __half2 scale, inverse; /* from means to what paths read, and minus back */
  __half2 rounding;       /* what rounding to volume steps first adds to a half, on average */
};

/* Shared memory of a block: features of the left pixels, weights of each tap of either pass as halves, costs of each row and group. */
template <int COST, int REACH> struct Tile
{
  static constexpr int words = Cost<COST>::census_words, rows = LIST_TILE + 2 * REACH, patches = PATCHES<REACH>;
  uint4 census[words ? rows * patches * words : 1];
  uint4 color[rows * patches];
  uint4 level[rows * patches]; /* halves, each twice */
  uint2 weights[2][2 * REACH + 1][LIST_TILE][patches];
  uint4 raw[rows * LIST_GROUPS * patches];
};

/* A tile's place and list. */
struct Work
{
  int x0, y0, first, count; /* @first: the first patch's first column */
  const uint16_t *groups;
  uint32_t inverse; /* 2^16 over @count, and a bit more */
};

/* The left pixels, with the borders of the picture repeated: their weights are 0. Levels become halves, such that differences are
 * exact: lumas + 1024, gradients + 1536. */
template <int COST, int REACH> static __device__ __forceinline__ void
load_left (const Frame &f, const Work &t, Tile<COST, REACH> &tile)
{
  typedef Tile<COST, REACH> T;
  const int COLUMNS = SIDE * T::patches;
  const StereoView &view = f.view[STEREO_LEFT];

  for (int k = threadIdx.x; k < T::rows * COLUMNS; k += TILE_THREADS) {
    int x = min (max (t.first + k % COLUMNS, 0), f.width - 1);
    int y = min (max (t.y0 - REACH + k / COLUMNS, 0), f.height - 1);
    unsigned at = (unsigned) (y * f.image_pitch + x);
#pragma unroll
    for (int w = 0; w < T::words; w++)
      ((uint32_t *) tile.census)[k * T::words + w] = ((const uint32_t *) view.census)[at * T::words + w];
    if (Cost<COST>::color)
      ((uint32_t *) tile.color)[k] = view.color[at];
    if constexpr (Cost<COST>::level != Level::NONE)
      ((uint32_t *) tile.level)[k] = 0x10001u *
          ((Cost<COST>::level == Level::GRADIENT ? 0x6600u : 0x6400u) + (uint32_t) load_level<COST> (view, at));
  }
}

/* The weight of the pixel @dx to the right and @dy below; 0 outside the window and the picture. */
static __device__ __forceinline__ float
weigh (const Frame &f, AswWindow w, const uint32_t *pixel, int x, int y, int dx, int dy)
{
  bool there = (unsigned) (x + dx) < (unsigned) f.width && (unsigned) (y + dy) < (unsigned) f.height;
  int away = abs (dx + dy);
  float distance = there && away <= w.radius ? w.distance * (float) away : -INFINITY;
  return cuda_weight (pixel[0], pixel[there ? dy * f.image_pitch + dx : 0], w.color, distance);
}

/* The weights of the tile's rows, whose sum is 1, for the first pass COST_SCALE. */
template <int COST, int REACH> static __device__ __forceinline__ void
make_weights (const Frame &f, AswWindow w, const Work &t, Tile<COST, REACH> &tile)
{
  const int COLUMNS = SIDE * Tile<COST, REACH>::patches;

  for (int k = threadIdx.x; k < LIST_TILE * COLUMNS; k += TILE_THREADS) {
    int column = k % COLUMNS, x = min (max (t.first + column, 0), f.width - 1);
    int row = k / COLUMNS, y = min (t.y0 + row, f.height - 1);
    const uint32_t *pixel = f.view[STEREO_LEFT].likeness + (ptrdiff_t) y * f.image_pitch + x;
#pragma unroll
    for (int pass = 0; pass < 2; pass++) {
      float weights[2 * REACH + 1], sum = 0;
#pragma unroll
      for (int tap = -REACH; tap <= REACH; tap++)
        sum += weights[tap + REACH] = tap ? weigh (f, w, pixel, x, y, pass ? tap : 0, pass ? 0 : tap) : 1;
      float share = reciprocal (sum) * (pass ? 1 : COST_SCALE);
#pragma unroll
      for (int tap = 0; tap <= 2 * REACH; tap++)
        ((__half *) tile.weights[pass][tap])[k] = __float2half_rn (weights[tap] * share);
    }
  }
}

/* Features of eight right pixels. */
template <int COST> struct RightPixels
{
  uint4 census[2 * Cost<COST>::census_words + 1], color[2]; /* one more, because an array must not be empty */
  uint32_t level[4];
};

/* Half @half of them, from element @at on. */
template <int COST> static __device__ __forceinline__ void
load_right (const StereoView &view, unsigned at, int half, RightPixels<COST> &to)
{
  const int WORDS = Cost<COST>::census_words;

#pragma unroll
  for (int w = 0; w < WORDS; w++)
    to.census[half * WORDS + w] = ((const uint4 *) ((const uint32_t *) view.census + at * WORDS))[w];
  if (Cost<COST>::color)
    to.color[half] = *(const uint4 *) (view.color + at);
  if constexpr (Cost<COST>::level == Level::GRADIENT) {
    uint2 four = *(const uint2 *) (view.gradient + at);
    to.level[2 * half] = (four.x ^ 0x80008000u) - 0x1A001A00u; /* no half borrows */
    to.level[2 * half + 1] = (four.y ^ 0x80008000u) - 0x1A001A00u;
  } else if constexpr (Cost<COST>::level == Level::LUMA) {
    uint32_t four = *(const uint32_t *) (view.luma + at);
    to.level[2 * half] = __byte_perm (four, 0x64, 0x4140);
    to.level[2 * half + 1] = __byte_perm (four, 0x64, 0x4342);
  }
}

/* The costs of a patch, a word a column. @at: its left pixels. @start: the column of the first of eight right pixels. SKIPPED: those
 * before the first partner. Where a vector would be outside the picture, no candidate of it exists. */
template <int COST, int SKIPPED, int REACH> static __device__ __forceinline__ uint4
make_patch (const Frame &f, const Tile<COST, REACH> &tile, int at, int y, int start)
{
  const int WORDS = Cost<COST>::census_words;
  int last = (f.width - 1) & -4;
  unsigned row = (unsigned) (y * f.image_pitch);
  uint32_t words[SIDE];
  uint4 color = tile.color[at], level = tile.level[at];
  RightPixels<COST> right;

  load_right<COST> (f.view[STEREO_RIGHT], row + min (max (start, 0), last), 0, right);
  load_right<COST> (f.view[STEREO_RIGHT], row + min (max (start + 4, 0), last), 1, right);
#pragma unroll
  for (int c = 0; c < SIDE; c++) {
    uint32_t pairs[2];
#pragma unroll
    for (int e = 0; e < SIDE; e += 2) {
      int k = SKIPPED + SIDE - 1 - c + e;
      TwoDifferences d = {};
#pragma unroll
      for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
          int l = c * WORDS + w, r = (k + h) * WORDS + w;
          d.bits[h] += __popc (word_of (tile.census[at * WORDS + l / 4], l % 4) ^ word_of (right.census[r / 4], r % 4));
        }
        if (Cost<COST>::color)
          d.sad[h] = __vsadu4 (word_of (color, c), word_of (right.color[(k + h) / 4], (k + h) % 4));
      }
      if (Cost<COST>::level != Level::NONE) {
        uint32_t pair = k % 2 ? __byte_perm (right.level[k / 2], right.level[k / 2 + 1], 0x5432) : right.level[k / 2];
        d.level = __habs2 (__hsub2 (halves_of (word_of (level, c)), halves_of (pair)));
      }
      pairs[e / 2] = Cost<COST>::of_two_pairs (d);
    }
    words[c] = __byte_perm (pairs[0], pairs[1], 0x6420);
  }
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Half @k of four, twice. */
static __device__ __forceinline__ __half2
twice (uint2 four, int k)
{
  return halves_of (__byte_perm (k < 2 ? four.x : four.y, 0, k % 2 ? 0x3232 : 0x1010));
}

/* Ones where candidates exist, of column @x and indices @i and @i + 1. */
static __device__ __forceinline__ __half2
existing (const Frame &f, int x, int i)
{
  int first = stereo_first_index (x, f.width, f.min_disparity),
      last = stereo_last_index (x, f.disparities, f.min_disparity);
  return halves_of ((i >= first && i <= last ? 0x3C00u : 0) | (i + 1 >= first && i + 1 <= last ? 0x3C000000u : 0));
}

/* The first pass, a lane a patch: the means of its columns, and of those that the lanes beside have made of their patches. @raw: the costs
 * of the first tap, @pitch before those of the next one. */
template <int COST, int REACH> static __device__ __forceinline__ void
average_columns (const Tile<COST, REACH> &tile, const uint4 *raw, int pitch, int row, int patch,
    __half2 (&mean)[SIDE + 2 * REACH][2])
{
#pragma unroll
  for (int tap = 0; tap <= 2 * REACH; tap++) {
    uint4 costs = raw[tap * pitch];
    uint2 weights = tile.weights[0][tap][row][patch];
#pragma unroll
    for (int c = 0; c < SIDE; c++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        mean[REACH + c][h] = __hfma2 (twice (weights, c),
            halves_of (__byte_perm (word_of (costs, c), 0, h ? 0x4342 : 0x4140)),
            tap ? mean[REACH + c][h] : halves_of (0));
  }
#pragma unroll
  for (int k = 0; k < REACH; k++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      mean[k][h] = __shfl_up_sync (LIST_LANES, mean[SIDE + k][h], 1);
      mean[REACH + SIDE + k][h] = __shfl_down_sync (LIST_LANES, mean[REACH + k][h], 1);
    }
}

/* Both passes, a lane a patch: neighbouring lanes have neighbouring patches. INTERIOR: all candidates exist. */
template <int COST, int REACH, bool INTERIOR> static __device__ __forceinline__ void
average_tile (const Frame &f, const Lists &lists, const Averages &a, const Work &t, const Tile<COST, REACH> &tile)
{
  const int EACH = 32 / PATCHES<REACH>, ALL = SIDE + 2 * REACH;
  const __half2 zero = halves_of (0), low_bits = halves_of (0x66006600); /* 1536: a rounded sum is in the low bits */
  int lane = threadIdx.x % 32, patch = lane % PATCHES<REACH>, x = t.first + SIDE * patch, items = LIST_TILE * t.count;

  for (int begin = threadIdx.x / 32 * EACH; begin < items; begin += TILE_THREADS / 32 * EACH) {
    int item = min (begin + lane / PATCHES<REACH>, items - 1);
    int row = (int) ((uint32_t) item * t.inverse >> 16), g = item - row * t.count, y = t.y0 + row;
    const uint4 *raw = tile.raw + item * PATCHES<REACH> + patch;
    uint8_t *to = list_costs (f, lists, x, y) + g * STEREO_GROUP;
    __half2 mean[ALL][2];
    average_columns<COST, REACH> (tile, raw, t.count * PATCHES<REACH>, row, patch, mean);
    bool stores = lane < EACH * PATCHES<REACH> && begin + lane / PATCHES<REACH> < items && y < f.height;
#pragma unroll
    for (int c = 0; c < SIDE; c++) {
      uint32_t cost[2];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        __half2 own = mean[REACH + c][h], number = __hfma2 (own, a.scale, low_bits);
        __half2 rest = __hadd2 (__hfma2 (__hsub2 (number, low_bits), a.inverse, own), a.rounding);
        __half2 sum = INTERIOR ? rest : zero, all = zero;
#pragma unroll
        for (int tap = 0; tap <= 2 * REACH; tap++) {
          if (INTERIOR && tap == REACH)
            continue;
          __half2 weight = twice (tile.weights[1][tap][row][patch], c);
          if (!INTERIOR) {
            weight = __hmul2 (weight, existing (f, x + c + tap - REACH, t.groups[g] * STEREO_GROUP + 2 * h));
            all = __hadd2 (all, weight);
          }
          sum = __hfma2 (weight, __hsub2 (mean[c + tap][h], own), sum);
        }
        if (!INTERIOR)
          sum = __hadd2 (__h2div (sum, all), rest);
        cost[h] = bits_of (number) + bits_of (__hfma2 (sum, a.scale, low_bits));
      }
      if (stores && x + c >= t.x0 && x + c < min (t.x0 + LIST_TILE, f.width))
        *(uint32_t *) (to + c * LIST_SLOTS) = __byte_perm (cost[0], cost[1], 0x6420);
    }
  }
}

/* REACH: the most pixels of a window on either side. */
template <int COST, int REACH, int SKIPPED> static __global__ void
__launch_bounds__ (TILE_THREADS, REACH < MOST_REACH ? 8 : 1) tile_kernel (
    const __grid_constant__ Frame f, const __grid_constant__ Lists lists, const __grid_constant__ Averages a)
{
  typedef Tile<COST, REACH> T;
  __shared__ T tile;
  int number = blockIdx.y * lists.columns + blockIdx.x, count = count_groups (lists, number);
  Work t = { (int) blockIdx.x * LIST_TILE, (int) blockIdx.y * LIST_TILE, (int) blockIdx.x * LIST_TILE - a.before, count,
    lists.groups + (size_t) number * LIST_GROUPS, 0x10000u / (uint32_t) count + 1 };

  load_left (f, t, tile);
  make_weights (f, a.window, t, tile);
  __syncthreads ();
  for (int item = threadIdx.x; item < T::rows * T::patches * count; item += TILE_THREADS) {
    int patch = item % T::patches, n = item / T::patches;
    int row = (int) ((uint32_t) n * t.inverse >> 16), g = n - row * count, x = t.first + SIDE * patch;
    int y = min (max (t.y0 - REACH + row, 0), f.height - 1);
    int start = f.width - SIDE - x + f.min_disparity + t.groups[g] * STEREO_GROUP - SKIPPED;
    tile.raw[item] = make_patch<COST, SKIPPED> (f, tile, row * T::patches + patch, y, start);
  }
  __syncthreads ();
  int from = max (t.x0 - REACH, 0), to = min (t.x0 + LIST_TILE + REACH, f.width) - 1;
  int highest = t.groups[count - 1] * STEREO_GROUP + STEREO_GROUP - 1;
  if (highest <= stereo_last_index (from, f.disparities, f.min_disparity) &&
      t.groups[0] * STEREO_GROUP >= stereo_first_index (to, f.width, f.min_disparity))
    average_tile<COST, REACH, true> (f, lists, a, t, tile);
  else
    average_tile<COST, REACH, false> (f, lists, a, t, tile);
}

template <int COST, int REACH> static void
launch_tiles (StereoPlan *plan)
{
  Frame f = cuda_frame (plan);
  Lists lists = lists_of (plan);
  float unit = COST_SCALE * (float) plan->volume_unit, scale = ldexpf (unit, -plan->path_shift);
  int before = REACH, skipped;
  while ((skipped = (f.width + f.min_disparity + before) & 3) > 1)
    before++;
  Averages a = { asw_window (plan), before, __float2half2_rn (scale), __float2half2_rn (-1 / scale),
    __float2half2_rn (plan->path_shift ? 0.5f / unit : 0) };

  (skipped ?
          tile_kernel<COST, REACH, 1> :
          tile_kernel<COST, REACH, 0>) <<<dim3 (lists.columns, lists.rows), TILE_THREADS, 0, cuda_state (plan)->stream>>> (
      f, lists, a);
}

/* Wider windows, plainly: a few groups of the list at a time. */

constexpr int WIDE_THREADS = LIST_TILE * LIST_TILE;
constexpr int WIDE_GROUPS = 4;       /* at a time, at most */
constexpr int WIDE_BYTES = 48 << 10; /* of shared memory, at most */

/* Of the candidates of a group. */
struct __align__ (16) Four
{
  float of[STEREO_GROUP];
};

/* Bytes of shared memory for a group: means of the first pass, and costs around the tile, four a word. */
static __host__ __device__ int
wide_bytes (int side)
{
  return side * (LIST_TILE * (int) sizeof (Four) + side * (int) sizeof (uint32_t));
}

/* Block: a tile, @most groups at a time. A mean below 0 is that of a candidate that does not exist. */
template <int COST> static __global__ void
__launch_bounds__ (WIDE_THREADS) wide_kernel (
    const __grid_constant__ Frame f, const __grid_constant__ Lists lists, AswWindow w, float unit, int shift, int most)
{
  extern __shared__ Four means[]; /* [group][row][column] */
  int x0 = blockIdx.x * LIST_TILE, y0 = blockIdx.y * LIST_TILE, side = LIST_TILE + 2 * w.radius;
  int number = blockIdx.y * lists.columns + blockIdx.x, count = count_groups (lists, number);
  int across = threadIdx.x % LIST_TILE, down = threadIdx.x / LIST_TILE, x = x0 + across, y = y0 + down;
  const uint16_t *groups = lists.groups + (size_t) number * LIST_GROUPS;
  const uint32_t *likeness = f.view[STEREO_LEFT].likeness;
  uint32_t *raw = (uint32_t *) (means + most * LIST_TILE * side); /* likewise */

  for (int first = 0; first < count; first += most, groups += most) {
    int some = min (most, count - first);
    for (int k = threadIdx.x; k < side * side; k += WIDE_THREADS) {
      int column = min (max (x0 - w.radius + k % side, 0), f.width - 1);
      ptrdiff_t row = (ptrdiff_t) min (max (y0 - w.radius + k / side, 0), f.height - 1) * f.image_pitch;
      CostPixel left = load_pixel<COST> (f.view[STEREO_LEFT], row + column);
      for (int g = 0; g < some; g++)
        raw[g * side * side + k] = cost_group<COST> (f, left, row, column, groups[g], 0);
    }
    __syncthreads ();
    for (int k = threadIdx.x; k < LIST_TILE * side; k += WIDE_THREADS) {
      int column = min (max (x0 - w.radius + k % side, 0), f.width - 1), row = min (y0 + k / side, f.height - 1);
      int index = stereo_first_index (column, f.width, f.min_disparity),
          last = stereo_last_index (column, f.disparities, f.min_disparity);
      Four sum[WIDE_GROUPS] = {};
      float all = 0;
      for (int tap = 0; tap <= 2 * w.radius; tap++) {
        float weight = weigh (f, w, likeness + (ptrdiff_t) row * f.image_pitch + column, column, row, 0, tap - w.radius);
        all += weight;
#pragma unroll
        for (int g = 0; g < WIDE_GROUPS; g++)
          for (int e = 0; e < STEREO_GROUP && g < some; e++)
            sum[g].of[e] += weight * (float) (raw[g * side * side + tap * side + k] >> 8 * e & 255);
      }
#pragma unroll
      for (int g = 0; g < WIDE_GROUPS; g++)
        for (int e = 0; e < STEREO_GROUP && g < some; e++) {
          int i = groups[g] * STEREO_GROUP + e;
          means[g * LIST_TILE * side + k].of[e] = i >= index && i <= last ? sum[g].of[e] / all : -1;
        }
    }
    __syncthreads ();
    Four sum[WIDE_GROUPS] = {}, all[WIDE_GROUPS] = {};
    for (int tap = 0; x < f.width && y < f.height && tap <= 2 * w.radius; tap++) {
      float weight = weigh (f, w, likeness + (ptrdiff_t) y * f.image_pitch + x, x, y, tap - w.radius, 0);
#pragma unroll
      for (int g = 0; g < WIDE_GROUPS; g++)
        for (int e = 0; e < STEREO_GROUP && g < some; e++) {
          float mean = means[(g * LIST_TILE + down) * side + across + tap].of[e];
          sum[g].of[e] += mean < 0 ? 0 : weight * mean;
          all[g].of[e] += mean < 0 ? 0 : weight;
        }
    }
#pragma unroll
    for (int g = 0; g < WIDE_GROUPS; g++)
      for (int e = 0; e < STEREO_GROUP && g < some && x < f.width && y < f.height; e++)
        list_costs (f, lists, x, y)[(first + g) * STEREO_GROUP + e] = (uint8_t) stereo_path_cost (
            (uint32_t) (sum[g].of[e] / fmaxf (all[g].of[e], 1e-30f) * unit + 0.5f), shift);
    __syncthreads ();
  }
}

template <int COST> static void
launch_wide (StereoPlan *plan)
{
  AswWindow w = asw_window (plan);
  Lists lists = lists_of (plan);
  int each = wide_bytes (LIST_TILE + 2 * w.radius), groups = std::clamp (WIDE_BYTES / each, 1, WIDE_GROUPS);

  wide_kernel<COST><<<dim3 (lists.columns, lists.rows), WIDE_THREADS, groups * each, cuda_state (plan)->stream>>> (
      cuda_frame (plan), lists, w, (float) plan->volume_unit, plan->path_shift, groups);
}

static StereoStatus
mean_run (StereoPlan *plan, void *context, StereoError *error)
{
  int reach = plan->params.window / 2;
  StereoStatus status = cuda_join (plan, error);

  if (status)
    return status;
  status = launch_for_cost<STEREO_METHOD_ASW> (plan, error, [=] (auto cost) {
    constexpr int COST = decltype (cost)::value;
    (reach <= 1                 ? launch_tiles<COST, 1> :
            reach <= MOST_REACH ? launch_tiles<COST, MOST_REACH> :
                                  launch_wide<COST>) (plan);
    return STEREO_OK;
  });
  CUDA_LAUNCHED (plan, "costs of lists");
  return status;
}

}

extern const StereoStage stereo_cuda_list_means = { .name = "match", .run = mean_run };
