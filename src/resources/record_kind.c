/* See resources/record_kind.h. Kinds with hooks are defined in the files of their subject.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_kind.h"

#include <assert.h>

#include "records/form.h"
#include "records/kinds.h"
#include "records/lease_record.h"

/* clang-format off */
#define RECORD_KIND_LISTED(name_) &name_##_kind,
const struct record_kind *const record_kinds[] = { EACH_KIND(RECORD_KIND_LISTED) };
/* clang-format on */

/* ---- the form ---- */

void record_tables(const struct record_table **tables)
{
	for (size_t i = 0; i < RECORD_KINDS; i++)
		tables[i] = record_kinds[i]->table;
	tables[RECORD_KINDS] = &lease_table;
}

static unsigned number_of_form(void)
{
	return upgrade_number(&record_upgrades);
}

static struct slice text_of_form(struct arena *arena)
{
	const struct record_table *tables[KINDS];

	record_tables(tables);
	return form_text(arena, tables, KINDS);
}

static enum store_form_match compare_form(unsigned number, struct slice kept)
{
	return upgrade_compare(&record_upgrades, number, kept);
}

const struct store_form record_form = {
	.number = number_of_form,
	.text = text_of_form,
	.compare = compare_form,
};

/* ---- verifying ---- */

/* The store knows some of it too, for its locks and round trips (store/store.h). */
static void verify_relations(const struct record_kind *kind)
{
	const struct record_table *table = kind->table;
	const struct member *owner = record_owner(table);
	unsigned ends = 0;

	assert(owner != NULL || (kind->order != RECORD_CHILDREN && kind->order != RECORD_BESIDE));
	assert(table->kind->under == NULL ||
	       (owner != NULL && owner->relation->of == table->kind->under &&
		owner->relation->fate == RELATION_REFUSES));
	assert(table->kind->after == NULL ||
	       (owner != NULL && owner->relation->of == table->kind->after));
	for (size_t i = 0; i < table->member_count; i++) {
		const struct relation *relation = table->members[i].relation;
		const struct record_table *of;

		ends += table->members[i].is_end;
		if (relation == NULL)
			continue;
		of = record_kind_of(relation->of)->table;
		if (relation->list != NULL)
			of = record_member(of, relation->list)->items;
		assert(of != NULL);
		assert(relation->list == NULL ||
		       record_member(of, relation->is_by_name ? "name" : "id") != NULL);
		if (relation->counted_in != NULL && relation->counted_in != relation->of)
			of = record_kind_of(relation->counted_in)->table;
		assert(relation->counted_in == NULL ||
		       record_member(of, relation->counted)->kind == MEMBER_NUMBER);
	}
	assert(ends == (table->kind->has_ends ? 1 : 0));
	assert(!table->kind->has_ends || table->kind->naming != STORE_NAME_ANYWHERE);
}

void record_kinds_verify(void)
{
	for (size_t i = 0; i < KINDS; i++) {
		for (size_t j = 0; j < i; j++)
			assert(all_kinds[j]->letter != all_kinds[i]->letter);
	}
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		const struct record_kind *kind = record_kinds[i];

		assert(kind->table->kind == all_kinds[i]);
		assert(kind->order != RECORD_PAGES || all_kinds[i]->has_pages);
		assert(kind->order != RECORD_CHILDREN || all_kinds[i]->has_parent);
		verify_relations(kind);
		for (size_t j = 0; j < RECORD_SHAPES_MOST && kind->shapes[j] != NULL; j++)
			schema_verify(kind->shapes[j]);
	}
	upgrade_verify(&record_upgrades);
}

const struct record_kind *record_kind_of(const struct store_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->table->kind == kind)
			return record_kinds[i];
	}
	return NULL;
}

const struct record_kind *record_kind_above(const struct record_kind *kind)
{
	if (kind->order == RECORD_NUMBERED)
		return &audit_kind;
	if (kind->order != RECORD_CHILDREN && kind->order != RECORD_BESIDE)
		return NULL;
	return record_kind_of(record_owner(kind->table)->relation->of);
}

void record_check_document(const struct shape *shape, json_t *document, const char *pointer,
			   struct findings *findings)
{
	struct findings own;
	struct fault fault = FAULT_INITIAL;

	findings_open(&own, findings->arena);
	own.is_stored = true;
	(void)schema_check(shape, document, SCHEMA_WHOLE, true, &own, &fault);
	findings_take(findings, pointer, &own);
}
