/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A camera that stops without a word, while the other one goes on. The base class calls aggregate() only when both have
 * something, so that a clock has to look. It does in live pipelines alone: elsewhere a view may take all the time it
 * likes. Looks are counted rather than times compared, so that neither PAUSED counts nor a process that was stopped.
 */
#include "gst/pairing/aggregator.h"

#define GST_CAT_DEFAULT gst_stereo_aggregator_debug

/* For so long one view may have nothing while the other one does. */
#define SILENCE_TIME (2 * GST_SECOND)
/* For so long after its last frame a view counts as one that goes on. When both stop, neither of them is at fault. */
#define ALIVE_TIME (1 * GST_SECOND)
#define LOOK_INTERVAL (100 * GST_MSECOND)

/* What is to be said once the locks are free. */
typedef struct
{
  const gchar *silent, *other; /* names of pads; NULL = nothing */
  gboolean back;
  gboolean never; /* had a frame */
  GstClockTime time;
} Finding;

/* With the object lock held, as all up to look(). */
static gboolean
goes_on (GstStereoPad *pad)
{
  gboolean alive;

  GST_OBJECT_LOCK (pad);
  alive = pad->pushing || (pad->over && (pad->waiting || pad->count)) ||
      (pad->silence.heard && pad->silence.idle < ALIVE_TIME);
  GST_OBJECT_UNLOCK (pad);
  return alive;
}

/* Whether something came on @pad, or is about to, since the last look. */
static gboolean
has_come (GstStereoPad *pad)
{
  gboolean come;

  GST_OBJECT_LOCK (pad);
  come = pad->pushing || pad->over || pad->arrivals != pad->silence.seen;
  pad->silence.heard |= come;
  pad->silence.seen = pad->arrivals;
  GST_OBJECT_UNLOCK (pad);
  return come;
}

static gboolean
is_over (GstStereoPad *pad)
{
  gboolean over;

  GST_OBJECT_LOCK (pad);
  over = pad->over;
  GST_OBJECT_UNLOCK (pad);
  return over;
}

static void
listen_to (GstStereoPad *pad, GstClockTime elapsed, Finding *finding)
{
  GstStereoSilence *silence = &pad->silence;

  silence->idle += elapsed;
  if (!has_come (pad))
    return;
  if (silence->told && !is_over (pad))
    *finding = (Finding) { .silent = pad->right ? "sink_right" : "sink_left", .back = TRUE, .time = silence->idle };
  silence->told = FALSE;
  silence->idle = silence->alone = 0;
}

static void
judge (GstStereoPad *pad, GstStereoPad *other, GstClockTime elapsed, Finding *finding)
{
  GstStereoSilence *silence = &pad->silence;

  if (silence->idle && goes_on (other))
    silence->alone += elapsed;
  if (silence->told || silence->alone < SILENCE_TIME)
    return;
  silence->told = TRUE;
  *finding = (Finding) { .silent = pad->right ? "sink_right" : "sink_left",
    .other = pad->right ? "sink_left" : "sink_right", .never = !silence->heard, .time = silence->idle };
}

static void
look (GstStereoAggregator *self, GstClockTime now, Finding findings[2])
{
  GstClockTime elapsed = MIN (now - self->looked, 2 * LOOK_INTERVAL);

  self->looked = now;
  /* while it computes or pushes, nobody knows what waits */
  if (!self->left || !self->right || self->busy)
    return;
  listen_to (self->left, elapsed, &findings[0]);
  listen_to (self->right, elapsed, &findings[1]);
  judge (self->left, self->right, elapsed, &findings[0]);
  judge (self->right, self->left, elapsed, &findings[1]);
}

static void
tell (GstStereoAggregator *self, const Finding *finding)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gchar *since;

  if (!finding->silent)
    return;
  if (finding->back) {
    GST_ELEMENT_INFO (self, STREAM, FAILED,
        ("%s is back after %.1f s.", finding->silent, (gdouble) finding->time / GST_SECOND), (NULL));
    return;
  }
  if (GST_CLOCK_TIME_IS_VALID (now))
    since = g_strdup_printf (", since the running time %" GST_TIME_FORMAT,
        GST_TIME_ARGS (now > finding->time ? now - finding->time : 0));
  else
    since = g_strdup ("");
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
      ("%s has been silent for %.1f s%s%s, and the stream did not end. Nothing comes out: the frames of %s wait, and "
          "those without a partner are dropped and counted when it is back. Check that camera, its cable and the source "
          "of that branch; where one thread feeds both pads, put a queue before each.",
          finding->silent, (gdouble) finding->time / GST_SECOND, since,
          finding->never ? ", and had no frame before" : "", finding->other), (NULL));
  g_free (since);
}

static GstClockTime
monotonic_time (void)
{
  return (GstClockTime) g_get_monotonic_time () * GST_USECOND;
}

static gboolean
time_to_look (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  GstStereoAggregator *self = g_weak_ref_get (data);
  Finding findings[2] = { { NULL }, { NULL } };

  if (!self)
    return TRUE;
  GST_OBJECT_LOCK (self);
  if (self->listening == id)
    look (self, monotonic_time (), findings);
  GST_OBJECT_UNLOCK (self);
  tell (self, &findings[0]);
  tell (self, &findings[1]);
  gst_object_unref (self);
  return TRUE;
}

static void
free_reference (gpointer data)
{
  g_weak_ref_clear (data);
  g_free (data);
}

/* The clock holds no reference: it would give back the last one with its own lock held. */
static gpointer
new_reference (GstStereoAggregator *self)
{
  GWeakRef *reference = g_new (GWeakRef, 1);

  g_weak_ref_init (reference, self);
  return reference;
}

/* The base class keeps what it was told before the sources knew, so that a branch is asked once it has begun. */
void
gst_stereo_aggregator_ask_live (GstStereoAggregator *self, GstPad *pad)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  GST_OBJECT_LOCK (self);
  self->live |= live;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_aggregator_listen (self);
}

void
gst_stereo_aggregator_listen (GstStereoAggregator *self)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)));
  GstClockID id = NULL;
  GstClock *clock;

  GST_OBJECT_LOCK (self);
  live |= self->live;
  GST_OBJECT_UNLOCK (self);
  if (!live)
    return;
  clock = gst_system_clock_obtain ();
  GST_OBJECT_LOCK (self);
  if (self->playing && !self->listening && self->left && self->right) {
    id = gst_clock_new_periodic_id (clock, gst_clock_get_time (clock) + LOOK_INTERVAL, LOOK_INTERVAL);
    self->listening = gst_clock_id_ref (id);
    self->looked = monotonic_time ();
    self->left->silence.alone = self->right->silence.alone = 0;
  }
  GST_OBJECT_UNLOCK (self);
  if (id) {
    gst_clock_id_wait_async (id, time_to_look, new_reference (self), free_reference);
    gst_clock_id_unref (id);
  }
  gst_object_unref (clock);
}

static void
stop_listening (GstStereoAggregator *self)
{
  GstClockID id;

  GST_OBJECT_LOCK (self);
  id = g_steal_pointer (&self->listening);
  GST_OBJECT_UNLOCK (self);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_aggregator_set_playing (GstStereoAggregator *self, gboolean playing)
{
  GST_OBJECT_LOCK (self);
  self->playing = playing;
  GST_OBJECT_UNLOCK (self);
  if (playing)
    gst_stereo_aggregator_listen (self);
  else
    stop_listening (self);
}

void
gst_stereo_aggregator_set_busy (GstStereoAggregator *self, gboolean busy)
{
  GST_OBJECT_LOCK (self);
  self->busy = busy;
  GST_OBJECT_UNLOCK (self);
}

/* With the object lock held. */
static void
forget (GstStereoPad *pad, gboolean all)
{
  GstStereoSilence before;

  if (!pad)
    return;
  before = pad->silence;
  GST_OBJECT_LOCK (pad);
  pad->silence = (GstStereoSilence) { .seen = pad->arrivals };
  GST_OBJECT_UNLOCK (pad);
  if (all)
    return;
  pad->silence.heard = before.heard;
  pad->silence.told = before.told;
}

void
gst_stereo_aggregator_forget_silence (GstStereoAggregator *self, gboolean all)
{
  GST_OBJECT_LOCK (self);
  forget (self->left, all);
  forget (self->right, all);
  self->live &= !all;
  GST_OBJECT_UNLOCK (self);
}

GstFlowReturn
gst_stereo_aggregator_sink_event_pre_queue (GstAggregator *aggregator, GstAggregatorPad *base, GstEvent *event)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  GstEventType type = GST_EVENT_TYPE (event);

  GST_OBJECT_LOCK (pad);
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP)
    pad->over = FALSE;
  pad->over |= type == GST_EVENT_EOS;
  pad->arrivals += type == GST_EVENT_GAP;
  GST_OBJECT_UNLOCK (pad);
  return GST_AGGREGATOR_CLASS (g_type_class_peek (GST_TYPE_AGGREGATOR))->sink_event_pre_queue (aggregator, base, event);
}
