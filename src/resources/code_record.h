/* The codes of a room as they are stored: one record under the room, in the order of their making,
 * and under each code the way to its room. What they mean is in resources/code_life.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODE_RECORD_H
#define RESOURCES_CODE_RECORD_H

#include "resources/call.h"

struct code {
	char letters[CODE_TEXT_SIZE];
	bool is_enabled; /* as stored; what it shows depends on its role */
	bool is_lost;
	uint32_t role; /* identity; of a lost one: index into the lost names */
	int64_t created, updated; /* seconds since 1970 */
};

/* A role that is due though it is not above the last one seen: there are none in a room that was not
 * asked for the codes of all roles, and none that a code refers to. */
struct due_role {
	uint32_t identity;
	int64_t since; /* seconds since 1970: when its code was made, for whoever looks */
};

struct room_codes {
	struct id room;
	bool was_asked; /* for the codes of all roles */
	uint32_t last_seen; /* the highest identity accounted for */
	struct due_role *due; /* the longest due first; some may be deleted meanwhile */
	size_t due_count;
	struct code *codes;
	size_t count, capacity;
	struct slice *lost_names;
	size_t lost_count, lost_capacity;
	json_t *lost_indexes; /* by name; NULL until it is needed */
};

/* Empty for a room that has none yet. */
bool codes_load(struct call *call, const struct id *room, struct room_codes *codes,
		struct fault *fault);
bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault);

/* Room for one more behind the others, which is counted already. */
struct code *codes_append(struct call *call, struct room_codes *codes);
/* The index of a lost role's name, which is added when it is new. Its time does not depend on how many
 * there are, once they were gone through. */
uint32_t codes_lost_index(struct call *call, struct room_codes *codes, struct slice name);
/* Leaves out the names that no lost code has any more. */
void codes_forget_names(struct call *call, struct room_codes *codes);
/* The index of a code, or `count`. */
size_t codes_index(const struct room_codes *codes, struct slice letters);

/* Where a code is, in the whole installation: noted for a code of call->account, and found. */
bool code_put_place(struct call *call, struct slice letters, const struct id *room,
		    struct fault *fault);
bool code_remove_place(struct call *call, struct slice letters, struct fault *fault);
bool code_find(struct call *call, struct slice letters, struct id *account, struct id *room,
	       bool *is_there, struct fault *fault);

/* The room goes: all its codes are unknown. */
bool codes_remove_all(struct call *call, const struct id *room, struct fault *fault);

#endif
