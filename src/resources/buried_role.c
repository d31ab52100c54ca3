/* See resources/buried_role.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/buried_role.h"

#include "resources/packed.h"

#define VERSION 1

static struct slice buried_key(struct call *call, const struct id *template_id, uint32_t identity)
{
	struct buffer key = BUFFER_INITIAL(call->arena);

	packed_put_id(&key, &call->account);
	packed_put_id(&key, template_id);
	packed_put_number(&key, identity, 4);
	return buffer_slice(&key);
}

bool buried_role_put(struct call *call, const struct id *template_id, uint32_t identity,
		     const struct buried_role *role, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);

	packed_put_number(&value, VERSION, 1);
	packed_put_text(&value, role->name);
	packed_put_number(&value, (uint64_t)role->added, 8);
	packed_put_number(&value, (uint64_t)role->deleted, 8);
	return store_put(call->transaction, STORE_ROLE, buried_key(call, template_id, identity),
			 buffer_slice(&value), fault);
}

bool buried_role_bury(struct call *call, const struct template_record *record,
		      const struct template_role *role, struct fault *fault)
{
	const struct buried_role buried = {
		.name = role->name,
		.added = role->added,
		.deleted = call->now,
	};
	bool has_rooms;

	if (!template_has_rooms(call, &record->id, &has_rooms, fault))
		return false;
	return !has_rooms || buried_role_put(call, &record->id, role->identity, &buried, fault);
}

bool buried_role_remove(struct call *call, const struct id *template_id, uint32_t identity,
			struct fault *fault)
{
	return store_remove(call->transaction, STORE_ROLE, buried_key(call, template_id, identity),
			    fault);
}

bool buried_role_find(struct call *call, const struct id *template_id, uint32_t identity,
		      struct buried_role *role, bool *is_there, struct fault *fault)
{
	struct slice key = buried_key(call, template_id, identity);
	struct slice value;
	struct packed reader;
	uint64_t version;

	if (!store_get(call->transaction, STORE_ROLE, key, &value, fault))
		return false;
	*is_there = value.data != NULL;
	if (!*is_there)
		return true;
	reader = (struct packed){ .rest = value };
	version = packed_number(&reader, 1);
	role->name = packed_text(&reader);
	role->added = (int64_t)packed_number(&reader, 8);
	role->deleted = (int64_t)packed_number(&reader, 8);
	if (!packed_ended(&reader) || version != VERSION)
		return packed_damaged("role", key, fault);
	return true;
}

bool buried_role_load(struct call *call, const struct id *template_id, uint32_t identity,
		      struct buried_role *role, struct fault *fault)
{
	bool is_there;

	if (!buried_role_find(call, template_id, identity, role, &is_there, fault))
		return false;
	return is_there || packed_missing("role", buried_key(call, template_id, identity), fault);
}
