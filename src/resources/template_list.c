/* The list of templates, with its filters: a name, or the mark of the default (decisions.md sections 4
 * and 9).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/account_record.h"
#include "resources/lists.h"
#include "resources/template_record.h"
#include "resources/templates.h"
#include "store/sequence.h"

static bool is_marked(const struct account_record *account, const struct id *id)
{
	return account->has_default && id_compare(&account->default_template, id) == 0;
}

/* One item of the list: its text, as it stands in the store. */
static bool add_item(struct call *call, struct list *list, const struct id *id, struct fault *fault)
{
	struct slice text;

	if (!template_load_text(call, id, &text, fault))
		return false;
	list_add_item(list, id);
	call_part(call, text);
	return true;
}

/* With a name, or for the marked template, there is at most one item: no walk is needed. */
static bool list_one(struct call *call, struct list *list, const struct id *id,
		     const struct account_record *account, struct fault *fault)
{
	const json_t *marked = json_object_get(call->query, "default");

	if (list->is_bounded && id_compare(id, &list->start) >= 0)
		return true;
	if (marked != NULL && json_is_true(marked) != is_marked(account, id))
		return true;
	return add_item(call, list, id, fault);
}

static bool list_walk(struct call *call, struct list *list, const struct account_record *account,
		      struct fault *fault)
{
	bool skips_marked = json_is_false(json_object_get(call->query, "default"));
	struct sequence_walk walk;
	struct id id;
	bool is_there;

	sequence_start(&walk, call->transaction, list_of_templates(call),
		       list->is_bounded ? &list->start : NULL);
	while (!list_is_full(list)) {
		if (!sequence_next(&walk, &id, &is_there, fault))
			return false;
		if (!is_there)
			return true;
		if (skips_marked && is_marked(account, &id))
			continue;
		if (!add_item(call, list, &id, fault))
			return false;
	}
	return true;
}

bool templates_list(struct call *call, struct fault *fault)
{
	struct slice name = call_query_text(call, "name");
	struct account_record account;
	struct list list;
	struct id id;
	bool is_there;

	if (!account_load(call, &account, fault))
		return false;
	list_open(call, &list);
	if (name.data != NULL) {
		if (!template_find_name(call, name, &id, &is_there, fault) ||
		    (is_there && !list_one(call, &list, &id, &account, fault)))
			return false;
	} else if (json_is_true(json_object_get(call->query, "default"))) {
		if (account.has_default &&
		    !list_one(call, &list, &account.default_template, &account, fault))
			return false;
	} else if (!list_walk(call, &list, &account, fault)) {
		return false;
	}
	return list_close(&list, fault);
}
