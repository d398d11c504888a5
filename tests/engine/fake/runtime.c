/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "runtime.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

static struct
{
  int before, code, calls, alive; /* atomic all */
} device = { .before = -1 };
static __thread cudaError_t last;

void
fake_runtime_lose (int before, int code)
{
  __atomic_store_n (&device.code, code, __ATOMIC_SEQ_CST);
  __atomic_store_n (&device.calls, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n (&device.before, before, __ATOMIC_SEQ_CST);
}

int
fake_runtime_calls (void)
{
  return __atomic_load_n (&device.calls, __ATOMIC_SEQ_CST);
}

int
fake_runtime_alive (void)
{
  return __atomic_load_n (&device.alive, __ATOMIC_SEQ_CST);
}

/* What a call returns that needs the device. */
static cudaError_t
answer (void)
{
  int before = __atomic_load_n (&device.before, __ATOMIC_SEQ_CST);
  int call = __atomic_fetch_add (&device.calls, 1, __ATOMIC_SEQ_CST);

  if (before < 0 || call < before)
    return cudaSuccess;
  return last = (cudaError_t) __atomic_load_n (&device.code, __ATOMIC_SEQ_CST);
}

static cudaError_t
make (void **what, size_t size)
{
  cudaError_t code = answer ();

  *what = NULL;
  if (code == cudaSuccess) {
    *what = calloc (1, size ? size : 1);
    __atomic_fetch_add (&device.alive, 1, __ATOMIC_SEQ_CST);
  }
  return code;
}

/* Also on a lost device: what the process holds is freed, whatever the answer. */
static cudaError_t
give_back (void *what)
{
  if (what)
    __atomic_fetch_sub (&device.alive, 1, __ATOMIC_SEQ_CST);
  free (what);
  return what ? answer () : cudaSuccess;
}

/* What a call does, or does not on a lost device. */
#define CALL(name, declared, does) \
  cudaError_t CUDARTAPI name declared \
  { \
    cudaError_t code = answer (); \
    if (code == cudaSuccess) { \
      does; \
    } \
    return code; \
  }
#define MAKES(name, declared, what, size) \
  cudaError_t CUDARTAPI name declared \
  { \
    return make ((void **) what, size); \
  }
#define GIVES_BACK(name, type) \
  cudaError_t CUDARTAPI name (type what) \
  { \
    return give_back (what); \
  }
/* These do not ask the device. */
#define ANSWERS(name, declared, does) \
  cudaError_t CUDARTAPI name declared \
  { \
    does; \
    return cudaSuccess; \
  }

static int current;
ANSWERS (cudaGetDeviceCount, (int *count), *count = FAKE_DEVICES)
ANSWERS (cudaDriverGetVersion, (int *version), *version = CUDART_VERSION)
ANSWERS (cudaRuntimeGetVersion, (int *version), *version = CUDART_VERSION)
ANSWERS (cudaGetDevice, (int *number), *number = current)
ANSWERS (cudaSetDevice, (int number), current = number)
ANSWERS (cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int number),
         memset (properties, 0, sizeof *properties);
         strcpy (properties->name, "made-up"); properties->major = 9)
ANSWERS (cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int number),
    *value = attribute == cudaDevAttrMultiProcessorCount ? 4 : 99 << 10)

MAKES (cudaMalloc, (void **what, size_t size), what, size)
MAKES (cudaHostAlloc, (void **what, size_t size, unsigned flags), what, size)
MAKES (cudaStreamCreateWithFlags, (cudaStream_t * what, unsigned flags), what, 1)
MAKES (cudaStreamCreateWithPriority, (cudaStream_t * what, unsigned flags, int priority), what, 1)
MAKES (cudaEventCreate, (cudaEvent_t * what), what, 1)
MAKES (cudaEventCreateWithFlags, (cudaEvent_t * what, unsigned flags), what, 1)
MAKES (cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *what), what, 1)
MAKES (cudaGraphInstantiateWithFlags, (cudaGraphExec_t * what, cudaGraph_t graph, unsigned long long flags), what, 1)
GIVES_BACK (cudaFree, void *)
GIVES_BACK (cudaFreeHost, void *)
GIVES_BACK (cudaStreamDestroy, cudaStream_t)
GIVES_BACK (cudaEventDestroy, cudaEvent_t)
GIVES_BACK (cudaGraphDestroy, cudaGraph_t)
GIVES_BACK (cudaGraphExecDestroy, cudaGraphExec_t)

CALL (cudaMemcpyAsync, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream),
    memcpy (to, from, size))
CALL (cudaMemcpy2DAsync,
    (void *to, size_t row, const void *from, size_t same, size_t size, size_t n, enum cudaMemcpyKind k, cudaStream_t s),
    for (; n--; to = (char *) to + row, from = (const char *) from + row) memcpy (to, from, size))
CALL (cudaMemsetAsync, (void *to, int value, size_t size, cudaStream_t stream), memset (to, value, size))
CALL (cudaMemGetInfo, (size_t * available, size_t *total), *available = *total = (size_t) 1 << 33)
CALL (cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), )
CALL (cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags), )
CALL (cudaEventQuery, (cudaEvent_t event), )
CALL (cudaEventSynchronize, (cudaEvent_t event), )
CALL (cudaEventElapsedTime, (float *ms, cudaEvent_t from, cudaEvent_t to), *ms = 0)
CALL (cudaStreamSynchronize, (cudaStream_t stream), )
CALL (cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), )
CALL (cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), )
ANSWERS (cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status), *status = 0)
CALL (cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream), )
CALL (cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count), *count = 1)
CALL (cudaGraphExecKernelNodeSetParams,
    (cudaGraphExec_t graph, cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters), )
CALL (cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value), )
CALL (cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *blocks, const void *kernel, int threads, size_t shared, unsigned flags), *blocks = 2)
CALL (cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments), )
CALL (cudaLaunchCooperativeKernel,
    (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream), )
CALL (cudaLaunchKernel,
    (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream), )

/* ---- errors ------------------------------------------------------------------------------------------ */

cudaError_t CUDARTAPI
cudaGetLastError (void)
{
  cudaError_t code = last;

  last = cudaSuccess;
  return code;
}

const char *CUDARTAPI
cudaGetErrorName (cudaError_t code)
{
  static __thread char text[40];

  snprintf (text, sizeof text, "error %d", code);
  return text;
}

const char *CUDARTAPI
cudaGetErrorString (cudaError_t code)
{
  return "made up";
}

/* ---- what nvcc makes of a kernel's launch --------------------------------------------------------------- */

void **__cudaRegisterFatBinary (void *binary);
void __cudaRegisterFatBinaryEnd (void **handle);
void __cudaUnregisterFatBinary (void **handle);
void __cudaRegisterFunction (void **handle, const char *host, char *device_function, const char *name, int limit,
    void *tid, void *bid, void *block, void *grid, int *size);
unsigned __cudaPushCallConfiguration (dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration (dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel (cudaKernel_t *kernel, const void *function);
cudaError_t __cudaLaunchKernel (
    cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);

void **
__cudaRegisterFatBinary (void *binary)
{
  static void *handle;
  return &handle;
}

void
__cudaRegisterFatBinaryEnd (void **handle)
{
}

void
__cudaUnregisterFatBinary (void **handle)
{
}

void
__cudaRegisterFunction (void **handle, const char *host, char *device_function, const char *name, int limit, void *tid,
    void *bid, void *block, void *grid, int *size)
{
}

unsigned
__cudaPushCallConfiguration (dim3 grid, dim3 block, size_t shared, void *stream)
{
  return 0;
}

cudaError_t
__cudaPopCallConfiguration (dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
  return cudaSuccess;
}

cudaError_t
__cudaGetKernel (cudaKernel_t *kernel, const void *function)
{
  *kernel = (cudaKernel_t) (uintptr_t) function;
  return cudaSuccess;
}

cudaError_t
__cudaLaunchKernel (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
  return answer ();
}
