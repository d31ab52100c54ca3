/* Carries out what follows from news about a job (resources/recordings/job_merge.h); makes jobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_merge.h"

#include <string.h>

#include "accounts/accounts.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_queue.h"
#include "resources/recordings/job_events.h"
#include "resources/recordings/job_order.h"
#include "resources/recordings/recorders.h"
#include "resources/recordings/recording_folder.h"
#include "resources/recordings/recording_storage.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/room_record.h"

const struct recording_times *recording_times_of(const struct call *call)
{
	static const struct recording_times usual = RECORDING_TIMES;

	return call->environment->recordings != NULL ? &call->environment->recordings->times
						     : &usual;
}

struct slice recordings_folder_id(const struct call *call)
{
	const struct recordings *recordings = call->environment->recordings;
	char id[FOLDER_ID_MOST + 1];

	return recordings != NULL && folder_read_id(recordings->folder, id)
		       ? arena_copy(call->arena, slice_of(id))
		       : SLICE("");
}

/* ---- what follows ---- */

/* Counts a job that has another status than before. */
static bool count_acts(struct call *call, const struct job *job, enum job_status before,
		       unsigned acts, struct fault *fault)
{
	struct jobs jobs;

	if (job->status == before && (acts & (ACT_LET_GO | ACT_ENDED)) == 0)
		return true;
	if (!jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	if (before < JOB_COMPLETED)
		jobs.counts[job->type][before] -= jobs.counts[job->type][before] > 0 ? 1 : 0;
	if (job->status < JOB_COMPLETED)
		jobs.counts[job->type][job->status]++;
	if ((acts & ACT_LET_GO) != 0)
		jobs.running -= jobs.running > 0 ? 1 : 0;
	if ((acts & ACT_ENDED) != 0)
		jobs.open -= jobs.open > 0 ? 1 : 0;
	return record_put(&jobs_table, call->transaction, &jobs, fault);
}

struct slice job_file_path(struct call *call, const struct job *job, struct slice name)
{
	struct buffer path = BUFFER_INITIAL(call->arena);

	buffer_append(&path, id_as_text(call->arena, &call->account));
	buffer_append_byte(&path, '/');
	buffer_append(&path, id_as_text(call->arena, &job->stored.parent));
	buffer_append_byte(&path, '/');
	buffer_append(&path, id_as_text(call->arena, &job->stored.id));
	buffer_append_byte(&path, '/');
	buffer_append(&path, name);
	return buffer_slice(&path);
}

/* Gives an asset the gaps that lie in its file. A report tells them from the start of the first
 * file, an asset from its own. What lies behind all files is in the last one. */
static void add_gaps(struct call *call, const struct work_report *report, size_t file,
		     struct asset *asset)
{
	bool is_last = true;
	uint64_t begins = 0;

	for (size_t i = 0; i < report->file_count; i++) {
		if (report->files[i].is_chat)
			continue;
		begins += i < file ? report->files[i].duration : 0;
		is_last = is_last && i <= file;
	}
	asset->gaps = arena_alloc(call->arena, (report->gap_count + 1) * sizeof *asset->gaps);
	for (size_t i = 0; i < report->gap_count; i++) {
		const struct asset_gap *gap = &report->gaps[i];

		if (gap->at < begins || (!is_last && gap->at - begins >= asset->duration))
			continue;
		asset->gaps[asset->gap_count++] = (struct asset_gap){ gap->at - begins,
								      gap->missing };
	}
}

/* Makes assets of the files of a report. Of a file that is made again, as after a lost report, the
 * job has ended already, so none is made twice. */
static bool add_assets(struct call *call, struct job *job, const struct work_report *report,
		       struct asset **assets, size_t *n, struct fault *fault)
{
	const bool is_stored = job->storage.size > 0;

	*n = 0;
	*assets = arena_zero(call->arena, (report->file_count + 1) * sizeof **assets);
	for (size_t i = 0; i < report->file_count; i++) {
		const struct work_file *file = &report->files[i];
		struct asset *asset = &(*assets)[*n];

		if (file->is_chat && !job->look.has_chat)
			continue;
		*asset = (struct asset){
			.room = job->stored.parent,
			.session = job->session,
			.template_id = job->template_id,
			.type = file->is_chat ? ASSET_CHAT : ASSET_ROOM_COMPOSITE,
			.path = is_stored ? storage_object(call, job, file->name)
					  : job_file_path(call, job, file->name),
			.folder = is_stored ? SLICE("") : report->folder,
			.storage = is_stored ? job->storage : SLICE(""),
			.title = job->room_title.size > 0 ? job->room_title : job->room_name,
			.created = call->now,
			.recorded_at = job->started != 0 ? job->started : job->created,
			.size = file->bytes,
			.duration = file->duration,
			.width = file->width,
			.height = file->height,
			.presign_seconds = job->presign_seconds,
		};
		if (!file->is_chat)
			add_gaps(call, report, i, asset);
		if (!asset_add(call, job, asset, fault))
			return false;
		++*n;
	}
	return true;
}

/* Returns the outputs that are given up, a bit for each. */
static unsigned outputs_given_up(const struct job *job)
{
	unsigned bits = 0;

	for (size_t i = 0; i < job->output_count; i++)
		bits |= job->outputs[i].state == OUTPUT_FAILED ? 1U << i : 0;
	return bits;
}

bool job_apply(struct call *call, struct job *job, struct work *work, const struct job_news *news,
	       unsigned *acts, struct fault *fault)
{
	const unsigned given_up = outputs_given_up(job);
	const enum job_status before = job->status;
	const uint64_t recorded = job_recorded(job);
	struct asset *assets = NULL;
	size_t asset_count = 0;

	*acts = job_merge(job, news);
	if ((*acts & ACT_CHANGED) == 0)
		return true;
	if ((*acts & ACT_STARTED) != 0)
		job->was_started = true;
	if ((*acts & ACT_LET_GO) != 0)
		job->name = id_as_text(call->arena, &job->stored.id);
	if ((*acts & ACT_COMPLETED) != 0 && news->report != NULL &&
	    !add_assets(call, job, news->report, &assets, &asset_count, fault))
		return false;
	if (!job_put(call, job, fault) || !count_acts(call, job, before, *acts, fault) ||
	    !job_note(call, job, *acts, outputs_given_up(job) & ~given_up, assets, asset_count,
		      fault))
		return false;
	/* It can be seen for a while yet. */
	if ((*acts & ACT_LET_GO) != 0 && job->live_key.size > 0 &&
	    !gone_file_add_live(call, job, GONE_BY_RETENTION,
				job->stopped + recording_times_of(call)->live, fault))
		return false;
	if ((*acts & ACT_STARTED) != 0)
		recorders_count_started(call->environment->recorders, call->now - job->created);
	if ((*acts & ACT_FAILED) != 0 && before == JOB_STARTING)
		recorders_count_failed(call->environment->recorders, job->reason);
	if (recorded < job_recorded(job))
		recorders_count_recorded(call->environment->recorders,
					 job_recorded(job) - recorded);
	if ((*acts & ACT_SEEN) != 0)
		live_want(call, &job->stored.parent, ROOM_NOTIFY_JOBS);
	if (work == NULL || work->stored.value.data == NULL)
		return true;
	if ((*acts & ACT_ENDED) != 0) {
		if (!work_remove(call, work, fault))
			return false;
		work->stored.value.data = NULL;
		return true;
	}
	if ((*acts & ACT_RELEASED) != 0) {
		if (news->type == NEWS_REPORT)
			work->broke_at = news->report->recorder;
		work->due = call->now + 1;
		return work_queue_put(call, work, job, fault);
	}
	return true;
}

/* ---- who is inside ---- */

/* Finds out whether a session of the room that was open since the job began was ended by somebody,
 * and when the last one closed. */
static bool read_last_session(struct call *call, const struct job *job, struct job_room *room,
			      struct fault *fault)
{
	struct store_record stored;
	struct store_page page = { .order = STORE_NEWEST_FIRST,
				   .parent = &job->stored.parent,
				   .records = &stored,
				   .most = 1 };
	struct session session;

	if (!store_page(call->transaction, &kind_session, &page, fault))
		return false;
	if (page.count == 0)
		return true;
	if (!record_read(&session_table, call->arena, &stored, &session, fault))
		return false;
	room->left = session.updated;
	room->was_ended = session.was_ended && session.closed >= job->created;
	return true;
}

bool job_room_read(struct call *call, const struct job *job, struct job_room *room,
		   struct fault *fault)
{
	struct store_record stored;
	struct live live;

	*room = (struct job_room){ .is_there = false };
	if (!store_get(call->transaction, &kind_room, &job->stored.parent, STORE_TO_SHOW, &stored,
		       fault) ||
	    !live_load_followed(call, &job->stored.parent, &live, fault))
		return false;
	room->is_there = stored.value.data != NULL;
	if (live.stored.value.data == NULL)
		return read_last_session(call, job, room, fault);
	room->inside = live_peers(&live);
	room->left = live.left;
	/* A room that closes because it is empty was not ended. */
	room->was_ended = live.ending != 0 && live.closing != 0;
	return true;
}

/* ---- making ---- */

static const char *const running_sentences[JOB_TYPES] = {
	[JOB_RECORDING] = "A recording is running",
	[JOB_LIVE] = "A live stream is running",
	[JOB_EXTERNAL] = NULL,
};
static const char *const id_names[JOB_TYPES] = {
	[JOB_RECORDING] = "recording_id",
	[JOB_LIVE] = "live_stream_id",
	[JOB_EXTERNAL] = NULL,
};

bool job_check_running(struct call *call, const struct job *job, struct fault *fault)
{
	struct job running;

	if (running_sentences[job->type] == NULL)
		return true;
	if (!job_find_holding(call, job->type, &job->stored.parent, call_reading(call), &running,
			      fault))
		return false;
	if (running.stored.value.data == NULL)
		return true;
	return fault_explain(fault, FAULT_CONFLICT, running_sentences[job->type], "%s: %s",
			     id_names[job->type], id_as_text(call->arena, &running.stored.id).data);
}

static uint64_t account_recordings_most(const struct call *call)
{
	struct accounts *accounts = call->environment->accounts;
	const struct roster *roster = accounts_current(accounts);
	const struct account *account = roster_by_id(roster, &call->account);
	const uint64_t most = account == NULL ? ACCOUNT_RECORDINGS_USUAL
					      : (uint64_t)account->recordings;

	accounts_release(accounts, roster);
	return most;
}

bool job_check_numbers(struct call *call, const struct job *job, struct fault *fault)
{
	const uint64_t most = account_recordings_most(call);
	struct job *of_room;
	struct jobs jobs;
	size_t n;

	if (!jobs_of_room(call, &job->stored.parent, &of_room, &n, fault) ||
	    !jobs_load(call, call_reading(call), &jobs, fault))
		return false;
	if (n >= JOBS_OF_ROOM_MOST)
		return fault_explain(fault, FAULT_CONFLICT, "Too many jobs",
				     "%d of this room have not ended", JOBS_OF_ROOM_MOST);
	if (jobs.open >= JOBS_OF_ACCOUNT_MOST)
		return fault_explain(fault, FAULT_CONFLICT, "Too many jobs",
				     "%d of this account have not ended", JOBS_OF_ACCOUNT_MOST);
	if (jobs.running >= most)
		return fault_explain(fault, FAULT_CONFLICT, "Too many recordings at once",
				     "this account may have %llu", (unsigned long long)most);
	return true;
}

bool job_begin(struct call *call, struct job *job, struct fault *fault)
{
	struct work work = { .broke_at = SLICE("") };
	struct jobs jobs;

	if (!job_check_running(call, job, fault) || !job_check_numbers(call, job, fault))
		return false;
	job->created = job->updated = job->grown = call->now;
	job->is_open = true;
	job->status = JOB_STARTING;
	job->rev = 1;
	job->stopped_by = job->error = job->recorder = job->boot = SLICE("");
	if (!store_new_id(call->transaction, &kind_job, call->environment->clock, &job->created,
			  &job->stored.id, fault))
		return false;
	job->name = running_sentences[job->type] == NULL
			    ? id_as_text(call->arena, &job->stored.id)
			    : job_holding_name(call->arena, job->type, &job->stored.parent);
	if (!jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	jobs.open++;
	jobs.running++;
	jobs.counts[job->type][JOB_STARTING]++;
	if (!job_put(call, job, fault) || !record_put(&jobs_table, call->transaction, &jobs, fault))
		return false;
	work.stored.id = work_id(job->created, &call->account, &job->stored.id);
	work.account = call->account;
	work.job = job->stored.id;
	work.created = job->created;
	/* The room of a test is made at once. */
	work.due = job->is_test ? job->created : job->created + recording_times_of(call)->start;
	return work_queue_put(call, &work, job, fault);
}

/* What is said about its end stays; how it failed does not. */
bool job_join_again(struct call *call, struct job *job, struct fault *fault)
{
	struct work work = { .broke_at = SLICE("") };
	struct jobs jobs;

	if (!job_check_numbers(call, job, fault) || !jobs_load(call, STORE_TO_CHANGE, &jobs, fault))
		return false;
	job->is_open = true;
	job->status = JOB_POST_PROCESSING;
	job->ended = 0;
	job->updated = job->joining = job->lost = call->now;
	job->error = SLICE("");
	if (job->asked_reason != JOB_GOES_ON)
		job->reason = job->asked_reason;
	jobs.open++;
	jobs.counts[job->type][JOB_POST_PROCESSING]++;
	work.stored.id = work_id(job->created, &call->account, &job->stored.id);
	work.account = call->account;
	work.job = job->stored.id;
	work.created = job->created;
	work.due = call->now + 1;
	return job_put(call, job, fault) &&
	       record_put(&jobs_table, call->transaction, &jobs, fault) &&
	       work_queue_put(call, &work, job, fault);
}

/* ---- calls ---- */

static bool job_call(struct call *call, struct job *job, struct job_news *news, bool *is_refused,
		     struct fault *fault)
{
	const bool is_idle = news->type == NEWS_PAUSE ? job->wants_pause : !job->wants_pause;
	struct work work;
	unsigned acts;

	news->now = call->now;
	news->actor = audit_caller_text(call);
	*is_refused = true;
	if (!job->is_open || job->status >= JOB_STOPPING)
		return true;
	if (news->type != NEWS_STOP && job->status != JOB_RUNNING)
		return true;
	*is_refused = false;
	if (news->type != NEWS_STOP && is_idle)
		return true;
	return work_load(call, job, STORE_TO_CHANGE, &work, fault) &&
	       job_apply(call, job, &work, news, &acts, fault) &&
	       /* The watch looks at it when people must know. */
	       (work.stored.value.data == NULL || job->asked == 0 ||
		(work.due = call->now + 3000, work_put(call, &work, fault)));
}

bool job_stop(struct call *call, struct job *job, struct slice peer, bool *is_refused,
	      struct fault *fault)
{
	struct job_news news = { .type = NEWS_STOP, .reason = JOB_CLIENT_REQUEST, .peer = peer };

	return job_call(call, job, &news, is_refused, fault);
}

bool job_pause(struct call *call, struct job *job, struct slice peer, bool *is_refused,
	       struct fault *fault)
{
	struct job_news news = { .type = NEWS_PAUSE, .peer = peer };

	return job_call(call, job, &news, is_refused, fault);
}

bool job_resume(struct call *call, struct job *job, struct slice peer, bool *is_refused,
		struct fault *fault)
{
	struct job_news news = { .type = NEWS_RESUME, .peer = peer };

	return job_call(call, job, &news, is_refused, fault);
}

/* ---- the time ---- */

static void note_lost(struct call *call, const struct job *job)
{
	audit_note(call, "recorder.lost",
		   &(const struct audit_data){
			   .kind = "recorder",
			   .id = job->recorder,
			   .name = job->recorder,
			   .actor = audit_service_text(call->arena),
			   .more = { { "job_id", id_as_text(call->arena, &job->stored.id), false },
				     { "room_id", id_as_text(call->arena, &job->stored.parent),
				       false } } });
}

/* Says which participants have to go, and about which the media server is to be asked. */
static void find_participants(const struct job *job, const struct job_news *news,
			      struct job_turn *turn)
{
	/* One that should be silent by now; or one that was lost when a stop came. */
	if (job->removes ||
	    (job->status >= JOB_POST_PROCESSING && job->lost != 0 && job->cleared < job->epoch))
		turn->removes_epoch = job->epoch;
	/* The one of the epoch before, once this one has media. */
	else if (job->epoch > 1 && job->cleared < job->epoch - 1 && job_has_media(job))
		turn->removes_epoch = job->epoch - 1;
	if (job->status == JOB_RUNNING && job->lost != 0 && turn->listed == LISTED_UNKNOWN &&
	    news->now >= (job->lost > news->since ? job->lost : news->since) + news->times->lost)
		turn->asks_epoch = job->epoch;
}

bool job_take_turn(struct call *call, struct job_turn *turn, struct fault *fault)
{
	struct job_room room;
	struct job_news news = { .type = NEWS_TIME,
				 .now = call->now,
				 .peer = SLICE(""),
				 .actor = SLICE(""),
				 .room = &room,
				 .since = turn->since,
				 .times = recording_times_of(call) };
	unsigned acts = 0, more = 0;
	struct work work;
	struct job job;
	bool was_held;

	turn->acts = 0;
	turn->removes_epoch = turn->asks_epoch = 0;
	turn->makes_room = false;
	if (!job_load(call, &turn->job, STORE_TO_CHANGE, &job, fault))
		return false;
	if (job.stored.value.data == NULL || !job.is_open) {
		/* A work that nobody needs any more. */
		job.stored.id = turn->job;
		job.created = turn->created;
		return turn->created == 0 ||
		       (work_load(call, &job, STORE_TO_CHANGE, &work, fault) &&
			(work.stored.value.data == NULL || work_remove(call, &work, fault)));
	}
	turn->room = job.stored.parent;
	if (!work_load(call, &job, STORE_TO_CHANGE, &work, fault) ||
	    !job_room_read(call, &job, &room, fault))
		return false;
	was_held = job.lost == 0 && job.epoch > 0;
	/* Without an answer it may still be there. */
	room.lists_recorder = turn->listed != LISTED_GONE;
	news.lease = work.lease;
	if (work.lease != 0 && work.lease < turn->since + news.times->lease)
		news.lease = turn->since + news.times->lease;

	if (turn->removed_epoch != 0 && job.cleared < turn->removed_epoch) {
		job.cleared = turn->removed_epoch;
		more |= ACT_CHANGED;
	}
	if (turn->has_room && !job.has_room) {
		job.has_room = true;
		more |= ACT_CHANGED;
	}
	if (turn->removed_epoch == job.epoch && job.removes) {
		news.type = NEWS_REMOVED;
		if (!job_apply(call, &job, &work, &news, &acts, fault))
			return false;
		more |= acts;
	}
	if (!call_account_is_enabled(call) && job.status < JOB_STOPPING) {
		news.type = NEWS_STOP;
		news.reason = JOB_ROOM_ENDED;
		if (!job_apply(call, &job, &work, &news, &acts, fault))
			return false;
		more |= acts;
	}
	news.type = NEWS_TIME;
	if (job.is_open && !job_apply(call, &job, &work, &news, &acts, fault))
		return false;
	more |= acts;
	if (was_held && (acts & ACT_RELEASED) != 0)
		note_lost(call, &job);
	turn->acts = more;
	find_participants(&job, &news, turn);
	turn->makes_room = job.is_test && !job.has_room && job.status == JOB_STARTING;
	if (!job.is_open)
		return true;
	work.due = job_due(&job, &room, work.lease, news.times, call->now);
	return ((more & ACT_CHANGED) == 0 || job_put(call, &job, fault)) &&
	       work_put(call, &work, fault);
}
