/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes @fault. Returns FALSE. */
static gboolean
refuse (const GstStereoFileRules *rules, const gchar *name, const gchar *done, gchar *fault, gchar **message)
{
  g_autofree gchar *shown = g_filename_display_name (name);

  if (message)
    *message = g_strdup_printf (
        "%s=%s cannot be %s: %s. Set %s to %s.", rules->property, shown, done, fault, rules->property, rules->instead);
  g_free (fault);
  return FALSE;
}

/* g_free(). NULL: @name leads to a regular file with @info. Opening anything else may wait for ever, or start something. */
static gchar *
fault_of_file (const gchar *name, struct stat *info)
{
  if (stat (name, info) != 0) {
    gint number = errno;
    if (number == ENOENT && lstat (name, info) == 0)
      return g_strdup ("it is a link to a file that does not exist");
    return g_strdup (g_strerror (number));
  }
  if (S_ISREG (info->st_mode))
    return NULL;
  return g_strdup_printf ("it is %s, and not a regular file",
      S_ISDIR (info->st_mode)      ? "a folder" :
          S_ISFIFO (info->st_mode) ? "a FIFO" :
          S_ISSOCK (info->st_mode) ? "a socket" :
                                     "a device");
}

gchar *
gst_stereo_file_read (const GstStereoFileRules *rules, const gchar *name, gsize *size, gchar **message)
{
  struct stat info;
  gchar *fault = fault_of_file (name, &info), *data = NULL;
  g_autoptr (GError) error = NULL;

  *size = fault ? 0 : (gsize) info.st_size;
  if (!fault && *size <= rules->limit && !g_file_get_contents (name, &data, size, &error))
    fault = g_strdup (error->message);
  else if (!fault && *size > rules->limit) /* files of /proc say that they have none */
    fault = g_strdup_printf ("it has %" G_GSIZE_FORMAT " bytes, and the limit is %" G_GSIZE_FORMAT, *size, rules->limit);
  else if (!fault && *size == 0)
    fault = g_strdup ("it is empty");
  if (!fault)
    return data;
  g_free (data);
  refuse (rules, name, "read", fault, message);
  return NULL;
}

gboolean
gst_stereo_file_write (
    const GstStereoFileRules *rules, const gchar *name, const gchar *data, gsize size, gchar **message)
{
  struct stat info;
  gboolean new = g_lstat (name, &info) != 0 && errno == ENOENT;
  gchar *fault = new ? NULL : fault_of_file (name, &info), *target = new || fault ? NULL : realpath (name, NULL);
  g_autoptr (GError) error = NULL;

  /* to replace a file needs no right to write to it: whoever protected it would be passed over */
  if (!fault && !new && (!target || faccessat (AT_FDCWD, target, W_OK, AT_EACCESS) != 0))
    fault = g_strdup (g_strerror (errno));
  if (!fault && !g_file_set_contents (new ? name : target, data, (gssize) size, &error))
    fault = g_strdup (error->message);
  if (!fault && !new &&g_chmod (target, info.st_mode & 0777) != 0)
    fault = g_strdup (g_strerror (errno));
  free (target);
  return fault ? refuse (rules, name, "written", fault, message) : TRUE;
}

gboolean
gst_stereo_file_is_same (const gchar *one, const gchar *other)
{
  struct stat a, b;

  return stat (one, &a) == 0 && stat (other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
