/* Restores accounts from a dump (anteroom load).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "accounts/accounts_file.h"
#include "store/postgres/store_postgres.h"

static bool check_free(const struct roster *roster, const struct account *account,
		       struct fault *fault)
{
	if (roster_by_id(roster, &account->id) == NULL &&
	    roster_by_name(roster, slice_of(account->name)) == NULL &&
	    roster_by_access_key(roster, &account->access_key) == NULL)
		return true;
	return fault_set(fault, FAULT_CONFLICT,
			 "there is an account with the id, the name or the access key of %s",
			 account->name);
}

static bool replace(const char *directory, struct store_roster_change *database, struct slice text,
		    struct fault *fault)
{
	if (database != NULL)
		return store_postgres_roster_replace(database, text, fault);
	return accounts_file_replace(directory, text, fault);
}

static bool add_all(const char *directory, struct store_roster_change *database,
		    const struct roster *roster, const struct account *accounts, size_t count,
		    struct fault *fault)
{
	size_t all = roster->count + count;
	struct account *together = calloc(all + 1, sizeof *together);
	struct arena *arena = arena_open();
	bool is_written;

	if (together == NULL)
		abort();
	if (roster->count > 0)
		memcpy(together, roster->accounts, roster->count * sizeof *together);
	if (count > 0)
		memcpy(together + roster->count, accounts, count * sizeof *together);
	is_written = replace(directory, database, roster_text(arena, together, all), fault);
	explicit_bzero(together, all * sizeof *together);
	free(together);
	arena_close(arena);
	return is_written;
}

static bool restore_stored(const char *url, const struct account *accounts, size_t count,
			   struct fault *fault)
{
	struct arena *arena = arena_open();
	struct store_roster_change *database = NULL;
	struct roster *roster = NULL;
	struct slice text;
	bool is_done;

	arena_set_limit(arena, SIZE_MAX);
	is_done = store_postgres_roster_begin(url, arena, &database, &text, fault);
	if (is_done)
		roster = text.size == 0 ? roster_empty() : roster_parse(text, fault);
	is_done = is_done && roster != NULL;
	for (size_t i = 0; is_done && i < count; i++)
		is_done = check_free(roster, &accounts[i], fault);
	is_done = is_done && add_all(url, database, roster, accounts, count, fault);
	store_postgres_roster_end(database);
	roster_close(roster);
	arena_close(arena);
	return is_done;
}

bool accounts_restore(const char *directory, const struct account *accounts, size_t count,
		      struct fault *fault)
{
	if (store_postgres_is_url(directory))
		return restore_stored(directory, accounts, count, fault);

	struct roster *roster = NULL;
	int lock;
	bool is_done = accounts_file_lock(directory, &lock, fault) &&
		       accounts_list(directory, &roster, fault);

	for (size_t i = 0; is_done && i < count; i++)
		is_done = check_free(roster, &accounts[i], fault);
	is_done = is_done && add_all(directory, NULL, roster, accounts, count, fault);
	roster_close(roster);
	if (lock >= 0)
		close(lock);
	return is_done;
}
