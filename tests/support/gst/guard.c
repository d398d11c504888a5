/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/guard.h"

#include <stdio.h>
#include <stdlib.h>

static GMutex lock;
static GCond changed;
static gchar *watched;
static gint64 deadline; /* 0 = nothing to watch */
static gboolean started;

static gpointer
watch (gpointer data)
{
  g_mutex_lock (&lock);
  for (;;) {
    if (!deadline) {
      g_cond_wait (&changed, &lock);
    } else if (!g_cond_wait_until (&changed, &lock, deadline) && deadline && g_get_monotonic_time () >= deadline) {
      fprintf (stderr, "STANDS STILL: %s\n", watched);
      fflush (stderr);
      abort ();
    }
  }
  return NULL;
}

guint64
guard_number (const gchar *name, guint64 otherwise)
{
  const gchar *text = g_getenv (name);

  return text && *text ? g_ascii_strtoull (text, NULL, 10) : otherwise;
}

/* So many seconds where nothing slows the test down, in microseconds. */
static gint64
patience (guint seconds)
{
  return (gint64) seconds * (gint64) guard_number ("STEREO_TEST_SLOWNESS", 1) * G_USEC_PER_SEC;
}

void
guard_begin (const gchar *name, guint seconds)
{
  g_mutex_lock (&lock);
  g_free (watched);
  watched = g_strdup (name);
  deadline = g_get_monotonic_time () + patience (seconds);
  if (!started)
    g_thread_unref (g_thread_new ("guard", watch, NULL));
  started = TRUE;
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
}

void
guard_end (void)
{
  g_mutex_lock (&lock);
  deadline = 0;
  g_cond_signal (&changed);
  g_mutex_unlock (&lock);
}

/* ---- what is alive ----------------------------------------------------------------------- */

static GstTracer *
find_tracer (void)
{
  GList *tracers = gst_tracing_get_active_tracers ();
  GstTracer *found = NULL;

  for (GList *one = tracers; one; one = one->next)
    if (g_str_equal (G_OBJECT_TYPE_NAME (one->data), "GstLeaksTracer"))
      found = gst_object_ref (one->data);
  g_list_free_full (tracers, gst_object_unref);
  return found;
}

/* Objects are told by their type's name: one that is being destroyed must not be touched. */
static void
count (GHashTable *table, const GstStructure *tracked, const gchar *field, gint sign)
{
  const GValue *list = gst_structure_get_value (tracked, field);

  for (guint i = 0; list && i < gst_value_list_get_size (list); i++) {
    const GstStructure *one = gst_value_get_structure (gst_value_list_get_value (list, i));
    gpointer type = (gpointer) g_intern_string (gst_structure_get_string (one, "type-name"));
    gint number = GPOINTER_TO_INT (g_hash_table_lookup (table, type)) + sign;
    g_hash_table_insert (table, type, GINT_TO_POINTER (number));
  }
}

/* What came and went since the last call. */
static void
take_stock (GstTracer *tracer, GHashTable *table)
{
  GstStructure *tracked = NULL;

  g_signal_emit_by_name (tracer, "activity-get-checkpoint", &tracked);
  if (!tracked)
    return;
  count (table, tracked, "objects-created-list", 1);
  count (table, tracked, "objects-removed-list", -1);
  gst_structure_free (tracked);
}

static gchar *
describe (GHashTable *table)
{
  GString *text = g_string_new (NULL);
  GHashTableIter iter;
  gpointer type, number;

  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &type, &number))
    if (GPOINTER_TO_INT (number) > 0)
      g_string_append_printf (text, "%s%s +%d", text->len ? ", " : "", (const gchar *) type, GPOINTER_TO_INT (number));
  return g_string_free (text, text->len == 0);
}

void
guard_count_objects (void)
{
  GstTracer *tracer = find_tracer ();

  if (!tracer)
    return;
  g_signal_emit_by_name (tracer, "activity-start-tracking");
  gst_object_unref (tracer);
}

gchar *
guard_leaked (void)
{
  GstTracer *tracer = find_tracer ();
  gint64 end = g_get_monotonic_time () + patience (5);
  gchar *text = NULL;

  if (!tracer)
    return NULL;
  GHashTable *table = g_hash_table_new (NULL, NULL);
  /* a task that was stopped goes when its thread does, a moment later */
  do {
    g_free (text);
    take_stock (tracer, table);
  } while ((text = describe (table)) && g_get_monotonic_time () < end && (g_usleep (1000), TRUE));
  g_signal_emit_by_name (tracer, "activity-stop-tracking");
  g_hash_table_unref (table);
  gst_object_unref (tracer);
  return text;
}

/* Polled: a task that was stopped holds its element until its thread ends, a moment later. */
gboolean
guard_unref_last (gpointer object)
{
  gint64 end = g_get_monotonic_time () + patience (5);
  gboolean last;

  while (!(last = GST_OBJECT_REFCOUNT_VALUE (object) == 1) && g_get_monotonic_time () < end)
    g_usleep (1000);
  gst_object_unref (object);
  return last;
}
