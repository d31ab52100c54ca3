/* What an account of a dump has for media servers: see transfer/transfer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "resources/media/backends.h"
#include "transfer/transfer_parts.h"

/* What the other keys of the account say about this one. */
static void check_key(struct call *call, const struct media *media, const struct signing_key *key,
		      const char *pointer)
{
	if (media_key(media, key->kid) != NULL)
		findings_add(&call->findings, pointer, "is an earlier key of the account");
	if (key->state == KEY_ACTIVE && media_active_key(media, key->alg) != NULL)
		findings_add(&call->findings, pointer, "another key of its alg is active");
	if (media_count_keys(media, key->alg) >= SIGNING_KEYS_MOST)
		findings_add(&call->findings, pointer, "must be at most %d of an alg",
			     SIGNING_KEYS_MOST);
}

static void read_key(struct transfer_input *input, const json_t *object, const char *pointer,
		     struct media *media)
{
	struct call *call = &input->call;
	struct signing_key key = {
		.state = key_state_named(transfer_text(object, "state")),
		.created = transfer_time(input, pointer, object, "created_at"),
	};

	(void)signing_alg_named(transfer_text(object, "alg"), &key.alg);
	if (key.state == KEY_RETIRED)
		key.retires = transfer_time(input, pointer, object, "retires_at") / 1000;
	if (!text_base64url_decode(call->arena, transfer_text(object, "private_key"),
				   &key.private_key) ||
	    !signing_describe(call->arena, key.alg, key.private_key, &key.kid, &key.jwk)) {
		findings_add(&call->findings, arena_text(call->arena, "%s/private_key", pointer),
			     "must be a private key for its alg");
		return;
	}
	check_key(call, media, &key, pointer);
	media->keys[media->key_count++] = key;
}

static void read_backend(struct transfer_input *input, const json_t *object, const char *pointer,
			 struct media *media)
{
	struct call *call = &input->call;
	struct backend *backend = &media->backends[media->backend_count];
	const char *id = arena_text(call->arena, "%s/id", pointer);
	const char *document = arena_text(call->arena, "%s/document", pointer);

	*backend = (struct backend){
		.id = transfer_id(object, "id"),
		.created = transfer_time(input, pointer, object, "created_at"),
		.updated = transfer_time(input, pointer, object, "updated_at"),
	};
	if (media_default_backend(media) != NULL &&
	    json_is_true(json_object_get(json_object_get(object, "document"), "default")))
		findings_add(&call->findings, document, "an earlier backend is the default");
	backend_set(call, media, backend, json_object_get(object, "document"));
	if (media_backend_named(media, backend->name) != NULL)
		findings_add(&call->findings, document, "an earlier backend has its name");
	if (backend->alg != SIGNING_ALGS && media_active_key(media, backend->alg) == NULL)
		findings_add(&call->findings, document, "no active signing key has its alg");
	if (id_number(&backend->id) > media->last_backend ||
	    (media->backend_count > 0 && id_compare(&backend->id, &backend[-1].id) <= 0))
		findings_add(&call->findings, id,
			     "must be younger than that of the one before, and not above "
			     "last_backend");
	media->backend_count++;
}

bool transfer_read_media(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const json_t *keys = json_object_get(object, "signing_keys");
	const json_t *backends = json_object_get(object, "backends");
	struct media media;
	struct slice code_key;

	media_begin(call, &media);
	media.keys = arena_alloc(call->arena, (json_array_size(keys) + 1) * sizeof *media.keys);
	if (text_base64url_decode(call->arena, transfer_text(object, "code_key"), &code_key))
		memcpy(media.code_key, code_key.data, DIGEST_SIZE);
	else
		findings_add(&call->findings, "/media/code_key", "must be base64url");
	for (size_t i = 0; i < json_array_size(keys); i++)
		read_key(input, json_array_get(keys, i),
			 arena_text(call->arena, "/media/signing_keys/%zu", i), &media);
	media.last_backend = transfer_number(object, "last_backend");
	media.backends = arena_alloc(call->arena,
				     (json_array_size(backends) + 1) * sizeof *media.backends);
	for (size_t i = 0; i < json_array_size(backends); i++)
		read_backend(input, json_array_get(backends, i),
			     arena_text(call->arena, "/media/backends/%zu", i), &media);
	input->counts.media++;
	return findings_result(&call->findings, fault) && media_put(call, &media, fault);
}
