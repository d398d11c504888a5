/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of every element: a new element has their defaults, and each keeps what was set. */
#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

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
    g_value_set_uint64 (value, (guint64) random_range (random, 0, 1000000) * 4000000003);
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

SUITE (properties)
{
}
