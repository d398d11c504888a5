/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/layouts.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
  DEPTH = 3 /* folders within folders */
};

/* One scene a folder. Middlebury 2014 and later: im0 and im1; 2005 and 2006: view1 and view5. */
static const struct
{
  const char *left, *right;
} views[] = { { "left.png", "right.png" }, { "im0.png", "im1.png" }, { "view1.png", "view5.png" } };

/* The first that is there counts. disp1.png is the truth of view1.png; disp5.png is that of the right view. */
static const struct
{
  const char *name;
  TruthFormat format;
} truths[] = { { "gt.pfm", TRUTH_PFM }, { "disp0GT.pfm", TRUTH_PFM }, { "disp0.pfm", TRUTH_PFM },
  { "gt.png", TRUTH_KITTI }, { "disp1.png", TRUTH_MIDDLEBURY } };

static const char *const masks[] = { "mask_nocc.png", "mask0nocc.png" };

/* Many scenes a folder: KITTI 2015, KITTI 2012 in colour and in grey, and sequences like ours. */
static const struct
{
  const char *left, *right;
} view_folders[] = { { "image_2", "image_3" }, { "colored_0", "colored_1" }, { "image_0", "image_1" },
  { "left", "right" } };
static const char *const truth_folders[] = { "disp_occ_0", "disp_occ", "gt" };
static const char *const visible_folders[] = { "disp_noc_0", "disp_noc" };

#define COUNT(table) (sizeof (table) / sizeof *(table))

/* ---- paths ------------------------------------------------------------------------------- */

/* Sets @path; returns whether such a file or folder is there. */
static int there (char *path, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
static int
there (char *path, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  int length = vsnprintf (path, LAYOUT_PATH, format, args);
  va_end (args);
  if (length >= 0 && length < LAYOUT_PATH && !access (path, F_OK))
    return 1;
  *path = 0;
  return 0;
}

static int
is_folder (const char *path)
{
  struct stat status;
  return !stat (path, &status) && S_ISDIR (status.st_mode);
}

static const char *
last_part (const char *path)
{
  const char *slash = strrchr (path, '/');
  return slash ? slash + 1 : path;
}

/* The first of @names that is in @folder, as @path; its index, or -1. */
static int
first_of (char *path, const char *folder, const char *const *names, size_t count)
{
  for (size_t k = 0; k < count; k++)
    if (there (path, "%s/%s", folder, names[k]))
      return (int) k;
  return -1;
}

/* ---- one scene a folder ------------------------------------------------------------------ */

static void
find_truth (SceneFiles *files, const char *folder)
{
  for (size_t k = 0; k < COUNT (truths) && files->truth_format == TRUTH_NONE; k++)
    if (there (files->truth, "%s/%s", folder, truths[k].name))
      files->truth_format = truths[k].format;
  if (first_of (files->visible, folder, masks, COUNT (masks)) >= 0)
    files->visible_format = VISIBLE_MASK;
  there (files->calibration, "%s/calib.txt", folder);
}

/* The last part of the folder that was searched. KITTI's sets are all called training: there it has the part before it. */
static const char *
name_of_top (const char *top)
{
  const char *name = last_part (top);

  if (name > top && (!strcmp (name, "training") || !strcmp (name, "testing")))
    for (name--; name > top && name[-1] != '/';) /* from the slash before it */
      name--;
  return name;
}

/* A scene called kitti15-000003 belongs to kitti15; others to the folder that they lie in. */
static void
name_scene (SceneFiles *files, const char *top, const char *name)
{
  const char *dash = strrchr (name, '-'), *slash = strrchr (name, '/');

  snprintf (files->name, sizeof files->name, "%s", name);
  if (dash && dash > name && dash[1] && strspn (dash + 1, "0123456789") == strlen (dash + 1))
    snprintf (files->group, sizeof files->group, "%.*s", (int) (dash - name), name);
  else if (slash)
    snprintf (files->group, sizeof files->group, "%.*s", (int) (slash - name), name);
  else
    snprintf (files->group, sizeof files->group, "%s", name_of_top (top));
}

static int
add (SceneList *list, const SceneFiles *files)
{
  if (list->count == list->room) {
    int room = list->room ? 2 * list->room : 16;
    SceneFiles *grown = realloc (list->files, (size_t) room * sizeof *grown);
    if (!grown) {
      fputs ("no memory for the list of scenes\n", stderr);
      return 0;
    }
    list->files = grown;
    list->room = room;
  }
  list->files[list->count++] = *files;
  return 1;
}

/* 1: @folder is a scene, and was added; 0: it is none; -1: a failure. */
static int
add_scene_folder (SceneList *list, const char *top, const char *folder, const char *name)
{
  SceneFiles files = { 0 };

  for (size_t k = 0; k < COUNT (views); k++) {
    if (!there (files.left, "%s/%s", folder, views[k].left))
      continue;
    if (!there (files.right, "%s/%s", folder, views[k].right)) {
      fprintf (stderr, "%s: %s is there without %s\n", folder, views[k].left, views[k].right);
      return -1;
    }
    find_truth (&files, folder);
    name_scene (&files, top, *name ? name : last_part (folder));
    return add (list, &files) ? 1 : -1;
  }
  return 0;
}

/* ---- many scenes a folder ---------------------------------------------------------------- */

static int
is_png (const struct dirent *entry)
{
  size_t length = strlen (entry->d_name);
  return length > 4 && !strcmp (entry->d_name + length - 4, ".png");
}

/* Frame 10 of KITTI's short sequences is the one that its test sets have no truth for. */
static int
is_tenth (const struct dirent *entry)
{
  size_t length = strlen (entry->d_name);
  return length > 7 && !strcmp (entry->d_name + length - 7, "_10.png");
}

/* Folders of a set of frames; "" where there is none. */
typedef struct FrameFolders
{
  char left[LAYOUT_PATH], right[LAYOUT_PATH], truth[LAYOUT_PATH], visible[LAYOUT_PATH];
} FrameFolders;

static int
find_frame_folders (FrameFolders *folders, const char *folder)
{
  for (size_t k = 0; k < COUNT (view_folders); k++)
    if (there (folders->left, "%s/%s", folder, view_folders[k].left) &&
        there (folders->right, "%s/%s", folder, view_folders[k].right)) {
      first_of (folders->truth, folder, truth_folders, COUNT (truth_folders));
      first_of (folders->visible, folder, visible_folders, COUNT (visible_folders));
      return 1;
    }
  return 0;
}

static int
add_frame (SceneList *list, const char *top, const FrameFolders *folders, const char *name, const char *file)
{
  SceneFiles files = { 0 };
  char whole[LAYOUT_NAME];

  snprintf (files.left, sizeof files.left, "%.900s/%.100s", folders->left, file);
  snprintf (files.right, sizeof files.right, "%.900s/%.100s", folders->right, file);
  if (*folders->visible && there (files.visible, "%s/%s", folders->visible, file))
    files.visible_format = VISIBLE_KITTI;
  if (*folders->truth && there (files.truth, "%s/%s", folders->truth, file))
    files.truth_format = TRUTH_KITTI;
  else if (files.visible_format == VISIBLE_KITTI) { /* without disp_occ, the non-occluded pixels are all there are */
    snprintf (files.truth, sizeof files.truth, "%s", files.visible);
    files.truth_format = TRUTH_KITTI;
  }
  snprintf (whole, sizeof whole, "%.90s%s%.*s", name, *name ? "/" : "", (int) (strlen (file) - 4), file);
  name_scene (&files, top, whole);
  return add (list, &files);
}

/* As add_scene_folder(). Frames without a truth count only where the set has none at all. */
static int
add_frames (SceneList *list, const char *top, const char *folder, const char *name)
{
  FrameFolders folders = { 0 };
  struct dirent **entries;
  int done = 1;

  if (!find_frame_folders (&folders, folder))
    return 0;
  const char *known = *folders.truth ? folders.truth : folders.visible, *from = *known ? known : folders.left;
  int count = scandir (from, &entries, *known ? is_png : is_tenth, alphasort);
  if (count < 0) {
    perror (from);
    return -1;
  }
  for (int k = 0; k < count; k++) {
    done = done && add_frame (list, top, &folders, name, entries[k]->d_name);
    free (entries[k]);
  }
  free (entries);
  return done ? 1 : -1;
}

/* ---- folders ----------------------------------------------------------------------------- */

static int
is_visible (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int
find_below (SceneList *list, const char *top, const char *folder, const char *name, int depth)
{
  char path[LAYOUT_PATH], below[LAYOUT_NAME];
  struct dirent **entries;
  int added = add_scene_folder (list, top, folder, name), done = 1;

  if (!added)
    added = add_frames (list, top, folder, name);
  if (added || !depth)
    return added >= 0;
  int count = scandir (folder, &entries, is_visible, alphasort);
  if (count < 0) {
    perror (folder);
    return 0;
  }
  for (int k = 0; k < count; k++) {
    snprintf (below, sizeof below, "%.90s%s%.100s", name, *name ? "/" : "", entries[k]->d_name);
    if (there (path, "%s/%s", folder, entries[k]->d_name) && is_folder (path))
      done &= find_below (list, top, path, below, depth - 1);
    free (entries[k]);
  }
  free (entries);
  return done;
}

int
layouts_find (SceneList *list, const char *folder)
{
  char top[LAYOUT_PATH];
  size_t length = (size_t) snprintf (top, sizeof top, "%s", folder);

  if (length >= sizeof top || !is_folder (folder)) {
    fprintf (stderr, "%s: not a folder that can be read\n", folder);
    return 0;
  }
  while (length > 1 && top[length - 1] == '/')
    top[--length] = 0;
  return find_below (list, top, top, "", DEPTH);
}

int
layouts_pair (SceneFiles *files, const char *left, const char *right)
{
  char folder[LAYOUT_PATH], *whole;

  memset (files, 0, sizeof *files);
  if (!there (files->left, "%s", left) || !there (files->right, "%s", right)) {
    perror (*files->left ? right : left);
    return 0;
  }
  snprintf (folder, sizeof folder, "%s", left);
  char *end = strrchr (folder, '/');
  if (end)
    end[end == folder] = 0;
  else
    strcpy (folder, ".");
  find_truth (files, folder);
  whole = realpath (folder, NULL); /* "." has no name */
  name_scene (files, "pair", whole ? last_part (whole) : folder);
  free (whole);
  return 1;
}

void
layouts_free (SceneList *list)
{
  free (list->files);
  memset (list, 0, sizeof *list);
}
