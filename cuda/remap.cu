/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remapping on the device: planes go up through pinned memory, one kernel a plane, results come back the same way; what
 * lies in device memory stays there.
 */
#include "cuda/common.cuh"

#include "stereo/engine/remap.h"

#include <stdlib.h>
#include <string.h>

#define COPY_THREADS 4
#define COPY_BANDS 8 /* of a plane, for the threads that copy */
#define BLOCK_X 32
#define BLOCK_Y 8

struct CudaRemapPlane
{
  StereoRemapLayout source, target; /* of what is staged */
  ptrdiff_t source_row, target_row; /* bytes */
  uint8_t *pinned_source, *pinned_target;
  uint8_t *device_source, *device_target;
};

struct CudaRemapTable
{
  uint32_t *position;
  uint16_t *fraction;
};

struct CudaRemap
{
  cudaStream_t stream;
  StereoPool *pool;
  CudaRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  CudaRemapTable tables[STEREO_REMAP_MAX_PLANES];
};

static CudaRemap *
remap_state (const StereoRemap *remap)
{
  return (CudaRemap *) remap->state;
}

/* ---- open, close ------------------------------------------------------------------------------- */

/* Rows go up as they lie, from their first sample to their last, and come back without what lies between the channels. */
static StereoStatus
open_plane (StereoRemap *remap, int p, StereoError *error)
{
  const StereoRemapPlane *plane = &remap->planes[p];
  const StereoRemapTable *table = &remap->tables[remap->table_of[p]];
  CudaRemapPlane *own = &remap_state (remap)->planes[p];
  int first, last;

  stereo_remap_range (&plane->source, plane->channels, &first, &last);
  own->source = plane->source;
  own->target.pixel_stride = plane->channels;
  for (int c = 0; c < plane->channels; c++) {
    own->source.offset[c] = (uint8_t) (plane->source.offset[c] - first);
    own->target.offset[c] = (uint8_t) c;
  }
  own->target_row = (ptrdiff_t) table->width * plane->channels;
  own->source_row = (ptrdiff_t) (table->source_width - 1) * plane->source.pixel_stride + last - first + 1;
  size_t source = (size_t) own->source_row * (size_t) table->source_height;
  size_t target = (size_t) own->target_row * (size_t) table->height;
  CUDA_TRY (cudaHostAlloc ((void **) &own->pinned_source, source, cudaHostAllocDefault));
  CUDA_TRY (cudaHostAlloc ((void **) &own->pinned_target, target, cudaHostAllocDefault));
  CUDA_TRY (cudaMalloc ((void **) &own->device_source, source));
  CUDA_TRY (cudaMalloc ((void **) &own->device_target, target));
  return STEREO_OK;
}

static StereoStatus
open_table (StereoRemap *remap, int t, StereoError *error)
{
  CudaRemap *state = remap_state (remap);
  const StereoRemapTable *table = &remap->tables[t];
  CudaRemapTable *own = &state->tables[t];
  size_t entries = (size_t) table->pitch * (size_t) table->height;

  CUDA_TRY (cudaMalloc ((void **) &own->position, entries * sizeof *own->position));
  CUDA_TRY (cudaMalloc ((void **) &own->fraction, entries * sizeof *own->fraction));
  CUDA_TRY (cudaMemcpyAsync (
      own->position, table->position, entries * sizeof *own->position, cudaMemcpyHostToDevice, state->stream));
  CUDA_TRY (cudaMemcpyAsync (
      own->fraction, table->fraction, entries * sizeof *own->fraction, cudaMemcpyHostToDevice, state->stream));
  return STEREO_OK;
}

static StereoStatus
open_device (StereoRemap *remap, StereoError *error)
{
  CudaRemap *state = remap_state (remap);
  StereoStatus status = STEREO_OK;

  state->pool = stereo_pool_new (remap->threads ? remap->threads : COPY_THREADS);
  if (!state->pool)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CUDA backend's threads.");
  CUDA_TRY (cudaStreamCreateWithFlags (&state->stream, cudaStreamNonBlocking));
  for (int t = 0; t < remap->table_count && !status; t++)
    status = open_table (remap, t, error);
  for (int p = 0; p < remap->plane_count && !status; p++)
    status = open_plane (remap, p, error);
  if (!status)
    CUDA_TRY (cudaStreamSynchronize (state->stream));
  return status;
}

static StereoStatus
remap_open (StereoRemap *remap, StereoError *error)
{
  int before = cuda_enter_device (remap->cuda_device_id);
  StereoStatus status;

  remap->state = calloc (1, sizeof (CudaRemap));
  status = remap->state ? open_device (remap, error) :
                          stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CUDA backend.");
  cuda_leave_device (before);
  return status;
}

/* Failures are of no use here: after a fault every call returns it. */
static void
remap_close (StereoRemap *remap)
{
  CudaRemap *state = remap_state (remap);
  int before;

  if (!state)
    return;
  before = cuda_enter_device (remap->cuda_device_id);
  if (state->stream)
    cuda_note_failure (cudaStreamSynchronize (state->stream));
  for (CudaRemapPlane &plane : state->planes) {
    cudaFreeHost (plane.pinned_source);
    cudaFreeHost (plane.pinned_target);
    cudaFree (plane.device_source);
    cudaFree (plane.device_target);
  }
  for (CudaRemapTable &table : state->tables) {
    cudaFree (table.position);
    cudaFree (table.fraction);
  }
  if (state->stream)
    cudaStreamDestroy (state->stream);
  cudaGetLastError ();
  stereo_pool_free (state->pool);
  cuda_leave_device (before);
  free (state);
  remap->state = NULL;
}

/* ---- copies on the host ------------------------------------------------------------------------ */

static int
band (int height, int number)
{
  return (int) ((int64_t) height * number / COPY_BANDS);
}

static void
pack_band (void *work, int item, int thread)
{
  const StereoRemap *remap = (const StereoRemap *) work;
  int p = item / COPY_BANDS, number = item % COPY_BANDS, first, last;
  const StereoRemapPlane *plane = &remap->planes[p];
  const StereoRemapTable *table = &remap->tables[remap->table_of[p]];
  const CudaRemapPlane *own = &remap_state (remap)->planes[p];
  const StereoRemapSource *source = &remap->sources[p];

  if (source->memory != STEREO_MEMORY_HOST)
    return;
  stereo_remap_range (&plane->source, plane->channels, &first, &last);
  for (int y = band (table->source_height, number); y < band (table->source_height, number + 1); y++)
    memcpy (
        own->pinned_source + y * own->source_row, source->data + y * source->stride + first, (size_t) own->source_row);
}

/* What lies between the samples of the caller's picture is not ours. */
static void
unpack_band (void *work, int item, int thread)
{
  const StereoRemap *remap = (const StereoRemap *) work;
  int p = item / COPY_BANDS, number = item % COPY_BANDS;
  const StereoRemapPlane *plane = &remap->planes[p];
  const StereoRemapTable *table = &remap->tables[remap->table_of[p]];
  const CudaRemapPlane *own = &remap_state (remap)->planes[p];
  const StereoRemapTarget *target = &remap->targets[p];
  int dense = plane->target.pixel_stride == plane->channels;

  if (target->memory != STEREO_MEMORY_HOST)
    return;
  for (int c = 0; c < plane->channels; c++)
    dense = dense && plane->target.offset[c] == c;
  for (int y = band (table->height, number); y < band (table->height, number + 1); y++) {
    uint8_t *to = target->data + y * target->stride;
    const uint8_t *from = own->pinned_target + y * own->target_row;
    if (dense)
      memcpy (to, from, (size_t) own->target_row);
    else
      for (int x = 0; x < table->width; x++, to += plane->target.pixel_stride)
        for (int c = 0; c < plane->channels; c++)
          to[plane->target.offset[c]] = *from++;
  }
}

/* ---- the kernel -------------------------------------------------------------------------------- */

/* By value. */
struct RemapJob
{
  const uint32_t *position;
  const uint16_t *fraction;
  const uint8_t *source;
  uint8_t *target;
  ptrdiff_t source_stride, target_stride;
  int pitch, width, height, source_width, source_height, channels;
  int source_step, target_step;
  uint8_t source_offset[STEREO_REMAP_MAX_CHANNELS], target_offset[STEREO_REMAP_MAX_CHANNELS];
  uint8_t border[STEREO_REMAP_MAX_CHANNELS];
};

/* A thread makes one sample with all its channels. Neighbours read neighbouring table entries, and where the map is
 * smooth neighbouring samples, which the caches hold: the tables are most of what is read. */
static __global__ void
remap_kernel (const __grid_constant__ RemapJob job)
{
  int u = (int) (blockIdx.x * BLOCK_X + threadIdx.x), v = (int) (blockIdx.y * BLOCK_Y + threadIdx.y);

  if (u >= job.width || v >= job.height)
    return;
  size_t at = (size_t) v * (size_t) job.pitch + (size_t) u;
  uint32_t position = job.position[at], fraction = job.fraction[at];
  int x = (int16_t) (position & 0xFFFF), y = (int16_t) (position >> 16);
  uint8_t *to = job.target + v * job.target_stride + (ptrdiff_t) u * job.target_step;
  for (int c = 0; c < job.channels; c++) {
    int offset = job.source_offset[c];
    uint32_t border = job.border[c], tap[4];
    for (int k = 0; k < 4; k++)
      tap[k] = stereo_remap_tap (job.source, job.source_stride, job.source_step, x + (k & 1), y + (k >> 1),
          job.source_width, job.source_height, offset, border);
    to[job.target_offset[c]] = (uint8_t) stereo_remap_blend (
        tap[0], tap[1], tap[2], tap[3], fraction & 255, fraction >> 8);
  }
}

static RemapJob
make_job (const StereoRemap *remap, int p)
{
  const CudaRemap *state = remap_state (remap);
  const StereoRemapPlane *plane = &remap->planes[p];
  const StereoRemapTable *table = &remap->tables[remap->table_of[p]];
  const CudaRemapPlane *own = &state->planes[p];
  int source_stays = remap->sources[p].memory == STEREO_MEMORY_CUDA;
  int target_stays = remap->targets[p].memory == STEREO_MEMORY_CUDA;
  const StereoRemapLayout *source = source_stays ? &plane->source : &own->source;
  const StereoRemapLayout *target = target_stays ? &plane->target : &own->target;
  RemapJob job = {};

  job.position = state->tables[remap->table_of[p]].position;
  job.fraction = state->tables[remap->table_of[p]].fraction;
  job.source = source_stays ? remap->sources[p].data : own->device_source;
  job.source_stride = source_stays ? remap->sources[p].stride : own->source_row;
  job.target = target_stays ? remap->targets[p].data : own->device_target;
  job.target_stride = target_stays ? remap->targets[p].stride : own->target_row;
  job.pitch = table->pitch;
  job.width = table->width;
  job.height = table->height;
  job.source_width = table->source_width;
  job.source_height = table->source_height;
  job.channels = plane->channels;
  job.source_step = source->pixel_stride;
  job.target_step = target->pixel_stride;
  memcpy (job.source_offset, source->offset, sizeof job.source_offset);
  memcpy (job.target_offset, target->offset, sizeof job.target_offset);
  memcpy (job.border, plane->border, sizeof job.border);
  return job;
}

static StereoStatus
run_plane (StereoRemap *remap, int p, StereoError *error)
{
  CudaRemap *state = remap_state (remap);
  const StereoRemapTable *table = &remap->tables[remap->table_of[p]];
  const CudaRemapPlane *own = &state->planes[p];
  RemapJob job = make_job (remap, p);
  dim3 grid (cuda_blocks ((size_t) job.width, BLOCK_X), cuda_blocks ((size_t) job.height, BLOCK_Y));

  if (remap->sources[p].memory == STEREO_MEMORY_HOST)
    CUDA_TRY (cudaMemcpyAsync (own->device_source, own->pinned_source,
        (size_t) own->source_row * (size_t) table->source_height, cudaMemcpyHostToDevice, state->stream));
  remap_kernel<<<grid, dim3 (BLOCK_X, BLOCK_Y), 0, state->stream>>> (job);
  CUDA_TRY (cudaGetLastError ());
  if (remap->targets[p].memory == STEREO_MEMORY_HOST)
    CUDA_TRY (cudaMemcpyAsync (own->pinned_target, own->device_target,
        (size_t) own->target_row * (size_t) table->height, cudaMemcpyDeviceToHost, state->stream));
  return STEREO_OK;
}

static StereoStatus
run_planes (StereoRemap *remap, StereoError *error)
{
  CudaRemap *state = remap_state (remap);
  StereoStatus status = STEREO_OK;

  stereo_pool_run (state->pool, remap, pack_band, remap->plane_count * COPY_BANDS);
  for (int p = 0; p < remap->plane_count && !status; p++)
    status = run_plane (remap, p, error);
  if (status)
    return status;
  CUDA_TRY (cudaStreamSynchronize (state->stream));
  stereo_pool_run (state->pool, remap, unpack_band, remap->plane_count * COPY_BANDS);
  return STEREO_OK;
}

static StereoStatus
remap_run (StereoRemap *remap, StereoError *error)
{
  int before = cuda_enter_device (remap->cuda_device_id);
  StereoStatus status = run_planes (remap, error);

  cuda_leave_device (before);
  return status;
}

extern const StereoRemapper stereo_cuda_remapper = { .open = remap_open, .close = remap_close, .run = remap_run };
