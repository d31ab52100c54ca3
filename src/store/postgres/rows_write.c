/* Changes: held back, and sent with the commit or when there are many. See
 * store/postgres/rows_parts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/rows_parts.h"

/* Maximum number of changes that are held back. */
#define UNSENT_MOST 256

/* ---- writing ---- */

static void change_append(struct postgres_transaction *own, struct change *change)
{
	struct arena *arena = own->base.arena;
	const char letter = change->kind->letter;
	struct highest_id *highest;

	if (!rows_are_named(change->kind))
		key_index_add(&own->changed_ids, arena, letter, id_slice(&change->record.id),
			      change);
	if (change->kind->naming != STORE_NO_NAME)
		key_index_add(&own->changed_names, arena, letter, change->record.name, change);
	if (change->former_name.data != NULL &&
	    !slice_equal(change->former_name, change->record.name))
		key_index_add(&own->changed_names, arena, letter, change->former_name, change);
	if (change->kind->has_ids) {
		highest = rows_highest_id(own, change->kind);
		if (highest == NULL) {
			highest = arena_zero(own->base.arena, sizeof *highest);
			highest->letter = change->kind->letter;
			highest->account = change->record.account;
			highest->next = own->highest_ids;
			own->highest_ids = highest;
		}
		if (id_compare(&change->record.id, &highest->id) > 0)
			highest->id = change->record.id;
	}
	change->before = own->last_change;
	if (own->last_change == NULL)
		own->first_change = change;
	else
		own->last_change->after = change;
	own->last_change = change;
	own->unsent++;
}

/* Returns whether no other transaction can change the record until the end, because it is locked or
 * was changed. */
static bool is_held(const struct postgres_transaction *own, const struct store_kind *kind,
		    const struct store_record *record)
{
	if (change_of(own, kind, record) != NULL)
		return true;
	if (rows_are_named(kind))
		return known_by_name(own, kind, record->name, STORE_TO_CHANGE) != NULL;
	return known_by_id(own, kind, &record->id, STORE_TO_CHANGE) != NULL;
}

static struct change *change_make(struct postgres_transaction *own, const struct store_kind *kind,
				  const struct store_record *record)
{
	struct change *change = arena_zero(own->base.arena, sizeof *change);

	change->kind = kind;
	change->record = *record;
	change->record.account = own->base.account;
	if (kind->naming == STORE_NO_NAME)
		change->record.name = (struct slice){ NULL, 0 };
	else
		change->record.name = arena_copy(own->base.arena, record->name);
	return change;
}

bool rows_send_changes(struct postgres_transaction *own, struct fault *fault)
{
	rows_add_changes(own);
	return rows_fly(own, fault);
}

static bool send_when_many(struct postgres_transaction *own, struct fault *fault)
{
	return own->unsent < UNSENT_MOST || rows_send_changes(own, fault);
}

bool rows_put(struct transaction *transaction, const struct store_kind *kind,
	      const struct store_record *record, const struct store_record *former,
	      struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
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
	if (former != NULL && rows_are_named(kind))
		change->former_name = arena_copy(own->base.arena, former->name);
	change_append(own, change);
	return send_when_many(own, fault);
}

bool rows_remove(struct transaction *transaction, const struct store_kind *kind,
		 const struct store_record *record, struct fault *fault)
{
	struct postgres_transaction *own = rows_own(transaction);
	struct change *change = change_make(own, kind, record);

	change->needs_guard = !is_held(own, kind, record);
	change->is_removal = true;
	change_append(own, change);
	return send_when_many(own, fault);
}

/* Begins the parameters with the key of a record: account, kind and id, or kind and name. */
static void add_key(struct parameters *parameters, const struct change *change, struct slice name)
{
	*parameters = PARAMETERS_INITIAL;
	if (rows_are_named(change->kind)) {
		rows_add_kind(parameters, change->kind);
		parameters_bytes(parameters, name);
		return;
	}
	parameters_id(parameters, &change->record.account);
	rows_add_kind(parameters, change->kind);
	parameters_id(parameters, &change->record.id);
}

static void guard(struct postgres_transaction *own, const struct change *change)
{
	struct parameters parameters = PARAMETERS_INITIAL;
	const bool is_renamed = change->former_name.data != NULL;

	if (change->needs_parent &&
	    !rows_are_new(own, change->kind->under, &change->record.parent)) {
		parameters_id(&parameters, &change->record.account);
		rows_add_kind(&parameters, change->kind->under);
		parameters_id(&parameters, &change->record.parent);
		rows_add(own, GUARD_PARENT, &parameters);
	}
	if (!change->needs_guard)
		return;
	add_key(&parameters, change, is_renamed ? change->former_name : change->record.name);
	if (rows_are_named(change->kind))
		parameters_id(&parameters, &change->record.account);
	rows_add(own, rows_are_named(change->kind) ? GUARD_NAMED : GUARD, &parameters);
}

static uint32_t change_checksum(const struct change *change)
{
	return rows_checksum(change->kind->letter, &change->record, change->kind->has_parent,
			     change->kind->has_switch);
}

/* ---- groups: several changes in one statement ---- */

/* Larger values are sent alone, because a group is a copy of its records. */
#define GROUPED_VALUE_MAX 8192
/* For two or three records, one statement takes the server longer than one statement each. */
#define GROUP_LEAST 4

static bool can_be_grouped(const struct change *change)
{
	return !rows_are_named(change->kind) && (change->is_insertion || change->is_removal) &&
	       change->record.value.size <= GROUPED_VALUE_MAX;
}

/* Returns whether the change can be in one group with the first one: both insert records, or both
 * remove records of one kind and account. */
static bool may_follow(const struct change *first, const struct change *change)
{
	if (!can_be_grouped(first) || !can_be_grouped(change) ||
	    change->is_removal != first->is_removal)
		return false;
	return change->is_insertion ||
	       (change->kind->letter == first->kind->letter &&
		id_compare(&change->record.account, &first->record.account) == 0);
}

static void insert_group(struct postgres_transaction *own, const struct change *change, size_t n)
{
	static const char types[COLUMNS_OF_RECORD] = {
		'b', 's', 'b', 'b', 'o', 'b', 'b', 'i', 'l'
	};
	static const struct slice none = { NULL, 0 };
	struct buffer columns[COLUMNS_OF_RECORD];
	struct parameters parameters = PARAMETERS_INITIAL;

	for (size_t i = 0; i < COLUMNS_OF_RECORD; i++) {
		columns[i] = BUFFER_INITIAL(own->base.arena);
		array_begin(&columns[i], types[i], n);
	}
	for (size_t i = 0; i < n; i++, change = change->after) {
		const struct store_kind *kind = change->kind;
		const struct store_record *record = &change->record;

		array_bytes(&columns[COLUMN_ACCOUNT], id_slice(&change->record.account));
		array_number(&columns[COLUMN_KIND], (unsigned char)kind->letter, 2);
		array_bytes(&columns[COLUMN_ID], id_slice(&record->id));
		array_bytes(&columns[COLUMN_PARENT],
			    kind->has_parent ? id_slice(&record->parent) : none);
		if (kind->has_switch)
			array_number(&columns[COLUMN_IS_ON], record->is_on, 1);
		else
			array_bytes(&columns[COLUMN_IS_ON], none);
		array_bytes(&columns[COLUMN_NAME], record->name);
		array_bytes(&columns[COLUMN_VALUE], record->value);
		array_number(&columns[COLUMN_CHECKSUM], change_checksum(change), 4);
		if (record->ends != 0)
			array_number(&columns[COLUMN_ENDS], (uint64_t)record->ends, 8);
		else
			array_bytes(&columns[COLUMN_ENDS], none);
	}
	for (size_t i = 0; i < COLUMNS_OF_RECORD; i++)
		parameters_bytes(&parameters, buffer_slice(&columns[i]));
	rows_add(own, INSERT_SEVERAL, &parameters);
}

static void add_alone(struct postgres_transaction *own, const struct change *change)
{
	const struct store_kind *kind = change->kind;
	const struct store_record *record = &change->record;
	struct parameters parameters;

	guard(own, change);
	if (change->is_removal) {
		add_key(&parameters, change, record->name);
		rows_add(own, rows_are_named(kind) ? DELETE_NAMED : DELETE, &parameters);
		return;
	}
	parameters = PARAMETERS_INITIAL;
	parameters_id(&parameters, &record->account);
	rows_add_kind(&parameters, kind);
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
	parameters_number(&parameters, change_checksum(change), 4);
	if (record->ends != 0)
		parameters_number(&parameters, (uint64_t)record->ends, 8);
	else
		parameters_null(&parameters);
	if (change->is_insertion) {
		rows_add(own, rows_are_named(kind) ? INSERT_NAMED : INSERT, &parameters);
		return;
	}
	if (rows_are_named(kind))
		parameters_bytes(&parameters, change->former_name);
	rows_add(own, rows_are_named(kind) ? UPDATE_NAMED : UPDATE, &parameters);
}

static void add_group(struct postgres_transaction *own, const struct change *first, size_t n)
{
	struct buffer ids = BUFFER_INITIAL(own->base.arena);
	struct parameters parameters = PARAMETERS_INITIAL;
	const struct change *change = first;

	if (first->is_removal) {
		parameters_id(&parameters, &first->record.account);
		rows_add_kind(&parameters, first->kind);
		array_begin(&ids, 'b', n);
		for (size_t i = 0; i < n; i++, change = change->after)
			array_bytes(&ids, id_slice(&change->record.id));
		parameters_bytes(&parameters, buffer_slice(&ids));
		parameters_number(&parameters, n, 8);
		rows_add(own, DELETE_SEVERAL, &parameters);
		return;
	}
	for (size_t i = 0; i < n; i++, change = change->after)
		guard(own, change);
	insert_group(own, first, n);
}

void rows_add_changes(struct postgres_transaction *own)
{
	struct change *change = own->last_change, *end;
	size_t n;

	while (change != NULL && !change->is_sent && change->before != NULL &&
	       !change->before->is_sent)
		change = change->before;
	for (; change != NULL && !change->is_sent; change = end) {
		n = 0;
		end = change;
		do {
			end->is_sent = true;
			end = end->after;
			n++;
		} while (end != NULL && may_follow(change, end));
		if (n >= GROUP_LEAST) {
			add_group(own, change, n);
			continue;
		}
		for (; change != end; change = change->after)
			add_alone(own, change);
	}
	own->unsent = 0;
}
