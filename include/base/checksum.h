/* CRC32C (Castagnoli), the checksum of everything the store writes. Uses the processor's
 * instruction if it has one. Any thread.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `before`, which is 0 at first: the CRC of two runs of bytes is
 * checksum(checksum(0, a), b). */
uint32_t checksum(uint32_t before, const void *bytes, size_t size);

#endif
