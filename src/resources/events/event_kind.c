/* The event log and webhooks in a dump, and how they are checked (resources/record_kind.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/events/webhooks.h"
#include "resources/record_kind.h"
#include "resources/stored.h"

#define ENTRIES_AT_ONCE 32

/* ---- the event log ---- */

/* Reads many events at once, and one by one only to find which of them is damaged. */
static bool log_derive(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault)
{
	const struct audit_state *state = record;
	struct audit_entry entries[ENTRIES_AT_ONCE];
	size_t n = ENTRIES_AT_ONCE;
	bool is_there;

	if (state->first < 1 || state->first > state->last + 1)
		findings_add(findings, "/first", "must be at most last plus one");
	for (uint64_t seq = state->first; seq <= state->last && !findings_are_full(findings);) {
		const struct arena_mark mark = arena_mark(call->arena);
		struct fault own = FAULT_INITIAL;

		if (state->last - seq < n)
			n = (size_t)(state->last - seq + 1);
		is_there = audit_read(call->transaction, seq, n, entries, &own);
		arena_release(call->arena, &mark);
		if (!is_there && own.kind != FAULT_DAMAGED) {
			*fault = own;
			return false;
		}
		if (!is_there && n > 1) {
			n = 1;
			continue;
		}
		if (!is_there)
			findings_add(findings, "", "event %llu is missing or cannot be read",
				     (unsigned long long)seq);
		seq += n;
	}
	return true;
}

const struct record_kind audit_kind = {
	.table = &audit_state_table,
	.line = "log",
	.order = RECORD_ONE,
	.derive = log_derive,
};

static void entry_print(struct call *call, void *record)
{
	struct audit_entry *entry = record;

	(void)call;
	entry->seq = audit_seq_of(&entry->stored.id);
}

static bool entry_load(struct call *call, void *record, const char *pointer,
		       struct findings *findings, struct fault *fault)
{
	struct audit_entry *entry = record;
	struct audit_state state;

	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault))
		return false;
	if (entry->seq < state.first || entry->seq > state.last)
		findings_add(findings, arena_text(call->arena, "%s/seq", pointer),
			     "must be within the line \"log\" of the account");
	entry->stored.id = audit_id_of(entry->seq);
	return true;
}

static bool entry_derive(struct call *call, const void *record, struct findings *findings,
			 struct fault *fault)
{
	const uint64_t seq = audit_seq_of(&((const struct audit_entry *)record)->stored.id);
	struct audit_state state;

	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault))
		return false;
	if (seq < state.first || seq > state.last)
		findings_add(findings, "/seq", "is not in the log, which goes from %llu to %llu",
			     (unsigned long long)state.first, (unsigned long long)state.last);
	return true;
}

const struct record_kind entry_kind = {
	.table = &audit_entry_table,
	.line = "event",
	.order = RECORD_NUMBERED,
	.print = entry_print,
	.load = entry_load,
	.derive = entry_derive,
};

const struct record_kind queue_kind = {
	.table = &audit_queued_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
};

/* ---- webhooks ---- */

/* Gives each webhook a position, at the end of the event log: the dump may lack its position. */
static bool webhooks_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct webhooks *webhooks = record;

	for (size_t i = 0; i < webhooks->count; i++) {
		if (!webhook_position_begin(call->transaction, &webhooks->items[i], fault))
			return false;
	}
	return webhooks_put(call->transaction, webhooks, fault);
}

static bool webhooks_record_check(struct call *call, const void *record, struct findings *findings,
				  struct fault *fault)
{
	const struct webhooks *webhooks = record;

	(void)fault;
	for (size_t i = 0; i < webhooks->count; i++) {
		const struct webhook *webhook = &webhooks->items[i];
		const char *at = arena_text(call->arena, "/webhooks/%zu", i);

		record_check_document(&webhook_shape, webhook_document(call, webhook), at,
				      findings);
		if (id_number(&webhook->id) > webhooks->last ||
		    (i > 0 && id_compare(&webhook->id, &webhook[-1].id) <= 0))
			findings_add(
				findings, arena_text(call->arena, "%s/id", at),
				"must be newer than the previous one and not greater than last");
	}
	return true;
}

static bool webhooks_derive(struct call *call, const void *record, struct findings *findings,
			    struct fault *fault)
{
	const struct webhooks *webhooks = record;
	struct webhook_position position;

	for (size_t i = 0; i < webhooks->count; i++) {
		if (!webhook_position_load(call->transaction, &webhooks->items[i].id, STORE_TO_SHOW,
					   &position, fault))
			return false;
		if (position.series != webhooks->items[i].series)
			findings_add(findings, arena_text(call->arena, "/webhooks/%zu", i),
				     "its position is missing");
	}
	return true;
}

static bool webhooks_removed(struct call *call, const void *record, struct fault *fault)
{
	(void)record;
	return webhook_account_remove(call->transaction, fault);
}

const struct record_kind webhooks_kind = {
	.table = &webhooks_table,
	.line = "webhooks",
	.shapes = { &webhook_shape },
	.order = RECORD_ONE,
	.put = webhooks_put_loaded,
	.removed = webhooks_removed,
	.check = webhooks_record_check,
	.derive = webhooks_derive,
};

/* Limits the position to the end of the event log, which is shorter if its events were lost. */
static bool position_put(struct call *call, void *record, struct fault *fault)
{
	const struct webhook_position *loaded = record;
	struct webhook_position position;
	struct audit_state state;

	if (!audit_state_load(call->transaction, STORE_TO_SHOW, &state, fault) ||
	    !webhook_position_load(call->transaction, &loaded->stored.id, STORE_TO_CHANGE,
				   &position, fault))
		return false;
	position.series = loaded->series;
	position.seq = loaded->seq < state.last ? loaded->seq : state.last;
	position.delivered = loaded->delivered;
	return webhook_position_put(call->transaction, &position, fault);
}

const struct record_kind webhook_position_kind = {
	.table = &webhook_position_table,
	.line = "position",
	.order = RECORD_BESIDE,
	.may_be_there = true,
	.put = position_put,
};

static bool delivery_record_check(struct call *call, const void *record, struct findings *findings,
				  struct fault *fault)
{
	const struct webhook_delivery *delivery = record;

	(void)call;
	(void)fault;
	if (delivery->is_pending != webhook_delivery_is_pending(delivery))
		findings_add(findings, "/pending", "does not match its state");
	return true;
}

const struct record_kind webhook_delivery_kind = {
	.table = &webhook_delivery_table,
	.line = "delivery",
	.order = RECORD_CHILDREN,
	.check = delivery_record_check,
};

const struct record_kind webhook_account_kind = {
	.table = &webhook_account_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
};
