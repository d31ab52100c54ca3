/* A network and a resolver of a test's own: namespaces of Linux in which this process, and those
 * that it starts, have 127.0.0.1, ::1 and NAMES_PUBLIC and no other network, and any name has the
 * addresses that the test says. They last until the process ends. An ordinary user may make them,
 * unless the machine forbids it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include <stdbool.h>

/* A public address that is this machine's in the network. */
#define NAMES_PUBLIC "8.8.8.8"
#define NAMES_ADDRESSES_MOST 3

/* In a process with one thread. False: the machine forbids it, and nothing is changed that matters
 * to a test that leaves the rest out. */
bool names_open(void);

/* What each name has, as texts that end with NULL: at its first look-up since, and at later ones.
 * The arrays live until the next call. */
void names_set(const char *const *first, const char *const *later);
/* Look-ups of IPv4 addresses since names_set. */
unsigned names_looked_up(void);

#endif
