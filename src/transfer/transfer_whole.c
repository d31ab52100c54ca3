/* All lines of a dump, of a sound store or as far as a damaged one can be read: see
 * transfer/transfer.h. Templates and rooms are found by lists, and by the keys of their records: a
 * dump of what the lists have is whole when there are as many keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "transfer/record_subject.h"
#include "resources/template_record.h"
#include "transfer/transfer_lines.h"
#include "store/gdbm/inspect.h"

/* ---- ids, by lists and by keys ---- */

/* Of what an account has in a table. */
struct kind {
	const char *name;
	enum store_table table;
	bool (*next_page)(struct call *call, const struct id *below, struct page *page,
			  struct fault *fault);
	bool (*write)(struct survey *survey, const struct id *id, struct transfer_output *output,
		      struct fault *fault);
};

static const struct kind of_templates = { "template", STORE_TEMPLATE, page_of_templates,
					  transfer_line_template };
static const struct kind of_rooms = { "room", STORE_ROOM, page_of_rooms, transfer_line_room };

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
		keys->items = realloc(keys->items, keys->capacity * sizeof *keys->items);
		if (keys->items == NULL)
			abort();
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

/* The next page, and lets go of all that was read for it. */
static bool read_page(struct survey *survey, const struct kind *kind, const struct page *before,
		      struct page *page, struct fault *fault)
{
	const struct id last = before->count > 0 ? before->ids[before->count - 1]
						 : (struct id){ { 0 } };
	bool is_read = kind->next_page(&survey->call, before->count > 0 ? &last : NULL, page,
				       fault);

	survey_forget(survey);
	return is_read;
}

/* Also an id that no key says: then the record is lost. */
static bool add_listed(struct survey *survey, const struct kind *kind,
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
							     kind->name, call->account_text),
						  &own, fault);
		for (size_t i = 0; i < page.count; i++)
			keys_add(keys, &call->account, &page.ids[i]);
	} while (page.count > 0);
	return true;
}

/* Of the accounts to be dumped: those of the roster, or one. */
struct looking {
	struct survey *survey;
	const struct roster *roster;
	const struct account *only;
	const struct kind *kind;
	struct keys *keys;
	uint64_t count;
};

static bool is_wanted(const struct looking *looking, struct slice key, struct owned *owned)
{
	if (key.size != 2 * (size_t)ID_SIZE)
		return false;
	memcpy(owned->account.bytes, key.data, ID_SIZE);
	memcpy(owned->id.bytes, key.data + ID_SIZE, ID_SIZE);
	return looking->only != NULL ? id_compare(&looking->only->id, &owned->account) == 0
				     : roster_by_id(looking->roster, &owned->account) != NULL;
}

static bool visit_gather(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct owned owned;

	(void)value;
	(void)fault;
	if (is_wanted(looking, key, &owned))
		keys_add(looking->keys, &owned.account, &owned.id);
	return true;
}

static bool visit_count(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct owned owned;

	(void)value;
	(void)fault;
	looking->count += is_wanted(looking, key, &owned);
	return true;
}

static bool is_in_list(struct call *call, const struct kind *kind, const struct id *id,
		       bool *is_there, struct fault *fault)
{
	if (kind->table == STORE_TEMPLATE)
		return subject_listed(call, list_of_templates(call), id, is_there, fault);
	return subject_listed(call, list_of_rooms(call, true), id, is_there, fault) &&
	       (*is_there || subject_listed(call, list_of_rooms(call, false), id, is_there, fault));
}

/* Ends the walk at the first record that is in no list. */
static bool visit_find(void *context, struct slice key, struct slice value, struct fault *fault)
{
	struct looking *looking = context;
	struct call *call = &looking->survey->call;
	struct owned owned;
	bool is_there;

	(void)value;
	if (!is_wanted(looking, key, &owned))
		return true;
	survey_forget(looking->survey);
	survey_of_account(looking->survey, &owned.account);
	if (!is_in_list(call, looking->kind, &owned.id, &is_there, fault))
		return false;
	return is_there || fault_cause(fault, FAULT_DAMAGED, 0,
				       "the %s is not in the list of its account's %ss",
				       transfer_name_of(call, looking->kind->name, &owned.id),
				       looking->kind->name);
}

/* Each line had a record of its own; so lists and records agree when they are as many. */
static bool check_count(struct survey *survey, const struct looking *all, const struct kind *kind,
			uint64_t written, struct fault *fault)
{
	struct transaction *transaction = survey->call.transaction;
	struct looking looking = *all;

	looking.kind = kind;
	if (!store_gdbm_walk_keys(transaction, kind->table, visit_count, &looking, fault))
		return false;
	if (looking.count == written)
		return true;
	return store_gdbm_walk_keys(transaction, kind->table, visit_find, &looking, fault) &&
	       fault_cause(fault, FAULT_DAMAGED, 0, "the lists have %llu %ss, and there are %llu",
			   (unsigned long long)written, kind->name,
			   (unsigned long long)looking.count);
}

/* ---- the whole ---- */

/* last_number: the account's counter. */
static bool write_listed(struct survey *survey, const struct kind *kind, uint64_t last_number,
			 struct transfer_output *output, struct fault *fault)
{
	struct page page = { .count = 0 };
	struct id last;
	bool has_last = false;

	do {
		if (!read_page(survey, kind, &page, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			if (has_last && id_number(&page.ids[i]) >= id_number(&last))
				return fault_cause(fault, FAULT_DAMAGED, 0,
						   "the list of %ss of the account %s is not in "
						   "order",
						   kind->name, survey->call.account_text);
			if (id_number(&page.ids[i]) > last_number)
				return fault_cause(
					fault, FAULT_DAMAGED, 0,
					"the %s is above the account's counter",
					transfer_name_of(&survey->call, kind->name, &page.ids[i]));
			last = page.ids[i];
			has_last = true;
			if (!kind->write(survey, &last, output, fault))
				return false;
		}
	} while (page.count > 0);
	return true;
}

static bool write_account(struct survey *survey, const struct account *account,
			  struct transfer_output *output, struct fault *fault)
{
	struct account_record record;

	survey_of_account(survey, &account->id);
	if (!account_load(&survey->call, &record, fault))
		return false;
	return transfer_line_account(survey, account, &record, output, fault) &&
	       write_listed(survey, &of_templates, record.template_number, output, fault) &&
	       write_listed(survey, &of_rooms, record.room_number, output, fault);
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

/* ---- the whole, as far as it can be read ---- */

struct salvage {
	struct keys templates, rooms;
};

static bool gather(struct survey *survey, const struct looking *all, const struct kind *kind,
		   struct transfer_output *output, struct keys *keys, struct fault *fault)
{
	struct looking looking = *all;
	struct fault own = FAULT_INITIAL;

	looking.keys = keys;
	if (!store_gdbm_walk_keys(survey->call.transaction, kind->table, visit_gather, &looking,
				  &own) &&
	    !transfer_leave_out(
		    output, arena_text(survey->call.arena, "%ss that are in no list", kind->name),
		    &own, fault))
		return false;
	for (size_t i = 0; i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only != NULL && all->only != account)
			continue;
		survey_of_account(survey, &account->id);
		if (!add_listed(survey, kind, output, keys, fault))
			return false;
		survey_forget(survey);
	}
	keys_sort(keys);
	return true;
}

/* The first key of the account. */
static size_t keys_find(const struct keys *keys, const struct id *account)
{
	size_t low = 0, high = keys->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (id_compare(&keys->items[middle].account, account) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct keys *keys, size_t i, const struct id *account)
{
	return i < keys->count && id_compare(&keys->items[i].account, account) == 0;
}

/* Raises what no id may be above. */
static void count_anew(const struct keys *keys, const struct id *account, uint64_t *number,
		       int64_t *last_time)
{
	for (size_t i = keys_find(keys, account); is_of(keys, i, account); i++) {
		const struct id *id = &keys->items[i].id;
		const int64_t time = (int64_t)id_seconds(id) * 1000 + 999;

		if (id_number(id) > *number)
			*number = id_number(id);
		if (time / 1000 > *last_time / 1000)
			*last_time = time;
	}
}

static bool salvage_counters(struct survey *survey, const struct salvage *salvage,
			     struct transfer_output *output, struct account_record *record,
			     struct fault *fault)
{
	struct call *call = &survey->call;
	const char *what = arena_text(
		call->arena, "counters and default template of the account %s", call->account_text);
	struct fault own = FAULT_INITIAL;
	struct account_record before;

	if (!account_load(call, record, &own)) {
		if (!transfer_leave_out(output, what, &own, fault))
			return false;
		*record = (struct account_record){ .template_number = 0 };
	}
	before = *record;
	count_anew(&salvage->templates, &call->account, &record->template_number,
		   &record->last_time);
	count_anew(&salvage->rooms, &call->account, &record->room_number, &record->last_time);
	if (own.kind != FAULT_NONE ||
	    (before.template_number == record->template_number &&
	     before.room_number == record->room_number && before.last_time == record->last_time))
		return true;
	(void)fault_cause(&own, FAULT_DAMAGED, 0, "there are ids above the counters");
	return transfer_leave_out(output, what, &own, fault);
}

static bool salvage_record(struct survey *survey, const struct salvage *salvage,
			   struct transfer_output *output, struct account_record *record,
			   struct fault *fault)
{
	struct call *call = &survey->call;
	struct template_record marked;
	struct fault own = FAULT_INITIAL;

	if (!salvage_counters(survey, salvage, output, record, fault))
		return false;
	if (!record->has_default ||
	    transfer_find_template(call, &record->default_template, &marked, &own))
		return true;
	record->has_default = false;
	return transfer_leave_out(
		output,
		arena_text(call->arena, "default template of the account %s", call->account_text),
		&own, fault);
}

static bool salvage_all(struct survey *survey, const struct kind *kind, const struct keys *keys,
			struct transfer_output *output, struct fault *fault)
{
	const struct id account = survey->call.account;

	for (size_t i = keys_find(keys, &account); is_of(keys, i, &account); i++) {
		if (!kind->write(survey, &keys->items[i].id, output, fault))
			return false;
		survey_forget(survey);
	}
	return true;
}

static bool salvage_account(struct survey *survey, const struct salvage *salvage,
			    const struct account *account, struct transfer_output *output,
			    struct fault *fault)
{
	struct account_record record;

	survey_of_account(survey, &account->id);
	if (!salvage_record(survey, salvage, output, &record, fault))
		return false;
	return transfer_line_account(survey, account, &record, output, fault) &&
	       salvage_all(survey, &of_templates, &salvage->templates, output, fault) &&
	       salvage_all(survey, &of_rooms, &salvage->rooms, output, fault);
}

static bool salvage_accounts(struct survey *survey, const struct looking *all,
			     struct transfer_output *output, struct fault *fault)
{
	struct salvage salvage = { .templates = { .count = 0 } };
	bool is_saved = gather(survey, all, &of_templates, output, &salvage.templates, fault) &&
			gather(survey, all, &of_rooms, output, &salvage.rooms, fault);

	for (size_t i = 0; is_saved && i < all->roster->count; i++) {
		const struct account *account = &all->roster->accounts[i];

		if (all->only == NULL || all->only == account)
			is_saved = salvage_account(survey, &salvage, account, output, fault);
	}
	free(salvage.templates.items);
	free(salvage.rooms.items);
	return is_saved;
}

bool transfer_write(struct survey *survey, const struct roster *roster, const struct account *only,
		    struct transfer_output *output, struct fault *fault)
{
	const struct looking all = { .survey = survey, .roster = roster, .only = only };

	return transfer_line_begin(survey, output, fault) &&
	       (output->lost == NULL ? write_accounts(survey, &all, output, fault)
				     : salvage_accounts(survey, &all, output, fault)) &&
	       transfer_line_end(survey, output, fault);
}
