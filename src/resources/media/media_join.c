/* See resources/media/media_join.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/media_join.h"

#include "base/text.h"
#include "media/server.h"
#include "records/record.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"

/* ---- the role ---- */

static json_t *nested_member(const json_t *document, const char *first, const char *second)
{
	return json_object_get(json_object_get(document, first), second);
}

static bool has_text(const json_t *list, struct slice text)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (slice_equal(text_of_json(json_array_get(list, i)), text))
			return true;
	}
	return false;
}

bool media_permits(const json_t *role, const char *permission)
{
	return json_is_true(nested_member(role, "permissions", permission));
}

/* On a media server, one switch gives all rights of a moderator, so a role needs all of them. */
bool media_moderates(const json_t *role)
{
	const json_t *own = nested_member(role, "permissions", "moderator");

	if (own != NULL)
		return json_is_true(own);
	return media_permits(role, "endRoom") && media_permits(role, "removeOthers") &&
	       media_permits(role, "mute") && media_permits(role, "changeRole");
}

const char *media_lacks_to_start(const json_t *role, const char *permission)
{
	if (!media_permits(role, permission))
		return permission;
	return media_moderates(role) ? NULL : "moderator";
}

void media_read_role(const json_t *role, const struct template_record *template, unsigned held,
		     struct access_guest *guest)
{
	const bool holds_audio = (held & 1U << HELD_AUDIO) != 0;
	const bool holds_video = (held & 1U << HELD_VIDEO) != 0;
	const json_t *allowed = nested_member(role, "publishParams", "allowed");
	const json_t *subscribed = nested_member(role, "subscribeParams", "subscribeToRoles");

	guest->audio = has_text(allowed, SLICE("audio")) && !holds_audio;
	guest->video = has_text(allowed, SLICE("video")) && !holds_video;
	guest->screen = has_text(allowed, SLICE("screen"));
	guest->screen_audio = guest->screen && !holds_audio;
	guest->data = !json_is_false(nested_member(role, "permissions", "chat"));
	guest->subscribes = json_array_size(subscribed) > 0;
	guest->subscribes_to_all = true;
	for (size_t i = 0; guest->subscribes_to_all && i < template->role_count; i++)
		guest->subscribes_to_all = has_text(subscribed, template->roles[i].name);
	guest->moderates = media_moderates(role);
	guest->records = media_permits(role, "browserRecording");
	guest->streams = media_permits(role, "rtmpStreaming");
	guest->has_most_peers = media_most_peers(role) > 0;
}

/* ---- the room ---- */

const json_t *media_agent_named(const json_t *agents, const char *member, struct slice name)
{
	for (size_t i = 0; i < json_array_size(agents); i++) {
		const json_t *agent = json_array_get(agents, i);

		if (slice_equal(text_of_json(json_object_get(agent, member)), name))
			return agent;
	}
	return NULL;
}

static void take_asked(json_t *agent, const json_t *asked, const char *name)
{
	json_t *text = json_object_get(asked, name);

	if (json_string_length(text) > 0)
		json_object_set(agent, name, text);
}

const json_t *media_agents(struct call *call, const struct template_record *template,
			   const json_t *asked)
{
	json_t *agents;

	if (!template->has_agents)
		return NULL;
	agents = json_object_get(template_part_document(call, template, PART_SETTINGS), "agents");
	for (size_t i = 0; i < json_array_size(agents) && asked != NULL; i++) {
		json_t *agent = json_array_get(agents, i);
		const json_t *own = media_agent_named(
			asked, "agent_name", text_of_json(json_object_get(agent, "agentName")));

		take_asked(agent, own, "metadata");
		take_asked(agent, own, "deployment");
	}
	return agents;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- the access ---- */

int64_t media_most_peers(const json_t *role)
{
	return json_integer_value(json_object_get(role, "maxPeerCount"));
}

bool media_admits_nobody(const json_t *role)
{
	return media_most_peers(role) < 0;
}

int64_t media_room_size(const json_t *room_document)
{
	return json_integer_value(json_object_get(room_document, "size"));
}

bool media_holds_limits(const struct call *call, enum backend_type type)
{
	return call->environment->live == LIVE_ON && server_can(type, SERVER_LIST);
}

/* Sets what the access is made of, all in the arena. */
static bool find_parts(struct call *call, const struct media *media, const struct backend *backend,
		       const struct admission *admission, struct access_server *server,
		       struct access_guest *guest, struct fault *fault)
{
	const json_t *role = admission->role_document, *document = admission->room_document;
	const struct room_record *room = admission->room;
	const struct slice recording = room->follows_template ? admission->template->recording
							      : room->recording;
	const struct code *code = admission->code;
	const bool code_has_metadata = code != NULL && (code->terms.set & CODE_METADATA) != 0 &&
				       !slice_is(code->terms.metadata, "{}");
	const struct signing_key *key;

	*server = (struct access_server){
		.type = backend->type,
		.name = backend->name,
		.url = backend->url,
		.config = admission->config,
		.alg = backend->alg,
		.holds_limits = media_holds_limits(call, backend->type),
	};
	*guest = (struct access_guest){
		.customer_id = slice_of(call->account_text),
		.room_id = id_as_text(call->arena, &room->id),
		.room_name = room_shown_name(call, room),
		.role = admission->role,
		.user_id = admission->user_id,
		.name = admission->name,
		.name_origin = admission->name_origin,
		.metadata = code_has_metadata ? code->terms.metadata : admission->metadata,
		.attributes = admission->attributes,
		.agents = admission->agents,
		.is_known = admission->is_known,
		.now = admission->since,
		.expires = least(admission->since + backend->ttl, admission->expires),
		.jti = admission->jti,
		.entry = admission->entry,
		.consent = admission->consent,
		.consent_text = admission->consent_text,
		.code = SLICE(""),
	};
	if (code != NULL)
		guest->code = text_cut(admission->code_hash, MEDIA_CODE_SHOWN);

	if (server->alg != SIGNING_ALGS) {
		key = media_active_key(media, server->alg);
		if (key == NULL)
			return record_missing("signing key of a backend of the account",
					      &call->account, fault);
		server->kid = key->kid;
		server->private_key = key->private_key;
	}

	media_read_role(role, admission->template, admission->held, guest);
	if (!media_permits(role, "joinOutsideWindow"))
		guest->expires = least(guest->expires, room->closes_at);
	guest->size = media_room_size(document);
	guest->seconds_most = json_integer_value(json_object_get(document, "max_duration_seconds"));
	guest->is_recorded = recording.size > 0 &&
			     json_is_true(json_object_get(
				     stored_json(call, recording, "room", &room->id), "enabled"));
	return true;
}

bool media_join(struct call *call, const struct media *media, const struct backend *backend,
		const struct admission *admission, struct json_writer *answer, struct fault *fault)
{
	struct access_server server;
	struct access_guest guest;

	if (media_admits_nobody(admission->role_document))
		return true;
	if (!find_parts(call, media, backend, admission, &server, &guest, fault))
		return false;
	writer_open(answer, "join", '{');
	if (!access_write(call->arena, call->environment->clock, &server, &guest, answer))
		return record_damaged("signing key of a backend of the account", &call->account,
				      fault);
	writer_close(answer, '}');
	return true;
}

bool media_livekit_token(struct call *call, const struct media *media,
			 const struct backend *backend, const struct admission *admission,
			 struct slice *token, struct fault *fault)
{
	struct access_server server;
	struct access_guest guest;

	if (!find_parts(call, media, backend, admission, &server, &guest, fault))
		return false;
	*token = access_livekit_token(call->arena, call->environment->clock, &server, &guest);
	return true;
}
