/* See resources/account_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/account_record.h"

#include "resources/packed.h"

#define VERSION 1

bool account_load(struct call *call, struct account_record *record, struct fault *fault)
{
	struct slice key = id_slice(&call->account);
	struct slice value;
	struct packed reader;
	uint64_t version;

	*record = (struct account_record){ 0 };
	if (!store_get(call->transaction, STORE_ACCOUNT, key, &value, fault))
		return false;
	if (value.data == NULL)
		return true;
	reader = (struct packed){ .rest = value };
	version = packed_number(&reader, 1);
	record->template_number = packed_number(&reader, 8);
	record->room_number = packed_number(&reader, 8);
	record->last_time = (int64_t)packed_number(&reader, 8);
	record->has_default = packed_number(&reader, 1) != 0;
	record->default_template = packed_id(&reader);
	if (!packed_ended(&reader) || version != VERSION)
		return packed_damaged("account", key, fault);
	return true;
}

bool account_put(struct call *call, const struct account_record *record, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);

	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, record->template_number, 8);
	packed_put_number(&value, record->room_number, 8);
	packed_put_number(&value, (uint64_t)record->last_time, 8);
	packed_put_number(&value, record->has_default, 1);
	packed_put_id(&value, &record->default_template);
	return store_put(call->transaction, STORE_ACCOUNT, id_slice(&call->account),
			 buffer_slice(&value), fault);
}

struct id account_next_id(struct call *call, struct account_record *record, uint64_t *number)
{
	if (call->now < record->last_time)
		call->now = record->last_time;
	/* A later second would not fit into the id, which would then sort before all older ones. */
	if (call->now > ID_TIME_MAX)
		call->now = ID_TIME_MAX;
	record->last_time = call->now;
	*number += 1;
	return id_make(call->environment->clock, (uint32_t)(call->now / 1000), *number);
}

/* The name of a list: a letter, the account, and for a template's rooms the template. */
static struct slice list_name(const struct call *call, char letter, const struct id *template_id)
{
	struct buffer name = BUFFER_INITIAL(call->arena);

	buffer_append_byte(&name, letter);
	buffer_append(&name, id_slice(&call->account));
	if (template_id != NULL)
		buffer_append(&name, id_slice(template_id));
	return buffer_slice(&name);
}

struct slice list_of_templates(const struct call *call)
{
	return list_name(call, 't', NULL);
}

struct slice list_of_rooms(const struct call *call, bool enabled)
{
	return list_name(call, enabled ? 'e' : 'd', NULL);
}

struct slice list_of_template_rooms(const struct call *call, const struct id *template_id,
				    bool enabled)
{
	return list_name(call, enabled ? 'E' : 'D', template_id);
}
