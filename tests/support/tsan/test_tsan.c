/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What ThreadSanitizer sees through tsan.h, and what it does not take for a race. Every case runs in a process of its own,
 * which ends with RACE when something was reported.
 */
#include "tests/support/check.h"

#include <gst/gst.h>
#include <gst/video/video.h>

#include <sys/wait.h>

#define RACE 66

/* ---- an object that two threads work on ---------------------------------------------------- */

typedef struct
{
  GstObject parent;
  gint field, flag;
  gint atomic;
  GMutex mutex, second_mutex;
  GRecMutex recursive;
  GRWLock rw;
  GCond cond;
  GQueue queue;
  GstVideoInfo info;
  GstBuffer *buffer;
  guint8 *pixels;
  GstBufferPool *pool;
  GstBus *bus;
  GAsyncQueue *async;
  GstElement *element;
  GstPad *in, *out;
} Shared;

typedef struct
{
  GstObjectClass parent;
} SharedClass;

static GType shared_get_type (void);
G_DEFINE_TYPE (Shared, shared, GST_TYPE_OBJECT)

static void
shared_finalize (GObject *object)
{
  Shared *shared = (Shared *) object;

  shared->field = -1;
  g_mutex_clear (&shared->mutex);
  g_mutex_clear (&shared->second_mutex);
  g_rec_mutex_clear (&shared->recursive);
  g_rw_lock_clear (&shared->rw);
  g_cond_clear (&shared->cond);
  g_async_queue_unref (shared->async);
  gst_object_unref (shared->bus);
  G_OBJECT_CLASS (shared_parent_class)->finalize (object);
}

static void
shared_class_init (SharedClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = shared_finalize;
}

static void
shared_init (Shared *shared)
{
  g_mutex_init (&shared->mutex);
  g_mutex_init (&shared->second_mutex);
  g_rec_mutex_init (&shared->recursive);
  g_rw_lock_init (&shared->rw);
  g_cond_init (&shared->cond);
  g_queue_init (&shared->queue);
  shared->async = g_async_queue_new ();
  shared->bus = gst_bus_new ();
}

/* ---- locks ------------------------------------------------------------------------------- */

static void
change (Shared *shared)
{
  shared->field++;
}

static void
with_mutex (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  shared->field++;
  g_mutex_unlock (&shared->mutex);
}

static void
with_second_mutex (Shared *shared)
{
  g_mutex_lock (&shared->second_mutex);
  shared->field++;
  g_mutex_unlock (&shared->second_mutex);
}

static void
with_trylock (Shared *shared)
{
  if (g_mutex_trylock (&shared->mutex)) {
    shared->field++;
    g_mutex_unlock (&shared->mutex);
  }
}

/* What is locked twice and unlocked once is still locked. */
static void
with_recursive (Shared *shared)
{
  g_rec_mutex_lock (&shared->recursive);
  g_rec_mutex_lock (&shared->recursive);
  g_rec_mutex_unlock (&shared->recursive);
  shared->field++;
  g_rec_mutex_unlock (&shared->recursive);
}

static void
with_writer (Shared *shared)
{
  g_rw_lock_writer_lock (&shared->rw);
  shared->field++;
  g_rw_lock_writer_unlock (&shared->rw);
}

static void
read_as_reader (Shared *shared)
{
  g_rw_lock_reader_lock (&shared->rw);
  shared->flag = shared->field;
  g_rw_lock_reader_unlock (&shared->rw);
}

static void
change_as_reader (Shared *shared)
{
  g_rw_lock_reader_lock (&shared->rw);
  shared->field++;
  g_rw_lock_reader_unlock (&shared->rw);
}

static void
with_object_lock (Shared *shared)
{
  GST_OBJECT_LOCK (shared);
  shared->field++;
  GST_OBJECT_UNLOCK (shared);
}

/* The field is changed before the lock is taken: what is said under it puts that in order. */
static void
signal_it (Shared *shared)
{
  shared->field++;
  g_mutex_lock (&shared->mutex);
  shared->flag = TRUE;
  g_cond_signal (&shared->cond);
  g_mutex_unlock (&shared->mutex);
}

static void
wait_for_it (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  while (!shared->flag)
    g_cond_wait (&shared->cond, &shared->mutex);
  g_mutex_unlock (&shared->mutex);
  shared->field++;
}

/* The lock is not held while it waits: what is changed before is not covered by it. */
static void
wait_and_change_early (Shared *shared)
{
  shared->field++;
  wait_for_it (shared);
}

static void
wait_until (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  while (!shared->flag)
    g_cond_wait_until (&shared->cond, &shared->mutex, g_get_monotonic_time () + G_TIME_SPAN_SECOND);
  g_mutex_unlock (&shared->mutex);
  shared->field++;
}

static void
set_atomic (Shared *shared)
{
  g_atomic_int_set (&shared->atomic, 1);
}

static void
get_atomic (Shared *shared)
{
  shared->flag = g_atomic_int_get (&shared->atomic);
}

static void
get_plainly (Shared *shared)
{
  shared->flag = shared->atomic;
}

static void
init_once (Shared *shared)
{
  static gsize once;
  static gint made;

  if (g_once_init_enter (&once)) {
    made = 1;
    g_once_init_leave (&once, 1);
  }
  if (made != 1)
    g_print ("%p was not made\n", (void *) shared);
}

static void
one_then_the_other (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  with_second_mutex (shared);
  g_mutex_unlock (&shared->mutex);
}

static void
the_other_then_one (Shared *shared)
{
  g_mutex_lock (&shared->second_mutex);
  with_mutex (shared);
  g_mutex_unlock (&shared->second_mutex);
}

/* ---- references -------------------------------------------------------------------------- */

static void
change_with_reference (Shared *shared)
{
  gst_object_ref (shared);
  shared->field++;
  gst_object_unref (shared);
}

/* One of the two is the last, whose finalize changes the field. */
static void
give_reference_back (Shared *shared)
{
  if (shared->field == 0)
    gst_object_unref (shared);
}

static void
two_references (Shared *shared)
{
  gst_object_ref (shared);
  gst_object_ref (shared);
}

/* ---- what is handed over ------------------------------------------------------------------- */

static void
make_buffer (Shared *shared)
{
  GstMapInfo map;

  shared->buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  if (gst_buffer_map (shared->buffer, &map, GST_MAP_WRITE)) {
    shared->pixels = map.data;
    gst_buffer_unmap (shared->buffer, &map);
  }
}

static void
drop_buffer (Shared *shared)
{
  gst_clear_buffer (&shared->buffer);
}

static void
push_async (Shared *shared)
{
  shared->pixels[0]++;
  g_async_queue_push (shared->async, shared->buffer);
}

static void
push_async_and_change (Shared *shared)
{
  push_async (shared);
  shared->pixels[0]++;
}

static void
pop_async (Shared *shared)
{
  GstBuffer *buffer = g_async_queue_pop (shared->async);

  if (buffer == shared->buffer)
    shared->pixels[0]++;
}

static void
make_pool (Shared *shared)
{
  GstStructure *config;

  shared->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (shared->pool);
  gst_buffer_pool_config_set_params (config, NULL, 64, 1, 1);
  gst_buffer_pool_set_config (shared->pool, config);
  gst_buffer_pool_set_active (shared->pool, TRUE);
}

static void
drop_pool (Shared *shared)
{
  gst_buffer_pool_set_active (shared->pool, FALSE);
  gst_clear_object (&shared->pool);
}

/* There is but one buffer in it. */
static guint8 *
use_pool (Shared *shared)
{
  guint8 *pixels = NULL;
  GstBuffer *buffer;
  GstMapInfo map;

  if (gst_buffer_pool_acquire_buffer (shared->pool, &buffer, NULL) != GST_FLOW_OK)
    return NULL;
  if (gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    pixels = map.data;
    pixels[0]++;
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return pixels;
}

static void
take_from_pool (Shared *shared)
{
  use_pool (shared);
}

static void
take_from_pool_and_change (Shared *shared)
{
  use_pool (shared)[0]++;
}

static void
post (Shared *shared)
{
  shared->field++;
  gst_bus_post (shared->bus, gst_message_new_application (NULL, gst_structure_new_empty ("field")));
}

static void
post_and_change (Shared *shared)
{
  post (shared);
  shared->field++;
}

static void
receive (Shared *shared)
{
  GstMessage *message = gst_bus_timed_pop_filtered (shared->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_APPLICATION);

  shared->field++;
  gst_message_unref (message);
}

/* GStreamer's own queue, with its thread. */
static GstFlowReturn
take_pushed (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Shared *shared = g_object_get_data (G_OBJECT (pad), "thing");

  shared->pixels[0]++;
  gst_buffer_unref (buffer);
  g_mutex_lock (&shared->second_mutex);
  shared->flag = TRUE;
  g_cond_signal (&shared->cond);
  g_mutex_unlock (&shared->second_mutex);
  return GST_FLOW_OK;
}

static void
make_queue (Shared *shared)
{
  GstPad *sink, *src;

  make_buffer (shared);
  shared->element = gst_element_factory_make ("queue", NULL);
  sink = gst_element_get_static_pad (shared->element, "sink");
  src = gst_element_get_static_pad (shared->element, "src");
  shared->in = gst_pad_new ("in", GST_PAD_SRC);
  shared->out = gst_pad_new ("out", GST_PAD_SINK);
  g_object_set_data (G_OBJECT (shared->out), "thing", shared);
  gst_pad_set_chain_function (shared->out, take_pushed);
  gst_pad_link (shared->in, sink);
  gst_pad_link (src, shared->out);
  gst_pad_set_active (shared->in, TRUE);
  gst_pad_set_active (shared->out, TRUE);
  gst_element_set_state (shared->element, GST_STATE_PLAYING);
  gst_object_unref (sink);
  gst_object_unref (src);
}

static void
drop_queue (Shared *shared)
{
  g_mutex_lock (&shared->second_mutex);
  while (!shared->flag)
    g_cond_wait (&shared->cond, &shared->second_mutex);
  g_mutex_unlock (&shared->second_mutex);
  gst_element_set_state (shared->element, GST_STATE_NULL);
  gst_pad_set_active (shared->in, FALSE);
  gst_pad_set_active (shared->out, FALSE);
  gst_object_unref (shared->in);
  gst_object_unref (shared->out);
  gst_object_unref (shared->element);
  drop_buffer (shared);
}

static void
push (Shared *shared)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (shared->in, gst_event_new_stream_start ("test"));
  gst_pad_push_event (shared->in, gst_event_new_segment (&segment));
  shared->pixels[0]++;
  gst_pad_push (shared->in, gst_buffer_ref (shared->buffer));
}

static void
push_and_change (Shared *shared)
{
  push (shared);
  shared->pixels[0]++;
}

static void
nothing (Shared *shared)
{
}

static void
run_in_pool (gpointer item, gpointer data)
{
  ((Shared *) item)->field++;
}

static void
push_to_threads (Shared *shared)
{
  GThreadPool *pool = g_thread_pool_new (run_in_pool, NULL, 1, FALSE, NULL);

  /* the thread is there, idle, before there is work that it is to see */
  g_thread_pool_push (pool, g_object_new (shared_get_type (), NULL), NULL);
  g_usleep (100000);
  shared->field++;
  g_thread_pool_push (pool, shared, NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
}

/* ---- what libraries do in our memory ------------------------------------------------------- */

static void
push_on_queue (Shared *shared)
{
  g_queue_push_tail (&shared->queue, shared);
}

static void
pop_from_queue (Shared *shared)
{
  g_queue_pop_head (&shared->queue);
}

static void
pop_from_queue_with_mutex (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  g_queue_pop_head (&shared->queue);
  g_mutex_unlock (&shared->mutex);
}

static void
push_on_queue_with_mutex (Shared *shared)
{
  g_mutex_lock (&shared->mutex);
  g_queue_push_tail (&shared->queue, shared);
  g_mutex_unlock (&shared->mutex);
}

static void
set_info (Shared *shared)
{
  gst_video_info_set_format (&shared->info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
}

static void
get_info (Shared *shared)
{
  shared->flag = GST_VIDEO_INFO_WIDTH (&shared->info);
}

/* ---- the cases --------------------------------------------------------------------------- */

typedef struct
{
  const gchar *name;
  void (*first) (Shared *);
  void (*second) (Shared *);
  gboolean race, at_once; /* the second does not wait until the first is through */
  void (*before) (Shared *);
  void (*after) (Shared *);
} Case;

static const Case cases[] = {
  { "no lock", change, change, TRUE },
  { "GMutex", with_mutex, with_mutex, FALSE },
  { "GMutex, trylock", with_trylock, with_trylock, FALSE },
  { "GMutex on one side", with_mutex, change, TRUE },
  { "two different GMutexes", with_mutex, with_second_mutex, TRUE },
  { "GRecMutex", with_recursive, with_recursive, FALSE },
  { "GRecMutex on one side", with_recursive, change, TRUE },
  { "GRWLock, writers", with_writer, with_writer, FALSE },
  { "GRWLock, writer and reader", with_writer, read_as_reader, FALSE },
  { "GRWLock, changed by readers", change_as_reader, change_as_reader, TRUE },
  { "GST_OBJECT_LOCK", with_object_lock, with_object_lock, FALSE },
  { "GST_OBJECT_LOCK on one side", change, with_object_lock, TRUE },
  { "GCond", signal_it, wait_for_it, FALSE, TRUE },
  { "GCond, until", signal_it, wait_until, FALSE, TRUE },
  { "GCond, and too early", signal_it, wait_and_change_early, TRUE, TRUE },
  { "two locks, one order", one_then_the_other, one_then_the_other, FALSE },
  { "two locks, both orders", one_then_the_other, the_other_then_one, TRUE },
  { "atomic", set_atomic, get_atomic, FALSE },
  { "atomic on one side", set_atomic, get_plainly, TRUE },
  { "once", init_once, init_once, FALSE },
  { "references taken and given back", change_with_reference, change_with_reference, TRUE },
  { "last reference", give_reference_back, give_reference_back, FALSE, FALSE, two_references },
  { "buffer through GAsyncQueue", push_async, pop_async, FALSE, FALSE, make_buffer, drop_buffer },
  { "buffer through GAsyncQueue, changed later", push_async_and_change, pop_async, TRUE, FALSE, make_buffer,
      drop_buffer },
  { "buffer of a pool", take_from_pool, take_from_pool, FALSE, FALSE, make_pool, drop_pool },
  { "buffer of a pool, changed later", take_from_pool_and_change, take_from_pool, TRUE, FALSE, make_pool, drop_pool },
  { "message", post, receive, FALSE, FALSE },
  { "message, changed later", post_and_change, receive, TRUE, FALSE },
  { "buffer through a queue element", push, nothing, FALSE, FALSE, make_queue, drop_queue },
  { "buffer through a queue element, changed later", push_and_change, nothing, TRUE, FALSE, make_queue, drop_queue },
  { "work for a pool of threads", push_to_threads, nothing, FALSE },
  { "GQueue, no lock", push_on_queue, pop_from_queue, TRUE },
  { "GQueue, GMutex", push_on_queue_with_mutex, pop_from_queue_with_mutex, FALSE },
  { "GstVideoInfo, no lock", set_info, get_info, TRUE },
};

/* ---- two threads, one after the other, which the sanitizer is not told ----------------------- */

#define UNSEEN __attribute__ ((no_sanitize ("thread"), noinline))

static volatile gint turn;

static UNSEEN void
wait_for_turn (gint mine)
{
  while (turn < mine)
    g_usleep (1000);
}

static UNSEEN void
pass_turn (void)
{
  turn++;
}

typedef struct
{
  Shared *shared;
  void (*work) (Shared *);
  gint turn;
} Worker;

static gpointer
run_worker (gpointer data)
{
  Worker *worker = data;

  wait_for_turn (worker->turn);
  worker->work (worker->shared);
  pass_turn ();
  return NULL;
}

/* In a process of its own. */
static int
run_case (const Case *one)
{
  Shared *shared = gst_object_ref_sink (g_object_new (shared_get_type (), NULL));
  Worker workers[2] = { { shared, one->first, 0 }, { shared, one->second, one->at_once ? 0 : 1 } };
  GThread *threads[2];

  if (one->before)
    one->before (shared);
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("worker", run_worker, &workers[i]);
  /* the last reference is one of theirs */
  if (one->before == two_references)
    gst_object_unref (shared);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  if (one->after)
    one->after (shared);
  if (one->before != two_references)
    gst_object_unref (shared);
  return 0;
}

static void
judge_case (const Case *one, const gchar *program)
{
  gchar *arguments[] = { (gchar *) program, (gchar *) "--case", (gchar *) one->name, NULL };
  gchar *text = NULL, **env = g_get_environ ();
  const gchar *old = g_environ_getenv (env, "TSAN_OPTIONS");
  gchar *options = g_strdup_printf ("%s exitcode=%d", old ? old : "", RACE);
  GError *error = NULL;
  gint status = 0;
  gboolean raced;

  if (!check_begin ("%s", one->name)) {
    g_strfreev (env);
    g_free (options);
    return;
  }
  env = g_environ_setenv (env, "TSAN_OPTIONS", options, TRUE);
  if (CHECK (g_spawn_sync (NULL, arguments, env, 0, NULL, NULL, NULL, &text, &status, &error), "%s",
          error ? error->message : "?")) {
    raced = strstr (text, "WARNING: ThreadSanitizer: ") != NULL;
    CHECK (raced == one->race, "something was %s:\n%s", raced ? "reported" : "not reported", text);
    CHECK (WIFEXITED (status) && WEXITSTATUS (status) == (one->race ? RACE : 0), "status %d:\n%s", status, text);
  }
  check_end ();
  g_clear_error (&error);
  g_strfreev (env);
  g_free (options);
  g_free (text);
}

int
main (int argc, char **argv)
{
  gst_init (NULL, NULL);
  if (argc == 3 && g_str_equal (argv[1], "--case")) {
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      if (g_str_equal (argv[2], cases[i].name))
        return run_case (&cases[i]);
    return 1;
  }
  check_start (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    judge_case (&cases[i], argv[0]);
  return check_finish ();
}
