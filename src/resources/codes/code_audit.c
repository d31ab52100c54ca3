/* See resources/codes/code_audit.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/code_audit.h"

#include "resources/audit.h"
#include "resources/stored/media_record.h"

bool code_note(struct call *call, const char *type, const struct code *code, struct slice role,
	       struct changes *changes, struct fault *fault)
{
	struct audit_data data = {
		.kind = "room_code",
		.name = SLICE(""),
		.changes = changes,
		.more = { { "room_id", id_as_text(call->arena, &code->room), false },
			  { "role", role, false } },
	};
	struct media media;

	/* Creates the key of the hash if the account has none. */
	if (!media_load_lasting(call, &media, fault))
		return false;
	data.id = media_code_hash(call->arena, &media, code->letters);
	data.more[2] = (struct audit_member){ "code_hash", data.id, false };
	audit_note(call, type, &data);
	return true;
}

void codes_note_made(struct call *call, const struct id *room, size_t count)
{
	const struct slice number = slice_of(arena_text(call->arena, "%zu", count));
	const struct audit_data data = {
		.kind = "room_code",
		.id = SLICE(""),
		.name = SLICE(""),
		.more = { { "room_id", id_as_text(call->arena, room), false },
			  { "count", number, true } },
	};

	audit_note(call, "room_code.created", &data);
}
