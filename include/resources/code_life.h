/* The life of room codes (interface.md section 3, decisions.md section 7), in O(1) for every change
 * of a role, however many rooms use the template.
 *
 * A room's codes are one record under the room, in the order of their making. A code refers to its
 * role by the role's identity (template_record.h), so a rename changes no code, and what a code
 * shows is worked out when it is read:
 *
 *  - the role is in the template: its current name; enabled as stored;
 *  - the role was deleted: its last name; not enabled; updated at the time of the deletion unless
 *    it was disabled before. Such a code never comes back;
 *  - the role was lost when the room moved to another template: the name, and the time of the move,
 *    were written down then, since the other template's identities mean nothing any more. The same is
 *    written down of a deleted role's code with the next write to the record.
 *
 * A former code is one whose role was deleted or lost. A room keeps the newest CODES_FORMER_MOST of
 * them. Each write of the record removes the oldest of the others, at most CODES_REMOVED_AT_ONCE: a
 * room of an earlier version, which kept all, shrinks in pieces.
 *
 * A code is due when the room was once asked for the codes of all roles and a live role's identity
 * is above the last one that this room has seen. Whoever looks at the codes of the room first makes
 * the due ones, created at the time when their role was added, in one transaction. A role that came
 * and went between two looks is never live at a look and leaves no code.
 *
 * A move is no look. The roles that are new to the room are due from then on; since they can be
 * older than the last one of their template, the record names them, with that time. A role that was
 * due before the move and is in the other template too, by its name, stays due since when it was.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODE_LIFE_H
#define RESOURCES_CODE_LIFE_H

#include "resources/code_record.h"
#include "resources/room_record.h"
#include "resources/template_record.h"

/* decisions.md section 7. */
#define CODES_ENABLED_MOST 100
#define CODES_MOST 1000

/* Former codes that a room keeps, and how many one write removes. */
#define CODES_FORMER_MOST 1000
#define CODES_REMOVED_AT_ONCE 1000

/* A room with its template and its codes. */
struct room_subject {
	struct room_record room;
	struct template_record owner;
	struct room_codes codes;
};

/* Adds the template and the codes to the room. */
bool room_subject_load(struct call *call, struct room_subject *subject, struct fault *fault);
/* The room that a code leads to (code_find), and the code's index among its codes. */
bool room_subject_of_code(struct call *call, const struct id *room, struct slice letters,
			  struct room_subject *subject, size_t *index, struct fault *fault);

/* What a code shows. */
struct shown_code {
	struct slice role;
	bool has_role; /* the template has it: the code can be enabled */
	bool is_enabled;
	int64_t created, updated; /* seconds */
};

bool code_show(struct call *call, const struct room_codes *codes, size_t index,
	       const struct template_record *owner, struct shown_code *shown, struct fault *fault);

/* Adds a code with letters that no code of the installation has. */
bool codes_add(struct call *call, struct room_codes *codes, uint32_t identity, int64_t created,
	       struct fault *fault);

bool codes_are_due(const struct room_codes *codes, const struct template_record *owner);
/* Whether codes->due[index] is what the record promises of it, and named once. */
bool codes_due_is_right(const struct room_codes *codes, size_t index);
/* Writes the record, without the former codes that are too many. FAULT_TOO_LARGE when it is over
 * STORE_VALUE_MAX. */
bool codes_store(struct call *call, struct room_codes *codes, const struct template_record *owner,
		 struct fault *fault);
/* Makes the due ones; the caller stores. */
bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *owner, struct fault *fault);

/* The first enabled code of a live role; `count` when it has none. */
size_t codes_oldest_enabled(const struct room_codes *codes, uint32_t identity);
/* How many codes are not former; is_enabled: how many of these are enabled. */
size_t codes_count(const struct room_codes *codes, const struct template_record *owner,
		   bool is_enabled);

/* The room moves: roles are compared by name. Loads and stores the room's codes, makes none. */
bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault);

#endif
