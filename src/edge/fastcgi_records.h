/* Sends an answer as FastCGI records: the head, the parts of the body and the end of the request,
 * in one system call and without copying. libfcgi would copy them through a buffer of 8 KB.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef EDGE_FASTCGI_RECORDS_H
#define EDGE_FASTCGI_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

struct fastcgi_records {
	struct arena *arena; /* for headers and the list of pieces */
	int connection; /* blocking */
	uint16_t request_id;
	/* the connection is closed after this answer, although the peer keeps it open */
	bool is_last;
	struct slice head;
	const struct slice *parts; /* the parts of the body */
	size_t part_count;
	size_t size; /* the size of all parts together */
};

/* Returns false if the peer has closed the connection, or has read nothing for SO_SNDTIMEO. */
bool fastcgi_records_send(const struct fastcgi_records *records);

#endif
