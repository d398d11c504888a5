/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ThreadSanitizer does not see the locks of a GLib that was not built with it (GMutex and GCond wait in the kernel, on
 * words that GLib changes itself), nor what GStreamer does with atomic numbers. In a build with -Db_sanitize=thread the
 * test programs define these functions themselves, call the true ones and say what that puts in order:
 *   locks.c     locks, conditions, once
 *   handover.c  what one thread leaves to another: last references, pools, queues, the bus, classes
 *   access.c    what libraries read and write for us
 * As little as holds is said: a reference that is taken or given back orders nothing but the end of the object, while the
 * true atomic number would order every two threads that touched it, and hide their races.
 *
 * A library's calls come here when they go through its table of symbols; those within one library do not.
 */
#ifndef TSAN_H
#define TSAN_H

#include <dlfcn.h>
#include <glib.h>
#include <sanitizer/tsan_interface.h>

static inline gpointer
tsan_find (const gchar *name, gpointer *known)
{
  gpointer found = __atomic_load_n (known, __ATOMIC_RELAXED);

  if (!found) {
    found = dlsym (RTLD_NEXT, name);
    /* a program that calls nothing else of it was not linked with it: plugins bring it along */
    if (!found)
      found = dlsym (dlopen ("libgstvideo-1.0.so.0", RTLD_LAZY), name);
    if (!found)
      g_error ("there is no %s to call", name);
    __atomic_store_n (known, found, __ATOMIC_RELAXED);
  }
  return found;
}

/* The library's own function of that name. */
#define REAL(name) \
  ({ \
    static gpointer known; \
    (__typeof__ (&name)) tsan_find (#name, &known); \
  })

/* In place of a function: says what its call puts in order, or works on, and calls it. The second one is for void. */
#define TSAN_CALLS(type, name, declared, passed, ...) \
  type name declared \
  { \
    __VA_ARGS__; \
    return REAL (name) passed; \
  }
#define TSAN_ACTS(name, declared, passed, ...) \
  void name declared \
  { \
    __VA_ARGS__; \
    REAL (name) passed; \
  }

/* What this thread did so far lies before what another does after its next tsan_after() of the same place. */
static inline void
tsan_before (gconstpointer place)
{
  __tsan_release ((gpointer) place);
}

static inline void
tsan_after (gconstpointer place)
{
  __tsan_acquire ((gpointer) place);
}

/* Whether the call that returns to @caller is the project's: of the program or the plugin. */
gboolean tsan_is_ours (gconstpointer caller);

#define TSAN_CALLER __builtin_extract_return_addr (__builtin_return_address (0))

#endif
