/* See delivery/address.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "delivery/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/text.h"

#define MAPPED_BITS 96 /* of the prefix ::ffff:0:0 */

/* clang-format off */
static const struct address_range not_global_4[] = {
	{ { 0 }, 8 },			/* this network */
	{ { 10 }, 8 },			/* private */
	{ { 100, 64 }, 10 },		/* shared by customers of a provider */
	{ { 127 }, 8 },			/* loopback */
	{ { 169, 254 }, 16 },		/* link-local */
	{ { 172, 16 }, 12 },		/* private */
	{ { 192, 0, 0 }, 24 },		/* protocol assignments */
	{ { 192, 0, 2 }, 24 },		/* documentation */
	{ { 192, 88, 99 }, 24 },	/* relays of 6to4 */
	{ { 192, 168 }, 16 },		/* private */
	{ { 198, 18 }, 15 },		/* benchmarks */
	{ { 198, 51, 100 }, 24 },	/* documentation */
	{ { 203, 0, 113 }, 24 },	/* documentation */
	{ { 224 }, 4 },			/* multicast */
	{ { 240 }, 4 },			/* reserved, broadcast */
};

/* The global unicast addresses, except the ranges below. */
static const struct address_range global_6 = { { 0x20 }, 3 };
static const struct address_range not_global_6[] = {
	{ { 0x20, 0x01, 0x00 }, 23 },		/* protocol assignments; Teredo is below */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 },	/* documentation */
	{ { 0x3f, 0xff, 0x00 }, 20 },		/* documentation */
};

/* Ranges of IPv6 addresses that contain an IPv4 address, and its position. */
static const struct carrier {
	struct address_range range;
	unsigned char offset;
	unsigned char mask;	/* the bytes are stored XORed with it */
} carriers[] = {
	{ { { 0 }, 96 }, 12, 0 },				/* IPv4-compatible; :: and ::1 too */
	{ { { [10] = 0xff, [11] = 0xff }, 96 }, 12, 0 },	/* IPv4-mapped */
	{ { { [8] = 0xff, [9] = 0xff }, 96 }, 12, 0 },		/* IPv4-translated */
	{ { { 0x00, 0x64, 0xff, 0x9b }, 96 }, 12, 0 },		/* NAT64 */
	{ { { 0x20, 0x02 }, 16 }, 2, 0 },			/* 6to4 */
	{ { { 0x20, 0x01, 0, 0 }, 32 }, 4, 0 },			/* Teredo: the server */
	{ { { 0x20, 0x01, 0, 0 }, 32 }, 12, 0xff },		/* Teredo: the client */
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static bool is_within(const unsigned char *address, const struct address_range *range)
{
	const size_t whole = range->bits / 8;
	const unsigned rest = range->bits % 8;

	return memcmp(address, range->bytes, whole) == 0 &&
	       (rest == 0 || (address[whole] ^ range->bytes[whole]) >> (8 - rest) == 0);
}

static bool is_within_any(const unsigned char *address, const struct address_range *ranges,
			  size_t n)
{
	while (n > 0 && !is_within(address, &ranges[n - 1]))
		n--;
	return n > 0;
}

static bool is_global_4(const unsigned char *address)
{
	return !is_within_any(address, not_global_4, COUNT(not_global_4));
}

/* An address that contains IPv4 addresses is global if all of them are. */
static bool is_global_6(const unsigned char *address)
{
	static const unsigned char isatap[] = { 0x00, 0x5e, 0xfe };
	bool carries = false, is_global = true, is_isatap;

	for (size_t i = 0; i < COUNT(carriers); i++) {
		unsigned char carried[4];

		if (!is_within(address, &carriers[i].range))
			continue;
		for (size_t byte = 0; byte < sizeof carried; byte++)
			carried[byte] = address[carriers[i].offset + byte] ^ carriers[i].mask;
		carries = true;
		is_global = is_global && is_global_4(carried);
	}
	if (carries)
		return is_global;
	/* An interface identifier of ISATAP may follow any prefix. */
	is_isatap = (address[8] & 0xfd) == 0 && memcmp(&address[9], isatap, sizeof isatap) == 0;
	return is_within(address, &global_6) &&
	       !is_within_any(address, not_global_6, COUNT(not_global_6)) &&
	       (!is_isatap || is_global_4(&address[12]));
}

bool address_is_global(const struct sockaddr *address)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (address->sa_family == AF_INET) {
		memcpy(&four, address, sizeof four);
		return is_global_4((const unsigned char *)&four.sin_addr);
	}
	if (address->sa_family != AF_INET6)
		return false;
	memcpy(&six, address, sizeof six);
	return is_global_6((const unsigned char *)&six.sin6_addr);
}

/* ---- ranges that are allowed ---- */

static void map_4(const void *four, unsigned char address[ADDRESS_SIZE])
{
	memset(address, 0, ADDRESS_SIZE);
	address[10] = address[11] = 0xff;
	memcpy(address + MAPPED_BITS / 8, four, ADDRESS_SIZE - MAPPED_BITS / 8);
}

bool address_ranges_read(struct slice text, struct address_ranges *ranges)
{
	ranges->count = 0;
	while (text.data != NULL) {
		const struct slice part = text_split(text, ',', &text);
		struct slice rest;
		const struct slice prefix = text_split(part, '/', &rest);
		char terminated[INET6_ADDRSTRLEN] = "";
		int64_t bits, most = 8 * ADDRESS_SIZE;
		struct address_range *range;
		struct in_addr four;

		if (ranges->count == ADDRESS_RANGES_MOST || prefix.size >= sizeof terminated)
			return false;
		range = &ranges->ranges[ranges->count++];
		memcpy(terminated, prefix.data, prefix.size);
		if (inet_pton(AF_INET, terminated, &four) == 1) {
			map_4(&four, range->bytes);
			most -= MAPPED_BITS;
		} else if (inet_pton(AF_INET6, terminated, range->bytes) != 1) {
			return false;
		}
		bits = most;
		if (prefix.size < part.size &&
		    (!text_integer(rest, &bits) || bits < 0 || bits > most))
			return false;
		range->bits = (unsigned)(8 * ADDRESS_SIZE - most + bits);
		/* No bit after the prefix may be set. */
		for (unsigned bit = range->bits; bit < 8 * ADDRESS_SIZE; bit++) {
			if ((range->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0)
				return false;
		}
	}
	return true;
}

bool address_is_within(const struct sockaddr *address, const struct address_ranges *ranges)
{
	unsigned char bytes[ADDRESS_SIZE];
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (address->sa_family == AF_INET) {
		memcpy(&four, address, sizeof four);
		map_4(&four.sin_addr, bytes);
	} else if (address->sa_family == AF_INET6) {
		memcpy(&six, address, sizeof six);
		memcpy(bytes, &six.sin6_addr, sizeof bytes);
	} else {
		return false;
	}
	return is_within_any(bytes, ranges->ranges, ranges->count);
}
