/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies images to the device and results back, through pinned memory and on streams of their own: the copies of one
 * frame overlap with the steps of others. */
#include "cuda/common.cuh"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Copies @rows rows of @size bytes. @past: past the cache, for pictures that do not fit it: the device reads what a processor has just
 * written there at half the rate, or less. */
static void
copy_rows (
    uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride, size_t size, int rows, bool past)
{
  for (; rows > 0; rows--, to += to_stride, from += from_stride) {
    size_t done = 0;
#ifdef __SSE2__
    for (; past && done < size && (uintptr_t) (to + done) % 16; done++)
      to[done] = from[done];
    for (; past && done + 16 <= size; done += 16)
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
pack_rows (const StereoImage *image, int width, int y0, int y1, ptrdiff_t row, uint8_t *to, bool past)
{
  int first, last;

  stereo_sample_range (image, &first, &last);
  if (image->pixel_stride <= 4) {
    copy_rows (to + y0 * row, row, image->data + y0 * image->stride + first, image->stride, (size_t) row, y1 - y0, past);
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

/* One thread copies at a third of the memory's speed: several threads share the rows. A small picture is copied before the threads
 * wake up. */
static bool
is_small (const StereoPlan *plan)
{
  return (int64_t) plan->width * plan->height <= 1000000;
}

static void
run_bands (StereoPlan *plan, StereoJob job, int items)
{
  if (!is_small (plan))
    stereo_pool_run (cuda_state (plan)->pool, plan, job, items);
  else
    for (int item = 0; item < items; item++)
      job (plan, item, 0);
}

static int
band (int height, int number)
{
  return (int) ((int64_t) height * number / CUDA_BANDS);
}

/* Starts to copy the bands to the device that are packed, up to the first one that is not. */
static StereoStatus
send_bands (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaSlot *slot = &state->slot[plan->slot];

  for (int v = 0; v < 2; v++) {
    size_t row = (size_t) state->source[v].stride, first = row * (size_t) band (plan->height, slot->sent[v]);
    while (slot->sent[v] < CUDA_BANDS && __atomic_load_n (&slot->packed[v][slot->sent[v]], __ATOMIC_ACQUIRE))
      slot->sent[v]++;
    size_t end = row * (size_t) band (plan->height, slot->sent[v]);
    if (end > first && plan->input[v].memory == STEREO_MEMORY_HOST)
      CUDA_TRY (cudaMemcpyAsync (slot->input[v] + first, slot->pinned_input[v] + first, end - first,
          cudaMemcpyHostToDevice, state->upload_stream));
  }
  return STEREO_OK;
}

/* Items are bands of both views in turn. An image in device memory is not copied. The thread that has the device sends what is packed
 * by then. */
static void
pack_band (void *work, int item, int thread)
{
  StereoPlan *plan = (StereoPlan *) work;
  CudaSlot *slot = &cuda_state (plan)->slot[plan->slot];
  int view = item % 2, number = item / 2;

  if (plan->input[view].memory == STEREO_MEMORY_HOST)
    pack_rows (&plan->input[view], plan->width, band (plan->height, number), band (plan->height, number + 1),
        cuda_state (plan)->source[view].stride, slot->pinned_input[view], !is_small (plan));
  __atomic_store_n (&slot->packed[view][number], true, __ATOMIC_RELEASE);
  if (thread == 0 && !is_small (plan) && !slot->sending.status)
    send_bands (plan, &slot->sending);
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
  if (!host[0] && !host[1])
    return STEREO_OK;
  memset (slot->packed, 0, sizeof slot->packed);
  memset (slot->sent, 0, sizeof slot->sent);
  slot->sending = {};
  run_bands (plan, pack_band, 2 * CUDA_BANDS);
  if (slot->sending.status || send_bands (plan, &slot->sending)) {
    *error = slot->sending;
    return error->status;
  }
  CUDA_TRY (cudaEventRecord (slot->uploaded, state->upload_stream));
  CUDA_TRY (cudaStreamWaitEvent (state->stream, slot->uploaded, 0));
  return STEREO_OK;
}

/* ---- results ---------------------------------------------------------------------------------------- */

size_t
cuda_confidence_at (const StereoPlan *plan)
{
  return CUDA_SAMPLES_AT + stereo_sample_bytes (plan->output.sample) * (size_t) plan->width * (size_t) plan->height;
}

size_t
cuda_results_most (const StereoPlan *plan)
{
  return CUDA_SAMPLES_AT + (4 + 1) * (size_t) plan->width * (size_t) plan->height;
}

StereoStatus
cuda_download (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaSlot *slot = &state->slot[plan->slot];
  size_t size = cuda_confidence_at (plan);

  if (plan->output.confidence)
    size += (size_t) plan->width * (size_t) plan->height;
  CUDA_TRY (cudaEventRecord (slot->computed, state->stream));
  CUDA_TRY (cudaStreamWaitEvent (state->download_stream, slot->computed, 0));
  CUDA_TRY (cudaMemcpyAsync (slot->pinned_results, slot->results, size, cudaMemcpyDeviceToHost, state->download_stream));
  CUDA_TRY (cudaEventRecord (slot->ready, state->download_stream));
  return STEREO_OK;
}

/* Bands of samples and confidence from pinned memory to the caller's rows. */
static void
unpack_band (void *work, int item, int thread)
{
  StereoPlan *plan = (StereoPlan *) work;
  const StereoOutput *out = &plan->output;
  size_t width = (size_t) plan->width, row = width * stereo_sample_bytes (out->sample);
  const uint8_t *results = cuda_state (plan)->slot[plan->slot].pinned_results;
  const uint8_t *samples = results + CUDA_SAMPLES_AT, *confidence = results + cuda_confidence_at (plan);

  int y = band (plan->height, item), rows = band (plan->height, item + 1) - y;

  copy_rows ((uint8_t *) out->data + y * out->stride, out->stride, samples + (size_t) y * row, (ptrdiff_t) row, row,
      rows, !is_small (plan));
  if (out->confidence)
    copy_rows (out->confidence + y * out->confidence_stride, out->confidence_stride, confidence + (size_t) y * width,
        (ptrdiff_t) width, width, rows, !is_small (plan));
}

/* When the results were ready, which may be long before they are collected. */
static uint64_t
ready_ns (const CudaSlot *slot, uint64_t now)
{
  float ms;

  if (cudaEventElapsedTime (&ms, slot->arrived, slot->ready) != cudaSuccess) {
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
wait_until_ready (const CudaSlot *slot)
{
  uint64_t end = stereo_now_ns () + SPIN_NS;

  while (stereo_now_ns () < end) {
    cudaError_t code = cudaEventQuery (slot->ready);
    if (code != cudaErrorNotReady)
      return code;
    cudaGetLastError (); /* not an error; the next launch must not report it */
  }
  return cudaEventSynchronize (slot->ready);
}

StereoStatus
cuda_collect (StereoPlan *plan, StereoError *error)
{
  const CudaSlot *slot = &cuda_state (plan)->slot[plan->slot];
  unsigned long long counts[2];

  CUDA_TRY (wait_until_ready (slot));
  uint64_t waited = stereo_now_ns (), ready = ready_ns (slot, waited);
  run_bands (plan, unpack_band, CUDA_BANDS);
  memcpy (counts, slot->pinned_results, sizeof counts);
  stereo_report_totals (plan, counts[0], counts[1]);
  stereo_report_ready (plan, ready + (stereo_now_ns () - waited));
  return STEREO_OK;
}
