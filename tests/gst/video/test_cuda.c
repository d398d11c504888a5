/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in device memory as the engine gets them, with a made-up driver whose device is host memory
 * (tests/support/fake_cuda): every sample can be read where the engine reads it. meson test puts that driver in place.
 */
#include <dlfcn.h>
#include <gst/cuda/gstcudautils.h>

#include "gst/video/frame.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define WIDTH 61
#define HEIGHT 23

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGBA,
  GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR };
static int (*fake_depth) (void);

static GstVideoInfo
info_of (GstVideoFormat format, gint width, gint height)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  return info;
}

static void
add_meta (GstBuffer *buffer, GstMemory *memory)
{
  GstVideoInfo *own = &GST_CUDA_MEMORY_CAST (memory)->info;

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (own),
      (guint) GST_VIDEO_INFO_WIDTH (own), (guint) GST_VIDEO_INFO_HEIGHT (own), GST_VIDEO_INFO_N_PLANES (own),
      own->offset, own->stride);
}

/* make_view() of seed 3 in device memory, written by the CPU. */
static GstBuffer *
device_view (GstCudaContext *context, GstVideoFormat format)
{
  GstVideoInfo info = info_of (format, WIDTH, HEIGHT);
  GstBuffer *view = make_view (format, WIDTH, HEIGHT, 3, 0, 0), *buffer = gst_buffer_new ();
  g_autoptr (GstAllocator) allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  GstMemory *memory = gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR (allocator), context, &info);
  GstVideoFrame from, to;

  fail_unless (memory != NULL);
  gst_buffer_append_memory (buffer, memory);
  add_meta (buffer, memory);
  fail_unless (gst_video_frame_map (&from, &info, view, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&to, &info, buffer, GST_MAP_WRITE));
  fail_unless (gst_video_frame_copy (&to, &from));
  gst_video_frame_unmap (&to);
  gst_video_frame_unmap (&from);
  gst_buffer_unref (view);
  return buffer;
}

static GstBuffer *
without_meta (GstBuffer *buffer)
{
  fail_unless (gst_buffer_remove_meta (buffer, &gst_buffer_get_video_meta (buffer)->meta));
  return buffer;
}

/* That the frame shows texture (x + x0, y + y0) in that kind of memory; takes @buffer over. */
static void
check_frame (GstBuffer *buffer, GstCudaContext *context, GstVideoFormat format, gint x0, gint y0, gint width,
    gint height, StereoMemory memory)
{
  GstVideoInfo info = info_of (format, width, height);
  GstStereoLayout layout;
  StereoImage image, same;
  GstVideoFrame frame;
  gchar *message = NULL;

  fail_unless (gst_stereo_layout_single (&layout, &info, FALSE, &message));
  fail_unless (gst_stereo_frame_map (&frame, &info, buffer, context));
  gst_stereo_layout_images (&layout, &frame, &frame, &image, &same);
  fail_unless_equals_int (image.memory, memory);
  fail_unless_equals_int (image.channels, GST_VIDEO_INFO_IS_RGB (&info) ? 3 : 1);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      for (gint c = 0; c < image.channels; c++)
        fail_unless_equals_int (image.data[y * image.stride + x * image.pixel_stride + image.offset[c]],
            texture (3 + (guint) c, x + x0, y + y0));
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (fake_depth (), 0);
}

TEST_LOOP (test_in_place, 0, G_N_ELEMENTS (formats))
{
  GstCudaContext *context = gst_cuda_context_new (0);
  GstVideoFormat format = formats[__i__];

  check_frame (device_view (context, format), context, format, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_CUDA);
  check_frame (without_meta (device_view (context, format)), context, format, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_CUDA);
  gst_object_unref (context);
}

/* For a plan on the CPU, or in another context. */
TEST_LOOP (test_through_host_memory, 0, G_N_ELEMENTS (formats))
{
  GstCudaContext *context = gst_cuda_context_new (0), *other = gst_cuda_context_new (0);
  GstVideoFormat format = formats[__i__];

  check_frame (device_view (context, format), NULL, format, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_HOST);
  check_frame (device_view (context, format), other, format, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_HOST);
  check_frame (without_meta (device_view (context, format)), NULL, format, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_HOST);
  gst_object_unref (context);
  gst_object_unref (other);
}

/* A copy is only queued when it is handed over. */
TEST (test_copy)
{
  GstCudaContext *context = gst_cuda_context_new (0);
  GstBuffer *view = device_view (context, GST_VIDEO_FORMAT_RGBA), *copy = gst_buffer_copy_deep (view);

  check_frame (copy, context, GST_VIDEO_FORMAT_RGBA, 0, 0, WIDTH, HEIGHT, STEREO_MEMORY_CUDA);
  gst_buffer_unref (view);
  gst_object_unref (context);
}

static GstBuffer *
window (GstBuffer *buffer, gint x, gint y, gint width, gint height, gint pixel)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  meta->width = (guint) width;
  meta->height = (guint) height;
  meta->offset[0] += (gsize) y * (gsize) meta->stride[0] + (gsize) (x * pixel);
  return buffer;
}

TEST (test_windows)
{
  GstCudaContext *context = gst_cuda_context_new (0);

  check_frame (window (device_view (context, GST_VIDEO_FORMAT_BGRA), 7, 5, 33, 11, 4), context, GST_VIDEO_FORMAT_BGRA,
      7, 5, 33, 11, STEREO_MEMORY_CUDA);
  check_frame (window (device_view (context, GST_VIDEO_FORMAT_NV12), 7, 5, 33, 11, 1), NULL, GST_VIDEO_FORMAT_NV12, 7,
      5, 33, 11, STEREO_MEMORY_HOST);
  gst_object_unref (context);
}

TEST (test_a_meta_that_lies)
{
  GstCudaContext *context = gst_cuda_context_new (0);
  GstVideoInfo info = info_of (GST_VIDEO_FORMAT_RGBA, WIDTH, HEIGHT);
  GstBuffer *buffer = window (device_view (context, GST_VIDEO_FORMAT_RGBA), 0, 1, WIDTH, HEIGHT, 4);
  GstVideoFrame frame;

  fail_if (gst_stereo_frame_map (&frame, &info, buffer, context));
  fail_if (gst_stereo_frame_map (&frame, &info, buffer, NULL));
  gst_buffer_unref (buffer);
  fail_unless_equals_int (fake_depth (), 0);
  gst_object_unref (context);
}

TEST (test_context_of)
{
  GstCudaContext *context = gst_cuda_context_new (0), *other = gst_cuda_context_new (0);
  GstBuffer *view = device_view (context, GST_VIDEO_FORMAT_NV12), *empty = gst_buffer_new ();

  fail_unless (gst_stereo_cuda_context_of (view) == context);
  fail_unless (gst_stereo_cuda_context_of (empty) == NULL);
  gst_buffer_append_memory (view, gst_allocator_alloc (NULL, 16, NULL));
  fail_unless (gst_stereo_cuda_context_of (view) == NULL, "half of it is in system memory");
  gst_buffer_unref (view);
  view = gst_buffer_append (device_view (context, GST_VIDEO_FORMAT_NV12), device_view (other, GST_VIDEO_FORMAT_NV12));
  fail_unless (gst_stereo_cuda_context_of (view) == NULL, "half of it is in another context");
  gst_buffer_unref (view);
  gst_buffer_unref (empty);
  gst_object_unref (context);
  gst_object_unref (other);
}

/* The engine finds no device here, and computes on the CPU what lies in device memory. */
TEST (test_element_on_the_cpu)
{
  GstCudaContext *context = gst_cuda_context_new (0);
  GstVideoInfo info = info_of (GST_VIDEO_FORMAT_RGBA, WIDTH, HEIGHT);
  GstBuffer *out[2];

  for (guint i = 0; i < 2; i++) {
    g_autoptr (Pair) pair = pair_new ("num-disparities=12 backend=auto");
    pair_set_caps (pair, GST_VIDEO_FORMAT_RGBA, WIDTH, HEIGHT, NULL);
    gst_harness_push (pair->left,
        stamp (i ? device_view (context, GST_VIDEO_FORMAT_RGBA) :
                   make_view (GST_VIDEO_FORMAT_RGBA, WIDTH, HEIGHT, 3, 0, 0),
            0, FRAME));
    gst_harness_push (pair->right, stamp (make_view (GST_VIDEO_FORMAT_RGBA, WIDTH, HEIGHT, 3, SHIFT, 0), 0, FRAME));
    out[i] = pair_pull (pair, 0);
    info = output_info (pair->left);
    expect_no_message (pair->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  }
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      fail_unless_equals_int (sample_at (out[1], &info, x, y), sample_at (out[0], &info, x, y));
  gst_buffer_unref (out[0]);
  gst_buffer_unref (out[1]);
  gst_object_unref (context);
}

/* What an application gives, and what is answered with it. */
TEST (test_shared_context)
{
  GstCudaContext *context = gst_cuda_context_new (0), *found = NULL;
  GstContext *shared = gst_context_new_cuda_context (context), *answer;
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstElement *element = gst_element_factory_make ("stereomatch", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "src");

  g_object_set (element, "cuda-device-id", 1, NULL);
  gst_element_set_context (element, shared);
  fail_if (gst_pad_query (pad, query), "a context of device 0 for device 1");
  g_object_set (element, "cuda-device-id", 0, NULL);
  gst_element_set_context (element, shared);
  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_context (query, &answer);
  gst_structure_get (gst_context_get_structure (answer), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &found, NULL);
  fail_unless (found == context);
  gst_object_unref (found);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_context_unref (shared);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
}

static gboolean
there_is_a_fake (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW);

  if (driver)
    *(void **) &fake_depth = dlsym (driver, "fake_cuda_depth");
  if (!fake_depth) {
    g_print ("SKIPPED: frames on a device of host memory: run it with meson, which has the driver for that\n");
    return FALSE;
  }
  return TRUE;
}

SUITE_IF (cuda_frame, there_is_a_fake ())
{
  g_assert_true (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
}
