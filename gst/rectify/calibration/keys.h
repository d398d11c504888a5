/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of a calibration file by key, read from YAML or from OpenCV's XML. */
#ifndef GST_STEREO_CALIBRATION_KEYS_H
#define GST_STEREO_CALIBRATION_KEYS_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *name;        /* of the file, or files, for messages */
  GHashTable *values; /* A key in the mapping of a key is "outer.inner", but the data of a matrix have the key of the matrix.
                         * Values are texts, with blanks between the elements of a list. */
  gboolean many_commas; /* the text has commas as in 535,739 */
} GstStereoKeys;

GstStereoKeys *gst_stereo_keys_new (const gchar *name);
void gst_stereo_keys_free (GstStereoKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoKeys, gst_stereo_keys_free)
/* @text is UTF-8. FALSE and a sentence. */
gboolean gst_stereo_keys_read (GstStereoKeys *keys, const gchar *text, gchar **message);
/* Sets @message, which may be NULL, to a sentence that starts with the name of the file; returns FALSE. */
gboolean gst_stereo_keys_fail (GstStereoKeys *keys, gchar **message, const gchar *format, ...) G_GNUC_PRINTF (3, 4);
/* The start of a text from a file, which may be long and of any bytes, for messages; g_free. */
gchar *gst_stereo_keys_shorten (const gchar *text);

/* For messages: how commas in numbers come into a file, and what to do. */
#define GST_STEREO_DECIMAL_COMMAS \
  " If its numbers have decimal commas (535,739), write them with decimal points (535.739): a comma divides two values."

G_END_DECLS

#endif
