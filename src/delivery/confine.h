/* Gives up what the sender can do without.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef DELIVERY_CONFINE_H
#define DELIVERY_CONFINE_H

#include <stdbool.h>

/* From now on the process ends with its parent; gains no right; lets no process of its user look at
 * its memory; writes no file, has few descriptors, and reads no file but those of the system that
 * looking up names and verifying certificates needs, where the kernel has Landlock. False: errno
 * says why not. */
bool confine(void);

#endif
