/* Writes the event log. A handler that changes something notes an event (audit_note); the service
 * writes the noted events in the same transaction (audit_write), so a change and its event are
 * stored together or not at all. An abandoned run leaves no events.
 *
 * Events contain no secrets and no codes: a code is identified by its hash under a key of the
 * account (media_code_hash).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_AUDIT_H
#define RESOURCES_AUDIT_H

#include "resources/call.h"
#include "schema/changes.h"

/* A member of `data` that not all events have. */
struct audit_member {
	const char *name;
	struct slice value; /* plain text; JSON text if is_json */
	bool is_json;
};

#define AUDIT_MORE_MOST 26

/* The contents of an event's `data`. Slices are copied. */
struct audit_data {
	const char *kind; /* "room" */
	struct slice id;
	struct slice name;
	struct slice actor; /* of audit_actor_text; empty: the call's */
	struct changes *changes; /* NULL if the object was created or deleted */
	struct audit_member more[AUDIT_MORE_MOST]; /* ends with a row without a name */
};

/* Notes an event, except for an update that changed nothing. type: a literal: "room.created". */
void audit_note(struct call *call, const char *type, const struct audit_data *data);

/* A noted event; call->run.noted.first is the first one. */
struct noted {
	struct noted *next; /* NULL after the last one */
	const char *type;
	struct slice id; /* of the object */
	struct slice data;
	struct slice actor; /* empty: the call's */
};

/* Writes the noted events. */
bool audit_write(struct call *call, struct fault *fault);

/* Stores events of the call's account. The call's transaction must be a WRITE transaction. */
struct audit_entry;
bool audit_put(struct call *call, struct audit_entry *entries, size_t n, struct fault *fault);

/* Returns the text of an event's `actor`. */
struct slice audit_actor_text(struct arena *arena, enum actor_kind kind, struct slice id);
/* The same for the caller, and for what the service does by itself. */
struct slice audit_caller_text(const struct call *call);
struct slice audit_service_text(struct arena *arena);

/* Returns the text of an event's `data`. */
struct slice audit_data_text(struct arena *arena, const struct audit_data *data);

#endif
