/* See resources/record_kind.h. Kinds with hooks are defined in the files of their subject.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_kind.h"

#include "records/kinds.h"
#include "resources/garbage.h"
#include "resources/retries/kept_answer.h"
#include "resources/retries/kept_usage.h"
#include "resources/stored.h"

const struct record_kind kept_answer_kind = { &kept_answer_table, .order = RECORD_PAGES };
const struct record_kind kept_usage_kind = { &kept_usage_table, .order = RECORD_ONE };

const struct record_kind *const record_kinds[] = {
	&media_kind,
	&api_keys_kind,
	&api_key_kind,
	&template_kind,
	&deleted_role_kind,
	&default_template_kind,
	&room_kind,
	&codes_kind,
	&code_kind,
	&room_times_kind,
	&log_kind,
	&entry_kind,
	&webhooks_kind,
	&webhook_position_kind,
	&webhook_delivery_kind,
	&words_kind,
	/* Not in a dump. */
	&words_asked_kind,
	&kept_answer_kind,
	&kept_usage_kind,
	&garbage_kind,
	&backend_healths_kind,
	&webhook_account_kind,
	&queued_kind,
};

void record_kinds_verify(void)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i]->shape != NULL)
			schema_verify(record_kinds[i]->shape);
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
	(void)schema_check(shape, document, SCHEMA_WHOLE, true, &own, &fault);
	findings_take(findings, pointer, &own);
}

const char *record_finding(const struct fault *found, size_t i)
{
	const char *text = json_string_value(json_array_get(found->details, i));

	return strncmp(text, ": ", 2) == 0 ? text + 2 : text;
}

bool record_check(struct call *call, const struct record_kind *kind, const void *record,
		  bool is_whole, struct findings *findings, struct fault *fault)
{
	bool is_done;

	record_verify(kind->table, record, "", is_whole, findings);
	is_done = (kind->refer == NULL || kind->refer(call, record, findings, fault)) &&
		  (!is_whole || kind->derive == NULL ||
		   kind->derive(call, record, findings, fault));
	return stored_sound(call, is_done, fault);
}
