/* See resources/media/media_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/media_record.h"

#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1

static const char *const key_states[] = {
	[KEY_ACTIVE] = "active",
	[KEY_NEXT] = "next",
	[KEY_RETIRED] = "retired",
};

const char *key_state_name(enum key_state state)
{
	return key_states[state];
}

enum key_state key_state_named(struct slice name)
{
	enum key_state state = KEY_ACTIVE;

	while (state < KEY_RETIRED && !slice_is(name, key_states[state]))
		state++;
	return state;
}

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

static void take_key(struct packed *reader, struct signing_key *key)
{
	const uint64_t alg = packed_number(reader, 1), state = packed_number(reader, 1);

	key->alg = (enum signing_alg)alg;
	key->state = (enum key_state)state;
	key->created = (int64_t)packed_number(reader, 8);
	key->retires = (int64_t)packed_number(reader, 8);
	key->kid = packed_text(reader);
	key->jwk = packed_text(reader);
	key->private_key = packed_text(reader);
	reader->is_short = reader->is_short || alg >= SIGNING_ALGS || state > KEY_RETIRED;
}

static void put_backend(struct buffer *value, const struct backend *backend)
{
	packed_put_id(value, &backend->id);
	packed_put_number(value, backend->type, 1);
	packed_put_number(value, backend->is_default, 1);
	packed_put_number(value, backend->alg, 1);
	packed_put_number(value, backend->uses, 4);
	packed_put_number(value, (uint64_t)backend->created, 8);
	packed_put_number(value, (uint64_t)backend->updated, 8);
	packed_put_number(value, (uint64_t)backend->ttl, 4);
	packed_put_text(value, backend->name);
	packed_put_text(value, backend->url);
	packed_put_text(value, backend->config);
}

static void take_backend(struct packed *reader, struct backend *backend)
{
	uint64_t type, alg;

	backend->id = packed_id(reader);
	type = packed_number(reader, 1);
	backend->type = (enum backend_type)type;
	backend->is_default = packed_number(reader, 1) != 0;
	alg = packed_number(reader, 1);
	backend->alg = (enum signing_alg)alg;
	backend->uses = (uint32_t)packed_number(reader, 4);
	backend->created = (int64_t)packed_number(reader, 8);
	backend->updated = (int64_t)packed_number(reader, 8);
	backend->ttl = (int64_t)packed_number(reader, 4);
	backend->name = packed_text(reader);
	backend->url = packed_text(reader);
	backend->config = packed_text(reader);
	reader->is_short = reader->is_short || type >= BACKEND_TYPES_COUNT || alg > SIGNING_ALGS;
}

static void take_backends(struct arena *arena, struct packed *reader, struct media *media)
{
	media->last_backend = packed_number(reader, 8);
	media->backend_count = packed_number(reader, 2);
	media->backends = arena_alloc(arena, (media->backend_count + 1) * sizeof *media->backends);
	for (size_t i = 0; i < media->backend_count; i++)
		take_backend(reader, &media->backends[i]);
}

static bool is_gone(const struct signing_key *key, int64_t now)
{
	return key->state == KEY_RETIRED && now / 1000 >= key->retires;
}

static void take_keys(struct arena *arena, struct packed *reader, int64_t now, struct media *media)
{
	const size_t n = packed_number(reader, 2);

	media->keys = arena_alloc(arena, (n + 1) * sizeof *media->keys);
	for (size_t i = 0; i < n; i++) {
		struct signing_key *key = &media->keys[media->key_count];

		take_key(reader, key);
		media->key_count += !is_gone(key, now);
	}
}

bool media_read(struct arena *arena, const struct store_record *stored, int64_t now,
		struct media *media, struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);
	const struct slice code_key = packed_bytes(&reader, DIGEST_SIZE);

	*media = (struct media){ .stored = *stored };
	take_keys(arena, &reader, now, media);
	take_backends(arena, &reader, media);
	if (!packed_close(&reader, "media", &stored->account, fault))
		return false;
	memcpy(media->code_key, code_key.data, DIGEST_SIZE);
	return true;
}

void media_begin(struct call *call, struct media *media)
{
	*media = (struct media){
		.keys = arena_alloc(call->arena, sizeof *media->keys),
		.backends = arena_alloc(call->arena, sizeof *media->backends),
	};
	clock_random(call->environment->clock, media->code_key, sizeof media->code_key);
}

bool media_find(struct call *call, enum store_reading reading, struct media *media, bool *is_there,
		struct fault *fault)
{
	struct store_record stored;

	if (!store_get(call->transaction, &kind_media, &kind_only_id, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	return !*is_there || media_read(call->arena, &stored, call->now, media, fault);
}

bool media_load(struct call *call, enum store_reading reading, struct media *media,
		struct fault *fault)
{
	bool is_there;

	if (!media_find(call, reading, media, &is_there, fault))
		return false;
	if (!is_there)
		media_begin(call, media);
	return true;
}

bool media_load_lasting(struct call *call, struct media *media, struct fault *fault)
{
	bool is_there;

	if (!media_find(call, STORE_TO_SHOW, media, &is_there, fault))
		return false;
	if (is_there)
		return true;
	return media_load(call, STORE_TO_CHANGE, media, fault) &&
	       (media->stored.value.data != NULL || media_put(call, media, fault));
}

bool media_put(struct call *call, const struct media *media, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .id = kind_only_id };

	packed_put_number(&value, VERSION, 1);
	buffer_append(&value, (struct slice){ (const char *)media->code_key, DIGEST_SIZE });
	packed_put_number(&value, media->key_count, 2);
	for (size_t i = 0; i < media->key_count; i++)
		put_key(&value, &media->keys[i]);
	packed_put_number(&value, media->last_backend, 8);
	packed_put_number(&value, media->backend_count, 2);
	for (size_t i = 0; i < media->backend_count; i++)
		put_backend(&value, &media->backends[i]);
	return packed_store(call->transaction, &kind_media, &record, &value, &media->stored, fault);
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

/* ---- backends ---- */

struct backend *media_backend(const struct media *media, const struct id *id)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (id_compare(&media->backends[i].id, id) == 0)
			return &media->backends[i];
	}
	return NULL;
}

struct backend *media_backend_named(const struct media *media, struct slice name)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (slice_equal(media->backends[i].name, name))
			return &media->backends[i];
	}
	return NULL;
}

const struct backend *media_default_backend(const struct media *media)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (media->backends[i].is_default)
			return &media->backends[i];
	}
	return NULL;
}

bool media_signs(const struct media *media, enum signing_alg alg)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (media->backends[i].alg == alg)
			return true;
	}
	return false;
}

void media_remove_backend(struct media *media, const struct backend *backend)
{
	const size_t i = (size_t)(backend - media->backends);

	media->backend_count--;
	memmove(&media->backends[i], &media->backends[i + 1],
		(media->backend_count - i) * sizeof *media->backends);
}

bool media_use(struct call *call, struct slice former, struct slice name, struct fault *fault)
{
	struct media media;
	struct backend *backend;

	if (slice_equal(former, name))
		return true;
	if (!media_load(call, STORE_TO_CHANGE, &media, fault))
		return false;
	backend = media_backend_named(&media, former);
	if (backend != NULL && backend->uses > 0)
		backend->uses--;
	backend = media_backend_named(&media, name);
	if (backend != NULL)
		backend->uses++;
	return media_put(call, &media, fault);
}
