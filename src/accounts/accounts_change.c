/* Changes that commands make to accounts. Each command reads the file, changes or adds one account
 * and replaces the file under the lock, so that concurrent commands lose nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "store/postgres/store_postgres.h"

#define SECRET_BYTES 32

struct change {
	const char *directory; /* or the URL of a database */
	int lock;
	struct store_roster_change *database; /* NULL if the accounts are in a file */
	struct roster *roster;
	struct account account; /* after the change */
	size_t place; /* index in the roster; its count for a new account */
};

bool accounts_list(const char *directory, struct roster **roster, struct fault *fault)
{
	struct opened_file opened = { .file = -1 };
	bool is_read = true;
	struct arena *arena;
	struct slice text;
	char *path;

	*roster = NULL;
	if (store_postgres_is_url(directory)) {
		arena = arena_open();
		arena_set_limit(arena, SIZE_MAX);
		if (store_postgres_roster(directory, arena, &text, fault))
			*roster = roster_parse_stored(text, fault);
		arena_close(arena);
		return *roster != NULL;
	}
	path = accounts_file_path(directory, ACCOUNTS_FILE);
	if (accounts_file_mark(path).error == ENOENT)
		*roster = roster_empty();
	else
		is_read = accounts_file_read(path, roster, &opened, fault);
	if (opened.file >= 0)
		close(opened.file);
	free(path);
	return is_read;
}

const struct account *accounts_find(const struct roster *roster, const char *which,
				    struct fault *fault)
{
	const struct account *account = roster_find(roster, which);

	if (account == NULL)
		fault_cause(
			fault, FAULT_NOT_FOUND, 0,
			"no account has the name, ID or access key \"%s\"; see anteroom account "
			"list",
			which);
	return account;
}

bool accounts_get(const char *directory, const char *which, struct account *found,
		  struct fault *fault)
{
	const struct account *account = NULL;
	struct roster *roster;

	if (accounts_list(directory, &roster, fault))
		account = accounts_find(roster, which, fault);
	if (account != NULL)
		*found = *account;
	roster_close(roster);
	return account != NULL;
}

static bool begin_change(struct change *change, const char *directory, struct fault *fault)
{
	struct arena *arena;
	struct slice text;

	*change = (struct change){ .directory = directory, .lock = -1 };
	if (store_postgres_is_url(directory)) {
		arena = arena_open();
		arena_set_limit(arena, SIZE_MAX);
		if (store_postgres_roster_begin(directory, arena, &change->database, &text, fault))
			change->roster = roster_parse_stored(text, fault);
		arena_close(arena);
		return change->roster != NULL;
	}
	return accounts_file_lock(directory, &change->lock, fault) &&
	       accounts_list(directory, &change->roster, fault);
}

static bool begin_change_of(struct change *change, const char *directory, const char *which,
			    struct fault *fault)
{
	if (!begin_change(change, directory, fault))
		return false;

	const struct account *account = accounts_find(change->roster, which, fault);

	if (account == NULL)
		return false;
	change->account = *account;
	change->place = (size_t)(account - change->roster->accounts);
	return true;
}

static bool write_roster(const struct change *change, struct slice text, struct fault *fault)
{
	return change->database != NULL
		       ? store_postgres_roster_replace(change->database, text, fault)
		       : accounts_file_replace(change->directory, text, fault);
}

/* Replaces `removed` accounts from change->place on with the added ones. */
static bool write_spliced(const struct change *change, size_t removed, const struct account *added,
			  size_t count, struct fault *fault)
{
	const struct roster *roster = change->roster;
	const size_t after = change->place + removed;
	const size_t all = roster->count - removed + count;
	struct account *accounts = memory_check(calloc(all + 1, sizeof *accounts));
	struct arena *arena = arena_open();
	struct slice text;
	bool is_written;

	memcpy(accounts, roster->accounts, change->place * sizeof *accounts);
	if (count > 0)
		memcpy(accounts + change->place, added, count * sizeof *accounts);
	memcpy(accounts + change->place + count, roster->accounts + after,
	       (roster->count - after) * sizeof *accounts);
	text = roster_text(arena, accounts, all, roster->recorders, roster->recorder_count);
	is_written = write_roster(change, text, fault);
	arena_close(arena);
	explicit_bzero(accounts, all * sizeof *accounts);
	free(accounts);
	return is_written;
}

static bool write_change(const struct change *change, struct account *changed, struct fault *fault)
{
	const size_t removed = change->place < change->roster->count ? 1 : 0;

	if (!write_spliced(change, removed, &change->account, 1, fault))
		return false;
	if (changed != NULL)
		*changed = change->account;
	return true;
}

static void end_change(struct change *change)
{
	if (change->lock >= 0)
		close(change->lock);
	store_postgres_roster_end(change->database);
	roster_close(change->roster);
	explicit_bzero(&change->account, sizeof change->account);
}

static struct secret new_secret(const struct clock *clock, int64_t now)
{
	struct secret secret = { .created_at = now };
	struct arena *arena = arena_open();
	char bytes[SECRET_BYTES];

	clock_random(clock, bytes, sizeof bytes);

	struct slice text = text_base64url(arena, (struct slice){ bytes, sizeof bytes });

	memcpy(secret.text, text.data, SECRET_TEXT_SIZE);
	explicit_bzero(bytes, sizeof bytes);
	arena_close(arena);
	return secret;
}

static bool make_account(struct change *change, const struct clock *clock, const char *name,
			 struct fault *fault)
{
	struct account *account = &change->account;
	int64_t now = clock_now(clock);

	if (!account_name_is_allowed(slice_of(name)))
		return fault_set(
			fault, FAULT_BAD_REQUEST,
			"a name must be 1 to %d characters out of a-z A-Z 0-9 space - . _ : and "
			"must not start or end with a space",
			ACCOUNT_NAME_MOST);
	memcpy(account->name, name, strlen(name) + 1);
	if (roster_by_name(change->roster, slice_of(name)) != NULL)
		return fault_set(fault, FAULT_CONFLICT, "an account named %s already exists", name);
	account->id = id_random(clock);
	account->access_key = id_random(clock);
	id_print(&account->id, account->id_text);
	id_print(&account->access_key, account->access_key_text);
	account->is_enabled = true;
	account->created_at = now;
	account_set_defaults(account);
	account->secrets[0] = new_secret(clock, now);
	account->secret_count = 1;
	change->place = change->roster->count;
	return true;
}

bool accounts_add(const char *directory, const struct clock *clock, const char *name,
		  struct account *changed, struct fault *fault)
{
	struct change change;
	bool is_done = begin_change(&change, directory, fault) &&
		       make_account(&change, clock, name, fault) &&
		       write_change(&change, changed, fault);

	end_change(&change);
	return is_done;
}

bool accounts_set_enabled(const char *directory, const char *which, bool is_enabled,
			  struct account *changed, struct fault *fault)
{
	struct change change;
	bool is_found = begin_change_of(&change, directory, which, fault);

	if (change.account.is_enabled && !is_enabled)
		change.account.times_disabled++;
	change.account.is_enabled = is_enabled;

	bool is_done = is_found && write_change(&change, changed, fault);

	end_change(&change);
	return is_done;
}

bool accounts_set(const char *directory, const char *which, struct slice name, struct slice value,
		  struct account *changed, struct fault *fault)
{
	struct change change;
	bool is_done = begin_change_of(&change, directory, which, fault);
	const char *flaw = is_done ? account_set(&change.account, name, value) : NULL;

	if (flaw != NULL)
		is_done = fault_set(fault, FAULT_BAD_REQUEST, "%.*s %s", (int)name.size, name.data,
				    flaw);
	is_done = is_done && write_change(&change, changed, fault);
	end_change(&change);
	return is_done;
}

bool accounts_remove(const char *directory, const struct id *id, struct fault *fault)
{
	struct change change;
	const struct account *account = NULL;
	bool is_done = begin_change(&change, directory, fault);

	if (is_done)
		account = roster_by_id(change.roster, id);
	if (is_done && account == NULL)
		is_done = fault_set(fault, FAULT_NOT_FOUND, "the account no longer exists");
	else if (is_done && account->is_enabled)
		is_done = fault_set(fault, FAULT_CONFLICT, "the account \"%s\" is enabled",
				    account->name);
	if (is_done)
		change.place = (size_t)(account - change.roster->accounts);
	is_done = is_done && write_spliced(&change, 1, NULL, 0, fault);
	end_change(&change);
	return is_done;
}

bool accounts_rotate(const char *directory, const struct clock *clock, const char *which,
		     struct account *changed, struct fault *fault)
{
	struct change change;
	struct account *account = &change.account;
	bool is_done = begin_change_of(&change, directory, which, fault);

	if (is_done && account->secret_count == ACCOUNT_SECRETS)
		is_done = fault_set(
			fault, FAULT_CONFLICT,
			"the account already has two secrets; run account rotate --finish to "
			"retire the older one");
	if (is_done) {
		const int64_t now = clock_now(clock), former = account->secrets[0].created_at;

		/* Browser sessions tell the secrets of an account apart by these times. */
		account->secrets[account->secret_count++] =
			new_secret(clock, now > former ? now : former + 1);
	}
	is_done = is_done && write_change(&change, changed, fault);
	end_change(&change);
	return is_done;
}

bool accounts_finish(const char *directory, const char *which, struct account *changed,
		     struct fault *fault)
{
	struct change change;
	struct account *account = &change.account;
	bool is_done = begin_change_of(&change, directory, which, fault);

	if (is_done && account->secret_count < ACCOUNT_SECRETS)
		is_done = fault_set(
			fault, FAULT_CONFLICT,
			"the account has only one secret, so there is no rotation to finish");
	if (is_done) {
		account->secrets[0] = account->secrets[1];
		account->secrets[1] = (struct secret){ .created_at = 0 };
		account->secret_count = 1;
	}
	is_done = is_done && write_change(&change, changed, fault);
	end_change(&change);
	return is_done;
}

bool accounts_restore(const char *directory, const struct account *accounts, size_t count,
		      struct fault *fault)
{
	struct change change;
	bool is_done = begin_change(&change, directory, fault);

	for (size_t i = 0; is_done && i < count; i++) {
		if (roster_by_id(change.roster, &accounts[i].id) != NULL ||
		    roster_by_name(change.roster, slice_of(accounts[i].name)) != NULL ||
		    roster_by_access_key(change.roster, &accounts[i].access_key) != NULL)
			is_done = fault_set(
				fault, FAULT_CONFLICT,
				"an account with the ID, name or access key of %s already exists",
				accounts[i].name);
	}
	if (is_done)
		change.place = change.roster->count;
	is_done = is_done && write_spliced(&change, 0, accounts, count, fault);
	end_change(&change);
	return is_done;
}

/* ---- recorders ---- */

/* Writes the accounts as they are, with these recorders. */
static bool write_recorders(const struct change *change, const struct recorder_key *recorders,
			    size_t count, struct fault *fault)
{
	struct arena *arena = arena_open();
	const bool is_written = write_roster(change,
					     roster_text(arena, change->roster->accounts,
							 change->roster->count, recorders, count),
					     fault);

	arena_close(arena);
	return is_written;
}

/* Finds the accounts whose names, IDs or access keys are separated by commas. */
static bool find_accounts(const struct roster *roster, const char *accounts,
			  struct recorder_key *key, struct fault *fault)
{
	struct slice rest = slice_of(accounts);
	struct arena *arena = arena_open();
	bool is_found = true;

	while (is_found && rest.data != NULL) {
		const char *which = arena_copy(arena, text_split(rest, ',', &rest)).data;
		const struct account *account = accounts_find(roster, which, fault);

		is_found = account != NULL;
		if (is_found && key->account_count == RECORDER_ACCOUNTS_MOST)
			is_found = fault_set(fault, FAULT_BAD_REQUEST,
					     "a recorder serves all accounts, or at most %d",
					     RECORDER_ACCOUNTS_MOST);
		if (is_found)
			key->accounts[key->account_count++] = account->id;
	}
	arena_close(arena);
	return is_found;
}

bool accounts_add_recorder(const char *directory, const struct clock *clock, const char *name,
			   const char *accounts, struct secret *secret, struct fault *fault)
{
	struct recorder_key *recorders = NULL;
	struct change change;
	bool is_done = begin_change(&change, directory, fault);
	size_t count = 0;

	if (is_done && !recorder_name_is_allowed(slice_of(name)))
		is_done = fault_set(fault, FAULT_BAD_REQUEST,
				    "the name of a recorder must be 1 to %d characters out of "
				    "A-Z a-z 0-9 _ and -",
				    RECORDER_NAME_SIZE);
	if (is_done && roster_recorder(change.roster, slice_of(name)) != NULL)
		is_done = fault_set(fault, FAULT_CONFLICT, "a recorder named %s already exists",
				    name);
	if (is_done && change.roster->recorder_count == ROSTER_RECORDERS_MOST)
		is_done = fault_set(fault, FAULT_CONFLICT, "there are %d recorders already",
				    ROSTER_RECORDERS_MOST);
	if (is_done) {
		count = change.roster->recorder_count;
		recorders = memory_check(calloc(count + 1, sizeof *recorders));
		memcpy(recorders, change.roster->recorders, count * sizeof *recorders);
		memcpy(recorders[count].name, name, strlen(name));
		recorders[count].created_at = clock_now(clock);
		*secret = new_secret(clock, recorders[count].created_at);
		digest_sha256(slice_of(secret->text), recorders[count].digest);
		is_done = accounts == NULL ||
			  find_accounts(change.roster, accounts, &recorders[count], fault);
	}
	is_done = is_done && write_recorders(&change, recorders, count + 1, fault);
	free(recorders);
	end_change(&change);
	return is_done;
}

bool accounts_remove_recorder(const char *directory, const char *name, struct fault *fault)
{
	const struct recorder_key *key = NULL;
	struct recorder_key *recorders = NULL;
	struct change change;
	bool is_done = begin_change(&change, directory, fault);

	if (is_done) {
		key = roster_recorder(change.roster, slice_of(name));
		if (key == NULL)
			is_done = fault_set(fault, FAULT_NOT_FOUND,
					    "there is no recorder named %s; see anteroom recorder "
					    "list",
					    name);
	}
	if (is_done) {
		const size_t count = change.roster->recorder_count;
		const size_t place = (size_t)(key - change.roster->recorders);

		recorders = memory_check(calloc(count, sizeof *recorders));
		memcpy(recorders, change.roster->recorders, place * sizeof *recorders);
		memcpy(recorders + place, key + 1, (count - place - 1) * sizeof *recorders);
		is_done = write_recorders(&change, recorders, count - 1, fault);
	}
	free(recorders);
	end_change(&change);
	return is_done;
}
