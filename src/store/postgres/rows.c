/* Records in a transaction of the database. What was read is remembered for the rest of the
 * transaction. Changes are held back and sent with the commit; a read that they could affect sends
 * them first, unless its result follows from what is known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/rows_parts.h"

/* Numbers taken at once for a transaction that creates many records; unused ones are lost. */
#define NEW_IDS_AT_ONCE 32

static _Thread_local bool was_surprised;

bool rows_was_surprised(void)
{
	const bool was = was_surprised;

	was_surprised = false;
	return was;
}

/* ---- flights ---- */

void rows_await_roster(struct postgres_transaction *own, size_t result, size_t column)
{
	own->asks_roster = own->awaits_roster = true;
	own->roster_result = result;
	own->roster_column = column;
}

size_t rows_add(struct postgres_transaction *own, enum statement statement,
		const struct parameters *parameters)
{
	if (own->is_refused)
		return own->flight++;
	if (!own->is_open && !own->is_one_flight) {
		wire_add(own->wire, own->base.access == STORE_WRITE ? BEGIN_WRITE : BEGIN_SNAPSHOT,
			 NULL);
		own->is_open = true;
		own->flight++;
	}
	if (own->waits_briefly && !own->is_brief) {
		wire_add(own->wire, LOCK_BRIEFLY, NULL);
		own->is_brief = true;
		own->flight++;
	}
	/* Inside the snapshot, if there is one: nothing may come before its beginning. */
	if (own->base.roster != 0 && !own->asks_roster && statement != BEGIN_SNAPSHOT) {
		rows_await_roster(own, own->flight++, 0);
		wire_add(own->wire, GENERATION, NULL);
	}
	wire_add(own->wire, statement, parameters);
	return own->flight++;
}

bool rows_fly(struct postgres_transaction *own, struct fault *fault)
{
	uint64_t generation = 0;

	own->flight = 0;
	if (own->is_refused)
		return crowd_refuse((struct store_postgres *)own->base.store, fault);
	if (!wire_fly(own->wire, true, fault))
		return crowd_explain(own, fault);
	if (!own->awaits_roster)
		return true;
	own->awaits_roster = false;
	/* One row has the generation; in the others it is NULL. */
	for (size_t i = 0; i < wire_rows(own->wire, own->roster_result); i++)
		generation += wire_number(own->wire, own->roster_result, i, own->roster_column);
	atomic_store(&((struct store_postgres *)own->base.store)->roster, generation);
	/* Again if the accounts have changed since the caller was admitted. */
	return own->base.roster == STORE_ROSTER_ANY || generation == own->base.roster ||
	       fault_set(fault, FAULT_AGAIN, NULL);
}

/* Sets FAULT_AGAIN if a READ transaction has announced what it reads and needs more: it has no
 * snapshot for that. */
static bool rows_may_read(const struct postgres_transaction *own, struct fault *fault)
{
	if (!own->is_over)
		return true;
	was_surprised = true;
	return fault_set(fault, FAULT_AGAIN, NULL);
}

/* ---- parameters ---- */

void rows_start(struct parameters *parameters, const struct postgres_transaction *own,
		const struct store_kind *kind)
{
	*parameters = PARAMETERS_INITIAL;
	if (!rows_are_named(kind))
		parameters_id(parameters, &own->base.account);
	rows_add_kind(parameters, kind);
}

void rows_add_kind(struct parameters *parameters, const struct store_kind *kind)
{
	parameters_number(parameters, (unsigned char)kind->letter, 2);
}

/* ---- reading ---- */

/* Returns a known record; an absent one has no value. */
static void known_give(const struct known *known, struct store_record *record)
{
	*record = (struct store_record){ .is_on = false };
	if (!known->is_absent)
		*record = known->record;
}

/* Returns the record after the change; for a named kind, the record that has the name after it. */
static void change_give(const struct change *change, const struct store_kind *kind,
			struct slice name, struct store_record *record)
{
	*record = (struct store_record){ .is_on = false };
	if (!change->is_removal &&
	    (!rows_are_named(kind) || slice_equal(change->record.name, name)))
		*record = change->record;
}

static bool has_unsent(const struct postgres_transaction *own, const struct store_kind *kind)
{
	const struct change *change = own->last_change;

	while (change != NULL && !change->is_sent && change->kind->letter != kind->letter)
		change = change->before;
	return change != NULL && !change->is_sent;
}

static bool has_changes(const struct postgres_transaction *own, const struct store_kind *kind)
{
	const struct change *change = own->last_change;

	while (change != NULL && change->kind->letter != kind->letter)
		change = change->before;
	return change != NULL;
}

/* Returns the record of a row. A READ transaction in a snapshot remembers nothing, because it may
 * read everything there is, and its arena may be emptied in between. */
static bool give_row(struct postgres_transaction *own, size_t result, struct store_record *record,
		     struct fault *fault)
{
	char letter;

	*record = (struct store_record){ .is_on = false };
	return wire_rows(own->wire, result) == 0 ||
	       rows_read(own->base.arena, own->wire, result, 0, &letter, record, fault);
}

/* Reads the record with this id or, if id is NULL, with this name. */
static bool read_found(struct postgres_transaction *own, const struct store_kind *kind,
		       const struct id *id, struct slice name, enum store_reading reading,
		       struct store_record *record, struct fault *fault)
{
	size_t result;

	if (!rows_may_read(own, fault))
		return false;
	result = rows_add_found(own, kind, id, name, reading);
	if (!rows_fly(own, fault))
		return false;
	if (own->base.access == STORE_READ)
		return give_row(own, result, record, fault);
	if (!known_take_rows(own, result, reading == STORE_TO_CHANGE, fault))
		return false;
	if (wire_rows(own->wire, result) == 0)
		known_add_absent(own, kind, id, name);
	known_give(own->known, record);
	return true;
}

bool rows_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	      enum store_reading reading, struct store_record *record, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	const struct store_record wanted = { .id = *id };
	const struct change *change = change_of(own, kind, &wanted);
	const struct known *known;

	if (change != NULL) {
		change_give(change, kind, (struct slice){ 0 }, record);
		return true;
	}
	if (!rows_read_expected(own, fault))
		return false;
	known = known_by_id(own, kind, id, reading);
	if (known != NULL)
		known_give(known, record);
	else if (rows_are_new(own, kind->after, id))
		*record = (struct store_record){ .is_on = false };
	else
		return read_found(own, kind, id, (struct slice){ 0 }, reading, record, fault);
	return true;
}

/* Reads all records that the transaction has not read yet, in one flight. */
bool rows_get_several(struct transaction *transaction, const struct store_kind *kind,
		      const struct id *accounts, const struct id *ids, size_t n,
		      struct store_record *records, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	const struct id account = own->base.account;
	const struct known **known = arena_alloc(own->base.arena, (n + 1) * sizeof *known);
	size_t *results = arena_alloc(own->base.arena, (n + 1) * sizeof *results);
	bool is_missing = false;

	if (!rows_read_expected(own, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		own->base.account = accounts != NULL ? accounts[i] : account;
		known[i] = known_by_id(own, kind, &ids[i], STORE_TO_SHOW);
		is_missing = is_missing || known[i] == NULL;
	}
	own->base.account = account;
	if (is_missing && !rows_may_read(own, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		own->base.account = accounts != NULL ? accounts[i] : account;
		if (known[i] == NULL)
			results[i] = rows_add_found(own, kind, &ids[i], (struct slice){ 0 },
						    STORE_TO_SHOW);
	}
	own->base.account = account;
	if (is_missing && !rows_fly(own, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (known[i] != NULL)
			known_give(known[i], &records[i]);
		else if (!give_row(own, results[i], &records[i], fault))
			return false;
	}
	return true;
}

/* Returns the own change that gave a record this name, if the record still has it. */
static const struct change *change_to_name(const struct postgres_transaction *own,
					   const struct store_kind *kind, struct slice name)
{
	const struct key_entry *entry = key_index_find(&own->changed_names, kind->letter, name);

	for (; entry != NULL; entry = entry->next) {
		const struct change *change = entry->item;

		if (change_is_of(own, kind, change) && !change->is_removal &&
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
	struct postgres_transaction *own = rows_own(transaction);
	const struct store_record wanted = { .name = name };
	const struct change *change = rows_are_named(kind) ? change_of(own, kind, &wanted)
							   : change_to_name(own, kind, name);
	const struct known *known;

	if (change != NULL) {
		change_give(change, kind, name, record);
		return true;
	}
	if (!rows_read_expected(own, fault))
		return false;
	known = known_by_name(own, kind, name, reading);
	if (known != NULL)
		known_give(known, record);
	else if (!read_found(own, kind, NULL, name, reading, record, fault))
		return false;
	/* The record was removed, or has another name now. */
	if (record->value.data != NULL && !rows_are_named(kind) &&
	    change_of(own, kind, record) != NULL)
		*record = (struct store_record){ .is_on = false };
	return true;
}

static const struct store_page no_records = { .is_last = true };

bool rows_page(struct transaction *transaction, const struct store_kind *kind,
	       struct store_page *page, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	const struct store_page *read;
	struct page_query query;
	size_t result;

	if (!rows_read_expected(own, fault))
		return false;
	/* Own changes are not applied to a page of ends. */
	read = page->order == STORE_BY_END		      ? NULL
	       : rows_are_new(own, kind->after, page->parent) ? &no_records
							      : page_known(own, kind, page);
	if (read != NULL && page_merge(own, kind, read, page))
		return true;
	if (!rows_may_read(own, fault))
		return false;
	if (has_unsent(own, kind) && !rows_send_changes(own, fault))
		return false;
	page_query_make(own, kind, page, &query);
	result = rows_add(own, query.statement, &query.parameters);
	if (!rows_fly(own, fault) || !page_take(own, result, page, fault))
		return false;
	/* A call with many parts looks up the same empty page again and again. */
	return own->base.access == STORE_READ || page->count > 0 || page->order == STORE_BY_END ||
	       page_remember(own, &(struct store_expected){ .kind = kind, .page = page }, result,
			     fault);
}

bool rows_have_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *have_children, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	const struct known_children *known;
	size_t result;

	if (!rows_read_expected(own, fault))
		return false;
	for (known = own->children; known != NULL; known = known->next) {
		if (known->letter != kind->letter || id_compare(&known->parent, parent) != 0 ||
		    has_changes(own, kind))
			continue;
		*have_children = known->exist;
		return true;
	}
	if (!rows_may_read(own, fault))
		return false;
	if (has_unsent(own, kind) && !rows_send_changes(own, fault))
		return false;
	result = rows_add_children(own, kind, parent);
	if (!rows_fly(own, fault))
		return false;
	*have_children = wire_number(own->wire, result, 0, 0) != 0;
	return true;
}

/* ---- new ids ---- */

struct highest_id *rows_highest_id(const struct postgres_transaction *own,
				   const struct store_kind *kind)
{
	struct highest_id *highest = own->highest_ids;

	while (highest != NULL &&
	       (highest->letter != kind->letter || !rows_are_own(own, &highest->account)))
		highest = highest->next;
	return highest;
}

/* Takes an id that was read ahead; NULL if there is none. */
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

bool rows_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		   struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
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
	struct postgres_transaction *own = rows_own(transaction);
	const struct store_postgres *store = (struct store_postgres *)transaction->store;
	const struct highest_id *highest;
	const struct known_id *known;
	bool has_newest;
	struct id newest;
	uint64_t number;
	int64_t seconds;

	if (!rows_read_expected(own, fault))
		return false;
	known = take_id(own, kind);
	/* Reads numbers for new ids: one for the first record of a kind, several from the second
	 * on, because the transaction may then create many. */
	if (known == NULL) {
		const size_t n = rows_highest_id(own, kind) != NULL ? NEW_IDS_AT_ONCE : 1;
		size_t results[NEW_IDS_AT_ONCE];
		struct parameters parameters;

		for (size_t i = 0; i < n; i++) {
			rows_start(&parameters, own, kind);
			results[i] = rows_add(own, NEW_ID, &parameters);
		}
		if (!rows_fly(own, fault))
			return false;
		for (size_t i = n; i-- > 0;)
			rows_remember_id(own, kind, results[i]);
		known = take_id(own, kind);
	}
	number = known->number;
	if (!store->uses_callers_clock && !own->has_fixed_time)
		*now = known->now;

	/* The newest id of the account and kind, including own changes. */
	highest = rows_highest_id(own, kind);
	newest = known->newest;
	has_newest = known->has_newest;
	if (highest != NULL && (!has_newest || id_compare(&highest->id, &newest) > 0)) {
		newest = highest->id;
		has_newest = true;
	}
	if (has_newest) {
		seconds = id_seconds(&newest);
		/* Use the next second if only that makes the new id higher. */
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
