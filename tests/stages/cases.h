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
  const PictureLayout *layout;
  StereoSample sample;
  int num;           /* disparities */
  char params[800];  /* the others, for params_set() */
  int no_confidence; /* the caller does not want it */
} Case;

/* Nasty cases, and textured scenes; the last one of each is empty. */
extern const Case cases[], scenes[];
void case_draw (Case *c, Random *random);
/* One line from which the case can be written down again. */
const char *case_describe (const Case *c, char *text, size_t size);

#endif
