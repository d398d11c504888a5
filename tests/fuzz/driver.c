/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a target without libFuzzer. Of a target with a corpus, whose files the arguments name (* stands for any name), first every
 * file as it is, then mutations of them, the same ones for the same STEREO_TEST_SEED; of another one, inputs drawn from that seed.
 * STEREO_FUZZ_ITERATIONS: how many. Under libFuzzer its bytes are the input, or the first numbers.
 */
#include <glob.h>

#include "tests/fuzz/fuzz.h"

static int outcomes[sizeof fuzz_target.outcomes / sizeof *fuzz_target.outcomes];

void
fuzz_count (int outcome)
{
  outcomes[outcome]++;
}

/* The bytes of libFuzzer are the first numbers, so that a mutated byte changes one thing. The later numbers come from a
 * seed that depends on every byte (FNV). */
static Random
random_of (const uint8_t *data, size_t size)
{
  Random random = { 0xCBF29CE484222325u, data, data + size };

  for (size_t k = 0; k < size; k++)
    random.state = (random.state ^ data[k]) * 0x100000001B3u;
  return random;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  Random random = random_of (data, size);

  if (fuzz_target.draw)
    fuzz_count (fuzz_target.draw (&random));
  else
    fuzz_target.try (data, size);
  return 0;
}

#ifndef STEREO_LIBFUZZER
enum
{
  MOST = 1 << 14,
  MOST_FILES = 256
};

static struct
{
  const char *name;
  uint8_t data[MOST];
  size_t size;
} corpus[MOST_FILES];
static int files;

static void
read_file (const char *path)
{
  FILE *file = files < MOST_FILES ? fopen (path, "rb") : NULL;

  if (!file) {
    fprintf (stderr, "%s: cannot be read, or is a file too many\n", path);
    exit (1);
  }
  corpus[files].name = path;
  corpus[files].size = fread (corpus[files].data, 1, MOST, file);
  files++;
  fclose (file);
}

/* Replaces @length bytes at @at. */
static size_t
splice (uint8_t *data, size_t size, size_t at, size_t length, const void *with, size_t with_length)
{
  if (size - length + with_length > MOST)
    return size;
  memmove (data + at + with_length, data + at + length, size - at - length);
  memcpy (data + at, with, with_length);
  return size - length + with_length;
}

/* Numbers are where sizes and counts stand. */
static size_t
change_number (uint8_t *data, size_t size, Random *random)
{
  static const char *const numbers[] = { "0", "1", "-1", "2", "3", "15", "255", "256", "1023", "1024", "4096", "32767",
    "32768", "65535", "65536", "1000000", "2147483647", "-2147483648", "2147483648", "4294967295", "4294967296",
    "18446744073709551615", "1e308", "nan" };
  size_t at = size ? (size_t) random_range (random, 0, (int) size - 1) : 0, length = 0;

  while (at < size && !(data[at] >= '0' && data[at] <= '9'))
    at++;
  while (at + length < size && data[at + length] >= '0' && data[at + length] <= '9')
    length++;
  const char *number = numbers[random_range (random, 0, (int) (sizeof numbers / sizeof *numbers) - 1)];
  return length ? splice (data, size, at, length, number, strlen (number)) : size;
}

static size_t
mutate (uint8_t *data, size_t size, Random *random)
{
  int pieces = 0;
  uint8_t copy[MOST];

  while (fuzz_target.pieces[pieces])
    pieces++;
  for (int n = random_range (random, 0, 5); n > 0 && size > 0; n--) {
    size_t at = (size_t) random_range (random, 0, (int) size - 1), length = (size_t) random_range (random, 1, 16);
    const char *piece = fuzz_target.pieces[random_range (random, 0, pieces - 1)];
    int other = random_range (random, 0, files - 1);
    length = length < size - at ? length : size - at;
    switch (random_range (random, 0, 7)) {
      case 0:
        data[at] = (uint8_t) random_range (random, 0, 255);
        break;
      case 1:
        data[at] ^= (uint8_t) (1 << random_range (random, 0, 7));
        break;
      case 2:
        size = random_range (random, 0, 3) ? size : at;
        break;
      case 3:
        size = splice (data, size, at, length, "", 0);
        break;
      case 4:
        size = splice (data, size, at, random_range (random, 0, 1) ? length : 0, piece, *piece ? strlen (piece) : 1);
        break;
      case 5:
        length = length < corpus[other].size ? length : corpus[other].size;
        size = splice (data, size, at, 0,
            corpus[other].data + random_range (random, 0, (int) (corpus[other].size - length)), length);
        break;
      case 6:
        memcpy (copy, data + at, length);
        size = splice (data, size, (size_t) random_range (random, 0, (int) size - 1), 0, copy, length);
        break;
      default:
        size = change_number (data, size, random);
    }
  }
  return size;
}

/* In memory of its own, so that a read past its end is seen. */
static void
try_input (const uint8_t *data, size_t size)
{
  uint8_t *exact = malloc (size ? size : 1);

  memcpy (exact, data, size);
  fuzz_target.try (exact, size);
  free (exact);
}

static void
try_mutations (Random *random, int iterations)
{
  static uint8_t data[MOST];

  for (int k = 0; k < iterations && !check_failures (); k++) {
    int which = random_range (random, 0, files - 1);
    memcpy (data, corpus[which].data, corpus[which].size);
    size_t size = mutate (data, corpus[which].size, random);
    try_input (data, size);
    if (check_failures ())
      fprintf (stderr, "iteration %d, of %s:\n%.*s\n", k, corpus[which].name, (int) size, (char *) data);
  }
}

static void
check_outcomes (int iterations)
{
  for (size_t k = 0; k < sizeof outcomes / sizeof *outcomes && fuzz_target.outcomes[k].name; k++) {
    int least = fuzz_target.outcomes[k].least;
    printf ("%d %s\n", outcomes[k], fuzz_target.outcomes[k].name);
    CHECK (check_failures () || !least || outcomes[k] > iterations * least / 100, "only %d of %d inputs: %s",
        outcomes[k], iterations, fuzz_target.outcomes[k].name);
  }
}

int
main (int argc, char **argv)
{
  Random random = { random_seed () };
  glob_t found = { 0 }; /* sorted by name */
  int iterations = random_count ("STEREO_FUZZ_ITERATIONS", fuzz_target.iterations);

  for (int k = 1; k < argc; k++)
    glob (argv[k], k > 1 ? GLOB_APPEND : 0, NULL, &found);
  for (size_t k = 0; k < found.gl_pathc; k++)
    read_file (found.gl_pathv[k]);
  check_start (1, argv);
  if (fuzz_target.draw && check_begin ("random inputs")) {
    for (int k = 0; k < iterations && !check_failures (); k++)
      fuzz_count (fuzz_target.draw (&random));
    check_outcomes (iterations);
    check_end ();
  }
  if (!fuzz_target.draw && check_begin ("corpus, and mutations")) {
    CHECK (files > 0, "no corpus: name its files");
    for (int k = 0; k < files && !check_failures (); k++) {
      try_input (corpus[k].data, corpus[k].size);
      if (check_failures ())
        fprintf (stderr, "%s\n", corpus[k].name);
    }
    if (files)
      try_mutations (&random, iterations);
    check_outcomes (iterations);
    check_end ();
  }
  globfree (&found);
  return check_finish ();
}
#endif
