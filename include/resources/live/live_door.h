/* Codes that ask at the door until the session closes, because somebody who came by one was put out
 * of the room or has lost a role.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_DOOR_H
#define RESOURCES_LIVE_LIVE_DOOR_H

#include "resources/stored/live_record.h"

/* Has codes of the room ask at the door until the session of `live` closes. hashes: what the media
 * server knows of the codes (struct peer), none of it empty; this sorts them. Sets *asks to true if
 * the room has one of the codes, and leaves it as it is otherwise. */
bool live_codes_ask(struct call *call, const struct live *live, const struct id *room,
		    struct slice *hashes, size_t n, bool *asks, struct fault *fault);

#endif
