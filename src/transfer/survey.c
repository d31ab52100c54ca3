/* See transfer/survey.h. A transaction allocates values from its arena. Elsewhere this arena lives
 * as long as the transaction. Here the transaction is allocated from one arena and uses another for
 * its values, which can be reset.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/survey.h"

#include "resources/record_kind.h"

bool survey_open(struct store *store, const struct clock *clock, struct survey *survey,
		 struct fault *fault)
{
	struct call *call = &survey->call;

	record_kinds_verify();
	*survey = (struct survey){ .environment = { .clock = clock, .store = store } };
	survey->lasting = arena_open();
	if (!store_begin(store, STORE_READ, survey->lasting, &call->transaction, fault)) {
		arena_close(survey->lasting);
		return false;
	}
	call->environment = &survey->environment;
	call->now = clock_now(clock);
	call->arena = call->transaction->arena = arena_open();
	arena_set_limit(call->arena, SURVEY_ARENA_MOST);
	survey_forget(survey);
	return true;
}

void survey_close(struct survey *survey)
{
	store_abandon(survey->call.transaction);
	arena_close(survey->call.arena);
	arena_close(survey->lasting);
}

void survey_of_account(struct survey *survey, const struct id *account)
{
	survey->call.account = *account;
	call_set_account(&survey->call);
}

void survey_forget(struct survey *survey)
{
	arena_reset(survey->call.arena);
	survey->call.run = (struct run){ 0 };
	findings_open(&survey->call.findings, survey->call.arena);
}
