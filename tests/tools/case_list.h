/*
 * What the reader of case files (case.c) passes to the runner (case_run.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_LIST_H
#define TESTS_CASE_LIST_H

#include "case.h"
#include "case_value.h"

struct case_line {
	struct case_line *next;
	const char *file;
	unsigned number;
	const char *text;
};

/* The lines of a case or a scene, without those that only the reader needs. */
struct case_script {
	struct case_script *next;
	const char *file;
	const char *name;
	const char *only; /* the only transport that runs it, or NULL */
	bool alone; /* runs only with a single responder */
	bool moves_clock;
	bool fails_store;
	struct case_line *lines;
};

/* A script and one row of its table; a case without a table has one row without columns. */
struct case_entry {
	const struct case_script *script;
	const char *name;
	size_t n_columns;
	const char **columns;
	const char **values;
};

struct case_list {
	struct pool pool;
	const char *folder;
	struct case_script *scenes;
	struct case_entry *entries;
	size_t n_entries;
	size_t room;
};

/* Returns true if the line begins with a word of the language. */
bool case_line_is_known(const char *text);

#endif
