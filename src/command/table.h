/* What the commands for rooms, codes and keys print: rows with a header above aligned columns, for
 * people, or JSON, for scripts. A column shows one member of each item, under the member's name in
 * capitals; "-" where the item does not have it. The columns are given as a list of members that
 * ends with NULL. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_TABLE_H
#define COMMAND_TABLE_H

#include "command/service_client.h"

/* Prints one thing: as the JSON that came, or as a table with one row; with a row for each of its
 * members when `members` is NULL. */
void table_print_answer(const struct service_client *client, const struct service_reply *answer,
			const char *const *members);

/* Walks a list and prints it whole (service_client_walk); nothing when there is a fault. */
bool table_print_list(struct service_client *client, const char *path, unsigned most,
		      const char *const *members, struct fault *fault);

#endif
