/* Whether one more person fits into a room: by the numbers of those inside, as the records have
 * them, which may be some seconds old. People who come in all the same are put out when the media
 * server reports them (live_enforcement.h); this check spares them that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENTRY_RULES_LIVE_LIMITS_H
#define RESOURCES_ENTRY_RULES_LIVE_LIMITS_H

#include "resources/stored/live_record.h"

/* Who asks to come in, and the limits; borrowed. */
struct live_applicant {
	struct id room, backend;
	struct slice role;
	int64_t role_most, size; /* 0 for no limit */
	/* Whose stay inside ends when this person comes in, after a reload or on a second device:
	 * known by the user_id, which the person did not choose, or by the entry. Empty if
	 * unknown. */
	struct slice user_id, entry;
};

enum live_fit { LIVE_FITS, LIVE_ROLE_IS_FULL, LIVE_ROOM_IS_FULL };

/* Finds out whether the person fits. Everybody does while the room is not in session at the
 * backend, or the backend reported nothing of it in the last LIVE_LIMITS_KNOWN. For somebody who
 * has a stay inside, neither the person's own stays count nor older ones of others, whose end was
 * not reported. Reads nothing if there is no limit, and the people inside only if a limit is
 * reached. */
#define LIVE_LIMITS_KNOWN 60000 /* milliseconds */
bool live_find_fit(struct call *call, const struct live_applicant *applicant, enum live_fit *fit,
		   struct fault *fault);

#endif
