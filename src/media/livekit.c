/* LiveKit: the tokens of people; its server API, which is RPC by POST with JSON (Twirp), each call
 * with a token of its own that has only the grant that it needs; and its webhooks. See
 * media/type.h.
 *
 * Both carry the messages of one protocol (livekit_models.proto); the tables here have its numbers.
 * A room also has a secret, turn_password: members are picked by name, so it goes nowhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/type.h"

#include <assert.h>

#include "base/digest.h"
#include "base/jwt.h"
#include "base/text.h"
#include "media/access_parts.h"

/* Seconds for which a token of a request is valid. */
#define TOKEN_SECONDS 60
/* Maximum sizes of an answer, in bytes: of a list, and of one that is about few. */
#define LIST_MOST ((size_t)16 << 20)
#define ANSWER_MOST ((size_t)1 << 20)
/* Maximum size of a token of a webhook, in bytes. */
#define EVENT_TOKEN_MOST 4096
/* Most bytes of an identity, and of a name. */
#define IDENTITY_MOST 256
#define NAME_MOST 256
/* Metadata that stands for none. */
#define NO_DATA SLICE(" ")
/* Seconds by which LiveKit's clock may differ when it signs a webhook. */
#define LEEWAY 60

static struct slice livekit_text(const struct server *server, const char *name)
{
	return text_of_json(json_object_get(server->config, name));
}

/* ---- the token of a person ---- */

const char *const name_origin_attributes[NAME_ORIGINS] = {
	[NAME_CHOSEN] = "",
	[NAME_GIVEN] = "given",
	[NAME_COUNTED] = "counted",
};

bool livekit_gives_room_admin(const struct access_server *server, const struct access_guest *guest)
{
	return guest->moderates && json_is_true(json_object_get(server->config, "room_admin"));
}

static void put_grants(const struct access *access, struct json_writer *claims)
{
	const struct access_guest *guest = access->guest;

	writer_open(claims, "video", '{');
	writer_text(claims, "room", guest->room_id);
	writer_flag(claims, "roomJoin", true);
	writer_flag(claims, "canPublish", access_publishes(guest));
	/* An empty list would mean all sources. */
	if (access_publishes(guest)) {
		writer_open(claims, "canPublishSources", '[');
		if (guest->audio)
			writer_text(claims, NULL, SLICE("microphone"));
		if (guest->video)
			writer_text(claims, NULL, SLICE("camera"));
		if (guest->screen)
			writer_text(claims, NULL, SLICE("screen_share"));
		if (guest->screen_audio)
			writer_text(claims, NULL, SLICE("screen_share_audio"));
		writer_close(claims, ']');
	}
	writer_flag(claims, "canSubscribe", guest->subscribes);
	writer_flag(claims, "canPublishData", guest->data);
	if (livekit_gives_room_admin(access->server, access->guest))
		writer_flag(claims, "roomAdmin", true);
	writer_close(claims, '}');
}

static void put_if_set(struct json_writer *claims, const json_t *agent, const char *name)
{
	const struct slice text = text_of_json(json_object_get(agent, name));

	if (text.size > 0)
		writer_text(claims, name, text);
}

/* What LiveKit heeds of a token that makes the room. */
static void put_room(const struct access_guest *guest, struct json_writer *claims)
{
	const size_t agents = json_array_size(guest->agents);

	if (guest->size == 0 && agents == 0)
		return;
	writer_open(claims, "roomConfig", '{');
	if (guest->size > 0)
		writer_integer(claims, "maxParticipants", guest->size);
	if (agents > 0)
		writer_open(claims, "agents", '[');
	for (size_t i = 0; i < agents; i++) {
		const json_t *agent = json_array_get(guest->agents, i);

		writer_open(claims, NULL, '{');
		put_if_set(claims, agent, "agentName");
		put_if_set(claims, agent, "metadata");
		put_if_set(claims, agent, "deployment");
		writer_close(claims, '}');
	}
	if (agents > 0)
		writer_close(claims, ']');
	writer_close(claims, '}');
}

static void put_attributes(const struct access_guest *guest, struct json_writer *claims)
{
	json_t *attributes = (json_t *)(uintptr_t)guest->attributes;
	const char *name;
	size_t size;
	json_t *value;

	writer_open(claims, "attributes", '{');
	writer_text(claims, "role", guest->role);
	writer_text(claims, "user_id", guest->user_id);
	writer_text(claims, "entry", guest->entry);
	if (guest->code.size > 0)
		writer_text(claims, "code", guest->code);
	if (guest->consent.size > 0)
		writer_text(claims, CONSENT_ATTRIBUTE, guest->consent);
	if (guest->consent.size > 0 && guest->consent_text.size > 0)
		writer_text(claims, CONSENT_TEXT_ATTRIBUTE, guest->consent_text);
	if (guest->name_origin != NAME_CHOSEN)
		writer_text(claims, NAME_ORIGIN_ATTRIBUTE,
			    slice_of(name_origin_attributes[guest->name_origin]));
	json_object_keylen_foreach(attributes, name, size, value)
	{
		writer_name(claims, (struct slice){ name, size });
		writer_text(claims, NULL, text_of_json(value));
	}
	writer_close(claims, '}');
}

static struct slice livekit_token(const struct access *access)
{
	const struct access_guest *guest = access->guest;
	struct json_writer claims = writer_begin(access->arena, true);
	struct slice identity = access->person;
	unsigned char digest[DIGEST_SIZE];

	if (identity.size > IDENTITY_MOST) {
		digest_sha256(identity, digest);
		identity = access_hex(access->arena, digest, sizeof digest);
	}
	writer_text(&claims, "iss", access_config(access, "api_key"));
	writer_text(&claims, "sub", identity);
	writer_text(&claims, "name", text_cut(guest->name, NAME_MOST));
	if (guest->metadata.size > 0)
		writer_text(&claims, "metadata", guest->metadata);
	access_put_times(access, &claims);
	put_attributes(guest, &claims);
	put_grants(access, &claims);
	put_room(guest, &claims);
	return jwt_with_secret(access->arena, (struct slice){ NULL, 0 }, &claims,
			       access_config(access, "api_secret"));
}

bool livekit_write_access(struct access *access)
{
	writer_plain(access->answer, "token", livekit_token(access));
	return true;
}

struct slice access_livekit_token(struct arena *arena, const struct clock *clock,
				  const struct access_server *server,
				  const struct access_guest *guest)
{
	const struct access access = access_begin(arena, clock, server, guest, NULL);

	return livekit_token(&access);
}

/* canPublish and canPublishData that are missing mean true. */
static struct slice livekit_recorder_token(struct arena *arena, const struct access_server *server,
					   struct slice room_id, struct slice identity, int64_t now,
					   int64_t expires)
{
	struct json_writer claims = writer_begin(arena, true);

	writer_text(&claims, "iss", text_of_json(json_object_get(server->config, "api_key")));
	writer_text(&claims, "sub", identity);
	writer_integer(&claims, "nbf", now);
	writer_integer(&claims, "exp", expires);
	writer_open(&claims, "video", '{');
	writer_text(&claims, "room", room_id);
	writer_flag(&claims, "roomJoin", true);
	writer_flag(&claims, "canPublish", false);
	writer_flag(&claims, "canPublishData", false);
	writer_flag(&claims, "canSubscribe", true);
	writer_flag(&claims, "hidden", true);
	writer_flag(&claims, "recorder", true);
	writer_close(&claims, '}');
	return jwt_with_secret(arena, (struct slice){ NULL, 0 }, &claims,
			       text_of_json(json_object_get(server->config, "api_secret")));
}

void access_write_recorder(struct arena *arena, const struct access_server *server,
			   struct slice room_id, struct slice identity, int64_t now,
			   int64_t expires, struct json_writer *answer)
{
	char time[TEXT_TIME_SIZE];

	writer_text(answer, "backend", server->name);
	writer_plain(answer, "type", slice_of(backend_type_name(server->type)));
	writer_text(answer, "url", server->url);
	writer_text(answer, "room", room_id);
	writer_plain(answer, "token",
		     livekit_recorder_token(arena, server, room_id, identity, now, expires));
	text_time_seconds(expires * 1000, time);
	writer_plain(answer, "expires_at", slice_of(time));
}

/* ---- requests ---- */

/* Returns a token with one grant. room: the only room that it is for; empty for all. */
static struct slice token_with(struct arena *arena, const struct server *server, int64_t now,
			       const char *grant, struct slice room)
{
	struct json_writer claims = writer_begin(arena, true);

	writer_text(&claims, "iss", livekit_text(server, "api_key"));
	writer_integer(&claims, "exp", now + TOKEN_SECONDS);
	writer_open(&claims, "video", '{');
	writer_flag(&claims, grant, true);
	if (room.size > 0)
		writer_text(&claims, "room", room);
	writer_close(&claims, '}');
	return jwt_with_secret(arena, (struct slice){ NULL, 0 }, &claims,
			       livekit_text(server, "api_secret"));
}

static void append_base(struct buffer *url, const struct server *server)
{
	buffer_append(url, server->url);
	if (server->url.data[server->url.size - 1] != '/')
		buffer_append_byte(url, '/');
}

/* token: from token_with. */
static void build_call(struct arena *arena, const struct server *server, const char *method,
		       struct slice token, const json_t *body, size_t answer_most,
		       struct server_request *request)
{
	struct buffer url = BUFFER_INITIAL(arena), headers = BUFFER_INITIAL(arena);

	append_base(&url, server);
	buffer_append_text(&url, "twirp/livekit.RoomService/");
	buffer_append_text(&url, method);
	buffer_append_text(&headers, "Content-Type: application/json\nAuthorization: Bearer ");
	buffer_append(&headers, token);
	*request = (struct server_request){
		.url = buffer_slice(&url),
		.headers = buffer_slice(&headers),
		.body = json_as_text(arena, body),
		.answer_most = answer_most,
	};
}

/* Neither rooms nor people are listed in pages. */
static void list_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const json_t *names, struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomList",
					      (struct slice){ NULL, 0 });
	json_t *body = arena_json(arena, json_object());

	object_put(body, "names", json_deep_copy(names));
	build_call(arena, server, "ListRooms", token, body,
		   json_array_size(names) == 0 ? LIST_MOST : ANSWER_MOST, request);
}

/* Asks whether somebody could join a room that does not exist, which nobody does. */
static void probe_rooms(struct arena *arena, const struct server *server, int64_t now,
			struct server_request *request)
{
	struct json_writer claims = writer_begin(arena, true);
	struct buffer url = BUFFER_INITIAL(arena), headers = BUFFER_INITIAL(arena);

	writer_text(&claims, "iss", livekit_text(server, "api_key"));
	writer_text(&claims, "sub", SLICE("none"));
	writer_integer(&claims, "exp", now + TOKEN_SECONDS);
	writer_open(&claims, "video", '{');
	writer_flag(&claims, "roomJoin", true);
	writer_text(&claims, "room", SLICE("none"));
	writer_close(&claims, '}');
	append_base(&url, server);
	buffer_append_text(&url, "rtc/validate");
	buffer_append_text(&headers, "Authorization: Bearer ");
	buffer_append(&headers, jwt_with_secret(arena, (struct slice){ NULL, 0 }, &claims,
						livekit_text(server, "api_secret")));
	*request = (struct server_request){
		.url = buffer_slice(&url),
		.headers = buffer_slice(&headers),
		.body = SLICE(""),
		.answer_most = ANSWER_MOST,
	};
}

static const char *read_probe(int status, struct slice answer)
{
	return status == 404 && text_contains_ignoring_case(answer,
							    SLICE("requested room does not exist"))
		       ? "room.auto_create is false: set config.create_rooms"
		       : NULL;
}

static void list_people(struct arena *arena, const struct server *server, int64_t now,
			struct slice room, struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomAdmin", room);
	json_t *body = arena_json(arena, json_object());

	object_put(body, "room", json_of_text(room));
	build_call(arena, server, "ListParticipants", token, body, LIST_MOST, request);
}

/* Builds a call about one person. */
static void call_person(struct arena *arena, const struct server *server, int64_t now,
			const char *method, struct slice room, struct slice identity, json_t *body,
			struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomAdmin", room);

	object_put(body, "room", json_of_text(room));
	object_put(body, "identity", json_of_text(identity));
	build_call(arena, server, method, token, body, ANSWER_MOST, request);
}

static void ask_person(struct arena *arena, const struct server *server, int64_t now,
		       struct slice room, struct slice identity, struct server_request *request)
{
	call_person(arena, server, now, "GetParticipant", room, identity,
		    arena_json(arena, json_object()), request);
}

static void remove_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity, struct server_request *request)
{
	call_person(arena, server, now, "RemoveParticipant", room, identity,
		    arena_json(arena, json_object()), request);
}

static void put_source(json_t *sources, bool is_allowed, const char *name)
{
	if (is_allowed)
		array_put(sources, json_string(name));
}

/* LiveKit takes away what the permission leaves out, and removes an empty attribute. */
static void put_rights(json_t *body, const struct access_guest *guest)
{
	const bool publishes = guest->audio || guest->video || guest->screen;
	json_t *attributes = json_object(), *permission = json_object(), *sources = json_array();

	object_put(body, "attributes", attributes);
	object_put(attributes, "role", json_of_text(guest->role));
	object_put(attributes, "user_id", json_of_text(guest->user_id));
	object_put(attributes, "entry", json_of_text(guest->entry));
	object_put(attributes, "code", json_of_text(guest->code));
	if (guest->name.size > 0)
		object_put(attributes, NAME_ORIGIN_ATTRIBUTE,
			   json_string(name_origin_attributes[guest->name_origin]));
	object_put(body, "permission", permission);
	object_put(permission, "can_subscribe", json_boolean(guest->subscribes));
	object_put(permission, "can_publish", json_boolean(publishes));
	object_put(permission, "can_publish_data", json_boolean(guest->data));
	object_put(permission, "can_publish_sources", sources);
	put_source(sources, guest->audio, "MICROPHONE");
	put_source(sources, guest->video, "CAMERA");
	put_source(sources, guest->screen, "SCREEN_SHARE");
	put_source(sources, guest->screen_audio, "SCREEN_SHARE_AUDIO");
}

/* LiveKit keeps the attributes that are not sent. */
static void put_attribute(json_t *body, const char *name, struct slice value)
{
	json_t *attributes = json_object_get(body, "attributes");

	if (attributes == NULL) {
		attributes = json_object();
		object_put(body, "attributes", attributes);
	}
	object_put(attributes, name, json_of_text(value));
}

/* An empty name or metadata would be left as it is, so no metadata is one blank. */
static void update_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity,
			  const struct access_guest *guest, struct slice metadata,
			  struct server_request *request)
{
	json_t *body = arena_json(arena, json_object());

	if (guest->role.data != NULL)
		put_rights(body, guest);
	if (guest->consent.data != NULL) {
		put_attribute(body, CONSENT_ATTRIBUTE, guest->consent);
		put_attribute(body, CONSENT_TEXT_ATTRIBUTE, guest->consent_text);
	}
	if (guest->hand.data != NULL)
		put_attribute(body, "hand", guest->hand);
	if (guest->name.size > 0)
		object_put(body, "name", json_of_text(text_cut(guest->name, NAME_MOST)));
	if (metadata.data != NULL)
		object_put(body, "metadata", json_of_text(metadata.size > 0 ? metadata : NO_DATA));
	call_person(arena, server, now, "UpdateParticipant", room, identity, body, request);
}

/* ---- members of a message ----
 *
 * Answers have the names of the protocol (joined_at_ms) and all members. Webhooks have camel case
 * (joinedAtMs) and leave out members that are zero or empty. Integers may be strings. A member of
 * another type counts as zero or empty. */

/* Returns a member by its name in the protocol. NULL if it is missing. */
static const json_t *member(const json_t *message, const char *name)
{
	const json_t *value = json_object_get(message, name);
	char camel[40];

	if (value != NULL)
		return value;
	text_camel_case(name, camel, sizeof camel);
	return json_object_get(message, camel);
}

static struct slice text_or_empty(const json_t *value)
{
	const struct slice text = text_of_json(value);

	return text.data != NULL ? text : SLICE("");
}

static struct slice text_in(const json_t *message, const char *name)
{
	return text_or_empty(member(message, name));
}

static int64_t integer_of(const json_t *value)
{
	int64_t integer = 0;

	if (json_is_integer(value))
		return json_integer_value(value);
	return text_integer(text_of_json(value), &integer) ? integer : 0;
}

/* Returns milliseconds. unit: of the member, as the number of units per second. */
static int64_t time_in(const json_t *message, const char *name, int64_t unit)
{
	const int64_t time = integer_of(member(message, name));

	if (time < 0 || time / unit > TEXT_TIME_LAST / 1000)
		return 0;
	return time / unit * 1000 + time % unit * 1000 / unit;
}

/* Returns the time of a member in milliseconds, which older releases lack, or else of one in
 * seconds. */
static int64_t exact_time_in(const json_t *message, const char *name, const char *name_of_seconds)
{
	const int64_t time = time_in(message, name, 1000);

	return time > 0 ? time : time_in(message, name_of_seconds, 1);
}

/* A value of an enum, at the index of its number. */
struct value {
	const char *name;
	int meaning;
};

/* Returns the meaning of a value, which has its name or its number. other: the meaning of a value
 * that is not in the table. */
static int meaning_in(const json_t *message, const char *name, const struct value *values,
		      size_t count, int other)
{
	const json_t *value = member(message, name);
	const struct slice text = text_of_json(value);
	const int64_t number = integer_of(value);

	if (text.size == 0)
		return (uint64_t)number < count && values[number].name != NULL
			       ? values[number].meaning
			       : other;
	for (size_t i = 0; i < count; i++) {
		if (values[i].name != NULL && slice_is(text, values[i].name))
			return values[i].meaning;
	}
	return other;
}
#define MEANING_IN(message, name, values, other) \
	meaning_in(message, name, values, sizeof(values) / sizeof *(values), other)

/* ---- rooms and people ---- */

enum { JOINING, JOINED, ACTIVE, DISCONNECTED, OTHER_STATE };
static const struct value states[] = {
	[0] = { "JOINING", JOINING },
	[1] = { "JOINED", JOINED },
	[2] = { "ACTIVE", ACTIVE }, /* its media is connected */
	[3] = { "DISCONNECTED", DISCONNECTED },
};

enum { NOBODY, PERSON, CALLER };
static const struct value kinds[] = {
	[0] = { "STANDARD", PERSON }, [1] = { "INGRESS", PERSON }, [2] = { "EGRESS", NOBODY },
	[3] = { "SIP", CALLER },      [4] = { "AGENT", NOBODY },   [7] = { "CONNECTOR", PERSON },
	[8] = { "BRIDGE", PERSON },
};

enum { AUDIO, VIDEO, OTHER_TRACK };
static const struct value track_types[] = {
	[0] = { "AUDIO", AUDIO },
	[1] = { "VIDEO", VIDEO },
	[2] = { "DATA", OTHER_TRACK },
};

/* True for what shows a screen. */
static const struct value track_sources[] = {
	[0] = { "UNKNOWN", false },	      [1] = { "CAMERA", false },
	[2] = { "MICROPHONE", false },	      [3] = { "SCREEN_SHARE", true },
	[4] = { "SCREEN_SHARE_AUDIO", true },
};

static bool read_livekit_room(const json_t *message, struct server_room *room)
{
	*room = (struct server_room){
		.name = text_in(message, "name"),
		.id = text_in(message, "sid"),
		.created = exact_time_in(message, "creation_time_ms", "creation_time"),
	};
	return room->id.size > 0;
}

/* An empty list stands for all sources. */
static bool has_source(const json_t *sources, const char *name)
{
	const json_t *source;
	size_t i;

	json_array_foreach(sources, i, source) {
		if (slice_is(text_of_json(source), name))
			return true;
	}
	return json_array_size(sources) == 0;
}

static unsigned rights_in(const json_t *permission)
{
	const json_t *sources = member(permission, "can_publish_sources");
	const struct access_guest guest = {
		.subscribes = json_is_true(member(permission, "can_subscribe")),
		.audio = has_source(sources, "MICROPHONE"),
		.video = has_source(sources, "CAMERA"),
		.screen = has_source(sources, "SCREEN_SHARE"),
		.screen_audio = has_source(sources, "SCREEN_SHARE_AUDIO"),
		.data = json_is_true(member(permission, "can_publish_data")),
	};
	const unsigned unless_published = RIGHT_AUDIO | RIGHT_VIDEO | RIGHT_SCREEN |
					  RIGHT_SCREEN_AUDIO;

	if (!json_is_object(permission))
		return 0;
	return server_rights_of(&guest) &
	       ~(json_is_true(member(permission, "can_publish")) ? 0U : unless_published);
}

/* Returns the time of an attribute in milliseconds: 0 if it has none, -1 if what it has is not as
 * this service writes it. */
static int64_t consent_in(struct slice text)
{
	int64_t seconds;

	if (text.size == 0)
		return 0;
	return text_integer(text, &seconds) && seconds > 0 && seconds <= TEXT_TIME_LAST / 1000
		       ? seconds * 1000
		       : -1;
}

/* Returns false if the message is not about a participant. */
static bool read_participant(const json_t *message, struct server_person *person)
{
	const json_t *attributes = member(message, "attributes");
	const struct slice text = text_or_empty(json_object_get(attributes, NAME_ORIGIN_ATTRIBUTE));
	int origin = NAME_COUNTED;

	while (origin > NAME_CHOSEN && !slice_is(text, name_origin_attributes[origin]))
		origin--;

	*person = (struct server_person){
		.stay = text_in(message, "sid"),
		.identity = text_in(message, "identity"),
		/* Names of attributes have one spelling. */
		.user_id = text_or_empty(json_object_get(attributes, "user_id")),
		.role = text_or_empty(json_object_get(attributes, "role")),
		.entry = text_or_empty(json_object_get(attributes, "entry")),
		.code = text_or_empty(json_object_get(attributes, "code")),
		.consented =
			consent_in(text_or_empty(json_object_get(attributes, CONSENT_ATTRIBUTE))),
		.consent_text = text_or_empty(json_object_get(attributes, CONSENT_TEXT_ATTRIBUTE)),
		.hand = text_or_empty(json_object_get(attributes, "hand")),
		.name = text_in(message, "name"),
		.metadata = text_in(message, "metadata"),
		.name_origin = (enum name_origin)origin,
		.rights = rights_in(member(message, "permission")),
		.joined = exact_time_in(message, "joined_at_ms", "joined_at"),
		.is_by_phone = MEANING_IN(message, "kind", kinds, NOBODY) == CALLER,
	};
	if (person->user_id.size == 0)
		person->user_id = person->identity;
	if (slice_equal(person->metadata, NO_DATA))
		person->metadata = SLICE("");
	return person->stay.size > 0;
}

static bool is_hidden(const json_t *message)
{
	return json_is_true(member(member(message, "permission"), "hidden"));
}

static bool is_visible_person(const json_t *message)
{
	return MEANING_IN(message, "kind", kinds, NOBODY) != NOBODY && !is_hidden(message);
}

static bool is_in_state(const json_t *message, int state)
{
	return MEANING_IN(message, "state", states, OTHER_STATE) == state;
}

/* Returns false for a track that is not shown. */
static bool read_track(const json_t *message, struct server_track *track)
{
	const int type = MEANING_IN(message, "type", track_types, OTHER_TRACK);

	*track = (struct server_track){
		.id = text_in(message, "sid"),
		.is_video = type == VIDEO,
		.is_screen = MEANING_IN(message, "source", track_sources, false),
		.is_muted = json_is_true(member(message, "muted")),
		.started = time_in(member(message, "version"), "unix_micro", 1000000),
	};
	return type != OTHER_TRACK && track->id.size > 0;
}

/* ---- answers ---- */

static bool read_rooms(struct arena *arena, const json_t *answer, struct server_room **rooms,
		       size_t *count)
{
	const json_t *list = member(answer, "rooms");
	const size_t size = json_array_size(list);
	struct server_room *read = arena_alloc(arena, size * sizeof *read);

	if (!json_is_array(list))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!read_livekit_room(json_array_get(list, i), &read[i]))
			return false;
	}
	*rooms = read;
	*count = size;
	return true;
}

static bool read_livekit_people(struct arena *arena, const json_t *answer,
				struct server_person **people, size_t *count,
				struct server_published **tracks, size_t *track_count,
				struct server_hidden *hidden)
{
	const json_t *list = member(answer, "participants");
	const size_t size = json_array_size(list);
	struct server_person *read = arena_alloc(arena, size * sizeof *read);
	size_t n = 0, published = 0, unseen = 0;

	if (!json_is_array(list))
		return false;
	for (size_t i = 0; i < size; i++) {
		const json_t *message = json_array_get(list, i);

		if (!read_participant(message, &read[n]))
			return false;
		n += is_visible_person(message) && is_in_state(message, ACTIVE);
		published += json_array_size(member(message, "tracks"));
		unseen += hidden != NULL && is_hidden(message);
	}
	*people = read;
	*count = n;
	if (hidden != NULL)
		*hidden = (struct server_hidden){
			.identities = arena_alloc(arena, (unseen + 1) * sizeof(struct slice)),
		};
	for (size_t i = 0; unseen > 0 && i < size; i++) {
		if (is_hidden(json_array_get(list, i)))
			hidden->identities[hidden->count++] = text_in(json_array_get(list, i),
								      "identity");
	}
	if (tracks == NULL)
		return true;
	*tracks = arena_alloc(arena, published * sizeof **tracks);
	*track_count = 0;
	for (size_t i = 0; i < size; i++) {
		const json_t *message = json_array_get(list, i), *own = member(message, "tracks");

		for (size_t j = 0; j < json_array_size(own); j++) {
			struct server_published *track = &(*tracks)[*track_count];

			track->stay = text_in(message, "sid");
			*track_count += read_track(json_array_get(own, j), &track->track);
		}
	}
	return true;
}

static bool read_person(struct arena *arena, const json_t *answer, struct server_person *person,
			struct server_track **tracks, size_t *count)
{
	const json_t *list = member(answer, "tracks");
	const size_t size = json_array_size(list);
	struct server_person read;
	size_t n = 0;

	if (!read_participant(answer, &read))
		return false;
	if (!is_visible_person(answer) || !is_in_state(answer, ACTIVE))
		read = (struct server_person){ .stay.data = NULL };
	*tracks = arena_alloc(arena, size * sizeof **tracks);
	for (size_t i = 0; i < size && read.stay.data != NULL; i++)
		n += read_track(json_array_get(list, i), &(*tracks)[n]);
	*person = read;
	*count = n;
	return true;
}

static void mute(struct arena *arena, const struct server *server, int64_t now, struct slice room,
		 struct slice identity, struct slice track, bool mutes,
		 struct server_request *request)
{
	json_t *body = arena_json(arena, json_object());

	object_put(body, "track_sid", json_of_text(track));
	object_put(body, "muted", json_boolean(mutes));
	call_person(arena, server, now, "MutePublishedTrack", room, identity, body, request);
}

static void send_message(struct arena *arena, const struct server *server, int64_t now,
			 struct slice room, const json_t *identities, struct slice topic,
			 struct slice message, struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomAdmin", room);
	json_t *body = arena_json(arena, json_object());

	object_put(body, "room", json_of_text(room));
	object_put(body, "data", json_of_text(text_base64(arena, message)));
	object_put(body, "kind", json_string("RELIABLE"));
	object_put(body, "topic", json_of_text(topic));
	/* Without this, everybody gets it. */
	assert(identities == NULL || json_array_size(identities) > 0);
	if (identities != NULL)
		object_put(body, "destination_identities", json_deep_copy(identities));
	build_call(arena, server, "SendData", token, body, ANSWER_MOST, request);
}

static void end_room(struct arena *arena, const struct server *server, int64_t now,
		     struct slice room, struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomCreate",
					      (struct slice){ NULL, 0 });
	json_t *body = arena_json(arena, json_object());

	object_put(body, "room", json_of_text(room));
	build_call(arena, server, "DeleteRoom", token, body, ANSWER_MOST, request);
}

/* Copies a member of an agent, which has another name in the protocol. */
static void put_agent_text(json_t *message, const char *name, const json_t *agent,
			   const char *name_of_ours)
{
	const struct slice text = text_of_json(json_object_get(agent, name_of_ours));

	if (text.size > 0)
		object_put(message, name, json_of_text(text));
}

/* LiveKit's defaults say how long an empty room lasts. */
static void make_livekit_room(struct arena *arena, const struct server *server, int64_t now,
			      struct slice room, int64_t size, const json_t *agents,
			      struct server_request *request)
{
	const struct slice token = token_with(arena, server, now, "roomCreate",
					      (struct slice){ NULL, 0 });
	json_t *body = arena_json(arena, json_object());

	object_put(body, "name", json_of_text(room));
	if (size > 0)
		object_put(body, "max_participants", json_integer(size));
	if (json_array_size(agents) > 0)
		object_put(body, "agents", json_array());
	for (size_t i = 0; i < json_array_size(agents); i++) {
		const json_t *agent = json_array_get(agents, i);
		json_t *message = json_object();

		array_put(json_object_get(body, "agents"), message);
		put_agent_text(message, "agent_name", agent, "agentName");
		put_agent_text(message, "metadata", agent, "metadata");
		put_agent_text(message, "deployment", agent, "deployment");
	}
	build_call(arena, server, "CreateRoom", token, body, ANSWER_MOST, request);
}

/* LiveKit says "unavailable" of a person whom none of its nodes serves, after some seconds; a
 * server that is down says nothing in JSON. */
static bool lacks_person(int status, const json_t *answer)
{
	const struct slice code = text_in(answer, "code");

	return (status == 404 && slice_is(code, "not_found")) ||
	       (status == 503 && slice_is(code, "unavailable"));
}

static const char *forbids(int status, const json_t *answer)
{
	return status == 412 && slice_is(text_in(answer, "code"), "failed_precondition")
		       ? "unmute: room.enable_remote_unmute is off"
		       : NULL;
}

/* ---- events: webhooks ---- */

static struct slice claim(const json_t *claims, const char *name)
{
	return text_of_json(json_object_get(claims, name));
}

static bool event_is_in_time(const json_t *claims, int64_t now)
{
	const json_t *exp = json_object_get(claims, "exp"), *nbf = json_object_get(claims, "nbf");

	if (!json_is_number(exp) || (nbf != NULL && !json_is_number(nbf)))
		return false;
	return (double)(now - LEEWAY) < json_number_value(exp) &&
	       (double)(now + LEEWAY) >= json_number_value(nbf);
}

static bool signed_event(struct arena *arena, const struct server *server, int64_t now,
			 struct slice authorization, struct slice body)
{
	const struct slice key = livekit_text(server, "api_key");
	const struct slice secret = livekit_text(server, "api_secret");
	const struct slice scheme = SLICE("Bearer ");
	struct slice token = authorization;
	unsigned char digest[DIGEST_SIZE];
	const json_t *claims;
	struct slice mac;
	struct jwt jwt;

	/* The token has no "Bearer" before it, but a proxy may expect one. */
	if (text_begins_ignoring_case(token, scheme))
		token = (struct slice){ token.data + scheme.size, token.size - scheme.size };
	/* Anyone could sign with a secret that is missing. */
	if (key.size == 0 || secret.size == 0)
		return false;
	if (token.size > EVENT_TOKEN_MOST || !jwt_split(token, &jwt) ||
	    !slice_is(claim(jwt_object(arena, jwt.header), "alg"), "HS256"))
		return false;
	claims = jwt_object(arena, jwt.payload);
	if (!slice_equal(claim(claims, "iss"), key) || !jwt_mac(arena, &jwt, &mac) ||
	    !jwt_mac_is_of(&jwt, mac, secret) || !event_is_in_time(claims, now))
		return false;
	digest_sha256(body, digest);
	return slice_equal(
		claim(claims, "sha256"),
		text_base64(arena, (struct slice){ (const char *)digest, sizeof digest }));
}

/* By enum server_event_type; other events are not needed. */
static const char *const event_names[] = {
	[SERVER_JOINED] = "participant_joined",
	[SERVER_LEFT] = "participant_left",
	[SERVER_NOT_CONNECTED] = "participant_connection_aborted",
	[SERVER_ROOM_ENDED] = "room_finished",
};
#define EVENT_TYPES (sizeof event_names / sizeof *event_names)

static const struct value disconnect_reasons[] = {
	[0] = { "UNKNOWN_REASON", LEAVE_SERVER },
	[1] = { "CLIENT_INITIATED", LEAVE_LEFT },
	[2] = { "DUPLICATE_IDENTITY", LEAVE_OTHER_DEVICE },
	[3] = { "SERVER_SHUTDOWN", LEAVE_SERVER },
	[4] = { "PARTICIPANT_REMOVED", LEAVE_REMOVED },
	[5] = { "ROOM_DELETED", LEAVE_ENDED },
	[6] = { "STATE_MISMATCH", LEAVE_SIGNAL },
	[7] = { "JOIN_FAILURE", LEAVE_SERVER },
	[8] = { "MIGRATION", LEAVE_LEFT },
	[9] = { "SIGNAL_CLOSE", LEAVE_SIGNAL },
	[10] = { "ROOM_CLOSED", LEAVE_ENDED },
	[11] = { "USER_UNAVAILABLE", LEAVE_SIP },
	[12] = { "USER_REJECTED", LEAVE_SIP },
	[13] = { "SIP_TRUNK_FAILURE", LEAVE_SIP },
	[14] = { "CONNECTION_TIMEOUT", LEAVE_SIGNAL },
	[15] = { "MEDIA_FAILURE", LEAVE_MEDIA },
	[16] = { "AGENT_ERROR", LEAVE_SERVER },
};

static bool read_event(const json_t *body, struct server_event *event)
{
	const struct slice name = text_in(body, "event");
	const json_t *participant = member(body, "participant");
	size_t type = 0;

	while (type < EVENT_TYPES && !slice_is(name, event_names[type]))
		type++;
	if (type == EVENT_TYPES)
		return false;
	*event = (struct server_event){
		.type = (enum server_event_type)type,
		.time = time_in(body, "created_at", 1),
	};
	if (!read_livekit_room(member(body, "room"), &event->room))
		return false;
	if (event->type == SERVER_ROOM_ENDED)
		return true;
	if (event->type == SERVER_JOINED && !is_in_state(participant, ACTIVE))
		return false;
	if (event->type == SERVER_LEFT) {
		if (!is_in_state(participant, DISCONNECTED))
			return false;
		event->cause = (enum leave_cause)MEANING_IN(participant, "disconnect_reason",
							    disconnect_reasons, LEAVE_SERVER);
	}
	return is_visible_person(participant) && read_participant(participant, &event->person);
}

const struct server_functions livekit_functions = {
	.product = "LiveKit",
	.list_rooms = list_rooms,
	.list_people = list_people,
	.ask_person = ask_person,
	.remove_person = remove_person,
	.mute = mute,
	.update_person = update_person,
	.send_message = send_message,
	.end_room = end_room,
	.make_room = make_livekit_room,
	.probe_rooms = probe_rooms,
	.read_probe = read_probe,
	.read_rooms = read_rooms,
	.read_people = read_livekit_people,
	.read_person = read_person,
	.lacks_person = lacks_person,
	.forbids = forbids,
	.signed_event = signed_event,
	.read_event = read_event,
};
