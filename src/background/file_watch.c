/* See background/file_watch.h. What is done in the folder is safe to repeat, so it comes before the
 * transaction that says so. So is what object storage is asked, by the client of media servers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "background/file_watch.h"

#include <stdlib.h>

#include "accounts/accounts.h"
#include "background/request_list.h"
#include "background/transact.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/recording_folder.h"
#include "resources/recordings/recording_storage.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/template_record.h"

/* Files that a round deletes, and looks at. */
#define DELETED_AT_ONCE 16
#define LOOKED_AT_ONCE 64
/* Milliseconds until a file that could not be deleted is tried again. */
#define AGAIN_AFTER 60000
#define DAY ((int64_t)24 * 60 * 60 * 1000)
/* The same for an object; meanwhile no other process asks for it. */
#define OBJECT_AGAIN_AFTER 600000
/* Requests to object storage that are under way at most, of all accounts and of one. */
#define OBJECTS_MOST 16
#define OBJECTS_OF_ACCOUNT 4
/* Milliseconds for which the parts of a recording that failed are kept. */
#define PARTS_KEPT (7 * DAY)
/* Milliseconds that a test has to say what came of it, before its files are deleted. */
#define TEST_KEPT 60000

/* An account whose files are looked at. */
struct looked_account {
	struct id id;
	struct id after; /* its last file that was looked at, in the order of ids */
};

/* How far the look at all files has come. The accounts take turns of LOOKED_AT_ONCE files. */
struct look {
	bool is_under_way;
	struct looked_account *accounts; /* those that are not done; none: the parts come next */
	size_t count, turn, capacity;
	char part[2 * ID_TEXT_SIZE + 2]; /* the last name in incoming/ */
	int64_t next_at; /* clock_monotonic */
};

/* An object that its storage is asked to delete. */
struct object_request {
	struct listed_request listed; /* first, so that it is the same object */
	struct gone_file file;
};

struct file_watch {
	const struct environment *environment;
	struct transactor work;
	struct arena *arena;
	struct look look;
	struct request_list requests;
};

struct file_watch *file_watch_open(const struct environment *environment)
{
	struct file_watch *watch = memory_check(calloc(1, sizeof *watch));

	watch->environment = environment;
	watch->work = (struct transactor){
		.environment = environment,
		.event = "recording_files_not_kept",
	};
	watch->arena = arena_open();
	request_list_open(&watch->requests);
	return watch;
}

void file_watch_close(struct file_watch *watch)
{
	if (watch == NULL)
		return;
	request_list_close(&watch->requests);
	arena_close(watch->arena);
	free(watch->look.accounts);
	free(watch);
}

static const char *folder_of(const struct file_watch *watch)
{
	const struct recordings *recordings = watch->environment->recordings;

	return recordings == NULL ? NULL : recordings->folder;
}

/* ---- deleting ---- */

/* Notes the event of a file that was deleted, or was not there any more. */
static void note_deleted(struct call *call, const struct gone_file *file, const char *outcome)
{
	char asset[ID_TEXT_SIZE + 1] = "", job[ID_TEXT_SIZE + 1], room[ID_TEXT_SIZE + 1];
	struct buffer path = BUFFER_INITIAL(call->arena);
	struct audit_data data = { .kind = "asset", .name = SLICE("") };

	if (id_compare(&file->asset, &kind_only_id) != 0)
		id_print(&file->asset, asset);
	id_print(&file->job, job);
	id_print(&file->room, room);
	if (file->storage.size > 0) {
		buffer_append(&path, storage_path_text(call->arena, file->storage, file->path));
	} else {
		buffer_append_text(&path, "file:///");
		buffer_append(&path, file->path);
	}
	data.id = slice_of(asset);
	data.actor = audit_service_text(call->arena);
	data.more[0] = (struct audit_member){ "asset", slice_of(asset), false };
	data.more[1] = (struct audit_member){ "path", buffer_slice(&path), false };
	data.more[2] = (struct audit_member){
		"size",
		slice_of(arena_text(call->arena, "%llu", (unsigned long long)file->size)),
		true,
	};
	data.more[3] = (struct audit_member){
		"cause",
		slice_of(gone_cause_names[file->cause]),
		false,
	};
	data.more[4] = (struct audit_member){ "outcome", slice_of(outcome), false };
	data.more[5] = (struct audit_member){ "job_id", slice_of(job), false };
	data.more[6] = (struct audit_member){ "room_id", slice_of(room), false };
	audit_note(call, "recording.deleted", &data);
}

static bool account_is_there(const struct environment *environment, const struct id *id)
{
	const struct roster *roster = accounts_current(environment->accounts);
	const bool is_there = roster_by_id(roster, id) != NULL;

	accounts_release(environment->accounts, roster);
	return is_there;
}

/* Deletes one, or a part of a folder. Returns false if the store did not take it. */
static bool delete_file(struct file_watch *watch, const struct gone_file *file)
{
	const char *folder = folder_of(watch), *why = NULL;
	const bool is_logged = !file->is_folder &&
			       account_is_there(watch->environment, &file->account);
	struct fault fault = FAULT_INITIAL;
	bool is_left = false;
	const enum folder_result result =
		file->is_folder ? folder_empty(folder, file->folder, file->path, &is_left, &why)
				: folder_remove_file(folder, file->folder, file->path, &why);
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, &file->account,
				      &fault);

	if (result == FOLDER_FAILED)
		log_event(LOG_LEVEL_ERROR, "recording_not_deleted", "path",
			  arena_copy(watch->arena, file->path).data, "reason", why, NULL);
	while (transact_again(&run)) {
		bool is_there = true;

		if (result == FOLDER_FAILED || is_left) {
			run.is_done = gone_file_delay(&run.call, file,
						      run.call.now + (is_left ? 0 : AGAIN_AFTER),
						      &fault);
			continue;
		}
		run.is_done = gone_file_remove(&run.call, file, &is_there, &fault);
		if (is_there && is_logged)
			note_deleted(&run.call, file,
				     result == FOLDER_DONE ? "deleted" : "not found");
	}
	return run.is_done;
}

/* ---- objects ---- */

/* Removes the note of an object, and says what became of it. Returns false if the store did not
 * take it. */
static bool object_is_gone(struct file_watch *watch, const struct gone_file *file,
			   const char *outcome)
{
	const bool is_logged = account_is_there(watch->environment, &file->account);
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, &file->account,
				      &fault);

	while (transact_again(&run)) {
		bool is_there = true;

		run.is_done = gone_file_remove(&run.call, file, &is_there, &fault);
		if (is_there && is_logged)
			note_deleted(&run.call, file, outcome);
	}
	return run.is_done;
}

/* Asks the storage of an object to delete it. Until the answer, and if there is none, it is not due
 * again. Returns false if the store did not take that. */
static bool delete_object(struct file_watch *watch, const struct gone_file *file)
{
	struct media_client *client = watch->environment->media_client;
	struct object_request *request =
		(struct object_request *)listed_request_open(&file->account, sizeof *request);
	struct arena *arena = request->listed.arena;
	struct fault fault = FAULT_INITIAL;
	bool can_ask = false, is_done;

	request->file = *file;
	request->file.path = arena_copy(arena, file->path);
	request->file.storage = arena_copy(arena, file->storage);
	request->file.folder = SLICE("");
	request->listed.asking.rank = ASKED_TO_MANAGE;
	{
		TRANSACT run = transact_begin(&watch->work, STORE_WRITE, arena, &file->account,
					      &fault);

		while (transact_again(&run)) {
			can_ask = storage_delete_request(&run.call, file,
							 &request->listed.asked.request);
			run.is_done = gone_file_delay(&run.call, file,
						      run.call.now + OBJECT_AGAIN_AFTER, &fault);
		}
		is_done = run.is_done;
	}
	if (is_done && can_ask && client != NULL) {
		request_list_ask(&watch->requests, client, &request->listed);
		return true;
	}
	/* Nobody can delete it: the credentials were gone before it was. */
	if (is_done && !can_ask)
		is_done = object_is_gone(watch, &request->file, "no credentials");
	arena_close(arena);
	return is_done;
}

static void take_object_answer(struct file_watch *watch, const struct object_request *request)
{
	const struct asked *asked = &request->listed.asked;
	char message[BUCKET_ERROR_SIZE] = "The request was not made.";

	if (asked->end == ASKED_ANSWERED)
		bucket_read_outcome(&asked->outcome, clock_now(watch->environment->clock) / 1000,
				    message);
	if (message[0] == '\0')
		(void)object_is_gone(watch, &request->file, "deleted");
	else if (asked->outcome.status == 404)
		(void)object_is_gone(watch, &request->file, "not found");
	else
		log_event(LOG_LEVEL_ERROR, "recording_not_deleted", "path",
			  arena_copy(watch->arena,
				     storage_path_text(watch->arena, request->file.storage,
						       request->file.path))
				  .data,
			  "reason", message, NULL);
	arena_reset(watch->arena);
}

/* ---- what is due ---- */

static bool object_may_be_asked(const struct file_watch *watch, const struct id *account)
{
	size_t own;

	return request_list_count(&watch->requests, account, &own) < OBJECTS_MOST &&
	       own < OBJECTS_OF_ACCOUNT;
}

/* Puts off what cannot be done now, so that it does not stand before what can. */
static bool delete_later(struct file_watch *watch, const struct gone_file *file)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, &file->account,
				      &fault);

	while (transact_again(&run))
		run.is_done = gone_file_delay(&run.call, file, run.call.now + AGAIN_AFTER, &fault);
	return run.is_done;
}

/* Returns false if the store did not take it. */
static bool delete_one(struct file_watch *watch, const struct gone_file *file)
{
	if (file->storage.size > 0)
		return object_may_be_asked(watch, &file->account) ? delete_object(watch, file)
								  : delete_later(watch, file);
	return folder_of(watch) != NULL ? delete_file(watch, file) : delete_later(watch, file);
}

/* Deletes some of those that are due. Returns true if there may be more. */
static bool delete_due(struct file_watch *watch)
{
	struct fault fault = FAULT_INITIAL;
	struct arena *apart = arena_open();
	struct gone_file *files = NULL;
	size_t n = 0, done = 0;

	{
		TRANSACT run = transact_begin(&watch->work, STORE_READ, apart, &kind_only_id,
					      &fault);

		while (transact_again(&run))
			run.is_done = gone_files_due(&run.call, DELETED_AT_ONCE, &files, &n,
						     &fault);
		if (!run.is_done)
			n = 0;
	}
	while (done < n && delete_one(watch, &files[done]))
		done++;
	arena_close(apart);
	arena_reset(watch->arena);
	return n == DELETED_AT_ONCE && done == n;
}

/* ---- the look at all files ---- */

/* Finds out whether a file has been kept long enough: by the rule of its template as it is now, or
 * as it was last. Whoever has tested deletes the file of the test first, unless they were
 * interrupted. */
static bool find_end(struct call *call, const struct asset *asset, bool *is_over,
		     struct fault *fault)
{
	struct template_record template;
	bool has_template;
	struct job job;

	*is_over = false;
	if (!job_load(call, &asset->stored.parent, STORE_TO_SHOW, &job, fault))
		return false;
	if (job.stored.value.data == NULL || job.is_open)
		return true;
	if (job.is_test) {
		*is_over = job.ended + TEST_KEPT <= call->now;
		return true;
	}
	/* The least that a rule can say is a day. */
	if (asset->created + DAY > call->now)
		return true;
	if (!template_find(call, &job.template_id, STORE_TO_SHOW, &template, &has_template, fault))
		return false;
	*is_over = asset->created < keep_rule_since(has_template ? &template.rules.keep : &job.keep,
						    call->environment->recordings_keep, call->now);
	return true;
}

/* Removes a file that has been kept long enough. The session, the job and the file are locked in
 * this order. *is_gone: it is none of the files that stay. */
static bool remove_old(struct call *call, const struct asset *shown, bool *is_gone,
		       struct fault *fault)
{
	const struct id id = shown->stored.id;
	struct session session;
	struct asset asset;
	struct job job;

	if (!find_end(call, shown, is_gone, fault))
		return false;
	if (!*is_gone)
		return true;
	if (!session_load(call, &shown->session, STORE_TO_CHANGE, &session, fault) ||
	    !job_load(call, &shown->stored.parent, STORE_TO_CHANGE, &job, fault) ||
	    !record_get(&asset_table, call->transaction, &id, STORE_TO_CHANGE, &asset, fault))
		return false;
	return asset.stored.value.data == NULL ||
	       (asset_remove(call, &asset, fault) &&
		recording_file_gone(call, &asset, GONE_BY_RETENTION, fault) &&
		/* What is left of the job goes with its last file. */
		(job.asset_count > 1 || gone_file_add_parts(call, &job, GONE_BY_RETENTION, fault)));
}

/* Removes files of the account that are too old, and finds out whether others are missing, or are
 * there again. *is_last: it has no more. */
static bool look_at_files(struct file_watch *watch, struct looked_account *account, bool *is_last)
{
	const struct id after = account->after;
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, &account->id,
				      &fault);

	while (transact_again(&run)) {
		struct call *call = &run.call;
		const struct slice own = recordings_folder_id(call);
		struct store_page page = {
			.order = STORE_OLDEST_FIRST,
			.above = &after,
			.records = arena_alloc(call->arena, LOOKED_AT_ONCE * sizeof *page.records),
			.most = LOOKED_AT_ONCE,
		};

		call->memo = arena_zero(call->arena, sizeof *call->memo);
		account->after = after;
		run.is_done = store_page(call->transaction, &kind_asset, &page, &fault);
		*is_last = page.is_last;
		for (size_t i = 0; run.is_done && i < page.count; i++) {
			const struct id id = page.records[i].id;
			struct folder_file file;
			struct asset asset;
			enum folder_result result;
			bool is_gone = false;

			account->after = id;
			run.is_done = record_read(&asset_table, call->arena, &page.records[i],
						  &asset, &fault) &&
				      remove_old(call, &asset, &is_gone, &fault);
			if (!run.is_done || is_gone)
				continue;
			run.is_done = record_get(&asset_table, call->transaction, &id,
						 STORE_TO_CHANGE, &asset, &fault);
			/* A folder without an id may only be missing. */
			if (!run.is_done || asset.stored.value.data == NULL || own.size == 0 ||
			    !slice_equal(asset.folder, own))
				continue;
			result = folder_find(folder_of(watch), asset.path, &file);
			if (result != FOLDER_FAILED)
				run.is_done = asset_set_missing(call, &asset,
								result == FOLDER_NOT_THERE, &fault);
		}
	}
	return run.is_done;
}

/* Has the parts of a job deleted if it is completed, or failed long ago. */
static bool look_at_parts(struct file_watch *watch, const struct id *account, const struct id *job)
{
	struct fault fault = FAULT_INITIAL;
	TRANSACT run = transact_begin(&watch->work, STORE_WRITE, watch->arena, account, &fault);

	while (transact_again(&run)) {
		struct job found;

		run.is_done = job_load(&run.call, job, STORE_TO_SHOW, &found, &fault);
		if (!run.is_done || found.stored.value.data == NULL || found.is_open ||
		    !slice_equal(found.folder, recordings_folder_id(&run.call)))
			continue;
		if (found.status == JOB_COMPLETED || found.ended + PARTS_KEPT < run.call.now)
			run.is_done = gone_file_add_parts(&run.call, &found, GONE_BY_RETENTION,
							  &fault);
	}
	return run.is_done;
}

/* Takes the next name in incoming/. Returns false at the end. */
static bool next_parts(struct file_watch *watch, struct id *account, struct id *job)
{
	const struct slice last = slice_of(watch->look.part);
	struct slice *names;
	size_t n, i = 0;

	folder_list(watch->arena, folder_of(watch), SLICE("incoming"), true, &names, &n);
	for (; i < n; i++) {
		struct slice rest;
		const struct slice first = text_split(names[i], '-', &rest);

		if (names[i].size < sizeof watch->look.part && slice_compare(names[i], last) > 0 &&
		    id_parse(first, account) && rest.data != NULL && id_parse(rest, job))
			break;
	}
	if (i < n)
		(void)snprintf(watch->look.part, sizeof watch->look.part, "%.*s",
			       (int)names[i].size, names[i].data);
	return i < n;
}

static void begin_look(struct file_watch *watch)
{
	struct accounts *accounts = watch->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	struct look *look = &watch->look;

	look->accounts = memory_room(look->accounts, roster->count, &look->capacity,
				     sizeof *look->accounts);
	for (size_t i = 0; i < roster->count; i++)
		look->accounts[i] = (struct looked_account){ .id = roster->accounts[i].id };
	look->count = roster->count;
	look->turn = 0;
	look->part[0] = '\0';
	look->is_under_way = true;
	accounts_release(accounts, roster);
}

/* Goes a step further. Returns true if more is to be done at once. */
static bool look_on(struct file_watch *watch)
{
	struct look *look = &watch->look;
	struct id account, job;
	bool is_last = true;

	if (!look->is_under_way) {
		if (clock_monotonic() < look->next_at)
			return false;
		begin_look(watch);
	}
	if (look->count == 0) {
		look->is_under_way = next_parts(watch, &account, &job);
		if (look->is_under_way)
			(void)look_at_parts(watch, &account, &job);
		else
			look->next_at = clock_monotonic() +
					watch->environment->recordings->times.sweep;
		arena_reset(watch->arena);
		return look->is_under_way;
	}
	look->turn = look->turn < look->count ? look->turn : 0;
	/* An account whose files cannot be read is looked at the next time. */
	if (!look_at_files(watch, &look->accounts[look->turn], &is_last) || is_last)
		look->accounts[look->turn] = look->accounts[--look->count];
	else
		look->turn++;
	arena_reset(watch->arena);
	return true;
}

bool file_watch_round(struct file_watch *watch)
{
	struct listed_request *request;
	bool is_behind;

	/* With --live watch, nothing is deleted. */
	if (watch->environment->recordings == NULL || watch->environment->live == LIVE_WATCH)
		return false;
	while ((request = request_list_take(&watch->requests)) != NULL) {
		take_object_answer(watch, (struct object_request *)request);
		listed_request_close(request);
	}
	is_behind = delete_due(watch);
	is_behind = look_on(watch) || is_behind;
	if (watch->work.has_committed)
		store_flush(watch->environment->store);
	watch->work.has_committed = false;
	return is_behind;
}
