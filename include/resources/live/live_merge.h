/* Merges what media servers report about a room into its records. Events and surveys go through the
 * same function, so it does not matter which comes first, how often, or in which order: a stay has
 * one public id (live_record.h), each change of a record notes its event in the same transaction,
 * and a report that changes nothing notes nothing. A table in live_merge.c says what becomes of a
 * report.
 *
 * A survey is a list of the people whom a media server has in a room. Somebody who is missing from
 * it is asked for again after LIVE_MISSED_FOR; if missing again, the stay has ended when it was
 * last seen.
 *
 * A session closes in steps, each a transaction that ends a few hundred stays, so that a session of
 * any size closes. The first step notes it in the record of the room; until the last one the
 * session is active, and all reports of the room wait. background/live_watch.c takes the steps.
 *
 * A media server does not report its restart: its rooms are gone, and people come back to newer
 * ones. Where somebody does so soon, the session goes on in the newer room.
 *
 * A room of a pool may have been moved (resources/media/placing.h). From then on, nothing is merged
 * that its former media server reports; and as soon as somebody is reported at the new one, the
 * session goes on there. Those who were inside have left then, in steps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_LIVE_LIVE_MERGE_H
#define RESOURCES_LIVE_LIVE_MERGE_H

#include "resources/stored/live_record.h"
#include "resources/stored/place_record.h"

/* Milliseconds: after which somebody who was missing from a survey must be missing again; for which
 * those who were seen before a room ended were still inside; for which an event may be late for a
 * session that has closed; within which people come back after a restart of the media server. */
#define LIVE_MISSED_FOR 5000
#define LIVE_SEEN_LATELY 5000
#define LIVE_LATE_MOST 60000
#define LIVE_RESTART_MOST 60000

enum report_type {
	REPORT_JOINED, /* an event: somebody is inside */
	REPORT_LISTED, /* a survey lists somebody */
	REPORT_LEFT, /* an event */
	REPORT_ENDED, /* an event: the room has ended */
	REPORT_NOT_CONNECTED /* an event: somebody did not get in */
};
#define REPORT_TYPES (REPORT_NOT_CONNECTED + 1)

/* Times are of this service's clock. Slices are borrowed. */
struct report {
	enum report_type type;
	struct server_room room; /* REPORT_LISTED: id.data is NULL if the room is not known yet */
	struct server_person person;
	enum leave_cause cause; /* REPORT_LEFT */
	int64_t time; /* of the event, not later than now; of a survey, when it was sent */
};

/* An event for webhooks alone. */
struct unlogged_event {
	struct unlogged_event *next;
	struct slice data;
};

/* What must be enforced (resources/live/live_enforcement.h). */
enum enforce_scope {
	ENFORCE_NOTHING,
	ENFORCE_PLACES, /* whether there is a place for everybody */
	ENFORCE_ALL
};

/* How far a survey is merged, and the place at which a step begins: a transaction may be run
 * again. */
struct survey_steps;
struct survey_place {
	unsigned phase; /* private to live_merge.c */
	bool has_begun, misses, has_restarted;
	size_t next; /* of those who are listed, the oldest first */
	struct id session, after; /* zero if there is none */
};

struct merging {
	struct id room, backend;
	bool is_in_pool; /* the backend is in a pool, so that the room may have a place elsewhere */
	const struct report *reports;
	size_t count;
	bool is_survey; /* the reports are all people that the media server has in the room */
	int64_t surveyed; /* of a survey: when it was sent */
	/* Of a survey: one step of it is merged (live_survey_prepare); NULL: all of it. */
	struct survey_steps *steps;
	/* Whoever has this entry is stored whatever the limit of stays; may be empty. */
	struct slice caller;
	/* Results. */
	/* so many reports, the first ones; the others must be merged again, because: */
	size_t merged;
	/* the session closes (live_close_on); nothing of a survey is merged then */
	bool is_closing;
	/* those are leaving who were inside where the room was before; merge the rest again */
	bool is_moving;
	bool is_stray; /* nothing was merged, because the room is at another backend of the pool */
	struct id at; /* if the room is in session: where it is */
	bool needs_room; /* of a survey: somebody is new, so the rooms must be asked for, too */
	bool needs_survey; /* the reports do not fit, so the room must be surveyed */
	/* somebody was missing: survey the room again after LIVE_MISSED_FOR */
	bool needs_second_survey;
	bool is_over; /* somebody was not stored because of the limit (resources/live/stay_limits.h) */
	enum enforce_scope enforces;
	bool is_live; /* the room is in session */
	uint64_t inside; /* people; 0 if it is not */
	/* It is, and nobody is inside since this time, or nobody has come since it was moved; else
	 * 0. */
	int64_t empty_since;
	bool left_unseen; /* for live_grace */
	struct unlogged_event *failed; /* of type peer.join.failure */
};

/* Merges reports of one room of the call's account, which is in a WRITE transaction; events are
 * noted, but not written (audit_write). */
bool live_merge(struct call *call, struct merging *merging, struct fault *fault);

/* Prepares a survey: the people whom the media server listed, and the room if it was asked for
 * after them (else NULL), by the server's clock. sent: when they were asked for. merging: the room
 * and the backend. It is in the arena of the call, and is merged in steps: each is a live_merge,
 * until live_survey_is_merged. Those inside by the records come first, then those who are new, in
 * the order in which they joined. If a step needs the room, live_survey_name_room goes on after
 * it. */
bool live_survey_prepare(struct call *call, const struct server_person *people, size_t count,
			 const struct server_room *room, int64_t sent, struct merging *merging,
			 struct fault *fault);
struct survey_steps *live_survey_steps(struct arena *arena, struct report *reports, size_t count);
bool live_survey_is_merged(const struct survey_steps *steps);
void live_survey_name_room(struct merging *merging, const struct server_room *room);
/* Return the place of a step, and go back to it. */
struct survey_place live_survey_place(const struct survey_steps *steps);
void live_survey_return(struct survey_steps *steps, const struct survey_place *place);

/* Finds out whether people who are in the room at this backend, which is in a pool, should be
 * elsewhere. */
struct live_stray {
	bool is_stray;
	struct place place; /* of the room; its record may not be there */
	bool was_moved; /* from there; or from wherever, and it is not known any more from where */
};
bool live_find_stray(struct call *call, const struct id *room, const struct id *backend,
		     struct live_stray *stray, struct fault *fault);

/* Returns how long the session of an empty room stays open: `grace` milliseconds, and at least
 * LIVE_RESTART_MOST if those who left last were not seen any more, or the room was moved: the media
 * server may have been restarted, or may have died. */
int64_t live_grace(bool left_unseen, int64_t grace);
/* Closes the room's session if nobody has been inside for live_grace. */
bool live_close_empty(struct call *call, const struct id *room, int64_t grace, bool *is_closed,
		      struct fault *fault);
/* Takes the next step of a session that closes. is_gone: also of one whose backend was deleted,
 * which may not have begun to. *is_closing: there is another step. */
bool live_close_on(struct call *call, const struct id *room, bool is_gone, bool *is_closing,
		   struct fault *fault);
/* Closes the sessions of a backend that the call deletes, or begins to. Those inside left when they
 * were last seen. */
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
/* The media server has ended the room: closes the session, if it is still open, or begins to. */
bool live_end(struct call *call, const struct id *room, struct fault *fault);

/* Notes that the call puts the peer out of the room. */
bool live_order_out(struct call *call, const struct id *room, struct peer *peer,
		    enum leave_cause cause, struct slice reason, struct fault *fault);
/* The media server has put out the peer with this uuid: ends the stay, if it still lasts. */
bool live_put_out(struct call *call, const struct id *room, struct slice uuid, struct fault *fault);

/* The media server has again the attributes that the record of this peer has. guest: what it was
 * given: rights, and a name (peer->new_name), empty if it was given none. */
bool live_put_back(struct call *call, const struct id *room, struct slice uuid,
		   const struct access_guest *guest, struct fault *fault);
/* Gives a peer, as read to be changed, another role, which the media server must still be given. */
bool live_set_role(struct call *call, const struct id *room, struct peer *peer, struct slice role,
		   struct fault *fault);

/* Has something done about the room once the call is committed. wants: of enum room_want
 * (resources/live/live_queue.h). */
void live_want(struct call *call, const struct id *room, unsigned wants);

/* Begins the account's usage of a new day, with those who are inside. */
bool live_count_day(struct call *call, struct fault *fault);
/* Removes a closed session with its peers. */
bool session_remove(struct call *call, const struct session *session, struct fault *fault);

#endif
