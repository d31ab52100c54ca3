/*  The program itself (named by $ANTEROOM, else ./anteroom) behind a real nginx with the
 * configuration of this tree, and libcurl as the client: the transport of tests/tools/case.h that
 * goes over the wire.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include <curl/curl.h>
#include <sys/types.h>

#include "case.h"

#define WIRE_SKIPPED 77

struct wire {
	struct transport transport;
	char *program;
	char *directory; /* nginx's prefix; the data is below it */
	char data[512];
	char url[64];
	int port;
	pid_t responder;
	pid_t second; /* another responder with the same database; they take turns */
	char *store; /* URL of the database; NULL for a directory */
	pid_t nginx;
	CURL *curl;
	char source[64]; /* source address of its connections */
};

/* Starts a database. From now on, each wire has two responders with that database behind one nginx.
 * Returns false, with the reason on stderr, if there is none. The caller calls database_stop(). */
bool wire_use_database(void);

/* Starts nginx and the program, with the accounts a and b. On failure, writes the reason to stderr
 * and returns the exit status for a test program that has nothing to do: WIRE_SKIPPED if there is
 * no nginx. */
int wire_begin(struct wire *wire);
/* Stops both and returns true if both ended successfully. */
bool wire_end(struct wire *wire);

#endif
