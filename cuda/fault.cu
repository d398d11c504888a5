/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that failed, and the fault that tests ask for.
 *
 * After a kernel has accessed an invalid address, every call returns the same error until the process ends, in all
 * contexts of the process on that device. cudaDeviceReset() does not help: the device is "busy or unavailable"
 * afterwards (seen on an H200 with CUDA 13). The process therefore stops using the device, and says that a restart is
 * needed.
 */
#include "cuda/common.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t failed_devices[256]; /* as many as cuda-device-id names */

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

/* Other errors may mean a failed device, or only that its memory is full: such a device still answers. */
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
  if (device < (int) sizeof failed_devices)
    __atomic_store_n (&failed_devices[device], 1, __ATOMIC_RELAXED);
}

int
cuda_note_failure (cudaError_t code)
{
  bool lost = is_fatal (code) || ((code == cudaErrorContextIsDestroyed || code == cudaErrorUnknown) && is_silent ());

  if (lost)
    lose_device ();
  return lost;
}

/* Frames ran on the stream before: a device that is now busy or missing has failed. */
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
  if (device >= (int) sizeof failed_devices || !__atomic_load_n (&failed_devices[device], __ATOMIC_RELAXED))
    return 0;
  snprintf (reason, size, "CUDA device %d failed in this process, which cannot use it any more: restart the process.",
      device);
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

/* Reads one of the lowest addresses, where no device has memory. */
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
