/* See resources/live/live_queue.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/counter.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/live/live_record.h"

/* Media servers that wait in the list of those that have told something: it is gone through for each
 * event that is not needed. The next event of one that does not fit adds it. */
#define HEARD_BACKENDS_MOST 64

struct live_queue {
	int wake;
	pthread_mutex_t lock;
	/* Under the lock. */
	struct heard *heard, **heard_end;
	struct to_look_at *rooms, **rooms_end;
	struct touched_room *touched, **touched_end;
	size_t room_count, touched_count;
	struct heard_backend *backends;
	size_t backend_count;
	uint64_t number; /* of the last event */
	struct live_queue_figures figures;
};

struct live_queue *live_queue_open(void)
{
	struct live_queue *queue = memory_check(calloc(1, sizeof *queue));

	queue->heard_end = &queue->heard;
	queue->rooms_end = &queue->rooms;
	queue->touched_end = &queue->touched;
	queue->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->wake < 0 || pthread_mutex_init(&queue->lock, NULL) != 0)
		ABORT("cannot create a lock or thread");
	return queue;
}

void live_queue_close(struct live_queue *queue)
{
	struct live_queue_taken taken;

	if (queue == NULL)
		return;
	taken = live_queue_take(queue);
	while (taken.heard != NULL) {
		struct heard *next = taken.heard->next;

		free(taken.heard);
		taken.heard = next;
	}
	while (taken.rooms != NULL) {
		struct to_look_at *next = taken.rooms->next;

		free(taken.rooms);
		taken.rooms = next;
	}
	while (taken.touched != NULL) {
		struct touched_room *next = taken.touched->next;

		free(taken.touched);
		taken.touched = next;
	}
	while (queue->backends != NULL) {
		struct heard_backend *next = queue->backends->next;

		free(queue->backends);
		queue->backends = next;
	}
	pthread_mutex_destroy(&queue->lock);
	close(queue->wake);
	free(queue);
}

int live_queue_descriptor(const struct live_queue *queue)
{
	return queue->wake;
}

static void queue_wake(const struct live_queue *queue)
{
	if (eventfd_write(queue->wake, 1) != 0)
		ABORT("cannot write an event");
}

/* ---- adding ---- */

/* Cuts texts whose size a media server, or a person there, chooses. */
static struct heard *copy_event(const struct server_event *event)
{
	struct server_event kept = *event;
	struct slice *const texts[] = {
		&kept.room.name,       &kept.room.id,	     &kept.person.stay,
		&kept.person.identity, &kept.person.user_id, &kept.person.role,
		&kept.person.entry,    &kept.person.code,    &kept.person.name,
		&kept.person.metadata,
	};
	struct heard *heard;
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		*texts[i] = text_cut(*texts[i], LIVE_METADATA_MOST);
		size += texts[i]->size;
	}
	heard = memory_check(malloc(sizeof *heard + size));
	at = heard->text;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (texts[i]->size > 0)
			memcpy(at, texts[i]->data, texts[i]->size);
		texts[i]->data = at;
		at += texts[i]->size;
	}
	heard->event = kept;
	heard->next = NULL;
	return heard;
}

bool live_queue_hear(struct live_queue *queue, const struct id *account, const struct id *backend,
		     const struct id *room, const struct server_event *event, int64_t received)
{
	struct heard *heard = copy_event(event);
	bool has_room;

	heard->account = *account;
	heard->backend = *backend;
	heard->room = *room;
	heard->received = received;
	pthread_mutex_lock(&queue->lock);
	has_room = queue->figures.waiting < LIVE_QUEUE_MOST;
	queue->figures.ends[has_room ? HEARD_TAKEN : HEARD_TOO_MANY]++;
	if (has_room) {
		heard->number = ++queue->number;
		*queue->heard_end = heard;
		queue->heard_end = &heard->next;
		queue->figures.waiting++;
	}
	pthread_mutex_unlock(&queue->lock);
	if (!has_room)
		free(heard);
	else
		queue_wake(queue);
	return has_room;
}

void live_queue_hear_backend(struct live_queue *queue, const struct id *account,
			     const struct id *backend)
{
	struct heard_backend *added;
	bool is_new;

	pthread_mutex_lock(&queue->lock);
	added = queue->backends;
	while (added != NULL && id_compare(&added->backend, backend) != 0)
		added = added->next;
	is_new = added == NULL && queue->backend_count < HEARD_BACKENDS_MOST;
	if (is_new) {
		added = memory_check(malloc(sizeof *added));
		*added = (struct heard_backend){ queue->backends, *account, *backend };
		queue->backends = added;
		queue->backend_count++;
	}
	pthread_mutex_unlock(&queue->lock);
	if (is_new)
		queue_wake(queue);
}

void live_queue_look(struct live_queue *queue, const struct id *account, const struct id *backend,
		     const struct id *room)
{
	struct to_look_at *added = memory_check(malloc(sizeof *added));
	bool has_room;

	*added = (struct to_look_at){ NULL, *account, *backend, *room };
	pthread_mutex_lock(&queue->lock);
	has_room = queue->room_count < LIVE_QUEUE_MOST;
	if (has_room) {
		*queue->rooms_end = added;
		queue->rooms_end = &added->next;
		queue->room_count++;
	}
	pthread_mutex_unlock(&queue->lock);
	if (!has_room)
		free(added);
	else
		queue_wake(queue);
}

static void add_touched(struct live_queue *queue, struct touched_room touched)
{
	struct touched_room *added = memory_check(malloc(sizeof *added));
	bool has_room;

	*added = touched;
	pthread_mutex_lock(&queue->lock);
	has_room = queue->touched_count < LIVE_QUEUE_MOST;
	if (has_room) {
		*queue->touched_end = added;
		queue->touched_end = &added->next;
		queue->touched_count++;
	}
	pthread_mutex_unlock(&queue->lock);
	if (!has_room)
		free(added);
	else
		queue_wake(queue);
}

void live_queue_judge(struct live_queue *queue, const struct id *account, const struct id *room)
{
	add_touched(queue, (struct touched_room){ .account = *account, .room = *room });
}

void live_queue_tell(struct live_queue *queue, const struct id *account, const struct id *room)
{
	add_touched(queue,
		    (struct touched_room){ .account = *account, .room = *room, .is_door = true });
}

void live_queue_count(struct live_queue *queue, enum heard_end end)
{
	pthread_mutex_lock(&queue->lock);
	queue->figures.ends[end]++;
	pthread_mutex_unlock(&queue->lock);
}

/* ---- taking ---- */

struct live_queue_taken live_queue_take(struct live_queue *queue)
{
	struct live_queue_taken taken;
	eventfd_t ignored;

	(void)eventfd_read(queue->wake, &ignored);
	pthread_mutex_lock(&queue->lock);
	taken = (struct live_queue_taken){ queue->heard, queue->rooms, queue->touched };
	queue->heard = NULL;
	queue->heard_end = &queue->heard;
	queue->rooms = NULL;
	queue->rooms_end = &queue->rooms;
	queue->touched = NULL;
	queue->touched_end = &queue->touched;
	queue->room_count = queue->touched_count = 0;
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

void live_queue_forget(struct live_queue *queue, size_t n)
{
	pthread_mutex_lock(&queue->lock);
	COUNTER_LOWER(queue->figures.waiting, n);
	pthread_mutex_unlock(&queue->lock);
}

struct heard_backend *live_queue_take_backends(struct live_queue *queue)
{
	struct heard_backend *taken;

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
