/* See background/join_log.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/join_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "resources/audit.h"
#include "resources/audit_record.h"
#include "resources/stored/media_record.h"

/* Events that one transaction writes. */
#define AT_ONCE 256
/* Rejections remembered for a minute: a power of two, of which at most half is used. */
#define REMEMBERED 16384
#define MINUTE 60000

struct waiting {
	struct waiting *next;
	struct joining joining; /* its slices are in `text` */
	char text[];
};

struct join_log {
	pthread_mutex_t lock;
	struct waiting *first, *last;
	size_t count;
	uint64_t dropped;
	int64_t minute; /* to which `refusals` belong */
	uint64_t refusals[REMEMBERED]; /* hash table of hashes; 0 if free */
	size_t refusal_count;
};

struct join_log *join_log_open(void)
{
	struct join_log *joins = memory_check(calloc(1, sizeof *joins));

	if (pthread_mutex_init(&joins->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return joins;
}

void join_log_close(struct join_log *joins)
{
	if (joins == NULL)
		return;
	while (joins->first != NULL) {
		struct waiting *next = joins->first->next;

		free(joins->first);
		joins->first = next;
	}
	pthread_mutex_destroy(&joins->lock);
	free(joins);
}

uint64_t join_log_dropped(struct join_log *joins)
{
	uint64_t dropped;

	if (joins == NULL)
		return 0;
	pthread_mutex_lock(&joins->lock);
	dropped = joins->dropped;
	pthread_mutex_unlock(&joins->lock);
	return dropped;
}

/* ---- adding ---- */

/* True if no other rejection of this code and reason came in this minute. Needs the lock. */
static bool is_first(struct join_log *joins, const struct joining *joining)
{
	unsigned char digest[DIGEST_SIZE];
	uint64_t hash;
	size_t place;

	digest_sha256(joining->code, digest);
	memcpy(&hash, digest, sizeof hash);
	hash += (uint64_t)joining->refusal;
	if (hash == 0)
		hash = 1;
	place = (size_t)hash % REMEMBERED;
	if (joins->minute != joining->time / MINUTE) {
		joins->minute = joining->time / MINUTE;
		memset(joins->refusals, 0, sizeof joins->refusals);
		joins->refusal_count = 0;
	}
	while (joins->refusals[place] != 0 && joins->refusals[place] != hash)
		place = (place + 1) % REMEMBERED;
	if (joins->refusals[place] == hash || joins->refusal_count == REMEMBERED / 2)
		return false;
	joins->refusals[place] = hash;
	joins->refusal_count++;
	return true;
}

static struct slice keep_text(char **at, struct slice text)
{
	const struct slice kept = { *at, text.size };

	if (text.size > 0)
		memcpy(*at, text.data, text.size);
	*at += text.size;
	return kept;
}

static struct waiting *copy_of(const struct joining *joining)
{
	const size_t size = joining->room_name.size + joining->role.size + joining->user_id.size +
			    joining->code.size + joining->request_id.size;
	struct waiting *waiting = memory_check(malloc(sizeof *waiting + size));
	char *at = waiting->text;

	waiting->next = NULL;
	waiting->joining = *joining;
	waiting->joining.room_name = keep_text(&at, joining->room_name);
	waiting->joining.role = keep_text(&at, joining->role);
	waiting->joining.user_id = keep_text(&at, joining->user_id);
	waiting->joining.code = keep_text(&at, joining->code);
	waiting->joining.request_id = keep_text(&at, joining->request_id);
	return waiting;
}

void join_log_add(struct join_log *joins, const struct joining *joining)
{
	bool is_first_dropped = false, is_logged;

	pthread_mutex_lock(&joins->lock);
	is_logged = joining->refusal == JOIN_NOT_REFUSED || is_first(joins, joining);
	if (is_logged && joins->count >= JOIN_LOG_MOST) {
		is_first_dropped = joins->dropped++ == 0;
	} else if (is_logged) {
		struct waiting *waiting = copy_of(joining);

		if (joins->first == NULL)
			joins->first = waiting;
		else
			joins->last->next = waiting;
		joins->last = waiting;
		joins->count++;
	}
	pthread_mutex_unlock(&joins->lock);
	if (is_first_dropped)
		log_event(LOG_LEVEL_WARNING, "joins_dropped", "effect",
			  "some joins were not logged: too many were waiting", NULL);
}

/* ---- writing ---- */

static struct audit_entry event_of_joining(struct call *call, const struct media *media,
					   const struct joining *joining)
{
	const bool is_granted = joining->refusal == JOIN_NOT_REFUSED;
	const struct slice hash = media_code_hash(call->arena, media, joining->code);
	const struct slice room = id_as_text(call->arena, &joining->room);
	struct audit_data data = {
		.kind = "join",
		.id = room,
		.name = joining->room_name,
		.more = { { "room_id", room, false },
			  { "role", joining->role, false },
			  { "user_id", joining->user_id, false },
			  { "code_hash", hash, false } },
	};

	if (!is_granted)
		data.more[4] = (struct audit_member){
			"reason", slice_of(join_refusal_names[joining->refusal]), false
		};
	return (struct audit_entry){
		.time = joining->time,
		.id = uuid_as_text(call->arena, call->environment->clock),
		.type = slice_of(is_granted ? "join.granted" : "join.refused"),
		.actor = audit_actor_text(call->arena, ACTOR_CODE, hash),
		.request_id = joining->request_id,
		.data = audit_data_text(call->arena, &data),
	};
}

static bool is_of(const struct waiting *waiting, const struct id *account)
{
	return id_compare(&waiting->joining.account, account) == 0;
}

/* Writes events of the first entry's account, at most AT_ONCE, in one transaction. */
static bool write_some(const struct environment *environment, struct arena *arena,
		       const struct waiting *list, struct fault *fault)
{
	struct call call = {
		.environment = environment,
		.arena = arena,
		.account = list->joining.account,
		.now = clock_now(environment->clock),
	};
	struct audit_entry *entries = arena_alloc(arena, AT_ONCE * sizeof *entries);
	struct media media;
	uint64_t number;
	size_t n = 0;

	if (!store_begin(environment->store, STORE_WRITE, arena, &call.transaction, fault))
		return false;
	call_set_account(&call);
	if (media_load_lasting(&call, &media, fault)) {
		for (const struct waiting *at = list; at != NULL && n < AT_ONCE; at = at->next) {
			if (is_of(at, &call.account))
				entries[n++] = event_of_joining(&call, &media, &at->joining);
		}
		if (audit_put(&call, entries, n, fault))
			return store_commit(call.transaction, &number, fault);
	}
	store_abandon(call.transaction);
	return false;
}

/* Removes an entry from its list. */
static void remove_joining(struct join_log *joins, struct waiting **place)
{
	struct waiting *waiting = *place;

	*place = waiting->next;
	free(waiting);
	pthread_mutex_lock(&joins->lock);
	COUNTER_LOWER(joins->count, 1u);
	pthread_mutex_unlock(&joins->lock);
}

/* Removes the entries that write_some has written from the list. */
static struct waiting *without_written(struct join_log *joins, struct waiting *list)
{
	const struct id account = list->joining.account;
	struct waiting **place = &list;
	size_t n = 0;

	while (*place != NULL && n < AT_ONCE) {
		if (is_of(*place, &account)) {
			remove_joining(joins, place);
			n++;
		} else {
			place = &(*place)->next;
		}
	}
	return list;
}

void join_log_write(struct join_log *joins, const struct environment *environment)
{
	struct fault fault = FAULT_INITIAL;
	struct waiting *list, *last, **place = &list;
	struct arena *arena;

	pthread_mutex_lock(&joins->lock);
	list = joins->first;
	joins->first = joins->last = NULL;
	pthread_mutex_unlock(&joins->lock);
	/* Exchanges whose count never became durable: their response said that they failed. */
	while (*place != NULL) {
		const uint64_t number = (*place)->joining.number;

		if (number != 0 && store_state(environment->store, number) == STORE_FAILED)
			remove_joining(joins, place);
		else
			place = &(*place)->next;
	}
	if (list == NULL)
		return;

	arena = arena_open();
	while (list != NULL) {
		if (!write_some(environment, arena, list, &fault)) {
			if (fault.kind != FAULT_DAMAGED)
				break;
			/* Damage in one account loses its events, but must not prevent writing
			 * those of others. */
			log_event(LOG_LEVEL_ERROR, "joins_not_written", "cause",
				  fault_reason(&fault), NULL);
			fault = FAULT_INITIAL;
		}
		list = without_written(joins, list);
		arena_reset(arena);
	}
	arena_close(arena);

	/* What is left goes back in front of entries that were added since. */
	if (list != NULL) {
		last = list;
		while (last->next != NULL)
			last = last->next;
		pthread_mutex_lock(&joins->lock);
		last->next = joins->first;
		if (joins->first == NULL)
			joins->last = last;
		joins->first = list;
		pthread_mutex_unlock(&joins->lock);
	}
	store_flush(environment->store);
}
