/* See edge/deferred.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/deferred.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/priority.h"
#include "resources/route.h"

#define DEFERRED_PRIORITY 10

struct deferred {
	deferred_answer *answer;
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct exchange *first, **end; /* those that are waiting */
	bool has_alone; /* a call of a route that is_alone is being handled, */
	struct id alone_account; /* from this account */
	bool has_serial; /* a call that is_serial is being handled */
	bool is_ending;
	pthread_t *threads;
	unsigned count;
};

static bool is_alone(const struct exchange *exchange)
{
	return exchange->call.route->is_alone;
}

static bool writes_for(const struct exchange *exchange, const struct id *account)
{
	return route_is_for_writing(exchange->call.route) &&
	       id_compare(&exchange->call.account, account) == 0;
}

/* A write waits for the bulk or import of its account to end, which is one transaction
 * (store_give_way). A bulk or import waits for all writes that its account sent earlier. A call
 * that is_serial waits for another one to end. */
static bool has_to_wait(const struct deferred *deferred, const struct exchange *exchange)
{
	if (!is_alone(exchange))
		return (deferred->has_serial && exchange->call.is_serial) ||
		       (deferred->has_alone && writes_for(exchange, &deferred->alone_account));
	for (const struct exchange *earlier = deferred->first; earlier != exchange;
	     earlier = earlier->next) {
		if (writes_for(earlier, &exchange->call.account))
			return true;
	}
	return false;
}

static void run(struct deferred *deferred, bool takes_alone)
{
	priority_lower(DEFERRED_PRIORITY);
	pthread_mutex_lock(&deferred->lock);
	while (!deferred->is_ending) {
		struct exchange **link = &deferred->first, *exchange;
		bool is_serial;

		/* Take the first exchange that this thread may handle now. */
		while (*link != NULL &&
		       (is_alone(*link) != takes_alone || has_to_wait(deferred, *link)))
			link = &(*link)->next;
		exchange = *link;
		if (exchange == NULL) {
			pthread_cond_wait(&deferred->changed, &deferred->lock);
			continue;
		}
		*link = exchange->next;
		if (*link == NULL)
			deferred->end = link;
		exchange->next = NULL;

		is_serial = exchange->call.is_serial;
		deferred->has_serial = deferred->has_serial || is_serial;
		if (takes_alone) {
			deferred->has_alone = true;
			deferred->alone_account = exchange->call.account;
		}
		pthread_mutex_unlock(&deferred->lock);
		deferred->answer(deferred->context, exchange);
		pthread_mutex_lock(&deferred->lock);
		if (takes_alone)
			deferred->has_alone = false;
		if (is_serial)
			deferred->has_serial = false;
		/* Others may have waited for this call. */
		pthread_cond_broadcast(&deferred->changed);
	}
	pthread_mutex_unlock(&deferred->lock);
}

static void *run_alone(void *deferred)
{
	run(deferred, true);
	return NULL;
}

static void *run_others(void *deferred)
{
	run(deferred, false);
	return NULL;
}

struct deferred *deferred_open(unsigned threads, deferred_answer *answer, void *context)
{
	struct deferred *deferred = memory_check(calloc(1, sizeof *deferred));
	int error = 0;

	assert(threads > 1);
	if (pthread_mutex_init(&deferred->lock, NULL) != 0 ||
	    pthread_cond_init(&deferred->changed, NULL) != 0)
		ABORT("cannot create a lock or thread");
	deferred->answer = answer;
	deferred->context = context;
	deferred->end = &deferred->first;
	deferred->threads = memory_check(calloc(threads, sizeof *deferred->threads));
	while (deferred->count < threads && error == 0) {
		error = pthread_create(&deferred->threads[deferred->count], NULL,
				       deferred->count == 0 ? run_alone : run_others, deferred);
		deferred->count += error == 0;
	}
	if (error == 0)
		return deferred;
	deferred_close(deferred);
	errno = error;
	return NULL;
}

void deferred_close(struct deferred *deferred)
{
	if (deferred == NULL)
		return;
	assert(deferred->first == NULL);
	pthread_mutex_lock(&deferred->lock);
	deferred->is_ending = true;
	pthread_cond_broadcast(&deferred->changed);
	pthread_mutex_unlock(&deferred->lock);
	for (unsigned i = 0; i < deferred->count; i++)
		pthread_join(deferred->threads[i], NULL);
	pthread_cond_destroy(&deferred->changed);
	pthread_mutex_destroy(&deferred->lock);
	free(deferred->threads);
	free(deferred);
}

void deferred_add(struct deferred *deferred, struct exchange *exchange)
{
	exchange->next = NULL;
	pthread_mutex_lock(&deferred->lock);
	*deferred->end = exchange;
	deferred->end = &exchange->next;
	pthread_cond_broadcast(&deferred->changed);
	pthread_mutex_unlock(&deferred->lock);
}
