/* See resources/joining/livekit_join.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/joining/livekit_join.h"

#include "base/json_writer.h"
#include "base/text.h"

struct livekit_request livekit_request_of(const struct call *call)
{
	return (struct livekit_request){
		.room = call_text(call, "room_name"),
		.metadata = call_text(call, "participant_metadata"),
		.attributes = call_member(call, "participant_attributes"),
		.agents = json_object_get(call_member(call, "room_config"), "agents"),
	};
}

bool livekit_request_is_for(struct arena *arena, const struct livekit_request *request,
			    const struct room_record *room)
{
	return request->room.size == 0 ||
	       slice_equal(request->room, id_as_text(arena, &room->id)) ||
	       text_equal_ignoring_case(request->room, room->name);
}

bool livekit_request_has_agents(struct call *call, const struct livekit_request *request,
				const struct template_record *template)
{
	const json_t *agents;

	if (json_array_size(request->agents) == 0)
		return true;
	agents = media_agents(call, template, NULL);
	for (size_t i = 0; i < json_array_size(request->agents); i++) {
		const json_t *asked = json_array_get(request->agents, i);

		if (media_agent_named(agents, "agentName",
				      text_of_json(json_object_get(asked, "agent_name"))) == NULL)
			return false;
	}
	return true;
}

bool livekit_answer(struct call *call, struct slice url, struct slice token,
		    const struct admission *admission)
{
	struct json_writer body = writer_begin(call->arena, false);

	writer_text(&body, "server_url", url);
	writer_plain(&body, "participant_token", token);
	writer_text(&body, "room_name", id_as_text(call->arena, &admission->room->id));
	writer_text(&body, "participant_name", admission->name);
	return call_answer_created(call, writer_end(&body));
}
