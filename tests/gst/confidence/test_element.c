/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereoconfidence turns the confidence pictures of the metadata into a stream, in step with the disparity. */
#include "tests/support/gst/util.h"

#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

static Random generator;

/* One with a random size. */
typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstVideoFormat format; /* of the input */
  gint width, height;
} Stream;

static Stream
stream_new (const gchar *properties, GstVideoFormat format, gboolean takes_padding)
{
  Stream one = { NULL, NULL, format, random_range (&generator, 3, 70), random_range (&generator, 1, 40) };

  one.harness = filter_new ("stereoconfidence", properties, &one.bus);
  if (takes_padding)
    gst_harness_add_propose_allocation_meta (one.harness, GST_VIDEO_META_API_TYPE, NULL);
  harness_set_caps (one.harness, format, one.width, one.height, NULL);
  return one;
}

static void
stream_free (Stream *stream)
{
  filter_free (stream->harness, stream->bus);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, stream_free)

/* A picture with the metadata of a matcher: confidence and truth are textures of known seeds. */
static GstBuffer *
matched (const Stream *one, guint seed, gint padding)
{
  GstBuffer *buffer = make_view (one->format, one->width, one->height, 1000, 0, padding);
  g_autoptr (GstBuffer) confidence = make_view (GST_VIDEO_FORMAT_GRAY8, one->width, one->height, seed, 0, padding);
  g_autoptr (GstBuffer) truth = make_view (GST_VIDEO_FORMAT_GRAY16_LE, one->width, one->height, seed + 1, 0, padding);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) one->width, (guint) one->height, confidence);

  gst_stereo_meta_set_truth (meta, truth);
  return stamp (buffer, seed * FRAME, FRAME);
}

/* The low bytes of what make_view() wrote. */
static void
check_texture (GstBuffer *buffer, const GstVideoInfo *info, guint seed)
{
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++)
    for (gint x = 0; x < GST_VIDEO_INFO_WIDTH (info); x++)
      fail_unless_equals_int (sample_at (buffer, info, x, y) & 255, texture (seed, x, y));
}

TEST (test_shows_the_confidence)
{
  for (gint padding = 0; padding < 9; padding++) {
    g_auto (Stream) one = stream_new ("", padding % 2 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE, TRUE);
    GstBuffer *in = matched (&one, 7, padding), *out;
    g_autoptr (GstBuffer) confidence = gst_buffer_ref (gst_stereo_meta_get_confidence (gst_buffer_get_stereo_meta (in)));

    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (one.harness, in), GST_FLOW_OK);
    out = gst_harness_pull (one.harness);
    GstVideoInfo info = output_info (one.harness);
    fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY8);
    fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), one.width);
    fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), one.height);
    fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 25);
    check_texture (out, &info, 7);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 7 * FRAME);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
    fail_unless (gst_buffer_get_stereo_meta (out) == NULL);
    /* who writes into the stream leaves the metadata as it was */
    out = gst_buffer_make_writable (out);
    gst_buffer_memset (out, 0, 0, (gsize) -1);
    check_texture (confidence, &info, 7);
    gst_buffer_unref (out);
  }
}

TEST (test_rows_for_who_cannot_take_padding)
{
  for (gint padding = 0; padding < 9; padding++) {
    g_auto (Stream) one = stream_new ("", GST_VIDEO_FORMAT_GRAY16_LE, FALSE);

    fail_unless_equals_int (gst_harness_push (one.harness, matched (&one, 5, padding)), GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (one.harness);
    GstVideoInfo info = output_info (one.harness);
    fail_unless_equals_uint64 (gst_buffer_get_size (out), GST_VIDEO_INFO_SIZE (&info));
    /* even where somebody looks at the caps alone */
    out = gst_buffer_make_writable (out);
    if (gst_buffer_get_video_meta (out))
      gst_buffer_remove_meta (out, (GstMeta *) gst_buffer_get_video_meta (out));
    check_texture (out, &info, 5);
  }
}

TEST (test_truth)
{
  g_auto (Stream) one = stream_new ("show=truth", GST_VIDEO_FORMAT_GRAY16_LE, TRUE);
  GstBuffer *in = matched (&one, 9, 6), *out;
  GstBuffer *truth = gst_buffer_ref (gst_stereo_meta_get_truth (gst_buffer_get_stereo_meta (in)));

  fail_unless_equals_int (gst_harness_push (one.harness, in), GST_FLOW_OK);
  out = gst_harness_pull (one.harness);
  GstVideoInfo info = output_info (one.harness);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY16_LE);
  check_texture (out, &info, 10);
  gst_buffer_unref (out);
  gst_buffer_unref (truth);
  /* shown or not is decided frame by frame */
  set_properties (one.harness->element, "show=confidence");
  fail_unless_equals_int (gst_harness_push (one.harness, matched (&one, 11, 3)), GST_FLOW_OK);
  out = gst_harness_pull (one.harness);
  info = output_info (one.harness);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY8);
  check_texture (out, &info, 11);
  gst_buffer_unref (out);
}

/* No metadata; that of a wider picture; no confidence; a plane that claims more than its memory holds; no truth. */
TEST_LOOP (test_errors, 0, 5)
{
  static const gchar *const says[][2] = { { "right after stereomatch", "metadata" },
    { "right after stereomatch", "pixels" }, { "no confidence", "stereomatch" }, { "could not be read", "metadata" },
    { "show=truth", "stereotestsrc" } };
  g_auto (Stream) one = stream_new (__i__ == 4 ? "show=truth" : "", GST_VIDEO_FORMAT_GRAY16_LE, __i__ != 3);
  GstBuffer *in = matched (&one, 1, 5);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (in);
  g_autoptr (GstBuffer) small = gst_buffer_new_allocate (NULL, 2, NULL);

  if (__i__ == 0)
    gst_buffer_remove_meta (in, &meta->meta);
  else if (__i__ == 1)
    meta->width++;
  else if (__i__ < 4)
    gst_buffer_replace (&meta->confidence, __i__ == 2 ? NULL : small);
  else
    gst_stereo_meta_set_truth (meta, NULL);
  fail_unless_equals_int (gst_harness_push (one.harness, in), GST_FLOW_ERROR);
  expect_error (one.bus, says[__i__][0], says[__i__][1], NULL);
}

/* ---- in pipelines ------------------------------------------------------------------------ */

static GstSample *
pull (GstElement *pipeline, const gchar *name)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstSample *sample = NULL;

  g_signal_emit_by_name (sink, "try-pull-sample", PATIENCE, &sample);
  return sample;
}

/* Pictures of both branches are kept until the end: memory that a pool reused too early would show. */
TEST (test_in_step_on_a_tee)
{
  g_autoptr (GstElement) pipeline = launch (
      "videotestsrc pattern=smpte75 num-buffers=12 ! video/x-raw,width=82,height=17,framerate=25/1 ! stereomatch "
      "num-disparities=8 backend=cpu threads=1 ! tee name=t t. ! queue ! appsink name=a sync=false t. ! queue ! "
      "stereoconfidence ! appsink name=b sync=false");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstSample *pictures[12], *confidences[12];

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL, PATIENCE), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 12; i++) {
    pictures[i] = pull (pipeline, "a");
    confidences[i] = pull (pipeline, "b");
    fail_unless (pictures[i] && confidences[i]);
  }
  wait_for_message (bus, GST_MESSAGE_EOS);
  for (guint i = 0; i < 12; i++) {
    GstBuffer *picture = gst_sample_get_buffer (pictures[i]), *confidence = gst_sample_get_buffer (confidences[i]);
    g_autoptr (GBytes) expected = gst_stereo_meta_get_confidence_bytes (gst_buffer_get_stereo_meta (picture));
    const guint8 *bytes = g_bytes_get_data (expected, NULL);
    GstVideoInfo info;

    fail_unless_equals_uint64 (GST_BUFFER_PTS (picture), GST_BUFFER_PTS (confidence));
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (picture), GST_BUFFER_DURATION (confidence));
    fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (confidences[i])));
    for (gint y = 0; y < 17; y++)
      for (gint x = 0; x < 41; x++)
        fail_unless_equals_int (sample_at (confidence, &info, x, y), bytes[y * 41 + x]);
    gst_sample_unref (pictures[i]);
    gst_sample_unref (confidences[i]);
  }
  /* and again after NULL */
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  confidences[0] = pull (pipeline, "b");
  fail_unless (confidences[0] != NULL);
  gst_sample_unref (confidences[0]);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

SUITE (confidence)
{
  generator.state = random_seed ();
}
