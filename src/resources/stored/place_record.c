/* See resources/stored/place_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/place_record.h"

#include "records/kinds.h"
#include "resources/record_kind.h"

const char *const move_reason_names[MOVE_REASONS] = {
	[MOVE_NONE] = "none",
	[MOVE_DOWN] = "down",
	[MOVE_DRAINED] = "drained",
};

static const struct member witness_members[] = {
	{ "entry", AS_FIXED(WITNESS_SIZE), AT(struct witness, entry) },
	{ "said_at", AS_TIME, AT(struct witness, said) },
};
static const struct record_table witness_table = { ITEMS(struct witness, witness_members) };

static const struct member place_members[] = {
	{ "room_id", AS_KEY, AT(struct place, stored.id) },
	{ "backend_id", AS_PARENT, AT(struct place, backend) },
	{ "since", AS_TIME, AT(struct place, since) },
	{ "until", AS_SECONDS, AS_END, AT(struct place, until) },
	{ "former_id", AS_ID, AT(struct place, former) },
	{ "reason", AS_CHOICE(MOVE_DRAINED, move_reason_names), AT(struct place, reason) },
	{ "moved_down_at", AS_TIME, AT(struct place, moved_down) },
	{ "told_at", AS_TIME, AT(struct place, told) },
	{ "witnesses", AS_LIST(struct place, witness_count, WITNESSES_MOST, witness_table),
	  AT(struct place, witnesses) },
};
const struct record_table place_table = { RECORD(struct place, place_members, 2, &kind_place) };
const struct record_kind place_kind = { .table = &place_table, .order = RECORD_PAGES };

static const struct member backend_load_members[] = {
	{ "backend_id", AS_KEY, AT(struct backend_load, stored.id) },
	{ "people", AS_NUMBER(8, 0, INT64_MAX), AT(struct backend_load, people) },
	{ "rooms", AS_NUMBER(8, 0, INT64_MAX), AT(struct backend_load, rooms) },
	{ "expected", AS_NUMBER(8, 0, INT64_MAX), AT(struct backend_load, expected) },
	{ "counted_at", AS_TIME, AT(struct backend_load, counted) },
};
const struct record_table backend_load_table = {
	RECORD(struct backend_load, backend_load_members, 1, &kind_backend_load),
};
const struct record_kind backend_load_kind = {
	.table = &backend_load_table,
	.order = RECORD_PAGES,
};

bool place_load(struct call *call, const struct id *room, enum store_reading reading,
		struct place *place, struct fault *fault)
{
	if (!record_get(&place_table, call->transaction, room, reading, place, fault))
		return false;
	place->stored.id = *room;
	return true;
}

bool place_holds(const struct call *call, const struct place *place)
{
	return place->stored.value.data != NULL && place->until * 1000 > call->now;
}
