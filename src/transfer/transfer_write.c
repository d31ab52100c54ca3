/* Writes a dump: see transfer/transfer.h. Records are found by the lists of the store or, with
 * --salvage, by their keys, because lists may be damaged.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/stored/code_words.h"
#include "resources/audit_record.h"
#include "resources/stored/media_record.h"
#include "resources/record_check.h"
#include "resources/stored.h"
#include "resources/stored/template_record.h"
#include "rules/transfer_rules.h"
#include "transfer/transfer.h"
#include "transfer/walk.h"

/* The state of a dump that is being written. */
struct writing {
	struct walk walk;
	struct snapshot *snapshot;
	struct transfer_output *output;
	const struct roster *roster;
	const struct account *only; /* NULL: all accounts of the roster */
	struct transfer_counts left; /* records that are left out (is_left_behind) */
	json_t *lost; /* in a damaged store: ids of the account's lost records with children */
	bool has_log; /* the line of the account's event log is written, or it has none */
	struct audit_state log; /* of the account: the range of its lines */
};

uint64_t transfer_count(const struct transfer_counts *counts, const struct record_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (record_kinds[i] == kind)
			return counts->lines[i];
	}
	return 0;
}

void transfer_count_line(struct transfer_counts *counts, const struct record_kind *kind)
{
	for (size_t i = 0; i < RECORD_KINDS; i++)
		counts->lines[i] += record_kinds[i] == kind;
}

/* ---- lost records ---- */

/* Returns "room ACCOUNT/ID", or "rooms of the account ACCOUNT". Never contains a code. */
static const char *record_name(struct call *call, const struct record_kind *kind,
			       const struct id *id)
{
	const char *name = kind->table->kind->name;

	if (id == NULL || kind->order == RECORD_ONE)
		return arena_text(call->arena, "%s of the account %s", name, call->account_text);
	if (kind == &code_kind)
		return arena_text(call->arena, "a code of the account %s", call->account_text);
	return arena_text(call->arena, "%s %s/%s", name, call->account_text,
			  id_as_text(call->arena, id).data);
}

static bool leave_out(struct writing *writing, const char *what, const struct fault *why,
		      struct fault *fault)
{
	if (writing->output->lost == NULL) {
		*fault = *why;
		return false;
	}
	writing->output->lost(writing->output, what, fault_reason(why));
	return true;
}

static bool lose_record(struct walk *walk, const struct record_kind *kind, const struct id *id,
			const struct fault *why, struct fault *fault)
{
	struct writing *writing = (struct writing *)walk;

	if (id != NULL && writing->lost != NULL)
		object_put(writing->lost, id_as_text(walk->call->arena, id).data, json_true());
	return leave_out(writing, record_name(walk->call, kind, id), why, fault);
}

static bool lose_unfound(void *context, const char *what, const struct fault *why,
			 struct fault *fault)
{
	return leave_out(context, what, why, fault);
}

/* True if the record belongs or refers to one that is lost, so that it is lost too. */
static bool refers_to_lost(struct writing *writing, const struct record_kind *kind,
			   const void *record)
{
	const struct record_table *table = kind->table;

	for (size_t i = 0; writing->lost != NULL && i < table->member_count; i++) {
		const struct relation *relation = table->members[i].relation;
		const struct id *id;

		if (relation == NULL || relation->fate == RELATION_OUTLIVES ||
		    relation->list != NULL)
			continue;
		id = record_id(&table->members[i], record);
		/* That of a record which refers to none. */
		if (id_compare(id, &kind_only_id) != 0 &&
		    json_object_get(writing->lost,
				    id_as_text(writing->walk.call->arena, id).data) != NULL)
			return true;
	}
	return false;
}

/* Sets *is_left to true if the record is still to be removed with the one that it belonged to. Only
 * a list of the account has such records. */
static bool is_left_behind(struct call *call, const struct record_kind *kind, const void *record,
			   bool *is_left, struct fault *fault)
{
	const struct member *owner = record_owner(kind->table);
	enum record_referred referred;

	*is_left = false;
	if (owner == NULL || kind->order != RECORD_PAGES)
		return true;
	if (!record_find_referred(call, owner, record, &referred, fault))
		return false;
	*is_left = referred == RECORD_REFERRED_LEFT;
	return true;
}

/* If the media server that a template names is lost, writes the template without it. */
static bool keep_backend(struct writing *writing, struct template_record *record,
			 struct fault *fault)
{
	struct call *call = writing->walk.call;
	struct fault own = FAULT_INITIAL;
	struct media media;
	json_t *settings;

	if (record->backend.size == 0 || (media_load(call, STORE_TO_SHOW, &media, &own) &&
					  media_backend_named(&media, record->backend) != NULL))
		return true;
	if (own.kind == FAULT_NONE)
		fault_cause(&own, FAULT_DAMAGED, 0, "it does not exist");
	settings = json_text_read_stored(call->arena, record->parts[PART_SETTINGS].text, NULL);
	(void)json_object_del(settings, "backend");
	record->parts[PART_SETTINGS].text = json_as_text(call->arena, settings);
	record->backend = SLICE("");
	return leave_out(writing,
			 arena_text(call->arena, "backend of the %s",
				    record_name(call, &template_kind, &record->id)),
			 &own, fault);
}

/* Sets the first finding as FAULT_DAMAGED. */
static bool check_written_record(struct writing *writing, const struct record_kind *kind,
				 const void *record, const struct id *id, struct fault *fault)
{
	struct call *call = writing->walk.call;
	struct fault found = FAULT_INITIAL;
	struct findings findings;

	findings_open(&findings, call->arena);
	if (!record_check(call, kind, record, false, &findings, fault))
		return false;
	if (findings_result(&findings, &found))
		return true;
	return fault_cause(fault, FAULT_DAMAGED, 0, "%s: %s", record_name(call, kind, id),
			   json_string_value(json_array_get(found.details, 0)));
}

/* ---- lines ---- */

static bool send_line(struct writing *writing, struct json_writer *line, struct fault *fault)
{
	return writing->output->line(writing->output, writer_end(line), fault);
}

/* Writes {"kind": record}. */
static bool send_record(struct writing *writing, const struct record_kind *kind, void *record,
			struct fault *fault)
{
	struct json_writer line = writer_begin(writing->walk.call->arena, false);

	record_print(kind->table, record, kind->line, &line);
	transfer_count_line(&writing->output->counts, kind);
	return send_line(writing, &line, fault);
}

/* ---- the event log ---- */

/* An event log has no gaps, so it begins after the last event that cannot be read. */
static bool skip_lost_entries(struct writing *writing, struct audit_state *state,
			      struct fault *fault)
{
	struct call *call = writing->walk.call;
	const uint64_t first = state->first;

	for (uint64_t seq = first; writing->output->lost != NULL && seq <= state->last; seq++) {
		const struct arena_mark mark = arena_mark(call->arena);
		const struct id id = audit_id_of(seq);
		struct fault own = FAULT_INITIAL;
		struct audit_entry entry;

		if (!audit_read(call->transaction, seq, 1, &entry, &own) ||
		    !check_written_record(writing, &entry_kind, &entry, &id, &own)) {
			state->first = seq + 1;
			if (!leave_out(writing,
				       arena_text(call->arena,
						  "event log of the account %s up to event %llu",
						  call->account_text, (unsigned long long)seq),
				       &own, fault))
				return false;
		}
		arena_release(call->arena, &mark);
	}
	return true;
}

/* Leaves out an event of the queue, or, if id is NULL, the rest of the queue. It is reported once:
 * with its account, or with the first account if its account cannot be read. */
static bool lose_queued(struct writing *writing, const struct id *account, const struct id *id,
			const struct fault *why, bool is_output, struct fault *fault)
{
	struct call *call = writing->walk.call;
	const bool is_here = id_compare(account, &audit_no_account) == 0
				     ? writing->output->counts.accounts == 1
				     : id_compare(account, &call->account) == 0;

	return is_output || !is_here ||
	       leave_out(writing, record_name(call, &queue_kind, id), why, fault);
}

static bool walk_queued(struct writing *writing, const struct store_record *stored, bool is_output,
			struct fault *fault)
{
	struct call *call = writing->walk.call;
	struct fault own = FAULT_INITIAL;
	struct audit_entry entry;

	if (!audit_queued_read(stored, &entry, &own) ||
	    !check_written_record(writing, &queue_kind, &entry, &stored->id, &own))
		return lose_queued(writing, &entry.account, &stored->id, &own, is_output, fault);
	if (id_compare(&entry.account, &call->account) != 0)
		return true;
	if (writing->log.first > writing->log.last)
		writing->log.first_time = entry.time;
	entry.seq = ++writing->log.last;
	return !is_output || send_record(writing, &entry_kind, &entry, fault);
}

/* Numbers the events of the account that wait in the queue, and writes them, or, if is_output is
 * false, only counts them. */
static bool walk_queue(struct writing *writing, bool is_output, struct fault *fault)
{
	struct call *call = writing->walk.call;
	const struct id account = call->account;
	struct store_record records[AUDIT_READ_MOST];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.records = records,
		.most = AUDIT_READ_MOST,
	};
	struct id above;
	bool is_done = true;

	do {
		const struct arena_mark mark = arena_mark(call->arena);
		struct fault own = FAULT_INITIAL;
		bool is_read, is_known;

		page.damaged = audit_no_account;
		store_set_account(call->transaction, &audit_no_account);
		is_read = store_page(call->transaction, &kind_queue, &page, &own);
		store_set_account(call->transaction, &account);
		if (!is_read && own.kind != FAULT_DAMAGED) {
			*fault = own;
			return false;
		}
		is_known = id_compare(&page.damaged, &audit_no_account) != 0;
		for (size_t i = 0; is_done && i < page.count && (is_read || is_known); i++)
			is_done = walk_queued(writing, &records[i], is_output, fault);
		if (is_read && page.count > 0)
			above = records[page.count - 1].id;
		if (!is_read) {
			above = page.damaged;
			page.is_last = !is_known;
			is_done = is_done &&
				  lose_queued(writing, &audit_no_account, is_known ? &above : NULL,
					      &own, is_output, fault);
		}
		page.above = &above;
		arena_release(call->arena, &mark);
	} while (is_done && !page.is_last);
	return is_done;
}

/* Writes the line of the event log, which includes the events in the queue. Afterwards the log and
 * *state end where the numbered events do: these come next, then those of the queue. */
static bool write_log(struct writing *writing, struct audit_state *state, struct fault *fault)
{
	const uint64_t last = state->last;
	bool is_written;

	writing->log = *state;
	writing->has_log = true;
	if (!walk_queue(writing, false, fault))
		return false;
	is_written = writing->log.last == 0 ||
		     send_record(writing, &audit_kind, &writing->log, fault);
	writing->log.last = last;
	return is_written;
}

/* ---- the lines of a dump ---- */

static bool write_record_line(struct walk *walk, const struct record_kind *kind, void *record,
			      bool *descends, struct fault *fault)
{
	struct writing *writing = (struct writing *)walk;
	const struct store_record *stored = (void *)((char *)record + kind->table->stored);
	struct fault own = FAULT_INITIAL;
	bool is_left = false;

	if (kind->print != NULL)
		kind->print(walk->call, record);
	if (kind == &audit_kind && !skip_lost_entries(writing, record, fault))
		return false;
	if (kind == &template_kind && writing->output->lost != NULL &&
	    !keep_backend(writing, record, fault))
		return false;
	*descends = false;
	if (refers_to_lost(writing, kind, record)) {
		fault_cause(&own, FAULT_DAMAGED, 0, "the record it belongs to was lost");
		return lose_record(walk, kind, &stored->id, &own, fault);
	}
	if (!is_left_behind(walk->call, kind, record, &is_left, &own) ||
	    (!is_left && !check_written_record(writing, kind, record, &stored->id, &own)))
		return own.kind == FAULT_DAMAGED ? lose_record(walk, kind, &stored->id, &own, fault)
						 : (*fault = own, false);
	if (is_left)
		transfer_count_line(&writing->left, kind);
	if (is_left)
		return true;
	*descends = true;
	return kind == &audit_kind ? write_log(writing, record, fault)
				   : send_record(writing, kind, record, fault);
}

/* ---- accounts ---- */

static bool account_is_wanted(const struct writing *writing, const struct id *account)
{
	return writing->only != NULL ? id_compare(&writing->only->id, account) == 0
				     : roster_by_id(writing->roster, account) != NULL;
}

static bool write_account(struct writing *writing, const struct account *account,
			  struct fault *fault)
{
	struct snapshot *snapshot = writing->snapshot;
	struct json_writer line = writer_begin(snapshot->call.arena, false);

	snapshot_set_account(snapshot, &account->id);
	writing->has_log = false;
	if (writing->output->lost != NULL)
		writing->lost = arena_json(snapshot->call.arena, json_object());
	writer_value(&line, "account", arena_json(snapshot->call.arena, account_json(account)));
	writing->output->counts.accounts++;
	if (!send_line(writing, &line, fault) || !walk_account(&writing->walk, fault) ||
	    (!writing->has_log &&
	     !write_log(writing, &(struct audit_state){ .first = 1 }, fault)) ||
	    !walk_queue(writing, true, fault))
		return false;
	snapshot_release(snapshot);
	return true;
}

/* Writes the reserved codes, even of an account that is removed, unless only one account is wanted.
 * With `lost`, what is found has no value (store_walk_keys). */
static bool write_all_words(struct writing *writing, struct fault *fault)
{
	struct call *call = &writing->snapshot->call;
	struct transaction *transaction = call->transaction;
	struct fault own = FAULT_INITIAL;
	struct store_walk walk = writing->output->lost == NULL
					 ? store_walk_all(transaction, &kind_words, &own)
					 : store_walk_keys(transaction, &kind_words, &own);
	struct store_record found;
	bool is_done = true;

	while (is_done && store_next(&walk, &found)) {
		struct store_record stored = found;
		struct fault why = FAULT_INITIAL;
		struct code_words words;
		bool is_read = stored.value.data != NULL ||
			       store_get_named(transaction, &kind_words, found.name, STORE_TO_SHOW,
					       &stored, &why);

		snapshot_set_account(writing->snapshot, &stored.account);
		if (is_read &&
		    (writing->only == NULL || account_is_wanted(writing, &stored.account))) {
			is_read = record_read(words_kind.table, call->arena, &stored, &words, &why);
			words_kind.print(call, &words);
			is_read = is_read && check_written_record(writing, &words_kind, &words,
								  &stored.id, &why);
			is_done = !is_read || send_record(writing, &words_kind, &words, fault);
		}
		if (!is_read)
			is_done = leave_out(writing, kind_words.name, &why, fault);
		snapshot_release(writing->snapshot);
	}
	return is_done &&
	       (own.kind == FAULT_NONE || leave_out(writing, "custom codes", &own, fault));
}

/* ---- keys ---- */

/* Each written line had a record of its own, so equal counts mean that lists and records match. */
static bool check_list_count(struct writing *writing, const struct record_kind *kind,
			     struct fault *fault)
{
	const uint64_t written = transfer_count(&writing->output->counts, kind) +
				 transfer_count(&writing->left, kind);
	struct store_walk walk = store_walk_keys(writing->snapshot->call.transaction,
						 kind->table->kind, fault);
	struct store_record record;
	uint64_t count = 0;

	while (store_next(&walk, &record))
		count += account_is_wanted(writing, &record.account);
	return fault->kind == FAULT_NONE &&
	       (count == written ||
		fault_cause(
			fault, FAULT_DAMAGED, 0,
			"the lists contain %llu %ss, but %llu exist; run anteroom check for details",
			(unsigned long long)written, kind->table->kind->name,
			(unsigned long long)count));
}

bool transfer_write(struct snapshot *snapshot, const struct roster *roster,
		    const struct account *only, struct transfer_output *output, struct fault *fault)
{
	struct writing writing = {
		.walk = { .call = &snapshot->call,
			  .visit = write_record_line,
			  .is_dump = true,
			  .lost = output->lost == NULL ? NULL : lose_record },
		.snapshot = snapshot,
		.output = output,
		.roster = roster,
		.only = only,
	};
	const struct transfer_counts *counts = &output->counts;
	struct arena *arena = snapshot->call.arena;
	struct json_writer line = writer_begin(arena, false);
	bool is_done;

	writer_open(&line, "dump", '{');
	writer_integer(&line, "format", TRANSFER_FORMAT);
	writer_integer(&line, "number", record_form.number());
	writer_text(&line, "form", record_form.text(arena));
	writer_text(&line, "program", SLICE(PACKAGE_VERSION));
	writer_time_milliseconds(&line, "made_at", snapshot->call.now);
	writer_close(&line, '}');
	is_done = send_line(&writing, &line, fault);

	if (output->lost != NULL)
		writing.walk.keys = salvage_keys_open(snapshot, roster, only,
						      output->keys_most > 0 ? output->keys_most
									    : SALVAGE_KEYS_MOST,
						      lose_unfound, &writing);
	for (size_t i = 0; is_done && i < roster->count; i++) {
		if (only == NULL || only == &roster->accounts[i])
			is_done = write_account(&writing, &roster->accounts[i], fault);
	}
	salvage_keys_close(writing.walk.keys);

	for (size_t i = 0; is_done && output->lost == NULL && i < RECORD_KINDS; i++) {
		if (record_kinds[i]->order == RECORD_PAGES && record_kinds[i]->line != NULL)
			is_done = check_list_count(&writing, record_kinds[i], fault);
	}
	if (!is_done || !write_all_words(&writing, fault))
		return false;

	line = writer_begin(arena, false);
	writer_open(&line, "end", '{');
	writer_integer(&line, "accounts", (int64_t)counts->accounts);
	writer_open(&line, "lines", '{');
	for (size_t i = 0; i < RECORD_KINDS; i++) {
		if (counts->lines[i] > 0)
			writer_integer(&line, record_kinds[i]->line, (int64_t)counts->lines[i]);
	}
	writer_close(&line, '}');
	writer_close(&line, '}');
	return send_line(&writing, &line, fault);
}
