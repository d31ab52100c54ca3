/* Compares the reader of JSON with jansson's, for any bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "json_agree.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const char *data, size_t size);

static struct arena *arena;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	json_object_seed(1);
	arena = arena_open();
	return 0;
}

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	/* Nothing follows the bytes, so that any read beyond them is noticed. */
	if (!json_agrees(arena, (struct slice){ data, size }))
		abort();
	arena_reset(arena);
	return 0;
}
