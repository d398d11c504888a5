/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drivers that do not serve: none, too old, without a device, broken. Each is said in a sentence, auto takes the CPU, and
 * cuda is refused. The test is run with a driver in its library path that it tells what to be (fake/driver.c).
 */
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

static const struct
{
  const char *name, *version, *init;
  const char *says; /* part of the sentence */
} cases[] = { { "too old", "11040", "0", "too old: it knows CUDA 11.4" },
  { "of no version", "0", "0", "no NVIDIA driver" }, { "without a device", "99000", "100", "no CUDA device" },
  { "that does not start", "99000", "999", "cannot be used" },
  { "that forgets to start", "99000", "3", "cannot be used" },
  { "that lacks functions", "99000", "0", "cannot be used" } };

static void
test_driver (int k)
{
  StereoError error = { 0 };
  StereoParams params;
  char reason[200] = "";
  Pair pair;

  CHECK (!stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason), "it is usable: %s", reason);
  CHECK (strstr (reason, cases[k].says), "'%s'", reason);
  params_small (&params);
  params.backend = STEREO_BACKEND_CUDA;
  StereoPlan *plan = stereo_plan_new (&params, 61, 37, &error);
  CHECK (!plan && error.status == STEREO_ERROR_NO_DEVICE && strstr (error.message, cases[k].says), "status %d, '%s'",
      error.status, error.message);
  stereo_plan_free (plan);
  params.backend = STEREO_BACKEND_AUTO;
  pair_new (&pair, 61, 37, 3);
  plan = stereo_plan_new (&params, 61, 37, &error);
  if (CHECK (plan != NULL, "%s", error.message)) {
    CHECK (!strcmp (stereo_plan_backend (plan), "cpu") && strstr (stereo_plan_backend_reason (plan), cases[k].says),
        "%s", stereo_plan_backend_reason (plan));
    execute (plan, &pair, NULL);
  }
  stereo_plan_free (plan);
  pair_free (&pair);
}

/* A process each: a driver is loaded once. */
int
main (int argc, char **argv)
{
  int failed = 0;

  for (int k = 0; k < (int) (sizeof cases / sizeof *cases); k++) {
    int status = 0;
    fflush (NULL);
    setenv ("FAKE_DRIVER_VERSION", cases[k].version, 1);
    setenv ("FAKE_DRIVER_INIT", cases[k].init, 1);
    pid_t child = fork ();
    if (child == 0) {
      check_start (argc, argv);
      if (check_begin ("a driver %s", cases[k].name)) {
        test_driver (k);
        check_end ();
      }
      exit (check_finish ());
    }
    failed += child < 0 || waitpid (child, &status, 0) != child || !WIFEXITED (status) || WEXITSTATUS (status);
  }
  return failed != 0;
}
