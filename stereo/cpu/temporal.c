/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporal: both views are averaged over time where they stand still; exact/temporal.h says by which rules. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#define RADIUS STEREO_TEMPORAL_RADIUS
#define AWAY STEREO_TEMPORAL_AWAY
#define BORDER (RADIUS + AWAY) /* of all windows of a pixel */
#define CHUNK 256              /* columns at a time */
#define BAND 16                /* rows of a thread, which share the sums of their windows */
#define RING (2 * AWAY + 1)    /* rows of windows that a row looks at, and those between */
#define NO_BIN STEREO_TEMPORAL_BINS
#define COPIES 4 /* of a histogram: neighbours mostly fall into the same bin, and would wait for each other there */

typedef uint32_t Bins[COPIES][STEREO_TEMPORAL_BINS + 1]; /* the last one counts what is not to be counted */
typedef Bins Histograms[2][STEREO_TEMPORAL_HISTOGRAMS];

typedef struct Context
{
  int16_t *change[2];    /* map: from the past to the present luma */
  Histograms *histogram; /* of each thread */
  int32_t noise[2];
  int most;
} Context;

static size_t
map_at (const StereoPlan *plan, int y)
{
  return (size_t) y * (size_t) plan->map_pitch;
}

static size_t
image_at (const StereoPlan *plan, int y)
{
  return (size_t) y * (size_t) plan->image_pitch;
}

static int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

/* ---- how much the views change --------------------------------------------------------------- */

/* Pairs of bytes from @from on: the first of each, the one of an even column, in the lower half. */
static inline VecI
pairs_at (const uint8_t *from)
{
  VecH pairs;

  memcpy (&pairs, from, sizeof pairs);
  return vec_widen (pairs);
}

/* Bins of changes, in lanes. The quotient of floats is exact enough: both are below 2^24, and no quotient is nearer to a
 * whole number from below than the divisor's 1 / 131. */
static inline VecI
bins_of_changes (VecI change, VecI count)
{
  const VecI last = (VecI){ 0 } + (STEREO_TEMPORAL_BINS - 1);
  VecF quotient = vec_float (vec_abs (change) * (4 * count + 1)) / vec_float (4 * count + 3);
  return vec_min ((__builtin_convertvector(quotient, VecI) + 32) >> 6, last);
}

/* Bins of curvatures, in lanes, of every other column from @luma on. */
static inline VecI
bins_of_curvatures (const uint8_t *luma, ptrdiff_t pitch)
{
  const VecI last = (VecI){ 0 } + (STEREO_TEMPORAL_BINS - 1);
  VecI above = pairs_at (luma - pitch), at = pairs_at (luma), below = pairs_at (luma + pitch);
  VecI before = pairs_at (luma - 1) & 0xFF, middle = (above & 0xFF) + (below & 0xFF);
  VecI corners = (pairs_at (luma - pitch - 1) & 0xFF) + (pairs_at (luma + pitch - 1) & 0xFF) + (above >> 8) +
      (below >> 8);
  return vec_min (vec_abs (corners + 4 * (at & 0xFF) - 2 * (middle + before + (at >> 8))), last);
}

static inline void
count_bins (VecI bin, VecI counts, Bins *bins)
{
  int32_t number[LANES];

  vec_store_i (number, (bin & counts) | (NO_BIN & ~counts));
  for (int k = 0; k < LANES; k++)
    (*bins)[k % COPIES][number[k]]++;
}

/* Every other column, whole vectors of them: rows have room. */
static void
count_row (const StereoPlan *plan, const int16_t *change, int view, int y, Bins *bins)
{
  const uint8_t *luma = plan->view[view].luma + image_at (plan, y), *count = plan->past[view].count + map_at (plan, y);
  const VecI lanes = LANE_NUMBERS;

  for (int x = 0; x < plan->width; x += STEREO_TEMPORAL_STEP * LANES) {
    VecI column = STEREO_TEMPORAL_STEP * lanes + x, own = pairs_at (luma + x) & 0xFF,
         frames = pairs_at (count + x) & 0xFF;
    VecI shows = (own >= STEREO_TEMPORAL_DARKEST) & (own <= STEREO_TEMPORAL_BRIGHTEST) & (column < plan->width), changes;
    memcpy (&changes, change + x, sizeof changes);
    count_bins (bins_of_changes (changes << 16 >> 16, frames), shows & (frames != 0), &bins[STEREO_TEMPORAL_CHANGES]);
    if (y > 0 && y < plan->height - 1)
      count_bins (bins_of_curvatures (luma + x, plan->image_pitch), shows & (column > 0) & (column < plan->width - 1),
          &bins[STEREO_TEMPORAL_CURVATURES]);
  }
}

static_assert (STEREO_TEMPORAL_STEP == 2, "pairs");

static void
change_row (StereoPlan *plan, void *context, int item, int thread)
{
  Context *c = context;
  int view = item % 2, y = item / 2;
  const StereoPast *past = &plan->past[view];
  size_t at = map_at (plan, y);
  const uint8_t *restrict luma = plan->view[view].luma + image_at (plan, y);
  const uint16_t *restrict red = past->channel[0] + at, *restrict green = past->channel[1] + at,
                           *restrict blue = past->channel[2] + at;
  int16_t *restrict change = c->change[view] + at;

  for (int x = 0; x < plan->width; x++)
    change[x] = (int16_t) stereo_temporal_change (luma[x], red[x], green[x], blue[x]);
  if (y % STEREO_TEMPORAL_STEP == 0)
    count_row (plan, change, view, y, c->histogram[thread][view]);
}

/* Adds up the threads' histograms, and the copies of each. */
static void
estimate_noise (StereoPlan *plan, Context *c)
{
  for (int view = 0; view < 2; view++) {
    uint32_t bins[STEREO_TEMPORAL_HISTOGRAMS][STEREO_TEMPORAL_BINS] = { 0 };
    for (int thread = 0; thread < cpu_threads (plan); thread++)
      for (int kind = 0; kind < STEREO_TEMPORAL_HISTOGRAMS; kind++)
        for (int copy = 0; copy < COPIES; copy++)
          for (int k = 0; k < STEREO_TEMPORAL_BINS; k++)
            bins[kind][k] += c->histogram[thread][view][kind][copy][k];
    int32_t curvatures = stereo_temporal_quartile (bins[STEREO_TEMPORAL_CURVATURES]);
    c->noise[view] = stereo_temporal_noise (stereo_temporal_quartile (bins[STEREO_TEMPORAL_CHANGES]), curvatures);
    if (view == STEREO_LEFT && plan->last.noise)
      *plan->last.noise = stereo_temporal_in_place (curvatures);
  }
}

/* ---- the average ------------------------------------------------------------------------------- */

/*
 * Sums are of 16 bits, too few for what may come up, and still decide as exact ones would. Noise is at most MOST_NOISE; so
 * sizes above 34764, 32 MOST_NOISE 7 / 5, and sums above 22814, two thirds of that, let nothing of the past count
 * (stereo_temporal_weight() with one frame; with more, less does). Sizes stop at 65535. Sums wrap around; but one that does,
 * in a window whose sizes are not too many by themselves, has 30772 at least left, which is too many as well.
 */
#define MOST_NOISE (64 * STEREO_TEMPORAL_NOISE + 8)
static_assert (32 * MOST_NOISE * 7 / 5 < 65535 && 65535 - 32 * MOST_NOISE * 7 / 5 > 21 * MOST_NOISE * 7 / 5, "16 bits");
static_assert (34 * 19 * 5 < 32 * 7 * 17 && 23 * 19 * 5 < 21 * 7 * 17, "the first frames decide what sums come to");

/* Sums of the changes, and of their sizes, in the rows of the windows round row @y: columns @from - BORDER to @from + @count +
 * BORDER - 1. The picture's borders are repeated. */
typedef struct Columns
{
  uint16_t sum[CHUNK + 2 * BORDER + WORDS], sizes[CHUNK + 2 * BORDER + WORDS];
} Columns;

/* Sums of windows: without the sign, and of sizes; AWAY more windows at both ends. */
typedef struct Windows
{
  uint16_t sum[CHUNK + 2 * AWAY + WORDS], sizes[CHUNK + 2 * AWAY + WORDS];
} Windows;

static inline VecW
size_of (VecW v)
{
  return vec_min_words (v, -v); /* a negative value is the larger one of both, without its sign */
}

static void
repeat_borders (uint16_t *columns, int begin, int end, int count)
{
  for (int k = 0; k < begin; k++)
    columns[k] = columns[begin];
  for (int k = end; k < count; k++)
    columns[k] = columns[end - 1];
}

static void
add_columns (const StereoPlan *plan, const int16_t *change, int y, int from, int count, Columns *columns)
{
  int last = plan->width - 1, begin = from < BORDER ? 0 : from - BORDER;
  int end = from + count + BORDER <= last ? from + count + BORDER : last + 1, shift = begin - from + BORDER;
  const int16_t *rows[2 * RADIUS + 1];

  for (int k = 0; k <= 2 * RADIUS; k++)
    rows[k] = change + map_at (plan, clamp (y + k - RADIUS, plan->height - 1)) + begin;
  for (int k = 0; k < end - begin; k += WORDS) {
    VecW sum = { 0 }, sizes = { 0 };
#pragma GCC unroll 5
    for (int row = 0; row <= 2 * RADIUS; row++) {
      VecW v = vec_load_w ((const uint16_t *) rows[row] + k);
      sum += v;
      sizes = vec_add_words (sizes, size_of (v));
    }
    vec_store_w (columns->sum + shift + k, sum);
    vec_store_w (columns->sizes + shift + k, sizes);
  }
  repeat_borders (columns->sum, shift, shift + end - begin, count + 2 * BORDER);
  repeat_borders (columns->sizes, shift, shift + end - begin, count + 2 * BORDER);
}

/* Those of row @y; none where the row or the column is outside the picture. */
static void
make_windows (const StereoPlan *plan, const int16_t *change, int y, int from, int count, Windows *windows)
{
  Columns columns;
  int before = AWAY - from, after = from + count + AWAY - plan->width;

  if (y < 0 || y >= plan->height) {
    memset (windows, 0, sizeof *windows);
    return;
  }
  add_columns (plan, change, y, from, count, &columns);
  for (int k = 0; k < count + 2 * AWAY; k += WORDS) {
    VecW sum = { 0 }, sizes = { 0 };
#pragma GCC unroll 5
    for (int column = 0; column <= 2 * RADIUS; column++) {
      sum += vec_load_w (columns.sum + k + column);
      sizes = vec_add_words (sizes, vec_load_w (columns.sizes + k + column));
    }
    vec_store_w (windows->sum + k, size_of (sum));
    vec_store_w (windows->sizes + k, sizes);
  }
  for (int k = 0; k < before; k++)
    windows->sum[k] = windows->sizes[k] = 0;
  for (int k = count + 2 * AWAY - (after > 0 ? after : 0); k < count + 2 * AWAY; k++)
    windows->sum[k] = windows->sizes[k] = 0;
}

static inline uint16_t
larger (uint16_t a, uint16_t b)
{
  return a > b ? a : b;
}

/* The largest of nine windows round each of @count, in @a: of three rows, then of three columns. */
static void
take_largest (uint16_t *restrict a, const uint16_t *restrict b, const uint16_t *restrict c, int count)
{
  for (int k = 0; k < count + 2 * AWAY; k++)
    a[k] = larger (larger (a[k], b[k]), c[k]);
  for (int k = 0; k < count; k++)
    a[k] = larger (larger (a[k], a[k + AWAY]), a[k + 2 * AWAY]);
}

/* Frames of the new averages. */
static void
count_frames (const Windows *largest, int count, int32_t noise, int most, uint8_t *restrict frames)
{
  const uint16_t *restrict sum = largest->sum, *restrict sizes = largest->sizes;

  for (int k = 0; k < count; k++) {
    int32_t weight = stereo_temporal_weight (sum[k], sizes[k], frames[k], noise);
    frames[k] = (uint8_t) stereo_temporal_count (frames[k], weight, most);
  }
}

/* Averages one channel, and puts what is to be matched in its place. */
static inline void
blend_channel (uint16_t *restrict past, uint32_t *restrict held, const uint32_t *restrict color,
    const int32_t *restrict share, int count, int shift)
{
  for (int k = 0; k < count; k++) {
    int32_t average = stereo_temporal_blend (past[k], (int32_t) (color[k] >> shift & 0xFF), share[k]);
    uint32_t sample = (uint32_t) stereo_temporal_hold (average, (int32_t) (held[k] >> shift & 0xFF));
    past[k] = (uint16_t) average;
    held[k] = (held[k] & ~(0xFFu << shift)) | sample << shift;
  }
}

/* @largest: of the windows round each pixel. */
static void
blend_chunk (StereoPlan *plan, const Context *c, int view, int y, int from, int count, const Windows *largest)
{
  size_t at = map_at (plan, y) + (size_t) from, place = image_at (plan, y) + (size_t) from;
  const StereoPast *past = &plan->past[view];
  uint8_t *restrict frames = past->count + at, *restrict luma = plan->view[view].luma + place;
  uint32_t *restrict held = past->color + at, *restrict color = plan->view[view].color + place;
  int32_t share[CHUNK];

  /* the next row's */
  for (int channel = 0; channel < 3; channel++)
    cpu_fetch (past->channel[channel] + at + plan->map_pitch, (size_t) count * sizeof (uint16_t));
  cpu_fetch (held + plan->map_pitch, (size_t) count * sizeof *held);
  cpu_fetch (color + plan->image_pitch, (size_t) count * sizeof *color);
  count_frames (largest, count, c->noise[view], c->most, frames);
  for (int k = 0; k < count; k++)
    share[k] = stereo_temporal_share (frames[k]);
  for (int k = 0; k < count; k++)
    held[k] &= 0xFFFFFF;
  for (int channel = 0; channel < 3; channel++)
    blend_channel (past->channel[channel] + at, held, color, share, count, 8 * channel);
  for (int k = 0; k < count; k++) {
    color[k] = held[k];
    luma[k] = (uint8_t) stereo_align_luma (held[k]);
  }
}

/* CHUNK columns of the rows of a band. */
static void
blend_block (StereoPlan *plan, const Context *c, int view, int first, int end, int from, int count)
{
  const int16_t *change = c->change[view];
  Windows ring[RING];

  for (int row = first - AWAY; row < first + AWAY; row++)
    make_windows (plan, change, row, from, count, &ring[(row + RING) % RING]);
  for (int y = first; y < end; y++) {
    Windows *above = &ring[(y - AWAY + RING) % RING]; /* the next row does not need it */
    const Windows *through = &ring[y % RING], *below = &ring[(y + AWAY) % RING];
    make_windows (plan, change, y + AWAY, from, count, &ring[(y + AWAY) % RING]);
    take_largest (above->sum, through->sum, below->sum, count);
    take_largest (above->sizes, through->sizes, below->sizes, count);
    blend_chunk (plan, c, view, y, from, count, above);
  }
}

static void
blend_band (StereoPlan *plan, void *context, int item, int thread)
{
  int view = item % 2, first = item / 2 * BAND, end = first + BAND < plan->height ? first + BAND : plan->height;

  for (int from = 0; from < plan->width; from += CHUNK)
    blend_block (plan, context, view, first, end, from, plan->width - from < CHUNK ? plan->width - from : CHUNK);
}

/* ---- the stage --------------------------------------------------------------------------------- */

static StereoStatus
temporal_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status = STEREO_OK;

  c->most = stereo_temporal_most (plan->params.temporal);
  for (int view = 0; view < 2 && !status; view++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->change[view],
        stereo_plus (stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), WORDS), sizeof *c->change[view],
        error);
  return status ?
      status :
      stereo_reserve (plan, (void **) &c->histogram, (size_t) cpu_threads (plan), sizeof *c->histogram, error);
}

static StereoStatus
temporal_run (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;

  memset (c->histogram, 0, (size_t) cpu_threads (plan) * sizeof *c->histogram);
  cpu_run (plan, context, change_row, 2 * plan->height);
  estimate_noise (plan, c);
  cpu_run (plan, context, blend_band, 2 * ((plan->height + BAND - 1) / BAND));
  return STEREO_OK;
}

const StereoStage CPU (temporal) = {
  .name = "temporal",
  .context_size = sizeof (Context),
  .prepare = temporal_prepare,
  .run = temporal_run,
};
