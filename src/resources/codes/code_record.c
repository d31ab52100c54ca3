/* See resources/codes/code_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/codes/code_record.h"

#include "resources/codes/code_words.h"
#include "resources/packed.h"

/* A code without terms has the version 1. */
#define CODE_VERSION 1
#define CODE_VERSION_TERMS 2
/* One whose last exchange was repeated. */
#define CODE_VERSION_REPEATED 3
/* Version 1 had plain codes alone: no others, and no oldest. */
#define CODES_VERSION_PLAIN 1
#define CODES_VERSION 2

/* ---- what the codes of a room have in common ---- */

bool codes_put(struct call *call, const struct room_codes *codes, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = { .id = codes->room };

	packed_put_number(&value, CODES_VERSION, 1);
	packed_put_number(&value, codes->was_asked, 1);
	packed_put_number(&value, codes->last_seen, 4);
	packed_put_number(&value, codes->last_place, 5);
	packed_put_number(&value, codes->last_group, 4);
	packed_put_number(&value, codes->former_count, 4);
	packed_put_number(&value, codes->former_others, 4);
	packed_put_number(&value, codes->settled, 5);
	packed_put_number(&value, codes->group_count, 4);
	for (size_t i = 0; i < codes->group_count; i++) {
		const struct code_group *group = &codes->groups[i];

		packed_put_number(&value, group->number, 4);
		packed_put_number(&value, group->identity, 4);
		packed_put_number(&value, group->count, 4);
		packed_put_number(&value, group->enabled, 4);
		packed_put_number(&value, group->others, 4);
		packed_put_number(&value, group->oldest, 5);
		if (group->identity != 0)
			continue;
		packed_put_text(&value, group->lost_role);
		packed_put_number(&value, (uint64_t)group->lost_at, 8);
	}
	packed_put_number(&value, codes->due_count, 4);
	for (size_t i = 0; i < codes->due_count; i++) {
		packed_put_number(&value, codes->due[i].identity, 4);
		packed_put_number(&value, (uint64_t)codes->due[i].since, 8);
	}
	return packed_store(call->transaction, &kind_codes, &record, &value, &codes->stored, fault);
}

static bool decode_groups(struct call *call, struct packed *reader, uint64_t version,
			  struct room_codes *codes)
{
	codes->group_count = packed_number(reader, 4);
	if (codes->group_count > reader->rest.size)
		return false;
	codes->groups = arena_zero(call->arena, (codes->group_count + 1) * sizeof *codes->groups);
	for (size_t i = 0; i < codes->group_count; i++) {
		struct code_group *group = &codes->groups[i];

		group->number = (uint32_t)packed_number(reader, 4);
		group->identity = (uint32_t)packed_number(reader, 4);
		group->count = (uint32_t)packed_number(reader, 4);
		group->enabled = (uint32_t)packed_number(reader, 4);
		if (version != CODES_VERSION_PLAIN) {
			group->others = (uint32_t)packed_number(reader, 4);
			group->oldest = packed_number(reader, 5);
		}
		if (group->identity != 0)
			continue;
		group->lost_role = packed_text(reader);
		group->lost_at = (int64_t)packed_number(reader, 8);
	}
	return true;
}

static bool decode_due(struct call *call, struct packed *reader, struct room_codes *codes)
{
	codes->due_count = packed_number(reader, 4);
	if (codes->due_count > reader->rest.size)
		return false;
	codes->due = arena_alloc(call->arena, (codes->due_count + 1) * sizeof *codes->due);
	for (size_t i = 0; i < codes->due_count; i++) {
		codes->due[i].identity = (uint32_t)packed_number(reader, 4);
		codes->due[i].since = (int64_t)packed_number(reader, 8);
	}
	return true;
}

static bool decode_codes(struct call *call, struct packed *reader, struct room_codes *codes)
{
	const uint64_t version = packed_number(reader, 1);

	codes->was_asked = packed_number(reader, 1) != 0;
	codes->last_seen = (uint32_t)packed_number(reader, 4);
	codes->last_place = packed_number(reader, 5);
	codes->last_group = (uint32_t)packed_number(reader, 4);
	codes->former_count = (uint32_t)packed_number(reader, 4);
	if (version != CODES_VERSION_PLAIN)
		codes->former_others = (uint32_t)packed_number(reader, 4);
	codes->settled = packed_number(reader, 5);
	return (version == CODES_VERSION || version == CODES_VERSION_PLAIN) &&
	       decode_groups(call, reader, version, codes) && decode_due(call, reader, codes) &&
	       packed_ended(reader);
}

bool codes_load(struct call *call, const struct id *room, enum store_reading reading,
		struct room_codes *codes, struct fault *fault)
{
	struct packed reader = { .is_short = false };

	*codes = (struct room_codes){ .room = *room };
	if (!store_get(call->transaction, &kind_codes, room, reading, &codes->stored, fault))
		return false;
	if (codes->stored.value.data == NULL) {
		codes->groups = arena_zero(call->arena, sizeof *codes->groups);
		return true;
	}
	reader.rest = codes->stored.value;
	return decode_codes(call, &reader, codes) ||
	       packed_damaged("codes of the room", room, fault);
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
	return (code->terms.set & ~(unsigned)(CODE_LABEL | CODE_METADATA)) == 0;
}

bool codes_group_missing(const struct room_codes *codes, struct fault *fault)
{
	return packed_missing("group of codes of the room", &codes->room, fault);
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

static void put_terms(struct buffer *value, const struct code_terms *terms)
{
	packed_put_number(value, terms->set, 1);
	if ((terms->set & CODE_NOT_BEFORE) != 0)
		packed_put_number(value, (uint64_t)terms->not_before, 8);
	if ((terms->set & CODE_EXPIRES_AT) != 0)
		packed_put_number(value, (uint64_t)terms->expires_at, 8);
	if ((terms->set & CODE_MAX_USES) != 0) {
		packed_put_number(value, terms->max_uses, 4);
		packed_put_number(value, terms->uses, 4);
		packed_put_number(value, (uint64_t)terms->last_use, 8);
		packed_put_text(value, terms->last_user);
		if (terms->last_repeats > 0)
			packed_put_number(value, terms->last_repeats, 1);
	}
	if ((terms->set & CODE_USER_ID) != 0)
		packed_put_text(value, terms->user_id);
	if ((terms->set & CODE_NAME) != 0)
		packed_put_text(value, terms->name);
	if ((terms->set & CODE_LABEL) != 0)
		packed_put_text(value, terms->label);
	if ((terms->set & CODE_METADATA) != 0)
		packed_put_text(value, terms->metadata);
}

static void decode_terms(struct packed *reader, uint64_t version, struct code_terms *terms)
{
	terms->set = (unsigned)packed_number(reader, 1);
	if ((terms->set & CODE_NOT_BEFORE) != 0)
		terms->not_before = (int64_t)packed_number(reader, 8);
	if ((terms->set & CODE_EXPIRES_AT) != 0)
		terms->expires_at = (int64_t)packed_number(reader, 8);
	if ((terms->set & CODE_MAX_USES) != 0) {
		terms->max_uses = (uint32_t)packed_number(reader, 4);
		terms->uses = (uint32_t)packed_number(reader, 4);
		terms->last_use = (int64_t)packed_number(reader, 8);
		terms->last_user = packed_text(reader);
		if (version == CODE_VERSION_REPEATED)
			terms->last_repeats = (uint32_t)packed_number(reader, 1);
	}
	if ((terms->set & CODE_USER_ID) != 0)
		terms->user_id = packed_text(reader);
	if ((terms->set & CODE_NAME) != 0)
		terms->name = packed_text(reader);
	if ((terms->set & CODE_LABEL) != 0)
		terms->label = packed_text(reader);
	if ((terms->set & CODE_METADATA) != 0)
		terms->metadata = packed_text(reader);
}

static bool decode_code(const struct store_record *record, struct code *code, struct fault *fault)
{
	struct packed reader = { .rest = record->value };
	const uint64_t version = packed_number(&reader, 1);

	*code = (struct code){
		.stored = *record,
		.letters = record->name,
		.room = record->parent,
		.place = record->id,
		.is_former = !record->is_on,
	};
	code->is_enabled = packed_number(&reader, 1) != 0;
	code->group = (uint32_t)packed_number(&reader, 4);
	code->created = (int64_t)packed_number(&reader, 8);
	code->updated = (int64_t)packed_number(&reader, 8);
	code->role = packed_text(&reader);
	if (version != CODE_VERSION)
		decode_terms(&reader, version, &code->terms);
	return (version >= CODE_VERSION && version <= CODE_VERSION_REPEATED &&
		packed_ended(&reader)) ||
	       packed_damaged("code of the room", &record->parent, fault);
}

bool code_can_be(struct slice letters)
{
	return code_is_well_formed(letters) || code_is_words(letters);
}

bool code_find(struct call *call, struct slice letters, enum store_reading reading,
	       struct code *code, struct id *account, bool *is_there, struct fault *fault)
{
	struct store_record record;

	*is_there = false;
	if (!code_can_be(letters))
		return true;
	if (!store_get_named(call->transaction, &kind_code, letters, reading, &record, fault))
		return false;
	*is_there = record.value.data != NULL;
	*account = record.account;
	if (!*is_there)
		return true;
	if (!decode_code(&record, code, fault))
		return false;
	/* In seconds: a change may be of the same one. Another account's code shows in no time. */
	if (id_compare(account, &call->account) == 0)
		call_raise_time(call, code->updated * 1000 - 1);
	return true;
}

static uint64_t version_of(const struct code_terms *terms)
{
	if (terms->last_repeats > 0)
		return CODE_VERSION_REPEATED;
	return terms->set == 0 ? CODE_VERSION : CODE_VERSION_TERMS;
}

bool code_put(struct call *call, const struct code *code, struct fault *fault)
{
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct store_record record = {
		.id = code->place,
		.parent = code->room,
		.is_on = !code->is_former,
		.name = code->letters,
	};

	packed_put_number(&value, version_of(&code->terms), 1);
	packed_put_number(&value, code->is_enabled, 1);
	packed_put_number(&value, code->group, 4);
	packed_put_number(&value, (uint64_t)code->created, 8);
	packed_put_number(&value, (uint64_t)code->updated, 8);
	packed_put_text(&value, code->role);
	if (code->terms.set != 0)
		put_terms(&value, &code->terms);
	return packed_store(call->transaction, &kind_code, &record, &value, &code->stored, fault);
}

bool code_remove(struct call *call, const struct code *code, struct fault *fault)
{
	return (call->forgets_codes || code_words_keep(call, code->letters, fault)) &&
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
		if (!decode_code(&records.records[i], &page->codes[i], fault))
			return false;
		page->after = id_number(&page->codes[i].place);
	}
	return true;
}
