/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/scene.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
  DEPTH = 3,        /* folders within folders */
  KITTI_STEPS = 256 /* in a pixel */
};

/* One scene a folder. Middlebury 2014 and later: im0 and im1; 2005 and 2006: view1 and view5, where disp1.png is the truth of view1.
 * The first of each list that is there counts. */
static const char *const views[][2] = { { "left.png", "right.png" }, { "im0.png", "im1.png" },
  { "view1.png", "view5.png" } };
static const char *const truths[] = { "gt.pfm", "disp0GT.pfm", "disp0.pfm", "gt.png", "disp1.png" };
static const char *const masks[] = { "mask_nocc.png", "mask0nocc.png" };

/* Many scenes a folder: KITTI 2015, KITTI 2012 in colour and in grey, and sequences like ours. */
static const char *const view_folders[][2] = { { "image_2", "image_3" }, { "colored_0", "colored_1" },
  { "image_0", "image_1" }, { "left", "right" } };
static const char *const truth_folders[] = { "disp_occ_0", "disp_occ", "gt" };
static const char *const visible_folders[] = { "disp_noc_0", "disp_noc" };

#define COUNT(table) (sizeof (table) / sizeof *(table))

/* ---- which files are a scene ------------------------------------------------------------------ */

/* Sets @path; returns whether such a file or folder is there. */
static int there (char *path, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
static int
there (char *path, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  int length = vsnprintf (path, SCENE_PATH, format, args);
  va_end (args);
  if (length >= 0 && length < SCENE_PATH && !access (path, F_OK))
    return 1;
  *path = 0;
  return 0;
}

/* The first of @names that is in @folder, as @path. */
static void
first_of (char *path, const char *folder, const char *const *names, size_t count)
{
  for (size_t k = 0; k < count && !there (path, "%s/%s", folder, names[k]); k++)
    continue;
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

/* What may lie beside the views. */
static void
find_beside (SceneFiles *files, const char *folder)
{
  first_of (files->truth, folder, truths, COUNT (truths));
  first_of (files->visible, folder, masks, COUNT (masks));
  there (files->calibration, "%s/calib.txt", folder);
}

/* A scene called kitti15-000003 belongs to kitti15; others to the folder that they lie in. KITTI's sets are all called training: a
 * group of that name has the part before it too. */
static void
name_scene (SceneFiles *files, const char *top, const char *name)
{
  const char *dash = strrchr (name, '-'), *slash = strrchr (name, '/'), *folder = last_part (top);

  snprintf (files->name, sizeof files->name, "%s", name);
  if (folder > top && (!strcmp (folder, "training") || !strcmp (folder, "testing")))
    for (folder--; folder > top && folder[-1] != '/';)
      folder--;
  if (dash && dash > name && dash[1] && strspn (dash + 1, "0123456789") == strlen (dash + 1))
    snprintf (files->group, sizeof files->group, "%.*s", (int) (dash - name), name);
  else if (slash)
    snprintf (files->group, sizeof files->group, "%.*s", (int) (slash - name), name);
  else
    snprintf (files->group, sizeof files->group, "%s", folder);
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
    if (!there (files.left, "%s/%s", folder, views[k][0]))
      continue;
    if (!there (files.right, "%s/%s", folder, views[k][1])) {
      fprintf (stderr, "%s: %s is there without %s\n", folder, views[k][0], views[k][1]);
      return -1;
    }
    find_beside (&files, folder);
    name_scene (&files, top, *name ? name : last_part (folder));
    return add (list, &files) ? 1 : -1;
  }
  return 0;
}

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

/* As add_scene_folder(), where a folder of left views has many scenes. Frames without a truth count only where the set has none at
 * all, or where @every frame counts. */
static int
add_frames (SceneList *list, const char *top, const char *folder, const char *name, int every)
{
  char left[SCENE_PATH], right[SCENE_PATH], truth[SCENE_PATH], visible[SCENE_PATH], whole[SCENE_NAME];
  struct dirent **entries;
  size_t set = 0;
  int done = 1;

  while (set < COUNT (view_folders) &&
      !(there (left, "%s/%s", folder, view_folders[set][0]) && there (right, "%s/%s", folder, view_folders[set][1])))
    set++;
  if (set == COUNT (view_folders))
    return 0;
  first_of (truth, folder, truth_folders, COUNT (truth_folders));
  first_of (visible, folder, visible_folders, COUNT (visible_folders));
  const char *known = *truth ? truth : visible, *from = *known && !every ? known : left;
  int count = scandir (from, &entries, *known || every ? is_png : is_tenth, alphasort);
  if (count < 0) {
    perror (from);
    return -1;
  }
  for (int k = 0; k < count; k++) {
    const char *file = entries[k]->d_name;
    int length = (int) strlen (file) - 4;
    SceneFiles files = { 0 };
    snprintf (files.left, sizeof files.left, "%.900s/%.100s", left, file);
    snprintf (files.right, sizeof files.right, "%.900s/%.100s", right, file);
    if (*visible)
      there (files.visible, "%s/%s", visible, file);
    if (!*truth ||
        !(there (files.truth, "%s/%s", truth, file) || there (files.truth, "%s/%.*s.pfm", truth, length, file)))
      memcpy (files.truth, files.visible, sizeof files.truth); /* then the non-occluded pixels are all there are */
    snprintf (whole, sizeof whole, "%.90s%s%.*s", name, *name ? "/" : "", length, file);
    name_scene (&files, top, whole);
    done = done && add (list, &files);
    free (entries[k]);
  }
  free (entries);
  return done ? 1 : -1;
}

static int
is_not_hidden (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int
find_below (SceneList *list, const char *top, const char *folder, const char *name, int depth)
{
  char path[SCENE_PATH], below[SCENE_NAME];
  struct dirent **entries;
  int added = add_scene_folder (list, top, folder, name), done = 1;

  if (!added)
    added = add_frames (list, top, folder, name, 0);
  if (added || !depth)
    return added >= 0;
  int count = scandir (folder, &entries, is_not_hidden, alphasort);
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
scenes_find (SceneList *list, const char *folder)
{
  char top[SCENE_PATH];
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
scenes_find_frames (SceneList *list, const char *folder)
{
  int before = list->count;

  if (add_frames (list, folder, folder, "", 1) > 0 && list->count > before)
    return 1;
  fprintf (stderr, "%s: there is no PNG in it; --sequence takes a folder with left/ and right/\n", folder);
  return 0;
}

void
scenes_free (SceneList *list)
{
  free (list->files);
  memset (list, 0, sizeof *list);
}

int
scene_pair (SceneFiles *files, const char *left, const char *right)
{
  char folder[SCENE_PATH];

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
  find_beside (files, folder);
  char *whole = realpath (folder, NULL); /* "." has no name */
  name_scene (files, "pair", whole ? last_part (whole) : folder);
  free (whole);
  return 1;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int
fits (const Scene *scene, const char *path, int width, int height)
{
  if (width == scene->left.width && height == scene->left.height)
    return 1;
  fprintf (stderr, "%s is %dx%d: it must have the size of the left view, %dx%d\n", path, width, height,
      scene->left.width, scene->left.height);
  return 0;
}

/* Steps in a pixel of an 8-bit truth. Middlebury 2005 and 2006 have views of 1110 rows, whose truth counts pixels, and the same
 * pictures at a half and a third of the size, whose truth still has the numbers of the full size. 0 and a message for other sizes. */
static int
middlebury_scale (const char *path, int height)
{
  if (height == 1110 || height == 555 || height == 370)
    return 1110 / height;
  fprintf (stderr,
      "%s has %d rows: an 8-bit truth of Middlebury has 1110, 555 or 370; for another size set --truth-scale, the "
      "steps in a pixel\n",
      path, height);
  return 0;
}

/* Samples of a grey PNG of the size of the views; NULL and a message otherwise. */
static uint16_t *
read_samples (const Scene *scene, const char *path, int *bits)
{
  int width, height;
  uint16_t *samples;

  if (!image_read_samples (path, &width, &height, bits, &samples))
    return NULL;
  if (fits (scene, path, width, height))
    return samples;
  free (samples);
  return NULL;
}

static int
read_truth (Scene *scene, const char *path, int scale)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height, length = strlen (path);
  int width, height, bits;

  if (!strcmp (path + length - 4, ".pfm"))
    return image_read_pfm (path, &width, &height, &scene->truth) && fits (scene, path, width, height);
  uint16_t *samples = read_samples (scene, path, &bits);
  int steps = !samples ? 0 : bits == 16 ? KITTI_STEPS : scale ? scale : middlebury_scale (path, scene->left.height);
  scene->truth = steps ? malloc (pixels * sizeof *scene->truth) : NULL;
  for (size_t at = 0; scene->truth && at < pixels; at++)
    scene->truth[at] = samples[at] ? (float) samples[at] / (float) steps : INFINITY;
  free (samples);
  return scene->truth != NULL;
}

static int
read_visible (Scene *scene, const char *path)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  int bits;
  uint16_t *samples = read_samples (scene, path, &bits);

  scene->visible = samples ? malloc (pixels) : NULL;
  for (size_t at = 0; scene->visible && at < pixels; at++)
    scene->visible[at] = (bits == 16 ? samples[at] != 0 : samples[at] == 255) ? 255 : 0;
  free (samples);
  return scene->visible != NULL;
}

/* Sets *disparities to the ndisp of Middlebury's calib.txt, or to 0 where the file has none. */
static int
read_calibration (const char *path, int *disparities)
{
  FILE *file = image_open (path, "r");
  char line[256], end;
  int done = 1;

  *disparities = 0;
  if (!file)
    return 0;
  while (done && fgets (line, sizeof line, file))
    if (!strncmp (line, "ndisp=", 6) && (sscanf (line + 6, "%d %c", disparities, &end) != 1 || *disparities < 1)) {
      fprintf (stderr, "%s: %.*s: ndisp must be a whole number from 1\n", path, (int) strcspn (line, "\r\n"), line);
      done = 0;
    }
  fclose (file);
  return done;
}

/* The least multiple of 16 that reaches the largest true disparity; 0 without one. */
static int
range_of_truth (const Scene *scene)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  double largest = 0;

  for (size_t at = 0; scene->truth && at < pixels; at++)
    if (isfinite (scene->truth[at]) && (double) scene->truth[at] > largest)
      largest = (double) scene->truth[at];
  return largest > 0 && largest < 1 << 20 ? ((int) ceil (largest) + 16) / 16 * 16 : 0;
}

static int
load (Scene *scene, const SceneFiles *files, int truth_scale)
{
  if (!image_read_png (files->left, &scene->left) || !image_read_png (files->right, &scene->right) ||
      !fits (scene, files->right, scene->right.width, scene->right.height))
    return 0;
  /* a mask alone says nothing */
  if (*files->truth &&
      (!read_truth (scene, files->truth, truth_scale) || (*files->visible && !read_visible (scene, files->visible))))
    return 0;
  if (*files->calibration && !read_calibration (files->calibration, &scene->disparities))
    return 0;
  scene->range = scene->disparities ? RANGE_CALIBRATION : RANGE_TRUTH;
  if (!scene->disparities && !(scene->disparities = range_of_truth (scene)))
    scene->range = RANGE_UNKNOWN;
  return 1;
}

int
scene_load (Scene *scene, const SceneFiles *files, int truth_scale)
{
  memset (scene, 0, sizeof *scene);
  snprintf (scene->name, sizeof scene->name, "%s", files->name);
  snprintf (scene->group, sizeof scene->group, "%s", files->group);
  if (load (scene, files, truth_scale))
    return 1;
  scene_free (scene);
  return 0;
}

void
scene_free (Scene *scene)
{
  free (scene->left.data);
  free (scene->right.data);
  free (scene->truth);
  free (scene->visible);
  memset (scene, 0, sizeof *scene);
}

StereoImage
scene_view (const Image *image)
{
  return (StereoImage){ .data = image->data,
    .stride = (ptrdiff_t) image->width * image->channels,
    .pixel_stride = image->channels,
    .channels = image->channels,
    .offset = { 0, 1, 2 } };
}

/* ---- a synthetic pair ------------------------------------------------------------------------------ */

/* Smooth texture with detail at several scales, 0..255, that can be looked up between pixels. */
static double
texture (double x, double y, int channel)
{
  double value = 0;
  for (int k = 0; k < 4; k++) {
    double f = 0.11 * (1 + 1.7 * k), phase = 1.3 * channel + 2.1 * k;
    value += sin (f * x * 1.9 + 3 * sin (f * 0.71 * y + phase) + phase) *
        sin (f * 1.31 * y + 2 * sin (f * x * 0.83) + 2 * phase);
  }
  return 127.5 + 30 * value;
}

static int
on_square (int width, int height, double x, int y)
{
  return x >= width * 0.4 && x < width * 0.7 && y >= height * 0.3 && y < height * 0.7;
}

/* The plane rises from 0.2 to 0.5 of the range down the picture; the square stands at 0.8 of it. */
static double
plane_disparity (int height, int disparities, int y)
{
  return (0.2 + 0.3 * y / height) * (disparities - 1);
}

/* The picture behind pixel (x, y) of a view: the square where it covers, else the plane. */
static int
synthetic_sample (int width, int height, int disparities, int view, int x, int y, int channel, double *d)
{
  double front = rint (0.8 * (disparities - 1)), shift;
  int covered = on_square (width, height, view ? x + front : x, y);

  *d = covered ? front : plane_disparity (height, disparities, y);
  shift = view ? *d : 0;
  double value = texture (x + shift + (covered ? 911 : 0), y, channel);
  return value < 0 ? 0 : value > 255 ? 255 : (int) lrint (value);
}

int
scene_synthetic (Scene *scene, int width, int height, int disparities)
{
  Image *images[2] = { &scene->left, &scene->right };
  size_t pixels = (size_t) width * (size_t) height;
  double d;

  memset (scene, 0, sizeof *scene);
  snprintf (scene->name, sizeof scene->name, "synthetic");
  snprintf (scene->group, sizeof scene->group, "synthetic");
  scene->disparities = disparities;
  scene->range = RANGE_MADE;
  scene->truth = malloc (pixels * sizeof *scene->truth);
  scene->visible = calloc (pixels, 1);
  for (int v = 0; v < 2; v++) {
    *images[v] = (Image){ width, height, 3, malloc (pixels * 3) };
    if (!images[v]->data || !scene->truth || !scene->visible) {
      fprintf (stderr, "no memory for a pair of %dx%d pixels\n", width, height);
      scene_free (scene);
      return 0;
    }
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        size_t at = (size_t) y * (size_t) width + (size_t) x;
        for (int c = 0; c < 3; c++)
          images[v]->data[at * 3 + (size_t) c] = (uint8_t) synthetic_sample (width, height, disparities, v, x, y, c, &d);
        if (v == 0) {
          double behind = x - d, front = rint (0.8 * (disparities - 1));
          scene->truth[at] = (float) d;
          scene->visible[at] = behind >= 0 && (d == front || !on_square (width, height, behind + front, y)) ? 255 : 0;
        }
      }
  }
  return 1;
}
