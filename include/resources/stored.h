/* Reads JSON texts of stored records for handlers. A text that cannot be read is damage. It is
 * noted in the run of the call, so functions that build documents need no fault.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_H
#define RESOURCES_STORED_H

#include "records/record.h"
#include "resources/call.h"

/* Parses a stored JSON object of the record `what` with this key, in the arena of the call. If the
 * text cannot be read, returns {} and notes the damage in the run of the call; stored_sound then
 * replaces the result of the run. */
json_t *stored_json(struct call *call, struct slice text, const char *what, const struct id *key);
/* Notes that a text of this record cannot be read. */
void stored_note(struct call *call, const char *what, const struct id *key);
/* Must be called after a handler, or after other functions that read stored texts of a call.
 * Returns is_done, unless damage was noted: then forgets it and returns false, with the fault of
 * record_damaged in place of any other. */
bool stored_sound(struct call *call, bool is_done, struct fault *fault);

#endif
