/* See service/openapi_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/openapi_parts.h"

json_t *openapi_reference(const char *kind, const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, name));
}

/* ---- headers ---- */

static const struct {
	const char *key, *name, *doc;
} request_headers[] = {
	{ "IfMatch", "If-Match",
	  "Entity tags, or *: the write is refused with 412 when none of them is current." },
	{ "IfNoneMatch", "If-None-Match",
	  "Entity tags, or *: a read answers 304 when one is current, a write is refused with "
	  "412." },
	{ "Console", "Anteroom-Console",
	  "1: no page of another origin can send it. Needed to begin a session, and with a "
	  "session for every method but GET and HEAD; else 403." },
	{ "IdempotencyKey", "Idempotency-Key",
	  "1 to 128 visible ASCII characters but \" and \\, in quotes or bare. For 24 hours the same "
	  "request with the same key is not carried out again and gets the same answer, with "
	  "Idempotency-Replayed; another request with it is 422." },
	{ "Prefer", "Prefer",
	  "handling=strict (RFC 7240) makes unknown members of the body a fault." },
	{ "RequestId", "X-Request-Id",
	  "1 to 128 of A-Z a-z 0-9 . _ -: comes back in the answer and stands in the log. Anything "
	  "else is replaced." },
};

static const struct {
	const char *name, *doc, *type, *pattern; /* pattern NULL: any */
} answer_headers[] = {
	{ "X-Request-Id", "The client's own, or a generated one.", "string",
	  "^[A-Za-z0-9._-]{1,128}$" },
	{ "ETag", "A strong entity tag: differs whenever the bytes shown differ.", "string",
	  "^\"[^\"]+\"$" },
	{ "X-Unknown-Fields",
	  "Only where the body had members that are not known: the JSON Pointers of the outermost "
	  "ones, comma-separated and percent-encoded, at most 20 and 1024 bytes, then `...`.",
	  "string", NULL },
	{ "Preference-Applied", "Only where it was asked for.", "string", "^handling=strict$" },
	{ "Idempotency-Replayed",
	  "Only where the answer is that of an earlier request with this key.", "string",
	  "^true$" },
	{ "WWW-Authenticate",
	  "Only where the token is at fault (401), or the caller lacks a scope, which it names.",
	  "string",
	  "^Bearer error=\"(invalid_token|insufficient_scope\", scope=\"[a-z]+:(read|write))\"$" },
	{ "Retry-After", "Seconds.", "integer", NULL },
	{ "Access-Control-Allow-Origin", "Browsers of any origin may call.", "string", "^\\*$" },
};

json_t *openapi_header_parameters(void)
{
	json_t *parameters = json_object();

	object_put(parameters, "ValidateOnly",
		   json_pack("{s:s, s:s, s:s, s:{s:s}}", "name", "validate_only", "in", "query",
			     "description",
			     "true: all checks are made, and nothing else; the answer is then "
			     "{\"valid\":true}, with status 200.",
			     "schema", "type", "boolean"));
	for (size_t i = 0; i < sizeof request_headers / sizeof request_headers[0]; i++)
		object_put(parameters, request_headers[i].key,
			   json_pack("{s:s, s:s, s:s, s:{s:s}}", "name", request_headers[i].name,
				     "in", "header", "description", request_headers[i].doc,
				     "schema", "type", "string"));
	return parameters;
}

json_t *openapi_headers(void)
{
	json_t *headers = json_object();

	for (size_t i = 0; i < sizeof answer_headers / sizeof answer_headers[0]; i++)
		object_put(headers, answer_headers[i].name,
			   json_pack("{s:s, s:{s:s, s:s*}}", "description", answer_headers[i].doc,
				     "schema", "type", answer_headers[i].type, "pattern",
				     answer_headers[i].pattern));
	return headers;
}

json_t *openapi_headers_of(const struct route *route, const char *const *names)
{
	static const char origin[] = "Access-Control-Allow-Origin", id[] = "X-Request-Id";
	json_t *headers = json_pack("{s:o}", id, openapi_reference("headers", id));

	for (; *names != NULL; names++)
		object_put(headers, *names, openapi_reference("headers", *names));
	if (route != NULL && route->is_shared)
		object_put(headers, origin, openapi_reference("headers", origin));
	return headers;
}

/* ---- errors ---- */

#define HEADERS_MOST 4
#define OF_THE_BODY "X-Unknown-Fields", "Preference-Applied"

static const struct {
	const char *name, *doc;
	const char *headers[HEADERS_MOST];
} errors[] = {
	[FAULT_INVALID_BODY] = { "BadRequest",
				 "Malformed JSON, a rule broken, a bad query parameter. All faults "
				 "of a body at once, at most 50.",
				 { OF_THE_BODY } },
	[FAULT_UNAUTHORIZED] = { "Unauthorized",
				 "The token is missing or not valid.",
				 { "WWW-Authenticate" } },
	[FAULT_FORBIDDEN] = { "Forbidden",
			      "What is named is disabled.",
			      { OF_THE_BODY, "WWW-Authenticate" } },
	[FAULT_NOT_FOUND] = { "NotFound",
			      "It does not exist, or it is another account's.",
			      { OF_THE_BODY } },
	[FAULT_CONFLICT] = { "Conflict", "It collides with what is there.", { OF_THE_BODY } },
	[FAULT_GONE] = { "Gone",
			 "Entries after `after` are gone: they are kept for some time.",
			 { NULL } },
	[FAULT_PRECONDITION] = { "PreconditionFailed",
				 "If-Match or If-None-Match does not allow the write.",
				 { OF_THE_BODY } },
	[FAULT_TOO_LARGE] = { "PayloadTooLarge", "The body is larger than 256 KiB.", { NULL } },
	[FAULT_KEY_REUSED] = { "KeyReused",
			       "The Idempotency-Key was used for another request.",
			       { OF_THE_BODY } },
	[FAULT_TOO_MANY] = { "TooManyRequests",
			     "Too many calls, or too many unknown codes.",
			     { "Retry-After" } },
	[FAULT_INTERNAL] = { "OtherError",
			     "Anything else, of the same form: 405 with Allow for another method, 409 "
			     "for an Idempotency-Key whose first request is under way, and "
			     "what the web server in front answers by itself (400, 403, 408, 413, "
			     "414, 429, 431, 500 to 505).",
			     { NULL } },
	[FAULT_UNAVAILABLE] = { "ServiceUnavailable",
				"The store cannot write at the moment, nothing was changed; or, without "
				"Retry-After, what was asked for is damaged on the disk.",
				{ "Retry-After" } },
};

const enum fault_kind openapi_error_kinds[] = {
	FAULT_INVALID_BODY, FAULT_UNAUTHORIZED, FAULT_FORBIDDEN, FAULT_NOT_FOUND,  FAULT_CONFLICT,
	FAULT_GONE,	    FAULT_PRECONDITION, FAULT_TOO_LARGE, FAULT_KEY_REUSED, FAULT_TOO_MANY,
	FAULT_UNAVAILABLE,  FAULT_INTERNAL,	FAULT_NONE,
};

static json_t *error_response(const struct route *route, enum fault_kind kind, const char *doc)
{
	return json_pack("{s:s, s:o, s:{s:{s:o}}}", "description",
			 doc != NULL ? doc : errors[kind].doc, "headers",
			 openapi_headers_of(route, errors[kind].headers), "content",
			 "application/json", "schema", openapi_reference("schemas", "Error"));
}

/* Described by the route, or only returned by shared routes. */
static bool is_told_by_route(enum fault_kind kind)
{
	return kind == FAULT_FORBIDDEN || kind == FAULT_GONE || kind == FAULT_CONFLICT ||
	       kind == FAULT_TOO_MANY;
}

json_t *openapi_errors(void)
{
	json_t *responses = json_object();

	for (const enum fault_kind *kind = openapi_error_kinds; *kind != FAULT_NONE; kind++) {
		if (!is_told_by_route(*kind))
			object_put(responses, errors[*kind].name,
				   error_response(NULL, *kind, NULL));
	}
	return responses;
}

json_t *openapi_error_of(const struct route *route, enum fault_kind kind, const char *doc)
{
	if (doc == NULL && !is_told_by_route(kind) && !route->is_shared)
		return openapi_reference("responses", errors[kind].name);
	return error_response(route, kind, doc);
}

static json_t *faults_schema(void)
{
	return json_pack(
		"{s:s, s:s, s:{s:s, s:[s,s], s:{s:{s:s,s:s}, s:{s:s,s:s}}}}", "type", "array",
		"description", "Of a 400: the same as `details`, in parts and in the same order.",
		"items", "type", "object", "required", "pointer", "message", "properties",
		"pointer", "type", "string", "description",
		"The JSON Pointer of the member, the name of the parameter of the query, or "
		"empty where there is neither.",
		"message", "type", "string", "description", "What is wrong with it.");
}

json_t *openapi_error_schema(void)
{
	return json_pack("{s:s, s:s, s:[s,s], s:{s:{s:s,s:s}, s:{s:s,s:s}, s:{s:s,s:s,s:{s:s}}, "
			 "s:o}}",
			 "description", "Every error has this form.", "type", "object", "required",
			 "code", "message", "properties", "code", "type", "integer", "description",
			 "The HTTP status.", "message", "type", "string", "description",
			 "One sentence.", "details", "type", "array", "description",
			 "More to say: of a bad body one entry a fault, which begins with the JSON "
			 "Pointer of the member and a colon, of a bad query with the parameter and "
			 "a colon.",
			 "items", "type", "string", "faults", faults_schema());
}

/* ---- all calls ---- */

json_t *openapi_security_schemes(void)
{
	return json_pack(
		"{s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}, "
		"s:{s:s, s:s, s:s, s:s}}",
		"management", "type", "http", "scheme", "bearer", "bearerFormat", "JWT",
		"description",
		"A management token: a JWT, HS256 with a secret of the account, with "
		"access_key, type \"management\", version 2 and exp; iat and nbf, if they "
		"are there, lie at most 60 seconds in the future. It has all scopes, unless "
		"its claim anteroom_scope names some, with spaces between.",
		"key", "type", "http", "scheme", "bearer", "description",
		"A key of the account (createKey), which has the scopes that it was given. A "
		"scope for writing includes that for reading, and webhooks:write includes "
		"events:read.",
		"session", "type", "apiKey", "in", "cookie", "name", "__Host-anteroom",
		"description",
		"A session of a browser (beginSession). It counts only where there is no "
		"Authorization; over plain http the cookie is named anteroom.",
		"app", "type", "http", "scheme", "bearer", "bearerFormat", "JWT", "description",
		"A token for joining: the `token` of createToken, or one that the account "
		"signed itself, with type \"app\", room_id, role and user_id.");
}

static const char conventions[] =
	"Templates, rooms and room codes in front of the media servers of a real-time conferencing "
	"backend.\n\n"
	"**Rules.** What a schema cannot say has a name: it is a sentence of the description and an "
	"entry of `x-rules`, of a schema where the body alone shows it, of an operation where the "
	"query or what is stored is needed. A rule that is broken gives 400. `x-maxBytes` bounds a "
	"text in UTF-8, where `maxLength` counts characters. `x-unit` is the unit of a number: kbps, "
	"s, ms, px or fps.\n\n"
	"**Bodies.** JSON in UTF-8, at most 256 KiB (of a bulk or an import: 1 MiB), whatever the Content-Type says. Duplicate "
	"members, NUL in a text, a lone surrogate, more than 32 levels, trailing bytes and a byte "
	"order mark are malformed. Where no member is required, an empty body and `null` count as "
	"`{}`, and an empty array does wherever an object is expected. A member that is `null` counts "
	"as not supplied, in a merge patch it removes. Integers may be written as 32.0 and are kept "
	"exactly, to 64 bits; one with a point or an exponent is below 2^53. Read-only members are "
	"accepted, whatever they are, and ignored. Unknown members are ignored and named "
	"in X-Unknown-Fields; `Prefer: handling=strict` makes them faults.\n\n"
	"**Addresses.** One trailing slash is accepted. Segments and values are percent-decoded once; "
	"a bad escape is 400. A malformed id in a path is not found. Of a query, `+` is a space, an "
	"empty value counts as absent, a known parameter given twice is 400, and unknown ones are "
	"ignored. HEAD works wherever GET does; OPTIONS is answered with Allow, for /v2/token with "
	"Access-Control-Allow-Methods and Access-Control-Allow-Headers.\n\n"
	"**Order of checks.** 404 for a path that is none and 405; 401; a scope that the caller lacks (403); 413 and malformed JSON; "
	"Idempotency-Key (400, 422, or the kept answer); all rules of query and body (400); existence (404); rules that need what is stored (400); "
	"disabled (403); If-Match and If-None-Match (412); conflicts (409).\n\n"
	"**Lists.** `start` is a position, exclusive; `limit` in an answer is the one applied; a page "
	"shorter than it is the last one.";

json_t *openapi_information(void)
{
	return json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "Anteroom", "version",
			 PACKAGE_VERSION, "description", conventions, "license", "name",
			 "GPL-3.0-or-later", "identifier", "GPL-3.0-or-later");
}
