/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/presets.h"

#include "stereo/stereo.h"

static gboolean (*load_one_by_one) (GstPreset *preset, const gchar *name);

/* Whether a property describes the rig, the reader's expectations or the machine. Presets do not save such properties: a
 * preset made with one camera on one machine would otherwise break a pipeline with another. */
static gboolean
is_of_the_place (const gchar *name)
{
  static const gchar *const names[] = { "focal-length", "baseline", "principal-offset", "output", "disparity-scale",
    "depth-unit", "backend", "cuda-device-id", "threads", "scratch-layers", "memory-limit", NULL };

  return g_strv_contains (names, name);
}

static gchar **
get_property_names (GstPreset *preset)
{
  GPtrArray *names = g_ptr_array_new ();
  const StereoParamInfo *info;

  for (gint row = 0; (info = stereo_param_info (row)); row++)
    if (!is_of_the_place (info->name))
      g_ptr_array_add (names, g_strdup (info->name));
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (names, FALSE);
}

/* One by one, values of the old and of the new preset could contradict each other for a moment. */
static gboolean
load_together (GstPreset *preset, const gchar *name)
{
  g_object_freeze_notify (G_OBJECT (preset));
  gboolean loaded = load_one_by_one (preset, name);
  g_object_thaw_notify (G_OBJECT (preset));
  return loaded;
}

void
gst_stereo_match_presets_init (gpointer interface, gpointer data)
{
  GstPresetInterface *presets = interface;

  load_one_by_one = presets->load_preset;
  presets->load_preset = load_together;
  presets->get_property_names = get_property_names;
}
