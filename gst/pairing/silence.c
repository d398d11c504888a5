/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/silence.h"

#include "gst/pairing/debug.h"

/* For so long one view may have nothing while the other one does. */
#define SILENCE_TIME (2 * GST_SECOND)
/* For so long after its last frame a view counts as one that goes on. When both stop, neither of them is at fault. */
#define ALIVE_TIME (1 * GST_SECOND)
#define LOOK_INTERVAL (100 * GST_MSECOND)

static const gchar *const pad_names[2] = { "sink_left", "sink_right" };

typedef struct
{
  guint seen;         /* arrivals at the last look */
  GstClockTime idle;  /* since then nothing came */
  GstClockTime alone; /* of that, while the other view went on */
  gboolean heard;     /* something came once */
  gboolean told;      /* a warning was posted */
} View;

struct _GstStereoSilence
{
  GstAggregator *aggregator;
  GstStereoViewsFunc views;

  /* Before the aggregator's object lock, where both are held. */
  GMutex lock;
  View view[2];        /* left, right */
  GstClockID clock_id; /* the clock that looks; NULL when there is no need */
  GstClockTime looked; /* at the last look, monotonic */
  gboolean live;       /* some branch said so */
  gboolean playing;
};

/* What is to be said once the lock is free. */
typedef struct
{
  const gchar *silent, *other; /* names of pads; NULL = nothing */
  gboolean back;
  gboolean never; /* had a frame */
  GstClockTime time;
} Finding;

GstStereoSilence *
gst_stereo_silence_new (GstAggregator *aggregator, GstStereoViewsFunc views)
{
  GstStereoSilence *silence = g_new0 (GstStereoSilence, 1);

  silence->aggregator = aggregator;
  silence->views = views;
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

static gboolean
goes_on (const View *view, const GstStereoActivity *activity)
{
  return activity->pushing || (activity->over && activity->waiting) || (view->heard && view->idle < ALIVE_TIME);
}

/* Takes in what came on a view since the last look, or is about to come. */
static void
listen_to (GstStereoSilence *silence, guint i, const GstStereoActivity *activity, GstClockTime elapsed, Finding *finding)
{
  View *view = &silence->view[i];
  gboolean come = activity->pushing || activity->over || activity->arrivals != view->seen;

  view->heard |= come;
  view->seen = activity->arrivals;
  view->idle += elapsed;
  if (!come)
    return;
  if (view->told && !activity->over)
    *finding = (Finding){ .silent = pad_names[i], .back = TRUE, .time = view->idle };
  view->told = FALSE;
  view->idle = view->alone = 0;
}

static void
judge (GstStereoSilence *silence, guint i, const GstStereoActivity *other, GstClockTime elapsed, Finding *finding)
{
  View *view = &silence->view[i];

  if (view->idle && goes_on (&silence->view[!i], other))
    view->alone += elapsed;
  if (view->told || view->alone < SILENCE_TIME)
    return;
  view->told = TRUE;
  *finding = (Finding){ .silent = pad_names[i], .other = pad_names[!i], .never = !view->heard, .time = view->idle };
}

static void
look (GstStereoSilence *silence, GstClockTime now, Finding findings[2])
{
  GstClockTime elapsed = MIN (now - silence->looked, 2 * LOOK_INTERVAL);
  GstStereoActivity activity[2];

  silence->looked = now;
  if (silence->views (silence->aggregator, activity) != GST_STEREO_VIEWS_KNOWN)
    return;
  for (guint i = 0; i < 2; i++)
    listen_to (silence, i, &activity[i], elapsed, &findings[i]);
  for (guint i = 0; i < 2; i++)
    judge (silence, i, &activity[!i], elapsed, &findings[i]);
}

/* ---- saying so ---------------------------------------------------------------------------- */

static void
post (GstAggregator *aggregator, const Finding *finding)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (aggregator));
  gchar *since;

  if (!finding->silent)
    return;
  GST_DEBUG_OBJECT (aggregator, "%s is %s, %" GST_TIME_FORMAT " after its last frame", finding->silent,
      finding->back ? "back" : "silent", GST_TIME_ARGS (finding->time));
  if (finding->back) {
    GST_ELEMENT_INFO (aggregator, STREAM, FAILED,
        ("%s is back after %.1f s.", finding->silent, (gdouble) finding->time / GST_SECOND), (NULL));
    return;
  }
  if (GST_CLOCK_TIME_IS_VALID (now))
    since = g_strdup_printf (
        ", since the running time %" GST_TIME_FORMAT, GST_TIME_ARGS (now > finding->time ? now - finding->time : 0));
  else
    since = g_strdup ("");
  GST_ELEMENT_WARNING (aggregator, STREAM, FAILED,
      ("%s has been silent for %.1f s%s%s, and the stream did not end. Nothing comes out: the frames of %s wait, and "
       "those without a partner are dropped and counted when it is back. Check that camera, its cable and the source "
       "of that branch; where one thread feeds both pads, put a queue before each.",
          finding->silent, (gdouble) finding->time / GST_SECOND, since,
          finding->never ? ", and had no frame before" : "", finding->other),
      (NULL));
  g_free (since);
}

/* ---- the clock ---------------------------------------------------------------------------- */

/* The clock holds no reference of the aggregator: it would give back the last one with its own lock held. While the
 * aggregator lives, so does the silence watch. */
typedef struct
{
  GWeakRef aggregator;
  GstStereoSilence *silence;
} Reference;

static GstClockTime
monotonic_time (void)
{
  return (GstClockTime) g_get_monotonic_time () * GST_USECOND;
}

static gboolean
time_to_look (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  Reference *reference = data;
  GstAggregator *aggregator = g_weak_ref_get (&reference->aggregator);
  Finding findings[2] = { { NULL }, { NULL } };

  if (!aggregator)
    return TRUE;
  g_mutex_lock (&reference->silence->lock);
  if (reference->silence->clock_id == id)
    look (reference->silence, monotonic_time (), findings);
  g_mutex_unlock (&reference->silence->lock);
  post (aggregator, &findings[0]);
  post (aggregator, &findings[1]);
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
      silence->views (silence->aggregator, activity) == GST_STEREO_VIEWS_MISSING)
    return NULL;
  silence->clock_id = gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) + LOOK_INTERVAL, LOOK_INTERVAL);
  silence->looked = monotonic_time ();
  silence->view[0].alone = silence->view[1].alone = 0;
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
  silence->view[right] = (View){ 0 };
  g_mutex_unlock (&silence->lock);
}

void
gst_stereo_silence_reset (GstStereoSilence *silence, gboolean all)
{
  GstStereoActivity activity[2] = { { 0 }, { 0 } };

  g_mutex_lock (&silence->lock);
  silence->views (silence->aggregator, activity);
  for (guint i = 0; i < 2; i++) {
    View *view = &silence->view[i], before = *view;

    *view = (View){ .seen = activity[i].arrivals };
    if (!all) {
      view->heard = before.heard;
      view->told = before.told;
    }
  }
  silence->live &= !all;
  g_mutex_unlock (&silence->lock);
}
