/* See resources/bans/bans.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/bans/bans.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"
#include "resources/codes/room_codes.h"
#include "resources/garbage.h"
#include "resources/lists.h"
#include "resources/stored/room_record.h"
#include "resources/stored.h"
#include "resources/sweep.h"
#include "rules/ban_rules.h"

/* Bans of one person that are read together. */
#define READ_AT_ONCE 128

/* Removes a ban that was read for change. The caller stores `media`, which counts the bans. */
static bool remove_ban(struct call *call, const struct ban *ban, struct media *media,
		       struct fault *fault)
{
	if (media->ban_count > 0)
		media->ban_count--;
	return garbage_add(call, &kind_ban, &ban->stored.id, fault) &&
	       store_remove(call->transaction, &kind_ban, &ban->stored, fault);
}

/* ---- responses and events ---- */

static struct slice ban_text(struct call *call, const struct ban *ban)
{
	struct json_writer text = writer_begin(call->arena, false);

	writer_plain(&text, "id", id_as_text(call->arena, &ban->stored.id));
	if (ban->user_id.size > 0)
		writer_text(&text, "user_id", ban->user_id);
	else
		writer_text(&text, "code_hash", ban->code_hash);
	if (!ban_is_of_every_room(&ban->stored.parent))
		writer_plain(&text, "room_id", id_as_text(call->arena, &ban->stored.parent));
	writer_text(&text, "reason", ban->reason);
	if (ban->expires_at != 0)
		writer_time(&text, "expires_at", ban->expires_at * 1000);
	writer_time(&text, "created_at", ban->created);
	writer_value(&text, "created_by",
		     stored_json(call, ban->created_by, "ban", &ban->stored.id));
	return writer_end(&text);
}

/* changes: NULL if the ban was created or deleted. */
static void note_ban(struct call *call, const char *type, const struct ban *ban,
		     struct changes *changes)
{
	struct audit_data data = {
		.kind = "ban",
		.id = id_as_text(call->arena, &ban->stored.id),
		.name = SLICE(""),
		.changes = changes,
	};
	struct audit_member *more = data.more;

	if (!ban_is_of_every_room(&ban->stored.parent))
		*more++ = (struct audit_member){ "room_id",
						 id_as_text(call->arena, &ban->stored.parent),
						 false };
	*more++ = ban->user_id.size > 0
			  ? (struct audit_member){ "user_id", ban->user_id, false }
			  : (struct audit_member){ "code_hash", ban->code_hash, false };
	*more = (struct audit_member){ "reason", ban->reason, false };
	audit_note(call, type, &data);
}

/* ---- adding ---- */

static bool update_ban(struct call *call, const struct ban_terms *terms, struct ban *ban,
		       struct fault *fault)
{
	struct changes changes = CHANGES_INITIAL(call->arena);
	const struct ban former = *ban;
	const json_t *creator = stored_json(call, ban->created_by, "ban", &ban->stored.id);
	const bool is_from_inside = slice_is(text_of_json(json_object_get(creator, "kind")),
					     "code");

	/* From inside, only bans that were created there get another reason. */
	if (terms->reason.data != NULL && (call->app_token == NULL || is_from_inside))
		ban->reason = terms->reason;
	/* What comes from inside only grows: people who may remove others must not end a ban
	 * sooner. */
	if ((terms->expires_at != 0 || terms->is_for_ever) &&
	    (call->app_token == NULL || terms->is_for_ever ||
	     (ban->expires_at != 0 && terms->expires_at > ban->expires_at)))
		ban->expires_at = terms->expires_at;
	changes_find_in_texts(&changes, SLICE(""), ban_text(call, &former), ban_text(call, ban),
			      NULL);
	if (changes.count == 0)
		return true;
	note_ban(call, "ban.updated", ban, &changes);
	return record_put(&ban_table, call->transaction, ban, fault);
}

bool ban_add(struct call *call, const struct ban_terms *terms, struct ban *ban, struct fault *fault)
{
	const struct slice name = ban_name(call->arena, terms->user_id, terms->code_hash,
					   &terms->room);
	struct media media;
	size_t dropped;
	int64_t now;

	/* Locked first, so that two calls do not create the same ban. */
	if (!media_load(call, STORE_TO_CHANGE, &media, fault) ||
	    !record_get_named(&ban_table, call->transaction, name, STORE_TO_CHANGE, ban, fault))
		return false;
	if (ban_holds(call, ban))
		return update_ban(call, terms, ban, fault);
	if (ban->stored.value.data != NULL && !remove_ban(call, ban, &media, fault))
		return false;

	now = call->now;
	if (media.ban_count >= BANS_MOST && (!sweep_kind(call, &ban_kind, &dropped, fault) ||
					     !media_load(call, STORE_TO_CHANGE, &media, fault)))
		return false;
	if (media.ban_count >= BANS_MOST)
		return fault_set(fault, FAULT_CONFLICT, "Too many bans");
	*ban = (struct ban){
		.stored.parent = terms->room,
		.name = name,
		.user_id = terms->user_id,
		.code_hash = terms->code_hash,
		.reason = terms->reason.data != NULL ? terms->reason : SLICE(""),
		.created_by = audit_caller_text(call),
		.expires_at = terms->expires_at,
	};
	if (!store_new_id(call->transaction, &kind_ban, call->environment->clock, &now,
			  &ban->stored.id, fault))
		return false;
	ban->created = now;
	media.ban_count++;
	note_ban(call, "ban.created", ban, NULL);
	return record_put(&ban_table, call->transaction, ban, fault) &&
	       media_put(call, &media, fault);
}

bool bans_create(struct call *call, struct fault *fault)
{
	const struct slice code = text_of_json(call_member(call, "code"));
	const struct slice room_id = text_of_json(call_member(call, "room_id"));
	const struct slice expires_at = text_of_json(call_member(call, "expires_at"));
	const json_t *seconds = call_member(call, "expires_in");
	struct ban_terms terms = {
		.user_id = call_text(call, "user_id"),
		.code_hash = SLICE(""),
		.reason = text_of_json(call_member(call, "reason")),
	};
	struct room_record room;
	struct media media;
	struct ban ban;
	bool is_there = false;

	if (seconds != NULL)
		terms.expires_at = call->now / 1000 + json_integer_value(seconds);
	else
		(void)text_time_parse_seconds(expires_at, &terms.expires_at);

	if (code.data != NULL) {
		if (!room_code_disable(call, code, &is_there, fault))
			return false;
		if (!is_there)
			findings_add(&call->findings, "/code", "no such code");
		else if (!media_load_lasting(call, &media, fault))
			return false;
		else
			terms.code_hash = media_code_hash(call->arena, &media, code);
	}

	if (room_id.data != NULL) {
		is_there = false;
		if (id_parse(room_id, &terms.room) &&
		    !room_find(call, &terms.room, STORE_TO_SHOW, &room, &is_there, fault))
			return false;
		if (!is_there)
			findings_add(&call->findings, "/room_id", "no such room");
	}
	return findings_result(&call->findings, fault) && ban_add(call, &terms, &ban, fault) &&
	       call_answer(call, ban_text(call, &ban));
}

/* ---- reading ---- */

static bool add_bans(struct list *list, const struct store_record *records, size_t n,
		     struct fault *fault)
{
	struct call *call = list->call;

	for (size_t i = 0; i < n && !list_is_full(list); i++) {
		struct ban ban;

		if (!record_read(&ban_table, NULL, &records[i], &ban, fault))
			return false;
		if (!ban_holds(call, &ban))
			continue;
		list_add_item(list, &records[i].id);
		call_part(call, ban_text(call, &ban));
	}
	return true;
}

/* The bans of one person begin with the same name. */
static void prepare_bans(struct call *call)
{
	const struct slice room = call_query_text(call, "room_id");
	const struct slice user_id = call_query_text(call, "user_id");
	struct id *of = arena_zero(call->arena, sizeof *of);
	struct list *list = list_prepare(call, NULL);

	list->has_page = room.data == NULL || (id_parse(room, of) && !ban_is_of_every_room(of));
	if (user_id.data != NULL) {
		list->page = (struct store_page){
			.order = STORE_BY_NAME,
			.prefix = ban_name(call->arena, user_id, SLICE(""), of),
			.most = READ_AT_ONCE,
		};
	} else if (room.data != NULL) {
		list->page.parent = of;
	}
}

static const struct read reads_of_list[] = { READ_LIST(kind_ban, list_first_page), READS_END };
const struct loading load_bans = { .prepare = prepare_bans, .reads = reads_of_list };

static int compare_newest_first(const void *first, const void *second)
{
	const struct store_record *a = first, *b = second;

	return id_compare(&b->id, &a->id);
}

/* Lists the bans of one person, newest first: all of them are read, and sorted. */
static bool list_of_user(struct list *list, struct fault *fault)
{
	struct call *call = list->call;
	struct store_page *page = &list->page;
	struct store_record *records = NULL;
	size_t n = 0, capacity = 0, left = 0;

	do {
		records = arena_room(call->arena, records, n + READ_AT_ONCE, &capacity,
				     sizeof *records);
		page->records = &records[n];
		if (!store_page(call->transaction, &kind_ban, page, fault))
			return false;
		n += page->count;
		if (n > 0)
			page->after = records[n - 1].name;
	} while (!page->is_last);
	for (size_t i = 0; i < n; i++) {
		if (!list->is_bounded || id_compare(&records[i].id, &list->start) < 0)
			records[left++] = records[i];
	}
	if (left > 0)
		qsort(records, left, sizeof *records, compare_newest_first);
	return add_bans(list, records, left, fault);
}

bool bans_list(struct call *call, struct fault *fault)
{
	struct list *list = call->list;

	list_open(list);
	return (!list->has_page || (call_query_text(call, "user_id").data != NULL
					    ? list_of_user(list, fault)
					    : list_add_pages(list, &kind_ban, add_bans, fault))) &&
	       list_close(list, fault);
}

static bool load_of_path(struct call *call, const struct load *load, struct fault *fault)
{
	struct id id;

	call->ban = arena_zero(call->arena, sizeof *call->ban);
	if (id_parse(call->parameters[0], &id) &&
	    !record_get(&ban_table, call->transaction, &id, load_reading(call, load), call->ban,
			fault))
		return false;
	return ban_holds(call, call->ban) || fault_set(fault, FAULT_NOT_FOUND, "Ban not found");
}

static const struct read reads_of_path[] = { READ_BY_ID(kind_ban), READS_END };
const struct loading load_ban = { .load = load_of_path, .reads = reads_of_path };

bool bans_get(struct call *call, struct fault *fault)
{
	(void)fault;
	return call_answer(call, ban_text(call, call->ban));
}

/* ---- removing ---- */

bool bans_delete(struct call *call, struct fault *fault)
{
	note_ban(call, "ban.deleted", call->ban, NULL);
	return remove_ban(call, call->ban, call->media, fault) &&
	       media_put(call, call->media, fault) && call_answer_nothing(call);
}
