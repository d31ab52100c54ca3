/* The sender: a process of its own that delivers webhooks by HTTP, for the service.
 *
 * It reads answers of strangers, so it has no right that it can do without: it is this program once
 * more, with one socket to the service, without the service's memory, files and secrets (deliveries
 * come signed). It delivers up to SENDER_MOST at once, each within a time for all of it; verifies
 * certificates; follows no redirect; uses no proxy; connects to addresses of everyone's alone
 * (delivery/address.h), judged when it connects; keeps nothing of an answer but its status. It ends
 * when the service ends.
 *
 * One thread of the service at a time, which may be another than the one that opened the sender.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_SENDER_H
#define DELIVERY_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/slice.h"

/* Deliveries under way at once. */
#define SENDER_MOST 64
/* The largest address, headers and body together, in bytes. */
#define SENDER_BYTES_MOST ((size_t)128 << 10)
/* Seconds in which a delivery has to succeed. */
#define SENDER_PATIENCE 15

struct sender_options {
	bool allows_http; /* not https alone */
	bool allows_private; /* any address */
	const char *authorities; /* a PEM file of further certificate authorities, or NULL */
	unsigned patience; /* in milliseconds; 0: SENDER_PATIENCE */
	const char *program; /* this program; NULL: the one that runs */
};

/* All slices are the caller's, until sender_give returns. */
struct delivery {
	uint64_t number; /* of the caller's, for its outcome */
	struct slice url;
	struct slice headers; /* lines "Name: value", a newline between them */
	struct slice body;
};

#define SENDER_ERROR_SIZE 64

struct outcome {
	uint64_t number;
	int status; /* of HTTP; 0: there was no answer */
	int64_t retry_after; /* seconds, as the answer says; 0: it does not */
	char error[SENDER_ERROR_SIZE]; /* why there is no whole answer; empty: there is one */
};

struct sender;

/* False: this build has no libcurl, and no sender. */
bool sender_is_built(void);

/* Starts the process. The options are the caller's, as long as the sender is open.
 * FAULT_UNAVAILABLE with a cause: it does not start with a file of authorities, which may not be
 * readable. Without one, it is as if it had ended: the log says so, and sender_take starts it
 * again. */
bool sender_open(const struct sender_options *options, struct sender **sender, struct fault *fault);
/* Ends it; what is under way is lost. NULL is fine. */
void sender_close(struct sender *sender);

/* Readable when sender_take has something; another one after SENDER_LOST. -1: there is no
 * process. */
int sender_descriptor(const struct sender *sender);

/* Hands a delivery over; there are at most SENDER_MOST without an outcome. False: the process does
 * not take it; sender_take says SENDER_LOST next. */
bool sender_give(struct sender *sender, const struct delivery *delivery);

/* Ends what is under way, at once: sender_take says SENDER_LOST next. */
void sender_stop(struct sender *sender);

enum sender_news {
	SENDER_NOTHING,
	SENDER_OUTCOME,
	/* The process is gone: all deliveries without an outcome have none, and may have been made.
	 * A new process was started; while that fails, at most one start a second is tried. */
	SENDER_LOST
};

/* Does not wait. */
enum sender_news sender_take(struct sender *sender, struct outcome *outcome);

/* ---- the process itself ---- */

/* The only argument of the program that makes it the sender. */
#define SENDER_ARGUMENT "webhook-sender"

/* Returns the exit status. */
int sender_run(void);

#endif
