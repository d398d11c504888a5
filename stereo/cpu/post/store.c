/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Store: the finished disparity and confidence become the caller's samples. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

/* What store_row() found in each row. */
typedef struct Context
{
  uint64_t *valid;      /* samples that hold a value */
  uint64_t *confidence; /* sum of the confidence bytes */
} Context;

/* stereo_store_disparity() of whole vectors of a row, and how many of their samples hold a value; @end: the column behind them. */
static uint64_t
store_disparities (const float *d, int width, float scale, uint16_t *to, int *end)
{
  const VecI zero = { 0 }, one = zero + 1;
  const VecF top = (VecF){ 0 } + 65535.0f;
  VecI valid = zero;
  uint64_t sum = 0;
  int x = 0;

  for (; x + LANES <= width; x += LANES) {
    VecF value = vec_load_f (d + x);
    VecI steps = vec_round (vec_min_float (value * scale, top)), some = (VecI) (value == value) & (steps >= zero);
    vec_store_h (to + x, vec_narrow (vec_max (steps, one) & some));
    valid -= some;
  }
  for (int k = 0; k < LANES; k++)
    sum += (uint64_t) valid[k];
  *end = x;
  return sum;
}

/* Writes a row and returns how many samples hold a value. A disparity of NaN has none. */
static uint64_t
store_u16 (const StereoPlan *plan, const float *d, uint16_t *to)
{
  const StereoParams *p = &plan->params;
  float scale = (float) p->disparity_scale, product = (float) (p->focal_length * p->baseline);
  float offset = (float) p->principal_offset, per_mm = (float) (1000 / p->depth_unit);
  uint64_t valid = 0;
  int x = 0;

  if (p->output == STEREO_OUTPUT_DISPARITY)
    valid = store_disparities (d, plan->width, scale, to, &x);
  for (; x < plan->width; x++) {
    uint32_t v = isnan (d[x])            ? 0 :
        p->output == STEREO_OUTPUT_DEPTH ? stereo_store_depth (stereo_depth (d[x], product, offset), per_mm) :
                                           stereo_store_disparity (d[x], scale);
    to[x] = (uint16_t) v;
    valid += v != 0;
  }
  return valid;
}

static uint64_t
store_u8 (const StereoPlan *plan, const float *d, uint8_t *to)
{
  int num = plan->params.num_disparities;
  float factor = num > 1 ? 254.0f / (float) (num - 1) : 0;
  uint64_t valid = 0;

  for (int x = 0; x < plan->width; x++) {
    to[x] = isnan (d[x]) ? 0 : (uint8_t) stereo_store_byte (d[x], (float) plan->min_disparity, factor);
    valid += to[x] != 0;
  }
  return valid;
}

static uint64_t
store_f32 (const StereoPlan *plan, const float *d, float *to)
{
  const StereoParams *p = &plan->params;
  float product = (float) (p->focal_length * p->baseline), offset = (float) p->principal_offset;
  uint64_t valid = 0;

  for (int x = 0; x < plan->width; x++) {
    to[x] = isnan (d[x]) ? NAN : p->output == STEREO_OUTPUT_DEPTH ? stereo_depth (d[x], product, offset) : d[x];
    valid += !isnan (to[x]);
  }
  return valid;
}

/* Writes a row (unless @to is NULL) and returns its sum. A pixel without a disparity has confidence 0. */
static uint64_t
store_confidence (const StereoPlan *plan, const float *d, const float *confidence, uint8_t *to)
{
  const VecF full = (VecF){ 0 } + 255.0f;
  VecI sums = { 0 };
  uint64_t sum = 0;
  int x = 0;

  for (; x + LANES <= plan->width; x += LANES) {
    VecF value = vec_load_f (d + x);
    VecI bytes = vec_round (vec_load_f (confidence + x) * full) & (VecI) (value == value);
    sums += bytes;
    if (to)
      vec_store_b (to + x, vec_narrow_bytes (bytes));
  }
  for (int k = 0; k < LANES; k++)
    sum += (uint64_t) sums[k];
  for (; x < plan->width; x++) {
    uint8_t v = isnan (d[x]) ? 0 : (uint8_t) rintf (confidence[x] * 255);
    sum += v;
    if (to)
      to[x] = v;
  }
  return sum;
}

static void
store_row (StereoPlan *plan, void *context, int y, int thread)
{
  Context *c = context;
  const StereoOutput *out = &plan->output;
  const float *d = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  void *to = (char *) out->data + y * out->stride;

  switch (out->sample) {
    case STEREO_SAMPLE_U8:
      c->valid[y] = store_u8 (plan, d, to);
      break;
    case STEREO_SAMPLE_U16:
      c->valid[y] = store_u16 (plan, d, to);
      break;
    case STEREO_SAMPLE_F32:
      c->valid[y] = store_f32 (plan, d, to);
      break;
  }
  c->confidence[y] = store_confidence (plan, d,
      plan->view[STEREO_LEFT].confidence + (size_t) y * (size_t) plan->map_pitch,
      out->confidence ? out->confidence + y * out->confidence_stride : NULL);
}

static StereoStatus
store_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t rows = (size_t) plan->height;
  StereoStatus status = stereo_reserve (plan, (void **) &c->valid, rows, sizeof (uint64_t), error);
  return status ? status : stereo_reserve (plan, (void **) &c->confidence, rows, sizeof (uint64_t), error);
}

static StereoStatus
store_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;
  uint64_t valid = 0, confidence = 0;

  cpu_run (plan, context, store_row, plan->height);
  for (int y = 0; y < plan->height; y++) {
    valid += c->valid[y];
    confidence += c->confidence[y];
  }
  stereo_report_totals (plan, valid, confidence);
  return STEREO_OK;
}

const StereoStage CPU (
    store) = { .name = "store", .context_size = sizeof (Context), .prepare = store_prepare, .run = store_run };
