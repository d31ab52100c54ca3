/* See edge/parked.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/parked.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

struct exchange_list {
	struct exchange *first;
	struct exchange *last;
};

struct parked {
	struct store *store;
	int descriptor;
	pthread_mutex_t lock;
	struct exchange_list waiting;
	/* true while a worker is in parked_flush or will call it: it owes a flush, or gets the
	 * event */
	bool has_flusher;
};

static void parked_append(struct exchange_list *list, struct exchange *exchange)
{
	exchange->next = NULL;
	if (list->first == NULL)
		list->first = exchange;
	else
		list->last->next = exchange;
	list->last = exchange;
}

static struct exchange *parked_take_first(struct exchange_list *list)
{
	struct exchange *exchange = list->first;

	if (exchange == NULL)
		return NULL;
	list->first = exchange->next;
	return exchange;
}

struct parked *parked_open(struct store *store)
{
	struct parked *parked = memory_check(calloc(1, sizeof *parked));

	parked->store = store;
	parked->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (parked->descriptor < 0) {
		free(parked);
		return NULL;
	}
	pthread_mutex_init(&parked->lock, NULL);
	return parked;
}

void parked_close(struct parked *parked)
{
	if (parked == NULL)
		return;
	assert(parked->waiting.first == NULL);
	pthread_mutex_destroy(&parked->lock);
	close(parked->descriptor);
	free(parked);
}

int parked_descriptor(const struct parked *parked)
{
	return parked->descriptor;
}

bool parked_add(struct parked *parked, struct exchange *exchange)
{
	bool is_flusher;

	pthread_mutex_lock(&parked->lock);
	parked_append(&parked->waiting, exchange);
	is_flusher = !parked->has_flusher;
	parked->has_flusher = true;
	pthread_mutex_unlock(&parked->lock);
	return is_flusher;
}

/* With EPOLLET every write is an event, so the counter is never read. */
void parked_pass_on(struct parked *parked)
{
	if (eventfd_write(parked->descriptor, 1) != 0)
		ABORT("cannot write an event");
}

static bool is_pending(const struct parked *parked, const struct exchange *exchange)
{
	return store_state(parked->store, exchange->call.answer.awaited) == STORE_PENDING;
}

struct exchange *parked_flush(struct parked *parked, bool *is_flusher)
{
	struct exchange_list taken, ready = { NULL, NULL }, pending = { NULL, NULL };
	struct exchange *exchange;
	bool has_pending;

	pthread_mutex_lock(&parked->lock);
	taken = parked->waiting;
	parked->waiting = (struct exchange_list){ NULL, NULL };
	pthread_mutex_unlock(&parked->lock);
	exchange = taken.first;
	while (exchange != NULL && !is_pending(parked, exchange))
		exchange = exchange->next;
	if (exchange != NULL)
		store_flush(parked->store);
	while ((exchange = parked_take_first(&taken)) != NULL)
		parked_append(is_pending(parked, exchange) ? &pending : &ready, exchange);
	has_pending = pending.first != NULL;
	pthread_mutex_lock(&parked->lock);
	while ((exchange = parked_take_first(&pending)) != NULL)
		parked_append(&parked->waiting, exchange);
	parked->has_flusher = parked->waiting.first != NULL;
	*is_flusher = parked->has_flusher;
	pthread_mutex_unlock(&parked->lock);
	/* Exchanges that are still pending are tried again after other work. */
	if (has_pending) {
		*is_flusher = false;
		parked_pass_on(parked);
	}
	return ready.first;
}
