/* POST /v2/bulk: many calls of rooms and room codes in one transaction, all or none
 * (anteroom-api(7)).
 *
 * bulk_check runs before the transaction begins. It finds the route of each operation with the
 * router of the requests, checks its body by the route's table, and collects all faults. bulk_run
 * is the handler: it runs the handlers of the operations one after the other, each with a call of
 * its own that shares the transaction, the arena and the time of the bulk. An operation that meets
 * a later time than that raises it, and all are run again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_BULK_H
#define SERVICE_BULK_H

#include "resources/call.h"

/* The most codes that one call makes. */
#define BULK_CODES_MOST 10000

body_check bulk_check;
handler bulk_run;

#endif
