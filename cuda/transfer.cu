/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images to the device and results back, through pinned memory so that the copies overlap with work. */
#include "cuda/common.cuh"

#include <string.h>

/* First and last sample of a pixel: an image may begin with the one and end with the other. */
static void
sample_range (const StereoImage *image, uint8_t *first, uint8_t *last)
{
  *first = *last = image->offset[0];
  for (int c = 1; c < image->channels; c++) {
    *first = image->offset[c] < *first ? image->offset[c] : *first;
    *last = image->offset[c] > *last ? image->offset[c] : *last;
  }
}

/* Rows y0..y1 - 1 without gaps to @to. Pixels of more than 4 bytes are reduced to their samples. */
static void
pack_rows (const StereoImage *image, int width, int y0, int y1, ptrdiff_t row, uint8_t *to)
{
  uint8_t first, last;

  sample_range (image, &first, &last);
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

/* How @image looks once its rows are packed. */
static StereoImage
packed_image (const StereoImage *image, int width)
{
  StereoImage packed = *image;
  uint8_t first, last;

  sample_range (image, &first, &last);
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

/* One thread copies a third as fast as the memory could: rows are shared out in BANDS. Small pictures are
 * copied sooner than the threads wake up. */
#define BANDS 8
#define SMALL_PICTURE 1000000   /* pixels */

static void
run_bands (StereoPlan *plan, StereoJob job)
{
  if ((int64_t) plan->width * plan->height > SMALL_PICTURE)
    stereo_pool_run (cuda_state (plan)->pool, plan, job, BANDS);
  else
    for (int item = 0; item < BANDS; item++)
      job (plan, item, 0);
}

static int
band (int height, int number)
{
  return (int) ((int64_t) height * number / BANDS);
}

static void
pack_band (StereoPlan *plan, int item, int view)
{
  CudaState *state = cuda_state (plan);
  pack_rows (&plan->input[view], plan->width, band (plan->height, item), band (plan->height, item + 1),
      state->source[view].stride, state->pinned_input[view]);
}

static void
pack_left_band (StereoPlan *plan, int item, int thread)
{
  pack_band (plan, item, STEREO_LEFT);
}

static void
pack_right_band (StereoPlan *plan, int item, int thread)
{
  pack_band (plan, item, STEREO_RIGHT);
}

/* The left view travels while the right one is packed. */
StereoStatus
cuda_upload (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);

  for (int v = 0; v < 2; v++) {
    if (plan->input[v].memory == STEREO_MEMORY_CUDA) {
      state->source[v] = plan->input[v];
      continue;
    }
    state->source[v] = packed_image (&plan->input[v], plan->width);
    run_bands (plan, v == STEREO_LEFT ? pack_left_band : pack_right_band);
    state->source[v].data = state->input[v];
    CUDA_TRY (cudaMemcpyAsync (state->input[v], state->pinned_input[v], (size_t) state->source[v].stride *
            (size_t) plan->height, cudaMemcpyHostToDevice, state->stream));
  }
  return STEREO_OK;
}

/* ---- results: counts, samples, confidence --------------------------------------------------------- */

#define COUNT_BYTES (2 * sizeof (unsigned long long))

size_t
cuda_output_bytes (const StereoPlan *plan)
{
  return COUNT_BYTES + (size_t) plan->width * (size_t) plan->height * 5;
}

static size_t
sample_bytes (const StereoOutput *out)
{
  return out->sample == STEREO_SAMPLE_U8 ? 1 : out->sample == STEREO_SAMPLE_U16 ? 2 : 4;
}

/* Bands of samples and confidence from pinned memory to the caller's rows. */
static void
unpack_band (StereoPlan *plan, int item, int thread)
{
  const StereoOutput *out = &plan->output;
  size_t width = (size_t) plan->width, row = width * sample_bytes (out);
  const uint8_t *samples = cuda_state (plan)->pinned_output + COUNT_BYTES;
  const uint8_t *confidence = samples + 4 * width * (size_t) plan->height;

  for (int y = band (plan->height, item); y < band (plan->height, item + 1); y++) {
    memcpy ((char *) out->data + y * out->stride, samples + (size_t) y * row, row);
    if (out->confidence)
      memcpy (out->confidence + y * out->confidence_stride, confidence + (size_t) y * width, width);
  }
}

StereoStatus
cuda_download (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  const StereoOutput *out = &plan->output;
  size_t bytes = (size_t) plan->width * (size_t) plan->height;
  uint8_t *samples = state->pinned_output + COUNT_BYTES, *confidence = samples + 4 * bytes;
  unsigned long long counts[2];

  CUDA_TRY (cudaMemcpyAsync (state->pinned_output, state->counts, COUNT_BYTES, cudaMemcpyDeviceToHost, state->stream));
  CUDA_TRY (cudaMemcpyAsync (samples, state->output, sample_bytes (out) * bytes, cudaMemcpyDeviceToHost, state->stream));
  if (out->confidence)
    CUDA_TRY (cudaMemcpyAsync (confidence, state->output_confidence, bytes, cudaMemcpyDeviceToHost, state->stream));
  CUDA_TRY (cudaStreamSynchronize (state->stream));

  run_bands (plan, unpack_band);
  memcpy (counts, state->pinned_output, sizeof counts);
  plan->valid_count = counts[0];
  plan->confidence_sum = (double) counts[1] / 255;
  return STEREO_OK;
}
