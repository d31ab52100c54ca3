/* Reserves codes for their account after they are removed: no other account can get them as custom
 * codes or by an import, so that an old link does not lead to strangers. A custom code (base/id.h)
 * is reserved from the start, for ever, by a record of its own. A generated code has this record
 * from its removal until its account uses the code again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_CODE_WORDS_H
#define RESOURCES_STORED_CODE_WORDS_H

#include "records/record.h"
#include "resources/call.h"

/* Its name is the code; nothing else is stored. */
struct code_words {
	struct store_record stored;
	struct id account; /* only in a dump */
};
extern const struct record_table code_words_table, code_words_asked_table;

/* Sets *account to the account that a code is reserved for. Sets *is_there to false if it is not
 * reserved, which includes generated codes that exist. */
bool code_words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
		     struct fault *fault);

/* ---- codes of other accounts ----
 *
 * An account that has requested 20 codes of other accounts within 24 hours cannot choose codes for
 * 24 hours, so that it cannot find out which codes exist. The count is a record of the account. */

/* Sets FAULT_TOO_MANY while the account may not choose codes. */
bool code_words_check_budget(struct call *call, struct fault *fault);
/* Counts call->run.words_asked in the transaction of the call. Sets FAULT_TOO_MANY if another
 * request has used up the budget since the check. */
bool code_words_store_asked(struct call *call, struct fault *fault);
/* Does the same for a rejected call, in a transaction of its own, which the response then waits
 * for. A fault replaces the rejection: a request that was not counted must not reveal whether the
 * code is taken. */
bool code_words_count_refused(struct call *call, struct fault *fault);

/* ---- choosing and reserving ---- */

/* Reserves a custom code for the account of the call. The caller has checked that it is free. */
bool code_words_claim(struct call *call, struct slice words, struct fault *fault);
/* Reserves a code of the account that is being removed. */
bool code_words_keep(struct call *call, struct slice letters, struct fault *fault);
/* Ends the reservation of a generated code, if there is one, because the account creates it again.
 * */
bool code_words_release(struct call *call, struct slice letters, struct fault *fault);

#endif
