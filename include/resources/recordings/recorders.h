/* Recorders: programs that make recordings (anteroom record), each with a key (accounts/roster.h).
 * They report every second or two; what they reported last is in the memory of each process, and in
 * a record of each, which is at most RECORDERS_STORED_EVERY old.
 *
 * Threads: any; the lock is held only for a look-up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDERS_H
#define RESOURCES_RECORDINGS_RECORDERS_H

#include "accounts/accounts.h"
#include "base/histogram.h"
#include "resources/reads.h"
#include "resources/stored/recorder_record.h"

/* Milliseconds. */
#define RECORDERS_STORED_EVERY 5000
/* A recorder takes nothing if its folder has less free space than both. */
#define RECORDER_FREE_LEAST ((uint64_t)2 << 30)
#define RECORDER_FREE_PERCENT 5
/* Nor if it is busier, in thousandths. */
#define RECORDER_BUSY_MOST 850
/* The version of the reports, and the largest one in bytes. */
#define RECORDER_VERSION 1
#define RECORDER_REPORT_MOST ((size_t)64 << 10)

struct recorders;

struct recorders *recorders_open(void);
void recorders_close(struct recorders *recorders);

/* Notes what a recorder has reported. NULL is allowed. */
void recorders_note(struct recorders *recorders, const struct recorder *reported);
/* Replaces what a record says by what is known in memory, if that is newer. NULL is allowed. */
void recorders_refresh(struct recorders *recorders, struct arena *arena, struct recorder *recorder);

/* What this process has counted, for /metrics. Other members are set by the watch of recordings. */
#define JOB_FAILURES (JOB_REASONS - JOB_NO_RECORDER)
struct recording_figures {
	uint64_t jobs[JOB_TYPES][JOB_COMPLETED]; /* open ones, by type and status */
	uint64_t bytes, missing; /* of all files; files that were not found */
	uint64_t free_bytes; /* of the service's folder, as its recorders see it; 0: unknown */
	uint64_t recorded; /* milliseconds, of this process */
	uint64_t failed[JOB_FAILURES]; /* that never ran, by reason from JOB_NO_RECORDER on */
	struct histogram_state first_media;
};
void recorders_figures(struct recorders *recorders, struct recording_figures *figures);
/* Count what was recorded; a start that failed; how long the first media took, in milliseconds.
 * NULL is allowed. */
void recorders_count_recorded(struct recorders *recorders, uint64_t milliseconds);
void recorders_count_failed(struct recorders *recorders, enum job_reason reason);
void recorders_count_started(struct recorders *recorders, int64_t milliseconds);
/* Set what was found in all accounts. */
void recorders_set_figures(struct recorders *recorders, const struct recording_figures *found);

/* The key of a recorder that reports, in two steps, both of which fail with 401: its form, and
 * whether it is right. The second follows after something was read, so that keys that another
 * machine has made or removed are known. */
bool recorder_read_key(struct call *call, struct slice name, unsigned char digest[DIGEST_SIZE],
		       struct fault *fault);
bool recorder_check_key(struct call *call, struct slice name,
			const unsigned char digest[DIGEST_SIZE], struct recorder_key *key,
			struct fault *fault);

/* True if there is a recorder, for whatever account. */
read_when recorders_exist;
/* Returns true if the key of a recorder may serve the account. */
bool recorders_serve_account(const struct call *call);
/* Reads the recorders that have a key and may serve the account, with what was reported last. */
bool recorders_of_account(struct call *call, struct recorder **recorders, size_t *n,
			  struct fault *fault);

enum recorder_state {
	RECORDER_FREE,
	RECORDER_BUSY,
	RECORDER_FULL,
	RECORDER_DRAINING,
	RECORDER_LOST
};
#define RECORDER_STATES (RECORDER_LOST + 1)
extern const char *const recorder_state_names[RECORDER_STATES];
enum recorder_state recorder_state_now(const struct recorder *recorder, int64_t lease, int64_t now);
/* True if it has space for another recording. */
bool recorder_has_space(uint64_t free_bytes, uint64_t total_bytes);

/* The last checks of a start: 409 `No recorder is installed`, 503 `Not enough space for
 * recordings`. job: with its folder. */
bool recorders_check_start(struct call *call, const struct job *job, struct fault *fault);
/* Sets *can to true if one of them would take the job now. */
bool recorders_can_take(struct call *call, const struct job *job, bool *can, struct fault *fault);

/* GET /v2/recorders. */
handler recorders_list;
/* POST /v2/recorders/{recorder_name}/report (job_report.c). */
handler job_report;

#endif
