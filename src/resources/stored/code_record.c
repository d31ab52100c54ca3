/* See resources/stored/code_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/code_record.h"

#include "resources/code_typed.h"
#include "resources/stored/code_words.h"
#include "records/record.h"

#define TEXT_MOST ((int64_t)16 << 10)
#define PLACE_MOST ((int64_t)ID_NUMBER_MAX)

/* ---- the data that the codes of a room share ---- */

static const struct member group_members[] = {
	{ "number", AS_NUMBER(4, 1, UINT32_MAX), AT(struct code_group, number) },
	{ "identity", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT),
	  AT(struct code_group, identity) },
	{ "plain", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct code_group, count) },
	{ "enabled", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct code_group, enabled) },
	{ "others", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct code_group, others) },
	{ "oldest", AS_NUMBER(8, 0, PLACE_MOST), MARKED(MEMBER_DERIVED),
	  AT(struct code_group, oldest) },
	{ "lost_role", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct code_group, lost_role) },
	{ "lost_at", AS_SECONDS, MARKED(MEMBER_ABSENT), AT(struct code_group, lost_at) },
};
static const struct record_table group_table = { ITEMS(struct code_group, group_members) };

static const struct member due_members[] = {
	{ "identity", AS_NUMBER(4, 1, UINT32_MAX), AT(struct due_role, identity) },
	{ "due_at", AS_SECONDS, AT(struct due_role, since) },
};
static const struct record_table due_table = { ITEMS(struct due_role, due_members) };

static const struct member codes_members[] = {
	{ "room", AS_KEY_OF(room, DIES), AT(struct room_codes, room) },
	{ "asked", AS_BOOLEAN, AT(struct room_codes, was_asked) },
	{ "last_identity", AS_NUMBER(4, 0, UINT32_MAX), AT(struct room_codes, last_seen) },
	{ "last_place", AS_NUMBER(8, 0, PLACE_MOST), AT(struct room_codes, last_place) },
	{ "last_group", AS_NUMBER(4, 0, UINT32_MAX), AT(struct room_codes, last_group) },
	{ "former_plain", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct room_codes, former_count) },
	{ "former_others", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_DERIVED),
	  AT(struct room_codes, former_others) },
	{ "settled", AS_NUMBER(8, 0, PLACE_MOST), MARKED(MEMBER_ABSENT),
	  AT(struct room_codes, settled) },
	{ "holds", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_ABSENT), AT(struct room_codes, has_holds) },
	{ "door", AS_BOOLEAN, SINCE(2), MARKED(MEMBER_DERIVED), AT(struct room_codes, has_door) },
	{ "groups", AS_LIST(struct room_codes, group_count, UINT32_MAX, group_table),
	  AT(struct room_codes, groups) },
	{ "due_roles", AS_LIST(struct room_codes, due_count, UINT32_MAX, due_table),
	  AT(struct room_codes, due) },
};
const struct record_table codes_table = {
	RECORD(struct room_codes, codes_members, 1, &kind_codes),
	VERSION(2),
};

bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault)
{
	return record_put(&codes_table, call->transaction, codes, fault);
}

bool codes_mark(struct call *call, const struct id *room, enum codes_mark mark, bool is_set,
		struct fault *fault)
{
	struct room_codes codes;
	bool *marked = mark == CODES_DOOR ? &codes.has_door : &codes.has_holds;

	if (!codes_load(call, room, STORE_TO_CHANGE, &codes, fault))
		return false;
	if (*marked == is_set)
		return true;
	codes.room = *room;
	*marked = is_set;
	return codes_put(call, &codes, fault);
}

bool codes_load(struct call *call, const struct id *room, enum store_reading reading,
		struct room_codes *codes, struct fault *fault)
{
	return record_get(&codes_table, call->transaction, room, reading, codes, fault);
}

struct code_group *codes_group(const struct room_codes *codes, uint32_t number)
{
	for (size_t i = 0; i < codes->group_count; i++) {
		if (codes->groups[i].number == number)
			return &codes->groups[i];
	}
	return NULL;
}

struct code_group *codes_group_of(struct call *call, struct room_codes *codes, uint32_t identity)
{
	const size_t n = codes->group_count;
	struct code_group *groups;

	for (size_t i = 0; i < n; i++) {
		if (codes->groups[i].identity == identity)
			return &codes->groups[i];
	}
	groups = arena_zero(call->arena, (n + 2) * sizeof *groups);
	memcpy(groups, codes->groups, n * sizeof *groups);
	groups[n].number = ++codes->last_group;
	groups[n].identity = identity;
	codes->groups = groups;
	codes->group_count++;
	return &groups[n];
}

/* ---- counting codes ---- */

bool code_is_plain(const struct code *code)
{
	return (code->terms.set & ~(unsigned)(CODE_LABEL | CODE_METADATA | CODE_DOOR)) == 0;
}

bool codes_group_missing(const struct room_codes *codes, struct fault *fault)
{
	return record_missing("group of codes of the room", &codes->room, fault);
}

bool codes_count_added(struct room_codes *codes, const struct code *code, struct fault *fault)
{
	const bool is_plain = code_is_plain(code);
	const uint64_t place = id_number(&code->place);
	struct code_group *group = codes_group(codes, code->group);

	if (code->is_former) {
		codes->former_count += is_plain;
		codes->former_others += !is_plain;
		return true;
	}
	if (group == NULL)
		return codes_group_missing(codes, fault);
	group->others += !is_plain;
	group->count += is_plain;
	if (!is_plain || !code->is_enabled)
		return true;
	if (group->enabled++ == 0 || place < group->oldest)
		group->oldest = place;
	return true;
}

bool codes_count_removed(struct room_codes *codes, const struct code *code, struct fault *fault)
{
	const bool is_plain = code_is_plain(code);
	struct code_group *group = codes_group(codes, code->group);

	if (code->is_former) {
		codes->former_count -= is_plain;
		codes->former_others -= !is_plain;
		return true;
	}
	if (group == NULL)
		return codes_group_missing(codes, fault);
	group->others -= !is_plain;
	group->count -= is_plain;
	group->enabled -= is_plain && code->is_enabled;
	return true;
}

/* ---- one code ---- */

const char *const admission_names[] = {
	[ADMISSION_OF_ROLE] = "",
	[ADMISSION_OPEN] = "open",
	[ADMISSION_ASK] = "ask",
};

static const struct member code_members[] = {
	{ "place", AS_KEY, AT(struct code, place) },
	{ "room", AS_PARENT_OF(room, DIES), AT(struct code, room) },
	{ "former", AS_SWITCH, MARKED(MEMBER_OFF), AT(struct code, is_former) },
	{ "code", AS_NAME, AT(struct code, letters) },
	{ "enabled", AS_BOOLEAN, AT(struct code, is_enabled) },
	{ "group", AS_NUMBER(4, 0, UINT32_MAX), MARKED(MEMBER_ABSENT), AT(struct code, group) },
	{ "created_at", AS_SECONDS, AT(struct code, created) },
	{ "updated_at", AS_SECONDS, AT(struct code, updated) },
	{ "role", AS_TEXT(0, TEXT_MOST), MARKED(MEMBER_ABSENT), AT(struct code, role) },
	{ "set", AS_NUMBER(1, 0, UINT8_MAX), MARKED(MEMBER_DERIVED), AT(struct code, terms.set) },
	{ "not_before", AS_SECONDS, WHEN(CODE_NOT_BEFORE), AT(struct code, terms.not_before) },
	{ "expires_at", AS_SECONDS, WHEN(CODE_EXPIRES_AT), AT(struct code, terms.expires_at) },
	{ "max_uses", AS_NUMBER(4, 1, UINT32_MAX), WHEN(CODE_MAX_USES),
	  AT(struct code, terms.max_uses) },
	{ "uses", AS_NUMBER(4, 0, UINT32_MAX), WHEN(CODE_MAX_USES), AT(struct code, terms.uses) },
	{ "last_use", AS_TIME, WHEN(CODE_MAX_USES), MARKED(MEMBER_ABSENT),
	  AT(struct code, terms.last_use) },
	{ "last_user", AS_TEXT(0, TEXT_MOST), WHEN(CODE_MAX_USES), MARKED(MEMBER_ABSENT),
	  AT(struct code, terms.last_user) },
	{ "last_repeats", AS_NUMBER(1, 0, UINT8_MAX), WHEN(CODE_MAX_USES), MARKED(MEMBER_ABSENT),
	  AT(struct code, terms.last_repeats) },
	{ "user_id", AS_TEXT(0, TEXT_MOST), WHEN(CODE_USER_ID), AT(struct code, terms.user_id) },
	{ "name", AS_TEXT(0, TEXT_MOST), WHEN(CODE_NAME), AT(struct code, terms.name) },
	{ "label", AS_TEXT(0, TEXT_MOST), WHEN(CODE_LABEL), AT(struct code, terms.label) },
	{ "metadata", AS_JSON(2 * TEXT_MOST), WHEN(CODE_METADATA),
	  AT(struct code, terms.metadata) },
	{ "admission", AS_CHOICE(ADMISSION_ASK, admission_names), WHEN(CODE_DOOR),
	  MARKED(MEMBER_ABSENT), AT(struct code, terms.admission) },
	{ "asks_in", AS_ID, WHEN(CODE_DOOR), MARKED(MEMBER_ABSENT),
	  AT(struct code, terms.asks_in) },
};
const struct record_table code_table = {
	RECORD(struct code, code_members, 4, &kind_code),
	.set = offsetof(struct code, terms.set),
};

bool code_find(struct call *call, struct slice letters, enum store_reading reading,
	       struct code *code, struct id *account, bool *is_there, struct fault *fault)
{
	*is_there = false;
	if (!code_can_be(letters))
		return true;
	if (!record_get_named(&code_table, call->transaction, letters, reading, code, fault))
		return false;
	*is_there = code->stored.value.data != NULL;
	*account = code->stored.account;
	/* updated_at is in seconds, so a change in the same second is allowed. The time of another
	 * account's code must not have an effect that its caller could see. */
	if (*is_there && id_compare(account, &call->account) == 0)
		call_raise_time(call, code->updated * 1000 - 1);
	return true;
}

bool code_put(struct call *call, const struct code *code, struct fault *fault)
{
	return record_put(&code_table, call->transaction, code, fault);
}

bool code_remove(struct call *call, const struct code *code, struct fault *fault)
{
	return (call->frees_codes || code_words_keep(call, code->letters, fault)) &&
	       store_remove(call->transaction, &kind_code, &code->stored, fault);
}

bool codes_page(struct call *call, const struct id *room, struct code_page *page,
		struct fault *fault)
{
	const struct id after = id_lowest(0, page->after);
	struct store_page records = {
		.order = STORE_OLDEST_FIRST,
		.side = page->side,
		.parent = room,
		.above = page->after == 0 ? NULL : &after,
		.records = arena_alloc(call->arena, page->most * sizeof *records.records),
		.most = page->most,
	};

	if (!store_page(call->transaction, &kind_code, &records, fault))
		return false;
	page->codes = arena_alloc(call->arena, (records.count + 1) * sizeof *page->codes);
	page->count = records.count;
	page->is_last = records.is_last;
	for (size_t i = 0; i < records.count; i++) {
		if (!record_read(&code_table, NULL, &records.records[i], &page->codes[i], fault))
			return false;
		page->after = id_number(&page->codes[i].place);
	}
	return true;
}
