/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files are read in two steps. A reader makes a table of keys and texts from YAML, XML or lines. A format then
 * searches its keys in the table. Every function that can fail sets a message (g_free it) that starts
 * with the name of the file.
 */
#ifndef GST_STEREO_CALIBRATION_PRIVATE_H
#define GST_STEREO_CALIBRATION_PRIVATE_H

#include "gst/rectify/calibration/calibration.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *rows, *cols; /* of a matrix, as the file has them; NULL: the file does not have them */
  GString *text;      /* all values, blanks between them */
} GstStereoValue;

/* The values of a file, or of a pair of files, by key. */
typedef struct _GstStereoKeys GstStereoKeys;

/* ---- keys.c ---- */
/* @name: of the file, for messages. */
GstStereoKeys *gst_stereo_keys_new (const gchar *name);
void gst_stereo_keys_free (GstStereoKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoKeys, gst_stereo_keys_free)
const gchar *gst_stereo_keys_name (const GstStereoKeys *keys);
/* Adds an empty value; it replaces an earlier one of that key. */
GstStereoValue *gst_stereo_keys_add (GstStereoKeys *keys, const gchar *key);
void gst_stereo_value_append (GstStereoValue *value, const gchar *text, gssize length);
/* Moves the values that @keys has not from @from, and drops the others: @from is empty then. */
void gst_stereo_keys_merge (GstStereoKeys *keys, GstStereoKeys *from);
gboolean gst_stereo_keys_has (GstStereoKeys *keys, const gchar *key);
/* NULL: there is no such key. */
const gchar *gst_stereo_keys_text (GstStereoKeys *keys, const gchar *key);
/* The names of the first keys, for messages; g_free. */
gchar *gst_stereo_keys_list (GstStereoKeys *keys);
/* The start of a text from a file, which may be long and of any bytes, for messages; g_free. */
gchar *gst_stereo_keys_shorten (const gchar *text);
/* How many numbers a key has, of which the first @most are written; -1 and a message where it has something else. */
gint gst_stereo_keys_numbers (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message);
/* The same where rows or cols have to be 1, if the file has them. */
gint gst_stereo_keys_vector (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message);
/* Exactly rows x cols; vectors may lie or stand. */
gboolean gst_stereo_keys_matrix (
    GstStereoKeys *keys, const gchar *key, gint rows, gint cols, gdouble *numbers, gchar **message);
gboolean gst_stereo_keys_fail (GstStereoKeys *keys, gchar **message, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* ---- readers: yaml.c, xml.c, lines.c. @text is UTF-8. ---- */
#define GST_STEREO_KEYS_DEPTH 32 /* nested deeper than this is no calibration */
gboolean gst_stereo_keys_read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message);
gboolean gst_stereo_keys_read_xml (GstStereoKeys *keys, const gchar *text, gchar **message);
/* KITTI: "key: numbers" a line, or rows of 12 numbers that become P0, P1, … */
gboolean gst_stereo_keys_are_lines (const gchar *text);
gboolean gst_stereo_keys_read_lines (GstStereoKeys *keys, const gchar *text, gchar **message);
/* Middlebury: "key=number" or "key=[row; row]" a line */
gboolean gst_stereo_keys_are_assignments (const gchar *text);
gboolean gst_stereo_keys_read_assignments (GstStereoKeys *keys, const gchar *text, gchar **message);

/* ---- formats.c. @unit_mm: millimetres of a unit of length, > 0. ---- */
gboolean gst_stereo_calibration_from_opencv (
    StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message);
gboolean gst_stereo_calibration_from_ros (
    StereoCalibration *calibration, GstStereoKeys *left, GstStereoKeys *right, gdouble unit_mm, gchar **message);
gboolean gst_stereo_calibration_from_kitti (
    StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message);
gboolean gst_stereo_calibration_from_middlebury (
    StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message);

G_END_DECLS

#endif
