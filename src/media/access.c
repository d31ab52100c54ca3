/* See media/access.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/access.h"

#include <string.h>

#include "base/digest.h"
#include "base/id.h"
#include "base/jwt.h"
#include "base/text.h"

/* LiveKit's limits, in bytes. */
#define IDENTITY_MOST 256
#define NAME_MOST 256
/* Maximum length of a meeting's name in BigBlueButton, in characters. */
#define MEETING_NAME_MOST 64
/* Characters of the entry that are added to a user_id that anyone may choose, so that it is
 * unique. */
#define MARK_SIZE 8

/* Access that is being written. */
struct making {
	struct arena *arena;
	const struct access_server *server;
	const struct access_guest *guest;
	struct slice jti;
	struct slice person;
	struct json_writer *answer;
};

/* ---- parts ---- */

/* Returns a member of the config. data is NULL if it is missing. */
static struct slice config_text(const struct making *making, const char *name)
{
	return text_of_json(json_object_get(making->server->config, name));
}

/* Returns true if moderators get LiveKit's own rights over the room. */
static bool gives_room_admin(const struct access_server *server, const struct access_guest *guest)
{
	return guest->moderates && json_is_true(json_object_get(server->config, "room_admin"));
}

static struct slice hex_of(struct arena *arena, const unsigned char *bytes, size_t size)
{
	char *text = arena_alloc(arena, 2 * size + 1);

	text_hex(bytes, size, text);
	return (struct slice){ text, 2 * size };
}

static bool publishes(const struct access_guest *guest)
{
	return guest->audio || guest->video || guest->screen;
}

static struct slice joined(struct arena *arena, const struct slice *parts, size_t n)
{
	struct buffer text = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < n; i++)
		buffer_append(&text, parts[i]);
	return buffer_slice(&text);
}

#define JOINED(arena, ...) \
	joined(arena, (const struct slice[]){ __VA_ARGS__ }, \
	       sizeof((const struct slice[]){ __VA_ARGS__ }) / sizeof(struct slice))

/* ---- tokens ---- */

/* Returns false if the key cannot sign. */
static bool sign_with_key(const struct making *making, struct slice kid, struct json_writer *claims,
			  struct slice *token)
{
	const struct access_server *server = making->server;
	struct slice text, signature;

	if (server->alg == SIGNING_ALGS)
		return false;
	text = jwt_claims_text(making->arena, signing_alg_name(server->alg), kid, claims);
	if (!signing_sign(making->arena, server->alg, server->private_key, text, &signature))
		return false;
	*token = jwt_token(making->arena, text, signature);
	return true;
}

static void put_times(const struct making *making, struct json_writer *claims)
{
	const struct access_guest *guest = making->guest;

	writer_integer(claims, "iat", guest->now - JWT_SECONDS_BACK);
	writer_integer(claims, "nbf", guest->now - JWT_SECONDS_BACK);
	writer_integer(claims, "exp", guest->expires);
	writer_text(claims, "jti", making->jti);
}

/* ---- LiveKit ---- */

const char *const name_origin_attributes[NAME_ORIGINS] = {
	[NAME_CHOSEN] = "",
	[NAME_GIVEN] = "given",
	[NAME_COUNTED] = "counted",
};

static void put_grants(const struct making *making, struct json_writer *claims)
{
	const struct access_guest *guest = making->guest;

	writer_open(claims, "video", '{');
	writer_text(claims, "room", guest->room_id);
	writer_flag(claims, "roomJoin", true);
	writer_flag(claims, "canPublish", publishes(guest));
	/* An empty list would mean all sources. */
	if (publishes(guest)) {
		writer_open(claims, "canPublishSources", '[');
		if (guest->audio)
			writer_text(claims, NULL, SLICE("microphone"));
		if (guest->video)
			writer_text(claims, NULL, SLICE("camera"));
		if (guest->screen) {
			writer_text(claims, NULL, SLICE("screen_share"));
			writer_text(claims, NULL, SLICE("screen_share_audio"));
		}
		writer_close(claims, ']');
	}
	writer_flag(claims, "canSubscribe", guest->subscribes);
	writer_flag(claims, "canPublishData", true);
	if (gives_room_admin(making->server, making->guest))
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
	if (guest->name_origin != NAME_CHOSEN)
		writer_text(claims, NAME_ORIGIN_ATTRIBUTE,
			    slice_of(name_origin_attributes[guest->name_origin]));
	json_object_keylen_foreach(attributes, name, size, value)
		writer_named_text(claims, (struct slice){ name, size }, text_of_json(value));
	writer_close(claims, '}');
}

static struct slice livekit_token(const struct making *making)
{
	const struct access_guest *guest = making->guest;
	struct json_writer claims = writer_begin(making->arena, true);
	struct slice identity = making->person;
	unsigned char digest[DIGEST_SIZE];

	if (identity.size > IDENTITY_MOST) {
		digest_sha256(identity, digest);
		identity = hex_of(making->arena, digest, sizeof digest);
	}
	writer_text(&claims, "iss", config_text(making, "api_key"));
	writer_text(&claims, "sub", identity);
	writer_text(&claims, "name", text_cut(guest->name, NAME_MOST));
	if (guest->metadata.size > 0)
		writer_text(&claims, "metadata", guest->metadata);
	put_times(making, &claims);
	put_attributes(guest, &claims);
	put_grants(making, &claims);
	put_room(guest, &claims);
	return jwt_with_secret(making->arena, (struct slice){ NULL, 0 }, &claims,
			       config_text(making, "api_secret"));
}

static bool make_livekit(struct making *making)
{
	writer_plain(making->answer, "token", livekit_token(making));
	return true;
}

/* ---- Jitsi Meet ---- */

/* Returns the host of a URL in lower case, without the port. */
static struct slice host_of(struct arena *arena, struct slice url)
{
	const char *start = strstr(arena_copy(arena, url).data, "://") + 3;

	return text_lower(arena,
			  (struct slice){
				  start,
				  *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ":/"),
			  });
}

static struct slice said(bool is_so)
{
	return is_so ? SLICE("true") : SLICE("false");
}

static void put_context(const struct making *making, struct json_writer *claims)
{
	const struct access_guest *guest = making->guest;

	writer_open(claims, "context", '{');
	/* Jitsi's servers accept no other types. */
	writer_open(claims, "user", '{');
	writer_text(claims, "id", making->person);
	writer_text(claims, "name", guest->name);
	writer_text(claims, "affiliation", guest->moderates ? SLICE("owner") : SLICE("member"));
	writer_text(claims, "moderator", said(guest->moderates));
	writer_close(claims, '}');
	writer_open(claims, "features", '{');
	writer_text(claims, "livestreaming", said(guest->moderates && guest->streams));
	writer_text(claims, "recording", said(guest->moderates && guest->records));
	writer_text(claims, "screen-sharing", said(guest->screen));
	writer_close(claims, '}');
	writer_close(claims, '}');
}

static bool make_jitsi(struct making *making)
{
	const struct slice audience = config_text(making, "audience");
	const struct slice tenant = config_text(making, "tenant");
	const struct slice app_id = config_text(making, "app_id");
	const struct slice key_id = config_text(making, "key_id");
	struct slice subject = config_text(making, "subject"), token;
	struct json_writer claims = writer_begin(making->arena, true);

	if (subject.data == NULL)
		subject = tenant.data != NULL ? tenant
					      : host_of(making->arena, making->server->url);
	writer_text(&claims, "aud", audience.data != NULL ? audience : app_id);
	writer_text(&claims, "iss", app_id);
	writer_text(&claims, "sub", subject);
	writer_text(&claims, "room", making->guest->room_id);
	put_times(making, &claims);
	put_context(making, &claims);
	if (slice_is(config_text(making, "alg"), "HS256"))
		token = jwt_with_secret(making->arena, key_id, &claims,
					config_text(making, "app_secret"));
	else if (!sign_with_key(making, key_id.data != NULL ? key_id : making->server->kid, &claims,
				&token))
		return false;
	writer_plain(making->answer, "token", token);
	writer_text(making->answer, "link",
		    JOINED(making->arena, making->server->url,
			   tenant.data != NULL ? tenant : SLICE(""),
			   tenant.data != NULL ? SLICE("/") : SLICE(""), making->guest->room_id,
			   SLICE("?jwt="), token));
	return true;
}

/* ---- Galene ---- */

/* Galene shows `sub` as the name and rejects names that could be a path. */
static struct slice name_of_galene(struct arena *arena, struct slice name)
{
	char *text = arena_alloc(arena, name.size + 1);

	if (slice_is(name, ".") || slice_is(name, ".."))
		return SLICE("-");
	for (size_t i = 0; i < name.size; i++)
		text[i] = name.data[i] == '/' || name.data[i] == '\\' ? '-' : name.data[i];
	return (struct slice){ text, name.size };
}

static void put_permissions(const struct access_guest *guest, struct json_writer *claims)
{
	writer_open(claims, "permissions", '[');
	if (guest->moderates)
		writer_text(claims, NULL, SLICE("op"));
	if (publishes(guest))
		writer_text(claims, NULL, SLICE("present"));
	writer_text(claims, NULL, SLICE("message"));
	if (guest->moderates)
		writer_text(claims, NULL, SLICE("caption"));
	if (guest->moderates && guest->records)
		writer_text(claims, NULL, SLICE("record"));
	writer_close(claims, ']');
}

static struct slice issuer_of(const struct making *making)
{
	return JOINED(making->arena, SLICE("anteroom:"), making->guest->customer_id);
}

static bool make_galene(struct making *making)
{
	const struct slice audience = JOINED(making->arena, making->server->url, SLICE("group/"),
					     config_text(making, "group"), SLICE("/"),
					     making->guest->room_id, SLICE("/"));
	struct json_writer claims = writer_begin(making->arena, true);
	struct slice key, token;

	writer_text(&claims, "iss", issuer_of(making));
	writer_text(&claims, "sub", name_of_galene(making->arena, making->guest->name));
	writer_text(&claims, "aud", audience);
	put_times(making, &claims);
	put_permissions(making->guest, &claims);
	if (slice_is(config_text(making, "alg"), "HS256")) {
		if (!text_base64url_decode(making->arena, config_text(making, "key"), &key))
			return false;
		token = jwt_with_secret(making->arena, (struct slice){ NULL, 0 }, &claims, key);
	} else if (!sign_with_key(making, making->server->kid, &claims, &token)) {
		return false;
	}
	writer_plain(making->answer, "token", token);
	writer_text(making->answer, "link",
		    JOINED(making->arena, audience, SLICE("?token="), token));
	return true;
}

/* ---- BigBlueButton ---- */

static enum digest bigbluebutton_digest(const struct making *making)
{
	const struct slice name = config_text(making, "checksum");

	if (slice_is(name, "sha384"))
		return DIGEST_SHA384;
	return slice_is(name, "sha512") ? DIGEST_SHA512 : DIGEST_SHA256;
}

/* Returns the URL of a request to BigBlueButton, with its query and the checksum of both. */
static struct slice address_of(const struct making *making, struct slice name, struct slice query)
{
	unsigned char digest[DIGEST_SIZE_MOST];
	const size_t size = digest_of(
		bigbluebutton_digest(making),
		JOINED(making->arena, name, query, config_text(making, "secret")), digest);

	return JOINED(making->arena, making->server->url, SLICE("api/"), name, SLICE("?"), query,
		      SLICE("&checksum="), hex_of(making->arena, digest, size));
}

static struct slice create_query(const struct making *making)
{
	const struct access_guest *guest = making->guest;
	const struct slice name = text_characters(guest->room_name) < 2 ? guest->room_id
									: guest->room_name;
	struct buffer query = BUFFER_INITIAL(making->arena);

	buffer_append_text(&query, "name=");
	text_encode(&query, text_first(name, MEETING_NAME_MOST));
	buffer_append_text(&query, "&meetingID=");
	buffer_append(&query, guest->room_id);
	if (guest->size > 0) {
		buffer_append_text(&query, "&maxParticipants=");
		buffer_append_integer(&query, guest->size);
	}
	if (guest->seconds_most > 0) {
		buffer_append_text(&query, "&duration=");
		buffer_append_integer(&query, (guest->seconds_most + 59) / 60);
	}
	buffer_append_text(&query, "&record=");
	buffer_append(&query, said(guest->is_recorded));
	return buffer_slice(&query);
}

static bool make_bigbluebutton(struct making *making)
{
	const struct access_guest *guest = making->guest;
	struct buffer query = BUFFER_INITIAL(making->arena);

	buffer_append_text(&query, "fullName=");
	text_encode(&query, guest->name);
	buffer_append_text(&query, "&meetingID=");
	buffer_append(&query, guest->room_id);
	buffer_append_text(&query, guest->moderates ? "&role=MODERATOR" : "&role=VIEWER");
	buffer_append_text(&query, "&userID=");
	text_encode(&query, making->person);
	buffer_append_text(&query, "&redirect=true");
	writer_text(making->answer, "link",
		    address_of(making, SLICE("join"), buffer_slice(&query)));
	if (guest->moderates)
		writer_text(making->answer, "start_link",
			    address_of(making, SLICE("create"), create_query(making)));
	return true;
}

/* ---- Janus ---- */

static struct slice token_of_janus(const struct making *making, const char *realm,
				   struct slice descriptor)
{
	const struct slice head = slice_of(
		arena_text(making->arena, "%lld,%s,", (long long)making->guest->expires, realm));
	const struct slice text = JOINED(making->arena, head, descriptor);
	unsigned char mac[DIGEST_SHA1_SIZE];

	digest_hmac_sha1(config_text(making, "secret"), text, mac);
	return JOINED(making->arena, text, SLICE(":"),
		      text_base64(making->arena, (struct slice){ (const char *)mac, sizeof mac }));
}

#define VIDEO_ROOM "janus.plugin.videoroom"

static bool make_janus(struct making *making)
{
	const struct slice room = JOINED(making->arena, SLICE("room="), making->guest->room_id);

	writer_text(making->answer, "token", token_of_janus(making, "janus", SLICE(VIDEO_ROOM)));
	writer_text(making->answer, "room_token", token_of_janus(making, VIDEO_ROOM, room));
	return true;
}

/* ---- any server that accepts a JWT ---- */

static bool make_jwt(struct making *making)
{
	const struct access_guest *guest = making->guest;
	struct json_writer claims = writer_begin(making->arena, true);
	struct slice token;

	writer_text(&claims, "iss", issuer_of(making));
	writer_text(&claims, "aud", config_text(making, "audience"));
	writer_text(&claims, "sub", making->person);
	writer_text(&claims, "name", guest->name);
	writer_text(&claims, "room_id", guest->room_id);
	writer_text(&claims, "role", guest->role);
	put_times(making, &claims);
	if (!sign_with_key(making, making->server->kid, &claims, &token))
		return false;
	writer_plain(making->answer, "token", token);
	return true;
}

/* ---- all types ---- */

static const struct {
	bool (*make)(struct making *making);
	/* Restrictions of a role that the server cannot enforce. */
	bool any_source; /* a person who may publish something can publish anything */
	bool any_guest; /* a person who may publish nothing can publish anything */
	bool part_of_roles; /* a person who may subscribe to some roles can subscribe to all */
	bool all_roles; /* a person who may subscribe to no role can subscribe to all */
	bool peers, moderation, expiry;
	bool has_page; /* where people join without a client application */
} types[BACKEND_TYPES_COUNT] = {
	[BACKEND_LIVEKIT] = { make_livekit, .part_of_roles = true, .peers = true,
			      .has_page = true },
	[BACKEND_JITSI] = { make_jitsi, .any_source = true, .any_guest = true,
			    .part_of_roles = true, .all_roles = true, .peers = true,
			    .moderation = true, .has_page = true },
	[BACKEND_GALENE] = { make_galene, .any_source = true, .part_of_roles = true,
			     .all_roles = true, .peers = true, .has_page = true },
	[BACKEND_BIGBLUEBUTTON] = { make_bigbluebutton, .any_source = true, .any_guest = true,
				    .part_of_roles = true, .all_roles = true, .peers = true,
				    .expiry = true, .has_page = true },
	[BACKEND_JANUS] = { make_janus, .any_source = true, .any_guest = true,
			    .part_of_roles = true, .all_roles = true, .peers = true },
	[BACKEND_JWT] = { make_jwt, .any_source = false },
};

const char *const backend_type_names[] = {
	[BACKEND_LIVEKIT] = "livekit", [BACKEND_JITSI] = "jitsi",
	[BACKEND_GALENE] = "galene",   [BACKEND_BIGBLUEBUTTON] = "bigbluebutton",
	[BACKEND_JANUS] = "janus",     [BACKEND_JWT] = "jwt",
};

const char *backend_type_name(enum backend_type type)
{
	return backend_type_names[type];
}

bool backend_has_page(enum backend_type type)
{
	return types[type].has_page;
}

size_t access_not_enforced(const struct access_server *server, const struct access_guest *guest,
			   const char *names[ACCESS_NOT_ENFORCED_MOST])
{
	const enum backend_type type = server->type;
	const bool any = publishes(guest) ? types[type].any_source : types[type].any_guest;
	const struct {
		bool holds;
		const char *name;
	} rows[] = {
		{ any && !guest->audio, "publish.audio" },
		{ any && !guest->video, "publish.video" },
		{ any && !guest->screen, "publish.screen" },
		{ !guest->subscribes_to_all &&
			  (guest->subscribes ? types[type].part_of_roles : types[type].all_roles),
		  "subscribe" },
		{ guest->has_most_peers && types[type].peers && !server->holds_limits,
		  "max_peers" },
		{ (!guest->moderates && types[type].moderation) ||
			  (type == BACKEND_LIVEKIT && gives_room_admin(server, guest)),
		  "moderation" },
		{ types[type].expiry, "expiry" },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].holds)
			names[n++] = rows[i].name;
	}
	return n;
}

static struct making begin_making(struct arena *arena, const struct clock *clock,
				  const struct access_server *server,
				  const struct access_guest *guest, struct json_writer *answer)
{
	struct making making = { arena, server, guest, .person = guest->user_id, .answer = answer };
	struct buffer person = BUFFER_INITIAL(arena);

	making.jti = guest->jti.data != NULL ? guest->jti : uuid_as_text(arena, clock);
	if (!guest->is_known) {
		buffer_append(&person, guest->user_id);
		buffer_append_byte(&person, '#');
		buffer_append(&person, (struct slice){ guest->entry.data, MARK_SIZE });
		making.person = buffer_slice(&person);
	}
	return making;
}

struct slice access_livekit_token(struct arena *arena, const struct clock *clock,
				  const struct access_server *server,
				  const struct access_guest *guest)
{
	const struct making making = begin_making(arena, clock, server, guest, NULL);

	return livekit_token(&making);
}

bool access_write(struct arena *arena, const struct clock *clock,
		  const struct access_server *server, const struct access_guest *guest,
		  struct json_writer *answer)
{
	struct making making = begin_making(arena, clock, server, guest, answer);
	const char *names[ACCESS_NOT_ENFORCED_MOST];
	char expires[TEXT_TIME_SIZE];
	size_t n;

	writer_text(answer, "backend", server->name);
	writer_text(answer, "type", slice_of(backend_type_names[server->type]));
	writer_text(answer, "url", server->url);
	writer_text(answer, "room", guest->room_id);
	if (!types[server->type].make(&making))
		return false;
	/* A link of BigBlueButton does not expire. */
	if (!types[server->type].expiry) {
		text_time_seconds(guest->expires * 1000, expires);
		writer_text(answer, "expires_at", slice_of(expires));
	}
	n = access_not_enforced(server, guest, names);
	writer_open(answer, "not_enforced", '[');
	for (size_t i = 0; i < n; i++)
		writer_text(answer, NULL, slice_of(names[i]));
	writer_close(answer, ']');
	return true;
}
