/* The page at `/` for people who open the service's address in a browser.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_WELCOME_H
#define SERVICE_WELCOME_H

#include "resources/call.h"

/* GET /: an HTML page that says what this is, and nothing about the installation. */
handler welcome_get;

#endif
