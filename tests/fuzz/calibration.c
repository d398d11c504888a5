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
  check_text (gst_stereo_calibration_doubt_views (&scaled, r, alpha));
  check_text (gst_stereo_calibration_doubt_lens (&scaled));
}

/* 2: maps were made, 1: refused by the numbers, 0: by the text */
static int
try_text (const char *left, const char *right)
{
  const GstStereoCalibrationOptions options = { 0 }, all = { 25, 640, 480, "2,3" };
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
  CHECK (loaded.count > 0 && loaded.count <= GST_STEREO_CALIBRATION_MODES, "%d modes", loaded.count);
  StereoCalibration c = *gst_stereo_calibration_for (&loaded, WIDTH, HEIGHT);
  for (int k = 0; k < 3; k++)
    if (!stereo_rectify (&c, k - 1, WIDTH, HEIGHT, &r, &error)) {
      doubt (&loaded.modes[0], &c, &r, k - 1);
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
static const char opencv[] = "%YAML:1.0\n---\nimageSize: [ 640, 480 ]\n" MATRIX (
    M1, 3, 3, "500., 0., 320., 0., 500., 240., 0., 0., 1.") MATRIX (D1, 1, 5, "-2.5e-01, 0.05, 0., 0., 0.")
    MATRIX (M2, 3, 3, "502., 0., 318., 0., 501., 243., 0., 0., 1.")
        MATRIX (D2, 8, 1, "-0.25, 0.05, 0.001, 0., 0.01, 0.02, 0.03, 0.001")
            MATRIX (R, 3, 3, "1., 0., 0., 0., 1., 0., 0., 0., 1.") MATRIX (T, 3, 1, "-120., 1., 2.");
static const char storage[] = "<?xml version=\"1.0\"?>\n<opencv_storage>\n<imageSize>640 480</imageSize>\n" ELEMENT (
    M1, 3, 3, "500. 0. 320. 0. 500. 240. 0. 0. 1.") ELEMENT (D1, 1, 4, "-2.5e-01 0.05 0. 0.")
    ELEMENT (M2, 3, 3, "502. 0. 318. 0. 501. 243. 0. 0. 1.") ELEMENT (D2, 1, 5, "-0.25 0.05 0. 0. 0.1")
        ELEMENT (R1, 3, 3, "1 0 0 0 1 0 0 0 1") ELEMENT (R2, 3, 3, "1 0 0 0 1 0 0 0 1")
            ELEMENT (P1, 3, 4, "500 0 320 0 0 500 240 0 0 0 1 0")
                ELEMENT (P2, 3, 4, "500 0 320 -60000 0 500 240 0 0 0 1 0") "</opencv_storage>\n";
static const char ros[] = ROS ("0") "\0" ROS ("-60");
static const char kitti[] = "P0: 707 0 601 0 0 707 183 0 0 0 1 0\nP1: 707 0 601 -379 0 707 183 0 0 0 1 0\n";
static const char rows[] = "7e2 0 601 0 0 7e2 183 0 0 0 1 0\n7e2 0 601 -379 0 7e2 183 0 0 0 1 0\n";
#define CAMERA(n, at) \
  "S_" n ": 1392 512\nK_" n ": 984 0 690 0 980 233 0 0 1\nD_" n ": -0.37 0.2 0.001 0.002 -0.07\nR_" n \
  ": 1 0 0 0 1 0 0 0 1\nT_" n ": " at " 0 0\nS_rect_" n ": 1242 375\nR_rect_" n ": 1 0 0 0 1 0 0 0 1\nP_rect_" n \
  ": 721 0 609 " at " 0 721 172 0 0 0 1 0\n"
static const char middlebury[] = "cam0=[999 0 294; 0 999 252; 0 0 1]\n"
                                 "cam1=[999 0 326; 0 999 252; 0 0 1]\n"
                                 "doffs=32\n"
                                 "baseline=193\n"
                                 "width=24\n"
                                 "height=16\n"
                                 "ndisp=70\n";
static const char cameras[] = "calib_time: 09-Jan-2012 13:57:47\n" CAMERA ("00", "0") CAMERA ("01", "-0.54");

#define MESSAGE(offset) \
  "header:\n  stamp: { sec: 1, nanosec: 2 }\n  frame_id: left\nheight: 480\nwidth: 640\ndistortion_model: plumb_bob\n" \
  "d: [-0.2, 0.05, 0.001, -0.001, 0]\nk:\n- 500\n- 0\n- 320\n- 0\n- 500\n- 240\n- 0\n- 0\n- 1\n" \
  "r: [1, 0, 0, 0, 1, 0, 0, 0, 1]\np: [500, 0, 320, " offset ", 0, 500, 240, 0, 0, 0, 1, 0]\n" \
  "roi:\n  x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0\n---\n"
static const char message[] = MESSAGE ("0") "\0" MESSAGE ("-60");
#define OST(side, offset) \
  "# oST version 5.0 parameters\n[image]\n\nwidth\n640\n\nheight\n480\n\n[narrow/" side "]\n\n" \
  "camera matrix\n500 0 320\n0 500 240\n0 0 1\n\ndistortion\n-0.2 0.05 0 0 0\n\n" \
  "rectification\n1 0 0\n0 1 0\n0 0 1\n\nprojection\n500 0 320 " offset "\n0 500 240 0\n0 0 1 0\n"
static const char ost[] = OST ("left", "0") OST ("right", "-60");
static const char kalibr[] = "cam0:\n  camera_model: pinhole\n  distortion_coeffs: [-0.2, 0.05, 0, 0]\n"
                             "  distortion_model: radtan\n  intrinsics: [500, 500, 320, 240]\n  resolution: [640, 480]\n"
                             "cam1:\n  T_cn_cnm1:\n  - [1, 0, 0, -0.12]\n  - [0, 1, 0, 0]\n  - [0, 0, 1, 0]\n"
                             "  - [0, 0, 0, 1]\n  camera_model: pinhole\n  distortion_coeffs: [0.01, 0.02, 0, 0]\n"
                             "  distortion_model: equidistant\n  intrinsics: [500, 500, 320, 240]\n"
                             "  resolution: [640, 480]\n";
#define SENSOR(x) \
  "sensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n  data: [1, 0, 0, " x ", 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]\n" \
  "resolution: [640, 480]\ncamera_model: pinhole\nintrinsics: [500, 500, 320, 240]\n" \
  "distortion_model: radial-tangential\ndistortion_coefficients: [-0.28, 0.07, 0, 0]\n"
static const char euroc[] = SENSOR ("0") "\0" SENSOR ("0.11");
static const char orbslam[] = "%YAML:1.0\nCamera.width: 640\nCamera.height: 480\nCamera.type: \"PinHole\"\n"
                              "Camera1.fx: 500\nCamera1.fy: 500\nCamera1.cx: 320\nCamera1.cy: 240\nCamera1.k1: -0.2\n"
                              "Camera2.fx: 500\nCamera2.fy: 500\nCamera2.cx: 320\nCamera2.cy: 240\nCamera2.p1: 0.001\n"
                              "Stereo.b: 0.12\n" MATRIX (
                                  Stereo.T_c1_c2, 4, 4, "1, 0, 0, 0.12, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1");
static const char rectified[] = "%YAML:1.0\nCamera.fx: 500\nCamera.fy: 500\nCamera.cx: 320\nCamera.cy: 240\n"
                                "Camera.width: 640\nCamera.height: 480\nCamera.bf: 60\n";
#define ZED(side, cx) "[" side "_CAM_HD]\nfx=700\nfy=700\ncx=" cx "\ncy=360\nk1=-0.17\nk2=0.03\np1=0\np2=0\n"
static const char zed[] = ZED ("LEFT", "640")
    ZED ("RIGHT", "650") "[LEFT_DISTO]\nk3=0.01\n"
                         "[STEREO]\nBaseline=120\nTY=0.1\nTZ=-0.2\nRX_HD=0.001\nCV_HD=0.002\nRZ_HD=-0.003\n";

static const struct
{
  const char *text;
  size_t size;
} corpus[] = { { opencv, sizeof opencv - 1 }, { storage, sizeof storage - 1 }, { ros, sizeof ros - 1 },
  { kitti, sizeof kitti - 1 }, { rows, sizeof rows - 1 }, { cameras, sizeof cameras - 1 },
  { middlebury, sizeof middlebury - 1 }, { message, sizeof message - 1 }, { ost, sizeof ost - 1 },
  { kalibr, sizeof kalibr - 1 }, { euroc, sizeof euroc - 1 }, { orbslam, sizeof orbslam - 1 },
  { rectified, sizeof rectified - 1 }, { zed, sizeof zed - 1 } };

static const char *const pieces[] = { "nan", ".Inf", "-", "1e308", "-1e-308", "[", "]", "{", "}", ":", "\n", "\n---\n",
  "<a>", "</data>", "&a ", "*a", "!!", "%", "\t", "\"", "'", "#", "\377", "\0", "0", "99999999999", "R1",
  "rows: ", "<!--", "&lt;", "? ", "- ", "data", "|\n", "720", ";", "=", "cam0=", "[a]\n", "cam1.", "T_BS: ", "4",
  "fisheye_model: 1\n" };

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
