/* Bans as they are stored: people and codes that may not be in a room, or in any room of the
 * account.
 *
 * A person is banned by user_id, a code by its hash (media_code_hash). A ban is found by its name,
 * which follows from the person or code and the room. So a person or a code has at most one ban in
 * a room. Expired bans, until they are removed (resources/sweep.h), count as if they did not exist.
 *
 * The record of the account's media (resources/stored/media_record.h), which is read anyway before
 * somebody is let in, has the number of bans: an account without bans costs no further read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_BAN_RECORD_H
#define RESOURCES_STORED_BAN_RECORD_H

#include "records/record.h"
#include "resources/stored/media_record.h"

/* The first digits of a code's hash that identify the code: media servers get no more. */
#define BAN_CODE_DIGITS MEDIA_CODE_SHOWN

/* Slices are borrowed: from the stored value, or from the call's arena. */
struct ban {
	struct store_record stored; /* parent: the room; the id zero for every room */
	struct slice name; /* ban_name */
	struct slice user_id, code_hash; /* one of them is empty */
	struct slice reason; /* may be empty */
	struct slice created_by; /* as the event log names an actor */
	int64_t created; /* milliseconds since 1970 */
	int64_t expires_at; /* seconds since 1970; 0 for never */
};

extern const struct record_table ban_table;

/* Returns true if the id stands for every room. */
bool ban_is_of_every_room(const struct id *room);
/* Returns true if the ban, as it was read, exists and has not expired. */
bool ban_holds(const struct call *call, const struct ban *ban);

/* Returns the name of a ban of a person or, if user_id is empty, of a code. room: the id zero for
 * every room. */
struct slice ban_name(struct arena *arena, struct slice user_id, struct slice code_hash,
		      const struct id *room);

/* Finds a ban that keeps a person out of the room. user_id: of the person; empty if it has none.
 * code: at least the first BAN_CODE_DIGITS digits of the hash of the code that the person came by;
 * empty if there was none. */
bool ban_find(struct call *call, const struct id *room, struct slice user_id, struct slice code,
	      struct ban *ban, bool *is_there, struct fault *fault);
/* Does the same for a caller who has the account's media; NULL if the account has none. */
bool ban_find_with(struct call *call, const struct media *media, const struct id *room,
		   struct slice user_id, struct slice code, struct ban *ban, bool *is_there,
		   struct fault *fault);

#endif
