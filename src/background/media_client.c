/* See background/media_client.h. Requests are in the queue (background/media_queue.h), and in the
 * places of the sender while they are under way.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/media_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "background/claims.h"
#include "background/media_queue.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"

/* Milliseconds: that a request waits for a place, and one that somebody makes for themselves; from
 * one survey of people to the next; that a survey takes at most; to wait if there is nothing to do;
 * after which the sender must have reported an outcome. */
#define WAIT_MOST 2000
#define OWN_WAIT_MOST 5000
#define SURVEY_AFTER 1000
#define SURVEY_MOST 2000
#define PAUSE 1000
#define SILENT_MOST 30000
/* How often a request that only reads is sent. */
#define TRIES_MOST 2

/* A room that calls survey, or have surveyed lately. */
struct surveyed_room {
	struct surveyed_room *next;
	struct id account, backend, room;
	int64_t began; /* when the last survey began */
	/* The call that surveys; NULL if it has its answers, or there is none. */
	struct asking *leader;
	struct asking *first, **end; /* calls for the next survey, linked by next_follower */
};

struct place {
	struct asked *asked; /* NULL: free */
	uint64_t number;
};

struct media_client {
	struct sender *sender;
	pthread_t thread;
	int wake; /* an eventfd */
	struct claims *claims;
	pthread_mutex_t lock;
	/* Under the lock. */
	struct media_queue *queue;
	struct surveyed_room *surveyed;
	struct asked *shared; /* those that others may share, until media_client_release */
	bool ends;
	struct media_figures figures; /* but the durations */
	struct histogram durations;
	/* Of the thread. */
	struct place places[SENDER_MEDIA_MOST];
	uint64_t number;
};

/* ---- the end of requests ---- */

static bool client_is_ending(struct media_client *client)
{
	bool ends;

	pthread_mutex_lock(&client->lock);
	ends = client->ends;
	pthread_mutex_unlock(&client->lock);
	return ends;
}

/* Counts that a request of a call has ended. The caller does not hold the lock. */
static void asking_count(struct media_client *client, struct asking *asking)
{
	bool is_last;

	pthread_mutex_lock(&client->lock);
	COUNTER_LOWER(asking->left, 1u);
	is_last = asking->left == 0;
	/* Those who ask from now on follow the next survey: this one may have missed them. */
	for (struct surveyed_room *room = client->surveyed;
	     is_last && asking->is_survey && room != NULL; room = room->next) {
		if (room->leader == asking)
			room->leader = NULL;
	}
	pthread_mutex_unlock(&client->lock);
	if (!is_last)
		return;
	asking->is_done = true;
	asking->done(asking->context, asking);
}

/* Gives a request the end of the one that it shares. */
static void copy_end(const struct asked *first, struct asked *sharer)
{
	sharer->end = first->end;
	sharer->outcome = first->outcome;
	sharer->took = first->took;
	if (first->outcome.answer == NULL)
		return;
	sharer->outcome.answer = memory_check(malloc(first->outcome.answer_size + 1));
	memcpy(sharer->outcome.answer, first->outcome.answer, first->outcome.answer_size);
}

/* The caller does not hold the lock. */
static void asked_end(struct media_client *client, struct asked *asked, enum asked_end end)
{
	struct asked *sharers;

	asked->end = end;
	pthread_mutex_lock(&client->lock);
	client->figures.ended[end]++;
	client->figures.failed += end == ASKED_ANSWERED &&
				  asked->outcome.failure != SENDER_NO_FAILURE;
	asked->has_ended = true;
	sharers = asked->sharers;
	asked->sharers = NULL;
	pthread_mutex_unlock(&client->lock);
	while (sharers != NULL) {
		struct asked *sharer = sharers;

		sharers = sharer->next;
		copy_end(asked, sharer);
		asking_count(client, sharer->of);
	}
	/* Other calls may read its outcome until media_client_release. */
	asking_count(client, asked->of);
}

static void place_free(struct media_client *client, struct place *place)
{
	pthread_mutex_lock(&client->lock);
	media_queue_end(client->queue, place->asked);
	COUNTER_LOWER(client->figures.under_way, 1u);
	pthread_mutex_unlock(&client->lock);
	place->asked = NULL;
}

/* ---- places ---- */

static void send_request(struct media_client *client, struct place *place, struct asked *asked)
{
	const struct server_request *request = &asked->request;
	const int64_t left = asked->of->until - clock_monotonic();
	struct delivery delivery = {
		.url = request->url,
		.headers = request->headers,
		.body = request->body,
		.answer_most = request->answer_most,
		.is_once = request->is_once,
		.method = request->method,
		.is_to_storage = request->is_to_storage,
		/* An answer is of no use to calls that have waited too long for it. */
		.patience = asked->of->until == 0 ? request->patience
			    : left > 1		  ? (unsigned)left
						  : 1,
	};

	/* The remainder of a number is its place. */
	client->number += SENDER_MEDIA_MOST;
	delivery.number = client->number + (uint64_t)(place - client->places);
	*place = (struct place){ .asked = asked, .number = delivery.number };
	asked->since = clock_monotonic();
	asked->tries++;
	/* If the process does not take it, sender_take says next that the process is lost. */
	if (!sender_give(client->sender, &delivery)) {
		place_free(client, place);
		asked_end(client, asked, ASKED_TOO_LARGE);
	}
}

/* Takes the requests that have waited too long or may be made, until there is none. */
static void fill_places(struct media_client *client)
{
	for (;;) {
		struct asked *asked;
		struct place *place = NULL;
		bool ends, is_late = true;

		/* While there is no process, requests wait. */
		for (size_t i = 0; i < SENDER_MEDIA_MOST && place == NULL &&
				   sender_descriptor(client->sender) >= 0;
		     i++) {
			if (client->places[i].asked == NULL)
				place = &client->places[i];
		}
		pthread_mutex_lock(&client->lock);
		ends = client->ends;
		asked = ends ? media_queue_take_any(client->queue)
			     : media_queue_take(client->queue, place != NULL, clock_monotonic(),
						&is_late);
		client->figures.under_way += asked != NULL && !is_late;
		pthread_mutex_unlock(&client->lock);
		if (asked == NULL)
			break;
		if (ends)
			asked_end(client, asked, ASKED_LOST);
		else if (!is_late)
			send_request(client, place, asked);
		else
			asked_end(client, asked, ASKED_BUSY);
	}
}

/* ---- outcomes ---- */

/* The process has ended with everything that was under way. */
static void lose_all(struct media_client *client)
{
	for (size_t i = 0; i < SENDER_MEDIA_MOST; i++) {
		struct asked *asked = client->places[i].asked;

		if (asked == NULL)
			continue;
		place_free(client, &client->places[i]);
		if (!asked->request.is_once && asked->tries < TRIES_MOST &&
		    !client_is_ending(client)) {
			const int64_t now = clock_monotonic();

			asked->until = now + WAIT_MOST;
			pthread_mutex_lock(&client->lock);
			(void)media_queue_add(client->queue, asked, false, now);
			pthread_mutex_unlock(&client->lock);
			continue;
		}
		asked->outcome.was_sent = true;
		asked->outcome.failure = SENDER_OTHER;
		asked_end(client, asked, ASKED_LOST);
	}
}

static void client_take_outcomes(struct media_client *client)
{
	const int64_t now = clock_monotonic();
	struct outcome outcome;
	enum sender_result taken;

	for (size_t i = 0; i < SENDER_MEDIA_MOST; i++) {
		const struct asked *asked = client->places[i].asked;

		if (asked == NULL || now - asked->since < SILENT_MOST)
			continue;
		log_event(LOG_LEVEL_ERROR, sender_of_media.event, "error", "it does not respond",
			  "effect", sender_of_media.waiting, NULL);
		sender_stop(client->sender);
		break;
	}
	while ((taken = sender_take(client->sender, &outcome)) != SENDER_NOTHING) {
		struct place *place;
		struct asked *asked;

		if (taken == SENDER_LOST) {
			lose_all(client);
			continue;
		}
		place = &client->places[outcome.number % SENDER_MEDIA_MOST];
		asked = place->asked;
		if (asked == NULL || place->number != outcome.number) {
			free(outcome.answer);
			continue;
		}
		asked->outcome = outcome;
		asked->took = clock_monotonic() - asked->since;
		histogram_add(&client->durations, (uint64_t)asked->took * 1000);
		place_free(client, place);
		asked_end(client, asked, ASKED_ANSWERED);
	}
}

/* ---- the same request of several calls ---- */

static bool is_same_request(const struct asked *a, const struct asked *b)
{
	return id_compare(&a->of->account, &b->of->account) == 0 &&
	       id_compare(&a->of->backend, &b->of->backend) == 0 &&
	       slice_equal(a->request.url, b->request.url) &&
	       slice_equal(a->request.body, b->request.body);
}

/* Lets the request share one of another call, which may have ended; then adds one to *ended.
 * Returns false if it is the first. The caller holds the lock. */
static bool share(struct media_client *client, struct asked *asked, size_t *ended)
{
	struct asked *first = client->shared;

	while (first != NULL && !is_same_request(first, asked))
		first = first->next_shared;
	if (first == NULL) {
		asked->is_first = true;
		asked->next_shared = client->shared;
		client->shared = asked;
		return false;
	}
	if (first->has_ended) {
		copy_end(first, asked);
		++*ended;
	} else {
		asked->next = first->sharers;
		first->sharers = asked;
	}
	return true;
}

/* ---- requests of calls ---- */

/* Adds the requests of a call to the queue. Returns how many have ended at once. The caller holds
 * the lock. */
static size_t queue_all(struct media_client *client, struct asking *asking, int64_t now)
{
	const bool is_full = media_queue_is_full(client->queue, &asking->account, asking->rank);
	const int64_t most = asking->rank == ASKED_FOR_ONESELF ? OWN_WAIT_MOST : WAIT_MOST;
	size_t ended = 0;

	for (size_t i = 0; i < asking->count; i++) {
		struct asked *asked = &asking->asked[i];

		asked->of = asking;
		asked->until = asking->until != 0	  ? asking->until
			       : asking->waits_until != 0 ? asking->waits_until
							  : now + most;
		if (asked->request.is_shared && share(client, asked, &ended))
			continue;
		if (media_queue_add(client->queue, asked, is_full, now) != QUEUE_REPLACED)
			continue;
		asked->is_replaced = true;
		asked->end = ASKED_REPLACED;
		ended++;
	}
	return ended;
}

/* ---- surveys of people ---- */

/* Returns the room of a survey. Removes rooms that nobody has surveyed lately. The caller holds the
 * lock. */
static struct surveyed_room *surveyed_room_of(struct media_client *client,
					      const struct asking *asking, int64_t now)
{
	struct surveyed_room **link = &client->surveyed, *room;

	while ((room = *link) != NULL) {
		if (id_compare(&room->room, &asking->room) == 0 &&
		    id_compare(&room->backend, &asking->backend) == 0 &&
		    id_compare(&room->account, &asking->account) == 0)
			return room;
		if (room->leader == NULL && room->first == NULL &&
		    now - room->began >= SURVEY_AFTER) {
			*link = room->next;
			free(room);
		} else {
			link = &room->next;
		}
	}
	room = memory_check(malloc(sizeof *room));
	*room = (struct surveyed_room){
		.account = asking->account,
		.backend = asking->backend,
		.room = asking->room,
		.began = now - SURVEY_AFTER,
	};
	room->end = &room->first;
	*link = room;
	return room;
}

/* Lets the first of the calls that wait survey the room, and the others follow it. The caller holds
 * the lock. */
static void survey_begin(struct media_client *client, struct surveyed_room *room, int64_t now)
{
	struct asking *asking = room->first;

	room->leader = asking;
	room->began = now;
	asking->followers = asking->next_follower;
	asking->next_follower = NULL;
	room->first = NULL;
	room->end = &room->first;
	(void)queue_all(client, asking, now);
}

/* Ends calls that had no survey of their own. The caller does not hold the lock. */
static void followers_end(struct asking *first)
{
	while (first != NULL) {
		struct asking *next = first->next_follower;

		for (size_t i = 0; i < first->count; i++)
			first->asked[i].end = ASKED_LOST;
		first->is_follower = true;
		first->is_done = true;
		first->done(first->context, first);
		first = next;
	}
}

/* ---- the thread ---- */

/* Milliseconds until something may be to be done although nothing happens. */
static int pause_of(struct media_client *client)
{
	const int64_t now = clock_monotonic();
	const int64_t key_due = claims_expire(client->claims, now);
	int64_t due;

	pthread_mutex_lock(&client->lock);
	due = media_queue_due(client->queue, now);
	if (key_due < due)
		due = key_due;
	for (const struct surveyed_room *room = client->surveyed; room != NULL; room = room->next) {
		if (room->first != NULL && room->leader == NULL && room->began + SURVEY_AFTER < due)
			due = room->began + SURVEY_AFTER;
	}
	pthread_mutex_unlock(&client->lock);
	if (due <= now)
		return 0;
	return due - now < PAUSE ? (int)(due - now) : PAUSE;
}

static void *run_client(void *context)
{
	struct media_client *client = context;
	struct asking *first = NULL;

	while (!client_is_ending(client)) {
		struct pollfd polled[] = {
			{ .fd = client->wake, .events = POLLIN },
			{ .fd = sender_descriptor(client->sender), .events = POLLIN },
		};
		eventfd_t ignored;
		int64_t now;

		(void)poll(polled, 2, pause_of(client));
		(void)eventfd_read(client->wake, &ignored);
		client_take_outcomes(client);

		/* The surveys whose time has come. */
		now = clock_monotonic();
		pthread_mutex_lock(&client->lock);
		for (struct surveyed_room *room = client->surveyed; room != NULL;
		     room = room->next) {
			if (room->first != NULL && room->leader == NULL &&
			    now - room->began >= SURVEY_AFTER)
				survey_begin(client, room, now);
		}
		pthread_mutex_unlock(&client->lock);
		fill_places(client);
	}
	lose_all(client);
	fill_places(client);

	/* The calls that wait for a survey. */
	pthread_mutex_lock(&client->lock);
	for (struct surveyed_room *room = client->surveyed; room != NULL; room = room->next) {
		*room->end = first;
		first = room->first;
		room->first = NULL;
		room->end = &room->first;
	}
	pthread_mutex_unlock(&client->lock);
	followers_end(first);
	claims_end_all(client->claims);
	return NULL;
}

static void client_wake(struct media_client *client)
{
	if (eventfd_write(client->wake, 1) != 0)
		ABORT("cannot write an event");
}

struct media_client *media_client_open(struct sender *sender)
{
	struct media_client *client = memory_check(calloc(1, sizeof *client));

	client->sender = sender;
	client->queue = media_queue_open();
	client->claims = claims_open();
	client->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (client->wake < 0 || pthread_mutex_init(&client->lock, NULL) != 0 ||
	    pthread_create(&client->thread, NULL, run_client, client) != 0)
		ABORT("cannot create a lock or thread");
	return client;
}

void media_client_close(struct media_client *client)
{
	if (client == NULL)
		return;
	pthread_mutex_lock(&client->lock);
	client->ends = true;
	pthread_mutex_unlock(&client->lock);
	client_wake(client);
	pthread_join(client->thread, NULL);
	pthread_mutex_destroy(&client->lock);
	close(client->wake);
	media_queue_close(client->queue);
	claims_close(client->claims);
	while (client->surveyed != NULL) {
		struct surveyed_room *next = client->surveyed->next;

		free(client->surveyed);
		client->surveyed = next;
	}
	free(client);
}

/* ---- what calls use ---- */

void media_client_ask(struct media_client *client, struct asking *asking,
		      void (*done)(void *context, struct asking *asking), void *context)
{
	const int64_t now = clock_monotonic();
	struct surveyed_room *room;
	size_t ended = 0;

	asking->client = client;
	asking->left = asking->count;
	asking->done = done;
	asking->context = context;
	asking->until = asking->ends_within != 0 ? now + asking->ends_within : 0;
	pthread_mutex_lock(&client->lock);
	if (!asking->is_survey) {
		ended = queue_all(client, asking, now);
	} else {
		room = surveyed_room_of(client, asking, now);
		asking->until = now + SURVEY_MOST;
		asking->followers = NULL;
		asking->next_follower = NULL;
		if (room->leader != NULL) {
			asking->next_follower = room->leader->followers;
			room->leader->followers = asking;
		} else {
			*room->end = asking;
			room->end = &asking->next_follower;
			if (now - room->began >= SURVEY_AFTER)
				survey_begin(client, room, now);
		}
	}
	pthread_mutex_unlock(&client->lock);
	client_wake(client);
	for (; ended > 0; ended--)
		asking_count(client, asking);
}

void media_client_release(struct asking *asking)
{
	struct media_client *client = asking->client;
	struct asking *followers = asking->followers;

	for (size_t i = 0; i < asking->count; i++) {
		struct asked *asked = &asking->asked[i], **link;

		if (asked->is_first) {
			/* No other call can share the request from now on. */
			pthread_mutex_lock(&client->lock);
			for (link = &client->shared; *link != asked;)
				link = &(*link)->next_shared;
			*link = asked->next_shared;
			pthread_mutex_unlock(&client->lock);
		}
		free(asked->outcome.answer);
		asked->outcome.answer = NULL;
	}
	asking->followers = NULL;
	followers_end(followers);
}

struct claims *media_client_claims(struct media_client *client)
{
	return client->claims;
}

void media_client_wait(struct media_client *client, struct asking *asking,
		       void (*done)(void *context, struct asking *asking), void *context)
{
	claims_wait(client->claims, asking, done, context);
	client_wake(client);
}

void media_client_figures(struct media_client *client, struct media_figures *figures)
{
	pthread_mutex_lock(&client->lock);
	*figures = client->figures;
	figures->waiting = media_queue_waiting(client->queue);
	pthread_mutex_unlock(&client->lock);
	histogram_read(&client->durations, &figures->durations);
}
