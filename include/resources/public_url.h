/* The address at which people reach the service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_PUBLIC_URL_H
#define RESOURCES_PUBLIC_URL_H

#include "resources/call.h"

/* As serve was told (--public-url); else by scheme and host of the request. Without a / at its end;
 * in the arena, or constant. */
struct slice public_url_of(struct call *call);
/* Whether that is an address of https. */
bool public_url_is_secure(const struct call *call);

/* Where the join page sends the people of an account; NULL: it is not set. */
struct account;
const char *public_url_client(const struct call *call, const struct account *account);

#endif
