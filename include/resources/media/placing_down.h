/* Moves rooms of a pool away from media servers that are down.
 *
 * Nobody can tell from one side alone that a server is down: the network between this service and
 * the server may be cut while people talk there, or somebody's own network may fail. A room
 * therefore moves when both agree:
 *
 *  - The server is down for this service: it does not answer now, whatever it would say, and has
 *    sent no event in the last DOWN_WITHOUT_EVENT.
 *  - Its people say so: of those inside whose tokens have entries, at least half have said within
 *    WITNESS_LASTS that they cannot connect (`failed` of POST /v2/token/join). Or none of them is
 *    inside; or the server has been down for DOWN_MOVES_AFTER, because some clients never say it.
 *
 * A server is asked when somebody says that it failed; and when somebody comes to a room from which
 * nobody needs to say so, and the server did not answer when it was last surveyed. The question has
 * QUESTION_LASTS in all. One process asks for all, at most once a second: the record of what is
 * known of servers (backend_health.h) says that it is asked, and what was found, which counts for
 * all who come within PRESENCE_LASTS. Whoever comes meanwhile shares the request if it is one of
 * the same process. In other processes what was found last counts a while longer, or else the word
 * is noted, and whoever says it again finds the answer. So a newcomer gets the present place of the
 * room, and says `failed` if it cannot be reached.
 *
 * A room goes to another server of the pool that is up, also one that drains; if there is none, it
 * stays. It moves at most once in MOVED_AT_MOST_EVERY because of a server that is down, and never
 * back by itself. After a move, those who are still inside at the former server by the records do
 * not count: the session is not at the present place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_PLACING_DOWN_H
#define RESOURCES_MEDIA_PLACING_DOWN_H

#include "resources/media/placing.h"

#define QUESTION_LASTS 3000

/* Somebody who comes to a room; borrowed, as long as the placing is used. */
struct leave_request {
	const struct place_wish *wish;
	struct slice failed; /* the name of a media server that cannot be reached, or empty */
	struct slice entry; /* of the person's join token; empty if there is none */
};

/* Finds out whether a room has to leave the media server where it is, as placing_find has found.
 * Then placing->backend is another one, and placing_keep moves the room. *is_waiting: the server is
 * asked first; the handler ends here, and goes on in its `settle`. The call may be run again to
 * write (call_write_instead). */
bool placing_leave(struct call *call, struct placing *placing, const struct leave_request *request,
		   bool *is_waiting, struct fault *fault);

#endif
