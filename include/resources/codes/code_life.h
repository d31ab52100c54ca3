/* How room codes behave while roles are renamed, deleted and added, and while their room moves to
 * another template. Changing a role costs the same however many rooms use the template, and no
 * request becomes more expensive because a room had many codes in the past.
 *
 * A code belongs to a group of its room (resources/stored/code_record.h), and a group to a role of
 * the template, by the role's identity. What a code shows is determined when the code is read:
 *
 * If the template has the role, the code shows the role's current name and is enabled as stored.
 *
 * If the role was deleted (resources/stored/deleted_role.h) or lost, the code shows the role's
 * last name and is disabled. It counts as updated at the time of the deletion or loss, unless it
 * was disabled before. It can never be enabled again.
 *
 * A role is lost when the room moves to a template without a role of that name. The role's group
 * then stores its name and the time, because identities of one template mean nothing in another.
 * Each write of a room's codes also turns groups of deleted roles into groups of lost roles. It
 * then settles up to CODES_SETTLED_AT_ONCE codes of such groups: they become former codes, which
 * store the name and the time themselves. A group without codes is removed. A room keeps its newest
 * CODES_FORMER_MOST former codes; each write removes up to CODES_SETTLED_AT_ONCE of the oldest
 * surplus codes.
 *
 * A role's code is due if the codes of all roles of the room were once requested and the role's
 * identity is above the last one that the room has seen. A request that shows the codes of the room
 * first creates the due codes, in the same transaction, with the time when their role was added. A
 * role that is added and deleted between two such requests leaves no code. A move creates no codes:
 * it lists roles that are new to the room as due in the room's record, with the time of the move; a
 * role that was due before and is in the new template too stays due since the earlier time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_LIFE_H
#define RESOURCES_CODES_CODE_LIFE_H

#include "resources/stored/code_record.h"
#include "resources/stored/room_record.h"
#include "resources/stored/template_record.h"

/* Limits for the codes of one room whose roles exist: enabled plain, all plain, and other codes. */
#define CODES_ENABLED_MOST 100
#define CODES_MOST 1000
#define CODES_OTHERS_MOST 10000
/* Limit for the former codes of one room, for plain and other codes each; and the number of codes
 * that one write settles, and removes. */
#define CODES_FORMER_MOST 1000
#define CODES_SETTLED_AT_ONCE 256

/* A room with its template and the data that its codes share. */
struct room_subject {
	struct room_record room;
	struct template_record template;
	struct room_codes codes;
};

/* The room of the path, with its template and its codes, as call->subject. */
extern const struct loading load_subject;
/* The same for a call that always creates codes if none was asked for before, and then does not
 * read in a READ transaction what it would read again. */
extern const struct loading load_codes_of_roles;

/* Loads the template and the codes of the room, which must be set. */
bool room_subject_load(struct call *call, enum store_reading reading, struct room_subject *subject,
		       struct fault *fault);
/* Loads the room of a code. Sets *is_there to false if the room, and so the code, is deleted. */
bool room_subject_of_code(struct call *call, const struct code *code, enum store_reading reading,
			  struct room_subject *subject, bool *is_there, struct fault *fault);

/* Visits the codes of a room one by one, oldest first. Reads them in pages. */
struct code_walk {
	struct code_page page; /* the caller sets which codes to read */
	size_t next; /* index in the page */
};
/* Sets *code to the next code, or to NULL if there are no more. */
bool codes_next(struct call *call, const struct id *room, struct code_walk *walk,
		const struct code **code, struct fault *fault);

/* What a code shows. */
struct shown_code {
	struct slice role;
	bool has_role; /* the template has the role, so the code can be enabled */
	bool is_enabled;
	int64_t created, updated; /* seconds since 1970 */
};
bool code_show(struct call *call, const struct room_codes *codes, const struct code *code,
	       const struct template_record *template, struct shown_code *shown,
	       struct fault *fault);

/* Returns the first of "role_deleted", "disabled", "expired", "used_up", "not_yet_valid" and
 * "active" that applies at `now`, in milliseconds since 1970. */
const char *code_state(const struct code *code, const struct shown_code *shown, int64_t now);

/* ---- changing codes; the caller must then store `codes` ---- */

/* Draws letters for a new code. If another code has them, storing the new code sets FAULT_AGAIN,
 * and the next run draws other letters. */
struct slice codes_draw_letters(struct call *call);
/* Creates an enabled code for the role with the terms in *code. Uses the letters in *code; if they
 * have data NULL, draws random letters that no other code has. */
bool codes_add(struct call *call, struct room_codes *codes, uint32_t identity, int64_t created,
	       struct code *code, struct fault *fault);
/* Stores a new code, of the role or former, whose other members are set. */
bool codes_put_new(struct call *call, struct room_codes *codes, uint32_t identity,
		   struct code *code, struct fault *fault);
/* Replaces `former`, the code as it was read, by `code`. */
bool codes_replace(struct call *call, struct room_codes *codes, const struct code *former,
		   const struct code *code, struct fault *fault);
bool codes_remove(struct call *call, struct room_codes *codes, const struct code *code,
		  struct fault *fault);

/* The number of a role's codes that are not former. */
struct code_count {
	size_t plain, enabled; /* all plain codes, and the enabled ones among them */
	size_t others;
};
struct code_count codes_of_role(const struct room_codes *codes, uint32_t identity);
/* Counts the codes of all roles of the template. */
struct code_count codes_count(const struct room_codes *codes,
			      const struct template_record *template);

/* Checks that the room may have one more code like `code`. former: the code before its change, or
 * NULL if it is new. All due codes must have been created. Sets FAULT_CONFLICT. */
bool codes_check_count(const struct room_subject *subject, const struct code *former,
		       const struct code *code, struct fault *fault);
/* Sets FAULT_CONFLICT: "the room already has the maximum of `most` `what`". */
bool codes_refuse_count(struct fault *fault, const char *message, const char *what, int most);

bool codes_are_due(const struct room_codes *codes, const struct template_record *template);
/* True if codes->due[index] is valid: its role is listed once and has no code. */
bool codes_due_is_right(const struct room_codes *codes, size_t index);
/* Creates the due codes; the caller must then store `codes`. */
bool codes_make_due(struct call *call, struct room_codes *codes,
		    const struct template_record *template, struct fault *fault);

/* Settles former codes, then stores the data that the codes share. */
bool codes_store(struct call *call, struct room_codes *codes,
		 const struct template_record *template, struct fault *fault);

/* Moves the room to another template: compares roles by name. Loads and stores the data that the
 * room's codes share; creates no codes. */
bool codes_move(struct call *call, const struct id *room, const struct template_record *from,
		const struct template_record *to, struct fault *fault);
/* If the template has too many records of deleted roles (resources/stored/deleted_role.h),
 * visits its next rooms, the oldest first, and turns the groups of deleted roles of their codes
 * into groups of lost roles. After all rooms have been visited, removes the records that existed at
 * the start of this round, and begins the next round. Must be called after deleted_role_add, when
 * the template has its new roles. The caller must store the template. */
bool codes_resolve_some(struct call *call, struct template_record *record, struct fault *fault);

#endif
