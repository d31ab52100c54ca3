/* The files of recordings: links to them and attacks on links, how they are deleted, and what the
 * look at the folder finds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "background/file_watch.h"
#include "base/text.h"
#include "directory.h"
#include "fast_disk.h"
#include "records/kinds.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recording_folder.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/job_record.h"
#include "resources/sweep.h"
#include "suite.h"
#include "transfer/folder_findings.h"
#include "transfer/transfer.h"
#include "world.h"

#define FOLDER_ID "0123456789abcdef01234567"
#define HOUR ((int64_t)60 * 60 * 1000)
#define DAY (24 * HOUR)

static struct world world;
static struct fault fault;
static char folder[PATH_MAX];
static struct recordings recordings;
static struct account other;
/* A recording that is completed, with its files. */
static struct id room, template_id, job_id, asset_id, chat_id;
static const char *asset_path, *chat_path;

/* ---- the folder ---- */

static const char *below(const char *path)
{
	return arena_text(world.arena, "%s/%s", folder, path);
}

static bool is_there(const char *path)
{
	struct stat status;

	return lstat(below(path), &status) == 0;
}

static void make_folders(const char *path)
{
	char *text = arena_text(world.arena, "%s", below(path));

	for (char *at = text + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		(void)mkdir(text, 0700);
		*at = '/';
	}
}

static void make_file(const char *path, const char *text)
{
	FILE *file;

	make_folders(path);
	file = fopen(below(path), "w");
	ck_assert_msg(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

/* ---- records ---- */

static struct asset asset_of(const struct job *job, enum asset_type type, const char *name)
{
	return (struct asset){
		.room = room,
		.session = kind_only_id,
		.template_id = job->template_id,
		.type = type,
		.path = slice_of(arena_text(world.arena, "%s/%s/%s/%s", world.account.id_text,
					    id_as_text(world.arena, &room).data,
					    id_as_text(world.arena, &job->stored.id).data, name)),
		.folder = SLICE(FOLDER_ID),
		.title = SLICE("Maths \"7b\"/\xc3\xa4"),
		.created = world_now(&world),
		.recorded_at = 1764547200000,
		.size = 5,
		.duration = 2000,
		.width = type == ASSET_CHAT ? 0 : 1280,
		.height = type == ASSET_CHAT ? 0 : 720,
		.presign_seconds = 600,
	};
}

/* Makes a recording that has ended, without files. */
static struct job add_job(struct call *call, enum job_status status)
{
	int64_t now = call->now;
	struct job job = {
		.stored.parent = room,
		.template_id = template_id,
		.status = status,
		.is_open = status < JOB_COMPLETED,
		.created = now,
		.updated = now,
		.ended = status < JOB_COMPLETED ? 0 : now,
		.room_name = SLICE("room"),
		.folder = SLICE(FOLDER_ID),
	};

	ck_assert(store_new_id(call->transaction, &kind_job, call->environment->clock, &now,
			       &job.stored.id, &fault));
	job.name = id_as_text(world.arena, &job.stored.id);
	ck_assert_msg(job_put(call, &job, &fault), "%s", fault_reason(&fault));
	ck_assert(job_load(call, &job.stored.id, STORE_TO_CHANGE, &job, &fault));
	return job;
}

/* Stores the call so that the next request sees it. */
static void commit(struct call *call)
{
	ck_assert(store_wait(world.environment.store, world_commit(call), &fault));
}

static void add_template(void)
{
	const struct request request = world_request(&world, world.arena, &world.account,
						     METHOD_POST, "/v2/templates", "{}");
	const struct call call = world_call(&world, &request);

	ck_assert_int_eq(call.answer.status, 200);
	ck_assert(id_parse(slice_of(world_member(&world, world_body(world.arena, &call), "id")),
			   &template_id));
}

static void add_recording(void)
{
	struct asset asset, chat;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, JOB_COMPLETED);
	job_id = job.stored.id;
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	chat = asset_of(&job, ASSET_CHAT, "chat.csv");
	ck_assert(asset_add(&call, &job, &asset, &fault) && asset_add(&call, &job, &chat, &fault) &&
		  job_put(&call, &job, &fault));
	asset_id = asset.stored.id;
	chat_id = chat.stored.id;
	asset_path = asset.path.data;
	chat_path = chat.path.data;
	commit(&call);
	make_file(asset_path, "12345");
	make_file(chat_path, "12345");
}

static void open_folder(struct world *opened)
{
	ck_assert_int_lt(snprintf(folder, sizeof folder, "%s/recordings", opened->directory),
			 (int)sizeof folder);
	/* It stays over a restart. */
	ck_assert(mkdir(folder, 0700) == 0 || errno == EEXIST);
	recordings = (struct recordings){ .folder = folder, .times = RECORDING_TIMES };
	opened->environment.recordings = &recordings;
}

static void set_up_with(enum world_store store)
{
	const struct world_options options = {
		.store = store,
		.environment = { .session_keep = DAY, .live = LIVE_ON },
		.parts_open = open_folder,
	};

	fault = FAULT_INITIAL;
	world_open(&world, &options);
	make_file(".anteroom", FOLDER_ID "\n");
	ck_assert(accounts_add(world.directory, &clock_system, "b", &other, &fault));
	ck_assert(id_parse(SLICE("6925c84100000000000000b1"), &room));
	add_template();
	add_recording();
}

static void set_up(void)
{
	set_up_with(WORLD_MEMORY);
}

static void set_up_with_files(void)
{
	set_up_with(WORLD_GDBM);
}

static void tear_down(void)
{
	world_close(&world);
}

/* ---- calls ---- */

static struct call call_of(const struct account *account, enum method method, const char *path)
{
	const struct request request = world_request(&world, world.arena, account, method, path,
						     NULL);

	return world_call(&world, &request);
}

static const char *path_of(const char *before, const struct id *id, const char *behind)
{
	return arena_text(world.arena, "%s%s%s", before, id_as_text(world.arena, id).data, behind);
}

static const char *header_of(const struct call *call, const char *name)
{
	const struct slice value = call_find_header(call, name);

	return value.size == 0 ? "" : arena_text(world.arena, "%.*s", (int)value.size, value.data);
}

/* Returns the path and query of a link to a file. */
static const char *link_to(const struct id *id, const char *query)
{
	const struct call call =
		call_of(&world.account, METHOD_GET,
			path_of("/v2/recording-assets/", id,
				arena_text(world.arena, "/presigned-url%s", query)));
	const char *url;

	ck_assert_int_eq(call.answer.status, 200);
	url = world_member(&world, world_body(world.arena, &call), "url");
	ck_assert_ptr_nonnull(strstr(url, "/v2/recording-files/"));
	return strstr(url, "/v2/recording-files/");
}

/* ---- links ---- */

START_TEST(a_link_names_the_file_to_the_web_server)
{
	static const struct {
		const char *software, *header;
		bool is_path;
	} servers[] = {
		{ NULL, "X-Accel-Redirect", false },
		{ "nginx/1.22.1", "X-Accel-Redirect", false },
		{ "Apache/2.4.62 (Debian)", "X-Sendfile", true },
		{ "lighttpd/1.4.69", "X-Sendfile", true },
	};
	const char *link = link_to(&asset_id, ""), *value;
	struct call call;

	for (int i = 0; i < ROWS(servers); i++) {
		struct request request = world_request(&world, world.arena, NULL, METHOD_GET, link,
						       NULL);

		if (servers[i].software != NULL)
			request.software = slice_of(servers[i].software);
		call = world_call(&world, &request);
		ck_assert_int_eq(call.answer.status, 200);
		value = header_of(&call, servers[i].header);
		ck_assert_str_eq(value, servers[i].is_path
						? below(asset_path)
						: arena_text(world.arena, "/anteroom-recordings/%s",
							     asset_path));
		ck_assert_str_eq(header_of(&call, "Content-Type"), "video/mp4");
		ck_assert_str_eq(header_of(&call, "Content-Disposition"),
				 "attachment; filename=\"Maths _7b___ 2025-12-01.mp4\"; "
				 "filename*=UTF-8''Maths%20_7b__%C3%A4%202025-12-01.mp4");
		ck_assert_uint_eq(call.answer.size, 0);
	}
	call = call_of(NULL, METHOD_HEAD, link);
	ck_assert_int_eq(call.answer.status, 200);
	call = call_of(NULL, METHOD_GET, link_to(&asset_id, "?inline=true"));
	ck_assert_int_eq(strncmp(header_of(&call, "Content-Disposition"), "inline; ", 8), 0);
	call = call_of(NULL, METHOD_GET, link_to(&chat_id, ""));
	ck_assert_str_eq(header_of(&call, "Content-Type"), "text/csv; charset=utf-8");
	ck_assert_ptr_nonnull(strstr(header_of(&call, "Content-Disposition"), "\"chat Maths"));
}
END_TEST

/* Replaces the first occurrence. */
static const char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	ck_assert_msg(at != NULL, "%s in %s", from, text);
	return arena_text(world.arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* FROM becomes TO; ACCOUNT, OTHER, ASSET and CHAT are ids. */
static const struct {
	const char *query, *from, *to;
	int status;
} changes[] = {
	{ "", "", "", 200 },
	{ "?inline=true", "", "", 200 },
	{ "", "ACCOUNT", "OTHER", 403 },
	{ "", "ACCOUNT", "6925c84100000000000000c9", 403 },
	{ "", "ACCOUNT", "x", 403 },
	{ "", "ASSET", "CHAT", 403 },
	{ "", "ASSET", "6925c84100000000000000c9", 403 },
	{ "", "expires=", "expires=1", 403 },
	{ "", "expires=", "expires=%2B", 403 },
	{ "", "expires=", "expires=0", 403 },
	{ "", "expires=", "x=", 403 },
	{ "", "expires=", "expires=9999999999&expires=", 400 },
	{ "", "signature=", "signature=0", 403 },
	{ "", "signature=", "signature=&x=", 403 },
	{ "", "signature=", "SIGNATURE=", 403 },
	{ "", "signature=", "signature=x&signature=", 400 },
	{ "", "&signature=", "&inline=1&signature=", 403 },
	{ "", "&signature=", "&inline=0&signature=", 403 },
	{ "", "&signature=", "&inline=true&signature=", 403 },
	{ "?inline=true", "&inline=1", "", 403 },
	{ "?inline=true", "&inline=1", "&inline=2", 403 },
	{ "?inline=true", "&inline=1", "&inline=1&inline=1", 400 },
	{ "", "?expires", "/x?expires", 404 },
	{ "", "&signature=", "&other=1&signature=", 200 },
};

START_TEST(a_changed_link_is_not_valid)
{
	const char *link = link_to(&asset_id, changes[_i].query);
	const char *const words[][2] = {
		{ "ACCOUNT", world.account.id_text },
		{ "OTHER", other.id_text },
		{ "ASSET", id_as_text(world.arena, &asset_id).data },
		{ "CHAT", id_as_text(world.arena, &chat_id).data },
	};
	const char *from = changes[_i].from, *to = changes[_i].to;
	struct call call;

	for (int i = 0; i < ROWS(words); i++) {
		from = strcmp(from, words[i][0]) == 0 ? words[i][1] : from;
		to = strcmp(to, words[i][0]) == 0 ? words[i][1] : to;
	}
	call = call_of(NULL, METHOD_GET, replaced(link, from, to));
	ck_assert_int_eq(call.answer.status, changes[_i].status);
	if (call.answer.status == 403)
		ck_assert_str_eq(world_body(world.arena, &call),
				 "{\"code\":403,\"message\":\"Link is not valid\"}");
}
END_TEST

START_TEST(a_link_that_was_cut_is_not_valid)
{
	const char *link = link_to(&asset_id, "");
	const char *begin = strstr(link, "signature=") + strlen("signature=");

	for (size_t n = 0; n < 64; n++) {
		const char *cut = arena_text(world.arena, "%.*s", (int)(begin - link + (int)n),
					     link);

		ck_assert_int_eq(call_of(NULL, METHOD_GET, cut).answer.status, 403);
	}
	for (size_t n = 0; n < 64; n++) {
		char *changed = arena_text(world.arena, "%s", link);

		changed[(size_t)(begin - link) + n] ^= 1;
		ck_assert_int_eq(call_of(NULL, METHOD_GET, changed).answer.status, 403);
	}
}
END_TEST

START_TEST(a_link_lasts_as_long_as_it_says)
{
	static const struct {
		const char *query;
		int seconds;
	} rows[] = {
		{ "", 600 },
		{ "?presign_duration=60", 60 },
		{ "?presign_duration=604800", 604800 },
	};
	const struct call call =
		call_of(&world.account, METHOD_GET,
			path_of("/v2/recording-assets/", &asset_id,
				arena_text(world.arena, "/presigned-url%s", rows[_i].query)));
	const char *link = link_to(&asset_id, rows[_i].query);

	ck_assert_ptr_nonnull(strstr(world_body(world.arena, &call),
				     arena_text(world.arena, "\"expiry\":%d}", rows[_i].seconds)));
	world_move(&world, (int64_t)(rows[_i].seconds - 2) * 1000);
	ck_assert_int_eq(call_of(NULL, METHOD_GET, link).answer.status, 200);
	world_move(&world, 3000);
	ck_assert_int_eq(call_of(NULL, METHOD_GET, link).answer.status, 403);
}
END_TEST

START_TEST(a_rotation_breaks_no_link_until_it_is_finished)
{
	const char *before = link_to(&asset_id, ""), *after;

	ck_assert(accounts_rotate(world.directory, &clock_system, "a", NULL, &fault));
	ck_assert_int_eq(call_of(NULL, METHOD_GET, before).answer.status, 200);
	world_account(&world, "a", &world.account);
	after = link_to(&asset_id, "");
	ck_assert(accounts_finish(world.directory, "a", NULL, &fault));
	ck_assert_int_eq(call_of(NULL, METHOD_GET, after).answer.status, 200);
	ck_assert_int_eq(call_of(NULL, METHOD_GET, before).answer.status, 403);
}
END_TEST

START_TEST(links_of_a_disabled_account_are_refused)
{
	const char *link = link_to(&asset_id, "");
	struct call call;

	ck_assert(accounts_set_enabled(world.directory, "a", false, NULL, &fault));
	call = call_of(NULL, METHOD_GET, link);
	ck_assert_int_eq(call.answer.status, 403);
	ck_assert_ptr_nonnull(strstr(world_body(world.arena, &call), "Account is disabled"));
}
END_TEST

/* What is in the place of the file: nothing, a link, a folder; or the whole folder is another. */
static void remove_it(void)
{
	ck_assert_int_eq(unlink(below(asset_path)), 0);
}

static void link_it(void)
{
	remove_it();
	ck_assert_int_eq(symlink(below(chat_path), below(asset_path)), 0);
}

static void make_it_a_folder(void)
{
	remove_it();
	ck_assert_int_eq(mkdir(below(asset_path), 0700), 0);
}

static void change_the_marker(void)
{
	make_file(".anteroom", "another\n");
}

static void remove_the_marker(void)
{
	ck_assert_int_eq(unlink(below(".anteroom")), 0);
}

static void (*const breaks[])(void) = { remove_it, link_it, make_it_a_folder, change_the_marker,
					remove_the_marker };

START_TEST(only_a_file_of_this_folder_is_sent)
{
	const char *link = link_to(&asset_id, "");
	struct call call;

	breaks[_i]();
	call = call_of(NULL, METHOD_GET, link);
	ck_assert_int_eq(call.answer.status, 404);
	ck_assert_str_eq(header_of(&call, "X-Accel-Redirect"), "");
}
END_TEST

/* ---- deleting ---- */

static void watch_files(void)
{
	struct file_watch *watch = file_watch_open(&world.environment);

	while (file_watch_round(watch))
		;
	file_watch_close(watch);
}

static const char *delete (const struct id *id)
{
	const struct call call = call_of(&world.account, METHOD_DELETE,
					 path_of("/v2/recording-assets/", id, ""));

	return call.answer.status == 204 ? "" : world_body(world.arena, &call);
}

/* Returns the events of deleted files. */
static const json_t *deleted_events(void)
{
	const struct call call = call_of(&world.account, METHOD_GET,
					 "/v2/events?type=recording.deleted&limit=100");

	ck_assert_int_eq(call.answer.status, 200);
	return json_object_get(world_json(&world, world_body(world.arena, &call)), "data");
}

static const char *member(const json_t *event, const char *name)
{
	return json_string_value(json_object_get(json_object_get(event, "data"), name));
}

START_TEST(a_deleted_file_is_deleted_and_logged)
{
	const char *parts = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv",
				       world.account.id_text,
				       id_as_text(world.arena, &job_id).data);
	const json_t *events, *event;

	make_file(parts, "1");
	ck_assert_str_eq(delete (&asset_id), "");
	ck_assert(is_there(asset_path));
	ck_assert_int_eq(
		call_of(&world.account, METHOD_GET, path_of("/v2/recording-assets/", &asset_id, ""))
			.answer.status,
		404);
	watch_files();
	ck_assert(!is_there(asset_path));
	ck_assert(is_there(chat_path));
	events = deleted_events();
	ck_assert_uint_eq(json_array_size(events), 1);
	event = json_array_get(events, 0);
	ck_assert_str_eq(member(event, "asset"), id_as_text(world.arena, &asset_id).data);
	ck_assert_str_eq(member(event, "path"), arena_text(world.arena, "file:///%s", asset_path));
	ck_assert_str_eq(member(event, "cause"), "request");
	ck_assert_str_eq(member(event, "outcome"), "deleted");
	ck_assert_str_eq(member(event, "job_id"), id_as_text(world.arena, &job_id).data);
	ck_assert_str_eq(member(event, "room_id"), id_as_text(world.arena, &room).data);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(event, "data"), "size")), 5);
	/* With the last file, the folders and the parts go. */
	ck_assert_str_eq(delete (&chat_id), "");
	watch_files();
	ck_assert(!is_there(world.account.id_text));
	ck_assert(!is_there(parts));
	ck_assert_uint_eq(json_array_size(deleted_events()), 2);
}
END_TEST

START_TEST(a_file_that_is_gone_already_is_logged)
{
	ck_assert_str_eq(delete (&asset_id), "");
	remove_it();
	watch_files();
	ck_assert_str_eq(member(json_array_get(deleted_events(), 0), "outcome"), "not found");
}
END_TEST

START_TEST(nothing_is_deleted_in_another_folder)
{
	ck_assert_str_eq(delete (&asset_id), "");
	if (_i == 0)
		change_the_marker();
	else
		remove_the_marker();
	watch_files();
	ck_assert(is_there(asset_path));
	ck_assert_uint_eq(json_array_size(deleted_events()), 0);
	/* It is tried again. */
	make_file(".anteroom", FOLDER_ID "\n");
	watch_files();
	ck_assert(is_there(asset_path));
	world_move(&world, 61000);
	watch_files();
	ck_assert(!is_there(asset_path));
}
END_TEST

START_TEST(nothing_is_deleted_while_the_service_only_watches)
{
	ck_assert_str_eq(delete (&asset_id), "");
	world.environment.live = LIVE_WATCH;
	watch_files();
	ck_assert(is_there(asset_path));
}
END_TEST

START_TEST(a_recording_that_has_not_ended_keeps_its_files)
{
	struct asset asset;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, JOB_POST_PROCESSING);
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	commit(&call);
	ck_assert_ptr_nonnull(strstr(delete (&asset.stored.id), "Recording is not finished"));
}
END_TEST

/* Removes the records of the account, as `account delete` does, or a load that failed. */
static void remove_account(bool is_of_load)
{
	bool is_empty = false;
	uint64_t number = 0;

	ck_assert(accounts_set_enabled(world.directory, "a", false, NULL, &fault));
	ck_assert(accounts_remove(world.directory, &world.account.id, &fault));
	while (!is_empty) {
		struct call call;

		world_begin(&world, &world.account.id, &call);
		call.frees_codes = is_of_load;
		ck_assert_msg(transfer_remove_some(&call, &is_empty, &fault), "%s",
			      fault_reason(&fault));
		ck_assert(store_commit(call.transaction, &number, &fault));
		arena_close(call.arena);
	}
	ck_assert(store_wait(world.environment.store, number, &fault));
}

START_TEST(a_deleted_account_takes_its_files_along)
{
	const bool is_of_load = _i == 1;
	const char *incoming, *completed;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, JOB_FAILED);
	commit(&call);
	incoming = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv", world.account.id_text,
			      id_as_text(world.arena, &job.stored.id).data);
	make_file(incoming, "1");
	/* Those of a recording that is completed, whose recorder did not come to it. */
	completed = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv", world.account.id_text,
			       id_as_text(world.arena, &job_id).data);
	make_file(completed, "1");
	remove_account(is_of_load);
	watch_files();
	ck_assert_int_eq(is_there(completed), is_of_load);
	ck_assert_int_eq(is_there(asset_path), is_of_load);
	ck_assert_int_eq(is_there(chat_path), is_of_load);
	ck_assert_int_eq(is_there(incoming), is_of_load);
}
END_TEST

/* ---- the look at the folder ---- */

static const char *status_of(const struct id *id)
{
	const struct call call = call_of(&world.account, METHOD_GET,
					 path_of("/v2/recording-assets/", id, ""));

	return world_member(&world, world_body(world.arena, &call), "status");
}

START_TEST(a_missing_file_is_found_and_found_again)
{
	remove_it();
	watch_files();
	ck_assert_str_eq(status_of(&asset_id), "missing");
	ck_assert_str_eq(status_of(&chat_id), "completed");
	make_file(asset_path, "12345");
	watch_files();
	ck_assert_str_eq(status_of(&asset_id), "completed");
}
END_TEST

START_TEST(a_folder_that_is_not_there_has_no_missing_files)
{
	if (_i == 0)
		change_the_marker();
	else
		remove_the_marker();
	remove_it();
	watch_files();
	ck_assert_str_eq(status_of(&asset_id), "completed");
}
END_TEST

static const struct {
	bool is_test;
	enum job_status status;
	int64_t after; /* milliseconds since it has ended */
	bool is_gone;
} tests[] = {
	{ true, JOB_COMPLETED, 0, false },	     { true, JOB_COMPLETED, 58000, false },
	{ true, JOB_COMPLETED, 62000, true },	     { true, JOB_FAILED, 62000, true },
	{ true, JOB_POST_PROCESSING, 62000, false }, { false, JOB_COMPLETED, 62000, false },
};

START_TEST(the_file_of_a_test_that_is_over_goes)
{
	const char *outcome = tests[_i].is_gone ? "deleted" : NULL;
	struct asset asset;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, tests[_i].status);
	job.is_test = tests[_i].is_test;
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	commit(&call);
	make_file(asset.path.data, "12345");
	world_move(&world, tests[_i].after);
	watch_files();
	watch_files();
	ck_assert_int_eq(is_there(asset.path.data), !tests[_i].is_gone);
	ck_assert(is_there(asset_path));
	ck_assert_int_eq(call_of(&world.account, METHOD_GET,
				 path_of("/v2/recording-assets/", &asset.stored.id, ""))
				 .answer.status,
			 tests[_i].is_gone ? 404 : 200);
	ck_assert_uint_eq(json_array_size(deleted_events()), tests[_i].is_gone);
	if (outcome != NULL) {
		ck_assert_str_eq(member(json_array_get(deleted_events(), 0), "outcome"), outcome);
		ck_assert_str_eq(member(json_array_get(deleted_events(), 0), "cause"), "retention");
	}
	world_begin(&world, &world.account.id, &call);
	ck_assert(job_load(&call, &job.stored.id, STORE_TO_SHOW, &job, &fault));
	ck_assert_uint_eq(job.asset_count, !tests[_i].is_gone);
	world_abandon(&call);
}
END_TEST

static const struct {
	enum job_status status;
	int64_t after; /* milliseconds since it has ended */
	bool is_gone;
} parts[] = {
	{ JOB_COMPLETED, 0, true },
	{ JOB_FAILED, 0, false },
	{ JOB_FAILED, 7 * DAY - 60000, false },
	{ JOB_FAILED, 7 * DAY + 60000, true },
	{ JOB_RUNNING, 30 * DAY, false },
	{ JOB_POST_PROCESSING, 30 * DAY, false },
};

START_TEST(parts_of_recordings_that_have_ended_go)
{
	const char *path,
		*unknown = "incoming/6925c84100000000000000a1-6925c84100000000000000d1/e1p1.mkv";
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, parts[_i].status);
	commit(&call);
	path = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv", world.account.id_text,
			  id_as_text(world.arena, &job.stored.id).data);
	make_file(path, "1");
	make_file(unknown, "1");
	make_file("incoming/strange/e1p1.mkv", "1");
	world_move(&world, parts[_i].after);
	watch_files();
	watch_files();
	ck_assert_int_eq(is_there(path), !parts[_i].is_gone);
	/* What no record knows stays. */
	ck_assert(is_there(unknown));
	ck_assert(is_there("incoming/strange/e1p1.mkv"));
	ck_assert_uint_eq(json_array_size(deleted_events()), 0);
}
END_TEST

/* ---- files without a record ---- */

static struct reply send_path(const char *where, const char *path)
{
	return world_ask(&world, world.arena, &world.account, METHOD_POST, where,
			 arena_text(world.arena, "{\"path\":\"%s\"}", path));
}

#define ADOPT "/v2/recording-assets"
#define PURGE "/v2/recording-assets/purge"

static const struct {
	const char *path; /* ACCOUNT, OTHER and JOB are ids */
	int status;
} paths[] = {
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording-2.mp4", 200 },
	{ "ACCOUNT/6925c84100000000000000b1/6925c84100000000000000d1/recording.mp4", 200 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording.mp4", 409 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording-3.mp4", 404 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording-1.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording-02.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/recording-18.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/x.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1/JOB/x/recording.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1/x/recording.mp4", 400 },
	{ "ACCOUNT/6925c84100000000000000b1", 400 },
	{ "OTHER/6925c84100000000000000b1/JOB/recording-2.mp4", 400 },
	{ "../recordings/ACCOUNT/6925c84100000000000000b1/JOB/recording-2.mp4", 400 },
	{ "/ACCOUNT/6925c84100000000000000b1/JOB/recording-2.mp4", 400 },
	{ ".anteroom", 400 },
};

static const char *path_with_ids(const char *path)
{
	const char *const words[][2] = {
		{ "ACCOUNT", world.account.id_text },
		{ "OTHER", other.id_text },
		{ "JOB", id_as_text(world.arena, &job_id).data },
	};

	for (int i = 0; i < ROWS(words); i++) {
		if (strstr(path, words[i][0]) != NULL)
			path = replaced(path, words[i][0], words[i][1]);
	}
	return path;
}

static const json_t *orphans(void)
{
	const struct reply reply = world_ask(&world, world.arena, &world.account, METHOD_GET,
					     "/v2/recording-assets/orphans", NULL);

	ck_assert_int_eq(reply.status, 200);
	return json_object_get(world_json(&world, reply.text), "data");
}

START_TEST(a_file_without_a_record_is_adopted_or_purged)
{
	const char *path = path_with_ids(paths[_i].path), *id;
	const bool is_there_then = paths[_i].status == 200;
	struct reply reply;

	ck_assert_uint_eq(json_array_size(orphans()), 0);
	for (int i = 0; i < 2; i++)
		make_file(path_with_ids(paths[i].path), "1234567");
	ck_assert_uint_eq(json_array_size(orphans()), 2);
	reply = send_path(PURGE, path);
	ck_assert_msg(reply.status == paths[_i].status, "%d %s", reply.status, reply.text);
	watch_files();
	ck_assert_uint_eq(json_array_size(orphans()), is_there_then ? 1 : 2);
	if (is_there_then) {
		ck_assert(!is_there(path));
		ck_assert_str_eq(member(json_array_get(deleted_events(), 0), "cause"), "orphan");
		ck_assert_str_eq(member(json_array_get(deleted_events(), 0), "asset"), "");
		make_file(path, "1234567");
	}
	reply = send_path(ADOPT, path);
	ck_assert_msg(reply.status == paths[_i].status, "%d %s", reply.status, reply.text);
	if (!is_there_then)
		return;
	ck_assert_ptr_nonnull(strstr(reply.text, "\"size\":7"));
	ck_assert_uint_eq(json_array_size(orphans()), 1);
	ck_assert_int_eq(send_path(ADOPT, path).status, 409);
	ck_assert_int_eq(send_path(PURGE, path).status, 409);
	id = world_member(&world, reply.text, "id");
	reply = world_ask(&world, world.arena, &world.account, METHOD_GET,
			  arena_text(world.arena, "/v2/recording-assets/%s/presigned-url", id),
			  NULL);
	ck_assert_int_eq(
		call_of(NULL, METHOD_GET, strstr(world_member(&world, reply.text, "url"), "/v2/"))
			.answer.status,
		200);
}
END_TEST

/* ---- for how long files are kept ---- */

static bool file_is_there(const struct id *id)
{
	const int status = call_of(&world.account, METHOD_GET,
				   path_of("/v2/recording-assets/", id, ""))
				   .answer.status;

	ck_assert(status == 200 || status == 404);
	return status == 200;
}

/* Carries out words: kN sets keepDays of the template to N, k0 removes it; x deletes the template;
 * +N moves the clock by N hours. */
static void run_history(const char *words)
{
	const char *path = path_of("/v2/templates/", &template_id, "");
	struct slice rest = slice_of(words);

	while (rest.size > 0) {
		const struct slice word = text_split(rest, ' ', &rest);
		const char *number = arena_copy(world.arena, word).data + 1;
		struct request request;

		if (word.data[0] == '+') {
			world_move(&world, strtoll(number, NULL, 10) * HOUR);
			continue;
		}
		request = world_request(
			&world, world.arena, &world.account,
			word.data[0] == 'x' ? METHOD_DELETE : METHOD_PATCH, path,
			word.data[0] == 'x'
				? NULL
				: arena_text(
					  world.arena,
					  "{\"settings\":{\"recordingRules\":{\"keepDays\":%s}}}",
					  strcmp(number, "0") == 0 ? "null" : number));
		ck_assert_int_lt(world_call(&world, &request).answer.status, 300);
	}
}

/* clang-format off */
static const struct {
	const char *words;
	uint32_t usual; /* days of --recordings-keep; 0: for ever */
	bool is_gone;
} histories[] = {
	{ "+87600", 0, false },
	{ "+239", 10, false },
	{ "+241", 10, true },
	{ "k30 +719", 0, false },
	{ "k30 +721", 0, true },
	{ "k30 +719", 1, false },
	{ "k1 +25", 30, true },
	/* A lower number counts a day later, a higher one at once. */
	{ "+1000 k7 +23", 0, false },
	{ "+1000 k7 +25", 0, true },
	{ "k365 +1000 k7 +23", 0, false },
	{ "k365 +1000 k7 +25", 0, true },
	{ "k7 +160 k30", 0, false },
	{ "k7 +160 k30 +500", 0, false },
	{ "k365 +1000 k7 +20 k365 +48", 0, false },
	{ "k365 +1000 k30 +12 k7 +13", 0, false },
	{ "k365 +1000 k30 +12 k7 +23", 0, false },
	{ "k365 +1000 k30 +12 k7 +25", 0, true },
	{ "k365 +1000 k0 +23", 5, false },
	{ "k365 +1000 k0 +25", 5, true },
	{ "k5 +119 k0 +10", 30, false },
	/* Without the template, its last number counts. */
	{ "k30 +500 x +210", 0, false },
	{ "k30 +500 x +230", 0, true },
	{ "k7 +160 k30 x +500", 0, false },
	{ "k7 +160 k30 x +600", 0, true },
	{ "k365 +1000 k7 x +23", 0, false },
	{ "k365 +1000 k7 x +25", 0, true },
	{ "k30 +48 k0 +48 x +1000", 0, false },
	{ "x +1000", 0, false },
	{ "x +239", 10, false },
	{ "x +241", 10, true },
};
/* clang-format on */

static size_t count_records(const struct store_kind *kind)
{
	struct store_record records[8];
	struct store_page page = { .order = STORE_OLDEST_FIRST, .records = records, .most = 8 };
	struct call call;

	world_begin(&world, &world.account.id, &call);
	ck_assert(store_page(call.transaction, kind, &page, &fault));
	world_abandon(&call);
	return page.count;
}

START_TEST(a_file_is_kept_as_long_as_its_template_says)
{
	const bool is_gone = histories[_i].is_gone;
	const char *incoming = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv",
					  world.account.id_text,
					  id_as_text(world.arena, &job_id).data);
	bool is_last = true;
	struct call call;

	world.environment.recordings_keep = histories[_i].usual;
	run_history(histories[_i].words);
	watch_files();
	ck_assert_msg(file_is_there(&asset_id) != is_gone, "%s", histories[_i].words);
	ck_assert(file_is_there(&chat_id) != is_gone);
	/* The parts of a recording that is completed go anyway. */
	make_file(incoming, "1");
	watch_files();
	ck_assert(is_there(asset_path) != is_gone);
	ck_assert(is_there(chat_path) != is_gone);
	ck_assert_uint_eq(json_array_size(deleted_events()), is_gone ? 2 : 0);
	if (!is_gone)
		return;
	for (size_t i = 0; i < 2; i++) {
		const json_t *event = json_array_get(deleted_events(), i);

		ck_assert_str_eq(member(event, "cause"), "retention");
		ck_assert_str_eq(member(event, "outcome"), "deleted");
	}
	/* Nothing is left of it but the entries of the log, once its job is swept. */
	ck_assert(!is_there(world.account.id_text));
	ck_assert(!is_there(incoming));
	world_move(&world, 8 * DAY);
	do {
		world_begin(&world, &world.account.id, &call);
		ck_assert_msg(sweep_account(&call, &is_last, &fault), "%s", fault_reason(&fault));
		commit(&call);
	} while (!is_last);
	ck_assert_uint_eq(count_records(&kind_asset), 0);
	ck_assert_uint_eq(count_records(&kind_job), 0);
}
END_TEST

/* More jobs than one transaction deals with learn the last number of their template. */
START_TEST(all_recordings_of_a_deleted_template_learn_its_last_number)
{
	struct store_record stored;
	struct id ids[200];
	struct call call;

	world_begin(&world, &world.account.id, &call);
	for (int i = 0; i < ROWS(ids); i++)
		ids[i] = add_job(&call, JOB_FAILED).stored.id;
	commit(&call);
	run_history("k30 +48 x");
	world_begin(&world, &world.account.id, &call);
	for (int i = 0; i < ROWS(ids); i++) {
		struct job old;

		ck_assert(job_load(&call, &ids[i], STORE_TO_SHOW, &old, &fault));
		ck_assert_uint_eq(old.keep.days, 30);
	}
	ck_assert(store_get(call.transaction, &kind_template, &template_id, STORE_TO_SHOW, &stored,
			    &fault));
	ck_assert_ptr_null(stored.value.data);
	world_abandon(&call);
}
END_TEST

/* The last file of a recording that failed takes the parts along, although they are new. */
START_TEST(the_last_file_that_is_too_old_takes_the_parts_along)
{
	const char *incoming;
	struct asset asset;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, JOB_FAILED);
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	commit(&call);
	incoming = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv", world.account.id_text,
			      id_as_text(world.arena, &job.stored.id).data);
	make_file(asset.path.data, "12345");
	make_file(incoming, "1");
	run_history("k1 +25");
	watch_files();
	watch_files();
	ck_assert(!is_there(asset.path.data));
	ck_assert(!is_there(incoming));
}
END_TEST

START_TEST(a_file_of_a_recording_that_has_not_ended_stays)
{
	struct asset asset;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, JOB_POST_PROCESSING);
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	commit(&call);
	run_history("k1 +1000");
	watch_files();
	ck_assert(!file_is_there(&asset_id));
	ck_assert(file_is_there(&asset.stored.id));
}
END_TEST

/* A service without a folder forgets them all the same; the folder may come back. */
START_TEST(files_are_too_old_without_a_folder)
{
	recordings.folder = NULL;
	run_history("k1 +25");
	watch_files();
	ck_assert(!file_is_there(&asset_id));
	ck_assert(is_there(asset_path));
	recordings.folder = folder;
	world_move(&world, 60000);
	watch_files();
	ck_assert(!is_there(asset_path));
}
END_TEST

/* What nobody can delete now does not stand before what can be: an object without credentials, due
 * after more files than a round takes. */
START_TEST(files_without_a_folder_hold_up_no_object)
{
	struct gone_file file = { .account = world.account.id, .folder = SLICE("f1") };
	struct gone_file *due;
	struct call call;
	size_t n;

	recordings.folder = NULL;
	world_begin(&world, &world.account.id, &call);
	for (size_t i = 0; i < 40; i++) {
		file.path = slice_of(arena_text(world.arena, "file-%zu", i));
		ck_assert(gone_file_add(&call, &file, &fault));
	}
	commit(&call);
	world_move(&world, 1000);
	world_begin(&world, &world.account.id, &call);
	file.folder = SLICE("");
	file.storage = SLICE("{\"type\":\"s3\",\"location\":\"lessons\"}");
	ck_assert(gone_file_add(&call, &file, &fault));
	commit(&call);
	watch_files();
	world_move(&world, 3600000);
	world_begin(&world, &world.account.id, &call);
	ck_assert(gone_files_due(&call, 100, &due, &n, &fault));
	ck_assert_uint_eq(n, 40);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(due[i].storage.size, 0);
	world_abandon(&call);
}
END_TEST

START_TEST(old_files_of_many_do_not_hold_up_those_of_another_account)
{
	struct file_watch *watch = file_watch_open(&world.environment);
	const struct id account = world.account.id;
	size_t rounds = 0, left_then;
	struct id others_file;
	struct asset asset;
	struct call call;
	struct job job;

	for (int i = 0; i < 20; i++) {
		world_begin(&world, &account, &call);
		job = add_job(&call, JOB_COMPLETED);
		for (int k = 0; k < 16; k++) {
			asset = asset_of(&job, ASSET_ROOM_COMPOSITE,
					 arena_text(world.arena, "recording-%d.mp4", k + 2));
			ck_assert(asset_add(&call, &job, &asset, &fault));
		}
		ck_assert(job_put(&call, &job, &fault));
		commit(&call);
	}
	world_begin(&world, &other.id, &call);
	job = add_job(&call, JOB_COMPLETED);
	asset = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4");
	ck_assert(asset_add(&call, &job, &asset, &fault) && job_put(&call, &job, &fault));
	others_file = asset.stored.id;
	commit(&call);
	world.environment.recordings_keep = 1;
	world_move(&world, 25 * HOUR);
	do {
		ck_assert_uint_lt(rounds++, 4);
		ck_assert(file_watch_round(watch));
	} while (call_of(&other, METHOD_GET, path_of("/v2/recording-assets/", &others_file, ""))
			 .answer.status == 200);
	left_then = count_records(&kind_asset);
	ck_assert_uint_gt(left_then, 0);
	while (file_watch_round(watch))
		;
	ck_assert_uint_eq(count_records(&kind_asset), 0);
	file_watch_close(watch);
}
END_TEST

/* What a restored backup has lost is kept as long as the template of its room says. */
START_TEST(an_adopted_file_is_kept_as_long_as_others)
{
	const char *answer, *path;
	struct call call;
	struct request request =
		world_request(&world, world.arena, &world.account, METHOD_POST, "/v2/rooms",
			      arena_text(world.arena, "{\"template_id\":\"%s\"}",
					 id_as_text(world.arena, &template_id).data));

	call = world_call(&world, &request);
	answer = world_body(world.arena, &call);
	path = arena_text(world.arena, "%s/%s/6925c84100000000000000d1/recording.mp4",
			  world.account.id_text, world_member(&world, answer, "id"));
	make_file(path, "12345");
	run_history("k2 +1000");
	request = world_request(&world, world.arena, &world.account, METHOD_POST,
				"/v2/recording-assets",
				arena_text(world.arena, "{\"path\":\"%s\"}", path));
	call = world_call(&world, &request);
	ck_assert_int_eq(call.answer.status, 200);
	run_history("+47");
	watch_files();
	watch_files();
	ck_assert(is_there(path));
	run_history("+2");
	watch_files();
	watch_files();
	ck_assert(!is_there(path));
}
END_TEST

/* How many files a lower number deletes can be asked before it is set. */
static const struct {
	const char *query;
	int count; /* -1: the query is refused */
} lists[] = {
	{ "?template_id=TEMPLATE", 2 },
	{ "?template_id=6925c84100000000000000a9", 0 },
	{ "?template_id=x", 0 },
	{ "?before=NOW", 2 },
	{ "?before=YESTERDAY", 0 },
	{ "?after=YESTERDAY", 2 },
	{ "?after=TOMORROW", 0 },
	{ "?template_id=TEMPLATE&before=TOMORROW", 2 },
	{ "?before=x", -1 },
	{ "?before=NOW&after=x", -1 },
};

START_TEST(files_are_listed_by_template_and_time)
{
	const char *const words[][2] = {
		{ "TEMPLATE", id_as_text(world.arena, &template_id).data },
		{ "NOW", NULL },
		{ "YESTERDAY", NULL },
		{ "TOMORROW", NULL },
	};
	static const int64_t times[] = { 0, 1000, -DAY, DAY };
	const char *query = lists[_i].query;
	struct call call;

	for (int i = 0; i < ROWS(words); i++) {
		char time[TEXT_TIME_SIZE];

		text_time_milliseconds(world_now(&world) + times[i], time);
		if (strstr(query, words[i][0]) != NULL)
			query = replaced(query, words[i][0],
					 words[i][1] != NULL ? words[i][1] : time);
	}
	call = call_of(&world.account, METHOD_GET,
		       arena_text(world.arena, "/v2/recording-assets%s", query));
	ck_assert_int_eq(call.answer.status, lists[_i].count < 0 ? 400 : 200);
	if (lists[_i].count >= 0)
		ck_assert_int_eq(
			(int)json_array_size(json_object_get(
				world_json(&world, world_body(world.arena, &call)), "data")),
			lists[_i].count);
}
END_TEST

/* ---- check --files ---- */

static void keep_finding(void *context, const char *path, const char *problem)
{
	struct buffer *text = context;

	buffer_append_text(text, arena_text(world.arena, "%s: %s\n", path, problem));
}

/* Returns what the comparison of the folder with the records finds. */
static struct slice findings_of_folder(void)
{
	struct buffer text = BUFFER_INITIAL(world.arena);
	struct snapshot snapshot;

	ck_assert(snapshot_open(world.environment.store, &world.clock.clock, &snapshot, &fault));
	ck_assert_msg(folder_findings(&snapshot, folder, keep_finding, &text, &fault), "%s",
		      fault_reason(&fault));
	snapshot_close(&snapshot);
	return buffer_slice(&text);
}

/* clang-format off */
/* A recording whose file has no record yet: whether the file is one that no record knows. */
static const struct {
	const char *storage;
	enum job_status status;
	int64_t days; /* since its end */
	bool is_orphan;
} unsent[] = {
	{ "", JOB_POST_PROCESSING, 1, false },
	{ "", JOB_FAILED, 0, true },
	{ "{\"type\":\"s3\",\"location\":\"b\"}", JOB_POST_PROCESSING, 1, false },
	{ "{\"type\":\"s3\",\"location\":\"b\"}", JOB_FAILED, 6, false },
	{ "{\"type\":\"s3\",\"location\":\"b\"}", JOB_FAILED, 7, true },
	{ "{\"type\":\"s3\",\"location\":\"b\"}", JOB_COMPLETED, 0, false },
};
/* clang-format on */

START_TEST(a_file_that_is_to_be_sent_is_known)
{
	const char *path;
	struct slice found;
	struct call call;
	struct job job;

	world_begin(&world, &world.account.id, &call);
	job = add_job(&call, unsent[_i].status);
	job.storage = slice_of(unsent[_i].storage);
	ck_assert(job_put(&call, &job, &fault));
	path = asset_of(&job, ASSET_ROOM_COMPOSITE, "recording.mp4").path.data;
	commit(&call);
	make_file(path, "1234567");
	world_move(&world, unsent[_i].days * DAY);
	ck_assert_uint_eq(json_array_size(orphans()), unsent[_i].is_orphan ? 1 : 0);
	found = findings_of_folder();
	ck_assert(slice_is(
		found, unsent[_i].is_orphan
			       ? arena_text(world.arena, "%s: no record knows this file\n", path)
			       : ""));
	ck_assert_int_eq(send_path(PURGE, path).status, unsent[_i].is_orphan ? 200 : 409);
	ck_assert_int_eq(send_path(ADOPT, path).status, unsent[_i].is_orphan ? 200 : 409);
}
END_TEST

START_TEST(a_check_compares_the_folder_with_the_records)
{
	const char *orphan = path_with_ids(paths[1].path);
	const char *known = arena_text(world.arena, "incoming/%s-%s/e1p1.mkv",
				       world.account.id_text,
				       id_as_text(world.arena, &job_id).data);
	struct snapshot snapshot;
	struct slice found;

	ck_assert_uint_eq(findings_of_folder().size, 0);
	make_file(known, "1");
	make_file(orphan, "1");
	make_file("incoming/6925c84100000000000000a1-6925c84100000000000000d1/e1p1.mkv", "1");
	make_file("incoming/strange/e1p1.mkv", "1");
	remove_it();
	found = findings_of_folder();
	ck_assert_msg(
		slice_is(found,
			 arena_text(world.arena,
				    "%s: the file of the asset %s is missing\n"
				    "%s: no record knows this file\n"
				    "incoming/6925c84100000000000000a1-6925c84100000000000000d1: "
				    "no recording knows these parts\n"
				    "incoming/strange: no recording knows these parts\n",
				    asset_path, id_as_text(world.arena, &asset_id).data, orphan)),
		"%.*s", (int)found.size, found.data);
	remove_the_marker();
	ck_assert(snapshot_open(world.environment.store, &clock_system, &snapshot, &fault));
	ck_assert(!folder_findings(&snapshot, folder, keep_finding, NULL, &fault));
	ck_assert_int_eq(fault.kind, FAULT_BAD_REQUEST);
	snapshot_close(&snapshot);
}
END_TEST

/* What was recorded since the backup is kept, and what was deleted since is missing. */
START_TEST(a_restored_backup_loses_no_file)
{
	char *backup;
	const char *deleted, *orphan, *chat_of_orphan, *incoming, *id;
	struct slice found;

	world_stop(&world);
	backup = directory_copy(world.path);
	world_start(&world);
	deleted = asset_path;
	id = id_as_text(world.arena, &asset_id).data;
	ck_assert_str_eq(delete (&asset_id), "");
	watch_files();
	ck_assert(!is_there(deleted));
	add_recording();
	orphan = asset_path;
	chat_of_orphan = chat_path;
	incoming = arena_text(world.arena, "incoming/%s-6925c84100000000000000d1/e1p1.mkv",
			      world.account.id_text);
	make_file(incoming, "1");

	world_stop(&world);
	directory_remove(strdup(world.path));
	ck_assert_int_eq(rename(backup, world.path), 0);
	free(backup);
	world_start(&world);
	for (int day = 0; day < 30; day++) {
		watch_files();
		world_move(&world, DAY);
	}
	ck_assert(is_there(orphan) && is_there(chat_of_orphan) && is_there(incoming));
	found = findings_of_folder();
	for (int i = 0; i < 4; i++) {
		const char *const lines[] = {
			arena_text(world.arena, "%s: the file of the asset %s is missing\n",
				   deleted, id),
			arena_text(world.arena, "%s: no record knows this file\n", orphan),
			arena_text(world.arena, "%s: no record knows this file\n", chat_of_orphan),
			arena_text(world.arena,
				   "incoming/%s-6925c84100000000000000d1: no "
				   "recording knows these parts\n",
				   world.account.id_text),
		};

		ck_assert_msg(memmem(found.data, found.size, lines[i], strlen(lines[i])) != NULL,
			      "%s in %.*s", lines[i], (int)found.size, found.data);
	}
	ck_assert_uint_eq(json_array_size(deleted_events()), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_files");
	TCase *tcase = tcase_create("files"), *restored = tcase_create("restored");

	tcase_add_checked_fixture(restored, set_up_with_files, tear_down);
	tcase_add_test(restored, a_restored_backup_loses_no_file);
	suite_add_tcase(suite, restored);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_link_names_the_file_to_the_web_server);
	tcase_add_loop_test(tcase, a_changed_link_is_not_valid, 0, ROWS(changes));
	tcase_add_test(tcase, a_link_that_was_cut_is_not_valid);
	tcase_add_loop_test(tcase, a_link_lasts_as_long_as_it_says, 0, 3);
	tcase_add_test(tcase, a_rotation_breaks_no_link_until_it_is_finished);
	tcase_add_test(tcase, links_of_a_disabled_account_are_refused);
	tcase_add_loop_test(tcase, only_a_file_of_this_folder_is_sent, 0, ROWS(breaks));
	tcase_add_test(tcase, a_deleted_file_is_deleted_and_logged);
	tcase_add_test(tcase, a_file_that_is_gone_already_is_logged);
	tcase_add_loop_test(tcase, nothing_is_deleted_in_another_folder, 0, 2);
	tcase_add_test(tcase, nothing_is_deleted_while_the_service_only_watches);
	tcase_add_test(tcase, a_recording_that_has_not_ended_keeps_its_files);
	tcase_add_loop_test(tcase, a_deleted_account_takes_its_files_along, 0, 2);
	tcase_add_test(tcase, a_missing_file_is_found_and_found_again);
	tcase_add_loop_test(tcase, a_folder_that_is_not_there_has_no_missing_files, 0, 2);
	tcase_add_loop_test(tcase, the_file_of_a_test_that_is_over_goes, 0, ROWS(tests));
	tcase_add_loop_test(tcase, parts_of_recordings_that_have_ended_go, 0, ROWS(parts));
	tcase_add_loop_test(tcase, a_file_without_a_record_is_adopted_or_purged, 0, ROWS(paths));
	tcase_add_loop_test(tcase, a_file_that_is_to_be_sent_is_known, 0, ROWS(unsent));
	tcase_add_loop_test(tcase, a_file_is_kept_as_long_as_its_template_says, 0, ROWS(histories));
	tcase_add_test(tcase, all_recordings_of_a_deleted_template_learn_its_last_number);
	tcase_add_test(tcase, the_last_file_that_is_too_old_takes_the_parts_along);
	tcase_add_test(tcase, a_file_of_a_recording_that_has_not_ended_stays);
	tcase_add_test(tcase, files_are_too_old_without_a_folder);
	tcase_add_test(tcase, files_without_a_folder_hold_up_no_object);
	tcase_add_test(tcase, old_files_of_many_do_not_hold_up_those_of_another_account);
	tcase_add_test(tcase, an_adopted_file_is_kept_as_long_as_others);
	tcase_add_loop_test(tcase, files_are_listed_by_template_and_time, 0, ROWS(lists));
	tcase_add_test(tcase, a_check_compares_the_folder_with_the_records);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
