/* See resources/rooms/room_times.h. One record of the account with the id zero; while it is absent,
 * the times are the same.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/rooms/room_times.h"

#include "resources/kinds.h"
#include "resources/packed.h"

#define VERSION 1

static bool read(struct call *call, enum store_reading reading, struct store_record *stored,
		 struct room_times *times, struct fault *fault)
{
	struct packed reader;

	*times = (struct room_times){ 0, 0 };
	if (!store_get(call->transaction, &kind_room_times, &kind_only_id, reading, stored, fault))
		return false;
	if (stored->value.data == NULL)
		return true;
	reader = packed_open(stored->value, VERSION);
	times->later = (uint32_t)packed_number(&reader, 4);
	times->earlier = (uint32_t)packed_number(&reader, 4);
	return packed_close(&reader, "times of rooms", &call->account, fault);
}

bool room_times_load(struct call *call, struct room_times *times, struct fault *fault)
{
	struct store_record stored;

	return read(call, STORE_TO_SHOW, &stored, times, fault);
}

bool room_times_cover(const struct room_times *times, const struct id *id, int64_t created)
{
	const int64_t later = created / 1000 - (int64_t)id_seconds(id);

	return later <= (int64_t)times->later && -later <= (int64_t)times->earlier;
}

bool room_times_note(struct call *call, const struct id *id, int64_t created, struct fault *fault)
{
	const int64_t later = created / 1000 - (int64_t)id_seconds(id);
	struct store_record record = { .id = kind_only_id }, stored;
	struct buffer value = BUFFER_INITIAL(call->arena);
	struct room_times times;

	if (later == 0)
		return true;
	if (!read(call, STORE_TO_CHANGE, &stored, &times, fault))
		return false;
	if (room_times_cover(&times, id, created))
		return true;
	if (later > 0)
		times.later = (uint32_t)later;
	else
		times.earlier = (uint32_t)-later;
	packed_put_number(&value, VERSION, 1);
	packed_put_number(&value, times.later, 4);
	packed_put_number(&value, times.earlier, 4);
	return packed_store(call->transaction, &kind_room_times, &record, &value, &stored, fault);
}
