/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures in CIELAB that support weights compare: stereo/exact/lab.h. */
#include "cuda/common.cuh"

namespace
{

constexpr int LAB_THREADS = 256;
constexpr int LAB_ROWS = 16; /* of a block: they share the copy of the table, which is read entry by entry */

/* Block: 256 columns (blockIdx.x) by LAB_ROWS rows (blockIdx.y) of one view (blockIdx.z). The lanes of a warp read other
 * entries of the table, for which shared memory is made; parameters are read one entry at a time. */
static __global__ void
__launch_bounds__ (LAB_THREADS) lab_kernel (Frame f, const __grid_constant__ StereoLab table)
{
  __shared__ StereoLab shared;
  const StereoView &view = f.view[blockIdx.z];
  int x = blockIdx.x * LAB_THREADS + threadIdx.x, first = blockIdx.y * LAB_ROWS, end = min (first + LAB_ROWS, f.height);

  for (int k = threadIdx.x; k < 256; k += LAB_THREADS)
    shared.light[k] = table.light[k];
  for (int k = threadIdx.x; k < STEREO_LAB_ROOTS; k += LAB_THREADS)
    shared.root[k] = table.root[k];
  __syncthreads ();
  if (x >= f.width)
    return;
  for (int y = first; y < end; y++) {
    size_t at = (size_t) y * f.image_pitch + x;
    view.likeness[at] = stereo_lab (&shared, view.color[at]);
  }
}

static StereoStatus
lab_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  stereo_lab_table ((StereoLab *) context);
  return STEREO_OK;
}

static StereoStatus
lab_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, LAB_THREADS), cuda_blocks (plan->height, LAB_ROWS), 2);

  lab_kernel<<<grid, LAB_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), *(const StereoLab *) context);
  CUDA_LAUNCHED (plan, "lab_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_lab = {
  .name = "lab", .context_size = sizeof (StereoLab), .prepare = lab_prepare, .run = lab_run
};
