/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text files of one key a line. KITTI's: "key: numbers"; in the odometry sets also rows of 12 numbers without a key.
 * Middlebury's: "key=number", or "key=[number …; number …]".
 */
#include "gst/rectify/calibration/private.h"

#include <string.h>

#define MAX_ROWS 4 /* P0 .. P3; more rows are poses, not cameras */

/* The start of the next line that is not blank, and its length without the end; NULL: there is none. */
static const gchar *
next_line (const gchar *at, gsize *length)
{
  at += strspn (at, " \t\r\n");
  *length = strcspn (at, "\r\n");
  return *at ? at : NULL;
}

static gboolean
is_row (const gchar *line)
{
  return g_ascii_isdigit (line[0]) || line[0] == '+' || line[0] == '.' ||
      (line[0] == '-' && (g_ascii_isdigit (line[1]) || line[1] == '.'));
}

gboolean
gst_stereo_keys_are_lines (const gchar *text)
{
  static const gchar *const marks[] = { "P0:", "P1:", "P2:", "P3:", "P_rect_", "K_0", "S_0", "S_rect_" };
  gsize length;
  gboolean first = TRUE;

  for (const gchar *line = text; (line = next_line (line, &length)); line += length, first = FALSE) {
    const gchar *colon = memchr (line, ':', length);
    if (first && is_row (line))
      return TRUE;
    for (guint k = 0; colon && k < G_N_ELEMENTS (marks); k++)
      /* in YAML a list or a matrix would follow, not a number */
      if (g_str_has_prefix (line, marks[k]) && is_row (colon + 1 + strspn (colon + 1, " \t")))
        return TRUE;
  }
  return FALSE;
}

gboolean
gst_stereo_keys_read_lines (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  gsize length;
  guint number = 0;

  for (const gchar *line = text; (line = next_line (line, &length)); line += length) {
    const gchar *colon = memchr (line, ':', length);
    if (*line == '#')
      continue;
    if (!colon && !is_row (line))
      return gst_stereo_keys_fail (keys, message, "a line starts neither with a key (\"P0: …\") nor with a number.");
    if (!colon && number == MAX_ROWS)
      return gst_stereo_keys_fail (keys, message,
          "it has more than %d rows of numbers: a calibration has one row of 12 for each camera. "
          "Is this a file of poses?",
          MAX_ROWS);
    g_autofree gchar *key = colon ? g_strndup (line, (gsize) (colon - line)) : g_strdup_printf ("P%u", number++);
    gst_stereo_value_append (gst_stereo_keys_add (keys, g_strstrip (key)), colon ? colon + 1 : line,
        colon ? (gssize) (line + length - colon - 1) : (gssize) length);
  }
  return TRUE;
}

gboolean
gst_stereo_keys_are_assignments (const gchar *text)
{
  gsize length;

  for (const gchar *line = text; (line = next_line (line, &length)); line += length)
    if (g_str_has_prefix (line, "cam0") || g_str_has_prefix (line, "cam1"))
      return line[4 + strspn (line + 4, " \t")] == '=';
  return FALSE;
}

gboolean
gst_stereo_keys_read_assignments (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  gsize length;

  for (const gchar *line = text; (line = next_line (line, &length)); line += length) {
    const gchar *sign = memchr (line, '=', length);
    if (*line == '#')
      continue;
    if (!sign)
      return gst_stereo_keys_fail (keys, message, "a line has no '=' (\"baseline=193.001\").");
    g_autofree gchar *key = g_strndup (line, (gsize) (sign - line));
    g_autofree gchar *value = g_strndup (sign + 1, (gsize) (line + length - sign - 1));
    /* rows need no marks: the shape of a matrix is known from its key */
    gst_stereo_value_append (
        gst_stereo_keys_add (keys, g_strstrip (key)), g_strstrip (g_strdelimit (value, "[];,", ' ')), -1);
  }
  return TRUE;
}
