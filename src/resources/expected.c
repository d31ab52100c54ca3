/* See resources/expected.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/expected.h"

#include <assert.h>

#include "resources/retries/kept_answer.h"

bool expected_open(struct call *call, struct expected *expected)
{
	expected->call = call;
	expected->n = 0;
	/* Of a bulk, the operations before have read already. */
	return !call->is_part && store_wants_expected(call->transaction);
}

/* The next item, which counts when the caller has raised n. */
static struct store_expected *next(struct expected *expected, const struct store_kind *kind,
				   enum store_finding finding, enum store_reading reading)
{
	struct store_expected *item = &expected->items[expected->n];

	assert(expected->n < EXPECTED_MOST);
	*item = (struct store_expected){ .kind = kind, .finding = finding, .reading = reading };
	return item;
}

static const struct id *copied(struct expected *expected, const struct id *id)
{
	struct id *copy;

	if (id == NULL)
		return NULL;
	copy = arena_alloc(expected->call->arena, sizeof *copy);
	*copy = *id;
	return copy;
}

size_t expected_get(struct expected *expected, const struct store_kind *kind, const struct id *id,
		    enum store_reading reading)
{
	next(expected, kind, STORE_FIND_ID, reading)->id = copied(expected, id);
	return expected->n++;
}

size_t expected_named(struct expected *expected, const struct store_kind *kind, struct slice name,
		      enum store_reading reading)
{
	next(expected, kind, STORE_FIND_NAME, reading)->name = name;
	return expected->n++;
}

size_t expected_parent(struct expected *expected, const struct store_kind *kind, size_t from,
		       enum store_reading reading)
{
	next(expected, kind, STORE_FIND_PARENT, reading)->from = from;
	return expected->n++;
}

size_t expected_value(struct expected *expected, const struct store_kind *kind, size_t from)
{
	next(expected, kind, STORE_FIND_VALUE, STORE_TO_SHOW)->from = from;
	return expected->n++;
}

size_t expected_own(struct expected *expected, const struct store_kind *kind, size_t from,
		    const struct id *id)
{
	struct store_expected *item = next(expected, kind, STORE_FIND_OWN, STORE_TO_SHOW);

	item->from = from;
	item->id = copied(expected, id);
	return expected->n++;
}

size_t expected_page(struct expected *expected, const struct store_kind *kind,
		     const struct store_page *page)
{
	struct store_page *copy = arena_alloc(expected->call->arena, sizeof *copy);

	*copy = *page;
	copy->parent = copied(expected, page->parent);
	copy->above = copied(expected, page->above);
	copy->below = copied(expected, page->below);
	next(expected, kind, STORE_FIND_PAGE, STORE_TO_SHOW)->page = copy;
	return expected->n++;
}

void expected_children(struct expected *expected, const struct store_kind *kind,
		       const struct id *parent)
{
	next(expected, kind, STORE_FIND_CHILDREN, STORE_TO_SHOW)->id = copied(expected, parent);
	expected->n++;
}

void expected_new_id(struct expected *expected, const struct store_kind *kind)
{
	next(expected, kind, STORE_FIND_NEW_ID, STORE_TO_SHOW);
	expected->n++;
}

void expected_tell(struct expected *expected)
{
	if (expected->call->idempotency_key.data != NULL)
		kept_answer_expect(expected, expected->call->idempotency_key);
	store_expect(expected->call->transaction, expected->items, expected->n);
}
