/* See resources/garbage.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/garbage.h"

#include "records/kinds.h"

/* Records with children of their own that one call removes. */
#define FAMILIES_AT_ONCE 8

static bool has_children_kind(const struct store_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct member *owner = record_owner(record_kinds[i]->table);

		if (owner != NULL && owner->relation->of == kind &&
		    owner->relation->fate == RELATION_DIES)
			return true;
	}
	return false;
}

/* ---- the account's record that counts others ---- */

struct counter {
	const struct record_table *table;
	const struct member *member;
	void *record;
	bool is_there;
};

/* Loads the record that counts the records of this row, unless it is the parent. counter->member is
 * NULL if there is none. */
static bool counter_load(struct call *call, const struct relation *relation,
			 enum store_reading reading, struct counter *counter, struct fault *fault)
{
	const struct store_record *stored;

	*counter = (struct counter){ .member = NULL };
	if (relation->counted_in == NULL || relation->counted_in == relation->of)
		return true;
	counter->table = record_kind_of(relation->counted_in)->table;
	counter->member = record_member(counter->table, relation->counted);
	counter->record = arena_zero(call->arena, counter->table->size);
	stored = (const void *)((const char *)counter->record + counter->table->stored);
	if (!record_get(counter->table, call->transaction, &kind_only_id, reading, counter->record,
			fault))
		return false;
	counter->is_there = stored->value.data != NULL;
	return true;
}

bool garbage_count_removed(struct call *call, const struct relation *relation, uint64_t n,
			   struct fault *fault)
{
	struct counter counter;
	uint64_t number;

	if (n == 0)
		return true;
	if (!counter_load(call, relation, STORE_TO_CHANGE, &counter, fault))
		return false;
	if (counter.member == NULL || !counter.is_there)
		return true;
	number = record_number(counter.member, counter.record);
	record_set_number(counter.member, counter.record, number > n ? number - n : 0);
	return record_put(counter.table, call->transaction, counter.record, fault);
}

/* ---- removing ---- */

bool garbage_remove_record(struct call *call, const struct record_kind *kind,
			   const struct store_record *stored, struct fault *fault)
{
	void *record;

	if (kind->removed != NULL) {
		record = arena_zero(call->arena, kind->table->size);
		if (!record_read(kind->table, call->arena, stored, record, fault) ||
		    !kind->removed(call, record, fault))
			return false;
	}
	return store_remove(call->transaction, kind->table->kind, stored, fault);
}

/* Sets *may to false if the account has no records of the kind, or if the parent has none. */
static bool may_have(struct call *call, const struct relation *relation, const struct id *parent,
		     bool *may, struct fault *fault)
{
	struct store_record beside;
	struct counter counter;

	*may = true;
	if (relation->only_with != NULL) {
		if (!store_get(call->transaction, relation->only_with, parent, STORE_TO_CHANGE,
			       &beside, fault))
			return false;
		*may = beside.value.data != NULL;
		return true;
	}
	if (!counter_load(call, relation, STORE_TO_SHOW, &counter, fault))
		return false;
	if (counter.member != NULL)
		*may = counter.is_there && record_number(counter.member, counter.record) > 0;
	return true;
}

static bool remove_page(struct call *call, const struct record_kind *kind,
			const struct relation *relation, const struct id *parent, bool *are_gone,
			struct fault *fault)
{
	const struct store_kind *stored_kind = kind->table->kind;
	const bool have_children = has_children_kind(stored_kind);
	const size_t most = have_children ? FAMILIES_AT_ONCE : GARBAGE_AT_ONCE;
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.parent = parent,
		.records = arena_alloc(call->arena, most * sizeof *page.records),
		.most = most,
	};

	if (!store_page(call->transaction, stored_kind, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		const struct id id = page.records[i].id;

		if (!garbage_remove_record(call, kind, &page.records[i], fault) ||
		    (have_children && !garbage_add(call, stored_kind, &id, fault)))
			return false;
	}
	*are_gone = page.is_last;
	return garbage_count_removed(call, relation, page.count, fault);
}

/* Removes some children, those first that may refer to others: kinds come after those that they
 * refer to. Sets *are_gone to true if none are left. */
static bool remove_children(struct call *call, const struct store_kind *of, const struct id *id,
			    bool *are_gone, struct fault *fault)
{
	*are_gone = true;
	for (size_t i = RECORD_KINDS; *are_gone && i-- > 0;) {
		const struct record_kind *kind = record_kinds[i];
		const struct member *owner = record_owner(kind->table);
		struct store_record beside;
		bool may;

		if (owner == NULL || owner->relation->of != of ||
		    owner->relation->fate != RELATION_DIES)
			continue;
		if (!may_have(call, owner->relation, id, &may, fault))
			return false;
		if (!may)
			continue;
		if (owner->kind != MEMBER_KEY) {
			if (!remove_page(call, kind, owner->relation, id, are_gone, fault))
				return false;
			continue;
		}
		if (!store_get(call->transaction, kind->table->kind, id, STORE_TO_CHANGE, &beside,
			       fault))
			return false;
		beside.id = *id;
		if (beside.value.data != NULL && !garbage_remove_record(call, kind, &beside, fault))
			return false;
	}
	return true;
}

/* ---- what is left ---- */

static const struct member garbage_members[] = {
	{ "id", AS_KEY, AT(struct garbage, stored.id) },
	{ "of", AS_NUMBER(1, 1, INT8_MAX), AT(struct garbage, of) },
};
const struct record_table garbage_table = {
	RECORD(struct garbage, garbage_members, 1, &kind_garbage),
};

static const struct store_kind *kind_of_letter(unsigned char letter)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if ((unsigned char)all_kinds[i]->letter == letter)
			return all_kinds[i];
	}
	return NULL;
}

static bool garbage_record_check(struct call *call, const void *record, struct findings *findings,
				 struct fault *fault)
{
	const struct garbage *garbage = record;
	const struct store_kind *of = kind_of_letter(garbage->of);
	struct store_record stored;

	if (of == NULL || !has_children_kind(of)) {
		findings_add(findings, "/of", "is no kind to which others belong");
		return true;
	}
	if (!store_get(call->transaction, of, &garbage->stored.id, STORE_TO_SHOW, &stored, fault))
		return false;
	if (stored.value.data != NULL)
		findings_add(findings, "", "belongs to an object that still exists");
	return true;
}

const struct record_kind garbage_kind = {
	.table = &garbage_table,
	.order = RECORD_PAGES,
	.check = garbage_record_check,
};

/* A newer program that writes at the same time may know more kinds, and removes what belongs to
 * those itself. */
static bool remove_left(struct call *call, const struct garbage *garbage, bool *are_gone,
			struct fault *fault)
{
	const struct store_kind *of = kind_of_letter(garbage->of);

	*are_gone = true;
	if (of == NULL)
		return true;
	return remove_children(call, of, &garbage->stored.id, are_gone, fault) &&
	       (!*are_gone ||
		store_remove(call->transaction, &kind_garbage, &garbage->stored, fault));
}

bool garbage_finish(struct call *call, const struct id *id, struct fault *fault)
{
	struct garbage garbage;
	bool are_gone = false;

	if (!record_get(&garbage_table, call->transaction, id, STORE_TO_CHANGE, &garbage, fault))
		return false;
	if (garbage.stored.value.data == NULL)
		return true;
	while (!are_gone) {
		if (!remove_left(call, &garbage, &are_gone, fault))
			return false;
	}
	return true;
}

bool garbage_check_refusals(struct call *call, const struct store_kind *of, const struct id *id,
			    struct fault *fault)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct member *owner = record_owner(record_kinds[i]->table);
		bool has_children;

		if (owner == NULL || owner->relation->of != of ||
		    owner->relation->fate != RELATION_REFUSES)
			continue;
		if (!store_has_children(call->transaction, all_kinds[i], id, &has_children, fault))
			return false;
		if (has_children)
			return fault_detail(fault, FAULT_CONFLICT,
					    "there are %ss that belong to it", all_kinds[i]->name);
	}
	return true;
}

bool garbage_add(struct call *call, const struct store_kind *of, const struct id *id,
		 struct fault *fault)
{
	const struct garbage garbage = { .stored.id = *id, .of = (unsigned char)of->letter };
	bool are_gone;

	if (!garbage_check_refusals(call, of, id, fault) ||
	    !remove_children(call, of, id, &are_gone, fault))
		return false;
	/* garbage_finish: an imported room may have had the id of a template. */
	return are_gone || (garbage_finish(call, id, fault) &&
			    record_put(&garbage_table, call->transaction, &garbage, fault));
}

bool garbage_has(struct call *call, const struct store_kind *of, const struct id *id, bool *has,
		 struct fault *fault)
{
	struct garbage garbage;

	if (!record_get(&garbage_table, call->transaction, id, STORE_TO_SHOW, &garbage, fault))
		return false;
	*has = garbage.stored.value.data != NULL && garbage.of == (unsigned char)of->letter;
	return true;
}

bool garbage_collect(struct call *call, struct fault *fault)
{
	struct store_record record;
	struct store_page page = { .order = STORE_OLDEST_FIRST, .records = &record, .most = 1 };
	struct garbage garbage;
	bool are_gone;

	if (!store_page(call->transaction, &kind_garbage, &page, fault))
		return false;
	return page.count == 0 || (record_read(&garbage_table, NULL, &record, &garbage, fault) &&
				   remove_left(call, &garbage, &are_gone, fault));
}
