/* Pages: their statements. A page that was read before is given again, with the changes of this
 * transaction applied. See store/postgres/rows_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "store/postgres/rows_parts.h"

#define BOUND_SIZE (ID_SIZE + 1)

/* ---- pages ---- */

/* Returns the first text after all texts with the prefix, or an empty text if no text follows
 * them. */
static struct slice end_of_prefix(struct slice prefix, char *bytes)
{
	size_t size = prefix.size;

	while (size > 0 && (unsigned char)prefix.data[size - 1] == 0xff)
		size--;
	if (size == 0)
		return SLICE("");
	memcpy(bytes, prefix.data, size);
	bytes[size - 1] = (char)((unsigned char)bytes[size - 1] + 1);
	return (struct slice){ bytes, size };
}

/* Returns the statement for the order newest first. The next statement is for oldest first. */
static enum statement page_statement(const struct store_kind *kind, const struct store_page *page)
{
	const bool has_side = page->side != STORE_BOTH_SIDES;

	if (page->parent == NULL)
		return has_side ? PAGE_SIDE : PAGE_ALL;
	if (!kind->has_switch)
		return rows_are_named(kind) ? PAGE_NAMED : PAGE_CHILDREN;
	if (has_side)
		return rows_are_named(kind) ? PAGE_NAMED_SIDE : PAGE_CHILDREN_SIDE;
	return rows_are_named(kind) ? PAGE_NAMED_BOTH : PAGE_CHILDREN_BOTH;
}

void page_add_side(struct parameters *parameters, const struct store_page *page)
{
	if (page->side != STORE_BOTH_SIDES)
		parameters_number(parameters, page->side == STORE_ON, 1);
}

void page_query_make(const struct postgres_transaction *own, const struct store_kind *kind,
		     const struct store_page *page, struct page_query *query)
{
	static const char last[BOUND_SIZE] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	struct parameters *parameters = &query->parameters;

	*parameters = PARAMETERS_INITIAL;
	parameters_id(parameters, &own->base.account);
	rows_add_kind(parameters, kind);
	if (page->order == STORE_BY_NAME) {
		struct slice after = page->after.size > 0 ? page->after : SLICE("");
		struct slice prefix = page->prefix.size > 0 ? page->prefix : SLICE("");

		/* If `after` is longer than any name, its first STORE_NAME_MAX bytes give the same
		 * page. */
		if (after.size > STORE_NAME_MAX)
			after.size = STORE_NAME_MAX;
		query->statement = PAGE_BY_NAME;
		parameters_bytes(parameters, after);
		/* No name is longer than this, so a longer prefix is cut. */
		if (prefix.size > STORE_NAME_MAX)
			prefix.size = STORE_NAME_MAX;
		parameters_bytes(parameters, prefix);
		parameters_bytes(parameters, end_of_prefix(prefix, query->prefix_end));
		parameters_number(parameters, page->most + 1, 8);
		return;
	}
	if (page->order == STORE_BY_END) {
		query->statement = PAGE_BY_END;
		parameters_number(parameters, (uint64_t)page->until, 8);
		parameters_number(parameters, page->most + 1, 8);
		return;
	}
	query->statement = page_statement(kind, page) + (page->order == STORE_OLDEST_FIRST ? 1 : 0);
	parameters_bytes(parameters, page->above != NULL ? id_slice(page->above) : SLICE(""));
	parameters_bytes(parameters, page->below != NULL ? id_slice(page->below)
							 : (struct slice){ last, sizeof last });
	parameters_number(parameters, page->most + 1, 8);
	if (page->parent != NULL)
		parameters_id(parameters, page->parent);
	page_add_side(parameters, page);
}

static bool is_full(const struct store_page *page, size_t bytes)
{
	return page->count == page->most || (page->bytes_most > 0 && bytes > page->bytes_most);
}

bool page_take(struct postgres_transaction *own, size_t result, struct store_page *page,
	       struct fault *fault)
{
	const size_t rows = wire_rows(own->wire, result);
	size_t bytes = 0;
	char letter;

	page->count = 0;
	while (page->count < rows && !is_full(page, bytes)) {
		struct store_record *record = &page->records[page->count];

		if (!rows_read(own->base.arena, own->wire, result, page->count, &letter, record,
			       fault) ||
		    (!rows_are_own(own, &record->account) &&
		     !rows_damaged(letter, &record->id, "belongs to another account", fault))) {
			page->damaged = record->id;
			return false;
		}
		bytes += record->value.size;
		page->count++;
	}
	page->is_last = page->count == rows;
	return true;
}

static bool is_same_bound(const struct id *a, const struct id *b)
{
	return a == NULL || b == NULL ? a == b : id_compare(a, b) == 0;
}

const struct store_page *page_known(const struct postgres_transaction *own,
				    const struct store_kind *kind, const struct store_page *page)
{
	for (const struct known_page *known = own->pages; known != NULL; known = known->next) {
		const struct store_page *other = &known->page;

		if (known->letter == kind->letter && other->order == page->order &&
		    other->side == page->side && other->most == page->most &&
		    other->bytes_most == page->bytes_most &&
		    is_same_bound(other->parent, page->parent) &&
		    is_same_bound(other->above, page->above) &&
		    is_same_bound(other->below, page->below) &&
		    /* The changes of this transaction are not applied to a page of names. */
		    (page->order != STORE_BY_NAME ||
		     (own->first_change == NULL && slice_equal(other->prefix, page->prefix) &&
		      slice_equal(other->after, page->after))))
			return other;
	}
	return NULL;
}

static const struct id *copied_id(struct arena *arena, const struct id *id)
{
	struct id *copy;

	if (id == NULL)
		return NULL;
	copy = arena_alloc(arena, sizeof *copy);
	*copy = *id;
	return copy;
}

static struct store_page *add_page(struct postgres_transaction *own,
				   const struct store_expected *expected, const struct id *parent)
{
	struct arena *arena = own->base.arena;
	struct known_page *known = arena_zero(arena, sizeof *known);

	known->letter = expected->kind->letter;
	known->page = *expected->page;
	known->page.records = arena_alloc(arena,
					  (known->page.most + 1) * sizeof *known->page.records);
	known->page.parent = copied_id(arena, parent);
	known->page.above = copied_id(arena, expected->page->above);
	known->page.below = copied_id(arena, expected->page->below);
	known->next = own->pages;
	own->pages = known;
	return &known->page;
}

bool page_remember(struct postgres_transaction *own, const struct store_expected *expected,
		   size_t result, struct fault *fault)
{
	return page_take(own, result, add_page(own, expected, expected->page->parent), fault);
}

static bool page_wants(const struct postgres_transaction *own, const struct store_page *page,
		       const struct change *change)
{
	const struct store_record *record = &change->record;

	return !change->is_removal && rows_are_own(own, &change->record.account) &&
	       (page->parent == NULL || id_compare(&record->parent, page->parent) == 0) &&
	       (page->side == STORE_BOTH_SIDES || record->is_on == (page->side == STORE_ON)) &&
	       (page->above == NULL || id_compare(&record->id, page->above) > 0) &&
	       (page->below == NULL || id_compare(&record->id, page->below) < 0);
}

static bool comes_before(enum store_order order, const struct id *a, const struct id *b)
{
	const int comparison = id_compare(a, b);

	return order == STORE_NEWEST_FIRST ? comparison > 0 : comparison < 0;
}

static void insert_in_order(struct store_page *page, const struct store_record *record)
{
	size_t place = page->count++;

	for (; place > 0 && comes_before(page->order, &record->id, &page->records[place - 1].id);
	     place--)
		page->records[place] = page->records[place - 1];
	page->records[place] = *record;
}

/* All rows of the kind are of the page, which has one more if more records follow. */
bool page_remember_siblings(struct postgres_transaction *own, const struct store_expected *expected,
			    const struct id *parent, size_t result, struct fault *fault)
{
	struct store_page *page = add_page(own, expected, parent);

	for (size_t i = 0; i < wire_rows(own->wire, result); i++) {
		struct store_record record;
		char letter;

		if (wire_bytes(own->wire, result, i, COLUMN_KIND).data == NULL ||
		    (char)(unsigned char)wire_number(own->wire, result, i, COLUMN_KIND) !=
			    expected->kind->letter)
			continue;
		if (!rows_read(own->base.arena, own->wire, result, i, &letter, &record, fault))
			return false;
		if (!rows_are_own(own, &record.account))
			return rows_damaged(letter, &record.id, "belongs to another account",
					    fault);
		if (page->count <= page->most)
			insert_in_order(page, &record);
	}
	page->is_last = page->count <= page->most;
	page->count -= !page->is_last;
	return true;
}

bool page_merge(const struct postgres_transaction *own, const struct store_kind *kind,
		const struct store_page *read, struct store_page *page)
{
	struct store_page all = *page;
	size_t n = read->count, bytes = 0;

	for (const struct change *change = own->first_change; change != NULL;
	     change = change->after)
		n += change->kind->letter == kind->letter && page_wants(own, page, change);
	all.records = arena_alloc(own->base.arena, (n + 1) * sizeof *all.records);
	all.count = 0;
	for (size_t i = 0; i < read->count; i++) {
		if (change_of(own, kind, &read->records[i]) == NULL)
			all.records[all.count++] = read->records[i];
	}
	for (const struct change *change = own->first_change; change != NULL;
	     change = change->after) {
		if (change->kind->letter == kind->letter && page_wants(own, page, change) &&
		    change_of(own, kind, &change->record) == change)
			insert_in_order(&all, &change->record);
	}
	if (!read->is_last) {
		if (read->count == 0)
			return false;
		while (all.count > 0 &&
		       comes_before(page->order, &read->records[read->count - 1].id,
				    &all.records[all.count - 1].id))
			all.count--;
	}
	page->count = 0;
	while (page->count < all.count && !is_full(page, bytes)) {
		page->records[page->count] = all.records[page->count];
		bytes += all.records[page->count++].value.size;
	}
	page->is_last = page->count == all.count && read->is_last;
	return page->is_last || page->count < all.count || is_full(page, bytes);
}
