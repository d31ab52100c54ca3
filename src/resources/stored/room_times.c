/* See resources/stored/room_times.h. The account has one record, with the id zero; as long as it
 * does not exist, the differences are zero.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/stored/room_times.h"

#include "records/kinds.h"
#include "records/record.h"

static const struct member times_members[] = {
	{ "later", AS_NUMBER(4, 0, UINT32_MAX), AT(struct room_times, later) },
	{ "earlier", AS_NUMBER(4, 0, UINT32_MAX), AT(struct room_times, earlier) },
};
const struct record_table room_times_table = {
	RECORD(struct room_times, times_members, 0, &kind_room_times),
};

bool room_times_load(struct call *call, struct room_times *times, struct fault *fault)
{
	return record_get(&room_times_table, call->transaction, &kind_only_id, STORE_TO_SHOW, times,
			  fault);
}

bool room_times_cover(const struct room_times *times, const struct id *id, int64_t created)
{
	const int64_t later = created / 1000 - (int64_t)id_seconds(id);

	return later <= (int64_t)times->later && -later <= (int64_t)times->earlier;
}

bool room_times_note(struct call *call, const struct id *id, int64_t created, struct fault *fault)
{
	const int64_t later = created / 1000 - (int64_t)id_seconds(id);
	struct room_times times;

	if (later == 0)
		return true;
	if (!record_get(&room_times_table, call->transaction, &kind_only_id, STORE_TO_CHANGE,
			&times, fault))
		return false;
	if (room_times_cover(&times, id, created))
		return true;
	if (later > 0)
		times.later = (uint32_t)later;
	else
		times.earlier = (uint32_t)-later;
	return record_put(&room_times_table, call->transaction, &times, fault);
}
