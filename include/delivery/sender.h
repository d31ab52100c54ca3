/* Senders: separate processes that make HTTP requests. One of the service delivers webhooks,
 * another asks media servers and object storage; those of a recorder send its reports, and files.
 *
 * A sender reads responses from strangers, so it gives up every right that it does not need. It is
 * this program again, with one socket to the service, without the service's memory, files and
 * secrets (requests arrive signed). It makes a number of requests at a time, each with a time limit
 * for the whole request. It verifies certificates, follows no redirects, uses no proxy, and
 * connects only to public addresses and to ranges that the administrator allows
 * (delivery/address.h), which it checks when it connects. It passes on the status of a response,
 * and its body only if the service asked for it. It ends when the service ends.
 *
 * Only one thread of the service may use a sender at a time, not necessarily the one that opened
 * it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_SENDER_H
#define DELIVERY_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/slice.h"
#include "delivery/address.h"

/* The purpose of a sender. */
struct sender_purpose {
	const char *argument; /* the only argument, with which the program becomes this sender */
	const char *event; /* its name in the log */
	const char *down_event; /* the name of a failed start */
	const char *waiting; /* what happens until it runs again, as a sentence for the log */
	unsigned most; /* requests in progress */
	unsigned patience; /* time limit of a request, in milliseconds */
};
extern const struct sender_purpose sender_of_webhooks, sender_of_media, sender_of_reports,
	sender_of_uploads;

/* `most` of sender_of_webhooks and of sender_of_media. */
#define SENDER_MOST 64
#define SENDER_MEDIA_MOST 256
/* Maximum size of URL, headers and body together, in bytes. */
#define SENDER_BYTES_MOST ((size_t)128 << 10)
/* Time limit of a webhook, in seconds. */
#define SENDER_PATIENCE 15

struct sender_options {
	const struct sender_purpose *purpose;
	bool allows_http; /* allows http URLs too */
	bool allows_private; /* allows any address */
	struct address_ranges ranges; /* allowed in addition to public addresses */
	struct address_ranges storage_ranges; /* the same for object storage (is_to_storage) */
	const char *authorities; /* a PEM file of extra certificate authorities, or NULL */
	unsigned patience; /* time limit in milliseconds; 0 for that of the purpose */
	unsigned connect_patience; /* the same for connecting; 0 for no separate limit */
	/* Seconds in which a file may stand still on its way; 0 for SENDER_STALL. */
	unsigned stall_patience;
	const char *program; /* path of this program; NULL for the running one */
};

#define SENDER_STALL 60

enum sender_method {
	SENDER_BY_BODY, /* a POST; without a body, a GET */
	SENDER_PUT, /* of a file, or of nothing */
	SENDER_DELETE
};

/* A request. The caller owns all slices; they must live until sender_give returns. */
struct delivery {
	uint64_t number; /* chosen by the caller, to match the outcome */
	struct slice url;
	struct slice headers; /* lines "Name: value", separated by newlines */
	enum sender_method method;
	struct slice body; /* with SENDER_BY_BODY */
	/* With SENDER_PUT: the file that is sent from its beginning, without being loaded into
	 * memory. The sender has its own descriptor of it after sender_give. */
	bool has_file;
	int file;
	uint64_t file_size;
	/* Goes to object storage: storage_ranges counts, and http is allowed there alone. */
	bool is_to_storage;
	/* bytes of the response's body that are wanted; 0 for none */
	size_t answer_most;
	/* It must not be made twice, so it gets its own connection: on one that is kept,
	 * libcurl repeats a request if the server closes the connection. */
	bool is_once;
	unsigned patience; /* a time limit shorter than the sender's, in milliseconds; 0 for none */
};

/* Why there is no complete response. */
enum sender_failure {
	SENDER_NO_FAILURE,
	SENDER_NO_NAME, /* the host has no address */
	SENDER_REFUSED, /* cannot connect, or the connection was closed */
	SENDER_TIMED_OUT,
	SENDER_NOT_ALLOWED, /* the address, or the protocol */
	SENDER_NO_TLS, /* `error` says why */
	SENDER_NO_HTTP,
	SENDER_TOO_LONG, /* more than answer_most bytes */
	SENDER_OTHER
};

#define SENDER_ERROR_SIZE 64

struct outcome {
	uint64_t number;
	int status; /* HTTP status; 0 if there was no response */
	int64_t retry_after; /* seconds from Retry-After; 0 if there is none */
	int64_t date; /* from Date, seconds since 1970; 0 if there is none */
	enum sender_failure failure;
	bool was_sent; /* the server may have received the request */
	/* what failed; empty if the response is complete */
	char error[SENDER_ERROR_SIZE];
	/* The body if it was wanted, terminated by 0; NULL if there is none. The caller frees it.
	 * */
	char *answer;
	size_t answer_size;
};

struct sender;

/* Returns false if this build has no libcurl and therefore no sender. */
bool sender_is_built(void);

/* Starts the process. The caller keeps the options as long as the sender is open. Fails with
 * FAULT_UNAVAILABLE and a cause if it does not start with a file of authorities, which may be
 * unreadable. Without such a file, a failed start is treated as if the process had ended: the log
 * says so, and sender_take starts it again. */
bool sender_open(const struct sender_options *options, struct sender **sender, struct fault *fault);
/* Ends the process; requests in progress are lost. `sender` may be NULL. */
void sender_close(struct sender *sender);

/* Returns a descriptor that is readable when sender_take has something. It changes after
 * SENDER_LOST. Returns -1 if there is no process. */
int sender_descriptor(const struct sender *sender);

/* Hands a request over. At most purpose->most requests may be without an outcome. Returns false if
 * it is larger than SENDER_BYTES_MOST: then it is not made, and has no outcome. If the process does
 * not accept it, sender_take returns SENDER_LOST next. */
bool sender_give(struct sender *sender, const struct delivery *delivery);

/* Aborts all requests in progress: sender_take returns SENDER_LOST next. */
void sender_stop(struct sender *sender);

enum sender_result {
	SENDER_NOTHING,
	SENDER_OUTCOME,
	/* The process has ended. Requests without an outcome will not get one, and may have been
	 * made. A new process was started; if that fails, a start is tried once a second. */
	SENDER_LOST
};

/* Returns the next result without waiting. */
enum sender_result sender_take(struct sender *sender, struct outcome *outcome);

/* ---- the process itself ---- */

/* Returns whether the program was started as a sender. */
bool sender_is_asked_for(int argc, char **argv);
/* Runs the sender. argument: the only one of the program. Returns the exit status. */
int sender_run(const char *argument);

#endif
