/* See resources/live/server_rooms.h. A hash of the ids chooses the group of a room. In a full
 * group, the room replaces the one that was made first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/server_rooms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/log.h"
#include "base/memory.h"
#include "records/kinds.h"
#include "resources/stored/live_record.h"

#define GROUPS 4096
#define WAYS 4

struct entry {
	struct server_room_key room;
	int64_t asked; /* 0: free */
};

struct server_rooms {
	pthread_mutex_t lock;
	struct entry groups[GROUPS][WAYS];
};

struct server_rooms *server_rooms_open(void)
{
	struct server_rooms *rooms = memory_check(calloc(1, sizeof *rooms));

	if (pthread_mutex_init(&rooms->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return rooms;
}

void server_rooms_close(struct server_rooms *rooms)
{
	if (rooms == NULL)
		return;
	pthread_mutex_destroy(&rooms->lock);
	free(rooms);
}

/* ---- entries; the caller holds the lock ---- */

static bool is_same_key(const struct server_room_key *a, const struct server_room_key *b)
{
	return id_compare(&a->room, &b->room) == 0 && id_compare(&a->backend, &b->backend) == 0 &&
	       id_compare(&a->account, &b->account) == 0;
}

/* Returns the entry of the room. If it has none, returns the entry of another room that it may
 * take. */
static struct entry *find_entry(struct server_rooms *rooms, const struct server_room_key *room)
{
	const uint32_t hash = checksum(0, room->room.bytes, sizeof room->room.bytes);
	struct entry *group = rooms->groups[hash % GROUPS], *oldest = group;

	for (size_t i = 0; i < WAYS; i++) {
		if (group[i].asked != 0 && is_same_key(&group[i].room, room))
			return &group[i];
		if (group[i].asked < oldest->asked)
			oldest = &group[i];
	}
	return oldest;
}

/* ---- */

void server_rooms_add(struct server_rooms *rooms, const struct server_room_key *room, int64_t asked)
{
	if (rooms == NULL)
		return;
	pthread_mutex_lock(&rooms->lock);
	*find_entry(rooms, room) = (struct entry){ *room, asked };
	pthread_mutex_unlock(&rooms->lock);
}

void server_rooms_remove_all(struct server_rooms *rooms, const struct id *account,
			     const struct id *backend)
{
	if (rooms == NULL)
		return;
	pthread_mutex_lock(&rooms->lock);
	for (size_t i = 0; i < GROUPS * WAYS; i++) {
		struct entry *entry = &rooms->groups[i / WAYS][i % WAYS];

		if (entry->asked != 0 && id_compare(&entry->room.backend, backend) == 0 &&
		    id_compare(&entry->room.account, account) == 0)
			entry->asked = 0;
	}
	pthread_mutex_unlock(&rooms->lock);
}

void server_rooms_remove(struct server_rooms *rooms, const struct server_room_key *room)
{
	struct entry *entry;

	if (rooms == NULL)
		return;
	pthread_mutex_lock(&rooms->lock);
	entry = find_entry(rooms, room);
	if (is_same_key(&entry->room, room))
		entry->asked = 0;
	pthread_mutex_unlock(&rooms->lock);
}

bool server_room_is_made(struct call *call, const struct server_room_key *room, int64_t lasts,
			 bool *is_there, struct fault *fault)
{
	struct server_rooms *rooms = call->environment->server_rooms;
	const struct entry *entry;
	int64_t asked; /* 0 if that is not known */
	struct store_record record;
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.side = STORE_OFF,
		.parent = &room->room,
		.records = &record,
		.most = 1,
	};
	struct session last;
	struct live live;

	*is_there = false;
	if (rooms == NULL)
		return true;
	pthread_mutex_lock(&rooms->lock);
	entry = find_entry(rooms, room);
	asked = is_same_key(&entry->room, room) ? entry->asked : 0;
	pthread_mutex_unlock(&rooms->lock);
	/* A reader's time may be just before that of the writer that asked. */
	if (asked == 0 || llabs(call->now - asked) >= lasts)
		return true;

	/* Since then, the room may have been ordered to end, or its session may have closed. */
	if (!live_load(call, &room->room, STORE_TO_SHOW, &live, fault))
		return false;
	if (live.stored.value.data != NULL && live.ending >= asked)
		return true;
	if (!store_page(call->transaction, &kind_session, &page, fault) ||
	    (page.count > 0 && !session_load(call, &record.id, STORE_TO_SHOW, &last, fault)))
		return false;
	*is_there = page.count == 0 || last.stored.value.data == NULL || last.closed < asked;
	return true;
}
