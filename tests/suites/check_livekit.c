/* LiveKit: the requests about rooms and people, what its answers and its events mean, and who
 * signed an event. No server is needed (check_servers has one).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/jwt.h"
#include "base/text.h"
#include "media/server.h"
#include "suite.h"

#define KEY "a_key"
#define SECRET "a secret of this suite, for LiveKit"
#define NOW 1800000000

static struct arena *arena;
static struct server livekit;

static json_t *parsed(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, JSON_DECODE_ANY, &error);

	ck_assert_msg(value != NULL, "%s: %s", error.text, text);
	return arena_json(arena, value);
}

static void set_up(void)
{
	arena = arena_open();
	livekit = (struct server){
		.type = BACKEND_LIVEKIT,
		.url = SLICE("https://media.example/below"),
		.config = parsed("{\"api_key\":\"" KEY "\",\"api_secret\":\"" SECRET "\"}"),
	};
}

static void tear_down(void)
{
	arena_close(arena);
}

/* ---- what is read, as text ---- */

static void show_text(struct buffer *shown, const char *name, struct slice text)
{
	ck_assert_ptr_nonnull(text.data);
	if (text.size == 0)
		return;
	buffer_append_text(shown, arena_text(arena, "%s%s=", shown->size > 0 ? " " : "", name));
	buffer_append(shown, text);
}

static void show_number(struct buffer *shown, const char *name, int64_t number)
{
	if (number != 0)
		show_text(shown, name, slice_of(arena_text(arena, "%lld", (long long)number)));
}

static void show_flag(struct buffer *shown, const char *name, bool flag)
{
	if (flag)
		buffer_append_text(shown, arena_text(arena, " %s", name));
}

static const char *ended(struct buffer *shown)
{
	buffer_append_byte(shown, '\0');
	return shown->data;
}

static const char *room_shown(const struct server_room *room)
{
	struct buffer shown = BUFFER_INITIAL(arena);

	show_text(&shown, "id", room->id);
	show_text(&shown, "name", room->name);
	show_number(&shown, "created", room->created);
	return ended(&shown);
}

/* Subscribe, and publish audio, video, the screen, its sound and messages: a letter each, or a
 * hyphen. */
static struct slice rights_shown(unsigned rights)
{
	char shown[] = "savxym";

	if ((rights & RIGHT_KNOWN) == 0)
		return SLICE("");
	for (size_t i = 0; i + 1 < sizeof shown; i++) {
		if ((rights & (unsigned)RIGHT_SUBSCRIBE << i) == 0)
			shown[i] = '-';
	}
	return slice_of(arena_text(arena, "%s", shown));
}

static const char *person_shown(const struct server_person *person)
{
	struct buffer shown = BUFFER_INITIAL(arena);

	if (person->stay.data == NULL)
		return "nobody";
	show_text(&shown, "stay", person->stay);
	show_text(&shown, "identity", person->identity);
	show_text(&shown, "user", person->user_id);
	show_text(&shown, "role", person->role);
	show_text(&shown, "entry", person->entry);
	show_text(&shown, "code", person->code);
	show_text(&shown, "name", person->name);
	show_text(&shown, "metadata", person->metadata);
	show_text(&shown, "may", rights_shown(person->rights));
	show_number(&shown, "joined", person->joined);
	show_flag(&shown, "phone", person->is_by_phone);
	return ended(&shown);
}

static const char *track_shown(const struct server_track *track)
{
	struct buffer shown = BUFFER_INITIAL(arena);

	show_text(&shown, "id", track->id);
	show_number(&shown, "started", track->started);
	show_flag(&shown, "video", track->is_video);
	show_flag(&shown, "screen", track->is_screen);
	show_flag(&shown, "muted", track->is_muted);
	return ended(&shown);
}

/* ---- requests ---- */

static const struct {
	const char *url, *names, *room, *identity;
	const char *path, *body, *video;
	size_t answer_most;
	bool makes;
	int64_t size;
	const char *agents;
} requests[] = {
	{ "http://a/", "[]", NULL, NULL, "http://a/twirp/livekit.RoomService/ListRooms",
	  "{\"names\":[]}", "{\"roomList\":true}", (size_t)16 << 20, false, 0, NULL },
	{ "http://a/b", "[\"r\",\"s\"]", NULL, NULL,
	  "http://a/b/twirp/livekit.RoomService/ListRooms", "{\"names\":[\"r\",\"s\"]}",
	  "{\"roomList\":true}", (size_t)1 << 20, false, 0, NULL },
	{ "http://a", NULL, "r\"s", NULL, "http://a/twirp/livekit.RoomService/ListParticipants",
	  "{\"room\":\"r\\\"s\"}", "{\"roomAdmin\":true,\"room\":\"r\\\"s\"}", (size_t)16 << 20,
	  false, 0, NULL },
	{ "http://a", NULL, "r", "\xc3\xa9 \"", "http://a/twirp/livekit.RoomService/GetParticipant",
	  "{\"room\":\"r\",\"identity\":\"\xc3\xa9 \\\"\"}", "{\"roomAdmin\":true,\"room\":\"r\"}",
	  (size_t)1 << 20, false, 0, NULL },
	{ "http://a", NULL, "r", NULL, "http://a/twirp/livekit.RoomService/CreateRoom",
	  "{\"name\":\"r\"}", "{\"roomCreate\":true}", (size_t)1 << 20, true, 0, "[]" },
	{ "http://a", NULL, "r", NULL, "http://a/twirp/livekit.RoomService/CreateRoom",
	  "{\"name\":\"r\",\"max_participants\":20}", "{\"roomCreate\":true}", (size_t)1 << 20,
	  true, 20, NULL },
	{ "http://a", NULL, "r", NULL, "http://a/twirp/livekit.RoomService/CreateRoom",
	  "{\"name\":\"r\",\"agents\":[{\"agent_name\":\"a\"},{\"agent_name\":\"b\","
	  "\"metadata\":\"{}\",\"deployment\":\"d\"}]}",
	  "{\"roomCreate\":true}", (size_t)1 << 20, true, 0,
	  "[{\"agentName\":\"a\",\"metadata\":\"\"},"
	  "{\"agentName\":\"b\",\"metadata\":\"{}\",\"deployment\":\"d\"}]" },
};

START_TEST(a_request_may_do_only_what_it_is_for)
{
	const struct slice head = SLICE("Content-Type: application/json\nAuthorization: Bearer ");
	struct server_request request = { .is_once = true };
	struct slice mac;
	const json_t *claims;
	struct jwt jwt;

	livekit.url = slice_of(requests[_i].url);
	if (requests[_i].names != NULL)
		server_list_rooms(arena, &livekit, NOW, parsed(requests[_i].names), &request);
	else if (requests[_i].makes)
		server_make_room(
			arena, &livekit, NOW, slice_of(requests[_i].room), requests[_i].size,
			requests[_i].agents == NULL ? NULL : parsed(requests[_i].agents), &request);
	else if (requests[_i].identity == NULL)
		server_list_people(arena, &livekit, NOW, slice_of(requests[_i].room), &request);
	else
		server_ask_person(arena, &livekit, NOW, slice_of(requests[_i].room),
				  slice_of(requests[_i].identity), &request);
	ck_assert_str_eq(arena_copy(arena, request.url).data, requests[_i].path);
	ck_assert_str_eq(arena_copy(arena, request.body).data, requests[_i].body);
	ck_assert_uint_eq(request.answer_most, requests[_i].answer_most);
	ck_assert(!request.is_once && request.is_shared == requests[_i].makes);
	ck_assert(slice_begins(request.headers, head));
	ck_assert(jwt_split((struct slice){ request.headers.data + head.size,
					    request.headers.size - head.size },
			    &jwt));
	ck_assert(jwt_mac(arena, &jwt, &mac) && jwt_mac_is_of(&jwt, mac, SLICE(SECRET)));
	claims = jwt_object(arena, jwt.payload);
	ck_assert_str_eq(json_string_value(json_object_get(claims, "iss")), KEY);
	ck_assert_int_eq(json_integer_value(json_object_get(claims, "exp")), NOW + 60);
	ck_assert(json_equal(json_object_get(claims, "video"), parsed(requests[_i].video)));
}
END_TEST

/* ---- answers ---- */

static struct outcome outcome_of(int status, const char *answer)
{
	return (struct outcome){
		.status = status,
		.answer = arena_text(arena, "%s", answer),
		.answer_size = strlen(answer),
	};
}

#define ANN "\"sid\":\"PA_1\",\"identity\":\"ann\",\"state\":\"ACTIVE\""

/* Answers that are not lists or people; of a person who is not there, in the last column. */
static const struct {
	int status;
	enum sender_failure failure;
	int64_t date;
	const char *answer, *message;
	bool lacks_person;
} verdicts[] = {
	{ 200, SENDER_NO_FAILURE, 0, "", "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, 0, "[]", "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, 0, "{}", "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, NOW + 99, "{}", "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, 0, "{\"rooms\":[{\"sid\":\"\"}],\"participants\":null}",
	  "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, 0, "{\"rooms\":[7],\"participants\":[7],\"sid\":7}",
	  "not a LiveKit", false },
	{ 200, SENDER_NO_FAILURE, 0, "{\"rooms\":{},\"participants\":[{\"identity\":\"ann\"}]}",
	  "not a LiveKit", false },
	/* Complete, but too long, and the beginning of an answer. */
	{ 200, SENDER_TOO_LONG, 0, "{\"rooms\":[],\"participants\":[]," ANN "}",
	  "too many people to list", false },
	{ 200, SENDER_NO_FAILURE, 0, "{\"rooms\":[],\"participants\":[]," ANN, "not a LiveKit",
	  false },
	{ 0, SENDER_REFUSED, 0, "", "refused", false },
	{ 0, SENDER_TIMED_OUT, 0, "", "timed out", false },
	{ 401, SENDER_NO_FAILURE, 0, "{\"rooms\":[],\"participants\":[]," ANN "}", "wrong key",
	  false },
	{ 401, SENDER_NO_FAILURE, NOW - 60, "invalid authorization token", "wrong key", false },
	{ 401, SENDER_NO_FAILURE, NOW - 61, "invalid authorization token", "clock differs by 61 s",
	  false },
	{ 404, SENDER_NO_FAILURE, 0, "<html>", "status 404", false },
	{ 404, SENDER_NO_FAILURE, 0, "{\"code\":\"bad_route\"}", "status 404", false },
	{ 404, SENDER_NO_FAILURE, 0, "{\"code\":\"unavailable\"}", "status 404", false },
	{ 404, SENDER_NO_FAILURE, 0, "{\"code\":\"not_found\",\"msg\":\"m\"}", "status 404", true },
	{ 503, SENDER_NO_FAILURE, 0, "{\"code\":\"unavailable\",\"msg\":\"m\"}", "status 503",
	  true },
	{ 503, SENDER_NO_FAILURE, 0, "{\"code\":\"not_found\"}", "status 503", false },
	{ 503, SENDER_NO_FAILURE, 0, "", "status 503", false },
	{ 404, SENDER_TOO_LONG, 0, "{\"code\":\"not_found\"}", "too many people to list", false },
	{ 500, SENDER_NO_FAILURE, 0, "{\"code\":\"not_found\"}", "status 500", false },
};

START_TEST(other_answers_say_why)
{
	struct outcome outcome = outcome_of(verdicts[_i].status, verdicts[_i].answer);
	struct server_person person = { .stay = SLICE("untouched") };
	struct server_track *tracks;
	struct server_person *people;
	struct server_room *rooms;
	struct server_verdict of_rooms, of_people, of_person;
	size_t count = 77;

	outcome.failure = verdicts[_i].failure;
	outcome.date = verdicts[_i].date;
	server_read_rooms(arena, &livekit, NOW, &outcome, &of_rooms, &rooms, &count);
	server_read_people(arena, &livekit, NOW, &outcome, &of_people, &people, &count);
	ck_assert(!of_rooms.is_up && !of_people.is_up);
	ck_assert_str_eq(of_rooms.message, verdicts[_i].message);
	ck_assert_str_eq(of_people.message, verdicts[_i].message);
	ck_assert_uint_eq(count, 77);
	server_read_person(arena, &livekit, NOW, &outcome, &of_person, &person, &tracks, &count);
	ck_assert(of_person.is_up == verdicts[_i].lacks_person);
	if (verdicts[_i].lacks_person) {
		ck_assert_str_eq(of_person.message, "");
		ck_assert_ptr_null(person.stay.data);
		ck_assert_uint_eq(count, 0);
	} else {
		ck_assert_str_eq(of_person.message, verdicts[_i].message);
		ck_assert(slice_is(person.stay, "untouched"));
		ck_assert_uint_eq(count, 77);
	}
}
END_TEST

START_TEST(a_right_answer_may_tell_of_a_wrong_clock)
{
	static const struct {
		int64_t date;
		const char *message;
	} rows[] = {
		{ 0, "" },
		{ NOW - 5, "" },
		{ NOW + 5, "" },
		{ NOW - 6, "clock differs by 6 s" },
		{ NOW + 6, "clock differs by 6 s" },
	};
	struct outcome outcome = outcome_of(200, "{\"participants\":[]}");
	struct outcome missing = outcome_of(404, "{\"code\":\"not_found\"}");
	struct server_person person, *people;
	struct server_track *tracks;
	struct server_verdict verdict;
	size_t count;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		outcome.date = missing.date = rows[i].date;
		server_read_people(arena, &livekit, NOW, &outcome, &verdict, &people, &count);
		ck_assert(verdict.is_up);
		ck_assert_str_eq(verdict.message, rows[i].message);
		server_read_person(arena, &livekit, NOW, &missing, &verdict, &person, &tracks,
				   &count);
		ck_assert(verdict.is_up);
		ck_assert_str_eq(verdict.message, rows[i].message);
	}
}
END_TEST

static const struct {
	const char *message, *shown;
} rooms_of_lists[] = {
	{ "\"sid\":\"RM_1\",\"name\":\"r\",\"empty_timeout\":300,\"creation_time\":\"1800000000\","
	  "\"creation_time_ms\":\"1800000000123\",\"turn_password\":\"hidden\",\"metadata\":\"\","
	  "\"enabled_codecs\":[{\"mime\":\"audio/opus\",\"fmtp_line\":\"\"}],\"version\":null",
	  "id=RM_1 name=r created=1800000000123" },
	{ "\"sid\":\"RM_1\",\"name\":\"r\",\"creationTime\":\"1800000000\",\"turnPassword\":\"hidden\","
	  "\"creationTimeMs\":\"1800000000123\",\"numParticipants\":1",
	  "id=RM_1 name=r created=1800000000123" },
	{ "\"sid\":\"RM_1\",\"creation_time_ms\":1800000000123", "id=RM_1 created=1800000000123" },
	{ "\"sid\":\"RM_1\",\"creation_time\":\"1800000000\",\"creation_time_ms\":\"0\"",
	  "id=RM_1 created=1800000000000" },
	{ "\"sid\":\"RM_1\",\"creationTime\":1800000000", "id=RM_1 created=1800000000000" },
	{ "\"sid\":\"RM_1\",\"name\":null,\"creation_time_ms\":null", "id=RM_1" },
	{ "\"sid\":\"RM_1\",\"name\":[\"r\"],\"creation_time_ms\":\"soon\"", "id=RM_1" },
	{ "\"sid\":\"RM_1\",\"creation_time_ms\":-1,\"creation_time\":-1", "id=RM_1" },
	/* The last time that can be written, and times after it. */
	{ "\"sid\":\"RM_1\",\"creation_time_ms\":253402300799999",
	  "id=RM_1 created=253402300799999" },
	{ "\"sid\":\"RM_1\",\"creation_time_ms\":253402300800000", "id=RM_1" },
	{ "\"sid\":\"RM_1\",\"creation_time\":9223372036854775807", "id=RM_1" },
	{ "\"sid\":\"RM_1\",\"creation_time\":\"9223372036854775808\"", "id=RM_1" },
	{ "\"sid\":\"RM_1\",\"creation_time\":1e300", "id=RM_1" },
};

START_TEST(a_list_has_rooms)
{
	struct outcome outcome = outcome_of(200, arena_text(arena,
							    "{\"rooms\":[{\"sid\":\"RM_0\"},{%s}]}",
							    rooms_of_lists[_i].message));
	struct server_verdict verdict;
	struct server_room *rooms;
	size_t count;

	server_read_rooms(arena, &livekit, NOW, &outcome, &verdict, &rooms, &count);
	ck_assert(verdict.is_up);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(room_shown(&rooms[0]), "id=RM_0");
	ck_assert_str_eq(room_shown(&rooms[1]), rooms_of_lists[_i].shown);
}
END_TEST

static const struct {
	const char *message, *shown;
} people_of_lists[] = {
	{ "\"sid\":\"PA_1\",\"identity\":\"u#1\",\"state\":\"ACTIVE\",\"tracks\":[],\"metadata\":"
	  "\"{\\\"a\\\":1}\",\"joined_at\":\"1800000000\",\"joined_at_ms\":\"1800000000123\","
	  "\"name\":\"Ann\",\"version\":2,\"permission\":{\"can_subscribe\":true,\"hidden\":false},"
	  "\"region\":\"\",\"is_publisher\":false,\"kind\":\"STANDARD\",\"attributes\":{\"role\":"
	  "\"host\",\"user_id\":\"u\",\"entry\":\"e\",\"code\":\"c\"},\"disconnect_reason\":"
	  "\"UNKNOWN_REASON\",\"kind_details\":[]",
	  "stay=PA_1 identity=u#1 user=u role=host entry=e code=c name=Ann metadata={\"a\":1} "
	  "may=s----- joined=1800000000123" },
	{ "\"sid\":\"PA_1\",\"identity\":\"u#1\",\"state\":\"ACTIVE\",\"joinedAt\":\"1800000000\","
	  "\"joinedAtMs\":\"1800000000123\",\"permission\":{\"canSubscribe\":true},\"attributes\":"
	  "{\"role\":\"host\"},\"clientProtocol\":2",
	  "stay=PA_1 identity=u#1 user=u#1 role=host may=s----- joined=1800000000123" },
	{ ANN, "stay=PA_1 identity=ann user=ann" },
	{ ANN ",\"attributes\":{\"user_id\":\"\",\"role\":\"\"}",
	  "stay=PA_1 identity=ann user=ann" },
	{ ANN ",\"attributes\":{\"userId\":\"u\",\"Role\":\"x\"}",
	  "stay=PA_1 identity=ann user=ann" },
	{ ANN ",\"attributes\":[\"role\"],\"permission\":7,\"name\":null",
	  "stay=PA_1 identity=ann user=ann" },
	{ ANN ",\"attributes\":{\"role\":7},\"joined_at_ms\":\"\",\"joined_at\":\"1800000000\"",
	  "stay=PA_1 identity=ann user=ann joined=1800000000000" },
	{ ANN ",\"permission\":{\"hidden\":\"true\"},\"joinedAtMs\":1800000000123.0",
	  "stay=PA_1 identity=ann user=ann may=------ joined=1800000000123" },
	{ ANN ",\"permission\":{\"recorder\":true,\"agent\":true}",
	  "stay=PA_1 identity=ann user=ann may=------" },
	{ ANN ",\"permission\":{\"canSubscribe\":true,\"canPublish\":true}",
	  "stay=PA_1 identity=ann user=ann may=savxy-" },
	{ ANN ",\"permission\":{\"can_publish\":true,\"can_publish_sources\":[\"MICROPHONE\"]}",
	  "stay=PA_1 identity=ann user=ann may=-a----" },
	{ ANN ",\"permission\":{\"canPublish\":true,\"canPublishSources\":[\"CAMERA\","
	      "\"SCREEN_SHARE_AUDIO\"]}",
	  "stay=PA_1 identity=ann user=ann may=--v-y-" },
	{ ANN ",\"permission\":{\"can_publish\":false,\"can_publish_sources\":[\"CAMERA\"]}",
	  "stay=PA_1 identity=ann user=ann may=------" },
	{ ANN ",\"permission\":{\"canPublish\":false,\"canPublishData\":true}",
	  "stay=PA_1 identity=ann user=ann may=-----m" },
	{ ANN ",\"permission\":{\"hidden\":true}", "nobody" },
	{ "\"sid\":\"PA_1\",\"state\":\"ACTIVE\"", "stay=PA_1" },
};

static const char *first_of_list(const char *message)
{
	struct outcome outcome = outcome_of(
		200, arena_text(arena, "{\"participants\":[{%s},{\"sid\":\"PA_2\",\"state\":2}]}",
				message));
	struct server_verdict verdict;
	struct server_person *people;
	size_t count;

	server_read_people(arena, &livekit, NOW, &outcome, &verdict, &people, &count);
	ck_assert(verdict.is_up);
	ck_assert_uint_ge(count, 1);
	ck_assert_str_eq(person_shown(&people[count - 1]), "stay=PA_2");
	ck_assert_uint_le(count, 2);
	return count == 1 ? "nobody" : person_shown(&people[0]);
}

static const char *single(const char *message)
{
	struct outcome outcome = outcome_of(200, arena_text(arena, "{%s}", message));
	struct server_verdict verdict;
	struct server_person person;
	struct server_track *tracks;
	size_t count;

	server_read_person(arena, &livekit, NOW, &outcome, &verdict, &person, &tracks, &count);
	ck_assert(verdict.is_up);
	ck_assert_uint_eq(count, 0);
	return person_shown(&person);
}

START_TEST(a_list_has_people)
{
	ck_assert_str_eq(first_of_list(people_of_lists[_i].message), people_of_lists[_i].shown);
	ck_assert_str_eq(single(people_of_lists[_i].message), people_of_lists[_i].shown);
}
END_TEST

/* Returns what is read of an event, "" if it is not read. */
static const char *event_shown(const char *text, struct server_event *event)
{
	const char *room, *person;

	*event = (struct server_event){ .type = SERVER_ROOM_ENDED };
	if (!server_read_event(arena, &livekit, slice_of(text), event))
		return "";
	room = room_shown(&event->room);
	person = person_shown(&event->person);
	return arena_text(arena, "%s; %s; %lld", room, person, (long long)event->time);
}

static const char *event_of(const char *name, const char *participant)
{
	return arena_text(arena,
			  "{\"event\":\"%s\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{%s}}",
			  name, participant);
}

static const char *person_of_event(const char *name, const char *participant)
{
	struct server_event event;

	return event_shown(event_of(name, participant), &event)[0] == '\0'
		       ? "nobody"
		       : person_shown(&event.person);
}

static const struct {
	const char *value; /* JSON; NULL: the member is missing */
	bool is_person, is_by_phone;
} kinds[] = {
	{ NULL, true, false },
	{ "null", true, false },
	{ "\"STANDARD\"", true, false },
	{ "0", true, false },
	{ "\"INGRESS\"", true, false },
	{ "1", true, false },
	{ "\"EGRESS\"", false, false },
	{ "2", false, false },
	{ "\"SIP\"", true, true },
	{ "3", true, true },
	{ "\"AGENT\"", false, false },
	{ "4", false, false },
	{ "5", false, false },
	{ "6", false, false },
	{ "\"CONNECTOR\"", true, false },
	{ "7", true, false },
	{ "\"BRIDGE\"", true, false },
	{ "8", true, false },
	{ "9", false, false },
	{ "-1", false, false },
	{ "9223372036854775807", false, false },
	{ "\"ROBOT\"", false, false },
	{ "\"sip\"", false, false },
};

START_TEST(a_kind_is_a_person_or_not)
{
	const char *kind = kinds[_i].value == NULL
				   ? ""
				   : arena_text(arena, ",\"kind\":%s", kinds[_i].value);
	const char *active = arena_text(arena, "\"sid\":\"PA_1\",\"state\":\"ACTIVE\"%s", kind);
	const char *gone = arena_text(arena, "\"sid\":\"PA_1\",\"state\":3%s", kind);
	const char *shown = !kinds[_i].is_person    ? "nobody"
			    : kinds[_i].is_by_phone ? "stay=PA_1 phone"
						    : "stay=PA_1";

	ck_assert_str_eq(first_of_list(active), shown);
	ck_assert_str_eq(single(active), shown);
	ck_assert_str_eq(person_of_event("participant_joined", active), shown);
	ck_assert_str_eq(person_of_event("participant_left", gone), shown);
	ck_assert_str_eq(person_of_event("participant_connection_aborted", gone), shown);
}
END_TEST

static const struct {
	const char *value;
	bool is_active, is_gone;
} states[] = {
	{ NULL, false, false },
	{ "null", false, false },
	{ "\"JOINING\"", false, false },
	{ "0", false, false },
	{ "\"JOINED\"", false, false },
	{ "1", false, false },
	{ "\"ACTIVE\"", true, false },
	{ "2", true, false },
	{ "\"DISCONNECTED\"", false, true },
	{ "3", false, true },
	{ "4", false, false },
	{ "\"active\"", false, false },
	{ "true", false, false },
};

START_TEST(only_connected_people_are_inside)
{
	const char *message = states[_i].value == NULL
				      ? "\"sid\":\"PA_1\""
				      : arena_text(arena, "\"sid\":\"PA_1\",\"state\":%s",
						   states[_i].value);
	const char *inside = states[_i].is_active ? "stay=PA_1" : "nobody";

	ck_assert_str_eq(first_of_list(message), inside);
	ck_assert_str_eq(single(message), inside);
	ck_assert_str_eq(person_of_event("participant_joined", message), inside);
	ck_assert_str_eq(person_of_event("participant_left", message),
			 states[_i].is_gone ? "stay=PA_1" : "nobody");
	ck_assert_str_eq(person_of_event("participant_connection_aborted", message), "stay=PA_1");
}
END_TEST

/* ---- tracks ---- */

static const struct {
	const char *message, *shown; /* shown: NULL if the track is not */
} tracks_of_people[] = {
	{ "\"sid\":\"TR_1\",\"type\":\"AUDIO\",\"name\":\"\",\"muted\":false,\"width\":0,\"source\":"
	  "\"MICROPHONE\",\"layers\":[],\"version\":{\"unix_micro\":\"1800000000123456\",\"ticks\":0}",
	  "id=TR_1 started=1800000000123" },
	{ "\"sid\":\"TR_1\",\"source\":\"MICROPHONE\",\"version\":{\"unixMicro\":1800000000123999}",
	  "id=TR_1 started=1800000000123" },
	{ "\"sid\":\"TR_1\",\"type\":\"VIDEO\",\"muted\":true,\"source\":\"CAMERA\"",
	  "id=TR_1 video muted" },
	{ "\"sid\":\"TR_1\",\"type\":\"VIDEO\",\"source\":\"SCREEN_SHARE\",\"version\":null",
	  "id=TR_1 video screen" },
	{ "\"sid\":\"TR_1\",\"type\":\"AUDIO\",\"source\":\"SCREEN_SHARE_AUDIO\"",
	  "id=TR_1 screen" },
	{ "\"sid\":\"TR_1\",\"type\":1,\"source\":3", "id=TR_1 video screen" },
	{ "\"sid\":\"TR_1\",\"type\":0,\"source\":4", "id=TR_1 screen" },
	{ "\"sid\":\"TR_1\",\"type\":1,\"source\":1", "id=TR_1 video" },
	{ "\"sid\":\"TR_1\",\"type\":0,\"source\":2", "id=TR_1" },
	{ "\"sid\":\"TR_1\",\"source\":\"UNKNOWN\",\"muted\":null", "id=TR_1" },
	{ "\"sid\":\"TR_1\",\"source\":\"NEW\",\"muted\":1,\"version\":7", "id=TR_1" },
	{ "\"sid\":\"TR_1\",\"version\":{\"unix_micro\":\"-1\"}", "id=TR_1" },
	{ "\"sid\":\"TR_1\",\"version\":{\"unix_micro\":\"9223372036854775807\"}", "id=TR_1" },
	{ "\"sid\":\"TR_1\",\"type\":\"DATA\"", NULL },
	{ "\"sid\":\"TR_1\",\"type\":2", NULL },
	{ "\"sid\":\"TR_1\",\"type\":\"SMELL\"", NULL },
	{ "\"type\":\"VIDEO\"", NULL },
	{ "\"sid\":\"\",\"type\":\"VIDEO\"", NULL },
};

START_TEST(a_person_has_tracks)
{
	struct outcome outcome = outcome_of(
		200, arena_text(arena,
				"{" ANN ",\"tracks\":[{\"sid\":\"TR_0\",\"type\":1},{%s},"
				"{\"sid\":\"TR_2\"}],\"data_tracks\":[{\"sid\":\"DT_1\"}]}",
				tracks_of_people[_i].message));
	const char *shown = tracks_of_people[_i].shown;
	struct server_verdict verdict;
	struct server_person person;
	struct server_track *tracks;
	size_t count;

	server_read_person(arena, &livekit, NOW, &outcome, &verdict, &person, &tracks, &count);
	ck_assert(verdict.is_up);
	ck_assert(slice_is(person.stay, "PA_1"));
	ck_assert_uint_eq(count, shown != NULL ? 3 : 2);
	ck_assert_str_eq(track_shown(&tracks[0]), "id=TR_0 video");
	if (shown != NULL)
		ck_assert_str_eq(track_shown(&tracks[1]), shown);
	ck_assert_str_eq(track_shown(&tracks[count - 1]), "id=TR_2");
}
END_TEST

START_TEST(strange_tracks_are_none)
{
	static const char *const rows[] = {
		ANN,
		ANN ",\"tracks\":null",
		ANN ",\"tracks\":{\"sid\":\"TR_1\"}",
		ANN ",\"tracks\":[7,null,[],\"TR_1\"]",
		ANN ",\"data_tracks\":[{\"sid\":\"TR_1\"}]",
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ck_assert_str_eq(single(rows[i]), "stay=PA_1 identity=ann user=ann");
	/* Nor has somebody who is not inside any. */
	ck_assert_str_eq(single("\"sid\":\"PA_1\",\"tracks\":[{\"sid\":\"TR_1\"}]"), "nobody");
}
END_TEST

/* Returns `size` times a character, in quotes. */
static const char *quoted(size_t size, char character)
{
	char *text = arena_alloc(arena, size + 3);

	text[0] = text[size + 1] = '"';
	memset(text + 1, character, size);
	text[size + 2] = '\0';
	return text;
}

START_TEST(long_texts_are_kept)
{
	const char *message = arena_text(
		arena, ANN ",\"name\":%s,\"metadata\":%s,\"attributes\":{\"role\":%s,%s:\"\"}",
		quoted((size_t)64 << 10, 'n'), quoted((size_t)512 << 10, 'm'),
		quoted((size_t)64 << 10, 'r'), quoted((size_t)64 << 10, '_'));
	const char *answer = arena_text(arena, "{\"participants\":[{%s}]}", message);
	struct outcome outcome = outcome_of(200, answer);
	struct server_verdict verdict;
	struct server_person *people;
	struct server_event event;
	size_t count;

	server_read_people(arena, &livekit, NOW, &outcome, &verdict, &people, &count);
	ck_assert(verdict.is_up);
	ck_assert_uint_eq(people[0].name.size, (size_t)64 << 10);
	ck_assert_uint_eq(people[0].metadata.size, (size_t)512 << 10);
	ck_assert_uint_eq(people[0].role.size, (size_t)64 << 10);
	ck_assert_str_ne(event_shown(event_of("participant_joined", message), &event), "");
	ck_assert_uint_eq(event.person.metadata.size, (size_t)512 << 10);
}
END_TEST

/* A NUL is a character that a person may write. */
START_TEST(strange_characters_do_not_spoil_a_list)
{
	ck_assert_str_eq(first_of_list("\"sid\":\"PA_1\",\"state\":2,\"name\":\"a\\u0000b\""),
			 "stay=PA_1 name=a\xef\xbf\xbd"
			 "b");
	ck_assert_str_eq(person_of_event("participant_joined",
					 "\"sid\":\"PA_1\",\"state\":2,\"name\":\"\\u0000\""),
			 "stay=PA_1 name=\xef\xbf\xbd");
}
END_TEST

/* Small in the text, large in memory. */
START_TEST(an_answer_may_not_fill_the_memory)
{
	struct buffer text = BUFFER_INITIAL(arena);
	struct server_person *people;
	struct server_verdict verdict;
	struct outcome outcome;
	size_t count;

	buffer_append_text(&text, "{\"participants\":[{\"sid\":\"PA_1\"}");
	for (size_t i = 0; i < 10000; i++)
		buffer_append_text(&text, ",{\"sid\":\"PA_1\"}");
	buffer_append_text(&text, "]}");
	outcome = (struct outcome){
		.status = 200,
		.answer = text.data,
		.answer_size = text.size,
	};
	(void)arena_use_for_json(arena);
	arena_set_limit(arena, (size_t)1 << 20);
	server_read_people(arena, &livekit, NOW, &outcome, &verdict, &people, &count);
	(void)arena_use_for_json(NULL);
	ck_assert(!verdict.is_up);
	ck_assert_str_eq(verdict.message, "too many people to list");
}
END_TEST

/* ---- events ---- */

static const struct {
	const char *text;
	enum server_event_type type;
	const char *shown;
} events[] = {
	{ "{\"event\":\"participant_joined\",\"room\":{\"sid\":\"RM_1\",\"name\":\"r\","
	  "\"creationTime\":\"1800000000\",\"creationTimeMs\":\"1800000000123\",\"turnPassword\":"
	  "\"hidden\"},\"participant\":{\"sid\":\"PA_1\",\"identity\":\"ann\",\"state\":\"ACTIVE\","
	  "\"joinedAtMs\":\"1800000001123\",\"name\":\"Ann\",\"attributes\":{\"role\":\"guest\"}},"
	  "\"id\":\"EV_1\",\"createdAt\":\"1800000002\"}",
	  SERVER_JOINED,
	  "id=RM_1 name=r created=1800000000123; stay=PA_1 identity=ann user=ann role=guest name=Ann "
	  "joined=1800000001123; 1800000002000" },
	{ "{\"event\":\"participant_joined\",\"room\":{\"sid\":\"RM_1\",\"name\":\"r\","
	  "\"creation_time_ms\":1800000000123},\"participant\":{\"sid\":\"PA_1\",\"state\":2,"
	  "\"kind\":3,\"joined_at_ms\":1800000001123},\"created_at\":1800000002}",
	  SERVER_JOINED,
	  "id=RM_1 name=r created=1800000000123; stay=PA_1 joined=1800000001123 phone; "
	  "1800000002000" },
	{ "{\"event\":\"participant_left\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{\"sid\":"
	  "\"PA_1\",\"state\":\"DISCONNECTED\"},\"createdAt\":\"soon\"}",
	  SERVER_LEFT, "id=RM_1; stay=PA_1; 0" },
	{ "{\"event\":\"participant_connection_aborted\",\"room\":{\"sid\":\"RM_1\"},"
	  "\"participant\":{\"sid\":\"PA_1\"},\"createdAt\":\"1\"}",
	  SERVER_NOT_CONNECTED, "id=RM_1; stay=PA_1; 1000" },
	{ "{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\",\"name\":\"r\"},\"createdAt\":2}",
	  SERVER_ROOM_ENDED, "id=RM_1 name=r; nobody; 2000" },
	/* What a room's end has besides does not matter. */
	{ "{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{" ANN "}}",
	  SERVER_ROOM_ENDED, "id=RM_1; nobody; 0" },
	{ "{\"event\":\"participant_joined\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{" ANN
	  ",\"permission\":{\"hidden\":true}}}",
	  SERVER_JOINED, "" },
	{ "{\"event\":\"participant_left\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{\"sid\":"
	  "\"PA_1\",\"state\":3,\"permission\":{\"hidden\":true}}}",
	  SERVER_JOINED, "" },
	{ "{\"event\":\"participant_joined\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{"
	  "\"state\":\"ACTIVE\"}}",
	  SERVER_JOINED, "" },
	{ "{\"event\":\"participant_joined\",\"room\":{\"sid\":\"RM_1\"}}", SERVER_JOINED, "" },
	{ "{\"event\":\"participant_joined\",\"participant\":{" ANN "}}", SERVER_JOINED, "" },
	{ "{\"event\":\"participant_connection_aborted\",\"room\":{\"sid\":\"RM_1\"}}",
	  SERVER_JOINED, "" },
	{ "{\"event\":\"room_finished\"}", SERVER_JOINED, "" },
	{ "{\"event\":\"room_finished\",\"room\":{\"name\":\"r\"}}", SERVER_JOINED, "" },
	{ "{\"event\":\"room_started\",\"room\":{\"sid\":\"RM_1\"}}", SERVER_JOINED, "" },
	{ "{\"event\":\"track_published\",\"room\":{\"sid\":\"RM_1\"},\"participant\":{" ANN "}}",
	  SERVER_JOINED, "" },
	{ "{\"event\":3,\"room\":{\"sid\":\"RM_1\"}}", SERVER_JOINED, "" },
	{ "{\"room\":{\"sid\":\"RM_1\"},\"participant\":{" ANN "}}", SERVER_JOINED, "" },
	{ "{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\"}", SERVER_JOINED, "" },
	{ "[]", SERVER_JOINED, "" },
	{ "", SERVER_JOINED, "" },
};

START_TEST(an_event_tells_what_happened)
{
	struct server_event event;

	ck_assert_str_eq(event_shown(events[_i].text, &event), events[_i].shown);
	if (events[_i].shown[0] != '\0')
		ck_assert_int_eq(event.type, events[_i].type);
}
END_TEST

static const struct {
	const char *reason; /* JSON; NULL: the member is missing */
	enum leave_cause cause;
} reasons[] = {
	{ NULL, LEAVE_SERVER },	     { "\"UNKNOWN_REASON\"", LEAVE_SERVER },
	{ "0", LEAVE_SERVER },	     { "\"CLIENT_INITIATED\"", LEAVE_LEFT },
	{ "1", LEAVE_LEFT },	     { "\"DUPLICATE_IDENTITY\"", LEAVE_OTHER_DEVICE },
	{ "2", LEAVE_OTHER_DEVICE }, { "\"SERVER_SHUTDOWN\"", LEAVE_SERVER },
	{ "3", LEAVE_SERVER },	     { "\"PARTICIPANT_REMOVED\"", LEAVE_REMOVED },
	{ "4", LEAVE_REMOVED },	     { "\"ROOM_DELETED\"", LEAVE_ENDED },
	{ "5", LEAVE_ENDED },	     { "\"STATE_MISMATCH\"", LEAVE_SIGNAL },
	{ "6", LEAVE_SIGNAL },	     { "\"JOIN_FAILURE\"", LEAVE_SERVER },
	{ "7", LEAVE_SERVER },	     { "\"MIGRATION\"", LEAVE_LEFT },
	{ "8", LEAVE_LEFT },	     { "\"SIGNAL_CLOSE\"", LEAVE_SIGNAL },
	{ "9", LEAVE_SIGNAL },	     { "\"ROOM_CLOSED\"", LEAVE_ENDED },
	{ "10", LEAVE_ENDED },	     { "\"USER_UNAVAILABLE\"", LEAVE_SIP },
	{ "11", LEAVE_SIP },	     { "\"USER_REJECTED\"", LEAVE_SIP },
	{ "12", LEAVE_SIP },	     { "\"SIP_TRUNK_FAILURE\"", LEAVE_SIP },
	{ "13", LEAVE_SIP },	     { "\"CONNECTION_TIMEOUT\"", LEAVE_SIGNAL },
	{ "14", LEAVE_SIGNAL },	     { "\"MEDIA_FAILURE\"", LEAVE_MEDIA },
	{ "15", LEAVE_MEDIA },	     { "\"AGENT_ERROR\"", LEAVE_SERVER },
	{ "16", LEAVE_SERVER },	     { "\"BOREDOM\"", LEAVE_SERVER },
	{ "17", LEAVE_SERVER },	     { "-1", LEAVE_SERVER },
	{ "{}", LEAVE_SERVER },
};

START_TEST(a_reason_is_a_cause)
{
	const char *reason = reasons[_i].reason;
	struct server_event event;

	for (int spelling = 0; spelling < 2; spelling++) {
		const char *name = spelling == 0 ? "disconnectReason" : "disconnect_reason";
		const char *member = reason == NULL ? ""
						    : arena_text(arena, ",\"%s\":%s", name, reason);

		(void)event_shown(
			event_of("participant_left",
				 arena_text(arena, "\"sid\":\"PA_1\",\"state\":3%s", member)),
			&event);
		ck_assert_int_eq(event.type, SERVER_LEFT);
		ck_assert_int_eq(event.cause, reasons[_i].cause);
	}
}
END_TEST

/* ---- signatures of events ---- */

#define BODY "{\"event\":\"room_finished\"}"
#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
/* Claims without their end: sha256. */
#define CLAIMS "{\"iss\":\"" KEY "\",\"exp\":1800000300,\"nbf\":1800000000,\"iat\":1800000000"

/* In the order of the checks. */
static const struct {
	const char *before; /* of the token */
	const char *header, *claims, *secret;
	const char *after; /* of the token */
	const char *body; /* whose SHA-256 is claimed */
	bool is_signed;
} signatures[] = {
	{ "", HEADER, CLAIMS, SECRET, "", BODY, true },
	{ "Bearer ", HEADER, CLAIMS, SECRET, "", BODY, true },
	{ "bearer ", HEADER, CLAIMS, SECRET, "", BODY, true },
	{ "Bearer", HEADER, CLAIMS, SECRET, "", BODY, false },
	{ "Bearer Bearer ", HEADER, CLAIMS, SECRET, "", BODY, false },
	{ "Basic ", HEADER, CLAIMS, SECRET, "", BODY, false },
	{ " ", HEADER, CLAIMS, SECRET, "", BODY, false },
	{ "", HEADER, CLAIMS, SECRET, ".", BODY, false },
	{ "", HEADER, CLAIMS, SECRET, ".x", BODY, false },
	{ "", HEADER, CLAIMS, SECRET, "=", BODY, false },
	{ "", HEADER, CLAIMS, SECRET, "AAAA", BODY, false },
	{ ".", HEADER, CLAIMS, SECRET, "", BODY, false },
	/* the header */
	{ "", "{\"alg\":\"HS256\"}", CLAIMS, SECRET, "", BODY, true },
	{ "", "{}", CLAIMS, SECRET, "", BODY, false },
	{ "", "{\"alg\":null}", CLAIMS, SECRET, "", BODY, false },
	{ "", "{\"alg\":\"hs256\"}", CLAIMS, SECRET, "", BODY, false },
	{ "", "{\"alg\":\"none\"}", CLAIMS, SECRET, "", BODY, false },
	{ "", "{\"alg\":\"HS384\"}", CLAIMS, SECRET, "", BODY, false },
	{ "", "{\"alg\":[\"HS256\"]}", CLAIMS, SECRET, "", BODY, false },
	{ "", "HS256", CLAIMS, SECRET, "", BODY, false },
	{ "", "", CLAIMS, SECRET, "", BODY, false },
	/* iss */
	{ "", HEADER, "{\"exp\":1800000300", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"\",\"exp\":1800000300", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"a_ke\",\"exp\":1800000300", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"A_KEY\",\"exp\":1800000300", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":[\"" KEY "\"],\"exp\":1800000300", SECRET, "", BODY, false },
	/* the signature */
	{ "", HEADER, CLAIMS, "a secret of this suite, for LiveKiT", "", BODY, false },
	{ "", HEADER, CLAIMS, SECRET " ", "", BODY, false },
	{ "", HEADER, CLAIMS, "", "", BODY, false },
	{ "", HEADER, CLAIMS, NULL, "", BODY, false }, /* there is none */
	/* exp */
	{ "", HEADER, "{\"iss\":\"" KEY "\"", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":null", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":\"1800000300\"", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":-1800000300", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1799999940", SECRET, "", BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1799999941", SECRET, "", BODY, true },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1799999940.5", SECRET, "", BODY, true },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1e300", SECRET, "", BODY, true },
	/* nbf */
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1800000300,\"nbf\":1800000060", SECRET, "",
	  BODY, true },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1800000300,\"nbf\":1800000061", SECRET, "",
	  BODY, false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1800000300,\"nbf\":\"1\"", SECRET, "", BODY,
	  false },
	{ "", HEADER, "{\"iss\":\"" KEY "\",\"exp\":1800000300,\"nbf\":null", SECRET, "", BODY,
	  false },
	/* sha256 */
	{ "", HEADER, CLAIMS, SECRET, "", BODY " ", false },
	{ "", HEADER, CLAIMS, SECRET, "", "", false },
	{ "", HEADER, CLAIMS ",\"no_", SECRET, "", BODY, false },
};

/* Returns a token. The claims end with that of the body's digest. */
static struct slice sign(const char *header, const char *claims, const char *secret,
			 const char *body)
{
	unsigned char digest[DIGEST_SIZE], mac[DIGEST_SIZE];
	struct slice text;

	digest_sha256(slice_of(body), digest);
	text = text_base64(arena, (struct slice){ (const char *)digest, sizeof digest });
	claims = arena_text(arena, "%s%ssha256\":\"%.*s\"}", claims,
			    claims[strlen(claims) - 1] == '_' ? "" : ",\"", (int)text.size,
			    text.data);
	text = jwt_signed_text(arena, slice_of(header), slice_of(claims));
	if (secret == NULL)
		return jwt_token(arena, text, SLICE(""));
	digest_hmac_sha256(slice_of(secret), text, mac);
	return jwt_token(arena, text, (struct slice){ (const char *)mac, sizeof mac });
}

START_TEST(an_event_must_be_signed)
{
	struct buffer authorization = BUFFER_INITIAL(arena);

	buffer_append_text(&authorization, signatures[_i].before);
	buffer_append(&authorization, sign(signatures[_i].header, signatures[_i].claims,
					   signatures[_i].secret, signatures[_i].body));
	buffer_append_text(&authorization, signatures[_i].after);
	ck_assert(server_signed_event(arena, &livekit, NOW, buffer_slice(&authorization),
				      SLICE(BODY)) == signatures[_i].is_signed);
}
END_TEST

START_TEST(no_byte_of_a_token_may_differ)
{
	const struct slice token = sign(HEADER, CLAIMS, SECRET, BODY);
	char *changed = arena_alloc(arena, token.size);

	memcpy(changed, token.data, token.size);
	for (size_t i = 0; i < token.size; i++) {
		changed[i] = (char)(changed[i] ^ 1);
		ck_assert(!server_signed_event(arena, &livekit, NOW,
					       (struct slice){ changed, token.size }, SLICE(BODY)));
		changed[i] = token.data[i];
		ck_assert(!server_signed_event(arena, &livekit, NOW,
					       (struct slice){ token.data, i }, SLICE(BODY)));
	}
	ck_assert(
		!server_signed_event(arena, &livekit, NOW, (struct slice){ NULL, 0 }, SLICE(BODY)));
	ck_assert(!server_signed_event(arena, &livekit, NOW, token, (struct slice){ NULL, 0 }));
	ck_assert(server_signed_event(arena, &livekit, NOW, token, SLICE(BODY)));
}
END_TEST

/* A token of exactly 4 KiB, and of one byte more than is allowed; Bearer does not count. */
START_TEST(a_token_has_a_maximum_size)
{
	for (size_t more = 0; more < 2; more++) {
		struct slice token = { NULL, 0 };
		struct buffer header = BUFFER_INITIAL(arena);

		for (size_t size = 2800; token.size < 4096 + more; size++) {
			const char *padding = quoted(size, 'x');

			token = sign(HEADER, arena_text(arena, CLAIMS ",\"x\":%s", padding), SECRET,
				     BODY);
		}
		ck_assert_uint_eq(token.size, 4096 + more);
		buffer_append_text(&header, "Bearer ");
		buffer_append(&header, token);
		ck_assert(server_signed_event(arena, &livekit, NOW, buffer_slice(&header),
					      SLICE(BODY)) == (more == 0));
		ck_assert(server_signed_event(arena, &livekit, NOW, token, SLICE(BODY)) ==
			  (more == 0));
	}
}
END_TEST

/* Without a secret or a key in the config, nothing is signed. */
START_TEST(a_config_without_a_secret_signs_nothing)
{
	static const char *const configs[] = {
		"{\"api_key\":\"" KEY "\"}",
		"{\"api_key\":\"" KEY "\",\"api_secret\":\"\"}",
		"{\"api_key\":\"" KEY "\",\"api_secret\":null}",
		"{}",
	};
	const struct slice token = sign(HEADER, CLAIMS, "", BODY);

	for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
		livekit.config = parsed(configs[i]);
		ck_assert(!server_signed_event(arena, &livekit, NOW, token, SLICE(BODY)));
	}
	livekit.config = NULL;
	ck_assert(!server_signed_event(arena, &livekit, NOW, token, SLICE(BODY)));
	livekit.config = parsed("{\"api_secret\":\"" SECRET "\"}");
	ck_assert(!server_signed_event(
		arena, &livekit, NOW,
		sign(HEADER, "{\"iss\":\"\",\"exp\":1800000300", SECRET, BODY), SLICE(BODY)));
}
END_TEST

START_TEST(other_servers_tell_nothing)
{
	const struct slice token = sign(HEADER, CLAIMS, SECRET, BODY);
	struct server_event event;

	for (enum backend_type type = 0; type < BACKEND_TYPES_COUNT; type++) {
		livekit.type = type;
		ck_assert(server_signed_event(arena, &livekit, NOW, token, SLICE(BODY)) ==
			  (type == BACKEND_LIVEKIT));
		ck_assert(
			server_read_event(
				arena, &livekit,
				SLICE("{\"event\":\"room_finished\",\"room\":{\"sid\":\"RM_1\"}}"),
				&event) == (type == BACKEND_LIVEKIT));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("livekit");
	TCase *asked = tcase_create("asked"), *told = tcase_create("told");

	tcase_add_checked_fixture(asked, set_up, tear_down);
	tcase_add_loop_test(asked, a_request_may_do_only_what_it_is_for, 0, ROWS(requests));
	tcase_add_loop_test(asked, other_answers_say_why, 0, ROWS(verdicts));
	tcase_add_test(asked, a_right_answer_may_tell_of_a_wrong_clock);
	tcase_add_loop_test(asked, a_list_has_rooms, 0, ROWS(rooms_of_lists));
	tcase_add_loop_test(asked, a_list_has_people, 0, ROWS(people_of_lists));
	tcase_add_loop_test(asked, a_kind_is_a_person_or_not, 0, ROWS(kinds));
	tcase_add_loop_test(asked, only_connected_people_are_inside, 0, ROWS(states));
	tcase_add_loop_test(asked, a_person_has_tracks, 0, ROWS(tracks_of_people));
	tcase_add_test(asked, strange_tracks_are_none);
	tcase_add_test(asked, long_texts_are_kept);
	tcase_add_test(asked, strange_characters_do_not_spoil_a_list);
	tcase_add_test(asked, an_answer_may_not_fill_the_memory);
	suite_add_tcase(suite, asked);
	tcase_add_checked_fixture(told, set_up, tear_down);
	tcase_add_loop_test(told, an_event_tells_what_happened, 0, ROWS(events));
	tcase_add_loop_test(told, a_reason_is_a_cause, 0, ROWS(reasons));
	tcase_add_loop_test(told, an_event_must_be_signed, 0, ROWS(signatures));
	tcase_add_test(told, no_byte_of_a_token_may_differ);
	tcase_add_test(told, a_token_has_a_maximum_size);
	tcase_add_test(told, a_config_without_a_secret_signs_nothing);
	tcase_add_test(told, other_servers_tell_nothing);
	suite_add_tcase(suite, told);
	return suite_run(suite);
}
