/* See resources/backends/signing_keys.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/backends/signing_keys.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/lists.h"
#include "resources/audit.h"
#include "resources/route.h"
#include "resources/stored/media_record.h"
#include "resources/misses.h"

/* Seconds for which a retired key is still published: the longest lifetime of a token, and a
 * minute. */
#define RETIRED_LASTS (24 * 60 * 60 + 60)

/* ---- the response ---- */

static struct slice signing_key_text(struct call *call, const struct signing_key *key)
{
	struct json_writer text = writer_begin(call->arena, false);

	writer_text(&text, "kid", key->kid);
	writer_text(&text, "alg", slice_of(signing_alg_name(key->alg)));
	writer_text(&text, "state", slice_of(key_state_name(key->state)));
	writer_time(&text, "created_at", key->created);
	if (key->state == KEY_RETIRED)
		writer_time(&text, "retires_at", key->retires * 1000);
	writer_json(&text, "jwk", key->jwk);
	return writer_end(&text);
}

/* ---- creating ---- */

static enum signing_alg wanted_alg(const struct call *call)
{
	enum signing_alg alg = SIGNING_ES256;

	(void)signing_alg_named(text_of_json(call_member(call, "alg")), &alg);
	return alg;
}

bool signing_keys_prepare(struct call *call, struct fault *fault)
{
	const enum signing_alg alg = wanted_alg(call);
	struct misses *misses = call->environment->misses;
	unsigned seconds = 0;

	if (alg == SIGNING_RS256)
		seconds = misses_keys_count(misses, &call->account, clock_monotonic(),
					    call->validates_only ? 0 : 1);
	if (seconds > 0) {
		fault_detail(fault, FAULT_TOO_MANY,
			     "the account has created %d RSA keys in the last minute",
			     MISSES_KEYS_MOST);
		fault->retry_after = seconds;
		return false;
	}
	if (!call->validates_only)
		call->made_key = signing_make(call->arena, alg);
	return true;
}

static void note_signing_key(struct call *call, const char *type, const struct signing_key *key)
{
	const struct audit_data data = {
		.kind = "signing_key",
		.id = key->kid,
		.name = slice_of(signing_alg_name(key->alg)),
	};

	audit_note(call, type, &data);
}

bool signing_keys_create(struct call *call, struct fault *fault)
{
	const enum signing_alg alg = wanted_alg(call);
	struct media *media = call->media;
	const size_t count = media_count_keys(media, alg);
	struct signing_key *key;

	if (count >= SIGNING_KEYS_MOST)
		return fault_set(fault, FAULT_CONFLICT, "Too many signing keys");
	if (call->validates_only)
		return true;
	key = &media->keys[media->key_count++];
	*key = (struct signing_key){
		.alg = alg,
		.state = count == 0 ? KEY_ACTIVE : KEY_NEXT,
		.created = call->now,
		.private_key = call->made_key,
	};
	if (!signing_describe(call->arena, alg, key->private_key, &key->kid, &key->jwk))
		return fault_set(fault, FAULT_INTERNAL, NULL);
	note_signing_key(call, "signing_key.created", key);
	return media_put(call, media, fault) && call_answer(call, signing_key_text(call, key));
}

/* ---- reading ---- */

bool signing_keys_list(struct call *call, struct fault *fault)
{
	const struct slice start = call_query_text(call, "start");
	const struct media *media = call->media;
	struct list *list = call->list;
	size_t i = media->key_count;

	list_open(list);
	if (start.data != NULL) {
		const struct signing_key *key = media_key(media, start);

		if (key == NULL)
			return fault_member(fault, FAULT_INVALID_QUERY, NULL, "start",
					    "must be the kid of a signing key");
		i = (size_t)(key - media->keys);
	}
	while (i-- > 0 && !list_is_full(list)) {
		list_add(list, media->keys[i].kid);
		call_part(call, signing_key_text(call, &media->keys[i]));
	}
	return list_close(list, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	if (!load_media.load(call, load, fault))
		return false;
	call->signing_key = media_key(call->media, call->parameters[0]);
	return call->signing_key != NULL ||
	       fault_set(fault, FAULT_NOT_FOUND, "Signing key not found");
}

static const struct read reads_of_path[] = { READ_ONLY(kind_media), READS_END };
const struct loading load_signing_key = { .load = load_of_path, .reads = reads_of_path };

bool signing_keys_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, signing_key_text(call, call->signing_key));
}

/* ---- rotation ---- */

bool signing_keys_activate(struct call *call, struct fault *fault)
{
	struct signing_key *key = call->signing_key, *former;

	if (key->state == KEY_RETIRED)
		return fault_set(fault, FAULT_CONFLICT, "Signing key is retired");
	if (key->state == KEY_ACTIVE)
		return call_answer(call, signing_key_text(call, key));
	if (call->now - key->created < call->environment->signing_key_age * 1000)
		return fault_set(fault, FAULT_CONFLICT, "Signing key is too new");
	former = media_active_key(call->media, key->alg);
	if (former != NULL) {
		former->state = KEY_RETIRED;
		former->retires = call->now / 1000 + RETIRED_LASTS;
	}
	key->state = KEY_ACTIVE;
	note_signing_key(call, "signing_key.activated", key);
	return media_put(call, call->media, fault) &&
	       call_answer(call, signing_key_text(call, key));
}

bool signing_keys_delete(struct call *call, struct fault *fault)
{
	struct signing_key *key = call->signing_key;

	if (key->state == KEY_ACTIVE && media_signs(call->media, key->alg))
		return fault_set(fault, FAULT_CONFLICT, "Signing key is active");
	note_signing_key(call, "signing_key.deleted", key);
	media_remove_key(call->media, key);
	return media_put(call, call->media, fault) && call_answer_nothing(call);
}

/* ---- public endpoints ---- */

/* Verifiers may cache a key set for 300 seconds; SIGNING_KEY_AGE is longer. */
#define PUBLISHED "public, max-age=300"

/* Loads the media of the account in the path, which need not exist. Sets FAULT_NOT_FOUND if the
 * text is not an id. */
static bool load_named(struct call *call, struct media *media, struct fault *fault)
{
	if (!id_parse(call->parameters[0], &call->account))
		return fault_set(fault, FAULT_NOT_FOUND, "No such path");
	call_set_account(call);
	return media_load(call, STORE_TO_SHOW, media, fault);
}

static bool publish(struct call *call, struct slice text)
{
	call_header(call, "Cache-Control", SLICE(PUBLISHED));
	call_header(call, "Content-Type", slice_of(call->route->content_type));
	return call_answer(call, text);
}

bool key_set_get(struct call *call, struct fault *fault)
{
	struct json_writer text = writer_begin(call->arena, false);
	struct media media;

	if (!load_named(call, &media, fault))
		return false;
	writer_open(&text, "keys", '[');
	for (size_t i = 0; i < media.key_count; i++)
		writer_json(&text, NULL, media.keys[i].jwk);
	writer_close(&text, ']');
	return publish(call, writer_end(&text));
}

bool key_pem_get(struct call *call, struct fault *fault)
{
	unsigned char digest[DIGEST_SIZE];
	char hash[2 * DIGEST_SIZE];
	struct media media;

	if (!load_named(call, &media, fault))
		return false;
	for (size_t i = 0; i < media.key_count; i++) {
		const struct signing_key *key = &media.keys[i];

		if (key->alg != SIGNING_RS256)
			continue;
		digest_sha256(key->kid, digest);
		text_hex(digest, sizeof digest, hash);
		if (slice_equal(call->parameters[1], (struct slice){ hash, sizeof hash }))
			return publish(call, signing_pem(call->arena, key->private_key));
	}
	return fault_set(fault, FAULT_NOT_FOUND, "Signing key not found");
}
