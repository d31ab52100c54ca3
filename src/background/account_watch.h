/* Logs what the command line did to accounts: an account disabled or enabled, its secrets changed.
 * The log of each account records what was last seen of the account, so a change is logged once,
 * even if it was made while no service ran.
 *
 * One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BACKGROUND_ACCOUNT_WATCH_H
#define BACKGROUND_ACCOUNT_WATCH_H

#include "resources/call.h"
#include "background/lease.h"

struct account_watch;

struct account_watch *account_watch_open(const struct environment *environment);
void account_watch_close(struct account_watch *watch);

/* Compares the accounts with what was last seen of them, if they have changed since the last
 * call. */
void account_watch_compare(struct account_watch *watch, struct lease *lease);

#endif
