/* See resources/stored/media_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/media_record.h"

#include "base/text.h"
#include "records/kinds.h"
#include "records/record.h"
#include "resources/stored.h"
#include "rules/media_rules.h"

#define TEXT_MOST ((int64_t)64 << 10)
#define ACTOR_MOST 1024

static const char *const key_states[] = {
	[KEY_ACTIVE] = "active",
	[KEY_NEXT] = "next",
	[KEY_RETIRED] = "retired",
};

const char *key_state_name(enum key_state state)
{
	return key_states[state];
}

/* ---- the stored form ---- */

static const char *const algs[] = {
	[SIGNING_ES256] = "ES256",
	[SIGNING_RS256] = "RS256",
	[SIGNING_EDDSA] = "EdDSA",
	[SIGNING_ALGS] = "none",
};

static const struct member signing_key_members[] = {
	{ "alg", AS_CHOICE(SIGNING_EDDSA, algs), AT(struct signing_key, alg) },
	{ "state", AS_CHOICE(KEY_RETIRED, key_states), AT(struct signing_key, state) },
	{ "created_at", AS_TIME, AT(struct signing_key, created) },
	{ "retires_at", AS_SECONDS, MARKED(MEMBER_ABSENT), AT(struct signing_key, retires) },
	{ "kid", AS_TEXT(1, TEXT_MOST), MARKED(MEMBER_DERIVED), AT(struct signing_key, kid) },
	{ "jwk", AS_JSON(TEXT_MOST), MARKED(MEMBER_DERIVED), AT(struct signing_key, jwk) },
	{ "private_key", AS_BYTES(TEXT_MOST), AT(struct signing_key, private_key) },
};
static const struct record_table signing_key_table = {
	ITEMS(struct signing_key, signing_key_members),
};

const char *const backend_region_names[BACKEND_REGIONS] = {
	[REGION_NONE] = "none",
	[REGION_IN] = "in",
	[REGION_US] = "us",
	[REGION_EU] = "eu",
};

static const struct member backend_members[] = {
	{ "id", AS_ID, AT(struct backend, id) },
	{ "type", AS_CHOICE(BACKEND_TYPES_COUNT - 1, backend_type_names),
	  AT(struct backend, type) },
	{ "default", AS_BOOLEAN, AT(struct backend, is_default) },
	{ "alg", AS_CHOICE(SIGNING_ALGS, algs), AT(struct backend, alg) },
	{ "uses", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED), AT(struct backend, uses) },
	{ "created_at", AS_TIME, AT(struct backend, created) },
	{ "updated_at", AS_TIME, AT(struct backend, updated) },
	{ "ttl", AS_NUMBER(8, 0, UINT32_MAX), AT(struct backend, ttl) },
	{ "name", AS_TEXT(1, TEXT_MOST), AT(struct backend, name) },
	{ "url", AS_TEXT(0, TEXT_MOST), AT(struct backend, url) },
	{ "config", AS_JSON(TEXT_MOST), AT(struct backend, config) },
	{ "api_url", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_ABSENT), AT(struct backend, api_url) },
	{ "pool", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_ABSENT), SINCE(2),
	  AT(struct backend, pool) },
	{ "weight", AS_NUMBER(4, 0, BACKEND_WEIGHT_MOST), MARKED(MEMBER_ABSENT), SINCE(2),
	  AT(struct backend, weight) },
	{ "region", AS_CHOICE(REGION_EU, backend_region_names), MARKED(MEMBER_ABSENT), SINCE(2),
	  AT(struct backend, region) },
	{ "draining", AS_BOOLEAN, MARKED(MEMBER_ABSENT), SINCE(2),
	  AT(struct backend, is_draining) },
	{ "moved_by", AS_JSON(ACTOR_MOST), MARKED(MEMBER_ABSENT), SINCE(2),
	  AT(struct backend, moved_by) },
};
static const struct record_table backend_table = { ITEMS(struct backend, backend_members) };

static const struct member pool_members[] = {
	{ "name", AS_TEXT(1, TEXT_MOST), AT(struct pool, name) },
	{ "uses", AS_NUMBER(4, 0, UINT32_MAX), AT(struct pool, uses) },
};
static const struct record_table pool_table = { ITEMS(struct pool, pool_members) };

static const struct member media_members[] = {
	{ "code_key", AS_FIXED(DIGEST_SIZE), AT(struct media, code_key) },
	{ "last_backend", AS_NUMBER(8, 0, ID_NUMBER_MAX), AT(struct media, last_backend) },
	{ "ban_count", AS_NUMBER(4, 0, BANS_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct media, ban_count) },
	{ "signing_keys",
	  AS_LIST(struct media, key_count, SIGNING_KEYS_MOST *SIGNING_ALGS, signing_key_table),
	  AT(struct media, keys) },
	{ "backends", AS_LIST(struct media, backend_count, BACKENDS_MOST, backend_table),
	  AT(struct media, backends) },
	{ "pools", AS_LIST(struct media, pool_count, BACKENDS_MOST, pool_table),
	  MARKED(MEMBER_DERIVED), SINCE(2), AT(struct media, pools) },
};
const struct record_table media_table = {
	RECORD(struct media, media_members, 0, &kind_media),
	VERSION(2),
};

bool media_find(struct call *call, enum store_reading reading, struct media *media, bool *is_there,
		struct fault *fault)
{
	struct store_record stored;
	size_t n = 0;

	if (!store_get(call->transaction, &kind_media, &kind_only_id, reading, &stored, fault))
		return false;
	*is_there = stored.value.data != NULL;
	if (!*is_there)
		return true;
	if (!record_read(&media_table, call->arena, &stored, media, fault))
		return false;
	/* Without the keys that are no longer published. */
	for (size_t i = 0; i < media->key_count; i++) {
		const struct signing_key *key = &media->keys[i];

		if (key->state != KEY_RETIRED || call->now / 1000 < key->retires)
			media->keys[n++] = *key;
	}
	media->key_count = n;
	return true;
}

bool media_load(struct call *call, enum store_reading reading, struct media *media,
		struct fault *fault)
{
	bool is_there;

	if (!media_find(call, reading, media, &is_there, fault))
		return false;
	if (is_there)
		return true;
	*media = (struct media){
		.keys = arena_alloc(call->arena, sizeof *media->keys),
		.backends = arena_alloc(call->arena, sizeof *media->backends),
		.pools = arena_alloc(call->arena, sizeof *media->pools),
	};
	clock_random(call->environment->clock, media->code_key, sizeof media->code_key);
	return true;
}

static bool load_for_call(struct call *call, const struct load *load, struct fault *fault)
{
	call->media = arena_alloc(call->arena, sizeof *call->media);
	return media_load(call, load_reading(call, load), call->media, fault);
}

static const struct read reads_of_load[] = { READ_ONLY(kind_media), READS_END };
const struct loading load_media = { .load = load_for_call, .reads = reads_of_load };

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
	return record_put(&media_table, call->transaction, media, fault);
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

unsigned backend_weight(const struct backend *backend)
{
	return backend->weight != 0 ? backend->weight : WEIGHT_STANDARD;
}

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

struct pool *media_pool_named(const struct media *media, struct slice name)
{
	for (size_t i = 0; i < media->pool_count; i++) {
		if (slice_equal(media->pools[i].name, name))
			return &media->pools[i];
	}
	return NULL;
}

static bool is_named_by_some(const struct media *media, const struct pool *pool)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (slice_equal(media->backends[i].pool, pool->name))
			return true;
	}
	return false;
}

void media_settle_pools(struct call *call, struct media *media)
{
	const struct pool *former = media->pools;
	const size_t n = media->pool_count;

	media->pools = arena_alloc(call->arena, (media->backend_count + 1) * sizeof *media->pools);
	media->pool_count = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_named_by_some(media, &former[i]))
			media->pools[media->pool_count++] = former[i];
	}
	for (size_t i = 0; i < media->backend_count; i++) {
		const struct slice name = media->backends[i].pool;

		if (name.size > 0 && media_pool_named(media, name) == NULL)
			media->pools[media->pool_count++] = (struct pool){ .name = name };
	}
}

/* Returns where the uses of a backend or a pool are counted; NULL if there is none. */
static uint32_t *uses_of(const struct media *media, struct slice name)
{
	struct backend *backend = media_backend_named(media, name);
	struct pool *pool = media_pool_named(media, name);

	return backend != NULL ? &backend->uses : pool != NULL ? &pool->uses : NULL;
}

bool media_use(struct call *call, struct slice former, struct slice name, struct fault *fault)
{
	struct media media;
	uint32_t *uses;

	if (slice_equal(former, name))
		return true;
	if (!media_load(call, STORE_TO_CHANGE, &media, fault))
		return false;
	uses = uses_of(&media, former);
	if (uses != NULL && *uses > 0)
		--*uses;
	uses = uses_of(&media, name);
	if (uses != NULL)
		++*uses;
	return media_put(call, &media, fault);
}

struct slice media_code_hash(struct arena *arena, const struct media *media, struct slice letters)
{
	unsigned char mac[DIGEST_SIZE];
	char *text = arena_alloc(arena, 2 * DIGEST_SIZE);

	digest_hmac_sha256((struct slice){ (const char *)media->code_key, DIGEST_SIZE }, letters,
			   mac);
	text_hex(mac, sizeof mac, text);
	return (struct slice){ text, 2 * DIGEST_SIZE };
}

struct slice backend_api_url(struct call *call, struct slice url, struct slice api_url)
{
	return api_url.size > 0 ? api_url : server_api_url(call->arena, url);
}

struct server backend_server(struct call *call, const struct backend *backend)
{
	return (struct server){
		.type = backend->type,
		.url = backend_api_url(call, backend->url, backend->api_url),
		.config = stored_json(call, backend->config, "backend", &backend->id),
	};
}
