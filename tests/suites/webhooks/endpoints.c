/* The endpoints of webhooks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "hooks.h"
#include "rules/webhook_rules.h"
#include "suite.h"

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

void add_endpoints(TCase *calls)
{
	tcase_add_loop_test(calls, webhooks_are_created_or_rejected, 0, ROWS(makings));
	tcase_add_test(calls, http_needs_an_option);
	tcase_add_test(calls, an_account_has_at_most_twenty_webhooks);
	tcase_add_test(calls, a_webhook_is_replaced);
	tcase_add_test(calls, secrets_are_shown_once);
}
