/* Live rooms as they are stored.
 *
 * A room in session has one record, `live`; whoever changes anything about the room's people locks
 * it first. A session is one continuous meeting in a room, a peer is one stay of one person in a
 * session; both remain after the meeting. A person whose token has an entry is found by it
 * (`inside`) as long as one of the stays lasts. Usage is counted by account and day.
 *
 * A peer's id begins with the time at which it joined, so the peers of a session are listed in this
 * order; its name is its public id, a UUID that follows from the media server's own id of the stay
 * (uuid_of). Whatever reports a stay, and however often, therefore names the same peer.
 *
 * Times are in milliseconds since 1970, of this service's clock unless a comment says otherwise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_STORED_LIVE_RECORD_H
#define RESOURCES_STORED_LIVE_RECORD_H

#include "base/text.h"
#include "media/server.h"
#include "records/record.h"
#include "resources/call.h"
#include "rules/role_rules.h"

/* What a media server reports is cut, or left out, beyond these sizes in bytes. */
#define LIVE_ID_MOST 256 /* ids and identities of a media server */
#define LIVE_NAME_MOST 512
#define LIVE_METADATA_MOST 4096
#define LIVE_ROLE_MOST 512
/* What a caller may write to people who are put out, in bytes; and who that was. */
#define LIVE_REASON_MOST 1024
#define LIVE_ACTOR_MOST 128
#define LIVE_CONSENT_MOST 256 /* which sentence was shown: 64 characters */
/* Different roles inside a room; people with further roles are counted without a role. */
#define LIVE_ROLES_MOST 200

struct live_role {
	struct slice name;
	uint32_t count; /* of those inside; not 0 */
};

/* What moderators can take from people until the session closes. Stored in records, so a number
 * never gets another meaning. */
enum held_source { HELD_AUDIO, HELD_VIDEO, HELD_SOURCES };
extern const char *const held_source_names[HELD_SOURCES];
/* Most holds of a room: of each source, one of all people and one of each role. */
#define HOLDS_MOST ((ROLES_MOST + 1) * HELD_SOURCES)
/* A source that is taken from those with a role, or from all; or a role that has it back although
 * it is taken from all. */
struct hold {
	enum held_source source;
	struct slice role; /* empty for all */
	bool is_freed;
};

/* A room in session. Its id is the room's. */
struct live {
	struct store_record stored; /* value.data NULL if the room is not in session */
	struct id session, backend;
	struct slice server_room; /* the media server's own id of the room */
	int64_t server_created; /* when the media server made the room, by its own clock */
	int64_t received, surveyed; /* the last event, and the last survey; 0 if none */
	int64_t left; /* the latest left_at of the session; 0 if nobody has left */
	bool left_unseen; /* that of a stay that surveys did not find any more */
	/* When the room was ordered to end, before the media server was asked; 0 if it was not.
	 * Who did so, as the event log names it, and why. */
	int64_t ending;
	struct slice end_reason, end_actor;
	struct slice end_peer; /* the uuid of the peer who did so; empty if a program did */
	bool end_locks; /* the room was disabled, too */
	bool has_given; /* a call gave somebody a role (struct given_role) */
	bool has_door, is_locked; /* its door has a state (door_record.h); is locked */
	/* When the session began to close, in steps (live_merge.h); 0 if it does not. Then also
	 * when the media server's room ended; 0 if that is not known. */
	int64_t closing, ended;
	/* Of a room of a pool that was moved (resources/media/placing.h): where it is now, as long
	 * as nobody of the session was reported there; else zero. And when it was last moved during
	 * the session; 0 if it was not. Both are not in a dump: there, a room is at `backend`. */
	struct id moves_to;
	int64_t moved;
	struct live_role *roles; /* in the order in which they came, with room for one more */
	size_t role_count;
	struct hold *holds; /* resources/live/live_holds.h */
	size_t hold_count;
};

struct session {
	struct store_record stored; /* parent: the room */
	bool is_active; /* the switch */
	struct id template_id, backend;
	struct slice room_name; /* when the session opened */
	struct slice title; /* of the room, when the session opened; empty if it had none */
	struct slice server_room;
	int64_t created; /* when the first peer joined */
	int64_t updated;
	int64_t closed; /* 0 while it is active */
	uint64_t peer_count; /* stays, in all */
	uint64_t asset_count; /* files of jobs that began in it, which keep it */
	bool was_ended; /* by a call or a rule; else everybody left, or the media server ended it */
};

struct peer {
	struct store_record stored; /* parent: the session */
	struct slice uuid; /* the name: the public id */
	bool is_inside; /* the switch */
	bool is_anonymous; /* of an account with sessions=off */
	bool is_by_phone;
	struct slice stay, identity; /* as the media server names them */
	struct slice entry, code; /* of its token; empty if it had none */
	/* Name and metadata are empty for an anonymous peer; its user_id and role are kept while it
	 * is inside. */
	struct slice name, user_id, role, metadata;
	int64_t joined;
	int64_t left; /* 0 while it is inside */
	int64_t seen; /* the last event that shows it inside, or the last survey before a miss */
	/* After `seen`: the first survey that did not find it. Equal to `seen`: only surveys that
	 * were sent before it was known did not find it. Else 0: the last survey found it. */
	int64_t missed;
	enum leave_cause cause; /* once it has left */
	/* Why it is to be put out, as noted before the media server is asked: LEAVE_LEFT if it is
	 * not. What the caller wrote, and who it was, as the event log names it. */
	enum leave_cause order;
	bool order_last; /* after all others who are to be put out, because it did so itself */
	struct slice order_reason, order_actor;
	/* The media server has other attributes of it than this record, or had other rights than
	 * the role when it was asked: they are put back. */
	bool is_strange;
	/* Of enum server_right: what it may do there as far as is known, which is put back if it is
	 * something else than the role may do, less what is held. 0 if it is not known. */
	uint32_t rights;
	enum name_origin name_origin;
	struct slice new_name; /* which the media server must still be given; empty if none */
	/* While it is inside: the record of its name (struct shown_name); zero if it has none. */
	struct id name_id;
	/* When the person agreed to be recorded, and withdrew that since; 0 if never. Which
	 * sentence was shown; empty if that is not known. Of an anonymous peer as long as it is
	 * inside. */
	int64_t consented, withdrawn;
	struct slice consent_text;
};

/* What must not come back: anybody who has a token with this entry, or a room that was deleted.
 * Kept as long as tokens may be valid. */
struct revocation {
	struct store_record stored;
	struct slice name; /* the entry, or the id of the room */
	struct id room;
	enum leave_cause cause;
	struct slice reason; /* as written; may be empty */
	int64_t until;
};

/* What calls have set of somebody until the session closes: the role that was given; whether the
 * person agrees to be recorded. Its id is given_role_id. */
struct given_role {
	struct store_record stored; /* parent: the session */
	struct slice role; /* empty if none was given */
	bool has_consent; /* the person agreed, or withdrew */
	int64_t consented; /* when; 0: withdrew */
	struct slice consent_text; /* as in struct peer */
};

/* The stays of one person in a room, by the entry of the token. Its id is inside_id. */
#define INSIDE_MOST 4
struct inside_stay {
	struct slice uuid; /* the name of the peer */
};
struct inside {
	struct store_record stored; /* parent: the room */
	struct slice entry;
	struct inside_stay *stays; /* those inside, in the order in which they came */
	size_t stay_count;
};

/* A name that people inside a room have (live_names.h). */
#define NAMED_MOST 8
struct named_stay {
	struct slice uuid; /* the name of the peer */
	struct slice entry; /* of its token; empty if it had none */
	struct slice user_id; /* if the account set it, else empty */
	enum name_origin origin;
};
struct shown_name {
	struct store_record stored; /* parent: the room */
	uint64_t count; /* stays with the name */
	struct named_stay *stays; /* those that came last */
	size_t stay_count;
};

/* What an account's rooms had on one day (UTC). Its id is usage_id of the day. */
struct usage {
	struct store_record stored;
	int64_t day; /* days since 1970; only in a dump, else usage_day of the id */
	uint64_t sessions, peers; /* that began on this day */
	uint64_t milliseconds; /* of stays that ended on this day */
	uint64_t peak; /* most people inside at once */
};

/* What an account's rooms have now; one record. */
struct usage_now {
	struct store_record stored;
	uint64_t sessions, peers;
};

/* The account of a media server that can be asked. Its id is the backend's; the record belongs to
 * no account, so that a backend is found by its id alone, and all of them in pages. */
struct backend_account {
	struct store_record stored;
	struct id account;
};

extern const struct record_table live_table, session_table, peer_table, inside_table, usage_table,
	usage_now_table, backend_account_table, revocation_table, given_role_table,
	shown_name_table;

/* Returns true if the account set the user_id, for a code or in a token that it signed: only then
 * does the media server have it as the identity. */
bool peer_has_known_user(const struct peer *peer);

/* Returns when the person agreed to be recorded, in milliseconds; 0 if the person does not agree
 * now. */
int64_t peer_consent(const struct peer *peer);
/* Writes when and to what the person agreed, and when that was withdrawn, as far as it is so. */
void peer_write_consent(struct json_writer *body, const struct peer *peer);
/* Returns the same in seconds as text, as tokens and media servers have it; empty if the person
 * does not agree. */
struct slice consent_as_text(struct arena *arena, int64_t consented);

/* Returns the id of a peer with this public id. */
struct id peer_id(int64_t joined, struct slice uuid);
/* Two rooms may have people with the same entry, for whatever reason. */
struct id inside_id(const struct id *room, struct slice entry);
/* Returns the id of a role that was given to a person: by the entry, or by the user_id. */
struct id given_role_id(const struct id *session, bool is_entry, struct slice person);
/* Convert between the day of a time, counted from 1970, and the id of its record. */
struct id usage_id(int64_t day);
int64_t usage_day(const struct id *id);
#define USAGE_DAY ((int64_t)24 * 60 * 60 * 1000)

/* Returns true if the room was moved, and nobody has come to where it is now. */
bool live_is_moved(const struct live *live);
/* Returns where the room is: at the media server of its session, or where it was moved to. */
const struct id *live_backend(const struct live *live);
/* Notes that the room, if it is in session, was moved to this media server. */
bool live_note_move(struct call *call, const struct id *room, const struct id *to,
		    struct fault *fault);
/* Returns how many people are inside. */
uint64_t live_peers(const struct live *live);
/* Returns how many of them have this role. */
uint64_t live_peers_with(const struct live *live, struct slice role);
/* Returns true if the peer, as it was read, exists and is inside. */
bool live_has_peer(const struct live *live, const struct peer *peer);
/* Counts somebody with this role who comes or leaves. Beyond LIVE_ROLES_MOST different roles,
 * people are counted without a role. */
void live_count(struct arena *arena, struct live *live, struct slice role, bool comes);

bool live_load(struct call *call, const struct id *room, enum store_reading reading,
	       struct live *live, struct fault *fault);
/* Does the same to show what is now: with LIVE_OFF, the records are not followed, and no room is in
 * session. */
bool live_load_followed(struct call *call, const struct id *room, struct live *live,
			struct fault *fault);
bool session_load(struct call *call, const struct id *id, enum store_reading reading,
		  struct session *session, struct fault *fault);
/* Reads a session's page of peers, oldest first, at most `most` with at most `bytes_most` bytes (0:
 * no limit). after: the id before the first one; NULL for the first page. */
struct peer_page {
	enum store_side side; /* STORE_ON: those inside */
	const struct id *after;
	size_t most, bytes_most;
	struct peer *peers; /* results, in the arena */
	size_t count;
	bool is_last;
};
bool peers_read(struct call *call, const struct id *session, struct peer_page *page,
		struct fault *fault);

extern const char *const leave_cause_names[LEAVE_CAUSES];

/* Begins a walk over the peers of a session, oldest first (store_walk_pages). session: borrowed.
 * Without `keeps` the session may have any size, since a READ transaction releases what was read,
 * and what the loop leaves in the arena of the call. */
struct store_walk peers_walk(struct call *call, const struct id *session, enum store_side side,
			     bool keeps, struct fault *fault);
bool peers_next(struct store_walk *walk, struct peer *peer);

/* Finds the stays of an entry in a room; value.data is NULL if there are none. */
bool inside_find(struct call *call, const struct id *room, struct slice entry,
		 enum store_reading reading, struct inside *inside, struct fault *fault);
/* Finds those that a former program has stored, without the room. */
bool inside_find_former(struct call *call, const struct id *room, struct slice entry,
			enum store_reading reading, struct inside *inside, struct fault *fault);
/* Finds the peer inside whose token has this entry; of several stays, the one that came last. */
bool live_find_entry(struct call *call, const struct live *live, struct slice entry,
		     struct peer *peer, bool *is_there, struct fault *fault);
/* Lists a peer who is inside under its entry, if it has one. */
bool inside_add(struct call *call, const struct id *room, const struct peer *peer,
		struct fault *fault);

/* Set or remove the record by which a backend of the call's account is found by its id alone.
 * FAULT_AGAIN if a backend of another account has the id: when the call is run again, it draws
 * another one. */
bool backend_account_put(struct call *call, const struct id *backend, struct fault *fault);
bool backend_account_remove(struct call *call, const struct id *backend, struct fault *fault);

#endif
