/* See resources/door/door_polls.h. Tickets, rooms, and numbers of people by code and by address are
 * in trees (tsearch(3)).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/door/door_polls.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/misses.h"

/* The people of one room who wait from one address, or by one code. */
struct group {
	unsigned char key[DIGEST_SIZE];
	unsigned count;
};

/* The last denials of people of one room from one address by one code. */
struct denials {
	unsigned char key[DIGEST_SIZE];
	struct {
		struct id ticket;
		int64_t until;
	} items[DOOR_DENIALS_MOST]; /* oldest first */
	size_t count;
	size_t place; /* in the array of denials */
};

struct polled {
	char name[2 * DIGEST_SIZE]; /* the key */
	struct id account, room, id;
	int64_t last, stored; /* when it was asked for; as the record has it */
	int64_t taken; /* when it was first exchanged; 0 if it was not */
	int64_t again; /* when storing the exchange is tried again */
	/* Of those who wait: NULL once the ticket is decided; by_code also if the code has a
	 * user_id. */
	struct group *by_address, *by_code;
	unsigned char address[DIGEST_SIZE];
	bool is_unasked; /* struct door_ticket */
	size_t place; /* in the array of tickets */
};

/* All tickets up to this one were admitted. */
struct admission {
	struct id until;
	int64_t time;
};

struct watched_door {
	struct door_room of; /* the key */
	int64_t last; /* when it was gone through; 0 if never */
	size_t place; /* in the array of doors */
	struct admissions {
		struct admission *list; /* oldest first; NULL if there are none */
		size_t count;
	} admissions[DOOR_ADMITS_UNASKED + 1];
};

struct door_polls {
	pthread_mutex_t lock;
	unsigned address_most;
	void *tickets, *doors, *groups, *denials; /* trees */
	struct polled **list;
	size_t count, capacity;
	struct watched_door **door_list;
	size_t door_count, door_capacity;
	struct denials **denial_list;
	size_t denial_count, denial_capacity;
	uint64_t ends[DOOR_ENDS];
};

struct door_polls *door_polls_open(unsigned address_most)
{
	struct door_polls *polls = memory_check(calloc(1, sizeof *polls));

	polls->address_most = address_most;
	if (pthread_mutex_init(&polls->lock, NULL) != 0)
		ABORT("cannot create a lock");
	return polls;
}

void door_address(struct slice address, unsigned char digest[DIGEST_SIZE])
{
	unsigned char bytes[MISSES_ADDRESS_SIZE];

	misses_address(address, bytes);
	digest_sha256((struct slice){ (const char *)bytes, sizeof bytes }, digest);
}

/* ---- trees ---- */

static int compare_tickets(const void *a, const void *b)
{
	return memcmp(((const struct polled *)a)->name, ((const struct polled *)b)->name,
		      2 * DIGEST_SIZE);
}

static int compare_groups(const void *a, const void *b)
{
	return memcmp(((const struct group *)a)->key, ((const struct group *)b)->key, DIGEST_SIZE);
}

static int compare_doors(const void *a, const void *b)
{
	const struct door_room *first = &((const struct watched_door *)a)->of;
	const struct door_room *second = &((const struct watched_door *)b)->of;
	const int accounts = id_compare(&first->account, &second->account);

	return accounts != 0 ? accounts : id_compare(&first->room, &second->room);
}

static void *find_in(void *const *tree, const void *key, int (*compare)(const void *, const void *))
{
	void *found = tfind(key, tree, compare);

	return found == NULL ? NULL : *(void **)found;
}

/* Returns the group, with one more person in it. */
static struct group *group_join(struct door_polls *polls, const struct group *key)
{
	struct group *group = find_in(&polls->groups, key, compare_groups);

	if (group == NULL) {
		group = memory_check(malloc(sizeof *group));
		*group = *key;
		group->count = 0;
		(void)memory_check(tsearch(group, &polls->groups, compare_groups));
	}
	group->count++;
	return group;
}

static void group_leave(struct door_polls *polls, struct group *group)
{
	if (group == NULL)
		return;
	COUNTER_LOWER(group->count, 1u);
	if (group->count > 0)
		return;
	(void)tdelete(group, &polls->groups, compare_groups);
	free(group);
}

/* Sets the key of those who wait in the room from this address or, if address is NULL, by the code
 * of the ticket. */
static struct group group_key(const struct door_ticket *ticket,
			      const unsigned char address[DIGEST_SIZE])
{
	char of[2 * ID_SIZE + DIGEST_SIZE] = { 0 };
	struct group group = { .count = 0 };

	memcpy(of, ticket->room.bytes, ID_SIZE);
	if (address != NULL)
		memcpy(of + ID_SIZE, address, DIGEST_SIZE);
	else
		memcpy(of + ID_SIZE, ticket->code_place.bytes, ID_SIZE);
	digest_sha256((struct slice){ of, address != NULL ? sizeof of : 2 * ID_SIZE }, group.key);
	return group;
}

/* ---- under the lock ---- */

static struct polled *find_ticket(struct door_polls *polls, struct slice name)
{
	struct polled key;

	memcpy(key.name, name.data, sizeof key.name);
	return find_in(&polls->tickets, &key, compare_tickets);
}

static struct watched_door *watch_door(struct door_polls *polls, const struct id *account,
				       const struct id *room)
{
	const struct watched_door key = { .of = { *account, *room } };
	struct watched_door *door = find_in(&polls->doors, &key, compare_doors);

	if (door != NULL)
		return door;
	door = memory_check(malloc(sizeof *door));
	*door = key;
	door->place = polls->door_count;
	polls->door_list = memory_room(polls->door_list, polls->door_count + 1,
				       &polls->door_capacity, sizeof *polls->door_list);
	polls->door_list[polls->door_count++] = door;
	(void)memory_check(tsearch(door, &polls->doors, compare_doors));
	return door;
}

static void stop_counting(struct door_polls *polls, struct polled *polled)
{
	group_leave(polls, polled->by_address);
	group_leave(polls, polled->by_code);
	polled->by_address = NULL;
	polled->by_code = NULL;
}

static struct polled *add_ticket(struct door_polls *polls, const struct id *account,
				 const struct door_ticket *ticket,
				 const unsigned char address[DIGEST_SIZE], bool waits)
{
	const struct group by_address = group_key(ticket, address);
	const struct group by_code = group_key(ticket, NULL);
	struct polled *polled = memory_check(malloc(sizeof *polled));

	*polled = (struct polled){
		.account = *account,
		.room = ticket->room,
		.id = ticket->id,
		.last = ticket->polled,
		.stored = ticket->polled,
		.by_address = waits ? group_join(polls, &by_address) : NULL,
		.by_code = waits && !ticket->is_known ? group_join(polls, &by_code) : NULL,
		.is_unasked = ticket->is_unasked,
		.place = polls->count,
	};
	memcpy(polled->name, ticket->name.data, sizeof polled->name);
	memcpy(polled->address, address, DIGEST_SIZE);
	polls->list = memory_room(polls->list, polls->count + 1, &polls->capacity,
				  sizeof *polls->list);
	polls->list[polls->count++] = polled;
	(void)memory_check(tsearch(polled, &polls->tickets, compare_tickets));
	(void)watch_door(polls, account, &ticket->room);
	return polled;
}

static void remove_ticket(struct door_polls *polls, struct polled *polled)
{
	struct polled *last = polls->list[--polls->count];

	(void)tdelete(polled, &polls->tickets, compare_tickets);
	polls->list[polled->place] = last;
	last->place = polled->place;
	stop_counting(polls, polled);
	free(polled);
}

static void remove_door(struct door_polls *polls, struct watched_door *door)
{
	struct watched_door *last = polls->door_list[--polls->door_count];

	(void)tdelete(door, &polls->doors, compare_doors);
	polls->door_list[door->place] = last;
	last->place = door->place;
	for (size_t i = 0; i <= DOOR_ADMITS_UNASKED; i++)
		free(door->admissions[i].list);
	free(door);
}

static unsigned people_in(struct door_polls *polls, const struct group *key)
{
	const struct group *group = find_in(&polls->groups, key, compare_groups);

	return group == NULL ? 0 : group->count;
}

static int compare_denials(const void *a, const void *b)
{
	return memcmp(((const struct denials *)a)->key, ((const struct denials *)b)->key,
		      DIGEST_SIZE);
}

static void remove_denials(struct door_polls *polls, struct denials *denials)
{
	struct denials *last = polls->denial_list[--polls->denial_count];

	(void)tdelete(denials, &polls->denials, compare_denials);
	polls->denial_list[denials->place] = last;
	last->place = denials->place;
	free(denials);
}

/* Removes those that are over. */
static void end_denials(struct denials *denials, int64_t now)
{
	size_t count = 0;

	for (size_t i = 0; i < denials->count; i++) {
		if (denials->items[i].until > now)
			denials->items[count++] = denials->items[i];
	}
	denials->count = count;
}

void door_polls_close(struct door_polls *polls)
{
	if (polls == NULL)
		return;
	while (polls->denial_count > 0)
		remove_denials(polls, polls->denial_list[0]);
	free(polls->denial_list);
	while (polls->count > 0)
		remove_ticket(polls, polls->list[0]);
	while (polls->door_count > 0)
		remove_door(polls, polls->door_list[0]);
	free(polls->list);
	free(polls->door_list);
	pthread_mutex_destroy(&polls->lock);
	free(polls);
}

/* ---- tickets ---- */

/* Needs the lock. */
static enum door_limit limit_of(struct door_polls *polls, const struct door_ticket *ticket,
				const unsigned char address[DIGEST_SIZE])
{
	const struct group by_address = group_key(ticket, address);
	const struct group by_code = group_key(ticket, NULL);

	if (people_in(polls, &by_address) >= polls->address_most)
		return DOOR_ADDRESS_IS_FULL;
	return !ticket->is_known && people_in(polls, &by_code) >= DOOR_CODE_MOST ? DOOR_CODE_IS_FULL
										 : DOOR_FITS;
}

enum door_limit door_polls_limit(struct door_polls *polls, const struct door_ticket *ticket,
				 const unsigned char address[DIGEST_SIZE])
{
	enum door_limit limit;

	pthread_mutex_lock(&polls->lock);
	limit = limit_of(polls, ticket, address);
	pthread_mutex_unlock(&polls->lock);
	return limit;
}

enum door_limit door_polls_enter(struct door_polls *polls, const struct id *account,
				 const struct door_ticket *ticket,
				 const unsigned char address[DIGEST_SIZE])
{
	enum door_limit limit = DOOR_FITS;
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, ticket->name);
	if (polled == NULL) {
		limit = limit_of(polls, ticket, address);
		if (limit == DOOR_FITS)
			(void)add_ticket(polls, account, ticket, address, true);
	} else {
		polled->id = ticket->id; /* another run of the call has drawn another one */
	}
	pthread_mutex_unlock(&polls->lock);
	return limit;
}

enum door_limit door_polls_replace(struct door_polls *polls, const struct id *account,
				   struct slice former, const struct door_ticket *ticket,
				   const unsigned char address[DIGEST_SIZE], bool waits)
{
	const struct group by_address = group_key(ticket, address);
	enum door_limit limit = DOOR_FITS;
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	if (find_ticket(polls, ticket->name) == NULL) {
		polled = find_ticket(polls, former);
		if (waits && (polled == NULL || polled->by_address == NULL ||
			      compare_groups(polled->by_address, &by_address) != 0))
			limit = limit_of(polls, ticket, address);
		if (limit == DOOR_FITS) {
			if (polled != NULL)
				remove_ticket(polls, polled);
			(void)add_ticket(polls, account, ticket, address, waits);
		}
	}
	pthread_mutex_unlock(&polls->lock);
	return limit;
}

struct door_times door_polls_note(struct door_polls *polls, const struct id *account,
				  const struct door_ticket *ticket,
				  const unsigned char address[DIGEST_SIZE], bool waits, int64_t now)
{
	struct door_times before = { .polled = 0 };
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, ticket->name);
	if (polled == NULL) {
		polled = add_ticket(polls, account, ticket, address, waits);
	} else {
		if (!waits)
			stop_counting(polls, polled);
		/* Another process may have been asked, too. */
		if (ticket->polled > polled->stored)
			polled->stored = ticket->polled;
		before.polled = polled->last > ticket->polled ? polled->last : ticket->polled;
		before.taken = polled->taken;
	}
	polled->last = now;
	(void)watch_door(polls, account, &ticket->room);
	pthread_mutex_unlock(&polls->lock);
	return before;
}

struct door_times door_polls_times(struct door_polls *polls, struct slice name)
{
	struct door_times times = { .polled = 0 };
	const struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, name);
	if (polled != NULL)
		times = (struct door_times){ polled->last, polled->taken };
	pthread_mutex_unlock(&polls->lock);
	return times;
}

void door_polls_take(struct door_polls *polls, struct slice name, int64_t time)
{
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, name);
	if (polled != NULL && polled->taken == 0) {
		polled->taken = time;
		stop_counting(polls, polled);
	}
	pthread_mutex_unlock(&polls->lock);
}

void door_polls_admit(struct door_polls *polls, struct slice name)
{
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, name);
	if (polled != NULL)
		stop_counting(polls, polled);
	pthread_mutex_unlock(&polls->lock);
}

/* Needs the lock. If there are too many admissions, the oldest two become the later of them. */
static void add_admission(struct admissions *admissions, const struct id *until, int64_t now)
{
	size_t count = admissions->count;

	if (count > 0 && id_compare(&admissions->list[count - 1].until, until) >= 0)
		return;
	if (admissions->list == NULL)
		admissions->list =
			memory_check(calloc(DOOR_ADMISSIONS_MOST, sizeof *admissions->list));
	if (count == DOOR_ADMISSIONS_MOST)
		memmove(admissions->list, admissions->list + 1, --count * sizeof *admissions->list);
	admissions->list[count] = (struct admission){ *until, now };
	admissions->count = count + 1;
}

void door_polls_admit_all(struct door_polls *polls, const struct id *account, const struct id *room,
			  enum door_admits admits, const struct id *until, int64_t now)
{
	pthread_mutex_lock(&polls->lock);
	add_admission(&watch_door(polls, account, room)->admissions[admits], until, now);
	for (size_t i = 0; i < polls->count; i++) {
		struct polled *polled = polls->list[i];

		if (id_compare(&polled->room, room) == 0 &&
		    id_compare(&polled->account, account) == 0 &&
		    (admits == DOOR_ADMITS_EVERYBODY || polled->is_unasked) &&
		    id_compare(&polled->id, until) <= 0)
			stop_counting(polls, polled);
	}
	pthread_mutex_unlock(&polls->lock);
}

int64_t door_polls_admitted_at(struct door_polls *polls, const struct id *account,
			       const struct door_ticket *ticket, const struct door *door,
			       int64_t now)
{
	const enum door_admits admits = id_compare(&ticket->id, &door->admitted) <= 0
						? DOOR_ADMITS_EVERYBODY
						: DOOR_ADMITS_UNASKED;
	struct admissions *admissions;
	size_t i = 0;
	int64_t time;

	pthread_mutex_lock(&polls->lock);
	admissions = &watch_door(polls, account, &ticket->room)->admissions[admits];
	add_admission(admissions,
		      admits == DOOR_ADMITS_EVERYBODY ? &door->admitted : &door->unasked, now);
	while (id_compare(&admissions->list[i].until, &ticket->id) < 0)
		i++;
	time = admissions->list[i].time;
	pthread_mutex_unlock(&polls->lock);
	return time;
}

bool door_polls_address(struct door_polls *polls, struct slice name,
			unsigned char address[DIGEST_SIZE])
{
	const struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, name);
	if (polled != NULL)
		memcpy(address, polled->address, DIGEST_SIZE);
	pthread_mutex_unlock(&polls->lock);
	return polled != NULL;
}

/* Sets the key of the denials in the room from this address by the code of the ticket. */
static struct denials denials_key(const struct door_ticket *ticket,
				  const unsigned char address[DIGEST_SIZE])
{
	const struct id id = visitor_id(&ticket->room, &ticket->code_place, address);
	struct denials denials = { .count = 0 };

	memcpy(denials.key, id.bytes, ID_SIZE);
	return denials;
}

void door_polls_deny(struct door_polls *polls, const struct door_ticket *ticket,
		     const unsigned char address[DIGEST_SIZE], int64_t until)
{
	const struct denials key = denials_key(ticket, address);
	struct denials *denials;

	pthread_mutex_lock(&polls->lock);
	denials = find_in(&polls->denials, &key, compare_denials);
	if (denials == NULL) {
		denials = memory_check(malloc(sizeof *denials));
		*denials = key;
		denials->place = polls->denial_count;
		polls->denial_list = memory_room(polls->denial_list, polls->denial_count + 1,
						 &polls->denial_capacity,
						 sizeof *polls->denial_list);
		polls->denial_list[polls->denial_count++] = denials;
		(void)memory_check(tsearch(denials, &polls->denials, compare_denials));
	}
	if (denials->count == DOOR_DENIALS_MOST)
		memmove(denials->items, denials->items + 1,
			--denials->count * sizeof *denials->items);
	denials->items[denials->count].ticket = ticket->id;
	denials->items[denials->count++].until = until;
	pthread_mutex_unlock(&polls->lock);
}

void door_polls_allow(struct door_polls *polls, const struct door_ticket *ticket)
{
	pthread_mutex_lock(&polls->lock);
	for (size_t i = 0; i < polls->denial_count; i++) {
		struct denials *denials = polls->denial_list[i];

		for (size_t j = 0; j < denials->count; j++) {
			if (id_compare(&denials->items[j].ticket, &ticket->id) == 0)
				denials->items[j].until = 0;
		}
	}
	pthread_mutex_unlock(&polls->lock);
}

int64_t door_polls_denied_until(struct door_polls *polls, const struct door_ticket *ticket,
				const unsigned char address[DIGEST_SIZE], int64_t now)
{
	const struct denials key = denials_key(ticket, address);
	struct denials *denials;
	int64_t until = 0;

	pthread_mutex_lock(&polls->lock);
	denials = find_in(&polls->denials, &key, compare_denials);
	if (denials != NULL) {
		end_denials(denials, now);
		if (denials->count == DOOR_DENIALS_MOST)
			until = denials->items[0].until;
	}
	pthread_mutex_unlock(&polls->lock);
	return until;
}

void door_polls_remove(struct door_polls *polls, struct slice name)
{
	struct polled *polled;

	pthread_mutex_lock(&polls->lock);
	polled = find_ticket(polls, name);
	if (polled != NULL)
		remove_ticket(polls, polled);
	pthread_mutex_unlock(&polls->lock);
}

void door_polls_watch(struct door_polls *polls, const struct id *account, const struct id *room)
{
	pthread_mutex_lock(&polls->lock);
	(void)watch_door(polls, account, room);
	pthread_mutex_unlock(&polls->lock);
}

/* ---- what is due ---- */

/* Milliseconds after which storing an exchange is tried again. */
#define TAKES_AGAIN 5000

static int compare_due(const void *a, const void *b)
{
	const struct door_poll *first = a, *second = b;
	const int accounts = id_compare(&first->account, &second->account);
	const int rooms = id_compare(&first->room, &second->room);

	if (accounts != 0 || rooms != 0)
		return accounts != 0 ? accounts : rooms;
	return memcmp(first->name, second->name, sizeof first->name);
}

static bool is_due(const struct polled *polled, int64_t now)
{
	if (polled->taken != 0)
		return now >= polled->again;
	return polled->last > polled->stored && now >= polled->stored + DOOR_WRITES_AFTER;
}

size_t door_polls_due(struct door_polls *polls, int64_t now, struct door_poll *due, size_t most)
{
	size_t n = 0;

	pthread_mutex_lock(&polls->lock);
	for (size_t i = polls->denial_count; i-- > 0;) {
		end_denials(polls->denial_list[i], now);
		if (polls->denial_list[i]->count == 0)
			remove_denials(polls, polls->denial_list[i]);
	}
	for (size_t i = polls->count; i-- > 0 && n < most;) {
		struct polled *polled = polls->list[i];

		if (now > polled->last + DOOR_LAPSES) {
			remove_ticket(polls, polled);
			continue;
		}
		if (!is_due(polled, now))
			continue;
		due[n] = (struct door_poll){
			.account = polled->account,
			.room = polled->room,
			.times = { polled->last, polled->taken },
		};
		memcpy(due[n++].name, polled->name, sizeof polled->name);
		polled->stored = polled->last;
		polled->again = now + TAKES_AGAIN;
	}
	pthread_mutex_unlock(&polls->lock);
	if (n > 0)
		qsort(due, n, sizeof *due, compare_due);
	return n;
}

bool door_polls_take_room(struct door_polls *polls, int64_t before, int64_t now,
			  struct door_room *room)
{
	bool is_found = false;

	pthread_mutex_lock(&polls->lock);
	for (size_t i = 0; i < polls->door_count && !is_found; i++) {
		struct watched_door *door = polls->door_list[i];

		is_found = door->last < before;
		if (is_found) {
			door->last = now;
			*room = door->of;
		}
	}
	pthread_mutex_unlock(&polls->lock);
	return is_found;
}

void door_polls_unwatch(struct door_polls *polls, const struct door_room *room)
{
	const struct watched_door key = { .of = *room };
	struct watched_door *door;

	pthread_mutex_lock(&polls->lock);
	door = find_in(&polls->doors, &key, compare_doors);
	if (door != NULL)
		remove_door(polls, door);
	pthread_mutex_unlock(&polls->lock);
}

/* ---- metrics ---- */

void door_polls_count(struct door_polls *polls, enum door_end end, uint64_t people)
{
	pthread_mutex_lock(&polls->lock);
	polls->ends[end] += people;
	pthread_mutex_unlock(&polls->lock);
}

void door_polls_figures(struct door_polls *polls, struct door_figures *figures)
{
	pthread_mutex_lock(&polls->lock);
	figures->waiting = polls->count;
	memcpy(figures->ends, polls->ends, sizeof polls->ends);
	pthread_mutex_unlock(&polls->lock);
}
