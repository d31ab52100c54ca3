/* See background/media_queue.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/media_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/memory.h"

/* Requests under way: of an account and to one of its media servers; how many of them are not
 * ASKED_TO_ENFORCE; and how many are ASKED_FOR_ONESELF. */
static const struct limits {
	size_t all, others, own;
} of_account = { 32, 24, 16 }, of_backend = { 8, 6, 4 };

/* Milliseconds for which is known when somebody has changed something, and what. */
#define PERSON_LASTS 5000

/* Somebody who changes something of themselves. */
struct person {
	struct person *next;
	struct id backend;
	int64_t changed; /* when the last change was sent; 0 if never */
	int64_t came[ASKED_PARTS]; /* the calls whose changes were sent last; INT64_MIN if none */
	size_t name_size;
	char name[];
};

/* An account that has asked for something. */
struct share {
	struct share *next;
	struct id account;
	struct asked *first, **end; /* those that wait, in the order in which they came */
	struct asked *sent; /* those that are under way */
	size_t waiting[ASKED_RANKS], under_way;
	struct person *people;
};

struct media_queue {
	struct share *shares;
	size_t waiting;
};

struct media_queue *media_queue_open(void)
{
	return memory_check(calloc(1, sizeof(struct media_queue)));
}

static void share_free(struct share *share)
{
	while (share->people != NULL) {
		struct person *next = share->people->next;

		free(share->people);
		share->people = next;
	}
	free(share);
}

void media_queue_close(struct media_queue *queue)
{
	if (queue == NULL)
		return;
	while (queue->shares != NULL) {
		struct share *next = queue->shares->next;

		assert(queue->shares->first == NULL && queue->shares->sent == NULL);
		share_free(queue->shares);
		queue->shares = next;
	}
	free(queue);
}

static struct share *share_find(const struct media_queue *queue, const struct id *account)
{
	struct share *share = queue->shares;

	while (share != NULL && id_compare(&share->account, account) != 0)
		share = share->next;
	return share;
}

static struct share *share_of(struct media_queue *queue, const struct id *account)
{
	struct share **link = &queue->shares, *share;

	while (*link != NULL && id_compare(&(*link)->account, account) != 0)
		link = &(*link)->next;
	if (*link != NULL)
		return *link;
	share = *link = memory_check(calloc(1, sizeof *share));
	share->account = *account;
	share->end = &share->first;
	return share;
}

/* ---- people who change something of themselves ---- */

static bool changes_oneself(const struct asked *asked)
{
	return asked->of->rank == ASKED_FOR_ONESELF && asked->request.room.size > 0;
}

static bool is_of_same_person(const struct asked *a, const struct asked *b)
{
	return id_compare(&a->of->backend, &b->of->backend) == 0 &&
	       slice_equal(a->of->person, b->of->person);
}

/* Returns the person, and forgets those who have changed nothing for long. */
static struct person *person_of(struct share *share, const struct asked *asked, int64_t now)
{
	const struct slice name = asked->of->person;
	struct person **link = &share->people, *person;

	while ((person = *link) != NULL) {
		if (id_compare(&person->backend, &asked->of->backend) == 0 &&
		    slice_equal((struct slice){ person->name, person->name_size }, name))
			return person;
		if (now - person->changed >= PERSON_LASTS) {
			*link = person->next;
			free(person);
		} else {
			link = &person->next;
		}
	}
	person = memory_check(malloc(sizeof *person + name.size));
	*person = (struct person){ .backend = asked->of->backend, .name_size = name.size };
	for (size_t i = 0; i < ASKED_PARTS; i++)
		person->came[i] = INT64_MIN;
	if (name.size > 0)
		memcpy(person->name, name.data, name.size);
	*link = person;
	return person;
}

static bool is_later(const struct asked *a, const struct asked *b)
{
	return a->of->came > b->of->came;
}

/* Returns true if all that the request sets has been set by later ones. */
static bool has_been_replaced(const struct person *person, const struct asked *asked)
{
	for (size_t i = 0; i < ASKED_PARTS; i++) {
		if ((asked->parts & 1U << i) != 0 && person->came[i] <= asked->of->came)
			return false;
	}
	return asked->parts != 0;
}

static void add_sharer(struct asked *first, struct asked *sharer)
{
	struct asked *own = sharer->sharers;

	sharer->sharers = NULL;
	sharer->is_replaced = true;
	sharer->next = first->sharers;
	first->sharers = sharer;
	while (own != NULL) {
		struct asked *next = own->next;

		own->next = first->sharers;
		first->sharers = own;
		own = next;
	}
}

/* Finds a later change in a list that sets all that this one does. */
static struct asked *find_later(struct asked *list, const struct asked *asked)
{
	while (list != NULL && !(changes_oneself(list) && is_of_same_person(list, asked) &&
				 is_later(list, asked) && (asked->parts & ~list->parts) == 0))
		list = list->next;
	return list;
}

static void share_put_in(struct media_queue *queue, struct share *share, struct asked **link,
			 struct asked *asked)
{
	asked->next = *link;
	*link = asked;
	if (asked->next == NULL)
		share->end = &asked->next;
	share->waiting[asked->of->rank]++;
	queue->waiting++;
}

static void share_take_out(struct media_queue *queue, struct share *share, struct asked **link)
{
	struct asked *asked = *link;

	*link = asked->next;
	if (asked->next == NULL)
		share->end = link;
	COUNTER_LOWER(share->waiting[asked->of->rank], 1u);
	COUNTER_LOWER(queue->waiting, 1u);
}

/* Lets the request wait in the place of the first one that it replaces. The others that it replaces
 * wait no longer. Returns false if there is none. */
static bool replace_earlier(struct media_queue *queue, struct share *share, struct asked *asked)
{
	struct asked **link = &share->first, *earlier;
	bool is_placed = false;

	while ((earlier = *link) != NULL) {
		if (!changes_oneself(earlier) || !is_of_same_person(earlier, asked) ||
		    is_later(earlier, asked) || earlier->parts == 0 ||
		    (earlier->parts & ~asked->parts) != 0) {
			link = &earlier->next;
			continue;
		}
		share_take_out(queue, share, link);
		add_sharer(asked, earlier);
		if (is_placed)
			continue;
		/* Somebody who changes something all the time has waited as long as the first
		 * change. */
		asked->until = earlier->until;
		share_put_in(queue, share, link, asked);
		link = &asked->next;
		is_placed = true;
	}
	return is_placed;
}

/* ---- adding ---- */

bool media_queue_is_full(const struct media_queue *queue, const struct id *account,
			 enum asked_rank rank)
{
	const struct share *share = share_find(queue, account);
	const size_t left = queue->waiting < QUEUE_MOST ? QUEUE_MOST - queue->waiting : 0;
	size_t most = left / 2, n = 0;

	if (most < QUEUE_ACCOUNT_LEAST)
		most = QUEUE_ACCOUNT_LEAST;
	if (most > QUEUE_ACCOUNT_MOST)
		most = QUEUE_ACCOUNT_MOST;
	for (size_t i = 0; share != NULL && i <= rank; i++)
		n += share->waiting[i];
	return n >= most;
}

enum queue_added media_queue_add(struct media_queue *queue, struct asked *asked, bool is_full,
				 int64_t now)
{
	struct share *share = share_of(queue, &asked->of->account);
	struct asked *later;

	if (changes_oneself(asked) && asked->parts != 0) {
		if (has_been_replaced(person_of(share, asked, now), asked))
			return QUEUE_REPLACED;
		later = find_later(share->first, asked);
		if (later == NULL)
			later = find_later(share->sent, asked);
		if (later != NULL) {
			add_sharer(later, asked);
			return QUEUE_SHARES;
		}
		if (replace_earlier(queue, share, asked))
			return QUEUE_WAITS;
	}
	if (is_full)
		asked->until = now;
	share_put_in(queue, share, share->end, asked);
	return QUEUE_WAITS;
}

/* ---- which one is next ---- */

static void count_one(struct limits *load, enum asked_rank rank)
{
	load->all++;
	load->others += rank != ASKED_TO_ENFORCE;
	load->own += rank == ASKED_FOR_ONESELF;
}

/* Returns true if the two belong to different calls whose changes go out one after another. Both
 * are for the same media server. */
static bool holds(const struct asked *sent, const struct asked *asked)
{
	if (sent->of == asked->of || sent->request.room.size == 0 || asked->request.room.size == 0)
		return false;
	if (changes_oneself(sent) || changes_oneself(asked))
		return changes_oneself(sent) && changes_oneself(asked) &&
		       is_of_same_person(sent, asked);
	return slice_equal(sent->request.room, asked->request.room);
}

static bool is_below(const struct limits *load, const struct limits *most, enum asked_rank rank)
{
	return load->all < most->all && (rank == ASKED_TO_ENFORCE || load->others < most->others) &&
	       (rank != ASKED_FOR_ONESELF || load->own < most->own);
}

/* Returns the time from which the request may be made. */
static int64_t time_for(struct share *share, const struct asked *asked, int64_t now)
{
	const struct person *person;

	if (!changes_oneself(asked))
		return now;
	person = person_of(share, asked, now);
	return person->changed == 0 ? now : person->changed + OWN_CHANGE_AFTER;
}

/* Returns the link to the request of the account that is next, or NULL if there is none. */
static struct asked **next_of(struct share *share, int64_t now)
{
	struct asked **best = NULL;
	size_t best_room = 0;

	for (struct asked **link = &share->first; *link != NULL; link = &(*link)->next) {
		const struct asked *asked = *link;
		const enum asked_rank rank = asked->of->rank;
		/* What the account, the media server and the room have under way. */
		struct limits account = { .all = 0 }, backend = { .all = 0 };
		size_t room = 0;
		bool is_held = false; /* by another call in the same room, or of the same person */

		if (best != NULL &&
		    ((*best)->of->rank < rank || ((*best)->of->rank == rank && best_room == 0)))
			continue;
		for (const struct asked *sent = share->sent; sent != NULL; sent = sent->next) {
			count_one(&account, sent->of->rank);
			if (id_compare(&sent->of->backend, &asked->of->backend) != 0)
				continue;
			count_one(&backend, sent->of->rank);
			room += id_compare(&sent->of->room, &asked->of->room) == 0;
			is_held = is_held || holds(sent, asked);
		}
		if (is_held || !is_below(&account, &of_account, rank) ||
		    !is_below(&backend, &of_backend, rank) || time_for(share, asked, now) > now ||
		    (best != NULL && (*best)->of->rank == rank && best_room <= room))
			continue;
		best = link;
		best_room = room;
	}
	return best;
}

static bool is_idle(struct share *share, int64_t now)
{
	if (share->first != NULL || share->sent != NULL)
		return false;
	for (const struct person *person = share->people; person != NULL; person = person->next) {
		if (now - person->changed < PERSON_LASTS)
			return false;
	}
	return true;
}

/* Takes a request that has waited too long. Forgets accounts that have asked for nothing lately. */
static struct asked *take_late(struct media_queue *queue, int64_t now)
{
	struct share **share = &queue->shares;

	while (*share != NULL) {
		struct share *idle = *share;

		for (struct asked **link = &idle->first; *link != NULL; link = &(*link)->next) {
			struct asked *late = *link;

			if (late->until > now)
				continue;
			share_take_out(queue, idle, link);
			return late;
		}
		if (is_idle(idle, now)) {
			*share = idle->next;
			share_free(idle);
		} else {
			share = &idle->next;
		}
	}
	return NULL;
}

struct asked *media_queue_take(struct media_queue *queue, bool has_place, int64_t now,
			       bool *is_late)
{
	struct asked *asked = take_late(queue, now), **best = NULL;
	struct share *of_best = NULL;
	struct person *person;

	*is_late = asked != NULL;
	if (asked != NULL || !has_place)
		return asked;
	for (struct share *share = queue->shares; share != NULL; share = share->next) {
		struct asked **next;

		if (share->first == NULL ||
		    (of_best != NULL && of_best->under_way <= share->under_way))
			continue;
		next = next_of(share, now);
		if (next == NULL)
			continue;
		best = next;
		of_best = share;
	}
	if (best == NULL)
		return NULL;
	asked = *best;
	share_take_out(queue, of_best, best);
	if (changes_oneself(asked)) {
		person = person_of(of_best, asked, now);
		person->changed = now;
		for (size_t i = 0; i < ASKED_PARTS; i++) {
			if ((asked->parts & 1U << i) != 0 && person->came[i] < asked->of->came)
				person->came[i] = asked->of->came;
		}
	}
	asked->next = of_best->sent;
	of_best->sent = asked;
	of_best->under_way++;
	return asked;
}

struct asked *media_queue_take_any(struct media_queue *queue)
{
	for (struct share *share = queue->shares; share != NULL; share = share->next) {
		struct asked *asked = share->first;

		if (asked == NULL)
			continue;
		share_take_out(queue, share, &share->first);
		return asked;
	}
	return NULL;
}

void media_queue_end(struct media_queue *queue, struct asked *asked)
{
	struct share *share = share_find(queue, &asked->of->account);
	struct asked **link = &share->sent;

	while (*link != asked)
		link = &(*link)->next;
	*link = asked->next;
	COUNTER_LOWER(share->under_way, 1u);
}

int64_t media_queue_due(struct media_queue *queue, int64_t now)
{
	int64_t due = INT64_MAX;

	for (struct share *share = queue->shares; share != NULL; share = share->next) {
		for (const struct asked *asked = share->first; asked != NULL; asked = asked->next) {
			const int64_t from = time_for(share, asked, now);

			due = asked->until < due ? asked->until : due;
			due = from > now && from < due ? from : due;
		}
	}
	return due;
}

size_t media_queue_waiting(const struct media_queue *queue)
{
	return queue->waiting;
}
