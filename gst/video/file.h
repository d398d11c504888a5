/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that properties name, under one set of rules. A file is a regular file, or a link to one: nothing waits for the other
 * end of a FIFO, and no device is opened. Files are read up to a limit. A file is written beside the old one, which it then
 * replaces; where that fails, the old file stays as it was and nothing else remains.
 */
#ifndef GST_STEREO_FILE_H
#define GST_STEREO_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* Of a property. */
typedef struct
{
  const gchar *property;
  const gchar *instead; /* for messages, behind "set PROPERTY to": the kind of file */
  gsize limit;          /* bytes that are read at most */
} GstStereoFileRules;

/* The whole file, with a zero behind it that @size does not count; at least a byte. NULL and a sentence in @message, which
 * may be NULL; g_free() both. */
gchar *gst_stereo_file_read (const GstStereoFileRules *rules, const gchar *name, gsize *size, gchar **message);
/* Whether gst_stereo_file_read() could open it, for a file that an element reads. FALSE and a sentence in @message
 * (g_free). */
gboolean gst_stereo_file_check (const GstStereoFileRules *rules, const gchar *name, gchar **message);
/* Through links, with the permissions of the file that it replaces. It has reached the disk when this returns. FALSE and a
 * sentence in @message (g_free). */
gboolean gst_stereo_file_write (
    const GstStereoFileRules *rules, const gchar *name, const gchar *data, gsize size, gchar **message);
/* Whether both names lead to one file, which is there. */
gboolean gst_stereo_file_is_same (const gchar *one, const gchar *other);

G_END_DECLS

#endif
