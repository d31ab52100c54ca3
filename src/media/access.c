/* See media/access.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/access.h"

#include "base/text.h"
#include "media/access_parts.h"
#include "media/type.h"

size_t access_not_enforced(const struct access_server *server, const struct access_guest *guest,
			   const char *names[ACCESS_NOT_ENFORCED_MOST])
{
	const struct media_type *type = &media_types[server->type];
	const bool any = access_publishes(guest) ? type->any_source : type->any_guest;
	const struct {
		bool holds;
		const char *name;
	} rows[] = {
		{ any && !guest->audio, "publish.audio" },
		{ any && !guest->video, "publish.video" },
		{ any && !guest->screen, "publish.screen" },
		{ !guest->subscribes_to_all &&
			  (guest->subscribes ? type->part_of_roles : type->all_roles),
		  "subscribe" },
		{ guest->has_most_peers && type->peers && !server->holds_limits, "max_peers" },
		{ (!guest->moderates && type->moderation) ||
			  (type->gives_more != NULL && type->gives_more(server, guest)),
		  "moderation" },
		{ type->expiry, "expiry" },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].holds)
			names[n++] = rows[i].name;
	}
	return n;
}

bool access_write(struct arena *arena, const struct clock *clock,
		  const struct access_server *server, const struct access_guest *guest,
		  struct json_writer *answer)
{
	const struct media_type *type = &media_types[server->type];
	struct access access = access_begin(arena, clock, server, guest, answer);
	const char *names[ACCESS_NOT_ENFORCED_MOST];
	char expires[TEXT_TIME_SIZE];
	size_t n;

	writer_text(answer, "backend", server->name);
	writer_text(answer, "type", slice_of(backend_type_name(server->type)));
	writer_text(answer, "url", server->url);
	writer_text(answer, "room", guest->room_id);
	if (!type->write_access(&access))
		return false;
	/* A link of BigBlueButton does not expire. */
	if (!type->expiry) {
		text_time_seconds(guest->expires * 1000, expires);
		writer_text(answer, "expires_at", slice_of(expires));
	}
	n = access_not_enforced(server, guest, names);
	writer_open(answer, "not_enforced", '[');
	for (size_t i = 0; i < n; i++)
		writer_text(answer, NULL, slice_of(names[i]));
	writer_close(answer, ']');
	return true;
}
