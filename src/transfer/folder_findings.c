/* See transfer/folder_findings.h. The folder is read one folder of a recording at a time, so its
 * size does not matter.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/folder_findings.h"

#include "base/text.h"
#include "records/kinds.h"
#include "resources/recordings/recording_folder.h"
#include "resources/stored/job_record.h"

/* What a comparison needs. */
struct comparison {
	struct snapshot *snapshot;
	const char *folder;
	char id[FOLDER_ID_MOST + 1];
	folder_report *report;
	void *context;
};

static bool find_missing(struct comparison *comparison, struct fault *fault)
{
	struct call *call = &comparison->snapshot->call;
	struct store_walk walk = store_walk_all(call->transaction, &kind_asset, fault);
	struct store_record record;

	while (store_next(&walk, &record)) {
		struct folder_file file;
		struct asset asset;
		struct fault unread = FAULT_INITIAL;

		/* A record that cannot be read is a finding of the check of records. */
		if (record_read(&asset_table, call->arena, &record, &asset, &unread) &&
		    slice_is(asset.folder, comparison->id) &&
		    folder_find(comparison->folder, asset.path, &file) == FOLDER_NOT_THERE)
			comparison->report(
				comparison->context, arena_copy(call->arena, asset.path).data,
				arena_text(call->arena, "the file of the asset %s is missing",
					   id_as_text(call->arena, &asset.stored.id).data));
		snapshot_release(comparison->snapshot);
	}
	return fault->kind == FAULT_NONE;
}

/* Finds files of a recording that no record knows. Those that are still to be sent to a storage
 * have none yet. */
static bool find_unknown_files(struct comparison *comparison, const char *at, const struct id *job,
			       struct fault *fault)
{
	struct call *call = &comparison->snapshot->call;
	struct asset *assets;
	struct slice *names;
	size_t asset_count, count;
	struct job of;

	if (!job_load(call, job, STORE_TO_SHOW, &of, fault))
		return false;
	if (of.stored.value.data != NULL && job_has_unfinished_files(&of, call->now))
		return true;
	if (!assets_of_job(call, job, &assets, &asset_count, fault))
		return false;
	folder_list(call->arena, comparison->folder, slice_of(at), false, &names, &count);
	for (size_t i = 0; i < count; i++) {
		const char *path = arena_text(call->arena, "%s/%.*s", at, (int)names[i].size,
					      names[i].data);
		bool is_known = false;

		for (size_t k = 0; k < asset_count; k++)
			is_known = is_known || slice_is(assets[k].path, path);
		if (!is_known)
			comparison->report(comparison->context, path, "no record knows this file");
	}
	return true;
}

/* Goes through the folders of the rooms and recordings of an account. */
static bool compare_account(struct comparison *comparison, struct arena *arena, const char *account,
			    struct fault *fault)
{
	struct slice *rooms, *jobs;
	size_t room_count, job_count;
	struct id id;

	folder_list(arena, comparison->folder, slice_of(account), true, &rooms, &room_count);
	for (size_t i = 0; i < room_count; i++) {
		const char *room = arena_text(arena, "%s/%.*s", account, (int)rooms[i].size,
					      rooms[i].data);

		folder_list(arena, comparison->folder, slice_of(room), true, &jobs, &job_count);
		for (size_t k = 0; k < job_count; k++) {
			const char *at = arena_text(arena, "%s/%.*s", room, (int)jobs[k].size,
						    jobs[k].data);

			if (id_parse(jobs[k], &id) &&
			    !find_unknown_files(comparison, at, &id, fault))
				return false;
			snapshot_release(comparison->snapshot);
		}
	}
	return true;
}

static bool compare_accounts(struct comparison *comparison, struct fault *fault)
{
	struct arena *arena = arena_open();
	struct slice *names;
	struct id account;
	bool is_done = true;
	size_t count;

	folder_list(arena, comparison->folder, SLICE(""), true, &names, &count);
	for (size_t i = 0; is_done && i < count; i++) {
		if (!id_parse(names[i], &account))
			continue;
		snapshot_set_account(comparison->snapshot, &account);
		is_done = compare_account(comparison, arena, names[i].data, fault);
	}
	arena_close(arena);
	return is_done;
}

/* Finds parts in incoming/ of recordings that have no record. */
static bool compare_parts(struct comparison *comparison, struct fault *fault)
{
	struct call *call = &comparison->snapshot->call;
	struct arena *arena = arena_open();
	struct slice *names;
	bool is_done = true;
	size_t count;

	folder_list(arena, comparison->folder, SLICE("incoming"), true, &names, &count);
	for (size_t i = 0; is_done && i < count; i++) {
		struct slice rest;
		const struct slice first = text_split(names[i], '-', &rest);
		struct id account, id;
		struct job job = { .stored.value = { NULL, 0 } };

		if (id_parse(first, &account) && rest.data != NULL && id_parse(rest, &id)) {
			snapshot_set_account(comparison->snapshot, &account);
			is_done = job_load(call, &id, STORE_TO_SHOW, &job, fault);
		}
		if (is_done && job.stored.value.data == NULL)
			comparison->report(comparison->context,
					   arena_text(arena, "incoming/%.*s", (int)names[i].size,
						      names[i].data),
					   "no recording knows these parts");
		snapshot_release(comparison->snapshot);
	}
	arena_close(arena);
	return is_done;
}

bool folder_findings(struct snapshot *snapshot, const char *folder, folder_report *report,
		     void *context, struct fault *fault)
{
	struct comparison comparison = {
		.snapshot = snapshot,
		.folder = folder,
		.report = report,
		.context = context,
	};

	if (!folder_read_id(folder, comparison.id))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "%s is no folder of recordings: it has no file .anteroom",
				   folder);
	return find_missing(&comparison, fault) && compare_accounts(&comparison, fault) &&
	       compare_parts(&comparison, fault);
}
