/* The accounts file, DIR/accounts.json. The service checks it for changes on every request;
 * commands replace it, also while the service runs.
 *
 * If the store is a database, it contains the accounts; then `directory` is its URL in the commands
 * below.
 *
 * The file is replaced as a whole, by rename, so a reader sees one state. Commands exclude each
 * other with a lock on DIR/accounts.lock. Both files have mode 0600 and the owner and group of the
 * directory, whichever user runs the command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ACCOUNTS_ACCOUNTS_H
#define ACCOUNTS_ACCOUNTS_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/fault.h"
#include "accounts/roster.h"

/* ---- for the service; any thread ---- */

struct accounts;

/* Opens the accounts of a directory; there are none if the file does not exist. Fails with
 * FAULT_INTERNAL if the file cannot be read. Logs a warning if other users can access the file. */
bool accounts_open(const char *directory, struct accounts **accounts, struct fault *fault);
struct store;
/* Opens the accounts in a store that contains them (store_has_roster). */
bool accounts_open_stored(struct store *store, struct accounts **accounts, struct fault *fault);
/* Call it after all rosters have been released. */
void accounts_close(struct accounts *accounts);

/* Returns the current accounts, never NULL, including the change of any command that returned
 * before this call. Costs an fstat(2), and reads the file if it has changed. For accounts in a
 * store, returns those that the last transaction of this process saw; a transaction that is given
 * their generation (store_set_roster) finds out whether they are current. If the file cannot be
 * read or no longer exists, the accounts remain as they were, and the log says so once per state of
 * the file. The caller releases the roster; its accounts live until then. */
const struct roster *accounts_current(struct accounts *accounts);
/* Asks the store whether the accounts have changed since the last transaction of this process; used
 * before a token is rejected. If they have, *has_changed is true, the old roster is released and
 * *roster is the current one. Does nothing for a file. Returns false if the store does not respond;
 * fails with FAULT_UNAVAILABLE or as accounts_open. */
bool accounts_refresh(struct accounts *accounts, const struct roster **roster, bool *has_changed,
		      struct fault *fault);
void accounts_release(struct accounts *accounts, const struct roster *roster);

/* ---- for the command line ---- */

/* These functions return when the change is on disk. `which` is an account as in roster_find; if
 * there is none, they fail with FAULT_NOT_FOUND. *changed (which may be NULL) is the account after
 * the change, with its secrets. They fail with FAULT_INTERNAL and a cause if the file cannot be
 * read or written. */

/* Adds an account. Fails with FAULT_BAD_REQUEST for an invalid name and FAULT_CONFLICT for a name
 * in use. */
bool accounts_add(const char *directory, const struct clock *clock, const char *name,
		  struct account *changed, struct fault *fault);
bool accounts_set_enabled(const char *directory, const char *which, bool is_enabled,
			  struct account *changed, struct fault *fault);
/* Sets a member (account_set). Fails with FAULT_BAD_REQUEST if the name or value is invalid. */
bool accounts_set(const char *directory, const char *which, struct slice name, struct slice value,
		  struct account *changed, struct fault *fault);
/* Removes the account; the caller removes its records. Fails with FAULT_CONFLICT if it is
 * enabled. */
bool accounts_remove(const char *directory, const struct id *id, struct fault *fault);
/* Begins a rotation by adding a second secret. Fails with FAULT_CONFLICT if there are two
 * already. */
bool accounts_rotate(const char *directory, const struct clock *clock, const char *which,
		     struct account *changed, struct fault *fault);
/* Ends a rotation by removing the older secret. Fails with FAULT_CONFLICT if there is only one. */
bool accounts_finish(const char *directory, const char *which, struct account *changed,
		     struct fault *fault);
/* Adds accounts with all their members, including secrets; all or none. Fails with FAULT_CONFLICT
 * if an ID, a name or an access key is in use. After another fault, the accounts may exist if the
 * failure came after the file was replaced. */
bool accounts_restore(const char *directory, const struct account *accounts, size_t count,
		      struct fault *fault);
/* Adds a recorder, and returns its secret, of which only the digest is kept. accounts: names, IDs
 * or access keys, separated by commas; NULL for all accounts. Fails with FAULT_BAD_REQUEST for an
 * invalid name, and FAULT_CONFLICT for a name in use. */
bool accounts_add_recorder(const char *directory, const struct clock *clock, const char *name,
			   const char *accounts, struct secret *secret, struct fault *fault);
/* Fails with FAULT_NOT_FOUND if there is no such recorder. */
bool accounts_remove_recorder(const char *directory, const char *name, struct fault *fault);
/* Reads the accounts, in order of creation. The caller calls roster_close. */
bool accounts_list(const char *directory, struct roster **roster, struct fault *fault);
/* Like roster_find, but returns NULL and sets FAULT_NOT_FOUND if there is none. */
const struct account *accounts_find(const struct roster *roster, const char *which,
				    struct fault *fault);
/* Copies an account with its secrets. Fails with FAULT_NOT_FOUND if there is none. */
bool accounts_get(const char *directory, const char *which, struct account *found,
		  struct fault *fault);

#endif
