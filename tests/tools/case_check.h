/*
 * Compares the responses in a case with what the case expects. A check returns nothing: it writes
 * what is wrong into the report and counts it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_CHECK_H
#define TESTS_CASE_CHECK_H

#include "case.h"
#include "case_list.h"
#include "case_value.h"

#include <stdio.h>

/* A running case. */
struct run {
	const struct case_list *list;
	struct transport *transport;
	struct pool pool;
	struct scope scope;
	struct case_account a; /* copies of the accounts, as changed by the case */
	struct case_account b;

	const struct case_line *line;
	FILE *report;
	unsigned problems;

	struct case_request request;
	const char *account; /* whose token is sent with the request: "a", "b" or "nobody" */
	bool authorized; /* the case itself set the Authorization header */
	struct bytes body;
	bool body_given;
	bool pending; /* a request has been started but not sent */

	struct case_answer answer;
	bool answered;
	json_t *document; /* the parsed response, or NULL if it is not JSON */
	bool unknown_fields_checked;
};

/* Reports a problem, with the place of the current line. */
void problem(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the variables in a text. An undefined variable is a problem. */
struct bytes expanded(struct run *run, const char *text);

/* Returns the value of a header of the response, or NULL. */
const char *answer_header(const struct run *run, const char *name);

/* Checks what is true of every response: the form of errors, the headers that are always present,
 * and that it contains no secrets. */
void check_every_answer(struct run *run);

/* Reports a problem if the response mentions unknown fields but the case does not. */
void check_no_surprise(struct run *run);

void check_status(struct run *run, const char *wanted);

/* `POINTER OPERATOR VALUE`, `header NAME OPERATOR VALUE`, ... as described in
 * tests/cases/README. */
void check_pointer(struct run *run, const char *text);
void check_header(struct run *run, const char *rest);
void check_text(struct run *run, const char *rest);
void check_compare(struct run *run, const char *rest);
void check_refused(struct run *run, const char *rest);
void check_malformed(struct run *run, const char *rest);
void check_fault(struct run *run, const char *rest);
void check_faults(struct run *run, const char *rest);

/* Cuts off the first word; `rest` is what follows the blanks after it. */
const char *first_word(struct pool *pool, const char *text, const char **rest);

bool text_matches(struct run *run, const char *text, const char *pattern);

#endif
