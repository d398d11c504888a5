/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereomatch on stereotestsrc, scored against its truth. */
#include "tests/support/gst/util.h"

#include <math.h>

#include "gst/meta/gststereometa.h"
#include "tests/support/gst/scene_picture.h"
#include "tests/support/gst/suite.h"

#define FRAMES 5

typedef struct
{
  GstElement *pipeline, *sink;
  GAsyncQueue *truths; /* of GBytes *, of the frames of stereotestsrc */
  guint64 count;
} Line;

/* An output of stereomatch, with the true disparity of its frame. */
typedef struct
{
  guint64 number;
  gint width, height;
  GBytes *truth_bytes;
  const guint16 *truth;
  guint8 *visible;
  gfloat *disparity;  /* pixels; not-a-number where invalid */
  GBytes *confidence; /* a byte a pixel */
  gdouble mean_confidence;
} LiveFrame;

typedef struct TruthScore
{
  size_t pixels, valid, bad1, bad2; /* bad: off by more than 1 or 2 pixels, or invalid */
} TruthScore;

/* 1 where the disparity jumps by more than a pixel within @radius pixels, across or down. */
static void
truth_near_jump (const guint16 *truth, int width, int height, int radius, guint8 *near)
{
  memset (near, 0, (size_t) width * (size_t) height);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      size_t at = (size_t) y * (size_t) width + (size_t) x;
      int jump = (x + 1 < width && abs (truth[at + 1] - truth[at]) > TRUTH_STEPS) ||
          (y + 1 < height && abs (truth[at + (size_t) width] - truth[at]) > TRUTH_STEPS);
      /* pixel and neighbour are on both sides of it */
      for (int j = y - radius + 1; jump && j <= y + radius; j++)
        for (int i = x - radius + 1; i <= x + radius; i++)
          if (i >= 0 && j >= 0 && i < width && j < height)
            near[(size_t) j * (size_t) width + (size_t) i] = 1;
    }
}

/* Adds the pixels where @mask (NULL: all) is not 0; @disparity in pixels, not-a-number where invalid. */
static void
truth_score (const guint16 *truth, const guint8 *mask, const float *disparity, size_t pixels, TruthScore *score)
{
  for (size_t at = 0; at < pixels; at++) {
    float error = fabsf (disparity[at] - (float) truth[at] / TRUTH_STEPS);
    if (!truth[at] || (mask && !mask[at]))
      continue;
    score->pixels++;
    score->valid += !isnan (disparity[at]);
    score->bad1 += !(error <= 1);
    score->bad2 += !(error <= 2);
  }
}

static GstPadProbeReturn
note_truth (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (GST_PAD_PROBE_INFO_BUFFER (probe));

  g_async_queue_push (data, gst_stereo_meta_get_truth_bytes (meta));
  return GST_PAD_PROBE_OK;
}

static Line
line_new (const gchar *source, const gchar *match)
{
  Line line;

  line.pipeline = launch (
      "stereotestsrc name=s num-buffers=%d %s ! video/x-raw,width=322,height=121 ! stereomatch backend=cpu threads=1 %s "
      "! video/x-raw,format=GRAY16_LE ! appsink name=o sync=false",
      FRAMES, source, match);
  g_autoptr (GstElement) testsrc = gst_bin_get_by_name (GST_BIN (line.pipeline), "s");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (testsrc, "src");
  line.truths = g_async_queue_new_full ((GDestroyNotify) g_bytes_unref);
  line.count = 0;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_truth, line.truths, NULL);
  line.sink = gst_bin_get_by_name (GST_BIN (line.pipeline), "o");
  gst_element_set_state (line.pipeline, GST_STATE_PLAYING);
  return line;
}

static void
live_frame_clear (LiveFrame *frame)
{
  g_free (frame->visible);
  g_free (frame->disparity);
  g_bytes_unref (frame->truth_bytes);
  g_bytes_unref (frame->confidence);
}

static gboolean
line_next (Line *line, LiveFrame *frame)
{
  GstSample *sample = NULL;
  GstVideoInfo info;

  g_signal_emit_by_name (line->sink, "try-pull-sample", PATIENCE, &sample);
  if (!sample)
    return FALSE;
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  fail_unless (meta && gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  *frame = (LiveFrame){ .number = line->count++,
    .width = info.width,
    .height = info.height,
    .truth_bytes = g_async_queue_pop (line->truths),
    .confidence = gst_stereo_meta_get_confidence_bytes (meta),
    .mean_confidence = meta->mean_confidence };
  gsize pixels = (gsize) info.width * (gsize) info.height, size;
  frame->truth = g_bytes_get_data (frame->truth_bytes, &size);
  fail_unless (size == 2 * pixels);
  /* the truth is of this frame */
  fail_unless_equals_uint64 (
      GST_BUFFER_PTS (buffer), gst_util_uint64_scale (frame->number, GST_SECOND * info.fps_d, info.fps_n));
  frame->visible = g_malloc (pixels);
  frame->disparity = g_new (gfloat, pixels);
  truth_visible (frame->truth, info.width, info.height, frame->visible);
  for (gint i = 0; i < (gint) pixels; i++)
    frame->disparity[i] = (gfloat) gst_stereo_meta_get_disparity (
        meta, sample_at (buffer, &info, i % info.width, i / info.width));
  gst_sample_unref (sample);
  return TRUE;
}

static void
line_free (Line *line)
{
  gst_element_set_state (line->pipeline, GST_STATE_NULL);
  gst_object_unref (line->sink);
  gst_object_unref (line->pipeline);
  g_async_queue_unref (line->truths);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_free)

/*
 * A textured surface, with noise far below its contrast, is matched to the pixel wherever the window sees that surface
 * alone; where it reaches over a jump of the disparity either side may win. So: of what both views see and is further
 * from a jump than half the window, at most 1 % is bad; and of all that both see no more than that and everything
 * near a jump. The matcher is asked, not what it thinks of itself: nothing is rejected.
 */
static void
check_matched (const gchar *source, const gchar *match, gint half_window)
{
  g_auto (Line) line = line_new (source, match);
  LiveFrame frame;
  guint64 count = 0;

  while (line_next (&line, &frame)) {
    gsize pixels = (gsize) (frame.width * frame.height), near_jumps = 0;
    g_autofree guint8 *away = g_malloc (pixels);
    TruthScore inner = { 0 }, all = { 0 };
    fail_unless_equals_uint64 (frame.number, count);
    truth_near_jump (frame.truth, frame.width, frame.height, half_window, away);
    for (gsize i = 0; i < pixels; i++) {
      near_jumps += away[i] && frame.visible[i];
      away[i] = !away[i] && frame.visible[i];
    }
    truth_score (frame.truth, away, frame.disparity, pixels, &inner);
    truth_score (frame.truth, frame.visible, frame.disparity, pixels, &all);
    fail_unless (inner.pixels > pixels / 2, "only %" G_GSIZE_FORMAT " pixels are scored", inner.pixels);
    fail_unless (inner.bad1 * 100 <= inner.pixels,
        "frame %" G_GUINT64_FORMAT ": %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " are bad away from jumps", count,
        inner.bad1, inner.pixels);
    fail_unless (all.bad1 * 100 <= all.pixels + near_jumps * 100,
        "frame %" G_GUINT64_FORMAT ": %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " are bad", count, all.bad1, all.pixels);
    live_frame_clear (&frame);
    count++;
  }
  fail_unless_equals_uint64 (count, FRAMES);
}

/* The window of the support weights is wider, and that of the refinement as wide. */
TEST (test_planes_and_dots)
{
  check_matched ("pattern=planes motion=3 seed=11", "method=bm window=9 num-disparities=24 confidence-threshold=0", 4);
  check_matched (
      "pattern=random-dots motion=3 seed=12", "method=bm window=9 num-disparities=24 confidence-threshold=0", 4);
  check_matched (
      "pattern=planes motion=-4 seed=13", "method=asw window=17 num-disparities=24 confidence-threshold=0", 8);
  check_matched (
      "pattern=random-dots motion=5 seed=14", "method=asw window=17 num-disparities=24 confidence-threshold=0", 8);
}

/* Mean of the mean confidences. */
static gdouble
confidence_of (const gchar *source, const gchar *match)
{
  g_auto (Line) line = line_new (source, match);
  LiveFrame frame;
  gdouble sum = 0;
  guint count = 0;

  while (line_next (&line, &frame)) {
    sum += frame.mean_confidence;
    count++;
    live_frame_clear (&frame);
  }
  fail_unless_equals_int (count, FRAMES);
  return sum / count;
}

/*
 * Confidence compares the best cost with the runner-up. Without texture and noise both are 0, with noise they differ
 * by chance alone. Where the texture repeats within the search range they are the same but for noise, save for pixels
 * near the left side, whose twins one period further lie outside the right view, and those beside a jump: less than
 * half of the picture. Paths decide between twins by what lies at the end of the stripes, rightly or not, so asw is asked
 * without them.
 */
TEST (test_confidence_knows)
{
  static const gchar *const matches[] = { "method=bm window=9 num-disparities=24",
    "method=asw paths=none window=17 num-disparities=24" };

  for (guint k = 0; k < G_N_ELEMENTS (matches); k++) {
    gdouble textured = confidence_of ("pattern=random-dots", matches[k]);
    gdouble flat = confidence_of ("pattern=flat noise=0", matches[k]);
    gdouble noisy = confidence_of ("pattern=flat noise=2", matches[k]);
    gdouble stripes = confidence_of ("pattern=stripes", matches[k]);
    fail_unless (textured > 0.3, "textured: %f", textured);
    fail_unless (flat < 0.01, "flat: %f", flat);
    fail_unless (noisy < textured / 2, "noise alone: %f, textured %f", noisy, textured);
    fail_unless (stripes < textured / 2, "stripes: %f, textured %f", stripes, textured);
  }
}

/* On slanted surfaces, whose candidates cost the same half way between two disparities, what is right is stated surely: hardly
 * a pixel has less than a tenth of the median. */
TEST (test_no_zebra)
{
  g_auto (Line) line = line_new ("pattern=planes seed=16", "num-disparities=24 confidence-threshold=0");
  LiveFrame frame;
  guint count = 0;

  while (line_next (&line, &frame)) {
    const guint8 *confidence = g_bytes_get_data (frame.confidence, NULL);
    guint histogram[256] = { 0 }, right = 0, below = 0, unsure = 0, median = 0;
    for (gint i = 0; i < frame.width * frame.height; i++)
      if (frame.visible[i] && fabs (frame.disparity[i] - frame.truth[i] / (gdouble) GST_STEREO_TRUTH_SCALE) <= 1) {
        histogram[confidence[i]]++;
        right++;
      }
    while (2 * (below + histogram[median]) < right)
      below += histogram[median++];
    for (guint k = 0; 10 * k < median; k++)
      unsure += histogram[k];
    fail_unless (2 * right > (guint) (frame.width * frame.height) && 100 * unsure <= right,
        "frame %u: %u of %u right pixels have less than a tenth of the median, %u of 255", count, unsure, right, median);
    live_frame_clear (&frame);
    count++;
  }
  fail_unless_equals_int (count, FRAMES);
}

SUITE (match)
{
}
