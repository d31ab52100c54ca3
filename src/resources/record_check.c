/* See resources/record_check.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_check.h"

#include <string.h>

#include "resources/garbage.h"
#include "resources/stored.h"

/* Bytes of records that are counted together. */
#define COUNTED_BYTES ((size_t)1 << 20)

/* ---- what a record refers to ---- */

static struct slice member_text(const struct member *member, const void *record)
{
	return *(const struct slice *)(const void *)((const char *)record + member->offset);
}

static bool refers_to_nothing(const struct member *member, const void *record)
{
	return member->relation->is_by_name
		       ? member_text(member, record).size == 0
		       : id_compare(record_id(member, record), &kind_only_id) == 0;
}

static bool is_item(const struct member *member, const void *record,
		    const struct record_table *items, const char *item)
{
	return member->relation->is_by_name
		       ? slice_equal(member_text(member, record),
				     member_text(record_member(items, "name"), item))
		       : id_compare(record_id(member, record),
				    record_id(record_member(items, "id"), item)) == 0;
}

bool record_find_referred(struct call *call, const struct member *member, const void *record,
			  enum record_referred *referred, struct fault *fault)
{
	const struct relation *relation = member->relation;
	const struct record_table *table;
	const struct member *list;
	struct store_record stored;
	bool is_there = false, is_left = false;
	const char *items;
	void *one;
	size_t n;

	*referred = RECORD_REFERRED_THERE;
	if (relation->fate == RELATION_OUTLIVES ||
	    (relation->may_be_none && refers_to_nothing(member, record)))
		return true;
	if (relation->list != NULL) {
		table = record_kind_of(relation->of)->table;
		const char *const lists[] = { relation->list, relation->other_list };

		one = arena_zero(call->arena, table->size);
		if (!record_get(table, call->transaction, &kind_only_id, STORE_TO_SHOW, one, fault))
			return false;
		for (size_t j = 0; j < 2 && lists[j] != NULL; j++) {
			list = record_member(table, lists[j]);
			n = record_items(list, one, &items);
			for (size_t i = 0; i < n && !is_there; i++)
				is_there = is_item(member, record, list->items,
						   items + i * list->items->size);
		}
	} else {
		if (!store_get(call->transaction, relation->of, record_id(member, record),
			       STORE_TO_SHOW, &stored, fault))
			return false;
		is_there = stored.value.data != NULL;
	}
	if (is_there)
		return true;
	if (relation->fate == RELATION_DIES && !relation->is_by_name &&
	    !garbage_has(call, relation->of, record_id(member, record), &is_left, fault))
		return false;
	*referred = is_left ? RECORD_REFERRED_LEFT : RECORD_REFERRED_GONE;
	return true;
}

bool record_check_relations(struct call *call, const struct record_table *table, const void *record,
			    bool *are_there, struct findings *findings, struct fault *fault)
{
	*are_there = true;
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		const struct relation *relation = member->relation;
		enum record_referred referred;
		const char *what;

		if (relation == NULL)
			continue;
		if (!record_find_referred(call, member, record, &referred, fault))
			return false;
		if (referred != RECORD_REFERRED_GONE)
			continue;
		*are_there = false;
		/* An item is called as its list, without the s. */
		what = relation->list == NULL ? relation->of->name : relation->list;
		findings_add(findings, arena_text(call->arena, "/%s", member->name),
			     "its %.*s does not exist",
			     (int)(strlen(what) - (relation->list != NULL)), what);
	}
	return true;
}

/* ---- what a record counts ---- */

/* Records that a row counts. */
struct counting {
	struct call *call;
	const struct member *member; /* the row */
	const struct record_table *table; /* of the records */
	const struct record_table *items; /* each of these is counted; NULL: all together */
	const char *first; /* the first item */
	size_t n;
	uint64_t *counts;
};

static bool count_record(const struct counting *counting, const struct store_record *stored,
			 struct fault *fault)
{
	void *record;

	if (counting->items == NULL) {
		++counting->counts[0];
		return true;
	}
	record = arena_zero(counting->call->arena, counting->table->size);
	if (!record_read(counting->table, counting->call->arena, stored, record, fault))
		return false;
	for (size_t i = 0; i < counting->n; i++)
		counting->counts[i] += is_item(counting->member, record, counting->items,
					       counting->first + i * counting->items->size);
	return true;
}

static void compare_count(const struct counting *counting, const struct record_table *table,
			  const void *record, size_t i, const char *pointer,
			  struct findings *findings)
{
	const struct member *number = record_member(table, counting->member->relation->counted);

	if (record_number(number, record) != counting->counts[i])
		findings_add(findings, arena_text(findings->arena, "%s/%s", pointer, number->name),
			     "does not match the number of %ss", counting->table->kind->name);
}

/* Compares what the record says with the number of records that this row counts in it, or in the
 * items of a list of it. list_name: NULL for the record itself. */
static bool check_count(struct call *call, const struct record_table *counter, const void *record,
			const char *list_name, struct counting *counting, struct findings *findings,
			struct fault *fault)
{
	const struct relation *relation = counting->member->relation;
	const struct id id = record_key(counter, record).id;
	const struct member *list = NULL;
	struct store_page page = { .order = STORE_OLDEST_FIRST, .bytes_most = COUNTED_BYTES };
	struct store_record stored;
	struct store_walk walk;

	counting->n = 1;
	if (relation->of == counter->kind && list_name != NULL) {
		list = record_member(counter, list_name);
		counting->items = list->items;
		counting->n = record_items(list, record, &counting->first);
	} else if (relation->of == counter->kind) {
		page.parent = &id;
	}
	counting->counts = arena_zero(call->arena, (counting->n + 1) * sizeof *counting->counts);
	walk = store_walk_pages(call->transaction, counting->table->kind, &page, false, fault);
	while (store_next(&walk, &stored))
		if (!count_record(counting, &stored, fault))
			return false;
	if (fault->kind != FAULT_NONE)
		return false;
	if (list == NULL)
		compare_count(counting, counter, record, 0, "", findings);
	for (size_t i = 0; list != NULL && i < counting->n; i++)
		compare_count(counting, list->items, counting->first + i * list->items->size, i,
			      arena_text(call->arena, "/%s/%zu", list->name, i), findings);
	return true;
}

static bool check_counts(struct call *call, const struct record_table *table, const void *record,
			 struct findings *findings, struct fault *fault)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_table *counted = record_kinds[i]->table;

		for (size_t j = 0; j < counted->member_count; j++) {
			struct counting counting = {
				.call = call,
				.member = &counted->members[j],
				.table = counted,
			};

			const struct relation *relation = counting.member->relation;

			if (relation == NULL || relation->counted_in != table->kind)
				continue;
			if (!check_count(call, table, record, relation->list, &counting, findings,
					 fault) ||
			    (relation->other_list != NULL &&
			     !check_count(call, table, record, relation->other_list, &counting,
					  findings, fault)))
				return false;
		}
	}
	return true;
}

/* Gets the record that counts the records of a row. */
static bool counter_get(struct call *call, const struct member *member, const void *record,
			enum store_reading reading, void **counter, bool *is_there,
			struct fault *fault)
{
	const struct relation *relation = member->relation;
	const struct record_table *table = record_kind_of(relation->counted_in)->table;
	const struct id *id = relation->of == relation->counted_in ? record_id(member, record)
								   : &kind_only_id;
	const struct store_record *stored;

	*counter = arena_zero(call->arena, table->size);
	stored = (const void *)((const char *)*counter + table->stored);
	if (!record_get(table, call->transaction, id, reading, *counter, fault))
		return false;
	*is_there = stored->value.data != NULL;
	return true;
}

/* Adds a finding if the record that counts this one does not exist, or counts none. */
static bool check_counted(struct call *call, const struct record_table *table, const void *record,
			  struct findings *findings, struct fault *fault)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct relation *relation = table->members[i].relation;
		const struct member *number;
		bool is_there;
		void *counter;

		if (relation == NULL || relation->counted_in == NULL || relation->list != NULL ||
		    relation->counted_in == relation->of)
			continue;
		if (!counter_get(call, &table->members[i], record, STORE_TO_SHOW, &counter,
				 &is_there, fault))
			return false;
		number = record_member(record_kind_of(relation->counted_in)->table,
				       relation->counted);
		if (!is_there || record_number(number, counter) == 0)
			findings_add(findings, "", "is not counted in the %s",
				     relation->counted_in->name);
	}
	return true;
}

bool record_count_loaded(struct call *call, const struct record_table *table, const void *record,
			 const char *pointer, struct findings *findings, struct fault *fault)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i], *number;
		const struct relation *relation = member->relation;
		const struct record_table *counts;
		bool is_there;
		void *counter;

		if (relation == NULL || relation->counted_in == NULL || relation->list != NULL)
			continue;
		if (!counter_get(call, member, record, STORE_TO_CHANGE, &counter, &is_there, fault))
			return false;
		counts = record_kind_of(relation->counted_in)->table;
		number = record_member(counts, relation->counted);
		if (!is_there)
			findings_add(findings, pointer,
				     "is counted in a %s that no earlier line contains",
				     relation->counted_in->name);
		else if (record_number(number, counter) >= (uint64_t)number->most)
			findings_add(findings, pointer, "is over the maximum of %lld %ss",
				     (long long)number->most, table->kind->name);
		else
			record_set_number(number, counter, record_number(number, counter) + 1);
		if (!findings_result(findings, fault) ||
		    !record_put(counts, call->transaction, counter, fault))
			return false;
	}
	return true;
}

bool record_check(struct call *call, const struct record_kind *kind, const void *record,
		  bool is_whole, struct findings *findings, struct fault *fault)
{
	const struct store_record *stored =
		(const void *)((const char *)record + kind->table->stored);
	bool refers, is_done;

	record_verify(kind->table, record, "", is_whole, findings);
	is_done = record_check_relations(call, kind->table, record, &refers, findings, fault) &&
		  (!refers || kind->check == NULL || kind->check(call, record, findings, fault));
	if (is_done && is_whole) {
		/* The store has the end of a record beside its value. */
		if (kind->table->kind->has_ends && stored->ends != record_end(kind->table, record))
			findings_add(findings, "", "is found by another end");
		is_done = check_counts(call, kind->table, record, findings, fault) &&
			  check_counted(call, kind->table, record, findings, fault) &&
			  (kind->derive == NULL || kind->derive(call, record, findings, fault));
	}
	return stored_sound(call, is_done, fault);
}
