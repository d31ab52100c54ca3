/* The stored form of a template.
 *
 * The record has a head (times, ETags, the roles with their identities), the text of the answer,
 * and hidden members. Reads do not parse the text: the head has the places of each role, the
 * settings and the destinations in it. A write makes the texts of the parts that it changes and
 * joins them with the others (template_assemble).
 *
 * A role has an identity, a number that the template never uses twice, from its creation to its
 * deletion; a rename keeps it. Codes refer to it (resources/codes/code_life.h). Deleted roles:
 * resources/templates/deleted_role.h.
 *
 * The template, each role, the settings, the destinations, and the part that rooms show (name,
 * recording) have an ETag each: that of the call (call->etag) that last changed its bytes or its
 * hidden members.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_TEMPLATES_TEMPLATE_RECORD_H
#define RESOURCES_TEMPLATES_TEMPLATE_RECORD_H

#include "records/record.h"
#include "resources/call.h"

/* The most bytes of a template's answer. */
#define TEMPLATE_TEXT_MOST ((size_t)512 << 10)
/* The most bytes of hidden members, of the settings and of the destinations each. */
#define TEMPLATE_HIDDEN_MOST ((size_t)512 << 10)

/* The records of deleted roles, and the round in which the rooms of the template are visited
 * (resources/templates/deleted_role.h). */
struct deleted_roles {
	uint32_t count;
	int64_t round_began; /* milliseconds since 1970; 0: no round has begun */
	struct id last_room; /* visited in this round; zero: none */
};

/* The parts that have calls of their own. */
enum template_part { PART_SETTINGS, PART_DESTINATIONS, PART_COUNT };

struct template_part_text {
	struct slice text; /* JSON as answered */
	struct slice hidden; /* JSON of members that no answer shows */
	uint64_t etag;
};

struct template_role {
	struct slice name;
	struct slice text; /* the role's answer */
	uint32_t identity;
	int64_t added; /* milliseconds */
	uint64_t etag;
};

/* All slices are borrowed: from the stored value, or from the call's arena. */
struct template_record {
	struct store_record stored; /* as it was read; value.data NULL: a new one */
	struct id id;
	int64_t created, updated; /* milliseconds */
	uint64_t etag, rooms_etag;
	uint32_t last_identity;
	struct slice name; /* plain */
	struct template_part_text parts[PART_COUNT];
	struct slice plugins; /* JSON; empty: none */
	struct slice region; /* plain: settings.region */
	struct slice backend; /* plain: settings.backend; data NULL: none */
	struct slice former_backend; /* the same, as it was read */
	struct slice recording; /* JSON text that rooms show as recording_info */
	struct deleted_roles deleted;
	struct template_role *roles;
	size_t role_count;
	struct slice text; /* the answer */
	struct slice echo; /* settings with the credentials that this request supplied;
					 * data NULL: none */
};

/* The templates that were read last to be shown: the parts of a call, which are many, mostly read
 * the same few. Zeros: none. */
#define TEMPLATE_MEMO_MOST 16

struct template_memo {
	size_t count; /* how many were read; each takes the place of the oldest */
	struct template_record records[TEMPLATE_MEMO_MOST];
};

extern const struct record_table template_table;

/* The template whose id is the first parameter of the path. FAULT_NOT_FOUND when the account has no
 * such template. */
bool template_load_from_path(struct call *call, enum store_reading reading,
			     struct template_record *record, struct fault *fault);
/* The template that another record refers to, to show. FAULT_DAMAGED when it is not there. */
bool template_load(struct call *call, const struct id *id, struct template_record *record,
		   struct fault *fault);
/* *is_there false: none. */
bool template_find(struct call *call, const struct id *id, enum store_reading reading,
		   struct template_record *record, bool *is_there, struct fault *fault);
/* The same by its name within the account. */
bool template_find_named(struct call *call, struct slice name, enum store_reading reading,
			 struct template_record *record, bool *is_there, struct fault *fault);
/* The template of a stored record. */
bool template_unpack(struct call *call, const struct store_record *stored,
		     struct template_record *record, struct fault *fault);
/* The answer alone, for lists. */
bool template_unpack_text(const struct store_record *stored, struct slice *text,
			  struct fault *fault);

/* The item of a list with view=summary. */
struct slice template_summary(struct call *call, const struct template_record *record,
			      bool is_default);

/* The index of a role, or role_count. */
size_t template_role_index(const struct template_record *record, struct slice name);

/* The role with this identity, or NULL when it is deleted. */
const struct template_role *template_live_role(const struct template_record *record,
					       uint32_t identity);

/* Joins the parts to record->text. Finding at /roles when it exceeds TEMPLATE_TEXT_MOST, at
 * /settings and /destinations when their hidden members exceed TEMPLATE_HIDDEN_MOST, at
 * /settings/backend when it names another backend than before, which is not there. */
bool template_assemble(struct call *call, struct template_record *record, struct fault *fault);
/* The same for a record that this call changes: it gets the time and the ETag of the call. */
bool template_assemble_changed(struct call *call, struct template_record *record,
			       struct fault *fault);
/* Writes an assembled record, and counts it for the backend that it names. */
bool template_put(struct call *call, const struct template_record *record, struct fault *fault);
/* The answer to a write: the text, with the credentials that this request supplied. */
struct slice template_answer(struct call *call, const struct template_record *record);

#endif
