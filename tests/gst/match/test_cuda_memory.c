/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in device memory give the same output, to the bit, as the same frames in system memory. Needs a device and
 * cudaupload; skipped without. The CUDA backend computes both: tests/stages shows that its results are right.
 */
#include "tests/support/gst/device.h"
#include "tests/support/gst/memory_used.h"
#include "tests/support/gst/suite.h"

#define CUDA "backend=cuda num-disparities=24 "
#define UPLOAD "cudaupload"
#define PLAIN "identity"

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGBA,
  GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR };
static const struct
{
  gint width, height;
} sizes[] = { { 96, 40 }, { 97, 41 }, { 641, 59 }, { 1000, 30 } };

static GByteArray *
run_once (const gchar *left, const gchar *right, GstVideoFormat format, gint width, gint height, guint seed, guint pairs)
{
  const gchar *name = right ? "sink_left" : "sink";
  g_auto (Line) line;

  line_new (&line, left, right, CUDA);
  GByteArray *bytes = line_run (&line, format, width, height, seed, pairs);
  fail_unless_equals_int (line_on_device (&line, name), g_str_equal (left, UPLOAD));
  if (right)
    fail_unless_equals_int (line_on_device (&line, "sink_right"), g_str_equal (right, UPLOAD));
  fail_unless_equals_int (line_shares_context (&line), g_str_equal (left, UPLOAD) || !g_strcmp0 (right, UPLOAD));
  expect_no_message (line.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  return bytes;
}

TEST_LOOP (test_formats, 0, G_N_ELEMENTS (formats))
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree gchar *what = g_strdup_printf (
        "%s %dx%d", gst_video_format_to_string (formats[__i__]), sizes[i].width, sizes[i].height);
    g_autoptr (GByteArray) two = run_once (PLAIN, PLAIN, formats[__i__], sizes[i].width, sizes[i].height, 1, 3);
    g_autoptr (GByteArray) packed = run_once (PLAIN, NULL, formats[__i__], sizes[i].width, sizes[i].height, 1, 3);

    check_equal (run_once (UPLOAD, UPLOAD, formats[__i__], sizes[i].width, sizes[i].height, 1, 3), two, what);
    check_equal (run_once (UPLOAD, NULL, formats[__i__], sizes[i].width, sizes[i].height, 1, 3), packed, what);
    check_equal (run_once (UPLOAD, PLAIN, formats[__i__], sizes[i].width, sizes[i].height, 1, 3), two, what);
    check_equal (run_once (PLAIN, UPLOAD, formats[__i__], sizes[i].width, sizes[i].height, 1, 3), two, what);
  }
}

/* Uploaders write into buffers that came back: none may come back before it was read. */
TEST (test_many_frames)
{
  g_autoptr (GByteArray) expected = run_once (PLAIN, PLAIN, GST_VIDEO_FORMAT_BGRA, 1280, 200, 3, 60);

  check_equal (run_once (UPLOAD, UPLOAD, GST_VIDEO_FORMAT_BGRA, 1280, 200, 3, 60), expected, "60 pairs");
}

/* ---- buffers handed over one by one ------------------------------------------------------ */

static gchar *
device_caps (GstVideoFormat format, gint width, gint height)
{
  g_autofree gchar *plain = make_caps (format, width, height, NULL);

  return g_strconcat (ON_DEVICE, plain + strlen ("video/x-raw"), NULL);
}

static GstHarness *
uploader_new (GstVideoFormat format, gint width, gint height)
{
  GstHarness *uploader = gst_harness_new (UPLOAD);
  g_autofree gchar *in = make_caps (format, width, height, NULL), *out = device_caps (format, width, height);

  gst_harness_set_caps_str (uploader, in, out);
  return uploader;
}

static GstBuffer *
upload (GstHarness *uploader, GstBuffer *buffer)
{
  GstBuffer *uploaded = gst_harness_push_and_pull (uploader, stamp (buffer, 0, FRAME));

  fail_unless (uploaded != NULL);
  return uploaded;
}

/* One pair of such buffers, taken over. */
static GByteArray *
match (GstBuffer *left, GstBuffer *right, gboolean device, GstVideoFormat format, gint width, gint height)
{
  g_autofree gchar *caps = device ? device_caps (format, width, height) : make_caps (format, width, height, NULL);
  GByteArray *bytes = g_byte_array_new ();
  g_autoptr (Pair) pair = pair_new (CUDA);

  pair_caps (pair, caps);
  gst_harness_push (pair->left, stamp (left, 0, FRAME));
  gst_harness_push (pair->right, stamp (right, 0, FRAME));
  append_output (bytes, pair->left, pair_pull (pair, 0));
  expect_no_message (pair->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  return bytes;
}

/* A window into @buffer, which is taken over: the same memory, another GstVideoMeta. (Its own belongs to a pool.) */
static GstBuffer *
window (GstBuffer *buffer, gint x, gint y, gint width, gint height, gint pixel)
{
  GstBuffer *part = gst_buffer_copy (buffer);
  GstVideoMeta *meta = gst_buffer_get_video_meta (part);

  gst_buffer_unref (buffer);
  fail_unless (meta != NULL);
  meta->width = (guint) width;
  meta->height = (guint) height;
  meta->offset[0] += (gsize) y * (gsize) meta->stride[0] + (gsize) (x * pixel);
  return part;
}

static GstBuffer *
without_meta (GstBuffer *buffer)
{
  GstBuffer *bare = gst_buffer_new ();

  gst_buffer_append_memory (bare, gst_buffer_get_all_memory (buffer));
  gst_buffer_unref (buffer);
  return bare;
}

static GstBuffer *
copied (GstBuffer *buffer)
{
  GstBuffer *copy = gst_buffer_copy_deep (buffer);

  gst_buffer_unref (buffer);
  return copy;
}

static GstBuffer *
as_it_is (GstBuffer *buffer)
{
  return buffer;
}

/* The views of a seed, uploaded and changed, give what they give in system memory. */
static void
check_views (GstHarness *left, GstHarness *right, GstVideoFormat format, gint width, gint height, guint seed,
    GstBuffer *(*change) (GstBuffer *buffer))
{
  g_autoptr (GByteArray) expected = match (make_view (format, width, height, seed, 0, 0),
      make_view (format, width, height, seed, SHIFT, 0), FALSE, format, width, height);

  check_equal (
      match (change (upload (left, make_view (format, width, height, seed, 0, 0))),
          change (upload (right, make_view (format, width, height, seed, SHIFT, 0))), TRUE, format, width, height),
      expected, gst_video_format_to_string (format));
}

TEST_LOOP (test_windows, 0, 3)
{
  const GstVideoFormat format = ((const GstVideoFormat[]){
      GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_BGR })[__i__];
  const gint pixel = ((const gint[]){ 4, 1, 3 })[__i__];
  g_autoptr (GstHarness) uploader = uploader_new (format, 120, 60);
  g_autoptr (GByteArray) expected = match (window (make_view (format, 120, 60, 4, 0, 13), 7, 5, 101, 43, pixel),
      window (make_view (format, 120, 60, 4, SHIFT, 13), 9, 5, 101, 43, pixel), FALSE, format, 101, 43);

  check_equal (match (window (upload (uploader, make_view (format, 120, 60, 4, 0, 0)), 7, 5, 101, 43, pixel),
                   window (upload (uploader, make_view (format, 120, 60, 4, SHIFT, 0)), 9, 5, 101, 43, pixel), TRUE,
                   format, 101, 43),
      expected, gst_video_format_to_string (format));
}

/* The rows' pitch is then known to the memory alone. */
TEST_LOOP (test_no_meta, 0, G_N_ELEMENTS (formats))
{
  g_autoptr (GstHarness) uploader = uploader_new (formats[__i__], 97, 41);

  check_views (uploader, uploader, formats[__i__], 97, 41, 5, without_meta);
}

/* Two uploaders that know nothing of each other: one view is read through host memory. */
TEST (test_two_contexts)
{
  g_autoptr (GstHarness) one = uploader_new (GST_VIDEO_FORMAT_RGBA, 97, 41),
                         other = uploader_new (GST_VIDEO_FORMAT_RGBA, 97, 41);

  check_views (one, other, GST_VIDEO_FORMAT_RGBA, 97, 41, 6, as_it_is);
}

/* A copy from device to device is only queued when it is handed over. */
TEST (test_copies)
{
  g_autoptr (GstHarness) uploader = uploader_new (GST_VIDEO_FORMAT_RGBA, 1600, 900);

  for (guint i = 0; i < 8; i++)
    check_views (uploader, uploader, GST_VIDEO_FORMAT_RGBA, 1600, 900, i, copied);
}

/* Read beyond device memory, and the context is dead for all that share it. */
TEST (test_a_meta_that_lies)
{
  const GstVideoFormat format = GST_VIDEO_FORMAT_RGBA;
  g_autoptr (GstHarness) uploader = uploader_new (format, 97, 41);
  g_autofree gchar *caps = device_caps (format, 97, 41);
  Pair *pair = pair_new (CUDA);

  pair_caps (pair, caps);
  gst_harness_push (
      pair->left, stamp (window (upload (uploader, make_view (format, 97, 41, 7, 0, 0)), 0, 30, 97, 41, 4), 0, FRAME));
  gst_harness_push (pair->right, stamp (upload (uploader, make_view (format, 97, 41, 7, SHIFT, 0)), 0, FRAME));
  expect_error (pair->bus, "97x41 RGBA", "device memory", NULL);
  pair_free (pair);
  check_views (uploader, uploader, format, 97, 41, 7, as_it_is);
}

/* ---- several at once --------------------------------------------------------------------- */

#define LINES 4

typedef struct
{
  guint number;
  const gchar *upload;
} Work;

static gpointer
run_line (gpointer data)
{
  const Work *work = data;
  GstVideoFormat format = formats[work->number % G_N_ELEMENTS (formats)];

  return run_once (work->upload, work->number % 2 ? work->upload : NULL, format, 201 + (gint) work->number * 50, 101,
      100 * work->number, 30);
}

TEST (test_several_at_once)
{
  GByteArray *expected[LINES];
  GThread *threads[LINES];
  Work work[LINES];

  for (guint i = 0; i < LINES; i++) {
    work[i] = (Work){ i, PLAIN };
    expected[i] = run_line (&work[i]);
    work[i].upload = UPLOAD;
  }
  for (guint i = 0; i < LINES; i++)
    threads[i] = g_thread_new ("line", run_line, &work[i]);
  for (guint i = 0; i < LINES; i++) {
    check_equal (g_thread_join (threads[i]), expected[i], "one of several");
    g_byte_array_unref (expected[i]);
  }
}

/* ---- contexts ---------------------------------------------------------------------------- */

/* The context that the owner of the pad would share; only good for comparing. */
static gpointer
context_at (GstElement *element, const gchar *name)
{
  g_autoptr (GstQuery) query = gst_query_new_context ("gst.cuda.context");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, name);
  gpointer found = NULL;
  GstContext *context;

  if (gst_pad_query (pad, query)) {
    gst_query_parse_context (query, &context);
    found = g_value_get_object (gst_structure_get_value (gst_context_get_structure (context), "gst.cuda.context"));
  }
  return found;
}

static gpointer
context_upstream (Line *line, const gchar *name)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (line->matcher, name), peer = gst_pad_get_peer (pad);
  g_autoptr (GstElement) element = gst_pad_get_parent_element (peer);

  return context_at (element, "src");
}

/* With a device asked for it is the matcher's context, else the first uploader's; never two. */
TEST_LOOP (test_context_is_shared, 0, 2)
{
  g_auto (Line) line;

  line_new (&line, UPLOAD, UPLOAD, __i__ ? CUDA "cuda-device-id=0" : CUDA);
  g_byte_array_unref (line_run (&line, GST_VIDEO_FORMAT_NV12, 97, 41, 8, 2));
  fail_unless (line_shares_context (&line));
  fail_unless (context_upstream (&line, "sink_left") != NULL);
  fail_unless (context_upstream (&line, "sink_left") == context_upstream (&line, "sink_right"));
  if (__i__)
    fail_unless (context_at (line.matcher, "sink_left") == context_upstream (&line, "sink_left"));
}

/* The frames move to system memory and back, none is lost, and none is wrong. */
TEST (test_backend_changes)
{
  g_autoptr (GByteArray) expected = run_once (PLAIN, PLAIN, GST_VIDEO_FORMAT_RGBA, 97, 41, 9, 4);
  g_auto (Line) line;

  line_new (&line, UPLOAD, UPLOAD, CUDA);
  for (guint i = 0; i < 3; i++) {
    gst_util_set_object_arg (G_OBJECT (line.matcher), "backend", "cuda");
    check_equal (line_run (&line, GST_VIDEO_FORMAT_RGBA, 97, 41, 9, 4), expected, "cuda");
    fail_unless (line_on_device (&line, "sink_left") && line_on_device (&line, "sink_right"));
    gst_util_set_object_arg (G_OBJECT (line.matcher), "backend", "cpu");
    g_byte_array_unref (line_run (&line, GST_VIDEO_FORMAT_RGBA, 97, 41, 9, 4));
    fail_if (line_on_device (&line, "sink_left") || line_on_device (&line, "sink_right"));
    fail_if (line_shares_context (&line));
  }
  expect_no_message (line.bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
}

/* ---- again and again --------------------------------------------------------------------- */

#define MIB ((gsize) 1 << 20)

typedef struct
{
  gsize device, host;
} Used;

static Used
used (void)
{
  return (Used){ device_memory_used (), host_memory_used () };
}

static void
check_growth (Used before, gsize device_limit, gsize host_limit, const gchar *what)
{
  Used after = used ();

  g_print ("%s: device %+.1f MiB, host %+.1f MiB\n", what, ((gdouble) after.device - (gdouble) before.device) / MIB,
      ((gdouble) after.host - (gdouble) before.host) / MIB);
  fail_unless (after.device <= before.device + device_limit, "%s: device memory grew", what);
  fail_unless (after.host <= before.host + host_limit, "%s: host memory grew", what);
}

/* Another parameter with every pair: a plan each. */
TEST (test_1000_plans)
{
  Used before = { 0 };
  g_auto (Line) line;

  line_new (&line, UPLOAD, UPLOAD, CUDA);
  for (gint i = 0; i < 1000; i++) {
    if (i == 50)
      before = used ();
    g_object_set (line.matcher, "num-disparities", 16 + i % 2 * 16, NULL);
    g_byte_array_unref (line_run (&line, GST_VIDEO_FORMAT_NV12, 160, 64, 10, 1));
  }
  check_growth (before, 8 * MIB, 24 * MIB, "950 plans");
}

/* Pipelines that play again, and new ones, context and all. */
TEST_LOOP (test_plays, 0, 2)
{
  const guint plays = __i__ ? 25 : 100, warm = __i__ ? 5 : 10;
  g_autoptr (GstElement) pipeline = NULL;
  Used before = { 0 };

  for (guint i = 0; i < plays; i++) {
    if (i == warm)
      before = used ();
    if (__i__)
      gst_clear_object (&pipeline);
    if (!pipeline)
      pipeline = launch ("videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=NV12,width=320,height=64 ! "
                         "cudaupload ! " ON_DEVICE " ! stereomatch name=m " CUDA "! fakesink");
    g_autoptr (GstElement) matcher = gst_bin_get_by_name (GST_BIN (pipeline), "m");
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_for_message (bus, GST_MESSAGE_EOS);
    fail_unless_equals_uint64 (stat_of (matcher, "pairs"), 3);
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  check_growth (before, (__i__ ? 16 : 8) * MIB, (__i__ ? 48 : 24) * MIB, __i__ ? "20 pipelines" : "90 plays");
}

SUITE_IF (cuda_memory, device_is_there (cuda_missing ()))
{
  tcase_set_timeout (tcase, 300);
}
