/* The log of changes. A handler that changes something notes what it did (audit_note); the service
 * writes the entries in the same transaction (audit_write), so that there is no change without its
 * entry and no entry without its change. A run that is abandoned leaves none.
 *
 * No secret and no code is ever noted: a code is told by its hash under a key of the account
 * (media_code_hash).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_AUDIT_H
#define RESOURCES_AUDIT_H

#include "resources/call.h"
#include "schema/changes.h"

/* A member of `data` after the ones that all entries have. */
struct audit_member {
	const char *name;
	struct slice value; /* a plain text, or is_json: JSON text */
	bool is_json;
};

#define AUDIT_MORE_MOST 6

/* What an entry says; slices are copied. */
struct audit_data {
	const char *kind; /* "room" */
	struct slice id;
	struct slice name;
	struct changes *changes; /* NULL: it was made or is gone */
	struct audit_member more[AUDIT_MORE_MOST]; /* ends with a row without name */
};

/* Notes one entry, but none of an update that changed nothing. type: "room.created", a literal. */
void audit_note(struct call *call, const char *type, const struct audit_data *data);

/* Writes what was noted. */
bool audit_write(struct call *call, struct fault *fault);

/* Stores entries of the call's account, in its WRITE transaction. */
struct audit_entry;
bool audit_put(struct call *call, struct audit_entry *entries, size_t n, struct fault *fault);

/* The text of an entry's `actor`. */
struct slice audit_actor_text(struct arena *arena, enum actor_kind kind, struct slice id);

/* The text of an entry's `data`. */
struct slice audit_data_text(struct arena *arena, const struct audit_data *data);

#endif
