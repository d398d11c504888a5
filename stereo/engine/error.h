/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors and the clock, which every file of the engine and of the backends may call. */
#ifndef STEREO_ENGINE_ERROR_H
#define STEREO_ENGINE_ERROR_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in @error (NULL is fine) and returns @status. */
StereoStatus stereo_fail (StereoError *error, StereoStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* A clock that never goes back, ns. */
uint64_t stereo_now_ns (void);

#ifdef __cplusplus
}
#endif
#endif
