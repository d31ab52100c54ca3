/* See resources/live/live_enforcement.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_enforcement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/media/media_join.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_message.h"
#include "resources/live/live_queue.h"
#include "resources/stored/revocations.h"
#include "resources/stored/room_record.h"
#include "resources/templates/template_audit.h"
#include "resources/templates/template_parts.h"

/* Milliseconds in which a call that ends a room does so by itself. */
#define CALL_ENDS_IN 10000
/* Milliseconds after which it is seen whether all others are out. */
#define LAST_GOES_AFTER 2000

/* ---- when to enforce ---- */

/* Events of objects that say who may be inside: of a room, or of all rooms of the account. */
static const struct {
	const char *type;
	bool is_of_room;
} enforcing_events[] = {
	{ "room.updated", true },  { "room.deleted", true },  { "template.updated", false },
	{ "role.updated", false }, { "role.renamed", false }, { "role.deleted", false },
	{ "ban.created", false },  { "ban.updated", false },  { "account.imported", false },
};

void live_after_commit(const struct call *call)
{
	if (call->run.wants != 0 && call->environment->live_queue != NULL)
		live_queue_want(call->environment->live_queue, &call->account, &call->run.wanted,
				call->run.wants);
	if (call->environment->live_queue == NULL)
		return;
	for (const struct noted *noted = call->run.noted.first; noted != NULL;
	     noted = noted->next) {
		if (strcmp(noted->type, "backend.updated") == 0)
			live_queue_want(call->environment->live_queue, &call->account,
					&kind_only_id, ROOM_BACKENDS);
	}
	if (call->environment->live != LIVE_ON)
		return;
	for (const struct noted *noted = call->run.noted.first; noted != NULL;
	     noted = noted->next) {
		struct id room = { { 0 } };

		for (size_t i = 0; i < sizeof enforcing_events / sizeof enforcing_events[0]; i++) {
			if (strcmp(noted->type, enforcing_events[i].type) != 0)
				continue;
			if (enforcing_events[i].is_of_room)
				(void)id_parse(noted->id, &room);
			live_queue_enforce(call->environment->live_queue, &call->account, &room);
		}
	}
	for (const struct changed_role *role = call->run.changed_roles; role != NULL;
	     role = role->next) {
		const struct notified_role notified = { role->template_id, role->identity };

		live_queue_notify_role(call->environment->live_queue, &call->account, &notified);
	}
}

/* ---- what is checked ---- */

struct role_places {
	const json_t *document;
	/* Set if `rights` is, which is 0 until it is needed: what is held from it
	 * (media_read_role), and what it may do without. */
	unsigned held;
	struct access_guest guest;
	unsigned rights; /* of `guest` (server_rights_of) */
	int64_t most; /* people; 0 for no limit, -1 for nobody */
	int64_t count;
};

/* Bytes of the digest of an identity. */
#define IDENTITY_SIZE 16

/* Somebody inside. A room may have many thousands, so this has only what is compared. */
struct occupant {
	char uuid[UUID_TEXT_SIZE];
	unsigned char identity[IDENTITY_SIZE];
	size_t place; /* in the order of joining */
	size_t role; /* index in the template; role_count if it has no such role */
	bool is_former; /* that role had this name before */
	struct id peer;
	bool was_let_in, is_strange;
	unsigned rights; /* struct peer: rights */
	bool is_last; /* put out after all others (struct peer: order_last) */
	bool counts; /* takes a place */
	const struct entry_rule *out; /* why to put out; NULL: not */
};

struct enforcing {
	struct call *call;
	struct enforcement *enforcement;
	bool notes;
	struct live live;
	struct room_record room;
	struct template_record template;
	struct entrant entrant; /* the room; then one of the people after the other */
	struct role_places *roles;
	int64_t size; /* of the room; 0 for no limit */
	struct media media; /* set if entrant.checks_bans is */
	struct occupant *people; /* those inside, in the order of joining */
	size_t count, most;
	bool has_first; /* of those whom a call puts out, some go before others */
};

/* Finds out what people with a role may do at the media server. */
static const struct role_places *role_with_rights(const struct enforcing *enforcing, size_t place)
{
	struct role_places *role = &enforcing->roles[place];

	if (role->rights != 0)
		return role;
	role->held = live_held(&enforcing->live, &enforcing->template, place, role->document);
	media_read_role(role->document, &enforcing->template, role->held, &role->guest);
	role->rights = server_rights_of(&role->guest);
	return role;
}

static void set_role(const struct enforcing *enforcing, const struct peer *peer,
		     struct occupant *person)
{
	const struct template_record *template = &enforcing->template;

	person->role = template_role_index_ever(template, peer->role);
	person->is_former = person->role < template->role_count &&
			    !slice_equal(template->roles[person->role].name, peer->role);
}

/* ---- whether the room is to be ended ---- */

/* Returns true while the call that ends the room is under way. */
static bool is_being_ended(const struct enforcing *enforcing)
{
	const struct live *live = &enforcing->live;
	const struct slice service = audit_service_text(enforcing->call->arena);

	return live->ending != 0 && enforcing->call->now < live->ending + CALL_ENDS_IN &&
	       !slice_equal(live->end_actor, service);
}

static void enforce_at(struct enforcement *enforcement, int64_t time)
{
	if (enforcement->again == 0 || time < enforcement->again)
		enforcement->again = time;
}

/* ---- whether somebody is to be put out ---- */

/* Finds out why the person must go, however few are inside. */
static bool find_cause(struct enforcing *enforcing, struct occupant *person,
		       const struct peer *peer, struct fault *fault)
{
	struct entrant *entrant = &enforcing->entrant;

	entrant->peer = peer;
	entrant->user_id = peer->user_id;
	entrant->code_hash = peer->code;
	entrant->has_no_role = person->role == enforcing->template.role_count;
	entrant->role_document = enforcing->roles[person->role].document;
	return entry_find(entrant, ENTRY_OF_ROOM | ENTRY_OF_PERSON | ENTRY_OF_LOCK | ENTRY_OF_ROLE,
			  &person->out, fault);
}

static bool must_go_for(const struct occupant *person, enum leave_cause cause)
{
	return person->out != NULL && person->out->cause == cause;
}

static bool media_for_enforcing(struct enforcing *enforcing, struct fault *fault)
{
	enforcing->entrant.checks_bans = enforcing->enforcement->checks_bans;
	enforcing->entrant.media = &enforcing->media;
	return !enforcing->entrant.checks_bans ||
	       media_load(enforcing->call, STORE_TO_SHOW, &enforcing->media, fault);
}

static bool enforcing_read_people(struct enforcing *enforcing, struct fault *fault)
{
	struct call *call = enforcing->call;
	struct store_walk walk;
	struct peer peer;

	enforcing->most = (size_t)live_peers(&enforcing->live);
	if (enforcing->most == 0)
		return true;
	enforcing->people = arena_alloc(call->arena,
					(enforcing->most + 1) * sizeof *enforcing->people);
	if (!media_for_enforcing(enforcing, fault))
		return false;
	walk = peers_walk(call, &enforcing->live.session, STORE_ON, false, fault);
	/* The record of the room counts them, in this transaction too. */
	while (enforcing->count < enforcing->most && peers_next(&walk, &peer)) {
		struct occupant *person = &enforcing->people[enforcing->count];
		unsigned char digest[DIGEST_SIZE];

		*person = (struct occupant){
			.place = enforcing->count++,
			.peer = peer.stored.id,
			.was_let_in = peer.entry.size > 0,
			.is_strange = peer.is_strange,
			.rights = peer.rights,
			.is_last = peer.order_last,
			.counts = true,
		};
		(void)snprintf(person->uuid, sizeof person->uuid, "%.*s", (int)peer.uuid.size,
			       peer.uuid.data);
		digest_sha256(peer.identity, digest);
		memcpy(person->identity, digest, IDENTITY_SIZE);
		set_role(enforcing, &peer, person);
		if (person->was_let_in && !find_cause(enforcing, person, &peer, fault))
			return false;
	}
	return fault->kind == FAULT_NONE;
}

static int compare_identities(const void *first, const void *second)
{
	const struct occupant *a = *(struct occupant *const *)first,
			      *b = *(struct occupant *const *)second;
	const int order = memcmp(a->identity, b->identity, IDENTITY_SIZE);

	return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Of those for whom there is no place, the last that joined must go. */
static void find_surplus(struct enforcing *enforcing)
{
	int64_t inside = 0;

	for (size_t i = 0; i < enforcing->count; i++) {
		enforcing->roles[enforcing->people[i].role].count += enforcing->people[i].counts;
		inside += enforcing->people[i].counts;
	}
	for (size_t rank = 0; entry_rule_at(ENTRY_INSIDE, rank) != ENTRY_NO_RULE; rank++) {
		const struct entry_rule *rule = &entry_rules[entry_rule_at(ENTRY_INSIDE, rank)];

		for (size_t i = enforcing->count; rule->scope == ENTRY_OF_PLACE && i-- > 0;) {
			struct occupant *person = &enforcing->people[i];
			struct role_places *role = &enforcing->roles[person->role];
			const int64_t most = rule->is_of_role ? role->most : enforcing->size;

			if (!person->counts || !person->was_let_in || most <= 0 ||
			    (rule->is_of_role ? role->count : inside) <= most)
				continue;
			person->counts = false;
			person->out = rule;
			role->count--;
			inside--;
		}
	}
}

static void check_people(struct enforcing *enforcing)
{
	struct occupant **sorted = arena_alloc(enforcing->call->arena,
					       (enforcing->count + 1) * sizeof *sorted);
	bool has_last = false;

	/* A media server has each identity once: whoever joins again takes the place of the older
	 * stay, whose end may not have been reported yet. */
	for (size_t i = 0; i < enforcing->count; i++)
		sorted[i] = &enforcing->people[i];
	qsort(sorted, enforcing->count, sizeof *sorted, compare_identities);
	for (size_t i = 1; i < enforcing->count; i++) {
		if (memcmp(sorted[i - 1]->identity, sorted[i]->identity, IDENTITY_SIZE) == 0)
			sorted[i - 1]->counts = false;
	}

	for (size_t i = 0; i < enforcing->count; i++) {
		struct occupant *person = &enforcing->people[i];

		person->counts = person->counts && person->out == NULL;
	}
	find_surplus(enforcing);

	/* Whoever put out a whole role, and has it, goes after all others. */
	for (size_t i = 0; i < enforcing->count; i++) {
		const struct occupant *person = &enforcing->people[i];

		if (!must_go_for(person, LEAVE_REMOVED))
			continue;
		has_last = has_last || person->is_last;
		enforcing->has_first = enforcing->has_first || !person->is_last;
	}
	if (has_last && enforcing->has_first)
		enforce_at(enforcing->enforcement, enforcing->call->now + LAST_GOES_AFTER);
}

/* Finds out whether nobody needs to be checked: by the numbers and the roles alone, before anybody
 * is read. */
static bool find_places(struct enforcing *enforcing, bool *are_there, struct fault *fault)
{
	const struct live *live = &enforcing->live;
	struct entrant *entrant = &enforcing->entrant;
	const struct entry_rule *broken;

	*are_there = false;
	if (enforcing->enforcement->checks_all || entrant->spares_some ||
	    (enforcing->size > 0 && live_peers(live) > (uint64_t)enforcing->size))
		return true;
	for (size_t i = 0; i < live->role_count; i++) {
		const struct live_role *inside = &live->roles[i];
		const size_t place = template_role_index(&enforcing->template, inside->name);
		const int64_t most = enforcing->roles[place].most;

		/* Whoever was let in has a role. */
		if (inside->name.size == 0)
			continue;
		if (place == enforcing->template.role_count || (most > 0 && inside->count > most))
			return true;
		entrant->role_document = enforcing->roles[place].document;
		if (!entry_find(entrant, ENTRY_OF_ROLE, &broken, fault))
			return false;
		if (broken != NULL)
			return true;
	}
	*are_there = true;
	return true;
}

/* ---- noting it, and the first requests ---- */

static struct asking *enforcement_ask(struct call *call, const struct enforcement *enforcement,
				      size_t count)
{
	struct asking *asking = call_ask(call, &enforcement->backend, count);

	asking->rank = ASKED_TO_ENFORCE;
	asking->room = enforcement->room;
	return asking;
}

static bool ask_for_end(struct call *call, struct enforcement *enforcement,
			const struct server *server)
{
	struct asking *asking = enforcement_ask(call, enforcement, 1);

	server_end_room(call->arena, server, call->now / 1000,
			id_as_text(call->arena, &enforcement->room), &asking->asked[0].request);
	enforcement->asking = asking;
	enforcement->is_acting = true;
	return true;
}

/* Notes that the room is ended. If a call has locked the room and could not end it, this is still
 * its end. */
static bool note_ending(struct enforcing *enforcing, const char *reason, struct fault *fault)
{
	const struct ending ending = {
		.room = enforcing->enforcement->room,
		.reason = slice_of(reason),
	};

	if (!enforcing->live.end_locks)
		return live_order_end(enforcing->call, &ending, fault);
	enforcing->live.ending = enforcing->call->now;
	return record_put(&live_table, enforcing->call->transaction, &enforcing->live, fault);
}

/* Notes that the room is ended, and sends the people a message. */
static bool begin_end(struct enforcing *enforcing, const struct server *server, const char *reason,
		      struct fault *fault)
{
	struct call *call = enforcing->call;
	struct enforcement *enforcement = enforcing->enforcement;
	struct live_view view = { .room = enforcing->room, .live = enforcing->live };
	const struct message message = {
		.view = &view,
		.server = server,
		.topic = OWN_TOPIC,
		.text = message_why(call->arena, "ended", enforcement->word, SLICE("")),
		.patience = NOTICE_PATIENCE,
	};
	bool is_asked = false;

	view.room.id = enforcement->room;
	if (enforcing->live.stored.value.data != NULL &&
	    (!note_ending(enforcing, reason, fault) ||
	     !message_ask(call, &message, &is_asked, fault)))
		return false;
	if (!is_asked)
		return ask_for_end(call, enforcement, server);
	enforcement->asking = call->asking;
	enforcement->asking->rank = ASKED_TO_ENFORCE;
	return true;
}

/* Notes what is to be done with somebody. */
static bool note_person(struct enforcing *enforcing, const struct occupant *person,
			struct peer *peer, struct correction *correction, struct fault *fault)
{
	struct call *call = enforcing->call;
	const struct id *room = &enforcing->enforcement->room;
	const struct entry_rule *out = person->out;

	*correction = (struct correction){ .cause = out != NULL ? out->cause : LEAVE_LEFT };
	if (out != NULL)
		correction->word = out->word != NULL ? out->word : leave_cause_names[out->cause];
	if (out != NULL && peer->order != out->cause &&
	    !live_order_out(call, room, peer, out->cause,
			    out->logged != NULL ? slice_of(out->logged) : SLICE(""), fault))
		return false;
	if (out == NULL && person->is_former &&
	    !live_set_role(call, room, peer, enforcing->template.roles[person->role].name, fault))
		return false;
	correction->peer = *peer;
	if (out == NULL) {
		struct access_guest *guest = &correction->guest;

		*guest = role_with_rights(enforcing, person->role)->guest;
		guest->role = peer->role;
		guest->user_id = peer->user_id;
		guest->entry = peer->entry;
		guest->code = peer->code;
		guest->consent = consent_as_text(call->arena, peer_consent(peer));
		guest->consent_text = peer_consent(peer) != 0 ? peer->consent_text : SLICE("");
		guest->name = peer->new_name;
		guest->name_origin = peer->name_origin;
	}
	return true;
}

static bool needs_correction(const struct enforcing *enforcing, const struct occupant *person)
{
	const struct role_places *role;

	if (must_go_for(person, LEAVE_REMOVED) && person->is_last && enforcing->has_first)
		return false;
	if (person->out != NULL || !person->was_let_in)
		return person->out != NULL;
	if (person->is_strange || person->is_former)
		return true;
	role = role_with_rights(enforcing, person->role);
	return person->rights == 0 ? role->held != 0 : person->rights != role->rights;
}

/* Checks a chosen person again. That something was to be done was so a moment ago, so only the
 * numbers say whether there is a place. *is: it is still to be done. */
static bool check_again(struct enforcing *enforcing, const struct chosen *chosen,
			struct occupant *person, struct peer *peer, bool *is, struct fault *fault)
{
	const struct live *live = &enforcing->live;
	const struct role_places *role;

	*is = false;
	if (!record_get_named(&peer_table, enforcing->call->transaction, slice_of(chosen->uuid),
			      STORE_TO_CHANGE, peer, fault))
		return false;
	if (!live_has_peer(live, peer) || peer->entry.size == 0)
		return true;
	*person = (struct occupant){
		.was_let_in = true,
		.is_strange = peer->is_strange,
		.rights = peer->rights,
	};
	set_role(enforcing, peer, person);
	if (!find_cause(enforcing, person, peer, fault))
		return false;
	role = &enforcing->roles[person->role];
	if (person->out == NULL && chosen->out != NULL && chosen->out->scope == ENTRY_OF_PLACE &&
	    ((enforcing->size > 0 && live_peers(live) > (uint64_t)enforcing->size) ||
	     (role->most > 0 && (int64_t)live_peers_with(live, peer->role) > role->most)))
		person->out = chosen->out;
	*is = needs_correction(enforcing, person);
	return true;
}

static bool begin_people(struct enforcing *enforcing, const struct server *server,
			 struct fault *fault)
{
	struct call *call = enforcing->call;
	struct enforcement *enforcement = enforcing->enforcement;
	const struct slice room = id_as_text(call->arena, &enforcement->room);
	struct asking *asking;
	size_t requests;

	enforcement->people = arena_alloc(call->arena,
					  CORRECTIONS_MOST * sizeof(struct correction));
	enforcement->count = 0;
	while (enforcement->chosen_next < enforcement->chosen_count &&
	       enforcement->count < CORRECTIONS_MOST) {
		const struct chosen *chosen = &enforcement->chosen[enforcement->chosen_next++];
		struct occupant person;
		struct peer *peer = arena_alloc(call->arena, sizeof *peer);
		bool is;

		if (!check_again(enforcing, chosen, &person, peer, &is, fault) ||
		    (is && !note_person(enforcing, &person, peer,
					&enforcement->people[enforcement->count++], fault)))
			return false;
	}
	if (enforcement->count == 0)
		return true;

	/* The people themselves come first among the requests, then the messages to those who are
	 * put out. */
	requests = enforcement->count;
	for (size_t i = 0; i < enforcement->count; i++)
		requests += enforcement->people[i].cause != LEAVE_LEFT;
	asking = enforcement->asking = enforcement_ask(call, enforcement, requests);
	requests = enforcement->count;
	for (size_t i = 0; i < enforcement->count; i++) {
		const struct correction *correction = &enforcement->people[i];
		const bool is_removed = correction->cause == LEAVE_REMOVED;

		server_ask_person(call->arena, server, call->now / 1000, room,
				  correction->peer.identity, &asking->asked[i].request);
		if (correction->cause != LEAVE_LEFT)
			message_to_person(
				call, server, room, correction->peer.identity,
				message_why(call->arena, "removed", correction->word,
					    is_removed ? correction->peer.order_reason : SLICE("")),
				&asking->asked[requests++].request);
	}
	return true;
}

/* Chooses, of those about whom something is to be done, the first ones. */
static void choose(struct enforcing *enforcing)
{
	struct enforcement *enforcement = enforcing->enforcement;

	for (size_t i = 0; i < enforcing->count; i++) {
		const struct occupant *person = &enforcing->people[i];
		struct chosen *chosen;

		if (!needs_correction(enforcing, person))
			continue;
		enforcement->has_more = enforcement->chosen_count == CHOSEN_MOST;
		if (enforcement->has_more)
			break;
		chosen = &enforcement->chosen[enforcement->chosen_count];
		memcpy(chosen->uuid, person->uuid, sizeof chosen->uuid);
		chosen->out = person->out;
		enforcement->chosen_count++;
	}
}

/* ---- enforcing ---- */

/* Finds out what is to be done. reason: of an end, for the event log. */
static bool find_actions(struct enforcing *enforcing, const char **reason, struct fault *fault)
{
	struct call *call = enforcing->call;
	struct enforcement *enforcement = enforcing->enforcement;
	const struct template_record *template = &enforcing->template;
	const struct entry_rule *broken;
	bool has_places;

	enforcement->inside = live_peers(&enforcing->live);
	if (enforcing->live.stored.value.data == NULL) {
		enforcement->is_whole = true;
		/* Somebody may be in a room that was deleted. */
		if (enforcing->entrant.room != NULL)
			return true;
		enforcement->word = entry_rules[ENTRY_ROOM_DELETED].word;
		return revocation_has_room(call, &enforcement->room, &enforcement->ends, fault);
	}
	enforcement->backend = *live_backend(&enforcing->live);
	if (enforcing->live.closing != 0) {
		enforcement->is_whole = true;
		return true;
	}
	if (is_being_ended(enforcing)) {
		enforce_at(enforcement, enforcing->live.ending + CALL_ENDS_IN);
		return true;
	}
	if (!entry_find(&enforcing->entrant, ENTRY_OF_ROOM, &broken, fault))
		return false;
	if (enforcing->entrant.until != INT64_MAX)
		enforce_at(enforcement, enforcing->entrant.until);
	if (broken != NULL) {
		enforcement->ends = enforcement->is_whole = true;
		enforcement->word = broken->word;
		*reason = broken->logged;
		return true;
	}

	/* Nobody has come to where the room was moved to, and where it was, it is ended. */
	if (live_is_moved(&enforcing->live)) {
		enforcement->is_whole = true;
		return true;
	}

	enforcing->roles = arena_zero(call->arena,
				      (template->role_count + 1) * sizeof *enforcing->roles);
	for (size_t i = 0; i < template->role_count; i++) {
		struct role_places *role = &enforcing->roles[i];

		role->document = template_role_document(call, template, &template->roles[i]);
		role->most = media_most_peers(role->document);
	}
	if (enforcing->notes)
		return media_for_enforcing(enforcing, fault);
	if (!find_places(enforcing, &has_places, fault))
		return false;
	if (has_places)
		return true;
	if (!enforcing_read_people(enforcing, fault))
		return false;
	check_people(enforcing);
	choose(enforcing);
	enforcement->is_whole = true;
	enforcement->removals = arena_alloc(call->arena,
					    (enforcing->count + 1) * sizeof *enforcement->removals);
	for (size_t i = 0; i < enforcing->count; i++) {
		if (enforcing->people[i].out != NULL)
			enforcement->removals[enforcement->removal_count++] =
				enforcing->people[i].peer;
	}
	return true;
}

bool live_enforce(struct call *call, bool notes, struct enforcement *enforcement,
		  struct fault *fault)
{
	struct enforcing enforcing = { .call = call, .enforcement = enforcement, .notes = notes };
	const char *reason = "";
	struct server server;
	bool has_room;

	enforcement->word = NULL;
	enforcement->ends = enforcement->is_acting = enforcement->has_failed = false;
	enforcement->people = NULL;
	enforcement->count = 0;
	enforcement->is_whole = false;
	enforcement->removals = NULL;
	enforcement->removal_count = 0;
	enforcement->inside = 0;
	enforcement->again = 0;
	enforcement->asking = NULL;
	if (!notes) {
		enforcement->chosen_count = enforcement->chosen_next = 0;
		enforcement->has_more = false;
	}

	enforcing.entrant = (struct entrant){
		.call = call,
		.moment = ENTRY_INSIDE,
		.template = &enforcing.template,
		.live = &enforcing.live,
		.until = INT64_MAX,
	};
	if (!live_load(call, &enforcement->room, notes ? STORE_TO_CHANGE : STORE_TO_SHOW,
		       &enforcing.live, fault) ||
	    !room_find(call, &enforcement->room, STORE_TO_SHOW, &enforcing.room, &has_room, fault))
		return false;
	if (has_room)
		enforcing.entrant.room = &enforcing.room;
	if (has_room && enforcing.live.stored.value.data != NULL) {
		if (!template_load(call, &enforcing.room.template_id, &enforcing.template, fault))
			return false;
		enforcing.size = media_room_size(entrant_room(&enforcing.entrant));
	}
	if (!find_actions(&enforcing, &reason, fault))
		return false;

	if (!notes || (!enforcement->ends && enforcement->chosen_next == enforcement->chosen_count))
		return true;
	if (!live_find_server(call, &enforcement->backend, &server, fault))
		return false;
	return enforcement->ends ? begin_end(&enforcing, &server, reason, fault)
				 : begin_people(&enforcing, &server, fault);
}

/* ---- the next requests, and the end ---- */

/* Asks for those who are still there to be put out, or back. */
static bool ask_for_acts(struct call *call, struct enforcement *enforcement,
			 const struct server *server)
{
	const struct asking *lookups = enforcement->asking;
	const struct slice room = id_as_text(call->arena, &enforcement->room);
	struct asking *asking;
	size_t n = 0;

	for (size_t i = 0; i < enforcement->count; i++) {
		struct correction *correction = &enforcement->people[i];
		struct fault own = FAULT_INITIAL;
		struct server_person person;
		struct server_track *tracks;
		size_t count;

		correction->is_there = live_read_peer(call, &lookups->asked[i], server,
						      &correction->peer, &person, &tracks, &count,
						      &own);
		n += correction->is_there;
		enforcement->has_failed = enforcement->has_failed ||
					  (!correction->is_there && own.kind != FAULT_NOT_FOUND);
	}
	enforcement->asking = NULL;
	if (n == 0)
		return true;
	asking = enforcement->asking = enforcement_ask(call, enforcement, n);
	enforcement->is_acting = true;
	n = 0;
	for (size_t i = 0; i < enforcement->count; i++) {
		const struct correction *correction = &enforcement->people[i];
		struct server_request *request = &asking->asked[n].request;

		if (!correction->is_there)
			continue;
		n++;
		if (correction->cause != LEAVE_LEFT)
			server_remove_person(call->arena, server, call->now / 1000, room,
					     correction->peer.identity, request);
		else
			server_update_person(call->arena, server, call->now / 1000, room,
					     correction->peer.identity, &correction->guest,
					     (struct slice){ NULL, 0 }, request);
	}
	return true;
}

static bool was_done(struct call *call, struct enforcement *enforcement, const struct asked *asked,
		     const struct server *server)
{
	struct fault own = FAULT_INITIAL;
	const enum server_result result = asked_result(call, asked, server, "", &own);
	const bool is_done = result == SERVER_DONE || result == SERVER_HAS_NOBODY;

	enforcement->has_failed = enforcement->has_failed || !is_done;
	return is_done;
}

bool live_carry_on(struct call *call, struct enforcement *enforcement, struct fault *fault)
{
	const struct asking *asking = enforcement->asking;
	struct server server;
	size_t n = 0;

	enforcement->has_failed = false;
	if (!live_find_server(call, &enforcement->backend, &server, fault))
		return false;
	if (!enforcement->is_acting)
		return enforcement->ends ? ask_for_end(call, enforcement, &server)
					 : ask_for_acts(call, enforcement, &server);
	enforcement->asking = NULL;
	if (enforcement->ends)
		return !was_done(call, enforcement, &asking->asked[0], &server) ||
		       live_end(call, &enforcement->room, fault);
	for (size_t i = 0; i < enforcement->count; i++) {
		const struct correction *correction = &enforcement->people[i];

		if (!correction->is_there ||
		    !was_done(call, enforcement, &asking->asked[n++], &server))
			continue;
		if (correction->cause != LEAVE_LEFT
			    ? !live_put_out(call, &enforcement->room, correction->peer.uuid, fault)
			    : !live_put_back(call, &enforcement->room, correction->peer.uuid,
					     &correction->guest, fault))
			return false;
	}
	return true;
}
