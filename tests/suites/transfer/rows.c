/* Records whose values their rows, their texts or other records rule out are found, and nothing
 * depends on which member of a stored text is the last one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "life.h"
#include "resources/bans/bans.h"
#include "resources/recordings/job_merge.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/place_record.h"
#include "resources/stored/code_record.h"
#include "resources/stored/code_words.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/garbage.h"
#include "resources/media/backend_health.h"
#include "resources/record_check.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored/room_times.h"
#include "resources/sweep.h"
#include "resources/stored/default_template.h"
#include "resources/stored/template_record.h"
#include "suite.h"

/* ---- values that the rows rule out ---- */

/* Returns whether a value of the member can be above its range (side 1) or below it (side 0). */
static bool can_be_wrong(const struct member *member, int side)
{
	switch (member->kind) {
	case MEMBER_NUMBER:
	case MEMBER_TIME:
	case MEMBER_SECONDS:
	case MEMBER_BOOLEAN:
	case MEMBER_CHOICE:
		if (member->bytes == 8)
			return side == 1 ? member->most < INT64_MAX : member->least > INT64_MIN;
		return side == 1 ? member->most < (INT64_C(1) << 8 * member->bytes) - 1
				 : member->least > 0;
	case MEMBER_TEXT:
	case MEMBER_JSON:
		return side == 1 && (member->flags & MEMBER_WHOLE) == 0;
	case MEMBER_BYTES:
	case MEMBER_LIST:
		return side == 1 && member->most <= UINT8_MAX;
	case MEMBER_KEY:
	case MEMBER_PARENT:
	case MEMBER_SWITCH:
	case MEMBER_NAME:
	case MEMBER_ETAG:
	case MEMBER_ID:
	case MEMBER_FIXED:
	case MEMBER_PART:
	case MEMBER_ARRAY:
		break;
	}
	return false;
}

static size_t *count_of(const struct member *member, void *record)
{
	return (size_t *)(void *)((char *)record + member->count);
}

static void make_wrong(struct arena *arena, const struct member *member, void *record, int side)
{
	void *at = (char *)record + member->offset;
	const int64_t number = side == 1 ? member->most + 1 : member->least - 1;
	const size_t more = (size_t)member->most + 1;

	if (member->kind == MEMBER_TEXT) {
		*(struct slice *)at = SLICE("\xff");
	} else if (member->kind == MEMBER_JSON) {
		*(struct slice *)at = SLICE("(");
	} else if (member->kind == MEMBER_BYTES) {
		*(struct slice *)at = (struct slice){ arena_zero(arena, more), more };
	} else if (member->kind == MEMBER_LIST) {
		*count_of(member, record) = more;
		*(void **)at = arena_zero(arena, more * member->items->size);
	} else if (member->width == 8) {
		*(int64_t *)at = number;
	} else if (member->width == 4) {
		*(uint32_t *)at = (uint32_t)number;
	} else if (member->width == 2) {
		*(uint16_t *)at = (uint16_t)number;
	} else {
		*(uint8_t *)at = (uint8_t)number;
	}
}

/* Makes one member of the record wrong, after skipping others, and returns its name. Of a list,
 * only the first item is made wrong. Returns NULL if there are fewer members. */
static const char *spoil(struct arena *arena, const struct record_table *table, void *record,
			 size_t *skipped)
{
	for (size_t i = table->keys; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		void *at = (char *)record + member->offset;
		const char *spoiled = NULL;

		if (member->when == NOT_STORED ||
		    (member->when != 0 &&
		     (*(unsigned *)(void *)((char *)record + table->set) & member->when) == 0))
			continue;
		for (int side = 0; side < 2; side++) {
			if (!can_be_wrong(member, side) || (*skipped)-- > 0)
				continue;
			make_wrong(arena, member, record, side);
			return member->name;
		}
		if (member->items != NULL && *count_of(member, record) > 0)
			spoiled = spoil(arena, member->items,
					member->kind == MEMBER_LIST ? *(void **)at : at, skipped);
		if (spoiled != NULL)
			return spoiled;
	}
	return NULL;
}

static struct store_record record_copy(struct arena *arena, const struct store_record *record)
{
	struct store_record copy = *record;

	copy.name = arena_copy(arena, record->name);
	copy.value = arena_copy(arena, record->value);
	return copy;
}

/* Returns the record with the longest value, which has the most members. */
static struct store_record longest_of(const struct store_kind *kind, struct arena *arena)
{
	struct store_record stored, longest = { .value = { NULL, 0 } };
	struct transaction *transaction;
	struct store_walk walk;

	ck_assert(store_begin(one.environment.store, STORE_READ, arena, &transaction, &fault));
	walk = store_walk_all(transaction, kind, &fault);
	while (store_next(&walk, &stored))
		if (longest.value.data == NULL || stored.value.size > longest.value.size)
			longest = record_copy(arena, &stored);
	store_abandon(transaction);
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	ck_assert_msg(longest.value.data != NULL, "there is no record: %s; see makers", kind->name);
	return longest;
}

/* Replaces the value of a record in the world. */
static void put_value(const struct store_kind *kind, const struct store_record *record,
		      struct slice value)
{
	struct store *store = one.environment.store;
	struct arena *arena = arena_open();
	struct store_record former, changed = *record;
	struct transaction *transaction;
	uint64_t number;

	changed.value = value;
	ck_assert(store_begin(store, STORE_WRITE, arena, &transaction, &fault));
	store_set_account(transaction, &record->account);
	ck_assert(kind->naming == STORE_NAME_ANYWHERE
			  ? store_get_named(transaction, kind, record->name, STORE_TO_CHANGE,
					    &former, &fault)
			  : store_get(transaction, kind, &record->id, STORE_TO_CHANGE, &former,
				      &fault));
	ck_assert_ptr_nonnull(former.value.data);
	ck_assert(store_put(transaction, kind, &changed, &former, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(store_wait(store, number, &fault));
	arena_close(arena);
}

/* ---- records that a life does not leave ---- */

static void make_room_times(struct call *call, const struct life *life)
{
	const struct id room = parsed_id(life->own);

	ck_assert(room_times_note(call, &room, 1000, &fault));
}

static void make_delivery(struct call *call, const struct life *life)
{
	struct webhook_delivery delivery = {
		.state = DELIVERY_FAILED,
		.series = 1,
		.seq = 1,
		.event_id = SLICE("3f0c4d3e-8f8c-4ab1-9b5f-2f7f6d1f0a11"),
		.type = SLICE("room.created"),
		.attempts = 1,
		.error = SLICE("refused"),
		.first = 1000,
		.next = 2000,
	};
	struct webhooks webhooks;

	(void)life;
	ck_assert(webhooks_load(call->transaction, STORE_TO_SHOW, &webhooks, &fault));
	delivery.stored.parent = webhooks.items[0].id;
	ck_assert(webhook_delivery_new_id(call->transaction, call->environment->clock,
					  &delivery.stored.id, &fault) &&
		  webhook_delivery_put(call->transaction, &delivery, &fault));
}

static void make_words_asked(struct call *call, const struct life *life)
{
	(void)life;
	call->run.words_asked = 1;
	ck_assert(code_words_store_asked(call, &fault));
}

static void make_kept_answer(struct call *call, const struct life *life)
{
	static const unsigned char fingerprint[DIGEST_SIZE] = { 1 };
	const struct kept_answer none = { .status = 0 };

	(void)life;
	call->answer.status = 200;
	ck_assert(kept_answer_put(call, SLICE("key"), fingerprint, &none, &fault));
}

/* The first stored response that a process counts is added to the record. */
static void make_kept_usage(struct call *call, const struct life *life)
{
	struct environment counting = one.environment;

	counting.kept_usage = kept_usage_open();
	call->environment = &counting;
	make_kept_answer(call, life);
	kept_usage_end(call, true);
	kept_usage_close(counting.kept_usage);
	call->environment = &one.environment;
}

static void make_health(struct call *call, const struct life *life)
{
	const struct backend backend = { .id = parsed_id(life->livekit), .name = SLICE("lk") };
	const struct server_verdict verdict = { .message = "it does not answer" };

	ck_assert(backend_health_note(call, &backend, &verdict, &fault));
}

/* As if a deleted room still had codes. */
static void make_garbage(struct call *call, const struct life *life)
{
	const struct garbage garbage = { .stored.id = made_id(5, 400),
					 .of = (unsigned char)kind_room.letter };

	(void)life;
	ck_assert(record_put(&garbage_table, call->transaction, &garbage, &fault));
}

static void make_recorder(struct call *call, const struct life *life)
{
	const struct recorder recorder = { .stored.id = recorder_id(SLICE("studio")),
					   .name = SLICE("studio"),
					   .boot = SLICE("b"),
					   .folder = SLICE("f1"),
					   .first_seen = 1,
					   .seen = 1 };

	(void)life;
	ck_assert(recorder_put(call, &recorder, &fault));
}

static void make_gone_file(struct call *call, const struct life *life)
{
	const struct gone_file file = {
		.account = call->account,
		.folder = SLICE("folder"),
		.path = SLICE("account/room/job/recording.mp4"),
	};

	(void)life;
	ck_assert(gone_file_add(call, &file, &fault));
}

/* Starts a recording. */
static void make_work(struct call *call, const struct life *life)
{
	const struct slice none = SLICE("");
	struct job job = { .room_name = none,
			   .room_title = none,
			   .meeting_url = none,
			   .destination = none,
			   .started_by = none,
			   .started_name = none,
			   .start_actor = none,
			   .stop_actor = none,
			   .look.roles = none,
			   .not_enforced = none,
			   .folder = none };

	ck_assert(id_parse(slice_of(life->followed), &job.stored.parent) &&
		  job_begin(call, &job, &fault));
}

static void make_place(struct call *call, const struct life *life)
{
	struct place place = { .since = call->now, .until = call->now / 1000 + 60 };

	place.stored.id = parsed_id(life->own);
	place.backend = place.stored.id;
	ck_assert(record_put(&place_table, call->transaction, &place, &fault));
}

static void make_load(struct call *call, const struct life *life)
{
	struct backend_load load = { .people = 1, .rooms = 1, .counted = call->now };

	load.stored.id = parsed_id(life->own);
	ck_assert(record_put(&backend_load_table, call->transaction, &load, &fault));
}

static const struct {
	const struct record_kind *kind;
	void (*make)(struct call *call, const struct life *life);
} makers[] = {
	{ &room_times_kind, make_room_times },
	{ &webhook_delivery_kind, make_delivery },
	{ &words_asked_kind, make_words_asked },
	{ &kept_answer_kind, make_kept_answer },
	{ &kept_usage_kind, make_kept_usage },
	{ &backend_healths_kind, make_health },
	{ &place_kind, make_place },
	{ &backend_load_kind, make_load },
	{ &garbage_kind, make_garbage },
	{ &recorder_kind, make_recorder },
	{ &work_kind, make_work },
	{ &gone_file_kind, make_gone_file },
};

/* Makes a record of the kind if the life left none. */
static void make_record(const struct record_kind *kind, const struct life *life)
{
	struct call call;

	for (int i = 0; i < ROWS(makers); i++) {
		if (makers[i].kind != kind)
			continue;
		begin_call(&one, &call);
		makers[i].make(&call, life);
		commit_call(&call);
	}
}

void make_all(const struct life *life)
{
	/* That of the use of keys makes a stored response, too. */
	for (int i = 0; i < ROWS(makers); i++) {
		if (makers[i].kind != &kept_answer_kind)
			make_record(makers[i].kind, life);
	}
}

/* ---- what the rows say of other records ---- */

/* A record of a kind: one that belongs to another, and one that ends, if there is any. */
struct found_record {
	struct arena *arena;
	const struct record_table *table;
	struct store_record any, owned, ends;
};

static void find_record(struct found_record *found, const struct store_record *record)
{
	const struct member *owner = record_owner(found->table);
	const struct id *id = owner != NULL && owner->kind == MEMBER_PARENT ? &record->parent
									    : &record->id;

	if (found->any.value.data == NULL)
		found->any = record_copy(found->arena, record);
	if (owner != NULL && (owner->relation->list != NULL || !owner->relation->may_be_none ||
			      id_compare(id, &kind_only_id) != 0))
		found->owned = record_copy(found->arena, record);
	if (record->ends != 0)
		found->ends = record_copy(found->arena, record);
}

static bool is_stored_still(struct call *call, const struct store_kind *kind,
			    const struct store_record *record)
{
	struct store_record stored;

	ck_assert(kind->naming == STORE_NAME_ANYWHERE
			  ? store_get_named(call->transaction, kind, record->name, STORE_TO_SHOW,
					    &stored, &fault)
			  : store_get(call->transaction, kind, &record->id, STORE_TO_SHOW, &stored,
				      &fault));
	return stored.value.data != NULL;
}

/* Expects a check of the record to say this, or not to. */
static void expect_finding(struct call *call, const struct record_kind *kind, const void *record,
			   const char *says, bool is_said)
{
	struct fault why = FAULT_INITIAL, told = FAULT_INITIAL;
	struct findings findings;
	char *text;

	findings_open(&findings, call->arena);
	(void)record_check(call, kind, record, true, &findings, &why);
	(void)findings_result(&findings, &told);
	text = json_dumps(told.details, JSON_ENCODE_ANY);
	ck_assert_msg((text != NULL && strstr(text, says) != NULL) == is_said, "%s, %s: %s",
		      kind->table->kind->name, says, text);
	free(text);
}

static void *read_again_as(struct call *call, const struct record_table *table,
			   const struct store_record *stored)
{
	void *record = arena_zero(call->arena, table->size);

	ck_assert(record_read(table, call->arena, stored, record, &fault));
	return record;
}

/* A reference that leads nowhere is found; none is right where there may be none. */
static void break_reference(struct call *call, const struct record_kind *kind,
			    const struct store_record *stored, const struct member *member)
{
	const char *says = arena_text(call->arena, "/%s: its ", member->name);
	void *record = read_again_as(call, kind->table, stored);
	void *at = (char *)record + member->offset;

	expect_finding(call, kind, record, says, false);
	if (member->relation->is_by_name)
		*(struct slice *)at = SLICE("nobody");
	else
		*(struct id *)at = made_id(5, 401);
	expect_finding(call, kind, record, says, member->relation->fate != RELATION_OUTLIVES);
	if (!member->relation->may_be_none)
		return;
	if (member->relation->is_by_name)
		*(struct slice *)at = SLICE("");
	else
		*(struct id *)at = kind_only_id;
	expect_finding(call, kind, record, says, false);
}

/* A number that counts one too many is found. */
static void miscount(struct call *call, const struct record_kind *kind,
		     const struct store_record *stored, const struct member *member)
{
	const struct relation *relation = member->relation;
	const struct record_kind *counts = record_kind_of(relation->counted_in);
	const struct record_table *table = counts->table;
	const bool is_parent = relation->of == relation->counted_in && relation->list == NULL;
	void *record = read_again_as(call, kind->table, stored);
	void *counter = arena_zero(call->arena, table->size), *at = counter;
	const char *first;

	ck_assert(record_get(table, call->transaction,
			     is_parent ? record_id(member, record) : &kind_only_id, STORE_TO_CHANGE,
			     counter, &fault));
	if (relation->of == relation->counted_in && relation->list != NULL) {
		ck_assert_uint_gt(
			record_items(record_member(table, relation->list), counter, &first), 0);
		table = record_member(table, relation->list)->items;
		at = (void *)(uintptr_t)first;
	}
	expect_finding(call, counts, counter, "does not match the number of", false);
	member = record_member(table, relation->counted);
	record_set_number(member, at, record_number(member, at) + 1);
	expect_finding(call, counts, counter, "does not match the number of", true);
}

/* Removes what refuses the removal of a record. */
static void remove_refusing(struct call *call, const struct store_kind *of, const struct id *id)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct member *owner = record_owner(record_kinds[i]->table);
		struct store_record records[20];
		struct store_page page = { .parent = id, .records = records, .most = 20 };

		if (owner == NULL || owner->relation->of != of ||
		    owner->relation->fate != RELATION_REFUSES)
			continue;
		ck_assert(store_page(call->transaction, all_kinds[i], &page, &fault) &&
			  page.is_last);
		for (size_t j = 0; j < page.count; j++)
			ck_assert(
				garbage_remove_record(call, record_kinds[i], &records[j], &fault));
	}
}

/* With its parent it dies, or outlives it, or refuses. */
static void remove_parent(struct call *call, const struct record_kind *kind,
			  const struct store_record *stored)
{
	const struct member *owner = record_owner(kind->table);
	const struct relation *relation = owner->relation;
	const struct id id = *record_id(owner, read_again_as(call, kind->table, stored));
	struct fault why = FAULT_INITIAL;
	bool is_removed;

	if (relation->fate != RELATION_REFUSES)
		remove_refusing(call, relation->of, &id);
	is_removed = garbage_add(call, relation->of, &id, &why) && garbage_finish(call, &id, &why);
	ck_assert_msg(is_removed == (relation->fate != RELATION_REFUSES), "%s: %s",
		      kind->table->kind->name, fault_reason(&why));
	if (is_removed)
		ck_assert_msg(is_stored_still(call, kind->table->kind, stored) ==
				      (relation->fate == RELATION_OUTLIVES),
			      "%s", kind->table->kind->name);
}

static void sweep_all(struct call *call, const struct record_kind *kind, int64_t now)
{
	size_t n;

	call->now = now + (kind->kept == NULL ? 0 : kind->kept(call));
	do {
		ck_assert(sweep_kind(call, kind, &n, &fault));
	} while (n > 0);
}

/* What the rows of a kind say holds for a record of it. */
START_TEST(what_rows_say_of_other_records_holds)
{
	const struct record_kind *kind = record_kinds[_i];
	const struct record_table *table = kind->table;
	struct found_record found = { .arena = arena_open(), .table = table };
	struct transaction *transaction;
	struct store_record record;
	struct store_walk walk;
	struct life life;
	struct call call;

	live(&one, &life);
	make_record(kind, &life);
	enqueue_events(&one, "a", 1);
	ck_assert(
		store_begin(one.environment.store, STORE_READ, found.arena, &transaction, &fault));
	walk = store_walk_all(transaction, table->kind, &fault);
	while (store_next(&walk, &record))
		find_record(&found, &record);
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	ck_assert_msg(found.any.value.data != NULL, "there is no record: %s; see makers",
		      table->kind->name);
	world_begin(&one, &found.any.account, &call);
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];

		if (member->relation != NULL)
			break_reference(&call, kind, &found.any, member);
		if (member->relation != NULL && member->relation->counted_in != NULL)
			miscount(&call, kind, &found.any, member);
	}
	world_abandon(&call);
	if (record_owner(table) != NULL) {
		ck_assert_msg(found.owned.value.data != NULL, "none belongs to another: %s",
			      table->kind->name);
		world_begin(&one, &found.owned.account, &call);
		remove_parent(&call, kind, &found.owned);
		world_abandon(&call);
	}
	if (table->kind->has_ends) {
		ck_assert_msg(found.ends.value.data != NULL, "none ends: %s", table->kind->name);
		world_begin(&one, &found.ends.account, &call);
		sweep_all(&call, kind, found.ends.ends - 1);
		ck_assert(is_stored_still(&call, table->kind, &found.ends));
		sweep_all(&call, kind, found.ends.ends);
		ck_assert(!is_stored_still(&call, table->kind, &found.ends));
		commit_call(&call);
		sound(&one);
	}
	arena_close(found.arena);
}
END_TEST

/* One of each kind that a dump has is dumped, loaded and right. */
START_TEST(each_kind_is_dumped_and_loaded)
{
	struct lines dumped = { .count = 0 };
	struct life life;

	live(&one, &life);
	for (int i = 0; i < ROWS(makers); i++) {
		if (makers[i].kind->line != NULL)
			make_record(makers[i].kind, &life);
	}
	sound(&one);
	dump(&one, &dumped);
	for (size_t i = 0; i < RECORD_KINDS; i++)
		ck_assert_msg(record_kinds[i]->line == NULL ||
				      transfer_count(&dumped.output.counts, record_kinds[i]) > 0,
			      "there is no line: %s", record_kinds[i]->line);
	load_whole(&other, &dumped);
	sound(&other);
	free_lines(&dumped);
}
END_TEST

/* Gives one member of a record of each kind a value that its row rules out, with a right checksum.
 * Check finds it, a dump names the record or does not need the value, and what is saved can be
 * loaded. Requests report damage, or do not need the value. */
START_TEST(a_value_that_its_row_rules_out_is_found)
{
	const struct record_kind *kind = record_kinds[_i];
	const struct record_table *table = kind->table;
	const char *said = kind == &code_kind ? "a code of" : table->kind->name;
	struct arena *arena = arena_open();
	struct store_record longest;
	char backend[25], webhook[25];
	struct life life;
	const char *name;

	live(&one, &life);
	make_record(kind, &life);
	enqueue_events(&one, "a", 1);
	last_of("/v2/backends", backend);
	last_of("/v2/webhooks", webhook);
	longest = longest_of(table->kind, arena);
	for (size_t n = 0;; n++) {
		struct lines dumped = { .count = 0 }, saved = { .output.lost = keep_lost };
		struct fault why = FAULT_INITIAL;
		struct buffer value = BUFFER_INITIAL(arena);
		void *record = arena_zero(arena, table->size);
		size_t skipped = n;
		bool is_dumped;

		ck_assert(record_read(table, arena, &longest, record, &fault));
		name = spoil(arena, table, record, &skipped);
		if (name == NULL)
			break;
		if (!suite_draws((size_t)_i + n))
			continue;
		record_pack(table, record, &value);
		put_value(table->kind, &longest, buffer_slice(&value));
		(void)ask_all(&life, backend, webhook);
		ck_assert_msg(checked(&one).count > 0, "%s: %s", table->kind->name, name);
		is_dumped = try_dump(&one, &dumped, &why);
		ck_assert_msg(is_dumped || why.kind == FAULT_DAMAGED, "%s", why.message);
		ck_assert(try_dump(&one, &saved, &why));
		ck_assert_msg(is_dumped ? saved.lost == 0 : strstr(saved.said, said) != NULL,
			      "%s: %s", name, saved.said);
		/* What refers to a record that is wrong but can be read is saved without it. */
		if (!record_unpack(table, arena, buffer_slice(&value), record) ||
		    kind == &entry_kind || kind == &queue_kind) {
			world_close(&other);
			open_new(&other);
			load_whole(&other, &saved);
			sound(&other);
		}
		free_lines(&dumped);
		free_lines(&saved);
		put_value(table->kind, &longest, longest.value);
	}
	sound(&one);
	arena_close(arena);
}
END_TEST

/* The records of the room in session, and of the session before. */
struct live_records {
	struct live live;
	struct session active, closed;
	struct peer inside, left; /* of the active session */
	struct usage_now used;
	struct backend_account backend;
	struct media media;
	struct ban ban; /* of the person m, from every room; it ends */
	int64_t found_by; /* the end by which the store finds it; 0 for its own */
};

static void too_many_peers(struct live_records *records)
{
	records->closed.peer_count++;
}

static void too_few_peers(struct live_records *records)
{
	records->active.peer_count--;
}

static void too_many_with_a_role(struct live_records *records)
{
	records->live.roles[0].count++;
}

static void no_roles(struct live_records *records)
{
	records->live.role_count = 0;
}

static void too_many_inside(struct live_records *records)
{
	records->used.peers++;
}

static void too_few_sessions(struct live_records *records)
{
	records->used.sessions = 0;
}

static void another_active_session(struct live_records *records)
{
	records->closed.is_active = true;
	records->closed.closed = 0;
}

static void a_closed_session(struct live_records *records)
{
	records->active.is_active = false;
	records->active.closed = records->active.updated;
}

static void no_time_of_closing(struct live_records *records)
{
	records->closed.closed = 0;
}

static void updated_too_early(struct live_records *records)
{
	records->closed.updated = records->closed.created - 1;
}

static void another_session(struct live_records *records)
{
	records->live.session = records->closed.stored.id;
}

static void no_backend(struct live_records *records)
{
	records->live.backend = records->closed.stored.id;
}

static void inside_and_left(struct live_records *records)
{
	records->inside.left = records->inside.joined;
}

static void left_before(struct live_records *records)
{
	records->left.left = records->left.joined - 1;
}

static void joined_at_another_time(struct live_records *records)
{
	records->left.joined--;
}

static void another_entry(struct live_records *records)
{
	records->inside.entry = SLICE("e9");
}

static void left_again(struct live_records *records)
{
	records->inside.is_inside = false;
	records->inside.left = records->inside.joined;
}

static void another_account(struct live_records *records)
{
	records->backend.account = records->closed.stored.id;
}

static void too_few_bans(struct live_records *records)
{
	records->media.ban_count--;
}

static void uncounted_bans(struct live_records *records)
{
	records->media.ban_count = 0;
}

static void ends_later(struct live_records *records)
{
	records->found_by = records->ban.expires_at * 1000 + 1000;
}

static void another_name(struct live_records *records)
{
	records->ban.name = SLICE("u");
}

static void bans_nobody(struct live_records *records)
{
	records->ban.user_id = SLICE("");
}

static void bans_two(struct live_records *records)
{
	records->ban.code_hash = SLICE("0123");
}

static const struct {
	void (*alter)(struct live_records *records);
	const char *says;
} wrong_live[] = {
	{ too_many_peers, "/peer_count: does not match" },
	{ too_few_peers, "/peer_count: does not match" },
	{ too_many_with_a_role, "/roles: do not match" },
	{ no_roles, "/roles: do not match" },
	{ too_many_inside, "/peers: does not match" },
	{ too_few_sessions, "/sessions: does not match" },
	{ another_active_session, "/active: its room is not in session" },
	{ a_closed_session, "/session_id: is not an active session" },
	{ no_time_of_closing, "/closed_at: does not match" },
	{ updated_too_early, "/updated_at: must not be before" },
	{ another_session, "/session_id: is not an active session" },
	{ no_backend, "/backend_id: its backend does not exist" },
	{ inside_and_left, "/left_at: does not match inside" },
	{ left_before, "/left_at: must not be before" },
	{ joined_at_another_time, "/joined_at: does not match" },
	{ another_entry, "/stays: one of them is not inside" },
	{ left_again, "/roles: do not match" },
	{ another_account, "/account_id: is of an account without this backend" },
	{ too_few_bans, "/ban_count: does not match" },
	{ uncounted_bans, "is not counted" },
	{ ends_later, "is found by another end" },
	{ another_name, "its name does not match" },
	{ bans_nobody, "/user_id: a ban has either" },
	{ bans_two, "/user_id: a ban has either" },
};

static bool put_ban(struct transaction *transaction, const struct live_records *records)
{
	struct buffer value = BUFFER_INITIAL(transaction->arena);
	struct store_record stored = record_key(&ban_table, &records->ban);

	record_pack(&ban_table, &records->ban, &value);
	stored.value = buffer_slice(&value);
	if (records->found_by != 0)
		stored.ends = records->found_by;
	return store_put(transaction, &kind_ban, &stored, &records->ban.stored, &fault);
}

/* Reads the records, or changes them. */
static void with_live_records(struct call *call, const struct life *life,
			      void (*alter)(struct live_records *records))
{
	const struct id room = parsed_id(life->followed), backend = parsed_id(life->livekit);
	struct transaction *transaction = call->transaction;
	struct store_record record;
	struct store_page page = {
		.side = STORE_OFF,
		.parent = &room,
		.records = &record,
		.most = 1,
	};
	struct peer_page peers = { .most = 20 };
	struct live_records records;
	ck_assert(live_load(call, &room, STORE_TO_CHANGE, &records.live, &fault));
	ck_assert(session_load(call, &records.live.session, STORE_TO_CHANGE, &records.active,
			       &fault));
	ck_assert(store_page(transaction, &kind_session, &page, &fault));
	ck_assert_uint_eq(page.count, 1);
	ck_assert(session_load(call, &record.id, STORE_TO_CHANGE, &records.closed, &fault));
	ck_assert(peers_read(call, &records.live.session, &peers, &fault));
	for (size_t i = 0; i < peers.count; i++) {
		struct peer *peer = peers.peers[i].is_inside ? &records.inside : &records.left;

		ck_assert(record_get(&peer_table, transaction, &peers.peers[i].stored.id,
				     STORE_TO_CHANGE, peer, &fault));
	}
	ck_assert(record_get(&usage_now_table, transaction, &kind_only_id, STORE_TO_CHANGE,
			     &records.used, &fault));
	ck_assert(media_load(call, STORE_TO_CHANGE, &records.media, &fault));
	ck_assert(record_get_named(&ban_table, transaction,
				   ban_name(call->arena, SLICE("m"), SLICE(""), &kind_only_id),
				   STORE_TO_CHANGE, &records.ban, &fault));
	records.found_by = 0;
	store_set_account(transaction, &audit_no_account);
	ck_assert(record_get(&backend_account_table, transaction, &backend, STORE_TO_CHANGE,
			     &records.backend, &fault));
	ck_assert_ptr_nonnull(records.backend.stored.value.data);
	alter(&records);
	ck_assert(record_put(&backend_account_table, transaction, &records.backend, &fault));
	store_set_account(transaction, &call->account);
	ck_assert(record_put(&live_table, transaction, &records.live, &fault) &&
		  record_put(&session_table, transaction, &records.active, &fault) &&
		  record_put(&session_table, transaction, &records.closed, &fault) &&
		  record_put(&peer_table, transaction, &records.inside, &fault) &&
		  record_put(&peer_table, transaction, &records.left, &fault) &&
		  record_put(&usage_now_table, transaction, &records.used, &fault) &&
		  media_put(call, &records.media, &fault) && put_ban(transaction, &records));
}

/* The findings are in no particular order. */
static void join_findings(struct record_findings *findings, const char *kind, const char *key,
			  const char *problem)
{
	struct saying *saying = (struct saying *)findings;
	const size_t size = strlen(saying->said);

	(void)key;
	(void)snprintf(saying->said + size, 2000 - size, "%s %s\n", kind, problem);
}

/* Sets `said` to what `check` finds in all records of the world, a line a finding. */
static void say_all(struct world *world, char said[2000])
{
	struct saying saying = { .findings.report = join_findings, .said = said };
	struct store_record record;
	struct snapshot snapshot;

	ck_assert(snapshot_open(world->environment.store, &clock_system, &snapshot, &fault));
	for (int i = 0; i < KINDS; i++) {
		struct store_walk walk = store_walk_all(snapshot.call.transaction, all_kinds[i],
							&fault);

		while (store_next(&walk, &record))
			record_findings_report_stored(&snapshot, all_kinds[i], &record,
						      &saying.findings);
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	snapshot_close(&snapshot);
}

START_TEST(wrong_live_records_are_found)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct call call;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(wrong_live); row++) {
		char said[2000] = "";

		world_close(&other);
		open_new(&other);
		load_whole(&other, &dumped);
		begin_call(&other, &call);
		with_live_records(&call, &life, wrong_live[row].alter);
		commit_call(&call);
		say_all(&other, said);
		ck_assert_msg(strstr(said, wrong_live[row].says) != NULL, "row %d: %s", row, said);
	}
	free_lines(&dumped);
}
END_TEST

/* ---- members that requests read instead of a template's text ---- */

static void asks(struct template_record *template)
{
	template->roles[0].asks = true;
}

static void does_not_ask(struct template_record *template)
{
	template->roles[template->role_count - 1].asks = false;
}

static void has_agents(struct template_record *template)
{
	template->has_agents = true;
}

static void asks_for_consent(struct template_record *template)
{
	template->rules.consent = CONSENT_REQUIRED;
}

static void keeps_for_days(struct template_record *template)
{
	template->rules.keep.days = 7;
}

static void another_region(struct template_record *template)
{
	template->region = SLICE("in");
}

static void another_backend(struct template_record *template)
{
	template->backend = SLICE("two");
}

static void another_recording(struct template_record *template)
{
	template->recording = SLICE("{\"enabled\":false}");
}

/* As it was stored before there were warnings. */
static void no_warnings(struct template_record *template)
{
	char *const at = memmem(template->text.data, template->text.size, ",\"warnings\":[", 13);

	ck_assert_ptr_nonnull(at);
	*at = '}';
	template->text.size = (size_t)(at - template->text.data) + 1;
}

static const struct {
	void (*alter)(struct template_record *template);
	const char *says;
} wrong_templates[] = {
	{ asks, "/roles/0/asks: does not match the role" },
	{ does_not_ask, "/roles/2/asks: does not match the role" },
	{ has_agents, "/has_agents: does not match the settings" },
	{ asks_for_consent, "/recording_rules: does not match the settings" },
	{ keeps_for_days, "/recording_rules: does not match the settings" },
	{ another_region, "/region: does not match the settings" },
	{ another_backend, "/backend: does not match the settings" },
	{ another_recording, "/recording: does not match the settings" },
	{ no_warnings, "/text: does not match its parts" },
};

START_TEST(a_member_that_does_not_match_its_text_is_found)
{
	struct template_record template;
	struct store_record stored;
	char said[2000] = "";
	struct life life;
	struct call call;
	struct id id;

	live(&one, &life);
	id = parsed_id(life.one);
	begin_call(&one, &call);
	ck_assert(
		store_get(call.transaction, &kind_template, &id, STORE_TO_CHANGE, &stored, &fault));
	stored.value = arena_copy(call.arena, stored.value);
	ck_assert(template_unpack(&call, &stored, &template, &fault));
	wrong_templates[_i].alter(&template);
	ck_assert(record_put(&template_table, call.transaction, &template, &fault));
	commit_call(&call);
	say_all(&one, said);
	ck_assert_msg(strstr(said, wrong_templates[_i].says) != NULL, "%s", said);
}
END_TEST

START_TEST(wrong_due_roles_are_found)
{
	static const char wrong[] = { 1, 3, 4 };
	struct collecting collecting = { .arena = arena_open() };
	const struct stored *record;
	struct counting counting;
	struct life life;

	live(&one, &life);
	collect_all(&one, &collecting);
	record = stored_codes(&collecting, life.moved);
	ck_assert_int_eq(record->value.data[record->value.size - 12], 2);
	for (int row = 0; row < ROWS(wrong); row++) {
		change(&one, record,
		       altered(collecting.arena, record->value, 0, record->value.size - 12,
			       wrong[row]));
		counting = checked(&one);
		ck_assert_uint_eq(counting.count, 1);
		ck_assert_msg(strstr(counting.said, "/due_roles/1: has a code") != NULL, "%s",
			      counting.said);
	}
	arena_close(collecting.arena);
}
END_TEST

/* Finds entries that refer to nothing, or to a record that does not refer back; no finding shows a
 * code. In a key, A stands for the account. */
static const struct {
	enum store_table table;
	const char *key;
	size_t zeros;
	const char *says;
} strays[] = {
	{ STORE_INDEX, "ntA", 4, "is damaged" },
	{ STORE_INDEX, "nmA", 4, "is damaged" },
	{ STORE_INDEX, "stray", 0, "is damaged" },
	{ STORE_INDEX, "x", 0, "not an index key" },
	{ STORE_NAMED, "cqqq-qqqq-qqq", 0, "cannot be read" },
	{ STORE_RECORD, "mAA", 0, "cannot be read" },
};

START_TEST(stray_entries_are_found)
{
	struct life life;
	struct counting counting;
	struct arena *arena = arena_open();
	struct id account;

	live(&one, &life);
	account = account_id(&one, "a");
	for (int row = 0; row < ROWS(strays); row++) {
		struct buffer key = BUFFER_INITIAL(arena);
		struct stored record = { .table = strays[row].table };
		struct collecting before = { .arena = arena };
		struct slice present = { NULL, 0 };

		for (const char *at = strays[row].key; *at != '\0'; at++) {
			if (*at == 'A')
				buffer_append(&key, id_slice(&account));
			else
				buffer_append_byte(&key, *at);
		}
		for (size_t i = 0; i < strays[row].zeros; i++)
			buffer_append_byte(&key, 0);
		record.key = buffer_slice(&key);
		collect_all(&one, &before);
		for (size_t i = 0; i < before.count; i++) {
			if (before.records[i].table == record.table &&
			    slice_equal(before.records[i].key, record.key))
				present = before.records[i].value;
		}
		change(&one, &record, SLICE("s"));
		counting = checked(&one);
		ck_assert_msg(counting.count > 0 && strstr(counting.said, strays[row].says) != NULL,
			      "row %d: %u, %s", row, counting.count, counting.said);
		ck_assert_ptr_null(strstr(counting.said, "qqq-"));
		change(&one, &record, present);
	}
	sound(&one);
	arena_close(arena);
}
END_TEST

/* ---- members behind the others ---- */

#define ADDED "\"zz\":0"
#define PLACES_MOST 60

/* The text of a record, and the brackets in it before which a member is added. */
struct longer {
	struct slice former, text;
	size_t places[PLACES_MOST];
	size_t count;
};

static bool is_object(struct slice text)
{
	return text.size > 1 && text.data[text.size - 1] == '}';
}

static const char *added_at(const struct longer *longer, size_t place)
{
	return longer->former.data[place - 1] == '{' ? ADDED : "," ADDED;
}

static void add_place(struct longer *longer, struct slice object)
{
	ck_assert_uint_lt(longer->count, PLACES_MOST);
	longer->places[longer->count++] =
		(size_t)(object.data + object.size - 1 - longer->former.data);
}

static void write_longer(struct arena *arena, struct longer *longer)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < longer->former.size; i++) {
		for (size_t n = 0; n < longer->count; n++) {
			if (longer->places[n] == i)
				buffer_append_text(&text, added_at(longer, i));
		}
		buffer_append_byte(&text, longer->former.data[i]);
	}
	longer->text = buffer_slice(&text);
}

/* Returns where this place of the former text is in the longer one. */
static size_t moved_place(const struct longer *longer, size_t place)
{
	size_t moved = place;

	for (size_t n = 0; n < longer->count; n++) {
		if (longer->places[n] < place)
			moved += strlen(added_at(longer, longer->places[n]));
	}
	return moved;
}

static struct slice with_added(struct arena *arena, struct slice object)
{
	struct longer longer = { .former = object };

	add_place(&longer, object);
	write_longer(arena, &longer);
	return longer.text;
}

/* Finds the places at which the parts of the text end; or, if the longer text has been written,
 * moves the parts into it. */
static void visit_parts(const struct record_table *table, void *record, struct longer *longer)
{
	for (size_t i = table->keys; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		struct slice *part = (void *)((char *)record + member->offset);

		if (member->kind == MEMBER_LIST) {
			for (size_t n = 0; n < *count_of(member, record); n++)
				visit_parts(member->items,
					    *(char **)(void *)part + n * member->items->size,
					    longer);
		} else if (member->kind == MEMBER_PART && part->size > 0) {
			const size_t at = (size_t)(part->data - longer->former.data);

			if (longer->text.data == NULL) {
				add_place(longer, *part);
				continue;
			}
			*part = (struct slice){
				longer->text.data + moved_place(longer, at),
				moved_place(longer, at + part->size) - moved_place(longer, at),
			};
		}
	}
}

/* Adds a member behind the others of each object that is stored as a text, of each part of a text,
 * and of a room, whose text is stored in pieces. Headers are a map without a shape. Returns whether
 * there is such an object. */
static bool lengthen(struct arena *arena, const struct record_table *table, void *record)
{
	bool is_longer = false;

	for (size_t i = table->keys; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		struct slice *text = (void *)((char *)record + member->offset);

		if (member->when == NOT_STORED ||
		    (member->when != 0 &&
		     (*(unsigned *)(void *)((char *)record + table->set) & member->when) == 0))
			continue;
		if ((member->flags & MEMBER_WHOLE) != 0) {
			struct longer longer = { .former = *text };

			visit_parts(table, record, &longer);
			add_place(&longer, *text);
			write_longer(arena, &longer);
			visit_parts(table, record, &longer);
			*text = longer.text;
			is_longer = true;
		} else if (member->kind == MEMBER_LIST || member->kind == MEMBER_ARRAY) {
			char *items = member->kind == MEMBER_LIST ? *(char **)(void *)text
								  : (char *)text;

			for (size_t n = 0; n < *count_of(member, record); n++)
				is_longer |= lengthen(arena, member->items,
						      items + n * member->items->size);
		} else if ((member->kind == MEMBER_JSON || member->kind == MEMBER_TEXT) &&
			   is_object(*text) &&
			   (member->kind == MEMBER_JSON || text->data[0] == ',') &&
			   strcmp(member->name, "headers") != 0) {
			*text = with_added(arena, *text);
			is_longer = true;
		}
	}
	return is_longer;
}

/* Lengthens the texts of all records of the kind. Returns how many records have some. */
static unsigned lengthen_all(struct arena *arena, const struct record_table *table)
{
	struct store_record records[400], stored;
	struct transaction *transaction;
	struct store_walk walk;
	unsigned longer = 0;
	size_t count = 0;

	ck_assert(store_begin(one.environment.store, STORE_READ, arena, &transaction, &fault));
	walk = store_walk_all(transaction, table->kind, &fault);
	while (store_next(&walk, &stored)) {
		ck_assert_uint_lt(count, ROWS(records));
		records[count++] = record_copy(arena, &stored);
	}
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	for (size_t i = 0; i < count; i++) {
		struct buffer value = BUFFER_INITIAL(arena);
		void *record = arena_zero(arena, table->size);

		ck_assert(record_read(table, arena, &records[i], record, &fault));
		if (!lengthen(arena, table, record))
			continue;
		longer++;
		record_pack(table, record, &value);
		put_value(table->kind, &records[i], buffer_slice(&value));
	}
	return longer;
}

/* Removes the members that were added. */
static char *without_added(char *text)
{
	char *at;

	while ((at = strstr(text, ADDED)) != NULL) {
		const size_t before = at > text && at[-1] == ',';

		memmove(at - before, at + strlen(ADDED), strlen(at + strlen(ADDED)) + 1);
	}
	return text;
}

/* What depends on a member that is the last one now. */
static const struct {
	const char *path, *body, *has;
} by_last[] = {
	{ "/v2/token", "{\"code\":\"late-words\"}", "Admission is needed" },
	{ "/v2/token", "{\"code\":\"early-words\"}", "\"token\":\"" },
	{ "/v2/livekit/early-words", "{\"room_config\":{\"agents\":[{\"agent_name\":\"helper\"}]}}",
	  "\"participant_token\":\"" },
	{ "/v2/livekit/early-words", "{\"room_config\":{\"agents\":[{\"agent_name\":\"other\"}]}}",
	  "Agent is not allowed" },
};

static void ask_by_last(const char *when)
{
	for (int row = 0; row < ROWS(by_last); row++) {
		char *text = answer_of(&one, "a", METHOD_POST, by_last[row].path,
				       by_last[row].body);

		ck_assert_msg(strstr(text, by_last[row].has) != NULL, "%s, %s %s: %s", when,
			      by_last[row].path, by_last[row].body, text);
		free(text);
	}
}

/* Expects both responses to be the same, but for IDs that each response draws anew. */
static void expect_alike(size_t i, const char *former, const char *text)
{
	static const char drawn[] = "{\"event_id\":\"";
	const bool is_drawn = strncmp(former, drawn, strlen(drawn)) == 0;

	ck_assert_msg(is_drawn ? strncmp(text, drawn, strlen(drawn)) == 0
			       : strcmp(text, former) == 0,
		      "request %zu:\n%s\n%s", i, former, text);
}

#define READERS_MOST 40

/* Adds a member behind the others of each stored object, as if the last row of its shape were not
 * the last one. Every request still gets the response that it got before. */
START_TEST(a_member_behind_the_others_changes_nothing)
{
	struct arena *arena = arena_open();
	char backend[25], webhook[25], *former[READERS_MOST], *text;
	unsigned kinds = 0;
	struct life life;

	live(&one, &life);
	last_of("/v2/backends", backend);
	last_of("/v2/webhooks", webhook);
	done(&one, METHOD_PATCH, "{\"agents\":[{\"agentName\":\"helper\"}]}", NULL,
	     "/v2/templates/%s/settings", life.one);
	done(&one, METHOD_POST, "{\"code\":\"late-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/late", life.own);
	done(&one, METHOD_POST, "{\"code\":\"early-words\"}", NULL,
	     "/v2/room-codes/room/%s/role/chief", life.own);
	ask_by_last("before");
	for (size_t i = 0; (text = ask_reader(i, &life, backend, webhook)) != NULL; i++) {
		ck_assert_uint_lt(i, READERS_MOST);
		former[i] = text;
	}
	for (int i = 0; i < RECORD_KINDS; i++)
		kinds += lengthen_all(arena, record_kinds[i]->table) > 0;
	ck_assert_uint_ge(kinds, 8);
	for (size_t i = 0; (text = ask_reader(i, &life, backend, webhook)) != NULL; i++) {
		ck_assert(i > 0 || strstr(text, "}," ADDED "}") != NULL);
		expect_alike(i, former[i], without_added(text));
		free(text);
		free(former[i]);
	}
	ask_by_last("after");
	/* A write reads all roles, and leaves their texts alone. */
	done(&one, METHOD_PATCH, "{\"region\":\"in\"}", NULL, "/v2/templates/%s/settings",
	     life.one);
	text = ask_reader(0, &life, backend, webhook);
	ck_assert_msg(strstr(text, "\"warnings\":[\"No role that joins") != NULL, "%s", text);
	free(text);
	ask_by_last("after a write");
	arena_close(arena);
}
END_TEST

void add_kinds(TCase *whole)
{
	tcase_add_loop_test(whole, what_rows_say_of_other_records_holds, 0, RECORD_KINDS);
	tcase_add_test(whole, each_kind_is_dumped_and_loaded);
}

void add_rows(TCase *check, TCase *kept, TCase *behind)
{
	tcase_add_test(check, wrong_live_records_are_found);
	tcase_add_loop_test(behind, a_member_that_does_not_match_its_text_is_found, 0,
			    ROWS(wrong_templates));
	tcase_add_test(check, wrong_due_roles_are_found);
	tcase_add_test(check, stray_entries_are_found);
	tcase_add_test(behind, a_member_behind_the_others_changes_nothing);
	tcase_add_loop_test(kept, a_value_that_its_row_rules_out_is_found, 0, RECORD_KINDS);
}
