/* Records in a transaction of the database. What was read is remembered for the rest of the
 * transaction; changes are kept back, and travel with the commit. A read that they could change
 * sends them first, unless the answer can be made of what is known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>

#include "base/checksum.h"
#include "base/text.h"
#include "store/postgres/store_postgres_parts.h"

/* Changes that are kept back, at most. */
#define UNSENT_MOST 256
/* Numbers that are taken for a transaction that makes many records; those left over are lost. */
#define NEW_IDS_AT_ONCE 32
#define BOUND_SIZE (ID_SIZE + 1)

static _Thread_local bool was_surprised;

bool rows_was_surprised(void)
{
	const bool was = was_surprised;

	was_surprised = false;
	return was;
}

static struct postgres_transaction *own_of(struct transaction *transaction)
{
	return (struct postgres_transaction *)transaction;
}

static bool is_named(const struct store_kind *kind)
{
	return kind->naming == STORE_NAME_ANYWHERE;
}

/* ---- flights ---- */

/* The generation of the accounts comes with this result. */
static void await_roster(struct postgres_transaction *own, size_t result, size_t column)
{
	own->asks_roster = own->awaits_roster = true;
	own->roster_result = result;
	own->roster_column = column;
}

size_t rows_add(struct postgres_transaction *own, enum statement statement,
		const struct parameters *parameters)
{
	if (!own->is_open && !own->is_one_flight) {
		wire_add(own->wire, own->base.access == STORE_WRITE ? BEGIN_WRITE : BEGIN_SNAPSHOT,
			 NULL);
		own->is_open = true;
		own->flight++;
	}
	/* In the snapshot, where there is one: nothing may come before its beginning. */
	if (own->base.roster != 0 && !own->asks_roster && statement != BEGIN_SNAPSHOT) {
		await_roster(own, own->flight++, 0);
		wire_add(own->wire, GENERATION, NULL);
	}
	wire_add(own->wire, statement, parameters);
	return own->flight++;
}

/* The accounts have changed since the caller was admitted. */
static bool check_roster(struct postgres_transaction *own, struct fault *fault)
{
	uint64_t generation = 0;

	if (!own->awaits_roster)
		return true;
	own->awaits_roster = false;
	/* In one row; in others it is NULL. */
	for (size_t i = 0; i < wire_rows(own->wire, own->roster_result); i++)
		generation += wire_number(own->wire, own->roster_result, i, own->roster_column);
	roster_see((struct store_postgres *)own->base.store, generation);
	return own->base.roster == STORE_ROSTER_ANY || generation == own->base.roster ||
	       fault_set(fault, FAULT_AGAIN, NULL);
}

bool rows_fly(struct postgres_transaction *own, struct fault *fault)
{
	own->flight = 0;
	return wire_fly(own->wire, true, fault) && check_roster(own, fault);
}

/* A READ transaction that had said what it reads has no snapshot for more. */
static bool may_read(const struct postgres_transaction *own, struct fault *fault)
{
	if (!own->is_over)
		return true;
	was_surprised = true;
	return fault_set(fault, FAULT_AGAIN, NULL);
}

/* ---- rows ---- */

static uint32_t checksum_of(char letter, const struct store_record *record, bool has_parent,
			    bool has_switch)
{
	const char head[] = {
		letter,
		(char)(has_switch ? record->is_on : 2),
		(char)has_parent,
		(char)(unsigned char)record->name.size,
	};
	uint32_t sum = checksum(0, head, sizeof head);

	sum = checksum(sum, record->account.bytes, ID_SIZE);
	sum = checksum(sum, record->id.bytes, ID_SIZE);
	if (has_parent)
		sum = checksum(sum, record->parent.bytes, ID_SIZE);
	if (record->name.size > 0)
		sum = checksum(sum, record->name.data, record->name.size);
	return checksum(sum, record->value.data, record->value.size);
}

static bool damaged(char letter, const struct id *id, const char *how, struct fault *fault)
{
	char text[ID_TEXT_SIZE + 1];

	id_print(id, text);
	return fault_cause(fault, FAULT_DAMAGED, 0, "the record %c %s %s", letter, text, how);
}

static bool copy_id(struct slice bytes, struct id *id)
{
	if (bytes.data == NULL || bytes.size != ID_SIZE)
		return false;
	memcpy(id->bytes, bytes.data, ID_SIZE);
	return true;
}

/* The record of a row, copied, with its checksum compared. */
bool rows_read(struct arena *arena, const struct wire *wire, size_t result, size_t row,
	       char *letter, struct store_record *record, struct fault *fault)
{
	const struct slice name = wire_bytes(wire, result, row, COLUMN_NAME);
	const struct slice value = wire_bytes(wire, result, row, COLUMN_VALUE);
	const struct slice parent = wire_bytes(wire, result, row, COLUMN_PARENT);
	const struct slice is_on = wire_bytes(wire, result, row, COLUMN_IS_ON);
	const bool has_parent = parent.data != NULL, has_switch = is_on.data != NULL;

	*letter = (char)(unsigned char)wire_number(wire, result, row, COLUMN_KIND);
	*record = (struct store_record){ .is_on = has_switch && is_on.data[0] != 0 };
	if (!copy_id(wire_bytes(wire, result, row, COLUMN_ACCOUNT), &record->account) ||
	    !copy_id(wire_bytes(wire, result, row, COLUMN_ID), &record->id) ||
	    (has_parent && !copy_id(parent, &record->parent)) || name.size > STORE_NAME_MAX)
		return damaged(*letter, &record->id, "cannot be read", fault);
	if (!arena_fits(arena, name.size + value.size + 2))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	if (name.data != NULL)
		record->name = arena_copy(arena, name);
	record->value = arena_copy(arena, value);
	return checksum_of(*letter, record, has_parent, has_switch) ==
		       (uint32_t)wire_number(wire, result, row, COLUMN_CHECKSUM) ||
	       damaged(*letter, &record->id, "has a wrong checksum", fault);
}

static struct known *add_known(struct postgres_transaction *own, char letter,
			       const struct store_record *record)
{
	struct known *known = arena_zero(own->base.arena, sizeof *known);

	known->letter = letter;
	known->record = *record;
	own->known = known;
	return known;
}

static void index_id(struct postgres_transaction *own, struct known *known)
{
	key_index_add(&own->known_ids, own->base.arena, known->letter, id_slice(&known->record.id),
		      known);
}

static void index_name(struct postgres_transaction *own, struct known *known)
{
	key_index_add(&own->known_names, own->base.arena, known->letter, known->record.name, known);
}

static void add_absent(struct postgres_transaction *own, const struct store_kind *kind,
		       const struct id *id, struct slice name)
{
	const struct store_record absent = { .account = own->base.account };
	struct known *known = add_known(own, kind->letter, &absent);

	known->is_absent = true;
	if (id != NULL) {
		known->record.id = *id;
		index_id(own, known);
	} else {
		known->record.name = arena_copy(own->base.arena, name);
		index_name(own, known);
	}
}

/* Remembers the records of a result. */
static bool take_rows(struct postgres_transaction *own, size_t result, bool are_locked,
		      struct fault *fault)
{
	const size_t rows = wire_rows(own->wire, result);
	struct store_record record;
	struct known *known;
	char letter;

	for (size_t i = 0; i < rows; i++) {
		if (wire_bytes(own->wire, result, i, COLUMN_KIND).data == NULL)
			continue;
		if (!rows_read(own->base.arena, own->wire, result, i, &letter, &record, fault))
			return false;
		known = add_known(own, letter, &record);
		known->is_locked = are_locked;
		index_id(own, known);
		if (record.name.data != NULL)
			index_name(own, known);
	}
	return true;
}

static bool is_of_account(const struct postgres_transaction *own, const struct id *account)
{
	return id_compare(account, &own->base.account) == 0;
}

static bool serves(const struct known *known, const struct store_kind *kind,
		   enum store_reading reading)
{
	return known->letter == kind->letter &&
	       (reading != STORE_TO_CHANGE || known->is_locked || known->is_absent);
}

/* NULL: it has to be read. */
static const struct known *known_by_id(const struct postgres_transaction *own,
				       const struct store_kind *kind, const struct id *id,
				       enum store_reading reading)
{
	const struct key_entry *entry = key_index_find(&own->known_ids, kind->letter, id_slice(id));

	for (; entry != NULL; entry = entry->next) {
		const struct known *known = entry->item;

		if (serves(known, kind, reading) && id_compare(&known->record.id, id) == 0 &&
		    is_of_account(own, &known->record.account))
			return known;
	}
	return NULL;
}

static const struct known *known_by_name(const struct postgres_transaction *own,
					 const struct store_kind *kind, struct slice name,
					 enum store_reading reading)
{
	const struct key_entry *entry = key_index_find(&own->known_names, kind->letter, name);

	for (; entry != NULL; entry = entry->next) {
		const struct known *known = entry->item;

		if (serves(known, kind, reading) && slice_equal(known->record.name, name) &&
		    (is_named(kind) || is_of_account(own, &known->record.account)))
			return known;
	}
	return NULL;
}

static void give(const struct known *known, struct store_record *record)
{
	*record = (struct store_record){ .is_on = false };
	if (!known->is_absent)
		*record = known->record;
}

/* ---- our own changes ---- */

static bool is_of_change(const struct postgres_transaction *own, const struct store_kind *kind,
			 const struct change *change)
{
	return change->kind->letter == kind->letter &&
	       (is_named(kind) || is_of_account(own, &change->account));
}

/* By its key; of a name, also the change that gave it up. */
static bool has_key(const struct change *change, const struct store_record *record)
{
	if (!is_named(change->kind))
		return id_compare(&change->record.id, &record->id) == 0;
	return slice_equal(change->record.name, record->name) ||
	       slice_equal(change->former_name, record->name);
}

/* The last change of a record; NULL: none. */
static const struct change *change_of(const struct postgres_transaction *own,
				      const struct store_kind *kind,
				      const struct store_record *record)
{
	const struct key_entry *entry =
		is_named(kind)
			? key_index_find(&own->changed_names, kind->letter, record->name)
			: key_index_find(&own->changed_ids, kind->letter, id_slice(&record->id));

	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (is_of_change(own, kind, change) && has_key(change, record))
			return change;
	}
	return NULL;
}

/* Whether a record of this kind, after which others come to be, is new in this transaction: then the
 * database has none of them. */
static bool is_new(const struct postgres_transaction *own, const struct store_kind *kind,
		   const struct id *id)
{
	const struct key_entry *entry;

	if (kind == NULL || id == NULL)
		return false;
	entry = key_index_find(&own->changed_ids, kind->letter, id_slice(id));
	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (is_of_change(own, kind, change) && change->is_insertion &&
		    id_compare(&change->record.id, id) == 0)
			return true;
	}
	return false;
}

static void give_change(const struct change *change, const struct store_kind *kind,
			struct slice name, struct store_record *record)
{
	*record = (struct store_record){ .is_on = false };
	if (change->is_removal || (is_named(kind) && !slice_equal(change->record.name, name)))
		return;
	*record = change->record;
}

static bool has_unsent_of(const struct postgres_transaction *own, const struct store_kind *kind)
{
	const struct change *change = own->last_change;

	while (change != NULL && !change->is_sent && change->kind->letter != kind->letter)
		change = change->before;
	return change != NULL && !change->is_sent;
}

static bool has_changes_of(const struct postgres_transaction *own, const struct store_kind *kind)
{
	const struct change *change = own->last_change;

	while (change != NULL && change->kind->letter != kind->letter)
		change = change->before;
	return change != NULL;
}

/* ---- parameters ---- */

static void start(struct parameters *parameters, const struct postgres_transaction *own,
		  const struct store_kind *kind)
{
	*parameters = PARAMETERS_INITIAL;
	if (!is_named(kind))
		parameters_id(parameters, &own->base.account);
	parameters_number(parameters, (unsigned char)kind->letter, 2);
}

static void add_kind(struct parameters *parameters, const struct store_kind *kind)
{
	parameters_number(parameters, (unsigned char)kind->letter, 2);
}

/* ---- pages ---- */

struct page_query {
	enum statement statement;
	struct parameters parameters;
	char prefix_end[STORE_NAME_MAX];
	char after[STORE_NAME_MAX + 1];
};

/* The first text after all with the prefix; empty: none. */
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

static void query_by_name(const struct store_page *page, struct page_query *query)
{
	struct slice after = page->after.size > 0 ? page->after : SLICE("");
	struct slice prefix = page->prefix.size > 0 ? page->prefix : SLICE("");

	/* A name after a longer text is after its first STORE_NAME_MAX bytes. */
	if (after.size > STORE_NAME_MAX)
		after.size = STORE_NAME_MAX;
	query->statement = PAGE_BY_NAME;
	parameters_bytes(&query->parameters, after);
	/* No name has a longer prefix: none is found from the end on. */
	if (prefix.size > STORE_NAME_MAX)
		prefix.size = STORE_NAME_MAX;
	parameters_bytes(&query->parameters, prefix);
	parameters_bytes(&query->parameters, end_of_prefix(prefix, query->prefix_end));
	parameters_number(&query->parameters, page->most + 1, 8);
}

/* Newest first; oldest first is the statement after it. */
static enum statement page_statement(const struct store_kind *kind, const struct store_page *page)
{
	const bool has_side = page->side != STORE_BOTH_SIDES;

	if (page->parent == NULL)
		return has_side ? PAGE_SIDE : PAGE_ALL;
	if (!kind->has_switch)
		return is_named(kind) ? PAGE_NAMED : PAGE_CHILDREN;
	if (has_side)
		return is_named(kind) ? PAGE_NAMED_SIDE : PAGE_CHILDREN_SIDE;
	return is_named(kind) ? PAGE_NAMED_BOTH : PAGE_CHILDREN_BOTH;
}

static void add_side(struct parameters *parameters, const struct store_page *page)
{
	if (page->side != STORE_BOTH_SIDES)
		parameters_number(parameters, page->side == STORE_ON, 1);
}

static void query_make(const struct postgres_transaction *own, const struct store_kind *kind,
		       const struct store_page *page, struct page_query *query)
{
	static const char last[BOUND_SIZE] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	struct parameters *parameters = &query->parameters;

	*parameters = PARAMETERS_INITIAL;
	parameters_id(parameters, &own->base.account);
	add_kind(parameters, kind);
	if (page->order == STORE_BY_NAME) {
		query_by_name(page, query);
		return;
	}
	query->statement = page_statement(kind, page) + (page->order == STORE_OLDEST_FIRST ? 1 : 0);
	parameters_bytes(parameters, page->above != NULL ? id_slice(page->above) : SLICE(""));
	parameters_bytes(parameters, page->below != NULL ? id_slice(page->below)
							 : (struct slice){ last, sizeof last });
	parameters_number(parameters, page->most + 1, 8);
	if (page->parent != NULL)
		parameters_id(parameters, page->parent);
	add_side(parameters, page);
}

static bool is_full(const struct store_page *page, size_t bytes)
{
	return page->count == page->most || (page->bytes_most > 0 && bytes > page->bytes_most);
}

/* A page out of the rows of a result, of which there is one more than it may have. */
static bool take_page(struct postgres_transaction *own, size_t result, struct store_page *page,
		      struct fault *fault)
{
	const size_t rows = wire_rows(own->wire, result);
	size_t bytes = 0;
	char letter;

	page->count = 0;
	while (page->count < rows && !is_full(page, bytes)) {
		struct store_record *record = &page->records[page->count];

		if (!rows_read(own->base.arena, own->wire, result, page->count, &letter, record,
			       fault))
			return false;
		if (!is_of_account(own, &record->account))
			return damaged(letter, &record->id, "is another account's", fault);
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

static const struct store_page *known_page(const struct postgres_transaction *own,
					   const struct store_kind *kind,
					   const struct store_page *page)
{
	for (const struct known_page *known = own->pages; known != NULL; known = known->next) {
		const struct store_page *other = &known->page;

		if (known->letter == kind->letter && other->order == page->order &&
		    other->side == page->side && other->most == page->most &&
		    other->bytes_most == page->bytes_most &&
		    is_same_bound(other->parent, page->parent) &&
		    is_same_bound(other->above, page->above) &&
		    is_same_bound(other->below, page->below) && page->order != STORE_BY_NAME)
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

static bool remember_page(struct postgres_transaction *own, const struct store_expected *expected,
			  size_t result, struct fault *fault)
{
	struct arena *arena = own->base.arena;
	struct known_page *known = arena_zero(arena, sizeof *known);

	known->letter = expected->kind->letter;
	known->page = *expected->page;
	known->page.records = arena_alloc(arena,
					  (known->page.most + 1) * sizeof *known->page.records);
	known->page.parent = copied_id(arena, expected->page->parent);
	known->page.above = copied_id(arena, expected->page->above);
	known->page.below = copied_id(arena, expected->page->below);
	known->next = own->pages;
	own->pages = known;
	return take_page(own, result, &known->page, fault);
}

static bool page_wants(const struct postgres_transaction *own, const struct store_page *page,
		       const struct change *change)
{
	const struct store_record *record = &change->record;

	return !change->is_removal && is_of_account(own, &change->account) &&
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

/* The page with our own changes, out of what was read before them. False: it cannot be told, since
 * records after the last one that was read may belong to it. */
static bool merge_page(const struct postgres_transaction *own, const struct store_kind *kind,
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

/* ---- what is expected ---- */

void rows_expect(struct transaction *transaction, const struct store_expected *expected, size_t n)
{
	struct postgres_transaction *own = own_of(transaction);

	if (own->is_open || own->is_over)
		return;
	own->expected = arena_alloc(own->base.arena, (n + 1) * sizeof *own->expected);
	memcpy(own->expected, expected, n * sizeof *expected);
	own->expected_count = n;
	own->is_one_flight = own->base.access == STORE_READ && !rows_was_surprised();
}

#define NOTHING ((size_t)-1)

static const struct store_expected *base_of(const struct postgres_transaction *own,
					    const struct store_expected *expected)
{
	return &own->expected[expected->from];
}

static bool leads(const struct store_expected *expected)
{
	return expected->finding == STORE_FIND_PARENT || expected->finding == STORE_FIND_VALUE;
}

static size_t add_own(struct postgres_transaction *own, const struct store_expected *expected)
{
	const struct store_expected *base = base_of(own, expected);
	struct parameters parameters;

	start(&parameters, own, base->kind);
	parameters_bytes(&parameters, base->name);
	add_kind(&parameters, expected->kind);
	parameters_id(&parameters, expected->id);
	return rows_add(own, OWN_OF_NAMED, &parameters);
}

/* Of the account that has the record of a name: it is not there, unless it was read. */
static void take_own(struct postgres_transaction *own, const struct store_kind *named,
		     struct slice name, const struct store_expected *expected)
{
	const struct known *base = known_by_name(own, named, name, STORE_TO_SHOW);
	const struct id before = own->base.account;

	if (base == NULL || base->is_absent)
		return;
	own->base.account = base->record.account;
	if (known_by_id(own, expected->kind, expected->id, STORE_TO_SHOW) == NULL)
		add_absent(own, expected->kind, expected->id, (struct slice){ NULL, 0 });
	own->base.account = before;
}

/* The parent or value of what an earlier item finds; NOTHING: that is not read ahead. */
static size_t add_led(struct postgres_transaction *own, const struct store_expected *expected,
		      bool *locks)
{
	const struct store_expected *base = base_of(own, expected), *from = base;
	struct page_query query;
	struct parameters parameters;
	enum statement statement;

	if (leads(base))
		from = base_of(own, base);
	if (from->finding == STORE_FIND_PAGE) {
		query_make(own, from->kind, from->page, &query);
		if (query.statement != PAGE_ALL && query.statement != PAGE_SIDE)
			return NOTHING;
		statement = query.statement == PAGE_ALL ? PARENTS_OF_PAGE_ALL
							: PARENTS_OF_PAGE_SIDE;
		query.parameters.count = 5;
		add_kind(&query.parameters, expected->kind);
		add_side(&query.parameters, from->page);
		return rows_add(own, statement, &query.parameters);
	}
	start(&parameters, own, from->kind);
	if (from->finding == STORE_FIND_ID)
		parameters_id(&parameters, from->id);
	else
		parameters_bytes(&parameters, from->name);
	if (is_named(from->kind) && base == from) {
		*locks = expected->reading == STORE_TO_CHANGE;
		statement = *locks ? PARENT_OF_NAMED_TO_CHANGE : PARENT_OF_NAMED;
	} else if (is_named(from->kind)) {
		statement = GRANDPARENT_OF_NAMED;
		add_kind(&parameters, base->kind);
	} else if (base != from) {
		return NOTHING;
	} else if (expected->finding == STORE_FIND_VALUE) {
		statement = VALUE_OF_GET;
	} else {
		statement = from->finding == STORE_FIND_ID ? PARENT_OF_GET : PARENT_OF_FIND;
	}
	add_kind(&parameters, expected->kind);
	return rows_add(own, statement, &parameters);
}

static size_t add_children(struct postgres_transaction *own, const struct store_kind *kind,
			   const struct id *parent)
{
	struct parameters parameters = PARAMETERS_INITIAL;

	/* A child that is being put locks the key of its parent: it is seen, or waits for us. */
	if (kind->under != NULL && own->base.access == STORE_WRITE) {
		start(&parameters, own, kind->under);
		parameters_id(&parameters, parent);
		rows_add(own, LOCK_PARENT, &parameters);
	}
	parameters = PARAMETERS_INITIAL;
	parameters_id(&parameters, &own->base.account);
	add_kind(&parameters, kind);
	parameters_id(&parameters, parent);
	return rows_add(own, is_named(kind) ? HAS_NAMED_CHILDREN : HAS_CHILDREN, &parameters);
}

static size_t add_found(struct postgres_transaction *own, const struct store_kind *kind,
			const struct id *id, struct slice name, enum store_reading reading)
{
	const bool locks = reading == STORE_TO_CHANGE;
	struct parameters parameters;

	start(&parameters, own, kind);
	if (id != NULL) {
		parameters_id(&parameters, id);
		return rows_add(own, locks ? GET_TO_CHANGE : GET, &parameters);
	}
	parameters_bytes(&parameters, name);
	if (is_named(kind))
		return rows_add(own, locks ? NAMED_TO_CHANGE : NAMED, &parameters);
	return rows_add(own, locks ? FIND_TO_CHANGE : FIND, &parameters);
}

static size_t add_expected(struct postgres_transaction *own, const struct store_expected *expected,
			   bool *locks)
{
	struct parameters parameters;
	struct page_query query;

	*locks = false;
	switch (expected->finding) {
	case STORE_FIND_ID:
	case STORE_FIND_NAME:
		*locks = expected->reading == STORE_TO_CHANGE;
		return add_found(own, expected->kind,
				 expected->finding == STORE_FIND_ID ? expected->id : NULL,
				 expected->name, expected->reading);
	case STORE_FIND_PARENT:
	case STORE_FIND_VALUE:
		return add_led(own, expected, locks);
	case STORE_FIND_OWN:
		return add_own(own, expected);
	case STORE_FIND_PAGE:
		query_make(own, expected->kind, expected->page, &query);
		return rows_add(own, query.statement, &query.parameters);
	case STORE_FIND_CHILDREN:
		return add_children(own, expected->kind, expected->id);
	case STORE_FIND_NEW_ID:
		break;
	}
	start(&parameters, own, expected->kind);
	return rows_add(own, NEW_ID, &parameters);
}

static void remember_id(struct postgres_transaction *own, const struct store_kind *kind,
			size_t result)
{
	struct known_id *known = arena_zero(own->base.arena, sizeof *known);

	known->letter = kind->letter;
	known->number = wire_number(own->wire, result, 0, NEW_ID_NUMBER);
	known->now = (int64_t)wire_number(own->wire, result, 0, NEW_ID_NOW);
	known->has_newest = copy_id(wire_bytes(own->wire, result, 0, NEW_ID_NEWEST),
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
			add_absent(own, expected->kind,
				   expected->finding == STORE_FIND_ID ? expected->id : NULL,
				   expected->name);
		return take_rows(own, result, is_locked, fault);
	case STORE_FIND_PARENT:
	case STORE_FIND_VALUE:
		return take_rows(own, result, is_locked, fault);
	case STORE_FIND_OWN:
		if (!take_rows(own, result, false, fault))
			return false;
		take_own(own, base_of(own, expected)->kind, base_of(own, expected)->name, expected);
		return true;
	case STORE_FIND_PAGE:
		return remember_page(own, expected, result, fault);
	case STORE_FIND_CHILDREN:
		remember_children(own, expected->kind, expected->id, result);
		return true;
	case STORE_FIND_NEW_ID:
		break;
	}
	remember_id(own, expected->kind, result);
	return true;
}

/* A record whose name is unique anywhere, with two parents, and the parent of one of these. */
struct chain {
	const struct store_expected *child, *parent, *grandparent, *other;
	const struct store_expected *of_account; /* NULL: none */
};

static bool is_chain(const struct postgres_transaction *own, struct chain *chain)
{
	*chain = (struct chain){ .child = NULL };
	if (own->base.access != STORE_READ || own->expected_count < 4 || own->expected_count > 5)
		return false;
	for (size_t i = 0; i < own->expected_count; i++) {
		const struct store_expected *item = &own->expected[i], *base = base_of(own, item);

		if (item->finding == STORE_FIND_NAME && is_named(item->kind))
			chain->child = item;
		else if (item->finding == STORE_FIND_OWN)
			chain->of_account = item;
		else if (item->finding == STORE_FIND_PARENT && leads(base))
			chain->grandparent = item;
	}
	if (chain->child == NULL || chain->grandparent == NULL ||
	    (own->expected_count == 5) != (chain->of_account != NULL))
		return false;
	chain->parent = base_of(own, chain->grandparent);
	for (size_t i = 0; i < own->expected_count; i++) {
		const struct store_expected *item = &own->expected[i];

		if (item != chain->parent && item->finding == STORE_FIND_PARENT &&
		    base_of(own, item) == chain->child)
			chain->other = item;
	}
	return chain->other != NULL && chain->parent->finding == STORE_FIND_PARENT &&
	       base_of(own, chain->parent) == chain->child;
}

/* A chain is one statement, and so one snapshot. */
static bool read_chain(struct postgres_transaction *own, const struct chain *chain,
		       struct fault *fault)
{
	struct parameters parameters;
	const struct known *before = own->known;

	start(&parameters, own, chain->child->kind);
	parameters_bytes(&parameters, chain->child->name);
	add_kind(&parameters, chain->parent->kind);
	add_kind(&parameters, chain->grandparent->kind);
	add_kind(&parameters, chain->other->kind);
	if (chain->of_account != NULL) {
		add_kind(&parameters, chain->of_account->kind);
		parameters_id(&parameters, chain->of_account->id);
	}
	own->expected_count = 0;
	own->is_over = true;
	/* Else the statement would be given another one before it, that asks for the same. */
	if (own->base.roster != 0)
		await_roster(own, 0, COLUMN_GENERATION);
	rows_add(own, chain->of_account != NULL ? CHAIN_AND_OWN_OF_NAMED : CHAIN_OF_NAMED,
		 &parameters);
	if (!rows_fly(own, fault) || !take_rows(own, 0, false, fault))
		return false;
	if (own->known == before)
		add_absent(own, chain->child->kind, NULL, chain->child->name);
	else if (chain->of_account != NULL)
		take_own(own, chain->child->kind, chain->child->name, chain->of_account);
	return true;
}

/* The generation of the accounts comes with a new id, where there is one. */
static size_t place_of_new_id(const struct postgres_transaction *own)
{
	size_t place = 0;

	while (place < own->expected_count && own->expected[place].finding != STORE_FIND_NEW_ID)
		place++;
	return place;
}

/* One flight for all that is expected. A READ transaction of several statements has a snapshot,
 * which ends in the same flight. */
static bool read_expected(struct postgres_transaction *own, struct fault *fault)
{
	const size_t n = own->expected_count, new_id = place_of_new_id(own);
	size_t *results = arena_alloc(own->base.arena, (n + 1) * sizeof *results);
	bool *locks = arena_alloc(own->base.arena, (n + 1) * sizeof *locks);
	const bool has_snapshot = own->is_one_flight && n > 1;
	const bool brings_roster = new_id < n && own->base.roster != 0 && !own->asks_roster;
	struct chain chain;

	if (own->is_one_flight && is_chain(own, &chain))
		return read_chain(own, &chain, fault);
	own->expected_count = 0;
	if (n == 0)
		return true;
	if (brings_roster)
		await_roster(own, 0, NEW_ID_GENERATION);
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

/* ---- reading ---- */

/* A READ transaction in a snapshot remembers nothing: it may read all there is, and its arena may be
 * emptied meanwhile. */
static bool give_row(struct postgres_transaction *own, size_t result, struct store_record *record,
		     struct fault *fault)
{
	char letter;

	*record = (struct store_record){ .is_on = false };
	return wire_rows(own->wire, result) == 0 ||
	       rows_read(own->base.arena, own->wire, result, 0, &letter, record, fault);
}

bool rows_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	      enum store_reading reading, struct store_record *record, struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	const struct store_record wanted = { .id = *id };
	const struct change *change = change_of(own, kind, &wanted);
	const struct known *known;
	size_t result;

	if (change != NULL) {
		give_change(change, kind, (struct slice){ 0 }, record);
		return true;
	}
	known = known_by_id(own, kind, id, reading);
	if (known == NULL && own->expected_count > 0) {
		if (!read_expected(own, fault))
			return false;
		known = known_by_id(own, kind, id, reading);
	}
	if (known == NULL && is_new(own, kind->after, id)) {
		*record = (struct store_record){ .is_on = false };
		return true;
	}
	if (known == NULL) {
		if (!may_read(own, fault))
			return false;
		result = add_found(own, kind, id, (struct slice){ 0 }, reading);
		if (!rows_fly(own, fault))
			return false;
		if (own->base.access == STORE_READ)
			return give_row(own, result, record, fault);
		if (!take_rows(own, result, reading == STORE_TO_CHANGE, fault))
			return false;
		if (wire_rows(own->wire, result) == 0)
			add_absent(own, kind, id, (struct slice){ 0 });
		known = own->known;
	}
	give(known, record);
	return true;
}

/* The record that has the name now is one that a change of ours gave it. */
static const struct change *change_to_name(const struct postgres_transaction *own,
					   const struct store_kind *kind, struct slice name)
{
	const struct key_entry *entry = key_index_find(&own->changed_names, kind->letter, name);

	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (is_of_change(own, kind, change) && !change->is_removal &&
		    slice_equal(change->record.name, name) &&
		    change_of(own, kind, &change->record) == change)
			return change;
	}
	return NULL;
}

bool rows_get_named(struct transaction *transaction, const struct store_kind *kind,
		    struct slice name, enum store_reading reading, struct store_record *record,
		    struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	const struct store_record wanted = { .name = name };
	const struct change *change = is_named(kind) ? change_of(own, kind, &wanted)
						     : change_to_name(own, kind, name);
	const struct known *known;
	size_t result;

	if (change != NULL) {
		give_change(change, kind, name, record);
		return true;
	}
	known = known_by_name(own, kind, name, reading);
	if (known == NULL && own->expected_count > 0) {
		if (!read_expected(own, fault))
			return false;
		known = known_by_name(own, kind, name, reading);
	}
	if (known == NULL) {
		if (!may_read(own, fault))
			return false;
		result = add_found(own, kind, NULL, name, reading);
		if (!rows_fly(own, fault))
			return false;
		if (own->base.access == STORE_READ)
			return give_row(own, result, record, fault);
		if (!take_rows(own, result, reading == STORE_TO_CHANGE, fault))
			return false;
		if (wire_rows(own->wire, result) == 0)
			add_absent(own, kind, NULL, name);
		known = own->known;
	}
	give(known, record);
	/* It was removed, or has another name now. */
	if (!known->is_absent && !is_named(kind) && change_of(own, kind, record) != NULL)
		*record = (struct store_record){ .is_on = false };
	return true;
}

static bool send_changes(struct postgres_transaction *own, struct fault *fault)
{
	rows_add_changes(own);
	return rows_fly(own, fault);
}

static const struct store_page no_records = { .is_last = true };

bool rows_page(struct transaction *transaction, const struct store_kind *kind,
	       struct store_page *page, struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	const struct store_page *read;
	struct page_query query;
	size_t result;

	if (own->expected_count > 0 && !read_expected(own, fault))
		return false;
	read = is_new(own, kind->after, page->parent) ? &no_records : known_page(own, kind, page);
	if (read != NULL && merge_page(own, kind, read, page))
		return true;
	if (!may_read(own, fault))
		return false;
	if (has_unsent_of(own, kind) && !send_changes(own, fault))
		return false;
	query_make(own, kind, page, &query);
	result = rows_add(own, query.statement, &query.parameters);
	return rows_fly(own, fault) && take_page(own, result, page, fault);
}

bool rows_have_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *have_children, struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	const struct known_children *known;
	size_t result;

	if (own->expected_count > 0 && !read_expected(own, fault))
		return false;
	for (known = own->children; known != NULL; known = known->next) {
		if (known->letter != kind->letter || id_compare(&known->parent, parent) != 0 ||
		    has_changes_of(own, kind))
			continue;
		*have_children = known->exist;
		return true;
	}
	if (!may_read(own, fault))
		return false;
	if (has_unsent_of(own, kind) && !send_changes(own, fault))
		return false;
	result = add_children(own, kind, parent);
	if (!rows_fly(own, fault))
		return false;
	*have_children = wire_number(own->wire, result, 0, 0) != 0;
	return true;
}

/* ---- new ids ---- */

static struct highest_id *highest_of(const struct postgres_transaction *own,
				     const struct store_kind *kind)
{
	struct highest_id *highest = own->highest_ids;

	while (highest != NULL &&
	       (highest->letter != kind->letter || !is_of_account(own, &highest->account)))
		highest = highest->next;
	return highest;
}

/* NULL: none is known. */
static const struct known_id *take_id(struct postgres_transaction *own,
				      const struct store_kind *kind)
{
	struct known_id **place = &own->ids, *known;

	while (*place != NULL && (*place)->letter != kind->letter)
		place = &(*place)->next;
	known = *place;
	if (known != NULL)
		*place = known->next;
	return known;
}

/* Who makes a second record of the kind may make many. */
static bool read_ids(struct postgres_transaction *own, const struct store_kind *kind,
		     struct fault *fault)
{
	const size_t n = highest_of(own, kind) != NULL ? NEW_IDS_AT_ONCE : 1;
	size_t results[NEW_IDS_AT_ONCE];
	struct parameters parameters;

	for (size_t i = 0; i < n; i++) {
		start(&parameters, own, kind);
		results[i] = rows_add(own, NEW_ID, &parameters);
	}
	if (!rows_fly(own, fault))
		return false;
	for (size_t i = n; i-- > 0;)
		remember_id(own, kind, results[i]);
	return true;
}

/* The newest of the account and kind, our own changes included. */
static bool newest_of(const struct postgres_transaction *own, const struct store_kind *kind,
		      const struct known_id *known, struct id *newest)
{
	const struct highest_id *highest = highest_of(own, kind);

	*newest = known->newest;
	if (highest == NULL || (known->has_newest && id_compare(&highest->id, newest) <= 0))
		return known->has_newest;
	*newest = highest->id;
	return true;
}

bool rows_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		   struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	size_t result;

	if (((struct store_postgres *)transaction->store)->uses_callers_clock)
		return true;
	result = rows_add(own, CLOCK, NULL);
	if (!rows_fly(own, fault))
		return false;
	*now = (int64_t)wire_number(own->wire, result, 0, 0);
	if (*now < least)
		*now = least;
	own->has_fixed_time = true;
	return true;
}

bool rows_new_id(struct transaction *transaction, const struct store_kind *kind,
		 const struct clock *clock, int64_t *now, struct id *id, struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	const struct store_postgres *store = (struct store_postgres *)transaction->store;
	const struct known_id *known;
	struct id newest;
	uint64_t number;
	int64_t seconds;

	if (own->expected_count > 0 && !read_expected(own, fault))
		return false;
	known = take_id(own, kind);
	if (known == NULL) {
		if (!read_ids(own, kind, fault))
			return false;
		known = take_id(own, kind);
	}
	number = known->number;
	if (!store->uses_callers_clock && !own->has_fixed_time)
		*now = known->now;
	if (newest_of(own, kind, known, &newest)) {
		seconds = id_seconds(&newest);
		/* The next second when only that makes the new id the higher one. */
		if (id_number(&newest) >= number)
			seconds++;
		if (*now / 1000 < seconds)
			*now = seconds * 1000;
		if (*now > ID_TIME_MAX && id_seconds(&newest) == UINT32_MAX &&
		    number <= id_number(&newest) && id_number(&newest) < ID_NUMBER_MAX)
			number = id_number(&newest) + 1;
	}
	if (*now > ID_TIME_MAX)
		*now = ID_TIME_MAX;
	*id = id_make(clock, (uint32_t)(*now / 1000), number);
	return true;
}

/* ---- writing ---- */

static void count_id(struct postgres_transaction *own, const struct change *change)
{
	struct highest_id *highest = highest_of(own, change->kind);

	if (highest == NULL) {
		highest = arena_zero(own->base.arena, sizeof *highest);
		highest->letter = change->kind->letter;
		highest->account = change->account;
		highest->next = own->highest_ids;
		own->highest_ids = highest;
	}
	if (id_compare(&change->record.id, &highest->id) > 0)
		highest->id = change->record.id;
}

static void index_change(struct postgres_transaction *own, struct change *change)
{
	struct arena *arena = own->base.arena;
	const char letter = change->kind->letter;

	if (!is_named(change->kind))
		key_index_add(&own->changed_ids, arena, letter, id_slice(&change->record.id),
			      change);
	if (change->kind->naming != STORE_NO_NAME)
		key_index_add(&own->changed_names, arena, letter, change->record.name, change);
	if (change->former_name.data != NULL &&
	    !slice_equal(change->former_name, change->record.name))
		key_index_add(&own->changed_names, arena, letter, change->former_name, change);
}

static void append(struct postgres_transaction *own, struct change *change)
{
	index_change(own, change);
	if (change->kind->has_ids)
		count_id(own, change);
	change->before = own->last_change;
	if (own->last_change == NULL)
		own->first_change = change;
	else
		own->last_change->after = change;
	own->last_change = change;
	own->unsent++;
}

/* Whether the record is ours until the end: it was locked, or changed. */
static bool is_held(const struct postgres_transaction *own, const struct store_kind *kind,
		    const struct store_record *record)
{
	if (change_of(own, kind, record) != NULL)
		return true;
	if (is_named(kind))
		return known_by_name(own, kind, record->name, STORE_TO_CHANGE) != NULL;
	return known_by_id(own, kind, &record->id, STORE_TO_CHANGE) != NULL;
}

static struct change *change_make(struct postgres_transaction *own, const struct store_kind *kind,
				  const struct store_record *record)
{
	struct change *change = arena_zero(own->base.arena, sizeof *change);

	change->kind = kind;
	change->account = own->base.account;
	change->record = *record;
	change->record.account = own->base.account;
	if (kind->naming == STORE_NO_NAME)
		change->record.name = (struct slice){ NULL, 0 };
	else
		change->record.name = arena_copy(own->base.arena, record->name);
	return change;
}

static bool send_when_many(struct postgres_transaction *own, struct fault *fault)
{
	return own->unsent < UNSENT_MOST || send_changes(own, fault);
}

bool rows_put(struct transaction *transaction, const struct store_kind *kind,
	      const struct store_record *record, const struct store_record *former,
	      struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	struct change *change;

	if (!arena_fits(own->base.arena, record->value.size + record->name.size + 2))
		return fault_set(fault, FAULT_TOO_LARGE, NULL);
	change = change_make(own, kind, record);
	change->record.value = arena_copy(own->base.arena, record->value);
	change->is_insertion = former == NULL;
	change->needs_guard = former != NULL && !is_held(own, kind, former);
	change->needs_parent = kind->under != NULL &&
			       (former == NULL ||
				id_compare(&former->parent, &record->parent) != 0);
	if (former != NULL && is_named(kind))
		change->former_name = arena_copy(own->base.arena, former->name);
	append(own, change);
	return send_when_many(own, fault);
}

bool rows_remove(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record, struct fault *fault)
{
	struct postgres_transaction *own = own_of(transaction);
	struct change *change = change_make(own, kind, record);

	change->needs_guard = !is_held(own, kind, record);
	change->is_removal = true;
	append(own, change);
	return send_when_many(own, fault);
}

/* The key of a record: account, kind and id, or kind and name. */
static void add_key(struct parameters *parameters, const struct change *change, struct slice name)
{
	*parameters = PARAMETERS_INITIAL;
	if (is_named(change->kind)) {
		add_kind(parameters, change->kind);
		parameters_bytes(parameters, name);
		return;
	}
	parameters_id(parameters, &change->account);
	add_kind(parameters, change->kind);
	parameters_id(parameters, &change->record.id);
}

static void guard(struct postgres_transaction *own, const struct change *change)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	const bool is_renamed = change->former_name.data != NULL;

	if (change->needs_parent && !is_new(own, change->kind->under, &change->record.parent)) {
		parameters_id(&parameters, &change->account);
		add_kind(&parameters, change->kind->under);
		parameters_id(&parameters, &change->record.parent);
		rows_add(own, GUARD_PARENT, &parameters);
	}
	if (!change->needs_guard)
		return;
	add_key(&parameters, change, is_renamed ? change->former_name : change->record.name);
	if (is_named(change->kind))
		parameters_id(&parameters, &change->account);
	rows_add(own, is_named(change->kind) ? GUARD_NAMED : GUARD, &parameters);
}

static void write_record(struct postgres_transaction *own, const struct change *change)
{
	const struct store_kind *kind = change->kind;
	const struct store_record *record = &change->record;
	struct parameters parameters = PARAMETERS_INITIAL;

	parameters_id(&parameters, &change->account);
	add_kind(&parameters, kind);
	parameters_id(&parameters, &record->id);
	if (kind->has_parent)
		parameters_id(&parameters, &record->parent);
	else
		parameters_null(&parameters);
	if (kind->has_switch)
		parameters_number(&parameters, record->is_on, 1);
	else
		parameters_null(&parameters);
	parameters_bytes(&parameters, record->name);
	parameters_bytes(&parameters, record->value);
	parameters_number(&parameters,
			  checksum_of(kind->letter, record, kind->has_parent, kind->has_switch), 4);
	if (change->is_insertion) {
		rows_add(own, is_named(kind) ? INSERT_NAMED : INSERT, &parameters);
		return;
	}
	if (is_named(kind))
		parameters_bytes(&parameters, change->former_name);
	rows_add(own, is_named(kind) ? UPDATE_NAMED : UPDATE, &parameters);
}

void rows_add_changes(struct postgres_transaction *own)
{
	struct change *change = own->last_change;
	struct parameters parameters;

	while (change != NULL && !change->is_sent && change->before != NULL &&
	       !change->before->is_sent)
		change = change->before;
	for (; change != NULL; change = change->after) {
		if (change->is_sent)
			continue;
		guard(own, change);
		if (change->is_removal) {
			add_key(&parameters, change, change->record.name);
			rows_add(own, is_named(change->kind) ? DELETE_NAMED : DELETE, &parameters);
		} else {
			write_record(own, change);
		}
		change->is_sent = true;
	}
	own->unsent = 0;
}
