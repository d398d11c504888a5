/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What breaks a stream for temporal, one reason at a time. test_temporal.c shows that a break is obeyed. */

#include "gst/match/history.h"
#include "tests/support/gst/suite.h"

/* Frames of 33 ms. */
#define FRAME (33 * GST_MSECOND)

static GstStereoFrame
frame_new (guint number)
{
  GstStereoFrame frame = { .buffer = gst_buffer_new (), .time = (gint64) (number * FRAME) };

  gst_segment_init (&frame.segment, GST_FORMAT_TIME);
  gst_video_info_set_format (&frame.info, GST_VIDEO_FORMAT_GRAY8, 64, 48);
  return frame;
}

/* A pair whose view @odd was changed by @change: why the stream breaks. */
static const gchar *
add (GstStereoMatchHistory *history, guint number, guint odd, void (*change) (GstStereoFrame *frame))
{
  GstStereoFrame views[2] = { frame_new (number), frame_new (number) };

  if (change)
    change (&views[odd]);
  const gchar *why = gst_stereo_match_history_add_pair (history, &views[0], &views[1]);
  gst_buffer_unref (views[0].buffer);
  gst_buffer_unref (views[1].buffer);
  return why;
}

static void
discont (GstStereoFrame *frame)
{
  GST_BUFFER_FLAG_SET (frame->buffer, GST_BUFFER_FLAG_DISCONT);
}

static void
gap (GstStereoFrame *frame)
{
  frame->after_gap = TRUE;
}

static void
segment (GstStereoFrame *frame)
{
  frame->segment.base++;
}

static void
caps (GstStereoFrame *frame)
{
  gst_video_info_set_format (&frame->info, GST_VIDEO_FORMAT_GRAY8, 66, 48);
}

static void
no_time (GstStereoFrame *frame)
{
  frame->time = GST_STEREO_TIME_NONE;
}

static const struct
{
  void (*change) (GstStereoFrame *frame);
  const gchar *why;  /* the stream breaks; NULL: it does not */
  const gchar *next; /* and at the pair behind, which is as those before */
} cases[] = { { NULL, NULL, NULL }, { discont, "a discontinuity", NULL }, { gap, "a gap", NULL },
  { segment, "a new segment", "a new segment" }, { caps, "other caps", "other caps" }, { no_time, NULL, NULL } };

TEST_LOOP (test_breaks, 0, G_N_ELEMENTS (cases))
{
  for (guint view = 0; view < 2; view++) {
    GstStereoMatchHistory history = { 0 };
    fail_unless (add (&history, 0, 0, NULL) == NULL);
    fail_if (gst_stereo_match_history_compute (&history));
    fail_unless_equals_string (add (&history, 1, view, cases[__i__].change), cases[__i__].why);
    fail_unless_equals_int (gst_stereo_match_history_compute (&history), cases[__i__].why != NULL);
    fail_unless_equals_string (add (&history, 2, view, NULL), cases[__i__].next);
    fail_unless_equals_int (gst_stereo_match_history_compute (&history), cases[__i__].next != NULL);
  }
}

TEST (test_time)
{
  GstStereoMatchHistory history = { 0 };

  fail_unless (add (&history, 10, 0, NULL) == NULL);
  gst_stereo_match_history_compute (&history);
  fail_unless_equals_string (add (&history, 9, 0, NULL), "time that goes backwards");
  fail_unless (gst_stereo_match_history_compute (&history));
  /* two pairs may have one timestamp, where a source's are coarse */
  fail_unless (add (&history, 9, 0, NULL) == NULL);
  fail_if (gst_stereo_match_history_compute (&history));
  /* pairs that are dropped do not make the pause shorter: 15 frames are just below half a second */
  fail_unless (add (&history, 9 + 8, 0, NULL) == NULL);
  fail_unless (add (&history, 9 + 15, 0, NULL) == NULL);
  fail_unless_equals_string (add (&history, 9 + 16, 0, NULL), "a pause");
  fail_unless (gst_stereo_match_history_compute (&history));
  fail_unless (add (&history, 9 + 31, 0, NULL) == NULL);
  fail_if (gst_stereo_match_history_compute (&history));
}

/* A break before a pair that is dropped is one before the pair behind it. */
TEST (test_break_before_a_dropped_pair)
{
  GstStereoMatchHistory history = { 0 };

  fail_unless (add (&history, 0, 0, NULL) == NULL);
  gst_stereo_match_history_compute (&history);
  fail_unless (add (&history, 1, 0, discont) != NULL);
  fail_unless (add (&history, 2, 0, NULL) == NULL);
  fail_unless (gst_stereo_match_history_compute (&history));
  fail_unless (add (&history, 3, 0, NULL) == NULL);
  fail_if (gst_stereo_match_history_compute (&history));
}

SUITE (history)
{
}
