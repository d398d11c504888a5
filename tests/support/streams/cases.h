/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Single faults as cameras and cables make them, with the expected output. */
#ifndef ELEMENTS_STREAM_CASES_H
#define ELEMENTS_STREAM_CASES_H

#include "tests/support/streams/script.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *name;
  void (*write) (Script *script);
  guint pairs;       /* that come out */
  guint left, right; /* that are dropped */
  guint behind; /* so many of them lie behind the end of the other view: where nothing is live, one at least is dropped */
} StreamCase;

extern const StreamCase stream_cases[];
extern const guint stream_case_count;

G_END_DECLS

#endif
