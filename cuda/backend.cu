/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CUDA backend as a table: the device, its streams, memory and times, and the stages. transfer.cu copies images and
 * results, graph.cu runs the steps of a frame and lets kernels run beside them. */
#include "cuda/common.cuh"
#include "cuda/config.h"
#include "cuda/cost.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

constexpr int COPY_THREADS = 8; /* at most, of processors: with four of sixteen, copies take longer than the bus */
constexpr int OLDEST_MAJOR = 7; /* compute capability 7.5 */
constexpr int OLDEST_MINOR = 5;
StereoStatus
cuda_fail (StereoError *error, cudaError_t code, const char *call, const char *file, int line)
{
  const char *base = strrchr (file, '/'), *advice = "";

  cudaGetLastError (); /* clears the error: the next plan must not see it */
  if (cuda_note_failure (code))
    advice = " This process cannot use the device any more: restart it, or set backend=cpu.";
  else if (code == cudaErrorMemoryAllocation)
    advice = " The device's memory is full: reduce num-disparities or the size, or free some.";
  return stereo_fail (error, code == cudaErrorMemoryAllocation ? STEREO_ERROR_MEMORY : STEREO_ERROR_BACKEND,
      "CUDA failed: %.120s: %s (%s, at %s:%d).%s", call, cudaGetErrorString (code), cudaGetErrorName (code),
      base ? base + 1 : file, line, advice);
}

/* ---- the device ------------------------------------------------------------------------------ */

/* Whether the build has code for compute capability @major.@minor: machine code of the same major, or
 * PTX of an older one. */
static int
built_for (int major, int minor)
{
  char archs[] = STEREO_CUDA_ARCHS, *rest = NULL;

  for (char *arch = strtok_r (archs, " ", &rest); arch; arch = strtok_r (NULL, " ", &rest)) {
    int number = atoi (strchr (arch, '_') + 1), here = major * 10 + minor;
    if (number <= here && (arch[0] == 'c' || number / 10 == major))
      return 1;
  }
  return 0;
}

static int
device_available (int device, char *reason, size_t size)
{
  cudaDeviceProp properties;
  cudaError_t code = cudaGetDeviceProperties (&properties, device);

  if (code != cudaSuccess)
    snprintf (reason, size, "CUDA device %d does not answer (%s).", device, cudaGetErrorString (code));
  else if (properties.major * 10 + properties.minor < OLDEST_MAJOR * 10 + OLDEST_MINOR)
    snprintf (reason, size, "%s has compute capability %d.%d, and %d.%d is needed.", properties.name, properties.major,
        properties.minor, OLDEST_MAJOR, OLDEST_MINOR);
  else if (!built_for (properties.major, properties.minor))
    snprintf (reason, size, "%s has compute capability %d.%d, and this build has code for %s only.", properties.name,
        properties.major, properties.minor, STEREO_CUDA_ARCHS);
  else {
    snprintf (reason, size, "%s is usable.", properties.name);
    return 1;
  }
  return 0;
}

static int
cuda_available (int device, char *reason, size_t size)
{
  int count = 0, driver = 0, runtime = 0, usable = 0;
  cudaError_t code;

  if (cuda_device_failed (device, reason, size))
    return 0;
  code = cudaGetDeviceCount (&count);
  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  if (driver == 0)
    snprintf (reason, size, "There is no NVIDIA driver.");
  else if (code == cudaErrorInsufficientDriver)
    snprintf (reason, size, "The NVIDIA driver is too old: it knows CUDA %d.%d, and %d.%d is needed.", driver / 1000,
        driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0))
    snprintf (reason, size, "There is no CUDA device.");
  else if (code != cudaSuccess)
    snprintf (reason, size, "CUDA cannot be used (%s).", cudaGetErrorString (code));
  else if (device >= count)
    snprintf (reason, size, "There is no CUDA device %d: there are %d, numbered from 0.", device, count);
  else if (device == -2 && (code = cudaGetDevice (&device)) != cudaSuccess)
    snprintf (reason, size, "The current CUDA context cannot be used (%s).", cudaGetErrorString (code));
  else
    usable = device_available (device < 0 ? 0 : device, reason, size);
  cudaGetLastError ();
  return usable;
}

int
cuda_enter_device (int id)
{
  int before = -1, device = id < 0 ? 0 : id;

  if (id == -2 || cudaGetDevice (&before) != cudaSuccess || before == device)
    return -1;
  cudaSetDevice (device);
  return before;
}

void
cuda_leave_device (int before)
{
  if (before >= 0)
    cudaSetDevice (before);
}

/* ---- open, close ------------------------------------------------------------------------------- */

static StereoStatus
open_slot (StereoPlan *plan, CudaSlot *slot, StereoError *error)
{
  size_t pixels = (size_t) plan->width * (size_t) plan->height;

  for (int v = 0; v < 2; v++)
    CUDA_TRY (cudaHostAlloc ((void **) &slot->pinned_input[v], 4 * pixels, cudaHostAllocDefault));
  CUDA_TRY (cudaHostAlloc ((void **) &slot->pinned_results, cuda_results_most (plan), cudaHostAllocDefault));
  if (plan->params.align)
    CUDA_TRY (cudaHostAlloc ((void **) &slot->pinned_alignment, sizeof *slot->pinned_alignment, cudaHostAllocDefault));
  CUDA_TRY (cudaEventCreate (&slot->arrived));
  for (cudaEvent_t &uploaded : slot->uploaded)
    CUDA_TRY (cudaEventCreateWithFlags (&uploaded, cudaEventDisableTiming));
  for (cudaEvent_t &computed : slot->computed)
    CUDA_TRY (cudaEventCreateWithFlags (&computed, cudaEventDisableTiming));
  for (cudaEvent_t &ready : slot->ready)
    CUDA_TRY (cudaEventCreateWithFlags (&ready, cudaEventBlockingSync));
  return STEREO_OK;
}

static StereoStatus
open_device (StereoPlan *plan, CudaState *state, StereoError *error)
{
  StereoStatus status = STEREO_OK;
  int device, processors = (int) sysconf (_SC_NPROCESSORS_ONLN);
  int threads = processors < COPY_THREADS ? processors : COPY_THREADS;

  state->pool = stereo_pool_new (plan->params.threads ? plan->params.threads : threads);
  if (!state->pool)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CUDA backend's threads.");
  CUDA_TRY (cudaGetDevice (&device));
  CUDA_TRY (cudaDeviceGetAttribute (&state->shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  CUDA_TRY (cudaDeviceGetAttribute (&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
  /* the branches fill the device with what is needed later */
  CUDA_TRY (cudaStreamCreateWithPriority (&state->stream, cudaStreamNonBlocking, -1));
  CUDA_TRY (cudaStreamCreateWithFlags (&state->upload_stream, cudaStreamNonBlocking));
  CUDA_TRY (cudaStreamCreateWithFlags (&state->download_stream, cudaStreamNonBlocking));
  status = cuda_open_branches (plan, error);
  for (int k = 0; k < STEREO_MAX_IN_FLIGHT && !status; k++)
    status = open_slot (plan, &state->slot[k], error);
  return status;
}

static StereoStatus
cuda_open (StereoPlan *plan, StereoError *error)
{
  CudaState *state = (CudaState *) calloc (1, sizeof *state);
  const char *debug = getenv ("STEREO_DEBUG_SYNC"), *graph = getenv ("STEREO_CUDA_GRAPH");
  const char *fusion = getenv ("STEREO_CUDA_FUSION");

  if (!state)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CUDA backend.");
  plan->state = state;
  state->fault_at = cuda_fault_wanted ();
  state->debug_sync = debug && *debug && strcmp (debug, "0");
  state->no_graph = graph && !strcmp (graph, "0");
  plan->single_stages = fusion && !strcmp (fusion, "0");
  return open_device (plan, state, error);
}

/* After a fault every call returns an error, these calls too. */
static void
cuda_settle (StereoPlan *plan)
{
  CudaState *state = cuda_state (plan);
  cudaStream_t streams[] = { state->upload_stream, state->stream, state->download_stream };

  for (cudaStream_t stream : streams)
    if (stream)
      cuda_note_settled (cudaStreamSynchronize (stream));
  for (const CudaBranch &branch : state->branch)
    if (branch.stream)
      cuda_note_settled (cudaStreamSynchronize (branch.stream));
  cudaGetLastError ();
}

static void
close_slot (CudaSlot *slot)
{
  cudaEvent_t events[] = { slot->arrived, slot->uploaded[0], slot->uploaded[1], slot->computed[0], slot->computed[1] };

  for (cudaEvent_t event : events)
    if (event)
      cudaEventDestroy (event);
  for (cudaEvent_t event : slot->ready)
    if (event)
      cudaEventDestroy (event);
  cuda_free_graph (&slot->graph);
  for (int v = 0; v < 2; v++)
    cudaFreeHost (slot->pinned_input[v]);
  cudaFreeHost (slot->pinned_results);
  cudaFreeHost (slot->pinned_alignment);
}

static void
cuda_close (StereoPlan *plan)
{
  CudaState *state = cuda_state (plan);

  if (!state)
    return;
  cuda_settle (plan);
  for (cudaEvent_t event : state->events)
    if (event)
      cudaEventDestroy (event);
  for (int k = 0; k < STEREO_MAX_IN_FLIGHT; k++)
    close_slot (&state->slot[k]);
  cuda_close_branches (plan);
  cudaStream_t streams[] = { state->upload_stream, state->stream, state->download_stream };
  for (cudaStream_t stream : streams)
    if (stream)
      cudaStreamDestroy (stream);
  cudaGetLastError ();
  stereo_pool_free (state->pool);
  free (state);
  plan->state = NULL;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void *
cuda_allocate (StereoPlan *plan, size_t size, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  void *memory = NULL;
  cudaError_t code = cudaMalloc (&memory, size);

  if (code == cudaSuccess)
    code = cudaMemsetAsync (memory, 0, size, state->stream);
  if (code == cudaSuccess)
    code = cudaStreamSynchronize (state->stream);
  if (code != cudaSuccess) {
    size_t available = 0, total = 0;
    cudaFree (memory);
    memory = NULL;
    cudaGetLastError ();
    cudaMemGetInfo (&available, &total);
    cudaGetLastError ();
    stereo_fail (error, STEREO_ERROR_MEMORY,
        "%dx%d pixels with %d disparities need %zu bytes of device memory, and %zu of %zu are free (%s): reduce "
        "num-disparities or the size.",
        plan->width, plan->height, plan->disparities, size, available, total, cudaGetErrorString (code));
  }
  return memory;
}

static void
cuda_release (StereoPlan *plan, void *memory)
{
  cudaFree (memory);
  cudaGetLastError ();
}

static StereoStatus
copy_on (cudaStream_t stream, void *to, const void *from, size_t size)
{
  cudaError_t code = cudaMemcpyAsync (to, from, size, cudaMemcpyDefault, stream);

  if (code == cudaSuccess)
    code = cudaStreamSynchronize (stream);
  cudaGetLastError ();
  return code == cudaSuccess ? STEREO_OK : STEREO_ERROR_BACKEND;
}

/* After the steps of the frames in flight, and what runs beside them. */
static StereoStatus
cuda_copy (StereoPlan *plan, void *to, const void *from, size_t size)
{
  for (const CudaBranch &branch : cuda_state (plan)->branch)
    if (cudaStreamSynchronize (branch.stream) != cudaSuccess)
      return STEREO_ERROR_BACKEND;
  return copy_on (cuda_state (plan)->stream, to, from, size);
}

/* The view is the caller's and complete: it waits for no step. */
static StereoStatus
cuda_copy_view (StereoPlan *plan, void *host, const void *view, size_t size)
{
  return copy_on (cuda_state (plan)->upload_stream, host, view, size);
}

/* In the order of the stream: after the steps of the frames in flight. */
static StereoStatus
cuda_clear (StereoPlan *plan, void *memory, size_t size)
{
  cudaError_t code = cudaMemsetAsync (memory, 0, size, cuda_state (plan)->stream);

  cudaGetLastError ();
  return code == cudaSuccess ? STEREO_OK : STEREO_ERROR_BACKEND;
}

/* ---- frames -------------------------------------------------------------------------------------- */

void *
cuda_context_of (const StereoPlan *plan, const StereoStage *stage)
{
  for (int i = 0; i < plan->step_count; i++)
    if (plan->steps[i].stage == stage)
      return plan->steps[i].context;
  return NULL;
}

/* A moment without an event has the time 0. */
static void
cuda_mark (StereoPlan *plan, int index)
{
  CudaState *state = cuda_state (plan);

  if (!state->events[index] && cudaEventCreate (&state->events[index]) != cudaSuccess)
    state->events[index] = NULL;
  if (state->events[index])
    cudaEventRecord (state->events[index], state->stream);
}

static double
cuda_elapsed_ms (StereoPlan *plan, int from, int to)
{
  const cudaEvent_t *events = cuda_state (plan)->events;
  float ms = 0;

  if (!events[from] || !events[to] || cudaEventElapsedTime (&ms, events[from], events[to]) != cudaSuccess) {
    cudaGetLastError (); /* clears the error, which the next launch would report */
    ms = 0;
  }
  return ms;
}

/* ---- the table ----------------------------------------------------------------------------------- */

static constexpr StereoStageTable
make_stages ()
{
  StereoStageTable t = {};

  t.load = &stereo_cuda_load;
  t.align = &stereo_cuda_align;
  t.temporal = &stereo_cuda_temporal;
  t.features[STEREO_FEATURES_CENSUS_7X5] = &stereo_cuda_census_7x5;
  t.features[STEREO_FEATURES_CENSUS_9X7] = &stereo_cuda_census_9x7;
  t.features[STEREO_FEATURES_CENSUS_7X5_GRADIENT] = &stereo_cuda_mixed;
  t.lab = &stereo_cuda_lab;
  t.match[STEREO_METHOD_ASW] = stereo_cuda_asw;
  t.match[STEREO_METHOD_ESAW] = stereo_cuda_esaw;
  t.match[STEREO_METHOD_ESMP] = stereo_cuda_esmp;
  t.match[STEREO_METHOD_SGM] = stereo_cuda_sgm;
  t.match[STEREO_METHOD_BM] = stereo_cuda_bm;
  t.paths = &stereo_cuda_paths;
  t.select = &stereo_cuda_select;
  t.check = &stereo_cuda_check;
  t.refine[STEREO_REFINE_TWO_PASS] = &stereo_cuda_refine_two_pass;
  t.refine[STEREO_REFINE_FULL] = &stereo_cuda_refine_full;
  t.refine[STEREO_REFINE_IDR] = &stereo_cuda_refine_idr;
  t.reselect = &stereo_cuda_reselect;
  t.probability = &stereo_cuda_probability;
  t.motion = &stereo_cuda_motion;
  t.speckle = &stereo_cuda_speckle;
  t.fill = &stereo_cuda_fill;
  t.planes = &stereo_cuda_planes;
  t.gaps = &stereo_cuda_gaps;
  t.coarse = &stereo_cuda_coarse;
  t.keep = &stereo_cuda_keep;
  t.candidates = &stereo_cuda_candidates;
  t.list_match = stereo_cuda_list_match;
  t.prior = &stereo_cuda_prior;
  t.list_paths = &stereo_cuda_list_paths;
  /* these two replace subpixel, integer, reject, median, threshold and store, which stay NULL */
  t.disparity = &stereo_cuda_disparity;
  t.output = &stereo_cuda_output;
  t.fusible = { .coarse_paths_select = 1, .left_for_paths = 1, .keep_for_paths = 1 };
  return t;
}

static constexpr bool
has_every_method (const StereoStageTable &table)
{
  for (const auto &match : table.match)
    if (!match)
      return false;
  return true;
}

static constexpr bool
has_every_feature_set (const StereoStageTable &table)
{
  for (int set = STEREO_FEATURES_NONE + 1; set < STEREO_FEATURE_SETS; set++)
    if (!table.features[set])
      return false;
  return true;
}

static constexpr StereoStageTable stages = make_stages ();
static_assert (has_every_method (stages), "make_stages() has no line for a method of stereo.h");
static_assert (has_every_feature_set (stages), "make_stages() has no line for a feature set of exact/cost.h");

extern const StereoBackend stereo_backend_cuda = {
  .name = "cuda",
  .choice = STEREO_BACKEND_CUDA,
  .stages = stages,
  .available = cuda_available,
  .enter = [] (StereoPlan *plan) { return cuda_enter_device (plan->params.cuda_device_id); },
  .leave = [] (StereoPlan *plan, int before) { cuda_leave_device (before); },
  .open = cuda_open,
  .close = cuda_close,
  .allocate = cuda_allocate,
  .release = cuda_release,
  .begin = cuda_upload,
  .end = cuda_download,
  .collect = cuda_collect,
  .settle = cuda_settle,
  .ready = cuda_make_graph,
  .fork = cuda_fork,
  .run = cuda_run,
  .mark = cuda_mark,
  .elapsed_ms = cuda_elapsed_ms,
  .layers = NULL, /* no stage aggregates in layers */
  .copy_out = cuda_copy,
  .copy_in = cuda_copy,
  .copy_view = cuda_copy_view,
  .clear = cuda_clear,
  .remapper = &stereo_cuda_remapper,
};
