/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/silence.h"

#include "gst/pairing/debug.h"

#define LOOK_INTERVAL (100 * GST_MSECOND)

struct _GstStereoSilence
{
  GstAggregator *aggregator;
  GstStereoInputs *inputs;

  /* Before the aggregator's object lock, where both are held. */
  GMutex lock;
  GstStereoQuiet quiet;
  gboolean packed;     /* one pad has both views */
  GstClockID clock_id; /* the clock that looks; NULL when there is no need */
  GstClockTime looked; /* at the last look, by the system clock */
  gboolean live;       /* some branch said so */
  gboolean playing;
};

GstStereoSilence *
gst_stereo_silence_new (GstAggregator *aggregator, GstStereoInputs *inputs)
{
  GstStereoSilence *silence = g_new0 (GstStereoSilence, 1);

  silence->aggregator = aggregator;
  silence->inputs = inputs;
  g_mutex_init (&silence->lock);
  return silence;
}

void
gst_stereo_silence_free (GstStereoSilence *silence)
{
  g_mutex_clear (&silence->lock);
  g_free (silence);
}

/* ---- looking, with the lock held ---------------------------------------------------------- */

static void
look (GstStereoSilence *silence, GstClockTime now, GstStereoQuietFinding findings[2])
{
  GstClockTime elapsed = MIN (now - silence->looked, 2 * LOOK_INTERVAL);
  GstStereoActivity activity[2] = { 0 };

  silence->looked = now;
  if (gst_stereo_inputs_get_activity (silence->inputs, activity, &silence->packed) == GST_STEREO_VIEWS_KNOWN)
    gst_stereo_quiet_add (&silence->quiet, silence->packed ? 1 : 2, activity, elapsed, findings);
}

/* ---- saying so ---------------------------------------------------------------------------- */

static void
post_back (GstAggregator *aggregator, const gchar *pad, const GstStereoQuietFinding *finding)
{
  GST_ELEMENT_INFO (
      aggregator, STREAM, FAILED, ("%s is back after %.1f s.", pad, (gdouble) finding->time / GST_SECOND), (NULL));
}

static void
post_silent (
    GstAggregator *aggregator, const gchar *pads, const GstStereoQuietFinding *finding, const gchar *consequence)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (aggregator));
  gchar *since;

  if (GST_CLOCK_TIME_IS_VALID (now))
    since = g_strdup_printf (
        ", since the running time %" GST_TIME_FORMAT, GST_TIME_ARGS (now > finding->time ? now - finding->time : 0));
  else
    since = g_strdup ("");
  GST_ELEMENT_WARNING (aggregator, STREAM, FAILED,
      ("%s been silent for %.1f s%s%s, and the stream did not end. %s", pads, (gdouble) finding->time / GST_SECOND,
          since, finding->never ? ", and had no frame before" : "", consequence),
      (NULL));
  g_free (since);
}

static void
post (GstAggregator *aggregator, gboolean packed, const GstStereoQuietFinding findings[2])
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
    gchar *pads = g_strdup_printf ("%s has", names[silent]);
    gchar *consequence = g_strdup_printf (
        "Nothing comes out: the frames of %s wait, and those without a partner are dropped and counted when it is "
        "back. Check that camera, its cable and the source of that branch; where one thread feeds both pads, put a "
        "queue before each.",
        names[!silent]);
    post_silent (aggregator, pads, &findings[silent], consequence);
    g_free (pads);
    g_free (consequence);
  }
}

/* ---- the clock ---------------------------------------------------------------------------- */

/* The clock holds no reference of the aggregator: it would give back the last one with its own lock held. While the
 * aggregator lives, so does the silence watch. */
typedef struct
{
  GWeakRef aggregator;
  GstStereoSilence *silence;
} Reference;

static gboolean
time_to_look (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  Reference *reference = data;
  GstAggregator *aggregator = g_weak_ref_get (&reference->aggregator);
  GstStereoQuietFinding findings[2] = { 0 };
  gboolean packed;

  if (!aggregator)
    return TRUE;
  g_mutex_lock (&reference->silence->lock);
  if (reference->silence->clock_id == id)
    look (reference->silence, gst_clock_get_time (clock), findings);
  packed = reference->silence->packed;
  g_mutex_unlock (&reference->silence->lock);
  post (aggregator, packed, findings);
  gst_object_unref (aggregator);
  return TRUE;
}

static Reference *
new_reference (GstStereoSilence *silence)
{
  Reference *reference = g_new0 (Reference, 1);

  g_weak_ref_init (&reference->aggregator, silence->aggregator);
  reference->silence = silence;
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
new_clock_id (GstStereoSilence *silence, GstClock *clock)
{
  GstStereoActivity activity[2];

  if (!silence->playing || silence->clock_id ||
      gst_stereo_inputs_get_activity (silence->inputs, activity, &silence->packed) == GST_STEREO_VIEWS_MISSING)
    return NULL;
  silence->clock_id = gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) + LOOK_INTERVAL, LOOK_INTERVAL);
  silence->looked = gst_clock_get_time (clock);
  gst_stereo_quiet_resume (&silence->quiet);
  return gst_clock_id_ref (silence->clock_id);
}

void
gst_stereo_silence_update (GstStereoSilence *silence)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (silence->aggregator));
  GstClockID id = NULL;
  GstClock *clock = gst_system_clock_obtain ();

  g_mutex_lock (&silence->lock);
  if (live || silence->live)
    id = new_clock_id (silence, clock);
  g_mutex_unlock (&silence->lock);
  if (id) {
    GST_DEBUG_OBJECT (silence->aggregator, "live: looks whether a view goes silent");
    gst_clock_id_wait_async (id, time_to_look, new_reference (silence), free_reference);
    gst_clock_id_unref (id);
  }
  gst_object_unref (clock);
}

void
gst_stereo_silence_ask_live (GstStereoSilence *silence, GstPad *pad)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  GST_DEBUG_OBJECT (pad, "upstream is %slive", live ? "" : "not ");
  g_mutex_lock (&silence->lock);
  silence->live |= live;
  g_mutex_unlock (&silence->lock);
  gst_stereo_silence_update (silence);
}

static void
stop_clock (GstStereoSilence *silence)
{
  GstClockID id;

  g_mutex_lock (&silence->lock);
  id = g_steal_pointer (&silence->clock_id);
  g_mutex_unlock (&silence->lock);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_silence_set_playing (GstStereoSilence *silence, gboolean playing)
{
  g_mutex_lock (&silence->lock);
  silence->playing = playing;
  g_mutex_unlock (&silence->lock);
  if (playing)
    gst_stereo_silence_update (silence);
  else
    stop_clock (silence);
}

/* ---- starting anew ------------------------------------------------------------------------ */

void
gst_stereo_silence_forget_view (GstStereoSilence *silence, gboolean right)
{
  g_mutex_lock (&silence->lock);
  silence->quiet.view[right] = (GstStereoQuietView){ 0 };
  g_mutex_unlock (&silence->lock);
}

void
gst_stereo_silence_reset (GstStereoSilence *silence, gboolean all)
{
  GstStereoActivity activity[2] = { { 0 }, { 0 } };

  g_mutex_lock (&silence->lock);
  gst_stereo_inputs_get_activity (silence->inputs, activity, &silence->packed);
  gst_stereo_quiet_reset (&silence->quiet, activity, all);
  silence->live &= !all;
  g_mutex_unlock (&silence->lock);
}
