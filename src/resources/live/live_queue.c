/* See resources/live/live_queue.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_queue.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/stored/live_record.h"

/* How many events of a media server wait; with a backend of zeros, of all of the account's. */
struct share {
	struct id account, backend; /* the key */
	size_t waiting;
};
/* Media servers in the list of those that have sent an event: the list is searched for each event
 * that is not needed. The next event of one that does not fit adds it. */
#define CONTACTS_MOST 64

struct live_queue {
	pthread_mutex_t lock;
	/* Under the lock. */
	struct received_event *received, **received_end;
	void *shares; /* of those that have events waiting (tsearch) */
	struct queued_room *rooms, **rooms_end;
	void *room_tree; /* of the same rooms (tsearch) */
	void *room_shares; /* their number, by account (tsearch) */
	struct backend_contact *backends;
	size_t backend_count;
	uint64_t number; /* of the last event */
	struct live_queue_figures figures;
};

static const struct id no_id;

/* ---- roles that have changed ---- */

bool notified_roles_have(const struct notified_roles *roles, const struct id *template_id,
			 uint32_t identity)
{
	for (size_t i = 0; i < roles->count && !roles->are_all; i++) {
		const struct notified_role *role = &roles->roles[i];

		if (id_compare(&role->template_id, template_id) == 0 &&
		    (role->identity == 0 || role->identity == identity))
			return true;
	}
	return roles->are_all;
}

void notified_roles_add(struct notified_roles *roles, const struct notified_role *role)
{
	struct notified_role added = *role;
	size_t kept = 0;

	if (notified_roles_have(roles, &role->template_id, role->identity))
		return;
	if (roles->count == NOTIFIED_ROLES_MOST)
		added.identity = 0;
	/* The template stands for those of its roles that are in the list. */
	for (size_t i = 0; i < roles->count && added.identity == 0; i++) {
		if (id_compare(&roles->roles[i].template_id, &added.template_id) != 0)
			roles->roles[kept++] = roles->roles[i];
	}
	if (added.identity == 0)
		roles->count = kept;
	roles->are_all = roles->count == NOTIFIED_ROLES_MOST;
	if (!roles->are_all)
		roles->roles[roles->count++] = added;
}

/* ---- the queue ---- */

void queued_room_free(struct queued_room *room)
{
	free(room->notified);
	free(room);
}

struct live_queue *live_queue_open(void)
{
	struct live_queue *queue = memory_check(calloc(1, sizeof *queue));

	queue->received_end = &queue->received;
	queue->rooms_end = &queue->rooms;
	if (pthread_mutex_init(&queue->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return queue;
}

void live_queue_close(struct live_queue *queue)
{
	struct live_queue_taken taken;

	if (queue == NULL)
		return;
	taken = live_queue_take(queue);
	while (taken.received != NULL) {
		struct received_event *next = taken.received->next;

		free(taken.received);
		taken.received = next;
	}
	while (taken.rooms != NULL) {
		struct queued_room *next = taken.rooms->next;

		queued_room_free(taken.rooms);
		taken.rooms = next;
	}
	tdestroy(queue->shares, free);
	while (queue->backends != NULL) {
		struct backend_contact *next = queue->backends->next;

		free(queue->backends);
		queue->backends = next;
	}
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* ---- shares ---- */

static int compare_shares(const void *first, const void *second)
{
	const struct share *a = first, *b = second;
	const int accounts = id_compare(&a->account, &b->account);

	return accounts != 0 ? accounts : id_compare(&a->backend, &b->backend);
}

static size_t waiting_of(void *const *shares, const struct id *account, const struct id *backend)
{
	const struct share key = { .account = *account, .backend = *backend };
	void *const *found = tfind(&key, shares, compare_shares);

	return found == NULL ? 0 : (*(const struct share *const *)found)->waiting;
}

static void share_add(void **shares, const struct id *account, const struct id *backend)
{
	const struct share key = { .account = *account, .backend = *backend };
	void *const *found = tfind(&key, shares, compare_shares);
	struct share *share;

	if (found == NULL) {
		share = memory_check(malloc(sizeof *share));
		*share = key;
		(void)memory_check(tsearch(share, shares, compare_shares));
	} else {
		share = *(struct share *const *)found;
	}
	share->waiting++;
}

static void share_take(void **shares, const struct id *account, const struct id *backend, size_t n)
{
	const struct share key = { .account = *account, .backend = *backend };
	void *const *found = tfind(&key, shares, compare_shares);
	struct share *share = found == NULL ? NULL : *(struct share *const *)found;

	if (share == NULL)
		return;
	COUNTER_LOWER(share->waiting, n);
	if (share->waiting > 0)
		return;
	(void)tdelete(share, shares, compare_shares);
	free(share);
}

/* Returns true if another event of the backend may wait. The caller holds the lock. */
static bool has_room(const struct live_queue *queue, const struct id *account,
		     const struct id *backend)
{
	const size_t all = (size_t)queue->figures.waiting;
	const size_t own = waiting_of(&queue->shares, account, &no_id);
	const size_t here = waiting_of(&queue->shares, account, backend);
	const size_t share = (LIVE_QUEUE_MOST - (all - own)) / 2;

	if (all >= LIVE_QUEUE_MOST)
		return false;
	if (here < LIVE_QUEUE_SHARE && own < share)
		return true;
	if (own < LIVE_QUEUE_SHARE)
		return true;
	return own < share && here < (share - (own - here)) / 4 * 3;
}

/* ---- adding ---- */

/* Cuts texts whose size a media server, or a person there, chooses. */
static struct received_event *copy_event(const struct server_event *event)
{
	struct server_event kept = *event;
	struct slice *const texts[] = {
		&kept.room.name,	   &kept.room.id,
		&kept.person.stay,	   &kept.person.identity,
		&kept.person.user_id,	   &kept.person.role,
		&kept.person.entry,	   &kept.person.code,
		&kept.person.name,	   &kept.person.metadata,
		&kept.person.consent_text,
	};
	struct received_event *received;
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		*texts[i] = text_cut(*texts[i], LIVE_METADATA_MOST);
		size += texts[i]->size;
	}
	received = memory_check(malloc(sizeof *received + size));
	at = received->text;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (texts[i]->size > 0)
			memcpy(at, texts[i]->data, texts[i]->size);
		texts[i]->data = at;
		at += texts[i]->size;
	}
	received->event = kept;
	received->next = NULL;
	received->tries = 0;
	return received;
}

bool live_queue_add(struct live_queue *queue, const struct id *account, const struct id *backend,
		    bool is_in_pool, const struct id *room, const struct server_event *event,
		    int64_t at)
{
	struct received_event *received = copy_event(event);
	bool is_taken;

	received->account = *account;
	received->backend = *backend;
	received->is_in_pool = is_in_pool;
	received->room = *room;
	received->at = at;
	pthread_mutex_lock(&queue->lock);
	is_taken = has_room(queue, account, backend);
	queue->figures.ends[is_taken ? RECEIVED_TAKEN : RECEIVED_TOO_MANY]++;
	if (is_taken) {
		received->number = ++queue->number;
		*queue->received_end = received;
		queue->received_end = &received->next;
		queue->figures.waiting++;
		share_add(&queue->shares, account, &no_id);
		share_add(&queue->shares, account, backend);
	}
	pthread_mutex_unlock(&queue->lock);
	if (!is_taken)
		free(received);
	return is_taken;
}

static int compare_rooms(const void *first, const void *second)
{
	const struct queued_room *a = first, *b = second;
	const int accounts = id_compare(&a->account, &b->account);

	return accounts != 0 ? accounts : id_compare(&a->room, &b->room);
}

/* Nothing that is wanted is ever lost: beyond LIVE_QUEUE_ROOMS, it is wanted of all rooms. role: to
 * be notified, or NULL. */
static void add_room(struct live_queue *queue, struct queued_room wanted,
		     const struct notified_role *role)
{
	void *const *found;
	struct queued_room *room;

	pthread_mutex_lock(&queue->lock);
	found = tfind(&wanted, &queue->room_tree, compare_rooms);
	if (found == NULL &&
	    waiting_of(&queue->room_shares, &wanted.account, &no_id) >= LIVE_QUEUE_ROOMS) {
		wanted.room = wanted.backend = no_id;
		found = tfind(&wanted, &queue->room_tree, compare_rooms);
	}
	if (found != NULL) {
		room = *(struct queued_room *const *)found;
		room->wants |= wanted.wants;
		if (id_compare(&wanted.backend, &no_id) != 0)
			room->backend = wanted.backend;
	} else {
		room = memory_check(malloc(sizeof *room));
		*room = wanted;
		*queue->rooms_end = room;
		queue->rooms_end = &room->next;
		(void)memory_check(tsearch(room, &queue->room_tree, compare_rooms));
		share_add(&queue->room_shares, &wanted.account, &no_id);
	}
	if (role != NULL && room->notified == NULL)
		room->notified = memory_check(calloc(1, sizeof *room->notified));
	if (role != NULL)
		notified_roles_add(room->notified, role);
	pthread_mutex_unlock(&queue->lock);
}

void live_queue_note_contact(struct live_queue *queue, const struct id *account,
			     const struct id *backend)
{
	struct backend_contact *added;

	pthread_mutex_lock(&queue->lock);
	added = queue->backends;
	while (added != NULL && id_compare(&added->backend, backend) != 0)
		added = added->next;
	if (added == NULL && queue->backend_count < CONTACTS_MOST) {
		added = memory_check(malloc(sizeof *added));
		*added = (struct backend_contact){ queue->backends, *account, *backend };
		queue->backends = added;
		queue->backend_count++;
	}
	pthread_mutex_unlock(&queue->lock);
}

void live_queue_survey(struct live_queue *queue, const struct id *account, const struct id *backend,
		       const struct id *room)
{
	const struct queued_room wanted = {
		.account = *account,
		.room = *room,
		.backend = *backend,
		.wants = ROOM_SURVEY,
	};

	add_room(queue, wanted, NULL);
}

void live_queue_want(struct live_queue *queue, const struct id *account, const struct id *room,
		     unsigned wants)
{
	const struct queued_room wanted = { .account = *account, .room = *room, .wants = wants };

	add_room(queue, wanted, NULL);
}

void live_queue_enforce(struct live_queue *queue, const struct id *account, const struct id *room)
{
	live_queue_want(queue, account, room, ROOM_ENFORCE);
}

void live_queue_notify(struct live_queue *queue, const struct id *account, const struct id *room)
{
	live_queue_want(queue, account, room, ROOM_NOTIFY);
}

void live_queue_notify_role(struct live_queue *queue, const struct id *account,
			    const struct notified_role *role)
{
	const struct queued_room wanted = { .account = *account, .wants = ROOM_NOTIFY_ROLES };

	add_room(queue, wanted, role);
}

void live_queue_count(struct live_queue *queue, enum received_end end)
{
	pthread_mutex_lock(&queue->lock);
	queue->figures.ends[end]++;
	pthread_mutex_unlock(&queue->lock);
}

/* ---- taking ---- */

/* The rooms are in the list, too. */
static void free_nothing(void *room)
{
	(void)room;
}

struct live_queue_taken live_queue_take(struct live_queue *queue)
{
	struct live_queue_taken taken;

	pthread_mutex_lock(&queue->lock);
	taken = (struct live_queue_taken){ queue->received, queue->rooms };
	queue->received = NULL;
	queue->received_end = &queue->received;
	queue->rooms = NULL;
	queue->rooms_end = &queue->rooms;
	tdestroy(queue->room_tree, free_nothing);
	queue->room_tree = NULL;
	tdestroy(queue->room_shares, free);
	queue->room_shares = NULL;
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

void live_queue_release(struct live_queue *queue, const struct id *account,
			const struct id *backend, size_t n)
{
	pthread_mutex_lock(&queue->lock);
	COUNTER_LOWER(queue->figures.waiting, n);
	share_take(&queue->shares, account, &no_id, n);
	share_take(&queue->shares, account, backend, n);
	pthread_mutex_unlock(&queue->lock);
}

void live_queue_set_aside(struct live_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->figures.set_aside++;
	pthread_mutex_unlock(&queue->lock);
}

struct backend_contact *live_queue_take_contacts(struct live_queue *queue)
{
	struct backend_contact *taken;

	pthread_mutex_lock(&queue->lock);
	taken = queue->backends;
	queue->backends = NULL;
	queue->backend_count = 0;
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

void live_queue_figures(struct live_queue *queue, struct live_queue_figures *figures)
{
	pthread_mutex_lock(&queue->lock);
	*figures = queue->figures;
	pthread_mutex_unlock(&queue->lock);
}
