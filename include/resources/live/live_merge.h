/* Merges what media servers tell about a room into its records. Events and looks go through the
 * same function, so it does not matter who tells first, how often, or in which order: a stay has
 * one public id (live_record.h), each change of a record notes its event in the same transaction,
 * and news that changes nothing notes nothing. What becomes of news is a table in live_merge.c.
 *
 * A look is a list of the people whom a media server has in a room. Somebody who is missing from it
 * is asked for again after LIVE_MISSED_FOR; if missing again, the stay has ended when it was last
 * seen.
 *
 * A restart of a media server tells nothing: its rooms are gone, and people come back to newer
 * ones. Where somebody does so soon, the session goes on in the newer room.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_MERGE_H
#define RESOURCES_LIVE_LIVE_MERGE_H

#include "resources/live/live_record.h"

/* Milliseconds: after which somebody who was missing from a look must be missing again; for which
 * those who were seen before a room ended were still inside; for which an event may be late for a
 * session that has closed; within which people come back after a restart of the media server. */
#define LIVE_MISSED_FOR 5000
#define LIVE_SEEN_LATELY 5000
#define LIVE_LATE_MOST 60000
#define LIVE_RESTART_MOST 60000

enum news_type {
	NEWS_JOINED, /* an event: somebody is inside */
	NEWS_LISTED, /* a look lists somebody */
	NEWS_LEFT, /* an event */
	NEWS_ENDED, /* an event: the room has ended */
	NEWS_NOT_CONNECTED /* an event: somebody did not get in */
};
#define NEWS_TYPES (NEWS_NOT_CONNECTED + 1)

/* Times are of this service's clock. Slices are borrowed. */
struct news {
	enum news_type type;
	struct server_room room; /* NEWS_LISTED: id.data is NULL if the room is not known yet */
	struct server_person person;
	enum leave_cause cause; /* NEWS_LEFT */
	int64_t time; /* of the event, not later than now; of a look, when it was sent */
};

/* An event for webhooks alone. */
struct told_once {
	struct told_once *next;
	struct slice data;
};

/* Whether people must be judged (resources/live/live_judge.h). */
enum to_be_judged {
	JUDGE_NOBODY,
	JUDGE_ROOM, /* whether there is a place for everybody */
	JUDGE_EVERYBODY
};

struct merging {
	struct id room, backend;
	const struct news *news;
	size_t count;
	bool is_look; /* the news are all people that the media server has in the room */
	int64_t looked; /* of a look: when it was sent */
	/* Results. */
	bool needs_room; /* of a look: somebody is new, so the rooms must be asked for, too */
	bool looks_soon; /* the news do not fit: the room must be looked at */
	bool looks_again; /* somebody was missing: look again after LIVE_MISSED_FOR */
	enum to_be_judged judges;
	bool is_live; /* the room is in session */
	uint64_t inside; /* people; 0 if it is not */
	int64_t empty_since; /* it is, and nobody is inside since this time; else 0 */
	bool left_unseen; /* for live_grace */
	struct told_once *failed; /* of type peer.join.failure */
};

/* Merges news about one room of the call's account, which is in a WRITE transaction; events are
 * noted, but not written (audit_write). */
bool live_merge(struct call *call, struct merging *merging, struct fault *fault);

/* Merges a look: the people whom the media server listed, and the room if it was asked for after
 * them (else NULL), by the server's clock. sent: when they were asked for. merging: the room and
 * the backend; and the results. */
bool live_merge_look(struct call *call, const struct server_person *people, size_t count,
		     const struct server_room *room, int64_t sent, struct merging *merging,
		     struct fault *fault);

/* Returns how long the session of an empty room stays open: `grace` milliseconds, and at least
 * LIVE_RESTART_MOST if those who left last were not seen any more: the media server may have been
 * restarted. */
int64_t live_grace(bool left_unseen, int64_t grace);
/* Closes the room's session if nobody has been inside for live_grace. */
bool live_close_empty(struct call *call, const struct id *room, int64_t grace, bool *is_closed,
		      struct fault *fault);
/* Closes the sessions of a backend that the call deletes. Those inside left when they were last
 * seen. */
bool live_close_backend(struct call *call, const struct id *backend, struct fault *fault);

/* ---- what this service does at the media server ----
 *
 * It is noted before the media server is asked: the media server does not say why people leave, and
 * its events may come before its answer. */

/* Notes that the call ends the room. reason: as written. by: the peer who ended it, or NULL. */
struct ending {
	struct id room;
	struct slice reason;
	const struct peer *by;
	bool locks; /* the room was disabled, too */
};
bool live_order_end(struct call *call, const struct ending *ending, struct fault *fault);
/* The media server has ended the room: closes the session, if it is still open. */
bool live_end(struct call *call, const struct id *room, struct fault *fault);

/* Notes that the call puts the peer out of the room. */
bool live_order_out(struct call *call, const struct id *room, struct peer *peer,
		    enum leave_cause cause, struct slice reason, struct fault *fault);
/* The media server has put out the peer with this uuid: ends the stay, if it still lasts. */
bool live_put_out(struct call *call, const struct id *room, struct slice uuid, struct fault *fault);

/* The media server has again the attributes that the record of this peer has. */
bool live_put_back(struct call *call, const struct id *room, struct slice uuid,
		   struct fault *fault);
/* Gives a peer, as read to be changed, another role, which the media server is still to be told. */
bool live_set_role(struct call *call, const struct id *room, struct peer *peer, struct slice role,
		   struct fault *fault);

/* Begins the account's usage of a new day, with those who are inside. */
bool live_count_day(struct call *call, struct fault *fault);
/* Removes a closed session with its peers. */
bool session_remove(struct call *call, const struct session *session, struct fault *fault);

#endif
