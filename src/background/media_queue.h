/* Requests to media servers that wait, and those that are under way: which one is made next.
 *
 * An account has at most 32 requests under way, and 8 to one media server. Of these places, 8 and 2
 * are only for what moderators and the service itself do (ASKED_TO_ENFORCE), and at most half are
 * for what people inside do to themselves (ASKED_FOR_ONESELF). If a place is free, the account that
 * has the fewest requests under way is served; of its requests those of the highest rank, of these
 * one of the room that has the fewest under way, of these the one that came first.
 *
 * Calls that change something in the same room are served one after another. What people do to
 * themselves is ordered by person instead, so that nobody else waits for it: one change at a time,
 * and one in OWN_CHANGE_AFTER. A change that waits is replaced by a later one that sets the same.
 *
 * Not for several threads at a time. Times are those of clock_monotonic.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_MEDIA_QUEUE_H
#define BACKGROUND_MEDIA_QUEUE_H

#include "resources/asking.h"

/* Milliseconds from one change that a person makes of themselves to the next. */
#define OWN_CHANGE_AFTER 200
/* Requests of an account that may wait, of one rank and those above it: at most, and while many of
 * other accounts wait; and of all accounts. */
#define QUEUE_ACCOUNT_MOST 256
#define QUEUE_ACCOUNT_LEAST 64
#define QUEUE_MOST 4096

struct media_queue;

struct media_queue *media_queue_open(void);
/* Nothing must wait or be under way. NULL is allowed. */
void media_queue_close(struct media_queue *queue);

/* Returns true if too many requests of the account wait already. */
bool media_queue_is_full(const struct media_queue *queue, const struct id *account,
			 enum asked_rank rank);

enum queue_added {
	QUEUE_WAITS,
	QUEUE_SHARES, /* it gets the outcome of a later change, which waits or is under way */
	QUEUE_REPLACED /* a later change was made already */
};
/* Adds a request, which waits until asked->until. is_full: it does not wait, unless it can take the
 * place of an earlier change. */
enum queue_added media_queue_add(struct media_queue *queue, struct asked *asked, bool is_full,
				 int64_t now);

/* Takes the next request that has waited too long (*is_late), or if has_place the one that is to be
 * made now, which then is under way. Returns NULL if there is none. */
struct asked *media_queue_take(struct media_queue *queue, bool has_place, int64_t now,
			       bool *is_late);
/* Takes any request that waits, or returns NULL. */
struct asked *media_queue_take_any(struct media_queue *queue);
/* The request is no longer under way. */
void media_queue_end(struct media_queue *queue, struct asked *asked);
/* Returns when media_queue_take may return something although nothing has ended; INT64_MAX if
 * never. */
int64_t media_queue_due(struct media_queue *queue, int64_t now);
/* Returns the number of requests that wait. */
size_t media_queue_waiting(const struct media_queue *queue);

#endif
