/* LiveKit's server API: RPC by POST with JSON (Twirp), each call with a token of its own that has
 * only the grant that it needs. See media/server.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "media/server.h"

#include "base/jwt.h"
#include "base/text.h"

/* Seconds for which a token of a request is valid. */
#define TOKEN_SECONDS 60

static struct slice config_text(const struct server *server, const char *name)
{
	return text_of_json(json_object_get(server->config, name));
}

/* Returns a token with one grant. */
static struct slice token_with(struct arena *arena, const struct server *server, int64_t now,
			       const char *grant)
{
	struct json_writer claims = writer_begin(arena, true);

	writer_text(&claims, "iss", config_text(server, "api_key"));
	writer_integer(&claims, "exp", now + TOKEN_SECONDS);
	writer_open(&claims, "video", '{');
	writer_flag(&claims, grant, true);
	writer_close(&claims, '}');
	return jwt_with_secret(arena, (struct slice){ NULL, 0 }, &claims,
			       config_text(server, "api_secret"));
}

static void begin_call(struct arena *arena, const struct server *server, int64_t now,
		       const char *method, const char *grant, struct server_request *request)
{
	struct buffer url = BUFFER_INITIAL(arena), headers = BUFFER_INITIAL(arena);

	buffer_append(&url, server->url);
	if (server->url.data[server->url.size - 1] != '/')
		buffer_append_byte(&url, '/');
	buffer_append_text(&url, "twirp/livekit.RoomService/");
	buffer_append_text(&url, method);
	buffer_append_text(&headers, "Content-Type: application/json\nAuthorization: Bearer ");
	buffer_append(&headers, token_with(arena, server, now, grant));
	*request = (struct server_request){
		.url = buffer_slice(&url),
		.headers = buffer_slice(&headers),
	};
}

/* Rooms are not listed in pages. */
static void list_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const json_t *names, struct server_request *request)
{
	json_t *body = arena_json(arena, json_object());

	begin_call(arena, server, now, "ListRooms", "roomList", request);
	object_put(body, "names", json_deep_copy(names));
	request->body = json_as_text(arena, body);
	request->answer_most = json_array_size(names) == 0 ? (size_t)16 << 20 : (size_t)1 << 20;
}

const struct server_functions livekit_functions = {
	.product = "LiveKit",
	.list_rooms = list_rooms,
	.rooms = "rooms",
};
