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
 * its pixels is a code of its place, so that what was taken over tells from where, to the pixel. All these places together
 * tell what motion the stage has found.
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
  CODE = 10,                 /* places in each direction that have different codes */
  LEAST = 135,               /* confidence from which on codes are given */
  UNSURE = 51,               /* confidence of pixels that are to take over */
  OFF = 3,                   /* px, of their disparities at most */
  UNKNOWNS = 6,              /* of a motion */
  RIGHT_SIDE = 2 * UNKNOWNS, /* its column of the equations */
  SEARCH = 64,               /* disparities */
  MIXED = 6                  /* scenes of all motions at once */
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

/* Sums of the equations by which the motion that was found differs from the true one: of places, linear in the difference. */
typedef struct Found
{
  double a[UNKNOWNS][2 * UNKNOWNS + 1]; /* the equations, the unit matrix, the right side */
  int unsure, taken, equations;
} Found;

static double *
unknown (Motion *m, int k)
{
  double *all[UNKNOWNS] = { &m->yaw, &m->pitch, &m->roll, &m->right, &m->down, &m->forward };
  return all[k];
}

static void
add_equation (Found *found, const double of[UNKNOWNS], double off)
{
  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j < UNKNOWNS; j++)
      found->a[i][j] += of[i] * of[j];
    found->a[i][RIGHT_SIDE] += of[i] * off;
  }
  found->equations++;
}

/* The pixel @now was found (@off_u, @off_v) from where it was. */
static void
add_place (const Scene *s, Found *found, Seen now, double off_u, double off_v)
{
  const double little = 1e-5;
  double of_u[UNKNOWNS], of_v[UNKNOWNS];

  for (int k = 0; k < UNKNOWNS; k++) {
    Motion less = s->motion, more = s->motion;
    *unknown (&less, k) -= little;
    *unknown (&more, k) += little;
    Rigid of_less = moved_rigid (&less), of_more = moved_rigid (&more);
    Seen a = moved_place (s->focal, &of_less, now), b = moved_place (s->focal, &of_more, now);
    of_u[k] = (b.u - a.u) / (2 * little);
    of_v[k] = (b.v - a.v) / (2 * little);
  }
  add_equation (found, of_u, off_u);
  add_equation (found, of_v, off_v);
}

/* Solves the equations; the inverse of their matrix takes the place of the unit matrix. */
static void
solve (Found *found)
{
  for (int k = 0; k < UNKNOWNS; k++)
    found->a[k][UNKNOWNS + k] = 1;
  for (int k = 0; k < UNKNOWNS; k++)
    for (int i = 0; i < UNKNOWNS; i++) {
      double factor = found->a[i][k] / found->a[k][k];
      for (int j = 0; j <= RIGHT_SIDE && i != k; j++)
        found->a[i][j] -= factor * found->a[k][j];
    }
  for (int k = 0; k < UNKNOWNS; k++)
    for (int j = UNKNOWNS; j <= RIGHT_SIDE; j++)
      found->a[k][j] /= found->a[k][k];
}

/* By how much the surface changes within a pixel from there. */
static double
change (const Scene *s, Seen now)
{
  return fabs (moved_surface (s, now.u + 1, now.v) - moved_surface (s, now.u - 1, now.v)) / 2 +
      fabs (moved_surface (s, now.u, now.v + 1) - moved_surface (s, now.u, now.v - 1)) / 2;
}

/* A pixel that has taken over: from the right place, what is true there. */
static void
check_taken (const Scene *s, const Naive *before, const Naive *after, int x, int y, Found *found)
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
  Seen farther = moved_place (s->focal, &s->rigid, (Seen){ now.u, now.v, now.d - SETTLED });
  Seen nearer = moved_place (s->focal, &s->rigid, (Seen){ now.u, now.v, now.d + SETTLED });
  double unsettled = fmax (fabs (nearer.u - farther.u), fabs (nearer.v - farther.v)) / 2;
  double off = fmax (fabs (from_x - column), fabs (from_y - row)), most = ROUNDED + PLACE + unsettled;
  if (!CHECK (off <= most, "column %d, row %d: was at %g, %g, found at %d, %d; %g px is the bound", x, y, column, row,
          from_x, from_y, most))
    return;
  add_place (s, found, now, from_x - column, from_y - row);
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
check_pixels (const Scene *s, const Naive *before, const Naive *after, Found *found)
{
  const StereoPlan *p = &after->plan;

  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      size_t at = naive_map (p, x, y);
      Seen then = moved_place (s->focal, &s->rigid, moved_pixel (s, x, y));
      if (before->plan.view[STEREO_LEFT].confidence[at] >= 0.5f)
        continue;
      /* what was in the picture, with all that has to look alike around it */
      int inside = fabs (then.u) < moved_middle (s->width) - 4 && fabs (then.v) < moved_middle (s->height) - 4;
      found->unsure += inside;
      if (p->last.age[at] < 2)
        continue;
      found->taken += inside;
      check_taken (s, before, after, x, y, found);
    }
}

/* The motion that was found, against the true one. A number is a sum over all places, of how far each is off times a factor: no
 * more than the root of the sum of the factors' squares, which is on the diagonal of the inverse, times that of the places', which
 * are at most PLACE off each. Where they were rounded to, and how far they had settled, averages out. */
static void
check_motion (const Scene *s, Found *found)
{
  static const char *const names[UNKNOWNS] = { "yaw", "pitch", "roll", "right", "down", "forward" };
  Motion motion = s->motion;

  solve (found);
  for (int k = 0; k < UNKNOWNS; k++) {
    double off = found->a[k][RIGHT_SIDE], bound = PLACE * sqrt (found->a[k][UNKNOWNS + k] * found->equations);
    CHECK (fabs (off) <= bound, "%s is %g, but %g was found; the bound is %g", names[k], *unknown (&motion, k),
        *unknown (&motion, k) + off, bound);
  }
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

static void
test_scene (Scene *s, StereoBackendChoice backend, uint64_t seed)
{
  StereoPlan *plan = plan_new (backend, s->width, s->height);
  Naive *before = NULL, *after;
  Found found = { .unsure = 0 };

  s->rigid = moved_rigid (&s->motion);
  if (plan && (after = run_stage (s, plan, &before, seed))) {
    check_pixels (s, before, after, &found);
    if (CHECK (
            found.unsure > 0 && found.taken > found.unsure / 2, "%d of %d pixels take over", found.taken, found.unsure))
      check_motion (s, &found);
    state_free (after);
  }
  state_free (before);
  stereo_plan_free (plan);
}

/* No motion is followed: nothing is taken over. */
static void
test_nothing (Scene *s, StereoBackendChoice backend, uint64_t seed)
{
  StereoPlan *plan = plan_new (backend, s->width, s->height);
  Naive *before = NULL, *after;

  s->rigid = moved_rigid (&s->motion);
  if (plan && (after = run_stage (s, plan, &before, seed))) {
    for (int y = 0; y < s->height; y++)
      for (int x = 0; x < s->width; x++) {
        size_t at = naive_map (&after->plan, x, y);
        float was_there = before->plan.disparity[at], is_there = after->plan.disparity[at];
        CHECK (isnan (was_there) ? isnan (is_there) : is_there == was_there, "column %d, row %d: %g became %g", x, y,
            (double) was_there, (double) is_there);
        CHECK (
            after->plan.last.age[at] == !isnan (is_there), "column %d, row %d: age %d", x, y, after->plan.last.age[at]);
      }
    state_free (after);
  }
  state_free (before);
  stereo_plan_free (plan);
}

static const struct
{
  const char *name;
  Motion motion;
} alone[] = {
  { "roll to one side", { .roll = 0.025 } },
  { "roll to the other", { .roll = -0.02 } },
  { "pitch up", { .pitch = 0.02 } },
  { "pitch down", { .pitch = -0.025 } },
  { "yaw to the left", { .yaw = 0.03 } },
  { "yaw to the right", { .yaw = -0.02 } },
  { "forward", { .forward = 1.5 } },
  { "backward", { .forward = -1 } },
  { "to the right", { .right = 0.4 } },
  { "to the left", { .right = -0.5 } },
  { "down", { .down = 0.3 } },
  { "up", { .down = -0.2 } },
};

static double
either_way (Random *random, double most)
{
  return most * (2 * random_unit (random) - 1);
}

static Motion
draw_motion (Random *random)
{
  return (Motion){ either_way (random, 0.02), either_way (random, 0.015), either_way (random, 0.02),
    either_way (random, 0.25), either_way (random, 0.15), either_way (random, 1) };
}

static void
run_scenes (const char *name, StereoBackendChoice backend, Random random)
{
  int count = (int) (sizeof alone / sizeof *alone);

  for (int k = 0; k < count + MIXED; k++) {
    int upright = k % 3 == 2;
    Scene scene = { .width = upright ? 331 : 480,
      .height = upright ? 440 : 318,
      .texture = k,
      .texture_before = k,
      .focal = upright ? 350 : 420,
      .motion = k < count ? alone[k].motion : draw_motion (&random) };
    uint64_t seed = random_next (&random);
    if (!check_begin ("%s: %s, scene %d", name, k < count ? alone[k].name : "all at once", k))
      continue;
    test_scene (&scene, backend, seed);
    check_end ();
  }
}

static void
run_nothing (const char *name, StereoBackendChoice backend, Random random)
{
  Scene still = { .width = 480, .height = 318, .focal = 420 }, cut = still, mad = still;

  if (check_begin ("%s: cameras that stand still", name)) {
    test_nothing (&still, backend, random_next (&random));
    check_end ();
  }
  cut.texture_before = 17;
  cut.motion.yaw = 0.02;
  if (check_begin ("%s: another scene before", name)) {
    test_nothing (&cut, backend, random_next (&random));
    check_end ();
  }
  mad.motion.yaw = 0.3; /* 130 px, farther than places are looked for */
  if (check_begin ("%s: cameras that turn too far", name)) {
    test_nothing (&mad, backend, random_next (&random));
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
  run_nothing ("cpu", STEREO_BACKEND_CPU, random);
  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason)) {
    run_scenes ("cuda", STEREO_BACKEND_CUDA, random);
    run_nothing ("cuda", STEREO_BACKEND_CUDA, random);
  } else if (check_begin ("cuda")) {
    check_skip ("%s", reason);
    check_end ();
  }
  return check_finish ();
}
