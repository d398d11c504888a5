/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Included before everything else in the copy of the sources that tests/mutants.sh builds. */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdlib.h>

/* Which mutant is on, from STEREO_MUTANT; 0 = none. One for each library or program. */
__attribute__ ((weak, visibility ("hidden"))) int stereo_mutant;

__attribute__ ((constructor)) static void
mutant_read (void)
{
  const char *text = getenv ("STEREO_MUTANT");

  stereo_mutant = text ? atoi (text) : 0;
}

#endif
