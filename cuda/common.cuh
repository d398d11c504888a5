/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the CUDA stages share. Stages only launch on the plan's one stream for them, and the one wait is in
 * the backend's collect(). A launcher stands in the file of its kernel and checks its launch.
 */
#ifndef STEREO_CUDA_COMMON_CUH
#define STEREO_CUDA_COMMON_CUH

#include <cuda_runtime.h>
#include <math.h>

#include "stereo/engine/backend.h"

/* Sizes and all that is multiplied by rows of the volume is 64 bits wide: the largest volume has 2^40 elements. What is
 * less says so beside it. */
static_assert (sizeof (size_t) == 8 && sizeof (ptrdiff_t) == 8, "sizes");
/* Grids count columns, rows or candidates, never their products, along any axis; y and z take 65535. */
static_assert (STEREO_MAX_SIDE <= 65535 && STEREO_MAX_DISPARITIES <= 65535, "grids");

/* graph.cu: the steps of the frames of a slot, as they were captured. */
struct CudaGraph
{
  cudaGraph_t steps;
  cudaGraphExec_t launchable;   /* NULL: there is none */
  cudaGraphNode_t load;         /* of @steps: the one that is told of other images */
  StereoImage source[2];        /* which it reads */
  StereoSample sample;          /* what the last step writes */
};

/* What a frame in flight has to itself. */
struct CudaSlot
{
  uint8_t *pinned_input[2], *pinned_results;
  uint8_t *input[2];            /* device staging, 4 bytes a pixel */
  uint8_t *results;             /* device: see transfer.cu */
  CudaGraph graph;
  cudaEvent_t arrived;          /* the upload stream has come to this frame */
  cudaEvent_t uploaded, computed, ready;        /* its images on the device; its results there; and on the host */
  uint64_t arrived_ns;          /* about when, by the host's clock */
};

/* What all stages of a plan share; what only one stage needs stands in that stage's context. */
struct CudaState
{
  int shared_per_block, multiprocessors;        /* of the device: bytes that a block may have, and a count */
  int debug_sync;               /* STEREO_DEBUG_SYNC: wait after every stage */
  unsigned fault_at;            /* STEREO_TEST_FAULT: the frame, from 1, whose kernel reads an invalid address; 0: none */
  cudaStream_t stream;          /* of the steps */
  cudaStream_t upload_stream, download_stream;
  CudaSlot slot[STEREO_MAX_IN_FLIGHT];
  StereoPool *pool;             /* threads that copy images and results on the host */
  cudaEvent_t events[STEREO_MARKS];     /* each is created at its first mark */

  int no_graph;                 /* STEREO_CUDA_GRAPH=0, for tests */
  int has_graph;                /* frames run as one graph; otherwise kernels are launched one by one */

  StereoImage source[2];        /* what load reads: a slot's @input, or the caller's device memory */
};

static inline CudaState *
cuda_state (const StereoPlan *plan)
{
  return (CudaState *) plan->state;
}

/* Turns a failed call into STEREO_ERROR_BACKEND with the call, the error and the place. */
StereoStatus cuda_fail (StereoError *error, cudaError_t code, const char *call, const char *file, int line);

#define CUDA_TRY(call) \
  do { \
    cudaError_t code_ = (call); \
    if (code_ != cudaSuccess) \
      return cuda_fail (error, code_, #call, __FILE__, __LINE__); \
  } while (0)

/* After a launch: its own failure, and with STEREO_DEBUG_SYNC what the kernel did. Ends the function. */
#define CUDA_LAUNCHED(plan, kernel) \
  do { \
    cudaError_t code_ = cudaGetLastError (); \
    if (code_ == cudaSuccess && cuda_state (plan)->debug_sync) \
      code_ = cudaStreamSynchronize (cuda_state (plan)->stream); \
    if (code_ != cudaSuccess) \
      return cuda_fail (error, code_, kernel, __FILE__, __LINE__); \
  } while (0)

/* transfer.cu: host images to the device, results on their way back, results to the caller: the one wait of a frame. */
StereoStatus cuda_upload (StereoPlan *plan, StereoError *error);
StereoStatus cuda_download (StereoPlan *plan, StereoError *error);
StereoStatus cuda_collect (StereoPlan *plan, StereoError *error);
/* Results of a frame, together so that one copy takes them: two counts (valid samples, sum of confidence bytes),
 * samples, confidence; rows without gaps. */
#define CUDA_SAMPLES_AT 256
size_t cuda_confidence_at (const StereoPlan *plan);
size_t cuda_results_most (const StereoPlan *plan);

/* graph.cu: all steps as one launch where that can be; the plan's reason says whether. */
void cuda_make_graph (StereoPlan *plan);
StereoStatus cuda_run (StereoPlan *plan, StereoError *error);
void cuda_free_graph (CudaGraph *graph);
/* load.cu: a graph whose @node is load's kernel is to read the images of the frame at hand. */
cudaError_t cuda_load_source (const StereoPlan *plan, cudaGraphExec_t graph, cudaGraphNode_t node);

/* fault.cu: whether a call's result means that the process has lost the device; that is kept. */
int cuda_note_failure (cudaError_t code);
/* The same of what waiting for a stream of a plan returned. */
void cuda_note_settled (cudaError_t code);
/* Whether it was lost, and a sentence that says so. */
int cuda_device_failed (int device, char *reason, size_t size);

/* fault.cu: the frame that STEREO_TEST_FAULT=kernel:FRAME names, or 0; and what happens to it. */
unsigned cuda_fault_wanted (void);
StereoStatus cuda_fault (StereoPlan *plan, StereoError *error);

/* backend.cu: the context of @stage in this plan, for what a stage hands over to a later one. NULL: the plan does not run
 * @stage. */
void *cuda_context_of (const StereoPlan *plan, const StereoStage *stage);

static inline unsigned
cuda_blocks (size_t items, size_t per_block)
{
  return (unsigned) ((items + per_block - 1) / per_block);
}

/* As __syncthreads(), where warps of a block may wait at different places in the program. That one is a PTX barrier
 * .aligned, which all threads of a block have to execute at one place ("otherwise behavior is undefined"); this one is
 * not, and only counts who has come. Each warp has to come as many times. */
static __device__ __forceinline__ void
cuda_sync_warps ()
{
  asm volatile ("barrier.sync 0;" ::: "memory");
}

/* A support weight, 2^(color * SAD + distance): exp (-SAD / gamma_color - distance / gamma_distance) with base-2
 * factors (4.4.1). The sum of SAD and the bits of 2^23 is a float's bits: cheaper than a conversion. */
static __device__ __forceinline__ float
cuda_weight (uint32_t a, uint32_t b, float color, float distance)
{
  uint32_t bits;
  float weight;
  asm ("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r" (bits) : "r" (a), "r" (b), "r" (0x4B000000u));
  float exponent = fmaf (__uint_as_float (bits) - 8388608.0f, color, distance);
  asm ("ex2.approx.ftz.f32 %0, %1;" : "=f" (weight) : "f" (exponent));
  return weight;
}

/* Geometry and pointers a kernel needs, by value. */
struct Frame
{
  int width, height, min_disparity, disparities, depth;
  int image_pitch, map_pitch;
  int volume_unit;
  uint32_t alpha;
  StereoView view[2];
  uint16_t *volume;
  float *disparity;
};

static inline Frame
cuda_frame (const StereoPlan *p)
{
  Frame f = { p->width, p->height, p->min_disparity, p->disparities, p->depth, p->image_pitch, p->map_pitch,
    p->volume_unit, p->alpha, { p->view[0], p->view[1] }, p->volume, p->disparity };
  return f;
}

/* Stages, one file or more each; the table in backend.cu names them all. */
extern const StereoStage stereo_cuda_load, stereo_cuda_census_7x5, stereo_cuda_census_9x7, stereo_cuda_mixed;
extern const StereoStage stereo_cuda_select, stereo_cuda_reselect, stereo_cuda_reselect_last, stereo_cuda_check;
extern const StereoStage stereo_cuda_refine_two_pass, stereo_cuda_refine_full, stereo_cuda_refine_idr;
extern const StereoStage stereo_cuda_disparity, stereo_cuda_speckle, stereo_cuda_fill, stereo_cuda_output;
const StereoStage *stereo_cuda_asw (const StereoParams *params);
const StereoStage *stereo_cuda_bm (const StereoParams *params);
const StereoStage *stereo_cuda_esaw (const StereoParams *params);
const StereoStage *stereo_cuda_esmp (const StereoParams *params);
const StereoStage *stereo_cuda_sgm (const StereoParams *params);

#endif
