/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which seek the frames of a pad come after. No locks: the pad that owns the structure holds its own.
 *
 * A seek without a flush leaves each source at a running time of its own. Two sources that were not at one place then
 * differ by a constant for the rest of the stream. The frames of a pad are therefore numbered by the seek that they
 * answer (their generation), and timed from the beginning of that seek (their origin).
 */
#ifndef GST_STEREO_SEEKS_H
#define GST_STEREO_SEEKS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Private to seeks.c. Zeroed at first. */
typedef struct
{
  guint generation; /* of the frames that come now */
  gint64 origin;    /* running time at which the generation begins */
  /* seeks sent upstream that no segment has answered yet, oldest first */
  guint32 seqnum[8];
  guint expected[8]; /* the generations that they begin */
  guint count;
  guint patience; /* frames that may still be dropped before these seeks are given up */
} GstStereoSeeks;

guint gst_stereo_seeks_generation (const GstStereoSeeks *seeks);
gint64 gst_stereo_seeks_origin (const GstStereoSeeks *seeks);
/* Whether a later generation is still to come. */
gboolean gst_stereo_seeks_are_pending (const GstStereoSeeks *seeks);

/* A seek of that number, without a flush, goes upstream. */
void gst_stereo_seeks_expect (GstStereoSeeks *seeks, guint generation, guint32 seqnum);
/* Upstream refused the seek that begins @generation. */
void gst_stereo_seeks_cancel (GstStereoSeeks *seeks, guint generation);
/* A segment begins. TRUE when it answers a seek: a new generation begins with it. */
gboolean gst_stereo_seeks_begin_segment (GstStereoSeeks *seeks, GstEvent *event);
/* A frame from before a pending seek was dropped. TRUE when the pending seeks are given up: nothing answers them. */
gboolean gst_stereo_seeks_count_old_frame (GstStereoSeeks *seeks);

G_END_DECLS

#endif
