/* Accounts with all they own, as lines of JSON: out of a store (anteroom dump) and into another
 * (anteroom load). After that every GET answers the same body, every code is in the same state, and
 * the life of codes goes on as if nothing had happened; only ETags are others.
 *
 * A dump is a line `dump`, then the lines of each account, then a line `words` for each code that
 * stays with its account, which may be gone (resources/codes/code_words.h), then a line `end` with
 * counts, so that a dump that was cut off is recognized. An account has a line `account`, and after
 * it a line for each of its records, in the order of resources/record_kind.c. The members of such a
 * line are the rows of the record's table (records/record.h). What is derived from other records is
 * not in a dump.
 *
 * A dump holds every secret of its accounts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_TRANSFER_H
#define TRANSFER_TRANSFER_H

#include "accounts/roster.h"
#include "resources/record_kind.h"
#include "transfer/record_findings.h"
#include "transfer/survey.h"

#define TRANSFER_FORMAT 1

/* The most bytes of a line: a template of a largest text and largest hidden members, of which each
 * byte may be written as six. */
#define TRANSFER_LINE_MOST ((size_t)16 << 20)

struct transfer_counts {
	uint64_t accounts;
	uint64_t lines[RECORD_KINDS]; /* in the order of record_kinds */
};

uint64_t transfer_count(const struct transfer_counts *counts, const struct record_kind *kind);
void transfer_count_line(struct transfer_counts *counts, const struct record_kind *kind);

/* ---- out of a store ---- */

/* The receiver of lines; its struct begins with this. The line has no newline, and lives until
 * the function returns. */
struct transfer_output {
	bool (*line)(struct transfer_output *output, struct slice line, struct fault *fault);
	/* Told of each thing that is left out, because it or a thing that it refers to cannot be
	 * read: its kind, account and id, and why. NULL: the first such thing ends the dump. */
	void (*lost)(struct transfer_output *output, const char *what, const char *why);
	struct transfer_counts counts; /* of the lines that went there */
};

/* Writes the accounts of the roster, or `only` this one. The survey is of a durable store.
 *
 * A dump of lists that disagree with the records is FAULT_DAMAGED: every template and room that
 * there is stands in it, or it fails. With `lost`, templates and rooms are found by their keys,
 * whether they are in a list or not, and what refers to lost things is written without them, so
 * that transfer_read_line takes every line. */
bool transfer_write(struct survey *survey, const struct roster *roster, const struct account *only,
		    struct transfer_output *output, struct fault *fault);

/* ---- into a store ---- */

/* Line by line, inside WRITE transactions of the caller's, who sets call.arena and call.transaction
 * and calls findings_open before each. Nothing of an account that is being read can be seen by
 * anyone, since the accounts file does not have it yet. */
struct transfer_input {
	struct environment environment;
	struct call call; /* of the account at hand */
	const struct roster *present; /* accounts that are there already */
	struct account *accounts; /* read so far, from malloc */
	size_t capacity;
	struct transfer_counts counts; /* of the lines that were read; accounts: of `accounts` */
	json_t *taken; /* names, ids and access keys of `accounts`, with their indexes */
	bool has_begun, has_ended;
};

/* `present` is borrowed. Verifies the table of a line (schema_verify). */
void transfer_input_open(struct transfer_input *input, struct store *store,
			 const struct clock *clock, const struct roster *present);
void transfer_input_close(struct transfer_input *input);

/* Reads one line. FAULT_INVALID_BODY with all findings in `details`, each with its JSON Pointer in
 * the line; FAULT_MALFORMED; FAULT_CONFLICT for what the place of the line in the dump forbids.
 * After a fault the caller gives up the whole dump; after FAULT_AGAIN it may go back. */
bool transfer_read_line(struct transfer_input *input, struct slice line, struct fault *fault);
/* Goes back to `mark`, a copy of *input from before the first line of a transaction that was
 * abandoned, so that these lines can be read again in another one. */
void transfer_input_back(struct transfer_input *input, const struct transfer_input *mark);
/* After the last line: whether the dump was whole. */
bool transfer_read_end(struct transfer_input *input, struct fault *fault);

/* Checks what the lines say of each other, once all of them are durable. False: what is told does
 * not fit together, or something cannot be read. */
bool transfer_verify(struct survey *survey, const struct transfer_input *input,
		     struct record_findings *findings, struct fault *fault);

/* Removes some of what call->account has, in a WRITE transaction; *is_empty:
 * there is nothing left. For a dump that was given up. */
bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault);

#endif
