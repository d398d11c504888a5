/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * INI files: "[section]", then "key=number" a line (ZED), or a heading and lines of numbers below it (ROS: the file is
 * called ost.txt, or *.ini).
 */
#include "gst/rectify/calibration/private.h"

#include <string.h>

#define BLANKS " \t\r\n"

/* The next line with a text, without blanks and comments, to g_free; NULL: there is none. */
static gchar *
next_line (const gchar **at)
{
  while (**at) {
    gsize length = strcspn (*at, "\r\n");
    gchar *line = g_strstrip (g_strndup (*at, length));
    *at += length;
    *at += strspn (*at, "\r\n");
    if (*line && *line != '#' && *line != ';')
      return line;
    g_free (line);
  }
  return NULL;
}

static gboolean
is_section (const gchar *line)
{
  return line[0] == '[' && line[strlen (line) - 1] == ']';
}

gboolean
gst_stereo_keys_are_sections (const gchar *text)
{
  g_autofree gchar *line = next_line (&text);
  /* a list of YAML or JSON looks nearly the same */

  return line && is_section (line) && (g_ascii_isalpha (line[1]) || line[1] == '_') && !strchr (line, ',');
}

/* ROS' files have a section for each camera, whose name is anybody's: this heading tells such a section. */
static guint
count_cameras (const gchar *text)
{
  guint count = 0;
  gchar *line;

  while ((line = next_line (&text))) {
    count += g_ascii_strcasecmp (line, "camera matrix") == 0;
    g_free (line);
  }
  return count;
}

/* What keys of a section of ROS start with. Where a file has two cameras, the name of the section says which one it is, or
 * else the order: @number is 1 for the first. */
static const gchar *
prefix_of (const gchar *section, guint cameras, guint number)
{
  gboolean left = strstr (section, "left") != NULL, right = strstr (section, "right") != NULL;

  if (g_str_equal (section, "image"))
    return "image.";
  if (cameras < 2)
    return "";
  return (left != right ? right : number > 1) ? "right." : "left.";
}

static gboolean
starts_with_number (const gchar *line)
{
  gchar *end;

  g_ascii_strtod (line, &end);
  return end != line && (*end == 0 || strchr (BLANKS, *end));
}

static void
read_assignment (GstStereoKeys *keys, const gchar *section, const gchar *line, const gchar *sign)
{
  g_autofree gchar *name = g_strstrip (g_strndup (line, (gsize) (sign - line)));
  g_autofree gchar *key = g_strconcat (section, ".", name, NULL), *value = g_strstrip (g_strdup (sign + 1));

  gst_stereo_value_append (gst_stereo_keys_add (keys, key), value, -1);
}

static gboolean
fail_nameless (GstStereoKeys *keys, const gchar *section, const gchar *line, gchar **message)
{
  g_autofree gchar *part = gst_stereo_keys_shorten (section), *shown = gst_stereo_keys_shorten (line);

  gst_stereo_keys_fail (keys, message, "section [%s] has numbers without a name: '%s'.", part, shown);
  return FALSE;
}

gboolean
gst_stereo_keys_read_sections (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  gchar *small = g_ascii_strdown (text, -1), *section = g_strdup (""), *line;
  guint cameras = count_cameras (text), number = 0;
  const gchar *at = small;
  GstStereoValue *value = NULL;
  gboolean ok = TRUE;

  while (ok && (line = next_line (&at))) {
    const gchar *sign = strchr (line, '=');
    if (is_section (line)) {
      g_free (section);
      section = g_strndup (line + 1, strlen (line) - 2);
      number += !g_str_equal (section, "image") && !g_str_equal (section, "externals");
      value = NULL;
    } else if (sign) {
      read_assignment (keys, section, line, sign);
      value = NULL; /* this may have replaced it */
    } else if (!starts_with_number (line)) {
      g_autofree gchar *key = g_strconcat (prefix_of (section, cameras, number), line, NULL);
      value = gst_stereo_keys_add (keys, key);
    } else if (value) {
      gst_stereo_value_append (value, line, -1);
    } else {
      ok = fail_nameless (keys, section, line, message);
    }
    g_free (line);
  }
  g_free (section);
  g_free (small);
  return ok;
}
