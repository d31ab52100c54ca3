/* What every suite needs: counting the rows of a table, and running.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <stdbool.h>
#include <stddef.h>

/* The number of rows of a table, as an int because Check counts in ints. */
#define ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

/* Check notes each assertion that holds, to say after a crash where the test was. Reading the notes
 * of a test takes quadratic time, which was most of the time of tests with thousands of assertions;
 * so only the first ones of a process are noted. A sanitizer tells the place of a crash anyway. */
#define _mark_point(file, line) suite_mark(file, line)
void suite_mark(const char *file, int line);

/* Check's Suite, for programs that only count and do not include Check's header. */
struct Suite;

/* Runs a suite in one process, unless CK_FORK is yes, and frees it; forking would take most of the
 * time of short tests. A crash ends all of them, and only tests/run ends one that hangs; it then
 * runs the suite again with CK_FORK=yes, which names the test. Returns the exit status of the test
 * program. */
int suite_run(struct Suite *suite);
/* The same with a process for each test, unless CK_FORK is no: for tests that abort, change their
 * process (limits, namespaces) or leave something behind. */
int suite_run_apart(struct Suite *suite);

/* Returns true if the n-th row of a long table is to be tested: one of ONE_OF rows, others with
 * another SEED (both in the environment, as tests/run sets them; unset: all rows). */
bool suite_draws(size_t n);

#endif
