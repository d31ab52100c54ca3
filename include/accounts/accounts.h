/* The accounts file, DIR/accounts.json (decisions.md section 3). The service looks at it on every
 * request; the command line replaces it, also while the service runs.
 *
 * The file is only ever replaced as a whole, by rename, so whoever opens it sees one state. Commands
 * take turns by a lock on DIR/accounts.lock. Both files are 0600 and belong to the owner and group of
 * the directory, whoever ran the command.
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

/* Without a file there are no accounts. A file that cannot be read is FAULT_INTERNAL here. A file that other
 * users than its owner may use is read, and the log has a warning. */
bool accounts_open(const char *directory, struct accounts **accounts, struct fault *fault);
/* All rosters have been released. */
void accounts_close(struct accounts *accounts);

/* The accounts as the file has them now: a command that returned before this call is seen. Costs an
 * fstat(2), and a reading when the file is another one. A file that cannot be read, or is gone, leaves
 * the accounts as they were, and the log says so once for each such file. Never NULL; each one has
 * to be released, and its accounts live no longer than that. */
const struct roster *accounts_current(struct accounts *accounts);
void accounts_release(struct accounts *accounts, const struct roster *roster);

/* ---- for the command line ---- */

/* These return when the change is on disk. `which` names the account as roster_find has it:
 * FAULT_NOT_FOUND when there is none. *changed (which may be NULL) is the account as it is now, its
 * secrets included. FAULT_INTERNAL with a cause when the file cannot be read or written. */

/* FAULT_BAD_REQUEST: a name that is not allowed. FAULT_CONFLICT: one that is taken. */
bool accounts_add(const char *directory, const struct clock *clock, const char *name,
		  struct account *changed, struct fault *fault);
bool accounts_set_enabled(const char *directory, const char *which, bool is_enabled,
			  struct account *changed, struct fault *fault);
/* Begins a rotation: a second secret, the younger. FAULT_CONFLICT when there are two already. */
bool accounts_rotate(const char *directory, const struct clock *clock, const char *which,
		     struct account *changed, struct fault *fault);
/* Ends it: the older one is retired. FAULT_CONFLICT when there is but one. */
bool accounts_finish(const char *directory, const char *which, struct account *changed,
		     struct fault *fault);
/* Adds accounts as they are, secrets included: all, or none when an id, a name or an access key is
 * taken (FAULT_CONFLICT). After another fault they may be there all the same, when what failed came
 * after the file was replaced. */
bool accounts_restore(const char *directory, const struct account *accounts, size_t count,
		      struct fault *fault);
/* The accounts in the order of their making; given back with roster_close. */
bool accounts_list(const char *directory, struct roster **roster, struct fault *fault);
/* The account in it that has this name, id or access key; NULL and FAULT_NOT_FOUND when none has. */
const struct account *accounts_find(const struct roster *roster, const char *which,
				    struct fault *fault);

#endif
