/* The accounts file, DIR/accounts.json. The service checks it for changes on every request;
 * commands replace it, also while the service runs.
 *
 * Where the store is a database, the accounts are in it: `directory` of the commands is its URL
 * then.
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

/* No file means no accounts. FAULT_INTERNAL for a file that cannot be read. If other users have
 * access to the file, the log has a warning. */
bool accounts_open(const char *directory, struct accounts **accounts, struct fault *fault);
struct store;
/* The same of the accounts in a store that has them (store_has_roster). */
bool accounts_open_stored(struct store *store, struct accounts **accounts, struct fault *fault);
/* All rosters must have been released. */
void accounts_close(struct accounts *accounts);

/* The current accounts, including the change of any command that returned before this call. Costs
 * an fstat(2), and reading the file when it has changed. Accounts in a store are those that the
 * last transaction of this process saw; a transaction that is told their generation
 * (store_set_roster) finds out whether they are the current ones. If the file cannot be read or is
 * gone, the accounts stay as they were, and the log says so once per state of the file. Never NULL.
 * The roster must be released, and its accounts live until then. */
const struct roster *accounts_current(struct accounts *accounts);
/* Asks the store for a change that no transaction of this process has brought along yet: before a
 * token is refused. *has_changed: there was one, and *roster was released and is the current one
 * now. A file needs no such question. False: the store does not say; FAULT_UNAVAILABLE, or as
 * accounts_open. */
bool accounts_look(struct accounts *accounts, const struct roster **roster, bool *has_changed,
		   struct fault *fault);
void accounts_release(struct accounts *accounts, const struct roster *roster);

/* ---- for the command line ---- */

/* These functions return when the change is on the disk. `which` is an account as in roster_find:
 * FAULT_NOT_FOUND when there is none. *changed (which may be NULL) is the account after the change,
 * with its secrets. FAULT_INTERNAL with a cause when the file cannot be read or written. */

/* FAULT_BAD_REQUEST for an invalid name, FAULT_CONFLICT for a name in use. */
bool accounts_add(const char *directory, const struct clock *clock, const char *name,
		  struct account *changed, struct fault *fault);
bool accounts_set_enabled(const char *directory, const char *which, bool is_enabled,
			  struct account *changed, struct fault *fault);
/* FAULT_BAD_REQUEST when the account cannot have this (account_set). */
bool accounts_set(const char *directory, const char *which, struct slice name, struct slice value,
		  struct account *changed, struct fault *fault);
/* Removes the account; its records are the caller's. FAULT_CONFLICT when it is enabled. */
bool accounts_remove(const char *directory, const struct id *id, struct fault *fault);
/* Begins a rotation: adds a second secret. FAULT_CONFLICT when there are two. */
bool accounts_rotate(const char *directory, const struct clock *clock, const char *which,
		     struct account *changed, struct fault *fault);
/* Ends a rotation: removes the older secret. FAULT_CONFLICT when there is one. */
bool accounts_finish(const char *directory, const char *which, struct account *changed,
		     struct fault *fault);
/* Adds accounts with all their members, secrets included; all or none. FAULT_CONFLICT when an id, a
 * name or an access key is in use. After another fault the accounts may exist, if the failure came
 * after the file was replaced. */
bool accounts_restore(const char *directory, const struct account *accounts, size_t count,
		      struct fault *fault);
/* The accounts in order of creation; the caller calls roster_close. */
bool accounts_list(const char *directory, struct roster **roster, struct fault *fault);
/* As roster_find; NULL and FAULT_NOT_FOUND when there is none. */
const struct account *accounts_find(const struct roster *roster, const char *which,
				    struct fault *fault);
/* A copy of one account, with its secrets. FAULT_NOT_FOUND when there is none. */
bool accounts_get(const char *directory, const char *which, struct account *found,
		  struct fault *fault);

#endif
