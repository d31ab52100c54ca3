/* Consent to recordings of people inside: what they say of themselves, what the media server is
 * told, and what becomes of attributes that are not so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kit.h"
#include "resources/asking.h"
#include "suite.h"

/* The word of the template's rules. */
static void set_rule(const char *word)
{
	const json_t *list = parsed(ask(200, METHOD_GET, "/v2/templates", NULL));
	const char *id = text_at(json_array_get(json_object_get(list, "data"), 0), "id");

	(void)ask(200, METHOD_PATCH, arena_text(stand.arena, "/v2/templates/%s/settings", id),
		  arena_text(stand.arena, "{\"recordingRules\":{\"consent\":\"%s\"}}", word));
}

/* Eve is inside, with this attribute. Returns her path. */
static const char *open_scene(const char *word, const char *attribute)
{
	set_rule(word);
	kit_join("PA_2", "eve", "eve", "e2");
	(void)snprintf(kit.people[1].consent, sizeof kit.people[1].consent, "%s", attribute);
	start_watch();
	(void)ask_until(room_path, "\"peer_count\":2");
	return arena_text(stand.arena, "%s/peers/%s", room_path, id_of_peer("eve"));
}

/* Returns what Eve is told of herself. */
static const char *ask_me(void)
{
	const char *former = bearer, *me;

	bearer = token_with_entry("e2");
	me = ask(200, METHOD_GET, arena_text(stand.arena, "%s/me", room_path), NULL);
	bearer = former;
	return me;
}

/* The attribute of the last update; NULL if it was left as it is. */
static const char *told_consent(void)
{
	const json_t *update = last_request(UPDATE);

	return update == NULL ? NULL
			      : json_string_value(json_object_get(
					json_object_get(update, "attributes"), "consent"));
}

#define AGREED "1764500000"
#define AGREED_AT "\"consented_at\":\"2025-11-30T10:53:20.000Z\""

static const struct {
	const char *rule, *before; /* the attribute */
	const char *body, *entry; /* of the caller; NULL: a management token */
	enum how how;
	int status;
	const char *text; /* in the response */
	/* What the media server is told: `now`, a value, or NULL: nothing of it. */
	const char *told;
	const char *me; /* what Eve is told of herself then */
} says[] = {
	{ "asked", "", "{\"consent\":true}", "e2", ANSWERS, 200, "\"consented_at\":\"2", "now",
	  "\"agreed\":true" },
	{ "asked", "", "{\"consent\":true,\"consent_text\":\"en-1\"}", "e2", ANSWERS, 200,
	  "\"consent_text\":\"en-1\"", "now", "\"consent_text\":\"en-1\"" },
	{ "required", "", "{\"consent\":true,\"name\":\"Eva\"}", "e2", ANSWERS, 200, "Eva", "now",
	  "\"consent\":\"required\",\"agreed\":true" },
	{ "asked", AGREED, "{\"consent\":false}", "e2", ANSWERS, 200, "\"consent_withdrawn_at\":\"",
	  "", "\"consent\":\"asked\",\"agreed\":false" },
	/* As it is already. */
	{ "asked", AGREED, "{\"consent\":true,\"consent_text\":\"x\"}", "e2", ANSWERS, 200,
	  AGREED_AT, AGREED, AGREED_AT },
	{ "asked", "", "{\"consent\":false}", "e2", ANSWERS, 200, "\"eve\"", "",
	  "\"agreed\":false" },
	/* Where nothing is asked, nobody agrees; but whoever agreed can withdraw. */
	{ "notice", "", "{\"consent\":true}", "e2", ANSWERS, 200, "\"eve\"", NULL,
	  "\"recordings\":[]}" },
	{ "notice", AGREED, "{\"consent\":false}", "e2", ANSWERS, 200, "consent_withdrawn_at", "",
	  "consent_withdrawn_at" },
	/* Something else leaves it as it is. */
	{ "asked", AGREED, "{\"name\":\"Eva\"}", "e2", ANSWERS, 200, "Eva", NULL,
	  "\"agreed\":true" },
	{ "asked", AGREED, "{\"role\":\"guest\"}", NULL, ANSWERS, 200, "guest", NULL,
	  "\"agreed\":true" },
	/* What is not known to be done: a withdrawal holds, a consent does not. */
	{ "asked", AGREED, "{\"consent\":false}", "e2", LOSES_ACTS, 504, "It may have been done",
	  "", "\"agreed\":false" },
	{ "asked", AGREED, "{\"consent\":false}", "e2", FAILS, 502, "status 500", NULL,
	  "\"agreed\":false" },
	{ "asked", "", "{\"consent\":true}", "e2", LOSES_ACTS, 504, "It may have been done", "now",
	  "\"agreed\":false" },
	/* Refused. */
	{ "asked", "", "{\"consent\":true}", "e1", ANSWERS, 403, "Only of oneself", NULL,
	  "\"agreed\":false" },
	{ "asked", AGREED, "{\"consent\":false}", "e1", ANSWERS, 403, "Only of oneself", NULL,
	  "\"agreed\":true" },
	{ "asked", "", "{\"consent\":true}", NULL, ANSWERS, 403, "Only of oneself", NULL,
	  "\"agreed\":false" },
	{ "notice", "", "{\"consent\":true}", NULL, ANSWERS, 403, "Only of oneself", NULL,
	  "\"recordings\":[]}" },
	{ "asked", "", "{\"consent\":\"true\"}", "e2", ANSWERS, 400, "/consent: must be", NULL,
	  "\"agreed\":false" },
	{ "asked", "", "{\"consent_text\":\"en-1\"}", "e2", ANSWERS, 400,
	  "/consent: is required with consent_text", NULL, "\"agreed\":false" },
};

START_TEST(people_agree_and_withdraw)
{
	const char *path = open_scene(says[_i].rule, says[_i].before);
	const int64_t before = clock_now(&clock_system) / 1000;
	const char *told;

	kit_set(says[_i].how);
	bearer = says[_i].entry == NULL ? NULL : token_with_entry(says[_i].entry);
	ck_assert_ptr_nonnull(
		strstr(ask(says[_i].status, METHOD_POST, path, says[_i].body), says[_i].text));
	told = told_consent();
	ck_assert_int_eq(told != NULL, says[_i].told != NULL);
	if (told != NULL && strcmp(says[_i].told, "now") == 0)
		ck_assert_int_ge(strtoll(told, NULL, 10), before);
	else if (told != NULL)
		ck_assert_str_eq(told, says[_i].told);
	ck_assert_msg(strstr(ask_me(), says[_i].me) != NULL, "%s", ask_me());
}
END_TEST

/* A validated call changes nothing. */
START_TEST(a_validated_withdrawal_changes_nothing)
{
	const char *path = open_scene("asked", AGREED);

	bearer = token_with_entry("e2");
	(void)ask(200, METHOD_POST, arena_text(stand.arena, "%s?validate_only=true", path),
		  "{\"consent\":false}");
	ck_assert_ptr_null(last_request(UPDATE));
	ck_assert_ptr_nonnull(strstr(ask_me(), "\"agreed\":true"));
}
END_TEST

static void await_told(const char *expected)
{
	const int64_t end = clock_monotonic() + 30000;

	while (told_consent() == NULL || strcmp(told_consent(), expected) != 0) {
		ck_assert_msg(clock_monotonic() < end, "not told \"%s\"", expected);
		(void)poll(NULL, 0, 20);
	}
}

/* A withdrawal that the media server did not take is made by the service itself. */
START_TEST(a_withdrawal_is_made_when_the_media_server_is_back)
{
	const char *path = open_scene("asked", AGREED);

	bearer = token_with_entry("e2");
	kit_set(FAILS);
	(void)ask(502, METHOD_POST, path, "{\"consent\":false}");
	ck_assert_ptr_null(last_request(UPDATE));
	kit_set(ANSWERS);
	bearer = NULL;
	restart_watch();
	await_told("");
	ck_assert_ptr_nonnull(strstr(ask_me(), "\"agreed\":false"));
}
END_TEST

/* Whoever agrees once more has another number than the one that was withdrawn. */
START_TEST(each_consent_has_its_number)
{
	const char *path = open_scene("asked", "");
	long long last = 0;

	bearer = token_with_entry("e2");
	for (int i = 0; i < 3; i++) {
		(void)ask(200, METHOD_POST, path, "{\"consent\":true}");
		ck_assert_int_gt(strtoll(told_consent(), NULL, 10), last);
		last = strtoll(told_consent(), NULL, 10);
		(void)ask(200, METHOD_POST, path, "{\"consent\":false}");
		ck_assert_str_eq(told_consent(), "");
	}
}
END_TEST

/* Of two calls that overlap, the later one counts, whichever ends first. */
static const struct {
	const char *before;
	const char *first, *second; /* what is said */
	bool second_ends_first;
	const char *me;
} races[] = {
	{ "", "true", "false", true, "\"agreed\":false" },
	{ "", "true", "false", false, "\"agreed\":false" },
	{ AGREED, "true", "false", true, "\"agreed\":false" },
	{ AGREED, "false", "true", false, "\"agreed\":true" },
};

START_TEST(the_later_of_two_calls_counts)
{
	const char *path = open_scene("asked", races[_i].before);
	struct call calls[2];

	bearer = token_with_entry("e2");
	for (int i = 0; i < 2; i++) {
		const char *said = i == 0 ? races[_i].first : races[_i].second;

		calls[i] = (struct call){ .arena = arena_open() };
		set_request(&calls[i], METHOD_POST, path,
			    arena_text(stand.arena, "{\"consent\":%s}", said));
		world_answer(&stand, &calls[i]);
		ck_assert(call_is_asking(&calls[i]));
		/* A later second. */
		world_move(&stand, 1000);
	}
	carry_on(&calls[races[_i].second_ends_first ? 1 : 0]);
	carry_on(&calls[races[_i].second_ends_first ? 0 : 1]);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(calls[i].answer.status, 200);
		arena_close(calls[i].arena);
	}
	ck_assert_msg(strstr(ask_me(), races[_i].me) != NULL, "%s", ask_me());
	if (strcmp(races[_i].second, "false") == 0)
		await_told("");
	else
		ck_assert_str_ne(told_consent(), "");
}
END_TEST

/* What somebody has said holds for the next stays with the same entry, whatever their token has;
 * else the attribute is what the person agreed to before the media server. An attribute that
 * somebody with rights at the media server has set is taken back. */
static const struct {
	const char *before; /* the attribute of the first stay */
	const char *body; /* what is said then; NULL: nothing */
	const char *after; /* the attribute of the second stay */
	const char *put_back; /* what the media server is told of it; NULL: it is right */
	bool stays; /* it is not another stay */
	bool has_no_entry; /* the second one, which this service did not let in */
} stays[] = {
	{ AGREED, "{\"consent\":false}", AGREED, "", false, false },
	{ AGREED, "{\"consent\":false}", "", NULL, false, false },
	{ "", "{\"consent\":true}", "", "now", false, false },
	{ AGREED, NULL, AGREED, NULL, false, false },
	{ AGREED, NULL, "", NULL, false, false },
	{ "", NULL, "soon", "", false, false },
	{ "", NULL, AGREED, "", true, false },
	{ AGREED, NULL, "", AGREED, true, false },
	{ AGREED, NULL, "1764500001", AGREED, true, false },
	{ "", NULL, AGREED, NULL, false, true },
};

START_TEST(attributes_are_put_back)
{
	const char *path = open_scene("asked", stays[_i].before);
	const size_t updates = 0 + (stays[_i].body != NULL);
	const char *former = NULL;

	bearer = token_with_entry("e2");
	if (stays[_i].body != NULL)
		(void)ask(200, METHOD_POST, path, stays[_i].body);
	bearer = NULL;
	if (stays[_i].body != NULL)
		former = told_consent();
	pthread_mutex_lock(&kit.lock);
	if (!stays[_i].stays)
		kit.people[1].sid = "PA_3";
	if (stays[_i].has_no_entry)
		kit.people[1].entry = "";
	(void)snprintf(kit.people[1].consent, sizeof kit.people[1].consent, "%s", stays[_i].after);
	pthread_mutex_unlock(&kit.lock);
	restart_watch();
	if (!stays[_i].stays)
		(void)ask_until("/v2/sessions", "\"peer_count\":3");
	if (stays[_i].put_back == NULL) {
		/* What the first survey has found is enforced before the second one. */
		restart_watch();
		ck_assert_uint_eq(requests_of(UPDATE), updates);
		return;
	}
	if (strcmp(stays[_i].put_back, "now") == 0) {
		const int64_t end = clock_monotonic() + 30000;

		while (requests_of(UPDATE) == updates && clock_monotonic() < end)
			(void)poll(NULL, 0, 20);
		ck_assert_uint_gt(requests_of(UPDATE), updates);
		ck_assert_str_eq(told_consent(), former);
	} else {
		await_told(stays[_i].put_back);
	}
}
END_TEST

void add_consent(TCase *consent)
{
	tcase_add_loop_test(consent, people_agree_and_withdraw, 0, ROWS(says));
	tcase_add_test(consent, a_validated_withdrawal_changes_nothing);
	tcase_add_test(consent, a_withdrawal_is_made_when_the_media_server_is_back);
	tcase_add_test(consent, each_consent_has_its_number);
	tcase_add_loop_test(consent, the_later_of_two_calls_counts, 0, ROWS(races));
	tcase_add_loop_test(consent, attributes_are_put_back, 0, ROWS(stays));
}
