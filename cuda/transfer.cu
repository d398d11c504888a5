/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies images to the device and results back, through pinned memory and on streams of their own: the copies of one
 * frame overlap with the steps of others. */
#include "cuda/common.cuh"

#include <string.h>

/* Copies rows y0..y1 - 1 to @to without gaps. Of pixels with more than 4 bytes it copies only the samples. */
static void
pack_rows (const StereoImage *image, int width, int y0, int y1, ptrdiff_t row, uint8_t *to)
{
  int first, last;

  stereo_sample_range (image, &first, &last);
  for (int y = y0; y < y1; y++) {
    const uint8_t *from = image->data + y * image->stride;
    uint8_t *place = to + y * row;
    if (image->pixel_stride <= 4) {
      memcpy (place, from + first, (size_t) row);
      continue;
    }
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

/* One thread copies at a third of the memory's speed: several threads share the rows, in BANDS. A small picture is
 * copied before the threads wake up. */
constexpr int BANDS = 8;
constexpr int SMALL_PICTURE = 1000000; /* pixels */

static void
run_bands (StereoPlan *plan, StereoJob job, int items)
{
  if ((int64_t) plan->width * plan->height > SMALL_PICTURE)
    stereo_pool_run (cuda_state (plan)->pool, plan, job, items);
  else
    for (int item = 0; item < items; item++)
      job (plan, item, 0);
}

static int
band (int height, int number)
{
  return (int) ((int64_t) height * number / BANDS);
}

/* Items 0..BANDS - 1 are bands of the left view. An image in device memory is not copied. */
static void
pack_band (void *work, int item, int thread)
{
  StereoPlan *plan = (StereoPlan *) work;
  CudaState *state = cuda_state (plan);
  int view = item / BANDS, number = item % BANDS;

  if (plan->input[view].memory == STEREO_MEMORY_HOST)
    pack_rows (&plan->input[view], plan->width, band (plan->height, number), band (plan->height, number + 1),
        state->source[view].stride, state->slot[plan->slot].pinned_input[view]);
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
  run_bands (plan, pack_band, 2 * BANDS);
  for (int v = 0; v < 2; v++)
    if (host[v])
      CUDA_TRY (cudaMemcpyAsync (slot->input[v], slot->pinned_input[v],
          (size_t) state->source[v].stride * (size_t) plan->height, cudaMemcpyHostToDevice, state->upload_stream));
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

  for (int y = band (plan->height, item); y < band (plan->height, item + 1); y++) {
    memcpy ((char *) out->data + y * out->stride, samples + (size_t) y * row, row);
    if (out->confidence)
      memcpy (out->confidence + y * out->confidence_stride, confidence + (size_t) y * width, width);
  }
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
  run_bands (plan, unpack_band, BANDS);
  memcpy (counts, slot->pinned_results, sizeof counts);
  stereo_report_totals (plan, counts[0], counts[1]);
  stereo_report_ready (plan, ready + (stereo_now_ns () - waited));
  return STEREO_OK;
}
