/* See resources/code_audit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_audit.h"

#include "base/text.h"
#include "resources/audit.h"

bool code_note(struct call *call, const char *type, const struct code *code, struct slice role,
	       struct changes *changes, struct fault *fault)
{
	struct audit_data data = { .kind = "room_code", .name = SLICE(""), .changes = changes };
	char room[ID_TEXT_SIZE + 1];

	if (!audit_code_hash(call, code->letters, &data.id, fault))
		return false;
	id_print(&code->room, room);
	data.more[0] = (struct audit_member){ "room_id", slice_of(room), false };
	data.more[1] = (struct audit_member){ "role", role, false };
	data.more[2] = (struct audit_member){ "code_hash", data.id, false };
	if (changes != NULL)
		audit_note_update(call, type, &data);
	else
		audit_note(call, type, &data);
	return true;
}

void codes_note_made(struct call *call, const struct id *room, size_t count)
{
	struct audit_data data = { .kind = "room_code", .id = SLICE(""), .name = SLICE("") };
	char text[ID_TEXT_SIZE + 1];

	id_print(room, text);
	data.more[0] = (struct audit_member){ "room_id", slice_of(text), false };
	data.more[1] = (struct audit_member){ "count",
					      slice_of(arena_text(call->arena, "%zu", count)),
					      true };
	audit_note(call, "room_code.created", &data);
}
