/* A FastCGI client for tests, which sends single records over a local socket, so that it can also
 * send what no web server would. Like nginx it keeps connections and does not retry.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_FASTCGI_CLIENT_H
#define TESTS_FASTCGI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* In seconds: every wait for the other side fails after this time. */
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
	const char *body; /* NULL if there is no body */
	size_t body_size;
	const char *length; /* CONTENT_LENGTH: NULL for the size of the body, "" to omit it */
};

struct client_answer {
	bool is_whole; /* END_REQUEST has been received */
	int status;
	char head[4096]; /* NUL-terminated */
	char *body; /* NUL-terminated; freed by client_forget */
	size_t size;
};

/* Returns the connection, or -1 if no process listens there. */
int client_connect(const char *path);

/* Send parts of a request. All return false if the peer has closed the connection. */
bool client_record(int connection, enum record type, const void *content, size_t size);
bool client_begin(int connection, bool keeps);
bool client_parameters(int connection, const struct client_request *request);
bool client_body(int connection, const char *body, size_t size);

/* Sends a complete request on a connection that is to be kept. */
bool client_send(int connection, const struct client_request *request);

/* Bytes of padding: after contents, and after the empty record that ends the parameters. */
struct client_padding {
	unsigned char contents;
	unsigned char parameters_end;
};

bool client_send_padded(int connection, const struct client_request *request,
			const struct client_padding *padding);

/* Receives a response; answer->is_whole tells whether it is complete. */
void client_receive(int connection, struct client_answer *answer);
void client_forget(struct client_answer *answer);

/* Sends a request and receives the response. Returns true if the response is complete and has
 * `status`. */
bool client_ask(int connection, const struct client_request *request, int status);

/* Returns true if nginx would reuse this connection, on which all requests have been answered: it
 * was not closed, and nothing followed the end of the last response. */
bool client_may_keep(int connection);

/* Returns true if the peer has closed the connection, or closes it within so many milliseconds.
 * Discards anything the peer sends. */
bool client_is_closed(int connection, int milliseconds);

#endif
