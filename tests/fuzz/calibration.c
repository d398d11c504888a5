/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files of any content, and what rectification makes of what they say: taken or refused with a message, and
 * maps are finite. Nothing else may happen. A byte 0 in the input divides a pair of files.
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

/* The index of the outcome. */
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

static void
try (const uint8_t *data, size_t size)
{
  char *text = malloc (size + 2), *right;

  if (!text)
    return;
  memcpy (text, data, size);
  text[size] = text[size + 1] = 0;
  right = text + strlen (text) + 1;
  fuzz_count (try_text (text, right < text + size ? right : NULL));
  free (text);
}

static const char *const pieces[] = { "nan", ".Inf", "-", "1e308", "-1e-308", "[", "]", "{", "}", ":", "\n", "\n---\n",
  "<a>", "</data>", "&a ", "*a", "!!", "%", "\t", "\"", "'", "#", "\377", "", "0", "99999999999", "R1",
  "rows: ", "<!--", "&lt;", "? ", "- ", "data", "|\n", "720", "4", "fisheye_model: 1\n", "binning_x: 2\n",
  "  width: 24\n", "  height: 16\n", NULL };

const FuzzTarget fuzz_target = { 8000,
  { { "refused as text", 4 }, { "refused by their numbers", 4 }, { "rectified", 4 } }, NULL, try, pieces };
