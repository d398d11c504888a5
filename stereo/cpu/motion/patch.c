/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/cpu/motion/patch.h"
#include "stereo/cpu/vec/vec.h"

#define PATCH STEREO_MOTION_PATCH
#define SIDE CPU_PATCH_SIDE
#define ROWS_AWAY STEREO_MOTION_COARSE_Y /* rows to each side that are searched, at most */
#define COLUMNS CPU_SEARCH_COLUMNS
#define PLACES (2 * LANES) /* of a row, that are compared at once */
#define NEVER 0x7FFF       /* no patch differs as much */

static_assert (2 * STEREO_MOTION_COARSE_X + SIDE <= COLUMNS && 2 * STEREO_MOTION_FINE + SIDE <= COLUMNS, "columns");
static_assert (STEREO_MOTION_FINE <= ROWS_AWAY, "rows");
static_assert (SIDE * SIDE * 255 < NEVER, "sums of a patch");

/* What all patches of a search cover, and the patch that is looked for: in 16 bits, in which differences add up. */
typedef struct Area
{
  uint16_t area[2 * ROWS_AWAY + SIDE][COLUMNS + PLACES], patch[SIDE][SIDE];
  int first; /* column of the area that the first patch begins at */
} Area;

static void
take_area (const uint8_t *patch, ptrdiff_t patch_pitch, const CpuSearch *search, Area *a)
{
  int left = search->x - PATCH, begin = left + COLUMNS < search->pitch ? left : (int) search->pitch - COLUMNS;

  a->first = left - begin;
  for (int row = 0; row < search->rows + 2 * PATCH; row++) {
    const uint8_t *restrict from = search->picture + (search->y - PATCH + row) * search->pitch + begin;
    for (int k = 0; k < COLUMNS; k++)
      a->area[row][k] = from[k];
    memset (a->area[row] + COLUMNS, 0, PLACES * sizeof **a->area);
  }
  for (int row = 0; row < SIDE; row++)
    for (int k = 0; k < SIDE; k++)
      a->patch[row][k] = patch[(row - PATCH) * patch_pitch + k - PATCH];
}

/* Sums of absolute differences at PLACES places of a row of which the first @columns are looked at, where one of these is below
 * @limit: else 0 is returned, mostly after few rows of the patch. */
static int
compare (const Area *a, int row, int column, int columns, int32_t limit, uint16_t *sums)
{
  const VecI lanes = LANE_NUMBERS;
  VecU16 place = (VecU16) (lanes * 0x20002 + 0x10000), least = (VecU16){ 0 } + (uint16_t) limit;
  VecU16 sum = (VecU16) (place >= (uint16_t) columns) & NEVER;

  for (int dy = 0; dy < SIDE; dy++) {
    const uint16_t *from = &a->area[row + dy][a->first + column];
#pragma GCC unroll 9
    for (int dx = 0; dx < SIDE; dx++) {
      VecU16 values, of_patch = (VecU16){ 0 } + a->patch[dy][dx];
      memcpy (&values, from + dx, sizeof values);
      sum += (VecU16) vec_byte_differences ((VecU) values, (VecU) of_patch);
    }
    if (!vec_any ((VecI) (sum < least)))
      return 0;
  }
  memcpy (sums, &sum, sizeof sum);
  return 1;
}

/* Of equals the first. The row in the middle is looked at before the others: where little moves, these end soon. */
CpuFound
CPU (find_patch) (const uint8_t *patch, ptrdiff_t patch_pitch, const CpuSearch *search)
{
  CpuFound found = { search->x, search->y, NEVER };
  int middle = search->rows / 2;
  Area a;

  take_area (patch, patch_pitch, search, &a);
  for (int k = 0; k < search->rows; k++) {
    int row = k == 0 ? middle : k <= middle ? k - 1 : k;
    for (int from = 0; from < search->columns; from += PLACES) {
      int columns = search->columns - from < PLACES ? search->columns - from : PLACES;
      uint16_t sums[PLACES];
      int32_t limit = found.least + (search->y + row < found.y);
      if (!compare (&a, row, from, columns, limit, sums))
        continue;
      for (int i = 0; i < columns; i++)
        if (sums[i] < limit) {
          limit = sums[i];
          found = (CpuFound){ search->x + from + i, search->y + row, sums[i] };
        }
    }
  }
  return found;
}
