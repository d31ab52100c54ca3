/* See resources/expected.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/expected.h"

#include <assert.h>

#include "resources/kept_answer.h"

bool expected_open(struct call *call, struct expected *expected)
{
	expected->call = call;
	expected->n = 0;
	/* Of a bulk, the operations before have read already. */
	return !call->is_part && store_wants_expected(call->transaction);
}

static size_t add(struct expected *expected, struct store_expected item)
{
	assert(expected->n < EXPECTED_MOST);
	expected->items[expected->n] = item;
	return expected->n++;
}

static const struct id *copied(struct expected *expected, const struct id *id)
{
	struct id *copy = arena_alloc(expected->call->arena, sizeof *copy);

	*copy = *id;
	return copy;
}

size_t expected_get(struct expected *expected, const struct store_kind *kind, const struct id *id,
		    enum store_reading reading)
{
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_ID,
				     .reading = reading,
				     .id = copied(expected, id),
			     });
}

size_t expected_named(struct expected *expected, const struct store_kind *kind, struct slice name,
		      enum store_reading reading)
{
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_NAME,
				     .reading = reading,
				     .name = name,
			     });
}

size_t expected_parent(struct expected *expected, const struct store_kind *kind, size_t from,
		       enum store_reading reading)
{
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_PARENT,
				     .reading = reading,
				     .from = from,
			     });
}

size_t expected_value(struct expected *expected, const struct store_kind *kind, size_t from)
{
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_VALUE,
				     .from = from,
			     });
}

size_t expected_own(struct expected *expected, const struct store_kind *kind, size_t from,
		    const struct id *id)
{
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_OWN,
				     .from = from,
				     .id = copied(expected, id),
			     });
}

size_t expected_page(struct expected *expected, const struct store_kind *kind,
		     const struct store_page *page)
{
	struct store_page *copy = arena_alloc(expected->call->arena, sizeof *copy);

	*copy = *page;
	if (page->parent != NULL)
		copy->parent = copied(expected, page->parent);
	if (page->above != NULL)
		copy->above = copied(expected, page->above);
	if (page->below != NULL)
		copy->below = copied(expected, page->below);
	return add(expected, (struct store_expected){
				     .kind = kind,
				     .finding = STORE_FIND_PAGE,
				     .page = copy,
			     });
}

void expected_children(struct expected *expected, const struct store_kind *kind,
		       const struct id *parent)
{
	add(expected, (struct store_expected){
			      .kind = kind,
			      .finding = STORE_FIND_CHILDREN,
			      .id = copied(expected, parent),
		      });
}

void expected_new_id(struct expected *expected, const struct store_kind *kind)
{
	add(expected, (struct store_expected){ .kind = kind, .finding = STORE_FIND_NEW_ID });
}

void expected_tell(struct expected *expected)
{
	if (expected->call->key.data != NULL)
		kept_answer_expect(expected, expected->call->key);
	store_expect(expected->call->transaction, expected->items, expected->n);
}
