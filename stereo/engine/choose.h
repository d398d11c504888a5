/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of a backend, for plans and for remapping. */
#ifndef STEREO_ENGINE_CHOOSE_H
#define STEREO_ENGINE_CHOOSE_H

#include "stereo/engine/backend.h"

/* The backend for @choice (StereoBackendChoice) on CUDA device @device; auto takes CUDA where a device is usable, else the
 * CPU. Writes a sentence that says why to @reason. NULL and @error if the backend was asked for and cannot be used. */
const StereoBackend *stereo_backend_choose (int choice, int device, char *reason, size_t size, StereoError *error);

#endif
