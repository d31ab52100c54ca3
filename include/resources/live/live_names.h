/* The names of people inside a room: no two people are shown under the same name
 * (base/text_name.h), unless an account gave it to both. Whoever takes the name of somebody inside
 * gets it with a number, as in "Anna (2)". A name that a code or the account gives stays as it is:
 * a guest who has it gets the number. Somebody without a name is called by the role and a number,
 * as in "guest 3".
 *
 * Each name that somebody inside has is a record (struct shown_name), so an exchange reads one, and
 * those next to it only if the name is taken. Two people who come at once may still bring the same
 * name: the merge (live_merge.h) numbers the later one, and has the media server show that.
 *
 * A person's other stays do not count: those with the same entry, or the same user_id if the
 * account set it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_NAMES_H
#define RESOURCES_LIVE_LIVE_NAMES_H

#include "resources/stored/live_record.h"

/* The name that somebody who comes, or changes the name, asks for. */
struct name_request {
	const struct id *room;
	struct slice name; /* with NAME_COUNTED: without the number */
	enum name_origin origin;
	struct slice entry;
	struct slice user_id; /* empty unless the account set it */
	bool reads_live; /* the caller reads the record of the room in session, too */
};

/* Finds the name under which the person is to be shown. */
bool names_find(struct call *call, const struct name_request *request, struct slice *shown,
		struct fault *fault);

/* Gives the peer, who is inside and which the caller stores, a name that was reported or set. Its
 * origin is peer->name_origin. *shown: the name under which the person is to be shown; if it is
 * another one, the media server must be given it (peer->new_name). *has_renamed: guests who had the
 * name are called otherwise now, and are stored; it is not set otherwise. The record of the room in
 * session must be locked. */
bool names_take(struct call *call, const struct id *room, struct peer *peer, struct slice name,
		struct slice *shown, bool *has_renamed, struct fault *fault);
/* Gives the name back when the stay ends. */
bool names_release(struct call *call, struct peer *peer, struct fault *fault);
/* Notes the name of a peer that was loaded, as it is. */
bool names_restore(struct call *call, const struct id *room, struct peer *peer,
		   struct fault *fault);

#endif
