/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files, and finds out how they are written. */
#include "gst/rectify/calibration/private.h"

#include <string.h>

#include "gst/video/file.h"

#define MAX_FILE (4 << 20) /* bytes; calibrations have a few thousand */

static gboolean fail (gchar **message, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (gchar **message, const gchar *format, ...)
{
  va_list args;

  if (message) {
    va_start (args, format);
    *message = g_strdup_vprintf (format, args);
    va_end (args);
  }
  return FALSE;
}

/* ---- text ---- */

/* Without the byte order mark, and made valid UTF-8: comments and camera names may have any bytes. */
static gchar *
clean (const gchar *text)
{
  return g_utf8_make_valid (g_str_has_prefix (text, "\357\273\277") ? text + 3 : text, -1);
}

static gboolean
read_text (GstStereoKeys *keys, const gchar *text, GstStereoWriting *writing, gchar **message)
{
  g_autofree gchar *valid = clean (text);
  gsize blanks = strspn (valid, " \t\r\n");
  gboolean ok;

  *writing = GST_STEREO_MAPPING;
  if (valid[blanks] == 0)
    ok = gst_stereo_keys_fail (keys, message, "it is empty: a calibration of " GST_STEREO_FORMAT_NAMES " is needed.");
  else if (valid[blanks] == '<')
    ok = gst_stereo_keys_read_xml (keys, valid + blanks, message);
  else if (gst_stereo_keys_are_sections (valid)) {
    *writing = GST_STEREO_SECTIONS;
    ok = gst_stereo_keys_read_sections (keys, valid, message);
  } else if (gst_stereo_keys_are_assignments (valid)) {
    *writing = GST_STEREO_ASSIGNMENTS;
    ok = gst_stereo_keys_read_assignments (keys, valid, message);
  } else if (gst_stereo_keys_are_lines (valid)) {
    *writing = GST_STEREO_LINES;
    ok = gst_stereo_keys_read_lines (keys, valid, message);
  } else
    ok = gst_stereo_keys_read_yaml (keys, valid, message);
  return ok;
}

/* @name and @text: of two files, or of one, and NULL. */
static gboolean
parse (GstStereoCalibration *calibration, const gchar *const name[2], const gchar *const text[2],
    const GstStereoCalibrationOptions *options, gchar **message)
{
  g_autoptr (GstStereoKeys) first = gst_stereo_keys_new (name[0]);
  g_autoptr (GstStereoKeys) second = gst_stereo_keys_new (text[1] ? name[1] : "");
  GstStereoWriting writing[2];

  memset (calibration, 0, sizeof *calibration);
  return read_text (first, text[0], &writing[0], message) &&
      (!text[1] || read_text (second, text[1], &writing[1], message)) &&
      gst_stereo_formats_read (calibration, first, text[1] ? second : NULL, writing, options, message);
}

gboolean
gst_stereo_calibration_parse (GstStereoCalibration *calibration, const gchar *left, const gchar *right,
    const GstStereoCalibrationOptions *options, gchar **message)
{
  const gchar *const name[2] = { right ? "left calibration" : "calibration", "right calibration" };
  const gchar *const text[2] = { left, right };

  if (strlen (left) > MAX_FILE || (right && strlen (right) > MAX_FILE))
    return fail (message, "calibration: it has more than %d bytes, which is too long for a calibration.", MAX_FILE);
  return parse (calibration, name, text, options, message);
}

const StereoCalibration *
gst_stereo_calibration_for (const GstStereoCalibration *calibration, gint width, gint height)
{
  const StereoCalibration *fits = NULL;

  for (gint m = 0; m < calibration->count; m++) {
    const StereoCalibration *mode = &calibration->modes[m];
    if (mode->width == width && mode->height == height)
      return mode;
    if (!fits && (gint64) mode->width * height == (gint64) width * mode->height)
      fits = mode;
  }
  return fits ? fits : &calibration->modes[0];
}

/* ---- files ---- */

/* g_free() it; NULL on failure. */
static gchar *
read_file (const gchar *path, gchar **message)
{
  static const GstStereoFileRules rules = { "calibration",
    "a file with both cameras, or to two with a comma between them (ROS, EuRoC)", MAX_FILE };
  gsize length;
  gchar *text = gst_stereo_file_read (&rules, path, &length, message);

  if (text && strlen (text) != length) {
    fail (message,
        "%s: it is not a text file: it has zero bytes. Save the calibration as text, as cv::FileStorage does (YAML).",
        path);
    g_clear_pointer (&text, g_free);
  }
  return text;
}

/* The comma of "left,right". Names of files may have commas themselves: take the comma between two files that exist. */
static const gchar *
find_comma (const gchar *location)
{
  const gchar *first = strchr (location, ',');

  if (!first || g_file_test (location, G_FILE_TEST_EXISTS))
    return NULL;
  for (const gchar *comma = first; comma; comma = strchr (comma + 1, ',')) {
    gchar *left = g_strndup (location, (gsize) (comma - location));
    gboolean both = g_file_test (left, G_FILE_TEST_EXISTS) && g_file_test (comma + 1, G_FILE_TEST_EXISTS);
    g_free (left);
    if (both)
      return comma;
  }
  return first;
}

/* Of two files, or of one, and NULL; g_free() them. */
static void
split (const gchar *location, gchar *name[2])
{
  const gchar *comma = find_comma (location);

  name[0] = comma ? g_strstrip (g_strndup (location, (gsize) (comma - location))) : g_strdup (location);
  name[1] = comma ? g_strstrip (g_strdup (comma + 1)) : NULL;
}

gboolean
gst_stereo_calibration_reads (const gchar *location, const gchar *file)
{
  gboolean reads = FALSE;
  gchar *name[2];

  split (location, name);
  for (gint k = 0; k < 2; k++) {
    reads = reads || (name[k] && gst_stereo_file_is_same (name[k], file));
    g_free (name[k]);
  }
  return reads;
}

gboolean
gst_stereo_calibration_load (GstStereoCalibration *calibration, const gchar *location,
    const GstStereoCalibrationOptions *options, gchar **message)
{
  gchar *name[2], *text[2] = { NULL, NULL };
  gboolean ok;

  split (location, name);
  if (*name[0] == 0 || (name[1] && *name[1] == 0))
    ok = fail (
        message, "'%s': the name of a file is missing: give one file, or two with a comma between them.", location);
  else
    ok = (text[0] = read_file (name[0], message)) && (!name[1] || (text[1] = read_file (name[1], message))) &&
        parse (calibration, (const gchar *const *) name, (const gchar *const *) text, options, message);
  for (gint k = 0; k < 2; k++) {
    g_free (name[k]);
    g_free (text[k]);
  }
  return ok;
}
