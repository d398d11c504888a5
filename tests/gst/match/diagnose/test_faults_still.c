/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sound cameras that look at a real scene for twelve seconds: no fault is told, with noise and without. STEREO_DATA names the
 * folder of the pictures, which are not part of the project.
 */
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

#include "tests/support/gst/real.h"
#include "tests/support/random.h"

#define FRAMES_A_SECOND 5
#define SECONDS 12

static const struct
{
  const gchar *name;
  gint disparities;
} scenes[] = { { "tsukuba", 32 }, { "venus", 32 }, { "teddy", 64 }, { "cones", 64 }, { "motorcycle", 80 },
  { "aloe", 256 }, { "kitti15-000003", 128 }, { "kitti15-000011", 128 }, { "kitti15-000020", 128 },
  { "kitti15-000030", 128 }, { "kitti12-000027", 128 }, { "kitti12-000138", 128 }, { "piano", 64 }, { "playtable", 80 },
  { "recycle", 64 }, { "vintage", 192 }, { "road", 128 }, { "street", 128 }, { "fog", 128 } };

/* The picture of a side, or the first of a sequence. */
static GstSample *
load (const gchar *name, const gchar *side)
{
  gchar *one = g_strdup_printf ("%s/%s/%s.png", g_getenv ("STEREO_DATA"), name, side);
  gboolean still = g_file_test (one, G_FILE_TEST_EXISTS);
  gchar *path = still ? g_strdup_printf ("%s/%s.png", name, side) : g_strdup_printf ("%s/%s/000000.png", name, side);
  GstSample *sample = real_picture (path, "GRAY8");

  g_free (one);
  g_free (path);
  return sample;
}

/* A frame with noise of up to @noise grey levels. */
static GstBuffer *
frame_of (GstSample *sample, Random *random, gint noise)
{
  GstBuffer *buffer = gst_buffer_copy_deep (gst_sample_get_buffer (sample));
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize i = 0; noise && i < map.size; i++) {
    gint level = map.data[i] + random_range (random, -noise, noise); /* CLAMP() evaluates it more than once */
    map.data[i] = (guint8) CLAMP (level, 0, 255);
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* The caps of a sample, at FRAMES_A_SECOND. */
static gchar *
caps_of (GstSample *sample)
{
  GstCaps *caps = gst_caps_copy (gst_sample_get_caps (sample));
  gchar *text;

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, FRAMES_A_SECOND, 1, NULL);
  text = gst_caps_to_string (caps);
  gst_caps_unref (caps);
  return text;
}

static void
watch (guint scene, gint noise)
{
  GstSample *samples[] = { load (scenes[scene].name, "left"), load (scenes[scene].name, "right") };
  gchar *properties = g_strdup_printf (
      "method=bm cost=sad window=5 backend=cpu num-disparities=%d", scenes[scene].disparities);
  Random random = { .state = random_seed () };
  Pair *pair;

  fail_unless (samples[0] && samples[1], "%s is not there", scenes[scene].name);
  /* a live source that never changes is frozen */
  pair = noise ? pair_new (properties) : pair_new_not_live (properties);
  for (guint v = 0; v < 2; v++) {
    gchar *caps = caps_of (samples[v]);
    gst_harness_set_src_caps_str (v ? pair->right : pair->left, caps);
    g_free (caps);
  }
  for (guint i = 0; i < FRAMES_A_SECOND * SECONDS; i++) {
    GstClockTime time = i * GST_SECOND / FRAMES_A_SECOND;
    GstMessage *message;
    GstBuffer *out;

    gst_harness_push (pair->left, stamp (frame_of (samples[0], &random, noise), time, GST_SECOND / FRAMES_A_SECOND));
    gst_harness_push (pair->right, stamp (frame_of (samples[1], &random, noise), time, GST_SECOND / FRAMES_A_SECOND));
    out = pair_pull (pair, time);
    /* without noise nothing ever changes, which the metadata say */
    fail_unless (!(gst_buffer_get_stereo_meta (out)->health & ~(noise ? 0 : GST_STEREO_HEALTH_STILL)),
        "%s, frame %u: %s", scenes[scene].name, i,
        gst_stereo_health_to_string (gst_buffer_get_stereo_meta (out)->health));
    gst_buffer_unref (out);
    message = gst_bus_pop_filtered (pair->bus, GST_MESSAGE_WARNING);
    fail_unless (!message, "%s, frame %u: a warning", scenes[scene].name, i);
  }
  pair_free (pair);
  g_free (properties);
  for (guint v = 0; v < 2; v++)
    gst_sample_unref (samples[v]);
}

TEST_LOOP (test_noisy, 0, G_N_ELEMENTS (scenes))
{
  watch (__i__, 5);
}

TEST_LOOP (test_without_noise, 0, G_N_ELEMENTS (scenes))
{
  watch (__i__, 0);
}

SUITE_IF (faults_still, real_is_there ())
{
  tcase_set_timeout (tcase, 300);
}
