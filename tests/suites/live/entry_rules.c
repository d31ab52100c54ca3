/* Each rule about who may be inside, at each moment (resources/entry_rules/entry_rules.h): a room
 * is made, somebody comes as far as the moment, the rule is broken, and the person goes on. A rule
 * has a row here, and the row a cell for each moment.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "resources/entry_rules/entry_rules.h"
#include "resources/live/live_enforcement.h"
#include "resources/stored/revocations.h"
#include "script.h"
#include "suite.h"

/* ---- the scene ---- */

/* What the person is known by: the user_id, a name, and what the page keeps. */
#define PERSON "u"
#define NAMED "\"name\":\"Ada\",\"browser\":\"0123456789abcdefghijkl\""

struct scene {
	enum entry_moment moment;
	struct script *script;
	const char *template, *room, *code;
	const char *token, *ticket; /* NULL: the person does not need it at the moment */
	struct slice entry; /* of the token */
	bool checks_all; /* inside; else the numbers and the roles say whether somebody is */
};

/* Makes a call that must succeed, about an object; `after` ends the path. */
static const char *do_to(enum method method, const char *path, const char *object,
			 const char *after, const char *body)
{
	return ask(method, arena_text(stand.arena, "%s%s%s", path, object, after), body);
}

static void change_room(const struct scene *scene, const char *body)
{
	(void)do_to(METHOD_PATCH, "/v2/rooms/", scene->room, "", body);
}

static void change_code(const struct scene *scene, const char *body)
{
	(void)do_to(METHOD_PATCH, "/v2/room-codes/code/", scene->code, "", body);
}

/* Changes the role that the person has, and the one that it is given. */
static void change_roles(const struct scene *scene, const char *body)
{
	(void)do_to(METHOD_PATCH, "/v2/templates/", scene->template, "/roles/guest", body);
	(void)do_to(METHOD_PATCH, "/v2/templates/", scene->template, "/roles/other", body);
}

/* Returns a member of a room with a time so many seconds from now. */
static const char *at_time(const char *name, int64_t seconds)
{
	char time[TEXT_TIME_SIZE];

	text_time_seconds(now() + seconds * 1000, time);
	return arena_text(stand.arena, "{\"%s\":\"%s\"}", name, time);
}

static const char *body_of(const struct scene *scene, const char *more)
{
	return arena_text(stand.arena, "{\"code\":\"%s\",\"user_id\":\"" PERSON "\"," NAMED "%s}",
			  scene->code, more);
}

/* Somebody is reported to be inside, for `seconds`. */
static void come_in(const struct scene *scene, const char *word, struct slice entry,
		    int64_t seconds)
{
	struct report report = report_of(scene->script, REPORT_JOINED, slice_of(word));

	report.person.entry = entry;
	report.person.joined = now() - seconds * 1000;
	merge_report(scene->script, &report);
}

static struct slice entry_of(const char *token)
{
	struct slice rest = slice_of(token), payload;

	(void)text_split(rest, '.', &rest);
	ck_assert(text_base64url_decode(stand.arena, text_split(rest, '.', &rest), &payload));
	return slice_of(world_member(
		&stand, arena_text(stand.arena, "%.*s", (int)payload.size, payload.data), "entry"));
}

static bool has_ticket(const struct scene *scene)
{
	return scene->moment == ENTRY_WAITING || scene->moment == ENTRY_ADMITTED;
}

static bool is_inside(const struct scene *scene)
{
	return scene->moment == ENTRY_CALLER || scene->moment == ENTRY_TOKEN ||
	       scene->moment == ENTRY_INSIDE || scene->moment == ENTRY_ROLE;
}

static void admit_all(const struct scene *scene)
{
	(void)do_to(METHOD_POST, "/v2/active-rooms/", scene->room, "/tickets",
		    "{\"admit\":\"all\"}");
}

/* Others are inside; the person comes as far as it is before the moment. spares: the person may be
 * inside while the room is closed. */
static void begin_scene(struct scene *scene, bool spares)
{
	stand.environment.live = LIVE_ON;
	world_serve(&stand);
	open_stand(0);
	scene->script = script_open("entry rules");
	scene->template = world_member(
		&stand,
		ask(METHOD_POST, "/v2/templates",
		    arena_text(
			    stand.arena,
			    "{\"name\":\"rules\",\"settings\":{\"backend\":\"s0\"},\"roles\":{"
			    "\"guest\":{\"permissions\":{\"joinOutsideWindow\":%s,\"moderator\":true}},\"other\":{}}}",
			    spares ? "true" : "false")),
		"id");
	scene->room = world_member(
		&stand,
		ask(METHOD_POST, "/v2/rooms",
		    arena_text(stand.arena, "{\"template_id\":\"%s\"}", scene->template)),
		"id");
	scene->code = world_member(
		&stand,
		do_to(METHOD_POST, "/v2/room-codes/room/", scene->room, "/role/guest", "{}"),
		"code");
	ck_assert(id_parse(slice_of(scene->room), &scene->script->room));
	come_in(scene, "b/guest", SLICE("eb"), 200);
	come_in(scene, "c/other", SLICE("ec"), 150);
	if (has_ticket(scene)) {
		change_code(scene, "{\"admission\":\"ask\"}");
		scene->ticket = world_member(
			&stand, ask(METHOD_POST, "/v2/token", body_of(scene, ",\"wait\":true")),
			"ticket");
	} else if (is_inside(scene) || scene->moment == ENTRY_NEW_INSIDE) {
		scene->token = world_member(
			&stand, ask(METHOD_POST, "/v2/token", body_of(scene, "")), "token");
		scene->entry = entry_of(scene->token);
	}
	if (is_inside(scene))
		come_in(scene, "a=" PERSON "/guest", scene->entry, 0);
}

/* ---- breaking the rules ---- */

static void delete_code(struct scene *scene)
{
	(void)do_to(METHOD_DELETE, "/v2/room-codes/code/", scene->code, "", "");
}

static void disable_account(struct scene *scene)
{
	struct fault fault = FAULT_INITIAL;

	(void)scene;
	ck_assert(accounts_set_enabled(stand.directory, "a", false, NULL, &fault));
}

static void remove_account(struct scene *scene)
{
	struct fault fault = FAULT_INITIAL;

	disable_account(scene);
	ck_assert(accounts_remove(stand.directory, &stand.account.id, &fault));
}

static void delete_room(struct scene *scene)
{
	(void)do_to(METHOD_DELETE, "/v2/rooms/", scene->room, "", "");
}

static void disable_room(struct scene *scene)
{
	change_room(scene, "{\"enabled\":false}");
}

/* Whoever has a token has the role of its name, if there is one again. */
static void delete_role(struct scene *scene)
{
	(void)do_to(METHOD_DELETE, "/v2/templates/", scene->template, "/roles/guest", "");
	if (scene->moment == ENTRY_TOKEN || scene->moment == ENTRY_CALLER)
		(void)do_to(METHOD_POST, "/v2/templates/", scene->template, "/roles/guest", "{}");
}

static void disable_code(struct scene *scene)
{
	(void)ask(METHOD_POST, "/v2/room-codes/code",
		  arena_text(stand.arena, "{\"code\":\"%s\",\"enabled\":false}", scene->code));
}

static void expire_code(struct scene *scene)
{
	change_code(scene, at_time("expires_at", 1));
	world_move(&stand, 2000);
}

static void use_up_code(struct scene *scene)
{
	change_code(scene, "{\"max_uses\":1,\"admission\":\"open\"}");
	(void)ask(METHOD_POST, "/v2/token",
		  arena_text(stand.arena, "{\"code\":\"%s\"}", scene->code));
}

static void delay_code(struct scene *scene)
{
	change_code(scene, at_time("not_before", 60));
}

static void ban_person(struct scene *scene)
{
	/* Whoever only reads is known by the code. */
	if (scene->moment == ENTRY_RECORDINGS)
		change_code(scene, "{\"user_id\":\"" PERSON "\"}");
	ban(PERSON, &scene->script->room, 0);
}

/* Stores the call so that the next request sees it. */
static void commit_durably(struct call *call)
{
	struct fault fault = FAULT_INITIAL;

	ck_assert(store_wait(stand.environment.store, world_commit(call), &fault));
}

/* As remove-peers does, without the media server. */
static void remove_person(struct scene *scene)
{
	struct fault fault = FAULT_INITIAL;
	struct peer peer;
	struct call call;

	begin(&call);
	ck_assert(revocation_add(&call, &scene->script->room, scene->entry, LEAVE_REMOVED,
				 SLICE("why"), &fault));
	commit_durably(&call);
	if (!is_inside(scene))
		return;
	begin_with_peer(scene->script, SLICE("a"), &call, &peer);
	ck_assert(live_order_out(&call, &scene->script->room, &peer, LEAVE_REMOVED, SLICE("why"),
				 &fault));
	commit_durably(&call);
}

static void open_later(struct scene *scene)
{
	change_room(scene, at_time("opens_at", 60));
}

static void close_room(struct scene *scene)
{
	change_room(scene, at_time("closes_at", -1));
}

static void limit_session(struct scene *scene)
{
	change_room(scene, "{\"max_duration_seconds\":120}");
}

static void give_code_away(struct scene *scene)
{
	change_code(scene, "{\"user_id\":\"other\"}");
}

static void ask_for_consent(struct scene *scene)
{
	(void)do_to(METHOD_PATCH, "/v2/templates/", scene->template, "/settings",
		    "{\"recordingRules\":{\"consent\":\"required\"}}");
}

/* Whoever is inside when the room is locked may come back. So somebody else has the token, and
 * somebody inside came in all the same. */
static void lock_room(struct scene *scene)
{
	struct fault fault = FAULT_INITIAL;
	struct peer peer;
	struct call call;

	if (scene->moment == ENTRY_TOKEN) {
		scene->token =
			world_member(&stand,
				     ask(METHOD_POST, "/v2/token",
					 arena_text(stand.arena, "{\"code\":\"%s\"}", scene->code)),
				     "token");
		scene->entry = entry_of(scene->token);
	}
	(void)do_to(METHOD_POST, "/v2/active-rooms/", scene->room, "/door",
		    "{\"state\":\"locked\"}");
	if (scene->moment != ENTRY_INSIDE)
		return;
	begin_with_peer(scene->script, SLICE("a"), &call, &peer);
	ck_assert(live_order_out(&call, &scene->script->room, &peer, LEAVE_NOT_ADMITTED, SLICE(""),
				 &fault));
	commit_durably(&call);
}

static void have_code_ask(struct scene *scene)
{
	change_code(scene, "{\"admission\":\"ask\"}");
}

/* Denies the person, by another ticket than that of the scene. */
static void deny_person(struct scene *scene)
{
	const char *path = arena_text(stand.arena, "/v2/active-rooms/%s/tickets", scene->room);
	const json_t *tickets, *last;

	have_code_ask(scene);
	(void)ask(METHOD_POST, "/v2/token", body_of(scene, ",\"wait\":true"));
	tickets = json_object_get(world_json(&stand, ask(METHOD_GET, path, "")), "tickets");
	last = json_array_get(tickets, json_array_size(tickets) - 1);
	(void)ask(METHOD_POST,
		  arena_text(stand.arena, "%s/%s", path,
			     json_string_value(json_object_get(last, "id"))),
		  "{\"state\":\"denied\"}");
}

static void admit_nobody(struct scene *scene)
{
	change_roles(scene, "{\"maxPeerCount\":-1}");
}

static void fill_role(struct scene *scene)
{
	change_roles(scene, "{\"maxPeerCount\":1}");
}

static void fill_room(struct scene *scene)
{
	change_room(scene, "{\"size\":1}");
}

/* ---- going on ---- */

#define LET_IN "in"

/* Returns what a response says. */
static const char *outcome_of(const struct reply *reply)
{
	const json_t *body = world_json(&stand, reply->text);
	const char *state = json_string_value(json_object_get(body, "state"));

	if (state != NULL && strcmp(state, "denied") == 0)
		return arena_text(stand.arena, "denied %s",
				  json_string_value(json_object_get(body, "reason")));
	return reply->status / 100 == 2
		       ? LET_IN
		       : arena_text(stand.arena, "%d %s", reply->status,
				    json_string_value(json_object_get(body, "message")));
}

/* token: of a person; NULL for the account, "" for nobody. */
static const char *call_with(const char *token, enum method method, const char *path,
			     const char *body)
{
	struct request request = world_request(
		&stand, stand.arena, token == NULL ? &stand.account : NULL, method, path, body);
	struct reply reply;

	if (token != NULL && *token != '\0')
		request.authorization = slice_of(arena_text(stand.arena, "Bearer %s", token));
	reply = world_send(&stand, stand.arena, &request);
	return outcome_of(&reply);
}

static const char *exchange(struct scene *scene)
{
	return call_with("", METHOD_POST, "/v2/token", body_of(scene, ""));
}

static const char *exchange_livekit(struct scene *scene)
{
	return call_with("", METHOD_POST, arena_text(stand.arena, "/v2/livekit/%s", scene->code),
			 "{\"participant_identity\":\"" PERSON "\",\"participant_name\":\"Ada\"}");
}

static const char *look(struct scene *scene)
{
	return call_with("", METHOD_GET, arena_text(stand.arena, "/v2/join/%s", scene->code), NULL);
}

static const char *list_recordings(struct scene *scene)
{
	return call_with("", METHOD_GET,
			 arena_text(stand.arena, "/v2/join/%s/recordings", scene->code), NULL);
}

static const char *ask_for_ticket(struct scene *scene)
{
	return call_with("", METHOD_GET, arena_text(stand.arena, "/v2/tickets/%s", scene->ticket),
			 NULL);
}

static const char *join_with_token(struct scene *scene)
{
	return call_with(scene->token, METHOD_POST, "/v2/token/join", "{}");
}

static const char *call_from_inside(struct scene *scene)
{
	return call_with(scene->token, METHOD_GET,
			 arena_text(stand.arena, "/v2/active-rooms/%s/me", scene->room), NULL);
}

static const char *come_in_new(struct scene *scene)
{
	struct peer peer;

	come_in(scene, "a=" PERSON "/guest", scene->entry, 0);
	peer = find_peer(scene->script, "a");
	if (peer.stored.value.data == NULL)
		return "nothing";
	return peer.order == LEAVE_LEFT
		       ? LET_IN
		       : arena_text(stand.arena, "out %s", leave_cause_names[peer.order]);
}

static const char *enforce(struct scene *scene)
{
	struct enforcement *enforcement = arena_zero(stand.arena, sizeof *enforcement);
	struct fault fault = FAULT_INITIAL;
	const char *outcome = LET_IN;
	struct call call;

	enforcement->room = scene->script->room;
	enforcement->checks_all = scene->checks_all;
	enforcement->checks_bans = true;
	begin(&call);
	ck_assert_msg(live_enforce(&call, false, enforcement, &fault), "%s", fault_reason(&fault));
	if (enforcement->ends)
		outcome = arena_text(stand.arena, "ends %s", enforcement->word);
	for (size_t i = 0; i < enforcement->chosen_count; i++) {
		if (enforcement->chosen[i].out != NULL)
			outcome = arena_text(stand.arena, "out %s",
					     leave_cause_names[enforcement->chosen[i].out->cause]);
	}
	world_abandon(&call);
	return outcome;
}

/* Nothing can be asked of a media server here: that comes after the rules. */
static const char *give_role(struct scene *scene)
{
	const struct peer peer = find_peer(scene->script, "a");
	const char *outcome = call_with(NULL, METHOD_POST,
					arena_text(stand.arena, "/v2/active-rooms/%s/peers/%.*s",
						   scene->room, (int)peer.uuid.size,
						   peer.uuid.data),
					"{\"role\":\"other\"}");

	return strncmp(outcome, "501 ", 4) == 0 ? LET_IN : outcome;
}

static const char *(*const goes_on[ENTRY_MOMENTS])(struct scene *scene) = {
	[ENTRY_EXCHANGE] = exchange,
	[ENTRY_LIVEKIT] = exchange_livekit,
	[ENTRY_DESCRIBE] = look,
	[ENTRY_WAITING] = ask_for_ticket,
	[ENTRY_ADMITTED] = ask_for_ticket,
	[ENTRY_TOKEN] = join_with_token,
	[ENTRY_CALLER] = call_from_inside,
	[ENTRY_NEW_INSIDE] = come_in_new,
	[ENTRY_INSIDE] = enforce,
	[ENTRY_ROLE] = give_role,
	[ENTRY_RECORDINGS] = list_recordings,
};

/* ---- the cells ---- */

/* A letter for each moment, in their order:
 *   r  refused with 403 and the rule's words      .  not asked, and nobody else refuses
 *   m  the same with 404                          -  not asked, because others refuse before
 *   d  the ticket is denied, with these words     e  the room is ended, with the rule's word
 *   o  put out, or to be put out, for the rule's cause */
/* clang-format off */
static const struct {
	enum entry_rule_name rule;
	void (*break_it)(struct scene *scene);
	/*                       .---------- exchange
	 *                       |.--------- livekit
	 *                       ||.-------- look
	 *                       |||.------- waiting
	 *                       ||||.------ admitted
	 *                       |||||.----- token
	 *                       ||||||.---- caller
	 *                       |||||||.--- new inside
	 *                       ||||||||.-- inside
	 *                       |||||||||.- role
	 *                       ||||||||||. recordings */
	const char *cells;
} rows[] = {
	{ ENTRY_CODE_UNKNOWN, delete_code,
				"mmmddrr...m" },
	{ ENTRY_ACCOUNT_UNKNOWN, remove_account,
				"mmmmm--..-m" },
	{ ENTRY_ROOM_DELETED, delete_room,
				"--------e--" },
	{ ENTRY_ROOM_DISABLED, disable_room,
				"rrrddrr.e.r" },
	{ ENTRY_ROLE_DELETED, delete_role,
				"rrrddrr.o.r" },
	{ ENTRY_CODE_DISABLED, disable_code,
				"rrrddrr...r" },
	{ ENTRY_ACCOUNT_DISABLED, disable_account,
				"rrrdd--..-r" },
	{ ENTRY_CODE_EXPIRED, expire_code,
				"rrrddrr...r" },
	{ ENTRY_CODE_USED_UP, use_up_code,
				"rrrdd......" },
	{ ENTRY_CODE_NOT_YET_VALID, delay_code,
				"rrrdd......" },
	{ ENTRY_BANNED, ban_person,
				"rr.ddrroo.r" },
	{ ENTRY_REMOVED, remove_person,
				".....rroo.." },
	{ ENTRY_ROOM_NOT_OPEN, open_later,
				"rrr.drr.e.." },
	{ ENTRY_ROOM_CLOSED, close_room,
				"rrrddrr.e.." },
	{ ENTRY_SESSION_TOO_LONG, limit_session,
				"........e.." },
	{ ENTRY_OTHER_USER, give_code_away,
				"rr.ddrr...." },
	{ ENTRY_NEEDS_CONSENT, ask_for_consent,
				"rr........." },
	{ ENTRY_ROOM_LOCKED, lock_room,
				"rr...r.oo.." },
	{ ENTRY_DENIED, deny_person,
				"rr........." },
	{ ENTRY_NEEDS_ADMISSION, have_code_ask,
				"rr........." },
	{ ENTRY_ROLE_ADMITS_NOBODY, admit_nobody,
				".r...r..or." },
	{ ENTRY_ROLE_FULL, fill_role,
				"rr..dr..or." },
	{ ENTRY_ROOM_FULL, fill_room,
				"rr..dr..o.." },
};
/* clang-format on */

static const char *outcome_in(char cell, const struct entry_rule *rule)
{
	switch (cell) {
	case 'r':
		return arena_text(stand.arena, "403 %s", rule->message);
	case 'm':
		return arena_text(stand.arena, "404 %s", rule->message);
	case 'd':
		return arena_text(stand.arena, "denied %s", rule->message);
	case 'e':
		return arena_text(stand.arena, "ends %s", rule->word);
	case 'o':
		return arena_text(stand.arena, "out %s", leave_cause_names[rule->cause]);
	default:
		return LET_IN;
	}
}

static bool is_asked(enum entry_rule_name rule, enum entry_moment moment)
{
	size_t rank = 0;

	while (entry_rule_at(moment, rank) != rule && entry_rule_at(moment, rank) != ENTRY_NO_RULE)
		rank++;
	return entry_rule_at(moment, rank) == rule;
}

/* Goes as far as the moment, breaks both rules, and goes on. Returns the outcome. */
static const char *break_rules(enum entry_moment moment, enum entry_rule_name first,
			       enum entry_rule_name last)
{
	const bool spares = entry_rules[first].spares == NULL && entry_rules[last].spares == NULL;
	const unsigned scopes = entry_rules[first].scope | entry_rules[last].scope;
	struct scene scene = {
		.moment = moment,
		.checks_all = (scopes & (ENTRY_OF_ROLE | ENTRY_OF_PLACE)) == 0,
	};

	begin_scene(&scene, spares);
	/* A waiting ticket asks about the code and the person only if the room keeps people out. */
	if (moment == ENTRY_WAITING && spares)
		close_room(&scene);
	if (moment == ENTRY_ADMITTED)
		admit_all(&scene);
	rows[first - 1].break_it(&scene);
	if (last != first)
		rows[last - 1].break_it(&scene);
	return goes_on[moment](&scene);
}

START_TEST(each_rule_holds_at_each_moment)
{
	const enum entry_moment moment = (enum entry_moment)(_i % ENTRY_MOMENTS);
	const enum entry_rule_name name = rows[_i / ENTRY_MOMENTS].rule;
	const char cell = rows[name - 1].cells[moment];
	const char *outcome = break_rules(moment, name, name);
	const char *expected = outcome_in(cell, &entry_rules[name]);

	if (cell == '-')
		ck_assert_msg(strcmp(outcome, LET_IN) != 0, "rule %d, moment %d: let in", name,
			      moment);
	else
		ck_assert_msg(strcmp(outcome, expected) == 0, "rule %d, moment %d: %s, not %s",
			      name, moment, outcome, expected);
	ck_assert_msg(is_asked(name, moment) == (cell != '.' && cell != '-'),
		      "rule %d, moment %d: is it asked?", name, moment);
}
END_TEST

/* Rules that cannot be broken together. */
static const enum entry_rule_name apart[][2] = {
	{ ENTRY_ROOM_NOT_OPEN, ENTRY_ROOM_CLOSED },
	{ ENTRY_ROLE_ADMITS_NOBODY, ENTRY_ROLE_FULL },
};

/* The account makes no calls any more. */
static bool is_broken_last(enum entry_rule_name rule)
{
	return rule == ENTRY_ACCOUNT_UNKNOWN || rule == ENTRY_ACCOUNT_DISABLED;
}

/* The code is exchanged once more. */
static bool is_broken_first(enum entry_rule_name rule)
{
	return rule == ENTRY_CODE_USED_UP;
}

static bool can_be_broken(enum entry_rule_name first, enum entry_rule_name next,
			  enum entry_moment moment)
{
	for (int i = 0; i < ROWS(apart); i++) {
		if (apart[i][0] == first && apart[i][1] == next)
			return false;
	}
	/* Inside, the room is asked about before the people. */
	return next != ENTRY_NO_RULE &&
	       (moment != ENTRY_INSIDE || entry_rules[first].scope == ENTRY_OF_ROOM ||
		entry_rules[next].scope != ENTRY_OF_ROOM);
}

/* Of two rules that are broken, the one that is asked first refuses. */
START_TEST(rules_have_their_order)
{
	const enum entry_moment moment = (enum entry_moment)(_i % ENTRY_MOMENTS);
	const size_t rank = (size_t)(_i / ENTRY_MOMENTS);
	enum entry_rule_name first, next;
	const char *outcome, *expected;

	for (size_t i = 0; i < rank; i++) {
		if (entry_rule_at(moment, i) == ENTRY_NO_RULE)
			return;
	}
	first = entry_rule_at(moment, rank);
	if (first == ENTRY_NO_RULE)
		return;
	next = entry_rule_at(moment, rank + 1);
	if (!can_be_broken(first, next, moment))
		return;
	outcome = is_broken_first(first) || is_broken_last(next) ? break_rules(moment, first, next)
								 : break_rules(moment, next, first);
	expected = outcome_in(rows[first - 1].cells[moment], &entry_rules[first]);
	ck_assert_msg(strcmp(outcome, expected) == 0, "rules %d and %d, moment %d: %s, not %s",
		      first, next, moment, outcome, expected);
}
END_TEST

START_TEST(each_rule_has_its_cells)
{
	ck_assert_int_eq(ROWS(rows), ENTRY_RULES - 1);
	for (int i = 0; i < ROWS(rows); i++) {
		ck_assert_int_eq(rows[i].rule, i + 1);
		ck_assert_uint_eq(strlen(rows[i].cells), ENTRY_MOMENTS);
	}
}
END_TEST

void add_entry_rules(TCase *entry)
{
	tcase_add_test(entry, each_rule_has_its_cells);
	tcase_add_loop_test(entry, each_rule_holds_at_each_moment, 0, ROWS(rows) * ENTRY_MOMENTS);
	tcase_add_loop_test(entry, rules_have_their_order, 0, ROWS(rows) * ENTRY_MOMENTS);
}
