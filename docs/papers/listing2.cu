// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Listing 2 of Hillerstrom 2017 (4.4.1), and the three optimisations that the thesis adds to it one after the other (figures 5.9 and
 * 5.10): two passes of support weights, columns then rows, with sums of absolute differences as cost. A program of its own, no part of
 * the plugin:
 *
 *     nvcc -O3 -arch=native docs/papers/listing2.cu -o listing2 && ./listing2 [WIDTH HEIGHT DISPARITIES [LAYERS...]]
 *
 * It prints a table (Markdown): times of both kernels, and by how much costs differ from those of a plain loop on the processor. With
 * one number of LAYERS (32), it has the four variants; with several, ROLLING with each of them (figure 5.13). The pictures are made: noise that is smoothed, and the left one moved by a disparity that grows along the rows.
 *
 * NAIVE     each support weight is an exponential of its own, with colours as floats and the Euclidean distance (listing 2)
 * WEIGHTS   one exponential of both weights, and the distance along the line (4.4.1)
 * BYTES     differences of colour by byte instructions, one conversion (4.4.2)
 * ROLLING   a block goes down its column, or along its row, and reads each block of pixels once (4.4.3)
 *
 * As in the thesis: windows of 33, blocks of 32x16 threads (4.3.2), three blocks of pixels of each view in shared memory, costs in
 * single precision, a volume, and LAYERS layers of scratch memory between the passes.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call) check ((call), #call, __LINE__)

static void
check (cudaError_t error, const char *what, int line)
{
  if (error == cudaSuccess)
    return;
  fprintf (stderr, "listing2: line %d: %s: %s\n", line, what, cudaGetErrorString (error));
  exit (1);
}

enum Variant
{
  NAIVE,
  WEIGHTS,
  BYTES,
  ROLLING,
  VARIANTS
};

constexpr int RADIUS = 16;
constexpr int BLOCK_X = 32, BLOCK_Y = 16;
constexpr float GAMMA_COLOR = 259.65f, GAMMA_DISTANCE = 28.0f; /* 5.1.3 */

struct Pictures
{
  const uint32_t *left, *right; /* R, G, B and 0 */
  int width, height;
};

/* ---- weights and costs --------------------------------------------------------------------------------------- */

__host__ __device__ static float
channel (uint32_t color, int c)
{
  return (float) (color >> 8 * c & 255);
}

/* The sum of absolute differences, as floats: six conversions. */
__host__ __device__ static float
difference_of_floats (uint32_t a, uint32_t b)
{
  return fabsf (channel (a, 0) - channel (b, 0)) + fabsf (channel (a, 1) - channel (b, 1)) +
      fabsf (channel (a, 2) - channel (b, 2));
}

__device__ static float
support_weight (uint32_t p, uint32_t q, int dx, int dy)
{
  float distance = sqrtf ((float) (dx * dx) + (float) (dy * dy));
  return expf (-difference_of_floats (p, q) / GAMMA_COLOR - distance / GAMMA_DISTANCE);
}

/* The product of both views' weights of a tap @offset pixels along the line. */
template <int VARIANT, bool ALONG_ROW> __device__ static float
weight_of (uint32_t p, uint32_t q, uint32_t p_ref, uint32_t q_ref, int offset)
{
  if (VARIANT == NAIVE) {
    int dx = ALONG_ROW ? offset : 0, dy = ALONG_ROW ? 0 : offset;
    return support_weight (p, q, dx, dy) * support_weight (p_ref, q_ref, dx, dy);
  }
  if (VARIANT == WEIGHTS)
    return expf ((-difference_of_floats (p, q) - difference_of_floats (p_ref, q_ref)) / GAMMA_COLOR +
        (float) (-2 * abs (offset)) / GAMMA_DISTANCE);
  int difference = (int) (__vsadu4 (p, q) + __vsadu4 (p_ref, q_ref));
  return expf ((float) -difference / GAMMA_COLOR + (float) (-2 * abs (offset)) / GAMMA_DISTANCE);
}

template <int VARIANT> __device__ static float
matching_cost (uint32_t a, uint32_t b)
{
  return VARIANT >= BYTES ? (float) __vsadu4 (a, b) : difference_of_floats (a, b);
}

/* ---- the passes ------------------------------------------------------------------------------------------------ */

/* Column passes hold three blocks one above the other, row passes three side by side. A tap that is outside either picture is left
 * out: its place in shared memory is marked by this alpha, which no pixel has. */
constexpr uint32_t OUTSIDE = 0xFF000000u;

__device__ static uint32_t
pixel_at (const uint32_t *picture, const Pictures &p, int x, int y)
{
  bool inside = x >= 0 && x < p.width && y >= 0 && y < p.height;
  return inside ? picture[(size_t) y * p.width + x] : OUTSIDE;
}

/* Vertical: costs of pixels are averaged along columns. Block z: a layer of @layers from disparity @first on. Slots of the ring: the
 * block of pixels at rows 16 n lies in slot n mod 3, so that a rolling block replaces only the one that it leaves. */
template <int VARIANT> __global__ static void
__launch_bounds__ (BLOCK_X *BLOCK_Y) aggregate_columns (Pictures p, float *scratch, int first)
{
  __shared__ uint32_t left[3][BLOCK_Y][BLOCK_X], right[3][BLOCK_Y][BLOCK_X];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * BLOCK_X + tx, d = first + (int) blockIdx.z;
  int blocks = (p.height + BLOCK_Y - 1) / BLOCK_Y;
  int begin = VARIANT == ROLLING ? 0 : blockIdx.y, end = VARIANT == ROLLING ? blocks : begin + 1;

  auto load = [&] (int block) {
    int y = block * BLOCK_Y + ty, slot = (block + 3) % 3;
    left[slot][ty][tx] = pixel_at (p.left, p, x, y);
    right[slot][ty][tx] = pixel_at (p.right, p, x - d, y);
  };
  load (begin - 1);
  load (begin);
  for (int block = begin; block < end; block++) {
    load (block + 1);
    __syncthreads ();
    uint32_t own = left[block % 3][ty][tx], partner = right[block % 3][ty][tx];
    float sum = 0, weights = 0;
#pragma unroll
    for (int offset = -RADIUS; offset <= RADIUS; offset++) {
      int row = ty + offset + BLOCK_Y; /* from the block above on */
      int slot = (block + 2 + row / BLOCK_Y) % 3;
      uint32_t q = left[slot][row % BLOCK_Y][tx], q_ref = right[slot][row % BLOCK_Y][tx];
      if (q == OUTSIDE || q_ref == OUTSIDE)
        continue;
      float weight = weight_of<VARIANT, false> (own, q, partner, q_ref, offset);
      sum += weight * matching_cost<VARIANT> (q, q_ref);
      weights += weight;
    }
    int y = block * BLOCK_Y + ty;
    if (x < p.width && y < p.height)
      scratch[((size_t) blockIdx.z * p.height + y) * p.width + x] = weights > 0 ? sum / weights : -1.0f;
    __syncthreads ();
  }
}

/* Horizontal: what the columns gave is averaged along rows. */
template <int VARIANT> __global__ static void
__launch_bounds__ (BLOCK_X *BLOCK_Y) aggregate_rows (Pictures p, const float *scratch, float *volume, int first)
{
  __shared__ uint32_t left[3][BLOCK_Y][BLOCK_X], right[3][BLOCK_Y][BLOCK_X];
  __shared__ float costs[3][BLOCK_Y][BLOCK_X];
  int tx = threadIdx.x, ty = threadIdx.y, y = blockIdx.y * BLOCK_Y + ty, d = first + (int) blockIdx.z;
  int blocks = (p.width + BLOCK_X - 1) / BLOCK_X;
  int begin = VARIANT == ROLLING ? 0 : blockIdx.x, end = VARIANT == ROLLING ? blocks : begin + 1;
  const float *layer = scratch + (size_t) blockIdx.z * p.height * p.width;

  auto load = [&] (int block) {
    int x = block * BLOCK_X + tx, slot = (block + 3) % 3;
    bool inside = x >= 0 && x < p.width && y < p.height;
    left[slot][ty][tx] = pixel_at (p.left, p, x, y);
    right[slot][ty][tx] = pixel_at (p.right, p, x - d, y);
    costs[slot][ty][tx] = inside ? layer[(size_t) y * p.width + x] : -1.0f;
  };
  load (begin - 1);
  load (begin);
  for (int block = begin; block < end; block++) {
    load (block + 1);
    __syncthreads ();
    uint32_t own = left[block % 3][ty][tx], partner = right[block % 3][ty][tx];
    float sum = 0, weights = 0;
#pragma unroll
    for (int offset = -RADIUS; offset <= RADIUS; offset++) {
      int column = tx + offset + BLOCK_X;
      int slot = (block + 2 + column / BLOCK_X) % 3;
      uint32_t q = left[slot][ty][column % BLOCK_X], q_ref = right[slot][ty][column % BLOCK_X];
      if (q == OUTSIDE || q_ref == OUTSIDE)
        continue;
      float weight = weight_of<VARIANT, true> (own, q, partner, q_ref, offset);
      sum += weight * costs[slot][ty][column % BLOCK_X];
      weights += weight;
    }
    int x = block * BLOCK_X + tx;
    if (x < p.width && y < p.height)
      volume[((size_t) d * p.height + y) * p.width + x] = weights > 0 && partner != OUTSIDE ? sum / weights : -1.0f;
    __syncthreads ();
  }
}

/* ---- running them ------------------------------------------------------------------------------------------------ */

struct Times
{
  float columns, rows; /* milliseconds of a frame */
};

template <int VARIANT> static void
launch (const Pictures &p, float *scratch, float *volume, int disparities, int layers, cudaEvent_t *events, Times *times)
{
  unsigned across = (unsigned) (p.width + BLOCK_X - 1) / BLOCK_X, down = (unsigned) (p.height + BLOCK_Y - 1) / BLOCK_Y;
  dim3 threads (BLOCK_X, BLOCK_Y);

  times->columns = times->rows = 0;
  for (int first = 0; first < disparities; first += layers) {
    unsigned count = (unsigned) (disparities - first < layers ? disparities - first : layers);
    float ms;
    CHECK (cudaEventRecord (events[0]));
    aggregate_columns<VARIANT><<<dim3 (across, VARIANT == ROLLING ? 1 : down, count), threads>>> (p, scratch, first);
    CHECK (cudaEventRecord (events[1]));
    aggregate_rows<VARIANT>
        <<<dim3 (VARIANT == ROLLING ? 1 : across, down, count), threads>>> (p, scratch, volume, first);
    CHECK (cudaEventRecord (events[2]));
    CHECK (cudaGetLastError ());
    CHECK (cudaEventSynchronize (events[2]));
    CHECK (cudaEventElapsedTime (&ms, events[0], events[1]));
    times->columns += ms;
    CHECK (cudaEventElapsedTime (&ms, events[1], events[2]));
    times->rows += ms;
  }
}

typedef void (*Launch) (const Pictures &, float *, float *, int, int, cudaEvent_t *, Times *);

/* The best of some frames. */
static Times
time_of (Launch run, const Pictures &p, float *scratch, float *volume, int disparities, int layers)
{
  cudaEvent_t events[3];
  Times best = { INFINITY, INFINITY };

  for (int k = 0; k < 3; k++)
    CHECK (cudaEventCreate (&events[k]));
  for (int frame = 0; frame < 6; frame++) {
    Times times;
    run (p, scratch, volume, disparities, layers, events, &times);
    if (frame && times.columns + times.rows < best.columns + best.rows)
      best = times;
  }
  for (int k = 0; k < 3; k++)
    CHECK (cudaEventDestroy (events[k]));
  return best;
}

/* ---- what is right ------------------------------------------------------------------------------------------------- */

struct Plain
{
  const std::vector<uint32_t> &left, &right;
  int width, height, d;

  bool
  there (int x, int y) const
  {
    return x >= 0 && x < width && y >= 0 && y < height && x - d >= 0;
  }
  double
  weight (int x, int y, int u, int v) const
  {
    size_t p = (size_t) y * (size_t) width + (size_t) x, q = (size_t) v * (size_t) width + (size_t) u;
    double distance = std::hypot (u - x, v - y);
    return exp (-difference_of_floats (left[p], left[q]) / GAMMA_COLOR - distance / GAMMA_DISTANCE) *
        exp (-difference_of_floats (right[p - (size_t) d], right[q - (size_t) d]) / GAMMA_COLOR -
            distance / GAMMA_DISTANCE);
  }
  double
  column (int x, int y) const
  {
    double sum = 0, weights = 0;
    for (int v = y - RADIUS; v <= y + RADIUS; v++)
      if (there (x, v)) {
        size_t q = (size_t) v * (size_t) width + (size_t) x;
        double w = weight (x, y, x, v);
        sum += w * difference_of_floats (left[q], right[q - (size_t) d]);
        weights += w;
      }
    return sum / weights;
  }
  double
  cost (int x, int y) const
  {
    double sum = 0, weights = 0;
    for (int u = x - RADIUS; u <= x + RADIUS; u++)
      if (there (u, y)) {
        double w = weight (x, y, u, y);
        sum += w * column (u, y);
        weights += w;
      }
    return sum / weights;
  }
};

/* The largest difference of some costs of the volume from the plain loops, over these. */
static double
error_of (const float *volume, const std::vector<uint32_t> &left, const std::vector<uint32_t> &right, int width,
    int height, int disparities)
{
  double most = 0;
  uint32_t seed = 1;
  for (int k = 0; k < 300; k++) {
    int place[3], range[3] = { width, height, disparities };
    for (int c = 0; c < 3; c++) {
      seed = seed * 1664525u + 1013904223u;
      place[c] = (int) ((seed >> 8) % (uint32_t) range[c]);
    }
    float found;
    size_t at = ((size_t) place[2] * (size_t) height + (size_t) place[1]) * (size_t) width + (size_t) place[0];
    CHECK (cudaMemcpy (&found, volume + at, sizeof found, cudaMemcpyDeviceToHost));
    if (place[0] < place[2]) {
      most = found == -1.0f ? most : INFINITY;
      continue;
    }
    double expected = Plain{ left, right, width, height, place[2] }.cost (place[0], place[1]);
    most = fmax (most, fabs (found - expected) / fmax (expected, 1));
  }
  return most;
}

static void
make_pictures (std::vector<uint32_t> &left, std::vector<uint32_t> &right, int width, int height, int disparities)
{
  uint32_t seed = 7;
  std::vector<int> noise ((size_t) (width + disparities) * (size_t) height * 3);
  for (int &value : noise) {
    seed = seed * 1664525u + 1013904223u;
    value = (int) (seed >> 24);
  }
  auto color = [&] (int x, int y) {
    uint32_t packed = 0;
    for (int c = 0; c < 3; c++) {
      int sum = 0;
      for (int k = 0; k < 4; k++)
        sum += noise[((size_t) y * (size_t) (width + disparities) + (size_t) (x + k < width + disparities ? x + k : x)) * 3 +
            (size_t) c];
      packed |= (uint32_t) (sum / 4) << 8 * c;
    }
    return packed;
  };
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      right[(size_t) y * (size_t) width + (size_t) x] = color (x, y);
      int d = x * disparities / width, from = x - d;
      left[(size_t) y * (size_t) width + (size_t) x] = color (from < 0 ? 0 : from, y);
    }
}

static uint32_t *
on_device (const std::vector<uint32_t> &picture)
{
  uint32_t *memory;
  CHECK (cudaMalloc ((void **) &memory, picture.size () * sizeof picture[0]));
  CHECK (cudaMemcpy (memory, picture.data (), picture.size () * sizeof picture[0], cudaMemcpyHostToDevice));
  return memory;
}

/* A row of a table: the time of a variant, and how far it is from the plain loops. */
static void
print_row (const char *name, const Times &times, float first, double error)
{
  float both = times.columns + times.rows;
  printf ("| %s | %.1f | %.1f | %.1f | %.0f %% | %.1e |\n", name, times.columns, times.rows, both,
      100 * both / (first > 0 ? first : both), error);
}

int
main (int count, char **words)
{
  static const char *const names[VARIANTS] = { "twoPassSAD (Naive)", "twoPassSAD (Opt SW Expr)",
    "twoPassSAD (Opt SIMD)", "twoPassSAD (Rolling Threads)" };
  static const Launch runs[VARIANTS] = { launch<NAIVE>, launch<WEIGHTS>, launch<BYTES>, launch<ROLLING> };
  int size[3] = { 1408, 965, 320 }; /* the average of the thesis's pictures */
  std::vector<int> layers;          /* of scratch memory */
  cudaDeviceProp device;

  for (int k = 1; k < count; k++)
    if (k <= 3)
      size[k - 1] = atoi (words[k]);
    else
      layers.push_back (atoi (words[k]));
  if (layers.empty ())
    layers.push_back (32); /* 5.1.3 */
  int width = size[0], height = size[1], disparities = size[2];
  int most = *std::max_element (layers.begin (), layers.end ());
  if (width < 1 || height < 1 || disparities < 1 || disparities > width ||
      *std::min_element (layers.begin (), layers.end ()) < 1) {
    fprintf (stderr,
        "listing2 [WIDTH HEIGHT DISPARITIES [LAYERS...]]: all above 0, and no more disparities than columns. "
        "One number of LAYERS: all variants. Several: Rolling Threads with each.\n");
    return 1;
  }
  CHECK (cudaGetDeviceProperties (&device, 0));
  std::vector<uint32_t> left ((size_t) width * (size_t) height), right (left.size ());
  make_pictures (left, right, width, height, disparities);
  Pictures p = { on_device (left), on_device (right), width, height };
  float *scratch, *volume;
  CHECK (cudaMalloc ((void **) &scratch, (size_t) most * left.size () * sizeof *scratch));
  CHECK (cudaMalloc ((void **) &volume, (size_t) disparities * left.size () * sizeof *volume));

  puts ("# SPDX-License-Identifier: LGPL-2.1-or-later");
  printf ("| %s, %dx%d, %d disparities", device.name, width, height, disparities);
  if (layers.size () == 1)
    printf (", %d layers", layers[0]);
  printf (" | ms, columns | ms, rows | ms | of the first | largest error |\n|---|---|---|---|---|---|\n");
  float first = 0;
  for (int k = 0; k < (layers.size () == 1 ? VARIANTS : (int) layers.size ()); k++) {
    int variant = layers.size () == 1 ? k : ROLLING,
        count_of_layers = layers.size () == 1 ? layers[0] : layers[(size_t) k];
    std::string name = layers.size () == 1 ? names[k] : std::to_string (count_of_layers) + " layers";
    Times times = time_of (runs[variant], p, scratch, volume, disparities, count_of_layers);
    print_row (name.c_str (), times, first, error_of (volume, left, right, width, height, disparities));
    first = k ? first : times.columns + times.rows;
  }
  return 0;
}
