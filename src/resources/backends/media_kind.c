/* An account's media servers and signing keys in a dump, and how they are checked
 * (resources/record_kind.h). A dump contains the private keys; a load derives the public keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "media/server.h"
#include "records/kinds.h"
#include "resources/stored/live_record.h"
#include "resources/backends/backends.h"
#include "resources/media/placing.h"
#include "resources/record_kind.h"
#include "resources/stored.h"
#include "rules/media_rules.h"

static bool media_load_dumped(struct call *call, void *record, const char *pointer,
			      struct findings *findings, struct fault *fault)
{
	struct media *media = record;

	for (size_t i = 0; i < media->key_count; i++) {
		struct signing_key *key = &media->keys[i];

		if (!signing_describe(call->arena, key->alg, key->private_key, &key->kid,
				      &key->jwk))
			findings_add(findings,
				     arena_text(call->arena, "%s/signing_keys/%zu/private_key",
						pointer, i),
				     "must be a private key for its alg");
	}
	media_settle_pools(call, media);
	(void)fault;
	return true;
}

static bool media_record_check(struct call *call, const void *record, struct findings *findings,
			       struct fault *fault)
{
	const struct media *media = record;

	(void)fault;
	for (size_t i = 0; i < media->key_count; i++) {
		const struct signing_key *key = &media->keys[i];
		const char *at = arena_text(call->arena, "/signing_keys/%zu", i);
		struct slice kid, jwk;

		if (!signing_describe(call->arena, key->alg, key->private_key, &kid, &jwk))
			findings_add(findings, at, "is not a private key for its alg");
		else if (!slice_equal(kid, key->kid) || !slice_equal(jwk, key->jwk))
			findings_add(findings, at,
				     "its public part does not match its private part");
		if (media_key(media, key->kid) != key)
			findings_add(findings, at, "is the same as an earlier key of the account");
		if (key->state == KEY_ACTIVE && media_active_key(media, key->alg) != key)
			findings_add(findings, at,
				     "another key with the same alg is already active");
		if (media_count_keys(media, key->alg) > SIGNING_KEYS_MOST)
			findings_add(findings, at, "at most %d keys per alg are allowed",
				     SIGNING_KEYS_MOST);
	}
	for (size_t i = 0; i < media->backend_count; i++) {
		const struct backend *backend = &media->backends[i];
		const char *at = arena_text(call->arena, "/backends/%zu", i);

		record_check_document(&new_backend_shape, backend_document(call, backend), at,
				      findings);
		if (backend->is_default && media_default_backend(media) != backend)
			findings_add(findings, at, "an earlier backend is already the default");
		if (media_backend_named(media, backend->name) != backend)
			findings_add(findings, at, "an earlier backend has the same name");
		if (backend->pool.size > 0 &&
		    (media_pool_named(media, backend->pool) == NULL ||
		     pool_backend(media, backend->pool)->type != backend->type))
			findings_add(findings, arena_text(call->arena, "%s/pool", at),
				     "is not a pool of its type");
		if (backend->alg != SIGNING_ALGS && media_active_key(media, backend->alg) == NULL)
			findings_add(findings, at, "there is no active signing key for its alg");
		if (id_number(&backend->id) > media->last_backend ||
		    (i > 0 && id_compare(&backend->id, &backend[-1].id) <= 0))
			findings_add(findings, arena_text(call->arena, "%s/id", at),
				     "must be newer than the previous one and not greater than "
				     "last_backend");
	}
	for (size_t i = 0; i < media->pool_count; i++) {
		const struct pool *pool = &media->pools[i];

		if (pool_backend(media, pool->name) == NULL)
			findings_add(findings, arena_text(call->arena, "/pools/%zu", i),
				     "no backend names it");
		if (media_pool_named(media, pool->name) != pool ||
		    media_backend_named(media, pool->name) != NULL)
			findings_add(findings, arena_text(call->arena, "/pools/%zu", i),
				     "something else has the same name");
	}
	return true;
}

static bool media_put_loaded(struct call *call, void *record, struct fault *fault)
{
	const struct media *media = record;

	for (size_t i = 0; i < media->backend_count; i++) {
		if (server_can(media->backends[i].type, SERVER_LIST) &&
		    !backend_account_put(call, &media->backends[i].id, fault))
			return false;
	}
	return media_put(call, media, fault);
}

static bool media_removed(struct call *call, const void *record, struct fault *fault)
{
	const struct media *media = record;

	for (size_t i = 0; i < media->backend_count; i++) {
		if (!backend_account_remove(call, &media->backends[i].id, fault))
			return false;
	}
	return true;
}

const struct record_kind media_kind = {
	.table = &media_table,
	.line = "media",
	.shapes = { &new_backend_shape },
	.order = RECORD_ONE,
	.load = media_load_dumped,
	.put = media_put_loaded,
	.removed = media_removed,
	.check = media_record_check,
};
