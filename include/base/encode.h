/* Little-endian integers in files, at any address.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ENCODE_H
#define BASE_ENCODE_H

#include <stdint.h>

static inline void encode_16(void *to, uint16_t value)
{
	unsigned char *bytes = to;

	bytes[0] = (unsigned char)(value & 0xff);
	bytes[1] = (unsigned char)(value >> 8);
}

static inline void encode_32(void *to, uint32_t value)
{
	encode_16(to, (uint16_t)(value & 0xffff));
	encode_16((unsigned char *)to + 2, (uint16_t)(value >> 16));
}

static inline void encode_64(void *to, uint64_t value)
{
	encode_32(to, (uint32_t)(value & 0xffffffff));
	encode_32((unsigned char *)to + 4, (uint32_t)(value >> 32));
}

static inline uint16_t decode_16(const void *from)
{
	const unsigned char *bytes = from;

	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t decode_32(const void *from)
{
	return decode_16(from) | (uint32_t)decode_16((const unsigned char *)from + 2) << 16;
}

static inline uint64_t decode_64(const void *from)
{
	return decode_32(from) | (uint64_t)decode_32((const unsigned char *)from + 4) << 32;
}

#endif
