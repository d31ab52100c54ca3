/* See command/room_lookup.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/room_lookup.h"

#include "base/id.h"
#include "base/text.h"

/* Keeps the id of the last room, of which there is one. */
struct found {
	struct arena *arena;
	const char *id;
};

static void keep(void *context, const json_t *item)
{
	struct found *found = context;
	struct slice id = text_of_json(json_object_get(item, "id"));

	if (id.data != NULL)
		found->id = arena_copy(found->arena, id).data;
}

/* NULL and a fault when there is none. */
static const char *id_of(struct service_client *client, const char *name, struct fault *fault)
{
	struct buffer path = BUFFER_INITIAL(client->arena);
	struct arena *own = arena_open();
	struct found found = { .arena = own };
	const char *id = NULL;

	buffer_append_text(&path, "/v2/rooms");
	text_append_parameter(&path, "name", name);
	buffer_append_byte(&path, '\0');
	if (service_client_walk(client, path.data, 1, keep, &found, fault)) {
		if (found.id != NULL)
			id = arena_text(client->arena, "%s", found.id);
		else
			fault_set(fault, FAULT_NOT_FOUND, "there is no room named \"%s\"", name);
	}
	arena_close(own);
	return id;
}

const char *room_path(struct service_client *client, const char *before, const char *room,
		      const char *after, struct fault *fault)
{
	struct id ignored;
	const char *id = id_parse(slice_of(room), &ignored) ? room : id_of(client, room, fault);

	return id == NULL ? NULL : arena_text(client->arena, "%s%s%s", before, id, after);
}
