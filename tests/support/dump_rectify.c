/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dump_rectify CALIBRATION RAW_WIDTH RAW_HEIGHT ALPHA WIDTH HEIGHT MAPS
 *
 * Writes the maps as raw floats (left x, left y, right x, right y, whole pictures) to MAPS, and the rectification as a
 * line "name numbers" each to standard output, for scripts that compare them with other programs'.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gst/rectify/calibration/calibration.h"

static void
print_numbers (const char *name, const double *numbers, int count)
{
  printf ("%s", name);
  for (int i = 0; i < count; i++)
    printf (" %.17g", numbers[i]);
  putchar ('\n');
}

static int
write_maps (const StereoCalibration *calibration, const StereoRectification *r, const char *path)
{
  size_t pixels = (size_t) r->width * (size_t) r->height;
  float *map = malloc (2 * pixels * sizeof *map);
  FILE *file = fopen (path, "wb");
  int ok = map && file;

  for (int v = 0; ok && v < 2; v++) {
    stereo_rectify_map (calibration, r, v, map, map + pixels, r->width, 0, r->height);
    ok = fwrite (map, sizeof *map, 2 * pixels, file) == 2 * pixels;
  }
  ok = file && fclose (file) == 0 && ok;
  free (map);
  return ok;
}

int
main (int argc, char **argv)
{
  GstStereoCalibrationOptions options = { 0 };
  GstStereoCalibration loaded;
  StereoRectification r;
  StereoError error;
  gchar *message = NULL;

  if (argc != 8) {
    fprintf (stderr, "usage: %s CALIBRATION RAW_WIDTH RAW_HEIGHT ALPHA WIDTH HEIGHT MAPS\n", argv[0]);
    return 2;
  }
  if (!gst_stereo_calibration_load (&loaded, argv[1], &options, &message)) {
    fprintf (stderr, "%s\n", message);
    g_free (message);
    return 1;
  }
  StereoCalibration calibration = gst_stereo_calibration_for (&loaded, atoi (argv[2]), atoi (argv[3]));
  if (stereo_calibration_scale (&calibration, atoi (argv[2]), atoi (argv[3]), &error) ||
      stereo_rectify (&calibration, g_ascii_strtod (argv[4], NULL), atoi (argv[5]), atoi (argv[6]), &r, &error)) {
    fprintf (stderr, "%s\n", error.message);
    return 1;
  }
  printf ("size %d %d\n", r.width, r.height);
  for (int v = 0; v < 2; v++) {
    print_numbers (v ? "R2" : "R1", r.rectifying[v], 9);
    print_numbers (v ? "P2" : "P1", r.projection[v], 12);
  }
  print_numbers ("baseline", &r.baseline, 1);
  if (write_maps (&calibration, &r, argv[7]))
    return 0;
  fprintf (stderr, "%s cannot be written\n", argv[7]);
  return 1;
}
