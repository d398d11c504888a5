/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/check.h"

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  check_registered ();
  return check_finish ();
}
