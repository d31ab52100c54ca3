/* Deferred calls: calls that the service expects to be expensive (service_answer). A few separate
 * threads handle them, with a lower priority than the workers, so that the workers stay free for
 * other calls. Calls of routes that are is_alone take longest: one thread handles them, one at a
 * time, and nothing else. Meanwhile the writes of the same account wait here, without occupying a
 * thread. So do calls that are is_serial while another one is handled.
 *
 * The threads do not send answers, because a slow reader would delay the calls behind it.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_DEFERRED_H
#define EDGE_DEFERRED_H

#include "edge/fastcgi.h"

struct deferred;

/* Answers one exchange, which it then owns, in one of the threads. */
typedef void deferred_answer(void *context, struct exchange *exchange);

/* Starts `threads` threads, at least 2. Returns NULL with errno if a thread cannot be started. */
struct deferred *deferred_open(unsigned threads, deferred_answer *answer, void *context);
/* Ends the threads. No exchange may be waiting. NULL is allowed. */
void deferred_close(struct deferred *deferred);

/* Adds an exchange, which the caller no longer owns. */
void deferred_add(struct deferred *deferred, struct exchange *exchange);

#endif
