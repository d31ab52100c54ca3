/* See resources/media_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media_record.h"

#include "resources/expected.h"
#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1

static const struct id only = { { 0 } };

/* ---- the stored form ---- */

static void put_key(struct buffer *value, const struct signing_key *key)
{
	packed_put_number(value, key->alg, 1);
	packed_put_number(value, key->state, 1);
	packed_put_number(value, (uint64_t)key->created, 8);
	packed_put_number(value, (uint64_t)key->retires, 8);
	packed_put_text(value, key->kid);
	packed_put_text(value, key->jwk);
	packed_put_text(value, key->private_key);
}

static bool take_key(struct packed *reader, struct signing_key *key)
{
	const uint64_t alg = packed_number(reader, 1), state = packed_number(reader, 1);

	key->alg = (enum signing_alg)alg;
	key->state = (enum key_state)state;
	key->created = (int64_t)packed_number(reader, 8);
	key->retires = (int64_t)packed_number(reader, 8);
	key->kid = packed_text(reader);
	key->jwk = packed_text(reader);
	key->private_key = packed_text(reader);
	return alg < SIGNING_ALGS && state <= KEY_RETIRED;
}

static bool is_gone(const struct signing_key *key, int64_t now)
{
	return key->state == KEY_RETIRED && now / 1000 >= key->retires;
}

static bool take_keys(struct arena *arena, struct packed *reader, int64_t now, struct media *media)
{
	const size_t n = packed_number(reader, 2);
	bool is_right = true;

	media->keys = arena_alloc(arena, (n + 1) * sizeof *media->keys);
	for (size_t i = 0; i < n; i++) {
		struct signing_key *key = &media->keys[media->key_count];

		is_right = take_key(reader, key) && is_right;
		media->key_count += !is_gone(key, now);
	}
	return is_right;
}

bool media_read(struct arena *arena, const struct store_record *stored, int64_t now,
		struct media *media, struct fault *fault)
{
	struct packed reader = { .rest = stored->value };
	const bool is_ours = packed_number(&reader, 1) == VERSION;
	const struct slice code_key = packed_bytes(&reader, DIGEST_SIZE);

	*media = (struct media){ .stored = *stored };
	if (!is_ours || !take_keys(arena, &reader, now, media) || !packed_ended(&reader))
		return packed_damaged("media", id_slice(&stored->account), fault);
	memcpy(media->code_key, code_key.data, DIGEST_SIZE);
	return true;
}

void media_begin(struct call *call, struct media *media)
{
	*media = (struct media){ .keys = arena_alloc(call->arena, sizeof *media->keys) };
	clock_random(call->environment->clock, media->code_key, sizeof media->code_key);
}

void media_expect(struct expected *expected, enum store_reading reading)
{
	expected_get(expected, &kind_media, &only, reading);
}

bool media_load(struct call *call, enum store_reading reading, struct media *media,
		struct fault *fault)
{
	struct store_record stored;

	if (!store_get(call->transaction, &kind_media, &only, reading, &stored, fault))
		return false;
	if (stored.value.data != NULL)
		return media_read(call->arena, &stored, call->now, media, fault);
	media_begin(call, media);
	return true;
}

bool media_put(struct call *call, const struct media *media, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .id = only };

	packed_put_number(&value, VERSION, 1);
	buffer_append(&value, (struct slice){ (const char *)media->code_key, DIGEST_SIZE });
	packed_put_number(&value, media->key_count, 2);
	for (size_t i = 0; i < media->key_count; i++)
		put_key(&value, &media->keys[i]);
	record.value = buffer_slice(&value);
	return store_put(call->transaction, &kind_media, &record,
			 media->stored.value.data == NULL ? NULL : &media->stored, fault);
}

/* ---- signing keys ---- */

struct signing_key *media_key(const struct media *media, struct slice kid)
{
	for (size_t i = 0; i < media->key_count; i++) {
		if (slice_equal(media->keys[i].kid, kid))
			return &media->keys[i];
	}
	return NULL;
}

struct signing_key *media_active_key(const struct media *media, enum signing_alg alg)
{
	for (size_t i = 0; i < media->key_count; i++) {
		if (media->keys[i].alg == alg && media->keys[i].state == KEY_ACTIVE)
			return &media->keys[i];
	}
	return NULL;
}

size_t media_count_keys(const struct media *media, enum signing_alg alg)
{
	size_t n = 0;

	for (size_t i = 0; i < media->key_count; i++)
		n += media->keys[i].alg == alg;
	return n;
}

void media_remove_key(struct media *media, const struct signing_key *key)
{
	const size_t i = (size_t)(key - media->keys);

	media->key_count--;
	memmove(&media->keys[i], &media->keys[i + 1], (media->key_count - i) * sizeof *media->keys);
}
