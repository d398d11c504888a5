/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames: what a plan does again and again, with images and outputs that differ from call to call. */
#include "stereo/private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t
now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* ---- refusals ---------------------------------------------------------------------------- */

/* 16-bit samples must hold the whole search range. */
static StereoStatus
check_scale (const StereoParams *p, const StereoOutput *output, StereoError *error)
{
  int largest = p->min_disparity + p->num_disparities - 1;

  if (output->sample != STEREO_SAMPLE_U16 || p->output != STEREO_OUTPUT_DISPARITY ||
      largest * p->disparity_scale <= 65535)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "disparity-scale=%g makes %.0f of the largest disparity, %d, and 16 bits hold 65535: set it to %.0f or less, or "
      "search fewer disparities.", p->disparity_scale, largest * p->disparity_scale, largest,
      floor (65535.0 / largest));
}

static StereoStatus
check_image (const StereoPlan *plan, const StereoImage *image, StereoError *error)
{
  if (!image->data || (image->channels != 1 && image->channels != 3) || image->pixel_stride < 1 ||
      image->pixel_stride > 8)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "An image needs data, 1 or 3 channels and a pixel stride of 1 to 8 bytes; it has %d channels and %d bytes.",
        image->channels, image->pixel_stride);
  if (image->memory == STEREO_MEMORY_CUDA && plan->backend->choice != STEREO_BACKEND_CUDA)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "An image in device memory needs backend=cuda.");
  return STEREO_OK;
}

static StereoStatus
check_output (const StereoPlan *plan, const StereoOutput *output, StereoError *error)
{
  if (!output->data)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "There is no output buffer.");
  if (output->sample == STEREO_SAMPLE_U8 && plan->params.output == STEREO_OUTPUT_DEPTH)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "Depth does not fit 8-bit samples: use 16-bit ones.");
  return check_scale (&plan->params, output, error);
}

/* ---- running ----------------------------------------------------------------------------- */

static void
collect_times (StereoPlan *plan)
{
  memset (plan->stage_ms, 0, sizeof plan->stage_ms);
  for (int i = 0; i < plan->step_count; i++)
    for (int j = 0; j < plan->stage_count; j++)
      if (plan->stage_names[j] == plan->steps[i]->name)
        plan->stage_ms[j] += plan->backend->elapsed_ms (plan, i, i + 1);
}

StereoStatus
stereo_run_steps (StereoPlan *plan, int first, int end, StereoError *error)
{
  StereoStatus status = STEREO_OK;

  for (int i = first; i < end && !status; i++) {
    if (plan->profiling)
      plan->backend->mark (plan, i);
    status = plan->steps[i]->run (plan, error);
  }
  return status;
}

static StereoStatus
run_frame (StereoPlan *plan, StereoError *error)
{
  const StereoBackend *backend = plan->backend;
  StereoStatus status;

  if ((status = backend->begin (plan, error)))
    return status;
  backend->mark (plan, STEREO_MARK_STEPS);
  status = backend->run ? backend->run (plan, error) : stereo_run_steps (plan, 0, plan->step_count, error);
  if (status)
    return status;
  if (plan->profiling)
    backend->mark (plan, plan->step_count);
  backend->mark (plan, STEREO_MARK_DONE);
  if ((status = backend->end (plan, error)))
    return status;
  if (plan->profiling)
    collect_times (plan);
  return STEREO_OK;
}

StereoStatus
stereo_plan_execute (StereoPlan *plan, const StereoImage *left, const StereoImage *right, const StereoOutput *output,
    StereoStats *stats, StereoError *error)
{
  uint64_t start = now_ns ();
  StereoStatus status;

  if ((status = check_image (plan, left, error)) || (status = check_image (plan, right, error)) ||
      (status = check_output (plan, output, error)))
    return status;
  plan->input[STEREO_LEFT] = *left;
  plan->input[STEREO_RIGHT] = *right;
  plan->output = *output;
  int before = stereo_enter (plan);
  status = run_frame (plan, error);
  if (!status && stats)
    stats->steps_ns = (uint64_t) (plan->backend->elapsed_ms (plan, STEREO_MARK_STEPS, STEREO_MARK_DONE) * 1e6);
  stereo_leave (plan, before);
  if (status)
    return status;
  if (stats) {
    double pixels = (double) plan->width * plan->height;
    stats->valid_ratio = (double) plan->valid_count / pixels;
    stats->mean_confidence = plan->confidence_sum / pixels;
    stats->compute_ns = now_ns () - start;
  }
  return STEREO_OK;
}

/* ---- images where the backend reads them ------------------------------------------------- */

/* Bytes of a row from its first pixel on, to the last sample of its last one. */
static size_t
row_bytes (const StereoPlan *plan, const StereoImage *image)
{
  int last = 0;
  for (int c = 0; c < image->channels; c++)
    last = image->offset[c] > last ? image->offset[c] : last;
  return (size_t) (plan->width - 1) * (size_t) image->pixel_stride + (size_t) last + 1;
}

static StereoStatus
copy_image (StereoPlan *plan, const StereoImage *image, StereoImage *copy, StereoError *error)
{
  size_t row = row_bytes (plan, image), size = row * (size_t) plan->height;
  uint8_t *packed = malloc (size);
  void *place = packed ? plan->backend->allocate (plan, size, error) : NULL;
  StereoStatus status = STEREO_OK;

  if (!packed)
    status = stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a copy of an image of %zu bytes.", size);
  else if (!place)
    status = STEREO_ERROR_MEMORY;
  for (int y = 0; y < plan->height && !status; y++)
    memcpy (packed + (size_t) y * row, image->data + y * image->stride, row);
  if (!status && plan->backend->copy_in (plan, place, packed, size))
    status = stereo_fail (error, STEREO_ERROR_BACKEND, "An image of %zu bytes could not be copied to the device.", size);
  free (packed);
  if (status) {
    if (place)
      plan->backend->release (plan, place);
    return status;
  }
  *copy = *image;
  copy->data = place;
  copy->stride = (ptrdiff_t) row;
  copy->memory = plan->backend->choice == STEREO_BACKEND_CUDA ? STEREO_MEMORY_CUDA : STEREO_MEMORY_HOST;
  return STEREO_OK;
}

StereoStatus
stereo_plan_image_new (StereoPlan *plan, const StereoImage *image, StereoImage *copy, StereoError *error)
{
  StereoStatus status = check_image (plan, image, error);

  memset (copy, 0, sizeof *copy);
  if (status)
    return status;
  if (image->memory != STEREO_MEMORY_HOST)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "The image to copy must lie in host memory.");
  int before = stereo_enter (plan);
  status = copy_image (plan, image, copy, error);
  stereo_leave (plan, before);
  return status;
}

void
stereo_plan_image_free (StereoPlan *plan, StereoImage *copy)
{
  int before = stereo_enter (plan);

  if (copy->data)
    plan->backend->release (plan, (void *) copy->data);
  stereo_leave (plan, before);
  memset (copy, 0, sizeof *copy);
}
