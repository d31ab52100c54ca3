/* The form of records.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kit.h"
#include "records/form.h"

/* ---- the form ---- */

struct formed_item {
	struct id one;
	uint64_t more;
};
struct formed {
	struct store_record stored;
	struct id id;
	struct slice text, other;
	uint64_t count, later;
	unsigned set, pick;
	struct formed_item *items;
	size_t item_count;
};

static const struct store_kind formed_kind = { .letter = 'F', .name = "formed" };
static const struct store_kind paged_kind = { .letter = 'F', .name = "formed", .has_pages = true };
static const struct store_kind second_kind = { .letter = 'S', .name = "second" };
static const char *const picks[] = { "first", "second", "third" };
static const char *const swapped_picks[] = { "second", "first", "third" };

#define FORM_ID \
	{ \
		"id", AS_KEY, AT(struct formed, stored.id) \
	}
#define FORM_TEXT \
	{ \
		"text", AS_TEXT(0, 10), AT(struct formed, text) \
	}
#define FORM_COUNT \
	{ \
		"count", AS_NUMBER(8, 0, 100), AT(struct formed, count) \
	}
#define FORM_SET \
	{ \
		"set", AS_NUMBER(4, 0, 3), AT(struct formed, set) \
	}
#define FORM_PICK(last_, names_) \
	{ \
		"pick", AS_CHOICE(last_, names_), AT(struct formed, pick) \
	}
#define FORM_ITEMS(table_) \
	{ \
		"items", AS_LIST(struct formed, item_count, 9, table_), AT(struct formed, items) \
	}
#define FORM_WHEN \
	{ \
		"other", AS_TEXT(0, 10), WHEN(1), AT(struct formed, other) \
	}
#define FORM_LATER AS_NUMBER(8, 0, UNLIMITED), AT(struct formed, later)

static const struct member few_members[] = { { "one", AS_ID, AT(struct formed_item, one) } };
static const struct member more_members[] = {
	{ "one", AS_ID, AT(struct formed_item, one) },
	{ "more", AS_NUMBER(8, 0, UNLIMITED), SINCE(2), AT(struct formed_item, more) },
};
static const struct record_table few_table = { ITEMS(struct formed_item, few_members) };
static const struct record_table more_table = { ITEMS(struct formed_item, more_members) };

/* Each array has its rows and the table of a form. */
#define FORMED(name_, kind_, version_, ...) \
	static const struct member name_##_members[] = { __VA_ARGS__ }; \
	static const struct record_table name_ = { \
		RECORD(struct formed, name_##_members, 1, &(kind_)), \
		.set = offsetof(struct formed, set), \
		VERSION(version_), \
	}
FORMED(plain_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(limits_form, formed_kind, 1, FORM_ID,
       { "text", AS_TEXT(3, 2000), MARKED(MEMBER_ABSENT), AT(struct formed, text) },
       { "count", AS_NUMBER(8, 10, 20), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       { "items", AS_LIST(struct formed, item_count, 7, few_table), AT(struct formed, items) },
       FORM_WHEN);
FORMED(end_form, formed_kind, 2, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", SINCE(2), FORM_LATER });
FORMED(middle_form, formed_kind, 2, FORM_ID, FORM_TEXT, { "later", SINCE(2), FORM_LATER },
       FORM_COUNT, FORM_SET, FORM_PICK(1, picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(items_form, formed_kind, 2, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(more_table), FORM_WHEN);
FORMED(required_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", FORM_LATER });
FORMED(bit_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", WHEN(2), FORM_LATER });
FORMED(used_bit_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN, { "later", WHEN(1), FORM_LATER });
FORMED(picks_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(2, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(swapped_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET,
       FORM_PICK(1, swapped_picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(name_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "counted", AS_NUMBER(8, 0, 100), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(type_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "count", AS_TIME, AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(width_form, formed_kind, 1, FORM_ID, FORM_TEXT,
       { "count", AS_NUMBER(2, 0, 100), AT(struct formed, count) }, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(order_form, formed_kind, 1, FORM_ID, FORM_COUNT, FORM_TEXT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(derived_form, formed_kind, 1, FORM_ID,
       { "text", AS_TEXT(0, 10), MARKED(MEMBER_DERIVED), AT(struct formed, text) }, FORM_COUNT,
       FORM_SET, FORM_PICK(1, picks), FORM_ITEMS(few_table), FORM_WHEN);
FORMED(fewer_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table));
FORMED(without_form, formed_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT);
FORMED(paged_form, paged_kind, 1, FORM_ID, FORM_TEXT, FORM_COUNT, FORM_SET, FORM_PICK(1, picks),
       FORM_ITEMS(few_table), FORM_WHEN);
FORMED(second_form, second_kind, 1, FORM_ID);

/* What a program with the tables `present` says of data whose form was made from `kept`. */
static const struct {
	const char *what;
	const struct record_table *kept[2], *present[2];
	enum store_form_match match;
} form_rows[] = {
#define ROW(what_, kept_, present_, match_) \
	{ \
		what_, { &(kept_) }, { &(present_) }, STORE_FORM_##match_ \
	}
	ROW("nothing", plain_form, plain_form, SAME),
	ROW("limits", plain_form, limits_form, SAME),
	ROW("a row at the end", plain_form, end_form, EARLIER),
	ROW("a row at the end, before", end_form, plain_form, NEWER),
	ROW("a row in the middle", plain_form, middle_form, EARLIER),
	ROW("a row in the middle, before", middle_form, plain_form, NEWER),
	ROW("the place of a later row", middle_form, end_form, OTHER),
	ROW("a row of items", plain_form, items_form, EARLIER),
	ROW("a row of items, before", items_form, plain_form, NEWER),
	ROW("a row that older records would have to have", plain_form, required_form, OTHER),
	ROW("a row of a new bit", plain_form, bit_form, EARLIER),
	ROW("a row of a new bit, before", bit_form, plain_form, NEWER),
	ROW("a row of the first bit", fewer_form, plain_form, EARLIER),
	ROW("a row of a bit in use", plain_form, used_bit_form, OTHER),
	ROW("rows that are gone", plain_form, without_form, NEWER),
	ROW("rows that were added", without_form, plain_form, OTHER),
	ROW("a name of a choice", plain_form, picks_form, EARLIER),
	ROW("a name of a choice, before", picks_form, plain_form, NEWER),
	ROW("the order of names", plain_form, swapped_form, OTHER),
	ROW("the name of a row", plain_form, name_form, OTHER),
	ROW("a type", plain_form, type_form, OTHER),
	ROW("a width", plain_form, width_form, OTHER),
	ROW("the order of rows", plain_form, order_form, OTHER),
	ROW("whether a dump has it", plain_form, derived_form, OTHER),
	ROW("pages of a kind", plain_form, paged_form, OTHER),
#undef ROW
	{ "a kind", { &plain_form }, { &plain_form, &second_form }, STORE_FORM_EARLIER },
	{ "a kind, before", { &plain_form, &second_form }, { &plain_form }, STORE_FORM_NEWER },
	{ "a kind and a type", { &plain_form, &second_form }, { &type_form }, STORE_FORM_OTHER },
};

static size_t tables_of(const struct record_table *const tables[2])
{
	return tables[1] == NULL ? 1 : 2;
}

START_TEST(a_form_says_what_can_be_read)
{
	const struct slice kept = form_text(arena, form_rows[_i].kept,
					    tables_of(form_rows[_i].kept));
	const enum store_form_match match = form_compare(form_rows[_i].present,
							 tables_of(form_rows[_i].present), kept);

	ck_assert_msg(match == form_rows[_i].match, "%s: %d, expected %d, %.*s", form_rows[_i].what,
		      (int)match, (int)form_rows[_i].match, (int)kept.size, kept.data);
}
END_TEST

START_TEST(a_text_that_is_no_form_is_another_one)
{
	static const char *const texts[] = {
		"",
		"F",
		"F=1",
		"F=1:",
		"F=:00000000",
		"F=x:00000000",
		"F=-1:00000000",
		"F=1:0000000",
		"F=1:0000000g",
		" ",
	};
	const struct record_table *const tables[] = { &plain_form };

	for (size_t i = 0; i < ROWS(texts); i++)
		ck_assert_msg(form_compare(tables, 1, slice_of(texts[i])) == STORE_FORM_OTHER,
			      "\"%s\"", texts[i]);
}
END_TEST

/* A program that was running when a newer one began to write. */
START_TEST(a_record_of_a_later_version_says_so)
{
	struct formed record = { .later = 7 };
	struct buffer value = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;

	record_pack(&end_form, &record, &value);
	record.stored.value = buffer_slice(&value);
	ck_assert(!record_read(&plain_form, arena, &record.stored, &(struct formed){ .set = 0 },
			       &fault));
	ck_assert_int_eq(fault.kind, FAULT_DAMAGED);
	ck_assert_str_eq(fault_reason(&fault),
			 "The formed was written by a newer version of Anteroom");
}
END_TEST

/* A row may be added to a table of which lists read only the first text. */
static const struct {
	const struct record_table *stored, *read;
	bool is_read;
} first_texts[] = {
	{ &plain_form, &plain_form, true },
	{ &plain_form, &end_form, true },
	{ &end_form, &end_form, true },
	{ &end_form, &plain_form, false },
};

START_TEST(the_first_text_is_read_of_each_known_version)
{
	const struct formed record = { .text = SLICE("text"), .later = 7 };
	struct buffer value = BUFFER_INITIAL(arena);
	struct slice text;
	bool is_read;

	record_pack(first_texts[_i].stored, &record, &value);
	is_read = record_first_text(first_texts[_i].read, buffer_slice(&value), &text);
	ck_assert_int_eq(is_read, first_texts[_i].is_read);
	ck_assert(!is_read || slice_is(text, "text"));
}
END_TEST

void add_form(TCase *form)
{
	tcase_add_loop_test(form, a_form_says_what_can_be_read, 0, ROWS(form_rows));
	tcase_add_test(form, a_text_that_is_no_form_is_another_one);
	tcase_add_test(form, a_record_of_a_later_version_says_so);
	tcase_add_loop_test(form, the_first_text_is_read_of_each_known_version, 0,
			    ROWS(first_texts));
}
