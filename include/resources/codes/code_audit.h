/* What the log says of changes to room codes (resources/audit.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_AUDIT_H
#define RESOURCES_CODES_CODE_AUDIT_H

#include "resources/codes/code_record.h"
#include "schema/changes.h"

/* type: "room_code.created" and so on. changes: of an update, else NULL. */
bool code_note(struct call *call, const char *type, const struct code *code, struct slice role,
	       struct changes *changes, struct fault *fault);
/* The call made codes for roles that lacked one. */
void codes_note_made(struct call *call, const struct id *room, size_t count);

#endif
