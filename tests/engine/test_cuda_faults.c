/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device fails: the n-th call, for every n, when a plan is made and while it runs; its memory is full; a kernel
 * reads where it must not. Whatever happens is said, nothing is left behind, and a new plan works.
 *
 * The linker puts the functions below in place of the runtime's (--wrap), in the engine as well: see meson.build. Every
 * case runs in a process of its own, because what a kernel's fault does to the process is one of the questions.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum
{
  WIDTH = 157,
  HEIGHT = 83,
  MEMORY_FAILURE = 2,
  NOT_READY = 600
};

/* ---- a runtime that fails when told ------------------------------------------------------------------ */

static struct
{
  int armed;  /* count, and fail */
  int before; /* calls that succeed before the one that fails; negative: none fails */
  int calls;  /* since armed */
  int live;   /* things made and not given back */
} device;

static int
fails (void)
{
  if (!device.armed)
    return 0;
  return device.calls++ == device.before;
}

/* In place of a function that makes something, gives it back, works. cudaError_t is an int here. */
#define MAKES(name, declared, passed) \
  int __real_##name declared; \
  int __wrap_##name declared; \
  int __wrap_##name declared \
  { \
    int code = fails () ? MEMORY_FAILURE : __real_##name passed; \
    device.live += code == 0; \
    return code; \
  }
#define FREES(name) \
  int __real_##name (void *handle); \
  int __wrap_##name (void *handle); \
  int __wrap_##name (void *handle) \
  { \
    device.live -= handle != NULL; \
    return __real_##name (handle); \
  }
#define WORKS(name, declared, passed) \
  int __real_##name declared; \
  int __wrap_##name declared; \
  int __wrap_##name declared \
  { \
    return fails () ? MEMORY_FAILURE : __real_##name passed; \
  }

MAKES (cudaMalloc, (void **what, size_t size), (what, size))
MAKES (cudaHostAlloc, (void **what, size_t size, unsigned flags), (what, size, flags))
MAKES (cudaStreamCreateWithFlags, (void **what, unsigned flags), (what, flags))
MAKES (cudaStreamCreateWithPriority, (void **what, unsigned flags, int priority), (what, flags, priority))
MAKES (cudaEventCreate, (void **what), (what))
MAKES (cudaEventCreateWithFlags, (void **what, unsigned flags), (what, flags))
MAKES (cudaGraphInstantiateWithFlags, (void **what, void *graph, unsigned long long flags), (what, graph, flags))
FREES (cudaFree)
FREES (cudaFreeHost)
FREES (cudaStreamDestroy)
FREES (cudaEventDestroy)
FREES (cudaGraphExecDestroy)
WORKS (
    cudaMemcpyAsync, (void *to, const void *from, size_t size, int kind, void *stream), (to, from, size, kind, stream))
WORKS (cudaMemcpy2DAsync,
    (void *to, size_t to_row, const void *from, size_t from_row, size_t size, size_t rows, int kind, void *stream),
    (to, to_row, from, from_row, size, rows, kind, stream))
WORKS (cudaMemsetAsync, (void *to, int value, size_t size, void *stream), (to, value, size, stream))
WORKS (cudaEventRecordWithFlags, (void *event, void *stream, unsigned flags), (event, stream, flags))
WORKS (cudaEventRecord, (void *event, void *stream), (event, stream))
WORKS (cudaEventSynchronize, (void *event), (event))
WORKS (cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))
WORKS (cudaStreamSynchronize, (void *stream), (stream))
WORKS (cudaStreamBeginCapture, (void *stream, int mode), (stream, mode))
WORKS (cudaGraphLaunch, (void *graph, void *stream), (graph, stream))
WORKS (cudaGraphExecKernelNodeSetParams, (void *graph, void *node, const void *launch), (graph, node, launch))
WORKS (cudaFuncSetAttribute, (const void *kernel, int attribute, int value), (kernel, attribute, value))
/* asked again and again while it is not there: only the answer that it is counts */
int __real_cudaEventQuery (void *event);
int __wrap_cudaEventQuery (void *event);
int
__wrap_cudaEventQuery (void *event)
{
  int code = __real_cudaEventQuery (event);
  return code == NOT_READY ? code : fails () ? MEMORY_FAILURE : code;
}
/* what a kernel's launch made of itself */
WORKS (cudaGetLastError, (void), ())

/* ---- plans --------------------------------------------------------------------------------------------- */

static void
params_of (StereoParams *params, int method)
{
  params_small (params);
  params->backend = STEREO_BACKEND_CUDA;
  params->method = method;
  params->refine_iterations = 1;
  params->speckle_size = 20;
}

static StereoStatus
run (StereoPlan *plan, Pair *pair, StereoError *error)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { pair->result, WIDTH * 2, STEREO_SAMPLE_U16, pair->confidence, WIDTH };

  memset (pair->result, 0, WIDTH * HEIGHT * 2);
  return stereo_plan_execute (plan, &left, &right, &output, NULL, error);
}

static StereoPlan *
plan_with_fault (const StereoParams *params, const char *fault, StereoError *error)
{
  setenv ("STEREO_TEST_FAULT", fault, 1);
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, error);
  unsetenv ("STEREO_TEST_FAULT");
  return plan;
}

/* A new plan gives what one gave before. */
static void
check_works (const StereoParams *params, const Pair *want, const char *when)
{
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  Pair got;

  pair_new (&got, WIDTH, HEIGHT, 4);
  if (CHECK (plan != NULL, "%s: %s", when, error.message)) {
    CHECK (!run (plan, &got, &error), "%s: %s", when, error.message);
    CHECK (pair_same_results (want, &got), "%s: another result", when);
  }
  stereo_plan_free (plan);
  pair_free (&got);
}

/* ---- every call, one after the other ------------------------------------------------------------------- */

/* One plan and two frames with the call after @before failing; 1: all went well. @frames: only frames are counted. */
static int
attempt (const StereoParams *params, const Pair *want, Pair *got, int before, int frames, StereoError *error)
{
  int worked = 0;

  *error = (StereoError){ STEREO_OK, "" };
  device.before = before;
  device.calls = device.live = 0;
  device.armed = !frames;
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, error);
  device.armed = frames;
  if (plan)
    worked = !run (plan, got, error) && !run (plan, got, error);
  device.armed = 0;
  stereo_plan_free (plan);
  CHECK (device.live == 0, "call %d: %d things are left on the device", before, device.live);
  CHECK (!worked || pair_same_results (want, got), "call %d: it failed, and gives another result", before);
  return worked;
}

static void
exhaust (const StereoParams *params, int frames)
{
  StereoError error = { 0 };
  Pair want, got;
  int refused = 0;

  pair_new (&want, WIDTH, HEIGHT, 4);
  pair_new (&got, WIDTH, HEIGHT, 4);
  execute_with (params, &want);
  attempt (params, &want, &got, -1, frames, &error);
  int calls = device.calls;
  CHECK (calls > 10, "only %d calls: the engine's are not counted", calls);
  for (int before = 0; before < calls && !check_failures (); before++)
    if (!attempt (params, &want, &got, before, frames, &error)) {
      refused++;
      CHECK (error.status == STEREO_ERROR_MEMORY && strlen (error.message) > 20, "call %d of %d: status %d, '%s'",
          before, calls, error.status, error.message);
    }
  printf ("%d calls, %d of them stop the %s\n", calls, refused, frames ? "frame" : "plan");
  CHECK (refused > 5, "only %d of %d failures are told", refused, calls);
  check_works (params, &want, "after the failures");
  pair_free (&want);
  pair_free (&got);
}

static void
test_calls (void)
{
  StereoParams params;

  for (int graph = 0; graph < 2; graph++)
    for (int method = 0; method < STEREO_METHODS; method++)
      for (int frames = 0; frames < 2; frames++) {
        setenv ("STEREO_CUDA_GRAPH", graph ? "1" : "0", 1);
        params_of (&params, method);
        exhaust (&params, frames);
      }
  unsetenv ("STEREO_CUDA_GRAPH");
}

/* ---- no memory left ------------------------------------------------------------------------------------- */

/* Really, in pieces down to a megabyte. A plan that is there already goes on. */
static void
test_full (void)
{
  enum
  {
    MOST = 512
  };
  static void *pieces[MOST];
  StereoError error = { 0 };
  StereoParams params;
  int count = 0;
  Pair want, got;

  params_of (&params, STEREO_METHOD_ASW);
  pair_new (&want, WIDTH, HEIGHT, 4);
  pair_new (&got, WIDTH, HEIGHT, 4);
  execute_with (&params, &want);
  StereoPlan *before = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  CHECK (before && !run (before, &got, &error), "%s", error.message);
  for (size_t size = (size_t) 1 << 34; size >= 1 << 20 && count < MOST;)
    if (__real_cudaMalloc (&pieces[count], size))
      size /= 2;
    else
      count++;
  __real_cudaGetLastError ();
  CHECK (count < MOST, "the device is not full");
  StereoPlan *plan = stereo_plan_new (&params, 4096, 2048, &error);
  CHECK (!plan && error.status == STEREO_ERROR_MEMORY && strstr (error.message, "reduce"), "status %d, '%s'",
      error.status, error.message);
  stereo_plan_free (plan);
  CHECK (before && !run (before, &got, &error), "a plan that was there: %s", error.message);
  CHECK (pair_same_results (&want, &got), "a plan that was there: another result");
  while (count > 0)
    __real_cudaFree (pieces[--count]);
  check_works (&params, &want, "with memory again");
  stereo_plan_free (before);
  pair_free (&want);
  pair_free (&got);
}

/* ---- a kernel's fault ------------------------------------------------------------------------------------ */

/* Frames 1 and 2 are whole, frame 3 is not, and no other follows. */
static void
run_into_fault (StereoPlan *plan, const Pair *want, int sync)
{
  StereoError error = { 0 };
  Pair got;

  pair_new (&got, WIDTH, HEIGHT, 4);
  CHECK (strstr (stereo_plan_backend_reason (plan), "frame 3 will fail"), "%s", stereo_plan_backend_reason (plan));
  for (int frame = 1; frame < 3; frame++) {
    CHECK (!run (plan, &got, &error), "frame %d: %s", frame, error.message);
    CHECK (pair_same_results (want, &got), "frame %d: another result", frame);
  }
  CHECK (run (plan, &got, &error) == STEREO_ERROR_BACKEND, "status %d", error.status);
  CHECK (strstr (error.message, "cudaErrorIllegalAddress"), "%s", error.message);
  CHECK (!strstr (error.message, "fault_kernel") == !sync, "%s", error.message);
  printf ("%s\n", error.message);
  CHECK (run (plan, &got, &error) && strstr (error.message, "can only be freed"), "%s", error.message);
  pair_free (&got);
}

/* The process has lost the device: nothing new is made on it, what to do is said, and backend=auto takes the CPU. */
static void
check_lost (const StereoParams *params)
{
  StereoParams again = *params;
  StereoError error = { 0 };
  Pair got;

  pair_new (&got, WIDTH, HEIGHT, 4);
  StereoPlan *plan = stereo_plan_new (&again, WIDTH, HEIGHT, &error);
  CHECK (!plan && error.status == STEREO_ERROR_NO_DEVICE && strstr (error.message, "restart the process"),
      "status %d, '%s'", error.status, error.message);
  stereo_plan_free (plan);
  again.backend = STEREO_BACKEND_AUTO;
  plan = stereo_plan_new (&again, WIDTH, HEIGHT, &error);
  CHECK (plan && !strcmp (stereo_plan_backend (plan), "cpu") &&
          strstr (stereo_plan_backend_reason (plan), "restart the process"),
      "%s", plan ? stereo_plan_backend_reason (plan) : error.message);
  CHECK (plan && !run (plan, &got, &error), "%s", error.message);
  stereo_plan_free (plan);
  pair_free (&got);
}

static int waits; /* for every stage: a message names the kernel */

static void
test_fault (void)
{
  StereoError error = { 0 };
  StereoParams params;
  Pair want;

  params_of (&params, STEREO_METHOD_SGM);
  pair_new (&want, WIDTH, HEIGHT, 4);
  execute_with (&params, &want);
  setenv ("STEREO_DEBUG_SYNC", waits ? "1" : "0", 1);
  StereoPlan *plan = plan_with_fault (&params, "kernel:3", &error);
  if (CHECK (plan != NULL, "%s", error.message))
    run_into_fault (plan, &want, waits);
  stereo_plan_free (plan);
  check_lost (&params);
  pair_free (&want);
}

/* A plan that was there is lost too, whichever context it lives in: it says so, and can be freed. */
static void
test_neighbour (void)
{
  StereoError error = { 0 };
  StereoParams params;
  Pair want, got;

  params_of (&params, STEREO_METHOD_SGM);
  pair_new (&want, WIDTH, HEIGHT, 4);
  pair_new (&got, WIDTH, HEIGHT, 4);
  execute_with (&params, &want);
  StereoPlan *neighbour = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  StereoPlan *plan = plan_with_fault (&params, "kernel:3", &error);
  if (CHECK (plan && neighbour, "%s", error.message)) {
    run_into_fault (plan, &want, 0);
    stereo_plan_free (plan);
    check_lost (&params);
    CHECK (run (neighbour, &got, &error) == STEREO_ERROR_BACKEND && strstr (error.message, "restart it"),
        "the neighbour: %s", error.message);
    stereo_plan_free (neighbour);
    check_lost (&params);
  }
  pair_free (&want);
  pair_free (&got);
}

/* Nothing but the whole word and a frame's number turns it on. */
static void
test_switch (void)
{
  static const char *const words[] = { "", "1", "kernel", "kernel:", "kernel:0", "kernel:-1", "kernel: 1", "kernel:1x",
    "Kernel:1", "kernel:99999999999999999999", "kernel:+1" };
  StereoError error = { 0 };
  StereoParams params;
  Pair got;

  params_of (&params, STEREO_METHOD_BM);
  pair_new (&got, WIDTH, HEIGHT, 4);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    StereoPlan *plan = plan_with_fault (&params, words[k], &error);
    if (!CHECK (plan != NULL, "'%s': %s", words[k], error.message))
      break;
    CHECK (!strstr (stereo_plan_backend_reason (plan), "FAULT"), "'%s' turns it on", words[k]);
    for (int frame = 0; frame < 3; frame++)
      CHECK (!run (plan, &got, &error), "'%s': %s", words[k], error.message);
    stereo_plan_free (plan);
  }
  pair_free (&got);
}

/* ---- a process each ---------------------------------------------------------------------------------------- */

static const struct
{
  const char *name;
  void (*test) (void);
} cases[] = { { "every call fails", test_calls }, { "no memory left", test_full }, { "the switch", test_switch },
  { "fault", test_fault }, { "fault that waiting names", test_fault }, { "fault beside another plan", test_neighbour } };

static int
run_case (int k, int argc, char **argv)
{
  char reason[200];

  check_start (argc, argv);
  waits = strstr (cases[k].name, "waiting") != NULL;
  if (check_begin ("%s", cases[k].name)) {
    if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason))
      cases[k].test ();
    else
      check_skip ("%s", reason);
    check_end ();
  }
  return check_finish ();
}

int
main (int argc, char **argv)
{
  int failed = 0, skipped = 0, count = (int) (sizeof cases / sizeof *cases);

  /* no CUDA here: it does not outlive a fork */
  for (int k = 0; k < count; k++) {
    int status = 0;
    fflush (NULL);
    pid_t child = fork ();
    if (child == 0)
      exit (run_case (k, argc, argv));
    if (child < 0 || waitpid (child, &status, 0) != child || !WIFEXITED (status)) {
      fprintf (stderr, "FAIL %s: the process died (status %d)\n", cases[k].name, status);
      failed++;
    } else {
      failed += WEXITSTATUS (status) != 0 && WEXITSTATUS (status) != 77;
      skipped += WEXITSTATUS (status) == 77;
    }
  }
  printf ("%d of %d processes failed\n", failed, count);
  return failed ? 1 : skipped == count ? 77 : 0;
}
