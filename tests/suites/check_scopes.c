/* Every scope against every operation of the OpenAPI document, with API keys, limited tokens and
 * sessions. Expectations come from the document and from the table of scopes, which is repeated
 * here by path.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/jwt.h"
#include "base/text.h"
#include "accounts/scopes.h"
#include "fast_disk.h"
#include "service/routes.h"
#include "suite.h"
#include "world.h"

/* ---- the table ---- */

/* The first row whose path is the path of the call, or a prefix of it, applies. */
static const struct {
	const char *path;
	const char *reads, *writes; /* NULL if no scope is needed */
} areas[] = {
	{ "/v2/templates", "templates:read", "templates:write" },
	{ "/v2/template-summaries", "templates:read", NULL },
	{ "/v2/rooms", "rooms:read", "rooms:write" },
	{ "/v2/room-summaries", "rooms:read", NULL },
	{ "/v2/room-codes", "codes:read", "codes:write" },
	{ "/v2/events", "events:read", "events:read" },
	{ "/v2/webhooks", "webhooks:write", "webhooks:write" },
	{ "/v2/backends", "backends:write", "backends:write" },
	{ "/v2/keys", "keys:write", "keys:write" },
	{ "/v2/signing-keys", "keys:write", "keys:write" },
	{ "/v2/active-rooms/{room_id}/tickets", "tickets:write", "tickets:write" },
	{ "/v2/active-rooms/{room_id}/door", "tickets:write", "tickets:write" },
	{ "/v2/active-rooms", "live:read", "live:write" },
	{ "/v2/sessions", "sessions:read", "sessions:write" },
	{ "/v2/usage", "sessions:read", NULL },
	{ "/v2/bans", "bans:read", "bans:write" },
	{ "/v2/recordings", "recordings:read", "recordings:write" },
	{ "/v2/recording-assets", "recordings:read", "recordings:write" },
	{ "/v2/recorders", "recordings:read", NULL },
	{ "/v2/live-streams", "recordings:read", "recordings:write" },
	{ "/v2/external-streams", "recordings:read", "recordings:write" },
	{ "/v2/analytics", "events:read", NULL },
	/* Requires the scopes of its operations; here it has none. */
	{ "/v2/bulk", NULL, NULL },
	/* Shows the caller, and ends a session. */
	{ "/v2/session", NULL, NULL },
	/* Only operators, whatever their scopes. */
	{ "/v2/service/metrics", NULL, NULL },
	{ "/v2/service/history", NULL, NULL },
};

/* An import needs three scopes, and names the first one missing. */
static const char import_path[] = "/v2/import";
static const char *const import_scopes[] = { "templates:write", "rooms:write", "codes:write" };

static bool includes(const char *held, const char *needed)
{
	const size_t area = strcspn(needed, ":");

	if (strcmp(held, needed) == 0)
		return true;
	if (strcmp(held, "webhooks:write") == 0 && strcmp(needed, "events:read") == 0)
		return true;
	return strncmp(held, needed, area + 1) == 0 && strcmp(held + area, ":write") == 0 &&
	       strcmp(needed + area, ":read") == 0;
}

static bool is_below(const char *path, const char *area)
{
	const size_t size = strlen(area);

	return strncmp(path, area, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

/* Returns the missing scope, or NULL. */
static const char *lacking(enum method method, const char *path, const char *held)
{
	const char *needed;

	for (size_t i = 0; is_below(path, import_path) && i < 3; i++) {
		if (!includes(held, import_scopes[i]))
			return import_scopes[i];
	}
	for (int i = 0; i < ROWS(areas); i++) {
		if (!is_below(path, areas[i].path))
			continue;
		needed = method == METHOD_GET ? areas[i].reads : areas[i].writes;
		return needed == NULL || includes(held, needed) ? NULL : needed;
	}
	ck_abort_msg("no row for %s", path);
	return NULL;
}

/* ---- a service ---- */

static struct world world;
static const char *keys[SCOPES];

/* Returns a management token with this scope claim, or without the claim if NULL. */
static const char *token_with(const char *scope)
{
	const int64_t now = clock_now(&clock_system) / 1000;
	json_t *claims = arena_json(world.arena,
				    json_pack("{s:s, s:s, s:i, s:I, s:s*}", "access_key",
					      world.account.access_key_text, "type", "management",
					      "version", 2, "exp", (json_int_t)(now + 600),
					      "anteroom_scope", scope));
	struct buffer payload = BUFFER_INITIAL(world.arena);
	unsigned char mac[DIGEST_SIZE];
	struct slice text, token;

	buffer_append_json(&payload, claims);
	text = jwt_signed_text(world.arena, SLICE("{\"alg\":\"HS256\"}"), buffer_slice(&payload));
	digest_hmac_sha256(slice_of(world.account.secrets[0].text), text, mac);
	token = jwt_token(world.arena, text, (struct slice){ (const char *)mac, sizeof mac });
	return arena_text(world.arena, "Bearer %.*s", (int)token.size, token.data);
}

/* A caller: a bearer token, or the cookie of a session. */
struct caller {
	const char *authorization, *cookie;
};

static struct call ask(enum method method, const char *uri, struct caller caller, const char *body)
{
	struct request request = world_request(&world, world.arena, NULL, method, uri, body);

	if (caller.authorization != NULL)
		request.authorization = slice_of(caller.authorization);
	if (caller.cookie != NULL)
		request.cookie = slice_of(caller.cookie);
	request.console = SLICE("1");
	return world_call(&world, &request);
}

static const char *body_of(const struct call *call)
{
	return world_body(world.arena, call);
}

static const char *header_of(const struct call *call, const char *name)
{
	return arena_copy(world.arena, call_find_header(call, name)).data;
}

static const char *made_key(const char *scope)
{
	struct call call =
		ask(METHOD_POST, "/v2/keys", (struct caller){ token_with(NULL), NULL },
		    arena_text(world.arena, "{\"name\":\"%s\",\"scopes\":[\"%s\"]}", scope, scope));
	const char *key = strstr(body_of(&call), "\"ak_");

	ck_assert_msg(key != NULL, "%s", body_of(&call));
	return arena_text(world.arena, "Bearer %.*s", (int)strcspn(key + 1, "\""), key + 1);
}

/* Returns the cookie of a session started with this bearer token. */
static const char *session_of(const char *authorization)
{
	struct call call = ask(
		METHOD_POST, "/v2/session", (struct caller){ NULL, NULL },
		arena_text(world.arena, "{\"token\":\"%s\"}", authorization + strlen("Bearer ")));
	const char *cookie;

	ck_assert_int_eq(call.answer.status, 204);
	cookie = header_of(&call, "Set-Cookie");
	return arena_text(world.arena, "%.*s", (int)strcspn(cookie, ";"), cookie);
}

static void begin(void)
{
	world_open(&world, &(const struct world_options){ .environment.session_seconds = 60 });
	for (int i = 0; i < SCOPES; i++)
		keys[i] = made_key(scope_names[i]);
}

static void end(void)
{
	world_close(&world);
}

/* ---- each call ---- */

/* An operation of the document. */
struct operation {
	enum method method;
	const char *path;
	const json_t *scopes; /* scopes a caller needs; NULL if it is open or takes a join token */
	const json_t *security;
};

typedef void visit_operation(const struct operation *operation, const void *context);

static json_t *document(void)
{
	struct call call = ask(METHOD_GET, "/v2/openapi.json", (struct caller){ NULL, NULL }, "");

	ck_assert_int_eq(call.answer.status, 200);
	return arena_json(world.arena, json_loads(body_of(&call), 0, NULL));
}

/* Returns the number of operations. */
static size_t each_operation(visit_operation *visit, const void *context)
{
	json_t *paths = json_object_get(document(), "paths"), *methods, *described;
	const char *path, *name;
	size_t n = 0;

	json_object_foreach(paths, path, methods) {
		json_object_foreach(methods, name, described) {
			struct operation operation = {
				.path = path,
				.scopes = json_object_get(described, "x-scopes"),
				.security = json_object_get(described, "security"),
			};
			struct buffer upper = BUFFER_INITIAL(world.arena);

			for (const char *at = name; *at != '\0'; at++)
				buffer_append_byte(&upper, (char)(*at - 'a' + 'A'));
			operation.method = method_named(buffer_slice(&upper));
			ck_assert_msg(operation.method != METHOD_OTHER, "%s of %s", name, path);
			visit(&operation, context);
			n++;
		}
	}
	return n;
}

/* Returns true if the document admits callers with this scheme. */
static bool admits(const struct operation *operation, const char *scheme)
{
	bool is_admitted = false;

	for (size_t i = 0; !is_admitted && i < json_array_size(operation->security); i++)
		is_admitted = json_object_get(json_array_get(operation->security, i), scheme) !=
			      NULL;
	return is_admitted;
}

/* Returns a path of the operation, for objects that do not exist. */
static const char *path_of(const char *pattern)
{
	struct buffer path = BUFFER_INITIAL(world.arena);

	for (const char *at = pattern; *at != '\0'; at++) {
		if (*at != '{') {
			buffer_append_byte(&path, *at);
			continue;
		}
		buffer_append_text(&path, "ffffffffffffffffffffffff");
		at = strchr(at, '}');
	}
	buffer_append_byte(&path, '\0');
	return path.data;
}

/* Expects a response that names the missing scope or, if no scope is missing, any other
 * response. */
static void expect(const struct operation *operation, const char *scope, const char *missing,
		   struct caller caller)
{
	struct call call = ask(operation->method, path_of(operation->path), caller, "{\"x\":1}");
	const char *body = body_of(&call);

	if (missing == NULL) {
		ck_assert_msg(strstr(body, "Insufficient scope") == NULL, "%s %s with %s: %s",
			      method_name(operation->method), operation->path, scope, body);
		ck_assert_int_ne(call.answer.status, 401);
		ck_assert_int_ne(call.answer.status, 405);
		return;
	}
	ck_assert_msg(call.answer.status == 403, "%s %s with %s: %d",
		      method_name(operation->method), operation->path, scope, call.answer.status);
	ck_assert_str_eq(body,
			 arena_text(world.arena,
				    "{\"code\":403,\"message\":\"Insufficient scope\",\"details\":"
				    "[\"needs %s\"]}",
				    missing));
	ck_assert_str_eq(header_of(&call, "WWW-Authenticate"),
			 arena_text(world.arena,
				    "Bearer error=\"insufficient_scope\", scope=\"%s\"", missing));
}

/* Expects the document to require what the table requires. */
static void expect_said(const struct operation *operation, const char *scope)
{
	const char *missing = NULL;
	const json_t *needed;
	size_t at;

	ck_assert_msg(admits(operation, "bearerAuth") && admits(operation, "sessionCookie"), "%s",
		      operation->path);
	json_array_foreach(operation->scopes, at, needed) {
		if (missing == NULL && !includes(scope, json_string_value(needed)))
			missing = json_string_value(needed);
	}
	ck_assert_pstr_eq(missing, lacking(operation->method, operation->path, scope));
}

struct asking {
	const char *scope;
	struct caller callers[3];
	size_t count;
};

static void ask_operation(const struct operation *operation, const void *context)
{
	const struct asking *asking = context;
	const char *missing;

	/* An operation without token and API key requires no scope. */
	if (operation->scopes == NULL)
		return;
	expect_said(operation, asking->scope);
	missing = lacking(operation->method, operation->path, asking->scope);
	for (size_t i = 0; i < asking->count; i++)
		expect(operation, asking->scope, missing, asking->callers[i]);
}

START_TEST(each_scope_allows_exactly_its_operations)
{
	const char *scope = scope_names[_i], *limited = token_with(scope);
	const struct asking asking = {
		.scope = scope,
		.callers = { { keys[_i], NULL },
			     { limited, NULL },
			     { NULL, session_of(keys[_i]) } },
		.count = 3,
	};

	ck_assert_uint_gt(each_operation(ask_operation, &asking), 60);
}
END_TEST

START_TEST(no_scopes_allow_only_open_operations)
{
	const char *limited = token_with("none:none");
	const struct asking asking = {
		.scope = "none:none",
		.callers = { { limited, NULL }, { NULL, session_of(limited) } },
		.count = 2,
	};

	(void)each_operation(ask_operation, &asking);
}
END_TEST

static void ask_with_all(const struct operation *operation, const void *context)
{
	const struct caller *caller = context;
	struct call call;

	if (operation->scopes == NULL)
		return;
	call = ask(operation->method, path_of(operation->path), *caller, "{\"x\":1}");
	ck_assert_ptr_null(strstr(body_of(&call), "Insufficient scope"));
}

START_TEST(a_token_without_the_claim_has_all_scopes)
{
	const struct caller caller = { token_with(NULL), NULL };

	(void)each_operation(ask_with_all, &caller);
}
END_TEST

/* Finds the route of the operation and compares its authentication. */
static void find_route(const struct operation *operation, const void *context)
{
	const struct route *route = routes;

	(void)context;
	while (route->path != NULL &&
	       (route->method != operation->method || strcmp(route->path, operation->path) != 0))
		route++;
	ck_assert_msg(route->path != NULL, "%s", operation->path);
	ck_assert_int_eq(operation->scopes != NULL, !route->is_open && !route->takes_app_token);
	ck_assert_int_eq(admits(operation, "sessionCookie"), operation->scopes != NULL);
	ck_assert_int_eq(admits(operation, "bearerAuth"),
			 operation->scopes != NULL || route->takes_app_token);
}

START_TEST(the_document_has_every_route)
{
	size_t n = 0;

	/* The other routes are for operators and media servers and not part of the interface. */
	for (const struct route *route = routes; route->path != NULL; route++)
		n += is_below(route->path, "/v2") && !route->is_internal;
	ck_assert_uint_eq(each_operation(find_route, NULL), n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scopes");
	TCase *cases = tcase_create("scopes");

	json_object_seed(0);
	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_loop_test(cases, each_scope_allows_exactly_its_operations, 0, SCOPES);
	tcase_add_test(cases, no_scopes_allow_only_open_operations);
	tcase_add_test(cases, a_token_without_the_claim_has_all_scopes);
	tcase_add_test(cases, the_document_has_every_route);
	fast_disk();
	return suite_run(suite);
}
