/* See service/openapi.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "service/openapi.h"

#include <stdlib.h>

#include "schema/describe.h"

/* Memory that is gone ends the process, as everywhere. */
static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) != 0)
		abort();
}

static void append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		abort();
}

static json_t *referring(const char *kind, const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, name));
}

/* ---- what stands once and is referred to ---- */

static const struct {
	const char *key, *name, *doc;
} request_headers[] = {
	{ "IfMatch", "If-Match",
	  "Entity tags, or *: the write is refused with 412 when none of them is current." },
	{ "IfNoneMatch", "If-None-Match",
	  "Entity tags, or *: a read answers 304 when one is current, a write is refused with "
	  "412." },
	{ "Prefer", "Prefer",
	  "handling=strict (RFC 7240) makes unknown members of the body a fault." },
	{ "RequestId", "X-Request-Id",
	  "1 to 128 of A-Z a-z 0-9 . _ -: comes back in the answer and stands in the log." },
};

static const struct {
	const char *name, *doc;
} answer_headers[] = {
	{ "X-Request-Id", "The client's own, or a generated one." },
	{ "ETag", "Differs whenever the bytes shown differ." },
	{ "X-Unknown-Fields",
	  "JSON Pointers of the outermost members of the body that are not known and were "
	  "ignored, comma-separated and percent-encoded." },
	{ "Preference-Applied", "handling=strict, when it was asked for." },
	{ "WWW-Authenticate", "Bearer error=\"invalid_token\"." },
	{ "Retry-After", "Seconds." },
	{ "Allow", "The methods of the path." },
};

static const struct {
	enum fault_kind kind;
	const char *name, *doc, *header;
} errors[] = {
	{ FAULT_INVALID_BODY, "BadRequest",
	  "Malformed JSON, a rule broken, a bad query parameter. All faults of a body at once, at "
	  "most 50.",
	  "X-Unknown-Fields" },
	{ FAULT_UNAUTHORIZED, "Unauthorized", "The token is missing or not valid.",
	  "WWW-Authenticate" },
	{ FAULT_NOT_FOUND, "NotFound", "It does not exist, or it is another account's.", NULL },
	{ FAULT_PRECONDITION, "PreconditionFailed",
	  "If-Match or If-None-Match does not allow the write.", NULL },
	{ FAULT_TOO_LARGE, "PayloadTooLarge", "The body is larger than 256 KiB.", NULL },
	{ FAULT_TOO_MANY, "TooManyRequests", "Too many calls, or too many unknown codes.",
	  "Retry-After" },
	{ FAULT_UNAVAILABLE, "ServiceUnavailable",
	  "The store cannot write at the moment; nothing was changed.", "Retry-After" },
};

static json_t *error_content(void)
{
	return json_pack("{s:{s:o}}", "application/json", "schema", referring("schemas", "Error"));
}

static json_t *headers_with(const char *one, const char *other)
{
	json_t *headers = json_pack("{s:o}", "X-Request-Id", referring("headers", "X-Request-Id"));

	if (one != NULL)
		set(headers, one, referring("headers", one));
	if (other != NULL)
		set(headers, other, referring("headers", other));
	return headers;
}

static json_t *error_schema(void)
{
	return json_pack("{s:s, s:s, s:[s,s], s:{s:{s:s,s:s}, s:{s:s,s:s}, s:{s:s,s:s,s:{s:s}}}}",
			 "description", "Every error has this form.", "type", "object", "required",
			 "code", "message", "properties", "code", "type", "integer", "description",
			 "The HTTP status.", "message", "type", "string", "description",
			 "One sentence.", "details", "type", "array", "description",
			 "More to say: of a bad body one entry a fault, which begins with the JSON "
			 "Pointer of the member and a colon.",
			 "items", "type", "string");
}

static json_t *request_header_components(void)
{
	json_t *parameters = json_object();

	for (size_t i = 0; i < sizeof request_headers / sizeof request_headers[0]; i++)
		set(parameters, request_headers[i].key,
		    json_pack("{s:s, s:s, s:s, s:{s:s}}", "name", request_headers[i].name, "in",
			      "header", "description", request_headers[i].doc, "schema", "type",
			      "string"));
	return parameters;
}

static json_t *answer_header_components(void)
{
	json_t *headers = json_object();

	for (size_t i = 0; i < sizeof answer_headers / sizeof answer_headers[0]; i++)
		set(headers, answer_headers[i].name,
		    json_pack("{s:s, s:{s:s}}", "description", answer_headers[i].doc, "schema",
			      "type", "string"));
	return headers;
}

static json_t *error_components(void)
{
	json_t *responses = json_object();

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		set(responses, errors[i].name,
		    json_pack("{s:s, s:o, s:o}", "description", errors[i].doc, "headers",
			      headers_with(errors[i].header, NULL), "content", error_content()));
	return responses;
}

/* ---- one operation ---- */

static bool has_checked_body(const struct route *route)
{
	return route->body != NULL;
}

static bool is_reading(const struct route *route)
{
	return route->method == METHOD_GET;
}

static enum describe_form form_of(enum route_body kind)
{
	return kind == BODY_PATCH ? DESCRIBE_PATCH : DESCRIBE_REQUEST;
}

static void append_path_parameters(json_t *parameters, const char *path)
{
	const char *open, *close;

	for (; (open = strchr(path, '{')) != NULL; path = close) {
		close = strchr(open, '}');
		append(parameters, json_pack("{s:s%, s:s, s:b, s:{s:s}}", "name", open + 1,
					     (size_t)(close - open - 1), "in", "path", "required",
					     1, "schema", "type", "string"));
	}
}

static json_t *parameters_of(struct arena *arena, const struct route *route)
{
	json_t *parameters = json_array();

	append_path_parameters(parameters, route->path);
	if (route->query != NULL &&
	    json_array_extend(parameters, describe_parameters(arena, route->query)) != 0)
		abort();
	append(parameters, referring("parameters", "RequestId"));
	if (has_checked_body(route))
		append(parameters, referring("parameters", "Prefer"));
	if (!route->has_etag)
		return parameters;
	append(parameters, referring("parameters", "IfNoneMatch"));
	if (!is_reading(route))
		append(parameters, referring("parameters", "IfMatch"));
	return parameters;
}

static json_t *body_of(struct arena *arena, const struct route *route)
{
	json_t *schema;

	if (route->body_kind == BODY_IGNORED)
		return NULL;
	if (route->body == NULL)
		schema = json_pack("{s:s, s:s}", "type", "object", "description",
				   "Ignored; may be left out.");
	else
		schema = json_incref(
			describe_reference(arena, route->body, form_of(route->body_kind)));
	return json_pack("{s:b, s:{s:{s:o}}}", "required", 0, "content",
			 route->body_kind == BODY_PATCH ? "application/merge-patch+json"
							: "application/json",
			 "schema", schema);
}

static json_t *answer_schema(struct arena *arena, const struct route *route)
{
	json_t *item = json_incref(describe_reference(arena, route->answer, DESCRIBE_ANSWER));
	json_t *schema;

	if (!route->is_list)
		return item;
	schema = json_pack("{s:s, s:[s], s:{s:{s:s, s:o}}}", "type", "object", "required", "data",
			   "properties", "data", "type", "array", "items", item);
	if (route->query == NULL)
		return schema;
	append(json_object_get(schema, "required"), json_string("limit"));
	append(json_object_get(schema, "required"), json_string("last"));
	set(json_object_get(schema, "properties"), "limit",
	    json_pack("{s:s, s:s}", "type", "integer", "description", "The limit applied."));
	set(json_object_get(schema, "properties"), "last",
	    json_pack("{s:s, s:s}", "type", "string", "description",
		      "The last item of this page: `start` of the next request. Empty when the "
		      "page is."));
	return schema;
}

static json_t *success_of(struct arena *arena, const struct route *route)
{
	const char *etag = route->has_etag && route->method != METHOD_DELETE ? "ETag" : NULL;
	const char *unknown = has_checked_body(route) ? "X-Unknown-Fields" : NULL;
	json_t *success = json_pack("{s:s, s:o}", "description",
				    route->method == METHOD_DELETE ? "Done." : "The answer.",
				    "headers", headers_with(etag, unknown));
	json_t *schema;

	if (route->method == METHOD_DELETE)
		return success;
	schema = route->answer != NULL ? answer_schema(arena, route)
				       : json_pack("{s:s}", "type", "object");
	set(success, "content", json_pack("{s:{s:o}}", "application/json", "schema", schema));
	if (has_checked_body(route))
		set(json_object_get(success, "headers"), "Preference-Applied",
		    referring("headers", "Preference-Applied"));
	return success;
}

static bool can_fail(const struct route *route, enum fault_kind kind)
{
	bool has_body = route->body_kind != BODY_IGNORED;
	bool names_something = strchr(route->path, '{') != NULL || route->is_shared ||
			       route->body_kind == BODY_WHOLE;

	if (route->access == ROUTE_STATELESS)
		return false;
	switch (fault_status(kind)) {
	case 400:
		return has_body || route->query != NULL || names_something;
	case 401:
		return !route->is_open;
	case 404:
		return names_something;
	case 412:
		return route->has_etag && !is_reading(route);
	case 413:
		return has_body;
	case 429:
		return route->is_shared;
	default:
		return true;
	}
}

static const char *status_text(struct arena *arena, enum fault_kind kind)
{
	return arena_text(arena, "%d", fault_status(kind));
}

static json_t *own_error(const char *doc)
{
	return json_pack("{s:s, s:o, s:o}", "description", doc, "headers", headers_with(NULL, NULL),
			 "content", error_content());
}

static json_t *responses_of(struct arena *arena, const struct route *route)
{
	json_t *responses = json_object();

	set(responses, route->method == METHOD_DELETE ? "204" : "200", success_of(arena, route));
	if (route->has_etag && is_reading(route))
		set(responses, "304",
		    json_pack("{s:s, s:o}", "description", "It has not changed.", "headers",
			      headers_with("ETag", NULL)));
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		if (can_fail(route, errors[i].kind))
			set(responses, status_text(arena, errors[i].kind),
			    referring("responses", errors[i].name));
	}
	if (route->forbidden != NULL)
		set(responses, status_text(arena, FAULT_FORBIDDEN), own_error(route->forbidden));
	if (route->conflict != NULL)
		set(responses, status_text(arena, FAULT_CONFLICT), own_error(route->conflict));
	return responses;
}

static const char *method_name(enum method method)
{
	static const char *const names[] = {
		[METHOD_GET] = "get",	  [METHOD_HEAD] = "head",     [METHOD_POST] = "post",
		[METHOD_PATCH] = "patch", [METHOD_DELETE] = "delete",
	};

	return names[method];
}

static void add_operation(struct arena *arena, json_t *paths, const struct route *route)
{
	json_t *operation = json_pack("{s:s, s:s, s:o}", "operationId", route->name, "summary",
				      route->doc, "parameters", parameters_of(arena, route));
	json_t *body = body_of(arena, route);

	if (body != NULL)
		set(operation, "requestBody", body);
	set(operation, "responses", responses_of(arena, route));
	if (route->is_open)
		set(operation, "security", json_array());
	if (json_object_get(paths, route->path) == NULL)
		set(paths, route->path, json_object());
	set(json_object_get(paths, route->path), method_name(route->method), operation);
}

/* ---- the document ---- */

static json_t *schemas_of(const struct route *table)
{
	json_t *schemas = json_pack("{s:o}", "Error", error_schema());

	for (const struct route *route = table; route->path != NULL; route++) {
		if (route->body != NULL)
			describe_components(schemas, route->body, form_of(route->body_kind));
		if (route->answer != NULL)
			describe_components(schemas, route->answer, DESCRIBE_ANSWER);
	}
	return schemas;
}

static json_t *information(void)
{
	return json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "title", "Anteroom", "version",
			 PACKAGE_VERSION, "description",
			 "Templates, rooms and room codes in front of the media servers of a "
			 "real-time conferencing backend.",
			 "license", "name", "GPL-3.0-or-later", "identifier", "GPL-3.0-or-later");
}

json_t *openapi_document(struct arena *arena, const struct route *table)
{
	json_t *paths = json_object();

	for (const struct route *route = table; route->path != NULL; route++)
		add_operation(arena, paths, route);
	return arena_json(
		arena, json_pack("{s:s, s:o, s:[{s:s}], s:[{s:[]}], s:o, s:{s:o, s:o, s:o, s:o, "
				 "s:{s:{s:s, s:s, s:s}}}}",
				 "openapi", "3.1.0", "info", information(), "servers", "url", "/",
				 "security", "management", "paths", paths, "components", "schemas",
				 schemas_of(table), "parameters", request_header_components(),
				 "headers", answer_header_components(), "responses",
				 error_components(), "securitySchemes", "management", "type",
				 "http", "scheme", "bearer", "bearerFormat", "JWT"));
}

bool openapi_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, call->environment->document);
}
