/* See service/openapi.h. Values that static functions return are new references.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/openapi.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "accounts/scopes.h"
#include "resources/route.h"
#include "rules/media_rules.h"
#include "rules/text_rules.h"
#include "schema/describe.h"

/* Returns {"$ref":"#/components/KIND/NAME"}. */
static json_t *reference(const char *kind, const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, name));
}

/* ---- headers ---- */

static const struct {
	/* pattern is NULL if any text is allowed */
	const char *key, *name, *example, *pattern, *doc;
} request_headers[] = {
	{ "IfMatch", "If-Match", "\"5f1c0c2a9b3d4e6f\"", NULL,
	  "Entity tags, or *. The write is rejected with 412 unless one of them is current." },
	{ "IfNoneMatch", "If-None-Match", "*", NULL,
	  "Entity tags, or *. If one of them is current, a read returns 304 and a write is rejected "
	  "with 412." },
	{ "Console", "Anteroom-Console", "1", NULL,
	  "Always 1; pages of other origins cannot send this header. Required to start a session, "
	  "and with a session for every method except GET and HEAD; otherwise 403." },
	{ "IdempotencyKey", "Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324",
	  "^([!#-\\[\\]-~]{1,128}|\\x22[!#-\\[\\]-~]{1,128}\\x22)$",
	  "1 to 128 visible ASCII characters other than \" and \\, with or without quotes. For 24 "
	  "hours, the same request with the same key is not carried out again and gets the same "
	  "response, with Idempotency-Replayed; a different request with the key gets 422." },
	{ "Prefer", "Prefer", "handling=strict", NULL,
	  "With handling=strict (RFC 7240), unknown members of the body are faults." },
	{ "RequestId", "X-Request-Id", "7f3a", "^[A-Za-z0-9._-]{1,128}$",
	  "1 to 128 characters out of A-Z a-z 0-9 . _ -; returned in the response and logged. "
	  "Anything else is replaced." },
};

static const struct {
	const char *name, *doc, *type, *pattern; /* pattern is NULL if any text is allowed */
} answer_headers[] = {
	{ "X-Request-Id", "The ID that the client sent, or a generated ID.", "string",
	  "^[A-Za-z0-9._-]{1,128}$" },
	{ "ETag",
	  "A strong entity tag that changes whenever the response changes. A web server that "
	  "compresses the response makes the tag weak, W/\"...\", which If-Match accepts too. Not sent "
	  "with validate_only.",
	  "string", "^(W/)?\"[^\"]+\"$" },
	{ "X-Unknown-Fields",
	  "Present if the body had unknown members: the JSON Pointers of the outermost of them, "
	  "comma-separated and percent-encoded, at most 20 and 1024 bytes, then `...`.",
	  "string", NULL },
	{ "Preference-Applied", "Present if the request asked for it.", "string",
	  "^handling=strict$" },
	{ "Idempotency-Replayed",
	  "Present if this is the response to an earlier request with the same key.", "string",
	  "^true$" },
	{ "WWW-Authenticate",
	  "Present if the token was rejected (401), or if the caller lacks a scope, which it names.",
	  "string",
	  "^Bearer error=\"(invalid_token|insufficient_scope\", scope=\"[a-z]+:(read|write))\"$" },
	{ "Retry-After", "Seconds.", "integer", NULL },
	{ "Access-Control-Allow-Origin", "Browsers of any origin may call.", "string", "^\\*$" },
};

/* Returns the headers of a response: X-Request-Id, those in `names` (which ends with NULL) and, for
 * a route for all origins, the CORS header. */
static json_t *headers_of(bool is_for_all_origins, const char *const *names)
{
	static const char origin[] = "Access-Control-Allow-Origin", id[] = "X-Request-Id";
	json_t *headers = json_pack("{s:o}", id, reference("headers", id));

	for (; *names != NULL; names++)
		object_put(headers, *names, reference("headers", *names));
	if (is_for_all_origins)
		object_put(headers, origin, reference("headers", origin));
	return headers;
}

/* ---- errors ---- */

#define HEADERS_MOST 4
#define OF_THE_BODY "X-Unknown-Fields", "Preference-Applied"

/* clang-format off */
/* In the order of their statuses. */
static const struct error {
	enum fault_kind kind;
	const char *name;
	const char *headers[HEADERS_MOST];
	const char *example; /* an example of the message */
	const char *doc;
} errors[] = {
	{ FAULT_INVALID_BODY, "BadRequest", { OF_THE_BODY }, "Invalid body param",
	  "Malformed JSON, a broken rule or an invalid query parameter. All faults of a body are reported "
	  "together, at most 50." },
	{ FAULT_UNAUTHORIZED, "Unauthorized", { "WWW-Authenticate" }, "Invalid token",
	  "The token is missing or not valid." },
	{ FAULT_FORBIDDEN, "Forbidden", { OF_THE_BODY, "WWW-Authenticate" }, "Room is disabled",
	  "The object is disabled." },
	{ FAULT_NOT_FOUND, "NotFound", { OF_THE_BODY }, "Room not found",
	  "It does not exist, or it belongs to another account." },
	{ FAULT_CONFLICT, "Conflict", { OF_THE_BODY }, "Room name already exists",
	  "It conflicts with the current state." },
	{ FAULT_GONE, "Gone", { NULL }, "Entries up to 41 are gone",
	  "The events right after `after` are no longer kept: events are kept for a limited time." },
	{ FAULT_PRECONDITION, "PreconditionFailed", { OF_THE_BODY }, "Precondition failed",
	  "If-Match or If-None-Match does not allow the write." },
	{ FAULT_TOO_LARGE, "PayloadTooLarge", { NULL }, "Payload too large",
	  "The body is larger than 256 KiB, or the request needs more than 64 MB of memory." },
	{ FAULT_KEY_REUSED, "KeyReused", { OF_THE_BODY }, "Idempotency-Key was used for another request",
	  "The Idempotency-Key was used for another request." },
	{ FAULT_TOO_MANY, "TooManyRequests", { "Retry-After" }, "Too many requests",
	  "Too many requests, or too many unknown codes." },
	{ FAULT_CANNOT, "NotImplemented", { NULL }, "The media server cannot do this",
	  "The media server of the backend cannot do this; `details` names what." },
	{ FAULT_SERVER_DOWN, "BadGateway", { "Retry-After" }, "The media server does not answer",
	  "The media server did not answer, or not as it should; `details` says why. Nothing was done there." },
	{ FAULT_UNAVAILABLE, "ServiceUnavailable", { "Retry-After" }, "Service unavailable",
	  "The server cannot write at the moment. Nothing was changed, unless `details` says that the outcome is "
	  "unknown. Without Retry-After: the requested data is damaged." },
	{ FAULT_MAYBE_DONE, "MaybeDone", { NULL }, "It may have been done",
	  "The request reached the media server, and no answer came: it may have been done." },
	{ FAULT_INTERNAL, "OtherError", { NULL }, "Method not allowed",
	  "Anything else, in the same form: 405 with Allow for an unsupported method; 409 with Retry-After while the "
	  "first request with an Idempotency-Key is in progress, or (`Too busy`) if too many other requests changed the "
	  "same objects, and nothing was changed; and errors of the web server itself (400, 403, 408, 413, 414, 429, "
	  "431, 500 to 505)." },
};
/* clang-format on */
#define ERRORS (sizeof errors / sizeof errors[0])

/* Takes ownership of schema and example. */
static json_t *content_of(const char *type, json_t *schema, json_t *example)
{
	const json_t *items = json_object_get(example, "data");
	const json_t *item = json_is_array(items) ? json_array_get(items, 0) : example;
	json_t *media = json_pack("{s:o}", "schema", schema);

	/* Linters mistake an object with `type` and `default`, such as a backend, for a schema. */
	if (json_object_get(item, "type") != NULL && json_object_get(item, "default") != NULL)
		json_decref(example);
	else
		object_put(media, "examples", json_pack("{s:{s:o}}", "example", "value", example));
	return json_pack("{s:o}", type, media);
}

/* doc: NULL for the general description. The example of a 400 shows a body with one fault. */
static json_t *error_response(const struct error *error, bool is_for_all_origins, const char *doc)
{
	static const char fault[] = "must be from 0 to 20000, got -1";
	const int status = error->kind == FAULT_INTERNAL ? 405 : fault_status(error->kind);
	json_t *example = error->kind == FAULT_INVALID_BODY
				  ? json_pack("{s:i, s:s, s:[o], s:[{s:s, s:s}]}", "code", status,
					      "message", error->example, "details",
					      json_sprintf("/size: %s", fault), "faults", "pointer",
					      "/size", "message", fault)
				  : json_pack("{s:i, s:s, s:[]}", "code", status, "message",
					      error->example, "details");

	return json_pack("{s:s, s:o, s:o}", "description", doc != NULL ? doc : error->doc,
			 "headers", headers_of(is_for_all_origins, error->headers), "content",
			 content_of("application/json", reference("schemas", "Error"), example));
}

/* Returns the name of the shared response to an error. */
static const char *error_name(struct arena *arena, const struct error *error,
			      bool is_for_all_origins)
{
	return arena_text(arena, "%s%s", error->name, is_for_all_origins ? "ForAllOrigins" : "");
}

static json_t *text_schema(const char *doc)
{
	return json_pack("{s:s, s:s}", "type", "string", "description", doc);
}

static json_t *open_object(const char *doc, json_t *required, json_t *properties)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:b}", "description", doc, "type", "object",
			 "required", required, "properties", properties, "additionalProperties",
			 true);
}

/* ---- all calls ---- */

/* There is one scheme for all bearer tokens: for two, generators send the header twice. */
static json_t *security_schemes(void)
{
	return json_pack(
		"{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}}", "bearerAuth", "type", "http",
		"scheme", "bearer", "description",
		"A management token: a JWT signed by HS256 with a secret of the account, with "
		"access_key, type \"management\", version 2 and exp; iat and nbf, if present, are at "
		"most 60 seconds in the future. It has all scopes, unless the claim anteroom_scope "
		"lists some, separated by spaces. Or an API key of the account (createKey), which has "
		"the scopes it was created with. A write scope includes the read scope, and "
		"webhooks:write includes events:read. For joinBackend: a join token, which is the "
		"`token` of createToken or a token that the account signed itself, with type \"app\", "
		"room_id, role and user_id.",
		"sessionCookie", "type", "apiKey", "in", "cookie", "name", "__Host-anteroom",
		"description",
		"A browser session (beginSession). It counts only if there is no Authorization "
		"header. Over plain http the cookie is named anteroom.");
}

static const char conventions[] =
	"Manages templates, rooms and room codes in front of the media servers of a real-time "
	"conferencing backend.\n\n"
	"**Rules.** Rules that a schema cannot express have a name. Each is a sentence of the "
	"description and an entry of `x-rules`: of a schema if it depends only on the body, of an "
	"operation if it depends on the query or on stored data. Breaking a rule returns 400. "
	"`x-maxBytes` limits the size of a text in UTF-8, while `maxLength` counts characters. "
	"`x-unit` is the unit of a number: kbps, s, ms, px or fps. More than `x-usualMaximum` is "
	"accepted only as the description says.\n\n"
	"**Bodies.** JSON in UTF-8, at most 256 KiB (1 MiB for a bulk or an import, 8 KiB for "
	"requests that join or start a session, 16 KiB for joinLivekit), whatever the Content-Type says. Duplicate "
	"members, NUL in a text, a lone surrogate, more than 32 levels, trailing bytes and a byte "
	"order mark are malformed. If no member is required, an empty body and `null` count as "
	"`{}`, or as `[]` if the body is an array; an empty array counts as `{}` wherever an "
	"object is expected. A member that is `null` counts as not given; in a merge patch it "
	"removes the member. Integers may be written as 32.0 and are stored exactly, up to 64 bits; an integer with a decimal point "
	"or exponent must be below 2^53. Read-only members are ignored, whatever their value. "
	"Unknown members are ignored and listed in X-Unknown-Fields; with `Prefer: "
	"handling=strict` they are faults.\n\n"
	"**Addresses.** One trailing slash is accepted. Segments and values are percent-decoded "
	"once; an invalid escape returns 400. A malformed ID in a path returns 404. In a query, "
	"`+` is a space, an empty value counts as absent, a known parameter given twice returns "
	"400, and unknown parameters are ignored. HEAD works wherever GET does. OPTIONS returns "
	"Allow, and for /v2/token also Access-Control-Allow-Methods and "
	"Access-Control-Allow-Headers.\n\n"
	"**Order of checks.** Path and method (404, 405); token (401); scope (403); size of the "
	"body and its JSON (413, 400); Idempotency-Key (400, 422, or the stored response); all "
	"rules of query and body (400); existence (404); rules that depend on stored data (400); "
	"disabled (403); If-Match and If-None-Match (412); conflicts (409).\n\n"
	"**Lists.** A page begins after the object that `start` names. `limit` in a response is "
	"the limit applied; a page with fewer items is the last page.";

static bool is_reading(const struct route *route)
{
	return route->method == METHOD_GET;
}

static enum describe_form form_of(const struct route *route)
{
	if (route->body_kind == BODY_PATCH)
		return DESCRIBE_PATCH;
	return route->body_kind == BODY_PARTIAL && strchr(route->path, '{') != NULL
		       ? DESCRIBE_UPDATE
		       : DESCRIBE_REQUEST;
}

/* ---- parameters ---- */

/* clang-format off */
static const struct field path_fields[] = {
	{ "template_id", TEXT(id_text), DOC("Template identifier.") },
	{ "room_id",     TEXT(id_text), DOC("Room identifier.") },
	{ "role_name",   TEXT(role_name_text), DOC("Name of a role of the template.") },
	{ "role",        TEXT(role_name_text), DOC("Name of a role of the room's template.") },
	{ "code",        TEXT(any_text), EXAMPLE("abc-defg-hij"), DOC("A room code.") },
	{ "backend_id",  TEXT(id_text), DOC("Backend identifier.") },
	{ "key_id",      TEXT(id_text), DOC("API key identifier.") },
	{ "webhook_id",  TEXT(id_text), DOC("Webhook identifier.") },
	{ "event_id",    TEXT(any_text), EXAMPLE("0b7f8d3e-4c55-4f1c-9b0a-6f2f6f6c1d2e"), DOC("Event identifier.") },
	{ "peer_id",     TEXT(any_text), EXAMPLE("7d1b5bd0-5c26-8b2a-9f0e-3a4b1c2d3e4f"), DOC("Peer identifier.") },
	{ "session_id",  TEXT(id_text), DOC("Session identifier.") },
	{ "recording_id", TEXT(id_text), DOC("Recording identifier.") },
	{ "stream_id",   TEXT(id_text), DOC("Identifier of a stream.") },
	{ "asset_id",    TEXT(id_text), DOC("Identifier of a file of a recording.") },
	{ "ticket",      TEXT(any_text), DOC("A ticket, as createToken returned it.") },
	{ "ticket_id",   TEXT(id_text), DOC("Identifier of a ticket.") },
	{ "ban_id",      TEXT(id_text), DOC("Ban identifier.") },
	{ "kid",         TEXT(bytes_32_text), DOC("The kid of a signing key.") },
	{ "customer_id", TEXT(id_text), DOC("Account identifier.") },
	{ "kid_hash",    TEXT(kid_hash_text), DOC("SHA-256 of the kid of a signing key.") },
};
static const struct shape path_shape = { "Path", FIELDS(path_fields) };
/* clang-format on */

static json_t *path_parameter(struct arena *arena, const char *name, size_t size)
{
	json_t *parameters = describe_parameters(arena, &path_shape);
	size_t i;
	json_t *parameter;

	json_array_foreach(parameters, i, parameter) {
		const char *own = path_fields[i].name;

		if (strlen(own) != size || strncmp(own, name, size) != 0)
			continue;
		object_put(parameter, "in", json_string("path"));
		object_put(parameter, "required", json_true());
		return json_incref(parameter);
	}
	/* The route table has a parameter that is not described above. */
	ABORT("a parameter of the route table is not described");
}

/* Returns whether the route may change stored data. */
static bool may_change(const struct route *route)
{
	return route->method != METHOD_GET && route->access != ROUTE_STATELESS;
}

/* Returns whether the route honours an Idempotency-Key. */
static bool takes_key(const struct route *route)
{
	return may_change(route) && !route->is_open && !route->takes_app_token;
}

static json_t *parameters_of(struct arena *arena, const struct route *route)
{
	json_t *parameters = json_array();

	for (const char *open = route->path; (open = strchr(open, '{')) != NULL; open++)
		array_put(parameters, path_parameter(arena, open + 1, strcspn(open + 1, "}")));
	if (route->query != NULL &&
	    json_array_extend(parameters, describe_parameters(arena, route->query)) != 0)
		ABORT("cannot change a JSON value");
	array_put(parameters, reference("parameters", "RequestId"));
	if (may_change(route) &&
	    (route->query == NULL || shape_field(route->query, "validate_only") == NULL))
		array_put(parameters, reference("parameters", "ValidateOnly"));
	if (takes_key(route))
		array_put(parameters, reference("parameters", "IdempotencyKey"));
	if (route->body != NULL)
		array_put(parameters, reference("parameters", "Prefer"));
	if (route->begins_session)
		array_put(parameters, reference("parameters", "Console"));
	if (!route->has_etag)
		return parameters;
	array_put(parameters, reference("parameters", "IfNoneMatch"));
	if (!is_reading(route))
		array_put(parameters, reference("parameters", "IfMatch"));
	return parameters;
}

/* ---- bodies ---- */

/* clang-format off */
static const char *const body_docs[] = {
	[BODY_WHOLE] = "Members that are not given get their default.",
	[BODY_PARTIAL] = "Members that are not given keep their stored value; members without a stored value get "
	"their default.",
	[BODY_PATCH] = "A JSON Merge Patch (RFC 7396), whatever the Content-Type.",
};
/* clang-format on */

/* Returns NULL if the route has no body. If no member is required, the body is optional. */
static json_t *request_body_of(const struct route *route)
{
	const enum describe_form form = form_of(route);
	bool is_required = false;
	json_t *content;

	if (route->body == NULL)
		return NULL;
	for (const struct field *row = NULL;
	     form == DESCRIBE_REQUEST && (row = shape_next(route->body, row)) != NULL;)
		is_required |= (row->flags & FIELD_REQUIRED) != 0;
	content = content_of("application/json", describe_reference(route->body, form),
			     describe_example(route->body, form));
	if (route->body_kind == BODY_PATCH)
		object_put(content, "application/merge-patch+json",
			   json_incref(json_object_get(content, "application/json")));
	return json_pack("{s:s, s:b, s:o}", "description", body_docs[route->body_kind], "required",
			 is_required, "content", content);
}

/* ---- answers ---- */

/* Returns whether the response is a page of a list that may be longer. */
static bool is_page(const struct route *route)
{
	return route->is_list && is_reading(route) && route->query != NULL;
}

/* Returns "RoomPage" for a page, "RoleList" for a list without pages, otherwise "Room". */
static const char *answer_name(struct arena *arena, const struct route *route)
{
	const char *ending = is_page(route) ? "Page" : route->is_list ? "List" : "";

	return arena_text(arena, "%s%s", route->answer->name, ending);
}

static json_t *list_schema(struct arena *arena, const struct route *route)
{
	const char *doc = arena_text(arena,
				     is_page(route) ? "A page of %s objects." : "All %s objects.",
				     route->answer->name);
	json_t *items = json_pack("{s:s, s:o}", "type", "array", "items",
				  describe_reference(route->answer, DESCRIBE_ANSWER));
	const bool may_be_null = is_page(route) && !route->drops_old;
	json_t *properties;

	/* The page after the last page is null. */
	if (may_be_null)
		items = describe_nullable(items);
	object_put(items, "description",
		   json_string(may_be_null
				       ? "The items; null if the page is empty and the request has "
					 "`start`, even an empty one. Always present."
				       : "The items."));
	properties = json_pack("{s:o}", "data", items);
	if (!is_page(route))
		return open_object(doc, json_pack("[s]", "data"), properties);
	object_put(properties, "limit",
		   json_pack("{s:s, s:s, s:s}", "type", "integer", "format", "int32", "description",
			     "The limit applied."));
	object_put(
		properties, "last",
		text_schema(
			route->drops_old
				? "The seq of the last event that was looked at: `after` of the "
				  "next request."
				: "The last item of this page: `start` of the next request. Empty "
				  "if the page is empty."));
	/* A list that may be null is not required (schema/describe.c). */
	return open_object(doc,
			   may_be_null ? json_pack("[s,s]", "limit", "last")
				       : json_pack("[s,s,s]", "data", "limit", "last"),
			   properties);
}

/* Returns whether a large stored response may be replayed as a Replay object
 * (resources/retries/kept_answer.c). */
static bool may_be_replayed_short(const struct route *route)
{
	return route->body_most == CALL_LARGE_BODY_MOST && takes_key(route);
}

/* Returns whether the response to validate_only has the status of the other response. */
static bool answers_validation(const struct route *route)
{
	return may_change(route) && !route->creates && !route->accepts;
}

/* Returns the name of the schema of the response: of a route that may change something, a choice
 * that includes the response to validate_only. */
static const char *outcome_name(struct arena *arena, const struct route *route)
{
	const char *name = answer_name(arena, route);

	if (!answers_validation(route))
		return name;
	return arena_text(arena, "%sOr%s", name,
			  may_be_replayed_short(route) ? "ReplayOrValidation" : "Validation");
}

/* Returns a schema that both the response and that to validate_only obey. Usually it is a choice.
 * If the latter would fit both branches, it is one object with the members of both: generators do
 * not know propertyNames, and some do not know anyOf. */
static json_t *outcome_schema(struct arena *arena, const json_t *schemas, const struct route *route)
{
	const char *name = answer_name(arena, route);
	const json_t *own = json_object_get(schemas, name);
	const char *doc = arena_text(arena, "%s; with validate_only=true: Validation.", name);
	json_t *choices, *whole;

	if (strcmp(json_string_value(json_object_get(own, "type")), "object") == 0 &&
	    json_object_get(own, "required") == NULL) {
		assert(!may_be_replayed_short(route));
		whole = json_deep_copy(own);
		object_put(whole, "description",
			   json_sprintf("%s; with validate_only=true: only valid.", name));
		object_put(
			json_object_get(whole, "properties"), "valid",
			json_pack("{s:s, s:s}", "type", "boolean", "description",
				  "Always true. Present with validate_only=true, and then alone."));
		return whole;
	}
	choices = json_pack("[o, o]", reference("schemas", name),
			    reference("schemas", "Validation"));
	if (may_be_replayed_short(route)) {
		array_put(choices, reference("schemas", "Replay"));
		doc = arena_text(arena,
				 "%s Replay: for an Idempotency-Key that was used before, if the "
				 "first response was larger than 512 KiB.",
				 doc);
	}
	return json_pack("{s:s, s:o}", "description", doc, "oneOf", choices);
}

static bool answers_nothing(const struct route *route)
{
	return route->method == METHOD_DELETE || route->begins_session;
}

/* ---- successes ---- */

/* clang-format off */
/* Links from the response of one operation to an operation that takes a member of it. */
static const struct {
	const char *from, *to, *parameter, *member;
} links[] = {
	{ "createTemplate", "getTemplate", "template_id", "id" },
	{ "createTemplate", "listRoles", "template_id", "id" },
	{ "createRoom", "getRoom", "room_id", "id" },
	{ "createRoom", "createRoomCodes", "room_id", "id" },
	{ "createRoom", "listRoomCodes", "room_id", "id" },
	{ "getRoom", "createRoomCodes", "room_id", "id" },
	{ "getRoom", "listRoomCodes", "room_id", "id" },
	{ "getRoom", "getTemplate", "template_id", "template_id" },
	{ "createRoomCode", "getRoomCode", "code", "code" },
	{ "rotateRoomCode", "getRoomCode", "code", "code" },
	{ "getRoomCode", "getRoom", "room_id", "room_id" },
	{ "createBackend", "getBackend", "backend_id", "id" },
	{ "createWebhook", "getWebhook", "webhook_id", "id" },
	{ "createWebhook", "listWebhookDeliveries", "webhook_id", "id" },
	{ "createSigningKey", "getSigningKey", "kid", "kid" },
	{ "createKey", "getKey", "key_id", "id" },
	{ "createBan", "getBan", "ban_id", "id" },
};
/* clang-format on */

static json_t *success_content(struct arena *arena, const struct route *route)
{
	const char *type = route->content_type;
	json_t *example;

	if (route->answer != NULL) {
		example = describe_example(route->answer, DESCRIBE_ANSWER);
		if (is_page(route))
			example = json_pack("{s:i, s:[o], s:s}", "limit", 10, "data", example,
					    "last",
					    route->drops_old ? "1" : "6925c84100000000000000b1");
		else if (route->is_list)
			example = json_pack("{s:[o]}", "data", example);
		return content_of(type != NULL ? type : "application/json",
				  reference("schemas", outcome_name(arena, route)), example);
	}
	if (type != NULL)
		return json_pack("{s:{s:{s:s}}}", type, "schema", "type", "string");
	/* Only this document itself has no shape. */
	return content_of("application/json", reference("schemas", "OpenApiDocument"),
			  json_pack("{s:s}", "openapi", "3.1.0"));
}

static json_t *success_of(struct arena *arena, const struct route *route)
{
	const char *names[5] = { NULL };
	json_t *success, *headers, *own = json_object();
	size_t n = 0;

	if (route->has_etag && route->method != METHOD_DELETE && route->etag_when == NULL)
		names[n++] = "ETag";
	if (route->body != NULL) {
		names[n++] = "X-Unknown-Fields";
		names[n++] = "Preference-Applied";
	}
	if (takes_key(route))
		names[n++] = "Idempotency-Replayed";
	headers = headers_of(route->is_for_all_origins, names);
	if (route->etag_when != NULL)
		object_put(headers, "ETag",
			   json_pack("{s:s, s:{s:s}}", "description", route->etag_when, "schema",
				     "type", "string"));
	if (route->retry_after != NULL)
		object_put(headers, "Retry-After",
			   json_pack("{s:s, s:{s:s}}", "description", route->retry_after, "schema",
				     "type", "integer"));

	success = json_pack("{s:s, s:o}", "description",
			    answers_nothing(route) ? "Done." : "The answer.", "headers", headers);
	if (!answers_nothing(route))
		object_put(success, "content", success_content(arena, route));
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		if (strcmp(links[i].from, route->name) == 0)
			object_put(own, links[i].to,
				   json_pack("{s:s, s:{s:o}}", "operationId", links[i].to,
					     "parameters", links[i].parameter,
					     json_sprintf("$response.body#/%s", links[i].member)));
	}
	if (json_object_size(own) > 0)
		object_put(success, "links", own);
	else
		json_decref(own);
	return success;
}

static bool can_fail(const struct route *route, enum fault_kind kind)
{
	bool has_body = route->body_kind != BODY_IGNORED;
	bool has_path_parameters = strchr(route->path, '{') != NULL;

	if (kind == FAULT_INTERNAL)
		return true;
	/* The web server in front limits requests also where Anteroom itself does not. */
	if (route->access == ROUTE_STATELESS && route->is_open && !route->begins_session)
		return kind == FAULT_TOO_MANY;
	switch (fault_status(kind)) {
	case 400:
		return has_body || route->query != NULL || has_path_parameters;
	case 401:
		return !route->is_open || route->begins_session;
	case 403:
		return route->forbidden != NULL || route->scopes != 0;
	case 404:
		/* An object that can be disabled is named in the path or in the body. */
		return has_path_parameters ||
		       (route->forbidden != NULL && route->access != ROUTE_STATELESS);
	case 409:
		return route->conflict != NULL;
	case 410:
		return route->drops_old;
	case 412:
		return (route->has_etag && !is_reading(route)) || route->has_conditions;
	case 413:
		return has_body || is_page(route) || route->too_large != NULL;
	case 422:
		return takes_key(route);
	case 429:
		return route->is_limited || route->too_many != NULL;
	case 504:
		return route->acts;
	case 501:
		/* A call that only has a room surveyed is answered in any case. */
		return route->settle != NULL && route->settle != route->run;
	case 502:
		return route->settle != NULL && route->settle != route->run && !route->tests_server;
	default:
		return true;
	}
}

static const char *own_doc(struct arena *arena, const struct route *route, enum fault_kind kind)
{
	if (kind == FAULT_FORBIDDEN && route->scopes != 0)
		return route->forbidden == NULL ? "The caller lacks a scope."
						: arena_text(arena, "The caller lacks a scope. %s",
							     route->forbidden);
	if (kind == FAULT_FORBIDDEN)
		return route->forbidden;
	if (kind == FAULT_TOO_LARGE && is_page(route))
		return "The response would be larger than 8 MB; use a smaller limit.";
	if (kind == FAULT_TOO_LARGE && route->objects_most != 0)
		return arena_text(
			arena,
			"The body is larger than 1 MiB, has more than %zu objects or objects that "
			"take more than 16 MB when stored, or the request needs more than 512 MB of "
			"memory.",
			route->objects_most);
	if (kind == FAULT_TOO_LARGE && route->body_most == CALL_LARGE_BODY_MOST)
		return "The body is larger than 1 MiB, the response would be larger than 8 MB, or the "
		       "request needs more than 512 MB of memory.";
	if (kind == FAULT_TOO_LARGE && route->body_most == CALL_OPEN_BODY_MOST)
		return "The body is larger than 8 KiB.";
	if (kind == FAULT_TOO_LARGE && route->body_most == CALL_LIVEKIT_BODY_MOST)
		return "The body is larger than 16 KiB.";
	if (kind == FAULT_TOO_LARGE && route->too_large != NULL)
		return route->too_large;
	if (kind == FAULT_TOO_MANY)
		return route->too_many;
	if (kind == FAULT_UNAVAILABLE && route_asks(route))
		return "Too many requests to this media server or of this account are waiting; or the "
		       "server cannot write at the moment.";
	return kind == FAULT_CONFLICT ? route->conflict : NULL;
}

/* Returns false if the route describes the error itself: always for some errors. */
static bool is_shared(struct arena *arena, const struct route *route, enum fault_kind kind)
{
	return own_doc(arena, route, kind) == NULL && kind != FAULT_FORBIDDEN &&
	       kind != FAULT_GONE && kind != FAULT_CONFLICT && kind != FAULT_TOO_MANY &&
	       kind != FAULT_SERVER_DOWN && kind != FAULT_MAYBE_DONE;
}

static json_t *responses_of(struct arena *arena, const struct route *route)
{
	static const char *const none[] = { NULL }, *const etag[] = { "ETag", NULL };
	static const char *const of_accepted[] = { "Retry-After", OF_THE_BODY, NULL };
	const bool all_origins = route->is_for_all_origins;
	json_t *responses = json_object();

	object_put(responses,
		   answers_nothing(route) ? "204"
		   : route->creates	  ? "201"
		   : route->accepts	  ? "202"
					  : "200",
		   success_of(arena, route));
	if ((answers_nothing(route) || route->creates || route->accepts) && may_change(route))
		object_put(
			responses, "200",
			json_pack("{s:s, s:o, s:o}", "description",
				  "With validate_only=true: the request is valid and was not "
				  "carried out.",
				  "headers", headers_of(all_origins, none), "content",
				  content_of("application/json", reference("schemas", "Validation"),
					     json_pack("{s:b}", "valid", true))));
	if (route->accepted != NULL)
		object_put(
			responses, "202",
			json_pack("{s:s, s:o, s:o}", "description", route->accepted->doc, "headers",
				  headers_of(all_origins, of_accepted), "content",
				  content_of("application/json",
					     reference("schemas", route->accepted->name),
					     describe_example(route->accepted, DESCRIBE_ANSWER))));
	if (route->has_etag && is_reading(route))
		object_put(responses, "304",
			   json_pack("{s:s, s:o}", "description", "It has not changed.", "headers",
				     headers_of(all_origins, etag)));
	for (size_t i = 0; i < ERRORS; i++) {
		const struct error *error = &errors[i];

		if (can_fail(route, error->kind))
			object_put(responses,
				   error->kind == FAULT_INTERNAL
					   ? "default"
					   : arena_text(arena, "%d", fault_status(error->kind)),
				   is_shared(arena, route, error->kind)
					   ? reference("responses",
						       error_name(arena, error, all_origins))
					   : error_response(error, all_origins,
							    own_doc(arena, route, error->kind)));
	}
	return responses;
}

/* Returns whether a route of this kind has the shared response to the error. */
static bool is_used(struct arena *arena, const struct route *table, enum fault_kind kind,
		    bool is_for_all_origins)
{
	for (const struct route *route = table; route->path != NULL; route++) {
		if (!route->is_internal && route->is_for_all_origins == is_for_all_origins &&
		    can_fail(route, kind) && is_shared(arena, route, kind))
			return true;
	}
	return false;
}

/* ---- operations ---- */

/* ---- tags ---- */

/* clang-format off */
/* By prefix of the path; the first match counts. */
static const struct tag {
	const char *path, *name, *doc; /* doc is NULL if an earlier row has it */
} tags[] = {
	{ "/v2/templates/{template_id}/roles", "Roles", "The roles of a template." },
	{ "/v2/template", "Templates", "Roles, settings and destinations for rooms." },
	{ "/v2/room-codes", "Room codes", "What people join with." },
	{ "/v2/room", "Rooms", "Rooms, each based on a template." },
	{ "/v2/bulk", "Bulk", "Many requests in one." },
	{ "/v2/import", "Import", "Objects from elsewhere." },
	{ "/v2/token", "Joining", "Exchanging a code for access to a media server." },
	{ "/v2/join", "Joining", NULL },
	{ "/v2/livekit", "Joining", NULL },
	{ "/v2/active-rooms", "Live rooms", "Who is inside a room now." },
	{ "/v2/sessions", "Sessions", "Who was in a room, and when." },
	{ "/v2/usage", "Sessions", NULL },
	{ "/v2/recording", "Recordings", "Recordings of rooms, and their files." },
	{ "/v2/live-streams", "Live streams", "Rooms that are streamed to players of HLS." },
	{ "/v2/external-streams", "External streams", "Rooms that are streamed to RTMP servers." },
	{ "/v2/bans", "Bans", "People and codes that may not be in a room." },
	{ "/v2/backends", "Media servers", "The media servers of an account." },
	{ "/v2/webhooks", "Webhooks", "Programs that receive events." },
	{ "/v2/signing-keys", "Signing keys", "Key pairs that sign tokens for media servers." },
	{ "/v2/jwks", "Signing keys", NULL },
	{ "/v2/keys", "API keys", "Bearer tokens limited to scopes." },
	{ "/v2/events", "Event log", "What was changed, and by whom." },
	{ "/v2/analytics", "Event log", NULL },
	{ "/v2/", "Service", "Browser sessions, and the service itself." },
};
/* clang-format on */

static void add_operation(struct arena *arena, json_t *paths, const struct route *route)
{
	const char *method = text_lower(arena, slice_of(method_name(route->method))).data;
	const char *first = strstr(route->doc, ". "); /* ends the first sentence, the summary */
	const size_t summary = first != NULL ? (size_t)(first + 1 - route->doc)
					     : strlen(route->doc);
	const char *caller = "Needs no Authorization.";
	const struct tag *tag = tags;
	json_t *operation, *body;

	while (strncmp(route->path, tag->path, strlen(tag->path)) != 0)
		tag++;
	operation = json_pack("{s:s, s:[s], s:o}", "operationId", route->name, "tags", tag->name,
			      "summary", json_stringn(route->doc, summary));
	/* Security schemes cannot express who may call. */
	if (route->takes_app_token)
		caller = "Needs a join token in Authorization.";
	else if (route->scopes != 0)
		caller = arena_text(arena, "Needs the scope %.*s%s.",
				    (int)scopes_text(arena, route->scopes).size,
				    scopes_text(arena, route->scopes).data,
				    route->is_from_inside ? ", or a join token of the room" : "");
	else if (!route->is_open)
		caller = "Needs no scope.";
	object_put(operation, "description", json_sprintf("%s %s", route->doc, caller));
	if (!route->is_open && !route->takes_app_token)
		object_put(operation, "x-scopes", scopes_list(route->scopes));

	if (route->query != NULL)
		describe_rules(operation, route->query);
	if (route->body_kind == BODY_PATCH || route->body_kind == BODY_PARTIAL)
		describe_rule(operation, "result",
			      "The result of applying the body to the stored object must also obey "
			      "all rules and have all required members.");
	for (const struct route_rule *rule = route->rules; rule != NULL && rule->name != NULL;
	     rule++)
		describe_rule(operation, rule->name, rule->doc);
	object_put(operation, "parameters", parameters_of(arena, route));
	body = request_body_of(route);
	if (body != NULL)
		object_put(operation, "requestBody", body);
	object_put(operation, "responses", responses_of(arena, route));
	object_put(operation, "security",
		   route->is_open ? json_array()
		   : route->takes_app_token
			   ? json_pack("[{s:[]}]", "bearerAuth")
			   : json_pack("[{s:[]}, {s:[]}]", "bearerAuth", "sessionCookie"));
	if (json_object_get(paths, route->path) == NULL)
		object_put(paths, route->path, json_object());
	object_put(json_object_get(paths, route->path), method, operation);
}

/* ---- the document ---- */

static json_t *schemas_of(struct arena *arena, const struct route *table)
{
	static const char *const rows[][3] = {
		{ "Validation", "valid",
		  "The response with validate_only if the request is valid." },
		{ "Replay", "replayed",
		  "The response to a repeated request if the first response was not stored." },
	};
	json_t *schemas = json_pack("{s:{s:s, s:s, s:b}}", "OpenApiDocument", "type", "object",
				    "description", "This document.", "additionalProperties", true);

	object_put(
		schemas, "Fault",
		open_object("A fault of a request.", json_pack("[s,s]", "pointer", "message"),
			    json_pack("{s:o, s:o}", "pointer",
				      text_schema("The JSON Pointer of the member, the name of the "
						  "query parameter, or empty if there is neither."),
				      "message", text_schema("What is wrong."))));
	object_put(
		schemas, "Error",
		open_object(
			"Every error has this form.", json_pack("[s,s]", "code", "message"),
			json_pack(
				"{s:{s:s, s:s, s:s}, s:o, s:{s:s, s:s, s:{s:s}}, s:{s:s, s:s, s:o}}",
				"code", "type", "integer", "format", "int32", "description",
				"The HTTP status.", "message", text_schema("What happened."),
				"details", "type", "array", "description",
				"Details. For an invalid body, one entry for each fault, which starts "
				"with the JSON Pointer of the member and a colon; for an invalid "
				"query, with the parameter and a colon.",
				"items", "type", "string", "faults", "type", "array", "description",
				"With status 400: the same as `details`, split into parts, in the "
				"same order.",
				"items", reference("schemas", "Fault"))));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		object_put(schemas, rows[i][0],
			   open_object(rows[i][2], json_pack("[s]", rows[i][1]),
				       json_pack("{s:{s:s, s:s}}", rows[i][1], "type", "boolean",
						 "description", "Always true.")));

	for (const struct route *route = table; route->path != NULL; route++) {
		if (route->is_internal)
			continue;
		if (route->body != NULL)
			describe_components(schemas, route->body, form_of(route));
		if (route->answer == NULL)
			continue;
		describe_components(schemas, route->answer, DESCRIBE_ANSWER);
		if (route->accepted != NULL)
			describe_components(schemas, route->accepted, DESCRIBE_ANSWER);
		if (route->is_list)
			object_put(schemas, answer_name(arena, route), list_schema(arena, route));
		if (answers_validation(route))
			object_put(schemas, outcome_name(arena, route),
				   outcome_schema(arena, schemas, route));
	}
	return schemas;
}

json_t *openapi_document(struct arena *arena, const struct route *table)
{
	static const bool all_origins[] = { false, true };
	json_t *information = json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:s, s:s}}", "title",
					"Anteroom", "version", PACKAGE_VERSION, "description",
					conventions, "contact", "name",
					"The administrators of this service", "license", "name",
					"GPL-3.0-or-later", "identifier", "GPL-3.0-or-later");
	json_t *named_tags = json_array(), *paths = json_object();
	json_t *parameters = json_object(), *headers = json_object();
	json_t *responses = json_object();

	for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
		if (tags[i].doc != NULL)
			array_put(named_tags, json_pack("{s:s, s:s}", "name", tags[i].name,
							"description", tags[i].doc));
	}
	for (const struct route *route = table; route->path != NULL; route++) {
		if (!route->is_internal)
			add_operation(arena, paths, route);
	}

	object_put(parameters, "ValidateOnly",
		   json_pack("{s:s, s:s, s:s, s:{s:s}, s:b}", "name", "validate_only", "in",
			     "query", "description",
			     "If true, the request is checked but not carried out; the response is "
			     "then {\"valid\":true}, with status 200.",
			     "schema", "type", "boolean", "example", false));
	for (size_t i = 0; i < sizeof request_headers / sizeof request_headers[0]; i++)
		object_put(parameters, request_headers[i].key,
			   json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s*}}", "name",
				     request_headers[i].name, "in", "header", "description",
				     request_headers[i].doc, "example", request_headers[i].example,
				     "schema", "type", "string", "pattern",
				     request_headers[i].pattern));
	for (size_t i = 0; i < sizeof answer_headers / sizeof answer_headers[0]; i++)
		object_put(headers, answer_headers[i].name,
			   json_pack("{s:s, s:{s:s, s:s*}}", "description", answer_headers[i].doc,
				     "schema", "type", answer_headers[i].type, "pattern",
				     answer_headers[i].pattern));

	/* Generators make one type of each, where they would make one for each response that stands
	 * in an operation. */
	for (size_t i = 0; i < ERRORS; i++) {
		for (size_t n = 0; n < sizeof all_origins / sizeof all_origins[0]; n++) {
			if (is_used(arena, table, errors[i].kind, all_origins[n]))
				object_put(responses, error_name(arena, &errors[i], all_origins[n]),
					   error_response(&errors[i], all_origins[n], NULL));
		}
	}

	return arena_json(arena,
			  json_pack("{s:s, s:o, s:[{s:s}], s:o, s:[{s:[]}], s:o, s:{s:o, s:o, s:o, "
				    "s:o, s:o}}",
				    "openapi", "3.1.0", "info", information, "servers", "url", "/",
				    "tags", named_tags, "security", "bearerAuth", "paths", paths,
				    "components", "schemas", schemas_of(arena, table), "parameters",
				    parameters, "headers", headers, "responses", responses,
				    "securitySchemes", security_schemes()));
}

struct openapi {
	const struct route *table;
	pthread_mutex_t lock; /* while the text is made */
	char *text;
	uint64_t etag;
};

struct openapi *openapi_open(const struct route *table)
{
	struct openapi *openapi = memory_check(calloc(1, sizeof *openapi));

	openapi->table = table;
	pthread_mutex_init(&openapi->lock, NULL);
	return openapi;
}

void openapi_close(struct openapi *openapi)
{
	pthread_mutex_destroy(&openapi->lock);
	free(openapi->text);
	free(openapi);
}

bool openapi_get(struct call *call, struct fault *fault)
{
	struct openapi *openapi = call->environment->openapi;

	(void)fault;
	pthread_mutex_lock(&openapi->lock);
	if (openapi->text == NULL) {
		/* Copied, because what jansson allocates during a call ends with the call. */
		openapi->text = memory_check(
			strdup(json_dumps(openapi_document(call->arena, openapi->table),
					  JSON_COMPACT | JSON_REAL_PRECISION(15))));
		openapi->etag = digest_number(slice_of(openapi->text));
	}
	pthread_mutex_unlock(&openapi->lock);
	call_etag(call, openapi->etag);
	return call_not_modified(call, openapi->etag) || call_answer(call, slice_of(openapi->text));
}
