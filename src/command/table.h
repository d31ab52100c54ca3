/* What the commands for a running service print: for people, rows with a header and aligned
 * columns; for scripts, JSON. A column shows one member of each item, under the member's name in
 * capitals, and "-" if the item does not have it. The columns are a list of members that ends with
 * NULL. One thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef COMMAND_TABLE_H
#define COMMAND_TABLE_H

#include "command/service_client.h"

/* The columns of a media server. */
extern const char *const table_backend_columns[];

/* Prints one object: the JSON as received, or a table with one row. If `members` is NULL, prints
 * one row for each member instead. */
void table_print_answer(const struct service_client *client, const struct service_reply *answer,
			const char *const *members);

/* Prints one object with a list in it: the JSON as received, or one row for each member but `list`,
 * an empty line, and a table of `list`, which is an array or an object of items. */
void table_print_with_list(const struct service_client *client, const struct service_reply *answer,
			   const char *list, const char *const *members);

/* Prints a text line by line. */
void table_print_text(const struct service_client *client, struct slice text);

/* Walks a list and prints it as a whole (service_client_list), or nothing if there is a fault. */
bool table_print_list(struct service_client *client, const char *path, unsigned most,
		      const char *const *members, struct fault *fault);

#endif
