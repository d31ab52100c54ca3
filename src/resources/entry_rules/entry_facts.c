/* See src/resources/entry_rules/entry_facts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/entry_rules/entry_facts.h"

#include "resources/asking.h"
#include "resources/stored/ban_record.h"
#include "resources/media/media_join.h"
#include "resources/stored/revocations.h"
#include "resources/templates/template_parts.h"

/* ---- documents ---- */

const json_t *entrant_role(struct entrant *entrant)
{
	const struct template_record *template = entrant->template;
	size_t role;

	if (entrant->role_document != NULL || entrant->role.data == NULL)
		return entrant->role_document;
	role = template_role_index(template, entrant->role);
	if (role < template->role_count)
		entrant->role_document = template_role_document(entrant->call, template,
								&template->roles[role]);
	return entrant->role_document;
}

void entrant_set_role(struct entrant *entrant, struct slice role)
{
	entrant->role = role;
	entrant->role_document = NULL;
}

const json_t *entrant_room(struct entrant *entrant)
{
	if (entrant->room_document == NULL)
		entrant->room_document = room_document(entrant->call, entrant->room);
	return entrant->room_document;
}

bool entrant_may(struct entrant *entrant, const char *permission)
{
	const struct template_record *template = entrant->template;
	const struct live *live = entrant->live;

	if (entrant->moment != ENTRY_INSIDE || entrant->peer != NULL)
		return media_permits(entrant_role(entrant), permission);
	for (size_t i = 0; i < live->role_count; i++) {
		const size_t role = template_role_index_ever(template, live->roles[i].name);

		if (role < template->role_count &&
		    media_permits(
			    template_role_document(entrant->call, template, &template->roles[role]),
			    permission))
			return true;
	}
	return false;
}

/* ---- records ---- */

bool entrant_find_door(struct entrant *entrant, struct fault *fault)
{
	struct call *call = entrant->call;
	const struct store_expected expected[] = {
		{ .kind = &kind_door, .finding = STORE_FIND_ID, .id = &entrant->room->id },
		{ .kind = &kind_live, .finding = STORE_FIND_ID, .id = &entrant->room->id },
	};
	struct door *door;
	struct live *live;

	if (entrant->door != NULL)
		return true;
	door = arena_alloc(call->arena, sizeof *door);
	if (entrant->live == NULL) {
		store_expect(call->transaction, STORE_EACH, expected, 2);
		entrant->live = live = arena_alloc(call->arena, sizeof *live);
		if (!live_load_followed(call, &entrant->room->id, live, fault))
			return false;
	}
	if (!door_load(call, &entrant->room->id, STORE_TO_SHOW, door, fault))
		return false;
	entrant->door = door;
	entrant->door_state = door_state_now(door, entrant->live, call->now);
	return true;
}

bool entrant_is_locked_out(struct entrant *entrant)
{
	const bool is_known = entrant->moment == ENTRY_NEW_INSIDE
				      ? peer_has_known_user(entrant->peer)
				      : entrant_user_is_known(entrant);
	const struct passer passer = {
		.room = &entrant->room->id,
		.entry = entrant->entry,
		.user_id = is_known ? entrant->user_id : SLICE(""),
	};
	bool may_pass = true;

	if (entrant->moment == ENTRY_INSIDE)
		return entrant->live->is_locked && entrant->peer->order == LEAVE_NOT_ADMITTED;
	if (!entrant->has_door || entrant->has_lock)
		return entrant->is_locked_out;
	entrant->has_lock = entrant_find_door(entrant, entrant->fault) &&
			    (entrant->door_state != DOOR_LOCKED ||
			     door_finds_pass(entrant->call, entrant->door, entrant->live, &passer,
					     &may_pass, entrant->fault));
	entrant->is_locked_out = !may_pass;
	return entrant->is_locked_out;
}

bool entrant_user_is_known(const struct entrant *entrant)
{
	return entrant->code == NULL || (entrant->code->terms.set & CODE_USER_ID) != 0;
}

bool entrant_find_media(struct entrant *entrant, struct media *media, struct fault *fault)
{
	struct media_target target;
	bool has_media;

	entrant->backend = NULL;
	entrant->placing = NULL;
	if (!media_find(entrant->call, STORE_TO_SHOW, media, &has_media, fault))
		return false;
	entrant->media = has_media ? media : NULL;
	if (!has_media)
		return true;
	target = media_target_of(media, entrant->template);
	entrant->backend = target.backend;
	if (target.pool.data == NULL)
		return true;
	entrant->placing = arena_alloc(entrant->call->arena, sizeof *entrant->placing);
	if (!placing_find(entrant->call, media, target.pool, &entrant->room->id, entrant->placing,
			  fault))
		return false;
	entrant->backend = entrant->placing->backend != NULL ? entrant->placing->backend
							     : pool_backend(media, target.pool);
	return true;
}

bool entrant_is_banned(struct entrant *entrant)
{
	struct call *call = entrant->call;
	const struct media *media = entrant->media;
	const struct id *room = &entrant->room->id;
	bool is_banned = false;
	struct ban ban;

	if (entrant->moment == ENTRY_NEW_INSIDE)
		return ban_find(call, room, entrant->user_id, entrant->code_hash, &ban, &is_banned,
				entrant->fault) &&
		       is_banned;
	if (entrant->moment == ENTRY_INSIDE && !entrant->checks_bans)
		return entrant->peer->order == LEAVE_BANNED;
	if (media == NULL || media->ban_count == 0)
		return false;
	if (entrant->code_hash.data == NULL && entrant->code != NULL)
		entrant->code_hash = media_code_hash(call->arena, media, entrant->code->letters);
	return ban_find_with(call, media, room, entrant->user_id, entrant->code_hash, &ban,
			     &is_banned, entrant->fault) &&
	       is_banned;
}

bool entrant_was_removed(struct entrant *entrant)
{
	struct revocation revocation;
	bool was_removed = false;

	if (entrant->moment == ENTRY_INSIDE)
		return entrant->peer->order == LEAVE_REMOVED;
	if (!revocation_find(entrant->call, entrant->entry, &revocation, &was_removed,
			     entrant->fault) ||
	    !was_removed)
		return false;
	entrant->removal = revocation.reason;
	return true;
}

int64_t entrant_longest_end(struct entrant *entrant)
{
	struct session session;
	int64_t seconds;

	if (entrant->longest_end != 0)
		return entrant->longest_end;
	seconds =
		json_integer_value(json_object_get(entrant_room(entrant), "max_duration_seconds"));
	if (seconds > 0 && !session_load(entrant->call, &entrant->live->session, STORE_TO_SHOW,
					 &session, entrant->fault))
		return INT64_MAX;
	entrant->longest_end = seconds > 0 ? session.created + seconds * 1000 : INT64_MAX;
	return entrant->longest_end;
}

enum live_fit entrant_fit(struct entrant *entrant)
{
	struct call *call = entrant->call;
	struct live_applicant applicant;
	const json_t *role;

	if (entrant->backend == NULL || entrant->has_fit)
		return entrant->fit;
	entrant->has_fit = true;
	/* Before the media server was asked to make the room, the answer was the same. */
	if ((call->asking != NULL && !call->asking->is_question) ||
	    !media_holds_limits(call, entrant->backend->type))
		return entrant->fit;
	role = entrant_role(entrant);
	if (media_admits_nobody(role))
		return entrant->fit;
	applicant = (struct live_applicant){
		.room = entrant->room->id,
		.backend = entrant->backend->id,
		.role = entrant->role,
		.role_most = media_most_peers(role),
		.size = media_room_size(entrant_room(entrant)),
		.user_id = entrant_user_is_known(entrant) ? entrant->user_id : SLICE(""),
		.entry = entrant->entry,
	};
	(void)live_find_fit(call, &applicant, &entrant->fit, entrant->fault);
	return entrant->fit;
}
