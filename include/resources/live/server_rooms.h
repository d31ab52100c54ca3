/* The rooms that this process made at media servers, so that an exchange of a code makes a room
 * only if it may not be there: at most once a minute, and at once after its end. The records of the
 * room in session show its end, and server_rooms_remove notes it. Nothing reports a media server
 * that lost its rooms in a restart: for people who join again with a join token, the room is made
 * every two seconds.
 *
 * In memory, of a fixed size: a room that is dropped too early, or is not known after a restart or
 * in another process, is made once more, which changes nothing at the media server.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_SERVER_ROOMS_H
#define RESOURCES_LIVE_SERVER_ROOMS_H

#include "resources/call.h"

/* For how long a room that was made counts as made, in milliseconds: for codes, and for people who
 * may have lost the room. */
#define SERVER_ROOMS_LAST 60000
#define SERVER_ROOMS_LAST_BRIEFLY 2000

struct server_rooms;

struct server_rooms *server_rooms_open(void);
void server_rooms_close(struct server_rooms *rooms);

/* A room of an account at one of its media servers. */
struct server_room_key {
	struct id account, backend, room;
};

/* Notes that the media server has made the room. asked: milliseconds since 1970. */
void server_rooms_add(struct server_rooms *rooms, const struct server_room_key *room,
		      int64_t asked);
/* The room has ended, or seems to have. NULL is allowed. */
void server_rooms_remove(struct server_rooms *rooms, const struct server_room_key *room);

/* The media server may have restarted: all of its rooms have ended. NULL is allowed. */
void server_rooms_remove_all(struct server_rooms *rooms, const struct id *account,
			     const struct id *backend);

/* Finds out whether the room was made in the last `lasts` milliseconds and has not ended since. */
bool server_room_is_made(struct call *call, const struct server_room_key *room, int64_t lasts,
			 bool *is_there, struct fault *fault);

#endif
