/* Recorders, and which of them does which work, as they are stored. Both belong to no account: one
 * recorder may carry out jobs of several.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_RECORDER_RECORD_H
#define RESOURCES_STORED_RECORDER_RECORD_H

#include "records/record.h"
#include "resources/call.h"
#include "resources/stored/job_record.h"

/* A recorder that has reported at least once. Its id follows from its name (recorder_id). */
struct recorder {
	struct store_record stored;
	struct slice name;
	struct slice boot; /* of the process that reported last */
	uint64_t heard; /* the highest number of its reports */
	int64_t first_seen, seen; /* its first report, and the last one that was stored */
	bool is_old; /* its last report had another version */
	struct slice folder; /* the id of its folder */
	uint32_t slots, filled; /* works that fill a slot: from opening to stopping */
	uint32_t works;
	uint64_t free_bytes, total_bytes;
	uint32_t busy; /* thousandths of its processor time */
	bool has_ended; /* its last report said so: the name is free */
};

/* What is to be done by a recorder: one for each job that has not ended. Its id is work_id. Its
 * parent says where it is found: the recorder that holds it; or, while it waits for one, one of the
 * queues below. The record ends (`due`) when the service must look at the job again; it is not
 * swept. */
struct work {
	struct store_record stored;
	struct id parent;
	int64_t due; /* milliseconds since 1970 */
	struct id account, job;
	int64_t created; /* of the job */
	int64_t lease; /* until when its holder has it; 0 if nobody does */
	struct slice broke_at; /* the recorder on which it broke last; may be empty */
};

extern const struct record_table recorder_table, work_table;

struct id recorder_id(struct slice name);
struct id work_id(int64_t created, const struct id *account, const struct id *job);
/* The queues: of works that any recorder may take, at most one of an account (the id zero); of
 * further works of the account; of works whose parts lie in a folder. */
extern const struct id work_queue;
struct id work_queue_of_account(const struct id *account);
struct id work_queue_of_folder(struct slice folder);

/* The functions below leave the account of the transaction as it was. */

bool recorder_load(struct call *call, struct slice name, enum store_reading reading,
		   struct recorder *recorder, struct fault *fault);
bool recorder_put(struct call *call, const struct recorder *recorder, struct fault *fault);
/* Reads all recorders, in the order of their ids; they live in the arena. */
bool recorders_read(struct call *call, struct recorder **recorders, size_t *n, struct fault *fault);

/* Loads the work of a job of the transaction's account. */
bool work_load(struct call *call, const struct job *job, enum store_reading reading,
	       struct work *work, struct fault *fault);
bool work_put(struct call *call, struct work *work, struct fault *fault);
/* Removes a work; lets the next one of its account into the queue. */
bool work_remove(struct call *call, const struct work *work, struct fault *fault);
/* Stores a work that nobody holds in the queue in which it belongs. */
bool work_queue_put(struct call *call, struct work *work, const struct job *job,
		    struct fault *fault);
/* Gives a queued work to a recorder, and lets the next work of its account into the queue. */
bool work_give(struct call *call, struct work *work, const struct id *recorder,
	       struct fault *fault);
/* Reads works with this parent, the oldest first, at most `most`, into an array of the arena. */
bool works_read(struct call *call, const struct id *parent, size_t most, struct work **works,
		size_t *n, struct fault *fault);
/* Reads works that are due at `now`, the earliest first. */
bool works_due(struct call *call, int64_t now, size_t most, struct work **works, size_t *n,
	       bool *is_last, struct fault *fault);

#endif
