/* See resources/events/events.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/events/events.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "resources/lists.h"

/* Events that one request examines, whether they match or not. */
#define EXAMINED_MOST 10000

bool event_type_matches(struct slice wanted, struct slice type)
{
	if (wanted.size == 0 || wanted.data[wanted.size - 1] != '*')
		return slice_equal(wanted, type);
	wanted.size--;
	return slice_begins(type, wanted);
}

static void add_matching(struct call *call, struct list *list, const struct audit_entry *entry)
{
	const struct slice wanted = call_query_text(call, "type");
	struct json_writer text;

	if (wanted.data != NULL && !event_type_matches(wanted, entry->type))
		return;
	list_add(list, SLICE(""));
	text = writer_begin(call->arena, false);
	writer_integer(&text, "seq", (int64_t)entry->seq);
	writer_text(&text, "id", entry->id);
	writer_text(&text, "type", entry->type);
	writer_time_milliseconds(&text, "timestamp", entry->time);
	writer_json(&text, "actor", entry->actor);
	writer_text(&text, "request_id", entry->request_id);
	writer_json(&text, "data", entry->data);
	call_part(call, writer_end(&text));
}

/* Returns how many of the events that are left are read at once. */
static size_t count_at_once(const struct call *call, const struct list *list, uint64_t left)
{
	const size_t most = call_query_text(call, "type").data == NULL ? list->limit
								       : AUDIT_READ_MOST;

	return left < most ? (size_t)left : most;
}

/* Adds the matching events after *seq. Sets *seq to the last event that it examined. */
static bool add_entries(struct call *call, struct list *list, const struct audit_state *state,
			uint64_t *seq, struct fault *fault)
{
	const uint64_t end = state->last - *seq < EXAMINED_MOST ? state->last
								: *seq + EXAMINED_MOST;
	struct audit_entry entries[AUDIT_READ_MOST];

	while (*seq < end && !list_is_full(list)) {
		const size_t n = count_at_once(call, list, end - *seq);

		if (!audit_read(call->transaction, *seq + 1, n, entries, fault))
			return false;
		for (size_t i = 0; i < n && !list_is_full(list); i++) {
			*seq = entries[i].seq;
			add_matching(call, list, &entries[i]);
		}
	}
	return true;
}

/* Does the same, newest first, with the events before *seq (0: from the newest). */
static bool add_entries_before(struct call *call, struct list *list,
			       const struct audit_state *state, uint64_t *seq, struct fault *fault)
{
	uint64_t at = *seq == 0 || *seq > state->last ? state->last + 1 : *seq;
	const uint64_t end = at > state->first + EXAMINED_MOST ? at - EXAMINED_MOST : state->first;
	struct audit_entry entries[AUDIT_READ_MOST];

	while (at > end && !list_is_full(list)) {
		const size_t n = count_at_once(call, list, at - end);

		if (!audit_read(call->transaction, at - n, n, entries, fault))
			return false;
		for (size_t i = n; i > 0 && !list_is_full(list); i--) {
			at = *seq = entries[i - 1].seq;
			add_matching(call, list, &entries[i - 1]);
		}
	}
	return true;
}

bool events_list(struct call *call, struct fault *fault)
{
	const json_t *after = json_object_get(call->query, "after");
	const json_t *before = json_object_get(call->query, "before");
	struct list *list = call->list;
	struct audit_state state;
	uint64_t seq;

	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault))
		return false;
	seq = before == NULL && after == NULL
		      ? state.first - 1
		      : (uint64_t)json_integer_value(before != NULL ? before : after);
	if (before == NULL && seq + 1 < state.first)
		return fault_set(fault, FAULT_GONE, "Entries up to %llu are gone",
				 (unsigned long long)(state.first - 1));
	list_open(list);
	if (before != NULL ? !add_entries_before(call, list, &state, &seq, fault)
			   : seq < state.last && !add_entries(call, list, &state, &seq, fault))
		return false;
	list->last = slice_of(arena_text(call->arena, "%llu", (unsigned long long)seq));
	return list_close(list, fault);
}
