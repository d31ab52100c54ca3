/* The OpenAPI document beside the route table: every row of it is there with its parameters, body,
 * query, answer, refusals and named rules; every reference leads somewhere; nothing that a reader
 * needs is without a sentence. Whether the program does what it says is for tests/openapi.sh.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/scopes.h"
#include "service/openapi.h"
#include "service/routes.h"
#include "suite.h"

static struct arena *arena;
static json_t *document;

/* Once for all tests, which only read it: to make it takes longer than most of them. */
static void set_up(void)
{
	arena = arena_open();
	document = openapi_document(arena, routes);
}

static void tear_down(void)
{
	arena_close(arena);
}

/* The rows that the document speaks of. */
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

/* What a reference of this document leads to; NULL when it leads nowhere. */
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

	ck_assert_msg(operation != NULL, "%s is not described", route->name);
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

/* Whether the rule is there, and in the description too. */
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
	ck_assert_msg(json_is_object(json_object_get(parameter, "schema")), "%s: %s is anything",
		      route->name, name);
	ck_assert_msg(json_string_length(json_object_get(parameter, "description")) > 0,
		      "%s: %s has no sentence", route->name, name);
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
	for (size_t i = 0; route->query != NULL && i < route->query->field_count; i++) {
		expect_parameter(route, "query", route->query->fields[i].name);
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
	const char *form = route->body_kind == BODY_PATCH ? "Patch" : "Request";
	bool needs_something = false;

	if (route->body_kind == BODY_IGNORED) {
		ck_assert_ptr_null(body);
		return;
	}
	ck_assert_ptr_nonnull(json_object_get(media, "schema"));
	ck_assert_uint_gt(json_string_length(json_object_get(body, "description")), 0);
	ck_assert_int_eq(json_object_get(content, "application/merge-patch+json") != NULL,
			 route->body_kind == BODY_PATCH);
	if (route->body == NULL)
		return;
	ck_assert(refers_to(media, arena_text(arena, "%s%s", route->body->name, form)));
	for (size_t i = 0; i < route->body->field_count; i++)
		needs_something |= (route->body->fields[i].flags & FIELD_REQUIRED) != 0;
	ck_assert_int_eq(json_is_true(json_object_get(body, "required")),
			 needs_something && route->body_kind != BODY_PATCH);
}
END_TEST

START_TEST(every_answer_is_described)
{
	const struct route *route = described_route(_i);
	bool is_deletion = route->method == METHOD_DELETE || route->begins_session;
	const json_t *answers = json_object_get(operation_of(route), "responses");
	const json_t *answer = json_object_get(answers, is_deletion ? "204" : "200");
	const json_t *headers = json_object_get(answer, "headers");
	const json_t *media = json_object_get(json_object_get(answer, "content"),
					      route->content_type != NULL ? route->content_type
									  : "application/json");

	ck_assert_ptr_nonnull(answer);
	ck_assert_ptr_nonnull(json_object_get(headers, "X-Request-Id"));
	ck_assert_int_eq(json_object_get(headers, "ETag") != NULL, route->has_etag && !is_deletion);
	ck_assert_int_eq(json_object_get(headers, "X-Unknown-Fields") != NULL, route->body != NULL);
	ck_assert_int_eq(media != NULL, !is_deletion);
	if (route->answer == NULL)
		return;
	ck_assert(refers_to(media, route->answer->name));
	if (route->summary != NULL)
		ck_assert(refers_to(media, route->summary->name));
	ck_assert_int_eq(
		json_object_get(json_object_get(json_object_get(media, "schema"), "properties"),
				"data") != NULL,
		route->is_list);
}
END_TEST

/* The pages of the log are none of `start`: they are never null, and go on while `last` rises. */
START_TEST(pages_are_described)
{
	const struct route *route = described_route(_i);
	const json_t *answers = json_object_get(operation_of(route), "responses");
	const json_t *data, *members;
	const char *last;

	if (!route->is_list || route->query == NULL || route->method != METHOD_GET)
		return;
	members = json_object_get(answers, "200");
	members = json_object_get(json_object_get(members, "content"), "application/json");
	members = json_object_get(json_object_get(members, "schema"), "properties");
	data = json_object_get(members, "data");
	last = json_string_value(json_object_get(json_object_get(members, "last"), "description"));
	ck_assert_int_eq(json_is_array(json_object_get(data, "type")), !route->drops_old);
	ck_assert_int_eq(json_object_get(data, "description") != NULL, !route->drops_old);
	ck_assert_ptr_nonnull(strstr(last, route->drops_old ? "`after`" : "`start`"));
}
END_TEST

START_TEST(every_refusal_is_described)
{
	const struct route *route = described_route(_i);
	const json_t *answers = json_object_get(operation_of(route), "responses");
	/* A key is looked up. */
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
		  route->body_kind != BODY_IGNORED ||
			  (route->is_list && route->query != NULL && route->method == METHOD_GET) },
		{ "429", route->is_limited || route->too_many != NULL },
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

/* Who may call: nobody is asked, the bearer of a token for joining, or the holder of these
 * scopes. */
START_TEST(every_scope_is_named)
{
	const struct route *route = described_route(_i);
	const json_t *security = json_object_get(operation_of(route), "security");
	const json_t *scopes = arena_json(arena, scopes_list(route->scopes));

	if (route->is_open) {
		ck_assert_uint_eq(json_array_size(security), 0);
	} else if (route->takes_app_token) {
		ck_assert_ptr_nonnull(json_object_get(json_array_get(security, 0), "app"));
	} else {
		ck_assert(json_equal(json_object_get(json_array_get(security, 0), "management"),
				     scopes));
		ck_assert(json_equal(json_object_get(json_array_get(security, 1), "key"), scopes));
	}
}
END_TEST

START_TEST(every_rule_of_a_route_is_named)
{
	const struct route *route = described_route(_i);
	const json_t *operation = operation_of(route);
	const struct rule *rule = route->query == NULL ? NULL : route->query->rules;
	const struct route_rule *stored = route->rules;

	for (; rule != NULL && rule->check != NULL; rule++)
		ck_assert_msg(has_rule(operation, rule->name, rule->doc), "%s: %s", route->name,
			      rule->name);
	for (; stored != NULL && stored->name != NULL; stored++)
		ck_assert_msg(has_rule(operation, stored->name, stored->doc), "%s: %s", route->name,
			      stored->name);
	ck_assert_str_eq(json_string_value(json_object_get(operation, "operationId")), route->name);
	ck_assert_str_eq(json_string_value(json_object_get(operation, "summary")), route->doc);
}
END_TEST

/* ---- the shapes that bodies and answers lead to ---- */

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

/* Its component has all members and all rules. */
static void look_at_shape(const struct shape *shape, const char *suffix, size_t *rules)
{
	const json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
	const char *name = arena_text(arena, "%s%s", shape->name, suffix);
	const json_t *schema = json_object_get(schemas, name);
	const json_t *properties = json_object_get(schema, "properties");

	ck_assert_msg(schema != NULL, "%s is not described", name);
	ck_assert_uint_gt(json_string_length(json_object_get(schema, "description")), 0);
	for (const struct rule *rule = shape->rules; rule != NULL && rule->check != NULL; rule++) {
		ck_assert_msg(has_rule(schema, rule->name, rule->doc), "%s: %s", name, rule->name);
		(*rules)++;
	}
	if (shape->key_member != NULL)
		ck_assert_msg(has_rule(schema, "key", "In a map, the name is the same as its key."),
			      "%s: key", name);
	for (size_t i = 0; i < shape->field_count; i++) {
		ck_assert_msg(json_object_get(properties, shape->fields[i].name) != NULL,
			      "%s: %s is not described", name, shape->fields[i].name);
		look_at_row(&shape->fields[i], suffix, rules);
	}
}

START_TEST(every_shape_is_described_with_its_rules)
{
	size_t rules = 0;

	for (const struct route *route = routes; route->path != NULL; route++) {
		if (route->body != NULL && route->body_kind != BODY_PATCH)
			look_at_shape(route->body, "Request", &rules);
	}
	ck_assert_uint_gt(rules, 10);
}
END_TEST

/* ---- the whole ---- */

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

START_TEST(every_reference_leads_somewhere)
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

/* What a sentence says of a number is its unit too. */
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

/* Returns how many there are. */
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
	tcase_add_loop_test(rows, every_refusal_is_described, 0, count);
	tcase_add_loop_test(rows, every_scope_is_named, 0, count);
	tcase_add_loop_test(rows, every_rule_of_a_route_is_named, 0, count);
	tcase_add_test(whole, every_shape_is_described_with_its_rules);
	tcase_add_test(whole, every_reference_leads_somewhere);
	tcase_add_test(whole, every_component_is_used);
	tcase_add_test(whole, every_number_with_a_unit_names_it);
	tcase_add_test(whole, no_other_operation_is_described);
	return suite_run_in_one(suite);
}
