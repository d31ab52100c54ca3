/* See resources/live/live_judge.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "resources/audit.h"
#include "resources/media/media_join.h"
#include "resources/live/live_caller.h"
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

/* ---- when to judge ---- */

/* Events of objects that say who may be inside: of a room, or of all rooms of the account. */
static const struct {
	const char *type;
	bool is_of_room;
} touching[] = {
	{ "room.updated", true },  { "room.deleted", true },  { "template.updated", false },
	{ "role.updated", false }, { "role.renamed", false }, { "role.deleted", false },
	{ "ban.created", false },  { "ban.updated", false },  { "account.imported", false },
};

void live_judge_touched(const struct call *call)
{
	if (call->run.wants != 0 && call->environment->live_queue != NULL)
		live_queue_want(call->environment->live_queue, &call->account, &call->run.wanted,
				call->run.wants);
	if (call->environment->live != LIVE_ON || call->environment->live_queue == NULL)
		return;
	for (const struct noted *noted = call->run.noted.first; noted != NULL;
	     noted = noted->next) {
		struct id room = { { 0 } };

		for (size_t i = 0; i < sizeof touching / sizeof touching[0]; i++) {
			if (strcmp(noted->type, touching[i].type) != 0)
				continue;
			if (touching[i].is_of_room)
				(void)id_parse(noted->id, &room);
			live_queue_judge(call->environment->live_queue, &call->account, &room);
		}
	}
	for (const struct changed_role *role = call->run.changed_roles; role != NULL;
	     role = role->next) {
		const struct told_role told = { role->template_id, role->identity };

		live_queue_tell_role(call->environment->live_queue, &call->account, &told);
	}
}

/* ---- what is judged ---- */

struct judged_role {
	const json_t *document;
	int64_t most; /* people; 0 for no limit, -1 for nobody */
	int64_t count;
};

/* Bytes of the digest of an identity. */
#define IDENTITY_SIZE 16

/* Somebody inside. A room may have many thousands, so this has only what is compared. */
struct standing {
	char uuid[UUID_TEXT_SIZE];
	unsigned char identity[IDENTITY_SIZE];
	size_t place; /* in the order of joining */
	size_t role; /* index in the template; role_count if it has no such role */
	bool is_former; /* that role had this name before */
	struct id peer;
	bool was_let_in, is_strange;
	bool is_last; /* put out after all others (struct peer: order_last) */
	bool counts; /* takes a place */
	const struct entry_rule *out; /* why to put out; NULL: not */
};

struct judging {
	struct call *call;
	struct judgement *judgement;
	bool notes;
	struct live live;
	struct room_record room;
	struct template_record template;
	struct entrant entrant; /* the room; then one of the people after the other */
	struct judged_role *roles;
	int64_t size; /* of the room; 0 for no limit */
	struct media media; /* set if entrant.checks_bans is */
	struct standing *people; /* those inside, in the order of joining */
	size_t count, most;
	bool has_first; /* of those whom a call puts out, some go before others */
};

static void set_role(const struct judging *judging, const struct peer *peer,
		     struct standing *person)
{
	const struct template_record *template = &judging->template;

	person->role = template_role_index_ever(template, peer->role);
	person->is_former = person->role < template->role_count &&
			    !slice_equal(template->roles[person->role].name, peer->role);
}

/* ---- whether the room is to be ended ---- */

/* Returns true while the call that ends the room is under way. */
static bool is_being_ended(const struct judging *judging)
{
	const struct live *live = &judging->live;
	const struct slice service = audit_actor_text(judging->call->arena, ACTOR_SERVICE,
						      SLICE(""));

	return live->ending != 0 && judging->call->now < live->ending + CALL_ENDS_IN &&
	       !slice_equal(live->end_actor, service);
}

static void judge_at(struct judgement *judgement, int64_t time)
{
	if (judgement->again == 0 || time < judgement->again)
		judgement->again = time;
}

/* ---- whether somebody is to be put out ---- */

/* Finds out why the person must go, however few are inside. */
static bool find_cause(struct judging *judging, struct standing *person, const struct peer *peer,
		       struct fault *fault)
{
	struct entrant *entrant = &judging->entrant;

	entrant->peer = peer;
	entrant->user_id = peer->user_id;
	entrant->code_hash = peer->code;
	entrant->has_no_role = person->role == judging->template.role_count;
	entrant->role_document = judging->roles[person->role].document;
	return entry_find(entrant, ENTRY_OF_ROOM | ENTRY_OF_PERSON | ENTRY_OF_ROLE, &person->out,
			  fault);
}

static bool must_go_for(const struct standing *person, enum leave_cause cause)
{
	return person->out != NULL && person->out->cause == cause;
}

static bool media_for_judging(struct judging *judging, struct fault *fault)
{
	judging->entrant.checks_bans = judging->judgement->checks_bans;
	judging->entrant.media = &judging->media;
	return !judging->entrant.checks_bans ||
	       media_load(judging->call, STORE_TO_SHOW, &judging->media, fault);
}

static bool judging_read_people(struct judging *judging, struct fault *fault)
{
	struct call *call = judging->call;
	struct store_walk walk;
	struct peer peer;

	judging->most = (size_t)live_peers(&judging->live);
	if (judging->most == 0)
		return true;
	judging->people = arena_alloc(call->arena, (judging->most + 1) * sizeof *judging->people);
	if (!media_for_judging(judging, fault))
		return false;
	walk = peers_walk(call, &judging->live.session, STORE_ON, false, fault);
	/* The record of the room counts them, in this transaction too. */
	while (judging->count < judging->most && peers_next(&walk, &peer)) {
		struct standing *person = &judging->people[judging->count];
		unsigned char digest[DIGEST_SIZE];

		*person = (struct standing){
			.place = judging->count++,
			.peer = peer.stored.id,
			.was_let_in = peer.entry.size > 0,
			.is_strange = peer.is_strange,
			.is_last = peer.order_last,
			.counts = true,
		};
		(void)snprintf(person->uuid, sizeof person->uuid, "%.*s", (int)peer.uuid.size,
			       peer.uuid.data);
		digest_sha256(peer.identity, digest);
		memcpy(person->identity, digest, IDENTITY_SIZE);
		set_role(judging, &peer, person);
		if (person->was_let_in && !find_cause(judging, person, &peer, fault))
			return false;
	}
	return fault->kind == FAULT_NONE;
}

static int compare_identities(const void *first, const void *second)
{
	const struct standing *a = *(struct standing *const *)first,
			      *b = *(struct standing *const *)second;
	const int order = memcmp(a->identity, b->identity, IDENTITY_SIZE);

	return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Of those for whom there is no place, the last that joined must go. */
static void find_surplus(struct judging *judging)
{
	int64_t inside = 0;

	for (size_t i = 0; i < judging->count; i++) {
		judging->roles[judging->people[i].role].count += judging->people[i].counts;
		inside += judging->people[i].counts;
	}
	for (size_t rank = 0; entry_rule_at(ENTRY_INSIDE, rank) != ENTRY_NO_RULE; rank++) {
		const struct entry_rule *rule = &entry_rules[entry_rule_at(ENTRY_INSIDE, rank)];

		for (size_t i = judging->count; rule->scope == ENTRY_OF_PLACE && i-- > 0;) {
			struct standing *person = &judging->people[i];
			struct judged_role *role = &judging->roles[person->role];
			const int64_t most = rule->is_of_role ? role->most : judging->size;

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

static void judge_people(struct judging *judging)
{
	struct standing **sorted = arena_alloc(judging->call->arena,
					       (judging->count + 1) * sizeof *sorted);
	bool has_last = false;

	/* A media server has each identity once: whoever joins again takes the place of the older
	 * stay, whose end may not have been told yet. */
	for (size_t i = 0; i < judging->count; i++)
		sorted[i] = &judging->people[i];
	qsort(sorted, judging->count, sizeof *sorted, compare_identities);
	for (size_t i = 1; i < judging->count; i++) {
		if (memcmp(sorted[i - 1]->identity, sorted[i]->identity, IDENTITY_SIZE) == 0)
			sorted[i - 1]->counts = false;
	}

	for (size_t i = 0; i < judging->count; i++) {
		struct standing *person = &judging->people[i];

		person->counts = person->counts && person->out == NULL;
	}
	find_surplus(judging);

	/* Whoever put out a whole role, and has it, goes after all others. */
	for (size_t i = 0; i < judging->count; i++) {
		const struct standing *person = &judging->people[i];

		if (!must_go_for(person, LEAVE_REMOVED))
			continue;
		has_last = has_last || person->is_last;
		judging->has_first = judging->has_first || !person->is_last;
	}
	if (has_last && judging->has_first)
		judge_at(judging->judgement, judging->call->now + LAST_GOES_AFTER);
}

/* Finds out whether nobody needs to be judged: by the numbers and the roles alone, before anybody
 * is read. */
static bool find_places(struct judging *judging, bool *are_there, struct fault *fault)
{
	const struct live *live = &judging->live;
	struct entrant *entrant = &judging->entrant;
	const struct entry_rule *broken;

	*are_there = false;
	if (judging->judgement->judges_all || entrant->spares_some ||
	    (judging->size > 0 && live_peers(live) > (uint64_t)judging->size))
		return true;
	for (size_t i = 0; i < live->role_count; i++) {
		const struct live_role *inside = &live->roles[i];
		const size_t place = template_role_index(&judging->template, inside->name);
		const int64_t most = judging->roles[place].most;

		/* Whoever was let in has a role. */
		if (inside->name.size == 0)
			continue;
		if (place == judging->template.role_count || (most > 0 && inside->count > most))
			return true;
		entrant->role_document = judging->roles[place].document;
		if (!entry_find(entrant, ENTRY_OF_ROLE, &broken, fault))
			return false;
		if (broken != NULL)
			return true;
	}
	*are_there = true;
	return true;
}

/* ---- noting it, and the first requests ---- */

static struct asking *judgement_ask(struct call *call, const struct judgement *judgement,
				    size_t count)
{
	struct asking *asking = call_ask(call, &judgement->backend, count);

	asking->rank = ASKED_TO_JUDGE;
	asking->room = judgement->room;
	return asking;
}

static bool ask_for_end(struct call *call, struct judgement *judgement, const struct server *server)
{
	struct asking *asking = judgement_ask(call, judgement, 1);

	server_end_room(call->arena, server, call->now / 1000,
			id_as_text(call->arena, &judgement->room), &asking->asked[0].request);
	judgement->asking = asking;
	judgement->is_acting = true;
	return true;
}

/* Notes that the room is ended. If a call has locked the room and could not end it, this is still
 * its end. */
static bool note_ending(struct judging *judging, const char *reason, struct fault *fault)
{
	const struct ending ending = {
		.room = judging->judgement->room,
		.reason = slice_of(reason),
	};

	if (!judging->live.end_locks)
		return live_order_end(judging->call, &ending, fault);
	judging->live.ending = judging->call->now;
	return record_put(&live_table, judging->call->transaction, &judging->live, fault);
}

/* Notes that the room is ended, and tells the people. */
static bool begin_end(struct judging *judging, const struct server *server, const char *reason,
		      struct fault *fault)
{
	struct call *call = judging->call;
	struct judgement *judgement = judging->judgement;
	struct live_view view = { .room = judging->room, .live = judging->live };
	const struct message message = {
		.view = &view,
		.server = server,
		.topic = OWN_TOPIC,
		.text = message_why(call->arena, "ended", judgement->word, SLICE("")),
		.patience = TOLD_PATIENCE,
	};
	bool is_asked = false;

	view.room.id = judgement->room;
	if (judging->live.stored.value.data != NULL &&
	    (!note_ending(judging, reason, fault) ||
	     !message_ask(call, &message, &is_asked, fault)))
		return false;
	if (!is_asked)
		return ask_for_end(call, judgement, server);
	judgement->asking = call->asking;
	judgement->asking->rank = ASKED_TO_JUDGE;
	return true;
}

/* Notes what is to be done with somebody. */
static bool note_person(struct judging *judging, const struct standing *person, struct peer *peer,
			struct judged *judged, struct fault *fault)
{
	struct call *call = judging->call;
	const struct id *room = &judging->judgement->room;
	const struct entry_rule *out = person->out;

	*judged = (struct judged){ .cause = out != NULL ? out->cause : LEAVE_LEFT };
	if (out != NULL)
		judged->word = out->word != NULL ? out->word : leave_cause_names[out->cause];
	if (out != NULL && peer->order != out->cause &&
	    !live_order_out(call, room, peer, out->cause,
			    out->logged != NULL ? slice_of(out->logged) : SLICE(""), fault))
		return false;
	if (out == NULL && person->is_former &&
	    !live_set_role(call, room, peer, judging->template.roles[person->role].name, fault))
		return false;
	judged->peer = *peer;
	if (out == NULL) {
		judged->guest = (struct access_guest){
			.role = peer->role,
			.user_id = peer->user_id,
			.entry = peer->entry,
			.code = peer->code,
			.name = peer->new_name,
			.name_origin = peer->name_origin,
		};
		media_read_role(judging->roles[person->role].document, &judging->template,
				&judged->guest);
	}
	return true;
}

static bool is_to_be_judged(const struct judging *judging, const struct standing *person)
{
	if (must_go_for(person, LEAVE_REMOVED) && person->is_last && judging->has_first)
		return false;
	return person->out != NULL ||
	       (person->was_let_in && (person->is_strange || person->is_former));
}

/* Judges somebody again of whom it was found out that something is to be done. It was so a moment
 * ago, so whether there is a place is only compared by the numbers. *is: it still is. */
static bool judge_again(struct judging *judging, const struct chosen *chosen,
			struct standing *person, struct peer *peer, bool *is, struct fault *fault)
{
	const struct live *live = &judging->live;
	const struct judged_role *role;

	*is = false;
	if (!record_get_named(&peer_table, judging->call->transaction, slice_of(chosen->uuid),
			      STORE_TO_CHANGE, peer, fault))
		return false;
	if (!live_has_peer(live, peer) || peer->entry.size == 0)
		return true;
	*person = (struct standing){
		.was_let_in = true,
		.is_strange = peer->is_strange,
	};
	set_role(judging, peer, person);
	if (!find_cause(judging, person, peer, fault))
		return false;
	role = &judging->roles[person->role];
	if (person->out == NULL && chosen->out != NULL && chosen->out->scope == ENTRY_OF_PLACE &&
	    ((judging->size > 0 && live_peers(live) > (uint64_t)judging->size) ||
	     (role->most > 0 && (int64_t)live_peers_with(live, peer->role) > role->most)))
		person->out = chosen->out;
	*is = is_to_be_judged(judging, person);
	return true;
}

static bool begin_people(struct judging *judging, const struct server *server, struct fault *fault)
{
	struct call *call = judging->call;
	struct judgement *judgement = judging->judgement;
	const struct slice room = id_as_text(call->arena, &judgement->room);
	struct asking *asking;
	size_t told;

	judgement->people = arena_alloc(call->arena, JUDGED_MOST * sizeof(struct judged));
	judgement->count = 0;
	while (judgement->chosen_next < judgement->chosen_count && judgement->count < JUDGED_MOST) {
		const struct chosen *chosen = &judgement->chosen[judgement->chosen_next++];
		struct standing person;
		struct peer *peer = arena_alloc(call->arena, sizeof *peer);
		bool is;

		if (!judge_again(judging, chosen, &person, peer, &is, fault) ||
		    (is && !note_person(judging, &person, peer,
					&judgement->people[judgement->count++], fault)))
			return false;
	}
	if (judgement->count == 0)
		return true;

	/* The people themselves come first among the requests, then what those are told who are put
	 * out. */
	told = judgement->count;
	for (size_t i = 0; i < judgement->count; i++)
		told += judgement->people[i].cause != LEAVE_LEFT;
	asking = judgement->asking = judgement_ask(call, judgement, told);
	told = judgement->count;
	for (size_t i = 0; i < judgement->count; i++) {
		const struct judged *judged = &judgement->people[i];
		const bool is_removed = judged->cause == LEAVE_REMOVED;

		server_ask_person(call->arena, server, call->now / 1000, room,
				  judged->peer.identity, &asking->asked[i].request);
		if (judged->cause != LEAVE_LEFT)
			message_tell(
				call, server, room, judged->peer.identity,
				message_why(call->arena, "removed", judged->word,
					    is_removed ? judged->peer.order_reason : SLICE("")),
				&asking->asked[told++].request);
	}
	return true;
}

/* Chooses, of those about whom something is to be done, the first ones. */
static void choose(struct judging *judging)
{
	struct judgement *judgement = judging->judgement;

	for (size_t i = 0; i < judging->count; i++) {
		const struct standing *person = &judging->people[i];
		struct chosen *chosen;

		if (!is_to_be_judged(judging, person))
			continue;
		judgement->has_more = judgement->chosen_count == CHOSEN_MOST;
		if (judgement->has_more)
			break;
		chosen = &judgement->chosen[judgement->chosen_count];
		memcpy(chosen->uuid, person->uuid, sizeof chosen->uuid);
		chosen->out = person->out;
		judgement->chosen_count++;
	}
}

/* ---- judging ---- */

/* Finds out what is to be done. reason: of an end, for the event log. */
static bool find_judgement(struct judging *judging, const char **reason, struct fault *fault)
{
	struct call *call = judging->call;
	struct judgement *judgement = judging->judgement;
	const struct template_record *template = &judging->template;
	const struct entry_rule *broken;
	bool has_places;

	judgement->inside = live_peers(&judging->live);
	if (judging->live.stored.value.data == NULL) {
		judgement->is_whole = true;
		/* Somebody may be in a room that was deleted. */
		if (judging->entrant.room != NULL)
			return true;
		judgement->word = entry_rules[ENTRY_ROOM_DELETED].word;
		return revocation_has_room(call, &judgement->room, &judgement->ends, fault);
	}
	judgement->backend = judging->live.backend;
	if (judging->live.closing != 0) {
		judgement->is_whole = true;
		return true;
	}
	if (is_being_ended(judging)) {
		judge_at(judgement, judging->live.ending + CALL_ENDS_IN);
		return true;
	}
	if (!entry_find(&judging->entrant, ENTRY_OF_ROOM, &broken, fault))
		return false;
	if (judging->entrant.until != INT64_MAX)
		judge_at(judgement, judging->entrant.until);
	if (broken != NULL) {
		judgement->ends = judgement->is_whole = true;
		judgement->word = broken->word;
		*reason = broken->logged;
		return true;
	}

	judging->roles = arena_zero(call->arena,
				    (template->role_count + 1) * sizeof *judging->roles);
	for (size_t i = 0; i < template->role_count; i++) {
		struct judged_role *role = &judging->roles[i];

		role->document = template_role_document(call, template, &template->roles[i]);
		role->most = media_most_peers(role->document);
	}
	if (judging->notes)
		return media_for_judging(judging, fault);
	if (!find_places(judging, &has_places, fault))
		return false;
	if (has_places)
		return true;
	if (!judging_read_people(judging, fault))
		return false;
	judge_people(judging);
	choose(judging);
	judgement->is_whole = true;
	judgement->removals = arena_alloc(call->arena,
					  (judging->count + 1) * sizeof *judgement->removals);
	for (size_t i = 0; i < judging->count; i++) {
		if (judging->people[i].out != NULL)
			judgement->removals[judgement->removal_count++] = judging->people[i].peer;
	}
	return true;
}

bool live_judge(struct call *call, bool notes, struct judgement *judgement, struct fault *fault)
{
	struct judging judging = { .call = call, .judgement = judgement, .notes = notes };
	const char *reason = "";
	struct server server;
	bool has_room;

	judgement->word = NULL;
	judgement->ends = judgement->is_acting = judgement->has_failed = false;
	judgement->people = NULL;
	judgement->count = 0;
	judgement->is_whole = false;
	judgement->removals = NULL;
	judgement->removal_count = 0;
	judgement->inside = 0;
	judgement->again = 0;
	judgement->asking = NULL;
	if (!notes) {
		judgement->chosen_count = judgement->chosen_next = 0;
		judgement->has_more = false;
	}

	judging.entrant = (struct entrant){
		.call = call,
		.moment = ENTRY_INSIDE,
		.template = &judging.template,
		.live = &judging.live,
		.until = INT64_MAX,
	};
	if (!live_load(call, &judgement->room, notes ? STORE_TO_CHANGE : STORE_TO_SHOW,
		       &judging.live, fault) ||
	    !room_find(call, &judgement->room, STORE_TO_SHOW, &judging.room, &has_room, fault))
		return false;
	if (has_room)
		judging.entrant.room = &judging.room;
	if (has_room && judging.live.stored.value.data != NULL) {
		if (!template_load(call, &judging.room.template_id, &judging.template, fault))
			return false;
		judging.size = media_room_size(entrant_room(&judging.entrant));
	}
	if (!find_judgement(&judging, &reason, fault))
		return false;

	if (!notes || (!judgement->ends && judgement->chosen_next == judgement->chosen_count))
		return true;
	if (!live_find_server(call, &judgement->backend, &server, fault))
		return false;
	return judgement->ends ? begin_end(&judging, &server, reason, fault)
			       : begin_people(&judging, &server, fault);
}

/* ---- the next requests, and the end ---- */

/* Asks for those who are still there to be put out, or back. */
static bool ask_for_acts(struct call *call, struct judgement *judgement,
			 const struct server *server)
{
	const struct asking *lookups = judgement->asking;
	const struct slice room = id_as_text(call->arena, &judgement->room);
	struct asking *asking;
	size_t n = 0;

	for (size_t i = 0; i < judgement->count; i++) {
		struct judged *judged = &judgement->people[i];
		struct fault own = FAULT_INITIAL;
		struct server_person person;
		struct server_track *tracks;
		size_t count;

		judged->is_there = live_read_peer(call, &lookups->asked[i], server, &judged->peer,
						  &person, &tracks, &count, &own);
		n += judged->is_there;
		judgement->has_failed = judgement->has_failed ||
					(!judged->is_there && own.kind != FAULT_NOT_FOUND);
	}
	judgement->asking = NULL;
	if (n == 0)
		return true;
	asking = judgement->asking = judgement_ask(call, judgement, n);
	judgement->is_acting = true;
	n = 0;
	for (size_t i = 0; i < judgement->count; i++) {
		const struct judged *judged = &judgement->people[i];
		struct server_request *request = &asking->asked[n].request;

		if (!judged->is_there)
			continue;
		n++;
		if (judged->cause != LEAVE_LEFT)
			server_remove_person(call->arena, server, call->now / 1000, room,
					     judged->peer.identity, request);
		else
			server_update_person(call->arena, server, call->now / 1000, room,
					     judged->peer.identity, &judged->guest,
					     (struct slice){ NULL, 0 }, request);
	}
	return true;
}

static bool was_done(struct call *call, struct judgement *judgement, const struct asked *asked,
		     const struct server *server)
{
	struct fault own = FAULT_INITIAL;
	const enum server_result result = asked_result(call, asked, server, "", &own);
	const bool is_done = result == SERVER_DONE || result == SERVER_HAS_NOBODY;

	judgement->has_failed = judgement->has_failed || !is_done;
	return is_done;
}

bool live_carry_on(struct call *call, struct judgement *judgement, struct fault *fault)
{
	const struct asking *asking = judgement->asking;
	struct server server;
	size_t n = 0;

	judgement->has_failed = false;
	if (!live_find_server(call, &judgement->backend, &server, fault))
		return false;
	if (!judgement->is_acting)
		return judgement->ends ? ask_for_end(call, judgement, &server)
				       : ask_for_acts(call, judgement, &server);
	judgement->asking = NULL;
	if (judgement->ends)
		return !was_done(call, judgement, &asking->asked[0], &server) ||
		       live_end(call, &judgement->room, fault);
	for (size_t i = 0; i < judgement->count; i++) {
		const struct judged *judged = &judgement->people[i];

		if (!judged->is_there || !was_done(call, judgement, &asking->asked[n++], &server))
			continue;
		if (judged->cause != LEAVE_LEFT
			    ? !live_put_out(call, &judgement->room, judged->peer.uuid, fault)
			    : !live_put_back(call, &judgement->room, judged->peer.uuid,
					     judged->guest.name, fault))
			return false;
	}
	return true;
}
