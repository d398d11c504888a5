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

/* ---- GMutex ------------------------------------------------------------------------------ */

void
g_mutex_clear (GMutex *mutex)
{
  DESTROY (mutex);
  REAL (g_mutex_clear) (mutex);
}

void
g_mutex_lock (GMutex *mutex)
{
  __tsan_mutex_pre_lock (mutex, 0);
  REAL (g_mutex_lock) (mutex);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  gboolean locked;

  __tsan_mutex_pre_lock (mutex, __tsan_mutex_try_lock);
  locked = REAL (g_mutex_trylock) (mutex);
  __tsan_mutex_post_lock (mutex, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed), 0);
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  REAL (g_mutex_unlock) (mutex);
  __tsan_mutex_post_unlock (mutex, 0);
}

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

/* ---- GRecMutex: of pthread, but called by GLib, whose calls tests/tsan.supp has left out -- */

void
g_rec_mutex_clear (GRecMutex *mutex)
{
  DESTROY (mutex);
  REAL (g_rec_mutex_clear) (mutex);
}

void
g_rec_mutex_lock (GRecMutex *mutex)
{
  __tsan_mutex_pre_lock (mutex, __tsan_mutex_write_reentrant);
  REAL (g_rec_mutex_lock) (mutex);
  __tsan_mutex_post_lock (mutex, __tsan_mutex_write_reentrant, 1);
}

gboolean
g_rec_mutex_trylock (GRecMutex *mutex)
{
  const guint flags = __tsan_mutex_write_reentrant | __tsan_mutex_try_lock;
  gboolean locked;

  __tsan_mutex_pre_lock (mutex, flags);
  locked = REAL (g_rec_mutex_trylock) (mutex);
  __tsan_mutex_post_lock (mutex, flags | (locked ? 0 : __tsan_mutex_try_lock_failed), 1);
  return locked;
}

void
g_rec_mutex_unlock (GRecMutex *mutex)
{
  __tsan_mutex_pre_unlock (mutex, 0);
  REAL (g_rec_mutex_unlock) (mutex);
  __tsan_mutex_post_unlock (mutex, 0);
}

/* ---- GRWLock ----------------------------------------------------------------------------- */

void
g_rw_lock_clear (GRWLock *lock)
{
  DESTROY (lock);
  REAL (g_rw_lock_clear) (lock);
}

void
g_rw_lock_writer_lock (GRWLock *lock)
{
  __tsan_mutex_pre_lock (lock, 0);
  REAL (g_rw_lock_writer_lock) (lock);
  __tsan_mutex_post_lock (lock, 0, 0);
}

gboolean
g_rw_lock_writer_trylock (GRWLock *lock)
{
  gboolean locked;

  __tsan_mutex_pre_lock (lock, __tsan_mutex_try_lock);
  locked = REAL (g_rw_lock_writer_trylock) (lock);
  __tsan_mutex_post_lock (lock, __tsan_mutex_try_lock | (locked ? 0 : __tsan_mutex_try_lock_failed), 0);
  return locked;
}

void
g_rw_lock_writer_unlock (GRWLock *lock)
{
  __tsan_mutex_pre_unlock (lock, 0);
  REAL (g_rw_lock_writer_unlock) (lock);
  __tsan_mutex_post_unlock (lock, 0);
}

void
g_rw_lock_reader_lock (GRWLock *lock)
{
  __tsan_mutex_pre_lock (lock, __tsan_mutex_read_lock);
  REAL (g_rw_lock_reader_lock) (lock);
  __tsan_mutex_post_lock (lock, __tsan_mutex_read_lock, 0);
}

gboolean
g_rw_lock_reader_trylock (GRWLock *lock)
{
  gboolean locked;

  __tsan_mutex_pre_lock (lock, __tsan_mutex_try_read_lock);
  locked = REAL (g_rw_lock_reader_trylock) (lock);
  __tsan_mutex_post_lock (lock, locked ? __tsan_mutex_try_read_lock : __tsan_mutex_try_read_lock_failed, 0);
  return locked;
}

void
g_rw_lock_reader_unlock (GRWLock *lock)
{
  __tsan_mutex_pre_unlock (lock, __tsan_mutex_read_lock);
  REAL (g_rw_lock_reader_unlock) (lock);
  __tsan_mutex_post_unlock (lock, __tsan_mutex_read_lock);
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
