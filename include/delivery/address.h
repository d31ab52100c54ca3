/* The addresses to which the service connects on behalf of accounts: the global unicast ranges (the
 * registries of special-purpose addresses of IANA, RFC 6890), and ranges that the administrator
 * allows. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_ADDRESS_H
#define DELIVERY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/slice.h"

/* Returns true for public IPv4 and IPv6 addresses. Returns false for loopback, private, shared,
 * link-local, unspecified, multicast, documentation and reserved ranges, and for other address
 * families. For an IPv6 address that contains an IPv4 address, the IPv4 address counts. */
bool address_is_global(const struct sockaddr *address);

#define ADDRESS_SIZE 16 /* bytes of an IPv6 address */

/* The addresses with the same first bits. IPv4 addresses are in ::ffff:0:0/96. */
struct address_range {
	unsigned char bytes[ADDRESS_SIZE];
	unsigned bits;
};

#define ADDRESS_RANGES_MOST 32
struct address_ranges {
	struct address_range ranges[ADDRESS_RANGES_MOST];
	size_t count;
};

/* Reads ranges such as 10.0.0.0/8, fd00::/8, or single addresses, with commas between them. Returns
 * false if there are more than ADDRESS_RANGES_MOST, or one is not a range or has bits after the
 * prefix. */
bool address_ranges_read(struct slice text, struct address_ranges *ranges);
/* Returns whether the address is in one of the ranges. An IPv4 address is also compared if it is
 * written as IPv6 (::ffff:10.0.0.1). */
bool address_is_within(const struct sockaddr *address, const struct address_ranges *ranges);

#endif
