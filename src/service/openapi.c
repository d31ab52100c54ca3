/* See service/openapi.h. Shared parts are in service/openapi_parts.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/openapi.h"

#include <stdlib.h>

#include "base/text.h"
#include "accounts/scopes.h"
#include "rules/media_rules.h"
#include "rules/text_rules.h"
#include "schema/describe.h"
#include "service/openapi_parts.h"

static bool is_reading(const struct route *route)
{
	return route->method == METHOD_GET;
}

static enum describe_form form_of(enum route_body kind)
{
	return kind == BODY_PATCH ? DESCRIBE_PATCH : DESCRIBE_REQUEST;
}

/* ---- parameters ---- */

/* clang-format off */
static const struct field path_fields[] = {
	{ "template_id", TEXT(id_text), DOC("Template identifier.") },
	{ "room_id",     TEXT(id_text), DOC("Room identifier.") },
	{ "role_name",   TEXT(role_name_text), DOC("Name of a role of the template.") },
	{ "role",        TEXT(role_name_text), DOC("Name of a role of the room's template.") },
	{ "code",        TEXT(any_text), DOC("A room code.") },
	{ "backend_id",  TEXT(id_text), DOC("Backend identifier.") },
	{ "key_id",      TEXT(id_text), DOC("Key identifier.") },
	{ "webhook_id",  TEXT(id_text), DOC("Webhook identifier.") },
	{ "kid",         TEXT(bytes_32_text), DOC("Name of a signing key.") },
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
	/* A parameter of the route table is not described above. */
	abort();
}

static void append_path_parameters(struct arena *arena, json_t *parameters, const char *path)
{
	const char *open, *close;

	for (; (open = strchr(path, '{')) != NULL; path = close) {
		close = strchr(open, '}');
		array_put(parameters, path_parameter(arena, open + 1, (size_t)(close - open - 1)));
	}
}

/* Something that is stored. */
static bool may_change(const struct route *route)
{
	return route->method != METHOD_GET && route->access != ROUTE_STATELESS;
}

/* Honours an Idempotency-Key. */
static bool takes_key(const struct route *route)
{
	return may_change(route) && !route->is_open && !route->takes_app_token;
}

static json_t *parameters_of(struct arena *arena, const struct route *route)
{
	json_t *parameters = json_array();

	append_path_parameters(arena, parameters, route->path);
	if (route->query != NULL &&
	    json_array_extend(parameters, describe_parameters(arena, route->query)) != 0)
		abort();
	array_put(parameters, openapi_reference("parameters", "RequestId"));
	if (may_change(route) &&
	    (route->query == NULL || shape_field(route->query, "validate_only") == NULL))
		array_put(parameters, openapi_reference("parameters", "ValidateOnly"));
	if (takes_key(route))
		array_put(parameters, openapi_reference("parameters", "IdempotencyKey"));
	if (route->body != NULL)
		array_put(parameters, openapi_reference("parameters", "Prefer"));
	if (route->begins_session)
		array_put(parameters, openapi_reference("parameters", "Console"));
	if (!route->has_etag)
		return parameters;
	array_put(parameters, openapi_reference("parameters", "IfNoneMatch"));
	if (!is_reading(route))
		array_put(parameters, openapi_reference("parameters", "IfMatch"));
	return parameters;
}

/* ---- bodies ---- */

static bool requires_something(const struct route *route)
{
	if (route->body_kind == BODY_PATCH)
		return false;
	for (size_t i = 0; route->body != NULL && i < route->body->field_count; i++) {
		if ((route->body->fields[i].flags & FIELD_REQUIRED) != 0)
			return true;
	}
	return false;
}

/* null counts as {} when no member is required. */
static json_t *body_schema(struct arena *arena, const struct route *route)
{
	json_t *schema;

	if (route->body == NULL)
		return json_pack("{s:[s,s], s:s}", "type", "object", "null", "description",
				 "Ignored.");
	schema = json_incref(describe_reference(arena, route->body, form_of(route->body_kind)));
	if (requires_something(route))
		return schema;
	return json_pack("{s:[o,{s:s}]}", "anyOf", schema, "type", "null");
}

static const char *const body_docs[] = {
	[BODY_NONE] = "Not needed; any object is accepted and ignored.",
	[BODY_WHOLE] = "A member that is not supplied gets its default.",
	[BODY_PARTIAL] = "A member that is not supplied keeps what is stored; the defaults are for "
			 "what is new.",
	[BODY_PATCH] = "A JSON Merge Patch (RFC 7396), whatever the Content-Type.",
};

static json_t *body_of(struct arena *arena, const struct route *route)
{
	json_t *schema, *content;

	if (route->body_kind == BODY_IGNORED)
		return NULL;
	schema = body_schema(arena, route);
	content = json_pack("{s:{s:O}}", "application/json", "schema", schema);
	if (route->body_kind == BODY_PATCH)
		object_put(content, "application/merge-patch+json",
			   json_pack("{s:O}", "schema", schema));
	json_decref(schema);
	return json_pack("{s:s, s:b, s:o}", "description", body_docs[route->body_kind], "required",
			 requires_something(route), "content", content);
}

/* ---- answers ---- */

/* Part of a list that may be longer. */
static bool is_page(const struct route *route)
{
	return route->is_list && is_reading(route) && route->query != NULL;
}

static json_t *answer_schema(struct arena *arena, const struct route *route)
{
	json_t *item = json_incref(describe_reference(arena, route->answer, DESCRIBE_ANSWER));
	json_t *schema, *data;

	if (!route->is_list)
		return item;
	if (route->summary != NULL)
		item = json_pack("{s:[o,O]}", "anyOf", item,
				 describe_reference(arena, route->summary, DESCRIBE_ANSWER));
	schema = json_pack("{s:s, s:[s], s:{s:{s:s, s:o}}}", "type", "object", "required", "data",
			   "properties", "data", "type", "array", "items", item);
	if (!is_page(route))
		return schema;
	if (!route->drops_old) {
		/* The page after the last is null. */
		data = json_object_get(json_object_get(schema, "properties"), "data");
		object_put(data, "type", json_pack("[s,s]", "array", "null"));
		object_put(data, "description",
			   json_string("null: an empty page of a request with `start`, even an "
				       "empty one."));
	}
	array_put(json_object_get(schema, "required"), json_string("limit"));
	array_put(json_object_get(schema, "required"), json_string("last"));
	object_put(json_object_get(schema, "properties"), "limit",
		   json_pack("{s:s, s:s}", "type", "integer", "description", "The limit applied."));
	object_put(
		json_object_get(schema, "properties"), "last",
		json_pack(
			"{s:s, s:s}", "type", "string", "description",
			route->drops_old
				? "The seq of the last entry that was looked at: `after` of the "
				  "next request."
				: "The last item of this page: `start` of the next request. Empty "
				  "when the page is."));
	return schema;
}

static bool answers_nothing(const struct route *route)
{
	return route->method == METHOD_DELETE || route->begins_session;
}

static json_t *success_headers(const struct route *route)
{
	const char *names[5] = { NULL };
	size_t n = 0;

	if (route->has_etag && route->method != METHOD_DELETE)
		names[n++] = "ETag";
	if (route->body != NULL) {
		names[n++] = "X-Unknown-Fields";
		names[n++] = "Preference-Applied";
	}
	if (takes_key(route))
		names[n++] = "Idempotency-Replayed";
	return openapi_headers_of(route, names);
}

static json_t *success_of(struct arena *arena, const struct route *route)
{
	json_t *success = json_pack("{s:s, s:o}", "description",
				    answers_nothing(route) ? "Done." : "The answer.", "headers",
				    success_headers(route));
	const char *type = route->content_type;
	json_t *schema;

	if (answers_nothing(route))
		return success;
	if (route->answer != NULL)
		schema = answer_schema(arena, route);
	else
		schema = json_pack("{s:s}", "type", type != NULL ? "string" : "object");
	object_put(
		success, "content",
		json_pack("{s:{s:o}}", type != NULL ? type : "application/json", "schema", schema));
	return success;
}

static bool can_fail(const struct route *route, enum fault_kind kind)
{
	bool has_body = route->body_kind != BODY_IGNORED;
	bool has_path_parameters = strchr(route->path, '{') != NULL;

	if (kind == FAULT_INTERNAL)
		return true;
	if (route->access == ROUTE_STATELESS && route->is_open && !route->begins_session)
		return false;
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
		return has_body || is_page(route);
	case 422:
		return takes_key(route);
	case 429:
		return route->is_limited || route->too_many != NULL;
	default:
		return true;
	}
}

static const char *forbidden_doc(struct arena *arena, const struct route *route)
{
	static const char lacks_scope[] = "The caller lacks a scope.";

	if (route->scopes == 0)
		return route->forbidden;
	if (route->forbidden == NULL)
		return lacks_scope;
	return arena_text(arena, "%s %s", lacks_scope, route->forbidden);
}

static const char *own_doc(struct arena *arena, const struct route *route, enum fault_kind kind)
{
	if (kind == FAULT_FORBIDDEN)
		return forbidden_doc(arena, route);
	if (kind == FAULT_TOO_LARGE && is_page(route))
		return "The answer would be larger than 8 MB; a smaller limit helps.";
	if (kind == FAULT_TOO_LARGE && route->takes_large_body)
		return "The body is larger than 1 MiB, or the answer would be larger than 8 MB.";
	if (kind == FAULT_TOO_MANY)
		return route->too_many;
	return kind == FAULT_CONFLICT ? route->conflict : NULL;
}

static json_t *responses_of(struct arena *arena, const struct route *route)
{
	static const char *const etag[] = { "ETag", NULL };
	json_t *responses = json_object();

	object_put(responses, answers_nothing(route) ? "204" : "200", success_of(arena, route));
	if (route->has_etag && is_reading(route))
		object_put(responses, "304",
			   json_pack("{s:s, s:o}", "description", "It has not changed.", "headers",
				     openapi_headers_of(route, etag)));
	for (const enum fault_kind *kind = openapi_error_kinds; *kind != FAULT_NONE; kind++) {
		if (can_fail(route, *kind))
			object_put(responses,
				   *kind == FAULT_INTERNAL
					   ? "default"
					   : arena_text(arena, "%d", fault_status(*kind)),
				   openapi_error_of(route, *kind, own_doc(arena, route, *kind)));
	}
	return responses;
}

/* ---- operations ---- */

static void add_rules(json_t *operation, const struct route *route)
{
	const struct route_rule *rule = route->rules;

	if (route->query != NULL)
		describe_rules(operation, route->query);
	if (route->body_kind == BODY_PATCH || route->body_kind == BODY_PARTIAL)
		describe_rule(operation, "result",
			      "What comes out, of what is stored and the body, obeys all rules too "
			      "and has all required members.");
	for (; rule != NULL && rule->name != NULL; rule++)
		describe_rule(operation, rule->name, rule->doc);
}

/* The scopes are those of the caller, whichever of them it has. */
static json_t *security_of(const struct route *route)
{
	json_t *scopes, *security;

	if (route->is_open)
		return json_array();
	if (route->takes_app_token)
		return json_pack("[{s:[]}]", "app");
	scopes = scopes_list(route->scopes);
	security = json_pack("[{s:O}, {s:O}, {s:O}]", "management", scopes, "key", scopes,
			     "session", scopes);
	json_decref(scopes);
	return security;
}

static void add_operation(struct arena *arena, json_t *paths, const struct route *route)
{
	json_t *operation = json_pack("{s:s, s:s}", "operationId", route->name, "summary",
				      route->doc);
	json_t *body = body_of(arena, route);
	const char *method = text_lower(arena, slice_of(method_name(route->method))).data;

	add_rules(operation, route);
	object_put(operation, "parameters", parameters_of(arena, route));
	if (body != NULL)
		object_put(operation, "requestBody", body);
	object_put(operation, "responses", responses_of(arena, route));
	object_put(operation, "security", security_of(route));
	if (json_object_get(paths, route->path) == NULL)
		object_put(paths, route->path, json_object());
	object_put(json_object_get(paths, route->path), method, operation);
}

/* ---- the document ---- */

static json_t *schemas_of(const struct route *table)
{
	json_t *schemas = json_pack("{s:o}", "Error", openapi_error_schema());

	for (const struct route *route = table; route->path != NULL; route++) {
		if (route->is_internal)
			continue;
		if (route->body != NULL)
			describe_components(schemas, route->body, form_of(route->body_kind));
		if (route->answer != NULL)
			describe_components(schemas, route->answer, DESCRIBE_ANSWER);
		if (route->summary != NULL)
			describe_components(schemas, route->summary, DESCRIBE_ANSWER);
	}
	return schemas;
}

json_t *openapi_document(struct arena *arena, const struct route *table)
{
	json_t *paths = json_object();

	for (const struct route *route = table; route->path != NULL; route++) {
		if (!route->is_internal)
			add_operation(arena, paths, route);
	}
	return arena_json(arena,
			  json_pack("{s:s, s:o, s:[{s:s}], s:[{s:[]}], s:o, s:{s:o, s:o, s:o, s:o, "
				    "s:o}}",
				    "openapi", "3.1.0", "info", openapi_information(), "servers",
				    "url", "/", "security", "management", "paths", paths,
				    "components", "schemas", schemas_of(table), "parameters",
				    openapi_header_parameters(), "headers", openapi_headers(),
				    "responses", openapi_errors(), "securitySchemes",
				    openapi_security_schemes()));
}

bool openapi_get(struct call *call, struct fault *fault)
{
	const struct environment *environment = call->environment;

	(void)fault;
	call_etag(call, environment->document_etag);
	return call_not_modified(call, environment->document_etag) ||
	       call_answer(call, environment->document);
}
