/* Raised hands. A hand is up if the metadata of the person is a JSON object with isHandRaised true,
 * as clients of 100ms have it. The media server also gets the time at which it went up, as the
 * attribute `hand`, so that whoever comes later knows the order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_HANDS_H
#define RESOURCES_LIVE_LIVE_HANDS_H

#include "media/server.h"
#include "resources/call.h"

/* Sets *metadata, in the arena, to that of the person with the hand up or down; the rest stays.
 * Sets FAULT_CONFLICT if it is not a JSON object, and FAULT_INVALID_BODY if it would be too
 * large. */
bool hand_set(struct call *call, const struct server_person *person, bool is_up,
	      struct slice *metadata, struct fault *fault);
/* Returns what the media server is to be told with this metadata (struct access_guest). */
struct slice hand_of(struct call *call, const struct server_person *person, struct slice metadata);

#endif
