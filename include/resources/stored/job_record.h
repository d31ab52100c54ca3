/* Jobs and their files as they are stored.
 *
 * A job is a recording, a live stream or an external stream of a room; an asset is a file that a
 * job made. A job belongs to the session in which it began, and outlives its room and its session;
 * an asset belongs to its job, and keeps its job and its session.
 *
 * A job has the name `<type>:<room>` as long as it holds the room, from JOB_STARTING to
 * JOB_STOPPING, so that the store decides between two that begin at once; before and after that,
 * and always if several of its type may run, its name is its own id.
 *
 * Times are in milliseconds since 1970, of this service's clock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_JOB_RECORD_H
#define RESOURCES_STORED_JOB_RECORD_H

#include "records/record.h"
#include "resources/call.h"
#include "resources/stored/keep_rule.h"
#include "resources/stored/live_record.h"
#include "resources/stored/template_record.h"

/* The largest members in bytes. */
#define JOB_ADDRESS_MOST 8192 /* 2,048 characters */
#define JOB_DESTINATION_MOST 512
#define JOB_NOT_ENFORCED_MOST 4096
#define JOB_ROLES_MOST ((int64_t)64 << 10)
#define JOB_ERROR_MOST 1200 /* 300 characters */
#define JOB_FOLDER_MOST 64 /* the id of a folder of recordings */
#define JOB_RECORDER_MOST 64 /* the name of a recorder, and the text of its process */
#define JOB_FILES_MOST 17
#define JOB_PAUSES_MOST 200
#define JOB_GAPS_MOST 100
#define JOB_PATH_MOST 1024
#define JOB_STORAGE_MOST 2048
/* Addresses to which an external stream is sent, and the bytes of one and of its mask. */
#define JOB_OUTPUTS_MOST 5
#define JOB_OUTPUT_MOST 2048
/* Characters of the key of a live stream: 128 random bits in base64url. */
#define JOB_LIVE_KEY_SIZE 22

/* Numbers are stored: they never get another meaning. */
enum job_type { JOB_RECORDING, JOB_LIVE, JOB_EXTERNAL };
#define JOB_TYPES (JOB_EXTERNAL + 1)
extern const char *const job_type_names[JOB_TYPES];

enum job_status {
	JOB_STARTING,
	JOB_RUNNING,
	JOB_STOPPING,
	JOB_POST_PROCESSING,
	JOB_COMPLETED,
	JOB_FAILED
};
#define JOB_STATUSES (JOB_FAILED + 1)
extern const char *const job_status_names[JOB_STATUSES];

/* Why a job ends or has ended; JOB_GOES_ON while nothing has ended it. */
enum job_reason {
	JOB_GOES_ON,
	JOB_CLIENT_REQUEST,
	JOB_ROOM_ENDED,
	JOB_LAST_PEER_LEFT,
	JOB_MAX_DURATION,
	JOB_NO_SPACE,
	JOB_NO_RECORDER,
	JOB_MAX_RETRIES,
	JOB_UPLOAD_ERROR,
	JOB_BEAM_STOPPED,
	JOB_INTERNAL_ERROR
};
#define JOB_REASONS (JOB_INTERNAL_ERROR + 1)
/* As responses have it; empty for JOB_GOES_ON. "failure: NO_RECORDER" and so on. */
extern const char *const job_reason_names[JOB_REASONS];
/* Returns "NO_RECORDER" and so on; NULL if the reason is no failure. */
const char *job_failure_name(enum job_reason reason);

/* How far the recorder is with a job, in the order in which it goes on. */
enum work_state {
	WORK_OPENING,
	WORK_RUNNING,
	WORK_PAUSED,
	WORK_WAITING, /* nobody is inside */
	WORK_STOPPING,
	WORK_JOINING,
	WORK_SENDING,
	WORK_DONE,
	WORK_BROKEN
};
#define WORK_STATES (WORK_BROKEN + 1)
extern const char *const work_state_names[WORK_STATES];

/* How far an output of an external stream is; OUTPUT_FAILED is final. */
enum output_state { OUTPUT_CONNECTING, OUTPUT_LIVE, OUTPUT_FAILED };
#define OUTPUT_STATES (OUTPUT_FAILED + 1)
extern const char *const output_state_names[OUTPUT_STATES];

/* An address to which an external stream is sent. Its secret part is sealed with a key of the
 * account (resources/recordings/job_outputs.h), and erased when the job ends. */
struct job_output {
	struct slice url; /* masked */
	struct slice sealed; /* the whole address; empty once the job has ended */
	enum output_state state;
	int64_t since; /* of the state */
	struct slice error; /* the last one; without the secret part of any address */
};

/* What the picture shows, and how it is encoded. */
struct job_look {
	uint32_t width, height, fps;
	uint32_t video_kbps, audio_kbps;
	bool is_audio_only;
	struct slice roles; /* JSON array of the roles that are heard; empty: all */
	enum recording_consent consent;
	bool has_chat;
};

/* A pause, which is cut out of the file; `to` is 0 while it lasts. */
struct job_pause {
	int64_t from, to;
};

struct job {
	struct store_record stored; /* parent: the room */
	bool is_open; /* the switch: it has not ended */
	struct slice name; /* see above; job_begin sets it */

	/* ---- what whoever starts it sets, besides stored.parent (job_begin, job_merge.h) ---- */
	enum job_type type;
	struct id session, template_id;
	struct slice room_name, room_title; /* of the room at the start; the title may be empty */
	struct slice meeting_url, destination; /* may be empty */
	/* The peer who started it, and that person's name; empty if a program or the service did.
	 * And the actor as the event log names it (audit_caller_text). */
	struct slice started_by, started_name, start_actor;
	bool is_automatic; /* autoStart of a destination */
	bool is_test; /* ends after JOB_TEST_LASTS of media, and its assets are removed */
	struct job_look look;
	int64_t most; /* milliseconds of maxDuration */
	int64_t empty_most; /* milliseconds of autoStopTimeout */
	uint32_t presign_seconds;
	struct keep_rule keep; /* of its template, as it was last */
	struct slice not_enforced; /* a JSON array of names */
	/* Where its files belong: the id of the service's folder. If they go to object storage,
	 * that of the folder of whoever took it, which has the parts; empty before. */
	struct slice folder;
	struct slice storage; /* object storage (recordings/recording_storage.h), or empty */
	/* Of a live stream: the key in its address, and the segments of its playlist. */
	struct slice live_key;
	uint32_t live_window;
	/* Of streams: what is recorded along (job_makes_file). The former two of a live stream. */
	bool has_vod, has_single_file, has_recording;
	/* Of an external stream, in their order. */
	struct job_output *outputs;
	size_t output_count;

	/* ---- what job_merge sets ---- */
	enum job_status status;
	int64_t created, updated;
	int64_t started; /* of the first media; 0 before */
	int64_t stopped; /* when the end was asked for, then that of the last media; 0 before */
	int64_t ended; /* 0 while it is open */
	struct slice stopped_by; /* peer, or empty */
	struct slice stop_actor; /* as start_actor; empty if the service did it by itself */
	enum job_reason asked_reason; /* of the end that somebody or something asked for */
	enum job_reason reason; /* of the end, as it is shown */
	struct slice error;
	bool wants_pause; /* the member `paused` */
	bool shows_pause; /* what people are told: it is true at the recorder */
	int64_t asked; /* when the pause, or the stop, was asked for; 0 once it is true */
	bool removes; /* its participant is to be removed, because no report said so in time */
	int64_t interrupted; /* since when nothing is recorded that should be; 0 if that is not so */
	/* The holder, or the last one: its name and its boot, empty if nobody took it yet; what it
	 * said last in this epoch. */
	uint32_t epoch; /* one more with each taker; 0 before the first */
	uint32_t rev; /* grows when the order changes */
	struct slice recorder, boot;
	enum work_state heard;
	uint64_t heard_n; /* the number of that report */
	uint32_t part;
	uint64_t recorded; /* milliseconds, of this epoch */
	int64_t media; /* time of the last media; 0 if there is none */
	int64_t grown; /* when `recorded` grew, by our clock; or when it was to begin to */
	uint32_t gap_count; /* gaps that the holder reported in this epoch */
	int64_t lost; /* since when nobody holds it though it is open; 0 if that is not so */
	int64_t joining; /* since when it is post_processing */
	int64_t emptied; /* since when nobody is inside; 0 while somebody is */
	/* Of the former epochs. */
	uint64_t recorded_before;
	uint32_t parts_before;
	uint32_t resumes;
	bool was_started; /* beam.started.success was noted, so that there is one of it */
	bool is_saved; /* completed after it had failed */
	bool has_room; /* of a test: its room was made at the media server */
	uint32_t cleared; /* the participants up to this epoch are removed from the room */
	uint64_t asset_count;
	uint64_t asset_bytes;
	struct job_pause *pauses; /* oldest first, the last JOB_PAUSES_MOST */
	size_t pause_count;
};
/* Milliseconds of media after which a test ends. */
#define JOB_TEST_LASTS 10000

/* What lies between the parts of a file: at a time from its start, what is missing. */
struct asset_gap {
	uint64_t at, missing; /* milliseconds */
};

enum asset_type { ASSET_ROOM_COMPOSITE, ASSET_CHAT };
#define ASSET_TYPES (ASSET_CHAT + 1)
extern const char *const asset_type_names[ASSET_TYPES];

struct asset {
	struct store_record stored; /* parent: the job */
	struct id room, session, template_id;
	enum asset_type type;
	bool is_missing; /* its file was not found */
	struct slice path; /* relative to the folder; the name of the object in a storage */
	struct slice folder; /* the id of the folder; empty if it is in a storage */
	struct slice storage; /* of its job: object storage, or empty */
	struct slice title; /* of the room, or its name: for the name of a download */
	int64_t created;
	int64_t recorded_at; /* when what it shows began, for the name of a download */
	uint64_t size; /* bytes */
	uint64_t duration; /* milliseconds */
	uint32_t width, height; /* 0 for sound alone and for chat */
	uint32_t presign_seconds; /* of its job */
	struct asset_gap *gaps;
	size_t gap_count;
};

/* What the jobs of an account are: one record. */
struct jobs {
	struct store_record stored;
	uint64_t open; /* that have not ended */
	uint64_t running; /* from starting to stopping */
	uint64_t waiting; /* that no recorder has taken yet */
	uint64_t counts[JOB_TYPES][JOB_COMPLETED]; /* open ones by type and status */
	uint64_t bytes; /* of all assets */
	uint64_t missing; /* assets whose file was not found */
};

extern const struct record_table job_table, asset_table, jobs_table;

/* Most jobs that have not ended, of a room and of an account. */
#define JOBS_OF_ROOM_MOST 20
#define JOBS_OF_ACCOUNT_MOST 1000

/* What a role needs, besides the powers of a moderator, to start jobs of a type. */
extern const char *const job_permissions[JOB_TYPES];
/* Returns true if the job makes a file: a recording, or a stream that is recorded along. */
bool job_makes_file(const struct job *job);
/* Returns the name under which a job of this type holds the room: "recording:<room>". */
struct slice job_holding_name(struct arena *arena, enum job_type type, const struct id *room);
/* True from JOB_STARTING to JOB_STOPPING: it is carried out. */
bool job_is_carried_out(const struct job *job);
/* What people are told: the state of a recording as it is true (people_see). */
enum job_sight { SEES_NOTHING, SEES_STARTING, SEES_RUNNING, SEES_PAUSED, SEES_INTERRUPTED };
#define JOB_SIGHTS (SEES_INTERRUPTED + 1)
/* "starting" and so on; empty for SEES_NOTHING. */
extern const char *const job_sight_names[JOB_SIGHTS];
/* Returns what people see of a job; *since is the time since when. */
enum job_sight job_people_see(const struct job *job, int64_t *since);

/* Returns what was recorded in all, in milliseconds; and the number of gaps. */
uint64_t job_recorded(const struct job *job);
uint32_t job_gaps(const struct job *job);

/* Milliseconds after the end of a job for which a recorder may bring back what was lost. */
#define JOB_SAVED_FOR (7 * 24 * 60 * 60 * (int64_t)1000)
/* True if files in the folder belong to the job though they have no records: it has not ended, or
 * they are still to be sent to its storage, or were sent and are about to be erased. */
bool job_has_unfinished_files(const struct job *job, int64_t now);

/* stored.value.data is NULL if there is no such job. */
bool job_load(struct call *call, const struct id *id, enum store_reading reading, struct job *job,
	      struct fault *fault);
/* Finds the job that holds the room: a recording or a live stream, from starting to stopping. */
bool job_find_holding(struct call *call, enum job_type type, const struct id *room,
		      enum store_reading reading, struct job *job, struct fault *fault);
/* Reads the open jobs of a room, oldest first, at most JOBS_OF_ROOM_MOST, into the arena. */
bool jobs_of_room(struct call *call, const struct id *room, struct job **jobs, size_t *n,
		  struct fault *fault);
bool job_put(struct call *call, struct job *job, struct fault *fault);

/* Announces that the assets of these jobs are read next, so that a database needs one round trip
 * for all of them. */
void assets_expect(struct call *call, const struct job *jobs, size_t n);
/* Reads the assets of a job, oldest first, at most JOB_FILES_MOST; they live in the arena. */
bool assets_of_job(struct call *call, const struct id *job, struct asset **assets, size_t *n,
		   struct fault *fault);
/* Stores a new asset, with an id of its own, and counts it in `job`, which the caller has read to
 * change and puts; and in its session, and in the account's bytes. */
bool asset_add(struct call *call, struct job *job, struct asset *asset, struct fault *fault);
/* Removes an asset that was read to change, and counts it no more. Its file is the caller's. */
bool asset_remove(struct call *call, const struct asset *asset, struct fault *fault);

/* Notes whether the file of an asset, read to change, was found. */
bool asset_set_missing(struct call *call, struct asset *asset, bool is_missing,
		       struct fault *fault);
/* Counts an asset in its session and in the numbers of the account, or no more. */
bool asset_count_elsewhere(struct call *call, const struct asset *asset, bool comes,
			   struct fault *fault);

bool jobs_load(struct call *call, enum store_reading reading, struct jobs *jobs,
	       struct fault *fault);

#endif
