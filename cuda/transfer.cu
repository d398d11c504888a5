/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies images to the device and results back, through pinned memory and on streams of their own: the copies of one
 * frame overlap with the steps of others. */
#include "cuda/common.cuh"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Copies @rows rows of @size bytes, past the cache: the device reads what a processor has just written there at half the rate, or
 * less. */
static void
copy_rows (uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t size, int rows)
{
  for (; rows > 0; rows--, to += to_stride, from += from_stride) {
    size_t done = 0;
#ifdef __SSE2__
    for (; done < size && (uintptr_t) (to + done) % 16; done++)
      to[done] = from[done];
    for (; done + 16 <= size; done += 16)
      _mm_stream_si128 ((__m128i *) (to + done), _mm_loadu_si128 ((const __m128i *) (from + done)));
#endif
    memcpy (to + done, from + done, size - done);
  }
#ifdef __SSE2__
  _mm_sfence ();
#endif
}

/* Copies rows y0..y1 - 1 to @to without gaps. Of pixels with more than 4 bytes it copies only the samples. */
static void
pack_rows (const StereoImage *image, int width, int y0, int y1, ptrdiff_t row, uint8_t *to)
{
  int first, last;

  stereo_sample_range (image, &first, &last);
  if (image->pixel_stride <= 4) {
    copy_rows (to + y0 * row, row, image->data + y0 * image->stride + first, image->stride, (size_t) row, y1 - y0);
    return;
  }
  for (int y = y0; y < y1; y++) {
    const uint8_t *from = image->data + y * image->stride;
    uint8_t *place = to + y * row;
    for (int x = 0; x < width; x++, from += image->pixel_stride)
      for (int c = 0; c < image->channels; c++)
        *place++ = from[image->offset[c]];
  }
}

/* The layout of @image after pack_rows(). */
static StereoImage
packed_image (const StereoImage *image, int width)
{
  StereoImage packed = *image;
  int first, last;

  stereo_sample_range (image, &first, &last);
  packed.memory = STEREO_MEMORY_CUDA;
  packed.stride = (ptrdiff_t) (width - 1) * image->pixel_stride + last - first + 1;
  for (int c = 0; c < image->channels; c++)
    packed.offset[c] = (uint8_t) (image->offset[c] - first);
  if (image->pixel_stride > 4) {
    packed.pixel_stride = image->channels;
    packed.stride = (ptrdiff_t) width * image->channels;
    for (int c = 0; c < image->channels; c++)
      packed.offset[c] = (uint8_t) c;
  }
  return packed;
}

static int
band (int height, int number)
{
  return (int) ((int64_t) height * number / CUDA_BANDS);
}

/* Runs @job for the bands @from..@to - 1. One thread copies at a fourth of the bus's speed, or less: several threads share them. */
static void
run_bands (StereoPlan *plan, StereoJob job, int from, int to)
{
  cuda_state (plan)->slot[plan->slot].band = from;
  stereo_pool_run (cuda_state (plan)->pool, plan, job, to - from);
}

/* Items are bands of the left view, then of the right one. An image in device memory is not copied. */
static void
pack_band (void *work, int item, int thread)
{
  StereoPlan *plan = (StereoPlan *) work;
  const CudaSlot *slot = &cuda_state (plan)->slot[plan->slot];
  int view = (slot->band + item) / CUDA_BANDS, number = (slot->band + item) % CUDA_BANDS;

  if (plan->input[view].memory == STEREO_MEMORY_HOST)
    pack_rows (&plan->input[view], plan->width, band (plan->height, number), band (plan->height, number + 1),
        cuda_state (plan)->source[view].stride, slot->pinned_input[view]);
}

/* Packs bands, and sends them while the next ones are packed. A copy takes as long as 150 kB more would: after the first ones it is of
 * many bands. The left view's own steps run while the right one is on its way. */
static StereoStatus
send_views (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  const CudaSlot *slot = &state->slot[plan->slot];
  int own = 1 + !!cuda_context_of (plan, &stereo_cuda_align) + !!cuda_context_of (plan, &stereo_cuda_temporal);
  StereoStatus status;

  for (int from = 0, to; from < 2 * CUDA_BANDS; from = to) {
    int view = from / CUDA_BANDS, most = cuda_parts (plan) > 1 ? CUDA_BANDS / 4 : CUDA_BANDS;
    size_t row = (size_t) state->source[view].stride;
    to = from + (from < 4 ? 4 : from < most ? from : most);
    run_bands (plan, pack_band, from, to);
    size_t first = row * (size_t) band (plan->height, from - view * CUDA_BANDS);
    size_t end = row * (size_t) band (plan->height, to - view * CUDA_BANDS);
    if (plan->input[view].memory == STEREO_MEMORY_HOST)
      CUDA_TRY (cudaMemcpyAsync (slot->input[view] + first, slot->pinned_input[view] + first, end - first,
          cudaMemcpyHostToDevice, state->upload_stream));
    if (to % CUDA_BANDS)
      continue;
    CUDA_TRY (cudaEventRecord (slot->uploaded[view], state->upload_stream));
    CUDA_TRY (cudaStreamWaitEvent (state->stream, slot->uploaded[view], 0));
    if (view == STEREO_LEFT && !plan->profiling) {
      state->views = 1;
      if ((status = stereo_run_steps (plan, 0, own, error)))
        return status;
    }
  }
  return STEREO_OK;
}

StereoStatus
cuda_upload (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaSlot *slot = &state->slot[plan->slot];
  bool host[2];

  if (plan->params.align) {
    StereoStatus status = cuda_send_alignment (plan, error);
    if (status)
      return status;
  }
  slot->arrived_ns = stereo_now_ns ();
  CUDA_TRY (cudaEventRecord (slot->arrived, state->upload_stream));
  for (int v = 0; v < 2; v++) {
    host[v] = plan->input[v].memory == STEREO_MEMORY_HOST;
    state->source[v] = host[v] ? packed_image (&plan->input[v], plan->width) : plan->input[v];
    if (host[v])
      state->source[v].data = slot->input[v];
  }
  state->first_view = STEREO_LEFT;
  state->views = 2;
  return host[0] || host[1] ? send_views (plan, error) : STEREO_OK;
}

/* ---- results ---------------------------------------------------------------------------------------- */

size_t
cuda_result_row (const StereoPlan *plan)
{
  return (stereo_sample_bytes (plan->output.sample) + 1) * (size_t) plan->width + 15 & ~(size_t) 15;
}

size_t
cuda_results_most (const StereoPlan *plan)
{
  return CUDA_ROWS_AT + ((4 + 1) * (size_t) plan->width + 15) * (size_t) plan->height;
}

/* The first parts of a small picture take too long to be made by themselves. */
int
cuda_parts (const StereoPlan *plan)
{
  return (int64_t) plan->width * plan->height <= 1000000 ? 1 : CUDA_PARTS;
}

int
cuda_part (const StereoPlan *plan, int part)
{
  return band (plan->height, part * CUDA_BANDS / cuda_parts (plan));
}

/* The output stage has recorded when the first ones of several parts are on the device. */
StereoStatus
cuda_download (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaSlot *slot = &state->slot[plan->slot];
  size_t row = cuda_result_row (plan), wanted = stereo_sample_bytes (plan->output.sample) * (size_t) plan->width;
  int parts = cuda_parts (plan);

  CUDA_TRY (cudaEventRecord (slot->computed[parts > 1], state->stream));
  for (int part = 0; part < parts; part++) {
    int first = cuda_part (plan, part), rows = cuda_part (plan, part + 1) - first;
    size_t at = CUDA_ROWS_AT + (size_t) first * row;
    if (part == 0 || part == CUDA_EARLY)
      CUDA_TRY (cudaStreamWaitEvent (state->download_stream, slot->computed[part > 0], 0));
    if (part == parts - 1)
      CUDA_TRY (cudaMemcpyAsync (
          slot->pinned_results, slot->results, CUDA_ROWS_AT, cudaMemcpyDeviceToHost, state->download_stream));
    CUDA_TRY (cudaMemcpy2DAsync (slot->pinned_results + at, row, slot->results + at, row,
        plan->output.confidence ? row : wanted, rows, cudaMemcpyDeviceToHost, state->download_stream));
    CUDA_TRY (cudaEventRecord (slot->ready[part], state->download_stream));
  }
  return STEREO_OK;
}

/* A band of samples and confidence from pinned memory to the caller's rows. */
static void
unpack_band (void *work, int item, int thread)
{
  StereoPlan *plan = (StereoPlan *) work;
  const CudaSlot *slot = &cuda_state (plan)->slot[plan->slot];
  const StereoOutput *out = &plan->output;
  size_t width = (size_t) plan->width, size = width * stereo_sample_bytes (out->sample), row = cuda_result_row (plan);
  int y = band (plan->height, slot->band + item), rows = band (plan->height, slot->band + item + 1) - y;
  const uint8_t *from = slot->pinned_results + CUDA_ROWS_AT + (size_t) y * row;

  copy_rows ((uint8_t *) out->data + y * out->stride, out->stride, from, (ptrdiff_t) row, size, rows);
  if (out->confidence)
    copy_rows (out->confidence + y * out->confidence_stride, out->confidence_stride, from + size, (ptrdiff_t) row,
        width, rows);
}

/* When the results were ready, which may be long before they are collected. */
static uint64_t
ready_ns (const CudaSlot *slot, int parts, uint64_t now)
{
  float ms;

  if (cudaEventElapsedTime (&ms, slot->arrived, slot->ready[parts - 1]) != cudaSuccess) {
    cudaGetLastError ();
    return now;
  }
  uint64_t ready = slot->arrived_ns + (uint64_t) ((double) ms * 1e6);
  return ready < now ? ready : now;
}

/* To be woken takes up to 0.4 ms, and polling answers at once, but it occupies a processor: at 30 frames a second 6 % of it, at most. The
 * rest of a long frame is waited for asleep. */
constexpr int SPIN_NS = 2000000;
static cudaError_t
wait_for (cudaEvent_t event)
{
  uint64_t end = stereo_now_ns () + SPIN_NS;

  while (stereo_now_ns () < end) {
    cudaError_t code = cudaEventQuery (event);
    if (code != cudaErrorNotReady)
      return code;
    cudaGetLastError (); /* not an error; the next launch must not report it */
  }
  return cudaEventSynchronize (event);
}

StereoStatus
cuda_collect (StereoPlan *plan, StereoError *error)
{
  const CudaSlot *slot = &cuda_state (plan)->slot[plan->slot];
  int parts = cuda_parts (plan), each = CUDA_BANDS / parts;
  unsigned long long counts[4];
  uint64_t waited = 0;

  for (int part = 0; part < parts; part++) {
    CUDA_TRY (wait_for (slot->ready[part]));
    waited = waited ? waited : stereo_now_ns ();
    run_bands (plan, unpack_band, part * each, (part + 1) * each);
  }
  uint64_t now = stereo_now_ns (), ready = ready_ns (slot, parts, now);
  memcpy (counts, slot->pinned_results, sizeof counts);
  stereo_report_totals (plan, counts[0] + counts[2], counts[1] + counts[3]);
  stereo_report_ready (plan, ready + (now - (ready > waited ? ready : waited)));
  return STEREO_OK;
}
