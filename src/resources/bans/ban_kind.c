/* Bans in a dump, and how they are checked (resources/record_kind.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/kinds.h"
#include "resources/stored/ban_record.h"
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

	(void)fault;
	if (!slice_equal(ban->name,
			 ban_name(call->arena, ban->user_id, ban->code_hash, &ban->stored.parent)))
		findings_add(findings, "", "its name does not match whom it is of");
	return true;
}

const struct record_kind ban_kind = {
	.table = &ban_table,
	.line = "ban",
	.order = RECORD_PAGES,
	.load = ban_load_dumped,
	.check = ban_record_check,
	.derive = ban_derive,
};
