/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state.h"

#include <math.h>

#include "tests/support/check.h"

/* The pointer that a reservation of the original plan sets, in a copy of that plan. */
static void **
pointer_in (Naive *state, const StereoReservation *r)
{
  return (void **) ((char *) &state->plan + ((const char *) r->where - (const char *) state->origin));
}

static void
attach (Naive *state, int k)
{
  const StereoReservation *r = &state->origin->reservations[k];
  state->memory[k] = naive_allocate (r->size, 1);
  *pointer_in (state, r) = (char *) state->memory[k] + r->shift;
}

static Naive *
state_new (const StereoPlan *origin)
{
  Naive *state = naive_allocate (1, sizeof *state);

  state->plan = *origin;
  state->origin = origin;
  for (int k = 0; k < origin->state_count; k++)
    attach (state, k);
  for (int v = 0; v < 2; v++) {
    if (origin->params.color_difference == STEREO_COLOR_RGB)
      state->plan.view[v].likeness = state->plan.view[v].color;
    state->unsure[v] = naive_allocate ((size_t) origin->map_pitch * (size_t) origin->height, 1);
  }
  return state;
}

static void
must (StereoStatus status, const char *what)
{
  if (status) {
    fprintf (stderr, "copying the %s of the arena failed\n", what);
    exit (1);
  }
}

static int
is_list_cost (const StereoReservation *r)
{
  return !strcmp (r->name, "list costs");
}

/* The CPU keeps the costs of lists by tiles, [row][slot][column] with as many slots as the tile has: from there, or to there. */
static void
move_list_costs (const StereoPlan *p, const uint16_t *groups, uint8_t *tiles, uint8_t *pixels, int back)
{
  for (int tile = 0; tile < p->lists.columns * p->lists.rows;
       tile++, groups += STEREO_TILE_GROUPS, tiles += 16 * 16 * STEREO_SLOTS) {
    int slots = 0, x0 = tile % p->lists.columns * 16, y0 = tile / p->lists.columns * 16;
    while (slots < STEREO_SLOTS && groups[slots / STEREO_GROUP] != STEREO_NO_GROUP)
      slots += STEREO_GROUP;
    for (int y = y0; y < y0 + 16 && y < p->height; y++)
      for (int x = x0; x < x0 + 16 && x < p->width; x++)
        for (int slot = 0; slot < slots; slot++) {
          uint8_t *own = tiles + ((y - y0) * slots + slot) * 16 + x - x0;
          uint8_t *pixel = pixels + ((size_t) y * (size_t) p->width + (size_t) x) * STEREO_SLOTS + (size_t) slot;
          *(back ? own : pixel) = *(back ? pixel : own);
        }
  }
}

static int
keeps_tiles (const StereoPlan *plan, const StereoReservation *r)
{
  return is_list_cost (r) && plan->backend != &stereo_backend_cuda;
}

Naive *
state_take (StereoPlan *plan)
{
  Naive *state = state_new (plan);

  for (int k = 0; k < plan->state_count; k++) {
    const StereoReservation *r = &plan->reservations[k];
    if (keeps_tiles (plan, r))
      move_list_costs (plan, plan->lists.groups, plan->lists.costs, state->memory[k], 0);
    else
      must (plan->backend->copy_out (plan, state->memory[k], (char *) *r->where - r->shift, r->size), r->name);
  }
  return state;
}

void
state_free (Naive *state)
{
  if (!state)
    return;
  for (int k = 0; k < STEREO_MAX_BUFFERS; k++)
    free (state->memory[k]);
  for (int v = 0; v < 2; v++) {
    free (state->unsure[v]);
    free (state->penalised[v]);
  }
  free (state->stored);
  free (state);
}

void
state_put (const Naive *state, StereoPlan *plan)
{
  for (int k = 0; k < plan->state_count; k++) {
    const StereoReservation *r = &plan->reservations[k];
    if (keeps_tiles (plan, r))
      move_list_costs (plan, state->plan.lists.groups, plan->lists.costs, state->memory[k], 1);
    else
      must (plan->backend->copy_in (plan, (char *) *r->where - r->shift, state->memory[k], r->size), r->name);
  }
}

static int
is_volume (const StereoReservation *r)
{
  return !strcmp (r->name, "volume");
}

/* How a reservation is laid out: @rows of elements of @size bytes, @pitch a row, pixels from @pad to @pad + width. */
typedef struct Shape
{
  size_t size, pitch, pad, columns, rows;
} Shape;

static Shape
shape_of (const StereoPlan *p, const StereoReservation *r)
{
  size_t rows = (size_t) p->height, width = (size_t) p->width;

  if (is_volume (r))
    return (Shape){ 2, width * (size_t) p->depth, 0, width * (size_t) p->depth, rows };
  if (is_list_cost (r))
    return (Shape){ 1, width * STEREO_SLOTS, 0, width * STEREO_SLOTS, rows };
  if (!strcmp (r->name, "groups"))
    return (Shape){ 2, r->size / 2 / (size_t) p->lists.rows, 0, r->size / 2 / (size_t) p->lists.rows,
      (size_t) p->lists.rows };
  if (!strcmp (r->name, "noise"))
    return (Shape){ sizeof (int32_t), 1, 0, 1, 1 };
  int image = !strcmp (r->name, "color") || !strcmp (r->name, "luma") || !strcmp (r->name, "gradient") ||
      !strcmp (r->name, "census") || !strcmp (r->name, "likeness");
  size_t pitch = (size_t) (image ? p->image_pitch : p->map_pitch);
  return (Shape){ r->size / pitch / rows, pitch, image ? (size_t) p->image_pad : 0, width, rows };
}

void
state_dirty (StereoPlan *plan, int everything, Random *random)
{
  Naive *state = state_take (plan);

  for (int k = 0; k < plan->state_count; k++) {
    const StereoReservation *r = &plan->reservations[k];
    Shape s = shape_of (plan, r);
    uint8_t *bytes = state->memory[k];
    for (size_t at = 0; at < r->size; at++) {
      size_t column = at / s.size % s.pitch;
      if (everything || column < s.pad || column >= s.pad + s.columns)
        bytes[at] = (uint8_t) random_next (random);
    }
  }
  state_put (state, plan);
  state_free (state);
}

void
state_dirty_shared (StereoPlan *plan, Random *random)
{
  for (int k = 0; k < plan->reservation_count; k++) {
    const StereoReservation *r = &plan->reservations[k];
    if (r->life == STEREO_LIFE_ALWAYS || r->life & STEREO_LIFE_FINER) /* the latter lie elsewhere */
      continue;
    uint8_t *bytes = naive_allocate (r->size, 1);
    for (size_t at = 0; at < r->size; at++)
      bytes[at] = (uint8_t) random_next (random);
    must (plan->backend->copy_in (plan, (char *) plan->arena + r->place, bytes, r->size), "shared memory");
    free (bytes);
  }
}

/* The past of one pixel that is @color now: off by up to @away / 256 grey levels. */
static void
draw_past_pixel (const StereoPast *past, size_t at, uint32_t color, int away, Random *random)
{
  past->color[at] = random_next (random) & 0xFF000000u; /* means nothing */
  for (int c = 0; c < 3; c++) {
    int value = (int) (color >> 8 * c & 0xFF) * 256 + random_range (random, -away, away);
    value = value < 0 ? 0 : value > 255 * 256 ? 255 * 256 : value;
    int held = (value + 128) / 256 + random_range (random, -1, 1);
    past->channel[c][at] = (uint16_t) value;
    past->color[at] |= (uint32_t) (held < 0 ? 0 : held > 255 ? 255 : held) << 8 * c;
  }
}

/* A past such as frames leave, for views that are loaded: like them or not, of all counts, or none. */
static void
draw_past (StereoPlan *p, Random *random)
{
  static const int aways[] = { 0, 40, 200, 700, 2500, 20000 };
  int away = aways[random_range (random, 0, 5)], others = random_range (random, 0, 3);
  int most = random_range (random, 0, 2) ? STEREO_TEMPORAL_MOST : 4; /* the first few have limits of their own */
  int least = random_range (random, 0, 2) ? random_range (random, 1, most) : 0;

  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        int other = others && (x / 16 + y / 8) % 4 < others; /* blocks of it moved */
        draw_past_pixel (&p->past[v], naive_map (p, x, y), p->view[v].color[naive_image (p, x, y)],
            other ? 255 * 256 : away, random);
        p->past[v].count[naive_map (p, x, y)] = (uint8_t) random_range (random, least, most);
      }
}

/* Disparities of planes that lie in blocks, and how sure they are. */
static void
draw_disparities (StereoPlan *p, Random *random)
{
  int top = p->disparities - 1;

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      size_t at = naive_map (p, x, y);
      int plane = (x / 48 + y / 32) % 3;
      float place = (float) (top * plane) * 0.4f + (float) (x % 48) * 0.01f;
      int known = random_range (random, 0, 9), unsure = random_range (random, 0, 3) == 0;
      if (unsure && random_range (random, 0, 1)) /* wrong as well */
        place = (float) random_range (random, 0, top);
      p->disparity[at] = known ? (float) p->min_disparity + (place < (float) top ? place : (float) top) : NAN;
      p->view[STEREO_LEFT].confidence[at] = (float) random_range (random, unsure ? 0 : 120, unsure ? 130 : 255) / 255.0f;
    }
}

/* The frame before: moved by (@dx, @dy), all things @nearer times as near as now. */
static void
draw_last_pixel (StereoPlan *p, int x, int y, int dx, int dy, float nearer, int noise, Random *random)
{
  StereoLast *last = &p->last;
  size_t at = naive_map (p, x, y);
  int from_x = (int) ((float) (x - dx - p->width / 2) / nearer) + p->width / 2;
  int from_y = (int) ((float) (y - dy - p->height / 2) / nearer) + p->height / 2;
  int luma = random_range (random, 0, 255), inside = naive_inside (p, from_x) && from_y >= 0 && from_y < p->height;
  uint32_t bits = random_next (random);

  memcpy (&last->disparity[at], &bits, sizeof bits); /* means nothing without an age */
  last->age[at] = 0;
  last->confidence[at] = (uint8_t) random_range (random, random_range (random, 0, 3) ? 140 : 0, 255);
  if (inside && noise < 255) {
    luma = p->view[STEREO_LEFT].luma[naive_image (p, from_x, from_y)] + random_range (random, -noise, noise);
    last->disparity[at] = p->disparity[naive_map (p, from_x, from_y)] * nearer +
        (float) random_range (random, -8, 8) / 64.0f;
    int age = random_range (random, 0, 9);
    last->age[at] = (uint8_t) (isnan (last->disparity[at]) ? 0 : age > STEREO_MOTION_OLDEST ? 1 : age);
  }
  last->luma[at] = (uint8_t) (luma < 0 ? 0 : luma > 255 ? 255 : luma);
}

/* Disparities of the left view, some of them likely, and a frame before in which the camera stood elsewhere: by as much as a
 * camera moves or not at all, unlike the present one, or none. For a prediction mostly nearer: surfaces meet at a place. */
static void
draw_last (StereoPlan *p, Random *random)
{
  int back = p->last.predicted && random_range (random, 0, 7);
  int still = !back && random_range (random, 0, 5) == 0, none = !back && random_range (random, 0, 7) == 0;
  int dx = still ? 0 : random_range (random, -20, 20), dy = still ? 0 : random_range (random, -9, 9);
  float nearer = still ? 1.0f : 1.0f + (float) random_range (random, back ? 1 : -4, 4) / 128.0f;
  int noise = (const int[]){ 0, 0, 2, 6, 255 }[random_range (random, 0, back ? 2 : 4)];

  draw_disparities (p, random);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      draw_last_pixel (p, x, y, dx, dy, nearer, noise, random);
      if (none)
        p->last.age[naive_map (p, x, y)] = 0;
    }
}

/* Words as the motion stage makes them: with a luma near that of the pixel, or with any. */
static void
draw_predicted (StereoPlan *p, Random *random)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      int luma = (int) p->view[STEREO_LEFT].luma[naive_image (p, x, y)] + random_range (random, -27, 27);
      uint32_t eighths = (uint32_t) random_range (random, 0, 8 * (p->disparities - 1));
      if (luma < 0 || luma > 255 || random_range (random, 0, 9) == 0)
        luma = random_range (random, 0, 255);
      p->last.predicted[naive_map (p, x, y)] = random_range (random, 0, 3) ? 1u << 24 | eighths << 8 | (uint32_t) luma :
                                                                             0;
    }
  *p->last.noise = random_range (random, 0, 64 * STEREO_TEMPORAL_NOISE);
}

void
state_draw (StereoPlan *plan, StageKind kind, Random *random)
{
  static void (*const draw[STAGE_UNKNOWN + 1]) (StereoPlan * p,
      Random * random) = { [STAGE_TEMPORAL] = draw_past, [STAGE_MOTION] = draw_last, [STAGE_PRIOR] = draw_predicted };

  if (!draw[kind])
    return;
  Naive *state = state_take (plan);
  draw[kind](&state->plan, random);
  state_put (state, plan);
  state_free (state);
}

/* ---- comparison -------------------------------------------------------------------------- */

/* Costs near enough: all that a float may change in a value of that size. */
static double
slack (double cost)
{
  return 1 + 1e-5 * cost;
}

/* IDR sums floats in another order: the index must be a lowest one within the slack, and the
 * confidence what such costs give. */
static int
idr_accepts (const Naive *got, const Naive *want, int v, int x, int y)
{
  const StereoPlan *p = &want->plan;
  size_t at = naive_map (p, x, y);
  const double *costs = want->penalised[v] + ((size_t) y * (size_t) p->width + (size_t) x) * (size_t) p->disparities;
  int index = got->plan.view[v].index[at], lowest = want->plan.view[v].index[at];
  double away = fabs ((double) got->plan.view[v].confidence[at] - (double) want->plan.view[v].confidence[at]);

  if (lowest == (int) STEREO_INVALID || index == (int) STEREO_INVALID)
    return lowest == index && away == 0;
  double second = costs[lowest] > 1 ? costs[lowest] : 1;
  return index < p->disparities && costs[index] <= costs[lowest] + 2 * slack (costs[lowest]) &&
      away <= 2 * slack (costs[lowest]) / second + 1e-6;
}

/* Whether an element of a map may differ from the wanted one. */
static int
map_accepts (
    const Naive *got, const Naive *want, StageKind kind, Tolerance tolerance, const char *name, int v, int x, int y)
{
  size_t at = naive_map (&want->plan, x, y);

  if ((kind == STAGE_PLANES || kind == STAGE_GAPS) && !strcmp (name, "disparity"))
    return fabs ((double) got->plan.disparity[at] - (double) want->plan.disparity[at]) <= tolerance.plane;
  if (kind != STAGE_REFINE || v < 0)
    return 0;
  if (want->plan.params.refine_mode == STEREO_REFINE_IDR)
    return want->penalised[v] && (!strcmp (name, "index") || !strcmp (name, "confidence")) &&
        idr_accepts (got, want, v, x, y);
  if (strcmp (name, "expected"))
    return 0;
  int away = abs (got->plan.view[v].expected[at] - want->plan.view[v].expected[at]);
  return want->unsure[v][at] ||
      (got->plan.view[v].expected[at] >= 0 && want->plan.view[v].expected[at] >= 0 && away <= tolerance.expected);
}

static void
report (const char *who, const StereoReservation *r, const Shape *s, size_t row, size_t column, const uint8_t *got,
    const uint8_t *want)
{
  const char *view = r->view == STEREO_LEFT ? "left " : r->view == STEREO_RIGHT ? "right " : "";
  uint64_t a = 0, b = 0;
  float f, g;

  memcpy (&a, got, s->size);
  memcpy (&b, want, s->size);
  memcpy (&f, got, s->size < sizeof f ? s->size : sizeof f);
  memcpy (&g, want, s->size < sizeof g ? s->size : sizeof g);
  if (!strcmp (r->name, "confidence") || !strcmp (r->name, "disparity"))
    CHECK (0, "%s: %s%s at column %zu, row %zu: %.9g, wanted %.9g", who, view, r->name, column, row, (double) f,
        (double) g);
  else
    CHECK (0, "%s: %s%s at column %zu, row %zu: %lld, wanted %lld", who, view, r->name, column, row, (long long) a,
        (long long) b);
}

static int
same_bits (const StereoReservation *r, const Shape *s, const uint8_t *got, const uint8_t *want)
{
  float f, g;

  if (!memcmp (got, want, s->size))
    return 1;
  if (strcmp (r->name, "confidence") && strcmp (r->name, "disparity") && strcmp (r->name, "last disparity"))
    return 0;
  memcpy (&f, got, sizeof f);
  memcpy (&g, want, sizeof g);
  return (isnan (f) && isnan (g)) || f == g; /* any NaN, and either zero */
}

/* A byte that no stage reads may be anything; of aggregated costs it may be one step off, which @off counts. */
static int
list_cost_accepts (const StereoPlan *p, StageKind kind, size_t row, size_t column, const uint8_t *got,
    const uint8_t *want, size_t *off)
{
  int x = (int) (column / STEREO_SLOTS), slot = (int) (column % STEREO_SLOTS);

  if (!naive_slot_is_read (p, x, (int) row, slot))
    return 1;
  ++*off;
  return kind == STAGE_LIST_MATCH && !naive_exact (p) && abs (*got - *want) <= 1;
}

static int
cost_accepts (const uint8_t *got, const uint8_t *want, Tolerance tolerance)
{
  uint16_t a, b;

  memcpy (&a, got, sizeof a);
  memcpy (&b, want, sizeof b);
  return a != STEREO_INVALID && b != STEREO_INVALID && abs (a - b) <= tolerance.cost + b * tolerance.relative;
}

void
state_compare (const Naive *got, const Naive *want, StageKind kind, Tolerance tolerance, const char *who)
{
  const StereoPlan *p = &want->plan;

  for (int k = 0; k < want->origin->state_count; k++) {
    const StereoReservation *r = &want->origin->reservations[k];
    Shape s = shape_of (p, r);
    int volume = is_volume (r);
    if (naive_leaves (kind, r))
      continue;
    size_t off = 0;
    if ((kind == STAGE_LIST_PATHS || kind == STAGE_SELECT) && p->is_coarse &&
        got->origin->backend == &stereo_backend_cuda && (r->view != STEREO_LEFT || strcmp (r->name, "index")))
      continue; /* votes read nothing else of a coarser level, and CUDA leaves it out */
    for (size_t row = 0; row < s.rows; row++)
      for (size_t column = 0; column < s.columns; column++) {
        size_t at = (row * s.pitch + s.pad + column) * s.size;
        const uint8_t *a = (const uint8_t *) got->memory[k] + at, *b = (const uint8_t *) want->memory[k] + at;
        if (same_bits (r, &s, a, b) || (is_list_cost (r) && list_cost_accepts (p, kind, row, column, a, b, &off)) ||
            (volume && kind == STAGE_MATCH && !naive_exact (p) && cost_accepts (a, b, tolerance)) ||
            (!volume && !is_list_cost (r) &&
                map_accepts (got, want, kind, tolerance, r->name, r->view, (int) column, (int) row)))
          continue;
        report (who, r, &s, row, column, a, b);
      }
    /* rounding errors are small: seldom does a cost lie so near the middle of two steps */
    CHECK (100 * off <= s.rows * s.columns || got->origin->backend == &stereo_backend_cuda,
        "%s: %zu of %zu costs are a step off", who, off, s.rows * s.columns);
  }
}

/* ---- the caller's output ----------------------------------------------------------------- */

/* A stored sample and the exact value before rounding. */
static int
stored_accepts (const StereoPlan *p, const uint8_t *place, double exact)
{
  double top = p->output.sample == STEREO_SAMPLE_U8 ? 255 : 65535, got;
  uint16_t wide = 0;
  float real;

  if (p->output.sample == STEREO_SAMPLE_F32) {
    memcpy (&real, place, sizeof real);
    return isnan (exact) ? isnan (real) : isinf (exact) ? isinf (real) : fabs (real - exact) <= 1e-6 * fabs (exact);
  }
  memcpy (&wide, place, p->output.sample == STEREO_SAMPLE_U16 ? sizeof wide : 0);
  got = p->output.sample == STEREO_SAMPLE_U8 ? *place : wide;
  if (isnan (exact) || (exact < -0.55 && p->output.sample == STEREO_SAMPLE_U16))
    return got == 0;
  if (exact < -0.45 && got == 0)
    return 1;
  exact = exact < 1 ? 1 : exact > top ? top : exact;
  return fabs (got - exact) <= 0.55;
}

static int
empty_sample (const StereoOutput *out, const uint8_t *at)
{
  float real;

  if (out->sample == STEREO_SAMPLE_F32)
    return memcpy (&real, at, sizeof real), isnan (real);
  return !at[0] && (out->sample == STEREO_SAMPLE_U8 || !at[1]);
}

void
state_compare_output (const StereoPlan *plan, const Naive *want)
{
  const StereoOutput *out = &want->plan.output;
  uint64_t valid_count = 0;
  double confidence_sum = 0;

  for (int y = 0; y < plan->height; y++)
    for (int x = 0; x < plan->width; x++) {
      double exact = want->stored[y * plan->width + x];
      const uint8_t *at = (const uint8_t *) out->data + y * out->stride +
          x * (ptrdiff_t) stereo_sample_bytes (out->sample);
      CHECK (stored_accepts (&want->plan, at, exact), "output at column %d, row %d: bytes %d %d, wanted %.9g", x, y,
          at[0], out->sample == STEREO_SAMPLE_U8 ? 0 : at[1], exact);
      double f = isnan (exact) ? 0 : (double) want->plan.view[STEREO_LEFT].confidence[naive_map (&want->plan, x, y)];
      valid_count += !empty_sample (out, at);
      confidence_sum += f;
      if (out->confidence)
        CHECK (fabs (out->confidence[y * out->confidence_stride + x] - f * 255) <= 0.51,
            "confidence at column %d, row %d: %d, wanted %.9g", x, y, out->confidence[y * out->confidence_stride + x],
            f * 255);
    }
  const StereoFlight *flight = &plan->flights[plan->slot];
  CHECK (flight->valid_count == valid_count, "%llu valid pixels, wanted %llu", (unsigned long long) flight->valid_count,
      (unsigned long long) valid_count);
  /* the backend adds up the bytes, each of which is rounded */
  double sum = (double) flight->confidence_sum / 255;
  CHECK (fabs (sum - confidence_sum) <= plan->width * plan->height * 0.51 / 255, "sum of confidence %g, wanted %g", sum,
      confidence_sum);
}
