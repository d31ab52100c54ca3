/* Parked answers: they wait for their transaction to become durable, without occupying a thread.
 *
 * A worker adds an exchange whose number is pending and continues. Exactly one worker at a time is
 * the flusher: the first to add while there is none. It flushes at once if no request is ready.
 * Otherwise those requests may write too, and each sync costs as much as several requests, so it
 * passes the flush on as an event of the descriptor, which is queued after everything that is
 * ready. So a single client does not wait, and under load a group is all that was ready, without a
 * timer.
 *
 * The flusher takes all parked exchanges, flushes, sends their answers, and flushes again if there
 * are others by then: waking another worker for each flush costs as much as a small request. But a
 * flush never waits for a slow peer: before sending an answer that may block, the flusher passes
 * the flush on.
 *
 * No wake-up is lost: the flusher flag and the list are under one lock, and the flag is cleared
 * only when the list is empty.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_PARKED_H
#define EDGE_PARKED_H

#include "edge/fastcgi.h"
#include "store/store.h"

struct parked;

/* NULL with errno when no descriptor is available. */
struct parked *parked_open(struct store *store);
/* Nothing may be parked. NULL is allowed. */
void parked_close(struct parked *parked);

/* For an epoll set with EPOLLET: the worker that gets the event calls parked_flush, and does not
 * read it. */
int parked_descriptor(const struct parked *parked);

/* Parks an exchange, which the caller no longer owns. One whose answer awaits nothing may be parked
 * too, for a worker to send it. True: the caller is now the flusher and must call parked_flush or
 * parked_pass_on before any long work. */
bool parked_add(struct parked *parked, struct exchange *exchange);

/* Leaves the flush to the worker that gets the next event of the descriptor. */
void parked_pass_on(struct parked *parked);

/* Flushes once. Returns the exchanges to settle and send, linked by `next` and owned by the caller.
 * *is_flusher: others are parked by now, and the caller must call parked_flush or parked_pass_on
 * for them. */
struct exchange *parked_flush(struct parked *parked, bool *is_flusher);

#endif
