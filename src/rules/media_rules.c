/* See rules/media_rules.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules/media_rules.h"

#include <string.h>

#include "base/text.h"

/* clang-format off */

const struct text_rule kid_hash_text = {
	.characters = "0-9a-f",
	.sentence = "must be 64 lower-case hex digits",
	.shortest = 64,
	.longest = 64,
	.example = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
};

/* ---- signing keys ---- */

static const struct field jwk_fields[] = {
	{ "kty", ONE_OF("EC", "RSA", "OKP"), FLAGS(FIELD_REQUIRED), DOC("Key type.") },
	{ "use", ONE_OF("sig"), FLAGS(FIELD_REQUIRED), DOC("Use of the key: signatures.") },
	{ "alg", SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED), DOC("Signature algorithm.") },
	{ "kid", TEXT(bytes_32_text), FLAGS(FIELD_REQUIRED), DOC("The thumbprint (RFC 7638).") },
	{ "crv", ONE_OF("P-256", "Ed25519"), DOC("Curve, for EC and OKP.") },
	{ "x",   TEXT(some_text), DOC("Coordinate x for EC, public key for OKP.") },
	{ "y",   TEXT(some_text), DOC("Coordinate y, for EC.") },
	{ "e",   TEXT(some_text), DOC("Exponent, for RSA.") },
	{ "n",   TEXT(some_text), DOC("Modulus, for RSA.") },
};
static const struct shape jwk_shape = {
	"Jwk", FIELDS(jwk_fields), .doc = "A public key (RFC 7517).",
};
static const struct field jwk_item = { .name = NULL, OBJECT(jwk_shape) };

static const struct field signing_key_fields[] = {
	{ "kid",        TEXT(bytes_32_text), FLAGS(FIELD_REQUIRED), DOC("The thumbprint (RFC 7638).") },
	{ "alg",        SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED), DOC("Signature algorithm.") },
	{ "state",      SIGNING_KEY_STATES, FLAGS(FIELD_REQUIRED),
	  DOC("active signs, next will sign, retired no longer signs. All of them are published.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_REQUIRED), DOC("Time of creation.") },
	{ "retires_at", TEXT(time_text), DOC("When a retired key is removed.") },
	{ "jwk",        OBJECT(jwk_shape), FLAGS(FIELD_REQUIRED), DOC("Its public key.") },
};
const struct shape signing_key_shape = {
	"SigningKey", FIELDS(signing_key_fields), .doc = "A key that signs tokens for media servers.",
};

static const struct field new_signing_key_fields[] = {
	{ "alg", SIGNING_ALG_NAMES, FLAGS(FIELD_REQUIRED),
	  DOC("ES256, RS256 with 2048 bits, or EdDSA with Ed25519.") },
};
const struct shape new_signing_key_shape = {
	"SigningKey", FIELDS(new_signing_key_fields), .doc = "A signing key to create.",
};

static const struct field key_set_fields[] = {
	{ "keys", LIST_OF(jwk_item), FLAGS(FIELD_REQUIRED), DOC("The keys.") },
};
const struct shape key_set_shape = {
	"KeySet", FIELDS(key_set_fields),
	.doc = "The public keys of an account (RFC 7517): active, next and retired.",
};

/* ---- backends ---- */

#define LONG_SECRET \
	"must be 32 to 512 characters, because a shorter secret can be guessed from a token"
static const struct text_rule livekit_secret_text = {
	.sentence = LONG_SECRET "; the pair devkey and secret of livekit-server --dev is public",
	.shortest = 32,
	.longest = 512,
};
static const struct text_rule long_secret_text = {
	.sentence = LONG_SECRET,
	.shortest = 32,
	.longest = 512,
};
static const struct text_rule short_secret_text = {
	.sentence = "must be 1 to 512 characters",
	.shortest = 1,
	.longest = 512,
};
static const struct text_rule tenant_text = {
	.characters = "a-z0-9._-",
	.sentence = "must be 1 to 64 characters out of a-z 0-9 . _ -",
	.shortest = 1,
	.longest = 64,
};
static const struct text_rule group_text = {
	.characters = "a-z0-9-",
	.sentence = "must be 1 to 64 characters out of a-z 0-9 -",
	.shortest = 1,
	.longest = 64,
};

#define SECRET FLAGS(FIELD_WRITE_ONLY | FIELD_SECRET)

static const struct field config_fields[] = {
	{ "api_key",    TEXT(some_128_text), DOC("Only for livekit.") },
	{ "api_secret", TEXT(livekit_secret_text), SECRET, DOC("Only for livekit.") },
	{ "app_id",     TEXT(some_256_text), DOC("Only for jitsi: iss of the token.") },
	{ "audience",   TEXT(some_256_text), DOC("aud of the token, for jitsi (default: app_id) and jwt.") },
	{ "subject",    TEXT(some_256_text),
	  DOC("Only for jitsi: sub of the token. Default: the tenant, or else the host of url.") },
	{ "key_id",     TEXT(some_256_text), DOC("Only for jitsi: replaces the kid of the token.") },
	{ "tenant",     TEXT(tenant_text), DOC("Only for jitsi.") },
	{ "group",      TEXT(group_text), DOC("Only for galene. Default: anteroom.") },
	{ "alg",        ONE_OF("HS256", "ES256", "RS256", "EdDSA"),
	  DOC("For jitsi HS256 or RS256; for galene ES256 (default), RS256 or HS256; for jwt ES256, RS256 "
	      "or EdDSA. Except with HS256, the active signing key with this alg signs.") },
	{ "app_secret", TEXT(long_secret_text), SECRET, DOC("Only for jitsi with HS256.") },
	{ "key",        TEXT(bytes_32_text), SECRET, DOC("Only for galene with HS256: 32 bytes in base64url.") },
	{ "secret",     TEXT(short_secret_text), SECRET, DOC("Only for bigbluebutton and janus.") },
	{ "checksum",   ONE_OF("sha256", "sha384", "sha512"),
	  DOC("Only for bigbluebutton. Default: sha256.") },
	{ "room_admin", BOOLEAN(),
	  DOC("Only for livekit: whether tokens of moderators have roomAdmin. Default: false.") },
	{ "create_rooms", BOOLEAN(),
	  DOC("Only for livekit: whether Anteroom creates the rooms, for a server with room.auto_create: false. "
	      "Default: false.") },
};
static const struct shape config_shape = {
	"BackendConfig", FIELDS(config_fields),
	.doc = "What a media server shares with the account. Each type has its own fields. Secrets are "
	       "never returned.",
};

/* ---- the fields of each type ---- */

enum type_flag {
	LIVEKIT = 1 << 0,
	JITSI = 1 << 1,
	GALENE = 1 << 2,
	BIGBLUEBUTTON = 1 << 3,
	JANUS = 1 << 4,
	JWT = 1 << 5
};

static const struct {
	const char *name;
	const char *const *schemes;	/* NULL if any scheme is accepted */
	const char *end;		/* required end of the URL */
	const char *alg;		/* the default, or NULL */
	const char *const *algs;
	bool has_api;			/* may have an api_url */
} types[] = {
	{ "livekit",       (const char *const[]){ "ws", "wss", NULL }, "", NULL, NULL, true },
	{ "jitsi",         (const char *const[]){ "https", NULL }, "/", NULL,
	  (const char *const[]){ "HS256", "RS256", NULL }, false },
	{ "galene",        (const char *const[]){ "http", "https", NULL }, "/", "ES256",
	  (const char *const[]){ "ES256", "RS256", "HS256", NULL }, false },
	{ "bigbluebutton", (const char *const[]){ "https", NULL }, "/bigbluebutton/", NULL, NULL, false },
	{ "janus",         (const char *const[]){ "ws", "wss", NULL }, "", NULL, NULL, false },
	{ "jwt",           NULL, "", NULL, (const char *const[]){ "ES256", "RS256", "EdDSA", NULL }, false },
};
#define TYPES (sizeof types / sizeof types[0])

static const struct {
	const char *name;
	unsigned types, required;	/* enum type_flag */
	bool is_secret, with_hs256;	/* with_hs256: only used with that alg */
} members[] = {
	{ "api_key",    LIVEKIT, LIVEKIT, false, false },
	{ "api_secret", LIVEKIT, LIVEKIT, true, false },
	{ "app_id",     JITSI, JITSI, false, false },
	{ "audience",   JITSI | JWT, JWT, false, false },
	{ "subject",    JITSI, 0, false, false },
	{ "key_id",     JITSI, 0, false, false },
	{ "tenant",     JITSI, 0, false, false },
	{ "group",      GALENE, 0, false, false },
	{ "alg",        JITSI | GALENE | JWT, JITSI | JWT, false, false },
	{ "app_secret", JITSI, JITSI, true, true },
	{ "key",        GALENE, GALENE, true, true },
	{ "secret",     BIGBLUEBUTTON | JANUS, BIGBLUEBUTTON | JANUS, true, false },
	{ "checksum",   BIGBLUEBUTTON, 0, false, false },
	{ "room_admin", LIVEKIT, 0, false, false },
	{ "create_rooms", LIVEKIT, 0, false, false },
};
#define MEMBERS (sizeof members / sizeof members[0])

static schema_rule check_backend_urls, check_config, check_secrets;

#define BACKEND_RULES \
	{ "backendUrl", \
	  "url has no query, fragment or user info. Its scheme is ws or wss for livekit and janus, https for jitsi and " \
	  "bigbluebutton, and http or https for galene. It ends with / for jitsi and galene, and with /bigbluebutton/ for " \
	  "bigbluebutton. api_url, for livekit only, is an http or https URL of that form.", \
	  check_backend_urls }, \
	{ "backendConfig", \
	  "config has the required fields of its type: api_key for livekit; app_id and alg for jitsi; audience and alg " \
	  "for jwt.", \
	  check_config }
static const struct rule backend_rules[] = { BACKEND_RULES, { NULL, NULL, NULL } };
static const struct rule new_backend_rules[] = {
	BACKEND_RULES,
	{ "backendSecrets",
	  "config has the secret of its type: api_secret for livekit; app_secret for jitsi with HS256; key for "
	  "galene with HS256; secret for bigbluebutton and janus.",
	  check_secrets },
	{ NULL, NULL, NULL },
};

#define HEALTH_STATES ONE_OF("up", "down", "unknown")

static const struct field health_fields[] = {
	{ "state",   HEALTH_STATES, FLAGS(FIELD_REQUIRED), DOC("unknown: it was not asked yet.") },
	{ "since",   TEXT(time_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE), DOC("Since when; null if unknown.") },
	{ "message", TEXT(any_text), FLAGS(FIELD_REQUIRED),
	  DOC("Why it is down, or that its clock differs; empty if all is well.") },
};
static const struct shape health_shape = {
	"BackendHealth", FIELDS(health_fields), .doc = "What is known of a media server.",
};
static const struct field capability_item = { .name = NULL, ONE_OF("list", "remove", "mute", "role", "message", "end") };

static const struct field backend_test_fields[] = {
	{ "state",        HEALTH_STATES, FLAGS(FIELD_REQUIRED), DOC("up or down.") },
	{ "milliseconds", INTEGER(0, 3600000), FLAGS(FIELD_REQUIRED), DOC("How long it took to answer.") },
	{ "version",      TEXT(any_text), FLAGS(FIELD_REQUIRED | FIELD_NULLABLE),
	  DOC("Version of the server; null if it does not tell.") },
	{ "message",      TEXT(any_text), FLAGS(FIELD_REQUIRED),
	  DOC("As in health; or what is to be set, if the server is up but lets nobody in.") },
};
const struct shape backend_test_shape = {
	"MediaServerState", FIELDS(backend_test_fields), .doc = "Result of asking a media server.",
};

static const struct field load_fields[] = {
	{ "rooms",  INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("Rooms that are placed there.") },
	{ "people", INTEGER(0, UNLIMITED), FLAGS(FIELD_REQUIRED), DOC("People in these rooms.") },
	{ "share",  NUMBER(0, 100), FLAGS(FIELD_REQUIRED),
	  DOC("These people, in percent of those in the whole pool.") },
	{ "target", NUMBER(0, 100), FLAGS(FIELD_REQUIRED),
	  DOC("The weight, in percent of the weights of the pool's servers that are not draining.") },
};
static const struct shape load_shape = {
	"BackendLoad", FIELDS(load_fields), .doc = "Rooms and people on a media server.",
};

static const struct field backend_move_fields[] = {
	{ "rooms", INTEGER(0, INT64_MAX), FLAGS(FIELD_REQUIRED), EXAMPLE(12), DOC("Rooms that are there now.") },
};
const struct shape backend_move_shape = {
	"MovedRooms", FIELDS(backend_move_fields), .doc = "Rooms of a backend that are moved.",
};

static const struct field backend_fields[] = {
	{ "id",         TEXT(id_text), FLAGS(FIELD_READ_ONLY), DOC("Backend identifier.") },
	{ "name",       TEXT(role_name_text), FLAGS(FIELD_REQUIRED | FIELD_KEPT), EXAMPLE("livekit"),
	  DOC("Unique name, by which templates refer to the backend.") },
	{ "type",       ONE_OF(BACKEND_TYPES), FLAGS(FIELD_REQUIRED | FIELD_KEPT),
	  DOC("Kind of media server. It cannot be changed.") },
	{ "url",        TEXT(url_text), FLAGS(FIELD_REQUIRED | FIELD_KEPT), IN_FORMAT("uri"),
	  EXAMPLE("wss://media.example.org"), DOC("Address of the media server.") },
	{ "default",    BOOLEAN(), DEFAULT(false),
	  DOC("Used for rooms whose template names no backend. Only one backend can be the default; setting it "
	      "here clears it elsewhere.") },
	{ "ttl",        INTEGER(60, BACKEND_TTL_MOST), DEFAULT(600), UNIT("s"), DOC("Maximum lifetime of a token, in seconds.") },
	{ "config",     OBJECT(config_shape), DEFAULT({}), EXAMPLE({"api_key":"devkey"}),
	  DOC("Settings of its type.") },
	{ "created_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of creation.") },
	{ "updated_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY), DOC("Time of the last change.") },
	{ "api_url",    TEXT(url_text), IN_FORMAT("uri"),
	  EXAMPLE("http://10.1.2.3:7880"),
	  DOC("Only for livekit: address of the server's API, as Anteroom reaches it. Default: url with http "
	      "instead of ws.") },
	{ "capabilities", LIST_OF(capability_item), FLAGS(FIELD_READ_ONLY),
	  DOC("What Anteroom can do at the media server: list (its rooms and people), "
	      "message (send messages to people).") },
	{ "events_url", TEXT(any_text), FLAGS(FIELD_READ_ONLY), IN_FORMAT("uri"),
	  DOC("Only for livekit: where the media server posts its events, for its configuration.") },
	{ "last_event_at", TEXT(time_text), FLAGS(FIELD_READ_ONLY | FIELD_NULLABLE),
	  DOC("When it sent its last event, at most 10 seconds behind; null if it has sent none with its present "
	      "address and keys. Only livekit sends events.") },
	{ "health",     OBJECT(health_shape), FLAGS(FIELD_READ_ONLY),
	  DOC("Whether the media server answers.") },
	{ "pool",       TEXT(role_name_text), EXAMPLE("munich"),
	  DOC("The pool that it is one of: media servers of one type among which rooms are shared out, each room to one "
	      "of them. Templates can name the pool in place of a backend. Pools and backends have different names.") },
	{ "weight",     INTEGER(1, BACKEND_WEIGHT_MOST), FLAGS(FIELD_KEPT),
	  DOC("Its share of the pool's people, relative to the weights of the others. Default: 100. Like the fields that "
	      "follow, it is returned for backends in a pool or with a weight.") },
	{ "region",     ONE_OF("in", "us", "eu"),
	  DOC("Where it is. Rooms of a region are placed on the servers there, if there are any that can take them.") },
	{ "draining",   BOOLEAN(), DOC("Whether it gets no new rooms. Default: false.") },
	{ "load",       OBJECT(load_shape), FLAGS(FIELD_READ_ONLY | FIELD_SOMETIMES),
	  DOC("What it has, at most some seconds old.") },
};
const struct shape backend_shape = {
	"Backend", FIELDS(backend_fields), .rules = backend_rules,
	.doc = "A media server that people join. A secret that is not sent is kept.",
};
const struct shape new_backend_shape = {
	"BackendSetup", FIELDS(backend_fields), .rules = new_backend_rules,
	.doc = "A media server with its secrets.",
};

/* clang-format on */

/* ---- named rules ---- */

/* Returns the index of a type, or TYPES if the name is missing or faulty. */
static size_t type_named(struct slice name)
{
	size_t i = 0;

	while (i < TYPES && !slice_is(name, types[i].name))
		i++;
	return i;
}

static size_t type_of(const json_t *object)
{
	return type_named(text_of_json(json_object_get(object, "type")));
}

static bool is_listed(struct slice text, const char *const *list)
{
	while (*list != NULL && !slice_is(text, *list))
		list++;
	return *list != NULL;
}

static bool is_scheme_of(struct slice scheme, const char *const *list)
{
	while (*list != NULL && !text_equal_ignoring_case(scheme, slice_of(*list)))
		list++;
	return *list != NULL;
}

static bool names_host(struct slice rest)
{
	struct slice path;
	const struct slice host = text_split(rest, '/', &path);

	return host.size > 0 && host.data[0] != ':' && memchr(host.data, '@', host.size) == NULL;
}

/* schemes: NULL if any scheme is accepted. end_: required end of the URL. */
static bool url_has_form(struct slice url, const char *const *schemes, const char *end_)
{
	const struct slice end = slice_of(end_);
	const char *colon = memchr(url.data, ':', url.size);
	struct slice scheme, rest;
	bool has_authority;

	if (colon == NULL || colon == url.data || !text_may_be_url(url) ||
	    memchr(url.data, '?', url.size) != NULL)
		return false;
	scheme = (struct slice){ url.data, (size_t)(colon - url.data) };
	rest = (struct slice){ colon + 1, url.size - scheme.size - 1 };
	has_authority = rest.size > 2 && memcmp(rest.data, "//", 2) == 0;
	if (has_authority)
		rest = (struct slice){ rest.data + 2, rest.size - 2 };
	if (rest.size == 0 || (has_authority && !names_host(rest)))
		return false;
	if (schemes == NULL)
		return true;
	return has_authority && is_scheme_of(scheme, schemes) && rest.size >= end.size &&
	       memcmp(rest.data + rest.size - end.size, end.data, end.size) == 0;
}

static void check_address(struct rule_context *context, const char *pointer, struct slice url,
			  const char *const *schemes, const char *end)
{
	if (!text_url_has_right_port(url))
		schema_fault(context, pointer, TEXT_PORT_SENTENCE);
	else if (url_has_form(url, schemes, end))
		return;
	else if (schemes == NULL)
		schema_fault(context, pointer,
			     "must be a URL without query, fragment or user info");
	else
		schema_fault(context, pointer,
			     "must be %s %s%s%s URL%s%s, without query, fragment or user info",
			     *schemes[0] == 'h' ? "an" : "a", schemes[0],
			     schemes[1] != NULL ? " or " : "", schemes[1] != NULL ? schemes[1] : "",
			     *end != '\0' ? " that ends with " : "", end);
}

static void check_backend_urls(struct rule_context *context, const json_t *object)
{
	static const char *const http[] = { "http", "https", NULL };
	const struct slice url = text_of_json(json_object_get(object, "url"));
	const struct slice api_url = text_of_json(json_object_get(object, "api_url"));
	const size_t type = type_of(object);

	if (type == TYPES)
		return;
	if (url.data != NULL)
		check_address(context, "/url", url, types[type].schemes, types[type].end);
	if (api_url.data == NULL)
		return;
	if (types[type].has_api)
		check_address(context, "/api_url", api_url, http, "");
	else
		schema_fault(context, "/api_url", "is not used by the type %s", types[type].name);
}

/* Returns the alg that will be stored, which may be the default. data is NULL if there is none. */
static struct slice alg_of(const json_t *config, size_t type)
{
	const struct slice alg = text_of_json(json_object_get(config, "alg"));

	return alg.data != NULL || types[type].alg == NULL ? alg : slice_of(types[type].alg);
}

static const char *config_pointer(struct rule_context *context, const char *member)
{
	return arena_text(rule_arena(context), "/config/%s", member);
}

static bool member_is_for(size_t member, size_t type, struct slice alg)
{
	return (members[member].types & 1u << type) != 0 &&
	       (!members[member].with_hs256 || alg.data == NULL || slice_is(alg, "HS256"));
}

/* Reports missing members. Faulty members have been reported already. */
static void check_required(struct rule_context *context, const json_t *object, bool secrets)
{
	const json_t *config = json_object_get(object, "config");
	const size_t type = type_of(object);

	if (type == TYPES || (config == NULL && rule_was_sent(context, "/config")))
		return;
	for (size_t i = 0; i < MEMBERS; i++) {
		const char *pointer = config_pointer(context, members[i].name);

		if (members[i].is_secret == secrets && (members[i].required & 1u << type) != 0 &&
		    (!members[i].with_hs256 || slice_is(alg_of(config, type), "HS256")) &&
		    json_object_get(config, members[i].name) == NULL &&
		    (config == NULL || !rule_was_sent(context, pointer)))
			schema_fault(context, pointer, "is required");
	}
}

static void check_secrets(struct rule_context *context, const json_t *object)
{
	check_required(context, object, true);
}

static void check_config(struct rule_context *context, const json_t *object)
{
	const json_t *config = json_object_get(object, "config");
	const struct slice key = text_of_json(json_object_get(config, "key"));
	const size_t type = type_of(object);
	struct slice alg, bytes;

	check_required(context, object, false);
	if (type == TYPES || config == NULL)
		return;
	alg = alg_of(config, type);
	for (size_t i = 0; i < MEMBERS; i++) {
		if (json_object_get(config, members[i].name) == NULL || member_is_for(i, type, alg))
			continue;
		if ((members[i].types & 1u << type) == 0)
			schema_fault(context, config_pointer(context, members[i].name),
				     "is not used by the type %s", types[type].name);
		else
			schema_fault(context, config_pointer(context, members[i].name),
				     "is not used with the alg %.*s", (int)alg.size, alg.data);
	}
	if (types[type].algs != NULL && alg.data != NULL && !is_listed(alg, types[type].algs))
		schema_fault(context, "/config/alg",
			     "must be an alg that %s supports, got \"%.*s\"", types[type].name,
			     (int)alg.size, alg.data);
	if (type == type_named(SLICE("galene")) && key.data != NULL &&
	    !text_base64url_decode(rule_arena(context), key, &bytes))
		schema_fault(context, "/config/key", "must be 32 bytes in base64url");
}

/* ---- for handlers that build whole documents ---- */

bool backend_has_member(struct slice type, struct slice alg, const char *member)
{
	const size_t i = type_named(type);

	if (i == TYPES)
		return false;
	if (alg.data == NULL && types[i].alg != NULL)
		alg = slice_of(types[i].alg);
	for (size_t m = 0; m < MEMBERS; m++) {
		if (strcmp(members[m].name, member) == 0)
			return member_is_for(m, i, alg);
	}
	return false;
}

bool backend_member_is_secret(const char *member)
{
	for (size_t m = 0; m < MEMBERS; m++) {
		if (strcmp(members[m].name, member) == 0)
			return members[m].is_secret;
	}
	return false;
}

const char *backend_default(struct slice type, const char *member)
{
	const size_t i = type_named(type);

	if (i == TYPES || !backend_has_member(type, (struct slice){ NULL, 0 }, member))
		return NULL;
	if (strcmp(member, "alg") == 0)
		return types[i].alg;
	if (strcmp(member, "group") == 0)
		return "anteroom";
	return strcmp(member, "checksum") == 0 ? "sha256" : NULL;
}
