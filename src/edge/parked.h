/* Answers that wait until their transaction is durable, without a thread each (house rule: the
 * answer waits, the thread does not).
 *
 * A worker adds an exchange whose number is pending and goes on. Exactly one worker at a time is to
 * flush: the first that finds nobody who is. It flushes at once when no request is ready; when some
 * are, they may want to write as well, and each sync costs as much as several requests: it passes the
 * flush on instead, as an event of the descriptor, which stands behind all that is ready by then. So
 * a single client waits for nothing, and under load a group is what was ready, without a timer.
 *
 * The flusher takes all that wait, flushes, sends their answers, and flushes again when others wait by
 * then: to wake another worker for each flush costs as much as a small request. But no flush waits for
 * a slow peer: before the flusher sends what its peer may not take at once, it passes the flush on.
 *
 * No wake-up is lost: "somebody flushes" and the list are one state under one lock, and the flusher
 * gives up its place only in the moment when it finds the list empty.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_PARKED_H
#define EDGE_PARKED_H

#include "edge/fastcgi.h"
#include "store/store.h"

struct parked;

/* NULL, with errno: no descriptor. */
struct parked *parked_open(struct store *store);
/* Nothing may be parked. NULL is fine. */
void parked_close(struct parked *parked);

/* For an epoll set, with EPOLLET: whoever gets its event calls parked_flush. Never read. */
int parked_descriptor(const struct parked *parked);

/* True: nobody is to flush yet, the caller must call parked_flush or parked_pass_on before it does
 * anything that takes long. The exchange is no longer the caller's in either case. */
bool parked_add(struct parked *parked, struct exchange *exchange);

/* Leaves the flush to whoever gets the descriptor's next event. */
void parked_pass_on(struct parked *parked);

/* One flush of all that wait. Those that are to be settled and sent, linked by `next`; the caller's.
 * *is_flusher: others wait by now, and the caller has to call parked_flush or parked_pass_on for them. */
struct exchange *parked_flush(struct parked *parked, bool *is_flusher);

#endif
