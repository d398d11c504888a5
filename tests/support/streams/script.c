/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/streams/script.h"

#include "tests/support/gst/numbered.h"

const gchar *
fault_name (Fault fault)
{
  static const gchar *const names[FAULTS] = { "drop", "repeat", "reorder", "jitter", "stall", "gap", "jump", "untimed",
    "caps", "segment", "offset", "event", "rate", "late", "property", "flush", "pause", "restart", "repad",
    "early-end" };

  return names[fault];
}

Script *
script_new (const gint *rates)
{
  Script *script = g_new0 (Script, 1);

  for (guint view = 0; view < 2; view++) {
    script->steps[view] = g_array_new (FALSE, TRUE, sizeof (Step));
    script->frames[view] = g_array_new (FALSE, TRUE, sizeof (Frame));
    script->rate[view] = rates ? rates[view] : 25;
    script->duration[view] = GST_SECOND / (guint) script->rate[view];
  }
  script->limit = (gint64) script->duration[0] / 2;
  script->truthful = !rates || rates[0] == rates[1];
  return script;
}

void
script_free (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    g_array_unref (script->steps[view]);
    g_array_unref (script->frames[view]);
  }
  g_free (script);
}

static Step *
add (Script *script, guint view, StepKind kind)
{
  GArray *steps = script->steps[view];

  g_array_set_size (steps, steps->len + 1);
  Step *step = &g_array_index (steps, Step, steps->len - 1);
  step->kind = kind;
  return step;
}

/* The last caps or segment so far; NULL before the first. */
static const Step *
last (const Script *script, guint view, StepKind kind)
{
  for (guint i = script->steps[view]->len; i > 0; i--) {
    const Step *step = &g_array_index (script->steps[view], Step, i - 1);
    if (step->kind == kind)
      return step;
  }
  return NULL;
}

void
script_caps (Script *script, guint view, gint width)
{
  add (script, view, STEP_CAPS)->width = width;
}

gint64
script_scale (gint64 time, gdouble rate)
{
  return (gint64) ((gdouble) time * rate);
}

/* GstSegment's arithmetic once more, for what the cameras use: forwards only. */
static void
place (Frame *frame, const GstSegment *segment, gint64 offset)
{
  gint64 past = (gint64) frame->pts - (gint64) segment->start;

  frame->time = script_scale (past, 1 / segment->rate) + (gint64) segment->base + offset;
  frame->stream = past + (gint64) segment->time;
  frame->outside = past + (gint64) frame->duration <= 0 ||
      (GST_CLOCK_TIME_IS_VALID (segment->stop) && frame->pts >= segment->stop);
}

void
script_frame (Script *script, guint view, guint index, GstClockTime pts)
{
  const Step *caps = last (script, view, STEP_CAPS), *segment = last (script, view, STEP_SEGMENT);
  const Step *offset = last (script, view, STEP_OFFSET);
  Frame frame = { .index = index, .pts = pts, .duration = script->duration[view], .width = caps->width };

  if (segment)
    frame.duration = (GstClockTime) script_scale ((gint64) frame.duration, segment->segment.rate);
  if (GST_CLOCK_TIME_IS_VALID (pts))
    place (&frame, &segment->segment, offset ? offset->offset : 0);
  g_array_append_val (script->frames[view], frame);
  add (script, view, STEP_FRAME)->frame = script->frames[view]->len - 1;
}

void
script_frames (Script *script, guint view, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    script_frame (script, view, i, SCRIPT_AT (i));
}

void
script_gap (Script *script, guint view, GstClockTime start, GstClockTime duration)
{
  Step *step = add (script, view, STEP_GAP);

  step->start = start;
  step->duration = duration;
}

void
script_segment_of (Script *script, guint view, const GstSegment *segment)
{
  add (script, view, STEP_SEGMENT)->segment = *segment;
}

void
script_segment (Script *script, guint view, GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = start;
  script_segment_of (script, view, &segment);
}

void
script_offset (Script *script, guint view, gint64 offset)
{
  add (script, view, STEP_OFFSET)->offset = offset;
}

void
script_begin (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    script_caps (script, view, NUMBERED_WIDTH);
    script_segment (script, view, 0);
  }
}

void
script_event (Script *script, guint view)
{
  add (script, view, STEP_EVENT);
}

static gboolean
shows (const GArray *frames, guint index)
{
  for (guint i = 0; i < frames->len; i++) {
    const Frame *frame = &g_array_index (frames, Frame, i);
    if (frame->index == index && !frame->outside)
      return TRUE;
  }
  return FALSE;
}

void
script_end (Script *script)
{
  const GArray *left = script->frames[0];
  GHashTable *seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < left->len; i++) {
    guint index = g_array_index (left, Frame, i).index;
    if (g_hash_table_add (seen, GUINT_TO_POINTER (index)) && shows (left, index) && shows (script->frames[1], index))
      script->expected++;
  }
  g_hash_table_unref (seen);
  add (script, 0, STEP_EOS);
  add (script, 1, STEP_EOS);
}
