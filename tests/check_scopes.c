/* Every scope against every route, by keys and by limited tokens: what the route table says, beside
 * the table of the interface, which is written here a second time by paths.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/jwt.h"
#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/scopes.h"
#include "accounts/token.h"
#include "directory.h"
#include "resources/misses.h"
#include "service/routes.h"
#include "service/service.h"
#include "store/memory/store_memory.h"
#include "suite.h"

/* ---- the table ---- */

/* The first row with the path or the beginning of it. reads NULL: as for the others. */
static const struct {
	const char *path;
	const char *reads, *writes; /* NULL: no scope is needed */
} areas[] = {
	{ "/v2/templates", "templates:read", "templates:write" },
	{ "/v2/rooms", "rooms:read", "rooms:write" },
	{ "/v2/room-codes", "codes:read", "codes:write" },
	{ "/v2/events", "events:read", "events:read" },
	{ "/v2/webhooks", "webhooks:write", "webhooks:write" },
	{ "/v2/backends", "backends:write", "backends:write" },
	{ "/v2/keys", "keys:write", "keys:write" },
	{ "/v2/signing-keys", "keys:write", "keys:write" },
	/* Those of its operations, of which it has none here. */
	{ "/v2/bulk", NULL, NULL },
	/* Who am I, and the end of a session. */
	{ "/v2/session", NULL, NULL },
	/* For operators, whatever the scopes. */
	{ "/v2/service/metrics", NULL, NULL },
};

/* An import needs three, and names the first that lacks. */
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

/* The scope that lacks; NULL: none. */
static const char *lacking(const struct route *route, const char *held)
{
	const char *needed;

	for (size_t i = 0; is_below(route->path, import_path) && i < 3; i++) {
		if (!includes(held, import_scopes[i]))
			return import_scopes[i];
	}
	for (int i = 0; i < ROWS(areas); i++) {
		if (!is_below(route->path, areas[i].path))
			continue;
		needed = route->method == METHOD_GET ? areas[i].reads : areas[i].writes;
		return needed == NULL || includes(held, needed) ? NULL : needed;
	}
	ck_abort_msg("%s is in no area", route->path);
	return NULL;
}

/* ---- a service ---- */

static struct environment environment;
static struct service *service;
static struct arena *arena;
static char *directory;
static struct account account;
static const char *keys[SCOPES];

/* A management token with this claim; NULL: without. */
static const char *token_with(const char *scope)
{
	const int64_t now = clock_now(&clock_system) / 1000;
	json_t *claims = arena_json(arena, json_pack("{s:s, s:s, s:i, s:I, s:s*}", "access_key",
						     account.access_key_text, "type", "management",
						     "version", 2, "exp", (json_int_t)(now + 600),
						     "anteroom_scope", scope));
	const struct slice text = jwt_signed_text(arena, SLICE("{\"alg\":\"HS256\"}"),
						  jwt_payload(arena, claims));
	unsigned char mac[DIGEST_SIZE];
	struct slice token;

	digest_hmac_sha256(slice_of(account.secrets[0].text), text, mac);
	token = jwt_token(arena, text, (struct slice){ (const char *)mac, sizeof mac });
	return arena_text(arena, "Bearer %.*s", (int)token.size, token.data);
}

static struct call ask(enum method method, const char *uri, const char *authorization,
		       const char *body)
{
	struct call call = { .arena = arena };

	call.request.method = method;
	call.request.uri = slice_of(uri);
	call.request.authorization = slice_of(authorization);
	call.request.body = slice_of(body);
	service_answer(service, &call);
	return call;
}

static const char *body_of(const struct call *call)
{
	struct buffer body = BUFFER_INITIAL(arena);

	for (size_t i = 0; i < call->answer.part_count; i++)
		buffer_append(&body, call->answer.parts[i]);
	buffer_append_byte(&body, '\0');
	return body.data;
}

static const char *header_of(const struct call *call, const char *name)
{
	return arena_copy(arena, call_find_header(call, name)).data;
}

static const char *made_key(const char *scope)
{
	struct call call =
		ask(METHOD_POST, "/v2/keys", token_with(NULL),
		    arena_text(arena, "{\"name\":\"%s\",\"scopes\":[\"%s\"]}", scope, scope));
	const char *key = strstr(body_of(&call), "\"ak_");

	ck_assert_msg(key != NULL, "%s", body_of(&call));
	store_flush(environment.store);
	return arena_text(arena, "Bearer %.*s", (int)strcspn(key + 1, "\""), key + 1);
}

static void begin(void)
{
	struct fault fault = FAULT_INITIAL;

	directory = directory_make();
	arena = arena_open();
	ck_assert(accounts_add(directory, &clock_system, "a", &account, &fault));
	environment = (struct environment){
		.clock = &clock_system,
		.store = store_memory_open(),
		.misses = misses_open(&clock_system),
		.tokens = token_memory_open(),
		.session_seconds = 60,
	};
	ck_assert(accounts_open(directory, &environment.accounts, &fault));
	service = service_open(&environment);
	for (int i = 0; i < SCOPES; i++)
		keys[i] = made_key(scope_names[i]);
}

static void end(void)
{
	service_close(service);
	accounts_close(environment.accounts);
	token_memory_close(environment.tokens);
	misses_close(environment.misses);
	store_close(environment.store);
	arena_close(arena);
	directory_remove(directory);
}

/* ---- each route ---- */

static bool has_caller(const struct route *route)
{
	return !route->is_open && !route->takes_app_token;
}

/* A path of the route, to things that are not there. */
static const char *path_of(const struct route *route)
{
	struct buffer path = BUFFER_INITIAL(arena);

	for (const char *at = route->path; *at != '\0'; at++) {
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

/* What a caller with this scope alone gets: 403 that names the one that lacks, or another answer. */
static void expect(const struct route *route, const char *scope, const char *authorization)
{
	const char *missing = lacking(route, scope);
	struct call call = ask(route->method, path_of(route), authorization, "{\"x\":1}");
	const char *body = body_of(&call);

	if (missing == NULL) {
		ck_assert_msg(strstr(body, "Insufficient scope") == NULL, "%s %s with %s: %s",
			      method_name(route->method), route->path, scope, body);
		ck_assert_int_ne(call.answer.status, 401);
		return;
	}
	ck_assert_msg(call.answer.status == 403, "%s %s with %s: %d", method_name(route->method),
		      route->path, scope, call.answer.status);
	ck_assert_str_eq(body,
			 arena_text(arena,
				    "{\"code\":403,\"message\":\"Insufficient scope\",\"details\":"
				    "[\"needs %s\"]}",
				    missing));
	ck_assert_str_eq(
		header_of(&call, "WWW-Authenticate"),
		arena_text(arena, "Bearer error=\"insufficient_scope\", scope=\"%s\"", missing));
}

START_TEST(each_scope_allows_what_it_says)
{
	const char *scope = scope_names[_i];
	const char *limited = token_with(scope);
	size_t n = 0;

	for (const struct route *route = routes; route->path != NULL; route++) {
		if (!has_caller(route))
			continue;
		expect(route, scope, keys[_i]);
		expect(route, scope, limited);
		n++;
	}
	ck_assert_uint_gt(n, 40);
}
END_TEST

START_TEST(no_scope_allows_nothing_that_needs_one)
{
	for (const struct route *route = routes; route->path != NULL; route++) {
		if (has_caller(route))
			expect(route, "none:none", token_with("none:none"));
	}
}
END_TEST

START_TEST(a_token_without_the_claim_has_all_scopes)
{
	for (const struct route *route = routes; route->path != NULL; route++) {
		struct call call;

		if (!has_caller(route))
			continue;
		call = ask(route->method, path_of(route), token_with(NULL), "{\"x\":1}");
		ck_assert_ptr_null(strstr(body_of(&call), "Insufficient scope"));
	}
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
	tcase_add_loop_test(cases, each_scope_allows_what_it_says, 0, SCOPES);
	tcase_add_test(cases, no_scope_allows_nothing_that_needs_one);
	tcase_add_test(cases, a_token_without_the_claim_has_all_scopes);
	return suite_run(suite);
}
