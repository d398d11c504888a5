/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of every odd kind, as root and as an ordinary user: what is said of them, that nothing waits, and that nothing is lost. */
#include "gst/video/file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

#define HANGS 110 /* seconds after which a run is ended: it hangs */
#define NOBODY 65534
#define LIMIT 100000

static const GstStereoFileRules rules = { "property", "another file", LIMIT };
static gboolean root; /* this half runs as root */

/* ---- a folder of odd files ---------------------------------------------------------------- */

typedef struct
{
  const gchar *name;
  /* what is said; NULL: not tried */
  const gchar *read, *written;
  gint read_error, written_error; /* in place of words */
  gboolean user_only;             /* root may do that */
  /* A device of this machine. Root does not try to write to it: where the rules are broken, it would be gone for everybody. */
  gboolean shared;
} Odd;

static const gchar too_long[] = /* 260 characters; a name has 255 at most */
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";

static const Odd odds[] = {
  { .name = "folder", .read = "a folder", .written = "a folder" },
  { .name = "fifo", .read = "a FIFO", .written = "a FIFO" },
  { .name = "to-fifo", .read = "a FIFO", .written = "a FIFO" },
  { .name = "socket", .read = "a socket", .written = "a socket" },
  { .name = "to-device", .read = "a device", .written = "a device", .shared = TRUE },
  { .name = "/dev/zero", .read = "a device", .written = "a device", .shared = TRUE },
  { .name = "/dev/null", .read = "a device", .written = "a device", .shared = TRUE },
  { .name = "/dev/full", .read = "a device", .written = "a device", .shared = TRUE },
  { .name = "node", .read = "a device", .written = "a device" },
  { .name = "dangling",
      .read = "a link to a file that does not exist",
      .written = "a link to a file that does not exist" },
  { .name = "circle", .read_error = ELOOP, .written_error = ELOOP },
  { .name = "absent", .read_error = ENOENT },
  { .name = "absent/file", .read_error = ENOENT, .written_error = ENOENT },
  { .name = "file/file", .read_error = ENOTDIR, .written_error = ENOTDIR },
  { .name = too_long, .read_error = ENAMETOOLONG, .written_error = ENAMETOOLONG },
  { .name = "huge", .read = "the limit is" },
  { .name = "empty", .read = "it is empty" },
  { .name = "locked", .read_error = EACCES, .written_error = EACCES, .user_only = TRUE },
  { .name = "protected", .written_error = EACCES, .user_only = TRUE },
  { .name = "closed/file", .read_error = EACCES, .written_error = EACCES, .user_only = TRUE },
  { .name = "full/file", .written_error = EACCES, .user_only = TRUE },
};

static gchar *folder;

static gchar *
path (const gchar *name)
{
  return g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (folder, name, NULL);
}

static void
put (const gchar *name, const gchar *text, gint mode)
{
  g_autofree gchar *where = path (name);
  CHECK (g_file_set_contents (where, text, -1, NULL) && g_chmod (where, mode) == 0, "%s cannot be made", where);
}

static void
bind_socket (const gchar *name)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  gint made = socket (AF_UNIX, SOCK_STREAM, 0);

  g_strlcpy (address.sun_path, name, sizeof address.sun_path);
  CHECK (bind (made, (struct sockaddr *) &address, sizeof address) == 0, "no socket %s", name);
  close (made);
}

static void
make_folder (void)
{
  gint made = 0;

  folder = g_dir_make_tmp ("files-XXXXXX", NULL);
  if (!CHECK (folder && g_chdir (folder) == 0, "no folder to write to"))
    exit (1);
  put ("file", "text", 0644);
  put ("locked", "text", 0);
  put ("protected", "text", 0444);
  put ("empty", "", 0644);
  put ("huge", "text", 0644);
  made |= truncate ("huge", ((off_t) 64 << 20) + 1) | mkfifo ("fifo", 0666);
  made |= g_mkdir ("folder", 0755) | g_mkdir ("closed", 0) | g_mkdir ("full", 0555);
  made |= symlink ("fifo", "to-fifo") | symlink ("/dev/zero", "to-device") | symlink ("nowhere", "dangling");
  made |= symlink ("circle", "circle");
  CHECK (made == 0, "a file cannot be made");
  if (mknod ("node", S_IFCHR | 0666, makedev (1, 3)) != 0 && root)
    printf ("# no device can be made here: only an ordinary user tries to write to one\n");
  bind_socket ("socket");
}

static void
remove_folder (void)
{
  const gchar *const all[] = { "rm", "-rf", folder, NULL };

  g_chmod ("closed", 0755);
  CHECK (g_chdir ("/") == 0 &&
          g_spawn_sync (NULL, (gchar **) all, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL),
      "the folder stays behind");
  g_clear_pointer (&folder, g_free);
}

/* All that is in the folder, and what kind it is of: "name:inode:kind ...", so that a change shows. */
static gchar *
listing (void)
{
  GDir *dir = g_dir_open (".", 0, NULL);
  GList *names = NULL;
  GString *text = g_string_new (NULL);
  const gchar *name;

  while ((name = g_dir_read_name (dir)))
    names = g_list_insert_sorted (names, g_strdup (name), (GCompareFunc) strcmp);
  g_dir_close (dir);
  for (GList *at = names; at; at = at->next) {
    struct stat info;
    CHECK (lstat (at->data, &info) == 0, "%s", (gchar *) at->data);
    g_string_append_printf (
        text, "%s:%lu:%o:%ld ", (gchar *) at->data, (gulong) info.st_ino, info.st_mode, (glong) info.st_size);
  }
  g_list_free_full (names, g_free);
  return g_string_free (text, FALSE);
}

static void
expect_text (const gchar *name, const gchar *expected)
{
  g_autofree gchar *text = NULL;
  CHECK (g_file_get_contents (name, &text, NULL, NULL) && !strcmp (text, expected), "%s has '%s'", name, text);
}

/* ---- the rules ---------------------------------------------------------------------------- */

/* That @message, which is freed, says this fault: "property=NAME cannot be DONE: FAULT. Set property to another file." */
static void
expect_fault (gchar *message, const gchar *name, gboolean write, const gchar *words)
{
  g_autofree gchar *start = g_strdup_printf ("property=%s cannot be %s: ", name, write ? "written" : "read");

  CHECK (message && g_str_has_prefix (message, start) && strstr (message + strlen (start), words) &&
          g_str_has_suffix (message, ". Set property to another file."),
      "of %s is said: %s, and not: %s", name, message ? message : "nothing", words);
  g_free (message);
}

static gboolean
is_tried (const Odd *odd, gboolean write)
{
  if (root && (odd->user_only || (odd->shared && write)))
    return FALSE;
  /* who may not make a device has none of his own */
  if (!strcmp (odd->name, "node") && !g_file_test (odd->name, G_FILE_TEST_EXISTS))
    return FALSE;
  return write ? odd->written || odd->written_error : odd->read || odd->read_error;
}

/* Every odd file is refused. Nothing in the folder changes. */
static void
try_odds (void)
{
  g_autofree gchar *before = listing (), *after = NULL;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (odds); i++) {
    const Odd *odd = &odds[i / 2];
    gint write = i % 2, number = write ? odd->written_error : odd->read_error;
    gchar *message = NULL;
    gsize size;

    if (!is_tried (odd, write))
      continue;
    if (write)
      CHECK (!gst_stereo_file_write (&rules, odd->name, "x", 1, &message), "%s was written", odd->name);
    else
      CHECK (!gst_stereo_file_read (&rules, odd->name, &size, &message), "%s was read", odd->name);
    expect_fault (message, odd->name, write, number ? g_strerror (number) : write ? odd->written : odd->read);
  }
  after = listing ();
  CHECK (!strcmp (before, after), "the folder was\n%s\nand is\n%s", before, after);
}

static void
expect_read (const gchar *name, const gchar *data, gsize size)
{
  gsize found = 0;
  g_autofree gchar *message = NULL, *read = gst_stereo_file_read (&rules, name, &found, &message);

  if (CHECK (read, "%s", message))
    CHECK (found == size && memcmp (read, data, size) == 0 && read[size] == 0, "%s: other bytes", name);
}

static void
try_reading (void)
{
  gchar *large = g_strnfill (LIMIT + 1, 'x'), *message = NULL, *text;
  gsize size;

  large[5] = large[LIMIT] = 0;
  CHECK (g_file_set_contents ("large", large, LIMIT, NULL) && symlink ("large", "to-large") == 0, "large");
  expect_read ("large", large, LIMIT);
  expect_read ("to-large", large, LIMIT);
  CHECK (g_file_set_contents ("large", large, LIMIT + 1, NULL), "large");
  CHECK (!gst_stereo_file_read (&rules, "large", &size, &message) && strstr (message, "100001 bytes") &&
          strstr (message, "limit is 100000"),
      "%s", message);
  g_clear_pointer (&message, g_free);
  CHECK (!gst_stereo_file_read (&rules, "large", &size, NULL), "read");
  /* its size is said to be 0 */
  text = gst_stereo_file_read (&rules, "/proc/self/status", &size, &message);
  CHECK (!g_file_test ("/proc/self/status", G_FILE_TEST_EXISTS) || (text && g_str_has_prefix (text, "Name:")), "%s",
      message);
  g_free (message);
  g_free (text);
  g_free (large);
}

static void
write_to (const gchar *name, const gchar *text)
{
  g_autofree gchar *message = NULL;
  CHECK (gst_stereo_file_write (&rules, name, text, strlen (text), &message), "%s", message);
}

static void
expect_mode (const gchar *name, mode_t mode)
{
  struct stat info;
  CHECK (lstat (name, &info) == 0 && info.st_mode == mode, "%s has the mode %o and not %o", name, info.st_mode, mode);
}

static void
try_writing (void)
{
  mode_t mask = umask (027);

  write_to ("new", "one");
  expect_text ("new", "one");
  expect_mode ("new", S_IFREG | 0640);
  CHECK (g_chmod ("new", 0606) == 0, "mode");
  write_to ("new", "two");
  expect_text ("new", "two");
  expect_mode ("new", S_IFREG | 0606);
  CHECK (symlink ("../new", "folder/link") == 0 && symlink ("folder/link", "chain") == 0, "links");
  write_to ("chain", "three");
  expect_text ("new", "three");
  expect_mode ("new", S_IFREG | 0606);
  CHECK (g_file_test ("chain", G_FILE_TEST_IS_SYMLINK) && g_file_test ("folder/link", G_FILE_TEST_IS_SYMLINK),
      "a link was replaced");
  CHECK (gst_stereo_file_is_same ("chain", "./new") && !gst_stereo_file_is_same ("new", "file") &&
          !gst_stereo_file_is_same ("dangling", "dangling") && link ("new", "hard") == 0 &&
          gst_stereo_file_is_same ("hard", "new"),
      "names of one file");
  umask (mask);
}

/* The file grows too large in the middle of it, as on a full disk. */
static void
try_failing (void)
{
  g_autofree gchar *large = g_strnfill (LIMIT, 'x'), *before = NULL, *after = NULL;
  struct rlimit old, small = { 5000, RLIM_INFINITY };

  put ("kept", "as it was", 0600);
  before = listing ();
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &old);
  small.rlim_max = old.rlim_max;
  setrlimit (RLIMIT_FSIZE, &small);
  for (gint there = 0; there < 2; there++) {
    const gchar *name = there ? "kept" : "never";
    gchar *message = NULL;
    CHECK (!gst_stereo_file_write (&rules, name, large, LIMIT, &message), "written");
    expect_fault (message, name, TRUE, g_strerror (EFBIG));
  }
  setrlimit (RLIMIT_FSIZE, &old);
  after = listing ();
  CHECK (!strcmp (before, after), "the folder was\n%s\nand is\n%s", before, after);
  expect_text ("kept", "as it was");
}

/* ---- both halves -------------------------------------------------------------------------- */

static void
try_all (void)
{
  alarm (HANGS);
  make_folder ();
  try_odds ();
  try_reading ();
  try_writing ();
  try_failing ();
  remove_folder ();
  alarm (0);
}

static void
as_root (void)
{
  root = TRUE;
  if (geteuid () == 0)
    try_all ();
  else
    check_skip ("this user is not root");
}

/* In a process of its own, where this one is root's. */
static void
as_user (void)
{
  gint status = 0;

  if (geteuid () != 0) {
    try_all ();
    return;
  }
  pid_t child = fork ();
  if (child == 0) {
    if (setgroups (0, NULL) != 0 || setgid (NOBODY) != 0 || setuid (NOBODY) != 0)
      _exit (77);
    try_all ();
    fflush (NULL);
    _exit (check_failures () ? 1 : 0);
  }
  CHECK (child > 0 && waitpid (child, &status, 0) == child, "no process");
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    check_skip ("root cannot become an ordinary user here");
  else
    CHECK (WIFEXITED (status) && WEXITSTATUS (status) == 0, "%s %d", WIFSIGNALED (status) ? "ended by signal" : "status",
        WIFSIGNALED (status) ? WTERMSIG (status) : WEXITSTATUS (status));
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  /* first, as long as this process has one thread */
  check_case ("as a user", as_user);
  check_case ("as root", as_root);
  return check_finish ();
}
