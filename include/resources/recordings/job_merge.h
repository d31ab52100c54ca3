/* What becomes of a job. One function merges news from every side: a report of its recorder, a
 * call, the time. It changes the record and says what follows; another stores that, with the
 * events. The table of acts is in job_merge.c. News that are older than what is known change
 * nothing, so that lost, doubled and late reports end in the same truth (anteroom-api(7),
 * RECORDINGS).
 *
 * Locks: the session before the job, the job before its assets, then the account's `jobs`, then
 * recorders and works.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_JOB_MERGE_H
#define RESOURCES_RECORDINGS_JOB_MERGE_H

#include "delivery/address.h"
#include "resources/stored/job_record.h"
#include "resources/stored/recorder_record.h"

/* Milliseconds, and how `serve --recording-times` sets them. */
struct recording_times {
	int64_t start; /* from the start to the first media, before a job fails */
	int64_t retry; /* between two tries of autoStart */
	int64_t lease; /* for which a holder has a job after its report */
	int64_t lost; /* in which nobody holds a job, before it fails */
	int64_t join; /* for joining and sending */
	int64_t sweep; /* between two looks for what is over */
	int64_t live; /* for which a live stream can be seen after its end */
	int64_t output; /* in which an output of a stream fails, before it is given up */
};
/* clang-format off */
#define RECORDING_TIMES { .start = 60000, .retry = 60000, .lease = 15000, .lost = 600000, \
	.join = 24 * 3600000, .sweep = 3600000, .live = 3600000, .output = 600000 }
/* clang-format on */

/* The folder of recordings of the service: `serve --recordings`. */
struct recordings {
	const char *folder; /* its path; NULL: none */
	struct recording_times times;
	/* Private and local addresses to which streams may be sent: `serve --stream-allow`. */
	struct address_ranges streams_allowed;
};

/* Returns the times of the service, and the id of its folder; empty if it has none. */
const struct recording_times *recording_times_of(const struct call *call);
struct slice recordings_folder_id(const struct call *call);

/* ---- news ---- */

enum job_news_type {
	NEWS_REPORT, /* of its holder */
	NEWS_TAKEN, /* a recorder took it */
	NEWS_STOP, /* somebody or something ends it: `reason` */
	NEWS_PAUSE,
	NEWS_RESUME,
	NEWS_FAILED, /* it cannot go on: `reason` and `error` */
	NEWS_REMOVED, /* its participant was removed from the room */
	NEWS_ORDER, /* its order has changed */
	NEWS_TIME /* what is inside, and what the clock says */
};
#define JOB_NEWS_TYPES (NEWS_TIME + 1)

struct work_file {
	struct slice name;
	uint64_t bytes, duration;
	uint32_t width, height;
	bool is_chat;
};

/* What a recorder says about an output, in the place of its address in the order. */
struct output_report {
	enum output_state state;
	struct slice error;
};

/* What a recorder says about a work. */
struct work_report {
	uint64_t n; /* of the report, in this boot */
	uint32_t epoch;
	struct slice recorder, boot, folder;
	enum work_state state;
	uint32_t part;
	int64_t media; /* 0: none */
	uint64_t recorded; /* milliseconds */
	struct asset_gap *gaps;
	size_t gap_count;
	bool has_space; /* false: its folder is nearly full */
	struct slice error;
	struct work_file *files;
	size_t file_count;
	struct output_report *outputs;
	size_t output_count;
};

/* Who is inside, as the records have it. */
struct job_room {
	bool is_there; /* the room was not deleted */
	uint64_t inside; /* people */
	int64_t left; /* when the last one left, if nobody is inside; 0 if nobody ever was */
	bool was_ended; /* a call, a rule or a deletion ended it since the job began */
	bool lists_recorder; /* the media server lists the participant of the recorder */
};

struct job_news {
	enum job_news_type type;
	int64_t now;
	enum job_reason reason; /* NEWS_STOP, NEWS_FAILED */
	struct slice error; /* NEWS_FAILED */
	/* NEWS_STOP, NEWS_PAUSE, NEWS_RESUME: the peer who asks, or empty; and the actor as the
	 * event log names it; empty: the service. */
	struct slice peer, actor;
	const struct work_report *report; /* NEWS_REPORT, NEWS_TAKEN */
	const struct job_room *room; /* NEWS_TIME */
	int64_t lease; /* NEWS_TIME: until when somebody holds it; 0 if nobody does */
	int64_t since; /* NEWS_TIME: what nobody could hold before then counts from then on */
	const struct recording_times *times; /* NEWS_TIME */
};

/* What follows from news. Several may follow at once. */
enum job_act {
	ACT_STARTED = 1 << 0, /* beam.started.success; of a live stream hls.started.success */
	ACT_STOPPED = 1 << 1, /* beam.stopped.success, hls.stopped.success */
	ACT_FAILED = 1 << 2, /* beam.failure, hls.failure */
	ACT_PAUSED = 1 << 3, /* recording.paused */
	ACT_RESUMED = 1 << 4, /* recording.resumed */
	ACT_LET_GO = 1 << 5, /* it holds its room no more */
	ACT_ENDED = 1 << 6, /* it has ended: its work is removed */
	/* Its files become assets, with beam.recording.success or hls.recording.success. */
	ACT_COMPLETED = 1 << 7,
	ACT_RELEASED = 1 << 8, /* nobody holds it now: its work waits for a recorder */
	ACT_REMOVE = 1 << 9, /* its participant is to be removed from the room */
	ACT_INTERRUPTED = 1 << 10, /* nothing is recorded that should be */
	ACT_CHANGED = 1 << 11, /* the record is to be stored */
	ACT_SEEN = 1 << 12, /* what people see has changed (job_people_see) */
	ACT_GREW = 1 << 13, /* only what was recorded has grown, which can be stored later */
	ACT_GAVE_UP = 1 << 14 /* an output is given up: beam.failure for it */
};

/* Merges news into a job in memory. Returns the acts that follow; 0 if nothing changed. */
unsigned job_merge(struct job *job, const struct job_news *news);
/* What a recorder is to do. */
enum job_want { WANT_RUN, WANT_PAUSE, WANT_STOP };
enum job_want job_wants(const struct job *job);
/* Returns when the time has to be merged again. lease: as in the news. */
int64_t job_due(const struct job *job, const struct job_room *room, int64_t lease,
		const struct recording_times *times, int64_t now);

/* ---- in the store ---- */

/* Merges news into a job and its work, both read to change, and stores what follows. *acts: what
 * did. The work may be missing, if the job has ended. */
bool job_apply(struct call *call, struct job *job, struct work *work, const struct job_news *news,
	       unsigned *acts, struct fault *fault);

/* Returns the path of a file of the job in its folder: ACCOUNT/ROOM/JOB/NAME. */
struct slice job_file_path(struct call *call, const struct job *job, struct slice name);

/* Makes a job: whoever starts it has filled the first part of struct job. Checks, in this order,
 * that the room holds none of its type (409, `A recording is running` with its id), that the room
 * and the account have not too many, that not too many are carried out at once. The job is then in
 * *job with its id, its times and its name, and waits for a recorder. */
bool job_begin(struct call *call, struct job *job, struct fault *fault);
/* The checks of job_begin alone, for validate_only and for the order of refusals: those about
 * running jobs of the room; and those about numbers. */
bool job_check_running(struct call *call, const struct job *job, struct fault *fault);
bool job_check_numbers(struct call *call, const struct job *job, struct fault *fault);

/* For calls: stop, pause or resume a job that was read to change. `peer`: of the caller from
 * inside, or empty. A job that is not in the right state is left as it is, and *is_refused set:
 * a pause or resume of one that does not run, a stop of one that has stopped. A pause of one that
 * is paused, and a resume of one that is not, change nothing and are no refusal. */
bool job_stop(struct call *call, struct job *job, struct slice peer, bool *is_refused,
	      struct fault *fault);
bool job_pause(struct call *call, struct job *job, struct slice peer, bool *is_refused,
	       struct fault *fault);
bool job_resume(struct call *call, struct job *job, struct slice peer, bool *is_refused,
		struct fault *fault);

/* Opens a job that has failed, and was read to change, once more: a recorder joins its parts, which
 * are still there. The checks are the caller's and those of job_check_numbers. */
bool job_join_again(struct call *call, struct job *job, struct fault *fault);

/* Reads who is inside the room of a job, as the records have it. */
bool job_room_read(struct call *call, const struct job *job, struct job_room *room,
		   struct fault *fault);

/* ---- the time (background/job_watch.h) ---- */

/* Whether the media server lists the participant of a recorder. */
enum job_listed { LISTED_UNKNOWN, LISTED_THERE, LISTED_GONE };

/* A look at one job, whose time has come or about which a media server has answered. */
struct job_turn {
	struct id account, job;
	int64_t created; /* of the job, as its work has it; 0: unknown */
	int64_t since; /* as in struct job_news */
	/* What a media server said: the participant of this epoch was removed (0: of none), or is
	 * listed. */
	uint32_t removed_epoch;
	enum job_listed listed;
	bool has_room; /* it made the room of a test */
	/* Results. */
	unsigned acts;
	struct id room;
	uint32_t removes_epoch; /* the participant of this epoch is to be removed; 0: of none */
	uint32_t asks_epoch; /* it is to be asked whether that of this epoch is listed; 0: no */
	bool makes_room; /* it is to make the room, since nobody need be inside for a test */
};
bool job_take_turn(struct call *call, struct job_turn *turn, struct fault *fault);

/* What a media server is asked about a job. */
enum job_question {
	JOB_REMOVES, /* to remove the participant of an epoch */
	JOB_ASKS, /* whether it is there */
	JOB_MAKES_ROOM
};
/* Builds the request. *is_there: false if there is nothing to be asked: the room or the media
 * server is gone, or it makes rooms by itself. */
struct asking;
bool job_ask_server(struct call *call, const struct id *job, uint32_t epoch,
		    enum job_question question, struct asking *asking, bool *is_there,
		    struct fault *fault);
/* Finds out whether a participant of the room that nobody sees has to go: that of a recorder whose
 * job is over or does not exist, or goes on in a newer epoch. *is_stray is false for all others. */
bool job_participant_is_stray(struct call *call, const struct id *room, struct slice identity,
			      bool *is_stray, struct fault *fault);

#endif
