/* The pool is a list, last in, first out, so that the exchange used last is still in the
 * processor's cache.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/counter.h"
#include "base/memory.h"

/* Each takes about 64 KB. */
#define KEPT_MOST 64

struct pool {
	pthread_mutex_t lock;
	struct exchange *first;
	size_t count;
};

struct pool *pool_open(void)
{
	struct pool *pool = memory_check(calloc(1, sizeof *pool));

	pthread_mutex_init(&pool->lock, NULL);
	return pool;
}

static struct exchange *pool_take_kept(struct pool *pool)
{
	struct exchange *exchange = pool->first;

	if (exchange != NULL) {
		pool->first = exchange->next;
		COUNTER_LOWER(pool->count, 1u);
	}
	return exchange;
}

void pool_close(struct pool *pool)
{
	if (pool == NULL)
		return;
	while (pool->first != NULL)
		fastcgi_close(pool_take_kept(pool));
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

struct exchange *pool_take(struct pool *pool)
{
	struct exchange *exchange;

	pthread_mutex_lock(&pool->lock);
	exchange = pool_take_kept(pool);
	pthread_mutex_unlock(&pool->lock);
	return exchange != NULL ? exchange : fastcgi_open();
}

void pool_give(struct pool *pool, struct exchange *exchange)
{
	bool is_kept;

	pthread_mutex_lock(&pool->lock);
	is_kept = pool->count < KEPT_MOST;
	if (is_kept) {
		exchange->next = pool->first;
		pool->first = exchange;
		pool->count++;
	}
	pthread_mutex_unlock(&pool->lock);
	if (!is_kept)
		fastcgi_close(exchange);
}
