/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files of any content, and what rectification makes of what they say: taken or refused with a message, and
 * maps are finite. Nothing else may happen.
 *
 * As it is, this program mutates texts of every format, repeatably: STEREO_TEST_SEED, and STEREO_FUZZ_ITERATIONS for
 * more of it; files named as arguments are tried instead. With -DSTEREO_LIBFUZZER and clang -fsanitize=fuzzer it is a
 * target of libFuzzer. A byte 0 in the input divides a pair of files.
 */
#include <math.h>

#include "gst/rectify/calibration/calibration.h"
#include "tests/fuzz/fuzz.h"

enum
{
  WIDTH = 24,
  HEIGHT = 16
};

/* Sentences, or none. */
static void
check_text (gchar *text)
{
  CHECK (!text || (strlen (text) > 20 && g_utf8_validate (text, -1, NULL)), "'%s'", text);
  g_free (text);
}

/* Doubts may be of any numbers that the engine takes. */
static void
doubt (const StereoCalibration *loaded, const StereoCalibration *c, const StereoRectification *r, double alpha)
{
  StereoCalibration scaled = *c;

  if (scaled.width <= 0 || scaled.width > 400 || scaled.height > 400) {
    scaled.width = WIDTH;
    scaled.height = HEIGHT;
  }
  check_text (gst_stereo_calibration_doubt_size (loaded, &scaled, r, alpha));
  check_text (gst_stereo_calibration_doubt_lens (&scaled));
}

/* 2: maps were made, 1: refused by the numbers, 0: by the text */
static int
try_text (const char *left, const char *right)
{
  const GstStereoCalibrationOptions options = { 0 }, all = { 25, 640, 480 };
  GstStereoCalibration loaded;
  StereoRectification r;
  StereoError error = { 0 };
  gchar *message = NULL;
  float x[WIDTH], y[WIDTH];

  if (!gst_stereo_calibration_parse (&loaded, left, right, &all, &message))
    check_text (message);
  message = NULL;
  if (!gst_stereo_calibration_parse (&loaded, left, right, &options, &message)) {
    CHECK (
        message && strlen (message) > 20 && g_utf8_validate (message, -1, NULL), "refused without a word: %s", message);
    g_free (message);
    return 0;
  }
  CHECK (!message, "taken, and '%s'", message);
  StereoCalibration c = gst_stereo_calibration_for (&loaded, WIDTH, HEIGHT);
  check_text (gst_stereo_calibration_doubt_roi (&loaded, WIDTH, HEIGHT));
  for (int k = 0; k < 3; k++)
    if (!stereo_rectify (&c, k - 1, WIDTH, HEIGHT, &r, &error)) {
      doubt (&loaded.whole, &c, &r, k - 1);
      for (int row = 0; row < HEIGHT; row++) {
        stereo_rectify_map (&c, &r, row % 2, x, y, WIDTH, row, row + 1);
        for (int u = 0; u < WIDTH; u++)
          CHECK (isfinite (x[u]) && isfinite (y[u]), "row %d, column %d is at %g, %g", row, u, (double) x[u],
              (double) y[u]);
      }
    }
  if (!error.status && !stereo_calibration_scale (&c, 640, 480, &error))
    return 2;
  CHECK (strlen (error.message) > 20, "refused without a word");
  return 1;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = malloc (size + 2), *right;

  if (!text)
    return 0;
  memcpy (text, data, size);
  text[size] = text[size + 1] = 0;
  right = text + strlen (text) + 1;
  int outcome = try_text (text, right < text + size ? right : NULL);
  free (text);
#ifdef STEREO_LIBFUZZER
  return 0 * outcome;
#else
  return outcome;
#endif
}

#ifndef STEREO_LIBFUZZER

#define MATRIX(name, rows, cols, data) \
#name ": !!opencv-matrix\n   rows: " #rows "\n   cols: " #cols "\n   dt: d\n   data: [ " data " ]\n"
#define ELEMENT(name, rows, cols, data) \
  "<" #name " type_id=\"opencv-matrix\"><rows>" #rows "</rows><cols>" #cols "</cols><dt>d</dt><data>" data \
  "</data></" #name ">\n"
#define INFO(name, rows, cols, data) #name ":\n  rows: " #rows "\n  cols: " #cols "\n  data: [" data "]\n"
#define ROS(offset) \
  "image_width: 640\nimage_height: 480\ncamera_name: one\n" INFO (camera_matrix, 3, 3, \
      "500, 0, 320, 0, 500, 240, 0, 0, 1") "distortion_model: plumb_bob\n" INFO (distortion_coefficients, 1, 5, \
      "-0.2, 0.05, 0.001, -0.001, 0") INFO (rectification_matrix, 3, 3, "1, 0, 0, 0, 1, 0, 0, 0, 1") \
      INFO (projection_matrix, 3, 4, "500, 0, 320, " offset ", 0, 500, 240, 0, 0, 0, 1, 0")

/* One of each format; \0 between a pair. */
#define PAIR(across) \
  "%YAML:1.0\n---\nimageSize: [ 640, 480 ]\n" MATRIX (M1, 3, 3, "500., 0., 320., 0., 500., 240., 0., 0., 1.") \
      MATRIX (D1, 1, 5, "-2.5e-01, 0.05, 0., 0., 0.") MATRIX (M2, 3, 3, "502., 0., 318., 0., 501., 243., 0., 0., 1.") \
          MATRIX (D2, 8, 1, "-0.25, 0.05, 0.001, 0., 0.01, 0.02, 0.03, 0.001") \
              MATRIX (R, 3, 3, "1., 0., 0., 0., 1., 0., 0., 0., 1.") MATRIX (T, 3, 1, across ", 1., 2.")
static const char opencv[] = PAIR ("-120."), exchanged[] = PAIR ("120.");
static const char storage[] = "<?xml version=\"1.0\"?>\n<opencv_storage>\n<imageSize>640 480</imageSize>\n" ELEMENT (
    M1, 3, 3, "500. 0. 320. 0. 500. 240. 0. 0. 1.") ELEMENT (D1, 1, 4, "-2.5e-01 0.05 0. 0.")
    ELEMENT (M2, 3, 3, "502. 0. 318. 0. 501. 243. 0. 0. 1.") ELEMENT (D2, 1, 5, "-0.25 0.05 0. 0. 0.1")
        ELEMENT (R1, 3, 3, "1 0 0 0 1 0 0 0 1") ELEMENT (R2, 3, 3, "1 0 0 0 1 0 0 0 1")
            ELEMENT (P1, 3, 4, "500 0 320 0 0 500 240 0 0 0 1 0")
                ELEMENT (P2, 3, 4, "500 0 320 -60000 0 500 240 0 0 0 1 0") "</opencv_storage>\n";
static const char ros[] = ROS ("0") "\0" ROS ("-60");
#define MESSAGE(offset) \
  "header:\n  stamp: { sec: 1, nanosec: 2 }\n  frame_id: left\nheight: 480\nwidth: 640\ndistortion_model: plumb_bob\n" \
  "d: [-0.2, 0.05, 0.001, -0.001, 0]\nk:\n- 500\n- 0\n- 320\n- 0\n- 500\n- 240\n- 0\n- 0\n- 1\n" \
  "r: [1, 0, 0, 0, 1, 0, 0, 0, 1]\np: [500, 0, 320, " offset ", 0, 500, 240, 0, 0, 0, 1, 0]\n" \
  "roi:\n  x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0\n---\n"
static const char message[] = MESSAGE ("0") "\0" MESSAGE ("-60");
static const struct
{
  const char *text;
  size_t size;
} corpus[] = { { opencv, sizeof opencv - 1 }, { storage, sizeof storage - 1 }, { ros, sizeof ros - 1 },
  { exchanged, sizeof exchanged - 1 }, { message, sizeof message - 1 } };

static const char *const pieces[] = { "nan", ".Inf", "-", "1e308", "-1e-308", "[", "]", "{", "}", ":", "\n", "\n---\n",
  "<a>", "</data>", "&a ", "*a", "!!", "%", "\t", "\"", "'", "#", "\377", "\0", "0", "99999999999", "R1",
  "rows: ", "<!--", "&lt;", "? ", "- ", "data", "|\n", "720", "4", "fisheye_model: 1\n", "binning_x: 2\n",
  "  width: 24\n", "  height: 16\n" };

enum
{
  MOST = 1 << 14
};

/* A few changes: bytes, cuts, repeats, pieces that mean something, a part of another format. */
static size_t
mutate (char *text, size_t size, Random *random)
{
  for (int n = random_range (random, 0, 4); n > 0 && size > 1; n--) {
    size_t at = (size_t) random_range (random, 0, (int) size - 1), length = (size_t) random_range (random, 1, 40), from;
    const char *source;
    char copy[MOST];
    int other = random_range (random, 0, (int) (sizeof corpus / sizeof *corpus) - 1);
    switch (random_range (random, 0, 5)) {
      case 0:
        text[at] = (char) random_range (random, 0, 255);
        continue;
      case 1:
        size = random_range (random, 0, 3) ? size : at;
        continue;
      case 2:
        length = length < size - at ? length : size - at;
        memmove (text + at, text + at + length, size - at - length);
        size -= length;
        continue;
      case 3:
        source = pieces[random_range (random, 0, (int) (sizeof pieces / sizeof *pieces) - 1)];
        length = *source ? strlen (source) : 1;
        break;
      case 4:
        from = (size_t) random_range (random, 0, (int) size - 1);
        length = length < size - from ? length : size - from;
        memcpy (copy, text + from, length);
        source = copy;
        break;
      default:
        from = (size_t) random_range (random, 0, (int) corpus[other].size - 1);
        length = 10 * length < corpus[other].size - from ? 10 * length : corpus[other].size - from;
        source = corpus[other].text + from;
    }
    if (size + length > MOST)
      continue;
    memmove (text + at + length, text + at, size - at);
    memcpy (text + at, source, length);
    size += length;
  }
  return size;
}

static int
try_file (const char *path)
{
  static uint8_t data[MOST];
  FILE *file = fopen (path, "rb");

  if (!file)
    return 1;
  size_t size = fread (data, 1, sizeof data, file);
  fclose (file);
  return LLVMFuzzerTestOneInput (data, size) < 0;
}

int
main (int argc, char **argv)
{
  Random random = { random_seed () };
  int iterations = random_count ("STEREO_FUZZ_ITERATIONS", 8000), outcomes[3] = { 0 }, failed = 0;
  char text[MOST];

  for (int k = 1; k < argc; k++)
    failed |= try_file (argv[k]);
  if (argc > 1)
    return failed;
  check_start (argc, argv);
  if (check_begin ("random calibration files")) {
    for (int k = 0; k < iterations && !check_failures (); k++) {
      int which = random_range (&random, 0, (int) (sizeof corpus / sizeof *corpus) - 1);
      memcpy (text, corpus[which].text, corpus[which].size);
      size_t size = mutate (text, corpus[which].size, &random);
      outcomes[LLVMFuzzerTestOneInput ((const uint8_t *) text, size)]++;
      if (check_failures ())
        fprintf (stderr, "iteration %d:\n%.*s\n", k, (int) size, text);
    }
    printf ("%d refused as text, %d by their numbers, %d rectified\n", outcomes[0], outcomes[1], outcomes[2]);
    /* else the fuzzer tests nothing */
    for (int k = 0; k < 3; k++)
      CHECK (check_failures () || outcomes[k] > iterations / 30, "only %d of %d had outcome %d", outcomes[k],
          iterations, k);
    check_end ();
  }
  return check_finish ();
}
#endif
