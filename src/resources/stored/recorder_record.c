/* See resources/stored/recorder_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/recorder_record.h"

#include <string.h>

#include "base/digest.h"
#include "records/kinds.h"

const struct id work_queue = { { 0 } };

static const struct member recorder_members[] = {
	{ "id", AS_KEY, AT(struct recorder, stored.id) },
	{ "name", AS_TEXT(1, JOB_RECORDER_MOST), AT(struct recorder, name) },
	{ "boot", AS_TEXT(0, JOB_RECORDER_MOST), AT(struct recorder, boot) },
	{ "heard", AS_NUMBER(8, 0, UNLIMITED), AT(struct recorder, heard) },
	{ "first_seen_at", AS_TIME, AT(struct recorder, first_seen) },
	{ "seen_at", AS_TIME, AT(struct recorder, seen) },
	{ "old", AS_BOOLEAN, AT(struct recorder, is_old) },
	{ "folder", AS_TEXT(0, JOB_FOLDER_MOST), AT(struct recorder, folder) },
	{ "slots", AS_NUMBER(4, 0, UINT32_MAX), AT(struct recorder, slots) },
	{ "filled", AS_NUMBER(4, 0, UINT32_MAX), AT(struct recorder, filled) },
	{ "works", AS_NUMBER(4, 0, UINT32_MAX), AT(struct recorder, works) },
	{ "free_bytes", AS_NUMBER(8, 0, UNLIMITED), AT(struct recorder, free_bytes) },
	{ "total_bytes", AS_NUMBER(8, 0, UNLIMITED), AT(struct recorder, total_bytes) },
	{ "busy", AS_NUMBER(4, 0, 1000), AT(struct recorder, busy) },
	{ "ended", AS_BOOLEAN, AT(struct recorder, has_ended) },
};
const struct record_table recorder_table = {
	RECORD(struct recorder, recorder_members, 1, &kind_recorder),
};

static const struct member work_members[] = {
	{ "id", AS_KEY, AT(struct work, stored.id) },
	{ "parent", AS_PARENT, AT(struct work, parent) },
	{ "due_at", AS_TIME, AS_END, AT(struct work, due) },
	{ "account_id", AS_ID, AT(struct work, account) },
	{ "job_id", AS_ID, AT(struct work, job) },
	{ "created_at", AS_TIME, AT(struct work, created) },
	{ "lease_until", AS_TIME, AT(struct work, lease) },
	{ "broke_at", AS_TEXT(0, JOB_RECORDER_MOST), AT(struct work, broke_at) },
};
const struct record_table work_table = { RECORD(struct work, work_members, 2, &kind_work) };

/* ---- ids ---- */

static struct id id_of(const char *begins, struct slice of)
{
	char bytes[16 + JOB_RECORDER_MOST];
	const size_t begin = strlen(begins);
	const size_t size = of.size < JOB_RECORDER_MOST ? of.size : JOB_RECORDER_MOST;
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	memcpy(bytes, begins, begin);
	if (size > 0)
		memcpy(bytes + begin, of.data, size);
	digest_sha256((struct slice){ bytes, begin + size }, digest);
	memcpy(id.bytes, digest, ID_SIZE);
	return id;
}

struct id recorder_id(struct slice name)
{
	return id_of("recorder ", name);
}

struct id work_queue_of_account(const struct id *account)
{
	return id_of("account ", id_slice(account));
}

struct id work_queue_of_folder(struct slice folder)
{
	return id_of("folder ", folder);
}

struct id work_id(int64_t created, const struct id *account, const struct id *job)
{
	char bytes[2 * ID_SIZE];
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	memcpy(bytes, account->bytes, ID_SIZE);
	memcpy(bytes + ID_SIZE, job->bytes, ID_SIZE);
	digest_sha256((struct slice){ bytes, sizeof bytes }, digest);
	id_begin(&id, created);
	memcpy(id.bytes + 6, digest, ID_SIZE - 6);
	return id;
}

/* ---- recorders ---- */

/* The account zero, to which they belong in the store. */
static struct id installation_enter(struct call *call)
{
	const struct id account = call->transaction->account;

	store_set_account(call->transaction, &kind_only_id);
	return account;
}

static bool installation_leave(struct call *call, const struct id *account, bool is_done)
{
	store_set_account(call->transaction, account);
	return is_done;
}

bool recorder_load(struct call *call, struct slice name, enum store_reading reading,
		   struct recorder *recorder, struct fault *fault)
{
	const struct id account = installation_enter(call), id = recorder_id(name);
	const bool is_done = record_get(&recorder_table, call->transaction, &id, reading, recorder,
					fault);

	recorder->stored.id = id;
	return installation_leave(call, &account, is_done);
}

bool recorder_put(struct call *call, const struct recorder *recorder, struct fault *fault)
{
	const struct id account = installation_enter(call);

	return installation_leave(call, &account,
				  record_put(&recorder_table, call->transaction, recorder, fault));
}

bool recorders_read(struct call *call, struct recorder **recorders, size_t *n, struct fault *fault)
{
	const struct id account = installation_enter(call);
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_recorder, &page, true,
						  fault);
	struct store_record stored;
	size_t room = 16;

	*n = 0;
	*recorders = arena_zero(call->arena, room * sizeof **recorders);
	while (store_next(&walk, &stored)) {
		if (*n == room) {
			struct recorder *more = arena_zero(call->arena, 2 * room * sizeof *more);

			memcpy(more, *recorders, room * sizeof *more);
			*recorders = more;
			room *= 2;
		}
		if (!record_read(&recorder_table, call->arena, &stored, &(*recorders)[*n], fault))
			break;
		++*n;
	}
	return installation_leave(call, &account, fault->kind == FAULT_NONE);
}

/* ---- works ---- */

bool work_load(struct call *call, const struct job *job, enum store_reading reading,
	       struct work *work, struct fault *fault)
{
	const struct id account = call->transaction->account;
	const struct id id = work_id(job->created, &account, &job->stored.id);
	bool is_done;

	installation_enter(call);
	is_done = record_get(&work_table, call->transaction, &id, reading, work, fault);
	work->stored.id = id;
	return installation_leave(call, &account, is_done);
}

/* What is stored now is what the next put replaces. */
bool work_put(struct call *call, struct work *work, struct fault *fault)
{
	const struct id account = installation_enter(call), id = work->stored.id;

	return installation_leave(call, &account,
				  record_put(&work_table, call->transaction, work, fault) &&
					  store_get(call->transaction, &kind_work, &id,
						    STORE_TO_CHANGE, &work->stored, fault));
}

/* Reads a page of works. */
static bool works_page(struct call *call, struct store_page *page, struct work **works, size_t *n,
		       struct fault *fault)
{
	const struct id account = installation_enter(call);
	bool is_done;

	*n = 0;
	*works = arena_zero(call->arena, page->most * sizeof **works);
	page->records = arena_alloc(call->arena, page->most * sizeof *page->records);
	is_done = store_page(call->transaction, &kind_work, page, fault);
	for (size_t i = 0; is_done && i < page->count; i++)
		is_done = record_read(&work_table, call->arena, &page->records[i], &(*works)[i],
				      fault);
	if (is_done)
		*n = page->count;
	return installation_leave(call, &account, is_done);
}

bool works_read(struct call *call, const struct id *parent, size_t most, struct work **works,
		size_t *n, struct fault *fault)
{
	struct store_page page = { .order = STORE_OLDEST_FIRST, .parent = parent, .most = most };

	return works_page(call, &page, works, n, fault);
}

bool works_due(struct call *call, int64_t now, size_t most, struct work **works, size_t *n,
	       bool *is_last, struct fault *fault)
{
	struct store_page page = { .order = STORE_BY_END, .until = now, .most = most };

	if (!works_page(call, &page, works, n, fault))
		return false;
	*is_last = page.is_last;
	return true;
}

/* ---- queues ---- */

static bool work_is_in_line(const struct work *work)
{
	const struct id rest = work_queue_of_account(&work->account);

	return id_compare(&work->parent, &work_queue) == 0 || id_compare(&work->parent, &rest) == 0;
}

/* Takes a work out of the line of its account, and lets the next one into the queue. The account of
 * the transaction must be that of the work. */
static bool work_leave_line(struct call *call, const struct work *work, struct fault *fault)
{
	const struct id rest = work_queue_of_account(&work->account);
	struct work *next;
	struct jobs jobs;
	size_t n;

	if (work->stored.value.data == NULL || !work_is_in_line(work))
		return true;
	if (!jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	jobs.waiting -= jobs.waiting > 0 ? 1 : 0;
	/* With its account, the record may have gone first. */
	if (jobs.stored.value.data != NULL &&
	    !record_put(&jobs_table, call->transaction, &jobs, fault))
		return false;
	if (id_compare(&work->parent, &work_queue) != 0)
		return true;
	if (!works_read(call, &rest, 1, &next, &n, fault))
		return false;
	if (n == 0)
		return true;
	next->parent = work_queue;
	return work_put(call, next, fault);
}

/* The functions below change the account of the transaction to that of the work. */
static struct id work_account_enter(struct call *call, const struct work *work)
{
	const struct id account = call->transaction->account;

	store_set_account(call->transaction, &work->account);
	return account;
}

bool work_queue_put(struct call *call, struct work *work, const struct job *job,
		    struct fault *fault)
{
	const struct id account = work_account_enter(call, work);
	struct jobs jobs;
	bool is_done = true;

	work->lease = 0;
	/* What needs no folder waits in the line of all. */
	if (job->epoch > 0 && job->folder.size > 0) {
		work->parent = work_queue_of_folder(job->folder);
	} else if (work->stored.value.data == NULL || !work_is_in_line(work)) {
		is_done = jobs_load(call, STORE_TO_CHANGE, &jobs, fault);
		work->parent = jobs.waiting == 0 ? work_queue
						 : work_queue_of_account(&work->account);
		jobs.waiting++;
		is_done = is_done && record_put(&jobs_table, call->transaction, &jobs, fault);
	}
	return installation_leave(call, &account, is_done && work_put(call, work, fault));
}

bool work_give(struct call *call, struct work *work, const struct id *recorder, struct fault *fault)
{
	const struct id account = work_account_enter(call, work);
	const bool is_done = work_leave_line(call, work, fault);

	work->parent = *recorder;
	return installation_leave(call, &account, is_done && work_put(call, work, fault));
}

bool work_remove(struct call *call, const struct work *work, struct fault *fault)
{
	const struct id account = work_account_enter(call, work);
	bool is_done = work_leave_line(call, work, fault);

	store_set_account(call->transaction, &kind_only_id);
	is_done = is_done && store_remove(call->transaction, &kind_work, &work->stored, fault);
	return installation_leave(call, &account, is_done);
}
