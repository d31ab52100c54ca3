/* The route table: one row for each endpoint of the API.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_ROUTES_H
#define SERVICE_ROUTES_H

#include "resources/route.h"

/* Ends with a row whose path is NULL. */
extern const struct route routes[];

#endif
