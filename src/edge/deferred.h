/* Deferred calls: those that the service expects to take long (service_answer). A few threads of
 * their own handle them, with a lower priority than the workers, so that any number of them leaves
 * the workers to other calls. Calls of routes that are is_alone are handled one at a time, by a
 * thread that handles no others, since they take longest; what the account of such a call writes
 * meanwhile waits here until it has ended, and occupies no thread.
 *
 * The threads do not send answers: a slow reader would hold up the calls behind it.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_DEFERRED_H
#define EDGE_DEFERRED_H

#include "edge/fastcgi.h"

struct deferred;

/* Answers one exchange, which it owns, in one of the threads. */
typedef void deferred_answer(void *context, struct exchange *exchange);

/* Starts so many threads, at least 2. NULL with errno when a thread cannot be started. */
struct deferred *deferred_open(unsigned threads, deferred_answer *answer, void *context);
/* Ends the threads. None may be waiting. NULL is allowed. */
void deferred_close(struct deferred *deferred);

/* The caller no longer owns the exchange. */
void deferred_add(struct deferred *deferred, struct exchange *exchange);

#endif
