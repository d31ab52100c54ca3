/* What Anteroom asks media servers. Each type has a file of functions that build a request and read
 * its answer (media/type.h); a type without them cannot be asked. The requests are made elsewhere
 * (resources/asking.h): nothing here waits for a server.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_SERVER_H
#define MEDIA_SERVER_H

#include "delivery/sender.h"
#include "media/access.h"

/* A media server as it is asked. Borrowed. */
struct server {
	enum backend_type type;
	struct slice url; /* of its API: http or https */
	const json_t *config; /* by the table in rules/media_rules.h */
};

/* A POST to a media server, or, without a body, a GET; or a request to object storage, which has
 * its method. Its texts are in the arena in which it was built. */
struct server_request {
	struct slice url, headers, body;
	enum sender_method method;
	bool is_to_storage;
	size_t answer_most; /* bytes of the answer that are read */
	bool is_once; /* it changes something, so it is never made again */
	/* The room that it changes, or empty. It waits while another call changes something in that
	 * room. */
	struct slice room;
	bool is_shared; /* the same request of several calls is made once for all of them */
	unsigned patience; /* milliseconds to wait for the answer; 0 for as long as usual */
};

/* What an answer says about the server. */
struct server_verdict {
	bool is_up;
	/* Says why it is not up, or that its clock differs, with a sentence of anteroom-api(7).
	 * Empty if all is well. Never contains text of the answer. */
	char message[100];
	int64_t ahead; /* seconds by which its clock is ahead; 0 if unknown */
};

enum server_capability {
	SERVER_LIST,
	SERVER_REMOVE,
	SERVER_MUTE,
	SERVER_ROLE, /* rights, name and attributes of people inside can be changed */
	SERVER_MESSAGE,
	SERVER_END,
	SERVER_CAPABILITIES
};
extern const char *const server_capability_names[SERVER_CAPABILITIES];
bool server_can(enum backend_type type, enum server_capability capability);

/* Returns the URL of the API of a backend: its url with http in place of ws, and https in place of
 * wss. */
struct slice server_api_url(struct arena *arena, struct slice url);

/* ---- rooms and people; the type must have SERVER_LIST ----
 *
 * Times are those of the server's clock, and 0 if unknown. Slices are in the arena. Their sizes are
 * not limited. */

/* A room that the server has. */
struct server_room {
	struct slice name; /* Anteroom's id of the room, if Anteroom made its name */
	/* The server's own id, which is new each time the room is made. */
	struct slice id;
	int64_t created; /* milliseconds since 1970 */
};

/* What a person may do there, as a set. Stored in records, so a number never gets another
 * meaning. */
enum server_right {
	RIGHT_KNOWN = 1 << 0, /* of all sets but the empty one, which says nothing */
	RIGHT_SUBSCRIBE = 1 << 1,
	/* To publish: what the microphone, the camera and a shared screen give; messages. */
	RIGHT_AUDIO = 1 << 2,
	RIGHT_VIDEO = 1 << 3,
	RIGHT_SCREEN = 1 << 4,
	RIGHT_SCREEN_AUDIO = 1 << 5,
	RIGHT_DATA = 1 << 6,
	RIGHTS_END = 1 << 7
};
/* Returns the rights that a guest is given. */
unsigned server_rights_of(const struct access_guest *guest);

/* One stay of one person in a room. Only people whose media is connected are listed or reported;
 * recorders, agents and hidden people are not. */
struct server_person {
	struct slice stay; /* the server's own id of the stay */
	struct slice identity; /* by which the server is asked about the person */
	/* As in the token, and empty if the token did not have it. But without a user_id, user_id
	 * is the identity. */
	struct slice user_id, role, entry, code;
	struct slice hand; /* when it was raised, as server_update_person has said */
	/* When the person agreed to be recorded, in milliseconds; 0: never; -1: what it has is not
	 * of this service. And which sentence was shown. */
	int64_t consented;
	struct slice consent_text;
	struct slice name, metadata;
	enum name_origin name_origin;
	unsigned rights; /* of enum server_right; 0 if the server did not say */
	int64_t joined; /* milliseconds since 1970 */
	bool is_by_phone; /* SIP */
};

/* Those whom nobody sees, such as recorders, by their identities. */
struct server_hidden {
	struct slice *identities;
	size_t count;
};

/* What a person publishes. */
struct server_track {
	struct slice id;
	bool is_video, is_screen, is_muted;
	int64_t started; /* milliseconds since 1970 */
};

/* A track in a list of people. */
struct server_published {
	struct slice stay; /* of the person */
	struct server_track track;
};

/* Build the requests for rooms and people. now: seconds since 1970. names: of the rooms that are
 * wanted; empty for all. */
void server_list_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const json_t *names, struct server_request *request);
void server_list_people(struct arena *arena, const struct server *server, int64_t now,
			struct slice room, struct server_request *request);
void server_ask_person(struct arena *arena, const struct server *server, int64_t now,
		       struct slice room, struct slice identity, struct server_request *request);

/* Builds the request that finds out whether the server creates rooms when somebody joins. It
 * changes nothing there. The type must have SERVER_LIST. */
void server_probe_rooms(struct arena *arena, const struct server *server, int64_t now,
			struct server_request *request);
/* Returns true if the answer says that it does not, and says so in the verdict. */
bool server_read_probe(const struct server *server, const struct outcome *outcome,
		       struct server_verdict *verdict);

/* Read the answers. If verdict->is_up is false, nothing else is set. The arrays are in the
 * arena. */
void server_read_rooms(struct arena *arena, const struct server *server, int64_t now,
		       const struct outcome *outcome, struct server_verdict *verdict,
		       struct server_room **rooms, size_t *count);
void server_read_people(struct arena *arena, const struct server *server, int64_t now,
			const struct outcome *outcome, struct server_verdict *verdict,
			struct server_person **people, size_t *count);
/* Reads the same answer; what those people publish, and who is there that nobody sees. tracks,
 * hidden: NULL if they are not wanted. */
void server_read_everything(struct arena *arena, const struct server *server, int64_t now,
			    const struct outcome *outcome, struct server_verdict *verdict,
			    struct server_person **people, size_t *count,
			    struct server_published **tracks, size_t *track_count,
			    struct server_hidden *hidden);
/* person->stay.data is NULL if the server has no such person. */
void server_read_person(struct arena *arena, const struct server *server, int64_t now,
			const struct outcome *outcome, struct server_verdict *verdict,
			struct server_person *person, struct server_track **tracks, size_t *count);

/* ---- acting ---- */

/* Builds the request to mute a track of a person, or to unmute it. The type must have
 * SERVER_MUTE. */
void server_mute(struct arena *arena, const struct server *server, int64_t now, struct slice room,
		 struct slice identity, struct slice track, bool mutes,
		 struct server_request *request);

/* Builds the request to send a message to the people with these identities: an array that is not
 * empty; or NULL for everybody in the room, recorders and agents too. topic: tells programs of what
 * kind it is. The type must have SERVER_MESSAGE. */
void server_send_message(struct arena *arena, const struct server *server, int64_t now,
			 struct slice room, const json_t *identities, struct slice topic,
			 struct slice message, struct server_request *request);

/* Builds the request to put out whoever has this identity now. The type must have
 * SERVER_REMOVE. */
void server_remove_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity, struct server_request *request);
/* Builds the request to set what a person is and may do, all at once. guest: role, user_id, entry,
 * code, and what the role may do. If role.data is NULL, all of these stay as they are. If name.data
 * is NULL, the name and its origin stay; if hand.data or consent.data is NULL, so does that. If
 * metadata.data is NULL, the metadata stays. The type must have SERVER_ROLE. */
void server_update_person(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, struct slice identity,
			  const struct access_guest *guest, struct slice metadata,
			  struct server_request *request);
/* Builds the request to end a room: everybody is put out. The type must have SERVER_END. */
void server_end_room(struct arena *arena, const struct server *server, int64_t now,
		     struct slice room, struct server_request *request);

/* Returns true if the server does not create rooms when somebody joins (create_rooms). */
bool server_makes_rooms(enum backend_type type, const json_t *config);
/* Builds the request to make a room. If the server has the room, the request changes nothing, so it
 * may be sent again. size: the most people; 0 for no limit. agents: as in struct access_guest.
 * server_makes_rooms must be true. */
void server_make_room(struct arena *arena, const struct server *server, int64_t now,
		      struct slice room, int64_t size, const json_t *agents,
		      struct server_request *request);
void server_read_made(struct arena *arena, const struct server *server, int64_t now,
		      const struct outcome *outcome, struct server_verdict *verdict);

/* What came of a request that changes something. */
enum server_result {
	SERVER_DONE,
	SERVER_HAS_NOBODY, /* neither the person nor the room is there */
	SERVER_FORBIDS, /* a setting of the server, which the verdict names, forbids it */
	SERVER_FAILED, /* nothing was done; the verdict says why */
	SERVER_MAYBE_DONE /* the request was sent, and no answer came */
};
enum server_result server_read_result(struct arena *arena, const struct server *server, int64_t now,
				      const struct outcome *outcome,
				      struct server_verdict *verdict);

/* ---- events: what the server reports by itself ---- */

enum server_event_type {
	SERVER_JOINED,
	SERVER_LEFT,
	SERVER_NOT_CONNECTED, /* somebody's media was never connected */
	SERVER_ROOM_ENDED
};

/* Why a stay ended. Stored in records, so a number never gets another meaning. */
enum leave_cause {
	LEAVE_LEFT,
	LEAVE_OTHER_DEVICE,
	LEAVE_REMOVED,
	LEAVE_ENDED,
	LEAVE_SIGNAL,
	LEAVE_SIP,
	LEAVE_MEDIA,
	LEAVE_SERVER,
	LEAVE_UNSEEN, /* nobody reported it; surveys did not find the person any more */
	/* Only this service knows of these. */
	LEAVE_BANNED,
	LEAVE_FULL,
	LEAVE_NOT_ADMITTED, /* the role is gone, or admits nobody */
	LEAVE_MOVED, /* the room was moved to another media server, and people came there */
	LEAVE_CAUSES
};

struct server_event {
	enum server_event_type type;
	struct server_room room;
	struct server_person person; /* unset for SERVER_ROOM_ENDED */
	enum leave_cause cause; /* of SERVER_LEFT */
	int64_t time; /* milliseconds since 1970; of a clock with whole seconds */
};

/* Returns true if the server signed the event with the key of its config. authorization: the
 * header. now: seconds since 1970. */
bool server_signed_event(struct arena *arena, const struct server *server, int64_t now,
			 struct slice authorization, struct slice body);
/* Reads an event. Returns false if the body is not an event, or if nobody needs events of its
 * kind. */
bool server_read_event(struct arena *arena, const struct server *server, struct slice body,
		       struct server_event *event);

#endif
