/* Room codes as they are stored. Each code is a record of its own under its room, found by the
 * code. What the codes of a room have in common is one record: among it the groups, one for each
 * role that codes of the room are for. A code refers to its group, a group to a role. So a renamed,
 * deleted or lost role and a move of the room change groups and no code. What it means is in
 * resources/codes/code_life.h.
 *
 * All slices are borrowed from the call's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_RECORD_H
#define RESOURCES_CODES_CODE_RECORD_H

#include "resources/call.h"
#include "records/kinds.h"
#include "records/record.h"

/* Which members of struct code_terms are set. The numbers are stored. */
enum code_term {
	CODE_NOT_BEFORE = 1 << 0,
	CODE_EXPIRES_AT = 1 << 1,
	CODE_MAX_USES = 1 << 2, /* max_uses, uses, and the last use */
	CODE_USER_ID = 1 << 3,
	CODE_NAME = 1 << 4,
	CODE_LABEL = 1 << 5,
	CODE_METADATA = 1 << 6
};

/* What limits a code, and what it says of the person it is for. */
struct code_terms {
	unsigned set; /* of enum code_term; a member that is not set is zero */
	int64_t not_before, expires_at; /* seconds since 1970 */
	uint32_t max_uses, uses;
	int64_t last_use; /* the last counted exchange, in milliseconds since 1970; 0: none */
	struct slice last_user; /* its user_id; empty: it was made up */
	uint32_t last_repeats; /* how often it was repeated */
	struct slice user_id, name, label;
	struct slice metadata; /* the text of a JSON object */
};

struct code {
	struct store_record stored; /* as it was read; value.data NULL: a new one */
	struct slice letters;
	struct id room;
	struct id place; /* id_lowest(0, n): n says how many codes the room had made before */
	bool is_former; /* its role is gone for good; what it shows is in `role` and `updated` */
	bool is_enabled; /* as a call set it */
	uint32_t group; /* of a code that is not former */
	struct slice role; /* the last name of the role of a former code */
	int64_t created, updated; /* seconds since 1970 */
	struct code_terms terms;
};

/* Has nothing set but label and metadata: only such codes stand for their role, and are made by
 * themselves. The others have limits of their own. */
bool code_is_plain(const struct code *code);

/* The codes of one role that are not former. */
struct code_group {
	uint32_t number; /* unique in the room */
	uint32_t identity; /* of the role; 0: it is lost */
	struct slice lost_role; /* the name of a lost role */
	int64_t lost_at; /* seconds since 1970 */
	uint32_t count, enabled; /* plain codes */
	uint32_t others; /* codes that are not plain */
	uint64_t oldest; /* no enabled plain code has a lower place */
};

/* A role that gets a code when the room's codes are looked at the next time, though its identity is
 * not above the last one that the room has seen. */
struct due_role {
	uint32_t identity;
	int64_t since; /* seconds since 1970: the code's time of creation */
};

struct room_codes {
	struct store_record stored; /* value.data NULL: a new record */
	struct id room;
	bool was_asked; /* for the codes of all roles */
	uint32_t last_seen; /* the highest identity of a role that has its code or never gets one */
	uint64_t last_place; /* numbers given to codes and groups so far */
	uint32_t last_group;
	uint32_t former_count, former_others; /* plain ones, and the others */
	uint64_t settled; /* the place where settling former codes goes on */
	struct due_role *due; /* the longest due first */
	size_t due_count;
	struct code_group *groups; /* with room for one more */
	size_t group_count;
};

extern const struct record_table codes_table, code_table;

/* The record of a room that has none yet is empty. */
bool codes_load(struct call *call, const struct id *room, enum store_reading reading,
		struct room_codes *codes, struct fault *fault);
bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault);

/* NULL: the room has no such group. */
struct code_group *codes_group(const struct room_codes *codes, uint32_t number);
/* Damage: a code refers to a group that is not there. */
bool codes_group_missing(const struct room_codes *codes, struct fault *fault);
/* The group of a role, which is added when there is none. */
struct code_group *codes_group_of(struct call *call, struct room_codes *codes, uint32_t identity);

/* Counts a code that is added, or was removed, in its group or among the former codes. False:
 * damage. A code that changes is removed as it was and added as it is. */
bool codes_count_added(struct room_codes *codes, const struct code *code, struct fault *fault);
bool codes_count_removed(struct room_codes *codes, const struct code *code, struct fault *fault);

/* Whether the text is one that a code can have. */
bool code_can_be(struct slice letters);
/* Finds a code of any account. *account: whose it is. *is_there false: there is none, or the text
 * is not a code. */
bool code_find(struct call *call, struct slice letters, enum store_reading reading,
	       struct code *code, struct id *account, bool *is_there, struct fault *fault);
bool code_put(struct call *call, const struct code *code, struct fault *fault);
/* The code stays its account's (resources/codes/code_words.h). */
bool code_remove(struct call *call, const struct code *code, struct fault *fault);

/* Pages of a room's codes, the oldest first. */
struct code_page {
	enum store_side side; /* STORE_OFF: former codes */
	size_t most;
	/* The page begins after the place of this number; 0: with the oldest code. */
	uint64_t after;
	/* Results. */
	struct code *codes;
	size_t count;
	bool is_last;
};
/* Reads a page, and sets `after` to its last place: the next call reads the page after it. */
bool codes_page(struct call *call, const struct id *room, struct code_page *page,
		struct fault *fault);

#endif
