/* See responders.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "directory.h"
#include "relay.h"
#include "responders.h"

char *directory, *url, *relayed;
struct world one, two;
struct arena *kept;
struct account account;

void open_responder(struct world *world, const char *store, int64_t begins)
{
	const struct world_options options = {
		.store = WORLD_POSTGRES,
		.postgres = { .url = store, .connections = CONNECTIONS },
		.begins = begins,
		.environment.live = LIVE_ON,
	};

	world_open(world, &options);
}

void set_up(void)
{
	struct fault fault = FAULT_INITIAL;

	kept = arena_open();
	directory = directory_make();
	url = database_store();
	relayed = database_url_over(url, directory);
	ck_assert(accounts_add(url, &clock_system, "a", &account, &fault));
	relay_open(directory, database_host());
	open_responder(&one, relayed, 0);
	open_responder(&two, url, 0);
}

void tear_down(void)
{
	world_close(&one);
	world_close(&two);
	relay_close();
	free(relayed);
	free(url);
	directory_remove(directory);
	arena_close(kept);
}

struct reply ask(const struct world *responder, enum method method, const char *path,
		 const char *body)
{
	return world_ask(responder, kept, &account, method, path, body);
}

const char *member_of(const struct reply *reply, const char *name)
{
	return arena_copy(kept, slice_of(world_member(&one, reply->text, name))).data;
}

const char *make(const struct world *responder, const char *path, const char *body)
{
	struct reply reply = ask(responder, METHOD_POST, path, body);

	return member_of(&reply, "id");
}

const char letters[] = "trcslkbwdnjpuxaohy";

const char *filled_in(const char *text, const char *const values[VALUES])
{
	struct buffer filled = BUFFER_INITIAL(kept);

	if (text == NULL)
		return NULL;
	for (; *text != '\0'; text++) {
		const char *place = *text == (char)36 ? strchr(letters, text[1]) : NULL;

		if (place == NULL) {
			buffer_append_byte(&filled, *text);
			continue;
		}
		buffer_append_text(&filled, values[place - letters]);
		text++;
	}
	buffer_append_byte(&filled, '\0');
	return filled.data;
}
