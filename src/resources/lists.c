/* See resources/lists.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/lists.h"

#include <string.h>

#include "base/text.h"

struct list *list_prepare(struct call *call, void *filter)
{
	const struct slice start = call_query_text(call, "start");
	struct list *list = arena_alloc(call->arena, sizeof *list);

	*list = (struct list){
		.call = call,
		.limit = (size_t)json_integer_value(json_object_get(call->query, "limit")),
		.prefix = call_query_text(call, "name_prefix"),
		.words = call_query_text(call, "q"),
		.last = SLICE(""),
		.has_page = true,
		.filter = filter,
	};
	if (list->prefix.data != NULL)
		list->after = start;
	else
		list->is_bounded = start.data != NULL && id_parse(start, &list->start);
	list->page.order = list->prefix.data != NULL ? STORE_BY_NAME : STORE_NEWEST_FIRST;
	list->page.prefix = list->prefix;
	list->page.after = list->after;
	list->page.below = list->is_bounded ? &list->start : NULL;
	list->page.most = list->limit;
	list->page.bytes_most = CALL_ANSWER_MOST;
	call->list = list;
	return list;
}

static void prepare_plain(struct call *call)
{
	(void)list_prepare(call, NULL);
}

static const struct read no_reads[] = { READS_END };
const struct loading load_list = { .prepare = prepare_plain, .reads = no_reads };

bool list_first_page(struct call *call, struct store_page *page)
{
	const struct id *parent = page->parent;

	*page = call->list->page;
	if (parent != NULL)
		page->parent = parent;
	return call->list->has_page;
}

void list_open(struct list *list)
{
	struct call *call = list->call;

	call->answer.status = 200;
	call_part(call, slice_of(arena_text(call->arena, "{\"limit\":%zu,\"data\":", list->limit)));
}

static bool is_too_large(const struct list *list)
{
	return list->call->answer.size > CALL_ANSWER_MOST;
}

bool list_is_full(const struct list *list)
{
	return list->count == list->limit || is_too_large(list);
}

void list_add(struct list *list, struct slice last)
{
	call_part(list->call, list->count > 0 ? SLICE(",") : SLICE("["));
	list->count++;
	list->last = last;
}

bool list_wants_name(const struct list *list, struct slice name, struct slice title)
{
	struct slice rest = list->words;

	while (rest.data != NULL) {
		const struct slice word = text_split(rest, ' ', &rest);

		if (!text_contains_ignoring_case(name, word) && !text_contains_folded(title, word))
			return false;
	}
	return list->words.data != NULL || list->prefix.data == NULL ||
	       (slice_begins(name, list->prefix) &&
		(list->after.size == 0 || slice_compare(name, list->after) > 0));
}

static struct slice last_of_id(struct list *list, const struct id *id)
{
	id_print(id, list->last_id);
	return (struct slice){ list->last_id, ID_TEXT_SIZE };
}

void list_add_item(struct list *list, const struct id *id)
{
	list_add(list, last_of_id(list, id));
}

void list_add_named(struct list *list, const struct id *id, struct slice name)
{
	if (list->prefix.data != NULL)
		list_add(list, name);
	else
		list_add_item(list, id);
}

/* When filters exclude most records, each page is larger than the previous one. */
#define PAGE_GROWTH 4
#define PAGE_MOST 1000
#define BYTES_EXAMINED_MOST (2 * CALL_ANSWER_MOST)

/* With `q`, leaves out the records that do not have the words. Sets how many are left. */
static bool keep_wanted(const struct list *list, struct store_page *page, size_t *kept,
			struct fault *fault)
{
	*kept = list->words.data == NULL ? page->count : 0;
	for (size_t i = *kept; i < page->count; i++) {
		struct slice title = SLICE("");

		if (list->title_of != NULL &&
		    !list->title_of(list->call, &page->records[i], &title, fault))
			return false;
		if (list_wants_name(list, page->records[i].name, title))
			page->records[(*kept)++] = page->records[i];
	}
	return true;
}

/* Returns whether records may follow that were not examined, after `add` got these records. A full
 * list may have ended before the last of them. */
static bool is_unfinished(const struct list *list, const struct store_page *page, size_t kept)
{
	struct id last;

	if (!page->is_last || !list_is_full(list) || kept == 0)
		return !page->is_last;
	return !id_parse(list->last, &last) || id_compare(&last, &page->records[kept - 1].id) != 0;
}

/* Adds pages in which most records may be left out: in the order of names, with `q`, or with other
 * filters. */
static bool add_pages_searching(struct list *list, const struct store_kind *kind,
				list_add_records *add, struct fault *fault)
{
	struct call *call = list->call;
	struct store_page *page = &list->page;
	const bool is_by_name = page->order == STORE_BY_NAME;

	for (;;) {
		size_t kept, left;

		if (!store_page(call->transaction, kind, page, fault))
			return false;
		if (page->count > 0) {
			list->read = page->records[page->count - 1].id;
			if (is_by_name)
				page->after = page->records[page->count - 1].name;
			else
				page->below = &list->read;
		}
		for (size_t i = 0; i < page->count; i++)
			list->bytes_examined += page->records[i].value.size;
		list->examined += page->count;

		if (!keep_wanted(list, page, &kept, fault) ||
		    !add(list, page->records, kept, fault))
			return false;
		if (page->is_last || list_is_full(list)) {
			list->is_cut = !is_by_name && is_unfinished(list, page, kept);
			return true;
		}

		if (list->examined >= LIST_EXAMINED_MOST ||
		    list->bytes_examined >= BYTES_EXAMINED_MOST)
			break;
		left = LIST_EXAMINED_MOST - list->examined;
		page->most = page->most * PAGE_GROWTH < PAGE_MOST ? page->most * PAGE_GROWTH
								  : PAGE_MOST;
		if (page->most > left)
			page->most = left;
		page->records = arena_alloc(call->arena, page->most * sizeof *page->records);
	}
	list->is_cut = true;
	if (is_by_name)
		list->last = page->after;
	else
		list->last = last_of_id(list, &list->read);
	return true;
}

bool list_add_pages(struct list *list, const struct store_kind *kind, list_add_records *add,
		    struct fault *fault)
{
	struct call *call = list->call;
	struct store_page *page = &list->page;

	page->records = arena_alloc(call->arena, page->most * sizeof *page->records);
	if (page->order == STORE_BY_NAME || list->words.data != NULL || list->is_filtered)
		return add_pages_searching(list, kind, add, fault);
	do {
		if (!store_page(call->transaction, kind, page, fault) ||
		    !add(list, page->records, page->count, fault))
			return false;
		if (page->count > 0)
			list->read = page->records[page->count - 1].id;
		page->below = &list->read;
	} while (!page->is_last && !list_is_full(list));
	return true;
}

/* True if the query has `start`, even an empty one, which everywhere else counts as absent. */
static bool is_walk(const struct call *call)
{
	struct slice uri = call->request.uri, bad;
	const char *mark = memchr(uri.data, '?', uri.size);
	struct parameter *parameters;
	size_t n;

	if (mark == NULL)
		return false;
	uri.size -= (size_t)(mark + 1 - uri.data);
	uri.data = mark + 1;
	if (!text_query(call->arena, uri, &parameters, &n, &bad))
		return false;
	while (n > 0 && !slice_is(parameters[n - 1].name, "start"))
		n--;
	return n > 0;
}

bool list_close(struct list *list, struct fault *fault)
{
	struct buffer end = BUFFER_INITIAL(list->call->arena);

	if (list->words.data != NULL && !list->is_cut)
		list->last = SLICE("");
	if (is_too_large(list))
		return fault_detail(fault, FAULT_TOO_LARGE,
				    "the response would exceed %zu bytes after %zu items; use a "
				    "smaller limit (10 always works)",
				    CALL_ANSWER_MOST, list->count - 1);
	if (list->count > 0)
		buffer_append_text(&end, "]");
	else
		buffer_append_text(&end, is_walk(list->call) && !list->is_cut ? "null" : "[]");
	buffer_append_member(&end, ",\"last\":", list->last);
	buffer_append_byte(&end, '}');
	call_part(list->call, buffer_slice(&end));
	return true;
}
