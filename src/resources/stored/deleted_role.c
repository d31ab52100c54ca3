/* See resources/stored/deleted_role.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/deleted_role.h"

#include "base/digest.h"
#include "records/kinds.h"
#include "records/record.h"

/* The id consists of the identity and a digest of the template's id, so it is unique in the
 * account. */
struct id deleted_role_id(const struct id *template_id, uint32_t identity)
{
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	digest_sha256(id_slice(template_id), digest);
	memcpy(id.bytes, digest, sizeof id.bytes);
	for (size_t i = 0; i < 4; i++)
		id.bytes[i] = (unsigned char)(identity >> (24 - 8 * i));
	return id;
}

static const struct member deleted_members[] = {
	{ "id", AS_KEY, MARKED(MEMBER_DERIVED), AT(struct deleted_role, stored.id) },
	{ "template_id", AS_PARENT_OF(template, DIES), AT(struct deleted_role, stored.parent) },
	{ "identity", AS_NUMBER(4, 1, UINT32_MAX), IN_A_DUMP_ALONE,
	  AT(struct deleted_role, identity) },
	{ "name", AS_TEXT(1, STORE_NAME_MAX), AT(struct deleted_role, name) },
	{ "deleted_at", AS_TIME, AT(struct deleted_role, deleted) },
};
const struct record_table deleted_role_table = {
	RECORD(struct deleted_role, deleted_members, 2, &kind_role),
};

bool deleted_role_add(struct call *call, struct template_record *record,
		      const struct template_role *role, struct fault *fault)
{
	const struct deleted_role deleted = {
		.stored = {
			.id = deleted_role_id(&record->id, role->identity),
			.parent = record->id,
		},
		.name = role->name,
		.deleted = call->now,
	};

	record->deleted.count++;
	return record_put(&deleted_role_table, call->transaction, &deleted, fault);
}

bool deleted_role_load(struct call *call, const struct id *template_id, uint32_t identity,
		       struct deleted_role *role, struct fault *fault)
{
	const struct id id = deleted_role_id(template_id, identity);

	if (!record_get(&deleted_role_table, call->transaction, &id, STORE_TO_SHOW, role, fault))
		return false;
	return (role->stored.value.data != NULL &&
		id_compare(&role->stored.parent, template_id) == 0) ||
	       record_missing(kind_role.name, &id, fault);
}

bool deleted_roles_remove(struct call *call, const struct id *template_id, int64_t deleted_before,
			  size_t most, size_t *removed, struct fault *fault)
{
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = template_id,
		.records = arena_alloc(call->arena, most * sizeof *page.records),
		.most = most,
	};
	struct deleted_role role;

	*removed = 0;
	if (!store_page(call->transaction, &kind_role, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!record_read(&deleted_role_table, NULL, &page.records[i], &role, fault))
			return false;
		if (role.deleted >= deleted_before)
			continue;
		++*removed;
		if (!store_remove(call->transaction, &kind_role, &page.records[i], fault))
			return false;
	}
	return true;
}
