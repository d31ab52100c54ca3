/* Accounts with all they own, as lines of JSON: out of a store (anteroom dump) and into another
 * (anteroom load). After that every GET answers the same body, every code is in the same state, and
 * the life of codes goes on as if nothing had happened; only ETags are others.
 *
 * A dump is a line `dump`, then the lines of each account, then a line `words` for each choice of
 * words for a code, and for each code that is gone and stays with its account, which may be gone
 * too, then a line `end` with counts, so that a truncated dump is recognised. An account has a line
 * `account`; where it has any, a line `media` (for media servers), a line `keys` and a line
 * `webhooks`; its templates and its rooms, the youngest of each first; the entries of its log,
 * oldest first. The line of a room has its oldest CODES_OF_LINE codes; the others follow in lines
 * `codes`, each of at most as many. rules/transfer_rules.c says what each line contains. A template
 * and a room are documents that could be sent, with the members that are never answered
 * (credentials, the browser recordings' roles); next to them are members that documents do not
 * show: ids, times, the identities of roles, and of a room all its codes and the roles that are due
 * since a move.
 *
 * A dump holds every secret of its accounts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_TRANSFER_H
#define TRANSFER_TRANSFER_H

#include "accounts/roster.h"
#include "transfer/survey.h"

/* The most bytes of a code in a line: 16 members of metadata of 40 + 6 * 256 + 6 bytes each, since
 * a character may be written as \u0001; 6 * (256 + 128 + 128 + 256) for user_id, name, label and
 * the last user; 480 for the code, its role, its times and numbers, and the names of all
 * members. */
#define TRANSFER_CODE_MOST ((size_t)16 * 1582 + 6 * 768 + 480)

/* The most bytes of a line. The longest lines that are written are those of CODES_OF_LINE (1,000)
 * such codes, 30.4 MB, and in the line of a room the room's document, which is at most 3 MB, as no
 * body of a request is larger than 1 MiB. All other lines are far shorter. The rest is for dumps of
 * formats before 6: they have all codes of a room in its line. */
#define TRANSFER_LINE_MOST ((size_t)128 << 20)

struct transfer_counts {
	uint64_t accounts, media, keys, webhooks, templates, rooms, codes, words, events;
};

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
	const char *before; /* the kind of the line before; empty: none came */
	bool is_at_rooms; /* no more templates of this account */
	bool has_above; /* the line before was one of the same kind */
	struct id above; /* and had this id */
	bool may_have_codes; /* the line before was that of the room `above` with codes, or had more
			      * codes of that room */
	struct id owner; /* the template of the last room */
	bool has_default;
	struct id default_template;
	bool found_default;
	uint64_t last_event; /* of the account's log */
	uint64_t event; /* the seq of the line before; 0: none came */
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

/* Removes some (at most PAGE_MOST) of what call->account has, in a WRITE transaction; *is_empty:
 * there is nothing left. For a dump that was given up. */
bool transfer_remove_some(struct call *call, bool *is_empty, struct fault *fault);

#endif
