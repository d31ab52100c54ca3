/* See resources/live/live_merge.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_merge.h"

#include <stdlib.h>
#include <string.h>

#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/entry_rules/entry_rules.h"
#include "resources/garbage.h"
#include "resources/media/media_join.h"
#include "resources/live/live_events.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_names.h"
#include "resources/live/live_queue.h"
#include "resources/stored/revocations.h"
#include "resources/live/stay_limits.h"
#include "resources/media/backend_health.h"
#include "resources/media/placing.h"
#include "resources/stored/code_record.h"
#include "resources/stored/door_record.h"
#include "resources/stored/media_record.h"
#include "resources/stored/room_record.h"
#include "resources/templates/template_parts.h"

/* Peers that are read together while a session closes, and whose stays one transaction ends. */
#define CLOSED_AT_ONCE 64
#define CLOSED_MOST 256
/* People inside, and people who are new, whom one step of a survey goes through. */
#define INSIDE_IN_STEP 256
#define LISTED_IN_STEP 64
/* Of those for whom the limit of stays leaves no place, and who must go, so many are stored in a
 * step all the same: as many as are put out at once (live_enforcement.h). */
#define MUST_GO_IN_STEP 16
/* Sessions that a call begins to close, and that it goes through. The watch finds those beyond. */
#define CLOSINGS_MOST 1000
#define CLOSINGS_VISITED 10000
/* How many of the sessions of a room that closed last a late event may belong to. */
#define LATE_SESSIONS 8
/* Milliseconds after which an order to end a room no longer explains its end. */
#define ENDING_LASTS 60000
/* After a restart of the media server, as many stays inside, and as many that have ended, are
 * compared with those who come; and as many inside are ended at once. Surveys find that the others
 * are gone. */
#define RESTART_STAYS_MOST 10000
#define RESTART_ENDED_MOST 1000
/* Stays at the former media server that one transaction ends once people are where the room was
 * moved to. */
#define MOVED_AT_ONCE 256
/* Different days that one merge counts for. */
#define DAYS_MOST 4
/* How long usage is kept, in days, and how many old days are removed with a new one. */
#define USAGE_KEPT 400
#define USAGE_DROPPED 4

/* ---- what becomes of a report ---- */

/* What is known of the stay that the report is about. */
enum stay_state { STAY_UNKNOWN, STAY_INSIDE, STAY_LEFT, STAY_GONE, STAY_STATES };

/* How the room of the report compares with that of the open session. */
enum session_match {
	SESSION_SAME, /* the media server's room is that of the session */
	SESSION_NEWER, /* it was made after that of the session */
	SESSION_OLDER,
	SESSION_BEFORE, /* it is where the session goes on; that is still at the former backend */
	SESSION_NONE, /* no session is open */
	SESSION_MATCHES
};

enum act {
	IGNORE,
	ADD, /* a new peer of the session */
	OPEN, /* a new session with this peer */
	REPLACE, /* close the session, then OPEN; or go on with it (session_continues) */
	MOVE, /* go on with the session at this backend */
	UPDATE, /* name and metadata */
	LEAVE,
	ADD_LEFT, /* a peer that joined and left */
	ADD_LATE, /* the same in the session that closed last, if that was lately */
	CLOSE, /* the session */
	NOTIFY /* webhooks, and nothing else */
};

/* A stay is gone if surveys did not find it any more, or it was where the room was before it was
 * moved. A late event that says that it joined is ignored; if a survey finds it, it is a new
 * peer. */
/* clang-format off */
static const enum act acts[REPORT_TYPES][STAY_STATES][SESSION_MATCHES] = {
	[REPORT_JOINED] = {
		/*                 SAME    NEWER    OLDER     BEFORE  NONE */
		[STAY_UNKNOWN] = { ADD,    REPLACE, IGNORE,   MOVE,   OPEN },
		[STAY_INSIDE]  = { UPDATE, IGNORE,  IGNORE,   IGNORE, IGNORE },
		[STAY_LEFT]    = { UPDATE, IGNORE,  IGNORE,   IGNORE, IGNORE },
		[STAY_GONE]    = { IGNORE, IGNORE,  IGNORE,   IGNORE, IGNORE },
	},
	[REPORT_LISTED] = {
		[STAY_UNKNOWN] = { ADD,    REPLACE, IGNORE,   MOVE,   OPEN },
		[STAY_INSIDE]  = { UPDATE, IGNORE,  IGNORE,   IGNORE, IGNORE },
		[STAY_LEFT]    = { UPDATE, IGNORE,  IGNORE,   IGNORE, IGNORE },
		[STAY_GONE]    = { ADD,    REPLACE, IGNORE,   MOVE,   OPEN },
	},
	[REPORT_LEFT] = {
		[STAY_UNKNOWN] = { ADD_LEFT, IGNORE, ADD_LATE, IGNORE, ADD_LATE },
		[STAY_INSIDE]  = { LEAVE,  LEAVE,   LEAVE,    IGNORE, IGNORE },
		[STAY_LEFT]    = { IGNORE, IGNORE,  IGNORE,   IGNORE, IGNORE },
		[STAY_GONE]    = { IGNORE, IGNORE,  IGNORE,   IGNORE, IGNORE },
	},
	[REPORT_ENDED] = {
		[STAY_UNKNOWN] = { CLOSE,  IGNORE,  IGNORE,   IGNORE, IGNORE },
	},
	[REPORT_NOT_CONNECTED] = {
		[STAY_UNKNOWN] = { NOTIFY, NOTIFY,  NOTIFY,   NOTIFY, NOTIFY },
		[STAY_INSIDE]  = { NOTIFY, NOTIFY,  NOTIFY,   NOTIFY, NOTIFY },
		[STAY_LEFT]    = { NOTIFY, NOTIFY,  NOTIFY,   NOTIFY, NOTIFY },
		[STAY_GONE]    = { NOTIFY, NOTIFY,  NOTIFY,   NOTIFY, NOTIFY },
	},
};
/* clang-format on */

/* ---- the merge ---- */

struct usage_day {
	int64_t day;
	struct usage added;
};

/* A merge, or a closing, under way. */
struct room_merge {
	struct call *call;
	struct merging *merging;
	struct room_record room;
	bool has_room; /* else it was deleted, or never was this account's */
	struct live_settings settings;
	struct live live;
	struct session session; /* that of `live`; set if is_loaded */
	bool is_loaded;
	bool is_changed; /* `live` must be stored */
	bool has_restarted; /* the media server has; `live` has its new room */
	bool is_before; /* the session is to go on at the backend that reports (SESSION_BEFORE) */
	bool has_renamed; /* people besides the one whom the report is about (names_take) */
	struct template_record template; /* set if `rights` is */
	unsigned *rights; /* of its roles; 0 of those that are not known yet; NULL: not loaded */
	struct usage_day days[DAYS_MOST];
	size_t day_count;
	struct usage_now now;
	bool counts; /* `now` has been read */
	uint64_t peak;
	size_t ended; /* stays, by a session that closes */
	size_t beyond_limit; /* stored beyond the limit of stays */
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- usage ---- */

static struct usage *usage_on(struct room_merge *merge, int64_t time)
{
	const int64_t day = time / USAGE_DAY;
	size_t i = 0;

	while (i < merge->day_count && merge->days[i].day != day)
		i++;
	/* Very old stays count for the oldest day that is at hand. */
	if (i == DAYS_MOST)
		return &merge->days[DAYS_MOST - 1].added;
	if (i == merge->day_count)
		merge->days[merge->day_count++] = (struct usage_day){ .day = day };
	return &merge->days[i].added;
}

static bool read_now(struct room_merge *merge, struct fault *fault)
{
	if (merge->counts)
		return true;
	merge->counts = true;
	if (!record_get(&usage_now_table, merge->call->transaction, &kind_only_id, STORE_TO_CHANGE,
			&merge->now, fault))
		return false;
	merge->peak = merge->now.peers;
	return true;
}

static bool count_inside(struct room_merge *merge, bool comes, struct fault *fault)
{
	if (!read_now(merge, fault))
		return false;
	if (comes)
		merge->now.peers++;
	else if (merge->now.peers > 0)
		merge->now.peers--;
	if (merge->now.peers > merge->peak)
		merge->peak = merge->now.peers;
	return true;
}

static bool drop_old_days(struct call *call, int64_t day, struct fault *fault)
{
	const struct id bound = usage_id(day - USAGE_KEPT);
	struct store_record records[USAGE_DROPPED];
	struct store_page page = {
		.order = STORE_OLDEST_FIRST,
		.below = &bound,
		.records = records,
		.most = USAGE_DROPPED,
	};

	if (!store_page(call->transaction, &kind_usage, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!store_remove(call->transaction, &kind_usage, &records[i], fault))
			return false;
	}
	return true;
}

/* Stores what the merge has counted. */
static bool store_usage(struct room_merge *merge, struct fault *fault)
{
	struct call *call = merge->call;
	const int64_t today = call->now / USAGE_DAY;

	if (!merge->counts)
		return true;
	(void)usage_on(merge, call->now);
	for (size_t i = 0; i < merge->day_count; i++) {
		const struct usage *added = &merge->days[i].added;
		const struct id id = usage_id(merge->days[i].day);
		struct usage usage;

		if (!record_get(&usage_table, call->transaction, &id, STORE_TO_CHANGE, &usage,
				fault))
			return false;
		if (usage.stored.value.data == NULL && !drop_old_days(call, today, fault))
			return false;
		usage.stored.id = id;
		usage.sessions += added->sessions;
		usage.peers += added->peers;
		usage.milliseconds += added->milliseconds;
		if (merge->days[i].day == today && merge->peak > usage.peak)
			usage.peak = merge->peak;
		if (!record_put(&usage_table, call->transaction, &usage, fault))
			return false;
	}
	return record_put(&usage_now_table, call->transaction, &merge->now, fault);
}

/* ---- people by their entry ---- */

bool inside_add(struct call *call, const struct id *room, const struct peer *peer,
		struct fault *fault)
{
	struct inside inside;
	struct id id;

	if (peer->entry.size == 0)
		return true;
	id = inside_id(room, peer->entry);
	if (!record_get(&inside_table, call->transaction, &id, STORE_TO_CHANGE, &inside, fault))
		return false;
	if (inside.stay_count == INSIDE_MOST)
		memmove(&inside.stays[0], &inside.stays[1],
			--inside.stay_count * sizeof *inside.stays);
	inside.stored.parent = *room;
	inside.entry = peer->entry;
	inside.stays[inside.stay_count++].uuid = peer->uuid;
	return record_put(&inside_table, call->transaction, &inside, fault);
}

/* Takes a stay out of those that were found. *is_there: whether it was among them. */
static bool inside_take_out(struct call *call, struct inside *inside, const struct peer *peer,
			    bool *is_there, struct fault *fault)
{
	size_t n = 0;

	for (size_t i = 0; i < inside->stay_count; i++) {
		if (!slice_equal(inside->stays[i].uuid, peer->uuid))
			inside->stays[n++] = inside->stays[i];
	}
	*is_there = n < inside->stay_count;
	if (!*is_there)
		return true;
	inside->stay_count = n;
	if (n > 0)
		return record_put(&inside_table, call->transaction, inside, fault);
	return store_remove(call->transaction, &kind_inside, &inside->stored, fault);
}

static bool inside_remove(struct call *call, const struct id *room, const struct peer *peer,
			  struct fault *fault)
{
	struct inside inside;
	bool is_there;

	if (peer->entry.size == 0)
		return true;
	if (!inside_find(call, room, peer->entry, STORE_TO_CHANGE, &inside, fault) ||
	    !inside_take_out(call, &inside, peer, &is_there, fault))
		return false;
	return is_there ||
	       (inside_find_former(call, room, peer->entry, STORE_TO_CHANGE, &inside, fault) &&
		inside_take_out(call, &inside, peer, &is_there, fault));
}

/* ---- peers ---- */

/* The stay that a report is about. */
struct stay {
	enum stay_state state;
	struct peer peer; /* as stored; unset if it is unknown */
	char uuid[UUID_TEXT_SIZE]; /* public id of a new peer */
};

static bool find_stay(struct room_merge *merge, const struct server_person *person,
		      struct stay *stay, struct fault *fault)
{
	struct call *call = merge->call;

	stay->state = STAY_UNKNOWN;
	for (unsigned again = 0;; again++) {
		struct peer peer;

		uuid_of(&merge->merging->backend, person->stay, again, stay->uuid);
		if (!record_get_named(&peer_table, call->transaction, slice_of(stay->uuid),
				      STORE_TO_CHANGE, &peer, fault))
			return false;
		if (peer.stored.value.data == NULL)
			return true;
		stay->peer = peer;
		if (peer.is_inside)
			stay->state = STAY_INSIDE;
		else if (peer.cause == LEAVE_UNSEEN || peer.cause == LEAVE_MOVED)
			stay->state = STAY_GONE;
		else
			stay->state = STAY_LEFT;
		if (stay->state != STAY_GONE)
			return true;
	}
}

/* Returns whether the room is in session, perhaps since this merge. */
static bool is_open(const struct room_merge *merge)
{
	return merge->live.stored.value.data != NULL || merge->is_changed;
}

static bool find_session(struct room_merge *merge, struct fault *fault)
{
	if (merge->is_loaded)
		return true;
	merge->is_loaded = true;
	return session_load(merge->call, &merge->live.session, STORE_TO_CHANGE, &merge->session,
			    fault) &&
	       (merge->session.stored.value.data != NULL ||
		record_missing(kind_session.name, &merge->live.session, fault));
}

/* Takes over what may change during a stay, and the name of somebody who is not inside. Returns
 * true if something did. */
static bool take_texts(struct peer *peer, const struct server_person *person)
{
	const struct slice name = peer->is_inside ? peer->name
						  : text_cut(person->name, LIVE_NAME_MOST);
	const struct slice metadata = text_cut(person->metadata, LIVE_METADATA_MOST);

	if (peer->is_anonymous ||
	    (slice_equal(peer->name, name) && slice_equal(peer->metadata, metadata)))
		return false;
	peer->name = name;
	peer->metadata = metadata;
	return true;
}

/* Takes over the name of somebody inside. If it is that of somebody else, the media server must be
 * given another one: then the peer is strange. */
static bool take_name(struct room_merge *merge, struct peer *peer,
		      const struct server_person *person, bool *is_changed, struct fault *fault)
{
	const struct slice name = text_cut(person->name, LIVE_NAME_MOST);
	const struct slice former_name = peer->name, former_new = peer->new_name;
	const struct id former = peer->name_id;
	struct slice shown;

	*is_changed = false;
	if (id_compare(&former, &kind_only_id) != 0 && !peer->is_anonymous &&
	    peer->new_name.size == 0 && slice_equal(peer->name, name))
		return true;
	if (!names_take(merge->call, &merge->merging->room, peer, name, &shown, &merge->has_renamed,
			fault))
		return false;
	*is_changed = id_compare(&former, &peer->name_id) != 0 ||
		      !slice_equal(former_name, peer->name) ||
		      !slice_equal(former_new, peer->new_name);
	if (peer->new_name.size > 0 || merge->has_renamed)
		merge->merging->enforces = ENFORCE_ALL;
	return true;
}

/* When the person of the report joined. */
static int64_t joined_at(const struct room_merge *merge, const struct report *report)
{
	const int64_t joined = report->person.joined;

	return joined > 0 ? earlier(joined, merge->call->now) : report->time;
}

static struct peer new_peer(struct room_merge *merge, const struct session *session,
			    const struct report *report, const struct stay *stay)
{
	struct call *call = merge->call;
	const struct server_person *person = &report->person;
	struct peer peer = {
		.stored.parent = session->stored.id,
		.uuid = arena_copy(call->arena, slice_of(stay->uuid)),
		.is_inside = true,
		.is_anonymous = merge->settings.is_anonymous,
		.is_by_phone = person->is_by_phone,
		.stay = text_cut(person->stay, LIVE_ID_MOST),
		.identity = text_cut(person->identity, LIVE_ID_MOST),
		.entry = person->entry.size <= LIVE_ID_MOST ? person->entry : SLICE(""),
		.code = person->code.size <= LIVE_ID_MOST ? person->code : SLICE(""),
		.user_id = text_cut(person->user_id, LIVE_NAME_MOST),
		.role = person->role.size <= LIVE_ROLE_MOST ? person->role : SLICE(""),
		.name = merge->settings.is_anonymous ? SLICE("")
						     : text_cut(person->name, LIVE_NAME_MOST),
		.name_origin = person->name_origin,
		.metadata = SLICE(""),
		.new_name = SLICE(""),
		.order_reason = SLICE(""),
		.order_actor = SLICE(""),
		.consent_text = SLICE(""),
		.joined = joined_at(merge, report),
		.seen = report->time,
		/* The last survey did not know the stay, so it says nothing about it. */
		.missed = report->time < merge->live.surveyed ? report->time : 0,
	};

	(void)take_texts(&peer, person);
	/* Nobody joins a session that has closed. */
	if (!session->is_active)
		peer.joined = earlier(peer.joined, session->updated);
	peer.stored.id = peer_id(peer.joined, peer.uuid);
	/* Whoever has no entry was not let in by this service, and was not asked. */
	if (peer.entry.size > 0 && person->consented > 0) {
		peer.consented = person->consented;
		peer.consent_text = text_cut(person->consent_text, LIVE_CONSENT_MOST);
	}
	return peer;
}

/* Counts and notes a new peer. The caller stores it, and the session. */
static bool peer_begin(struct room_merge *merge, struct session *session, const struct peer *peer,
		       struct fault *fault)
{
	session->peer_count++;
	session->updated = later(session->updated, peer->joined);
	usage_on(merge, peer->joined)->peers++;
	live_note_joined(merge->call, &merge->settings, session, peer);
	return read_now(merge, fault);
}

/* The steps in which a session closes go by what was true at the first one (begin_closing). */
static bool room_is_ending(const struct room_merge *merge)
{
	return merge->live.ending != 0 &&
	       (merge->live.closing != 0 || merge->call->now - merge->live.ending <= ENDING_LASTS);
}

/* Ends a stay; counts and notes it. The caller stores the peer, and the session. */
static void peer_end(struct room_merge *merge, struct session *session, struct peer *peer,
		     int64_t left, enum leave_cause cause)
{
	struct slice reason = SLICE(""), actor = SLICE("");

	if (cause == LEAVE_REMOVED && peer->order != LEAVE_LEFT) {
		cause = peer->order;
		reason = peer->order_reason;
		actor = peer->order_actor;
	} else if (cause == LEAVE_ENDED && session->is_active && room_is_ending(merge)) {
		reason = merge->live.end_reason;
		actor = merge->live.end_actor;
	}
	peer->is_inside = false;
	peer->left = later(earlier(left, merge->call->now), peer->joined);
	if (!session->is_active)
		peer->left = earlier(peer->left, session->updated);
	session->updated = later(session->updated, peer->left);
	peer->missed = 0;
	peer->cause = cause;
	usage_on(merge, peer->left)->milliseconds += (uint64_t)(peer->left - peer->joined);
	live_note_left(merge->call, &merge->settings, session, peer, reason, actor);
	peer->order = LEAVE_LEFT;
	peer->order_last = false;
	peer->order_reason = peer->order_actor = SLICE("");
	/* It was kept only to check somebody who is inside. */
	if (peer->is_anonymous) {
		peer->user_id = peer->identity = peer->entry = peer->code = SLICE("");
		peer->consented = peer->withdrawn = 0;
		peer->consent_text = SLICE("");
	}
}

static bool peer_put(struct room_merge *merge, const struct peer *peer, struct fault *fault)
{
	return record_put(&peer_table, merge->call->transaction, peer, fault);
}

/* ---- what the media server has of somebody ---- */

static bool find_template(struct room_merge *merge, struct fault *fault)
{
	struct template_record *template = &merge->template;

	if (merge->rights != NULL)
		return true;
	if (!template_load(merge->call, &merge->room.template_id, template, fault))
		return false;
	merge->rights = arena_zero(merge->call->arena,
				   (template->role_count + 1) * sizeof *merge->rights);
	return true;
}

/* Finds out whether the media server has other attributes of somebody than the record, or other
 * rights than the role, less what is held; and notes the rights. People whom this service did not
 * let in may have any. */
static bool find_strange(struct room_merge *merge, struct peer *peer,
			 const struct server_person *person, bool *is, struct fault *fault)
{
	struct template_record *template = &merge->template;
	struct access_guest guest = { .role = SLICE("") };
	const json_t *role;
	size_t place;

	if (person->rights != 0)
		peer->rights = person->rights;
	*is = peer->entry.size > 0 &&
	      (!slice_equal(peer->role, person->role) ||
	       !slice_equal(peer->user_id, person->user_id) ||
	       !slice_equal(peer->entry, person->entry) || !slice_equal(peer->code, person->code) ||
	       peer_consent(peer) / 1000 != person->consented / 1000 || person->consented < 0);
	if (*is || peer->entry.size == 0 || person->rights == 0 || !merge->has_room)
		return true;
	/* Whoever was given a role may have a token with the new role and the rights of the old
	 * one: LiveKit renews the token of somebody inside after the attributes have changed, and
	 * again after the rights have. */
	if (!find_template(merge, fault))
		return false;
	place = template_role_index_ever(template, peer->role);
	if (place == template->role_count)
		return true;
	/* A merge decodes each role at most once. */
	if (merge->rights[place] == 0) {
		role = template_role_document(merge->call, template, &template->roles[place]);
		media_read_role(role, template, live_held(&merge->live, template, place, role),
				&guest);
		merge->rights[place] = server_rights_of(&guest);
	}
	*is = person->rights != merge->rights[place];
	return true;
}

/* ---- decisions that last ---- */

/* peer: has its role. */
static bool new_entrant(struct room_merge *merge, const struct peer *peer, struct entrant *entrant,
			struct fault *fault)
{
	size_t place;

	*entrant = (struct entrant){
		.call = merge->call,
		.moment = ENTRY_NEW_INSIDE,
		.room = &merge->room,
		.live = &merge->live,
		.peer = peer,
		.entry = peer->entry,
		.user_id = peer->user_id,
		.code_hash = peer->code,
		.has_door = merge->live.is_locked && merge->has_room,
	};
	if (!entrant->has_door)
		return true;
	if (!find_template(merge, fault))
		return false;
	entrant->template = &merge->template;
	place = template_role_index_ever(&merge->template, peer->role);
	if (place < merge->template.role_count)
		entrant->role = merge->template.roles[place].name;
	return true;
}

/* Lets somebody who is in come back through the locked door. */
static bool let_back(struct room_merge *merge, const struct entrant *entrant, struct fault *fault)
{
	const struct passer passer = {
		.room = &merge->merging->room,
		.entry = entrant->entry,
		.user_id = peer_has_known_user(entrant->peer) ? entrant->user_id : SLICE(""),
	};

	return entrant->door_state != DOOR_LOCKED ||
	       door_give_passes(merge->call, entrant->door, &passer, 1, &merge->live.session,
				fault);
}

/* Applies to a new peer what was decided about this person before it came. */
static bool take_decisions(struct room_merge *merge, const struct server_person *person,
			   struct peer *peer, struct fault *fault)
{
	const struct entry_rule *broken;
	struct entrant entrant;
	struct given given;

	if (peer->entry.size == 0)
		return true;
	if (!given_find(merge->call, &merge->live, peer->entry,
			peer_has_known_user(peer) ? peer->user_id : SLICE(""), &given, fault))
		return false;
	if (given.role.data != NULL)
		peer->role = given.role;
	if (given.has_consent) {
		peer->consented = given.consented;
		peer->consent_text = given.consent_text;
	}
	if (!new_entrant(merge, peer, &entrant, fault) ||
	    !entry_find(&entrant, ENTRY_OF_PERSON | ENTRY_OF_LOCK, &broken, fault) ||
	    (entrant.door != NULL && broken == NULL && !let_back(merge, &entrant, fault)) ||
	    !find_strange(merge, peer, person, &peer->is_strange, fault))
		return false;
	if (broken != NULL) {
		peer->order = broken->cause;
		if (broken->reason != NULL)
			peer->order_reason = broken->reason(&entrant);
	}
	if (peer->order != LEAVE_LEFT || peer->is_strange)
		merge->merging->enforces = ENFORCE_ALL;
	return true;
}

static bool add_inside(struct room_merge *merge, const struct report *report,
		       const struct stay *stay, struct fault *fault)
{
	struct peer peer;
	bool is_named;

	if (!find_session(merge, fault))
		return false;
	peer = new_peer(merge, &merge->session, report, stay);
	if (merge->merging->enforces == ENFORCE_NOTHING)
		merge->merging->enforces = ENFORCE_PLACES;
	if (!take_decisions(merge, &report->person, &peer, fault) ||
	    !take_name(merge, &peer, &report->person, &is_named, fault))
		return false;
	live_count(merge->call->arena, &merge->live, peer.role, true);
	merge->is_changed = true;
	return peer_begin(merge, &merge->session, &peer, fault) &&
	       count_inside(merge, true, fault) &&
	       inside_add(merge->call, &merge->merging->room, &peer, fault) &&
	       peer_put(merge, &peer, fault);
}

/* Notes the latest time at which somebody left the session. */
static void note_left(struct live *live, const struct peer *peer)
{
	const bool is_unseen = peer->cause == LEAVE_UNSEEN;

	if (peer->left < live->left)
		return;
	live->left_unseen = is_unseen || (live->left_unseen && peer->left == live->left);
	live->left = peer->left;
}

/* Ends the stay of somebody who is inside. */
static bool end_stay(struct room_merge *merge, struct peer *peer, int64_t left,
		     enum leave_cause cause, struct fault *fault)
{
	if (!find_session(merge, fault) ||
	    !inside_remove(merge->call, &merge->merging->room, peer, fault) ||
	    !names_release(merge->call, peer, fault))
		return false;
	live_count(merge->call->arena, &merge->live, peer->role, false);
	peer_end(merge, &merge->session, peer, left, cause);
	note_left(&merge->live, peer);
	merge->is_changed = true;
	return count_inside(merge, false, fault) && peer_put(merge, peer, fault);
}

/* ---- sessions ---- */

/* Returns true if a survey did not find the peer although the stay was known. */
static bool was_missed(const struct peer *peer)
{
	return peer->missed > peer->seen;
}

/* When somebody inside was last seen. Where peer->missed is 0, the last survey listed the stay. */
static int64_t last_seen(const struct room_merge *merge, const struct peer *peer)
{
	return peer->missed != 0 ? peer->seen : later(peer->seen, merge->live.surveyed);
}

bool session_remove(struct call *call, const struct session *session, struct fault *fault)
{
	return garbage_add(call, &kind_session, &session->stored.id, fault) &&
	       store_remove(call->transaction, &kind_session, &session->stored, fault);
}

/* Those who are inside where the room was before do not count. */
static bool live_is_empty(const struct live *live)
{
	return live_is_moved(live) || live_peers(live) == 0;
}

/* Returns since when the room has been empty, or moved. */
static int64_t live_empty_since(const struct live *live)
{
	return live_is_moved(live) ? live->moved : later(live->left, live->moved);
}

/* Returns whether people may still come back from a media server that has died. */
static bool live_left_unseen(const struct live *live)
{
	return live->left_unseen || (live->moved != 0 && live->moved >= live->left);
}

/* Notes that the session closes: from now on it can be closed in steps, whatever comes between.
 * ended: when the media server's room ended; 0 if that is not known. */
static bool begin_closing(struct room_merge *merge, int64_t ended, struct fault *fault)
{
	struct peer by = { .uuid = SLICE("") };

	if (merge->live.closing != 0)
		return true;
	if (!find_session(merge, fault))
		return false;
	if (!room_is_ending(merge)) {
		merge->live.ending = 0;
	} else if (ended != 0) {
		if (merge->live.end_peer.size > 0 &&
		    !record_get_named(&peer_table, merge->call->transaction, merge->live.end_peer,
				      STORE_TO_SHOW, &by, fault))
			return false;
		live_note_end(merge->call, &merge->session, &merge->live, &by);
	}
	merge->live.closing = merge->call->now;
	merge->live.ended = ended;
	merge->is_changed = true;
	return true;
}

/* Goes on closing the session, which is stored with it: ends as many stays as one transaction does.
 * If people are still inside, it goes on closing in the next one. */
static bool close_on(struct room_merge *merge, struct fault *fault)
{
	struct call *call = merge->call;
	struct session *session = &merge->session;
	const int64_t ended = merge->live.ended;
	struct peer_page page = { .side = STORE_ON, .count = 1 };
	bool is_last = false;

	if (!find_session(merge, fault))
		return false;
	while (!is_last && merge->ended < CLOSED_MOST && page.count > 0) {
		page.most = CLOSED_MOST - merge->ended;
		if (page.most > CLOSED_AT_ONCE)
			page.most = CLOSED_AT_ONCE;
		if (!peers_read(call, &merge->live.session, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			struct peer *peer = &page.peers[i];
			const int64_t seen = last_seen(merge, peer);
			const bool is_seen = ended != 0 && (room_is_ending(merge) ||
							    seen + LIVE_SEEN_LATELY >= ended);

			if (!end_stay(merge, peer, is_seen ? ended : seen,
				      is_seen			    ? LEAVE_ENDED
				      : live_is_moved(&merge->live) ? LEAVE_MOVED
								    : LEAVE_UNSEEN,
				      fault))
				return false;
		}
		merge->ended += page.count;
		is_last = page.count < page.most;
	}
	if (!is_last)
		return true;

	if (merge->live.left != 0)
		session->updated = merge->live.left;
	session->is_active = false;
	session->closed = call->now;
	session->was_ended = merge->live.ending != 0;
	if (!read_now(merge, fault))
		return false;
	merge->now.sessions -= merge->now.sessions > 0;
	live_note_session(call, session, LIVE_CLOSED);
	/* A session that was opened in this merge is not stored yet. */
	if (call->environment->session_keep > 0 || session->asset_count > 0
		    ? !record_put(&session_table, call->transaction, session, fault)
	    : session->stored.value.data == NULL
		    ? !garbage_add(call, &kind_session, &session->stored.id, fault)
		    : !session_remove(call, session, fault))
		return false;
	if (merge->live.has_door &&
	    !door_close_session(call, &merge->merging->room, &merge->live.session, fault))
		return false;
	if (merge->live.stored.value.data != NULL &&
	    !store_remove(call->transaction, &kind_live, &merge->live.stored, fault))
		return false;
	if (merge->live.hold_count > 0 && merge->has_room &&
	    !codes_mark(call, &merge->merging->room, CODES_HOLDS, false, fault))
		return false;
	merge->is_loaded = merge->is_changed = false;
	merge->live = (struct live){ .stored.id = merge->merging->room };
	return true;
}

static bool close_session(struct room_merge *merge, int64_t ended, struct fault *fault)
{
	return begin_closing(merge, ended, fault) && close_on(merge, fault);
}

/* Takes over what was set at the door before the session, and still holds. */
static bool open_door(struct room_merge *merge, struct fault *fault)
{
	static const struct live no_session;
	const struct id *room = &merge->merging->room;
	struct call *call = merge->call;
	/* A database reads both in one round trip. */
	const struct store_expected expected[] = {
		{ .kind = &kind_door,
		  .finding = STORE_FIND_ID,
		  .reading = STORE_TO_CHANGE,
		  .id = room },
		{ .kind = &kind_usage_now,
		  .finding = STORE_FIND_ID,
		  .reading = STORE_TO_CHANGE,
		  .id = &kind_only_id },
	};
	struct door door;

	store_expect(call->transaction, STORE_EACH, expected, merge->counts ? 1 : 2);
	if (!door_load(call, room, STORE_TO_CHANGE, &door, fault) ||
	    !door_settle(call, &door, &no_session, fault))
		return false;
	merge->live.has_door = door.set.state != DOOR_BY_ROLE;
	merge->live.is_locked = door.set.state == DOOR_LOCKED;
	return true;
}

static bool open_session(struct room_merge *merge, const struct report *report, struct stay *stay,
			 struct fault *fault)
{
	struct call *call = merge->call;
	const int64_t joined = joined_at(merge, report);
	struct session *session = &merge->session;
	int64_t now = call->now;

	*session = (struct session){
		.stored.parent = merge->merging->room,
		.is_active = true,
		.template_id = merge->room.template_id,
		.backend = merge->merging->backend,
		.room_name = merge->room.name,
		.title = merge->room.title,
		.server_room = text_cut(report->room.id, LIVE_ID_MOST),
		.created = joined,
		.updated = joined,
	};
	if (!store_new_id(call->transaction, &kind_session, call->environment->clock, &now,
			  &session->stored.id, fault))
		return false;
	merge->live = (struct live){
		.stored.id = merge->merging->room,
		.session = session->stored.id,
		.backend = merge->merging->backend,
		.server_room = session->server_room,
		.server_created = report->room.created,
		.end_reason = SLICE(""),
		.end_actor = SLICE(""),
		.end_peer = SLICE(""),
		.roles = arena_alloc(call->arena, sizeof *merge->live.roles),
	};
	merge->is_loaded = merge->is_changed = true;
	if (!open_door(merge, fault) || !read_now(merge, fault))
		return false;
	merge->now.sessions++;
	usage_on(merge, joined)->sessions++;
	live_note_session(call, session, LIVE_OPENED);
	return add_inside(merge, report, stay, fault);
}

/* ---- a restart of the media server ---- */

/* Somebody who comes: by the entry, or by the user_id. */
struct arrival {
	struct slice name;
	const struct report *report;
};

/* Those who come, in the order of their names. */
struct arrivals {
	struct arrival *entries, *users;
	size_t entry_count, user_count;
};

static int compare_arrivals(const void *first, const void *second)
{
	const struct arrival *a = first, *b = second;

	return slice_compare(a->name, b->name);
}

static void arrivals_add(struct arrival *list, size_t *count, struct slice name,
			 const struct report *report)
{
	if (name.size > 0)
		list[(*count)++] = (struct arrival){ name, report };
}

/* Returns the report of the peer's person, or NULL. Of several, any. */
static const struct report *arrival_of(const struct arrivals *arrivals, const struct peer *peer)
{
	const struct arrival by_entry = { .name = peer->entry },
			     by_user = { .name = peer->user_id };
	const struct arrival *found = NULL;

	if (peer->entry.size > 0 && arrivals->entry_count > 0)
		found = bsearch(&by_entry, arrivals->entries, arrivals->entry_count, sizeof *found,
				compare_arrivals);
	if (found == NULL && peer->user_id.size > 0 && arrivals->user_count > 0)
		found = bsearch(&by_user, arrivals->users, arrivals->user_count, sizeof *found,
				compare_arrivals);
	return found == NULL ? NULL : found->report;
}

/* Lets others go first, and returns true if a page follows. */
static bool page_goes_on(struct call *call, struct peer_page *page, struct fault *fault)
{
	if (page->is_last || !store_give_way(call->transaction, fault))
		return false;
	page->after = &page->peers[page->count - 1].stored.id;
	return true;
}

/* Looks for a person of the session among those who come. side: among those inside, or who left. */
static bool find_returning(struct room_merge *merge, const struct arrivals *arrivals,
			   enum store_side side, bool *is_found, struct fault *fault)
{
	struct peer_page page = { .side = side, .most = CLOSED_AT_ONCE };
	size_t n = 0;

	do {
		if (!peers_read(merge->call, &merge->live.session, &page, fault))
			return false;
		n += page.count;
		for (size_t i = 0; i < page.count && !*is_found; i++) {
			const struct report *report = arrival_of(arrivals, &page.peers[i]);
			struct stay stay;

			if (report == NULL)
				continue;
			if (!find_stay(merge, &report->person, &stay, fault))
				return false;
			/* The news is about a new stay. */
			*is_found = stay.state == STAY_UNKNOWN ||
				    (stay.state == STAY_GONE && report->type == REPORT_LISTED);
		}
	} while (!*is_found && n < RESTART_STAYS_MOST && page_goes_on(merge->call, &page, fault));
	return fault->kind == FAULT_NONE;
}

/* Finds out whether a newer room of the media server is the room of the session after a restart:
 * nobody has ended the old room, and somebody of the session comes back soon after it was last
 * seen. */
static bool session_continues(struct room_merge *merge, const struct report *report,
			      bool *continues, struct fault *fault)
{
	const struct merging *merging = merge->merging;
	struct arrivals arrivals = { .entry_count = 0 };
	struct peer_page page = { .side = STORE_ON, .most = CLOSED_AT_ONCE };
	int64_t seen;

	*continues = false;
	if (!merge->has_room || room_is_ending(merge))
		return true;
	if (!find_session(merge, fault))
		return false;

	/* When it was last seen. Whoever was listed by the last survey was seen as late as anybody,
	 * but for those who came, or left, after it. */
	seen = later(merge->live.left, merge->session.updated);
	do {
		if (!peers_read(merge->call, &merge->live.session, &page, fault))
			return false;
		for (size_t i = 0; i < page.count; i++)
			seen = later(seen, last_seen(merge, &page.peers[i]));
	} while (seen < merge->live.surveyed && page_goes_on(merge->call, &page, fault));
	if (fault->kind != FAULT_NONE)
		return false;

	/* Those who come to this new room at most LIVE_RESTART_MOST after it. */
	arrivals.entries = arena_alloc(merge->call->arena,
				       merging->count * sizeof *arrivals.entries);
	arrivals.users = arena_alloc(merge->call->arena, merging->count * sizeof *arrivals.users);
	for (size_t i = 0; i < merging->count; i++) {
		const struct report *other = &merging->reports[i];

		if ((other->type != REPORT_JOINED && other->type != REPORT_LISTED) ||
		    other->room.id.data == NULL || !slice_equal(other->room.id, report->room.id) ||
		    joined_at(merge, other) - seen > LIVE_RESTART_MOST)
			continue;
		arrivals_add(arrivals.entries, &arrivals.entry_count, other->person.entry, other);
		arrivals_add(arrivals.users, &arrivals.user_count,
			     text_cut(other->person.user_id, LIVE_NAME_MOST), other);
	}
	qsort(arrivals.entries, arrivals.entry_count, sizeof *arrivals.entries, compare_arrivals);
	qsort(arrivals.users, arrivals.user_count, sizeof *arrivals.users, compare_arrivals);
	if (arrivals.entry_count == 0 && arrivals.user_count == 0)
		return true;
	return find_returning(merge, &arrivals, STORE_ON, continues, fault) &&
	       (*continues || find_returning(merge, &arrivals, STORE_OFF, continues, fault));
}

/* Closes the session, or goes on with it in the newer room that the media server has. */
static bool replace_session(struct room_merge *merge, const struct report *report,
			    struct stay *stay, struct fault *fault)
{
	struct peer_page page = { .side = STORE_ON, .most = RESTART_ENDED_MOST };
	bool continues;

	if (!session_continues(merge, report, &continues, fault))
		return false;
	if (!continues)
		return close_session(merge, 0, fault) &&
		       (!merge->has_room || merge->live.closing != 0 ||
			open_session(merge, report, stay, fault));

	if (!find_session(merge, fault) ||
	    !peers_read(merge->call, &merge->live.session, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!end_stay(merge, &page.peers[i], last_seen(merge, &page.peers[i]), LEAVE_UNSEEN,
			      fault))
			return false;
	}
	merge->session.server_room = text_cut(report->room.id, LIVE_ID_MOST);
	merge->live.server_room = merge->session.server_room;
	merge->live.server_created = report->room.created;
	merge->has_restarted = merge->is_changed = true;
	return add_inside(merge, report, stay, fault);
}

/* ---- a room that was moved ---- */

/* Goes on with the session at this backend. First those leave who were inside at the former one: as
 * many as one transaction ends. Whoever was not among them is reported again. */
static bool move_session(struct room_merge *merge, const struct report *report, struct stay *stay,
			 struct fault *fault)
{
	struct peer_page page = { .side = STORE_ON, .most = MOVED_AT_ONCE };
	struct live *live = &merge->live;

	if (!find_session(merge, fault) || !peers_read(merge->call, &live->session, &page, fault))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		if (!end_stay(merge, &page.peers[i], last_seen(merge, &page.peers[i]), LEAVE_MOVED,
			      fault))
			return false;
	}
	merge->merging->is_moving = page.count == page.most;
	if (merge->merging->is_moving)
		return true;
	merge->session.backend = live->backend = merge->merging->backend;
	merge->session.server_room = text_cut(report->room.id, LIVE_ID_MOST);
	live->server_room = merge->session.server_room;
	live->server_created = report->room.created;
	live->moves_to = kind_only_id;
	merge->is_before = false;
	merge->has_restarted = merge->is_changed = true;
	return add_inside(merge, report, stay, fault);
}

/* Finds out whether the place of a room without a session holds: its backend is in the pool that
 * the room uses now. */
static bool place_is_followed(struct room_merge *merge, const struct place *place, bool *is,
			      struct fault *fault)
{
	struct media_target target;
	struct media media;

	*is = place_holds(merge->call, place);
	if (!*is)
		return true;
	if (!find_template(merge, fault) || !media_load(merge->call, STORE_TO_SHOW, &media, fault))
		return false;
	target = media_target_of(&media, &merge->template);
	*is = backend_is_in(media_backend(&media, &place->backend), target.pool);
	return true;
}

/* Finds out whether the room is at the backend that reports; reads its place only if it is in a
 * pool, and the session does not say so. */
static bool find_whether_stray(struct room_merge *merge, struct place *place, bool *is_stray,
			       struct fault *fault)
{
	struct merging *merging = merge->merging;
	const struct live *live = &merge->live;
	const struct id *backend = &merging->backend;

	*is_stray = false;
	if (is_open(merge) && id_compare(live_backend(live), backend) == 0) {
		merge->is_before = id_compare(&live->backend, backend) != 0;
		return true;
	}
	if (!merging->is_in_pool)
		return true;
	if (!place_load(merge->call, &merging->room, STORE_TO_SHOW, place, fault))
		return false;
	if (is_open(merge)) {
		/* Two may have placed it, and somebody have come, at once. */
		merge->is_before = !live_is_moved(live) && place_holds(merge->call, place) &&
				   id_compare(&place->backend, backend) == 0;
		*is_stray = !merge->is_before;
		return true;
	}
	if (place->stored.value.data == NULL || id_compare(&place->backend, backend) == 0)
		return true;
	if (place->reason != MOVE_NONE && id_compare(&place->former, backend) == 0) {
		*is_stray = true;
		return true;
	}
	return !merge->has_room || place_is_followed(merge, place, is_stray, fault);
}

/* Adds a peer that is reported only now that it has left. */
static bool add_left(struct room_merge *merge, struct session *session, const struct report *report,
		     const struct stay *stay, struct fault *fault)
{
	struct peer peer = new_peer(merge, session, report, stay);

	if (!peer_begin(merge, session, &peer, fault))
		return false;
	peer_end(merge, session, &peer, report->time, report->cause);
	if (session->is_active)
		note_left(&merge->live, &peer);
	return peer_put(merge, &peer, fault);
}

/* Adds such a peer to the last session of the media server's room, if that has closed lately. */
static bool add_late(struct room_merge *merge, const struct report *report, const struct stay *stay,
		     struct fault *fault)
{
	struct call *call = merge->call;
	struct store_record records[LATE_SESSIONS];
	struct store_page page = {
		.order = STORE_NEWEST_FIRST,
		.side = STORE_OFF,
		.parent = &merge->merging->room,
		.records = records,
		.most = LATE_SESSIONS,
	};
	struct session session;
	bool is_found = false;

	if (!store_page(call->transaction, &kind_session, &page, fault))
		return false;
	for (size_t i = 0; i < page.count && !is_found; i++) {
		if (!session_load(call, &records[i].id, STORE_TO_CHANGE, &session, fault))
			return false;
		is_found = session.stored.value.data != NULL &&
			   slice_equal(session.server_room, report->room.id) &&
			   id_compare(&session.backend, &merge->merging->backend) == 0;
	}
	return !is_found || call->now - session.closed > LIVE_LATE_MOST ||
	       (add_left(merge, &session, report, stay, fault) &&
		record_put(&session_table, call->transaction, &session, fault));
}

/* Adds an event for webhooks about somebody who did not get in. */
static bool add_failure(struct room_merge *merge, const struct report *report,
			const struct stay *stay, struct fault *fault)
{
	struct call *call = merge->call;
	struct unlogged_event *event;
	struct session session = {
		.stored.parent = merge->merging->room,
		.is_active = true,
		.template_id = merge->room.template_id,
		.room_name = merge->room.name,
	};
	struct peer peer;

	if (!merge->has_room)
		return true;
	if (is_open(merge)) {
		if (!find_session(merge, fault))
			return false;
		session = merge->session;
	}
	event = arena_alloc(call->arena, sizeof *event);
	peer = new_peer(merge, &session, report, stay);
	*event = (struct unlogged_event){ merge->merging->failed,
					  live_failure_data(call, &session, &peer) };
	merge->merging->failed = event;
	return true;
}

/* ---- how many stays are stored ---- */

/* Finds out whether a new stay is stored now (stay_limits.h). */
static bool has_place(struct room_merge *merge, const struct report *report, bool *has,
		      struct fault *fault)
{
	struct stay_limits *limits = merge->call->environment->stay_limits;
	struct merging *merging = merge->merging;
	const struct server_person *person = &report->person;
	const struct slice entry = person->entry;
	const struct peer peer = {
		.identity = text_cut(person->identity, LIVE_ID_MOST),
		.entry = entry,
		.code = text_cut(person->code, LIVE_ID_MOST),
		.user_id = text_cut(person->user_id, LIVE_NAME_MOST),
		.role = person->role,
	};
	const struct entry_rule *broken;
	struct entrant entrant;

	*has = limits == NULL ||
	       (merging->caller.size > 0 && slice_equal(entry, merging->caller)) ||
	       stay_limits_take(limits, &merge->call->account, &merging->room, entry,
				merge->call->now);
	if (*has)
		return true;
	merging->is_over = true;
	if (merge->beyond_limit >= MUST_GO_IN_STEP || entry.size == 0 || entry.size > LIVE_ID_MOST)
		return true;

	/* Whoever must go is stored all the same. */
	if (!new_entrant(merge, &peer, &entrant, fault) ||
	    !entry_find(&entrant, ENTRY_OF_PERSON | ENTRY_OF_LOCK, &broken, fault))
		return false;
	*has = broken != NULL;
	merge->beyond_limit += *has;
	return true;
}

/* ---- one report ---- */

static enum session_match match_of(const struct room_merge *merge, const struct report *report,
				   const struct stay *stay)
{
	const struct live *live = &merge->live;

	if (!is_open(merge))
		return SESSION_NONE;
	if (merge->is_before)
		return SESSION_BEFORE;
	/* Inside another room, or in the session that an earlier report closed. */
	if (stay->state == STAY_INSIDE &&
	    id_compare(&stay->peer.stored.parent, &live->session) != 0)
		return SESSION_NONE;
	/* A survey does not name the room where everybody is known. */
	if (report->room.id.data == NULL || slice_equal(live->server_room, report->room.id))
		return SESSION_SAME;
	return report->room.created > live->server_created ? SESSION_NEWER : SESSION_OLDER;
}

/* A report of somebody whom the last survey did not list counts from the time of the report: a
 * survey that was sent later, and missed the person, still does. */
static bool update_peer(struct room_merge *merge, const struct report *report, struct peer *peer,
			struct fault *fault)
{
	bool is_changed = take_texts(peer, &report->person);
	const bool was_strange = peer->is_strange;
	const uint32_t former_rights = peer->rights;
	bool is_strange = was_strange, is_named = false;

	/* An event may have happened before the attributes were put back. */
	if (peer->is_inside && ((report->type == REPORT_LISTED &&
				 !find_strange(merge, peer, &report->person, &is_strange, fault)) ||
				!take_name(merge, peer, &report->person, &is_named, fault)))
		return false;
	is_strange = is_strange || peer->new_name.size > 0;
	is_changed = is_changed || is_named || is_strange != was_strange ||
		     peer->rights != former_rights;
	peer->is_strange = is_strange;
	if (peer->missed != 0 && report->time > peer->seen) {
		if (report->time >= merge->live.surveyed)
			peer->missed = 0;
		else if (!was_missed(peer))
			peer->missed = report->time;
		else if (report->time > peer->missed)
			peer->missed = merge->live.surveyed;
		peer->seen = report->time;
		is_changed = true;
	}
	return !is_changed || peer_put(merge, peer, fault);
}

static bool merge_one(struct room_merge *merge, const struct report *report, struct stay *stay,
		      struct fault *fault)
{
	enum act act = acts[report->type][stay->state][match_of(merge, report, stay)];
	bool has;

	/* Reports of a deleted room only close what is open. */
	if (!merge->has_room &&
	    (act == ADD || act == OPEN || act == MOVE || act == ADD_LEFT || act == ADD_LATE))
		act = IGNORE;
	/* Only a survey that lists somebody new needs to know which room it is about. */
	if (report->type == REPORT_LISTED && report->room.id.data == NULL &&
	    (act == ADD || act == OPEN || act == REPLACE || act == MOVE)) {
		merge->merging->needs_room = true;
		return true;
	}
	if ((act == ADD || act == OPEN || act == REPLACE || act == MOVE || act == ADD_LEFT ||
	     act == ADD_LATE) &&
	    merge->has_room) {
		if (!has_place(merge, report, &has, fault))
			return false;
		if (!has)
			return true;
	}
	merge->merging->needs_survey = merge->merging->needs_survey || act == REPLACE ||
				       act == MOVE || act == ADD_LEFT ||
				       (report->type == REPORT_JOINED && stay->state == STAY_GONE);
	switch (act) {
	case IGNORE:
		return true;
	case ADD:
		return add_inside(merge, report, stay, fault);
	case REPLACE:
		return replace_session(merge, report, stay, fault);
	case MOVE:
		return move_session(merge, report, stay, fault);
	case OPEN:
		return open_session(merge, report, stay, fault);
	case UPDATE:
		return update_peer(merge, report, &stay->peer, fault);
	case LEAVE:
		return end_stay(merge, &stay->peer, report->time, report->cause, fault);
	case ADD_LEFT:
		merge->is_changed = true;
		return find_session(merge, fault) &&
		       add_left(merge, &merge->session, report, stay, fault);
	case ADD_LATE:
		return add_late(merge, report, stay, fault);
	case CLOSE:
		return close_session(merge, report->time, fault);
	case NOTIFY:
		return add_failure(merge, report, stay, fault);
	}
	return true;
}

/* ---- a survey ---- */

enum listed_phase {
	LISTED_INSIDE, /* those inside by the records: whether they are listed */
	LISTED_NEW, /* the others who are listed */
	LISTED_DONE
};

/* Somebody who is listed. */
struct listed {
	struct report *report;
	struct slice stay; /* as stored */
	bool is_known; /* inside by the records, and merged */
	bool is_old; /* of the same entry, so many came later that this stay is not stored */
};

struct survey_steps {
	struct listed *listed; /* by their stays */
	struct listed **by_time; /* the oldest first */
	size_t count;
	struct survey_place at;
};

static int compare_listed(const void *first, const void *second)
{
	const struct listed *a = first, *b = second;

	return slice_compare(a->stay, b->stay);
}

static int compare_joined(const void *first, const void *second)
{
	const struct listed *a = *(struct listed *const *)first;
	const struct listed *b = *(struct listed *const *)second;
	const int64_t at = a->report->person.joined, bt = b->report->person.joined;

	return at != bt ? (at < bt ? -1 : 1) : compare_listed(a, b);
}

/* By entry; those that joined last, first. */
static int compare_entries(const void *first, const void *second)
{
	const struct listed *a = *(struct listed *const *)first;
	const struct listed *b = *(struct listed *const *)second;
	const int order = slice_compare(a->report->person.entry, b->report->person.entry);

	return order != 0 ? order : compare_joined(second, first);
}

struct survey_steps *live_survey_steps(struct arena *arena, struct report *reports, size_t count)
{
	struct survey_steps *steps = arena_zero(arena, sizeof *steps);
	size_t same = 0;

	steps->count = count;
	steps->listed = arena_zero(arena, (count + 1) * sizeof *steps->listed);
	steps->by_time = arena_zero(arena, (count + 1) * sizeof(struct listed *));
	for (size_t i = 0; i < count; i++) {
		steps->listed[i].report = &reports[i];
		steps->listed[i].stay = text_cut(reports[i].person.stay, LIVE_ID_MOST);
		steps->by_time[i] = &steps->listed[i];
	}
	qsort(steps->listed, count, sizeof *steps->listed, compare_listed);
	qsort(steps->by_time, count, sizeof(struct listed *), compare_entries);
	for (size_t i = 0; i < count; i++) {
		const struct slice entry = steps->by_time[i]->report->person.entry;
		const bool is_same =
			i > 0 && slice_equal(entry, steps->by_time[i - 1]->report->person.entry);

		same = is_same ? same + 1 : 0;
		steps->by_time[i]->is_old = entry.size > 0 && same >= STAYS_OF_ENTRY;
	}
	qsort(steps->by_time, count, sizeof(struct listed *), compare_joined);
	return steps;
}

/* Deals with somebody inside whom the survey does not list. */
static bool miss_peer(struct room_merge *merge, struct peer *peer, struct fault *fault)
{
	const int64_t surveyed = merge->merging->surveyed;

	if (peer->seen >= surveyed)
		return true;
	if (was_missed(peer) && surveyed - peer->missed >= LIVE_MISSED_FOR)
		return end_stay(merge, peer, peer->seen, LEAVE_UNSEEN, fault);
	merge->merging->needs_second_survey = true;
	if (was_missed(peer))
		return true;
	peer->seen = last_seen(merge, peer);
	peer->missed = surveyed;
	return peer_put(merge, peer, fault);
}

/* Marks the stay as known. Returns NULL if it is not listed. */
static const struct report *find_listed(struct survey_steps *steps, const struct peer *peer)
{
	const struct listed key = { .stay = peer->stay };
	struct listed *end = steps->listed + steps->count;
	struct listed *found = steps->count == 0 ? NULL
						 : bsearch(&key, steps->listed, steps->count,
							   sizeof key, compare_listed);

	if (found == NULL)
		return NULL;
	while (found > steps->listed && compare_listed(found - 1, &key) == 0)
		found--;
	for (struct listed *same = found; same < end && compare_listed(same, &key) == 0; same++)
		same->is_known = true;
	return found->report;
}

/* Goes through people who are inside by the records: if they are listed, what is known of them
 * changes; else they are missing. */
static bool step_inside(struct room_merge *merge, struct survey_steps *steps, size_t most,
			struct fault *fault)
{
	const struct id session = merge->live.session;
	struct peer_page page = {
		.side = STORE_ON,
		.after = id_compare(&steps->at.after, &kind_only_id) == 0 ? NULL : &steps->at.after,
		.most = most,
	};

	if (id_compare(&session, &steps->at.session) != 0 || live_peers(&merge->live) == 0) {
		steps->at.phase = LISTED_NEW;
		return true;
	}
	if (!peers_read(merge->call, &session, &page, fault))
		return false;
	merge->has_renamed = false;
	for (size_t i = 0; i < page.count; i++) {
		struct stay stay = { .state = STAY_INSIDE, .peer = page.peers[i] };
		const struct report *report = find_listed(steps, &page.peers[i]);

		if (report != NULL ? !merge_one(merge, report, &stay, fault)
				   : steps->at.misses && !miss_peer(merge, &page.peers[i], fault))
			return false;
		/* Others of this page may have been renamed, and stored, by this. */
		if (merge->has_renamed) {
			steps->at.after = page.peers[i].stored.id;
			return true;
		}
	}
	if (page.count > 0)
		steps->at.after = page.peers[page.count - 1].stored.id;
	if (page.count < most)
		steps->at.phase = LISTED_NEW;
	return true;
}

static bool step_new(struct room_merge *merge, struct survey_steps *steps, size_t most,
		     struct fault *fault)
{
	size_t n = 0;

	for (; steps->at.next < steps->count && n < most; steps->at.next++) {
		const struct listed *listed = steps->by_time[steps->at.next];
		struct stay stay = { .state = STAY_UNKNOWN };

		if (listed->is_known)
			continue;
		n++;
		if (!find_stay(merge, &listed->report->person, &stay, fault))
			return false;
		if (listed->is_old && (stay.state == STAY_UNKNOWN || stay.state == STAY_GONE))
			continue;
		if (!merge_one(merge, listed->report, &stay, fault))
			return false;
		/* What has to be known first, is asked for, or done. */
		if (merge->merging->needs_room || merge->live.closing != 0 ||
		    merge->merging->is_moving)
			break;
	}
	if (n < most && merge->live.closing == 0 && !merge->merging->is_moving)
		steps->at.phase = LISTED_DONE;
	return true;
}

/* Takes steps of a survey: one, or all of them. */
static bool merge_listed(struct room_merge *merge, struct fault *fault)
{
	struct merging *merging = merge->merging;
	const bool is_whole = merging->steps == NULL;
	struct survey_steps *steps = merging->steps;

	if (is_whole)
		steps = live_survey_steps(merge->call->arena,
					  (struct report *)(uintptr_t)merging->reports,
					  merging->count);
	if (!steps->at.has_begun) {
		steps->at.has_begun = true;
		steps->at.session = merge->live.session;
		/* A survey that is older than the last one misses nobody. */
		steps->at.misses = merging->surveyed > merge->live.surveyed;
		/* Those inside by the records are where the room was before. */
		if (merge->is_before)
			steps->at.phase = LISTED_NEW;
	}
	do {
		if (steps->at.phase == LISTED_INSIDE
			    ? !step_inside(merge, steps, INSIDE_IN_STEP, fault)
			    : !step_new(merge, steps, is_whole ? SIZE_MAX : LISTED_IN_STEP, fault))
			return false;
	} while (is_whole && steps->at.phase != LISTED_DONE && merge->live.closing == 0 &&
		 !merging->is_moving);
	steps->at.has_restarted = steps->at.has_restarted || merge->has_restarted;
	/* Those who were inside another session have left it. */
	if (merge->has_restarted || id_compare(&merge->live.session, &steps->at.session) != 0)
		merging->needs_second_survey = false;
	/* After a restart, the next survey finds those who are missing. */
	if (steps->at.phase != LISTED_DONE || !is_open(merge) || steps->at.has_restarted ||
	    merge->is_before)
		return true;
	merge->live.surveyed = later(merge->live.surveyed, merging->surveyed);
	merge->is_changed = true;
	return true;
}

bool live_survey_is_merged(const struct survey_steps *steps)
{
	return steps->at.phase == LISTED_DONE;
}

void live_survey_name_room(struct merging *merging, const struct server_room *room)
{
	for (size_t i = 0; i < merging->steps->count; i++)
		merging->steps->listed[i].report->room = *room;
	merging->steps->at.phase = LISTED_NEW;
	merging->steps->at.next = 0;
}

struct survey_place live_survey_place(const struct survey_steps *steps)
{
	return steps->at;
}

void live_survey_return(struct survey_steps *steps, const struct survey_place *place)
{
	steps->at = *place;
}

/* ---- all of it ---- */

static bool begin_merge(struct room_merge *merge, struct call *call, struct merging *merging,
			struct fault *fault)
{
	*merge = (struct room_merge){ .call = call, .merging = merging };
	return live_load(call, &merging->room, STORE_TO_CHANGE, &merge->live, fault) &&
	       room_find(call, &merging->room, STORE_TO_SHOW, &merge->room, &merge->has_room,
			 fault) &&
	       live_settings_load(call, &merge->settings, fault);
}

static void set_results(struct room_merge *merge)
{
	struct merging *merging = merge->merging;

	merging->is_live = is_open(merge);
	merging->is_closing = merge->live.closing != 0;
	merging->inside = merging->is_live ? live_peers(&merge->live) : 0;
	merging->left_unseen = merging->is_live && live_left_unseen(&merge->live);
	merging->at = *live_backend(&merge->live);
	merging->empty_since = merging->is_live && live_is_empty(&merge->live)
				       ? live_empty_since(&merge->live)
				       : 0;
}

static bool end_merge(struct room_merge *merge, struct fault *fault)
{
	struct call *call = merge->call;

	set_results(merge);
	if (!store_usage(merge, fault))
		return false;
	if (!merge->is_changed)
		return true;
	return record_put(&live_table, call->transaction, &merge->live, fault) &&
	       (!merge->is_loaded ||
		record_put(&session_table, call->transaction, &merge->session, fault));
}

/* Counts all that is left as merged, because none of it changes the records; otherwise a survey
 * would begin again and again. */
static void skip_rest(struct merging *merging)
{
	merging->merged = merging->count;
	if (merging->steps != NULL)
		merging->steps->at.phase = LISTED_DONE;
}

bool live_merge(struct call *call, struct merging *merging, struct fault *fault)
{
	struct room_merge merge;
	struct place place;

	merging->needs_room = merging->needs_survey = merging->needs_second_survey = false;
	merging->failed = NULL;
	merging->merged = 0;
	merging->is_over = merging->is_moving = merging->is_stray = false;
	merging->enforces = merging->is_survey ? ENFORCE_ALL : ENFORCE_NOTHING;
	if (!begin_merge(&merge, call, merging, fault))
		return false;
	if (merge.live.closing != 0 && !close_on(&merge, fault))
		return false;
	if (merge.live.closing != 0)
		return end_merge(&merge, fault);
	set_results(&merge);
	if (!find_whether_stray(&merge, &place, &merging->is_stray, fault))
		return false;
	/* A room that is in session belongs to the media server that reported it, or to the one to
	 * which it was moved. */
	if (merging->is_stray || (merging->is_live && !merge.is_before &&
				  id_compare(&merging->at, &merging->backend) != 0)) {
		skip_rest(merging);
		return true;
	}
	if (!merging->is_live && !merge.has_room) {
		/* Somebody is in a room that may have been deleted. */
		for (size_t i = 0; i < merging->count; i++) {
			if (merging->reports[i].type == REPORT_JOINED)
				merging->enforces = ENFORCE_ALL;
		}
		skip_rest(merging);
		return end_merge(&merge, fault);
	}
	if (merging->is_survey)
		return merge_listed(&merge, fault) && end_merge(&merge, fault);

	for (size_t i = 0; i < merging->count; i++) {
		const struct report *report = &merging->reports[i];
		struct stay stay = { .state = STAY_UNKNOWN };

		if ((report->type != REPORT_ENDED &&
		     !find_stay(&merge, &report->person, &stay, fault)) ||
		    !merge_one(&merge, report, &stay, fault))
			return false;
		if (merge.is_changed)
			merge.live.received = call->now;
		/* What closes the session is merged again once it has closed, and changes nothing
		 * then, or opens the next one. */
		if (merge.live.closing != 0 || merging->is_moving)
			break;
		merging->merged++;
	}
	return end_merge(&merge, fault);
}

bool live_survey_prepare(struct call *call, const struct server_person *people, size_t count,
			 const struct server_room *room, int64_t sent, struct merging *merging,
			 struct fault *fault)
{
	struct report *reports = arena_zero(call->arena, (count + 1) * sizeof *reports);
	struct backend_healths healths;
	const struct backend_health *health;

	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;
	health = backend_health_of(&healths, &merging->backend);
	for (size_t i = 0; i < count; i++) {
		reports[i] =
			(struct report){ .type = REPORT_LISTED, .person = people[i], .time = sent };
		reports[i].person.joined = backend_time(health, people[i].joined, call->now);
		if (room != NULL)
			reports[i].room = *room;
	}
	merging->reports = reports;
	merging->count = count;
	merging->is_survey = true;
	merging->surveyed = sent;
	merging->steps = live_survey_steps(call->arena, reports, count);
	return true;
}

bool live_find_stray(struct call *call, const struct id *room, const struct id *backend,
		     struct live_stray *stray, struct fault *fault)
{
	struct merging merging = { .room = *room, .backend = *backend, .is_in_pool = true };
	struct room_merge merge = { .call = call, .merging = &merging };

	*stray = (struct live_stray){ .place.stored.id = *room };
	if (!live_load(call, room, STORE_TO_SHOW, &merge.live, fault) ||
	    !room_find(call, room, STORE_TO_SHOW, &merge.room, &merge.has_room, fault) ||
	    !find_whether_stray(&merge, &stray->place, &stray->is_stray, fault))
		return false;
	stray->was_moved = stray->place.reason != MOVE_NONE
				   ? id_compare(&stray->place.former, backend) == 0
				   : merge.live.moved != 0;
	return true;
}

/* ---- what this service does ---- */

bool live_order_end(struct call *call, const struct ending *ending, struct fault *fault)
{
	struct live live;

	if (!live_load(call, &ending->room, STORE_TO_CHANGE, &live, fault))
		return false;
	if (live.stored.value.data == NULL || live.closing != 0)
		return true;
	live.ending = call->now;
	live.end_reason = text_cut(ending->reason, LIVE_REASON_MOST);
	live.end_actor = audit_caller_text(call);
	live.end_peer = ending->by != NULL ? ending->by->uuid : SLICE("");
	live.end_locks = ending->locks;
	return record_put(&live_table, call->transaction, &live, fault);
}

void live_want(struct call *call, const struct id *room, unsigned wants)
{
	static const struct id all;
	const bool is_other = call->run.wants != 0 && id_compare(&call->run.wanted, room) != 0;

	call->run.wanted = is_other ? all : *room;
	call->run.wants |= wants;
}

static void request_closing(struct call *call, const struct merging *merging)
{
	if (merging->is_closing)
		live_want(call, &merging->room, ROOM_CLOSE);
}

bool live_end(struct call *call, const struct id *room, struct fault *fault)
{
	struct merging merging = { .room = *room };
	struct room_merge merge;

	if (!begin_merge(&merge, call, &merging, fault))
		return false;
	if (merge.live.stored.value.data == NULL)
		return true;
	if (!close_session(&merge, call->now, fault) || !end_merge(&merge, fault))
		return false;
	request_closing(call, &merging);
	return true;
}

bool live_order_out(struct call *call, const struct id *room, struct peer *peer,
		    enum leave_cause cause, struct slice reason, struct fault *fault)
{
	struct live live;

	if (!live_load(call, room, STORE_TO_CHANGE, &live, fault))
		return false;
	peer->order = cause;
	peer->order_reason = text_cut(reason, LIVE_REASON_MOST);
	peer->order_actor = audit_caller_text(call);
	return record_put(&peer_table, call->transaction, peer, fault);
}

bool live_put_out(struct call *call, const struct id *room, struct slice uuid, struct fault *fault)
{
	struct merging merging = { .room = *room };
	struct room_merge merge;
	struct peer peer;

	if (!begin_merge(&merge, call, &merging, fault) ||
	    !record_get_named(&peer_table, call->transaction, uuid, STORE_TO_CHANGE, &peer, fault))
		return false;
	return !live_has_peer(&merge.live, &peer) ||
	       (end_stay(&merge, &peer, call->now, LEAVE_REMOVED, fault) &&
		end_merge(&merge, fault));
}

bool live_put_back(struct call *call, const struct id *room, struct slice uuid,
		   const struct access_guest *guest, struct fault *fault)
{
	struct live live;
	struct peer peer;

	if (!live_load(call, room, STORE_TO_CHANGE, &live, fault) ||
	    !record_get_named(&peer_table, call->transaction, uuid, STORE_TO_CHANGE, &peer, fault))
		return false;
	/* The name may have changed again meanwhile. */
	if (!live_has_peer(&live, &peer) ||
	    (peer.new_name.size > 0 && !slice_equal(peer.new_name, guest->name)))
		return true;
	peer.is_strange = false;
	peer.rights = server_rights_of(guest);
	peer.new_name = SLICE("");
	return record_put(&peer_table, call->transaction, &peer, fault);
}

bool live_set_role(struct call *call, const struct id *room, struct peer *peer, struct slice role,
		   struct fault *fault)
{
	struct live live;

	if (!live_load(call, room, STORE_TO_CHANGE, &live, fault))
		return false;
	live_count(call->arena, &live, peer->role, false);
	live_count(call->arena, &live, role, true);
	peer->role = role;
	peer->is_strange = true;
	return record_put(&live_table, call->transaction, &live, fault) &&
	       record_put(&peer_table, call->transaction, peer, fault);
}

/* ---- closing without a report ---- */

bool live_count_day(struct call *call, struct fault *fault)
{
	struct room_merge merge = { .call = call };

	return read_now(&merge, fault) && store_usage(&merge, fault);
}

int64_t live_grace(bool left_unseen, int64_t grace)
{
	return left_unseen ? later(grace, LIVE_RESTART_MOST) : grace;
}

/* Why a session is closed without a report. */
enum closing_reason {
	CLOSING_EMPTY, /* nobody has been inside for live_grace */
	CLOSING_BACKEND, /* the backend is deleted */
	CLOSING_GONE, /* the same, if it has been */
	CLOSING_BEGUN /* it has begun to close */
};

struct closing {
	enum closing_reason reason;
	const struct id *backend; /* CLOSING_BACKEND */
	int64_t grace; /* CLOSING_EMPTY */
	bool only_begins;
	bool is_closed, is_closing; /* results */
};

/* The media server is deleted at which the session of a room was that was moved: it goes on at the
 * new one, as after a restart of it. */
static bool leave_backend(struct room_merge *merge, struct fault *fault)
{
	struct live *live = &merge->live;

	if (!find_session(merge, fault))
		return false;
	merge->session.backend = live->backend = live->moves_to;
	merge->session.server_room = live->server_room = SLICE("");
	live->server_created = 0;
	live->moves_to = kind_only_id;
	merge->is_changed = true;
	return true;
}

/* Finds out whether the room's session is to be closed. */
static bool is_to_be_closed(struct room_merge *merge, const struct closing *closing, bool *is,
			    struct fault *fault)
{
	const struct live *live = &merge->live;
	struct media media;

	*is = live->closing != 0;
	if (*is || live->stored.value.data == NULL)
		return true;
	switch (closing->reason) {
	case CLOSING_EMPTY:
		*is = live_is_empty(live) &&
		      live_empty_since(live) <=
			      merge->call->now - live_grace(live_left_unseen(live), closing->grace);
		break;
	case CLOSING_BACKEND:
		*is = id_compare(live_backend(live), closing->backend) == 0;
		if (!*is && id_compare(&live->backend, closing->backend) == 0)
			return leave_backend(merge, fault);
		break;
	case CLOSING_GONE:
		if (!media_load(merge->call, STORE_TO_SHOW, &media, fault))
			return false;
		*is = media_backend(&media, live_backend(live)) == NULL;
		break;
	case CLOSING_BEGUN:
		break;
	}
	return true;
}

static bool close_room_session(struct call *call, const struct id *room, struct closing *closing,
			       size_t *ended, struct fault *fault)
{
	struct merging merging = { .room = *room };
	struct room_merge merge;
	bool is;

	closing->is_closed = closing->is_closing = false;
	if (!begin_merge(&merge, call, &merging, fault) ||
	    !is_to_be_closed(&merge, closing, &is, fault))
		return false;
	closing->is_closed = merge.live.stored.value.data == NULL;
	if (!is)
		return !merge.is_changed || end_merge(&merge, fault);
	merge.ended = *ended;
	if (!begin_closing(&merge, 0, fault) ||
	    (!closing->only_begins && !close_on(&merge, fault)) || !end_merge(&merge, fault))
		return false;
	*ended = merge.ended;
	closing->is_closed = !merging.is_live;
	closing->is_closing = merging.is_closing;
	request_closing(call, &merging);
	return true;
}

bool live_close_empty(struct call *call, const struct id *room, int64_t grace, bool *is_closed,
		      struct fault *fault)
{
	struct closing closing = { .reason = CLOSING_EMPTY, .grace = grace };
	size_t ended = 0;

	if (!close_room_session(call, room, &closing, &ended, fault))
		return false;
	*is_closed = closing.is_closed;
	return true;
}

bool live_close_on(struct call *call, const struct id *room, bool is_gone, bool *is_closing,
		   struct fault *fault)
{
	struct closing closing = { .reason = is_gone ? CLOSING_GONE : CLOSING_BEGUN };
	size_t ended = 0;

	if (!close_room_session(call, room, &closing, &ended, fault))
		return false;
	*is_closing = closing.is_closing;
	return true;
}

/* Sessions with few people close at once; others begin to close, and the watch goes on. Those that
 * do not even begin are found by it. */
bool live_close_backend(struct call *call, const struct id *backend, struct fault *fault)
{
	const struct store_page page = { .order = STORE_OLDEST_FIRST };
	struct store_walk walk = store_walk_pages(call->transaction, &kind_live, &page, true,
						  fault);
	struct closing closing = { .reason = CLOSING_BACKEND, .backend = backend };
	size_t ended = 0, begun = 0, visited = 0;
	struct store_record record;

	while (begun < CLOSINGS_MOST && visited < CLOSINGS_VISITED && store_next(&walk, &record)) {
		visited++;
		closing.only_begins = ended >= CLOSED_MOST;
		if (!close_room_session(call, &record.id, &closing, &ended, fault))
			return false;
		begun += closing.is_closed || closing.is_closing;
	}
	if (fault->kind != FAULT_NONE)
		return false;
	if (begun == CLOSINGS_MOST || visited == CLOSINGS_VISITED)
		live_want(call, &kind_only_id, ROOM_CLOSE);
	return true;
}
