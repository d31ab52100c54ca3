/* See resources/reads.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/reads.h"

#include <assert.h>

#include "accounts/token.h"
#include "base/text.h"
#include "resources/code_typed.h"
#include "records/kinds.h"

#define EXPECTED_MOST 14
#define NONE SIZE_MAX

/* The number of items for each code, and which of them is the code itself. */
#define CODE_ITEMS 4
#define CODE_ITEM 1

/* The list for store_expect. */
struct expected {
	struct call *call;
	enum store_reading reading; /* of rows that are not read to show */
	struct store_expected items[EXPECTED_MOST];
	size_t n;
	size_t last; /* the item of the preceding row; NONE if that was skipped */
	size_t codes, code_count; /* the first item of the codes, and the number of codes */
};

static struct store_expected *expected_add(struct expected *expected, const struct store_kind *kind,
					   enum store_finding finding, enum store_reading reading)
{
	struct store_expected *item = &expected->items[expected->n];

	assert(expected->n < EXPECTED_MOST);
	*item = (struct store_expected){ .kind = kind, .finding = finding, .reading = reading };
	expected->last = expected->n++;
	return item;
}

static struct slice source_text(const struct call *call, const struct read *read)
{
	switch (read->from) {
	case READ_PATH:
		return call->parameters[0];
	case READ_BODY:
		return text_of_json(call_member(call, read->member));
	case READ_QUERY:
		return call_query_text(call, read->member);
	case READ_TOKEN:
		/* A route may have a management token instead. */
		return call->app_token != NULL ? call->app_token->subject.room_id
					       : (struct slice){ NULL, 0 };
	case READ_ENTRY:
		return call->app_token->subject.entry.size > STORE_NAME_MAX
			       ? (struct slice){ NULL, 0 }
			       : call->app_token->subject.entry;
	case READ_KEY:
		return call->idempotency_key;
	case READ_ACCOUNT:
		break;
	}
	return (struct slice){ NULL, 0 };
}

/* Returns an id in the arena, or NULL if there is none. */
static const struct id *source_id(struct call *call, const struct read *read)
{
	struct id *id;

	if (read->from == READ_ACCOUNT)
		return &kind_only_id;
	id = arena_alloc(call->arena, sizeof *id);
	return id_parse(source_text(call, read), id) ? id : NULL;
}

static struct slice source_name(struct call *call, const struct read *read)
{
	const struct slice name = source_text(call, read);

	return read->is_lower && name.data != NULL ? text_lower(call->arena, name) : name;
}

/* A write that changes a code and what the codes of its room share locks the room first; an
 * exchange locks only the code. */
static void expected_add_code(struct expected *expected, struct slice letters,
			      enum store_reading reading, enum store_reading of_room)
{
	const size_t room = expected->n, code = room + CODE_ITEM;

	if (!code_can_be(letters))
		return;
	if (expected->code_count++ == 0)
		expected->codes = room;
	expected_add(expected, &kind_room, STORE_FIND_PARENT, of_room)->from = code;
	expected_add(expected, &kind_code, STORE_FIND_NAME, reading)->name = letters;
	expected_add(expected, &kind_template, STORE_FIND_PARENT, STORE_TO_SHOW)->from = room;
	expected_add(expected, &kind_codes, STORE_FIND_PARENT, of_room)->from = code;
}

static void expected_add_codes(struct expected *expected, const struct read *read,
			       enum store_reading reading)
{
	struct call *call = expected->call;
	const enum store_reading of_room = read->is_shown ? STORE_TO_SHOW : reading;
	const struct slice text = source_text(call, read);
	struct typed_code typed = { .code = text };

	if (read->is_typed)
		typed = code_typed(call->arena, text);
	if (typed.code.data != NULL)
		expected_add_code(expected, typed.code, reading, of_room);
	if (typed.grouped.data != NULL)
		expected_add_code(expected, typed.grouped, reading, of_room);
}

static void expected_add_page(struct expected *expected, const struct read *read,
			      const struct id *parent)
{
	struct call *call = expected->call;
	struct store_page *page = arena_zero(call->arena, sizeof *page);

	page->order = STORE_OLDEST_FIRST;
	page->side = read->side;
	page->parent = read->from == READ_ACCOUNT ? NULL : parent;
	page->most = read->most;
	if (read->page == NULL || read->page(call, page))
		expected_add(expected, read->kind, STORE_FIND_PAGE, STORE_TO_SHOW)->page = page;
}

static void expected_add_siblings(struct expected *expected, const struct read *read)
{
	struct store_page *page = arena_zero(expected->call->arena, sizeof *page);
	struct store_expected *item;

	*page = (struct store_page){ .order = STORE_OLDEST_FIRST,
				     .side = read->side,
				     .most = read->most };
	item = expected_add(expected, read->kind, STORE_FIND_SIBLINGS, STORE_TO_SHOW);
	item->from = expected->codes + CODE_ITEM;
	item->page = page;
}

/* Returns false if nothing is to be read, because the path or the token has no id. */
static bool expected_add_read(struct expected *expected, const struct read *read)
{
	struct call *call = expected->call;
	const enum store_reading reading = expected->reading;
	const size_t before = expected->last;
	const struct id *id = NULL;
	struct slice name;

	expected->last = NONE;
	if ((read->when != NULL && !read->when(call)) ||
	    (read->from == READ_ACCOUNT && read->member != NULL &&
	     call_member(call, read->member) == NULL) ||
	    (read->without != NULL && call_member(call, read->without) != NULL))
		return true;
	if (read->finding == STORE_FIND_ID || read->finding == STORE_FIND_CHILDREN ||
	    read->finding == STORE_FIND_PAGE) {
		id = source_id(call, read);
		if (id == NULL)
			return read->from != READ_PATH && read->from != READ_TOKEN;
	}
	switch (read->finding) {
	case STORE_FIND_ID:
		expected_add(expected, read->kind, STORE_FIND_ID,
			     read->is_shown ? STORE_TO_SHOW : reading)
			->id = id;
		break;
	case STORE_FIND_NAME:
		if (read->is_code) {
			expected_add_codes(expected, read, reading);
			break;
		}
		name = source_name(call, read);
		if (name.data != NULL)
			expected_add(expected, read->kind, STORE_FIND_NAME,
				     read->is_shown ? STORE_TO_SHOW : reading)
				->name = name;
		break;
	case STORE_FIND_PARENT:
	case STORE_FIND_VALUE:
		if (before != NONE)
			expected_add(expected, read->kind, read->finding, STORE_TO_SHOW)->from =
				before;
		break;
	case STORE_FIND_OWN:
		for (size_t i = 0; i < expected->code_count; i++) {
			struct store_expected *item = expected_add(expected, read->kind,
								   STORE_FIND_OWN, STORE_TO_SHOW);

			item->from = expected->codes + i * CODE_ITEMS + CODE_ITEM;
			item->id = &kind_only_id;
		}
		break;
	case STORE_FIND_SIBLINGS:
		/* Two codes are two rooms. */
		if (expected->code_count == 1)
			expected_add_siblings(expected, read);
		break;
	case STORE_FIND_PAGE:
		expected_add_page(expected, read, id);
		break;
	case STORE_FIND_CHILDREN:
		expected_add(expected, read->kind, STORE_FIND_CHILDREN, STORE_TO_SHOW)->id = id;
		break;
	case STORE_FIND_NEW_ID:
		expected_add(expected, read->kind, STORE_FIND_NEW_ID, STORE_TO_SHOW);
		break;
	}
	return true;
}

static bool expected_add_reads(struct expected *expected, const struct read *reads)
{
	for (; reads->kind != NULL; reads++) {
		if (!expected_add_read(expected, reads))
			return false;
	}
	return true;
}

enum store_reading load_reading(const struct call *call, const struct load *load)
{
	return call_is_writing(call) ? load->reading : STORE_TO_SHOW;
}

void reads_announce(struct call *call, const struct load *loads, const struct read *reads,
		    const struct read *of_key)
{
	struct expected expected;

	for (const struct load *load = loads; load != NULL && load->what != NULL; load++) {
		if (load->what->prepare != NULL)
			load->what->prepare(call);
	}
	if (!store_wants_expected(call->transaction))
		return;
	expected.call = call;
	expected.n = expected.code_count = 0;
	expected.last = NONE;
	for (const struct load *load = loads; load != NULL && load->what != NULL; load++) {
		expected.reading = load_reading(call, load);
		if (!expected_add_reads(&expected, load->what->reads))
			return;
	}
	expected.reading = call_reading(call);
	if ((reads != NULL && !expected_add_reads(&expected, reads)) || expected.n == 0)
		return;
	if (call->idempotency_key.data != NULL)
		(void)expected_add_reads(&expected, of_key);
	store_expect(call->transaction, expected.code_count == 1 ? STORE_CHAIN : STORE_EACH,
		     expected.items, expected.n);
}

bool loads_run(struct call *call, const struct load *loads, struct fault *fault)
{
	for (; loads != NULL && loads->what != NULL; loads++) {
		if (loads->what->load != NULL && !loads->what->load(call, loads, fault))
			return false;
		if (call->run.wants_write)
			break;
	}
	return true;
}

bool reads_of_bulk(struct call *part, const struct read *reads, struct store_expected *expected)
{
	for (; reads != NULL && reads->kind != NULL; reads++) {
		if (!reads->is_of_bulk)
			continue;
		*expected = (struct store_expected){
			.kind = reads->kind,
			.finding = STORE_FIND_NAME,
			.reading = STORE_TO_CHANGE,
			.name = source_name(part, reads),
		};
		return expected->name.data != NULL;
	}
	return false;
}
