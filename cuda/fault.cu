/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that failed, and the fault that tests ask for.
 *
 * After a kernel read or wrote where it must not, every call returns the same error for ever, in every context that the
 * process has on the device; after cudaDeviceReset() the device is "busy or unavailable" to it (seen on an H200 with CUDA
 * 13). So nothing is tried: the process goes on without that device, and says that it has to be restarted to have it again.
 */
#include "cuda/common.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t failed_devices; /* a bit each, of the first 64 */

static int
is_fatal (cudaError_t code)
{
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return 1;
    default:
      return 0;
  }
}

/* Others may mean it as well, and may mean that its memory is full: then it still answers. */
static int
is_silent (void)
{
  size_t available, total;
  cudaError_t code = cudaMemGetInfo (&available, &total);

  cudaGetLastError ();
  return code != cudaSuccess;
}

static void
lose_device (void)
{
  int device = 0;

  cudaGetDevice (&device);
  __atomic_fetch_or (&failed_devices, (uint64_t) 1 << (device & 63), __ATOMIC_RELAXED);
}

int
cuda_note_failure (cudaError_t code)
{
  bool lost = is_fatal (code) || ((code == cudaErrorContextIsDestroyed || code == cudaErrorUnknown) && is_silent ());

  if (lost)
    lose_device ();
  return lost;
}

/* A device that is busy, or not there, when a stream that frames ran on is waited for, was there before. */
void
cuda_note_settled (cudaError_t code)
{
  if (is_fatal (code) || (code != cudaSuccess && code != cudaErrorMemoryAllocation && is_silent ()))
    lose_device ();
}

int
cuda_device_failed (int device, char *reason, size_t size)
{
  if (device == -2 && cudaGetDevice (&device) != cudaSuccess)
    device = 0;
  device = device < 0 ? 0 : device;
  if (!(__atomic_load_n (&failed_devices, __ATOMIC_RELAXED) >> (device & 63) & 1))
    return 0;
  snprintf (reason, size, "CUDA device %d failed in this process, which cannot use it any more: restart the process.", device);
  return 1;
}

/* ---- the tests' fault ---------------------------------------------------------------------------- */

unsigned
cuda_fault_wanted (void)
{
  const char *text = getenv ("STEREO_TEST_FAULT");
  char *end;

  if (!text || strncmp (text, "kernel:", 7) || text[7] < '1' || text[7] > '9')
    return 0;
  unsigned long frame = strtoul (text + 7, &end, 10);
  return *end || frame > 1000000000 ? 0 : (unsigned) frame;
}

/* No device has memory at its lowest addresses. */
static __global__ void
fault_kernel (const volatile int *nowhere, int *sum)
{
  *sum += *nowhere;
}

StereoStatus
cuda_fault (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);

  fault_kernel<<<1, 1, 0, state->stream>>> ((const volatile int *) 64, (int *) plan->disparity);
  CUDA_LAUNCHED (plan, "fault_kernel");
  return STEREO_OK;
}
