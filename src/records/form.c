/* See records/form.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/form.h"

#include <assert.h>

#include "base/checksum.h"
#include "base/text.h"

#define SUM_DIGITS 8

struct form_row {
	const char *name; /* with the names of the lists that it is in: "stays/peer_id" */
	const struct record_table *table;
	const struct member *member;
	unsigned since; /* the later one of its own and that of the list that it is in */
	struct slice summed;
};

/* A kind, or the names of a choice. */
struct form_part {
	const char *tag;
	uint32_t begins; /* the sum of what precedes the rows */
	bool is_choice;
	struct form_row *rows;
	size_t count;
};

struct form {
	struct arena *arena;
	struct form_part *parts;
	size_t count;
};

/* ---- rows ---- */

/* The names are part of each kept form, and never change. */
static const char *const type_names[] = {
	[MEMBER_KEY] = "key",	      [MEMBER_PARENT] = "parent", [MEMBER_SWITCH] = "switch",
	[MEMBER_NAME] = "name",	      [MEMBER_NUMBER] = "number", [MEMBER_TIME] = "time",
	[MEMBER_SECONDS] = "seconds", [MEMBER_ETAG] = "etag",	  [MEMBER_BOOLEAN] = "boolean",
	[MEMBER_CHOICE] = "choice",   [MEMBER_ID] = "id",	  [MEMBER_FIXED] = "fixed",
	[MEMBER_TEXT] = "text",	      [MEMBER_BYTES] = "bytes",	  [MEMBER_JSON] = "json",
	[MEMBER_PART] = "part",	      [MEMBER_LIST] = "list",	  [MEMBER_ARRAY] = "array",
};

static size_t count_rows(const struct record_table *table)
{
	size_t count = table->member_count;

	for (size_t i = 0; i < table->member_count; i++) {
		if (table->members[i].items != NULL)
			count += count_rows(table->members[i].items);
	}
	return count;
}

/* Appends the rows in the order in which they are stored. */
static void gather_rows(struct arena *arena, const struct record_table *table, const char *before,
			unsigned since, struct form_part *part)
{
	for (size_t i = 0; i < table->member_count; i++) {
		const struct member *member = &table->members[i];
		struct form_row *row = &part->rows[part->count++];

		*row = (struct form_row){
			.name = arena_text(arena, "%s%s", before, member->name),
			.table = table,
			.member = member,
			.since = member->since > since ? member->since : since,
		};
		if (member->items != NULL)
			gather_rows(arena, member->items, arena_text(arena, "%s/", row->name),
				    row->since, part);
	}
}

static uint32_t sum_rows(const struct form_part *part, size_t n)
{
	uint32_t sum = part->begins;

	for (size_t i = 0; i < n; i++)
		sum = checksum(sum, part->rows[i].summed.data, part->rows[i].summed.size);
	return sum;
}

/* Returns whether a record can be read that was stored when the table had only the rows before this
 * one. */
static bool is_optional(const struct form_part *part, size_t place)
{
	const struct form_row *row = &part->rows[place];

	if (part->is_choice || place == 0 || row->since > part->rows[place - 1].since)
		return true;
	if (row->member->when == 0)
		return false;
	for (size_t i = 0; i < place; i++) {
		if (part->rows[i].table == row->table &&
		    (part->rows[i].member->when & row->member->when & ~NOT_STORED) != 0)
			return false;
	}
	return true;
}

/* ---- parts ---- */

static struct form_part *add_part(struct form *form, const char *tag)
{
	struct form_part *part = &form->parts[form->count++];

	*part = (struct form_part){ .tag = tag };
	return part;
}

static void add_choice(struct form *form, const struct form_part *of, const struct form_row *row)
{
	const struct member *member = row->member;
	struct form_part *part = add_part(form,
					  arena_text(form->arena, "%s/%s", of->tag, row->name));
	const size_t count = (size_t)member->most + 1;

	part->is_choice = true;
	part->rows = arena_zero(form->arena, count * sizeof *part->rows);
	for (; part->count < count; part->count++)
		part->rows[part->count].summed =
			slice_of(arena_text(form->arena, "%s\n", member->names[part->count]));
}

static void add_kind(struct form *form, const struct record_table *table)
{
	const struct store_kind *kind = table->kind;
	const char letter[] = { kind->letter, '\0' };
	const char *head = arena_text(form->arena, "%s %d %d %d %d %d %d\n", letter,
				      (int)kind->naming, kind->has_pages, kind->has_parent,
				      kind->has_switch, kind->has_ends, table->is_bare);
	struct form_part *part = add_part(form, arena_text(form->arena, "%s", letter));

	part->begins = checksum(0, head, strlen(head));
	part->rows = arena_zero(form->arena, count_rows(table) * sizeof *part->rows);
	gather_rows(form->arena, table, "", RECORD_VERSION, part);

	/* What is summed of each row, while the rows are in the order in which they are stored. */
	for (size_t i = 0; i < part->count; i++) {
		struct form_row *row = &part->rows[i];
		const struct member *member = row->member;
		const unsigned summed_flags = member->flags &
					      (MEMBER_WHOLE | MEMBER_DERIVED | MEMBER_OFF);
		size_t place = 0;

		for (size_t j = 0; j < i; j++)
			place += part->rows[j].since <= row->since;
		row->summed = slice_of(arena_text(form->arena, "%s %s %u %zu %u %u %u\n", row->name,
						  type_names[member->kind], member->bytes, place,
						  row->since, member->when, summed_flags));
	}

	/* Then they are sorted by the versions that they are since; rows of one version keep their
	 * order. */
	for (size_t i = 1; i < part->count; i++) {
		const struct form_row row = part->rows[i];
		size_t j = i;

		for (; j > 0 && part->rows[j - 1].since > row.since; j--)
			part->rows[j] = part->rows[j - 1];
		part->rows[j] = row;
	}
	assert(part->count == 0 || part->rows[part->count - 1].since <= record_version(table));
	for (size_t i = 0; i < part->count; i++) {
		if (part->rows[i].member->kind == MEMBER_CHOICE)
			add_choice(form, part, &part->rows[i]);
	}
}

static struct form form_make(struct arena *arena, const struct record_table *const *tables,
			     size_t n)
{
	struct form form = { .arena = arena };
	size_t most = n;

	/* No kind has more choices than rows. */
	for (size_t i = 0; i < n; i++)
		most += count_rows(tables[i]);
	form.parts = arena_zero(arena, most * sizeof *form.parts);
	for (size_t i = 0; i < n; i++)
		add_kind(&form, tables[i]);
	return form;
}

struct slice form_text(struct arena *arena, const struct record_table *const *tables, size_t n)
{
	struct arena *own = arena_open();
	const struct form form = form_make(own, tables, n);
	struct buffer text = BUFFER_INITIAL(own);
	struct slice copy;

	for (size_t i = 0; i < form.count; i++) {
		const struct form_part *part = &form.parts[i];

		buffer_append_text(&text, arena_text(own, "%s%s=%zu:%08lx", i == 0 ? "" : " ",
						     part->tag, part->count,
						     (unsigned long)sum_rows(part, part->count)));
	}
	copy = arena_copy(arena, buffer_slice(&text));
	arena_close(own);
	return copy;
}

/* ---- comparing ---- */

static enum store_form_match compare_part(const struct form *form, struct slice text)
{
	struct slice rest, digits;
	const struct slice tag = text_split(text, '=', &rest);
	const struct form_part *part = form->parts, *const end = form->parts + form->count;
	uint32_t sum = 0;
	int64_t count;

	while (part < end && !slice_is(tag, part->tag))
		part++;
	if (rest.data == NULL || !text_integer(text_split(rest, ':', &digits), &count) ||
	    count < 0 || digits.data == NULL || digits.size != SUM_DIGITS)
		return STORE_FORM_OTHER;
	for (size_t i = 0; i < digits.size; i++) {
		const int value = text_hex_value(digits.data[i]);

		if (value < 0)
			return STORE_FORM_OTHER;
		sum = sum << 4 | (uint32_t)value;
	}
	if (part == end || (uint64_t)count > part->count)
		return STORE_FORM_NEWER;
	if (sum_rows(part, (size_t)count) != sum)
		return STORE_FORM_OTHER;
	/* Several rows that came with one version are all missing, or none. */
	for (size_t i = (size_t)count; i < part->count; i++) {
		const bool is_later = count > 0 &&
				      part->rows[i].since > part->rows[count - 1].since;

		if (!is_later && !is_optional(part, i))
			return STORE_FORM_OTHER;
	}
	return (size_t)count < part->count ? STORE_FORM_EARLIER : STORE_FORM_SAME;
}

enum store_form_match form_compare(const struct record_table *const *tables, size_t n,
				   struct slice kept)
{
	struct arena *arena = arena_open();
	const struct form form = form_make(arena, tables, n);
	enum store_form_match match = STORE_FORM_SAME;
	size_t parts = 0;

	if (kept.size == 0)
		match = STORE_FORM_OTHER;
	while (kept.size > 0 && match != STORE_FORM_OTHER) {
		const enum store_form_match one = compare_part(&form, text_split(kept, ' ', &kept));

		/* In the order of store_form_match. */
		match = one > match ? one : match;
		parts++;
	}
	if (match == STORE_FORM_SAME && parts < form.count)
		match = STORE_FORM_EARLIER;
	arena_close(arena);
	return match;
}
