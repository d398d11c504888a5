/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tests of a program and its suite. TEST() and TEST_LOOP() define a test and register it; SUITE() defines main(), which runs all of
 * them in the order of the file. What stands in braces behind SUITE() is done before, with @tcase: a seed, a time limit, fixtures.
 * SUITE_IF() has a condition, for tests that not every machine can run: where it is FALSE, the program is skipped. The condition prints
 * the reason. Neither the braces nor the condition may use fail_unless(), which needs a running test: g_assert_true() does not.
 */
#ifndef TESTS_SUPPORT_GST_SUITE_H
#define TESTS_SUPPORT_GST_SUITE_H

#include <gst/check/gstcheck.h>

typedef struct SuiteTest
{
  void (*add) (TCase *tcase);
  gint line;
  struct SuiteTest *next;
} SuiteTest;

static SuiteTest *suite_tests;

/* Constructors run in any order. */
static inline void
suite_register (SuiteTest *test)
{
  SuiteTest **at = &suite_tests;

  while (*at && (*at)->line < test->line)
    at = &(*at)->next;
  test->next = *at;
  *at = test;
}

static inline Suite *
suite_make (const gchar *name, void (*prepare) (TCase *tcase))
{
  Suite *suite = suite_create (name);
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  prepare (tcase);
  for (SuiteTest *test = suite_tests; test; test = test->next)
    test->add (tcase);
  return suite;
}

#define TEST(name) TEST_LOOP (name, 0, 1)

/* The test runs with __i__ from @first to @end - 1. */
#define TEST_LOOP(name, first, end) \
  static void name##_body (gint __i__); \
  GST_START_TEST (name) \
  { \
    name##_body (__i__); \
  } \
  GST_END_TEST \
  static void name##_add (TCase *tcase) \
  { \
    tcase_add_loop_test (tcase, name, (gint) (first), (gint) (end)); \
  } \
  __attribute__ ((constructor)) static void name##_register (void) \
  { \
    static SuiteTest test = { .add = name##_add, .line = __LINE__ }; \
    suite_register (&test); \
  } \
  static void name##_body (gint __i__ G_GNUC_UNUSED)

#define SUITE(name) SUITE_IF (name, TRUE)

#define SUITE_IF(name, condition) \
  static void name##_prepare (TCase *tcase); \
  int main (int argc, char **argv) \
  { \
    gst_check_init (&argc, &argv); \
    if (!(condition)) \
      return 77; \
    return gst_check_run_suite (suite_make (#name, name##_prepare), #name, __FILE__); \
  } \
  static void name##_prepare (TCase *tcase G_GNUC_UNUSED)

#endif
