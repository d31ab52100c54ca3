/* Bodies through every schema: parse, check, finish, write. The first byte selects the shape, the
 * second one how it is checked; the rest is the body. The result must be a body that the same shape
 * accepts, because a client may send back what it received. Every other new input is generated from
 * a table (along.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "along.h"
#include "directory.h"
#include "rules/destination_rules.h"
#include "rules/list_rules.h"
#include "rules/recording_rules.h"
#include "rules/role_rules.h"
#include "rules/room_code_rules.h"
#include "rules/room_rules.h"
#include "rules/template_rules.h"
#include "rules/transfer_rules.h"
#include "schema/schema.h"
#include "suite.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const char *data, size_t size);
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed);

static const struct shape *const shapes[] = {
	&template_shape,    &role_shape,	 &settings_shape, &destinations_shape,	&room_shape,
	&code_switch_shape, &code_enabled_shape, &join_shape,	  &transfer_line_shape,
};

static const struct shape *const queries[] = {
	&template_list_query,
	&room_list_query,
	&code_list_query,
};

static struct arena *arena;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	json_object_seed(1);
	for (size_t i = 0; i < ROWS(shapes); i++)
		schema_verify(shapes[i]);
	for (size_t i = 0; i < ROWS(queries); i++)
		schema_verify(queries[i]);
	arena = arena_open();
	return 0;
}

static void accept_again(const struct shape *shape, struct slice text)
{
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body;

	findings_open(&findings, arena);
	if (schema_parse(arena, text, &body, &fault) &&
	    schema_check(shape, body, SCHEMA_WHOLE, false, &findings, &fault) &&
	    document_finish(shape, body, &findings, &fault))
		return;
	fprintf(stderr, "refused: %.*s\n", (int)text.size, text.data);
	if (fault.details != NULL)
		(void)json_dumpf(fault.details, stderr, 0);
	abort();
}

static void check(const struct shape *shape, enum schema_mode mode, bool is_strict,
		  struct slice text)
{
	struct buffer written = BUFFER_INITIAL(arena), echoed = BUFFER_INITIAL(arena);
	struct fault fault = FAULT_INITIAL;
	struct findings findings;
	json_t *body, *document;

	findings_open(&findings, arena);
	if (!schema_parse(arena, text, &body, &fault) ||
	    !schema_check(shape, body, mode, is_strict, &findings, &fault))
		return;
	document = body;
	if (mode == SCHEMA_PATCH) {
		document = arena_json(arena, json_object());
		document_merge(shape, document, body);
	}
	if (!document_finish(shape, document, &findings, &fault))
		return;
	document_write(shape, document, (struct slice){ 0 }, false, &written);
	document_write(shape, document, (struct slice){ 0 }, true, &echoed);
	(void)document_hidden(arena, shape, document);
	accept_again(shape, buffer_slice(&echoed));
}

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	size_t which;
	struct slice text;
	struct fault fault = FAULT_INITIAL;
	json_t *query;

	if (size < 2 || size > 65536)
		return 0;
	which = (unsigned char)data[0] % (ROWS(shapes) + ROWS(queries));
	/* Nothing follows the bytes, so that any read beyond them is noticed. */
	text = (struct slice){ data + 2, size - 2 };
	if (which < ROWS(shapes))
		check(shapes[which], (enum schema_mode)((unsigned char)data[1] % 3),
		      (data[1] & 0x40) != 0, text);
	else
		(void)schema_query(arena, queries[which - ROWS(shapes)], text, &query, &fault);
	arena_reset(arena);
	return 0;
}

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t most, unsigned seed)
{
	uint64_t state = seed;
	const size_t which = chance_below(&state, ROWS(shapes) + ROWS(queries));
	struct buffer text = BUFFER_INITIAL(arena);

	if (chance_below(&state, 2) == 0)
		return LLVMFuzzerMutate(data, size, most);
	buffer_append_byte(&text, (char)which);
	buffer_append_byte(&text, (char)chance_below(&state, 256));
	if (which < ROWS(shapes))
		along_shape(&text, shapes[which], &state);
	else
		along_query(&text, queries[which - ROWS(shapes)], &state);
	size = text.size < most ? text.size : most;
	memcpy(data, text.data, size);
	arena_reset(arena);
	return size;
}
