/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a frame as one CUDA graph: dozens of small launches become one.
 *
 * Captured for the first slot when the plan is made, for the other one when it is used, and again when samples of
 * another type are asked for. What kernels take by value is then fixed, but for the images, which load's kernel is told
 * anew where they have moved. A stage's run may change nothing on the host that a later frame reads: this is checked.
 */
#include "cuda/common.cuh"

#include <stdio.h>
#include <string.h>

static int
same_host_state (const StereoPlan *plan, const StereoPlan *before, const CudaState *state)
{
  return !memcmp (plan->view, before->view, sizeof plan->view) && plan->volume == before->volume &&
      plan->disparity == before->disparity && !memcmp (cuda_state (plan), state, sizeof *state);
}

void
cuda_free_graph (CudaGraph *graph)
{
  if (graph->launchable)
    cudaGraphExecDestroy (graph->launchable);
  if (graph->steps)
    cudaGraphDestroy (graph->steps);
  memset (graph, 0, sizeof *graph);
}

/* Loading is the first step, and nothing else can begin before it. */
static StereoStatus
find_load (CudaGraph *graph, StereoError *error)
{
  size_t count = 1;

  CUDA_TRY (cudaGraphGetRootNodes (graph->steps, &graph->load, &count));
  return count == 1 ? STEREO_OK : stereo_fail (error, STEREO_ERROR_BACKEND, "%zu steps want to be the first.", count);
}

static StereoStatus
instantiate (CudaGraph *graph, StereoError *error)
{
  CUDA_TRY (cudaGraphInstantiateWithFlags (&graph->launchable, graph->steps, 0));
  return STEREO_OK;
}

static StereoStatus
capture_steps (StereoPlan *plan, CudaGraph *graph, StereoError *error)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  StereoStatus status;

  /* relaxed: other threads, and the loading of kernels on this one, go on as they like */
  CUDA_TRY (cudaStreamBeginCapture (stream, cudaStreamCaptureModeRelaxed));
  status = stereo_run_steps (plan, 0, plan->step_count, error);
  cudaError_t code = cudaStreamEndCapture (stream, &graph->steps);
  if (status)
    return status;
  CUDA_TRY (code);
  return find_load (graph, error);
}

/* The steps as they are now, in @graph; it is empty where that fails. */
static StereoStatus
capture (StereoPlan *plan, CudaGraph *graph, StereoError *error)
{
  CudaState state = *cuda_state (plan);
  CudaGraph made = {};
  StereoPlan before = *plan;
  StereoStatus status = capture_steps (plan, &made, error);

  memcpy (made.source, state.source, sizeof made.source);
  made.sample = plan->output.sample;
  if (!status && !same_host_state (plan, &before, &state))
    status = stereo_fail (error, STEREO_ERROR_BACKEND, "A stage keeps something on the host from frame to frame.");
  if (!status)
    status = instantiate (&made, error);
  if (status)
    cuda_free_graph (&made);
  *graph = made;
  cudaGetLastError ();
  return status;
}

/* The graph of the slot at hand, for the frame at hand. */
static StereoStatus
fit_graph (StereoPlan *plan, CudaGraph *graph, StereoError *error)
{
  const CudaState *state = cuda_state (plan);

  if (!graph->launchable || graph->sample != plan->output.sample) {
    cuda_free_graph (graph);
    return capture (plan, graph, error);
  }
  if (memcmp (graph->source, state->source, sizeof graph->source)) {
    CUDA_TRY (cuda_load_source (plan, graph->launchable, graph->load));
    memcpy (graph->source, state->source, sizeof graph->source);
  }
  return STEREO_OK;
}

void
cuda_make_graph (StereoPlan *plan)
{
  CudaState *state = cuda_state (plan);
  CudaGraph *graph = &state->slot[plan->slot].graph;
  StereoError error = { STEREO_OK, "" };
  size_t end = strlen (plan->reason);

  plan->output.sample = STEREO_SAMPLE_U16;      /* what most ask for */
  if (state->debug_sync)
    stereo_fail (&error, STEREO_ERROR_BACKEND, "STEREO_DEBUG_SYNC is set.");
  else if (state->no_graph)
    stereo_fail (&error, STEREO_ERROR_BACKEND, "STEREO_CUDA_GRAPH is 0.");
  else
    capture (plan, graph, &error);
  state->has_graph = !error.status;
  if (state->has_graph)
    snprintf (plan->reason + end, sizeof plan->reason - end, " Frames run as one CUDA graph.");
  else
    snprintf (plan->reason + end, sizeof plan->reason - end, " Kernels are launched one by one: %.300s", error.message);
  end = strlen (plan->reason);
  if (state->fault_at)
    snprintf (plan->reason + end, sizeof plan->reason - end, " STEREO_TEST_FAULT is set: frame %u will fail.",
        state->fault_at);
}

/* Stage times need what is between the stages. */
StereoStatus
cuda_run (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaGraph *graph = &state->slot[plan->slot].graph;
  StereoStatus status;

  if (state->fault_at && state->fault_at == plan->submitted && (status = cuda_fault (plan, error)))
    return status;
  if (!state->has_graph || plan->profiling)
    return stereo_run_steps (plan, 0, plan->step_count, error);
  if ((status = fit_graph (plan, graph, error)))
    return status;
  CUDA_TRY (cudaGraphLaunch (graph->launchable, state->stream));
  return STEREO_OK;
}
