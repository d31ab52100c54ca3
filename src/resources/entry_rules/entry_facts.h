/* The facts that rules ask for and that cost a read. Each is read at most once for an entrant. If
 * one cannot be read, sets entrant->fault; the result does not matter then.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_ENTRY_RULES_ENTRY_FACTS_H
#define RESOURCES_ENTRY_RULES_ENTRY_FACTS_H

#include "resources/entry_rules/entrant.h"

/* Returns true if a ban keeps the person out of the room. Reads nothing if the account has no
 * bans, or if it is known from when the person came in. */
bool entrant_is_banned(struct entrant *entrant);
/* Returns true if the person was put out; sets entrant->revocation. */
bool entrant_was_removed(struct entrant *entrant);
/* Returns true if the door is locked, and the person was not inside in the session, and was not let
 * in; inside, if that was so when the person came in. */
bool entrant_is_locked_out(struct entrant *entrant);
/* Returns when the session has lasted for the room's longest duration, in milliseconds; INT64_MAX
 * if it may last for ever. */
int64_t entrant_longest_end(struct entrant *entrant);
/* Returns whether one more person fits. */
enum live_fit entrant_fit(struct entrant *entrant);
/* Returns true if the person's role has the permission; or, if the room is asked about, the role of
 * somebody inside. */
bool entrant_may(struct entrant *entrant, const char *permission);

#endif
