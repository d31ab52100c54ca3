/* See hooks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/text.h"
#include "hooks.h"
#include "records/kinds.h"
#include "rules/webhook_rules.h"
#include "scratch.h"
#include "suite.h"

#define WAIT_MOST 30000

/* ---- the service ---- */

struct world stand;
static struct lease *lease;
struct schedule schedule;

void move_clock(int64_t milliseconds)
{
	world_move(&stand, milliseconds);
}

static void open_dispatcher(struct world *world)
{
	lease = lease_open(world->environment.store, world->environment.clock);
	world->environment.dispatcher = dispatcher_open(&world->environment, lease, world->sender,
							&schedule);
}

static void close_dispatcher(struct world *world)
{
	dispatcher_close(world->environment.dispatcher);
	lease_close(lease);
}

void set_up(void)
{
	static const struct world_options options = {
		.store = WORLD_GDBM,
		.environment = { .log_keep = 90 * 24 * HOUR, .allows_http = true },
		/* A request that hangs does so for longer than a test waits. */
		.sender = { .purpose = &sender_of_webhooks,
			    .allows_http = true,
			    .allows_private = true,
			    .patience = 2 * WAIT_MOST },
		.parts_open = open_dispatcher,
		.parts_close = close_dispatcher,
	};

	schedule = schedule_usual;
	world_open(&stand, &options);
}

void tear_down(void)
{
	world_close(&stand);
}

/* ---- requests ---- */

const char *ask(int status, enum method method, const char *path, const char *body)
{
	return world_expect(&stand, status, method, path, body);
}

json_t *parsed(const char *text)
{
	return world_json(&stand, text);
}

json_t *ask_json(int status, enum method method, const char *path, const char *body)
{
	return parsed(ask(status, method, path, body));
}

const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

const char *path_of(const json_t *webhook, const char *more)
{
	return arena_text(stand.arena, "/v2/webhooks/%s%s", text_at(webhook, "id"), more);
}

const char *url_of(const char *path)
{
	return arena_text(stand.arena, "http://127.0.0.1:%u%s", receiver_port(stand.receiver),
			  path);
}

json_t *make(const char *path, const char *more)
{
	return ask_json(200, METHOD_POST, "/v2/webhooks",
			arena_text(stand.arena, "{\"url\":\"%s\"%s}", url_of(path), more));
}

void make_rooms(unsigned n)
{
	static unsigned made;

	while (n-- > 0)
		ask(200, METHOD_POST, "/v2/rooms",
		    arena_text(stand.arena, "{\"name\":\"room-%u\"}", made++));
}

void make_template(void)
{
	ask(200, METHOD_POST, "/v2/templates", "{\"name\":\"t\",\"default\":true}");
}

bool wait_until(bool (*holds)(const void *), const void *context)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;

	while (!holds(context)) {
		if (clock_monotonic() > until)
			return false;
		(void)poll(NULL, 0, 10);
	}
	return true;
}

const json_t *deliveries(const json_t *webhook, const char *state)
{
	const char *path = path_of(webhook, "/deliveries?limit=100&state=");

	return json_object_get(
		ask_json(200, METHOD_GET, arena_text(stand.arena, "%s%s", path, state), NULL),
		"data");
}

struct expected_deliveries {
	const json_t *webhook;
	const char *state;
	size_t n;
};

static bool are_there(const void *context)
{
	const struct expected_deliveries *expected = context;

	return json_array_size(deliveries(expected->webhook, expected->state)) == expected->n;
}

void expect_deliveries(const json_t *webhook, const char *state, size_t n)
{
	const struct expected_deliveries expected = { webhook, state, n };

	ck_assert_msg(wait_until(are_there, &expected), "%zu of %s: %s", n, state,
		      ask(200, METHOD_GET, path_of(webhook, "/deliveries?limit=100"), NULL));
}

static bool all_are_delivered(const void *context)
{
	struct dispatcher_figures figures;

	dispatcher_figures(stand.environment.dispatcher, &figures);
	return figures.delivered >= *(const uint64_t *)context;
}

void expect_delivered(uint64_t n)
{
	ck_assert(wait_until(all_are_delivered, &n));
}

static bool all_have_ended(const void *context)
{
	struct dispatcher_figures figures;

	dispatcher_figures(stand.environment.dispatcher, &figures);
	return figures.delivered + figures.attempts_failed >= *(const uint64_t *)context;
}

void expect_ended(uint64_t n)
{
	ck_assert(wait_until(all_have_ended, &n));
}

bool is_signed(const struct received *received, const char *signature, const char *secret)
{
	char timestamp[32];
	unsigned char mac[DIGEST_SIZE];
	struct slice key, text;

	ck_assert(received_header(received, "webhook-timestamp", timestamp, sizeof timestamp));
	ck_assert(webhook_secret_bytes(stand.arena, slice_of(secret), &key));
	text = slice_of(
		arena_text(stand.arena, "%s.%s.%s", received->id, timestamp, received->body));
	digest_hmac_sha256(key, text, mac);
	text = text_base64(stand.arena, (struct slice){ (const char *)mac, sizeof mac });
	return strncmp(signature, "v1,", 3) == 0 && strlen(signature) == 3 + text.size &&
	       memcmp(signature + 3, text.data, text.size) == 0;
}

bool is_disabled(const void *context)
{
	const json_t *webhook = ask_json(200, METHOD_GET, path_of((const json_t *)context, ""),
					 NULL);

	return json_is_false(json_object_get(webhook, "enabled"));
}

void point_to(const json_t *webhook, const char *path)
{
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of(path)));
}

void use_account(const char *name)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(accounts_add(stand.directory, &clock_system, name, &stand.account, &fault));
}

void expect_all_rooms(size_t n)
{
	size_t different = 0;

	for (size_t i = 0; i < receiver_count(stand.receiver); i++) {
		const char *id = receiver_request(stand.receiver, i)->id;
		size_t first = 0;

		while (strcmp(receiver_request(stand.receiver, first)->id, id) != 0)
			first++;
		different += first == i;
	}
	ck_assert_uint_eq(different, n);
}
