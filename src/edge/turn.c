/* See edge/turn.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "edge/turn.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

struct turn {
	pthread_mutex_t lock;
	bool is_taken;
	struct exchange *first, **end; /* those that wait */
};

struct turn *turn_open(void)
{
	struct turn *turn = memory_check(calloc(1, sizeof *turn));

	if (pthread_mutex_init(&turn->lock, NULL) != 0)
		abort();
	turn->end = &turn->first;
	return turn;
}

void turn_close(struct turn *turn)
{
	if (turn == NULL)
		return;
	pthread_mutex_destroy(&turn->lock);
	free(turn);
}

bool turn_take(struct turn *turn, struct exchange *exchange)
{
	bool is_first;

	pthread_mutex_lock(&turn->lock);
	is_first = !turn->is_taken;
	turn->is_taken = true;
	if (!is_first) {
		exchange->next = NULL;
		*turn->end = exchange;
		turn->end = &exchange->next;
	}
	pthread_mutex_unlock(&turn->lock);
	return is_first;
}

struct exchange *turn_next(struct turn *turn)
{
	struct exchange *next;

	pthread_mutex_lock(&turn->lock);
	next = turn->first;
	if (next != NULL)
		turn->first = next->next;
	if (turn->first == NULL)
		turn->end = &turn->first;
	turn->is_taken = next != NULL;
	pthread_mutex_unlock(&turn->lock);
	return next;
}
