/* See resources/code_words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/code_words.h"

#include "resources/kinds.h"
#include "resources/misses.h"
#include "resources/packed.h"

#define VERSION 1

bool words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
		struct fault *fault)
{
	struct store_record record;
	struct packed reader;

	if (!store_get_named(call->transaction, &kind_words, words, STORE_TO_SHOW, &record, fault))
		return false;
	*is_there = record.value.data != NULL;
	if (!*is_there)
		return true;
	*account = record.account;
	reader = (struct packed){ .rest = record.value };
	return (packed_number(&reader, 1) == VERSION && packed_ended(&reader)) ||
	       packed_damaged("words of a code of the account", id_slice(account), fault);
}

bool words_check_budget(const struct call *call, struct fault *fault)
{
	const unsigned seconds = misses_words_wait(call->environment->misses, &call->account,
						   clock_monotonic());

	if (seconds == 0)
		return true;
	fault_detail(fault, FAULT_TOO_MANY,
		     "too many codes of other accounts were asked for by this account");
	fault->retry_after = seconds;
	return false;
}

void words_count_miss(const struct call *call)
{
	misses_words_count(call->environment->misses, &call->account, clock_monotonic());
}

bool words_claim(struct call *call, struct slice words, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .name = words };

	packed_put_number(&value, VERSION, 1);
	record.value = buffer_slice(&value);
	return store_put(call->transaction, &kind_words, &record, NULL, fault);
}
