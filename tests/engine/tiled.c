/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "tiled.h"

#include <sys/mman.h>

#define WALL_ROWS 24 /* windows of census and gradient lie in the wall in most of them */
#define WALL_COLUMNS 32
#define PATCH 16 /* px, of one disparity */

/* ---- pictures -------------------------------------------------------------------------------- */

TiledShape
tiled_small (const TiledShape *shape)
{
  TiledShape small = *shape;

  small.across = small.across > 3 ? 3 : small.across;
  small.down = small.down > 3 ? 3 : small.down;
  return small;
}

static int
is_wall (const TiledShape *s, int x, int y)
{
  return (s->down > 1 && y >= s->height - WALL_ROWS) || (s->across > 1 && x >= s->width - WALL_COLUMNS);
}

/* A tile of both views: the right one shows patches of the left one, each from its own disparity, and some noise. */
static void
make_tile (const TiledShape *s, uint8_t *left, uint8_t *right, Random *random)
{
  int patches = (s->width + PATCH - 1) / PATCH, *disparity = calloc ((size_t) patches, sizeof *disparity);

  for (size_t at = 0; at < (size_t) s->width * (size_t) s->height * 3; at++)
    left[at] = (uint8_t) random_next (random);
  for (int y = 0; y < s->height; y++) {
    uint8_t *l = left + (size_t) y * (size_t) s->width * 3, *r = right + (size_t) y * (size_t) s->width * 3;
    for (int p = 0; p < patches && y % PATCH == 0; p++)
      disparity[p] = random_range (random, s->min, s->min + s->num - 1);
    for (int x = 0; x < s->width; x++) {
      int wall = is_wall (s, x, y);
      int partner = (x + disparity[x / PATCH] + STEREO_MAX_DISPARITIES * s->width) % s->width;
      const uint8_t *from = l + (wall ? x : partner) * 3;
      for (int c = 0; c < 3; c++)
        r[3 * x + c] = wall ? from[c] : (uint8_t) (from[c] ^ (random_next (random) & 3));
    }
  }
  free (disparity);
}

static void *
reserve (Tiled *t, int n, size_t size)
{
  void *memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (memory == MAP_FAILED)
    return NULL;
  t->mapping[n] = memory;
  t->size[n] = size;
  return memory;
}

static void
repeat (const Tiled *t, const uint8_t *tile, uint8_t *to)
{
  size_t row = (size_t) t->shape.width * 3;

  for (int y = 0; y < t->height; y++)
    for (int k = 0; k < t->shape.across; k++)
      memcpy (to + y * t->stride + (ptrdiff_t) ((size_t) k * row), tile + (size_t) (y % t->shape.height) * row, row);
}

int
tiled_new (Tiled *t, const TiledShape *shape, ptrdiff_t stride, uint64_t seed)
{
  size_t tile = (size_t) shape->width * (size_t) shape->height * 3;
  uint8_t *left = malloc (tile), *right = malloc (tile);
  Random random = { seed };

  memset (t, 0, sizeof *t);
  t->shape = *shape;
  t->width = shape->width * shape->across;
  t->height = shape->height * shape->down;
  ptrdiff_t row = (ptrdiff_t) t->width * 3;
  t->stride = stride ? stride : 2 * row;
  size_t pixels = (size_t) t->width * (size_t) t->height;
  uint8_t *both = left && right ? reserve (t, 0, (size_t) t->stride * (size_t) t->height) : NULL;
  t->disparity = reserve (t, 1, pixels * sizeof *t->disparity);
  t->confidence = reserve (t, 2, pixels);
  int there = both && t->disparity && t->confidence;
  if (there) {
    t->view[0] = both;
    t->view[1] = both + row;
    make_tile (shape, left, right, &random);
    repeat (t, left, t->view[0]);
    repeat (t, right, t->view[1]);
  }
  free (left);
  free (right);
  return there;
}

void
tiled_free (Tiled *t)
{
  for (int n = 0; n < 4; n++)
    if (t->mapping[n])
      munmap (t->mapping[n], t->size[n]);
  memset (t, 0, sizeof *t);
}

StereoStatus
tiled_execute (Tiled *t, StereoPlan *plan, StereoError *error)
{
  StereoImage left = { t->view[0], t->stride, 3, 3, { 0, 1, 2 }, STEREO_MEMORY_HOST }, right = left;
  StereoOutput output = { t->disparity, (ptrdiff_t) t->width * 4, STEREO_SAMPLE_F32, t->confidence, t->width };

  right.data = t->view[1];
  memset (t->disparity, 0xA5, t->size[1]);
  memset (t->confidence, 0xA5, t->size[2]);
  return stereo_plan_execute (plan, &left, &right, &output, NULL, error);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The tile of the small picture that says what tile @k of @count is. */
static int
source_of (int k, int count)
{
  return count <= 3 || k == 0 ? k : k == count - 1 ? 2 : 1;
}

/* Rows @first.. of @large, @count of them, against the small picture's; @pixel bytes a pixel, rows of each @pitch bytes
 * apart. Of the right view, whose columns run the other way, tiles still correspond. */
typedef struct Rows
{
  const uint8_t *large, *small;
  size_t large_pitch, small_pitch, pixel;
  int first, count;
} Rows;

static int
same_row (const Tiled *large, const Rows *r, int y)
{
  const TiledShape *s = &large->shape;
  int row = source_of (y / s->height, s->down) * s->height + y % s->height;
  const uint8_t *got = r->large + (size_t) (y - r->first) * r->large_pitch;
  const uint8_t *want = r->small + (size_t) row * r->small_pitch;
  size_t run = (size_t) s->width * r->pixel;

  for (int k = 0; k < s->across; k++)
    if (memcmp (got + (size_t) k * run, want + (size_t) source_of (k, s->across) * run, run))
      return 0;
  return 1;
}

static void
same_rows (const Tiled *large, const Rows *r, const char *what)
{
  int wrong = 0, first = -1;

  for (int y = r->first; y < r->first + r->count; y++)
    if (!same_row (large, r, y)) {
      first = first < 0 ? y : first;
      wrong++;
    }
  CHECK (!wrong, "%s: %d of %d rows are not those of the small picture, row %d is the first", what, wrong, r->count,
      first);
}

/* A copy of @size bytes at @from in the plan's memory; NULL: the case has failed. */
static uint8_t *
take (StereoPlan *plan, const void *from, size_t size)
{
  uint8_t *copy = malloc (size);

  if (!CHECK (copy != NULL, "no memory for a copy of %zu bytes", size))
    return NULL;
  if (CHECK (!plan->backend->copy_out (plan, copy, from, size), "the device did not give %zu bytes", size))
    return copy;
  free (copy);
  return NULL;
}

static void
same_map (const Tiled *large, StereoPlan *large_plan, const void *large_map, const Tiled *small, StereoPlan *small_plan,
    const void *small_map, size_t element, const char *what)
{
  size_t large_pitch = (size_t) large_plan->map_pitch * element, small_pitch = (size_t) small_plan->map_pitch * element;
  uint8_t *got = take (large_plan, large_map, large_pitch * (size_t) large->height);
  uint8_t *want = take (small_plan, small_map, small_pitch * (size_t) small->height);

  if (got && want)
    same_rows (large, &(Rows){ got, want, large_pitch, small_pitch, element, 0, large->height }, what);
  free (got);
  free (want);
}

static void
same_maps (const Tiled *large, StereoPlan *large_plan, const Tiled *small, StereoPlan *small_plan)
{
  static const char *const views[] = { "left", "right" };
  int refined = large_plan->params.refine_iterations > 0 && large_plan->params.refine_mode != STEREO_REFINE_IDR;
  char what[64];

  for (int v = 0; v < 2; v++) {
    StereoView *l = &large_plan->view[v], *s = &small_plan->view[v];
#define SAME(map) \
  snprintf (what, sizeof what, "%s " #map, views[v]); \
  same_map (large, large_plan, l->map, small, small_plan, s->map, sizeof *l->map, what)
    SAME (first);
    SAME (second);
    SAME (index);
    SAME (confidence);
    if (refined) {
      SAME (expected);
    }
#undef SAME
  }
}

/* Some rows of the volume. */
static void
same_volume_rows (
    const Tiled *large, StereoPlan *large_plan, const uint8_t *want, size_t small_row, int first, int count)
{
  size_t pixel = (size_t) large_plan->depth * sizeof (uint16_t), row = (size_t) large->width * pixel;
  uint8_t *got = take (large_plan, (const uint8_t *) large_plan->volume + (size_t) first * row, (size_t) count * row);

  if (got)
    same_rows (large, &(Rows){ got, want, row, small_row, pixel, first, count }, "volume");
  free (got);
}

/* There must be something to compare: disparities that differ where there is room for that, and costs. */
static void
is_eventful (const Tiled *small, const uint16_t *volume, size_t costs)
{
  size_t pixels = (size_t) small->width * (size_t) small->height, valid = 0, changes = 0, steps = 0;

  for (size_t at = 1; at < pixels; at++) {
    valid += small->disparity[at] == small->disparity[at];
    changes += small->disparity[at] != small->disparity[at - 1];
  }
  for (size_t at = 1; at < costs; at++)
    steps += volume[at] != volume[at - 1];
  CHECK (valid > pixels / 50 && changes >= (small->width > PATCH ? pixels / 100 : 0) && steps > costs / 100,
      "%zu of %zu pixels are valid, %zu are unlike the one before, and so are %zu of %zu costs", valid, pixels, changes,
      steps, costs);
}

static void
same_volume (const Tiled *large, StereoPlan *large_plan, const Tiled *small, StereoPlan *small_plan, int whole)
{
  size_t pixel = (size_t) large_plan->depth * sizeof (uint16_t), row = (size_t) large->width * pixel;
  size_t small_row = (size_t) small->width * pixel;
  size_t most = ((size_t) 64 << 20) / row; /* at a time */
  int some = most < 1 ? 1 : most > 16 && !whole ? 16 : most > (size_t) large->height ? large->height : (int) most;
  uint8_t *want = take (small_plan, small_plan->volume, small_row * (size_t) small->height);

  if (want)
    is_eventful (small, (const uint16_t *) want, small_row / 2 * (size_t) small->height);
  for (int y = 0; y < large->height && want; y += some) {
    int rows = large->height - y < some ? large->height - y : some;
    int wanted = whole || y == 0 || y + rows == large->height;
    for (int bits = 31; bits <= 34; bits++) /* of bytes: elements pass 2^31, 2^32 and 2^33 bytes later */
      wanted |= (size_t) y * row <= (size_t) 1 << bits && (size_t) (y + rows) * row > (size_t) 1 << bits;
    if (wanted)
      same_volume_rows (large, large_plan, want, small_row, y, rows);
  }
  free (want);
}

void
tiled_compare (const Tiled *large, StereoPlan *large_plan, const Tiled *small, StereoPlan *small_plan, int whole)
{
  same_rows (large,
      &(Rows){ (const uint8_t *) large->disparity, (const uint8_t *) small->disparity, (size_t) large->width * 4,
          (size_t) small->width * 4, 4, 0, large->height },
      "disparity");
  same_rows (large,
      &(Rows){ large->confidence, small->confidence, (size_t) large->width, (size_t) small->width, 1, 0, large->height },
      "confidence");
  same_maps (large, large_plan, small, small_plan);
  same_volume (large, large_plan, small, small_plan, whole);
}
