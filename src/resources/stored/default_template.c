/* See resources/stored/default_template.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/default_template.h"

#include "records/kinds.h"
#include "records/record.h"

static const struct member default_members[] = {
	{ "template_id", AS_REFERENCE(template, DIES), AT(struct default_template, id) },
};
const struct record_table default_template_table = {
	RECORD(struct default_template, default_members, 0, &kind_default),
	.is_bare = true,
};

bool default_template_load(struct call *call, struct id *id, bool *is_set, struct fault *fault)
{
	struct default_template present;

	if (!record_get(&default_template_table, call->transaction, &kind_only_id, STORE_TO_SHOW,
			&present, fault))
		return false;
	*is_set = present.stored.value.data != NULL;
	*id = present.id;
	return true;
}

bool default_template_set(struct call *call, const struct id *id, bool is_default, bool *is_changed,
			  struct fault *fault)
{
	struct default_template present;
	bool is_set, is_this;

	if (!record_get(&default_template_table, call->transaction, &kind_only_id, STORE_TO_CHANGE,
			&present, fault))
		return false;
	is_set = present.stored.value.data != NULL;
	is_this = is_set && id_compare(&present.id, id) == 0;
	if (is_changed != NULL)
		*is_changed = is_this != is_default;
	if (is_this == is_default)
		return true;
	if (!is_default)
		return store_remove(call->transaction, &kind_default, &present.stored, fault);
	present.id = *id;
	return record_put(&default_template_table, call->transaction, &present, fault);
}
