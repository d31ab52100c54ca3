/* See resources/live/live_door.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/live/live_door.h"

#include <stdlib.h>

#include "base/text.h"
#include "resources/codes/code_life.h"
#include "resources/stored/media_record.h"

static int compare_hashes(const void *a, const void *b)
{
	return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* A media server knows only the beginning of a code's hash, so the codes of the room are gone
 * through. */
bool live_codes_ask(struct call *call, const struct live *live, const struct id *room,
		    struct slice *hashes, size_t n, bool *asks, struct fault *fault)
{
	struct code_walk walk = { .page = { .most = STORE_WALK_AT_ONCE } };
	const struct code *found;
	struct media media;

	if (n == 0)
		return true;
	qsort(hashes, n, sizeof *hashes, compare_hashes);
	if (!media_load(call, STORE_TO_SHOW, &media, fault) ||
	    !codes_next(call, room, &walk, &found, fault))
		return false;
	while (found != NULL) {
		const struct slice hash = text_cut(
			media_code_hash(call->arena, &media, found->letters), MEDIA_CODE_SHOWN);
		struct code code;

		if (bsearch(&hash, hashes, n, sizeof *hashes, compare_hashes) != NULL) {
			if (!record_get_named(&code_table, call->transaction, found->letters,
					      STORE_TO_CHANGE, &code, fault))
				return false;
			code.terms.set |= CODE_DOOR;
			code.terms.asks_in = live->session;
			if (!code_put(call, &code, fault))
				return false;
			*asks = true;
		}
		if (!codes_next(call, room, &walk, &found, fault))
			return false;
	}
	return true;
}
