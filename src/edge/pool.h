/* A pool of unused exchanges. There is one exchange per request in progress, including parked ones,
 * so a burst creates many; only some are kept. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_POOL_H
#define EDGE_POOL_H

#include "edge/fastcgi.h"

struct pool;

struct pool *pool_open(void);
/* All exchanges must have been given back. NULL is allowed. */
void pool_close(struct pool *pool);

/* Never returns NULL. The caller owns the exchange until pool_give or fastcgi_close. */
struct exchange *pool_take(struct pool *pool);
void pool_give(struct pool *pool, struct exchange *exchange);

#endif
