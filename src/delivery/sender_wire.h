/* The messages between the service and a sender. Both ends are the same program. Each message is
 * one packet, but for an outcome with a body: packets of at most WIRE_CHUNK bytes with the body
 * follow immediately.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_SENDER_WIRE_H
#define DELIVERY_SENDER_WIRE_H

#include <limits.h>
#include <stdint.h>

#include "delivery/sender.h"

/* The sender's end of the socket. */
#define SENDER_SOCKET 3

/* The first message to the sender. */
struct wire_options {
	bool allows_http, allows_private;
	unsigned most, patience, connect_patience, stall_patience;
	struct address_ranges ranges, storage_ranges;
	char authorities[PATH_MAX]; /* empty if there is none */
};

/* The response to it. */
struct wire_ready {
	int error; /* errno if the authorities cannot be read, else 0 */
};

/* Followed by the bytes of the three slices; with has_file, the packet has a descriptor. */
struct wire_delivery {
	uint64_t number;
	uint32_t url_size, headers_size, body_size, answer_most;
	unsigned patience;
	uint64_t file_size;
	enum sender_method method;
	bool is_once, has_file, is_to_storage;
};

#define WIRE_CHUNK ((size_t)64 << 10)

#define WIRE_MOST (sizeof(struct wire_delivery) + SENDER_BYTES_MOST)

#endif
