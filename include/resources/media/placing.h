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
 *  - Everything that asks a media server about a room in session, and the orders of recorders, go to
 *    the backend of the session or of the place.
 *
 * A process adds its own placements to the load that the watch stored last, so that a crowd of new
 * rooms spreads at once (struct placements, in the environment; any thread).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_PLACING_H
#define RESOURCES_MEDIA_PLACING_H

#include "resources/media/backend_health.h"
#include "resources/stored/place_record.h"
#include "resources/stored/room_record.h"
#include "resources/stored/template_record.h"

/* People for whom a room counts that was placed lately, in which nobody is yet; and how long, in
 * milliseconds. */
#define PLACED_PEOPLE 4
#define PLACED_LATELY 30000
/* Seconds for which a place holds after the end of the last token; between two renewals. */
#define PLACE_LASTS_AFTER 60
#define PLACE_RENEWED_AFTER 60
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

/* Placements of this process. */
struct placements;
struct placements *placements_open(void);
void placements_close(struct placements *placements);

/* Chooses the backend of a pool for a room: of those that neither drain nor are down the one of the
 * room's region (none there: of any) with the least people for its weight; else one that drains; else
 * one that is down. `not_at`: backends that are not considered. Returns NULL in *chosen if all are
 * among these. */
struct place_request {
	const struct media *media;
	struct slice pool;
	struct slice region; /* of the room, or of the template if that is `auto` */
	const struct id *not_at; /* so many */
	size_t not_count;
	bool must_be_up; /* neither draining nor down, or else none */
	bool may_drain; /* with must_be_up: one that drains will do */
};
bool placing_choose(struct call *call, const struct place_request *request,
		    const struct backend **chosen, struct fault *fault);

/* Moves a room whose place was read to be changed: stores the new place, notes room.moved, counts the
 * move, and has the watch tell the people and end the room at the former server. */
bool placing_move(struct call *call, const struct media *media, const struct room_record *room,
		  struct place *place, const struct backend *to, enum move_reason reason,
		  struct fault *fault);

#endif
