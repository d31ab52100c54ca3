/* See resources/media/placements.h. Placements are in chains, by the hashes of their backend and of
 * their room: a choice among a hundred servers does not read all placements for each of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/placements.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"

#define PLACEMENTS 4096
#define CHAINS 1024
#define CHAIN_END PLACEMENTS
#define MINUTE ((int64_t)60 * 1000)
/* Media servers whose exchanges are counted, and pools that lacked servers. */
#define SERVERS_COUNTED 256
#define MINUTES 60
#define WARNED 64

enum chain_kind { OF_BACKEND, OF_ROOM, CHAIN_KINDS };

struct placement {
	struct id account, backend, room;
	int64_t time; /* 0: free, and in no chain */
	struct {
		uint16_t next, previous; /* CHAIN_END: none */
	} links[CHAIN_KINDS];
};

/* Exchanges for a media server, by minute. */
struct exchanges {
	struct id account, backend;
	int64_t last; /* the last minute that was counted; 0: free */
	uint32_t counts[MINUTES]; /* of the minute with this remainder */
};

struct warning {
	struct id account;
	uint64_t pool; /* digest_number of its name */
	int64_t time;
};

struct placements {
	pthread_mutex_t lock;
	struct placement placements[PLACEMENTS];
	size_t next; /* the oldest one */
	uint16_t chains[CHAIN_KINDS][CHAINS]; /* their newest ones */
	struct exchanges exchanges[SERVERS_COUNTED];
	struct warning warnings[WARNED];
	size_t next_warning;
};

struct placements *placements_open(void)
{
	struct placements *placements = memory_check(calloc(1, sizeof *placements));

	if (pthread_mutex_init(&placements->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	for (size_t i = 0; i < CHAIN_KINDS * CHAINS; i++)
		placements->chains[i / CHAINS][i % CHAINS] = CHAIN_END;
	return placements;
}

void placements_close(struct placements *placements)
{
	if (placements == NULL)
		return;
	pthread_mutex_destroy(&placements->lock);
	free(placements);
}

/* ---- chains of rooms; the caller holds the lock ---- */

/* Returns where the chain of the backend, or of the room, begins. */
static uint16_t *chain_of(struct placements *placements, enum chain_kind of, const struct id *id)
{
	return &placements->chains[of][checksum(0, id->bytes, sizeof id->bytes) % CHAINS];
}

static void chain_remove(struct placements *placements, enum chain_kind of, size_t i)
{
	struct placement *all = placements->placements;
	const uint16_t next = all[i].links[of].next, previous = all[i].links[of].previous;

	if (previous != CHAIN_END)
		all[previous].links[of].next = next;
	else
		*chain_of(placements, of, of == OF_ROOM ? &all[i].room : &all[i].backend) = next;
	if (next != CHAIN_END)
		all[next].links[of].previous = previous;
}

static void chain_add(struct placements *placements, enum chain_kind of, size_t i)
{
	struct placement *all = placements->placements;
	uint16_t *first = chain_of(placements, of, of == OF_ROOM ? &all[i].room : &all[i].backend);

	all[i].links[of].next = *first;
	all[i].links[of].previous = CHAIN_END;
	if (*first != CHAIN_END)
		all[*first].links[of].previous = (uint16_t)i;
	*first = (uint16_t)i;
}

/* ---- rooms ---- */

/* Returns true if it is of the account, and was a short while ago. A clock may have been set
 * back. */
static bool is_late(const struct call *call, const struct placement *placement)
{
	return llabs(call->now - placement->time) < PLACED_LATELY &&
	       id_compare(&placement->account, &call->account) == 0;
}

void placements_add(struct call *call, const struct id *backend, const struct id *room)
{
	struct placements *placements = call->environment->placements;
	struct placement *all;
	size_t i;

	if (placements == NULL)
		return;
	all = placements->placements;
	pthread_mutex_lock(&placements->lock);
	/* A call may be run again, and a room may be moved on. */
	i = *chain_of(placements, OF_ROOM, room);
	while (i != CHAIN_END && !(is_late(call, &all[i]) && id_compare(&all[i].room, room) == 0))
		i = all[i].links[OF_ROOM].next;
	if (i == CHAIN_END) {
		i = placements->next;
		placements->next = (i + 1) % PLACEMENTS;
	}
	for (enum chain_kind of = 0; of < CHAIN_KINDS && all[i].time != 0; of++)
		chain_remove(placements, of, i);
	all[i] = (struct placement){ call->account, *backend, *room, .time = call->now };
	for (enum chain_kind of = 0; of < CHAIN_KINDS; of++)
		chain_add(placements, of, i);
	pthread_mutex_unlock(&placements->lock);
}

uint64_t placements_since(const struct call *call, const struct id *backend, int64_t counted)
{
	struct placements *placements = call->environment->placements;
	const struct placement *placement;
	uint64_t n = 0;

	if (placements == NULL)
		return 0;
	pthread_mutex_lock(&placements->lock);
	for (size_t i = *chain_of(placements, OF_BACKEND, backend); i != CHAIN_END;
	     i = placement->links[OF_BACKEND].next) {
		placement = &placements->placements[i];
		n += placement->time > counted && is_late(call, placement) &&
		     id_compare(&placement->backend, backend) == 0;
	}
	pthread_mutex_unlock(&placements->lock);
	return n;
}

/* ---- exchanges ---- */

/* Returns what is counted of the backend, or what it may take if that is another one's. The caller
 * holds the lock. */
static struct exchanges *find_exchanges(struct placements *placements, const struct id *account,
					const struct id *backend, bool *is_found)
{
	struct exchanges *oldest = &placements->exchanges[0];

	for (size_t i = 0; i < SERVERS_COUNTED; i++) {
		struct exchanges *exchanges = &placements->exchanges[i];

		*is_found = exchanges->last != 0 && id_compare(&exchanges->backend, backend) == 0 &&
			    id_compare(&exchanges->account, account) == 0;
		if (*is_found)
			return exchanges;
		if (exchanges->last < oldest->last)
			oldest = exchanges;
	}
	return oldest;
}

void placements_add_exchange(struct call *call, const struct id *backend)
{
	struct placements *placements = call->environment->placements;
	const int64_t minute = call->now / MINUTE;
	struct exchanges *exchanges;
	bool is_found;

	if (placements == NULL)
		return;
	pthread_mutex_lock(&placements->lock);
	exchanges = find_exchanges(placements, &call->account, backend, &is_found);
	if (!is_found)
		*exchanges = (struct exchanges){ call->account, *backend, minute, { 0 } };
	/* A reader's time may be just before that of another one. */
	for (int64_t i = 0; i < MINUTES && exchanges->last < minute; i++)
		exchanges->counts[++exchanges->last % MINUTES] = 0;
	if (exchanges->last < minute)
		exchanges->last = minute;
	exchanges->counts[exchanges->last % MINUTES]++;
	pthread_mutex_unlock(&placements->lock);
}

uint64_t placements_exchanges(const struct call *call, const struct id *backend)
{
	struct placements *placements = call->environment->placements;
	const int64_t minute = call->now / MINUTE;
	const struct exchanges *exchanges;
	uint64_t n = 0;
	bool is_found;

	if (placements == NULL)
		return 0;
	pthread_mutex_lock(&placements->lock);
	exchanges = find_exchanges(placements, &call->account, backend, &is_found);
	for (int64_t i = 0; is_found && i < MINUTES; i++) {
		if (exchanges->last - i > minute - MINUTES && exchanges->last - i >= 0)
			n += exchanges->counts[(exchanges->last - i) % MINUTES];
	}
	pthread_mutex_unlock(&placements->lock);
	return n;
}

/* ---- warnings ---- */

bool placements_may_warn(struct call *call, struct slice pool)
{
	struct placements *placements = call->environment->placements;
	const uint64_t name = digest_number(pool);
	bool may_warn = true;

	if (placements == NULL)
		return false;
	pthread_mutex_lock(&placements->lock);
	for (size_t i = 0; i < WARNED && may_warn; i++) {
		const struct warning *warning = &placements->warnings[i];

		may_warn = !(warning->time != 0 && warning->pool == name &&
			     id_compare(&warning->account, &call->account) == 0 &&
			     llabs(call->now - warning->time) < MINUTE);
	}
	if (may_warn) {
		placements->warnings[placements->next_warning++ % WARNED] =
			(struct warning){ call->account, name, call->now };
	}
	pthread_mutex_unlock(&placements->lock);
	return may_warn;
}
