/* Jobs, their files and recorders in a dump, and how they are checked (resources/record_kind.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/record_check.h"
#include "resources/recordings/recording_storage.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/job_record.h"
#include "resources/stored/recorder_record.h"

/* Milliseconds for which a job without a file is kept at least. */
#define JOB_KEPT_LEAST (7 * 24 * 60 * 60 * (int64_t)1000)

/* ---- jobs and their files ---- */

/* What has not ended cannot go on elsewhere: its recorder knows another service. */
static bool job_load_dumped(struct call *call, void *record, const char *pointer,
			    struct findings *findings, struct fault *fault)
{
	struct job *job = record;

	(void)pointer;
	(void)findings;
	(void)fault;
	job->name = id_as_text(call->arena, &job->stored.id);
	if (job->status >= JOB_COMPLETED)
		return true;
	job->status = JOB_FAILED;
	job->reason = JOB_INTERNAL_ERROR;
	job->error = SLICE("was in a dump");
	job->ended = job->updated;
	if (job->stopped == 0)
		job->stopped = job->updated;
	return true;
}

/* Stores the job, and the record that counts the account's jobs: none of them is open. */
static bool job_put_loaded(struct call *call, void *record, struct fault *fault)
{
	struct jobs jobs;

	return record_put(&job_table, call->transaction, record, fault) &&
	       jobs_load(call, STORE_TO_CHANGE, &jobs, fault) &&
	       (jobs.stored.value.data != NULL ||
		record_put(&jobs_table, call->transaction, &jobs, fault));
}

static bool job_record_check(struct call *call, const void *record, struct findings *findings,
			     struct fault *fault)
{
	const struct job *job = record;

	(void)call;
	(void)fault;
	if (job->is_open == (job->ended != 0))
		findings_add(findings, "/ended_at", "does not match open");
	if (job->is_open == (job->status >= JOB_COMPLETED))
		findings_add(findings, "/status", "does not match open");
	if (job->updated < job->created)
		findings_add(findings, "/updated_at", "must not be before created_at");
	return true;
}

/* The work of a job belongs to no account. */
static bool job_removed(struct call *call, const void *record, struct fault *fault)
{
	const struct job *job = record;
	struct work work;

	/* A load that fails removes what it has loaded, and no file. The recorder removes the parts
	 * of what is completed, unless it was stopped meanwhile. */
	if (!call->frees_codes && !gone_file_add_parts(call, job, GONE_WITH_ACCOUNT, fault))
		return false;
	if (!call->frees_codes && job->status == JOB_COMPLETED && job->live_key.size > 0 &&
	    !gone_file_add_live(call, job, GONE_WITH_ACCOUNT, 0, fault))
		return false;
	if (!job->is_open)
		return true;
	return work_load(call, job, STORE_TO_CHANGE, &work, fault) &&
	       (work.stored.value.data == NULL || work_remove(call, &work, fault));
}

static int64_t job_kept(const struct call *call)
{
	const int64_t keep = call->environment->session_keep;

	return keep > JOB_KEPT_LEAST ? keep : JOB_KEPT_LEAST;
}

/* Compares the bytes of the assets with the sizes; that their number is right is a row. */
static bool job_derive(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault)
{
	const struct job *job = record;
	struct session session;
	struct asset *assets;
	uint64_t bytes = 0;
	struct jobs jobs;
	size_t n;

	if (!session_load(call, &job->session, STORE_TO_SHOW, &session, fault) ||
	    !jobs_load(call, STORE_TO_SHOW, &jobs, fault))
		return false;
	if (jobs.stored.value.data == NULL)
		findings_add(findings, "",
			     "is not counted: the record of the account's jobs does not exist");
	if (session.stored.value.data != NULL && session.asset_count < job->asset_count)
		findings_add(findings, "/asset_count", "is more than that of its session");
	if (!assets_of_job(call, &job->stored.id, &assets, &n, fault))
		return false;
	for (size_t i = 0; i < n; i++)
		bytes += assets[i].size;
	if (bytes != job->asset_bytes)
		findings_add(findings, "/asset_bytes", "does not match the sizes of its files");
	return true;
}

const struct record_kind job_kind = {
	.table = &job_table,
	.line = "job",
	.order = RECORD_PAGES,
	.load = job_load_dumped,
	.put = job_put_loaded,
	.check = job_record_check,
	.removed = job_removed,
	.kept = job_kept,
	.derive = job_derive,
};

/* The number of a job's assets is a row; its bytes, the session and the account count them too. */
static bool asset_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct asset *asset = record;
	struct job job;

	if (!record_put(&asset_table, call->transaction, asset, fault) ||
	    !job_load(call, &asset->stored.parent, STORE_TO_CHANGE, &job, fault))
		return false;
	job.asset_bytes += asset->size;
	return job_put(call, &job, fault) && asset_count_elsewhere(call, asset, true, fault);
}

static bool asset_removed(struct call *call, const void *record, struct fault *fault)
{
	return (call->frees_codes || recording_file_gone(call, record, GONE_WITH_ACCOUNT, fault)) &&
	       asset_count_elsewhere(call, record, false, fault);
}

const struct record_kind asset_kind = {
	.table = &asset_table,
	.line = "asset",
	.order = RECORD_CHILDREN,
	.put = asset_put_loaded,
	.removed = asset_removed,
};

static bool jobs_derive(struct call *call, const void *record, struct findings *findings,
			struct fault *fault)
{
	const struct jobs *jobs = record;
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_job, &page, false,
						  fault);
	struct store_record stored;
	struct jobs counted = { .open = 0 };
	struct asset *assets;
	struct job job;
	size_t n;

	while (store_next(&walk, &stored)) {
		if (!record_read(&job_table, call->arena, &stored, &job, fault))
			return false;
		counted.open += job.is_open;
		counted.running += job_is_carried_out(&job);
		counted.bytes += job.asset_bytes;
		if (job.asset_count > 0 && !assets_of_job(call, &job.stored.id, &assets, &n, fault))
			return false;
		for (size_t i = 0; job.asset_count > 0 && i < n; i++)
			counted.missing += assets[i].is_missing;
	}
	if (fault->kind != FAULT_NONE)
		return false;
	if (counted.open != jobs->open)
		findings_add(findings, "/open", "does not match the number of open jobs");
	if (counted.running != jobs->running)
		findings_add(findings, "/running", "does not match the jobs that are carried out");
	if (counted.missing != jobs->missing)
		findings_add(findings, "/missing", "does not match the files that are missing");
	if (counted.bytes != jobs->bytes)
		findings_add(findings, "/bytes", "does not match the sizes of the files");
	return true;
}

const struct record_kind jobs_kind = {
	.table = &jobs_table,
	.order = RECORD_ONE,
	.derive = jobs_derive,
};

/* ---- recorders, and what they do ---- */

const struct record_kind recorder_kind = {
	.table = &recorder_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
};

/* The job belongs to the work's account. */
static bool work_check(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault)
{
	const struct work *work = record;
	const struct id account = call->transaction->account;
	struct job job;
	bool is_read;

	store_set_account(call->transaction, &work->account);
	is_read = job_load(call, &work->job, STORE_TO_SHOW, &job, fault);
	store_set_account(call->transaction, &account);

	if (is_read && (job.stored.value.data == NULL || !job.is_open))
		findings_add(findings, "/job_id", "is of no job that is open");
	return is_read;
}

const struct record_kind work_kind = {
	.table = &work_table,
	.order = RECORD_UNLISTED,
	.is_of_no_account = true,
	.check = work_check,
};
