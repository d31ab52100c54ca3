/* The rooms that this process made at media servers, so that an exchange of a code makes a room
 * only if it may not be there: at most once a minute, and at once after its end. Of an end tell the
 * records of the room in session, and made_rooms_forget. Nobody tells of a media server that lost
 * its rooms in a restart: who joins again with a join token has the room made every two seconds.
 *
 * In memory, of a fixed size: what is forgotten too early, after a restart or by another process,
 * is made once more, which changes nothing at the media server.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_MADE_ROOMS_H
#define RESOURCES_LIVE_MADE_ROOMS_H

#include "resources/call.h"

/* For how long a room that was made counts as made, in milliseconds: for codes, and for people who
 * may have lost the room. */
#define MADE_ROOMS_LAST 60000
#define MADE_ROOMS_LAST_BRIEFLY 2000

struct made_rooms;

struct made_rooms *made_rooms_open(void);
void made_rooms_close(struct made_rooms *rooms);

/* A room of an account at one of its media servers. */
struct made_room {
	struct id account, backend, room;
};

/* Notes that the media server has made the room. asked: milliseconds since 1970. */
void made_rooms_note(struct made_rooms *rooms, const struct made_room *room, int64_t asked);
/* The room has ended, or seems to have. NULL is allowed. */
void made_rooms_forget(struct made_rooms *rooms, const struct made_room *room);

/* The media server may have restarted: all of its rooms have ended. NULL is allowed. */
void made_rooms_forget_server(struct made_rooms *rooms, const struct id *account,
			      const struct id *backend);

/* Finds out whether the room was made in the last `lasts` milliseconds and has not ended since. */
bool made_room_is_there(struct call *call, const struct made_room *room, int64_t lasts,
			bool *is_there, struct fault *fault);

#endif
