/* See transfer/record_findings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_check.h"
#include "transfer/record_findings.h"

/* Reports a finding. Names that are unique in the installation are codes and so secret, except the
 * name of an API key, which is its id. */
static void report_finding(struct call *call, const struct store_kind *kind, const struct id *id,
			   const char *problem, struct record_findings *findings)
{
	const char *key = "(a code)";

	if (kind->naming != STORE_NAME_ANYWHERE || kind == &kind_key)
		key = arena_text(call->arena, "%s/%s", call->account_text,
				 id_as_text(call->arena, id).data);
	findings->count++;
	findings->report(findings, kind->name, key, problem);
}

void record_findings_report(struct call *call, const struct record_kind *kind, void *record,
			    struct record_findings *findings)
{
	const struct store_record *stored = (void *)((char *)record + kind->table->stored);
	struct fault fault = FAULT_INITIAL, found = FAULT_INITIAL;

	findings_open(&call->findings, call->arena);
	if (!record_check(call, kind, record, true, &call->findings, &fault) &&
	    fault.kind != FAULT_INVALID_BODY)
		report_finding(call, kind->table->kind, &stored->id, fault_reason(&fault),
			       findings);
	(void)findings_result(&call->findings, &found);
	for (size_t i = 0; i < json_array_size(found.details); i++)
		report_finding(call, kind->table->kind, &stored->id,
			       json_string_value(json_array_get(found.details, i)), findings);
}

void record_findings_report_stored(struct snapshot *snapshot, const struct store_kind *stored_kind,
				   const struct store_record *stored,
				   struct record_findings *findings)
{
	const struct record_kind *kind = record_kind_of(stored_kind);
	struct call *call = &snapshot->call;
	struct fault fault = FAULT_INITIAL;
	void *record;

	if (kind == NULL)
		return;
	snapshot_set_account(snapshot, &stored->account);
	if (findings->roster != NULL && !kind->is_of_no_account &&
	    roster_by_id(findings->roster, &stored->account) == NULL) {
		if (findings->unknown_accounts == NULL)
			findings->unknown_accounts = json_object();
		if (json_object_get(findings->unknown_accounts, call->account_text) == NULL) {
			object_put(findings->unknown_accounts, call->account_text, json_true());
			findings->count++;
			findings->report(findings, "account", call->account_text,
					 "the account is not in the accounts file; if a load was "
					 "interrupted, the next anteroom load removes its records");
		}
	}

	record = arena_zero(call->arena, kind->table->size);
	if (record_read(kind->table, call->arena, stored, record, &fault))
		record_findings_report(call, kind, record, findings);
	else
		report_finding(call, stored_kind, &stored->id, fault_reason(&fault), findings);
	snapshot_release(snapshot);
}
