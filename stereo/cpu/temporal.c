/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporal: both views are averaged over time where they stand still; exact/temporal.h says by which rules. */
#include "stereo/cpu/cpu.h"

#define RADIUS STEREO_TEMPORAL_RADIUS
#define AWAY STEREO_TEMPORAL_AWAY
#define REACH (RADIUS + AWAY) /* of all windows of a pixel */
#define CHUNK 256             /* columns at a time */
#define BAND 16               /* rows of a thread, which share the sums of their windows */
#define RING (2 * AWAY + 1)   /* rows of windows that a row looks at, and those between */

typedef uint32_t Histograms[2][STEREO_TEMPORAL_HISTOGRAMS][STEREO_TEMPORAL_BINS];

typedef struct Context
{
  int16_t *change[2];    /* map: from the past to the present luma */
  Histograms *histogram; /* of each thread */
  int32_t noise[2];
  int32_t share[STEREO_TEMPORAL_MOST + 1];
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

static void
count_row (const StereoPlan *plan, const int16_t *change, int view, int y, uint32_t (*bins)[STEREO_TEMPORAL_BINS])
{
  const uint8_t *luma = plan->view[view].luma + image_at (plan, y), *count = plan->past[view].count + map_at (plan, y);
  ptrdiff_t pitch = plan->image_pitch;

  for (int x = 0; x < plan->width; x += STEREO_TEMPORAL_STEP) {
    if (!stereo_temporal_shows (luma[x]))
      continue;
    if (count[x])
      bins[STEREO_TEMPORAL_CHANGES][stereo_temporal_bin (change[x], count[x])]++;
    if (y > 0 && y < plan->height - 1 && x > 0 && x < plan->width - 1)
      bins[STEREO_TEMPORAL_CURVATURES][stereo_temporal_curvature (luma + x - pitch, luma + x, luma + x + pitch)]++;
  }
}

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

/* Adds up the threads' histograms, in the first one's. */
static void
estimate_noise (StereoPlan *plan, Context *c)
{
  for (int view = 0; view < 2; view++) {
    uint32_t (*bins)[STEREO_TEMPORAL_BINS] = c->histogram[0][view];
    for (int thread = 1; thread < cpu_threads (plan); thread++)
      for (int kind = 0; kind < STEREO_TEMPORAL_HISTOGRAMS; kind++)
        for (int k = 0; k < STEREO_TEMPORAL_BINS; k++)
          bins[kind][k] += c->histogram[thread][view][kind][k];
    c->noise[view] = stereo_temporal_noise (stereo_temporal_quartile (bins[STEREO_TEMPORAL_CHANGES]),
        stereo_temporal_quartile (bins[STEREO_TEMPORAL_CURVATURES]));
  }
}

/* ---- the average ------------------------------------------------------------------------------- */

/* Sums of the changes, and of their sizes, in the rows of the windows round row @y: columns @from - REACH to @from + @count +
 * REACH - 1. The picture's borders are repeated. */
typedef struct Columns
{
  int32_t sum[CHUNK + 2 * REACH], sizes[CHUNK + 2 * REACH];
} Columns;

/* Of windows, the sum without its sign, and the sum of sizes; AWAY more windows at both ends. */
typedef struct Windows
{
  int32_t sum[CHUNK + 2 * AWAY], sizes[CHUNK + 2 * AWAY];
} Windows;

static void
add_columns (const StereoPlan *plan, const int16_t *change, int y, int from, int count, Columns *columns)
{
  int last = plan->width - 1, begin = from < REACH ? 0 : from - REACH;
  int end = from + count + REACH <= last ? from + count + REACH : last + 1, shift = begin - from + REACH;
  int32_t *restrict sum = columns->sum + shift, *restrict sizes = columns->sizes + shift;

  memset (columns, 0, sizeof *columns);
  for (int dy = -RADIUS; dy <= RADIUS; dy++) {
    const int16_t *restrict row = change + map_at (plan, clamp (y + dy, plan->height - 1)) + begin;
    for (int k = 0; k < end - begin; k++) {
      int32_t v = row[k];
      sum[k] += v;
      sizes[k] += v < 0 ? -v : v;
    }
  }
  for (int k = 0; k < shift; k++) {
    columns->sum[k] = sum[0];
    columns->sizes[k] = sizes[0];
  }
  for (int k = end - begin; k < count + 2 * REACH - shift; k++) {
    sum[k] = sum[end - begin - 1];
    sizes[k] = sizes[end - begin - 1];
  }
}

static inline int32_t
larger (int32_t a, int32_t b)
{
  return a > b ? a : b;
}

/* Those of row @y; none where the row or the column is outside the picture. */
static void
make_windows (const StereoPlan *plan, const int16_t *change, int y, int from, int count, Windows *windows)
{
  Columns columns;
  const int32_t *restrict a = columns.sum, *restrict b = columns.sizes;
  int before = AWAY - from, after = from + count + AWAY - plan->width;

  memset (windows, 0, sizeof *windows);
  if (y < 0 || y >= plan->height)
    return;
  add_columns (plan, change, y, from, count, &columns);
  for (int k = before > 0 ? before : 0; k < count + 2 * AWAY - (after > 0 ? after : 0); k++) {
    int32_t sum = a[k] + a[k + 1] + a[k + 2] + a[k + 3] + a[k + 4];
    windows->sum[k] = sum < 0 ? -sum : sum;
    windows->sizes[k] = b[k] + b[k + 1] + b[k + 2] + b[k + 3] + b[k + 4];
  }
}

static_assert (RADIUS == 2, "make_windows() adds up five columns");

/* The largest of each column in @a, @b and @c, in @a. */
static void
take_largest (int32_t *restrict a, const int32_t *restrict b, const int32_t *restrict c, int count)
{
  for (int k = 0; k < count; k++)
    a[k] = larger (larger (a[k], b[k]), c[k]);
}

/* Frames of the new averages. */
static void
count_frames (const Windows *largest, int count, int32_t noise, int most, uint8_t *restrict frames)
{
  const int32_t *restrict a = largest->sum, *restrict b = largest->sizes;

  for (int k = 0; k < count; k++) {
    int32_t sum = larger (larger (a[k], a[k + AWAY]), a[k + 2 * AWAY]);
    int32_t sizes = larger (larger (b[k], b[k + AWAY]), b[k + 2 * AWAY]);
    int32_t weight = stereo_temporal_weight (sum, sizes, frames[k], noise);
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

/* @largest: of the rows of windows above, through and below the pixels. */
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
    share[k] = c->share[frames[k]];
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
    take_largest (above->sum, through->sum, below->sum, count + 2 * AWAY);
    take_largest (above->sizes, through->sizes, below->sizes, count + 2 * AWAY);
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
  for (int count = 1; count <= STEREO_TEMPORAL_MOST; count++)
    c->share[count] = stereo_temporal_share (count);
  for (int view = 0; view < 2 && !status; view++)
    status = stereo_reserve (plan, (void **) &c->change[view],
        stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), sizeof *c->change[view], error);
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
