/* See store/postgres/store_postgres.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/postgres/store_postgres.h"

#include <string.h>

bool store_postgres_is_url(const char *text)
{
	return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}
