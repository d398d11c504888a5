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
#define SLOWEST 10              /* timeouts */
#define POLL (50 * GST_MSECOND) /* the sources are looked at so often at least */

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
  GstClockTime now = gst_element_get_current_clock_time (element), base = gst_element_get_base_time (element);
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
    measure (source, (gint64) now, time == NONE || source->held ? NONE : (gint64) (now - base) - time);
  source->held = !buffer && now - source->heard > HELD;
  source->receiving = buffer != NULL;
  source->over &= !buffer;
  source->heard = now;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_source_forget (GstStereoSource *source)
{
  source->since = source->growth = 0;
  source->delay = source->window = NONE;
  source->trend = 0;
  source->behind = source->over = FALSE;
}

/* ---- in the task -------------------------------------------------------------------------- */

/* Which views are silent. @longest: the longest silence. */
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
  /* neither PAUSED nor a stopped process counts as silence, nor the time before the first frame of all */
  if (!playing || now > priv->watched + MAX (timeout, POLL * 10) || !(source[LEFT].heard || source[RIGHT].heard))
    priv->since = now;
  priv->watched = now;
  for (guint v = 0; v < 2; v++) {
    const GstClockTime from = MAX (source[v].heard, priv->since);
    guint64 limit = CLAMP (SLOW_FRAMES * (guint64) pads[v]->spacing, timeout, SLOWEST * timeout);
    gboolean has = gst_stereo_pad_has_buffer (pads[v]);
    const GstClockTime idle = has || source[v].receiving || now < from ? 0 : now - from;
    *longest = MAX (*longest, idle);
    if (source[v].over ? !has && pads[!v]->began && !source[!v].over && !inputs->packed : timeout && idle >= limit)
      silent |= v ? SILENT_RIGHT : SILENT_LEFT;
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
  gst_element_message_full (GST_ELEMENT (self), bad ? GST_MESSAGE_WARNING : GST_MESSAGE_INFO, GST_STREAM_ERROR,
      GST_STREAM_ERROR_FAILED, text, NULL, __FILE__, GST_FUNCTION, __LINE__);
}

/* In a live pipeline, once. */
static void
compare_delays (GstStereoAggregator *self, const GstStereoInputs *inputs, const GstStereoSource source[2])
{
  guint late = source[RIGHT].delay > source[LEFT].delay;
  /* what upstream reports as its latency is no delay */
  gint64 upstream = (gint64) (self->priv->latency - self->priv->qos.announced), early = source[!late].delay,
         apart = source[late].delay - MAX (early, upstream);

  /* no camera's frame comes before its time: such a branch is not live */
  if (self->priv->judged || early < -MOST_APART)
    return;
  self->priv->judged = TRUE;
  if (apart > MOST_APART)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The frames of %s come %.1f s later than those of %s: its timestamps begin at another time, and a pair shows two "
         "moments so far apart. Let its source stamp frames by the pipeline's clock (do-timestamp=true), or shift the "
         "view: the offset of its pad, in nanoseconds.",
            GST_PAD_NAME (inputs->view[late]), (gdouble) apart / 1e9, GST_PAD_NAME (inputs->view[!late])),
        (NULL));
}

void
gst_stereo_sources_watch (GstStereoAggregator *self, GstStereoInputs *inputs)
{
  GstStereoAggregatorPrivate *priv = self->priv;
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (self)), longest = 0;
  GstStereoHealthFlags before = priv->sources, behind = 0;
  GstStereoSource source[2];

  if (!inputs->live || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  for (guint v = 0; v < 2; v++) {
    GST_OBJECT_LOCK (inputs->view[v]);
    source[v] = inputs->view[v]->source;
    GST_OBJECT_UNLOCK (inputs->view[v]);
  }
  GstStereoHealthFlags silent = find_silent (self, inputs, source, now, &longest),
                       changed = silent & ~before ? silent : before & SILENT & ~silent;
  const gchar *name = inputs->packed ? "sink" :
      changed == SILENT              ? "sink_left and sink_right" :
      changed & SILENT_LEFT          ? "sink_left" :
                                       "sink_right";
  if (silent & ~before) {
    const GstStereoPad *pad = inputs->view[changed & SILENT_LEFT ? LEFT : RIGHT];
    g_autofree gchar *since = g_strdup_printf ("%s been silent for %.1f s%s, and the stream did not end",
        changed == SILENT && !inputs->packed ? "have" : "has", (gdouble) longest / GST_SECOND,
        pad->began ? "" : ", and had no frame before");
    tell (self, (before & BEHIND) | silent, TRUE,
        g_strdup_printf ("%s %s: nothing comes out until it is back. Check that camera, its cable and the source of that "
                         "branch. Where one thread feeds both pads, put a queue before each.",
            name, pad->ended ? "has ended, and the other view goes on" : since));
  } else if (changed) {
    /* the camera may count its time anew */
    for (guint v = 0; v < 2; v++) {
      GST_OBJECT_LOCK (inputs->view[v]);
      gst_stereo_source_forget (&inputs->view[v]->source);
      GST_OBJECT_UNLOCK (inputs->view[v]);
      gst_stereo_source_forget (&source[v]);
    }
    priv->judged = FALSE;
    tell (self, (before & BEHIND) | silent, FALSE, g_strdup_printf ("%s is back.", name));
  }
  priv->delay = NONE;
  for (guint v = 0; v < 2; v++) {
    inputs->silent[v] = (silent & (v ? SILENT_RIGHT : SILENT_LEFT)) != 0;
    /* where it grows, it will have grown as much again when the next second is over; a leap is none */
    if (source[v].delay != NONE)
      priv->delay = MAX (
          priv->delay, source[v].delay + (source[v].growth < MOST_APART ? 2 * MAX (source[v].growth, 0) : 0));
    if (source[v].behind && !behind && !(before & BEHIND))
      tell (self, priv->sources | BEHIND, TRUE,
          g_strdup_printf (
              "The frames of %s come later and later: %.1f s after their timestamps by now, and %.2f s more each second. "
              "Its source falls behind, or what stands before this element. Make less of it (smaller pictures, "
              "fewer a second), or drop frames there (queue leaky=downstream). The depth is right, and old.",
              GST_PAD_NAME (inputs->view[v]), (gdouble) source[v].delay / 1e9, (gdouble) source[v].growth / 1e9));
    behind |= source[v].behind ? BEHIND : 0;
  }
  if (priv->sources & BEHIND && !behind)
    tell (self, priv->sources & ~BEHIND, FALSE, g_strdup ("Frames no longer come later and later."));
  if (!inputs->packed && source[LEFT].delay != NONE && source[RIGHT].delay != NONE)
    compare_delays (self, inputs, source);
}

GstClockTime
gst_stereo_sources_next (GstAggregator *aggregator)
{
  const GstStereoAggregatorPrivate *priv = GST_STEREO_AGGREGATOR (aggregator)->priv;
  GstClockTime now = gst_element_get_current_clock_time (GST_ELEMENT (aggregator)),
               base = gst_element_get_base_time (GST_ELEMENT (aggregator)), at = MAX (priv->watched + POLL, now);
  g_auto (GstStereoInputs) inputs = gst_stereo_aggregator_get_inputs (GST_STEREO_AGGREGATOR (aggregator));

  if (!GST_CLOCK_TIME_IS_VALID (now))
    return GST_CLOCK_TIME_NONE;
  for (guint v = 0; v < 2 && priv->sources & SILENT; v++)
    if (inputs.view[v] && gst_stereo_pad_has_buffer (inputs.view[v]))
      at = now;
  base += GST_CLOCK_TIME_IS_VALID (priv->latency) ? priv->latency : 0;
  return at > base ? at - base : 0;
}
