/* Reads everything that a transaction is going to read in one flight. See
 * store/postgres/rows_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "store/postgres/rows_parts.h"

/* ---- expected items ---- */

void rows_expect(struct transaction *transaction, enum store_statements how,
		 const struct store_expected *expected, size_t n)
{
	struct postgres_transaction *own = rows_own(transaction);

	/* In a snapshot nothing is remembered, so what is read ahead would be read again. */
	if (own->is_open && own->base.access == STORE_READ)
		return;
	own->expected = arena_alloc(own->base.arena, (n + 1) * sizeof *own->expected);
	memcpy(own->expected, expected, n * sizeof *expected);
	own->expected_count = n;
	own->is_chain = how == STORE_CHAIN;
	own->is_one_flight = own->is_over ||
			     (own->base.access == STORE_READ && !rows_was_surprised());
	own->is_over = false;
}

#define NOTHING ((size_t)-1)

static const struct store_expected *base_of(const struct postgres_transaction *own,
					    const struct store_expected *expected)
{
	return &own->expected[expected->from];
}

/* Handles the result for a record in the account of a named record: if it was not read, it does not
 * exist. */
static void take_own(struct postgres_transaction *own, const struct store_expected *named,
		     const struct store_expected *expected)
{
	const struct known *base = known_by_name(own, named->kind, named->name, STORE_TO_SHOW);
	const struct id before = own->base.account;

	if (base == NULL || base->is_absent)
		return;
	own->base.account = base->record.account;
	if (known_by_id(own, expected->kind, expected->id, STORE_TO_SHOW) == NULL)
		known_add_absent(own, expected->kind, expected->id, (struct slice){ NULL, 0 });
	own->base.account = before;
}

/* Returns the statement that reads the parents of a page's records, or STATEMENTS if there is
 * none. */
static enum statement parents_of(enum statement page)
{
	if (page == PAGE_BY_NAME)
		return PARENTS_OF_PAGE_BY_NAME;
	if (page == PAGE_SIDE)
		return PARENTS_OF_PAGE_SIDE;
	return page == PAGE_ALL ? PARENTS_OF_PAGE_ALL : STATEMENTS;
}

/* Adds a statement for the parent or value of the record that an earlier item finds. NOTHING if
 * this is not read ahead. */
static size_t add_led(struct postgres_transaction *own, const struct store_expected *expected,
		      bool *locks)
{
	const struct store_expected *base = base_of(own, expected), *from = base;
	struct page_query query;
	struct parameters parameters;
	enum statement statement;

	if (base->finding == STORE_FIND_PARENT || base->finding == STORE_FIND_VALUE)
		from = base_of(own, base);
	if (from->finding == STORE_FIND_PAGE) {
		page_query_make(own, from->kind, from->page, &query);
		statement = parents_of(query.statement);
		if (statement == STATEMENTS)
			return NOTHING;
		query.parameters.count = from->page->order == STORE_BY_NAME ? 6 : 5;
		rows_add_kind(&query.parameters, expected->kind);
		page_add_side(&query.parameters, from->page);
		return rows_add(own, statement, &query.parameters);
	}
	rows_start(&parameters, own, from->kind);
	if (from->finding == STORE_FIND_ID)
		parameters_id(&parameters, from->id);
	else
		parameters_bytes(&parameters, from->name);
	if (rows_are_named(from->kind) && base == from) {
		*locks = expected->reading == STORE_TO_CHANGE;
		statement = *locks ? PARENT_OF_NAMED_TO_CHANGE : PARENT_OF_NAMED;
	} else if (rows_are_named(from->kind)) {
		statement = GRANDPARENT_OF_NAMED;
		rows_add_kind(&parameters, base->kind);
	} else if (base != from) {
		return NOTHING;
	} else if (expected->finding == STORE_FIND_VALUE) {
		statement = VALUE_OF_GET;
	} else {
		statement = from->finding == STORE_FIND_ID ? PARENT_OF_GET : PARENT_OF_FIND;
	}
	rows_add_kind(&parameters, expected->kind);
	return rows_add(own, statement, &parameters);
}

size_t rows_add_children(struct postgres_transaction *own, const struct store_kind *kind,
			 const struct id *parent)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	/* Putting a child locks the key of its parent, so the child is either seen here or waits
	 * for this transaction. */
	if (kind->under != NULL && own->base.access == STORE_WRITE) {
		rows_start(&parameters, own, kind->under);
		parameters_id(&parameters, parent);
		rows_add(own, LOCK_PARENT, &parameters);
	}
	parameters = PARAMETERS_INITIAL;
	parameters_id(&parameters, &own->base.account);
	rows_add_kind(&parameters, kind);
	parameters_id(&parameters, parent);
	return rows_add(own, rows_are_named(kind) ? HAS_NAMED_CHILDREN : HAS_CHILDREN, &parameters);
}

size_t rows_add_found(struct postgres_transaction *own, const struct store_kind *kind,
		      const struct id *id, struct slice name, enum store_reading reading)
{
	const bool locks = reading == STORE_TO_CHANGE;
	struct parameters parameters;

	rows_start(&parameters, own, kind);
	if (id != NULL) {
		parameters_id(&parameters, id);
		return rows_add(own, locks ? GET_TO_CHANGE : GET, &parameters);
	}
	parameters_bytes(&parameters, name);
	if (rows_are_named(kind))
		return rows_add(own, locks ? NAMED_TO_CHANGE : NAMED, &parameters);
	return rows_add(own, locks ? FIND_TO_CHANGE : FIND, &parameters);
}

static size_t add_expected(struct postgres_transaction *own, const struct store_expected *expected,
			   bool *locks)
{
	const struct store_expected *base;
	struct parameters parameters;
	struct page_query query;

	*locks = false;
	switch (expected->finding) {
	case STORE_FIND_ID:
	case STORE_FIND_NAME:
		*locks = expected->reading == STORE_TO_CHANGE;
		return rows_add_found(own, expected->kind,
				      expected->finding == STORE_FIND_ID ? expected->id : NULL,
				      expected->name, expected->reading);
	case STORE_FIND_PARENT:
	case STORE_FIND_VALUE:
		return add_led(own, expected, locks);
	case STORE_FIND_OWN:
		base = base_of(own, expected);
		rows_start(&parameters, own, base->kind);
		parameters_bytes(&parameters, base->name);
		rows_add_kind(&parameters, expected->kind);
		parameters_id(&parameters, expected->id);
		return rows_add(own, OWN_OF_NAMED, &parameters);
	case STORE_FIND_SIBLINGS:
		return NOTHING;
	case STORE_FIND_PAGE:
		page_query_make(own, expected->kind, expected->page, &query);
		return rows_add(own, query.statement, &query.parameters);
	case STORE_FIND_CHILDREN:
		return rows_add_children(own, expected->kind, expected->id);
	case STORE_FIND_NEW_ID:
		break;
	}
	rows_start(&parameters, own, expected->kind);
	return rows_add(own, NEW_ID, &parameters);
}

void rows_remember_id(struct postgres_transaction *own, const struct store_kind *kind,
		      size_t result)
{
	struct known_id *known = arena_zero(own->base.arena, sizeof *known);

	known->letter = kind->letter;
	known->number = wire_number(own->wire, result, 0, NEW_ID_NUMBER);
	known->now = (int64_t)wire_number(own->wire, result, 0, NEW_ID_NOW);
	known->has_newest = rows_copy_id(wire_bytes(own->wire, result, 0, NEW_ID_NEWEST),
					 &known->newest);
	known->next = own->ids;
	own->ids = known;
}

static void remember_children(struct postgres_transaction *own, const struct store_kind *kind,
			      const struct id *parent, size_t result)
{
	struct known_children *known = arena_zero(own->base.arena, sizeof *known);

	known->letter = kind->letter;
	known->parent = *parent;
	known->exist = wire_number(own->wire, result, 0, 0) != 0;
	known->next = own->children;
	own->children = known;
}

static bool take_expected(struct postgres_transaction *own, const struct store_expected *expected,
			  size_t result, bool is_locked, struct fault *fault)
{
	switch (expected->finding) {
	case STORE_FIND_ID:
	case STORE_FIND_NAME:
		if (wire_rows(own->wire, result) == 0)
			known_add_absent(own, expected->kind,
					 expected->finding == STORE_FIND_ID ? expected->id : NULL,
					 expected->name);
		return known_take_rows(own, result, is_locked, fault);
	case STORE_FIND_PARENT:
	case STORE_FIND_VALUE:
		return known_take_rows(own, result, is_locked, fault);
	case STORE_FIND_OWN:
		if (!known_take_rows(own, result, false, fault))
			return false;
		take_own(own, base_of(own, expected), expected);
		return true;
	case STORE_FIND_SIBLINGS: /* is not read here */
		return true;
	case STORE_FIND_PAGE:
		return page_remember(own, expected, result, fault);
	case STORE_FIND_CHILDREN:
		remember_children(own, expected->kind, expected->id, result);
		return true;
	case STORE_FIND_NEW_ID:
		break;
	}
	rows_remember_id(own, expected->kind, result);
	return true;
}

/* Takes the records with the same parent as a named record. */
static bool take_siblings(struct postgres_transaction *own, const struct store_expected *named,
			  const struct store_expected *expected, struct fault *fault)
{
	const struct known *base = known_by_name(own, named->kind, named->name, STORE_TO_SHOW);
	const struct id before = own->base.account;
	bool is_taken;

	if (base == NULL || base->is_absent)
		return true;
	own->base.account = base->record.account;
	is_taken = page_remember_siblings(own, expected, &base->record.parent, 0, fault);
	own->base.account = before;
	return is_taken;
}

/* The places of the items of a chain (STORE_CHAIN), the last two of which it may lack. */
enum { CHAIN_PARENT, CHAIN_CHILD, CHAIN_GRANDPARENT, CHAIN_OTHER, CHAIN_OWN, CHAIN_SIBLINGS };

/* Reads a chain, which is one statement and therefore one snapshot. */
static bool read_chain(struct postgres_transaction *own, struct fault *fault)
{
	const struct store_expected *chain = own->expected, *child = &chain[CHAIN_CHILD];
	const bool has_own = own->expected_count > CHAIN_OWN;
	const bool has_siblings = own->expected_count > CHAIN_SIBLINGS;
	const struct known *before = own->known;
	struct parameters parameters;

	rows_start(&parameters, own, child->kind);
	parameters_bytes(&parameters, child->name);
	rows_add_kind(&parameters, chain[CHAIN_PARENT].kind);
	rows_add_kind(&parameters, chain[CHAIN_GRANDPARENT].kind);
	rows_add_kind(&parameters, chain[CHAIN_OTHER].kind);
	if (has_own) {
		rows_add_kind(&parameters, chain[CHAIN_OWN].kind);
		parameters_id(&parameters, chain[CHAIN_OWN].id);
	}
	if (has_siblings) {
		rows_add_kind(&parameters, chain[CHAIN_SIBLINGS].kind);
		parameters_number(&parameters, chain[CHAIN_SIBLINGS].page->most + 1, 8);
	}
	own->expected_count = 0;
	own->is_over = true;
	/* Otherwise rows_add would first add another statement for the generation. */
	if (own->base.roster != 0)
		rows_await_roster(own, 0, COLUMN_GENERATION);
	rows_add(own,
		 has_siblings ? CHAIN_AND_SIBLINGS_OF_NAMED
		 : has_own    ? CHAIN_AND_OWN_OF_NAMED
			      : CHAIN_OF_NAMED,
		 &parameters);
	if (!rows_fly(own, fault) || !known_take_rows(own, 0, false, fault))
		return false;
	if (own->known == before)
		known_add_absent(own, child->kind, NULL, child->name);
	else if (has_own)
		take_own(own, child, &chain[CHAIN_OWN]);
	return !has_siblings || take_siblings(own, child, &chain[CHAIN_SIBLINGS], fault);
}

/* Reads all expected items in one flight. A READ transaction with several statements has a
 * snapshot, which ends in the same flight. */
bool rows_read_expected(struct postgres_transaction *own, struct fault *fault)
{
	const size_t n = own->expected_count;
	const bool has_snapshot = own->is_one_flight && n > 1;
	size_t *results, new_id = 0;
	bool *locks, brings_roster;

	if (n == 0)
		return true;
	if (own->is_one_flight && own->is_chain)
		return read_chain(own, fault);
	results = arena_alloc(own->base.arena, n * sizeof *results);
	locks = arena_alloc(own->base.arena, n * sizeof *locks);
	own->expected_count = 0;
	/* The statement for a new id also returns the generation of the accounts. */
	while (new_id < n && own->expected[new_id].finding != STORE_FIND_NEW_ID)
		new_id++;
	brings_roster = new_id < n && own->base.roster != 0 && !own->asks_roster;
	if (brings_roster)
		rows_await_roster(own, 0, NEW_ID_GENERATION);
	if (has_snapshot)
		rows_add(own, BEGIN_SNAPSHOT, NULL);
	for (size_t i = 0; i < n; i++)
		results[i] = add_expected(own, &own->expected[i], &locks[i]);
	if (brings_roster)
		own->roster_result = results[new_id];
	if (has_snapshot)
		rows_add(own, COMMIT, NULL);
	own->is_over = own->is_one_flight;
	if (!rows_fly(own, fault)) {
		own->is_open = own->is_open || has_snapshot;
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (results[i] != NOTHING &&
		    !take_expected(own, &own->expected[i], results[i], locks[i], fault))
			return false;
	}
	return true;
}
