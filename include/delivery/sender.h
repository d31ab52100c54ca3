/* The sender: a separate process that delivers webhooks by HTTP for the service.
 *
 * It reads responses from strangers, so it gives up every right that it does not need. It is this
 * program again, with one socket to the service, without the service's memory, files and secrets
 * (deliveries arrive signed). It makes up to SENDER_MOST deliveries at a time, each with a time
 * limit for the whole delivery. It verifies certificates, follows no redirects, uses no proxy, and
 * connects only to public addresses (delivery/address.h), which it checks when it connects. It
 * keeps only the status of a response. It ends when the service ends.
 *
 * Only one thread of the service may use it at a time, not necessarily the one that opened it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_SENDER_H
#define DELIVERY_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/slice.h"

/* Maximum number of deliveries in progress. */
#define SENDER_MOST 64
/* Maximum size of URL, headers and body together, in bytes. */
#define SENDER_BYTES_MOST ((size_t)128 << 10)
/* Time limit of a delivery, in seconds. */
#define SENDER_PATIENCE 15

struct sender_options {
	bool allows_http; /* allows http URLs too */
	bool allows_private; /* allows any address */
	const char *authorities; /* a PEM file of extra certificate authorities, or NULL */
	unsigned patience; /* time limit in milliseconds; 0 for SENDER_PATIENCE */
	const char *program; /* path of this program; NULL for the running one */
};

/* A delivery. The caller owns all slices; they must live until sender_give returns. */
struct delivery {
	uint64_t number; /* chosen by the caller, to match the outcome */
	struct slice url;
	struct slice headers; /* lines "Name: value", separated by newlines */
	struct slice body;
};

#define SENDER_ERROR_SIZE 64

struct outcome {
	uint64_t number;
	int status; /* HTTP status; 0 if there was no response */
	int64_t retry_after; /* seconds from Retry-After; 0 if there is none */
	/* why there is no complete response; empty if there is one */
	char error[SENDER_ERROR_SIZE];
};

struct sender;

/* Returns false if this build has no libcurl and therefore no sender. */
bool sender_is_built(void);

/* Starts the process. The caller keeps the options as long as the sender is open. Fails with
 * FAULT_UNAVAILABLE and a cause if it does not start with a file of authorities, which may be
 * unreadable. Without such a file, a failed start is treated as if the process had ended: the log
 * says so, and sender_take starts it again. */
bool sender_open(const struct sender_options *options, struct sender **sender, struct fault *fault);
/* Ends the process; deliveries in progress are lost. `sender` may be NULL. */
void sender_close(struct sender *sender);

/* Returns a descriptor that is readable when sender_take has something. It changes after
 * SENDER_LOST. Returns -1 if there is no process. */
int sender_descriptor(const struct sender *sender);

/* Hands a delivery over. At most SENDER_MOST deliveries may be without an outcome. Returns false if
 * the process does not accept it; then sender_take returns SENDER_LOST next. */
bool sender_give(struct sender *sender, const struct delivery *delivery);

/* Aborts all deliveries in progress: sender_take returns SENDER_LOST next. */
void sender_stop(struct sender *sender);

enum sender_news {
	SENDER_NOTHING,
	SENDER_OUTCOME,
	/* The process has ended. Deliveries without an outcome will not get one, and may have been
	 * made. A new process was started; if that fails, a start is tried once a second. */
	SENDER_LOST
};

/* Returns the next news without waiting. */
enum sender_news sender_take(struct sender *sender, struct outcome *outcome);

/* ---- the process itself ---- */

/* The argument with which the program becomes the sender; the only one it has then. */
#define SENDER_ARGUMENT "webhook-sender"

/* Runs the sender. Returns the exit status. */
int sender_run(void);

#endif
