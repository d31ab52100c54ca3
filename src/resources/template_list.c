/* The list of templates, with its filters: a name, or the default template.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/default_template.h"
#include "resources/kinds.h"
#include "resources/lists.h"
#include "resources/packed.h"
#include "resources/template_record.h"
#include "resources/templates.h"

struct filter {
	bool has_default; /* the account has a default template: */
	struct id default_template;
	const json_t *marked; /* the query's `default`; NULL: not supplied */
};

static bool read_filter(struct call *call, struct filter *filter, struct fault *fault)
{
	*filter = (struct filter){ .marked = json_object_get(call->query, "default") };
	return filter->marked == NULL ||
	       default_template_load(call, &filter->default_template, &filter->has_default, fault);
}

static bool is_wanted(const struct list *list, const struct filter *filter, const struct id *id)
{
	const bool is_default = filter->has_default &&
				id_compare(&filter->default_template, id) == 0;

	return (filter->marked == NULL || json_is_true(filter->marked) == is_default) &&
	       (!list->is_bounded || id_compare(id, &list->start) < 0);
}

/* One item of the list: its text, as it is stored. */
static bool add_item(struct call *call, struct list *list, const struct filter *filter,
		     const struct store_record *stored, struct fault *fault)
{
	struct slice text;

	if (!is_wanted(list, filter, &stored->id))
		return true;
	if (!template_read_text(stored, &text, fault))
		return false;
	list_add_item(list, &stored->id);
	call_part(call, text);
	return true;
}

/* With a name, or for the default template, there is at most one item. */
static bool add_one(struct call *call, struct list *list, const struct filter *filter,
		    struct slice name, struct fault *fault)
{
	struct store_record stored = { .is_on = false };

	if (name.data != NULL) {
		if (!store_get_named(call->transaction, &kind_template, name, STORE_TO_SHOW,
				     &stored, fault))
			return false;
	} else if (filter->has_default) {
		if (!store_get(call->transaction, &kind_template, &filter->default_template,
			       STORE_TO_SHOW, &stored, fault))
			return false;
		if (stored.value.data == NULL)
			return packed_missing("template", id_slice(&filter->default_template),
					      fault);
	}
	return stored.value.data == NULL || add_item(call, list, filter, &stored, fault);
}

static bool add_pages(struct call *call, struct list *list, const struct filter *filter,
		      struct fault *fault)
{
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.below = list->is_bounded ? &list->start : NULL,
		.records = arena_alloc(call->arena, list->limit * sizeof *page.records),
		.most = list->limit,
		.bytes_most = ANSWER_MOST,
	};
	struct id last;

	do {
		if (!store_page(call->transaction, &kind_template, &page, fault))
			return false;
		for (size_t i = 0; i < page.count && !list_is_full(list); i++) {
			if (!add_item(call, list, filter, &page.records[i], fault))
				return false;
		}
		if (page.count > 0)
			last = page.records[page.count - 1].id;
		page.below = &last;
	} while (!page.is_last && !list_is_full(list));
	return true;
}

bool templates_list(struct call *call, struct fault *fault)
{
	struct slice name = call_query_text(call, "name");
	struct filter filter;
	struct list list;

	if (!read_filter(call, &filter, fault))
		return false;
	list_open(call, &list);
	return (name.data != NULL || json_is_true(filter.marked)
			? add_one(call, &list, &filter, name, fault)
			: add_pages(call, &list, &filter, fault)) &&
	       list_close(&list, fault);
}
