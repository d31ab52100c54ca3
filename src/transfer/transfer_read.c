/* Into a store: see transfer/transfer.h. A line is checked by its table first, then by what the
 * lines before it and the store say; only then is anything written, by the functions that the calls
 * of the interface use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/json_text.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "resources/codes/code_record.h"
#include "resources/codes/code_words.h"
#include "resources/templates/default_template.h"
#include "resources/kinds.h"
#include "resources/packed.h"
#include "transfer/transfer_parts.h"
#include "rules/transfer_rules.h"

void transfer_input_open(struct transfer_input *input, struct store *store,
			 const struct clock *clock, const struct roster *present)
{
	schema_verify(&transfer_line_shape);
	*input = (struct transfer_input){
		.environment = { .clock = clock, .store = store },
		.present = present,
		.taken = memory_check(json_object()),
		.before = "",
	};
}

void transfer_input_close(struct transfer_input *input)
{
	if (input->counts.accounts > 0)
		explicit_bzero(input->accounts,
			       (size_t)input->counts.accounts * sizeof *input->accounts);
	free(input->accounts);
	json_decref(input->taken);
}

void transfer_input_back(struct transfer_input *input, const struct transfer_input *mark)
{
	const struct transfer_input now = *input;

	*input = *mark;
	input->call.arena = now.call.arena;
	input->call.transaction = now.call.transaction;
	input->accounts = now.accounts;
	input->capacity = now.capacity;
}

/* ---- members, which the tables have checked ---- */

struct slice transfer_text(const json_t *object, const char *name)
{
	return text_of_json(json_object_get(object, name));
}

struct slice transfer_name(const json_t *document)
{
	struct slice name = transfer_text(document, "name");

	return name.data == NULL ? SLICE("") : name;
}

uint64_t transfer_number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

struct id transfer_id(const json_t *object, const char *name)
{
	struct id id = { { 0 } };

	(void)id_parse(transfer_text(object, name), &id);
	return id;
}

int64_t transfer_time(struct transfer_input *input, const char *pointer, const json_t *object,
		      const char *name)
{
	struct call *call = &input->call;
	int64_t time = 0;

	if (!text_time_parse(transfer_text(object, name), &time))
		findings_add(&call->findings, arena_text(call->arena, "%s/%s", pointer, name),
			     "must be a time");
	return time;
}

/* ---- the order of lines ---- */

static bool misplaced(struct fault *fault, const char *sentence)
{
	return fault_set(fault, FAULT_CONFLICT, "%s", sentence);
}

static bool check_place(const struct transfer_input *input, const char *kind, struct fault *fault)
{
	bool is_head = strcmp(kind, "dump") == 0;
	bool is_account = strcmp(kind, "account") == 0;
	bool is_after_account = strcmp(input->before, "account") == 0;
	bool is_after_media = is_after_account || strcmp(input->before, "media") == 0;
	bool is_after_keys = is_after_media || strcmp(input->before, "keys") == 0;

	if (!input->has_begun && !is_head)
		return misplaced(fault, "a dump begins with a line \"dump\": this is none, or its "
					"beginning is missing");
	if (input->has_ended || (input->has_begun && is_head))
		return misplaced(fault,
				 "a dump ends with its line \"end\"; load one dump at a time");
	if (!is_head && !is_account && strcmp(kind, "end") != 0 && input->counts.accounts == 0)
		return misplaced(fault, "the line \"account\" that this belongs to is missing");
	if (!is_after_account && strcmp(kind, "media") == 0)
		return misplaced(fault, "media come once, next after the line of their account");
	if (!is_after_media && strcmp(kind, "keys") == 0)
		return misplaced(fault, "keys come once, before templates and rooms");
	if (!is_after_keys && strcmp(kind, "webhooks") == 0)
		return misplaced(fault, "webhooks come once, before templates and rooms");
	if (input->is_at_rooms && strcmp(kind, "template") == 0)
		return misplaced(fault, "an account's templates come before its rooms");
	return true;
}

struct id transfer_check_id(struct transfer_input *input, const char *kind, const json_t *object)
{
	struct findings *findings = &input->call.findings;
	struct id id = transfer_id(object, "id");
	const char *pointer = arena_text(input->call.arena, "/%s/id", kind);

	if (input->has_above && id_compare(&id, &input->above) >= 0)
		findings_add(findings, pointer, "must be older than that of the line before it");
	return id;
}

/* ---- accounts ---- */

/* Entries of this account and later ones are of lines that are read again. */
static bool is_taken(const struct transfer_input *input, const char *key)
{
	const json_t *account = json_object_get(input->taken, key);

	return account != NULL && json_integer_value(account) < (json_int_t)input->counts.accounts;
}

static bool check_taken(struct transfer_input *input, const char *name, struct slice text,
			bool is_present)
{
	struct call *call = &input->call;
	const char *key = arena_text(call->arena, "%s %.*s", name, (int)text.size, text.data);

	if (is_present)
		findings_add(&call->findings, arena_text(call->arena, "/account/%s", name),
			     "there is an account with it already: a dump is loaded into accounts "
			     "that are not there yet");
	else if (is_taken(input, key))
		findings_add(&call->findings, arena_text(call->arena, "/account/%s", name),
			     "an earlier account of this dump has it");
	return json_object_set_new(input->taken, key,
				   json_integer((json_int_t)input->counts.accounts)) == 0;
}

static void read_secrets(struct transfer_input *input, const json_t *list, struct account *account)
{
	struct call *call = &input->call;

	account->secret_count = json_array_size(list);
	if (account->secret_count == 0)
		findings_add(&call->findings, "/account/secrets", "must not be empty");
	for (size_t i = 0; i < account->secret_count; i++) {
		const json_t *object = json_array_get(list, i);
		struct slice text = transfer_text(object, "secret");
		const char *pointer = arena_text(call->arena, "/account/secrets/%zu", i);

		memcpy(account->secrets[i].text, text.data, SECRET_TEXT_SIZE);
		account->secrets[i].created_at = transfer_time(input, pointer, object,
							       "created_at");
	}
}

static struct account *next_account(struct transfer_input *input)
{
	if (input->counts.accounts == input->capacity) {
		size_t capacity = input->capacity * 2 + 8;
		struct account *larger = memory_check(calloc(capacity, sizeof *larger));

		if (input->accounts != NULL) {
			memcpy(larger, input->accounts, input->capacity * sizeof *larger);
			explicit_bzero(input->accounts, input->capacity * sizeof *larger);
			free(input->accounts);
		}
		input->accounts = larger;
		input->capacity = capacity;
	}
	return &input->accounts[input->counts.accounts++];
}

static void read_settings(struct transfer_input *input, const json_t *object,
			  struct account *account)
{
	const struct slice url = transfer_text(object, "client_url");
	const char *flaw = url.size > 0 ? account_set(account, SLICE("client_url"), url) : NULL;

	if (flaw != NULL)
		findings_add(&input->call.findings, "/account/client_url", "%s", flaw);
	account->is_operator = json_is_true(json_object_get(object, "operator"));
	account->logs_joins = json_is_true(json_object_get(object, "log_joins"));
	account->times_disabled = json_integer_value(json_object_get(object, "times_disabled"));
}

/* All members of the line but the counters, which go into the store. */
static bool read_account_file(struct transfer_input *input, const json_t *object,
			      struct account *account)
{
	const struct roster *present = input->present;
	struct slice name = transfer_text(object, "name");

	*account = (struct account){
		.id = transfer_id(object, "id"),
		.access_key = transfer_id(object, "access_key"),
		.is_enabled = json_is_true(json_object_get(object, "enabled")),
		.created_at = transfer_time(input, "/account", object, "created_at"),
	};
	memcpy(account->name, name.data, name.size);
	id_print(&account->id, account->id_text);
	id_print(&account->access_key, account->access_key_text);
	read_secrets(input, json_object_get(object, "secrets"), account);
	read_settings(input, object, account);
	return check_taken(input, "id", slice_of(account->id_text),
			   roster_by_id(present, &account->id) != NULL) &&
	       check_taken(input, "name", name, roster_by_name(present, name) != NULL) &&
	       check_taken(input, "access_key", slice_of(account->access_key_text),
			   roster_by_access_key(present, &account->access_key) != NULL);
}

/* The store may have no records of an account that the accounts file does not have. */
static bool check_empty(const struct transfer_input *input, struct call *call, struct fault *fault)
{
	static const struct store_kind *const kinds[] = { &kind_template, &kind_room };
	struct store_record record;
	struct store_page page = { .records = &record, .most = 1 };

	if (roster_by_id(input->present, &call->account) != NULL)
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!store_page(call->transaction, kinds[i], &page, fault))
			return false;
		if (page.count == 0)
			continue;
		findings_add(&call->findings, "/account/id",
			     "the store has records of this account, though the accounts file does "
			     "not have it");
		return true;
	}
	return true;
}

/* At the end of an account: what its line promised is there. */
static bool end_account(const struct transfer_input *input, struct fault *fault)
{
	if (input->has_default && !input->found_default)
		return misplaced(fault, "the default_template of the account before this line is "
					"none of its templates");
	if (input->event != 0 && input->event != input->last_event)
		return misplaced(fault,
				 "the last events of the account before this line are missing");
	return true;
}

static bool read_account(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	struct account account;

	if (!end_account(input, fault))
		return false;
	if (!read_account_file(input, object, &account))
		ABORT("an account that was checked is not read");
	call->account = account.id;
	call_set_account(call);
	if (!check_empty(input, call, fault) || !findings_result(&call->findings, fault))
		return false;
	*next_account(input) = account;
	explicit_bzero(&account, sizeof account);
	input->is_at_rooms = input->has_above = input->found_default = false;
	input->has_default = json_object_get(object, "default_template") != NULL;
	input->default_template = transfer_id(object, "default_template");
	return transfer_begin_events(input, transfer_number(object, "last_event"), fault) &&
	       (!input->has_default ||
		default_template_set(call, &input->default_template, true, NULL, fault));
}

/* ---- lines ---- */

static bool read_head(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	(void)object;
	(void)fault;
	input->has_begun = true;
	return true;
}

/* Keeps the letters of a code that is gone for their account, which may be gone too; or those of
 * one that is there, where they are words. */
static bool keep_letters(struct call *call, struct slice letters, struct fault *fault)
{
	static const char at[] = "/words/words";
	struct id account;
	struct code code;
	bool is_there = false;

	if (!code_is_words(letters) &&
	    !code_find(call, letters, STORE_TO_SHOW, &code, &account, &is_there, fault))
		return false;
	if (is_there)
		findings_add(&call->findings, at, "is a code already");
	if (is_there)
		return true;
	if (!code_words_find(call, letters, &account, &is_there, fault))
		return false;
	if (!is_there)
		return code_words_claim(call, letters, fault);
	if (id_compare(&account, &call->account) != 0)
		findings_add(&call->findings, at, "is of another account");
	return true;
}

/* Words come after all accounts, so another line of this one does not follow. */
static bool read_words(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	struct call *call = &input->call;
	const struct slice letters = transfer_text(object, "words");
	const struct id last = call->account;

	if (!code_can_be(letters))
		findings_add(&call->findings, "/words/words",
			     "must be words for a code, or a code");
	if (!findings_result(&call->findings, fault))
		return false;
	call->account = transfer_id(object, "account");
	call_set_account(call);
	if (!keep_letters(call, letters, fault) || !findings_result(&call->findings, fault))
		return false;
	call->account = last;
	call_set_account(call);
	input->counts.words++;
	return true;
}

static bool read_end(struct transfer_input *input, const json_t *object, struct fault *fault)
{
	if (!end_account(input, fault))
		return false;
	if (transfer_number(object, "accounts") != input->counts.accounts ||
	    transfer_number(object, "media") != input->counts.media ||
	    transfer_number(object, "keys") != input->counts.keys ||
	    transfer_number(object, "webhooks") != input->counts.webhooks ||
	    transfer_number(object, "templates") != input->counts.templates ||
	    transfer_number(object, "rooms") != input->counts.rooms ||
	    transfer_number(object, "codes") != input->counts.codes ||
	    transfer_number(object, "words") != input->counts.words ||
	    transfer_number(object, "events") != input->counts.events)
		return misplaced(fault, "the dump's last line counts other lines than came: some "
					"are missing, or too many");
	input->has_ended = true;
	return true;
}

static const struct {
	const char *name;
	bool (*read)(struct transfer_input *input, const json_t *object, struct fault *fault);
} kinds[] = {
	{ "dump", read_head },
	{ "account", read_account },
	{ "media", transfer_read_media },
	{ "keys", transfer_read_keys },
	{ "webhooks", transfer_read_webhooks },
	{ "template", transfer_read_template },
	{ "room", transfer_read_room },
	{ "codes", transfer_read_codes },
	{ "event", transfer_read_event },
	{ "words", read_words },
	{ "end", read_end },
};

static bool read_kind(struct transfer_input *input, const json_t *line, struct fault *fault)
{
	if (json_object_size(line) != 1)
		return misplaced(fault,
				 "a line has one member: dump, account, media, "
				 "keys, webhooks, template, room, codes, event, words or end");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const json_t *object = json_object_get(line, kinds[i].name);

		if (object == NULL)
			continue;
		if (!check_place(input, kinds[i].name, fault))
			return false;
		input->before = kinds[i].name;
		input->may_have_codes = input->may_have_codes &&
					strcmp(input->before, "codes") == 0;
		return kinds[i].read(input, object, fault);
	}
	return false;
}

bool transfer_read_line(struct transfer_input *input, struct slice text, struct fault *fault)
{
	struct call *call = &input->call;
	struct json_flaw flaw;
	json_t *line;

	call->environment = &input->environment;
	call->now = clock_now(input->environment.clock);
	store_set_account(call->transaction, &call->account);
	call_draw_etag(call);
	line = json_text_read_stored(call->arena, text, &flaw);
	if (line == NULL)
		return fault_detail(fault, FAULT_MALFORMED, "column %zu: %s", flaw.column,
				    flaw.sentence);
	return packed_sound(call,
			    schema_check(&transfer_line_shape, line, SCHEMA_WHOLE, true,
					 &call->findings, fault) &&
				    read_kind(input, line, fault),
			    fault);
}

bool transfer_read_end(struct transfer_input *input, struct fault *fault)
{
	if (!input->has_ended)
		return misplaced(fault, "the dump has no line \"end\": it was cut off");
	return true;
}
