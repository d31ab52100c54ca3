/* See resources/recordings/analytics.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/analytics.h"

#include <string.h>

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit_record.h"
#include "resources/recordings/job_links.h"
#include "resources/stored/job_record.h"

/* Events that one request examines, whether they match or not. */
#define EXAMINED_MOST 10000
#define PAGE_MOST 100

/* What is looked for, and what was found. */
struct analytics {
	struct call *call;
	const json_t *types; /* NULL: all */
	struct slice room;
	uint64_t after; /* events up to this one are counted, and not returned */
	size_t limit;
	struct audit_entry found[PAGE_MOST];
	size_t count;
	uint64_t total, seen; /* seen: the last event that was returned, or looked at */
};

static bool type_is_wanted(const struct analytics *analytics, const struct audit_entry *entry)
{
	const size_t n = json_array_size(analytics->types);

	for (size_t i = 0; i < n; i++) {
		if (slice_equal(text_of_json(json_array_get(analytics->types, i)), entry->type))
			return true;
	}
	return n == 0;
}

/* Most events are of other rooms, and are not parsed. */
static bool entry_matches(const struct analytics *analytics, const struct audit_entry *entry)
{
	static const char *const members[] = { "room_id", "session_id", "peer_id", "user_id",
					       "beam_id" };
	const struct slice room = analytics->room;
	const json_t *data;

	if (!type_is_wanted(analytics, entry) ||
	    memmem(entry->data.data, entry->data.size, room.data, room.size) == NULL)
		return false;
	data = json_text_read_stored(analytics->call->arena, entry->data, NULL);
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		const struct slice wanted = call_query_text(analytics->call, members[i]);
		const struct slice has = text_of_json(json_object_get(data, members[i]));

		if (wanted.data != NULL && (has.data == NULL || !slice_equal(wanted, has)))
			return false;
	}
	return true;
}

/* Goes through the event log: all of it, if that is not too much, because the number of all that
 * match is part of the response; else from where the request continues. *is_last: nothing
 * follows. */
static bool find_entries(struct analytics *analytics, const struct audit_state *state,
			 bool *is_last, struct fault *fault)
{
	struct audit_entry *entries = arena_alloc(analytics->call->arena,
						  AUDIT_READ_MOST * sizeof *entries);
	const uint64_t first = state->first - 1;
	uint64_t seq = state->last - first <= EXAMINED_MOST || analytics->after < first
			       ? first
			       : analytics->after;
	const uint64_t end = state->last - seq > EXAMINED_MOST ? seq + EXAMINED_MOST : state->last;

	*is_last = end == state->last;
	analytics->seen = analytics->after;
	while (seq < end) {
		const size_t n = end - seq < AUDIT_READ_MOST ? (size_t)(end - seq)
							     : AUDIT_READ_MOST;

		if (!audit_read(analytics->call->transaction, seq + 1, n, entries, fault))
			return false;
		for (size_t i = 0; i < n; i++) {
			const bool matches = entry_matches(analytics, &entries[i]);

			seq = entries[i].seq;
			analytics->total += matches;
			if (seq <= analytics->after)
				continue;
			if (analytics->count == analytics->limit) {
				*is_last = *is_last && !matches;
				continue;
			}
			analytics->seen = seq;
			if (matches)
				analytics->found[analytics->count++] = entries[i];
		}
	}
	return true;
}

/* Files are read in one step for the links to them. */
static void expect_assets(struct analytics *analytics)
{
	struct arena *arena = analytics->call->arena;
	struct store_expected *expected = arena_zero(arena, PAGE_MOST * sizeof *expected);
	struct id *ids = arena_alloc(arena, PAGE_MOST * sizeof *ids);
	size_t n = 0;

	for (size_t i = 0; i < analytics->count; i++) {
		const struct audit_entry *entry = &analytics->found[i];

		if (!job_event_has_links(entry->type) ||
		    !id_parse(text_of_json(json_object_get(
				      json_text_read_stored(arena, entry->data, NULL),
				      "recording_id")),
			      &ids[n]))
			continue;
		expected[n] = (struct store_expected){
			.kind = &kind_asset,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_SHOW,
			.id = &ids[n],
		};
		n++;
	}
	if (n > 0)
		store_expect(analytics->call->transaction, STORE_EACH, expected, n);
}

static void write_entry(struct call *call, struct json_writer *body,
			const struct audit_entry *entry)
{
	writer_open(body, NULL, '{');
	writer_plain(body, "version", SLICE("2.0"));
	writer_text(body, "id", entry->id);
	writer_plain(body, "account_id", slice_of(call->account_text));
	writer_plain(body, "app_id", slice_of(call->account_text));
	writer_time_milliseconds(body, "timestamp", entry->time);
	writer_text(body, "type", entry->type);
	writer_json(body, "data", entry->data);
	writer_close(body, '}');
}

bool analytics_list(struct call *call, struct fault *fault)
{
	struct analytics *analytics = arena_zero(call->arena, sizeof *analytics);
	struct json_writer body = writer_begin(call->arena, false);
	struct audit_state state;
	struct slice next;
	bool is_last;

	/* Without any query, its rules are not asked. */
	if (call_query_text(call, "room_id").data == NULL)
		return fault_member(fault, FAULT_INVALID_QUERY, NULL, "room_id", "is required");
	analytics->call = call;
	analytics->types = json_object_get(call->query, "type");
	analytics->room = call_query_text(call, "room_id");
	analytics->after = (uint64_t)json_integer_value(json_object_get(call->query, "start"));
	analytics->limit = (size_t)json_integer_value(json_object_get(call->query, "limit"));
	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault) ||
	    !find_entries(analytics, &state, &is_last, fault))
		return false;
	expect_assets(analytics);
	writer_integer(&body, "limit", (int64_t)analytics->limit);
	writer_integer(&body, "total", (int64_t)analytics->total);
	writer_open(&body, "events", '[');
	for (size_t i = 0; i < analytics->count; i++) {
		struct audit_entry *entry = &analytics->found[i];

		if (!job_event_links(call, entry->type, entry->data, &entry->data, fault))
			return false;
		write_entry(call, &body, entry);
	}
	writer_close(&body, ']');
	next = is_last ? SLICE("")
		       : slice_of(arena_text(call->arena, "%llu",
					     (unsigned long long)analytics->seen));
	writer_plain(&body, "next", next);
	writer_plain(&body, "last", next);
	return call_answer(call, writer_end(&body));
}
