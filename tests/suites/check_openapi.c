/* Compares the OpenAPI document with the route table: every row is documented with its
 * parameters, body, query, response, errors and named rules; every reference can be resolved;
 * everything that a reader needs has a description. tests/scripts/openapi.sh tests whether the
 * program does what the document says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "accounts/scopes.h"
#include "rules/live_rules.h"
#include "service/openapi.h"
#include "service/routes.h"
#include "suite.h"

static struct arena *arena;
static json_t *document;

/* Runs once for all tests, which only read the document: creating it takes longer than most
 * tests. */
static void set_up(void)
{
	arena = arena_open();
	document = openapi_document(arena, routes);
}

static void tear_down(void)
{
	arena_close(arena);
}

/* Returns the number of routes in the document. */
static size_t described_routes(void)
{
	size_t count = 0;

	for (const struct route *route = routes; route->path != NULL; route++)
		count += !route->is_internal;
	return count;
}

static const struct route *described_route(int index)
{
	const struct route *route = routes;

	for (;; route++) {
		if (!route->is_internal && index-- == 0)
			return route;
	}
}

/* ---- looking things up ---- */

/* Resolves a reference within the document; NULL if there is no such part. */
static const json_t *referred(const char *reference)
{
	const json_t *at = document;
	char path[256];
	char *rest;

	ck_assert_str_eq(arena_text(arena, "%.2s", reference), "#/");
	ck_assert_uint_lt(strlen(reference), sizeof path);
	strcpy(path, reference + 2);
	for (char *step = strtok_r(path, "/", &rest); step != NULL;
	     step = strtok_r(NULL, "/", &rest))
		at = json_object_get(at, step);
	return at;
}

static const json_t *resolved(const json_t *part)
{
	const json_t *reference = json_object_get(part, "$ref");

	return reference == NULL ? part : referred(json_string_value(reference));
}

static const json_t *type_of(const json_t *schema)
{
	return json_object_get(schema, "type");
}

static const char *method_of(const struct route *route)
{
	switch (route->method) {
	case METHOD_GET:
		return "get";
	case METHOD_POST:
		return "post";
	case METHOD_PATCH:
		return "patch";
	case METHOD_DELETE:
		return "delete";
	case METHOD_HEAD:
	case METHOD_OPTIONS:
	case METHOD_OTHER:
		break;
	}
	return "none";
}

static const json_t *operation_of(const struct route *route)
{
	const json_t *paths = json_object_get(document, "paths");
	const json_t *operation = json_object_get(json_object_get(paths, route->path),
						  method_of(route));

	ck_assert_msg(operation != NULL, "%s is not documented", route->name);
	return operation;
}

static const json_t *parameter_of(const json_t *operation, const char *place, const char *name)
{
	const json_t *parameters = json_object_get(operation, "parameters");
	size_t i;
	const json_t *parameter;

	json_array_foreach(parameters, i, parameter) {
		const json_t *whole = resolved(parameter);

		if (strcmp(json_string_value(json_object_get(whole, "in")), place) == 0 &&
		    strcmp(json_string_value(json_object_get(whole, "name")), name) == 0)
			return whole;
	}
	return NULL;
}

static bool refers_to(const json_t *part, const char *component)
{
	const char *reference = arena_text(arena, "\"#/components/schemas/%s\"", component);
	char *text = json_dumps(part, JSON_COMPACT);
	bool refers = text != NULL && strstr(text, reference) != NULL;

	free(text);
	return refers;
}

/* Returns true if the rule is listed and its sentence is part of the description. */
static bool has_rule(const json_t *described, const char *name, const char *sentence)
{
	const char *prose = json_string_value(json_object_get(described, "description"));
	size_t i;
	const json_t *rule;

	json_array_foreach(json_object_get(described, "x-rules"), i, rule) {
		if (strcmp(json_string_value(json_object_get(rule, "name")), name) == 0)
			return strcmp(json_string_value(json_object_get(rule, "description")),
				      sentence) == 0 &&
			       strstr(prose, sentence) != NULL;
	}
	return false;
}

/* ---- a row of the route table ---- */

static void expect_parameter(const struct route *route, const char *place, const char *name)
{
	const json_t *parameter = parameter_of(operation_of(route), place, name);

	ck_assert_msg(parameter != NULL, "%s: no %s parameter %s", route->name, place, name);
	ck_assert_msg(json_is_object(json_object_get(parameter, "schema")), "%s: %s has no schema",
		      route->name, name);
	ck_assert_msg(json_string_length(json_object_get(parameter, "description")) > 0,
		      "%s: %s has no description", route->name, name);
	ck_assert_int_eq(json_is_true(json_object_get(parameter, "required")),
			 strcmp(place, "path") == 0);
}

START_TEST(every_parameter_is_described)
{
	const struct route *route = described_route(_i);
	const bool may_change = route->method != METHOD_GET && route->access != ROUTE_STATELESS;
	const char *open, *close;
	size_t expected = 0;

	for (const char *at = route->path; (open = strchr(at, '{')) != NULL; at = close) {
		close = strchr(open, '}');
		expect_parameter(route, "path",
				 arena_text(arena, "%.*s", (int)(close - open - 1), open + 1));
		expected++;
	}
	for (const struct field *row = NULL;
	     route->query != NULL && (row = shape_next(route->query, row)) != NULL;) {
		if ((row->flags & FIELD_UNLISTED) != 0)
			continue;
		expect_parameter(route, "query", row->name);
		expected++;
	}
	expect_parameter(route, "header", "X-Request-Id");
	expected++;
	if (route->begins_session) {
		expect_parameter(route, "header", "Anteroom-Console");
		expected++;
	}
	if (may_change) {
		expect_parameter(route, "query", "validate_only");
		expected += route->query == NULL ||
			    shape_field(route->query, "validate_only") == NULL;
	}
	if (may_change && !route->is_open && !route->takes_app_token) {
		expect_parameter(route, "header", "Idempotency-Key");
		expected++;
	}
	if (route->body != NULL) {
		expect_parameter(route, "header", "Prefer");
		expected++;
	}
	if (route->has_etag) {
		expect_parameter(route, "header", "If-None-Match");
		expected++;
	}
	if (route->has_etag && route->method != METHOD_GET) {
		expect_parameter(route, "header", "If-Match");
		expected++;
	}
	ck_assert_uint_eq(json_array_size(json_object_get(operation_of(route), "parameters")),
			  expected);
}
END_TEST

START_TEST(every_body_is_described)
{
	const struct route *route = described_route(_i);
	const json_t *body = json_object_get(operation_of(route), "requestBody");
	const json_t *content = json_object_get(body, "content");
	const json_t *media = json_object_get(content, "application/json");
	const bool is_update = route->body_kind == BODY_PARTIAL && strchr(route->path, '{') != NULL;
	const char *form = route->body_kind == BODY_PATCH || is_update ? "Patch" : "Input";
	bool needs_something = false;

	if (route->body == NULL) {
		ck_assert_ptr_null(body);
		return;
	}
	if (is_update && route->body->is_merged_too)
		form = "Update";
	ck_assert_ptr_nonnull(json_object_get(media, "schema"));
	ck_assert_uint_gt(json_string_length(json_object_get(body, "description")), 0);
	ck_assert_int_eq(json_object_get(content, "application/merge-patch+json") != NULL,
			 route->body_kind == BODY_PATCH);
	ck_assert(refers_to(media, arena_text(arena, "%s%s", route->body->name, form)));
	for (const struct field *row = NULL; (row = shape_next(route->body, row)) != NULL;)
		needs_something |= (row->flags & FIELD_REQUIRED) != 0;
	ck_assert_int_eq(json_is_true(json_object_get(body, "required")),
			 needs_something && route->body_kind != BODY_PATCH && !is_update);
}
END_TEST

static bool may_change(const struct route *route)
{
	return route->method != METHOD_GET && route->access != ROUTE_STATELESS;
}

static const json_t *schema_named(const char *name)
{
	return json_object_get(json_object_get(json_object_get(document, "components"), "schemas"),
			       name);
}

/* Returns the schema of the call's own response, without that of validate_only. */
static const json_t *own_schema(const struct route *route)
{
	const json_t *answer =
		json_object_get(json_object_get(json_object_get(operation_of(route), "responses"),
						route->creates ? "201" : "200"),
				"content");
	const json_t *media = json_object_iter_value(json_object_iter((json_t *)answer));
	const json_t *schema = resolved(json_object_get(media, "schema"));
	const json_t *choices = json_object_get(schema, "oneOf");

	return choices == NULL ? schema : resolved(json_array_get(choices, 0));
}

/* Clients are generated with a function for each. */
START_TEST(each_operation_has_a_name_of_its_own)
{
	for (const struct route *route = routes; route->path != NULL; route++) {
		for (const struct route *other = routes; other < route; other++)
			ck_assert_str_ne(other->name, route->name);
	}
}
END_TEST

/* Checks that {"valid":true} obeys one branch only, or that there are no branches: generators know
 * no keyword but `required` that tells branches apart. */
static void expect_validation(const json_t *schema)
{
	const json_t *choices = json_object_get(schema, "oneOf"), *choice;
	size_t i;

	ck_assert_ptr_null(json_object_get(schema, "anyOf"));
	json_array_foreach((json_t *)(uintptr_t)choices, i, choice)
		ck_assert(json_object_get(resolved(choice), "required") != NULL ||
			  strcmp(json_string_value(type_of(resolved(choice))), "array") == 0);
	if (choices != NULL) {
		ck_assert(refers_to(choices, "Validation"));
		return;
	}
	ck_assert_ptr_null(json_object_get(schema, "required"));
	ck_assert_ptr_nonnull(json_object_get(json_object_get(schema, "properties"), "valid"));
}

START_TEST(every_answer_is_described)
{
	const struct route *route = described_route(_i);
	bool is_deletion = route->method == METHOD_DELETE || route->begins_session;
	const json_t *answers = json_object_get(operation_of(route), "responses");
	const bool has_two = is_deletion || route->creates || route->accepts;
	const json_t *answer = json_object_get(answers, is_deletion	 ? "204"
							: route->creates ? "201"
							: route->accepts ? "202"
									 : "200");
	const json_t *headers = json_object_get(answer, "headers");
	const json_t *media = json_object_get(json_object_get(answer, "content"),
					      route->content_type != NULL ? route->content_type
									  : "application/json");

	ck_assert_ptr_nonnull(answer);
	ck_assert_ptr_nonnull(json_object_get(headers, "X-Request-Id"));
	ck_assert_int_eq(json_object_get(headers, "ETag") != NULL, route->has_etag && !is_deletion);
	ck_assert_int_eq(json_object_get(headers, "X-Unknown-Fields") != NULL, route->body != NULL);
	ck_assert_int_eq(media != NULL, !is_deletion);
	if (has_two && may_change(route))
		ck_assert(refers_to(json_object_get(answers, "200"), "Validation"));
	if (route->answer == NULL)
		return;
	if (may_change(route) && !has_two)
		expect_validation(resolved(json_object_get(media, "schema")));
	else
		ck_assert(!refers_to(resolved(json_object_get(media, "schema")), "Validation"));
	if (shape_is_bare(route->answer))
		ck_assert_str_eq(json_string_value(json_object_get(own_schema(route), "type")),
				 "array");
	ck_assert(refers_to(own_schema(route), route->answer->name) ||
		  own_schema(route) == schema_named(route->answer->name) ||
		  json_object_get(json_object_get(own_schema(route), "properties"), "valid") !=
			  NULL);
	/* The days of usage are no list: they come all at once. */
	ck_assert_int_eq(
		json_object_get(json_object_get(own_schema(route), "properties"), "data") != NULL,
		route->is_list || route->answer == &usage_shape);
}
END_TEST

/* The pages of the event log do not use `start`: `last` is never null and keeps rising. */
START_TEST(pages_are_described)
{
	const struct route *route = described_route(_i);
	const json_t *data, *members;
	const char *last;

	if (!route->is_list || route->query == NULL || route->method != METHOD_GET)
		return;
	members = json_object_get(own_schema(route), "properties");
	data = json_object_get(members, "data");
	last = json_string_value(json_object_get(json_object_get(members, "last"), "description"));
	ck_assert_int_eq(json_object_get(data, "anyOf") != NULL, !route->drops_old);
	ck_assert_ptr_nonnull(strstr(last, route->drops_old ? "`after`" : "`start`"));
}
END_TEST

START_TEST(every_error_is_described)
{
	const struct route *route = described_route(_i);
	const json_t *answers = json_object_get(operation_of(route), "responses");
	/* Checking an API key needs the store. */
	bool needs_store = route->access != ROUTE_STATELESS || !route->is_open ||
			   route->begins_session;
	const struct {
		const char *status;
		bool is_expected;
	} rows[] = {
		{ "401", !route->is_open || route->begins_session },
		{ "403", route->forbidden != NULL || route->scopes != 0 },
		{ "409", route->conflict != NULL },
		{ "412",
		  (route->has_etag && route->method != METHOD_GET) || route->has_conditions },
		{ "413",
		  route->body_kind != BODY_IGNORED || route->too_large != NULL ||
			  (route->is_list && route->query != NULL && route->method == METHOD_GET) },
		{ "501", route->settle != NULL && route->settle != route->run },
		{ "502",
		  route->settle != NULL && route->settle != route->run && !route->tests_server },
		{ "504", route->acts },
		{ "429", route->is_limited || route->too_many != NULL || !needs_store },
		{ "503", needs_store },
		{ "304", route->has_etag && route->method == METHOD_GET },
		{ "default", true },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		const json_t *answer = resolved(json_object_get(answers, rows[i].status));

		ck_assert_msg((answer != NULL) == rows[i].is_expected, "%s: %s", route->name,
			      rows[i].status);
		if (answer != NULL)
			ck_assert_uint_gt(
				json_string_length(json_object_get(answer, "description")), 0);
	}
	if (strchr(route->path, '{') != NULL)
		ck_assert_ptr_nonnull(json_object_get(answers, "404"));
}
END_TEST

/* Who may use an endpoint: anyone, the holder of a join token, or callers with these scopes. */
START_TEST(every_scope_is_named)
{
	const struct route *route = described_route(_i);
	const json_t *operation = operation_of(route);
	const json_t *security = json_object_get(operation, "security");
	const json_t *scopes = arena_json(arena, scopes_list(route->scopes));
	const char *text = json_string_value(json_object_get(operation, "description"));

	ck_assert_uint_eq(json_array_size(security), route->is_open	      ? 0
						     : route->takes_app_token ? 1
									      : 2);
	if (route->is_open || route->takes_app_token) {
		ck_assert_ptr_null(json_object_get(operation, "x-scopes"));
		return;
	}
	ck_assert_ptr_nonnull(json_object_get(json_array_get(security, 0), "bearerAuth"));
	ck_assert(json_equal(json_object_get(operation, "x-scopes"), scopes));
	for (size_t i = 0; i < json_array_size(scopes); i++)
		ck_assert_ptr_nonnull(strstr(text, json_string_value(json_array_get(scopes, i))));
}
END_TEST

START_TEST(every_rule_of_a_route_is_named)
{
	const struct route *route = described_route(_i);
	const json_t *operation = operation_of(route);
	const struct rule *rule = route->query == NULL ? NULL : route->query->rules;
	const struct route_rule *stored = route->rules;
	const char *summary;

	for (; rule != NULL && rule->check != NULL; rule++)
		ck_assert_msg(has_rule(operation, rule->name, rule->doc), "%s: %s", route->name,
			      rule->name);
	for (; stored != NULL && stored->name != NULL; stored++)
		ck_assert_msg(has_rule(operation, stored->name, stored->doc), "%s: %s", route->name,
			      stored->name);
	ck_assert_str_eq(json_string_value(json_object_get(operation, "operationId")), route->name);
	summary = json_string_value(json_object_get(operation, "summary"));
	ck_assert(strncmp(route->doc, summary, strlen(summary)) == 0);
	ck_assert_ptr_nonnull(
		strstr(json_string_value(json_object_get(operation, "description")), route->doc));
}
END_TEST

/* ---- the shapes of bodies and responses ---- */

static void look_at_shape(const struct shape *shape, const char *suffix, size_t *rules);

static void look_at_row(const struct field *row, const char *suffix, size_t *rules)
{
	if ((row->flags & FIELD_READ_ONLY) != 0)
		return;
	if (row->kind == KIND_OBJECT)
		look_at_shape(row->shape, suffix, rules);
	else if (row->kind == KIND_MAP || row->kind == KIND_LIST)
		look_at_row(row->item, suffix, rules);
}

/* Checks that the shape's component has all members and all rules. */
static void look_at_shape(const struct shape *shape, const char *suffix, size_t *rules)
{
	const json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
	const char *name = arena_text(arena, "%s%s", shape->name, suffix);
	const json_t *schema = json_object_get(schemas, name);
	const json_t *properties = json_object_get(schema, "properties");

	ck_assert_msg(schema != NULL, "%s is not documented", name);
	ck_assert_uint_gt(json_string_length(json_object_get(schema, "description")), 0);
	for (const struct rule *rule = shape->rules; rule != NULL && rule->check != NULL; rule++) {
		ck_assert_msg(has_rule(schema, rule->name, rule->doc), "%s: %s", name, rule->name);
		(*rules)++;
	}
	if (shape->key_member != NULL)
		ck_assert_msg(has_rule(schema, "key", "In a map, name equals the key."), "%s: key",
			      name);
	if (shape_is_bare(shape)) {
		ck_assert_ptr_null(properties);
		ck_assert(refers_to(
			json_object_get(schema, "items"),
			arena_text(arena, "%s%s", shape->fields[0].item->shape->name, suffix)));
		look_at_row(&shape->fields[0], suffix, rules);
		return;
	}
	for (const struct field *row = NULL; (row = shape_next(shape, row)) != NULL;) {
		const bool is_sent = (row->flags & (FIELD_READ_ONLY | FIELD_UNLISTED)) == 0;

		ck_assert_msg((json_object_get(properties, row->name) != NULL) == is_sent, "%s: %s",
			      name, row->name);
		look_at_row(row, suffix, rules);
	}
}

START_TEST(every_shape_is_described_with_its_rules)
{
	size_t rules = 0;

	for (const struct route *route = routes; route->path != NULL; route++) {
		if (route->body != NULL && route->body_kind == BODY_WHOLE)
			look_at_shape(route->body, "Input", &rules);
	}
	ck_assert_uint_gt(rules, 10);
}
END_TEST

/* ---- the whole document ---- */

static size_t follow_references(json_t *part)
{
	const json_t *reference = json_object_get(part, "$ref");
	size_t found = reference != NULL;
	json_t *below;
	size_t i;

	if (reference != NULL)
		ck_assert_msg(referred(json_string_value(reference)) != NULL, "%s",
			      json_string_value(reference));
	if (json_is_object(part)) {
		void *at = json_object_iter(part);

		for (; at != NULL; at = json_object_iter_next(part, at))
			found += follow_references(json_object_iter_value(at));
	}
	json_array_foreach(part, i, below)
		found += follow_references(below);
	return found;
}

START_TEST(every_reference_resolves)
{
	ck_assert_uint_gt(follow_references(document), 300);
}
END_TEST

START_TEST(every_component_is_used)
{
	static const char *const kinds[] = { "schemas", "parameters", "headers", "responses" };
	const json_t *components = json_object_get(document, "components");
	char *text = json_dumps(document, JSON_COMPACT);

	for (size_t i = 0; i < ROWS(kinds); i++) {
		json_t *kind = json_object_get(components, kinds[i]);

		for (void *at = json_object_iter(kind); at != NULL;
		     at = json_object_iter_next(kind, at)) {
			const char *reference = arena_text(arena, "\"#/components/%s/%s\"",
							   kinds[i], json_object_iter_key(at));

			ck_assert_msg(strstr(text, reference) != NULL, "%s is not used", reference);
		}
	}
	free(text);
}
END_TEST

/* Returns the unit that the sentence names. */
static const char *unit_in(const char *sentence)
{
	static const struct {
		const char *word, *unit;
	} rows[] = {
		{ "kbps", "kbps" },    { "ixels", "px" },	{ "Frames per", "fps" },
		{ "in seconds", "s" }, { "many seconds", "s" }, { "seconds from", "s" },
	};

	for (size_t i = 0; i < ROWS(rows); i++) {
		if (sentence != NULL && strstr(sentence, rows[i].word) != NULL)
			return rows[i].unit;
	}
	return NULL;
}

/* Returns the number of members with a unit. */
static size_t check_units(const char *name, const json_t *schema)
{
	static const char *const units[] = { "kbps", "s", "ms", "px", "fps" };
	const char *unit = json_string_value(json_object_get(schema, "x-unit"));
	const char *said = unit_in(json_string_value(json_object_get(schema, "description")));
	bool is_known = unit == NULL;

	for (size_t i = 0; i < ROWS(units) && !is_known; i++)
		is_known = strcmp(unit, units[i]) == 0;
	ck_assert_msg(is_known, "%s: unit %s", name, unit);
	if (said != NULL && json_object_get(schema, "type") != NULL)
		ck_assert_msg(unit != NULL && strcmp(unit, said) == 0, "%s: unit %s, not %s", name,
			      unit == NULL ? "none" : unit, said);
	return unit != NULL;
}

START_TEST(every_number_with_a_unit_names_it)
{
	json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
	size_t count = 0;

	for (void *at = json_object_iter(schemas); at != NULL;
	     at = json_object_iter_next(schemas, at)) {
		json_t *members = json_object_get(json_object_iter_value(at), "properties");

		for (void *i = json_object_iter(members); i != NULL;
		     i = json_object_iter_next(members, i))
			count += check_units(json_object_iter_key(i), json_object_iter_value(i));
	}
	ck_assert_uint_gt(count, 80);
}
END_TEST

START_TEST(no_other_operation_is_described)
{
	json_t *paths = json_object_get(document, "paths");
	size_t described = 0;

	for (void *at = json_object_iter(paths); at != NULL; at = json_object_iter_next(paths, at))
		described += json_object_size(json_object_iter_value(at));
	ck_assert_uint_eq(described, described_routes());
	ck_assert_str_eq(json_string_value(json_object_get(document, "openapi")), "3.1.0");
}
END_TEST

/* ---- what generators of clients need ---- */

/* Calls `look` for each object of the document, with the path of keys that leads to it. */
static void walk(const json_t *part, const char *path,
		 void (*look)(const json_t *object, const char *path))
{
	const char *key;
	json_t *below;
	size_t i;

	if (json_is_object(part))
		look(part, path);
	json_object_foreach((json_t *)(uintptr_t)part, key, below)
		walk(below, arena_text(arena, "%s/%s", path, key), look);
	json_array_foreach(part, i, below)
		walk(below, arena_text(arena, "%s/%zu", path, i), look);
}

static bool ends(const char *text, const char *ending)
{
	const size_t size = strlen(text), rest = strlen(ending);

	return size >= rest && strcasecmp(text + size - rest, ending) == 0;
}

/* Returns true if the members of the object at this path are names, not keywords. */
static bool is_names(const char *path)
{
	return ends(path, "/properties") || strstr(path, "/examples/") != NULL ||
	       strstr(path, "x-default") != NULL;
}

/* Looks for keywords that would make a client send what its user did not set, or that generators
 * interpret differently. */
static void look_for_words(const json_t *object, const char *path)
{
	const json_t *choices = json_object_get(object, "anyOf");

	if (is_names(path) ||
	    strstr(path, "/responses") == path + strlen(path) - strlen("/responses"))
		return;
	ck_assert_msg(json_object_get(object, "default") == NULL, "%s: has a default", path);
	ck_assert_msg(!json_is_array(type_of(object)), "%s: has a list of types", path);
	ck_assert_msg(json_object_get(object, "allOf") == NULL, "%s: allOf", path);
	ck_assert_msg(json_object_get(object, "readOnly") == NULL, "%s: readOnly", path);
	if (choices == NULL)
		return;
	ck_assert_uint_eq(json_array_size(choices), 2);
	ck_assert_msg(strcmp(json_string_value(type_of(json_array_get(choices, 1))), "null") == 0,
		      "%s: anyOf without null", path);
}

START_TEST(no_word_misleads_generators)
{
	walk(document, "", look_for_words);
}
END_TEST

static bool is_of_answer(const char *name)
{
	return !ends(name, "Input") && !ends(name, "Patch") && !ends(name, "Update");
}

/* Checks that objects have names, and that responses may get more members. */
static void look_for_objects(const json_t *object, const char *path)
{
	const char *type = json_string_value(type_of(object));
	const json_t *more = json_object_get(object, "additionalProperties");
	const bool is_whole = strncmp(path, "/components/schemas/", 20) == 0 &&
			      strchr(path + 20, '/') == NULL;

	if (is_names(path) || type == NULL || strcmp(type, "object") != 0)
		return;
	ck_assert_msg(is_whole || json_object_get(object, "properties") == NULL,
		      "%s: unnamed object", path);
	if (!is_whole)
		ck_assert_msg(more != NULL, "%s: object without members", path);
	else if (is_of_answer(path))
		ck_assert_msg(json_is_true(more), "%s: closed", path);
	else
		ck_assert_msg(more == NULL, "%s: %s", path, "neither open nor closed");
}

START_TEST(objects_are_named_and_responses_are_open)
{
	walk(document, "", look_for_objects);
}
END_TEST

/* Generated Java clients reject null for a required list. */
static void look_for_required_lists(const json_t *object, const char *path)
{
	const json_t *properties = json_object_get(object, "properties"), *name;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)json_object_get(object, "required"), i, name) {
		const json_t *member = json_object_get(properties, json_string_value(name));
		const json_t *kind = type_of(json_array_get(json_object_get(member, "anyOf"), 0));

		ck_assert_msg(kind == NULL || strcmp(json_string_value(kind), "array") != 0,
			      "%s/%s: required and nullable", path, json_string_value(name));
	}
}

START_TEST(no_nullable_list_is_required)
{
	walk(document, "", look_for_required_lists);
}
END_TEST

static void look_for_members(const json_t *object, const char *path)
{
	const char *key;
	json_t *member;

	if (!ends(path, "/properties") || strstr(path, "/examples/") != NULL)
		return;
	json_object_foreach((json_t *)(uintptr_t)object, key, member) {
		const char *text = json_string_value(json_object_get(member, "description"));
		const json_t *standard = json_object_get(member, "x-default");
		const json_t *inner = json_array_get(json_object_get(member, "anyOf"), 0);
		const json_t *format = json_object_get(inner != NULL ? inner : member, "format");
		const bool is_time = ends(key, "_at") || ends(key, "edAt") || ends(key, "_before");

		ck_assert_msg(key[0] != '_', "%s/%s: ambiguous in other languages", path, key);
		ck_assert_msg(text != NULL && *text != '\0', "%s/%s: no description", path, key);
		if (standard != NULL && strstr(path, "Input/properties") != NULL)
			ck_assert_msg(strstr(text, "Default: ") != NULL, "%s/%s: %s", path, key,
				      text);
		if (inner != NULL && strstr(path, "Patch/properties") != NULL)
			ck_assert_msg(strstr(text, "null ") != NULL, "%s/%s: %s", path, key, text);
		if (is_time)
			ck_assert_msg(format != NULL &&
					      strcmp(json_string_value(format), "date-time") == 0,
				      "%s/%s: no date-time format", path, key);
		/* Nobody opens meeting_url, and a masked address is none. */
		if ((strcmp(key, "url") == 0 && strstr(path, "StreamOutput") == NULL) ||
		    ends(key, "link") || (ends(key, "_url") && strcmp(key, "meeting_url") != 0))
			ck_assert_msg(format != NULL &&
					      strcmp(json_string_value(format), "uri") == 0,
				      "%s/%s: no uri format", path, key);
	}
}

START_TEST(every_member_is_described)
{
	walk(document, "", look_for_members);
}
END_TEST

#define OF_SESSION "room_id room_name session_id template_id session_started_at"
#define OF_PEER OF_SESSION " peer_id user_id user_name user_data role joined_at"

/* clang-format off */
static const struct { const char *type, *members; } event_members[] = {
	{ "session.open.success", OF_SESSION },
	{ "session.close.success", OF_SESSION " session_stopped_at session_duration" },
	{ "session.deleted", "room_id session_id" },
	{ "peer.join.success", OF_PEER " type" },
	{ "peer.leave.success", OF_PEER " type left_at duration reason cause message" },
	{ "peer.join.failure", OF_PEER " type error_message" },
	{ "role.change.success", OF_PEER " previous_role role_changed_at role_change_requested_by" },
	{ "room.end.success", OF_SESSION " peer_id user_id user_name role lock_room reason source" },
	{ "backend.down", "message" },
	{ "room.moved", "to reason" },
};
/* clang-format on */

START_TEST(the_data_of_an_event_is_described)
{
	const json_t *members = json_object_get(schema_named("EventData"), "properties");
	struct slice rest = slice_of(event_members[_i].members);

	while (rest.data != NULL) {
		const struct slice name = text_split(rest, ' ', &rest);

		ck_assert_msg(json_object_getn(members, name.data, name.size) != NULL, "%s: %.*s",
			      event_members[_i].type, (int)name.size, name.data);
	}
}
END_TEST

/* A patch says where null unsets a member; an update of single members unsets them where their row
 * says so. */
START_TEST(updates_have_schemas_of_their_own)
{
	static const char *const names[] = { "RoomPatch",     "TemplatePatch",	   "TemplateUpdate",
					     "SettingsPatch", "DestinationsPatch", "RolePatch",
					     "RoomCodePatch", "KeyPatch",	   "WebhookPatch",
					     "BackendPatch" };
	const json_t *room = json_object_get(schema_named("RoomPatch"), "properties");
	const char *key;
	json_t *member;

	for (size_t i = 0; i < ROWS(names); i++) {
		ck_assert_msg(schema_named(names[i]) != NULL, "%s", names[i]);
		ck_assert_msg(json_object_get(schema_named(names[i]), "required") == NULL, "%s",
			      names[i]);
	}
	json_object_foreach((json_t *)(uintptr_t)room, key, member)
		ck_assert_int_eq(json_object_get(member, "anyOf") != NULL,
				 strcmp(key, "opens_at") == 0 || strcmp(key, "closes_at") == 0 ||
					 strcmp(key, "title") == 0);
}
END_TEST

/* ---- names ---- */

static bool is_same_name(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_' || *a == '-' || *a == ' ')
			a++;
		while (*b == '_' || *b == '-' || *b == ' ')
			b++;
		if ((*a | 0x20) != (*b | 0x20))
			return false;
		if (*a == '\0')
			return true;
	}
}

/* The names that generators make from operations and from schemas. */
static const char *const made_of_operations[] = {
	"%s",
	"%sRequest",
	"%sRequestBody",
	"%sRequestContent",
	"%sReq",
	"%sBody",
	"%sJSONBody",
	"%sJSONRequestBody",
	"%sInput",
	"%sResult",
	"%sResponse",
	"%sResponses",
	"%sRes",
	"%sOK",
	"%sOutput",
	"%sParams",
	"%sParameters",
	"%sQuery",
	"%sQueryParams",
	"%sPathParams",
	"%sHeaders",
	"%sData",
	"%sError",
	"%sErrors",
	"%sOptions",
	"%sArgs",
	"%sVariables",
	"%s200Response",
	"%sDefault",
	"%sOperationRequest",
	"New%sRequest",
	"Parse%sResponse",
	"%sSuccess",
	"%sMutationBody",
	"%sMutationResult",
	"%sQueryResult",
	"%sDef",
	"Api%sRequest",
};
static const char *const made_of_schemas[] = {
	"New%s",  "New%sWithDefaults", "Nullable%s",   "Opt%s",	     "OptNil%s",
	"%sItem", "%sInner",	       "%sFromJSON",   "%sToJSON",   "instanceOf%s",
	"%sTest", "%sBuilder",	       "%sStatusCode", "%sWritable", "%sReadable",
};

static void expect_free(const char *name, const char *of)
{
	static const char *const kinds[] = { "schemas", "parameters", "headers", "responses",
					     "securitySchemes" };
	const json_t *components = json_object_get(document, "components");

	for (size_t i = 0; i < ROWS(kinds); i++) {
		json_t *kind = json_object_get(components, kinds[i]), *component;
		const char *key;

		json_object_foreach(kind, key, component)
			ck_assert_msg(!is_same_name(name, key), "%s of %s is also a name of the %s",
				      name, of, kinds[i]);
	}
}

/* Generated classes have one name for both. */
static void look_for_doubles(const json_t *object, const char *path)
{
	const char *name, *other;
	json_t *member;

	if (!ends(path, "/properties") || strstr(path, "/examples/") != NULL)
		return;
	json_object_foreach((json_t *)(uintptr_t)object, name, member) {
		json_object_foreach((json_t *)(uintptr_t)object, other, member)
			ck_assert_msg(name == other || !is_same_name(name, other),
				      "%s: %s and %s are one name", path, name, other);
	}
}

START_TEST(members_of_a_schema_have_different_names)
{
	walk(document, "", look_for_doubles);
}
END_TEST

/* ogen generates nothing that compiles if some of these are references and others are not. */
START_TEST(every_default_response_is_shared)
{
	const json_t *answers = json_object_get(operation_of(described_route(_i)), "responses");

	ck_assert_ptr_nonnull(json_object_get(json_object_get(answers, "default"), "$ref"));
}
END_TEST

START_TEST(names_do_not_collide)
{
	json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
	json_t *schemes = json_object_get(json_object_get(document, "components"),
					  "securitySchemes");
	json_t *schema;
	const char *name, *other;

	for (size_t i = 0; i < described_routes(); i++) {
		const char *operation = described_route((int)i)->name;

		for (size_t n = 0; n < ROWS(made_of_operations); n++) {
			const char *before = strstr(made_of_operations[n], "%s");

			expect_free(arena_text(arena, "%.*s%s%s",
					       (int)(before - made_of_operations[n]),
					       made_of_operations[n], operation, before + 2),
				    operation);
		}
	}
	json_object_foreach(schemas, name, schema) {
		ck_assert_msg(!ends(name, "Test") && strncmp(name, "New", 3) != 0, "%s", name);
		for (size_t n = 0; n < ROWS(made_of_schemas); n++) {
			const char *before = strstr(made_of_schemas[n], "%s");

			expect_free(arena_text(arena, "%.*s%s%s",
					       (int)(before - made_of_schemas[n]),
					       made_of_schemas[n], name, before + 2),
				    name);
		}
		json_object_foreach(schemes, other, schema)
			ck_assert_msg(!is_same_name(name, other), "%s is also the name of a scheme",
				      name);
		json_object_foreach(schemas, other, schema)
			ck_assert_msg(name == other || !is_same_name(name, other), "%s and %s",
				      name, other);
	}
	ck_assert_uint_eq(json_object_size(schemes), 2);
}
END_TEST

/* ---- tags, examples, links ---- */

static void look_for_examples(const json_t *object, const char *path)
{
	const char *schema =
		json_string_value(json_object_get(json_object_get(object, "schema"), "$ref"));

	if (ends(path, "/application~1json") || ends(path, "/application/json"))
		ck_assert_msg(json_object_get(object, "examples") != NULL ||
				      strstr(schema, "/Backend") != NULL,
			      "%s: no example", path);
	if (json_object_get(object, "in") != NULL && json_object_get(object, "schema") != NULL)
		ck_assert_msg(json_object_get(object, "example") != NULL, "%s: no example", path);
}

/* nginx makes the ETag of this document weak when it compresses it. */
START_TEST(etags_may_be_weak)
{
	const json_t *components = json_object_get(document, "components");
	const json_t *tag = json_object_get(json_object_get(components, "headers"), "ETag");
	const json_t *pattern = json_object_get(json_object_get(tag, "schema"), "pattern");

	ck_assert_str_eq(json_string_value(pattern), "^(W/)?\"[^\"]+\"$");
}
END_TEST

START_TEST(bodies_answers_and_parameters_have_examples)
{
	walk(document, "", look_for_examples);
}
END_TEST

START_TEST(every_operation_has_a_tag_that_is_described)
{
	const json_t *operation = operation_of(described_route(_i));
	const json_t *own = json_object_get(operation, "tags");
	bool is_known = false;
	size_t i;
	const json_t *tag;

	ck_assert_uint_eq(json_array_size(own), 1);
	json_array_foreach(json_object_get(document, "tags"), i, tag) {
		ck_assert_uint_gt(json_string_length(json_object_get(tag, "description")), 0);
		is_known |= json_equal(json_object_get(tag, "name"), json_array_get(own, 0));
	}
	ck_assert(is_known);
}
END_TEST

static bool is_operation(const char *name)
{
	for (size_t i = 0; i < described_routes(); i++) {
		if (strcmp(described_route((int)i)->name, name) == 0)
			return true;
	}
	return false;
}

/* Each link leads to an operation that takes the parameter, from a member of the response. */
START_TEST(every_link_resolves)
{
	const struct route *route = described_route(_i), *to;
	const json_t *answer = json_object_get(json_object_get(operation_of(route), "responses"),
					       "200");
	const json_t *links = json_object_get(answer, "links");
	const char *name, *parameter;
	json_t *link, *expression;

	ck_assert_int_eq(links != NULL, (strncmp(route->name, "create", 6) == 0 &&
					 strcmp(route->name, "createToken") != 0 &&
					 strcmp(route->name, "createRoomCodes") != 0) ||
						strcmp(route->name, "getRoom") == 0 ||
						strcmp(route->name, "getRoomCode") == 0 ||
						strcmp(route->name, "rotateRoomCode") == 0);
	json_object_foreach((json_t *)(uintptr_t)links, name, link) {
		const char *target = json_string_value(json_object_get(link, "operationId"));

		ck_assert(is_operation(target));
		for (to = routes; strcmp(to->name, target) != 0; to++)
			continue;
		json_object_foreach(json_object_get(link, "parameters"), parameter, expression) {
			const char *text = json_string_value(expression);

			ck_assert_ptr_nonnull(parameter_of(operation_of(to), "path", parameter));
			ck_assert(strncmp(text, "$response.body#/", 16) == 0);
			ck_assert_ptr_nonnull(json_object_get(
				json_object_get(own_schema(route), "properties"), text + 16));
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("openapi");
	TCase *rows = tcase_create("rows"), *whole = tcase_create("whole");
	int count = (int)described_routes();

	suite_add_tcase(suite, rows);
	suite_add_tcase(suite, whole);
	tcase_add_unchecked_fixture(rows, set_up, tear_down);
	tcase_add_unchecked_fixture(whole, set_up, tear_down);
	tcase_add_loop_test(rows, every_parameter_is_described, 0, count);
	tcase_add_loop_test(rows, every_body_is_described, 0, count);
	tcase_add_loop_test(rows, every_answer_is_described, 0, count);
	tcase_add_loop_test(rows, pages_are_described, 0, count);
	tcase_add_loop_test(rows, every_error_is_described, 0, count);
	tcase_add_loop_test(rows, every_default_response_is_shared, 0, count);
	tcase_add_loop_test(rows, every_scope_is_named, 0, count);
	tcase_add_loop_test(rows, every_rule_of_a_route_is_named, 0, count);
	tcase_add_loop_test(rows, every_operation_has_a_tag_that_is_described, 0, count);
	tcase_add_loop_test(rows, every_link_resolves, 0, count);
	tcase_add_test(whole, no_word_misleads_generators);
	tcase_add_test(whole, objects_are_named_and_responses_are_open);
	tcase_add_test(whole, no_nullable_list_is_required);
	tcase_add_test(whole, every_member_is_described);
	tcase_add_loop_test(whole, the_data_of_an_event_is_described, 0, ROWS(event_members));
	tcase_add_test(whole, updates_have_schemas_of_their_own);
	tcase_add_test(whole, each_operation_has_a_name_of_its_own);
	tcase_add_test(whole, members_of_a_schema_have_different_names);
	tcase_add_test(whole, names_do_not_collide);
	tcase_add_test(whole, etags_may_be_weak);
	tcase_add_test(whole, bodies_answers_and_parameters_have_examples);
	tcase_add_test(whole, every_shape_is_described_with_its_rules);
	tcase_add_test(whole, every_reference_resolves);
	tcase_add_test(whole, every_component_is_used);
	tcase_add_test(whole, every_number_with_a_unit_names_it);
	tcase_add_test(whole, no_other_operation_is_described);
	return suite_run(suite);
}
