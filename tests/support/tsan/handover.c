/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/tsan/tsan.h"

#include <gst/gst.h>

#undef g_object_unref

/* ---- references -------------------------------------------------------------------------- */

/* Gives back a reference that is not the last one: TRUE when it did. */
static gboolean
one_less (gint *count)
{
  gint old = __atomic_load_n (count, __ATOMIC_RELAXED);

  while (old > 1)
    if (__atomic_compare_exchange_n (count, &old, old - 1, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return TRUE;
  return FALSE;
}

/* Whoever gives back the last reference has all before it that others did while they held one. */
void
g_object_unref (gpointer object)
{
  /* the field beside the count: nothing else is ever ordered by it */
  gpointer end = (gchar *) object + G_STRUCT_OFFSET (GObject, qdata);

  if (object) {
    tsan_before (end);
    /* no toggle references here, which would want to be told of the last but one */
    if (one_less ((gint *) &((GObject *) object)->ref_count))
      return;
    tsan_after (end);
  }
  REAL (g_object_unref) (object);
}

void
gst_mini_object_unref (GstMiniObject *object)
{
  if (object) {
    tsan_before (object);
    if (one_less (&object->refcount))
      return;
    tsan_after (object);
    /* what it holds is given back within the library */
    if (GST_IS_SAMPLE (object) && gst_sample_get_buffer (GST_SAMPLE (object)))
      tsan_before (gst_sample_get_buffer (GST_SAMPLE (object)));
  }
  REAL (gst_mini_object_unref) (object);
}

/* The only owner writes where others read before. */
gboolean
gst_mini_object_is_writable (const GstMiniObject *object)
{
  gboolean writable = REAL (gst_mini_object_is_writable) (object);

  if (writable)
    tsan_after (object);
  return writable;
}

GstMiniObject *
gst_mini_object_make_writable (GstMiniObject *object)
{
  tsan_before (object);
  object = REAL (gst_mini_object_make_writable) (object);
  tsan_after (object);
  return object;
}

gboolean
gst_mini_object_replace (GstMiniObject **place, GstMiniObject *object)
{
  GstMiniObject *old = __atomic_load_n (place, __ATOMIC_RELAXED);

  if (old)
    tsan_before (old);
  return REAL (gst_mini_object_replace) (place, object);
}

/* ---- buffers that a library keeps, and may be the last to hold ---------------------------- */

TSAN_CALLS (GstFlowReturn, gst_pad_push, (GstPad * pad, GstBuffer *buffer), (pad, buffer), tsan_before (buffer))
TSAN_CALLS (GstFlowReturn, gst_pad_chain, (GstPad * pad, GstBuffer *buffer), (pad, buffer), tsan_before (buffer))

GstFlowReturn
gst_buffer_pool_acquire_buffer (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  GstFlowReturn flow = REAL (gst_buffer_pool_acquire_buffer) (pool, buffer, params);

  if (flow == GST_FLOW_OK)
    tsan_after (*buffer);
  return flow;
}

/* ---- the ends of a clock's entries, which the clock's thread puts in order by a number of its own -- */

void AnnotateIgnoreWritesBegin (const char *file, int line);
void AnnotateIgnoreWritesEnd (const char *file, int line);

void
gst_clock_id_unref (GstClockID id)
{
  AnnotateIgnoreWritesBegin (__FILE__, __LINE__);
  REAL (gst_clock_id_unref) (id);
  AnnotateIgnoreWritesEnd (__FILE__, __LINE__);
}

/* ---- messages ---------------------------------------------------------------------------- */

TSAN_CALLS (gboolean, gst_element_post_message, (GstElement * element, GstMessage *message), (element, message),
    tsan_before (message))
TSAN_CALLS (gboolean, gst_bus_post, (GstBus * bus, GstMessage *message), (bus, message), tsan_before (message))

/* What a thread gets lies after what the thread did that has left it there. */
static gpointer
received (gpointer item)
{
  if (item)
    tsan_after (item);
  return item;
}

#define RECEIVES(type, name, declared, passed) \
  type name declared \
  { \
    return received (REAL (name) passed); \
  }
RECEIVES (GstMessage *, gst_bus_timed_pop_filtered, (GstBus * bus, GstClockTime timeout, GstMessageType types),
    (bus, timeout, types))
RECEIVES (GstMessage *, gst_bus_timed_pop, (GstBus * bus, GstClockTime timeout), (bus, timeout))
RECEIVES (GstMessage *, gst_bus_pop_filtered, (GstBus * bus, GstMessageType types), (bus, types))
RECEIVES (GstMessage *, gst_bus_pop, (GstBus * bus), (bus))

/* ---- threads of a pool, and asynchronous queues: their locks lie within GLib --------------- */

typedef struct
{
  GFunc function;
  gpointer data;
} PoolWork;

static void
work (gpointer item, gpointer data)
{
  PoolWork *pool = data;

  tsan_after (item);
  pool->function (item, pool->data);
  tsan_before (pool);
}

/* What is kept of the pool is never freed: there are a few of them in a process. */
GThreadPool *
g_thread_pool_new (GFunc function, gpointer data, gint threads, gboolean exclusive, GError **error)
{
  PoolWork *pool = g_new (PoolWork, 1);

  *pool = (PoolWork){ function, data };
  return REAL (g_thread_pool_new) (work, pool, threads, exclusive, error);
}

TSAN_CALLS (gboolean, g_thread_pool_push, (GThreadPool * pool, gpointer item, GError **error), (pool, item, error),
    tsan_before (item))

void
g_thread_pool_free (GThreadPool *pool, gboolean immediate, gboolean wait)
{
  gpointer ours = wait && pool->func == work ? pool->user_data : NULL;

  REAL (g_thread_pool_free) (pool, immediate, wait);
  if (ours)
    tsan_after (ours);
}

TSAN_ACTS (g_async_queue_push, (GAsyncQueue * queue, gpointer item), (queue, item), tsan_before (item))
RECEIVES (gpointer, g_async_queue_pop, (GAsyncQueue * queue), (queue))
RECEIVES (gpointer, g_async_queue_try_pop, (GAsyncQueue * queue), (queue))
RECEIVES (gpointer, g_async_queue_timeout_pop, (GAsyncQueue * queue, guint64 timeout), (queue, timeout))

/* ---- classes ----------------------------------------------------------------------------- */

/* A class is made by the first who wants an object of it, under a lock; who comes later only looks whether it is made. */
static const gchar classes;
static gsize made[4096];

static void
class_is_made (GType type)
{
  for (gsize i = type >> 4;; i++) {
    gsize *place = &made[i % G_N_ELEMENTS (made)], none = 0;

    if (__atomic_load_n (place, __ATOMIC_ACQUIRE) == type)
      return;
    if (__atomic_load_n (place, __ATOMIC_ACQUIRE) == 0) {
      tsan_before (&classes);
      if (__atomic_compare_exchange_n (place, &none, type, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || none == type)
        return;
    }
  }
}

gpointer
g_type_class_ref (GType type)
{
  gpointer made_class;

  tsan_after (&classes);
  made_class = REAL (g_type_class_ref) (type);
  class_is_made (type);
  return made_class;
}

gpointer
g_object_new (GType type, const gchar *first, ...)
{
  GObject *object;
  va_list arguments;

  tsan_after (&classes);
  va_start (arguments, first);
  object = first ? g_object_new_valist (type, first, arguments) :
                   REAL (g_object_new_with_properties) (type, 0, NULL, NULL);
  va_end (arguments);
  class_is_made (type);
  return object;
}

GObject *
g_object_new_with_properties (GType type, guint count, const char *names[], const GValue values[])
{
  GObject *object;

  tsan_after (&classes);
  object = REAL (g_object_new_with_properties) (type, count, names, values);
  class_is_made (type);
  return object;
}
