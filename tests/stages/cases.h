/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the stage tests run: a table of nasty cases, and as many random ones as wanted. */
#ifndef CASES_H
#define CASES_H

#include "tests/support/params.h"
#include "tests/support/picture.h"
#include "stereo/stereo.h"

typedef struct Case
{
  int width, height;
  PictureKind kind;
  PictureLayout layout;
  StereoSample sample;
  int confidence;   /* whether the caller wants it */
  char params[800]; /* for params_set() */
} Case;

/* The table's case @index; 0 past the last. */
int case_from_table (Case *c, int index);
void case_draw (Case *c, Random *random);
/* One line from which the case can be written down again. */
const char *case_describe (const Case *c, char *text, size_t size);

#endif
