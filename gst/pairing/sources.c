/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the frames of each view tell of their source: that it is silent, that it falls behind, and that it counts its time from a moment
 * of its own. In live pipelines alone; times are those of the element's clock, in ns.
 *
 * The delay of a view is the least time from a frame's timestamp to its arrival in a second. Where this element holds a frame up, the
 * next one comes late because of that, and is not measured.
 */
#include "gst/pairing/private.h"

#define SILENT_LEFT GST_STEREO_HEALTH_SILENT_LEFT
#define SILENT_RIGHT GST_STEREO_HEALTH_SILENT_RIGHT
#define SILENT (SILENT_LEFT | SILENT_RIGHT)
#define BEHIND GST_STEREO_HEALTH_BEHIND

#define WINDOW ((gint64) GST_SECOND)         /* in which the least delay is looked for */
#define GROWTH ((gint64) (50 * GST_MSECOND)) /* of the delay from one window to the next: no clock drifts so fast */
#define WINDOWS 3                            /* so many in a row, either way */
#define HELD (5 * GST_MSECOND) /* a frame that stays so long in the pad keeps upstream from sending the next one */
/* Largest difference of the delays of both views. */
#define MOST_APART ((gint64) (500 * GST_MSECOND))
/* A camera of one frame a second is not silent between two frames; a duration that is nonsense hides no silence for long. */
#define SLOW_FRAMES 2
#define SLOWEST 10 /* timeouts */

/* ---- in upstream's thread ----------------------------------------------------------------- */

/* @delay: of the frame that came, or NONE. */
static void
measure (GstStereoSource *source, gint64 now, gint64 delay)
{
  if (!source->since || now - source->since >= WINDOW) {
    if (source->window != NONE && source->delay != NONE) {
      source->growth = source->window - source->delay;
      source->trend = source->growth >= GROWTH ? MAX (source->trend, 0) + 1 : MIN (source->trend, 0) - 1;
      source->behind = source->trend >= WINDOWS || (source->behind && source->trend > -WINDOWS);
    }
    source->delay = source->window == NONE ? source->delay : source->window;
    source->window = NONE;
    source->since = now;
  }
  if (delay != NONE)
    source->window = source->window == NONE ? delay : MIN (source->window, delay);
}

void
gst_stereo_source_note (GstStereoPad *pad, GstElement *element, GstBuffer *buffer)
{
  GstEvent *event = buffer ? gst_pad_get_sticky_event (GST_PAD (pad), GST_EVENT_SEGMENT, 0) : NULL;
  GstClockTime now = gst_element_get_current_clock_time (element);
  GstStereoSource *source = &pad->source;
  gint64 time = NONE;
  const GstSegment *segment;

  /* the task may not have read its segment yet, and the pad has it already */
  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->rate == 1)
      time = gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer));
    gst_event_unref (event);
  }
  if (!GST_CLOCK_TIME_IS_VALID (now))
    return;
  GST_OBJECT_LOCK (pad);
  if (buffer)
    measure (source, (gint64) now,
        time == NONE || source->held ? NONE : (gint64) (now - gst_element_get_base_time (element)) - time);
  if (!source->first)
    source->first = now;
  source->held = !buffer && now - source->heard > HELD;
  source->receiving = buffer != NULL;
  source->over &= !buffer;
  source->heard = now;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_source_forget (GstStereoSource *source, gboolean all)
{
  GstStereoSource kept = *source;

  *source = (GstStereoSource){ .delay = NONE, .window = NONE };
  if (all)
    return;
  source->first = kept.first;
  source->heard = kept.heard;
  source->receiving = kept.receiving;
  source->held = kept.held;
}

/* ---- in the task -------------------------------------------------------------------------- */

static const gchar *
name_of (const GstStereoInputs *inputs, GstStereoHealthFlags views)
{
  if (inputs->packed)
    return "sink";
  return views == SILENT ? "sink_left and sink_right" : views == SILENT_RIGHT ? "sink_right" : "sink_left";
}

/* Which views are silent, and in priv->deadline when the next one may be. @longest: the longest silence. */
static GstStereoHealthFlags
find_silent (GstStereoAggregator *self, const GstStereoInputs *inputs, const GstStereoSource source[2],
    GstClockTime now, GstClockTime *longest)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstStereoPad *const *pads = inputs->view;
  GstStereoHealthFlags silent = 0;

  GST_OBJECT_LOCK (self);
  const guint64 timeout = priv->silence_timeout;
  gboolean playing = GST_STATE (self) == GST_STATE_PLAYING;
  GST_OBJECT_UNLOCK (self);
  /* neither PAUSED nor a stopped process counts as silence */
  if (!playing || (priv->deadline && now > priv->deadline + 2 * timeout))
    priv->since = now;
  priv->deadline = now + (timeout ? timeout : GST_SECOND);
  for (guint v = 0; v < 2; v++) {
    /* before its first frame, a camera is waited for from the other one's on */
    GstClockTime from = source[v].heard ? source[v].heard : source[!v].first, idle = 0;
    guint64 limit = CLAMP (SLOW_FRAMES * (guint64) pads[v]->spacing, timeout, SLOWEST * timeout);
    gboolean has = gst_stereo_pad_has_buffer (pads[v]);
    if (from && !has && !source[v].receiving && now > MAX (from, priv->since))
      idle = now - MAX (from, priv->since);
    *longest = MAX (*longest, idle);
    if (source[v].over ? !pads[v]->shown && !has && pads[!v]->began && !source[!v].over && !inputs->packed :
                         timeout && idle >= limit)
      silent |= v ? SILENT_RIGHT : SILENT_LEFT;
    else if (timeout && idle && now + limit - idle < priv->deadline)
      priv->deadline = now + limit - idle;
  }
  return silent;
}

/* Takes @text. */
static void
tell (GstStereoAggregator *self, GstStereoHealthFlags sources, gboolean bad, gchar *text)
{
  GstStereoAggregatorClass *klass = GST_STEREO_AGGREGATOR_GET_CLASS (self);

  GST_OBJECT_LOCK (self);
  self->priv->sources = sources;
  GST_OBJECT_UNLOCK (self);
  if (klass->silence)
    klass->silence (self, sources, text);
  if (bad)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", text), (NULL));
  else
    GST_ELEMENT_INFO (self, STREAM, FAILED, ("%s", text), (NULL));
  g_free (text);
}

static gchar *
describe_silence (const GstStereoInputs *inputs, GstStereoHealthFlags silent, GstClockTime time)
{
  const GstStereoPad *pad = inputs->view[silent & SILENT_LEFT ? LEFT : RIGHT];
  const gchar *name = name_of (inputs, silent);

  if (pad->ended)
    return g_strdup_printf (
        "%s has ended, and the other view goes on: there is no depth until it is back. Check that camera, "
        "its cable and the source of that branch.",
        name);
  return g_strdup_printf ("%s %s been silent for %.1f s%s, and the stream did not end. Nothing comes out%s. Check %s.",
      name, silent == SILENT && !inputs->packed ? "have" : "has", (gdouble) time / GST_SECOND,
      pad->began ? "" : ", and had no frame before",
      silent == SILENT ? "" : ", and the frames of the other view are dropped until it is back",
      silent == SILENT ? "the camera, its cable and the source; of two cameras what they have in common: supply, "
                         "hub, and the thread that feeds both pads" :
                         "that camera, its cable and the source of that branch; where one thread feeds both pads, put a "
                         "queue before each");
}

/* Two cameras that count their time from moments of their own: said once. */
static void
compare_delays (GstStereoAggregator *self, const GstStereoInputs *inputs, const GstStereoSource source[2])
{
  gint64 delay[2];

  for (guint v = 0; v < 2; v++) {
    g_autoptr (GstQuery) query = gst_query_new_latency ();
    GstClockTime least = 0;
    gboolean live = FALSE;
    if (self->priv->judged || source[v].delay == NONE)
      return;
    /* what upstream reports as its latency is no delay */
    if (gst_pad_peer_query (GST_PAD (inputs->view[v]), query))
      gst_query_parse_latency (query, &live, &least, NULL);
    delay[v] = source[v].delay - (gint64) least;
    /* no camera's frame comes before its time, and a branch that is not live has no delay */
    if (!live || delay[v] < -MOST_APART)
      return;
  }
  self->priv->judged = TRUE;
  guint late = delay[RIGHT] > delay[LEFT];
  if (delay[late] - delay[!late] > MOST_APART)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The frames of %s come %.1f s after their timestamps, those of %s %.1f s: its timestamps begin at another time, "
         "and a pair shows two moments %.1f s apart. Let its source stamp frames by the pipeline's clock "
         "(do-timestamp=true), or shift the view: the offset of its pad, in nanoseconds.",
            GST_PAD_NAME (inputs->view[late]), delay[late] / 1e9, GST_PAD_NAME (inputs->view[!late]),
            delay[!late] / 1e9, (delay[late] - delay[!late]) / 1e9),
        (NULL));
}

void
gst_stereo_sources_watch (GstStereoAggregator *self, GstStereoInputs *inputs)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (self)), longest = 0;
  GstStereoHealthFlags before = priv->sources, behind = 0, back;
  GstStereoSource source[2];

  if (!inputs->live || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  for (guint v = 0; v < 2; v++) {
    GST_OBJECT_LOCK (inputs->view[v]);
    source[v] = inputs->view[v]->source;
    GST_OBJECT_UNLOCK (inputs->view[v]);
  }
  GstStereoHealthFlags silent = find_silent (self, inputs, source, now, &longest);
  if (silent & ~before) {
    tell (self, (before & BEHIND) | silent, TRUE, describe_silence (inputs, silent, longest));
  } else if ((back = before & SILENT & ~silent)) {
    gst_stereo_pairs_forgive (self);
    /* the camera may count its time anew */
    for (guint v = 0; v < 2; v++) {
      GST_OBJECT_LOCK (inputs->view[v]);
      gst_stereo_source_forget (&inputs->view[v]->source, FALSE);
      GST_OBJECT_UNLOCK (inputs->view[v]);
    }
    priv->judged = FALSE;
    tell (self, (before & BEHIND) | silent, FALSE, g_strdup_printf ("%s is back.", name_of (inputs, back)));
    return;
  }
  priv->delay = NONE;
  for (guint v = 0; v < 2; v++) {
    inputs->silent[v] = (silent & (v ? SILENT_RIGHT : SILENT_LEFT)) != 0;
    /* where it grows, it will have grown as much again when the next second is over */
    if (source[v].delay != NONE)
      priv->delay = MAX (priv->delay, source[v].delay + 2 * MAX (source[v].growth, 0));
    if (source[v].behind && !behind && !(before & BEHIND))
      tell (self, priv->sources | BEHIND, TRUE,
          g_strdup_printf (
              "The frames of %s come later and later: %.1f s after their timestamps by now, and %.2f s more each second. "
              "Its source falls behind, or what stands before this element. Make less of it (smaller pictures, "
              "fewer a second), or drop frames there (queue leaky=downstream). The depth is right, and old.",
              GST_PAD_NAME (inputs->view[v]), source[v].delay / 1e9, source[v].growth / 1e9));
    behind |= source[v].behind ? BEHIND : 0;
  }
  if (priv->sources & BEHIND && !behind)
    tell (self, priv->sources & ~BEHIND, FALSE, g_strdup ("Frames no longer come later and later."));
  if (!inputs->packed)
    compare_delays (self, inputs, source);
}

GstClockTime
gst_stereo_sources_next (GstStereoAggregator *self, const GstStereoInputs *inputs)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (self)),
               base = gst_element_get_base_time (GST_ELEMENT (self)), at = priv->deadline;

  if (!GST_CLOCK_TIME_IS_VALID (now))
    return GST_CLOCK_TIME_NONE;
  for (guint v = 0; v < 2 && priv->sources & SILENT; v++)
    if (inputs->view[v] && gst_stereo_pad_has_buffer (inputs->view[v]))
      at = now;
  /* nothing was heard yet */
  if (!at)
    at = priv->deadline = now + GST_SECOND / 2;
  base += GST_CLOCK_TIME_IS_VALID (priv->latency) ? priv->latency : 0;
  return at > base ? at - base : 0;
}
