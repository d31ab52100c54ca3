/* POST /v2/import: templates, rooms and codes that were made elsewhere, in one transaction
 * (anteroom-api(7)). Ids and times are kept.
 *
 * import_check runs before the transaction begins and checks each object by its table. import_run
 * is the handler: it stores one object after the other, templates before rooms before codes. Before
 * anything of an object is stored, the whole object is checked against what is stored already. So
 * an object that has a fault leaves nothing, and the import goes on with the others: they are
 * stored (skip_invalid), or their faults are told too, and nothing is stored.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_IMPORT_IMPORT_H
#define RESOURCES_IMPORT_IMPORT_H

#include "resources/call.h"

body_check import_check;
handler import_run;

#endif
