/* The lines of a dump, one by one, for transfer_whole.c. Each function releases the values that it
 * read (survey_forget).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_TRANSFER_LINES_H
#define TRANSFER_TRANSFER_LINES_H

#include "resources/codes/code_record.h"
#include "resources/templates/template_record.h"
#include "transfer/transfer.h"

bool transfer_line_begin(struct survey *survey, struct transfer_output *output,
			 struct fault *fault);
bool transfer_line_end(struct survey *survey, struct transfer_output *output, struct fault *fault);
/* default_template: NULL where the account has none. */
bool transfer_line_account(struct survey *survey, const struct account *account,
			   const struct id *default_template, uint64_t last_event,
			   struct transfer_output *output, struct fault *fault);
/* Of the survey's account; nothing where it has none. */
bool transfer_line_media(struct survey *survey, struct transfer_output *output,
			 struct fault *fault);
bool transfer_line_keys(struct survey *survey, struct transfer_output *output, struct fault *fault);
bool transfer_line_webhooks(struct survey *survey, struct transfer_output *output,
			    struct fault *fault);
/* Of the survey's account. What cannot be read is left out (transfer_leave_out). */
bool transfer_line_template(struct survey *survey, const struct id *id,
			    struct transfer_output *output, struct fault *fault);

/* Codes of rooms that were found by their keys, sorted by these ids. */
struct kept_code {
	struct id room, account, place;
	char letters[CODE_WORDS_MOST + 1];
};
struct kept_codes {
	struct kept_code *items; /* from malloc */
	size_t count, capacity;
};
/* The line of the room, and the lines of its codes that it has no space for. kept: where the room's
 * codes are; NULL: in the store's pages. */
bool transfer_line_room(struct survey *survey, const struct id *id, const struct kept_codes *kept,
			struct transfer_output *output, struct fault *fault);

/* The last number of the account's log. */
bool transfer_last_event(struct survey *survey, uint64_t *last, struct fault *fault);
bool transfer_line_events(struct survey *survey, struct transfer_output *output,
			  struct fault *fault);
bool transfer_line_words(struct survey *survey, const struct id *account, struct slice words,
			 struct transfer_output *output, struct fault *fault);

/* A template as its rooms and the account refer to it: FAULT_DAMAGED when it stands in no line. */
bool transfer_find_template(struct call *call, const struct id *id, struct template_record *owner,
			    struct fault *fault);

/* Writes {"kind": value} as a line, and releases the values read for it. */
bool transfer_send(struct survey *survey, struct transfer_output *output, const char *kind,
		   json_t *value, struct fault *fault);

/* True: it has been told, and the dump goes on without it. False: `why` is the fault. */
bool transfer_leave_out(struct transfer_output *output, const char *what, const struct fault *why,
			struct fault *fault);
/* The same of a part of the call's account. */
bool transfer_leave_out_part(struct call *call, struct transfer_output *output, const char *what,
			     const struct fault *why, struct fault *fault);

#endif
