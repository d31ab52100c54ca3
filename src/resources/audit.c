/* See resources/audit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/audit.h"

#include "base/json_writer.h"
#include "resources/audit_record.h"
#include "resources/stored.h"

/* ---- noting ---- */

struct slice audit_data_text(struct arena *arena, const struct audit_data *data)
{
	struct json_writer text = writer_begin(arena, false);

	writer_plain(&text, "kind", slice_of(data->kind));
	writer_text(&text, "id", data->id);
	writer_text(&text, "name", data->name);
	writer_open(&text, "changed", '[');
	changes_write(data->changes, &text);
	writer_close(&text, ']');
	for (size_t i = 0; i < AUDIT_MORE_MOST && data->more[i].name != NULL; i++) {
		if (data->more[i].is_json)
			writer_json(&text, data->more[i].name, data->more[i].value);
		else
			writer_text(&text, data->more[i].name, data->more[i].value);
	}
	return writer_end(&text);
}

void audit_note(struct call *call, const char *type, const struct audit_data *data)
{
	struct noted *noted;
	struct id id = { { 0 } };

	if (data->changes != NULL && data->changes->is_damaged) {
		(void)id_parse(data->id, &id);
		stored_note(call, data->kind, &id);
	}
	if (data->changes != NULL && data->changes->count == 0)
		return;
	noted = arena_alloc(call->arena, sizeof *noted);
	*noted = (struct noted){
		.type = type,
		.id = arena_copy(call->arena, data->id),
		.data = audit_data_text(call->arena, data),
		.actor = arena_copy(call->arena, data->actor),
	};
	if (call->run.noted.count++ == 0)
		call->run.noted.first = noted;
	else
		call->run.noted.last->next = noted;
	call->run.noted.last = noted;
}

/* ---- writing ---- */

struct slice audit_actor_text(struct arena *arena, enum actor_kind kind, struct slice id)
{
	static const char *const kinds[] = {
		[ACTOR_TOKEN] = "token", [ACTOR_KEY] = "key", [ACTOR_SESSION] = "session",
		[ACTOR_CODE] = "code",	 [ACTOR_CLI] = "cli", [ACTOR_SERVICE] = "service",
	};
	struct json_writer text = writer_begin(arena, false);

	writer_plain(&text, "kind", slice_of(kinds[kind]));
	writer_text(&text, "id", id);
	return writer_end(&text);
}

bool audit_put(struct call *call, struct audit_entry *entries, size_t n, struct fault *fault)
{
	const struct audit_times times = { call->now, call->environment->log_keep };

	return store_is_shared(call->environment->store)
		       ? audit_enqueue(call->transaction, call->environment->clock, entries, n,
				       call->now, fault)
		       : audit_append(call->transaction, &times, entries, n, fault);
}

struct slice audit_caller_text(const struct call *call)
{
	return audit_actor_text(call->arena, call->actor.kind, slice_of(call->actor.id));
}

struct slice audit_service_text(struct arena *arena)
{
	return audit_actor_text(arena, ACTOR_SERVICE, SLICE(""));
}

bool audit_write(struct call *call, struct fault *fault)
{
	const size_t n = call->run.noted.count;
	struct slice actor;
	struct audit_entry *entries;
	const struct noted *noted = call->run.noted.first;

	if (n == 0)
		return true;
	actor = audit_caller_text(call);
	entries = arena_alloc(call->arena, n * sizeof *entries);
	for (size_t i = 0; i < n; i++, noted = noted->next) {
		entries[i] = (struct audit_entry){
			.time = call->now,
			.id = uuid_as_text(call->arena, call->environment->clock),
			.type = slice_of(noted->type),
			.actor = noted->actor.size > 0 ? noted->actor : actor,
			.request_id = slice_of(call->id),
			.data = noted->data,
		};
	}
	return audit_put(call, entries, n, fault);
}
