/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters that are set while a stream runs, and what is in force: after each change, good or bad, the depth is that of a fresh
 * plan; what was set by hand wins over the profile. */
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"
#include "tests/support/params.h"
#include "tests/support/random.h"

#include "stereo/stereo.h"

#define CHANGES 1000
#define PIXELS (VIEW_WIDTH * VIEW_HEIGHT)

/* Frames have nothing to do with each other: a fresh plan knows none before. */
#define ALONE "temporal=0 backend=cpu threads=1 num-disparities=16 focal-length=300 baseline=90 "

/* Nothing is saturated. */
static void
paint (guint view, guint8 pixels[PIXELS])
{
  for (gint i = 0; i < PIXELS; i++)
    pixels[i] = 20 + texture (1, i % VIEW_WIDTH + (view ? SHIFT : 0), i / VIEW_WIDTH) / 2;
}

static void
push (Pair *pair, guint64 number)
{
  guint8 pixels[PIXELS];

  for (guint v = 0; v < 2; v++) {
    paint (v, pixels);
    gst_harness_push (
        v ? pair->right : pair->left, stamp (gst_buffer_new_memdup (pixels, PIXELS), number * FRAME, FRAME));
  }
}

/* What a plan of its own makes of the same pair. FALSE: there is none with @params. */
static gboolean
match_alone (const StereoParams *params, guint16 *samples, guint8 *confidence, StereoError *error)
{
  guint8 views[2][PIXELS];
  StereoImage images[2];
  const StereoOutput output = { samples, 2 * VIEW_WIDTH, STEREO_SAMPLE_U16, confidence, VIEW_WIDTH };
  StereoParams resolved;
  StereoPlan *plan = NULL;

  if (stereo_params_resolve (params, &resolved, error) == STEREO_OK &&
      stereo_params_check_sample (&resolved, STEREO_SAMPLE_U16, error) == STEREO_OK)
    plan = stereo_plan_new (params, VIEW_WIDTH, VIEW_HEIGHT, error);

  for (gint v = 0; v < 2 && plan; v++) {
    paint ((guint) v, views[v]);
    images[v] = (StereoImage){ .data = views[v], .stride = VIEW_WIDTH, .pixel_stride = 1, .channels = 1 };
  }
  if (!plan)
    return FALSE;
  fail_unless (
      stereo_plan_execute (plan, &images[0], &images[1], &output, NULL, error) == STEREO_OK, "%s", error->message);
  stereo_plan_free (plan);
  return TRUE;
}

static void
check_same (GstBuffer *out, const guint16 *samples, const guint8 *confidence, guint step)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  fail_unless (map.size == 2 * PIXELS && memcmp (map.data, samples, map.size) == 0, "change %u: other samples", step);
  gst_buffer_unmap (out, &map);
  fail_unless (gst_buffer_map (gst_stereo_meta_get_confidence (gst_buffer_get_stereo_meta (out)), &map, GST_MAP_READ));
  fail_unless (memcmp (map.data, confidence, PIXELS) == 0, "change %u: another confidence", step);
  gst_buffer_unmap (gst_stereo_meta_get_confidence (gst_buffer_get_stereo_meta (out)), &map);
}

/* Values that keep a frame short, and some that are refused by GObject, by the parameters beside them, or by the size. */
static gdouble
draw_value (const StereoParamInfo *info, Random *random)
{
  static const struct
  {
    const gchar *name;
    gint min, max;
  } narrow[] = { { "num-disparities", 1, 40 }, { "min-disparity", -20, 50 }, { "window", 0, 16 },
    { "refine-iterations", -1, 2 }, { "refine-window", 0, 14 }, { "iterations", 0, 4 }, { "threads", 1, 2 },
    { "memory-limit", 0, 3000000 }, { "focal-length", 0, 600 }, { "baseline", 0, 200 }, { "truncation", 0, 40 },
    { "p1", 0, 60 }, { "p2", 0, 90 } };

  if (random_range (random, 0, 19) == 0)
    return random_range (random, 0, 1) ? info->initial : info->max + 1;
  if (info->choices) {
    gint count = 0;
    while (info->choices[count].name)
      count++;
    return info->choices[random_range (random, 0, count - 1)].value;
  }
  for (guint i = 0; i < G_N_ELEMENTS (narrow); i++)
    if (g_str_equal (narrow[i].name, info->name))
      return random_range (random, 0, 2) ? random_range (random, narrow[i].min, narrow[i].max) : info->initial;
  gdouble value = info->min + (info->max - info->min) * random_unit (random);
  return info->type == STEREO_PARAM_DOUBLE ? value : floor (value);
}

/* Sets the property, and the parameter where GObject takes the value. */
static void
set_both (GstElement *element, StereoParams *params, const StereoParamInfo *info, gdouble value)
{
  gboolean taken = info->choices == NULL && value >= info->min && value <= info->max;

  for (const StereoChoice *c = info->choices; c && c->name; c++)
    taken |= c->value == value;
  _gst_check_expecting_log = !taken;
  if (info->type == STEREO_PARAM_DOUBLE)
    g_object_set (element, info->name, value, NULL);
  else if (info->type == STEREO_PARAM_SIZE)
    g_object_set (element, info->name, (guint64) value, NULL);
  else
    g_object_set (element, info->name, (gint) value, NULL);
  _gst_check_expecting_log = FALSE;
  if (taken)
    stereo_param_set (params, info, value);
}

static const StereoParamInfo *
draw_parameter (Random *random)
{
  const StereoParamInfo *info;
  gint count = 0;

  while (stereo_param_info (count))
    count++;
  do
    info = stereo_param_info (random_range (random, 0, count - 1));
  while (g_str_equal (info->name, "temporal") || g_str_equal (info->name, "cuda-device-id") ||
      (g_str_equal (info->name, "backend") && stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0)));
  return info;
}

/* The refusal that was posted since the last call; g_free(). */
static gchar *
pop_refusal (GstBus *bus)
{
  GstMessage *message;
  gchar *refusal = NULL;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    gchar *text = message_text (message);
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING, "%s", text);
    if (strstr (text, "the settings before stay in force")) {
      fail_unless (refusal == NULL, "said twice: %s", text);
      refusal = g_steal_pointer (&text);
    }
    g_free (text);
    gst_message_unref (message);
  }
  return refusal;
}

/* Each change is of one to three properties at once. Where they do not fit, the stream goes on with the settings before, and a
 * warning says why, once. Now and then all of them become good again. */
TEST (test_random_changes)
{
  g_autoptr (Pair) pair = pair_new_gray (ALONE);
  static guint16 samples[PIXELS];
  static guint8 confidence[PIXELS];
  Random random = { .state = random_seed () };
  StereoParams initial, set, in_force;
  guint refused = 0, kinds[2] = { 0 };

  stereo_params_init (&initial);
  params_set (&initial, "%s", ALONE);
  set = in_force = initial;
  g_autofree gchar *last = NULL;
  for (guint step = 0; step <= CHANGES; step++) {
    StereoError error;
    gboolean renew = random_range (&random, 0, 9) == 0;

    g_object_freeze_notify (G_OBJECT (pair->element));
    for (gint n = step ? random_range (&random, 1, 3) : 0; n > 0 && !renew; n--) {
      const StereoParamInfo *info = draw_parameter (&random);
      set_both (pair->element, &set, info, draw_value (info, &random));
    }
    for (gint row = 0; renew && stereo_param_info (row); row++)
      set_both (pair->element, &set, stereo_param_info (row), stereo_param_get (&initial, stereo_param_info (row)));
    g_object_thaw_notify (G_OBJECT (pair->element));
    push (pair, step);
    gboolean fits = match_alone (&set, samples, confidence, &error);
    if (fits)
      in_force = set;
    else
      fail_unless (match_alone (&in_force, samples, confidence, NULL));
    g_autoptr (GstBuffer) out = pair_pull (pair, step * FRAME);
    check_same (out, samples, confidence, step);
    g_autofree gchar *refusal = pop_refusal (pair->bus);
    fail_unless (fits == (refusal == NULL) || (!fits && last && strstr (last, error.message)),
        "change %u: '%s' was said of '%s'", step, refusal, fits ? "good parameters" : error.message);
    fail_unless (!refusal || strstr (refusal, error.message), "'%s' and not '%s'", refusal, error.message);
    if (fits || refusal) {
      g_free (last);
      last = g_steal_pointer (&refusal);
    }
    refused += !fits;
    kinds[in_force.output == STEREO_OUTPUT_DEPTH]++;
  }
  fail_unless (refused > CHANGES / 10 && refused < CHANGES * 9 / 10, "%u of %u were refused", refused, CHANGES);
  fail_unless (kinds[0] > 10 && kinds[1] > 10, "%u of disparity, %u of depth", kinds[0], kinds[1]);
}

/* bm does not take the cost that sgm has. One after the other they do not fit for a moment; together they always do. */
TEST_LOOP (test_together, 0, 2)
{
  g_autoptr (Pair) pair = pair_new_gray (ALONE "method=sgm cost=mixed");

  push (pair, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  if (__i__) {
    g_object_set (pair->element, "method", STEREO_METHOD_BM, "cost", STEREO_COST_ZNCC, NULL);
  } else {
    g_object_set (pair->element, "method", STEREO_METHOD_BM, NULL);
    push (pair, 1);
    gst_buffer_unref (pair_pull (pair, FRAME));
    expect_warning (pair->bus, "method=bm does not take cost=mixed", "stay in force", NULL);
    g_object_set (pair->element, "cost", STEREO_COST_ZNCC, NULL);
  }
  push (pair, 2);
  gst_buffer_unref (pair_pull (pair, 2 * FRAME));
  g_autoptr (GstStructure) settings = NULL;
  g_object_get (pair->element, "settings", &settings, NULL);
  fail_unless_equals_string (gst_structure_get_string (settings, "method"), "bm");
  fail_unless_equals_string (gst_structure_get_string (settings, "cost"), "zncc");
  expect_no_message (pair->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
}

/* Defaults that are values of their own: once they are set, the profile does not change them, whatever was set first. Before that,
 * the property shows what the profile has. */
TEST (test_by_hand_wins)
{
  static const struct
  {
    const gchar *set[2], *name, *value, *by_hand;
  } cases[] = {
    { { "profile=thesis" }, "align", "off", "profile" },
    { { "profile=thesis", "align=auto" }, "align", "auto", "profile,align" },
    { { "align=auto", "profile=thesis" }, "align", "auto", "profile,align" },
    { { "profile=road" }, "method", "sgm", "profile" },
    { { "profile=road", "method=asw" }, "method", "asw", "profile,method" },
    { { "method=asw", "profile=road" }, "method", "asw", "profile,method" },
    { { "profile=road", "method=bm" }, "method", "bm", "profile,method" },
    { { "window=0" }, "window", "3", "window" },
    { { NULL }, "method", "asw", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", NULL));
    g_autoptr (GstStructure) settings = NULL;
    g_auto (GValue) value = G_VALUE_INIT;

    for (guint k = 0; k < 2 && cases[i].set[k]; k++)
      set_properties (element, cases[i].set[k]);
    g_object_get (element, "settings", &settings, NULL);
    g_autofree gchar *in_force = g_strdup_value_contents (gst_structure_get_value (settings, cases[i].name));
    fail_unless (strstr (in_force, cases[i].value), "case %u: %s=%s", i, cases[i].name, in_force);
    fail_unless_equals_string (gst_structure_get_string (settings, "set-by-hand"), cases[i].by_hand);
    g_object_get_property (G_OBJECT (element), cases[i].name, &value);
    g_autofree gchar *shown = gst_value_serialize (&value);
    fail_unless (G_VALUE_HOLDS_INT (&value) || g_str_equal (shown, cases[i].value), "case %u: it shows %s", i, shown);
  }
}

SUITE (settings)
{
  tcase_set_timeout (tcase, 60);
}
