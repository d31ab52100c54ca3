/* See resources/stored.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored.h"

#include "base/json_text.h"

void stored_note(struct call *call, const char *what, const struct id *key)
{
	struct fault *damage = arena_alloc(call->arena, sizeof *damage);

	*damage = FAULT_INITIAL;
	record_damaged(what, key, damage);
	if (call->run.damage == NULL)
		call->run.damage = damage;
}

json_t *stored_json(struct call *call, struct slice text, const char *what, const struct id *key)
{
	json_t *object = json_text_read_stored(call->arena, text, NULL);

	if (object != NULL)
		return object;
	stored_note(call, what, key);
	return arena_json(call->arena, json_object());
}

bool stored_sound(struct call *call, bool is_done, struct fault *fault)
{
	if (call->run.damage == NULL)
		return is_done;
	*fault = *call->run.damage;
	call->run.damage = NULL;
	return false;
}
