/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/streams/cases.h"

#include "tests/support/gst/numbered.h"

#define COUNT 40
#define NONE GST_CLOCK_TIME_NONE

static void
nothing_wrong (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  script_frames (script, 1, 0, COUNT);
}

static void
dropped_left (Script *script)
{
  for (guint i = 0; i < COUNT; i++)
    if (i % 4)
      script_frame (script, 0, i, SCRIPT_AT (i));
  script_frames (script, 1, 0, COUNT);
}

static void
dropped_on_both (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    if (i % 4)
      script_frame (script, 0, i, SCRIPT_AT (i));
    if (i % 5)
      script_frame (script, 1, i, SCRIPT_AT (i));
  }
}

static void
repeated_right (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    for (guint k = 0; k < (i % 3 ? 1u : 3u); k++)
      script_frame (script, 1, i, SCRIPT_AT (i));
}

/* The second one of each goes with the other camera's second one. */
static void
repeated_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < COUNT; i++) {
      script_frame (script, view, i, SCRIPT_AT (i));
      script_frame (script, view, i, SCRIPT_AT (i));
    }
}

/* 0 2 1 3: of the two in the middle one still finds its partner. */
static void
reordered_right (Script *script)
{
  script->faults[FAULT_REORDER]++;
  script_frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++) {
    guint n = i % 4 == 1 ? i + 1 : i % 4 == 2 ? i - 1 : i;
    script_frame (script, 1, n, SCRIPT_AT (n));
  }
}

static void
reordered_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < COUNT; i++) {
      guint n = i % 4 == 1 ? i + 1 : i % 4 == 2 ? i - 1 : i;
      script_frame (script, view, n, SCRIPT_AT (n));
    }
}

static void
jitter (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    script_frame (script, 0, i, SCRIPT_AT (i) + i * 7919 % 9000 * GST_USECOND);
    script_frame (script, 1, i, SCRIPT_AT (i) - i * 104729 % 9000 * GST_USECOND);
  }
}

/* The right camera is a quarter of a frame behind throughout. */
static void
offset (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    script_frame (script, 1, i, SCRIPT_AT (i) + SCRIPT_FRAME / 4);
}

/* Without a word: the timestamps leap by five seconds. */
static void
stall (Script *script, guint view)
{
  script_frames (script, !view, 0, 165);
  script_frames (script, view, 0, 20);
  script_frames (script, view, 145, 165);
}

static void
stall_left (Script *script)
{
  stall (script, 0);
}

static void
stall_right (Script *script)
{
  stall (script, 1);
}

static void
stall_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    script_frames (script, view, 0, 20);
    script_frames (script, view, 145, 165);
  }
}

static void
gap_left (Script *script)
{
  script_frames (script, 0, 0, 10);
  script_gap (script, 0, SCRIPT_AT (10), 5 * SCRIPT_FRAME);
  script_frames (script, 0, 15, COUNT);
  script_frames (script, 1, 0, COUNT);
}

static void
gap_right (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  script_frames (script, 1, 0, 10);
  for (guint i = 10; i < 15; i++)
    script_gap (script, 1, SCRIPT_AT (i), SCRIPT_FRAME);
  script_frames (script, 1, 15, COUNT);
}

/* Both clocks go back by eight frames at once: frames that are not of one moment have the same time, but never meet. */
static void
jump_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    script_frames (script, view, 0, 20);
    for (guint i = 20; i < COUNT; i++)
      script_frame (script, view, i, SCRIPT_AT (i - 8));
  }
}

/* One clock goes back by two frames: from there on the timestamps lie, and are believed. */
static void
jump_right (Script *script)
{
  script->truthful = FALSE;
  script_frames (script, 0, 0, COUNT);
  script_frames (script, 1, 0, 20);
  for (guint i = 20; i < COUNT; i++)
    script_frame (script, 1, i, SCRIPT_AT (i - 2));
}

static void
no_timestamps (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    script_frame (script, 0, i, NONE);
    script_frame (script, 1, i, NONE);
  }
}

static void
no_timestamps_right (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    script_frame (script, 1, i, NONE);
}

static void
caps (Script *script, guint first)
{
  /* one pad is told early, while its frames of the old size still wait on the other */
  for (guint k = 0; k < 2; k++) {
    guint view = k ? !first : first;
    script_frames (script, view, 0, 20);
    if (k)
      script_event (script, view);
    script_caps (script, view, NUMBERED_WIDTH + 8);
    script_frames (script, view, 20, COUNT);
  }
}

static void
caps_left_first (Script *script)
{
  caps (script, 0);
}

static void
caps_right_first (Script *script)
{
  caps (script, 1);
}

/* The new size begins three frames earlier on one pad, and those are lost on the other. */
static void
caps_and_loss (Script *script)
{
  script_frames (script, 0, 0, 17);
  script_caps (script, 0, NUMBERED_WIDTH + 8);
  script_frames (script, 0, 20, COUNT);
  script_frames (script, 1, 0, 20);
  script_caps (script, 1, NUMBERED_WIDTH + 8);
  script_frames (script, 1, 20, COUNT);
}

static void
segments (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    guint part = i / 8;
    if (i % 8 == 0)
      script_segment (script, 1, part * 100 * GST_SECOND);
    script_frame (script, 0, i, SCRIPT_AT (i));
    script_frame (script, 1, i, part * 100 * GST_SECOND + SCRIPT_AT (i));
  }
}

static void
left_ends_early (Script *script)
{
  script_frames (script, 0, 0, 25);
  script_frames (script, 1, 0, COUNT);
}

static void
right_ends_early (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  script_frames (script, 1, 0, 25);
}

static void
right_sends_nothing (Script *script)
{
  script_frames (script, 0, 0, 20);
}

/* Segments that a seek leaves behind: @rate, from @start on, of the running time @base. */
static GstSegment
segment_of (gdouble rate, GstClockTime start, GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = segment.time = segment.position = start;
  segment.base = base;
  return segment;
}

/* A frame that is to be shown at SCRIPT_AT (@i). */
static void
frame_in (Script *script, guint view, const GstSegment *segment, guint i)
{
  script_frame (
      script, view, i, segment->start + (GstClockTime) ((gdouble) (SCRIPT_AT (i) - segment->base) * segment->rate));
}

static void
one_segment (Script *script, guint view, const GstSegment *segment)
{
  script_segment_of (script, view, segment);
  for (guint i = 0; i < COUNT; i++)
    frame_in (script, view, segment, i);
}

static void
right_at_twice_the_rate (Script *script)
{
  GstSegment segment = segment_of (2, 30 * GST_SECOND, 0);

  script_frames (script, 0, 0, COUNT);
  one_segment (script, 1, &segment);
}

/* Half a frame is half of what it lasts in the file's time then. */
static void
both_at_twice_the_rate_and_losses (Script *script)
{
  GstSegment segment = segment_of (2, 0, 0);

  one_segment (script, 0, &segment);
  script_segment_of (script, 1, &segment);
  for (guint i = 0; i < COUNT; i++)
    if (i % 4)
      frame_in (script, 1, &segment, i);
}

/* A frame lasts as long as four of the other's segment, and still goes with one that is a third of a frame off. */
static void
both_at_a_quarter_of_the_rate (Script *script)
{
  GstSegment segment = segment_of (0.25, 7 * GST_SECOND, 0);

  for (guint view = 0; view < 2; view++) {
    script_segment_of (script, view, &segment);
    script_offset (script, view, view * (gint64) SCRIPT_FRAME / 3);
    for (guint i = 0; i < COUNT; i++)
      frame_in (script, view, &segment, i);
  }
}

static void
segments_of_other_bases (Script *script)
{
  GstSegment left = segment_of (1, 5 * GST_SECOND, 60 * GST_MSECOND);
  GstSegment right = segment_of (1, 80 * GST_SECOND, 300 * GST_MSECOND);

  one_segment (script, 0, &left);
  one_segment (script, 1, &right);
}

/* What lies behind its end is no frame of the stream. */
static void
left_segment_stops (Script *script)
{
  GstSegment segment = segment_of (1, 0, 0);

  segment.stop = SCRIPT_AT (30);
  one_segment (script, 0, &segment);
  script_frames (script, 1, 0, COUNT);
}

/* The first eight of the right view lie before its segment. */
static void
right_segment_starts_late (Script *script)
{
  GstSegment segment = segment_of (1, SCRIPT_AT (8), SCRIPT_AT (8));

  script_frames (script, 0, 0, COUNT);
  script_segment_of (script, 1, &segment);
  script_frames (script, 1, 0, COUNT);
}

/* What one camera's clock is behind, its pad makes good. */
static void
pad_offset (Script *script, guint view, gint64 offset)
{
  script_frames (script, !view, 0, COUNT);
  script_offset (script, view, offset);
  for (guint i = 0; i < COUNT; i++)
    script_frame (script, view, i, (GstClockTime) ((gint64) SCRIPT_AT (i) - offset));
}

static void
pad_offset_left (Script *script)
{
  pad_offset (script, 0, 130 * (gint64) GST_MSECOND);
}

static void
pad_offset_right (Script *script)
{
  pad_offset (script, 1, -130 * (gint64) GST_MSECOND);
}

/* It is set while frames flow. */
static void
pad_offset_changes (Script *script)
{
  script_frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++) {
    gint64 offset = (gint64) (i / 10) * 50 * (gint64) GST_MSECOND - 70 * (gint64) GST_MSECOND;
    if (i % 10 == 0)
      script_offset (script, 1, offset);
    script_frame (script, 1, i, (GstClockTime) ((gint64) SCRIPT_AT (i) - offset));
  }
}

const StreamCase stream_cases[] = {
  { "nothing wrong", nothing_wrong, 40, 0, 0 },
  { "frames dropped on the left", dropped_left, 30, 0, 10 },
  { "frames dropped on both", dropped_on_both, 24, 6, 8 },
  { "frames repeated on the right", repeated_right, 40, 0, 28, 2 },
  { "frames repeated on both", repeated_on_both, 80, 0, 0 },
  { "frames reordered on the right", reordered_right, 30, 10, 10 },
  { "frames reordered on both", reordered_on_both, 40, 0, 0 },
  { "jitter", jitter, 40, 0, 0 },
  { "a constant offset", offset, 40, 0, 0 },
  { "the left camera stops for 5 s", stall_left, 40, 0, 125 },
  { "the right camera stops for 5 s", stall_right, 40, 125, 0 },
  { "both cameras stop for 5 s", stall_on_both, 40, 0, 0 },
  { "GAP events on the left", gap_left, 35, 0, 5 },
  { "GAP events on the right", gap_right, 35, 5, 0 },
  { "both clocks jump back", jump_on_both, 40, 0, 0 },
  { "the right clock jumps back", jump_right, 38, 2, 2, 2 },
  { "no timestamps", no_timestamps, 40, 0, 0 },
  { "no timestamps on the right", no_timestamps_right, 40, 0, 0 },
  { "the left caps change first", caps_left_first, 40, 0, 0 },
  { "the right caps change first", caps_right_first, 40, 0, 0 },
  { "frames are lost where the caps change", caps_and_loss, 37, 0, 3 },
  { "another segment every 8 frames", segments, 40, 0, 0 },
  { "the right segment runs at twice the rate", right_at_twice_the_rate, 40, 0, 0 },
  { "both segments run at twice the rate, and frames are lost", both_at_twice_the_rate_and_losses, 30, 10, 0 },
  { "both segments run at a quarter of the rate", both_at_a_quarter_of_the_rate, 40, 0, 0 },
  { "segments of other starts and bases", segments_of_other_bases, 40, 0, 0 },
  { "the left segment stops early", left_segment_stops, 30, 0, 10, 10 },
  { "the right segment starts late", right_segment_starts_late, 32, 8, 0 },
  { "an offset of the left pad", pad_offset_left, 40, 0, 0 },
  { "an offset of the right pad", pad_offset_right, 40, 0, 0 },
  { "the offset of the right pad changes", pad_offset_changes, 40, 0, 0 },
  { "the left view ends early", left_ends_early, 25, 0, 15, 15 },
  { "the right view ends early", right_ends_early, 25, 15, 0, 15 },
  { "the right camera sends nothing", right_sends_nothing, 0, 20, 0, 20 },
};

const guint stream_case_count = G_N_ELEMENTS (stream_cases);
