/* POST /v2/bulk: many requests for rooms and room codes in one transaction, all or none
 * (anteroom-api(7)).
 *
 * bulk_check runs before the transaction begins. It finds the route of each operation with the
 * router, checks the body of each operation against the table of its route, and collects all
 * faults. bulk_run is the handler: it runs the handlers of the operations one after the other, each
 * with a call of its own that shares the transaction, the arena and the time of the bulk. If an
 * operation meets a later time, it raises the time of the bulk, and all operations are run again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SERVICE_BULK_H
#define SERVICE_BULK_H

#include "resources/call.h"

/* The largest number of codes that one request creates. */
#define BULK_CODES_MOST 10000

body_check bulk_check;
handler bulk_run;

#endif
