/* The keys of an account of a dump: see transfer/transfer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/access/keys.h"
#include "transfer/transfer_parts.h"

/* An id is unique among the keys of all accounts. */
static bool check_id(struct transfer_input *input, const struct api_keys *keys,
		     const struct api_key *key, const char *pointer, struct fault *fault)
{
	struct call *call = &input->call;
	struct api_key other;
	char id[ID_TEXT_SIZE + 1];
	bool is_there;

	if (id_compare(&key->id, &keys->newest) <= 0)
		findings_add(&call->findings, pointer,
			     "must be younger than that of the one before");
	id_print(&key->id, id);
	if (!api_key_find(call->transaction, slice_of(id), STORE_TO_SHOW, &other, &is_there, fault))
		return false;
	if (is_there && id_compare(&key->id, &keys->newest) > 0)
		findings_add(&call->findings, pointer, "is that of another key");
	return true;
}

static bool read_key(struct transfer_input *input, const json_t *object, const char *pointer,
		     struct api_keys *keys, struct fault *fault)
{
	struct call *call = &input->call;
	struct api_key key = {
		.id = transfer_id(object, "id"),
		.created = transfer_time(input, pointer, object, "created_at"),
	};
	struct slice digest;

	key_set(&key, json_object_get(object, "document"));
	if (text_base64url_decode(call->arena, transfer_text(object, "digest"), &digest))
		memcpy(key.digest, digest.data, DIGEST_SIZE);
	else
		findings_add(&call->findings, arena_text(call->arena, "%s/digest", pointer),
			     "must be base64url");
	if (!check_id(input, keys, &key, arena_text(call->arena, "%s/id", pointer), fault) ||
	    !findings_result(&call->findings, fault))
		return false;
	api_keys_count_added(keys, &key);
	return api_key_put(call, &key, fault);
}

bool transfer_read_keys(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *list = json_object_get(object, "keys");
	struct api_keys keys;

	if (!api_keys_load(call, STORE_TO_CHANGE, &keys, fault))
		return false;
	if (json_array_size(list) > API_KEYS_MOST)
		findings_add(&call->findings, "/keys/keys", "must have at most %d items",
			     API_KEYS_MOST);
	if (!findings_result(&call->findings, fault))
		return false;
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!read_key(input, json_array_get(list, i),
			      arena_text(call->arena, "/keys/keys/%zu", i), &keys, fault))
			return false;
	}
	input->counts.keys++;
	return keys.count == 0 || api_keys_put(call, &keys, fault);
}
