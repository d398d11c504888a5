/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* temporal: noise is averaged away, and nothing else is: no trails, no scene in the next one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/stereo.h"
#include "tests/support/check.h"
#include "tests/support/picture.h"
#include "tests/support/random.h"

enum
{
  WIDTH = 181,
  HEIGHT = 93,
  BEHIND = 4, /* disparities of the background and of the square before it */
  BEFORE = 15,
  SIDE = 41,
  EDGE = 4
};

typedef struct Scene
{
  uint8_t view[2][HEIGHT][WIDTH];
  float disparity[HEIGHT][WIDTH];
} Scene;

/* The background, which begins at @from, and where @column is 0 or more, a square whose left edge is there; with noise. */
static void
paint_from (Scene *scene, int number, int from, int column, int noise, Random *random)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) {
        int place = x + (v ? BEFORE : 0) - column,
            inside = column >= 0 && place >= 0 && place < SIDE && abs (y - 45) < 21;
        double value = inside ? picture_texture (place, y, number + 40) :
                                picture_texture (x + from + (v ? BEHIND : 0), y, number);
        for (int k = 0; k < 3; k++) /* nearly normal; its standard deviation is @noise */
          value += random_range (random, -noise * 100, noise * 100) / 100.0;
        scene->view[v][y][x] = (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
      }
}

static void
paint (Scene *scene, int number, int column, int noise, Random *random)
{
  paint_from (scene, number, 0, column, noise, random);
}

static StereoPlan *
plan_new (double temporal)
{
  StereoError error = { 0 };
  StereoParams params;

  stereo_params_init (&params);
  params.backend = STEREO_BACKEND_CPU;
  params.num_disparities = 24;
  params.fill = STEREO_FILL_BACKGROUND;
  params.align = STEREO_ALIGN_OFF;
  params.threads = 2;
  params.temporal = temporal;
  StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  CHECK (plan != NULL, "%s", error.message);
  return plan;
}

static void
run (StereoPlan *plan, Scene *scene)
{
  StereoImage view[2];
  StereoOutput output = { scene->disparity, WIDTH * (ptrdiff_t) sizeof (float), STEREO_SAMPLE_F32, NULL, 0 };
  StereoError error = { 0 };

  for (int v = 0; v < 2; v++)
    view[v] = (StereoImage){ scene->view[v][0], WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST };
  CHECK (!stereo_plan_execute (plan, &view[0], &view[1], &output, NULL, &error), "%s", error.message);
}

/* Pixels that are off by more than a pixel, away from the borders of the picture and of the square: what only one view sees
 * is filled there, well or badly by chance. */
static int
wrong (const Scene *scene, int column)
{
  int count = 0, hidden = BEFORE - BEHIND + EDGE;

  for (int y = 4; y < HEIGHT - 4; y++)
    for (int x = 24; x < WIDTH - 24; x++) {
      int away = abs (y - 45),
          near = column >= 0 && x >= column - hidden && x < column + SIDE + EDGE && away < 21 + EDGE;
      int inside = near && x >= column + EDGE && x < column + SIDE - EDGE && away < 21 - EDGE;
      count += near == inside && !(fabs ((double) scene->disparity[y][x] - (inside ? BEFORE : BEHIND)) <= 1);
    }
  return count;
}

static int
changed (const Scene *a, const Scene *b)
{
  int count = 0;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      count += !(fabsf (a->disparity[y][x] - b->disparity[y][x]) <= 0.25f);
  return count;
}

static int
same (const Scene *a, const Scene *b)
{
  return !memcmp (a->disparity, b->disparity, sizeof a->disparity);
}

/* Two plans that see the same frames, with a temporal of their own each. */
typedef struct Both
{
  StereoPlan *plan[2];
  Scene *scene[2];
} Both;

static Both
both_new (double temporal, double other)
{
  return (Both){ { plan_new (temporal), plan_new (other) }, { calloc (1, sizeof (Scene)), calloc (1, sizeof (Scene)) } };
}

/* What was painted in the first scene. */
static void
both_run (Both *b)
{
  memcpy (b->scene[1]->view, b->scene[0]->view, sizeof b->scene[0]->view);
  for (int k = 0; k < 2; k++)
    run (b->plan[k], b->scene[k]);
}

static void
both_free (Both *b)
{
  for (int k = 0; k < 2; k++) {
    stereo_plan_free (b->plan[k]);
    free (b->scene[k]);
  }
}

/* What stands still is steadier and better with noise; without noise it stays to the bit. */
static void
test_still (int noise)
{
  Both b = both_new (0, 0.75);
  Scene before[2];
  int off[2] = { 0 }, flicker[2] = { 0 };
  Random random = { 3 };

  for (int frame = 0; frame < 16; frame++) {
    for (int k = 0; k < 2; k++)
      before[k] = *b.scene[k];
    paint (b.scene[0], 1, 60, noise, &random);
    both_run (&b);
    for (int k = 0; k < 2 && frame >= 9; k++) {
      off[k] += wrong (b.scene[k], 60);
      flicker[k] += changed (b.scene[k], &before[k]);
    }
    CHECK (noise || same (b.scene[0], b.scene[1]), "frame %d is not as without temporal", frame);
  }
  CHECK (!noise || 3 * flicker[1] < flicker[0], "%d changes with temporal, %d without", flicker[1], flicker[0]);
  CHECK (off[1] <= off[0], "%d wrong pixels with temporal, %d without", off[1], off[0]);
  both_free (&b);
}

/* A square that moves leaves nothing behind. */
static void
test_motion (int step, int noise)
{
  Both b = both_new (0, 1);
  Random random = { 5 };
  int most = WIDTH * HEIGHT / 1000;

  for (int frame = 0; frame < 12; frame++) {
    int column = 26 + step * frame % 90;
    paint (b.scene[0], 2, column, noise, &random);
    both_run (&b);
    if (frame >= 2)
      CHECK (wrong (b.scene[1], column) <= wrong (b.scene[0], column) + most, "frame %d: %d wrong, %d without temporal",
          frame, wrong (b.scene[1], column), wrong (b.scene[0], column));
  }
  both_free (&b);
}

/* A cut that nobody tells of; and stereo_plan_forget(), after which a plan is as new. */
static void
test_cut (int noise, int forget)
{
  Both b = both_new (1, 1);
  StereoError error = { 0 };
  Random random = { 7 };

  for (int frame = 0; frame < 10; frame++) {
    paint (b.scene[0], 3, 50, noise, &random);
    run (b.plan[0], b.scene[0]);
  }
  if (forget)
    CHECK (!stereo_plan_forget (b.plan[0], &error), "%s", error.message);
  for (int frame = 0; frame < 3; frame++) {
    paint (b.scene[0], forget ? 3 : 9, 50, noise, &random);
    both_run (&b);
    if (forget)
      CHECK (same (b.scene[0], b.scene[1]), "frame %d after stereo_plan_forget() differs from a new plan's", frame);
    else
      CHECK (wrong (b.scene[0], 50) <= wrong (b.scene[1], 50) + WIDTH * HEIGHT / 1000,
          "frame %d after a cut: %d wrong, %d of a new plan", frame, wrong (b.scene[0], 50), wrong (b.scene[1], 50));
  }
  both_free (&b);
}

/* A camera that turns: what is unsure is taken from the frame before, and that is no worse. A plan that forgets is as new, and
 * after a cut that nobody tells of nothing is taken. */
static void
test_camera (int noise, int step)
{
  Both b = both_new (0, 0.75);
  int off[2] = { 0 }, taken = 0;
  StereoError error = { 0 };
  Random random = { 11 };

  for (int frame = 0; frame < 12; frame++) {
    int column = step > 0 ? 120 - step * frame : 40 - step * frame, moves = frame > 0 && frame != 8 && frame != 10;
    if (frame == 8)
      CHECK (!stereo_plan_forget (b.plan[1], &error), "%s", error.message);
    paint_from (b.scene[0], frame < 10 ? 5 : 8, step * frame + (frame < 10 ? 0 : 777), column, noise, &random);
    both_run (&b);
    for (int k = 0; k < 2; k++)
      off[k] += wrong (b.scene[k], column);
    CHECK (moves || same (b.scene[0], b.scene[1]), "frame %d takes over what it must not", frame);
    taken += !same (b.scene[0], b.scene[1]);
  }
  CHECK (taken > 0, "nothing is taken over");
  CHECK (off[1] <= off[0], "%d wrong pixels with temporal, %d without", off[1], off[0]);
  both_free (&b);
}

/* Frames in flight keep their order. */
static void
test_flight (void)
{
  StereoPlan *plan = plan_new (1), *other = plan_new (1);
  Scene *scenes = calloc (8, sizeof *scenes), *want = calloc (1, sizeof *want);
  StereoError error = { 0 };
  Random random = { 9 };

  for (int k = 0; k <= 8; k++) {
    if (k < 8) {
      StereoOutput output = { scenes[k].disparity, WIDTH * (ptrdiff_t) sizeof (float), STEREO_SAMPLE_F32, NULL, 0 };
      paint (&scenes[k], 4, 40, 4, &random);
      StereoImage left = { scenes[k].view[0][0], WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST }, right = left;
      right.data = scenes[k].view[1][0];
      CHECK (!stereo_plan_submit (plan, &left, &right, &output, &error), "%s", error.message);
    }
    if (k)
      CHECK (!stereo_plan_collect (plan, NULL, &error), "%s", error.message);
  }
  for (int k = 0; k < 8; k++) {
    memcpy (want->view, scenes[k].view, sizeof want->view);
    run (other, want);
    CHECK (same (&scenes[k], want), "frame %d in flight differs from execute's", k);
  }
  stereo_plan_free (plan);
  stereo_plan_free (other);
  free (scenes);
  free (want);
}

int
main (int argc, char **argv)
{
  static const int noises[] = { 0, 3, 8 }, steps[] = { 1, 4, 20 };

  check_start (argc, argv);
  for (int n = 0; n < 3; n++) {
    if (check_begin ("noise %d: what stands still", noises[n]))
      test_still (noises[n]), check_end ();
    for (int s = 0; s < 3; s++)
      if (check_begin ("noise %d: a square that moves by %d px", noises[n], steps[s]))
        test_motion (steps[s], noises[n]), check_end ();
    if (check_begin ("noise %d: a cut", noises[n]))
      test_cut (noises[n], 0), check_end ();
  }
  for (int s = 0; s < 2; s++)
    if (check_begin ("a camera that turns by %d px", s ? -7 : 5))
      test_camera (8, s ? -7 : 5), check_end ();
  if (check_begin ("a plan forgets"))
    test_cut (4, 1), check_end ();
  if (check_begin ("frames in flight"))
    test_flight (), check_end ();
  return check_finish ();
}
