/* POST /v2/recorders/{recorder_name}/report: a recorder says all that it has, and is told all that
 * it is to do; lost, doubled and late reports change nothing (anteroom-api(7), RECORDERS).
 *
 * Most reports bring nothing that must be stored, and are answered from a READ transaction. The
 * jobs of a report may belong to several accounts: each account has a transaction of its own, with
 * its events; the last one takes a job, and answers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recorders.h"

#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/job_order.h"
#include "resources/recordings/job_outputs.h"
#include "resources/recordings/recording_folder.h"
#include "resources/recordings/recording_start.h"
#include "resources/recordings/recording_storage.h"
#include "rules/recorder_rules.h"

/* Milliseconds until the next report: of a recorder without work, and with work. */
#define EVERY_IDLE 2000
#define EVERY_AT_WORK 1000
/* Works of a recorder that an answer names, and works of the queues that are looked at. */
#define WORKS_MOST 64
#define QUEUE_MOST 64
/* Seconds for which an address for a file can be used; a file that is under way then goes on. */
#define PUT_SECONDS 3600
/* A lease is moved when less than this part of it is left. */
#define LEASE_LEFT(lease_) ((lease_)*8 / 15)

/* A work of the report, and what the records have of it. */
struct reported_work {
	struct id account, job_id;
	struct work_report report;
	bool needs_order;
	bool is_loaded, has_account;
	struct job job; /* value.data NULL: there is none */
	struct work work;
};

struct report {
	struct call *call;
	struct recorder recorder; /* as it reports now */
	struct recorder stored; /* as its record has it */
	struct recorder latest; /* as it reported before, which may be newer */
	struct recorder_key key;
	struct id id;
	int64_t lease;
	struct reported_work works[REPORT_WORKS_MOST];
	size_t count;
	const json_t *needs;
	bool has_space;
	bool is_late; /* a later one of this process was heard */
};

/* ---- reading ---- */

static uint64_t report_number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static enum work_state report_state(const json_t *work)
{
	const struct slice text = text_of_json(json_object_get(work, "state"));
	size_t state = 0;

	while (state < WORK_STATES - 1 && !slice_is(text, work_state_names[state]))
		state++;
	return (enum work_state)state;
}

static void read_gaps(struct arena *arena, const json_t *list, struct work_report *report)
{
	report->gap_count = json_array_size(list);
	report->gaps = arena_alloc(arena, (report->gap_count + 1) * sizeof *report->gaps);
	for (size_t i = 0; i < report->gap_count; i++) {
		const json_t *gap = json_array_get(list, i);

		report->gaps[i] = (struct asset_gap){ report_number(gap, "at_ms"),
						      report_number(gap, "missing_ms") };
	}
}

static void read_files(struct arena *arena, const json_t *list, struct work_report *report)
{
	report->file_count = json_array_size(list);
	report->files = arena_alloc(arena, (report->file_count + 1) * sizeof *report->files);
	for (size_t i = 0; i < report->file_count; i++) {
		const json_t *file = json_array_get(list, i);
		const struct slice name = text_of_json(json_object_get(file, "name"));

		report->files[i] = (struct work_file){
			.name = name,
			.bytes = report_number(file, "bytes"),
			.duration = report_number(file, "duration_ms"),
			.width = (uint32_t)report_number(file, "width"),
			.height = (uint32_t)report_number(file, "height"),
			.is_chat = slice_is(name, REPORT_CHAT),
		};
	}
}

static enum output_state report_output_state(const json_t *output)
{
	const struct slice text = text_of_json(json_object_get(output, "state"));
	size_t state = 0;

	while (state < OUTPUT_STATES - 1 && !slice_is(text, output_state_names[state]))
		state++;
	return (enum output_state)state;
}

static void read_outputs(struct arena *arena, const json_t *list, struct work_report *report)
{
	report->output_count = json_array_size(list);
	report->outputs = arena_alloc(arena, (report->output_count + 1) * sizeof *report->outputs);
	for (size_t i = 0; i < report->output_count; i++) {
		const json_t *output = json_array_get(list, i);
		const struct slice error = text_of_json(json_object_get(output, "error"));

		report->outputs[i] = (struct output_report){
			.state = report_output_state(output),
			.error = error.data == NULL ? SLICE("") : error,
		};
	}
}

static void read_work(struct report *report, const json_t *object, struct reported_work *work)
{
	const struct slice media = text_of_json(json_object_get(object, "media_at"));
	struct work_report *read = &work->report;

	id_parse(text_of_json(json_object_get(object, "account")), &work->account);
	id_parse(text_of_json(json_object_get(object, "job")), &work->job_id);
	read->n = report->recorder.heard;
	read->epoch = (uint32_t)report_number(object, "epoch");
	read->recorder = report->recorder.name;
	read->boot = report->recorder.boot;
	read->folder = report->recorder.folder;
	read->state = report_state(object);
	read->part = (uint32_t)report_number(object, "part");
	if (media.data == NULL || !text_time_parse(media, &read->media))
		read->media = 0;
	read->recorded = report_number(object, "recorded_ms");
	read->has_space = report->has_space;
	read->error = text_of_json(json_object_get(object, "error"));
	if (read->error.data == NULL)
		read->error = SLICE("");
	read_gaps(report->call->arena, json_object_get(object, "gaps"), read);
	read_files(report->call->arena, json_object_get(object, "files"), read);
	read_outputs(report->call->arena, json_object_get(object, "outputs"), read);
}

/* Each run parses the body anew, because the check cleans it. */
static bool read_report(struct report *report, struct fault *fault)
{
	struct call *call = report->call;
	struct recorder *recorder = &report->recorder;
	struct findings findings;
	const json_t *works;
	json_t *body;

	if (call->request.body_is_too_large || call->request.body.size > RECORDER_REPORT_MOST)
		return fault_detail(fault, FAULT_TOO_LARGE, "the maximum body size is %zu bytes",
				    RECORDER_REPORT_MOST);
	findings_open(&findings, call->arena);
	if (!schema_parse(call->arena, call->request.body, &body, fault) ||
	    !schema_check(&report_shape, body, SCHEMA_WHOLE, false, &findings, fault))
		return false;
	works = json_object_get(body, "works");
	report->needs = json_object_get(body, "needs");
	recorder->boot = text_of_json(json_object_get(body, "boot"));
	recorder->heard = report_number(body, "n");
	recorder->seen = call->now;
	recorder->is_old = report_number(body, "version") != RECORDER_VERSION;
	recorder->folder = text_of_json(json_object_get(body, "folder"));
	recorder->slots = (uint32_t)report_number(body, "slots");
	recorder->free_bytes = report_number(body, "free_bytes");
	recorder->total_bytes = report_number(body, "total_bytes");
	recorder->busy = (uint32_t)(json_number_value(json_object_get(body, "busy")) * 1000);
	recorder->has_ended = json_is_true(json_object_get(body, "ends"));
	report->has_space = recorder_has_space(recorder->free_bytes, recorder->total_bytes);
	report->count = json_array_size(works);
	recorder->works = (uint32_t)report->count;
	recorder->filled = 0;
	for (size_t i = 0; i < report->count; i++) {
		read_work(report, json_array_get(works, i), &report->works[i]);
		recorder->filled += report->works[i].report.state <= WORK_STOPPING;
	}
	if (!recorder->is_old)
		return true;
	/* It is told so, and counts as lost. */
	return fault_explain(fault, FAULT_CONFLICT,
			     report_number(body, "version") < RECORDER_VERSION
				     ? "This recorder is too old"
				     : "This recorder is too new",
			     "version: must be %d, got %llu", RECORDER_VERSION,
			     (unsigned long long)report_number(body, "version"));
}

/* A second process may have the name only when the first has said that it ends, or was silent for
 * the length of a lease. */
static bool check_boot(const struct report *report, struct fault *fault)
{
	const struct recorder *latest = &report->latest;

	if (latest->boot.size == 0 || latest->has_ended ||
	    slice_equal(latest->boot, report->recorder.boot) ||
	    report->call->now >= latest->seen + report->lease)
		return true;
	return fault_explain(fault, FAULT_CONFLICT, "Another recorder has this name",
			     "it reported %lld ms ago",
			     (long long)(report->call->now - latest->seen));
}

/* ---- the account of a job ---- */

static void enter_account(struct call *call, const struct id *account)
{
	call->account = *account;
	call_set_account(call);
}

static bool account_is_there(const struct call *call, const struct id *id, bool *is_enabled)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, id);
	const bool is_there = account != NULL;

	*is_enabled = is_there && account->is_enabled;
	accounts_release(accounts, roster);
	return is_there;
}

/* ---- merging ---- */

/* True if this recorder carries out the job in its present epoch. */
static bool holds(const struct report *report, const struct job *job)
{
	return job->epoch > 0 && slice_equal(job->recorder, report->recorder.name) &&
	       slice_equal(job->boot, report->recorder.boot);
}

/* In the service's own folder, a recording is done only when its files are there; until then it is
 * still being sent. */
static void check_files(struct report *report, const struct job *job, struct work_report *told)
{
	struct call *call = report->call;
	const struct recordings *recordings = call->environment->recordings;

	if (told->state != WORK_DONE || job->storage.size > 0 || recordings == NULL ||
	    recordings->folder == NULL || told->folder.size == 0 ||
	    !slice_equal(told->folder, recordings_folder_id(call)))
		return;
	for (size_t i = 0; i < told->file_count; i++) {
		const struct work_file *file = &told->files[i];
		struct folder_file found;

		if (folder_find(recordings->folder, job_file_path(call, job, file->name), &found) ==
			    FOLDER_DONE &&
		    found.size == file->bytes)
			continue;
		told->state = WORK_SENDING;
		told->error = slice_of(arena_text(call->arena,
						  "%.*s is not in the folder of recordings with "
						  "its size.",
						  (int)file->name.size, file->name.data));
		return;
	}
}

/* What is stored and shown has no key of a stream. */
static void clean_errors(struct report *report, const struct job *job, struct work_report *told)
{
	told->error = job_outputs_clean(report->call, job, told->error);
	for (size_t i = 0; i < told->output_count; i++)
		told->outputs[i].error = job_outputs_clean(report->call, job,
							   told->outputs[i].error);
}

static void note_back(struct report *report)
{
	struct call *call = report->call;

	audit_note(call, "recorder.back",
		   &(const struct audit_data){ .kind = "recorder",
					       .id = report->recorder.name,
					       .name = report->recorder.name,
					       .actor = audit_service_text(call->arena) });
}

/* Merges what the recorder and the records say about one job. In a READ transaction, *is_stored
 * says that something must be stored. */
static bool merge_work(struct report *report, struct reported_work *work, bool is_enabled,
		       bool *is_stored, struct fault *fault)
{
	struct call *call = report->call;
	const enum store_reading reading = call_is_writing(call) ? STORE_TO_CHANGE : STORE_TO_SHOW;
	const struct recording_times *times = recording_times_of(call);
	struct job *job = &work->job;
	struct job_room room;
	struct job_news news = { .type = NEWS_REPORT,
				 .now = call->now,
				 .peer = SLICE(""),
				 .actor = SLICE(""),
				 .report = &work->report,
				 .room = &room,
				 .times = times };
	bool was_lost, is_moved, is_ordered = false;
	unsigned acts, later = 0;
	uint64_t recorded;

	if (!job_load(call, &work->job_id, reading, job, fault))
		return false;
	if (job->stored.value.data == NULL)
		return true;
	check_files(report, job, &work->report);
	clean_errors(report, job, &work->report);
	was_lost = job->lost != 0;
	recorded = job_recorded(job);
	if (job->is_open && !work_load(call, job, reading, &work->work, fault))
		return false;
	if (!call_is_writing(call)) {
		acts = job_merge(job, &news);
		is_moved = job->is_open && holds(report, job) && work->report.epoch == job->epoch &&
			   work->work.lease - call->now < LEASE_LEFT(report->lease);
		if (job->is_open && holds(report, job)) {
			if (!job_room_read(call, job, &room, fault) ||
			    (job_wants(job) != WANT_STOP &&
			     !recording_follow(call, job, &is_ordered, fault)))
				return false;
			news.type = NEWS_TIME;
			news.lease = call->now + report->lease;
			later = job_merge(job, &news);
		}
		*is_stored = ((acts | later) & ACT_CHANGED) != 0 || is_moved || is_ordered ||
			     (job->is_open && holds(report, job) && !is_enabled);
		return true;
	}

	if (!job_apply(call, job, &work->work, &news, &acts, fault))
		return false;
	if ((acts & ACT_CHANGED) != 0)
		*is_stored = true;
	if (was_lost && job->lost == 0) {
		note_back(report);
		*is_stored = true;
	}
	if (!job->is_open || !holds(report, job) || job->lost != 0 ||
	    work->report.epoch != job->epoch)
		return true;

	/* It holds the job, and what the time says is merged along. */
	if (!is_enabled) {
		news.type = NEWS_STOP;
		news.reason = JOB_ROOM_ENDED;
		if (!job_apply(call, job, &work->work, &news, &later, fault))
			return false;
		*is_stored = *is_stored || (later & ACT_CHANGED) != 0;
	}
	if (!job->is_open)
		return true;
	if (job_wants(job) != WANT_STOP && !recording_follow(call, job, &is_ordered, fault))
		return false;
	if (is_ordered) {
		news.type = NEWS_ORDER;
		if (!job_apply(call, job, &work->work, &news, &later, fault))
			return false;
		*is_stored = true;
	}
	if (!job_room_read(call, job, &room, fault))
		return false;
	news.type = NEWS_TIME;
	news.lease = call->now + report->lease;
	if (!job_apply(call, job, &work->work, &news, &later, fault))
		return false;
	*is_stored = *is_stored || (later & ACT_CHANGED) != 0;
	if (!job->is_open)
		return true;
	is_moved = work->work.lease - call->now < LEASE_LEFT(report->lease);
	if (!*is_stored && !is_moved)
		return true;
	*is_stored = true;
	/* What has only grown is stored with the lease. */
	if ((acts & ACT_GREW) != 0 && (acts & ACT_CHANGED) == 0) {
		if (!job_put(call, job, fault))
			return false;
		recorders_count_recorded(call->environment->recorders,
					 job_recorded(job) - recorded);
	}
	work->work.lease = call->now + report->lease;
	work->work.due = job_due(job, &room, work->work.lease, times, call->now);
	return work_give(call, &work->work, &report->id, fault);
}

/* Merges the works from call->step on. *must_end: something was stored, and the next work is of
 * another account. */
static bool merge_works(struct report *report, size_t *next, bool *is_stored, struct fault *fault)
{
	struct call *call = report->call;

	while (*next < report->count) {
		struct reported_work *work = &report->works[*next];
		bool is_enabled;

		if (*is_stored && call_is_writing(call) &&
		    id_compare(&call->account, &work->account) != 0)
			return true;
		work->has_account = account_is_there(call, &work->account, &is_enabled);
		if (work->has_account) {
			bool has_stored = false;

			enter_account(call, &work->account);
			if (!merge_work(report, work, is_enabled, &has_stored, fault))
				return false;
			*is_stored = *is_stored || has_stored;
		}
		++*next;
	}
	return true;
}

/* ---- taking ---- */

static bool is_alone(struct report *report, bool *alone, struct fault *fault)
{
	struct recorder *others;
	size_t n;

	*alone = true;
	if (!recorders_read(report->call, &others, &n, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		recorders_refresh(report->call->environment->recorders, report->call->arena,
				  &others[i]);
		if (!slice_equal(others[i].name, report->recorder.name) &&
		    slice_equal(others[i].folder, report->recorder.folder) &&
		    !others[i].has_ended && report->call->now < others[i].seen + report->lease)
			*alone = false;
	}
	return true;
}

/* Finds out whether this recorder may take a waiting work, and how many of its account recorders
 * have. */
static bool may_take(struct report *report, const struct work *work, bool has_slot, bool *may,
		     uint64_t *running, struct fault *fault)
{
	struct call *call = report->call;
	const struct id account = call->transaction->account;
	struct jobs jobs;
	struct job job;
	bool is_enabled, alone = true, is_read = true;

	*may = false;
	if (!account_is_there(call, &work->account, &is_enabled) ||
	    !recorder_key_serves(&report->key, &work->account))
		return true;
	store_set_account(call->transaction, &work->account);
	is_read = job_load(call, &work->job, STORE_TO_SHOW, &job, fault) &&
		  jobs_load(call, STORE_TO_SHOW, &jobs, fault);
	store_set_account(call->transaction, &account);
	if (!is_read)
		return false;
	if (job.stored.value.data == NULL || !job.is_open ||
	    (job.folder.size > 0 && !slice_equal(job.folder, report->recorder.folder)) ||
	    (job_wants(&job) != WANT_STOP && (!has_slot || !is_enabled)) ||
	    (job_wants(&job) == WANT_STOP && job.epoch == 0))
		return true;
	if (slice_equal(work->broke_at, report->recorder.name) && !is_alone(report, &alone, fault))
		return false;
	*may = alone;
	*running = jobs.running > jobs.waiting ? jobs.running - jobs.waiting : 0;
	return true;
}

/* Finds the work that the recorder takes: of the account with the fewest works, then the oldest.
 * *found is NULL if there is none. */
static bool find_work(struct report *report, struct work **found, struct fault *fault)
{
	struct call *call = report->call;
	const struct recorder *recorder = &report->recorder;
	const bool has_slot = recorder->slots > recorder->filled && report->has_space &&
			      recorder->busy < RECORDER_BUSY_MOST;
	const struct id queues[] = { work_queue_of_folder(recorder->folder), work_queue };
	uint64_t fewest = 0, running;
	struct work *works;
	bool may;
	size_t n;

	*found = NULL;
	/* Whoever has said something else since, or ends, may not carry it out. */
	if (call->environment->live != LIVE_ON || recorder->works >= REPORT_WORKS_MOST ||
	    report->is_late || recorder->has_ended)
		return true;
	for (size_t i = 0; i < 2 && *found == NULL; i++) {
		if (!works_read(call, &queues[i], QUEUE_MOST, &works, &n, fault))
			return false;
		for (size_t j = 0; j < n; j++) {
			if (!may_take(report, &works[j], has_slot, &may, &running, fault))
				return false;
			if (!may || (*found != NULL && running >= fewest))
				continue;
			*found = &works[j];
			fewest = running;
		}
	}
	return true;
}

static bool take_work(struct report *report, const struct work *found, struct fault *fault)
{
	struct call *call = report->call;
	const struct work_report taken = { .n = report->recorder.heard,
					   .recorder = report->recorder.name,
					   .boot = report->recorder.boot,
					   .folder = report->recorder.folder };
	const struct job_news news = { .type = NEWS_TAKEN, .now = call->now, .report = &taken };
	/* The secret of the account is gone with whose key the addresses were sealed. */
	const struct job_news lost = { .type = NEWS_FAILED,
				       .now = call->now,
				       .reason = JOB_INTERNAL_ERROR,
				       .error = SLICE(
					       "The addresses can no longer be read, because "
					       "a secret of the account was removed.") };
	struct slice urls[JOB_OUTPUTS_MOST];
	struct job_room room;
	struct work work;
	struct job job;
	unsigned acts;
	bool is_ordered;

	enter_account(call, &found->account);
	if (!job_load(call, &found->job, STORE_TO_CHANGE, &job, fault))
		return false;
	if (job.stored.value.data == NULL || !job.is_open)
		return true;
	if (!work_load(call, &job, STORE_TO_CHANGE, &work, fault))
		return false;
	/* Another recorder may have taken it meanwhile. */
	if (work.stored.value.data == NULL || work.lease != 0)
		return true;
	if (job_wants(&job) == WANT_RUN && !job_outputs_open(call, &job, urls))
		return job_apply(call, &job, &work, &lost, &acts, fault);
	/* The first order has the look as it is now. */
	if (job_wants(&job) != WANT_STOP && !recording_follow(call, &job, &is_ordered, fault))
		return false;
	if (!job_apply(call, &job, &work, &news, &acts, fault) ||
	    !job_room_read(call, &job, &room, fault))
		return false;
	work.lease = call->now + report->lease;
	work.due = job_due(&job, &room, work.lease, recording_times_of(call), call->now);
	return work_give(call, &work, &report->id, fault);
}

/* ---- the answer ---- */

/* what: "order" or "put". */
static bool report_needs(const struct report *report, const struct id *account,
			 const struct id *job, const char *what)
{
	const json_t *need;
	size_t i;

	json_array_foreach(report->needs, i, need) {
		struct id of, in;

		if (id_parse(text_of_json(json_object_get(need, "job")), &of) &&
		    id_parse(text_of_json(json_object_get(need, "account")), &in) &&
		    id_compare(&of, job) == 0 && id_compare(&in, account) == 0 &&
		    slice_is(text_of_json(json_object_get(need, "what")), what))
			return true;
	}
	return false;
}

static void write_work_begin(struct json_writer *body, const struct id *account,
			     const struct id *job, uint32_t epoch, const char *want)
{
	char text[ID_TEXT_SIZE + 1];

	writer_open(body, NULL, '{');
	id_print(account, text);
	writer_plain(body, "account", slice_of(text));
	id_print(job, text);
	writer_plain(body, "job", slice_of(text));
	writer_integer(body, "epoch", epoch);
	writer_plain(body, "want", slice_of(want));
}

/* Writes where the files of a work are to be sent. Without credentials, there is no address, which
 * does not mean that they stay in the folder. */
static bool write_put(struct report *report, const struct job *job, struct json_writer *body,
		      struct fault *fault)
{
	struct call *call = report->call;
	struct bucket bucket;
	bool is_there;

	if (!storage_find(call, job->storage, &job->stored.parent, &job->template_id, &bucket,
			  &is_there, fault))
		return false;
	writer_open(body, "put", '[');
	for (size_t i = 0; is_there && i < report->count; i++) {
		const struct work_report *told = &report->works[i].report;

		if (id_compare(&report->works[i].job_id, &job->stored.id) != 0)
			continue;
		for (size_t j = 0; j < told->file_count; j++) {
			const struct slice name = told->files[j].name;

			writer_open(body, NULL, '{');
			writer_text(body, "name", name);
			writer_text(body, "url",
				    bucket_link(call->arena, &bucket, "PUT",
						storage_object(call, job, name), call->now / 1000,
						PUT_SECONDS, NULL, 0));
			writer_open(body, "headers", '{');
			writer_plain(body, "Content-Type",
				     told->files[j].is_chat ? SLICE("text/csv; charset=utf-8")
							    : SLICE("video/mp4"));
			writer_close(body, '}');
			writer_close(body, '}');
		}
	}
	writer_close(body, ']');
	return true;
}

static bool write_wanted(struct report *report, const struct job *job, struct json_writer *body,
			 struct fault *fault)
{
	static const char *const wants[] = {
		[WANT_RUN] = "run",
		[WANT_PAUSE] = "pause",
		[WANT_STOP] = "stop",
	};
	struct call *call = report->call;
	struct job_room room;

	if (!job_room_read(call, job, &room, fault))
		return false;
	write_work_begin(body, &call->account, &job->stored.id, job->epoch, wants[job_wants(job)]);
	writer_integer(body, "rev", job->rev);
	writer_integer(body, "inside", (int64_t)(job->is_test ? room.inside + 1 : room.inside));
	if (report_needs(report, &call->account, &job->stored.id, "order") &&
	    !job_order_write(call, job, body, fault))
		return false;
	if (job->storage.size > 0 && report_needs(report, &call->account, &job->stored.id, "put") &&
	    !write_put(report, job, body, fault))
		return false;
	writer_close(body, '}');
	return true;
}

/* True if the recorder may still bring what it has of a job that failed without it. */
static bool may_be_saved(const struct report *report, const struct reported_work *work)
{
	const struct job *job = &work->job;

	return job->status == JOB_FAILED && !job->is_saved && job_makes_file(job) &&
	       holds(report, job) && work->report.epoch == job->epoch &&
	       work->report.state != WORK_BROKEN && job->media != 0 &&
	       report->call->now < job->ended + JOB_SAVED_FOR;
}

/* True if nothing of the job is to stay in the folder: it was sent, or is too old to be. */
static bool is_to_be_erased(const struct report *report, const struct job *job)
{
	return job->stored.value.data != NULL && job->storage.size > 0 &&
	       (job->status == JOB_COMPLETED || report->call->now >= job->ended + JOB_SAVED_FOR);
}

static bool write_answer(struct report *report, struct fault *fault)
{
	struct call *call = report->call;
	struct json_writer body = writer_begin(call->arena, false);
	struct work *works;
	size_t n;

	if (!works_read(call, &report->id, WORKS_MOST, &works, &n, fault))
		return false;
	writer_time_milliseconds(&body, "now", call->now);
	writer_integer(&body, "n",
		       (int64_t)(report->is_late ? report->latest.heard : report->recorder.heard));
	writer_integer(&body, "every_ms", n > 0 || report->count > 0 ? EVERY_AT_WORK : EVERY_IDLE);
	writer_integer(&body, "lease_ms", report->lease);
	writer_open(&body, "works", '[');
	for (size_t i = 0; i < n; i++) {
		struct job job;

		enter_account(call, &works[i].account);
		if (!job_load(call, &works[i].job, STORE_TO_SHOW, &job, fault))
			return false;
		/* A former process of this name may have had it. */
		if (job.stored.value.data != NULL && job.is_open && holds(report, &job) &&
		    !write_wanted(report, &job, &body, fault))
			return false;
	}
	for (size_t i = 0; i < report->count; i++) {
		struct reported_work *work = &report->works[i];
		bool is_enabled, is_gone = !account_is_there(call, &work->account, &is_enabled);

		enter_account(call, &work->account);
		if (!is_gone && !job_load(call, &work->job_id, STORE_TO_SHOW, &work->job, fault))
			return false;
		if (!is_gone && work->job.stored.value.data != NULL && work->job.is_open)
			continue;
		if (!is_gone && work->job.stored.value.data != NULL && may_be_saved(report, work)) {
			if (!write_wanted(report, &work->job, &body, fault))
				return false;
			continue;
		}
		write_work_begin(&body, &work->account, &work->job_id, work->report.epoch, "drop");
		if (is_gone || is_to_be_erased(report, &work->job))
			writer_flag(&body, "erase", true);
		writer_close(&body, '}');
	}
	writer_close(&body, ']');
	return call_answer(call, writer_end(&body));
}

/* ---- the call ---- */

/* Stores what the recorder said, unless that was done lately and it is the same process, or a
 * later report is stored. */
static bool store_recorder(struct report *report, bool *is_stored, struct fault *fault)
{
	struct recorder *recorder = &report->recorder;
	const struct recorder *stored = &report->stored;
	const bool is_same = stored->stored.value.data != NULL &&
			     slice_equal(stored->boot, recorder->boot);
	const bool is_known = is_same && slice_equal(stored->folder, recorder->folder) &&
			      stored->has_ended == recorder->has_ended;

	if (is_same && stored->heard > recorder->heard)
		return true;
	if (is_known && report->call->now < stored->seen + RECORDERS_STORED_EVERY)
		return true;
	*is_stored = true;
	return !call_is_writing(report->call) || recorder_put(report->call, recorder, fault);
}

/* Reads what is known of the recorder, and then the report. */
static bool open_report(struct report *report, struct fault *fault)
{
	struct call *call = report->call;
	struct recorder *recorder = &report->recorder;
	const struct slice name = arena_copy(call->arena, call->parameters[0]);
	unsigned char digest[DIGEST_SIZE];
	bool is_right;

	if (!recorder_read_key(call, name, digest, fault) ||
	    !recorder_load(call, name, call_reading(call), &report->stored, fault) ||
	    !recorder_check_key(call, name, digest, &report->key, fault))
		return false;
	report->id = recorder_id(name);
	report->latest = report->stored;
	report->latest.name = name;
	recorders_refresh(call->environment->recorders, call->arena, &report->latest);
	recorder->stored = report->stored.stored;
	recorder->name = name;
	recorder->first_seen = report->stored.first_seen != 0 ? report->stored.first_seen
							      : call->now;
	is_right = read_report(report, fault) && check_boot(report, fault);
	/* One of another version is known, too, so that it can be seen that it is lost. */
	report->is_late = slice_equal(report->latest.boot, recorder->boot) &&
			  report->latest.heard > recorder->heard;
	if ((is_right || recorder->is_old) && !report->is_late)
		recorders_note(call->environment->recorders, recorder);
	return is_right;
}

bool job_report(struct call *call, struct fault *fault)
{
	struct report *report = arena_zero(call->arena, sizeof *report);
	size_t next = call->step.is_next ? call->step.notes : 0;
	bool is_stored = false;
	struct work *found;

	*report = (struct report){ .call = call, .lease = recording_times_of(call)->lease };
	call->account = kind_only_id;
	store_set_account(call->transaction, &kind_only_id);
	/* What the later one said counts, also where that did not have to be stored. */
	if (!open_report(report, fault) ||
	    (!report->is_late && !merge_works(report, &next, &is_stored, fault)))
		return false;
	/* Each account has a transaction of its own; the answer has one after them. */
	if (call_is_writing(call) && is_stored) {
		call->run.goes_on = true;
		call->run.step = (struct call_step){ .is_next = true, .notes = (unsigned)next };
		return true;
	}
	if (!store_recorder(report, &is_stored, fault) || !find_work(report, &found, fault))
		return false;
	if (!call_is_writing(call) && (is_stored || found != NULL))
		return call_write_instead(call);
	if (found != NULL && !take_work(report, found, fault))
		return false;
	return write_answer(report, fault);
}
