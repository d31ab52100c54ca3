/* What is known of an account's media servers: for each that was asked, whether it answered. One
 * record of the account, apart from the backends (media_record.h), so that a survey of a server
 * does not hold up those who join. It is written only when something changes, and is not in a dump.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_MEDIA_BACKEND_HEALTH_H
#define RESOURCES_MEDIA_BACKEND_HEALTH_H

#include "resources/asking.h"
#include "resources/stored/media_record.h"

/* Seconds by which clocks may differ without being corrected: an answer has whole seconds only, and
 * is on its way for a while. */
#define CLOCK_TRUSTED 2

struct backend_health {
	struct id backend;
	bool is_up;
	/* When it came up or went down, milliseconds since 1970; 0 if it was never asked. */
	int64_t since;
	struct slice message; /* of its server_verdict */
	int64_t ahead; /* seconds by which its clock is ahead; 0 for up to CLOCK_TRUSTED */
	/* In all its life it has neither answered nor sent an event. False if it is not known
	 * whether it has. */
	bool never_answered;
	/* When it sent its last event, at most some seconds behind; milliseconds since 1970. 0 if
	 * it has sent none. */
	int64_t last_event;
	/* When somebody last asked whether it is there, for people who cannot reach it
	 * (resources/media/placing_down.h); when that was last found out, and what; 0: never. */
	int64_t questioned, found;
	bool was_there;
};

struct backend_healths {
	struct store_record stored;
	struct backend_health *backends; /* with room for one more */
	size_t count;
};
extern const struct record_table backend_healths_table;

bool backend_healths_load(struct call *call, enum store_reading reading,
			  struct backend_healths *healths, struct fault *fault);
/* Converts a time of the backend's clock to a time of this service, not later than `now`. Times are
 * in milliseconds since 1970. */
int64_t backend_time(const struct backend_health *health, int64_t time, int64_t now);
/* Returns NULL if it is not known whether the backend is up. */
const struct backend_health *backend_health_of(const struct backend_healths *healths,
					       const struct id *backend);
/* The same for a backend of which it is known only that it was questioned. */
const struct backend_health *backend_questioned(const struct backend_healths *healths,
						const struct id *backend);
/* Returns true if the backend has ever answered, or sent an event with a valid signature. */
bool backend_has_answered(const struct backend_healths *healths, const struct id *backend);
/* Stores what a request says of the backend, and notes the event backend.up or backend.down if it
 * came up or went down. The first time that it is up is no event. */
bool backend_health_note(struct call *call, const struct backend *backend,
			 const struct server_verdict *verdict, struct fault *fault);
/* Returns the time of the last event that the backend has sent; 0 if it has sent none. */
int64_t backend_last_event(const struct backend_healths *healths, const struct id *backend);
/* Stores that the backend, which exists, has sent an event at this time. Reads the record only, if
 * it says so already. */
bool backend_health_note_event(struct call *call, const struct id *backend, int64_t time,
			       struct fault *fault);
/* Stores in the healths, which were read to be changed, that the backend is being asked whether it
 * is there; or, unless `found` is PRESENCE_UNKNOWN, what was found. */
bool backend_health_note_question(struct call *call, struct backend_healths *healths,
				  const struct id *backend, enum presence found,
				  struct fault *fault);
/* Removes what is known of the backend, because it is deleted, or asked elsewhere or with other
 * keys. is_same: it is the same server, so whether it has ever answered is kept. */
bool backend_health_remove(struct call *call, const struct id *backend, bool is_same,
			   struct fault *fault);

#endif
