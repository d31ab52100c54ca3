/* CRC32C (Castagnoli), the checksum of everything that the store writes. Uses the processor's
 * CRC32C instruction if there is one. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of the bytes that were summed in `before`, followed by these. Start with 0: the
 * CRC of a followed by b is checksum(checksum(0, a), b). */
uint32_t checksum(uint32_t before, const void *bytes, size_t size);

#endif
