/* The accounts file: a file that is accepted stays the same when it is written and read again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "accounts/roster.h"

int LLVMFuzzerTestOneInput(const char *data, size_t size);

int LLVMFuzzerTestOneInput(const char *data, size_t size)
{
	struct fault fault = FAULT_INITIAL;
	struct roster *roster = roster_parse((struct slice){ data, size }, &fault), *again;
	struct arena *arena;
	struct slice text;

	if (roster == NULL)
		return 0;
	arena = arena_open();
	text = roster_text(arena, roster->accounts, roster->count, roster->recorders,
			   roster->recorder_count);
	again = roster_parse(text, &fault);
	if (again == NULL || !slice_equal(roster_text(arena, again->accounts, again->count,
						      again->recorders, again->recorder_count),
					  text))
		abort();
	for (size_t i = 0; i < roster->count; i++)
		if (roster_find(again, roster->accounts[i].id_text) == NULL ||
		    roster_by_access_key(again, &roster->accounts[i].access_key) == NULL)
			abort();
	roster_close(again);
	roster_close(roster);
	arena_close(arena);
	return 0;
}
