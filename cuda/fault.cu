/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that failed, and the fault that tests ask for.
 *
 * After a kernel read or wrote where it must not, every call in that context returns the same error for ever. Plans
 * live in the device's primary context (or in one of the caller's, see cuda_device_id: that one is the caller's to
 * renew), which is made anew only by cudaDeviceReset(), and that pulls the ground from under all who use it. So the
 * users of each device are counted, and the last to go resets it; unless the context was there before our first use:
 * then others hold what a reset would take from them, and the process has to be restarted.
 */
#include "cuda/common.cuh"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 64

static struct
{
  int known;                    /* looked at before our first use */
  int shared;                   /* its primary context was there then */
  int users;                    /* plans and remaps in its primary context */
  int failed;
} devices[MOST_DEVICES];
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

int
cuda_is_fatal (cudaError_t code)
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

/* ---- devices ----------------------------------------------------------------------------------- */

/* Whether there is a primary context. The runtime cannot say without making one; the driver's library, which it has
 * loaded, can. */
static int
has_primary_context (int device)
{
  typedef int (*GetDevice) (int *handle, int ordinal);
  typedef int (*GetState) (int handle, unsigned *flags, int *active);
  void *driver = dlopen ("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  GetDevice get_device = driver ? (GetDevice) dlsym (driver, "cuDeviceGet") : NULL;
  GetState get_state = driver ? (GetState) dlsym (driver, "cuDevicePrimaryCtxGetState") : NULL;
  int handle, active = 0;
  unsigned flags;

  if (get_device && get_state && (get_device (&handle, device) || get_state (handle, &flags, &active)))
    active = 0;
  if (driver)
    dlclose (driver);
  return active;
}

int
cuda_device_alive (int device, char *reason, size_t size)
{
  int alive = 1;

  if (device < 0 || device >= MOST_DEVICES)
    return 1;
  pthread_mutex_lock (&devices_lock);
  if (!devices[device].known) {
    devices[device].known = 1;
    devices[device].shared = has_primary_context (device);
  }
  if (devices[device].failed) {
    alive = 0;
    if (devices[device].users)
      snprintf (reason, size, "CUDA device %d failed in this process, and %d more that used it are still there: stop "
          "those elements too.", device, devices[device].users);
    else
      snprintf (reason, size, "CUDA device %d failed in this process and cannot be reset%s: restart it.", device,
          devices[device].shared ? ", because other code uses it too" : "");
  }
  pthread_mutex_unlock (&devices_lock);
  return alive;
}

void
cuda_device_take (int device)
{
  if (device < 0 || device >= MOST_DEVICES)
    return;
  pthread_mutex_lock (&devices_lock);
  devices[device].users++;
  pthread_mutex_unlock (&devices_lock);
}

void
cuda_device_leave (int device, int failed)
{
  if (device < 0 || device >= MOST_DEVICES)
    return;
  pthread_mutex_lock (&devices_lock);
  devices[device].failed |= failed;
  /* setting it makes sure that no context of somebody else's is current, which is what would be reset */
  if (--devices[device].users == 0 && devices[device].failed && !devices[device].shared) {
    cudaSetDevice (device);
    devices[device].failed = cudaDeviceReset () != cudaSuccess;
    cudaGetLastError ();
  }
  pthread_mutex_unlock (&devices_lock);
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
