/* What news do to a job: histories with what they lead to, each kind of news in each state, and
 * reports that are lost, doubled and late.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "kit.h"
#include "resources/recordings/job_merge.h"
#include "resources/recordings/job_outputs.h"

#define BEGAN ((int64_t)1800000000000)

static struct arena *arena;
static const struct recording_times times = RECORDING_TIMES;

static void set_up(void)
{
	arena = arena_open();
}

static void tear_down(void)
{
	arena_close(arena);
}

static struct job new_job(void)
{
	return (struct job){
		.is_open = true,
		.created = BEGAN,
		.updated = BEGAN,
		.grown = BEGAN,
		.rev = 1,
		.most = 3600000,
		.empty_most = 300000,
		.recorder = SLICE(""),
		.boot = SLICE(""),
		.error = SLICE(""),
		.pauses = arena_zero(arena, (JOB_PAUSES_MOST + 1) * sizeof(struct job_pause)),
	};
}

/* One piece of news: milliseconds after the start, and what it says. */
struct told {
	int64_t at;
	enum job_news_type type;
	enum work_state state;
	int64_t recorded;
	uint32_t part;
	uint64_t n; /* 0: one more than before */
	int64_t lease; /* of NEWS_TIME, after the start; 0: none */
	uint64_t inside;
	int64_t left; /* after the start */
	const char *error; /* of a report, or NULL */
	const char *outputs; /* of a report: a letter for each, of connecting, live or failed */
	bool has_no_files, has_no_space, was_ended, has_other_boot, has_other_epoch, is_listed,
		is_deleted;
};

#define TAKEN(at_) \
	{ \
		.at = (at_), .type = NEWS_TAKEN \
	}
#define AS_REPORTED(at_, state_, recorded_) \
	.at = (at_), .type = NEWS_REPORT, .state = WORK_##state_, .recorded = (recorded_)
#define REPORT(at_, state_, recorded_) \
	{ \
		AS_REPORTED(at_, state_, recorded_), .part = 1 \
	}
#define REPORT_WITH(at_, state_, recorded_, ...) \
	{ \
		AS_REPORTED(at_, state_, recorded_), .part = 1, __VA_ARGS__ \
	}
#define REPORT_OF_NOTHING(at_, state_, n_) \
	{ \
		AS_REPORTED(at_, state_, 0), .n = (n_) \
	}
#define CALL(at_, what_) \
	{ \
		.at = (at_), .type = NEWS_##what_ \
	}
#define LATER(at_, ...) \
	{ \
		.at = (at_), .type = NEWS_TIME, __VA_ARGS__ \
	}

static unsigned tell(struct job *job, const struct told *told, uint64_t *n)
{
	struct work_file file = { .name = SLICE("recording.mp4"), .bytes = 5 };
	struct output_report outputs[JOB_OUTPUTS_MOST] = { { .error = SLICE("") } };
	const struct work_report report = {
		.n = told->n != 0 ? told->n : ++*n,
		.epoch = told->has_other_epoch ? job->epoch + 1 : job->epoch,
		.recorder = SLICE("r"),
		.boot = told->has_other_boot ? SLICE("other") : SLICE("b"),
		.folder = SLICE("f"),
		.state = told->state,
		.part = told->part,
		.media = told->recorded > 0 ? BEGAN + 1000 + told->recorded : 0,
		.recorded = (uint64_t)told->recorded,
		.has_space = !told->has_no_space,
		.error = slice_of(told->error != NULL ? told->error : ""),
		.files = &file,
		.file_count = told->state == WORK_DONE && !told->has_no_files ? 1 : 0,
		.outputs = outputs,
		.output_count = told->outputs != NULL ? strlen(told->outputs) : 0,
	};
	for (size_t i = 0; i < report.output_count; i++) {
		const char letter = told->outputs[i];

		outputs[i].state = letter == 'c'   ? OUTPUT_CONNECTING
				   : letter == 'l' ? OUTPUT_LIVE
						   : OUTPUT_FAILED;
		outputs[i].error = SLICE("no answer");
	}

	const struct job_room room = {
		.is_there = !told->is_deleted,
		.inside = told->inside,
		.left = told->left != 0 ? BEGAN + told->left : 0,
		.was_ended = told->was_ended,
		.lists_recorder = told->is_listed,
	};
	const struct job_news news = {
		.type = told->type,
		.now = BEGAN + told->at,
		.reason = told->type == NEWS_STOP ? JOB_CLIENT_REQUEST : JOB_INTERNAL_ERROR,
		.error = SLICE("It failed."),
		.peer = SLICE(""),
		.actor = SLICE("{}"),
		.report = &report,
		.room = &room,
		.lease = told->lease != 0 ? BEGAN + told->lease : 0,
		.times = &times,
	};

	return job_merge(job, &news);
}

static const struct {
	unsigned act;
	const char *name;
} acts_shown[] = {
	{ ACT_STARTED, "started" }, { ACT_STOPPED, "stopped" },	  { ACT_FAILED, "failed" },
	{ ACT_PAUSED, "paused" },   { ACT_RESUMED, "resumed" },	  { ACT_LET_GO, "let-go" },
	{ ACT_ENDED, "ended" },	    { ACT_COMPLETED, "saved" },	  { ACT_RELEASED, "released" },
	{ ACT_REMOVE, "remove" },   { ACT_INTERRUPTED, "stuck" }, { ACT_GAVE_UP, "gave-up" },
};

static const char *acts_text(unsigned acts)
{
	const char *text = "";

	for (int i = 0; i < ROWS(acts_shown); i++) {
		if ((acts & acts_shown[i].act) != 0)
			text = arena_text(arena, "%s %s", text, acts_shown[i].name);
	}
	return text;
}

/* ---- histories ---- */

/* Somebody is inside, and the lease holds. */
#define USUAL(at_) .lease = (at_) + 15000, .inside = 2
#define IT_RUNS \
	TAKEN(100), REPORT(300, OPENING, 0), REPORT(2000, RUNNING, 1000), \
		REPORT(9000, RUNNING, 8000)

/* clang-format off */
static const struct history {
	const char *name;
	struct told told[24]; /* ends with a row without a time */
	const char *acts; /* all that followed, in order */
	const char *ends; /* status, reason, error, recorded seconds, gaps, what people see */
} histories[] = {
	{ "a recording", { IT_RUNS, CALL(10000, STOP), REPORT(11000, STOPPING, 9500), REPORT(12000, JOINING, 9500), REPORT(13000, SENDING, 9500), REPORT(14000, DONE, 9500) },
	  " started stopped let-go ended saved", "completed client request '' 9 0 -" },
	{ "nobody takes it", { LATER(59000, USUAL(0)), LATER(60000, USUAL(0)) },
	  " failed let-go ended", "failed failure: NO_RECORDER 'No recorder is free' 0 0 -" },
	{ "taken, and no media", { TAKEN(100), REPORT_WITH(500, OPENING, 0, .error = "no page"), LATER(60000, USUAL(60000)) },
	  " failed let-go ended", "failed failure: MAX_RETRIES_REACHED 'no page' 0 0 -" },
	{ "the first media counts even late", { TAKEN(100), REPORT(59000, RUNNING, 1000), LATER(60000, USUAL(60000)) },
	  " started", "running  '' 1 0 running" },
	{ "stopped while it starts", { TAKEN(100), CALL(200, STOP) },
	  " failed let-go ended", "failed failure: BEAM_STOPPED 'It was stopped while it started.' 0 0 -" },
	{ "a pause is shown when it is true", { IT_RUNS, CALL(10000, PAUSE) }, " started paused", "running  '' 8 0 running" },
	{ "reported", { IT_RUNS, CALL(10000, PAUSE), REPORT(11000, PAUSED, 8900) }, " started paused", "running  '' 8 0 paused" },
	{ "removed", { IT_RUNS, CALL(10000, PAUSE), LATER(13000, USUAL(13000)), CALL(13100, REMOVED) },
	  " started paused remove", "running  '' 8 0 paused" },
	{ "resumed", { IT_RUNS, CALL(10000, PAUSE), REPORT(11000, PAUSED, 8900), CALL(20000, RESUME), REPORT(21000, RUNNING, 9900) },
	  " started paused resumed", "running  '' 9 1 running" },
	{ "a second pause changes nothing", { IT_RUNS, CALL(10000, PAUSE), CALL(10500, PAUSE), CALL(11000, RESUME), CALL(11500, RESUME) },
	  " started paused resumed", "running  '' 8 1 running" },
	{ "a pause is no interruption", { IT_RUNS, CALL(10000, PAUSE), REPORT(11000, PAUSED, 8900), LATER(60000, USUAL(60000)) },
	  " started paused", "running  '' 8 0 paused" },
	{ "interrupted, and back", { IT_RUNS, LATER(28999, USUAL(29000)), LATER(29000, USUAL(29000)), REPORT(31000, RUNNING, 9000) },
	  " started stuck", "running  '' 9 0 running" },
	{ "interrupted", { IT_RUNS, LATER(29000, USUAL(29000)) }, " started stuck", "running  '' 8 0 interrupted" },
	{ "nobody inside is no interruption", { IT_RUNS, LATER(29000, .lease = 40000, .left = 9000) }, " started", "running  '' 8 0 running" },
	{ "the room is empty for too long", { IT_RUNS, LATER(308999, .lease = 400000, .left = 9000), LATER(309000, .lease = 400000, .left = 9000) },
	  " started stopped", "stopping last peer left '' 8 0 running" },
	{ "who comes back in time", { IT_RUNS, LATER(100000, .lease = 400000, .left = 9000), LATER(308000, USUAL(308000)), LATER(310000, USUAL(310000)) },
	  " started", "running  '' 8 0 running" },
	{ "the room was ended", { IT_RUNS, LATER(10000, .lease = 20000, .was_ended = true) }, " started stopped", "stopping room ended '' 8 0 running" },
	{ "the room was deleted", { IT_RUNS, LATER(10000, .lease = 20000, .is_deleted = true) }, " started stopped", "stopping room ended '' 8 0 running" },
	{ "ended while it starts", { TAKEN(100), LATER(5000, .lease = 20000, .was_ended = true) },
	  " failed let-go ended", "failed failure: BEAM_STOPPED 'It was stopped while it started.' 0 0 -" },
	{ "too long", { IT_RUNS, LATER(3600999, USUAL(3600999)), LATER(3601000, USUAL(3601000)) },
	  " started stuck stopped", "stopping max duration reached '' 8 0 running" },
	{ "no space", { IT_RUNS, REPORT_WITH(10000, RUNNING, 9000, .has_no_space = true) }, " started stopped", "stopping no space left '' 9 0 running" },
	{ "the recorder stops by itself", { IT_RUNS, REPORT_WITH(10000, STOPPING, 9000, .error = "The page is gone.") },
	  " started stopped", "stopping failure: INTERNAL_ERROR 'The page is gone.' 9 0 -" },
	{ "the recorder says that there is no space", { IT_RUNS, REPORT_WITH(10000, STOPPING, 9000, .error = "no space left") },
	  " started stopped", "stopping no space left 'no space left' 9 0 -" },
	{ "nothing was recorded", { IT_RUNS, CALL(10000, STOP), REPORT_WITH(14000, DONE, 9500, .has_no_files = true) },
	  " started stopped failed let-go ended", "failed failure: INTERNAL_ERROR 'Nothing was recorded.' 9 0 -" },
	{ "a stop is shown when it is true", { IT_RUNS, CALL(10000, STOP) }, " started stopped", "stopping client request '' 8 0 running" },
	{ "the participant was removed", { IT_RUNS, CALL(10000, STOP), LATER(12999, USUAL(13000)), LATER(13000, USUAL(13000)), CALL(13500, REMOVED) },
	  " started stopped remove let-go", "post_processing client request '' 8 0 -" },
	{ "what is reported late is too late", { IT_RUNS, REPORT_WITH(9500, JOINING, 9000, .n = 90), REPORT_WITH(9600, RUNNING, 9500, .n = 5) },
	  " started stopped let-go", "post_processing failure: INTERNAL_ERROR '' 9 0 -" },
	{ "another process of the name", { IT_RUNS, REPORT_WITH(9500, DONE, 9000, .has_other_boot = true) }, " started", "running  '' 8 0 running" },
	{ "another epoch", { IT_RUNS, REPORT_WITH(9500, DONE, 9000, .has_other_epoch = true) }, " started", "running  '' 8 0 running" },
	{ "the lease is over, and the holder comes back", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), REPORT(26000, RUNNING, 25000) },
	  " started released", "running  '' 25 0 running" },
	{ "another takes over", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), TAKEN(26000), REPORT_WITH(28000, RUNNING, 1500, .n = 2) },
	  " started released", "running  '' 9 1 running" },
	{ "broken, and taken again", { IT_RUNS, REPORT_WITH(10000, BROKEN, 9000, .error = "five times"), TAKEN(11000), REPORT_WITH(13000, RUNNING, 1000, .n = 2) },
	  " started released", "running  'five times' 10 1 running" },
	{ "lost", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), LATER(624999, .inside = 1), LATER(625000, .inside = 1) },
	  " started released stuck failed let-go ended", "failed failure: INTERNAL_ERROR 'The recorder was lost, and no other one took over.' 8 0 -" },
	{ "lost, though the media server lists it", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), LATER(625000, .inside = 1, .is_listed = true) },
	  " started released stuck", "running  '' 8 0 interrupted" },
	{ "lost, and saved later", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), LATER(625000, .inside = 1), REPORT(900000, DONE, 8500), REPORT(900100, DONE, 8500) },
	  " started released failed let-go ended stuck saved", "completed failure: INTERNAL_ERROR '' 8 0 -" },
	{ "stopped while it is lost", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), CALL(26000, STOP) },
	  " started released stopped let-go", "post_processing client request '' 8 0 -" },
	{ "joined by another", { IT_RUNS, LATER(25000, .lease = 24000, .inside = 1), CALL(26000, STOP), TAKEN(27000), REPORT_OF_NOTHING(28000, JOINING, 2), REPORT_OF_NOTHING(30000, DONE, 3) },
	  " started released stopped let-go ended saved", "completed client request '' 8 0 -" },
	{ "not joined in a day", { IT_RUNS, CALL(10000, STOP), REPORT(12000, JOINING, 9500), LATER(86412000, USUAL(86412000)) },
	  " started stopped let-go failed ended", "failed failure: INTERNAL_ERROR 'The recording could not be joined in time.' 9 0 -" },
	{ "not sent in a day, and saved later", { IT_RUNS, CALL(10000, STOP), REPORT(12000, SENDING, 9500), LATER(86412000, USUAL(86412000)), REPORT(86413000, DONE, 9500) },
	  " started stopped let-go failed ended saved", "completed client request '' 9 0 -" },
	{ "it waits for room on the disk", { IT_RUNS, CALL(10000, STOP), REPORT(12000, JOINING, 9500), REPORT_WITH(50000000, JOINING, 9500, .has_no_space = true), LATER(86412000, USUAL(86412000)) },
	  " started stopped let-go", "post_processing client request '' 9 0 -" },
};
/* clang-format on */

static const char *job_shown(const struct job *job)
{
	int64_t since;
	const char *sight = job_sight_names[job_people_see(job, &since)];

	return arena_text(arena, "%s %s '%.*s' %llu %u %s", job_status_names[job->status],
			  job_reason_names[job->reason], (int)job->error.size,
			  job->error.size > 0 ? job->error.data : "",
			  (unsigned long long)(job_recorded(job) / 1000), job_gaps(job),
			  *sight == '\0' ? "-" : sight);
}

static void check_history(const struct history *history, struct job *job)
{
	const char *acts = "";
	uint64_t n = 0;

	for (const struct told *told = history->told; told->at != 0; told++) {
		/* It carries out what another took. */
		if (told->type == NEWS_TAKEN) {
			struct told taken = *told;

			n = 0;
			tell(job, &taken, &n);
			continue;
		}
		acts = arena_text(arena, "%s%s", acts, acts_text(tell(job, told, &n)));
		ck_assert_msg(!job->is_open == (job->status >= JOB_COMPLETED), "%s", history->name);
		ck_assert_msg(job->is_open == (job->ended == 0), "%s", history->name);
	}
	ck_assert_msg(strcmp(acts, history->acts) == 0, "%s: acts are\n%s\nnot\n%s", history->name,
		      acts, history->acts);
	ck_assert_msg(strcmp(job_shown(job), history->ends) == 0, "%s: it ends as\n%s\nnot\n%s",
		      history->name, job_shown(job), history->ends);
}

START_TEST(each_history_ends_as_it_should)
{
	struct job job = new_job();

	check_history(&histories[_i], &job);
}
END_TEST

/* ---- streams ---- */

#define IT_STREAMS TAKEN(100), REPORT(2000, RUNNING, 1000)

/* clang-format off */
static const struct stream_history {
	struct history is;
	enum job_type type;
	bool is_recorded;
	const char *outputs; /* at the end, as in struct told */
} streams[] = {
	{ { "a live stream", { IT_STREAMS, CALL(10000, STOP), REPORT(11000, STOPPING, 9500), REPORT_WITH(14000, DONE, 9500, .has_no_files = true) },
	    " started stopped let-go ended saved", "completed client request '' 9 0 -" }, JOB_LIVE, false, "" },
	{ { "a live stream that is recorded", { IT_STREAMS, CALL(10000, STOP), REPORT(12000, JOINING, 9500), REPORT(14000, DONE, 9500) },
	    " started stopped let-go ended saved", "completed client request '' 9 0 -" }, JOB_LIVE, true, "" },
	{ { "without the file that it should have", { IT_STREAMS, CALL(10000, STOP), REPORT_WITH(14000, DONE, 9500, .has_no_files = true) },
	    " started stopped failed let-go ended", "failed failure: INTERNAL_ERROR 'Nothing was recorded.' 9 0 -" }, JOB_LIVE, true, "" },
	{ { "somebody has to end its playlist", { IT_STREAMS, LATER(20000, .lease = 17000, .inside = 1), CALL(21000, STOP) },
	    " started released stopped let-go", "post_processing client request '' 1 0 -" }, JOB_LIVE, false, "" },
	{ { "but not for ever", { IT_STREAMS, LATER(20000, .lease = 17000, .inside = 1), CALL(21000, STOP), LATER(86422000, .inside = 1) },
	    " started released stopped let-go ended saved", "completed client request '' 1 0 -" }, JOB_LIVE, false, "" },
	{ { "an external stream", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "cl"), REPORT_WITH(5000, RUNNING, 4000, .outputs = "lc"), CALL(10000, STOP), REPORT_WITH(14000, DONE, 9500, .has_no_files = true) },
	    " started stopped let-go ended saved", "completed client request '' 9 0 -" }, JOB_EXTERNAL, false, "lc" },
	{ { "an output that is given up stays so", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "fl"), REPORT_WITH(5000, RUNNING, 4000, .outputs = "lf", .n = 90), REPORT_WITH(6000, RUNNING, 5000, .outputs = "ll", .n = 4) },
	    " started gave-up failed let-go ended gave-up", "failed failure: MAX_RETRIES_REACHED 'All outputs were given up.' 4 0 -" }, JOB_EXTERNAL, false, "ff" },
	{ { "fewer outputs than it has", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "f") },
	    " started gave-up", "running  '' 2 0 running" }, JOB_EXTERNAL, false, "fc" },
	{ { "more outputs than it has", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "llfff") },
	    " started", "running  '' 2 0 running" }, JOB_EXTERNAL, false, "ll" },
	{ { "what was recorded of it is saved", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "ff"), REPORT(9000, DONE, 2000) },
	    " started failed let-go ended gave-up saved", "completed failure: MAX_RETRIES_REACHED '' 2 0 -" }, JOB_EXTERNAL, true, "ff" },
	{ { "nothing waits to be joined", { IT_STREAMS, LATER(20000, .lease = 17000, .inside = 1), CALL(21000, STOP) },
	    " started released stopped let-go ended saved", "completed client request '' 1 0 -" }, JOB_EXTERNAL, false, "cc" },
	{ { "its participant was removed", { IT_STREAMS, CALL(10000, STOP), LATER(13000, USUAL(13000)), CALL(13500, REMOVED) },
	    " started stopped remove let-go ended saved", "completed client request '' 1 0 -" }, JOB_EXTERNAL, false, "cc" },
	{ { "it needs no space", { IT_STREAMS, REPORT_WITH(9000, RUNNING, 8000, .has_no_space = true) },
	    " started", "running  '' 8 0 running" }, JOB_EXTERNAL, false, "cc" },
	{ { "a live stream needs space", { IT_STREAMS, REPORT_WITH(9000, RUNNING, 8000, .has_no_space = true) },
	    " started stopped", "stopping no space left '' 8 0 running" }, JOB_LIVE, false, "" },
	{ { "another takes over", { IT_STREAMS, REPORT_WITH(3000, RUNNING, 2000, .outputs = "fl"), LATER(20000, .lease = 18000, .inside = 1), TAKEN(21000), REPORT_WITH(22000, RUNNING, 1500, .n = 2, .outputs = "cc") },
	    " started gave-up released", "running  '' 3 1 running" }, JOB_EXTERNAL, false, "fc" },
};
/* clang-format on */

START_TEST(each_stream_ends_as_it_should)
{
	const struct stream_history *stream = &streams[_i];
	const size_t count = stream->type == JOB_EXTERNAL ? 2 : 0;
	struct job_output outputs[2];
	struct job job = new_job();
	char states[3] = "";

	for (size_t i = 0; i < 2; i++)
		outputs[i] = (struct job_output){ .url = SLICE("rtmp://a.example/{...}"),
						  .sealed = SLICE("sealed"),
						  .error = SLICE("") };
	job.type = stream->type;
	job.has_vod = stream->is_recorded && stream->type == JOB_LIVE;
	job.has_recording = stream->is_recorded && stream->type == JOB_EXTERNAL;
	job.outputs = outputs;
	job.output_count = count;
	check_history(&stream->is, &job);
	for (size_t i = 0; i < count; i++) {
		states[i] = "clf"[outputs[i].state];
		/* The addresses are erased at the end, and not before. */
		ck_assert_msg((outputs[i].sealed.size > 0) == job.is_open, "%s", stream->is.name);
	}
	ck_assert_msg(strcmp(states, stream->outputs) == 0, "%s: outputs are %s", stream->is.name,
		      states);
}
END_TEST

/* ---- each kind of news in each state ---- */

static struct job job_in(enum job_status status)
{
	static const struct told until[JOB_STATUSES] = {
		[JOB_STARTING] = REPORT(300, OPENING, 0),
		[JOB_RUNNING] = REPORT(2000, RUNNING, 1000),
		[JOB_STOPPING] = CALL(3000, STOP),
		[JOB_POST_PROCESSING] = REPORT(4000, JOINING, 1500),
		[JOB_COMPLETED] = REPORT(5000, DONE, 1500),
		[JOB_FAILED] = CALL(5000, FAILED),
	};
	const struct told taken = TAKEN(100);
	struct job job = new_job();
	uint64_t n = 0;

	tell(&job, &taken, &n);
	for (int i = 0; i <= (int)status; i++) {
		if (i == JOB_COMPLETED && status == JOB_FAILED)
			continue;
		tell(&job, &until[i], &n);
	}
	ck_assert_int_eq(job.status, status);
	return job;
}

/* clang-format off */
static const struct pair {
	const char *name;
	struct told told;
	const char *ends[JOB_STATUSES]; /* the status, and the acts */
} pairs[] = {
	{ "opening", REPORT_WITH(6000, OPENING, 0, .n = 50), { "starting", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "media", REPORT_WITH(6000, RUNNING, 2000, .n = 50), { "running started", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "paused", REPORT_WITH(6000, PAUSED, 1000, .n = 50), { "running started", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "waiting", REPORT_WITH(6000, WAITING, 0, .n = 50), { "starting", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "stopping", REPORT_WITH(6000, STOPPING, 0, .n = 50), { "failed failed let-go ended", "stopping stopped", "stopping", "post_processing", "completed", "failed" } },
	{ "joining", REPORT_WITH(6000, JOINING, 2000, .n = 50), { "post_processing started stopped let-go", "post_processing stopped let-go", "post_processing let-go", "post_processing", "completed", "failed" } },
	{ "done", REPORT_WITH(6000, DONE, 2000, .n = 50), { "completed started stopped let-go ended saved", "completed stopped let-go ended saved", "completed let-go ended saved", "completed ended saved", "completed", "completed saved" } },
	{ "broken", REPORT_WITH(6000, BROKEN, 0, .n = 50), { "starting released", "running released", "post_processing let-go released", "post_processing released", "completed", "failed" } },
	{ "taken", TAKEN(6000), { "starting", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "stop", CALL(6000, STOP), { "failed failed let-go ended", "stopping stopped", "stopping", "post_processing", "completed", "failed" } },
	{ "pause", CALL(6000, PAUSE), { "starting", "running paused", "stopping", "post_processing", "completed", "failed" } },
	{ "resume", CALL(6000, RESUME), { "starting", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "failed", CALL(6000, FAILED), { "failed failed let-go ended", "failed failed let-go ended", "failed failed let-go ended", "failed failed ended", "completed", "failed" } },
	{ "removed", CALL(6000, REMOVED), { "starting", "running", "post_processing let-go", "post_processing", "completed", "failed" } },
	{ "order", CALL(6000, ORDER), { "starting", "running", "stopping", "post_processing", "completed", "failed" } },
	{ "time", LATER(6000, USUAL(6000)), { "starting", "running", "stopping remove", "post_processing", "completed", "failed" } },
	{ "lease over", LATER(6000, .inside = 1), { "starting released", "running released", "post_processing let-go released", "post_processing released", "completed", "failed" } },
	{ "minutes later", LATER(90000, USUAL(90000)), { "failed failed let-go ended", "running stuck", "stopping remove", "post_processing", "completed", "failed" } },
	{ "days later", LATER(200000000, USUAL(200000000)), { "failed failed let-go ended", "stopping stopped", "stopping remove", "failed failed ended", "completed", "failed" } },
};
/* clang-format on */

START_TEST(each_news_does_in_each_state_what_it_should)
{
	const struct pair *pair = &pairs[_i];

	for (int status = 0; status < JOB_STATUSES; status++) {
		struct job job = job_in((enum job_status)status);
		const struct job before = job;
		uint64_t n = 40;
		const unsigned acts = tell(&job, &pair->told, &n);
		const char *ends = arena_text(arena, "%s%s", job_status_names[job.status],
					      acts_text(acts));

		ck_assert_msg(strcmp(ends, pair->ends[status]) == 0, "%s in %s: %s, not %s",
			      pair->name, job_status_names[status], ends, pair->ends[status]);
		/* What changes nothing leaves no trace, and what has ended stays as it is. */
		if (acts == 0 && pair->told.type != NEWS_REPORT)
			ck_assert_msg(memcmp(&job, &before, sizeof job) == 0, "%s in %s",
				      pair->name, job_status_names[status]);
		/* The same news a second time: only the time and a taker do something. */
		if (pair->told.type == NEWS_REPORT)
			ck_assert_msg((tell(&job, &pair->told, &n) & ACT_CHANGED) == 0,
				      "%s twice in %s", pair->name, job_status_names[status]);
	}
}
END_TEST

/* ---- lost, doubled and late ---- */

START_TEST(reports_that_are_lost_doubled_and_late_end_in_the_same_truth)
{
	static const struct told whole[] = {
		REPORT_WITH(300, OPENING, 0, .n = 1),
		REPORT_WITH(2000, RUNNING, 1000, .n = 2),
		REPORT_WITH(3000, RUNNING, 2000, .n = 3),
		REPORT_WITH(4000, RUNNING, 3000, .n = 4),
		REPORT_WITH(6000, PAUSED, 3500, .n = 5),
		REPORT_WITH(8000, PAUSED, 3500, .n = 6),
		REPORT_WITH(11000, RUNNING, 4500, .n = 7),
		REPORT_WITH(12000, RUNNING, 5500, .n = 8),
		REPORT_WITH(14000, STOPPING, 6500, .n = 9),
		REPORT_WITH(15000, JOINING, 6500, .n = 10),
		REPORT_WITH(16000, SENDING, 6500, .n = 11),
	};
	static const struct told done = REPORT_WITH(20000, DONE, 6500, .n = 12);
	static const struct told calls[] = {
		CALL(5000, PAUSE),
		CALL(10000, RESUME),
		CALL(13000, STOP),
	};
	const struct told taken = TAKEN(100);

	for (unsigned seed = 1; seed <= 300; seed++) {
		const struct told *order[64], *first;
		unsigned acts = 0, started = 0, stopped = 0, saved = 0;
		struct job job = new_job();
		uint64_t n = 0;
		size_t count = 0, call = 0;
		/* The first media comes through before anything else, or the pause is refused. */

		srand(seed);
		first = &whole[1 + (unsigned)rand() % 3];
		order[count++] = first;
		for (int i = 0; i < ROWS(whole); i++) {
			const unsigned times_told = (unsigned)rand() % 3;

			for (unsigned j = 0; j < times_told; j++)
				order[count++] = &whole[i];
		}
		/* Each may arrive up to four places late. */
		for (size_t i = 1; i + 1 < count; i++) {
			const size_t with = i + (unsigned)rand() % 4;

			if (with < count) {
				const struct told *swapped = order[i];

				order[i] = order[with];
				order[with] = swapped;
			}
		}
		order[count++] = &done;
		order[count++] = &done;
		tell(&job, &taken, &n);
		for (size_t i = 0; i < count; i++) {
			struct told told = *order[i];

			/* Calls come at their time, in between. */
			while (call < (size_t)ROWS(calls) && i > 0 && told.at > calls[call].at) {
				acts = tell(&job, &calls[call++], &n);
				stopped += (acts & ACT_STOPPED) != 0;
			}
			acts = tell(&job, &told, &n);
			started += (acts & ACT_STARTED) != 0;
			stopped += (acts & ACT_STOPPED) != 0;
			saved += (acts & ACT_COMPLETED) != 0;
		}
		ck_assert_msg(
			job.status == JOB_COMPLETED && started == 1 && stopped == 1 && saved == 1,
			"order %u: %s, %u %u %u", seed, job_shown(&job), started, stopped, saved);
		ck_assert_msg(job_recorded(&job) == 6500 && job.started == BEGAN + 1000 &&
				      job.reason != JOB_GOES_ON && job.error.size == 0 &&
				      !job.shows_pause && job.asked == 0,
			      "order %u: %s", seed, job_shown(&job));
	}
}
END_TEST

/* ---- when it is looked at again ---- */

START_TEST(the_next_look_is_never_too_late_nor_at_once)
{
	const struct job_room room = { .is_there = true, .inside = 1 };

	for (int status = 0; status < JOB_STATUSES - 2; status++) {
		struct job job = job_in((enum job_status)status);
		const int64_t now = BEGAN + 6000;
		const int64_t due = job_due(&job, &room, now + 4000, &times, now);

		ck_assert_int_ge(due, now + 1000);
		ck_assert_int_le(due, now + 15000);
	}
}
END_TEST

/* What `anteroom serve --stream-allow` says, and whether a stream may be sent there. The recorder
 * judges what a name stands for. */
static const struct {
	const char *ranges, *url;
	bool is_allowed;
} addresses[] = {
	{ NULL, "rtmp://a.example.com/live/k", true },
	{ NULL, "rtmp://8.8.8.8/live/k", true },
	{ NULL, "rtmp://10.0.0.1/live/k", false },
	{ NULL, "rtmp://[::1]/live/k", false },
	{ "10.0.0.0/8", "rtmp://10.0.0.1/live/k", true },
	{ "10.0.0.0/8", "rtmp://192.168.0.1/live/k", false },
	{ "10.0.0.0/8", "rtmp://8.8.8.8/live/k", true },
	{ NULL, "http://8.8.8.8/live/k", false },
};

START_TEST(a_stream_goes_where_it_may)
{
	struct recordings recordings = { .folder = NULL };
	const struct environment environment = { .recordings = &recordings };
	const struct call call = { .environment = &environment, .arena = arena };
	const char *ranges = addresses[_i].ranges;

	if (ranges != NULL)
		ck_assert(address_ranges_read(slice_of(ranges), &recordings.streams_allowed));
	ck_assert_msg(output_address_is_allowed(&call, slice_of(addresses[_i].url)) ==
			      addresses[_i].is_allowed,
		      "%s", addresses[_i].url);
}
END_TEST

void add_merge(TCase *merge)
{
	tcase_add_loop_test(merge, a_stream_goes_where_it_may, 0, ROWS(addresses));
	tcase_add_checked_fixture(merge, set_up, tear_down);
	tcase_add_loop_test(merge, each_history_ends_as_it_should, 0, ROWS(histories));
	tcase_add_loop_test(merge, each_stream_ends_as_it_should, 0, ROWS(streams));
	tcase_add_loop_test(merge, each_news_does_in_each_state_what_it_should, 0, ROWS(pairs));
	tcase_add_test(merge, reports_that_are_lost_doubled_and_late_end_in_the_same_truth);
	tcase_add_test(merge, the_next_look_is_never_too_late_nor_at_once);
}
