/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must hold of every output, and of the counts at the end. */
#include "gst/pairing/decide.h"
#include "tests/support/streams/rig.h"

#include "gst/meta/gststereometa.h"

#include "tests/support/gst/numbered.h"

static const gchar *const view_names[2] = { "left", "right" };

void
rig_complain (Rig *rig, const gchar *format, ...)
{
  va_list args;

  if (rig->failure)
    return;
  va_start (args, format);
  rig->failure = g_strdup_vprintf (format, args);
  va_end (args);
}

static const Frame *
frame_of (Rig *rig, guint view, guint number)
{
  GArray *frames = rig->script->frames[view];

  return number < frames->len ? &g_array_index (frames, Frame, number) : NULL;
}

/* The first frame from the next one on that carries this number. */
static guint
unwrap (guint number, guint next)
{
  return number + (next - MIN (next, number) + NUMBERED_CYCLE - 1) / NUMBERED_CYCLE * NUMBERED_CYCLE;
}

/* What is downstream shows the output when its left frame was to be shown, and takes it for the same place. */
static void
judge_segment (Rig *rig, const Frame *left)
{
  guint64 time = 0;
  gint sign = gst_segment_to_running_time_full (&rig->segment, GST_FORMAT_TIME, left->pts, &time);
  gint64 running = sign * (gint64) time;
  guint64 stream = gst_segment_to_stream_time (&rig->segment, GST_FORMAT_TIME, left->pts);

  if (sign == 0 || running != left->time)
    rig_complain (rig,
        "moment %u comes out at the running time %" G_GINT64_FORMAT ", and was to be shown at %" G_GINT64_FORMAT,
        left->index, running, left->time);
  /* a frame that begins before its segment has none */
  if (left->pts >= rig->segment.start && (gint64) stream != left->stream)
    rig_complain (rig, "moment %u comes out at the stream time %" G_GUINT64_FORMAT ", and is of %" G_GINT64_FORMAT,
        left->index, stream, left->stream);
}

/* How far left frame @number and its partner may be apart: what the frames announce, or half of the time between frames that came
 * more slowly, so many times in a row. */
static gint64
limit_at (Rig *rig, guint number)
{
  gint64 after = 0, shortest = G_MAXINT64;
  guint count = 0;

  for (guint n = number + 1; n-- > 0 && count <= GST_STEREO_INTERVALS;) {
    const Frame *frame = frame_of (rig, 0, n);
    if (!frame || !frame->pushed || frame->outside || !GST_CLOCK_TIME_IS_VALID (frame->pts))
      continue;
    if (count++)
      shortest = MIN (shortest, after - frame->time);
    after = frame->time;
  }
  return count <= GST_STEREO_INTERVALS ? rig->script->limit : MAX (rig->script->limit, shortest / 2);
}

static void
judge_times (Rig *rig, GstBuffer *out, guint number, const Frame *left, const Frame *right)
{
  gboolean timed = GST_CLOCK_TIME_IS_VALID (left->pts) && GST_CLOCK_TIME_IS_VALID (right->pts);
  gint64 skew = timed ? right->time - left->time : 0, reported = gst_buffer_get_stereo_meta (out)->pair_skew;

  if (GST_CLOCK_TIME_IS_VALID (left->pts))
    judge_segment (rig, left);
  if (GST_BUFFER_PTS (out) != left->pts)
    rig_complain (rig, "moment %u has the time %" GST_TIME_FORMAT ", and its left frame %" GST_TIME_FORMAT, left->index,
        GST_TIME_ARGS (GST_BUFFER_PTS (out)), GST_TIME_ARGS (left->pts));
  if (reported != skew)
    rig_complain (
        rig, "moment %u: pair-skew is %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, left->index, reported, skew);
  if (ABS (skew) > limit_at (rig, number))
    rig_complain (rig, "moments %u and %u are %" G_GINT64_FORMAT " ns apart", left->index, right->index, skew);
}

/* A frame before @number is not in this output nor in the one before, and was to be shown. */
static gboolean
skips (Rig *rig, guint view, guint number)
{
  for (guint i = rig->next[view]; i < number; i++)
    if (!frame_of (rig, view, i)->outside)
      return TRUE;
  return FALSE;
}

static void
judge_pair (Rig *rig, GstBuffer *out, guint l, guint r)
{
  const Frame *left = frame_of (rig, 0, l), *right = frame_of (rig, 1, r);

  if (!left || !right || !left->pushed || !right->pushed) {
    rig_complain (rig,
        "output %u is of frames that were never sent, or sent before: left %u after %u, right %u after %u",
        rig->outputs, l, rig->next[0], r, rig->next[1]);
    return;
  }
  if (rig->script->truthful && left->index != right->index)
    rig_complain (rig, "output %u pairs the moments %u (left frame %u) and %u (right frame %u)", rig->outputs,
        left->index, l, right->index, r);
  judge_times (rig, out, l, left, right);
  if (gst_buffer_get_stereo_meta (out)->width != (guint) left->width)
    rig_complain (rig, "output %u is not as wide as its left view", rig->outputs);
  if (left->outside || right->outside)
    rig_complain (rig, "output %u is of a frame that its segment leaves out", rig->outputs);
  if ((!rig->outputs || skips (rig, 0, l) || skips (rig, 1, r)) && !GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT))
    rig_complain (rig, "output %u follows what was dropped, and has no DISCONT", rig->outputs);
  rig->next[0] = l + 1;
  rig->next[1] = r + 1;
}

void
rig_judge_output (Rig *rig, GstBuffer *out)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);
  guint left, right;

  if (!meta)
    rig_complain (rig, "output %u has no GstStereoMeta", rig->outputs);
  else if (!rig->kind->read (rig->kind, out, &left, &right))
    rig_complain (rig,
        "the frames that output %u is made of cannot be read: two that do not belong together, or not whole",
        rig->outputs);
  else
    judge_pair (rig, out, unwrap (left, rig->next[0]), unwrap (right, rig->next[1]));
}

guint64
rig_count (const Rig *rig, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (rig->element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, name, &value);
  return value;
}

/* Every frame that went in, and lay in its segment, came out, was dropped or was late. What was lost on purpose leaves
 * less to account for. */
void
rig_judge_counts (Rig *rig)
{
  guint64 pairs = rig_count (rig, "pairs"), late = rig_count (rig, "late");

  if (rig->lossy ? pairs < rig->outputs - rig->restarted : pairs != rig->outputs - rig->restarted)
    rig_complain (rig, "stats count %" G_GUINT64_FORMAT " pairs, and %u came out", pairs, rig->outputs - rig->restarted);
  for (guint view = 0; view < 2; view++) {
    guint64 dropped = rig_count (rig, view ? "dropped-right" : "dropped-left");
    guint64 counted = pairs + late + dropped, sent = rig->cameras[view].sent;
    if (counted > sent || (!rig->lossy && counted < sent))
      rig_complain (rig,
          "%" G_GUINT64_FORMAT " %s frames went in, and %" G_GUINT64_FORMAT " are accounted for: %" G_GUINT64_FORMAT
          " pairs, %" G_GUINT64_FORMAT " late, %" G_GUINT64_FORMAT " dropped",
          sent, view_names[view], counted, pairs, late, dropped);
  }
  if ((guint64) g_atomic_int_get (&rig->complaints) < late)
    rig_complain (rig, "%" G_GUINT64_FORMAT " pairs were late, and %d QoS messages tell", late,
        g_atomic_int_get (&rig->complaints));
  if (rig->script->truthful && !rig->lossy && !rig->script->faults[FAULT_REORDER] && pairs + late < rig->script->expected)
    rig_complain (
        rig, "%" G_GUINT64_FORMAT " of %u moments came out that both cameras saw", pairs, rig->script->expected);
}
