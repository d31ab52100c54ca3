/*
 * HTTP tests as data.  The files under tests/cases say what is sent and what must come back; the
 * runner here reads them, and a transport carries the requests: in process (check_service.c) or
 * over nginx (wire.c).  The language is described in tests/cases/README.
 *
 * A list is read once and never changes.  Running a case touches only the transport, so that
 * Check may fork for each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_H
#define TESTS_CASE_H

#include <stdbool.h>
#include <stddef.h>

struct case_list;

struct case_header {
	const char *name;
	const char *value;
};

enum { CASE_HEADERS = 32 };

/* A request as it goes over the wire; a header with an empty value is not sent at all. */
struct case_request {
	const char *method;
	const char *target; /* path and query, percent-encoded as it stands */
	const char *from; /* numeric address of the client */
	struct case_header headers[CASE_HEADERS];
	size_t n_headers;
	const char *body; /* NULL when there is none */
	size_t body_length;
};

/* What came back; everything in it belongs to it and is freed by the runner. */
struct case_answer {
	int status;
	char *names[CASE_HEADERS];
	char *values[CASE_HEADERS];
	size_t n_headers;
	char *body; /* with a NUL behind it; NULL when there was none */
	size_t body_length;
};

struct case_account {
	char id[64];
	char access_key[64];
	char secret[256];
	char token[1024]; /* a management token as the program makes it; empty: none */
};

enum case_change {
	CASE_DISABLE,
	CASE_ENABLE,
	CASE_ROTATE, /* the new secret goes into the account */
	CASE_FINISH, /* the older of the two secrets retires */
	CASE_OPERATOR, /* it may see how the service is doing */
};

/* How requests travel.  Every function returns false, with a sentence in `problem`, when the
 * means failed; an answer of any status is no failure. */
struct transport {
	const char *name; /* what `only` in a case file names */
	bool wire; /* a real server: Content-Length and HEAD are looked at */
	bool shared; /* several responders answer in turn: cases with `alone` are left out */
	struct case_account a; /* the two accounts every case may use */
	struct case_account b;
	long long ahead; /* seconds by which cases have moved the program's clock */
	bool (*send)(struct transport *transport, const struct case_request *request,
		     struct case_answer *answer, char problem[static 256]);
	bool (*account_add)(struct transport *transport, const char *name,
			    struct case_account *account, char problem[static 256]);
	bool (*account_change)(struct transport *transport, struct case_account *account,
			       enum case_change change, char problem[static 256]);
	/* Moves the program's clock. NULL, here and below: cases that need it are left out. */
	bool (*clock_advance)(struct transport *transport, int seconds, char problem[static 256]);
	/* Lets the n-th use of the store from now on fail, once; 0: none. */
	void (*store_fail)(struct transport *transport, unsigned n);
	/* How many uses there were since. */
	unsigned (*store_calls)(struct transport *transport);
	/* Begins a file of cases with an empty store. NULL: all files share one. */
	void (*store_renew)(struct transport *transport);
};

/* Copies into an answer. */
void case_answer_header(struct case_answer *answer, const char *name, const char *value);
void case_answer_body(struct case_answer *answer, const char *body, size_t length);

/*
 * Reads all files under the folder, and leaves out the cases that this transport cannot run.
 * On a mistake in a file it prints where and what, and returns NULL.
 */
struct case_list *case_list_open(const char *folder, const struct transport *transport);
void case_list_close(struct case_list *list);

size_t case_list_count(const struct case_list *list);

/* The file (below the folder, without its ending) and the name of a case. */
const char *case_list_file(const struct case_list *list, size_t n);
const char *case_list_name(const struct case_list *list, size_t n);

/*
 * Runs one case.  NULL when all went as written; otherwise a report (what was sent, expected,
 * and came) that the caller frees.
 */
char *case_run(const struct case_list *list, size_t n, struct transport *transport);

/*
 * Runs all cases as Check tests, a test case a file and a test a case, and returns the exit
 * status of a test program.  The folder is tests/cases in $SOURCE_DIR, or here.
 */
int case_main(struct transport *transport);

#endif
