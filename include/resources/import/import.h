/* POST /v2/import: stores templates, rooms and codes that were created elsewhere, in one
 * transaction (anteroom-api(7)). It keeps their ids and times.
 *
 * import_check runs before the transaction begins and checks each object by its table. import_run
 * is the handler: it stores the objects one after the other, templates before rooms before codes.
 * It checks each object as a whole against the stored data before it stores any part of it. So an
 * object with a fault leaves nothing behind, and the import continues with the others: either they
 * are stored (skip_invalid), or their faults are reported too and nothing is stored.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_IMPORT_IMPORT_H
#define RESOURCES_IMPORT_IMPORT_H

#include "resources/call.h"

body_check import_check;
handler import_run;

#endif
