/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/params.h"

/* "refine-mode" -> "GstStereoMatchRefineMode" */
static gchar *
type_name (const gchar *name)
{
  GString *type = g_string_new ("GstStereoMatch");
  gboolean start = TRUE;

  for (; *name; name++) {
    if (*name != '-')
      g_string_append_c (type, start ? g_ascii_toupper (*name) : *name);
    start = *name == '-';
  }
  return g_string_free (type, FALSE);
}

static const GEnumValue *
copy_choices (const StereoChoice *choices)
{
  guint count = 0;

  while (choices[count].name)
    count++;
  GEnumValue *values = g_new0 (GEnumValue, count + 1);
  for (guint i = 0; i < count; i++)
    values[i] = (GEnumValue){ choices[i].value, choices[i].text, choices[i].name };
  return values;
}

static void
note (const GstStereoProperty *row, gpointer member)
{
  const StereoParamInfo *info = stereo_param_find (row->name);

  stereo_param_note ((StereoParams *) ((guint8 *) member - info->offset), info);
}

GstStereoProperty *
gst_stereo_params_rows (const gchar *const *names, gsize offset, GParamFlags flags)
{
  static const GstStereoPropertyKind kinds[] = { [STEREO_PARAM_INT] = GST_STEREO_INT,
    [STEREO_PARAM_DOUBLE] = GST_STEREO_DOUBLE,
    [STEREO_PARAM_ENUM] = GST_STEREO_ENUM,
    [STEREO_PARAM_SIZE] = GST_STEREO_UINT64 };
  GArray *rows = g_array_new (TRUE, FALSE, sizeof (GstStereoProperty));
  const StereoParamInfo *info;

  for (gint i = 0; (info = stereo_param_info (i)); i++) {
    if (names && !g_strv_contains (names, info->name))
      continue;
    GstStereoProperty row = { .name = info->name,
      .blurb = info->text,
      .kind = kinds[info->type],
      .flags = flags,
      .offset = offset + info->offset,
      .min = info->min,
      .max = info->max,
      .initial = info->initial,
      .type = info->choices ? type_name (info->name) : NULL,
      .choices = info->choices ? copy_choices (info->choices) : NULL,
      .note = note };
    g_array_append_val (rows, row);
  }
  return (GstStereoProperty *) g_array_free (rows, FALSE);
}

GstFlowReturn
gst_stereo_post_error (GstElement *element, const StereoError *error)
{
  gboolean unusable = error->status == STEREO_ERROR_PARAMETER || error->status == STEREO_ERROR_SIZE;

  if (error->status == STEREO_ERROR_PARAMETER)
    GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  else if (error->status == STEREO_ERROR_SIZE)
    GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("%s", error->message), (NULL));
  else if (error->status == STEREO_ERROR_MEMORY)
    GST_ELEMENT_ERROR (element, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else if (error->status == STEREO_ERROR_NO_DEVICE)
    GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR (element, LIBRARY, FAILED, ("%s", error->message), (NULL));
  return unusable ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}
