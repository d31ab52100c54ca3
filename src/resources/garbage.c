/* See resources/garbage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/garbage.h"

#include "resources/bans/bans.h"
#include "resources/codes/code_record.h"
#include "resources/door/door_record.h"
#include "resources/templates/deleted_role.h"
#include "records/record.h"
#include "resources/record_kind.h"

static bool garbage_remove_records(struct call *call, const struct store_kind *kind,
				   const struct id *parent, bool *are_gone, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = parent,
		.records = arena_alloc(call->arena, GARBAGE_AT_ONCE * sizeof *page.records),
		.most = GARBAGE_AT_ONCE,
	};

	if (!store_page(call->transaction, kind, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, kind, &page.records[i], fault))
			return false;
	}
	*are_gone = page.is_last;
	return true;
}

/* Removes some of those who wait at the door of a room, and then the door. */
static bool remove_door(struct call *call, const struct id *room, bool *are_gone,
			struct fault *fault)
{
	struct door door;

	if (!door_load(call, room, STORE_TO_CHANGE, &door, fault))
		return false;
	if (door.stored.value.data == NULL)
		return true;
	if (!garbage_remove_records(call, &kind_door_ticket, room, are_gone, fault) ||
	    (*are_gone && !garbage_remove_records(call, &kind_visitor, room, are_gone, fault)))
		return false;
	return !*are_gone || store_remove(call->transaction, &kind_door, &door.stored, fault);
}

/* Removes some children, and for each code adds a record (resources/codes/code_words.h). Sets
 * *are_gone to true if none are left. */
static bool remove_children(struct call *call, enum garbage_of of, const struct id *id,
			    bool *are_gone, struct fault *fault)
{
	struct code_page page = { .most = GARBAGE_AT_ONCE };
	size_t removed;

	if (of == GARBAGE_WEBHOOK)
		return garbage_remove_records(call, &kind_webhook_delivery, id, are_gone, fault);
	if (of == GARBAGE_SESSION)
		return garbage_remove_records(call, &kind_given_role, id, are_gone, fault) &&
				       *are_gone
			       ? garbage_remove_records(call, &kind_peer, id, are_gone, fault)
			       : fault->kind == FAULT_NONE;
	if (of == GARBAGE_TEMPLATE) {
		if (!deleted_roles_remove(call, id, INT64_MAX, GARBAGE_AT_ONCE, &removed, fault))
			return false;
		*are_gone = removed < GARBAGE_AT_ONCE;
		return true;
	}
	if (!codes_page(call, id, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!code_remove(call, &page.codes[i], fault))
			return false;
	}
	*are_gone = page.is_last;
	return (!*are_gone || bans_remove_of_room(call, id, are_gone, fault)) &&
	       (!*are_gone || remove_door(call, id, are_gone, fault));
}

static const char *const owners[] = {
	[GARBAGE_ROOM] = "room",
	[GARBAGE_TEMPLATE] = "template",
	[GARBAGE_WEBHOOK] = "webhook",
	[GARBAGE_SESSION] = "session",
};

static const struct member garbage_members[] = {
	{ "id", AS_KEY, AT(struct garbage, stored.id) },
	{ "of", AS_CHOICE(GARBAGE_SESSION, owners), AT(struct garbage, of) },
};
const struct record_table garbage_table = {
	RECORD(struct garbage, garbage_members, 1, &kind_garbage),
};

static bool garbage_record_check(struct call *call, const void *record, struct findings *findings,
				 struct fault *fault)
{
	const struct id *id = &((const struct garbage *)record)->stored.id;
	struct store_record template, room, session;

	if (!store_get(call->transaction, &kind_template, id, STORE_TO_SHOW, &template, fault) ||
	    !store_get(call->transaction, &kind_room, id, STORE_TO_SHOW, &room, fault) ||
	    !store_get(call->transaction, &kind_session, id, STORE_TO_SHOW, &session, fault))
		return false;
	if (template.value.data != NULL || room.value.data != NULL || session.value.data != NULL)
		findings_add(findings, "", "belongs to an object that still exists");
	return true;
}

const struct record_kind garbage_kind = {
	.table = &garbage_table,
	.order = RECORD_PAGES,
	.check = garbage_record_check,
};

bool garbage_finish(struct call *call, const struct id *id, struct fault *fault)
{
	struct garbage garbage;
	bool are_gone;

	if (!record_get(&garbage_table, call->transaction, id, STORE_TO_CHANGE, &garbage, fault))
		return false;
	if (garbage.stored.value.data == NULL)
		return true;
	do {
		if (!remove_children(call, garbage.of, id, &are_gone, fault))
			return false;
	} while (!are_gone);
	return store_remove(call->transaction, &kind_garbage, &garbage.stored, fault);
}

bool garbage_add(struct call *call, enum garbage_of of, const struct id *id, struct fault *fault)
{
	const struct garbage garbage = { .stored.id = *id, .of = of };
	bool are_gone;

	if (!remove_children(call, of, id, &are_gone, fault))
		return false;
	/* garbage_finish: an imported room may have had the id of a template. */
	return are_gone || (garbage_finish(call, id, fault) &&
			    record_put(&garbage_table, call->transaction, &garbage, fault));
}

bool garbage_has(struct call *call, const struct id *id, bool *has, struct fault *fault)
{
	struct garbage garbage;

	if (!record_get(&garbage_table, call->transaction, id, STORE_TO_SHOW, &garbage, fault))
		return false;
	*has = garbage.stored.value.data != NULL;
	return true;
}

bool garbage_collect(struct call *call, struct fault *fault)
{
	struct store_record record;
	struct store_page page = { .order = STORE_OLDEST_FIRST, .records = &record, .most = 1 };
	struct garbage garbage;
	bool are_gone;

	if (!store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	return record_read(&garbage_table, NULL, &record, &garbage, fault) &&
	       remove_children(call, garbage.of, &record.id, &are_gone, fault) &&
	       (!are_gone || store_remove(call->transaction, &kind_garbage, &record, fault));
}
