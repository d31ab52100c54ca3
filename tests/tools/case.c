/*
 * Reads case files into a list.  The reader knows `case`, `scene`, `only`, `each`, the rows of a
 * table, comments and continued lines; every other line belongs to a case and is left to
 * case_run.c, which is asked only whether it knows the first word.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "case.h"

#include "case_list.h"
#include "case_value.h"
#include "directory.h"

#include <fts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 16 };

/* The state of the reader within one file. */
struct reader {
	struct case_list *list;
	const struct transport *transport;
	const char *file;
	unsigned number;
	struct case_script *script;
	struct case_line **end;
	const char *columns[COLUMNS];
	size_t n_columns;
	size_t n_rows;
	bool broken;
};

static void reader_complain(struct reader *reader, const char *what, const char *text)
{
	fprintf(stderr, "%s.case:%u: %s: %s\n", reader->file, reader->number, what, text);
	reader->broken = true;
}

static const char *trimmed(struct pool *pool, const char *start, size_t length)
{
	while (length > 0 && (*start == ' ' || *start == '\t')) {
		start++;
		length--;
	}
	while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t' ||
			      start[length - 1] == '\n')) {
		length--;
	}
	return bytes_copy(pool, start, length).bytes;
}

/* Returns the text after the word, or NULL if the line begins with another word. */
static const char *after_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(text, word, length) != 0 || (text[length] != ' ' && text[length] != '\0'))
		return NULL;
	return text + length + (text[length] == ' ' ? 1 : 0);
}

static bool script_runs_here(const struct reader *reader, const struct case_script *script)
{
	if ((script->moves_clock && reader->transport->clock_advance == NULL) ||
	    (script->fails_store && reader->transport->store_fail == NULL) ||
	    (script->alone && reader->transport->shared))
		return false;
	return script->only == NULL || strcmp(script->only, reader->transport->name) == 0;
}

static struct case_entry *list_add(struct reader *reader)
{
	struct case_list *list = reader->list;

	if (list->n_entries == list->room) {
		list->room = list->room == 0 ? 256 : list->room * 2;
		list->entries = realloc(list->entries, list->room * sizeof *list->entries);
		if (list->entries == NULL)
			abort();
	}
	list->entries[list->n_entries] = (struct case_entry){
		.script = reader->script,
		.name = reader->script->name,
	};
	return &list->entries[list->n_entries++];
}

/* Splits at bars that are not preceded by a backslash, and trims the pieces. */
static size_t split_at_bars(struct pool *pool, const char *text, const char *pieces[COLUMNS])
{
	char *piece = pool_take(pool, strlen(text) + 1);
	size_t length = 0;
	size_t n = 0;

	for (const char *at = text;; at++) {
		if (*at == '\\' && at[1] == '|') {
			piece[length++] = *++at;
		} else if (*at == '|' || *at == '\0') {
			if (n < COLUMNS)
				pieces[n++] = trimmed(pool, piece, length);
			length = 0;
			if (*at == '\0')
				return n;
		} else {
			piece[length++] = *at;
		}
	}
}

static void read_row(struct reader *reader, const char *text)
{
	struct pool *pool = &reader->list->pool;
	const char *values[COLUMNS];
	size_t n = split_at_bars(pool, text, values);
	struct case_entry *entry;
	char *name;

	if (reader->script == NULL || n != reader->n_columns) {
		reader_complain(reader, "not as many columns as the table has", text);
		return;
	}
	reader->n_rows++;
	entry = list_add(reader);
	entry->n_columns = n;
	entry->columns = pool_take(pool, n * sizeof *entry->columns);
	entry->values = pool_take(pool, n * sizeof *entry->values);
	memcpy(entry->columns, reader->columns, n * sizeof *entry->columns);
	memcpy(entry->values, values, n * sizeof *entry->values);
	if (asprintf(&name, "%s [%s]", reader->script->name, trimmed(pool, text, strlen(text))) < 0)
		abort();
	entry->name = bytes_text(pool, name).bytes;
	free(name);
}

/* A case without rows becomes one entry; a case for another transport becomes none. */
static void reader_end_script(struct reader *reader)
{
	struct case_list *list = reader->list;
	struct case_script *script = reader->script;

	if (script == NULL)
		return;
	if (reader->n_columns == 0) {
		list_add(reader);
	} else if (reader->n_rows == 0) {
		reader_complain(reader, "a table without rows", script->name);
	}
	while (!script_runs_here(reader, script) && list->n_entries > 0 &&
	       list->entries[list->n_entries - 1].script == script) {
		list->n_entries--;
	}
	reader->script = NULL;
}

static struct case_script *reader_begin(struct reader *reader, const char *name)
{
	struct pool *pool = &reader->list->pool;
	struct case_script *script = pool_take(pool, sizeof *script);

	script->file = reader->file;
	script->name = bytes_text(pool, name).bytes;
	reader->end = &script->lines;
	reader->n_columns = 0;
	reader->n_rows = 0;
	return script;
}

static void read_line(struct reader *reader, const char *text)
{
	struct pool *pool = &reader->list->pool;
	const char *rest;

	if ((rest = after_word(text, "case")) != NULL) {
		reader_end_script(reader);
		reader->script = reader_begin(reader, rest);
	} else if ((rest = after_word(text, "scene")) != NULL) {
		reader_end_script(reader);
		struct case_script *scene = reader_begin(reader, rest);

		scene->next = reader->list->scenes;
		reader->list->scenes = scene;
	} else if ((rest = after_word(text, "only")) != NULL && reader->script != NULL) {
		reader->script->only = bytes_text(pool, rest).bytes;
	} else if (strcmp(text, "alone") == 0 && reader->script != NULL) {
		reader->script->alone = true;
	} else if ((rest = after_word(text, "each")) != NULL && reader->script != NULL) {
		reader->n_columns = split_at_bars(pool, rest, reader->columns);
	} else if (*text == '|') {
		read_row(reader, text + 1);
	} else if (reader->end == NULL || !case_line_is_known(text)) {
		reader_complain(reader, "unknown line", text);
	} else {
		struct case_line *line = pool_take(pool, sizeof *line);

		if (reader->script != NULL && after_word(text, "clock") != NULL)
			reader->script->moves_clock = true;
		if (reader->script != NULL && after_word(text, "fail") != NULL)
			reader->script->fails_store = true;
		*line = (struct case_line){ NULL, reader->file, reader->number, text };
		*reader->end = line;
		reader->end = &line->next;
	}
}

/* Reads a file; a line that ends in a backslash continues in the next line. */
static void read_file(struct reader *reader, FILE *stream)
{
	struct pool *pool = &reader->list->pool;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	struct bytes text = bytes_text(pool, "");

	while ((length = getline(&line, &room, stream)) >= 0) {
		const char *piece = trimmed(pool, line, (size_t)length);
		size_t size = strlen(piece);
		bool goes_on = size > 0 && piece[size - 1] == '\\';

		reader->number++;
		if (*piece == '#' || (*piece == '\0' && text.length == 0))
			continue;
		text = bytes_join(pool, text, bytes_copy(pool, piece, goes_on ? size - 1 : size));
		if (!goes_on) {
			read_line(reader, text.bytes);
			text = bytes_text(pool, "");
		}
	}
	free(line);
	reader_end_script(reader);
}

static int by_name(const FTSENT **first, const FTSENT **second)
{
	return strcmp((*first)->fts_name, (*second)->fts_name);
}

static bool read_entry(struct case_list *list, const struct transport *transport,
		       const FTSENT *entry)
{
	const char *path = entry->fts_path + strlen(list->folder);
	size_t length = strlen(path);
	struct reader reader = { .list = list, .transport = transport };
	FILE *stream;

	if (entry->fts_info != FTS_F || length < 6 || strcmp(path + length - 5, ".case") != 0)
		return true;
	stream = fopen(entry->fts_accpath, "r");
	if (stream == NULL) {
		perror(entry->fts_path);
		return false;
	}
	path += *path == '/' ? 1 : 0;
	reader.file = bytes_copy(&list->pool, path, strlen(path) - 5).bytes;
	read_file(&reader, stream);
	fclose(stream);
	return !reader.broken;
}

/* ---- the choice ---- */

static unsigned long number_in_environment(const char *name)
{
	const char *text = getenv(name);

	return text == NULL ? 0 : strtoul(text, NULL, 10);
}

struct case_choice case_choice_read(void)
{
	const char *part = getenv("PART");
	const char *of = part == NULL ? NULL : strchr(part, '/');

	return (struct case_choice){
		.one_of = (unsigned)number_in_environment("ONE_OF"),
		.seed = number_in_environment("SEED"),
		.always = getenv("ALWAYS"),
		.files = getenv("FILES"),
		.part = (unsigned)number_in_environment("PART"),
		.parts = of == NULL ? 0 : (unsigned)strtoul(of + 1, NULL, 10),
	};
}

/* FNV-1a. Cases are drawn by name, so that a new case does not change which others are drawn. */
static uint64_t mixed(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_among_words(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; at != NULL && (at = strstr(at, word)) != NULL; at += length) {
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	}
	return false;
}

static bool is_drawn(const struct case_choice *choice, const struct case_entry *entry)
{
	uint64_t seed = choice->seed;

	if (choice->files != NULL && !is_among_words(choice->files, entry->script->file))
		return false;
	if (choice->one_of <= 1 || entry->script->only != NULL ||
	    is_among_words(choice->always, entry->script->file))
		return true;
	seed = mixed(mixed(chance(&seed), entry->script->file), entry->name);
	return chance(&seed) % choice->one_of == 0;
}

static void choose(struct case_list *list, const struct case_choice *choice)
{
	size_t n_drawn = 0, n_taken = 0;

	for (size_t n = 0; n < list->n_entries; n++) {
		if (!is_drawn(choice, &list->entries[n]))
			continue;
		if (choice->parts <= 1 || n_drawn % choice->parts + 1 == choice->part)
			list->entries[n_taken++] = list->entries[n];
		n_drawn++;
	}
	list->n_entries = n_taken;
}

struct case_list *case_list_open(const char *folder, const struct transport *transport,
				 const struct case_choice *choice)
{
	struct case_list *list = calloc(1, sizeof *list);
	char *paths[] = { strdup(folder), NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	bool sound = tree != NULL;
	FTSENT *entry;

	if (list == NULL || paths[0] == NULL)
		abort();
	list->folder = bytes_text(&list->pool, folder).bytes;
	while (tree != NULL && (entry = fts_read(tree)) != NULL)
		sound = read_entry(list, transport, entry) && sound;
	if (tree != NULL)
		fts_close(tree);
	free(paths[0]);
	if (sound && list->n_entries > 0) {
		choose(list, choice);
		return list;
	}
	fprintf(stderr, "%s: no readable cases\n", folder);
	case_list_close(list);
	return NULL;
}

void case_list_close(struct case_list *list)
{
	pool_clear(&list->pool);
	free(list->entries);
	free(list);
}

size_t case_list_count(const struct case_list *list)
{
	return list->n_entries;
}

const char *case_list_file(const struct case_list *list, size_t n)
{
	return list->entries[n].script->file;
}

const char *case_list_name(const struct case_list *list, size_t n)
{
	return list->entries[n].name;
}

void case_answer_header(struct case_answer *answer, const char *name, const char *value)
{
	if (answer->n_headers < CASE_HEADERS) {
		answer->names[answer->n_headers] = strdup(name);
		answer->values[answer->n_headers++] = strdup(value);
	}
}

void case_answer_body(struct case_answer *answer, const char *body, size_t length)
{
	answer->body = malloc(length + 1);
	if (answer->body == NULL)
		abort();
	if (length > 0)
		memcpy(answer->body, body, length);
	answer->body[length] = '\0';
	answer->body_length = length;
}
