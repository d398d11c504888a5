/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every stage of every backend, on the same input as its plain twin.
 *
 * The CPU's steps are compared with naive.h; a CUDA step gets the CPU's state first, so that a flipped
 * minimum of one step cannot hide or cause a difference in the next. STEREO_TEST_SEED repeats the
 * random cases, STEREO_TEST_DRAWS sets their number. STEREO_TEST_SHARE=K/N runs every N-th case from the K-th on (from 1),
 * so that N processes share them.
 */
#include <math.h>
#include <sys/mman.h>

#include "tests/support/check.h"
#include "cases.h"
#include "state.h"

/* ---- one frame of a case: pictures, output buffers and a plan, ready to be walked step by step ---------- */

typedef struct Frame
{
  Picture picture[2];
  StereoPlan *plan;
  StereoOutput output;
  void *mapping[2];
  size_t mapping_size[2];
} Frame;

static void
make_output (Frame *frame, const Case *c, PictureGuard guard)
{
  size_t row = (size_t) c->width * stereo_sample_bytes (c->sample), rows = (size_t) c->height;

  frame->output.sample = c->sample;
  frame->output.stride = (ptrdiff_t) row;
  frame->output.data = picture_guarded (row * rows, guard, &frame->mapping[0], &frame->mapping_size[0]);
  memset (frame->output.data, 0x5A, row * rows);
  if (!c->no_confidence) {
    size_t size = (size_t) c->width * rows;
    frame->output.confidence_stride = c->width;
    frame->output.confidence = picture_guarded (size, guard, &frame->mapping[1], &frame->mapping_size[1]);
    memset (frame->output.confidence, 0x5A, size);
  }
}

/* An alignment as a plan may have: nothing, a little, more than the bound; of any shape. */
static StereoAlignSteps
draw_alignment (Random *random)
{
  StereoAlignSteps steps = { random_range (random, 0, 7) > 0 };
  int most = random_range (random, 0, 2) ? 3 << STEREO_ALIGN_SHIFT : STEREO_ALIGN_TOP;

  for (int k = 0; k < 6; k++)
    steps.c[k] = random_range (random, 0, 3) ? random_range (random, -most, most) : 0;
  return steps;
}

/* Pictures painted from @seed, so that two frames of one case and seed are the same. False and @error
 * when the plan cannot be made. */
static int
frame_new (
    Frame *frame, const Case *c, StereoBackendChoice backend, PictureGuard guard, uint64_t seed, StereoError *error)
{
  Random random = { seed };
  StereoParams params;

  memset (frame, 0, sizeof *frame);
  stereo_params_init (&params);
  params_set (&params, "num-disparities=%d %s", c->num, c->params);
  params.backend = backend;
  frame->plan = stereo_plan_new (&params, c->width, c->height, error);
  if (!frame->plan)
    return 0;
  stereo_plan_set_profiling (frame->plan, 1); /* begin() runs no step */
  for (int v = 0; v < 2; v++)
    picture_new (&frame->picture[v], c->width, c->height, c->layout, guard);
  picture_paint (&frame->picture[0], &frame->picture[1], c->kind, params.min_disparity, params.num_disparities, &random);
  if (params.align)
    frame->plan->align = draw_alignment (&random);
  make_output (frame, c, guard);
  return 1;
}

static void
frame_free (Frame *frame)
{
  stereo_plan_free (frame->plan);
  for (int v = 0; v < 2; v++) {
    picture_free (&frame->picture[v]);
    if (frame->mapping[v])
      munmap (frame->mapping[v], frame->mapping_size[v]);
  }
  memset (frame, 0, sizeof *frame);
}

/* Puts images and output into the plan and calls begin(). */
static StereoStatus
frame_begin (Frame *frame, StereoError *error)
{
  StereoPlan *plan = frame->plan;

  for (int v = 0; v < 2; v++)
    plan->input[v] = picture_view (&frame->picture[v]);
  plan->output = frame->output;
  return plan->backend->begin ? plan->backend->begin (plan, error) : STEREO_OK;
}

/* Results to the output. */
static StereoStatus
frame_end (Frame *frame, StereoError *error)
{
  const StereoBackend *backend = frame->plan->backend;
  StereoStatus status = backend->end ? backend->end (frame->plan, error) : STEREO_OK;

  return !status && backend->collect ? backend->collect (frame->plan, error) : status;
}

/* ---- comparisons --------------------------------------------------------------------------------------- */

static const Tolerance naive_tolerance = { .cost = 4, .expected = 1, .plane = 1e-3 };
/* CUDA keeps first-pass costs in half precision: half a unit in the last of 11 bits, each way. */
static const Tolerance cuda_tolerance = { .cost = 4, .relative = 1.0 / 2048, .expected = 1 };

/* Runs step @k of the plan and hands back what it made. */
static Naive *
run_step (StereoPlan *plan, int k)
{
  StereoError error = { 0 };
  CHECK (!stereo_run_steps (plan, k, k + 1, &error), "step %d, %s: %s", k, plan->steps[k].stage->name, error.message);
  return state_take (plan);
}

static void check_steps (StereoPlan *plan, Random *random, Naive **stored);

/* The views at half the size, of which @plan is about to run the steps; then these, one by one. */
static void
check_coarse (StereoPlan *plan, int step, Random *random)
{
  Naive *before = state_take (plan), *want, *got;
  char who[64];

  snprintf (who, sizeof who, "step %d, coarse: cpu against naive", step);
  state_dirty (plan->coarse, 1, random);
  want = state_take (plan->coarse);
  state_free (run_step (plan, step));
  got = state_take (plan->coarse);
  naive_halve (&before->plan, &want->plan);
  state_compare (got, want, STAGE_COARSE, naive_tolerance, who);
  state_free (before);
  state_free (want);
  state_free (got);
  check_steps (plan->coarse, random, NULL);
}

/* All steps of a plan, one by one. @stored: what the last one should have stored. */
static void
check_steps (StereoPlan *plan, Random *random, Naive **stored)
{
  for (int k = 0; k < plan->step_count && !check_failures (); k++) {
    StageKind kind = naive_kind (plan, plan->steps[k].stage);
    char who[64];
    snprintf (who, sizeof who, "%sstep %d, %s: cpu against naive", plan->is_coarse ? "coarse, " : "", k,
        plan->steps[k].stage->name);
    CHECK (kind != STAGE_UNKNOWN, "step %d, %s, has no plain twin", k, plan->steps[k].stage->name);
    if (kind == STAGE_COARSE) {
      check_coarse (plan, k, random);
      continue;
    }
    state_draw (plan, kind, random);
    state_dirty (plan, 0, random);
    Naive *want = state_take (plan);
    Naive *got = run_step (plan, k);
    naive_run (want, kind);
    state_compare (got, want, kind, naive_tolerance, who);
    state_free (got);
    if (kind == STAGE_STORE && stored)
      *stored = want;
    else
      state_free (want);
  }
}

/* Compares the CPU with the plain stages, step by step. */
static void
against_naive (const Case *c, uint64_t seed)
{
  Random random = { seed + 1 };
  StereoError error = { 0 };
  Naive *stored = NULL;
  Frame frame;

  PictureGuard guard = seed % 2 ? PICTURE_GUARD_BEFORE : PICTURE_GUARD_AFTER;
  if (!CHECK (frame_new (&frame, c, STEREO_BACKEND_CPU, guard, seed, &error), "%s", error.message))
    return;
  StereoPlan *plan = frame.plan;
  state_dirty (plan, 1, &random);
  CHECK (!frame_begin (&frame, &error), "begin: %s", error.message);
  check_steps (plan, &random, &stored);
  CHECK (!frame_end (&frame, &error), "end: %s", error.message);
  if (stored && !check_failures ())
    state_compare_output (plan, stored);
  state_free (stored);
  frame_free (&frame);
}

/* Two outputs of one case: stored samples and confidence. */
static void
compare_outputs (const Case *c, const StereoOutput *cpu, const StereoOutput *other)
{
  size_t row = (size_t) cpu->stride;

  for (int y = 0; y < c->height; y++) {
    const uint8_t *a = (const uint8_t *) cpu->data + (size_t) y * row;
    const uint8_t *b = (const uint8_t *) other->data + (size_t) y * row;
    for (size_t k = 0; k < row; k++)
      CHECK (a[k] == b[k], "stored row %d, byte %zu: other %d, cpu %d", y, k, b[k], a[k]);
    for (int x = 0; !c->no_confidence && x < c->width; x++)
      CHECK (cpu->confidence[y * cpu->confidence_stride + x] == other->confidence[y * other->confidence_stride + x],
          "confidence of column %d, row %d: other %d, cpu %d", x, y,
          other->confidence[y * other->confidence_stride + x], cpu->confidence[y * cpu->confidence_stride + x]);
  }
}

/* Runs the CPU's steps from @k on that a step of @kind stands for, and hands back what they made; @next follows them. */
static Naive *
run_covered (StereoPlan *plan, int k, StageKind kind, int *next)
{
  Naive *made = NULL;

  for (*next = k; *next < plan->step_count && naive_covers (kind, naive_kind (plan, plan->steps[*next].stage));) {
    state_free (made);
    made = run_step (plan, (*next)++);
    /* the same stage again would be the next step's */
    if (naive_kind (plan, plan->steps[*next - 1].stage) == kind)
      break;
  }
  return made;
}

static void
compare_totals (const StereoPlan *cpu, const StereoPlan *other)
{
  const StereoFlight *a = &cpu->flights[cpu->slot], *b = &other->flights[other->slot];

  CHECK (a->valid_count == b->valid_count, "%llu valid on the cpu, %llu on the other",
      (unsigned long long) a->valid_count, (unsigned long long) b->valid_count);
  CHECK (a->confidence_sum == b->confidence_sum, "confidence adds up to %llu on the cpu, to %llu on the other",
      (unsigned long long) a->confidence_sum, (unsigned long long) b->confidence_sum);
}

/* Runs all steps. What they read of the half size stays as it is from the step that makes it to the last one. */
static void
run_steps (StereoPlan *plan)
{
  Naive *made = NULL, *left;
  StereoError error = { 0 };

  for (int k = 0; k < plan->step_count; k++) {
    CHECK (!stereo_run_steps (plan, k, k + 1, &error), "%s", error.message);
    if (plan->steps[k].stage == plan->stages->coarse)
      made = state_take (plan->coarse);
  }
  if (!made)
    return;
  left = state_take (plan->coarse);
  for (int k = 0; k < plan->coarse->state_count; k++) {
    const StereoReservation *r = &plan->coarse->reservations[k];
    CHECK (!(r->life & STEREO_LIFE_FINER) || !memcmp (made->memory[k], left->memory[k], r->size),
        "a later step writes over the %s of the half size, view %d", r->name, r->view);
  }
  state_free (made);
  state_free (left);
}

/* Runs a whole frame of the CPU, the stages of which leave everything or only what later ones read. Its memory holds anything
 * before, and past frames the same in both. */
static int
run_whole (Frame *frame, const Case *c, uint64_t seed, const char *fusion)
{
  Random random = { seed + 1 }, other = { seed + 2 + (uint64_t) (fusion[0] == '1') };
  StereoError error = { 0 };

  setenv ("STEREO_CPU_FUSION", fusion, 1);
  int made = frame_new (frame, c, STEREO_BACKEND_CPU, PICTURE_PLAIN, seed, &error);
  setenv ("STEREO_CPU_FUSION", "0", 1);
  if (!CHECK (made, "%s", error.message))
    return 0;
  state_dirty (frame->plan, 1, &random);
  state_dirty_shared (frame->plan, &other);
  if (frame->plan->coarse)
    state_dirty (frame->plan->coarse, 1, &other);
  if (frame->plan->params.temporal > 0)
    state_draw (frame->plan, STAGE_TEMPORAL, &random);
  CHECK (!frame_begin (frame, &error), "begin: %s", error.message);
  run_steps (frame->plan);
  CHECK (!frame_end (frame, &error), "end: %s", error.message);
  return 1;
}

/* Stages that leave out what only the next stage would read give what all stages give one by one, to the bit. */
static void
against_fusion (const Case *c, uint64_t seed)
{
  Frame single, fused;

  if (!run_whole (&single, c, seed, "0"))
    return;
  if (run_whole (&fused, c, seed, "1")) {
    compare_outputs (c, &single.output, &fused.output);
    compare_totals (single.plan, fused.plan);
  }
  frame_free (&single);
  frame_free (&fused);
}

static void compare_coarse (StereoPlan *a, StereoPlan *b, Random *random);

/* All steps of @b, of CUDA, against those of @a, of the CPU. */
static void
compare_steps (StereoPlan *a, StereoPlan *b, Random *random)
{
  int k = 0;

  for (int step = 0, next; step < b->step_count && !check_failures (); step++, k = next) {
    StageKind kind = naive_kind (b, b->steps[step].stage);
    char who[64];
    snprintf (who, sizeof who, "step %d, %s: cuda against cpu", step, b->steps[step].stage->name);
    state_draw (a, kind, random);
    state_dirty (a, 0, random);
    Naive *want = state_take (a);
    state_put (want, b);
    state_dirty (b, 0, random);
    Naive *expected = run_covered (a, k, kind, &next), *got = run_step (b, step);
    if (!CHECK (expected != NULL, "%s: the cpu has %s there", who,
            k < a->step_count ? a->steps[k].stage->name : "nothing")) {
      state_free (want);
      state_free (got);
      return;
    }
    /* what the plain twin adds: which values may differ */
    if (kind == STAGE_REFINE)
      naive_run (want, kind);
    for (int v = 0; v < 2; v++) {
      memcpy (expected->unsure[v], want->unsure[v], (size_t) a->map_pitch * (size_t) a->height);
      expected->penalised[v] = want->penalised[v];
      want->penalised[v] = NULL;
    }
    state_compare (got, expected, kind, cuda_tolerance, who);
    if (kind == STAGE_COARSE && !check_failures ())
      compare_coarse (a->coarse, b->coarse, random);
    state_free (want);
    state_free (got);
    state_free (expected);
  }
  CHECK (check_failures () || k == a->step_count, "cuda is done after %d of the cpu's %d steps", k, a->step_count);
}

/* The views at half the size, then the steps of that size one by one; at last both backends have the CPU's result. */
static void
compare_coarse (StereoPlan *a, StereoPlan *b, Random *random)
{
  Naive *want = state_take (a), *got = state_take (b);

  for (int v = 0; v < 2; v++)
    for (int y = 0; y < a->height; y++) {
      size_t row = naive_image (a, 0, y);
      CHECK (
          !memcmp (want->plan.view[v].color + row, got->plan.view[v].color + row, (size_t) a->width * sizeof (uint32_t)),
          "row %d of view %d at half the size has other colours", y, v);
      CHECK (!memcmp (want->plan.view[v].luma + row, got->plan.view[v].luma + row, (size_t) a->width),
          "row %d of view %d at half the size has other lumas", y, v);
    }
  if (!check_failures ())
    compare_steps (a, b, random);
  state_put (want, b);
  state_free (want);
  state_free (got);
}

/* Whether @backend has the case's method; a skip that says so if not. */
static int
built (const Case *c, const StereoBackend *backend)
{
  StereoParams params;

  stereo_params_init (&params);
  params_set (&params, "%s", c->params);
  if (backend->stages.match[params.method])
    return 1;
  check_skip ("backend=%s has no method=%s yet", backend->name, stereo_method_info (params.method)->name);
  return 0;
}

static void
against_cuda (const Case *c, uint64_t seed)
{
  Random random = { seed + 1 };
  StereoError error = { 0 };
  Frame cpu, cuda = { 0 };

  if (!built (c, &stereo_backend_cuda))
    return;
  if (!CHECK (frame_new (&cpu, c, STEREO_BACKEND_CPU, PICTURE_PLAIN, seed, &error), "%s", error.message))
    return;
  if (CHECK (frame_new (&cuda, c, STEREO_BACKEND_CUDA, PICTURE_PLAIN, seed, &error), "%s", error.message)) {
    state_dirty (cpu.plan, 1, &random);
    state_dirty (cuda.plan, 1, &random);
    CHECK (!frame_begin (&cpu, &error), "begin: %s", error.message);
    CHECK (!frame_begin (&cuda, &error), "begin: %s", error.message);
    compare_steps (cpu.plan, cuda.plan, &random);
    CHECK (!frame_end (&cpu, &error), "end: %s", error.message);
    CHECK (!frame_end (&cuda, &error), "end: %s", error.message);
    if (!check_failures ())
      compare_outputs (c, &cpu.output, &cuda.output);
    compare_totals (cpu.plan, cuda.plan);
  }
  frame_free (&cpu);
  frame_free (&cuda);
}

/* Whole frames of textured scenes: within 1 px on 99.5 % of the pixels. */
static void
end_to_end (const Case *c, uint64_t seed)
{
  StereoError error = { 0 };
  StereoStats stats[2];
  Frame frame[2];
  int near = 0;

  for (int b = 0; b < 2; b++) {
    if (!CHECK (frame_new (&frame[b], c, b ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU, PICTURE_PLAIN, seed, &error),
            "%s", error.message))
      return;
    StereoImage left = picture_view (&frame[b].picture[0]), right = picture_view (&frame[b].picture[1]);
    for (int round = 0; round < 2; round++)
      CHECK (!stereo_plan_execute (frame[b].plan, &left, &right, &frame[b].output, &stats[b], &error), "%s",
          error.message);
  }
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++) {
      float d[2];
      for (int b = 0; b < 2; b++)
        d[b] = ((float *) ((char *) frame[b].output.data + y * frame[b].output.stride))[x];
      near += (isnan (d[0]) && isnan (d[1])) || fabsf (d[0] - d[1]) <= 1;
    }
  CHECK (near >= 0.995 * c->width * c->height, "%d of %d pixels agree within 1 px", near, c->width * c->height);
  CHECK (fabs (stats[0].valid_ratio - stats[1].valid_ratio) < 0.005, "valid ratio %g and %g", stats[0].valid_ratio,
      stats[1].valid_ratio);
  frame_free (&frame[0]);
  frame_free (&frame[1]);
}

/* Whether the next case is one of this process's share. */
static int
is_shared_out (void)
{
  static unsigned number;
  const char *text = getenv ("STEREO_TEST_SHARE");
  unsigned share, shares;

  if (!text)
    return 1;
  if (sscanf (text, "%u/%u", &share, &shares) != 2 || share < 1 || share > shares) {
    fprintf (stderr, "STEREO_TEST_SHARE=%s is not K/N with K from 1 to N\n", text);
    exit (1);
  }
  return number++ % shares == share - 1;
}

static void
run (const char *what, const Case *c, uint64_t seed, void (*test) (const Case *, uint64_t))
{
  char text[1000];

  if (!is_shared_out ())
    return;
  case_describe (c, text, sizeof text);
  if (!check_begin ("%s: %.230s", what, text))
    return;
  test (c, seed);
  if (check_failures ())
    fprintf (stderr, "in full: %s, picture seed %llu\n", text, (unsigned long long) seed);
  check_end ();
}

static void
run_all (const char *what, void (*test) (const Case *, uint64_t), Random random, int draws)
{
  Case c;

  for (int k = 0; cases[k].width; k++)
    run (what, &cases[k], (uint64_t) k, test);
  for (int k = 0; k < draws; k++) {
    case_draw (&c, &random);
    run (what, &c, random_next (&random), test);
  }
}

int
main (int argc, char **argv)
{
  Random random = { random_seed () };
  int draws = random_count ("STEREO_TEST_DRAWS", 15);
  char reason[200];

  check_start (argc, argv);
  setenv ("STEREO_CUDA_FUSION", "0", 1); /* each stage leaves all that its naive twin leaves */
  setenv ("STEREO_CPU_FUSION", "0", 1);
  setenv ("STEREO_ASAN_GAPS", "1", 1); /* with AddressSanitizer no stage touches what lies between buffers */
  run_all ("naive", against_naive, random, draws);
  run_all ("naive, fused", against_fusion, random, draws);
  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason)) {
    run_all ("cuda", against_cuda, random, draws);
    for (int k = 0; scenes[k].width; k++)
      run ("end to end", &scenes[k], (uint64_t) k, end_to_end);
  } else if (check_begin ("cuda")) {
    check_skip ("no comparison with CUDA: %s", reason);
    check_end ();
  }
  return check_finish ();
}
