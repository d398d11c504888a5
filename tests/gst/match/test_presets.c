/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Presets of the matcher: what they hold, that they are loaded as a whole, and what a wrong one does. */
#include "stereo/stereo.h"
#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define NAME "test of presets"

/* Parameters of the rig, of the output and of the machine, which no preset changes, and a value of each. */
static const struct
{
  const gchar *name, *value;
} of_the_place[] = {
  { "focal-length", "321" },
  { "baseline", "65" },
  { "principal-offset", "-3" },
  { "output", "depth" },
  { "disparity-scale", "16" },
  { "depth-unit", "500" },
  { "backend", "cpu" },
  { "cuda-device-id", "3" },
  { "threads", "5" },
  { "scratch-layers", "7" },
  { "memory-limit", "123456789" },
};

static gboolean
is_of_the_place (const gchar *name)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (of_the_place) && g_strcmp0 (name, of_the_place[i].name))
    i++;
  return i < G_N_ELEMENTS (of_the_place);
}

/* A value that the property takes; whether all of them go together does not matter before the first pair. */
static void
set_at_random (GstElement *match, const StereoParamInfo *info, Random *random)
{
  gdouble number = info->min + (info->max - info->min) * random_unit (random);
  g_autofree gchar *text = g_strdup_printf (info->type == STEREO_PARAM_INT ? "%.0f" : "%.17g", number);
  gint choices = 0;

  while (info->choices && info->choices[choices].name)
    choices++;
  gst_util_set_object_arg (
      G_OBJECT (match), info->name, choices ? info->choices[random_range (random, 0, choices - 1)].name : text);
}

static void
check_same (GstElement *match, GstElement *other, const gchar *name)
{
  g_auto (GValue) a = G_VALUE_INIT, b = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (match), name, &a);
  g_object_get_property (G_OBJECT (other), name, &b);
  fail_unless (gst_value_compare (&a, &b) == GST_VALUE_EQUAL, "%s differs", name);
}

TEST (test_holds_how_is_matched)
{
  g_autoptr (GstElement) match = gst_element_factory_make ("stereomatch", NULL);
  g_autoptr (GstElement) other = gst_element_factory_make ("stereomatch", NULL);
  g_autoptr (GstElement) same = gst_element_factory_make ("stereomatch", NULL);
  const StereoParamInfo *info;
  Random random = { .state = random_seed () };
  guint held = 0;

  for (gint row = 0; (info = stereo_param_info (row)); row++)
    if (!is_of_the_place (info->name))
      set_at_random (match, info, &random);
  for (guint i = 0; i < G_N_ELEMENTS (of_the_place); i++) {
    gst_util_set_object_arg (G_OBJECT (other), of_the_place[i].name, of_the_place[i].value);
    gst_util_set_object_arg (G_OBJECT (same), of_the_place[i].name, of_the_place[i].value);
  }
  fail_unless (gst_preset_save_preset (GST_PRESET (match), NAME));
  fail_unless (gst_preset_load_preset (GST_PRESET (other), NAME));
  for (gint row = 0; (info = stereo_param_info (row)); row++) {
    check_same (other, is_of_the_place (info->name) ? same : match, info->name);
    held += !is_of_the_place (info->name);
  }
  fail_unless (held > 30, "%u parameters", held);
  fail_unless (gst_preset_delete_preset (GST_PRESET (match), NAME));
  fail_if (gst_preset_load_preset (GST_PRESET (other), NAME), "it was deleted");
}

static void
read_cost (GObject *match, GParamSpec *spec, gint *cost)
{
  (void) spec;
  g_object_get (match, "cost", cost, NULL);
}

/* bm takes zncc and asw does not: between the two settings there is one that cannot work. */
TEST (test_loads_as_a_whole)
{
  g_autoptr (GstElement) match = gst_element_factory_make ("stereomatch", NULL);
  gint cost = -1;

  gst_util_set_object_arg (G_OBJECT (match), "method", "asw");
  gst_util_set_object_arg (G_OBJECT (match), "cost", "census-9x7");
  fail_unless (gst_preset_save_preset (GST_PRESET (match), NAME));
  gst_util_set_object_arg (G_OBJECT (match), "method", "bm");
  gst_util_set_object_arg (G_OBJECT (match), "cost", "zncc");
  g_signal_connect (match, "notify::method", G_CALLBACK (read_cost), &cost);
  fail_unless (gst_preset_load_preset (GST_PRESET (match), NAME));
  fail_unless_equals_int (cost, STEREO_COST_CENSUS_9X7);
  fail_unless (gst_preset_delete_preset (GST_PRESET (match), NAME));
}

/* What the profile has for method and align is saved, though nobody set it: it is in force after loading, too. */
TEST (test_values_of_the_profile)
{
  static const struct
  {
    const gchar *profile, *method, *align;
  } cases[] = { { "road", "sgm", "auto" }, { "thesis", "asw", "off" }, { "balanced", "asw", "auto" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) match = gst_element_factory_make ("stereomatch", NULL);
    g_autoptr (GstElement) other = gst_element_factory_make ("stereomatch", NULL);
    g_autoptr (GstStructure) settings = NULL;

    gst_util_set_object_arg (G_OBJECT (match), "profile", cases[i].profile);
    gst_util_set_object_arg (G_OBJECT (other), "method", "bm");
    fail_unless (gst_preset_save_preset (GST_PRESET (match), NAME));
    fail_unless (gst_preset_load_preset (GST_PRESET (other), NAME));
    g_object_get (other, "settings", &settings, NULL);
    fail_unless_equals_string (gst_structure_get_string (settings, "profile"), cases[i].profile);
    fail_unless_equals_string (gst_structure_get_string (settings, "method"), cases[i].method);
    fail_unless_equals_string (gst_structure_get_string (settings, "align"), cases[i].align);
    fail_unless (gst_preset_delete_preset (GST_PRESET (match), NAME));
  }
}

/* A preset is a file: anybody may have written into it. */
TEST (test_wrong_value_is_an_error)
{
  g_autoptr (GstElement) pipeline = launch ("stereotestsrc num-buffers=2 ! stereomatch name=m backend=cpu ! fakesink");
  g_autoptr (GstElement) match = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_util_set_object_arg (G_OBJECT (match), "window", "12"); /* even */
  fail_unless (gst_preset_save_preset (GST_PRESET (match), NAME));
  gst_util_set_object_arg (G_OBJECT (match), "window", "0");
  fail_unless (gst_preset_load_preset (GST_PRESET (match), NAME));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  expect_error (bus, "window", "12", NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (gst_preset_delete_preset (GST_PRESET (match), NAME));
}

SUITE (presets)
{
}
