/* Handlers of live rooms (anteroom-api(7), LIVE ROOMS).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_ROOMS_H
#define RESOURCES_LIVE_LIVE_ROOMS_H

#include "base/json_writer.h"
#include "resources/stored/media_record.h"
#include "resources/reads.h"
#include "resources/stored/template_record.h"

/* Takes an event from a media server. The media server signs it; there is no token. */
handler live_receive;

handler active_rooms_get;
/* What the caller, who is inside, is and may do. */
handler active_rooms_me;
handler active_peers_list;
/* Asks the media server what the peer publishes. */
handler active_peers_get;
handler active_peers_settle_get;

/* Acts at the media server, which is asked for the person first. */
handler active_peers_mute;
handler active_peers_settle_mute;

/* Mutes all, or those with a role, but the caller; may hold what they publish, or free it. */
handler active_rooms_mute;
handler active_rooms_settle_mute;

/* Changes name, role, metadata or hand. A name that somebody inside has typed is cleaned. */
body_check active_peers_check;
handler active_peers_update;
handler active_peers_settle_update;

/* Lowers the hands of others: asks for the people first, then some at a time. */
handler active_rooms_lower_hands;
handler active_rooms_settle_lower_hands;

/* Puts people out; what has their entry does not come back. */
handler active_rooms_remove;
handler active_rooms_settle_remove;
handler active_rooms_end;
handler active_rooms_settle_end;

handler active_rooms_send_message;
handler active_rooms_settle_message;

/* Whether a room is recorded and streamed, as people are told before they join: the members of
 * these names, which stand last; empty for none. */
struct live_recorded {
	struct slice recording, streaming;
};

/* Completes the response that describes a code: `body`, to which it adds `room_state` and `inside`,
 * with an ETag, if the template and the role show who is inside before people join, and the room's
 * media server (NULL if there is none) reports it. Reads nothing if not, else the record of the
 * room and at most 200 people. role: the document of the code's role. */
bool live_answer_opened(struct call *call, const struct id *room,
			const struct template_record *template, const json_t *role,
			const struct backend *backend, const struct live_recorded *recorded,
			struct json_writer *body, struct fault *fault);

#endif
