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

#define DEFERRED_PRIORITY 10

struct deferred {
	deferred_answer *answer;
	void *context;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct exchange *first, **end; /* those that wait */
	bool has_alone; /* a call of a route that is_alone is being handled */
	bool is_ending;
	pthread_t *threads;
	unsigned count;
};

static bool is_alone(const struct exchange *exchange)
{
	return exchange->call.route->is_alone;
}

/* The first that may be handled now; NULL: none. The caller holds the lock. */
static struct exchange *take_first(struct deferred *deferred)
{
	struct exchange **link = &deferred->first;
	struct exchange *exchange;

	while (*link != NULL && deferred->has_alone && is_alone(*link))
		link = &(*link)->next;
	exchange = *link;
	if (exchange == NULL)
		return NULL;
	*link = exchange->next;
	if (*link == NULL)
		deferred->end = link;
	exchange->next = NULL;
	return exchange;
}

static void *run(void *argument)
{
	struct deferred *deferred = argument;

	priority_lower(DEFERRED_PRIORITY);
	pthread_mutex_lock(&deferred->lock);
	while (!deferred->is_ending) {
		struct exchange *exchange = take_first(deferred);
		bool was_alone;

		if (exchange == NULL) {
			pthread_cond_wait(&deferred->changed, &deferred->lock);
			continue;
		}
		was_alone = is_alone(exchange);
		deferred->has_alone = deferred->has_alone || was_alone;
		pthread_mutex_unlock(&deferred->lock);
		deferred->answer(deferred->context, exchange);
		pthread_mutex_lock(&deferred->lock);
		if (was_alone)
			deferred->has_alone = false;
	}
	pthread_mutex_unlock(&deferred->lock);
	return NULL;
}

struct deferred *deferred_open(unsigned threads, deferred_answer *answer, void *context)
{
	struct deferred *deferred = memory_check(calloc(1, sizeof *deferred));
	int error = 0;

	assert(threads > 0);
	if (pthread_mutex_init(&deferred->lock, NULL) != 0 ||
	    pthread_cond_init(&deferred->changed, NULL) != 0)
		ABORT("a lock or thread could not be made");
	deferred->answer = answer;
	deferred->context = context;
	deferred->end = &deferred->first;
	deferred->threads = memory_check(calloc(threads, sizeof *deferred->threads));
	while (deferred->count < threads && error == 0) {
		error = pthread_create(&deferred->threads[deferred->count], NULL, run, deferred);
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
	pthread_cond_signal(&deferred->changed);
	pthread_mutex_unlock(&deferred->lock);
}
