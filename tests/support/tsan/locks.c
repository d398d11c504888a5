/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/tsan/tsan.h"

#include <string.h>

#undef g_once_init_enter
#undef g_once_init_leave

gboolean
tsan_is_ours (gconstpointer caller)
{
  static gsize known[4096]; /* address of a call, and 1 if it is ours */
  gsize *place = &known[((gsize) caller >> 2) % G_N_ELEMENTS (known)];
  gsize seen = __atomic_load_n (place, __ATOMIC_RELAXED), address = (gsize) caller << 1;
  Dl_info info, own;
  gboolean ours;

  if ((seen & ~(gsize) 1) == address)
    return seen & 1;
  ours = dladdr (caller, &info) && dladdr (tsan_is_ours, &own) &&
      (info.dli_fbase == own.dli_fbase || strstr (info.dli_fname, "libgststereo"));
  __atomic_store_n (place, address | (ours ? 1 : 0), __ATOMIC_RELAXED);
  return ours;
}

/* The end of a lock is checked as a write to it. What puts a library's before it, such as a count of a clock's entries,
 * is not seen: that is left to the library. */
#define DESTROY(lock) \
  do \
    if (tsan_is_ours (TSAN_CALLER)) \
      __tsan_mutex_destroy (lock, 0); \
  while (0)

/* GRecMutex is one of pthread, but GLib calls that, and tests/tsan.supp leaves GLib's calls out. */
#define CLEARS(name, type) \
  void name (type *lock) \
  { \
    DESTROY (lock); \
    REAL (name) (lock); \
  }
CLEARS (g_mutex_clear, GMutex)
CLEARS (g_rec_mutex_clear, GRecMutex)
CLEARS (g_rw_lock_clear, GRWLock)

/* The functions PREFIX_lock(), PREFIX_trylock() and PREFIX_unlock(). @depth: how often a lock() locks a lock that its thread may
 * lock again. */
#define LOCKS(prefix, type, flags, depth) \
  void prefix##_lock (type *lock) \
  { \
    __tsan_mutex_pre_lock (lock, flags); \
    REAL (prefix##_lock) (lock); \
    __tsan_mutex_post_lock (lock, flags, depth); \
  } \
  gboolean prefix##_trylock (type *lock) \
  { \
    __tsan_mutex_pre_lock (lock, (flags) | __tsan_mutex_try_lock); \
    gboolean locked = REAL (prefix##_trylock) (lock); \
    __tsan_mutex_post_lock ( \
        lock, (flags) | __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed), depth); \
    return locked; \
  } \
  void prefix##_unlock (type *lock) \
  { \
    __tsan_mutex_pre_unlock (lock, (flags) &__tsan_mutex_read_lock); \
    REAL (prefix##_unlock) (lock); \
    __tsan_mutex_post_unlock (lock, (flags) &__tsan_mutex_read_lock); \
  }
LOCKS (g_mutex, GMutex, 0, 0)
LOCKS (g_rec_mutex, GRecMutex, __tsan_mutex_write_reentrant, 1)
LOCKS (g_rw_lock_writer, GRWLock, 0, 0)
LOCKS (g_rw_lock_reader, GRWLock, __tsan_mutex_read_lock, 0)

/* ---- GCond: the mutex orders, not the signal --------------------------------------------- */

static void
leave (GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
}

static void
come_back (GMutex *mutex)
{
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  leave (mutex);
  REAL (g_cond_wait) (cond, mutex);
  come_back (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end)
{
  gboolean signalled;

  leave (mutex);
  signalled = REAL (g_cond_wait_until) (cond, mutex, end);
  come_back (mutex);
  return signalled;
}

/* ---- once: its fast way is a macro, which loads the place itself -------------------------- */

gboolean
g_once_init_enter (volatile void *location)
{
  gboolean first = REAL (g_once_init_enter) (location);

  if (!first)
    tsan_after ((gconstpointer) location);
  return first;
}

void
g_once_init_leave (volatile void *location, gsize result)
{
  tsan_before ((gconstpointer) location);
  REAL (g_once_init_leave) (location, result);
}
