/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device is lost while frames run: from some call on all of them fail, for ever. Without a device: fake/runtime.c
 * stands in for CUDA's runtime, and is lost at every call of a frame in turn. Whatever the call and the error, the
 * frame ends with one, the plan says that it can only be freed, freeing it leaves nothing behind, and the process goes
 * on on the CPU. (On a real device test_cuda_faults.c does it with a kernel that reads where it must not.)
 */
#include <sys/wait.h>
#include <unistd.h>

#include "fake/runtime.h"
#include "pair.h"

enum
{
  WIDTH = 61,
  HEIGHT = 37
};

/* @names_loss: the error alone says that the device is lost; of the others it shows when the plan is settled. */
static const struct
{
  const char *name;
  int code, names_loss;
} losses[] = { { "devices unavailable", 46, 0 }, { "no device", 100, 0 }, { "an ECC error", 214, 1 },
  { "an illegal address", 700, 1 }, { "a launch that failed", 719, 1 }, { "unknown", 999, 1 } };

static StereoStatus
run (StereoPlan *plan, Pair *pair, StereoError *error)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { pair->result, WIDTH * 2, STEREO_SAMPLE_U16, pair->confidence, WIDTH };

  return stereo_plan_execute (plan, &left, &right, &output, NULL, error);
}

/* The calls of a frame that is whole, the second one of a plan. */
static int
calls_of_frame (const StereoParams *params, Pair *pair)
{
  StereoError error = { 0 };
  int calls = 0;

  fake_runtime_lose (-1, 0);
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  if (CHECK (plan && !strcmp (stereo_plan_backend (plan), "cuda"), "%s", error.message)) {
    CHECK (!run (plan, pair, &error), "%s", error.message);
    fake_runtime_lose (-1, 0);
    CHECK (!run (plan, pair, &error), "%s", error.message);
    calls = fake_runtime_calls ();
  }
  stereo_plan_free (plan);
  return calls;
}

/* What is told of a device that is lost, and what goes on. */
static void
check_process (const StereoParams *params, Pair *pair, int before)
{
  StereoParams again = *params;
  StereoError error = { 0 };

  StereoPlan *plan = stereo_plan_new (&again, WIDTH, HEIGHT, &error);
  CHECK (!plan && error.status == STEREO_ERROR_NO_DEVICE && strstr (error.message, "restart the process"),
      "lost at call %d: another plan: status %d, '%s'", before, error.status, error.message);
  stereo_plan_free (plan);
  again.backend = STEREO_BACKEND_AUTO;
  plan = stereo_plan_new (&again, WIDTH, HEIGHT, &error);
  if (CHECK (plan != NULL, "lost at call %d: backend=auto: %s", before, error.message)) {
    CHECK (!strcmp (stereo_plan_backend (plan), "cpu") &&
            strstr (stereo_plan_backend_reason (plan), "restart the process"),
        "lost at call %d: backend=auto: %s", before, stereo_plan_backend_reason (plan));
    CHECK (!run (plan, pair, &error), "lost at call %d: backend=auto: %s", before, error.message);
  }
  stereo_plan_free (plan);
  fake_runtime_lose (-1, 0);
  again.backend = STEREO_BACKEND_CUDA;
  again.cuda_device_id = FAKE_DEVICES - 1;
  plan = stereo_plan_new (&again, WIDTH, HEIGHT, &error);
  CHECK (plan != NULL, "lost at call %d: another device: %s", before, error.message);
  stereo_plan_free (plan);
}

/* Calls that only take times may fail at the end of a frame that is whole: then it is the next one. */
static void
lose (const StereoParams *params, Pair *pair, int before, int loss)
{
  StereoError error = { 0 };
  int alive = fake_runtime_alive ();

  fake_runtime_lose (-1, 0);
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  CHECK (plan && !run (plan, pair, &error), "%s", error.message);
  fake_runtime_lose (before, losses[loss].code);
  if (run (plan, pair, &error) == STEREO_OK)
    run (plan, pair, &error);
  CHECK (error.status == STEREO_ERROR_BACKEND && strstr (error.message, "CUDA failed"),
      "lost at call %d: status %d, '%s'", before, error.status, error.message);
  CHECK (
      !losses[loss].names_loss || strstr (error.message, "restart it"), "lost at call %d: '%s'", before, error.message);
  CHECK (run (plan, pair, &error) && strstr (error.message, "can only be freed"),
      "lost at call %d, the frame after: '%s'", before, error.message);
  stereo_plan_free (plan);
  CHECK (fake_runtime_alive () == alive, "lost at call %d: %d things are left", before, fake_runtime_alive () - alive);
  check_process (params, pair, before);
}

/* A process for each call: what is lost stays so. */
static int
lose_in_process (const StereoParams *params, Pair *pair, int before, int loss)
{
  int status = 0;

  fflush (NULL);
  pid_t child = fork ();
  if (child == 0) {
    alarm (60); /* a standstill is a failure */
    lose (params, pair, before, loss);
    _exit (check_failures () ? 1 : 0);
  }
  return child > 0 && waitpid (child, &status, 0) == child && WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

static void
test_loss (int method, int graph, int loss)
{
  StereoParams params;
  Pair pair;

  params_small (&params);
  params.backend = STEREO_BACKEND_CUDA;
  params.method = method;
  params.refine_iterations = 1;
  setenv ("STEREO_CUDA_GRAPH", graph ? "1" : "0", 1);
  pair_new (&pair, WIDTH, HEIGHT, 5);
  int calls = calls_of_frame (&params, &pair);
  CHECK (calls > 10, "only %d calls in a frame: they are not the made-up runtime's", calls);
  for (int before = 0; before < calls && !check_failures (); before++)
    CHECK (lose_in_process (&params, &pair, before, loss), "lost at call %d of %d", before, calls);
  pair_free (&pair);
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  for (int method = 0; method < STEREO_METHODS; method++)
    for (int graph = 0; graph < 2; graph++)
      for (int loss = 0; loss < (int) (sizeof losses / sizeof *losses); loss++)
        if (check_begin ("%s, method %s, %s", losses[loss].name, stereo_method_info (method)->name,
                graph ? "as a graph" : "kernel by kernel")) {
          test_loss (method, graph, loss);
          check_end ();
        }
  return check_finish ();
}
