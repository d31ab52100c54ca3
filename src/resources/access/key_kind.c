/* API keys in a dump, and how they are checked (resources/record_kind.h). A dump contains the
 * digest of a secret; the secret itself is not stored.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/access/keys.h"
#include "resources/record_kind.h"
#include "rules/key_rules.h"

static bool keys_derive(struct call *call, const void *record, struct findings *findings,
			struct fault *fault)
{
	const struct api_keys *keys = record;
	struct store_record newest;
	struct store_page page = { .records = &newest, .most = 1 };

	api_keys_set_page(&page);
	if (!store_page(call->transaction, &kind_key, &page, fault))
		return false;
	if (page.count > 0 && id_compare(&newest.id, &keys->newest) > 0)
		findings_add(findings, "/newest", "is older than the newest key");
	return true;
}

const struct record_kind keys_kind = {
	.table = &api_keys_table,
	.line = "keys",
	.order = RECORD_ONE,
	.derive = keys_derive,
};

static bool key_load_dumped(struct call *call, void *record, const char *pointer,
			    struct findings *findings, struct fault *fault)
{
	struct api_key *key = record;

	(void)pointer;
	(void)findings;
	(void)fault;
	key->stored.name = id_as_text(call->arena, &key->id);
	return true;
}

static bool key_record_check(struct call *call, const void *record, struct findings *findings,
			     struct fault *fault)
{
	const struct api_key *key = record;

	(void)fault;
	record_check_document(&key_shape, key_document(call, key), "", findings);
	return true;
}

static bool key_derive(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault)
{
	const struct api_key *key = record;

	(void)fault;
	if (!slice_equal(key->stored.name, id_as_text(call->arena, &key->id)))
		findings_add(findings, "", "its name does not match its ID");
	return true;
}

const struct record_kind key_kind = {
	.table = &api_key_table,
	.line = "key",
	.shapes = { &key_shape },
	.order = RECORD_CHILDREN,
	.load = key_load_dumped,
	.check = key_record_check,
	.derive = key_derive,
};
