/*
 * What an answer of a case is held against.  A check returns nothing: it writes what is wrong
 * into the report and counts it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_CHECK_H
#define TESTS_CASE_CHECK_H

#include "case.h"
#include "case_list.h"
#include "case_value.h"

#include <stdio.h>

/* One case under way. */
struct run {
	const struct case_list *list;
	struct transport *transport;
	struct pool pool;
	struct scope scope;
	struct case_account a; /* accounts as the case sees them, own copies */
	struct case_account b;

	const struct case_line *line;
	FILE *report;
	unsigned problems;

	struct case_request request;
	const char *account; /* whose token goes with the request: "a", "b" or "nobody" */
	bool authorized; /* the case gave an Authorization header of its own */
	struct bytes body;
	bool body_given;
	bool pending; /* a request was begun and not sent */

	struct case_answer answer;
	bool answered;
	json_t *document; /* the answer parsed, NULL when it is no JSON */
	bool unknown_fields_checked;
};

/* Writes a sentence with the place of the line under way. */
void problem(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text with variables replaced; a variable without a value is a problem. */
struct bytes expanded(struct run *run, const char *text);

/* The value of a header of the answer, or NULL. */
const char *answer_header(const struct run *run, const char *name);

/* What holds for every answer: form of errors, headers that are always there, no secrets. */
void check_every_answer(struct run *run);

/* An answer that speaks of unknown fields although the case does not is a problem. */
void check_no_surprise(struct run *run);

void check_status(struct run *run, const char *wanted);

/* `POINTER OPERATOR VALUE`, `header NAME OPERATOR VALUE`, ... as tests/cases/README has them. */
void check_pointer(struct run *run, const char *text);
void check_header(struct run *run, const char *rest);
void check_text(struct run *run, const char *rest);
void check_compare(struct run *run, const char *rest);
void check_refused(struct run *run, const char *rest);
void check_malformed(struct run *run, const char *rest);
void check_fault(struct run *run, const char *rest);
void check_faults(struct run *run, const char *rest);

/* Cuts the first word off; the rest begins behind the blanks. */
const char *first_word(struct pool *pool, const char *text, const char **rest);

bool text_matches(struct run *run, const char *text, const char *pattern);

#endif
