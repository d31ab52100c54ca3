/* Bans in a dump, and how they are checked (resources/record_kind.h). A load counts them again, and
 * adds the records of their ends. A dump may have bans from a room that is deleted and whose bans
 * are still being removed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/bans/bans.h"
#include "resources/record_kind.h"

static bool ban_load_dumped(struct call *call, void *record, const char *pointer,
			    struct findings *findings, struct fault *fault)
{
	struct ban *ban = record;
	struct ban other;
	struct media media;

	ban->name = ban_name(call->arena, ban->user_id, ban->code_hash, &ban->stored.parent);
	if (!media_load(call, STORE_TO_SHOW, &media, fault) ||
	    !record_get_named(&ban_table, call->transaction, ban->name, STORE_TO_SHOW, &other,
			      fault))
		return false;
	if (media.ban_count >= BANS_MOST)
		findings_add(findings, pointer, "is over the maximum of %d bans", BANS_MOST);
	if (other.stored.value.data != NULL)
		findings_add(findings, pointer, "an earlier ban is of the same person and room");
	return true;
}

static bool ban_put_loaded(struct call *call, void *record, struct fault *fault)
{
	struct media media;

	if (!media_load(call, STORE_TO_CHANGE, &media, fault))
		return false;
	media.ban_count++;
	return ban_put_new(call, record, fault) && media_put(call, &media, fault);
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
	struct media media;
	bool has_media;

	if (!slice_equal(ban->name,
			 ban_name(call->arena, ban->user_id, ban->code_hash, &ban->stored.parent)))
		findings_add(findings, "", "its name does not match whom it is of");
	if (!media_find(call, STORE_TO_SHOW, &media, &has_media, fault))
		return false;
	if (!has_media || media.ban_count == 0)
		findings_add(findings, "", "is not counted in the record of the account's media");
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
