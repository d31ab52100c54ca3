/* Calls that ask media servers. Such a call has two handlers in the row of its route: `run` reads
 * and checks everything, and ends with call_ask, which leaves requests; `settle` runs when all
 * answers are there, in a WRITE transaction of its own, and writes the answer of the call. In
 * between, no transaction is open and no thread waits: the edge keeps the call, and
 * background/media_client.h makes the requests. What `run` has written is durable before a request
 * leaves. Only `settle` may be run again by the store.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ASKING_H
#define RESOURCES_ASKING_H

#include "media/server.h"
#include "resources/call.h"

/* Most requests of a call. */
#define ASKED_MOST 101

/* What became of a request. */
enum asked_end {
	ASKED_ANSWERED, /* `outcome` says what came, or why nothing came */
	ASKED_BUSY, /* it was not made: too many others were waiting */
	ASKED_LOST, /* the process that made it has ended */
	ASKED_TOO_LARGE, /* it was not made: it is larger than SENDER_BYTES_MOST */
	ASKED_REPLACED /* it was not made: a later call has set the same (asked.parts) */
};
#define ASKED_ENDS (ASKED_REPLACED + 1)

/* Which requests of an account have precedence, the first ones most. What people inside do to
 * themselves has few places, and takes none from others (background/media_queue.h). */
enum asked_rank {
	ASKED_TO_ENFORCE, /* by moderators, or by the service itself (live_enforcement.h) */
	ASKED_TO_MANAGE, /* by programs, and for people who join */
	ASKED_TO_SURVEY,
	ASKED_FOR_ONESELF
};
#define ASKED_RANKS (ASKED_FOR_ONESELF + 1)

/* Whether a media server is there. Any answer to a question is one, whatever it says. */
enum presence { PRESENCE_UNKNOWN, PRESENCE_ANSWERS, PRESENCE_SILENT };

/* What somebody changes of themselves. */
#define ASKED_PART_NAME 1U
#define ASKED_PART_METADATA 2U
#define ASKED_PART_HAND 4U /* and nothing else of the metadata */
#define ASKED_PART_CONSENT 8U
#define ASKED_PARTS 4

struct media_client; /* background/media_client.h */

struct asked {
	struct server_request request;
	/* Of the handler: whom it is about, who asks from inside, what the person is to be
	 * called. */
	struct slice about, by, name;
	/* With ASKED_FOR_ONESELF: what a change sets, a set of ASKED_PART_...; 0 if it changes
	 * nothing. If a later call of the same person sets all of it, only the later request is
	 * made, and both get its answer. */
	unsigned parts;
	/* Results. */
	bool is_replaced; /* the outcome is that of a later request (parts) */
	enum asked_end end;
	struct outcome outcome;
	int64_t took; /* milliseconds from sending to the answer */
	/* Private to background/media_client.c. */
	struct asking *of;
	struct asked *next;
	int64_t since; /* is under way since this time of clock_monotonic */
	int64_t until; /* waits until this time at most */
	unsigned tries;
	/* Of a request with is_shared: the requests of other calls that get its answer; the next
	 * request that others may share; whether it is made for others, and whether it has
	 * ended. */
	struct asked *sharers, *next_shared;
	bool is_first, has_ended;
};

/* The requests of one call to one media server, in the arena of the call. */
struct asking {
	struct id account, backend;
	enum asked_rank rank;
	struct id room; /* that it is about, so that each room has its share; zeros: none */
	/* With ASKED_FOR_ONESELF: who asks, and when the call came (call.started): the change that
	 * came last counts. */
	struct slice person;
	int64_t came;
	/* Until when requests wait for their turn, by clock_monotonic; 0: as long as others. */
	int64_t waits_until;
	/* Milliseconds that the requests have in all, to wait for their turn and for the answer; 0:
	 * as long as others. */
	int64_t ends_within;
	struct asked *asked;
	size_t count;
	bool is_done; /* all have ended */
	int64_t began; /* of a survey: milliseconds since 1970 */
	/* It surveys the room, for somebody who is not known to be inside
	 * (resources/live/live_caller.h). One call does so for all that ask meanwhile: they follow
	 * it, and go on when its `settle` has run. */
	bool is_survey;
	bool is_follower; /* the call that it follows has read the answers; this one has none */
	struct slice entry; /* of a survey: whom it looks for */
	struct asking *followers; /* of the call that surveys; linked by next_follower */
	struct asking *next_follower;
	/* It asks whether the server is there, for people who cannot reach it
	 * (resources/media/placing_down.h). What it found, also for requests that the call makes
	 * later; `questioned` is zero if the call did not ask. */
	bool is_question;
	struct id questioned;
	enum presence presence;
	/* Reads what was answered before the transaction of `settle` begins; NULL: nothing to
	 * do. */
	void (*prepare)(struct call *call, struct asking *asking);
	void *prepared; /* its result, in the arena */
	/* It has no requests: it waits for another call with the same Idempotency-Key, which is
	 * `person`, and then is run from the beginning (background/claims.h). */
	bool waits_for_key, has_timed_out;
	/* Of the handler, which asks several times. */
	unsigned step, notes;
	/* It waits for answers, a survey, or the key, until this time of clock_monotonic; 0: as
	 * long as others. */
	int64_t until;
	/* Private to background/media_client.c. */
	struct media_client *client;
	size_t left;
	void (*done)(void *context, struct asking *asking);
	void *context;
};

/* Makes the call ask the backend: the requests of the result are to be filled in. A `settle` that
 * needs an answer for its own request calls it once more, and is then run again. */
struct asking *call_ask(struct call *call, const struct id *backend, size_t count);

/* Returns true if the call cannot be answered before media servers have been asked. */
bool call_is_asking(const struct call *call);

/* Sets FAULT_CANNOT if this program cannot ask media servers. */
bool call_can_ask(const struct call *call, struct fault *fault);
/* Sets FAULT_CANNOT unless the backend has the capability, media servers may be changed (--live on)
 * and this program can ask them. */
bool call_can_act(const struct call *call, enum backend_type type,
		  enum server_capability capability, struct fault *fault);
/* Returns what came of a request that changes something; if it was not done, sets the fault.
 * missing: the message of FAULT_NOT_FOUND if the person or the room is not there. */
enum server_result asked_result(struct call *call, const struct asked *asked,
				const struct server *server, const char *missing,
				struct fault *fault);
/* Returns false unless all requests of the call, which change something, were done. */
bool asking_is_done(struct call *call, const struct server *server, const char *missing,
		    struct fault *fault);
/* Sets FAULT_SERVER_DOWN, with the reason, unless the media server answered. */
bool asked_is_up(const struct server_verdict *verdict, struct fault *fault);

/* Returns false with FAULT_SERVER_BUSY if the request has no outcome, which says nothing about the
 * media server. */
bool asked_has_outcome(const struct asked *asked, struct fault *fault);

#endif
