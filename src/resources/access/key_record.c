/* See resources/access/key_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/access/key_record.h"

#include <string.h>

#include "base/text.h"
#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1
#define PREFIX "ak_"
#define PREFIX_SIZE (sizeof PREFIX - 1)
#define SECRET_BYTES 32

/* ---- the text ---- */

bool api_key_is_meant(struct slice token)
{
	return token.size >= PREFIX_SIZE && memcmp(token.data, PREFIX, PREFIX_SIZE) == 0;
}

bool api_key_parse(struct slice token, struct slice *id, struct slice *secret)
{
	struct id parsed;

	if (token.size != API_KEY_TEXT_SIZE || !api_key_is_meant(token) ||
	    token.data[PREFIX_SIZE + ID_TEXT_SIZE] != '_')
		return false;
	*id = (struct slice){ token.data + PREFIX_SIZE, ID_TEXT_SIZE };
	*secret = (struct slice){ id->data + ID_TEXT_SIZE + 1, API_KEY_SECRET_SIZE };
	return id_parse(*id, &parsed);
}

const char *api_key_draw(struct call *call, struct api_key *key)
{
	const struct slice id = id_as_text(call->arena, &key->id);
	char bytes[SECRET_BYTES];
	struct slice secret;

	clock_random(call->environment->clock, bytes, sizeof bytes);
	secret = text_base64url(call->arena, (struct slice){ bytes, sizeof bytes });
	explicit_bzero(bytes, sizeof bytes);
	digest_sha256(secret, key->digest);
	return arena_text(call->arena, PREFIX "%s_%.*s", id.data, (int)secret.size, secret.data);
}

/* ---- a key ---- */

bool api_key_read(const struct store_record *stored, struct api_key *key, struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);
	struct slice digest;

	*key = (struct api_key){ .stored = *stored, .id = stored->id };
	key->created = (int64_t)packed_number(&reader, 8);
	key->expires_at = (int64_t)packed_number(&reader, 8);
	key->scopes = (unsigned)packed_number(&reader, 4);
	digest = packed_bytes(&reader, DIGEST_SIZE);
	key->name = packed_text(&reader);
	if (!packed_close(&reader, "key", &stored->id, fault))
		return false;
	memcpy(key->digest, digest.data, DIGEST_SIZE);
	return true;
}

bool api_key_find(struct transaction *transaction, struct slice id, enum store_reading reading,
		  struct api_key *key, bool *is_there, struct fault *fault)
{
	struct store_record stored;

	if (!store_get_named(transaction, &kind_key, id, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	return !*is_there || api_key_read(&stored, key, fault);
}

bool api_key_put(struct call *call, const struct api_key *key, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = {
		.id = key->id,
		.parent = kind_only_id,
		.name = id_as_text(call->arena, &key->id),
	};

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, (uint64_t)key->created, 8);
	packed_put_number(&value, (uint64_t)key->expires_at, 8);
	packed_put_number(&value, key->scopes, 4);
	buffer_append(&value, (struct slice){ (const char *)key->digest, DIGEST_SIZE });
	packed_put_text(&value, key->name);
	return packed_store(call->transaction, &kind_key, &record, &value, &key->stored, fault);
}

void api_keys_set_page(struct store_page *page)
{
	page->parent = &kind_only_id;
}

/* ---- what they have in common ---- */

bool api_keys_read(const struct store_record *stored, struct api_keys *keys, struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);

	*keys = (struct api_keys){ .stored = *stored };
	keys->count = packed_number(&reader, 4);
	keys->newest = packed_id(&reader);
	return packed_close(&reader, "keys", &stored->account, fault);
}

bool api_keys_load(struct call *call, enum store_reading reading, struct api_keys *keys,
		   struct fault *fault)
{
	struct store_record stored;

	*keys = (struct api_keys){ .count = 0 };
	return store_get(call->transaction, &kind_keys, &kind_only_id, reading, &stored, fault) &&
	       (stored.value.data == NULL || api_keys_read(&stored, keys, fault));
}

bool api_keys_put(struct call *call, const struct api_keys *keys, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .id = kind_only_id };

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, keys->count, 4);
	packed_put_id(&value, &keys->newest);
	return packed_store(call->transaction, &kind_keys, &record, &value, &keys->stored, fault);
}

void api_keys_count_added(struct api_keys *keys, const struct api_key *key)
{
	keys->count++;
	if (id_compare(&key->id, &keys->newest) > 0)
		keys->newest = key->id;
}
