/* All lines of a dump, of a sound store or as far as a damaged one can be read: see
 * transfer/transfer.h. Templates and rooms are found by lists, and by the keys of their records: a
 * dump of what the lists have is whole when there are as many keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/memory.h"
#include "resources/default_template.h"
#include "resources/kinds.h"
#include "resources/template_record.h"
#include "transfer/transfer_lines.h"

/* ---- ids, by lists and by keys ---- */

/* Lines of one kind. */
struct line_kind {
	const struct store_kind *kind;
	bool (*write)(struct survey *survey, const struct id *id, const struct kept_codes *kept,
		      struct transfer_output *output, struct fault *fault);
};

static bool write_template(struct survey *survey, const struct id *id,
			   const struct kept_codes *kept, struct transfer_output *output,
			   struct fault *fault)
{
	(void)kept;
	return transfer_line_template(survey, id, output, fault);
}

static const struct line_kind of_templates = { &kind_template, write_template };
static const struct line_kind of_rooms = { &kind_room, transfer_line_room };

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

/* The next page; releases all that was read for it. */
static bool read_page(struct survey *survey, const struct line_kind *kind,
		      const struct page *before, struct page *page, struct fault *fault)
{
	const struct id last = before->count > 0 ? before->ids[before->count - 1]
						 : (struct id){ { 0 } };
	bool is_read = page_of_ids(&survey->call, kind->kind, before->count > 0 ? &last : NULL,
				   page, fault);

	survey_forget(survey);
	return is_read;
}

/* The accounts to be dumped: those of the roster, or one. */
struct looking {
	const struct roster *roster;
	const struct account *only;
	struct keys *keys;
	uint64_t count;
};

static bool is_wanted(const struct looking *looking, const struct id *account)
{
	return looking->only != NULL ? id_compare(&looking->only->id, account) == 0
				     : roster_by_id(looking->roster, account) != NULL;
}

static bool visit_gather(void *context, const struct store_record *record, struct fault *fault)
{
	struct looking *looking = context;

	(void)fault;
	if (is_wanted(looking, &record->account))
		keys_add(looking->keys, &record->account, &record->id);
	return true;
}

static bool visit_count(void *context, const struct store_record *record, struct fault *fault)
{
	struct looking *looking = context;

	(void)fault;
	looking->count += is_wanted(looking, &record->account);
	return true;
}

/* Each line had a record of its own; so pages and records agree when they are as many. */
static bool check_count(struct survey *survey, const struct looking *all,
			const struct line_kind *kind, uint64_t written, struct fault *fault)
{
	struct looking looking = *all;

	return store_walk_keys(survey->call.transaction, kind->kind, visit_count, &looking,
			       fault) &&
	       (looking.count == written ||
		fault_cause(
			fault, FAULT_DAMAGED, 0,
			"the lists have %llu %ss, and there are %llu; anteroom check says which",
			(unsigned long long)written, kind->kind->name,
			(unsigned long long)looking.count));
}

/* ---- a sound store ---- */

static bool write_pages(struct survey *survey, const struct line_kind *kind,
			struct transfer_output *output, struct fault *fault)
{
	struct page page = { .count = 0 };

	do {
		if (!read_page(survey, kind, &page, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct id id = page.ids[i];

			if (!kind->write(survey, &id, NULL, output, fault))
				return false;
		}
	} while (page.count > 0);
	return true;
}

static bool write_account(struct survey *survey, const struct account *account,
			  struct transfer_output *output, struct fault *fault)
{
	struct id marked;
	uint64_t last_event;
	bool is_set;

	survey_of_account(survey, &account->id);
	return default_template_load(&survey->call, &marked, &is_set, fault) &&
	       transfer_last_event(survey, &last_event, fault) &&
	       transfer_line_account(survey, account, is_set ? &marked : NULL, last_event, output,
				     fault) &&
	       transfer_line_media(survey, output, fault) &&
	       transfer_line_keys(survey, output, fault) &&
	       transfer_line_webhooks(survey, output, fault) &&
	       write_pages(survey, &of_templates, output, fault) &&
	       write_pages(survey, &of_rooms, output, fault) &&
	       transfer_line_events(survey, output, fault);
}

static bool write_accounts(struct survey *survey, const struct looking *all,
			   struct transfer_output *output, struct fault *fault)
{
	for (size_t i = 0; i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if ((all->only == NULL || all->only == account) &&
		    !write_account(survey, account, output, fault))
			return false;
	}
	return check_count(survey, all, &of_templates, output->counts.templates, fault) &&
	       check_count(survey, all, &of_rooms, output->counts.rooms, fault);
}

/* ---- a damaged store: what can be read ---- */

struct salvage {
	struct keys templates, rooms;
	struct kept_codes codes;
};

/* Ids that only an index has: their records are lost, which is told. */
static bool gather_pages(struct survey *survey, const struct line_kind *kind,
			 struct transfer_output *output, struct keys *keys, struct fault *fault)
{
	struct call *call = &survey->call;
	struct page page = { .count = 0 };
	struct fault own = FAULT_INITIAL;

	do {
		if (!read_page(survey, kind, &page, &page, &own))
			return transfer_leave_out(output,
						  arena_text(call->arena,
							     "list of %ss of the account %s",
							     kind->kind->name, call->account_text),
						  &own, fault);
		for (size_t i = 0; i < page.count; i++)
			keys_add(keys, &call->account, &page.ids[i]);
	} while (page.count > 0);
	return true;
}

static bool gather(struct survey *survey, const struct looking *all, const struct line_kind *kind,
		   struct transfer_output *output, struct keys *keys, struct fault *fault)
{
	struct looking looking = *all;
	struct fault own = FAULT_INITIAL;

	looking.keys = keys;
	if (!store_walk_keys(survey->call.transaction, kind->kind, visit_gather, &looking, &own) &&
	    !transfer_leave_out(
		    output,
		    arena_text(survey->call.arena, "%ss that are in no list", kind->kind->name),
		    &own, fault))
		return false;
	for (size_t i = 0; i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only != NULL && all->only != account)
			continue;
		survey_of_account(survey, &account->id);
		if (!gather_pages(survey, kind, output, keys, fault))
			return false;
		survey_forget(survey);
	}
	keys_sort(keys);
	return true;
}

/* Reads one code; what cannot be read is told, and lost. */
struct code_gathering {
	struct survey *survey;
	struct transfer_output *output;
	struct kept_codes *codes;
};

static bool visit_code(void *context, const struct store_record *record, struct fault *fault)
{
	struct code_gathering *gathering = context;
	struct kept_codes *codes = gathering->codes;
	struct call *call = &gathering->survey->call;
	struct fault own = FAULT_INITIAL;
	struct kept_code kept;
	struct code code;
	bool is_there;

	survey_forget(gathering->survey);
	if (!code_find(call, record->name, STORE_TO_SHOW, &code, &kept.account, &is_there, &own))
		return transfer_leave_out(gathering->output, "a code", &own, fault);
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
	int order = id_compare(&first->account, &second->account);

	if (order == 0)
		order = id_compare(&first->room, &second->room);
	return order != 0 ? order : id_compare(&first->place, &second->place);
}

static bool gather_codes(struct survey *survey, struct transfer_output *output,
			 struct kept_codes *codes, struct fault *fault)
{
	struct code_gathering gathering = { survey, output, codes };
	struct fault own = FAULT_INITIAL;

	if (!store_walk_keys(survey->call.transaction, &kind_code, visit_code, &gathering, &own) &&
	    !transfer_leave_out(output, "codes", &own, fault))
		return false;
	if (codes->count > 0)
		qsort(codes->items, codes->count, sizeof *codes->items, compare_codes);
	return true;
}

/* *is_set false: the account has no default template, or it is lost, which is reported. */
static bool salvage_default(struct survey *survey, struct transfer_output *output, struct id *id,
			    bool *is_set, struct fault *fault)
{
	struct call *call = &survey->call;
	struct template_record marked;
	struct fault own = FAULT_INITIAL;

	if (default_template_load(call, id, is_set, &own) &&
	    (!*is_set || transfer_find_template(call, id, &marked, &own)))
		return true;
	*is_set = false;
	return transfer_leave_out(
		output,
		arena_text(call->arena, "default template of the account %s", call->account_text),
		&own, fault);
}

/* 0: the log is lost, which is reported, or there is none. */
static bool salvage_last_event(struct survey *survey, struct transfer_output *output,
			       uint64_t *last, struct fault *fault)
{
	struct fault own = FAULT_INITIAL;

	if (transfer_last_event(survey, last, &own))
		return true;
	*last = 0;
	return transfer_leave_out(
		output,
		arena_text(survey->call.arena, "log of the account %s", survey->call.account_text),
		&own, fault);
}

static bool salvage_all(struct survey *survey, const struct line_kind *kind,
			const struct keys *keys, const struct kept_codes *codes,
			struct transfer_output *output, struct fault *fault)
{
	const struct id account = survey->call.account;

	for (size_t i = id_place(&account, keys->items, keys->count, sizeof *keys->items);
	     i < keys->count && id_compare(&keys->items[i].account, &account) == 0; i++) {
		if (!kind->write(survey, &keys->items[i].id, codes, output, fault))
			return false;
		survey_forget(survey);
	}
	return true;
}

static bool salvage_account(struct survey *survey, const struct salvage *salvage,
			    const struct account *account, struct transfer_output *output,
			    struct fault *fault)
{
	struct id marked;
	uint64_t last_event;
	bool is_set;

	survey_of_account(survey, &account->id);
	return salvage_default(survey, output, &marked, &is_set, fault) &&
	       salvage_last_event(survey, output, &last_event, fault) &&
	       transfer_line_account(survey, account, is_set ? &marked : NULL, last_event, output,
				     fault) &&
	       transfer_line_media(survey, output, fault) &&
	       transfer_line_keys(survey, output, fault) &&
	       transfer_line_webhooks(survey, output, fault) &&
	       salvage_all(survey, &of_templates, &salvage->templates, NULL, output, fault) &&
	       salvage_all(survey, &of_rooms, &salvage->rooms, &salvage->codes, output, fault) &&
	       (last_event == 0 || transfer_line_events(survey, output, fault));
}

static bool salvage_accounts(struct survey *survey, const struct looking *all,
			     struct transfer_output *output, struct fault *fault)
{
	struct salvage salvage = { .templates = { .count = 0 } };
	bool is_saved = gather(survey, all, &of_templates, output, &salvage.templates, fault) &&
			gather(survey, all, &of_rooms, output, &salvage.rooms, fault) &&
			gather_codes(survey, output, &salvage.codes, fault);

	for (size_t i = 0; is_saved && i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only == NULL || all->only == account)
			is_saved = salvage_account(survey, &salvage, account, output, fault);
	}
	free(salvage.templates.items);
	free(salvage.rooms.items);
	free(salvage.codes.items);
	return is_saved;
}

/* ---- words ---- */

struct words_writing {
	struct survey *survey;
	const struct looking *all;
	struct transfer_output *output;
};

/* Words of accounts that are gone stay in the store, and out of the dump. */
static bool visit_words(void *context, const struct store_record *record, struct fault *fault)
{
	const struct words_writing *writing = context;
	const struct account *account = roster_by_id(writing->all->roster, &record->account);

	return account == NULL || (writing->all->only != NULL && writing->all->only != account) ||
	       transfer_line_words(writing->survey, &record->account, record->name, writing->output,
				   fault);
}

static bool write_words(struct survey *survey, const struct looking *all,
			struct transfer_output *output, struct fault *fault)
{
	struct words_writing writing = { survey, all, output };
	struct fault own = FAULT_INITIAL;

	return store_walk(survey->call.transaction, &kind_words, visit_words, &writing, &own) ||
	       transfer_leave_out(output, "words of codes", &own, fault);
}

bool transfer_write(struct survey *survey, const struct roster *roster, const struct account *only,
		    struct transfer_output *output, struct fault *fault)
{
	const struct looking all = { .roster = roster, .only = only };

	return transfer_line_begin(survey, output, fault) &&
	       (output->lost == NULL ? write_accounts(survey, &all, output, fault)
				     : salvage_accounts(survey, &all, output, fault)) &&
	       write_words(survey, &all, output, fault) && transfer_line_end(survey, output, fault);
}
