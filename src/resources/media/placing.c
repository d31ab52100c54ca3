/* See resources/media/placing.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/media/placing.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "records/kinds.h"
#include "resources/audit.h"

/* Records of each kind that are read at once of all rooms. */
#define PLACED_AT_ONCE 256
#define PLACED_BYTES ((size_t)1 << 20)

struct media_target media_target_of(const struct media *media,
				    const struct template_record *template)
{
	const struct backend *standard;

	if (template->backend.data != NULL) {
		if (pool_backend(media, template->backend) != NULL)
			return (struct media_target){ .pool = template->backend };
		return (struct media_target){
			.backend = media_backend_named(media, template->backend),
		};
	}
	standard = media_default_backend(media);
	if (standard != NULL && standard->pool.size > 0)
		return (struct media_target){ .pool = standard->pool };
	return (struct media_target){ .backend = standard };
}

const struct backend *pool_backend(const struct media *media, struct slice pool)
{
	for (size_t i = 0; i < media->backend_count; i++) {
		if (backend_is_in(&media->backends[i], pool))
			return &media->backends[i];
	}
	return NULL;
}

bool backend_is_in(const struct backend *backend, struct slice pool)
{
	return backend != NULL && backend->pool.size > 0 && slice_equal(backend->pool, pool);
}

bool backend_is_watched(const struct call *call, const struct backend *backend)
{
	return call->environment->live != LIVE_OFF && server_can(backend->type, SERVER_LIST);
}

/* ---- where a room is ---- */

/* Finds where the room is. `place` has been read. */
static bool find_backend(struct call *call, struct placing *placing, struct fault *fault)
{
	const struct place *place = &placing->place;
	const struct backend *there = media_backend(placing->media, &place->backend);
	bool was_moved;
	struct live live;

	placing->backend = NULL;
	if (backend_is_in(there, placing->pool) && place_holds(call, place)) {
		placing->backend = there;
		return true;
	}
	if (!live_load_followed(call, &placing->room, &live, fault))
		return false;
	if (live.stored.value.data == NULL)
		return true;
	/* The session may not have followed yet. */
	was_moved = place->stored.value.data != NULL &&
		    id_compare(&place->former, &live.backend) == 0;
	placing->backend = was_moved && backend_is_in(there, placing->pool)
				   ? there
				   : media_backend(placing->media, &live.backend);
	return true;
}

static bool read_place(struct call *call, struct placing *placing, enum store_reading reading,
		       struct fault *fault)
{
	placing->is_locked = reading == STORE_TO_CHANGE;
	return place_load(call, &placing->room, reading, &placing->place, fault) &&
	       find_backend(call, placing, fault);
}

bool placing_find(struct call *call, const struct media *media, struct slice pool,
		  const struct id *room, struct placing *placing, struct fault *fault)
{
	const struct store_expected expected[] = {
		{ .kind = &kind_place, .finding = STORE_FIND_ID, .id = room },
		{ .kind = &kind_live, .finding = STORE_FIND_ID, .id = room },
		{ .kind = &kind_backend_healths, .finding = STORE_FIND_ID, .id = &kind_only_id },
	};

	*placing = (struct placing){ .media = media, .pool = pool, .room = *room };
	store_expect(call->transaction, STORE_EACH, expected, sizeof expected / sizeof expected[0]);
	return read_place(call, placing, STORE_TO_SHOW, fault);
}

bool placing_shown(struct call *call, const struct room_record *room,
		   const struct template_record *template, struct slice *name, struct fault *fault)
{
	struct placing placing = { .room = room->id };
	struct template_record loaded;
	struct media_target target;
	struct media media;
	bool has_media;

	*name = (struct slice){ NULL, 0 };
	if (!room->was_placed)
		return true;
	/* The place of a room in session may be over, and its record gone. */
	if (!place_load(call, &room->id, STORE_TO_SHOW, &placing.place, fault) ||
	    !media_find(call, STORE_TO_SHOW, &media, &has_media, fault) ||
	    (template == NULL && !template_load(call, &room->template_id, &loaded, fault)))
		return false;
	if (!has_media)
		return true;
	target = media_target_of(&media, template != NULL ? template : &loaded);
	placing.media = &media;
	placing.pool = target.pool;
	if (target.pool.data == NULL)
		return true;
	if (!find_backend(call, &placing, fault))
		return false;
	if (placing.backend != NULL)
		*name = placing.backend->name;
	return true;
}

bool placing_decide(struct call *call, struct placing *placing, const struct place_wish *wish,
		    struct fault *fault)
{
	const bool is_refused = wish->made_at != NULL && wish->is_refused;
	struct place_request request = {
		.media = placing->media,
		.pool = placing->pool,
		.room = placing->room,
		.not_at = is_refused ? &wish->made_at->id : NULL,
		.not_count = is_refused,
	};

	if (placing->backend != NULL)
		return true;
	if (!call_is_writing(call))
		return call_write_instead(call);
	/* Somebody else may have placed it since. */
	if (!read_place(call, placing, STORE_TO_CHANGE, fault))
		return false;
	if (placing->backend != NULL)
		return true;
	placing->is_chosen = true;
	if (wish->made_at == NULL || is_refused) {
		request.region = placing_region(call, wish->room, wish->template);
		if (!placing_choose(call, &request, &placing->backend, fault))
			return false;
	}
	if (placing->backend == NULL)
		placing->backend = wish->made_at;
	return true;
}

/* Stores the place. The record of the room says that it has had one. */
static bool store_place(struct call *call, const struct place *place, struct fault *fault)
{
	const bool is_new = place->stored.value.data == NULL;
	struct room_record room = { .was_placed = true };
	bool is_there = false;

	if (!record_put(&place_table, call->transaction, place, fault) ||
	    (is_new && !room_find(call, &place->stored.id, STORE_TO_SHOW, &room, &is_there, fault)))
		return false;
	if (!is_there || room.was_placed)
		return true;
	if (!room_find(call, &place->stored.id, STORE_TO_CHANGE, &room, &is_there, fault))
		return false;
	room.was_placed = true;
	return !is_there || room_put(call, &room, fault);
}

/* Returns true if the place has to be stored for a token that ends then. */
static bool is_due(const struct placing *placing, int64_t ends)
{
	return id_compare(&placing->place.backend, &placing->backend->id) != 0 ||
	       placing->place.until < ends;
}

static void note_exchange(struct call *call, const struct placing *placing)
{
	if (!call->validates_only && !backend_is_watched(call, placing->backend))
		placements_add_exchange(call, &placing->backend->id);
}

bool placing_lock(struct call *call, struct placing *placing, struct fault *fault)
{
	return placing->is_locked || read_place(call, placing, STORE_TO_CHANGE, fault);
}

bool placing_keep(struct call *call, struct placing *placing, int64_t ends, struct fault *fault)
{
	const struct id backend = placing->backend->id;
	struct place *place = &placing->place;

	if (!placing->is_chosen && !is_due(placing, ends)) {
		note_exchange(call, placing);
		return true;
	}
	if (!call_is_writing(call))
		return call_write_instead(call);
	if (!placing->is_locked) {
		if (!read_place(call, placing, STORE_TO_CHANGE, fault))
			return false;
		/* The room was moved since. */
		if (placing->backend == NULL || id_compare(&placing->backend->id, &backend) != 0)
			return fault_set(fault, FAULT_AGAIN, NULL);
	}
	note_exchange(call, placing);
	if (!placing->is_chosen && !is_due(placing, ends))
		return true;
	if (placing->leaving == NULL &&
	    (place->stored.value.data == NULL || id_compare(&place->backend, &backend) != 0 ||
	     placing->is_chosen)) {
		const struct store_record stored = place->stored;

		*place = (struct place){ .stored = stored, .backend = backend, .since = call->now };
	}
	if (place->until < ends + PLACE_LASTS_AFTER)
		place->until = ends + PLACE_LASTS_AFTER;
	if (placing->leaving != NULL)
		return placing_move(call, placing->leaving, place, placing->former,
				    placing->backend, MOVE_DOWN, fault);
	if (placing->is_chosen && !call->validates_only)
		placements_add(call, &backend, &placing->room);
	return store_place(call, place, fault);
}

/* ---- where all rooms are ---- */

bool placed_rooms_read(struct call *call, struct placed_rooms *page, struct fault *fault)
{
	const struct id after = page->after;
	const struct store_page from = {
		.order = STORE_OLDEST_FIRST,
		.above = id_compare(&after, &kind_only_id) == 0 ? NULL : &after,
		.most = PLACED_AT_ONCE,
		.bytes_most = PLACED_BYTES,
	};
	struct store_page places = from, lives = from;
	size_t i = 0, j = 0;

	places.records = arena_alloc(call->arena, PLACED_AT_ONCE * sizeof *places.records);
	lives.records = arena_alloc(call->arena, PLACED_AT_ONCE * sizeof *lives.records);
	if (!store_page(call->transaction, &kind_place, &places, fault) ||
	    !store_page(call->transaction, &kind_live, &lives, fault))
		return false;
	page->rooms = arena_zero(call->arena,
				 (places.count + lives.count + 1) * sizeof *page->rooms);
	page->count = 0;
	/* What follows the last record of one page may be of a room of the other one. */
	while ((i < places.count || (places.is_last && j < lives.count)) &&
	       (j < lives.count || lives.is_last)) {
		const int order = i == places.count ? 1
				  : j == lives.count
					  ? -1
					  : id_compare(&places.records[i].id, &lives.records[j].id);
		struct placed_room *room = &page->rooms[page->count++];
		struct place *place = NULL;
		struct live *live = NULL;

		if (order <= 0) {
			place = arena_alloc(call->arena, sizeof *place);
			if (!record_read(&place_table, call->arena, &places.records[i++], place,
					 fault))
				return false;
		}
		if (order >= 0) {
			live = arena_alloc(call->arena, sizeof *live);
			if (!record_read(&live_table, call->arena, &lives.records[j++], live,
					 fault))
				return false;
		}
		room->place = place;
		room->live = live;
		room->id = live != NULL ? &live->stored.id : &place->stored.id;
		if (live != NULL)
			room->backend = live_backend(live);
		else if (place_holds(call, place))
			room->backend = &place->backend;
		page->after = *room->id;
	}
	page->is_last = i == places.count && places.is_last && j == lives.count && lives.is_last;
	return true;
}

/* ---- where it is to be ---- */

struct slice placing_region(struct call *call, const struct room_record *room,
			    const struct template_record *template)
{
	const struct slice own = text_of_json(json_object_get(room_document(call, room), "region"));

	return own.size > 0 && !slice_is(own, "auto") ? own : template->region;
}

static enum backend_region region_named(struct slice name)
{
	enum backend_region region = REGION_EU;

	while (region != REGION_NONE && !slice_is(name, backend_region_names[region]))
		region--;
	return region;
}

/* A backend that a room may be placed on. */
struct candidate {
	const struct backend *backend;
	bool is_down, is_elsewhere; /* is_elsewhere: in another region than the room's */
	uint64_t load;
	unsigned char chance[DIGEST_SIZE]; /* decides between equals */
};

/* Returns the order in which two are chosen: below 0 if `a` is better. */
static int compare_candidates(const struct candidate *a, const struct candidate *b)
{
	const uint64_t load_a = a->load * backend_weight(b->backend);
	const uint64_t load_b = b->load * backend_weight(a->backend);

	if (a->is_down != b->is_down)
		return a->is_down ? 1 : -1;
	if (a->backend->is_draining != b->backend->is_draining)
		return a->backend->is_draining ? 1 : -1;
	if (a->is_elsewhere != b->is_elsewhere)
		return a->is_elsewhere ? 1 : -1;
	if (load_a != load_b)
		return load_a < load_b ? -1 : 1;
	return memcmp(a->chance, b->chance, DIGEST_SIZE);
}

static bool is_among(const struct backend *backend, const struct id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (id_compare(&backend->id, &ids[i]) == 0)
			return true;
	}
	return false;
}

/* Reads whether the backends are up, and their loads. */
static bool read_candidates(struct call *call, const struct place_request *request,
			    struct candidate *candidates, size_t n, struct fault *fault)
{
	const enum backend_region region = region_named(request->region);
	struct store_expected *expected = arena_zero(call->arena, (n + 1) * sizeof *expected);
	struct backend_healths healths;
	struct backend_load load;

	expected[n] = (struct store_expected){
		.kind = &kind_backend_healths,
		.finding = STORE_FIND_ID,
		.id = &kind_only_id,
	};
	for (size_t i = 0; i < n; i++)
		expected[i] = (struct store_expected){
			.kind = &kind_backend_load,
			.finding = STORE_FIND_ID,
			.id = &candidates[i].backend->id,
		};
	store_expect(call->transaction, STORE_EACH, expected, n + 1);
	if (!backend_healths_load(call, STORE_TO_SHOW, &healths, fault))
		return false;

	for (size_t i = 0; i < n; i++) {
		struct candidate *candidate = &candidates[i];
		const struct backend *backend = candidate->backend;
		const struct backend_health *health = backend_health_of(&healths, &backend->id);
		char both[2 * ID_SIZE];

		if (!record_get(&backend_load_table, call->transaction, &backend->id, STORE_TO_SHOW,
				&load, fault))
			return false;
		candidate->is_elsewhere = region != REGION_NONE && backend->region != region;
		if (backend_is_watched(call, backend)) {
			candidate->is_down = health != NULL && !health->is_up;
			candidate->load = load.people + load.expected +
					  PLACED_PEOPLE * placements_since(call, &backend->id,
									   load.counted);
		} else {
			candidate->load = placements_exchanges(call, &backend->id);
		}
		memcpy(both, request->room.bytes, ID_SIZE);
		memcpy(both + ID_SIZE, backend->id.bytes, ID_SIZE);
		digest_sha256((struct slice){ both, sizeof both }, candidate->chance);
	}
	return true;
}

bool placing_choose(struct call *call, const struct place_request *request,
		    const struct backend **chosen, struct fault *fault)
{
	const struct media *media = request->media;
	struct candidate *candidates = arena_zero(call->arena,
						  (media->backend_count + 1) * sizeof *candidates);
	const struct candidate *best = NULL;
	size_t n = 0;

	*chosen = NULL;
	for (size_t i = 0; i < media->backend_count; i++) {
		const struct backend *backend = &media->backends[i];

		if (backend_is_in(backend, request->pool) &&
		    !is_among(backend, request->not_at, request->not_count))
			candidates[n++].backend = backend;
	}
	if (!read_candidates(call, request, candidates, n, fault))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (best == NULL || compare_candidates(&candidates[i], best) < 0)
			best = &candidates[i];
	}
	if (best == NULL || (request->must_be_up && (best->is_down || (best->backend->is_draining &&
								       !request->may_drain))))
		return true;
	*chosen = best->backend;
	if (!request->must_be_up && (best->is_down || best->backend->is_draining) &&
	    placements_may_warn(call, request->pool))
		log_event(LOG_LEVEL_WARNING, "pool_without_server", "account", call->account_text,
			  "pool",
			  arena_text(call->arena, "%.*s", (int)request->pool.size,
				     request->pool.data),
			  "consequence",
			  best->is_down ? "rooms are placed on servers that are down"
					: "rooms are placed on servers that drain",
			  NULL);
	return true;
}

/* ---- moving ---- */

bool placing_move(struct call *call, const struct room_record *room, struct place *place,
		  const struct backend *from, const struct backend *to, enum move_reason reason,
		  struct fault *fault)
{
	const bool is_down = reason == MOVE_DOWN;
	const struct audit_data data = {
		.kind = "room",
		.id = id_as_text(call->arena, &room->id),
		.name = room->name,
		.actor = is_down ? audit_service_text(call->arena) : from->moved_by,
		.more = {
			{ "from", from->name, false },
			{ "to", to->name, false },
			{ "reason", slice_of(move_reason_names[reason]), false },
		},
	};

	place->former = from->id;
	place->backend = to->id;
	place->since = call->now;
	place->reason = reason;
	place->witness_count = 0;
	place->told = 0;
	if (is_down)
		place->moved_down = call->now;
	call->run.moved[reason]++;
	audit_note(call, "room.moved", &data);
	placements_add(call, &to->id, &room->id);
	return live_note_move(call, &room->id, &to->id, fault) && store_place(call, place, fault);
}
