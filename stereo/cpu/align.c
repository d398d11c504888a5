/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Align: the right view is resampled along its columns, so that its rows are those of the left view. Does nothing while the
 * frame's alignment is not active. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

typedef struct Context
{
  uint32_t *rows; /* the resampled view: width pixels a row, rounded up to LANES */
} Context;

static size_t
pitch_of (const StereoPlan *plan)
{
  return ((size_t) plan->width + LANES - 1) / LANES * LANES;
}

static int
clamp (int y, int height)
{
  return y < 0 ? 0 : y < height ? y : height - 1;
}

/* Two weights of every pixel, for vec_dot(). */
static inline VecI
pair (VecI a, VecI b)
{
  return (a & 0xFFFF) | b << 16;
}

/* A channel of two rows, @shift bits up, beside each other in the same way. */
static inline VecI
channel (VecU a, VecU b, int shift)
{
  return (VecI) ((a >> shift & 0xFFu) | (b >> shift & 0xFFu) << 16);
}

/* stereo_align_blend() of stereo_align_taps(). */
static inline VecU
blend (const VecU rows[4], VecI part)
{
  VecI square = vec_product (part, part) >> 8, cube = vec_product (square, part) >> 8, top = (VecI){ 0 } + 255;
  VecI first = (2 * square - part - cube) >> 1, last = (cube - square) >> 1, third = (part + 4 * square - 3 * cube) >> 1;
  VecI outer = pair (first, last), inner = pair (256 - first - third - last, third);
  VecU blended = { 0 };

  for (int shift = 0; shift < 24; shift += 8) {
    VecI sum = vec_dot (channel (rows[0], rows[3], shift), outer) + vec_dot (channel (rows[1], rows[2], shift), inner);
    sum = (sum + 128) >> 8;
    blended |= (VecU) vec_min (vec_max (sum, (VecI){ 0 }), top) << shift;
  }
  return blended;
}

/* stereo_align_drop() of the pixels from mirrored column @m on. */
static inline VecI
drops_from (StereoAlignRow row, int m, int width, uint32_t scale)
{
  const VecI lanes = LANE_NUMBERS;
  VecI column = vec_max (width - 1 - m - lanes, (VecI){ 0 }); /* lanes beyond the row get the drop of its end */
  VecI u = (VecI) ((VecU) column * scale >> 15) - 0x8000;
  VecI d = row.offset + ((row.slope + (row.curve * u >> 16)) * u >> 16);
  VecI bound = (VecI){ 0 } + STEREO_ALIGN_LARGEST;
  d = vec_min (vec_max (d, -bound), bound);
  return (d + 2) >> (STEREO_ALIGN_SHIFT - 8);
}

/* The four rows around row @above of the right view and the one below it; beyond the picture its border is repeated. */
typedef struct Rows
{
  const uint32_t *row[4];
} Rows;

static Rows
rows_at (const StereoPlan *plan, int above)
{
  Rows rows;
  for (int k = 0; k < 4; k++)
    rows.row[k] = plan->view[STEREO_RIGHT].color +
        (size_t) clamp (above - 1 + k, plan->height) * (size_t) plan->image_pitch;
  return rows;
}

static uint32_t
sample (const StereoPlan *plan, int y, int m, int drop)
{
  Rows rows = rows_at (plan, y + (drop >> 8));
  uint32_t color[4];

  for (int k = 0; k < 4; k++)
    color[k] = rows.row[k][m];
  return stereo_align_blend (color, stereo_align_taps (drop & 0xFF));
}

/* The pixels from mirrored column @m on, whose places all lie between the same two rows. */
static inline VecU
samples (const Rows *rows, int m, VecI drops)
{
  VecU color[4];

  for (int k = 0; k < 4; k++)
    color[k] = vec_load_u (rows->row[k] + m);
  return blend (color, drops & 0xFF);
}

static inline int
are_equal (VecI v)
{
  VecU different = (VecU) (v ^ v[0]);

  for (int half = LANES / 2; half; half /= 2)
    different |= vec_partners (different, half);
  return !different[0];
}

/* Neighbours nearly always lie between the same two rows. */
static void
resample_row (StereoPlan *plan, void *context, int y, int thread)
{
  uint32_t *to = ((Context *) context)->rows + (size_t) y * pitch_of (plan);
  uint32_t scale = stereo_align_scale (plan->width);
  StereoAlignRow row = stereo_align_row (&plan->align, stereo_align_place (y, stereo_align_scale (plan->height)));

  for (int m = 0; m < plan->width; m += LANES) {
    VecI drops = drops_from (row, m, plan->width, scale);
    int count = plan->width - m < LANES ? plan->width - m : LANES;
    if (count == LANES && are_equal (drops >> 8)) {
      Rows rows = rows_at (plan, y + (drops[0] >> 8));
      vec_store_u (to + m, samples (&rows, m, drops));
    } else {
      for (int k = 0; k < count; k++)
        to[m + k] = sample (plan, y, m + k, drops[k]);
    }
  }
}

static void
put_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint32_t *from = ((const Context *) context)->rows + (size_t) y * pitch_of (plan);
  size_t start = (size_t) y * (size_t) plan->image_pitch;
  uint32_t *color = plan->view[STEREO_RIGHT].color + start;
  uint8_t *luma = plan->view[STEREO_RIGHT].luma + start;
  const VecI weights = (VecI){ 0 } + (77 | 29 << 16);
  int x = 0;

  memcpy (color, from, (size_t) plan->width * sizeof *color);
  for (; x + LANES <= plan->width; x += LANES) {
    VecU c = vec_load_u (from + x);
    VecI sum = vec_dot ((VecI) (c & 0xFF00FFu), weights) + (VecI) (c >> 8 & 0xFFu) * 150 + 128;
    vec_store_b (luma + x, vec_narrow_bytes (sum >> 8));
  }
  for (; x < plan->width; x++)
    luma[x] = (uint8_t) stereo_align_luma (from[x]);
}

static StereoStatus
align_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  return stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->rows,
      stereo_times (pitch_of (plan), (size_t) plan->height), sizeof *c->rows, error);
}

static StereoStatus
align_run (StereoPlan *plan, void *context, StereoError *error)
{
  if (plan->align.active) {
    cpu_run (plan, context, resample_row, plan->height);
    cpu_run (plan, context, put_row, plan->height);
  }
  return STEREO_OK;
}

const StereoStage CPU (align) = {
  .name = "align",
  .context_size = sizeof (Context),
  .prepare = align_prepare,
  .run = align_run,
};
