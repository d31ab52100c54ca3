/* See resources/entry_rules/live_limits.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/entry_rules/live_limits.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/text.h"

/* The most people among whom a user_id is looked for. In a larger crowd, anybody with a user_id
 * fits: no call reads thousands of records, and the records hold the limits again when the person
 * is in. */
#define SEARCHED_MOST 1000

/* in_role, in_room: others inside. */
static enum live_fit fit_of(const struct live_applicant *applicant, int64_t in_role,
			    int64_t in_room)
{
	if (applicant->role_most > 0 && in_role >= applicant->role_most)
		return LIVE_ROLE_IS_FULL;
	return applicant->size > 0 && in_room >= applicant->size ? LIVE_ROOM_IS_FULL : LIVE_FITS;
}

/* ---- the stay that ends ---- */

/* Somebody else inside. */
struct other {
	unsigned char identity[DIGEST_SIZE];
	size_t place; /* in the order in which they joined */
	bool has_role;
};

struct search {
	const struct live_applicant *applicant;
	struct slice user_id;
	struct other *others; /* NULL: they are not noted */
	size_t other_count;
	size_t left;
	bool is_found, is_ended; /* is_ended: after SEARCHED_MOST people */
	struct slice role; /* of the stay that was found */
};

/* Goes through those inside until it has found the stay, or to the end if the others are noted. */
static bool search_people(struct call *call, const struct live *live, struct search *search,
			  struct fault *fault)
{
	struct store_walk walk = peers_walk(call, &live->session, STORE_ON, true, fault);
	struct peer peer;

	while (peers_next(&walk, &peer)) {
		search->is_ended = search->left == 0;
		if (search->is_ended)
			break;
		search->left--;
		if ((search->user_id.size > 0 && slice_equal(peer.user_id, search->user_id)) ||
		    (search->applicant->entry.size > 0 &&
		     slice_equal(peer.entry, search->applicant->entry))) {
			search->is_found = true;
			search->role = peer.role;
			if (search->others == NULL)
				break;
		} else if (search->others != NULL) {
			struct other *other = &search->others[search->other_count];

			*other = (struct other){
				.place = search->other_count++,
				.has_role = slice_equal(peer.role, search->applicant->role),
			};
			digest_sha256(peer.identity, other->identity);
		}
	}
	return fault->kind == FAULT_NONE;
}

/* Finds a stay of this person. *is_found is false if there is none. */
static bool search_stay(struct call *call, const struct live_applicant *applicant,
			const struct live *live, struct search *search, struct fault *fault)
{
	struct peer peer;

	*search = (struct search){
		.applicant = applicant,
		.user_id = text_cut(applicant->user_id, LIVE_NAME_MOST),
		.left = SEARCHED_MOST,
	};
	if (!live_find_entry(call, live, applicant->entry, &peer, &search->is_found, fault))
		return false;
	if (search->is_found)
		search->role = peer.role;
	if (search->is_found || applicant->user_id.size == 0)
		return true;
	return search_people(call, live, search, fault);
}

static int compare_others(const void *first, const void *second)
{
	const struct other *a = first, *b = second;
	const int order = memcmp(a->identity, b->identity, DIGEST_SIZE);

	return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Counts the others inside. A media server has each identity once: whoever joins again takes the
 * place of the older stay, whose end may not have been reported yet. */
static bool count_others(struct call *call, const struct live *live, struct search *search,
			 int64_t *in_role, int64_t *in_room, struct fault *fault)
{
	search->left = SEARCHED_MOST;
	search->others = arena_alloc(call->arena, SEARCHED_MOST * sizeof *search->others);
	if (!search_people(call, live, search, fault))
		return false;
	qsort(search->others, search->other_count, sizeof *search->others, compare_others);
	*in_role = *in_room = 0;
	for (size_t i = 0; i < search->other_count; i++) {
		const struct other *other = &search->others[i];

		if (i + 1 < search->other_count &&
		    memcmp(other->identity, other[1].identity, DIGEST_SIZE) == 0)
			continue;
		*in_role += other->has_role;
		++*in_room;
	}
	return true;
}

bool live_find_fit(struct call *call, const struct live_applicant *applicant, enum live_fit *fit,
		   struct fault *fault)
{
	int64_t known, in_role, in_room;
	struct search search;
	struct live live;

	*fit = LIVE_FITS;
	if (applicant->role_most <= 0 && applicant->size <= 0)
		return true;
	if (!live_load(call, &applicant->room, STORE_TO_SHOW, &live, fault))
		return false;
	/* Numbers of another media server, or of long ago, do not count. */
	known = live.received > live.surveyed ? live.received : live.surveyed;
	if (live.stored.value.data == NULL || id_compare(&live.backend, &applicant->backend) != 0 ||
	    call->now - known > LIVE_LIMITS_KNOWN)
		return true;
	in_role = (int64_t)live_peers_with(&live, applicant->role);
	in_room = (int64_t)live_peers(&live);
	*fit = fit_of(applicant, in_role, in_room);
	if (*fit == LIVE_FITS || (applicant->user_id.size == 0 && applicant->entry.size == 0))
		return true;
	if (!search_stay(call, applicant, &live, &search, fault))
		return false;
	if (search.is_found) {
		*fit = fit_of(applicant, in_role - slice_equal(search.role, applicant->role),
			      in_room - 1);
		if (*fit == LIVE_FITS)
			return true;
		/* Stays of this person, and of others, may be left over. */
		if (!count_others(call, &live, &search, &in_role, &in_room, fault))
			return false;
		*fit = fit_of(applicant, in_role, in_room);
	}
	if (search.is_ended)
		*fit = LIVE_FITS;
	return true;
}
