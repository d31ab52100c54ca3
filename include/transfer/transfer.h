/* Copies accounts with everything they own as lines of JSON: out of a store (anteroom dump) and
 * into another (anteroom load). Afterwards every GET returns the same body, every code is in the
 * same state, and codes behave as if nothing had happened; only ETags are different.
 *
 * A dump consists of a line `dump`, which has the form of the records (records/form.h) and its
 * number; the lines
 * of each account; a line `words` for each code that is reserved for an account, which may be
 * removed (resources/stored/code_words.h); and a line `end` with counts, by which an incomplete
 * dump is recognised. An account has a line `account`, followed by a line for each of its records,
 * in the order of resources/record_kind.c. The members of such a line are the rows of the record's
 * table (records/record.h). Data derived from other records is not in a dump.
 *
 * A dump contains every secret of its accounts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_TRANSFER_H
#define TRANSFER_TRANSFER_H

#include "accounts/roster.h"
#include "resources/record_kind.h"
#include "transfer/record_findings.h"
#include "transfer/snapshot.h"

/* The format of the first and the last line and of the lines of accounts. Programs that were never
 * released, and called themselves TRANSFER_UNRELEASED_PROGRAM, have used the numbers up to
 * TRANSFER_UNRELEASED; their dumps with the present number have no form. */
#define TRANSFER_FORMAT 1
#define TRANSFER_UNRELEASED 6
#define TRANSFER_UNRELEASED_PROGRAM "0.1.0"

/* The most bytes of a line: a template with the largest text and the largest hidden members, in
 * which each byte may be written as six. */
#define TRANSFER_LINE_MOST ((size_t)16 << 20)

/* The most kinds whose records an upgrade converts. */
#define TRANSFER_PATHS_MOST (2 * (size_t)KINDS)

struct transfer_counts {
	uint64_t accounts;
	uint64_t lines[RECORD_KINDS]; /* in the order of record_kinds */
};

uint64_t transfer_count(const struct transfer_counts *counts, const struct record_kind *kind);
void transfer_count_line(struct transfer_counts *counts, const struct record_kind *kind);

/* ---- out of a store ---- */

/* Receives the lines; the caller's struct begins with it. The line has no newline, and is valid
 * until the function returns. */
struct transfer_output {
	bool (*line)(struct transfer_output *output, struct slice line, struct fault *fault);
	/* Called for everything that is left out because it, or something it refers to, cannot be
	 * read: its kind, account and id, and the reason. If this is NULL, the dump ends there. */
	void (*lost)(struct transfer_output *output, const char *what, const char *why);
	size_t keys_most; /* with `lost`: of each kind in memory; 0 for the usual number */
	struct transfer_counts counts; /* of the lines so far */
};

/* Writes the accounts of the roster, or only the account `only` if it is not NULL. The survey must
 * be of a durable store.
 *
 * Without `lost`, the dump contains every template and room, or fails: lists that do not match the
 * records set FAULT_DAMAGED. With `lost`, records are found by their keys, even if they are not in
 * a list; records that belong to a lost one are lost too, and a template is written without a media
 * server that is lost, so that transfer_read_line accepts every line. An exception: if a template,
 * a deleted role or the media servers can be read but break a rule, others may still refer to them,
 * and the load says so. */
bool transfer_write(struct snapshot *snapshot, const struct roster *roster,
		    const struct account *only, struct transfer_output *output,
		    struct fault *fault);

/* ---- into a store ---- */

/* Reads a dump line by line, in WRITE transactions of the caller, who sets call.arena and
 * call.transaction and calls findings_open before each line. Nobody can see an account while
 * it is being read, because the accounts file does not have it yet. */
struct transfer_input {
	struct environment environment;
	struct call call; /* of the current account */
	const struct roster *present; /* existing accounts */
	struct account *accounts; /* accounts read so far, from malloc */
	size_t capacity;
	struct transfer_counts counts; /* lines read so far; counts.accounts: size of `accounts` */
	json_t *taken; /* names, ids and access keys of `accounts`, with their indexes */
	/* The upgrades of this program, and the form of their last step; tests have others. */
	const struct record_upgrades *upgrades;
	const struct store_form *form;
	/* Of a dump of an earlier version: what becomes of its records (records/upgrade.h), in an
	 * arena that is NULL before the first line, and how many lines there were of each. */
	struct arena *earlier;
	struct upgrade_path *paths;
	size_t path_count;
	uint64_t path_lines[TRANSFER_PATHS_MOST];
	bool has_begun, has_ended;
};

/* Borrows `present`. Verifies the table of a line (schema_verify). */
void transfer_input_open(struct transfer_input *input, struct store *store,
			 const struct clock *clock, const struct roster *present);
void transfer_input_close(struct transfer_input *input);

/* Reads one line. Sets FAULT_INVALID_BODY with all findings in `details`, each with its JSON
 * Pointer in the line; FAULT_MALFORMED; FAULT_CONFLICT if the line is not allowed at this place in
 * the dump, or if it is the first one and another version of the program wrote the dump. After a
 * fault the caller must give up the whole dump, except that it may go back after FAULT_AGAIN. */
bool transfer_read_line(struct transfer_input *input, struct slice line, struct fault *fault);
/* Goes back to `mark`, a copy of *input from before the first line of an abandoned transaction, so
 * that its lines can be read again in another transaction. */
void transfer_input_back(struct transfer_input *input, const struct transfer_input *mark);
/* Must be called after the last line: checks that the dump was complete. */
bool transfer_read_end(struct transfer_input *input, struct fault *fault);

/* Checks the loaded records against each other, once all of them are durable. Returns false if
 * there are findings, or something cannot be read. */
bool transfer_verify(struct snapshot *snapshot, const struct transfer_input *input,
		     struct record_findings *findings, struct fault *fault);

/* Removes some records of call->account, in a WRITE transaction, after a dump was given up. Sets
 * *is_empty to true if nothing is left. */
bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault);

#endif
