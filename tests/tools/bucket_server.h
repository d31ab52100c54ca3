/* A stand-in for object storage: an HTTP server on a free port of 127.0.0.1, in a thread of its
 * own, that speaks as much of the protocol of Amazon S3 as Anteroom needs: PUT, GET and DELETE of
 * an object, path style. It computes the signature of each request anew, from the request as it
 * came, and refuses those that differ.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_BUCKET_SERVER_H
#define TESTS_BUCKET_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUCKET_SERVER_KEY "AKIDEXAMPLE"
#define BUCKET_SERVER_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define BUCKET_SERVER_BUCKET "lessons"
#define BUCKET_SERVER_REGION "eu-central-1"

/* What it does with requests that are signed well. */
enum bucket_mood {
	BUCKET_WELL,
	BUCKET_REFUSES, /* 403 AccessDenied */
	BUCKET_MISSING, /* 404 NoSuchBucket, also to what is deleted */
	BUCKET_FAILS, /* 500 */
	BUCKET_HANGS, /* takes all and does not answer */
	BUCKET_STOPS, /* takes some of the body, and then nothing more */
	BUCKET_HALF, /* takes some of the body, and closes the connection */
	BUCKET_LATE, /* its clock is a day ahead */
	BUCKET_MOVED /* 301 */
};

struct bucket_server;

struct bucket_server *bucket_server_open(void);
void bucket_server_close(struct bucket_server *server);
/* Returns http://127.0.0.1:PORT. */
const char *bucket_server_endpoint(const struct bucket_server *server);
void bucket_server_set(struct bucket_server *server, enum bucket_mood mood);
/* Puts its clock so many seconds ahead of that of this machine, besides BUCKET_LATE. */
void bucket_server_move(struct bucket_server *server, int64_t seconds);

/* What it has heard; the texts live as long as the server. */
struct bucket_heard {
	size_t requests, puts, deletes;
	size_t badly_signed;
	char last[1200]; /* method and path of the last request */
	char type[100]; /* Content-Type of the last PUT */
};
struct bucket_heard bucket_server_heard(struct bucket_server *server);
/* Waits at most 30 s for so many requests. */
bool bucket_server_wait(struct bucket_server *server, size_t requests);
/* Waits at most 30 s for the beginning of a body, with BUCKET_STOPS. */
bool bucket_server_wait_begun(struct bucket_server *server);
/* Returns the size of an object, -1 if there is none; and the sum of its bytes. */
int64_t bucket_server_object(struct bucket_server *server, const char *name, uint64_t *sum);
size_t bucket_server_objects(struct bucket_server *server);

#endif
