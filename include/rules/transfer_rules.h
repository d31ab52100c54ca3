/* The first and last line of a dump, and the lines of accounts (transfer/transfer.h). The tables of
 * the records describe all other lines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RULES_TRANSFER_RULES_H
#define RULES_TRANSFER_RULES_H

#include "schema/schema.h"

extern const struct shape transfer_line_shape;

#endif
