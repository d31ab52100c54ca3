/* The addresses to which webhooks may be delivered: the global unicast ranges (the registries of
 * special-purpose addresses of IANA, RFC 6890). Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_ADDRESS_H
#define DELIVERY_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Returns true for public IPv4 and IPv6 addresses. Returns false for loopback, private, shared,
 * link-local, unspecified, multicast, documentation and reserved ranges, and for other address
 * families. An IPv6 address that contains an IPv4 address is judged by the IPv4 address. */
bool address_is_global(const struct sockaddr *address);

#endif
