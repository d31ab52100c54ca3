/* Where the rooms of a pool are, as it is stored. A pool is several media servers of one type that
 * know nothing of each other; each room is at one of them.
 *
 * A room is placed when somebody comes who finds it nowhere (resources/media/placing.h). Its place
 * holds until the tokens that were given out have ended. A room in session is where its session is,
 * whatever its place says, except that a room that was moved is at its new place before the session
 * is (live_merge.h): until then `former` is where the session still is.
 *
 * The place of a room is one record, with the id of the room; whoever moves the room locks it, so
 * that everybody who asks at once gets the same place. It is removed some time after its end. It is
 * not in a dump: a room that is loaded is where its session is, or nowhere.
 *
 * The load of a backend is counted by the watch (background/live_places.h), and read only when a
 * room is placed, or when the backend is shown.
 *
 * Times are in milliseconds since 1970, of this service's clock unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_PLACE_RECORD_H
#define RESOURCES_STORED_PLACE_RECORD_H

#include "base/digest.h"
#include "records/record.h"
#include "resources/call.h"

/* Somebody inside who says that the media server cannot be reached. */
#define WITNESS_SIZE 8
struct witness {
	unsigned char entry[WITNESS_SIZE]; /* the first bytes of its digest */
	int64_t said;
};
/* So many are enough in a room of any size. */
#define WITNESSES_MOST 1000

extern const char *const move_reason_names[MOVE_REASONS];

struct place {
	struct store_record stored; /* the room's id; value.data NULL if it has no record */
	struct id backend; /* the parent */
	int64_t since; /* when the room came there */
	int64_t until; /* SECONDS since 1970: the end of the last token, and a minute */
	/* Of a room that was moved: where it was before, why, and when it was last moved because
	 * that was down; zeros for a room that never was. */
	struct id former;
	enum move_reason reason;
	int64_t moved_down;
	/* When the people at `former` were told to come here; 0: not yet, or nobody could be. They
	 * have a while (background/live_places.h), then the room is ended there. */
	int64_t told;
	struct witness *witnesses; /* that say so of the present place; with room for one more */
	size_t witness_count;
};

/* What a media server of a pool has. */
struct backend_load {
	struct store_record stored; /* the backend's id */
	uint64_t people; /* inside, in all rooms */
	uint64_t rooms; /* that are placed there */
	uint64_t expected; /* people for whom rooms were placed lately, in which nobody is yet */
	int64_t counted; /* when */
};

extern const struct record_table place_table, backend_load_table;

/* Reads the record of a room's place. */
bool place_load(struct call *call, const struct id *room, enum store_reading reading,
		struct place *place, struct fault *fault);
/* Returns true if the place, as it was read, exists and has not ended. */
bool place_holds(const struct call *call, const struct place *place);

#endif
