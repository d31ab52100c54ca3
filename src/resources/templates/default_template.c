/* See resources/templates/default_template.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/templates/default_template.h"

#include "resources/kinds.h"
#include "resources/packed.h"

static bool read(struct call *call, enum store_reading reading, struct store_record *stored,
		 struct id *id, struct fault *fault)
{
	if (!store_get(call->transaction, &kind_default, &kind_only_id, reading, stored, fault))
		return false;
	if (stored->value.data == NULL)
		return true;
	if (stored->value.size != ID_SIZE)
		return packed_damaged("default template", &call->account, fault);
	memcpy(id->bytes, stored->value.data, ID_SIZE);
	return true;
}

bool default_template_load(struct call *call, struct id *id, bool *is_set, struct fault *fault)
{
	struct store_record stored;

	if (!read(call, STORE_TO_SHOW, &stored, id, fault))
		return false;
	*is_set = stored.value.data != NULL;
	return true;
}

bool default_template_set(struct call *call, const struct id *id, bool is_default, bool *is_changed,
			  struct fault *fault)
{
	const struct store_record record = { .id = kind_only_id, .value = id_slice(id) };
	struct store_record stored;
	struct id present;
	bool is_set, is_this;

	if (!read(call, STORE_TO_CHANGE, &stored, &present, fault))
		return false;
	is_set = stored.value.data != NULL;
	is_this = is_set && id_compare(&present, id) == 0;
	if (is_changed != NULL)
		*is_changed = is_this != is_default;
	if (is_this == is_default)
		return true;
	if (!is_default)
		return store_remove(call->transaction, &kind_default, &stored, fault);
	return store_put(call->transaction, &kind_default, &record, is_set ? &stored : NULL, fault);
}
