/* The record of the lease (background/lease.h). Its table is here because the stored form
 * (records/form.h) has all tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RECORDS_LEASE_RECORD_H
#define RECORDS_LEASE_RECORD_H

#include "records/record.h"

#define LEASE_HOLDER_SIZE 16

struct lease_record {
	struct store_record stored;
	uint64_t epoch;
	int64_t until; /* milliseconds since 1970 */
	unsigned char holder[LEASE_HOLDER_SIZE];
};

extern const struct record_table lease_table;

#endif
