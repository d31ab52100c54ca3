/* What there is to know of each kind of record besides its table (records/record.h): its place in a
 * dump, what a dump needs or leaves to be derived, and what must hold between it and other records.
 * One list of all kinds serves the dump, the load, the check and the removal of an account.
 *
 * Hooks are of the call's account, and may be NULL. `record` is the struct of the table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORD_KIND_H
#define RESOURCES_RECORD_KIND_H

#include "records/kinds.h"
#include "records/record.h"
#include "resources/call.h"

/* How the records of an account are found. */
enum record_order {
	RECORD_ONE, /* the account has at most one, with the id zero */
	RECORD_PAGES, /* in pages of the account */
	RECORD_CHILDREN, /* in pages of the parent; of the id zero where `parent` is NULL */
	RECORD_BESIDE, /* one with the id of the parent */
	RECORD_NUMBERED, /* log entries, by the numbers that the parent has */
	RECORD_UNLISTED /* by a walk over the whole store alone */
};

struct record_kind {
	const struct record_table *table;
	const char *line; /* the name of its lines in a dump; NULL: a dump does not have it */
	enum record_order order;
	const struct record_kind *parent;
	const struct shape *shape; /* of the documents that its hooks check; NULL: none */
	bool may_be_there; /* when it is loaded: a record before it made one */
	bool is_of_no_account; /* it belongs to the whole installation, or outlives its account */
	/* The ids that the children of a record refer to, in the arena. NULL: its own. */
	size_t (*owners)(struct call *call, const void *record, const struct id **ids);
	/* Before it is printed: sets members that only a dump has. */
	void (*print)(struct call *call, void *record);
	/* After it was scanned: derives the members that a dump lacks; what cannot be is a
	 * finding. */
	bool (*load)(struct call *call, void *record, const char *pointer,
		     struct findings *findings, struct fault *fault);
	/* Stores it then. NULL: record_put. */
	bool (*put)(struct call *call, void *record, struct fault *fault);
	/* Adds a finding for each record it refers to that is not there or not as it must be. */
	bool (*refer)(struct call *call, const void *record, struct findings *findings,
		      struct fault *fault);
	/* The same for what is derived from other records, such as how many there are. */
	bool (*derive)(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault);
};

extern const struct record_kind media_kind, api_keys_kind, api_key_kind, webhooks_kind,
	webhook_position_kind, webhook_delivery_kind, webhook_account_kind, template_kind,
	deleted_role_kind, default_template_kind, room_kind, codes_kind, code_kind, room_times_kind,
	words_kind, words_asked_kind, log_kind, entry_kind, queued_kind, kept_answer_kind,
	kept_usage_kind, garbage_kind;

/* In the order of a dump: what a record refers to comes before it. All but the lease. */
#define RECORD_KINDS (KINDS - 1)
extern const struct record_kind *const record_kinds[RECORD_KINDS];

/* Verifies the tables of documents (schema_verify): at the start of a command. */
void record_kinds_verify(void);
/* NULL: the lease. */
const struct record_kind *record_kind_of(const struct store_kind *kind);

/* Adds a finding for each rule that a document which is made of a record breaks. It is changed. */
void record_check_document(const struct shape *shape, json_t *document, const char *pointer,
			   struct findings *findings);

/* Checks a record that was read: its rows (record_verify), what it refers to, and, with
 * is_whole, what is derived. False: something cannot be read. */
bool record_check(struct call *call, const struct record_kind *kind, const void *record,
		  bool is_whole, struct findings *findings, struct fault *fault);

#endif
