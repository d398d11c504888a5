/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When stereomatch offers frames in device memory, and that negotiation succeeds when it does not. Needs no device. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include <gst/base/gstbasetransform.h>

#include "stereo/stereo.h"

#define FEATURE "memory:CUDAMemory"
#define DEVICE_CAPS "video/x-raw(" FEATURE "),format=NV12,width=88,height=20,framerate=25/1"

static gboolean
device_here (void)
{
  return stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0);
}

static gboolean
is_device (const GstCaps *caps, guint index)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, index), FEATURE);
}

static gboolean
offers_device (GstPad *pad)
{
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  gboolean first = is_device (caps, 0);

  for (guint i = 1; i < gst_caps_get_size (caps); i++)
    fail_if (is_device (caps, i), "device memory is offered after system memory");
  fail_if (is_device (caps, gst_caps_get_size (caps) - 1), "no system memory");
  return first;
}

static gboolean
accepts_device (GstPad *pad)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (DEVICE_CAPS);

  return gst_pad_query_accept_caps (pad, caps);
}

TEST (test_template)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("stereomatch", NULL);

  for (guint i = 0; i < 3; i++) {
    static const gchar *const names[] = { "sink", "sink_left", "sink_right" };
    GstPadTemplate *template = gst_element_get_pad_template (element, names[i]);
    g_autoptr (GstCaps) caps = gst_pad_template_get_caps (template);
    fail_unless_equals_int (is_device (caps, 0), GSTCUDA_BUILT);
    /* system memory twice: 8 bits a sample before more */
    fail_unless_equals_int (gst_caps_get_size (caps), 2 + GSTCUDA_BUILT);
  }
}

/* Before the start nothing is known of devices, and looking would take its time. */
TEST (test_backends_before_the_start)
{
  static const gchar *const backends[] = { "auto", "cuda", "cpu" };
  g_autoptr (GstElement) element = gst_element_factory_make ("stereomatch", NULL);
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink");

  for (guint i = 0; i < 3; i++) {
    gboolean expected = GSTCUDA_BUILT && i < 2;
    gst_util_set_object_arg (G_OBJECT (element), "backend", backends[i]);
    fail_unless_equals_int (offers_device (pad), expected);
    fail_unless_equals_int (accepts_device (pad), expected);
  }
  gst_element_release_request_pad (element, pad);
}

TEST (test_backends_at_work)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (Pair) pair = pair_new (i ? "backend=cpu" : "backend=auto");
    gboolean expected = GSTCUDA_BUILT && !i && device_here ();
    g_autoptr (GstPad) right = gst_element_get_static_pad (pair->element, "sink_right");

    fail_unless_equals_int (offers_device (right), expected);
    fail_unless_equals_int (accepts_device (right), expected);
  }
}

/* Device memory first, whatever who asks would rather have, and the formats as they like them. */
TEST (test_order)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("stereomatch", NULL);
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (element, "sink_left");
  g_autoptr (GstCaps) filter = gst_caps_from_string (
      "video/x-raw,format={BGRA,I420,NV12},width=64;video/x-raw(" FEATURE "),format={I420,P010_10LE,NV12},width=64");
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, filter);
  const gchar *const expected[] = { "I420", "NV12", NULL, "BGRA", "I420", "NV12", NULL };
  guint at = GSTCUDA_BUILT ? 0 : 3;

  fail_unless_equals_int (gst_caps_get_size (caps), 1 + GSTCUDA_BUILT);
  for (guint i = 0; i < gst_caps_get_size (caps); i++, at++) {
    const GValue *formats = gst_structure_get_value (gst_caps_get_structure (caps, i), "format");
    fail_unless_equals_int (is_device (caps, i), at == 0);
    for (guint j = 0; expected[at]; j++, at++)
      fail_unless_equals_string (g_value_get_string (gst_value_list_get_value (formats, j)), expected[at]);
  }
  gst_element_release_request_pad (element, pad);
}

/* ---- an element that uploads, like cudaupload, and may leave it ---------------------------- */

typedef GstBaseTransform Upload;
typedef GstBaseTransformClass UploadClass;
GType upload_get_type (void);
G_DEFINE_TYPE (Upload, upload, GST_TYPE_BASE_TRANSFORM)

static GstCaps *
upload_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstCaps *all = gst_caps_copy (caps), *other = gst_caps_copy (caps), *passed;

  for (guint i = 0; i < gst_caps_get_size (other); i++)
    gst_caps_set_features (other, i,
        gst_caps_features_new (direction == GST_PAD_SINK ? FEATURE : GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY, NULL));
  all = gst_caps_merge (all, other);
  if (!filter)
    return all;
  passed = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (all);
  return passed;
}

static GstFlowReturn
upload_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  return GST_FLOW_OK;
}

static void
upload_class_init (UploadClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCaps *caps = gst_caps_from_string ("video/x-raw;video/x-raw(" FEATURE ")");

  gst_element_class_add_pad_template (element_class, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata (element_class, "upload", "Filter", "pretends to upload", "test");
  gst_caps_unref (caps);
  klass->transform_caps = upload_transform_caps;
  klass->transform_ip = upload_transform_ip;
}

static void
upload_init (Upload *upload)
{
}

/* Runs to its end and says in which memory the matcher got its frames. */
static gboolean
run_upload (const gchar *backend)
{
  g_autoptr (GstElement) pipeline = launch (
      "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=88,height=20 ! testupload "
      "! stereomatch name=m num-disparities=12 backend=%s ! fakesink",
      backend);
  g_autoptr (GstElement) m = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (m, "sink");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_message (bus, GST_MESSAGE_EOS);
  fail_unless_equals_uint64 (stat_of (m, "pairs"), 3);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  gboolean device = is_device (caps, 0);
  gst_caps_unref (caps);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return device;
}

/* The frames never leave system memory here, whatever their caps say: they are computed all the same. */
TEST (test_upstream_uploads_where_it_helps)
{
  gst_element_register (NULL, "testupload", GST_RANK_NONE, upload_get_type ());
  fail_unless_equals_int (run_upload ("cpu"), FALSE);
  fail_unless_equals_int (run_upload ("auto"), GSTCUDA_BUILT && device_here ());
}

/* ---- what changes ------------------------------------------------------------------------ */

static guint
reconfigurations (GstHarness *harness)
{
  GstEvent *event;
  guint count = 0;

  while ((event = gst_harness_try_pull_upstream_event (harness))) {
    count += GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE;
    gst_event_unref (event);
  }
  return count;
}

TEST (test_another_backend_is_negotiated)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  reconfigurations (pair->left);
  reconfigurations (pair->right);
  g_object_set (pair->element, "num-disparities", 13, NULL);
  fail_unless_equals_int (reconfigurations (pair->left), 0);
  gst_util_set_object_arg (G_OBJECT (pair->element), "backend", "auto");
  fail_unless_equals_int (reconfigurations (pair->left), GSTCUDA_BUILT);
  fail_unless_equals_int (reconfigurations (pair->right), GSTCUDA_BUILT);
}

/* Neighbours ask each other for a context; without a device nobody has one, and nobody falls over it. */
TEST (test_context_query)
{
  static const gchar *const properties[] = { "backend=cpu cuda-device-id=0", "backend=auto",
    "backend=auto cuda-device-id=0" };

  for (guint i = 0; i < 3; i++) {
    g_autoptr (Pair) pair = pair_new (properties[i]);
    g_autoptr (GstQuery) query = gst_query_new_context ("gst.cuda.context"),
                         other = gst_query_new_context ("gst.gl.GLDisplay");
    g_autoptr (GstPad) sink = gst_element_get_static_pad (pair->element, "sink_left");
    g_autoptr (GstPad) src = gst_element_get_static_pad (pair->element, "src");
    gboolean expected = GSTCUDA_BUILT && i == 2 && device_here ();

    fail_unless_equals_int (gst_pad_query (sink, query), expected);
    fail_unless_equals_int (gst_pad_query (src, query), expected);
    fail_if (gst_pad_query (sink, other));
  }
}

SUITE (cuda_caps)
{
}
