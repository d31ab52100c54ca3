/* The stored form of room codes. Each code is a record under its room, found by the code. The data
 * that the codes of a room share is one record; it contains the groups, one for each role that has
 * codes in the room. A code refers to its group, and a group to a role. So renaming, deleting or
 * losing a role and moving the room change groups but no codes. What this means for clients is
 * described in resources/codes/code_life.h.
 *
 * All slices are borrowed from the call's arena.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_CODE_RECORD_H
#define RESOURCES_STORED_CODE_RECORD_H

#include "resources/call.h"
#include "records/kinds.h"
#include "records/record.h"

/* Marks which members of struct code_terms are set. The numbers are stored. */
enum code_term {
	CODE_NOT_BEFORE = 1 << 0,
	CODE_EXPIRES_AT = 1 << 1,
	CODE_MAX_USES = 1 << 2, /* max_uses, uses, and the last use */
	CODE_USER_ID = 1 << 3,
	CODE_NAME = 1 << 4,
	CODE_LABEL = 1 << 5,
	CODE_METADATA = 1 << 6,
	CODE_DOOR = 1 << 7 /* admission, asks_in */
};

/* Whether people who come by a code wait until somebody lets them in. */
enum code_admission { ADMISSION_OF_ROLE, ADMISSION_OPEN, ADMISSION_ASK };
extern const char *const admission_names[ADMISSION_ASK + 1];

/* The limits of a code, and data about the person it is for. */
struct code_terms {
	unsigned set; /* of enum code_term; members that are not set are zero */
	int64_t not_before, expires_at; /* seconds since 1970 */
	uint32_t max_uses, uses;
	int64_t last_use; /* last counted exchange, in milliseconds since 1970; 0 if none */
	struct slice last_user; /* its user_id; empty if that was generated */
	uint32_t last_repeats; /* how often that exchange was repeated */
	struct slice user_id, name, label;
	struct slice metadata; /* the text of a JSON object */
	enum code_admission admission;
	/* The session until whose end people wait, whatever `admission` is; the id zero for
	 * none. */
	struct id asks_in;
};

struct code {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	struct slice letters;
	struct id room;
	struct id place; /* id_lowest(0, n); n: number of codes that the room had created before */
	bool is_former; /* its role no longer exists; it shows `role` and `updated` */
	bool is_enabled; /* as a request set it */
	uint32_t group; /* unless it is former */
	struct slice role; /* the last name of the role of a former code */
	int64_t created, updated; /* seconds since 1970 */
	struct code_terms terms;
};

/* True if only label, metadata and admission are set. Only plain codes represent their role and are
 * created automatically; the others have limits of their own. */
bool code_is_plain(const struct code *code);

/* The codes of one role that are not former. */
struct code_group {
	uint32_t number; /* unique in the room */
	uint32_t identity; /* of the role; 0 if the role is lost */
	struct slice lost_role; /* the name of a lost role */
	int64_t lost_at; /* seconds since 1970 */
	uint32_t count, enabled; /* plain codes */
	uint32_t others; /* codes that are not plain */
	uint64_t oldest; /* no enabled plain code of the group has a lower place */
};

/* A role that gets a code when the room's codes are next requested, although its identity is not
 * above the last one that the room has seen. */
struct due_role {
	uint32_t identity;
	int64_t since; /* seconds since 1970: the code's time of creation */
};

struct room_codes {
	struct store_record stored; /* value.data NULL if it is new */
	struct id room;
	bool was_asked; /* the codes of all roles were requested once */
	uint32_t last_seen; /* highest identity of a role that has its code or never gets one */
	uint64_t last_place; /* number of places given to codes so far */
	uint32_t last_group; /* the same for groups */
	uint32_t former_count, former_others; /* plain former codes, and others */
	uint64_t settled; /* the place from which codes are settled next */
	/* Something may be held in the room (resources/live/live_holds.h): whoever comes must read
	 * that. Set before it is, and taken back when it is not, or the session closes. */
	bool has_holds;
	/* The door of the room may have a state, or denials that hold (door_record.h): whoever
	 * comes by a code or a join token must read it. Set before it has one, and taken back when
	 * the door is removed. */
	bool has_door;
	struct due_role *due; /* the longest due first */
	size_t due_count;
	struct code_group *groups; /* with room for one more */
	size_t group_count;
};

extern const struct record_table codes_table, code_table;

/* Loads the room's record; if the room does not have one yet, it is empty. */
bool codes_load(struct call *call, const struct id *room, enum store_reading reading,
		struct room_codes *codes, struct fault *fault);
bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault);
/* Sets or takes back what whoever comes to the room goes by (struct room_codes), unless it is so
 * already. */
enum codes_mark { CODES_HOLDS, CODES_DOOR };
bool codes_mark(struct call *call, const struct id *room, enum codes_mark mark, bool is_set,
		struct fault *fault);

/* Returns NULL if the room has no such group. */
struct code_group *codes_group(const struct room_codes *codes, uint32_t number);
/* Sets FAULT_DAMAGED because a code refers to a missing group. Returns false. */
bool codes_group_missing(const struct room_codes *codes, struct fault *fault);
/* Returns the group of a role, and adds it if it is missing. */
struct code_group *codes_group_of(struct call *call, struct room_codes *codes, uint32_t identity);

/* Count a code that is added or was removed, in its group or among the former codes. Return false
 * for damage. Changing a code means removing the old code and adding the new one. */
bool codes_count_added(struct room_codes *codes, const struct code *code, struct fault *fault);
bool codes_count_removed(struct room_codes *codes, const struct code *code, struct fault *fault);

/* Finds a code of any account, and sets *account to its owner. Sets *is_there to false if there is
 * no such code, or the text cannot be a code. */
bool code_find(struct call *call, struct slice letters, enum store_reading reading,
	       struct code *code, struct id *account, bool *is_there, struct fault *fault);
bool code_put(struct call *call, const struct code *code, struct fault *fault);
/* Removes a code, which stays reserved for its account (resources/stored/code_words.h). */
bool code_remove(struct call *call, const struct code *code, struct fault *fault);

/* Reads a room's codes in pages, the oldest first. */
struct code_page {
	enum store_side side; /* STORE_OFF for former codes */
	size_t most;
	/* The page begins after the place with this number; with 0, at the oldest code. */
	uint64_t after;
	/* Results. */
	struct code *codes;
	size_t count;
	bool is_last;
};
/* Reads a page and sets `after` to its last place, so the next call reads the following page. */
bool codes_page(struct call *call, const struct id *room, struct code_page *page,
		struct fault *fault);

#endif
