/* See resources/record_kind.h. Kinds with hooks are defined in the files of their subject.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_kind.h"

#include <assert.h>

#include "records/form.h"
#include "records/kinds.h"
#include "records/lease_record.h"
#include "resources/garbage.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored.h"

const struct record_kind kept_answer_kind = { &kept_answer_table, .order = RECORD_PAGES };
const struct record_kind kept_usage_kind = { &kept_usage_table, .order = RECORD_ONE };

/* clang-format off */
#define RECORD_KIND_LISTED(name_) &name_##_kind,
const struct record_kind *const record_kinds[] = { EACH_KIND(RECORD_KIND_LISTED) };
/* clang-format on */

/* ---- the form ---- */

static void all_tables(const struct record_table *tables[KINDS])
{
	for (size_t i = 0; i < RECORD_KINDS; i++)
		tables[i] = record_kinds[i]->table;
	tables[RECORD_KINDS] = &lease_table;
}

static struct slice text_of_form(struct arena *arena)
{
	const struct record_table *tables[KINDS];

	all_tables(tables);
	return form_text(arena, tables, KINDS);
}

static enum store_form_match compare_form(struct slice kept)
{
	const struct record_table *tables[KINDS];

	all_tables(tables);
	return form_compare(tables, KINDS, kept);
}

const struct store_form record_form = { .text = text_of_form, .compare = compare_form };

/* ---- verifying ---- */

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
		for (size_t j = 0; j < RECORD_SHAPES_MOST && kind->shapes[j] != NULL; j++)
			schema_verify(kind->shapes[j]);
	}
}

const struct record_kind *record_kind_of(const struct store_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->table->kind == kind)
			return record_kinds[i];
	}
	return NULL;
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

bool record_check(struct call *call, const struct record_kind *kind, const void *record,
		  bool is_whole, struct findings *findings, struct fault *fault)
{
	bool is_done;

	record_verify(kind->table, record, "", is_whole, findings);
	is_done = (kind->check == NULL || kind->check(call, record, findings, fault)) &&
		  (!is_whole || kind->derive == NULL ||
		   kind->derive(call, record, findings, fault));
	return stored_sound(call, is_done, fault);
}
