/* Webhooks: the endpoints, and what a receiver gets. The service runs in this process, with a
 * durable store and a clock that the tests move; the sender is the program (named by $ANTEROOM,
 * else ./anteroom).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/text.h"
#include "fast_disk.h"
#include "records/kinds.h"
#include "resources/joining/misses.h"
#include "rules/webhook_rules.h"
#include "scratch.h"
#include "background/dispatcher.h"
#include "store_failing.h"
#include "suite.h"
#include "world.h"

#define WAIT_MOST 30000
#define MINUTE ((int64_t)60 * 1000)
#define HOUR (60 * MINUTE)
/* Maximum number of simultaneous deliveries of a webhook. */
#define AT_ONCE 4

/* ---- the service ---- */

static struct world stand;
static struct lease *lease;
static struct schedule schedule;

static void move_clock(int64_t milliseconds)
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

static void set_up(void)
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

static void tear_down(void)
{
	world_close(&stand);
}

/* ---- requests ---- */

static const char *ask(int status, enum method method, const char *path, const char *body)
{
	return world_expect(&stand, status, method, path, body);
}

static json_t *parsed(const char *text)
{
	return world_json(&stand, text);
}

static json_t *ask_json(int status, enum method method, const char *path, const char *body)
{
	return parsed(ask(status, method, path, body));
}

static const char *text_at(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static const char *path_of(const json_t *webhook, const char *more)
{
	return arena_text(stand.arena, "/v2/webhooks/%s%s", text_at(webhook, "id"), more);
}

static const char *url_of(const char *path)
{
	return arena_text(stand.arena, "http://127.0.0.1:%u%s", receiver_port(stand.receiver),
			  path);
}

/* Creates a webhook for this path of the receiver; more: additional members. */
static json_t *make(const char *path, const char *more)
{
	return ask_json(200, METHOD_POST, "/v2/webhooks",
			arena_text(stand.arena, "{\"url\":\"%s\"%s}", url_of(path), more));
}

static void make_rooms(unsigned n)
{
	static unsigned made;

	while (n-- > 0)
		ask(200, METHOD_POST, "/v2/rooms",
		    arena_text(stand.arena, "{\"name\":\"room-%u\"}", made++));
}

/* The webhook gets only events of rooms; a template for rooms exists. */
#define ROOMS ",\"events\":[\"room.*\"]"

static void make_template(void)
{
	ask(200, METHOD_POST, "/v2/templates", "{\"name\":\"t\",\"default\":true}");
}

static bool wait_until(bool (*holds)(const void *), const void *context)
{
	const int64_t until = clock_monotonic() + WAIT_MOST;

	while (!holds(context)) {
		if (clock_monotonic() > until)
			return false;
		(void)poll(NULL, 0, 10);
	}
	return true;
}

static const json_t *deliveries(const json_t *webhook, const char *state)
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

static void expect_deliveries(const json_t *webhook, const char *state, size_t n)
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

static void expect_delivered(uint64_t n)
{
	ck_assert(wait_until(all_are_delivered, &n));
}

static bool all_have_ended(const void *context)
{
	struct dispatcher_figures figures;

	dispatcher_figures(stand.environment.dispatcher, &figures);
	return figures.delivered + figures.attempts_failed >= *(const uint64_t *)context;
}

/* Waits until n attempts have a stored outcome. */
static void expect_ended(uint64_t n)
{
	ck_assert(wait_until(all_have_ended, &n));
}

/* ---- endpoints ---- */

/* clang-format off */
static const struct { const char *body; int status; const char *answer; } makings[] = {
	{ "{\"url\":\"https://x.example\"}", 200, "\"events\":[\"*\"],\"enabled\":true,\"description\":\"\",\"headers\":{},\"secret\":\"whsec_" },
	{ "{\"url\":\"https://x.example:8443/a?b=c\",\"events\":[\"room.*\",\"webhook.updated\"],\"enabled\":false,\"description\":\"d\"}", 200,
	  "\"events\":[\"room.*\",\"webhook.updated\"],\"enabled\":false,\"description\":\"d\"" },
	{ "{\"url\":\"https://[2600::1]:443/\"}", 200, "" },
	{ "{}", 400, "/url: is required" },
	{ "{\"url\":\"ftp://x.example\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https://u:p@x.example\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https://x.example/#f\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https://\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https:///a\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"HTTPS://x.example:65535\"}", 200, "" },
	{ "{\"url\":\"https://x.example:0/\"}", 400, "/url: must have a port from 1 to 65535" },
	{ "{\"url\":\"https://x.example:65536/\"}", 400, "/url: must have a port from 1 to 65535" },
	{ "{\"url\":\"https://[2600::1]:65536?x\"}", 400, "/url: must have a port from 1 to 65535" },
	{ "{\"url\":\"https://x example/\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https://x\\r\\nexample/\"}", 400, "/url: must be an https URL" },
	{ "{\"url\":\"https://x.example\",\"events\":[]}", 400, "/events: must have at least 1 item" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"room\"]}", 400, "/events/0: must be an event type" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"peer.*\",\"peer.join.*\",\"peer.join.success\",\"a.b.c.d\",\"a.b.c.*\"]}", 200,
	  "\"events\":[\"peer.*\",\"peer.join.*\",\"peer.join.success\",\"a.b.c.d\",\"a.b.c.*\"]" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"*\",\"a.b.c.d.e\"]}", 400, "/events/1: must be an event type" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"*\",\"peer.*.success\"]}", 400, "/events/1: must be an event type" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"*\",\"peer.join.\"]}", 400, "/events/1: must be an event type" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"*\",\"\"]}", 400, "/events/1: must be an event type" },
	{ "{\"url\":\"https://x.example\",\"events\":[\"*\",\"*\"]}", 400, "/events/1: must not repeat" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"Authorization\":\"Bearer x\"}}", 200, "\"headers\":{\"Authorization\":\"***\"}" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"X-A\":\"***\"}}", 400, "/headers/X-A: has no stored value" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"X-A\":\"1\",\"x-a\":\"2\"}}", 400, "/headers/x-a: repeats" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"Host\":\"1\"}}", 400, "/headers/Host: is a header that" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"Webhook-X\":\"1\"}}", 400, "/headers/Webhook-X: is a header that" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"content-type\":\"1\"}}", 400, "/headers/content-type: is a header that" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"Proxy-Authorization\":\"1\"}}", 400, "/headers/Proxy-Authorization: is" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"TE\":\"1\"}}", 400, "/headers/TE: is a header that" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"A b\":\"1\"}}", 400, "/headers/A b: the key must be" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"A\":\"1\\r\\nB: 2\"}}", 400, "/headers/A: must be 1 to 512 visible" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"A\":\"\"}}", 400, "/headers/A: must be 1 to 512 visible" },
	{ "{\"url\":\"https://x.example\",\"headers\":{\"A\":\"1\",\"B\":\"1\",\"C\":\"1\",\"D\":\"1\",\"E\":\"1\",\"F\":\"1\"}}", 400,
	  "/headers: must have at most 5 entries" },
	{ "{\"url\":\"https://x.example\",\"secret\":\"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\"}", 200,
	  "\"secret\":\"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\"" },
	{ "{\"url\":\"https://x.example\",\"secret\":\"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY=\"}", 400, "/secret: must be whsec_" },
	{ "{\"url\":\"https://x.example\",\"secret\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODkwMTIz\"}", 400, "/secret: must be whsec_" },
	{ "{\"url\":\"https://x.example\",\"secret\":\"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY-\"}", 400, "/secret: must be whsec_" },
};
/* clang-format on */

START_TEST(webhooks_are_created_or_rejected)
{
	const char *answer = ask(makings[_i].status, METHOD_POST, "/v2/webhooks", makings[_i].body);

	ck_assert_msg(strstr(answer, makings[_i].answer) != NULL, "%s", answer);
}
END_TEST

START_TEST(http_needs_an_option)
{
	const char *answer;

	stand.options.environment.allows_http = false;
	world_restart(&stand);
	answer = ask(400, METHOD_POST, "/v2/webhooks", "{\"url\":\"http://x.example\"}");
	ck_assert_ptr_nonnull(strstr(answer, "/url: must be an https URL"));
	ask(200, METHOD_POST, "/v2/webhooks", "{\"url\":\"https://x.example\"}");
}
END_TEST

START_TEST(an_account_has_at_most_twenty_webhooks)
{
	const char *path;

	for (unsigned i = 0; i < WEBHOOKS_MOST; i++)
		make("/200", ",\"enabled\":false");
	path = path_of(
		json_array_get(
			json_object_get(ask_json(200, METHOD_GET, "/v2/webhooks", NULL), "data"),
			0),
		"");
	ck_assert_ptr_nonnull(
		strstr(ask(409, METHOD_POST, "/v2/webhooks", "{\"url\":\"https://x.example\"}"),
		       "Too many webhooks"));
	ask(204, METHOD_DELETE, path, NULL);
	ask(404, METHOD_GET, path, NULL);
	ask(404, METHOD_DELETE, path, NULL);
	ck_assert_ptr_nonnull(
		strstr(ask(200, METHOD_GET, "/v2/events?type=webhook.*&limit=100", NULL),
		       "\"webhook.deleted\""));
	make("/200", "");
}
END_TEST

/* What is not sent gets its default, except the secret, which still signs. */
START_TEST(a_webhook_is_replaced)
{
	const json_t *webhook = make("/204", ROOMS ",\"description\":\"before\","
						   "\"headers\":{\"X-A\":\"one\"}");
	const char *path = path_of(webhook, "");
	const char *body = arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/204"));
	const json_t *replaced = ask_json(200, METHOD_POST, path, body);
	static const char *const unset[] = { "\"/events\"", "\"/headers\"", "\"/description\"" };
	const char *changed;

	ck_assert_str_eq(text_at(replaced, "id"), text_at(webhook, "id"));
	ck_assert_str_eq(text_at(replaced, "description"), "");
	ck_assert_uint_eq(json_object_size(json_object_get(replaced, "headers")), 0);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(replaced, "events"), 0)),
			 "*");
	ck_assert_ptr_null(json_object_get(replaced, "secret"));
	ck_assert_ptr_nonnull(strstr(ask(400, METHOD_POST, path, "{}"), "/url: is required"));
	changed = ask(200, METHOD_GET, "/v2/events?type=webhook.updated", NULL);
	for (int i = 0; i < ROWS(unset); i++)
		ck_assert_msg(strstr(changed, unset[i]) != NULL, "%s: %s", unset[i], changed);
	ask(404, METHOD_POST, "/v2/webhooks/000000000000000000000000", body);
}
END_TEST

/* Secrets are shown once, values of headers never. *** keeps the stored values, but not for another
 * destination. */
START_TEST(secrets_are_shown_once)
{
	const json_t *webhook = make("/200", ",\"headers\":{\"X-A\":\"one\",\"X-B\":\"two\"}");
	const char *path = path_of(webhook, ""), *secret = text_at(webhook, "secret"), *answer;
	char value[64];

	ck_assert_ptr_nonnull(secret);
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, path, NULL), "whsec_"));
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, "/v2/webhooks", NULL), "whsec_"));
	answer = ask(200, METHOD_PATCH, path, "{\"headers\":{\"x-a\":\"***\",\"X-C\":\"three\"}}");
	ck_assert_ptr_nonnull(strstr(answer, "\"headers\":{\"x-a\":\"***\",\"X-C\":\"***\"}"));
	ck_assert_ptr_null(strstr(answer, "whsec_"));
	ck_assert_ptr_nonnull(
		strstr(ask(400, METHOD_PATCH, path, "{\"headers\":{\"X-B\":\"***\"}}"),
		       "/headers/X-B: has no stored value"));
	answer = ask(400, METHOD_PATCH, path, "{\"url\":\"https://other.example/\"}");
	ck_assert_ptr_nonnull(strstr(answer, "/headers: send the values again"));
	ask(400, METHOD_PATCH, path, "{\"url\":null}");
	ask(400, METHOD_PATCH, path, "{\"secret\":null}");
	ask(200, METHOD_PATCH, path, arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/204")));
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, 1));
	ck_assert(received_header(receiver_request(stand.receiver, 0), "X-A", value, sizeof value));
	ck_assert_str_eq(value, "one");
	ck_assert(received_header(receiver_request(stand.receiver, 0), "X-C", value, sizeof value));
	ck_assert_str_eq(value, "three");
	ask(200, METHOD_PATCH, path,
	    "{\"url\":\"https://other.example/\",\"headers\":{\"X-A\":\"again\"}}");
	/* The same destination. */
	ask(200, METHOD_PATCH, path, "{\"url\":\"HTTPS://Other.example:443/\"}");
	/* Other destinations. */
	answer = ask(400, METHOD_PATCH, path, "{\"url\":\"https://other.example./\"}");
	ck_assert_ptr_nonnull(strstr(answer, "/headers: send the values again"));
	answer = ask(400, METHOD_PATCH, path, "{\"url\":\"https://other.example:444/\"}");
	ck_assert_ptr_nonnull(strstr(answer, "/headers: send the values again"));
	answer = ask(200, METHOD_PATCH, path,
		     "{\"secret\":\"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\"}");
	ck_assert_ptr_nonnull(strstr(answer, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"));
	/* The event log shows that they changed, but never their values. */
	answer = ask(200, METHOD_GET, "/v2/events?limit=100", NULL);
	ck_assert_ptr_nonnull(strstr(answer, "\"changed\":[\"/secret\"]"));
	ck_assert_ptr_nonnull(strstr(answer, "\"changed\":[\"/headers\",\"/url\"]"));
	ck_assert_ptr_null(strstr(answer, "whsec_"));
	ck_assert_ptr_null(strstr(answer, "other.example"));
	ck_assert_ptr_null(strstr(answer, "three"));
}
END_TEST

/* ---- deliveries ---- */

/* Returns true if a signature was made with the secret in the response. */
static bool is_signed(const struct received *received, const char *signature, const char *secret)
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

START_TEST(a_delivery_has_an_envelope_and_a_signature)
{
	const json_t *webhook = make("/200", ""), *event, *body;
	const struct received *received;
	char value[200];

	make_template();
	ck_assert(receiver_wait(stand.receiver, 1));
	received = receiver_request(stand.receiver, 0);
	body = parsed(received->body);
	event = json_array_get(
		json_object_get(ask_json(200, METHOD_GET, "/v2/events?type=template.created", NULL),
				"data"),
		0);
	ck_assert_ptr_nonnull(event);
	ck_assert_str_eq(received->id, text_at(event, "id"));
	ck_assert_str_eq(text_at(body, "version"), "2.0");
	ck_assert_str_eq(text_at(body, "account_id"), stand.account.id_text);
	ck_assert_uint_eq(json_object_size(body), 8);
	for (const char *const *name = (const char *const[]){ "id", "type", "timestamp", "seq",
							      "data", "actor", NULL };
	     *name != NULL; name++)
		ck_assert_msg(
			json_equal(json_object_get(body, *name), json_object_get(event, *name)),
			"%s", *name);
	ck_assert(received_header(received, "webhook-signature", value, sizeof value));
	ck_assert(is_signed(received, value, text_at(webhook, "secret")));
	ck_assert(received_header(received, "content-type", value, sizeof value));
	ck_assert_str_eq(value, "application/json");
	ck_assert(received_header(received, "user-agent", value, sizeof value));
	ck_assert_str_eq(value, "Anteroom/" PACKAGE_VERSION);
	expect_deliveries(webhook, "", 0);
}
END_TEST

/* Events from before the webhook, events it does not want, and events about itself are not sent. */
START_TEST(only_wanted_events_are_delivered)
{
	const json_t *webhook, *other;

	make_template();
	make_rooms(3);
	webhook = make("/200", ",\"events\":[\"room.created\",\"webhook.*\"]");
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"description\":\"own\"}");
	ask(200, METHOD_POST, "/v2/templates", "{\"name\":\"other\"}");
	other = make("/204", ",\"enabled\":false");
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 2));
	expect_delivered(2);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *body = parsed(receiver_request(stand.receiver, i)->body);
		const json_t *data = json_object_get(body, "data");

		if (strcmp(text_at(body, "type"), "webhook.created") == 0)
			ck_assert_str_eq(text_at(data, "id"), text_at(other, "id"));
		else
			ck_assert_str_eq(text_at(body, "type"), "room.created");
	}
}
END_TEST

START_TEST(an_enabled_webhook_gets_later_events)
{
	const json_t *webhook = make("/200", ROOMS ",\"enabled\":false");

	make_template();
	make_rooms(3);
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":true}");
	make_rooms(1);
	expect_delivered(1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
}
END_TEST

/* Returns true if all pending deliveries of the webhook had two attempts. */
static bool is_repeated(const void *context)
{
	const json_t *list = deliveries(context, "pending"), *delivery;
	size_t i;

	json_array_foreach(list, i, delivery) {
		if (json_integer_value(json_object_get(delivery, "attempts")) != 2)
			return false;
	}
	return true;
}

START_TEST(a_failed_delivery_is_repeated)
{
	const json_t *webhook, *delivery;

	make_template();
	webhook = make("/flaky/2", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	delivery = json_array_get(deliveries(webhook, "pending"), 0);
	ck_assert_str_eq(text_at(delivery, "type"), "room.created");
	ck_assert_int_eq(json_integer_value(json_object_get(delivery, "attempts")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(delivery, "last_status")), 500);
	ck_assert(json_is_null(json_object_get(delivery, "last_error")));
	ck_assert(json_is_string(json_object_get(delivery, "next_at")));
	move_clock(6000);
	ck_assert(wait_until(is_repeated, webhook));
	/* Five minutes, and at most a tenth more. */
	move_clock(4 * MINUTE);
	expect_deliveries(webhook, "pending", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	move_clock(2 * MINUTE);
	expect_deliveries(webhook, "delivered", 1);
	delivery = json_array_get(deliveries(webhook, "delivered"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(delivery, "attempts")), 3);
	ck_assert(json_is_null(json_object_get(delivery, "next_at")));
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(receiver_request(stand.receiver, i)->id,
				 text_at(delivery, "event_id"));
	expect_deliveries(webhook, "pending", 0);
	expect_deliveries(webhook, "failed", 0);
}
END_TEST

static bool is_disabled(const void *context)
{
	const json_t *webhook = ask_json(200, METHOD_GET, path_of((const json_t *)context, ""),
					 NULL);

	return json_is_false(json_object_get(webhook, "enabled"));
}

START_TEST(a_410_disables_the_webhook)
{
	const json_t *webhook;
	const char *answer;

	make_template();
	webhook = make("/410", ROOMS);
	make_rooms(1);
	ck_assert(wait_until(is_disabled, webhook));
	answer = ask(200, METHOD_GET, path_of(webhook, ""), NULL);
	ck_assert_ptr_nonnull(strstr(answer, "\"disabled_reason\":\"gone\""));
	expect_deliveries(webhook, "failed", 1);
	answer = ask(200, METHOD_GET, "/v2/events?type=webhook.updated", NULL);
	ck_assert_ptr_nonnull(strstr(answer, "\"actor\":{\"kind\":\"service\",\"id\":\"\"}"));
	ck_assert_ptr_nonnull(strstr(answer, "\"changed\":[\"/disabled_reason\",\"/enabled\"]"));
	make_rooms(2);
	answer = ask(200, METHOD_PATCH, path_of(webhook, ""),
		     arena_text(stand.arena, "{\"enabled\":true,\"url\":\"%s\"}", url_of("/200")));
	ck_assert_ptr_null(strstr(answer, "disabled_reason"));
	make_rooms(1);
	expect_delivered(1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
}
END_TEST

/* The figures of webhooks: failing, disabled as gone, disabled as failing. */
static bool are_counted(const void *context)
{
	const uint64_t *expected = context;
	struct dispatcher_figures figures;

	dispatcher_figures(stand.environment.dispatcher, &figures);
	return figures.failing == expected[0] && figures.ended[WEBHOOK_GONE] == expected[1] &&
	       figures.ended[WEBHOOK_FAILING] == expected[2];
}

/* After the last attempt, the delivery has failed; a webhook that received nothing meanwhile is
 * disabled. */
START_TEST(a_failing_webhook_is_disabled)
{
	const json_t *webhook;

	schedule = (struct schedule){ .seconds = { 0, 60, 60 }, .count = 3 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(2);
	expect_deliveries(webhook, "pending", 2);
	ck_assert(wait_until(are_counted, (const uint64_t[]){ 1, 0, 0 }));
	move_clock(2 * MINUTE);
	ck_assert(wait_until(is_repeated, webhook));
	move_clock(2 * MINUTE);
	ck_assert(wait_until(is_disabled, webhook));
	expect_deliveries(webhook, "failed", 2);
	ck_assert_ptr_nonnull(strstr(ask(200, METHOD_GET, path_of(webhook, ""), NULL),
				     "\"disabled_reason\":\"failing\""));
	ck_assert_uint_le(receiver_count(stand.receiver), 6);
	ck_assert(wait_until(are_counted, (const uint64_t[]){ 0, 0, 1 }));
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":true}");
	ck_assert(wait_until(are_counted, (const uint64_t[]){ 0, 0, 0 }));
}
END_TEST

/* The webhook received another delivery in the meantime: only the one delivery has failed. */
START_TEST(another_success_keeps_the_webhook_enabled)
{
	const json_t *webhook;

	schedule = (struct schedule){ .seconds = { 0, 60 }, .count = 2 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/200")));
	move_clock(1000);
	make_rooms(1);
	expect_delivered(1);
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/500")));
	move_clock(2 * MINUTE);
	expect_deliveries(webhook, "failed", 1);
	ck_assert(!is_disabled(webhook));
}
END_TEST

static void point_to(const json_t *webhook, const char *path)
{
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of(path)));
}

struct expected_attempts {
	const json_t *webhook;
	json_int_t attempts;
};

static const json_t *only_delivery(const json_t *webhook)
{
	const json_t *list = ask_json(200, METHOD_GET, path_of(webhook, "/deliveries"), NULL);

	ck_assert_uint_eq(json_array_size(json_object_get(list, "data")), 1);
	return json_array_get(json_object_get(list, "data"), 0);
}

static bool is_attempted(const void *context)
{
	const struct expected_attempts *expected = context;

	return json_integer_value(json_object_get(only_delivery(expected->webhook), "attempts")) ==
	       expected->attempts;
}

/* Has the webhook's only delivery sent again. Returns it as it is after that attempt, the n-th. */
static const json_t *send_again(const json_t *webhook, json_int_t n)
{
	const struct expected_attempts expected = { webhook, n };
	const char *path = arena_text(stand.arena, "/deliveries/%s/retry",
				      text_at(only_delivery(webhook), "event_id"));
	const json_t *answer = ask_json(200, METHOD_POST, path_of(webhook, path), NULL);

	ck_assert_str_eq(text_at(answer, "state"), "pending");
	ck_assert_int_eq(json_integer_value(json_object_get(answer, "attempts")), n - 1);
	ck_assert(json_is_string(json_object_get(answer, "next_at")));
	ck_assert(wait_until(is_attempted, &expected));
	ck_assert_uint_eq(receiver_count(stand.receiver), (size_t)n);
	ck_assert_str_eq(receiver_request(stand.receiver, (size_t)n - 1)->id,
			 text_at(answer, "event_id"));
	return only_delivery(webhook);
}

/* A pending delivery is sent immediately and is then pending as before; one that was delivered is
 * sent once. Nothing of it is in the event log. */
START_TEST(a_delivery_is_sent_again)
{
	const json_t *webhook;
	const char *events;

	schedule = (struct schedule){ .seconds = { 0, 3600, 7200, 7200 }, .count = 4 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	events = ask(200, METHOD_GET, "/v2/events", NULL);
	ck_assert_str_eq(text_at(send_again(webhook, 2), "state"), "pending");
	ck_assert_str_eq(ask(200, METHOD_GET, "/v2/events", NULL), events);
	move_clock(HOUR);
	expect_deliveries(webhook, "pending", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 2);
	point_to(webhook, "/200");
	ck_assert_str_eq(text_at(send_again(webhook, 3), "state"), "delivered");
	ck_assert_str_eq(text_at(send_again(webhook, 4), "state"), "delivered");
	point_to(webhook, "/500");
	ck_assert_str_eq(text_at(send_again(webhook, 5), "state"), "failed");
	ck_assert(!is_disabled(webhook));
}
END_TEST

/* A failed delivery is sent once, also after the webhook was disabled in between; if that fails,
 * the webhook stays enabled. */
START_TEST(a_failed_delivery_is_sent_again_once)
{
	const json_t *webhook;

	schedule = (struct schedule){ .seconds = { 0, 60, 60 }, .count = 3 };
	make_template();
	webhook = make("/410", ROOMS);
	make_rooms(1);
	ck_assert(wait_until(is_disabled, webhook));
	expect_deliveries(webhook, "failed", 1);
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"enabled\":true,\"url\":\"%s\"}", url_of("/500")));
	ck_assert_str_eq(text_at(send_again(webhook, 2), "state"), "failed");
	move_clock(HOUR);
	ck_assert_str_eq(text_at(send_again(webhook, 3), "state"), "failed");
	ck_assert(!is_disabled(webhook));
	point_to(webhook, "/200");
	ck_assert_str_eq(text_at(send_again(webhook, 4), "state"), "delivered");
	point_to(webhook, "/410");
	ck_assert_str_eq(text_at(send_again(webhook, 5), "state"), "failed");
	ck_assert(is_disabled(webhook));
}
END_TEST

START_TEST(only_deliveries_of_an_enabled_webhook_are_sent_again)
{
	static const char unknown[] = "/deliveries/00000000-0000-4000-8000-000000000000/retry";
	const json_t *webhook, *other;
	const char *path;

	schedule = (struct schedule){ .seconds = { 0, 3600 }, .count = 2 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	other = make("/500", ROOMS);
	path = arena_text(stand.arena, "/deliveries/%s/retry",
			  text_at(only_delivery(webhook), "event_id"));
	ask(404, METHOD_POST, path_of(webhook, unknown), NULL);
	ask(404, METHOD_POST, path_of(other, path), NULL);
	ask(404, METHOD_POST,
	    arena_text(stand.arena, "/v2/webhooks/000000000000000000000000%s", path), NULL);
	ask(200, METHOD_POST,
	    path_of(webhook, arena_text(stand.arena, "%s?validate_only=true", path)), NULL);
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":false}");
	ck_assert_ptr_nonnull(strstr(ask(409, METHOD_POST, path_of(webhook, path), NULL),
				     "\"Webhook is disabled\""));
	ask(404, METHOD_POST, path_of(webhook, unknown), NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
}
END_TEST

/* The oldest is found after all others. */
START_TEST(a_delivery_is_found_among_many)
{
	const json_t *webhook, *list, *oldest;
	const char *path;

	schedule = (struct schedule){ .seconds = { 0, 3600 }, .count = 2 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(30);
	expect_deliveries(webhook, "pending", 30);
	list = deliveries(webhook, "pending");
	oldest = json_array_get(list, json_array_size(list) - 1);
	path = arena_text(stand.arena, "/deliveries/%s/retry", text_at(oldest, "event_id"));
	ask(200, METHOD_POST, path_of(webhook, path), NULL);
	ck_assert(receiver_wait(stand.receiver, 31));
	ck_assert_str_eq(receiver_request(stand.receiver, 30)->id, text_at(oldest, "event_id"));
}
END_TEST

/* The same if that other delivery was a repeated one, and another process sent it. */
START_TEST(a_success_in_another_process_keeps_the_webhook_enabled)
{
	const json_t *webhook;

	schedule = (struct schedule){ .seconds = { 0, 60, 600 }, .count = 3 };
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	move_clock(MINUTE + 10000);
	ck_assert(receiver_wait(stand.receiver, 2));
	make_rooms(1);
	expect_deliveries(webhook, "pending", 2);
	make("/200", ",\"events\":[\"webhook.updated\"]");
	point_to(webhook, "/200");
	/* The entry of this update has been processed, so only the outcome of the delivery must
	 * still be stored. */
	expect_delivered(1);
	world_restart(&stand);
	move_clock(MINUTE + 10000);
	expect_deliveries(webhook, "delivered", 1);
	world_restart(&stand);
	point_to(webhook, "/500");
	move_clock(10 * MINUTE);
	expect_deliveries(webhook, "failed", 1);
	ck_assert(!is_disabled(webhook));
}
END_TEST

/* Deliveries that were pending when the webhook was disabled are kept as long as the event log. */
START_TEST(old_deliveries_are_removed)
{
	const json_t *webhook;

	stand.environment.log_keep = HOUR;
	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(3);
	expect_deliveries(webhook, "pending", 3);
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":false}");
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":true}");
	move_clock(2 * HOUR);
	make_rooms(2);
	expect_deliveries(webhook, "pending", 2);
	expect_deliveries(webhook, "failed", 0);
}
END_TEST

START_TEST(retry_after_is_respected)
{
	const json_t *webhook;

	make_template();
	webhook = make("/503/3600", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	move_clock(10 * MINUTE);
	expect_deliveries(webhook, "pending", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
	move_clock(51 * MINUTE);
	ck_assert(receiver_wait(stand.receiver, 2));
}
END_TEST

/* Disabling a webhook ends its pending deliveries. */
START_TEST(disabling_ends_pending_deliveries)
{
	const json_t *webhook;

	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(3);
	expect_deliveries(webhook, "pending", 3);
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":false}");
	ck_assert_uint_eq(json_array_size(deliveries(webhook, "failed")), 3);
	ck_assert_uint_eq(json_array_size(deliveries(webhook, "pending")), 0);
	ask(200, METHOD_PATCH, path_of(webhook, ""), "{\"enabled\":true}");
	ck_assert_uint_eq(json_array_size(deliveries(webhook, "failed")), 3);
	move_clock(HOUR);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 4));
	expect_deliveries(webhook, "pending", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 4);
	ask(204, METHOD_DELETE, path_of(webhook, ""), NULL);
	ask(404, METHOD_GET, path_of(webhook, "/deliveries"), NULL);
}
END_TEST

/* A receiver that does not respond delays no other receiver, and gets four deliveries at once. */
START_TEST(a_slow_receiver_delays_no_other)
{
	make_template();
	make("/held", ROOMS);
	make("/200", ROOMS);
	make_rooms(20);
	expect_delivered(20);
	ck_assert_uint_eq(receiver_most_at_once(stand.receiver), AT_ONCE);
	receiver_release(stand.receiver);
	expect_delivered(40);
	ck_assert_uint_eq(receiver_count(stand.receiver), 40);
}
END_TEST

/* Even if all other webhooks of the account are slow, this one is not delayed, and there is a place
 * left for a test. */
START_TEST(many_slow_receivers_delay_no_other)
{
	const json_t *webhook;
	size_t count;

	make_template();
	for (unsigned i = 0; i < WEBHOOKS_MOST - 1; i++)
		make("/held", ROOMS);
	make_rooms(6);
	ck_assert(receiver_wait(stand.receiver, WEBHOOKS_MOST - 1));
	webhook = make("/200", ROOMS);
	make_rooms(6);
	expect_delivered(6);
	count = receiver_count(stand.receiver);
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, count + 1));
	ck_assert_uint_le(receiver_most_at_once(stand.receiver), SENDER_MOST / 2);
	receiver_release(stand.receiver);
}
END_TEST

static void use_account(const char *name)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(accounts_add(stand.directory, &clock_system, name, &stand.account, &fault));
}

/* Tests that hang use only their share of the places, as deliveries do: others continue. */
START_TEST(hanging_tests_delay_no_other)
{
	const json_t *webhook;

	for (unsigned i = 0; i < WEBHOOKS_MOST; i++) {
		webhook = make("/held", ROOMS);
		for (unsigned n = 0; n < 2 * AT_ONCE; n++)
			ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	}
	ck_assert(receiver_wait(stand.receiver, SENDER_MOST / 2));
	use_account("b");
	make_template();
	webhook = make("/200", ROOMS);
	make_rooms(6);
	expect_delivered(6);
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, SENDER_MOST / 2 + 7));
	ck_assert_uint_eq(receiver_most_at_once(stand.receiver), SENDER_MOST / 2);
	/* No test was dropped. */
	receiver_release(stand.receiver);
	ck_assert(receiver_wait(stand.receiver, WEBHOOKS_MOST * 2 * AT_ONCE + 7));
}
END_TEST

/* A webhook gets four requests at once, tests and deliveries together. */
START_TEST(tests_and_deliveries_share_the_places_of_a_webhook)
{
	const json_t *webhook = make("/held", ROOMS), *other;

	make_template();
	for (unsigned n = 0; n < 2 * AT_ONCE; n++)
		ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	make_rooms(2 * AT_ONCE);
	ck_assert(receiver_wait(stand.receiver, AT_ONCE));
	other = make("/200", ROOMS);
	make_rooms(6);
	expect_delivered(6);
	ask(200, METHOD_POST, path_of(other, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, AT_ONCE + 7));
	ck_assert_uint_eq(receiver_most_at_once(stand.receiver), AT_ONCE);
	receiver_release(stand.receiver);
	expect_delivered(2 * AT_ONCE + 12);
	ck_assert(receiver_wait(stand.receiver, 4 * AT_ONCE + 13));
}
END_TEST

/* Ten tests per minute for each webhook; with validate_only a test is not counted. */
START_TEST(tests_are_limited_per_minute)
{
	const json_t *webhook = make("/200", ROOMS), *other = make("/200", ROOMS);
	const char *answer;

	for (unsigned n = 0; n < MISSES_TESTS_MOST; n++) {
		ask(200, METHOD_POST, path_of(webhook, "/test?validate_only=true"), NULL);
		ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	}
	answer = ask(429, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert_ptr_nonnull(strstr(answer, "the webhook got 10 tests in a minute"));
	ask(429, METHOD_POST, path_of(webhook, "/test?validate_only=true"), NULL);
	ask(200, METHOD_POST, path_of(other, "/test"), NULL);
	ask(404, METHOD_POST, "/v2/webhooks/000000000000000000000000/test", NULL);
	ck_assert(receiver_wait(stand.receiver, MISSES_TESTS_MOST + 1));
	ck_assert_uint_eq(receiver_count(stand.receiver), MISSES_TESTS_MOST + 1);
}
END_TEST

/* The receiver returns no 2xx for more than an hour: each delivery finally arrives, with the same
 * ID each time. */
START_TEST(an_hour_of_failures_loses_nothing)
{
	const json_t *webhook;
	size_t repeats = 0;

	make_template();
	webhook = make("/flaky/4", ROOMS);
	make_rooms(30);
	expect_deliveries(webhook, "pending", 30);
	for (unsigned i = 0; i < 200 && repeats < 4 * 30; i++) {
		move_clock(MINUTE);
		(void)poll(NULL, 0, 50);
		repeats = receiver_count(stand.receiver) - 30;
	}
	move_clock(3 * HOUR);
	expect_deliveries(webhook, "delivered", 30);
	ck_assert_uint_eq(receiver_count(stand.receiver), 150);
	ck_assert_int_gt(atomic_load(&stand.clock.offset), HOUR);
}
END_TEST

START_TEST(a_test_is_sent_without_an_entry)
{
	const json_t *webhook = make("/500", ROOMS ",\"enabled\":false"), *body;
	const char *id;

	id = text_at(ask_json(200, METHOD_POST, path_of(webhook, "/test"), NULL), "event_id");
	ck_assert(receiver_wait(stand.receiver, 1));
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->id, id);
	body = parsed(receiver_request(stand.receiver, 0)->body);
	ck_assert_str_eq(text_at(body, "type"), "webhook.test");
	ck_assert_str_eq(text_at(body, "id"), id);
	ck_assert_int_eq(json_integer_value(json_object_get(body, "seq")), 0);
	ck_assert_uint_eq(json_object_size(json_object_get(body, "data")), 0);
	move_clock(HOUR);
	expect_deliveries(webhook, "", 0);
	ck_assert_ptr_null(
		strstr(ask(200, METHOD_GET, "/v2/events?limit=100", NULL), "webhook.test"));
	ck_assert_str_eq(ask(200, METHOD_POST, path_of(webhook, "/test?validate_only=true"), NULL),
			 "{\"valid\":true}");
	ask(404, METHOD_POST, "/v2/webhooks/000000000000000000000000/test", NULL);
	ck_assert_uint_eq(receiver_count(stand.receiver), 1);
}
END_TEST

/* ---- events that are sent once ---- */

static void send_once(const char *type, const char *data)
{
	dispatcher_send_once(stand.environment.dispatcher, &stand.account.id, slice_of(type),
			     slice_of(data), world_now(&stand));
}

/* clang-format off */
static const struct { const char *path, *more; bool gets_it; } choosing[] = {
	{ "/200/1", "", true },
	{ "/200/2", ",\"events\":[\"peer.*\"]", true },
	{ "/200/3", ",\"events\":[\"room.*\",\"peer.join.*\"]", true },
	{ "/500/4", ",\"events\":[\"peer.join.failure\"]", true },
	{ "/200/5", ",\"events\":[\"peer.join.success\"]", false },
	{ "/200/6", ",\"events\":[\"session.*\"]", false },
	{ "/200/7", ",\"enabled\":false", false },
};
/* clang-format on */

/* It goes to each webhook that wants it, under one ID, and is neither repeated nor logged. */
START_TEST(an_event_is_sent_once_without_an_entry)
{
	const json_t *webhooks[ROWS(choosing)], *body, *actor;
	bool got[ROWS(choosing)] = { false };
	size_t n = 0;

	for (size_t i = 0; i < ROWS(choosing); i++) {
		webhooks[i] = make(choosing[i].path, choosing[i].more);
		n += choosing[i].gets_it;
	}
	expect_delivered(ROWS(choosing) - 1); /* webhook.created, to the first */
	n += receiver_count(stand.receiver);
	send_once("peer.join.failure", "{\"kind\":\"peer\"}");
	ck_assert(receiver_wait(stand.receiver, n));
	move_clock(HOUR);
	for (size_t i = 0; i < ROWS(choosing); i++)
		expect_deliveries(webhooks[i], "", 0);
	ck_assert_uint_eq(receiver_count(stand.receiver), n);
	for (size_t i = 0; i < n; i++) {
		const struct received *request = receiver_request(stand.receiver, i);

		body = parsed(request->body);
		if (strcmp(text_at(body, "type"), "peer.join.failure") != 0)
			continue;
		got[request->path[strlen(request->path) - 1] - '1'] = true;
		ck_assert_str_eq(text_at(body, "id"), request->id);
		ck_assert_str_eq(request->id, receiver_request(stand.receiver, n - 1)->id);
		ck_assert_int_eq(json_integer_value(json_object_get(body, "seq")), 0);
		ck_assert_str_eq(text_at(json_object_get(body, "data"), "kind"), "peer");
		actor = json_object_get(body, "actor");
		ck_assert_str_eq(text_at(actor, "kind"), "service");
		ck_assert_str_eq(text_at(actor, "id"), "");
	}
	for (size_t i = 0; i < ROWS(choosing); i++)
		ck_assert_int_eq(got[i], choosing[i].gets_it);
	ck_assert_ptr_null(strstr(ask(200, METHOD_GET, "/v2/events?limit=100", NULL), "peer"));
}
END_TEST

/* However many there are, they keep neither the log nor tests of their webhook waiting, and only
 * the share of the account is kept. */
START_TEST(events_that_are_sent_once_are_bounded)
{
	const size_t share = 512;
	const json_t *webhook;

	make_template();
	webhook = make("/held", ",\"events\":[\"room.*\",\"peer.*\"]");
	for (unsigned i = 0; i < AT_ONCE; i++)
		send_once("peer.join.failure", "{}");
	ck_assert(receiver_wait(stand.receiver, AT_ONCE / 2));
	for (size_t i = 0; i < 3 * share; i++)
		send_once("peer.join.failure", "{}");
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, AT_ONCE / 2 + 1));
	ck_assert_ptr_nonnull(
		strstr(receiver_request(stand.receiver, AT_ONCE / 2)->body, "room.created"));
	receiver_release(stand.receiver);
	ck_assert(receiver_wait(stand.receiver, AT_ONCE / 2 + 1 + share));
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, AT_ONCE / 2 + 2 + share));
	ck_assert_ptr_nonnull(strstr(
		receiver_request(stand.receiver, AT_ONCE / 2 + 1 + share)->body, "webhook.test"));
}
END_TEST

/* Other accounts do not get it, nor does anything happen without webhooks. */
START_TEST(an_event_is_sent_only_to_its_account)
{
	make("/200", ",\"events\":[\"peer.*\"]");
	use_account("b");
	send_once("peer.join.failure", "{}");
	make("/204", ",\"events\":[\"peer.*\"]");
	send_once("peer.join.failure", "{}");
	ck_assert(receiver_wait(stand.receiver, 1));
	ck_assert_str_eq(receiver_request(stand.receiver, 0)->path, "/204");
}
END_TEST

/* clang-format off */
/* template: the member of the body, if it has one. */
static const struct { const char *type, *data; bool has_app; const char *template; } shown[] = {
	{ "session.open.success", "{\"template_id\":\"t\\\"1\"}", true, "\"template_id\":\"t\\\"1\"," },
	{ "session.deleted", "{\"room_id\":\"r\"}", true, "" },
	{ "peer.leave.success", "{\"a\":1,\"template_id\":\"2\"}", true, "\"template_id\":\"2\"," },
	{ "role.change.success", "{\"template_id\":\"3\"}", true, "\"template_id\":\"3\"," },
	{ "room.end.success", "{\"template_id\":\"4\"}", true, "\"template_id\":\"4\"," },
	{ "peer.join.failure", "{\"template_id\":5}", true, "" },
	{ "room.created", "{\"template_id\":\"6\"}", false, "" },
	{ "role.created", "{\"template_id\":\"7\"}", false, "" },
	{ "room.ended", "{\"template_id\":\"8\"}", false, "" },
	{ "no.session.x", "{\"template_id\":\"9\"}", false, "" },
};
/* clang-format on */

/* Events in rooms have the members that those of 100ms have. */
START_TEST(a_body_has_the_members_of_its_type)
{
	const char *account = stand.account.id_text, *expected;

	make("/200",
	     ",\"events\":[\"session.*\",\"peer.*\",\"role.*\",\"room.*\",\"no.session.*\"]");
	send_once(shown[_i].type, shown[_i].data);
	ck_assert(receiver_wait(stand.receiver, 1));
	expected = arena_text(stand.arena, "\"account_id\":\"%s\",%s%s%s%s\"timestamp\":\"",
			      account, shown[_i].has_app ? "\"app_id\":\"" : "",
			      shown[_i].has_app ? account : "", shown[_i].has_app ? "\"," : "",
			      shown[_i].template);
	ck_assert_msg(strstr(receiver_request(stand.receiver, 0)->body, expected) != NULL,
		      "%s: not %s", receiver_request(stand.receiver, 0)->body, expected);
}
END_TEST

START_TEST(both_secrets_sign_after_a_rotation)
{
	const json_t *webhook = make("/200", ROOMS);
	const char *latter, *path = path_of(webhook, "/rotate");
	char value[400], *space;

	latter = text_at(ask_json(200, METHOD_POST, path, NULL), "secret");
	ck_assert_str_ne(latter, text_at(webhook, "secret"));
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, 1));
	ck_assert(received_header(receiver_request(stand.receiver, 0), "webhook-signature", value,
				  sizeof value));
	space = strchr(value, ' ');
	ck_assert_ptr_nonnull(space);
	*space = '\0';
	ck_assert(is_signed(receiver_request(stand.receiver, 0), value, latter));
	ck_assert(is_signed(receiver_request(stand.receiver, 0), space + 1,
			    text_at(webhook, "secret")));
	move_clock(24 * HOUR);
	ask(200, METHOD_POST, path_of(webhook, "/test"), NULL);
	ck_assert(receiver_wait(stand.receiver, 2));
	ck_assert(received_header(receiver_request(stand.receiver, 1), "webhook-signature", value,
				  sizeof value));
	ck_assert(is_signed(receiver_request(stand.receiver, 1), value, latter));
}
END_TEST

/* ---- stopping ---- */

/* Expects each of the rooms to have arrived at least once. */
static void expect_all_rooms(size_t n)
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

/* The next process delivers what is pending or was never tried, with the same ID. */
START_TEST(a_restart_loses_no_delivery)
{
	const json_t *webhook;

	make_template();
	webhook = make("/flaky/1", ROOMS);
	make_rooms(10);
	expect_deliveries(webhook, "pending", 10);
	make_rooms(10);
	world_stop(&stand);
	move_clock(6000);
	world_start(&stand);
	move_clock(6000);
	ck_assert(receiver_wait(stand.receiver, 40));
	expect_deliveries(webhook, "pending", 0);
	expect_all_rooms(20);
	ck_assert_uint_eq(receiver_count(stand.receiver), 40);
	/* A delivery that failed just before the end, and was not stored, is delivered as a first
	 * attempt and is not listed. */
	ck_assert_uint_ge(json_array_size(deliveries(webhook, "delivered")), 10);
}
END_TEST

/* The event log drops an entry during its delivery: the later entries have been delivered, and a
 * restart does not repeat them. */
START_TEST(a_dropped_entry_causes_no_repeats)
{
	const json_t *webhook;

	make_template();
	webhook = make("/held", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
	ask(200, METHOD_PATCH, path_of(webhook, ""),
	    arena_text(stand.arena, "{\"url\":\"%s\"}", url_of("/200")));
	make_rooms(3);
	expect_delivered(3);
	move_clock(91 * 24 * HOUR);
	make_rooms(1);
	expect_delivered(4);
	world_restart(&stand);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 6));
	for (size_t i = 0; i < 6; i++) {
		for (size_t n = 0; n < i; n++)
			ck_assert_str_ne(receiver_request(stand.receiver, n)->id,
					 receiver_request(stand.receiver, i)->id);
	}
}
END_TEST

/* Puts an account's record in a form that only damage can cause. */
static void put_damaged(struct transaction *transaction, const struct id *account,
			const struct store_kind *kind, const struct store_record *record)
{
	struct fault fault = FAULT_INITIAL;

	store_set_account(transaction, account);
	ck_assert(store_put(transaction, kind, record, NULL, &fault));
}

/* The webhooks of another account, which are read first, are damaged. */
START_TEST(damaged_webhooks_of_another_account_do_no_harm)
{
	static const struct id none = { { 0 } }, first = { { [ID_SIZE - 1] = 1 } };
	struct store_record record = { .id = first, .value = { "\1\0\0\0\0\0\0\0\1", 9 } };
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_begin(stand.environment.store, STORE_WRITE, stand.arena, &transaction,
			      &fault));
	put_damaged(transaction, &none, &kind_webhook_account, &record);
	record.id = none;
	put_damaged(transaction, &first, &kind_webhooks, &record);
	ck_assert(store_commit(transaction, &number, &fault) &&
		  store_wait(stand.environment.store, number, &fault));
	make_template();
	make("/200", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
}
END_TEST

static void id_of(const json_t *webhook, struct id *id)
{
	ck_assert(id_parse(slice_of(text_at(webhook, "id")), id));
}

/* Reads the deliveries of a webhook that have not ended. */
static size_t page_of_pending(struct transaction *transaction, const json_t *webhook,
			      struct store_record *records, size_t most)
{
	struct id parent;
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.side = STORE_ON,
		.parent = &parent,
		.records = records,
		.most = most,
	};
	struct fault fault = FAULT_INITIAL;

	id_of(webhook, &parent);
	store_set_account(transaction, &stand.account.id);
	ck_assert(store_page(transaction, &kind_webhook_delivery, &page, &fault));
	return page.count;
}

static bool are_two_pending(const void *webhook)
{
	struct store_record records[2];
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;
	size_t count;

	ck_assert(store_begin(stand.environment.store, STORE_READ, stand.arena, &transaction,
			      &fault));
	count = page_of_pending(transaction, webhook, records, ROWS(records));
	store_abandon(transaction);
	return count == 2;
}

static struct transaction *begin_write(void)
{
	struct transaction *transaction;
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_begin(stand.environment.store, STORE_WRITE, stand.arena, &transaction,
			      &fault));
	store_set_account(transaction, &stand.account.id);
	return transaction;
}

/* Cuts the last byte off. */
static void damage(struct transaction *transaction, const struct store_kind *kind,
		   const struct id *id)
{
	struct fault fault = FAULT_INITIAL;
	struct store_record record;

	ck_assert(store_get(transaction, kind, id, STORE_TO_CHANGE, &record, &fault));
	ck_assert_ptr_nonnull(record.value.data);
	record.value.size--;
	ck_assert(store_put(transaction, kind, &record, &record, &fault));
}

static void commit(struct transaction *transaction)
{
	struct fault fault = FAULT_INITIAL;
	uint64_t number;

	ck_assert(store_commit(transaction, &number, &fault) &&
		  store_wait(stand.environment.store, number, &fault));
}

/* Damages the oldest deliveries that have not ended. */
static void damage_deliveries(const json_t *webhook, size_t n)
{
	struct store_record records[AT_ONCE];
	struct transaction *transaction = begin_write();

	ck_assert_uint_eq(page_of_pending(transaction, webhook, records, n), n);
	for (size_t i = 0; i < n; i++)
		damage(transaction, &kind_webhook_delivery, &records[i].id);
	commit(transaction);
}

static void damage_position(const json_t *webhook)
{
	struct transaction *transaction = begin_write();
	struct id id;

	id_of(webhook, &id);
	damage(transaction, &kind_webhook_position, &id);
	commit(transaction);
}

/* The next delivery is stored nevertheless. */
START_TEST(a_damaged_delivery_does_not_stop_the_next)
{
	const json_t *webhook;

	make_template();
	webhook = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(webhook, "pending", 1);
	damage_deliveries(webhook, 1);
	make_rooms(1);
	ck_assert(wait_until(are_two_pending, webhook));
}
END_TEST

/* `damaged` deliveries and an intact one are repeated. AT_ONCE of them would fill all places of the
 * webhook. */
static const struct {
	size_t damaged;
	const char *path; /* path of the repeated requests */
	uint64_t delivered, failed;
} repeats_of_damaged[] = {
	{ 1, "/200", 2, 0 },
	{ AT_ONCE, "/200", AT_ONCE + 1, 0 },
	{ 1, "/500", 0, 1 },
	{ AT_ONCE, "/500", 0, AT_ONCE },
};

/* The repeated attempt of a damaged delivery is the last one, and does not delay others. */
START_TEST(a_damaged_delivery_is_repeated_once)
{
	const size_t n = repeats_of_damaged[_i].damaged + 1;
	const uint64_t delivered = repeats_of_damaged[_i].delivered;
	struct dispatcher_figures figures;
	const json_t *webhook;

	make_template();
	webhook = make("/500", ROOMS);
	make_rooms((unsigned)n);
	expect_deliveries(webhook, "pending", n);
	damage_deliveries(webhook, n - 1);
	point_to(webhook, repeats_of_damaged[_i].path);
	move_clock(6000);
	expect_ended(2 * n);
	point_to(webhook, "/200");
	move_clock(6 * MINUTE);
	make_rooms(1);
	expect_delivered(delivered > 0 ? delivered + 1 : 2);
	dispatcher_figures(stand.environment.dispatcher, &figures);
	ck_assert_uint_eq(figures.failed, repeats_of_damaged[_i].failed);
	ck_assert(!is_disabled(webhook));
	ck_assert_uint_eq(receiver_count(stand.receiver), 2 * n + (delivered > 0 ? 1 : 2));
}
END_TEST

/* The deliveries of another webhook are stored nevertheless. */
START_TEST(a_damaged_position_does_not_stop_other_webhooks)
{
	const json_t *webhook, *other;

	make_template();
	webhook = make("/200", ROOMS);
	make_rooms(1);
	expect_delivered(1);
	damage_position(webhook);
	other = make("/500", ROOMS);
	make_rooms(1);
	expect_deliveries(other, "pending", 1);
	expect_delivered(2);
}
END_TEST

enum damage_of { DELIVERY_CUT, DELIVERY_FLIPPED, POSITION_CUT, ACCOUNT_CUT };

/* Two webhooks with three pending deliveries each, followed by a new room. */
static const struct {
	enum damage_of of; /* of the first webhook, except for the flipped bit */
	size_t n; /* damaged deliveries */
	uint64_t repeated; /* repeated deliveries after a restart */
	uint64_t added; /* deliveries of the new room */
} restarts[] = {
	{ DELIVERY_CUT, 1, 5, 2 }, { DELIVERY_CUT, 3, 3, 2 }, { DELIVERY_FLIPPED, 1, 5, 0 },
	{ POSITION_CUT, 0, 3, 1 }, { ACCOUNT_CUT, 0, 6, 2 },
};

/* Flips a bit of the first delivery in the store's file. Only deliveries have the type before the
 * number of attempts. */
static void flip_delivery(void)
{
	char *file;

	(void)snprintf(scratch.path, sizeof scratch.path, "%s", stand.path);
	scratch.arena = stand.arena;
	file = scratch_file("stack-", ".gdbm");
	file_flip(file, scratch_place(file, "room.created\1"));
}

/* Damages the record that says that the account has webhooks. */
static void damage_account(void)
{
	struct transaction *transaction = begin_write();

	store_set_account(transaction, &audit_no_account);
	damage(transaction, &kind_webhook_account, &stand.account.id);
	commit(transaction);
}

/* Damage of one webhook neither prevents other deliveries from being repeated nor stops other
 * webhooks. */
START_TEST(damage_does_not_stop_other_deliveries_after_a_restart)
{
	const json_t *webhooks[2];

	make_template();
	for (size_t i = 0; i < 2; i++)
		webhooks[i] = make("/500", ROOMS);
	make_rooms(3);
	for (size_t i = 0; i < 2; i++)
		expect_deliveries(webhooks[i], "pending", 3);
	for (size_t i = 0; i < 2; i++)
		point_to(webhooks[i], "/200");
	if (restarts[_i].of == DELIVERY_CUT)
		damage_deliveries(webhooks[0], restarts[_i].n);
	else if (restarts[_i].of == POSITION_CUT)
		damage_position(webhooks[0]);
	else if (restarts[_i].of == ACCOUNT_CUT)
		damage_account();
	ck_assert(store_gdbm_settle(stand.environment.store, true));
	world_stop(&stand);
	if (restarts[_i].of == DELIVERY_FLIPPED)
		flip_delivery();
	world_start(&stand);
	move_clock(6000);
	expect_delivered(restarts[_i].repeated);
	if (restarts[_i].added > 0)
		make_rooms(1);
	expect_delivered(restarts[_i].repeated + restarts[_i].added);
}
END_TEST

/* Damages `n` entries of the event log, after the first `before` entries since the entry `last`. */
static void damage_entries(uint64_t last, unsigned before, unsigned n)
{
	struct transaction *transaction = begin_write();

	for (unsigned i = 1; i <= n; i++) {
		const struct id id = audit_id_of(last + before + i);

		damage(transaction, &kind_entry, &id);
	}
	commit(transaction);
}

static uint64_t last_entry(void)
{
	struct transaction *transaction = begin_write();
	struct fault fault = FAULT_INITIAL;
	struct audit_state state;

	ck_assert(audit_state_load(transaction, STORE_TO_SHOW, &state, &fault));
	store_abandon(transaction);
	return state.last;
}

#define ENTRIES 4

static const struct {
	unsigned before, n; /* out of ENTRIES */
} damaged_entries[] = {
	{ 0, 1 },
	{ 1, 2 },
	{ ENTRIES - 1, 1 },
	{ 0, ENTRIES },
};

/* The damaged entries were never sent. */
START_TEST(damaged_entries_do_not_stop_others)
{
	const uint64_t sound = ENTRIES - damaged_entries[_i].n;
	uint64_t last;

	schedule = (struct schedule){ .seconds = { 60, 60 }, .count = 2 };
	make_template();
	make("/200", ROOMS);
	last = last_entry();
	make_rooms(ENTRIES);
	damage_entries(last, damaged_entries[_i].before, damaged_entries[_i].n);
	move_clock(MINUTE + 1000);
	expect_delivered(sound);
	make_rooms(1);
	move_clock(MINUTE + 1000);
	expect_delivered(sound + 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), sound + 1);
}
END_TEST

/* The deliveries of the damaged entries must be repeated; new deliveries are not delayed, and the
 * webhook stays enabled. */
START_TEST(damaged_entries_do_not_delay_repeats)
{
	const unsigned n = damaged_entries[_i].n;
	const json_t *webhook;
	uint64_t last;

	make_template();
	webhook = make("/500", ROOMS);
	last = last_entry();
	make_rooms(ENTRIES);
	expect_deliveries(webhook, "pending", ENTRIES);
	damage_entries(last, damaged_entries[_i].before, n);
	point_to(webhook, "/200");
	move_clock(6000);
	make_rooms(1);
	expect_delivered(ENTRIES - n + 1);
	expect_deliveries(webhook, "failed", n);
	ck_assert_str_eq(text_at(json_array_get(deliveries(webhook, "failed"), 0), "last_error"),
			 "event is damaged");
	ck_assert(!is_disabled(webhook));
}
END_TEST

/* ---- a commit with an unknown outcome ---- */

static bool none_is_unknown(const void *store)
{
	return store_failing_unknown_left(store) == 0;
}

/* The commit after the first or the second attempt. It happened: the delivery is not stored twice,
 * and the attempt is not counted twice. */
START_TEST(a_commit_with_an_unknown_outcome_is_not_repeated)
{
	const json_t *webhook, *delivery;

	stand.options.may_fail = true;
	world_restart(&stand);
	make_template();
	webhook = make("/held/500", ROOMS);
	make_rooms(1);
	ck_assert(receiver_wait(stand.receiver, 1));
	for (int i = 0; i < 2; i++) {
		if (i == _i)
			store_failing_unknown(stand.environment.store, 1);
		if (i == 0)
			receiver_release(stand.receiver);
		else
			move_clock(6000);
		ck_assert(wait_until(none_is_unknown, stand.environment.store));
		expect_ended((uint64_t)i + 1);
		expect_deliveries(webhook, "pending", 1);
		delivery = json_array_get(deliveries(webhook, "pending"), 0);
		ck_assert_int_eq(json_integer_value(json_object_get(delivery, "attempts")), i + 1);
	}
	point_to(webhook, "/200");
	move_clock(6 * MINUTE);
	expect_deliveries(webhook, "delivered", 1);
	ck_assert_uint_eq(receiver_count(stand.receiver), 3);
}
END_TEST

static pid_t child(void)
{
	char path[100], text[100] = "";
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	if (fgets(text, sizeof text, file) == NULL)
		text[0] = '\0';
	fclose(file);
	return (pid_t)strtol(text, NULL, 10);
}

START_TEST(a_killed_sender_is_started_again)
{
	make_template();
	make("/held", ROOMS);
	make_rooms(10);
	ck_assert(receiver_wait(stand.receiver, 4));
	ck_assert_int_eq(kill(child(), SIGKILL), 0);
	ck_assert(receiver_wait(stand.receiver, 8));
	receiver_release(stand.receiver);
	expect_delivered(10);
	expect_all_rooms(10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("webhooks");
	TCase *calls = tcase_create("calls");
	TCase *sent = tcase_create("deliveries");
	TCase *damaged = tcase_create("damage");

	if (!sender_is_built())
		return 77;
	tcase_add_checked_fixture(calls, set_up, tear_down);
	tcase_add_loop_test(calls, webhooks_are_created_or_rejected, 0, ROWS(makings));
	tcase_add_test(calls, http_needs_an_option);
	tcase_add_test(calls, an_account_has_at_most_twenty_webhooks);
	tcase_add_test(calls, a_webhook_is_replaced);
	tcase_add_test(calls, secrets_are_shown_once);
	suite_add_tcase(suite, calls);
	tcase_add_checked_fixture(sent, set_up, tear_down);
	tcase_set_timeout(sent, 60);
	tcase_add_test(sent, a_delivery_has_an_envelope_and_a_signature);
	tcase_add_test(sent, only_wanted_events_are_delivered);
	tcase_add_test(sent, an_enabled_webhook_gets_later_events);
	tcase_add_test(sent, a_failed_delivery_is_repeated);
	tcase_add_test(sent, a_delivery_is_sent_again);
	tcase_add_test(sent, a_failed_delivery_is_sent_again_once);
	tcase_add_test(sent, only_deliveries_of_an_enabled_webhook_are_sent_again);
	tcase_add_test(sent, a_delivery_is_found_among_many);
	tcase_add_test(sent, a_410_disables_the_webhook);
	tcase_add_test(sent, a_failing_webhook_is_disabled);
	tcase_add_test(sent, another_success_keeps_the_webhook_enabled);
	tcase_add_test(sent, a_success_in_another_process_keeps_the_webhook_enabled);
	tcase_add_test(sent, old_deliveries_are_removed);
	tcase_add_test(sent, retry_after_is_respected);
	tcase_add_test(sent, disabling_ends_pending_deliveries);
	tcase_add_test(sent, a_slow_receiver_delays_no_other);
	tcase_add_test(sent, many_slow_receivers_delay_no_other);
	tcase_add_test(sent, hanging_tests_delay_no_other);
	tcase_add_test(sent, tests_and_deliveries_share_the_places_of_a_webhook);
	tcase_add_test(sent, tests_are_limited_per_minute);
	tcase_add_test(sent, an_hour_of_failures_loses_nothing);
	tcase_add_test(sent, a_test_is_sent_without_an_entry);
	tcase_add_test(sent, an_event_is_sent_once_without_an_entry);
	tcase_add_test(sent, events_that_are_sent_once_are_bounded);
	tcase_add_test(sent, an_event_is_sent_only_to_its_account);
	tcase_add_loop_test(sent, a_body_has_the_members_of_its_type, 0, ROWS(shown));
	tcase_add_test(sent, both_secrets_sign_after_a_rotation);
	tcase_add_test(sent, a_restart_loses_no_delivery);
	tcase_add_test(sent, a_dropped_entry_causes_no_repeats);
	tcase_add_test(sent, a_killed_sender_is_started_again);
	suite_add_tcase(suite, sent);
	tcase_add_checked_fixture(damaged, set_up, tear_down);
	tcase_set_timeout(damaged, 60);
	tcase_add_loop_test(damaged, a_commit_with_an_unknown_outcome_is_not_repeated, 0, 2);
	tcase_add_test(damaged, damaged_webhooks_of_another_account_do_no_harm);
	tcase_add_test(damaged, a_damaged_delivery_does_not_stop_the_next);
	tcase_add_loop_test(damaged, a_damaged_delivery_is_repeated_once, 0,
			    ROWS(repeats_of_damaged));
	tcase_add_test(damaged, a_damaged_position_does_not_stop_other_webhooks);
	tcase_add_loop_test(damaged, damage_does_not_stop_other_deliveries_after_a_restart, 0,
			    ROWS(restarts));
	tcase_add_loop_test(damaged, damaged_entries_do_not_stop_others, 0, ROWS(damaged_entries));
	tcase_add_loop_test(damaged, damaged_entries_do_not_delay_repeats, 0,
			    ROWS(damaged_entries));
	suite_add_tcase(suite, damaged);
	fast_disk();
	return suite_run(suite);
}
