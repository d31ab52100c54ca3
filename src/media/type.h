/* A type of media server: what its file, media/TYPE.c, has for the other files of this folder.
 * types.c has the table of them, a row for each type; access.c writes tokens and links with it, and
 * server.c asks media servers and reads what they say. Nothing outside this folder knows a type.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MEDIA_TYPE_H
#define MEDIA_TYPE_H

#include "media/server.h"

struct access;

/* How a media server is asked, and what it says. */
struct server_functions {
	const char *product; /* the name in "not a LiveKit" */
	void (*list_rooms)(struct arena *arena, const struct server *server, int64_t now,
			   const json_t *names, struct server_request *request);
	void (*list_people)(struct arena *arena, const struct server *server, int64_t now,
			    struct slice room, struct server_request *request);
	void (*ask_person)(struct arena *arena, const struct server *server, int64_t now,
			   struct slice room, struct slice identity,
			   struct server_request *request);
	void (*probe_rooms)(struct arena *arena, const struct server *server, int64_t now,
			    struct server_request *request);
	/* Returns what to set in the backend if the server does not create rooms by itself, else
	 * NULL. */
	const char *(*read_probe)(int status, struct slice answer);
	/* NULL without SERVER_REMOVE. */
	void (*remove_person)(struct arena *arena, const struct server *server, int64_t now,
			      struct slice room, struct slice identity,
			      struct server_request *request);
	/* NULL without SERVER_MUTE. */
	void (*mute)(struct arena *arena, const struct server *server, int64_t now,
		     struct slice room, struct slice identity, struct slice track, bool mutes,
		     struct server_request *request);
	/* NULL without SERVER_ROLE. */
	void (*update_person)(struct arena *arena, const struct server *server, int64_t now,
			      struct slice room, struct slice identity,
			      const struct access_guest *guest, struct slice metadata,
			      struct server_request *request);
	/* NULL without SERVER_MESSAGE. */
	void (*send_message)(struct arena *arena, const struct server *server, int64_t now,
			     struct slice room, const json_t *identities, struct slice topic,
			     struct slice message, struct server_request *request);
	/* NULL without SERVER_END. */
	void (*end_room)(struct arena *arena, const struct server *server, int64_t now,
			 struct slice room, struct server_request *request);
	/* NULL if the server always creates rooms by itself. */
	void (*make_room)(struct arena *arena, const struct server *server, int64_t now,
			  struct slice room, int64_t size, const json_t *agents,
			  struct server_request *request);
	/* Read an answer of status 200. answer: NULL if it is incomplete or not a JSON object.
	 * Return false, and set nothing, if it is not what was asked for. */
	bool (*read_rooms)(struct arena *arena, const json_t *answer, struct server_room **rooms,
			   size_t *count);
	/* tracks, hidden: NULL if they are not wanted. */
	bool (*read_people)(struct arena *arena, const json_t *answer,
			    struct server_person **people, size_t *count,
			    struct server_published **tracks, size_t *track_count,
			    struct server_hidden *hidden);
	bool (*read_person)(struct arena *arena, const json_t *answer, struct server_person *person,
			    struct server_track **tracks, size_t *count);
	/* Returns true if an answer with another status says that there is no such person, or no
	 * such room. */
	bool (*lacks_person)(int status, const json_t *answer);
	/* Returns the setting of the server by which it refuses something, or NULL. */
	const char *(*forbids)(int status, const json_t *answer);
	bool (*signed_event)(struct arena *arena, const struct server *server, int64_t now,
			     struct slice authorization, struct slice body);
	/* body: NULL if it is not a JSON object. */
	bool (*read_event)(const json_t *body, struct server_event *event);
};

struct media_type {
	/* Writes the members of the access that only this type has: tokens and links. Returns false
	 * if the key cannot sign. */
	bool (*write_access)(struct access *access);
	const struct server_functions *server; /* NULL: it cannot be asked */
	/* Restrictions of a role that the server cannot enforce. */
	bool any_source; /* a person who may publish something can publish anything */
	bool any_guest; /* a person who may publish nothing can publish anything */
	bool part_of_roles; /* a person who may subscribe to some roles can subscribe to all */
	bool all_roles; /* a person who may subscribe to no role can subscribe to all */
	bool peers, moderation, expiry;
	/* Returns true if the access lets a moderator do more than the role does; or NULL. */
	bool (*gives_more)(const struct access_server *server, const struct access_guest *guest);
	bool has_page; /* where people join without a client application */
};
extern const struct media_type media_types[BACKEND_TYPES_COUNT];

/* ---- the files of the types ---- */

bool livekit_write_access(struct access *access);
/* Returns true if moderators get LiveKit's own rights over the room. */
bool livekit_gives_room_admin(const struct access_server *server, const struct access_guest *guest);
extern const struct server_functions livekit_functions;
bool jitsi_write_access(struct access *access);
bool galene_write_access(struct access *access);
bool bigbluebutton_write_access(struct access *access);
bool janus_write_access(struct access *access);
bool jwt_write_access(struct access *access);

#endif
