/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that properties name: GLib's functions, for regular files (or links to them) of bounded size. Nothing waits for the
 * other end of a FIFO, and no device is opened. */
#ifndef GST_STEREO_FILE_H
#define GST_STEREO_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* The file of a property. */
typedef struct
{
  const gchar *property;
  const gchar *instead; /* for messages, behind "set PROPERTY to": the kind of file */
  gsize limit;          /* bytes that are read at most */
} GstStereoFileRules;

/* The whole file, with a zero behind it that @size does not count; at least a byte. NULL and a sentence in @message, which
 * may be NULL; g_free() both. */
gchar *gst_stereo_file_read (const GstStereoFileRules *rules, const gchar *name, gsize *size, gchar **message);
/* Through links, with the mode of the file that it replaces, which stays as it was where that fails. FALSE and a sentence in
 * @message (g_free). */
gboolean gst_stereo_file_write (
    const GstStereoFileRules *rules, const gchar *name, const gchar *data, gsize size, gchar **message);
/* Whether both names lead to one file, which is there. */
gboolean gst_stereo_file_is_same (const gchar *one, const gchar *other);

G_END_DECLS

#endif
