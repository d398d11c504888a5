/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a target that draws its input from random numbers: as a test with numbers from STEREO_TEST_SEED, and under
 * libFuzzer with its bytes as the first numbers. STEREO_FUZZ_ITERATIONS: how many inputs the test draws.
 */
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Random random = fuzz_random (data, size);

  fuzz_draws.draw (&random);
  return 0;
}

#ifndef STEREO_LIBFUZZER
static void
check_outcomes (const int *outcomes, int iterations)
{
  for (int k = 0; k < FUZZ_OUTCOMES && fuzz_draws.outcomes[k].name; k++) {
    int least = fuzz_draws.outcomes[k].least;
    printf ("%d %s\n", outcomes[k], fuzz_draws.outcomes[k].name);
    CHECK (check_failures () || !least || outcomes[k] > iterations * least / 100, "only %d of %d inputs: %s",
        outcomes[k], iterations, fuzz_draws.outcomes[k].name);
  }
}

int
main (int argc, char **argv)
{
  Random random = { random_seed () };
  int iterations = random_count ("STEREO_FUZZ_ITERATIONS", fuzz_draws.iterations), outcomes[FUZZ_OUTCOMES] = { 0 };

  check_start (argc, argv);
  if (check_begin ("%s", fuzz_draws.name)) {
    for (int k = 0; k < iterations && !check_failures (); k++)
      outcomes[fuzz_draws.draw (&random)]++;
    check_outcomes (outcomes, iterations);
    check_end ();
  }
  return check_finish ();
}
#endif
