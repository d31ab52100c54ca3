/* See resources/stored/gone_file.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/gone_file.h"

#include <string.h>

#include "base/digest.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/record_kind.h"

const char *const gone_cause_names[GONE_CAUSES] = {
	[GONE_BY_REQUEST] = "request",
	[GONE_BY_RETENTION] = "retention",
	[GONE_WITH_ACCOUNT] = "account",
	[GONE_AS_ORPHAN] = "orphan",
};

static const struct member gone_file_members[] = {
	{ "id", AS_KEY, AT(struct gone_file, stored.id) },
	{ "due_at", AS_TIME, AS_END, AT(struct gone_file, due) },
	{ "cause", AS_CHOICE(GONE_CAUSES - 1, gone_cause_names), AT(struct gone_file, cause) },
	{ "folder_of_parts", AS_BOOLEAN, AT(struct gone_file, is_folder) },
	{ "account_id", AS_ID, AT(struct gone_file, account) },
	{ "room_id", AS_ID, AT(struct gone_file, room) },
	{ "job_id", AS_ID, AT(struct gone_file, job) },
	{ "asset_id", AS_ID, AT(struct gone_file, asset) },
	{ "folder", AS_TEXT(0, JOB_FOLDER_MOST), AT(struct gone_file, folder) },
	{ "path", AS_TEXT(1, JOB_PATH_MOST), AT(struct gone_file, path) },
	{ "storage", AS_JSON(GONE_STORAGE_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct gone_file, storage) },
	{ "size", AS_NUMBER(8, 0, UNLIMITED), AT(struct gone_file, size) },
};
const struct record_table gone_file_table = {
	RECORD(struct gone_file, gone_file_members, 1, &kind_gone_file),
};

const struct record_kind gone_file_kind = {
	.table = &gone_file_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
};

/* Makes the transaction one of no account. Returns the account that it was of. */
static struct id account_leave(struct call *call)
{
	const struct id account = call->transaction->account;

	store_set_account(call->transaction, &kind_only_id);
	return account;
}

static struct id gone_file_id(struct arena *arena, const struct gone_file *file)
{
	/* Objects of several storages may have one name, but none has that of a file. */
	char asset[ID_TEXT_SIZE + 1] = "";
	const char *text;
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	if (file->storage.size > 0)
		id_print(&file->asset, asset);
	text = arena_text(arena, "%.*s%s/%.*s", (int)file->folder.size, file->folder.data, asset,
			  (int)file->path.size, file->path.data);
	digest_sha256(slice_of(text), digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

bool gone_file_add(struct call *call, const struct gone_file *file, struct fault *fault)
{
	const struct id id = gone_file_id(call->arena, file);
	/* A command that removes an account has no time of its own. */
	const int64_t due = file->due != 0 ? file->due : clock_now(call->environment->clock);
	struct gone_file added;
	struct id account;
	bool is_done;

	/* A file without a place is nowhere. */
	if (file->folder.size == 0 && file->storage.size == 0)
		return true;
	account = account_leave(call);
	is_done = record_get(&gone_file_table, call->transaction, &id, STORE_TO_CHANGE, &added,
			     fault);
	if (is_done && (added.stored.value.data == NULL || added.due > due)) {
		const struct store_record stored = added.stored;

		added = *file;
		added.stored = stored;
		added.stored.id = id;
		added.due = due;
		is_done = record_put(&gone_file_table, call->transaction, &added, fault);
	}
	store_set_account(call->transaction, &account);
	return is_done;
}

bool gone_file_add_asset(struct call *call, const struct asset *asset, struct slice storage,
			 enum gone_cause cause, struct fault *fault)
{
	const struct gone_file file = {
		.cause = cause,
		.account = call->account,
		.room = asset->room,
		.job = asset->stored.parent,
		.asset = asset->stored.id,
		.folder = asset->folder,
		.storage = storage,
		.path = asset->path,
		.size = asset->size,
	};

	return gone_file_add(call, &file, fault);
}

static bool add_folder(struct call *call, const struct job *job, const char *path,
		       enum gone_cause cause, int64_t due, struct fault *fault)
{
	const struct gone_file file = {
		.due = due,
		.cause = cause,
		.is_folder = true,
		.account = call->account,
		.room = job->stored.parent,
		.job = job->stored.id,
		.folder = job->folder,
		.path = slice_of(path),
	};

	return gone_file_add(call, &file, fault);
}

bool gone_file_add_parts(struct call *call, const struct job *job, enum gone_cause cause,
			 struct fault *fault)
{
	const char *path = arena_text(call->arena, "incoming/%s-%s",
				      id_as_text(call->arena, &call->account).data,
				      id_as_text(call->arena, &job->stored.id).data);

	/* Those of what goes to object storage may be elsewhere: their recorder deletes them. */
	return (job->storage.size > 0 || add_folder(call, job, path, cause, 0, fault)) &&
	       (job->live_key.size == 0 || gone_file_add_live(call, job, cause, 0, fault));
}

bool gone_file_add_live(struct call *call, const struct job *job, enum gone_cause cause,
			int64_t due, struct fault *fault)
{
	return add_folder(
		call, job,
		arena_text(call->arena, "live/%.*s", (int)job->live_key.size, job->live_key.data),
		cause, due, fault);
}

bool gone_files_due(struct call *call, size_t most, struct gone_file **files, size_t *n,
		    struct fault *fault)
{
	const struct id account = account_leave(call);
	struct store_page page = {
		.order = STORE_BY_END,
		.until = call->now,
		.records = arena_alloc(call->arena, most * sizeof *page.records),
		.most = most,
	};
	bool is_done = store_page(call->transaction, &kind_gone_file, &page, fault);

	*n = 0;
	*files = arena_zero(call->arena, most * sizeof **files);
	for (size_t i = 0; is_done && i < page.count; i++)
		is_done = record_read(&gone_file_table, call->arena, &page.records[i], &(*files)[i],
				      fault);
	if (is_done)
		*n = page.count;
	store_set_account(call->transaction, &account);
	return is_done;
}

bool gone_file_remove(struct call *call, const struct gone_file *file, bool *is_there,
		      struct fault *fault)
{
	const struct id account = account_leave(call);
	struct gone_file found;
	bool is_done = record_get(&gone_file_table, call->transaction, &file->stored.id,
				  STORE_TO_CHANGE, &found, fault);

	*is_there = is_done && found.stored.value.data != NULL;
	if (*is_there)
		is_done = store_remove(call->transaction, &kind_gone_file, &found.stored, fault);
	store_set_account(call->transaction, &account);
	return is_done;
}

bool gone_file_delay(struct call *call, const struct gone_file *file, int64_t due,
		     struct fault *fault)
{
	const struct id account = account_leave(call);
	struct gone_file found;
	bool is_done = record_get(&gone_file_table, call->transaction, &file->stored.id,
				  STORE_TO_CHANGE, &found, fault);

	if (is_done && found.stored.value.data != NULL) {
		found.due = due;
		is_done = record_put(&gone_file_table, call->transaction, &found, fault);
	}
	store_set_account(call->transaction, &account);
	return is_done;
}
