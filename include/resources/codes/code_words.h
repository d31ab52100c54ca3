/* Whose codes are when they are gone: no other account gets them by its own words or by an import,
 * so that a link that is about does not lead to strangers. Words that a client chooses (base/id.h)
 * have a record of their own, which says so for ever, from when they are chosen. Other codes have
 * it from when they are removed, and until their account has them again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODES_CODE_WORDS_H
#define RESOURCES_CODES_CODE_WORDS_H

#include "records/record.h"
#include "resources/call.h"

/* The name is the code; nothing else is stored. */
struct code_words {
	struct store_record stored;
	struct id account; /* in a dump alone */
};
extern const struct record_table code_words_table, code_words_asked_table;

/* *account: whose they are. *is_there false: they are nobody's, or a code has them. */
bool code_words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
		     struct fault *fault);

/* ---- codes of other accounts ----
 *
 * An account that has asked for 20 of them within 24 hours gets no code of its choice for 24 hours,
 * so that none finds out which codes there are. The count is a record of the account. */

/* FAULT_TOO_MANY while the account may not choose a code. */
bool code_words_check_budget(struct call *call, struct fault *fault);
/* Counts call->run.words_asked, in the transaction of the call. FAULT_TOO_MANY: another call has
 * used up the budget meanwhile. */
bool code_words_store_asked(struct call *call, struct fault *fault);
/* The same of a call that is refused, in a transaction of its own; then the answer waits for that
 * one. A fault is answered instead of the refusal: an uncounted call must not tell whether the code
 * is taken. */
bool code_words_count_refused(struct call *call, struct fault *fault);

/* ---- choosing, and keeping ---- */

/* Makes the words the account's of the call. The caller has looked whether they are free. */
bool code_words_claim(struct call *call, struct slice words, struct fault *fault);
/* A code of the account is removed now: it stays the account's. */
bool code_words_keep(struct call *call, struct slice letters, struct fault *fault);
/* The account makes a code with letters that are nobody's, or that were kept for it. */
bool code_words_release(struct call *call, struct slice letters, struct fault *fault);

#endif
