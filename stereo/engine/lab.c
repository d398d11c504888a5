/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of stereo/exact/lab.h. */
#include "stereo/engine/backend.h"

/* The light that a sample of sRGB stands for, 0..1. */
static double
light_of (double sample)
{
  return sample <= 0.04045 ? sample / 12.92 : pow ((sample + 0.055) / 1.055, 2.4);
}

static double
root_of (double light)
{
  const double dark = 6.0 / 29;
  return light > dark * dark * dark ? cbrt (light) : light / (3 * dark * dark) + 4.0 / 29;
}

void
stereo_lab_table (StereoLab *table)
{
  for (int k = 0; k < 256; k++)
    table->light[k] = (uint16_t) lrint (65535 * light_of (k / 255.0));
  for (int k = 0; k < STEREO_LAB_ROOTS; k++)
    table->root[k] = (uint16_t) lrint (STEREO_LAB_ONE * root_of ((double) (k << STEREO_LAB_ROOT_SHIFT) / 65535));
}
