/* See records/lease_record.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "records/lease_record.h"

#include "records/kinds.h"

static const struct member lease_members[] = {
	{ "epoch", AS_NUMBER(8, 0, UNLIMITED), AT(struct lease_record, epoch) },
	{ "until", AS_TIME, AT(struct lease_record, until) },
	{ "holder", AS_FIXED(LEASE_HOLDER_SIZE), AT(struct lease_record, holder) },
};
const struct record_table lease_table = {
	RECORD(struct lease_record, lease_members, 0, &kind_lease),
};
