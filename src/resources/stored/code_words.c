/* See resources/stored/code_words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/code_words.h"

#include "records/kinds.h"
#include "records/record.h"

#define WORDS_MOST 20
#define WORDS_DAY (24 * 60 * 60 * (int64_t)1000)
/* How many times the count is tried again if the store asks for it. */
#define WORDS_AGAIN_MOST 10

static const struct member words_members[] = {
	{ "words", AS_NAME, AT(struct code_words, stored.name) },
	{ "account", AS_ID, IN_A_DUMP_ALONE, AT(struct code_words, account) },
};
const struct record_table code_words_table = {
	RECORD(struct code_words, words_members, 1, &kind_words),
};

bool code_words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
		     struct fault *fault)
{
	struct code_words found;

	if (!record_get_named(&code_words_table, call->transaction, words, STORE_TO_SHOW, &found,
			      fault))
		return false;
	*is_there = found.stored.value.data != NULL;
	*account = found.stored.account;
	return true;
}

/* ---- codes of other accounts ---- */

/* Times in milliseconds since 1970. */
struct asked {
	uint32_t count;
	int64_t began; /* time of the first counted request */
	int64_t refused_until; /* 0: not refused */
	struct store_record stored;
};

static const struct member asked_members[] = {
	{ "count", AS_NUMBER(4, 0, UINT32_MAX), AT(struct asked, count) },
	{ "began", AS_TIME, AT(struct asked, began) },
	{ "refused_until", AS_TIME, MARKED(MEMBER_ABSENT), AT(struct asked, refused_until) },
};
const struct record_table code_words_asked_table = {
	RECORD(struct asked, asked_members, 0, &kind_words_asked),
};

/* Loads the count, and checks that the account may choose a code. */
static bool check_asked(struct call *call, enum store_reading reading, struct asked *asked,
			struct fault *fault)
{
	if (!record_get(&code_words_asked_table, call->transaction, &kind_only_id, reading, asked,
			fault))
		return false;
	if (asked->refused_until > call->now) {
		fault_detail(
			fault, FAULT_TOO_MANY,
			"this account has requested too many codes that belong to other accounts");
		fault->retry_after = (unsigned)((asked->refused_until - call->now + 999) / 1000);
		return false;
	}
	if (asked->refused_until != 0 || call->now - asked->began >= WORDS_DAY) {
		asked->count = 0;
		asked->began = call->now;
		asked->refused_until = 0;
	}
	return true;
}

bool code_words_check_budget(struct call *call, struct fault *fault)
{
	struct asked asked;

	if (!check_asked(call, STORE_TO_SHOW, &asked, fault))
		return false;
	if (asked.count + call->run.words_asked < WORDS_MOST)
		return true;
	/* This request alone has used up the budget. */
	fault_detail(fault, FAULT_TOO_MANY,
		     "this account has requested too many codes that belong to other accounts");
	fault->retry_after = (unsigned)(WORDS_DAY / 1000);
	return false;
}

bool code_words_store_asked(struct call *call, struct fault *fault)
{
	struct asked asked;

	if (call->run.words_asked == 0)
		return true;
	if (!check_asked(call, STORE_TO_CHANGE, &asked, fault))
		return false;
	asked.count += call->run.words_asked;
	if (asked.count >= WORDS_MOST)
		asked.refused_until = call->now + WORDS_DAY;
	return record_put(&code_words_asked_table, call->transaction, &asked, fault);
}

static bool count_words_once(struct call *call, struct fault *fault)
{
	if (!store_begin(call->environment->store, STORE_WRITE, call->arena, &call->transaction,
			 fault))
		return false;
	call_set_account(call);
	if (code_words_store_asked(call, fault))
		return store_commit(call->transaction, &call->answer.awaited, fault);
	call->answer.awaited = store_seen(call->transaction);
	store_abandon(call->transaction);
	return false;
}

bool code_words_count_refused(struct call *call, struct fault *fault)
{
	unsigned agains = 0;

	if (call->run.words_asked == 0)
		return true;
	while (!count_words_once(call, fault)) {
		if (fault->kind != FAULT_AGAIN || ++agains == WORDS_AGAIN_MOST)
			return false;
		*fault = FAULT_INITIAL;
	}
	return true;
}

/* ---- choosing and reserving ---- */

bool code_words_claim(struct call *call, struct slice words, struct fault *fault)
{
	const struct code_words claimed = { .stored.name = words };

	return record_put(&code_words_table, call->transaction, &claimed, fault);
}

bool code_words_keep(struct call *call, struct slice letters, struct fault *fault)
{
	/* Custom codes have this record from the start. */
	return code_is_words(letters) || code_words_claim(call, letters, fault);
}

bool code_words_release(struct call *call, struct slice letters, struct fault *fault)
{
	struct store_record record;

	if (code_is_words(letters))
		return true;
	if (!store_get_named(call->transaction, &kind_words, letters, STORE_TO_CHANGE, &record,
			     fault))
		return false;
	return record.value.data == NULL ||
	       store_remove(call->transaction, &kind_words, &record, fault);
}
