/* The one error type. A fault is small, lives on the caller's stack or in the call, and is the last
 * argument. Every function that can fail returns bool, and fault_set always returns false, so a
 * refusal is one line. The first fault wins: later ones do not overwrite it. The rules of a body
 * are the exception: they collect all their findings (schema/schema.h) and set one fault at the
 * end.
 *
 * A fault has a text for the client (message: one sentence; detail: one more) and a cause for the
 * log only (paths, errno). Neither ever contains a secret.
 *
 * A store sets FAULT_AGAIN if the call conflicted with another one and must be run again. Clients
 * get it only after too many conflicts. FAULT_BUSY means that the call conflicted and that an
 * immediate retry would fail as well.
 *
 * The table below lists the kinds: name, HTTP status, standard message.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

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
	X(UNAVAILABLE, 503, "The server cannot write at the moment") \
	X(DAMAGED, 503, "The stored data is damaged") \
	X(AGAIN, 409, "Too busy") \
	X(BUSY, 409, "Too busy") \
	X(CANNOT, 501, "The media server cannot do this") \
	X(SERVER_DOWN, 502, "The media server does not answer") \
	X(SERVER_BUSY, 503, "The media server is busy") \
	X(MAYBE_DONE, 504, "It may have been done")

enum fault_kind {
	FAULT_NONE,
#define FAULT_KIND(name, status, text) FAULT_##name,
	FAULT_KINDS(FAULT_KIND)
#undef FAULT_KIND
};

struct fault {
	enum fault_kind kind;
	unsigned retry_after; /* seconds, for Retry-After; 0 if there is none */
	char message[200];
	char detail[300]; /* empty if there is none */
	/* Bytes of `detail` before ": " that are a JSON Pointer or the name of a parameter; 0 if
	 * there is none. */
	size_t pointer_size;
	char cause[300]; /* for the log only; empty if there is none */
	json_t *details; /* borrowed array of strings in the call's arena, or NULL */
	/* For FAULT_FORBIDDEN, the scope that the caller lacks, a constant; else NULL. */
	const char *scope;
	json_t *faults; /* borrowed: {"pointer","message"} for each of `details`, or NULL */
};

#define FAULT_INITIAL ((struct fault){ .kind = FAULT_NONE })

/* Sets a fault and returns false, as all functions below do. If `message` is NULL, the kind's
 * standard message is used. A text that is too long is cut after a whole UTF-8 character. */
bool fault_set(struct fault *fault, enum fault_kind kind, const char *message, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets a fault with the standard message and one sentence of detail. */
bool fault_detail(struct fault *fault, enum fault_kind kind, const char *detail, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets a fault with a message and one sentence of detail. */
bool fault_explain(struct fault *fault, enum fault_kind kind, const char *message,
		   const char *detail, ...) __attribute__((format(printf, 4, 5)));

/* Sets a fault about a field of the body (a JSON Pointer) or a query parameter (its name). The
 * detail becomes "<pointer>: <sentence>". If `message` is NULL, the standard message is used. */
bool fault_member(struct fault *fault, enum fault_kind kind, const char *message,
		  const char *pointer, const char *sentence, ...)
	__attribute__((format(printf, 5, 6)));

/* Sets a fault with the standard message and a cause that only the log shows. errno_value is 0 if
 * no errno belongs to it. */
bool fault_cause(struct fault *fault, enum fault_kind kind, int errno_value, const char *cause, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns `details` or `detail` in parts, as an array of {"pointer","message"}; a pointer is "" if
 * there is none. The caller owns the reference. */
json_t *fault_parts(const struct fault *fault);

/* Returns the cause or, if there is none, the message; for the log and the command line. */
const char *fault_reason(const struct fault *fault);

/* Returns true for faults of the store or of the size of stored data: the request itself was
 * valid. */
bool fault_is_of_the_store(enum fault_kind kind);

/* Adds a detail to those that the fault has. */
void fault_add_detail(struct fault *fault, struct arena *arena, const char *text);

/* Return the HTTP status and the standard message of a kind: 200 and "OK" for FAULT_NONE. */
int fault_status(enum fault_kind kind);
const char *fault_text(enum fault_kind kind);

#endif
