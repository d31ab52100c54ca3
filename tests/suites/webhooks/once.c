/* Events that are sent once, without an entry, and what their bodies have.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "hooks.h"
#include "records/kinds.h"
#include "suite.h"

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

void add_once(TCase *sent)
{
	tcase_add_test(sent, an_event_is_sent_once_without_an_entry);
	tcase_add_test(sent, events_that_are_sent_once_are_bounded);
	tcase_add_test(sent, an_event_is_sent_only_to_its_account);
	tcase_add_loop_test(sent, a_body_has_the_members_of_its_type, 0, ROWS(shown));
	tcase_add_test(sent, both_secrets_sign_after_a_rotation);
}
