/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pad.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"
#include "gst/video/stream.h"

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

/* ---- the object --------------------------------------------------------------------------- */

/* Back to the state after a flush. */
static void
clear (GstStereoPad *pad)
{
  GstBuffer *buffers[2];

  GST_OBJECT_LOCK (pad);
  gst_stereo_heads_clear (&pad->heads, buffers);
  memset (&pad->seeks, 0, sizeof pad->seeks);
  pad->waiting = 0;
  pad->closed = FALSE;
  GST_OBJECT_UNLOCK (pad);
  gst_clear_buffer (&buffers[0]);
  gst_clear_buffer (&buffers[1]);
}

static GstFlowReturn
gst_stereo_pad_flush (GstAggregatorPad *pad, GstAggregator *aggregator)
{
  GST_DEBUG_OBJECT (pad, "flush: the frames at hand are dropped");
  clear (GST_STEREO_PAD (pad));
  return GST_FLOW_OK;
}

static void
gst_stereo_pad_dispose (GObject *object)
{
  clear (GST_STEREO_PAD (object));
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->dispose (object);
}

static void
gst_stereo_pad_finalize (GObject *object)
{
  g_mutex_clear (&GST_STEREO_PAD (object)->queue_lock);
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->finalize (object);
}

static void
gst_stereo_pad_init (GstStereoPad *pad)
{
  g_mutex_init (&pad->queue_lock);
  gst_stereo_heads_init (&pad->heads);
}

GstStereoPad *
gst_stereo_pad_new (GstPadTemplate *template)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  GstStereoPad *pad = g_object_new (GST_TYPE_STEREO_PAD, "name", name, "direction", GST_PAD_SINK, "template", template,
      NULL);

  pad->packed = g_str_equal (name, "sink");
  pad->right = g_str_equal (name, "sink_right");
  return pad;
}

gboolean
gst_stereo_pad_is_packed (GstStereoPad *pad)
{
  return pad->packed;
}

gboolean
gst_stereo_pad_is_right (GstStereoPad *pad)
{
  return pad->right;
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* When its task ends, GstAggregator drops what is in its queue without a word. The pad therefore counts what is on its
 * way there, so that the task can take all of it before it ends. */
static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean gap = gst_stereo_is_gap (buffer), closed;
  GstFlowReturn flow;

  GST_OBJECT_LOCK (pad);
  closed = pad->closed;
  pad->waiting += !closed && !gap;
  pad->arrivals++;
  pad->pushing = !closed;
  GST_OBJECT_UNLOCK (pad);
  if (closed) {
    GST_LOG_OBJECT (pad, "refused, for the other view has ended: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
  flow = pad->chain (base, parent, buffer);
  GST_OBJECT_LOCK (pad);
  pad->pushing = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (flow != GST_FLOW_OK && !gap)
    gst_stereo_pad_count_out (pad);
  return flow;
}

static void
gst_stereo_pad_constructed (GObject *object)
{
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->constructed (object);
  GST_STEREO_PAD (object)->chain = GST_PAD_CHAINFUNC (object);
  gst_pad_set_chain_function (GST_PAD (object), gst_stereo_pad_chain);
}

static void
gst_stereo_pad_class_init (GstStereoPadClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = gst_stereo_pad_constructed;
  G_OBJECT_CLASS (klass)->dispose = gst_stereo_pad_dispose;
  G_OBJECT_CLASS (klass)->finalize = gst_stereo_pad_finalize;
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = gst_stereo_pad_flush;
}

GstBuffer *
gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstBuffer *inside = gst_stereo_clip (aggregator, pad, gst_buffer_ref (buffer));

  if (!inside) {
    GST_DEBUG_OBJECT (pad, "dropped, outside the segment: %" GST_PTR_FORMAT, buffer);
    if (!gst_stereo_is_gap (buffer))
      gst_stereo_pad_count_out (GST_STEREO_PAD (pad));
  }
  gst_buffer_unref (buffer);
  return inside;
}

/* ---- events ------------------------------------------------------------------------------- */

const GstVideoInfo *
gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps)
{
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  GST_DEBUG_OBJECT (pad, "caps %" GST_PTR_FORMAT, caps);
  return pad->have_info ? &pad->info : NULL;
}

void
gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event)
{
  gboolean answers;
  guint generation;

  GST_OBJECT_LOCK (pad);
  answers = gst_stereo_seeks_begin_segment (&pad->seeks, event);
  generation = gst_stereo_seeks_generation (&pad->seeks);
  if (answers)
    gst_stereo_heads_remove_gap (&pad->heads);
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "segment of generation %u%s", generation, answers ? ", which answers a seek" : "");
}

void
gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event)
{
  GstEventType type = GST_EVENT_TYPE (event);

  GST_OBJECT_LOCK (pad);
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP)
    pad->over = FALSE;
  pad->over |= type == GST_EVENT_EOS;
  pad->arrivals += type == GST_EVENT_GAP;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum)
{
  GST_OBJECT_LOCK (pad);
  gst_stereo_seeks_expect (&pad->seeks, generation, seqnum);
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation)
{
  GST_OBJECT_LOCK (pad);
  gst_stereo_seeks_cancel (&pad->seeks, generation);
  GST_OBJECT_UNLOCK (pad);
}

gboolean
gst_stereo_pad_warn_once (GstStereoPad *pad)
{
  gboolean first = !pad->warned;

  pad->warned = TRUE;
  return first;
}

void
gst_stereo_pad_count_old_frame (GstStereoPad *pad)
{
  gboolean lost;

  GST_OBJECT_LOCK (pad);
  lost = gst_stereo_seeks_count_old_frame (&pad->seeks);
  GST_OBJECT_UNLOCK (pad);
  if (lost)
    GST_WARNING_OBJECT (pad, "no segment answers a seek: its frames are paired as they come");
}

void
gst_stereo_pad_retire (GstStereoPad *pad)
{
  g_mutex_lock (&pad->queue_lock);
  pad->released = TRUE;
  g_mutex_unlock (&pad->queue_lock);
}

void
gst_stereo_pad_close (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  pad->closed = TRUE;
  GST_OBJECT_UNLOCK (pad);
}

GstStereoActivity
gst_stereo_pad_activity (GstStereoPad *pad)
{
  GstStereoActivity activity;

  GST_OBJECT_LOCK (pad);
  activity = (GstStereoActivity) { pad->arrivals, pad->pushing, pad->over,
    pad->waiting || gst_stereo_heads_count (&pad->heads) > 0 };
  GST_OBJECT_UNLOCK (pad);
  return activity;
}
