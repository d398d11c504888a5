/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Alignment: a vertical disparity that the test has put in is found, followed and taken out; without one, and where nothing
 * can be known, the views stay as they are. */
#include <math.h>
#include <stdlib.h>

#include "pair.h"
#include "stereo/align/align.h"

/* ---- a sloping ground with a box before it, textured, in two views whose rows do not agree --------------- */

#define SCENE_SEARCH 48 /* disparities that reach all of it */

typedef struct Scene
{
  int width, height;
  double dy[6]; /* as StereoAlignment.coefficients */
  double gain, noise;
  uint64_t seed;
  Pair pair;
} Scene;

static double
lattice (uint64_t seed, int x, int y)
{
  Random random = { seed ^ (uint64_t) (uint32_t) x << 32 ^ (uint32_t) y * 2654435761u };
  return random_unit (&random);
}

/* Smooth noise of one size. */
static double
noise_at (uint64_t seed, double x, double y)
{
  double x0 = floor (x), y0 = floor (y), fx = x - x0, fy = y - y0;
  int i = (int) x0, j = (int) y0;

  fx = fx * fx * (3 - 2 * fx);
  fy = fy * fy * (3 - 2 * fy);
  double top = lattice (seed, i, j) * (1 - fx) + lattice (seed, i + 1, j) * fx;
  double bottom = lattice (seed, i, j + 1) * (1 - fx) + lattice (seed, i + 1, j + 1) * fx;
  return top * (1 - fy) + bottom * fy;
}

static double
texture (uint64_t seed, double x, double y)
{
  return 30 + 50 * noise_at (seed, x / 3.7, y / 3.1) + 60 * noise_at (seed + 1, x / 9, y / 8) +
      60 * noise_at (seed + 2, x / 31, y / 27);
}

/* What coefficients say at (u, v), each from -0.5 to 0.5: pixels by which the right view is lower. */
static double
scene_offset (const double c[6], double u, double v)
{
  return c[0] + c[1] * v + c[2] * u + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

static double
disparity_at (const Scene *s, int box, double y)
{
  return box ? 0.7 * SCENE_SEARCH : 2 + 0.4 * SCENE_SEARCH * y / s->height;
}

static int
in_box (const Scene *s, double x, double y)
{
  return x > 0.4 * s->width && x < 0.65 * s->width && y > 0.25 * s->height && y < 0.7 * s->height;
}

/* What the right view has at (x, y): the nearest surface on that ray. */
static double
right_value (const Scene *s, int x, int y)
{
  double row = y, u = (double) x / s->width - 0.5;

  for (int k = 0; k < 4; k++)
    row = y - scene_offset (s->dy, u, row / s->height - 0.5);
  for (int box = 1; box >= 0; box--) {
    double column = x + disparity_at (s, box, row);
    if (!box || in_box (s, column, row))
      return texture (s->seed + 100 * (uint64_t) box, column, row);
  }
  return 0;
}

static void
put (Picture *picture, int x, int y, double value, double noise, Random *random)
{
  double sum = random_unit (random) + random_unit (random) + random_unit (random) - 1.5; /* variance 1/4 */
  double noisy = value + 2 * noise * sum;
  int grey = (int) lrint (noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
  picture_set (picture, x, y, (int[3]){ grey, grey, grey });
}

static void
paint (Scene *s)
{
  Random random = { s->seed };

  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      int box = in_box (s, x, y);
      put (&s->pair.picture[0], x, y, texture (s->seed + 100 * (uint64_t) box, x, y), s->noise, &random);
      put (&s->pair.picture[1], x, y, right_value (s, x, y) * s->gain, s->noise, &random);
    }
}

/* @gain: of the right view's grey levels. @noise: its standard deviation in both views. Freed by pair_free(). */
static void
scene_new (Scene *s, int width, int height, const double dy[6], double gain, double noise, uint64_t seed)
{
  *s = (Scene){ .width = width, .height = height, .gain = gain, .noise = noise, .seed = seed };
  memcpy (s->dy, dy, sizeof s->dy);
  pair_new (&s->pair, width, height, seed);
  paint (s);
}

/* ---- plans ------------------------------------------------------------------------------------- */

static StereoPlan *
plan_on (const Scene *s, const char *words)
{
  StereoError error = { 0 };
  StereoParams params;

  params_small (&params);
  params_set (&params, "num-disparities=%d %s", SCENE_SEARCH, words);
  StereoPlan *plan = stereo_plan_new (&params, s->width, s->height, &error);
  CHECK (plan != NULL, "%s", error.message);
  return plan;
}

static StereoPlan *
plan_for (const Scene *s, int align)
{
  return plan_on (s, align ? "method=bm align=auto" : "method=bm align=off");
}

/* What the plan has found after @frames of the scene. */
static StereoAlignment
run_frames (StereoPlan *plan, Scene *s, int frames)
{
  StereoAlignment a = { 0 };

  for (int k = 0; k < frames && plan; k++)
    execute (plan, &s->pair, NULL);
  if (plan)
    stereo_plan_alignment (plan, &a);
  return a;
}

/* Root mean square over the picture of what the estimate is wrong by. */
static double
error_of (const Scene *s, const StereoAlignment *a)
{
  double squares = 0;

  for (int j = 0; j <= 20; j++)
    for (int i = 0; i <= 20; i++) {
      double u = i / 20.0 - 0.5, v = j / 20.0 - 0.5;
      double wrong = scene_offset (a->coefficients, u, v) - scene_offset (s->dy, u, v);
      squares += wrong * wrong;
    }
  return sqrt (squares / 441);
}

static StereoAlignment
align_one (Scene *s)
{
  StereoPlan *plan = plan_for (s, STEREO_ALIGN_AUTO);
  StereoAlignment a = run_frames (plan, s, 1);

  stereo_plan_free (plan);
  return a;
}

/* ---- tests --------------------------------------------------------------------------------- */

CASE (test_known, "known vertical disparities are found")
{
  static const struct
  {
    double dy[6], gain, noise;
    int width, height;
  } cases[] = {
    { { 0.5 }, 1, 1, 640, 360 },
    { { -1.3 }, 1.2, 2, 641, 277 },
    { { 3 }, 1, 1, 500, 300 },
    { { -2.9 }, 0.8, 2, 333, 259 },
    { { 0.2, 1.5, -0.8 }, 1, 2, 640, 360 },
    { { 1, -0.4, 3 }, 0.85, 2, 741, 497 },
    { { 0.28, 0.28, 0.53, -0.16, 1.11, 0.53 }, 1, 2, 1242, 375 },
    { { -0.4, 0.1, 0, -1.3, 5.5, -0.5 }, 1.1, 3, 1242, 375 },
    { { 0, 1, -1, 4, -3, 3 }, 1, 1, 640, 480 },
    { { 0.3, 0, 0.4, 0.5 }, 1, 2, 1921, 541 },
    { { 0.15 }, 1, 4, 640, 360 },
    { { 0.5 }, 0.6, 1, 640, 360 },
  };

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Scene s;
    scene_new (&s, cases[k].width, cases[k].height, cases[k].dy, cases[k].gain, cases[k].noise, 77 + k);
    StereoAlignment a = align_one (&s);
    double wrong = error_of (&s, &a);
    printf ("case %zu: wrong by %.3f px, %d points, %.3f px before, %.3f px after\n", k, wrong, a.points, a.before,
        a.after);
    CHECK (a.active, "case %zu is not aligned; %d points", k, a.points);
    CHECK (wrong < 0.05, "case %zu is wrong by %g px", k, wrong);
    pair_free (&s.pair);
  }
}

/* Whatever the layout of the images, the alignment is the same to the bit, and nothing beside them is read. */
CASE (test_layouts, "any layout")
{
  static const double dy[6] = { 0.7, 0.2, -0.3 };
  Random random = { random_seed () };
  StereoAlignment first = { 0 };
  Scene s;

  scene_new (&s, 331, 170, dy, 1, 1, 21);
  first = align_one (&s);
  for (int k = 0; k < 24; k++) {
    Picture packed[2], plain[2] = { s.pair.picture[0], s.pair.picture[1] };
    const PictureLayout *layout = picture_random_layout (&random);
    for (int v = 0; v < 2; v++) {
      picture_new (&packed[v], s.width, s.height, layout, k % 2 ? PICTURE_GUARD_BEFORE : PICTURE_GUARD_AFTER);
      for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++) {
          int grey = plain[v].data[y * plain[v].stride + 3 * x];
          picture_set (&packed[v], x, y, (int[3]){ grey, grey, grey });
        }
      s.pair.picture[v] = packed[v];
    }
    StereoPlan *plan = plan_for (&s, STEREO_ALIGN_AUTO);
    StereoAlignment a = run_frames (plan, &s, 1);
    CHECK (a.active && !memcmp (a.coefficients, first.coefficients, sizeof a.coefficients), "layout %d: %g, not %g", k,
        a.coefficients[0], first.coefficients[0]);
    run_frames (plan, &s, 25);
    stereo_plan_free (plan);
    for (int v = 0; v < 2; v++) {
      picture_free (&packed[v]);
      s.pair.picture[v] = plain[v];
    }
  }
  pair_free (&s.pair);
}

/* Pixels whose disparity is right. */
static int
count_with (const double dy[6], int align)
{
  Scene s;
  int right = 0;

  scene_new (&s, 640, 240, dy, 1, 2, 5);
  StereoPlan *plan = plan_for (&s, align);
  run_frames (plan, &s, 1);
  for (int y = 0; y < s.height; y++)
    for (int x = SCENE_SEARCH; x < s.width; x++)
      right += fabs (s.pair.result[y * s.width + x] / 64.0 - disparity_at (&s, in_box (&s, x, y), y)) < 0.5;
  stereo_plan_free (plan);
  pair_free (&s.pair);
  return right;
}

/* The disparity of an aligned pair is as good as that of a pair without a vertical disparity. */
CASE (test_worth, "alignment is worth it")
{
  static const double none[6] = { 0 }, some[6] = { 1.8, 0.5, -1.5, 0, 1 };
  int best = count_with (none, STEREO_ALIGN_OFF), without = count_with (some, STEREO_ALIGN_OFF);
  int with = count_with (some, STEREO_ALIGN_AUTO);

  CHECK (with > 0.97 * best, "%d pixels are right with alignment, %d where none is needed", with, best);
  CHECK (without < 0.8 * best, "%d pixels are right without alignment, %d where none is needed", without, best);
}

/* A rectified pair gives the same bits as with align=off. */
CASE (test_rectified, "a rectified pair is left alone")
{
  static const double none[6] = { 0 };

  for (uint64_t seed = 1; seed <= 4; seed++) {
    Scene s, t;
    scene_new (&s, 400 + 37 * (int) seed, 300, none, 1 + 0.05 * (double) seed, (double) seed, seed);
    scene_new (&t, 400 + 37 * (int) seed, 300, none, 1 + 0.05 * (double) seed, (double) seed, seed);
    StereoPlan *aligned = plan_for (&s, STEREO_ALIGN_AUTO), *plain = plan_for (&t, STEREO_ALIGN_OFF);
    StereoAlignment a;
    for (int frame = 0; frame < 3; frame++) {
      execute (aligned, &s.pair, NULL);
      execute (plain, &t.pair, NULL);
      stereo_plan_alignment (aligned, &a);
      CHECK (
          !a.active && a.points > 100, "seed %d: active %d, %d points, rms %g", (int) seed, a.active, a.points, a.rms);
      CHECK (a.rms < 0.05, "seed %d: rms %g px", (int) seed, a.rms);
      CHECK (pair_same_results (&s.pair, &t.pair), "seed %d: the result differs from align=off", (int) seed);
    }
    stereo_plan_alignment (plain, &a);
    CHECK (!a.active && !a.points && !a.rms, "align=off has an alignment");
    stereo_plan_free (aligned);
    stereo_plan_free (plain);
    pair_free (&s.pair);
    pair_free (&t.pair);
  }
}

/* Nothing to find: no alignment, and no crash. */
CASE (test_nothing, "where nothing can be known there is no alignment")
{
  static const int sizes[][2] = { { 1, 1 }, { 16, 16 }, { 7, 300 }, { 300, 7 }, { 40, 24 }, { 320, 200 }, { 1300, 40 } };
  static const double none[6] = { 0 };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int kind = 0; kind < PICTURE_KINDS; kind++) {
      Random random = { 9 + k };
      Scene s;
      scene_new (&s, sizes[k][0], sizes[k][1], none, 1, 0, 3);
      picture_paint (&s.pair.picture[0], &s.pair.picture[1], (PictureKind) kind, 0, 20, &random);
      StereoPlan *plan = plan_for (&s, STEREO_ALIGN_AUTO);
      StereoAlignment a = run_frames (plan, &s, 4);
      CHECK (!a.active, "%dx%d %s is aligned: %d points, rms %g", sizes[k][0], sizes[k][1], picture_kind_names[kind],
          a.points, a.rms);
      stereo_plan_free (plan);
      pair_free (&s.pair);
    }
}

/* The first pair may be dark; a knock moves a camera; both are followed within two seconds of 30 pairs. */
CASE (test_follow, "the estimate follows")
{
  static const double before[6] = { 0.4, 0.3 }, after[6] = { -0.8, 0.3, 0.5 };
  Scene dark, s, knocked;

  scene_new (&dark, 480, 270, before, 1, 1, 11);
  scene_new (&s, 480, 270, before, 1, 2, 12);
  scene_new (&knocked, 480, 270, after, 1, 2, 13);
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < 270; y++)
      for (int x = 0; x < 480; x++)
        picture_set (&dark.pair.picture[v], x, y, (int[3]){ 3, 3, 3 });
  StereoPlan *plan = plan_for (&s, STEREO_ALIGN_AUTO);
  if (plan) {
    StereoAlignment a = run_frames (plan, &dark, 3);
    CHECK (!a.active, "a dark pair is aligned");
    a = run_frames (plan, &s, 40);
    CHECK (a.active && error_of (&s, &a) < 0.05, "active %d, wrong by %g px", a.active, error_of (&s, &a));
    a = run_frames (plan, &dark, 200);
    CHECK (a.active && error_of (&s, &a) < 0.05, "in the dark: active %d, wrong by %g px", a.active, error_of (&s, &a));
    a = run_frames (plan, &knocked, 60);
    CHECK (a.active && error_of (&knocked, &a) < 0.05, "after a knock: active %d, wrong by %g px", a.active,
        error_of (&knocked, &a));
  }
  stereo_plan_free (plan);
  pair_free (&dark.pair);
  pair_free (&s.pair);
  pair_free (&knocked.pair);
}

/* On a device, the steps are captured once more when alignment begins, with the first pair or later, and nothing else about the
 * frames changes. One pair in a few is looked at there. */
CASE_ON_DEVICE (test_device, "on a device, alignment begins")
{
  static const double none[6] = { 0 }, some[6] = { 0.7, 0.2, -0.3 };
  enum
  {
    FIRST = 3,
    FRAMES = 200
  };

  for (int late = 0; late < 2; late++) {
    Scene s[2][2]; /* of each plan: rectified, and not */
    StereoPlan *plan[2];
    StereoAlignment a = { 0 };
    for (int graph = 0; graph < 2; graph++) {
      scene_new (&s[graph][0], 331, 170, none, 1, 1, 31);
      scene_new (&s[graph][1], 331, 170, some, 1, 1, 31);
      setenv ("STEREO_CUDA_GRAPH", graph ? "1" : "0", 1); /* frames run as one CUDA graph, or kernel by kernel */
      plan[graph] = plan_on (&s[graph][0], "backend=cuda align=auto");
      unsetenv ("STEREO_CUDA_GRAPH");
    }
    for (int frame = 0; frame < FRAMES && plan[0] && plan[1]; frame++) {
      int scene = !late || frame >= FIRST;
      for (int graph = 0; graph < 2; graph++)
        execute (plan[graph], &s[graph][scene].pair, NULL);
      CHECK (
          pair_same_results (&s[0][scene].pair, &s[1][scene].pair), "frame %d: the graph gives another result", frame);
      stereo_plan_alignment (plan[1], &a);
      CHECK (a.active || (late && frame < FRAMES - 1), "frame %d is not aligned", frame);
      CHECK (!a.active || !late || frame >= FIRST, "frame %d is aligned", frame);
    }
    for (int graph = 0; graph < 2; graph++) {
      stereo_plan_free (plan[graph]);
      pair_free (&s[graph][0].pair);
      pair_free (&s[graph][1].pair);
    }
  }
}

/* Lets @aligner see the pair until its estimate is below @rms, px, or so many times. */
static void
follow_down (StereoAligner *aligner, Scene *s, int frames, double rms)
{
  StereoImage left = picture_view (&s->pair.picture[0]), right = picture_view (&s->pair.picture[1]);

  for (int k = 0; k < frames && (k == 0 || stereo_aligner_result (aligner)->rms > rms); k++)
    stereo_aligner_follow (aligner, &left, &right);
}

/* What is used is given up later than it would be begun: an estimate between the two does not switch. */
CASE (test_given_up_later, "what is used is given up later")
{
  static const double used[6] = { 0.2 }, little[6] = { 0.066 };
  Scene s, less;

  scene_new (&s, 640, 360, used, 1, 1, 21);
  scene_new (&less, 640, 360, little, 1, 1, 21);
  StereoAligner *uses = stereo_aligner_new (640, 360, 0, SCENE_SEARCH),
                *begins = stereo_aligner_new (640, 360, 0, SCENE_SEARCH);
  StereoImage left = picture_view (&s.pair.picture[0]), right = picture_view (&s.pair.picture[1]);
  stereo_aligner_measure (uses, &left, &right);
  CHECK (stereo_aligner_result (uses)->active, "0.2 px are not aligned");
  follow_down (uses, &less, 2000, 0.08);
  follow_down (begins, &less, 30, -1);
  const StereoAlignment *one = stereo_aligner_result (uses), *other = stereo_aligner_result (begins);
  CHECK (one->rms > 0.06 && one->rms < 0.09 && other->rms > 0.06 && other->rms < 0.09, "%g and %g px of 0.066",
      one->rms, other->rms);
  CHECK (one->active && !other->active, "%g px are%s used, and %g px are%s begun with", one->rms,
      one->active ? "" : " not", other->rms, other->active ? "" : " not");
  stereo_aligner_free (uses);
  stereo_aligner_free (begins);
  pair_free (&s.pair);
  pair_free (&less.pair);
}
