/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The motion stage in scenes whose motion is known.
 *
 * A scene is a surface before a pinhole camera with a focal length, which turns and moves. Both are put into formulas: each
 * pixel of the present view is followed exactly, by a rotation matrix, to its place and disparity in the frame before. The
 * present view has the texture of that place, the frame before the disparity of the surface there. So nothing is matched, and
 * nothing is estimated but what the stage estimates.
 *
 * A fourth of the pixels is unlikely, and off by up to 3 px. They take over what the frame before had. The confidence of each of
 * its pixels is a code of its place, so that what was taken over tells from where, to the pixel. Thousands of places, each between two
 * pixels in another way, tell the motion more exactly than that.
 */
#include <math.h>

#include "state.h"
#include "tests/support/check.h"
#include "tests/support/picture.h"

/*
 * The bounds. A point of the stage is found to 1/16 px, rounded towards the whole pixel, and its disparity is rounded to 1/64 px.
 * What lies between three sums is fitted by lines, which are off by less than 1/16 px where the texture is as smooth as here. The
 * fit takes the angles for small: the terms that it leaves out are their squares, at most 0.03^2 / 2 of half a picture, 0.1 px in
 * the corners, of which its eight numbers take up most. It averages over hundreds of points. So, before it is rounded to a whole
 * pixel, a place is at most this far from the true one:
 */
#define PLACE 0.125 /* px */
#define ROUNDED 0.5
#define SETTLED 1 /* px of disparity */

enum
{
  CODE = 10,   /* places in each direction that have different codes */
  LEAST = 135, /* confidence from which on codes are given */
  UNSURE = 51, /* confidence of pixels that are to take over */
  OFF = 3,     /* px, of their disparities at most */
  SEARCH = 64, /* disparities */
  MIXED = 6    /* scenes of all motions at once */
};

/* ---- a surface before a pinhole camera that turns and moves, by formulas -------------------------------- */

/* Motion of the cameras, from now to the frame before: angles in radians, ways in baselines. */
typedef struct Motion
{
  double yaw, pitch, roll, right, down, forward;
} Motion;

/* The same, ready for points: a rotation, then a translation. */
typedef struct Rigid
{
  double rotation[3][3], way[3];
} Rigid;

typedef struct Scene
{
  int width, height, texture, texture_before;
  double focal; /* px */
  Motion motion;
  Rigid rigid;
} Scene;

/* A place from the picture's middle, and a disparity, px. */
typedef struct Seen
{
  double u, v, d;
} Seen;

/* The surface of the present frame: from 11 px at the top to 37 px at the bottom, with waves. */
static double
moved_surface (const Scene *s, double u, double v)
{
  return 24 + 13 * v / (0.5 * s->height) + 2 * sin (u / 60) + sin (v / 45 + u / 110);
}

/* Turns the vector (@a, @b). */
static void
turn (double *a, double *b, double angle)
{
  double x = *a * cos (angle) - *b * sin (angle);
  *b = *a * sin (angle) + *b * cos (angle);
  *a = x;
}

/* x goes to the right, y down, z forward. */
static Rigid
moved_rigid (const Motion *m)
{
  Rigid rigid = { .way = { m->right, m->down, m->forward } };

  for (int axis = 0; axis < 3; axis++) {
    double of[3] = { axis == 0, axis == 1, axis == 2 };
    turn (&of[2], &of[0], m->yaw);
    turn (&of[1], &of[2], m->pitch);
    turn (&of[0], &of[1], m->roll);
    for (int k = 0; k < 3; k++)
      rigid.rotation[k][axis] = of[k];
  }
  return rigid;
}

/* Where that was, and how near. A point of disparity d lies baseline / d times (u, v, focal) from the camera. */
static Seen
moved_place (double focal, const Rigid *rigid, Seen now)
{
  double to[3];

  for (int k = 0; k < 3; k++)
    to[k] = rigid->rotation[k][0] * now.u + rigid->rotation[k][1] * now.v + rigid->rotation[k][2] * focal +
        rigid->way[k] * now.d;
  return (Seen){ focal * to[0] / to[2], focal * to[1] / to[2], focal * now.d / to[2] };
}

/* What is now where @u, @v was in the frame before: motions are small, so that it lies about as far from there. */
static Seen
moved_back (const Scene *s, double u, double v)
{
  Seen now = { u, v, 0 };

  for (int k = 0; k < 10; k++) {
    now.d = moved_surface (s, now.u, now.v);
    Seen then = moved_place (s->focal, &s->rigid, now);
    now.u += u - then.u;
    now.v += v - then.v;
  }
  now.d = moved_surface (s, now.u, now.v);
  return now;
}

/* From a column or row to the picture's middle, of a side of @size pixels. */
static double
moved_middle (int size)
{
  return (size - 1) / 2.0;
}

/* What is there in the present frame. */
static Seen
moved_pixel (const Scene *s, int x, int y)
{
  double u = x - moved_middle (s->width), v = y - moved_middle (s->height);
  return (Seen){ u, v, moved_surface (s, u, v) };
}

static uint8_t
grey (const Scene *s, double u, double v, int texture)
{
  return (uint8_t) lrint (picture_texture (u + moved_middle (s->width), v + moved_middle (s->height), texture));
}

/* ---- codes ---------------------------------------------------------------------------------------- */

/* What the stage leaves of a confidence: a sixteenth less. */
static int
aged (int confidence)
{
  return confidence - (int) floor (confidence / 16.0);
}

/* The confidence of the CODE x CODE places that are beside each other, and the number of the one that has a confidence once it is
 * aged; -1: none. */
static int codes[CODE * CODE], numbers[256];

/* If two would be the same when they are aged, the lower one is left out. */
static void
make_codes (void)
{
  int confidence = LEAST;

  for (int k = 0; k < 256; k++)
    numbers[k] = -1;
  for (int k = 0; k < CODE * CODE; k++, confidence++) {
    confidence += aged (confidence) == aged (confidence + 1);
    codes[k] = confidence;
    numbers[aged (confidence)] = k;
  }
}

static int
code (int x, int y)
{
  return codes[x % CODE + y % CODE * CODE];
}

/* The place nearest to (@x, @y) that had the code which became @confidence. */
static int
decode (int confidence, double x, double y, int *column, int *row)
{
  int u = numbers[confidence] % CODE, v = numbers[confidence] / CODE;

  *column = u + CODE * (int) lrint ((x - u) / CODE);
  *row = v + CODE * (int) lrint ((y - v) / CODE);
  return numbers[confidence] >= 0;
}

/* ---- the stage ------------------------------------------------------------------------------------ */

static void
draw_now (const Scene *s, StereoPlan *p, int x, int y, Random *random)
{
  Seen now = moved_pixel (s, x, y), then = moved_place (s->focal, &s->rigid, now);
  size_t at = naive_map (p, x, y);
  int unsure = random_range (random, 0, 3) == 0;
  double d = now.d + (unsure ? OFF * (2 * random_unit (random) - 1) : 0);

  p->view[STEREO_LEFT].luma[naive_image (p, x, y)] = grey (s, then.u, then.v, s->texture);
  p->view[STEREO_LEFT].index[at] = (uint16_t) lrint (d);
  p->view[STEREO_LEFT].confidence[at] = unsure ? UNSURE / 255.0f : 1.0f;
  p->disparity[at] = unsure && random_range (random, 0, 3) == 0 ? NAN : (float) d;
}

static void
draw_before (const Scene *s, StereoPlan *p, int x, int y, Random *random)
{
  double u = x - moved_middle (s->width), v = y - moved_middle (s->height);
  size_t at = naive_map (p, x, y);

  p->last.luma[at] = grey (s, u, v, s->texture_before);
  p->last.disparity[at] = (float) moved_place (s->focal, &s->rigid, moved_back (s, u, v)).d;
  p->last.confidence[at] = (uint8_t) code (x, y);
  p->last.age[at] = (uint8_t) (random_range (random, 0, 3) ? 1 : 2);
}

/* The steps before @step that load views, of black ones, and the branches that begin before @step: a device lets the stage's kernels
 * run beside those steps. */
static void
run_load (StereoPlan *plan, int step)
{
  static const uint8_t black[480 * 440]; /* the largest scene */
  StereoError error = { 0 };
  int count = 0;

  for (int v = 0; v < 2; v++)
    plan->input[v] = (StereoImage){ .data = black, .stride = plan->width, .pixel_stride = 1, .channels = 1 };
  stereo_plan_set_profiling (plan, 1); /* begin() runs no step */
  CHECK (!plan->backend->begin || !plan->backend->begin (plan, &error), "%s", error.message);
  while (count < step && naive_kind (plan, plan->steps[count].stage) != STAGE_MATCH)
    count++;
  CHECK (!stereo_run_steps (plan, 0, count, &error), "%s", error.message);
  for (; count < step && plan->backend->fork; count++)
    CHECK (!plan->backend->fork (plan, plan->steps[count].forks, &error), "%s", error.message);
}

/* Draws the scene into the plan, runs the stage, and hands back what it made; @before is what was drawn. */
static Naive *
run_stage (const Scene *s, StereoPlan *plan, Naive **before, uint64_t seed)
{
  Random random = { seed };
  StereoError error = { 0 };
  int step = 0;

  while (step < plan->step_count && naive_kind (plan, plan->steps[step].stage) != STAGE_MOTION)
    step++;
  if (!CHECK (step < plan->step_count, "no motion stage"))
    return NULL;
  run_load (plan, step);
  *before = state_take (plan);
  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      draw_now (s, &(*before)->plan, x, y, &random);
      draw_before (s, &(*before)->plan, x, y, &random);
    }
  state_put (*before, plan);
  CHECK (!stereo_run_steps (plan, step, step + 1, &error), "%s", error.message);
  return state_take (plan);
}

/* ---- what was found --------------------------------------------------------------------------------- */

/* By how much the surface changes within a pixel from there. */
static double
change (const Scene *s, Seen now)
{
  return fabs (moved_surface (s, now.u + 1, now.v) - moved_surface (s, now.u - 1, now.v)) / 2 +
      fabs (moved_surface (s, now.u, now.v + 1) - moved_surface (s, now.u, now.v - 1)) / 2;
}

/* A pixel that has taken over: from the right place, what is true there. */
static void
check_taken (const Scene *s, const Naive *before, const Naive *after, int x, int y)
{
  Seen now = moved_pixel (s, x, y), then = moved_place (s->focal, &s->rigid, now);
  double column = then.u + moved_middle (s->width), row = then.v + moved_middle (s->height);
  double half = (s->width > s->height ? s->width : s->height) / 2.0;
  size_t at = naive_map (&after->plan, x, y);
  int from_x, from_y;

  if (!CHECK (decode (after->plan.last.confidence[at], column, row, &from_x, &from_y),
          "column %d, row %d: confidence %d is none that was aged", x, y, after->plan.last.confidence[at]))
    return;
  /* a pixel does not look again when its disparity was less than SETTLED off */
  double drawn = isnan (before->plan.disparity[at]) ? before->plan.view[STEREO_LEFT].index[at] :
                                                      (double) before->plan.disparity[at];
  double away = fmin (fabs (drawn - now.d), SETTLED);
  Seen farther = moved_place (s->focal, &s->rigid, (Seen){ now.u, now.v, now.d - away });
  Seen nearer = moved_place (s->focal, &s->rigid, (Seen){ now.u, now.v, now.d + away });
  double unsettled = fmax (fabs (nearer.u - farther.u), fabs (nearer.v - farther.v)) / 2;
  double off = fmax (fabs (from_x - column), fabs (from_y - row)), most = ROUNDED + PLACE + unsettled;
  if (!CHECK (off <= most, "column %d, row %d: was at %g, %g, found at %d, %d; %g px is the bound", x, y, column, row,
          from_x, from_y, most))
    return;
  int age = before->plan.last.age[naive_map (&before->plan, from_x, from_y)];
  CHECK (after->plan.last.age[at] == age + 1, "column %d, row %d: age %d, of one of %d", x, y, after->plan.last.age[at],
      age);
  /* rounded places are on another part of the surface; and scale is as wrong as places are */
  double bound = change (s, now) * most + now.d * PLACE / half;
  double d = (double) after->plan.disparity[at];
  CHECK (fabs (d - now.d) <= bound, "column %d, row %d: %g px, but %g is true, and %g px is the bound", x, y, d, now.d,
      bound);
}

static void
check_pixels (const Scene *s, const Naive *before, const Naive *after)
{
  const StereoPlan *p = &after->plan;
  int unsure = 0, taken = 0;

  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      size_t at = naive_map (p, x, y);
      Seen then = moved_place (s->focal, &s->rigid, moved_pixel (s, x, y));
      if (before->plan.view[STEREO_LEFT].confidence[at] >= 0.5f)
        continue;
      /* what was in the picture, with all that has to look alike around it */
      int inside = fabs (then.u) < moved_middle (s->width) - 4 && fabs (then.v) < moved_middle (s->height) - 4;
      unsure += inside;
      if (p->last.age[at] < 2)
        continue;
      taken += inside;
      check_taken (s, before, after, x, y);
    }
  CHECK (unsure > 0 && taken > unsure / 2, "%d of %d pixels take over", taken, unsure);
}

/* ---- scenes --------------------------------------------------------------------------------------- */

static StereoPlan *
plan_new (StereoBackendChoice backend, int width, int height)
{
  StereoError error = { 0 };
  StereoParams params;

  stereo_params_init (&params);
  params.backend = backend;
  params.method = STEREO_METHOD_BM;
  params.num_disparities = SEARCH;
  params.align = STEREO_ALIGN_OFF;
  params.fill = STEREO_FILL_BACKGROUND;
  params.confidence_measure = STEREO_CONFIDENCE_PROBABILITY;
  params.temporal = 1;
  StereoPlan *plan = stereo_plan_new (&params, width, height, &error);
  CHECK (plan != NULL, "%s", error.message);
  return plan;
}

/* No motion is followed: nothing is taken over. */
static void
check_nothing (const Scene *s, const Naive *before, const Naive *after)
{
  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      size_t at = naive_map (&after->plan, x, y);
      float was_there = before->plan.disparity[at], is_there = after->plan.disparity[at];
      CHECK (isnan (was_there) ? isnan (is_there) : is_there == was_there, "column %d, row %d: %g became %g", x, y,
          (double) was_there, (double) is_there);
      CHECK (after->plan.last.age[at] == !isnan (is_there), "column %d, row %d: age %d", x, y, after->plan.last.age[at]);
    }
}

static void
test_scene (Scene *s, int followed, StereoBackendChoice backend, uint64_t seed)
{
  StereoPlan *plan = plan_new (backend, s->width, s->height);
  Naive *before = NULL, *after = NULL;

  s->rigid = moved_rigid (&s->motion);
  if (plan && (after = run_stage (s, plan, &before, seed)) && !followed)
    check_nothing (s, before, after);
  else if (after)
    check_pixels (s, before, after);
  state_free (after);
  state_free (before);
  stereo_plan_free (plan);
}

static const struct
{
  const char *name;
  Motion motion;
  int texture_before; /* beyond the present one */
} scenes[] = {
  { "cameras that stand still", { 0 }, 0 },
  { "another scene before", { .yaw = 0.02 }, 17 },
  { "cameras that turn too far", { .yaw = 0.3 }, 0 }, /* 130 px, farther than places are looked for */
  { "roll to one side", { .roll = 0.025 }, 0 },
  { "roll to the other", { .roll = -0.02 }, 0 },
  { "pitch up", { .pitch = 0.02 }, 0 },
  { "pitch down", { .pitch = -0.025 }, 0 },
  { "yaw to the left", { .yaw = 0.03 }, 0 },
  { "yaw to the right", { .yaw = -0.02 }, 0 },
  { "forward", { .forward = 1.5 }, 0 },
  { "backward", { .forward = -1 }, 0 },
  { "to the right", { .right = 0.4 }, 0 },
  { "to the left", { .right = -0.5 }, 0 },
  { "down", { .down = 0.3 }, 0 },
  { "up", { .down = -0.2 }, 0 },
};
enum
{
  NOTHING = 3, /* scenes that are not followed */
  SCENES = sizeof scenes / sizeof *scenes
};

static Motion
draw_motion (Random *random)
{
  return (Motion){ random_between (random, -0.02, 0.02), random_between (random, -0.015, 0.015),
    random_between (random, -0.02, 0.02), random_between (random, -0.25, 0.25), random_between (random, -0.15, 0.15),
    random_between (random, -1, 1) };
}

static void
run_scenes (const char *name, StereoBackendChoice backend, Random random)
{
  for (int k = 0; k < SCENES + MIXED; k++) {
    int upright = k % 3 == 2 && k >= NOTHING;
    Scene scene = { .width = upright ? 331 : 480,
      .height = upright ? 440 : 318,
      .texture = k,
      .texture_before = k + (k < SCENES ? scenes[k].texture_before : 0),
      .focal = upright ? 350 : 420,
      .motion = k < SCENES ? scenes[k].motion : draw_motion (&random) };
    uint64_t seed = random_next (&random);
    if (!check_begin ("%s: %s, scene %d", name, k < SCENES ? scenes[k].name : "all at once", k))
      continue;
    test_scene (&scene, k >= NOTHING, backend, seed);
    check_end ();
  }
}

int
main (int argc, char **argv)
{
  Random random = { random_seed () };
  char reason[200];

  check_start (argc, argv);
  make_codes ();
  run_scenes ("cpu", STEREO_BACKEND_CPU, random);
  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason))
    run_scenes ("cuda", STEREO_BACKEND_CUDA, random);
  else if (check_begin ("cuda")) {
    check_skip ("%s", reason);
    check_end ();
  }
  return check_finish ();
}
