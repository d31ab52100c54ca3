/* All lines of a dump, of a sound store or as far as a damaged one can be read: see
 * transfer/transfer.h. Templates and rooms are found by lists, and by the keys of their records: a
 * dump of what the lists have is whole when there are as many keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "resources/templates/default_template.h"
#include "resources/kinds.h"
#include "resources/templates/template_record.h"
#include "transfer/transfer_lines.h"

/* ---- ids, by lists and by keys ---- */

struct owned {
	struct id account, id;
};

struct keys {
	struct owned *items; /* from malloc */
	size_t count, capacity;
};

static void keys_add(struct keys *keys, const struct id *account, const struct id *id)
{
	if (keys->count == keys->capacity) {
		keys->capacity = keys->capacity * 2 + 64;
		keys->items =
			memory_check(realloc(keys->items, keys->capacity * sizeof *keys->items));
	}
	keys->items[keys->count++] = (struct owned){ *account, *id };
}

/* By account; of an account the youngest first. */
static int compare_owned(const void *a, const void *b)
{
	const struct owned *first = a, *second = b;
	const int accounts = id_compare(&first->account, &second->account);

	return accounts != 0 ? accounts : id_compare(&second->id, &first->id);
}

/* Each once. */
static void keys_sort(struct keys *keys)
{
	size_t count = 0;

	if (keys->count > 0)
		qsort(keys->items, keys->count, sizeof *keys->items, compare_owned);
	for (size_t i = 0; i < keys->count; i++) {
		if (count == 0 || compare_owned(&keys->items[count - 1], &keys->items[i]) != 0)
			keys->items[count++] = keys->items[i];
	}
	keys->count = count;
}

/* A dump on its way. */
struct writing {
	struct survey *survey;
	struct transfer_output *output;
	/* The accounts to be dumped: those of the roster, or one of them. */
	const struct roster *roster;
	const struct account *only;
	/* Of a damaged store: what its keys and lists have. */
	struct keys templates, rooms;
	struct kept_codes codes;
	/* Of the walk at hand. */
	struct keys *keys;
	uint64_t count;
};

/* The next page; releases all that was read for it. */
static bool read_page(struct survey *survey, const struct store_kind *kind, struct page *page,
		      struct fault *fault)
{
	bool is_read = page_of_ids(&survey->call, kind, page, fault);

	survey_forget(survey);
	return is_read;
}

static bool is_wanted(const struct writing *writing, const struct id *account)
{
	return writing->only != NULL ? id_compare(&writing->only->id, account) == 0
				     : roster_by_id(writing->roster, account) != NULL;
}

/* The line of a template or a room. */
static bool write_line(struct writing *writing, const struct store_kind *kind, const struct id *id,
		       const struct kept_codes *kept, struct fault *fault)
{
	if (kind == &kind_template)
		return transfer_line_template(writing->survey, id, writing->output, fault);
	return transfer_line_room(writing->survey, id, kept, writing->output, fault);
}

/* ---- a sound store ---- */

static bool visit_count(void *context, const struct store_record *record, struct fault *fault)
{
	struct writing *writing = context;

	(void)fault;
	writing->count += is_wanted(writing, &record->account);
	return true;
}

/* Each line had a record of its own; so pages and records agree when they are as many. */
static bool check_count(struct writing *writing, const struct store_kind *kind, uint64_t written,
			struct fault *fault)
{
	writing->count = 0;
	return store_walk_keys(writing->survey->call.transaction, kind, visit_count, writing,
			       fault) &&
	       (writing->count == written ||
		fault_cause(
			fault, FAULT_DAMAGED, 0,
			"the lists have %llu %ss, and there are %llu; anteroom check says which",
			(unsigned long long)written, kind->name,
			(unsigned long long)writing->count));
}

static bool write_pages(struct writing *writing, const struct store_kind *kind, struct fault *fault)
{
	struct page page = { .count = 0 };

	do {
		if (!read_page(writing->survey, kind, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (!write_line(writing, kind, &page.ids[i], NULL, fault))
				return false;
		}
	} while (page.count > 0);
	return true;
}

/* ---- a damaged store: what can be read ---- */

static bool visit_gather(void *context, const struct store_record *record, struct fault *fault)
{
	struct writing *writing = context;

	(void)fault;
	if (is_wanted(writing, &record->account))
		keys_add(writing->keys, &record->account, &record->id);
	return true;
}

/* Ids that only an index has: their records are lost, which is told. */
static bool gather_pages(struct writing *writing, const struct store_kind *kind,
			 struct fault *fault)
{
	struct call *call = &writing->survey->call;
	struct page page = { .count = 0 };
	struct fault own = FAULT_INITIAL;

	do {
		if (!read_page(writing->survey, kind, &page, &own))
			return transfer_leave_out_part(
				call, writing->output,
				arena_text(call->arena, "list of %ss", kind->name), &own, fault);
		for (size_t i = 0; i < page.count; i++)
			keys_add(writing->keys, &call->account, &page.ids[i]);
	} while (page.count > 0);
	return true;
}

static bool gather(struct writing *writing, const struct store_kind *kind, struct keys *keys,
		   struct fault *fault)
{
	struct call *call = &writing->survey->call;
	struct fault own = FAULT_INITIAL;

	writing->keys = keys;
	if (!store_walk_keys(call->transaction, kind, visit_gather, writing, &own) &&
	    !transfer_leave_out(writing->output,
				arena_text(call->arena, "%ss that are in no list", kind->name),
				&own, fault))
		return false;
	for (size_t i = 0; i < writing->roster->count; i++) {
		const struct account *account = &writing->roster->accounts[i];

		if (writing->only != NULL && writing->only != account)
			continue;
		survey_of_account(writing->survey, &account->id);
		if (!gather_pages(writing, kind, fault))
			return false;
		survey_forget(writing->survey);
	}
	keys_sort(keys);
	return true;
}

/* Reads one code; what cannot be read is told, and lost. */
static bool visit_code(void *context, const struct store_record *record, struct fault *fault)
{
	struct writing *writing = context;
	struct kept_codes *codes = &writing->codes;
	struct call *call = &writing->survey->call;
	struct fault own = FAULT_INITIAL;
	struct kept_code kept;
	struct code code;
	bool is_there;

	survey_forget(writing->survey);
	if (!code_find(call, record->name, STORE_TO_SHOW, &code, &kept.account, &is_there, &own))
		return transfer_leave_out(writing->output, "a code", &own, fault);
	if (!is_there)
		return true;
	kept.room = code.room;
	kept.place = code.place;
	memcpy(kept.letters, code.letters.data, code.letters.size);
	kept.letters[code.letters.size] = '\0';
	if (codes->count == codes->capacity) {
		codes->capacity = codes->capacity * 2 + 64;
		codes->items =
			memory_check(realloc(codes->items, codes->capacity * sizeof *codes->items));
	}
	codes->items[codes->count++] = kept;
	return true;
}

static int compare_codes(const void *a, const void *b)
{
	const struct kept_code *first = a, *second = b;
	int order = id_compare(&first->room, &second->room);

	if (order == 0)
		order = id_compare(&first->account, &second->account);
	return order != 0 ? order : id_compare(&first->place, &second->place);
}

static bool gather_codes(struct writing *writing, struct fault *fault)
{
	struct kept_codes *codes = &writing->codes;
	struct fault own = FAULT_INITIAL;

	if (!store_walk_keys(writing->survey->call.transaction, &kind_code, visit_code, writing,
			     &own) &&
	    !transfer_leave_out(writing->output, "codes", &own, fault))
		return false;
	if (codes->count > 0)
		qsort(codes->items, codes->count, sizeof *codes->items, compare_codes);
	return true;
}

/* The lines of the survey's account. */
static bool write_keys(struct writing *writing, const struct store_kind *kind,
		       const struct keys *keys, struct fault *fault)
{
	const struct id account = writing->survey->call.account;

	for (size_t i = id_place(&account, keys->items, keys->count, sizeof *keys->items);
	     i < keys->count && id_compare(&keys->items[i].account, &account) == 0; i++) {
		if (!write_line(writing, kind, &keys->items[i].id, &writing->codes, fault))
			return false;
		survey_forget(writing->survey);
	}
	return true;
}

/* ---- accounts ---- */

/* *is_set false: the account has no default template, or it is lost, which is reported. */
static bool find_default(struct writing *writing, struct id *id, bool *is_set, struct fault *fault)
{
	struct call *call = &writing->survey->call;
	struct template_record marked;
	struct fault own = FAULT_INITIAL;

	if (default_template_load(call, id, is_set, &own) &&
	    (!*is_set || writing->output->lost == NULL ||
	     transfer_find_template(call, id, &marked, &own)))
		return true;
	*is_set = false;
	return transfer_leave_out_part(call, writing->output, "default template", &own, fault);
}

/* 0: the log is lost, which is reported, or there is none. */
static bool find_last_event(struct writing *writing, uint64_t *last, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	if (transfer_last_event(writing->survey, last, &own))
		return true;
	*last = 0;
	return transfer_leave_out_part(&writing->survey->call, writing->output, "log", &own, fault);
}

static bool write_things(struct writing *writing, struct fault *fault)
{
	if (writing->output->lost == NULL)
		return write_pages(writing, &kind_template, fault) &&
		       write_pages(writing, &kind_room, fault);
	return write_keys(writing, &kind_template, &writing->templates, fault) &&
	       write_keys(writing, &kind_room, &writing->rooms, fault);
}

static bool write_account(struct writing *writing, const struct account *account,
			  struct fault *fault)
{
	struct survey *survey = writing->survey;
	struct transfer_output *output = writing->output;
	struct id marked;
	uint64_t last_event;
	bool is_set;

	survey_of_account(survey, &account->id);
	return find_default(writing, &marked, &is_set, fault) &&
	       find_last_event(writing, &last_event, fault) &&
	       transfer_line_account(survey, account, is_set ? &marked : NULL, last_event, output,
				     fault) &&
	       transfer_line_media(survey, output, fault) &&
	       transfer_line_keys(survey, output, fault) &&
	       transfer_line_webhooks(survey, output, fault) && write_things(writing, fault) &&
	       (last_event == 0 || transfer_line_events(survey, output, fault));
}

static bool write_accounts(struct writing *writing, struct fault *fault)
{
	for (size_t i = 0; i < writing->roster->count; i++) {
		const struct account *account = &writing->roster->accounts[i];

		if ((writing->only == NULL || writing->only == account) &&
		    !write_account(writing, account, fault))
			return false;
	}
	return true;
}

static bool write_sound(struct writing *writing, struct fault *fault)
{
	const struct transfer_counts *counts = &writing->output->counts;

	return write_accounts(writing, fault) &&
	       check_count(writing, &kind_template, counts->templates, fault) &&
	       check_count(writing, &kind_room, counts->rooms, fault);
}

static bool write_damaged(struct writing *writing, struct fault *fault)
{
	bool is_written = gather(writing, &kind_template, &writing->templates, fault) &&
			  gather(writing, &kind_room, &writing->rooms, fault) &&
			  gather_codes(writing, fault) && write_accounts(writing, fault);

	free(writing->templates.items);
	free(writing->rooms.items);
	free(writing->codes.items);
	return is_written;
}

/* ---- words ---- */

/* Those of accounts that are gone too, unless one account alone is wanted. */
static bool visit_words(void *context, const struct store_record *record, struct fault *fault)
{
	const struct writing *writing = context;

	return (writing->only != NULL && !is_wanted(writing, &record->account)) ||
	       transfer_line_words(writing->survey, &record->account, record->name, writing->output,
				   fault);
}

static bool write_words(struct writing *writing, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	return store_walk(writing->survey->call.transaction, &kind_words, visit_words, writing,
			  &own) ||
	       transfer_leave_out(writing->output, "words of codes", &own, fault);
}

bool transfer_write(struct survey *survey, const struct roster *roster, const struct account *only,
		    struct transfer_output *output, struct fault *fault)
{
	struct writing writing = {
		.survey = survey,
		.output = output,
		.roster = roster,
		.only = only,
	};

	return transfer_line_begin(survey, output, fault) &&
	       (output->lost == NULL ? write_sound(&writing, fault)
				     : write_damaged(&writing, fault)) &&
	       write_words(&writing, fault) && transfer_line_end(survey, output, fault);
}
