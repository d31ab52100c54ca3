/* The upgrades of stored data: the only table that says what has become of the records of earlier
 * versions, from version 0.2.0 on (records/upgrade.h). What a change of a record has to bring is in
 * src/README, UPGRADES.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "resources/record_kind.h"

/* The rows of every kind are still those of version 0.2.0, or have more. */
const struct record_upgrades record_upgrades = { .tables = record_tables, .table_count = KINDS };
