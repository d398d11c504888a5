/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which backends there are, and which of them a plan or a remap takes. */
#include "stereo/engine/choose.h"

#include <stdio.h>

const StereoBackend *
stereo_backend_choose (int choice, int device, char *reason, size_t size, StereoError *error)
{
  const StereoBackend *backend = &stereo_backend_cpu;
  char text[200] = "";

  if (choice != STEREO_BACKEND_CPU && stereo_backend_cuda.available (device, text, sizeof text))
    backend = &stereo_backend_cuda;
  if (choice == STEREO_BACKEND_CUDA && backend != &stereo_backend_cuda) {
    stereo_fail (error, STEREO_ERROR_NO_DEVICE,
        "backend=cuda was asked for, and cannot be had: %s Set backend=cpu, or auto to take what there is.", text);
    return NULL;
  }
  if (choice == STEREO_BACKEND_AUTO)
    snprintf (reason, size, "backend=auto takes %s: %s", backend->name, text);
  else
    snprintf (reason, size, "backend=%s was asked for.", backend->name);
  return backend;
}

int
stereo_backend_available (StereoBackendChoice backend, int cuda_device_id, char *reason, size_t size)
{
  const StereoBackend *asked = backend == STEREO_BACKEND_CUDA ? &stereo_backend_cuda : &stereo_backend_cpu;
  char text[200] = "";
  int available = asked->available (cuda_device_id, text, sizeof text);

  if (reason)
    snprintf (reason, size, "%s", text);
  return available;
}
