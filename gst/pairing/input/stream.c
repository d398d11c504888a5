/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/stream.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"

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

void
gst_stereo_pad_close (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  pad->closed = TRUE;
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

GstStereoActivity
gst_stereo_pad_activity (GstStereoPad *pad)
{
  GstStereoActivity activity;

  GST_OBJECT_LOCK (pad);
  activity = (GstStereoActivity){ pad->arrivals, pad->pushing, pad->over,
    pad->waiting || gst_stereo_heads_count (&pad->heads) > 0 };
  GST_OBJECT_UNLOCK (pad);
  return activity;
}
