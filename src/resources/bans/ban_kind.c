/* Bans in a dump, and how they are checked (resources/record_kind.h). A load adds
 * the records of their ends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/bans/bans.h"
#include "resources/record_kind.h"

static bool ban_load_dumped(struct call *call, void *record, const char *pointer,
			    struct findings *findings, struct fault *fault)
{
	struct ban *ban = record;
	struct media media;

	(void)pointer;
	(void)findings;
	ban->name = ban_name(call->arena, ban->user_id, ban->code_hash, &ban->stored.parent);
	/* Of a damaged store, the media servers may be lost. */
	return media_load_lasting(call, &media, fault);
}

static bool ban_put_loaded(struct call *call, void *record, struct fault *fault)
{
	return ban_put_new(call, record, fault);
}

static bool ban_removed(struct call *call, const void *record, struct fault *fault)
{
	return ban_remove_end(call, record, fault);
}

static bool ban_record_check(struct call *call, const void *record, struct findings *findings,
			     struct fault *fault)
{
	const struct ban *ban = record;

	(void)call;
	(void)fault;
	if ((ban->user_id.size > 0) == (ban->code_hash.size > 0))
		findings_add(findings, "/user_id", "a ban has either user_id or code_hash");
	else if (ban->code_hash.size > 0 && ban->code_hash.size != 2 * DIGEST_SIZE)
		findings_add(findings, "/code_hash", "must be the hash of a code");
	return true;
}

static bool ban_derive(struct call *call, const void *record, struct findings *findings,
		       struct fault *fault)
{
	const struct ban *ban = record;
	const struct id id = ban_end_id(ban);
	struct ban_end end;

	if (!slice_equal(ban->name,
			 ban_name(call->arena, ban->user_id, ban->code_hash, &ban->stored.parent)))
		findings_add(findings, "", "its name does not match whom it is of");
	if (ban->expires_at == 0)
		return true;
	if (!record_get(&ban_end_table, call->transaction, &id, STORE_TO_SHOW, &end, fault))
		return false;
	if (end.stored.value.data == NULL)
		findings_add(findings, "/expires_at", "the record of its end is missing");
	return true;
}

const struct record_kind ban_kind = {
	.table = &ban_table,
	.line = "ban",
	.order = RECORD_PAGES,
	.load = ban_load_dumped,
	.put = ban_put_loaded,
	.removed = ban_removed,
	.check = ban_record_check,
	.derive = ban_derive,
};

static bool ban_end_check(struct call *call, const void *record, struct findings *findings,
			  struct fault *fault)
{
	const struct ban_end *end = record;
	struct ban ban;
	struct id id;

	if (!record_get(&ban_table, call->transaction, &end->ban, STORE_TO_SHOW, &ban, fault))
		return false;
	id = ban_end_id(&ban);
	if (ban.stored.value.data == NULL || ban.expires_at == 0 ||
	    id_compare(&id, &end->stored.id) != 0)
		findings_add(findings, "/ban_id", "is not a ban that ends then");
	return true;
}

const struct record_kind ban_end_kind = {
	.table = &ban_end_table,
	.order = RECORD_PAGES,
	.check = ban_end_check,
};
