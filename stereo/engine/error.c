/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/engine/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

StereoStatus
stereo_fail (StereoError *error, StereoStatus status, const char *format, ...)
{
  if (error) {
    va_list args;
    va_start (args, format);
    error->status = status;
    vsnprintf (error->message, sizeof error->message, format, args);
    va_end (args);
  }
  return status;
}

uint64_t
stereo_now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}
