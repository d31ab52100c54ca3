/* Two lists and two marks under one lock; see the header for how they work together.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/parked.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct list {
	struct exchange *first;
	struct exchange *last;
};

struct parked {
	struct store *store;
	int descriptor;
	pthread_mutex_t lock;
	struct list waiting;
	struct list ready;
	bool has_flusher; /* a worker is in parked_flush and will look at waiting again */
	bool has_helper; /* a worker was woken and has not come yet */
};

static void append(struct list *list, struct exchange *exchange)
{
	exchange->next = NULL;
	if (list->first == NULL)
		list->first = exchange;
	else
		list->last->next = exchange;
	list->last = exchange;
}

static struct exchange *take_first(struct list *list)
{
	struct exchange *exchange = list->first;

	if (exchange == NULL)
		return NULL;
	list->first = exchange->next;
	exchange->next = NULL;
	return exchange;
}

struct parked *parked_open(struct store *store)
{
	struct parked *parked = calloc(1, sizeof *parked);

	if (parked == NULL)
		abort();
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
	assert(parked->waiting.first == NULL && parked->ready.first == NULL);
	pthread_mutex_destroy(&parked->lock);
	close(parked->descriptor);
	free(parked);
}

int parked_descriptor(const struct parked *parked)
{
	return parked->descriptor;
}

/* Each write is an edge of its own, whatever the counter says, so nobody ever reads it. */
static void wake(struct parked *parked)
{
	if (eventfd_write(parked->descriptor, 1) != 0)
		abort();
}

/* Under the lock: whether the caller is to wake a helper once it has let go of it. */
static bool needs_helper(struct parked *parked)
{
	if (parked->ready.first == NULL || parked->has_helper)
		return false;
	parked->has_helper = true;
	return true;
}

bool parked_add(struct parked *parked, struct exchange *exchange)
{
	bool is_flusher;

	pthread_mutex_lock(&parked->lock);
	append(&parked->waiting, exchange);
	is_flusher = !parked->has_flusher;
	parked->has_flusher = true;
	pthread_mutex_unlock(&parked->lock);
	return is_flusher;
}

/* All that wait; an empty list when the caller ceases to be the flusher. When it goes on, somebody
 * else has to send what is ready. */
static struct list take_waiting(struct parked *parked)
{
	struct list taken;
	bool must_wake = false;

	pthread_mutex_lock(&parked->lock);
	taken = parked->waiting;
	parked->waiting = (struct list){ NULL, NULL };
	if (taken.first == NULL)
		parked->has_flusher = false;
	else
		must_wake = needs_helper(parked);
	pthread_mutex_unlock(&parked->lock);
	if (must_wake)
		wake(parked);
	return taken;
}

/* After a flush everything that was committed before it is durable or has failed. */
static void sort_out(struct parked *parked, struct list taken)
{
	struct exchange *exchange;

	pthread_mutex_lock(&parked->lock);
	while ((exchange = take_first(&taken)) != NULL) {
		uint64_t number = exchange->call.answer.number;
		bool is_pending = store_state(parked->store, number) == STORE_PENDING;

		append(is_pending ? &parked->waiting : &parked->ready, exchange);
	}
	pthread_mutex_unlock(&parked->lock);
}

static void flush(struct store *store, uint64_t first_number)
{
	struct fault ignored = FAULT_INITIAL;

	/* Somebody who is no worker is at it: then this thread waits with him. Whether it failed is
	 * asked by store_state. */
	if (!store_flush(store))
		(void)store_wait(store, first_number, &ignored);
}

void parked_flush(struct parked *parked)
{
	struct list taken;

	while ((taken = take_waiting(parked)).first != NULL) {
		flush(parked->store, taken.first->call.answer.number);
		sort_out(parked, taken);
	}
}

void parked_help(struct parked *parked)
{
	pthread_mutex_lock(&parked->lock);
	parked->has_helper = false;
	pthread_mutex_unlock(&parked->lock);
}

struct exchange *parked_next(struct parked *parked)
{
	struct exchange *exchange;
	bool must_wake;

	pthread_mutex_lock(&parked->lock);
	exchange = take_first(&parked->ready);
	must_wake = needs_helper(parked);
	pthread_mutex_unlock(&parked->lock);
	if (must_wake)
		wake(parked);
	return exchange;
}
