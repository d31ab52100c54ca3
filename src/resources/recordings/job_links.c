/* See resources/recordings/job_links.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/recordings/job_links.h"

#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/recordings/recording_files.h"
#include "resources/stored/job_record.h"

bool job_event_has_links(struct slice type)
{
	return slice_is(type, "beam.recording.success") || slice_is(type, "hls.recording.success");
}

/* The file of a live stream is in a list. */
static struct slice live_linked(struct arena *arena, const json_t *data, const struct slice *links)
{
	json_t *linked = arena_json(arena, json_deep_copy(data));
	json_t *file = json_array_get(json_object_get(linked, "recording_single_files"), 0);

	if (file != NULL)
		object_put(file, "recording_presigned_url",
			   json_of_text(links[ASSET_ROOM_COMPOSITE]));
	object_put(linked, "hls_vod_recording_presigned_url", json_of_text(SLICE("")));
	object_put(linked, "chat_recording_presigned_url", json_of_text(links[ASSET_CHAT]));
	return json_as_text(arena, linked);
}

bool job_event_links(struct call *call, struct slice type, struct slice data, struct slice *linked,
		     struct fault *fault)
{
	struct slice links[ASSET_TYPES] = { SLICE(""), SLICE("") };
	struct buffer text = BUFFER_INITIAL(call->arena);
	struct json_writer added;
	struct slice members;
	struct asset asset;
	const json_t *read;
	struct id id;

	*linked = data;
	if (!job_event_has_links(type))
		return true;
	/* If the data cannot be read, whoever sends it reports it. */
	read = json_text_read_stored(call->arena, data, NULL);
	if (read == NULL || data.size < 2)
		return true;
	if (call->environment->public_url != NULL &&
	    id_parse(text_of_json(json_object_get(read, "recording_id")), &id)) {
		if (!record_get(&asset_table, call->transaction, &id, STORE_TO_SHOW, &asset, fault))
			return false;
		if (asset.stored.value.data != NULL &&
		    !recording_link(call, &asset, asset.presign_seconds, false, &links[asset.type],
				    fault))
			return false;
		/* Nobody has the credentials any more. */
		if (links[asset.type].data == NULL)
			links[asset.type] = SLICE("");
	}
	if (slice_is(type, "hls.recording.success")) {
		*linked = live_linked(call->arena, read, links);
		return true;
	}
	added = writer_begin(call->arena, false);
	writer_text(&added, "recording_presigned_url", links[ASSET_ROOM_COMPOSITE]);
	writer_text(&added, "chat_recording_presigned_url", links[ASSET_CHAT]);
	members = writer_end(&added);
	buffer_append(&text, (struct slice){ data.data, data.size - 1 });
	buffer_append_byte(&text, ',');
	buffer_append(&text, (struct slice){ members.data + 1, members.size - 1 });
	*linked = buffer_slice(&text);
	return true;
}
