/* The identities of the roles that a room's codes are for, sorted: a room may have had 127,000 codes,
 * so none is looked for code by code.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RESOURCES_CODE_IDENTITIES_H
#define RESOURCES_CODE_IDENTITIES_H

#include "resources/code_record.h"

/* Each identity once, ascending; in the call's arena. */
struct code_identities {
	uint32_t *items;
	size_t count;
};

/* Of all codes whose role was not lost. */
struct code_identities code_identities_of(struct call *call, const struct room_codes *codes);

bool code_identities_have(const struct code_identities *identities, uint32_t identity);

#endif
