/* Bans: people and codes that may not be in a room, or in any room of the account
 * (resources/stored/ban_record.h), as they are made, listed and removed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_BANS_BANS_H
#define RESOURCES_BANS_BANS_H

#include "resources/reads.h"
#include "resources/stored/ban_record.h"

/* Whom to ban, from where, and for how long. */
struct ban_terms {
	struct id room; /* the id zero for every room */
	struct slice user_id, code_hash; /* one of them is empty */
	struct slice reason; /* data NULL: none was sent */
	int64_t expires_at; /* seconds since 1970; 0: none was sent */
	bool is_for_ever; /* without an end, even if there is a ban that has one */
};
/* Creates a ban, in the name of the caller, and notes it for the event log. If there already is a
 * ban of the same person from the same room, gives that one the reason and the end that were sent.
 * A caller from inside the room can only extend it, and does not change the reason of a ban that
 * nobody inside created. The call must be in a WRITE transaction. Sets FAULT_CONFLICT if the
 * account has BANS_MOST bans. */
bool ban_add(struct call *call, const struct ban_terms *terms, struct ban *ban,
	     struct fault *fault);

handler bans_create;
handler bans_list;
extern const struct loading load_bans; /* the first page of bans_list */
extern const struct loading load_ban; /* the ban of the path, as call->ban */
handler bans_get;
handler bans_delete;

#endif
