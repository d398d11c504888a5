/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asynchronous copies from global to shared memory. Before compute capability 8.0 every copy is synchronous. */
#ifndef STEREO_CUDA_ASYNC_COPY_CUH
#define STEREO_CUDA_ASYNC_COPY_CUH

#include <cuda_runtime.h>
#include <stdint.h>

namespace
{

__device__ __forceinline__ uint32_t
shared_address (const void *p)
{
  return (uint32_t) __cvta_generic_to_shared (p);
}

/* 16 bytes, or zeros. */
__device__ __forceinline__ void
copy_async (void *to, const void *from, bool there)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address (to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
#else
  *(uint4 *) to = there ? *(const uint4 *) from : make_uint4 (0, 0, 0, 0);
#endif
}

/* 4, 8 or 16 bytes, to an address in shared memory. */
template <int BYTES> __device__ __forceinline__ void
copy_async (uint32_t to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
#else
#pragma unroll
  for (int k = 0; k < BYTES / 4; k++)
    ((uint32_t *) __cvta_shared_to_generic (to))[k] = ((const uint32_t *) from)[k];
#endif
}

template <int BYTES> __device__ __forceinline__ void
copy_async (void *to, const void *from)
{
  copy_async<BYTES> (shared_address (to), from);
}

/* 1, 2 or 4 words that copies have written, from an address in shared memory. */
template <int WORDS> __device__ __forceinline__ void
load_shared (uint32_t *words, uint32_t from)
{
#ifdef __CUDA_ARCH__
  if (WORDS == 1)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(words[0]) : "r"(from) : "memory");
  if (WORDS == 2)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(from) : "memory");
  if (WORDS == 4)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from)
                 : "memory");
#endif
}

/* The copies of this thread since the last call become one group. */
__device__ __forceinline__ void
commit_copies ()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until only the last @UNDER_WAY groups of this thread are still being copied. */
template <int UNDER_WAY> __device__ __forceinline__ void
await_copies ()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(UNDER_WAY) : "memory");
#endif
}

/* The threads of a block that copies. */
struct CopyThreads
{
  int thread, threads;
};

/* By all of them: copies @bytes, a multiple of 16. */
__device__ __forceinline__ void
copy_block (void *to, const void *from, int bytes, CopyThreads c)
{
  for (int e = 16 * c.thread; e < bytes; e += 16 * c.threads)
    copy_async ((char *) to + e, (const char *) from + e, true);
}

}

#endif
