/* See resources/recordings/job_merge.h.
 *
 * What news do to a job that has not ended. A row says when; a dash: nothing. A report counts only
 * from the holder, in its epoch and boot, and if its number is above the last one.
 *
 *                      starting        running          stopping        post_processing
 *   taken              next epoch      next epoch       next epoch      next epoch
 *   report: media      running,        recorded grows   recorded grows  -
 *                      STARTED
 *   report: paused     -               people see it    -               -
 *   report: no space   -               stop, no space   -               joining waits
 *   report: stopping   stop            stop             people see it   -
 *   report: joining,   stop            stop, then:      post_processing -
 *     sending                                           LET_GO
 *   report: done       completed, in each state: COMPLETED, ENDED; failed, if there is no file
 *                      of a job that makes one
 *   report: outputs    an output that is given up: GAVE_UP; all of them: failed
 *   report: broken     nobody holds it, in each state: RELEASED
 *   stop               failed          stopping,        -               -
 *                      BEAM_STOPPED    STOPPED
 *   pause, resume      -               PAUSED, RESUMED  -               -
 *   removed            -               people see the   post_processing -
 *                                      pause            LET_GO
 *   time: lease over   nobody holds it, in each state: RELEASED
 *   time: start        failed          -                -               -
 *   time: room ended,  failed          stop             -               -
 *     empty, too long  BEAM_STOPPED
 *   time: 20 s without -               interrupted      -               -
 *   time: lost         -               failed           -               -
 *   time: 3 s asked    -               REMOVE           REMOVE          -
 *   time: join         -               -                -               failed
 *
 * An external stream without a file leaves nothing to be joined: where it would be post_processing,
 * it is completed. A live stream without a file is completed by `done` or by the time, because
 * somebody has to end its playlist.
 *
 * A job that has failed takes one more report: done, of its last holder, completes it once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_merge.h"

#include <string.h>

#include "base/arena.h"

/* Milliseconds without media, after which a job counts as interrupted; and for which a pause or a
 * stop may wait for the report that it is true. */
#define INTERRUPTED_AFTER 20000
#define TRUE_WITHIN 3000
/* Milliseconds after which the room is looked at again at the latest. */
#define LOOKED_AT_EVERY 15000
#define SEEN_AT_ONCE 1000

enum job_want job_wants(const struct job *job)
{
	if (job->status >= JOB_STOPPING)
		return WANT_STOP;
	return job->wants_pause ? WANT_PAUSE : WANT_RUN;
}

static bool job_is_held(const struct job *job)
{
	return job->epoch > 0 && job->lost == 0;
}

/* ---- ends ---- */

/* The last media, or the stop if more was recorded after it, which is cut. */
static void take_end(struct job *job, int64_t now)
{
	if (job->media != 0 && (job->stopped == 0 || job->media < job->stopped))
		job->stopped = job->media;
	if (job->stopped == 0)
		job->stopped = now;
}

static unsigned job_end(struct job *job, enum job_status status, int64_t now)
{
	const unsigned acts = ACT_ENDED | (job_is_carried_out(job) ? ACT_LET_GO | ACT_SEEN : 0);

	job->status = status;
	job->is_open = false;
	job->ended = now;
	take_end(job, now);
	job->asked = job->interrupted = job->lost = 0;
	job->wants_pause = job->shows_pause = job->removes = false;
	for (size_t i = 0; i < job->output_count; i++)
		job->outputs[i].sealed = SLICE("");
	return acts;
}

/* What is recorded ends here. The room may be recorded again. */
static unsigned job_let_go(struct job *job, int64_t now)
{
	if (job->type == JOB_EXTERNAL && !job_makes_file(job))
		return job_end(job, JOB_COMPLETED, now) | ACT_COMPLETED;
	job->status = JOB_POST_PROCESSING;
	job->joining = now;
	job->asked = 0;
	job->removes = job->shows_pause = false;
	take_end(job, now);
	return ACT_LET_GO | ACT_SEEN;
}

static unsigned job_fail(struct job *job, enum job_reason reason, struct slice error, int64_t now)
{
	job->reason = reason;
	job->error = error;
	return job_end(job, JOB_FAILED, now) | ACT_FAILED;
}

static void pause_end(struct job *job, int64_t now)
{
	if (job->pause_count > 0 && job->pauses[job->pause_count - 1].to == 0)
		job->pauses[job->pause_count - 1].to = now;
	job->wants_pause = false;
}

static unsigned job_ask_to_stop(struct job *job, const struct job_news *news,
				enum job_reason reason)
{
	unsigned acts = ACT_STOPPED;

	if (job->status >= JOB_STOPPING)
		return 0;
	job->stopped_by = news->peer;
	job->stop_actor = news->actor;
	if (job->status == JOB_STARTING)
		return job_fail(job, JOB_BEAM_STOPPED, SLICE("It was stopped while it started."),
				news->now);
	job->asked_reason = job->reason = reason;
	job->status = JOB_STOPPING;
	job->stopped = job->asked = news->now;
	job->interrupted = 0;
	pause_end(job, news->now);
	job->rev++;
	/* Nobody records now, so it is over. */
	if (!job_is_held(job))
		acts |= job_let_go(job, news->now);
	return acts;
}

/* ---- reports ---- */

/* States of one rank follow each other in any order. */
static unsigned work_rank(enum work_state state)
{
	switch (state) {
	case WORK_OPENING:
		return 0;
	case WORK_RUNNING:
	case WORK_PAUSED:
	case WORK_WAITING:
		return 1;
	case WORK_STOPPING:
		return 2;
	case WORK_JOINING:
	case WORK_SENDING:
		return 3;
	case WORK_DONE:
		return 4;
	case WORK_BROKEN:
		break;
	}
	return 5;
}

static unsigned job_release(struct job *job, int64_t now)
{
	job->lost = now;
	/* A stop is true once nobody records; what was recorded waits to be joined. */
	return ACT_RELEASED | (job->status == JOB_STOPPING ? job_let_go(job, now) : 0);
}

/* Takes over what was recorded. */
static unsigned merge_media(struct job *job, const struct job_news *news)
{
	const struct work_report *report = news->report;
	int64_t media = report->media;
	unsigned acts = 0;

	if (media > news->now)
		media = news->now;
	if (media != 0 && media < job->created)
		media = job->created;
	if (report->part > job->part) {
		job->part = report->part;
		acts |= ACT_GREW;
	}
	if (report->gap_count > job->gap_count) {
		job->gap_count = (uint32_t)report->gap_count;
		acts |= ACT_GREW;
	}
	if (report->recorded > job->recorded) {
		job->recorded = report->recorded;
		job->grown = news->now;
		acts |= ACT_GREW;
		if (job->interrupted != 0) {
			job->interrupted = 0;
			acts |= ACT_CHANGED | ACT_SEEN;
		}
	}
	if (media > job->media) {
		job->media = media;
		acts |= ACT_GREW;
	}
	if (job->status == JOB_STARTING && media != 0 && work_rank(report->state) > 0 &&
	    report->state != WORK_BROKEN) {
		job->status = JOB_RUNNING;
		job->started = media - (int64_t)report->recorded;
		if (job->started < job->created)
			job->started = job->created;
		job->grown = news->now;
		job->error = SLICE("");
		acts |= ACT_STARTED | ACT_SEEN;
	}
	return acts;
}

/* The errors by which a recorder says why it stopped by itself, and that it has nothing. */
#define NO_SPACE_LEFT "no space left"
#define NOTHING_RECORDED "Nothing was recorded."

/* An external stream that is not recorded writes nothing. */
static bool job_needs_space(const struct job *job)
{
	return job->type != JOB_EXTERNAL || job_makes_file(job);
}

/* A recorder that stops by itself says why only by its error. */
static enum job_reason reason_of_report(const struct job *job, const struct work_report *report,
					int64_t now)
{
	if ((!report->has_space && job_needs_space(job)) || slice_is(report->error, NO_SPACE_LEFT))
		return JOB_NO_SPACE;
	return job->started != 0 && now >= job->started + job->most ? JOB_MAX_DURATION
								    : JOB_INTERNAL_ERROR;
}

/* Takes over what became of each output. One that is given up stays so. */
static unsigned merge_outputs(struct job *job, const struct job_news *news)
{
	const struct work_report *report = news->report;
	size_t failed = 0;
	unsigned acts = 0;

	for (size_t i = 0; i < job->output_count; i++) {
		struct job_output *output = &job->outputs[i];

		if (i < report->output_count && output->state != OUTPUT_FAILED) {
			const struct output_report *told = &report->outputs[i];

			if (told->state != output->state) {
				output->state = told->state;
				output->since = news->now;
				acts |= ACT_CHANGED;
				acts |= told->state == OUTPUT_FAILED ? ACT_GAVE_UP : 0;
			}
			if (!slice_equal(told->error, output->error)) {
				output->error = told->error;
				acts |= ACT_CHANGED;
			}
		}
		failed += output->state == OUTPUT_FAILED;
	}
	if (failed > 0 && failed == job->output_count && job->status < JOB_STOPPING)
		acts |= job_fail(job, JOB_MAX_RETRIES, SLICE("All outputs were given up."),
				 news->now);
	return acts;
}

static unsigned merge_report(struct job *job, const struct job_news *news)
{
	const struct work_report *report = news->report;
	const bool is_known = report->state == job->heard;
	unsigned acts;

	if (report->n <= job->heard_n)
		return 0;
	if (work_rank(report->state) < work_rank(job->heard))
		return 0;
	job->heard_n = report->n;
	job->heard = report->state;
	acts = is_known ? 0 : ACT_CHANGED;
	if (job->lost != 0) { /* whoever had it comes back before anybody took it */
		job->lost = 0;
		acts |= ACT_CHANGED;
	}
	acts |= merge_media(job, news);
	if (report->error.size > 0 && !slice_equal(report->error, job->error)) {
		job->error = report->error;
		acts |= ACT_CHANGED;
	}
	acts |= merge_outputs(job, news);
	if (!job->is_open)
		return acts;
	if (report->state == WORK_BROKEN)
		return acts | job_release(job, news->now);
	if (report->state == WORK_PAUSED && job->status == JOB_RUNNING && job->wants_pause &&
	    !job->shows_pause) {
		job->shows_pause = true;
		job->asked = 0;
		job->removes = false;
		acts |= ACT_CHANGED | ACT_SEEN;
	}
	if (job->status < JOB_STOPPING &&
	    (work_rank(report->state) >= 2 || (!report->has_space && job_needs_space(job))) &&
	    (job->status == JOB_RUNNING || work_rank(report->state) >= 2)) {
		acts |= job_ask_to_stop(job, news, reason_of_report(job, report, news->now));
		if (!job->is_open)
			return acts;
	}
	if (job->status == JOB_STOPPING && report->state == WORK_STOPPING && job->asked != 0) {
		job->asked = 0;
		job->removes = false;
		acts |= ACT_CHANGED | ACT_SEEN;
	}
	if (job->status == JOB_STOPPING && work_rank(report->state) >= 3) {
		acts |= job_let_go(job, news->now) | ACT_CHANGED;
		if (!job->is_open)
			return acts;
	}
	/* It waits for room on its disk. */
	if (job->status == JOB_POST_PROCESSING && report->state == WORK_JOINING &&
	    !report->has_space) {
		job->joining = news->now;
		acts |= ACT_GREW;
	}
	if (report->state == WORK_DONE && report->file_count == 0 && job_makes_file(job))
		return acts | job_fail(job, JOB_INTERNAL_ERROR, SLICE(NOTHING_RECORDED), news->now);
	if (report->state == WORK_DONE) {
		job->error = SLICE("");
		acts |= job_end(job, JOB_COMPLETED, news->now) | ACT_COMPLETED;
	}
	return acts;
}

/* What could not be saved when the job failed comes back. */
static unsigned merge_saved(struct job *job, const struct job_news *news)
{
	const struct work_report *report = news->report;

	if (job->status != JOB_FAILED || job->is_saved || report->state != WORK_DONE ||
	    report->file_count == 0)
		return 0;
	job->is_saved = true;
	job->status = JOB_COMPLETED;
	job->error = SLICE("");
	if (job->asked_reason != JOB_GOES_ON)
		job->reason = job->asked_reason;
	if (report->recorded > job->recorded)
		job->recorded = report->recorded;
	return ACT_COMPLETED | ACT_CHANGED;
}

static bool report_is_of_holder(const struct job *job, const struct work_report *report)
{
	return job->epoch > 0 && report->epoch == job->epoch &&
	       slice_equal(report->recorder, job->recorder) && slice_equal(report->boot, job->boot);
}

static unsigned merge_taken(struct job *job, const struct job_news *news)
{
	const struct work_report *report = news->report;

	job->epoch++;
	job->recorded_before += job->recorded;
	job->parts_before += job->part;
	job->recorded = 0;
	job->part = job->gap_count = 0;
	job->heard = WORK_OPENING;
	job->heard_n = report->n;
	job->recorder = report->recorder;
	job->boot = report->boot;
	/* Its parts are there, so whoever goes on must have that folder. */
	if (job_makes_file(job) && job->folder.size == 0 && report->folder.size > 0)
		job->folder = report->folder;
	job->lost = 0;
	job->rev++;
	return ACT_CHANGED;
}

/* ---- the time ---- */

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static unsigned merge_start(struct job *job, const struct job_news *news)
{
	if (news->now < job->created + news->times->start)
		return 0;
	if (job->epoch == 0)
		return job_fail(job, JOB_NO_RECORDER, SLICE("No recorder is free"), news->now);
	return job_fail(job, JOB_MAX_RETRIES,
			job->error.size > 0 ? job->error : SLICE("The recorder got no media."),
			news->now);
}

static unsigned merge_room(struct job *job, const struct job_news *news)
{
	const struct job_room *room = news->room;
	const int64_t now = news->now;
	int64_t emptied = 0;
	unsigned acts = 0;

	if (job->is_test)
		return job_recorded(job) >= JOB_TEST_LASTS
			       ? job_ask_to_stop(job, news, JOB_CLIENT_REQUEST)
			       : 0;
	if (!room->is_there || room->was_ended)
		return job_ask_to_stop(job, news, JOB_ROOM_ENDED);
	if (job->status != JOB_RUNNING)
		return 0;
	if (now >= job->started + job->most)
		return job_ask_to_stop(job, news, JOB_MAX_DURATION);
	if (room->inside == 0)
		emptied = room->left > job->started ? room->left : job->started;
	if (emptied != 0 && now >= emptied + job->empty_most)
		return job_ask_to_stop(job, news, JOB_LAST_PEER_LEFT);
	if (emptied == 0 && job->emptied != 0)
		job->grown = now;
	if (emptied != job->emptied) {
		job->emptied = emptied;
		acts |= ACT_CHANGED;
	}
	if (room->inside == 0 && job->interrupted != 0) {
		job->interrupted = 0;
		acts |= ACT_CHANGED | ACT_SEEN;
	}
	if (job->interrupted == 0 && !job->wants_pause && room->inside > 0 &&
	    now >= job->grown + INTERRUPTED_AFTER) {
		job->interrupted = job->grown;
		acts |= ACT_CHANGED | ACT_INTERRUPTED | ACT_SEEN;
	}
	if (job->lost != 0 && now >= later_of(job->lost, news->since) + news->times->lost &&
	    !job->wants_pause && room->inside > 0 && !room->lists_recorder)
		acts |= job_fail(job, JOB_INTERNAL_ERROR,
				 SLICE("The recorder was lost, and no other one took over."), now);
	return acts;
}

static unsigned merge_time(struct job *job, const struct job_news *news)
{
	unsigned acts = 0;

	if (job_is_held(job) && (news->lease == 0 || news->lease <= news->now))
		acts |= job_release(job, news->now) | ACT_CHANGED;
	if (job->status == JOB_STARTING)
		acts |= merge_start(job, news);
	if (job->is_open && job->status <= JOB_RUNNING)
		acts |= merge_room(job, news);
	if (job->is_open && job->asked != 0 && !job->removes &&
	    news->now >= job->asked + TRUE_WITHIN) {
		job->removes = true;
		acts |= ACT_CHANGED | ACT_REMOVE;
	}
	if (job->status == JOB_POST_PROCESSING && job->is_open &&
	    news->now >= job->joining + news->times->join && !job_makes_file(job))
		acts |= job_end(job, JOB_COMPLETED, news->now) | ACT_COMPLETED;
	else if (job->status == JOB_POST_PROCESSING && job->is_open &&
		 news->now >= job->joining + news->times->join)
		acts |= job_fail(
			job, job->heard == WORK_SENDING ? JOB_UPLOAD_ERROR : JOB_INTERNAL_ERROR,
			job->error.size > 0 ? job->error
					    : SLICE("The recording could not be joined in time."),
			news->now);
	return acts;
}

static void earlier(int64_t *due, int64_t time)
{
	if (time < *due)
		*due = time;
}

int64_t job_due(const struct job *job, const struct job_room *room, int64_t lease,
		const struct recording_times *times, int64_t now)
{
	int64_t due = now + LOOKED_AT_EVERY;

	if (lease != 0)
		earlier(&due, lease);
	if (job->asked != 0 && !job->removes)
		earlier(&due, job->asked + TRUE_WITHIN);
	/* Until it is removed, it is tried again. */
	if (job->removes)
		due = now + SEEN_AT_ONCE;
	switch (job->status) {
	case JOB_STARTING:
		earlier(&due, job->created + times->start);
		break;
	case JOB_RUNNING:
		earlier(&due, job->started + job->most);
		if (room->inside == 0)
			earlier(&due, (job->emptied != 0 ? job->emptied : now) + job->empty_most);
		else if (job->interrupted == 0 && !job->wants_pause)
			earlier(&due, job->grown + INTERRUPTED_AFTER);
		if (job->lost != 0)
			earlier(&due, job->lost + times->lost);
		break;
	case JOB_STOPPING:
		break;
	case JOB_POST_PROCESSING:
		due = job->joining + times->join;
		if (lease != 0)
			earlier(&due, lease);
		break;
	case JOB_COMPLETED:
	case JOB_FAILED:
		break;
	}
	return due > now + SEEN_AT_ONCE ? due : now + SEEN_AT_ONCE;
}

/* ---- all news ---- */

unsigned job_merge(struct job *job, const struct job_news *news)
{
	unsigned acts = 0;

	if (!job->is_open)
		return news->type == NEWS_REPORT && report_is_of_holder(job, news->report)
			       ? merge_saved(job, news)
			       : 0;
	switch (news->type) {
	case NEWS_REPORT:
		if (report_is_of_holder(job, news->report))
			acts = merge_report(job, news);
		break;
	case NEWS_TAKEN:
		acts = merge_taken(job, news);
		break;
	case NEWS_STOP:
		acts = job_ask_to_stop(job, news, news->reason);
		break;
	case NEWS_PAUSE:
		if (job->status != JOB_RUNNING || job->wants_pause)
			break;
		job->wants_pause = true;
		job->asked = news->now;
		job->interrupted = 0;
		/* The list has room for one more; of too many, the first is forgotten. */
		if (job->pause_count == JOB_PAUSES_MOST)
			memmove(job->pauses, job->pauses + 1,
				--job->pause_count * sizeof *job->pauses);
		job->pauses[job->pause_count++] = (struct job_pause){ .from = news->now };
		job->rev++;
		acts = ACT_PAUSED;
		/* Nobody records, so the pause is true. */
		if (!job_is_held(job)) {
			job->shows_pause = true;
			job->asked = 0;
			acts |= ACT_SEEN;
		}
		break;
	case NEWS_RESUME:
		if (job->status != JOB_RUNNING || !job->wants_pause)
			break;
		pause_end(job, news->now);
		job->shows_pause = job->removes = false;
		job->asked = 0;
		job->resumes++;
		job->grown = news->now;
		job->rev++;
		acts = ACT_RESUMED | ACT_SEEN;
		break;
	case NEWS_FAILED:
		acts = job_fail(job, news->reason, news->error, news->now);
		break;
	case NEWS_REMOVED:
		if (job->asked == 0)
			break;
		job->asked = 0;
		job->removes = false;
		job->rev++; /* it needs a fresh order to come back */
		acts = ACT_SEEN;
		if (job->status == JOB_STOPPING)
			acts |= job_let_go(job, news->now);
		else
			job->shows_pause = job->wants_pause;
		break;
	case NEWS_ORDER:
		job->rev++;
		/* People may be asked for their consent now, or no more. */
		acts = ACT_CHANGED | ACT_SEEN;
		break;
	case NEWS_TIME:
		acts = merge_time(job, news);
		break;
	}
	if ((acts & ~(unsigned)ACT_GREW) != 0) {
		acts |= ACT_CHANGED;
		job->updated = news->now > job->updated ? news->now : job->updated;
	}
	return acts;
}
