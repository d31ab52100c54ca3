/* The life of room codes: what a code shows while roles are renamed, deleted and added and while
 * its room moves to another template. Changing a role costs the same however many rooms use the
 * template, and no call costs more because a room had many codes before.
 *
 * A code belongs to a group of its room (resources/codes/code_record.h), a group to a role of the
 * template by the role's identity. What a code shows is resolved when it is read:
 *
 * - The template has the role: its current name; enabled as stored. - The role was deleted
 * (resources/templates/deleted_role.h) or lost: its last name; disabled; updated at the time of the
 * deletion or of the loss unless it was disabled before. It can never be enabled again.
 *
 * A role is lost when the room moves to a template that has no role of that name. The group then
 * has the name and the time, since identities of one template mean nothing in another. A write of
 * the codes of a room also turns groups of deleted roles into such groups, and then up to
 * CODES_SETTLED_AT_ONCE of their codes into former codes, which have name and time themselves; a
 * group without codes goes. A room keeps the newest CODES_FORMER_MOST former codes; each write
 * removes up to CODES_SETTLED_AT_ONCE of the oldest of the others.
 *
 * A code is due when the room was once asked for the codes of all roles and a role's identity is
 * above the last one that the room has seen. A call that shows the codes of the room first makes
 * the due ones, with the time when their role was added, in one transaction. A role that was added
 * and deleted between two such calls leaves no code. A move makes no codes: roles that are new to
 * the room are named as due in its record, with the time of the move; a role that was due before
 * and is in the other template too stays due since the same time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_LIFE_H
#define RESOURCES_CODES_CODE_LIFE_H

#include "resources/codes/code_record.h"
#include "resources/rooms/room_record.h"
#include "resources/templates/template_record.h"

/* Codes of roles that the template has, in one room: enabled plain ones, plain ones, and others. */
#define CODES_ENABLED_MOST 100
#define CODES_MOST 1000
#define CODES_OTHERS_MOST 10000
/* Former codes in one room, plain ones and others each, and how many of them one write settles, and
 * removes. */
#define CODES_FORMER_MOST 1000
#define CODES_SETTLED_AT_ONCE 256

/* A room with its template and with what its codes have in common. */
struct room_subject {
	struct room_record room;
	struct template_record template;
	struct room_codes codes;
};

/* Adds the template and the codes to the room. */
bool room_subject_load(struct call *call, enum store_reading reading, struct room_subject *subject,
		       struct fault *fault);
/* The room of a code. *is_there false: the room is deleted, and the code with it. */
bool room_subject_of_code(struct call *call, const struct code *code, enum store_reading reading,
			  struct room_subject *subject, bool *is_there, struct fault *fault);

/* The codes of a room one by one, oldest first; they are read in pages. */
struct code_walk {
	struct code_page page; /* the caller sets what is to be read */
	size_t next; /* of the page */
};
/* Sets *code to the next one, or to NULL when there are no more. */
bool codes_next(struct call *call, const struct id *room, struct code_walk *walk,
		const struct code **code, struct fault *fault);

/* What a code shows. */
struct shown_code {
	struct slice role;
	bool has_role; /* the template has it: the code can be enabled */
	bool is_enabled;
	int64_t created, updated; /* seconds since 1970 */
};
bool code_show(struct call *call, const struct room_codes *codes, const struct code *code,
	       const struct template_record *template, struct shown_code *shown,
	       struct fault *fault);

/* Of "role_deleted", "disabled", "expired", "used_up", "not_yet_valid", "active" the first that
 * holds at `now`, in milliseconds. */
const char *code_state(const struct code *code, const struct shown_code *shown, int64_t now);

/* ---- changing codes: the caller stores `codes` ---- */

/* Draws letters for a new code. If a code has them already, storing the new one sets FAULT_AGAIN,
 * and the next run draws others. */
struct slice codes_draw_letters(struct call *call);
/* Makes an enabled code for the role, with the terms in *code, and with its letters; when these
 * have data NULL, with random ones that no other code has. */
bool codes_add(struct call *call, struct room_codes *codes, uint32_t identity, int64_t created,
	       struct code *code, struct fault *fault);
/* Stores a new code whose other members are set: of the role, or a former one. */
bool codes_put_new(struct call *call, struct room_codes *codes, uint32_t identity,
		   struct code *code, struct fault *fault);
/* former: as it was read. */
bool codes_replace(struct call *call, struct room_codes *codes, const struct code *former,
		   const struct code *code, struct fault *fault);
bool codes_remove(struct call *call, struct room_codes *codes, const struct code *code,
		  struct fault *fault);

/* How many codes a role has, that are not former. */
struct code_count {
	size_t plain, enabled; /* all plain ones, the enabled among them */
	size_t others;
};
struct code_count codes_of_role(const struct room_codes *codes, uint32_t identity);
/* The same for all roles of the template. */
struct code_count codes_count(const struct room_codes *codes,
			      const struct template_record *template);

/* Whether the room may have one code more like this one. former: what it was; NULL: it is new. All
 * due codes have been made. FAULT_CONFLICT. */
bool codes_check_count(const struct room_subject *subject, const struct code *former,
		       const struct code *code, struct fault *fault);
/* Sets FAULT_CONFLICT: "the room has `most` `what`, the most". */
bool codes_refuse_count(struct fault *fault, const char *message, const char *what, int most);

bool codes_are_due(const struct room_codes *codes, const struct template_record *template);
/* Whether codes->due[index] can be due: it is named once and has no code. */
bool codes_due_is_right(const struct room_codes *codes, size_t index);
/* Makes the due ones; the caller stores `codes`. */
bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *template, struct fault *fault);

/* Writes what the codes have in common, after it settled former codes. */
bool codes_store(struct call *call, struct room_codes *codes,
		 const struct template_record *template, struct fault *fault);

/* The room moves: roles are compared by name. Reads and writes the room's codes, makes none. */
bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault);
/* Turns groups of the room whose roles the template no longer has into groups of lost roles. */
bool codes_resolve_deleted(struct call *call, const struct id *room,
			   const struct template_record *template, struct fault *fault);

/* The room is deleted, and its codes with it: those that are too many for one call are removed by
 * later ones (resources/garbage.h). */
bool codes_remove_all(struct call *call, const struct id *room, struct fault *fault);

#endif
