/* See command/table.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define COLUMNS_MOST 10

const char *const table_backend_columns[] = {
	"id", "name", "type", "default", "pool", "weight", "region", "draining", "url", NULL,
};

/* A table for people, or JSON. */
struct printed_table {
	struct arena *arena;
	const char *const *members;
	size_t n; /* number of columns */
	bool wants_json;
	struct buffer json; /* the items, separated by commas */
	struct table_row *first, **next;
	size_t widths[COLUMNS_MOST]; /* in characters */
};

struct table_row {
	struct table_row *next;
	struct slice cells[COLUMNS_MOST];
};

/* ---- cells ---- */

/* Returns a text as it is, and other values as JSON. The result is in the arena. */
static struct slice cell_of(struct arena *arena, const json_t *value)
{
	struct buffer text = BUFFER_INITIAL(arena);

	if (value == NULL)
		return SLICE("-");
	if (json_is_string(value) && json_string_length(value) > 0)
		buffer_append(&text, text_of_json(value));
	else
		buffer_append_json(&text, value);
	return text_visible(arena, buffer_slice(&text));
}

/* ---- rows ---- */

static struct table_row *add_row(struct printed_table *table)
{
	struct table_row *row = arena_zero(table->arena, sizeof *row);

	*table->next = row;
	table->next = &row->next;
	return row;
}

static void set_cell(struct printed_table *table, struct table_row *row, size_t column,
		     struct slice cell)
{
	size_t width = text_characters(cell);

	row->cells[column] = cell;
	if (width > table->widths[column])
		table->widths[column] = width;
}

static void open_table(struct printed_table *table, const char *const *members, bool wants_json)
{
	struct table_row *header;

	*table = (struct printed_table){
		.arena = arena_open(),
		.members = members,
		.wants_json = wants_json,
	};
	table->json = BUFFER_INITIAL(table->arena);
	table->next = &table->first;
	header = add_row(table);
	for (; members[table->n] != NULL; table->n++) {
		char *name = arena_text(table->arena, "%s", members[table->n]);

		assert(table->n < COLUMNS_MOST);
		for (char *c = name; *c != '\0'; c++)
			*c = *c == '_' ? ' ' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
		set_cell(table, header, table->n, slice_of(name));
	}
}

static void add_item(struct printed_table *table, const json_t *item)
{
	struct table_row *row;

	if (table->wants_json) {
		if (table->json.size > 0)
			buffer_append_text(&table->json, ",\n");
		buffer_append_json(&table->json, item);
		return;
	}
	row = add_row(table);
	for (size_t i = 0; i < table->n; i++)
		set_cell(table, row, i,
			 cell_of(table->arena, json_object_get(item, table->members[i])));
}

/* ---- printing ---- */

static void print_visible_json(struct arena *arena, struct slice json)
{
	const struct slice text = text_visible_json(arena, json);

	(void)fwrite(text.data == NULL ? "" : text.data, 1, text.size, stdout);
}

static void print_items(const struct printed_table *table)
{
	if (table->wants_json) {
		printf(table->json.size > 0 ? "[\n" : "[");
		print_visible_json(table->arena, buffer_slice(&table->json));
		printf(table->json.size > 0 ? "\n]\n" : "]\n");
		return;
	}
	for (const struct table_row *row = table->first; row != NULL; row = row->next) {
		for (size_t i = 0; i < table->n; i++) {
			const struct slice cell = row->cells[i];
			const size_t gap = table->widths[i] - text_characters(cell) + 2;

			printf("%.*s%*s", (int)cell.size, cell.data,
			       i + 1 < table->n ? (int)gap : 0, "");
		}
		printf("\n");
	}
}

/* Prints one row for each member but `left_out`, which may be NULL. */
static void print_members(json_t *object, const char *left_out)
{
	static const char *const of_members[] = { "member", "value", NULL };
	struct printed_table table;
	const char *name;
	json_t *value;

	open_table(&table, of_members, false);
	json_object_foreach(object, name, value) {
		struct table_row *row;

		if (left_out != NULL && strcmp(name, left_out) == 0)
			continue;
		row = add_row(&table);
		set_cell(&table, row, 0, text_visible(table.arena, slice_of(name)));
		set_cell(&table, row, 1, cell_of(table.arena, value));
	}
	print_items(&table);
	arena_close(table.arena);
}

static void print_body(const struct service_client *client, const struct service_reply *answer)
{
	print_visible_json(client->arena, answer->body);
	printf("\n");
}

void table_print_answer(const struct service_client *client, const struct service_reply *answer,
			const char *const *members)
{
	struct printed_table table;

	if (client->wants_json) {
		print_body(client, answer);
	} else if (members == NULL) {
		print_members(answer->json, NULL);
	} else {
		open_table(&table, members, false);
		add_item(&table, answer->json);
		print_items(&table);
		arena_close(table.arena);
	}
}

void table_print_with_list(const struct service_client *client, const struct service_reply *answer,
			   const char *list, const char *const *members)
{
	json_t *items = json_object_get(answer->json, list);
	struct printed_table table;
	const char *name;
	json_t *item;
	size_t i;

	if (client->wants_json) {
		print_body(client, answer);
		return;
	}
	/* The response may be the list alone. */
	if (json_object_size(answer->json) > 1) {
		print_members(answer->json, list);
		printf("\n");
	}
	open_table(&table, members, false);
	json_array_foreach(items, i, item)
		add_item(&table, item);
	json_object_foreach(items, name, item)
		add_item(&table, item);
	print_items(&table);
	arena_close(table.arena);
}

void table_print_text(const struct service_client *client, struct slice text)
{
	while (text.size > 0) {
		const struct slice line =
			text_visible(client->arena, text_trim(text_split(text, '\n', &text), "\r"));

		printf("%.*s\n", (int)line.size, line.data == NULL ? "" : line.data);
	}
}

bool table_print_list(struct service_client *client, const char *path, unsigned most,
		      const char *const *members, struct fault *fault)
{
	struct service_list list = service_client_list(client, path, most, fault);
	struct printed_table table;
	const json_t *item;

	open_table(&table, members, client->wants_json);
	while ((item = service_client_next(&list)) != NULL)
		add_item(&table, item);
	if (fault->kind == FAULT_NONE)
		print_items(&table);
	arena_close(table.arena);
	return fault->kind == FAULT_NONE;
}
