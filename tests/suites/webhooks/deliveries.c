/* What a receiver gets, and what becomes of deliveries that fail.
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

#include "hooks.h"
#include "records/kinds.h"
#include "resources/misses.h"
#include "rules/webhook_rules.h"
#include "suite.h"

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

void add_deliveries(TCase *sent)
{
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
	tcase_add_test(sent, a_killed_sender_is_started_again);
}
