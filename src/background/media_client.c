/* See background/media_client.h. Requests are in one list in the order in which they came, and in
 * the places of the sender while they are under way.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/media_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counter.h"
#include "base/log.h"
#include "base/memory.h"

#define BACKEND_MOST 8
#define ACCOUNT_MOST 32
/* Requests that may wait: of an account, and of all. */
#define ACCOUNT_WAITING_MOST 256
#define WAITING_MOST 4096
/* Milliseconds: that a request waits for a place; to wait if there is nothing to do; after which
 * the sender must have reported an outcome. */
#define WAIT_MOST 2000
#define PAUSE 1000
#define SILENT_MOST 30000
/* How often a request that only reads is sent. */
#define TRIES_MOST 2

struct place {
	struct asked *asked; /* NULL: free */
	uint64_t number;
};

struct media_client {
	struct sender *sender;
	pthread_t thread;
	int wake; /* an eventfd */
	pthread_mutex_t lock;
	/* Under the lock. */
	struct asked *first, **end; /* those that wait */
	struct asked *shared; /* those that others may share, until they are forgotten */
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
	/* Others may still read its outcome until it is forgotten. */
	asking_count(client, asked->of);
}

static void place_free(struct media_client *client, struct place *place)
{
	place->asked = NULL;
	pthread_mutex_lock(&client->lock);
	COUNTER_LOWER(client->figures.under_way, 1u);
	pthread_mutex_unlock(&client->lock);
}

static void append_waiting(struct media_client *client, struct asked *asked, int64_t since)
{
	asked->next = NULL;
	asked->since = since;
	*client->end = asked;
	client->end = &asked->next;
	client->figures.waiting++;
}

/* ---- places ---- */

/* Returns true if the two belong to different calls that change something in the same room. */
static bool changes_same_room(const struct asked *a, const struct asked *b)
{
	return a->request.room.size > 0 && slice_equal(a->request.room, b->request.room) &&
	       a->of != b->of && id_compare(&a->of->backend, &b->of->backend) == 0;
}

/* Returns a free place that this request may have, or NULL. */
static struct place *place_for(struct media_client *client, const struct asked *asked)
{
	struct place *found = NULL;
	size_t backend = 0, account = 0;

	/* While there is no process, requests wait. */
	if (sender_descriptor(client->sender) < 0)
		return NULL;
	for (size_t i = 0; i < SENDER_MEDIA_MOST; i++) {
		const struct asked *other = client->places[i].asked;

		if (other == NULL) {
			found = &client->places[i];
			continue;
		}
		if (changes_same_room(other, asked))
			return NULL;
		account += id_compare(&other->of->account, &asked->of->account) == 0;
		backend += id_compare(&other->of->backend, &asked->of->backend) == 0 &&
			   id_compare(&other->of->account, &asked->of->account) == 0;
	}
	return backend < BACKEND_MOST && account < ACCOUNT_MOST ? found : NULL;
}

/* Takes the first request that has waited too long or may have a place. Returns NULL if there is
 * none. */
static struct asked *take_waiting(struct media_client *client, struct place **place)
{
	const int64_t now = clock_monotonic();
	struct asked **link, *asked;

	pthread_mutex_lock(&client->lock);
	for (link = &client->first; (asked = *link) != NULL; link = &asked->next) {
		*place = place_for(client, asked);
		if (*place != NULL || now - asked->since >= WAIT_MOST || client->ends)
			break;
	}
	if (asked != NULL) {
		*link = asked->next;
		if (asked->next == NULL)
			client->end = link;
		COUNTER_LOWER(client->figures.waiting, 1u);
		client->figures.under_way += *place != NULL && !client->ends;
	}
	pthread_mutex_unlock(&client->lock);
	return asked;
}

static void send_request(struct media_client *client, struct place *place, struct asked *asked)
{
	const struct server_request *request = &asked->request;
	struct delivery delivery = {
		.url = request->url,
		.headers = request->headers,
		.body = request->body,
		.answer_most = request->answer_most,
		.is_once = request->is_once,
		.patience = request->patience,
	};

	/* The remainder of a number is its place. */
	client->number += SENDER_MEDIA_MOST;
	delivery.number = client->number + (uint64_t)(place - client->places);
	*place = (struct place){ .asked = asked, .number = delivery.number };
	asked->since = clock_monotonic();
	asked->tries++;
	/* If the process does not take it, sender_take says next that the process is lost. */
	(void)sender_give(client->sender, &delivery);
}

static void fill_places(struct media_client *client)
{
	struct place *place;
	struct asked *asked;

	while ((asked = take_waiting(client, &place)) != NULL) {
		if (client_is_ending(client))
			asked_end(client, asked, ASKED_LOST);
		else if (place != NULL)
			send_request(client, place, asked);
		else
			asked_end(client, asked, ASKED_BUSY);
	}
}

/* ---- outcomes ---- */

static void take_outcome(struct media_client *client, const struct outcome *outcome)
{
	struct place *place = &client->places[outcome->number % SENDER_MEDIA_MOST];
	struct asked *asked = place->asked;

	if (asked == NULL || place->number != outcome->number) {
		free(outcome->answer);
		return;
	}
	asked->outcome = *outcome;
	asked->took = clock_monotonic() - asked->since;
	histogram_add(&client->durations, (uint64_t)asked->took * 1000);
	place_free(client, place);
	asked_end(client, asked, ASKED_ANSWERED);
}

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
			pthread_mutex_lock(&client->lock);
			append_waiting(client, asked, clock_monotonic());
			pthread_mutex_unlock(&client->lock);
			continue;
		}
		asked->outcome.was_sent = true;
		asked->outcome.failure = SENDER_OTHER;
		asked_end(client, asked, ASKED_LOST);
	}
}

static bool is_silent(const struct media_client *client)
{
	const int64_t now = clock_monotonic();

	for (size_t i = 0; i < SENDER_MEDIA_MOST; i++) {
		if (client->places[i].asked != NULL &&
		    now - client->places[i].asked->since >= SILENT_MOST)
			return true;
	}
	return false;
}

static void client_take_outcomes(struct media_client *client)
{
	struct outcome outcome;
	enum sender_news news;

	if (is_silent(client)) {
		log_event(LOG_LEVEL_ERROR, sender_of_media.event, "error", "it does not respond",
			  "effect", sender_of_media.waiting, NULL);
		sender_stop(client->sender);
	}
	while ((news = sender_take(client->sender, &outcome)) != SENDER_NOTHING) {
		if (news == SENDER_LOST)
			lose_all(client);
		else
			take_outcome(client, &outcome);
	}
}

/* ---- the thread ---- */

/* Milliseconds until the first waiting request has waited too long. */
static int pause_of(struct media_client *client)
{
	int64_t pause = PAUSE;

	pthread_mutex_lock(&client->lock);
	if (client->first != NULL)
		pause = client->first->since + WAIT_MOST - clock_monotonic();
	pthread_mutex_unlock(&client->lock);
	return pause < 0 ? 0 : pause < PAUSE ? (int)pause : PAUSE;
}

static void *run_client(void *context)
{
	struct media_client *client = context;

	while (!client_is_ending(client)) {
		struct pollfd polled[] = {
			{ .fd = client->wake, .events = POLLIN },
			{ .fd = sender_descriptor(client->sender), .events = POLLIN },
		};
		eventfd_t ignored;

		(void)poll(polled, 2, pause_of(client));
		(void)eventfd_read(client->wake, &ignored);
		client_take_outcomes(client);
		fill_places(client);
	}
	lose_all(client);
	fill_places(client);
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
	client->end = &client->first;
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
	free(client);
}

/* The caller holds the lock. */
static bool has_too_many(const struct media_client *client, const struct id *account)
{
	size_t n = 0;

	for (const struct asked *asked = client->first; asked != NULL; asked = asked->next)
		n += id_compare(&asked->of->account, account) == 0;
	return n >= ACCOUNT_WAITING_MOST || client->figures.waiting >= WAITING_MOST;
}

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

void media_client_ask(struct media_client *client, struct asking *asking,
		      void (*done)(void *context, struct asking *asking), void *context)
{
	int64_t since = clock_monotonic();
	size_t ended = 0;

	asking->client = client;
	asking->left = asking->count;
	asking->done = done;
	asking->context = context;
	pthread_mutex_lock(&client->lock);
	/* Those beyond have waited long enough from the start. */
	if (has_too_many(client, &asking->account))
		since -= WAIT_MOST;
	for (size_t i = 0; i < asking->count; i++) {
		struct asked *asked = &asking->asked[i];

		asked->of = asking;
		if (!asked->request.is_shared || !share(client, asked, &ended))
			append_waiting(client, asked, since);
	}
	pthread_mutex_unlock(&client->lock);
	client_wake(client);
	for (; ended > 0; ended--)
		asking_count(client, asking);
}

void media_client_forget(struct asking *asking)
{
	struct media_client *client = asking->client;

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
}

void media_client_figures(struct media_client *client, struct media_figures *figures)
{
	pthread_mutex_lock(&client->lock);
	*figures = client->figures;
	pthread_mutex_unlock(&client->lock);
	histogram_read(&client->durations, &figures->durations);
}
