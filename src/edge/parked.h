/* Parked answers wait for their transaction to become durable, without occupying a thread.
 *
 * A worker adds an exchange whose transaction is pending, and continues. Exactly one worker at a
 * time is the flusher: the first that adds an exchange while there is no flusher. If no request is
 * ready, it flushes immediately. If requests are ready, they may write too, and each sync costs as
 * much as several requests; so it passes the flush on as an event of the descriptor, which is
 * queued after everything that is ready. So a single client does not wait, and under load a group
 * contains all that was ready, without a timer.
 *
 * The flusher takes all parked exchanges, flushes, sends their answers, and flushes again if others
 * have been parked by then, because waking another worker for each flush costs as much as a small
 * request. But a flush never waits for a slow peer: before sending an answer that may block, the
 * flusher passes the flush on.
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

/* Returns NULL with errno if no descriptor is available. */
struct parked *parked_open(struct store *store);
/* No exchange may be parked. NULL is allowed. */
void parked_close(struct parked *parked);

/* Returns the descriptor for an epoll set with EPOLLET: the worker that gets the event calls
 * parked_flush, and does not read the descriptor. */
int parked_descriptor(const struct parked *parked);

/* Parks an exchange, which the caller no longer owns. An exchange whose answer awaits nothing may
 * be parked too, for a worker to send it. Returns true if the caller is now the flusher, which must
 * call parked_flush or parked_pass_on before any long work. */
bool parked_add(struct parked *parked, struct exchange *exchange);

/* Leaves the flush to the worker that gets the next event of the descriptor. */
void parked_pass_on(struct parked *parked);

/* Flushes once. Returns the exchanges to settle and send, linked by `next` and owned by the caller.
 * *is_flusher is set if others have been parked by then; the caller must then call parked_flush or
 * parked_pass_on for them. */
struct exchange *parked_flush(struct parked *parked, bool *is_flusher);

#endif
