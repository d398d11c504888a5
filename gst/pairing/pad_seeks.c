/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which seek the frames of a pad come after. */
#include "gst/pairing/pad.h"

/* So many frames may come between a seek and what answers it. A source that never does is so found out. */
#define PATIENCE 256

void
gst_stereo_pad_forget_seeks (GstStereoPad *pad)
{
  pad->generation = 0;
  pad->origin = 0;
  pad->seeks.count = 0;
}

/* Those up to @generation are answered, or never will be. With the object lock held. */
static void
forget_up_to (GstStereoSeeks *seeks, guint generation)
{
  guint kept = 0;

  for (guint i = 0; i < seeks->count; i++)
    if (seeks->generation[i] > generation) {
      seeks->seqnum[kept] = seeks->seqnum[i];
      seeks->generation[kept++] = seeks->generation[i];
    }
  seeks->count = kept;
}

void
gst_stereo_pad_expect (GstStereoPad *pad, guint generation, guint32 seqnum)
{
  GstStereoSeeks *seeks = &pad->seeks;

  GST_OBJECT_LOCK (pad);
  if (seeks->count == G_N_ELEMENTS (seeks->seqnum))
    forget_up_to (seeks, seeks->generation[0]);
  seeks->seqnum[seeks->count] = seqnum;
  seeks->generation[seeks->count++] = generation;
  seeks->patience = PATIENCE;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_expect_no_more (GstStereoPad *pad, guint generation)
{
  GST_OBJECT_LOCK (pad);
  forget_up_to (&pad->seeks, generation);
  GST_OBJECT_UNLOCK (pad);
}

/* The generation that this segment begins; 0: none. An offset of a pad on the way makes a new event of it, which does
 * not tell: it is then taken for the answer to the first seek. */
static guint
answered (const GstStereoSeeks *seeks, GstEvent *event)
{
  for (guint i = 0; i < seeks->count; i++)
    if (seeks->seqnum[i] == gst_event_get_seqnum (event))
      return seeks->generation[i];
  return seeks->count && gst_event_get_running_time_offset (event) ? seeks->generation[0] : 0;
}

void
gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event)
{
  const GstSegment *segment;
  guint generation;
  gint64 origin;

  gst_event_parse_segment (event, &segment);
  GST_OBJECT_LOCK (pad);
  generation = answered (&pad->seeks, event);
  if (generation) {
    origin = gst_stereo_running_time (segment, segment->rate > 0 ? segment->start : segment->stop);
    /* what the pad is offset by is meant */
    pad->origin = origin == GST_STEREO_TIME_NONE ? 0 : origin - gst_event_get_running_time_offset (event);
    pad->generation = generation;
    pad->gap_end = GST_STEREO_TIME_NONE;
    forget_up_to (&pad->seeks, generation);
  }
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_fell_behind (GstStereoPad *pad)
{
  gboolean lost;

  GST_OBJECT_LOCK (pad);
  lost = pad->seeks.count && pad->seeks.patience-- == 1;
  if (lost)
    pad->seeks.count = 0;
  GST_OBJECT_UNLOCK (pad);
  if (lost)
    GST_WARNING_OBJECT (pad, "nothing answers a seek; going on with what there is");
}
