/* Messages from this service to people in a room, who get them from the media server.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_MESSAGE_H
#define RESOURCES_LIVE_LIVE_MESSAGE_H

#include "resources/live/live_caller.h"

/* A message. Borrowed. */
struct message {
	const struct live_view *view;
	const struct server *server;
	const struct peer *peer; /* the only one who gets it, or NULL */
	/* Without `peer`: the roles of those who get it; none: all. */
	const struct slice *roles;
	size_t role_count;
	struct slice topic, text;
	unsigned patience; /* of its requests (struct server_request) */
	unsigned step; /* of the call that asks for it (struct asking) */
	bool is_for_all; /* if it cannot be sent to all of them, it is sent to nobody */
};

/* Makes the call ask for the message to be sent, in as many requests as its addressees need.
 * *is_asked: false if nobody is to get it. Sets FAULT_TOO_LARGE with is_for_all if one call cannot
 * make so many. */
bool message_ask(struct call *call, const struct message *message, bool *is_asked,
		 struct fault *fault);

/* Notifies those who are inside and may decide about the door of how many people wait at it. Asks
 * for nothing if there is nobody, or the room is not in session. */
bool message_ask_of_waiting(struct call *call, const struct id *room, struct fault *fault);
/* Does the same for what the door does. */
bool message_ask_of_door(struct call *call, const struct id *room, struct fault *fault);
/* Does the same for those who may mute others: that something is held, or is held no more. */
bool message_ask_of_holds(struct call *call, const struct id *room, struct fault *fault);
/* Notifies everybody inside that a recording or a stream of the room has changed. */
bool message_ask_of_jobs(struct call *call, const struct id *room, struct fault *fault);

/* Notifies those inside who have one of these roles that what the role may do has changed. Asks for
 * nothing if there is nobody, or the room is not in session. */
struct notified_roles;
bool message_ask_of_roles(struct call *call, const struct id *room,
			  const struct notified_roles *notified, struct fault *fault);

/* ---- why people are put out ---- */

/* The topic of messages that this service sends by itself; milliseconds to wait for them. */
#define OWN_TOPIC SLICE("anteroom")
#define NOTICE_PATIENCE 1000

/* Returns the text of such a message. type: "removed" or "ended". reason: as written. */
struct slice message_why(struct arena *arena, const char *type, const char *cause,
			 struct slice reason);
/* Builds the request that sends it to one person. */
void message_to_person(struct call *call, const struct server *server, struct slice room,
		       struct slice identity, struct slice why, struct server_request *request);

#endif
