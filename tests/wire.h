/*
 * The program itself (named by $ANTEROOM, else ./anteroom) behind a real nginx with the
 * configuration of this tree, and libcurl in front: the transport of tests/case.h that goes over
 * the wire.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include <curl/curl.h>
#include <sys/types.h>

#include "case.h"

#define WIRE_SKIPPED 77

struct wire {
	struct transport transport;
	char *program;
	char *directory; /* nginx's prefix; the data lies below it */
	char data[512];
	char url[64];
	int port;
	pid_t responder;
	pid_t second; /* another one over the same database; they answer in turns */
	char *store; /* the URL of the database; NULL: a directory */
	pid_t nginx;
	CURL *curl;
	char source[64]; /* the source address of its connections */
};

/* Starts a database: over it, each wire that begins from here on has two responders behind one
 * nginx. False: there is none, and why is on stderr. The caller calls database_stop(). */
bool wire_use_database(void);

/* Starts both, with the accounts a and b. Else the exit status for a test program that ends with
 * nothing done: WIRE_SKIPPED where there is no nginx. Why is on stderr. */
int wire_begin(struct wire *wire);
/* Whether both ended well. */
bool wire_end(struct wire *wire);

#endif
