/* Faulty dumps, which are refused, and removals.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command/again.h"
#include "command/removal.h"
#include "life.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/code_record.h"
#include "resources/audit_record.h"
#include "resources/stored/webhook_record.h"
#include "resources/stored/default_template.h"
#include "store_failing.h"
#include "suite.h"

#define BY_AN_UNRELEASED "the dump was written by an unreleased version of Anteroom"
#define BY_A_NEWER "the dump was written by a newer version of Anteroom"

static const struct {
	const char *line; /* the first line that contains this */
	const char *from, *to; /* replaced in that line */
	const char *says;
} faulty[] = {
	/* Faults of a single line. */
	{ "{\"dump\"", "\"format\":1", "\"format\":0", "/dump/format: must be" },
	{ "{\"dump\"", "\"format\":1", "\"format\":\"1\"", "/dump/format: must be" },
	{ "{\"dump\"", "\"number\":7", "\"number\":\"7\"", "/dump/number: must be" },
	{ "{\"dump\"", "\"number\":7", "\"number\":6", BY_AN_UNRELEASED },
	{ "{\"dump\"", "\"number\":7", "\"number\":8", BY_A_NEWER },
	{ "{\"dump\"", "\"format\":1", "\"format\":2", BY_A_NEWER },
	{ "{\"dump\"", "\"format\":1", "\"format\":7", BY_A_NEWER },
	{ "{\"dump\"", "\"form\":", "\"from\":", BY_AN_UNRELEASED },
	{ "{\"dump\"", "\"form\":\"s=", "\"form\":\"s=1", BY_A_NEWER },
	{ "{\"dump\"", "\"form\":\"", "\"form\":\"0=1:00000000 ", BY_A_NEWER },
	{ "{\"dump\"", " n=2:", " n=1:", BY_AN_UNRELEASED },
	{ "{\"dump\"", "{\"dump\"", "{\"dimp\"", "its beginning is missing" },
	{ "{\"dump\"", "}}", "},\"end\":{\"accounts\":0}}", "a line must have exactly one member" },
	{ "{\"dump\"", "{\"dump\"", "\"dump\"", "Malformed JSON" },
	{ "{\"account\"", "\"name\":\"a\"", "\"name\":\" a\"", "/account/name: must be" },
	{ "{\"account\"", "\"enabled\":", "\"enabbled\":", "/account/enabled: is required" },
	{ "{\"account\"", "\"secret\":\"", "\"secret\":\"!", "/account/secrets/0/secret: must be" },
	{ "{\"account\"", "\"sessions\":false", "\"sessions\":\"off\"",
	  "/account/sessions: must be" },
	{ "{\"account\"", "\"enabled\":", "\"client_url\":\"a\",\"enabled\":",
	  "/account/client_url: must begin with" },
	{ "{\"account\"", "\"created_at\":\"2", "\"created_at\":\"Z",
	  "/account/created_at: must be a time" },
	{ "{\"media\"", "{\"media\"", "{\"medium\"", "/medium: is not a known field" },
	{ "{\"media\"", "\"code_key\":\"", "\"code_key\":\"!",
	  "/media/code_key: must be base64url" },
	{ "{\"media\"", "\"alg\":\"EdDSA\"", "\"alg\":\"ES256\"",
	  "/media/signing_keys/2/private_key: must be a private key for its alg" },
	{ "{\"media\"", "\"retires_at\"", "\"retired_at\"",
	  "/media/signing_keys/0: has an unknown member" },
	{ "{\"media\"", "\"alg\":\"ES256\",", "\"alg\":\"HS256\",",
	  "must be one of the allowed values" },
	{ "\"name\":\"one\"", "\"priority\":2", "\"priority\":9",
	  "/template/roles/chief/priority: must be from 1 to 5" },
	{ "\"name\":\"one\"", "\"name\":\"r\"", "\"name\":\"/\"",
	  "/template/recordings/name: must be 1 to 64" },
	{ "\"name\":\"one\"", "\"name\":\"r\",\"role\":\"chief\"",
	  "\"name\":\"r\",\"role\":\"host\"",
	  "/template/recordings/role: must be a role of the template" },
	{ "\"name\":\"one\"", "\"name\":\"one\"", "\"name\":\"two\"",
	  "another object already has its name" },
	{ "\"name\":\"one\"", "\"name\":\"one\",", "", "/template/name: is required" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":\"1\",",
	  "/template/roles/0/identity: must be an integer" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":0,",
	  "/template/roles/0/identity: must be an integer from 1" },
	{ "\"name\":\"one\"", "\"id\":\"", "\"id\":\"0", "/template/id: must be an ID" },
	{ "{\"template\"", "\"created_at\":\"2", "\"created_at\":\"Z",
	  "/template/created_at: must be a time" },
	{ "{\"template\"", "\"backend\":\"two\"", "\"backend\":\"three\"",
	  "/settings/backend: no such backend" },
	{ "{\"room\"", "\"template_id\":\"", "\"template_id\":\"0",
	  "/room/template_id: must be an ID" },
	{ "{\"room\"", "\"region\":\"", "\"region\":\"x", "/room/document/region: must be one of" },
	{ "{\"room\"", "\"enabled\":false,", "", "/room/document/enabled: is required" },
	{ "\"name\":\"moved\"", "\"name\":\"moved\"", "\"name\":\"FOLLOWED\"",
	  "another object already has its name" },
	{ "\"name\":\"Own\"", "\"size\":5000", "\"size\":50000", "/room/document/size: must be" },
	{ "\"name\":\"Own\"", "\"large_room\":true", "\"large_room\":false",
	  "/room/document/size: must be from 0 to 2500" },
	{ "\"name\":\"Own\"",
	  "\"recording_info\":", "\"recordinginfo\":", "/room/hidden: must have only members" },
	{ "{\"codes\"", "\"groups\":[", "\"x\":[],\"groups\":[", "/codes: has an unknown member" },
	{ "{\"codes\"", "\"asked\":true", "\"asked\":1", "/codes/asked: must be true or false" },
	{ "{\"codes\"", "\"room\":\"", "\"room\":\"000000000000000000000000\",\"x\":\"",
	  "/codes: has an unknown member" },
	{ "own-words", "\"max_uses\":5", "\"max_uses\":0",
	  "/code/max_uses: must be an integer from 1" },
	{ "own-words", "\"code\":\"own-words\"", "\"code\":\"own_words\"", "or a custom code" },
	{ "own-words", "\"group\":", "\"group\":9", "/code/group: must be a group in the line" },
	{ "own-words", "\"metadata\":{", "\"metadata\":[{", "Malformed JSON" },
	{ "\"words\":\"gone-words\"", "gone-words", "gone_words", "or a custom code" },
	{ "{\"words\"", "\"account\":\"", "\"was\":\"", "/words/account: is required" },
	{ "{\"webhooks\"", "\"until\":\"2", "\"until\":\"Z",
	  "former_secrets/0/until: must be a time" },
	{ "{\"webhooks\"", "\"secret\":\"", "\"secret\":\"!", "/secret: must be base64url" },
	{ "{\"key\"", "\"digest\":\"", "\"digest\":\"!", "/key/digest: must be base64url" },
	{ "{\"key\"", "\"scopes\":", "\"scopes\":99999", "/key/scopes: must be an integer from 1" },
	{ "{\"event\"", "\"seq\":1,", "\"seq\":999999,", "/event/seq: must be within" },
	{ "{\"session\"", "\"active\":true", "\"active\":1", "/session/active: must be true" },
	{ "{\"session\"", "\"room_id\":\"", "\"room_id\":\"0", "/session/room_id: must be an ID" },
	{ "{\"peer\"", "\"session_id\":\"6", "\"session_id\":\"5",
	  "belongs to a session that no earlier line contains" },
	{ "{\"peer\"", "\"joined_at\":\"2", "\"joined_at\":\"Z",
	  "/peer/joined_at: must be a time" },
	{ "{\"peer\"", "\"cause\":\"", "\"cause\":\"x", "/peer/cause: must be one of" },
	{ "{\"live\"", "\"backend_id\":\"", "\"backend_id\":\"0",
	  "/live/backend_id: must be an ID" },
	{ "\"user_id\":\"m\",\"created_by\"", "\"room_id\":\"", "\"room_id\":\"0",
	  "/ban/room_id: must be an ID" },
	{ "{\"ban\"", "\"created_by\":{", "\"created_by\":3,\"x\":{",
	  "/ban/created_by: must be an object" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"expires_at\":\"2",
	  "\"expires_at\":\"Z", "/ban/expires_at: must be a time" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"user_id\"", "\"code_hash\"",
	  "/code_hash: must be the hash of a code" },
	{ "\"expires_at\":\"2990-01-01T00:00:00Z\",\"user_id\"", "\"user_id\":\"m\",", "",
	  "/user_id: a ban has either" },
	{ "{\"usage\"", "\"day\":", "\"day\":-", "/usage/day: must be an integer from 0" },
	{ "{\"event\"", "\"actor\":{", "\"actor\":3,\"x\":{", "/event/actor: must be an object" },
	/* Faults of several lines together. */
	{ "{\"end\"", "\"room\":4", "\"room\":5", "do not match the dump" },
	{ "{\"end\"", "\"media\":1,", "", "do not match the dump" },
	{ "{\"end\"", "\"accounts\":2", "\"accounts\":3", "do not match the dump" },
	{ "{\"media\"", "\"state\":\"next\"", "\"state\":\"active\"",
	  "/signing_keys/4: another key with the same alg is already active" },
	{ "{\"media\"", "\"type\":\"livekit\"", "\"type\":\"jitsi\"",
	  "/backends/0/url: must be an https URL" },
	{ "{\"media\"", "\"api_secret\"", "\"apisecret\"",
	  "/backends/0/config/apisecret: is not a known field" },
	{ "{\"media\"", "\"default\":false", "\"default\":true",
	  "/backends/1: an earlier backend is already the default" },
	{ "{\"media\"", "\"name\":\"lk\"", "\"name\":\"two\"",
	  "/backends/1: an earlier backend has the same name" },
	{ "{\"media\"", "\"last_backend\":4", "\"last_backend\":3",
	  "/backends/3/id: must be newer" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":7,",
	  "/roles/0: has an identity that was never assigned" },
	{ "\"name\":\"one\"", "\"identity\":1,", "\"identity\":3,",
	  "has the same identity as another role" },
	{ "{\"codes\"", "\"last_identity\":", "\"last_identity\":9",
	  "/last_identity: is of a role that the template never had" },
	{ "\"due_at\"", "\"due_roles\":[{\"identity\":1", "\"due_roles\":[{\"identity\":3",
	  "/due_roles/0: has a code, or cannot be due" },
	{ "\"due_at\"", "\"asked\":true", "\"asked\":false",
	  "/due_roles/0: has a code, or cannot be due" },
	{ "{\"code\"", "\"place\":\"0000000000000000", "\"place\":\"00000000ff000000",
	  "/place: was never assigned" },
	{ "{\"webhooks\"", "\"last\":3", "\"last\":2", "/webhooks/1/id: must be newer" },
	{ "{\"webhooks\"", "https://c", "gopher://c", "/webhooks/1/url: must be an https URL" },
	{ "{\"default_template\"", "\"template_id\":\"",
	  "\"template_id\":\"000000000000000000000000\",\"x\":\"", "has an unknown member" },
	{ "{\"session\"", "\"active\":true", "\"active\":false",
	  "/session_id: is not an active session of the room" },
	{ "\"inside\":true", "\"inside\":true", "\"inside\":false",
	  "/left_at: does not match inside" },
	{ "{\"live\"", "\"backend_id\":\"6", "\"backend_id\":\"5",
	  "/backend_id: its backend does not" },
	{ "{\"end\"", "\"live\":1", "\"live\":2", "do not match the dump" },
	{ "{\"log\"", "\"first\":1,", "\"first\":2,", "/event/seq: must be within" },
};

/* Returns the line with the first `from` replaced by `to`. */
static char *replaced(const char *line, const char *from, const char *to)
{
	const char *place = strstr(line, from);
	size_t size = strlen(line) + strlen(to) + 1;
	char *text = malloc(size);

	ck_assert_msg(place != NULL, "no %s in %s", from, line);
	ck_assert_ptr_nonnull(text);
	(void)snprintf(text, size, "%.*s%s%s", (int)(place - line), line, to, place + strlen(from));
	return text;
}

START_TEST(a_faulty_line_is_refused)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000], *line;
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(faulty); row++) {
		const size_t faulty_line = line_with(&dumped, faulty[row].line);

		line = dumped.lines[faulty_line];
		dumped.lines[faulty_line] = replaced(line, faulty[row].from, faulty[row].to);
		ck_assert_msg(!load(&other, &dumped, &at, said), "row %d was accepted", row);
		ck_assert_msg(strstr(said, faulty[row].says) != NULL, "row %d, line %zu: %s", row,
			      at, said);
		free(dumped.lines[faulty_line]);
		dumped.lines[faulty_line] = line;
	}
	load_whole(&other, &dumped);
	free_lines(&dumped);
}
END_TEST

/* What an older release has stored, and this one does not take from anybody new. */
static const struct {
	const char *line, *from, *to;
} older[] = {
	{ "own-words", "\"user_id\":\"u\"", "\"user_id\":\"u\\u0001\"" },
	{ "own-words", "\"name\":\"n\"", "\"name\":\"n\\n\"" },
	{ "\"reason\":\"noise\"", "noise", "noi\\tse" },
	{ "{\"key\"", "\"name\":\"", "\"name\":\"\\u001f" },
};

START_TEST(texts_of_an_older_release_are_loaded)
{
	struct lines dumped = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &dumped);
	for (int row = 0; row < ROWS(older); row++) {
		char **line = &dumped.lines[line_with(&dumped, older[row].line)];
		char *former = *line;

		*line = replaced(former, older[row].from, older[row].to);
		free(former);
	}
	load_whole(&other, &dumped);
	free_lines(&dumped);
}
END_TEST

/* One line is missing or repeated, or the dump ends before it. */
/* Programs that were never released had other formats. */
START_TEST(a_dump_without_a_form_is_refused)
{
	static const char *const heads[] = {
		"{\"dump\":{\"format\":2,\"program\":\"0.1.0\",\"made_at\":\"2026-01-01T00:00:00Z\"}}",
		"{\"dump\":{\"format\":6,\"program\":\"0.1.0\",\"made_at\":\"2026-01-01T00:00:00Z\"}}",
		"{\"dump\":{\"format\":1,\"program\":\"0.1.0\",\"made_at\":\"2026-01-01T00:00:00Z\"}}",
	};

	for (size_t i = 0; i < ROWS(heads); i++) {
		struct lines lines = { .lines = { strdup(heads[i]) }, .count = 1 };
		char said[2000];
		size_t at;

		ck_assert(!load(&other, &lines, &at, said));
		ck_assert_msg(strstr(said, BY_AN_UNRELEASED) != NULL, "%s", said);
		free_lines(&lines);
	}
}
END_TEST

START_TEST(an_incomplete_dump_is_refused)
{
	struct lines dumped = { .count = 0 }, part;
	struct life life;
	char said[2000];
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	for (size_t i = 0; i < dumped.count; i++) {
		if (!suite_draws(i))
			continue;
		part = dumped;
		part.count = i;
		ck_assert_msg(!load(&other, &part, &at, said), "%zu lines", i);
		part = dumped;
		part.count--;
		memmove(&part.lines[i], &part.lines[i + 1],
			(dumped.count - i - 1) * sizeof part.lines[0]);
		ck_assert_msg(!load(&other, &part, &at, said), "without line %zu", i);
		part = dumped;
		part.count++;
		memmove(&part.lines[i + 1], &part.lines[i],
			(dumped.count - i) * sizeof part.lines[0]);
		ck_assert_msg(!load(&other, &part, &at, said), "line %zu twice", i);
	}
	free_lines(&dumped);
}
END_TEST

START_TEST(accounts_that_exist_are_refused)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000];
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	ck_assert(!load(&one, &dumped, &at, said));
	ck_assert_msg(strstr(said, "/account/id: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	ck_assert_msg(strstr(said, "/account/name: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	ck_assert(accounts_add(other.directory, &clock_system, "b", NULL, &fault));
	ck_assert(!load(&other, &dumped, &at, said));
	ck_assert_msg(strstr(said, "/account/name: an account with this value already exists") !=
			      NULL,
		      "%s", said);
	free_lines(&dumped);
}
END_TEST

#define CODE_BYTES (1 + 1 + 4 + 8 + 8 + 4 + 1)

/* A code is unique in the whole installation: a code of another account prevents the load, even if
 * it has been deleted. */
static const struct {
	const struct store_kind *kind;
	size_t size; /* of the value */
	const char *words;
} taken[] = {
	/* A version, a flag, a group, two times, an empty role name, and no terms. */
	{ &kind_code, CODE_BYTES, "another object already has its name" },
	{ &kind_words, 1, "is or was a code of another account" },
};

START_TEST(codes_that_are_taken_are_refused)
{
	char value[CODE_BYTES];
	struct lines dumped = { .count = 0 };
	struct life life;
	char said[2000];
	const char *letters;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	uint64_t number;
	size_t at;

	live(&one, &life);
	dump(&one, &dumped);
	letters = NULL;
	for (size_t i = 0; letters == NULL && i < dumped.count; i++)
		letters = strstr(dumped.lines[i], "\"code\":\"");
	ck_assert_ptr_nonnull(letters);
	letters += strlen("\"code\":\"");
	ck_assert(store_begin(other.environment.store, STORE_WRITE, arena, &transaction, &fault));
	memset(value, 0, sizeof value);
	value[0] = 1;
	ck_assert(store_put(transaction, taken[_i].kind,
			    &(const struct store_record){ .name = { letters, 12 },
							  .value = { value, taken[_i].size } },
			    NULL, &fault));
	ck_assert(store_commit(transaction, &number, &fault));
	ck_assert(!load(&other, &dumped, &at, said));
	ck_assert_msg(strstr(said, taken[_i].words) != NULL, "%s", said);
	ck_assert(memmem(said, strlen(said), letters, 12) == NULL);
	free_lines(&dumped);
	arena_close(arena);
}
END_TEST

/* A store that returns FAULT_AGAIN requires this. */
START_TEST(lines_can_be_read_again_in_another_transaction)
{
	struct lines dumped = { .count = 0 }, again = { .count = 0 };
	struct life life;

	live(&one, &life);
	dump(&one, &dumped);
	dumped.is_read_again = true;
	load_whole(&other, &dumped);
	dump(&other, &again);
	ck_assert_uint_eq(dumped.count, again.count);
	/* The first line contains the time of the dump. */
	for (size_t i = 1; i < dumped.count; i++)
		ck_assert_str_eq(dumped.lines[i], again.lines[i]);
	free_lines(&again);
	free_lines(&dumped);
}
END_TEST

static const struct {
	unsigned get; /* which get of a transaction returns FAULT_AGAIN; 0 for its commit */
	unsigned times;
	bool is_done;
} agains[] = {
	{ 0, 1, true },
	{ 0, AGAIN_MOST - 1, true },
	{ 0, AGAIN_MOST, false },
	{ 1, AGAIN_MOST - 1, true },
	{ 3, AGAIN_MOST - 1, true },
	{ 3, AGAIN_MOST, false },
};

START_TEST(a_removal_is_run_again_if_the_store_requires_it)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct removal removal = { .arena = arena_open() };
	struct roster *roster;
	struct store *store = store_failing_open(other.environment.store);
	struct fault why = FAULT_INITIAL;

	other.environment.store = store; /* closes both stores */
	removal.store = store;
	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert(accounts_list(other.directory, &roster, &fault));
	removal.account = roster->accounts[0].id;
	store_failing_again(store, agains[_i].get, agains[_i].times);
	ck_assert_int_eq(removal_run(&removal, &why), agains[_i].is_done);
	ck_assert_int_eq(why.kind, agains[_i].is_done ? FAULT_NONE : FAULT_AGAIN);
	/* In both cases the removal can be run again. */
	ck_assert(removal_run(&removal, &fault));
	roster_close(roster);
	free_lines(&dumped);
	arena_close(removal.arena);
}
END_TEST

/* The files of recordings are deleted later, by the service. */
static void forget_files(struct arena *arena, uint64_t *number)
{
	struct call call = { .environment = &other.environment, .arena = arena };
	struct gone_file *files;
	bool is_there;
	size_t n;

	call.now = clock_now(&clock_system);
	ck_assert(store_begin(other.environment.store, STORE_WRITE, arena, &call.transaction,
			      &fault));
	ck_assert(gone_files_due(&call, 16, &files, &n, &fault));
	ck_assert_uint_gt(n, 0);
	for (size_t i = 0; i < n; i++)
		ck_assert(gone_file_remove(&call, &files[i], &is_there, &fault) && is_there);
	ck_assert(store_commit(call.transaction, number, &fault));
}

START_TEST(an_abandoned_load_leaves_nothing)
{
	struct lines dumped = { .count = 0 };
	struct life life;
	struct arena *arena = arena_open();
	struct transaction *transaction;
	struct walked_entry entry;
	struct entry_walk *walk;
	struct roster *roster;
	uint64_t number = 0;

	live(&one, &life);
	dump(&one, &dumped);
	load_whole(&other, &dumped);
	ck_assert(accounts_list(other.directory, &roster, &fault));
	for (size_t i = 0; i < roster->count; i++) {
		struct call call = { .environment = &other.environment, .arena = arena };
		bool is_empty = false;

		call.account = roster->accounts[i].id;
		/* As after a load that ended between the line of the account and those of its
		 * templates. */
		ck_assert(store_begin(other.environment.store, STORE_WRITE, arena,
				      &call.transaction, &fault));
		call_set_account(&call);
		ck_assert(default_template_set(&call, &roster->accounts[i].id, true, NULL, &fault));
		ck_assert(store_commit(call.transaction, &number, &fault));
		while (!is_empty) {
			ck_assert(store_begin(other.environment.store, STORE_WRITE, arena,
					      &call.transaction, &fault));
			ck_assert(transfer_remove_some(&call, &is_empty, &fault));
			ck_assert(store_commit(call.transaction, &number, &fault));
		}
	}
	forget_files(arena, &number);
	ck_assert(store_wait(other.environment.store, number, &fault));
	ck_assert(store_begin(other.environment.store, STORE_READ, arena, &transaction, &fault));
	walk = entries_walk(transaction, false);
	/* The last numbers stay, so that they are not used again, and the codes remain reserved for
	 * their account. */
	while (entries_next(walk, &entry, &fault))
		ck_assert_msg(entry.table == STORE_COUNTER ||
				      (entry.table == STORE_NAMED && entry.key.data[0] == 'w'),
			      "%s, %zu bytes", store_table_name(entry.table), entry.key.size);
	ck_assert_int_eq(fault.kind, FAULT_NONE);
	store_abandon(transaction);
	roster_close(roster);
	free_lines(&dumped);
	arena_close(arena);
}
END_TEST

void add_refused(TCase *refused, TCase *transfer, TCase *older_texts)
{
	tcase_add_test(refused, a_faulty_line_is_refused);
	tcase_add_test(refused, an_incomplete_dump_is_refused);
	tcase_add_test(refused, a_dump_without_a_form_is_refused);
	tcase_add_test(transfer, accounts_that_exist_are_refused);
	tcase_add_loop_test(transfer, codes_that_are_taken_are_refused, 0, ROWS(taken));
	tcase_add_test(transfer, an_abandoned_load_leaves_nothing);
	tcase_add_test(transfer, lines_can_be_read_again_in_another_transaction);
	tcase_add_loop_test(transfer, a_removal_is_run_again_if_the_store_requires_it, 0,
			    sizeof agains / sizeof agains[0]);
	tcase_add_test(older_texts, texts_of_an_older_release_are_loaded);
}
