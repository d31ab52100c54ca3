/* Whether the holder of a join token may be in its room now.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENTRY_RULES_TOKEN_CHECK_H
#define RESOURCES_ENTRY_RULES_TOKEN_CHECK_H

#include "resources/entry_rules/entrant.h"

/* What is found of the holder, in the memory of the caller, which sets entrant->moment. */
struct token_holder {
	struct entrant *entrant;
	struct room_subject *subject;
	struct code *code; /* set if entrant->code is then */
	struct media *media; /* set if entrant->media is then */
};
/* Checks the holder of the call's join token, as far as others inside do not matter. */
bool token_check_holder(struct call *call, const struct token_holder *holder, struct fault *fault);

/* A holder who calls from inside the room. */
struct bearer {
	struct room_record room;
	struct template_record template;
	bool has_backend; /* the room uses one; `backend` is set */
	struct id backend;
	bool name_is_fixed; /* by the code of the token */
};
/* Checks the holder as token_check_holder does. */
bool token_check(struct call *call, struct bearer *bearer, struct fault *fault);

#endif
