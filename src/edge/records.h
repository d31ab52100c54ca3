/* An answer in the records of FastCGI, on its way out: its head, the parts of its body and the end of
 * the request leave in one call to the kernel, from where they lie. libfcgi would copy them through a
 * buffer and write 8 KB at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_RECORDS_H
#define EDGE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct records {
	struct arena *arena; /* for what lies between the bytes */
	int connection; /* blocking */
	uint16_t request_id;
	bool is_last; /* the connection will be closed behind this answer, the peer not having asked */
	struct slice head;
	const struct slice *parts; /* of the body */
	size_t part_count;
	size_t size; /* of all parts */
};

/* False: the peer has gone, or took nothing for SO_SNDTIMEO; the connection is of no use any more. */
bool records_send(const struct records *records);

#endif
