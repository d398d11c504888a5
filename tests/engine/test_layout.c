/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arena: what is in use at the same time has a place of its own, and what is not shares one. */
#include "stereo/engine/engine.h"

#include "tests/support/check.h"
#include "tests/support/random.h"

#include <stdlib.h>

enum
{
  BUFFERS = 40
};

static char arena[1];

static void *
allocate (StereoPlan *plan, size_t size, StereoError *error)
{
  (void) plan, (void) size, (void) error;
  return arena; /* nothing writes to it */
}

/* Whether neither reaches into the other. */
static int
apart (const StereoReservation *a, const StereoReservation *b)
{
  return a->place + a->size <= b->place || b->place + b->size <= a->place;
}

CASE (test_lives, "lives")
{
  static const StereoLife lives[] = { STEREO_LIFE_ALWAYS, STEREO_LIFE_LEVELS, STEREO_LIFE_MATCH, STEREO_LIFE_PATHS,
    STEREO_LIFE_MAPS, STEREO_LIFE_COSTS };
  const StereoBackend backend = { .allocate = allocate };
  Random random = { random_seed () };

  for (int round = 0; round < 200; round++) {
    StereoPlan *plan = calloc (1, sizeof *plan);
    void *where[BUFFERS];
    size_t least[4] = { 0 }, all = 0; /* of what each part of a frame needs */
    StereoError error;
    plan->backend = &backend;
    for (int i = 0; i < BUFFERS; i++) {
      StereoLife life = lives[random_range (&random, 0, 5)];
      size_t size = (size_t) random_range (&random, 0, i % 4 ? 3000 : 100000);
      CHECK (!stereo_reserve_for (plan, life, &where[i], size, 1, &error), "%s", error.message);
      for (int part = 0; part < 4; part++)
        least[part] += life >> part & 1 ? size : 0;
      all += stereo_round_up (size, 256);
    }
    CHECK (!stereo_layout_commit (plan, &error), "%s", error.message);
    for (int i = 0; i < BUFFERS; i++) {
      const StereoReservation *a = &plan->reservations[i];
      CHECK (where[i] == (char *) plan->arena + a->place && a->place % 256 == 0, "buffer %d at %zu", i, a->place);
      CHECK (a->place + a->size <= plan->arena_size, "buffer %d ends at %zu", i, a->place + a->size);
      for (int j = 0; j < i; j++) {
        const StereoReservation *b = &plan->reservations[j];
        CHECK (!(a->life & b->life) || apart (a, b), "buffers %d and %d share a place", i, j);
      }
    }
    for (int part = 0; part < 4; part++)
      CHECK (plan->arena_size >= least[part], "%zu bytes, part %d needs %zu", plan->arena_size, part, least[part]);
    CHECK (plan->arena_size < all, "nothing is shared: %zu of %zu bytes", plan->arena_size, all);
    free (plan);
  }
}

/* Sizes that no memory has are refused, and do not wrap. */
CASE (test_too_large, "too large")
{
  StereoPlan *plan = calloc (1, sizeof *plan);
  void *where[8];
  StereoError error;

  CHECK (
      stereo_reserve_for (plan, STEREO_LIFE_MAPS, &where[0], SIZE_MAX / 2, 4, &error) == STEREO_ERROR_MEMORY, "taken");
  for (int i = 0; i < 8; i++)
    CHECK (!stereo_reserve_for (plan, STEREO_LIFE_ALWAYS, &where[i], SIZE_MAX / 4, 1, &error), "%s", error.message);
  CHECK (stereo_layout_total (plan) == SIZE_MAX, "%zu bytes", stereo_layout_total (plan));
  free (plan);
}
