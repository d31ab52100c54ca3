/* See resources/codes/code_words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/code_words.h"

#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1
#define WORDS_MOST 20
#define WORDS_DAY (24 * 60 * 60 * (int64_t)1000)
/* How often a store may say that the count has to be written again. */
#define WORDS_AGAIN_MOST 10

bool code_words_find(struct call *call, struct slice words, struct id *account, bool *is_there,
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
	reader = packed_open(record.value, VERSION);
	return packed_close(&reader, "words of a code of the account", account, fault);
}

/* ---- codes of other accounts ---- */

/* Times in milliseconds since 1970. */
struct asked {
	uint32_t count;
	int64_t began; /* time of the first counted request */
	int64_t refused_until; /* 0: not refused */
	struct store_record stored;
};

static bool read_asked(const struct store_record *stored, struct asked *asked, struct fault *fault)
{
	struct packed reader = packed_open(stored->value, VERSION);

	*asked = (struct asked){ .stored = *stored };
	if (stored->value.data == NULL)
		return true;
	asked->count = (uint32_t)packed_number(&reader, 4);
	asked->began = (int64_t)packed_number(&reader, 8);
	asked->refused_until = (int64_t)packed_number(&reader, 8);
	return packed_close(&reader, "words asked for by the account", &stored->account, fault);
}

bool code_words_check_asked(const struct store_record *stored, struct fault *fault)
{
	struct asked asked;

	return read_asked(stored, &asked, fault);
}

/* Whether the account may choose a code. */
static bool check(struct call *call, enum store_reading reading, struct asked *asked,
		  struct fault *fault)
{
	struct store_record stored;

	if (!store_get(call->transaction, &kind_words_asked, &kind_only_id, reading, &stored,
		       fault) ||
	    !read_asked(&stored, asked, fault))
		return false;
	if (asked->refused_until > call->now) {
		fault_detail(fault, FAULT_TOO_MANY,
			     "too many codes of other accounts were asked for by this account");
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

	if (!check(call, STORE_TO_SHOW, &asked, fault))
		return false;
	if (asked.count + call->run.words_asked < WORDS_MOST)
		return true;
	/* This call alone has used it up. */
	fault_detail(fault, FAULT_TOO_MANY,
		     "too many codes of other accounts were asked for by this account");
	fault->retry_after = (unsigned)(WORDS_DAY / 1000);
	return false;
}

bool code_words_store_asked(struct call *call, struct fault *fault)
{
	struct store_record record = { .id = kind_only_id };
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct asked asked;

	if (call->run.words_asked == 0)
		return true;
	if (!check(call, STORE_TO_CHANGE, &asked, fault))
		return false;
	asked.count += call->run.words_asked;
	if (asked.count >= WORDS_MOST)
		asked.refused_until = call->now + WORDS_DAY;
	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, asked.count, 4);
	packed_put_number(&value, (uint64_t)asked.began, 8);
	packed_put_number(&value, (uint64_t)asked.refused_until, 8);
	return packed_store(call->transaction, &kind_words_asked, &record, &value, &asked.stored,
			    fault);
}

static bool count_once(struct call *call, struct fault *fault)
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
	while (!count_once(call, fault)) {
		if (fault->kind != FAULT_AGAIN || ++agains == WORDS_AGAIN_MOST)
			return false;
		*fault = FAULT_INITIAL;
	}
	return true;
}

/* ---- choosing, and keeping ---- */

bool code_words_claim(struct call *call, struct slice words, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .name = words };

	packed_put_number(&value, VERSION, 1);
	return packed_store(call->transaction, &kind_words, &record, &value, NULL, fault);
}

bool code_words_keep(struct call *call, struct slice letters, struct fault *fault)
{
	/* Chosen words have their record already. */
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
