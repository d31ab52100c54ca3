/* See resources/recordings/recording_storage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/recording_storage.h"

#include <string.h>

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/asking.h"
#include "resources/file_name.h"
#include "resources/misses.h"
#include "resources/stored.h"
#include "resources/templates/template_parts.h"

/* Bytes of `prefix`: the rest of a name is three ids and the name of a file. */
#define PREFIX_MOST 512
/* Characters of a date. */
#define DATE_SIZE 10
/* The steps of a test. */
#define STEP_DELETE 1

static const char *const vendor_names[] = {
	[BUCKET_S3] = "s3",
	[BUCKET_GS] = "gs",
	[BUCKET_OSS] = "oss",
};
#define VENDORS (sizeof vendor_names / sizeof vendor_names[0])

/* ---- the place ---- */

static struct slice text_member(const json_t *object, const char *name)
{
	const struct slice text = text_of_json(json_object_get(object, name));

	return text.data == NULL ? SLICE("") : text;
}

/* Returns the upload of a room; NULL if it has none of its own. */
static const json_t *upload_of_room(struct call *call, const struct room_record *room)
{
	return room->follows_template || room->recording.size == 0
		       ? NULL
		       : json_object_get(
				 json_object_get(room_document(call, room), "recording_info"),
				 "upload_info");
}

static const json_t *upload_of_template(struct call *call, const struct template_record *template)
{
	return json_object_get(
		json_object_get(template_part_document(call, template, PART_SETTINGS), "recording"),
		"upload");
}

const json_t *storage_of_room(struct call *call, const struct room_record *room,
			      const struct template_record *template)
{
	const json_t *upload = upload_of_room(call, room);

	return upload != NULL ? upload : upload_of_template(call, template);
}

struct slice storage_kept(struct call *call, const json_t *upload)
{
	static const char *const kept[] = { "type", "location", "prefix", "options" };
	struct json_writer body = writer_begin(call->arena, false);

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		const json_t *value = json_object_get(upload, kept[i]);

		if (value != NULL)
			writer_value(&body, kept[i], value);
	}
	return writer_end(&body);
}

/* Returns the prefix without slashes around it. */
static struct slice storage_prefix(const json_t *upload)
{
	return text_trim(text_member(upload, "prefix"), "/");
}

/* Browsers and programs shorten names with . and .. before they send them. */
static bool prefix_is_right(struct slice prefix)
{
	if (prefix.size > PREFIX_MOST || text_has_controls(prefix))
		return false;
	for (struct slice rest = prefix; prefix.size > 0 && rest.data != NULL;) {
		const struct slice part = text_split(rest, '/', &rest);

		if (part.size == 0 || slice_is(part, ".") || slice_is(part, ".."))
			return false;
	}
	return true;
}

/* Returns false if the type is none that can be used. */
static bool bucket_of(const json_t *upload, struct bucket *bucket)
{
	const struct slice type = text_member(upload, "type");
	const json_t *options = json_object_get(upload, "options");
	const json_t *credentials = json_object_get(upload, "credentials");
	size_t vendor = 0;

	while (vendor < VENDORS && !slice_is(type, vendor_names[vendor]))
		vendor++;
	if (vendor == VENDORS)
		return false;
	*bucket = (struct bucket){
		.vendor = (enum bucket_vendor)vendor,
		.name = text_member(upload, "location"),
		.endpoint = text_member(options, "endpoint"),
		.region = text_member(options, "region"),
		.key = text_member(credentials, "key"),
		/* As rooms call it, or as templates do. */
		.secret = text_member(credentials, "secret"),
	};
	if (bucket->secret.size == 0)
		bucket->secret = text_member(credentials, "secretKey");
	return true;
}

const char *storage_problem(const struct call *call, const json_t *upload)
{
	struct bucket bucket;
	const char *problem;

	if (!bucket_of(upload, &bucket))
		return arena_text(
			call->arena, "type: only s3, gs and oss can be used, got \"%.*s\"",
			(int)text_member(upload, "type").size, text_member(upload, "type").data);
	problem = bucket_problem(&bucket);
	if (problem != NULL)
		return problem;
	if (bucket.endpoint.size > 0 && slice_begins(bucket.endpoint, SLICE("http://")) &&
	    !call->environment->uploads_in_clear)
		return "options.endpoint: http needs the address of the server in serve "
		       "--upload-allow";
	if (!prefix_is_right(storage_prefix(upload)))
		return "prefix has an empty part, . or .., or is too long";
	return bucket.key.size == 0 || bucket.secret.size == 0 ? "credentials: are not set" : NULL;
}

bool storage_read(const struct call *call, const json_t *upload, struct bucket *bucket)
{
	return storage_problem(call, upload) == NULL && bucket_of(upload, bucket);
}

static const json_t *storage_json(struct call *call, struct slice storage)
{
	return stored_json(call, storage, "storage", &kind_only_id);
}

/* Sets the bucket if this upload is for the stored place. */
static bool has_credentials(struct call *call, const json_t *stored, const json_t *upload,
			    struct bucket *bucket)
{
	return upload != NULL && upload_is_same(stored, upload) &&
	       storage_read(call, upload, bucket);
}

static bool find_in_template(struct call *call, const json_t *stored, const struct id *id,
			     struct bucket *bucket, bool *is_there, struct fault *fault)
{
	struct template_record template;

	if (!template_find(call, id, STORE_TO_SHOW, &template, is_there, fault))
		return false;
	*is_there = *is_there &&
		    has_credentials(call, stored, upload_of_template(call, &template), bucket);
	return true;
}

bool storage_find(struct call *call, struct slice storage, const struct id *room_id,
		  const struct id *template_id, struct bucket *bucket, bool *is_there,
		  struct fault *fault)
{
	const json_t *stored = storage_json(call, storage);
	struct room_record room;
	bool has_room;

	*is_there = false;
	if (!room_find(call, room_id, STORE_TO_SHOW, &room, &has_room, fault))
		return false;
	if (has_room && has_credentials(call, stored, upload_of_room(call, &room), bucket)) {
		*is_there = true;
		return true;
	}
	if (has_room && !find_in_template(call, stored, &room.template_id, bucket, is_there, fault))
		return false;
	/* The room may be gone, or have another template now. */
	return *is_there || (has_room && id_compare(&room.template_id, template_id) == 0) ||
	       find_in_template(call, stored, template_id, bucket, is_there, fault);
}

bool storage_find_of_asset(struct call *call, const struct asset *asset, struct bucket *bucket,
			   bool *is_there, struct fault *fault)
{
	struct job job;

	*is_there = false;
	return job_load(call, &asset->stored.parent, STORE_TO_SHOW, &job, fault) &&
	       (job.stored.value.data == NULL ||
		storage_find(call, asset->storage, &asset->room, &job.template_id, bucket, is_there,
			     fault));
}

/* ---- names ---- */

struct slice storage_object(struct call *call, const struct job *job, struct slice name)
{
	const struct slice prefix = storage_prefix(storage_json(call, job->storage));
	struct buffer object = BUFFER_INITIAL(call->arena);

	buffer_append(&object, prefix);
	if (prefix.size > 0)
		buffer_append_byte(&object, '/');
	buffer_append(&object, job_file_path(call, job, name));
	return buffer_slice(&object);
}

struct slice storage_path_text(struct arena *arena, struct slice storage, struct slice object)
{
	struct buffer path = BUFFER_INITIAL(arena);

	buffer_append_text(&path, "s3://");
	buffer_append(&path, text_member(json_text_read_stored(arena, storage, NULL), "location"));
	buffer_append_byte(&path, '/');
	buffer_append(&path, object);
	return buffer_slice(&path);
}

const char *asset_type_of_file(const struct asset *asset)
{
	return asset->type == ASSET_CHAT ? "text/csv; charset=utf-8" : "video/mp4";
}

struct slice asset_name_of_file(struct arena *arena, const struct asset *asset, bool is_inline)
{
	char day[TEXT_TIME_SIZE];
	const struct file_name file = {
		.before = asset->type == ASSET_CHAT ? "chat " : "",
		.name = asset->title.size > 0 ? text_without_bidi(arena, asset->title)
					      : SLICE("recording"),
		.day = { day, DATE_SIZE },
		.suffix = asset->type == ASSET_CHAT ? ".csv" : ".mp4",
		.is_inline = is_inline,
	};

	text_time_seconds(asset->recorded_at, day);
	return file_name_header(arena, &file);
}

/* ---- deleting ---- */

bool recording_file_gone(struct call *call, const struct asset *asset, enum gone_cause cause,
			 struct fault *fault)
{
	struct slice storage = asset->storage;
	struct bucket bucket;
	json_t *kept;
	bool is_there;

	if (storage.size == 0)
		return gone_file_add_asset(call, asset, SLICE(""), cause, fault);
	if (!storage_find_of_asset(call, asset, &bucket, &is_there, fault))
		return false;
	if (is_there) {
		kept = arena_json(call->arena, json_deep_copy(storage_json(call, storage)));
		object_put(kept, "options",
			   json_pack("{s:o, s:o}", "region", json_of_text(bucket.region),
				     "endpoint", json_of_text(bucket.endpoint)));
		object_put(kept, "credentials",
			   json_pack("{s:o, s:o}", "key", json_of_text(bucket.key), "secret",
				     json_of_text(bucket.secret)));
		storage = json_as_text(call->arena, kept);
	}
	return gone_file_add_asset(call, asset, storage, cause, fault);
}

bool storage_delete_request(struct call *call, const struct gone_file *file,
			    struct server_request *request)
{
	struct bucket bucket;

	if (!storage_read(call, storage_json(call, file->storage), &bucket))
		return false;
	*request = (struct server_request){ .method = SENDER_DELETE,
					    .is_to_storage = true,
					    .answer_most = BUCKET_ANSWER_MOST };
	bucket_request(call->arena, &bucket, "DELETE", file->path, call->now / 1000, &request->url,
		       &request->headers);
	return true;
}

/* ---- the test of a template's storage ---- */

/* Nobody else has an object of this name: it is that of the request. */
static void ask_storage(struct call *call, struct asking *asking, const struct bucket *bucket,
			struct slice prefix, const char *method)
{
	struct server_request *request = &asking->asked[0].request;
	const char *object = arena_text(call->arena, "%.*s%s%s/anteroom-test", (int)prefix.size,
					prefix.data, prefix.size > 0 ? "/" : "",
					id_as_text(call->arena, &call->template->id).data);

	*request = (struct server_request){
		.method = strcmp(method, "PUT") == 0 ? SENDER_PUT : SENDER_DELETE,
		.is_to_storage = true,
		.answer_most = BUCKET_ANSWER_MOST,
	};
	bucket_request(call->arena, bucket, method, slice_of(object), call->now / 1000,
		       &request->url, &request->headers);
}

static bool answer_test(struct call *call, const char *message)
{
	struct json_writer answer = writer_begin(call->arena, false);

	writer_plain(&answer, "state", message[0] == '\0' ? SLICE("up") : SLICE("down"));
	writer_text(&answer, "message", slice_of(message));
	return call_answer(call, writer_end(&answer));
}

bool storage_test(struct call *call, struct fault *fault)
{
	const json_t *upload = upload_of_template(call, call->template);
	const char *problem = upload == NULL ? NULL : storage_problem(call, upload);
	struct bucket bucket;

	if (upload == NULL)
		return fault_explain(fault, FAULT_CONFLICT, "No storage for recordings",
				     "the template has no settings.recording.upload");
	if (problem != NULL)
		return fault_explain(fault, FAULT_CONFLICT,
				     "This storage cannot be used for recordings", "%s", problem);
	if (!call_can_ask(call, fault) ||
	    !misses_count_test(call, &call->template->id, "the template got", fault) ||
	    !bucket_of(upload, &bucket))
		return false;
	ask_storage(call, call_ask(call, &kind_only_id, 1), &bucket, storage_prefix(upload), "PUT");
	return true;
}

bool storage_settle_test(struct call *call, struct fault *fault)
{
	const struct asked *asked = &call->asking->asked[0];
	char message[BUCKET_ERROR_SIZE];
	struct asking *asking;
	struct bucket bucket;
	const json_t *upload;

	if (!asked_has_outcome(asked, fault))
		return false;
	bucket_read_outcome(&asked->outcome, call->now / 1000, message);
	if (call->asking->step == STEP_DELETE)
		return answer_test(call,
				   message[0] == '\0' || asked->outcome.status == 404
					   ? ""
					   : arena_text(call->arena,
							"What was stored could not be deleted. %s",
							message));
	upload = upload_of_template(call, call->template);
	if (message[0] != '\0')
		return answer_test(call, message);
	if (upload == NULL || !storage_read(call, upload, &bucket))
		return answer_test(call, "The settings have changed meanwhile.");
	asking = call_ask(call, &kind_only_id, 1);
	asking->step = STEP_DELETE;
	ask_storage(call, asking, &bucket, storage_prefix(upload), "DELETE");
	return true;
}
