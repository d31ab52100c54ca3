/* See resources/stored/key_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/key_record.h"

#include <string.h>

#include "accounts/scopes.h"
#include "base/text.h"
#include "records/kinds.h"
#include "records/record.h"

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

/* ---- an API key ---- */

static const struct member key_members[] = {
	{ "id", AS_KEY, AT(struct api_key, id) },
	{ "parent", AS_PARENT_OF(keys, DIES, COUNTED(keys, count)), MARKED(MEMBER_DERIVED),
	  AT(struct api_key, stored.parent) },
	{ "id_text", AS_NAME, MARKED(MEMBER_DERIVED), AT(struct api_key, stored.name) },
	{ "created_at", AS_TIME, AT(struct api_key, created) },
	{ "expires_at", AS_SECONDS, MARKED(MEMBER_ABSENT), AT(struct api_key, expires_at) },
	{ "scopes", AS_NUMBER(4, 1, SCOPES_ALL), AT(struct api_key, scopes) },
	{ "digest", AS_FIXED(DIGEST_SIZE), AT(struct api_key, digest) },
	{ "name", AS_TEXT(0, STORE_NAME_MAX), AT(struct api_key, name) },
};
const struct record_table api_key_table = { RECORD(struct api_key, key_members, 3, &kind_key) };

bool api_key_find(struct transaction *transaction, struct slice id, enum store_reading reading,
		  struct api_key *key, bool *is_there, struct fault *fault)
{
	if (!record_get_named(&api_key_table, transaction, id, reading, key, fault))
		return false;
	*is_there = key->stored.value.data != NULL;
	return true;
}

bool api_key_put(struct call *call, const struct api_key *key, struct fault *fault)
{
	struct api_key put = *key;

	put.stored.parent = kind_only_id;
	put.stored.name = id_as_text(call->arena, &key->id);
	return record_put(&api_key_table, call->transaction, &put, fault);
}

void api_keys_set_page(struct store_page *page)
{
	page->parent = &kind_only_id;
}

/* ---- the data that an account's API keys share ---- */

static const struct member keys_members[] = {
	{ "count", AS_NUMBER(8, 0, API_KEYS_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct api_keys, count) },
	{ "newest", AS_ID, AT(struct api_keys, newest) },
};
const struct record_table api_keys_table = { RECORD(struct api_keys, keys_members, 0, &kind_keys) };

bool api_keys_load(struct call *call, enum store_reading reading, struct api_keys *keys,
		   struct fault *fault)
{
	return record_get(&api_keys_table, call->transaction, &kind_only_id, reading, keys, fault);
}

bool api_keys_put(struct call *call, const struct api_keys *keys, struct fault *fault)
{
	return record_put(&api_keys_table, call->transaction, keys, fault);
}

void api_keys_count_added(struct api_keys *keys, const struct api_key *key)
{
	keys->count++;
	if (id_compare(&key->id, &keys->newest) > 0)
		keys->newest = key->id;
}
