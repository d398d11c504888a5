/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A libcuda.so.1 of host memory, with what GStreamer's CUDA library calls and no more: the engine finds no device in
 * it. It is strict where real hardware is lucky: calls need a current context, and copies from device to device wait
 * for cuStreamSynchronize().
 */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define OK 0
#define INVALID_VALUE 1
#define INVALID_CONTEXT 201
#define NOT_SUPPORTED 801
#define DEPTH 8
#define PENDING 16

typedef struct Copy2D
{
  size_t src_x, src_y;
  int src_type;
  const void *src_host;
  unsigned long long src_device;
  void *src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  int dst_type;
  void *dst_host;
  unsigned long long dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
} Copy2D;

typedef struct Context
{
  Copy2D pending[PENDING];
  int count;
} Context;

static __thread Context *stack[DEPTH];
static __thread int depth;

static Context *
current (void)
{
  return depth ? stack[depth - 1] : NULL;
}

/* How many contexts this thread has pushed and not popped. */
EXPORT int fake_cuda_depth (void);
int
fake_cuda_depth (void)
{
  return depth;
}

#define CALL(name, ...) \
  EXPORT int name (__VA_ARGS__); \
  int name (__VA_ARGS__)

CALL (cuInit, unsigned flags)
{
  return OK;
}
CALL (cuDriverGetVersion, int *version)
{
  *version = 11000;
  return OK;
}
CALL (cuGetErrorName, int code, const char **text)
{
  *text = "error";
  return OK;
}
CALL (cuGetErrorString, int code, const char **text)
{
  *text = "of the fake";
  return OK;
}
CALL (cuDeviceGetCount, int *count)
{
  *count = 1;
  return OK;
}
CALL (cuDeviceGet, int *device, int ordinal)
{
  *device = ordinal;
  return ordinal ? INVALID_VALUE : OK;
}
CALL (cuDeviceGetName, char *name, int size, int device)
{
  strncpy (name, "fake", (size_t) size);
  return OK;
}
CALL (cuDeviceGetAttribute, int *value, int attribute, int device)
{
  *value = 512;
  return OK;
}
CALL (cuDeviceCanAccessPeer, int *can, int device, int peer)
{
  *can = 0;
  return OK;
}

CALL (cuCtxPushCurrent_v2, Context *context)
{
  if (!context || depth == DEPTH)
    return INVALID_CONTEXT;
  stack[depth++] = context;
  return OK;
}

CALL (cuCtxPopCurrent_v2, Context **context)
{
  if (!depth)
    return INVALID_CONTEXT;
  depth--;
  if (context)
    *context = stack[depth];
  return OK;
}

CALL (cuCtxCreate_v2, Context **context, unsigned flags, int device)
{
  *context = calloc (1, sizeof **context);
  return cuCtxPushCurrent_v2 (*context);
}

CALL (cuCtxDestroy_v2, Context *context)
{
  free (context);
  return OK;
}

CALL (cuMemAllocPitch_v2, unsigned long long *memory, size_t *pitch, size_t width, size_t height, unsigned element)
{
  if (!current ())
    return INVALID_CONTEXT;
  *pitch = (width + 511) / 512 * 512;
  *memory = (unsigned long long) (size_t) calloc (height, *pitch);
  return OK;
}

CALL (cuMemAlloc_v2, unsigned long long *memory, size_t size)
{
  size_t pitch;
  return cuMemAllocPitch_v2 (memory, &pitch, size, 1, 16);
}

CALL (cuMemFree_v2, unsigned long long memory)
{
  if (!current ())
    return INVALID_CONTEXT;
  free ((void *) (size_t) memory);
  return OK;
}

CALL (cuMemAllocHost_v2, void **memory, size_t size)
{
  *memory = calloc (1, size);
  return current () ? OK : INVALID_CONTEXT;
}

CALL (cuMemFreeHost, void *memory)
{
  free (memory);
  return OK;
}

static void
copy (const Copy2D *c)
{
  const char *from = c->src_type == 1 ? c->src_host : (const char *) (size_t) c->src_device;
  char *to = c->dst_type == 1 ? c->dst_host : (char *) (size_t) c->dst_device;

  for (size_t y = 0; y < c->height; y++)
    memcpy (to + y * c->dst_pitch, from + y * c->src_pitch, c->width);
}

static void
finish (Context *context)
{
  for (int i = 0; i < context->count; i++)
    copy (&context->pending[i]);
  context->count = 0;
}

CALL (cuMemcpy2D_v2, const Copy2D *c)
{
  Context *context = current ();

  if (!context)
    return INVALID_CONTEXT;
  if (c->src_type == 2 && c->dst_type == 2 && context->count < PENDING) {
    context->pending[context->count++] = *c;
    return OK;
  }
  finish (context);
  copy (c);
  return OK;
}

CALL (cuMemcpy2DAsync_v2, const Copy2D *c, void *stream)
{
  return cuMemcpy2D_v2 (c);
}

CALL (cuStreamSynchronize, void *stream)
{
  if (!current ())
    return INVALID_CONTEXT;
  finish (current ());
  return OK;
}

CALL (cuStreamCreate, void **stream, unsigned flags)
{
  *stream = NULL;
  return OK;
}
CALL (cuStreamDestroy, void *stream)
{
  return OK;
}

#define NONE(name) \
  CALL (name, void) \
  { \
    return NOT_SUPPORTED; \
  }
NONE (cuCtxEnablePeerAccess)
NONE (cuCtxDisablePeerAccess)
NONE (cuGraphicsMapResources)
NONE (cuGraphicsUnmapResources)
NONE (cuGraphicsUnregisterResource)
NONE (cuModuleLoadData)
NONE (cuModuleUnload)
NONE (cuModuleGetFunction)
NONE (cuTexObjectCreate)
NONE (cuTexObjectDestroy)
NONE (cuLaunchKernel)
NONE (cuGraphicsGLRegisterImage)
NONE (cuGraphicsGLRegisterBuffer)
NONE (cuGLGetDevices_v2)
NONE (cuGraphicsResourceSetMapFlags_v2)
NONE (cuGraphicsSubResourceGetMappedArray)
NONE (cuGraphicsResourceGetMappedPointer_v2)
