/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/seeks.h"

#include "gst/pairing/frame.h"

/* So many frames may come between a seek and its answer. A source that never answers is found out by this. */
#define PATIENCE 256

guint
gst_stereo_seeks_generation (const GstStereoSeeks *seeks)
{
  return seeks->generation;
}

gint64
gst_stereo_seeks_origin (const GstStereoSeeks *seeks)
{
  return seeks->origin;
}

gboolean
gst_stereo_seeks_are_pending (const GstStereoSeeks *seeks)
{
  return seeks->count > 0;
}

/* The seeks up to @generation are answered, or never will be. */
static void
remove_up_to (GstStereoSeeks *seeks, guint generation)
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
gst_stereo_seeks_expect (GstStereoSeeks *seeks, guint generation, guint32 seqnum)
{
  if (seeks->count == G_N_ELEMENTS (seeks->seqnum))
    remove_up_to (seeks, seeks->expected[0]);
  seeks->seqnum[seeks->count] = seqnum;
  seeks->expected[seeks->count++] = generation;
  seeks->patience = PATIENCE;
}

void
gst_stereo_seeks_cancel (GstStereoSeeks *seeks, guint generation)
{
  remove_up_to (seeks, generation);
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

gboolean
gst_stereo_seeks_begin_segment (GstStereoSeeks *seeks, GstEvent *event)
{
  guint generation = answered (seeks, event);
  const GstSegment *segment;
  gint64 origin;

  if (!generation)
    return FALSE;
  gst_event_parse_segment (event, &segment);
  origin = gst_stereo_running_time (segment, segment->rate > 0 ? segment->start : segment->stop);
  /* the pad's offset shifts one view on purpose: the origin leaves it out */
  seeks->origin = origin == GST_STEREO_TIME_NONE ? 0 : origin - gst_event_get_running_time_offset (event);
  seeks->generation = generation;
  remove_up_to (seeks, generation);
  return TRUE;
}

gboolean
gst_stereo_seeks_count_old_frame (GstStereoSeeks *seeks)
{
  if (!seeks->count || --seeks->patience > 0)
    return FALSE;
  seeks->count = 0;
  return TRUE;
}
