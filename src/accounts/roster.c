/* Parsing, writing and searching the list of accounts. The text is JSON:
 *
 *     {"version":1,"accounts":[
 *     {"id":"...","name":"...","access_key":"...","enabled":true,
 *      "created_at":"2026-01-31T12:34:56.789Z","secrets":[{"secret":"...","created_at":"..."}],
 *      "operator":true,"log_joins":true,"sessions":false,"live_log":false,"client_url":"...",
 *      "embed":"https://a.example,https://b.example","recordings":5,"recordings_gb":200,
 *      "times_disabled":1}
 *     ],"recorders":[
 *     {"name":"...","key":"...","created_at":"...","accounts":["..."]}
 *     ]
 *     ,"checksum":"0123abcd"}
 *
 * Without recorders, their list is missing. The key of a recorder is the SHA-256 of its secret.
 *
 * The checksum is the CRC32C of all lines before the last. It is missing in files of earlier
 * versions, and if an administrator removed it after editing; the next change adds it. No other
 * members are allowed, so that damage cannot make a file look like a file without a checksum.
 *
 * The file is validated like a request body, because administrators may edit it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "accounts/roster.h"

#include <assert.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/checksum.h"
#include "rules/text_rules.h"

#define FILE_VERSION 1
/* The beginning of the last line. It is followed by the checksum in 8 lower-case hexadecimal
 * digits, "} and a newline. */
#define LAST_LINE "\n,\"checksum\":\""
#define LAST_LINE_SIZE (sizeof LAST_LINE - 1 + 8 + 3)

/* --- Orders --- */

static int by_id(const void *a, const void *b)
{
	const struct account *const *first = a;
	const struct account *const *second = b;

	return id_compare(&(*first)->id, &(*second)->id);
}

static int by_access_key(const void *a, const void *b)
{
	const struct account *const *first = a;
	const struct account *const *second = b;

	return id_compare(&(*first)->access_key, &(*second)->access_key);
}

static int by_name(const void *a, const void *b)
{
	const struct account *const *first = a;
	const struct account *const *second = b;

	return strcmp((*first)->name, (*second)->name);
}

typedef int account_order(const void *a, const void *b);

static const struct account **sorted(const struct roster *roster, account_order *order)
{
	/* Never empty, because qsort and bsearch must not get NULL. */
	const struct account **places =
		memory_check(calloc(roster->count + 1, sizeof(const struct account *)));

	for (size_t i = 0; i < roster->count; i++)
		places[i] = &roster->accounts[i];
	qsort(places, roster->count, sizeof *places, order);
	return places;
}

static const struct account *search(const struct roster *roster, const struct account **places,
				    const struct account *like, account_order *order)
{
	const struct account **found = bsearch(&like, places, roster->count, sizeof *places, order);

	return found == NULL ? NULL : *found;
}

/* Returns an account that equals its predecessor in this order, or NULL. */
static const struct account *repeated(const struct roster *roster, const struct account **places,
				      account_order *order)
{
	for (size_t i = 1; i < roster->count; i++)
		if (order(&places[i - 1], &places[i]) == 0)
			return places[i];
	return NULL;
}

const struct account *roster_by_id(const struct roster *roster, const struct id *id)
{
	struct account like = { .id = *id };

	return search(roster, roster->by_id, &like, by_id);
}

const struct account *roster_by_access_key(const struct roster *roster, const struct id *access_key)
{
	struct account like = { .access_key = *access_key };

	return search(roster, roster->by_access_key, &like, by_access_key);
}

const struct account *roster_by_name(const struct roster *roster, struct slice name)
{
	struct account like = { .name = "" };

	if (name.size > ACCOUNT_NAME_MOST)
		return NULL;
	memcpy(like.name, name.data, name.size);
	return search(roster, roster->by_name, &like, by_name);
}

const struct account *roster_find(const struct roster *roster, const char *which)
{
	const struct account *account = roster_by_name(roster, slice_of(which));
	struct id id;

	if (account == NULL && id_parse(slice_of(which), &id))
		account = roster_by_id(roster, &id);
	if (account == NULL && id_parse(slice_of(which), &id))
		account = roster_by_access_key(roster, &id);
	return account;
}

/* --- Reading --- */

bool account_name_is_allowed(struct slice name)
{
	return name.size <= ACCOUNT_NAME_MOST && schema_text_obeys(&name_text, name);
}

static struct slice account_text(const json_t *object, const char *name)
{
	return text_of_json(json_object_get(object, name));
}

/* Settings that are on or off. The file has those that are not at their default. */
static const struct account_switch {
	const char *name;
	size_t member; /* offset of a bool in struct account */
	bool is_on; /* by default */
} account_switches[] = {
	{ "operator", offsetof(struct account, is_operator), false },
	{ "log_joins", offsetof(struct account, logs_joins), false },
	{ "sessions", offsetof(struct account, keeps_people), true },
	{ "live_log", offsetof(struct account, logs_live), true },
};
#define ACCOUNT_SWITCHES (sizeof account_switches / sizeof account_switches[0])

static bool *switch_of(struct account *account, const struct account_switch *row)
{
	return (bool *)((char *)account + row->member);
}

/* Settings that are numbers. The file has those that are not at their default. */
static const struct account_number {
	const char *name;
	size_t member; /* offset of an int64_t in struct account */
	int64_t usual;
} account_numbers[] = {
	{ "recordings", offsetof(struct account, recordings), ACCOUNT_RECORDINGS_USUAL },
	{ "recordings_gb", offsetof(struct account, recordings_gb), 0 },
};
#define ACCOUNT_NUMBERS (sizeof account_numbers / sizeof account_numbers[0])
#define NUMBER_RULE "must be an integer from 0 to 1000000"

static int64_t *number_of(struct account *account, const struct account_number *row)
{
	return (int64_t *)((char *)account + row->member);
}

static const char *set_number(struct account *account, const struct account_number *row,
			      struct slice value)
{
	int64_t number = 0;

	for (size_t i = 0; i < value.size; i++) {
		if (value.data[i] < '0' || value.data[i] > '9' || number > ACCOUNT_NUMBER_MOST)
			return NUMBER_RULE;
		number = number * 10 + (value.data[i] - '0');
	}
	if (number > ACCOUNT_NUMBER_MOST)
		return NUMBER_RULE;
	*number_of(account, row) = value.size > 0 ? number : row->usual;
	return NULL;
}

void account_set_defaults(struct account *account)
{
	for (size_t i = 0; i < ACCOUNT_SWITCHES; i++)
		*switch_of(account, &account_switches[i]) = account_switches[i].is_on;
	for (size_t i = 0; i < ACCOUNT_NUMBERS; i++)
		*number_of(account, &account_numbers[i]) = account_numbers[i].usual;
}

/* Settings that are texts. The file has those that are not empty. */
static const struct account_setting {
	const char *name;
	size_t member; /* offset of a text in struct account, which has room for what has no flaw */
	const char *(*flaw)(struct slice value); /* NULL: none */
} account_texts[] = {
	{ "client_url", offsetof(struct account, client_url), client_url_flaw },
	{ "embed", offsetof(struct account, embed), embed_origins_flaw },
};
#define ACCOUNT_TEXTS (sizeof account_texts / sizeof account_texts[0])

/* Sets the text, or unsets it if the value is empty. Returns the flaw of the value, or NULL. */
static const char *set_text(struct account *account, const struct account_setting *row,
			    struct slice value)
{
	char *text = (char *)account + row->member;
	const char *flaw = value.size == 0 ? NULL : row->flaw(value);

	if (flaw != NULL)
		return flaw;
	if (value.size > 0)
		memcpy(text, value.data, value.size);
	text[value.size] = '\0';
	return NULL;
}

const char *account_set(struct account *account, struct slice name, struct slice value)
{
	for (size_t i = 0; i < ACCOUNT_TEXTS; i++) {
		if (slice_is(name, account_texts[i].name))
			return set_text(account, &account_texts[i], value);
	}
	for (size_t i = 0; i < ACCOUNT_SWITCHES; i++) {
		if (!slice_is(name, account_switches[i].name))
			continue;
		*switch_of(account, &account_switches[i]) = slice_is(value, "on");
		return slice_is(value, "on") || slice_is(value, "off") ? NULL : "must be on or off";
	}
	for (size_t i = 0; i < ACCOUNT_NUMBERS; i++) {
		if (slice_is(name, account_numbers[i].name))
			return set_number(account, &account_numbers[i], value);
	}
	return "is not one of operator, log_joins, sessions, live_log, client_url, embed, "
	       "recordings and recordings_gb";
}

/* Returns false. */
static bool refuse_member(struct account_flaw *flaw, const char *member, const char *what)
{
	flaw->member = member;
	flaw->what = what;
	return false;
}

static bool read_account_id(const json_t *object, const char *name, struct id *id,
			    char text[ID_TEXT_SIZE + 1], struct account_flaw *flaw)
{
	if (!id_parse(account_text(object, name), id))
		return refuse_member(flaw, name, "must be an ID");
	id_print(id, text);
	return true;
}

static bool read_created_at(const json_t *object, int64_t *time, struct account_flaw *flaw)
{
	return text_time_parse(account_text(object, "created_at"), time) ||
	       refuse_member(flaw, "created_at", "must be a time");
}

static bool read_account_secrets(const json_t *list, struct account *account,
				 struct account_flaw *flaw)
{
	static const char *const pointers[ACCOUNT_SECRETS] = { "secrets/0", "secrets/1" };

	account->secret_count = json_array_size(list);
	if (account->secret_count == 0 || account->secret_count > ACCOUNT_SECRETS)
		return refuse_member(flaw, "secrets", "must have 1 or 2 items");
	for (size_t i = 0; i < account->secret_count; i++) {
		struct secret *secret = &account->secrets[i];
		const json_t *object = json_array_get(list, i);
		const struct slice text = account_text(object, "secret");

		if (text.size != SECRET_TEXT_SIZE || !schema_text_obeys(&bytes_32_text, text))
			return refuse_member(flaw, pointers[i], "must have a secret");
		memcpy(secret->text, text.data, text.size);
		secret->text[text.size] = '\0';
		/* Cleared here, because the memory of the JSON is freed without being cleared. */
		explicit_bzero((char *)(uintptr_t)text.data, text.size);
		if (!read_created_at(object, &secret->created_at, flaw))
			return refuse_member(flaw, pointers[i], "must have the time created_at");
	}
	return true;
}

/* Reads the members that are present only if they are set. */
static bool read_account_settings(const json_t *object, struct account *account,
				  struct account_flaw *flaw)
{
	const json_t *times_disabled = json_object_get(object, "times_disabled");

	account_set_defaults(account);
	for (size_t i = 0; i < ACCOUNT_SWITCHES; i++) {
		const json_t *value = json_object_get(object, account_switches[i].name);

		if (value != NULL && !json_is_boolean(value))
			return refuse_member(flaw, account_switches[i].name, "must be a boolean");
		if (value != NULL)
			*switch_of(account, &account_switches[i]) = json_is_true(value);
	}
	for (size_t i = 0; i < ACCOUNT_NUMBERS; i++) {
		const json_t *value = json_object_get(object, account_numbers[i].name);

		if (value == NULL)
			continue;
		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    json_integer_value(value) > ACCOUNT_NUMBER_MOST)
			return refuse_member(flaw, account_numbers[i].name, NUMBER_RULE);
		*number_of(account, &account_numbers[i]) = json_integer_value(value);
	}
	account->times_disabled = json_integer_value(times_disabled);
	if (times_disabled != NULL && account->times_disabled <= 0)
		return refuse_member(flaw, "times_disabled", "must be an integer of at least 1");
	for (size_t i = 0; i < ACCOUNT_TEXTS; i++) {
		const json_t *value = json_object_get(object, account_texts[i].name);
		const char *wrong = NULL;

		if (value != NULL)
			wrong = json_is_string(value)
					? set_text(account, &account_texts[i], text_of_json(value))
					: "must be a string";
		if (wrong != NULL)
			return refuse_member(flaw, account_texts[i].name, wrong);
	}
	return true;
}

bool account_read(const json_t *object, struct account *account, struct account_flaw *flaw)
{
	const json_t *enabled = json_object_get(object, "enabled");
	const struct slice name = account_text(object, "name");

	*account = (struct account){ .is_enabled = json_is_true(enabled) };
	if (!json_is_boolean(enabled))
		return refuse_member(flaw, "enabled", "must be a boolean");
	if (!read_account_settings(object, account, flaw) ||
	    !read_account_id(object, "id", &account->id, account->id_text, flaw) ||
	    !read_account_id(object, "access_key", &account->access_key, account->access_key_text,
			     flaw))
		return false;
	if (!account_name_is_allowed(name))
		return refuse_member(flaw, "name", "must be a name of an account");
	memcpy(account->name, name.data, name.size);
	account->name[name.size] = '\0';
	return read_created_at(object, &account->created_at, flaw) &&
	       read_account_secrets(json_object_get(object, "secrets"), account, flaw);
}

static bool refuse_repeated(const struct account *account, const char *what, struct fault *fault)
{
	if (account == NULL)
		return true;
	return fault_cause(fault, FAULT_INTERNAL, 0,
			   "account %s and another account in the accounts file have the same %s",
			   account->id_text, what);
}

static bool sort_and_compare(struct roster *roster, struct fault *fault)
{
	roster->by_id = sorted(roster, by_id);
	roster->by_access_key = sorted(roster, by_access_key);
	roster->by_name = sorted(roster, by_name);
	return refuse_repeated(repeated(roster, roster->by_id, by_id), "ID", fault) &&
	       refuse_repeated(repeated(roster, roster->by_access_key, by_access_key), "access key",
			       fault) &&
	       refuse_repeated(repeated(roster, roster->by_name, by_name), "name", fault);
}

static struct roster *roster_of(size_t count)
{
	struct roster *roster = memory_check(calloc(1, sizeof *roster));

	roster->generation = 1;
	roster->count = count;
	roster->accounts = memory_check(calloc(count + 1, sizeof *roster->accounts));
	return roster;
}

/* Prints the last line, including the newline before it, of a file that begins with these lines. */
static void print_last_line(struct slice lines, char line[LAST_LINE_SIZE + 1])
{
	uint32_t sum = checksum(checksum(0, lines.data, lines.size), "\n", 1);

	(void)snprintf(line, LAST_LINE_SIZE + 1, LAST_LINE "%08lx\"}\n", (unsigned long)sum);
}

static bool has_last_line(struct slice text)
{
	return text.size > LAST_LINE_SIZE &&
	       memcmp(text.data + text.size - LAST_LINE_SIZE, LAST_LINE, sizeof LAST_LINE - 1) == 0;
}

static bool refuse_checksum(struct fault *fault)
{
	return fault_cause(
		fault, FAULT_INTERNAL, 0,
		"the checksum does not match the contents; restore the file from a backup or, if "
		"you edited it by hand, remove ,\"checksum\":\"...\" from its last line");
}

/* --- Recorders --- */

bool recorder_name_is_allowed(struct slice name)
{
	static const char others[] = "_-";
	size_t i = 0;

	while (i < name.size && ((name.data[i] >= 'a' && name.data[i] <= 'z') ||
				 (name.data[i] >= 'A' && name.data[i] <= 'Z') ||
				 (name.data[i] >= '0' && name.data[i] <= '9') ||
				 memchr(others, name.data[i], sizeof others - 1) != NULL))
		i++;
	return name.size > 0 && name.size <= RECORDER_NAME_SIZE && i == name.size;
}

bool recorder_key_serves(const struct recorder_key *key, const struct id *account)
{
	size_t i = 0;

	while (i < key->account_count && id_compare(&key->accounts[i], account) != 0)
		i++;
	return key->account_count == 0 || i < key->account_count;
}

const struct recorder_key *roster_recorder(const struct roster *roster, struct slice name)
{
	for (size_t i = 0; i < roster->recorder_count; i++) {
		if (slice_is(name, roster->recorders[i].name))
			return &roster->recorders[i];
	}
	return NULL;
}

/* Returns the member that is wrong, or NULL. */
static const char *read_recorder_key(const json_t *object, struct recorder_key *key)
{
	const struct slice name = account_text(object, "name");
	const struct slice digest = account_text(object, "key");
	const json_t *accounts = json_object_get(object, "accounts");

	if (!recorder_name_is_allowed(name))
		return "name";
	memcpy(key->name, name.data, name.size);
	if (digest.size != 2 * DIGEST_SIZE)
		return "key";
	for (size_t i = 0; i < DIGEST_SIZE; i++) {
		const int high = text_hex_value(digest.data[2 * i]);
		const int low = text_hex_value(digest.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return "key";
		key->digest[i] = (unsigned char)(high << 4 | low);
	}
	if (!text_time_parse(account_text(object, "created_at"), &key->created_at))
		return "created_at";
	key->account_count = json_array_size(accounts);
	if (key->account_count > RECORDER_ACCOUNTS_MOST)
		return "accounts";
	for (size_t i = 0; i < key->account_count; i++) {
		if (!id_parse(text_of_json(json_array_get(accounts, i)), &key->accounts[i]))
			return "accounts";
	}
	return NULL;
}

static bool read_recorders(const json_t *list, struct roster *roster, struct fault *fault)
{
	roster->recorder_count = 0;
	roster->recorders =
		memory_check(calloc(json_array_size(list) + 1, sizeof *roster->recorders));
	if ((list != NULL && !json_is_array(list)) || json_array_size(list) > ROSTER_RECORDERS_MOST)
		return fault_cause(fault, FAULT_INTERNAL, 0,
				   "\"recorders\" of the accounts file must be a list of at most "
				   "%d recorders",
				   ROSTER_RECORDERS_MOST);
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct recorder_key *key = &roster->recorders[i];
		const char *wrong = read_recorder_key(json_array_get(list, i), key);

		if (wrong == NULL && roster_recorder(roster, slice_of(key->name)) != NULL)
			wrong = "name";
		if (wrong != NULL)
			return fault_cause(fault, FAULT_INTERNAL, 0,
					   "recorder %zu of the accounts file is malformed: %s",
					   i + 1, wrong);
		roster->recorder_count++;
	}
	return true;
}

static struct roster *read_roster_file(const json_t *file, struct slice text, struct fault *fault)
{
	const json_t *version = json_object_get(file, "version");
	const json_t *list = json_object_get(file, "accounts");
	const json_t *recorders = json_object_get(file, "recorders");
	const bool has_checksum = json_object_get(file, "checksum") != NULL;

	if (!json_is_integer(version) || json_integer_value(version) != FILE_VERSION ||
	    !json_is_array(list)) {
		fault_cause(fault, FAULT_INTERNAL, 0,
			    "the accounts file does not have the format of version %d",
			    FILE_VERSION);
		return NULL;
	}
	if (has_checksum && !has_last_line(text)) {
		refuse_checksum(fault);
		return NULL;
	}
	if (json_object_size(file) >
	    2 + (size_t)(has_checksum ? 1 : 0) + (size_t)(recorders != NULL ? 1 : 0)) {
		fault_cause(
			fault, FAULT_INTERNAL, 0,
			"the accounts file has members other than \"version\", "
			"\"accounts\", \"recorders\" and \"checksum\": restore it from a backup, or "
			"remove them if they were added by hand");
		return NULL;
	}

	struct roster *roster = roster_of(json_array_size(list));
	struct account_flaw flaw;

	for (size_t i = 0; i < roster->count; i++) {
		if (account_read(json_array_get(list, i), &roster->accounts[i], &flaw))
			continue;
		fault_cause(fault, FAULT_INTERNAL, 0,
			    "account %zu of the accounts file is malformed: %s %s", i + 1,
			    flaw.member, flaw.what);
		roster_close(roster);
		return NULL;
	}
	if (read_recorders(recorders, roster, fault) && sort_and_compare(roster, fault))
		return roster;
	roster_close(roster);
	return NULL;
}

struct roster *roster_parse(struct slice text, struct fault *fault)
{
	char line[LAST_LINE_SIZE + 1];

	/* Checked before parsing, because a damaged file may not be JSON. */
	if (has_last_line(text)) {
		print_last_line((struct slice){ text.data, text.size - LAST_LINE_SIZE }, line);
		if (memcmp(text.data + text.size - LAST_LINE_SIZE, line, LAST_LINE_SIZE) != 0) {
			refuse_checksum(fault);
			return NULL;
		}
	}

	/* The roster is shared, so its JSON must not count towards the memory limit of the call
	 * that happens to read it. */
	struct arena *arena = arena_open();
	struct arena *served = arena_use_for_json(arena);
	struct roster *roster = NULL;
	struct json_flaw flaw;
	const json_t *file = json_text_read(arena, text, &flaw);

	if (file == NULL)
		fault_cause(fault, FAULT_INTERNAL, 0,
			    "the accounts file is not JSON at line %zu, column %zu: restore it "
			    "from a backup",
			    flaw.line, flaw.column);
	else
		roster = read_roster_file(file, text, fault);
	arena_use_for_json(served);
	arena_close(arena);
	return roster;
}

struct roster *roster_parse_stored(struct slice text, struct fault *fault)
{
	return text.size == 0 ? roster_empty() : roster_parse(text, fault);
}

struct roster *roster_empty(void)
{
	struct fault fault = FAULT_INITIAL;
	struct roster *roster = roster_of(0);
	bool is_sorted = sort_and_compare(roster, &fault);

	assert(is_sorted);
	(void)is_sorted;
	return roster;
}

void roster_close(struct roster *roster)
{
	if (roster == NULL)
		return;

	/* Retired secrets must not remain in memory. */
	explicit_bzero(roster->accounts, roster->count * sizeof *roster->accounts);
	free(roster->accounts);
	free(roster->by_id);
	free(roster->by_access_key);
	free(roster->by_name);
	free(roster->recorders);
	free(roster);
}

/* --- Writing --- */

/* Takes the reference to `secrets`. Leaves out settings that are not set. */
static json_t *packed_account(const struct account *account, json_t *secrets)
{
	char time[TEXT_TIME_SIZE];
	json_t *object;

	text_time_milliseconds(account->created_at, time);
	object = json_pack("{s:s, s:s, s:s, s:b, s:s, s:o}", "id", account->id_text, "name",
			   account->name, "access_key", account->access_key_text, "enabled",
			   account->is_enabled, "created_at", time, "secrets", secrets);
	for (size_t i = 0; i < ACCOUNT_SWITCHES; i++) {
		const bool is_on =
			*(const bool *)((const char *)account + account_switches[i].member);

		if (is_on != account_switches[i].is_on)
			object_put(object, account_switches[i].name, json_boolean(is_on));
	}
	for (size_t i = 0; i < ACCOUNT_TEXTS; i++) {
		const char *value = (const char *)account + account_texts[i].member;

		if (*value != '\0')
			object_put(object, account_texts[i].name, json_string(value));
	}
	for (size_t i = 0; i < ACCOUNT_NUMBERS; i++) {
		const int64_t number =
			*(const int64_t *)((const char *)account + account_numbers[i].member);

		if (number != account_numbers[i].usual)
			object_put(object, account_numbers[i].name, json_integer(number));
	}
	if (account->times_disabled > 0)
		object_put(object, "times_disabled", json_integer(account->times_disabled));
	return object;
}

json_t *account_json(const struct account *account)
{
	json_t *list = json_array();

	for (size_t i = 0; i < account->secret_count; i++) {
		const struct secret *secret = &account->secrets[i];
		char time[TEXT_TIME_SIZE];

		text_time_milliseconds(secret->created_at, time);
		array_put(list,
			  json_pack("{s:s, s:s}", "secret", secret->text, "created_at", time));
	}
	return packed_account(account, list);
}

json_t *account_summary(const struct account *account)
{
	return packed_account(account, json_integer((json_int_t)account->secret_count));
}

static void append_recorder(struct buffer *text, const struct recorder_key *key)
{
	char time[TEXT_TIME_SIZE], digest[2 * DIGEST_SIZE + 1] = "", id[ID_TEXT_SIZE + 1];
	json_t *accounts = json_array(), *object;

	text_time_milliseconds(key->created_at, time);
	text_hex(key->digest, sizeof key->digest, digest);
	for (size_t i = 0; i < key->account_count; i++) {
		id_print(&key->accounts[i], id);
		array_put(accounts, json_string(id));
	}
	object = memory_check(json_pack("{s:s, s:s, s:s, s:o}", "name", key->name, "key", digest,
					"created_at", time, "accounts", accounts));
	buffer_append_json(text, object);
	json_decref(object);
}

/* Writes one line per account, and per recorder, for reading and for grep. */
struct slice roster_text(struct arena *arena, const struct account *accounts, size_t count,
			 const struct recorder_key *recorders, size_t recorder_count)
{
	struct buffer text = BUFFER_INITIAL(arena);
	char last_line[LAST_LINE_SIZE + 1];

	buffer_append_text(&text, "{\"version\":");
	buffer_append_integer(&text, FILE_VERSION);
	buffer_append_text(&text, ",\"accounts\":[");
	for (size_t i = 0; i < count; i++) {
		json_t *account = memory_check(account_json(&accounts[i]));
		const json_t *secrets = json_object_get(account, "secrets");

		buffer_append_text(&text, i == 0 ? "\n" : ",\n");
		buffer_append_json(&text, account);
		/* Cleared here, because the memory of the JSON is freed without being cleared. */
		for (size_t n = 0; n < json_array_size(secrets); n++) {
			struct slice secret = account_text(json_array_get(secrets, n), "secret");

			explicit_bzero((char *)(uintptr_t)secret.data, secret.size);
		}
		json_decref(account); /* not adopted, because there may be a hundred thousand */
	}
	buffer_append_text(&text, "\n]");
	for (size_t i = 0; i < recorder_count; i++) {
		buffer_append_text(&text, i == 0 ? ",\"recorders\":[\n" : ",\n");
		append_recorder(&text, &recorders[i]);
	}
	if (recorder_count > 0)
		buffer_append_text(&text, "\n]");
	print_last_line(buffer_slice(&text), last_line);
	buffer_append_text(&text, last_line);
	return buffer_slice(&text);
}
