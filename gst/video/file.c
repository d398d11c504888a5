/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define TRIES 16 /* names that are drawn for a new file: each has 64 random bits */

/* ---- what is wrong ------------------------------------------------------------------------ */

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

/* g_free(); NULL: it is a regular file. */
static gchar *
fault_of_kind (const struct stat *info)
{
  const gchar *kind = S_ISDIR (info->st_mode) ? "a folder" :
      S_ISFIFO (info->st_mode)                ? "a FIFO" :
      S_ISSOCK (info->st_mode)                ? "a socket" :
                                                "a device";

  return S_ISREG (info->st_mode) ? NULL : g_strdup_printf ("it is %s, and not a regular file", kind);
}

/* That @name cannot be reached, by errno; g_free(). */
static gchar *
fault_of_name (const gchar *name)
{
  gint number = errno;
  struct stat info;

  if (number == ENOENT && lstat (name, &info) == 0 && S_ISLNK (info.st_mode))
    return g_strdup ("it is a link to a file that does not exist");
  return g_strdup (g_strerror (number));
}

gboolean
gst_stereo_file_is_same (const gchar *one, const gchar *other)
{
  struct stat a, b;

  return stat (one, &a) == 0 && stat (other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Returns a regular file and its @info, or -1 and @fault. We check the name before opening, because opening a FIFO or a
 * device has side effects. We check the open file again, because the name may lead to another file by then. */
static gint
open_to_read (const gchar *name, struct stat *info, gchar **fault)
{
  gint file;

  if (stat (name, info) != 0) {
    *fault = fault_of_name (name);
    return -1;
  }
  if ((*fault = fault_of_kind (info)))
    return -1;
  do
    file = open (name, O_RDONLY | OPEN_FLAGS);
  while (file < 0 && errno == EINTR);
  if (file < 0 || fstat (file, info) != 0)
    *fault = fault_of_name (name);
  else
    *fault = fault_of_kind (info);
  if (*fault && file >= 0) {
    close (file);
    file = -1;
  }
  return file;
}

/* Up to the end of the file, wherever that is by now: files of /proc have a size of 0. The result ends with a zero; NULL and
 * @fault where there is none. */
static gchar *
read_all (gint file, gsize expected, gsize limit, gsize *size, gchar **fault)
{
  gsize room = expected + 1, count = 0;
  gchar *data = NULL, *grown;
  gssize more = 1;

  while (!*fault && more > 0) {
    if (!data || count == room) {
      room = data ? MIN (2 * room, limit + 1) : room;
      if (!(grown = g_try_realloc (data, room + 1))) {
        *fault = g_strdup_printf ("there is no memory for its %" G_GSIZE_FORMAT " bytes", room);
        break;
      }
      data = grown;
    }
    do
      more = read (file, data + count, room - count);
    while (more < 0 && errno == EINTR);
    if (more < 0)
      *fault = g_strdup (g_strerror (errno));
    count += (gsize) MAX (more, 0);
    if (count > limit)
      *fault = g_strdup_printf ("it has more than %" G_GSIZE_FORMAT " bytes, which is the limit", limit);
  }
  if (!*fault && count == 0)
    *fault = g_strdup ("it is empty");
  if (*fault)
    g_clear_pointer (&data, g_free);
  else
    data[count] = 0;
  *size = count;
  return data;
}

gchar *
gst_stereo_file_read (const GstStereoFileRules *rules, const gchar *name, gsize *size, gchar **message)
{
  gchar *data = NULL, *fault = NULL;
  struct stat info;
  gint file = open_to_read (name, &info, &fault);

  if (file >= 0 && (guint64) info.st_size > rules->limit)
    fault = g_strdup_printf (
        "it has %" G_GUINT64_FORMAT " bytes, and the limit is %" G_GSIZE_FORMAT, (guint64) info.st_size, rules->limit);
  else if (file >= 0)
    data = read_all (file, (gsize) info.st_size, rules->limit, size, &fault);
  if (file >= 0)
    close (file);
  if (fault)
    refuse (rules, name, "read", fault, message);
  return data;
}

gboolean
gst_stereo_file_check (const GstStereoFileRules *rules, const gchar *name, gchar **message)
{
  gchar *fault = NULL;
  struct stat info;
  gint file = open_to_read (name, &info, &fault);

  if (file >= 0)
    close (file);
  return fault ? refuse (rules, name, "read", fault, message) : TRUE;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The file that is to be replaced, or the name of a new one. */
typedef struct
{
  gchar *name; /* at the end of all links */
  gboolean there;
  struct stat info; /* where it is there */
} Target;

static gboolean
find_target (const gchar *name, Target *target, gchar **fault)
{
  struct stat link;

  target->there = stat (name, &target->info) == 0;
  if (!target->there) {
    gint number = errno;
    /* a new file; where its folder is missing, creating it says so */
    if (number == ENOENT && lstat (name, &link) != 0) {
      target->name = g_strdup (name);
      return TRUE;
    }
    errno = number;
    *fault = fault_of_name (name);
    return FALSE;
  }
  if ((*fault = fault_of_kind (&target->info)))
    return FALSE;
  gchar *resolved = realpath (name, NULL);
  /* to replace a file needs no right to write to it: whoever protected it would be passed over */
  if (!resolved || faccessat (AT_FDCWD, resolved, W_OK, AT_EACCESS) != 0)
    *fault = g_strdup (g_strerror (errno));
  else
    target->name = g_strdup (resolved);
  free (resolved);
  return !*fault;
}

/* Opens a new file in @folder. -1 and errno. */
static gint
create_beside (const gchar *folder, mode_t mode, gchar **name)
{
  gint file = -1;

  for (gint i = 0; i < TRIES && file < 0; i++) {
    gchar *last = g_strdup_printf (".stereo-%08x%08x", g_random_int (), g_random_int ());
    *name = g_build_filename (folder, last, NULL);
    g_free (last);
    file = open (*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | OPEN_FLAGS, mode);
    if (file < 0) {
      gint number = errno;
      g_clear_pointer (name, g_free);
      errno = number;
      if (number != EEXIST && number != EINTR)
        break;
    }
  }
  return file;
}

/* Where the group cannot stay, another group must not get its rights. */
static gboolean
keep_permissions (gint file, const struct stat *old)
{
  mode_t mode = old->st_mode & 0777;

  if (fchown (file, old->st_uid, old->st_gid) != 0 && fchown (file, (uid_t) -1, old->st_gid) != 0)
    mode &= 0707;
  return fchmod (file, mode) == 0;
}

static gboolean
write_all (gint file, const gchar *data, gsize size)
{
  for (gsize count = 0; count < size;) {
    gssize more = write (file, data + count, size - count);
    if (more < 0 && errno != EINTR)
      return FALSE;
    count += (gsize) MAX (more, 0);
  }
  return fsync (file) == 0;
}

/* The new name in a folder survives a crash, too. Some file systems cannot do that: the file is written all the same. */
static void
sync_folder (const gchar *folder)
{
  gint file = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (file < 0)
    return;
  if (fsync (file) != 0)
    g_debug ("%s cannot be synchronised: %s", folder, g_strerror (errno));
  close (file);
}

/* FALSE and errno. */
static gboolean
replace (const Target *target, const gchar *folder, const gchar *data, gsize size)
{
  gchar *beside = NULL;
  gint file = create_beside (folder, target->there ? 0600 : 0666, &beside), number;

  if (file < 0)
    return FALSE;
  gboolean done = (!target->there || keep_permissions (file, &target->info)) && write_all (file, data, size);
  number = errno;
  if (close (file) != 0 && done) {
    number = errno;
    done = FALSE;
  }
  if (done && rename (beside, target->name) != 0) {
    number = errno;
    done = FALSE;
  }
  if (done)
    sync_folder (folder);
  else
    unlink (beside);
  g_free (beside);
  errno = number;
  return done;
}

gboolean
gst_stereo_file_write (
    const GstStereoFileRules *rules, const gchar *name, const gchar *data, gsize size, gchar **message)
{
  Target target = { 0 };
  gchar *fault = NULL, *folder;

  if (find_target (name, &target, &fault)) {
    folder = g_path_get_dirname (target.name);
    if (!replace (&target, folder, data, size))
      fault = g_strdup (g_strerror (errno));
    g_free (folder);
  }
  g_free (target.name);
  return fault ? refuse (rules, name, "written", fault, message) : TRUE;
}
