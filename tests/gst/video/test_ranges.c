/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A value outside the range of a property is an error on the bus, whichever element and property it is. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include <math.h>
#include <string.h>

/* All but stereomatch: the engine refuses the values of its parameters when a plan is made (match/test_errors.c). */
static const gchar *const factories[] = { "stereotestsrc", "stereorectify", "stereoconfidence", "stereoground",
  "stereonearest", "stereopoints", "depthoverlay" };

/* A value just outside the range, with what the message has to say of it. FALSE where every value is in range. */
static gboolean
take_value_outside (GParamSpec *spec, gboolean above, GValue *value, gchar **words)
{
  g_value_init (value, spec->value_type);
  if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (spec);
    gdouble most = MAX (fabs (range->minimum), fabs (range->maximum));
    g_value_set_double (value, above ? range->maximum + 0.5 + most * 0.01 : range->minimum - 0.5 - most * 0.01);
    *words = g_strdup_printf ("between %g and %g", range->minimum, range->maximum);
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *range = G_PARAM_SPEC_INT (spec);
    if (above ? range->maximum == G_MAXINT : range->minimum == G_MININT)
      return FALSE;
    g_value_set_int (value, above ? range->maximum + 1 : range->minimum - 1);
    *words = g_strdup_printf ("between %d and %d", range->minimum, range->maximum);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    const GParamSpecInt64 *range = G_PARAM_SPEC_INT64 (spec);
    g_value_set_int64 (value, above ? range->maximum + 1 : range->minimum - 1);
    *words = g_strdup_printf ("between %" G_GINT64_FORMAT " and", range->minimum);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    g_value_set_enum (value, above ? klass->maximum + 1 : klass->minimum - 1);
    *words = g_strdup (klass->values[0].value_nick);
  } else {
    return FALSE;
  }
  return TRUE;
}

/* Set before the start: the element does not start, until the value is mended. */
static void
check_before_start (const gchar *factory, GParamSpec *spec, const GValue *outside, const gchar *words)
{
  g_autofree gchar *begin = g_strconcat (spec->name, "=", NULL);
  GValue initial = G_VALUE_INIT, kept = G_VALUE_INIT;
  GstMessage *message;
  GstBus *bus;

  GstElement *element = element_new (factory, "", &bus);
  g_value_init (&initial, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, &initial);
  g_object_set_property (G_OBJECT (element), spec->name, outside);
  g_value_init (&kept, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, &kept);
  fail_unless_equals_int (g_param_values_cmp (spec, &initial, &kept), 0);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL, "an error was posted before the start");
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_error (bus, begin, words, "out of range", NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  /* GstBaseSrc adds an error of its own */
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR)))
    gst_message_unref (message);
  g_object_set_property (G_OBJECT (element), spec->name, &initial);
  gst_element_set_state (element, GST_STATE_PAUSED);
  /* elements that are not linked, or have no calibration, may say that: this property is no longer what is wrong */
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR))) {
    g_autofree gchar *text = message_text (message);
    fail_unless (!strstr (text, "out of range"), "%s: %s", factory, text);
    gst_message_unref (message);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  element_free (element, bus);
  g_value_unset (&kept);
  g_value_unset (&initial);
}

TEST_LOOP (test_before_the_start, 0, G_N_ELEMENTS (factories))
{
  const gchar *factory = factories[__i__];
  GstBus *bus;
  GstElement *element = element_new (factory, "", &bus);
  guint count, checked = 0;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);

  for (guint i = 0; i < 2 * count; i++) {
    GParamSpec *spec = specs[i / 2];
    GValue value = G_VALUE_INIT;
    g_autofree gchar *words = NULL;

    if (is_own_property (spec) && take_value_outside (spec, i % 2, &value, &words)) {
      check_before_start (factory, spec, &value, words);
      checked++;
    }
    if (G_IS_VALUE (&value))
      g_value_unset (&value);
  }
  fail_unless (checked >= 2, "%s: %u values", factory, checked);
  g_free (specs);
  gst_element_set_state (element, GST_STATE_NULL);
  element_free (element, bus);
}

/* The error comes at once, and once only. The value that was right stays. */
TEST (test_while_it_runs)
{
  static const struct
  {
    const gchar *line, *property;
    gdouble outside;
    const gchar *words;
  } cases[] = { { "stereotestsrc name=e noise=3 ! fakesink", "noise", 100, "between 0 and 64" },
    { "stereotestsrc ! depthoverlay name=e alpha=0.3 ! fakesink", "alpha", NAN, "between 0 and 1" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) pipeline = launch ("%s", cases[i].line);
    g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "e");
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
    gdouble before, after;

    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE), GST_STATE_CHANGE_SUCCESS);
    g_object_get (element, cases[i].property, &before, NULL);
    for (guint again = 0; again < 3; again++)
      g_object_set (element, cases[i].property, cases[i].outside, NULL);
    expect_error (bus, cases[i].property, cases[i].words, NULL);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL, "the error was posted twice");
    g_object_get (element, cases[i].property, &after, NULL);
    fail_unless_equals_float (before, after);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

/* packing, of the base class. */
TEST (test_stereomatch)
{
  GstBus *bus;
  GstElement *element = element_new ("stereomatch", "", &bus);

  g_object_set (element, "packing", 99, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_error (bus, "packing=99", "side-by-side", NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  element_free (element, bus);
}

SUITE (ranges)
{
  tcase_set_timeout (tcase, 60);
}
