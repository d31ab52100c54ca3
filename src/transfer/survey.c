/* See transfer/survey.h. A transaction puts the values it gets into its arena, which everywhere else
 * lives as long as the transaction does. Here the two part: the transaction lies in one arena, and
 * is given another for its values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "transfer/survey.h"

#include "resources/account_record.h"
#include "rules/transfer_rules.h"
#include "store/sequence.h"

bool survey_open(struct store *store, const struct clock *clock, struct survey *survey,
		 struct fault *fault)
{
	struct call *call = &survey->call;

	schema_verify(&transfer_line_shape);
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
	id_print(account, survey->call.account_text);
}

void survey_forget(struct survey *survey)
{
	arena_reset(survey->call.arena);
	findings_open(&survey->call.findings, survey->call.arena);
}

/* ---- pages ---- */

struct side {
	struct sequence_walk walk;
	struct id next;
	bool has_next;
};

static bool begin(struct side *side, struct call *call, struct slice list, const struct id *below,
		  struct fault *fault)
{
	sequence_start(&side->walk, call->transaction, list, below);
	return sequence_next(&side->walk, &side->next, &side->has_next, fault);
}

static bool take(struct side *side, struct page *page, struct fault *fault)
{
	page->ids[page->count++] = side->next;
	return sequence_next(&side->walk, &side->next, &side->has_next, fault);
}

bool page_of_templates(struct call *call, const struct id *below, struct page *page,
		       struct fault *fault)
{
	struct side side;

	page->count = 0;
	if (!begin(&side, call, list_of_templates(call), below, fault))
		return false;
	while (side.has_next && page->count < PAGE_MOST) {
		if (!take(&side, page, fault))
			return false;
	}
	return true;
}

/* Enabled rooms and disabled ones are two lists. */
bool page_of_rooms(struct call *call, const struct id *below, struct page *page,
		   struct fault *fault)
{
	struct side on, off;

	page->count = 0;
	if (!begin(&on, call, list_of_rooms(call, true), below, fault) ||
	    !begin(&off, call, list_of_rooms(call, false), below, fault))
		return false;
	while ((on.has_next || off.has_next) && page->count < PAGE_MOST) {
		bool is_on = on.has_next && (!off.has_next || id_compare(&on.next, &off.next) > 0);

		if (!take(is_on ? &on : &off, page, fault))
			return false;
	}
	return true;
}
