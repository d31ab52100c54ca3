/* Makes the requests to media servers, for calls that ask them (resources/asking.h). One thread
 * gives them to the sender process (delivery/sender.h), at most SENDER_MEDIA_MOST at once. Others
 * wait for their turn (background/media_queue.h): at most 2 s, or 5 s if somebody asks for
 * themselves.
 *
 * A request that several calls share (is_shared in media/server.h) is made once for all of them,
 * from the first until that call has read the answer: a crowd at a door does not wait in line.
 *
 * A room is surveyed for people who are not known to be inside (is_survey in resources/asking.h) at
 * most once a second, by one call for all that ask meanwhile.
 *
 * If the process ends, it is started again. What was under way and changes something is then lost;
 * what only reads is sent once more.
 *
 * Any thread, unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_MEDIA_CLIENT_H
#define BACKGROUND_MEDIA_CLIENT_H

#include "base/histogram.h"
#include "delivery/sender.h"
#include "resources/asking.h"

struct media_client;

/* Starts the thread, which is then the only one that uses the sender. */
struct media_client *media_client_open(struct sender *sender);
/* Ends the thread. Requests that are waiting or under way end as ASKED_LOST. NULL is allowed. */
void media_client_close(struct media_client *client);

/* Makes the requests of `asking`, which must stay where it is until `done` is called: once, when
 * all of them have ended, in the thread of the client, which must not be held up; or at once, if
 * another call has just got the answer to the same request. */
void media_client_ask(struct media_client *client, struct asking *asking,
		      void (*done)(void *context, struct asking *asking), void *context);
/* Frees what the outcomes own, once they were read. */
void media_client_release(struct asking *asking);

/* Returns the Idempotency-Keys of calls that ask, which live as long as the client. */
struct claims *media_client_claims(struct media_client *client);
/* Waits for a key (claims_wait); the client sees to it that this ends in time. */
void media_client_wait(struct media_client *client, struct asking *asking,
		       void (*done)(void *context, struct asking *asking), void *context);

/* For /metrics. */
struct media_figures {
	uint64_t ended[ASKED_ENDS]; /* requests, by their end */
	uint64_t failed; /* of those with an outcome: without a complete answer */
	uint64_t waiting, under_way;
	struct histogram_state durations; /* of requests with an outcome, to the millisecond */
};
void media_client_figures(struct media_client *client, struct media_figures *figures);

#endif
