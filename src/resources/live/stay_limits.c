/* See resources/live/stay_limits.h. Everything is forgotten when a new minute begins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/stay_limits.h"

#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "resources/stored/live_record.h"

#define MINUTE ((int64_t)60 * 1000)

/* Stays of a minute: of an account, of one of its rooms, or by an entry in its rooms. */
struct stays {
	struct id account, of; /* the key; `of` is zero for the account itself */
	uint64_t count;
	bool is_logged; /* of an account: that it had no place */
};

struct stay_limits {
	uint64_t per_minute;
	pthread_mutex_t lock;
	/* Under the lock. */
	void *tree; /* of struct stays (tsearch) */
	int64_t minute;
	uint64_t refused;
};

struct stay_limits *stay_limits_open(uint64_t per_minute)
{
	struct stay_limits *limits = memory_check(calloc(1, sizeof *limits));

	limits->per_minute = per_minute;
	if (pthread_mutex_init(&limits->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return limits;
}

void stay_limits_close(struct stay_limits *limits)
{
	if (limits == NULL)
		return;
	tdestroy(limits->tree, free);
	pthread_mutex_destroy(&limits->lock);
	free(limits);
}

static int compare_stays(const void *first, const void *second)
{
	const struct stays *a = first, *b = second;
	const int accounts = id_compare(&a->account, &b->account);

	return accounts != 0 ? accounts : id_compare(&a->of, &b->of);
}

/* The caller holds the lock. */
static struct stays *stays_of(struct stay_limits *limits, const struct id *account,
			      const struct id *of)
{
	const struct stays key = { .account = *account, .of = *of };
	void *const *found = tfind(&key, &limits->tree, compare_stays);
	struct stays *stays;

	if (found != NULL)
		return *(struct stays *const *)found;
	stays = memory_check(malloc(sizeof *stays));
	*stays = key;
	(void)memory_check(tsearch(stays, &limits->tree, compare_stays));
	return stays;
}

bool stay_limits_take(struct stay_limits *limits, const struct id *account, const struct id *room,
		      struct slice entry, int64_t now)
{
	static const struct id none;
	struct stays *all, *here, *person = NULL;
	char text[ID_TEXT_SIZE + 1], most[24];
	bool has_place, must_log = false;
	struct id id;

	pthread_mutex_lock(&limits->lock);
	if (limits->minute != now / MINUTE) {
		tdestroy(limits->tree, free);
		limits->tree = NULL;
		limits->minute = now / MINUTE;
	}
	all = stays_of(limits, account, &none);
	here = stays_of(limits, account, room);
	has_place = here->count < (limits->per_minute - (all->count - here->count)) / 2;
	if (has_place && entry.size > 0) {
		id = inside_id(account, entry);
		person = stays_of(limits, account, &id);
		has_place = person->count < STAYS_OF_ENTRY;
	}
	if (has_place) {
		all->count++;
		here->count++;
		if (person != NULL)
			person->count++;
	} else {
		limits->refused++;
		must_log = !all->is_logged;
		all->is_logged = true;
	}
	pthread_mutex_unlock(&limits->lock);
	if (must_log) {
		id_print(account, text);
		(void)snprintf(most, sizeof most, "%llu", (unsigned long long)limits->per_minute);
		log_event(LOG_LEVEL_WARNING, "live_stays_limited", "account", text, "per_minute",
			  most, "consequence",
			  "further people who join are stored in the next minute, if they "
			  "are still inside",
			  NULL);
	}
	return has_place;
}

uint64_t stay_limits_refused(struct stay_limits *limits)
{
	uint64_t refused;

	pthread_mutex_lock(&limits->lock);
	refused = limits->refused;
	pthread_mutex_unlock(&limits->lock);
	return refused;
}
