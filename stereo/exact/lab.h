/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CIELAB in whole numbers, for support weights that compare colours as eyes do (color-difference=lab; Hillerstrom 2017,
 * 4.3.1, after Yoon & Kweon 2006). A pixel's L, a and b are one byte each, like its R, G and B: the code that compares
 * colours then compares these. A byte has STEREO_LAB_STEPS steps of a unit of L, a and b. That is as many as the range of b,
 * the longest of the three in sRGB, leaves room for.
 */
#ifndef STEREO_EXACT_LAB_H
#define STEREO_EXACT_LAB_H

#include "stereo/exact/shared.h"

#define STEREO_LAB_STEPS 1.25   /* of a byte, in a unit of L, a or b: 5 / 4 below */
#define STEREO_LAB_A 128        /* the byte of a = 0: a is -86.2 to 98.3 in sRGB */
#define STEREO_LAB_B 136        /* the byte of b = 0: b is -107.9 to 94.5 */
#define STEREO_LAB_ONE 32768    /* 1 of the table of roots */
#define STEREO_LAB_ROOT_SHIFT 6 /* light between two entries of it */
#define STEREO_LAB_ROOTS (1024 + 1)

/* By IEC 61966-2-1 and CIE 15: engine/tables.c fills it in. */
typedef struct StereoLab
{
  uint16_t light[256];             /* of a sample, 0..65535 */
  uint16_t root[STEREO_LAB_ROOTS]; /* f (t): the cube root of t = entry / 1024, or its tangent where it is dark */
} StereoLab;

/* f of @light, between two entries of the table. */
STEREO_SHARED int
stereo_lab_root (const StereoLab *table, uint32_t light)
{
  const uint16_t *root = table->root + (light >> STEREO_LAB_ROOT_SHIFT);
  int part = (int) (light & ((1 << STEREO_LAB_ROOT_SHIFT) - 1));
  return root[0] + (((root[1] - root[0]) * part + (1 << (STEREO_LAB_ROOT_SHIFT - 1))) >> STEREO_LAB_ROOT_SHIFT);
}

/* @parts of 1 in steps of a byte, and where 0 lies. All sums are positive: shifts round to the nearest. */
STEREO_SHARED uint32_t
stereo_lab_byte (int parts, int zero)
{
  return (uint32_t) (parts + zero * STEREO_LAB_ONE + STEREO_LAB_ONE / 2) / STEREO_LAB_ONE;
}

/* L | a << 8 | b << 16 of R | G << 8 | B << 16. The weights of the three lights add up to 65536 for each of X, Y and Z,
 * relative to the white of sRGB: a is 0 and b is 0 of every grey. */
STEREO_SHARED uint32_t
stereo_lab (const StereoLab *table, uint32_t color)
{
  uint32_t r = table->light[color & 0xFF], g = table->light[color >> 8 & 0xFF], b = table->light[color >> 16 & 0xFF];
  int x = stereo_lab_root (table, (28440 * r + 24656 * g + 12440 * b + 32768) >> 16);
  int y = stereo_lab_root (table, (13938 * r + 46868 * g + 4730 * b + 32768) >> 16);
  int z = stereo_lab_root (table, (1164 * r + 7174 * g + 57198 * b + 32768) >> 16);

  /* 116 y - 16, 500 (x - y), 200 (y - z), times 5 / 4 */
  return stereo_lab_byte (145 * y, -20) | stereo_lab_byte (625 * (x - y), STEREO_LAB_A) << 8 |
      stereo_lab_byte (250 * (y - z), STEREO_LAB_B) << 16;
}

#endif
