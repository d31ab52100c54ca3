/* Reads a whole store in one consistent state, for any length of time and with bounded memory: one
 * READ transaction whose values are released from time to time. For commands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_SURVEY_H
#define TRANSFER_SURVEY_H

#include "resources/call.h"

/* The limit (arena_set_limit) of an arena for reading or writing one line of a dump. */
#define SURVEY_ARENA_MOST ((size_t)256 << 20)

struct survey {
	struct environment environment;
	struct call call; /* for functions that read records */
	struct arena *lasting; /* contains the transaction itself */
};

/* Verifies the tables of dumped lines (schema_verify). Returns false if nothing was opened. */
bool survey_open(struct store *store, const struct clock *clock, struct survey *survey,
		 struct fault *fault);
void survey_close(struct survey *survey);

/* Sets the account for the following reads. */
void survey_of_account(struct survey *survey, const struct id *account);
/* Releases all values that were read, and everything else in the call's arena. */
void survey_forget(struct survey *survey);

#endif
