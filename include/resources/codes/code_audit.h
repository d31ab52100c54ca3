/* Notes changes of room codes for the event log (resources/audit.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_AUDIT_H
#define RESOURCES_CODES_CODE_AUDIT_H

#include "resources/stored/code_record.h"
#include "schema/changes.h"

/* type: "room_code.created" and so on. changes: NULL unless the code was updated. */
bool code_note(struct call *call, const char *type, const struct code *code, struct slice role,
	       struct changes *changes, struct fault *fault);
/* Notes that the call created codes for roles that had none. */
void codes_note_made(struct call *call, const struct id *room, size_t count);

#endif
