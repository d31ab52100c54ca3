/* Object storage for the files of recordings: the `upload_info` of the room, or the `upload` of its
 * template (anteroom-api(7), RECORDINGS).
 *
 * A job keeps at its start where its files go, without the credentials. Those are the ones that the
 * room, its template or the job's template has whenever a request is signed, if they are for the
 * same place: so credentials can be exchanged, and are nowhere twice. Only the note of an object
 * that is to be deleted has its own, because it outlives them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_RECORDINGS_RECORDING_STORAGE_H
#define RESOURCES_RECORDINGS_RECORDING_STORAGE_H

#include "delivery/bucket.h"
#include "resources/recordings/job_merge.h"
#include "resources/stored/gone_file.h"
#include "resources/stored/room_record.h"

/* Returns the storage that counts for recordings of the room; NULL if it is the folder of the
 * service. With its credentials, borrowed. */
const json_t *storage_of_room(struct call *call, const struct room_record *room,
			      const struct template_record *template);
/* Returns what a job keeps of it. */
struct slice storage_kept(struct call *call, const json_t *upload);
/* Returns NULL if files can go there, else what is wrong. */
const char *storage_problem(const struct call *call, const json_t *upload);
/* Sets the bucket of a storage that has its credentials. Returns false if storage_problem says
 * so. */
bool storage_read(const struct call *call, const json_t *upload, struct bucket *bucket);

/* Finds the bucket of a stored place, with the credentials of now. *is_there: false if nobody has
 * them any more. */
bool storage_find(struct call *call, struct slice storage, const struct id *room,
		  const struct id *template_id, struct bucket *bucket, bool *is_there,
		  struct fault *fault);
bool storage_find_of_asset(struct call *call, const struct asset *asset, struct bucket *bucket,
			   bool *is_there, struct fault *fault);

/* Returns the name of an object of the job: [PREFIX/]ACCOUNT/ROOM/JOB/NAME. */
struct slice storage_object(struct call *call, const struct job *job, struct slice name);
/* Returns s3://BUCKET/OBJECT. */
struct slice storage_path_text(struct arena *arena, struct slice storage, struct slice object);
/* The type of a file, and the value of Content-Disposition: the title or the name of the room, and
 * the date. */
const char *asset_type_of_file(const struct asset *asset);
struct slice asset_name_of_file(struct arena *arena, const struct asset *asset, bool is_inline);

/* Notes that the file of an asset is to be deleted, wherever it is. */
bool recording_file_gone(struct call *call, const struct asset *asset, enum gone_cause cause,
			 struct fault *fault);
/* Builds the request that deletes an object. Returns false if its credentials were gone. */
struct server_request;
bool storage_delete_request(struct call *call, const struct gone_file *file,
			    struct server_request *request);

/* POST /v2/templates/{template_id}/settings/test: stores and deletes an empty object. */
handler storage_test, storage_settle_test;

#endif
