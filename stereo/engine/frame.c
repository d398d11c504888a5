/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames: refuses what cannot be computed, runs the steps, records the frames in flight. */
#include "stereo/engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- refusals ---------------------------------------------------------------------------- */

static StereoStatus
check_image (const StereoPlan *plan, const StereoImage *image, StereoError *error)
{
  if (!image->data || (image->channels != 1 && image->channels != 3) || image->pixel_stride < 1 ||
      image->pixel_stride > 8)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "An image needs data, 1 or 3 channels and a pixel stride of 1 to 8 bytes; it has %d channels and %d bytes.",
        image->channels, image->pixel_stride);
  for (int c = 0; c < image->channels; c++)
    if (image->offset[c] > 3)
      return stereo_fail (error, STEREO_ERROR_PARAMETER,
          "Samples of a pixel must lie within its first four bytes; sample %d lies at %d.", c, image->offset[c]);
  if (image->memory == STEREO_MEMORY_CUDA && plan->backend->choice != STEREO_BACKEND_CUDA)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "An image in device memory needs backend=cuda.");
  return STEREO_OK;
}

static StereoStatus
check_output (const StereoPlan *plan, const StereoOutput *output, StereoError *error)
{
  if (!output->data)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "There is no output buffer.");
  return stereo_params_check_sample (&plan->params, output->sample, error);
}

/* ---- running ----------------------------------------------------------------------------- */

static void
sum_stage_times (StereoPlan *plan)
{
  memset (plan->stage_ms, 0, sizeof plan->stage_ms);
  for (int i = 0; i < plan->step_count; i++)
    for (int j = 0; j < plan->stage_count; j++)
      if (plan->stage_names[j] == plan->steps[i].stage->name)
        plan->stage_ms[j] += plan->backend->elapsed_ms (plan, i, i + 1);
}

static StereoStatus
run_frame (StereoPlan *plan, StereoError *error)
{
  const StereoBackend *backend = plan->backend;
  StereoStatus status;

  if (backend->begin && (status = backend->begin (plan, error)))
    return status;
  backend->mark (plan, STEREO_MARK_STEPS (plan->slot));
  status = backend->run ? backend->run (plan, error) : stereo_run_steps (plan, 0, plan->step_count, error);
  if (status)
    return status;
  if (plan->profiling)
    backend->mark (plan, plan->step_count);
  backend->mark (plan, STEREO_MARK_DONE (plan->slot));
  return backend->end ? backend->end (plan, error) : STEREO_OK;
}

/* ---- in flight --------------------------------------------------------------------------- */

int
stereo_plan_in_flight (const StereoPlan *plan)
{
  return (int) (plan->submitted - plan->collected);
}

static StereoStatus
check_room (const StereoPlan *plan, StereoError *error)
{
  int flying = stereo_plan_in_flight (plan);

  if (plan->broken.status)
    return stereo_fail (
        error, plan->broken.status, "This plan failed before and can only be freed: %.400s", plan->broken.message);
  if (flying && plan->profiling)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "A frame is in flight, and while profiling there can be one: collect it before the next is submitted.");
  if (flying == STEREO_MAX_IN_FLIGHT)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "%d frames are in flight, as many as there can be: collect one before the next is submitted.", flying);
  return STEREO_OK;
}

StereoStatus
stereo_plan_submit (
    StereoPlan *plan, const StereoImage *left, const StereoImage *right, const StereoOutput *output, StereoError *error)
{
  uint64_t start = stereo_now_ns ();
  StereoStatus status;

  if ((status = check_room (plan, error)) || (status = check_image (plan, left, error)) ||
      (status = check_image (plan, right, error)) || (status = check_output (plan, output, error)))
    return status;
  plan->slot = (int) (plan->submitted++ % STEREO_MAX_IN_FLIGHT);
  plan->input[STEREO_LEFT] = *left;
  plan->input[STEREO_RIGHT] = *right;
  plan->output = *output;
  StereoFlight *flight = &plan->flights[plan->slot];
  *flight = (StereoFlight){ .output = *output, .profiled = plan->profiling, .start_ns = start };

  int before = stereo_enter (plan);
  stereo_align_before (plan);
  if (run_frame (plan, &flight->error)) {
    plan->broken = flight->error;
    /* Transfers that have begun must end before the images are the caller's again. */
    if (plan->backend->settle)
      plan->backend->settle (plan);
  } else {
    stereo_align_after (plan);
  }
  stereo_leave (plan, before);
  flight->ready_ns = stereo_now_ns ();
  return STEREO_OK;
}

static StereoStatus
collect_frame (StereoPlan *plan, StereoFlight *flight, StereoStats *stats, StereoError *error)
{
  const StereoBackend *backend = plan->backend;
  StereoStatus status = backend->collect ? backend->collect (plan, error) : STEREO_OK;

  if (status)
    return status;
  if (flight->profiled)
    sum_stage_times (plan);
  if (stats) {
    double pixels = (double) plan->width * plan->height;
    double ms = backend->elapsed_ms (plan, STEREO_MARK_STEPS (plan->slot), STEREO_MARK_DONE (plan->slot));
    stats->valid_ratio = (double) flight->valid_count / pixels;
    stats->mean_confidence = (double) flight->confidence_sum / 255 / pixels;
    stats->compute_ns = flight->ready_ns - flight->start_ns;
    stats->steps_ns = (uint64_t) (ms * 1e6);
  }
  return STEREO_OK;
}

StereoStatus
stereo_plan_collect (StereoPlan *plan, StereoStats *stats, StereoError *error)
{
  StereoError failure = { STEREO_OK, "" };

  if (!stereo_plan_in_flight (plan))
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "No frame is in flight: submit one before collecting.");
  plan->slot = (int) (plan->collected++ % STEREO_MAX_IN_FLIGHT);
  StereoFlight *flight = &plan->flights[plan->slot];
  plan->output = flight->output;
  if (flight->error.status) {
    failure = flight->error;
  } else {
    int before = stereo_enter (plan);
    if (collect_frame (plan, flight, stats, &failure))
      plan->broken = failure;
    stereo_leave (plan, before);
  }
  if (failure.status && error)
    *error = failure;
  return failure.status;
}

StereoStatus
stereo_plan_execute (StereoPlan *plan, const StereoImage *left, const StereoImage *right, const StereoOutput *output,
    StereoStats *stats, StereoError *error)
{
  StereoStatus status;

  if (stereo_plan_in_flight (plan))
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "%d frames are in flight: collect them before one is executed.",
        stereo_plan_in_flight (plan));
  status = stereo_plan_submit (plan, left, right, output, error);
  return status ? status : stereo_plan_collect (plan, stats, error);
}

StereoStatus
stereo_plan_forget (StereoPlan *plan, StereoError *error)
{
  size_t size = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  int before = stereo_enter (plan), failed = 0;

  for (int v = 0; v < 2; v++)
    if (plan->past[v].count)
      failed |= plan->backend->clear (plan, plan->past[v].count, size) != STEREO_OK;
  if (plan->last.age)
    failed |= plan->backend->clear (plan, plan->last.age, size) != STEREO_OK;
  if (plan->last.predicted)
    failed |= plan->backend->clear (plan, plan->last.predicted, stereo_times (size, sizeof *plan->last.predicted)) !=
        STEREO_OK;
  stereo_leave (plan, before);
  return failed ? stereo_fail (error, STEREO_ERROR_BACKEND, "The device did not forget the frames before.") : STEREO_OK;
}

/* ---- images where the backend reads them ------------------------------------------------- */

/* Bytes of a row from its first pixel on, to the last sample of its last one. */
static size_t
row_bytes (const StereoPlan *plan, const StereoImage *image)
{
  int first, last;
  stereo_sample_range (image, &first, &last);
  return (size_t) (plan->width - 1) * (size_t) image->pixel_stride + (size_t) last + 1;
}

static StereoStatus
copy_image (StereoPlan *plan, const StereoImage *image, StereoImage *copy, StereoError *error)
{
  size_t row = row_bytes (plan, image), size = stereo_times (row, (size_t) plan->height);
  uint8_t *packed = size < SIZE_MAX ? malloc (size) : NULL;
  void *place = packed ? plan->backend->allocate (plan, size, error) : NULL;
  StereoStatus status = STEREO_OK;

  if (!packed)
    status = stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a copy of an image of %zu bytes.", size);
  else if (!place)
    status = STEREO_ERROR_MEMORY;
  for (int y = 0; y < plan->height && !status; y++)
    memcpy (packed + (size_t) y * row, image->data + y * image->stride, row);
  if (!status && plan->backend->copy_in (plan, place, packed, size))
    status = stereo_fail (error, STEREO_ERROR_BACKEND, "An image of %zu bytes did not reach the device.", size);
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
