/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/memory_used.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <gst/check/gstcheck.h>

/* The driver's own words, in the context that the runtime makes: GStreamer's loader does not know this call. */
gsize
device_memory_used (void)
{
  static void *driver, *context;
  int (*init) (unsigned), (*retain) (void **, int), (*push_current) (void *), (*pop_current) (void **);
  int (*info) (size_t *, size_t *);
  size_t available = 0, total = 0;

  if (!driver)
    driver = dlopen ("libcuda.so.1", RTLD_NOW);
  fail_unless (driver != NULL);
  *(void **) &init = dlsym (driver, "cuInit");
  *(void **) &retain = dlsym (driver, "cuDevicePrimaryCtxRetain");
  *(void **) &push_current = dlsym (driver, "cuCtxPushCurrent_v2");
  *(void **) &pop_current = dlsym (driver, "cuCtxPopCurrent_v2");
  *(void **) &info = dlsym (driver, "cuMemGetInfo_v2");
  fail_unless (init && retain && push_current && pop_current && info);
  if (!context)
    fail_unless (init (0) == 0 && retain (&context, 0) == 0);
  fail_unless (push_current (context) == 0);
  fail_unless (info (&available, &total) == 0);
  fail_unless (pop_current (NULL) == 0);
  return total - available;
}

gsize
host_memory_used (void)
{
  FILE *file = fopen ("/proc/self/statm", "r");
  unsigned long pages = 0;

#ifdef __GLIBC__
  malloc_trim (0); /* what is freed and kept is nobody's leak */
#endif
  if (!file)
    return 0;
  if (fscanf (file, "%*u %lu", &pages) != 1)
    pages = 0;
  fclose (file);
  return pages * (gsize) sysconf (_SC_PAGESIZE);
}

gsize
heap_used (void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

gsize
heap_at_rest (void)
{
  gsize least = heap_used ();

  for (guint i = 0; i < 50; i++) {
    gsize now;
    g_usleep (1000);
    now = heap_used ();
    least = MIN (least, now);
  }
  return least;
}
