/* A FastCGI client for tests, made of bare records over a local socket, so that it can also say
 * what no web server would. Like nginx it keeps connections and repeats nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FASTCGI_CLIENT_H
#define TESTS_FASTCGI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* Every wait for the other side ends after so many seconds, as a failure. */
#define CLIENT_PATIENCE 120

enum record {
	RECORD_BEGIN = 1,
	RECORD_ABORT,
	RECORD_END,
	RECORD_PARAMS,
	RECORD_STDIN,
	RECORD_STDOUT
};

struct client_request {
	const char *method;
	const char *uri;
	const char *body; /* NULL: none */
	size_t body_size;
	const char *length; /* CONTENT_LENGTH; NULL: the size of the body; "": not sent */
};

struct client_answer {
	bool is_whole; /* END_REQUEST came */
	int status;
	char head[4096]; /* terminated */
	char *body; /* terminated; freed by client_forget */
	size_t size;
};

/* -1: nobody answers there. */
int client_connect(const char *path);

/* Parts of a request. All return false when the peer has gone. */
bool client_record(int connection, enum record type, const void *content, size_t size);
bool client_begin(int connection, bool keeps);
bool client_parameters(int connection, const struct client_request *request);
bool client_body(int connection, const char *body, size_t size);

/* A whole request on a connection to be kept. */
bool client_send(int connection, const struct client_request *request);

/* Bytes of padding: after contents, and after the empty record that ends the parameters. */
struct client_padding {
	unsigned char contents;
	unsigned char parameters_end;
};

bool client_send_padded(int connection, const struct client_request *request,
			const struct client_padding *padding);

/* answer->is_whole tells whether it came to its end. */
void client_receive(int connection, struct client_answer *answer);
void client_forget(struct client_answer *answer);

/* Sends, receives, checks for `status`, gives true; false when anything went wrong. */
bool client_ask(int connection, const struct client_request *request, int status);

/* Whether nginx would use this connection, on which all was answered, once more: not when it was
 * closed, nor when anything followed the end of the last request. */
bool client_may_keep(int connection);

/* Whether the peer has closed the connection: now, or within so many milliseconds. What it still
 * said is thrown away. */
bool client_is_closed(int connection, int milliseconds);

#endif
