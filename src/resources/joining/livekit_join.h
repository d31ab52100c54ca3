/* What a client asks for at LiveKit's token endpoint (anteroom-api(7)), in addition to what the
 * exchange of a code knows already, and the response.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_JOINING_LIVEKIT_JOIN_H
#define RESOURCES_JOINING_LIVEKIT_JOIN_H

#include "resources/media/media_join.h"

struct livekit_request {
	struct slice room; /* its id or name; empty for that of the code */
	struct slice metadata; /* may be empty */
	const json_t *attributes; /* texts by name; NULL for none */
	const json_t *agents; /* NULL for none */
};

struct livekit_request livekit_request_of(const struct call *call);
/* Returns false if another room is asked for. */
bool livekit_request_is_for(struct arena *arena, const struct livekit_request *request,
			    const struct room_record *room);
/* Returns false if an agent is asked for that the template does not name. */
bool livekit_request_has_agents(struct call *call, const struct livekit_request *request,
				const struct template_record *template);

bool livekit_answer(struct call *call, struct slice url, struct slice token,
		    const struct admission *admission);

#endif
