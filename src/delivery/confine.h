/* Gives up the rights that the sender does not need.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_CONFINE_H
#define DELIVERY_CONFINE_H

#include <stdbool.h>

/* Restricts the process: it ends with its parent, gains no rights, lets no process of the same user
 * read its memory, writes no files, and has few descriptors. If the kernel has Landlock, it reads
 * only the system files needed for DNS lookups and certificates. Returns false and sets errno on
 * failure. */
bool confine(void);

#endif
