/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a pad learns from events: caps, segments, seeks, the end. */
#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"

/* So many frames may come between a seek and its answer. This finds out a source that never answers. */
#define PATIENCE 256

void
gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event)
{
  GstEventType type = GST_EVENT_TYPE (event);

  GST_OBJECT_LOCK (pad);
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP)
    pad->over = FALSE;
  pad->over |= type == GST_EVENT_EOS;
  pad->received += type == GST_EVENT_GAP;
  GST_OBJECT_UNLOCK (pad);
}

const GstVideoInfo *
gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps)
{
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  GST_DEBUG_OBJECT (pad, "caps %" GST_PTR_FORMAT, caps);
  return pad->have_info ? &pad->info : NULL;
}

gboolean
gst_stereo_pad_warn_once (GstStereoPad *pad)
{
  gboolean first = !pad->warned;

  pad->warned = TRUE;
  return first;
}

GstStereoActivity
gst_stereo_pad_activity (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  GstStereoActivity activity = (GstStereoActivity){ pad->received, pad->receiving, pad->over, pad->frames.length > 0 };
  GST_OBJECT_UNLOCK (pad);
  return activity;
}

/* ---- seeks -------------------------------------------------------------------------------- */

/* The seeks up to @generation are answered, or never will be. */
static void
remove_seeks (GstStereoSeeks *seeks, guint generation)
{
  guint kept = 0;

  for (guint i = 0; i < seeks->count; i++)
    if (seeks->expected[i] > generation) {
      seeks->seqnum[kept] = seeks->seqnum[i];
      seeks->expected[kept++] = seeks->expected[i];
    }
  seeks->count = kept;
}

void
gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum)
{
  GstStereoSeeks *seeks = &pad->seeks;

  GST_OBJECT_LOCK (pad);
  if (seeks->count == G_N_ELEMENTS (seeks->seqnum))
    remove_seeks (seeks, seeks->expected[0]);
  seeks->seqnum[seeks->count] = seqnum;
  seeks->expected[seeks->count++] = generation;
  seeks->patience = PATIENCE;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation)
{
  GST_OBJECT_LOCK (pad);
  remove_seeks (&pad->seeks, generation);
  GST_OBJECT_UNLOCK (pad);
}

/* The generation that this segment begins; 0: none. A pad offset on the way makes a new event with another number. Such
 * a segment is taken for the answer to the first pending seek. */
static guint
answered (const GstStereoSeeks *seeks, GstEvent *event)
{
  for (guint i = 0; i < seeks->count; i++)
    if (seeks->seqnum[i] == gst_event_get_seqnum (event))
      return seeks->expected[i];
  return seeks->count && gst_event_get_running_time_offset (event) ? seeks->expected[0] : 0;
}

/* The running time at which the frames of a segment begin. The pad's offset shifts one view on purpose: it is left out. */
static gint64
origin_of (GstEvent *event)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  gint64 origin = gst_stereo_running_time (segment, segment->rate > 0 ? segment->start : segment->stop);
  return origin == GST_STEREO_TIME_NONE ? 0 : origin - gst_event_get_running_time_offset (event);
}

void
gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event)
{
  guint answers, generation;

  GST_OBJECT_LOCK (pad);
  answers = answered (&pad->seeks, event);
  if (answers) {
    pad->seeks.generation = answers;
    pad->seeks.origin = origin_of (event);
    remove_seeks (&pad->seeks, answers);
    /* a gap of an earlier generation does not count for this one */
    pad->gap_end = GST_STEREO_TIME_NONE;
  }
  generation = pad->seeks.generation;
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "segment of generation %u%s", generation, answers ? ", which answers a seek" : "");
}

void
gst_stereo_pad_count_old_frame (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  gboolean lost = pad->seeks.count && --pad->seeks.patience == 0;
  if (lost)
    pad->seeks.count = 0;
  GST_OBJECT_UNLOCK (pad);
  if (lost)
    GST_WARNING_OBJECT (pad, "no segment answers a seek: its frames are paired as they come");
}
