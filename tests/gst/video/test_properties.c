/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of every element: a new element has their defaults, each keeps what was set, and GObject refuses a value out of
 * range with a warning, before the start and while a stream runs: the old value stays, and the stream goes on. */
#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#include <math.h>

static const gchar *const factories[] = { "stereomatch", "stereotestsrc", "stereorectify", "stereoconfidence",
  "stereoground", "stereonearest", "stereopoints", "depthoverlay" };

static GstElement *
make_element (const gchar *factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  fail_unless (element != NULL, "no %s: is GST_PLUGIN_PATH right?", factory);
  return gst_object_ref_sink (element);
}

static void
set_array (GValue *array, const gdouble fractions[4])
{
  GValue fraction = G_VALUE_INIT;

  g_value_init (&fraction, G_TYPE_DOUBLE);
  for (guint i = 0; i < 4; i++) {
    g_value_set_double (&fraction, fractions[i]);
    gst_value_array_append_value (array, &fraction);
  }
  g_value_unset (&fraction);
}

/* GObject has no defaults of arrays: the whole picture. */
static void
take_default (GParamSpec *spec, GValue *value)
{
  static const gdouble whole[4] = { 0, 0, 1, 1 };

  g_value_init (value, spec->value_type);
  if (spec->value_type == GST_TYPE_ARRAY)
    set_array (value, whole);
  else
    g_param_value_set_default (spec, value);
}

/* A value in range. */
static void
take_any (GParamSpec *spec, GValue *value, Random *random)
{
  g_value_init (value, spec->value_type);
  if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (value, random_range (random, 0, 1));
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *range = G_PARAM_SPEC_INT (spec);
    g_value_set_int (value, random_range (random, range->minimum, range->maximum));
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    g_value_set_uint (value, (guint) random_range (random, 0, 1000000) * 4001u);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    g_value_set_int64 (value, random_range (random, -1000000, 1000000) * G_GINT64_CONSTANT (1000000000));
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    const guint64 drawn = (guint64) random_range (random, 0, 1000000) * 4000000003;
    g_value_set_uint64 (value, MIN (drawn, G_PARAM_SPEC_UINT64 (spec)->maximum));
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (spec);
    g_value_set_double (value, range->minimum + (range->maximum - range->minimum) * random_unit (random));
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    g_value_set_enum (value, klass->values[random_range (random, 0, (gint) klass->n_values - 1)].value);
  } else if (spec->value_type == GST_TYPE_ARRAY) {
    const gdouble fractions[4] = { random_unit (random), random_unit (random), random_unit (random),
      random_unit (random) };
    set_array (value, fractions);
  } else {
    fail_unless (spec->value_type == G_TYPE_STRING, "%s is a %s", spec->name, g_type_name (spec->value_type));
    g_value_take_string (value, g_strdup_printf ("file-%d", random_range (random, 0, 1000000)));
  }
}

/* Compares, and clears @expected. */
static void
check_has (GstElement *element, GParamSpec *spec, GValue *expected)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, &value);
  g_autofree gchar *a = g_strdup_value_contents (&value);
  g_autofree gchar *b = g_strdup_value_contents (expected);
  fail_unless (G_VALUE_HOLDS_STRING (&value) ? !g_strcmp0 (g_value_get_string (&value), g_value_get_string (expected)) :
                                               gst_value_compare (&value, expected) == GST_VALUE_EQUAL,
      "%s has %s=%s, not %s", G_OBJECT_TYPE_NAME (element), spec->name, a, b);
  g_value_unset (&value);
  g_value_unset (expected);
}

TEST_LOOP (test_defaults, 0, G_N_ELEMENTS (factories))
{
  g_autoptr (GstElement) element = make_element (factories[__i__]);
  guint count;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);

  for (guint i = 0; i < count; i++) {
    GValue expected = G_VALUE_INIT;

    if (!is_own_property (specs[i]))
      continue;
    take_default (specs[i], &expected);
    check_has (element, specs[i], &expected);
  }
  g_free (specs);
}

/* All are set before the first is read: no property writes over another one. */
TEST_LOOP (test_values_stay, 0, G_N_ELEMENTS (factories))
{
  g_autoptr (GstElement) element = make_element (factories[__i__]);
  guint count, set = 0;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);
  g_autofree GValue *values = g_new0 (GValue, count);
  Random random = { .state = random_seed () };

  for (guint i = 0; i < count; i++) {
    if (!is_own_property (specs[i]))
      continue;
    take_any (specs[i], &values[i], &random);
    g_object_set_property (G_OBJECT (element), specs[i]->name, &values[i]);
    set++;
  }
  for (guint i = 0; i < count; i++)
    if (G_IS_VALUE (&values[i]))
      check_has (element, specs[i], &values[i]);
  fail_unless (set > 0);
  g_free (specs);
}

/* A value just outside the range: the @n-th. FALSE: there is none such. */
static gboolean
take_outside (GParamSpec *spec, guint n, GValue *value)
{
  gboolean above = n == 1;

  g_value_init (value, spec->value_type);
  if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (spec);
    gdouble least = range->minimum - 1e-6 * MAX (fabs (range->minimum), 1), most = range->maximum * (1 + 1e-6) + 1e-6;
    g_value_set_double (value, n == 2 ? NAN : above ? most : least);
    return n <= 2;
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *range = G_PARAM_SPEC_INT (spec);
    if (above ? range->maximum == G_MAXINT : range->minimum == G_MININT)
      return FALSE;
    g_value_set_int (value, above ? range->maximum + 1 : range->minimum - 1);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    const GParamSpecInt64 *range = G_PARAM_SPEC_INT64 (spec);
    g_value_set_int64 (value, above ? range->maximum + 1 : range->minimum - 1);
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    const GParamSpecUInt64 *range = G_PARAM_SPEC_UINT64 (spec);
    if (!above || range->maximum == G_MAXUINT64)
      return FALSE;
    g_value_set_uint64 (value, range->maximum + 1);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    g_value_set_enum (value, above ? klass->maximum + 1 : klass->minimum - 1);
  } else if (spec->value_type == GST_TYPE_ARRAY) {
    /* a number too large, a number too few */
    const gdouble fractions[4] = { 0, 0, 0.5, n == 0 ? 1.01 : 0.5 };
    set_array (value, fractions);
    if (above)
      gst_value_array_append_value (value, gst_value_array_get_value (value, 0));
  } else {
    return FALSE;
  }
  return n < 2;
}

static void
check_refuses (GstElement *element, GParamSpec *spec, guint *checked)
{
  for (guint n = 0; n < 3; n++) {
    GValue outside = G_VALUE_INIT, before = G_VALUE_INIT;

    if (take_outside (spec, n, &outside)) {
      g_value_init (&before, spec->value_type);
      g_object_get_property (G_OBJECT (element), spec->name, &before);
      _gst_check_expecting_log = TRUE;
      _gst_check_raised_warning = _gst_check_raised_critical = FALSE;
      g_object_set_property (G_OBJECT (element), spec->name, &outside);
      _gst_check_expecting_log = FALSE;
      fail_unless (
          _gst_check_raised_warning || _gst_check_raised_critical, "%s: value %u: nothing was said", spec->name, n);
      check_has (element, spec, &before);
      (*checked)++;
    }
    g_value_unset (&outside);
  }
}

TEST_LOOP (test_out_of_range, 0, 2 * G_N_ELEMENTS (factories))
{
  const gchar *factory = factories[__i__ / 2];
  GstBus *bus;
  GstElement *element = element_new (factory, "", &bus);
  guint count, checked = 0;
  g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);

  if (__i__ % 2)
    gst_element_set_state (element, GST_STATE_PAUSED);
  gst_bus_set_flushing (bus, TRUE); /* elements that are not linked may say so */
  gst_bus_set_flushing (bus, FALSE);
  for (guint i = 0; i < count; i++)
    if (is_own_property (specs[i]))
      check_refuses (element, specs[i], &checked);
  fail_unless (checked >= 2, "%s: %u values", factory, checked);
  expect_no_message (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  gst_element_set_state (element, GST_STATE_NULL);
  element_free (element, bus);
}

SUITE (properties)
{
}
