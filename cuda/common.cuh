/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the CUDA stages share. Stages launch kernels on the plan's one stream for steps and do not wait; the backend
 * waits once, in collect(). A launcher is in the same file as its kernel, and checks the launch.
 */
#ifndef STEREO_CUDA_COMMON_CUH
#define STEREO_CUDA_COMMON_CUH

#include <cuda_runtime.h>
#include <math.h>

#include "stereo/engine/backend.h"

/* Sizes and offsets into the volume have 64 bits: the largest volume has 2^40 elements. Where 32 bits are enough, a
 * static_assert beside the code says why. */
static_assert (sizeof (size_t) == 8 && sizeof (ptrdiff_t) == 8, "sizes");
/* Each axis of a grid counts columns, rows or candidates, never a product of them; y and z are at most 65535. */
static_assert (STEREO_MAX_SIDE <= 65535 && STEREO_MAX_DISPARITIES <= 65535, "grids");

/* graph.cu: the captured steps of the frames of a slot. */
struct CudaGraph
{
  cudaGraph_t steps;
  cudaGraphExec_t launchable; /* NULL: nothing is captured */
  cudaGraphNode_t load;       /* the node of @steps that reads the images */
  StereoImage source[2];      /* the images that @load reads */
  StereoSample sample;        /* that the last step writes */
  bool aligns;                /* has kernels of the align stage */
  int first_view;             /* of its load and temporal */
};

constexpr int CUDA_BANDS = 64; /* of a picture, which several threads copy on the host */
constexpr int CUDA_PARTS = 8;  /* of large results, which are copied to the host one after the other */
constexpr int CUDA_EARLY = 2;  /* of these parts, which are made before the others */

/* Memory and events of one frame in flight. */
struct CudaSlot
{
  uint8_t *pinned_input[2], *pinned_results;
  StereoAlignSteps *pinned_alignment; /* NULL with align=off */
  uint8_t *input[2];                  /* device staging, 4 bytes a pixel */
  uint8_t *results;                   /* device: see transfer.cu */
  CudaGraph graph;
  cudaEvent_t arrived;           /* recorded when the upload stream reaches this frame */
  cudaEvent_t uploaded[2];       /* a view on the device */
  cudaEvent_t computed[2];       /* early parts of the results on the device; all others */
  cudaEvent_t ready[CUDA_PARTS]; /* a part of the results on the host */
  int band;                      /* the first one that threads copy now */
  uint64_t arrived_ns;           /* about the same moment as @arrived on the host's clock */
};

/* What runs beside the steps. */
struct CudaBranch
{
  cudaStream_t stream;
  cudaEvent_t fork, done;
  bool open; /* something was launched on it, and no step has joined it since */
};

/* Maps that selection writes besides the frame state, for reselection and the disparity. The select stage reserves them. */
struct Selection
{
  uint32_t *costs[2]; /* of both views: cost of first | cost of second << 16; NULL: nobody reads them */
  float *offset;      /* sub-pixel offset of the left view's first; NULL: the plan fits no sub-pixel */
};

/* What all stages of a plan share. What only one stage needs is in the context of that stage. */
struct CudaState
{
  int shared_per_block, multiprocessors; /* of the device: bytes that a block may have, and a count */
  int debug_sync;                        /* STEREO_DEBUG_SYNC: wait after every stage */
  unsigned fault_at;   /* STEREO_TEST_FAULT: the frame, from 1, whose kernel reads an invalid address; 0: none */
  cudaStream_t stream; /* of the steps */
  CudaBranch branch[STEREO_BRANCHES - 1]; /* without STEREO_WITH_STEPS */
  cudaStream_t upload_stream, download_stream;
  StereoPool *pool;                 /* threads that copy images and results on the host */
  cudaEvent_t events[STEREO_MARKS]; /* each is created at its first mark */

  int no_graph;  /* STEREO_CUDA_GRAPH=0, for tests */
  int has_graph; /* frames run as one graph; otherwise kernels are launched one by one */

  StereoImage source[2]; /* what load reads: a slot's @input, or the caller's device memory */

  /* Scratch memory that one stage writes and another one reads. The plans of all levels share it: the coarsest level has the first three,
   * the finest one the last. */
  Selection selection;
  uint8_t *path_costs;   /* [y][x][i]: what paths read; 0 where there is no candidate */
  uint16_t *means;       /* [y][x][i]: of match_for_keep: costs as in the volume */
  uint8_t *distinctness; /* of each cell, of a plan that searches coarse to fine: list_paths leaves it to probability */

  CudaSlot slot[STEREO_MAX_IN_FLIGHT];
  int first_view,
      views; /* that load, align and temporal work on: both, or the left one while the right one is on its way */
};

static inline CudaState *
cuda_state (const StereoPlan *plan)
{
  return (CudaState *) plan->state;
}

/*
 * graph.cu, for a stage's run: the stream for its early work, and the one for its late work (StereoStep). Before work that reads what
 * early work wrote, or that changes what a late work may read, cuda_join() lets the steps wait for the branches that this step
 * joins. In a graph they are branches too.
 */
StereoStatus cuda_begin_early (StereoPlan *plan, cudaStream_t *stream, StereoError *error);
StereoStatus cuda_begin_late (StereoPlan *plan, cudaStream_t *stream, StereoError *error);
StereoStatus cuda_join (StereoPlan *plan, StereoError *error);
/* For the backend. */
StereoStatus cuda_open_branches (StereoPlan *plan, StereoError *error);
void cuda_close_branches (StereoPlan *plan);
StereoStatus cuda_fork (StereoPlan *plan, unsigned branches, StereoError *error);

/* backend.cu: makes the device of a cuda-device-id current, and returns the one to come back to; -1: it is that already. */
int cuda_enter_device (int id);
void cuda_leave_device (int before);

/* Turns a failed call into STEREO_ERROR_BACKEND with the call, the error and the place. */
StereoStatus cuda_fail (StereoError *error, cudaError_t code, const char *call, const char *file, int line);

#define CUDA_TRY(call) \
  do { \
    cudaError_t code_ = (call); \
    if (code_ != cudaSuccess) \
      return cuda_fail (error, code_, #call, __FILE__, __LINE__); \
  } while (0)

/* After a launch: returns from the function if the launch failed, with STEREO_DEBUG_SYNC also if the kernel failed. */
#define CUDA_LAUNCHED(plan, kernel) \
  do { \
    cudaError_t code_ = cudaGetLastError (); \
    if (code_ == cudaSuccess && cuda_state (plan)->debug_sync) \
      code_ = cudaStreamSynchronize (cuda_state (plan)->stream); \
    for (CudaBranch & b_ : cuda_state (plan)->branch) \
      if (code_ == cudaSuccess && cuda_state (plan)->debug_sync) \
        code_ = cudaStreamSynchronize (b_.stream); \
    if (code_ != cudaSuccess) \
      return cuda_fail (error, code_, kernel, __FILE__, __LINE__); \
  } while (0)

/* transfer.cu: images to the device; results to pinned memory; results to the caller, which is the one wait of a
 * frame. */
StereoStatus cuda_upload (StereoPlan *plan, StereoError *error);
StereoStatus cuda_download (StereoPlan *plan, StereoError *error);
StereoStatus cuda_collect (StereoPlan *plan, StereoError *error);
/* Results of a frame: two counts (valid samples, sum of confidence bytes) of the early parts and two of the others, then rows: samples,
 * confidence. @part begins with row cuda_part(). */
constexpr size_t CUDA_ROWS_AT = 256;
size_t cuda_result_row (const StereoPlan *plan);
size_t cuda_results_most (const StereoPlan *plan);
int cuda_parts (const StereoPlan *plan);
int cuda_part (const StereoPlan *plan, int part);

/* graph.cu: captures the steps as one graph if possible, and says in the plan's reason whether it was; runs a frame. */
void cuda_make_graph (StereoPlan *plan);
StereoStatus cuda_run (StereoPlan *plan, StereoError *error);
void cuda_free_graph (CudaGraph *graph);
/* load.cu: lets @node of @graph, which is load's kernel, read the images of the current frame. */
cudaError_t cuda_load_source (const StereoPlan *plan, cudaGraphExec_t graph, cudaGraphNode_t node);

/* align.cu: lets the align stage of the current frame, and of those after it, work by plan->align. */
StereoStatus cuda_send_alignment (StereoPlan *plan, StereoError *error);

/* fault.cu: whether the result of a call means that the device has failed for this process; a failure is recorded. */
int cuda_note_failure (cudaError_t code);
/* The same for the result of waiting for a stream. */
void cuda_note_settled (cudaError_t code);
/* Whether a failure of the device is recorded, and a sentence that says so. */
int cuda_device_failed (int device, char *reason, size_t size);

/* fault.cu: the frame that STEREO_TEST_FAULT=kernel:FRAME names, or 0; and a kernel that fails for it. */
unsigned cuda_fault_wanted (void);
StereoStatus cuda_fault (StereoPlan *plan, StereoError *error);

/* backend.cu: the context of @stage in this plan, for a stage that has work besides its step. NULL: the plan does not run
 * @stage. */
void *cuda_context_of (const StereoPlan *plan, const StereoStage *stage);

static inline unsigned
cuda_blocks (size_t items, size_t per_block)
{
  return (unsigned) ((items + per_block - 1) / per_block);
}

/* __syncthreads() for warps that wait at different places in the program. __syncthreads() is the PTX barrier .aligned,
 * which all threads of a block have to execute at the same place ("otherwise behavior is undefined"). This barrier is
 * not aligned and only counts warps: every warp has to call it the same number of times. */
static __device__ __forceinline__ void
cuda_sync_warps ()
{
  asm volatile("barrier.sync 0;" ::: "memory");
}

/* A support weight, exp (-SAD / gamma_color - distance / gamma_distance) (4.4.1), with base-2 factors: 2^(color * SAD +
 * distance). SAD + the bits of 2^23 are the bits of a float: no conversion is needed. */
static __device__ __forceinline__ float
cuda_weight (uint32_t a, uint32_t b, float color, float distance)
{
  uint32_t bits;
  float weight;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(bits) : "r"(a), "r"(b), "r"(0x4B000000u));
  float exponent = fmaf (__uint_as_float (bits) - 8388608.0f, color, distance);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(weight) : "f"(exponent));
  return weight;
}

/* Word @k of a vector. Where @k is known, the vector stays in registers. */
static __device__ __forceinline__ uint32_t
word_of (uint4 v, int k)
{
  return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

/* Geometry and frame state, which kernels take by value. */
struct Frame
{
  int width, height, min_disparity, disparities, depth;
  int image_pitch, map_pitch;
  int volume_unit;
  uint32_t alpha;
  StereoView view[2];
  uint16_t *volume;
  float *disparity;
  bool outside;    /* see stereo_params_keep_outside() */
  bool keeps_near; /* see stereo_params_keep_near() */
  int top_of_luma;
};

static inline Frame
cuda_frame (const StereoPlan *p)
{
  Frame f = { p->width, p->height, p->min_disparity, p->disparities, p->depth, p->image_pitch, p->map_pitch,
    p->volume_unit, p->alpha, { p->view[0], p->view[1] }, p->volume, p->disparity,
    (bool) stereo_params_keep_outside (&p->params), (bool) stereo_params_keep_near (&p->params),
    stereo_params_top_of_luma (&p->params) };
  return f;
}

/* The stages, each with one file or more; backend.cu has the table of them. */
extern const StereoStage stereo_cuda_load, stereo_cuda_align, stereo_cuda_temporal;
extern const StereoStage stereo_cuda_census_7x5, stereo_cuda_census_9x7, stereo_cuda_mixed, stereo_cuda_lab;
extern const StereoStage stereo_cuda_paths, stereo_cuda_select, stereo_cuda_reselect, stereo_cuda_check;
extern const StereoStage stereo_cuda_refine_two_pass, stereo_cuda_refine_full, stereo_cuda_refine_idr;
extern const StereoStage stereo_cuda_disparity, stereo_cuda_probability, stereo_cuda_motion, stereo_cuda_speckle,
    stereo_cuda_fill, stereo_cuda_planes, stereo_cuda_gaps, stereo_cuda_output;
extern const StereoStage stereo_cuda_coarse, stereo_cuda_keep, stereo_cuda_candidates, stereo_cuda_list_means,
    stereo_cuda_prior, stereo_cuda_list_paths;
const StereoStage *stereo_cuda_list_match (const StereoParams *params);
const StereoStage *stereo_cuda_asw (const StereoParams *params);
const StereoStage *stereo_cuda_bm (const StereoParams *params);
const StereoStage *stereo_cuda_esaw (const StereoParams *params);
const StereoStage *stereo_cuda_esmp (const StereoParams *params);
const StereoStage *stereo_cuda_sgm (const StereoParams *params);

/* remap.cu */
extern const StereoRemapper stereo_cuda_remapper;

#endif
