/* Places the rooms of pools (resources/stored/place_record.h), and moves them.
 *
 * The way of a room, and who does what:
 *
 *  - An exchange finds the room's backend with entrant_find_media. Where the template, or else the
 *    account's default, means one backend, that is all, and nothing more is read. Where it means a
 *    pool, the place of the room is read: its backend is that of the place, or else of the open
 *    session, or else none yet.
 *  - After all refusals but those by numbers, placing_decide says where the room is to be: where it
 *    is; on a server chosen now, since it is nowhere; or on another one, since that of its place
 *    is down and its people say so. The rules by numbers then ask about that backend.
 *  - placing_keep stores it, at the end of the exchange that gives out the token, in the same
 *    transaction; an exchange that is refused places and moves nothing. All others who ask
 *    meanwhile wait for the record of the place, and find what it says.
 *  - The watch (background/live_places.h) goes through all places of a pool in use: it counts the
 *    load of each server, follows each room where its place is, moves the rooms of a server that is
 *    emptied, tells the people of a room that was moved, and ends the room where it was before.
 *  - What a media server reports of a room that is not placed there is not merged (live_merge.h);
 *    the watch ends the room there.
 *  - Everything that asks a media server about a room in session, and the orders of recorders, go
 *    to the backend of the session or of the place.
 *
 * A process adds its own placements to the load that the watch stored last, so that a crowd of new
 * rooms spreads at once (resources/media/placements.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_PLACING_H
#define RESOURCES_MEDIA_PLACING_H

#include "resources/media/backend_health.h"
#include "resources/media/placements.h"
#include "resources/stored/live_record.h"
#include "resources/stored/place_record.h"
#include "resources/stored/room_record.h"
#include "resources/stored/template_record.h"

/* People for whom a room counts that was placed lately (PLACED_LATELY), in which nobody is yet. */
#define PLACED_PEOPLE 4
/* Seconds for which a place holds after the end of the last token. It is renewed when that is over,
 * so not more often. */
#define PLACE_LASTS_AFTER 60
/* Milliseconds: without an event after which a server that does not answer is down; for which the
 * word of a witness counts; between two moves of a room because of a server that is down; after
 * which a room moves from a server that is down whatever its people say. */
#define DOWN_WITHOUT_EVENT 15000
#define WITNESS_LASTS 30000
#define MOVED_AT_MOST_EVERY 60000
#define DOWN_MOVES_AFTER 300000

/* What the rooms of a template use: a pool, or one backend, or nothing. */
struct media_target {
	struct slice pool; /* data NULL: no pool */
	const struct backend *backend; /* NULL if it is a pool, or nothing */
};
struct media_target media_target_of(const struct media *media,
				    const struct template_record *template);
/* Returns the first backend of the pool, which tells the type of all of them; NULL if there is no
 * such pool. */
const struct backend *pool_backend(const struct media *media, struct slice pool);
/* Returns true if the backend is in the pool. NULL is in none. */
bool backend_is_in(const struct backend *backend, struct slice pool);

/* ---- where a room is ---- */

/* A room whose template means a pool, as a call finds it. */
struct placing {
	const struct media *media;
	struct slice pool;
	struct id room;
	struct place place; /* its record, which may not hold, or not be there */
	bool is_locked; /* it was read to be changed */
	const struct backend *backend; /* where the room is, or is to be; NULL: nowhere yet */
	bool is_chosen; /* by placing_decide, so the room was nowhere */
	/* The room that leaves `former` for `backend`, since that is down
	 * (resources/media/placing_down.h); else NULL. */
	const struct room_record *leaving;
	const struct backend *former;
};

/* Finds where the room is: at its place, or else where its session is. Reads the place and, unless
 * that holds, the room in session. */
bool placing_find(struct call *call, const struct media *media, struct slice pool,
		  const struct id *room, struct placing *placing, struct fault *fault);
/* Finds the name of the backend where a room of a pool is, as it is shown: a slice without data if
 * it has no place, or if its template means no pool. Reads nothing of a room that was never
 * placed; else the place, the account's media servers, the template if that is NULL, and the room
 * in session unless the place holds. */
bool placing_shown(struct call *call, const struct room_record *room,
		   const struct template_record *template, struct slice *name, struct fault *fault);
/* Chooses a backend for a room that is nowhere. The call must then be writing: else it is run again
 * (call_write_instead). */
struct place_wish {
	const struct room_record *room;
	const struct template_record *template;
	/* The backend that was asked to make the room: the room is there, unless it has refused and
	 * there is another one. NULL: none was asked. */
	const struct backend *made_at;
	bool is_refused;
};
bool placing_decide(struct call *call, struct placing *placing, const struct place_wish *wish,
		    struct fault *fault);
/* Reads the place again to be changed, unless it was read so. Somebody else may have placed or
 * moved the room since. */
bool placing_lock(struct call *call, struct placing *placing, struct fault *fault);
/* Stores the place of a room for which a token is given out that ends at `ends` (seconds since
 * 1970): of a room that was nowhere, that leaves a server, or that is where its session is; else
 * only if it holds no longer than that token. The call is then run again, unless it is writing
 * (call_write_instead). */
bool placing_keep(struct call *call, struct placing *placing, int64_t ends, struct fault *fault);

/* ---- where all rooms are ---- */

/* Rooms of the account that are placed or in session, in the order of their ids, some at once. */
struct placed_room {
	const struct id *id;
	const struct place *place; /* NULL if it has no record */
	const struct live *live; /* NULL if it is not in session */
	const struct id *backend; /* where it is; NULL: its place has ended */
};
struct placed_rooms {
	struct id after; /* the room before the first one; zero: none. A result: the last one */
	struct placed_room *rooms; /* results, in the arena */
	size_t count;
	bool is_last;
};
bool placed_rooms_read(struct call *call, struct placed_rooms *page, struct fault *fault);

/* ---- where it is to be ---- */

/* Returns true if the load of such a media server is counted by the watch; else the exchanges of
 * the last hour are its load, and it is never down. */
bool backend_is_watched(const struct call *call, const struct backend *backend);

/* Chooses the backend of a pool for a room: of those that neither drain nor are down the one of the
 * room's region (none there: of any) with the least people for its weight; else one that drains;
 * else one that is down. `not_at`: backends that are not considered. Sets *chosen to NULL if all
 * are among these. */
struct place_request {
	const struct media *media;
	struct slice pool;
	struct id room;
	struct slice region; /* of the room, or of the template if that is `auto` */
	const struct id *not_at; /* so many */
	size_t not_count;
	bool must_be_up; /* neither draining nor down, or else none */
	bool may_drain; /* with must_be_up: one that drains will do */
};
bool placing_choose(struct call *call, const struct place_request *request,
		    const struct backend **chosen, struct fault *fault);
/* Returns the region of a room for that: its own, or else that of its template. */
struct slice placing_region(struct call *call, const struct room_record *room,
			    const struct template_record *template);

/* Moves a room whose place was read to be changed, and may not be there: stores the new place and
 * notes room.moved, by the service or, if `from` is emptied, by who has that done. The watch finds
 * the place, tells the people, and ends the room at the former server. from: where the room is
 * now. */
bool placing_move(struct call *call, const struct room_record *room, struct place *place,
		  const struct backend *from, const struct backend *to, enum move_reason reason,
		  struct fault *fault);

#endif
