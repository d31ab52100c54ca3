/* Checks the preconditions of the interface, tracks whether a transaction has changed anything,
 * yields to other threads if the caller has a lower priority (base/priority.h), and calls the
 * driver.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <assert.h>

#include "base/priority.h"
#include "store/figures.h"

/* ---- the form ---- */

unsigned store_form_number(const struct store_form *form)
{
	return form == NULL ? STORE_FORM_FIRST : form->number();
}

static bool refuse_unreleased(const char *what, struct fault *fault)
{
	return fault_cause(
		fault, FAULT_UNAVAILABLE, 0,
		"%s was written by an unreleased version of Anteroom; dump with that one", what);
}

bool store_form_newer(const char *what, struct fault *fault)
{
	return fault_cause(fault, FAULT_UNAVAILABLE, 0,
			   "%s was written by a newer version of Anteroom", what);
}

bool store_form_check(const struct store_form *form, const struct store_form_kept *kept,
		      const char *what, bool *is_earlier, bool *is_to_be_upgraded,
		      struct fault *fault)
{
	*is_earlier = *is_to_be_upgraded = false;
	if (kept->number < STORE_FORM_FIRST)
		return refuse_unreleased(what, fault);
	if (form == NULL)
		return true;
	if (kept->number > form->number())
		return store_form_newer(what, fault);
	*is_to_be_upgraded = kept->number < form->number();
	switch (form->compare(kept->number, kept->text)) {
	case STORE_FORM_SAME:
		return true;
	case STORE_FORM_EARLIER:
		*is_earlier = true;
		return true;
	case STORE_FORM_NEWER:
		return store_form_newer(what, fault);
	case STORE_FORM_OTHER:
		break;
	}
	return refuse_unreleased(what, fault);
}

bool store_form_accept(const struct store_form *form, const struct store_form_kept *kept,
		       const char *what, bool *is_earlier, struct fault *fault)
{
	bool is_to_be_upgraded;

	return store_form_check(form, kept, what, is_earlier, &is_to_be_upgraded, fault) &&
	       (!is_to_be_upgraded ||
		fault_cause(fault, FAULT_UNAVAILABLE, 0,
			    "%s was written by an earlier version of Anteroom; convert it with: "
			    "anteroom store upgrade",
			    what));
}

/* ---- cursors ---- */

void store_cursor_add(struct store_cursor *cursor, struct transaction *transaction)
{
	cursor->transaction = transaction;
	cursor->next = transaction->cursors;
	transaction->cursors = cursor;
}

void store_cursor_end(struct store_cursor *cursor)
{
	struct store_cursor **place = &cursor->transaction->cursors;

	while (*place != cursor)
		place = &(*place)->next;
	*place = cursor->next;
	cursor->transaction->store->driver->end_walk(cursor);
}

static void end_walks(struct transaction *transaction)
{
	while (transaction->cursors != NULL)
		store_cursor_end(transaction->cursors);
}

/* ---- transactions ---- */

bool store_begin(struct store *store, enum store_access access, struct arena *arena,
		 struct transaction **transaction, struct fault *fault)
{
	if (!store->driver->begin(store, access, arena, transaction, fault))
		return false;
	assert((*transaction)->store == store && (*transaction)->arena == arena);
	assert((*transaction)->access == access && !(*transaction)->has_changes);
	return true;
}

void store_set_account(struct transaction *transaction, const struct id *account)
{
	if (transaction->access == STORE_WRITE && transaction->store->driver->enter != NULL)
		transaction->store->driver->enter(transaction, account);
	transaction->account = *account;
}

void store_set_roster(struct transaction *transaction, uint64_t generation)
{
	transaction->roster = generation;
}

bool store_wants_expected(const struct transaction *transaction)
{
	return transaction->store->driver->expect != NULL;
}

void store_expect(struct transaction *transaction, enum store_statements how,
		  const struct store_expected *expected, size_t n)
{
	if (transaction->store->driver->expect != NULL)
		transaction->store->driver->expect(transaction, how, expected, n);
}

bool store_get(struct transaction *transaction, const struct store_kind *kind, const struct id *id,
	       enum store_reading reading, struct store_record *record, struct fault *fault)
{
	assert(kind->naming != STORE_NAME_ANYWHERE);
	assert(reading == STORE_TO_SHOW || transaction->access == STORE_WRITE);
	priority_yield();
	return transaction->store->driver->get(transaction, kind, id, reading, record, fault);
}

bool store_get_named(struct transaction *transaction, const struct store_kind *kind,
		     struct slice name, enum store_reading reading, struct store_record *record,
		     struct fault *fault)
{
	assert(kind->naming != STORE_NO_NAME);
	assert(reading == STORE_TO_SHOW || transaction->access == STORE_WRITE);
	*record = (struct store_record){ .is_on = false };
	if (name.size == 0 || name.size > STORE_NAME_MAX)
		return true;
	return transaction->store->driver->get_named(transaction, kind, name, reading, record,
						     fault);
}

bool store_get_several(struct transaction *transaction, const struct store_kind *kind,
		       const struct id *accounts, const struct id *ids, size_t n,
		       struct store_record *records, struct fault *fault)
{
	const struct store_driver *driver = transaction->store->driver;
	const struct id account = transaction->account;
	bool is_done = true;

	assert(kind->naming != STORE_NAME_ANYWHERE);
	if (driver->get_several != NULL && transaction->access == STORE_READ)
		return driver->get_several(transaction, kind, accounts, ids, n, records, fault);
	for (size_t i = 0; i < n && is_done; i++) {
		if (accounts != NULL)
			transaction->account = accounts[i];
		is_done = store_get(transaction, kind, &ids[i], STORE_TO_SHOW, &records[i], fault);
	}
	transaction->account = account;
	return is_done;
}

bool store_page(struct transaction *transaction, const struct store_kind *kind,
		struct store_page *page, struct fault *fault)
{
	assert(page->parent != NULL ? kind->has_parent
				    : kind->has_pages || page->order == STORE_BY_NAME ||
					      page->order == STORE_BY_END);
	assert(page->side == STORE_BOTH_SIDES || kind->has_switch);
	assert(page->order != STORE_BY_NAME ||
	       (kind->naming == STORE_NAME_IN_ACCOUNT && page->parent == NULL &&
		page->side == STORE_BOTH_SIDES));
	assert(page->order != STORE_BY_END ||
	       (kind->has_ends && page->parent == NULL && page->side == STORE_BOTH_SIDES));
	page->count = 0;
	page->is_last = false;
	page->damaged = (struct id){ { 0 } };
	return transaction->store->driver->page(transaction, kind, page, fault);
}

bool store_has_children(struct transaction *transaction, const struct store_kind *kind,
			const struct id *parent, bool *has_children, struct fault *fault)
{
	assert(kind->has_parent);
	return transaction->store->driver->has_children(transaction, kind, parent, has_children,
							fault);
}

/* ---- walks ---- */

struct store_walk store_walk_pages(struct transaction *transaction, const struct store_kind *kind,
				   const struct store_page *page, bool keeps, struct fault *fault)
{
	struct store_walk walk = {
		.transaction = transaction,
		.kind = kind,
		.fault = fault,
		.page = *page,
		.keeps = keeps,
	};

	assert(page->order != STORE_BY_NAME && page->order != STORE_BY_END);
	walk.page.most = STORE_WALK_AT_ONCE;
	walk.page.count = 0;
	walk.page.is_last = false;
	return walk;
}

static bool read_next_page(struct store_walk *walk)
{
	struct store_page *page = &walk->page;
	struct arena *arena = walk->transaction->arena;

	if (walk->has_page) {
		*(page->order == STORE_NEWEST_FIRST ? &page->below : &page->above) = &walk->last;
		if (!walk->keeps && walk->transaction->access == STORE_READ)
			arena_release(arena, &walk->mark);
	}
	if (page->is_last)
		return false;
	walk->mark = arena_mark(arena);
	walk->has_page = true;
	walk->at = 0;
	page->records = arena_alloc(arena, page->most * sizeof *page->records);
	return store_page(walk->transaction, walk->kind, page, walk->fault);
}

static bool next_of_pages(struct store_walk *walk, struct store_record *record)
{
	while (walk->at == walk->page.count)
		if (!read_next_page(walk))
			return false;
	*record = walk->page.records[walk->at++];
	walk->last = record->id;
	return true;
}

static struct store_walk walk_everything(struct transaction *transaction,
					 const struct store_kind *kind, bool has_values,
					 struct fault *fault)
{
	struct store_walk walk = { .transaction = transaction, .kind = kind, .fault = fault };

	assert(transaction->access == STORE_READ);
	walk.cursor = transaction->store->driver->walk(transaction, kind, has_values);
	return walk;
}

struct store_walk store_walk_all(struct transaction *transaction, const struct store_kind *kind,
				 struct fault *fault)
{
	return walk_everything(transaction, kind, true, fault);
}

struct store_walk store_walk_keys(struct transaction *transaction, const struct store_kind *kind,
				  struct fault *fault)
{
	return walk_everything(transaction, kind, false, fault);
}

bool store_next(struct store_walk *walk, struct store_record *record)
{
	const struct store_driver *driver = walk->transaction->store->driver;

	if (walk->has_ended || walk->fault->kind != FAULT_NONE)
		return false;
	if (walk->cursor == NULL ? next_of_pages(walk, record)
				 : driver->next(walk->cursor, record, walk->fault))
		return true;
	walk->has_ended = true;
	if (walk->cursor != NULL)
		store_cursor_end(walk->cursor);
	return false;
}

bool store_count(struct transaction *transaction, const struct store_kind *const *kinds, size_t n,
		 uint64_t *counts, struct fault *fault)
{
	return transaction->store->driver->count(transaction, kinds, n, counts, fault);
}

bool store_fix_time(struct transaction *transaction, int64_t least, int64_t *now,
		    struct fault *fault)
{
	const struct store_driver *driver = transaction->store->driver;

	assert(transaction->access == STORE_WRITE);
	return driver->fix_time == NULL || driver->fix_time(transaction, least, now, fault);
}

bool store_new_id(struct transaction *transaction, const struct store_kind *kind,
		  const struct clock *clock, int64_t *now, struct id *id, struct fault *fault)
{
	assert(transaction->access == STORE_WRITE && kind->has_ids);
	transaction->has_changes = true;
	return transaction->store->driver->new_id(transaction, kind, clock, now, id, fault);
}

bool store_put(struct transaction *transaction, const struct store_kind *kind,
	       const struct store_record *record, const struct store_record *former,
	       struct fault *fault)
{
	assert(transaction->access == STORE_WRITE);
	assert(record->value.size > 0 && record->value.size <= STORE_VALUE_MAX);
	assert(kind->naming == STORE_NO_NAME ||
	       (record->name.size > 0 && record->name.size <= STORE_NAME_MAX));
	assert(former == NULL || id_compare(&former->id, &record->id) == 0);
	transaction->has_changes = true;
	transaction->put_bytes += record->value.size;
	priority_yield();
	return transaction->store->driver->put(transaction, kind, record, former, fault);
}

bool store_remove(struct transaction *transaction, const struct store_kind *kind,
		  const struct store_record *record, struct fault *fault)
{
	assert(transaction->access == STORE_WRITE);
	transaction->has_changes = true;
	priority_yield();
	return transaction->store->driver->remove(transaction, kind, record, fault);
}

bool store_give_way(struct transaction *transaction, struct fault *fault)
{
	const struct store_driver *driver = transaction->store->driver;

	assert(transaction->access == STORE_WRITE);
	return driver->give_way == NULL || driver->give_way(transaction, fault);
}

bool store_has_changes(const struct transaction *transaction)
{
	return transaction->has_changes;
}

size_t store_put_bytes(const struct transaction *transaction)
{
	return transaction->put_bytes;
}

uint64_t store_seen(const struct transaction *transaction)
{
	return transaction->access == STORE_WRITE ? transaction->number - 1 : transaction->number;
}

bool store_commit(struct transaction *transaction, uint64_t *number, struct fault *fault)
{
	if (!transaction->has_changes) {
		*number = store_seen(transaction);
		store_abandon(transaction);
		return true;
	}
	end_walks(transaction);
	return transaction->store->driver->commit(transaction, number, fault);
}

void store_abandon(struct transaction *transaction)
{
	end_walks(transaction);
	transaction->store->driver->abandon(transaction);
}

enum store_state store_state(struct store *store, uint64_t number)
{
	return store->driver->state(store, number);
}

void store_flush(struct store *store)
{
	store->driver->flush(store);
}

void store_stop_retrying(struct store *store)
{
	if (store->driver->stop_retrying != NULL)
		store->driver->stop_retrying(store);
}

bool store_wait(struct store *store, uint64_t number, struct fault *fault)
{
	while (store_state(store, number) == STORE_PENDING)
		store_flush(store);
	return store_state(store, number) == STORE_DURABLE ||
	       fault_set(fault, FAULT_UNAVAILABLE, NULL);
}

bool store_has_roster(const struct store *store)
{
	return store->driver->roster != NULL;
}

bool store_roster(struct store *store, struct arena *arena, uint64_t *generation,
		  struct slice *text, struct fault *fault)
{
	return store->driver->roster(store, arena, generation, text, fault);
}

uint64_t store_roster_generation(struct store *store)
{
	return store->driver->roster_generation(store);
}

bool store_is_shared(const struct store *store)
{
	return store->driver->is_shared;
}

bool store_can_write(struct store *store)
{
	return store->driver->can_write(store);
}

const char *store_trouble(struct store *store)
{
	return store->driver->trouble != NULL ? store->driver->trouble(store)
					      : "see the log for the reason";
}

bool store_figures(struct store *store, struct store_figures *figures)
{
	*figures = (struct store_figures){ .durable = 0 };
	if (store->driver->figures == NULL)
		return false;
	store->driver->figures(store, figures);
	return true;
}

void store_close(struct store *store)
{
	if (store != NULL)
		store->driver->close(store);
}
