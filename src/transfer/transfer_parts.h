/* Shared by the readers of a dump's lines (transfer_read.c and a file for each kind of line).
 * The objects have been checked by the line's table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_TRANSFER_PARTS_H
#define TRANSFER_TRANSFER_PARTS_H

#include "transfer/transfer.h"

/* data NULL: there is no such member. */
struct slice transfer_text(const json_t *object, const char *name);
/* The name of a document; empty when it is missing. */
struct slice transfer_name(const json_t *document);
/* 0 when it is missing. */
uint64_t transfer_number(const json_t *object, const char *name);
struct id transfer_id(const json_t *object, const char *name);
/* The table looks at the characters of a time, not at what they mean: that may be a finding.
 * pointer: of the object. */
int64_t transfer_time(struct transfer_input *input, const char *pointer, const json_t *object,
		      const char *name);

/* The id of a template or a room. It is a finding unless it is below that of the line before. */
struct id transfer_check_id(struct transfer_input *input, const char *kind, const json_t *object);

/* A code of the account gets the letters; a finding at `pointer` when they are, or were, another
 * account's. */
bool transfer_take_letters(struct call *call, struct slice letters, const char *pointer,
			   struct fault *fault);

/* The lines of these kinds, at a place where they may come. */
bool transfer_read_media(struct transfer_input *input, const json_t *object, struct fault *fault);
bool transfer_read_keys(struct transfer_input *input, const json_t *object, struct fault *fault);
bool transfer_read_webhooks(struct transfer_input *input, const json_t *object,
			    struct fault *fault);
bool transfer_read_template(struct transfer_input *input, const json_t *object,
			    struct fault *fault);
bool transfer_read_room(struct transfer_input *input, const json_t *object, struct fault *fault);
bool transfer_read_codes(struct transfer_input *input, const json_t *object, struct fault *fault);

bool transfer_read_event(struct transfer_input *input, const json_t *object, struct fault *fault);
/* The account's log goes as far as this entry; 0: it has none. */
bool transfer_begin_events(struct transfer_input *input, uint64_t last, struct fault *fault);

#endif
