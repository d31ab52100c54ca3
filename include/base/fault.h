/* The one error type. A fault is small, lives on the caller's stack or in the call, and is passed
 * last. Every function that can fail returns bool; fault_set always returns false, so a refusal is
 * one line, and the first fault wins: later ones do not overwrite it. The rules of a body are the
 * exception: they collect all their findings (schema/schema.h) and set one fault at the end.
 *
 * A fault has a text for the client (message, one sentence; detail, one more) and a cause for the
 * log alone (paths, errno). Neither ever holds a secret.
 *
 * FAULT_AGAIN is set by a store: the call conflicted with another one and has to be run again.
 * Clients get it only when that happened too often. FAULT_BUSY: it conflicted, and running it again
 * at once would be in vain.
 *
 * The table below has each kind once: name, HTTP status, standard message.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define FAULT_KINDS(X) \
	X(BAD_REQUEST, 400, "Bad request") \
	X(MALFORMED, 400, "Malformed JSON") \
	X(INVALID_BODY, 400, "Invalid body param") \
	X(INVALID_QUERY, 400, "Invalid query parameter") \
	X(UNAUTHORIZED, 401, "Token validation error") \
	X(FORBIDDEN, 403, "Forbidden") \
	X(NOT_FOUND, 404, "Not found") \
	X(METHOD_NOT_ALLOWED, 405, "Method not allowed") \
	X(CONFLICT, 409, "Conflict") \
	X(GONE, 410, "Gone") \
	X(PRECONDITION, 412, "Precondition failed") \
	X(TOO_LARGE, 413, "Request body too large") \
	X(KEY_REUSED, 422, "Idempotency-Key was used for another request") \
	X(TOO_MANY, 429, "Too many requests") \
	X(INTERNAL, 500, "Internal error") \
	X(UNAVAILABLE, 503, "The store cannot write at the moment") \
	X(DAMAGED, 503, "What is stored of this is damaged on the disk") \
	X(AGAIN, 409, "Too busy") \
	X(BUSY, 409, "Too busy")

enum fault_kind {
	FAULT_NONE,
#define FAULT_KIND(name, status, text) FAULT_##name,
	FAULT_KINDS(FAULT_KIND)
#undef FAULT_KIND
};

struct fault {
	enum fault_kind kind;
	unsigned retry_after; /* seconds, for Retry-After; 0: none */
	char message[200];
	char detail[300]; /* empty: none */
	size_t pointer_size; /* bytes of `detail` before ": " that name a member; 0: none */
	char cause[300]; /* for the log alone; empty: none */
	json_t *details; /* borrowed array of strings (lives in the call's arena), or NULL */
	const char
		*scope; /* FAULT_FORBIDDEN: the scope that the caller lacks, a constant; or NULL */
	json_t *faults; /* as borrowed: {"pointer","message"} for each of `details`, or NULL */
};

#define FAULT_INITIAL ((struct fault){ .kind = FAULT_NONE })

/* Each returns false. `message` NULL means the kind's standard message. A text that is too long is
 * cut at a whole UTF-8 character. */
bool fault_set(struct fault *fault, enum fault_kind kind, const char *message, ...)
	__attribute__((format(printf, 3, 4)));

/* fault_set with the standard message and one sentence of detail. */
bool fault_detail(struct fault *fault, enum fault_kind kind, const char *detail, ...)
	__attribute__((format(printf, 3, 4)));

/* fault_set with a message and one sentence of detail. */
bool fault_explain(struct fault *fault, enum fault_kind kind, const char *message,
		   const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* The same about a member of the body (a JSON Pointer) or a parameter of the query (its name): the
 * detail is "<pointer>: <sentence>". message: NULL as above. */
bool fault_member(struct fault *fault, enum fault_kind kind, const char *message,
		  const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 5, 6)));

/* fault_set with the standard message and a cause that only the log shows; errno_value 0: none. */
bool fault_cause(struct fault *fault, enum fault_kind kind, int errno_value, const char *cause, ...)
	__attribute__((format(printf, 4, 5)));

/* What `details` or `detail` says, in parts: {"pointer","message"} each, the pointer "" where there
 * is none. A new array, or a reference to `faults`. */
json_t *fault_parts(const struct fault *fault);

/* The cause, or the message of a fault without one: for the log and the command line. */
const char *fault_reason(const struct fault *fault);

/* Faults of the store, or of the size of what is stored: they say nothing about the request. */
bool fault_is_of_the_store(enum fault_kind kind);

/* The HTTP status and the standard message of a kind. FAULT_NONE: 200 and "OK". */
int fault_status(enum fault_kind kind);
const char *fault_text(enum fault_kind kind);

#endif
