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
  gint field, said;
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
} Thing;

typedef struct
{
  GstObjectClass parent;
} ThingClass;

static GType thing_get_type (void);
G_DEFINE_TYPE (Thing, thing, GST_TYPE_OBJECT)

static void
thing_finalize (GObject *object)
{
  Thing *thing = (Thing *) object;

  thing->field = -1;
  g_mutex_clear (&thing->mutex);
  g_mutex_clear (&thing->second_mutex);
  g_rec_mutex_clear (&thing->recursive);
  g_rw_lock_clear (&thing->rw);
  g_cond_clear (&thing->cond);
  g_async_queue_unref (thing->async);
  gst_object_unref (thing->bus);
  G_OBJECT_CLASS (thing_parent_class)->finalize (object);
}

static void
thing_class_init (ThingClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = thing_finalize;
}

static void
thing_init (Thing *thing)
{
  g_mutex_init (&thing->mutex);
  g_mutex_init (&thing->second_mutex);
  g_rec_mutex_init (&thing->recursive);
  g_rw_lock_init (&thing->rw);
  g_cond_init (&thing->cond);
  g_queue_init (&thing->queue);
  thing->async = g_async_queue_new ();
  thing->bus = gst_bus_new ();
}

/* ---- locks ------------------------------------------------------------------------------- */

static void
change (Thing *thing)
{
  thing->field++;
}

static void
with_mutex (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  thing->field++;
  g_mutex_unlock (&thing->mutex);
}

static void
with_second_mutex (Thing *thing)
{
  g_mutex_lock (&thing->second_mutex);
  thing->field++;
  g_mutex_unlock (&thing->second_mutex);
}

static void
with_trylock (Thing *thing)
{
  if (g_mutex_trylock (&thing->mutex)) {
    thing->field++;
    g_mutex_unlock (&thing->mutex);
  }
}

/* What is locked twice and unlocked once is still locked. */
static void
with_recursive (Thing *thing)
{
  g_rec_mutex_lock (&thing->recursive);
  g_rec_mutex_lock (&thing->recursive);
  g_rec_mutex_unlock (&thing->recursive);
  thing->field++;
  g_rec_mutex_unlock (&thing->recursive);
}

static void
with_writer (Thing *thing)
{
  g_rw_lock_writer_lock (&thing->rw);
  thing->field++;
  g_rw_lock_writer_unlock (&thing->rw);
}

static void
read_as_reader (Thing *thing)
{
  g_rw_lock_reader_lock (&thing->rw);
  thing->said = thing->field;
  g_rw_lock_reader_unlock (&thing->rw);
}

static void
change_as_reader (Thing *thing)
{
  g_rw_lock_reader_lock (&thing->rw);
  thing->field++;
  g_rw_lock_reader_unlock (&thing->rw);
}

static void
with_object_lock (Thing *thing)
{
  GST_OBJECT_LOCK (thing);
  thing->field++;
  GST_OBJECT_UNLOCK (thing);
}

/* The field is changed before the lock is taken: what is said under it puts that in order. */
static void
signal_it (Thing *thing)
{
  thing->field++;
  g_mutex_lock (&thing->mutex);
  thing->said = TRUE;
  g_cond_signal (&thing->cond);
  g_mutex_unlock (&thing->mutex);
}

static void
wait_for_it (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  while (!thing->said)
    g_cond_wait (&thing->cond, &thing->mutex);
  g_mutex_unlock (&thing->mutex);
  thing->field++;
}

/* The lock is not held while it waits: what is changed before is not covered by it. */
static void
wait_and_change_early (Thing *thing)
{
  thing->field++;
  wait_for_it (thing);
}

static void
wait_until (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  while (!thing->said)
    g_cond_wait_until (&thing->cond, &thing->mutex, g_get_monotonic_time () + G_TIME_SPAN_SECOND);
  g_mutex_unlock (&thing->mutex);
  thing->field++;
}

static void
set_atomic (Thing *thing)
{
  g_atomic_int_set (&thing->atomic, 1);
}

static void
get_atomic (Thing *thing)
{
  thing->said = g_atomic_int_get (&thing->atomic);
}

static void
get_plainly (Thing *thing)
{
  thing->said = thing->atomic;
}

static void
init_once (Thing *thing)
{
  static gsize once;
  static gint made;

  if (g_once_init_enter (&once)) {
    made = 1;
    g_once_init_leave (&once, 1);
  }
  if (made != 1)
    g_print ("%p was not made\n", (void *) thing);
}

static void
one_then_the_other (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  with_second_mutex (thing);
  g_mutex_unlock (&thing->mutex);
}

static void
the_other_then_one (Thing *thing)
{
  g_mutex_lock (&thing->second_mutex);
  with_mutex (thing);
  g_mutex_unlock (&thing->second_mutex);
}

/* ---- references -------------------------------------------------------------------------- */

static void
change_with_reference (Thing *thing)
{
  gst_object_ref (thing);
  thing->field++;
  gst_object_unref (thing);
}

/* One of the two is the last, whose finalize changes the field. */
static void
give_reference_back (Thing *thing)
{
  if (thing->field == 0)
    gst_object_unref (thing);
}

static void
two_references (Thing *thing)
{
  gst_object_ref (thing);
  gst_object_ref (thing);
}

/* ---- what is handed over ------------------------------------------------------------------- */

static void
make_buffer (Thing *thing)
{
  GstMapInfo map;

  thing->buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  if (gst_buffer_map (thing->buffer, &map, GST_MAP_WRITE)) {
    thing->pixels = map.data;
    gst_buffer_unmap (thing->buffer, &map);
  }
}

static void
drop_buffer (Thing *thing)
{
  gst_clear_buffer (&thing->buffer);
}

static void
push_async (Thing *thing)
{
  thing->pixels[0]++;
  g_async_queue_push (thing->async, thing->buffer);
}

static void
push_async_and_change (Thing *thing)
{
  push_async (thing);
  thing->pixels[0]++;
}

static void
pop_async (Thing *thing)
{
  GstBuffer *buffer = g_async_queue_pop (thing->async);

  if (buffer == thing->buffer)
    thing->pixels[0]++;
}

static void
make_pool (Thing *thing)
{
  GstStructure *config;

  thing->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (thing->pool);
  gst_buffer_pool_config_set_params (config, NULL, 64, 1, 1);
  gst_buffer_pool_set_config (thing->pool, config);
  gst_buffer_pool_set_active (thing->pool, TRUE);
}

static void
drop_pool (Thing *thing)
{
  gst_buffer_pool_set_active (thing->pool, FALSE);
  gst_clear_object (&thing->pool);
}

/* There is but one buffer in it. */
static guint8 *
use_pool (Thing *thing)
{
  guint8 *pixels = NULL;
  GstBuffer *buffer;
  GstMapInfo map;

  if (gst_buffer_pool_acquire_buffer (thing->pool, &buffer, NULL) != GST_FLOW_OK)
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
take_from_pool (Thing *thing)
{
  use_pool (thing);
}

static void
take_from_pool_and_change (Thing *thing)
{
  use_pool (thing)[0]++;
}

static void
post (Thing *thing)
{
  thing->field++;
  gst_bus_post (thing->bus, gst_message_new_application (NULL, gst_structure_new_empty ("field")));
}

static void
post_and_change (Thing *thing)
{
  post (thing);
  thing->field++;
}

static void
receive (Thing *thing)
{
  GstMessage *message = gst_bus_timed_pop_filtered (thing->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_APPLICATION);

  thing->field++;
  gst_message_unref (message);
}

/* GStreamer's own queue, with its thread. */
static GstFlowReturn
take_pushed (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Thing *thing = g_object_get_data (G_OBJECT (pad), "thing");

  thing->pixels[0]++;
  gst_buffer_unref (buffer);
  g_mutex_lock (&thing->second_mutex);
  thing->said = TRUE;
  g_cond_signal (&thing->cond);
  g_mutex_unlock (&thing->second_mutex);
  return GST_FLOW_OK;
}

static void
make_queue (Thing *thing)
{
  GstPad *sink, *src;

  make_buffer (thing);
  thing->element = gst_element_factory_make ("queue", NULL);
  sink = gst_element_get_static_pad (thing->element, "sink");
  src = gst_element_get_static_pad (thing->element, "src");
  thing->in = gst_pad_new ("in", GST_PAD_SRC);
  thing->out = gst_pad_new ("out", GST_PAD_SINK);
  g_object_set_data (G_OBJECT (thing->out), "thing", thing);
  gst_pad_set_chain_function (thing->out, take_pushed);
  gst_pad_link (thing->in, sink);
  gst_pad_link (src, thing->out);
  gst_pad_set_active (thing->in, TRUE);
  gst_pad_set_active (thing->out, TRUE);
  gst_element_set_state (thing->element, GST_STATE_PLAYING);
  gst_object_unref (sink);
  gst_object_unref (src);
}

static void
drop_queue (Thing *thing)
{
  g_mutex_lock (&thing->second_mutex);
  while (!thing->said)
    g_cond_wait (&thing->cond, &thing->second_mutex);
  g_mutex_unlock (&thing->second_mutex);
  gst_element_set_state (thing->element, GST_STATE_NULL);
  gst_pad_set_active (thing->in, FALSE);
  gst_pad_set_active (thing->out, FALSE);
  gst_object_unref (thing->in);
  gst_object_unref (thing->out);
  gst_object_unref (thing->element);
  drop_buffer (thing);
}

static void
push (Thing *thing)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (thing->in, gst_event_new_stream_start ("test"));
  gst_pad_push_event (thing->in, gst_event_new_segment (&segment));
  thing->pixels[0]++;
  gst_pad_push (thing->in, gst_buffer_ref (thing->buffer));
}

static void
push_and_change (Thing *thing)
{
  push (thing);
  thing->pixels[0]++;
}

static void
nothing (Thing *thing)
{
}

static void
run_in_pool (gpointer item, gpointer data)
{
  ((Thing *) item)->field++;
}

static void
push_to_threads (Thing *thing)
{
  GThreadPool *pool = g_thread_pool_new (run_in_pool, NULL, 1, FALSE, NULL);

  /* the thread is there, idle, before there is work that it is to see */
  g_thread_pool_push (pool, g_object_new (thing_get_type (), NULL), NULL);
  g_usleep (100000);
  thing->field++;
  g_thread_pool_push (pool, thing, NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
}

/* ---- what libraries do in our memory ------------------------------------------------------- */

static void
push_on_queue (Thing *thing)
{
  g_queue_push_tail (&thing->queue, thing);
}

static void
pop_from_queue (Thing *thing)
{
  g_queue_pop_head (&thing->queue);
}

static void
pop_from_queue_with_mutex (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  g_queue_pop_head (&thing->queue);
  g_mutex_unlock (&thing->mutex);
}

static void
push_on_queue_with_mutex (Thing *thing)
{
  g_mutex_lock (&thing->mutex);
  g_queue_push_tail (&thing->queue, thing);
  g_mutex_unlock (&thing->mutex);
}

static void
set_info (Thing *thing)
{
  gst_video_info_set_format (&thing->info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
}

static void
get_info (Thing *thing)
{
  thing->said = GST_VIDEO_INFO_WIDTH (&thing->info);
}

/* ---- the cases --------------------------------------------------------------------------- */

typedef struct
{
  const gchar *name;
  void (*first) (Thing *);
  void (*second) (Thing *);
  gboolean race, at_once; /* the second does not wait until the first is through */
  void (*before) (Thing *);
  void (*after) (Thing *);
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
  Thing *thing;
  void (*work) (Thing *);
  gint turn;
} Worker;

static gpointer
run_worker (gpointer data)
{
  Worker *worker = data;

  wait_for_turn (worker->turn);
  worker->work (worker->thing);
  pass_turn ();
  return NULL;
}

/* In a process of its own. */
static int
run_case (const Case *one)
{
  Thing *thing = gst_object_ref_sink (g_object_new (thing_get_type (), NULL));
  Worker workers[2] = { { thing, one->first, 0 }, { thing, one->second, one->at_once ? 0 : 1 } };
  GThread *threads[2];

  if (one->before)
    one->before (thing);
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("worker", run_worker, &workers[i]);
  /* the last reference is one of theirs */
  if (one->before == two_references)
    gst_object_unref (thing);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  if (one->after)
    one->after (thing);
  if (one->before != two_references)
    gst_object_unref (thing);
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
