/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Live sources that send more than the machine can compute, and sources that are later than they announce. Every output
 * comes within the latency that is reported at that time. The rest is dropped before it is computed, and messages
 * report it. tests/soak.sh sets these variables:
 *
 *   STEREO_LOAD_SECONDS=N      duration of each source (default 3)
 *   STEREO_BACKEND=cuda        computes on a device
 *   STEREO_TEST_SEED=N         the seed of sizes, rates and the load of other threads
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>

#include "tests/support/gst/guard.h"
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

/* Between the element's last look at the clock and the one at its source pad this thread may lose the processor: so
 * long at most, and seldom. All the rest of a pair's time is within the latency. */
#define PREEMPTED (20 * GST_MSECOND)
#define SELDOM 100 /* of so many outputs, one */

/* A processor that stood still for so long was not there for the test. */
#define STALL 5000 /* microseconds */
#define WATCHES 16

#define NOISES 2

/* A thread on one processor that sleeps a millisecond at a time. What it wakes too late by, every thread there lost: another
 * machine on the same hardware had the processor. That is no fault of the element, and is not held against it. */
typedef struct
{
  GThread *thread;
  guint processor;
  GMutex lock;
  GArray *stalls; /* of Stall */
  gint64 awake;   /* when it was last */
  gint quiet;     /* atomic */
} Watch;

/* Time of the monotonic clock, in microseconds */
typedef struct
{
  gint64 begin, end;
} Stall;

typedef struct
{
  GstElement *pipeline, *element;
  GstClockTime frame;
  /* written by the streaming thread */
  guint outputs, beyond;
  gint64 worst_beyond; /* age over the latency, without stalls */
  gint64 before;       /* running time of the last output */
  GstClockTime reported, last;
  GstClockTime configured; /* with the element's lock */
  gchar *failure;
  /* messages of the element */
  gint latency_messages, seen; /* latency_messages: atomic */
  gint qos_messages;           /* atomic */
  guint64 dropped;
  /* what else the machine does */
  gint quiet;  /* atomic */
  guint noisy; /* threads */
  GThread *noises[NOISES];
  GRand *rand;
  Watch watches[WATCHES];
} Load;

/* ---- what the machine takes -------------------------------------------------------------- */

static gpointer
watch_processor (gpointer data)
{
  Watch *watch = data;
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (watch->processor, &set);
  /* where that is not allowed it watches the machine as a whole */
  (void) pthread_setaffinity_np (pthread_self (), sizeof set, &set);
  while (!g_atomic_int_get (&watch->quiet)) {
    gint64 now, before = g_get_monotonic_time ();

    g_usleep (1000);
    now = g_get_monotonic_time ();
    g_mutex_lock (&watch->lock);
    if (now - before > STALL) {
      Stall stall = { before, now };
      g_array_append_val (watch->stalls, stall);
    }
    watch->awake = now;
    g_mutex_unlock (&watch->lock);
  }
  return NULL;
}

/* How long the processor that stood still longest did so in the last @time nanoseconds. */
static gint64
stalled (Load *load, gint64 time)
{
  gint64 now = g_get_monotonic_time (), from = now - time / 1000, most = 0;

  for (guint i = 0; i < WATCHES && load->watches[i].thread; i++) {
    Watch *watch = &load->watches[i];
    gint64 sum = 0;
    g_mutex_lock (&watch->lock);
    for (guint k = 0; k < watch->stalls->len; k++) {
      const Stall *stall = &g_array_index (watch->stalls, Stall, k);
      sum += MAX (0, stall->end - MAX (from, stall->begin));
    }
    if (now - watch->awake > STALL)
      sum += now - MAX (from, watch->awake);
    g_mutex_unlock (&watch->lock);
    most = MAX (most, sum);
  }
  return most * 1000;
}

/* ---- what is judged ---------------------------------------------------------------------- */

/* Latency of the element and what comes before it. */
static GstClockTime
latency_at (GstPad *pad)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime min = 0;
  gboolean live = FALSE;

  if (gst_pad_query (pad, query))
    gst_query_parse_latency (query, &live, &min, NULL);
  return live ? min : 0;
}

/* The latency that the sinks have, which comes from the queries: the sink's own 20 ms are part of it. */
static GstPadProbeReturn
at_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Load *load = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstClockTime latency;

  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &latency);
    GST_OBJECT_LOCK (load->element);
    load->configured = latency;
    GST_OBJECT_UNLOCK (load->element);
  }
  return GST_PAD_PROBE_OK;
}

static void
complain (Load *load, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (!load->failure)
    load->failure = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}

static void
judge_age (Load *load, gint64 age, GstClockTime reported)
{
  gint64 beyond = age - (gint64) reported;

  if (beyond > 0)
    beyond -= stalled (load, age);
  if (beyond > 0)
    load->beyond++;
  load->worst_beyond = MAX (load->worst_beyond, beyond);
}

/* Outputs come one after the other, each within the latency, and a sink may hold the thread for as long; beyond that,
 * late frames may fill half a second before they are believed, and the noise another one. */
static void
judge_flow (Load *load, gint64 now, GstClockTime reported)
{
  gint64 time = now - load->before, most = 3 * (gint64) reported + (gint64) GST_SECOND;

  if (load->outputs && time > most && time > most + stalled (load, time))
    complain (load, "nothing for %" G_GINT64_FORMAT " ns", time);
  load->before = now;
}

/* Timestamps are whole frames apart, but for rounding; what was dropped between two outputs is a DISCONT. */
static void
judge_stamps (Load *load, GstBuffer *buffer)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer), off = (pts - load->last) % load->frame;
  gboolean gap = pts > load->last + load->frame + load->frame / 2;

  if ((load->outputs && MIN (off, load->frame - off) > 10 * GST_USECOND) ||
      ABS (GST_CLOCK_DIFF (load->frame, GST_BUFFER_DURATION (buffer))) > 10)
    complain (load, "a timestamp of %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, pts, load->last);
  if (load->outputs && pts <= load->last)
    complain (load, "%" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, pts, load->last);
  if (load->outputs && gap != GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT))
    complain (load, "%" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT ": DISCONT is %s", pts, load->last,
        gap ? "missing" : "set");
  load->last = pts;
}

static gint64
running_time (GstPad *pad, GstBuffer *buffer)
{
  g_autoptr (GstEvent) event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  guint64 time = 0;

  gst_event_parse_segment (event, &segment);
  gint sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  return sign * (gint64) time;
}

static GstPadProbeReturn
at_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Load *load = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime now = gst_element_get_current_running_time (load->element), reported = latency_at (pad), configured;
  gint messages = g_atomic_int_get (&load->latency_messages);

  GST_OBJECT_LOCK (load->element);
  configured = load->configured;
  GST_OBJECT_UNLOCK (load->element);
  /* of the first one nothing was known */
  if (load->outputs)
    judge_age (load, (gint64) now - running_time (pad, buffer), MAX (reported, configured));
  judge_flow (load, (gint64) now, reported);
  if (reported != load->reported && messages == load->seen)
    complain (load, "the latency is %" G_GUINT64_FORMAT " now, and no message tells", reported);
  load->reported = reported;
  load->seen = messages;
  judge_stamps (load, buffer);
  load->outputs++;
  return GST_PAD_PROBE_OK;
}

static void
judge_qos (Load *load, GstMessage *message)
{
  guint64 running_time, stream_time, timestamp, duration, processed, dropped;
  gdouble proportion;
  gboolean live;
  gint quality;
  gint64 jitter;
  GstFormat format;

  gst_message_parse_qos (message, &live, &running_time, &stream_time, &timestamp, &duration);
  gst_message_parse_qos_values (message, &jitter, &proportion, &quality);
  gst_message_parse_qos_stats (message, &format, &processed, &dropped);
  if (!live || jitter <= 0 || proportion <= 0 || format != GST_FORMAT_BUFFERS || dropped != load->dropped + 1)
    complain (load,
        "a QoS message: live %d, jitter %" G_GINT64_FORMAT ", proportion %g, %" G_GUINT64_FORMAT
        " dropped after %" G_GUINT64_FORMAT,
        live, jitter, proportion, dropped, load->dropped);
  load->dropped = dropped;
}

/* Where they are posted: before the buffer that they are about. */
static GstBusSyncReply
at_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Load *load = data;

  if (GST_MESSAGE_SRC (message) != GST_OBJECT (load->element))
    return GST_BUS_PASS;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY)
    g_atomic_int_inc (&load->latency_messages);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_QOS) {
    judge_qos (load, message);
    g_atomic_int_inc (&load->qos_messages);
  }
  return GST_BUS_PASS;
}

/* ---- what else the machine does ---------------------------------------------------------- */

static gpointer
make_noise (gpointer data)
{
  Load *load = data;
  g_autoptr (GRand) rand = NULL;

  GST_OBJECT_LOCK (load->element);
  rand = g_rand_new_with_seed (g_rand_int (load->rand));
  GST_OBJECT_UNLOCK (load->element);
  while (!g_atomic_int_get (&load->quiet)) {
    gint64 end = g_get_monotonic_time () + g_rand_int_range (rand, 0, 150000);
    while (g_get_monotonic_time () < end)
      ;
    g_usleep ((gulong) g_rand_int_range (rand, 0, 150000));
  }
  return NULL;
}

/* ---- pipelines --------------------------------------------------------------------------- */

static guint
seconds (void)
{
  return (guint) guard_number ("STEREO_LOAD_SECONDS", 3);
}

static void
load_new (Load *load, const gchar *text)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());

  memset (load, 0, sizeof *load);
  g_print ("STEREO_TEST_SEED=%u\n", seed);
  load->rand = g_rand_new_with_seed (seed);
  load->pipeline = launch ("%s", text);
  load->element = gst_bin_get_by_name (GST_BIN (load->pipeline), "m");
  GstPad *pad = gst_element_get_static_pad (load->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, at_output, load, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, at_event, load, NULL);
  gst_object_unref (pad);
  g_autoptr (GstBus) bus = gst_element_get_bus (load->pipeline);
  gst_bus_set_sync_handler (bus, at_message, load, NULL);
}

/* So many frames a second, for all the seconds; gives their number. */
static guint
load_rate (Load *load, gint width, gint height, guint rate)
{
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (load->pipeline), "source");
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (load->pipeline), "filter");
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT,
      width, "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, (gint) rate, 1, NULL);

  g_object_set (source, "num-buffers", (gint) (rate * seconds ()), NULL);
  g_object_set (filter, "caps", caps, NULL);
  load->frame = GST_SECOND / rate;
  return rate * seconds ();
}

static void
load_run (Load *load)
{
  GstBus *bus = gst_element_get_bus (load->pipeline);

  for (guint i = 0; i < MIN (g_get_num_processors (), WATCHES); i++) {
    Watch *watch = &load->watches[i];
    watch->processor = i;
    watch->stalls = g_array_new (FALSE, FALSE, sizeof (Stall));
    watch->awake = g_get_monotonic_time ();
    g_mutex_init (&watch->lock);
    watch->thread = g_thread_new ("watch", watch_processor, watch);
  }
  for (guint i = 0; i < load->noisy; i++)
    load->noises[i] = g_thread_new ("noise", make_noise, load);
  gst_element_set_state (load->pipeline, GST_STATE_PLAYING);
  for (gboolean end = FALSE; !end;) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop (bus, GST_CLOCK_TIME_NONE);
    fail_unless (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR, "an error");
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY)
      gst_bin_recalculate_latency (GST_BIN (load->pipeline));
    end = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  }
  gst_object_unref (bus);
  judge_flow (load, (gint64) gst_element_get_current_running_time (load->element), load->reported);
  g_atomic_int_set (&load->quiet, TRUE);
  for (guint i = 0; i < load->noisy; i++)
    g_thread_join (load->noises[i]);
  /* where tests do not fork, a failed one must leave nothing that runs */
  gst_element_set_state (load->pipeline, GST_STATE_NULL);
  for (guint i = 0; i < WATCHES && load->watches[i].thread; i++) {
    g_atomic_int_set (&load->watches[i].quiet, TRUE);
    g_thread_join (load->watches[i].thread);
    g_array_unref (load->watches[i].stalls);
    g_mutex_clear (&load->watches[i].lock);
  }
  fail_unless (load->failure == NULL, "%s", load->failure);
}

static void
load_free (Load *load)
{
  gst_object_unref (load->element);
  gst_object_unref (load->pipeline);
  g_rand_free (load->rand);
  g_free (load->failure);
}

/* ---- cases ------------------------------------------------------------------------------- */

#define SOURCE "videotestsrc name=source is-live=true pattern=snow ! capsfilter name=filter ! "

/* How the sink takes it: in the element's thread, in its own, and without a look at the clock. */
static const gchar *const sinks[] = {
  "fakesink sync=true qos=true",
  "queue ! fakesink sync=true qos=true",
  "fakesink sync=false",
};

TEST_LOOP (test_more_than_can_be_done, 0, G_N_ELEMENTS (sinks))
{
  const gchar *backend = g_getenv ("STEREO_BACKEND");
  gboolean device = g_strcmp0 (backend, "cuda") == 0;
  g_autofree gchar *text = g_strdup_printf (SOURCE
      "queue max-size-buffers=3 ! stereomatch name=m backend=%s threads=2 packing=side-by-side num-disparities=%d "
      "aggregation=full window=%d check-interval=0 ! %s",
      backend ? backend : "cpu", device ? 128 : 48, device ? 33 : 21, sinks[__i__]);
  Load load;

  guard_begin ("more than can be done", 60 + 10 * seconds ());
  load_new (&load, text);
  guint frames = load_rate (&load, device ? 1280 : 2 * g_rand_int_range (load.rand, 80, 121), device ? 360 : 120,
      (guint) g_rand_int_range (load.rand, 60, 121));
  load.noisy = NOISES;
  load_run (&load);
  guint64 pairs = stat_of (load.element, "pairs");
  guint64 late = stat_of (load.element, "late");
  g_print ("too much: %u frames, %" G_GUINT64_FORMAT " computed, %" G_GUINT64_FORMAT
           " late, %s; %u not within the latency, by "
           "%.1f ms\n",
      frames, pairs, late, sinks[__i__], load.beyond, (gdouble) load.worst_beyond / GST_MSECOND);
  fail_unless_equals_uint64 (pairs + late, frames);
  fail_unless_equals_uint64 (pairs, load.outputs);
  fail_unless (stat_of (load.element, "compute-time-mean") > load.frame, "the machine can do that");
  fail_unless (late > 0);
  /* also where the sink holds the thread, pairs are computed for a quarter of the time at least */
  fail_unless (pairs * stat_of (load.element, "compute-time-mean") > seconds () * GST_SECOND / 4, "idle");
  fail_unless_equals_uint64 ((guint64) load.qos_messages, late);
  fail_unless (
      load.worst_beyond <= (gint64) PREEMPTED, "%" G_GINT64_FORMAT " ns later than reported", load.worst_beyond);
  fail_unless (
      load.beyond <= 1 + load.outputs / SELDOM, "%u of %u outputs later than reported", load.beyond, load.outputs);
  load_free (&load);
  guard_end ();
}

/* Without QoS nothing is dropped, and what queues up is not taken for latency. */
TEST (test_without_qos)
{
  Load load;

  guard_begin ("without QoS", 60 + 30 * seconds ());
  load_new (&load,
      SOURCE "queue ! stereomatch name=m backend=cpu threads=2 packing=side-by-side num-disparities=32 "
             "aggregation=full window=13 qos=false ! fakesink sync=true qos=true");
  guint frames = load_rate (&load, 320, 120, 30);
  load_run (&load);
  fail_unless_equals_uint64 (stat_of (load.element, "pairs"), frames);
  fail_unless_equals_uint64 (stat_of (load.element, "late"), 0);
  fail_unless (load.reported < GST_SECOND, "%" G_GUINT64_FORMAT, load.reported);
  load_free (&load);
  guard_end ();
}

/* A source that is not live waits: nothing is dropped, and there is no latency. */
TEST (test_not_live)
{
  Load load;

  guard_begin ("not live", 60 + 30 * seconds ());
  load_new (&load,
      "videotestsrc name=source pattern=snow ! capsfilter name=filter ! stereomatch name=m backend=cpu threads=2 "
      "packing=side-by-side num-disparities=24 aggregation=full window=15 ! fakesink sync=true");
  guint frames = load_rate (&load, 320, 120, 20);
  load.noisy = NOISES;
  load_run (&load);
  fail_unless_equals_uint64 (stat_of (load.element, "pairs"), frames);
  fail_unless_equals_uint64 (stat_of (load.element, "late"), 0);
  fail_unless_equals_uint64 (load.reported, 0);
  /* when the caps came */
  fail_unless (load.latency_messages <= 1);
  load_free (&load);
  guard_end ();
}

/* Frames come later than their source reports: they come through, and the latency is what it takes. */
TEST (test_a_source_that_is_late)
{
  Load load;

  guard_begin ("a source that is late", 60 + 10 * seconds ());
  load_new (&load,
      SOURCE "queue ! stereomatch name=m backend=cpu packing=side-by-side method=bm num-disparities=16 ! fakesink "
             "sync=true qos=true");
  guint frames = load_rate (&load, 128, 48, 50);
  GstClockTime delay = (GstClockTime) g_rand_int_range (load.rand, 100, 400) * GST_MSECOND;
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (load.pipeline), "filter");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (filter, "src");
  gst_pad_set_offset (pad, -(gint64) delay);
  load_run (&load);
  /* half a second is lost before it is believed; alone at that pace there would be two a second */
  fail_unless (load.outputs > frames / 3, "%u of %u", load.outputs, frames);
  fail_unless (load.reported >= delay);
  load_free (&load);
  guard_end ();
}

SUITE (overload)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
