/* The stored form of a template.
 *
 * The record has a head (times, ETags, the roles with their identities), the text of the response,
 * and hidden members. Reads do not parse the text: the head has the positions of each role, the
 * settings and the destinations in it. A write builds the texts of the parts that it changes and
 * joins them with the others (template_assemble).
 *
 * A role has an identity from its creation to its deletion: a number that the template never uses
 * again. A rename keeps it. Codes refer to it (resources/codes/code_life.h). For deleted roles see
 * resources/stored/deleted_role.h.
 *
 * The template, each role, the settings, the destinations, the configuration of recordings (which
 * the response of the template does not have), and the part that rooms show (name, recording) have
 * an ETag each: the ETag of the call (call->etag) that last changed their bytes or
 * hidden members.
 *
 * What requests need to know of a text that they do not parse is a member of the record (a role's
 * asks, has_agents, region, rules), set when the part is written. Nothing is read out of a text by
 * where it is in the text, unless the record has the place (AS_PART).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_TEMPLATE_RECORD_H
#define RESOURCES_STORED_TEMPLATE_RECORD_H

#include "records/record.h"
#include "resources/reads.h"
#include "resources/stored/keep_rule.h"

/* The most bytes of a template's response. */
#define TEMPLATE_TEXT_MOST ((size_t)512 << 10)
/* The most bytes of hidden members, for settings and destinations each. */
#define TEMPLATE_HIDDEN_MOST ((size_t)512 << 10)

/* The records of deleted roles, and the round that visits the rooms of the template
 * (resources/stored/deleted_role.h). */
struct deleted_roles {
	uint32_t count;
	int64_t round_began; /* milliseconds since 1970; 0 if no round has begun */
	struct id last_room; /* last room visited in this round; zero if none */
};

/* What people agree to before they are recorded. Numbers are stored. */
enum recording_consent { CONSENT_NOTICE, CONSENT_ASKED, CONSENT_REQUIRED };
#define RECORDING_CONSENTS (CONSENT_REQUIRED + 1)
extern const char *const recording_consent_names[RECORDING_CONSENTS];

/* settings.recordingRules. */
struct recording_rules {
	enum recording_consent consent;
	struct keep_rule keep;
	bool has_chat;
};

/* The most bytes of the former names of a role that are kept. */
#define TEMPLATE_FORMER_MOST 1024

/* The parts that have endpoints of their own. */
enum template_part { PART_SETTINGS, PART_DESTINATIONS, PART_COUNT };

struct template_part_text {
	struct slice text; /* JSON as responses show it */
	struct slice hidden; /* JSON of members that no response shows */
	uint64_t etag;
};

struct template_role {
	struct slice name;
	struct slice
		former; /* names that it had before, the last one first, with newlines between */
	struct slice text; /* the role's response */
	bool asks; /* people with this role wait until somebody lets them in */
	uint32_t identity;
	int64_t added; /* milliseconds since 1970 */
	uint64_t etag;
};

/* All slices are borrowed: from the stored value, or from the call's arena. */
struct template_record {
	struct store_record stored; /* as it was read; value.data NULL if it is new */
	struct id id;
	int64_t created, updated; /* milliseconds since 1970 */
	uint64_t etag, rooms_etag;
	uint32_t last_identity;
	struct slice name; /* plain text */
	struct template_part_text parts[PART_COUNT];
	struct slice plugins; /* JSON; may be empty */
	struct slice recordings; /* JSON of the configuration of recordings; may be empty */
	uint64_t recordings_etag;
	struct slice region; /* plain text: settings.region */
	struct slice backend; /* plain text: settings.backend; data NULL if none */
	struct slice former_backend; /* `backend` as it was read */
	struct slice recording; /* JSON text that rooms show as recording_info */
	bool has_agents; /* settings.agents is not empty */
	struct recording_rules rules;
	struct keep_rule former_keep; /* rules.keep as it was read */
	struct deleted_roles deleted;
	struct template_role *roles;
	size_t role_count;
	struct slice text; /* the response */
	struct slice echo; /* settings with the credentials that this request sent; data NULL:
				 * none */
};

/* The templates that were last read to be shown. Parts of a call are many and mostly read the same
 * few templates. Zeros: empty. */
#define TEMPLATE_MEMO_MOST 16

struct template_memo {
	size_t count; /* templates read so far; each replaces the oldest */
	struct template_record records[TEMPLATE_MEMO_MOST];
};

extern const struct record_table template_table;

/* The template of the path, as call->template. */
extern const struct loading load_template;
/* Loads, to be shown, a template that another record refers to. Sets FAULT_DAMAGED if it is
 * missing. */
bool template_load(struct call *call, const struct id *id, struct template_record *record,
		   struct fault *fault);
/* Finds the template with this id. Sets *is_there to false if there is none. */
bool template_find(struct call *call, const struct id *id, enum store_reading reading,
		   struct template_record *record, bool *is_there, struct fault *fault);
/* Finds the template with this name within the account. */
bool template_find_named(struct call *call, struct slice name, enum store_reading reading,
			 struct template_record *record, bool *is_there, struct fault *fault);
/* Reads the template from a stored record. */
bool template_unpack(struct call *call, const struct store_record *stored,
		     struct template_record *record, struct fault *fault);
/* Reads only the response, for lists. */
bool template_unpack_text(const struct store_record *stored, struct slice *text,
			  struct fault *fault);

/* Returns the item of a list with view=summary. */
struct slice template_summary(struct call *call, const struct template_record *record,
			      bool is_default);

/* Returns the index of a role, or role_count if there is no such role. */
size_t template_role_index(const struct template_record *record, struct slice name);

/* Does the same; a role is also found by a name that it had before, unless another role has that
 * name now. */
size_t template_role_index_ever(const struct template_record *record, struct slice name);

/* Returns the role with this identity, or NULL if it is deleted. */
const struct template_role *template_live_role(const struct template_record *record,
					       uint32_t identity);

/* Joins the parts to record->text, with the warnings about what they say together. Adds a finding
 * at /roles if the text exceeds TEMPLATE_TEXT_MOST, at /settings and /destinations if their hidden
 * members exceed TEMPLATE_HIDDEN_MOST, and at /settings/backend if it names a new backend that does
 * not exist. */
bool template_assemble(struct call *call, struct template_record *record, struct fault *fault);
/* Does the same for a record that this call changes, and sets its time and ETag to the call's. */
bool template_assemble_changed(struct call *call, struct template_record *record,
			       struct fault *fault);
/* Stores an assembled record, and counts it for the backend that it names. */
bool template_put(struct call *call, const struct template_record *record, struct fault *fault);
/* Returns the response: the text, and what the account does not keep of it. */
struct slice template_shown(struct call *call, const struct template_record *record,
			    struct slice text);
/* Returns the response to a write: the text, with the credentials that this request sent. */
struct slice template_answer(struct call *call, const struct template_record *record);

#endif
