/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The finished disparity and confidence -> samples without gaps between rows, for transfer.cu. */
#include "cuda/common.cuh"

#define THREADS 256

struct Store
{
  void *samples;
  uint8_t *confidence;
  unsigned long long *counts;   /* valid samples, sum of confidence bytes: 0 before, see cuda_download() */
  bool depth;
  float scale;                  /* u16 disparity */
  float byte_factor;            /* u8 */
  float product, offset, per_mm;        /* depth */
};

/* Writes one sample; true when it holds a value. */
static __device__ bool
store_sample (const Frame &f, const Store &s, float d, size_t place, uint16_t *to)
{
  uint32_t v = isnan (d) ? 0 : s.depth ? stereo_store_depth (stereo_depth (d, s.product, s.offset), s.per_mm) :
      stereo_store_disparity (d, s.scale);
  to[place] = (uint16_t) v;
  return v != 0;
}

static __device__ bool
store_sample (const Frame &f, const Store &s, float d, size_t place, uint8_t *to)
{
  uint32_t v = isnan (d) ? 0 : stereo_store_byte (d, (float) f.min_disparity, s.byte_factor);
  to[place] = (uint8_t) v;
  return v != 0;
}

static __device__ bool
store_sample (const Frame &f, const Store &s, float d, size_t place, float *to)
{
  float v = isnan (d) ? NAN : s.depth ? stereo_depth (d, s.product, s.offset) : d;
  to[place] = v;
  return !isnan (v);
}

/* A thread per pixel. Both counts of a block are summed in shared memory, then added to the total. A
 * pixel without a disparity has no confidence to speak of. */
template <typename Sample>
static __global__ void
store_kernel (Frame f, Store s)
{
  __shared__ unsigned confidence_sum;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  unsigned confidence = 0;
  bool valid = false;

  if (threadIdx.x == 0)
    confidence_sum = 0;
  if (x < f.width) {
    size_t map = (size_t) y * f.map_pitch + x, place = (size_t) y * f.width + x;
    float d = f.disparity[map];
    valid = store_sample (f, s, d, place, (Sample *) s.samples);
    confidence = isnan (d) ? 0 : (uint8_t) rintf (f.view[STEREO_LEFT].confidence[map] * 255);
    s.confidence[place] = (uint8_t) confidence;
  }
  int count = __syncthreads_count (valid);
  for (int reach = 16; reach; reach /= 2)
    confidence += __shfl_down_sync (0xFFFFFFFFu, confidence, reach);
  if (threadIdx.x % 32 == 0)
    atomicAdd (&confidence_sum, confidence);
  __syncthreads ();
  if (threadIdx.x == 0) {
    atomicAdd (&s.counts[0], (unsigned long long) count);
    atomicAdd (&s.counts[1], (unsigned long long) confidence_sum);
  }
}

static StereoStatus
store_prepare (StereoPlan *plan, StereoError *error)
{
  StereoStatus status = STEREO_OK;

  for (CudaSlot &slot : cuda_state (plan)->slot)
    if (!status)
      status = stereo_reserve (plan, (void **) &slot.results, cuda_results_most (plan), 1, error);
  return status;
}

static StereoStatus
store_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  const StereoParams *p = &plan->params;
  Frame f = cuda_frame (plan);
  dim3 grid (cuda_blocks (plan->width, THREADS), plan->height);
  uint8_t *results = state->slot[plan->slot].results;
  Store s = { results + CUDA_SAMPLES_AT, results + cuda_confidence_at (plan), (unsigned long long *) results, p->output == STEREO_OUTPUT_DEPTH,
    (float) p->disparity_scale, p->num_disparities > 1 ? 254.0f / (float) (p->num_disparities - 1) : 0.0f,
    (float) (p->focal_length * p->baseline), (float) p->principal_offset, (float) (1000 / p->depth_unit) };

  if (plan->output.sample == STEREO_SAMPLE_U16)
    store_kernel<uint16_t> <<<grid, THREADS, 0, state->stream>>> (f, s);
  else if (plan->output.sample == STEREO_SAMPLE_U8)
    store_kernel<uint8_t> <<<grid, THREADS, 0, state->stream>>> (f, s);
  else
    store_kernel<float> <<<grid, THREADS, 0, state->stream>>> (f, s);
  CUDA_LAUNCHED (plan, "store_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_store = { "store", store_prepare, store_run };
