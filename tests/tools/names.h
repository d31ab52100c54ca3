/* A network and a resolver for one test: Linux namespaces in which this process and its children
 * have 127.0.0.1, ::1 and NAMES_PUBLIC but no other network, and in which any name has the
 * addresses that the test sets. They last until the process exits. An ordinary user may create
 * them, unless the machine forbids it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include <stdbool.h>

/* A public address that belongs to this machine in the network. */
#define NAMES_PUBLIC "8.8.8.8"
#define NAMES_ADDRESSES_MOST 3

/* Creates the namespaces. The process must have only one thread. Returns false if the machine
 * forbids it; nothing has then changed that matters to a test that is skipped. */
bool names_open(void);

/* Sets the addresses of all names, as arrays of texts that end with NULL: for the first look-up of
 * a name from now on, and for later ones. The arrays must live until the next call. */
void names_set(const char *const *first, const char *const *later);
/* Returns the number of look-ups of IPv4 addresses since names_set. */
unsigned names_looked_up(void);

#endif
