/* Changes a person in a room: the name, the role, the metadata. See resources/live/live_rooms.h.
 *
 * The media server is given all that the person is and may do, each time: it keeps no part of what
 * it was given before. The person is looked up first (live_acts.c). A role holds until the session
 * closes, also for this person's next stay (revocations.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_writer.h"
#include "base/text.h"
#include "resources/entry_rules/entry_rules.h"
#include "resources/media/media_join.h"
#include "resources/live/live_events.h"
#include "resources/live/live_holds.h"
#include "resources/live/live_merge.h"
#include "resources/live/live_names.h"
#include "resources/live/live_caller.h"
#include "resources/live/live_door.h"
#include "resources/live/live_hands.h"
#include "resources/live/live_queue.h"
#include "resources/live/live_rooms.h"
#include "resources/stored/revocations.h"
#include "resources/templates/template_parts.h"
#include "rules/live_rules.h"
#include "rules/text_rules.h"

/* What the call has asked for: the person, then the update. */
enum step { STEP_FIRST, STEP_UPDATE };

/* ---- what is asked for ---- */

/* Whether somebody agrees to be recorded, as they say of themselves. */
struct new_consent {
	bool is_sent;
	int64_t said; /* when */
	int64_t consented; /* since when, in milliseconds; 0: not */
	struct slice text; /* which sentence was shown; may be empty */
};

/* Somebody as the media server had them before they changed something, and the role that is sent
 * with the change. */
struct seen {
	struct slice role;
	struct server_person person;
	struct server_track *tracks;
	size_t count;
	struct slice metadata; /* with the hand; data NULL if none was sent */
	struct new_consent consent;
};

struct update {
	const struct live_view *view; /* of the call; of the room alone once it is done */
	struct peer peer;
	struct server server;
	struct template_record template;
	struct slice name, metadata; /* data NULL: not sent */
	struct slice hand; /* as the media server is told (struct access_guest) */
	struct new_consent consent;
	struct slice role; /* new or old */
	const json_t
		*role_document; /* NULL if the person's role is deleted, and no other was sent */
	bool demotes; /* the new role lacks a power that the former had */
	bool asks; /* the person's code asks at the door now */
};

static bool changes_role(const struct update *update)
{
	return !slice_equal(update->role, update->peer.role);
}

/* Returns NULL if the template lacks the role. */
static const json_t *role_document_of(struct call *call, const struct template_record *template,
				      struct slice role)
{
	const size_t place = template_role_index(template, role);

	return place == template->role_count
		       ? NULL
		       : template_role_document(call, template, &template->roles[place]);
}

/* Finds the new role, which must be one of the template. */
static bool find_new_role(struct call *call, struct update *update, struct fault *fault)
{
	const struct slice sent = text_of_json(call_member(call, "role"));
	const struct template_record *template = &update->template;

	if (sent.data != NULL
		    ? !live_find_role(call, &update->view->room, sent, &update->template, fault)
		    : !template_load(call, &update->view->room.template_id, &update->template,
				     fault))
		return false;
	update->role = sent.data != NULL ? sent : update->peer.role;
	update->role_document = role_document_of(call, template, update->role);
	update->demotes = changes_role(update) &&
			  live_role_lacks(update->role_document,
					  role_document_of(call, template, update->peer.role));
	return true;
}

static bool is_of_oneself(const struct update *update)
{
	const struct live_view *view = update->view;

	return view->is_inside && slice_equal(update->peer.entry, view->caller.entry);
}

/* Makes the call ask the media server: a moderator has precedence over people who change something
 * of themselves. */
static struct asking *update_ask(struct call *call, const struct update *update)
{
	const struct live_view *view = update->view;
	return is_of_oneself(update) && !changes_role(update) && call_member(call, "door") == NULL
		       ? live_ask_for_oneself(call, live_backend(&view->live))
		       : live_ask(call, live_backend(&view->live), 1);
}

/* Everybody may raise and lower their own hand; a moderator may lower others'. */
static bool may_set_hand(const struct call *call, const struct update *update, struct fault *fault)
{
	const struct live_view *view = update->view;
	const json_t *hand = call_member(call, "hand");

	if (hand == NULL || !view->is_inside || is_of_oneself(update))
		return true;
	if (json_is_true(hand))
		return fault_set(fault, FAULT_FORBIDDEN, "Only of oneself");
	return live_may_act(view, "mute", fault);
}

/* Everybody may agree to be recorded, or withdraw that, for themselves alone. Where nothing is
 * asked, there is nothing to agree to. */
static bool find_consent(struct call *call, struct update *update, struct fault *fault)
{
	const json_t *sent = call_member(call, "consent");
	const struct peer *peer = &update->peer;
	const int64_t last = peer->withdrawn > peer->consented ? peer->withdrawn : peer->consented;
	struct new_consent *consent = &update->consent;

	if (sent == NULL)
		return true;
	if (!is_of_oneself(update))
		return fault_set(fault, FAULT_FORBIDDEN, "Only of oneself");
	/* It was said when the call began. */
	if (call->asking != NULL && !call->asking->is_survey) {
		*consent = ((const struct seen *)call->asking->prepared)->consent;
		return true;
	}
	consent->said = call->now;
	consent->is_sent = json_is_false(sent) || peer_consent(peer) != 0 ||
			   update->template.rules.consent != CONSENT_NOTICE;
	consent->text = SLICE("");
	if (!consent->is_sent || json_is_false(sent))
		return true;
	/* Whoever agrees already has agreed then. Else the second is a later one than that of a
	 * consent which was withdrawn, so that both are told apart. */
	consent->consented = peer_consent(peer);
	consent->text = arena_copy(call->arena, peer->consent_text);
	if (consent->consented == 0) {
		consent->consented = call->now / 1000 * 1000;
		if (consent->consented <= last)
			consent->consented = (last / 1000 + 1) * 1000;
		consent->text = call_text(call, "consent_text");
	}
	return true;
}

/* Finds whom the call is about, and checks that the caller may do so. */
static bool find_update(struct call *call, struct update *update, struct fault *fault)
{
	const struct live_view *view = call->view;

	*update = (struct update){
		.view = view,
		.name = text_of_json(call_member(call, "name")),
		.metadata = text_of_json(call_member(call, "metadata")),
	};
	if (!live_find_peer(call, view, call->parameters[1], &update->peer, fault) ||
	    !find_new_role(call, update, fault))
		return false;
	if (call_member(call, "role") != NULL) {
		struct entrant entrant = {
			.call = call,
			.moment = ENTRY_ROLE,
			.live = &view->live,
			.role = update->role,
			.role_document = update->role_document,
		};

		if ((view->is_inside && !live_may_give(view, update->role_document, fault)) ||
		    (changes_role(update) &&
		     !entry_check(&entrant, ENTRY_OF_ROLE | ENTRY_OF_PLACE, fault)))
			return false;
	}
	if (call_member(call, "door") != NULL && !live_may_act(view, "removeOthers", fault))
		return false;
	if ((update->name.data != NULL || update->metadata.data != NULL) && view->is_inside &&
	    !is_of_oneself(update))
		return fault_set(fault, FAULT_FORBIDDEN, "Only of oneself");
	if (update->name.data != NULL && view->is_inside && view->name_is_fixed)
		return fault_set(fault, FAULT_FORBIDDEN, "The name is fixed");
	if (!may_set_hand(call, update, fault) || !find_consent(call, update, fault))
		return false;
	return live_find_server(call, live_backend(&view->live), &update->server, fault) &&
	       call_can_act(call, update->server.type, SERVER_ROLE, fault);
}

bool active_peers_check(struct call *call, json_t *body, bool is_strict, struct fault *fault)
{
	if (call->app_token != NULL)
		text_clean_member(body, "name");
	else
		text_clean_bidi(body, "name");
	return schema_check(&update_shape, body, SCHEMA_WHOLE, is_strict, &call->findings, fault);
}

/* ---- asking ---- */

/* Stores whether the person agrees to be recorded, for this stay and for the next ones. */
static bool put_consent(struct call *call, struct live *live, struct peer *peer,
			const struct new_consent *consent, struct fault *fault)
{
	/* Also of somebody who does not agree: an earlier call to agree may be under way. */
	if (consent->consented == 0 && peer->withdrawn < consent->said)
		peer->withdrawn = consent->said;
	if (consent->consented != 0 && consent->consented != peer_consent(peer)) {
		peer->consented = consent->consented;
		peer->consent_text = consent->text;
		peer->withdrawn = 0;
	}
	return given_consent_set(call, live, peer->entry, peer_consent(peer), peer->consent_text,
				 fault) &&
	       record_put(&live_table, call->transaction, live, fault);
}

/* Notes that somebody withdraws, before the media server is asked: whatever happens now, the
 * records say so, and the media server is made to (live_enforcement.h). */
static bool note_withdrawal(struct call *call, const struct update *update, struct fault *fault)
{
	struct live live;
	struct peer peer;

	if (!call_is_writing(call))
		return call_write_instead(call);
	return live_load(call, &update->view->room.id, STORE_TO_CHANGE, &live, fault) &&
	       record_get_named(&peer_table, call->transaction, update->peer.uuid, STORE_TO_CHANGE,
				&peer, fault) &&
	       put_consent(call, &live, &peer, &update->consent, fault) &&
	       record_put(&peer_table, call->transaction, &peer, fault);
}

bool active_peers_update(struct call *call, struct fault *fault)
{
	struct update update;
	struct asking *asking;
	struct seen *seen;

	if (!find_update(call, &update, fault))
		return false;
	if (update.consent.is_sent && update.consent.consented == 0 &&
	    (!note_withdrawal(call, &update, fault) || call->run.wants_write))
		return call->run.wants_write;
	asking = update_ask(call, &update);
	asking->prepared = seen = arena_zero(call->arena, sizeof *seen);
	seen->consent = update.consent;
	seen->consent.text = arena_copy(call->arena, update.consent.text);
	server_ask_person(call->arena, &update.server, call->now / 1000,
			  id_as_text(call->arena, &update.view->room.id), update.peer.identity,
			  &asking->asked[0].request);
	return true;
}

/* Of somebody whose role the template lacks, such as an operator's own program, the rights stay as
 * they are. */
static struct access_guest guest_of(struct call *call, const struct update *update)
{
	struct access_guest guest = {
		.name = update->name,
		.name_origin = update->view->is_inside ? NAME_CHOSEN : NAME_GIVEN,
		.hand = update->hand,
	};

	if (update->consent.is_sent) {
		guest.consent = consent_as_text(call->arena, update->consent.consented);
		guest.consent_text = guest.consent.size > 0 ? update->consent.text : SLICE("");
	}
	if (update->role_document == NULL)
		return guest;
	guest.role = update->role;
	guest.user_id = update->peer.user_id;
	guest.entry = update->peer.entry;
	guest.code = update->peer.code;
	media_read_role(update->role_document, &update->template,
			live_held(&update->view->live, &update->template,
				  template_role_index(&update->template, update->role),
				  update->role_document),
			&guest);
	return guest;
}

/* ---- writing what was done ---- */

static bool give_role(struct call *call, struct update *update, struct fault *fault)
{
	struct live *live = &call->view->live;
	const struct live_change_of_role change = {
		.former = update->peer.role,
		.by = call->asking->asked[0].by,
	};
	struct live_settings settings;
	struct session session;
	struct peer peer;

	if (!live_load(call, &update->view->room.id, STORE_TO_CHANGE, live, fault) ||
	    !record_get_named(&peer_table, call->transaction, update->peer.uuid, STORE_TO_CHANGE,
			      &peer, fault) ||
	    !session_load(call, &live->session, STORE_TO_CHANGE, &session, fault) ||
	    !live_settings_load(call, &settings, fault))
		return false;
	live_count(call->arena, live, peer.role, false);
	live_count(call->arena, live, update->role, true);
	peer.role = update->role;
	peer.is_strange = false;
	if (session.updated < call->now)
		session.updated = call->now;
	live_note_role(call, &settings, &session, &peer, &change);
	update->peer = peer;
	return given_role_set(call, live, peer.entry,
			      peer_has_known_user(&peer) ? peer.user_id : SLICE(""), peer.role,
			      fault) &&
	       record_put(&peer_table, call->transaction, &peer, fault) &&
	       record_put(&session_table, call->transaction, &session, fault) &&
	       record_put(&live_table, call->transaction, live, fault);
}

/* Stores what the media server was told. What the person has said since counts: the media server
 * may have to be told again. */
static bool take_consent(struct call *call, struct update *update, struct peer *peer,
			 struct fault *fault)
{
	const struct new_consent *consent = &update->consent;
	const bool is_former = consent->consented != 0
				       ? peer->withdrawn > consent->said
				       : peer_consent(peer) / 1000 > consent->said / 1000;

	if (!is_former)
		return put_consent(call, &call->view->live, peer, consent, fault);
	peer->is_strange = true;
	live_want(call, &update->view->room.id, ROOM_ENFORCE);
	return true;
}

/* Gives the person the name and the metadata that the media server was told, and notes the rights
 * that it was given, asking->notes. If somebody else has taken the name meanwhile, the person gets
 * a number, as do guests whose name a program gives to somebody else; the media server gets it when
 * the rules are enforced next. */
static bool put_names(struct call *call, struct update *update, struct fault *fault)
{
	const struct asked *asked = &call->asking->asked[0];
	bool has_renamed = false;
	struct peer peer;

	if (!record_get_named(&peer_table, call->transaction, update->peer.uuid, STORE_TO_CHANGE,
			      &peer, fault))
		return false;
	if (update->name.data != NULL) {
		peer.name_origin = asked->by.size > 0 ? NAME_CHOSEN : NAME_GIVEN;
		if (!names_take(call, &update->view->room.id, &peer,
				text_cut(asked->name, LIVE_NAME_MOST), &update->name, &has_renamed,
				fault))
			return false;
		if (peer.new_name.size > 0 || has_renamed)
			live_want(call, &update->view->room.id, ROOM_ENFORCE);
	}
	if (update->metadata.data != NULL && !peer.is_anonymous)
		peer.metadata = update->metadata;
	if (call->asking->notes != 0)
		peer.rights = call->asking->notes;
	if (update->consent.is_sent && !take_consent(call, update, &peer, fault))
		return false;
	update->peer.consented = peer.consented;
	update->peer.withdrawn = peer.withdrawn;
	update->peer.consent_text = peer.consent_text;
	return record_put(&peer_table, call->transaction, &peer, fault);
}

/* Answers with the person as the media server has it now. */
static bool answer_updated(struct call *call, const struct update *update,
			   const struct server_person *person, const struct server_track *tracks,
			   size_t count)
{
	const struct access_server server = {
		.type = update->server.type,
		.config = update->server.config,
		.holds_limits = media_holds_limits(call, update->server.type),
	};
	const struct access_guest guest = guest_of(call, update);
	const char *names[ACCESS_NOT_ENFORCED_MOST + 1];
	size_t n = update->role_document == NULL ? 0 : access_not_enforced(&server, &guest, names);
	struct json_writer body = writer_begin(call->arena, false);
	struct peer peer = update->peer;

	peer.is_anonymous = false;
	peer.role = update->role;
	peer.user_id = person->user_id;
	peer.name = update->name.data != NULL ? update->name : person->name;
	peer.metadata = update->metadata.data != NULL ? update->metadata : person->metadata;
	peer_write(&body, &peer);
	peer_write_tracks(&body, &peer, tracks, count);
	if (update->demotes && !update->asks && !peer_has_known_user(&update->peer))
		names[n++] = "role";
	if (n > 0)
		writer_open(&body, "not_enforced", '[');
	for (size_t i = 0; i < n; i++)
		writer_plain(&body, NULL, slice_of(names[i]));
	if (n > 0)
		writer_close(&body, ']');
	if (update->asks)
		writer_plain(&body, "door", SLICE("ask"));
	return call_answer(call, writer_end(&body));
}

/* Loads again whom the call is about. What else has changed since it was asked for does not
 * matter. */
static bool load_updated(struct call *call, struct update *update, struct fault *fault)
{
	struct live_view *view = arena_zero(call->arena, sizeof *view);
	bool is_there;
	struct id id;

	call->view = view;
	*update = (struct update){
		.view = view,
		.name = text_of_json(call_member(call, "name")),
		.metadata = text_of_json(call_member(call, "metadata")),
	};
	if (call_member(call, "hand") != NULL)
		update->metadata = ((const struct seen *)call->asking->prepared)->metadata;
	update->consent = ((const struct seen *)call->asking->prepared)->consent;
	if (!id_parse(call->parameters[0], &id) ||
	    !room_find(call, &id, STORE_TO_SHOW, &view->room, &is_there, fault) || !is_there ||
	    !live_load(call, &id, STORE_TO_CHANGE, &view->live, fault))
		return fault_set(fault, FAULT_NOT_FOUND, "room not found");
	return live_find_peer(call, view, call->asking->asked[0].about, &update->peer, fault) &&
	       find_new_role(call, update, fault) &&
	       live_find_server(call, &call->asking->backend, &update->server, fault);
}

/* Answers somebody whose change was replaced by a later one: with the later one, if it was made by
 * now, else with what the person was before. */
static bool settle_replaced(struct call *call, struct fault *fault)
{
	const struct asked *asked = &call->asking->asked[0];
	struct seen seen = *(const struct seen *)call->asking->prepared;
	struct update update;

	if (!live_find_server(call, &call->asking->backend, &update.server, fault) ||
	    (asked->end != ASKED_REPLACED &&
	     !asking_is_done(call, &update.server, "peer not found", fault)) ||
	    !load_updated(call, &update, fault) ||
	    (asked->end != ASKED_REPLACED &&
	     !live_read_peer(call, asked, &update.server, &update.peer, &seen.person, &seen.tracks,
			     &seen.count, fault)))
		return false;
	update.name.data = update.metadata.data = NULL;
	return answer_updated(call, &update, &seen.person, seen.tracks, seen.count);
}

static bool settle_updated(struct call *call, struct fault *fault)
{
	const struct asked *asked = &call->asking->asked[0];
	const struct seen *seen = call->asking->prepared;
	struct server_person person;
	struct server_track *tracks;
	struct update update;
	struct slice code;
	size_t count;

	if (asked->is_replaced)
		return settle_replaced(call, fault);
	if (!live_find_server(call, &call->asking->backend, &update.server, fault) ||
	    !asking_is_done(call, &update.server, "peer not found", fault) ||
	    !load_updated(call, &update, fault) ||
	    !live_read_peer(call, asked, &update.server, &update.peer, &person, &tracks, &count,
			    fault) ||
	    (changes_role(&update) && !give_role(call, &update, fault)) ||
	    !put_names(call, &update, fault))
		return false;
	/* Whoever came by a code that others can use, too, has the former role again with another
	 * exchange. */
	code = update.peer.code;
	if (call_member(call, "door") != NULL && code.size > 0 &&
	    !live_codes_ask(call, &update.view->live, &update.view->room.id, &code, 1, &update.asks,
			    fault))
		return false;
	/* A survey at the same time may have taken the new attributes for wrong ones; or somebody
	 * who changed only a name has brought back the rights of a role that was changed
	 * meanwhile. */
	if ((call->asking->rank != ASKED_FOR_ONESELF || update.consent.is_sent ||
	     (seen->role.data != NULL && !slice_equal(seen->role, update.role))) &&
	    call->environment->live_queue != NULL)
		live_queue_survey(call->environment->live_queue, &call->account,
				  &call->asking->backend, &update.view->room.id);
	return answer_updated(call, &update, &person, tracks, count);
}

/* Returns what somebody changes of themselves (struct asked). */
static unsigned parts_of(const struct call *call)
{
	unsigned parts = 0;

	if (call_member(call, "name") != NULL)
		parts |= ASKED_PART_NAME;
	if (call_member(call, "metadata") != NULL)
		parts |= ASKED_PART_METADATA | ASKED_PART_HAND;
	if (call_member(call, "hand") != NULL)
		parts |= ASKED_PART_HAND;
	if (call_member(call, "consent") != NULL)
		parts |= ASKED_PART_CONSENT;
	return parts;
}

bool active_peers_settle_update(struct call *call, struct fault *fault)
{
	struct server_person person;
	struct server_track *tracks;
	struct access_guest guest;
	struct asking *asking;
	struct update update;
	struct seen *seen;
	size_t count;

	if (call->asking->step == STEP_UPDATE)
		return settle_updated(call, fault);
	if (!find_update(call, &update, fault) ||
	    !live_read_peer(call, &call->asking->asked[0], &update.server, &update.peer, &person,
			    &tracks, &count, fault))
		return false;
	if (update.name.data != NULL) {
		const struct name_request request = {
			.room = &update.view->room.id,
			.name = update.name,
			.origin = update.view->is_inside ? NAME_CHOSEN : NAME_GIVEN,
			.entry = update.peer.entry,
			.user_id = peer_has_known_user(&update.peer) ? update.peer.user_id
								     : SLICE(""),
		};

		if (!names_find(call, &request, &update.name, fault))
			return false;
	}
	if (call_member(call, "hand") != NULL &&
	    !hand_set(call, &person, json_is_true(call_member(call, "hand")), &update.metadata,
		      fault))
		return false;
	if (update.metadata.data != NULL)
		update.hand = hand_of(call, &person, update.metadata);
	asking = update_ask(call, &update);
	guest = guest_of(call, &update);
	asking->step = STEP_UPDATE;
	asking->notes = guest.role.data == NULL ? 0 : server_rights_of(&guest);
	asking->prepared = seen = arena_alloc(call->arena, sizeof *seen);
	*seen = (struct seen){ guest.role, person, tracks, count, update.metadata, update.consent };
	seen->consent.text = arena_copy(call->arena, update.consent.text);
	if (guest.role.data != NULL)
		seen->role = arena_copy(call->arena, guest.role);
	if (asking->rank == ASKED_FOR_ONESELF)
		asking->asked[0].parts = parts_of(call);
	asking->asked[0].about = arena_copy(call->arena, update.peer.uuid);
	if (update.name.data != NULL)
		asking->asked[0].name = arena_copy(call->arena, update.name);
	asking->asked[0].by = update.view->is_inside
				      ? arena_copy(call->arena, update.view->caller.uuid)
				      : SLICE("");
	server_update_person(call->arena, &update.server, call->now / 1000,
			     id_as_text(call->arena, &update.view->room.id), update.peer.identity,
			     &guest, update.metadata, &asking->asked[0].request);
	return true;
}
