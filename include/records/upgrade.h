/* Upgrades of stored records. What was stored by version 0.2.0 or a later one can be read by every
 * version after it: where the rows of a kind have changed in a way that is more than an addition
 * (records/form.h), its records are converted once, as rows of a table say. A store and a dump go
 * through the same steps.
 *
 * Forms have numbers. That of version 0.2.0 is STORE_FORM_FIRST (store/store.h), and each step of
 * the table leads from one number to the next; so the number of a program is the number of its
 * steps. What a store or a dump has is read by its number, and its form (a text that follows from
 * the rows) says whether that is true.
 *
 * A step does not repeat tables: it has the differences. The earlier table of a kind is made from
 * the later one, so nothing but the rows that have changed is written down:
 *
 *     static const struct upgrade_row ban_rows[] = {
 *             { UPGRADE_RENAMED("why", "reason") },
 *             { UPGRADE_MADE("host", host_of_address) },
 *             { UPGRADE_MADE("port", port_of_address) },
 *             { UPGRADE_BEFORE("user_id"), UPGRADE_WAS("address", AS_TEXT(1, 300)) },
 *     };
 *     static const struct upgrade_kind changed[] = {
 *             { .kind = &kind_ban, .version = 2, UPGRADE_ROWS(ban_rows) },
 *             { .kind = &kind_gone, UPGRADE_MEMBERS(gone_members, 1), .line = "gone" },
 *     };
 *
 * Here records of version 2 and earlier ones had `address` where the later table has `user_id`, and
 * `why` instead of `reason`. Rows SINCE a later version than 2 are not in the earlier table; each
 * row that it has in common with the later one is copied, converted if the width of a number or the
 * names of a choice differ; what is in neither list of rows is zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_UPGRADE_H
#define RECORDS_UPGRADE_H

#include "records/record.h"

/* What a function reads: the earlier record, by the names of its rows. Of a record of a dump it may
 * read only what a dump has. */
struct upgrade_source {
	const struct record_table *table;
	const void *record;
	struct arena *arena; /* for what the function makes */
};
struct slice upgrade_text(const struct upgrade_source *source, const char *row);
uint64_t upgrade_integer(const struct upgrade_source *source, const char *row);
struct id upgrade_id(const struct upgrade_source *source, const char *row);

/* What it makes: the member that belongs to the type of the row is used. */
struct upgrade_value {
	uint64_t number; /* also times, choices, booleans, ETags */
	struct slice text; /* also bytes, JSON and the name of a record */
	struct id id;
};

/* A difference between the rows of the earlier table and the later one. Names of rows of items are
 * preceded by the names of their lists, "stays/peer_id". */
struct upgrade_row {
	const char *later; /* a row of the later table, or the end of a list: "stays/" or "" */
	const char *renamed; /* the earlier name of that row */
	bool is_before; /* the earlier row was in front of it; otherwise it was in its place */
	const struct member *earlier;
	/* Makes the later row. Returns false if that is impossible: the record is damaged. */
	bool (*make)(const struct upgrade_source *source, struct upgrade_value *value);
};
/* clang-format off */
#define UPGRADE_RENAMED(earlier_, later_) .later = (later_), .renamed = (earlier_)
#define UPGRADE_MADE(later_, make_) .later = (later_), .make = (make_)
#define UPGRADE_BEFORE(later_) .later = (later_), .is_before = true
#define UPGRADE_INSTEAD_OF(later_) .later = (later_)
#define UPGRADE_WAS(...) .earlier = &(const struct member) { __VA_ARGS__ }
#define UPGRADE_ROWS(rows_) .rows = (rows_), .row_count = sizeof (rows_) / sizeof (rows_)[0]
#define UPGRADE_MEMBERS(members_, keys_) .members = (members_), .keys = (keys_), \
	.member_count = sizeof (members_) / sizeof (members_)[0]
/* clang-format on */

/* What a step does to a kind. */
struct upgrade_kind {
	const struct store_kind *kind; /* as it was */
	unsigned version; /* of the earlier table, lower than that of the later one */
	const struct upgrade_row *rows;
	size_t row_count;
	/* Called when the rows are converted, for what no row can say alone, such as a text with
	 * MEMBER_WHOLE and its parts, of which a dump has only the parts. Sets members of the later
	 * record, whose table this is. Returns false if the record is damaged. NULL for nothing. */
	bool (*finish)(const struct upgrade_source *source, const struct record_table *table,
		       void *record);
	/* A kind that is gone, or became another one: all of its rows, without places in a struct
	 * (AT), how many are those of the key, and the name of its lines in a dump, or NULL. */
	const struct member *members;
	size_t member_count, keys;
	const char *line;
	const struct store_kind *becomes; /* NULL if its records are removed */
};

/* From a number to the next. */
struct upgrade_step {
	const struct upgrade_kind *kinds;
	size_t count;
};

/* The tables of a program, and the steps to them. */
struct record_upgrades {
	void (*tables)(const struct record_table **tables); /* sets `table_count` elements */
	size_t table_count;
	const struct upgrade_step *steps;
	size_t step_count;
};

/* Returns the number of the form that the steps lead to. */
unsigned upgrade_number(const struct record_upgrades *upgrades);
/* Compares a form that was kept, of this number, with that of the tables of this number. */
enum store_form_match upgrade_compare(const struct record_upgrades *upgrades, unsigned number,
				      struct slice kept);
/* Verifies the steps by assert: every row that they name exists, and versions are raised. */
void upgrade_verify(const struct record_upgrades *upgrades);

/* What becomes of the records of one kind. */
struct upgrade_path {
	const struct record_table *first; /* as they were */
	const struct record_table *last; /* as they are now; NULL if the kind is gone */
	const char *line; /* the name of its lines in a dump; NULL: that of the kind now */
	struct upgrade_stage {
		const struct upgrade_kind *change;
		const struct record_table *from, *to;
	} * stages;
	size_t stage_count;
};

/* Sets an array of the kinds that differ between a form of this number and now, in the arena. There
 * are no others to convert. */
void upgrade_paths(const struct record_upgrades *upgrades, struct arena *arena, unsigned number,
		   struct upgrade_path **paths, size_t *count);
/* Converts a record of the table `first` to one of the table `last`, which is zero apart from what
 * the path sets. What it has lives in the arena, or where the earlier record's parts live. Sets
 * FAULT_DAMAGED if that is impossible. */
bool upgrade_record(const struct upgrade_path *path, struct arena *arena, const void *earlier,
		    void *record, struct fault *fault);

#endif
