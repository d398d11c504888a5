/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A libcuda.so.1 that is there and does not serve: FAKE_DRIVER_VERSION is the CUDA that it knows (11040), and
 * FAKE_DRIVER_INIT what cuInit() returns (100: no device, 999: the module of the kernel is gone, 3: not initialised).
 */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define NOT_FOUND 500

static int
setting (const char *name)
{
  const char *text = getenv (name);
  return text ? atoi (text) : 0;
}

EXPORT int cuInit (unsigned flags);
EXPORT int cuDriverGetVersion (int *version);
EXPORT int cuDeviceGetCount (int *count);
EXPORT int cuGetProcAddress (const char *name, void **function, int version, unsigned long long flags);
EXPORT int cuGetProcAddress_v2 (const char *name, void **function, int version, unsigned long long flags, int *status);

int
cuInit (unsigned flags)
{
  return setting ("FAKE_DRIVER_INIT");
}

int
cuDriverGetVersion (int *version)
{
  *version = setting ("FAKE_DRIVER_VERSION");
  return 0;
}

int
cuDeviceGetCount (int *count)
{
  *count = 0;
  return setting ("FAKE_DRIVER_INIT");
}

static int
unserved (void)
{
  return NOT_FOUND;
}

/* The runtime asks for all that it may need before it does anything: what is not above exists, and fails. */
int
cuGetProcAddress (const char *name, void **function, int version, unsigned long long flags)
{
  static const struct
  {
    const char *name;
    void *function;
  } served[] = { { "cuInit", cuInit }, { "cuDriverGetVersion", cuDriverGetVersion },
    { "cuDeviceGetCount", cuDeviceGetCount }, { "cuGetProcAddress", cuGetProcAddress_v2 } };

  *function = unserved;
  for (size_t k = 0; k < sizeof served / sizeof *served; k++)
    if (!strcmp (served[k].name, name))
      *function = served[k].function;
  return 0;
}

int
cuGetProcAddress_v2 (const char *name, void **function, int version, unsigned long long flags, int *status)
{
  if (status)
    *status = 0;
  return cuGetProcAddress (name, function, version, flags);
}
