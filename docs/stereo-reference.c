/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * docs/elements.md: every element with its pads and properties, as the plugin has them.
 *
 *   stereo-reference > docs/elements.md
 *
 * A test compares. Frames in device memory are left out of the caps: whether they are taken depends on the build.
 *
 *   stereo-reference --stats PIPELINE
 *
 * runs the pipeline and prints the names of the fields that `stats` of its element "asked" has at the end.
 */
#include <gst/gst.h>

#include <stdlib.h>
#include <string.h>

static void
print_cell (const gchar *text)
{
  for (; text && *text; text++)
    g_print (*text == '|' ? "\\|" : *text == '\n' ? " " : "%c", *text);
}

/* ---- pads --------------------------------------------------------------------------------------------- */

static void
print_value (const GValue *value)
{
  if (GST_VALUE_HOLDS_LIST (value)) {
    for (guint i = 0; i < gst_value_list_get_size (value); i++) {
      g_print ("%s", i ? ", " : "");
      print_value (gst_value_list_get_value (value, i));
    }
  } else if (G_VALUE_HOLDS_STRING (value)) {
    g_print ("%s", g_value_get_string (value));
  } else {
    gchar *text = gst_value_serialize (value);
    print_cell (text);
    g_free (text);
  }
}

static gboolean
print_field (GQuark name, const GValue *value, gpointer data)
{
  gboolean *first = data;
  const gchar *field = g_quark_to_string (name);

  /* any size and any frame rate, as a video has */
  if (GST_VALUE_HOLDS_INT_RANGE (value) || GST_VALUE_HOLDS_FRACTION_RANGE (value))
    return TRUE;
  g_print ("%s%s: ", *first ? "" : "; ", field);
  print_value (value);
  *first = FALSE;
  return TRUE;
}

static void
print_caps (GstCaps *caps)
{
  gboolean any = FALSE;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);
    GstStructure *structure = gst_caps_get_structure (caps, i);
    gboolean first = TRUE;

    if (!gst_caps_features_is_equal (features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    g_print ("%s`%s` ", any ? "<br>" : "", gst_structure_get_name (structure));
    gst_structure_foreach (structure, print_field, &first);
    any = TRUE;
  }
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  const GstStaticPadTemplate *x = a, *y = b;
  return g_strcmp0 (x->name_template, y->name_template);
}

static void
print_pads (GstElementFactory *factory)
{
  static const gchar *const presences[] = { "always", "sometimes", "on request" };
  GList *templates = g_list_sort (
      g_list_copy ((GList *) gst_element_factory_get_static_pad_templates (factory)), by_name);

  g_print ("| pad | direction | there | caps |\n|---|---|---|---|\n");
  for (GList *l = templates; l; l = l->next) {
    GstStaticPadTemplate *template = l->data;
    GstCaps *caps = gst_static_pad_template_get_caps (template);
    GstStaticPadTemplate *above = l->prev ? l->prev->data : NULL;

    g_print ("| `%s` | %s | %s | ", template->name_template, template->direction == GST_PAD_SRC ? "out" : "in",
        presences[template->presence]);
    if (above && !g_strcmp0 (above->static_caps.string, template->static_caps.string))
      g_print ("as `%s`", above->name_template);
    else
      print_caps (caps);
    g_print (" |\n");
    gst_caps_unref (caps);
  }
  g_list_free (templates);
}

/* ---- properties --------------------------------------------------------------------------------------- */

static void
print_range (GParamSpec *spec)
{
  if (G_IS_PARAM_SPEC_INT (spec)) {
    GParamSpecInt *s = G_PARAM_SPEC_INT (spec);
    g_print ("%d..%d", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    GParamSpecUInt *s = G_PARAM_SPEC_UINT (spec);
    g_print ("%u..%u uint", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    GParamSpecInt64 *s = G_PARAM_SPEC_INT64 (spec);
    g_print ("%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT " int64", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    GParamSpecUInt64 *s = G_PARAM_SPEC_UINT64 (spec);
    g_print (s->maximum == G_MAXUINT64 ? "%" G_GUINT64_FORMAT " and more, uint64" :
                                         "%" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT " uint64",
        s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    GParamSpecDouble *s = G_PARAM_SPEC_DOUBLE (spec);
    g_print (s->maximum == G_MAXDOUBLE ? "%g and more, double" : "%g..%g double", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    for (guint i = 0; i < klass->n_values; i++) {
      g_print ("%s`%s`", i ? "<br>" : "", klass->values[i].value_nick);
      g_print (klass->values[i].value == (gint) i ? ": " : " (%d): ", klass->values[i].value);
      print_cell (klass->values[i].value_name);
    }
  } else if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_print ("true, false");
  } else {
    g_print ("%s", g_type_name (spec->value_type));
  }
}

/* GObject has no defaults of arrays: what a new element has. */
static void
print_numbers (GstElement *element, const gchar *name)
{
  GValue array = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (element), name, &array);
  g_print ("`<");
  for (guint i = 0; i < gst_value_array_get_size (&array); i++)
    g_print ("%s%g", i ? ", " : "", g_value_get_double (gst_value_array_get_value (&array, i)));
  g_print (">`");
  g_value_unset (&array);
}

static void
print_default (GstElement *element, GParamSpec *spec)
{
  const GValue *initial = g_param_spec_get_default_value (spec);
  gchar *text;

  if (!(spec->flags & G_PARAM_WRITABLE)) {
    g_print ("read-only");
    return;
  }
  if (spec->value_type == GST_TYPE_ARRAY) {
    print_numbers (element, spec->name);
    return;
  }
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    GEnumValue *value = g_enum_get_value (G_PARAM_SPEC_ENUM (spec)->enum_class, g_value_get_enum (initial));
    g_print ("`%s`", value ? value->value_nick : "");
    return;
  }
  if (G_VALUE_HOLDS_STRING (initial)) {
    if (g_value_get_string (initial))
      g_print ("`%s`", g_value_get_string (initial));
    return;
  }
  if (G_VALUE_HOLDS_DOUBLE (initial)) {
    g_print ("%g", g_value_get_double (initial));
    return;
  }
  if (G_VALUE_HOLDS_UINT64 (initial) && g_value_get_uint64 (initial) == G_MAXUINT64) {
    g_print ("none");
    return;
  }
  text = gst_value_serialize (initial);
  g_print ("%s", text ? text : "");
  g_free (text);
}

/* Not GStreamer's own base classes'. */
static gboolean
is_ours (const GParamSpec *spec)
{
  const gchar *owner = g_type_name (spec->owner_type);
  return g_str_has_prefix (owner, "GstStereo") || g_str_has_prefix (owner, "GstDepth");
}

/* Tables of stereomatch: what each is about, and its first property. */
static const struct
{
  const gchar *title, *first;
} groups[] = {
  { "Views and pairing", "packing" },
  { "What it tells", "active-backend" },
  { "What is matched, and how", "profile" },
  { "Aggregation", "window" },
  { "Paths", "p1" },
  { "Refinement", "refine-iterations" },
  { "What is rejected, filled and averaged", "consistency" },
  { "Output and cameras", "output" },
  { "Where it is computed", "backend" },
};
/* Those of stereomatch that most users set. */
static const gchar *const matter[] = { "num-disparities", "profile", "method", "fill", "output", NULL };

/* The heading of the table that begins with @name; FALSE: the table at hand goes on. */
static gboolean
print_group (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++) {
    if (!strcmp (groups[i].first, name)) {
      g_print ("\n### %s\n", groups[i].title);
      return TRUE;
    }
  }
  return FALSE;
}

static void
print_property (GstElement *element, GParamSpec *spec, gboolean marked)
{
  g_print (marked ? "| **`%s`** | " : "| `%s` | ", spec->name);
  print_default (element, spec);
  g_print (" | ");
  print_range (spec);
  g_print (" | ");
  if (spec->flags & G_PARAM_WRITABLE && !(spec->flags & GST_PARAM_MUTABLE_PLAYING))
    g_print ("(before playing) ");
  print_cell (g_param_spec_get_blurb (spec));
  g_print (" |\n");
}

static void
print_properties (GstElement *element, gboolean grouped)
{
  guint count, found = 0;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);
  gboolean any = FALSE;

  if (grouped)
    g_print ("\nMost users set some of the five in bold, and nothing else.\n");
  for (guint i = 0; i < count; i++) {
    if (!is_ours (specs[i]))
      continue;
    gboolean begins = grouped && print_group (specs[i]->name);
    if (begins || !any)
      g_print ("\n| property | default | values | meaning |\n|---|---|---|---|\n");
    any = TRUE;
    found += begins;
    print_property (element, specs[i], grouped && g_strv_contains (matter, specs[i]->name));
  }
  if (grouped && found != G_N_ELEMENTS (groups))
    g_error ("a property that begins a table is not there");
  g_free (specs);
}

/* ---- elements ----------------------------------------------------------------------------------------- */

static gint
by_feature (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (GST_OBJECT_NAME (a), GST_OBJECT_NAME (b));
}

static void
print_element (GstElementFactory *factory)
{
  GstElement *element = gst_element_factory_create (factory, NULL);

  g_print ("\n## %s\n\n%s.\n\n", GST_OBJECT_NAME (factory),
      gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_DESCRIPTION));
  print_pads (factory);
  if (element)
    print_properties (element, !strcmp (GST_OBJECT_NAME (factory), "stereomatch"));
  gst_clear_object (&element);
}

static int
print_fields (const gchar *pipeline)
{
  GError *error = NULL;
  GstElement *made = gst_parse_launch_full (pipeline, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error), *asked;
  GstStructure *stats;
  GstMessage *end;
  gboolean ended;

  if (!made) {
    g_printerr ("%s: %s\n", pipeline, error->message);
    return EXIT_FAILURE;
  }
  gst_element_set_state (made, GST_STATE_PLAYING);
  end = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (made), GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  ended = GST_MESSAGE_TYPE (end) == GST_MESSAGE_EOS;
  if (!ended)
    g_printerr ("%" GST_PTR_FORMAT "\n", end);
  asked = gst_bin_get_by_name (GST_BIN (made), "asked");
  g_object_get (asked, "stats", &stats, NULL);
  for (gint i = 0; i < gst_structure_n_fields (stats); i++)
    g_print ("%s\n", gst_structure_nth_field_name (stats, (guint) i));
  gst_element_set_state (made, GST_STATE_NULL);
  gst_structure_free (stats);
  gst_message_unref (end);
  gst_object_unref (asked);
  gst_object_unref (made);
  return ended ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main (int argc, char **argv)
{
  GList *features;

  gst_init (&argc, &argv);
  if (argc == 3 && !strcmp (argv[1], "--stats"))
    return print_fields (argv[2]);
  features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "stereovision");
  if (!features) {
    g_printerr ("The plugin was not found: set GST_PLUGIN_PATH to the folder of libgststereovision.so.\n");
    return EXIT_FAILURE;
  }
  features = g_list_concat (features, gst_registry_get_feature_list_by_plugin (gst_registry_get (), "stereooverlay"));
  features = g_list_sort (features, by_feature);
  g_print (
      "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
      "<!-- Made by `stereo-reference > docs/elements.md` from the plugin itself; a test compares. -->\n"
      "# Elements\n"
      "\n"
      "Pads, caps (frames in system memory, of any size and frame rate) and properties of every element. Length and disparity "
      "are in pixels, depth and\n"
      "baseline in millimetres, times in nanoseconds, unless the text says otherwise; \"own\" "
      "values are replaced by what\n"
      "the profile and the method call for (`settings` shows what is in force). Properties can change while a stream runs, but\n"
      "where \"before playing\" stands. Numbers are of type int where no other type stands. The values of an enumeration\n"
      "count from 0; a number in brackets differs.\n"
      "\n"
      "This page is also the record of the interface: what stands here does not change before version 2, but by additions.\n");
  for (GList *l = features; l; l = l->next) {
    if (GST_IS_ELEMENT_FACTORY (l->data))
      print_element (l->data);
  }
  gst_plugin_feature_list_free (features);
  return EXIT_SUCCESS;
}
