/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CIELAB in whole numbers, against its definition in double precision (IEC 61966-2-1, CIE 15). */
#include "stereo/engine/backend.h"

#include "tests/support/check.h"

static double
light_of (int sample)
{
  double s = sample / 255.0;
  return s <= 0.04045 ? s / 12.92 : pow ((s + 0.055) / 1.055, 2.4);
}

static double
root_of (double t)
{
  return t > 216.0 / 24389 ? cbrt (t) : (24389.0 / 27 * t + 16) / 116;
}

/* L, a and b of D65. */
static void
lab_of (int red, int green, int blue, double lab[3])
{
  double r = light_of (red), g = light_of (green), b = light_of (blue);
  double x = root_of ((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  double y = root_of (0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
  double z = root_of ((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);

  lab[0] = 116 * y - 16;
  lab[1] = 500 * (x - y);
  lab[2] = 200 * (y - z);
}

/* Every third sample of each channel, and so 0 and 255. */
CASE (test_colors, "colors")
{
  static const int zero[3] = { 0, STEREO_LAB_A, STEREO_LAB_B };
  StereoLab table;
  double furthest[3] = { 0 };

  stereo_lab_table (&table);
  for (int r = 0; r < 256; r += 3)
    for (int g = 0; g < 256; g += 3)
      for (int b = 0; b < 256; b += 3) {
        uint32_t made = stereo_lab (&table, (uint32_t) (r | g << 8 | b << 16));
        double lab[3];
        lab_of (r, g, b, lab);
        for (int c = 0; c < 3; c++) {
          double wanted = STEREO_LAB_STEPS * lab[c] + zero[c], away = fabs ((made >> 8 * c & 0xFF) - wanted);
          CHECK (wanted > 0 - 0.5 && wanted < 255.5, "channel %d of (%d, %d, %d): %g is no byte", c, r, g, b, wanted);
          furthest[c] = away > furthest[c] ? away : furthest[c];
        }
        CHECK (made >> 24 == 0, "(%d, %d, %d): %x", r, g, b, made);
      }
  /* half a step is rounding; a is 500 times the difference of two roots, and where it is dark light has few steps */
  CHECK (furthest[0] < 0.65 && furthest[1] < 1 && furthest[2] < 0.8, "off by up to %g, %g, %g steps", furthest[0],
      furthest[1], furthest[2]);
}

/* A grey has no hue, whatever rounding does; L grows with it. */
CASE (test_greys, "greys")
{
  StereoLab table;
  uint32_t before = 0;

  stereo_lab_table (&table);
  for (uint32_t grey = 0; grey < 256; grey++) {
    uint32_t made = stereo_lab (&table, grey * 0x010101u);
    CHECK (made >> 8 == (STEREO_LAB_A | STEREO_LAB_B << 8), "grey %u: %x", grey, made);
    CHECK ((made & 0xFF) >= before, "grey %u is darker than the one before: %u, %u", grey, made & 0xFF, before);
    before = made & 0xFF;
  }
  CHECK (before == 100 * STEREO_LAB_STEPS && stereo_lab (&table, 0) % 256 == 0, "white: %u", before);
}
