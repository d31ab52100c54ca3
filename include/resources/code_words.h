/* Words that clients choose for codes (base/id.h). Each is a record of its own, which says whose they
 * are for ever: no other account gets them when the code and its room are gone, so that a link that is
 * about does not lead to strangers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODE_WORDS_H
#define RESOURCES_CODE_WORDS_H

#include "resources/call.h"

/* *account: whose they are. *is_there false: no account has chosen them. */
bool words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
		struct fault *fault);
/* FAULT_TOO_MANY while the account has asked for too many codes of other accounts. */
bool words_check_budget(const struct call *call, struct fault *fault);
/* Counts that it asked for one. */
void words_count_miss(const struct call *call);
/* They become the call's account's. The caller has looked for them. */
bool words_claim(struct call *call, struct slice words, struct fault *fault);

#endif
