/*
 * HTTP tests as data. The files under tests/cases say which requests are sent and which responses
 * are expected. The runner declared here reads them, and a transport carries the requests: in
 * process (check_service.c) or over nginx (wire.c). tests/cases/README describes the language.
 *
 * A list is read once and never changes. Running a case changes only the transport, so that Check
 * may fork for each case.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_CASE_H
#define TESTS_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct case_list;

struct case_header {
	const char *name;
	const char *value;
};

enum { CASE_HEADERS = 32 };

/* A request as it is sent; a header with an empty value is not sent at all. */
struct case_request {
	const char *method;
	const char *target; /* path and query, percent-encoded as written */
	const char *from; /* numeric address of the client */
	struct case_header headers[CASE_HEADERS];
	size_t n_headers;
	const char *body; /* NULL if there is no body */
	size_t body_length;
};

/* A response; the runner frees its members. */
struct case_answer {
	int status;
	char *names[CASE_HEADERS];
	char *values[CASE_HEADERS];
	size_t n_headers;
	char *body; /* followed by a NUL; NULL if there is no body */
	size_t body_length;
};

struct case_account {
	char id[64];
	char access_key[64];
	char secret[256];
	char token[1024]; /* a management token made by the program; empty if none */
};

#define CASE_ORIGINS "https://www.example.org,http://localhost:8080"

enum case_change {
	CASE_DISABLE,
	CASE_ENABLE,
	CASE_ROTATE, /* rotates the secret; the new one goes into the account */
	CASE_FINISH, /* removes the older of the two secrets */
	CASE_OPERATOR, /* makes the account an operator */
	CASE_ANONYMOUS, /* sets sessions=off */
	CASE_NAMED, /* sets sessions=on */
	CASE_EMBEDDED, /* sets embed to CASE_ORIGINS */
};

/* How requests travel. Every function returns false, with a sentence in `problem`, if the transport
 * fails; a response with any status is a success. */
struct transport {
	const char *name; /* the name that `only` in a case file uses */
	bool wire; /* a real server, so that Content-Length and HEAD are checked */
	bool shared; /* several responders take turns; cases with `alone` are left out */
	struct case_account a; /* the two accounts that every case may use */
	struct case_account b;
	long long ahead; /* seconds by which cases have advanced the program's clock */
	bool (*send)(struct transport *transport, const struct case_request *request,
		     struct case_answer *answer, char problem[static 256]);
	bool (*account_add)(struct transport *transport, const char *name,
			    struct case_account *account, char problem[static 256]);
	bool (*account_change)(struct transport *transport, struct case_account *account,
			       enum case_change change, char problem[static 256]);
	/* Advances the program's clock. If this or a later function is NULL, cases that need it are
	 * left out. */
	bool (*clock_advance)(struct transport *transport, int seconds, char problem[static 256]);
	/* Holds the program's clock at the time that it has now, so that a case does not depend on
	 * how long it takes. Returns the system's time, in milliseconds. */
	int64_t (*clock_hold)(struct transport *transport);
	/* Makes the n-th use of the store from now on fail, once; with 0, none fails. */
	void (*store_fail)(struct transport *transport, unsigned n);
	/* Returns the number of uses of the store since then. */
	unsigned (*store_calls)(struct transport *transport);
	/* Makes the accounts and an empty store anew, before each file of cases. NULL if all files
	 * share them. */
	void (*renew)(struct transport *transport);
};

/* Copies a header into a response. */
void case_answer_header(struct case_answer *answer, const char *name, const char *value);
void case_answer_body(struct case_answer *answer, const char *body, size_t length);

/* Which of the cases that a transport can run are chosen. A case that exists only for this
 * transport is always drawn, and so is every case of a file in `always`. */
struct case_choice {
	unsigned one_of; /* draws about one case in so many; 0 or 1 for all */
	unsigned long seed; /* other cases are drawn with another seed */
	/* Files, as case_list_file names them, with blanks between; or NULL. */
	const char *always;
	const char *files; /* the only files that are read; NULL for all */
	unsigned part; /* of the drawn cases, takes the part with this number, from 1 ... */
	unsigned parts; /* ... of so many parts, which have about equally many cases; 0 for all */
};

/* Reads a choice from the environment: ONE_OF, SEED, ALWAYS, FILES, PART (as 2/3). What is not set,
 * or is not a number, chooses everything. */
struct case_choice case_choice_read(void);

/*
 * Reads all files under the folder and leaves out the cases that this transport cannot run, and
 * those that are not chosen. If a file has a mistake, prints the place and the reason, and returns
 * NULL.
 */
struct case_list *case_list_open(const char *folder, const struct transport *transport,
				 const struct case_choice *choice);
void case_list_close(struct case_list *list);

size_t case_list_count(const struct case_list *list);

/* The file (relative to the folder, without its extension) and the name of a case. */
const char *case_list_file(const struct case_list *list, size_t n);
const char *case_list_name(const struct case_list *list, size_t n);

/*
 * Runs one case. Returns NULL if the case passes; otherwise a report of what was sent, expected and
 * received, which the caller frees.
 */
char *case_run(const struct case_list *list, size_t n, struct transport *transport);

/*
 * Runs the chosen cases as Check tests (each file is a test case of Check, each case a test) and
 * returns the exit status of the test program. The folder is tests/cases in $SOURCE_DIR or in the
 * current directory.
 */
int case_main(struct transport *transport, const struct case_choice *choice);

#endif
