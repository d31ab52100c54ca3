/* Meetings at random: whatever order reports arrive in, the records become what is true.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>

#include "directory.h"
#include "records/kinds.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/live/live_events.h"
#include "script.h"
#include "suite.h"

#define RUNS 10
#define MEETINGS 20
#define STEPS 14
#define PENDING_MOST 400

/* An event that is on its way. */
struct pending {
	struct report report;
	int64_t due;
};

/* A room of a media server, and the events that it sends. */
struct simulation {
	struct script *script;
	uint64_t seed;
	bool are_inside[STAYS_MOST]; /* by the index of the stay in the script */
	bool were_listed[STAYS_MOST];
	bool are_late[STAYS_MOST]; /* an event arrives in a later meeting */
	int64_t left[STAYS_MOST];
	struct pending pending[PENDING_MOST];
	size_t pending_count;
	struct report delivered[PENDING_MOST]; /* in this meeting */
	size_t delivered_count;
};

static bool happens(struct simulation *simulation, unsigned percent)
{
	return chance_below(&simulation->seed, 100) < percent;
}

static void post(struct simulation *simulation, const struct report *report, int64_t most)
{
	ck_assert_uint_lt(simulation->pending_count, PENDING_MOST);
	simulation->pending[simulation->pending_count++] = (struct pending){
		.report = *report,
		.due = now() + (int64_t)chance_below(&simulation->seed, (uint64_t)most),
	};
}

/* Half of the events are lost; some come twice, or in the next meeting. */
static void send_event(struct simulation *simulation, enum report_type type, size_t stay)
{
	struct script *script = simulation->script;
	const struct report report = report_of(
		script, type, type == REPORT_ENDED ? SLICE("") : script->stays[stay].name);

	if (happens(simulation, 50))
		return;
	post(simulation, &report, 3000);
	if (happens(simulation, 20))
		post(simulation, &report, 10000);
	if (type != REPORT_ENDED && happens(simulation, 10)) {
		simulation->are_late[stay] = true;
		post(simulation, &report, 1);
		simulation->pending[simulation->pending_count - 1].due += 100000;
	}
}

/* Merges what has arrived, in a random order, as one batch or one by one. */
static void deliver(struct simulation *simulation)
{
	struct report batch[PENDING_MOST];
	struct merging merging = { .reports = batch };
	const bool is_batch = happens(simulation, 50);

	for (size_t i = 0; i < simulation->pending_count;) {
		struct pending *pending = &simulation->pending[i];

		if (pending->due > now()) {
			i++;
			continue;
		}
		batch[merging.count++] = pending->report;
		*pending = simulation->pending[--simulation->pending_count];
	}
	for (size_t i = 0; i < merging.count; i++) {
		const size_t j = i + chance_below(&simulation->seed, merging.count - i);
		const struct report report = batch[j];

		batch[j] = batch[i];
		batch[i] = report;
		if (simulation->delivered_count < PENDING_MOST)
			simulation->delivered[simulation->delivered_count++] = report;
		if (!is_batch)
			merge_report(simulation->script, &report);
	}
	if (is_batch && merging.count > 0)
		merge(simulation->script, &merging);
}

static struct slice list_people(struct simulation *simulation)
{
	struct buffer text = BUFFER_INITIAL(stand.arena);

	for (size_t i = 0; i < simulation->script->stay_count; i++) {
		if (!simulation->are_inside[i])
			continue;
		buffer_append_text(&text, text.size > 0 ? "," : "");
		buffer_append(&text, simulation->script->stays[i].name);
		simulation->were_listed[i] = true;
	}
	return buffer_slice(&text);
}

static void simulate_join(struct simulation *simulation)
{
	struct script *script = simulation->script;
	const size_t stay = script->stay_count;

	(void)find_known(script, slice_of(arena_text(stand.arena, "s%zu", stay)));
	simulation->are_inside[stay] = true;
	send_event(simulation, REPORT_JOINED, stay);
}

static void simulate_leave(struct simulation *simulation, size_t stay)
{
	if (!simulation->are_inside[stay])
		return;
	simulation->are_inside[stay] = false;
	simulation->left[stay] = now();
	send_event(simulation, REPORT_LEFT, stay);
}

static void simulate_end(struct simulation *simulation)
{
	for (size_t i = 0; i < simulation->script->stay_count; i++)
		simulate_leave(simulation, i);
	send_event(simulation, REPORT_ENDED, 0);
}

static size_t count_inside(const struct simulation *simulation)
{
	size_t inside = 0;

	for (size_t i = 0; i < simulation->script->stay_count; i++)
		inside += simulation->are_inside[i];
	return inside;
}

static void survey_twice(struct simulation *simulation)
{
	say_survey(simulation->script, list_people(simulation));
	world_move(&stand, 6000);
	say_survey(simulation->script, list_people(simulation));
}

/* The answer to a survey that was sent at this time arrives. */
static void survey_late(struct simulation *simulation, struct slice list, int64_t surveyed)
{
	simulation->script->late = now() - surveyed;
	say_survey(simulation->script, list);
	simulation->script->late = 0;
}

/* Expects those to be inside of whom this is true, each once. */
static void expect_truth(struct simulation *simulation)
{
	const struct script *script = simulation->script;
	const size_t inside = count_inside(simulation);
	struct fault fault = FAULT_INITIAL;
	struct live live;
	struct call call;

	begin(&call);
	ck_assert(live_load(&call, &script->room, STORE_TO_CHANGE, &live, &fault));
	ck_assert_uint_eq(live_peers(&live), inside);
	ck_assert(inside == 0 || live.stored.value.data != NULL);
	for (size_t i = 0; i < script->stay_count; i++) {
		const struct slice name = script->stays[i].name;
		const struct peer peer = get_peer(script, &call, name, 0);
		const int64_t off = peer.left - simulation->left[i];

		ck_assert(peer.stored.value.data != NULL || !simulation->were_listed[i]);
		ck_assert_int_eq(peer.stored.value.data != NULL && peer.is_inside,
				 simulation->are_inside[i]);
		ck_assert_ptr_null(get_peer(script, &call, name, 1).stored.value.data);
		if (peer.stored.value.data == NULL)
			continue;
		/* Nobody joins a session that has closed. */
		ck_assert_int_le(peer.joined, script->stays[i].joined);
		ck_assert(peer.joined == script->stays[i].joined || peer.joined == peer.left);
		ck_assert(peer.is_inside || simulation->are_late[i] ||
			  (-35000 <= off && off <= 35000));
	}
	world_abandon(&call);
}

static void simulate_meeting(struct simulation *simulation)
{
	struct script *script = simulation->script;
	struct slice list = SLICE("");
	int64_t listed = 0;

	script->server_room++;
	simulation->delivered_count = 0;
	for (int step = 0; step < STEPS; step++) {
		world_move(&stand, 1 + (int64_t)chance_below(&simulation->seed, 4000));
		if (listed != 0)
			survey_late(simulation, list, listed);
		listed = 0;
		if (happens(simulation, 60))
			simulate_join(simulation);
		if (happens(simulation, 50) && script->stay_count > 0)
			simulate_leave(simulation,
				       chance_below(&simulation->seed, script->stay_count));
		if (happens(simulation, 20)) {
			list = list_people(simulation);
			if (happens(simulation, 50))
				listed = now(); /* the answer arrives after other reports */
			else
				say_survey(script, list);
		}
		deliver(simulation);
	}
	if (listed != 0)
		survey_late(simulation, list, listed);
	if (happens(simulation, 50))
		simulate_end(simulation);
	world_move(&stand, 15000);
	deliver(simulation);
	survey_twice(simulation);
	expect_truth(simulation);
	/* All of it arrives once more. */
	for (size_t i = simulation->delivered_count; i-- > 0;)
		merge_report(script, &simulation->delivered[i]);
	survey_twice(simulation);
	expect_truth(simulation);
	for (size_t i = 0; i < script->stay_count; i++)
		simulate_leave(simulation, i);
	world_move(&stand, 5000);
	deliver(simulation);
	survey_twice(simulation);
	expect_truth(simulation);
	say(script, "+60000 grace");
	ck_assert(!script->told.is_live);
}

/* Each record has had its events once, and nothing else has. */
static void expect_each_event_once(const struct script *script, uint64_t seq)
{
	const uint64_t last = last_seq();
	struct store_record records[10 * MEETINGS];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = &script->room,
		.records = records,
		.most = ROWS(records),
	};
	struct fault fault = FAULT_INITIAL;
	size_t peers = 0, events[LIVE_CHANGES] = { 0 };
	struct call call;
	json_t *seen = json_object();

	begin(&call);
	ck_assert(store_page(call.transaction, &kind_session, &page, &fault));
	ck_assert(page.is_last);
	for (size_t i = 0; i < page.count; i++) {
		struct peer_page of_session = { .most = STAYS_MOST };
		struct session session;

		ck_assert(session_load(&call, &records[i].id, STORE_TO_CHANGE, &session, &fault));
		ck_assert(!session.is_active);
		check_one(script, &call, &session_kind, &session);
		ck_assert(peers_read(&call, &records[i].id, &of_session, &fault));
		peers += of_session.count;
	}
	while (++seq <= last) {
		struct audit_entry entry;
		json_t *data;
		const char *id;

		ck_assert(audit_read(call.transaction, seq, 1, &entry, &fault));
		data = json_loadb(entry.data.data, entry.data.size, 0, NULL);
		id = arena_text(stand.arena, "%.*s %s", (int)entry.type.size, entry.type.data,
				json_string_value(json_object_get(data, "id")));
		ck_assert_msg(json_object_get(seen, id) == NULL, "%s", id);
		json_object_set_new(seen, id, json_true());
		for (size_t i = 0; i < LIVE_CHANGES; i++)
			events[i] += slice_is(entry.type, live_change_types[i]);
		json_decref(data);
	}
	world_abandon(&call);
	json_decref(seen);
	ck_assert_uint_eq(events[LIVE_JOINED], peers);
	ck_assert_uint_eq(events[LIVE_LEFT], peers);
	ck_assert_uint_eq(events[LIVE_OPENED], page.count);
	ck_assert_uint_eq(events[LIVE_CLOSED], page.count);
}

/* Whatever is lost, doubled, late or reported in another order: after two surveys the records are
 * right. Meetings follow each other in one room; events of one arrive in the next, too. */
START_TEST(records_become_what_is_true)
{
	struct simulation *simulation;
	uint64_t seq;

	open_stand(_i % ROWS(drivers));
	simulation = arena_zero(stand.arena, sizeof *simulation);
	simulation->script = script_open(arena_text(stand.arena, "run %d", _i));
	simulation->seed = (uint64_t)_i + 1;
	seq = last_seq();
	for (int i = 0; i < MEETINGS; i++)
		simulate_meeting(simulation);
	world_move(&stand, 200000);
	deliver(simulation);
	survey_twice(simulation);
	expect_truth(simulation);
	say(simulation->script, "+20000 grace");
	expect_each_event_once(simulation->script, seq);
}
END_TEST

void add_meetings(TCase *meetings)
{
	tcase_add_loop_test(meetings, records_become_what_is_true, 0, RUNS);
}
