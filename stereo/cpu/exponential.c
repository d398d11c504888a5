/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size adaptive weight (Yu et al., equations 3 to 7): every iteration takes a weighted mean of three costs
 * along the row, then of three such means along the column. With every iteration the taps are farther apart.
 *
 * An iteration reads one volume and writes another. A thread takes some rows in the order of their chains
 * (stereo_chain_row()): in that order the rows of the taps above and below are neighbours. It stores the means along three
 * rows. The first iteration computes the costs that it reads, row by row.
 */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/exponential.h"

#define CPU_MESSAGE_COLUMNS 8 /* columns whose messages are computed at a time */

/* Turns the costs of @columns pixels into messages. @scratch: 6 * depth words of a thread for each of
 * CPU_MESSAGE_COLUMNS. */
typedef void (*CpuMessage) (
    const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch);

/* The context of both stages. */
typedef struct CpuExponential
{
  uint16_t *volume;  /* the second one: iterations read one volume and write the other */
  uint16_t *scratch; /* per thread: see lay_out() */
  /* of the frame at hand */
  CpuMessage message;     /* NULL: costs are averaged as they are */
  const StereoTaps *taps; /* of the iteration at work */
  int iteration;
} CpuExponential;

#define INLINE static inline __attribute__ ((always_inline))
#define ROWS 16 /* rows of a chain that a thread takes at a time */

typedef struct Work
{
  const StereoPlan *plan;
  const StereoTaps *taps;
  StereoExponential e;
  CpuMessage message;
  const uint16_t *from; /* volume; NULL: costs are computed */
  uint16_t *to;
  int last;          /* iteration */
  uint16_t *costs;   /* of a row, in the first iteration */
  uint16_t *mean[3]; /* means along the rows mean_row */
  int mean_row[3];
  float *before, *after; /* weights of a row's taps */
  uint8_t *line;         /* the right view's luma, as far as candidates reach */
  uint16_t *scratch;
} Work;

static size_t
row_words (const StereoPlan *plan)
{
  return (size_t) plan->width * (size_t) plan->depth;
}

static size_t
weight_words (const StereoPlan *plan)
{
  return 2 * ((size_t) plan->width + LANES); /* floats, in words of 16 bits */
}

static size_t
line_words (const StereoPlan *plan)
{
  return ((size_t) plan->width + (size_t) plan->depth + 32) / 2;
}

static size_t
thread_words (const StereoPlan *plan)
{
  size_t words = 4 * row_words (plan) + 2 * weight_words (plan) + line_words (plan) +
      6 * CPU_MESSAGE_COLUMNS * (size_t) plan->depth; /* below 2^28 */
  return (words + 31) / 32 * 32;
}

/* ---- costs ------------------------------------------------------------------------------------ */

/* Truncated absolute differences of row @y; a partner outside is the nearest pixel inside. */
static void
make_costs (const Work *w, int y)
{
  const StereoPlan *plan = w->plan;
  size_t row = (size_t) y * (size_t) plan->image_pitch;
  const uint8_t *luma = plan->view[STEREO_LEFT].luma + row, *right = plan->view[STEREO_RIGHT].luma + row;
  VecW top = (VecW){ 0 } + (uint16_t) w->e.top;
  VecW most = (VecW){ 0 } + (uint16_t) (0xFFFF >> w->e.shift); /* the shifted value fits a word; at least the top */

  for (int k = 0; k < plan->width + plan->depth; k++) {
    int x = k + plan->min_disparity;
    w->line[k] = right[x < 0 ? 0 : x < plan->width ? x : plan->width - 1];
  }
  for (int x = 0; x < plan->width; x++) {
    const uint8_t *partner = w->line + plan->width - 1 - x;
    uint16_t *to = w->costs + (size_t) x * (size_t) plan->depth;
    VecW own = (VecW){ 0 } + luma[x];
    for (int i = 0; i < plan->depth; i += WORDS) {
      VecW other = vec_words_of_bytes (partner + i);
      VecW less = vec_min_words (own, other), more = own + other - less;
      vec_store_w (to + i, vec_min_words (vec_min_words (more - less, most) << w->e.shift, top));
    }
  }
  if (w->message)
    w->message (plan, &w->e, w->costs, plan->width, w->scratch);
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* stereo_largest_difference() in lanes. */
INLINE VecI
largest_difference (VecU a, VecU b)
{
  VecU d = vec_byte_differences (a, b);
  VecI r = (VecI) (d & 255), g = (VecI) (d >> 8 & 255), c = (VecI) (d >> 16 & 255);
  VecI rg = r > g;
  rg = (r & rg) | (g & ~rg);
  VecI most = rg > c;
  return (rg & most) | (c & ~most);
}

/* Weights of the tap that lies @away elements from each pixel of a row, for columns from @first to @end - 1; other columns
 * get 0. Reads and writes up to a vector more. */
static void
weigh_tap (const Work *w, const uint32_t *own, ptrdiff_t away, int first, int end, float *out)
{
  int width = w->plan->width;

  first = first < width ? first : width;
  memset (out, 0, (size_t) first * sizeof *out);
  for (int x = first; x < end; x += LANES)
    vec_store_f (
        out + x, vec_look_up (w->taps->weight, largest_difference (vec_load_u (own + x), vec_load_u (own + x + away))));
  end = end > first ? end : first;
  memset (out + end, 0, (size_t) (width + LANES - end) * sizeof *out);
}

/* Normalised weights of the two taps of each pixel of row @y, @away elements before and after it. The tap before exists from
 * column @first on, the tap after up to column @end - 1. */
static void
weigh (const Work *w, int y, ptrdiff_t away, int first, int end)
{
  const StereoPlan *plan = w->plan;
  const uint32_t *own = plan->view[STEREO_LEFT].color + (size_t) y * (size_t) plan->image_pitch;

  weigh_tap (w, own, -away, first, plan->width, w->before);
  weigh_tap (w, own, away, 0, end, w->after);
  for (int x = 0; x < plan->width; x += LANES) {
    VecF before = vec_load_f (w->before + x), after = vec_load_f (w->after + x), share = 1.0f / (before + 1.0f + after);
    vec_store_f (w->before + x, (VecF) (((VecU) (before * share) + 0x8000u) & 0xFFFF0000u));
    vec_store_f (w->after + x, (VecF) (((VecU) (after * share) + 0x8000u) & 0xFFFF0000u));
  }
}

/* ---- means ---------------------------------------------------------------------------------------- */

/* Words as floats, plus STEREO_EXPONENTIAL_MAGIC. */
INLINE VecF
load_costs (const uint16_t *from)
{
  return (VecF) (vec_widen (vec_load_h (from)) | 0x4B000000);
}

INLINE void
mean_column (const uint16_t *own, const uint16_t *before, const uint16_t *after, float before_weight,
    float after_weight, uint16_t *to, int depth)
{
  for (int i = 0; i < depth; i += LANES) {
    VecF c = load_costs (own + i), a = load_costs (before + i) - c, b = load_costs (after + i) - c;
    VecF mean = c + (a * before_weight + b * after_weight);
    vec_store_h (to + i, vec_narrow ((VecI) mean - 0x4B000000));
  }
}

/* The means along row @y, which are computed unless they are stored already. @k: the place of the row in its chain. */
static const uint16_t *
mean_along_row (Work *w, int y, int k)
{
  const StereoPlan *plan = w->plan;
  int step = w->taps->step, width = plan->width, depth = plan->depth, slot = k % 3;
  uint16_t *to = w->mean[slot];

  if (w->mean_row[slot] == y)
    return to;
  w->mean_row[slot] = y;
  if (!w->from)
    make_costs (w, y);
  weigh (w, y, step, step, width - step);
  const uint16_t *from = w->from ? w->from + (size_t) y * row_words (plan) : w->costs;
  for (int x = 0; x < width; x++) {
    const uint16_t *own = from + (size_t) x * (size_t) depth;
    ptrdiff_t away = (ptrdiff_t) step * depth;
    mean_column (own, x >= step ? own - away : own, x < width - step ? own + away : own, w->before[x], w->after[x],
        to + (size_t) x * (size_t) depth, depth);
  }
  if (w->message)
    w->message (plan, &w->e, to, width, w->scratch);
  return to;
}

/* Marks candidates that do not exist. */
static void
blank (const StereoPlan *plan, int x, uint16_t *column)
{
  int outside = stereo_params_keep_outside (&plan->params);
  int first = outside ? 0 : stereo_first_index (x, plan->width, plan->min_disparity);
  int last = outside ? plan->disparities - 1 : stereo_last_index (x, plan->disparities, plan->min_disparity);

  for (int i = 0; i < plan->depth; i++)
    if (i < first || i > last)
      column[i] = STEREO_INVALID;
}

static void
finish_row (Work *w, int y)
{
  const StereoPlan *plan = w->plan;
  int step = w->taps->step, k = y / step, width = plan->width, depth = plan->depth;
  int above = y >= step, below = y + step < plan->height;
  const uint16_t *before = above ? mean_along_row (w, y - step, k - 1) : NULL;
  const uint16_t *own = mean_along_row (w, y, k);
  const uint16_t *after = below ? mean_along_row (w, y + step, k + 1) : own;
  uint16_t *to = w->to + (size_t) y * row_words (plan);

  if (!above)
    before = own;
  weigh (w, y, (ptrdiff_t) step * plan->image_pitch, above ? 0 : width, below ? width : 0);
  for (int x = 0; x < width; x++) {
    size_t at = (size_t) x * (size_t) depth;
    mean_column (own + at, before + at, after + at, w->before[x], w->after[x], to + at, depth);
    if (w->last)
      blank (plan, x, to + at);
  }
  if (w->message && !w->last)
    w->message (plan, &w->e, to, width, w->scratch);
}

/* ---- stage ------------------------------------------------------------------------------------------ */

static void
lay_out (Work *w, uint16_t *base)
{
  const StereoPlan *plan = w->plan;

  w->costs = base;
  for (int k = 0; k < 3; k++) {
    w->mean[k] = base + (size_t) (k + 1) * row_words (plan);
    w->mean_row[k] = -1;
  }
  w->before = (float *) (base + 4 * row_words (plan));
  w->after = w->before + plan->width + LANES;
  w->scratch = (uint16_t *) (w->after + plan->width + LANES);
  w->line = (uint8_t *) (w->scratch + 6 * CPU_MESSAGE_COLUMNS * (size_t) plan->depth);
}

static void
iterate_rows (StereoPlan *plan, void *context, int item, int thread)
{
  const CpuExponential *x = context;
  int left = plan->params.iterations - 1 - x->iteration;
  int end = (item + 1) * ROWS < plan->height ? (item + 1) * ROWS : plan->height;
  Work w = { .plan = plan, .taps = x->taps, .message = x->message };

  w.e = stereo_exponential (&plan->params, plan->volume_unit);
  w.last = left == 0;
  w.to = left % 2 ? x->volume : plan->volume;
  w.from = x->iteration == 0 ? NULL : left % 2 ? plan->volume : x->volume;
  lay_out (&w, x->scratch + (size_t) thread * thread_words (plan));
  for (int n = item * ROWS; n < end; n++)
    finish_row (&w, stereo_chain_row (n, plan->height, x->taps->step));
}

static StereoStatus
exponential_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  CpuExponential *x = context;
  StereoStatus status;

  if (plan->params.iterations > 1 &&
      (status = stereo_reserve (plan, (void **) &x->volume, stereo_times ((size_t) plan->height, row_words (plan)),
           sizeof (uint16_t), error)))
    return status;
  return stereo_reserve (plan, (void **) &x->scratch, stereo_times ((size_t) cpu_threads (plan), thread_words (plan)),
      sizeof (uint16_t), error);
}

/* A thread's scratch memory for messages. */
static uint16_t *
exponential_scratch (const StereoPlan *plan, const CpuExponential *x, int thread)
{
  Work w = { .plan = plan };
  lay_out (&w, x->scratch + (size_t) thread * thread_words (plan));
  return w.scratch;
}

static StereoStatus
exponential_run (StereoPlan *plan, CpuExponential *x, CpuMessage message)
{
  StereoTaps taps;

  x->taps = &taps;
  x->message = message;
  for (x->iteration = 0; x->iteration < plan->params.iterations; x->iteration++) {
    stereo_exponential_taps (&plan->params, x->iteration, &taps);
    cpu_run (plan, x, iterate_rows, (plan->height + ROWS - 1) / ROWS);
  }
  x->taps = NULL;
  return STEREO_OK;
}

static StereoStatus
esaw_run (StereoPlan *plan, void *context, StereoError *error)
{
  return exponential_run (plan, context, NULL);
}

static const StereoStage esaw = {
  .name = "match", .context_size = sizeof (CpuExponential), .prepare = exponential_prepare, .run = esaw_run
};

/* The registry gives esaw one cost, AD, which make_costs() computes. */
const StereoStage *
CPU (esaw) (const StereoParams *params)
{
  return params->cost == STEREO_COST_AD ? &esaw : NULL;
}

/*
 * Exponential step size message propagation (Yu et al., equations 9 to 21): as esaw, but messages are averaged. The message
 * of a pixel is the lower envelope of truncated cones, one on each of its costs:
 *
 *   M(d) = min (min_k (C(d + k) + c |k|), min C + eta)
 *
 * The paper computes M in two sweeps, one candidate at a time. Vectors widen the cones instead, to reaches of 1, 3, 7 ...
 * candidates, until they have risen by eta. Costs are whole numbers: both ways give the same.
 */

/* How many candidates away a cone has risen by eta. */
static int
distance_of (const StereoPlan *plan, const StereoExponential *e)
{
  int most = plan->disparities - 1;
  return e->small && e->large / e->small < most ? e->large / e->small : most;
}

static void
set_pads (const StereoPlan *plan, uint16_t *costs)
{
  for (int i = plan->disparities; i < plan->depth; i++)
    costs[i] = STEREO_EXPONENTIAL_PAD;
}

/* Makes cones reach twice as far. @to and @from lie between columns of pads. */
static void
widen (const uint16_t *from, uint16_t *to, int depth, int wide, VecW slope)
{
  for (int i = 0; i < depth; i += WORDS) {
    VecW near = vec_min_words (vec_load_w (from + i - wide), vec_load_w (from + i + wide));
    vec_store_w (to + i, vec_min_words (vec_load_w (from + i), vec_add_words (near, slope)));
  }
}

/* Widens several columns in turns: a load then does not wait for a store that was only just issued. */
static void
make_some (const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch)
{
  int depth = plan->depth, distance = distance_of (plan, e), pitch = 6 * depth;
  uint16_t *from = scratch + depth, *to = from + 3 * depth; /* each between two columns of pads */
  VecW cap[CPU_MESSAGE_COLUMNS];

  for (int k = 0; k < columns; k++) {
    VecW lowest = (VecW){ 0 } + STEREO_EXPONENTIAL_PAD;
    set_pads (plan, costs + k * depth);
    for (int i = 0; i < depth; i += WORDS) {
      VecW cost = vec_load_w (costs + k * depth + i);
      lowest = vec_min_words (lowest, cost);
      vec_store_w (from + k * pitch + i, cost);
    }
    cap[k] = vec_add_words ((VecW){ 0 } + vec_lowest_word (lowest), (VecW){ 0 } + (uint16_t) e->large);
  }
  for (int wide = 1; wide <= distance; wide *= 2) {
    int64_t rise = (int64_t) wide * e->small;
    VecW slope = (VecW){ 0 } + (uint16_t) (rise < 0xFFFF ? rise : 0xFFFF);
    for (int k = 0; k < columns; k++)
      widen (from + k * pitch, to + k * pitch, depth, wide, slope);
    uint16_t *swap = from;
    from = to;
    to = swap;
  }
  for (int k = 0; k < columns; k++) {
    for (int i = 0; i < depth; i += WORDS)
      vec_store_w (costs + k * depth + i, vec_min_words (vec_load_w (from + k * pitch + i), cap[k]));
    set_pads (plan, costs + k * depth);
  }
}

static void
make_messages (const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch)
{
  for (int x = 0; x < columns; x += CPU_MESSAGE_COLUMNS)
    make_some (plan, e, costs + (size_t) x * (size_t) plan->depth,
        columns - x < CPU_MESSAGE_COLUMNS ? columns - x : CPU_MESSAGE_COLUMNS, scratch);
}

static StereoStatus
esmp_run (StereoPlan *plan, void *context, StereoError *error)
{
  CpuExponential *x = context;
  size_t depth = (size_t) plan->depth;

  /* The pads around the messages that are computed hold the least likely cost. */
  for (int thread = 0; thread < cpu_threads (plan); thread++)
    memset (exponential_scratch (plan, x, thread), 0xFF, 6 * CPU_MESSAGE_COLUMNS * depth * sizeof (uint16_t));
  return exponential_run (plan, x, make_messages);
}

static const StereoStage esmp = {
  .name = "match", .context_size = sizeof (CpuExponential), .prepare = exponential_prepare, .run = esmp_run
};

/* The registry gives esmp one cost, AD. */
const StereoStage *
CPU (esmp) (const StereoParams *params)
{
  return params->cost == STEREO_COST_AD ? &esmp : NULL;
}
