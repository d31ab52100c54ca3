/* See recorder/loop.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* While a part is open, its time limits are looked at so often. */
#define STEP_MS 100
/* Space that is left besides room for a copy of all parts. */
#define SPACE_LEAST ((int64_t)256 << 20)
#define POLL_MOST 256

static const int64_t join_pauses[] = { 1000, 3000, 10000, 30000, 60000 };
#define JOIN_PAUSES (sizeof join_pauses / sizeof join_pauses[0])

/* ---- the beginning ---- */

static bool find_programs(struct recorder_options *options, struct fault *fault)
{
	if (options->chromium == NULL)
		options->chromium = chromium_find();
	if (options->ffmpeg == NULL)
		options->ffmpeg = "ffmpeg";
	if (options->ffprobe == NULL)
		options->ffprobe = "ffprobe";
	if (options->chromium == NULL || !program_exists(options->chromium))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "Chromium is missing; on Debian: apt-get install "
				   "chromium-headless-shell");
	if (!program_exists(options->ffmpeg) || !program_exists(options->ffprobe))
		return fault_cause(fault, FAULT_BAD_REQUEST, 0,
				   "ffmpeg is missing; on Debian: apt-get install ffmpeg");
	return true;
}

/* Makes the folder of the profiles, empty: below that of the unit, or in /tmp, where others cannot
 * have made one for us. What an earlier process left there is removed. */
static bool make_profiles(struct work_stand *stand, struct fault *fault)
{
	const char *runtime = getenv("RUNTIME_DIRECTORY"), *scratch = getenv("TMPDIR");
	const char *place = runtime != NULL ? runtime : scratch != NULL ? scratch : "/tmp";
	struct stat status;

	/* The lock of the folder is that of the profiles too. */
	if (snprintf(stand->profiles, sizeof stand->profiles, "%s/anteroom-record-%ld-%s-%s", place,
		     (long)geteuid(), stand->folder.id, stand->options->name) >= PATH_MAX / 2)
		return fault_cause(fault, FAULT_BAD_REQUEST, ENAMETOOLONG, "cannot use %s", place);
	if (lstat(stand->profiles, &status) == 0 && S_ISDIR(status.st_mode) &&
	    status.st_uid == geteuid())
		folder_remove(stand->profiles);
	return mkdir(stand->profiles, 0700) == 0 ||
	       fault_cause(fault, FAULT_BAD_REQUEST, errno, "cannot create %s", stand->profiles);
}

static void take_up_leftovers(struct loop *loop)
{
	struct leftover *leftovers;
	const size_t n = folder_leftovers(&loop->stand.folder, loop->arena,
					  loop->stand.options->name, &leftovers);

	for (size_t i = 0; i < n; i++) {
		struct work *work = work_open(&loop->stand, leftovers[i].account, leftovers[i].job,
					      leftovers[i].epoch);

		work->next = loop->first;
		loop->first = work;
		log_event(LOG_LEVEL_NOTICE, "recorder_leftover", "account", work->account, "job",
			  work->job, "seconds", LOG_NUMBER(work->recorded_ms / 1000), NULL);
	}
}

bool loop_open(struct loop *loop, struct recorder_options *options, struct fault *fault)
{
	sigset_t signals;

	*loop = (struct loop){ .signals = -1, .arena = arena_open() };
	arena_set_limit(loop->arena, SIZE_MAX);
	loop->stand.arena = loop->arena;
	loop->stand.options = options;
	loop->stand.folder.lock = -1;
	loop->stand.casts = (struct cast_stand){ .children = &loop->stand.children,
						 .folder = &loop->stand.folder,
						 .ranges = &options->stream_ranges };
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	if (!find_programs(options, fault) ||
	    !folder_open(&loop->stand.folder, options->folder, fault) ||
	    !folder_lock(&loop->stand.folder, options->name, fault) ||
	    !make_profiles(&loop->stand, fault))
		return false;
	loop->stand.casts.ffmpeg = options->ffmpeg;
	(void)signal(SIGPIPE, SIG_IGN);
	children_adopt();
	if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0 ||
	    (loop->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC)) < 0)
		return fault_cause(fault, FAULT_UNAVAILABLE, errno, "cannot wait for signals");
	if (!uploads_open(options, &loop->uploads, fault))
		return false;
	take_up_leftovers(loop);
	arena_reset(loop->arena);
	return true;
}

void loop_close(struct loop *loop)
{
	joiner_close(loop->joiner);
	uploads_close(loop->uploads);
	while (loop->first != NULL) {
		struct work *next = loop->first->next;

		work_close(&loop->stand, loop->first);
		loop->first = next;
	}
	if (loop->stand.profiles[0] != '\0') {
		/* Until they have ended, they write into their profiles. */
		children_wait(&loop->stand.children);
		folder_remove(loop->stand.profiles);
	}
	if (loop->signals >= 0)
		close(loop->signals);
	folder_close(&loop->stand.folder);
	arena_close(loop->arena);
}

/* ---- works ---- */

struct work *loop_find(const struct loop *loop, const char *account, const char *job)
{
	struct work *work = loop->first;

	while (work != NULL && (strcmp(work->account, account) != 0 || strcmp(work->job, job) != 0))
		work = work->next;
	return work;
}

bool loop_is_recording(const struct loop *loop)
{
	for (const struct work *work = loop->first; work != NULL; work = work->next) {
		if (work->phase != PHASE_NONE)
			return true;
	}
	return false;
}

static void stop_joining(struct loop *loop)
{
	joiner_close(loop->joiner);
	loop->joiner = NULL;
	loop->joined = NULL;
}

static void drop_work(struct loop *loop, struct work *work, bool erases)
{
	struct work **at = &loop->first;

	if (loop->joined == work)
		stop_joining(loop);
	while (*at != work)
		at = &(*at)->next;
	*at = work->next;
	log_event(LOG_LEVEL_NOTICE, "recorder_work", "account", work->account, "job", work->job,
		  "state", "dropped", NULL);
	work_forget_parts(&loop->stand, work, erases);
	work_close(&loop->stand, work);
}

void loop_obey(struct loop *loop, const struct answer *answer)
{
	struct work *next;

	loop->stand.answered_at = clock_monotonic();
	loop->stand.lease_ms = answer->lease_ms;
	for (struct work *work = loop->first; work != NULL; work = next) {
		bool is_listed = false;

		next = work->next;
		for (size_t i = 0; i < answer->works_count; i++) {
			is_listed = is_listed ||
				    (strcmp(answer->works[i].account, work->account) == 0 &&
				     strcmp(answer->works[i].job, work->job) == 0);
		}
		if (!is_listed)
			work_unlisted(work);
	}
	for (size_t i = 0; i < answer->works_count; i++) {
		const struct wanted *wanted = &answer->works[i];
		struct work *work = loop_find(loop, wanted->account, wanted->job);

		if (wanted->want == WANT_DROP) {
			if (work != NULL)
				drop_work(loop, work, wanted->erases);
			continue;
		}
		if (work == NULL) {
			work = work_open(&loop->stand, wanted->account, wanted->job, wanted->epoch);
			work->next = loop->first;
			loop->first = work;
		}
		work_obey(&loop->stand, work, wanted);
	}
}

/* Stops all works when there is too little space for another copy of what is not joined. */
static void watch_space(struct loop *loop)
{
	int64_t free_bytes, total_bytes, needed = SPACE_LEAST;

	for (const struct work *work = loop->first; work != NULL; work = work->next)
		needed += work->bytes;
	if (!folder_space(&loop->stand.folder, &free_bytes, &total_bytes) || free_bytes >= needed)
		return;
	for (struct work *work = loop->first; work != NULL; work = work->next) {
		if (work->phase == PHASE_NONE || work->has_no_space || work->drops_media)
			continue;
		work->has_no_space = true;
		work_set_error(work, SLICE("no space left"));
		log_event(LOG_LEVEL_ERROR, "recorder_space", "account", work->account, "job",
			  work->job, "free_bytes", LOG_NUMBER(free_bytes), "effect",
			  "the recording stops", NULL);
	}
}

/* ---- joining ---- */

static void join_failed(struct loop *loop, struct work *work, const struct fault *fault)
{
	const size_t step = work->join_failures < JOIN_PAUSES ? work->join_failures
							      : JOIN_PAUSES - 1;

	work->join_failures++;
	work->join_at = clock_monotonic() + join_pauses[step];
	work_set_error(work, slice_of(fault_reason(fault)));
	loop->stand.has_changed = true;
	log_event(LOG_LEVEL_ERROR, "recorder_join", "account", work->account, "job", work->job,
		  "error", work->error, "effect", "the parts stay; joining again", NULL);
}

static void join_ended(struct loop *loop, struct work *work, bool has_files)
{
	work->files_count = has_files ? joined_files(&loop->stand.folder, work->account, work->job,
						     work->files)
				      : 0;
	work->bytes = 0;
	if (has_files)
		work->error[0] = '\0';
	else
		work_set_error(work, SLICE("nothing was recorded"));
	work->needs_put = has_files;
	work_set_state(&loop->stand, work, has_files ? WORK_SENDING : WORK_DONE);
}

static void begin_joining(struct loop *loop)
{
	const int64_t now = clock_monotonic();
	struct fault fault = FAULT_INITIAL;
	struct work *work = loop->first;
	struct join_task task;

	while (work != NULL && (work->state != WORK_JOINING || work->join_at > now))
		work = work->next;
	if (work == NULL)
		return;
	work->files_count = joined_files(&loop->stand.folder, work->account, work->job,
					 work->files);
	if (work->files_count > 0) {
		join_ended(loop, work, true);
		return;
	}
	task = (struct join_task){
		.folder = &loop->stand.folder,
		.account = work->account,
		.job = work->job,
		.order = work->order,
		.ffmpeg = loop->stand.options->ffmpeg,
		.ffprobe = loop->stand.options->ffprobe,
	};
	if (joiner_begin(&loop->stand.children, &task, &loop->joiner, &fault)) {
		loop->joined = work;
		return;
	}
	if (fault.kind == FAULT_NOT_FOUND)
		join_ended(loop, work, false);
	else
		join_failed(loop, work, &fault);
}

static void step_joining(struct loop *loop)
{
	struct fault fault = FAULT_INITIAL;
	struct work *work = loop->joined;
	enum join_progress progress;

	if (loop->joiner == NULL && !loop->stand.is_ending)
		begin_joining(loop);
	if (loop->joiner == NULL || loop->joined != work)
		return;
	progress = joiner_step(loop->joiner, &fault);
	if (progress == JOIN_WORKS)
		return;
	stop_joining(loop);
	if (progress == JOIN_FAILED && fault.kind != FAULT_NOT_FOUND)
		join_failed(loop, work, &fault);
	else
		join_ended(loop, work, progress == JOIN_DONE);
}

/* ---- a round ---- */

static void take_signals(struct loop *loop)
{
	struct signalfd_siginfo signal;

	while (read(loop->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
		if (signal.ssi_signo == SIGCHLD)
			continue;
		log_event(LOG_LEVEL_NOTICE, "recorder_stopping", "signal",
			  sigabbrev_np((int)signal.ssi_signo), NULL);
		loop->stand.is_ending = true;
	}
	children_reap(&loop->stand.children);
}

static void add_descriptor(struct pollfd *polled, nfds_t *n, int descriptor, short events)
{
	if (descriptor >= 0 && *n < POLL_MOST)
		polled[(*n)++] = (struct pollfd){ .fd = descriptor, .events = events };
}

void loop_round(struct loop *loop, int descriptor, int64_t milliseconds)
{
	struct pollfd polled[POLL_MOST];
	nfds_t n = 0;

	add_descriptor(polled, &n, loop->signals, POLLIN);
	add_descriptor(polled, &n, descriptor, POLLIN);
	add_descriptor(polled, &n, uploads_descriptor(loop->uploads), POLLIN);
	if (loop->joiner != NULL)
		add_descriptor(polled, &n, joiner_descriptor(loop->joiner), POLLIN);
	for (const struct work *work = loop->first; work != NULL; work = work->next) {
		int descriptors[CHROMIUM_DESCRIPTORS], streamed[CAST_DESCRIPTORS];
		const size_t streams = work->cast == NULL ? 0
							  : cast_descriptors(work->cast, streamed);

		for (size_t i = 0; i < streams; i++)
			add_descriptor(polled, &n, streamed[i], POLLIN);
		if (work->cast != NULL && work->state <= WORK_STOPPING)
			milliseconds = milliseconds > STEP_MS ? STEP_MS : milliseconds;
		if (work->chromium == NULL) {
			/* What is due later is due at its time. */
			if (work->state == WORK_JOINING || work->state <= WORK_PAUSED)
				milliseconds = milliseconds > STEP_MS ? STEP_MS : milliseconds;
			continue;
		}
		chromium_descriptors(work->chromium, descriptors);
		for (size_t i = 0; i < CHROMIUM_DESCRIPTORS; i++)
			add_descriptor(polled, &n, descriptors[i], POLLIN);
		add_descriptor(polled, &n, chromium_writes_to(work->chromium), POLLOUT);
		milliseconds = milliseconds > STEP_MS ? STEP_MS : milliseconds;
	}
	(void)poll(polled, n, milliseconds < 0 ? 0 : (int)milliseconds);
	take_signals(loop);
	watch_space(loop);
	for (struct work *work = loop->first; work != NULL; work = work->next) {
		work_step(&loop->stand, work);
		arena_reset(loop->arena);
	}
	step_joining(loop);
	uploads_step(loop->uploads, &loop->stand, loop->first);
	arena_reset(loop->arena);
}
