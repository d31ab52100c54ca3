/* Who calls about a live room, and what they may see: a program with a management token or an API
 * key sees everything; a person with a join token of the room (anteroom-api(7), FROM INSIDE) sees
 * what the role allows that this person has there now.
 *
 * A person is found by the entry of the token. If nobody with it is known to be inside, the media
 * server is asked first (resources/asking.h), because events may be on their way: once in a second
 * for all who ask about the room, and only for those who may just have come in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_CALLER_H
#define RESOURCES_LIVE_LIVE_CALLER_H

#include "base/json_writer.h"
#include "resources/asking.h"
#include "resources/reads.h"
#include "resources/stored/live_record.h"
#include "resources/stored/room_record.h"

/* Larger rooms show numbers alone to people inside. */
#define LIVE_SHOWN_MOST 200

enum live_sight {
	LIVE_SEES_ROOM, /* needs sendRoomState */
	LIVE_SEES_PEER, /* the same, except for oneself (live_view_sees) */
	LIVE_SEES_ITSELF,
	LIVE_OUTSIDE, /* people inside must not call it */
	LIVE_ACTS /* sees nothing, so the caller's role is checked for what it does (live_may_act) */
	,
	/* The same, also if the room is not in session; then `live` has no record. */
	LIVE_ACTS_ALWAYS
};

struct live_view {
	struct room_record room;
	struct live live;
	bool is_inside; /* the caller is a person in the room; the next members are set */
	struct peer caller;
	struct template_record template;
	bool name_is_fixed; /* by the code of the token */
	const struct template_role *role; /* that the caller has now; NULL if it is deleted */
	const json_t *role_document;
	bool sees_numbers; /* and nothing else */
};

/* The view of the room of the path, which must be in session, as call->view. If the caller is not
 * known to be inside, the media server is asked first. A caller from inside who lacks the
 * permission of the load gets FAULT_FORBIDDEN. */
extern const struct loading load_view;
/* Sets the same for a caller from inside whose path names no room: the room is that of the join
 * token. If it has the call ask the media server, the handler must not run (struct loading). */
bool live_load_caller(struct call *call, struct fault *fault);
/* Returns whether the caller may see this peer; else sets FAULT_FORBIDDEN. */
bool live_view_sees(const struct live_view *view, const struct peer *peer, struct fault *fault);
/* Returns whether the role of the caller has the permission. */
bool live_view_may(const struct live_view *view, const char *permission);
/* The same, and true for callers who are not inside; else sets FAULT_FORBIDDEN. */
bool live_may_act(const struct live_view *view, const char *permission, struct fault *fault);

/* Returns true if the caller may give a role with this document to others; else sets
 * FAULT_FORBIDDEN. Nobody inside can give others a power that they lack themselves. */
bool live_may_give(const struct live_view *view, const json_t *role, struct fault *fault);

/* Returns true if a role lacks a power over others that another one has: to end the room, to remove
 * or to mute others, to have them unmuted, or to change their roles. */
bool live_role_lacks(const json_t *role, const json_t *other);

/* Returns true if the room's template, which is loaded, has the role; else sets
 * FAULT_INVALID_BODY. */
bool live_find_role(struct call *call, const struct room_record *room, struct slice role,
		    struct template_record *template, struct fault *fault);

/* Finds somebody who is inside by the public id. From inside, that may be the media server's own id
 * of the stay. */
bool live_find_peer(struct call *call, const struct live_view *view, struct slice id,
		    struct peer *peer, struct fault *fault);
/* Makes the call ask the media server about the room of the path, like call_ask: from inside, with
 * the precedence of a moderator. */
struct asking *live_ask(struct call *call, const struct id *backend, size_t count);
/* The same for one request that somebody inside makes for themselves. */
struct asking *live_ask_for_oneself(struct call *call, const struct id *backend);

/* Finds the media server of a session, or the one that the call has asked. */
bool live_find_server(struct call *call, const struct id *backend, struct server *server,
		      struct fault *fault);
/* Reads what the media server has said about the peer, for whom it was asked (server_ask_person).
 * FAULT_NOT_FOUND if the stay is over. */
bool live_read_peer(struct call *call, const struct asked *asked, const struct server *server,
		    const struct peer *peer, struct server_person *person,
		    struct server_track **tracks, size_t *count, struct fault *fault);

/* Writes the members of a peer of a live room. */
void peer_write(struct json_writer *body, const struct peer *peer);
/* Writes what the peer publishes as one more member. */
void peer_write_tracks(struct json_writer *body, const struct peer *peer,
		       const struct server_track *tracks, size_t n);

#endif
