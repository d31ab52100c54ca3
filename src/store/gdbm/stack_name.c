/* The names of the stack's files.
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

bool stack_name_parse(const char *name, uint64_t *id, bool *is_half_made)
{
	static const char *const endings[] = { ".gdbm", ".index", ".gdbm.new", ".index.new" };
	static const char digits[] = "0123456789abcdef";
	size_t i;

	if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
		return false;
	name += sizeof PREFIX - 1;
	*id = 0;
	for (i = 0; i < 16; i++) {
		const char *digit = name[i] == '\0' ? NULL : strchr(digits, name[i]);

		if (digit == NULL)
			return false;
		*id = *id << 4 | (uint64_t)(digit - digits);
	}
	for (i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(name + 16, endings[i]) == 0) {
			*is_half_made = i >= 2;
			return true;
		}
	return false;
}
