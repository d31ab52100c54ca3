/* The log of an account in a dump, and back: see transfer/transfer.h. Entries that wait for their
 * number get it here, as they would from the service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "resources/events/events.h"
#include "resources/kinds.h"
#include "resources/packed.h"
#include "transfer/transfer_lines.h"
#include "transfer/transfer_parts.h"

/* ---- out ---- */

static bool write_entry(struct survey *survey, struct transfer_output *output,
			const struct audit_entry *entry, struct fault *fault)
{
	struct arena *arena = survey->call.arena;
	const struct arena_mark mark = arena_mark(arena);
	struct buffer text = BUFFER_INITIAL(arena);
	bool is_sent;

	buffer_append_text(&text, "{\"event\":");
	event_append(&text, entry);
	buffer_append_byte(&text, '}');
	output->counts.events++;
	is_sent = output->line(output, buffer_slice(&text), fault);
	arena_release(arena, &mark);
	return is_sent;
}

/* Writes the entries of the account that wait in the queue. output: NULL, they are only counted.
 * *last: the number of the last entry before them, and then of all. */
static bool walk_queue(struct survey *survey, struct transfer_output *output, uint64_t *last,
		       struct fault *fault)
{
	struct transaction *transaction = survey->call.transaction;
	const struct id account = survey->call.account;
	struct store_record records[AUDIT_READ_MOST];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.records = records,
		.most = AUDIT_READ_MOST,
	};
	struct id above, owner;
	struct audit_entry entry;
	bool is_done = true;

	do {
		store_set_account(transaction, &audit_no_account);
		is_done = store_page(transaction, &kind_queue, &page, fault);
		store_set_account(transaction, &account);
		for (size_t i = 0; is_done && i < page.count; i++) {
			is_done = audit_queued_read(&records[i], &owner, &entry, fault);
			if (!is_done || id_compare(&owner, &account) != 0)
				continue;
			entry.seq = ++*last;
			is_done = output == NULL || write_entry(survey, output, &entry, fault);
		}
		if (is_done && page.count > 0)
			above = records[page.count - 1].id;
		page.above = &above;
	} while (is_done && !page.is_last);
	return is_done;
}

bool transfer_last_event(struct survey *survey, uint64_t *last, struct fault *fault)
{
	struct audit_state state;

	if (!audit_state_load(survey->call.transaction, STORE_TO_SHOW, &state, fault))
		return false;
	*last = state.last;
	return walk_queue(survey, NULL, last, fault);
}

/* Whether its line could be loaded. */
static bool is_readable(struct arena *arena, const struct audit_entry *entry, struct fault *fault)
{
	const struct id id = audit_id_of(entry->seq);

	return (json_text_read_stored(arena, entry->actor, NULL) != NULL &&
		json_text_read_stored(arena, entry->data, NULL) != NULL) ||
	       packed_damaged("log entry", &id, fault);
}

/* *from: the entry after the last one that cannot be read, which is told, as those before it are
 * lost: a log has no gaps. */
static bool skip_lost(struct survey *survey, struct transfer_output *output,
		      const struct audit_state *state, uint64_t *from, struct fault *fault)
{
	struct audit_entry entry;

	*from = state->first;
	for (uint64_t seq = state->first; output->lost != NULL && seq <= state->last; seq++) {
		struct fault own = FAULT_INITIAL;

		if (!audit_read(survey->call.transaction, seq, 1, &entry, &own) ||
		    !is_readable(survey->call.arena, &entry, &own)) {
			*from = seq + 1;
			if (!transfer_leave_out(output,
						arena_text(survey->call.arena,
							   "log of the account %s up to entry %llu",
							   survey->call.account_text,
							   (unsigned long long)seq),
						&own, fault))
				return false;
		}
		survey_forget(survey);
	}
	return true;
}

bool transfer_line_events(struct survey *survey, struct transfer_output *output,
			  struct fault *fault)
{
	struct transaction *transaction = survey->call.transaction;
	struct fault own = FAULT_INITIAL;
	struct audit_state state;
	uint64_t from;

	if (!audit_state_load(transaction, STORE_TO_SHOW, &state, &own))
		return transfer_leave_out_part(&survey->call, output, "log", &own, fault);
	if (!skip_lost(survey, output, &state, &from, fault))
		return false;
	for (uint64_t seq = from; seq <= state.last; seq++) {
		struct audit_entry entry;

		if (!audit_read(transaction, seq, 1, &entry, fault) ||
		    !write_entry(survey, output, &entry, fault))
			return false;
		survey_forget(survey);
	}
	return walk_queue(survey, output, &state.last, fault);
}

/* ---- in ---- */

static struct slice json_of(struct call *call, const json_t *object, const char *name)
{
	struct buffer text = BUFFER_INITIAL(call->arena);

	buffer_append_json(&text, json_object_get(object, name));
	return buffer_slice(&text);
}

bool transfer_begin_events(struct transfer_input *input, uint64_t last, struct fault *fault)
{
	struct audit_state state;

	input->last_event = last;
	input->event = 0;
	if (last == 0)
		return true;
	if (!audit_state_load(input->call.transaction, STORE_TO_CHANGE, &state, fault))
		return false;
	state.first = last + 1;
	state.last = last;
	return audit_state_put(input->call.transaction, &state, fault);
}

bool transfer_read_event(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	struct audit_entry entry = {
		.seq = transfer_number(object, "seq"),
		.time = transfer_time(input, "/event", object, "timestamp"),
		.id = transfer_text(object, "id"),
		.type = transfer_text(object, "type"),
		.actor = json_of(call, object, "actor"),
		.request_id = transfer_text(object, "request_id"),
		.data = json_of(call, object, "data"),
	};

	if (entry.seq > input->last_event || (input->event != 0 && entry.seq != input->event + 1))
		findings_add(&call->findings, "/event/seq",
			     "must follow that of the line before, and be at most the account's "
			     "last_event");
	if (!findings_result(&call->findings, fault))
		return false;
	input->event = entry.seq;
	input->counts.events++;
	return audit_restore(call->transaction, &entry, fault);
}
