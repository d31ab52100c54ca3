/* See resources/events/events.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/events/events.h"

#include "base/text.h"
#include "resources/lists.h"

/* Events that one request looks at, whether they match or not. */
#define LOOKED_AT_MOST 10000

bool event_type_matches(struct slice wanted, struct slice type)
{
	if (wanted.size == 0 || wanted.data[wanted.size - 1] != '*')
		return slice_equal(wanted, type);
	wanted.size--;
	return slice_begins(type, wanted);
}

void event_append(struct buffer *text, const struct audit_entry *entry)
{
	buffer_append_text(text, "{\"seq\":");
	buffer_append_integer(text, (json_int_t)entry->seq);
	buffer_append_member(text, ",\"id\":", entry->id);
	buffer_append_member(text, ",\"type\":", entry->type);
	buffer_append_time_milliseconds(text, ",\"timestamp\":", entry->time);
	buffer_append_text(text, ",\"actor\":");
	buffer_append(text, entry->actor);
	buffer_append_member(text, ",\"request_id\":", entry->request_id);
	buffer_append_text(text, ",\"data\":");
	buffer_append(text, entry->data);
	buffer_append_byte(text, '}');
}

/* Adds the matching events after *seq. Sets *seq to the last event that it looked at. */
static bool add_entries(struct call *call, struct list *list, const struct audit_state *state,
			uint64_t *seq, struct fault *fault)
{
	const struct slice wanted = call_query_text(call, "type");
	const uint64_t end = state->last - *seq < LOOKED_AT_MOST ? state->last
								 : *seq + LOOKED_AT_MOST;
	struct audit_entry entries[AUDIT_READ_MOST];
	size_t at_once = wanted.data == NULL ? list->limit : AUDIT_READ_MOST;

	while (*seq < end && !list_is_full(list)) {
		const size_t n = end - *seq < at_once ? (size_t)(end - *seq) : at_once;

		if (!audit_read(call->transaction, *seq + 1, n, entries, fault))
			return false;
		for (size_t i = 0; i < n && !list_is_full(list); i++) {
			struct buffer text = BUFFER_INITIAL(call->arena);

			*seq = entries[i].seq;
			if (wanted.data != NULL && !event_type_matches(wanted, entries[i].type))
				continue;
			list_add(list, SLICE(""));
			event_append(&text, &entries[i]);
			call_part(call, buffer_slice(&text));
		}
	}
	return true;
}

bool events_list(struct call *call, struct fault *fault)
{
	const json_t *after = json_object_get(call->query, "after");
	struct audit_state state;
	struct list list;
	uint64_t seq;

	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault))
		return false;
	seq = after == NULL ? state.first - 1 : (uint64_t)json_integer_value(after);
	if (seq + 1 < state.first)
		return fault_set(fault, FAULT_GONE, "Entries up to %llu are gone",
				 (unsigned long long)(state.first - 1));
	list_open(call, &list);
	if (seq < state.last && !add_entries(call, &list, &state, &seq, fault))
		return false;
	list.last = slice_of(arena_text(call->arena, "%llu", (unsigned long long)seq));
	return list_close(&list, fault);
}
