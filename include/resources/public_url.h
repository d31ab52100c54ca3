/* The URL at which people reach the service.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_PUBLIC_URL_H
#define RESOURCES_PUBLIC_URL_H

#include "resources/call.h"

/* Returns the URL given to serve (--public-url), or else one from the scheme and host of the
 * request. It has no / at its end, and is in the arena or constant. */
struct slice public_url_of(struct call *call);
/* True if that is an https URL. */
bool public_url_is_secure(const struct call *call);

/* Returns the URL to which the join page sends the people of an account, or NULL if none is set. */
struct account;
const char *public_url_client(const struct call *call, const struct account *account);

#endif
