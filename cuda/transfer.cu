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

/* Pixels of more than 4 bytes are reduced to their samples. */
static void
pack_samples (const StereoImage *image, int width, int height, uint8_t *to)
{
  for (int y = 0; y < height; y++) {
    const uint8_t *from = image->data + y * image->stride;
    for (int x = 0; x < width; x++, from += image->pixel_stride)
      for (int c = 0; c < image->channels; c++)
        *to++ = from[image->offset[c]];
  }
}

/* Rows of @image without gaps to @to; describes them in @packed, and returns their bytes. */
static size_t
pack (const StereoImage *image, int width, int height, uint8_t *to, StereoImage *packed)
{
  *packed = *image;
  packed->memory = STEREO_MEMORY_CUDA;
  if (image->pixel_stride > 4) {
    packed->pixel_stride = image->channels;
    packed->stride = (ptrdiff_t) width * image->channels;
    for (int c = 0; c < image->channels; c++)
      packed->offset[c] = (uint8_t) c;
    pack_samples (image, width, height, to);
  } else {
    uint8_t first, last;
    sample_range (image, &first, &last);
    size_t row = (size_t) (width - 1) * (size_t) image->pixel_stride + last - first + 1;
    packed->stride = (ptrdiff_t) row;
    for (int c = 0; c < image->channels; c++)
      packed->offset[c] = (uint8_t) (image->offset[c] - first);
    for (int y = 0; y < height; y++)
      memcpy (to + (size_t) y * row, image->data + y * image->stride + first, row);
  }
  return (size_t) packed->stride * (size_t) height;
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
    size_t bytes = pack (&plan->input[v], plan->width, plan->height, state->pinned_input[v], &state->source[v]);
    state->source[v].data = state->input[v];
    CUDA_TRY (cudaMemcpyAsync (state->input[v], state->pinned_input[v], bytes, cudaMemcpyHostToDevice, state->stream));
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

static void
copy_rows (void *to, ptrdiff_t stride, const uint8_t *from, size_t row, int height)
{
  if (stride == (ptrdiff_t) row)
    memcpy (to, from, row * (size_t) height);
  else
    for (int y = 0; y < height; y++)
      memcpy ((char *) to + y * stride, from + (size_t) y * row, row);
}

StereoStatus
cuda_download (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  const StereoOutput *out = &plan->output;
  size_t sample = out->sample == STEREO_SAMPLE_U8 ? 1 : out->sample == STEREO_SAMPLE_U16 ? 2 : 4;
  size_t width = (size_t) plan->width, bytes = width * (size_t) plan->height;
  uint8_t *samples = state->pinned_output + COUNT_BYTES, *confidence = samples + 4 * bytes;
  unsigned long long counts[2];

  CUDA_TRY (cudaMemcpyAsync (state->pinned_output, state->counts, COUNT_BYTES, cudaMemcpyDeviceToHost, state->stream));
  CUDA_TRY (cudaMemcpyAsync (samples, state->output, sample * bytes, cudaMemcpyDeviceToHost, state->stream));
  if (out->confidence)
    CUDA_TRY (cudaMemcpyAsync (confidence, state->output_confidence, bytes, cudaMemcpyDeviceToHost, state->stream));
  CUDA_TRY (cudaStreamSynchronize (state->stream));

  copy_rows (out->data, out->stride, samples, width * sample, plan->height);
  if (out->confidence)
    copy_rows (out->confidence, out->confidence_stride, confidence, width, plan->height);
  memcpy (counts, state->pinned_output, sizeof counts);
  plan->valid_count = counts[0];
  plan->confidence_sum = (double) counts[1] / 255;
  return STEREO_OK;
}
