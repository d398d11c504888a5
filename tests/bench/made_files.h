/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder of small files for each case of a test. */
#ifndef MADE_FILES_H
#define MADE_FILES_H

enum
{
  WIDTH = 7,
  HEIGHT = 5,
  PIXELS = WIDTH * HEIGHT
};

extern char top[64]; /* the folder of the case at hand */

/* A path below the folder of the case, whose folders are made. */
const char *place (const char *name);

void write_view (const char *name);
void write_view_of (const char *name, int width, int height);
/* A grey PNG: every pixel has the sample @value, but the first, which has @first. */
void write_samples (const char *name, int bits, int width, int height, int first, int value);
/* Row y of the picture, counted from the top, has the disparity y + 1; the first pixel is unknown. */
void write_pfm (const char *name, int width, int height);
void write_text (const char *name, const char *text);

/* check_case() in a folder of its own, which is removed again. */
void case_in_folder (const char *name, void (*function) (void));

#endif
