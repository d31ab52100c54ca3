/* Events that media servers send, and the queue in which they wait.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/live_watch.h"
#include "base/log.h"
#include "kit.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/stored/live_record.h"
#include "resources/stored/revocations.h"
#include "suite.h"

/* Queues events of this backend until one has to wait. Returns how many did not. */
static size_t fill_queue(const struct id *account, const struct id *id)
{
	struct server_event event = { .type = SERVER_JOINED };
	size_t n = 0;

	event.room = (struct server_room){ .name = SLICE("x"), .id = SLICE("RM_1") };
	event.person = (struct server_person){ .stay = SLICE("PA_1") };
	while (live_queue_add(stand.environment.live_queue, account, id, false, id, &event, 1))
		n++;
	return n;
}

static void free_rooms(struct queued_room *rooms)
{
	struct queued_room *next;

	for (struct queued_room *one = rooms; one != NULL; one = next) {
		next = one->next;
		queued_room_free(one);
	}
}

/* Who sends much leaves places to others: to the account's other backends, and to other
 * accounts. */
START_TEST(too_many_events_are_sent_again)
{
	const struct id ids[] = { { { 1 } }, { { 2 } }, { { 3 } } };
	struct live_queue_figures figures;
	struct received_event *received;
	struct live_queue_taken taken;
	size_t all, n;

	all = fill_queue(&stand.account.id, &ids[0]);
	ck_assert_uint_eq(all, LIVE_QUEUE_MOST / 2 / 4 * 3);
	n = fill_queue(&stand.account.id, &ids[1]);
	ck_assert_uint_ge(n, LIVE_QUEUE_SHARE);
	all += n;
	/* Other accounts fill the rest. */
	for (unsigned char i = 0; i < 40; i++) {
		const struct id other = { { 9, i } };

		n = fill_queue(&other, &ids[2]);
		ck_assert(n >= LIVE_QUEUE_SHARE || all + n == LIVE_QUEUE_MOST);
		all += n;
	}
	ck_assert_uint_eq(all, LIVE_QUEUE_MOST);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 503);
	ck_assert_int_eq(tell("x", joined_event("PA_1")), 401);
	/* What nobody needs does not wait. */
	ck_assert_int_eq(tell(NULL, "{\"event\":\"track_published\"}"), 204);
	live_queue_figures(stand.environment.live_queue, &figures);
	ck_assert_uint_eq(figures.ends[RECEIVED_TOO_MANY], 43);
	ck_assert_uint_eq(figures.ends[RECEIVED_REFUSED], 1);
	ck_assert_uint_eq(figures.ends[RECEIVED_IGNORED], 1);
	/* They count until they are merged. */
	taken = live_queue_take(stand.environment.live_queue);
	received = taken.received;
	free_rooms(taken.rooms);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 503);
	while (received != NULL) {
		struct received_event *next = received->next;

		live_queue_release(stand.environment.live_queue, &received->account,
				   &received->backend, 1);
		free(received);
		received = next;
	}
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
}
END_TEST

/* What is wanted of rooms is never lost: of one it is kept once, of too many it is wanted of
 * all. */
START_TEST(what_is_wanted_of_rooms_is_kept)
{
	struct live_queue *queue = stand.environment.live_queue;
	const struct id all = { { 0 } }, backend_id = { { 7 } }, other = { { 8 } };
	unsigned wants = 0;
	size_t n = 0;
	struct queued_room *next;

	/* The fixture has changed a media server. */
	for (struct queued_room *one = live_queue_take(queue).rooms; one != NULL; one = next) {
		next = one->next;
		ck_assert_uint_eq(one->wants, ROOM_BACKENDS);
		queued_room_free(one);
	}
	for (unsigned i = 0; i < 30000; i++) {
		const struct id id = { { 1, (unsigned char)(i >> 8), (unsigned char)i } };

		live_queue_survey(queue, &stand.account.id, &backend_id, &id);
		if (i % 2 == 0)
			live_queue_enforce(queue, &stand.account.id, &id);
		live_queue_enforce(queue, &other, &backend_id);
	}
	for (struct queued_room *one = live_queue_take(queue).rooms; one != NULL; one = next) {
		next = one->next;
		n++;
		if (id_compare(&one->account, &other) == 0)
			ck_assert(one->wants == ROOM_ENFORCE &&
				  id_compare(&one->room, &backend_id) == 0);
		else if (id_compare(&one->room, &all) == 0)
			wants = one->wants;
		else
			ck_assert_int_eq(id_compare(&one->backend, &backend_id), 0);
		queued_room_free(one);
	}
	ck_assert_uint_eq(n, LIVE_QUEUE_ROOMS + 2);
	ck_assert_uint_eq(wants, ROOM_SURVEY | ROOM_ENFORCE);
}
END_TEST

/* Damages the record of a room in session. */
static void damage_live(void)
{
	struct call call = { .environment = &stand.environment, .arena = arena_open() };
	struct fault fault = FAULT_INITIAL;
	struct live live;
	uint64_t number;
	struct id id;

	ck_assert(id_parse(slice_of(kit.room), &id));
	ck_assert(store_begin(stand.environment.store, STORE_WRITE, call.arena, &call.transaction,
			      &fault));
	store_set_account(call.transaction, &stand.account.id);
	ck_assert(live_load(&call, &id, STORE_TO_CHANGE, &live, &fault));
	live.closing = INT64_MAX;
	ck_assert(record_put(&live_table, call.transaction, &live, &fault) &&
		  store_commit(call.transaction, &number, &fault));
	arena_close(call.arena);
	store_flush(stand.environment.store);
}

#define HOSTS 1300

/* Has a crowd in the room, by the records: the media server has only the last one. */
static void make_crowd(struct call *call)
{
	struct report *reports = arena_zero(call->arena, HOSTS * sizeof *reports);
	struct merging merging = { .reports = reports, .count = HOSTS, .is_survey = true };
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(id_parse(slice_of(kit.room), &merging.room) &&
		  id_parse(slice_of(strrchr(backend_path, '/') + 1), &merging.backend));
	for (int i = 0; i < HOSTS; i++) {
		const bool is_last = i == HOSTS - 1;
		const struct slice name = slice_of(arena_text(call->arena, "n%d", i));

		reports[i].type = REPORT_LISTED;
		reports[i].time = call->now;
		reports[i].room = (struct server_room){ SLICE("x"), slice_of(kit.sid),
							kit.created };
		reports[i].person = (struct server_person){
			.stay = is_last ? SLICE("PA_1") : name,
			.identity = is_last ? SLICE("ada#1") : name,
			.user_id = name,
			.role = SLICE("host"),
			.entry = name,
			.code = SLICE(""),
			.name = name,
			.metadata = SLICE(""),
			.joined = call->now - 60000 + i,
		};
	}
	ck_assert_msg(live_merge(call, &merging, &fault), "%s", fault_reason(&fault));
	ck_assert(store_commit(call->transaction, &number, &fault));
	store_flush(stand.environment.store);
}

/* More people than one transaction takes: when the answer comes, all of their entries are dead. */
START_TEST(a_role_of_many_is_put_out)
{
	struct call call = {
		.environment = &stand.environment,
		.arena = arena_open(),
		.account = stand.account.id,
		.actor.kind = ACTOR_SERVICE,
		.now = clock_now(&clock_system),
	};
	struct fault fault = FAULT_INITIAL;
	size_t ordered = 0, revoked = 0;
	struct store_walk walk;
	struct peer peer;
	struct live live;
	struct id id;

	arena_set_limit(call.arena, (size_t)512 << 20);
	ck_assert(store_begin(stand.environment.store, STORE_WRITE, call.arena, &call.transaction,
			      &fault));
	call_set_account(&call);
	call_draw_etag(&call);
	make_crowd(&call);
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s/remove-peers", room_path),
		  "{\"role\":\"host\",\"reason\":\"r\"}");
	store_flush(stand.environment.store);
	ck_assert(id_parse(slice_of(kit.room), &id));
	ck_assert(store_begin(stand.environment.store, STORE_READ, call.arena, &call.transaction,
			      &fault));
	call_set_account(&call);
	ck_assert(live_load(&call, &id, STORE_TO_SHOW, &live, &fault));
	walk = peers_walk(&call, &live.session, STORE_ON, true, &fault);
	while (peers_next(&walk, &peer)) {
		struct revocation revocation;
		bool is_revoked;

		ordered += peer.order == LEAVE_REMOVED;
		ck_assert(revocation_find(&call, peer.entry, &revocation, &is_revoked, &fault));
		revoked += is_revoked;
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	ck_assert_uint_eq(ordered, HOSTS);
	ck_assert_uint_eq(revoked, HOSTS);
	store_abandon(call.transaction);
	arena_close(call.arena);
}
END_TEST

/* An event that cannot be stored does not hold up others, and is told of: also if the list of
 * rooms, asked for before, comes afterwards. */
START_TEST(an_event_that_cannot_be_stored_is_set_aside)
{
	const char *other = text_at(parsed(ask(200, METHOD_POST, "/v2/rooms", "{}")), "id");
	struct live_queue_figures figures = { .waiting = 1 };
	struct live_figures looks = { .backends_up = 0 };
	char former[25];

	pthread_mutex_lock(&kit.lock); /* the media server does not answer */
	start_watch();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	(void)ask_until(room_path, "\"peer_count\":1");
	damage_live();
	ck_assert_int_eq(tell(NULL, joined_event("PA_2")), 204);
	(void)snprintf(former, sizeof former, "%s", kit.room);
	(void)snprintf(kit.room, sizeof kit.room, "%s", other);
	ck_assert_int_eq(tell(NULL, joined_event("PA_3")), 204);
	(void)ask_until(arena_text(stand.arena, "/v2/active-rooms/%s", other), "\"peer_count\":1");
	(void)snprintf(kit.room, sizeof kit.room, "%s", former);
	while (figures.waiting > 0 || figures.set_aside == 0) {
		live_queue_figures(stand.environment.live_queue, &figures);
		(void)poll(NULL, 0, 10);
	}
	pthread_mutex_unlock(&kit.lock);
	while (looks.backends_up == 0) {
		live_watch_figures(watch, &looks);
		(void)poll(NULL, 0, 10);
	}
	ck_assert_str_eq(text_at(health_of(backend_path), "message"),
			 "an event could not be stored");
	ck_assert_uint_eq(figures.set_aside, 1);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, "/metrics", NULL),
				     "anteroom_live_events_set_aside_total 1"));
}
END_TEST

/* The key of the server, and what it keeps secret about a room. */
START_TEST(secrets_are_not_logged)
{
	static const char *const paths[] = { "/v2/sessions", "/v2/events?limit=100",
					     "/v2/backends" };
	const int errors = dup(STDERR_FILENO);
	FILE *log = tmpfile();
	char line[4096];

	ck_assert_ptr_nonnull(log);
	ck_assert_int_ge(dup2(fileno(log), STDERR_FILENO), 0);
	log_event(LOG_LEVEL_NOTICE, "begun", NULL);
	start_watch();
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	ck_assert_int_eq(tell(SECRET, joined_event("PA_1")), 401);
	(void)ask_until(room_path, "\"peer_count\":1");
	kit_set(TELLS_NONSENSE);
	(void)ask(502, METHOD_GET, peer_path(), NULL);
	kit_set(LACKS_EVERYBODY);
	(void)ask(404, METHOD_GET, peer_path(), NULL);
	restart_watch();
	(void)ask_until(backend_path, "\"state\":\"down\"");
	stop_watch();
	ck_assert_int_ge(dup2(errors, STDERR_FILENO), 0);
	close(errors);
	rewind(log);
	while (fgets(line, sizeof line, log) != NULL)
		ck_assert_msg(strstr(line, "hidden") == NULL && strstr(line, SECRET) == NULL, "%s",
			      line);
	ck_assert(ftell(log) > 0);
	fclose(log);
	for (size_t i = 0; i < ROWS(paths); i++)
		ck_assert_ptr_null(strstr(ask(200, METHOD_GET, paths[i], NULL), "hidden"));
}
END_TEST

START_TEST(with_live_off_events_are_not_read)
{
	struct live_queue_figures figures;

	stand.environment.live = LIVE_OFF;
	world_serve(&stand);
	ck_assert_int_eq(tell("x", joined_event("PA_1")), 204);
	ck_assert_int_eq(tell(NULL, joined_event("PA_1")), 204);
	live_queue_figures(stand.environment.live_queue, &figures);
	ck_assert_uint_eq(figures.waiting, 0);
	ck_assert_uint_eq(figures.ends[RECEIVED_REFUSED] + figures.ends[RECEIVED_IGNORED], 0);
	ck_assert_ptr_nonnull(strstr(ask(404, METHOD_GET, room_path, NULL), "session not found"));
}
END_TEST

void add_events(TCase *live)
{
	tcase_add_test(live, too_many_events_are_sent_again);
	tcase_add_test(live, what_is_wanted_of_rooms_is_kept);
	tcase_add_test(live, an_event_that_cannot_be_stored_is_set_aside);
	tcase_add_test(live, a_role_of_many_is_put_out);
	tcase_add_test(live, secrets_are_not_logged);
	tcase_add_test(live, with_live_off_events_are_not_read);
}
