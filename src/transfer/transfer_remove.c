/* Taking away what a dump brought that was given up: see transfer/transfer.h. Each transaction of a
 * load leaves lists and records in agreement, so walking the lists finds everything.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/buried_role.h"
#include "resources/code_life.h"
#include "resources/rooms.h"
#include "resources/templates.h"
#include "transfer/transfer.h"

/* The deleted roles that the room's codes refer to, which the dump brought with the room. */
static bool remove_deleted_roles(struct call *call, const struct room_record *room,
				 struct fault *fault)
{
	struct template_record owner;
	struct room_codes codes;

	if (!template_load(call, &room->template_id, &owner, fault) ||
	    !codes_load(call, &room->id, &codes, fault))
		return false;
	for (size_t i = 0; i < codes.count; i++) {
		const struct code *code = &codes.codes[i];

		if (!code->is_lost && template_live_role(&owner, code->role) == NULL &&
		    !buried_role_remove(call, &owner.id, code->role, fault))
			return false;
	}
	return true;
}

static bool remove_room(struct call *call, const struct id *id, struct fault *fault)
{
	struct room_record room;

	return room_load(call, id, &room, fault) && remove_deleted_roles(call, &room, fault) &&
	       room_remove(call, &room, fault);
}

static bool remove_template(struct call *call, const struct id *id, struct fault *fault)
{
	struct template_record record;

	return template_load(call, id, &record, fault) && template_remove(call, &record, fault);
}

bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault)
{
	struct page page;

	*is_empty = false;
	if (!page_of_rooms(call, NULL, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!remove_room(call, &page.ids[i], fault))
			return false;
	}
	if (page.count > 0)
		return true;
	if (!page_of_templates(call, NULL, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!remove_template(call, &page.ids[i], fault))
			return false;
	}
	if (page.count > 0)
		return true;
	*is_empty = true;
	return store_remove(call->transaction, STORE_ACCOUNT, id_slice(&call->account), fault);
}
