/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The readers of scenes, on small folders that the test makes. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/made_files.h"
#include "stereo/tools/scene.h"
#include "tests/support/check.h"

/* ---- what was read ----------------------------------------------------------------------- */

/* Loads the only scene in the folder; 0 if it cannot be had. */
static int
load_only (Scene *scene, int truth_scale)
{
  SceneList list = { 0 };
  int done = layouts_find (&list, top) && CHECK (list.count == 1, "%d scenes", list.count) &&
      scene_load (scene, &list.files[0], truth_scale);

  layouts_free (&list);
  return done;
}

/* The first pixel is unknown, and the last has @last. */
static void
check_truth (const Scene *scene, double last, int first_visible)
{
  if (!CHECK (scene->truth != NULL, "no truth"))
    return;
  CHECK (isinf (scene->truth[0]), "the first is %g", (double) scene->truth[0]);
  CHECK ((double) scene->truth[PIXELS - 1] == last, "the last is %g", (double) scene->truth[PIXELS - 1]);
  if (first_visible < 0)
    CHECK (!scene->visible, "there is a mask");
  else if (CHECK (scene->visible != NULL, "no mask"))
    CHECK (scene->visible[0] == (first_visible ? 255 : 0) && scene->visible[PIXELS - 1] == 255, "mask %d .. %d",
        scene->visible[0], scene->visible[PIXELS - 1]);
}

static void
check_range (const Scene *scene, int disparities, RangeSource range)
{
  CHECK (scene->disparities == disparities && scene->range == range, "%d disparities, from %d", scene->disparities,
      (int) scene->range);
}

static void
check_refused (int truth_scale)
{
  Scene scene;

  if (!CHECK (!load_only (&scene, truth_scale), "it was taken"))
    scene_free (&scene);
}

/* ---- cases ------------------------------------------------------------------------------- */

static void
reads_pfm (void)
{
  Scene scene;

  write_view ("room/left.png");
  write_view ("room/right.png");
  write_pfm ("room/gt.pfm", WIDTH, HEIGHT);
  write_samples ("room/mask_nocc.png", 8, WIDTH, HEIGHT, 128, 255);
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  check_truth (&scene, HEIGHT, 0);
  check_range (&scene, 16, RANGE_TRUTH);
  CHECK (!strcmp (scene.name, "room") && !strcmp (scene.group, top + 5), "%s in %s", scene.name, scene.group);
  scene_free (&scene);
}

static void
reads_kitti_png (void)
{
  Scene scene;

  write_view ("kitti-000012/left.png");
  write_view ("kitti-000012/right.png");
  write_samples ("kitti-000012/gt.png", 16, WIDTH, HEIGHT, 0, 16 * 256 + 64);
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  check_truth (&scene, 16.25, -1);
  check_range (&scene, 32, RANGE_TRUTH); /* 16.25 lies between the disparities 16 and 17 */
  CHECK (!strcmp (scene.group, "kitti"), "group %s", scene.group);
  scene_free (&scene);
}

static void
reads_middlebury_2014 (void)
{
  Scene scene;

  write_view ("a/im0.png");
  write_view ("a/im1.png");
  write_pfm ("a/disp0.pfm", WIDTH, HEIGHT);
  write_samples ("a/mask0nocc.png", 8, WIDTH, HEIGHT, 0, 255);
  write_text ("a/calib.txt", "cam0=[1 0 2; 0 1 2; 0 0 1]\nndisp=290\nisint=0\n");
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  check_truth (&scene, HEIGHT, 0);
  check_range (&scene, 290, RANGE_CALIBRATION);
  scene_free (&scene);
}

/* 1110 rows count pixels, 555 half pixels, 370 thirds; disp5.png is not the left view's. */
static void
reads_middlebury_2006 (void)
{
  static const int rows[] = { 1110, 555, 370 };

  for (int k = 0; k < 3; k++) {
    Scene scene;
    write_view_of ("a/view1.png", 2, rows[k]);
    write_view_of ("a/view5.png", 2, rows[k]);
    write_samples ("a/disp1.png", 8, 2, rows[k], 0, 60);
    write_samples ("a/disp5.png", 8, 2, rows[k], 0, 90);
    if (!CHECK (load_only (&scene, 0), "%d rows: not read", rows[k]))
      continue;
    CHECK (isinf (scene.truth[0]) && (double) scene.truth[1] == 60.0 / (k + 1), "%d rows: %g, %g", rows[k],
        (double) scene.truth[0], (double) scene.truth[1]);
    scene_free (&scene);
  }
}

static void
asks_for_the_scale_of_other_sizes (void)
{
  Scene scene;

  write_view ("a/view1.png");
  write_view ("a/view5.png");
  write_samples ("a/disp1.png", 8, WIDTH, HEIGHT, 0, 60);
  check_refused (0);
  if (CHECK (load_only (&scene, 4), "not read")) {
    check_truth (&scene, 15, -1);
    scene_free (&scene);
  }
}

static void
write_kitti (const char *left, const char *right, const char *frame)
{
  char name[128];

  snprintf (name, sizeof name, "training/%s/%s", left, frame);
  write_view (name);
  snprintf (name, sizeof name, "training/%s/%s", right, frame);
  write_view (name);
}

static void
check_kitti (const char *left, const char *right, const char *occ, const char *noc)
{
  char name[128];
  Scene scene;

  write_kitti (left, right, "000007_10.png");
  write_kitti (left, right, "000007_11.png"); /* without a truth, as KITTI has it */
  snprintf (name, sizeof name, "training/%s/000007_10.png", noc);
  write_samples (name, 16, WIDTH, HEIGHT, 0, 20 * 256);
  if (CHECK (load_only (&scene, 0), "not read without %s", occ)) {
    check_truth (&scene, 20, 0);
    scene_free (&scene);
  }
  snprintf (name, sizeof name, "training/%s/000007_10.png", occ);
  write_samples (name, 16, WIDTH, HEIGHT, 30 * 256, 20 * 256);
  if (CHECK (load_only (&scene, 0), "not read")) {
    CHECK ((double) scene.truth[0] == 30 && scene.visible[0] == 0 && scene.visible[1] == 255, "%g, %d, %d",
        (double) scene.truth[0], scene.visible[0], scene.visible[1]);
    CHECK (!strcmp (scene.name, "training/000007_10") && !strcmp (scene.group, "training"), "%s in %s", scene.name,
        scene.group);
    scene_free (&scene);
  }
}

static void
reads_kitti_2015 (void)
{
  check_kitti ("image_2", "image_3", "disp_occ_0", "disp_noc_0");
}

static void
reads_kitti_2012_colour (void)
{
  check_kitti ("colored_0", "colored_1", "disp_occ", "disp_noc");
}

static void
reads_kitti_2012_grey (void)
{
  check_kitti ("image_0", "image_1", "disp_occ", "disp_noc");
}

static void
takes_frames_without_any_truth (void)
{
  Scene scene;

  write_kitti ("image_2", "image_3", "000000_10.png");
  write_kitti ("image_2", "image_3", "000000_11.png");
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  CHECK (!scene.truth && !scene.visible, "there is a truth");
  check_range (&scene, 0, RANGE_UNKNOWN);
  scene_free (&scene);
}

/* Frames in left/ and right/ alone are a sequence without a truth, and no scene. */
static void
reads_sequences (void)
{
  Scene scene;

  write_view ("calm/left/1.png");
  write_view ("calm/right/1.png");
  write_view ("street/left/1.png");
  write_view ("street/right/1.png");
  write_view ("street/left/2.png");
  write_view ("street/right/2.png");
  write_samples ("street/gt/2.png", 16, WIDTH, HEIGHT, 0, 16 * 256);
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  CHECK (!strcmp (scene.name, "street/2") && !strcmp (scene.group, "street"), "%s in %s", scene.name, scene.group);
  check_truth (&scene, 16, -1);
  check_range (&scene, 32, RANGE_TRUTH); /* 16 disparities end at 15 */
  scene_free (&scene);
}

static void
takes_a_pair_without_truth (void)
{
  Scene scene;

  write_view ("a/left.png");
  write_view ("a/right.png");
  write_samples ("a/mask_nocc.png", 8, WIDTH, HEIGHT, 0, 255);
  if (!CHECK (load_only (&scene, 0), "not read"))
    return;
  CHECK (!scene.truth && !scene.visible, "there is a truth");
  scene_free (&scene);
}

static void
finds_many_in_order (void)
{
  static const char *const names[] = { "b/2/left.png", "b/2/right.png", "a/left.png", "a/right.png", "b/1/im0.png",
    "b/1/im1.png", "one/two/three/four/left.png", "one/two/three/four/right.png" };
  SceneList list = { 0 };

  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    write_view (names[k]);
  if (CHECK (layouts_find (&list, top) && list.count == 3, "%d scenes", list.count))
    CHECK (!strcmp (list.files[0].name, "a") && !strcmp (list.files[1].name, "b/1") &&
            !strcmp (list.files[2].name, "b/2") && !strcmp (list.files[2].group, "b"),
        "%s %s %s", list.files[0].name, list.files[1].name, list.files[2].name);
  layouts_free (&list);
}

/* ---- what is refused --------------------------------------------------------------------- */

static void
refuses_half_a_pair (void)
{
  SceneList list = { 0 };

  write_view ("a/left.png");
  CHECK (!layouts_find (&list, top), "it was taken");
  layouts_free (&list);
}

static void
refuses_a_truth_of_another_size (void)
{
  write_view ("a/left.png");
  write_view ("a/right.png");
  write_pfm ("a/gt.pfm", WIDTH + 1, HEIGHT);
  check_refused (0);
  write_pfm ("a/gt.pfm", WIDTH, HEIGHT);
  write_samples ("a/mask_nocc.png", 8, WIDTH, HEIGHT - 1, 0, 255);
  check_refused (0);
}

static void
refuses_views_of_two_sizes (void)
{
  write_view ("a/left.png");
  write_view_of ("a/right.png", WIDTH + 1, HEIGHT);
  check_refused (0);
}

static void
refuses_another_depth (void)
{
  write_view ("a/left.png");
  write_view ("a/right.png");
  write_samples ("a/gt.png", 8, WIDTH, HEIGHT, 0, 60); /* KITTI's has 16 bits */
  check_refused (0);
  write_view ("a/gt.png"); /* in colour */
  check_refused (0);
}

static void
refuses_garbage (void)
{
  static const char *const texts[] = { "", "no picture at all", "\211PNG\r\n\032\n" };
  static const char *const pfms[] = { "Pf\n7 5\n-1.0\nshort", "PF\n7 5\n-1.0\n", "Pf\n-7 5\n-1\n",
    "Pf\n99999999 5\n-1\n" };

  write_view ("a/left.png");
  write_view ("a/right.png");
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    write_text ("a/gt.png", texts[k]);
    check_refused (0);
  }
  for (size_t k = 0; k < sizeof pfms / sizeof *pfms; k++) {
    write_text ("a/gt.pfm", pfms[k]); /* comes before gt.png */
    check_refused (0);
  }
  write_pfm ("a/gt.pfm", WIDTH, HEIGHT);
  write_text ("a/calib.txt", "ndisp=many\n");
  check_refused (0);
  write_text ("a/calib.txt", "ndisp=0\n");
  check_refused (0);
}

static void
refuses_a_cut_png (void)
{
  char data[4096];

  write_view ("a/left.png");
  write_view ("a/right.png");
  write_samples ("a/gt.png", 16, WIDTH, HEIGHT, 0, 256);
  FILE *file = fopen (place ("a/gt.png"), "rb");
  size_t size = file ? fread (data, 1, sizeof data, file) : 0;
  if (file)
    fclose (file);
  CHECK (size > 50, "%zu bytes", size);
  CHECK (!truncate (place ("a/gt.png"), (off_t) (size - 25)), "not cut");
  check_refused (0);
}

/* Where one of them is opened, this waits for ever. */
static void
refuses_fifos (void)
{
  static const char *const names[] = { "a/left.png", "a/gt.pfm", "a/gt.png", "a/mask_nocc.png", "a/calib.txt" };

  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    write_view ("a/left.png");
    write_view ("a/right.png");
    write_pfm ("a/gt.pfm", WIDTH, HEIGHT);
    if (k == 2) /* a gt.pfm comes before it */
      CHECK (!unlink (place ("a/gt.pfm")), "not removed");
    unlink (place (names[k]));
    CHECK (!mkfifo (place (names[k]), 0600), "%s: no FIFO", names[k]);
    check_refused (0);
    CHECK (!image_write_png (place (names[k]), 1, 1, 1, 8, "x"), "%s was written", names[k]);
    CHECK (!unlink (place (names[k])), "not removed");
  }
  CHECK (!image_write_png (top, 1, 1, 1, 8, "x"), "a folder was written");
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  case_in_folder ("gt.pfm and mask_nocc.png", reads_pfm);
  case_in_folder ("gt.png of KITTI", reads_kitti_png);
  case_in_folder ("Middlebury 2014", reads_middlebury_2014);
  case_in_folder ("Middlebury 2006, three sizes", reads_middlebury_2006);
  case_in_folder ("Middlebury 2006, another size", asks_for_the_scale_of_other_sizes);
  case_in_folder ("KITTI 2015", reads_kitti_2015);
  case_in_folder ("KITTI 2012, colour", reads_kitti_2012_colour);
  case_in_folder ("KITTI 2012, grey", reads_kitti_2012_grey);
  case_in_folder ("KITTI's test set", takes_frames_without_any_truth);
  case_in_folder ("sequences", reads_sequences);
  case_in_folder ("no truth", takes_a_pair_without_truth);
  case_in_folder ("folders below", finds_many_in_order);
  case_in_folder ("half a pair", refuses_half_a_pair);
  case_in_folder ("truth of another size", refuses_a_truth_of_another_size);
  case_in_folder ("views of two sizes", refuses_views_of_two_sizes);
  case_in_folder ("truth of another depth", refuses_another_depth);
  case_in_folder ("garbage", refuses_garbage);
  case_in_folder ("a PNG cut short", refuses_a_cut_png);
  case_in_folder ("FIFOs", refuses_fifos);
  return check_finish ();
}
