/* The accounts file: how commands change it, and how the service notices the changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "directory.h"
#include "fast_disk.h"
#include "suite.h"

static struct arena *arena;
static char *directory;
static char *path;
static struct fault fault;

static void set_up(void)
{
	arena = arena_open();
	directory = directory_make();
	path = accounts_file_path(directory, ACCOUNTS_FILE);
	fault = FAULT_INITIAL;
}

static void tear_down(void)
{
	free(path);
	directory_remove(directory);
	arena_close(arena);
}

static struct account added(const char *name)
{
	struct account account;

	ck_assert_msg(accounts_add(directory, &clock_system, name, &account, &fault), "%s: %s",
		      fault.message, fault.cause);
	return account;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

/* Replaces the file as a command does, but with any text. */
static void replace_file(const char *text)
{
	ck_assert(accounts_file_replace(directory, slice_of(text), &fault));
}

static struct slice file_text(void)
{
	char *text = arena_zero(arena, 1 << 16);
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);

	size_t size = fread(text, 1, (1 << 16) - 1, file);

	fclose(file);
	return (struct slice){ text, size };
}

/* --- Commands --- */

START_TEST(account_is_added)
{
	int64_t before = clock_now(&clock_system);
	struct account first = added("school");
	struct account second = added("Uni 2.0_a:b-c");
	struct roster *roster;
	struct slice secret;

	ck_assert(accounts_list(directory, &roster, &fault));
	ck_assert_uint_eq(roster->count, 2);
	ck_assert_str_eq(roster->accounts[0].name, "school");
	ck_assert_str_eq(roster->accounts[1].name, "Uni 2.0_a:b-c");

	const struct account *listed = roster_find(roster, "school");

	ck_assert_ptr_eq(listed, &roster->accounts[0]);
	ck_assert_ptr_eq(listed, roster_find(roster, first.id_text));
	ck_assert_ptr_eq(listed, roster_find(roster, first.access_key_text));
	ck_assert_ptr_eq(listed, roster_by_id(roster, &first.id));
	ck_assert_ptr_eq(listed, roster_by_access_key(roster, &first.access_key));
	ck_assert_ptr_null(roster_by_id(roster, &first.access_key));
	ck_assert_ptr_null(roster_find(roster, "School"));
	ck_assert_str_eq(listed->id_text, first.id_text);
	ck_assert_str_eq(listed->access_key_text, first.access_key_text);
	ck_assert(listed->is_enabled);
	ck_assert_uint_eq(listed->secret_count, 1);
	ck_assert_str_eq(listed->secrets[0].text, first.secrets[0].text);
	ck_assert_int_ge(listed->created_at, before);
	ck_assert_int_eq(listed->created_at, listed->secrets[0].created_at);

	ck_assert(text_base64url_decode(arena, slice_of(first.secrets[0].text), &secret));
	ck_assert_uint_eq(secret.size, 32);
	ck_assert_str_ne(first.secrets[0].text, second.secrets[0].text);
	ck_assert_int_ne(id_compare(&first.id, &first.access_key), 0);
	ck_assert_int_ne(id_compare(&first.id, &second.id), 0);
	roster_close(roster);
}
END_TEST

static const struct {
	const char *name;
	enum fault_kind kind;
} bad_names[] = {
	{ "", FAULT_BAD_REQUEST },
	{ " school", FAULT_BAD_REQUEST },
	{ "school ", FAULT_BAD_REQUEST },
	{ "a/b", FAULT_BAD_REQUEST },
	{ "a\nb", FAULT_BAD_REQUEST },
	{ "a\"b", FAULT_BAD_REQUEST },
	{ "sch\xc3\xb6n", FAULT_BAD_REQUEST },
	{ "0123456789012345678901234567890123456789012345678901234567890123"
	  "01234567890123456789012345678901234567890123456789012345678901234",
	  FAULT_BAD_REQUEST },
	{ "taken", FAULT_CONFLICT },
};

START_TEST(bad_name_is_refused)
{
	added("taken");

	struct slice before = file_text();

	ck_assert(!accounts_add(directory, &clock_system, bad_names[_i].name, NULL, &fault));
	ck_assert_int_eq(fault.kind, bad_names[_i].kind);
	ck_assert(slice_equal(before, file_text()));
}
END_TEST

START_TEST(account_is_disabled_and_enabled)
{
	struct account account = added("a");
	struct account changed;

	added("b");
	ck_assert(accounts_set_enabled(directory, "a", false, &changed, &fault));
	ck_assert(!changed.is_enabled);
	ck_assert(accounts_set_enabled(directory, account.access_key_text, false, NULL, &fault));

	struct roster *roster;

	ck_assert(accounts_list(directory, &roster, &fault));
	ck_assert(!roster->accounts[0].is_enabled);
	ck_assert_int_eq(roster->accounts[0].times_disabled, 1);
	ck_assert(roster->accounts[1].is_enabled);
	ck_assert_int_eq(roster->accounts[1].times_disabled, 0);
	roster_close(roster);
	ck_assert(accounts_set_enabled(directory, account.id_text, true, &changed, &fault));
	ck_assert(changed.is_enabled);
	ck_assert_str_eq(changed.secrets[0].text, account.secrets[0].text);
}
END_TEST

/* clang-format off */
static const struct {
	const char *name, *value;
	bool is_set;
} settings[] = {
	{ "operator", "on", true },
	{ "operator", "off", true },
	{ "operator", "yes", false },
	{ "operator", "", false },
	{ "log_joins", "on", true },
	{ "log_joins", "1", false },
	{ "sessions", "on", true },
	{ "sessions", "off", true },
	{ "sessions", "", false },
	{ "live_log", "on", true },
	{ "live_log", "off", true },
	{ "live_log", "false", false },
	{ "enabled", "on", false },
	{ "", "on", false },
	{ "client_url", "", true },
	{ "client_url", "https://meet.example.org", true },
	{ "client_url", "http://localhost:8080/?room={room_id}&role={role}#token={token}&n={name}", true },
	{ "client_url", "https://a/{user_id}?a={audio}&v={video}", true },
	{ "client_url", "{join.link}", true },
	{ "client_url", "https://a#{join.link}", true },
	{ "client_url", "https://a:8080/{role}?l=1#x={join.link}&t={token}", true },
	{ "client_url", "{join.link}&x={role}", false },
	{ "client_url", "{join.link}{join.link}", false },
	{ "client_url", "{join.link}#{role}", false },
	{ "client_url", "https://a/{join.link}", false },
	{ "client_url", "https://a/?l={join.link}", false },
	{ "client_url", "https://a/?l={join.link}#{join.link}", false },
	{ "client_url", "https://{role}/", false },
	{ "client_url", "https://a.{name}", false },
	{ "client_url", "https://a.{user_id}.example.org/", false },
	{ "client_url", "https://a:{room_id}/", false },
	{ "client_url", "https://a:80{audio}?x", false },
	{ "client_url", "http://a{video}#x", false },
	{ "client_url", "https://a{room_id}\\/", false },
	{ "client_url", "http{role}://a/", false },
	{ "client_url", "https://a/#{token}{token}", true },
	{ "client_url", "https://a/?t={token}", false },
	{ "client_url", "https://a/?t={token}#", false },
	{ "client_url", "HTTPS://Meet.example.org:443/{role}", true },
	{ "client_url", "https://a:65536/{role}", false },
	{ "client_url", "https://{token}/#{token}", false },
	{ "client_url", "https://a/{room}", false },
	{ "client_url", "https://a/{}", false },
	{ "client_url", "https://a/{role", false },
	{ "client_url", "https://a/role}", false },
	{ "client_url", "https://a/{{role}}", false },
	{ "client_url", "https://", false },
	{ "client_url", "https:///path", false },
	{ "client_url", "javascript:alert(1)", false },
	{ "client_url", "//a/b", false },
	{ "client_url", "https://a/b c", false },
	{ "client_url", "https://a/\xc3\xb6", false },
	{ "client_url", "x{join.link}", false },
	{ "client_url", "https://a/?u={join.url}#t={join.token}", true },
	{ "client_url", "https://a/#u={join.url}&t={join.token}", true },
	{ "client_url", "https://a/?t={join.token}", false },
	{ "client_url", "https://a/{join.token}#{join.token}", false },
	{ "client_url", "https://{join.url}/", false },
	{ "client_url", "{join.url}", false },
	{ "client_url", "https://a/#{join.room}", false },
	{ "recordings", "", true },
	{ "recordings", "0", true },
	{ "recordings", "1000000", true },
	{ "recordings", "1000001", false },
	{ "recordings", "99999999999999999999999", false },
	{ "recordings", "-1", false },
	{ "recordings", "1.5", false },
	{ "recordings_gb", "200", true },
	{ "recordings_gb", "200 GB", false },
	{ "embed", "", true },
	{ "embed", "https://a", true },
	{ "embed", "https://www.example.org,https://xn--bcher-kva.example:8443,http://localhost,http://127.0.0.1:8080", true },
	{ "embed", "https://a,https://b,https://c,https://d,https://e,https://f,https://g,https://h", true },
	{ "embed", "https://a,https://b,https://c,https://d,https://e,https://f,https://g,https://h,https://i", false },
	{ "embed", "https://a,https://a:8443,https://a", false },
	{ "embed", "https://a,", false },
	{ "embed", ",https://a", false },
	{ "embed", "https://a, https://b", false },
	{ "embed", "https://a;https://b", false },
	{ "embed", "*", false },
	{ "embed", "https://*.example.org", false },
	{ "embed", "null", false },
	{ "embed", "a.example.org", false },
	{ "embed", "//a", false },
	{ "embed", "https:a", false },
	{ "embed", "https://", false },
	{ "embed", "https://a/", false },
	{ "embed", "https://a/path", false },
	{ "embed", "https://a?x", false },
	{ "embed", "https://a#x", false },
	{ "embed", "https://u@a", false },
	{ "embed", "https://A.example.org", false },
	{ "embed", "HTTPS://a", false },
	{ "embed", "https://b\xc3\xbc" "cher.example", false },
	{ "embed", "https://-a", false },
	{ "embed", "https://a.", false },
	{ "embed", "https://a:443", false },
	{ "embed", "http://localhost:80", false },
	{ "embed", "https://a:80", true },
	{ "embed", "http://localhost:443", true },
	{ "embed", "https://a:", false },
	{ "embed", "https://a:0", false },
	{ "embed", "https://a:65536", false },
	{ "embed", "https://a:8o", false },
	{ "embed", "https://:8080", false },
	{ "embed", "http://a", false },
	{ "embed", "http://localhost.example.org", false },
	{ "embed", "ws://localhost", false },
	{ "embed", "file://", false },
	{ "embed", "data:text/html,x", false },
};
/* clang-format on */

/* Returns the setting after a row was applied to a new account. */
static bool is_on_after(int row, const char *name, bool by_default)
{
	return strcmp(name, settings[row].name) == 0 ? strcmp(settings[row].value, "on") == 0
						     : by_default;
}

START_TEST(account_is_set)
{
	const bool is_url = strcmp(settings[_i].name, "client_url") == 0;
	const bool is_embed = strcmp(settings[_i].name, "embed") == 0;
	struct account before = added("a"), changed;
	struct roster *roster;

	ck_assert_int_eq(accounts_set(directory, "a", slice_of(settings[_i].name),
				      slice_of(settings[_i].value), &changed, &fault),
			 settings[_i].is_set);
	ck_assert_int_eq(fault.kind, settings[_i].is_set ? FAULT_NONE : FAULT_BAD_REQUEST);
	if (!settings[_i].is_set) {
		ck_assert_ptr_null(strstr(file_text().data, "operator"));
		ck_assert_ptr_null(strstr(file_text().data, "client_url"));
		ck_assert_ptr_null(strstr(file_text().data, "embed"));
		return;
	}
	fault = FAULT_INITIAL;
	ck_assert(accounts_list(directory, &roster, &fault));
	before.is_operator = is_on_after(_i, "operator", false);
	before.logs_joins = is_on_after(_i, "log_joins", false);
	before.keeps_people = is_on_after(_i, "sessions", true);
	before.logs_live = is_on_after(_i, "live_log", true);
	strcpy(before.client_url, is_url ? settings[_i].value : "");
	ck_assert_int_eq(roster->accounts[0].is_operator, before.is_operator);
	ck_assert_int_eq(roster->accounts[0].logs_joins, before.logs_joins);
	ck_assert_int_eq(roster->accounts[0].keeps_people, before.keeps_people);
	ck_assert_int_eq(roster->accounts[0].logs_live, before.logs_live);
	ck_assert_str_eq(roster->accounts[0].client_url, before.client_url);
	ck_assert_str_eq(changed.client_url, before.client_url);
	strcpy(before.embed, is_embed ? settings[_i].value : "");
	ck_assert_str_eq(roster->accounts[0].embed, before.embed);
	ck_assert_str_eq(changed.embed, before.embed);
	ck_assert_str_eq(changed.secrets[0].text, before.secrets[0].text);
	roster_close(roster);
}
END_TEST

START_TEST(unset_settings_are_not_written)
{
	static const struct {
		const char *name, *set, *unset;
	} rows[] = {
		{ "operator", "on", "off" },	   { "log_joins", "on", "off" },
		{ "sessions", "off", "on" },	   { "live_log", "off", "on" },
		{ "client_url", "https://a", "" }, { "embed", "https://a,https://b", "" },
	};
	struct slice before;

	added("a");
	before = arena_copy(arena, file_text());
	for (size_t i = 0; i < ROWS(rows); i++) {
		ck_assert(accounts_set(directory, "a", slice_of(rows[i].name),
				       slice_of(rows[i].set), NULL, &fault));
		ck_assert(!slice_equal(before, file_text()));
		ck_assert(accounts_set(directory, "a", slice_of(rows[i].name),
				       slice_of(rows[i].unset), NULL, &fault));
		ck_assert(slice_equal(before, file_text()));
	}
}
END_TEST

static const struct {
	const char *url;
	bool is_right;
} public_urls[] = {
	{ "https://rooms.example.org", true },
	{ "http://127.0.0.1:8080", true },
	{ "https://a/rooms", true },
	{ "HTTPS://a", true },
	{ "https://[::1]:65535", true },
	{ "https://a:65536", false },
	{ "https://a:0/rooms", false },
	{ "https://a:x", false },
	{ "https://a/", false },
	{ "a", false },
	{ "ftp://a", false },
	{ "https://a?b", false },
	{ "https://a#b", false },
	{ "https://u@a", false },
	{ "https://", false },
	{ "", false },
};

START_TEST(public_url_must_be_a_url)
{
	ck_assert_int_eq(public_url_flaw(slice_of(public_urls[_i].url)) == NULL,
			 public_urls[_i].is_right);
}
END_TEST

START_TEST(secret_is_rotated)
{
	struct account account = added("a");
	struct account rotated;
	struct account finished;

	ck_assert(!accounts_finish(directory, "a", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_CONFLICT);
	fault = FAULT_INITIAL;
	ck_assert(accounts_rotate(directory, &clock_system, "a", &rotated, &fault));
	ck_assert_uint_eq(rotated.secret_count, 2);
	ck_assert_str_eq(rotated.secrets[0].text, account.secrets[0].text);
	ck_assert_str_ne(rotated.secrets[1].text, account.secrets[0].text);
	ck_assert(!accounts_rotate(directory, &clock_system, "a", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_CONFLICT);
	fault = FAULT_INITIAL;
	ck_assert(accounts_finish(directory, "a", &finished, &fault));
	ck_assert_uint_eq(finished.secret_count, 1);
	ck_assert_str_eq(finished.secrets[0].text, rotated.secrets[1].text);
	ck_assert_ptr_null(strstr(file_text().data, account.secrets[0].text));
	ck_assert_ptr_nonnull(strstr(file_text().data, rotated.secrets[1].text));
}
END_TEST

START_TEST(unknown_account_is_not_found)
{
	added("a");
	ck_assert(!accounts_set_enabled(directory, "b", false, NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	fault = FAULT_INITIAL;
	ck_assert(!accounts_rotate(directory, &clock_system, "000000000000000000000000", NULL,
				   &fault));
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
	fault = FAULT_INITIAL;
	ck_assert(!accounts_finish(directory, "", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_NOT_FOUND);
}
END_TEST

START_TEST(files_are_private_whatever_the_umask)
{
	struct stat status;
	mode_t mask = umask(0);

	added("a");
	umask(0777);
	added("b");
	umask(mask);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq(status.st_nlink, 1);

	char *lock = accounts_file_path(directory, "accounts.lock");
	char *left = accounts_file_path(directory, "accounts.json.new");

	ck_assert_int_eq(stat(lock, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_int_ne(access(left, F_OK), 0);
	free(lock);
	free(left);
}
END_TEST

/* Only root can change the owner of a directory. */
START_TEST(files_belong_to_the_owner_of_the_directory)
{
	struct stat status;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(directory, 12345, 23456), 0);
	for (int i = 0; i < 2; i++) {
		added(i == 0 ? "a" : "b");
		ck_assert_int_eq(stat(path, &status), 0);
		ck_assert_uint_eq(status.st_uid, 12345);
		ck_assert_uint_eq(status.st_gid, 23456);
	}

	char *lock = accounts_file_path(directory, "accounts.lock");

	ck_assert_int_eq(stat(lock, &status), 0);
	ck_assert_uint_eq(status.st_uid, 12345);
	free(lock);
}
END_TEST

/* A user who owns the directory must not be able to make root write through a link. */
START_TEST(links_are_not_followed)
{
	char *target = accounts_file_path(directory, "target");
	char *new_file = accounts_file_path(directory, "accounts.json.new");
	char *lock = accounts_file_path(directory, "accounts.lock");
	struct stat status;

	write_file(target, "precious");
	ck_assert_int_eq(symlink(target, new_file), 0);
	added("a");
	ck_assert_int_eq(stat(target, &status), 0);
	ck_assert_int_eq(status.st_size, 8);
	ck_assert_int_eq(unlink(lock), 0);
	ck_assert_int_eq(symlink(target, lock), 0);
	ck_assert(!accounts_add(directory, &clock_system, "b", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
	free(target);
	free(new_file);
	free(lock);
}
END_TEST

START_TEST(missing_directory_is_a_fault)
{
	char *missing = accounts_file_path(directory, "missing");

	ck_assert(!accounts_add(missing, &clock_system, "a", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
	ck_assert_ptr_nonnull(strstr(fault.cause, "No such file"));
	free(missing);
}
END_TEST

/* A command that cannot read the file must not write it. */
START_TEST(broken_file_is_left_alone)
{
	write_file(path, "{\"version\":1");
	ck_assert(!accounts_add(directory, &clock_system, "a", NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
	ck_assert(slice_is(file_text(), "{\"version\":1"));
}
END_TEST

#define PER_PROCESS 25

static int add_many(int process)
{
	for (int i = 0; i < PER_PROCESS; i++) {
		struct fault own = FAULT_INITIAL;
		char name[32];

		snprintf(name, sizeof name, "%d-%d", process, i);
		if (!accounts_add(directory, &clock_system, name, NULL, &own))
			return 1;
	}
	return 0;
}

START_TEST(commands_take_turns)
{
	pid_t processes[3];
	struct roster *roster;

	for (int i = 0; i < 3; i++) {
		processes[i] = fork();
		if (processes[i] == 0)
			_exit(add_many(i));
	}
	for (int i = 0; i < 3; i++) {
		int status = -1;

		ck_assert_int_eq(waitpid(processes[i], &status, 0), processes[i]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert(accounts_list(directory, &roster, &fault));
	ck_assert_uint_eq(roster->count, 3 * PER_PROCESS);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(roster_find(roster, arena_text(arena, "%d-24", i)));
	roster_close(roster);
}
END_TEST

/* --- The format of the accounts file --- */

#define SECRET_1 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1"
#define SECRET_2 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA2"
#define SECRET(text) "{\"secret\":\"" text "\",\"created_at\":\"2026-01-31T00:00:00Z\"}"
#define ACCOUNT(id, name, key, enabled, secrets) \
	"{\"id\":\"" id "\",\"name\":\"" name "\",\"access_key\":\"" key "\",\"enabled\":" enabled \
	",\"created_at\":\"2026-01-31\",\"secrets\":[" secrets "]}"
#define FILE_OF(accounts) "{\"version\":1,\"accounts\":[" accounts "]}"
#define ID_1 "111111111111111111111111"
#define ID_2 "222222222222222222222222"
#define ID_3 "333333333333333333333333"
#define ID_4 "444444444444444444444444"
#define GOOD ACCOUNT(ID_1, "a", ID_2, "true", SECRET(SECRET_1))
#define TWO_ACCOUNTS FILE_OF(GOOD "," ACCOUNT(ID_3, "b", ID_4, "false", SECRET(SECRET_1)))

/* clang-format off */
static const struct {
	const char *text;
	int accounts;	/* -1 if the file is refused */
	const char *says; /* if it is refused */
} files[] = {
	{ FILE_OF(""), 0, "" },
	{ FILE_OF(GOOD), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"operator\":true", SECRET(SECRET_1))), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"operator\":\"on\"", SECRET(SECRET_1))), -1,
	  "account 1 of the accounts file is malformed: operator must be a boolean" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"log_joins\":false", SECRET(SECRET_1))), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"log_joins\":1", SECRET(SECRET_1))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"sessions\":false", SECRET(SECRET_1))), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"sessions\":\"on\"", SECRET(SECRET_1))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"live_log\":null", SECRET(SECRET_1))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"client_url\":\"https://a\"", SECRET(SECRET_1))), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"client_url\":\"a\"", SECRET(SECRET_1))), -1,
	  ": client_url must begin with" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"client_url\":null", SECRET(SECRET_1))), -1,
	  ": client_url must be a string" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"embed\":\"https://a\"", SECRET(SECRET_1))), 1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"embed\":\"https://a/\"", SECRET(SECRET_1))), -1,
	  ": embed must have origins without a path" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true,\"embed\":[]", SECRET(SECRET_1))), -1,
	  ": embed must be a string" },
	{ FILE_OF(GOOD "," ACCOUNT(ID_3, "b", ID_4, "false", SECRET(SECRET_1) "," SECRET(SECRET_2))), 2, "" },
	{ " { \"accounts\" : [], \"version\" : 1 } ", 0, "" },
	{ "{\"version\":1,\"accounts\":[],\"note\":\"x\"}", -1, "" },
	{ "{\"version\":1,\"accounts\":[\n]\n,\"checksum\":\"b1d79412\"}\n", 0, "" },
	{ "{\"version\":1,\"accounts\":[\n]\n,\"checksum\":\"B1D79412\"}\n", -1, "" },
	{ "{\"version\":1,\"accounts\":[\n]\n,\"checksum\":\"b1d79413\"}\n", -1, "" },
	{ "{\"version\":1,\"accounts\":[\n]\n,\"checksum\":\"b1d79412\"}\n ", -1, "" },
	{ "{\"version\":1,\"accounts\":[\n]\n,\"checksum\":\"\"}\n", -1, "" },
	{ "{\"version\":1,\"checksum\":\"b1d79412\",\"accounts\":[\n]\n}\n", -1, "" },
	{ "", -1, "" },
	{ "[]", -1, "" },
	{ "{}", -1, "" },
	{ FILE_OF(GOOD) "x", -1, "" },
	{ "{\"version\":2,\"accounts\":[]}", -1, "" },
	{ "{\"version\":\"1\",\"accounts\":[]}", -1, "" },
	{ "{\"accounts\":[]}", -1, "" },
	{ "{\"version\":1,\"accounts\":{}}", -1, "" },
	{ "{\"version\":1,\"accounts\":[],\"accounts\":[]}", -1, "" },
	{ FILE_OF("1"), -1, "" },
	{ FILE_OF(GOOD ",{}"), -1,
	  "account 2 of the accounts file is malformed: enabled must be a boolean" },
	{ FILE_OF(GOOD "," ACCOUNT(ID_1, "b", ID_4, "true", SECRET(SECRET_2))), -1, "" },
	{ FILE_OF(GOOD "," ACCOUNT(ID_3, "a", ID_4, "true", SECRET(SECRET_2))), -1, "" },
	{ FILE_OF(GOOD "," ACCOUNT(ID_3, "b", ID_2, "true", SECRET(SECRET_2))), -1, "" },
	{ FILE_OF(ACCOUNT("1", "a", ID_2, "true", SECRET(SECRET_1))), -1,
	  ": id must be an ID" },
	{ FILE_OF(ACCOUNT(ID_1, "a/b", ID_2, "true", SECRET(SECRET_1))), -1,
	  ": name must be a name of an account" },
	{ FILE_OF(ACCOUNT(ID_1, "a", "key", "true", SECRET(SECRET_1))), -1,
	  ": access_key must be an ID" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "1", SECRET(SECRET_1))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "\"true\"", SECRET(SECRET_1))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", "")), -1,
	  ": secrets must have 1 or 2 items" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", SECRET(""))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", SECRET("short"))), -1,
	  ": secrets/0 must have a secret" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", SECRET("+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1"))), -1, "" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", "{\"secret\":\"" SECRET_1 "\",\"created_at\":\"soon\"}")), -1,
	  ": secrets/0 must have the time created_at" },
	{ FILE_OF(ACCOUNT(ID_1, "a", ID_2, "true", SECRET(SECRET_1) "," SECRET(SECRET_2) "," SECRET(SECRET_1))), -1,
	  ": secrets must have 1 or 2 items" },
};
/* clang-format on */

START_TEST(malformed_files_are_refused)
{
	struct roster *roster = roster_parse(slice_of(files[_i].text), &fault);

	ck_assert_int_eq(roster == NULL ? -1 : (int)roster->count, files[_i].accounts);
	if (roster == NULL) {
		ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
		ck_assert_str_ne(fault.cause, "");
		ck_assert_ptr_null(strstr(fault.cause, SECRET_1));
		ck_assert_msg(strstr(fault.cause, files[_i].says) != NULL, "%s", fault.cause);
	}
	roster_close(roster);
}
END_TEST

START_TEST(text_of_a_roster_can_be_read)
{
	struct roster *roster = roster_parse(slice_of(files[2].text), &fault);
	struct slice text = roster_text(arena, roster->accounts, roster->count, roster->recorders,
					roster->recorder_count);
	struct roster *again = roster_parse(text, &fault);

	ck_assert_ptr_nonnull(again);
	ck_assert(slice_equal(text, roster_text(arena, again->accounts, again->count,
						again->recorders, again->recorder_count)));
	ck_assert_mem_eq(roster->accounts, again->accounts, 2 * sizeof *roster->accounts);
	roster_close(again);
	roster_close(roster);
}
END_TEST

/* Flips every bit of a file that a command wrote. Without the checksum, a flipped bit in an ID
 * would hide the account, in a secret it would invalidate its tokens, and in a name it would
 * change the name. */
START_TEST(every_flipped_bit_is_noticed)
{
	struct account first = added("a");

	added("b");
	ck_assert(accounts_rotate(directory, &clock_system, "b", NULL, &fault));

	struct slice text = file_text();
	char *bytes = arena_text(arena, "%.*s", (int)text.size, text.data);

	for (size_t bit = 0; bit < text.size * 8; bit++) {
		struct roster *roster;
		char was = bytes[bit / 8];

		fault = FAULT_INITIAL;
		bytes[bit / 8] = (char)(was ^ (1 << bit % 8));
		roster = roster_parse((struct slice){ bytes, text.size }, &fault);
		ck_assert_msg(roster == NULL, "bit %zu of byte %zu, '%c', is not noticed", bit % 8,
			      bit / 8, was);
		ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
		ck_assert_ptr_null(strstr(fault.cause, first.secrets[0].text));
		bytes[bit / 8] = was;
	}
}
END_TEST

/* The message names the file and each remedy. No command overwrites the file, because it can be
 * repaired. */
START_TEST(damaged_file_is_refused_with_the_remedies)
{
	struct account account = added("a");
	struct accounts *accounts;
	struct roster *roster;
	char *text = arena_text(arena, "%.*s", (int)file_text().size, file_text().data);

	strstr(text, account.id_text)[5] ^= 1;
	write_file(path, text);
	ck_assert(!accounts_list(directory, &roster, &fault));
	ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
	ck_assert_ptr_eq(strstr(fault.cause, path), fault.cause);
	ck_assert_ptr_nonnull(strstr(fault.cause, "restore the file from a backup"));
	ck_assert_ptr_nonnull(strstr(fault.cause, "remove ,\"checksum\""));
	fault = FAULT_INITIAL;
	ck_assert(!accounts_open(directory, &accounts, &fault));
	ck_assert_ptr_eq(strstr(fault.cause, path), fault.cause);
	fault = FAULT_INITIAL;
	ck_assert(!accounts_add(directory, &clock_system, "b", NULL, &fault));
	ck_assert_ptr_eq(strstr(fault.cause, path), fault.cause);
	ck_assert(slice_is(file_text(), text));
}
END_TEST

/* Such a file was written by an earlier version, or by an administrator who followed the message.
 * The next change adds a checksum. */
START_TEST(file_without_a_checksum_is_accepted)
{
	struct roster *roster;

	write_file(path, TWO_ACCOUNTS);
	ck_assert(accounts_list(directory, &roster, &fault));
	ck_assert_uint_eq(roster->count, 2);
	roster_close(roster);
	added("c");

	struct slice text = file_text();
	char *end = strstr(arena_text(arena, "%.*s", (int)text.size, text.data),
			   "\n,\"checksum\":\"");

	ck_assert_ptr_nonnull(end);
	ck_assert_uint_eq(strlen(end), strlen("\n,\"checksum\":\"01234567\"}\n"));
	ck_assert(accounts_list(directory, &roster, &fault));
	ck_assert_uint_eq(roster->count, 3);
	roster_close(roster);
}
END_TEST

#define CROWD 2000

START_TEST(each_of_many_accounts_is_found)
{
	struct account *accounts = calloc(CROWD, sizeof *accounts);

	for (int i = 0; i < CROWD; i++) {
		struct account *account = &accounts[i];

		account->id = id_random(&clock_system);
		account->access_key = id_random(&clock_system);
		id_print(&account->id, account->id_text);
		id_print(&account->access_key, account->access_key_text);
		snprintf(account->name, sizeof account->name, "account %d", i);
		account->secret_count = 1;
		strcpy(account->secrets[0].text, SECRET_1);
	}

	struct roster *roster = roster_parse(roster_text(arena, accounts, CROWD, NULL, 0), &fault);

	ck_assert_msg(roster != NULL, "%s", fault.cause);
	for (int i = 0; i < CROWD; i++) {
		const struct account *expected = &roster->accounts[i];

		ck_assert_str_eq(expected->name, accounts[i].name);
		ck_assert_ptr_eq(roster_by_id(roster, &accounts[i].id), expected);
		ck_assert_ptr_eq(roster_by_access_key(roster, &accounts[i].access_key), expected);
		ck_assert_ptr_eq(roster_by_name(roster, slice_of(accounts[i].name)), expected);
	}
	roster_close(roster);
	free(accounts);
}
END_TEST

/* --- How the service notices changes --- */

/* Redirects stderr to a file during a test and returns what was logged. */
static int log_file;
static int kept_stderr;

static void begin_log(void)
{
	char *name = accounts_file_path(directory, "log");

	log_file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(log_file, 0);
	kept_stderr = dup(STDERR_FILENO);
	ck_assert_int_ge(dup2(log_file, STDERR_FILENO), 0);
	free(name);
}

static const char *end_log(void)
{
	char *text = arena_zero(arena, 10000);

	ck_assert_int_ge(dup2(kept_stderr, STDERR_FILENO), 0);
	close(kept_stderr);
	ck_assert_int_ge((int)pread(log_file, text, 9999, 0), 0);
	close(log_file);
	return text;
}

static size_t count_now(struct accounts *accounts)
{
	const struct roster *roster = accounts_current(accounts);
	size_t count = roster->count;

	accounts_release(accounts, roster);
	return count;
}

START_TEST(service_notices_every_change_immediately)
{
	struct accounts *accounts;
	uint64_t generation = 0;

	begin_log();
	ck_assert(accounts_open(directory, &accounts, &fault));
	ck_assert_uint_eq(count_now(accounts), 0);
	added("a");
	ck_assert_uint_eq(count_now(accounts), 1);

	/* Two files of equal size written within one tick of the clock, with an inode number that
	 * becomes free each time. */
	for (int i = 0; i < 60; i++) {
		ck_assert(accounts_set_enabled(directory, "a", i % 2 == 0, NULL, &fault));
		ck_assert(accounts_rotate(directory, &clock_system, "a", NULL, &fault));
		ck_assert(accounts_finish(directory, "a", NULL, &fault));

		const struct roster *roster = accounts_current(accounts);
		struct slice secret = slice_of(roster->accounts[0].secrets[0].text);

		ck_assert_int_eq(roster->accounts[0].is_enabled, i % 2 == 0);
		ck_assert_uint_eq(roster->accounts[0].secret_count, 1);
		ck_assert_ptr_nonnull(strstr(file_text().data, secret.data));
		ck_assert_uint_gt(roster->generation, generation);
		generation = roster->generation;
		accounts_release(accounts, roster);
		arena_reset(arena);
	}
	ck_assert_uint_eq(count_now(accounts), 1);

	const struct roster *roster = accounts_current(accounts);

	ck_assert_uint_eq(roster->generation, generation);
	accounts_release(accounts, roster);
	accounts_close(accounts);
	end_log();
}
END_TEST

/* Two files may have equal times, so each member of a mark matters. */
START_TEST(each_part_of_a_mark_counts)
{
	added("a");

	const struct file_mark mark = accounts_file_mark(path);
	struct file_mark others[] = { mark, mark, mark, mark, mark, mark, mark, mark };

	others[0].error++;
	others[1].device++;
	others[2].inode++;
	others[3].size++;
	others[4].modified.tv_nsec++;
	others[5].changed.tv_nsec++;
	others[6].changed.tv_sec++;
	others[7].links++;
	ck_assert(file_mark_equal(&mark, &mark));
	for (int i = 0; i < ROWS(others); i++)
		ck_assert(!file_mark_equal(&mark, &others[i]));
}
END_TEST

START_TEST(pinned_roster_stays_unchanged)
{
	struct accounts *accounts;

	begin_log();
	added("a");
	ck_assert(accounts_open(directory, &accounts, &fault));

	const struct roster *first = accounts_current(accounts);
	const struct roster *first_again = accounts_current(accounts);

	added("b");

	const struct roster *second = accounts_current(accounts);

	added("c");
	ck_assert_uint_eq(count_now(accounts), 3);
	ck_assert_ptr_eq(first, first_again);
	ck_assert_uint_eq(first->count, 1);
	ck_assert_str_eq(first->accounts[0].name, "a");
	ck_assert_uint_eq(second->count, 2);
	accounts_release(accounts, first);
	ck_assert_str_eq(first_again->accounts[0].name, "a");
	accounts_release(accounts, second);
	accounts_release(accounts, first_again);
	ck_assert_uint_eq(count_now(accounts), 3);
	accounts_close(accounts);
	end_log();
}
END_TEST

static int lines_with(const char *text, const char *word)
{
	int n = 0;

	while ((text = strstr(text, word)) != NULL) {
		n++;
		text++;
	}
	return n;
}

/* Makes the file unreadable in one of several ways. */
static void make_garbage(void)
{
	replace_file("garbage " SECRET_1);
}

static void make_other_version(void)
{
	replace_file("{\"version\":2,\"accounts\":[]}");
}

static void remove_it(void)
{
	ck_assert_int_eq(unlink(path), 0);
}

static void make_directory(void)
{
	remove_it();
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_link_to_itself(void)
{
	remove_it();
	ck_assert_int_eq(symlink("accounts.json", path), 0);
}

static void make_link(void)
{
	char *target = accounts_file_path(directory, "target");

	remove_it();
	write_file(target, FILE_OF(""));
	ck_assert_int_eq(symlink("target", path), 0);
	free(target);
}

static void make_fifo(void)
{
	remove_it();
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void (*const unreadable[])(void) = {
	make_garbage,	     make_other_version, remove_it, make_directory,
	make_link_to_itself, make_link,		 make_fifo,
};

START_TEST(unreadable_file_leaves_the_old_accounts)
{
	struct accounts *accounts;
	struct account account = added("a");

	ck_assert(accounts_open(directory, &accounts, &fault));
	unreadable[_i]();
	begin_log();
	for (int i = 0; i < 5; i++) {
		const struct roster *roster = accounts_current(accounts);

		ck_assert_uint_eq(roster->count, 1);
		ck_assert_str_eq(roster->accounts[0].id_text, account.id_text);
		accounts_release(accounts, roster);
	}

	const char *log = end_log();

	ck_assert_int_eq(lines_with(log, "error accounts_unreadable"), 1);
	ck_assert_int_eq(lines_with(log, "file="), 1);
	ck_assert_ptr_null(strstr(log, SECRET_1));

	/* The next valid file is read. */
	if (rmdir(path) != 0)
		(void)unlink(path);
	begin_log();
	replace_file(TWO_ACCOUNTS);
	ck_assert_uint_eq(count_now(accounts), 2);
	ck_assert_uint_eq(count_now(accounts), 2);
	remove_it();
	ck_assert_uint_eq(count_now(accounts), 2);
	log = end_log();
	ck_assert_int_eq(lines_with(log, "notice accounts_read accounts=2"), 1);
	ck_assert_int_eq(lines_with(log, "error accounts_unreadable"), 1);
	accounts_close(accounts);
}
END_TEST

/* Ways in which another file replaces the open one. */
static void put_over_it(void)
{
	replace_file(TWO_ACCOUNTS);
}

static void put_over_one_of_two_names(void)
{
	char *other = accounts_file_path(directory, "other");

	ck_assert_int_eq(link(path, other), 0);
	replace_file(TWO_ACCOUNTS);
	free(other);
}

static void move_it_away(void)
{
	char *other = accounts_file_path(directory, "other");

	ck_assert_int_eq(rename(path, other), 0);
	write_file(path, TWO_ACCOUNTS);
	free(other);
}

static void make_it_anew(void)
{
	remove_it();
	write_file(path, TWO_ACCOUNTS);
}

static void write_it_in_place(void)
{
	write_file(path, TWO_ACCOUNTS);
}

static void (*const ways[])(void) = {
	put_over_it, put_over_one_of_two_names, move_it_away, make_it_anew, write_it_in_place,
};

/* Waits until the clock of files ticks, at most some milliseconds: changes of an inode within one
 * tick cannot be told apart (accounts/accounts_file.h). */
static void await_tick(void)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_REALTIME_COARSE, &begun);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while (now.tv_sec == begun.tv_sec && now.tv_nsec == begun.tv_nsec);
}

START_TEST(another_file_is_read_however_it_is_replaced)
{
	struct accounts *accounts;

	replace_file(FILE_OF(GOOD));
	ck_assert(accounts_open(directory, &accounts, &fault));
	begin_log();
	ck_assert_uint_eq(count_now(accounts), 1);
	await_tick();
	ways[_i]();
	ck_assert_uint_eq(count_now(accounts), 2);
	ck_assert_uint_eq(count_now(accounts), 2);
	ck_assert_int_eq(lines_with(end_log(), "notice accounts_read accounts=2"), 1);
	accounts_close(accounts);
}
END_TEST

START_TEST(each_unreadable_file_is_logged)
{
	struct accounts *accounts;

	added("a");
	ck_assert(accounts_open(directory, &accounts, &fault));
	begin_log();
	make_garbage();
	ck_assert_uint_eq(count_now(accounts), 1);
	make_garbage();
	ck_assert_uint_eq(count_now(accounts), 1);
	ck_assert_uint_eq(count_now(accounts), 1);
	ck_assert_int_eq(lines_with(end_log(), "error accounts_unreadable"), 2);
	accounts_close(accounts);
}
END_TEST

static const struct {
	mode_t mode;
	int warnings;
} modes[] = {
	{ 0600, 0 }, { 0400, 0 }, { 0700, 0 }, { 0640, 1 }, { 0644, 1 }, { 0602, 1 }, { 0610, 1 },
};

/* At the start and when the file is read again; the accounts stay in use. */
START_TEST(file_readable_by_others_is_logged)
{
	struct accounts *accounts;
	const char *mode = arena_text(arena, " mode=%04o ", (unsigned)modes[_i].mode);
	const char *remedy = arena_text(arena, "remedy=\"chmod 600 %s\"", path);
	const char *log;

	added("a");
	ck_assert_int_eq(chmod(path, modes[_i].mode), 0);
	begin_log();
	ck_assert(accounts_open(directory, &accounts, &fault));
	ck_assert_uint_eq(count_now(accounts), 1);
	log = end_log();
	ck_assert_int_eq(lines_with(log, "warning accounts_for_others "), modes[_i].warnings);
	ck_assert_int_eq(lines_with(log, mode), modes[_i].warnings);
	ck_assert_int_eq(lines_with(log, remedy), modes[_i].warnings);

	begin_log();
	ck_assert_int_eq(chmod(path, 0604), 0);
	ck_assert_uint_eq(count_now(accounts), 1);
	ck_assert_uint_eq(count_now(accounts), 1);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_uint_eq(count_now(accounts), 1);
	ck_assert_int_eq(lines_with(end_log(), "warning accounts_for_others "), 1);
	accounts_close(accounts);
}
END_TEST

/* clang-format off */
static const struct {
	mode_t mode;
	bool is_warned;
} directory_modes[] = {
	{ 0700, false }, { 0755, false }, { 01777, false }, { 01770, false },
	{ 0777, true }, { 0770, true }, { 0702, true },
};
/* clang-format on */

START_TEST(directory_writable_by_others_is_logged)
{
	struct accounts *accounts;
	const char *mode = arena_text(arena, " mode=%04o ", (unsigned)directory_modes[_i].mode);
	const char *remedy = arena_text(arena, "remedy=\"chmod go-w %s\"", directory);
	const char *log;

	added("a");
	ck_assert_int_eq(chmod(directory, directory_modes[_i].mode), 0);
	begin_log();
	ck_assert(accounts_open(directory, &accounts, &fault));
	log = end_log();
	ck_assert_int_eq(lines_with(log, "warning accounts_for_others "),
			 directory_modes[_i].is_warned);
	ck_assert_int_eq(lines_with(log, mode), directory_modes[_i].is_warned);
	ck_assert_int_eq(lines_with(log, remedy), directory_modes[_i].is_warned);
	accounts_close(accounts);
}
END_TEST

START_TEST(service_does_not_start_with_an_unreadable_file)
{
	struct accounts *accounts;

	write_file(path, "garbage " SECRET_1);
	ck_assert(!accounts_open(directory, &accounts, &fault));
	ck_assert_int_eq(fault.kind, FAULT_INTERNAL);
	ck_assert_ptr_nonnull(strstr(fault.cause, "not JSON"));
	ck_assert_ptr_null(strstr(fault.cause, SECRET_1));
}
END_TEST

/* Readers pin and use rosters while the file is replaced again and again. No roster is freed while
 * it is in use (the sanitizers would notice) and none is older than a change that has been
 * completed. */
struct readers {
	struct accounts *accounts;
	atomic_uint done; /* accounts added so far */
	atomic_bool is_over;
	atomic_bool has_failed;
};

static void *look_on(void *argument)
{
	struct readers *readers = argument;

	while (!atomic_load(&readers->is_over)) {
		size_t known = atomic_load(&readers->done);
		const struct roster *roster = accounts_current(readers->accounts);

		if (roster->count < known || strcmp(roster->accounts[0].name, "first") != 0)
			atomic_store(&readers->has_failed, true);
		accounts_release(readers->accounts, roster);
	}
	return NULL;
}

START_TEST(threads_read_while_the_file_changes)
{
	struct readers readers = { .done = 1 };
	pthread_t threads[3];

	added("first");
	ck_assert(accounts_open(directory, &readers.accounts, &fault));
	begin_log();
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, look_on, &readers), 0);
	for (int i = 0; i < 60; i++) {
		added(arena_text(arena, "%d", i));
		atomic_fetch_add(&readers.done, 1);
	}
	atomic_store(&readers.is_over, true);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	end_log();
	ck_assert(!atomic_load(&readers.has_failed));
	ck_assert_uint_eq(count_now(readers.accounts), 61);
	accounts_close(readers.accounts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accounts");
	TCase *cases = tcase_create("accounts");

	json_object_seed(0);
	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, account_is_added);
	tcase_add_loop_test(cases, bad_name_is_refused, 0, ROWS(bad_names));
	tcase_add_test(cases, account_is_disabled_and_enabled);
	tcase_add_loop_test(cases, account_is_set, 0, ROWS(settings));
	tcase_add_test(cases, unset_settings_are_not_written);
	tcase_add_loop_test(cases, public_url_must_be_a_url, 0, ROWS(public_urls));
	tcase_add_test(cases, secret_is_rotated);
	tcase_add_test(cases, unknown_account_is_not_found);
	tcase_add_test(cases, files_are_private_whatever_the_umask);
	tcase_add_test(cases, files_belong_to_the_owner_of_the_directory);
	tcase_add_test(cases, links_are_not_followed);
	tcase_add_test(cases, missing_directory_is_a_fault);
	tcase_add_test(cases, broken_file_is_left_alone);
	tcase_add_test(cases, commands_take_turns);
	tcase_add_loop_test(cases, malformed_files_are_refused, 0, ROWS(files));
	tcase_add_test(cases, text_of_a_roster_can_be_read);
	tcase_add_test(cases, every_flipped_bit_is_noticed);
	tcase_add_test(cases, damaged_file_is_refused_with_the_remedies);
	tcase_add_test(cases, file_without_a_checksum_is_accepted);
	tcase_add_test(cases, each_of_many_accounts_is_found);
	tcase_add_test(cases, service_notices_every_change_immediately);
	tcase_add_test(cases, each_part_of_a_mark_counts);
	tcase_add_test(cases, pinned_roster_stays_unchanged);
	tcase_add_loop_test(cases, unreadable_file_leaves_the_old_accounts, 0, ROWS(unreadable));
	tcase_add_loop_test(cases, another_file_is_read_however_it_is_replaced, 0, ROWS(ways));
	tcase_add_test(cases, each_unreadable_file_is_logged);
	tcase_add_loop_test(cases, file_readable_by_others_is_logged, 0, ROWS(modes));
	tcase_add_loop_test(cases, directory_writable_by_others_is_logged, 0,
			    ROWS(directory_modes));
	tcase_add_test(cases, service_does_not_start_with_an_unreadable_file);
	tcase_add_test(cases, threads_read_while_the_file_changes);
	fast_disk();
	return suite_run(suite);
}
