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
must (int good, const char *message)
{
  if (good)
    return;
  fprintf (stderr, "%s\n", message);
  exit (1);
}

static void
print_numbers (const char *name, const double *numbers, int count)
{
  printf ("%s", name);
  for (int i = 0; i < count; i++)
    printf (" %.17g", numbers[i]);
  putchar ('\n');
}

int
main (int argc, char **argv)
{
  GstStereoCalibrationOptions options = { 0 };
  GstStereoCalibration loaded;
  StereoRectification r;
  StereoError error;
  gchar *message = NULL;

  must (argc == 8, "usage: dump_rectify CALIBRATION RAW_WIDTH RAW_HEIGHT ALPHA WIDTH HEIGHT MAPS");
  gboolean loads = gst_stereo_calibration_load (&loaded, argv[1], &options, &message);
  must (loads, message);
  StereoCalibration calibration = gst_stereo_calibration_for (&loaded, atoi (argv[2]), atoi (argv[3]));
  must (!stereo_calibration_scale (&calibration, atoi (argv[2]), atoi (argv[3]), &error) &&
          !stereo_rectify (&calibration, g_ascii_strtod (argv[4], NULL), atoi (argv[5]), atoi (argv[6]), &r, &error),
      error.message);
  printf ("size %d %d\n", r.width, r.height);
  print_numbers ("baseline", &r.baseline, 1);
  size_t pixels = (size_t) r.width * (size_t) r.height;
  float *map = malloc (2 * pixels * sizeof *map);
  FILE *file = fopen (argv[7], "wb");
  for (int v = 0; v < 2 && map && file; v++) {
    print_numbers (v ? "R2" : "R1", r.rectifying[v], 9);
    print_numbers (v ? "P2" : "P1", r.projection[v], 12);
    stereo_rectify_map (&calibration, &r, v, map, map + pixels, r.width, 0, r.height);
    must (fwrite (map, sizeof *map, 2 * pixels, file) == 2 * pixels, "the maps cannot be written");
  }
  must (map && file && fclose (file) == 0, "the maps cannot be written");
  free (map);
  return 0;
}
