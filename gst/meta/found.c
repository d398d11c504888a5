/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/meta/found.h"

#include <math.h>

static gboolean
set_field (GQuark field, const GValue *value, gpointer structure)
{
  gst_structure_set_value (structure, g_quark_to_string (field), value);
  return TRUE;
}

void
gst_stereo_found_attach (GstBuffer *buffer, const gchar *name, const GstStructure *found)
{
  gst_structure_foreach (found, set_field, gst_custom_meta_get_structure (gst_buffer_add_custom_meta (buffer, name)));
}

const GstStructure *
gst_stereo_found_get (GstBuffer *buffer, const gchar *name)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, name);

  return meta ? gst_custom_meta_get_structure (meta) : NULL;
}

/* ---- the nearest surface ------------------------------------------------------------------ */

static const gchar *const states[] = { "unknown", "near", "clear" };

const gchar *
gst_stereo_nearest_state_name (GstStereoNearestState state)
{
  return states[state];
}

/* Whether a part of a side of @size pixels lies inside it. */
static gboolean
is_inside (gint from, gint length, gint size)
{
  return from >= 0 && length >= 1 && from <= size - length;
}

/* What is wrong with the numbers: any program may put anything there. NULL: nothing. */
static gchar *
problem_of (const GstStereoFoundNearest *nearest, gint width, gint height)
{
  if (!(nearest->coverage >= 0 && nearest->coverage <= 1))
    return g_strdup_printf ("coverage is %g, and its range is 0 to 1", nearest->coverage);
  if (!(nearest->warn_distance >= 0))
    return g_strdup_printf ("warn-distance is %g, which is no distance", nearest->warn_distance);
  if (!is_inside (nearest->region_x, nearest->region_width, width) ||
      !is_inside (nearest->region_y, nearest->region_height, height))
    return g_strdup_printf ("its region of %dx%d pixels at %d, %d does not lie in a picture of %dx%d",
        nearest->region_width, nearest->region_height, nearest->region_x, nearest->region_y, width, height);
  if (!nearest->valid)
    return NULL;
  if (!is_inside (nearest->x, 1, width) || !is_inside (nearest->y, 1, height))
    return g_strdup_printf ("%d, %d does not lie in a picture of %dx%d", nearest->x, nearest->y, width, height);
  if (nearest->distance < 0)
    return g_strdup_printf ("distance is %g", nearest->distance);
  return NULL;
}

gboolean
gst_stereo_found_nearest_read (
    GstStereoFoundNearest *nearest, GstBuffer *buffer, gint width, gint height, gchar **problem)
{
  const GstStructure *found = gst_stereo_found_get (buffer, GST_STEREO_NEAREST_META);
  const gchar *state = found ? gst_structure_get_string (found, "state") : NULL;
  guint i = 0;

  *problem = NULL;
  *nearest = (GstStereoFoundNearest){ .distance = NAN, .disparity = NAN };
  if (!found)
    return FALSE;
  while (i < G_N_ELEMENTS (states) && g_strcmp0 (state, states[i]))
    i++;
  if (i == G_N_ELEMENTS (states)) {
    *problem = g_strdup_printf ("state is %s, which there is not", state ? state : "missing");
    return FALSE;
  }
  nearest->state = (GstStereoNearestState) i;
  nearest->reason = gst_structure_get_string (found, "reason");
  gst_structure_get_double (found, "distance", &nearest->distance);
  gst_structure_get_double (found, "disparity", &nearest->disparity);
  gst_structure_get (found, "x", G_TYPE_INT, &nearest->x, "y", G_TYPE_INT, &nearest->y, NULL);
  if (!gst_structure_get (found, "warning", G_TYPE_BOOLEAN, &nearest->warning, "valid", G_TYPE_BOOLEAN, &nearest->valid,
          "coverage", G_TYPE_DOUBLE, &nearest->coverage, "warn-distance", G_TYPE_DOUBLE, &nearest->warn_distance,
          "region-x", G_TYPE_INT, &nearest->region_x, "region-y", G_TYPE_INT, &nearest->region_y, "region-width",
          G_TYPE_INT, &nearest->region_width, "region-height", G_TYPE_INT, &nearest->region_height, NULL))
    *problem = g_strdup ("fields are missing, or have other types");
  else
    *problem = problem_of (nearest, width, height);
  return *problem == NULL;
}
