/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disparity and depth that cannot be used: every element that reads it says what is wrong, and what to do. */
#include <math.h>

#include "tests/support/gst/overlay.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define WIDTH 24
#define HEIGHT 16

typedef enum
{
  NO_META,
  VIEWS,
  SIZE,
  NARROW,
  NO_SCALE,
  NO_NUMBER,
  NO_FOCAL_LENGTH,
  NO_BASELINE,
  NEITHER,
  SAMPLES,
  CONFIDENCE,
  MASK
} Fault;

static GstBuffer *
spoilt_depth (Fault fault)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DISPARITY, 640);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);
  g_autoptr (GstBuffer) small = gst_buffer_new_allocate (NULL, 3, NULL);

  meta->kind = fault == VIEWS ? GST_STEREO_OUTPUT_KIND_VIEWS :
      fault == NARROW         ? GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE :
                                GST_STEREO_OUTPUT_KIND_DISPARITY;
  if (fault == SIZE)
    meta->width++;
  if (fault == NO_SCALE)
    meta->disparity_scale = 0;
  if (fault == NO_NUMBER)
    meta->baseline = NAN;
  if (fault == NO_FOCAL_LENGTH || fault == NEITHER)
    meta->focal_length = 0;
  if (fault == NO_BASELINE || fault == NEITHER)
    meta->baseline = 0;
  if (fault == SAMPLES)
    gst_buffer_resize (depth, 0, 100);
  if (fault == CONFIDENCE)
    gst_buffer_replace (&meta->confidence, small);
  if (fault == MASK)
    gst_stereo_meta_set_mask (meta, small);
  if (fault == NO_META)
    gst_buffer_remove_meta (depth, &meta->meta);
  return depth;
}

static const struct
{
  const gchar *factory, *pad;
  gboolean needs_cameras;
} elements[] = { { "stereonearest", "sink" }, { "stereoground", "sink", TRUE }, { "stereopoints", "sink", TRUE },
  { "depthoverlay", "sink_depth" } };

static const struct
{
  Fault fault;
  gboolean of_cameras; /* is none for elements that can do without them */
  const gchar *words[2];
} cases[] = {
  { NO_META, FALSE, { "without stereo metadata", "right after stereomatch" } },
  { VIEWS, FALSE, { "two views", "put stereomatch before" } },
  { SIZE, FALSE, { "25x16", "24x16" } },
  { NARROW, FALSE, { "GRAY16_LE", "samples of 8 bits" } },
  { NO_SCALE, FALSE, { "disparity_scale is 0", "its range is 0.001 to 65535" } },
  { NO_NUMBER, FALSE, { "baseline is nan", "its range is 0 to 1e+06" } },
  { NO_FOCAL_LENGTH, TRUE, { "no focal length", "Set focal-length (px) on stereomatch, or put stereorectify" } },
  { NO_BASELINE, TRUE, { "no baseline", "Set baseline (mm) on stereomatch, or put stereorectify" } },
  { NEITHER, TRUE, { "neither focal length nor baseline", "Set focal-length (px) and baseline (mm)" } },
  { SAMPLES, FALSE, { "picture could not be read", "smaller" } },
  { CONFIDENCE, FALSE, { "confidence in the metadata could not be read", "smaller" } },
  { MASK, FALSE, { "mask in the metadata could not be read", "smaller" } },
};

TEST_LOOP (test_depth_that_cannot_be_used, 0, G_N_ELEMENTS (elements))
{
  gboolean overlay = g_str_equal (elements[__i__].factory, "depthoverlay");

  /* builds without Pango have none */
  if (overlay && !gst_registry_check_feature_version (gst_registry_get (), "depthoverlay", 0, 0, 0))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gchar *const *words = cases[i].words;
    GstBus *bus;

    if (cases[i].of_cameras && !elements[__i__].needs_cameras)
      continue;
    GstElement *element = element_new (elements[__i__].factory, "", &bus);
    GstHarness *harness = gst_harness_new_with_element (element, elements[__i__].pad, "src");
    harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY16_LE, WIDTH, HEIGHT, NULL);
    GstFlowReturn flow = gst_harness_push (harness, stamp (spoilt_depth (cases[i].fault), 0, FRAME));
    fail_unless (flow == GST_FLOW_ERROR || GST_IS_AGGREGATOR (element), "%s", gst_flow_get_name (flow));
    expect_error (bus, words[0], words[1], cases[i].fault <= VIEWS ? elements[__i__].factory : NULL, NULL);
    gst_harness_teardown (harness);
    element_free (element, bus);
  }
}

SUITE (depth)
{
}
