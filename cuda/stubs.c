/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CUDA backend of a build without CUDA: it is never available, and says why. */
#include "stereo/engine/backend.h"

#include "cuda/config.h"

#include <stdio.h>

static int
cuda_available (int device, char *reason, size_t size)
{
  snprintf (reason, size, "This build has no CUDA backend (%s when it was built).", STEREO_CUDA_MISSING);
  return 0;
}

const StereoBackend stereo_backend_cuda = {
  .name = "cuda",
  .choice = STEREO_BACKEND_CUDA,
  .available = cuda_available,
};
