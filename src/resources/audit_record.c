/* See resources/audit_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/audit_record.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "records/kinds.h"
#include "records/record.h"

/* The contents of events may change with versions, so only their size is limited. */
#define ENTRY_MOST ((int64_t)1 << 20)
/* Old events that one write drops beyond the number it adds, so that the event log shrinks. */
#define DROPPED_BESIDES 3
/* How far to search for a readable event, whose time then stands for that of a damaged one. */
#define READ_AHEAD 8

const struct id audit_no_account = { { 0 } };

/* Writes the number big-endian into the last eight bytes. */
struct id audit_id_of(uint64_t seq)
{
	struct id id = { { 0 } };

	for (size_t i = 0; i < sizeof seq; i++)
		id.bytes[ID_SIZE - 1 - i] = (unsigned char)(seq >> (8 * i));
	return id;
}

uint64_t audit_seq_of(const struct id *id)
{
	uint64_t seq = 0;

	for (size_t i = ID_SIZE - sizeof seq; i < ID_SIZE; i++)
		seq = seq << 8 | id->bytes[i];
	return seq;
}

/* ---- events ---- */

#define ENTRY_MEMBERS \
	{ "timestamp", AS_TIME, AT(struct audit_entry, time) }, \
		{ "id", AS_TEXT(0, ENTRY_MOST), AT(struct audit_entry, id) }, \
		{ "type", AS_TEXT(1, ENTRY_MOST), AT(struct audit_entry, type) }, \
		{ "actor", AS_JSON(ENTRY_MOST), AT(struct audit_entry, actor) }, \
		{ "request_id", AS_TEXT(0, ENTRY_MOST), AT(struct audit_entry, request_id) }, \
	{ \
		"data", AS_JSON(ENTRY_MOST), AT(struct audit_entry, data) \
	}

static const struct member entry_members[] = {
	{ "key", AS_KEY, MARKED(MEMBER_DERIVED), AT(struct audit_entry, stored.id) },
	{ "seq", AS_NUMBER(8, 1, UNLIMITED), IN_A_DUMP_ALONE, AT(struct audit_entry, seq) },
	ENTRY_MEMBERS,
};
const struct record_table audit_entry_table = {
	RECORD(struct audit_entry, entry_members, 1, &kind_entry),
};

static const struct member queued_members[] = {
	{ "key", AS_KEY, AT(struct audit_entry, stored.id) },
	{ "account", AS_ID, AT(struct audit_entry, account) },
	ENTRY_MEMBERS,
};
const struct record_table audit_queued_table = {
	RECORD(struct audit_entry, queued_members, 1, &kind_queue),
};

static bool audit_entry_read(const struct store_record *stored, struct audit_entry *entry,
			     struct fault *fault)
{
	if (!record_read(&audit_entry_table, NULL, stored, entry, fault))
		return false;
	entry->seq = audit_seq_of(&stored->id);
	return true;
}

bool audit_read(struct transaction *transaction, uint64_t seq, size_t n,
		struct audit_entry *entries, struct fault *fault)
{
	struct id ids[AUDIT_READ_MOST] = { { { 0 } } };
	struct store_record records[AUDIT_READ_MOST];

	assert(n > 0 && n <= AUDIT_READ_MOST);
	for (size_t i = 0; i < n; i++)
		ids[i] = audit_id_of(seq + i);
	if (!store_get_several(transaction, &kind_entry, NULL, ids, n, records, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (records[i].value.data == NULL)
			return record_missing("event", &ids[i], fault);
		if (!audit_entry_read(&records[i], &entries[i], fault))
			return false;
	}
	return true;
}

/* ---- the state ---- */

static const struct member state_members[] = {
	{ "first", AS_NUMBER(8, 1, UNLIMITED), AT(struct audit_state, first) },
	{ "last", AS_NUMBER(8, 0, UNLIMITED), AT(struct audit_state, last) },
	{ "first_at", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct audit_state, first_time) },
	{ "watched", AS_BOOLEAN, AT(struct audit_state, is_watched) },
	{ "enabled", AS_BOOLEAN, AT(struct audit_state, is_enabled) },
	{ "secrets", AS_NUMBER(8, INT64_MIN, INT64_MAX), AT(struct audit_state, secrets) },
};
const struct record_table audit_state_table = {
	RECORD(struct audit_state, state_members, 0, &kind_audit),
};

bool audit_state_read(const struct store_record *stored, struct audit_state *state,
		      struct fault *fault)
{
	if (!record_read(&audit_state_table, NULL, stored, state, fault))
		return false;
	if (stored->value.data == NULL)
		state->first = 1;
	return (state->first >= 1 && state->first <= state->last + 1) ||
	       record_damaged(kind_audit.name, &stored->account, fault);
}

bool audit_state_load(struct transaction *transaction, enum store_reading reading,
		      struct audit_state *state, struct fault *fault)
{
	struct store_record stored;

	return store_get(transaction, &kind_audit, &kind_only_id, reading, &stored, fault) &&
	       audit_state_read(&stored, state, fault);
}

bool audit_states_get(struct transaction *transaction, const struct id *accounts, size_t n,
		      struct store_record *stored, struct fault *fault)
{
	struct id *ids = arena_alloc(transaction->arena, n * sizeof *ids);

	for (size_t i = 0; i < n; i++)
		ids[i] = kind_only_id;
	return store_get_several(transaction, &kind_audit, accounts, ids, n, stored, fault);
}

bool audit_state_put(struct transaction *transaction, const struct audit_state *state,
		     struct fault *fault)
{
	return record_put(&audit_state_table, transaction, state, fault);
}

/* ---- adding and dropping ---- */

/* store_remove can remove a damaged event too, because events are in no index. */
bool audit_drop_first(struct transaction *transaction, struct audit_state *state,
		      struct fault *fault)
{
	const struct id id = audit_id_of(state->first);
	struct store_record stored;
	struct fault damage = FAULT_INITIAL;
	char account[ID_TEXT_SIZE + 1];

	state->first++;
	if (store_get(transaction, &kind_entry, &id, STORE_TO_CHANGE, &stored, &damage))
		return stored.value.data == NULL ||
		       store_remove(transaction, &kind_entry, &stored, fault);
	if (damage.kind != FAULT_DAMAGED) {
		*fault = damage;
		return false;
	}
	id_print(&transaction->account, account);
	log_event(LOG_LEVEL_ERROR, "log_entry_damaged", "account", account, "seq",
		  LOG_NUMBER(state->first - 1), "cause", fault_reason(&damage), "effect",
		  "it is dropped", NULL);
	return store_remove(transaction, &kind_entry, &(struct store_record){ .id = id }, fault);
}

/* Sets the time of the oldest event. A damaged event gets the time of the next readable one; if
 * none of the next few is readable, the time stays that of the previous oldest event. */
static bool find_first_time(struct transaction *transaction, int64_t now, struct audit_state *state,
			    struct fault *fault)
{
	for (uint64_t seq = state->first; seq - state->first < READ_AHEAD; seq++) {
		struct fault damage = FAULT_INITIAL;
		struct audit_entry entry = { .time = now };

		if (seq > state->last || audit_read(transaction, seq, 1, &entry, &damage)) {
			state->first_time = entry.time;
			return true;
		}
		if (damage.kind != FAULT_DAMAGED) {
			*fault = damage;
			return false;
		}
	}
	return true;
}

static bool put_numbered(struct transaction *transaction, const struct audit_entry *entry,
			 struct fault *fault)
{
	struct audit_entry numbered = *entry;

	numbered.stored = (struct store_record){ .id = audit_id_of(entry->seq) };
	return record_put(&audit_entry_table, transaction, &numbered, fault);
}

bool audit_append(struct transaction *transaction, const struct audit_times *times,
		  struct audit_entry *entries, size_t n, struct fault *fault)
{
	const int64_t least = times->now - times->keep;
	struct audit_state state;

	if (!audit_state_load(transaction, STORE_TO_CHANGE, &state, fault))
		return false;

	/* The first events are the oldest: times rise with the numbers, except where clocks
	 * differ. */
	for (size_t i = 0; i < n + DROPPED_BESIDES && times->keep > 0 &&
			   state.first <= state.last && state.first_time < least;
	     i++) {
		if (!audit_drop_first(transaction, &state, fault))
			return false;
		if (state.first > state.last)
			state.first_time = 0;
		else if (!find_first_time(transaction, times->now, &state, fault))
			return false;
	}

	for (size_t i = 0; i < n; i++) {
		entries[i].seq = ++state.last;
		if (state.first == state.last)
			state.first_time = entries[i].time;
		if (!put_numbered(transaction, &entries[i], fault))
			return false;
	}
	return audit_state_put(transaction, &state, fault);
}

/* ---- the queue ---- */

struct id audit_queued_since(int64_t time)
{
	struct id id = { { 0 } };

	id_begin(&id, time);
	return id;
}

bool audit_enqueue(struct transaction *transaction, const struct clock *clock,
		   const struct audit_entry *entries, size_t n, int64_t now, struct fault *fault)
{
	const struct id account = transaction->account;
	bool is_done = true;

	store_set_account(transaction, &audit_no_account);
	for (size_t i = 0; i < n && is_done; i++) {
		struct audit_entry queued = entries[i];
		struct id id;

		/* It rises with time. Random bits distinguish events of the same millisecond. */
		clock_random(clock, id.bytes, sizeof id.bytes);
		id_begin(&id, now);
		id.bytes[6] = (unsigned char)(i >> 8);
		id.bytes[7] = (unsigned char)i;
		queued.account = account;
		queued.stored = (struct store_record){ .id = id };
		is_done = record_put(&audit_queued_table, transaction, &queued, fault);
	}
	store_set_account(transaction, &account);
	return is_done;
}

bool audit_queued_read(const struct store_record *stored, struct audit_entry *entry,
		       struct fault *fault)
{
	return record_read(&audit_queued_table, NULL, stored, entry, fault);
}

static bool is_left(const struct audit_numbering *numbering, const struct id *account)
{
	for (size_t i = 0; i < numbering->left_count; i++) {
		if (id_compare(&numbering->left[i], account) == 0)
			return true;
	}
	return false;
}

/* A page of the queue. */
struct queued {
	struct store_record records[AUDIT_READ_MOST];
	struct audit_entry entries[AUDIT_READ_MOST];
	bool is_numbered[AUDIT_READ_MOST];
	size_t count;
};

/* Numbers the events of one account, from `first` on, in the order of the queue. */
static bool number_account(struct transaction *transaction, const struct audit_times *times,
			   struct queued *queued, size_t first, struct audit_numbering *numbering,
			   struct fault *fault)
{
	struct audit_entry entries[AUDIT_READ_MOST];
	size_t count = 0;

	numbering->has_account = true;
	numbering->account = queued->entries[first].account;
	for (size_t i = first; i < queued->count; i++) {
		if (id_compare(&queued->entries[i].account, &numbering->account) != 0)
			continue;
		queued->is_numbered[i] = true;
		entries[count++] = queued->entries[i];
	}
	store_set_account(transaction, &numbering->account);
	return audit_append(transaction, times, entries, count, fault);
}

bool audit_number(struct transaction *transaction, const struct audit_times *times,
		  struct audit_numbering *numbering, struct fault *fault)
{
	struct queued *queued = arena_alloc(transaction->arena, sizeof *queued);
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.above = &numbering->above,
		.records = queued->records,
		.most = AUDIT_READ_MOST,
	};

	numbering->has_account = false;
	numbering->damage = FAULT_INITIAL;
	store_set_account(transaction, &audit_no_account);
	if (!store_page(transaction, &kind_queue, &page, &numbering->damage) &&
	    (numbering->damage.kind != FAULT_DAMAGED ||
	     id_compare(&page.damaged, &audit_no_account) == 0)) {
		*fault = numbering->damage;
		return false;
	}

	queued->count = page.count;
	numbering->is_last = page.is_last;
	for (size_t i = 0; i < page.count; i++) {
		struct fault damage = FAULT_INITIAL;

		queued->is_numbered[i] = false;
		if (audit_queued_read(&queued->records[i], &queued->entries[i], &damage) ||
		    is_left(numbering, &queued->entries[i].account))
			continue;
		numbering->has_account = true;
		numbering->account = queued->entries[i].account;
		*fault = damage;
		return false;
	}

	for (size_t i = 0; i < page.count; i++) {
		if (!queued->is_numbered[i] && !is_left(numbering, &queued->entries[i].account) &&
		    !number_account(transaction, times, queued, i, numbering, fault))
			return false;
	}

	store_set_account(transaction, &audit_no_account);
	for (size_t i = 0; i < page.count; i++) {
		if (queued->is_numbered[i] &&
		    !store_remove(transaction, &kind_queue, &queued->records[i], fault))
			return false;
	}
	if (numbering->damage.kind == FAULT_DAMAGED)
		numbering->above = page.damaged;
	else if (page.count > 0)
		numbering->above = queued->records[page.count - 1].id;
	return true;
}
