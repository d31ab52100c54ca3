/* What every suite does in the same way: it counts the rows of a table, and is run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

/* How many rows a table has. An int, since Check counts so. */
#define ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

/* Check's Suite: its header is not wanted by those who only count. */
struct Suite;

/* Runs a suite, as the environment says (CK_VERBOSITY, CK_FORK), and frees it. Returns the exit
 * status of a test program. */
int suite_run(struct Suite *suite);

/* The same in one process, unless CK_FORK says otherwise: for many short tests that start nothing
 * and leave nothing, where a process for each would take most of the time. A crash ends them
 * all. */
int suite_run_in_one(struct Suite *suite);

#endif
