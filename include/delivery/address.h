/* Which addresses a webhook may be delivered to: those of the global unicast ranges (the registries
 * of special-purpose addresses of IANA, RFC 6890). Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_ADDRESS_H
#define DELIVERY_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether an IPv4 or IPv6 address is reachable for everyone. False for loopback, private, shared,
 * link-local, unspecified, multicast, documentation and reserved ranges, and for other families. An
 * IPv6 address that carries an IPv4 address is judged by that one. */
bool address_is_global(const struct sockaddr *address);

#endif
