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

/* ---- pads --------------------------------------------------------------------------------------------- */

static void
add_value (GString *text, const GValue *value)
{
  if (GST_VALUE_HOLDS_LIST (value)) {
    for (guint i = 0; i < gst_value_list_get_size (value); i++) {
      g_string_append (text, i ? ", " : "");
      add_value (text, gst_value_list_get_value (value, i));
    }
  } else {
    g_string_append (text, g_value_get_string (value));
  }
}

/* One list of formats, and what else is not any size and any frame rate. */
static gchar *
formats_of (GstCaps *caps)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_caps_get_structure (caps, i);
    const GValue *formats = gst_structure_get_value (structure, "format");
    const GValue *multiview = gst_structure_get_value (structure, "multiview-mode");

    if (!gst_caps_features_is_equal (gst_caps_get_features (caps, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    g_string_append (text, text->len ? ", " : "");
    if (formats)
      add_value (text, formats);
    else
      g_string_append_printf (text, "`%s`", gst_structure_get_name (structure));
    if (multiview) {
      g_string_append (text, "; multiview-mode ");
      add_value (text, multiview);
    }
  }
  return g_string_free (text, FALSE);
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
  static const gchar *const presences[] = { "", " sometimes", " on request" };
  GList *templates = g_list_sort (
      g_list_copy ((GList *) gst_element_factory_get_static_pad_templates (factory)), by_name);

  for (GList *l = templates; l; l = l->next) {
    GstStaticPadTemplate *template = l->data;
    GstCaps *caps = gst_static_pad_template_get_caps (template);
    gchar *formats = formats_of (caps);
    GstStaticPadTemplate *above = l->prev ? l->prev->data : NULL;

    g_print ("- `%s`, %s%s: ", template->name_template, template->direction == GST_PAD_SRC ? "out" : "in",
        presences[template->presence]);
    if (above && !g_strcmp0 (above->static_caps.string, template->static_caps.string))
      g_print ("as `%s`\n", above->name_template);
    else
      g_print ("%s\n", formats);
    g_free (formats);
    gst_caps_unref (caps);
  }
  g_list_free (templates);
}

/* ---- properties --------------------------------------------------------------------------------------- */

static gchar *
range_of (GParamSpec *spec)
{
  if (G_IS_PARAM_SPEC_INT (spec)) {
    GParamSpecInt *s = G_PARAM_SPEC_INT (spec);
    return g_strdup_printf ("%d..%d", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    GParamSpecUInt *s = G_PARAM_SPEC_UINT (spec);
    return g_strdup_printf ("%u..%u uint", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    GParamSpecInt64 *s = G_PARAM_SPEC_INT64 (spec);
    return g_strdup_printf ("%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT " int64", s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    GParamSpecUInt64 *s = G_PARAM_SPEC_UINT64 (spec);
    return g_strdup_printf (s->maximum == G_MAXUINT64 ? "%" G_GUINT64_FORMAT ".. uint64" :
                                                        "%" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT " uint64",
        s->minimum, s->maximum);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    GParamSpecDouble *s = G_PARAM_SPEC_DOUBLE (spec);
    gboolean any = s->maximum == G_MAXDOUBLE;
    return any && s->minimum == -G_MAXDOUBLE ?
        g_strdup ("double") :
        g_strdup_printf (any ? "%g.. double" : "%g..%g double", s->minimum, s->maximum);
  }
  return g_strdup (G_IS_PARAM_SPEC_ENUM (spec) || G_IS_PARAM_SPEC_BOOLEAN (spec) ? "" : g_type_name (spec->value_type));
}

/* GObject has no defaults of arrays: what a new element has. */
static gchar *
numbers_of (GstElement *element, const gchar *name)
{
  GString *text = g_string_new ("`<");
  GValue array = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (element), name, &array);
  for (guint i = 0; i < gst_value_array_get_size (&array); i++)
    g_string_append_printf (text, "%s%g", i ? "," : "", g_value_get_double (gst_value_array_get_value (&array, i)));
  g_value_unset (&array);
  return g_string_free (g_string_append (text, ">`"), FALSE);
}

static gchar *
default_of (GstElement *element, GParamSpec *spec)
{
  const GValue *initial = g_param_spec_get_default_value (spec);

  if (!(spec->flags & G_PARAM_WRITABLE))
    return g_strdup ("read-only");
  if (spec->value_type == GST_TYPE_ARRAY)
    return numbers_of (element, spec->name);
  if (G_IS_PARAM_SPEC_ENUM (spec))
    return g_strdup_printf (
        "`%s`", g_enum_get_value (G_PARAM_SPEC_ENUM (spec)->enum_class, g_value_get_enum (initial))->value_nick);
  if (G_VALUE_HOLDS_STRING (initial))
    return g_value_get_string (initial) ? g_strdup_printf ("`%s`", g_value_get_string (initial)) : g_strdup ("NULL");
  if (G_VALUE_HOLDS_DOUBLE (initial))
    return g_strdup_printf ("%g", g_value_get_double (initial));
  if (G_VALUE_HOLDS_UINT64 (initial) && g_value_get_uint64 (initial) == G_MAXUINT64)
    return g_strdup ("none");
  return gst_value_serialize (initial);
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
      g_print ("%s\n### %s\n", i ? "\n" : "", groups[i].title);
      return TRUE;
    }
  }
  return FALSE;
}

/* Which element has printed a property with its text: an equal one is named, not repeated. */
static GHashTable *printed;

/* What is said of a property after its name. */
static gchar *
text_of (GstElement *element, GParamSpec *spec)
{
  gchar *initial = default_of (element, spec), *range = range_of (spec);
  gboolean fixed = spec->flags & G_PARAM_WRITABLE && !(spec->flags & GST_PARAM_MUTABLE_PLAYING);
  GString *text = g_string_new (NULL);

  g_string_printf (text, "(%s%s%s%s): %s", initial, *range ? ", " : "", range, fixed ? ", before playing" : "",
      g_param_spec_get_blurb (spec));
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    for (guint i = 0; i < klass->n_values; i++) {
      g_string_append_printf (text, "\n  - `%s`", klass->values[i].value_nick);
      if (klass->values[i].value != (gint) i)
        g_string_append_printf (text, " (%d)", klass->values[i].value);
      g_string_append_printf (text, ": %s", klass->values[i].value_name);
    }
  }
  g_free (initial);
  g_free (range);
  return g_string_free (text, FALSE);
}

static void
print_properties (GstElement *element, const gchar *factory)
{
  gboolean grouped = !strcmp (factory, "stereomatch");
  guint count, found = 0;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);
  const gchar *same_as = NULL;

  g_print (grouped ? "\nProperties: most users set some of the five in bold, and nothing else.\n" : "\nProperties:\n");
  for (guint i = 0; i < count; i++) {
    if (!is_ours (specs[i]))
      continue;
    const gchar *name = specs[i]->name;
    gboolean bold = grouped && g_strv_contains (matter, name);
    gchar *text = text_of (element, specs[i]), *key = g_strconcat (name, text, NULL);
    const gchar *before = g_hash_table_lookup (printed, key);

    found += grouped && print_group (name);
    if (before && same_as && !strcmp (same_as, before))
      g_print (", `%s`", name);
    else if (before)
      g_print ("\n- As of %s: `%s`", before, name);
    else
      g_print (bold ? "\n- **`%s`** %s" : "\n- `%s` %s", name, text);
    same_as = before;
    if (!before)
      g_hash_table_insert (printed, g_strdup (key), g_strdup (factory));
    g_free (text);
    g_free (key);
  }
  g_print ("\n");
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
    print_properties (element, GST_OBJECT_NAME (factory));
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
  printed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
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
      "Pads with the formats of `video/x-raw` that they take, of any size and frame rate (in system memory), and properties with\n"
      "(default, range and type: int where none stands). Lengths in pictures and disparities are in pixels, distances in millimetres,\n"
      "times in nanoseconds, unless the text says otherwise. \"Own\" values are replaced by those of profile and method: `settings`\n"
      "shows what is in force. Properties can change while a stream runs, but where \"before playing\" stands. Values of an\n"
      "enumeration count from 0; a number in brackets differs.\n"
      "\n"
      "This page is also the record of the interface: what stands here does not change before version 2, but by additions.\n");
  for (GList *l = features; l; l = l->next) {
    if (GST_IS_ELEMENT_FACTORY (l->data))
      print_element (l->data);
  }
  gst_plugin_feature_list_free (features);
  g_hash_table_destroy (printed);
  return EXIT_SUCCESS;
}
