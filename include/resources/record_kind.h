/* Describes each kind of records beyond its table (records/record.h): its place in a dump, which
 * members a dump adds or omits, and what no row can say. Dump, load, check and the removal of an
 * account all go through one list of all kinds. What refers to what, and which number counts what,
 * the rows of the tables say; no hook checks it again.
 *
 * Hooks work on the call's account, and may be NULL. `record` is the table's struct. A dump runs
 * print and check for each record. A load runs load and put for each line, whose findings name the
 * line; when all lines are stored, it runs check and derive for each record, as anteroom check
 * does. These findings name the account and the id, not the line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORD_KIND_H
#define RESOURCES_RECORD_KIND_H

#include "records/kinds.h"
#include "records/record.h"
#include "records/upgrade.h"
#include "resources/call.h"

/* How the records of an account are found. */
enum record_order {
	RECORD_ONE, /* the account has at most one, with the id zero */
	RECORD_PAGES, /* in pages of the account */
	RECORD_CHILDREN, /* in pages of the record that it belongs to (record_owner) */
	RECORD_BESIDE, /* one, with the id of the record that it belongs to */
	RECORD_NUMBERED, /* events, by the numbers that the record of the event log contains */
	RECORD_UNLISTED /* only by a walk over the whole store */
};

#define RECORD_SHAPES_MOST 2

struct record_kind {
	const struct record_table *table;
	const char *line; /* name of its lines in a dump; NULL if it has none */
	enum record_order order;
	const struct shape *shapes[RECORD_SHAPES_MOST]; /* of the documents that its hooks check */
	bool may_be_there; /* at load: creating an earlier record may have created this one */
	bool is_of_no_account; /* belongs to the whole installation, or outlives its account */
	/* Sets members that only a dump has, before the record is printed. */
	void (*print)(struct call *call, void *record);
	/* Derives the members that a dump omits, after the record was scanned. Adds findings for
	 * what is impossible. */
	bool (*load)(struct call *call, void *record, const char *pointer,
		     struct findings *findings, struct fault *fault);
	/* Stores the loaded record. If NULL, record_put does. */
	bool (*put)(struct call *call, void *record, struct fault *fault);
	/* Adds findings for what no row can express: rules of the record itself, and records that
	 * it refers to and that are wrong. Runs only if none of these is missing. */
	bool (*check)(struct call *call, const void *record, struct findings *findings,
		      struct fault *fault);
	/* Runs before the record is removed together with another one or with its account:
	 * removes what refers to it and belongs to no account, or keeps what outlives it. */
	bool (*removed)(struct call *call, const void *record, struct fault *fault);
	/* Milliseconds for which a record is kept after its end (AS_END). If NULL, it is not. */
	int64_t (*kept)(const struct call *call);
	/* Adds findings for members derived from other records in a way that no row says. */
	bool (*derive)(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault);
};

/* clang-format off */
#define RECORD_KIND_DECLARED(name_) extern const struct record_kind name_##_kind;
EACH_KIND(RECORD_KIND_DECLARED)
/* clang-format on */
/* In the order of EACH_KIND (records/kinds.h), which is also the order of a dump. */
extern const struct record_kind *const record_kinds[RECORD_KINDS];

/* Sets KINDS elements: the tables of all these kinds, and that of the lease. */
void record_tables(const struct record_table **tables);
/* The steps from the data of version 0.2.0 to theirs (resources/upgrades.c). */
extern const struct record_upgrades record_upgrades;
/* Their form (records/form.h), and its number. */
extern const struct store_form record_form;

/* Verifies the kinds by assert, and the tables of documents (schema_verify), at the start of a
 * command. */
void record_kinds_verify(void);
/* Returns NULL for the lease. */
const struct record_kind *record_kind_of(const struct store_kind *kind);

/* Returns the kind of the parents of these records; NULL if they belong to the account. */
const struct record_kind *record_kind_above(const struct record_kind *kind);

/* Adds a finding for each rule that a document made from a record violates. Changes the
 * document. */
void record_check_document(const struct shape *shape, json_t *document, const char *pointer,
			   struct findings *findings);

#endif
