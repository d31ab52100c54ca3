/* A record being looked at (transfer/record_check.h), and what its checks share. Only
 * record_check.c, record_check_rooms.c and record_check_lists.c include this, and transfer_whole.c for
 * subject_listed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TRANSFER_RECORD_SUBJECT_H
#define TRANSFER_RECORD_SUBJECT_H

#include "transfer/record_check.h"
#include "resources/room_record.h"

struct subject {
	struct survey *survey;
	struct call *call;
	struct record_findings *findings;
	enum store_table table;
	struct slice key, value;
};

/* Tells a finding. True, so that the check goes on. */
bool subject_found(const struct subject *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether the key is an account and `size` more bytes; the account is the call's from then on. */
bool subject_key_has(const struct subject *subject, size_t size);
struct id subject_id_at(struct slice bytes, size_t offset);
/* Of a record that leads from a name to a thing, say "room": both. False: it is no such record, which
 * is told. */
bool subject_name(const struct subject *subject, const char *thing, struct slice *name,
		  struct id *id);
/* NULL when it is no JSON object. */
json_t *subject_parsed(const struct subject *subject, struct slice text);
bool subject_says(const json_t *object, const char *name, struct slice text);
/* Whether a search for the whole id comes out at it. */
bool subject_listed(struct call *call, struct slice list, const struct id *id, bool *is_there,
		    struct fault *fault);
bool subject_check_listed(const struct subject *subject, struct slice list, const struct id *id,
			  bool should_be, const char *name, struct fault *fault);
/* What ids and times of an account have to be. */
bool subject_counted(const struct subject *subject, const struct id *id, int64_t created,
		     bool is_room, struct fault *fault);

/* The checks of these tables; false: something could not be read. */
bool subject_check_room(const struct subject *subject, struct fault *fault);
bool subject_check_room_name(const struct subject *subject, struct fault *fault);
bool subject_check_room_codes(const struct subject *subject, struct fault *fault);
bool subject_check_code(const struct subject *subject, struct fault *fault);
bool subject_check_sequence(const struct subject *subject, struct fault *fault);

#endif
