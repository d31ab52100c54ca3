/* Files and objects that are to be deleted, as they are stored. A call, or what removes an asset,
 * notes the file in its transaction; background/file_watch.c deletes it afterwards, and tries again
 * as long as it cannot. The records belong to no account, because they outlive it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_GONE_FILE_H
#define RESOURCES_STORED_GONE_FILE_H

#include "resources/stored/job_record.h"

/* Numbers are stored: they never get another meaning. */
enum gone_cause { GONE_BY_REQUEST, GONE_BY_RETENTION, GONE_WITH_ACCOUNT, GONE_AS_ORPHAN };
#define GONE_STORAGE_MOST 16384
#define GONE_CAUSES (GONE_AS_ORPHAN + 1)
extern const char *const gone_cause_names[GONE_CAUSES];

struct gone_file {
	struct store_record stored; /* the id follows from the folder and the path */
	int64_t due; /* when to try, in milliseconds since 1970; 0 in a new one: at once */
	enum gone_cause cause;
	bool is_folder; /* a folder of parts or of a live stream, with all that is in it */
	struct id account, room, job;
	struct id asset; /* zero if there was no record of the file */
	struct slice folder; /* the id of the folder of recordings; empty with `storage` */
	struct slice path; /* in it, or the name of an object */
	/* The storage of an object, with its credentials, which outlive whatever had them
	 * (recordings/recording_storage.h); or empty. */
	struct slice storage;
	uint64_t size; /* bytes */
};

extern const struct record_table gone_file_table;

/* The functions below leave the account of the transaction as it was. */

/* Notes that the file of an asset is to be deleted. storage: as above. */
bool gone_file_add_asset(struct call *call, const struct asset *asset, struct slice storage,
			 enum gone_cause cause, struct fault *fault);
/* Notes the same for what is at the path, of the call's account; the earlier time counts. */
bool gone_file_add(struct call *call, const struct gone_file *file, struct fault *fault);
/* Notes that the parts of a job are to be deleted, and what can be seen of a live stream. */
bool gone_file_add_parts(struct call *call, const struct job *job, enum gone_cause cause,
			 struct fault *fault);
/* Notes that what can be seen of a live stream is to be deleted at `due`. */
bool gone_file_add_live(struct call *call, const struct job *job, enum gone_cause cause,
			int64_t due, struct fault *fault);
/* Reads files that are due, at most `most`; they live in the arena. */
bool gone_files_due(struct call *call, size_t most, struct gone_file **files, size_t *n,
		    struct fault *fault);
/* Removes the note, or has the file tried again at `due`. *is_there: another process may have
 * removed it. */
bool gone_file_remove(struct call *call, const struct gone_file *file, bool *is_there,
		      struct fault *fault);
bool gone_file_delay(struct call *call, const struct gone_file *file, int64_t due,
		     struct fault *fault);

#endif
