/* The terms of a room code (resources/stored/code_record.h) as JSON: in responses, and as a
 * document that a merge patch changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_TERMS_H
#define RESOURCES_CODES_CODE_TERMS_H

#include "base/json_writer.h"
#include "resources/codes/code_life.h"

/* Writes the members of a response that follow updated_at and are set; `state` at call->now is
 * the last of them. */
void code_terms_write(struct call *call, const struct code *code, const struct shown_code *shown,
		      struct json_writer *text);
/* Returns a new object in the arena with `enabled` and the terms that a client may set. */
json_t *code_terms_document(struct call *call, const struct code *code, bool is_enabled);
/* Sets the terms from such an object, or from the body of a new code, in which expires_in counts
 * from call->now. Keeps the number of uses as long as max_uses stays set. */
void code_terms_read(struct call *call, const json_t *document, struct code_terms *terms);

#endif
