/* The names of stack files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "store/gdbm/stack.h"

#define PREFIX "stack-"

void stack_gdbm_name(uint64_t id, char name[STACK_NAME_SIZE])
{
	snprintf(name, STACK_NAME_SIZE, PREFIX "%016llx.gdbm", (unsigned long long)id);
}

void stack_index_name(uint64_t id, char name[STACK_NAME_SIZE])
{
	snprintf(name, STACK_NAME_SIZE, PREFIX "%016llx.index", (unsigned long long)id);
}

void stack_path(const struct stack_place *place, uint64_t id, const char *ending,
		char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" PREFIX "%016llx%s", place->directory, (unsigned long long)id,
		 ending);
}

bool stack_name_parse(const char *name, uint64_t *id, bool *is_unfinished)
{
	static const char *const endings[] = { ".gdbm", ".index", ".gdbm.new", ".index.new" };
	const char *rest = file_name_number(name, PREFIX, id);

	for (size_t i = 0; rest != NULL && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(rest, endings[i]) == 0) {
			*is_unfinished = i >= 2;
			return true;
		}
	return false;
}
