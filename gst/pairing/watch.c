/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/watch.h"

#include "gst/pairing/debug.h"

#define INTERVAL (100 * GST_MSECOND)

struct _GstStereoWatch
{
  GstAggregator *aggregator;
  GstStereoInputs *inputs;

  /* Before the aggregator's object lock, where both are held. */
  GMutex lock;
  GstStereoSilence silence;
  gboolean packed;       /* one pad has both views */
  GstClockID clock_id;   /* the clock that observes; NULL when there is no need */
  GstClockTime observed; /* when the pads were observed last, by the system clock */
  gboolean live;         /* some branch said so */
  gboolean playing;
};

GstStereoWatch *
gst_stereo_watch_new (GstAggregator *aggregator, GstStereoInputs *inputs)
{
  GstStereoWatch *watch = g_new0 (GstStereoWatch, 1);

  watch->aggregator = aggregator;
  watch->inputs = inputs;
  g_mutex_init (&watch->lock);
  return watch;
}

void
gst_stereo_watch_free (GstStereoWatch *watch)
{
  g_mutex_clear (&watch->lock);
  g_free (watch);
}

/* ---- observing, with the lock held ---------------------------------------------------------- */

static void
observe (GstStereoWatch *watch, GstClockTime now, GstStereoSilenceFinding findings[2])
{
  GstClockTime elapsed = MIN (now - watch->observed, 2 * INTERVAL);
  GstStereoActivity activity[2] = { 0 };

  watch->observed = now;
  if (gst_stereo_inputs_get_activity (watch->inputs, activity, &watch->packed) == GST_STEREO_VIEWS_KNOWN)
    gst_stereo_silence_add (&watch->silence, watch->packed ? 1 : 2, activity, elapsed, findings);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void
post_back (GstAggregator *aggregator, const gchar *pad, const GstStereoSilenceFinding *finding)
{
  GST_ELEMENT_INFO (
      aggregator, STREAM, FAILED, ("%s is back after %.1f s.", pad, (gdouble) finding->time / GST_SECOND), (NULL));
}

static void
post_silent (
    GstAggregator *aggregator, const gchar *pads, const GstStereoSilenceFinding *finding, const gchar *consequence)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (aggregator));
  g_autofree gchar *since = NULL;

  if (GST_CLOCK_TIME_IS_VALID (now))
    since = g_strdup_printf (
        ", since the running time %" GST_TIME_FORMAT, GST_TIME_ARGS (now > finding->time ? now - finding->time : 0));
  else
    since = g_strdup ("");
  GST_ELEMENT_WARNING (aggregator, STREAM, FAILED,
      ("%s been silent for %.1f s%s%s, and the stream did not end. %s", pads, (gdouble) finding->time / GST_SECOND,
          since, finding->never ? ", and had no frame before" : "", consequence),
      (NULL));
}

static void
post (GstAggregator *aggregator, gboolean packed, const GstStereoSilenceFinding findings[2])
{
  static const gchar *const names[2] = { "sink_left", "sink_right" };

  for (guint i = 0; i < 2; i++)
    if (findings[i].back)
      post_back (aggregator, packed ? "sink" : names[i], &findings[i]);
  if (packed && findings[0].silent) {
    post_silent (aggregator, "sink has", &findings[0], "Nothing comes out. Check the camera, its cable and the source.");
  } else if (findings[0].silent && findings[1].silent) {
    post_silent (aggregator, "sink_left and sink_right have", &findings[0],
        "Nothing comes out. Check what both cameras have in common: their supply, their hub, and the "
        "thread that feeds both pads.");
  } else if (findings[0].silent || findings[1].silent) {
    guint silent = !findings[0].silent;
    g_autofree gchar *pads = g_strdup_printf ("%s has", names[silent]);
    g_autofree gchar *consequence = g_strdup_printf (
        "Nothing comes out: the frames of %s wait, and those without a partner are dropped and counted when it is "
        "back. Check that camera, its cable and the source of that branch; where one thread feeds both pads, put a "
        "queue before each.",
        names[!silent]);
    post_silent (aggregator, pads, &findings[silent], consequence);
  }
}

/* ---- the clock ---------------------------------------------------------------------------- */

/* The clock holds no reference of the aggregator: it would give back the last one with its own lock held. While the
 * aggregator lives, so does the silence watch. */
typedef struct
{
  GWeakRef aggregator;
  GstStereoWatch *watch;
} Reference;

static gboolean
time_to_observe (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  Reference *reference = data;
  GstAggregator *aggregator = g_weak_ref_get (&reference->aggregator);
  GstStereoSilenceFinding findings[2] = { 0 };
  gboolean packed;

  if (!aggregator)
    return TRUE;
  g_mutex_lock (&reference->watch->lock);
  if (reference->watch->clock_id == id)
    observe (reference->watch, gst_clock_get_time (clock), findings);
  packed = reference->watch->packed;
  g_mutex_unlock (&reference->watch->lock);
  post (aggregator, packed, findings);
  gst_object_unref (aggregator);
  return TRUE;
}

static Reference *
new_reference (GstStereoWatch *watch)
{
  Reference *reference = g_new0 (Reference, 1);

  g_weak_ref_init (&reference->aggregator, watch->aggregator);
  reference->watch = watch;
  return reference;
}

static void
free_reference (gpointer data)
{
  Reference *reference = data;

  g_weak_ref_clear (&reference->aggregator);
  g_free (reference);
}

/* With the lock held. Returns a reference for the caller where the clock is to begin. */
static GstClockID
new_clock_id (GstStereoWatch *watch, GstClock *clock)
{
  GstStereoActivity activity[2];

  if (!watch->playing || watch->clock_id ||
      gst_stereo_inputs_get_activity (watch->inputs, activity, &watch->packed) == GST_STEREO_VIEWS_MISSING)
    return NULL;
  watch->clock_id = gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) + INTERVAL, INTERVAL);
  watch->observed = gst_clock_get_time (clock);
  gst_stereo_silence_resume (&watch->silence);
  return gst_clock_id_ref (watch->clock_id);
}

void
gst_stereo_watch_update (GstStereoWatch *watch)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (watch->aggregator));
  GstClockID id = NULL;
  g_autoptr (GstClock) clock = gst_system_clock_obtain ();

  g_mutex_lock (&watch->lock);
  if (live || watch->live)
    id = new_clock_id (watch, clock);
  g_mutex_unlock (&watch->lock);
  if (id) {
    GST_DEBUG_OBJECT (watch->aggregator, "live: watches whether a view goes silent");
    gst_clock_id_wait_async (id, time_to_observe, new_reference (watch), free_reference);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_watch_ask_live (GstStereoWatch *watch, GstPad *pad)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  GST_DEBUG_OBJECT (pad, "upstream is %slive", live ? "" : "not ");
  g_mutex_lock (&watch->lock);
  watch->live |= live;
  g_mutex_unlock (&watch->lock);
  gst_stereo_watch_update (watch);
}

static void
stop_clock (GstStereoWatch *watch)
{
  g_mutex_lock (&watch->lock);
  GstClockID id = g_steal_pointer (&watch->clock_id);
  g_mutex_unlock (&watch->lock);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_watch_set_playing (GstStereoWatch *watch, gboolean playing)
{
  g_mutex_lock (&watch->lock);
  watch->playing = playing;
  g_mutex_unlock (&watch->lock);
  if (playing)
    gst_stereo_watch_update (watch);
  else
    stop_clock (watch);
}

/* ---- starting anew ------------------------------------------------------------------------ */

void
gst_stereo_watch_forget_view (GstStereoWatch *watch, gboolean right)
{
  g_mutex_lock (&watch->lock);
  watch->silence.view[right] = (GstStereoSilenceView){ 0 };
  g_mutex_unlock (&watch->lock);
}

void
gst_stereo_watch_reset (GstStereoWatch *watch, gboolean all)
{
  GstStereoActivity activity[2] = { { 0 }, { 0 } };

  g_mutex_lock (&watch->lock);
  gst_stereo_inputs_get_activity (watch->inputs, activity, &watch->packed);
  gst_stereo_silence_reset (&watch->silence, activity, all);
  watch->live &= !all;
  g_mutex_unlock (&watch->lock);
}
