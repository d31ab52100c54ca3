/* See resources/live/live_names.h.
 *
 * The id of a name's record consists of a hash of the room and the name without its number, and of
 * the number: so the numbers that are taken are next to each other, and the first free one is found
 * by one page.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_names.h"

#include <endian.h>
#include <string.h>

#include "base/digest.h"
#include "base/text_name.h"
#include "records/kinds.h"

/* Bytes of the hash in an id. */
#define GROUP_SIZE (ID_SIZE - 4)
/* Numbers among which the first free one is looked for. */
#define NUMBERS_SEARCHED 64

/* ---- where a name is ---- */

/* Whether the number of a name is in brackets. A name without a number has the number 1. */
enum name_form { FORM_BRACKETS = 'b', FORM_COUNTED = 'c' };

static uint32_t number_in(const struct id *id)
{
	uint32_t number;

	memcpy(&number, id->bytes + GROUP_SIZE, sizeof number);
	return be32toh(number);
}

static struct id with_number(struct id id, uint32_t number)
{
	number = htobe32(number);
	memcpy(id.bytes + GROUP_SIZE, &number, sizeof number);
	return id;
}

/* key: of the name without its number. */
static struct id name_id(struct arena *arena, const struct id *room, enum name_form form,
			 struct slice key, uint32_t number)
{
	struct buffer text = BUFFER_INITIAL(arena);
	unsigned char digest[DIGEST_SIZE];
	struct id id;

	buffer_append(&text, id_slice(room));
	buffer_append_byte(&text, (char)form);
	buffer_append(&text, key);
	digest_sha256(buffer_slice(&text), digest);
	memcpy(id.bytes, digest, GROUP_SIZE);
	return with_number(id, number);
}

static struct id id_of_name(struct arena *arena, const struct id *room, struct slice name)
{
	const struct slice key = text_name_key(arena, name);
	struct slice base;
	uint32_t number = text_name_number(key, true, &base);

	if (number > 0)
		return name_id(arena, room, FORM_BRACKETS, base, number);
	number = text_name_number(key, false, &base);
	if (number > 0)
		return name_id(arena, room, FORM_COUNTED, base, number);
	return name_id(arena, room, FORM_BRACKETS, key, 1);
}

static bool same_group(const struct id *a, const struct id *b)
{
	return memcmp(a->bytes, b->bytes, GROUP_SIZE) == 0;
}

/* How a name that is taken gets a number. */
struct numbering {
	struct slice base; /* the name without a number */
	bool in_brackets;
	struct id group; /* with the number before the first one */
};

static struct numbering numbering_of(struct arena *arena, const struct id *room, struct slice name,
				     enum name_origin origin)
{
	struct numbering numbering = { .in_brackets = origin != NAME_COUNTED };

	if (!numbering.in_brackets && text_name_number(name, false, &numbering.base) == 0)
		numbering.in_brackets = true;
	if (numbering.in_brackets)
		(void)text_name_number(name, true, &numbering.base);
	numbering.group = name_id(arena, room, numbering.in_brackets ? FORM_BRACKETS : FORM_COUNTED,
				  text_name_key(arena, numbering.base), numbering.in_brackets);
	return numbering;
}

static struct slice numbered(struct arena *arena, const struct numbering *numbering,
			     uint32_t number)
{
	return text_name_numbered(arena, numbering->base, numbering->in_brackets, number,
				  LIVE_NAME_MOST);
}

/* ---- who has it ---- */

struct named_person {
	struct slice entry;
	struct slice user_id; /* empty unless the account set it */
};

static struct named_person person_of(const struct peer *peer)
{
	return (struct named_person){
		.entry = peer->entry,
		.user_id = peer_has_known_user(peer) ? peer->user_id : SLICE(""),
	};
}

static bool is_own(const struct named_stay *stay, const struct named_person *person)
{
	return (person->entry.size > 0 && slice_equal(stay->entry, person->entry)) ||
	       (person->user_id.size > 0 && slice_equal(stay->user_id, person->user_id));
}

/* Returns true if somebody else has the name. */
static bool is_taken(const struct shown_name *name, const struct named_person *person)
{
	uint64_t own = 0;

	for (size_t i = 0; i < name->stay_count; i++)
		own += is_own(&name->stays[i], person);
	return name->count > own;
}

static bool shown_name_load(struct call *call, const struct id *id, enum store_reading reading,
			    struct shown_name *name, struct fault *fault)
{
	return record_get(&shown_name_table, call->transaction, id, reading, name, fault);
}

/* The next names of a group: the first ones, or the last. */
struct group_page {
	struct id begin, end;
	struct store_page page;
};

static struct store_page *page_of_group(struct arena *arena, const struct id *room,
					const struct id *group, enum store_order order, size_t most)
{
	struct group_page *page = arena_alloc(arena, sizeof *page);

	page->begin = *group;
	page->end = with_number(*group, UINT32_MAX);
	page->page = (struct store_page){
		.order = order,
		.parent = room,
		.above = &page->begin,
		.below = &page->end,
		.records = arena_alloc(arena, most * sizeof(struct store_record)),
		.most = most,
	};
	return &page->page;
}

/* Finds a number that nobody else has: the first one, or the one after the last if many are taken.
 * Of a crowd that leaves no such number, any: the work does not grow with the crowd. */
static bool find_number(struct call *call, const struct id *room, const struct id *group,
			const struct named_person *person, uint32_t *number, struct fault *fault)
{
	struct store_page *page = page_of_group(call->arena, room, group, STORE_OLDEST_FIRST,
						NUMBERS_SEARCHED);
	unsigned char digest[DIGEST_SIZE];
	uint32_t random;

	if (!store_page(call->transaction, &kind_shown_name, page, fault))
		return false;
	*number = number_in(group) + 1;
	for (size_t i = 0; i < page->count && number_in(&page->records[i].id) == *number; i++) {
		struct shown_name name;

		if (!record_read(&shown_name_table, call->arena, &page->records[i], &name, fault))
			return false;
		if (!is_taken(&name, person))
			return true;
		++*number;
	}
	if (*number <= number_in(group) + NUMBERS_SEARCHED)
		return true;
	page = page_of_group(call->arena, room, group, STORE_NEWEST_FIRST, 1);
	if (!store_page(call->transaction, &kind_shown_name, page, fault))
		return false;
	if (page->count > 0)
		*number = number_in(&page->records[0].id) + 1;
	if (*number > TEXT_NAME_NUMBER_MOST) {
		digest_sha256(person->entry, digest);
		memcpy(&random, digest, sizeof random);
		*number = random % (TEXT_NAME_NUMBER_MOST - 1) + 2;
	}
	return true;
}

/* Announces the reads of names_find, so that a database needs one round trip for them. id: of the
 * name, group: of those next to it; NULL if they are not read. */
static void names_expect(struct call *call, const struct name_request *request, const struct id *id,
			 const struct id *group)
{
	struct store_expected expected[3];
	size_t n = 0;

	if (group != NULL)
		expected[n++] = (struct store_expected){
			.kind = &kind_shown_name,
			.finding = STORE_FIND_PAGE,
			.reading = STORE_TO_SHOW,
			.page = page_of_group(call->arena, request->room, group, STORE_OLDEST_FIRST,
					      NUMBERS_SEARCHED),
		};
	if (id != NULL)
		expected[n++] = (struct store_expected){
			.kind = &kind_shown_name,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_SHOW,
			.id = id,
		};
	if (request->reads_live)
		expected[n++] = (struct store_expected){
			.kind = &kind_live,
			.finding = STORE_FIND_ID,
			.reading = STORE_TO_SHOW,
			.id = request->room,
		};
	if (n > 0)
		store_expect(call->transaction, STORE_EACH, expected, n);
}

bool names_find(struct call *call, const struct name_request *request, struct slice *shown,
		struct fault *fault)
{
	const struct named_person person = { request->entry, request->user_id };
	struct numbering numbering;
	struct shown_name name;
	struct id id;
	uint32_t number;

	*shown = request->name;
	if (request->origin == NAME_GIVEN) {
		names_expect(call, request, NULL, NULL);
		return true;
	}
	if (request->origin == NAME_COUNTED) {
		numbering = (struct numbering){
			.base = request->name,
			.group = name_id(call->arena, request->room, FORM_COUNTED,
					 text_name_key(call->arena, request->name), 0),
		};
		names_expect(call, request, NULL, &numbering.group);
	} else {
		id = id_of_name(call->arena, request->room, request->name);
		numbering = numbering_of(call->arena, request->room, request->name,
					 request->origin);
		names_expect(call, request, &id, &numbering.group);
		if (!shown_name_load(call, &id, STORE_TO_SHOW, &name, fault))
			return false;
		if (name.stored.value.data == NULL || !is_taken(&name, &person))
			return true;
	}
	if (!find_number(call, request->room, &numbering.group, &person, &number, fault))
		return false;
	*shown = numbered(call->arena, &numbering, number);
	return true;
}

/* ---- taking it, and giving it back ---- */

static bool names_add(struct call *call, const struct id *room, const struct id *id,
		      struct peer *peer, struct fault *fault)
{
	const struct named_person person = person_of(peer);
	struct shown_name name;

	if (!shown_name_load(call, id, STORE_TO_CHANGE, &name, fault))
		return false;
	if (name.stay_count == NAMED_MOST)
		memmove(&name.stays[0], &name.stays[1], --name.stay_count * sizeof *name.stays);
	if (name.stored.value.data == NULL) {
		name.stored.id = *id;
		name.stays = arena_alloc(call->arena, sizeof *name.stays);
	}
	name.stored.parent = *room;
	name.count++;
	name.stays[name.stay_count++] = (struct named_stay){
		.uuid = peer->uuid,
		.entry = person.entry,
		.user_id = person.user_id,
		.origin = peer->name_origin,
	};
	peer->name_id = *id;
	return record_put(&shown_name_table, call->transaction, &name, fault);
}

bool names_release(struct call *call, struct peer *peer, struct fault *fault)
{
	struct shown_name name;
	size_t n = 0;

	peer->new_name = SLICE("");
	if (id_compare(&peer->name_id, &kind_only_id) == 0)
		return true;
	if (!shown_name_load(call, &peer->name_id, STORE_TO_CHANGE, &name, fault))
		return false;
	peer->name_id = kind_only_id;
	if (name.stored.value.data == NULL)
		return true;
	for (size_t i = 0; i < name.stay_count; i++) {
		if (!slice_equal(name.stays[i].uuid, peer->uuid))
			name.stays[n++] = name.stays[i];
	}
	name.stay_count = n;
	if (--name.count > 0)
		return record_put(&shown_name_table, call->transaction, &name, fault);
	return store_remove(call->transaction, &kind_shown_name, &name.stored, fault);
}

/* Gives the peer another name than the media server has. */
static bool names_renumber(struct call *call, const struct id *room, struct peer *peer,
			   const struct numbering *numbering, uint32_t number, struct fault *fault)
{
	const struct slice name = numbered(call->arena, numbering, number);
	const struct id id = id_of_name(call->arena, room, name);

	if (id_compare(&id, &peer->name_id) != 0 &&
	    (!names_release(call, peer, fault) || !names_add(call, room, &id, peer, fault)))
		return false;
	if (!peer->is_anonymous)
		peer->name = name;
	peer->new_name = name;
	peer->is_strange = true;
	return true;
}

/* Renames the guests who have a name that was given to somebody else. */
static bool names_rename_guests(struct call *call, const struct id *room,
				const struct shown_name *taken, const struct named_person *person,
				struct slice name, bool *has_renamed, struct fault *fault)
{
	for (size_t i = 0; i < taken->stay_count; i++) {
		const struct named_stay *stay = &taken->stays[i];
		struct named_person guest = { stay->entry, stay->user_id };
		struct numbering numbering;
		struct peer peer;
		uint32_t number;

		if (stay->origin == NAME_GIVEN || stay->entry.size == 0 || is_own(stay, person))
			continue;
		if (!record_get_named(&peer_table, call->transaction, stay->uuid, STORE_TO_CHANGE,
				      &peer, fault))
			return false;
		if (peer.stored.value.data == NULL || !peer.is_inside)
			continue;
		numbering = numbering_of(call->arena, room, peer.name.size > 0 ? peer.name : name,
					 peer.name_origin);
		if (!find_number(call, room, &numbering.group, &guest, &number, fault) ||
		    !names_renumber(call, room, &peer, &numbering, number, fault) ||
		    !record_put(&peer_table, call->transaction, &peer, fault))
			return false;
		*has_renamed = true;
	}
	return true;
}

bool names_take(struct call *call, const struct id *room, struct peer *peer, struct slice name,
		struct slice *shown, bool *has_renamed, struct fault *fault)
{
	const struct named_person person = person_of(peer);
	struct numbering numbering;
	struct shown_name taken;
	struct id id;
	uint32_t number;

	*shown = name;
	if (text_name_key(call->arena, name).size == 0) {
		peer->name = peer->is_anonymous ? SLICE("") : name;
		return names_release(call, peer, fault);
	}
	id = id_of_name(call->arena, room, name);
	if (id_compare(&id, &peer->name_id) != 0) {
		if (!shown_name_load(call, &id, STORE_TO_CHANGE, &taken, fault))
			return false;
		if (taken.stored.value.data != NULL && is_taken(&taken, &person)) {
			if (peer->name_origin != NAME_GIVEN && peer->entry.size > 0) {
				numbering = numbering_of(call->arena, room, name,
							 peer->name_origin);
				if (same_group(&numbering.group, &peer->name_id) &&
				    number_in(&peer->name_id) > number_in(&numbering.group))
					number = number_in(&peer->name_id);
				else if (!find_number(call, room, &numbering.group, &person,
						      &number, fault))
					return false;
				if (!names_renumber(call, room, peer, &numbering, number, fault))
					return false;
				*shown = peer->new_name;
				return true;
			}
			if (peer->name_origin == NAME_GIVEN &&
			    !names_rename_guests(call, room, &taken, &person, name, has_renamed,
						 fault))
				return false;
		}
		if (!names_release(call, peer, fault) || !names_add(call, room, &id, peer, fault))
			return false;
	}
	peer->new_name = SLICE("");
	peer->name = peer->is_anonymous ? SLICE("") : name;
	return true;
}

bool names_restore(struct call *call, const struct id *room, struct peer *peer, struct fault *fault)
{
	struct id id;

	if (text_name_key(call->arena, peer->name).size == 0)
		return true;
	id = id_of_name(call->arena, room, peer->name);
	return names_add(call, room, &id, peer, fault);
}
