/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small test harness. CASE() defines a case of a program and registers it; check_main.c runs them in the order of the file, or the
 * program has a main() of its own. A case passes, fails (one CHECK or more did not hold) or is skipped. The last line is "N passed, N failed, N skipped"; the exit status is 0, 1, or
 * 77 (meson's "skipped") when every case was skipped. An argument runs only the cases whose name
 * contains it. With STEREO_TEST_STOP set, the first case that fails ends the program.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True when @condition holds; else the case fails, and the message says what was seen. */
#define CHECK(condition, ...) ((condition) ? 1 : check_fail (__FILE__, __LINE__, #condition, __VA_ARGS__))

int check_fail (const char *file, int line, const char *condition, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));
/* How many checks of the case at hand failed so far. */
int check_failures (void);
/* The case at hand cannot be run here, and why. */
void check_skip (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

typedef struct CheckCase
{
  const char *name;
  void (*run) (void);
  int line;
  struct CheckCase *next;
} CheckCase;

void check_register (CheckCase *test);
/* Runs all that are registered. */
void check_registered (void);

#define CASE(function, text) \
  static void function (void); \
  __attribute__ ((constructor)) static void function##_register (void) \
  { \
    static CheckCase test = { .name = text, .run = function, .line = __LINE__ }; \
    check_register (&test); \
  } \
  static void function (void)

/* Starts a case; false when the filter leaves it out. */
int check_begin (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
void check_end (void);
/* Both around @function. */
void check_case (const char *name, void (*function) (void));

void check_start (int argc, char **argv);
/* Prints the last line; returns the exit status. */
int check_finish (void);

#endif
