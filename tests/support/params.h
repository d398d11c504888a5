/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters in the words of the command line, as tests write them down. */
#ifndef PARAMS_H
#define PARAMS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/stereo.h"

/* Sets what "name=value name=value ..." names. Exits where there is no such name or value: then the test is wrong. */
__attribute__ ((format (printf, 2, 3))) static inline void
params_set (StereoParams *params, const char *format, ...)
{
  char words[1000], *rest = NULL;
  StereoError error = { .message = "NAME=VALUE is wanted" };
  va_list args;

  va_start (args, format);
  vsnprintf (words, sizeof words, format, args);
  va_end (args);
  for (char *name = strtok_r (words, " ", &rest); name; name = strtok_r (NULL, " ", &rest)) {
    char *value = strchr (name, '=');
    if (value)
      *value++ = 0;
    if (!value || stereo_param_parse (params, name, value, &error)) {
      fprintf (stderr, "%s: %s\n", name, error.message);
      exit (1);
    }
  }
}

#endif
