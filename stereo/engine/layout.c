/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arena: every buffer of a plan is reserved by address, then all are placed in one allocation. Buffers that are never in
 * use at the same time may share a place. */
#include "stereo/engine/engine.h"

#define ALIGNMENT 256u

/* STEREO_ASAN_GAPS, with AddressSanitizer: buffers share no place, and what lies between them may not be touched. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#define HAS_GAPS (getenv ("STEREO_ASAN_GAPS") != NULL)
#else
#define HAS_GAPS 0
#endif

static size_t
align_up (size_t size)
{
  return stereo_plus (stereo_round_up (size, ALIGNMENT), HAS_GAPS ? 16 * ALIGNMENT : 0);
}

StereoStatus
stereo_reserve (StereoPlan *plan, void **where, size_t count, size_t size, StereoError *error)
{
  return stereo_reserve_for (plan, STEREO_LIFE_ALWAYS, where, count, size, error);
}

StereoStatus
stereo_reserve_for (StereoPlan *plan, StereoLife life, void **where, size_t count, size_t size, StereoError *error)
{
  size_t bytes = stereo_times (count, size);

  if (plan->reservation_count == STEREO_MAX_BUFFERS)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "This plan needs more than %d buffers.", STEREO_MAX_BUFFERS);
  if (bytes > SIZE_MAX / 4)
    return stereo_fail (error, STEREO_ERROR_MEMORY,
        "%dx%d pixels with %d disparities need more memory than can be addressed: reduce num-disparities or the size.",
        plan->width, plan->height, plan->disparities);
  if (HAS_GAPS)
    life |= STEREO_LIFE_ALWAYS;
  plan->reservations[plan->reservation_count++] = (StereoReservation){ .where = where, .size = bytes, .life = life };
  return STEREO_OK;
}

/* ---- frame state --------------------------------------------------------------------------------- */

static StereoStatus
reserve_state (StereoPlan *plan, StereoLife life, void **where, size_t row, int rows, size_t size, size_t shift,
    int view, const char *name, StereoError *error)
{
  StereoStatus status = stereo_reserve_for (plan, life, where, stereo_times (row, (size_t) rows), size, error);
  if (status)
    return status;
  StereoReservation *r = &plan->reservations[plan->reservation_count - 1];
  r->shift = shift * size;
  r->name = name;
  r->view = view;
  plan->state_count = plan->reservation_count;
  return STEREO_OK;
}

/* Unless @status says that a reservation before it has failed. */
#define STATE(life, field, row, shift, view, name) \
  do { \
    if (!status) \
      status = reserve_state ( \
          plan, life, (void **) &(field), row, plan->height, sizeof *(field), shift, view, name, error); \
  } while (0)

/* For a coarser level: maps that the plan reads which it belongs to. */
static StereoLife
life_of_winners (const StereoPlan *plan)
{
  return plan->is_coarse ? STEREO_LIFE_ALWAYS | STEREO_LIFE_FINER : STEREO_LIFE_ALWAYS;
}

/* What only costs are made of. Where each step is looked at, no later one may write over it. */
static StereoLife
life_of_features (const StereoPlan *plan)
{
  return plan->single_stages ? STEREO_LIFE_ALWAYS : STEREO_LIFE_MATCH;
}

/* With lists, only what fills holes and the median of 5x5 read colours behind the costs, and those of the left view. */
static StereoLife
life_of_color (const StereoPlan *plan, int view)
{
  const StereoParams *p = &plan->params;
  int read = (p->fill != STEREO_FILL_KEEP && p->fill != STEREO_FILL_NONE) || p->median == STEREO_MEDIAN_5;
  return plan->listed && (view == STEREO_RIGHT || !read || plan->is_coarse) ? life_of_features (plan) :
                                                                              STEREO_LIFE_ALWAYS;
}

static StereoStatus
reserve_view (StereoPlan *plan, int i, StereoError *error)
{
  size_t pad = (size_t) plan->image_pad, image = (size_t) plan->image_pitch, map = (size_t) plan->map_pitch;
  StereoView *v = &plan->view[i];
  StereoStatus status = STEREO_OK;

  STATE (life_of_color (plan, i), v->color, image, pad, i, "color");
  STATE (STEREO_LIFE_ALWAYS, v->luma, image, pad, i, "luma");
  if (plan->features == STEREO_FEATURES_CENSUS_7X5_GRADIENT)
    STATE (life_of_features (plan), v->gradient, image, pad, i, "gradient");
  if (plan->census_bytes && !status)
    status = reserve_state (plan, life_of_features (plan), &v->census, image, plan->height, (size_t) plan->census_bytes,
        pad, i, "census", error);
  if (plan->params.color_difference == STEREO_COLOR_LAB)
    STATE (STEREO_LIFE_ALWAYS, v->likeness, image, pad, i, "likeness");
  if (!plan->listed) {
    STATE (STEREO_LIFE_ALWAYS, v->first, map, 0, i, "first");
    STATE (STEREO_LIFE_ALWAYS, v->second, map, 0, i, "second");
  }
  STATE (life_of_winners (plan), v->index, map, 0, i, "index");
  if (!plan->listed || i == STEREO_LEFT)
    STATE (STEREO_LIFE_ALWAYS, v->confidence, map, 0, i, "confidence");
  if (plan->params.refine_iterations > 0)
    STATE (STEREO_LIFE_ALWAYS, v->expected, map, 0, i, "expected");
  return status;
}

/* From frame to frame. */
static StereoStatus
reserve_history (StereoPlan *plan, StereoError *error)
{
  size_t map = (size_t) plan->map_pitch;
  StereoStatus status = STEREO_OK;

  for (int i = 0; i < 2 && plan->params.temporal > 0; i++) {
    StereoPast *past = &plan->past[i];
    STATE (STEREO_LIFE_ALWAYS, past->channel[0], map, 0, i, "past red");
    STATE (STEREO_LIFE_ALWAYS, past->channel[1], map, 0, i, "past green");
    STATE (STEREO_LIFE_ALWAYS, past->channel[2], map, 0, i, "past blue");
    STATE (STEREO_LIFE_ALWAYS, past->count, map, 0, i, "past count");
    STATE (STEREO_LIFE_ALWAYS, past->color, map, 0, i, "past color");
  }
  if (stereo_params_follow (&plan->params)) {
    STATE (STEREO_LIFE_ALWAYS, plan->last.disparity, map, 0, -1, "last disparity");
    STATE (STEREO_LIFE_ALWAYS, plan->last.confidence, map, 0, -1, "last confidence");
    STATE (STEREO_LIFE_ALWAYS, plan->last.luma, map, 0, -1, "last luma");
    STATE (STEREO_LIFE_ALWAYS, plan->last.age, map, 0, -1, "last age");
    if (plan->listed)
      STATE (STEREO_LIFE_ALWAYS, plan->last.predicted, map, 0, -1, "predicted");
    if (plan->listed && !status)
      status = reserve_state (
          plan, STEREO_LIFE_ALWAYS, (void **) &plan->last.noise, 1, 1, sizeof *plan->last.noise, 0, -1, "noise", error);
  }
  return status;
}

static StereoStatus
reserve_costs (StereoPlan *plan, StereoError *error)
{
  size_t map = (size_t) plan->map_pitch, width = (size_t) plan->width;
  StereoStatus status = STEREO_OK;

  STATE (STEREO_LIFE_ALWAYS, plan->disparity, map, 0, -1, "disparity");
  if (plan->is_coarse)
    STATE (life_of_winners (plan), plan->winner, map, 0, -1, "winner");
  if (!plan->listed)
    STATE (STEREO_LIFE_ALWAYS, plan->volume, width * (size_t) plan->depth, 0, -1, "volume");
  else {
    if (!status)
      status = reserve_state (plan, STEREO_LIFE_ALWAYS, (void **) &plan->lists.groups,
          (size_t) plan->lists.columns * STEREO_TILE_GROUPS, plan->lists.rows, sizeof *plan->lists.groups, 0, -1,
          "groups", error);
    if (!status) /* whole tiles */
      status = reserve_state (plan,
          plan->single_stages ? STEREO_LIFE_ALWAYS : (StereoLife) (STEREO_LIFE_LISTED | STEREO_LIFE_PATHS),
          (void **) &plan->lists.costs, (size_t) plan->lists.columns * STEREO_TILE * STEREO_SLOTS,
          plan->lists.rows * STEREO_TILE, 1, 0, -1, "list costs", error);
  }
  return status;
}
#undef STATE

/* The memory of the coarser levels: a place for what lives until their steps end, and one for each map that @plan reads later. */
static StereoStatus
reserve_coarse (StereoPlan *plan, StereoError *error)
{
  StereoPlan *coarse = plan->coarse;
  StereoStatus status;

  if (!coarse)
    return STEREO_OK;
  status = stereo_reserve_for (plan, STEREO_LIFE_LEVELS, &coarse->arena, stereo_layout_total (coarse), 1, error);
  for (int i = 0; i < coarse->reservation_count && !status; i++)
    if (coarse->reservations[i].life & STEREO_LIFE_FINER)
      status = stereo_reserve (plan, coarse->reservations[i].where, coarse->reservations[i].size, 1, error);
  return status;
}

StereoStatus
stereo_layout_state (StereoPlan *plan, StereoError *error)
{
  StereoStatus status = STEREO_OK;

  plan->reservation_count = plan->state_count = 0;
  for (int i = 0; i < 2 && !status; i++)
    status = reserve_view (plan, i, error);
  if (status || (status = reserve_history (plan, error)) || (status = reserve_costs (plan, error)))
    return status;
  return reserve_coarse (plan, error);
}

/* ---- places -------------------------------------------------------------------------------------- */

/* The lowest place that no reservation has which is placed already and in use at the same time. */
static size_t
free_place (const StereoReservation *r, const StereoReservation *const *placed, int count)
{
  size_t place = 0, before;

  do {
    before = place;
    for (int i = 0; i < count; i++) {
      const StereoReservation *p = placed[i];
      size_t end = stereo_plus (p->place, align_up (p->size));
      if (p->life & r->life && place < end && p->place < stereo_plus (place, align_up (r->size)))
        place = end;
    }
  } while (place != before);
  return place;
}

/* Whether @a is placed before @b. @by_size: the larger one; else the one that is in use in more parts of a frame, which shares its
 * place with fewer others. */
static int
is_before (const StereoReservation *a, const StereoReservation *b, int by_size)
{
  int more = __builtin_popcount (a->life) - __builtin_popcount (b->life);
  int larger = a->size > b->size ? 1 : a->size < b->size ? -1 : 0;
  return by_size ? larger > 0 || (larger == 0 && more > 0) : more > 0 || (more == 0 && larger > 0);
}

/* The next one to be placed: what is always in use in the order of its reservation, then the others. NULL: the rest lies in the
 * memory of another plan. */
static StereoReservation *
next_to_place (StereoPlan *plan, const char *is_placed, int by_size)
{
  StereoReservation *next = NULL;

  for (int i = 0; i < plan->reservation_count; i++) {
    StereoReservation *r = &plan->reservations[i];
    if (is_placed[i] || r->life & STEREO_LIFE_FINER)
      continue;
    if (r->life == STEREO_LIFE_ALWAYS)
      return r;
    if (!next || is_before (r, next, by_size))
      next = r;
  }
  return next;
}

static size_t
place_all (StereoPlan *plan, int by_size)
{
  const StereoReservation *placed[STEREO_MAX_BUFFERS] = { NULL };
  char is_placed[STEREO_MAX_BUFFERS] = { 0 };
  StereoReservation *r;
  size_t total = 0;

  for (int count = 0; (r = next_to_place (plan, is_placed, by_size)); count++) {
    r->place = free_place (r, placed, count);
    placed[count] = r;
    is_placed[r - plan->reservations] = 1;
    size_t end = stereo_plus (r->place, align_up (r->size));
    total = end > total ? end : total;
  }
  return total;
}

/* Neither order is always the better one. */
size_t
stereo_layout_total (StereoPlan *plan)
{
  size_t by_use = place_all (plan, 0), by_size = place_all (plan, 1);
  return by_size < by_use ? by_size : place_all (plan, 0);
}

/* Pointers that are others' by another name. */
static void
share_buffers (StereoPlan *plan)
{
  for (int v = 0; v < 2 && plan->params.color_difference == STEREO_COLOR_RGB; v++)
    plan->view[v].likeness = plan->view[v].color;
}

static void
poison_gaps (StereoPlan *plan)
{
#ifdef __SANITIZE_ADDRESS__
  if (!HAS_GAPS)
    return;
  ASAN_POISON_MEMORY_REGION (plan->arena, stereo_layout_total (plan));
  for (int i = 0; i < plan->reservation_count; i++) {
    const StereoReservation *r = &plan->reservations[i];
    /* vectors of costs begin before them and end behind them; those lanes have no effect */
    size_t beyond = r->name && (!strcmp (r->name, "volume") || !strcmp (r->name, "list costs")) ? 64 : 0;
    if (!(r->life & STEREO_LIFE_FINER))
      ASAN_UNPOISON_MEMORY_REGION ((char *) plan->arena + r->place - beyond, r->size + 2 * beyond);
  }
#else
  (void) plan;
#endif
}

/* For a plan whose arena is there, and for its coarser levels, which lie in it. */
static void
set_pointers (StereoPlan *plan)
{
  poison_gaps (plan);
  for (int i = 0; i < plan->reservation_count; i++) {
    StereoReservation *r = &plan->reservations[i];
    if (!(r->life & STEREO_LIFE_FINER))
      *r->where = (char *) plan->arena + r->place + r->shift;
  }
  share_buffers (plan);
  if (plan->coarse)
    set_pointers (plan->coarse);
}

StereoStatus
stereo_layout_commit (StereoPlan *plan, StereoError *error)
{
  plan->arena_size = stereo_layout_total (plan);
  plan->arena = plan->backend->allocate (plan, plan->arena_size, error);
  if (!plan->arena)
    return STEREO_ERROR_MEMORY;
  set_pointers (plan);
  return STEREO_OK;
}
